"""cnn_dense.py - a value for every pixel: masks, depth, larger pictures, made pictures."""
import numpy

from graph import model
from picture import (activate, average_pool, basic_block, bottleneck, conv_bn, conv_transpose, in_half, instance_norm,
                     inverted, max_pool, means, resize, resize_like, resnet18, separable)


def double(g, x, before, after, **options):
    return conv_bn(g, conv_bn(g, x, before, after, 3, **options), after, after, 3, **options)


@model
def unet(g):
    x, before, maps = g.input("image", [1, 3, 160, 160]), 3, []
    for after in (32, 64, 128, 256):
        x, before = double(g, x, before, after), after
        maps.append(x)
        x = max_pool(g, x, 2, 2, 0)
    x, before = double(g, x, 256, 512), 512
    for after in (256, 128, 64, 32):
        x = g.concat(maps.pop(), conv_transpose(g, x, before, after))
        x, before = double(g, x, 2 * after, after), after
    g.output(g.op("Sigmoid", g.conv(x, 32, 1, 1)))


@model
def unet_plus_plus(g):
    """Every map is joined with all of its size; bilinear steps."""
    widths, grid = (16, 32, 64, 128), {}
    x, before = g.input("image", [1, 3, 160, 160]), 3
    for i, c in enumerate(widths):
        grid[i, 0] = double(g, max_pool(g, x, 2, 2, 0) if i else x, before, c, fused=True)
        x, before = grid[i, 0], c
    for j in (1, 2, 3):
        for i in range(4 - j):
            up = resize(g, grid[i + 1, j - 1], mode="linear", coordinate_transformation_mode="align_corners")
            joined = g.concat(*[grid[i, k] for k in range(j)], up)
            grid[i, j] = double(g, joined, widths[i] * j + widths[i + 1], widths[i], fused=True)
    g.output(g.conv(grid[0, 3], 16, 4, 1))


@model
def u2net(g):
    """Small networks of that shape as blocks: dilated layers, joins and sizes read from shapes."""

    def block(x, before, mid, after, depth):
        first = conv_bn(g, x, before, after)
        maps, x, c = [], first, after
        for i in range(depth):
            x, c = conv_bn(g, max_pool(g, x, 2, 2, 0, ceil_mode=1) if i else x, c, mid), mid
            maps.append(x)
        x = conv_bn(g, x, mid, mid, dilation=2)
        for i, low in enumerate(reversed(maps)):
            x = conv_bn(g, g.concat(x, low), 2 * mid, mid if i < depth - 1 else after)
            if i < depth - 1:
                x = resize_like(g, x, maps[depth - 2 - i], mid, coordinate_transformation_mode="pytorch_half_pixel")
        return g.add(x, first)

    x, before, maps = g.input("image", [1, 3, 160, 160]), 3, []
    for i, depth in enumerate((5, 4, 3, 2)):
        x, before = block(max_pool(g, x, 2, 2, 0) if i else x, before, 16, 64, depth), 64
        maps.append(x)
    sides = []
    for i in (2, 1, 0):
        sides.append(g.conv(x, 64, 1, 3))
        x = resize_like(g, x, maps[i], 64)
        x = block(g.concat(x, maps[i]), 128, 16, 64, 4 - i)
    sides = [resize_like(g, s, x, 1) for s in sides] + [g.conv(x, 64, 1, 3)]
    g.output(g.op("Sigmoid", g.conv(g.concat(*sides), 4, 1, 1)))


