"""cnn_detect.py - objects, faces and points in pictures: heads with their reshapes, decoding and selection."""
import numpy

from cnn_mobile import mobilenet_v1_layers
from graph import model
from picture import (activate, basic_block, bottleneck, conv_bn, conv_transpose, max_pool, resize, resize_like,
                     resnet18, separable, squeeze_excite, transformer)


def csp(g, x, before, after, repeats, act="silu", shortcut=True):
    """Half of the channels through bottlenecks, joined with the other half."""
    half = after // 2
    one, two = conv_bn(g, x, before, half, 1, act=act), conv_bn(g, x, before, half, 1, act=act)
    for _ in range(repeats):
        y = conv_bn(g, conv_bn(g, one, half, half, 1, act=act), half, half, 3, act=act)
        one = g.add(one, y) if shortcut else y
    return conv_bn(g, g.concat(one, two), 2 * half, after, 1, act=act)


def darknet(g, x, width, act="silu"):
    """The maps at strides 8, 16 and 32 of a network whose first layer has been made."""
    maps = []
    for i, repeats in enumerate((1, 2, 3, 1)):
        after = width << (i + 1)
        x = csp(g, conv_bn(g, x, after // 2, after, 3, 2, act=act), after, after, repeats, act)
        maps.append(x)
    c = width << 4
    y = conv_bn(g, maps.pop(), c, c // 2, 1, act=act)
    pools = [y]
    for _ in range(3):
        pools.append(max_pool(g, pools[-1], 5, 1))
    return maps[1:] + [conv_bn(g, g.concat(*pools), 2 * c, c, 1, act=act)]


def pan(g, maps, width, act="silu"):
    """Down, then up again."""
    small, middle, large = maps
    c = width << 2
    top = conv_bn(g, large, 4 * c, 2 * c, 1, act=act)
    mid = csp(g, g.concat(resize(g, top), middle), 4 * c, 2 * c, 1, act, False)
    mid = conv_bn(g, mid, 2 * c, c, 1, act=act)
    low = csp(g, g.concat(resize(g, mid), small), 2 * c, c, 1, act, False)
    mid = csp(g, g.concat(conv_bn(g, low, c, c, 3, 2, act=act), mid), 2 * c, 2 * c, 1, act, False)
    top = csp(g, g.concat(conv_bn(g, mid, 2 * c, 2 * c, 3, 2, act=act), top), 4 * c, 4 * c, 1, act, False)
    return [(low, c), (mid, 2 * c), (top, 4 * c)]


def places(side):
    """Column and row of every place of a square map."""
    row, column = numpy.mgrid[0:side, 0:side]
    return numpy.stack([column, row], -1).astype("float32")


@model
def yolov5(g):
    image, width, outs = g.input("image", [1, 3, 320, 320]), 16, []
    x = conv_bn(g, image, 3, width, 6, 2, pad=2, act="silu")
    for i, (x, c) in enumerate(pan(g, darknet(g, x, width), width)):
        side = 40 >> i
        x = g.transpose(g.reshape(g.conv(x, c, 255, 1), 1, 3, 85, side, side), 0, 1, 3, 4, 2)
        xy, wh, rest = g.split(g.op("Sigmoid", x), 2, 2, 81, axis=4)
        grid = g.const(numpy.broadcast_to(places(side) - 0.5, (1, 3, side, side, 2)))
        xy = g.mul(g.add(g.mul(xy, g.const(2.0)), grid), g.const(8.0 * 2 ** i))
        anchors = g.const(numpy.broadcast_to(10.0 * 2 ** i, (1, 3, side, side, 2)))
        wh = g.mul(g.op("Pow", g.mul(wh, g.const(2.0)), g.const(2.0)), anchors)
        outs.append(g.reshape(g.concat(xy, wh, rest, axis=4), 1, 3 * side * side, 85))
    g.output(g.concat(*outs))


@model
def yolox(g):
    """Pixels of two by two become channels; separate heads for boxes and classes."""
    image, width, outs = g.input("image", [1, 3, 320, 320]), 24, []
    cut = lambda v, axis, at: g.op("Slice", v, g.ints(at), g.ints(2 ** 62), g.ints(axis), g.ints(2))
    rows = [cut(image, 2, 0), cut(image, 2, 1)]
    x = g.concat(cut(rows[0], 3, 0), cut(rows[1], 3, 0), cut(rows[0], 3, 1), cut(rows[1], 3, 1))
    x = conv_bn(g, x, 12, width, 3, act="silu")
    for x, c in pan(g, darknet(g, x, width), width):
        x = conv_bn(g, x, c, 96, 1, act="silu")
        two = lambda v: conv_bn(g, conv_bn(g, v, 96, 96, 3, act="silu"), 96, 96, 3, act="silu")
        boxes, classes = two(x), two(x)
        out = g.concat(g.conv(boxes, 96, 4, 1), g.op("Sigmoid", g.conv(boxes, 96, 1, 1)),
                       g.op("Sigmoid", g.conv(classes, 96, 80, 1)))
        outs.append(g.reshape(out, 1, 85, -1))
    g.output(g.transpose(g.concat(*outs, axis=2), 0, 2, 1))


@model
def yolov3_tiny(g):
    """Leaky activations, a pool of stride 1, decoding of boxes in NCHW."""
    x, before, maps = g.input("image", [1, 3, 320, 320]), 3, []
    for i, after in enumerate((16, 32, 64, 128, 256, 512)):
        x, before = conv_bn(g, x, before, after, act="leaky"), after
        maps.append(x)
        x = max_pool(g, x, 2, 2, 0) if i < 5 else g.op("MaxPool", x, kernel_shape=[2, 2], auto_pad="SAME_UPPER")
    x = conv_bn(g, conv_bn(g, x, 512, 1024, act="leaky"), 1024, 256, 1, act="leaky")
    up = g.concat(resize(g, conv_bn(g, x, 256, 128, 1, act="leaky")), maps[4])
    heads = [(conv_bn(g, x, 256, 512, act="leaky"), 512, 10), (conv_bn(g, up, 384, 256, act="leaky"), 256, 20)]
    for y, c, side in heads:
        y = g.reshape(g.conv(y, c, 255, 1), 1, 3, 85, side * side)
        xy, wh, rest = g.split(g.transpose(y, 0, 1, 3, 2), 2, 2, 81, axis=3)
        xy = g.add(g.op("Sigmoid", xy), g.const(places(side).reshape(1, 1, -1, 2)))
        y = g.concat(xy, g.op("Exp", wh), g.op("Sigmoid", rest), axis=3)
        g.output(g.reshape(y, 1, -1, 85))


@model
def nanodet(g):
    """Depthwise head; sides of boxes are expectations of distributions."""
    maps, heads = mobilenet_v1_layers(g, g.input("image", [1, 3, 320, 320]), 0.5, "leaky"), []
    maps = [conv_bn(g, x, c, 96, 1, act="leaky") for x, c in maps]
    for i in (1, 0):
        up = resize(g, maps[i + 1], mode="linear")
        maps[i] = separable(g, g.concat(up, maps[i]), 192, 96, 5, act="leaky")
    for i in (1, 2):
        down = separable(g, maps[i - 1], 96, 96, 5, 2, act="leaky")
        maps[i] = separable(g, g.concat(down, maps[i]), 192, 96, 5, act="leaky")
    for x in maps:
        x = separable(g, separable(g, x, 96, 96, 5, act="leaky"), 96, 96, 5, act="leaky")
        heads.append(g.reshape(g.conv(x, 96, 112, 1), 1, 112, -1))
    x = g.transpose(g.concat(*heads, axis=2), 0, 2, 1)
    scores, boxes = g.split(x, 80, 32, axis=2)
    boxes = g.op("Softmax", g.reshape(boxes, 1, -1, 4, 8), axis=3)
    boxes = g.op("MatMul", boxes, g.const(numpy.arange(8.0)))
    g.output(g.op("Sigmoid", scores))
    g.output(boxes)


@model
def ssd(g):
    """Heads on six maps, boxes around anchors, NonMaxSuppression inside."""
    maps = mobilenet_v1_layers(g, g.input("image", [1, 3, 304, 304]), 1.0, "relu6", True)[1:]
    for hidden, after in ((256, 512), (128, 256), (128, 256), (64, 128)):
        x, c = maps[-1]
        maps.append((conv_bn(g, conv_bn(g, x, c, hidden, 1, fused=True), hidden, after, 3, 2, fused=True), after))
    boxes, scores = [], []
    for x, c in maps:
        flat = lambda v, n: g.reshape(g.transpose(v, 0, 2, 3, 1), 1, -1, n)
        boxes.append(flat(g.conv(x, c, 24, 3), 4))
        scores.append(flat(g.conv(x, c, 126, 3), 21))
    count = 6 * (19 * 19 + 10 * 10 + 5 * 5 + 3 * 3 + 2 * 2 + 1)
    boxes, anchors = g.concat(*boxes), g.const(0.1 + 0.8 * g.random.random((1, count, 2)))
    middle, size = g.split(boxes, 2, 2, axis=2)
    middle = g.add(g.mul(middle, g.const(0.02)), anchors)
    half = g.mul(g.op("Exp", g.mul(size, g.const(0.2))), g.const(0.05))
    boxes = g.concat(g.op("Sub", middle, half), g.add(middle, half), axis=2)
    scores = g.transpose(g.op("Softmax", g.concat(*scores), axis=2), 0, 2, 1)
    picked = g.op("NonMaxSuppression", boxes, scores, g.ints(20), g.const([0.5]), g.const([0.1]))
    g.output(boxes)
    g.output(scores)
    g.output(picked, "int64")


@model
def centernet(g):
    """Transposed convolutions, peaks by a pool that is compared with its input, the best hundred."""
    x, c = resnet18(g, g.input("image", [1, 3, 192, 192]))[-1], 512
    for after in (256, 128, 64):
        x, c = g.relu(g.batchnorm(conv_transpose(g, x, c, after, 4, 2, 1, False), after)), after
    heat, size, offset = (g.conv(g.relu(g.conv(x, c, 64, 3)), 64, n, 1) for n in (80, 2, 2))
    heat = g.op("Sigmoid", heat)
    peak = g.op("Cast", g.op("Equal", max_pool(g, heat, 3, 1), heat), to=1)
    best, index = g.op("TopK", g.reshape(g.mul(heat, peak), 1, -1), g.ints(100), outs=2)
    place = g.op("Mod", index, g.const(48 * 48, "int64"))
    for v in (size, offset):
        rows = g.transpose(g.reshape(v, 1, 2, -1), 0, 2, 1)
        each = g.op("Expand", g.op("Unsqueeze", place, g.ints(2)), g.ints(1, 100, 2))
        g.output(g.op("GatherElements", rows, each, axis=1))
    g.output(best)


@model
def retinaface(g):
    """Pyramid and context modules; three heads on three maps."""
    maps = mobilenet_v1_layers(g, g.input("image", [1, 3, 320, 320]), 0.25, "leaky", True)
    low, mid, top = (conv_bn(g, x, c, 64, 1, act="leaky", fused=True) for x, c in maps)
    mid = conv_bn(g, g.add(mid, resize_like(g, top, mid, 64, "nearest")), 64, 64, 3, act="leaky", fused=True)
    low = conv_bn(g, g.add(low, resize_like(g, mid, low, 64, "nearest")), 64, 64, 3, act="leaky", fused=True)
    outs = {4: [], 2: [], 10: []}
    for x in (low, mid, top):
        three = conv_bn(g, x, 64, 32, 3, act="", fused=True)
        first = conv_bn(g, x, 64, 16, 3, act="leaky", fused=True)
        five = conv_bn(g, first, 16, 16, 3, act="", fused=True)
        seven = conv_bn(g, conv_bn(g, first, 16, 16, 3, act="leaky", fused=True), 16, 16, 3, act="", fused=True)
        x = g.relu(g.concat(three, five, seven))
        for n, found in outs.items():
            found.append(g.reshape(g.transpose(g.conv(x, 64, 2 * n, 1), 0, 2, 3, 1), 1, -1, n))
    for n, found in outs.items():
        found = g.concat(*found)
        g.output(g.op("Softmax", found, axis=-1) if n == 2 else found)


@model
def blazeface(g):
    """TensorFlow's style: channels last outside, Pad where the stride leaves a row, channels padded with zeros."""
    x = g.transpose(g.input("image", [1, 256, 256, 3]), 0, 3, 1, 2)
    x = g.relu(g.conv(g.op("Pad", x, g.ints(0, 0, 1, 1, 0, 0, 2, 2)), 3, 24, 5, 2, 0))
    before, maps = 24, []
    for after, stride in ((24, 1), (28, 1), (32, 2), (36, 1), (42, 1), (48, 2), (56, 1), (64, 1), (72, 1), (80, 2),
                          (88, 1), (96, 1), (96, 2), (96, 1)):
        if stride == 2:
            maps.append((x, before))
            y = g.conv(g.op("Pad", x, g.ints(0, 0, 0, 0, 0, 0, 1, 1)), before, before, 3, 2, 0, groups=before)
            x = max_pool(g, x, 2, 2, 0)
        else:
            y = g.conv(x, before, before, 3, groups=before)
        y = g.conv(y, before, after, 1)
        if after > before:
            x = g.op("Pad", x, g.ints(0, 0, 0, 0, 0, after - before, 0, 0))
        x, before = g.relu(g.add(x, y)), after
    for n in (1, 16):
        flat = lambda v, c, a: g.reshape(g.transpose(g.conv(v, c, a * n, 1), 0, 2, 3, 1), 1, -1, n)
        g.output(g.concat(flat(maps[-1][0], maps[-1][1], 2), flat(x, before, 6)))


@model
def feature_pyramid(g):
    """Lateral maps, upsampled by sizes read from shapes; heads shared by all levels."""
    x, before, maps = max_pool(g, conv_bn(g, g.input("image", [1, 3, 192, 256]), 3, 64, 7, 2)), 64, []
    for i, repeats in enumerate((2, 2, 2, 2)):
        after = 256 << i
        for j in range(repeats):
            x, before = bottleneck(g, x, before, after // 4, after, 2 if i and not j else 1), after
        maps.append(g.conv(x, after, 128, 1))
    for i in (2, 1, 0):
        maps[i] = g.add(maps[i], resize_like(g, maps[i + 1], maps[i], 128, "nearest"))
    weights, classes = g.weight(128, 128, 3, 3), g.weight(36, 128, 3, 3)
    for x in maps[1:]:
        x = g.conv(x, 128, 128, 3)
        for _ in range(2):
            x = g.relu(g.op("Conv", x, weights, pads=[1] * 4))
        x = g.op("Conv", x, classes, pads=[1] * 4)
        g.output(g.op("Sigmoid", g.reshape(g.transpose(x, 0, 2, 3, 1), 1, -1, 4)))


@model
def bifpn(g):
    """Maps added with weights that are normalised; swish, depthwise layers, one head for all."""
    maps = [(x, 32 << i) for i, x in enumerate(resnet18(g, g.input("image", [1, 3, 256, 256]), 32))][1:]
    maps = [conv_bn(g, x, c, 64, 1, act="") for x, c in maps]
    maps.append(max_pool(g, maps[-1], 3, 2))

    def joined(*values):
        weights = g.op("Relu", g.const(g.random.random(len(values))))
        total = g.add(g.op("ReduceSum", weights, g.ints(0), keepdims=1), g.const(1e-4))
        weights = g.op("Div", weights, total)
        x = None
        for i, v in enumerate(values):
            part = g.mul(v, g.op("Gather", weights, g.const(i, "int64"), axis=0))
            x = g.add(x, part) if x else part
        return conv_bn(g, g.conv(g.silu(x), 64, 64, 3, groups=64, bias=False), 64, 64, 1, act="")

    for _ in range(3):
        up = list(maps)
        for i in (2, 1, 0):
            up[i] = joined(maps[i], resize(g, up[i + 1]))
        maps = [up[0]] + [None] * 3
        for i in (1, 2, 3):
            maps[i] = joined(up[i], max_pool(g, maps[i - 1], 3, 2))
    outs = []
    for x in maps:
        for _ in range(2):
            x = activate(g, g.batchnorm(g.conv(g.conv(x, 64, 64, 3, groups=64), 64, 64, 1), 64), "silu")
        outs.append(g.reshape(g.transpose(g.conv(x, 64, 36, 3), 0, 2, 3, 1), 1, -1, 4))
    g.output(g.concat(*outs))


@model
def detection_transformer(g):
    """A convolutional network, then an encoder over its places (DETR)."""
    x = resnet18(g, g.input("image", [1, 3, 224, 224]))[-1]
    x = g.transpose(g.reshape(g.conv(x, 512, 256, 1), 1, 256, -1), 0, 2, 1)
    x = g.add(x, g.weight(1, 49, 256, fan=9))
    for _ in range(3):
        x = transformer(g, x, 49, 256, 8, 1024, act="relu")
    g.output(g.op("Softmax", g.linear(x, 256, 92), axis=-1))
    g.output(g.op("Sigmoid", g.linear(g.relu(g.linear(x, 256, 256)), 256, 4)))


@model
def pose_hands(g):
    """Key points of a hand: inverted blocks with gates, coordinates as a product of heat and places."""
    x, c = conv_bn(g, g.input("image", [1, 3, 224, 224]), 3, 24, 3, 2, act="prelu"), 24
    for after in (48, 96, 160):
        x = separable(g, x, c, after, 5, 2, act="prelu")
        x, c = squeeze_excite(g, basic_block(g, x, after, after), after, after // 4), after
    heat = g.op("Softmax", g.reshape(g.conv(x, c, 21, 1), 1, 21, 14 * 14), axis=2)
    g.output(g.op("MatMul", heat, g.const(places(14).reshape(-1, 2))))
