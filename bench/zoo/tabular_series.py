"""tabular_series.py - series of numbers and tables of other forms: forecasts, sparse masks, several tasks, graphs with
distances, trees with missing values."""
import numpy

from graph import model, variants
from recurrent import recurrent
from tabular import ML, fields, tower, tree
from text import attend


def basis_stacks(g, rows):
    """Blocks that explain a part of the series and hand on the rest; what they foresee is added up."""
    x, total = g.input("series", [("rows", rows), 120]), None
    for _ in range(6):
        h = tower(g, x, [120, 256, 256, 256])
        back = g.op("MatMul", g.linear(h, 256, 8, False), g.weight(8, 120, fan=8))
        ahead = g.op("MatMul", g.linear(h, 256, 8, False), g.weight(8, 24, fan=8))
        x = g.op("Sub", x, back)
        total = g.add(total, ahead) if total else ahead
    g.output(total)


variants(basis_stacks, basis_stacks_1=(1,), basis_stacks_64=(64,))


@model
def patches(g):
    """Seven series each for itself: mean and deviation taken off, patches that overlap as tokens, layers with batch
    norms over transposes, and the deviation put back."""
    series, length, size, count, width = 7, 336, 16, 42, 128
    x = g.input("x", [1, length, series])
    mean = g.op("ReduceMean", x, axes=[1], keepdims=1)
    off = g.op("Sub", x, mean)
    spread = g.op("Sqrt", g.add(g.op("ReduceMean", g.mul(off, off), axes=[1], keepdims=1), g.const(1e-5)))
    x = g.transpose(g.op("Div", off, spread), 0, 2, 1)
    x = g.op("Pad", x, g.ints(0, 0, 0, 0, 0, 8), mode="edge")
    at = (8 * numpy.arange(count)[:, None] + numpy.arange(size)[None]).astype("int64")
    x = g.reshape(g.op("Gather", x, g.const(at, "int64"), axis=2), series, count, size)
    x = g.add(g.linear(x, size, width), g.weight(count, width, fan=9))
    norm = lambda x: g.transpose(g.batchnorm(g.transpose(x, 0, 2, 1), width), 0, 2, 1)
    for _ in range(3):
        q, k, v = (g.transpose(g.reshape(g.linear(x, width, width), series, count, 8, 16), 0, 2, 1, 3)
                   for _ in range(3))
        own = g.reshape(g.transpose(attend(g, q, k, v, 16), 0, 2, 1, 3), series, count, width)
        x = norm(g.add(x, g.linear(own, width, width)))
        x = norm(g.add(x, g.linear(g.gelu(g.linear(x, width, 2 * width)), 2 * width, width)))
    x = g.reshape(g.transpose(x, 0, 2, 1), series, width * count)
    x = g.transpose(g.reshape(g.linear(x, width * count, 96), 1, series, 96), 0, 2, 1)
    g.output(g.add(g.mul(x, spread), mean))


@model
def sparse_queries(g):
    """Only the queries that stand out look at all keys, the others get the mean; what they see is scattered back;
    half the length after each layer."""
    length, width, count, size, chosen = 96, 128, 4, 32, 24
    x = g.linear(g.input("x", [1, length, 7]), 7, width)
    for i in range(2):
        q, k, v = (g.transpose(g.reshape(g.linear(x, width, width), 1, length, count, size), 0, 2, 1, 3)
                   for _ in range(3))
        sample = g.op("Gather", k, g.const(g.random.integers(0, length, (length, chosen)), "int64"), axis=2)
        near = g.op("MatMul", g.unsqueeze(q, 3), g.transpose(sample, 0, 1, 2, 4, 3))
        near = g.op("Squeeze", near, g.ints(3))
        spread = g.op("Sub", g.op("ReduceMax", near, axes=[3], keepdims=0),
                      g.op("Div", g.op("ReduceSum", near, g.ints(3), keepdims=0), g.const(float(length))))
        _, top = g.op("TopK", spread, g.ints(chosen), outs=2, axis=2, sorted=0)
        at = g.op("Expand", g.unsqueeze(top, 3), g.ints(1, count, chosen, size))
        seen = attend(g, g.op("GatherElements", q, at, axis=2), k, v, size)
        mean = g.op("Expand", g.op("ReduceMean", v, axes=[2], keepdims=1), g.ints(1, count, length, size))
        own = g.op("ScatterElements", mean, at, seen, axis=2)
        own = g.reshape(g.transpose(own, 0, 2, 1, 3), 1, length, width)
        x = g.layernorm(g.add(x, g.linear(own, width, width)), width)
        y = g.transpose(x, 0, 2, 1)
        y = g.conv(g.gelu(g.conv(y, width, 4 * width, [1])), 4 * width, width, [1])
        x = g.layernorm(g.add(x, g.transpose(y, 0, 2, 1)), width)
        y = g.transpose(x, 0, 2, 1)
        y = g.concat(g.slice(y, -1, 2 ** 62, 2), y, g.slice(y, 0, 1, 2), axis=2)
        y = g.op("Elu", g.batchnorm(g.conv(y, width, width, [3], pad=0), width))
        y = g.op("MaxPool", y, kernel_shape=[3], strides=[2], pads=[1, 1])
        x, length = g.transpose(y, 0, 2, 1), length // 2
    g.output(g.linear(g.layernorm(x, width), width, 7))


