"""lib.py - what the measurements share: where things are, how they run, tables. Standard library only."""
import json
import os
import platform
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "bench", "results")
SHARED = os.path.join(ROOT, "..", "shared")
CC = os.environ.get("CC", "cc")
PYTHON = "/usr/bin/python3"  # Debian's, which has python3-onnx


def place(variable, default):
    """A folder that the environment may name."""
    return os.path.abspath(os.environ.get(variable) or os.path.join(ROOT, default))


BUILD = place("HOLO_BENCH_BUILD", "build/release")
PEER = place("HOLO_BENCH_PEER", "build/peer")
MODELS = place("HOLO_BENCH_MODELS", "build/models")
GRAPHS = place("HOLO_BENCH_GRAPHS", "build/graphs")
WORK = os.path.join(ROOT, "build", "bench")
HOLOGRAM = os.path.join(BUILD, "hologram")

# The first of each list are measured by all benchmarks, the rest by `peers` alone.
REAL = ["minilm-l6-v2", "ppocrv4-det", "ppocrv4-rec", "yolov8n"]
MORE_REAL = ["silero-vad-v5", "oww-melspec", "u2netp", "real-esrgan-x2", "whisper-tiny-enc-int8",
             "whisper-tiny-dec-int8", "minimind2-small-int8", "minimind2-small-int8@prefill64", "piper-vits",
             "kokoro-fp32", "isnet-fp16"]
FILLED = ["bert-base-dynamo", "resnet50-dynamo", "mobilenet_v2-dynamo", "squeezenet1_1-dynamo"]
MORE_FILLED = ["gpt2-dynamo", "llama-160m-dynamo", "vit-b16-dynamo", "whisper-tiny-encoder-dynamo",
               "efficientnet_b0-dynamo", "bilstm-gru-tagger-dynamo", "bert-base-torchscript", "resnet50-torchscript",
               "mobilenet_v2-torchscript", "squeezenet1_1-torchscript", "vit-b16-torchscript",
               "whisper-tiny-encoder-torchscript", "efficientnet_b0-torchscript", "bilstm-gru-tagger-torchscript"]
BUNDLED = {
    "text_encoder": "input_ids:int64:1,24:int=2048",
    "unet": "sample:float32:1,4,16,16:rand;timestep:int64:1:const=500;"
            "encoder_hidden_states:float32:1,24,256:rand",
    "vae_decoder": "latent_sample:float32:1,4,16,16:rand",
}


def die(sentence):
    sys.exit("bench: " + sentence)