@model
def deeplab_v3(g):
    """Dilated layers, then the same map seen at five dilations."""
    x, before = max_pool(g, conv_bn(g, g.input("image", [1, 3, 192, 192]), 3, 64, 7, 2)), 64
    for after, stride, dilation in ((256, 1, 1), (512, 2, 1), (1024, 1, 2), (1024, 1, 4)):
        for j in range(2):
            x = bottleneck(g, x, before, after // 4, after, 1 if j else stride, dilation=dilation)
            before = after
    ways = [conv_bn(g, x, before, 128, 1)] + [conv_bn(g, x, before, 128, 3, dilation=d) for d in (6, 12, 18)]
    pooled = conv_bn(g, g.op("GlobalAveragePool", x), before, 128, 1)
    x = conv_bn(g, g.concat(*ways, resize_like(g, pooled, x, 128)), 640, 128, 1)
    x = g.conv(conv_bn(g, x, 128, 128), 128, 21, 1)
    g.output(resize(g, x, 8, "linear"))


@model
def lraspp_half(g):
    """Mobile segmentation in half precision."""
    x, before = conv_bn(g, g.input("image", [1, 3, 256, 256]), 3, 16, 3, 2, act="hswish"), 16
    for hidden, after, stride in ((64, 24, 2), (72, 24, 1), (72, 40, 2), (120, 40, 1), (240, 80, 2), (200, 80, 1)):
        x, before = inverted(g, x, before, hidden, after, 5, stride, "hswish"), after
    gate = g.op("Sigmoid", g.conv(g.op("GlobalAveragePool", x), before, 128, 1))
    x = g.mul(conv_bn(g, x, before, 128, 1), gate)
    g.output(g.conv(resize(g, x, 2, "linear"), 128, 21, 1))
    in_half(g)


@model
def pspnet(g):
    """Averages over 1, 4, 9 and 36 parts of the map."""
    x = resnet18(g, g.input("image", [1, 3, 192, 192]))[2]
    parts = [x]
    for bins in (1, 2, 3, 6):
        y = average_pool(g, x, 12 // bins, 12 // bins)
        parts.append(resize_like(g, conv_bn(g, y, 256, 64, 1), x, 64, coordinate_transformation_mode="align_corners"))
    x = conv_bn(g, g.concat(*parts), 512, 128)
    x = resize(g, g.conv(x, 128, 19, 1), 16, "linear")
    g.output(g.op("ArgMax", x, axis=1, keepdims=0), "int64")


@model
def bisenet(g):
    """A fast wide path and a deep one; attention by means."""
    image = g.input("image", [1, 3, 256, 256])
    wide, c = image, 3
    for after in (64, 64, 64):
        wide, c = conv_bn(g, wide, c, after, 7 if c == 3 else 3, 2), after
    wide = conv_bn(g, wide, 64, 128, 1)
    maps = resnet18(g, image, 32, fused=True)
    x = conv_bn(g, g.op("GlobalAveragePool", maps[3]), 256, 128, 1)
    for low, channels in ((maps[3], 256), (maps[2], 128)):
        y = conv_bn(g, low, channels, 128)
        y = g.mul(y, g.op("Sigmoid", g.batchnorm(g.conv(means(g, y), 128, 128, 1, bias=False), 128)))
        y = g.add(y, resize_like(g, x, y, 128, "nearest"))
        x = conv_bn(g, resize(g, y), 128, 128)
    x = conv_bn(g, g.concat(wide, x), 256, 256, 1)
    gate = g.op("Sigmoid", g.conv(g.relu(g.conv(means(g, x), 256, 64, 1)), 64, 256, 1))
    x = conv_bn(g, g.add(x, g.mul(x, gate)), 256, 64)
    g.output(resize(g, g.conv(x, 64, 19, 1), 8, "linear", coordinate_transformation_mode="align_corners"))


@model
def hrnet(g):
    """Maps of several sizes side by side, exchanged again and again."""
    x = conv_bn(g, conv_bn(g, g.input("image", [1, 3, 192, 192]), 3, 64, 3, 2), 64, 64, 3, 2)
    x = bottleneck(g, x, 64, 32, 64)
    maps = [conv_bn(g, x, 64, 18), conv_bn(g, x, 64, 36, 3, 2)]
    for stage in range(3):
        width = lambda i: 18 << i
        maps = [basic_block(g, basic_block(g, x, width(i), width(i)), width(i), width(i)) for i, x in enumerate(maps)]
        fused = []
        for i in range(len(maps)):
            total = None
            for j, x in enumerate(maps):
                if j > i:
                    x = resize(g, conv_bn(g, x, width(j), width(i), 1, act=""), 2 ** (j - i))
                c = width(j)
                for k in range(i - j):
                    last = k == i - j - 1
                    x = conv_bn(g, x, c, width(i) if last else c, 3, 2, act="" if last else "relu")
                total = g.add(total, x) if total else x
            fused.append(g.relu(total))
        maps = fused
        if stage < 2:
            maps = fused + [conv_bn(g, fused[-1], width(len(fused) - 1), width(len(fused)), 3, 2)]
    maps = [maps[0]] + [resize_like(g, x, maps[0], 18 << (i + 1)) for i, x in enumerate(maps[1:])]
    g.output(g.conv(conv_bn(g, g.concat(*maps), 270, 128, 1), 128, 17, 1))


@model
def hourglass(g):
    """Key points: down to 4x4 and up again, twice, with pre-activated bottlenecks."""

    def residual(x, before, after):
        y = x
        for a, b, kernel in ((before, after // 2, 1), (after // 2, after // 2, 3), (after // 2, after, 1)):
            y = g.conv(g.relu(g.batchnorm(y, a)), a, b, kernel)
        return g.add(y, x if before == after else g.conv(x, before, after, 1))

    def glass(x, c, depth):
        up = residual(x, c, c)
        low = residual(max_pool(g, x, 2, 2, 0), c, c)
        low = residual(glass(low, c, depth - 1) if depth > 1 else residual(low, c, c), c, c)
        return g.add(up, resize(g, low))

    c = 128
    x = conv_bn(g, g.input("image", [1, 3, 128, 128]), 3, 64, 7, 2)
    x = residual(residual(max_pool(g, x, 2, 2, 0), 64, c), c, c)
    for _ in range(2):
        y = conv_bn(g, residual(glass(x, c, 3), c, c), c, c, 1)
        heat = g.conv(y, c, 16, 1)
        g.output(heat)
        x = g.add(x, g.add(g.conv(y, c, c, 1), g.conv(heat, 16, c, 1)))


@model
def depth(g):
    """Monocular depth: a residual encoder, steps by reflection and bilinear or nearest growth."""
    maps = resnet18(g, g.input("image", [1, 3, 160, 256]), 32)
    x, before = maps[3], 256
    reflect = lambda v: g.op("Pad", v, g.ints(0, 0, 1, 1, 0, 0, 1, 1), mode="reflect")
    for i, after in enumerate((128, 64, 32, 16, 16)):
        x = g.op("Elu", g.conv(reflect(x), before, after, 3, pad=0))
        x, before = resize(g, x), after
        if i < 3:
            x, before = g.concat(x, maps[2 - i]), after + (128, 64, 32)[i]
        x, before = g.op("Elu", g.conv(reflect(x), before, after, 3, pad=0)), after
    g.output(g.op("Sigmoid", g.conv(reflect(x), 16, 1, 3, pad=0)))


# ---- larger and cleaner pictures ----


@model
def esrgan(g):
    """Dense blocks inside residual ones, leaky activations, nearest growth."""
    c, grow = 32, 16
    x = first = g.conv(g.input("image", [1, 3, 64, 64]), 3, c, 3)
    for _ in range(3):
        start = x
        for _ in range(3):
            parts = [x]
            for j in range(4):
                before = c + grow * j
                joined = g.concat(*parts) if j else x
                parts.append(g.op("LeakyRelu", g.conv(joined, before, grow, 3), alpha=0.2))
            y = g.conv(g.concat(*parts), c + 4 * grow, c, 3)
            x = g.add(g.mul(y, g.const(0.2)), x)
        x = g.add(g.mul(x, g.const(0.2)), start)
    x = g.add(first, g.conv(x, c, c, 3))
    for _ in range(2):
        x = g.op("LeakyRelu", g.conv(resize(g, x), c, c, 3), alpha=0.2)
    g.output(g.conv(x, c, 3, 3))


@model
def fsrcnn(g):
    """Thin layers, then one transposed convolution of 9x9."""
    act = lambda v, c: g.op("PRelu", v, g.weight(c, 1, 1, fan=9))
    x = act(g.conv(g.input("luma", [1, 1, 180, 320]), 1, 56, 5), 56)
    x = act(g.conv(x, 56, 12, 1), 12)
    for _ in range(4):
        x = act(g.conv(x, 12, 12, 3), 12)
    x = act(g.conv(x, 12, 56, 1), 56)
    weight = g.weight(56, 1, 9, 9)
    g.output(g.op("ConvTranspose", x, weight, g.weight(1, fan=9), strides=[2, 2], pads=[4] * 4, output_padding=[1, 1]))


@model
def espcn(g):
    """Channels become pixels: DepthToSpace."""
    x = g.op("Tanh", g.conv(g.input("luma", [1, 1, 180, 320]), 1, 64, 5))
    x = g.op("Tanh", g.conv(x, 64, 32, 3))
    g.output(g.op("DepthToSpace", g.conv(x, 32, 9, 3), blocksize=3, mode="CRD"))


@model
def edsr(g):
    """Residual blocks without normalisation; the shuffle of pixels as reshape and transpose."""
    x = first = g.conv(g.input("image", [1, 3, 96, 96]), 3, 64, 3)
    for _ in range(4):
        x = g.add(x, g.conv(g.relu(g.conv(x, 64, 64, 3)), 64, 64, 3))
    x = g.conv(g.add(g.conv(x, 64, 64, 3), first), 64, 256, 3)
    x = g.transpose(g.reshape(x, 1, 64, 2, 2, 96, 96), 0, 1, 4, 2, 5, 3)
    g.output(g.conv(g.reshape(x, 1, 64, 192, 192), 64, 3, 3))


@model
def dncnn(g):
    """Noise is what the network returns; the picture minus it."""
    image = g.input("image", [1, 1, 160, 160])
    x = g.relu(g.conv(image, 1, 48, 3))
    for _ in range(8):
        x = conv_bn(g, x, 48, 48)
    g.output(g.op("Sub", image, g.conv(x, 48, 1, 3)))


# ---- made pictures ----


@model
def dcgan(g):
    x = g.reshape(g.input("noise", [1, 100]), 1, 100, 1, 1)
    x, before = g.relu(g.batchnorm(conv_transpose(g, x, 100, 512, 4, 1, 0, False), 512)), 512
    for after in (256, 128, 64):
        x, before = g.relu(g.batchnorm(conv_transpose(g, x, before, after, 4, 2, 1, False), after)), after
    g.output(g.op("Tanh", conv_transpose(g, x, before, 3, 4, 2, 1, False)))


@model
def style_generator(g):
    """Styles from a mapping network scale normalised maps; noise is added (StyleGAN)."""
    w = g.input("latent", [1, 256])
    for _ in range(4):
        w = g.op("LeakyRelu", g.linear(w, 256, 256), alpha=0.2)
    x, before, side = g.weight(1, 256, 4, 4, fan=1), 256, 4
    for after in (256, 256, 128, 64, 32):
        if side > 4:
            x = resize(g, x, 2, "linear")
        for _ in range(2):
            x = g.conv(x, before, after, 3)
            before = after
            x = g.add(x, g.mul(g.weight(1, 1, side, side, fan=1), g.weight(1, after, 1, 1, fan=100)))
            x = instance_norm(g, g.op("LeakyRelu", x, alpha=0.2), after)
            style = g.reshape(g.linear(w, 256, 2 * after), 1, 2 * after, 1, 1)
            scale, shift = g.split(style, after, after)
            x = g.add(g.mul(x, g.add(scale, g.const(1.0))), shift)
        side *= 2
    g.output(g.op("Tanh", g.conv(x, before, 3, 1)))


@model
def cyclegan(g):
    """Reflected borders, normalisation of each map by itself, transposed convolutions."""
    pad = lambda v, n: g.op("Pad", v, g.ints(0, 0, n, n, 0, 0, n, n), mode="reflect")
    norm = lambda v, c: g.relu(instance_norm(g, v, c))
    x = norm(g.conv(pad(g.input("image", [1, 3, 128, 128]), 3), 3, 32, 7, pad=0), 32)
    x = norm(g.conv(norm(g.conv(x, 32, 64, 3, 2), 64), 64, 128, 3, 2), 128)
    for _ in range(6):
        y = norm(g.conv(pad(x, 1), 128, 128, 3, pad=0), 128)
        x = g.add(x, instance_norm(g, g.conv(pad(y, 1), 128, 128, 3, pad=0), 128))
    for before, after in ((128, 64), (64, 32)):
        inputs = (x, g.weight(before, after, 3, 3, fan=before * 9 / 4), g.weight(after, fan=9))
        x = norm(g.op("ConvTranspose", *inputs, strides=[2, 2], pads=[1] * 4, output_padding=[1, 1]), after)
    g.output(g.op("Tanh", g.conv(pad(x, 3), 32, 3, 7, pad=0)))


@model
def style_transfer(g):
    """Instance normalisation written out as means and variances; growth before convolutions."""

    def norm(x, c):
        centred = g.op("Sub", x, g.op("ReduceMean", x, axes=[2, 3]))
        spread = g.op("ReduceMean", g.mul(centred, centred), axes=[2, 3])
        x = g.op("Div", centred, g.op("Sqrt", g.add(spread, g.const(1e-5))))
        return g.add(g.mul(x, g.weight(1, c, 1, 1, fan=1)), g.weight(1, c, 1, 1, fan=9))

    x = g.relu(norm(g.conv(g.input("image", [1, 3, 160, 160]), 3, 32, 9), 32))
    x = g.relu(norm(g.conv(x, 32, 64, 3, 2), 64))
    for _ in range(3):
        y = g.relu(norm(g.conv(x, 64, 64, 3), 64))
        x = g.add(x, norm(g.conv(y, 64, 64, 3), 64))
    x = g.relu(norm(g.conv(resize(g, x), 64, 32, 3), 32))
    g.output(g.mul(g.add(g.op("Tanh", g.conv(x, 32, 3, 9)), g.const(1.0)), g.const(127.5)))


@model
def autoencoder(g):
    """Group normalisation as an exporter writes it, swish, attention over a small map (the shape of a VAE)."""

    def norm(x, c):
        flat = g.op("InstanceNormalization", g.reshape(x, 0, 8, -1), g.const(numpy.ones(8)), g.const(numpy.zeros(8)))
        x = g.op("Reshape", flat, g.op("Shape", x))
        return g.add(g.mul(x, g.weight(c, 1, 1, fan=1)), g.weight(c, 1, 1, fan=9))

    def block(x, before, after):
        y = g.conv(activate(g, norm(x, before), "silu"), before, after, 3)
        y = g.conv(activate(g, norm(y, after), "silu"), after, after, 3)
        return g.add(x if before == after else g.conv(x, before, after, 1), y)

    x, before = g.conv(g.input("latent", [1, 4, 24, 24]), 4, 128, 3), 128
    for after in (128, 64, 32):
        x, before = block(block(x, before, after), after, after), after
        x = g.conv(resize(g, x), after, after, 3)
    g.output(g.conv(activate(g, norm(x, before), "silu"), before, 3, 3))


@model
def matting(g):
    """Separable layers and a guided step: box averages of the picture and of the mask."""
    image = g.input("image", [1, 3, 192, 192])
    x, before, maps = image, 3, []
    for after in (24, 48, 96):
        x, before = separable(g, conv_bn(g, x, before, after, 3, 2), after, after), after
        maps.append(x)
    for i, (low, after) in enumerate(((maps[1], 48), (maps[0], 24))):
        x = separable(g, g.concat(resize(g, x, 2, "linear"), low), before + after, after)
        before = after
    mask = resize(g, g.conv(x, 24, 1, 1), 2, "linear")
    box = lambda v: average_pool(g, v, 9, 1, 4)
    grey = g.op("ReduceMean", image, axes=[1])
    mean_i, mean_p = box(grey), box(mask)
    cov = g.op("Sub", box(g.mul(grey, mask)), g.mul(mean_i, mean_p))
    var = g.op("Sub", box(g.mul(grey, grey)), g.mul(mean_i, mean_i))
    a = g.op("Div", cov, g.add(var, g.const(0.1)))
    b = g.op("Sub", mean_p, g.mul(a, mean_i))
    g.output(g.op("Clip", g.add(g.mul(box(a), grey), box(b)), g.const(0.0), g.const(1.0)))
