"""passes.py - what each pass is worth: models compiled without it, against the whole pipeline.

    passes.py [--docs] [--budget-ms N] [--rounds N] [--pass NAME] [MODEL...]

For every pass that can be left out, the model that suffers most is shown, with its time, steps, bytes moved and file
size. Runs alternate (with, without, with ...); one thread; the minimum counts. --docs measures nothing: the table in
docs/concepts/passes.mdx becomes what passes.json says."""
import argparse
import json
import os
import re
import sys

import lib
import qdq
import tables
import zoo

MODELS = ["minilm-l6-v2", "yolov8n", "ppocrv4-det", "ppocrv4-rec", "whisper-tiny-dec-int8", "minimind2-small-int8",
          "piper-vits", "silero-vad-v5", "whisper-tiny-encoder-torchscript", "mobilenet_v2", "efficientnet_b0",
          "stories15m", "unet", "vae_decoder"]
# Models made of those, for passes that wait for what these lack: codes, 16-bit floats, tables.
MADE = ["mobilenet_v2 int8", "minilm-l6-v2 int4", "squeezenet1_1 half", "byte chain", "frame"]
# Of bench/zoo, for the same reason.
ZOO = ["phi_16", "unet_plus_plus", "bytes_enlarged", "bytes_embedding", "bytes_clamped", "bytes_product",
       "rnn_h64_b64", "tacotron_step"]
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def made(name, of):
    """(name, path, inputs, flags) of one of MADE; `of` are the models it may be made of. None when it cannot be."""
    if name == "byte chain":
        return name, tables.chain(12), "x:uint8:%d:int=256" % tables.SIZE, []
    if name == "frame":
        dims, perm = tables.FRAMES["to planes"]
        return name, tables.chain(12, dims, perm), "x:uint8:%s:int=256" % ",".join(map(str, dims)), []
    origin, kind = name.split()
    if origin not in of:
        return None
    _, path, inputs = of[origin]
    if kind == "int4":
        return name, path, inputs, ["--quantize", "int4"]
    if kind == "int8":
        return name, qdq.quantised(origin, path, inputs, 4)[0], inputs, []
    result = lib.work_file(origin + "_half.onnx")
    return (name, result, inputs.replace("float32", "float16"), []) if lib.retyped(kind, path, result) else None


def chosen_models(only):
    """[(name, path, inputs, flags)]"""
    lists = lib.REAL + lib.MORE_REAL + ["stories15m"], lib.FILLED + lib.MORE_FILLED
    of = {m[0]: m for m in lib.models((), *lists)}
    found = [of[name] + ([],) for name in only or MODELS if name in of]
    found += [m for m in (made(name, of) for name in MADE if not only or name in only) if m is not None]
    source = zoo.names()
    return found + [(name, *zoo.made(name, source[name]), []) for name in ZOO if not only or name in only]


def compile_without(name, path, flags, skipped):
    """(file, {"steps", "moved", "bytes"}), or None where the model needs the pass."""
    holo = lib.work_file("passes_%s%s.holo" % (name.replace(" ", "_"), "_" + skipped if skipped else ""))
    command = [lib.HOLOGRAM, "compile", path, "-o", holo] + flags + (["--disable", skipped] if skipped else [])
    text = lib.run(*command, check=False)
    steps = re.search(r"steps +(\d+)", text)
    if steps is None:
        return None
    moved = re.search(r"moved +\S+ \S+ -> (\S+) (\S+)", text)
    return holo, {"steps": int(steps.group(1)), "bytes": os.path.getsize(holo),
                  "moved": float(moved.group(1)) * UNITS[moved.group(2)] if moved else None}


def time_of(holo, inputs, budget):
    return lib.run_json(lib.HOLOGRAM, "bench", holo, "--json", "--inputs", inputs, "--budget-ms", str(budget))["min_ms"]


def compare(model, whole, skipped, options):
    """The figures of one model with and without a pass; None when they are the same program or there is none."""
    name, path, inputs, flags = model
    without = compile_without(name, path, flags, skipped)
    if without is None:
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


def pass_names():
    """In pipeline order."""
    return [line.split()[0] for line in lib.run(lib.HOLOGRAM, "passes").strip().split("\n")]


def worst(results):
    """[(pass, its figures on the model that suffers most, or None)], in pipeline order."""
    names = pass_names()
    by_pass = {n: [r for r in results if r["pass"] == n] for n in names}
    return [(n, max(by_pass[n], key=loss) if by_pass[n] else None) for n in names]


def cells(name, r):
    if r is None:
        return [name, "-", "", "", "", "", ""]
    return [name, r["model"], change(r, "ms", "%.2f"), "%.2f" % loss(r), change(r, "steps", "%d"),
            change(r, "moved", "%.1f", 1e6), change(r, "bytes", "%.1f", 1e6)]


HEADS = ["pass", "where it matters most", "ms", "times", "steps", "MB moved", "file MB"]


def docs():
    """Writes the table between its marks."""
    with open(os.path.join(lib.RESULTS, "passes.json")) as f:
        stored = json.load(f)
    rows = [cells("`%s`" % n, r) for n, r in worst(stored["passes"]) if r is not None]
    text = "\n| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS) + "\n"
    text += "".join("| " + " | ".join(row) + " |\n" for row in rows)
    text += "\nMeasured at commit %s on %s, one thread.\n\n" % (stored["machine"]["commit"], stored["machine"]["cpu"])
    lib.replace_between("docs/concepts/passes.mdx", "{/* measured from here */}\n", "{/* measured to here */}", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--budget-ms", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--pass", dest="only")
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    if options.docs:
        docs()
        return 0
    chosen, results = chosen_models(options.model), []
    whole = {m[0]: compile_without(m[0], m[1], m[3], "") for m in chosen}
    for name in pass_names() if options.only is None else [options.only]:
        found = [compare(m, whole[m[0]], name, options) for m in chosen if whole[m[0]] is not None]
        results += [r for r in found if r is not None]
        print("measured %s" % name, flush=True)
    lib.table(HEADS, [cells(*pair) for pair in worst(results)])
    lib.save("passes", results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
