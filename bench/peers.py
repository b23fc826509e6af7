"""peers.py - Hologram against ONNX Runtime: the same models, inputs and threads, run in turn (A B A B ...).

    peers.py [--accuracy | --readme] [--rounds N] [--threads 1,2] [--budget-ms N] [--avx2] [--keep] [MODEL...]

--accuracy compares outputs only and ends with "N passed, N failed". --keep leaves the results of other models in
peers.json, so that the models can be measured in several calls. --avx2 uses the kernels for machines without AVX-512
(the peer cannot be told so) and only prints. --readme measures nothing: the table in README.md
becomes what peers.json says."""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys

import accuracy
import lib


def peer():
    """The program that runs ONNX Runtime; built when it is missing and that is possible. None otherwise."""
    tool = os.path.join(lib.PEER, "ort_bench")
    setup = os.path.join(lib.SHARED, "peers", "setup")
    if not os.path.exists(tool) and os.path.exists(setup) and shutil.which("npm"):
        print("installing ONNX Runtime into %s ..." % os.path.relpath(lib.PEER, lib.ROOT), flush=True)
        subprocess.run([setup, lib.PEER], stdout=sys.stderr)
    return tool if os.path.exists(tool) else None


# ---- speed --------------------------------------------------------------------------------------


def middle(values):
    return sorted(values)[len(values) // 2]


def duel(tool, path, holo, inputs, threads, rounds, budget, flags=()):
    """Both in turn; minima over all rounds, medians of the rounds' medians."""
    common = ["--inputs", inputs, "--threads", str(threads), "--budget-ms", str(budget)]
    theirs, ours = [], []
    for _ in range(rounds):
        theirs.append(lib.run_json(tool, path, *common))
        ours.append(lib.run_json(lib.HOLOGRAM, "bench", holo, "--json", *common, *flags))
    return {
        "threads": threads,
        "peer_min_ms": min(r["min_ms"] for r in theirs),
        "peer_median_ms": middle([r["median_ms"] for r in theirs]),
        "peer_load_ms": min(r["load_ms"] for r in theirs),
        "peer_rss_mb": middle([r["peak_rss_mb"] for r in theirs]),
        "min_ms": min(r["min_ms"] for r in ours),
        "median_ms": middle([r["median_ms"] for r in ours]),
        "open_us": min(r["open_us"] for r in ours),
        "start_ms": min(r["open_us"] + r["session_us"] + r["prepare_us"] for r in ours) / 1e3,
        "rss_mb": middle([r["peak_rss_mb"] for r in ours]),
        "onnx_mb": os.path.getsize(path) / 1e6,
        "holo_mb": os.path.getsize(holo) / 1e6,
    }


def starts(tool, path, holo, inputs, threads, rounds, flags=()):
    """From the start of a process to its first output, both in turn: minima."""
    common = ["--cold", "--inputs", inputs, "--threads", str(threads)]
    theirs, ours = [], []
    for _ in range(rounds):
        theirs.append(lib.run_to_line(tool, path, *common))
        ours.append(lib.run_to_line(lib.HOLOGRAM, "bench", holo, "--json", *common, *flags))
    return {"peer_first_ms": min(theirs), "first_ms": min(ours)}


def chart(results):
    """Bars of time relative to the peer's, which is the line at 1."""
    colours = {1: "#4e79a7", 2: "#e08a2c"}
    labels = ["%s, %d thread%s" % (r["name"], r["threads"], "" if r["threads"] == 1 else "s") for r in results]
    row, left, width = 22, 20 + 7 * max(map(len, labels)), 420
    most = max([1.1] + [r["min_ms"] / r["peer_min_ms"] for r in results]) * 1.05
    height = row * len(results) + 50
    line = left + width / most
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" '
             'font-size="12"><rect width="100%%" height="100%%" fill="#fff"/>' % (left + width + 20, height)]
    for i, r in enumerate(results):
        end, y = left + width * r["min_ms"] / r["peer_min_ms"] / most, 10 + i * row
        parts.append('<text x="%d" y="%d" text-anchor="end" fill="#222">%s</text>' % (left - 8, y + 14, labels[i]))
        parts.append('<rect x="%d" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>'
                     % (left, y + 2, end - left, row - 6, colours.get(r["threads"], "#888")))
        parts.append('<text x="%.1f" y="%d" text-anchor="end" fill="#fff">%.2f</text>'
                     % (max(end, left + 34) - 6, y + 14, r["min_ms"] / r["peer_min_ms"]))
    parts.append('<path d="M%.1f 4V%d" stroke="#b3261e"/>' % (line, height - 30))
    parts.append('<text x="%d" y="%d" fill="#444">time of Hologram / time of ONNX Runtime (minimum); '
                 'left of the line is faster</text></svg>' % (left, height - 10))
    with open(os.path.join(lib.RESULTS, "peers.svg"), "w") as f:
        f.write("\n".join(parts) + "\n")


