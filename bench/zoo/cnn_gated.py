"""cnn_gated.py - pictures: halves of the channels that gate each other, are normalised apart or are passed on."""
import numpy

from graph import model
from picture import (activate, average_pool, classify, conv_bn, instance_norm, max_pool, means, resize, resize_like,
                     separable, squeeze_excite)


def norm_first(g, x, c):
    """Layer normalisation over axis 1, as restoration networks write it out."""
    centred = g.op("Sub", x, g.op("ReduceMean", x, axes=[1]))
    spread = g.op("ReduceMean", g.mul(centred, centred), axes=[1])
    x = g.op("Div", centred, g.op("Sqrt", g.add(spread, g.const(1e-6))))
    return g.add(g.mul(g.const(numpy.ones((1, c, 1, 1))), x), g.weight(1, c, 1, 1, fan=9))


@model
def nafnet(g):
    """Noise removed: one half of the channels times the other in place of an activation."""

    def halves(x, c):
        return g.mul(*g.split(x, c, c))

    def block(x, c):
        y = g.conv(g.conv(norm_first(g, x, c), c, 2 * c, 1), 2 * c, 2 * c, 3, groups=2 * c)
        y = halves(y, c)
        y = g.mul(y, g.conv(g.op("GlobalAveragePool", y), c, c, 1))
        x = g.add(x, g.mul(g.conv(y, c, c, 1), g.weight(1, c, 1, 1, fan=9)))
        y = halves(g.conv(norm_first(g, x, c), c, 2 * c, 1), c)
        return g.add(x, g.mul(g.conv(y, c, c, 1), g.weight(1, c, 1, 1, fan=9)))

    image, c, ways = g.input("image", [1, 3, 128, 128]), 32, []
    x = g.conv(image, 3, c, 3)
    for _ in range(3):
        x = block(x, c)
        ways.append(x)
        x, c = g.conv(x, c, 2 * c, 2, 2, 0), 2 * c
    x = block(block(x, c), c)
    for way in ways[::-1]:
        x, c = g.op("DepthToSpace", g.conv(x, c, 2 * c, 1, bias=False), blocksize=2, mode="CRD"), c // 2
        x = block(g.add(x, way), c)
    g.output(g.add(g.conv(x, c, 3, 3), image))


