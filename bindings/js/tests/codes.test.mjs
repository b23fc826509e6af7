// codes.test.mjs - products, convolutions and tables of 8-bit and narrower codes: the SIMD kernels of WebAssembly against
// whole numbers computed here, and against the reference kernels of the same module.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Hologram, Tensor } from '../lib/index.js';
import { model } from './model.mjs';

const [FLOAT, UINT8, INT8, INT32] = [1, 2, 3, 6];
const NAMES = { [FLOAT]: 'float32', [UINT8]: 'uint8', [INT8]: 'int8', [INT32]: 'int32' };
const ARRAYS = { [FLOAT]: Float32Array, [UINT8]: Uint8Array, [INT8]: Int8Array, [INT32]: Int32Array };
const single = { threads: 1, worker: false };

let state = 1;
/** Knuth's linear congruence: the same codes in every run. */
function next() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state >>> 8;
}

const countOf = (dims) => dims.reduce((n, d) => n * d, 1);
const codes = (type, dims) => ARRAYS[type].from({ length: countOf(dims) }, () => next() % 256); // wraps in an Int8Array
const floats = (dims, size = 1) => Float32Array.from({ length: countOf(dims) }, () => (next() / 2 ** 23 - 1) * size);
const constant = (name, type, dims, data) => ({ name, type, dims, data: ARRAYS[type].from(data) });
const port = (name, type, dims) => ({ name, type, dims });

/** Results of a model with SIMD and with reference kernels, and the names of its kernels. */
const runBoth = async (onnx, feeds) => runFile((await Hologram.compile(onnx, single)).bytes, feeds);

async function runFile(bytes, feeds) {
  const results = [];
  const kernels = new Set();
  for (const reference of [false, true]) {
    const opened = await Hologram.open(bytes, { ...single, reference });
    results.push(await opened.run(feeds));
    for (const step of await opened.profile(feeds)) kernels.add(step.kernel);
    opened.dispose();
  }
  return { tuned: results[0].y, reference: results[1].y, kernels };
}

// ---- products of whole numbers ---------------------------------------------------------------

function productOf(a, b, [m, k, n], zeroA, zeroB) {
  const y = new Int32Array(m * n);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let p = 0; p < k; p++) sum += (a[i * k + p] - zeroA) * (b[p * n + j] - zeroB[j % zeroB.length]);
      y[i * n + j] = sum;
    }
  return y;
}

const PRODUCTS = [[1, 1, 1], [1, 4, 16], [2, 7, 17], [3, 64, 40], [4, 130, 33], [5, 31, 16], [49, 67, 48], [50, 256, 65]];

// Weights of seven bits: two products fit 16 bits, which the compiler proves.
for (const [typeA, typeB, bits] of [[UINT8, INT8, 8], [UINT8, UINT8, 8], [INT8, INT8, 8], [INT8, UINT8, 8], [UINT8, INT8, 7], [INT8, INT8, 7]]) {
  test(`MatMulInteger, ${NAMES[typeA]} by ${NAMES[typeB]} of ${bits} bits`, async () => {
    for (const [m, k, n] of PRODUCTS) {
      const a = codes(typeA, [m, k]), b = codes(typeB, [k, n]).map((v) => (bits === 7 ? v >> 1 : v));
      if (m > 1) a.fill(typeA === UINT8 ? 255 : -128, 0, k);
      const zeroA = codes(typeA, [1]), zeroB = codes(typeB, [next() % 2 ? n : 1]);
      const onnx = model({
        nodes: [{ op: 'MatMulInteger', inputs: ['a', 'b', 'za', 'zb'], outputs: ['y'] }],
        inputs: [port('a', typeA, [m, k])],
        outputs: [port('y', INT32, [m, n])],
        constants: [constant('b', typeB, [k, n], b), constant('za', typeA, [], zeroA),
          constant('zb', typeB, zeroB.length === n ? [n] : [], zeroB)],
      });
      const { tuned, reference } = await runBoth(onnx, { a: new Tensor(NAMES[typeA], a, [m, k]) });
      const expected = productOf(a, b, [m, k, n], zeroA[0], zeroB);
      assert.deepEqual(tuned.data, expected, `${m} x ${k} x ${n}`);
      assert.deepEqual(reference.data, expected, `${m} x ${k} x ${n}, reference`);
    }
  });
}

