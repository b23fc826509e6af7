// serve.mjs - a static server for tests and measurements: loopback only, a free port, gzip where it helps, the headers
// that threads need; ends with its caller.
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.png': 'image/png',
};
const GZIP = new Set(['.html', '.css', '.js', '.mjs', '.json', '.wasm']);
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};
const MOST_MINUTES = 15;

/** The file of a request, or null when it is none of ours. */
async function find(folders, url) {
  const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
  if (path.includes('..')) return null;
  for (const folder of folders) {
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    const found = await stat(file).catch(() => null);
    if (found?.isFile()) return { file, size: found.size };
  }
  return null;
}

/** Serves folders, the first that has a file wins: { url, sent, close }. `sent` counts bytes of bodies. */
export async function serve(...folders) {
  const packed = new Map();
  const counter = { sent: 0 };
  const server = createServer(async (request, response) => {
    const found = await find(folders, request.url);
    if (!found) {
      response.writeHead(404, HEADERS).end('not found');
      return;
    }
    const kind = extname(found.file);
    const head = { ...HEADERS, 'Content-Type': TYPES[kind] ?? 'application/octet-stream' };
    if (GZIP.has(kind) && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
      if (!packed.has(found.file)) packed.set(found.file, gzipSync(await readFile(found.file)));
      const body = packed.get(found.file);
      counter.sent += body.length;
      response.writeHead(200, { ...head, 'Content-Encoding': 'gzip', 'Content-Length': body.length }).end(body);
      return;
    }
    counter.sent += found.size;
    response.writeHead(200, { ...head, 'Content-Length': found.size });
    createReadStream(found.file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const timer = setTimeout(() => process.exit(3), MOST_MINUTES * 60e3);
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    counter,
    close: () => {
      clearTimeout(timer);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
