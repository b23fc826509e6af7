"""cnn.py - classes of pictures: networks of large convolutions."""
from graph import model
from picture import (average_pool, basic_block, bottleneck, classify, clip, conv_bn, max_pool, means, squeeze_excite)


@model
def vgg16(g):
    x, before = g.input("image", [1, 3, 112, 112]), 3
    for after, repeats in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(repeats):
            x, before = g.relu(g.conv(x, before, after, 3)), after
        x = max_pool(g, x, 2, 2, 0)
    x = g.op("Flatten", x)
    x = g.relu(g.linear(x, 512 * 9, 1024))
    g.output(g.linear(g.relu(g.linear(x, 1024, 1024)), 1024, 1000))


@model
def googlenet(g):
    """Four ways side by side, joined by channels."""

    def inception(x, before, a, b, c, d):
        ways = [conv_bn(g, x, before, a, 1, fused=True)]
        ways.append(conv_bn(g, conv_bn(g, x, before, b[0], 1, fused=True), b[0], b[1], 3, fused=True))
        ways.append(conv_bn(g, conv_bn(g, x, before, c[0], 1, fused=True), c[0], c[1], 5, fused=True))
        ways.append(conv_bn(g, max_pool(g, x, 3, 1), before, d, 1, fused=True))
        return g.concat(*ways)

    norm = lambda v: g.op("LRN", v, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    x = g.relu(g.conv(g.input("image", [1, 3, 224, 224]), 3, 64, 7, 2))
    x = norm(max_pool(g, x, 3, 2, 0, ceil_mode=1))
    x = g.relu(g.conv(g.relu(g.conv(x, 64, 64, 1)), 64, 192, 3))
    x, before = max_pool(g, norm(x), 3, 2, 0, ceil_mode=1), 192
    for i, (a, b, c, d) in enumerate((
            (64, (96, 128), (16, 32), 32), (128, (128, 192), (32, 96), 64), (192, (96, 208), (16, 48), 64),
            (160, (112, 224), (24, 64), 64), (128, (128, 256), (24, 64), 64), (112, (144, 288), (32, 64), 64),
            (256, (160, 320), (32, 128), 128), (256, (160, 320), (32, 128), 128),
            (384, (192, 384), (48, 128), 128))):
        if i in (2, 7):
            x = max_pool(g, x, 3, 2, 0, ceil_mode=1)
        x, before = inception(x, before, a, b, c, d), a + b[1] + c[1] + d
    classify(g, x, before)


@model
def inception_v3(g):
    """Convolutions of one row and one column; half of the repetitions."""

    def chain(x, before, *layers, **first):
        for after, kernel in layers:
            x, before = conv_bn(g, x, before, after, kernel, **first), after
        return x

    def pooled(x, before, after):
        return conv_bn(g, average_pool(g, x, 3, 1, 1, count_include_pad=1), before, after, 1)

    x = conv_bn(g, g.input("image", [1, 3, 235, 235]), 3, 32, 3, 2, pad=0)
    x = conv_bn(g, conv_bn(g, x, 32, 32, 3, pad=0), 32, 64, 3)
    x = conv_bn(g, conv_bn(g, max_pool(g, x, 3, 2, 0), 64, 80, 1), 80, 192, 3, pad=0)
    x, c = max_pool(g, x, 3, 2, 0), 192
    for pool in (32, 64):
        x = g.concat(chain(x, c, (64, 1)), chain(x, c, (48, 1), (64, 5)), chain(x, c, (64, 1), (96, 3), (96, 3)),
                     pooled(x, c, pool))
        c = 224 + pool
    x = g.concat(conv_bn(g, x, c, 384, 3, 2, pad=0),
                 conv_bn(g, chain(x, c, (64, 1), (96, 3)), 96, 96, 3, 2, pad=0), max_pool(g, x, 3, 2, 0))
    c += 480
    for w in (128, 160):
        row, column = (w, (1, 7)), (w, (7, 1))
        x = g.concat(chain(x, c, (192, 1)), chain(x, c, (w, 1), row, (192, (7, 1))),
                     chain(x, c, (w, 1), column, row, column, (192, (1, 7))), pooled(x, c, 192))
        c = 768
    x = g.concat(conv_bn(g, chain(x, c, (192, 1)), 192, 320, 3, 2, pad=0),
                 conv_bn(g, chain(x, c, (192, 1), (192, (1, 7)), (192, (7, 1))), 192, 192, 3, 2, pad=0),
                 max_pool(g, x, 3, 2, 0))
    c = 1280
    a, b = chain(x, c, (384, 1)), chain(x, c, (448, 1), (384, 3))
    both = lambda v: g.concat(chain(v, 384, (384, (1, 3))), chain(v, 384, (384, (3, 1))))
    classify(g, g.concat(chain(x, c, (320, 1)), both(a), both(b), pooled(x, c, 192)), 2048)


@model
def densenet121(g):
    """Each layer reads all before it: normalisation in front of the convolution cannot be folded back."""

    def layer(x, before):
        y = g.relu(g.batchnorm(x, before))
        y = conv_bn(g, y, before, 128, 1)
        return g.concat(x, g.conv(y, 128, 32, 3, bias=False))

    x, c = max_pool(g, conv_bn(g, g.input("image", [1, 3, 160, 160]), 3, 64, 7, 2)), 64
    for i, repeats in enumerate((6, 12, 24, 16)):
        for _ in range(repeats):
            x, c = layer(x, c), c + 32
        if i < 3:
            x = g.conv(g.relu(g.batchnorm(x, c)), c, c // 2, 1, bias=False)
            x, c = average_pool(g, x, 2, 2), c // 2
    classify(g, g.relu(g.batchnorm(x, c)), c)


def staged(g, side, stem, stages, block):
    """A residual network: stages are (channels, repeats); block(x, before, after, stride)."""
    x, before = max_pool(g, conv_bn(g, g.input("image", [1, 3, side, side]), 3, stem, 7, 2)), stem
    for i, (after, repeats) in enumerate(stages):
        for j in range(repeats):
            x, before = block(x, before, after, 2 if i and not j else 1), after
    classify(g, x, before)


@model
def resnet34(g):
    staged(g, 160, 64, ((64, 3), (128, 4), (256, 6), (512, 3)), lambda *a: basic_block(g, *a))


@model
def resnext50(g):
    """Groups of 4 to 32 channels."""
    staged(g, 160, 64, ((256, 3), (512, 4), (1024, 6), (2048, 3)),
           lambda x, a, b, s: bottleneck(g, x, a, b // 2, b, s, groups=32))


@model
def wide_resnet_fused(g):
    """As exporters write it that fold normalisation."""
    staged(g, 128, 64, ((256, 2), (512, 2), (1024, 2), (2048, 2)),
           lambda x, a, b, s: bottleneck(g, x, a, b // 2, b, s, fused=True))


@model
def se_resnet50(g):
    staged(g, 160, 64, ((256, 3), (512, 4), (1024, 6), (2048, 3)),
           lambda x, a, b, s: bottleneck(g, x, a, b // 4, b, s, squeeze=b // 16))


@model
def regnet_y(g):
    """Groups of 24 channels and gates."""

    def block(x, before, after, stride):
        y = conv_bn(g, conv_bn(g, x, before, after, 1), after, after, 3, stride, groups=after // 24)
        y = conv_bn(g, squeeze_excite(g, y, after, before // 4), after, after, 1, act="")
        way = conv_bn(g, x, before, after, 1, stride, act="") if stride > 1 or before != after else x
        return g.relu(g.add(y, way))

    x, before = conv_bn(g, g.input("image", [1, 3, 224, 224]), 3, 32, 3, 2), 32
    for after, repeats in ((48, 2), (120, 4), (336, 7), (888, 1)):
        for j in range(repeats):
            x, before = block(x, before, after, 1 if j else 2), after
    classify(g, x, before)


@model
def sknet(g):
    """Two kernels side by side, weighted by a softmax over both."""

    def select(x, c, stride, hidden):
        ways = [conv_bn(g, x, c, c, 3, stride, groups=32, dilation=d) for d in (1, 2)]
        squeezed = means(g, g.add(*ways))
        hid = g.relu(g.conv(squeezed, c, hidden, 1))
        weights = g.op("Softmax", g.reshape(g.conv(hid, hidden, 2 * c, 1), 1, 2, c, 1, 1), axis=1)
        stacked = g.op("Concat", *[g.op("Unsqueeze", w, g.ints(1)) for w in ways], axis=1)
        return g.op("ReduceSum", g.mul(stacked, weights), g.ints(1), keepdims=0)

    def block(x, before, after, stride):
        y = select(conv_bn(g, x, before, after // 2, 1), after // 2, stride, max(after // 32, 32))
        y = conv_bn(g, y, after // 2, after, 1, act="")
        return g.relu(g.add(y, conv_bn(g, x, before, after, 1, stride, act="") if stride > 1 or before != after else x))

    staged(g, 128, 64, ((256, 2), (512, 2), (1024, 3), (2048, 1)), block)


@model
def dpn(g):
    """A residual path and a dense one beside each other: Split, Add and Concat in every block."""
    x, dense = max_pool(g, conv_bn(g, g.input("image", [1, 3, 128, 128]), 3, 64, 7, 2)), 0
    residual = before = 64
    for i, (width, after, grow, repeats) in enumerate(((96, 256, 16, 2), (192, 512, 32, 3), (384, 1024, 24, 4))):
        for j in range(repeats):
            stride = 2 if i and not j else 1
            y = conv_bn(g, conv_bn(g, x, before, width, 1), width, width, 3, stride, groups=32)
            y = conv_bn(g, y, width, after + grow, 1, act="")
            new, more = g.split(y, after, grow)
            if j == 0:
                way = conv_bn(g, x, before, after + 2 * grow, 1, stride, act="")
                old, past = g.split(way, after, 2 * grow)
                residual, dense = after, 2 * grow
            else:
                old, past = g.split(x, residual, dense)
            dense += grow
            x, before = g.relu(g.concat(g.add(old, new), past, more)), residual + dense
    classify(g, x, before)


@model
def xception(g):
    """Activation in front of depthwise convolutions."""

    def sep(x, before, after):
        x = g.conv(x, before, before, 3, groups=before, bias=False)
        return g.batchnorm(g.conv(x, before, after, 1, bias=False), after)

    x = conv_bn(g, conv_bn(g, g.input("image", [1, 3, 149, 149]), 3, 32, 3, 2, pad=0), 32, 64, 3, pad=0)
    before = 64
    for after in (128, 256, 728):
        y = sep(g.relu(sep(g.relu(x) if before > 64 else x, before, after)), after, after)
        x = g.add(max_pool(g, y, 3, 2), conv_bn(g, x, before, after, 1, 2, act=""))
        before = after
    for _ in range(4):
        y = x
        for _ in range(3):
            y = sep(g.relu(y), before, before)
        x = g.add(x, y)
    x = g.relu(sep(x, before, 1024))
    classify(g, x, 1024)


@model
def repvgg_training(g):
    """Three ways that a deployment would add up: 3x3, 1x1 and none, each normalised."""
    x, before = g.input("image", [1, 3, 160, 160]), 3
    for after, repeats in ((48, 1), (48, 2), (96, 3), (192, 4), (640, 1)):
        for j in range(repeats):
            stride = 1 if j else 2
            y = g.add(conv_bn(g, x, before, after, 3, stride, act=""), conv_bn(g, x, before, after, 1, stride, act=""))
            x, before = g.relu(g.add(y, g.batchnorm(x, after)) if j else y), after
    classify(g, x, before)


@model
def nfnet(g):
    """No normalisation: weights are standardised, GELU is scaled, gates doubled."""

    def block(x, before, after, stride):
        y = g.mul(g.gelu(x), g.const(1.7015))
        way = x
        if stride > 1 or before != after:
            way = g.conv(average_pool(g, y, 2, 2) if stride > 1 else y, before, after, 1)
        y = g.gelu(g.conv(y, before, after // 2, 1))
        y = g.gelu(g.conv(y, after // 2, after // 2, 3, stride, groups=after // 128))
        y = g.gelu(g.conv(y, after // 2, after // 2, 3, groups=after // 128))
        y = squeeze_excite(g, g.conv(y, after // 2, after, 1), after, after // 4)
        return g.add(g.mul(y, g.const(0.4)), way)

    x, before = g.input("image", [1, 3, 128, 128]), 3
    for after, stride in ((16, 2), (32, 1), (64, 1), (128, 2)):
        x, before = g.gelu(g.conv(x, before, after, 3, stride)), after
    for i, (after, repeats) in enumerate(((256, 1), (512, 2), (1536, 2))):
        for j in range(repeats):
            x, before = block(x, before, after, 2 if i and not j else 1), after
    classify(g, x, before)


@model
def coordconv(g):
    """Coordinates of the pixels are two more channels, made anew by the model."""

    def with_coordinates(x, channels, side):
        line = g.const([i / side for i in range(side)])
        across = g.op("Expand", g.reshape(line, 1, 1, 1, side), g.ints(1, 1, side, side))
        down = g.op("Expand", g.reshape(line, 1, 1, side, 1), g.ints(1, 1, side, side))
        return g.concat(x, across, down), channels + 2

    x, c, side = g.input("image", [1, 3, 128, 128]), 3, 128
    for after in (32, 64, 128, 128):
        x, c = with_coordinates(x, c, side)
        x, c, side = clip(g, g.conv(x, c, after, 3, 2), -1, 1), after, side // 2
    g.output(g.op("Tanh", g.linear(g.reshape(x, 1, -1), 128 * 64, 64)))