def run(*command, check=True):
    """Standard output of a command; stops with its complaint when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if check and done.returncode != 0:
        die("%s failed: %s" % (" ".join(command[:3]), done.stderr.strip().split("\n")[-1]))
    return done.stdout


def run_json(*command):
    return json.loads(run(*command).strip().split("\n")[-1])


def run_to_line(*command):
    """ms from starting a process to the first thing it prints. Popen would add 1 to 2 of its own."""
    out, there = os.pipe()
    null = os.open(os.devnull, os.O_WRONLY)
    start = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, there, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    os.close(there)
    os.close(null)
    printed = os.read(out, 1)
    passed = time.monotonic() - start
    while os.read(out, 4096):
        pass
    os.close(out)
    _, status = os.waitpid(child, 0)
    if not printed or status != 0:
        die("%s failed" % " ".join(command[:3]))
    return passed * 1e3


def run_measured(*command):
    """Seconds and peak resident MB of one process, and whether it succeeded."""
    start = time.monotonic()
    with open(os.devnull, "w") as null:
        child = subprocess.Popen(command, stdout=null, stderr=subprocess.PIPE)
        error = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
    if status != 0:
        die("%s failed: %s" % (" ".join(command[:3]), error.strip().split("\n")[-1]))
    return time.monotonic() - start, usage.ru_maxrss / 1024.0


def work_file(name):
    os.makedirs(WORK, exist_ok=True)
    return os.path.join(WORK, name)


# ---- models -------------------------------------------------------------------------------------


def real_inputs():
    """Inputs of the downloadable models, by name."""
    path = os.path.join(SHARED, "models", "real.tsv")
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    at = rows[0].index("inputs")
    return {row[0]: row[at] for row in rows[1:] if len(row) > at}


def real_path(name):
    """NAME@VARIANT is the file of NAME with other inputs."""
    return os.path.join(MODELS, name.split("@")[0], "model.onnx")


def get_models(real=REAL, filled=FILLED):
    """Downloads and fills what is missing, when the tools for it are beside this checkout."""
    fetch = os.path.join(SHARED, "models", "fetch")
    fill = os.path.join(SHARED, "models", "fill_weights.py")
    missing = [n for n in real if not os.path.exists(real_path(n))]
    if missing and os.path.exists(fetch) and shutil.which("npm"):
        print("downloading %s ..." % " ".join(missing), flush=True)
        subprocess.run([fetch, MODELS] + missing, stdout=sys.stderr)
    missing = [n for n in filled if not os.path.exists(os.path.join(GRAPHS, n + ".onnx"))]
    if missing and os.path.exists(fill):
        print("filling %s ..." % " ".join(missing), flush=True)
        os.makedirs(WORK, exist_ok=True)
        subprocess.run(["tar", "-xJf", os.path.join(SHARED, "models", "graphs.tar.xz"), "-C", WORK])
        subprocess.run([PYTHON, fill, os.path.join(WORK, "graphs"), GRAPHS] + missing)


def models(only=(), real=REAL, filled=FILLED):
    """Models that are here: (name, path of the .onnx, inputs)."""
    found = []
    inputs = real_inputs()
    for name in filled:
        path = os.path.join(GRAPHS, name + ".onnx")
        if os.path.exists(path):
            with open(path[:-5] + ".inputs") as f:
                found.append((name.replace("-dynamo", ""), path, f.read().strip()))
    for name in real:
        if os.path.exists(real_path(name)) and name in inputs:
            found.append((name, real_path(name), inputs[name]))
    for name, line in BUNDLED.items():
        path = os.path.join(ROOT, "examples", "text2image", "models", name + ".onnx")
        if os.path.exists(path):
            found.append((name, path, line))
    return [m for m in found if not only or m[0] in only]


def compiled(name, path):
    """The .holo of a model, compiled anew when model or compiler are newer."""
    holo = work_file(name + ".holo")
    newest = max(os.path.getmtime(path), os.path.getmtime(HOLOGRAM))
    if not os.path.exists(holo) or os.path.getmtime(holo) < newest:
        run(HOLOGRAM, "compile", "-q", path, "-o", holo)
    return holo


def retyped(kind, path, result):
    """Writes the model with 32-bit floats as "double" or "half"; False where that cannot be done."""
    script = os.path.join(ROOT, "bench", "retype.py")
    return subprocess.run([PYTHON, script, kind, path, result], stderr=subprocess.DEVNULL).returncode == 0


# ---- results ------------------------------------------------------------------------------------


def machine():
    """What was measured on, without names of hosts."""
    name = platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
        name = names[0] if names else name
    except OSError:
        pass
    commit = run("git", "-C", ROOT, "rev-parse", "--short", "HEAD", check=False).strip()
    return {"cpu": name, "cores": os.cpu_count(), "commit": commit,
            "version": run(HOLOGRAM, "version").strip()}


def save(what, data, is_last=True):
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, what + ".json")
    with open(path, "w") as f:
        json.dump({"machine": machine(), what: data}, f, indent=1)
        f.write("\n")
    if is_last:
        print("wrote %s" % os.path.relpath(path, ROOT))


def table(heads, rows):
    """Prints columns; the first is left aligned, numbers are right aligned."""
    texts = [heads] + [[("%s" % cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in texts) for i in range(len(heads))]
    for row in texts:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())
    sys.stdout.flush()


def replace_between(page, begin, end, text):
    """Puts text between two marks of a page of the repository."""
    path = os.path.join(ROOT, page)
    with open(path) as f:
        old = f.read()
    if begin not in old or end not in old:
        die("%s has no marks for the table" % page)
    with open(path, "w") as f:
        f.write(old[:old.index(begin) + len(begin)] + text + old[old.index(end):])


def verdict(good):
    return "yes" if good else "NO"
