"""speech.py - sound: recognition, speakers, separation, synthesis, key words."""
import numpy

from graph import model
from recurrent import recurrent
from text import heads, merged, self_attention


def layer(g, x, width, count, length):
    x = g.layernorm(g.add(x, self_attention(g, x, width, count, None, length)), width)
    return g.layernorm(g.add(g.linear(g.gelu(g.linear(x, width, 4 * width)), 4 * width, width), x), width)


@model
def wav2vec2(g):
    """Half a second of samples, seven convolutions, transformer layers with a wide grouped convolution before them."""
    x = g.unsqueeze(g.input("samples", [1, 8000]), 1)
    for i, (kernel, stride) in enumerate(((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2))):
        x = g.conv(x, 128 if i else 1, 128, [kernel], stride, 0, bias=False)
        if i == 0:
            x = g.op("InstanceNormalization", g.reshape(x, 1, 128, -1), g.const(numpy.ones(128)), g.weight(128, fan=9))
        x = g.gelu(x)
    length = 24
    x = g.linear(g.layernorm(g.transpose(x, 0, 2, 1), 128), 128, 256)
    place = g.conv(g.transpose(x, 0, 2, 1), 256, 256, [32], pad=16, groups=16)
    x = g.layernorm(g.add(x, g.transpose(g.gelu(g.slice(place, 0, -1, 2)), 0, 2, 1)), 256)
    for _ in range(3):
        x = layer(g, x, 256, 4, length)
    g.output(g.linear(x, 256, 32))


def glu(g, x, width, axis=1):
    a, b = g.split(x, width, width, axis=axis)
    return g.mul(a, g.op("Sigmoid", b))


