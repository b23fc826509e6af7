// ort_web.mjs MODEL.onnx FROM TO all|disabled - runs a model with onnxruntime-web on the in_N_NAME.npy files of folder FROM
// and writes out_N.npy into TO. Its integer products are exact, which those of the native library are not on every CPU. The
// last argument is how much of its graph optimiser it may use.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [model, from, to, level] = process.argv.slice(2);
const ort = createRequire(new URL("../web/package.json", import.meta.url))("onnxruntime-web");

const KINDS = {
  f4: ["float32", Float32Array], f8: ["float64", Float64Array], f2: ["float16", Uint16Array],
  i8: ["int64", BigInt64Array], i4: ["int32", Int32Array], i1: ["int8", Int8Array],
  u1: ["uint8", Uint8Array], b1: ["bool", Uint8Array],
};

function read(file) {
  const bytes = fs.readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  const head = bytes.toString("latin1", 10, start);
  const [type, Values] = KINDS[/'descr': *'[<|=]?(\w+)'/.exec(head)[1]];
  const shape = /'shape': *\(([^)]*)\)/.exec(head)[1].split(",").filter((d) => d.trim()).map(Number);
  return new ort.Tensor(type, new Values(Uint8Array.from(bytes.subarray(start)).buffer), shape);
}

function write(file, tensor) {
  const kind = Object.keys(KINDS).find((k) => KINDS[k][0] === tensor.type);
  const shape = tensor.dims.length === 1 ? `${tensor.dims[0]},` : tensor.dims.join(", ");
  const order = kind.endsWith("1") ? "|" : "<";
  const text = `{'descr': '${order}${kind}', 'fortran_order': False, 'shape': (${shape}), }`;
  const head = Buffer.from(text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n", "latin1");
  const begin = Buffer.from("\x93NUMPY\x01\x00\x00\x00", "latin1");
  begin.writeUInt16LE(head.length, 8);
  const data = Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  fs.writeFileSync(file, Buffer.concat([begin, head, data]));
}

ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";
const session = await ort.InferenceSession.create(model, { graphOptimizationLevel: level });
const feeds = {};
for (const file of fs.readdirSync(from)) {
  // Names of tensors may hold what names of files may not: the file has only what is left of the name.
  const found = /^in_(\d+)_(.*)\.npy$/.exec(file);
  if (!found) continue;
  const name = session.inputNames.find((n) => n.replace(/[^A-Za-z0-9._-]/g, "_") === found[2]);
  feeds[name ?? session.inputNames[Number(found[1])]] = read(path.join(from, file));
}
const results = await session.run(feeds);
fs.mkdirSync(to, { recursive: true });
session.outputNames.forEach((name, i) => write(path.join(to, `out_${i}.npy`), results[name]));
