// engine.js - one instance of a module and one model in it. Everything here is synchronous and happens on the thread
// that made the engine; local.js and remote.js decide which one that is.
import { HologramError, Tensor, TYPES, TYPE_NAMES, arrayOf, countOf, lengthOf } from './tensor.js';

const PAGE = 65536;
const STATUS = {
  1: 'E_NOMEM', 2: 'E_ARG', 3: 'E_IO', 4: 'E_LIMIT', 5: 'E_CANCELLED', 6: 'E_STATE', 10: 'E_SHAPE', 11: 'E_TYPE',
  12: 'E_MODEL', 13: 'E_UNSUPPORTED', 20: 'E_FORMAT', 21: 'E_VERSION', 22: 'E_KERNEL', 30: 'E_DATA', 31: 'E_SPACE',
  99: 'E_BUG',
};
const SIZES = { error: 512, tensor: 80, port: 112, string: 16, stats: 48, dim: 24, shape: 12, settings: 32, compiled: 136 };
const FLAG = { copy: 1, checkWeights: 4, reference: 8 };
const COMPILE_FLAG = { noOptimize: 1, checkOnly: 2, stripShapes: 4 };
const REPORT = ['nodes_before', 'nodes_after', 'steps', 'weight_bytes', 'arena_bytes', 'arena_bound', 'moved_before',
  'moved_after', 'tables', 'file_bytes', 'weight_tensors', 'weight_values', 'distinct_values', 'memo_entries', 'layers',
  'layer_nodes'];
const STATS = ['arena_bytes', 'arena_bound', 'late_bytes', 'weight_bytes', 'scratch_bytes'];
const FORMS = ['text', 'json', 'program', 'html'];

export const MAX_BYTES = 2 ** 32 - PAGE;

/** Shared memory for a module with threads; a maximum that the system refuses is halved. */
export function sharedMemory() {
  for (let pages = 65536; ; pages /= 2) {
    try {
      return new WebAssembly.Memory({ initial: 64, maximum: pages, shared: true });
    } catch (error) {
      if (pages <= 4096) throw new HologramError(`no shared memory: ${error.message}`, 'E_NOMEM');
    }
  }
}

const ignored = () => 0;

/** What a module imports; the functions that are not given do nothing. */
export function importsOf(memory, on = {}) {
  return {
    env: { memory },
    hologram: {
      clock: () => performance.now() / 1000,
      pair: on.pair ?? ignored,
      step: on.step ?? ignored,
      stage: on.stage ?? ignored,
      text: on.text ?? ignored,
    },
  };
}

export class Engine {
  #exports;
  #memory;
  #error;
  #model = 0;
  #graphs = [];
  #pool = 0;
  #broken = null;
  #on = {};

  /** An engine on a compiled module; `memory` is shared memory when the module wants it. */
  static async create(module, memory) {
    const engine = new Engine();
    const call = (name) => (...args) => engine.#on[name]?.(...args) ?? 1;
    const on = { pair: call('pair'), step: call('step'), stage: call('stage'), text: call('text') };
    const instance = await WebAssembly.instantiate(module, importsOf(memory, on));
    engine.#exports = instance.exports;
    engine.#memory = memory ?? instance.exports.memory;
    engine.#error = engine.#alloc(SIZES.error);
    return engine;
  }

  get version() {
    return this.#text(this.#exports.holo_version());
  }

  get memoryBytes() {
    return this.#memory.buffer.byteLength;
  }

  // ---- memory ---------------------------------------------------------------------------------

  // Made anew for each use: memory that grows leaves old views behind.
  get #view() {
    return new DataView(this.#memory.buffer);
  }

  #bytes(at, size) {
    return new Uint8Array(this.#memory.buffer, at, size);
  }

  #text(at) {
    if (at === 0) return '';
    const bytes = new Uint8Array(this.#memory.buffer);
    let end = at;
    while (bytes[end] !== 0) end++;
    return this.#decode(at, end - at);
  }

  // A copy first: decoders refuse shared memory.
  #decode(at, size) {
    return new TextDecoder().decode(this.#bytes(at, size).slice());
  }

