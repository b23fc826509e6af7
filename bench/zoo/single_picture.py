"""single_picture.py - models of one operator over the axes of pictures and sounds: pools, resizing, convolutions,
Fourier."""
import numpy

from single import draw, single

POOLS = {"three": ("1x64x56x56", [3, 3], dict(strides=[2, 2], pads=[1, 1, 1, 1])),
         "two": ("1x64x56x56", [2, 2], dict(strides=[2, 2])),
         "same": ("1x64x28x28", [3, 3], dict(strides=[1, 1], pads=[1, 1, 1, 1])),
         "wide": ("1x128x20x20", [5, 5], dict(strides=[1, 1], pads=[2, 2, 2, 2])),
         "huge": ("1x128x20x20", [13, 13], dict(strides=[1, 1], pads=[6, 6, 6, 6])),
         "line": ("1x64x1000", [3], dict(strides=[2], pads=[1, 1])),
         "volume": ("1x16x16x28x28", [2, 2, 2], dict(strides=[2, 2, 2])),
         "dilated": ("1x64x28x28", [3, 3], dict(strides=[1, 1], pads=[2, 2, 2, 2], dilations=[2, 2])),
         "ceil": ("1x64x55x55", [3, 3], dict(strides=[2, 2], ceil_mode=1))}
for variant, (dims, kernel, attributes) in POOLS.items():
    single("MaxPool", variant, "f32 " + dims, kernel_shape=kernel, opset=12, **attributes)
    if variant in ("three", "two", "same", "line", "volume", "ceil"):
        single("AveragePool", variant, "f32 " + dims, kernel_shape=kernel, opset=12, **attributes)
