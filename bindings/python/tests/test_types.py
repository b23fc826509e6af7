"""test_types.py - every type of element and container, in and out."""
import numpy as np
import pytest
from conftest import identity
from onnx import TensorProto, helper

import hologram
from hologram import _tensor

PLAIN = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", PLAIN)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0, 3), (2, 3, 4)])
def test_plain(dtype, shape):
    model = identity(dtype, tuple(f"d{i}" for i in range(len(shape))))
    x = (np.arange(np.prod(shape, dtype=int)) % 120).reshape(shape).astype(dtype)
    y = model.run(x=x)["y"]
    assert y.dtype == x.dtype and y.shape == shape and isinstance(y, np.ndarray)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("dtype", sorted(_tensor.NARROW_BY_NAME))
@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_types_numpy_lacks(dtype, count):
    narrow = _tensor.NARROW_BY_NAME[dtype]
    low = -(1 << (narrow.bits - 1)) if narrow.raw.kind == "i" else 0
    x = (np.arange(count) * 5 % (1 << narrow.bits) + low).astype(narrow.raw)
    y = identity(dtype).run(x=x)["y"]
    assert y.dtype == narrow.numpy
    np.testing.assert_array_equal(y.view(narrow.raw), x)


def test_four_bits_mean_what_they_say():
    graph = hologram.Graph()
    x = graph.input("x", "int4", ("n",))
    graph.output(graph.node("Cast", x, to=np.int32), "y")
    model = hologram.open(graph.compile())
    assert model.run(x=np.array([-8, 7, -1, 0, 3], np.int8))["y"].tolist() == [-8, 7, -1, 0, 3]


def test_strings():
    model = identity("string", ("n", "m"))
    x = np.array([["a", ""], ["später", "日本\0x"]], object)
    assert model.run(x=x)["y"].tolist() == x.tolist()
    assert model.run(x=np.array([["u"]]))["y"].tolist() == [["u"]]
    assert model.run(x=np.array([[b"s"]]))["y"].tolist() == [["s"]]
    assert model.run(x=[["list"]])["y"].tolist() == [["list"]]
    assert model.run(x=np.empty((0, 2), object))["y"].shape == (0, 2)
    with pytest.raises(hologram.Error, match="holds int"):
        model.run(x=np.array([[1]], object))


class Exported:
    """An object that only speaks DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack():
    x = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(identity("float32").run(x=Exported(x))["y"], x)


def model_of(node, inputs, outputs):
    graph = helper.make_graph([node], "g", inputs, outputs)
    holo = hologram.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    return hologram.open(holo)


def test_sequences():
    sequence = helper.make_tensor_sequence_value_info
    tensor = helper.make_tensor_value_info
    model = model_of(
        helper.make_node("SequenceInsert", ["s", "x"], ["t"]),
        [sequence("s", TensorProto.FLOAT, None), tensor("x", TensorProto.FLOAT, ["n"])],
        [sequence("t", TensorProto.FLOAT, None)],
    )
    items = [np.ones(2, np.float32), np.zeros((0,), np.float32)]
    out = model.run(s=items, x=np.full(3, 7, np.float32))["t"]
    assert [y.tolist() for y in out] == [[1, 1], [], [7, 7, 7]]
    assert [y.tolist() for y in model.run(s=[], x=[1.5])["t"]] == [[1.5]]
    with pytest.raises(hologram.Error, match="a list is expected"):
        model.run(s=3, x=[1])


def test_optionals():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"]))
    model = model_of(
        helper.make_node("OptionalHasElement", ["o"], ["y"]),
        [helper.make_value_info("o", kind)],
        [helper.make_tensor_value_info("y", TensorProto.BOOL, [])],
    )
    assert not model.run(o=None)["y"] and model.run(o=np.ones(2, np.float32))["y"]


def test_containers_there_and_back():
    keep = []
    for value, dtype in (({1: 2.5, 7: -1.0}, _tensor.MAP), ({"a": 3, "b": 4}, _tensor.MAP),
                         ([{"a": 1.5}], _tensor.SEQUENCE), (None, _tensor.OPTIONAL)):
        tensor = _tensor.holo_tensor()
        _tensor.fill(tensor, value, dtype, keep)
        assert _tensor.read(tensor) == value
