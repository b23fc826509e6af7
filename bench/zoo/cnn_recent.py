"""cnn_recent.py - pictures: layers that mix by convolutions first and by attention later, in the style of the exporter
that traces: axes are inputs, constants are whole tensors, sizes are numbers, activations are operators."""
from graph import model
from picture import activate, classify, conv_bn

TRACED = 20  # opset


def heads_of(g, x, tokens, count, each, batch=1):
    return g.transpose(g.op("Reshape", x, g.ints(batch, tokens, count, each), allowzero=1), 0, 2, 1, 3)


def scaled_product(g, q, k, v, each, bias=None):
    """Attention as the exporter writes it: both sides by the root of the scale."""
    half = g.const(each ** -0.25)
    scores = g.op("MatMul", g.mul(q, half), g.mul(g.transpose(k, 0, 1, 3, 2), half))
    scores = g.add(scores, bias) if bias else scores
    return g.op("MatMul", g.op("Softmax", scores, axis=-1), v)


def attend(g, x, tokens, width, count, batch=1, bias=None):
    """Self-attention: one product, split into three."""
    each = width // count
    qkv = g.op("Reshape", g.linear(x, width, 3 * width), g.ints(batch, tokens, 3, count, each), allowzero=1)
    parts = g.op("Split", g.transpose(qkv, 2, 0, 3, 1, 4), outs=3, axis=0, num_outputs=3)
    q, k, v = (g.op("Squeeze", p, g.ints(0)) for p in parts)
    y = scaled_product(g, q, k, v, each, bias)
    y = g.op("Reshape", g.transpose(y, 0, 2, 1, 3), g.ints(batch, tokens, width), allowzero=1)
    return g.linear(y, width, width)


def mean_of(g, x, *axes, keep=1):
    return g.op("ReduceMean", x, g.ints(*axes), keepdims=keep)


def gate(g, x, c, hidden, act="relu", kind="Sigmoid"):
    y = activate(g, g.conv(mean_of(g, x, 2, 3), c, hidden, 1), act)
    return g.mul(x, g.op(kind, g.conv(y, hidden, c, 1)))


