"""tables.py - computing by lookup: the kernel "table" on one core, and chains of operations as models.

    tables.py [--rounds N] [--skip-kernels]

Kernels: codes in L1 and streaming from memory (bench/tables.c). Chains: 1 to 12 operations between DequantizeLinear and
QuantizeLinear, as table, as lane code (--disable collapse_tables) and in ONNX Runtime, in turn; the same chains as loops
of AVX2 float code written by hand (bench/tables_float.c), in L1 and streaming from memory; twelve operations on a frame
that is transposed too (moves); and twelve operations with constants per colour channel on frames of 3840 x 2160
(examples/uhd.c). Writes tables.json, tables.svg."""
import argparse
import json
import math
import os
import re
import struct
import subprocess

import lib
import peers

SIZE = 1 << 22  # codes of a chain's input
LENGTHS = [1, 2, 3, 4, 6, 8, 10, 12]
# GB/s of codes in L1 with AVX2.
LEAST = {"256 entries": 5.5, "128 entries": 10, "96 entries": 14, "16 entries": 60}
FRAME_GB = 3840 * 2160 * 3 / 1e9

# ---- models, written as ONNX by hand: a few fields of its protocol buffers ------------------------------------------


def number(n):
    out = b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(tag, data):
    if isinstance(data, int):
        return number(tag << 3) + number(data)
    data = data.encode() if isinstance(data, str) else data
    return number(tag << 3 | 2) + number(len(data)) + data


def tensor(name, kind, raw):
    """A scalar constant."""
    return field(2, kind) + field(8, name) + field(9, raw)


def node(op, ins, out, perm=()):
    attribute = field(5, field(1, "perm") + b"".join(field(8, p) for p in perm) + field(20, 7)) if perm else b""
    return b"".join(field(1, i) for i in ins) + field(2, out) + field(3, op + "_" + out) + field(4, op) + attribute


def value(name, kind, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


# Each keeps enough of the range that the next has something to do.
STEPS = [("Sigmoid", None), ("Mul", 6), ("Add", -3), ("Tanh", None), ("Exp", None), ("Mul", 1.2), ("Sqrt", None),
         ("Log", None), ("Mul", 2), ("Add", 0.9), ("Abs", None), ("Tanh", None)]


def chain(length, dims=(SIZE,), perm=()):
    """uint8 -> DequantizeLinear -> `length` operations -> QuantizeLinear -> uint8, and then a Transpose."""
    nodes, constants = [node("DequantizeLinear", ["x", "scale", "zero"], "v0")], [
        tensor("scale", 1, struct.pack("<f", 0.031)), tensor("zero", 2, bytes([128])),
        tensor("out_scale", 1, struct.pack("<f", 0.011)), tensor("out_zero", 2, bytes([0]))]
    for i in range(length):
        (op, operand), ins = STEPS[i], ["v%d" % i]
        if operand is not None:
            ins.append("c%d" % i)
            constants.append(tensor("c%d" % i, 1, struct.pack("<f", operand)))
        nodes.append(node(op, ins, "v%d" % (i + 1)))
    nodes.append(node("QuantizeLinear", ["v%d" % length, "out_scale", "out_zero"], "q" if perm else "y"))
    if perm:
        nodes.append(node("Transpose", ["q"], "y", perm))
    graph = b"".join(field(1, n) for n in nodes) + field(2, "chain") + b"".join(field(5, c) for c in constants) + \
        field(11, value("x", 2, dims)) + field(12, value("y", 2, [dims[p] for p in perm] or dims))
    path = lib.work_file("chain_%d%s.onnx" % (length, "".join("_%d" % p for p in perm)))
    with open(path, "wb") as f:
        f.write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)))
    return path


# ---- kernels ---------------------------------------------------------------------------------------------------------


def kernels():
    program = lib.work_file("tables")
    lib.run(lib.CC, "-std=c11", "-O2", "-I" + os.path.join(lib.ROOT, "src"), "-I" + os.path.join(lib.ROOT, "include"),
            "-I" + os.path.join(lib.ROOT, "bench"), os.path.join(lib.ROOT, "bench", "tables.c"),
            os.path.join(lib.BUILD, "libhologram.a"), "-lm", "-lpthread", "-o", program)
    results = json.loads(lib.run(program))
    kinds = [k for k in ("way", "reference", "avx2", "avx512", "neon") if any(r["variant"] == k for r in results)]
    for where in ("L1", "memory"):
        rows = []
        for name in dict.fromkeys(r["name"] for r in results):
            of = {r["variant"]: r for r in results if r["name"] == name and r["where"] == where}
            rows.append([name] + ["%.1f" % of[k]["gcodes"] if k in of else "" for k in kinds])
        print("\n10^9 codes a second, one core, codes in %s" % where)
        lib.table(["kernel"] + kinds, rows)
    for name, least in LEAST.items():
        of = [r for r in results if (r["name"], r["variant"], r["where"]) == (name, "avx2", "L1")]
        if of:
            print("%s: %.1f GB/s, wanted %.1f: %s"
                  % (name, of[0]["gcodes"], least, lib.verdict(of[0]["gcodes"] >= least)))
    return results


