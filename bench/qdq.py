"""qdq.py - models quantised to 8 bits: speed and error against float32, and ONNX Runtime on the same file.

    qdq.py [--rounds N] [--budget-ms N] [--threads N] [--samples N] [MODEL...]

For each model: random inputs to calibrate with and others to test with; `compile --quantize int8 --calibrate` writes
the quantised graph as ONNX (QuantizeLinear and DequantizeLinear around float operators); this one file is compiled by
Hologram and given to ONNX Runtime. Float32, 8 bits and the peer run in turn. Errors are those of outputs against
float32 on the test inputs; the whole model is run once with portable kernels and once with tuned ones, and the bits
must be the same. Both are timed with the kernels for AVX2 too, which have no 8-bit dot products. Writes qdq.json."""
import argparse
import array
import glob
import math
import os
import shutil
import struct

import lib
import npy
import peers

MODELS = [("resnet50-dynamo", None), ("mobilenet_v2-dynamo", None), (None, "minilm-l6-v2"), ("bert-base-dynamo", None)]
SPEED, ERROR, TOP, TESTS = 1.5, 0.01, 5, 8
KINDS = {"float32": ("<f4", "f", 4), "int64": ("<i8", "q", 8), "int32": ("<i4", "i", 4)}

# ---- inputs ----------------------------------------------------------------------------------------------------------


def numbers(fill, count, state):
    """What ort_bench.c makes of a fill, and the state behind it."""
    if fill.startswith("const="):
        return [float(fill[6:])] * count, state
    values = []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values.append(state)
    if fill.startswith("int="):
        most = int(fill[4:])
        return [v * most >> 32 for v in values], state
    low, high = {"rand": (-1.0, 1.0), "rand01": (0.0, 1.0)}[fill]
    return [low + (high - low) * v / 4294967296.0 for v in values], state


def write_npy(path, kind, dims, values):
    descr, code, _ = KINDS[kind]
    head = repr({"descr": descr, "fortran_order": False, "shape": tuple(dims)})
    head += " " * (-(len(head) + 11) % 64) + "\n"
    data = array.array(code, values if code == "f" else [int(v) for v in values])
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data.tobytes())


def samples(folder, inputs, first, count):
    """FOLDER/NUMBER/INPUT.npy."""
    shutil.rmtree(folder, ignore_errors=True)
    for number in range(first, first + count):
        state, here = 12345 + 7919 * number, os.path.join(folder, "%03d" % number)
        os.makedirs(here)
        for item in inputs.split(";"):
            name, kind, dims, fill = item.split(":")
            dims = [int(d) for d in dims.split(",")] if dims != "-" else []
            values, state = numbers(fill, math.prod(dims), state)
            write_npy(os.path.join(here, name + ".npy"), kind, dims, values)
    return folder


# ---- models ----------------------------------------------------------------------------------------------------------


def quantised(name, path, inputs, count):
    """(the QDQ file, layers that stay floats and all, seconds), made anew when model or compiler are newer."""
    onnx, report = lib.work_file(name + ".qdq.onnx"), lib.work_file(name + ".qdq.txt")
    newest = max(os.path.getmtime(path), os.path.getmtime(lib.HOLOGRAM))
    if not os.path.exists(onnx) or os.path.getmtime(onnx) < newest:
        shapes = []
        for item in inputs.split(";"):
            port, _, dims, _ = item.split(":")
            shapes += ["--shape", "%s=%s" % (port, dims.replace(",", "x"))]
        folder = samples(lib.work_file("qdq_calibrate"), inputs, 0, count)
        text = lib.run(lib.HOLOGRAM, "compile", path, "-o", lib.work_file("qdq.holo"), "--quantize", "int8",
                       "--calibrate", folder, "--emit-onnx", onnx, *shapes)
        os.remove(lib.work_file("qdq.holo"))
        with open(report, "w") as f:
            f.write(text)
    with open(report) as f:
        lines = f.read().split("\n")
    layers = [line for line in lines if " Conv " in line or " MatMul " in line]
    floats = [line.split()[0] for line in layers if " float " in line]
    return onnx, floats, len(layers)


def run(holo, sample, to, *more):
    shutil.rmtree(to, ignore_errors=True)
    given = []
    for file in sorted(glob.glob(os.path.join(sample, "*.npy"))):
        given += ["--input", "%s=%s" % (os.path.basename(file)[:-4], file)]
    lib.run(lib.HOLOGRAM, "run", "-q", holo, "--output-dir", to, *given, *more)
    return [npy.read(f)[1] for f in sorted(glob.glob(os.path.join(to, "*.npy")))]


