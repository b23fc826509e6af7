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


def arrays(root):
    """Kernel name -> arrays that define it: the reference and the tuned variants of this machine."""
    found = {}
    isas = {"x86_64": ["avx2", "avx512"], "aarch64": ["neon"]}.get(os.uname().machine, [])
    paths = glob.glob(os.path.join(root, "src/kernel/*.c"))
    for isa in isas:
        paths += glob.glob(os.path.join(root, "src/backend/cpu", isa, "*.c"))
    for path in sorted(paths):
        with open(path) as f:
            text = f.read()
        for match in re.finditer(r"^const hg_kernel (hg_kernels_\w+)\[\] = \{(.*?)^\};", text, re.S | re.M):
            for name in re.findall(r'\.name = "([^"]+)"', match.group(2)):
                found.setdefault(name, []).append(match.group(1))
    return found


def main():
    root, hologram, holo, out = sys.argv[1:5]
    model = json.loads(subprocess.run([hologram, "inspect", holo, "--json"], check=True,
                                      stdout=subprocess.PIPE).stdout)
    names = sorted({k["name"] for g in model["graphs"] for k in g["kernels"]})
    known = arrays(root)
    missing = [n for n in names if n not in known]
    if missing:
        sys.exit("kernel_table: no source defines " + ", ".join(missing))
    symbols = sorted({s for n in names for s in known[n]})
    with open(out, "w") as f:
        f.write("/* Kernels of one model: %s. */\n#include \"isa/kernel.h\"\n\n" % " ".join(names))
        for s in symbols:
            f.write("extern const hg_kernel %s[];\n" % s)
        f.write("\nstatic const hg_kernel *const list[] = {%s};\n" % ", ".join(symbols))
        f.write("const holo_kernels one_model_kernels = {sizeof one_model_kernels, list, %d};\n" % len(symbols))
    print(" ".join(names))


main()
