"""test_model.py - compile, open and run; errors, threads, forks."""
import gc
import os
import pickle
import threading
import time

import numpy as np
import pytest
from conftest import expected, identity

import hologram


def test_compile_open_run(affine_path, tmp_path):
    holo = tmp_path / "affine.holo"
    assert hologram.compile(affine_path, holo) is None
    model = hologram.open(holo)
    x = np.array([[1, -2, 3], [0, 0.5, -1]], np.float32)
    np.testing.assert_array_equal(model.run({"x": x})["y"], expected(x))
    np.testing.assert_array_equal(model.run([x])["y"], expected(x))
    np.testing.assert_array_equal(model.run(x=x[:1])["y"], expected(x[:1]))
    assert model.inputs == (hologram.Port("x", "float32", ("batch", 3)),)
    assert model.metadata["license"] == "none"
    assert "affine" in repr(model)


def test_in_memory(affine, affine_path):
    holo = hologram.compile(affine)
    assert bytes(holo) == bytes(hologram.compile(affine.SerializeToString()))
    unaligned = memoryview(b"x" + bytes(holo))[1:]
    for source in (holo, bytes(holo), bytearray(holo), unaligned):
        assert hologram.open(source).run(x=[[1, 1, 1]])["y"].tolist() == [[3, 3, 3]]


def test_memory_outlives_its_names(affine):
    model = hologram.open(hologram.compile(affine))
    gc.collect()
    y = model.run(x=np.ones((1000, 3), np.float32))["y"]
    del model
    gc.collect()
    y += 1
    assert (y == 4).all() and y.flags.writeable


def test_outputs_are_independent(affine):
    model = hologram.open(hologram.compile(affine))
    first = model.run(x=np.ones((2, 3), np.float32))["y"]
    second = model.run(x=np.zeros((2, 3), np.float32))["y"]
    assert (first == 3).all() and (second == 1).all()


def test_options(affine, tmp_path):
    model = hologram.open(hologram.compile(affine, dims={"batch": 2}, numerics="exact"))
    assert model.inputs[0].shape == (2, 3)
    model = hologram.open(hologram.compile(affine, shapes={"x": (4, 3)}, optimize=False))
    assert model.inputs[0].shape == (4, 3)
    out = tmp_path / "m.holo"
    hologram.compile(affine, out, dims={"batch": "<=8"})
    assert os.listdir(tmp_path) == ["m.holo"]
    with pytest.raises(hologram.Error, match="expected 2"):
        hologram.open(hologram.compile(affine, dims={"batch": 2})).run(x=np.ones((3, 3), np.float32))


def test_several_graphs(affine_path, tmp_path):
    second = tmp_path / "second.onnx"
    second.write_bytes(affine_path.read_bytes())
    hologram.compile([affine_path, second], tmp_path / "both.holo")
    assert hologram.open(tmp_path / "both.holo", graph=1).name == "second"
    with pytest.raises(hologram.Error, match="graph 2 was asked for"):
        hologram.open(tmp_path / "both.holo", graph=2)


X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    "feeds, status, sentence",
    [
        ({}, "E_STATE", "input 'x' was not given"),
        ({"z": X, "x": X}, "E_ARG", "no input 'z'"),
        ([X, X], "E_ARG", "2 inputs were given"),
        ({"x": X.astype(np.float64)}, "E_TYPE", "float64, expected float32"),
        ({"x": X[0]}, "E_SHAPE", "rank 1, expected 2"),
        ({"x": X.T}, "E_SHAPE", "2 in dimension 1, expected 3"),
        ({"x": X.reshape((1,) * 7 + (2, 3))}, "E_SHAPE", "9 dimensions"),
        ({"x": np.zeros(3, "datetime64[s]")}, "E_TYPE", "no counterpart"),
        ({"x": [["a", "b", "c"]]}, "E_TYPE", "input 'x'"),
        ({"x": object()}, "E_TYPE", "input 'x'"),
    ],
)
def test_wrong_inputs(affine, feeds, status, sentence):
    model = hologram.open(hologram.compile(affine))
    with pytest.raises(hologram.Error, match=sentence) as caught:
        model.run(feeds)
    assert caught.value.status == hologram.Status[status]
    assert (model.run(x=X)["y"] == 3).all()


