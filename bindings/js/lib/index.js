// index.js - Hologram in JavaScript: README.md is the manual.
import { LocalHost } from './local.js';
import { features, isNode, isPage, readFile } from './platform.js';
import { WorkerHost } from './remote.js';
import { chunksOf } from './source.js';
import { HologramError, Tensor } from './tensor.js';

export { HologramError, Tensor };

const MAX_DEFAULT_THREADS = 4;
const MAGIC = 'HOLO\r\n\x1a\n';

// Written out, so that bundlers find the files.
const MODULES = {
  'hologram_rt.wasm': new URL('../wasm/hologram_rt.wasm', import.meta.url),
  'hologram_rt.threads.wasm': new URL('../wasm/hologram_rt.threads.wasm', import.meta.url),
  'hologram_rt.relaxed.wasm': new URL('../wasm/hologram_rt.relaxed.wasm', import.meta.url),
  'hologram_rt.relaxed.threads.wasm': new URL('../wasm/hologram_rt.relaxed.threads.wasm', import.meta.url),
  'hologram.wasm': new URL('../wasm/hologram.wasm', import.meta.url),
};

const compiled = new Map(); // address -> promise of a module

function addressOf(name, assets) {
  if (!assets) return MODULES[name];
  const folder = String(assets).replace(/\/?$/, '/');
  return new URL(name, new URL(folder, globalThis.location?.href ?? import.meta.url));
}

