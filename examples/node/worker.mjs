// worker.mjs - a model in a worker: the main thread stays free while it runs. Needs ./dev build wasm.
import { readFile } from 'node:fs/promises';
import { Hologram } from '../../bindings/js/lib/index.js';

const onnx = await readFile(new URL('../text2image/models/vae_decoder.onnx', import.meta.url));
const { bytes } = await Hologram.compile(onnx, { worker: true });
const model = await Hologram.open(bytes, { worker: true, threads: 1 });

let ticks = 0;
const timer = setInterval(() => ticks++, 1);
const { [model.outputNames[0]]: picture } = await model.run({ latent_sample: new Float32Array(4 * 16 * 16).fill(0.5) });
clearInterval(timer);
console.log(`a picture of [${picture.dims}]; the main thread was free ${ticks} times meanwhile`);
model.dispose();
if (ticks === 0) throw new Error('the main thread was blocked');
