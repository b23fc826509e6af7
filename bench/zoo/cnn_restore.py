"""cnn_restore.py - pictures made from pictures or from noise: attention inside, normalised groups of channels."""
import numpy

from cnn_recent import TRACED, attend, heads_of, scaled_product
from graph import model
from picture import attention, resize


@model
def window_restoration(g):
    """Twice as large: windows that shift, attention with a bias and a mask, a convolution behind each group (SwinIR)."""
    g.opset = TRACED
    c, side, window, count = 60, 48, 8, 6
    n, tokens = side // window, window * window

    def rolled(x, by):
        """One index for each axis."""
        for axis in (1, 2):
            x = g.op("Gather", x, g.const(numpy.roll(numpy.arange(side), -by), "int64"), axis=axis)
        return x

    def block(x, shift):
        y = g.op("Reshape", g.layernorm(x, c), g.ints(1, side, side, c))
        y = rolled(y, shift) if shift else y
        y = g.transpose(g.op("Reshape", y, g.ints(1, n, window, n, window, c)), 0, 1, 3, 2, 4, 5)
        bias = g.weight(1, count, tokens, tokens, fan=9)
        if shift:
            bias = g.add(bias, g.const(numpy.where(g.random.random((n * n, 1, tokens, tokens)) < 0.2, -100.0, 0.0)))
        y = attend(g, g.op("Reshape", y, g.ints(n * n, tokens, c)), tokens, c, count, n * n, bias)
        y = g.transpose(g.op("Reshape", y, g.ints(1, n, n, window, window, c)), 0, 1, 3, 2, 4, 5)
        y = g.op("Reshape", y, g.ints(1, side, side, c))
        y = rolled(y, -shift) if shift else y
        x = g.add(x, g.op("Reshape", y, g.ints(1, side * side, c)))
        y = g.op("Gelu", g.linear(g.layernorm(x, c), c, 2 * c), approximate="none")
        return g.add(x, g.linear(y, 2 * c, c))

    rows = lambda v: g.transpose(g.op("Reshape", v, g.ints(1, c, side * side)), 0, 2, 1)
    picture = lambda v: g.op("Reshape", g.transpose(v, 0, 2, 1), g.ints(1, c, side, side))
    first = g.conv(g.input("image", [1, 3, side, side]), 3, c, 3)
    x = g.layernorm(rows(first), c)
    for _ in range(2):
        y = block(block(x, 0), window // 2)
        x = g.add(rows(g.conv(picture(y), c, c, 3)), x)
    x = g.add(g.conv(picture(g.layernorm(x, c)), c, c, 3), first)
    x = g.op("LeakyRelu", g.conv(x, c, 64, 3), alpha=0.01)
    x = g.op("Reshape", g.conv(x, 64, 12, 3), g.ints(1, 3, 2, 2, side, side))
    g.output(g.op("Reshape", g.transpose(x, 0, 1, 4, 2, 5, 3), g.ints(1, 3, 2 * side, 2 * side)))


@model
def channel_attention(g):
    """Rain removed: channels attend to each other, depthwise layers gate, sizes change by pixel shuffles (Restormer)."""

    def norm(x, c, side):
        y = g.transpose(g.reshape(x, 1, c, side * side), 0, 2, 1)
        spread = g.op("ReduceMean", g.op("Pow", g.op("Sub", y, g.op("ReduceMean", y, axes=[-1])), g.const(2.0)),
                      axes=[-1])
        y = g.mul(g.op("Div", y, g.op("Sqrt", g.add(spread, g.const(1e-5)))), g.const(numpy.ones(c)))
        return g.reshape(g.transpose(y, 0, 2, 1), 1, c, side, side)

    def block(x, c, side, count):
        y = g.conv(g.conv(norm(x, c, side), c, 3 * c, 1, bias=False), 3 * c, 3 * c, 3, groups=3 * c, bias=False)
        q, k, v = (g.reshape(p, 1, count, c // count, side * side) for p in g.split(y, c, c, c))
        unit = lambda p: g.op("Div", p, g.op("Expand", g.op("Clip", g.op("ReduceL2", p, axes=[-1]), g.const(1e-12)),
                                             g.op("Shape", p)))
        scores = g.mul(g.op("MatMul", unit(q), g.transpose(unit(k), 0, 1, 3, 2)), g.weight(count, 1, 1, fan=1))
        y = g.reshape(g.op("MatMul", g.op("Softmax", scores, axis=-1), v), 1, c, side, side)
        x = g.add(x, g.conv(y, c, c, 1, bias=False))
        hidden = c * 8 // 3 // 4 * 4
        y = g.conv(norm(x, c, side), c, 2 * hidden, 1, bias=False)
        one, two = g.split(g.conv(y, 2 * hidden, 2 * hidden, 3, groups=2 * hidden, bias=False), hidden, hidden)
        return g.add(x, g.conv(g.mul(g.gelu(one), two), hidden, c, 1, bias=False))

    image, c, side, ways = g.input("image", [1, 3, 96, 96]), 32, 96, []
    x = g.conv(image, 3, c, 3, bias=False)
    for count in (1, 2):
        x = block(x, c, side, count)
        ways.append(x)
        x = g.op("SpaceToDepth", g.conv(x, c, c // 2, 3, bias=False), blocksize=2)
        c, side = 2 * c, side // 2
    x = block(x, c, side, 4)
    for count in (2, 1):
        x = g.op("DepthToSpace", g.conv(x, c, 2 * c, 3, bias=False), blocksize=2, mode="CRD")
        c, side = c // 2, 2 * side
        x = block(g.conv(g.concat(x, ways.pop()), 2 * c, c, 1, bias=False), c, side, count)
    g.output(g.add(g.conv(x, c, 3, 3, bias=False), image))


def group_norm(g, x, c, side, groups=32):
    """As exporters write it: groups are channels of an instance normalisation."""
    y = g.op("InstanceNormalization", g.op("Reshape", x, g.ints(0, groups, -1)), g.const(numpy.ones(groups)),
             g.const(numpy.zeros(groups)))
    y = g.op("Reshape", y, g.ints(1, c, side, side))
    return g.add(g.mul(y, g.const(numpy.ones((c, 1, 1)))), g.weight(c, 1, 1, fan=9))


def residual(g, x, before, after, side, time=None):
    y = g.conv(g.silu(group_norm(g, x, before, side)), before, after, 3)
    if time:
        y = g.add(y, g.unsqueeze(g.linear(g.silu(time), 256, after), 2, 3))
    y = g.conv(g.silu(group_norm(g, y, after, side)), after, after, 3)
    return g.add(g.conv(x, before, after, 1) if before != after else x, y)


@model
def denoiser(g):
    """A step of latent diffusion: time as waves, groups normalised, attention to itself and to a text."""
    g.opset = TRACED
    x, time, text = g.input("latent", [1, 4, 32, 32]), g.input("time", [1], fill="const=500"), g.input("text", [1, 77, 256])
    waves = g.mul(g.unsqueeze(time, 1), g.const(numpy.exp(-numpy.arange(32.0) * 0.288)[None]))
    time = g.concat(g.op("Cos", waves), g.op("Sin", waves))
    time = g.linear(g.silu(g.linear(time, 64, 256)), 256, 256)

    def attended(x, c, side, count=4):
        tokens, each = side * side, c // count
        y = g.conv(group_norm(g, x, c, side), c, c, 1)
        y = g.transpose(g.op("Reshape", y, g.ints(1, c, tokens)), 0, 2, 1)
        for other, length, width in ((None, tokens, c), (text, 77, 256)):
            h = g.layernorm(y, c)
            other = other or h
            q = heads_of(g, g.linear(h, c, c, False), tokens, count, each)
            k, v = (heads_of(g, g.linear(other, width, c, False), length, count, each) for _ in range(2))
            z = g.transpose(scaled_product(g, q, k, v, each), 0, 2, 1, 3)
            y = g.add(g.linear(g.op("Reshape", z, g.ints(1, tokens, c)), c, c), y)
        wide, by = g.op("Split", g.linear(g.layernorm(y, c), c, 8 * c), outs=2, axis=-1, num_outputs=2)
        y = g.add(g.linear(g.mul(wide, g.op("Gelu", by, approximate="none")), 4 * c, c), y)
        y = g.op("Reshape", g.transpose(y, 0, 2, 1), g.ints(1, c, side, side))
        return g.add(g.conv(y, c, c, 1), x)

    side, c, x, ways = 32, 64, g.conv(x, 4, 64, 3), []
    ways.append((x, c))
    for i, after in enumerate((64, 128)):
        x = residual(g, x, c, after, side, time)
        x, c = attended(x, after, side) if i else x, after
        ways.append((x, c))
        if not i:
            x, side = g.conv(x, c, c, 3, 2), side // 2
            ways.append((x, c))
    x = residual(g, attended(residual(g, x, c, c, side, time), c, side), c, c, side, time)
    for i, after in enumerate((128, 64)):
        for _ in range(2):
            way, width = ways.pop()
            x, c = residual(g, g.concat(x, way), c + width, after, side, time), after
        if not i:
            x = attended(x, c, side)
            x, side = g.conv(resize(g, x), c, c, 3), 2 * side
    g.output(g.conv(g.silu(group_norm(g, x, c, side)), c, 4, 3))


@model
def latent_decoder(g):
    """The picture of a latent: groups normalised, one attention with one head, maps doubled (the decoder of a VAE)."""
    side, c = 16, 256
    x = residual(g, g.conv(g.input("latent", [1, 4, side, side]), 4, c, 3), c, c, side)
    y = g.transpose(g.reshape(group_norm(g, x, c, side), 1, c, side * side), 0, 2, 1)
    q, k, v = (g.linear(y, c, c) for _ in range(3))
    scores = g.op("Softmax", g.mul(g.op("MatMul", q, g.transpose(k, 0, 2, 1)), g.const(c ** -0.5)), axis=-1)
    y = g.linear(g.op("MatMul", scores, v), c, c)
    x = g.add(x, g.reshape(g.transpose(y, 0, 2, 1), 1, c, side, side))
    for after in (256, 128, 64):
        x, c = residual(g, x, c, after, side), after
        x, side = g.conv(resize(g, x), c, c, 3), 2 * side
    g.output(g.conv(g.silu(group_norm(g, x, c, side)), c, 3, 3))


@model
def dense_depth(g):
    """Tokens of four layers become maps of four sizes, joined from small to large with corners aligned (DPT)."""
    width, side = 192, 12
    x = g.conv(g.input("image", [1, 3, 168, 168]), 3, width, 14, 14, 0)
    x = g.transpose(g.reshape(x, 1, width, side * side), 0, 2, 1)
    x = g.add(g.concat(g.weight(1, 1, width, fan=9), x), g.weight(1, side * side + 1, width, fan=9))
    maps = []
    for i, c in enumerate((48, 64, 96, 128)):
        x = g.add(x, attention(g, g.layernorm(x, width), side * side + 1, width, 3))
        y = g.linear(g.gelu(g.linear(g.layernorm(x, width), width, 4 * width)), 4 * width, width)
        x = g.add(x, y)
        y = g.slice(g.layernorm(x, width), 1, 2 ** 62, 1)
        y = g.conv(g.reshape(g.transpose(y, 0, 2, 1), 1, width, side, side), width, c, 1)
        if i < 2:
            k = 4 >> i
            y = g.op("ConvTranspose", y, g.weight(c, c, k, k, fan=c), g.weight(c, fan=9), kernel_shape=[k] * 2,
                     strides=[k] * 2)
        y = g.conv(y, c, c, 3, 2) if i == 3 else y
        maps.append(g.conv(y, c, 64, 3, bias=False))

    def unit(x):
        return g.add(g.conv(g.relu(g.conv(g.relu(x), 64, 64, 3)), 64, 64, 3), x)

    x, sides = None, (48, 24, 12, 6)
    for i in (3, 2, 1, 0):
        x = g.add(x, unit(maps[i])) if x else maps[i]
        size = sides[i - 1] if i else 96
        x = g.op("Resize", unit(x), "", "", g.ints(1, 64, size, size), mode="linear",
                 coordinate_transformation_mode="align_corners")
        x = g.conv(x, 64, 64, 1)
    x = g.op("Resize", g.conv(x, 64, 32, 3), "", "", g.ints(1, 32, 168, 168), mode="linear",
             coordinate_transformation_mode="align_corners")
    g.output(g.relu(g.conv(g.relu(g.conv(x, 32, 32, 3)), 32, 1, 1)))
