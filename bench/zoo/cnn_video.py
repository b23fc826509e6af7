"""cnn_video.py - films and volumes: convolutions over three axes, states carried from frame to frame, motion."""
import numpy

from graph import model
from picture import classify, conv_bn, conv_transpose, inverted, max_pool, resize


def conv3(g, x, before, after, kernel=3, stride=1, act=True, groups=1):
    """A convolution over time, height and width with its normalisation."""
    kernel = [kernel] * 3 if isinstance(kernel, int) else kernel
    x = g.batchnorm(g.conv(x, before, after, kernel, stride, groups=groups, bias=False), after)
    return g.relu(x) if act else x


def classify3(g, x, channels):
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 400))


@model
def resnet_3d(g):
    x, before = conv3(g, g.input("clip", [1, 3, 8, 64, 64]), 3, 32, [3, 7, 7], [1, 2, 2]), 32
    for i, after in enumerate((32, 64, 128)):
        stride = 2 if i else 1
        y = conv3(g, conv3(g, x, before, after, 3, stride), after, after, 3, act=False)
        way = conv3(g, x, before, after, 1, stride, False) if i else x
        x, before = g.relu(g.add(y, way)), after
    classify3(g, x, before)


@model
def r2plus1d(g):
    """Space, then time."""
    x, before = conv3(g, g.input("clip", [1, 3, 8, 64, 64]), 3, 32, [1, 7, 7], [1, 2, 2]), 32
    for i, after in enumerate((32, 64, 128)):
        way = conv3(g, x, before, after, 1, 2, False) if i else x
        for stride in ((2, 1) if i else (1, 1)):
            mid = after * 3 // 2
            x = conv3(g, x, before, mid, [1, 3, 3], [1, stride, stride])
            x, before = conv3(g, x, mid, after, [3, 1, 1], [stride, 1, 1], act=stride == 2), after
        x = g.relu(g.add(x, way))
    classify3(g, x, before)


@model
def c3d(g):
    """Pools over time and space."""
    x, before = g.input("clip", [1, 3, 8, 56, 56]), 3
    for i, after in enumerate((32, 64, 128)):
        x, before = g.relu(g.conv(x, before, after, [3, 3, 3])), after
        pool = [2 if i else 1, 2, 2]
        x = g.op("MaxPool", x, kernel_shape=pool, strides=pool)
    g.output(g.linear(g.op("Flatten", x), 128 * 2 * 49, 101))


@model
def x3d(g):
    """Depthwise convolutions over three axes."""
    x, before = conv3(g, g.input("clip", [1, 3, 8, 96, 96]), 3, 24, [1, 3, 3], [1, 2, 2]), 24
    x = conv3(g, x, 24, 24, [5, 1, 1], groups=24)
    for after, stride, repeats in ((24, 2, 2), (48, 2, 3), (96, 2, 2)):
        for j in range(repeats):
            mid, s = after * 9 // 4, 1 if j else stride
            y = conv3(g, conv3(g, x, before, mid, 1), mid, mid, 3, [1, s, s], groups=mid)
            y = conv3(g, g.silu(y), mid, after, 1, act=False)
            x, before = g.relu(g.add(y, x if s == 1 and before == after else
                                     conv3(g, x, before, after, 1, [1, s, s], False))), after
    classify3(g, x, before)


@model
def unet_3d(g):
    """Volumes of a scanner: instance normalisation, transposed convolutions over three axes."""

    def layer(x, before, after):
        x = g.conv(x, before, after, [3, 3, 3])
        x = g.op("InstanceNormalization", x, g.const(numpy.ones(after)), g.weight(after, fan=9))
        return g.op("LeakyRelu", x, alpha=0.01)

    halves = dict(kernel_shape=[2] * 3, strides=[2] * 3)
    low = layer(g.input("volume", [1, 1, 32, 32, 32]), 1, 16)
    mid = layer(g.op("MaxPool", low, **halves), 16, 32)
    x = layer(g.op("MaxPool", mid, **halves), 32, 64)
    for before, after, same in ((64, 32, mid), (32, 16, low)):
        x = g.op("ConvTranspose", x, g.weight(before, after, 2, 2, 2, fan=before), **halves)
        x = layer(g.concat(x, same), 2 * after, after)
    g.output(g.op("Softmax", g.conv(x, 16, 3, [1, 1, 1]), axis=1))


