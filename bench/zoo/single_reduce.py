"""single_reduce.py - models of one operator that reads many elements for each result: reductions, norms, softmax,
order."""
import numpy

from single import draw, single

for operator in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                 "ReduceLogSumExp", "ReduceSumSquare", "ReduceLogSum"):
    fill = " rand01" if operator == "ReduceLogSum" else ""
    for variant, axis in (("first", 0), ("middle", 1), ("last", 2)):
        if operator in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp") or variant == "last":
            single(operator, variant, "f32 32x128x64" + fill, [axis], opset=18)
for operator in ("ReduceSum", "ReduceMean", "ReduceMax"):
    single(operator, "all", "f32 100000", opset=18, keepdims=0)
    single(operator, "rows", "f32 128x768", [-1], opset=18, keepdims=0)
    single(operator, "map", "f32 1x256x28x28", [2, 3], opset=18)
    single(operator, "two", "f32 8x32x16x32", [0, 2], opset=18)
for kind in ("i32", "i64"):
    single("ReduceSum", kind, kind + " 128x768", [1], opset=18)
    single("ReduceMax", kind, kind + " 128x768", [1], opset=18)
single("ReduceMean", "i32", "i32 128x768", [1], opset=18)
single("ReduceMax", "u8", "u8 128x768", [1], opset=18)
single("ReduceSum", "small", "f32 1x10", [1], opset=18)

for operator in ("Softmax", "LogSoftmax", "Hardmax"):
    single(operator, "last", "f32 128x768", axis=-1)
    single(operator, "channel", "f32 1x21x128x128", axis=1)
    single(operator, "first", "f32 128x768", axis=0)
single("Softmax", "attention", "f32 12x128x128", axis=-1)
single("Softmax", "classes", "f32 1x1000", axis=-1)
single("Softmax", "narrow", "f32 8192x4", axis=-1)

for operator in ("ArgMax", "ArgMin"):
    for variant, axis in (("first", 0), ("middle", 1), ("last", 2)):
        single(operator, variant, "f32 32x128x64", out="i64", axis=axis)
single("ArgMax", "tokens", "f32 1x50000", out="i64", axis=-1, keepdims=0)
single("ArgMax", "classes", "f32 1x21x128x128", out="i64", axis=1)
single("ArgMax", "last_index", "f32 128x768", out="i64", axis=-1, select_last_index=1)
single("TopK", "five", "f32 1x1000", [5], outs=2, out="f32 i64")
single("TopK", "tokens", "f32 1x50000", [50], outs=2, out="f32 i64")
single("TopK", "rows", "f32 128x768", [10], outs=2, out="f32 i64")
single("TopK", "boxes", "f32 1x8400", [300], outs=2, out="f32 i64")
single("TopK", "first", "f32 768x128", [8], outs=2, out="f32 i64", axis=0)
single("TopK", "smallest", "f32 128x768", [10], outs=2, out="f32 i64", largest=0)
single("TopK", "all", "f32 1x8400", [8400], outs=2, out="f32 i64")
single("TopK", "i64", "i64 128x768", [10], outs=2, out="i64 i64")
for variant, axis in (("first", 0), ("last", 1)):
    single("CumSum", variant, "f32 512x256", numpy.asarray(axis, "int64"))
single("CumSum", "i64", "i64 1x1000", numpy.asarray(1, "int64"))
single("CumSum", "reverse", "f32 512x256", numpy.asarray(1, "int64"), exclusive=1, reverse=1)

for variant, dims, channels in (("large", "1x64x56x56", 64), ("small", "1x512x7x7", 512), ("matrix", "32x256", 256),
                                ("line", "4x64x500", 64)):
    single("BatchNormalization", variant, "f32 " + dims, draw(channels), draw(channels), draw(channels),
           draw(channels, low=0.5, high=1.5))
for variant, dims, channels in (("large", "1x64x56x56", 64), ("line", "1x64x500", 64)):
    single("InstanceNormalization", variant, "f32 " + dims, draw(channels), draw(channels))
single("LayerNormalization", "rows", "f32 128x768", draw(768), draw(768))
single("LayerNormalization", "narrow", "f32 1024x32", draw(32), draw(32))
single("GroupNormalization", "large", "f32 1x320x32x32", draw(320), draw(320), num_groups=32, opset=21)
single("LRN", "five", "f32 1x64x56x56", size=5)
single("LpNormalization", "last", "f32 128x768", axis=-1, p=2)
single("LpNormalization", "first", "f32 128x768", axis=0, p=2)
single("LpNormalization", "one", "f32 128x768", axis=-1, p=1)
single("MeanVarianceNormalization", "large", "f32 1x64x56x56")
single("Det", "small", "f32 64x4x4")
single("Det", "large", "f32 2x64x64")
single("Einsum", "attention", "f32 1x128x12x64", "f32 1x128x12x64", equation="bqhd,bkhd->bhqk")
single("Einsum", "apply", "f32 1x12x128x128", "f32 1x128x12x64", equation="bhqk,bkhd->bqhd")
single("Einsum", "batch", "f32 8x64x32", "f32 8x32x48", equation="bij,bjk->bik")
single("Einsum", "outer", "f32 256", "f32 512", equation="i,j->ij")
single("Einsum", "rows", "f32 256x512", "f32 256x512", equation="ij,ij->i")
single("Einsum", "trace", "f32 64x64", equation="ii->i")
single("Einsum", "sum", "f32 64x128x32", equation="ijk->ik")
