"""kernel_table.py - writes C with a kernel table that holds only what one .holo file needs.

    kernel_table.py ROOT HOLOGRAM FILE.holo OUT.c

The names come from `hologram inspect --json`; which array defines a name is read from the sources, where the
definition is the registration."""
import glob
import json
import os
import re
import subprocess
import sys


def arrays(root, isas):
    """Kernel name -> arrays that define it: the reference and the tuned variants for some instruction sets."""
    found = {}
    paths = glob.glob(os.path.join(root, "src/kernel/*.c"))
    for isa in isas:
        paths += glob.glob(os.path.join(root, "src/backend/cpu", isa, "*.c"))
    for path in sorted(paths):
        with open(path) as f:
            text = f.read()
        shared = re.search(r'^#include "(backend/cpu/avx2/\w+\.c)"', text, re.M)
        if shared:  # a source for several instruction sets: its arrays have the other's suffix
            with open(os.path.join(root, "src", shared.group(1))) as f:
                suffix = os.path.basename(os.path.dirname(path))
                text = re.sub(r"^(const hg_kernel hg_kernels_\w+)_avx2\[", r"\1_%s[" % suffix, f.read(), flags=re.M)
        for match in re.finditer(r"^const hg_kernel (hg_kernels_\w+)\[\] = \{(.*?)^\};", text, re.S | re.M):
            for entry in re.split(r"(?=\.name = )", match.group(2))[1:]:
                name = re.match(r'\.name = "([^"]+)"', entry).group(1)
                check = re.search(r"\.check = (\w+)", entry)
                found.setdefault(name, []).append({
                    "symbol": match.group(1), "check": check and check.group(1), "is_tuned": ".cpu = " in entry,
                    "is_fast": "HG_KERNEL_FAST" in entry})
    return found


def needed(variants, numerics, must_run_everywhere):
    """The arrays of one kernel. Where the CPU is known, a tuned variant that takes whatever the reference takes is
    always the one that runs."""
    if not must_run_everywhere:
        reference = [v for v in variants if not v["is_tuned"]]
        tuned = [v for v in variants if v["is_tuned"] and (numerics == "fast" or not v["is_fast"])]
        if any(t["check"] and all(t["check"] == r["check"] for r in reference) for t in tuned):
            variants = tuned
    return [v["symbol"] for v in variants]


def symbols_of(root, hologram, holo, isas):
    """Names of the kernels of a file, and the arrays that define them."""
    model = json.loads(subprocess.run([hologram, "inspect", holo, "--json"], check=True,
                                      stdout=subprocess.PIPE).stdout)
    names = sorted({k["name"] for g in model["graphs"] for k in g["kernels"]})
    numerics = "fast" if all(g["numerics"] == "fast" for g in model["graphs"]) else "exact"
    known = arrays(root, isas)
    missing = [n for n in names if n not in known]
    if missing:
        sys.exit("kernel_table: no source defines " + ", ".join(missing))
    return names, sorted({s for n in names for s in needed(known[n], numerics, isas != ["wasm"])})


def main():
    root, hologram, holo, out = sys.argv[1:5]
    isas = {"x86_64": ["avx2", "avx512"], "aarch64": ["neon", "dotprod"]}.get(os.uname().machine, [])
    names, symbols = symbols_of(root, hologram, holo, isas)
    with open(out, "w") as f:
        f.write("/* Kernels of one model: %s. */\n#include \"isa/kernel.h\"\n\n" % " ".join(names))
        for s in symbols:
            f.write("extern const hg_kernel %s[];\n" % s)
        f.write("\nstatic const hg_kernel *const list[] = {%s};\n" % ", ".join(symbols))
        f.write("const holo_kernels one_model_kernels = {sizeof one_model_kernels, list, %d};\n" % len(symbols))
    print(" ".join(names))


if __name__ == "__main__":
    main()
