"""single_table.py - models of one operator of ai.onnx.ml: large tables, and rows that are served one by one."""
import numpy

from single import draw, single

ML = {"domain": "ai.onnx.ml"}
FACTORS = [float(v) for v in draw(20, low=0.5, high=1.5)]
KEYS = list(range(0, 90, 2))


def floats(*dims):
    return [float(v) for v in draw(*dims).reshape(-1)]


for variant, rows in (("row", 1), ("table", 5000)):
    wide = "f32 %dx20" % rows
    single("Scaler", variant, wide, offset=FACTORS, scale=FACTORS[::-1], **ML)
    single("Binarizer", variant, wide, threshold=0.2, **ML)
    single("Imputer", variant, wide, imputed_value_floats=FACTORS, replaced_value_float=float("nan"), **ML)
    for norm in ("L1", "L2", "MAX"):
        single("Normalizer", "%s_%s" % (norm.lower(), variant), wide, norm=norm, **ML)
    single("ArrayFeatureExtractor", variant, wide, [3, 7, 11], **ML)
    single("ArrayFeatureExtractor", "one_" + variant, wide, [3], **ML)
    single("LabelEncoder", "i64_" + variant, "i64 %dx4" % rows, keys_int64s=KEYS, values_int64s=KEYS[::-1],
           default_int64=-1, **ML)
    single("LabelEncoder", "f32_" + variant, "i64 %dx4" % rows, keys_int64s=KEYS, values_floats=[k / 7 for k in KEYS],
           default_float=-1.0, out="f32", **ML)
    single("OneHotEncoder", variant, "i64 %dx4" % rows, cats_int64s=list(range(50)), zeros=1, out="f32", **ML)
    single("LinearRegressor", variant, wide, coefficients=floats(20), intercepts=[0.5], targets=1, **ML)
    single("LinearRegressor", "many_" + variant, wide, coefficients=floats(20, 6), intercepts=FACTORS[:6], targets=6,
           **ML)
    single("LinearClassifier", variant, wide, coefficients=floats(20, 4), intercepts=FACTORS[:4], multi_class=1, outs=2,
           classlabels_ints=[0, 1, 2, 3], post_transform="SOFTMAX", out="i64 f32", **ML)
    single("FeatureVectorizer", variant, wide, "f32 %dx5" % rows, inputdimensions=[20, 5], **ML)
