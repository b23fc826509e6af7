// model.mjs - small ONNX models for the tests, written by hand: messages of protobuf.
const encoder = new TextEncoder();

function varint(n) {
  const out = [];
  for (n = BigInt.asUintN(64, BigInt(n)); n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128);
  return [...out, Number(n)];
}

const number = (field, n) => [...varint(field << 3), ...varint(n)];
const bytes = (field, data) => [...varint((field << 3) | 2), ...varint(data.length), ...data];
const text = (field, s) => bytes(field, [...encoder.encode(s)]);

function valueInfo(field, { name, type, dims }) {
  const shape = dims.flatMap((d) => bytes(1, typeof d === 'number' ? number(1, d) : text(2, d)));
  return bytes(field, [...text(1, name), ...bytes(2, bytes(1, [...number(1, type), ...bytes(2, shape)]))]);
}

const INT = 2;
const INTS = 7;

/** A whole number or a list of them. */
const attribute = ([name, value]) => bytes(5, [...text(1, name), ...(Array.isArray(value)
  ? [...value.flatMap((n) => number(8, n)), ...number(20, INTS)] : [...number(3, value), ...number(20, INT)])]);

function node({ op, inputs, outputs, attributes = {}, domain = '' }) {
  return bytes(1, [...inputs.flatMap((n) => text(1, n)), ...outputs.flatMap((n) => text(2, n)), ...text(4, op),
    ...Object.entries(attributes).flatMap(attribute), ...text(7, domain)]);
}

function constant({ name, type, dims, data }) {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return bytes(5, [...dims.flatMap((d) => number(1, d)), ...number(2, type), ...text(8, name), ...bytes(9, raw)]);
}

const opset = (domain, version) => bytes(8, [...text(1, domain), ...number(2, version)]);

/** A model of opset 21 as bytes; types are ONNX's numbers. */
export function model({ nodes, inputs, outputs, constants = [] }) {
  const graph = [
    ...nodes.flatMap(node), ...text(2, 'g'), ...constants.flatMap(constant),
    ...inputs.flatMap((v) => valueInfo(11, v)), ...outputs.flatMap((v) => valueInfo(12, v)),
  ];
  return Uint8Array.from([...number(1, 10), ...bytes(7, graph), ...opset('', 21), ...opset('com.microsoft', 1)]);
}

/** y = a x b + c, relu: [m, k] by [k, n]. */
export const product = model({
  nodes: [
    { op: 'MatMul', inputs: ['a', 'b'], outputs: ['p'] },
    { op: 'Add', inputs: ['p', 'c'], outputs: ['s'] },
    { op: 'Relu', inputs: ['s'], outputs: ['y'] },
  ],
  inputs: [
    { name: 'a', type: 1, dims: ['m', 'k'] },
    { name: 'b', type: 1, dims: ['k', 'n'] },
    { name: 'c', type: 1, dims: ['n'] },
  ],
  outputs: [{ name: 'y', type: 1, dims: ['m', 'n'] }],
});

/** One operator on x [n] of a type. */
export const unary = (op, type, result = type) =>
  model({
    nodes: [{ op, inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', type, dims: ['n'] }],
    outputs: [{ name: 'y', type: result, dims: result === type ? ['n'] : ['r', 'n'] }],
  });

export const fixed = model({
  nodes: [{ op: 'Add', inputs: ['x', 'y'], outputs: ['z'] }],
  inputs: [
    { name: 'x', type: 1, dims: [2, 3] },
    { name: 'y', type: 1, dims: [3] },
  ],
  outputs: [{ name: 'z', type: 1, dims: [2, 3] }],
});
