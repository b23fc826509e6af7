"""embed.py [MODEL...] - one program with its model inside: what the runtime adds to it, and the time from start to first output.

The program is examples/06_embedded.c with the runtime as one file (tools/amalgamate, only the kernels of the model)
and the model as object file (hologram embed). Added bytes: code and data, less the model's bytes, less those of a
program that does nothing."""
import os
import shutil
import subprocess
import sys
import time

import lib

REAL = ["ppocrv4-rec", "minilm-l6-v2"]  # with the models of the demo: those that take inputs of zeros
LIMIT = {"tuned": 400000, "portable": 150000}
# Tuned for speed, portable for size; unwind tables are read by debuggers and C++ alone.
FLAGS = {"tuned": ["-O2"], "portable": ["-Os", "-fno-asynchronous-unwind-tables"]}
ROUNDS, BUDGET_S = 20, 5  # fewer rounds where one is slow


def code_bytes(path):
    """Code and data of a linked file: what `size` calls text and data."""
    numbers = lib.run("size", path).split("\n")[1].split()
    return int(numbers[0]) + int(numbers[1])


def empty_bytes():
    source, program = lib.work_file("empty.c"), lib.work_file("empty")
    with open(source, "w") as f:
        f.write("int main(void) { return 0; }\n")
    lib.run(lib.CC, "-O2", source, "-o", program)
    return code_bytes(program)


def compiled(name, path, inputs):
    """The .holo with the sizes that are measured: the example gives 1 to each that is open, which not every model takes."""
    holo, shapes = lib.work_file(name + "_embed.holo"), []
    for part in inputs.split(";"):
        port, _, dims = part.split(":")[:3]
        if dims not in ("", "-"):
            shapes += ["--shape", "%s=%s" % (port, dims.replace(",", "x"))]
    lib.run(lib.HOLOGRAM, "compile", "-q", path, "-o", holo, *shapes)
    return holo


def build(holo, folder, kind):
    os.makedirs(folder, exist_ok=True)
    for ending in ("o", "h"):
        lib.run(lib.HOLOGRAM, "embed", "-q", holo, "--symbol", "model", "-o", os.path.join(folder, "model." + ending))
    portable = ["--portable"] if kind == "portable" else []
    lib.run(os.path.join(lib.ROOT, "tools", "amalgamate"), "--hologram", lib.HOLOGRAM, "--kernels", holo, *portable,
            "-o", folder)
    program = os.path.join(folder, "program")
    lib.run(lib.CC, *FLAGS[kind], "-I" + folder, os.path.join(lib.ROOT, "examples", "06_embedded.c"),
            os.path.join(folder, "hologram_rt.c"), os.path.join(folder, "model.o"), "-lm", "-lpthread", "-o", program)
    return program


def start_ms(program):
    """From before the process is made until it has printed and ended; least and median."""
    taken = []
    while len(taken) < 3 or (len(taken) < ROUNDS and sum(taken) < BUDGET_S * 1e3):
        start = time.monotonic()
        subprocess.run([program], check=True, stdout=subprocess.DEVNULL)
        taken.append((time.monotonic() - start) * 1e3)
    return min(taken), sorted(taken)[len(taken) // 2]


def main():
    results, rows, empty = [], [], empty_bytes()
    for name, path, inputs in lib.models(sys.argv[1:], REAL, []):
        holo = compiled(name, path, inputs)
        for kind, limit in LIMIT.items():
            folder = lib.work_file("embed_%s_%s" % (name, kind))
            program = build(holo, folder, kind)
            added = code_bytes(program) - os.path.getsize(holo) - empty
            least, median = start_ms(program)
            shutil.rmtree(folder)
            results.append({"name": name, "kernels": kind, "flags": FLAGS[kind], "added_bytes": added, "limit": limit,
                            "start_min_ms": least, "start_median_ms": median})
            rows.append([name, kind, "%.1f" % (added / 1e3), "%d" % (limit / 1e3), lib.verdict(added <= limit),
                         "%.2f" % least, "%.2f" % median])
    lib.table(["model", "kernels", "added kB", "allowed", "kept", "start ms", "median"], rows)
    lib.save("embed", results)


main()