@model
def season_and_trend(g):
    """A moving mean splits the series; delays that fit best are found by a transform, and values rolled by them."""
    length, width = 96, 128
    x = g.linear(g.input("x", [1, length, 7]), 7, width)

    def split(x):
        ends = [g.op("Expand", g.slice(x, *cut, 1), g.ints(1, 12, width)) for cut in ((0, 1), (-1, 2 ** 62))]
        y = g.transpose(g.concat(ends[0], x, ends[1], axis=1), 0, 2, 1)
        trend = g.transpose(g.op("AveragePool", y, kernel_shape=[25], strides=[1]), 0, 2, 1)
        return g.op("Sub", x, trend), trend

    total = None
    for _ in range(2):
        q, k, v = (g.linear(x, width, width) for _ in range(3))
        qf, kf = (g.op("DFT", g.unsqueeze(g.transpose(y, 0, 2, 1), 3), axis=2) for y in (q, k))
        qr, qi, kr, ki = (g.slice(y, i, i + 1, 3) for y in (qf, kf) for i in range(2))
        both = g.concat(g.add(g.mul(qr, kr), g.mul(qi, ki)), g.op("Sub", g.mul(qi, kr), g.mul(qr, ki)), axis=3)
        fit = g.op("DFT", both, axis=2, inverse=1)
        fit = g.op("ReduceMean", g.op("Squeeze", g.slice(fit, 0, 1, 3), g.ints(3)), axes=[0, 1], keepdims=0)
        best, delay = g.op("TopK", fit, g.ints(4), outs=2, axis=0)
        odds = g.op("Softmax", best, axis=0)
        twice, own = g.concat(v, v, axis=1), None
        place = g.const(numpy.arange(length), "int64")
        for i in range(4):
            at = g.add(place, g.op("Gather", delay, g.ints(i), axis=0))
            part = g.mul(g.op("Gather", twice, at, axis=1), g.op("Gather", odds, g.ints(i), axis=0))
            own = g.add(own, part) if own else part
        x, trend = split(g.add(x, g.linear(own, width, width)))
        y = g.linear(g.gelu(g.linear(x, width, 4 * width, False)), 4 * width, width, False)
        x, more = split(g.add(x, y))
        trend = g.add(trend, more)
        total = g.add(total, trend) if total else trend
    g.output(g.linear(g.add(x, total), width, 7))


