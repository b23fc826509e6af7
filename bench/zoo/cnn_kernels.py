"""cnn_kernels.py - classes and maps of pictures: kernels that are computed, very large, joined or of several sizes."""
import numpy

from graph import model, variants
from picture import (activate, average_pool, bottleneck, classify, conv_bn, max_pool, means, resize, separable,
                     squeeze_excite)


def mobileone(g, side, training):
    """Branches with a normalisation each, added before one activation; or what they become when they are joined."""

    def layer(x, before, after, kernel, stride, groups):
        if not training:
            return conv_bn(g, x, before, after, kernel, stride, groups=groups, fused=True)
        y = conv_bn(g, x, before, after, kernel, stride, groups=groups, act="")
        y = g.add(y, conv_bn(g, x, before, after, 1, stride, groups=groups, act="")) if kernel > 1 else y
        return g.relu(g.add(y, g.batchnorm(x, before)) if before == after and stride == 1 else y)

    x, before = layer(g.input("image", [1, 3, side, side]), 3, 48, 3, 2, 1), 48
    for after, repeats in ((48, 2), (128, 4), (256, 5), (512, 1)):
        for i in range(repeats):
            x = layer(x, before, before, 3, 1 if i else 2, before)
            x, before = layer(x, before, after, 1, 1, 1), after
    classify(g, x, before)


variants(mobileone, mobileone_224=(224, False), mobileone_training_128=(128, True))


