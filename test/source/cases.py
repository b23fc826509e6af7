"""cases.py HOLOGRAM FOLDER [FILTER] - the cases of the ONNX backend suite as C: each model is written by `hologram compile
--emit-c`, compiled by cc, called with the inputs of the suite and judged by its outputs. Models without C get a sentence that
names a node. Prints how many have C; ends with "N passed, N failed". Needs numpy and onnx."""
import collections
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import numpy_helper

BATCH = 60
RTOL, ATOL = 1e-3, 1e-7
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"}
HEAD = """#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *get(const char *path, size_t size)
{
    void *p = calloc(1, size + 1);
    FILE *f = fopen(path, "rb");
    if (p == NULL || f == NULL || fread(p, 1, size, f) != size) exit(3);
    fclose(f);
    return p;
}
static void put(const char *path, const void *p, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(p, 1, size, f) != size) exit(3);
    fclose(f);
}
"""


class Case:
    def __init__(self, folder, number):
        self.folder, self.name = folder, "case_%d" % number
        self.title = os.path.basename(folder)
        self.complaint = None

    def operators(self):
        return {node.op_type for node in onnx.load(os.path.join(self.folder, "model.onnx")).graph.node}

    def sets(self):
        at = 0
        while os.path.isdir(os.path.join(self.folder, "test_data_set_%d" % at)):
            yield os.path.join(self.folder, "test_data_set_%d" % at)
            at += 1


def cases_of(folder, pattern):
    found = sorted(os.path.dirname(path) for path in walk(folder) if os.path.basename(path) == "model.onnx")
    return [Case(path, i) for i, path in enumerate(found) if pattern in os.path.basename(path)]


def walk(folder):
    for at, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(at, name)


