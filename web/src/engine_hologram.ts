// engine_hologram.ts - the compiled models, each in a worker of its own.
import { Hologram, type Model } from 'hologram';
import { type Engine, type Feed, type LoadReport, type OnProgress, type Stage, STAGES, sumProgress } from './engine';

/** Bytes of what was fetched under names that match, as they came over the wire. */
function fetchedBytes(pattern: RegExp): number {
  return performance.getEntriesByType('resource')
    .filter((entry) => pattern.test(entry.name))
    .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0);
}

export class HologramEngine implements Engine {
  readonly name = 'Hologram';
  private models = new Map<Stage, Model>();

  async load(folder: string, threads: number, onProgress: OnProgress): Promise<LoadReport> {
    let modelBytes = 0;
    let last = performance.now();
    const progress = sumProgress(STAGES.length, (loaded, total) => {
      modelBytes = loaded;
      last = performance.now();
      onProgress(loaded, total);
    });
    await Promise.all(STAGES.map(async (stage, i) => {
      const model = await Hologram.open(`${folder}/${stage}.holo`, {
        threads,
        onProgress: ({ loaded, total }) => progress[i](loaded, Math.max(loaded, total)),
      });
      this.models.set(stage, model);
    }));
    return {
      runtimeBytes: fetchedBytes(/hologram_rt[^/]*\.wasm|\/(worker|thread)[^/]*\.js/),
      modelBytes,
      readySeconds: (performance.now() - last) / 1e3,
      threads: this.models.get('unet')!.info.threads,
    };
  }

  async run(stage: Stage, feeds: Record<string, Feed>): Promise<Float32Array> {
    const model = this.models.get(stage);
    if (!model) throw new Error('the models are not loaded');
    const out = await model.run(feeds);
    return out[model.outputNames[0]].data as Float32Array;
  }

  dispose(): void {
    for (const model of this.models.values()) model.dispose();
    this.models.clear();
  }
}
