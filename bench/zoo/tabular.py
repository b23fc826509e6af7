"""tabular.py - tables and recommendations: trees, vector machines, pipelines, embeddings, graphs of neighbours."""
import numpy

from graph import model, variants

ML = "ai.onnx.ml"


def tree(random, depth, features, leaves, full=True):
    """Rows of one tree: [feature or -1, threshold, true branch, false branch, leaf values], nodes in depth-first
    order."""
    rows = []

    def grow(level):
        at = len(rows)
        rows.append(None)
        if level == depth or (not full and level > 2 and random.random() < 0.25):
            rows[at] = (-1, 0.0, 0, 0, random.standard_normal(leaves) / 10)
            return at
        rows[at] = (int(random.integers(features)), float(numpy.float32(random.standard_normal() / 2)), grow(level + 1),
                    grow(level + 1), None)
        return at

    grow(0)
    return rows


def trees(g, rows, features, count, depth, classes, leaves_many, mode="BRANCH_LT", post="NONE"):
    """Gradient-boosted (one number in a leaf) or a forest (one for each class in a leaf)."""
    values = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "truenodeids", "falsenodeids", "modes")}
    leaf = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for t in range(count):
        for n, (feature, threshold, true, false, held) in enumerate(
                tree(g.random, depth, features, classes if leaves_many else 1, not leaves_many)):
            for key, value in zip(values, (t, n, max(feature, 0), threshold, true, false,
                                           "LEAF" if held is not None else mode)):
                values[key].append(value)
            for i, weight in enumerate(held if held is not None else ()):
                for key, value in zip(leaf, (t, n, i if leaves_many else t % classes, float(weight))):
                    leaf[key].append(value)
    how = {"nodes_" + k: v for k, v in values.items()}
    x = g.input("x", [("rows", rows), features])
    if classes == 1:
        how.update({"target_" + k: v for k, v in leaf.items()}, n_targets=1, base_values=[0.5])
        g.output(g.op("TreeEnsembleRegressor", x, domain=ML, post_transform="NONE", **how))
        return
    how.update({"class_" + k: v for k, v in leaf.items()}, classlabels_int64s=list(range(classes)))
    label, odds = g.op("TreeEnsembleClassifier", x, outs=2, domain=ML, post_transform=post, **how)
    g.output(label, "int64"), g.output(odds)


XGB, LGB, SK = "BRANCH_LT", "BRANCH_LEQ", "BRANCH_LEQ"
variants(trees,
         xgb_1=(1, 20, 100, 6, 1, False), xgb_100=(100, 20, 100, 6, 1, False), xgb_1000=(1000, 20, 100, 6, 1, False),
         xgb_deep_1=(1, 50, 300, 8, 1, False), xgb_small_1=(1, 8, 20, 3, 1, False),
         lgb_classes_1=(1, 30, 120, 6, 4, False, LGB, "SOFTMAX"),
         lgb_classes_100=(100, 30, 120, 6, 4, False, LGB, "SOFTMAX"),
         lgb_many_1=(1, 40, 300, 5, 20, False, LGB, "SOFTMAX"),
         lgb_many_200=(200, 40, 300, 5, 20, False, LGB, "SOFTMAX"),
         forest_many_100=(100, 30, 60, 8, 12, True, SK), xgb_wide_100=(100, 200, 200, 6, 1, False),
         forest_1=(1, 16, 100, 10, 3, True, SK), forest_1000=(1000, 16, 50, 9, 3, True, SK),
         one_tree_1=(1, 4, 1, 5, 3, True, SK), one_tree_1000=(1000, 4, 1, 5, 3, True, SK))


def mlp(g, rows, widths, active):
    x = g.input("x", [("rows", rows), widths[0]])
    for before, after in zip(widths, widths[1:-1]):
        x = g.op("Gemm", x, g.weight(after, before), g.weight(after, fan=9), transB=1)
        x = g.silu(x) if active == "Silu" else g.op(active, x)
    g.output(g.op("Softmax", g.linear(x, widths[-2], widths[-1]), axis=-1))


