"""same.py - the same bits with 1, 2 and 4 threads, in repeated runs, of every model that is here.

    same.py [--runs N] [MODEL...]

Ends with "N passed, N failed"; models that draw random numbers are not judged."""
import argparse
import subprocess

import lib
from accuracy import draws


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    passed = failed = 0
    for name, path, inputs in lib.models(options.model, lib.REAL + lib.MORE_REAL, lib.FILLED + lib.MORE_FILLED):
        if draws(path):
            print("     %s: draws random numbers" % name)
            continue
        done = subprocess.run([lib.HOLOGRAM, "bench", lib.compiled(name, path), "--inputs", inputs, "--same",
                               str(options.runs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        good = done.returncode == 0
        passed, failed = passed + good, failed + (not good)
        print("%s %s: %s" % ("PASS" if good else "FAIL", name, (done.stdout if good else done.stderr).strip()),
              flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
