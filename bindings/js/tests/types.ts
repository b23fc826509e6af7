// types.ts - README.md's examples, for the type checker only.
import { Hologram, HologramError, InferenceSession, Tensor, type Model } from '../lib/index.js';

export async function everything(file: File): Promise<void> {
  const model: Model = await Hologram.open('model.holo', { threads: 2, onProgress: (p) => void (p.loaded / p.total) });
  const out = await model.run({ input: new Tensor('float32', new Float32Array(4), [1, 4]), ids: [1n, 2n] });
  const first: number = Number(out.y.data[0]) + out.y.dims[0];
  const { bytes, report } = await Hologram.compile(file, { numerics: 'exact', dims: { batch: 1, past: { atMost: 2048 } } });
  const lists = await model.run<{ list: Tensor[] }>({ x: null });
  const session = await InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  await session.run({ input: new Tensor(new Float32Array(3)) }, ['y']);
  console.log(first, report.steps, lists.list.length, new HologramError('x').code, Hologram.features().threads);
}
