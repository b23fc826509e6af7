// size.mjs MODEL.holo FOLDER - the modules are small: with all kernels, and in FOLDER (tools/wasm_module) with those of
// one model alone, which gives the same bits.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Hologram, Tensor } from '../lib/index.js';
import { unary } from './model.mjs';

const [path, folder] = process.argv.slice(2);

function measure(where, name, limit, limitGzip) {
  const bytes = readFileSync(join(where, name));
  const small = gzipSync(bytes, { level: 9 }).length;
  console.log(`${name} ${bytes.length} bytes, ${small} gzipped`);
  assert.ok(bytes.length <= limit, `${name} has ${bytes.length} bytes, at most ${limit} are allowed`);
  assert.ok(small <= limitGzip, `${name} has ${small} bytes gzipped, at most ${limitGzip} are allowed`);
}

const all = fileURLToPath(new URL('../wasm/', import.meta.url));
for (const name of readdirSync(all).filter((n) => n.startsWith('hologram_rt'))) measure(all, name, 1_500_000, 400_000);
for (const name of readdirSync(folder)) measure(folder, name, 250_000, 100_000);

async function result(assets) {
  const model = await Hologram.open(path, { assets, threads: 1, worker: false });
  const feeds = Object.fromEntries(
    model.inputs.map(({ name, type, shape }) => {
      const dims = shape.map((d) => (typeof d === 'number' ? d : 1));
      return [name, new Tensor(type, Array.from({ length: dims.reduce((n, d) => n * d, 1) }, (_, i) => i % 7), dims)];
    }),
  );
  const results = await model.run(feeds);
  model.dispose();
  return results;
}

assert.deepEqual(await result(`file://${folder}/`), await result(undefined));

// What the module was made without is a sentence, not a wrong number.
const DOUBLE = 11;
const { bytes } = await Hologram.compile(unary('Neg', DOUBLE));
await assert.rejects(Hologram.open(bytes, { assets: `file://${folder}/`, threads: 1, worker: false }), {
  code: 'E_KERNEL', message: /made without the type float64/,
});