@model
def conv_lstm(g):
    """Rain of the next minutes: gates are convolutions, frames unrolled."""
    frames = g.input("frames", [1, 6, 4, 48, 48])
    c = 32
    weights = (g.weight(4 * c, 4 + c, 3, 3), g.weight(4 * c, fan=9))
    h = s = g.const(numpy.zeros((1, c, 48, 48)))
    for t in range(6):
        x = g.op("Gather", frames, g.const(t, "int64"), axis=1)
        gates = g.op("Conv", g.concat(x, h), *weights, pads=[1] * 4, kernel_shape=[3, 3])
        i, f, o, n = g.split(gates, c, c, c, c)
        kept = g.mul(g.op("Sigmoid", f), s)
        s = g.add(kept, g.mul(g.op("Sigmoid", i), g.op("Tanh", n)))
        h = g.mul(g.op("Sigmoid", o), g.op("Tanh", s))
    g.output(g.conv(h, c, 1, 1))


@model
def temporal_shift(g):
    """An eighth of the channels comes from the frame before, an eighth from the one behind."""
    frames, x, before = 4, g.input("frames", [4, 3, 128, 128]), 3

    def shifted(x, c, side):
        v = g.reshape(x, 1, frames, c, side, side)
        part = lambda a, b, axis, of: g.op("Slice", of, g.ints(a), g.ints(b), g.ints(axis))
        left, right, rest = part(0, c // 8, 2, v), part(c // 8, c // 4, 2, v), part(c // 4, c, 2, v)
        zero = g.const(numpy.zeros((1, 1, c // 8, side, side)))
        left = g.concat(part(1, frames, 1, left), zero, axis=1)
        right = g.concat(zero, part(0, frames - 1, 1, right), axis=1)
        return g.reshape(g.concat(left, right, rest, axis=2), frames, c, side, side)

    side = 64
    x, before = conv_bn(g, x, 3, 32, 3, 2), 32
    for after, stride in ((32, 1), (48, 2), (48, 1), (96, 2), (96, 1)):
        y = shifted(x, before, side) if stride == 1 else x
        y = inverted(g, y, before, 4 * before, after, 3, stride)
        side //= stride
        x, before = g.add(x, y) if stride == 1 and before == after else y, after
    x = g.op("Flatten", g.op("GlobalAveragePool", conv_bn(g, x, before, 256, 1)))
    g.output(g.op("ReduceMean", g.linear(x, 256, 174), axes=[0], keepdims=1))


@model
def optical_flow(g):
    """All pairs of places multiplied, looked up around a moving guess by GridSample, a recurrent step (RAFT)."""
    side, c = 24, 64

    def features(x):
        x = conv_bn(g, conv_bn(g, x, 3, 32, 7, 2), 32, 48, 3, 2)
        return g.conv(conv_bn(g, x, 48, 64, 3, 2), 64, c, 1)

    one, two = (features(g.input(n, [1, 3, 8 * side, 8 * side])) for n in ("before", "after"))
    pairs = g.op("MatMul", g.transpose(g.reshape(one, 1, c, -1), 0, 2, 1), g.reshape(two, 1, c, -1))
    levels = [g.reshape(g.op("Div", pairs, g.const(8.0)), side * side, 1, side, side)]
    levels.append(g.op("AveragePool", levels[0], kernel_shape=[2, 2], strides=[2, 2]))
    row, column = numpy.mgrid[0:side, 0:side].astype("float32")
    base = g.const(numpy.stack([column, row])[None])
    around = g.const(numpy.stack(numpy.meshgrid(numpy.arange(-3, 4), numpy.arange(-3, 4)), -1)[None].astype("float32"))
    where, h = base, g.op("Tanh", one)
    for _ in range(3):
        found = []
        for i, level in enumerate(levels):
            middle = g.reshape(g.transpose(where, 0, 2, 3, 1), side * side, 1, 1, 2)
            at = g.add(g.op("Div", middle, g.const(2.0 ** i)), around)
            at = g.op("Sub", g.op("Div", g.mul(at, g.const(2.0)), g.const((side >> i) - 1.0)), g.const(1.0))
            taken = g.op("GridSample", level, at, mode="bilinear", padding_mode="zeros", align_corners=1)
            found.append(g.transpose(g.reshape(taken, 1, side, side, 49), 0, 3, 1, 2))
        x = g.relu(g.conv(g.concat(*found, g.op("Sub", where, base)), 100, 64, 3))
        both = g.concat(h, x)
        z = g.op("Sigmoid", g.conv(both, 128, 64, (1, 5)))
        r = g.op("Sigmoid", g.conv(both, 128, 64, (1, 5)))
        n = g.op("Tanh", g.conv(g.concat(g.mul(r, h), x), 128, 64, (5, 1)))
        h = g.add(g.mul(g.op("Sub", g.const(1.0), z), h), g.mul(z, n))
        where = g.add(where, g.conv(g.relu(g.conv(h, 64, 64, 3)), 64, 2, 3))
    g.output(resize(g, g.mul(g.op("Sub", where, base), g.const(8.0)), 8, "linear"))


@model
def warped_flow(g):
    """A pyramid of motion: each level warps the second picture, correlates by shifts and refines (PWC-Net)."""

    def pyramid(x):
        maps, before = [], 3
        for after in (16, 32, 64, 96):
            x = g.op("LeakyRelu", g.conv(x, before, after, 3, 2), alpha=0.1)
            x, before = g.op("LeakyRelu", g.conv(x, after, after, 3), alpha=0.1), after
            maps.append((x, after))
        return maps[::-1]

    ones, twos, flow = (pyramid(g.input(n, [1, 3, 192, 192])) for n in ("before", "after")), None, None
    ones, twos = ones
    for (a, c), (b, _), side in zip(ones[:3], twos[:3], (12, 24, 48)):
        if flow:
            flow = g.mul(conv_transpose(g, flow, 2, 2, 4, 2, 1), g.const(2.0))
            line = numpy.linspace(-1, 1, side, dtype="float32")
            grid = g.const(numpy.stack(numpy.meshgrid(line, line), -1)[None])
            moved = g.add(grid, g.op("Div", g.transpose(flow, 0, 2, 3, 1), g.const(side / 2.0)))
            b = g.op("GridSample", b, moved, mode="bilinear", padding_mode="border", align_corners=0)
        padded = g.op("Pad", b, g.ints(0, 0, 2, 2, 0, 0, 2, 2))
        shifts = [g.op("Slice", padded, g.ints(i, j), g.ints(i + side, j + side), g.ints(2, 3))
                  for i in range(5) for j in range(5)]
        cost = g.concat(*[g.op("ReduceMean", g.mul(a, s), axes=[1], keepdims=1) for s in shifts])
        x = g.concat(*([g.op("LeakyRelu", cost, alpha=0.1), a] + ([flow] if flow else [])))
        x = g.op("LeakyRelu", g.conv(x, 25 + c + (2 if flow else 0), 64, 3), alpha=0.1)
        x = g.op("LeakyRelu", g.conv(x, 64, 32, 3), alpha=0.1)
        flow = g.conv(x, 32, 2, 3)
    g.output(resize(g, flow, 4, "linear"))


@model
def spatial_transformer(g):
    """A small network says how to turn and stretch the picture; AffineGrid written out, GridSample, a classifier."""
    image = g.input("image", [1, 3, 128, 128])
    x = max_pool(g, g.relu(g.conv(image, 3, 16, 7, 2)), 2, 2, 0)
    x = max_pool(g, g.relu(g.conv(x, 16, 32, 5, 2)), 2, 2, 0)
    theta = g.reshape(g.linear(g.relu(g.linear(g.reshape(x, 1, -1), 2048, 32)), 32, 6), 1, 2, 3)
    theta = g.add(g.mul(theta, g.const(0.1)), g.const([[[1.0, 0, 0], [0, 1, 0]]]))
    line = numpy.linspace(-1, 1, 128, dtype="float32")
    places = numpy.stack(list(numpy.meshgrid(line, line)) + [numpy.ones((128, 128), "float32")], -1).reshape(1, -1, 3)
    grid = g.reshape(g.op("MatMul", g.const(places), g.transpose(theta, 0, 2, 1)), 1, 128, 128, 2)
    x = g.op("GridSample", image, grid, mode="bilinear", padding_mode="zeros", align_corners=0)
    x, before = conv_bn(g, x, 3, 32, 3, 2), 32
    for after in (64, 128):
        x, before = conv_bn(g, x, before, after, 3, 2), after
    classify(g, x, before, 43)
