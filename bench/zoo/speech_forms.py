"""speech_forms.py - sound in other forms: complex numbers, two ways through chunks, transforms at both ends, voices
made from text, layers that stream."""
import numpy

from graph import model
from recurrent import joined, recurrent
from speech import glu
from text import attend, heads, merged


def channel_norm(g, x, width):
    """A norm over channels that come first, between two transposes."""
    return g.transpose(g.layernorm(g.transpose(x, 0, 2, 1), width), 0, 2, 1)


@model
def x_vector(g):
    """Layers that see frames further apart, mean and deviation over time, an embedding of who speaks."""
    x, width = g.input("features", [1, 24, ("frames", 200)]), 24
    for kernel, gap, after in ((5, 1, 256), (3, 2, 256), (3, 3, 256), (1, 1, 256), (1, 1, 768)):
        x = g.batchnorm(g.relu(g.conv(x, width, after, [kernel], pad=0, dilation=gap)), after)
        width = after
    mean = g.op("ReduceMean", x, axes=[2], keepdims=1)
    off = g.op("Sub", x, mean)
    spread = g.op("Sqrt", g.add(g.op("ReduceMean", g.mul(off, off), axes=[2], keepdims=0), g.const(1e-5)))
    x = g.concat(g.op("Squeeze", mean, g.ints(2)), spread)
    for before in (1536, 256):
        x = g.op("Gemm", x, g.weight(256, before), g.weight(256, fan=9), transB=1)
        x = g.batchnorm(g.relu(x), 256)
    g.output(g.op("LogSoftmax", g.linear(x, 256, 500), axis=1))


