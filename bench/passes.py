"""passes.py - what each pass is worth: models compiled without it, against the whole pipeline.

    passes.py [--budget-ms N] [--rounds N] [--pass NAME] [MODEL...]

For every pass that can be left out, the model that suffers most is shown, with its time, steps, bytes moved and file
size. Runs alternate (with, without, with ...); one thread; the minimum counts."""
import argparse
import os
import re
import sys

import lib

MODELS = ["minilm-l6-v2", "yolov8n", "ppocrv4-rec", "whisper-tiny-dec-int8", "minimind2-small-int8", "piper-vits",
          "silero-vad-v5", "bert-base-torchscript", "mobilenet_v2", "gpt2", "unet", "vae_decoder"]
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def compile_without(name, path, skipped):
    """(file, {"steps", "moved", "bytes"}), or None where the model needs the pass."""
    holo = lib.work_file("passes_%s%s.holo" % (name, "_" + skipped if skipped else ""))
    command = [lib.HOLOGRAM, "compile", path, "-o", holo] + (["--disable", skipped] if skipped else [])
    text = lib.run(*command, check=False)
    steps = re.search(r"steps +(\d+)", text)
    if steps is None:
        return None
    moved = re.search(r"moved +\S+ \S+ -> (\S+) (\S+)", text)
    return holo, {"steps": int(steps.group(1)), "bytes": os.path.getsize(holo),
                  "moved": float(moved.group(1)) * UNITS[moved.group(2)] if moved else None}


def time_of(holo, inputs, budget):
    return lib.run_json(lib.HOLOGRAM, "bench", holo, "--json", "--inputs", inputs, "--budget-ms", str(budget))["min_ms"]


def compare(name, path, inputs, skipped, options):
    """The figures of one model with and without a pass; None when they are the same program or there is none."""
    whole, without = compile_without(name, path, ""), compile_without(name, path, skipped)
    if whole is None or without is None:
        return None
    with open(whole[0], "rb") as a, open(without[0], "rb") as b:
        same = a.read() == b.read()
    if not same:
        times = [(time_of(whole[0], inputs, options.budget_ms), time_of(without[0], inputs, options.budget_ms))
                 for _ in range(options.rounds)]
    os.remove(without[0])
    if same:
        return None
    return {"pass": skipped, "model": name, "with": dict(whole[1], ms=min(t[0] for t in times)),
            "without": dict(without[1], ms=min(t[1] for t in times))}


def loss(r):
    return r["without"]["ms"] / r["with"]["ms"]


def change(r, what, form, scale=1.0):
    with_it, without = r["with"][what], r["without"][what]
    if with_it is None or without is None:
        return "-"
    return (form + " -> " + form) % (without / scale, with_it / scale)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget-ms", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--pass", dest="only")
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    names = [line.split()[0] for line in lib.run(lib.HOLOGRAM, "passes").strip().split("\n")]
    chosen = lib.models(options.model or MODELS, lib.REAL + lib.MORE_REAL, lib.FILLED + lib.MORE_FILLED)
    results, rows = [], []
    for name in names if options.only is None else [options.only]:
        found = [r for r in (compare(*m, name, options) for m in chosen) if r is not None]
        if not found:
            rows.append([name, "-", "", "", "", "", ""])
            continue
        results += found
        worst = max(found, key=loss)
        rows.append([name, worst["model"], change(worst, "ms", "%.2f"), "%.2f" % loss(worst),
                     change(worst, "steps", "%d"), change(worst, "moved", "%.1f", 1e6),
                     change(worst, "bytes", "%.1f", 1e6)])
        print("measured %s" % name, flush=True)
    lib.table(["pass", "where it matters most", "ms", "times", "steps", "MB moved", "file MB"], rows)
    lib.save("passes", results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