HEADS = ["model", "threads", "ours min", "median", "peer min", "median", "ratio", "start ms", "peer load ms",
         "to first output", "peer",
         "RSS MB", "peer RSS", ".holo MB", ".onnx MB", "difference", "agrees"]


def agreement(r, form):
    """The verdict of accuracy.py with the figure it rests on."""
    if r["agrees"] == "f64":
        return ("f64 " + form + ", peer's " + form) % (r["f64"], r["peer_f64"])
    if r["agrees"] == "unstable":
        return ("moves " + form) % max(r["spread"], r.get("peer_spread", 0.0))
    return r["agrees"]


def row_of(r):
    return [r["name"], r["threads"], "%.3f" % r["min_ms"], "%.3f" % r["median_ms"], "%.3f" % r["peer_min_ms"],
            "%.3f" % r["peer_median_ms"], "%.2f" % (r["min_ms"] / r["peer_min_ms"]), "%.2f" % r["start_ms"],
            "%.0f" % r["peer_load_ms"], "%.1f" % r["first_ms"], "%.1f" % r["peer_first_ms"], "%.0f" % r["rss_mb"],
            "%.0f" % r["peer_rss_mb"], "%.1f" % r["holo_mb"], "%.1f" % r["onnx_mb"], "%.1e" % r["difference"],
            agreement(r, "%.1e")]


def mean(results):
    """Geometric mean of our time against the peer's."""
    least = 1e-5  # ms; what takes no time that can be told is printed as 0
    ratios = [max(r["min_ms"], least) / max(r["peer_min_ms"], least) for r in results]
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def misses(results, speed_and_outputs_only=False):
    """Sentences on what falls short of the aims: as fast, the same numbers, ready 500 times sooner, first output 5
    times sooner below 50 MB, less memory."""
    aims = [("slower than 1.03 times the peer", lambda r: r["min_ms"] > 1.03 * r["peer_min_ms"]),
            ("outputs disagree", lambda r: r["agrees"] == "NO"),
            ("ready less than 500 times sooner", lambda r: r["peer_load_ms"] < 500 * r["start_ms"]),
            ("first output less than 5 times sooner (models below 50 MB)",
             lambda r: r["onnx_mb"] < 50 and r["peer_first_ms"] < 5 * r["first_ms"]),
            ("more memory than the peer", lambda r: r["rss_mb"] >= r["peer_rss_mb"])]
    for what, missed in aims[:2] if speed_and_outputs_only else aims:
        names = ["%s (%d)" % (r["name"], r["threads"]) for r in results if missed(r)]
        yield "%s: %s" % (what, ", ".join(names) or "none")


def kept(what, measured):
    """What WHAT.json says of models that were not measured now."""
    path = os.path.join(lib.RESULTS, what + ".json")
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [r for r in json.load(f)[what] if r["name"] not in measured]


def whole(results, keeps):
    """With those of other models from before, if they are kept."""
    return results + (kept("peers", {r["name"] for r in results}) if keeps else [])


def commits(results):
    """Where results come from: those of one commit, and the models that were kept from others."""
    names = {}
    for r in results:
        names.setdefault(r.get("commit", "unknown"), {})[r["name"]] = True
    first, *others = sorted(names, key=lambda c: -len(names[c]))
    return ", ".join(["commit " + first] + ["%s (%s)" % (c, ", ".join(sorted(names[c]))) for c in others])