# ---- chains ----------------------------------------------------------------------------------------------------------


def chains(rounds):
    """Milliseconds of each length: as table, as float code, in the peer."""
    tool, inputs, results = peers.peer(), "x:uint8:%d:int=256" % SIZE, []
    for length in LENGTHS:
        path = chain(length)
        files = {"table": lib.work_file("chain_table.holo"), "float": lib.work_file("chain_float.holo")}
        lib.run(lib.HOLOGRAM, "compile", "-q", path, "-o", files["table"])
        lib.run(lib.HOLOGRAM, "compile", "-q", path, "--disable", "collapse_tables", "-o", files["float"])
        taken = {"table": [], "float": [], "peer": []}
        for _ in range(rounds):
            for kind, file in files.items():
                taken[kind].append(lib.run_json(lib.HOLOGRAM, "bench", file, "--json", "--inputs", inputs,
                                                "--threads", "1", "--budget-ms", "150"))
            if tool:
                taken["peer"].append(lib.run_json(tool, path, "--inputs", inputs, "--threads", "1",
                                                  "--budget-ms", "150"))
        row = {"operations": length}
        for kind, runs in taken.items():
            if runs:
                row[kind + "_min_ms"] = min(r["min_ms"] for r in runs)
                row[kind + "_median_ms"] = peers.middle([r["median_ms"] for r in runs])
        results.append(row)
    print("\n%d codes through a chain, one thread, ms (minimum)" % SIZE)
    lib.table(["operations", "table", "lane code", "ONNX Runtime", "lane code / table"],
              [[r["operations"], "%.3f" % r["table_min_ms"], "%.3f" % r["float_min_ms"],
                "%.3f" % r["peer_min_ms"] if "peer_min_ms" in r else "", "%.1f"
                % (r["float_min_ms"] / r["table_min_ms"])] for r in results])
    first, last = results[0], results[-1]
    apart = last["table_min_ms"] / first["table_min_ms"] - 1
    print("12 operations against 1: %+.1f %%, wanted within 5 %%: %s" % (100 * apart, lib.verdict(abs(apart) <= 0.05)))
    ratio = last["float_min_ms"] / last["table_min_ms"]
    print("12 operations as lane code: %.1f times, wanted 4: %s" % (ratio, lib.verdict(ratio >= 4)))
    return results


# A frame: pixels to planes, and planes to pixels.
FRAMES = {"to planes": ((2160, 3840, 3), (2, 0, 1)), "to pixels": ((3, 2160, 3840), (1, 2, 0))}


def moves(rounds):
    """Twelve operations on a frame that is transposed too: the table in the step that moves it, and as its own step."""
    results = []
    for name, (dims, perm) in FRAMES.items():
        path, files = chain(12, dims, perm), {}
        for kind, flags in (("one", []), ("two", ["--disable", "fuse_load"])):
            files[kind] = lib.work_file("moves_%s.holo" % kind)
            lib.run(lib.HOLOGRAM, "compile", "-q", path, "-o", files[kind], *flags)
        for isa, flags in (("", []), (", AVX2", ["--no-avx512"])):
            row = {"name": name + isa, "one_min_ms": [], "two_min_ms": []}
            for _ in range(rounds):
                for kind, file in files.items():
                    row[kind + "_min_ms"].append(lib.run_json(
                        lib.HOLOGRAM, "bench", file, "--json", "--inputs", "x:uint8:%s:int=256"
                        % ",".join(map(str, dims)), "--threads", "1", "--budget-ms", "300", *flags)["min_ms"])
            results.append({k: v if k == "name" else min(v) for k, v in row.items()})
    print("\n12 operations on 3840 x 2160 RGB and a transposition, one thread, ms (minimum)")
    lib.table(["frame", "in one step", "in two", "two / one"],
              [[r["name"], "%.2f" % r["one_min_ms"], "%.2f" % r["two_min_ms"],
                "%.2f" % (r["two_min_ms"] / r["one_min_ms"])] for r in results])
    for r in results:
        print("%s: one step is not slower: %s" % (r["name"], lib.verdict(r["one_min_ms"] <= 1.02 * r["two_min_ms"])))
    return results


