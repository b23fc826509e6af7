// remote.js - an engine in a worker, spoken to with messages; the same calls as local.js.
import { isNode, spawn } from './platform.js';
import { isPostable, portable, chunksOf } from './source.js';
import { HologramError } from './tensor.js';

const spawnWorker = () => spawn('worker', import.meta.url,
  () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'hologram' }));

const isShared = () => isNode || globalThis.crossOriginIsolated === true;

/** The same calls, made in a worker. */
export class WorkerHost {
  #worker;
  #calls = new Map();
  #next = 1;
  #failure = null;
  #stopped = isShared() ? new Int32Array(new SharedArrayBuffer(4)) : null; // the last call that was given up
  #cancelWords = new Map(); // graph -> where a run is stopped

  async start(module, threads) {
    this.#worker = await spawnWorker();
    this.#worker.on((message) => this.#receive(message), (error) => this.#fail(error));
    return this.#call('start', [module, threads], undefined, { stopped: this.#stopped });
  }

  #receive({ id, event, value, error }) {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    if (event !== undefined) return void call.on?.[event]?.(value);
    this.#calls.delete(id);
    if (this.#calls.size === 0) this.#worker.hold(false);
    if (error === undefined) call.resolve(value);
    else call.reject(new HologramError(error.message, error.code));
  }

  #fail(error) {
    this.#failure = error;
    for (const call of this.#calls.values()) call.reject(error);
    this.#calls.clear();
  }

  #call(name, args, on, more = {}) {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, on });
      this.#worker.hold(true);
      const events = Object.keys(on ?? {}).filter((k) => typeof on[k] === 'function');
      this.#worker.post({ id, name, args, events, ...more });
    });
  }

  /** A call that its signal ends at once. What the worker answers later goes unheard; later calls wait for it. */
  async #callUntil(signal, name, args, stop) {
    signal.throwIfAborted();
    const id = this.#next;
    let give;
    const given = new Promise((_, reject) => (give = () => reject(signal.reason)));
    const aborted = () => {
      stop(id);
      give();
    };
    signal.addEventListener('abort', aborted);
    try {
      return await Promise.race([this.#call(name, args), given]);
    } finally {
      signal.removeEventListener('abort', aborted);
    }
  }

  /** A call with a source: sent as it is when it can be, in pieces otherwise. */
  async #callWithSource(name, source, options, on = {}) {
    const { signal, ...handlers } = on;
    signal?.throwIfAborted();
    source = portable(source);
    const stop = () => this.#fail(signal.reason ?? new HologramError('stopped', 'E_CANCELLED'));
    signal?.addEventListener('abort', stop);
    try {
      if (isPostable(source)) return await this.#call(name, [source, options], handlers);
      const { size, chunks } = await chunksOf(source, signal);
      const id = await this.#call('begin', [size]);
      for await (const chunk of chunks) await this.#call('more', [id, chunk]);
      return await this.#call(name, [{ begun: id }, options], handlers);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  open(source, options, on) {
    return this.#callWithSource('open', source, options, on);
  }

  async run(graph, feeds, wanted, { signal } = {}) {
    if (!signal) return this.#call('run', [graph, feeds, wanted]);
    if (this.#stopped !== null && !this.#cancelWords.has(graph)) {
      this.#cancelWords.set(graph, await this.#call('cancelWord', [graph]));
    }
    const word = this.#cancelWords.get(graph);
    return this.#callUntil(signal, 'run', [graph, feeds, wanted], (id) => {
      if (this.#stopped !== null) Atomics.store(this.#stopped, 0, id); // before the word: the worker clears that first
      if (word) Atomics.store(new Uint8Array(word.memory.buffer), word.at, 1);
    });
  }

  profile(graph, feeds) {
    return this.#call('profile', [graph, feeds]);
  }

  stats(graph) {
    return this.#call('stats', [graph]);
  }

  compile(source, options, on) {
    return this.#callWithSource('compile', source, options, on);
  }

  inspect(source, form, on) {
    return this.#callWithSource('inspect', source, form, on);
  }

  version() {
    return this.#call('version', []);
  }

  dispose() {
    this.#worker.terminate();
    this.#fail(new HologramError('the model was disposed', 'E_STATE'));
  }
}
