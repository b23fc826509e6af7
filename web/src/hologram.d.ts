// hologram.d.ts - the part of bindings/js that the page uses; its README.md is the manual.
declare module 'hologram' {
  export interface Port {
    name: string;
    type: string;
    shape: (number | string)[] | null;
  }
  export class Tensor {
    constructor(type: string, data: unknown, dims?: readonly number[]);
    readonly type: string;
    readonly data: ArrayLike<unknown>;
    readonly dims: readonly number[];
    readonly size: number;
  }
  export class HologramError extends Error {
    readonly code: string;
  }
  export interface Model {
    readonly inputNames: string[];
    readonly outputNames: string[];
    readonly inputs: Port[];
    readonly outputs: Port[];
    readonly info: { threads: number; worker: boolean; relaxedSimd: boolean; module: string; bytes: number };
    run(feeds: Record<string, unknown>, options?: { outputs?: string[]; graph?: string }): Promise<Record<string, Tensor>>;
    dispose(): void;
  }
  export type Source = string | URL | ArrayBuffer | ArrayBufferView | Blob | ReadableStream<Uint8Array>;
  export interface OpenOptions {
    worker?: boolean;
    threads?: number;
    onProgress?: (progress: { loaded: number; total: number }) => void;
    signal?: AbortSignal;
  }
  export interface CompileOptions extends OpenOptions {
    numerics?: 'fast' | 'exact';
    dims?: Record<string, number>;
    onStage?: (stage: { stage: string; done: number; total: number }) => void;
  }
  export const Hologram: {
    open(source: Source, options?: OpenOptions): Promise<Model>;
    compile(source: Source, options?: CompileOptions): Promise<{ bytes: Uint8Array; report: Record<string, number> }>;
    inspect(source: Source, form?: 'text' | 'json' | 'program' | 'html', options?: OpenOptions): Promise<string>;
    version(): Promise<string>;
    features(): { simd: boolean; relaxedSimd: boolean; threads: number; crossOriginIsolated: boolean };
    assets: string | URL | undefined;
  };
}