@model
def edgenext(g):
    """Quarters of the channels follow each other; attention between channels, of normalised rows."""
    x, before, side = g.conv(g.input("image", [1, 3, 192, 192]), 3, 32, 4, 4, 0), 32, 48

    def mixed(y, c, side):
        """What comes behind both kinds of blocks: normalisation and two products, channels last."""
        y = g.transpose(y, 0, 2, 3, 1)
        y = g.linear(g.gelu(g.linear(g.layernorm(y, c), c, 4 * c)), 4 * c, c)
        return g.transpose(g.mul(y, g.weight(c, fan=100)), 0, 3, 1, 2)

    def quarters(x, c, side):
        parts, done = g.split(x, *[c // 4] * 4), []
        for part in parts[:3]:
            part = g.add(part, done[-1]) if done else part
            done.append(g.conv(part, c // 4, c // 4, 3, groups=c // 4))
        y = g.reshape(g.concat(*done, parts[3]), 1, c, side * side)
        y = g.transpose(y, 0, 2, 1)
        y = g.add(y, g.mul(channels(g.layernorm(y, c), c, side * side), g.weight(c, fan=100)))
        y = g.reshape(g.transpose(y, 0, 2, 1), 1, c, side, side)
        return g.add(x, mixed(y, c, side))

    def channels(y, c, tokens, heads=4):
        qkv = g.transpose(g.reshape(g.linear(y, c, 3 * c), 1, tokens, 3, heads, c // heads), 2, 0, 3, 4, 1)
        q, k, v = (g.op("Gather", qkv, g.const(i, "int64"), axis=0) for i in range(3))
        q, k = (g.op("Div", v, clipped(v)) for v in (q, k))
        scores = g.mul(g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), g.const(numpy.ones((heads, 1, 1))))
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        return g.linear(g.reshape(g.transpose(y, 0, 3, 1, 2), 1, tokens, c), c, c)

    def clipped(v):
        length = g.op("ReduceL2", v, axes=[-1])
        return g.op("Expand", g.op("Clip", length, g.const(1e-12)), g.op("Shape", v))

    for after, kernel, repeats in ((32, 3, 1), (64, 5, 2), (128, 7, 2), (192, 9, 1)):
        if after != before:
            x = g.transpose(g.layernorm(g.transpose(x, 0, 2, 3, 1), before), 0, 3, 1, 2)
            x, before, side = g.conv(x, before, after, 2, 2, 0), after, side // 2
        for _ in range(repeats):
            x = g.add(x, mixed(g.conv(x, after, after, kernel, groups=after), after, side))
        x = quarters(x, after, side) if after > 32 else x
    classify(g, x, before)


@model
def ghostnet_v2(g):
    """A map of half the size, long kernels along rows and columns, becomes the gate of a large one."""

    def ghost(x, before, after, act, gated):
        one = conv_bn(g, x, before, after // 2, 1, act=act)
        y = g.concat(one, conv_bn(g, one, after // 2, after // 2, 3, groups=after // 2, act=act))
        if not gated:
            return y
        gate = conv_bn(g, average_pool(g, x, 2, 2), before, after, 1, act="")
        gate = conv_bn(g, gate, after, after, (1, 5), groups=after, act="")
        gate = g.op("Sigmoid", conv_bn(g, gate, after, after, (5, 1), groups=after, act=""))
        return g.mul(y, resize_like(g, gate, y, after, "nearest"))

    x, before = conv_bn(g, g.input("image", [1, 3, 224, 224]), 3, 16, 3, 2), 16
    for kernel, hidden, after, squeeze, stride in (
            (3, 16, 16, 0, 1), (3, 48, 24, 0, 2), (3, 72, 24, 0, 1), (5, 72, 40, 1, 2), (5, 120, 40, 1, 1),
            (3, 240, 80, 0, 2), (3, 200, 80, 0, 1), (3, 480, 112, 1, 1), (5, 672, 160, 1, 2), (5, 960, 160, 1, 1)):
        y = ghost(x, before, hidden, "relu", after >= 24)
        y = conv_bn(g, y, hidden, hidden, kernel, stride, groups=hidden, act="") if stride > 1 else y
        y = squeeze_excite(g, y, hidden, hidden // 4, gate="HardSigmoid") if squeeze else y
        y = ghost(y, hidden, after, "", False)
        if stride > 1 or before != after:
            x = conv_bn(g, conv_bn(g, x, before, before, kernel, stride, groups=before, act=""), before, after, 1, act="")
        x, before = g.add(x, y), after
    classify(g, conv_bn(g, x, before, 960, 1), 960)


@model
def portrait_matte(g):
    """Half of the channels normalised over the batch, half over the picture; three branches at three sizes."""

    def both(x, before, after, kernel=3, stride=1, act="relu"):
        one, two = g.split(g.conv(x, before, after, kernel, stride), after // 2, after // 2)
        return activate(g, g.concat(g.batchnorm(one, after // 2), instance_norm(g, two, after // 2)), act)

    image, c, maps = g.input("image", [1, 3, 256, 256]), 16, []
    x = conv_bn(g, image, 3, c, 3, 2, act="relu6")
    for after in (24, 48, 96):
        maps.append((x, c))
        x, c = separable(g, separable(g, x, c, after, 3, 2, act="relu6"), after, after, act="relu6"), after
    gate = g.op("Sigmoid", g.linear(g.relu(g.linear(means(g, x, 0), c, c // 4)), c // 4, c))
    x = g.mul(x, g.reshape(gate, 1, c, 1, 1))
    for way, width in maps[::-1]:
        x = both(resize(g, x, 2, "linear"), c, width)
        x, c = both(g.concat(x, way), 2 * width, width), width
    x = both(g.concat(resize(g, x, 2, "linear"), image), c + 3, 16)
    g.output(g.op("Sigmoid", g.conv(both(x, 16, 16), 16, 1, 1)))


@model
def span(g):
    """Four times as large: an attention without parameters, a sigmoid that is moved down."""
    c = 48

    def block(x):
        one = g.silu(g.conv(x, c, c, 3))
        three = g.conv(g.silu(g.conv(one, c, c, 3)), c, c, 3)
        gate = g.op("Sub", g.op("Sigmoid", three), g.const(0.5))
        return g.mul(g.add(three, x), gate), one

    first = g.conv(g.input("image", [1, 3, 96, 96]), 3, c, 3)
    x, one = block(first)
    kept = x
    for _ in range(4):
        x, one = block(x)
    x = g.conv(g.concat(first, g.conv(x, c, c, 3), kept, one), 4 * c, c, 1)
    g.output(g.op("DepthToSpace", g.conv(x, c, 48, 3), blocksize=4, mode="CRD"))


@model
def pose_bins(g):
    """Joints as bins along both axes: depthwise 5 x 5 layers, then tokens of joints that gate each other."""
    joints, width = 17, 256

    def layer(x, c):
        half = c // 2
        one, two = conv_bn(g, x, c, half, 1, act="silu"), conv_bn(g, x, c, half, 1, act="silu")
        y = conv_bn(g, one, half, half, 3, act="silu")
        one = g.add(one, separable(g, y, half, half, 5, act="silu"))
        y = g.concat(one, two)
        y = g.mul(y, g.op("HardSigmoid", g.conv(g.op("GlobalAveragePool", y), c, c, 1)))
        return conv_bn(g, y, c, c, 1, act="silu")

    x, c = conv_bn(g, g.input("image", [1, 3, 256, 192]), 3, 16, 3, 2, act="silu"), 16
    for after in (32, 64, 128, 256):
        x, c = layer(conv_bn(g, x, c, after, 3, 2, act="silu"), after), after
    pools = [x] + [max_pool(g, x, k, 1) for k in (5, 9)]
    x = g.reshape(g.conv(conv_bn(g, g.concat(*pools), 3 * c, c, 1, act="silu"), c, joints, 7), 1, joints, 48)
    length = g.op("Clip", g.mul(g.op("ReduceL2", x, axes=[-1]), g.const(48 ** -0.5)), g.const(1e-5))
    x = g.linear(g.mul(g.op("Div", x, length), g.const(1.1)), 48, width, bias=False)
    both = g.silu(g.linear(x, width, 2 * 2 * width + 128, bias=False))
    gate, v, base = g.split(both, 2 * width, 2 * width, 128, axis=2)
    base = g.add(g.mul(g.unsqueeze(base, 2), g.weight(1, 1, 2, 128, fan=9)), g.weight(2, 128, fan=9))
    q, k = (g.op("Squeeze", v, g.ints(2)) for v in g.split(base, 1, 1, axis=2))
    scores = g.op("Div", g.op("MatMul", q, g.transpose(k, 0, 2, 1)), g.const(128 ** 0.5))
    kernel = g.op("Pow", g.relu(scores), g.const(2.0))
    x = g.add(x, g.linear(g.mul(gate, g.op("MatMul", kernel, v)), 2 * width, width, bias=False))
    for bins in (384, 512):
        g.output(g.linear(x, width, bins, bias=False))