single("MaxPool", "indices", "f32 1x64x56x56", outs=2, out="f32 i64", kernel_shape=[2, 2], strides=[2, 2])
single("MaxPool", "u8", "u8 1x64x56x56", kernel_shape=[2, 2], strides=[2, 2])
single("AveragePool", "counted", "f32 1x64x28x28", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
single("LpPool", "two", "f32 1x64x56x56", kernel_shape=[2, 2], strides=[2, 2], p=2)
for operator in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
    single(operator, "large", "f32 1x64x56x56")
    single(operator, "small", "f32 1x1280x7x7")
single("MaxUnpool", "two", "f32 1x16x28x28", "i64 1x16x28x28 int=50000", kernel_shape=[2, 2], strides=[2, 2])
single("MaxRoiPool", "boxes", "f32 1x32x28x28", numpy.asarray([[0, 1, 1, 20, 20], [0, 3, 5, 25, 27]], "float32"),
       pooled_shape=[7, 7])

for mode in ("nearest", "linear", "cubic"):
    for variant, factor in (("double", 2.0), ("third", 0.34)):
        single("Resize", "%s_%s" % (mode, variant), "f32 1x32x56x56", None,
               numpy.asarray([1, 1, factor, factor], "float32"), mode=mode)
single("Resize", "align", "f32 1x32x28x28", None, None, [1, 32, 56, 56], mode="linear",
       coordinate_transformation_mode="align_corners")
single("Resize", "asymmetric", "f32 1x32x28x28", None, numpy.asarray([1, 1, 2, 2], "float32"), mode="nearest",
       coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("Resize", "odd", "f32 1x3x224x224", None, None, [1, 3, 160, 300], mode="linear")
single("Resize", "antialias", "f32 1x3x224x224", None, None, [1, 3, 96, 96], mode="linear", antialias=1)
single("Resize", "line", "f32 1x64x400", None, numpy.asarray([1, 1, 2], "float32"), mode="linear")
single("Resize", "last", "f32 1x56x56x32", None, numpy.asarray([1, 2, 2, 1], "float32"), mode="linear")
single("Resize", "u8", "u8 1x3x224x224", None, None, [1, 3, 112, 112], mode="linear")
single("Upsample", "nearest", "f32 1x32x28x28", numpy.asarray([1, 1, 2, 2], "float32"), opset=9, mode="nearest")
single("Upsample", "linear", "f32 1x32x28x28", numpy.asarray([1, 1, 2, 2], "float32"), opset=9, mode="linear")
for mode in ("linear", "nearest", "cubic"):
    single("GridSample", mode, "f32 1x32x56x56", "f32 1x56x56x2", mode=mode)
for mode in ("border", "reflection"):
    single("GridSample", mode, "f32 1x32x56x56", "f32 1x56x56x2", padding_mode=mode, align_corners=1)
single("GridSample", "volume", "f32 1x8x8x28x28", "f32 1x8x28x28x3")
single("AffineGrid", "plane", "f32 4x2x3", [4, 3, 56, 56])
single("AffineGrid", "volume", "f32 2x3x4", [2, 3, 8, 28, 28])
BOXES = numpy.asarray([[2, 3, 40, 45], [10, 10, 50, 30], [0, 0, 55, 55], [20, 5, 30, 50]] * 8, "float32")
for mode in ("avg", "max"):
    single("RoiAlign", mode, "f32 1x64x56x56", BOXES, numpy.zeros(32, "int64"), mode=mode, output_height=7,
           output_width=7, sampling_ratio=2)
    single("RoiAlign", mode + "_mask", "f32 1x256x50x68", draw(64, 4, low=0, high=400) + numpy.asarray(
        [0, 0, 200, 200], "float32"), numpy.zeros(64, "int64"), mode=mode, output_height=14, output_width=14,
        sampling_ratio=0, spatial_scale=0.0625)
single("Col2Im", "three", "f32 1x288x784", [28, 28], [3, 3], pads=[1, 1, 1, 1])
CORNERS = draw(1, 1000, 4, low=0, high=100)
CORNERS[:, :, 2:] = CORNERS[:, :, :2] + 20
single("NonMaxSuppression", "boxes", CORNERS, "f32 1x4x1000 rand01", numpy.asarray([50], "int64"),
       numpy.asarray([0.5], "float32"), numpy.asarray([0.3], "float32"), out="i64")
for variant, classes, boxes, most, least, center in (("detector", 80, 8400, 100, 0.95, 1),
                                                     ("proposals", 1, 20000, 1000, 0.0, 0),
                                                     ("few", 1, 100, 100, 0.05, 0)):
    AROUND = draw(1, boxes, 4, low=0, high=640)
    AROUND[:, :, 2:] = draw(1, boxes, 2, low=10, high=120) + (0 if center else AROUND[:, :, :2])
    single("NonMaxSuppression", variant, AROUND, "f32 1x%dx%d rand01" % (classes, boxes),
           numpy.asarray([most], "int64"), numpy.asarray([0.5], "float32"), numpy.asarray([least], "float32"),
           out="i64", center_point_box=center)


def conv(variant, dims, weight, pads=None, kind="Conv", bias=True, **attributes):
    fan = numpy.sqrt(numpy.prod(weight[1:]))
    after = weight[0] if kind == "Conv" else weight[1] * attributes.get("group", 1)
    operands = ["f32 " + dims, draw(*weight) / numpy.float32(fan)] + ([draw(after)] if bias else [])
    single(kind, variant, *operands, pads=pads or [0] * 2 * len(weight[2:]), **attributes)


conv("grouped", "1x64x28x28", [64, 16, 3, 3], [1, 1, 1, 1], group=4)
conv("line", "1x64x500", [64, 64, 3], [1, 1])
conv("line_wide", "1x1x16000", [64, 1, 400], strides=[160])
conv("line_depthwise", "1x256x500", [256, 1, 15], [7, 7], group=256)
conv("volume", "1x16x16x28x28", [32, 16, 3, 3, 3], [1] * 6)
conv("large_kernel", "1x64x28x28", [64, 1, 7, 7], [3, 3, 3, 3], group=64)
conv("first", "1x3x112x112", [32, 3, 7, 7], [3, 3, 3, 3], strides=[2, 2])
conv("asymmetric", "1x32x28x28", [32, 32, 3, 3], [0, 1, 1, 0])
conv("dilated", "1x32x28x28", [32, 32, 3, 3], [2, 2, 2, 2], dilations=[2, 2])
conv("wide_row", "1x32x28x28", [32, 32, 1, 7], [0, 3, 0, 3])
conv("patches", "1x3x224x224", [192, 3, 16, 16], strides=[16, 16])
conv("one", "1x64x28x28", [128, 64, 1, 1])
conv("one_output", "1x64x56x56", [1, 64, 1, 1])
conv("double", "1x32x28x28", [32, 16, 2, 2], kind="ConvTranspose", strides=[2, 2])
conv("four", "1x32x28x28", [32, 16, 4, 4], [1, 1, 1, 1], kind="ConvTranspose", strides=[2, 2])
conv("line", "1x64x200", [64, 32, 16], [4, 4], kind="ConvTranspose", strides=[8])
conv("volume", "1x16x8x14x14", [16, 8, 2, 2, 2], kind="ConvTranspose", strides=[2, 2, 2])
conv("grouped", "1x32x28x28", [32, 1, 4, 4], [1, 1, 1, 1], kind="ConvTranspose", strides=[2, 2], group=32)

single("QLinearConv", "three", "u8 1x32x28x28", numpy.asarray(0.02, "float32"), numpy.asarray(128, "uint8"),
       draw(32, 32, 3, 3, kind="int8", low=-60, high=60), numpy.asarray(0.01, "float32"), numpy.asarray(0, "int8"),
       numpy.asarray(0.1, "float32"), numpy.asarray(128, "uint8"), pads=[1, 1, 1, 1])
single("ConvInteger", "three", "u8 1x32x28x28", draw(32, 32, 3, 3, kind="uint8", low=0, high=255),
       numpy.asarray(128, "uint8"), numpy.asarray(128, "uint8"), out="i32", pads=[1, 1, 1, 1])

single("DFT", "power", "f32 8x512x1", None, numpy.asarray(1, "int64"), onesided=1)
single("DFT", "odd", "f32 8x400x1", None, numpy.asarray(1, "int64"), onesided=1)
single("DFT", "complex", "f32 8x512x2", None, numpy.asarray(1, "int64"))
single("STFT", "speech", "f32 1x16000x1", numpy.asarray(160, "int64"), numpy.hanning(400).astype("float32"),
       numpy.asarray(400, "int64"), opset=17)
single("STFT", "power", "f32 1x16000x1", numpy.asarray(128, "int64"), numpy.hanning(512).astype("float32"),
       numpy.asarray(512, "int64"), opset=17)
single("MelWeightMatrix", "speech", *(numpy.asarray(v, "int64") for v in (80, 400, 16000)),
       numpy.asarray(0, "float32"), "f32 - const=8000", out="f32", opset=17)
for operator in ("HannWindow", "HammingWindow", "BlackmanWindow"):
    single(operator, "400", "i64 - const=400", out="f32", opset=17)
