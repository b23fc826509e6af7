"""accuracy.py - how near the outputs of a model are to ONNX Runtime's, on the peer's own inputs; and where they are not,
which of the two is nearer to the truth. Used by peers.py.

Verdicts:
    yes       within 1e-4 of the largest number of every output
    random    the model draws random numbers, nothing to compare
    f64       further from the peer, but within 1e-4 of the same model in 64-bit arithmetic
    unstable  the model has no such answer: its outputs move as far by themselves, see spread()
    NO        none of these"""
import glob
import os
import shutil
import subprocess

import lib
import npy

TOLERANCE = 1e-4  # of the largest number of an output


def holds(path, names):
    with open(path, "rb") as f:
        data = f.read()
    return any(name in data for name in names)


def draws(path):
    """Whether a model draws random numbers: then no two runs agree, whoever makes them."""
    return holds(path, (b"RandomNormal", b"RandomUniform", b"Multinomial", b"Bernoulli"))


def integer_products(path):
    return holds(path, (b"MatMulInteger", b"ConvInteger", b"QLinear", b"accuracy_level"))


def fresh(name):
    """An empty folder of this name."""
    folder = lib.work_file(name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def run(holo, inputs, source, folder, flags=()):
    """Runs a compiled model on the in_*.npy files of a folder; flags choose kernels, as in `hologram bench`."""
    command = [lib.HOLOGRAM, "run", "-q", holo, "--output-dir", folder, *flags]
    for i, entry in enumerate(inputs.split(";")):
        file = glob.glob(os.path.join(source, "in_%d_*.npy" % i))
        command += ["--input", "%s=%s" % (entry.rsplit(":", 3)[0], file[0])]
    lib.run(*command)
    return folder


def outputs(folder):
    """{number of the output: file}, of `hologram run` (N_NAME.npy) or of the peer (out_N...npy)."""
    found = {}
    for file in glob.glob(os.path.join(folder, "*.npy")):
        parts = os.path.basename(file)[:-4].split("_")
        if parts[0] != "in":
            found[int(parts[1] if parts[0] == "out" else parts[0])] = file
    return found


def distance(one, reference):
    """The largest difference, relative to the largest number of its output."""
    mine, theirs, worst = outputs(one), outputs(reference), 0.0
    for number, file in theirs.items():
        off, most = npy.difference(mine[number], file) if number in mine else (float("inf"), 0.0)
        worst = max(worst, off / most if most > 0 else off)
    return worst if theirs else float("inf")


def compiled_as(name, path, how, *flags):
    holo = lib.work_file("%s_%s.holo" % (how, name))
    lib.run(lib.HOLOGRAM, "compile", "-q", path, "-o", holo, *flags)
    return holo


def in_double(name, path, inputs, theirs):
    """The outputs in 64-bit arithmetic; None where the model cannot be widened."""
    wide = lib.work_file("f64_%s.onnx" % name)
    if not lib.retyped("double", path, wide):
        return None
    source = fresh("f64_in_" + name)
    for file in glob.glob(os.path.join(theirs, "in_*.npy")):
        npy.widen(file, os.path.join(source, os.path.basename(file)))
    holo = compiled_as(name, wide, "f64", "--numerics", "exact")
    result = run(holo, inputs, source, fresh("f64_" + name))
    os.remove(wide)
    os.remove(holo)
    return result


def step_inputs(theirs, to):
    """Copies the inputs, floating-point ones moved by one rounding step; whether there are such."""
    files = glob.glob(os.path.join(theirs, "in_*.npy"))
    moved = [npy.step(f, os.path.join(to, os.path.basename(f))) for f in files]
    for file, done in zip(files, moved):
        if not done:
            shutil.copy(file, to)
    return any(moved)


def spread(name, path, inputs, theirs, ours, flags):
    """How far outputs move that should not: ours, when every floating-point input moves by one rounding step or, without
    such inputs, when sums are added in another order; the peer's, with and without its graph optimiser, where the model has
    integer products (these are exact in its web build). No two correct computations can be expected to stay below."""
    source = fresh("step_in_" + name)
    holo = lib.compiled(name, path)
    if not step_inputs(theirs, source):
        holo = compiled_as(name, path, "exact", "--numerics", "exact")
    own = distance(run(holo, inputs, source, fresh("step_" + name), flags), ours)
    return own, peer_spread(name, path, theirs) if integer_products(path) else 0.0


def peer_spread(name, path, theirs):
    web = os.path.join(lib.ROOT, "web")
    if not os.path.isdir(os.path.join(web, "node_modules", "onnxruntime-web")):
        if not shutil.which("npm") or subprocess.run(["npm", "install", "--silent"], cwd=web).returncode != 0:
            return 0.0
    folders = []
    for level in ("all", "disabled"):
        folders.append(fresh("web_%s_%s" % (level, name)))
        lib.run("node", os.path.join(lib.ROOT, "bench", "ort_web.mjs"), path, theirs, folders[-1], level)
    return distance(*folders)


def judge(tool, name, path, inputs, flags=()):
    """{"difference", "agrees"} and what the verdict needs: "f64" and "peer_f64", or "spread" and "peer_spread". Flags
    choose the kernels that are judged: those that are measured."""
    theirs = fresh("dump_peer_" + name)
    lib.run(tool, path, "--inputs", inputs, "--cold", "--dump", theirs)
    ours = run(lib.compiled(name, path), inputs, theirs, fresh("dump_" + name), flags)
    result = {"difference": distance(ours, theirs), "agrees": "yes"}
    if draws(path):
        return dict(result, agrees="random")
    if result["difference"] <= TOLERANCE:
        return result
    if not integer_products(path):
        truth = in_double(name, path, inputs, theirs)
        if truth is not None:
            result.update(f64=distance(ours, truth), peer_f64=distance(theirs, truth))
            if result["f64"] <= TOLERANCE:
                return dict(result, agrees="f64")
    own, peers = spread(name, path, inputs, theirs, ours, flags)
    stable = result["difference"] > 2 * max(own, peers)
    return dict(result, agrees="NO" if stable else "unstable", spread=own, peer_spread=peers)


def sentence(r):
    """What the verdict says, without its name."""
    text = "differs by %.2g of the largest output" % r["difference"]
    if "f64" in r:
        text += "; from 64-bit arithmetic ours differs by %.2g, the peer's by %.2g" % (r["f64"], r["peer_f64"])
    if "spread" in r:
        text += "; ours moves by %.2g with one rounding step or another order of sums" % r["spread"]
    if r.get("peer_spread"):
        text += ", the peer's by %.2g with its optimiser switched off" % r["peer_spread"]
    return text


def judge_all(tool, chosen, flags=()):
    """Prints a line a model and "N passed, N failed"; the number of failures."""
    passed = failed = 0
    for name, path, inputs in chosen:
        try:
            r = judge(tool, name, path, inputs, flags)
        except SystemExit as e:
            failed += 1
            print("FAIL %s: %s" % (name, e))
            continue
        if r["agrees"] == "random":
            print("     %s: draws random numbers, so outputs are not compared" % name)
            continue
        if r["agrees"] == "unstable":
            print("     %s: %s, so outputs are not judged" % (name, sentence(r)), flush=True)
            continue
        good = r["agrees"] != "NO"
        passed, failed = passed + good, failed + (not good)
        print("%s %s: %s" % ("PASS" if good else "FAIL", name, sentence(r)), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return failed
