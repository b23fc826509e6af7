"""picture.py - layers that networks on pictures share."""
import numpy
from onnx import TensorProto, helper, numpy_helper


def conv_bn(g, x, before, after, kernel=3, stride=1, act="relu", fused=False, **options):
    """A convolution with its normalisation, folded in where fused, and an activation."""
    x = g.conv(x, before, after, kernel, stride, bias=fused, **options)
    return activate(g, x if fused else g.batchnorm(x, after), act)


def activate(g, x, act):
    """act is "", the name of a function below, or that of an operator."""
    if not act:
        return x
    named = {"relu": g.relu, "silu": g.silu, "gelu": g.gelu, "relu6": lambda v: clip(g, v, 0, 6),
             "hswish": lambda v: g.op("HardSwish", v), "leaky": lambda v: g.op("LeakyRelu", v, alpha=0.1),
             "prelu": lambda v: g.op("PRelu", v, g.const([[[0.2]]]))}
    return named[act](x) if act in named else g.op(act, x)


def clip(g, x, low, high):
    return g.op("Clip", x, g.const(low), g.const(high))


def hard_swish_written_out(g, x):
    """As exporters wrote it before there was an operator."""
    return g.op("Div", g.mul(x, clip(g, g.add(x, g.const(3.0)), 0, 6)), g.const(6.0))


