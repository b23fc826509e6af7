"""web.py [MODEL...] - the WebAssembly runtime against onnxruntime-web in the same chromium, after warm-up, interleaved.

Times are what a page sees, from the call to the result; both runtimes work in a worker. Also: time from navigation to the
first result without a cache, and the bytes that came over the wire (scripts and modules gzipped, as servers send them)."""
import json
import os
import shutil
import statistics
import subprocess
import sys

import lib

MODELS = ["silero-vad-v5", "ppocrv4-rec", "minilm-l6-v2", "yolov8n"]
TARGET = 1.5  # times as fast


def prepare(only):
    """Models as .onnx and .holo in one folder, and what to do with them."""
    folder = lib.work_file("web")
    os.makedirs(os.path.join(folder, "bench"), exist_ok=True)
    lib.get_models(MODELS, [])
    jobs = []
    for name, path, inputs in lib.models(only, MODELS, []):
        if name not in MODELS and name != "unet":
            continue
        shutil.copyfile(path, os.path.join(folder, "bench", name + ".onnx"))
        shutil.copyfile(lib.compiled(name, path), os.path.join(folder, "bench", name + ".holo"))
        jobs.append({"name": name, "inputs": inputs})
    return folder, jobs


def measure(folder, jobs):
    path = os.path.join(folder, "jobs.json")
    with open(path, "w") as f:
        json.dump(jobs, f)
    done = subprocess.run(["node", os.path.join(lib.ROOT, "web", "test", "bench.mjs"), path, folder],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        lib.die("the measurement in the browser failed")
    return json.loads(done.stdout.strip().split("\n")[-1])


def main():
    folder, jobs = prepare(sys.argv[1:])
    if not jobs:
        lib.die("there are no models to measure: see HOLO_BENCH_MODELS in bench/run.sh")
    measured = measure(folder, jobs)
    rows = []
    for r in measured["results"]:
        ours, theirs = min(r["hologram"]), min(r["ort"])
        r["ratio_min"] = theirs / ours
        r["ratio_median"] = statistics.median(r["ort"]) / statistics.median(r["hologram"])
        rows.append([r["name"], r["threads"], "%.2f" % ours, "%.2f" % statistics.median(r["hologram"]),
                     "%.2f" % theirs, "%.2f" % statistics.median(r["ort"]), "%.2f" % r["ratio_min"],
                     "%.2f" % r["ratio_median"], "%.1e" % r["error"], lib.verdict(r["ratio_median"] >= TARGET)])
    lib.table(["model", "threads", "ours ms", "median", "ort ms", "median", "ratio", "median", "error",
               ">= %.1f" % TARGET], rows)
    print()
    visits = [r for r in measured["results"] if "ort_visit" in r]
    lib.table(["first visit", "ours ms", "MB", "ort ms", "MB"],
              [[r["name"], "%.0f" % r["hologram_visit"]["first_ms"], "%.2f" % (r["hologram_visit"]["bytes"] / 1e6),
                "%.0f" % r["ort_visit"]["first_ms"], "%.2f" % (r["ort_visit"]["bytes"] / 1e6)] for r in visits])
    lib.save("web", measured)


main()
