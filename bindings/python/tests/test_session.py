"""test_session.py - the interfaces of ONNX Runtime and of onnx.backend."""
import os
import pickle
import threading
import time
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


def test_errors_have_their_names(affine, tmp_path):
    session = ort.InferenceSession(affine.SerializeToString())
    with pytest.raises(ort.InvalidArgument):
        session.run(None, {"wrong": np.ones((1, 3), np.float32)})
    with pytest.raises(ort.InvalidArgument, match="x"):
        session.run(None, {"x": np.ones((1, 3), np.int64)})
    with pytest.raises(ort.NoSuchFile, match="missing.onnx"):
        ort.InferenceSession(str(tmp_path / "missing.onnx"))
    with pytest.raises((ort.InvalidProtobuf, ort.InvalidGraph)):
        ort.InferenceSession(b"no model at all")
    unknown = helper.make_graph([helper.make_node("Frobnicate", ["x"], ["y"], name="n1")], "g",
                                list(affine.graph.input), list(affine.graph.output))
    with pytest.raises(ort.NotImplemented, match="n1.*Frobnicate|Frobnicate.*n1"):
        ort.InferenceSession(helper.make_model(unknown, opset_imports=affine.opset_import).SerializeToString())
    error = pickle.loads(pickle.dumps(ort.InvalidArgument(ort.Status.E_ARG, "why")))
    assert isinstance(error, ort.InvalidArgument) and isinstance(error, ort.Error) and str(error) == "why"


def test_other_providers_are_named(affine):
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        session = ort.InferenceSession(affine.SerializeToString(),
                                       providers=["CUDAExecutionProvider", ("CPUExecutionProvider", {})])
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert session.get_provider_options() == {"CPUExecutionProvider": {}}


def test_io_binding(affine):
    session = ort.InferenceSession(affine.SerializeToString())
    x = np.array([[1, -2, 3], [4, 5, 6]], np.float32)
    y = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
    place = y.data_ptr()
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_ortvalue_output("y", y)
    for _ in range(3):
        x += 1
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(y.numpy(), expected(x))
    assert y.data_ptr() == place == binding.get_outputs()[0].data_ptr()
    assert binding.copy_outputs_to_cpu()[0].ctypes.data == place


def test_io_binding_of_pointers(affine):
    session = ort.InferenceSession(affine.SerializeToString())
    x, y = np.array([[1, -2, 3]], np.float32), np.zeros((1, 3), np.float32)
    binding = session.io_binding()
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    session.run_with_iobinding(binding, ort.RunOptions())
    np.testing.assert_array_equal(y, expected(x))
    binding.clear_binding_outputs()
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(binding.get_outputs()[0].numpy(), expected(x))
    for wrong in (np.zeros((1, 2), np.float32), np.zeros((5, 3), np.float32)):
        binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(wrong))
        with pytest.raises(ort.InvalidArgument):
            session.run_with_iobinding(binding)
    binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(np.zeros((1, 3), np.float64)))
    with pytest.raises(ort.InvalidArgument, match="float64.*float32"):
        session.run_with_iobinding(binding)
    with pytest.raises(ort.InvalidArgument, match="cuda"):
        binding.bind_output("y", "cuda")


def test_ort_values(affine):
    session = ort.InferenceSession(affine.SerializeToString())
    x = ort.OrtValue.ortvalue_from_numpy(np.array([[1, -2, 3]], np.float32))
    (y,) = session.run_with_ort_values(None, {"x": x})
    np.testing.assert_array_equal(y.numpy(), expected(x.numpy()))
    assert (y.shape(), y.data_type(), y.device_name(), y.is_tensor()) == ([1, 3], "tensor(float)", "cpu", True)
    x.update_inplace(np.zeros((1, 3), np.float32))
    np.testing.assert_array_equal(session.run(["y"], {"x": x})[0], expected(np.zeros((1, 3), np.float32)))
    with pytest.raises(ort.InvalidArgument, match="1, 2"):
        x.update_inplace(np.zeros((1, 2), np.float32))


def long_model():
    """A product of a matrix with itself, so often that somebody can come in between."""
    value = helper.make_tensor_value_info("x", 1, ["n", "n"])
    names = ["x"] + [f"v{i}" for i in range(400)] + ["y"]
    nodes = [helper.make_node("MatMul", [a, "x"], [b]) for a, b in zip(names, names[1:])]
    graph = helper.make_graph(nodes, "long", [value], [helper.make_tensor_value_info("y", 1, ["n", "n"])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


def wait_for(options):
    """Until a run with these options has begun."""
    while not options._running:
        time.sleep(0)


def test_terminate():
    session = ort.InferenceSession(long_model())
    options = ort.RunOptions()
    feeds = {"x": np.zeros((600, 600), np.float32)}
    thread = threading.Thread(target=lambda: (wait_for(options), setattr(options, "terminate", True)))
    thread.start()
    with pytest.raises(ort.Fail) as caught:
        session.run(None, feeds, options)
    thread.join()
    assert caught.value.status == ort.Status.E_CANCELLED
    with pytest.raises(ort.Fail):  # still set
        session.run(None, feeds, options)
    options.terminate = False
    small = {"x": np.eye(4, dtype=np.float32)}
    np.testing.assert_array_equal(session.run(None, small, options)[0], np.eye(4))


def test_threads_run_meanwhile():
    """A run gives up the interpreter's lock."""
    session = ort.InferenceSession(long_model())
    options = ort.RunOptions()
    steps, done = [], threading.Event()

    def run():
        try:
            session.run(None, {"x": np.zeros((600, 600), np.float32)}, options)
        except ort.Fail:
            pass
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    wait_for(options)
    while not done.is_set() and len(steps) < 100:
        steps.append(time.monotonic())
    was_running = not done.is_set()
    options.terminate = True
    thread.join()
    assert was_running and len(steps) == 100


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
    if not os.path.isdir(os.path.join(os.path.dirname(onnx.backend.test.__file__), "data")):
        pytest.skip("this package of onnx comes without its cases")
    runner = onnx.backend.test.BackendTest(backend.HologramBackend, __name__)
    for pattern in ("add", "matmul_2d", "softmax_axis_0", "sequence_insert_at_back", "nonzero_example", "top_k"):
        runner.include(f"test_{pattern}_cpu")
    result = unittest.TestResult()
    for case in runner.test_cases.values():
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun - len(result.skipped) >= 6
    assert not result.failures + result.errors
