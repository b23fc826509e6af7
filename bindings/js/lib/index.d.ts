// index.d.ts - types of the package; README.md is the manual.

export type ElementType =
  | 'float32' | 'float64' | 'float16' | 'bfloat16'
  | 'int8' | 'uint8' | 'int16' | 'uint16' | 'int32' | 'uint32' | 'int64' | 'uint64'
  | 'bool' | 'string' | 'complex64' | 'complex128'
  | 'float8e4m3fn' | 'float8e4m3fnuz' | 'float8e5m2' | 'float8e5m2fnuz' | 'float8e8m0'
  | 'int4' | 'uint4' | 'int2' | 'uint2' | 'float4e2m1';

export type TensorData =
  | Float32Array | Float64Array | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array
  | BigInt64Array | BigUint64Array | string[];

/** What a tensor is made of: its data, or plain values that are converted. */
export type TensorInput = TensorData | Uint8ClampedArray | number[] | bigint[] | boolean[] | number | bigint | boolean;

export class Tensor {
  constructor(type: ElementType, data: TensorInput, dims?: readonly number[]);
  constructor(data: TensorData, dims?: readonly number[]);
  readonly type: ElementType;
  readonly data: TensorData;
  readonly dims: readonly number[];
  readonly size: number;
  reshape(dims: readonly number[]): Tensor;
  getData(): Promise<TensorData>;
  dispose(): void;
}

export type ErrorCode =
  | 'E_NOMEM' | 'E_ARG' | 'E_IO' | 'E_LIMIT' | 'E_CANCELLED' | 'E_STATE' | 'E_SHAPE' | 'E_TYPE' | 'E_MODEL'
  | 'E_UNSUPPORTED' | 'E_FORMAT' | 'E_VERSION' | 'E_KERNEL' | 'E_DATA' | 'E_SPACE' | 'E_BUG';

export class HologramError extends Error {
  readonly code: ErrorCode;
}

export type Source =
  | string | URL | Request | Response | ArrayBuffer | ArrayBufferView | Blob
  | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** A tensor, { type, data, dims }, bare data for an input of known shape, a sequence, a map, or an absent optional. */
export type Feed =
  | Tensor | { type?: ElementType; data: TensorInput; dims: readonly number[] } | TensorInput | string
  | readonly Feed[] | Map<string | number | bigint, string | number> | null;
export type Feeds = Record<string, Feed>;
export type Result = Tensor | Result[] | Map<unknown, unknown> | null;

export interface Port {
  readonly name: string;
  readonly type: ElementType | 'sequence' | 'optional' | 'map' | 'none';
  /** A symbolic dimension is its name, '?' when it has none; null: only a run knows the rank. */
  readonly shape: readonly (number | string)[] | null;
}

export interface Graph {
  readonly name: string;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
}

export interface Progress {
  loaded: number;
  /** 0 when not known. */
  total: number;
}

export interface HostOptions {
  /** In a worker of its own. Default: true on the main thread of a page. */
  worker?: boolean;
  /** Folder of the .wasm files. */
  assets?: string | URL;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

export interface OpenOptions extends HostOptions {
  threads?: number;
  /** false: never use relaxed SIMD. */
  relaxed?: boolean;
  checkWeights?: boolean;
  reference?: boolean;
}

export interface CompileOptions extends HostOptions {
  numerics?: 'fast' | 'exact';
  dims?: Record<string, number | { atMost: number }>;
  shapes?: Record<string, readonly number[]>;
  optimize?: boolean;
  stripShapes?: boolean;
  disable?: readonly string[];
  onStage?: (stage: { stage: string; done: number; total: number }) => void;
}

export interface CompileReport {
  nodes_before: number;
  nodes_after: number;
  steps: number;
  weight_bytes: number;
  arena_bytes: number;
  arena_bound: number;
  moved_before: number;
  moved_after: number;
  tables: number;
  file_bytes: number;
  weight_tensors: number;
  weight_values: number;
  distinct_values: number;
  memo_entries: number;
  layers: number;
  layer_nodes: number;
}

export interface SessionStats {
  arena_bytes: number;
  arena_bound: number;
  late_bytes: number;
  weight_bytes: number;
  scratch_bytes: number;
  memory_bytes: number;
  steps: number;
  threads: number;
}

export interface StepRecord {
  node: string;
  kernel: string;
  seconds: number;
  flops: number;
  bytes: number;
}

export class Model {
  private constructor();
  readonly graphs: readonly Graph[];
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly info: Readonly<{ threads: number; worker: boolean; relaxedSimd: boolean; module: string; bytes: number }>;
  /** The result of an output that is no tensor is an array, a Map or null: use `run<...>` to say so. */
  run<R extends Record<string, Result> = Record<string, Tensor>>(
    feeds: Feeds,
    options?: {
      outputs?: readonly string[];
      graph?: string | number;
      /** Ends the run with the signal's reason; where memory is shared the work stops too, elsewhere it is only not waited for. */
      signal?: AbortSignal;
    },
  ): Promise<R>;
  profile(feeds: Feeds, options?: { graph?: string | number }): Promise<StepRecord[]>;
  stats(graph?: string | number): Promise<SessionStats>;
  dispose(): void;
}

export interface Features {
  simd: boolean;
  relaxedSimd: boolean;
  threads: number;
  crossOriginIsolated: boolean;
}

export const Hologram: {
  /** Folder of the .wasm files; undefined: beside this package. */
  assets: string | URL | undefined;
  features(): Features;
  open(source: Source, options?: OpenOptions): Promise<Model>;
  compile(source: Source, options?: CompileOptions): Promise<{ bytes: Uint8Array; report: CompileReport }>;
  inspect(source: Source, form?: 'text' | 'json' | 'program' | 'html', options?: HostOptions): Promise<string>;
  version(options?: HostOptions): Promise<string>;
};

export class InferenceSession {
  static create(source: Source, options?: OpenOptions & CompileOptions & { intraOpNumThreads?: number; [key: string]: unknown }): Promise<InferenceSession>;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly inputMetadata: readonly (Port & { isTensor: boolean })[];
  readonly outputMetadata: readonly (Port & { isTensor: boolean })[];
  run(feeds: Feeds, fetches?: readonly string[] | Record<string, unknown>, options?: { signal?: AbortSignal; [key: string]: unknown }): Promise<Record<string, Tensor>>;
  release(): Promise<void>;
}

export default Hologram;
