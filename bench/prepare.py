"""prepare.py - what settling new sizes costs, per step: a first size, every next one, and sizes seen before."""
import os

import lib

ALLOWED_NS = 50
# Models whose sizes are open, and the dimension that changes.
SIZES = [("minilm-l6-v2", "sequence_length=16..200"),
         ("ppocrv4-rec", "p2o.DynamicDimension.1=320..400"),
         ("minimind2-small-int8", "past_sequence_length=32..160"),
         ("stories15m", "seq=16..120"),
         ("piper-vits", "phonemes=20..60")]


def main():
    tool = lib.work_file("prepare")
    lib.run(lib.CC, "-std=c11", "-D_GNU_SOURCE", "-O2", "-I" + os.path.join(lib.ROOT, "include"),
            "-I" + os.path.join(lib.ROOT, "src"), os.path.join(lib.ROOT, "bench", "prepare.c"),
            os.path.join(lib.BUILD, "libhologram.a"), "-lm", "-lpthread", "-o", tool)
    results, rows = [], []
    for name, size in SIZES:
        path = lib.real_path(name)
        if not os.path.exists(path):
            continue
        steps, *ns = lib.run(tool, lib.compiled(name, path), size).split()
        first, new, again = ([float(n) for n in ns[i:i + 2]] for i in (0, 2, 4))
        results.append({"name": name, "sizes": size, "steps": int(steps), "first_ns": first, "new_ns": new,
                        "again_ns": again})
        rows.append([name, size, steps] + ["%.0f" % n for n in first + new + again] +
                    [lib.verdict(new[1] <= ALLOWED_NS)])
    lib.table(["model", "sizes", "steps", "first", "median", "new", "median", "again", "median", "kept"], rows)
    print("nanoseconds per step, minimum and median: preparing a new session, each further size, and sizes it has "
          "had; at most %d for a further size" % ALLOWED_NS)
    lib.save("prepare", results)


main()