def errors(plain, coded):
    """(root mean square, worst of the largest numbers), relative, of one run; the worst output."""
    square = top = 0.0
    for a, b in zip(plain, coded):
        size = math.fsum(x * x for x in a)
        square = max(square, math.fsum((x - y) ** 2 for x, y in zip(a, b)) / size if size else 0.0)
        largest = sorted(range(len(a)), key=lambda i: -abs(a[i]))[:TOP]
        top = max([top] + [abs(a[i] - b[i]) / abs(a[i]) for i in largest if a[i] != 0])
    return math.sqrt(square), top


def same_bits(onnx, sample):
    """The whole model with portable and with tuned kernels."""
    holo = lib.work_file("qdq_exact.holo")
    lib.run(lib.HOLOGRAM, "compile", "-q", onnx, "--numerics", "exact", "-o", holo)
    tuned = run(holo, sample, lib.work_file("qdq_tuned"))
    plain = run(holo, sample, lib.work_file("qdq_plain"), "--reference")
    os.remove(holo)
    return len(tuned) == len(plain) and all(a.tobytes() == b.tobytes() for a, b in zip(tuned, plain))


# ---- speed -----------------------------------------------------------------------------------------------------------


def times(files, onnx, inputs, given):
    """Milliseconds of each, in turn: (minimum, median)."""
    tool, taken = peers.peer(), {"float32": [], "int8": [], "avx2 float32": [], "avx2 int8": [], "peer": []}
    common = ["--inputs", inputs, "--threads", str(given.threads), "--budget-ms", str(given.budget_ms)]
    for _ in range(given.rounds):
        for kind, file in files.items():
            taken[kind].append(lib.run_json(lib.HOLOGRAM, "bench", file, "--json", *common))
            taken["avx2 " + kind].append(lib.run_json(lib.HOLOGRAM, "bench", file, "--json", "--no-avx512", *common))
        if tool:
            taken["peer"].append(lib.run_json(tool, onnx, *common))
    return {kind: (min(r["min_ms"] for r in runs), peers.middle([r["median_ms"] for r in runs]))
            for kind, runs in taken.items() if runs}


def measure(name, path, inputs, given):
    onnx, floats, layers = quantised(name, path, inputs, given.samples)
    files = {"float32": lib.compiled(name, path), "int8": lib.work_file(name + ".qdq.holo")}
    lib.run(lib.HOLOGRAM, "compile", "-q", onnx, "-o", files["int8"])
    tests = sorted(glob.glob(os.path.join(samples(lib.work_file("qdq_test"), inputs, 1000, TESTS), "*")))
    found = [errors(run(files["float32"], t, lib.work_file("qdq_a")), run(files["int8"], t, lib.work_file("qdq_b")))
             for t in tests]
    row = {"model": name, "layers": layers, "float_layers": floats,
           "relative": math.sqrt(sum(r * r for r, _ in found) / len(found)),
           "top": sum(t for _, t in found) / len(found), "same_bits": same_bits(onnx, tests[0])}
    row["times"] = times(files, onnx, inputs, given)
    return row


def show(row):
    t = row["times"]
    ratio, narrow = t["float32"][0] / t["int8"][0], t["avx2 float32"][0] / t["avx2 int8"][0]
    peer = t["peer"][0] / t["int8"][0] if "peer" in t else None
    return [row["model"], "%d of %d" % (row["layers"] - len(row["float_layers"]), row["layers"])] + \
        ["%.2f" % t[k][0] if k in t else "" for k in ("float32", "int8", "peer")] + \
        ["%.2f" % ratio, lib.verdict(ratio >= SPEED), "%.2f" % t["avx2 int8"][0], "%.2f" % narrow,
         lib.verdict(narrow >= SPEED), "" if peer is None else "%.2f" % peer,
         "" if peer is None else lib.verdict(peer > 1), "%.2f %%" % (100 * row["relative"]),
         "%.2f %%" % (100 * row["top"]), lib.verdict(row["top"] <= ERROR), lib.verdict(row["same_bits"])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget-ms", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    filled, real = [f for f, _ in MODELS if f], [r for _, r in MODELS if r]
    lib.get_models(real, filled)
    rows = []
    for name, path, inputs in lib.models(given.models, real, filled):
        if name in lib.BUNDLED:
            continue
        print("%s ..." % name, flush=True)
        rows.append(measure(name, path, inputs, given))
    print("\n%d thread%s, ms (minimum of %d rounds); errors against float32 on inputs that were not calibrated with"
          % (given.threads, "s"[:given.threads - 1], given.rounds))
    lib.table(["model", "coded layers", "float32", "int8", "ONNX Runtime", "speed", ">= %.1f" % SPEED, "AVX2 int8",
               "speed", ">= %.1f" % SPEED, "peer / ours",
               "> 1", "error", "top %d" % TOP, "<= %g %%" % (100 * ERROR), "same bits"], [show(r) for r in rows])
    for row in rows:
        if row["float_layers"]:
            print("%s: floats are %s" % (row["model"], " ".join(row["float_layers"])))
    lib.save("qdq", rows)


if __name__ == "__main__":
    main()
