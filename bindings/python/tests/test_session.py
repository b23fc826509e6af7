"""test_session.py - the interfaces of ONNX Runtime and of onnx.backend."""
import unittest

import numpy as np
import onnx.backend.test
import pytest
from conftest import expected
from onnx import helper

import hologram
import hologram as ort
from hologram import backend


def check(session):
    x = np.array([[1, -2, 3]], np.float32)
    (y,) = session.run(None, {"x": x})
    np.testing.assert_array_equal(y, expected(x))
    np.testing.assert_array_equal(session.run(["y"], {session.get_inputs()[0].name: x})[0], y)


def test_one_import_line(affine, affine_path, tmp_path):
    hologram.compile(affine_path, tmp_path / "m.holo")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    for source in (str(affine_path), affine.SerializeToString(), str(tmp_path / "m.holo")):
        check(ort.InferenceSession(source, options, providers=["CPUExecutionProvider"]))
        check(ort.InferenceSession(source))


def test_description(affine):
    session = ort.InferenceSession(affine.SerializeToString())
    (x,), (y,) = session.get_inputs(), session.get_outputs()
    assert (x.name, x.shape, x.type) == ("x", ["batch", 3], "tensor(float)")
    assert (y.name, y.shape, y.type) == ("y", ["batch", 3], "tensor(float)")
    meta = session.get_modelmeta()
    assert meta.producer_name == "tests" and meta.description == "two x plus one"
    assert meta.custom_metadata_map["license"] == "none"
    assert session.get_providers() == ort.get_available_providers() == ["CPUExecutionProvider"]
    assert ort.get_device() == "CPU"


def test_free_dimensions(affine):
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("batch", 5)
    session = ort.InferenceSession(affine.SerializeToString(), options)
    assert session.get_inputs()[0].shape == [5, 3]


def test_unknown_output(affine):
    with pytest.raises(hologram.Error, match="no output 'z'"):
        ort.InferenceSession(affine.SerializeToString()).run(["z"], {"x": np.ones((1, 3), np.float32)})


def test_backend(affine):
    x = np.array([[1, -2, 3]], np.float32)
    rep = backend.prepare(affine, "CPU")
    np.testing.assert_array_equal(rep.run([x])[0], expected(x))
    np.testing.assert_array_equal(rep.run(x)["y"], expected(x))
    np.testing.assert_array_equal(backend.run_model(affine, [x]).y, expected(x))
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA:0")


def test_backend_node():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    node = helper.make_node("Clip", ["x", "", "top"], ["y"])
    (y,) = backend.run_node(node, [x, np.float32(4)])
    np.testing.assert_array_equal(y, np.minimum(x, 4))
    parts = backend.run_node(helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0), [[x, x]])
    assert parts[0].shape == (4, 3)


def test_official_runner(monkeypatch):
    """The official runner drives the backend; `./dev test conformance` runs its whole suite."""
    monkeypatch.setattr(np, "object", object, raising=False)  # runners before onnx 1.13 use it, numpy dropped it
    runner = onnx.backend.test.BackendTest(backend.HologramBackend, __name__)
    for pattern in ("add", "matmul_2d", "softmax_axis_0", "sequence_insert_at_back", "nonzero_example", "top_k"):
        runner.include(f"test_{pattern}_cpu")
    result = unittest.TestResult()
    for case in runner.test_cases.values():
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun - len(result.skipped) >= 6
    assert not result.failures + result.errors
