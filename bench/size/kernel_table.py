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
        if shared:  # a source for two instruction sets: its arrays have the other's suffix
            with open(os.path.join(root, "src", shared.group(1))) as f:
                text = re.sub(r"^(const hg_kernel hg_kernels_\w+)_avx2\[", r"\1_wasm[", f.read(), flags=re.M)
        for match in re.finditer(r"^const hg_kernel (hg_kernels_\w+)\[\] = \{(.*?)^\};", text, re.S | re.M):
            for name in re.findall(r'\.name = "([^"]+)"', match.group(2)):
                found.setdefault(name, []).append(match.group(1))
    return found


def symbols_of(root, hologram, holo, isas):
    """Names of the kernels of a file, and the arrays that define them."""
    model = json.loads(subprocess.run([hologram, "inspect", holo, "--json"], check=True,
                                      stdout=subprocess.PIPE).stdout)
    names = sorted({k["name"] for g in model["graphs"] for k in g["kernels"]})
    known = arrays(root, isas)
    missing = [n for n in names if n not in known]
    if missing:
        sys.exit("kernel_table: no source defines " + ", ".join(missing))
    return names, sorted({s for n in names for s in known[n]})


def main():
    root, hologram, holo, out = sys.argv[1:5]
    isas = {"x86_64": ["avx2", "avx512"], "aarch64": ["neon"]}.get(os.uname().machine, [])
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
