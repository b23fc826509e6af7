"""open.py - what opening a file costs, by size and by number of steps; the rest of a start shown apart."""
import os

import lib

ROUNDS = 5
# Steps and MB of the files that synth.c writes; models that are on this machine come on top.
SYNTHETIC = [(100, 4), (500, 4), (500, 100), (500, 435), (1000, 4), (5000, 4)]


def allowed_us(steps):
    """At most 50 us for 500 steps and 50 ns for each further one."""
    return 50 + 0.05 * max(0, steps - 500)


VERIFY_US = 50  # for 1,000 steps


def verify_tool():
    tool = lib.work_file("verify")
    lib.run(lib.CC, "-std=c11", "-D_GNU_SOURCE", "-O2", "-I" + os.path.join(lib.ROOT, "include"),
            "-I" + os.path.join(lib.ROOT, "src"), os.path.join(lib.ROOT, "bench", "verify.c"),
            os.path.join(lib.BUILD, "libhologram.a"), "-lm", "-lpthread", "-o", tool)
    return tool


def files():
    tool = lib.work_file("synth")
    lib.run(lib.CC, "-std=c11", "-O2", "-I" + os.path.join(lib.ROOT, "include"),
            os.path.join(lib.ROOT, "bench", "synth.c"), os.path.join(lib.BUILD, "libhologram.a"),
            "-lm", "-lpthread", "-o", tool)
    for steps, megabytes in SYNTHETIC:
        path = lib.work_file("synth_%d_%d.holo" % (steps, megabytes))
        lib.run(tool, str(steps), str(megabytes), path)
        yield "synthetic %d MB" % megabytes, path, None
    for name, path, inputs in lib.models():
        yield name, lib.compiled(name, path), inputs


def measure(path, inputs, verify):
    command = [lib.HOLOGRAM, "bench", path, "--json", "--budget-ms", "20"]
    if inputs:
        command += ["--inputs", inputs]
    rounds = [lib.run_json(*command) for _ in range(ROUNDS)]
    middle = {key: sorted(r[key] for r in rounds)[ROUNDS // 2]
              for key in ("session_us", "pool_us", "prepare_us", "first_ms")}
    middle["open_us"] = min(r["open_us"] for r in rounds)
    middle["open_median_us"] = sorted(r["open_us"] for r in rounds)[ROUNDS // 2]
    middle["steps"] = rounds[0]["steps"]
    steps, best, _ = lib.run(verify, path).split()
    middle["verify_us"] = float(best) * 1000 / max(1, int(steps))
    middle["file_mb"] = os.path.getsize(path) / 1e6
    middle["allowed_us"] = allowed_us(middle["steps"])
    return middle


def main():
    results, rows = [], []
    verify = verify_tool()
    for name, path, inputs in files():
        r = measure(path, inputs, verify)
        results.append(dict(r, name=name))
        rows.append([name, "%.1f" % r["file_mb"], r["steps"], "%.1f" % r["open_us"],
                     "%.1f" % r["open_median_us"], "%.0f" % r["allowed_us"],
                     lib.verdict(r["open_us"] <= r["allowed_us"]), "%.1f" % r["verify_us"],
                     lib.verdict(r["verify_us"] <= VERIFY_US), "%.1f" % r["session_us"],
                     "%.1f" % r["pool_us"], "%.1f" % r["prepare_us"],
                     "%.2f" % r["first_ms"]])
    lib.table(["file", "MB", "steps", "open us", "median", "allowed", "kept", "verify us", "kept",
               "session us", "pool us", "prepare us", "first run ms"], rows)
    print("open: the best of %d processes and their median, each the median of nine openings with the "
          "file in the page cache; verify: checking the program alone, for 1,000 steps, at most %d"
          % (ROUNDS, VERIFY_US))
    lib.save("open", results)


main()
