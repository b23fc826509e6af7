// local.js - an engine on this thread, and its threads. remote.js has the same calls, made in a worker: open, run, profile,
// stats, compile, inspect, version, dispose. Who starts whom is a tree, so that bundlers can follow it:
// index.js -> remote.js -> worker.js -> local.js -> thread.js
import { Engine, sharedMemory } from './engine.js';
import { spawn } from './platform.js';
import { load } from './source.js';
import { HologramError } from './tensor.js';

const THREAD_PATIENCE_MS = 20000;

const spawnThread = () => spawn('thread', import.meta.url,
  () => new Worker(new URL('./thread.js', import.meta.url), { type: 'module', name: 'hologram thread' }));

export class LocalHost {
  #engine;
  #threads = [];

  /** An engine on this thread; more than one thread needs a module that imports its memory. */
  async start(module, threads) {
    this.#engine = await Engine.create(module, threads > 1 ? sharedMemory() : undefined);
    if (threads > 1) await this.#startThreads(module, threads);
    return { threads: this.#threads.length + 1 };
  }

  async #startThreads(module, threads) {
    let failure = null;
    for (const seat of this.#engine.startPool(threads)) {
      const thread = await spawnThread();
      thread.on(() => {}, (error) => (failure = error));
      thread.post({ module, ...seat });
      this.#threads.push(thread);
    }
    const end = performance.now() + THREAD_PATIENCE_MS;
    while (this.#engine.readyThreads < threads - 1) {
      if (failure !== null || performance.now() > end) {
        throw new HologramError(`threads could not be started: ${failure?.message ?? 'they do not answer'}`, 'E_IO');
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async open(source, options, on) {
    const { at, size } = await load(this.#engine, source, on);
    return { ...this.#engine.open(at, size, options), bytes: size };
  }

  /** `isStopped` says whether the run was given up before it began; see cancelWord for later. */
  async run(graph, feeds, wanted, { signal, isStopped } = {}) {
    signal?.throwIfAborted();
    return this.#engine.run(graph, feeds, wanted, isStopped);
  }

  /** Where another thread writes 1 to stop a run of the graph: { memory, at }; null without shared memory. */
  async cancelWord(graph) {
    return this.#engine.cancelWord(graph);
  }

  async profile(graph, feeds) {
    return this.#engine.profile(graph, feeds);
  }

  async stats(graph) {
    return { ...this.#engine.stats(graph), memory_bytes: this.#engine.memoryBytes };
  }

  async compile(source, options, on) {
    const { at, size } = await load(this.#engine, source, on);
    return this.#engine.compile(at, size, options, on?.onStage);
  }

  async inspect(source, form, on) {
    const { at, size } = await load(this.#engine, source, on);
    return this.#engine.inspect(at, size, form);
  }

  async version() {
    return this.#engine.version;
  }

  dispose() {
    for (const thread of this.#threads) thread.terminate();
    this.#threads = [];
    this.#engine = undefined;
  }
}
