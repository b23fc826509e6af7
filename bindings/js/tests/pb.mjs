// pb.mjs - tensors in protobuf files of the ONNX suite, as feeds and expected values.
import { TYPES, TYPE_NAMES, countOf, lengthOf } from '../lib/tensor.js';

/** Fields of a message: [number, value]; a value is a BigInt, bytes, or a DataView of 4 or 8 bytes. */
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (n) => bytes.subarray(at, (at += n));
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    if (kind === 0) yield [tag >> 3, varint()];
    else if (kind === 2) yield [tag >> 3, take(Number(varint()))];
    else if (kind === 5 || kind === 1) yield [tag >> 3, take(kind === 5 ? 4 : 8)];
    else throw new Error(`wire type ${kind}`);
  }
}

function* varints(value) {
  if (typeof value === 'bigint') return yield value;
  for (let at = 0; at < value.length; ) {
    let number = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = value[at++];
      number |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    yield number;
  }
}

const joined = (parts) => new Uint8Array(Buffer.concat(parts));

/** A TensorProto as { type, data, dims }. */
export function tensor(bytes) {
  const dims = [];
  const parts = { 4: [], 9: [], 10: [] };
  const whole = [];
  const strings = [];
  let type = 0;
  for (const [number, value] of fields(bytes)) {
    if (number === 1) dims.push(...Array.from(varints(value), Number));
    else if (number === 2) type = Number(value);
    else if (number === 6) strings.push(new TextDecoder().decode(value));
    else if (number === 5 || number === 7 || number === 11) whole.push(...varints(value));
    else if (parts[number]) parts[number].push(value);
  }
  const name = TYPE_NAMES.get(type);
  if (name === 'string') return { type: name, data: strings, dims };
  const array = TYPES[name][2];
  const length = lengthOf(name, countOf(dims));
  const raw = [parts[9], parts[4], parts[10]].find((list) => list.length > 0);
  if (raw !== undefined) return { type: name, data: new array(joined(raw).buffer, 0, length), dims };
  const isBig = array === BigInt64Array || array === BigUint64Array;
  return { type: name, data: array.from(whole.slice(0, length), (x) => (isBig ? x : Number(BigInt.asIntN(64, x)))), dims };
}

/** A file of a port's type: tensor, sequence of tensors, or optional. */
export function value(bytes, kind) {
  if (kind !== 'sequence' && kind !== 'optional') return tensor(bytes);
  const items = [];
  let element = 0;
  for (const [number, part] of fields(bytes)) {
    if (number === 2) element = Number(part);
    if (number === 3 && kind === 'sequence') items.push(tensor(part));
    if (number === 3 && kind === 'optional' && element === 1) items.push(tensor(part));
    if (number === 5 && kind === 'optional') items.push(value(part, 'sequence'));
  }
  if (kind === 'optional') return { type: 'optional', data: items, dims: [items.length] };
  return { type: 'sequence', data: items, dims: [items.length] };
}

/** Names of all operators of a model, those of functions and bodies too. */
export function operators(bytes, depth = 0, found = new Set()) {
  const inner = [[7, 25], [1, 5], [5, 6]]; // model: graph, functions; graph: nodes; node: attributes; attribute: graph
  for (const [number, part] of fields(bytes)) {
    if (depth === 0 && inner[0].includes(number)) operators(part, number === 25 ? 3 : 1, found);
    else if (depth === 1 && number === 1) operators(part, 2, found);
    else if (depth === 3 && number === 7) operators(part, 2, found);
    else if (depth === 2 && number === 4) found.add(new TextDecoder().decode(part));
    else if (depth === 2 && number === 5) operators(part, 4, found);
    else if (depth === 4 && number === 6) operators(part, 1, found);
  }
  return found;
}
