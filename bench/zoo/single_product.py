"""single_product.py - models of one matrix product, small, thin and odd ones above all."""
import numpy

from single import draw, single

# Name: left (an input), right (an input where it has no star, else a constant).
PRODUCTS = {"square": "256x256 *256x256", "vector": "1x768 *768x768", "rows_4": "4x768 *768x768",
            "rows_8": "8x768 *768x768",
            "rows_3": "3x512 *512x2048", "shallow": "512x16 *16x512", "shallow_32": "512x32 *32x512",
            "narrow": "512x256 *256x20", "narrow_3": "512x256 *256x3", "one_column": "512x256 *256x1",
            "tiny": "4x4 *4x4", "small": "16x32 *32x16", "odd": "37x53 *53x71", "batch": "12x128x64 12x64x128",
            "batch_small": "64x16x8 64x8x16", "broadcast": "8x64x128 128x64", "broadcast_left": "64x128 8x128x64",
            "dynamic": "128x256 256x128", "vector_dynamic": "1x256 256x512", "dot": "1024 1024",
            "matrix_vector": "512x512 512", "batch_vector": "12x1x64 12x64x128", "batch_column": "12x128x64 12x64x1"}
for variant, pair in PRODUCTS.items():
    left, right = pair.split()
    dims = [int(d) for d in right.strip("*").split("x")]
    single("MatMul", variant, "f32 " + left, draw(*dims) if right[0] == "*" else "f32 " + right)
single("Gemm", "plain", "f32 64x256", draw(256, 128), draw(128))
single("Gemm", "transposed", "f32 1x1024", draw(1000, 1024), draw(1000), transB=1)
single("Gemm", "transposed_left", "f32 256x64", draw(256, 128), transA=1, alpha=0.5)
single("Gemm", "dynamic", "f32 64x256", "f32 128x256", "f32 64x128", transB=1, beta=0.5)
single("MatMulInteger", "rows", "u8 128x256", draw(256, 256, kind="int8", low=-60, high=60),
       numpy.asarray(128, "uint8"), out="i32")
single("MatMulInteger", "vector", "u8 1x768", draw(768, 768, kind="int8", low=-60, high=60),
       numpy.asarray(128, "uint8"), out="i32")
single("MatMulInteger", "dynamic", "u8 64x64", "u8 64x64", out="i32")
single("QLinearMatMul", "rows", "u8 128x256", numpy.asarray(0.02, "float32"), numpy.asarray(128, "uint8"),
       draw(256, 256, kind="int8", low=-60, high=60), numpy.asarray(0.01, "float32"), numpy.asarray(0, "int8"),
       numpy.asarray(0.1, "float32"), numpy.asarray(128, "uint8"))
single("MatMul", "f16", "f16 64x128", draw(128, 64, kind="float16"))
single("MatMul", "f16_dynamic", "f16 8x64x32", "f16 8x32x64")
single("MatMul", "i32", "i32 64x64", "i32 64x64")
single("Softmax", "f16", "f16 128x256", axis=-1)