@model
def chosen_variables(g):
    """Eight variables, each through a gated residual, weighed by a softmax; an LSTM; attention with one head of values
    for all; quantiles."""
    length, width, count = 72, 64, 8
    x = g.input("x", [1, length, count])

    def gated(y, before, after, axis=-1):
        h = g.linear(g.op("Elu", g.linear(y, before, width)), width, width)
        a, b = g.split(g.linear(h, width, 2 * after), after, after, axis=axis)
        skip = y if before == after else g.linear(y, before, after)
        return g.layernorm(g.add(skip, g.mul(a, g.op("Sigmoid", b))), after)

    def gate(y, skip):
        a, b = g.split(g.linear(y, width, 2 * width), width, width, axis=-1)
        return g.layernorm(g.add(g.mul(a, g.op("Sigmoid", b)), skip), width)

    parts = [g.linear(part, 1, width) for part in g.split(x, *[1] * count, axis=2)]
    weights = g.op("Softmax", gated(g.concat(*parts, axis=2), count * width, count), axis=-1)
    made = g.concat(*[g.unsqueeze(gated(part, width, width), 3) for part in parts], axis=3)
    x = g.op("ReduceSum", g.mul(made, g.unsqueeze(weights, 2)), g.ints(3), keepdims=0)
    y, _ = recurrent(g, "LSTM", g.transpose(x, 1, 0, 2), width, width, 1)
    x = gate(g.transpose(g.op("Squeeze", y, g.ints(1)), 1, 0, 2), x)
    h = gated(x, width, width)
    v, seen = g.linear(h, width, 16, False), None
    later = g.const(numpy.triu(numpy.full((1, length, length), -1e9), 1))
    for _ in range(4):
        q, k = (g.linear(h, width, 16, False) for _ in range(2))
        scores = g.add(g.op("Div", g.op("MatMul", q, g.transpose(k, 0, 2, 1)), g.const(4.0)), later)
        part = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        seen = g.add(seen, part) if seen else part
    own = g.linear(g.mul(seen, g.const(0.25)), 16, width, False)
    g.output(g.linear(gate(gated(gate(own, h), width, width), x), width, 3))


def sparse_masks(g, rows):
    """Steps that look at few columns each: masks by a projection onto the simplex, written with TopK and CumSum."""
    width, count = 32, 40
    x = g.batchnorm(g.input("x", [("rows", rows), count]), count)
    shared = [g.weight(128, before) for before in (count, 64)]

    def gated(y, w):
        a, b = g.split(g.batchnorm(g.op("Gemm", y, w, transB=1), 128), 64, 64)
        return g.mul(a, g.op("Sigmoid", b))

    def transform(y):
        y = gated(y, shared[0])
        for w in (shared[1], g.weight(128, 64), g.weight(128, 64)):
            y = g.mul(g.add(y, gated(y, w)), g.const(0.5 ** 0.5))
        return g.split(y, width, width)

    def sparsemax(z):
        z = g.op("Sub", z, g.op("ReduceMax", z, axes=[1], keepdims=1))
        order, _ = g.op("TopK", z, g.ints(count), outs=2, axis=1)
        place = g.const(numpy.arange(1.0, count + 1)[None])
        sums = g.op("Sub", g.op("CumSum", order, g.const(1, "int64")), g.const(1.0))
        inside = g.op("Cast", g.op("Greater", g.mul(place, order), sums), to=7)
        last = g.op("ReduceSum", inside, g.ints(1), keepdims=1)
        tau = g.op("GatherElements", sums, g.op("Sub", last, g.const(1, "int64")), axis=1)
        return g.relu(g.op("Sub", z, g.op("Div", tau, g.op("Cast", last, to=1))))

    prior, total = None, None
    _, a = transform(x)
    for _ in range(3):
        logits = g.batchnorm(g.linear(a, width, count, False), count)
        mask = sparsemax(g.mul(logits, prior) if prior else logits)
        left = g.op("Sub", g.const(1.3), mask)
        prior = g.mul(prior, left) if prior else left
        d, a = transform(g.mul(mask, x))
        d = g.relu(d)
        total = g.add(total, d) if total else d
    g.output(g.op("Softmax", g.linear(total, width, 4), axis=1))


variants(sparse_masks, sparse_masks_1=(1,), sparse_masks_256=(256,))