@model
def fastvit(g):
    """Depthwise mixers joined into one kernel, wide layers behind a kernel of 7, attention at the end."""
    g.opset = TRACED
    gelu = lambda v: g.op("Gelu", v, approximate="none")
    x = gelu(g.conv(g.input("image", [1, 3, 192, 192]), 3, 48, 3, 2))
    x = gelu(g.conv(gelu(g.conv(x, 48, 48, 3, 2, groups=48)), 48, 48, 1))
    before, side = 48, 48
    for after, repeats in ((48, 2), (96, 2), (192, 3), (384, 1)):
        if after != before:
            x = gelu(g.conv(x, before, after, 7, 2, groups=before))
            x, before, side = gelu(g.conv(x, after, after, 1)), after, side // 2
        for _ in range(repeats):
            if after < 384:
                x = g.conv(x, after, after, 3, groups=after)
            else:
                x = g.conv(x, after, after, 7, groups=after)
                y = g.transpose(g.op("Reshape", g.batchnorm(x, after), g.ints(1, after, side * side)), 0, 2, 1)
                y = attend(g, y, side * side, after, after // 32)
                y = g.op("Reshape", g.transpose(y, 0, 2, 1), g.ints(1, after, side, side))
                x = g.add(x, g.mul(g.weight(after, 1, 1, fan=9), y))
            y = g.conv(x, after, after, 7, groups=after)
            y = g.conv(gelu(g.conv(y, after, 3 * after, 1)), 3 * after, after, 1)
            x = g.add(x, g.mul(g.weight(after, 1, 1, fan=9), y))
    x = gelu(gate(g, g.conv(x, 384, 768, 3, groups=384), 768, 48))
    x = g.op("Reshape", mean_of(g, x, 2, 3), g.ints(1, 768))
    g.output(g.op("Gemm", x, g.weight(1000, 768), g.weight(1000, fan=9), transB=1))


@model
def efficientformer(g):
    """Pools mix maps of four axes; tokens of the last stage attend with a bias from a table."""
    x = conv_bn(g, conv_bn(g, g.input("image", [1, 3, 224, 224]), 3, 24, 3, 2), 24, 48, 3, 2)
    before, side = 48, 56
    for after, repeats in ((48, 2), (96, 2), (224, 3)):
        if after != before:
            x, before, side = conv_bn(g, x, before, after, 3, 2, act=""), after, side // 2
        for _ in range(repeats):
            pooled = g.op("AveragePool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1], count_include_pad=0)
            x = g.add(x, g.mul(g.op("Sub", pooled, x), g.weight(after, 1, 1, fan=9)))
            y = conv_bn(g, x, after, 4 * after, 1, act="gelu")
            x = g.add(x, g.mul(conv_bn(g, y, 4 * after, after, 1, act=""), g.weight(after, 1, 1, fan=9)))
    x, width, tokens, count, key = conv_bn(g, x, before, 448, 3, 2, act=""), 448, 49, 8, 32
    x = g.transpose(g.op("Flatten", g.reshape(x, 448, 49), axis=1), 1, 0)
    x = g.unsqueeze(x, 0)
    for _ in range(2):
        value = 4 * key
        qkv = g.linear(g.layernorm(x, width), width, count * (2 * key + value))
        qkv = g.transpose(g.reshape(qkv, 1, tokens, count, 2 * key + value), 0, 2, 1, 3)
        q, k, v = g.split(qkv, key, key, value, axis=3)
        near = g.op("Gather", g.weight(count, tokens, fan=9),
                    g.const(g.random.integers(0, tokens, (tokens, tokens)), "int64"), axis=1)
        scores = g.add(g.mul(g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), g.const(key ** -0.5)), near)
        y = g.transpose(g.op("MatMul", g.op("Softmax", scores, axis=-1), v), 0, 2, 1, 3)
        y = g.linear(g.reshape(y, 1, tokens, count * value), count * value, width)
        x = g.add(x, g.mul(y, g.weight(width, fan=9)))
        y = g.linear(g.gelu(g.linear(g.layernorm(x, width), width, 4 * width)), 4 * width, width)
        x = g.add(x, g.mul(y, g.weight(width, fan=9)))
    x = g.op("ReduceMean", g.layernorm(x, width), axes=[1], keepdims=0)
    g.output(g.linear(x, width, 1000))


@model
def linear_attention(g):
    """Attention without a softmax: keys times values first, sums as one more row; maps of two kernels (EfficientViT)."""
    g.opset = TRACED
    swish = lambda v: g.op("HardSwish", v)
    x, before, side = swish(g.conv(g.input("image", [1, 3, 224, 224]), 3, 16, 3, 2)), 16, 112

    def inverted(x, before, after, stride):
        y = swish(g.conv(x, before, 4 * before, 1))
        y = swish(g.conv(y, 4 * before, 4 * before, 3, stride, groups=4 * before))
        y = g.conv(y, 4 * before, after, 1)
        return g.add(y, x) if stride == 1 else y

    def attention(x, c, side):
        each, tokens = 16, side * side
        qkv = g.conv(x, c, 3 * c, 1, bias=False)
        wide = g.conv(g.conv(qkv, 3 * c, 3 * c, 5, groups=3 * c, bias=False), 3 * c, 3 * c, 1, groups=3 * c // each,
                      bias=False)
        both = g.op("Reshape", g.concat(qkv, wide), g.ints(1, 2 * c // each, 3 * each, tokens))
        q, k, v = g.split(both, each, each, each, axis=2)
        q, k = g.relu(q), g.transpose(g.relu(k), 0, 1, 3, 2)
        v = g.op("Pad", v, g.ints(0, 0, 0, 0, 0, 0, 1, 0), g.const(1.0))
        y = g.op("MatMul", g.op("MatMul", v, k), q)
        top, sums = g.slice(y, 0, -1, 2), g.slice(y, -1, 2 ** 62, 2)
        y = g.op("Reshape", g.op("Div", top, g.add(sums, g.const(1e-15))), g.ints(1, 2 * c, side, side))
        return g.add(x, g.conv(y, 2 * c, c, 1))

    for after, repeats in ((32, 1), (64, 2), (128, 2), (256, 2)):
        x, before, side = inverted(x, before, after, 2), after, side // 2
        for _ in range(repeats):
            x = attention(x, after, side) if after >= 128 else x
            x = inverted(x, after, after, 1)
    x = mean_of(g, swish(g.conv(x, 256, 768, 1)), 2, 3, keep=0)
    g.output(g.linear(swish(g.layernorm(g.linear(x, 768, 800), 800)), 800, 1000))


@model
def universal_inverted(g):
    """Depthwise layers before, inside or nowhere in the wide block; one key and value for all heads, from a smaller map
    (MobileNetV4)."""
    g.opset = TRACED
    x, before, side = g.relu(g.conv(g.input("image", [1, 3, 224, 224]), 3, 32, 3, 2)), 32, 56
    x = g.conv(g.relu(g.conv(x, 32, 96, 3, 2)), 96, 48, 1)
    before = 48

    def block(x, before, after, first, middle, stride, wider):
        y = g.conv(x, before, before, first, 1 if middle else stride, groups=before) if first else x
        hidden = before * wider
        y = g.relu(g.conv(y, before, hidden, 1))
        y = g.relu(g.conv(y, hidden, hidden, middle, stride, groups=hidden)) if middle else y
        y = g.conv(y, hidden, after, 1)
        return g.add(x, y) if stride == 1 and before == after else y

    def queries(x, c, side, count=4, key=64):
        few, tokens = (side // 2) ** 2, side * side
        q = g.op("Reshape", g.conv(x, c, count * key, 1), g.ints(1, count, key, tokens))
        small = g.conv(x, c, c, 3, 2, groups=c)
        k = g.transpose(g.op("Reshape", g.conv(small, c, key, 1), g.ints(1, key, few)), 0, 2, 1)
        v = g.transpose(g.op("Reshape", g.conv(small, c, key, 1), g.ints(1, key, few)), 0, 2, 1)
        y = scaled_product(g, g.transpose(q, 0, 1, 3, 2), g.unsqueeze(k, 1), g.unsqueeze(v, 1), key)
        y = g.op("Reshape", g.transpose(y, 0, 1, 3, 2), g.ints(1, count * key, side, side))
        return g.add(x, g.mul(g.conv(y, count * key, c, 1), g.weight(c, 1, 1, fan=9)))

    for after, first, middle, stride, wider, attends in (
            (80, 3, 5, 2, 4, 0), (80, 3, 3, 1, 2, 0), (160, 3, 5, 2, 6, 0), (160, 0, 0, 1, 4, 0), (160, 3, 3, 1, 4, 1),
            (160, 3, 5, 1, 4, 1), (256, 5, 5, 2, 6, 0), (256, 5, 5, 1, 4, 0), (256, 3, 0, 1, 4, 0)):
        side = side // stride
        x = queries(x, before, side) if attends else x
        x, before = block(x, before, after, first, middle, stride, wider), after
    x = g.relu(g.conv(mean_of(g, g.relu(g.conv(x, 256, 960, 1)), 2, 3), 960, 1280, 1))
    g.output(g.linear(g.op("Reshape", x, g.ints(1, 1280)), 1280, 1000))


@model
def grid_attention(g):
    """Inverted blocks, then attention among neighbours and among places that lie a grid apart (MaxViT)."""
    g.opset = TRACED
    gelu = lambda v: g.op("Gelu", v, approximate="tanh")
    x = g.conv(gelu(g.conv(g.input("image", [1, 3, 112, 112]), 3, 32, 3, 2)), 32, 32, 3)
    before, side, window = 32, 56, 7

    def among(x, c, side, grid):
        n = side // window
        dims, cut = ((n, window, n, window), (0, 1, 3, 2, 4, 5)) if not grid else ((window, n, window, n),
                                                                                  (0, 2, 4, 1, 3, 5))
        y = g.transpose(g.op("Reshape", g.layernorm(x, c), g.ints(1, *dims, c)), *cut)
        y = g.op("Reshape", y, g.ints(n * n, window * window, c))
        y = attend(g, y, 49, c, c // 32, n * n, g.weight(1, c // 32, 49, 49, fan=9))
        y = g.op("Reshape", y, g.ints(1, n, n, window, window, c))
        y = g.transpose(y, *((0, 1, 3, 2, 4, 5) if not grid else (0, 3, 1, 4, 2, 5)))
        x = g.add(x, g.op("Reshape", y, g.ints(1, side, side, c)))
        return g.add(x, g.linear(gelu(g.linear(g.layernorm(x, c), c, 4 * c)), 4 * c, c))

    for after in (32, 64, 128):
        y = gelu(g.conv(g.batchnorm(x, before), before, 4 * after, 1))
        y = gelu(g.conv(y, 4 * after, 4 * after, 3, 2, groups=4 * after))
        y = g.conv(gate(g, y, 4 * after, after, "silu"), 4 * after, after, 1)
        way = g.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
        x, side = g.add(y, g.conv(way, before, after, 1) if before != after else way), side // 2
        before = after
        x = g.transpose(x, 0, 2, 3, 1)
        for grid in (False, True):
            x = among(x, after, side, grid) if side % window == 0 else x
        x = g.transpose(x, 0, 3, 1, 2)
    classify(g, x, before)
