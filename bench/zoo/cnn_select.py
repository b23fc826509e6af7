"""cnn_select.py - objects, masks, faces and films: heads that choose, decode or compare, without suppression."""
import numpy

from cnn_detect import csp, places
from cnn_recent import TRACED
from cnn_video import classify3, conv3
from graph import model
from picture import attention, conv_bn, conv_transpose, max_pool, resize, resnet18, transformer


@model
def distributed_boxes(g):
    """Blocks that keep every part, attention of places in the last map, a depthwise class head; sides of boxes are means
    of distributions around anchors (YOLO11)."""

    def parts(x, before, after, hidden):
        y = conv_bn(g, x, before, 2 * hidden, 1, act="silu", fused=True)
        one, two = g.split(y, hidden, hidden)
        y = conv_bn(g, conv_bn(g, two, hidden, hidden // 2, 3, act="silu", fused=True), hidden // 2, hidden, 3, act="silu",
                    fused=True)
        return conv_bn(g, g.concat(one, two, g.add(two, y)), 3 * hidden, after, 1, act="silu", fused=True)

    def attended(x, c, side):
        y = conv_bn(g, x, c, c, 1, act="silu", fused=True)
        one, two = g.split(y, c // 2, c // 2)
        w, count, tokens = c // 2, c // 128, side * side
        qkv = g.reshape(g.conv(two, w, 2 * w, 1), 1, count, 128, tokens)
        q, k, v = g.split(qkv, 32, 32, 64, axis=2)
        scores = g.mul(g.op("MatMul", g.transpose(q, 0, 1, 3, 2), k), g.const(32 ** -0.5))
        y = g.op("MatMul", v, g.transpose(g.op("Softmax", scores, axis=-1), 0, 1, 3, 2))
        near = g.conv(g.reshape(v, 1, w, side, side), w, w, 3, groups=w)
        two = g.add(two, g.conv(g.add(g.reshape(y, 1, w, side, side), near), w, w, 1))
        y = g.conv(conv_bn(g, two, w, 2 * w, 1, act="silu", fused=True), 2 * w, w, 1)
        return conv_bn(g, g.concat(one, g.add(two, y)), c, c, 1, act="silu", fused=True)

    down = lambda v, a, b: conv_bn(g, v, a, b, 3, 2, act="silu", fused=True)
    x = down(g.input("image", [1, 3, 256, 256]), 3, 16)
    x = parts(down(x, 16, 32), 32, 64, 16)
    low = parts(down(x, 64, 64), 64, 128, 32)
    mid = parts(down(low, 128, 128), 128, 128, 64)
    x = parts(down(mid, 128, 256), 256, 256, 128)
    y = conv_bn(g, x, 256, 128, 1, act="silu", fused=True)
    pools = [y]
    for _ in range(3):
        pools.append(max_pool(g, pools[-1], 5, 1))
    top = attended(conv_bn(g, g.concat(*pools), 512, 256, 1, act="silu", fused=True), 256, 8)
    mid = parts(g.concat(resize(g, top), mid), 384, 128, 64)
    low = parts(g.concat(resize(g, mid), low), 256, 64, 32)
    mid = parts(g.concat(down(low, 64, 64), mid), 192, 128, 64)
    top = parts(g.concat(down(mid, 128, 128), top), 384, 256, 128)
    outs, anchors, strides = [], [], []
    for x, c, side in ((low, 64, 32), (mid, 128, 16), (top, 256, 8)):
        layer = lambda v, a, b, k, n=1: conv_bn(g, v, a, b, k, groups=n, act="silu", fused=True)
        boxes = g.conv(layer(layer(x, c, 64, 3), 64, 64, 3), 64, 64, 1)
        kinds = layer(layer(layer(layer(x, c, c, 3, c), c, 80, 1), 80, 80, 3, 80), 80, 80, 1)
        outs.append(g.reshape(g.concat(boxes, g.conv(kinds, 80, 80, 1)), 1, 144, -1))
        anchors.append(places(side).reshape(-1, 2).T + 0.5)
        strides.append(numpy.full((1, side * side), 256 // side))
    boxes, kinds = g.split(g.concat(*outs, axis=2), 64, 80)
    boxes = g.transpose(g.reshape(boxes, 1, 4, 16, 32 * 32 + 16 * 16 + 64), 0, 2, 1, 3)
    weights = g.const(numpy.arange(16.0).reshape(1, 16, 1, 1))
    boxes = g.reshape(g.op("Conv", g.op("Softmax", boxes, axis=1), weights, kernel_shape=[1, 1]), 1, 4, -1)
    before, behind = g.split(boxes, 2, 2)
    at = g.const(numpy.concatenate(anchors, 1)[None])
    one, two = g.op("Sub", at, before), g.add(at, behind)
    boxes = g.concat(g.op("Div", g.add(one, two), g.const(2.0)), g.op("Sub", two, one))
    g.output(g.concat(g.mul(boxes, g.const(numpy.concatenate(strides, 1))), g.op("Sigmoid", kinds)))


@model
def query_detector(g):
    """The best places become queries that look at places they choose themselves on three maps, by GridSample; boxes
    are refined from layer to layer (RT-DETR)."""
    width, count, queries, points = 128, 4, 60, 4
    maps = [conv_bn(g, m, c, width, 1, act="", fused=True)
            for m, c in zip(resnet18(g, g.input("image", [1, 3, 192, 192]), 32, True)[1:], (64, 128, 256))]
    sides = (24, 12, 6)
    tokens = g.transpose(g.reshape(maps[2], 1, width, 36), 0, 2, 1)
    tokens = transformer(g, tokens, 36, width, 8, 4 * width)
    maps[2] = g.reshape(g.transpose(tokens, 0, 2, 1), 1, width, 6, 6)
    for i in (1, 0):
        maps[i] = csp(g, g.concat(resize(g, maps[i + 1]), maps[i]), 2 * width, width, 1)
    memory = g.concat(*[g.transpose(g.op("Flatten", g.reshape(m, width, -1)), 1, 0) for m in maps], axis=0)
    total = sum(s * s for s in sides)
    memory = g.layernorm(g.linear(g.reshape(memory, 1, total, width), width, width), width)
    kinds = g.linear(memory, width, 80)
    _, best = g.op("TopK", g.op("ReduceMax", kinds, axes=[-1], keepdims=0), g.ints(queries), axis=1, outs=2)

    def taken(x, c):
        return g.op("GatherElements", x, g.op("Tile", g.unsqueeze(best, 2), g.ints(1, 1, c)), axis=1)

    corners = g.linear(g.relu(g.linear(memory, width, width)), width, 4)
    x, box = taken(memory, width), g.op("Sigmoid", taken(corners, 4))
    each = width // count
    for _ in range(2):
        place = g.linear(g.relu(g.linear(box, 4, 2 * width)), 2 * width, width)
        x = g.layernorm(g.add(x, attention(g, g.add(x, place), queries, width, count)), width)
        q = g.add(x, place)
        values = g.transpose(g.reshape(g.linear(memory, width, width), total, count, each), 1, 2, 0)
        offset = g.reshape(g.linear(q, width, count * 3 * points * 2), 1, queries, count, 3 * points, 2)
        shares = g.op("Softmax", g.reshape(g.linear(q, width, count * 3 * points), 1, queries, count, 3 * points), axis=-1)
        middle, size = g.split(g.reshape(box, 1, queries, 1, 1, 4), 2, 2, axis=4)
        at = g.add(middle, g.mul(g.mul(offset, g.const(0.125)), size))
        at = g.op("Sub", g.mul(at, g.const(2.0)), g.const(1.0))
        at = g.reshape(g.transpose(at, 0, 2, 1, 3, 4), count, queries, 3, points, 2)
        seen = []
        for i, (part, s) in enumerate(zip(g.split(values, *[s * s for s in sides], axis=2), sides)):
            where = g.op("Gather", at, g.const(i, "int64"), axis=2)
            seen.append(g.op("GridSample", g.reshape(part, count, each, s, s), where, mode="bilinear",
                             padding_mode="zeros", align_corners=0))
        seen = g.concat(*seen, axis=3)
        shares = g.reshape(g.transpose(shares, 0, 2, 1, 3), count, 1, queries, 3 * points)
        y = g.op("ReduceSum", g.mul(seen, shares), g.ints(3), keepdims=0)
        y = g.transpose(g.reshape(y, 1, width, queries), 0, 2, 1)
        x = g.layernorm(g.add(x, g.linear(y, width, width)), width)
        y = g.linear(g.relu(g.linear(x, width, 4 * width)), 4 * width, width)
        x = g.layernorm(g.add(x, y), width)
        low = g.op("Clip", box, g.const(1e-5), g.const(1.0))
        high = g.op("Clip", g.op("Sub", g.const(1.0), box), g.const(1e-5), g.const(1.0))
        known = g.op("Log", g.op("Div", low, high))
        box = g.op("Sigmoid", g.add(g.linear(g.relu(g.linear(x, width, width)), width, 4), known))
    g.output(box)
    g.output(g.op("Sigmoid", g.linear(x, width, 80)))


@model
def mask_decoder(g):
    """Points as waves; tokens and places look at each other in turn; masks are products of both (SAM)."""
    g.opset = TRACED
    width, side = 128, 32
    tokens = side * side
    image, points = g.input("embedding", [1, width, side, side]), g.input("points", [1, ("points", 4), 2], fill="rand01")
    waves = lambda v: g.concat(g.op("Sin", v), g.op("Cos", v), axis=-1)
    turned = g.mul(g.op("MatMul", g.op("Sub", g.mul(points, g.const(2.0)), g.const(1.0)), g.weight(2, width // 2, fan=1)),
                   g.const(6.2831853))
    seen = g.concat(g.weight(1, 5, width, fan=1), waves(turned), axis=1)
    first, place = seen, g.weight(1, tokens, width, fan=4)
    keys = g.transpose(g.op("Reshape", g.add(image, g.weight(1, width, 1, 1, fan=9)), g.ints(1, width, tokens)), 0, 2, 1)

    def attend(q, k, v, inner, count=8):
        each = inner // count
        parts = [g.transpose(g.op("Reshape", g.linear(p, width, inner), g.ints(1, -1, count, each)), 0, 2, 1, 3)
                 for p in (q, k, v)]
        scores = g.op("Div", g.op("MatMul", parts[0], g.transpose(parts[1], 0, 1, 3, 2)), g.const(each ** 0.5))
        y = g.transpose(g.op("MatMul", g.op("Softmax", scores, axis=-1), parts[2]), 0, 2, 1, 3)
        return g.linear(g.op("Reshape", y, g.ints(1, -1, inner)), inner, width)

    norm = lambda v: g.layernorm(v, width)
    for _ in range(2):
        q = g.add(seen, first)
        seen = norm(g.add(seen, attend(q, q, seen, width)))
        seen = norm(g.add(seen, attend(g.add(seen, first), g.add(keys, place), keys, width // 2)))
        seen = norm(g.add(seen, g.linear(g.relu(g.linear(seen, width, 8 * width)), 8 * width, width)))
        keys = norm(g.add(keys, attend(g.add(keys, place), g.add(seen, first), seen, width // 2)))
    seen = norm(g.add(seen, attend(g.add(seen, first), g.add(keys, place), keys, width // 2)))
    x = g.op("Reshape", g.transpose(keys, 0, 2, 1), g.ints(1, width, side, side))
    x = conv_transpose(g, x, width, 32)
    centred = g.op("Sub", x, g.op("ReduceMean", x, g.ints(1), keepdims=1))
    spread = g.op("ReduceMean", g.op("Pow", centred, g.const(2.0)), g.ints(1), keepdims=1)
    x = g.op("Div", centred, g.op("Sqrt", g.add(spread, g.const(1e-6))))
    x = g.add(g.mul(g.const(numpy.ones((32, 1, 1))), x), g.weight(32, 1, 1, fan=9))
    gelu = lambda v: g.op("Gelu", v, approximate="none")
    x = gelu(conv_transpose(g, gelu(x), 32, 16))
    masks = []
    for i in range(4):
        y = g.op("Gather", seen, g.const(i + 1, "int64"), axis=1)
        for before, after in ((width, width), (width, width), (width, 16)):
            y = g.linear(y, before, after)
            y = g.relu(y) if after > 16 else y
        masks.append(g.unsqueeze(y, 1))
    masks = g.op("MatMul", g.concat(*masks), g.op("Reshape", x, g.ints(1, 16, 16 * tokens)))
    masks = g.op("Reshape", masks, g.ints(1, 4, 4 * side, 4 * side))
    g.output(g.op("Resize", masks, "", "", g.ints(1, 4, 256, 256), mode="linear",
                  coordinate_transformation_mode="pytorch_half_pixel"))
    g.output(g.linear(g.relu(g.linear(g.op("Gather", seen, g.const(0, "int64"), axis=1), width, width)), width, 4))


@model
def face_embedding(g):
    """Normalisation before convolutions, a slope for each channel, a wide product, a vector of length 1 (ArcFace)."""

    def prelu(x, c):
        return g.op("PRelu", x, g.const(0.25 * g.random.random((c, 1, 1))))

    x, before = prelu(conv_bn(g, g.input("face", [1, 3, 112, 112]), 3, 32, 3, act=""), 32), 32
    for after in (32, 64, 128, 256):
        for stride in (2, 1):
            y = prelu(conv_bn(g, g.batchnorm(x, before), before, after, 3, act=""), after)
            y = conv_bn(g, y, after, after, 3, stride, act="")
            x, before = g.add(y, conv_bn(g, x, before, after, 1, stride, act="") if stride > 1 else x), after
    x = g.op("Flatten", g.batchnorm(x, 256))
    x = g.batchnorm(g.op("Gemm", x, g.weight(512, 256 * 49), g.weight(512, fan=9), transB=1), 512)
    g.output(g.op("Div", x, g.op("ReduceL2", x, axes=[1])))


@model
def face_points(g):
    """Inverted blocks with slopes, maps of three sizes flattened side by side; a depthwise kernel as large as its map
    (PFLD and MobileFaceNet)."""

    def prelu(x, c):
        return g.op("PRelu", x, g.const(0.25 * g.random.random((c, 1, 1))))

    def block(x, before, after, stride, wider):
        y = prelu(conv_bn(g, x, before, wider * before, 1, act=""), wider * before)
        y = conv_bn(g, y, wider * before, wider * before, 3, stride, groups=wider * before, act="")
        y = conv_bn(g, prelu(y, wider * before), wider * before, after, 1, act="")
        return g.add(x, y) if stride == 1 and before == after else y

    x = prelu(conv_bn(g, g.input("face", [1, 3, 112, 112]), 3, 64, 3, 2, act=""), 64)
    x = prelu(conv_bn(g, x, 64, 64, 3, groups=64, act=""), 64)
    for i in range(4):
        x = block(x, 64, 64, 1 if i else 2, 2)
    x = block(x, 64, 128, 2, 2)
    for _ in range(4):
        x = block(x, 128, 128, 1, 4)
    one = block(x, 128, 16, 1, 2)
    two = prelu(conv_bn(g, one, 16, 32, 3, 2, act=""), 32)
    three = prelu(conv_bn(g, two, 32, 128, 7, pad=0, act=""), 128)
    parts = [g.op("GlobalAveragePool", one), g.op("GlobalAveragePool", two), three]
    flat = g.concat(*[g.reshape(p, 1, -1) for p in parts])
    g.output(g.linear(flat, 176, 196))
    y = conv_bn(g, prelu(conv_bn(g, x, 128, 512, 1, act=""), 512), 512, 512, 14, groups=512, pad=0, act="")
    g.output(g.linear(g.reshape(y, 1, 512), 512, 128))


@model
def two_speeds(g):
    """Few frames with many channels, many frames with few; the fast way is passed on by strided kernels over time
    (SlowFast)."""
    clip = g.input("clip", [1, 3, 16, 64, 64])
    slow, fast = g.slice(clip, 0, 2 ** 62, 2, 4), g.slice(clip, 0, 2 ** 62, 2, 1)
    pool = dict(kernel_shape=[1, 3, 3], strides=[1, 2, 2], pads=[0, 1, 1, 0, 1, 1])
    slow = g.op("MaxPool", conv3(g, slow, 3, 32, [1, 7, 7], [1, 2, 2]), **pool)
    fast = g.op("MaxPool", conv3(g, fast, 3, 8, [5, 7, 7], [1, 2, 2]), **pool)
    before = (32, 8)

    def block(x, before, hidden, after, time, stride):
        y = conv3(g, x, before, hidden, [time, 1, 1])
        y = conv3(g, y, hidden, hidden, [1, 3, 3], [1, stride, stride])
        y = conv3(g, y, hidden, after, 1, act=False)
        return g.relu(g.add(y, conv3(g, x, before, after, 1, [1, stride, stride], False) if stride > 1 or before != after
                            else x))

    for i in range(3):
        passed = conv3(g, fast, before[1], 2 * before[1], [5, 1, 1], [4, 1, 1])
        width, slow = before[0] + 2 * before[1], g.concat(slow, passed)
        stride = 2 if i else 1
        after = (128 << i, 16 << i)
        slow = block(slow, width, after[0] // 4, after[0], 3 if i == 2 else 1, stride)
        fast = block(block(fast, before[1], after[1] // 2, after[1], 3, stride), after[1], after[1] // 2, after[1], 3, 1)
        before = after
    classify3(g, g.concat(*[g.op("GlobalAveragePool", x) for x in (slow, fast)]), sum(before))


@model
def tracker(g):
    """The map of what is looked for is the kernel of a depthwise convolution over the map of where to look
    (SiamRPN++)."""
    weights = [(g.weight(after, before, 3, 3), g.weight(after, fan=9), stride)
               for before, after, stride in ((3, 32, 2), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1))]

    def features(x):
        for w, b, stride in weights:
            x = g.relu(g.op("Conv", x, w, b, strides=[stride] * 2, pads=[1] * 4, kernel_shape=[3, 3]))
        return x

    small, large = features(g.input("template", [1, 3, 64, 64])), features(g.input("search", [1, 3, 192, 192]))
    for outputs in (2 * 5, 4 * 5):
        kernel = conv_bn(g, small, 128, 128, 3, pad=0)
        kernel = g.reshape(kernel, 128, 1, 6, 6)
        seen = g.reshape(conv_bn(g, large, 128, 128, 3, pad=0), 1, 128, 22, 22)
        seen = g.op("Conv", seen, kernel, group=128, kernel_shape=[6, 6])
        seen = conv_bn(g, g.reshape(seen, 1, 128, 17, 17), 128, 128, 1)
        g.output(g.conv(seen, 128, outputs, 1))
