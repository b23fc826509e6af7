"""single_point.py - models of one operator that computes each element by itself."""
import numpy
from onnx import TensorProto

from single import draw, single

SIZES = {"1k": "1000", "100k": "100000", "4m": "4194304"}

for size, dims in SIZES.items():
    for operator in ("Sigmoid", "Tanh", "Exp", "Erf", "Gelu", "HardSwish", "Sqrt", "Relu"):
        single(operator, size, "f32 %s %s" % (dims, "rand01" if operator == "Sqrt" else "rand"))
    for operator in ("Add", "Mul", "Div"):
        single(operator, size, "f32 " + dims, "f32 %s rand01" % dims)
    single("Where", size, "bool " + dims, "f32 " + dims, "f32 " + dims, out="f32")
    single("Clip", size, "f32 " + dims, -0.5, 0.5)

for operator in ("Softplus", "Mish", "Atan", "Sin", "Cos", "Round", "Floor", "Abs", "Neg", "Sign", "Elu", "Selu",
                 "Celu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Softsign", "Tan", "Asin", "Sinh", "Cosh",
                 "Asinh", "Atanh", "Ceil", "Shrink"):
    single(operator, "100k", "f32 100000")
for operator in ("Log", "Reciprocal"):
    single(operator, "100k", "f32 100000 rand01")
single("Acosh", "100k", "f32 100000 const=2.5")
single("Gelu", "tanh", "f32 100000", approximate="tanh")
single("PRelu", "channel", "f32 1x64x56x56", draw(64, 1, 1))
single("Pow", "square", "f32 100000", 2.0)
single("Pow", "cube", "f32 100000", 3.0)
single("Pow", "half", "f32 100000 rand01", 0.5)
single("Pow", "root", "f32 100000 rand01", 2.2)
single("Pow", "both", "f32 100000 rand01", "f32 100000")
single("Max", "three", "f32 100000", "f32 100000", "f32 100000")
single("Sum", "three", "f32 100000", "f32 100000", "f32 100000")
single("Mean", "three", "f32 100000", "f32 100000", "f32 100000")
single("IsNaN", "100k", "f32 100000", out="bool")
single("IsInf", "100k", "f32 100000", out="bool")

# Broadcasting.
single("Add", "scalar", "f32 100000", "f32 -")
single("Add", "row", "f32 512x768", "f32 768")
single("Add", "column", "f32 512x768", "f32 512x1")
single("Add", "channel", "f32 1x64x56x56", "f32 64x1x1")
single("Mul", "outer", "f32 512x1", "f32 1x512")
single("Add", "middle", "f32 8x64x64", "f32 8x1x64")
single("Mul", "gate", "f32 1x256x28x28", "f32 1x256x1x1")
single("Where", "mask", "bool 1x1x128x128", "f32 1x12x128x128", "f32 -", out="f32")

# Comparisons and logic.
for operator in ("Less", "Equal", "GreaterOrEqual"):
    single(operator, "f32", "f32 100000", "f32 100000", out="bool")
single("Equal", "i64", "i64 100000", "i64 100000", out="bool")
single("Less", "i32", "i32 100000", "i32 100000", out="bool")
single("And", "100k", "bool 100000", "bool 100000")
single("Not", "100k", "bool 100000")

# Integers.
for kind in ("i32", "i64"):
    for operator in ("Add", "Mul", "Sub", "Max"):
        single(operator, kind, kind + " 100000", kind + " 100000")
    single("Div", kind, kind + " 100000", numpy.asarray(7, {"i32": "int32", "i64": "int64"}[kind]))
    single("Mod", kind, kind + " 100000", numpy.asarray(7, {"i32": "int32", "i64": "int64"}[kind]))
    single("Abs", kind, kind + " 100000")
    single("Clip", kind, kind + " 100000", *(numpy.asarray(v, {"i32": "int32", "i64": "int64"}[kind]) for v in (3, 60)))
    single("BitwiseAnd", kind, kind + " 100000", kind + " 100000")
single("Div", "i64_both", "i64 100000", "i64 100000 const=7")
single("Mod", "f32", "f32 100000", 0.3, fmod=1)
single("BitwiseXor", "u8", "u8 100000", "u8 100000")
single("BitwiseNot", "i32", "i32 100000")
single("BitShift", "u8", "u8 100000", numpy.asarray(2, "uint8"), direction="LEFT")
single("Add", "f16", "f16 100000", "f16 100000")

# Kinds.
CODES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "i64": TensorProto.INT64, "i32": TensorProto.INT32,
         "u8": TensorProto.UINT8, "i8": TensorProto.INT8, "bool": TensorProto.BOOL}
for pair in ("f32 f16", "f16 f32", "f32 i64", "i64 f32", "i32 f32", "f32 i32", "u8 f32", "f32 u8", "bool f32",
             "i64 i32", "i32 i64", "i64 bool", "f32 bool", "u8 i32", "i8 f32"):
    before, after = pair.split()
    fill = " rand01" if after == "u8" else ""
    single("Cast", "%s_%s" % (before, after), "%s 100000%s" % (before, fill), out=after, to=CODES[after])
for variant, zero in (("u8", numpy.uint8(128)), ("i8", numpy.int8(0))):
    zero = numpy.asarray(zero)
    single("QuantizeLinear", variant, "f32 1x64x56x56", 0.01, zero, out=variant)
    single("DequantizeLinear", variant, variant + " 1x64x56x56", 0.01, zero, out="f32")
single("QuantizeLinear", "channel", "f32 1x64x56x56", draw(64, low=0.01, high=0.02), numpy.zeros(64, "int8"), out="i8",
       axis=1)
single("DequantizeLinear", "channel", "i8 1x64x56x56", draw(64, low=0.01, high=0.02), numpy.zeros(64, "int8"),
       out="f32", axis=1)
single("DynamicQuantizeLinear", "100k", "f32 128x768", outs=3, out="u8 f32 u8")