def summary(results):
    """The table again, as text to keep."""
    m = lib.machine()
    with open(os.path.join(lib.RESULTS, "latest.md"), "w") as f:
        f.write("# Against ONNX Runtime\n\nMeasured by `./dev bench peers` with %s at %s on %s, %d cores. "
                "Times in ms; ratio is minimum against minimum; start is open + session + prepare; to first output is "
                "from the start of a process that makes random inputs and runs once. Where outputs differ by more "
                "than 1e-4 of the largest, `f64` says how far both are from 64-bit arithmetic, `moves` how far "
                "outputs move by themselves: ours by one rounding step, the peer's without its optimiser. "
                "Geometric mean of the ratios: %.3f.\n\n"
                % (m["version"], commits(results), m["cpu"], m["cores"], mean(results)))
        f.write("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS) + "\n")
        for r in results:
            f.write("| " + " | ".join(str(c) for c in row_of(r)) + " |\n")
        f.write("\n" + "\n".join("- " + line for line in misses(results)) + "\n")


# ---- README -------------------------------------------------------------------------------------


def short(number):
    return "%.0f" % number if number >= 100 else "%.1f" % number if number >= 1 else "%.2f" % number


def readme_row(name, by_threads):
    cells, one = [], by_threads[min(by_threads)]
    for threads in (1, 2):
        r = by_threads.get(threads)
        cells.append("-" if r is None else "%s / %s = **%.2f**" % (short(r["min_ms"]), short(r["peer_min_ms"]),
                                                                    r["min_ms"] / r["peer_min_ms"]))
    cells += ["%.2f / %.0f" % (one["start_ms"], one["peer_load_ms"]),
              "%.0f / %.0f" % (one["rss_mb"], one["peer_rss_mb"]),
              {"yes": "%.0e" % one["difference"], "NO": "**%.0e**" % one["difference"]}.get(one["agrees"],
                                                                                           agreement(one, "%.0e"))]
    return "| %s | %s |" % (name, " | ".join(cells))


def readme():
    """Writes the table between its marks; the sentences around it stay."""
    with open(os.path.join(lib.RESULTS, "peers.json")) as f:
        stored = json.load(f)
    results = stored["peers"]
    rows = ["| model | 1 thread, ms | 2 threads, ms | ready, ms | memory, MB | outputs |", "|---|---|---|---|---|---|"]
    for name in sorted({r["name"] for r in results}):
        rows.append(readme_row(name, {r["threads"]: r for r in results if r["name"] == name}))
    means = ["%.2f with %d thread%s" % (mean([r for r in results if r["threads"] == t]), t, "" if t == 1 else "s")
             for t in sorted({r["threads"] for r in results})]
    text = "\n".join(rows) + "\n\nGeometric mean of the ratios: %s. Measured at %s.\n" % (
        ", ".join(means), commits(results))
    lib.replace_between("README.md", "<!-- BEGIN peers -->\n", "<!-- END peers -->", text)


def main():
    parser = argparse.ArgumentParser(add_help=True)
    parser.add_argument("--accuracy", action="store_true")
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,%d" % os.cpu_count() if os.cpu_count() > 1 else "1")
    parser.add_argument("--budget-ms", type=int, default=1000)
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    if options.readme:
        readme()
        return 0
    tool = peer()
    if tool is None:
        print("not compared: ONNX Runtime is not here (../shared/peers/setup and npm install it)")
        if options.accuracy:
            print("0 passed, 0 failed")
        return 0
    lists = lib.REAL + lib.MORE_REAL, lib.FILLED + lib.MORE_FILLED
    lib.get_models(*lists)
    chosen = lib.models(options.model, *lists)
    if options.accuracy:
        return 1 if accuracy.judge_all(tool, chosen) else 0
    results = []
    for name, path, inputs in chosen:
        holo = lib.compiled(name, path)
        agreed = accuracy.judge(tool, name, path, inputs)
        for threads in [int(t) for t in options.threads.split(",")]:
            what = tool, path, holo, inputs, threads, options.rounds
            flags = ["--no-avx512"] if options.avx2 else []
            results.append(dict(duel(*what, options.budget_ms, flags), **starts(*what, flags), name=name,
                                commit=lib.machine()["commit"], **agreed))
        print("measured %s" % name, flush=True)
        if not options.avx2:  # a run that is stopped leaves what it has, for --keep
            lib.save("peers", whole(results, options.keep), is_last=False)
    if not results:
        return 0
    results = whole(results, options.keep)
    lib.table(HEADS, [row_of(r) for r in results])
    print("geometric mean of the ratios: %.3f" % mean(results))
    for line in misses(results):
        print(line)
    if not options.avx2:
        lib.save("peers", results)
        chart(results)
        summary(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