@model
def conformer(g):
    """Half a feed-forward, attention with relative positions, a convolution over time, half a feed-forward."""
    length, width, count = 50, 144, 4
    x = g.input("features", [1, 1, 4 * length + 3, 80])
    x = g.relu(g.conv(x, 1, 32, 3, 2, 0))
    x = g.relu(g.conv(x, 32, 32, 3, 2, 0))
    x = g.linear(g.reshape(g.transpose(x, 0, 2, 1, 3), 1, length, 32 * 19), 32 * 19, width)
    table = g.const(g.random.standard_normal((1, 2 * length - 1, width)))
    forward = lambda x: g.mul(g.linear(g.silu(g.linear(g.layernorm(x, width), width, 4 * width)), 4 * width, width),
                              g.const(0.5))
    for _ in range(2):
        x = g.add(x, forward(x))
        h = g.layernorm(x, width)
        q = g.reshape(g.linear(h, width, width), 1, length, count, width // count)
        k, v = (heads(g, g.linear(h, width, width), count, width // count, length) for _ in range(2))
        p = heads(g, g.linear(table, width, width, False), count, width // count, 2 * length - 1)
        qu, qv = (g.transpose(g.add(q, g.weight(count, width // count, fan=9)), 0, 2, 1, 3) for _ in range(2))
        near = g.op("MatMul", qv, g.transpose(p, 0, 1, 3, 2))
        near = g.op("Pad", near, g.ints(0, 0, 0, 1, 0, 0, 0, 0))
        near = g.slice(g.reshape(near, 1, count, 2 * length, length), 1, 2 ** 62, 2)
        near = g.slice(g.reshape(near, 1, count, length, 2 * length - 1), 0, length, 3)
        scores = g.mul(g.add(g.op("MatMul", qu, g.transpose(k, 0, 1, 3, 2)), near), g.const((width // count) ** -0.5))
        own = merged(g, g.op("MatMul", g.op("Softmax", scores, axis=-1), v), width, length)
        x = g.add(x, g.linear(own, width, width))
        h = g.transpose(g.layernorm(x, width), 0, 2, 1)
        h = glu(g, g.conv(h, width, 2 * width, [1]), width)
        h = g.silu(g.batchnorm(g.conv(h, width, width, [31], groups=width), width))
        x = g.add(x, g.transpose(g.conv(h, width, width, [1]), 0, 2, 1))
        x = g.layernorm(g.add(x, forward(x)), width)
    g.output(g.op("LogSoftmax", g.linear(x, width, 200), axis=-1))


@model
def ecapa_tdnn(g):
    """Speakers: dilated convolutions in groups one after the other, weights of channels, statistics over time."""
    width, frames = 256, 150
    unit = lambda x, before, after, kernel, gap=1: g.batchnorm(
        g.relu(g.conv(x, before, after, [kernel], dilation=gap)), after)
    x = unit(g.transpose(g.input("features", [1, frames, 80]), 0, 2, 1), 80, width, 5)
    levels = []
    for gap in (2, 3, 4):
        y = unit(x, width, width, 1)
        parts = g.split(y, *[width // 8] * 8)
        done = [parts[0]]
        for part in parts[1:]:
            done.append(unit(g.add(part, done[-1]) if len(done) > 1 else part, width // 8, width // 8, 3, gap))
        y = unit(g.concat(*done), width, width, 1)
        s = g.op("ReduceMean", y, axes=[2], keepdims=1)
        s = g.op("Sigmoid", g.conv(g.relu(g.conv(s, width, 64, [1])), 64, width, [1]))
        x = g.add(x, g.mul(y, s))
        levels.append(x)
    x = g.relu(g.conv(g.concat(*levels), 3 * width, 384, [1]))
    mean = g.op("ReduceMean", x, axes=[2], keepdims=1)
    off = g.op("Sub", x, mean)
    spread = g.op("Sqrt", g.op("Clip", g.op("ReduceMean", g.mul(off, off), axes=[2], keepdims=1), g.const(1e-6)))
    wide = g.concat(x, *[g.op("Expand", v, g.op("Shape", x)) for v in (mean, spread)])
    odds = g.op("Softmax", g.conv(g.op("Tanh", g.conv(wide, 1152, 64, [1])), 64, 384, [1]), axis=2)
    mean = g.op("ReduceSum", g.mul(odds, x), g.ints(2), keepdims=0)
    square = g.op("ReduceSum", g.mul(odds, g.mul(x, x)), g.ints(2), keepdims=0)
    spread = g.op("Sqrt", g.op("Clip", g.op("Sub", square, g.mul(mean, mean)), g.const(1e-6)))
    g.output(g.linear(g.batchnorm(g.concat(mean, spread), 768), 768, 192))


@model
def wavenet(g):
    x = g.conv(g.input("mel", [1, 40, 400]), 40, 32, [1])
    total = None
    for i in range(10):
        gap = 2 ** (i % 5)
        padded = g.op("Pad", x, g.ints(0, 0, 2 * gap, 0, 0, 0))
        both = g.conv(padded, 32, 64, [3], pad=0, dilation=gap)
        a, b = g.split(both, 32, 32)
        y = g.mul(g.op("Tanh", a), g.op("Sigmoid", b))
        skip = g.conv(y, 32, 64, [1])
        total = g.add(total, skip) if total else skip
        x = g.add(x, g.conv(y, 32, 32, [1]))
    g.output(g.conv(g.relu(g.conv(g.relu(total), 64, 64, [1])), 64, 64, [1]))


@model
def conv_tasnet(g):
    """Two speakers: an encoder, masks by separable dilated convolutions with normalisation over everything,
    a decoder."""
    frames, width = 399, 64
    x = g.relu(g.conv(g.input("mix", [1, 1, 4000]), 1, 128, [20], 10, 0, bias=False))

    def norm(x, channels):
        mean = g.op("ReduceMean", x, axes=[1, 2], keepdims=1)
        off = g.op("Sub", x, mean)
        spread = g.op("Sqrt", g.add(g.op("ReduceMean", g.mul(off, off), axes=[1, 2], keepdims=1), g.const(1e-8)))
        return g.add(g.mul(g.op("Div", off, spread), g.weight(1, channels, 1, fan=1)), g.weight(1, channels, 1, fan=9))

    y = g.conv(norm(x, 128), 128, width, [1])
    total = None
    for i in range(6):
        h = norm(g.op("PRelu", g.conv(y, width, 128, [1]), g.const([[0.25]])), 128)
        h = norm(g.op("PRelu", g.conv(h, 128, 128, [3], dilation=2 ** i, groups=128), g.const([[0.25]])), 128)
        skip = g.conv(h, 128, width, [1])
        total = g.add(total, skip) if total else skip
        y = g.add(y, g.conv(h, 128, width, [1]))
    masks = g.reshape(g.op("Sigmoid", g.conv(g.op("PRelu", total, g.const([[0.25]])), width, 256, [1])), 2, 128, frames)
    out = g.op("ConvTranspose", g.mul(masks, x), g.weight(128, 1, 20, fan=128), kernel_shape=[20], strides=[10])
    g.output(out)


@model
def hifigan(g):
    leaky = lambda x: g.op("LeakyRelu", x, alpha=0.1)
    x, width = g.conv(g.input("mel", [1, 80, 32]), 80, 128, [7]), 128
    for rate, kernel in ((8, 16), (8, 16), (2, 4)):
        x = g.op("ConvTranspose", leaky(x), g.weight(width, width // 2, kernel, fan=width * 2),
                 g.weight(width // 2, fan=9), kernel_shape=[kernel], strides=[rate], pads=[(kernel - rate) // 2] * 2)
        width //= 2
        total = None
        for size in (3, 7):
            y = x
            for gap in (1, 3):
                z = g.conv(leaky(y), width, width, [size], dilation=gap)
                y = g.add(y, g.conv(leaky(z), width, width, [size]))
            total = g.add(total, y) if total else y
        x = g.op("Div", total, g.const(2.0))
    g.output(g.op("Tanh", g.conv(leaky(x), width, 1, [7])))


def lstm_cell(g, x, h, c, before, hidden):
    """torch.nn.LSTMCell as it is exported: two Gemm, a Split, plain operations."""
    gates = g.add(*(g.op("Gemm", v, g.weight(4 * hidden, n), g.weight(4 * hidden, fan=9), transB=1)
                    for v, n in ((x, before), (h, hidden))))
    i, f, n, o = g.split(gates, *[hidden] * 4)
    c = g.add(g.mul(g.op("Sigmoid", f), c), g.mul(g.op("Sigmoid", i), g.op("Tanh", n)))
    return g.mul(g.op("Sigmoid", o), g.op("Tanh", c)), c


@model
def tacotron_step(g):
    """One frame: two layers before, a cell, attention that knows where it was, a cell, the frame and whether
    to stop."""
    memory = g.input("memory", [1, 60, 256])
    x = g.input("frame", [1, 80])
    for before in (80, 128):
        x = g.relu(g.linear(x, before, 128, False))
    h0, c0, h1, c1 = (g.input(name, [1, 256]) for name in ("h0", "c0", "h1", "c1"))
    context, seen = g.input("context", [1, 256]), g.input("weights", [1, 2, 60], fill="rand01")
    h0, c0 = lstm_cell(g, g.concat(x, context), h0, c0, 384, 256)
    place = g.linear(g.transpose(g.conv(seen, 2, 32, [31], bias=False), 0, 2, 1), 32, 128, False)
    sums = g.add(g.add(g.unsqueeze(g.linear(h0, 256, 128, False), 1), place), g.linear(memory, 256, 128, False))
    odds = g.op("Softmax", g.op("Squeeze", g.linear(g.op("Tanh", sums), 128, 1, False), g.ints(2)), axis=1)
    context = g.op("Squeeze", g.op("MatMul", g.unsqueeze(odds, 1), memory), g.ints(1))
    h1, c1 = lstm_cell(g, g.concat(h0, context), h1, c1, 512, 256)
    both = g.concat(h1, context)
    for value in (g.linear(both, 512, 80), g.op("Sigmoid", g.linear(both, 512, 1)), h0, c0, h1, c1, context, odds):
        g.output(value)


@model
def rnnt_step(g):
    """Predictor and joint network for one symbol."""
    token = g.input("token", [1, 1], "int64", "int=500")
    h, c = g.input("h", [1, 1, 320]), g.input("c", [1, 1, 320])
    y, h, c = g.op("LSTM", g.embedding(token, 500, 320), g.weight(1, 1280, 320, fan=320),
                   g.weight(1, 1280, 320, fan=320), g.weight(1, 2560, fan=9), "", h, c, outs=3, hidden_size=320)
    x = g.linear(g.op("Squeeze", y, g.ints(1)), 320, 320)
    x = g.op("Tanh", g.add(g.linear(g.input("encoder", [1, 1, 256]), 256, 320), x))
    for value in (g.op("LogSoftmax", g.linear(x, 320, 500), axis=-1), h, c):
        g.output(value)


@model
def rnnt_joint(g):
    """All pairs of 20 frames and 6 symbols."""
    x = g.add(g.unsqueeze(g.linear(g.input("encoder", [1, 20, 256]), 256, 256), 2),
              g.unsqueeze(g.linear(g.input("predictor", [1, 6, 256]), 256, 256), 1))
    g.output(g.op("LogSoftmax", g.linear(g.op("Tanh", x), 256, 500), axis=-1))


@model
def deepspeech(g):
    """Windows of frames, three layers with a limited Relu, an LSTM, two layers."""
    x, before = g.input("features", [16, 1, 494]), 494
    clipped = lambda x: g.op("Clip", x, g.const(0.0), g.const(20.0))
    for _ in range(3):
        x, before = clipped(g.linear(x, before, 512)), 512
    y, _ = recurrent(g, "LSTM", x, 512, 512, 1)
    x = clipped(g.linear(g.op("Squeeze", y, g.ints(1)), 512, 512))
    g.output(g.op("Softmax", g.linear(x, 512, 29), axis=-1))


@model
def deepspeech2(g):
    """Pictures of sound: two convolutions, then GRUs in both directions."""
    x = g.op("Clip", g.batchnorm(g.conv(g.input("spectrogram", [1, 1, 161, 100]), 1, 32, [41, 11], 2, [20, 5]), 32),
             g.const(0.0), g.const(20.0))
    x = g.op("Clip", g.batchnorm(g.conv(x, 32, 32, [21, 11], [2, 1], [10, 5]), 32), g.const(0.0), g.const(20.0))
    x = g.transpose(g.reshape(x, 1, 32 * 41, 50), 2, 0, 1)
    before = 32 * 41
    for _ in range(2):
        y, _ = recurrent(g, "GRU", x, before, 128, 1, True, linear_before_reset=1)
        x, before = g.op("ReduceSum", y, g.ints(1), keepdims=0), 128
    g.output(g.linear(x, 128, 29))


@model
def crepe(g):
    """The pitch of one frame of 1,024 samples: convolutions as wide as the frame."""
    x, before = g.reshape(g.input("frames", [2, 1024]), 2, 1, 1024, 1), 1
    for after, kernel, stride in ((128, 512, 4), (16, 64, 1), (16, 64, 1), (32, 64, 1)):
        pad = (kernel - stride) // 2
        x = g.op("Pad", x, g.ints(0, 0, pad, 0, 0, 0, kernel - stride - pad, 0))
        x = g.batchnorm(g.relu(g.conv(x, before, after, [kernel, 1], [stride, 1], 0)), after)
        x, before = g.op("MaxPool", x, kernel_shape=[2, 1], strides=[2, 1]), after
    g.output(g.op("Sigmoid", g.linear(g.reshape(g.transpose(x, 0, 2, 1, 3), 2, 512), 512, 360)))


@model
def encodec(g):
    """Convolutions with strides, an LSTM beside itself, the nearest of 256 codes, and the rest once more."""
    x, width = g.conv(g.input("samples", [1, 1, 3200]), 1, 16, [7]), 16
    for rate in (2, 4, 5):
        y = g.conv(g.op("Elu", x), width, width // 2, [3])
        x = g.add(x, g.conv(g.op("Elu", y), width // 2, width, [1]))
        x = g.conv(g.op("Elu", x), width, 2 * width, [2 * rate], rate, rate // 2 + rate % 2)
        width *= 2
    frames = 80
    x = g.transpose(g.slice(x, 0, frames, 2), 2, 0, 1)
    y, _ = recurrent(g, "LSTM", x, width, width, 1)
    x = g.linear(g.reshape(g.add(x, g.op("Squeeze", y, g.ints(1))), frames, width), width, 64)
    for _ in range(4):
        book = g.random.standard_normal((256, 64)).astype("float32")
        own = g.op("ReduceSum", g.op("Pow", x, g.const(2.0)), g.ints(1), keepdims=1)
        cross = g.op("MatMul", g.mul(x, g.const(2.0)), g.const(book.T))
        near = g.op("Neg", g.add(g.op("Sub", own, cross), g.const((book ** 2).sum(1)[None])))
        code = g.op("ArgMax", near, axis=1, keepdims=0)
        g.output(code, "int64")
        x = g.op("Sub", x, g.op("Gather", g.const(book), code))
    g.output(x)


@model
def voice_activity(g):
    """A short-time Fourier transform as a convolution, its size, convolutions, one step of an LSTM."""
    x = g.op("Pad", g.input("samples", [1, 1, 512]), g.ints(0, 0, 64, 0, 0, 64), mode="reflect")
    x = g.conv(x, 1, 258, [256], 128, 0, bias=False)
    real, imaginary = g.slice(x, 0, 129, 1), g.slice(x, 129, 258, 1)
    x = g.op("Sqrt", g.add(g.mul(real, real), g.mul(imaginary, imaginary)))
    for before, after, stride in ((129, 128, 1), (128, 64, 2), (64, 64, 2), (64, 128, 1)):
        x = g.relu(g.conv(x, before, after, [3], stride))
    h, c = g.input("h", [1, 1, 128]), g.input("c", [1, 1, 128])
    y, h, c = g.op("LSTM", g.transpose(g.op("ReduceMean", x, axes=[2], keepdims=1), 2, 0, 1),
                   g.weight(1, 512, 128, fan=128), g.weight(1, 512, 128, fan=128), g.weight(1, 1024, fan=9), "", h, c,
                   outs=3, hidden_size=128)
    y = g.conv(g.relu(g.transpose(g.op("Squeeze", y, g.ints(1)), 1, 2, 0)), 128, 1, [1])
    g.output(g.op("Sigmoid", y)), g.output(h), g.output(c)


@model
def key_words(g):
    """Separable convolutions over 49 frames of 10 numbers."""
    x = g.relu(g.batchnorm(g.conv(g.input("mfcc", [1, 1, 49, 10]), 1, 64, [10, 4], 2, [4, 1]), 64))
    for _ in range(4):
        x = g.relu(g.batchnorm(g.conv(x, 64, 64, 3, groups=64), 64))
        x = g.relu(g.batchnorm(g.conv(x, 64, 64, 1), 64))
    g.output(g.op("Softmax", g.linear(g.op("Flatten", g.op("GlobalAveragePool", x)), 64, 12), axis=-1))


@model
def key_words_step(g):
    """A small residual network over one second, then a GRU."""
    x = g.conv(g.input("mel", [1, 1, 40, 101]), 1, 20, [20, 5], [8, 2], 0)
    x = g.relu(x)
    x = g.reshape(g.transpose(x, 3, 0, 1, 2), 49, 1, 60)
    y, last = recurrent(g, "GRU", x, 60, 128, 1, True, linear_before_reset=1)
    x = g.reshape(g.transpose(y, 2, 0, 1, 3), 1, 49, 256)
    odds = g.op("Softmax", g.linear(g.op("Tanh", g.linear(x, 256, 64)), 64, 1), axis=1)
    x = g.op("ReduceSum", g.mul(odds, x), g.ints(1), keepdims=0)
    g.output(g.linear(x, 256, 12))
