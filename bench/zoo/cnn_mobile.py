"""cnn_mobile.py - classes of pictures: networks for small machines, of depthwise convolutions."""
from graph import model
from picture import (activate, classify, conv_bn, hard_swish_written_out, in_half, inverted, max_pool, means, separable,
                     squeeze_excite)


@model
def shufflenet_v2(g):
    """Half of the channels pass by; a reshape and a transpose shuffle them."""

    def unit(x, c):
        left, right = g.split(x, c // 2, c // 2)
        right = g.relu(g.batchnorm(g.conv(right, c // 2, c // 2, 1, bias=False), c // 2))
        right = g.batchnorm(g.conv(right, c // 2, c // 2, 3, groups=c // 2, bias=False), c // 2)
        right = g.relu(g.batchnorm(g.conv(right, c // 2, c // 2, 1, bias=False), c // 2))
        return left, right

    def down(x, before, after):
        half = after // 2
        left = g.batchnorm(g.conv(x, before, before, 3, 2, groups=before, bias=False), before)
        left = g.relu(g.batchnorm(g.conv(left, before, half, 1, bias=False), half))
        right = g.relu(g.batchnorm(g.conv(x, before, half, 1, bias=False), half))
        right = g.batchnorm(g.conv(right, half, half, 3, 2, groups=half, bias=False), half)
        return left, g.relu(g.batchnorm(g.conv(right, half, half, 1, bias=False), half))

    def shuffled(pair, c, side):
        x = g.reshape(g.concat(*pair), 1, 2, c // 2, side, side)
        return g.reshape(g.transpose(x, 0, 2, 1, 3, 4), 1, c, side, side)

    x = g.relu(g.conv(g.input("image", [1, 3, 224, 224]), 3, 24, 3, 2))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    c, side = 24, 56
    for after, repeats in ((116, 3), (232, 7), (464, 3)):
        side //= 2
        x = shuffled(down(x, c, after), after, side)
        c = after
        for _ in range(repeats):
            x = shuffled(unit(x, c), c, side)
    x = g.relu(g.conv(x, c, 1024, 1))
    g.output(g.linear(g.op("ReduceMean", x, axes=[2, 3], keepdims=0), 1024, 1000))


def mobilenet_v1_layers(g, x, scale=1.0, act="relu", fused=False):
    """The maps at strides 8, 16 and 32, and their channels."""
    c = lambda n: int(n * scale)
    x, before, maps = conv_bn(g, x, 3, c(32), 3, 2, act=act, fused=fused), c(32), []
    for after, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)) + ((512, 1),) * 5 + (
            (1024, 2), (1024, 1)):
        if stride == 2 and before >= c(256):
            maps.append((x, before))
        x, before = separable(g, x, before, c(after), 3, stride, act=act, fused=fused), c(after)
    return maps + [(x, before)]


@model
def mobilenet_v1(g):
    classify(g, *mobilenet_v1_layers(g, g.input("image", [1, 3, 224, 224]), act="relu6")[-1])


def mobilenet_v3_layers(g, x, act, scale=1.0, fused=False, strides=2):
    """The large one; act makes a hard swish, squeezes end in HardSigmoid. strides: of the layers that shrink."""
    c = lambda n: max(8, int(n * scale + 4) // 8 * 8)
    x, before = act(conv_bn(g, x, 3, c(16), 3, 2, act="", fused=fused)), c(16)
    for kernel, hidden, after, squeeze, hard, stride in (
            (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, strides), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, strides),
            (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, strides), (3, 200, 80, 0, 1, 1),
            (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, strides),
            (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)):
        hidden, after, way = c(hidden), c(after), x
        some = act if hard else g.relu
        x = some(conv_bn(g, x, before, hidden, 1, act="", fused=fused)) if hidden != before else x
        x = some(conv_bn(g, x, hidden, hidden, kernel, stride, groups=hidden, act="", fused=fused))
        x = squeeze_excite(g, x, hidden, c(hidden // 4), gate="HardSigmoid") if squeeze else x
        x = conv_bn(g, x, hidden, after, 1, act="", fused=fused)
        x, before = (g.add(way, x) if stride == 1 and before == after else x), after
    return act(conv_bn(g, x, before, c(960), 1, act="", fused=fused)), c(960)


@model
def mobilenet_v3(g):
    x, c = mobilenet_v3_layers(g, g.input("image", [1, 3, 224, 224]), lambda v: g.op("HardSwish", v))
    x = g.op("HardSwish", g.conv(g.op("GlobalAveragePool", x), c, 1280, 1))
    g.output(g.op("Flatten", g.conv(x, 1280, 1000, 1)))


@model
def mobilenet_v3_written_out(g):
    """Normalisation folded, hard swish of five operators."""
    image = g.input("image", [1, 3, 192, 192])
    x, c = mobilenet_v3_layers(g, image, lambda v: hard_swish_written_out(g, v), fused=True)
    g.output(g.linear(hard_swish_written_out(g, g.linear(means(g, x, 0), c, 1280)), 1280, 1000))


@model
def mobilenet_v3_half(g):
    x, c = mobilenet_v3_layers(g, g.input("image", [1, 3, 224, 224]), lambda v: g.op("HardSwish", v), fused=True)
    classify(g, x, c)
    in_half(g)


@model
def ocr_cls(g):
    """Is a line of text upside down? Strides of the height alone."""
    x, c = mobilenet_v3_layers(g, g.input("line", [1, 3, 48, 192]), lambda v: hard_swish_written_out(g, v), 0.35,
                               strides=(2, 1))
    x = max_pool(g, x, 2, 2, 0)
    g.output(g.op("Softmax", g.linear(means(g, x, 0), c, 2), axis=1))


@model
def mnasnet(g):
    x, before = conv_bn(g, g.input("image", [1, 3, 224, 224]), 3, 32, 3, 2), 32
    x, before = conv_bn(g, conv_bn(g, x, 32, 32, 3, groups=32), 32, 16, 1, act=""), 16
    for kernel, after, expand, stride, repeats in ((3, 24, 3, 2, 3), (5, 40, 3, 2, 3), (5, 80, 6, 2, 3),
                                                   (3, 96, 6, 1, 2), (5, 192, 6, 2, 4), (3, 320, 6, 1, 1)):
        for j in range(repeats):
            x = inverted(g, x, before, before * expand, after, kernel, 1 if j else stride, act="relu")
            before = after
    classify(g, conv_bn(g, x, before, 1280, 1), 1280)


@model
def efficientnet_lite(g):
    x, before = conv_bn(g, g.input("image", [1, 3, 224, 224]), 3, 32, 3, 2, act="relu6", fused=True), 32
    for kernel, after, expand, stride, repeats in ((3, 16, 1, 1, 1), (3, 24, 6, 2, 2), (5, 40, 6, 2, 2),
                                                   (3, 80, 6, 2, 3), (5, 112, 6, 1, 3), (5, 192, 6, 2, 4),
                                                   (3, 320, 6, 1, 1)):
        for j in range(repeats):
            x = inverted(g, x, before, before * expand, after, kernel, 1 if j else stride, fused=True)
            before = after
    classify(g, conv_bn(g, x, before, 1280, 1, act="relu6", fused=True), 1280)


@model
def efficientnet_v2(g):
    """Early blocks have one 3x3 convolution in place of two, late ones gates."""
    x, before = conv_bn(g, g.input("image", [1, 3, 160, 160]), 3, 24, 3, 2, act="silu"), 24
    for after, expand, stride, repeats, squeeze in ((24, 1, 1, 1, 0), (48, 4, 2, 2, 0), (64, 4, 2, 2, 0),
                                                    (128, 4, 2, 3, 1), (160, 6, 1, 3, 1), (256, 6, 2, 4, 1)):
        for j in range(repeats):
            s, hidden = 1 if j else stride, before * expand
            if squeeze:
                x = inverted(g, x, before, hidden, after, 3, s, "silu", before // 4)
            else:
                y = conv_bn(g, x, before, hidden, 3, s, act="silu")
                y = conv_bn(g, y, hidden, after, 1, act="") if expand > 1 else y
                x = g.add(x, y) if s == 1 and before == after else y
            before = after
    classify(g, conv_bn(g, x, before, 1280, 1, act="silu"), 1280)


@model
def ghostnet(g):
    """Half of the channels are cheap copies of the other half, joined by Concat."""

    def ghost(x, before, after, act):
        one = conv_bn(g, x, before, after // 2, 1, act=act)
        two = conv_bn(g, one, after // 2, after // 2, 3, groups=after // 2, act=act)
        return g.concat(one, two)

    x, before = conv_bn(g, g.input("image", [1, 3, 224, 224]), 3, 16, 3, 2), 16
    for kernel, hidden, after, squeeze, stride in (
            (3, 16, 16, 0, 1), (3, 48, 24, 0, 2), (3, 72, 24, 0, 1), (5, 72, 40, 1, 2), (5, 120, 40, 1, 1),
            (3, 240, 80, 0, 2), (3, 200, 80, 0, 1), (3, 184, 80, 0, 1), (3, 480, 112, 1, 1), (3, 672, 112, 1, 1),
            (5, 672, 160, 1, 2), (5, 960, 160, 0, 1), (5, 960, 160, 1, 1)):
        y = ghost(x, before, hidden, "relu")
        y = conv_bn(g, y, hidden, hidden, kernel, stride, groups=hidden, act="") if stride > 1 else y
        y = squeeze_excite(g, y, hidden, hidden // 4, gate="HardSigmoid") if squeeze else y
        y = ghost(y, hidden, after, "")
        if stride > 1 or before != after:
            x = conv_bn(g, x, before, before, kernel, stride, groups=before, act="")
            x = conv_bn(g, x, before, after, 1, act="")
        x, before = g.add(x, y), after
    classify(g, conv_bn(g, x, before, 960, 1), 960)


@model
def squeezenet(g):
    def fire(x, before, squeeze, expand):
        x = g.relu(g.conv(x, before, squeeze, 1))
        return g.concat(g.relu(g.conv(x, squeeze, expand, 1)), g.relu(g.conv(x, squeeze, expand, 3)))

    x, before = g.relu(g.conv(g.input("image", [1, 3, 224, 224]), 3, 64, 3, 2, 0)), 64
    for i, (squeeze, expand) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256),
                                           (64, 256))):
        if i in (0, 2, 4):
            x = max_pool(g, x, 3, 2, 0, ceil_mode=1)
        x, before = fire(x, before, squeeze, expand), 2 * expand
    g.output(g.op("Flatten", g.op("GlobalAveragePool", g.relu(g.conv(x, before, 1000, 1)))))


@model
def micronet_gated(g):
    """Maxima of groups of channels by Reshape and ReduceMax; attention over space and channels (CBAM)."""
    x, c, side = conv_bn(g, g.input("image", [1, 3, 128, 128]), 3, 32, 3, 2), 32, 64
    for after in (64, 128, 256):
        x = separable(g, x, c, 2 * after, 3, 2, act="silu")
        side, c = side // 2, after
        x = g.op("ReduceMax", g.reshape(x, 1, 2, c, side, side), axes=[1], keepdims=0)
        pooled = [g.op("GlobalAveragePool", x), g.op("GlobalMaxPool", x)]
        one, two = (g.conv(g.relu(g.conv(p, c, c // 8, 1)), c // 8, c, 1) for p in pooled)
        x = g.mul(x, g.op("Sigmoid", g.add(one, two)))
        flat = g.concat(g.op("ReduceMean", x, axes=[1]), g.op("ReduceMax", x, axes=[1]))
        x = g.mul(x, g.op("Sigmoid", g.conv(flat, 2, 1, 7)))
    classify(g, x, c, 100)


@model
def crnn(g):
    """Text of a line: convolutions, then columns go through recurrent layers."""
    x, before = g.input("line", [1, 1, 32, 256]), 1
    for i, (after, pool) in enumerate(((64, (2, 2)), (128, (2, 2)), (256, 0), (256, (2, 1)), (512, 0), (512, (2, 1)))):
        x, before = conv_bn(g, x, before, after, 3, fused=i % 2 == 0), after
        if pool:
            x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=list(pool), pads=[0, 0, 0, 0] if pool[1] == 2 else
                     [0, 0, 0, 1])
    x = activate(g, g.conv(x, 512, 512, 2, pad=0), "relu")
    x, before = g.transpose(g.op("Squeeze", x, g.ints(2)), 2, 0, 1), 512
    for _ in range(2):
        w, r = g.weight(2, 1024, before), g.weight(2, 1024, 256)
        y = g.op("LSTM", x, w, r, g.weight(2, 2048, fan=9), hidden_size=256, direction="bidirectional", outs=2)[0]
        x, before = g.reshape(g.transpose(y, 0, 2, 1, 3), 0, 0, 512), 512
    g.output(g.op("LogSoftmax", g.linear(x, 512, 97), axis=2))
