// api.test.mjs - the interface that README.md describes, under Node.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Hologram, HologramError, InferenceSession, Tensor } from '../lib/index.js';
import { Engine, MAX_BYTES } from '../lib/engine.js';
import { load } from '../lib/source.js';
import { fixed, product, unary } from './model.mjs';

const single = { threads: 1, worker: false };
const compiled = async (onnx) => (await Hologram.compile(onnx, single)).bytes;

async function withModel(bytes, options, use) {
  const model = await Hologram.open(bytes, options);
  try {
    return await use(model);
  } finally {
    model.dispose();
  }
}

const rejects = (promise, code, message) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof HologramError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

/** Numbers that sums of products keep exact in float32. */
const small = (count, step) => Float32Array.from({ length: count }, (_, i) => ((i * step) % 17) - 8);

function productOf(a, b, c, m, k, n) {
  const y = new Float32Array(m * n);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let sum = c[j];
      for (let p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
      y[i * n + j] = Math.max(sum, 0);
    }
  return y;
}

for (const options of [single, { threads: 2, worker: false }, { threads: 1, worker: true }, { threads: 2, worker: true }]) {
  test(`products of many sizes, ${options.threads} threads, worker ${options.worker}`, async () => {
    const bytes = await compiled(product);
    await withModel(bytes, options, async (model) => {
      assert.equal(model.info.threads, options.threads);
      for (const [m, k, n] of [[1, 1, 1], [3, 5, 7], [5, 17, 33], [64, 400, 40], [130, 33, 96], [0, 3, 4]]) {
        const [a, b, c] = [small(m * k, 5), small(k * n, 3), small(n, 7)];
        const { y } = await model.run({
          a: new Tensor('float32', a, [m, k]), b: new Tensor('float32', b, [k, n]), c: new Tensor('float32', c, [n]),
        });
        assert.deepEqual(y.dims, [m, n]);
        assert.deepEqual(y.data, productOf(a, b, c, m, k, n));
      }
    });
  });
}

test('names, types, shapes, metadata and figures of a model', async () => {
  await withModel(await compiled(product), single, async (model) => {
    assert.deepEqual(model.inputNames, ['a', 'b', 'c']);
    assert.deepEqual(model.outputNames, ['y']);
    assert.deepEqual(model.inputs[0], { name: 'a', type: 'float32', shape: ['m', 'k'] });
    assert.equal(model.graphs.length, 1);
    assert.equal(typeof model.metadata, 'object');
    const stats = await model.stats();
    assert.ok(stats.steps > 0 && stats.threads === 1);
  });
  assert.match(await Hologram.version(), /^\d+\.\d+\.\d+$/);
  assert.match(await Hologram.inspect(await compiled(product)), /float32\[m,k\]/);
  assert.equal(typeof JSON.parse(await Hologram.inspect(await compiled(product), 'json')), 'object');
});

test('bare data takes the shape of the input', async () => {
  await withModel(await compiled(fixed), single, async (model) => {
    const { z } = await model.run({ x: new Float32Array([1, 2, 3, 4, 5, 6]), y: [10, 20, 30] });
    assert.deepEqual(Array.from(z.data), [11, 22, 33, 14, 25, 36]);
    assert.deepEqual(z.dims, [2, 3]);
  });
});

test('strings, integers of 64 bits and booleans', async () => {
  await withModel(await compiled(unary('Identity', 8)), single, async (model) => {
    const texts = ['', 'Größe', '日本', 'a\0b'];
    const { y } = await model.run({ x: new Tensor('string', texts) });
    assert.deepEqual(y.data, texts);
  });
  await withModel(await compiled(unary('Neg', 7)), single, async (model) => {
    const { y } = await model.run({ x: new Tensor('int64', [1, 2n ** 62n, -3n]) });
    assert.deepEqual(y.data, BigInt64Array.of(-1n, -(2n ** 62n), 3n));
  });
  await withModel(await compiled(unary('Not', 9)), single, async (model) => {
    const { y } = await model.run({ x: new Tensor('bool', [true, false]) });
    assert.deepEqual(y.data, Uint8Array.of(0, 1));
  });
  await withModel(await compiled(unary('NonZero', 1, 7)), single, async (model) => {
    const { y } = await model.run({ x: new Tensor('float32', [0, 5, 0, -1]) });
    assert.deepEqual(y.data, BigInt64Array.of(1n, 3n));
  });
});

