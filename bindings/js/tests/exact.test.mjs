// exact.test.mjs - the same file, the same answer: with `--numerics exact` the bits of WebAssembly are those of the
// native build, and both compilers write the same bytes. Needs build/release/hologram (or $HOLOGRAM).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Hologram } from '../lib/index.js';
import { product } from './model.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const hologram = process.env.HOLOGRAM ?? join(root, 'build/release/hologram');
const models = join(root, 'examples/text2image/models');
const skip = existsSync(hologram) ? false : 'there is no native build';

let state = 12345;
/** Floats in [-1, 1), by Knuth's linear congruence: the same on every machine. */
const floats = (count) =>
  Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  });

const feed = (type, data, dims) => ({ type, data, dims });
const cases = [
  ['product', product, { a: feed('float32', floats(37 * 91), [37, 91]), b: feed('float32', floats(91 * 50), [91, 50]), c: feed('float32', floats(50), [50]) }],
  ['text_encoder', readFileSync(join(models, 'text_encoder.onnx')), { input_ids: feed('int64', BigInt64Array.from({ length: 24 }, (_, i) => BigInt(i * 31 + 2)), [1, 24]) }],
  ['unet', readFileSync(join(models, 'unet.onnx')), {
    sample: feed('float32', floats(1024), [1, 4, 16, 16]), timestep: feed('int64', BigInt64Array.of(500n), [1]),
    encoder_hidden_states: feed('float32', floats(24 * 256), [1, 24, 256]) }],
];

const DESCR = { float32: '<f4', int64: '<i8' };

function writeNpy(path, { type, data, dims }) {
  const shape = dims.map((d) => `${d}, `).join('');
  let head = `{'descr': '${DESCR[type]}', 'fortran_order': False, 'shape': (${shape}), }`;
  head = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + '\n';
  const length = Buffer.alloc(2);
  length.writeUInt16LE(head.length);
  writeFileSync(path, Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), length, Buffer.from(head), Buffer.from(data.buffer)]));
}

const npyBytes = (path) => {
  const bytes = readFileSync(path);
  return bytes.subarray(10 + bytes.readUInt16LE(8));
};

for (const [name, onnx, feeds] of cases) {
  test(`${name}: the bits of the native build`, { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hologram-'));
    try {
      writeFileSync(join(folder, 'model.onnx'), onnx);
      execFileSync(hologram, ['compile', '--numerics', 'exact', '-q', join(folder, 'model.onnx'), '-o', join(folder, 'model.holo')]);
      const native = readFileSync(join(folder, 'model.holo'));
      const { bytes } = await Hologram.compile(onnx, { numerics: 'exact', worker: false });
      const inputs = Object.entries(feeds).flatMap(([input, value]) => {
        writeNpy(join(folder, `${input}.npy`), value);
        return ['--input', `${input}=${join(folder, `${input}.npy`)}`];
      });
      const out = join(folder, 'out');
      execFileSync(hologram, ['run', '-q', join(folder, 'model.holo'), ...inputs, '--output-dir', out]);
      const files = readdirSync(out).sort();
      for (const [source, threads] of [[native, 1], [native, 2], [bytes, 1]]) {
        const model = await Hologram.open(source, { threads, worker: false });
        const results = await model.run(feeds);
        model.outputNames.forEach((output, i) => {
          const { data } = results[output];
          assert.ok(npyBytes(join(out, files[i])).equals(Buffer.from(data.buffer)), `${output} differs, ${threads} threads`);
        });
        model.dispose();
      }
      assert.ok(native.equals(bytes), 'the compilers write different files');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