def max_pool(g, x, kernel=3, stride=2, pad=None, **options):
    pad = kernel // 2 if pad is None else pad
    return g.op("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, **options)


def average_pool(g, x, kernel, stride, pad=0, **options):
    return g.op("AveragePool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, **options)


def means(g, x, keep=1):
    return g.op("ReduceMean", x, axes=[2, 3], keepdims=keep)


def classify(g, x, channels, classes=1000):
    """Global average, flatten, product: the end of a classifier."""
    x = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    weight = g.weight(classes, channels)
    g.output(g.op("Gemm", x, weight, g.weight(classes, fan=9), transB=1))


def squeeze_excite(g, x, channels, hidden, act="relu", gate="Sigmoid"):
    s = activate(g, g.conv(means(g, x), channels, hidden, 1), act)
    return g.mul(x, activate(g, g.conv(s, hidden, channels, 1), gate))


def resize(g, x, factor=2, mode="nearest", **options):
    """By constant scales; the coordinates are those of PyTorch's exporter."""
    how = dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor") if mode == "nearest" else dict(
        coordinate_transformation_mode="half_pixel")
    return g.op("Resize", x, "", g.const([1, 1, factor, factor]), mode=mode, **dict(how, **options))


def resize_like(g, x, other, channels, mode="linear", **options):
    """To the size of another map, read from its shape when the model runs."""
    size = g.op("Slice", g.op("Shape", other), g.ints(2), g.ints(4), g.ints(0))
    sizes = g.concat(g.ints(1, channels), size, axis=0)
    how = dict(coordinate_transformation_mode="half_pixel") if mode == "linear" else dict(
        coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return g.op("Resize", x, "", "", sizes, mode=mode, **dict(how, **options))


def conv_transpose(g, x, before, after, kernel=2, stride=2, pad=0, bias=True):
    inputs = [x, g.weight(before, after, kernel, kernel, fan=before * kernel * kernel / stride / stride)]
    inputs += [g.weight(after, fan=9)] if bias else []
    return g.op("ConvTranspose", *inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)


def instance_norm(g, x, channels):
    return g.op("InstanceNormalization", x, g.const(numpy.ones(channels)), g.weight(channels, fan=9))


def basic_block(g, x, before, after, stride=1, fused=False, **options):
    """Two 3x3 convolutions and a way around them."""
    y = conv_bn(g, x, before, after, 3, stride, fused=fused, **options)
    y = conv_bn(g, y, after, after, 3, act="", fused=fused, **options)
    if stride != 1 or before != after:
        x = conv_bn(g, x, before, after, 1, stride, act="", fused=fused)
    return g.relu(g.add(y, x))


def bottleneck(g, x, before, width, after, stride=1, groups=1, fused=False, dilation=1, squeeze=0):
    y = conv_bn(g, x, before, width, 1, fused=fused)
    y = conv_bn(g, y, width, width, 3, stride, groups=groups, dilation=dilation, fused=fused)
    y = conv_bn(g, y, width, after, 1, act="", fused=fused)
    y = squeeze_excite(g, y, after, squeeze) if squeeze else y
    if stride != 1 or before != after:
        x = conv_bn(g, x, before, after, 1, stride, act="", fused=fused)
    return g.relu(g.add(y, x))


def resnet18(g, x, width=64, fused=False):
    """The maps of its four stages, at strides 4, 8, 16 and 32."""
    x = max_pool(g, conv_bn(g, x, 3, width, 7, 2, fused=fused))
    maps = []
    for i in range(4):
        after = width << i
        x = basic_block(g, x, after // 2 if i else after, after, 2 if i else 1, fused=fused)
        x = basic_block(g, x, after, after, fused=fused)
        maps.append(x)
    return maps


def inverted(g, x, before, hidden, after, kernel, stride, act="relu6", squeeze=0, fused=False, gate="Sigmoid"):
    """Wider, depthwise, narrower: the block of mobile networks."""
    y = conv_bn(g, x, before, hidden, 1, act=act, fused=fused) if hidden != before else x
    y = conv_bn(g, y, hidden, hidden, kernel, stride, groups=hidden, act=act, fused=fused)
    y = squeeze_excite(g, y, hidden, squeeze, gate=gate) if squeeze else y
    y = conv_bn(g, y, hidden, after, 1, act="", fused=fused)
    return g.add(x, y) if stride == 1 and before == after else y


def separable(g, x, before, after, kernel=3, stride=1, act="relu", fused=False, **options):
    x = conv_bn(g, x, before, before, kernel, stride, groups=before, act=act, fused=fused, **options)
    return conv_bn(g, x, before, after, 1, act=act, fused=fused)


def in_half(g):
    """What was built so far, in half precision between casts of its inputs and outputs."""
    kept = {n.input[2] for n in g.nodes if n.op_type == "Resize"}
    for i, c in enumerate(g.constants):
        if c.data_type == TensorProto.FLOAT and c.name not in kept:
            g.constants[i] = numpy_helper.from_array(numpy_helper.to_array(c).astype("float16"), c.name)
    names = {v.name: v.name + "_half" for v in g.inputs}
    names.update({v.name: v.name + "_half" for v in g.outputs})
    for n in g.nodes:
        n.input[:] = [names.get(v, v) for v in n.input]
        n.output[:] = [names.get(v, v) for v in n.output]
    cast = lambda a, b, to: helper.make_node("Cast", [a], [b], to=to)
    g.nodes[:0] = [cast(v.name, names[v.name], TensorProto.FLOAT16) for v in g.inputs]
    g.nodes += [cast(names[v.name], v.name, TensorProto.FLOAT) for v in g.outputs]


def attention(g, x, tokens, width, heads, batch=1, bias=None):
    """Self-attention written out, queries, keys and values from one product."""
    each = width // heads
    qkv = g.reshape(g.linear(x, width, 3 * width), batch, tokens, 3, heads, each)
    q, k, v = (g.op("Gather", g.transpose(qkv, 2, 0, 3, 1, 4), g.const(i, "int64"), axis=0) for i in range(3))
    scores = g.op("MatMul", g.mul(q, g.const(each ** -0.5)), g.transpose(k, 0, 1, 3, 2))
    scores = bias(scores) if bias else scores
    y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
    return g.linear(g.reshape(g.transpose(y, 0, 2, 1, 3), batch, tokens, width), width, width)


def transformer(g, x, tokens, width, heads, hidden, batch=1, act="gelu"):
    x = g.add(x, attention(g, g.layernorm(x, width), tokens, width, heads, batch))
    y = activate(g, g.linear(g.layernorm(x, width), width, hidden), act)
    return g.add(x, g.linear(y, hidden, width))
