"""size.py - bytes of code: the whole runtime, and programs that run one model with its kernels only."""
import os
import shutil
import sys

import lib

LIMIT_ALL = 2000000
LIMIT_ONE = 400000


def code_bytes(path):
    """Code and constant data of a linked file: what `size` calls text and data."""
    numbers = lib.run("size", path).split("\n")[1].split()
    return int(numbers[0]) + int(numbers[1])


def stripped(path, name):
    copy = lib.work_file(name)
    shutil.copy(path, copy)
    lib.run("strip", copy)
    return copy


def one_model(name, holo):
    """Links bench/size/one_model.c with the kernels of one model and runs it once."""
    here = os.path.join(lib.ROOT, "bench", "size")
    source, program = lib.work_file("kernels_%s.c" % name), lib.work_file("one_" + name)
    kernels = lib.run(sys.executable, os.path.join(here, "kernel_table.py"), lib.ROOT, lib.HOLOGRAM,
                      holo, source)
    lib.run(lib.CC, "-std=c11", "-O2", "-I" + os.path.join(lib.ROOT, "include"),
            "-I" + os.path.join(lib.ROOT, "src"), os.path.join(here, "one_model.c"), source,
            os.path.join(lib.BUILD, "libhologram_rt.a"), "-lm", "-lpthread", "-Wl,--gc-sections", "-s",
            "-o", program)
    lib.run(program, holo)
    return program, len(kernels.split())


def main():
    results, rows = [], []

    def add(name, kernels, path, limit):
        code, whole = code_bytes(path), os.path.getsize(path)
        results.append({"name": name, "code_bytes": code, "file_bytes": whole, "limit": limit})
        rows.append([name, kernels, "%.1f" % (code / 1e3), "%.1f" % (whole / 1e3), "%d" % (limit / 1e3),
                     lib.verdict(code <= limit)])

    add("libhologram_rt, all kernels", "all",
        stripped(os.path.join(lib.BUILD, "libhologram_rt.so"), "libhologram_rt.so"), LIMIT_ALL)
    for name, path, _ in lib.models():
        program, kernels = one_model(name, lib.compiled(name, path))
        add("program for " + name, kernels, program, LIMIT_ONE)
    lib.table(["what", "kernels", "code kB", "stripped file kB", "allowed", "kept"], rows)
    lib.save("size", results)


main()
