"""zoo.py - models of many kinds against ONNX Runtime: architectures of bench/zoo, with random weights, run in turn.

    zoo.py [--accuracy | --list] [--rounds N] [--threads 1,2] [--budget-ms N] [--avx2] [--keep] [MODEL...]

They show what the models of `peers` do not: a fault, or a kernel that nobody tuned for. A MODEL may be the beginning of
names; op_ are single operators, which are left out unless named. --accuracy compares outputs only and ends with "N
passed, N failed". --avx2 measures and judges the kernels for machines without AVX-512 (the peer cannot be told so).
--keep leaves the results of other models in zoo.json, so that they can be measured in several calls. Ends with the
models that are slower than 1.03 times the peer, that disagree, or that failed. Writes zoo.json and, of what that holds,
zoo.md."""
import argparse
import os
import sys

import accuracy
import lib
import peers

FOLDER = os.path.join(lib.ROOT, "build", "zoo")
SOURCE = os.path.join(lib.ROOT, "bench", "zoo")


def names():
    """{model: file that describes it}"""
    return dict(line.split() for line in lib.run(lib.PYTHON, "-B", SOURCE, "--list").splitlines())


def made(name, source):
    """(path, inputs) of the model, made anew when its description is newer."""
    path = os.path.join(FOLDER, name + ".onnx")
    newest = max(os.path.getmtime(os.path.join(SOURCE, f)) for f in (source, "graph.py"))
    if not os.path.exists(path) or os.path.getmtime(path) < newest:
        lib.run(lib.PYTHON, "-B", SOURCE, FOLDER, name)
    with open(path[:-5] + ".inputs") as f:
        return path, f.read().strip()


def kernels(options):
    """Flags of `hologram run` and `bench`: what is judged is what is measured."""
    return ["--no-avx512"] if options.avx2 else []


def measured(tool, name, source, options):
    path, inputs = made(name, source)
    holo, flags = lib.compiled("zoo_" + name, path), kernels(options)
    agreed = accuracy.judge(tool, "zoo_" + name, path, inputs, flags)
    for threads in options.threads.split(","):
        r = peers.duel(tool, path, holo, inputs, int(threads), options.rounds, options.budget_ms, flags)
        yield dict(r, name=name, **agreed)


def summary(results):
    """One line for each model, as text to keep."""
    m = lib.machine()
    with open(os.path.join(lib.RESULTS, "zoo.md"), "w") as f:
        f.write("# Models of many kinds against ONNX Runtime\n\nMeasured by `./dev bench zoo` with %s at commit %s on %s, %d "
                "cores: our time / the peer's, minima of runs in turn, ms. Geometric mean of the ratios: %.3f. Outputs as "
                "in latest.md.\n\n" % (m["version"], m["commit"], m["cpu"], m["cores"], peers.mean(results)))
        f.write("| model | 1 thread | 2 threads | outputs |\n|---|---|---|---|\n")
        for name in sorted({r["name"] for r in results}):
            by_threads = {r["threads"]: r for r in results if r["name"] == name}
            cells = ["%s / %s = %.2f" % (peers.short(r["min_ms"]), peers.short(r["peer_min_ms"]),
                                         r["min_ms"] / r["peer_min_ms"]) if r else "-"
                     for r in (by_threads.get(1), by_threads.get(2))]
            one = by_threads[min(by_threads)]
            agrees = "%.0e" % one["difference"] if one["agrees"] == "yes" else peers.agreement(one, "%.0e")
            f.write("| %s | %s | %s |\n" % (name, " | ".join(cells), agrees))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--budget-ms", type=int, default=200)
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--accuracy", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    # single operators only when they are asked for: there are hundreds
    chosen = {n: f for n, f in names().items()
              if (n.startswith(tuple(options.model)) if options.model else not n.startswith("op_"))}
    if options.list:
        print("\n".join("%-28s bench/zoo/%s" % pair for pair in chosen.items()))
        return 0
    tool = peers.peer()
    if tool is None:
        lib.die("ONNX Runtime is not here (../shared/peers/setup and npm install it)")
    if options.accuracy:
        models = (("zoo_" + name, *made(name, source)) for name, source in chosen.items())
        return 1 if accuracy.judge_all(tool, models, kernels(options)) else 0
    results, failed = [], []
    for i, (name, source) in enumerate(chosen.items()):
        try:
            found = list(measured(tool, name, source, options))
        except SystemExit as complaint:
            found = []
            failed.append(name)
            print("%3d/%d %-28s %s" % (i + 1, len(chosen), name, complaint), flush=True)
        for r in found:
            results.append(r)
            print("%3d/%d %-28s %d thread%s %9.3f / %9.3f ms = %.2f  %s" % (
                i + 1, len(chosen), name, r["threads"], " " if r["threads"] == 1 else "s", r["min_ms"],
                r["peer_min_ms"], r["min_ms"] / r["peer_min_ms"], peers.agreement(r, "%.1e")), flush=True)
    if not results:
        lib.die("nothing was measured; --list names the models")
    if options.keep:
        results += peers.kept("zoo", {r["name"] for r in results})
    summary(results)
    lib.save("zoo", results)
    print("geometric mean of the ratios: %.3f" % peers.mean(results))
    for line in peers.misses(results, speed_and_outputs_only=True):
        print(line)
    print("failed: %s" % (", ".join(failed) or "none"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
