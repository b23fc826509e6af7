// platform.js - what differs between pages, workers and Node.
import { HologramError } from './tensor.js';

export const isNode = typeof process === 'object' && typeof process.versions?.node === 'string';
/** The main thread of a page: it must never wait. */
export const isPage = typeof window !== 'undefined' && typeof document !== 'undefined';

// Behind a variable, so that bundlers do not look for Node's modules.
const node = (name) => import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`);

/** A function of one small module of WebAssembly with the given body. */
function probe(body) {
  const code = [0, ...body, 0x0b];
  return WebAssembly.validate(
    Uint8Array.from([
      0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, code.length + 2, 1, code.length, ...code,
    ]),
  );
}

const zero = [0xfd, 0x0c, ...new Array(16).fill(0)]; // v128.const 0
let found;

/** What this browser or Node can do. */
export function features() {
  if (found !== undefined) return found;
  const isolated = isNode || globalThis.crossOriginIsolated === true;
  const threads = isNode
    ? navigatorThreads()
    : isolated && typeof SharedArrayBuffer !== 'undefined'
      ? navigatorThreads()
      : 1;
  found = {
    simd: probe(zero),
    relaxedSimd: probe([...zero, ...zero, ...zero, 0xfd, 0x85, 0x02]), // f32x4.relaxed_madd
    threads,
    crossOriginIsolated: isolated,
  };
  return found;
}

function navigatorThreads() {
  return globalThis.navigator?.hardwareConcurrency ?? nodeThreads;
}

// Node 20 has no navigator.
const nodeThreads = isNode && globalThis.navigator === undefined ? (await node('os')).availableParallelism() : 1;

/** A worker, lib/NAME.js: { post(message, transfer), on(handler), hold(isHeld), terminate() }. `make` makes it in a browser:
 * it is written out where it is called, for bundlers. */
export async function spawn(name, base, make) {
  if (isNode) {
    const { Worker } = await node('worker_threads');
    const worker = new Worker(new URL(`./${name}.js`, base));
    worker.unref(); // a model that is not disposed must not keep the program from ending
    return {
      post: (message, transfer) => worker.postMessage(message, transfer),
      on: (handler, failed) => void worker.on('message', handler).on('error', failed),
      hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
      terminate: () => void worker.terminate(),
    };
  }
  const worker = make();
  return {
    post: (message, transfer) => worker.postMessage(message, transfer ?? []),
    on: (handler, failed) => {
      worker.onmessage = (event) => handler(event.data);
      worker.onerror = (event) => failed(new HologramError(event.message || 'the worker could not be started', 'E_IO'));
    },
    hold: () => {},
    terminate: () => worker.terminate(),
  };
}

/** Inside a worker: the way to whoever started it. */
export async function parent() {
  if (isNode) {
    const { parentPort } = await node('worker_threads');
    return {
      post: (message, transfer) => parentPort.postMessage(message, transfer),
      on: (handler) => void parentPort.on('message', handler),
    };
  }
  return {
    post: (message, transfer) => self.postMessage(message, transfer ?? []),
    on: (handler) => void (self.onmessage = (event) => handler(event.data)),
  };
}

/** The bytes of a file: { size, chunks }. */
export async function readFile(path) {
  const { open } = await node('fs/promises');
  let file;
  try {
    file = await open(path);
    const { size } = await file.stat();
    return { size, chunks: fileChunks(file) };
  } catch (error) {
    await file?.close();
    throw new HologramError(`cannot read '${path}': ${error.message}`, 'E_IO');
  }
}

async function* fileChunks(file) {
  const buffer = new Uint8Array(1 << 20);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