test('every kind of source gives the same model', async () => {
  const bytes = await compiled(fixed);
  const folder = await mkdtemp(join(tmpdir(), 'hologram-'));
  const path = join(folder, 'model.holo');
  await writeFile(path, bytes);
  const server = createServer((request, response) => {
    if (request.url === '/none') return void response.writeHead(404).end();
    if (request.url === '/known') response.setHeader('content-length', bytes.length);
    response.end(bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  try {
    const sources = [
      () => bytes, () => bytes.slice().buffer, () => new Blob([bytes]), () => new Response(bytes), () => new Blob([bytes]).stream(),
      () => path, () => pathToFileURL(path), () => `${base}/known`, () => new URL(`${base}/unknown`), () => new Request(`${base}/known`),
    ];
    for (const source of sources) {
      for (const worker of [false, true]) {
        let last = { loaded: 0 };
        const onProgress = (p) => (last = p);
        await withModel(source(), { threads: 1, worker, onProgress }, async (model) => {
          assert.equal(model.info.bytes, bytes.length);
          assert.deepEqual(model.inputNames, ['x', 'y']);
        });
        if (!worker) assert.equal(last.loaded, bytes.length);
      }
    }
    await rejects(Hologram.open(`${base}/none`, single), 'E_IO', /404/);
    await rejects(Hologram.open(join(folder, 'absent.holo'), single), 'E_IO', /absent\.holo/);
  } finally {
    server.close();
    await rm(folder, { recursive: true });
  }
});

test('failures have the sentence of the library and its status', async () => {
  const bytes = await compiled(fixed);
  await rejects(Hologram.open(new Uint8Array(100), single), 'E_FORMAT', /./);
  await rejects(Hologram.open(bytes.subarray(0, bytes.length - 1), single), 'E_FORMAT', /./);
  await rejects(Hologram.open(new Uint8Array(0), single), 'E_FORMAT', /./);
  await rejects(Hologram.open(42, single), 'E_ARG', /source/);
  await rejects(Hologram.open(bytes, { threads: 0 }), 'E_ARG', /threads is 0/);
  await rejects(Hologram.compile(new Uint8Array([1, 2, 3]), single), 'E_MODEL', /./);
  await rejects(Hologram.compile(unary('NoSuchOperator', 1), single), 'E_UNSUPPORTED', /NoSuchOperator/);
  await rejects(Hologram.compile(fixed, { ...single, numerics: 'slow' }), 'E_ARG', /slow/);
  await withModel(bytes, single, async (model) => {
    const y = new Float32Array(3);
    await rejects(model.run({ y }), 'E_ARG', /input 'x' is missing/);
    await rejects(model.run({ x: new Float32Array(6), y, w: y }), 'E_ARG', /no input 'w'/);
    await rejects(model.run({ x: new Float32Array(5), y }), 'E_SHAPE', /5 elements/);
    await rejects(model.run({ x: new Tensor('float32', new Float32Array(6), [3, 2]), y }), 'E_SHAPE', /./);
    await rejects(model.run({ x: new Tensor('int32', new Int32Array(6), [2, 3]), y }), 'E_TYPE', /./);
    await rejects(model.run({ x: new Float32Array(6), y }, { outputs: ['q'] }), 'E_ARG', /no output 'q'/);
    const { z } = await model.run({ x: new Float32Array(6), y }); // and it still works
    assert.equal(z.size, 6);
  });
});

test('a model too large for addresses of 32 bits is refused before a byte is read', async () => {
  const engine = { reserve: () => assert.fail('reserved') };
  const response = new Response('x', { headers: { 'content-length': String(MAX_BYTES + 1) } });
  await rejects(load(engine, response), 'E_LIMIT', /4 GB/);
});

test('a source that ends early, says too little, or is stopped', async () => {
  const bytes = await compiled(fixed);
  const module = await WebAssembly.compile(
    await import('node:fs').then((fs) => fs.readFileSync(new URL('../wasm/hologram_rt.wasm', import.meta.url))));
  const of = (length) => new Response(bytes, { headers: { 'content-length': String(length) } });
  await rejects(load(await Engine.create(module), of(bytes.length + 1)), 'E_IO', /ended after/);
  await rejects(load(await Engine.create(module), of(bytes.length - 1)), 'E_IO', /more bytes came/);
  await assert.rejects(Hologram.open(bytes, { ...single, signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('calls may overlap; a disposed model refuses them', async () => {
  const model = await Hologram.open(await compiled(fixed), { threads: 1, worker: true });
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, i) => model.run({ x: new Float32Array(6).fill(i), y: new Float32Array(3) })));
  results.forEach(({ z }, i) => assert.equal(z.data[5], i));
  model.dispose();
  await rejects(model.run({ x: new Float32Array(6), y: new Float32Array(3) }), 'E_STATE', /disposed/);
});

test('a signal ends a run; the model goes on', async () => {
  const size = 600; // long enough to be in the middle of it, whatever the machine
  const feeds = { a: new Tensor(new Float32Array(size * size).fill(1), [size, size]) };
  feeds.b = feeds.a;
  feeds.c = new Float32Array(size);
  for (const options of [{ threads: 1, worker: true }, { threads: 2, worker: true }, single]) {
    await withModel(await compiled(product), options, async (model) => {
      await assert.rejects(model.run(feeds, { signal: AbortSignal.abort() }), { name: 'AbortError' });
      const control = new AbortController();
      const first = model.run(feeds, { signal: control.signal });
      const second = model.run(feeds); // is not stopped by it
      setTimeout(() => control.abort(), 2);
      const ended = await first.catch((error) => error);
      assert.ok(ended.y !== undefined || ended.name === 'AbortError', String(ended));
      const { y } = await second;
      assert.ok(y.data.every((value) => value === size));
    });
  }
});

test('dimensions and shapes can be fixed, passes left out', async () => {
  const { bytes, report } = await Hologram.compile(product, {
    ...single, dims: { m: 2, n: { atMost: 64 } }, shapes: { c: [5] }, disable: [], optimize: false, stripShapes: true,
  });
  assert.ok(report.steps > 0 && report.file_bytes === bytes.length);
  await withModel(bytes, single, async (model) => assert.equal(model.inputs[0].shape[0], 2));
});

test('a profile has a record for each step', async () => {
  await withModel(await compiled(fixed), single, async (model) => {
    const steps = await model.profile({ x: new Float32Array(6), y: new Float32Array(3) });
    assert.ok(steps.length > 0 && steps.every((s) => s.kernel.length > 0 && s.seconds >= 0));
  });
});

test("onnxruntime-web's names", async () => {
  for (const source of [fixed, await compiled(fixed)]) {
    const session = await InferenceSession.create(source, { executionProviders: ['wasm'], intraOpNumThreads: 1 });
    assert.deepEqual(session.inputNames, ['x', 'y']);
    const { z } = await session.run({ x: new Tensor('float32', new Float32Array(6), [2, 3]), y: new Tensor(new Float32Array(3)) });
    assert.deepEqual(z.dims, [2, 3]);
    await session.release();
  }
});

test('tensors say what is wrong with them', () => {
  assert.throws(() => new Tensor('float32', new Float32Array(5), [2, 3]), /5 elements, expected 6/);
  assert.throws(() => new Tensor('float99', [], []), /float99/);
  assert.throws(() => new Tensor('float32', new Int32Array(2), [2]), /Int32Array/);
  assert.throws(() => new Tensor('float32', [1], [-1]), /dimension is -1/);
  assert.equal(new Tensor(new Int8Array(4), [2, 2]).type, 'int8');
  assert.equal(new Tensor('uint4', new Uint8Array(2), [3]).size, 3);
  assert.deepEqual(new Tensor('int64', [1, 2]).data, BigInt64Array.of(1n, 2n));
});