variants(mlp, mlp_tiny_1=(1, (10, 32, 16, 3), "Relu"), mlp_tanh_1=(1, (17, 64, 64, 6), "Tanh"),
         mlp_tanh_64=(64, (17, 256, 256, 6), "Tanh"), mlp_256=(256, (100, 200, 100, 10), "Relu"),
         mlp_wide_1=(1, (784, 512, 512, 10), "Relu"), mlp_silu_32=(32, (32, 128, 128, 128, 1), "Silu"),
         mlp_narrow_1000=(1000, (12, 24, 12, 2), "Sigmoid"))


def fields(g, rows, count, width, size=500):
    """One embedding for each column of categories, [rows, count, width]."""
    ids = g.input("ids", [("rows", rows), count], "int64", "int=%d" % size)
    parts = [g.unsqueeze(g.embedding(g.op("Gather", ids, g.const(i, "int64"), axis=1), size, width), 1)
             for i in range(count)]
    return g.op("Concat", *parts, axis=1)


def tower(g, x, widths):
    for before, after in zip(widths, widths[1:]):
        x = g.relu(g.linear(x, before, after))
    return x


def deepfm(g, rows):
    """Pairs of fields by the square of their sum, beside layers over all of them."""
    x = fields(g, rows, 26, 16)
    dense = g.input("dense", [("rows", rows), 13])
    total = g.op("ReduceSum", x, g.ints(1), keepdims=0)
    pairs = g.op("Sub", g.mul(total, total), g.op("ReduceSum", g.mul(x, x), g.ints(1), keepdims=0))
    pairs = g.mul(g.op("ReduceSum", pairs, g.ints(1), keepdims=1), g.const(0.5))
    deep = tower(g, g.concat(g.reshape(x, -1, 416), dense), [429, 200, 100])
    g.output(g.op("Sigmoid", g.add(g.add(pairs, g.linear(deep, 100, 1)), g.linear(dense, 13, 1))))


def dcn(g, rows):
    """Crosses: x0 * (x w) + b + x."""
    x = g.concat(g.reshape(fields(g, rows, 20, 8), -1, 160), g.input("dense", [("rows", rows), 10]))
    first = x
    for _ in range(3):
        x = g.add(g.mul(first, g.linear(x, 170, 170)), x)
    g.output(g.op("Sigmoid", g.linear(g.concat(x, tower(g, first, [170, 128, 64])), 234, 1)))


