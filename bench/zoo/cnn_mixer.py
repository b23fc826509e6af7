"""cnn_mixer.py - classes of pictures: patches, windows and tokens."""
import numpy

from graph import model
from picture import attention, average_pool, classify, conv_bn, in_half, inverted, transformer


def convnext_layers(g, x, widths=(96, 192, 384, 768), repeats=(2, 2, 4, 2), decomposed=False):
    """Layer normalisation over channels that lie last, around products; decomposed: written out over axis 1."""

    def norm(v, c, axis=-1):
        if not decomposed:
            return g.layernorm(v, c)
        centred = g.op("Sub", v, g.op("ReduceMean", v, axes=[axis]))
        spread = g.op("ReduceMean", g.op("Pow", centred, g.const(2.0)), axes=[axis])
        v = g.op("Div", centred, g.op("Sqrt", g.add(spread, g.const(1e-6))))
        dims = (c,) if axis == -1 else (c, 1, 1)
        return g.add(g.mul(v, g.const(numpy.ones(dims))), g.weight(*dims, fan=9))

    def first(v, c):
        if decomposed:
            return norm(v, c, 1)
        return g.transpose(norm(g.transpose(v, 0, 2, 3, 1), c), 0, 3, 1, 2)

    x = first(g.conv(x, 3, widths[0], 4, 4, 0), widths[0])
    for i, (c, count) in enumerate(zip(widths, repeats)):
        if i:
            x = g.conv(first(x, widths[i - 1]), widths[i - 1], c, 2, 2, 0)
        for _ in range(count):
            y = g.transpose(g.conv(x, c, c, 7, groups=c), 0, 2, 3, 1)
            y = g.linear(g.gelu(g.linear(norm(y, c), c, 4 * c)), 4 * c, c)
            y = g.transpose(g.mul(y, g.weight(c, fan=100)), 0, 3, 1, 2)
            x = g.add(x, y)
    classify(g, x, widths[-1])


@model
def convnext(g):
    convnext_layers(g, g.input("image", [1, 3, 160, 160]))


@model
def convnext_written_out(g):
    convnext_layers(g, g.input("image", [1, 3, 128, 128]), decomposed=True)


@model
def convnext_half(g):
    convnext_layers(g, g.input("image", [1, 3, 128, 128]), (64, 128, 256, 512))
    in_half(g)