def history(g, rows):
    """What was bought before, weighed by layers over it, the candidate, their difference and product."""
    width, length = 32, 40
    ids = g.input("history", [("rows", rows), length], "int64", "int=2000")
    candidate = g.input("candidate", [("rows", rows)], "int64", "int=2000")
    table = g.weight(2000, width, fan=width)
    seen, wanted = g.op("Gather", table, ids), g.op("Gather", table, candidate)
    known = g.op("Greater", ids, g.const(0, "int64"))
    wide = g.op("Expand", g.unsqueeze(wanted, 1), g.op("Shape", seen))
    x = g.concat(wide, seen, g.op("Sub", wide, seen), g.mul(wide, seen), axis=2)
    for before, after in ((4 * width, 80), (80, 40)):
        x = g.op("Sigmoid", g.linear(x, before, after))
    scores = g.op("Squeeze", g.linear(x, 40, 1), g.ints(2))
    odds = g.op("Softmax", g.op("Where", known, g.op("Div", scores, g.const(width ** 0.5)), g.const(-1e9)), axis=1)
    own = g.op("Squeeze", g.op("MatMul", g.unsqueeze(odds, 1), seen), g.ints(1))
    x, before = g.concat(own, wanted, g.mul(own, wanted)), 3 * width
    for after in (200, 80):
        y = g.linear(x, before, after)
        p = g.op("Sigmoid", g.batchnorm(y, after))
        x = g.add(g.mul(p, y), g.mul(g.mul(g.op("Sub", g.const(1.0), p), g.const(g.random.random(after))), y))
        before = after
    g.output(g.op("Sigmoid", g.linear(x, 80, 1)))


variants(history, history_1=(1,), history_64=(64,))


def tasks(g, rows):
    """Experts shared by three tasks, each with a gate and a tower of its own."""
    x = g.concat(g.reshape(fields(g, rows, 12, 16), -1, 192), g.input("dense", [("rows", rows), 20]))
    experts = g.concat(*[g.unsqueeze(tower(g, x, [212, 128, 64]), 1) for _ in range(6)], axis=1)
    for _ in range(3):
        odds = g.op("Softmax", g.linear(x, 212, 6, False), axis=1)
        own = g.op("ReduceSum", g.mul(experts, g.unsqueeze(odds, 2)), g.ints(1), keepdims=0)
        g.output(g.op("Sigmoid", g.linear(tower(g, own, [64, 32]), 32, 1)))


variants(tasks, tasks_1=(1,), tasks_128=(128,))


def outer_fields(g, rows):
    """Fields times fields, made fewer by a convolution, three times; sums of each beside the deep part."""
    count, width = 16, 12
    first = fields(g, rows, count, width)
    x, before, sums = first, count, []
    for after in (32, 32):
        outer = g.op("Einsum", x, first, equation="bhd,bmd->bhmd")
        x = g.relu(g.conv(g.reshape(outer, -1, before * count, width), before * count, after, [1]))
        sums.append(g.op("ReduceSum", x, g.ints(2), keepdims=0))
        before = after
    deep = tower(g, g.reshape(first, -1, count * width), [count * width, 128, 64])
    g.output(g.op("Sigmoid", g.linear(g.concat(*sums, deep), 128, 1)))


variants(outer_fields, outer_fields_1=(1,), outer_fields_64=(64,))


@model
def graph_heads(g):
    """Four heads on 1,500 edges: a softmax over what arrives, with the largest subtracted, as scatters of opset 18."""
    g.opset, nodes, edges, count, size = 18, 250, 1500, 4, 16
    x, at = g.input("nodes", [nodes, 32]), g.input("edges", [2, edges], "int64", "int=%d" % nodes)
    source, target = (g.op("Gather", at, g.const(i, "int64"), axis=0) for i in range(2))
    for before in (32, 64):
        h = g.reshape(g.linear(x, before, count * size, False), nodes, count, size)
        left, right = (g.op("ReduceSum", g.mul(h, g.weight(1, count, size, fan=size)), g.ints(2), keepdims=0)
                       for _ in range(2))
        score = g.op("LeakyRelu", g.add(g.op("Gather", left, source), g.op("Gather", right, target)), alpha=0.2)
        wide = g.op("Expand", g.unsqueeze(target, 1), g.ints(edges, count))
        low = g.op("Expand", g.const(-1e30), g.ints(nodes, count))
        top = g.op("ScatterElements", low, wide, score, axis=0, reduction="max")
        odds = g.op("Exp", g.op("Sub", score, g.op("Gather", top, target)))
        total = g.op("ScatterElements", g.op("Expand", g.const(0.0), g.ints(nodes, count)), wide, odds, axis=0,
                     reduction="add")
        odds = g.op("Div", odds, g.add(g.op("Gather", total, target), g.const(1e-16)))
        made = g.mul(g.op("Gather", h, source), g.unsqueeze(odds, 2))
        wide = g.op("Expand", g.unsqueeze(target, 1, 2), g.ints(edges, count, size))
        x = g.op("ScatterElements", g.op("Expand", g.const(0.0), g.ints(nodes, count, size)), wide, made, axis=0,
                 reduction="add")
        x = g.op("Elu", g.add(g.reshape(x, nodes, count * size), g.weight(count * size, fan=9)))
    g.output(g.op("LogSoftmax", g.linear(x, 64, 7), axis=1))


