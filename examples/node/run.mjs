// run.mjs [MODEL.onnx] - compile a model in memory, run it, print its outputs. Needs ./dev build wasm.
import { readFile } from 'node:fs/promises';
import { Hologram, Tensor } from '../../bindings/js/lib/index.js';

const path = process.argv[2] ?? new URL('../text2image/models/text_encoder.onnx', import.meta.url);
const { bytes, report } = await Hologram.compile(await readFile(path));
console.log(`${report.nodes_before} nodes became ${report.steps} steps, ${report.file_bytes} bytes`);

const model = await Hologram.open(bytes);
const feeds = {};
for (const { name, type, shape } of model.inputs) {
  const dims = shape.map((d) => (typeof d === 'number' ? d : 1)); // symbolic dimensions are 1
  const count = dims.reduce((n, d) => n * d, 1);
  feeds[name] = new Tensor(type, new Array(count).fill(1), dims);
  console.log(`input  ${name} ${type}[${shape}]`);
}
const start = performance.now();
const results = await model.run(feeds);
const time = (performance.now() - start).toFixed(1);
for (const [name, { type, dims, data }] of Object.entries(results)) {
  console.log(`output ${name} ${type}[${dims}]: ${Array.from(data.slice(0, 4)).join(', ')}, ...`);
}
console.log(`${time} ms on ${model.info.threads} threads, ${model.info.module}`);
model.dispose();