@model
def transform_vocoder(g):
    """Blocks of a depthwise convolution and two products, then sizes and phases back to samples: a product with the
    basis of the transform, overlaps added by a transposed convolution, divided by the sum of windows."""
    frames, width, size, hop = 60, 192, 256, 64
    x = channel_norm(g, g.conv(g.input("mel", [1, 80, frames]), 80, width, [7]), width)
    for _ in range(5):
        y = g.transpose(g.conv(x, width, width, [7], groups=width), 0, 2, 1)
        y = g.linear(g.gelu(g.linear(g.layernorm(y, width), width, 3 * width)), 3 * width, width)
        x = g.add(x, g.transpose(g.mul(y, g.const(0.3 * g.random.random(width))), 0, 2, 1))
    x = g.layernorm(g.transpose(x, 0, 2, 1), width)
    bins = size // 2 + 1
    x = g.transpose(g.linear(x, width, 2 * bins), 0, 2, 1)
    sizes, phase = g.split(x, bins, bins)
    sizes = g.op("Clip", g.op("Exp", sizes), "", g.const(100.0))
    both = g.concat(g.mul(sizes, g.op("Cos", phase)), g.mul(sizes, g.op("Sin", phase)))
    turn = 2 * numpy.pi * numpy.outer(numpy.arange(bins), numpy.arange(size)) / size
    window = numpy.hanning(size + 1)[:-1]
    weight = numpy.where((numpy.arange(bins) % (size // 2)) == 0, 1, 2)[:, None] / size
    basis = numpy.concatenate([numpy.cos(turn) * weight, -numpy.sin(turn) * weight]) * window
    x = g.op("ConvTranspose", both, g.const(basis[:, None]), strides=[hop], kernel_shape=[size])
    total = numpy.zeros(size + hop * (frames - 1))
    for i in range(frames):
        total[i * hop:i * hop + size] += window ** 2
    x = g.op("Div", x, g.const(numpy.maximum(total, 1e-3)))
    g.output(g.slice(x, size // 2, -size // 2))


@model
def log_mel_encoder(g):
    """Samples through STFT to the logarithm of mel bands, limited below the largest; two convolutions, two layers."""
    samples, size, hop, width, count = 16000, 400, 160, 256, 4
    x = g.op("Pad", g.unsqueeze(g.input("samples", [1, samples]), 1), g.ints(0, 0, 200, 0, 0, 200), mode="reflect")
    x = g.op("Squeeze", x, g.ints(1))
    both = g.op("STFT", g.unsqueeze(x, 2), g.const(hop, "int64"), g.const(numpy.hanning(size + 1)[:-1]),
                g.const(size, "int64"), onesided=1)
    both = g.slice(both, 0, samples // hop, 1)
    power = g.op("ReduceSum", g.mul(both, both), g.ints(3), keepdims=0)
    mel = g.op("MatMul", power, g.const(numpy.abs(g.random.standard_normal((size // 2 + 1, 80))) / 20))
    x = g.mul(g.op("Log", g.op("Max", mel, g.const(1e-10))), g.const(0.4342945))
    x = g.op("Max", x, g.op("Sub", g.op("ReduceMax", x, keepdims=1), g.const(8.0)))
    x = g.transpose(g.op("Div", g.add(x, g.const(4.0)), g.const(4.0)), 0, 2, 1)
    x = g.gelu(g.conv(x, 80, width, [3]))
    x = g.transpose(g.gelu(g.conv(x, width, width, [3], 2)), 0, 2, 1)
    length = samples // hop // 2
    x = g.add(x, g.weight(length, width, fan=9))
    for _ in range(2):
        h = g.layernorm(x, width)
        q, v = (heads(g, g.linear(h, width, width), count, 64, length) for _ in range(2))
        k = heads(g, g.linear(h, width, width, False), count, 64, length)
        x = g.add(x, g.linear(merged(g, attend(g, q, k, v, 64, None, "both"), width, length), width, width))
        x = g.add(x, g.linear(g.gelu(g.linear(g.layernorm(x, width), width, 4 * width)), 4 * width, width))
    g.output(g.layernorm(x, width))


@model
def complex_mask(g):
    """Real and imaginary parts through pairs of convolutions down and up along frequency, pairs of LSTMs between, the
    mask applied in polar form."""
    frames, bands = 40, 64
    real, imaginary = g.input("real", [1, 1, bands, frames]), g.input("imaginary", [1, 1, bands, frames])

    def layer(parts, before, after, up=False):
        def one():
            if up:
                w = g.weight(before, after, 4, 2, fan=4 * before)
                return lambda x: g.slice(g.op("ConvTranspose", x, w, strides=[2, 1], pads=[1, 0, 1, 0],
                                              kernel_shape=[4, 2]), 0, frames, 3)
            w = g.weight(after, before, 4, 2)
            return lambda x: g.op("Conv", g.op("Pad", x, g.ints(0, 0, 1, 1, 0, 0, 1, 0)), w, strides=[2, 1],
                                  kernel_shape=[4, 2])
        a, b = one(), one()
        parts = g.op("Sub", a(parts[0]), b(parts[1])), g.add(b(parts[0]), a(parts[1]))
        act = lambda x: g.op("PRelu", g.batchnorm(x, after), g.const(numpy.full((1, 1, 1), 0.25)))
        return tuple(act(x) for x in parts)

    parts, levels, widths = (real, imaginary), [], [1, 16, 32, 32]
    for before, after in zip(widths, widths[1:]):
        parts = layer(parts, before, after)
        levels.append(parts)
    flat = [g.transpose(g.reshape(x, 1, 32 * 8, frames), 2, 0, 1) for x in parts]
    runs = [[g.op("Squeeze", recurrent(g, "LSTM", x, 256, 128, 1)[0], g.ints(1)) for x in flat] for _ in range(2)]
    mixed = g.op("Sub", runs[0][0], runs[1][1]), g.add(runs[1][0], runs[0][1])
    parts = [g.reshape(g.transpose(g.linear(x, 128, 256), 1, 2, 0), 1, 32, 8, frames) for x in mixed]
    for level, (before, after) in zip(levels[::-1], ((64, 32), (64, 16), (32, 1))):
        parts = layer([g.concat(x, y) for x, y in zip(parts, level)], before, after, True)
    size = g.op("Tanh", g.op("Sqrt", g.add(g.add(g.mul(parts[0], parts[0]), g.mul(parts[1], parts[1])),
                                            g.const(1e-8))))
    own = g.op("Sqrt", g.add(g.add(g.mul(real, real), g.mul(imaginary, imaginary)), g.const(1e-8)))
    angle = g.op("Atan", g.op("Div", parts[1], g.add(g.op("Abs", parts[0]), g.const(1e-8))))
    g.output(g.mul(g.mul(own, size), g.op("Cos", angle))), g.output(g.mul(g.mul(own, size), g.op("Sin", angle)))


@model
def dual_path(g):
    """Frames in chunks that overlap by half: an LSTM inside chunks, another across them, a norm of all, masks."""
    width, chunk, frames = 64, 40, 400
    x = g.relu(g.conv(g.input("samples", [1, 1, 8 * frames + 8]), 1, width, [16], 8, 0, bias=False))

    def norm(x, count):
        flat = g.op("InstanceNormalization", g.reshape(x, 1, 1, -1), g.const([1.0]), g.const([0.0]))
        shape = (width,) + (1,) * count
        return g.add(g.mul(g.op("Reshape", flat, g.op("Shape", x)), g.const(numpy.ones(shape))),
                     g.weight(*shape, fan=9))

    y = g.op("Pad", g.conv(norm(x, 1), width, width, [1], bias=False), g.ints(0, 0, 20, 0, 0, 20))
    first = g.reshape(g.slice(y, 0, 440, 2), 1, width, 11, chunk)
    second = g.reshape(g.slice(g.op("Pad", y, g.ints(0, 0, 0, 0, 0, 20)), 20, 460, 2), 1, width, 11, chunk)
    y = g.reshape(g.concat(g.unsqueeze(first, 3), g.unsqueeze(second, 3), axis=3), 1, width, 22, chunk)
    for _ in range(2):
        for steps, batch, perm, back in ((chunk, 22, (3, 0, 2, 1), (1, 3, 2, 0)), (22, chunk, (2, 0, 3, 1),
                                                                                   (1, 3, 0, 2))):
            h = g.reshape(g.transpose(y, *perm), steps, batch, width)
            h, _ = recurrent(g, "LSTM", h, width, 64, batch, True)
            h = g.linear(joined(g, h, steps, batch, 64, True), 128, width)
            h = g.transpose(g.reshape(h, steps, 1, batch, width), *back)
            y = g.add(y, norm(h, 2))
    y = g.conv(g.op("PRelu", y, g.const(numpy.full((1, 1, 1), 0.25))), width, 2 * width, 1)
    y = g.transpose(g.reshape(y, 1, 2 * width, 11, 2, chunk), 0, 1, 3, 2, 4)
    first, second = (g.reshape(part, 1, 2 * width, 440) for part in g.split(y, 1, 1, axis=2))
    y = g.slice(g.add(first, g.op("Pad", g.slice(second, 0, 420, 2), g.ints(0, 0, 20, 0, 0, 0))), 20, 420, 2)
    masks = g.op("Sigmoid", g.reshape(y, 2, width, frames))
    x = g.mul(masks, x)
    g.output(g.op("ConvTranspose", x, g.weight(width, 1, 16, fan=16), strides=[8], kernel_shape=[16]))


@model
def wave_unmixer(g):
    """Samples down by strides of 4 with gates, an LSTM in both directions, up again with what was kept beside."""
    x, kept, width = g.input("mix", [1, 2, 4096]), [], 2
    for after in (24, 48, 96):
        x = g.relu(g.conv(x, width, after, [8], 4, 2))
        x = glu(g, g.conv(x, after, 2 * after, [1]), after)
        kept.append(x)
        width = after
    y, _ = recurrent(g, "LSTM", g.transpose(x, 2, 0, 1), 96, 96, 1, True)
    x = g.transpose(g.linear(joined(g, y, 64, 1, 96, True), 192, 96), 1, 2, 0)
    for skip, after in zip(kept[::-1], (48, 24, 8)):
        x = glu(g, g.conv(g.add(x, skip), width, 2 * width, [3]), width)
        x = g.op("ConvTranspose", x, g.weight(width, after, 8, fan=2 * width), g.weight(after, fan=9), strides=[4],
                 pads=[2, 2], kernel_shape=[8])
        x, width = g.relu(x) if after > 8 else x, after
    g.output(g.reshape(x, 1, 4, 2, 4096))


@model
def voice_text(g):
    """Letters of a text: attention whose distances up to 4 have keys and values of their own, skewed into place by
    padding; convolutions as wide layer; everything masked; then layers of a flow that swap halves."""
    length, width, count, size, reach = 60, 192, 2, 96, 4
    ids, mask = g.input("ids", [1, length], "int64", "int=100"), g.input("mask", [1, 1, length], fill="const=1")
    x = g.mul(g.transpose(g.mul(g.embedding(ids, 100, width), g.const(width ** 0.5)), 0, 2, 1), mask)
    pairs = g.mul(g.unsqueeze(mask, 2), g.unsqueeze(mask, 3))
    wide = 2 * length - 1
    fill = length - reach - 1

    def to_absolute(y):
        y = g.op("Pad", y, g.ints(0, 0, 0, 0, 0, 0, 0, 1))
        y = g.op("Pad", g.reshape(y, 1, count, length * 2 * length), g.ints(0, 0, 0, 0, 0, length - 1))
        return g.slice(g.slice(g.reshape(y, 1, count, length + 1, wide), 0, length, 2), length - 1, 2 ** 62, 3)

    def to_relative(y):
        y = g.op("Pad", y, g.ints(0, 0, 0, 0, 0, 0, 0, length - 1))
        y = g.op("Pad", g.reshape(y, 1, count, length * wide), g.ints(0, 0, length, 0, 0, 0))
        return g.slice(g.reshape(y, 1, count, length, 2 * length), 1, 2 ** 62, 3)

    for _ in range(3):
        q, k, v = (g.transpose(g.reshape(g.conv(x, width, width, [1]), 1, count, size, length), 0, 1, 3, 2)
                   for _ in range(3))
        q = g.op("Div", q, g.const(size ** 0.5))
        near = [g.op("Pad", g.weight(1, 2 * reach + 1, size, fan=size), g.ints(0, fill, 0, 0, fill, 0))
                for _ in range(2)]
        scores = g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2))
        far = g.op("MatMul", q, g.transpose(g.unsqueeze(near[0], 0), 0, 1, 3, 2))
        scores = g.add(scores, to_absolute(far))
        scores = g.op("Where", g.op("Equal", pairs, g.const(0.0)), g.const(-1e4), scores)
        odds = g.op("Softmax", scores, axis=-1)
        own = g.add(g.op("MatMul", odds, v), g.op("MatMul", to_relative(odds), g.unsqueeze(near[1], 0)))
        own = g.reshape(g.transpose(own, 0, 1, 3, 2), 1, width, length)
        x = channel_norm(g, g.add(x, g.conv(own, width, width, [1])), width)
        y = g.relu(g.conv(g.mul(x, mask), width, 4 * width, [3]))
        x = channel_norm(g, g.add(x, g.mul(g.conv(g.mul(y, mask), 4 * width, width, [3]), mask)), width)
    for _ in range(2):
        half, rest = g.split(x, width // 2, width // 2)
        h, total = g.mul(g.conv(half, width // 2, width, [1]), mask), None
        for i in range(3):
            a, b = g.split(g.conv(h, width, 2 * width, [5]), width, width)
            made = g.conv(g.mul(g.op("Tanh", a), g.op("Sigmoid", b)), width, 2 * width if i < 2 else width, [1])
            kept = made
            if i < 2:
                more, kept = g.split(made, width, width)
                h = g.mul(g.add(h, more), mask)
            total = g.add(total, kept) if total else kept
        rest = g.mul(g.op("Sub", rest, g.conv(g.mul(total, mask), width, width // 2, [1])), mask)
        x = g.slice(g.concat(half, rest), -1, -2 ** 62, 1, -1)
    g.output(x)


@model
def length_regulator(g):
    """Each letter is repeated as long as it lasts: running sums against a Range make a matrix of zeros and ones."""
    letters, width, count = 40, 192, 2
    x = g.embedding(g.input("ids", [1, letters], "int64", "int=80"), 80, width)
    lasts = g.input("durations", [1, letters], "int64", "const=4")

    def block(x):
        q, k, v = (g.transpose(g.shaped(g.linear(x, width, width), 1, g.size(x, 1), count, 96), 0, 2, 1, 3)
                   for _ in range(3))
        x = g.layernorm(g.add(x, g.linear(merged(g, attend(g, q, k, v, 96), width), width, width)), width)
        y = g.relu(g.conv(g.transpose(x, 0, 2, 1), width, 2 * width, [9]))
        return g.layernorm(g.add(x, g.transpose(g.conv(y, 2 * width, width, [1]), 0, 2, 1)), width)

    x = block(block(x))
    pitch = g.transpose(x, 0, 2, 1)
    for _ in range(2):
        pitch = channel_norm(g, g.relu(g.conv(pitch, width, width, [3])), width)
    pitch = g.conv(pitch, width, 1, [1])
    x = g.add(x, g.transpose(g.conv(pitch, 1, width, [9]), 0, 2, 1))
    ends = g.op("CumSum", lasts, g.const(1, "int64"))
    starts = g.op("Sub", ends, lasts)
    total = g.op("ReduceMax", ends, keepdims=0)
    place = g.unsqueeze(g.op("Range", g.const(0, "int64"), total, g.const(1, "int64")), 0, 2)
    inside = g.op("And", g.op("GreaterOrEqual", place, g.unsqueeze(starts, 1)),
                  g.op("Less", place, g.unsqueeze(ends, 1)))
    x = block(block(g.op("MatMul", g.op("Cast", inside, to=1), x)))
    g.output(g.linear(x, width, 80)), g.output(pitch)


@model
def snake_vocoder(g):
    """x + sin(a x)^2 / a between convolutions that grow apart, with filters up and down around each of them."""
    x, width = g.conv(g.input("mel", [1, 80, 32]), 80, 128, [7]), 128
    taps = numpy.hanning(14)[1:-1] / numpy.hanning(14).sum()

    def snake(x, width):
        filters = g.const(numpy.tile(2 * taps, (width, 1, 1)))
        x = g.op("Pad", x, g.ints(0, 0, 5, 0, 0, 5), mode="edge")
        x = g.op("ConvTranspose", x, filters, strides=[2], group=width, kernel_shape=[12])
        x = g.slice(x, 15, -15, 2)
        a = g.const(numpy.exp(0.1 * g.random.standard_normal((1, width, 1))))
        wave = g.op("Pow", g.op("Sin", g.mul(x, a)), g.const(2.0))
        x = g.add(x, g.mul(g.op("Div", g.const(1.0), g.add(a, g.const(1e-9))), wave))
        x = g.op("Pad", x, g.ints(0, 0, 5, 0, 0, 6), mode="edge")
        return g.op("Conv", x, g.const(numpy.tile(taps, (width, 1, 1))), strides=[2], group=width, kernel_shape=[12])

    for rate in (4, 4):
        x = g.op("ConvTranspose", x, g.weight(width, width // 2, 2 * rate, fan=2 * width), g.weight(width // 2, fan=9),
                 strides=[rate], pads=[rate // 2, rate // 2], kernel_shape=[2 * rate])
        width //= 2
        parts = []
        for kernel in (3, 7):
            y = x
            for gap in (1, 3):
                h = g.conv(snake(y, width), width, width, [kernel], dilation=gap)
                y = g.add(g.conv(snake(h, width), width, width, [kernel]), y)
            parts.append(y)
        x = g.op("Div", g.add(*parts), g.const(2.0))
    g.output(g.op("Tanh", g.conv(snake(x, width), width, 1, [7], bias=False)))


@model
def swoosh_encoder(g):
    """Norms without a mean, log(1 + exp(x - 4)) as activation, attention weights made once and used three times, a
    part at half the rate, everything mixed with its input."""
    length, width, count = 96, 192, 4

    def norm(x):
        off = g.op("Sub", x, g.weight(width, fan=9))
        size = g.op("ReduceMean", g.op("Pow", off, g.const(2.0)), axes=[-1], keepdims=1)
        return g.mul(g.mul(x, g.op("Pow", size, g.const(-0.5))), g.const(1.1))

    def swoosh(x, at, less):
        soft = g.op("Log", g.add(g.const(1.0), g.op("Exp", g.op("Sub", x, g.const(at)))))
        return g.op("Sub", g.op("Sub", soft, g.mul(x, g.const(0.08))), g.const(less))

    wide = lambda x, size: g.linear(swoosh(g.linear(x, width, size), 4.0, 0.035), size, width)
    split = lambda x, n, frames: g.transpose(g.reshape(x, 1, frames, count, n), 0, 2, 1, 3)

    def layer(x, frames):
        start = x
        q, k = (split(g.linear(x, width, 128), 32, frames) for _ in range(2))
        odds = g.op("Softmax", g.op("MatMul", q, g.transpose(k, 0, 1, 3, 2)), axis=-1)
        x = g.add(x, wide(x, 384))
        s, y, z = g.split(g.linear(x, width, 3 * 144), 144, 144, 144, axis=-1)
        seen = g.op("MatMul", g.slice(odds, 0, 1, 1), g.unsqueeze(g.mul(g.op("Tanh", s), y), 1))
        x = g.add(x, g.linear(g.mul(g.op("Squeeze", seen, g.ints(1)), z), 144, width))
        for _ in range(2):
            own = g.op("MatMul", odds, split(g.linear(x, width, 48), 12, frames))
            x = g.add(x, g.linear(g.reshape(g.transpose(own, 0, 2, 1, 3), 1, frames, 48), 48, width))
            a, b = g.split(g.linear(x, width, 2 * width), width, width, axis=-1)
            y = g.transpose(g.mul(a, g.op("Sigmoid", b)), 0, 2, 1)
            y = g.transpose(g.conv(y, width, width, [15], groups=width), 0, 2, 1)
            x = g.add(x, g.linear(swoosh(y, 1.0, 0.313), width, width))
            x = g.add(x, wide(x, 512))
        x = norm(x)
        return g.add(start, g.mul(g.op("Sub", x, start), g.const(0.5 + 0.5 * g.random.random(width))))

    x = layer(g.linear(g.input("features", [1, length, 80]), 80, width), length)
    pairs = g.reshape(x, 1, length // 2, 2, width)
    half = g.op("ReduceSum", g.mul(pairs, g.const([[0.6], [0.4]])), g.ints(2), keepdims=0)
    half = layer(half, length // 2)
    half = g.op("Expand", g.unsqueeze(half, 2), g.ints(1, length // 2, 2, width))
    g.output(g.add(x, g.reshape(half, 1, length, width)))


@model
def streaming_conformer(g):
    """16 frames; keys, values and the last samples of each convolution come in and go out; distances by a shift of
    what was gathered."""
    g.opset, length, past, width, count, size = 18, 16, 48, 192, 4, 48
    total = past + length
    x = g.input("x", [1, length, width])
    far = g.const(numpy.cos(numpy.outer(numpy.arange(total + length - 1), 1 / 10000 ** (numpy.arange(width) / width)))[
        None])
    at = g.const((numpy.arange(total)[None] - numpy.arange(length)[:, None] + length - 1).reshape(1, 1, length, total),
                 "int64")
    at = g.op("Expand", at, g.ints(1, count, length, total))
    for i in range(3):
        h = g.layernorm(x, width)
        x = g.add(x, g.mul(g.linear(g.silu(g.linear(h, width, 4 * width)), 4 * width, width), g.const(0.5)))
        cache = g.input("attention.%d" % i, [1, past, width])
        seen = g.concat(cache, g.layernorm(x, width), axis=1)
        g.output(g.slice(seen, length, 2 ** 62, 1))
        q = g.reshape(g.linear(g.slice(seen, past, 2 ** 62, 1), width, width), 1, length, count, size)
        k, v = (heads(g, g.linear(seen, width, width), count, size, total) for _ in range(2))
        r = g.transpose(g.reshape(g.linear(far, width, width, False), 1, total + length - 1, count, size), 0, 2, 3, 1)
        content, place = (g.transpose(g.add(q, g.weight(count, size, fan=9)), 0, 2, 1, 3) for _ in range(2))
        scores = g.add(g.op("MatMul", content, g.transpose(k, 0, 1, 3, 2)),
                       g.op("GatherElements", g.op("MatMul", place, r), at, axis=3))
        odds = g.op("Softmax", g.mul(scores, g.const(size ** -0.5)), axis=-1)
        x = g.add(x, g.linear(merged(g, g.op("MatMul", odds, v), width, length), width, width))
        y = glu(g, g.conv(g.transpose(g.layernorm(x, width), 0, 2, 1), width, 2 * width, [1]), width)
        y = g.concat(g.input("conv.%d" % i, [1, width, 14]), y, axis=2)
        g.output(g.slice(y, length, 2 ** 62, 2))
        y = g.silu(g.batchnorm(g.conv(y, width, width, [15], pad=0, groups=width), width))
        x = g.add(x, g.transpose(g.conv(y, width, width, [1]), 0, 2, 1))
        h = g.layernorm(x, width)
        x = g.add(x, g.mul(g.linear(g.silu(g.linear(h, width, 4 * width)), 4 * width, width), g.const(0.5)))
        x = g.layernorm(x, width)
    g.output(g.op("LogSoftmax", g.linear(x, width, 500), axis=-1))
