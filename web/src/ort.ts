// ort.ts - calls to the worker that runs onnxruntime-web.
import type { Feed, OnProgress } from './engine';
import type { OrtOpened, OrtOutputs } from './ort.worker';

interface Reply {
  id?: number;
  result?: unknown;
  error?: string;
  key?: string;
  progress?: [number, number];
}

export class Ort {
  private readonly worker: Worker;
  private next = 1;
  private waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  private progress = new Map<string, OnProgress>();

  constructor(private readonly threads: number) {
    this.worker = new Worker(new URL('./ort.worker.ts', import.meta.url), { type: 'module', name: 'onnxruntime-web' });
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => this.receive(data);
    this.worker.onerror = (event) => this.fail(new Error(event.message || 'the worker of onnxruntime-web failed'));
  }

  open(key: string, url: string, onProgress: OnProgress = () => {}): Promise<OrtOpened> {
    this.progress.set(key, onProgress);
    return this.call<OrtOpened>({ call: 'open', key, url: new URL(url, location.href).href, threads: this.threads });
  }

  run(key: string, feeds: Record<string, Feed>): Promise<OrtOutputs> {
    return this.call<OrtOutputs>({ call: 'run', key, feeds });
  }

  dispose(): void {
    this.worker.terminate();
    this.fail(new Error('stopped'));
  }

  private call<T>(request: object): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve: resolve as (value: never) => void, reject });
      this.worker.postMessage({ id, ...request });
    });
  }

  private receive(reply: Reply): void {
    if (reply.progress) {
      this.progress.get(reply.key!)?.(...reply.progress);
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
