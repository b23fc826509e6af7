// ort.worker.ts - onnxruntime-web on a thread of its own, so that the page does not block either.
import * as ort from 'onnxruntime-web/wasm';
import glue from 'onnxruntime-web/ort-wasm-simd-threaded.mjs?url';
import module from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import { download, type Feed, type Stage, STAGES, sumProgress } from './engine';

export type OrtRequest =
  | { id: number; call: 'load'; folder: string; threads: number }
  | { id: number; call: 'run'; stage: Stage; feeds: Record<string, Feed> };

const sessions = new Map<Stage, ort.InferenceSession>();
const absolute = (url: string): string => new URL(url, self.location.href).href;

async function load(folder: string, threads: number): Promise<unknown> {
  ort.env.wasm.wasmPaths = { mjs: absolute(glue), wasm: absolute(module) };
  ort.env.wasm.numThreads = threads;
  let modelBytes = 0;
  const progress = sumProgress(STAGES.length, (loaded, total) => {
    modelBytes = loaded;
    self.postMessage({ progress: [loaded, total] });
  });
  const files = await Promise.all(STAGES.map((stage, i) => download(`${folder}/${stage}.onnx`, progress[i])));
  const start = performance.now();
  for (const [i, stage] of STAGES.entries())
    sessions.set(stage, await ort.InferenceSession.create(files[i], { executionProviders: ['wasm'] }));
  const readySeconds = (performance.now() - start) / 1e3;
  const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  const runtimeBytes = entries.filter((entry) => /ort-wasm/.test(entry.name))
    .reduce((sum, entry) => sum + entry.encodedBodySize, 0);
  return { runtimeBytes, modelBytes, readySeconds, threads: ort.env.wasm.numThreads };
}

async function run(stage: Stage, feeds: Record<string, Feed>): Promise<Float32Array> {
  const session = sessions.get(stage);
  if (!session) throw new Error('the models are not loaded');
  const tensors = Object.entries(feeds).map(([name, feed]) =>
    [name, new ort.Tensor(feed.type, feed.data as Float32Array, feed.dims)] as const);
  const out = await session.run(Object.fromEntries(tensors));
  return out[session.outputNames[0]].data as Float32Array;
}

self.onmessage = async ({ data }: MessageEvent<OrtRequest>) => {
  try {
    const result = data.call === 'load' ? await load(data.folder, data.threads) : await run(data.stage, data.feeds);
    self.postMessage({ id: data.id, result });
  } catch (error) {
    self.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
  }
};
