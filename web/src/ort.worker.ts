// ort.worker.ts - onnxruntime-web on a thread of its own, so that the page does not block either.
import * as ort from 'onnxruntime-web/wasm';
import glue from 'onnxruntime-web/ort-wasm-simd-threaded.mjs?url';
import module from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import { download, type Feed } from './engine';

export type OrtRequest =
  | { id: number; call: 'open'; key: string; url: string; threads: number }
  | { id: number; call: 'run'; key: string; feeds: Record<string, Feed> };

/** What opening a model took. */
export interface OrtOpened {
  bytes: number;
  runtimeBytes: number;
  seconds: number;
  threads: number;
}

export type OrtOutputs = Record<string, { data: ArrayLike<number>; dims: readonly number[] }>;

const sessions = new Map<string, ort.InferenceSession>();
const absolute = (url: string): string => new URL(url, self.location.href).href;

async function open(key: string, url: string, threads: number): Promise<OrtOpened> {
  ort.env.wasm.wasmPaths = { mjs: absolute(glue), wasm: absolute(module) };
  ort.env.wasm.numThreads = threads;
  const file = await download(url, (loaded, total) => self.postMessage({ key, progress: [loaded, total] }));
  const start = performance.now();
  sessions.set(key, await ort.InferenceSession.create(file, { executionProviders: ['wasm'] }));
  const seconds = (performance.now() - start) / 1e3;
  const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  const runtimeBytes = entries.filter((entry) => /ort-wasm/.test(entry.name))
    .reduce((sum, entry) => sum + entry.encodedBodySize, 0);
  return { bytes: file.length, runtimeBytes, seconds, threads: ort.env.wasm.numThreads ?? 1 };
}

async function run(key: string, feeds: Record<string, Feed>): Promise<OrtOutputs> {
  const session = sessions.get(key);
  if (!session) throw new Error('the model is not open');
  const tensors = Object.entries(feeds).map(([name, feed]) =>
    [name, new ort.Tensor(feed.type, feed.data as Float32Array, feed.dims)] as const);
  const out = await session.run(Object.fromEntries(tensors));
  return Object.fromEntries(Object.entries(out).map(([name, tensor]) =>
    [name, { data: tensor.data as Float32Array, dims: tensor.dims }]));
}

// One after the other: a runtime that is still starting must not be started twice.
let last: Promise<unknown> = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<OrtRequest>) => {
  last = last.then(async () => {
    try {
      const result = data.call === 'open' ? await open(data.key, data.url, data.threads) : await run(data.key, data.feeds);
      self.postMessage({ id: data.id, result });
    } catch (error) {
      self.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
    }
  });
};
