// conformance.mjs FOLDER [--every N] [--threads N] - the cases of the ONNX suite with the WebAssembly build, judged as
// `hologram verify` does: shapes equal, integers and text exact, floats within rtol 1e-3 and atol 1e-7; of random
// operators only types and shapes. Ends with "N passed, N failed".
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Hologram } from '../lib/index.js';
import { Engine } from '../lib/engine.js';
import { operators, value } from './pb.mjs';

const RANDOM = ['Bernoulli', 'Multinomial', 'RandomNormal', 'RandomUniform', 'RandomNormalLike', 'RandomUniformLike', 'Dropout'];
const EXTRA = ['ImageDecoder', 'RegexFullMatch']; // kernels of libhologram_ext, which the modules do not have
const FLOATS = { float16: [5, 10], bfloat16: [8, 7] };

/** Folders with a model and data sets; models of light/, which have their first output beside them. */
function find(folder, list = []) {
  if (existsSync(join(folder, 'model.onnx'))) return [...list, folder];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) list = find(join(folder, entry.name), list);
    else if (entry.name.endsWith('.onnx')) list.push(join(folder, entry.name));
  }
  return list;
}

function widen(bits, [exponentBits, fractionBits]) {
  const sign = bits >> (exponentBits + fractionBits) ? -1 : 1;
  const exponent = (bits >> fractionBits) & ((1 << exponentBits) - 1);
  const fraction = (bits & ((1 << fractionBits) - 1)) / 2 ** fractionBits;
  const bias = 2 ** (exponentBits - 1) - 1;
  if (exponent === (1 << exponentBits) - 1) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias));
}

function isNear(actual, expected, rtol) {
  if (Number.isNaN(expected)) return Number.isNaN(actual);
  return actual === expected || Math.abs(actual - expected) <= 1e-7 + rtol * Math.abs(expected);
}

/** NULL, or what is wrong. */
function compare(actual, expected, isRandom, rtol = 1e-3) {
  if (actual.type !== expected.type) return `type is ${actual.type}, expected ${expected.type}`;
  if (`${actual.dims}` !== `${expected.dims}`) return `shape is [${actual.dims}], expected [${expected.dims}]`;
  if (actual.type === 'sequence' || actual.type === 'optional') {
    return actual.data.map((item, i) => compare(item, expected.data[i], isRandom)).find((why) => why !== null) ?? null;
  }
  if (isRandom) return null;
  const format = FLOATS[actual.type];
  const isFloat = format || /^(float32|float64|complex)/.test(actual.type);
  for (let i = 0; i < expected.data.length; i++) {
    const [a, e] = [actual.data[i], expected.data[i]];
    const isEqual = !isFloat ? a === e : format ? isNear(widen(a, format), widen(e, format), rtol) : isNear(a, e, rtol);
    if (!isEqual) return `element ${i} is ${a}, expected ${e}`;
  }
  return null;
}

/** light/: x[i] = i / n; the suite allows densenet121 twice as much, as `hologram verify` does. */
function runLight(path, engine, { inputs, outputs }) {
  const feeds = Object.fromEntries(inputs.map(({ name, type, shape }) => {
    const count = shape.reduce((n, d) => n * d, 1);
    return [name, { type, data: Float32Array.from({ length: count }, (_, i) => i / count), dims: shape }];
  }));
  const actual = engine.run(0, feeds)[outputs[0].name];
  const expected = value(readFileSync(path.replace(/\.onnx$/, '_output_0.pb')), actual.type);
  const why = compare(actual, expected, false, path.includes('densenet121') ? 2e-3 : 1e-3);
  if (why !== null) throw new Error(`output 0: ${why}`);
  return 'pass';
}

async function runCase(folder, modules) {
  const isLight = folder.endsWith('.onnx');
  const bytes = readFileSync(isLight ? folder : join(folder, 'model.onnx'));
  const names = operators(bytes);
  if (EXTRA.some((name) => names.has(name))) return 'skip';
  const compiler = await Engine.create(modules.compiler);
  const from = compiler.reserve(bytes.length);
  compiler.write(from, bytes);
  const { bytes: holo } = compiler.compile(from, bytes.length);
  const engine = await Engine.create(modules.runtime);
  const at = engine.reserve(holo.length);
  engine.write(at, holo);
  const graph = engine.open(at, holo.length).graphs[0];
  if (isLight) return runLight(folder, engine, graph);
  const { inputs, outputs } = graph;
  const isRandom = RANDOM.some((name) => names.has(name));
  for (let set = 0; existsSync(join(folder, `test_data_set_${set}`)); set++) {
    const file = (kind, i) => join(folder, `test_data_set_${set}`, `${kind}_${i}.pb`);
    const feeds = Object.fromEntries(inputs.map((port, i) => [port.name, value(readFileSync(file('input', i)), port.type)]));
    const results = engine.run(0, feeds);
    for (let i = 0; existsSync(file('output', i)); i++) {
      const actual = results[outputs[i].name];
      const why = compare(actual, value(readFileSync(file('output', i)), actual.type), isRandom);
      if (why !== null) throw new Error(`output ${i}: ${why}`);
    }
  }
  return 'pass';
}

const [folder, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? Number(rest[rest.indexOf(name) + 1]) : otherwise);
const load = (name) => WebAssembly.compile(readFileSync(new URL(`../wasm/${name}`, import.meta.url)));
const relaxed = Hologram.features().relaxedSimd ? '.relaxed' : '';
const modules = { compiler: await load('hologram.wasm'), runtime: await load(`hologram_rt${relaxed}.wasm`) };
const cases = find(folder).sort().filter((_, i) => i % option('--every', 1) === 0);
const count = { pass: 0, skip: 0, fail: 0 };
for (const path of cases) {
  try {
    count[await runCase(path, modules)]++;
  } catch (error) {
    count.fail++;
    console.log(`FAIL ${path.split('/').at(-1)}: ${error.message}`);
  }
}
console.log(`${count.skip} skipped: ${EXTRA.join(', ')} need libraries`);
console.log(`${count.pass} passed, ${count.fail} failed`);
process.exitCode = count.fail === 0 ? 0 : 1;