def test_wrong_files(tmp_path, affine):
    bad = tmp_path / "bad"
    bad.write_bytes(b"HOLO" * 100)
    for attempt in (
        lambda: hologram.open(tmp_path / "absent"),
        lambda: hologram.open(bad),
        lambda: hologram.open(b""),
        lambda: hologram.open(3.5),
        lambda: hologram.compile(bad),
        lambda: hologram.compile(b"no model"),
        lambda: hologram.compile(affine, tmp_path / "out", dims={"absent": 1}),
        lambda: hologram.compile(affine, dims={"batch": "many"}),
        lambda: hologram.compile(affine, numerics="odd"),
        lambda: hologram.open(str(bad) + "\0.holo"),
        lambda: hologram.compile(affine, dims={"batch\0": 1}),
        lambda: hologram.InferenceSession(str(tmp_path / "absent")),
    ):
        with pytest.raises(hologram.Error) as caught:
            attempt()
        assert caught.value.status != hologram.Status.OK and str(caught.value)
    assert os.listdir(tmp_path) == ["bad"]


def test_error_pickles():
    error = pickle.loads(pickle.dumps(hologram.Error(10, "no")))
    assert error.status == hologram.Status.E_SHAPE and str(error) == "no"


def test_data_fault_leaves_the_model_usable():
    graph = hologram.Graph()
    index = graph.input("i", "int64", (1,))
    graph.output(graph.node("Gather", np.arange(3, dtype=np.float32), index), "y")
    model = hologram.open(graph.compile())
    with pytest.raises(hologram.Error, match="7") as caught:
        model.run(i=[7])
    assert caught.value.status == hologram.Status.E_DATA
    assert model.run(i=[2])["y"] == 2


def test_sizes_known_only_after_the_run():
    graph = hologram.Graph()
    graph.output(graph.node("NonZero", graph.input("x", "float32", ("n",))), "y")
    model = hologram.open(graph.compile())
    for n in (0, 1, 5000):
        assert model.run(x=np.ones(n, np.float32))["y"].tolist() == [list(range(n))]


def test_threads_share_a_model(affine):
    model = hologram.open(hologram.compile(affine), threads=2)
    wrong = []

    def work(value):
        x = np.full((value + 1, 3), value, np.float32)
        for _ in range(200):
            if not (model.run(x=x)["y"] == 2 * value + 1).all():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def ticks_during(run):
    """How often this thread got its turn while another one was busy with `run`."""
    ticks = []
    runner = threading.Thread(target=lambda: (run(), ticks.append("done")))
    runner.start()
    while "done" not in ticks and runner.is_alive():
        ticks.append(0)
        time.sleep(0.001)
    runner.join()
    return len(ticks)


def test_other_threads_run_meanwhile():
    graph = hologram.Graph()
    x = graph.input("x", "float32", ("n", "n"))
    graph.output(graph.node("MatMul", x, graph.node("MatMul", x, x)), "y")
    model = hologram.open(graph.compile(), threads=1)
    x = np.ones((1200, 1200), np.float32)
    # If the run kept the interpreter's lock there would be two or three; a busy machine may need several attempts.
    assert any(ticks_during(lambda: model.run(x=x)) > 5 for _ in range(5))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_runs(affine):
    model = hologram.open(hologram.compile(affine), threads=2)
    x = np.ones((200000, 3), np.float32)
    model.run(x=x)
    child = os.fork()
    if child == 0:
        os._exit(0 if (model.run(x=x)["y"] == 3).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_no_copy_in():
    model = identity("float32")
    x = np.arange(8, dtype=np.float32)
    for view in (x[::2], x[::-1], x.astype(">f4"), np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1)):
        np.testing.assert_array_equal(model.run(x=view)["y"], view)
    y = model.run(x=x)["y"]
    y[0] = 9
    assert x[0] == 0


def test_models_are_freed(affine):
    holo = bytes(hologram.compile(affine))
    x = np.ones((100000, 3), np.float32)

    def pages():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("no /proc")
    for i in range(60):
        hologram.open(holo, threads=1).run(x=x)
        hologram.compile(affine)
        if i == 10:
            before = pages()
    assert pages() - before < 2000  # pages of 4 KiB; one result has 300
