// engine.ts - what the page asks of a runtime: the three models, called with plain arrays.

export type Stage = 'text_encoder' | 'unet' | 'vae_decoder';
export const STAGES: readonly Stage[] = ['text_encoder', 'unet', 'vae_decoder'];

export interface Feed {
  type: 'float32' | 'int64';
  data: Float32Array | BigInt64Array;
  dims: number[];
}

export interface LoadReport {
  /** Of the runtime's own files and of the models, as they came over the wire. */
  runtimeBytes: number;
  modelBytes: number;
  /** From bytes to ready: instantiate, parse, optimise, pack. */
  readySeconds: number;
  threads: number;
}

export type OnProgress = (loaded: number, total: number) => void;

export interface Engine {
  readonly name: string;
  load(folder: string, threads: number, onProgress: OnProgress): Promise<LoadReport>;
  /** Runs a stage; the first output. */
  run(stage: Stage, feeds: Record<string, Feed>): Promise<Float32Array>;
  dispose(): void;
}

/** Bytes of a file, with progress. */
export async function download(url: string, onProgress: OnProgress): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`cannot fetch ${url}: ${response.status} ${response.statusText}`);
  const total = Number(response.headers.get('content-length') ?? 0);
  const parts: Uint8Array[] = [];
  let loaded = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    loaded += value.length;
    onProgress(loaded, Math.max(total, loaded));
  }
  const bytes = new Uint8Array(loaded);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Adds the progress of several files up. */
export function sumProgress(n: number, onProgress: OnProgress): OnProgress[] {
  const loaded = new Array<number>(n).fill(0);
  const total = new Array<number>(n).fill(0);
  const sum = (list: number[]): number => list.reduce((a, b) => a + b, 0);
  return loaded.map((_, i) => (now: number, all: number) => {
    loaded[i] = now;
    total[i] = all;
    onProgress(sum(loaded), sum(total));
  });
}