def by_hand():
    """The chains as AVX2 float code beside the table with AVX2: 10^9 codes a second."""
    program = lib.work_file("tables_float")
    if not lib.run(lib.CC, "-dumpmachine").startswith("x86_64"):
        return []
    lib.run(lib.CC, "-std=c11", "-O3", "-mavx2", "-mfma", "-I" + os.path.join(lib.ROOT, "src"),
            "-I" + os.path.join(lib.ROOT, "include"), "-I" + os.path.join(lib.ROOT, "bench"),
            os.path.join(lib.ROOT, "bench", "tables_float.c"), os.path.join(lib.BUILD, "libhologram.a"), "-lm",
            "-lpthread", "-o", program)
    results = json.loads(lib.run(program))
    for where in ("L1", "memory"):
        of = [r for r in results if r["where"] == where]
        if not of:
            continue
        print("\n10^9 codes a second, one core, AVX2, codes in %s" % where)
        lib.table(["operations", "table", "float code by hand", "table / float"],
                  [[r["operations"], "%.2f" % r["table_gcodes"], "%.3f" % r["float_gcodes"],
                    "%.1f" % (r["table_gcodes"] / r["float_gcodes"])] for r in of])
        ratio = of[-1]["table_gcodes"] / of[-1]["float_gcodes"]
        print("12 operations as float code by hand: %.1f times, wanted 4: %s" % (ratio, lib.verdict(ratio >= 4)))
    return results


def picture(results):
    """Time against the number of operations, on a logarithmic scale."""
    colours = {"table": "#4e79a7", "float": "#e08a2c", "hand": "#59a14f", "peer": "#b3261e"}
    names = {"table": "Hologram, table", "float": "Hologram, lane code", "hand": "AVX2 float code by hand",
             "peer": "ONNX Runtime"}
    left, top, width, height = 70, 20, 460, 280
    values = [r[k + "_min_ms"] for r in results for k in names if k + "_min_ms" in r]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(n):
        return left + width * (n - 1) / 11.0

    def y(ms):
        return top + height * (high - math.log10(ms)) / (high - low)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 370" font-family="sans-serif" font-size="12">'
             '<rect width="100%" height="100%" fill="#fff"/>']
    for e in range(low, high + 1):
        parts.append('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#444">%g ms'
                     '</text>' % (left, y(10.0 ** e), left + width, left - 6, y(10.0 ** e) + 4, 10.0 ** e))
    for r in results:
        parts.append('<text x="%.1f" y="%d" text-anchor="middle" fill="#444">%d</text>'
                     % (x(r["operations"]), top + height + 18, r["operations"]))
    ends = []
    for kind in names:
        points = [(x(r["operations"]), y(r[kind + "_min_ms"])) for r in results if kind + "_min_ms" in r]
        if not points:
            continue
        parts.append('<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>'
                     % ("L".join("%.1f %.1f" % p for p in points), colours[kind]))
        parts += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (p + (colours[kind],)) for p in points]
        ends.append((points[-1][1], kind))
    below = 0.0
    for at, kind in sorted(ends):  # names of lines that end near each other stand one below the other
        below = max(at + 4, below + 16)
        parts.append('<text x="%d" y="%.1f" fill="%s">%s</text>' % (left + width + 10, below, colours[kind],
                                                                   names[kind]))
    parts.append('<text x="%d" y="%d" text-anchor="middle" fill="#222">operations between DequantizeLinear and '
                 'QuantizeLinear; %d codes, one thread</text></svg>' % (left + width // 2, top + height + 44, SIZE))
    path = os.path.join(lib.RESULTS, "tables.svg")
    with open(path, "w") as f:
        f.write("\n".join(parts) + "\n")
    print("wrote %s" % os.path.relpath(path, lib.ROOT))


# ---- frames ----------------------------------------------------------------------------------------------------------


def frames():
    """Frames per second of examples/uhd.c on one and two threads."""
    program, source = lib.work_file("uhd"), os.path.join(lib.ROOT, "examples", "uhd.c")
    made = subprocess.run([lib.CC, "-O2", "-I" + os.path.join(lib.ROOT, "include"), source,
                           os.path.join(lib.BUILD, "libhologram.a"), "-lm", "-lpthread", "-lpng", "-o", program],
                          stderr=subprocess.PIPE)
    if made.returncode != 0:
        print("examples/uhd.c does not compile here: libpng-dev is missing?")
        return []
    results = []
    for threads in (1, 2):
        best = max(float(re.search(r"([\d.]+) frames", lib.run(program, "--frames", "60", "--threads", str(threads)))
                         .group(1)) for _ in range(5))
        results.append({"threads": threads, "frames_per_second": best, "gbytes": best * FRAME_GB})
        print("3840 x 2160 RGB, 12 operations a byte, %d thread%s: %.0f frames per second, %.2f GB/s%s"
              % (threads, "s"[:threads - 1], best, best * FRAME_GB,
                 "" if threads == 1 else ", wanted 240: " + lib.verdict(best >= 240)))
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip-kernels", action="store_true")
    given = parser.parse_args()
    results = {"kernels": [] if given.skip_kernels else kernels()}
    results["chains"] = chains(given.rounds)
    results["moves"] = moves(given.rounds)
    results["by_hand"] = by_hand()
    for hand in results["by_hand"]:
        for row in results["chains"]:
            if hand["where"] == "memory" and hand["operations"] == row["operations"]:
                row["hand_min_ms"] = SIZE / hand["float_gcodes"] / 1e6
    os.makedirs(lib.RESULTS, exist_ok=True)
    picture(results["chains"])
    results["frames"] = frames()
    lib.save("tables", results)


if __name__ == "__main__":
    main()
