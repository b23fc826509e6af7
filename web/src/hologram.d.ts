// hologram.d.ts - the part of bindings/js that the page uses; its README.md is the manual.
declare module 'hologram' {
  export type ElementType = string;
  export type TensorData =
    | Float32Array | Float64Array | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array
    | BigInt64Array | BigUint64Array | string[];
  export interface Port {
    readonly name: string;
    readonly type: string;
    readonly shape: readonly (number | string)[] | null;
  }
  export class Tensor {
    constructor(type: ElementType, data: TensorData, dims?: readonly number[]);
    readonly type: ElementType;
    readonly data: TensorData;
    readonly dims: readonly number[];
    readonly size: number;
  }
  export class HologramError extends Error {
    readonly code: string;
  }
  export interface Model {
    readonly inputNames: readonly string[];
    readonly outputNames: readonly string[];
    readonly inputs: readonly Port[];
    readonly outputs: readonly Port[];
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
  export interface CompileReport {
    nodes_before: number;
    nodes_after: number;
    steps: number;
    weight_bytes: number;
    arena_bytes: number;
    file_bytes: number;
  }
  export const Hologram: {
    open(source: Source, options?: OpenOptions): Promise<Model>;
    compile(source: Source, options?: CompileOptions): Promise<{ bytes: Uint8Array; report: CompileReport }>;
    inspect(source: Source, form?: 'text' | 'json' | 'program' | 'html', options?: OpenOptions): Promise<string>;
    version(): Promise<string>;
    features(): { simd: boolean; relaxedSimd: boolean; threads: number; crossOriginIsolated: boolean };
    assets: string | URL | undefined;
  };
}