@model
def swin(g):
    """Attention in windows that shift: Slice and Concat roll the map, Reshape and Transpose cut it."""
    window = 7

    def rolled(x, by, side):
        for axis in (1, 2):
            cut = lambda a, b: g.op("Slice", x, g.ints(a), g.ints(b), g.ints(axis))
            x = g.concat(cut(by % side, side), cut(0, by % side), axis=axis)
        return x

    def block(x, side, width, heads, shift):
        n, tokens = side // window, window * window
        table = g.weight((2 * window - 1) ** 2, heads, fan=25)
        index = g.const(g.random.integers(0, (2 * window - 1) ** 2, tokens * tokens), "int64")
        near = g.transpose(g.reshape(g.op("Gather", table, index), tokens, tokens, heads), 2, 0, 1)
        mask = g.const(numpy.where(g.random.random((n * n, 1, tokens, tokens)) < 0.2, -100.0, 0.0))

        def bias(scores):
            scores = g.add(scores, g.op("Unsqueeze", near, g.ints(0)))
            if not shift:
                return scores
            five = g.reshape(scores, 1, n * n, heads, tokens, tokens)
            return g.reshape(g.add(five, g.op("Unsqueeze", mask, g.ints(0))), n * n, heads, tokens, tokens)

        y = g.reshape(g.layernorm(x, width), 1, side, side, width)
        y = rolled(y, shift, side) if shift else y
        y = g.transpose(g.reshape(y, 1, n, window, n, window, width), 0, 1, 3, 2, 4, 5)
        y = attention(g, g.reshape(y, n * n, tokens, width), tokens, width, heads, n * n, bias)
        y = g.transpose(g.reshape(y, 1, n, n, window, window, width), 0, 1, 3, 2, 4, 5)
        y = g.reshape(y, 1, side, side, width)
        y = rolled(y, -shift, side) if shift else y
        x = g.add(x, g.reshape(y, 1, side * side, width))
        return g.add(x, g.linear(g.gelu(g.linear(g.layernorm(x, width), width, 4 * width)), 4 * width, width))

    side, width = 28, 96
    x = g.conv(g.input("image", [1, 3, 112, 112]), 3, width, 4, 4, 0)
    x = g.layernorm(g.transpose(g.reshape(x, 1, width, side * side), 0, 2, 1), width)
    for i, repeats in enumerate((2, 2, 4)):
        if i:
            x = g.reshape(x, 1, side, side, width)
            quarter = lambda a, b: g.op("Slice", x, g.ints(a, b), g.ints(side, side), g.ints(1, 2), g.ints(2, 2))
            x = g.concat(quarter(0, 0), quarter(1, 0), quarter(0, 1), quarter(1, 1), axis=3)
            side //= 2
            x = g.linear(g.layernorm(g.reshape(x, 1, side * side, 4 * width), 4 * width), 4 * width, 2 * width, False)
            width *= 2
        for j in range(repeats):
            x = block(x, side, width, width // 32, window // 2 if j % 2 and side > window else 0)
    x = g.op("ReduceMean", g.layernorm(x, width), axes=[1], keepdims=0)
    g.output(g.linear(x, width, 1000))


@model
def mobilevit(g):
    """Convolutions with transformers over pixels that are two apart."""

    def unfolded(x, c, side, width, heads, layers):
        y = g.conv(conv_bn(g, x, c, c, 3, act="silu"), c, width, 1, bias=False)
        n = side // 2
        y = g.transpose(g.reshape(y, width * n, 2, n, 2), 0, 2, 1, 3)
        y = g.reshape(g.transpose(g.reshape(y, 1, width, n * n, 4), 0, 3, 2, 1), 4, n * n, width)
        for _ in range(layers):
            y = transformer(g, y, n * n, width, heads, 2 * width, 4, "silu")
        y = g.transpose(g.reshape(g.layernorm(y, width), 1, 4, n * n, width), 0, 3, 2, 1)
        y = g.transpose(g.reshape(y, width * n, n, 2, 2), 0, 2, 1, 3)
        y = conv_bn(g, g.reshape(y, 1, width, side, side), width, c, 1, act="silu")
        return conv_bn(g, g.concat(x, y), 2 * c, c, 3, act="silu")

    down = lambda v, a, b, s: inverted(g, v, a, 4 * a, b, 3, s, "silu")
    x = conv_bn(g, g.input("image", [1, 3, 192, 192]), 3, 16, 3, 2, act="silu")
    x = down(down(down(x, 16, 32, 1), 32, 48, 2), 48, 48, 1)
    x = unfolded(down(x, 48, 64, 2), 64, 24, 96, 4, 2)
    x = unfolded(down(x, 64, 80, 2), 80, 12, 120, 4, 4)
    x = unfolded(down(x, 80, 96, 2), 96, 6, 144, 4, 3)
    classify(g, conv_bn(g, x, 96, 384, 1, act="silu"), 384)


@model
def convmixer(g):
    """Depthwise 9x9 around which a residual goes, then 1x1; GELU before the normalisation."""
    c = 256
    x = g.batchnorm(g.gelu(g.conv(g.input("image", [1, 3, 168, 168]), 3, c, 7, 7, 0)), c)
    for _ in range(6):
        x = g.add(g.batchnorm(g.gelu(g.conv(x, c, c, 9, groups=c)), c), x)
        x = g.batchnorm(g.gelu(g.conv(x, c, c, 1)), c)
    classify(g, x, c)


@model
def poolformer(g):
    """Average pools in place of attention, a normalisation over all (one group), factors per layer."""

    def norm(x, c):
        flat = g.op("InstanceNormalization", g.reshape(x, 0, 1, -1), g.const([1.0]), g.const([0.0]))
        x = g.op("Reshape", flat, g.op("Shape", x))
        return g.add(g.mul(x, g.weight(c, 1, 1, fan=9)), g.weight(c, 1, 1, fan=9))

    x, before = g.input("image", [1, 3, 160, 160]), 3
    for i, c in enumerate((64, 128, 320, 512)):
        x = g.conv(x, before, c, 3 if i else 7, 2 if i else 4, 1 if i else 2)
        before = c
        for _ in range(2):
            y = norm(x, c)
            y = g.op("Sub", average_pool(g, y, 3, 1, 1, count_include_pad=0), y)
            x = g.add(x, g.mul(g.weight(c, 1, 1, fan=9), y))
            y = g.conv(g.gelu(g.conv(norm(x, c), c, 4 * c, 1)), 4 * c, c, 1)
            x = g.add(x, g.mul(g.weight(c, 1, 1, fan=9), y))
    classify(g, x, 512)


@model
def mlp_mixer(g):
    """Products over channels and, transposed, over places."""
    tokens, c = 196, 256
    x = g.conv(g.input("image", [1, 3, 224, 224]), 3, c, 16, 16, 0)
    x = g.transpose(g.reshape(x, 1, c, tokens), 0, 2, 1)
    mlp = lambda v, n, hidden: g.linear(g.gelu(g.linear(v, n, hidden)), hidden, n)
    for _ in range(6):
        y = mlp(g.transpose(g.layernorm(x, c), 0, 2, 1), tokens, 256)
        x = g.add(x, g.transpose(y, 0, 2, 1))
        x = g.add(x, mlp(g.layernorm(x, c), c, 1024))
    g.output(g.linear(g.op("ReduceMean", g.layernorm(x, c), axes=[1], keepdims=0), c, 1000))


@model
def vision_transformer(g):
    tokens, width = 197, 192
    x = g.conv(g.input("image", [1, 3, 224, 224]), 3, width, 16, 16, 0)
    x = g.transpose(g.reshape(x, 1, width, tokens - 1), 0, 2, 1)
    x = g.add(g.concat(g.weight(1, 1, width, fan=9), x, axis=1), g.weight(1, tokens, width, fan=9))
    for _ in range(6):
        x = transformer(g, x, tokens, width, 3, 768)
    first = g.op("Gather", g.layernorm(x, width), g.const(0, "int64"), axis=1)
    g.output(g.linear(first, width, 1000))


@model
def segment_transformer(g):
    """Attention whose keys come from a smaller map, a depthwise convolution inside the products (SegFormer)."""
    x, before, side, maps = g.input("image", [1, 3, 256, 256]), 3, 256, []
    for i, (c, heads, shrink) in enumerate(((32, 1, 8), (64, 2, 4), (160, 5, 2), (256, 8, 1))):
        x = g.conv(x, before, c, 3 if i else 7, 2 if i else 4, 1 if i else 3)
        side, before = side // (2 if i else 4), c
        tokens, each = side * side, c // heads
        x = g.layernorm(g.transpose(g.reshape(x, 1, c, tokens), 0, 2, 1), c)
        picture = lambda v, n: g.reshape(g.transpose(v, 0, 2, 1), 1, n, side, side)
        rows = lambda v, n: g.transpose(g.reshape(v, 1, n, -1), 0, 2, 1)
        for _ in range(2):
            y = g.layernorm(x, c)
            split = lambda v, n: g.transpose(g.reshape(v, 1, n, heads, each), 0, 2, 1, 3)
            few = y
            if shrink > 1:
                few = g.layernorm(rows(g.conv(picture(y, c), c, c, shrink, shrink, 0), c), c)
            n = tokens // shrink // shrink
            q, k, v = split(g.linear(y, c, c), tokens), split(g.linear(few, c, c), n), split(g.linear(few, c, c), n)
            scores = g.op("Div", g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), g.const(each ** 0.5))
            y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
            x = g.add(x, g.linear(g.reshape(g.transpose(y, 0, 2, 1, 3), 1, tokens, c), c, c))
            y = g.linear(g.layernorm(x, c), c, 4 * c)
            y = rows(g.conv(picture(y, 4 * c), 4 * c, 4 * c, 3, groups=4 * c), 4 * c)
            x = g.add(x, g.linear(g.gelu(y), 4 * c, c))
        x = picture(g.layernorm(x, c), c)
        y = g.reshape(g.transpose(g.linear(rows(x, c), c, 128), 0, 2, 1), 1, 128, side, side)
        maps.insert(0, g.op("Resize", y, "", "", g.ints(1, 128, 64, 64), mode="linear",
                            coordinate_transformation_mode="half_pixel") if i else y)
    g.output(g.conv(conv_bn(g, g.concat(*maps), 512, 128, 1), 128, 19, 1))
