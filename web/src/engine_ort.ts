// engine_ort.ts - the same ONNX files with onnxruntime-web.
import { type Engine, type Feed, type LoadReport, type OnProgress, type Stage, STAGES, sumProgress } from './engine';
import { Ort } from './ort';

export class OrtEngine implements Engine {
  readonly name = 'onnxruntime-web';
  private ort: Ort | null = null;

  async load(folder: string, threads: number, onProgress: OnProgress): Promise<LoadReport> {
    const ort = new Ort(threads);
    this.ort = ort;
    const progress = sumProgress(STAGES.length, onProgress);
    const opened = await Promise.all(STAGES.map((stage, i) => ort.open(stage, `${folder}/${stage}.onnx`, progress[i])));
    return {
      runtimeBytes: opened[0].runtimeBytes,
      modelBytes: opened.reduce((sum, each) => sum + each.bytes, 0),
      readySeconds: opened.reduce((sum, each) => sum + each.seconds, 0),
      threads: opened[0].threads,
    };
  }

  async run(stage: Stage, feeds: Record<string, Feed>): Promise<Float32Array> {
    if (!this.ort) throw new Error('the models are not loaded');
    const out = await this.ort.run(stage, feeds);
    return Object.values(out)[0].data as Float32Array;
  }

  dispose(): void {
    this.ort?.dispose();
    this.ort = null;
  }
}