def emit(hologram, case, work):
    """The name of the C file, or None with the sentence in case.complaint."""
    source = os.path.join(work, case.name + ".c")
    done = subprocess.run([hologram, "compile", "-q", "--numerics", "exact", os.path.join(case.folder, "model.onnx"),
                           "--emit-c", source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return source
    case.complaint = done.stdout.strip()
    return None


FLOAT8 = (17, 18, 19, 20, 24)  # which older versions of onnx cannot read


def tensor_of(path):
    """The array in a file of the suite, float8 as bytes; None for sequences, optional values and strings."""
    tensor = onnx.TensorProto()
    with open(path, "rb") as f:
        tensor.ParseFromString(f.read())
    if tensor.data_type in FLOAT8:
        data = numpy.frombuffer(tensor.raw_data, "u1") if tensor.raw_data else numpy.array(tensor.int32_data, "u1")
        return data.reshape(tuple(tensor.dims))
    try:
        return numpy_helper.to_array(tensor)
    except (TypeError, ValueError, KeyError):
        return None


def arguments(source, name):
    """[(is output, count)] of the function, in order, from its declaration."""
    with open(source) as f:
        head = re.search(r"^int %s\((.*)\);$" % name, f.read(), re.M).group(1)
    return [(not part.strip().startswith("const "), part) for part in head.split(", ")], head


def bytes_of(part):
    kind = re.sub(r"^const ", "", part.strip()).split(" ")[0]
    size = {"float": 4, "double": 8, "bool": 1}.get(kind) or int(re.search(r"\d+", kind).group()) // 8
    return size * int(re.search(r"\[(\d+)\]$", part).group(1))


def driver(case, source, work):
    """C that runs every data set of a case."""
    parts, head = arguments(source, case.name)
    lines = ["int %s(%s);" % (case.name, head), "static int run_%s(void)\n{\n    int code = 0;" % case.name]
    for number, folder in enumerate(case.sets()):
        stem = os.path.join(work, "%s_%d" % (case.name, number))
        names, at = [], [0, 0]
        for is_output, part in parts:
            size, k = bytes_of(part), at[is_output]
            at[is_output] += 1
            names.append("%s%d_%d" % ("y" if is_output else "x", number, k))
            if is_output:
                lines.append("    void *%s = calloc(1, %d);" % (names[-1], size + 1))
                continue
            path = os.path.join(folder, "input_%d.pb" % k)
            array = tensor_of(path) if os.path.exists(path) else None
            if array is None or array.nbytes > size:
                return None
            array.tofile("%s.x%d" % (stem, k))
            lines.append('    void *%s = get("%s.x%d", %d);' % (names[-1], stem, k, array.nbytes))
        lines.append("    code |= %s(%s);" % (case.name, ", ".join(names)))
        for name, (is_output, part) in zip(names, parts):
            if is_output:
                lines.append('    put("%s.y%s", %s, %d);' % (stem, name.split("_")[1], name, bytes_of(part)))
            lines.append("    free(%s);" % name)
    return "\n".join(lines + ["    return code;\n}\n"])


def judge(case, work):
    """None, or what is wrong with what the program wrote."""
    is_random = bool(case.operators() & RANDOM)
    for number, folder in enumerate(case.sets()):
        k = 0
        while os.path.exists(os.path.join(folder, "output_%d.pb" % k)):
            expected = tensor_of(os.path.join(folder, "output_%d.pb" % k))
            if expected is None:
                return "an output of the suite cannot be read"
            actual = numpy.fromfile(os.path.join(work, "%s_%d.y%d" % (case.name, number, k)), dtype=expected.dtype)
            actual = actual[:expected.size].reshape(expected.shape)
            if is_random:
                pass
            elif expected.dtype.kind in "fc":
                if not numpy.allclose(actual.astype("c16"), expected.astype("c16"), RTOL, ATOL, equal_nan=True):
                    return "output %d differs" % k
            elif expected.dtype.kind == "V":
                if actual.tobytes() != expected.tobytes():
                    return "output %d differs" % k
            elif not numpy.array_equal(actual, expected):
                return "output %d differs" % k
            k += 1
    return None


def run_batch(batch, work):
    """Compiles and runs some cases as one program; a crash ends only the case that did it."""
    program = os.path.join(work, "program")
    with open(program + ".c", "w") as f:
        f.write(HEAD + "".join(text for _, _, text in batch))
        f.write("int main(int n, char **v)\n{\n    (void)n;\n")
        for case, _, _ in batch:
            f.write('    if (strcmp(v[1], "%s") == 0) return run_%s();\n' % (case.name, case.name))
        f.write("    return 4;\n}\n")
    sources = [source for _, source, _ in batch]
    done = subprocess.run(["cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, program + ".c"] + sources +
                          ["-lm"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 and len(batch) > 1:
        half = len(batch) // 2
        return run_batch(batch[:half], work) + run_batch(batch[half:], work)
    if done.returncode != 0:
        return [(batch[0][0], "does not compile: " + done.stdout.strip()[:600])]
    failures = []
    for case, _, _ in batch:
        code = subprocess.run([program, case.name]).returncode
        why = "returned %d" % code if code != 0 else judge(case, work)
        if why is not None:
            failures.append((case, why))
    return failures


def main():
    hologram, folder = sys.argv[1:3]
    cases = cases_of(folder, sys.argv[3] if len(sys.argv) > 3 else "")
    reasons, failures, ready = collections.Counter(), [], []
    with tempfile.TemporaryDirectory() as work:
        for case in cases:
            source = emit(hologram, case, work)
            if source is None:
                last = case.complaint.split("\n")[-1]
                reasons[re.sub(r"\(.*?\)|'[^']*'|\d+", "", last.split("as C: ")[-1])[:90]] += 1
                if "'" not in last:
                    failures.append((case, "the sentence names nothing: " + last))
                continue
            text = driver(case, source, work)
            if text is None:
                reasons["(inputs of the suite are no tensors)"] += 1
                continue
            ready.append((case, source, text))
        for at in range(0, len(ready), BATCH):
            failures += run_batch(ready[at:at + BATCH], work)
    for reason, count in reasons.most_common():
        print("%5d  %s" % (count, reason))
    for case, why in failures:
        print("FAIL %s: %s" % (case.title, why))
    static = len(ready) + sum(count for reason, count in reasons.items() if "no C for it" in reason or "pool: " in reason)
    print("%d of %d models as C; %d of them have fixed sizes and types that C has" % (len(ready), len(cases), static))
    print("%d passed, %d failed" % (len(cases) - len(failures), len(failures)))
    sys.exit(1 if failures else 0)


main()