  #alloc(size) {
    if (size > MAX_BYTES) throw tooLarge(size);
    const at = this.#exports.js_alloc(size) >>> 0;
    if (at === 0) {
      throw new HologramError(`out of memory: ${size} bytes beside the ${this.memoryBytes} in use`, 'E_NOMEM');
    }
    return at;
  }

  #free(...list) {
    for (const at of list) if (at) this.#exports.js_free(at);
  }

  /** A place in the module's memory for `size` bytes of a model. */
  reserve(size) {
    return this.#alloc(size);
  }

  write(at, chunk) {
    this.#bytes(at, chunk.length).set(chunk);
  }

  // ---- calls ----------------------------------------------------------------------------------

  /** Calls into the module. A trap leaves it in an unknown state: it is not used again. */
  #call(name, ...args) {
    if (this.#broken !== null) throw this.#broken;
    try {
      return this.#exports[name](...args);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      this.#broken = new HologramError(`the module stopped: ${error.message}`, 'E_BUG');
      throw this.#broken;
    }
  }

  #fail() {
    const status = this.#view.getInt32(this.#error, true);
    throw new HologramError(this.#text(this.#error + 4), STATUS[status] ?? 'E_BUG');
  }

  /** A call whose last parameter is the error and whose result is a status. */
  #check(name, ...args) {
    if (this.#call(name, ...args, this.#error) !== 0) this.#fail();
  }

  /** A call whose last parameter is the error and whose result is an object or NULL. */
  #make(name, ...args) {
    const at = this.#call(name, ...args, this.#error) >>> 0;
    if (at === 0) this.#fail();
    return at;
  }

  // ---- threads --------------------------------------------------------------------------------

  /** A pool whose workers others will be; returns what each of them needs. */
  startPool(threads) {
    this.#pool = this.#make('js_pool', threads);
    const size = 1 << 19;
    const seats = [];
    for (let index = 1; index < threads; index++) {
      seats.push({ memory: this.#memory, pool: this.#pool, index, stack: this.#alloc(size) + size });
    }
    return seats;
  }

  /** How many workers of the pool wait for work. */
  get readyThreads() {
    return this.#pool === 0 ? 0 : this.#call('js_ready', this.#pool);
  }

  // ---- models ---------------------------------------------------------------------------------

  /** Opens the .holo file at a place in memory; returns what there is to know about it. */
  open(at, size, options = {}) {
    let flags = 0;
    if (options.checkWeights) flags |= FLAG.checkWeights;
    if (options.reference) flags |= FLAG.reference;
    this.#model = this.#make('js_open', at, size, flags);
    const count = this.#call('holo_model_graph_count', this.#model);
    for (let i = 0; i < count; i++) this.#graphs.push(this.#describe(i));
    const metadata = {};
    this.#on.pair = (key, value) => void (metadata[this.#text(key >>> 0)] = this.#text(value >>> 0));
    this.#call('js_metadata', this.#model);
    return { graphs: this.#graphs.map(({ name, inputs, outputs }) => ({ name, inputs, outputs })), metadata };
  }

  #describe(graph) {
    const ports = (kind) => {
      const list = [];
      const count = this.#call(`holo_model_${kind}_count`, this.#model, graph);
      for (let i = 0; i < count; i++) list.push(this.#port(kind, graph, i));
      return list;
    };
    const name = this.#text(this.#call('holo_model_graph_name', this.#model, graph));
    return { name, inputs: ports('input'), outputs: ports('output'), session: 0, bound: new Map() };
  }

  #port(kind, graph, index) {
    const at = this.#alloc(SIZES.port);
    this.#call(`holo_model_${kind}`, this.#model, graph, index, at);
    const view = this.#view;
    const rank = view.getInt32(at + 8, true);
    const shape = rank < 0 ? null : [];
    for (let i = 0; i < rank; i++) {
      const dim = Number(view.getBigInt64(at + 16 + 8 * i, true));
      shape.push(dim >= 0 ? dim : this.#text(view.getUint32(at + 80 + 4 * i, true)) || '?');
    }
    const type = TYPE_NAMES.get(view.getInt32(at + 4, true)) ?? 'none';
    const port = { name: this.#text(view.getUint32(at, true)), type, shape };
    this.#free(at);
    return port;
  }

  #graph(number) {
    const graph = this.#graphs[number];
    if (graph === undefined) {
      throw new HologramError(`there is no graph ${number}: the model has ${this.#graphs.length}`);
    }
    return graph;
  }

  #session(number) {
    const graph = this.#graph(number);
    if (graph.session === 0) graph.session = this.#make('js_session', this.#model, number, this.#pool, false);
    return graph.session;
  }

  /** The byte that stops a run from another thread: { memory, at }; null where no other thread sees the memory. */
  cancelWord(number) {
    if (this.#pool === 0) return null;
    return { memory: this.#memory, at: this.#call('js_cancel_word', this.#session(number)) >>> 0 };
  }

  /** Runs a graph; feeds and results are plain objects { type, data, dims } by name. */
  run(number, feeds, wanted, isStopped) {
    const graph = this.#graph(number);
    const session = this.#session(number);
    if (isStopped) {
      // A cancel that came too late for the last run is not for this one; one for this run may be here already.
      const word = this.cancelWord(number);
      if (word) Atomics.store(new Uint8Array(word.memory.buffer), word.at, 0);
      if (isStopped()) throw new HologramError('the run was cancelled', 'E_CANCELLED');
    }
    this.#bind(graph, session, graph.bound, feeds);
    this.#check('holo_session_run', session);
    return this.#results(graph, session, wanted);
  }

  /** One run with a record for each step. */
  profile(number, feeds) {
    const graph = this.#graph(number);
    const session = this.#make('js_session', this.#model, number, this.#pool, true);
    const steps = [];
    this.#on.step = (at) => void steps.push(this.#step(at >>> 0));
    const bound = new Map();
    try {
      this.#bind(graph, session, bound, feeds);
      this.#check('holo_session_run', session); // settles sizes and warms up
      steps.length = 0;
      this.#check('holo_session_run', session);
    } finally {
      this.#call('holo_session_free', session);
      for (const slot of bound.values()) this.#release(slot);
    }
    return steps;
  }

  #step(at) {
    const view = this.#view;
    return {
      node: this.#text(view.getUint32(at + 4, true)),
      kernel: this.#text(view.getUint32(at + 8, true)),
      seconds: view.getFloat64(at + 16, true),
      flops: view.getFloat64(at + 24, true),
      bytes: view.getFloat64(at + 32, true),
    };
  }

  stats(number) {
    const at = this.#alloc(SIZES.stats);
    this.#call('holo_session_get_stats', this.#session(number), at);
    const view = this.#view;
    const stats = Object.fromEntries(STATS.map((name, i) => [name, Number(view.getBigUint64(at + 8 * i, true))]));
    stats.steps = view.getUint32(at + 40, true);
    stats.threads = view.getUint32(at + 44, true);
    this.#free(at);
    return stats;
  }

  // ---- inputs ---------------------------------------------------------------------------------

  #bind(graph, session, bound, feeds) {
    for (const name of Object.keys(feeds)) {
      if (!graph.inputs.some((port) => port.name === name)) {
        const names = graph.inputs.map((port) => `'${port.name}'`).join(', ');
        throw new HologramError(`there is no input '${name}'; the inputs are ${names || 'none'}`);
      }
    }
    graph.inputs.forEach((port, index) => {
      if (!(port.name in feeds)) throw new HologramError(`input '${port.name}' is missing`);
      this.#bindOne(session, bound, index, port, feedOf(port, feeds[port.name]));
    });
  }

  /** Writes one input to where it lay before, or to a new place; binds it when place or shape are new. */
  #bindOne(session, bound, index, port, feed) {
    const slot = bound.get(index) ?? { tensor: this.#alloc(SIZES.tensor), owned: [], at: 0, capacity: -1, key: '' };
    bound.set(index, slot);
    const isPlain = TYPES[feed.type][1] > 0 && feed.type !== 'string';
    const key = `${feed.type}:${feed.dims}`;
    if (!isPlain) {
      this.#free(...slot.owned.splice(0));
      this.#writeDeep(slot.tensor, feed, slot.owned);
      slot.key = '';
    } else {
      const { data } = feed;
      if (data.byteLength > slot.capacity) {
        this.#free(slot.at);
        slot.capacity = -1;
        slot.at = this.#alloc(data.byteLength);
        slot.capacity = data.byteLength;
        slot.key = '';
      }
      this.write(slot.at, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      if (slot.key === key) return;
      this.#writeTensor(slot.tensor, slot.at, feed.type, feed.dims);
    }
    this.#check('holo_session_set_input', session, index, slot.tensor);
    if (isPlain) slot.key = key;
  }

  #release(slot) {
    this.#free(slot.tensor, slot.at, ...slot.owned);
  }

  #writeTensor(at, data, type, dims) {
    const view = this.#view;
    view.setUint32(at, data, true);
    dims.forEach((d, i) => view.setBigInt64(at + 8 + 8 * i, BigInt(d), true));
    view.setInt32(at + 72, dims.length, true);
    view.setInt32(at + 76, TYPES[type][0], true);
  }

  /** A tensor of any type; what it allocates is added to `owned`. */
  #writeDeep(at, feed, owned) {
    const take = (size) => {
      const place = this.#alloc(size);
      owned.push(place);
      return place;
    };
    const { type, data, dims } = feed;
    if (type === 'string') {
      const texts = Array.from(data, (s) => new TextEncoder().encode(s));
      const items = take(SIZES.string * texts.length);
      const bytes = take(texts.reduce((n, t) => n + t.length, 0));
      let next = bytes;
      texts.forEach((text, i) => {
        this.write(next, text);
        this.#view.setUint32(items + SIZES.string * i, next, true);
        this.#view.setBigUint64(items + SIZES.string * i + 8, BigInt(text.length), true);
        next += text.length;
      });
      this.#writeTensor(at, items, type, dims);
    } else if (TYPES[type][1] > 0) {
      const place = take(data.byteLength);
      this.write(place, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      this.#writeTensor(at, place, type, dims);
    } else {
      const items = take(SIZES.tensor * data.length);
      data.forEach((item, i) => this.#writeDeep(items + SIZES.tensor * i, item, owned));
      this.#writeTensor(at, items, type, [data.length]);
    }
  }

  // ---- results --------------------------------------------------------------------------------

  #results(graph, session, wanted) {
    const results = {};
    const names = graph.outputs.map((port) => port.name);
    for (const name of wanted ?? []) {
      if (!names.includes(name)) {
        throw new HologramError(`there is no output '${name}'; the outputs are ${names.map((n) => `'${n}'`).join(', ')}`);
      }
    }
    const at = this.#alloc(SIZES.tensor);
    try {
      names.forEach((name, index) => {
        if (wanted && !wanted.includes(name)) return;
        this.#check('holo_session_output', session, index, at);
        results[name] = this.#readDeep(at);
      });
    } finally {
      this.#free(at);
    }
    return results;
  }

  #readDeep(at) {
    const view = this.#view;
    const data = view.getUint32(at, true);
    const type = TYPE_NAMES.get(view.getInt32(at + 76, true));
    const dims = [];
    for (let i = 0; i < view.getInt32(at + 72, true); i++) dims.push(Number(view.getBigInt64(at + 8 + 8 * i, true)));
    const count = countOf(dims);
    if (type === 'string') return { type, data: this.#readStrings(data, count), dims };
    if (TYPES[type][1] === 0) {
      const items = Array.from({ length: count }, (_, i) => this.#readDeep(data + SIZES.tensor * i));
      return { type, data: items, dims };
    }
    const array = TYPES[type][2];
    const length = lengthOf(type, count);
    return { type, data: new array(this.#bytes(data, length * array.BYTES_PER_ELEMENT).slice().buffer), dims };
  }

  #readStrings(at, count) {
    return Array.from({ length: count }, (_, i) => {
      const item = at + SIZES.string * i;
      const length = Number(this.#view.getBigUint64(item + 8, true));
      return this.#decode(this.#view.getUint32(item, true), length);
    });
  }

  // ---- compiling ------------------------------------------------------------------------------

  /** Compiles the ONNX file at a place in memory, which is freed. */
  compile(at, size, options = {}, onStage = undefined) {
    const owned = [at];
    try {
      const settings = this.#settings(options, owned);
      const compiled = this.#keep(owned, SIZES.compiled);
      this.#on.stage = (stage, done, total) =>
        onStage?.({ stage: this.#text(stage >>> 0), done, total }) === false ? 0 : 1;
      this.#check('js_compile', at, size, settings, compiled);
      const view = this.#view;
      const bytes = this.#bytes(view.getUint32(compiled, true), view.getUint32(compiled + 4, true)).slice();
      const report = Object.fromEntries(
        REPORT.map((name, i) => [name, Number(view.getBigUint64(compiled + 8 + 8 * i, true))]),
      );
      this.#call('js_compiled_free', compiled);
      return { bytes, report };
    } finally {
      if (this.#broken === null) this.#free(...owned);
    }
  }

  #keep(owned, size) {
    const at = this.#alloc(size);
    owned.push(at);
    return at;
  }

  #keepText(owned, text) {
    const bytes = new TextEncoder().encode(text);
    const at = this.#keep(owned, bytes.length + 1);
    this.write(at, bytes);
    this.#bytes(at + bytes.length, 1)[0] = 0;
    return at;
  }

  #settings(options, owned) {
    const dims = Object.entries(options.dims ?? {});
    const shapes = Object.entries(options.shapes ?? {});
    const disable = options.disable ?? [];
    const at = this.#keep(owned, SIZES.settings);
    const dimAt = this.#keep(owned, SIZES.dim * dims.length);
    const shapeAt = this.#keep(owned, SIZES.shape * shapes.length);
    const disableAt = this.#keep(owned, 4 * disable.length);
    dims.forEach(([name, value], i) => {
      const isBound = typeof value === 'object';
      const text = this.#keepText(owned, name);
      this.#view.setUint32(dimAt + SIZES.dim * i, text, true);
      this.#view.setBigInt64(dimAt + SIZES.dim * i + 8, BigInt(isBound ? value.atMost : value), true);
      this.#view.setUint32(dimAt + SIZES.dim * i + 16, isBound ? 1 : 0, true);
    });
    shapes.forEach(([name, shape], i) => {
      const text = this.#keepText(owned, name);
      const list = this.#keep(owned, 8 * shape.length);
      shape.forEach((d, j) => this.#view.setBigInt64(list + 8 * j, BigInt(d), true));
      this.#view.setUint32(shapeAt + SIZES.shape * i, text, true);
      this.#view.setUint32(shapeAt + SIZES.shape * i + 4, list, true);
      this.#view.setInt32(shapeAt + SIZES.shape * i + 8, shape.length, true);
    });
    disable.forEach((name, i) => this.#view.setUint32(disableAt + 4 * i, this.#keepText(owned, name), true));
    let flags = 0;
    if (options.optimize === false) flags |= COMPILE_FLAG.noOptimize;
    if (options.stripShapes) flags |= COMPILE_FLAG.stripShapes;
    const numerics = { fast: 0, exact: 1 }[options.numerics ?? 'fast'];
    if (numerics === undefined) throw new HologramError(`numerics is '${options.numerics}', expected 'fast' or 'exact'`);
    const fields = [dimAt, shapeAt, disableAt, dims.length, shapes.length, disable.length, flags, numerics];
    fields.forEach((value, i) => this.#view.setUint32(at + 4 * i, value, true));
    return at;
  }

  /** The report of `hologram inspect` on the .holo file at a place in memory. */
  inspect(at, size, form = 'text') {
    const number = FORMS.indexOf(form);
    if (number < 0) throw new HologramError(`form is '${form}', expected ${FORMS.join(', ')}`);
    const model = this.#make('js_open', at, size, 0);
    const parts = [];
    this.#on.text = (bytes, length) => void parts.push(this.#bytes(bytes >>> 0, length >>> 0).slice());
    try {
      this.#check('js_inspect', model, number);
    } finally {
      this.#call('holo_model_free', model);
      this.#free(at);
    }
    const decoder = new TextDecoder();
    return parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode();
  }
}

export function tooLarge(size) {
  return new HologramError(
    `${size} bytes are more than WebAssembly can address: 4 GB hold a model and its working memory`,
    'E_LIMIT',
  );
}

/** A feed as { type, data, dims }: what it says itself, else what the port says. */
function feedOf(port, feed) {
  if (feed === null || feed === undefined) {
    if (port.type === 'optional') return { type: 'optional', data: [], dims: [0] };
    throw new HologramError(`input '${port.name}' is ${feed}, expected a tensor`);
  }
  if (feed instanceof Map) return mapFeed(feed);
  if (Array.isArray(feed) && port.type === 'sequence') {
    return { type: 'sequence', data: feed.map((item) => feedOf({ name: port.name, type: 'none', shape: null }, item)), dims: [feed.length] };
  }
  if (typeof feed === 'object' && 'data' in feed && 'dims' in feed) {
    const item = { type: feed.type ?? port.type, data: feed.data, dims: feed.dims };
    const wrapped = TYPES[item.type]?.[1] === 0 ? item : new Tensor(item.type, item.data, item.dims);
    if (port.type !== 'optional' || item.type === 'optional') return wrapped;
    return { type: 'optional', data: [wrapped], dims: [1] };
  }
  const data = arrayOf(port.type, typeof feed === 'string' ? [feed] : feed);
  return new Tensor(port.type, data, dimsFor(port, data));
}

/** The shape of bare data: the port's, with the one unknown dimension computed. */
function dimsFor(port, data) {
  if (port.shape === null) return [data.length];
  const known = port.shape.filter((d) => typeof d === 'number').reduce((n, d) => n * d, 1);
  const unknown = port.shape.filter((d) => typeof d !== 'number').length;
  if (unknown > 1) {
    throw new HologramError(`input '${port.name}' has shape [${port.shape}]: pass a Tensor that says its own`, 'E_SHAPE');
  }
  return port.shape.map((d) => (typeof d === 'number' ? d : known === 0 ? 0 : data.length / known));
}

function mapFeed(map) {
  const keys = [...map.keys()];
  const list = (items, whole) => {
    if (typeof items[0] === 'string') return new Tensor('string', items);
    return whole ? new Tensor('int64', items) : new Tensor('float32', items);
  };
  return { type: 'map', data: [list(keys, true), list([...map.values()], false)], dims: [2] };
}
