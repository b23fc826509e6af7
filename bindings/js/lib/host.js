// host.js - where an engine lives: on this thread, or in a worker that is spoken to with messages. Both have the same
// calls: open, run, profile, stats, compile, inspect, version, dispose.
import { Engine, sharedMemory } from './engine.js';
import { parent, spawn } from './platform.js';
import { isPostable, load, portable, chunksOf } from './source.js';
import { HologramError } from './tensor.js';

const THREAD_PATIENCE_MS = 20000;

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
      const thread = await spawn('thread');
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

  async run(graph, feeds, wanted) {
    return this.#engine.run(graph, feeds, wanted);
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

/** The same calls, made in a worker. */
export class WorkerHost {
  #worker;
  #calls = new Map();
  #next = 1;
  #failure = null;

  async start(module, threads) {
    this.#worker = await spawn('host');
    this.#worker.on((message) => this.#receive(message), (error) => this.#fail(error));
    return this.#call('start', [module, threads]);
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

  #call(name, args, on) {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, on });
      this.#worker.hold(true);
      this.#worker.post({ id, name, args, events: Object.keys(on ?? {}).filter((k) => typeof on[k] === 'function') });
    });
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

  run(graph, feeds, wanted) {
    return this.#call('run', [graph, feeds, wanted]);
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

/** The other end: makes the calls that arrive as messages, one after the other. */
export async function serve() {
  const port = await parent();
  const host = new LocalHost();
  const begun = new Map();
  let last = Promise.resolve();
  const calls = {
    begin: async (size) => {
      const id = begun.size + 1;
      begun.set(id, { size, list: [] });
      return id;
    },
    more: async (id, chunk) => void begun.get(id).list.push(chunk),
  };
  const answer = async ({ id, name, args, events }) => {
    const on = Object.fromEntries(events.map((event) => [event, (value) => port.post({ id, event, value })]));
    try {
      if (args[0]?.begun !== undefined) args[0] = new Blob(begun.get(args[0].begun).list);
      const value = await (calls[name] ?? ((...list) => host[name](...list)))(...args, on);
      port.post({ id, value }, transferable(value));
    } catch (error) {
      port.post({ id, error: { message: error.message, code: error.code ?? 'E_BUG' } });
    }
  };
  port.on((message) => (last = last.then(() => answer(message))));
}

/** The buffers of results: given away, not copied. */
function transferable(value) {
  if (value?.bytes instanceof Uint8Array) return [value.bytes.buffer];
  const list = [];
  for (const item of Object.values(value ?? {})) if (ArrayBuffer.isView(item?.data)) list.push(item.data.buffer);
  return list;
}
