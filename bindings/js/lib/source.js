// source.js - the bytes of a model from wherever they come, straight into the memory of a module.
import { MAX_BYTES, tooLarge } from './engine.js';
import { isNode, readFile } from './platform.js';
import { HologramError } from './tensor.js';

const isUrl = (text) => /^[a-z][a-z0-9+.-]+:/i.test(text);

/** A source that can be sent to a worker: addresses become absolute here, where the page is known. */
export function portable(source) {
  if (source instanceof URL) return source.href;
  if (typeof source !== 'string') return source;
  if (isUrl(source) || (isNode && typeof location === 'undefined')) return source;
  return new URL(source, globalThis.location?.href).href;
}

/** Whether the source itself can be posted; streams and responses are read here and sent in pieces. */
export function isPostable(source) {
  return typeof source === 'string' || source instanceof Blob || source instanceof ArrayBuffer || ArrayBuffer.isView(source);
}

/** { size, chunks } of any source; size is 0 when it is not known. */
export async function chunksOf(source, signal) {
  signal?.throwIfAborted();
  if (source instanceof URL || typeof source === 'string') return chunksOfAddress(portable(source), signal);
  if (typeof Request !== 'undefined' && source instanceof Request) return chunksOfResponse(await fetch(source, { signal }));
  if (typeof Response !== 'undefined' && source instanceof Response) return chunksOfResponse(source);
  if (source instanceof Blob) return { size: source.size, chunks: source.stream() };
  if (source instanceof ArrayBuffer || (typeof SharedArrayBuffer !== 'undefined' && source instanceof SharedArrayBuffer)) {
    return { size: source.byteLength, chunks: [new Uint8Array(source)] };
  }
  if (ArrayBuffer.isView(source)) {
    return { size: source.byteLength, chunks: [new Uint8Array(source.buffer, source.byteOffset, source.byteLength)] };
  }
  if (source?.[Symbol.asyncIterator] || source?.getReader) return { size: 0, chunks: source };
  throw new HologramError('the source of a model is a URL, a path, bytes, a Blob, a Response or a stream');
}

async function chunksOfAddress(address, signal) {
  if (isNode && address.startsWith('file:')) return readFile(new URL(address));
  if (isNode && !isUrl(address)) return readFile(address);
  let response;
  try {
    response = await fetch(address, { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new HologramError(`cannot fetch '${address}': ${error.message}`, 'E_IO');
  }
  return chunksOfResponse(response);
}

function chunksOfResponse(response) {
  if (!response.ok) {
    const what = `${response.status} ${response.statusText}`.trim();
    throw new HologramError(`cannot fetch '${response.url}': ${what}`, 'E_IO');
  }
  // The length is that of the bytes on the wire: of no use when they were compressed.
  const isPlain = !response.headers.get('content-encoding');
  const size = isPlain ? Number(response.headers.get('content-length') ?? 0) : 0;
  return { size, chunks: response.body ?? [] };
}

async function* iterate(chunks) {
  if (!chunks.getReader || chunks[Symbol.asyncIterator]) {
    yield* chunks;
    return;
  }
  const reader = chunks.getReader(); // Safari's streams are not iterable
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

/** Writes a source into the engine's memory: { at, size }. */
export async function load(engine, source, { onProgress, signal } = {}) {
  const { size, chunks } = await chunksOf(source, signal);
  if (size > MAX_BYTES) throw tooLarge(size);
  return size > 0 ? loadKnown(engine, size, chunks, onProgress, signal) : loadUnknown(engine, chunks, onProgress, signal);
}

async function loadKnown(engine, size, chunks, onProgress, signal) {
  const at = engine.reserve(size);
  let loaded = 0;
  for await (const chunk of iterate(chunks)) {
    signal?.throwIfAborted();
    if (chunk.length > size - loaded) throw new HologramError(`more bytes came than the ${size} announced`, 'E_IO');
    engine.write(at + loaded, chunk);
    loaded += chunk.length;
    onProgress?.({ loaded, total: size });
  }
  if (loaded < size) throw new HologramError(`the source ended after ${loaded} of ${size} bytes`, 'E_IO');
  return { at, size };
}

// Kept until the size is known: memory of a module that was given back stays with it.
async function loadUnknown(engine, chunks, onProgress, signal) {
  const list = [];
  let size = 0;
  for await (const chunk of iterate(chunks)) {
    signal?.throwIfAborted();
    list.push(chunk.slice());
    size += chunk.length;
    if (size > MAX_BYTES) throw tooLarge(size);
    onProgress?.({ loaded: size, total: 0 });
  }
  const at = engine.reserve(size);
  let next = at;
  for (const chunk of list) {
    engine.write(next, chunk);
    next += chunk.length;
  }
  return { at, size };
}
