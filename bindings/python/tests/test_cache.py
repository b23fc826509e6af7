"""test_cache.py - keys and values that grow in place, against numpy."""
import numpy as np
import pytest

import hologram


def decoder():
    """y = softmax(q K') V, with K and V continued by k and v."""
    graph = hologram.Graph()
    q, k, v = (graph.input(name, "float32", ("b", 2, "n", 4)) for name in "qkv")
    old = [graph.input(name, "float32", ("b", 2, "p", 4)) for name in ("old_k", "old_v")]
    keys, values = (graph.node("Concat", a, b, axis=2) for a, b in zip(old, (k, v)))
    scores = graph.node("MatMul", q, graph.node("Transpose", keys, perm=[0, 1, 3, 2]))
    graph.output(graph.node("MatMul", graph.node("Softmax", scores), values), "y")
    graph.output(keys, "new_k")
    graph.output(values, "new_v")
    return hologram.open(graph.compile(), threads=1)


def attend(q, k, v):
    scores = np.exp(np.einsum("bhnd,bhkd->bhnk", q, k, dtype=np.float64))
    return np.einsum("bhnk,bhkd->bhnd", scores / scores.sum(-1, keepdims=True), v)


def test_grows_in_place():
    model, random = decoder(), np.random.default_rng(1)
    caches = [hologram.Cache(np.full((1, 2, 16, 4), np.nan, np.float32), name) for name in ("new_k", "new_v")]
    k, v = (random.standard_normal((1, 2, 12, 4)).astype(np.float32) for _ in range(2))
    for first, last in ((0, 3), (3, 4), (4, 5), (5, 12)):
        q = random.standard_normal((1, 2, last - first, 4)).astype(np.float32)
        out = model.run(q=q, k=k[:, :, first:last], v=v[:, :, first:last], old_k=caches[0], old_v=caches[1])
        np.testing.assert_allclose(out["y"], attend(q, k[:, :, :last], v[:, :, :last]), rtol=1e-5, atol=1e-6)
        assert caches[0].length == caches[1].length == last
        assert np.shares_memory(out["new_k"], caches[0].array)
        np.testing.assert_array_equal(out["new_k"], k[:, :, :last])
        np.testing.assert_array_equal(caches[1].rows(), v[:, :, :last])
    out = model.run(q=k, k=k, v=v, old_k=k[:, :, :0], old_v=v[:, :, :0])  # the same session without caches
    np.testing.assert_array_equal(out["new_v"], v)


def test_says_what_does_not_fit():
    model = decoder()
    row = np.ones((1, 2, 1, 4), np.float32)
    full = [hologram.Cache(np.ones((1, 2, 3, 4), np.float32), name, length=3) for name in ("new_k", "new_v")]
    with pytest.raises(hologram.Error, match="its cache has 3"):
        model.run(q=row, k=row, v=row, old_k=full[0], old_v=full[1])
    with pytest.raises(hologram.Error, match="no output 'other'"):
        model.run(q=row, k=row, v=row, old_k=hologram.Cache(full[0].array, "other"), old_v=row)
    with pytest.raises(hologram.Error, match="contiguous"):
        hologram.Cache(np.ones((4, 3, 2, 1), np.float32).T, "new_k")
    with pytest.raises(hologram.Error, match="float64"):
        model.run(q=row, k=row, v=row, old_k=hologram.Cache(np.ones((1, 2, 3, 4)), "new_k"), old_v=row)
