"""conftest.py - small models that the tests share."""
import numpy as np
import pytest
from onnx import TensorProto, helper

import hologram


@pytest.fixture
def affine():
    """y = relu(2 x + 1) for any batch, as an onnx.ModelProto with metadata."""
    shape = ["batch", 3]
    nodes = [
        helper.make_node("Mul", ["x", "two"], ["a"]),
        helper.make_node("Add", ["a", "one"], ["b"]),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    constants = [
        helper.make_tensor("two", TensorProto.FLOAT, [], [2.0]),
        helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
    ]
    graph = helper.make_graph(
        nodes,
        "affine",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="tests")
    model.doc_string = "two x plus one"
    model.metadata_props.add(key="license", value="none")
    return model


@pytest.fixture
def affine_path(affine, tmp_path):
    path = tmp_path / "affine.onnx"
    path.write_bytes(affine.SerializeToString())
    return path


def expected(x):
    return np.maximum(2 * np.asarray(x, np.float64) + 1, 0).astype(np.float32)


def identity(dtype, shape=("n",)):
    """A model that gives back what it takes."""
    graph = hologram.Graph()
    graph.output(graph.node("Identity", graph.input("x", dtype, shape)), "y")
    return hologram.open(graph.compile(), threads=1)