// ---- convolutions with scales ----------------------------------------------------------------

const CONVOLUTIONS = [
  { c: 8, m: 16, size: 9, kernel: 3, group: 1 }, { c: 3, m: 20, size: 11, kernel: 5, group: 1, stride: 2 },
  { c: 16, m: 33, size: 7, kernel: 1, group: 1 }, { c: 32, m: 32, size: 8, kernel: 3, group: 32 },
  { c: 40, m: 40, size: 6, kernel: 5, group: 40, stride: 2 }, { c: 6, m: 6, size: 5, kernel: 3, group: 6 },
  { c: 12, m: 8, size: 6, kernel: 3, group: 2 },
];

/** The code of round(x * scale) + zero, limited; the quotient is made in 32 bits as the standard's chain is. */
function quantized(sum, scale, zero, [low, high]) {
  const x = Math.fround(Math.fround(sum) * Math.fround(scale));
  const even = Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x);
  return Math.min(Math.max(even + zero, low), high);
}

function convolutionOf(x, w, s, zeroX, bias) {
  const { c, m, size, kernel, group, stride = 1 } = s;
  const pad = kernel >> 1;
  const out = Math.floor((size + 2 * pad - kernel) / stride) + 1;
  const [cg, mg] = [c / group, m / group];
  const y = new Int32Array(m * out * out);
  for (let o = 0; o < m; o++)
    for (let oy = 0; oy < out; oy++)
      for (let ox = 0; ox < out; ox++) {
        let sum = bias[o];
        for (let i = 0; i < cg; i++)
          for (let ky = 0; ky < kernel; ky++)
            for (let kx = 0; kx < kernel; kx++) {
              const [iy, ix] = [oy * stride + ky - pad, ox * stride + kx - pad];
              if (iy < 0 || ix < 0 || iy >= size || ix >= size) continue;
              sum += (x[((Math.floor(o / mg) * cg + i) * size + iy) * size + ix] - zeroX) *
                w[((o * cg + i) * kernel + ky) * kernel + kx];
            }
        y[(o * out + oy) * out + ox] = sum;
      }
  return { sums: y, out };
}

for (const typeX of [UINT8, INT8]) {
  test(`QLinearConv, ${NAMES[typeX]}`, async () => {
    for (const s of CONVOLUTIONS) {
      const { c, m, size, kernel, group, stride = 1 } = s;
      const x = codes(typeX, [c, size, size]), w = codes(INT8, [m, c / group, kernel, kernel]);
      const bias = Int32Array.from({ length: m }, () => next() % 2000 - 1000);
      const zeroX = codes(typeX, [1]), zeroY = typeX === UINT8 ? 100 : -20, scale = 2 ** -9; // products with it are exact
      const { sums, out } = convolutionOf(x, w, s, zeroX[0], bias);
      const onnx = model({
        nodes: [{ op: 'QLinearConv', inputs: ['x', 'one', 'zx', 'w', 'sw', 'zw', 'one', 'zy', 'b'], outputs: ['y'],
          attributes: { group, strides: [stride, stride], pads: Array(4).fill(kernel >> 1) } }],
        inputs: [port('x', typeX, [1, c, size, size])],
        outputs: [port('y', typeX, [1, m, out, out])],
        constants: [constant('one', FLOAT, [], [1]), constant('zx', typeX, [], zeroX),
          constant('w', INT8, [m, c / group, kernel, kernel], w), constant('sw', FLOAT, [], [scale]),
          constant('zw', INT8, [], [0]), constant('zy', typeX, [], [zeroY]), constant('b', INT32, [m], bias)],
      });
      const { tuned, reference } = await runBoth(onnx, { x: new Tensor(NAMES[typeX], x, [1, c, size, size]) });
      const expected = sums.map((sum) => quantized(sum, scale, zeroY, typeX === UINT8 ? [0, 255] : [-128, 127]));
      assert.deepEqual([...tuned.data], [...expected], JSON.stringify(s));
      assert.deepEqual(reference.data, tuned.data, JSON.stringify(s));
    }
  });
}