async function compileModule(address) {
  if (isNode && address.protocol === 'file:') {
    const { size, chunks } = await readFile(address);
    const bytes = new Uint8Array(size);
    let at = 0;
    for await (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return WebAssembly.compile(bytes);
  }
  const response = await fetch(address);
  if (!response.ok) throw new HologramError(`cannot fetch '${address}': ${response.status} ${response.statusText}`, 'E_IO');
  // Streaming wants the type application/wasm, which not every server says.
  if (response.headers.get('content-type')?.startsWith('application/wasm')) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

function moduleOf(name, assets) {
  const address = addressOf(name, assets ?? Hologram.assets);
  const key = String(address);
  if (!compiled.has(key)) {
    const promise = compileModule(address);
    promise.catch(() => compiled.delete(key)); // tried again next time
    compiled.set(key, promise);
  }
  return compiled.get(key);
}

function checkSimd() {
  if (!features().simd) throw new HologramError('this browser has no WebAssembly SIMD', 'E_UNSUPPORTED');
}

/** A host with a module: { host, info }. */
async function startHost(options, isCompiler) {
  checkSimd();
  const worker = options.worker ?? isPage;
  const can = features();
  let threads = options.threads ?? Math.min(can.threads, MAX_DEFAULT_THREADS);
  if (!Number.isInteger(threads) || threads < 1) throw new HologramError(`threads is ${threads}, expected 1 or more`);
  if (isCompiler || !can.crossOriginIsolated || (isPage && !worker)) threads = 1; // a page's own thread must not wait
  const relaxed = !isCompiler && can.relaxedSimd && options.relaxed !== false;
  const name = isCompiler ? 'hologram.wasm' : `hologram_rt${relaxed ? '.relaxed' : ''}${threads > 1 ? '.threads' : ''}.wasm`;
  const module = await moduleOf(name, options.assets);
  const host = worker ? new WorkerHost() : new LocalHost();
  try {
    const started = await host.start(module, threads);
    return { host, info: { threads: started.threads, worker, relaxedSimd: relaxed, module: name } };
  } catch (error) {
    host.dispose();
    throw error;
  }
}

/** Makes one call on a host with the compiler and gives it back. */
async function withCompiler(options, call) {
  const { host } = await startHost(options, true);
  try {
    return await call(host);
  } finally {
    host.dispose();
  }
}

const handlersOf = ({ onProgress, onStage, signal }) => ({ onProgress, onStage, signal });

/** Tensors, arrays, Maps and null out of what an engine gives. */
function publish(item) {
  switch (item.type) {
    case 'sequence':
      return item.data.map(publish);
    case 'optional':
      return item.data.length === 0 ? null : publish(item.data[0]);
    case 'map': {
      const [keys, values] = item.data;
      return new Map(Array.from(keys.data, (key, i) => [key, values.data[i]]));
    }
    default:
      return new Tensor(item.type, item.data, item.dims);
  }
}

/** A feed without what cannot be sent to a worker. */
function plain(feed) {
  if (feed instanceof Tensor) return { type: feed.type, data: feed.data, dims: feed.dims };
  return Array.isArray(feed) ? feed.map(plain) : feed;
}

export class Model {
  #host;
  #last = Promise.resolve();

  /** Made by Hologram.open. */
  constructor(host, info, { graphs, metadata, bytes }) {
    this.#host = host;
    this.graphs = graphs;
    this.metadata = metadata;
    this.info = { ...info, bytes };
  }

  get inputs() {
    return this.graphs[0].inputs;
  }

  get outputs() {
    return this.graphs[0].outputs;
  }

  get inputNames() {
    return this.inputs.map((port) => port.name);
  }

  get outputNames() {
    return this.outputs.map((port) => port.name);
  }

  #graph(name) {
    if (name === undefined) return 0;
    const number = typeof name === 'number' ? name : this.graphs.findIndex((graph) => graph.name === name);
    if (this.graphs[number] !== undefined) return number;
    const names = this.graphs.map((graph) => `'${graph.name}'`).join(', ');
    throw new HologramError(`there is no graph '${name}'; the graphs are ${names}`);
  }

  /** One call after the other, in the order they were made. */
  #queue(call) {
    const result = this.#last.then(() => {
      if (this.#host === null) throw new HologramError('the model was disposed', 'E_STATE');
      return call(this.#host);
    });
    this.#last = result.catch(() => {});
    return result;
  }

  async run(feeds, options = {}) {
    const graph = this.#graph(options.graph);
    const sent = Object.fromEntries(Object.entries(feeds).map(([name, feed]) => [name, plain(feed)]));
    const { signal } = options;
    signal?.throwIfAborted();
    const results = await this.#queue((host) => host.run(graph, sent, options.outputs, { signal }));
    return Object.fromEntries(Object.entries(results).map(([name, item]) => [name, publish(item)]));
  }

  async profile(feeds, options = {}) {
    const graph = this.#graph(options.graph);
    const sent = Object.fromEntries(Object.entries(feeds).map(([name, feed]) => [name, plain(feed)]));
    return this.#queue((host) => host.profile(graph, sent));
  }

  async stats(graph) {
    const number = this.#graph(graph);
    return this.#queue((host) => host.stats(number));
  }

  dispose() {
    this.#host?.dispose();
    this.#host = null;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }
}

export const Hologram = {
  /** Folder of the .wasm files; undefined: beside this package. */
  assets: undefined,

  features,

  async open(source, options = {}) {
    const { host, info } = await startHost(options, false);
    try {
      const { checkWeights, reference } = options;
      return new Model(host, info, await host.open(source, { checkWeights, reference }, handlersOf(options)));
    } catch (error) {
      host.dispose();
      throw error;
    }
  },

  async compile(source, options = {}) {
    const { numerics, dims, shapes, optimize, stripShapes, disable } = options;
    const settings = { numerics, dims, shapes, optimize, stripShapes, disable };
    return withCompiler(options, (host) => host.compile(source, settings, handlersOf(options)));
  },

  async inspect(source, form = 'text', options = {}) {
    return withCompiler(options, (host) => host.inspect(source, form, handlersOf(options)));
  },

  async version(options = {}) {
    return withCompiler(options, (host) => host.version());
  },
};

async function bytesOf(source, options) {
  const { chunks } = await chunksOf(source, options.signal);
  const list = [];
  for await (const chunk of chunks) list.push(chunk.slice());
  return new Uint8Array(await new Blob(list).arrayBuffer());
}

/** The names of onnxruntime-web. */
export class InferenceSession {
  #model;

  static async create(source, options = {}) {
    const session = new InferenceSession();
    const settings = { ...options, threads: options.threads ?? options.intraOpNumThreads };
    if (settings.threads === 0) settings.threads = undefined;
    if (typeof source === 'string' && /\.holo($|[?#])/.test(source)) {
      session.#model = await Hologram.open(source, settings);
      return session;
    }
    const bytes = await bytesOf(source, settings);
    const isHolo = String.fromCharCode(...bytes.subarray(0, MAGIC.length)) === MAGIC;
    session.#model = await Hologram.open(isHolo ? bytes : (await Hologram.compile(bytes, settings)).bytes, settings);
    return session;
  }

  get inputNames() {
    return this.#model.inputNames;
  }

  get outputNames() {
    return this.#model.outputNames;
  }

  get inputMetadata() {
    return this.#model.inputs.map((port) => ({ ...port, isTensor: true }));
  }

  get outputMetadata() {
    return this.#model.outputs.map((port) => ({ ...port, isTensor: true }));
  }

  /** run(feeds), run(feeds, outputs) or run(feeds, outputs, options) */
  async run(feeds, fetches = undefined, options = {}) {
    const outputs = Array.isArray(fetches) ? fetches : fetches && Object.keys(fetches);
    return this.#model.run(feeds, { outputs: outputs?.length ? outputs : undefined, signal: options.signal });
  }

  async release() {
    this.#model.dispose();
  }
}

export default Hologram;
