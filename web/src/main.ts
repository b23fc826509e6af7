// main.ts - starts the parts of the page.
import { Hologram } from 'hologram';
import { get } from './dom';
import { startDrop } from './drop';
import { Studio } from './studio';
import { startTheme } from './theme';

function showFacts(): void {
  const can = Hologram.features();
  const parts = [can.simd ? 'SIMD' : 'no SIMD'];
  if (can.relaxedSimd) parts.push('relaxed SIMD');
  parts.push(can.crossOriginIsolated ? `${navigator.hardwareConcurrency} threads` : 'one thread');
  get('facts').textContent = `This browser: ${parts.join(', ')}`;
}

startTheme();
showFacts();
startDrop();
new Studio().start();