// ---- weights of few bits -----------------------------------------------------------------------

/** Codes of columns, `bits` each, the lowest first, as MatMulNBits has them. */
function packed(list, bits) {
  const bytes = new Uint8Array(list.length * bits / 8);
  list.forEach((code, i) => (bytes[Math.floor(i * bits / 8)] |= code << (i * bits % 8)));
  return bytes;
}

for (const bits of [2, 4, 8]) {
  for (const level of [0, 4]) {
    test(`MatMulNBits, ${bits} bits, accuracy level ${level}`, async () => {
      for (const [m, k, n, block] of [[1, 64, 40, 32], [3, 96, 33, 32], [7, 130, 16, 64], [1, 256, 64, 128]]) {
        const blocks = Math.ceil(k / block);
        const list = Array.from({ length: n * blocks * block }, () => next() % 2 ** bits);
        const scales = floats([n, blocks], 0.1), x = floats([m, k]);
        const onnx = model({
          nodes: [{ op: 'MatMulNBits', domain: 'com.microsoft', inputs: ['x', 'b', 's'], outputs: ['y'],
            attributes: { K: k, N: n, bits, block_size: block, accuracy_level: level } }],
          inputs: [port('x', FLOAT, [m, k])],
          outputs: [port('y', FLOAT, [m, n])],
          constants: [constant('b', UINT8, [n, blocks, block * bits / 8], packed(list, bits)),
            constant('s', FLOAT, [n, blocks], scales)],
        });
        const { tuned, reference, kernels } = await runBoth(onnx, { x: new Tensor('float32', x, [m, k]) });
        for (let i = 0; i < m * n; i++) {
          let sum = 0, size = 0;
          for (let p = 0; p < k; p++) {
            const g = Math.floor(i % n * blocks + p / block);
            const term = x[Math.floor(i / n) * k + p] * (list[(i % n) * blocks * block + p] - 2 ** (bits - 1)) * scales[g];
            sum += term;
            size += Math.abs(term);
          }
          // Level 4 rounds the row to 8 bits.
          assert.ok(Math.abs(tuned.data[i] - sum) <= size * (level === 4 ? 1e-2 : 1e-5), `${tuned.data[i]} for ${sum}`);
        }
        if (kernels.has('matmul.bits')) assert.deepEqual(tuned.data, reference.data); // bit by bit
      }
    });
  }
}

const hologram = process.env.HOLOGRAM ?? fileURLToPath(new URL('../../../build/release/hologram', import.meta.url));

