// engine_ort.ts - the same ONNX files with onnxruntime-web.
import type { Engine, Feed, LoadReport, OnProgress, Stage } from './engine';

interface Reply {
  id?: number;
  result?: unknown;
  error?: string;
  progress?: [number, number];
}

export class OrtEngine implements Engine {
  readonly name = 'onnxruntime-web';
  private worker: Worker | null = null;
  private next = 1;
  private waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  private onProgress: OnProgress = () => {};

  load(folder: string, threads: number, onProgress: OnProgress): Promise<LoadReport> {
    this.onProgress = onProgress;
    this.worker = new Worker(new URL('./ort.worker.ts', import.meta.url), { type: 'module', name: 'onnxruntime-web' });
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => this.receive(data);
    this.worker.onerror = (event) => this.fail(new Error(event.message || 'the worker of onnxruntime-web failed'));
    return this.call<LoadReport>({ call: 'load', folder: new URL(folder, location.href).href, threads });
  }

  run(stage: Stage, feeds: Record<string, Feed>): Promise<Float32Array> {
    return this.call<Float32Array>({ call: 'run', stage, feeds });
  }

  dispose(): void {
    this.worker?.terminate();
    this.worker = null;
    this.fail(new Error('stopped'));
  }

  private call<T>(request: object): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve: resolve as (value: never) => void, reject });
      this.worker!.postMessage({ id, ...request });
    });
  }

  private receive(reply: Reply): void {
    if (reply.progress) {
      this.onProgress(...reply.progress);
      return;
    }
    const waiting = this.waiting.get(reply.id!);
    this.waiting.delete(reply.id!);
    if (reply.error !== undefined) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.result as never);
  }

  private fail(error: Error): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
