"""run.py - makes a small network, compiles it into a file and runs that file.

    pip install bindings/python
    python examples/python/run.py

It computes "exclusive or" of two numbers, for any batch: x [batch, 2] -> Gemm -> Relu -> MatMul -> y [batch, 1].
For a model that exists already the first function is hologram.compile("model.onnx", "model.holo")."""
import os
import tempfile

import numpy as np

import hologram


def compile_network(path):
    graph = hologram.Graph()
    x = graph.input("x", "float32", ("batch", 2))
    sums = graph.node("Gemm", x, np.ones((2, 2), np.float32), np.array([0, -1], np.float32))  # a + b, a + b - 1
    hidden = graph.node("Relu", sums)
    graph.output(graph.node("MatMul", hidden, np.array([[1], [-2]], np.float32)), "y")
    graph.compile(path)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "xor.holo")
        compile_network(path)
        model = hologram.open(path)
        x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
        y = model.run({"x": x})["y"]
        for (a, b), result in zip(x, y[:, 0]):
            print(f"{a:g} xor {b:g} = {result:g}")


if __name__ == "__main__":
    main()