@model
def atoms(g):
    """30 atoms: distances of all pairs as bells around 50 places, filters made of them, sums over neighbours, energy."""
    g.opset, count, width, bells = 18, 30, 64, 50
    kinds, place = g.input("kinds", [count], "int64", "int=20"), g.input("place", [count, 3])
    x = g.embedding(kinds, 20, width)
    off = g.op("Sub", g.unsqueeze(place, 1), g.unsqueeze(place, 0))
    far = g.op("Sqrt", g.add(g.op("ReduceSum", g.mul(off, off), g.ints(2), keepdims=0), g.const(1e-6)))
    near = g.op("Sub", g.unsqueeze(far, 2), g.const(numpy.linspace(0, 5, bells)))
    near = g.op("Exp", g.mul(g.mul(near, near), g.const(-10.0)))
    cut = g.mul(g.add(g.op("Cos", g.mul(far, g.const(numpy.pi / 5))), g.const(1.0)), g.const(0.5))
    cut = g.mul(cut, g.op("Cast", g.op("Less", far, g.const(5.0)), to=1))
    soft = lambda y: g.op("Sub", g.op("Softplus", y), g.const(0.6931472))
    for _ in range(3):
        w = g.mul(g.linear(soft(g.linear(near, bells, width)), width, width), g.unsqueeze(cut, 2))
        made = g.mul(g.unsqueeze(g.linear(x, width, width, False), 0), w)
        made = g.op("ReduceSum", made, g.ints(1), keepdims=0)
        x = g.add(x, g.linear(soft(g.linear(made, width, width)), width, width))
    g.output(g.op("ReduceSum", g.linear(soft(g.linear(x, width, 32)), 32, 1), g.ints(0), keepdims=1))


def odd_trees(g, rows, modes, missing):
    """Boosted trees whose nodes differ: categories by equality, missing values that go the true way."""
    features, count, depth = 24, 80, 6
    values = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "truenodeids", "falsenodeids", "modes",
                              "missing_value_tracks_true")}
    leaf = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for t in range(count):
        for n, (feature, threshold, true, false, held) in enumerate(tree(g.random, depth, features, 1, False)):
            mode = modes[feature % len(modes)]
            threshold = float(round(threshold * 4)) if mode == "BRANCH_EQ" else threshold
            for key, value in zip(values, (t, n, max(feature, 0), threshold, true, false,
                                           "LEAF" if held is not None else mode, int(missing and n % 2))):
                values[key].append(value)
            for key, value in zip(leaf, (t, n, 0, float(held[0])) if held is not None else ()):
                leaf[key].append(value)
    how = {"nodes_" + k: v for k, v in values.items()}
    how.update({"target_" + k: v for k, v in leaf.items()}, n_targets=1, base_values=[0.5])
    x = g.input("x", [("rows", rows), features])
    if "BRANCH_EQ" in modes:
        x = g.op("Round", g.mul(x, g.const(3.0)))
    g.output(g.op("TreeEnsembleRegressor", x, domain=ML, post_transform="NONE", **how))


variants(odd_trees, category_trees_1=(1, ("BRANCH_LEQ", "BRANCH_EQ"), False),
         category_trees_200=(200, ("BRANCH_LEQ", "BRANCH_EQ"), False),
         missing_trees_1=(1, ("BRANCH_LT",), True), missing_trees_200=(200, ("BRANCH_LT",), True))
