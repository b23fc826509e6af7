"""codes.py - bytes in, bytes out: chains of operations between DequantizeLinear and QuantizeLinear, and what may stand
among them. Each is one lookup for every element."""
from graph import model


def dequantized(g, x, scale=0.031, zero=128):
    return g.op("DequantizeLinear", x, g.const(scale), g.const(zero, "uint8"))


def quantized(g, x, scale=0.011, zero=0):
    return g.op("QuantizeLinear", x, g.const(scale), g.const(zero, "uint8"))


def tone(g, x):
    """Six operations that keep the range."""
    x = g.op("Add", g.op("Mul", g.op("Sigmoid", x), g.const(6.0)), g.const(-3.0))
    return g.op("Sqrt", g.op("Abs", g.op("Tanh", x)))


def picture(g, side=1024):
    return dequantized(g, g.input("image", [1, 3, side, side], "uint8", "int=256"))


@model
def bytes_tone(g):
    g.output(quantized(g, tone(g, picture(g))), "uint8")


@model
def bytes_crop(g):
    """The middle is cut out behind the chain: only that is looked up."""
    x = tone(g, picture(g))
    x = g.op("Slice", x, g.ints(256, 256), g.ints(768, 768), g.ints(2, 3))
    g.output(quantized(g, x), "uint8")


@model
def bytes_enlarged(g):
    """Enlarged before the chain: what is looked up is the small picture."""
    x = g.op("Resize", picture(g, 256), "", g.const([1, 1, 4, 4]), mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric")
    g.output(quantized(g, tone(g, x)), "uint8")


@model
def bytes_channels_last(g):
    """Channels last to planes, between two chains."""
    x = dequantized(g, g.input("frame", [1, 1024, 1024, 3], "uint8", "int=256"))
    x = g.transpose(tone(g, x), 0, 3, 1, 2)
    g.output(quantized(g, tone(g, x)), "uint8")


@model
def bytes_per_channel(g):
    """Constants of their own for each colour."""
    x = g.op("Mul", picture(g), g.const([[[0.9]], [[1.0]], [[1.1]]]))
    x = g.op("Add", tone(g, x), g.const([[[0.05]], [[0.0]], [[-0.05]]]))
    g.output(quantized(g, x), "uint8")


@model
def bytes_gathered(g):
    """A table of embeddings in bytes: rows are picked, then computed with."""
    table = g.const(g.random.integers(0, 256, (4096, 256)), "uint8")
    rows = g.op("Gather", table, g.input("ids", [1, 512], "int64", "int=4096"))
    g.output(quantized(g, tone(g, dequantized(g, rows))), "uint8")


@model
def bytes_embedding(g):
    """A table of embeddings that is dequantised whole, its own scale and zero point for each row, before rows are
    picked."""
    table = g.const(g.random.integers(0, 256, (30000, 384)), "uint8")
    scale = g.const(0.001 + 0.001 * g.random.random(30000))
    rows = g.op("DequantizeLinear", table, scale, g.const(g.random.integers(100, 150, 30000), "uint8"), axis=0)
    g.output(g.layernorm(g.op("Gather", rows, g.input("ids", [1, 128], "int64", "int=30000")), 384))


@model
def bytes_clamped(g):
    """A table that is one saturating subtraction."""
    x = dequantized(g, g.input("image", [1, 3, 1024, 1024], "uint8", "int=256"), 1.0, 0)
    g.output(quantized(g, g.relu(g.op("Sub", x, g.const(16.0))), 1.0, 0), "uint8")


@model
def bytes_product(g):
    """A product of codes with an activation behind it that is a table of its result's codes."""
    x = dequantized(g, g.input("x", [256, 512], "uint8", "int=256"), 0.02, 128)
    codes = g.const(g.random.integers(-63, 64, (512, 512)), "int8")
    w = g.op("DequantizeLinear", codes, g.const(0.002), g.const(0, "int8"))
    x = dequantized(g, quantized(g, g.op("MatMul", x, w), 0.03, 128), 0.03, 128)
    g.output(quantized(g, tone(g, x)), "uint8")


@model
def half_gelu(g):
    """16-bit floats: 65,536 codes."""
    x = g.input("x", [1, 128, 3072], "float16")
    half = lambda v: g.const(v, "float16")
    erf = g.op("Erf", g.op("Mul", x, half(0.70710678)))
    g.output(g.op("Mul", g.op("Mul", x, half(0.5)), g.op("Add", erf, half(1.0))), "float16")


@model
def codes_of_16_bits(g):
    """Numbers of 16 bits times weights of 8, as a quantiser writes it for which 8 bits are too few."""
    ms = lambda kind, *inputs: g.op(kind, *inputs, domain="com.microsoft")
    x, width = g.input("x", [32, 256]), 256
    for _ in range(3):
        scale, zero = g.const(0.0002), g.const(32768, "uint16")
        x = ms("DequantizeLinear", ms("QuantizeLinear", x, scale, zero), scale, zero)
        codes = g.const(g.random.integers(-127, 128, (width, width)), "int8")
        weights = ms("DequantizeLinear", codes, g.const(0.0008), g.const(0, "int8"))
        x = g.relu(g.add(g.op("MatMul", x, weights), g.weight(width, fan=9)))
    g.output(x)
