// tensor.js - element types and the tensors of the interface.

/** name -> [number in the file format, bits of an element, array that holds the elements] */
export const TYPES = {
  float32: [1, 32, Float32Array],
  uint8: [2, 8, Uint8Array],
  int8: [3, 8, Int8Array],
  uint16: [4, 16, Uint16Array],
  int16: [5, 16, Int16Array],
  int32: [6, 32, Int32Array],
  int64: [7, 64, BigInt64Array],
  string: [8, 128, Array],
  bool: [9, 8, Uint8Array],
  float16: [10, 16, Uint16Array],
  float64: [11, 64, Float64Array],
  uint32: [12, 32, Uint32Array],
  uint64: [13, 64, BigUint64Array],
  complex64: [14, 64, Float32Array],
  complex128: [15, 128, Float64Array],
  bfloat16: [16, 16, Uint16Array],
  float8e4m3fn: [17, 8, Uint8Array],
  float8e4m3fnuz: [18, 8, Uint8Array],
  float8e5m2: [19, 8, Uint8Array],
  float8e5m2fnuz: [20, 8, Uint8Array],
  uint4: [21, 4, Uint8Array],
  int4: [22, 4, Uint8Array],
  float4e2m1: [23, 4, Uint8Array],
  float8e8m0: [24, 8, Uint8Array],
  uint2: [25, 2, Uint8Array],
  int2: [26, 2, Uint8Array],
  sequence: [64, 0, Array],
  optional: [65, 0, Array],
  map: [66, 0, Map],
};

export const TYPE_NAMES = new Map(Object.entries(TYPES).map(([name, [number]]) => [number, name]));

/** A failure, with the library's sentence and the name of its status. */
export class HologramError extends Error {
  constructor(message, code = 'E_ARG') {
    super(message);
    this.name = 'HologramError';
    this.code = code;
  }
}

/** The type that an array of this kind holds when nothing else says so. */
function typeOfArray(data) {
  if (Array.isArray(data)) return typeof data[0] === 'string' ? 'string' : 'float32';
  if (typeof Float16Array !== 'undefined' && data instanceof Float16Array) return 'float16';
  for (const [name, [, , array]] of Object.entries(TYPES)) {
    if (array !== Array && data instanceof array) return name;
  }
  throw new HologramError(`a tensor's data is ${describe(data)}, expected a typed array or an array`);
}

function describe(x) {
  if (x === null || x === undefined) return String(x);
  return typeof x === 'object' ? x.constructor?.name ?? 'an object' : typeof x;
}

/** Data as the array that belongs to the type. */
export function arrayOf(type, data) {
  const array = TYPES[type]?.[2];
  if (array === undefined) throw new HologramError(`there is no type '${type}'`, 'E_TYPE');
  if (array === Array || array === Map || data instanceof array) return data;
  if (typeof data === 'number' || typeof data === 'bigint' || typeof data === 'boolean') data = [data];
  if (ArrayBuffer.isView(data) && data.BYTES_PER_ELEMENT === array.BYTES_PER_ELEMENT && isBits(type, data)) {
    return new array(data.buffer, data.byteOffset, data.length);
  }
  if (!Array.isArray(data)) {
    throw new HologramError(`data of type ${type} is ${describe(data)}, expected ${array.name}`, 'E_TYPE');
  }
  if (array === BigInt64Array || array === BigUint64Array) return array.from(data, BigInt);
  return array.from(data, Number);
}

/** Whether bytes of the same width may be taken as they are: clamped bytes, and the bits of narrow floats. */
function isBits(type, data) {
  if (data instanceof Uint8ClampedArray) return type === 'uint8' || type === 'bool';
  return type === 'float16' && typeof Float16Array !== 'undefined' && data instanceof Float16Array;
}

/** Number of elements of a shape. */
export function countOf(dims) {
  return dims.reduce((n, d) => n * d, 1);
}

/** Length of the array that holds `count` elements of a type. */
export function lengthOf(type, count) {
  if (type.startsWith('complex')) return 2 * count;
  const bits = TYPES[type][1];
  return bits > 0 && bits < 8 ? Math.ceil((count * bits) / 8) : count;
}

function checkDims(dims) {
  for (const d of dims) {
    if (!Number.isSafeInteger(d) || d < 0) {
      throw new HologramError(`a dimension is ${String(d)}, expected an integer from 0 on`, 'E_SHAPE');
    }
  }
  if (dims.length > 8) throw new HologramError(`a tensor has ${dims.length} dimensions, at most 8 are allowed`, 'E_SHAPE');
}

export class Tensor {
  /** new Tensor(type, data, dims?) or new Tensor(data, dims?) */
  constructor(type, data, dims) {
    if (typeof type !== 'string' || (data === undefined && dims === undefined)) {
      [type, data, dims] = [typeOfArray(type), type, data];
    }
    data = arrayOf(type, data);
    const bits = TYPES[type][1];
    dims = dims === undefined ? [type.startsWith('complex') ? data.length / 2 : data.length] : Array.from(dims, Number);
    checkDims(dims);
    const count = countOf(dims);
    if (bits > 0 && data.length !== lengthOf(type, count)) {
      throw new HologramError(
        `a tensor of type ${type} and shape [${dims}] has data of ${data.length} elements, expected ` +
          `${lengthOf(type, count)}`,
        'E_SHAPE',
      );
    }
    this.type = type;
    this.data = data;
    this.dims = dims;
    this.size = count;
  }

  /** The same data in another shape. */
  reshape(dims) {
    return new Tensor(this.type, this.data, dims);
  }

  /** For code written for onnxruntime-web, whose tensors may lie elsewhere. */
  async getData() {
    return this.data;
  }

  dispose() {}
}
