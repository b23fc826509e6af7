"""compile.py - time and peak resident memory of compiling. Allowed: the model's size + 25 % + 64 MB; 10 s for
bert-base."""
import os

import lib


def main():
    results, rows = [], []
    lib.get_models()
    for name, path, _ in lib.models():
        size = os.path.getsize(path) / 1e6
        out = lib.work_file("compile_test.holo")
        rounds = [lib.run_measured(lib.HOLOGRAM, "compile", "-q", path, "-o", out) for _ in range(3)]
        seconds = min(r[0] for r in rounds)
        peak = max(r[1] for r in rounds) * 1.048576
        allowed = size * 1.25 + 64
        good = peak <= allowed and seconds <= 10
        results.append({"name": name, "model_mb": size, "file_mb": os.path.getsize(out) / 1e6,
                        "seconds": seconds, "peak_mb": peak, "allowed_mb": allowed, "kept": good})
        rows.append([name, "%.1f" % size, "%.1f" % results[-1]["file_mb"], "%.2f" % seconds,
                     "%.0f" % peak, "%.0f" % allowed, lib.verdict(good)])
        os.remove(out)
    lib.table(["model", "MB", ".holo MB", "seconds", "peak MB", "allowed MB", "kept"], rows)
    lib.save("compile", results)


main()