@model
def mixed_experts(g):
    """Kernels are sums of four, weighted by what the picture shows (CondConv)."""

    def expert(x, before, after, kernel, stride=1, groups=1):
        route = g.op("Sigmoid", g.linear(means(g, x, 0), before, 4))
        each = after * (before // groups) * kernel * kernel
        weights = g.weight(4, each, fan=before // groups * kernel * kernel)
        weights = g.reshape(g.op("MatMul", route, weights), after, before // groups, kernel, kernel)
        x = g.op("Conv", x, weights, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4,
                 group=groups)
        return g.batchnorm(x, after)

    x, before = conv_bn(g, g.input("image", [1, 3, 160, 160]), 3, 32, 3, 2), 32
    for after, stride in ((32, 2), (64, 2), (64, 1), (128, 2), (128, 1)):
        y = activate(g, expert(x, before, 3 * before, 1), "silu")
        y = activate(g, expert(y, 3 * before, 3 * before, 3, stride, 3 * before), "silu")
        y = expert(y, 3 * before, after, 1)
        x, before = g.add(x, y) if stride == 1 and before == after else y, after
    classify(g, x, before)


@model
def modulated(g):
    """Two pictures at a time: kernels times a style, of length 1 again, and a convolution of groups for the batch;
    maps made larger by a depthwise blur between zeros (StyleGAN2)."""
    batch, w, side, image = 2, g.input("latent", [2, 128]), 8, None
    blur = numpy.outer([1, 3, 3, 1], [1, 3, 3, 1]).astype("float32") / 16

    def styled(x, before, after, kernel, side, normal=True):
        style = g.reshape(g.linear(w, 128, before), batch, 1, before, 1, 1)
        kernels = g.mul(g.weight(1, after, before, kernel, kernel), style)
        if normal:
            squares = g.op("ReduceSum", g.op("Pow", kernels, g.const(2.0)), g.ints(2, 3, 4), keepdims=0)
            length = g.op("Reciprocal", g.op("Sqrt", g.add(squares, g.const(1e-8))))
            kernels = g.mul(kernels, g.reshape(length, batch, after, 1, 1, 1))
        kernels = g.reshape(kernels, batch * after, before, kernel, kernel)
        x = g.op("Conv", g.reshape(x, 1, batch * before, side, side), kernels, group=batch, pads=[kernel // 2] * 4,
                 kernel_shape=[kernel] * 2)
        return g.reshape(x, batch, after, side, side)

    def larger(x, c, side):
        x = g.op("Pad", g.reshape(x, batch, c, side, 1, side, 1), g.ints(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1))
        x = g.op("Pad", g.reshape(x, batch, c, 2 * side, 2 * side), g.ints(0, 0, 2, 2, 0, 0, 1, 1))
        return g.op("Conv", x, g.const(numpy.tile(blur, (c, 1, 1, 1))), group=c, kernel_shape=[4, 4])

    x, before = g.op("Expand", g.weight(1, 128, 8, 8, fan=1), g.ints(batch, 128, 8, 8)), 128
    for after in (128, 96, 64, 32):
        for _ in range(2):
            x, before = styled(x, before, after, 3, side), after
            x = g.add(x, g.mul(g.weight(1, 1, side, side, fan=1), g.const(0.1)))
            x = g.op("LeakyRelu", g.add(x, g.weight(1, after, 1, 1, fan=9)), alpha=0.2)
        colours = g.add(styled(x, after, 3, 1, side, False), g.weight(1, 3, 1, 1, fan=9))
        image = g.add(larger(image, 3, side // 2), colours) if image else colours
        if side < 64:
            x, side = larger(x, after, side), 2 * side
    g.output(image)


def unfolded(g, x, c, side, kernel):
    """Places around every place, as PyTorch's exporter writes it: rows, then columns, taken by number."""
    around = numpy.arange(kernel)[:, None] + numpy.arange(side)[None]
    x = g.op("Pad", x, g.ints(*[0, 0, kernel // 2, kernel // 2] * 2))
    x = g.op("Gather", x, g.const(around, "int64"), axis=2)
    x = g.op("Gather", x, g.const(around, "int64"), axis=4)
    return g.reshape(g.transpose(x, 0, 1, 2, 4, 3, 5), 1, c * kernel * kernel, side * side)


@model
def involution(g):
    """Every place has a kernel of its own, which 16 channels share (RedNet)."""

    def layer(x, c, side):
        kernel, groups = 7, c // 16
        y = g.conv(conv_bn(g, x, c, c // 4, 1), c // 4, groups * kernel * kernel, 1)
        y = g.unsqueeze(g.reshape(y, 1, groups, kernel * kernel, side, side), 2)
        near = g.reshape(unfolded(g, x, c, side, kernel), 1, groups, 16, kernel * kernel, side, side)
        x = g.op("ReduceSum", g.mul(y, near), g.ints(3), keepdims=0)
        return g.relu(g.batchnorm(g.reshape(x, 1, c, side, side), c))

    x, before, side = max_pool(g, conv_bn(g, g.input("image", [1, 3, 112, 112]), 3, 64, 3, 2)), 64, 28
    for i, after in enumerate((128, 256)):
        for j in range(2):
            way = x
            y = conv_bn(g, x, before, after // 2, 1)
            if i and not j:
                y, way, side = average_pool(g, y, 2, 2), average_pool(g, x, 2, 2), side // 2
            y = conv_bn(g, layer(y, after // 2, side), after // 2, after, 1, act="")
            way = conv_bn(g, way, before, after, 1, act="") if before != after else way
            x, before = g.relu(g.add(y, way)), after
    classify(g, x, before, 100)


@model
def octave(g):
    """A quarter of the channels at half the size; both parts feed both."""

    def layer(high, low, before, after, stride=1, act="relu"):
        h, l, hb, lb = after * 3 // 4, after // 4, before * 3 // 4, before // 4
        if stride == 2:
            high, low = average_pool(g, high, 2, 2), average_pool(g, low, 2, 2) if low else None
        if not low:
            hb, lb = before, 0
        to_high = g.conv(high, hb, h, 3, bias=False)
        to_low = g.conv(average_pool(g, high, 2, 2), hb, l, 3, bias=False)
        if low:
            to_high = g.add(to_high, resize(g, g.conv(low, lb, h, 3, bias=False)))
            to_low = g.add(to_low, g.conv(low, lb, l, 3, bias=False))
        return activate(g, g.batchnorm(to_high, h), act), activate(g, g.batchnorm(to_low, l), act)

    x, before = conv_bn(g, g.input("image", [1, 3, 160, 160]), 3, 32, 3, 2), 32
    high, low = layer(x, None, 32, 64, 2)
    before = 64
    for after, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1)):
        y, z = layer(high, low, before, after, stride)
        if stride == 1 and after == before:
            y, z = g.add(y, high), g.add(z, low)
        high, low, before = y, z, after
    classify(g, g.concat(average_pool(g, high, 2, 2), low), before)


@model
def large_kernels(g):
    """Depthwise kernels of 31, 27 and 13 places between thin layers (RepLKNet, joined)."""
    x, before = separable(g, conv_bn(g, g.input("image", [1, 3, 128, 128]), 3, 48, 3, 2, fused=True), 48, 48, 3, 2,
                          fused=True), 48
    for after, kernel in ((48, 31), (96, 27), (192, 13)):
        if after != before:
            x = conv_bn(g, x, before, after, 1, fused=True)
            x, before = conv_bn(g, x, after, after, 3, 2, groups=after, fused=True), after
        for _ in range(2):
            y = conv_bn(g, g.batchnorm(x, after), after, after, 1, fused=True)
            y = conv_bn(g, y, after, after, kernel, groups=after, fused=True)
            x = g.add(x, g.conv(y, after, after, 1))
            y = activate(g, g.conv(g.batchnorm(x, after), after, 4 * after, 1), "gelu")
            x = g.add(x, g.conv(y, 4 * after, after, 1))
    classify(g, x, before)


@model
def kernel_attention(g):
    """A depthwise kernel, a dilated one and a product gate the map they were made of (VAN)."""
    x, before = g.input("image", [1, 3, 160, 160]), 3
    for i, (c, repeats) in enumerate(((32, 2), (64, 2), (160, 2), (256, 2))):
        x, before = g.batchnorm(g.conv(x, before, c, 3 if i else 7, 2 if i else 4), c), c
        for _ in range(repeats):
            y = g.gelu(g.conv(g.batchnorm(x, c), c, c, 1))
            gate = g.conv(g.conv(y, c, c, 5, groups=c), c, c, 7, groups=c, dilation=3)
            y = g.conv(g.mul(g.conv(gate, c, c, 1), y), c, c, 1)
            x = g.add(x, g.mul(y, g.weight(c, 1, 1, fan=100)))
            y = g.conv(g.batchnorm(x, c), c, 4 * c, 1)
            y = g.conv(g.gelu(g.conv(y, 4 * c, 4 * c, 3, groups=4 * c)), 4 * c, c, 1)
            x = g.add(x, g.mul(y, g.weight(c, 1, 1, fan=100)))
        x = g.transpose(g.reshape(x, 1, c, -1), 0, 2, 1)
        side = 40 >> i
        x = g.reshape(g.transpose(g.layernorm(x, c), 0, 2, 1), 1, c, side, side)
    classify(g, x, before)


@model
def blurred_pools(g):
    """Every step down is a fixed blur of a map that is mirrored at its edges (antialiased ResNet)."""
    blur = numpy.outer([1, 2, 1], [1, 2, 1]).astype("float32") / 16

    def down(x, c):
        x = g.op("Pad", x, g.ints(0, 0, 1, 1, 0, 0, 1, 1), mode="reflect")
        return g.op("Conv", x, g.const(numpy.tile(blur, (c, 1, 1, 1))), group=c, kernel_shape=[3, 3], strides=[2, 2])

    x, before = conv_bn(g, g.input("image", [1, 3, 128, 128]), 3, 32, 7, 2), 32
    x = down(max_pool(g, x, 2, 1, 0), 32)
    for after in (32, 64, 128, 256):
        y = conv_bn(g, x, before, after)
        y = down(y, after) if after != before else y
        y = squeeze_excite(g, conv_bn(g, y, after, after, act=""), after, after // 8)
        way = conv_bn(g, down(x, before), before, after, 1, act="") if after != before else x
        x, before = g.relu(g.add(y, way)), after
    classify(g, x, before)


@model
def unpooled(g):
    """Maxima go back to the places they came from; asymmetric and dilated kernels, an activation with a slope for each
    channel (ENet)."""

    def prelu(x, c):
        return g.op("PRelu", x, g.const(0.25 * g.random.random((c, 1, 1))))

    def block(x, c, kind=1):
        y = prelu(conv_bn(g, x, c, c // 4, 1, act=""), c // 4)
        if kind == 5:
            y = conv_bn(g, g.conv(y, c // 4, c // 4, (5, 1), bias=False), c // 4, c // 4, (1, 5), act="")
        else:
            y = conv_bn(g, y, c // 4, c // 4, 3, dilation=kind, act="")
        y = conv_bn(g, prelu(y, c // 4), c // 4, c, 1, act="")
        return prelu(g.add(x, y), c)

    def down(x, before, after):
        pooled, where = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], outs=2)
        pooled = g.op("Pad", pooled, g.ints(0, 0, 0, 0, 0, after - before, 0, 0))
        y = prelu(conv_bn(g, x, before, before // 4, 2, 2, pad=0, act=""), before // 4)
        y = prelu(conv_bn(g, y, before // 4, before // 4, 3, act=""), before // 4)
        return prelu(g.add(conv_bn(g, y, before // 4, after, 1, act=""), pooled), after), where

    def up(x, before, after, where):
        way = g.op("MaxUnpool", conv_bn(g, x, before, after, 1, act=""), where, kernel_shape=[2, 2], strides=[2, 2])
        y = g.relu(conv_bn(g, x, before, after // 4, 1, act=""))
        y = resize(g, conv_bn(g, y, after // 4, after // 4, 3), 2)
        return g.relu(g.add(way, conv_bn(g, y, after // 4, after, 1, act="")))

    image = g.input("image", [1, 3, 256, 256])
    first = g.concat(g.conv(image, 3, 13, 3, 2), max_pool(g, image, 2, 2, 0))
    x, one = down(prelu(g.batchnorm(first, 16), 16), 16, 64)
    x, two = down(block(block(x, 64), 64), 64, 128)
    for kind in (1, 2, 5, 4, 1, 8, 5, 16):
        x = block(x, 128, kind)
    x = block(up(x, 128, 64, two), 64)
    x = block(up(x, 64, 16, one), 16)
    g.output(g.op("ConvTranspose", x, g.weight(16, 12, 2, 2), kernel_shape=[2, 2], strides=[2, 2]))
