"""prune.py - what a runtime for some models may leave out: lane operations and element types that they do not have.

The sources ask LANE_HAS before they take a loop into the tables of the interpreter (isa/lane_ops.inc) and HG_TYPES_LINKED
before they take code for an element type (base/dtype.h); opening a model that wants more fails with a sentence."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LANE_TYPES = ["f32", "f64", "i32", "i64", "u64"]


def read(path):
    with open(os.path.join(ROOT, "src", path)) as f:
        return f.read()


def inspect(hologram, holo):
    """Graphs and bodies of a model."""
    done = subprocess.run([hologram, "inspect", holo, "--json"], stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit("%s: %s could not inspect %s" % (os.path.basename(sys.argv[0]), hologram, holo))
    facts = json.loads(done.stdout)
    return facts["graphs"] + facts["bodies"]


def lane_operations(graphs):
    """(NAME, type) of what lane code calls; a cast is (CAST_<to>, from). f32 has no suffix in the report."""
    found = set()
    for graph in graphs:
        for step in graph["steps"]:
            for name, suffix in re.findall(r"=([a-z0-9]+)((?:\.[a-z0-9]+)*)\(", step.get("code") or ""):
                types = suffix.split(".")[1:]
                if name == "cast":
                    found.add(("CAST_" + types[1], types[0]))
                elif name != "narrow":
                    found.add((name.upper(), types[0] if types else "f32"))
    # Rare functions on f32 are those on f64, rounded.
    return found | {(name, "f64") for name, kind in found if kind == "f32" and not name.startswith("CAST")
                    and "X(%s, %s)" % (name.lower(), name) in read("isa/lane_ops.inc")}


def lane_macros(graphs):
    """Macros that lane_ops.inc asks before it takes a loop into its tables."""
    used = lane_operations(graphs)
    names = re.findall(r"^X\(\d+, (\w+),", read("isa/lane.def"), flags=re.M) + ["CAST_" + t for t in LANE_TYPES]
    lines = ["#define LANE_HAS(NAME, type, fn) LANE_HAS_##NAME##_##type(fn)"]
    for name in names:
        for kind in LANE_TYPES:
            lines.append("#define LANE_HAS_%s_%s(fn) %s" % (name, kind, "fn" if (name, kind) in used else "0"))
    return "\n".join(lines) + "\n"


def type_macro(graphs):
    """The element types of values, and those that lane code narrows to, as bits."""
    with open(os.path.join(ROOT, "include", "hologram.h")) as f:
        numbers = {text: int(n) for n, text in re.findall(r'X\(\w+, (\d+), "(\w+)", \d+\)', f.read())}
    names = {value["dtype"] for graph in graphs for value in graph["values"]}
    for graph in graphs:
        for step in graph["steps"]:
            names |= set(re.findall(r"=narrow\.(\w+)", step.get("code") or ""))
    missing = names - set(numbers)
    if missing:
        sys.exit("prune: there is no type " + ", ".join(sorted(missing)))
    bits = sum(1 << numbers[name] for name in names if numbers[name] < 64)
    return "#define HG_TYPES_LINKED UINT64_C(0x%x)\n" % bits


def macros(graphs):
    return type_macro(graphs) + lane_macros(graphs)