/** What the compiler's own quantiser writes, which the module with the compiler does not have. */
function quantize(onnx, kind) {
  const folder = mkdtempSync(join(tmpdir(), 'hologram-'));
  try {
    writeFileSync(join(folder, 'model.onnx'), onnx);
    execFileSync(hologram, ['compile', '-q', '--quantize', kind, join(folder, 'model.onnx'), '-o', join(folder, 'model.holo')]);
    return readFileSync(join(folder, 'model.holo'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const kind of ['int4', 'int3', 'int2', 'ternary', 'binary', 'nf4', 'mxfp4']) {
  test(`weights quantised to ${kind}: the bits of the reference`, { skip: existsSync(hologram) ? false : 'there is no native build' }, async () => {
    const [k, n] = [192, 80];
    const onnx = model({
      nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
      inputs: [port('x', FLOAT, ['m', k])],
      outputs: [port('y', FLOAT, ['m', n])],
      constants: [constant('w', FLOAT, [k, n], floats([k, n]))],
    });
    const file = quantize(onnx, kind);
    for (const m of [1, 5]) {
      const { tuned, reference, kernels } = await runFile(file, { x: new Tensor('float32', floats([m, k], 3), [m, k]) });
      assert.ok(kernels.has('matmul.bits'), [...kernels].join());
      assert.deepEqual(tuned.data, reference.data);
    }
  });
}

test('DynamicQuantizeLinear', async () => {
  for (const n of [1, 31, 32, 1000, 5000]) {
    const x = floats([n], 7);
    if (n > 30) x[7] = 1e30;
    const onnx = model({
      nodes: [{ op: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['y', 's', 'z'] }],
      inputs: [port('x', FLOAT, [n])],
      outputs: [port('y', UINT8, [n]), port('s', FLOAT, []), port('z', UINT8, [])],
    });
    const { tuned, reference } = await runBoth(onnx, { x: new Tensor('float32', x, [n]) });
    assert.deepEqual(tuned.data, reference.data);
    const [low, high] = x.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [0, 0]);
    const scale = Math.fround((high - low) / 255), zero = Math.round(-low / scale);
    tuned.data.forEach((code, i) => assert.ok(Math.abs((code - zero) * scale - x[i]) <= scale, `${code} for ${x[i]}`));
  }
});

// ---- tables ------------------------------------------------------------------------------------

test('a chain with a factor for each colour of a picture', async () => {
  const n = 16 * 257 + 5;
  const factor = [0.9, 1.3, 0.4];
  const x = Uint8Array.from({ length: 3 * n }, (_, i) => (i * 7) % 256);
  const onnx = model({
    nodes: [
      { op: 'DequantizeLinear', inputs: ['x', 's', 'z'], outputs: ['d'] },
      { op: 'Mul', inputs: ['d', 'f'], outputs: ['e'] },
      { op: 'QuantizeLinear', inputs: ['e', 's', 'z'], outputs: ['y'] },
    ],
    inputs: [port('x', UINT8, [n, 3])],
    outputs: [port('y', UINT8, [n, 3])],
    constants: [constant('s', FLOAT, [], [0.25]), constant('z', UINT8, [], [9]), constant('f', FLOAT, [3], factor)],
  });
  const { tuned, reference, kernels } = await runBoth(onnx, { x: new Tensor('uint8', x, [n, 3]) });
  assert.ok(kernels.has('table'), [...kernels].join());
  assert.deepEqual(tuned.data, reference.data);
  tuned.data.forEach((code, i) => {
    const value = Math.min(Math.max((x[i] - 9) * factor[i % 3] + 9, 0), 255);
    assert.ok(Math.abs(code - value) <= 0.51, `${code} for ${value}`);
  });
});

/** A table of 256 entries by way of a chain that the compiler folds, and every code through it. */
for (const [name, limit] of [['16', 15], ['96', 95], ['128', 127], ['256', 255]]) {
  test(`a chain of codes below ${name}`, async () => {
    const n = 16 * 257 + 5;
    const x = Uint8Array.from({ length: n }, (_, i) => i % 256);
    const onnx = model({
      nodes: [
        { op: 'Min', inputs: ['x', 'limit'], outputs: ['c'] },
        { op: 'DequantizeLinear', inputs: ['c', 's', 'z'], outputs: ['d'] },
        { op: 'Sin', inputs: ['d'], outputs: ['e'] },
        { op: 'Exp', inputs: ['e'], outputs: ['f'] },
        { op: 'QuantizeLinear', inputs: ['f', 't', 'z'], outputs: ['y'] },
      ],
      inputs: [port('x', UINT8, [n])],
      outputs: [port('y', UINT8, [n])],
      constants: [constant('limit', UINT8, [], [limit]), constant('s', FLOAT, [], [0.05]), constant('t', FLOAT, [], [0.015]),
        constant('z', UINT8, [], [3])],
    });
    const { tuned, reference } = await runBoth(onnx, { x: new Tensor('uint8', x, [n]) });
    assert.deepEqual(tuned.data, reference.data);
    tuned.data.forEach((code, i) => {
      const value = Math.exp(Math.sin((Math.min(x[i], limit) - 3) * 0.05)) / 0.015 + 3;
      assert.ok(Math.abs(code - Math.min(value, 255)) <= 0.51, `${code} for ${value}`);
    });
  });
}
