// worker.js - opens the file it is sent and runs it once with inputs of ones.
import { Hologram, Tensor } from '../../bindings/js/lib/index.js';

onmessage = async ({ data: file }) => {
  try {
    const holo = file.name.endsWith('.onnx') ? (await Hologram.compile(file)).bytes : file;
    const model = await Hologram.open(holo, { onProgress: (p) => postMessage(`${p.loaded} of ${p.total} bytes`) });
    const feeds = {};
    for (const { name, type, shape } of model.inputs) {
      const dims = shape.map((d) => (typeof d === 'number' ? d : 1));
      feeds[name] = new Tensor(type, new Array(dims.reduce((n, d) => n * d, 1)).fill(1), dims);
    }
    const start = performance.now();
    const results = await model.run(feeds);
    postMessage(`${(performance.now() - start).toFixed(1)} ms`);
    for (const [name, tensor] of Object.entries(results)) postMessage(`${name}: ${tensor.type}[${tensor.dims}]`);
    model.dispose();
  } catch (error) {
    postMessage(`${error.code ?? 'error'}: ${error.message}`);
  }
};
