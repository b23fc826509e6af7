"""single_move.py - models of one operator that moves elements: transposes, slices, gathers, scatters."""
import numpy

from single import draw, single

TRANSPOSES = {"nhwc": ("1x64x56x56", "0 2 3 1"), "nchw": ("1x56x56x64", "0 3 1 2"), "matrix": ("512x768", "1 0"),
              "batch": ("12x128x64", "0 2 1"), "heads": ("1x128x12x64", "0 2 1 3"), "keys": ("1x128x12x64", "0 2 3 1"),
              "merge": ("1x12x128x64", "0 2 1 3"), "shuffle": ("1x2x58x28x28", "0 2 1 3 4"),
              "sequence": ("64x32x128", "1 0 2"), "reverse": ("32x48x64", "2 1 0"),
              "patch": ("1x3x14x16x14x16", "0 2 4 3 5 1"),
              "picture": ("1x3x224x224", "0 2 3 1"), "pixels": ("1x224x224x3", "0 3 1 2")}
for variant, (dims, perm) in TRANSPOSES.items():
    for kind in ("f32", "f16", "i8", "i64"):
        if kind in ("f32", "f16") or variant in ("nhwc", "matrix", "heads", "picture", "pixels"):
            single("Transpose", "%s_%s" % (variant, kind), "%s %s" % (kind, dims), perm=[int(p) for p in perm.split()])

single("Concat", "channels", "f32 1x64x56x56", "f32 1x32x56x56", axis=1)
single("Concat", "last", "f32 512x64", "f32 512x32", "f32 512x7", axis=-1)
single("Concat", "small", "f32 1x4", "f32 1x4", "f32 1x1", axis=1)
single("Concat", "i64", "i64 100000", "i64 100", axis=0)
single("Concat", "cache", "f32 1x12x127x64", "f32 1x12x1x64", axis=2)
single("Split", "channels", "f32 1x96x56x56", [32, 64], outs=2, axis=1)
single("Split", "last", "f32 128x2304", [768, 768, 768], outs=3, axis=-1)
single("Slice", "rows", "f32 1024x512", [100], [900], [0])
single("Slice", "columns", "f32 1024x512", [10], [400], [1])
single("Slice", "step", "f32 1024x512", [0], [512], [1], [2])
single("Slice", "step_both", "f32 1x3x224x224", [0, 0], [224, 224], [2, 3], [2, 2])
single("Slice", "reverse", "f32 1024x512", [-1], [-10000], [1], [-1])
single("Slice", "window", "f32 1x64x56x56", [3, 3], [53, 53], [2, 3])
single("Slice", "u8_step", "u8 1024x512", [0], [512], [1], [2])
single("Slice", "i64", "i64 1x1000", [0], [500], [1])
for mode in ("constant", "reflect", "edge"):
    single("Pad", mode, "f32 1x64x56x56", [0, 0, 2, 3, 0, 0, 2, 1], mode=mode)
single("Pad", "audio", "f32 1x16000", [0, 200, 0, 200], mode="reflect")
single("Pad", "crop", "f32 1x64x56x56", [0, 0, -2, -3, 0, 0, -2, -1])
single("Tile", "rows", "f32 64x128", [8, 1])
single("Tile", "columns", "f32 64x128", [1, 8])
single("Tile", "pixels", "f32 1x64x28x28x1", [1, 1, 1, 1, 4])
single("Expand", "row", "f32 1x768", [512, 768])
single("Expand", "column", "f32 512x1", [512, 768])
single("Expand", "heads", "f32 1x4x1x128x64", [1, 4, 3, 128, 64])
single("Expand", "bool", "bool 1x1x1x128", [1, 1, 128, 128])
for mode in ("DCR", "CRD"):
    single("DepthToSpace", mode.lower(), "f32 1x64x56x56", blocksize=2, mode=mode)
single("SpaceToDepth", "two", "f32 1x16x112x112", blocksize=2)

single("Gather", "rows", draw(30000, 256), "i64 128 int=30000", out="f32", axis=0)
single("Gather", "columns", "f32 512x1024", "i64 256 int=1024", axis=1)
single("Gather", "middle", "f32 8x64x64", "i64 32 int=64", axis=1)
single("Gather", "scalar", "f32 1x128x768", numpy.asarray(0, "int64"), axis=1)
single("Gather", "i64", "i64 1000", "i64 1000 int=1000")
single("Gather", "f16", "f16 1000x256", "i64 128 int=1000")
single("GatherElements", "last", "f32 512x256", "i64 512x256 int=256", axis=1)
single("GatherElements", "first", "f32 512x256", "i64 512x256 int=512", axis=0)
single("GatherND", "elements", "f32 512x256", "i64 4096x2 int=256")
single("GatherND", "rows", "f32 512x256", "i64 1024x1 int=512")
single("GatherND", "batch", "f32 8x64x128", "i64 8x32x1 int=64", batch_dims=1)
single("ScatterElements", "set", "f32 512x256", "i64 512x16 int=256", "f32 512x16", axis=1)
for reduction in ("add", "mul", "max", "min"):
    single("ScatterElements", reduction, "f32 512x256", "i64 512x256 int=256", "f32 512x256", axis=1,
           reduction=reduction)
single("ScatterElements", "first", "f32 512x256", "i64 512x256 int=512", "f32 512x256", axis=0, reduction="add")
single("ScatterND", "rows", "f32 512x256", "i64 64x1 int=512", "f32 64x256")
single("ScatterND", "elements", "f32 512x256", "i64 4096x2 int=256", "f32 4096")
for reduction in ("add", "mul", "max", "min"):
    single("ScatterND", reduction, "f32 512x256", "i64 64x1 int=512", "f32 64x256", reduction=reduction)
single("OneHot", "last", "i64 512 int=128", numpy.asarray([128], "int64"), numpy.asarray([0, 1], "float32"), out="f32")
single("OneHot", "first", "i64 512 int=128", numpy.asarray([128], "int64"), numpy.asarray([0, 1], "float32"), out="f32",
       axis=0)
single("NonZero", "bool", "bool 100000", out="i64")
single("NonZero", "matrix", "f32 256x256", out="i64")
single("Compress", "rows", "f32 512x256", "bool 512", axis=0)
single("Unique", "i64", "i64 10000", outs=4, out="i64 i64 i64 i64")
single("Unique", "f32", "f32 10000", outs=4, out="f32 i64 i64 i64")
single("ReverseSequence", "time", "f32 64x8x256", "i64 8 const=50", time_axis=0, batch_axis=1)
single("Trilu", "upper", "f32 512x512", upper=1)
single("Trilu", "lower_i64", "i64 128x128", upper=0)
single("EyeLike", "512", "f32 512x512")
single("Range", "i64", "i64 - const=0", "i64 - const=10000", "i64 - const=1")
single("Range", "f32", "f32 - const=0", "f32 - const=10000", "f32 - const=0.5")
single("ConstantOfShape", "100k", "i64 2 const=300", out="f32")
single("Shape", "any", "f32 1x64x56x56", out="i64")
single("Reshape", "any", "f32 1x64x56x56", [1, 64, -1])
single("Identity", "100k", "f32 100000")
