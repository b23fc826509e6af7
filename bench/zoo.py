"""zoo.py - models of many kinds against ONNX Runtime: architectures of bench/zoo, with random weights, run in turn.

    zoo.py [--rounds N] [--threads 1,2] [--budget-ms N] [--avx2] [--list] [MODEL...]

They are what nobody tuned for: a fault or a slow kernel that the models of `peers` do not show. A MODEL may be the
beginning of names. --avx2 uses the kernels for machines without AVX-512
(the peer cannot be told so). Ends with the ones slower than 1.03 times the peer and
the ones whose outputs disagree. Writes zoo.json."""
import argparse
import os
import sys

import accuracy
import lib
import peers

FOLDER = os.path.join(lib.ROOT, "build", "zoo")
SOURCE = os.path.join(lib.ROOT, "bench", "zoo")


def made(name):
    """Path of the model, made anew when its description is newer."""
    path = os.path.join(FOLDER, name + ".onnx")
    newest = max(os.path.getmtime(os.path.join(SOURCE, f)) for f in os.listdir(SOURCE) if f.endswith(".py"))
    if not os.path.exists(path) or os.path.getmtime(path) < newest:
        lib.run(lib.PYTHON, "-B", SOURCE, FOLDER, name)
    return path


def measured(tool, name, options):
    path = made(name)
    with open(path[:-5] + ".inputs") as f:
        inputs = f.read().strip()
    holo = lib.compiled("zoo_" + name, path)
    flags = ["--no-avx512"] if options.avx2 else []
    agreed = accuracy.judge(tool, "zoo_" + name, path, inputs)
    for threads in options.threads.split(","):
        r = peers.duel(tool, path, holo, inputs, int(threads), options.rounds, options.budget_ms,
                       flags)
        yield dict(r, name=name, **agreed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--budget-ms", type=int, default=200)
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    names = [n for n in lib.run(lib.PYTHON, "-B", SOURCE, "--list").split()
             if not options.model or n.startswith(tuple(options.model))]
    if options.list:
        print("\n".join(names))
        return 0
    tool = peers.peer()
    if tool is None:
        lib.die("ONNX Runtime is not here (../shared/peers/setup and npm install it)")
    results = []
    for i, name in enumerate(names):
        for r in measured(tool, name, options):
            results.append(r)
            print("%3d/%d %-28s %d thread%s %9.3f / %9.3f ms = %.2f  %s" % (
                i + 1, len(names), name, r["threads"], " " if r["threads"] == 1 else "s", r["min_ms"],
                r["peer_min_ms"], r["min_ms"] / r["peer_min_ms"], peers.agreement(r, "%.1e")), flush=True)
    if not results:
        lib.die("no model of the zoo is called so; --list names them")
    lib.save("zoo", results)
    print("geometric mean of the ratios: %.3f" % peers.mean(results))
    for line in peers.misses(results):
        if line.startswith(("slower", "outputs")):
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
