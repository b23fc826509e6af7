"""speech_small.py - sound on small machines: who speaks when, noise, a recogniser that reads samples."""
import numpy

from graph import model, variants
from recurrent import joined, recurrent
from text import attend, heads, merged


def instance_norm(g, x, width):
    return g.op("InstanceNormalization", x, g.const(numpy.ones(width)), g.weight(width, fan=9))


@model
def speaker_segments(g):
    """Two seconds of samples through wide filters, pooling, normalisation over time, two LSTMs in both directions."""
    x = instance_norm(g, g.input("samples", [1, 1, 32000]), 1)
    for i, (before, after, kernel, stride) in enumerate(((1, 80, 251, 10), (80, 60, 5, 1), (60, 60, 5, 1))):
        x = g.conv(x, before, after, [kernel], stride, 0, bias=i > 0)
        x = g.op("Abs", x) if i == 0 else x
        x = g.op("MaxPool", x, kernel_shape=[3], strides=[3])
        x = g.op("LeakyRelu", instance_norm(g, x, after))
    length, width = 115, 60
    x = g.transpose(x, 2, 0, 1)
    for _ in range(2):
        y, _last = recurrent(g, "LSTM", x, width, 128, 1, True)
        x, width = joined(g, y, length, 1, 128, True), 256
    for before in (256, 128):
        x = g.op("LeakyRelu", g.linear(x, before, 128))
    g.output(g.op("LogSoftmax", g.transpose(g.linear(x, 128, 7), 1, 0, 2), axis=-1))


def noise_gains(g, length):
    """Three GRUs that see what came before them, gains of 22 bands, whether somebody speaks."""
    x = g.input("features", [length, 1, 42])
    gru = lambda x, before, hidden: g.op("Squeeze", recurrent(g, "GRU", x, before, hidden, 1,
                                                               linear_before_reset=1)[0], g.ints(1))
    dense = g.op("Tanh", g.linear(x, 42, 24))
    voice = gru(dense, 24, 24)
    noise = gru(g.concat(dense, voice, x, axis=2), 90, 48)
    gains = gru(g.concat(voice, noise, x, axis=2), 114, 96)
    g.output(g.op("Sigmoid", g.linear(gains, 96, 22))), g.output(g.op("Sigmoid", g.linear(voice, 24, 1)))


variants(noise_gains, noise_gains_1=(1,), noise_gains_100=(100,))


@model
def noise_filter(g):
    """Convolutions along frequency, separable and with a step back in time, linear layers in groups, GRUs, the way
    back with transposed convolutions and bypasses."""
    frames, width = 50, 64

    def unit(x, before, after, stride=1):
        x = g.op("Pad", x, g.ints(0, 0, 1 if before == 1 else 0, 0, 0, 0, 0, 0))
        x = g.conv(x, before, after, [2 if before == 1 else 1, 3], [1, stride], [0, 1],
                   groups=1 if before == 1 else width, bias=False)
        x = x if before == 1 else g.conv(x, after, after, 1, bias=False)
        return g.relu(g.batchnorm(x, after))

    def grouped(x, before, after, groups=8):
        x = g.op("Einsum", g.reshape(x, 1, frames, groups, before // groups),
                 g.weight(groups, before // groups, after // groups, fan=before // groups), equation="btgi,gih->btgh")
        return g.relu(g.reshape(x, 1, frames, after))

    levels = [unit(g.input("bands", [1, 1, frames, 32]), 1, width)]
    for stride in (2, 2, 1):
        levels.append(unit(levels[-1], width, width, stride))
    x = g.reshape(g.transpose(levels[-1], 0, 2, 3, 1), 1, frames, 8 * width)
    x = grouped(x, 8 * width, 256)
    for _ in range(2):
        y, _last = recurrent(g, "GRU", g.transpose(x, 1, 0, 2), 256, 256, 1, linear_before_reset=1)
        x = g.transpose(g.op("Squeeze", y, g.ints(1)), 1, 0, 2)
    x = g.transpose(g.reshape(grouped(x, 256, 8 * width), 1, frames, 8, width), 0, 3, 1, 2)
    for level, stride in zip(levels[::-1], (1, 2, 2)):
        x = g.add(x, g.relu(g.batchnorm(g.conv(level, width, width, 1, bias=False), width)))
        if stride == 1:
            x = unit(x, width, width)
            continue
        x = g.op("ConvTranspose", x, g.weight(width, 1, 1, 3, fan=3), kernel_shape=[1, 3], strides=[1, 2],
                 pads=[0, 1, 0, 1], output_padding=[0, 1], group=width)
        x = g.relu(g.batchnorm(g.conv(x, width, width, 1, bias=False), width))
    g.output(g.op("Sigmoid", g.conv(g.add(x, levels[0]), width, 1, [1, 3], pad=[0, 1])))


@model
def sample_recogniser(g):
    """Two seconds of samples: three convolutions with long steps, then layers that turn pairs of a part of each
    head."""
    width, count, length = 288, 8, 82
    size, turned = width // count, 32
    x = g.op("Tanh", g.conv(g.unsqueeze(g.input("samples", [1, 32000]), 1), 1, width, [127], 64, 0, bias=False))
    flat = g.op("InstanceNormalization", g.reshape(x, 0, 1, -1), g.const([1.0]), g.const([0.0]))
    flat = g.op("Reshape", flat, g.op("Shape", x))
    x = g.add(g.mul(flat, g.const(numpy.ones((width, 1)))), g.weight(width, 1, fan=9))
    x = g.gelu(g.conv(x, width, 2 * width, [7], 3, 0))
    x = g.transpose(g.gelu(g.conv(x, 2 * width, width, [3], 2, 0)), 0, 2, 1)
    angle = numpy.outer(numpy.arange(length), 1.0 / 10000 ** (numpy.arange(0, turned, 2) / turned)).repeat(2, axis=1)
    cos, sin = g.const(numpy.cos(angle)), g.const(numpy.sin(angle))

    def rotated(x):
        x, kept = g.slice(x, 0, turned), g.slice(x, turned, 2 ** 62)
        pair = g.concat(g.unsqueeze(g.op("Neg", g.slice(x, 1, 2 ** 62, -1, 2)), -1),
                        g.unsqueeze(g.slice(x, 0, 2 ** 62, -1, 2), -1), axis=-1)
        return g.concat(g.add(g.mul(x, cos), g.mul(g.reshape(pair, 1, count, length, turned), sin)), kept, axis=-1)

    for _ in range(3):
        h = g.op("LayerNormalization", x, g.const(numpy.ones(width)), axis=-1)
        q, k, v = (heads(g, g.linear(h, width, width, False), count, size, length) for _ in range(3))
        own = merged(g, attend(g, rotated(q), rotated(k), v, size), width, length)
        x = g.add(x, g.linear(own, width, width, False))
        h = g.op("LayerNormalization", x, g.const(numpy.ones(width)), axis=-1)
        x = g.add(x, g.linear(g.gelu(g.linear(h, width, 4 * width)), 4 * width, width))
    g.output(g.op("LayerNormalization", x, g.const(numpy.ones(width)), axis=-1))