def autoint(g, rows):
    """Attention between the fields of a row."""
    count, width = 20, 32
    x = fields(g, rows, count, width)
    for _ in range(3):
        split = lambda y: g.transpose(g.reshape(y, -1, count, 2, width // 2), 0, 2, 1, 3)
        q, k, v = (split(g.linear(x, width, width, False)) for _ in range(3))
        odds = g.op("Softmax", g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), axis=-1)
        seen = g.reshape(g.transpose(g.op("MatMul", odds, v), 0, 2, 1, 3), -1, count, width)
        x = g.relu(g.add(seen, g.linear(x, width, width, False)))
    g.output(g.op("Sigmoid", g.linear(g.op("Flatten", x), count * width, 1)))


def dlrm(g, rows):
    """All products of pairs, the lower half of them taken out."""
    dense = tower(g, g.input("dense", [("rows", rows), 13]), [13, 64, 16])
    x = g.concat(g.unsqueeze(dense, 1), fields(g, rows, 26, 16))
    pairs = g.op("Flatten", g.op("MatMul", x, g.transpose(x, 0, 2, 1)))
    at = [i * 27 + j for i in range(27) for j in range(i)]
    x = g.concat(dense, g.op("Gather", pairs, g.ints(*at), axis=1))
    g.output(g.op("Sigmoid", g.linear(tower(g, x, [16 + 351, 256, 64]), 64, 1)))


def sasrec(g, rows):
    """The next of 2,000 things after 50."""
    ids = g.input("ids", [rows, 50], "int64", "int=2000")
    x = g.add(g.embedding(ids, 2000, 64), g.weight(50, 64, fan=64))
    mask = g.const(numpy.triu(numpy.full((50, 50), -1e9), 1))
    for _ in range(2):
        q = g.layernorm(x, 64)
        scores = g.op("MatMul", g.mul(g.linear(q, 64, 64), g.const(0.125)), g.transpose(g.linear(x, 64, 64), 0, 2, 1))
        seen = g.op("MatMul", g.op("Softmax", g.add(scores, mask), axis=-1), g.linear(x, 64, 64))
        x = g.layernorm(g.add(q, g.linear(seen, 64, 64)), 64)
        x = g.add(x, g.linear(g.relu(g.linear(x, 64, 64)), 64, 64))
    g.output(g.linear(g.op("Gather", x, g.const(-1, "int64"), axis=1), 64, 2000))


def bayes(g, rows):
    """Gaussian naive Bayes as skl2onnx writes it: one squared distance for each class and feature."""
    x, mean = g.input("x", [("rows", rows), 12]), g.weight(1, 5, 12, fan=1)
    spread = g.const(1 + g.random.random((1, 5, 12)))
    off = g.op("Sub", g.reshape(x, -1, 1, 12), mean)
    off = g.op("ReduceSum", g.op("Div", g.mul(off, off), spread), g.ints(2), keepdims=0)
    joint = g.add(g.mul(off, g.const(-0.5)), g.weight(1, 5, fan=1))
    g.output(g.op("ArgMax", joint, axis=1, keepdims=0), "int64")
    total = g.op("ReduceLogSumExp", joint, axes=[1], keepdims=1)
    g.output(g.op("Exp", g.op("Sub", joint, total)))


def tab_transformer(g, rows):
    """A token for each number, two layers of attention between them, what the first token says."""
    width, count = 32, 16
    x = g.mul(g.unsqueeze(g.input("x", [("rows", rows), count - 1]), 2), g.weight(count - 1, width, fan=1))
    size = g.concat(g.unsqueeze(g.size(x, 0), 0), g.ints(1, width), axis=0)
    first = g.op("Expand", g.weight(1, 1, width, fan=1), size)
    x = g.concat(first, g.add(x, g.weight(count - 1, width, fan=1)))
    for _ in range(2):
        h = g.layernorm(x, width)
        split = lambda y: g.transpose(g.reshape(y, -1, count, 4, width // 4), 0, 2, 1, 3)
        q, k, v = (split(g.linear(h, width, width)) for _ in range(3))
        odds = g.op("Softmax", g.op("Div", g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), g.const(8 ** 0.5)), axis=-1)
        seen = g.reshape(g.transpose(g.op("MatMul", odds, v), 0, 2, 1, 3), -1, count, width)
        x = g.add(x, g.linear(seen, width, width))
        left, right = g.split(g.linear(g.layernorm(x, width), width, 4 * width), 2 * width, 2 * width, axis=2)
        x = g.add(x, g.linear(g.mul(left, g.relu(right)), 2 * width, width))
    g.output(g.linear(g.layernorm(g.op("Gather", x, g.const(0, "int64"), axis=1), width), width, 3))


variants(bayes, bayes_1=(1,), bayes_1000=(1000,))
variants(tab_transformer, tab_transformer_1=(1,), tab_transformer_64=(64,))
variants(deepfm, deepfm_1=(1,), deepfm_256=(256,))
variants(dcn, dcn_1=(1,), dcn_128=(128,))
variants(autoint, autoint_1=(1,), autoint_64=(64,))
variants(dlrm, dlrm_1=(1,), dlrm_128=(128,))
variants(sasrec, sasrec_1=(1,), sasrec_16=(16,))


def svm(g, rows, kernel, support, features, classes):
    x = g.input("x", [("rows", rows), features])
    vectors = [float(v) for v in g.random.standard_normal(support * features)]
    how = dict(kernel_type=kernel, kernel_params=[0.05, 0.0, 3.0])
    if classes == 1:
        g.output(g.op("SVMRegressor", x, domain=ML, support_vectors=vectors, n_supports=support, rho=[0.1],
                      coefficients=[float(v) for v in g.random.standard_normal(support)], **how))
        return
    pairs, per = classes * (classes - 1) // 2, support // classes
    label, odds = g.op("SVMClassifier", x, outs=2, domain=ML, classlabels_ints=list(range(classes)),
                       support_vectors=vectors, vectors_per_class=[per] * classes, rho=[0.1] * pairs,
                       post_transform="NONE",
                       coefficients=[float(v) for v in g.random.standard_normal(support * (classes - 1))], **how)
    g.output(label, "int64"), g.output(odds)


variants(svm, svr_rbf_1=(1, "RBF", 200, 12, 1), svr_rbf_100=(100, "RBF", 200, 12, 1), svc_rbf_1=(1, "RBF", 150, 20, 3),
         svc_rbf_100=(100, "RBF", 150, 20, 3), svc_linear_100=(100, "LINEAR", 90, 20, 3),
         svr_poly_100=(100, "POLY", 100, 16, 1))


def pipeline(g, rows):
    """Numbers scaled, categories one-hot, then a linear model, as skl2onnx writes it."""
    numbers = g.op("Scaler", g.input("numbers", [("rows", rows), 8]), domain=ML, offset=[0.1 * i for i in range(8)],
                   scale=[1.0 + 0.1 * i for i in range(8)])
    kinds = g.input("kinds", [("rows", rows), 3], "int64", "int=6")
    hot = [g.reshape(g.op("OneHotEncoder", g.op("ArrayFeatureExtractor", kinds, g.ints(i), domain=ML), domain=ML,
                          cats_int64s=list(range(6)), zeros=1), -1, 6) for i in range(3)]
    x = g.concat(numbers, *hot)
    label, odds = g.op("LinearClassifier", x, outs=2, domain=ML, classlabels_ints=[0, 1, 2], multi_class=1,
                       coefficients=[float(v) for v in g.random.standard_normal(78)], intercepts=[0.1, 0.2, 0.3],
                       post_transform="SOFTMAX")
    odds = g.op("Normalizer", odds, domain=ML, norm="L1")
    g.output(label, "int64"), g.output(odds)


def linear_model(g, rows):
    x = g.op("Imputer", g.input("x", [("rows", rows), 30]), domain=ML, imputed_value_floats=[0.5] * 30,
             replaced_value_float=float("nan"))
    g.output(g.op("LinearRegressor", x, domain=ML, coefficients=[float(v) for v in g.random.standard_normal(30)],
                  intercepts=[0.5], targets=1))


variants(pipeline, pipeline_1=(1,), pipeline_1000=(1000,))
variants(linear_model, linear_1=(1,), linear_1000=(1000,))


def distances(g, x, points, width, count):
    """|x|^2 - 2 x p + |p|^2."""
    values = g.random.standard_normal((count, width)).astype("float32")
    own = g.op("ReduceSumSquare", x, axes=[1], keepdims=1)
    cross = g.op("Gemm", x, g.const(values), own, alpha=-2.0, beta=1.0, transB=1)
    return g.add(cross, g.const((values ** 2).sum(1)[None]))


@model
def kmeans_500(g):
    d = distances(g, g.input("x", [500, 16]), None, 16, 10)
    g.output(g.op("ArgMin", d, axis=1, keepdims=0), "int64")
    g.output(g.op("Sqrt", g.op("Max", d, g.const(0.0))))


@model
def knn_50(g):
    d = g.op("Sqrt", g.op("Max", distances(g, g.input("x", [50, 8]), None, 8, 800), g.const(0.0)))
    near, at = g.op("TopK", d, g.ints(5), outs=2, axis=1, largest=0)
    values = g.op("Gather", g.weight(800, fan=1), at)
    weights = g.op("Div", g.const(1.0), g.add(near, g.const(1e-6)))
    g.output(g.op("Div", g.op("ReduceSum", g.mul(weights, values), g.ints(1), keepdims=0),
                  g.op("ReduceSum", weights, g.ints(1), keepdims=0)))


@model
def knn_distances_50(g):
    """The same with distances as one operator, and the class that most of the five have."""
    d = g.op("CDist", g.input("x", [50, 8]), g.weight(800, 8, fan=1), domain="com.microsoft", metric="euclidean")
    _, at = g.op("TopK", d, g.ints(5), outs=2, axis=1, largest=0)
    votes = g.op("OneHot", g.op("Gather", g.const(g.random.integers(0, 4, 800), "int64"), at), g.const(4, "int64"),
                 g.const([0.0, 1.0]), axis=-1)
    votes = g.op("ReduceSum", votes, g.ints(1), keepdims=0)
    g.output(votes), g.output(g.op("ArgMax", votes, axis=1, keepdims=0), "int64")


@model
def gaussian_process(g):
    """Mean and deviation: the kernel against 200 points, a product with what training left."""
    d = distances(g, g.input("x", [32, 6]), None, 6, 200)
    k = g.mul(g.op("Exp", g.mul(d, g.const(-0.5))), g.const(1.3))
    mean = g.op("MatMul", k, g.weight(200, 1, fan=200))
    spread = g.op("ReduceSum", g.mul(g.op("MatMul", k, g.weight(200, 200, fan=400)), k), g.ints(1), keepdims=0)
    g.output(mean), g.output(g.op("Sqrt", g.op("Abs", g.op("Sub", g.const(1.3), spread))))


def double_process(g, rows, points):
    """The same in 64 bits, as skl2onnx writes what was trained so: input and results are 32 bits wide."""
    x = g.op("Cast", g.input("x", [("rows", rows), 10]), to=11)
    wide = lambda *dims: g.weight(*dims, fan=10, kind="float64")
    values = g.random.standard_normal((points, 10))
    own = g.op("ReduceSumSquare", x, axes=[1], keepdims=1)
    cross = g.op("Gemm", x, g.const(values, "float64"), own, alpha=-2.0, beta=1.0, transB=1)
    d = g.op("Max", g.add(cross, g.const((values ** 2).sum(1)[None], "float64")), g.const(0.0, "float64"))
    k = g.op("Exp", g.mul(d, g.const(-0.05, "float64")))
    mean = g.op("MatMul", k, wide(points, 1))
    spread = g.mul(g.op("MatMul", k, wide(points, points)), k)
    spread = g.op("ReduceSum", spread, g.ints(1), keepdims=0)
    g.output(g.op("Cast", mean, to=1)), g.output(g.op("Cast", g.op("Sqrt", g.op("Abs", spread)), to=1))


variants(double_process, double_process_1=(1, 200), double_process_64=(64, 200))


@model
def graph_net(g):
    """Messages along 2,000 edges between 300 nodes: gathered, made, added up where they arrive."""
    x, edges = g.input("nodes", [300, 32]), g.input("edges", [2, 2000], "int64", "int=300")
    source, target = (g.op("Gather", edges, g.const(i, "int64"), axis=0) for i in range(2))
    for before, after in ((32, 64), (64, 64)):
        message = g.linear(g.op("Gather", g.linear(x, before, after, False), source), after, after)
        at = g.op("Expand", g.unsqueeze(target, 1), g.op("Shape", message))
        total = g.op("ScatterElements", g.op("ConstantOfShape", g.ints(300, after)), at, g.relu(message),
                     axis=0, reduction="add")
        x = g.relu(g.add(total, g.linear(x, before, after)))
    g.output(g.linear(g.op("ReduceMean", x, axes=[0], keepdims=1), 64, 2))


@model
def graph_attention(g):
    """Weights of edges by a softmax over those that arrive at one node, written with scatters."""
    x, edges = g.input("nodes", [200, 32]), g.input("edges", [2, 1000], "int64", "int=200")
    source, target = (g.op("Gather", edges, g.const(i, "int64"), axis=0) for i in range(2))
    h = g.linear(x, 32, 32, False)
    score = g.add(g.op("Gather", g.linear(h, 32, 1), source), g.op("Gather", g.linear(h, 32, 1), target))
    odds = g.op("Exp", g.op("LeakyRelu", score, alpha=0.2))
    at = g.unsqueeze(target, 1)
    total = g.op("ScatterND", g.op("ConstantOfShape", g.ints(200, 1)), at, odds, reduction="add")
    odds = g.op("Div", odds, g.add(g.op("Gather", total, target), g.const(1e-9)))
    made = g.mul(g.op("Gather", h, source), odds)
    g.output(g.op("Elu", g.op("ScatterND", g.op("ConstantOfShape", g.ints(200, 32)), at, made, reduction="add")))
