"""test_graph.py - graphs made in Python, the example, and the C declarations that Python repeats."""
import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hologram
from hologram import _library

ROOT = Path(os.environ.get("HOLOGRAM_ROOT") or Path(__file__).resolve().parents[3])


def test_exclusive_or(tmp_path):
    graph = hologram.Graph()
    x = graph.input("x", "float32", ("batch", 2))
    first = graph.constant(np.ones((2, 2), np.float32))
    hidden = graph.node("Relu", graph.node("Gemm", x, first, np.array([0, -1], np.float32), alpha=1.0))
    graph.output(graph.node("MatMul", hidden, np.array([[1], [-2]], np.float32)), "y")
    graph.compile(tmp_path / "xor.holo", numerics="exact")
    model = hologram.open(tmp_path / "xor.holo")
    assert model.run(x=[[0, 0], [0, 1], [1, 0], [1, 1]])["y"].ravel().tolist() == [0, 1, 1, 0]
    assert len(graph.compile()) > 0


def test_integers_that_c_cannot_hold():
    """None of them becomes what its lower bits say."""
    beyond = (1 << 64) + 1
    graph = hologram.Graph()
    x = graph.input("x", "float32", ("n", 2))
    graph.output(graph.node("Relu", x), "y")
    for refused in [
        lambda: graph.compile(dims={"n": beyond}),
        lambda: graph.compile(dims={"n": f"<={beyond}"}),
        lambda: graph.compile(shapes={"x": (beyond, 2)}),
        lambda: graph.node("Softmax", x, axis=beyond),
        lambda: graph.node("Transpose", x, perm=[0, beyond]),
        lambda: hologram.Graph(opset=(1 << 32) + 13),
        lambda: hologram.open(graph.compile(), threads=(1 << 32) + 1),
    ]:
        with pytest.raises(hologram.InvalidArgument, match="expected an integer of"):
            refused()


def test_attributes_and_outputs():
    graph = hologram.Graph()
    x = graph.input("x", np.float32, (None, 4))
    a, b = graph.node("Split", x, None, outputs=2, axis=1, num_outputs=2)
    graph.output(graph.node("Transpose", a, perm=[1, 0]), "a")
    graph.output(graph.node("Cast", b, to=np.int64), "b")
    graph.output(graph.node("ConstantOfShape", np.array([2]), value=np.array([7], np.int16)), "c")
    words = graph.input("w", "string", ("n",))
    graph.output(graph.node("ai.onnx.ml:LabelEncoder", words, keys_strings=["p", "q"], values_floats=[1, 2.5]), "f")
    graph.output(graph.node("StringSplit", words, outputs=2, delimiter="-")[1], "s")
    out = hologram.open(graph.compile()).run(x=[[1, 2, 3, 4]], w=["q", "a-b"])
    assert out["a"].tolist() == [[1], [2]] and out["b"].tolist() == [[3, 4]]
    assert out["c"].tolist() == [7, 7] and out["f"][0] == 2.5 and out["s"].tolist() == [1, 2]


def test_string_constants():
    graph = hologram.Graph()
    x = graph.input("x", "string", ("n",))
    graph.output(graph.node("StringConcat", x, np.array([["é"], ["b\0"]], object)), "y")
    assert hologram.open(graph.compile()).run(x=["p", ""])["y"].tolist() == [["pé", "é"], ["pb\0", "b\0"]]


def test_mistakes():
    graph, other = hologram.Graph(), hologram.Graph()
    x = graph.input("x", "float32", (2,))
    with pytest.raises(hologram.Error, match="another graph"):
        other.node("Relu", x)
    with pytest.raises(hologram.Error, match="'odd'"):
        graph.node("Relu", x, odd=[1, "a"])
    with pytest.raises(hologram.Error, match="no type"):
        graph.input("y", "float33", (2,))
    graph.output(graph.node("Nonesuch", x), "y")
    with pytest.raises(hologram.Error, match="Nonesuch"):
        graph.compile()


def test_example():
    script = ROOT / "examples" / "python" / "run.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "1 xor 0 = 1" in done.stdout


def header():
    path = ROOT / "include" / "hologram.h"
    if not path.exists():
        pytest.skip("the header is not beside the tests")
    return path.read_text()


def test_status_numbers():
    table = re.search(r"HOLO_STATUS_MAP\(X\)(.*?)\n\n", header(), re.S)[1]
    declared = {name: int(number) for name, number in re.findall(r"X\((\w+), (\d+),", table)}
    assert declared == {status.name: status.value for status in hologram.Status}


def test_struct_layouts(tmp_path):
    if not header() or shutil.which("cc") is None:
        pytest.skip("no C compiler")
    lines, found = [], []
    for struct in ctypes.Structure.__subclasses__():
        if struct.__module__ != _library.__name__:
            continue
        lines.append(f'printf("%zu\\n", sizeof({struct.__name__}));')
        found.append(ctypes.sizeof(struct))
        for field, *_ in struct._fields_:
            lines.append(f'printf("%zu\\n", offsetof({struct.__name__}, {field}));')
            found.append(getattr(struct, field).offset)
    source = tmp_path / "layout.c"
    source.write_text("#include <hologram.h>\n#include <stdio.h>\nint main(void) {" + "\n".join(lines) + "}")
    subprocess.run(["cc", source, f"-I{ROOT / 'include'}", "-o", tmp_path / "layout"], check=True)
    printed = subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in printed.split()] == found
