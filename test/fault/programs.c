/* programs.c - small programs as bases for damage: together they call every kernel there is. */
#include "fault/programs.h"

#include "fault/fault.h"
#include "test.h"

const char *const fault_graphs[] = {
    /* point-wise */
    "graph(%x: float32[n,3], %y: float32[3]) { %a = Add(%x, %y) %b = Sigmoid(%a) %c = Mul(%b, %x)"
    " return %c as \"c\" }",
    "graph(%x: int32[n], %y: int32[n]) { %a = Div(%x, %y) %b = Mod(%x, %y) %c = Max(%a, %b)"
    " return %c as \"c\", %a as \"a\" }",
    "graph(%x: float32[n,2]) { %a = Cast(%x) {to=10} %b = Cast(%a) {to=3} %c = Cast(%b) {to=21}"
    " %d = Cast(%c) {to=11} %e = Exp(%d) return %e as \"e\", %c as \"c\" }",
    "graph(%x: uint8[n], %y: int64[n], %z: float16[n]) { %a = Cast(%x) {to=7} %b = Add(%a, %y)"
    " %c = Cast(%b) {to=16} %d = Cast(%z) {to=1} %e = Erf(%d) %f = Cast(%e) {to=9}"
    " return %c as \"c\", %f as \"f\" }",
    "graph(%c: bool[n,1], %x: float32[n,4], %y: float32[4]) { %a = Where(%c, %x, %y)"
    " %b = Greater(%a, %y) return %b as \"b\" }",
    "graph(%x: float32[n,c,4], %s: float32[k], %b: float32[k], %m: float32[k], %v: float32[k]) {"
    " %a = BatchNormalization(%x, %s, %b, %m, %v) return %a as \"a\" }",
    /* codes */
    "graph(%x: uint8[n]) { %s = const float32[] {0.05} %z = const uint8[] {128}"
    " %a = DequantizeLinear(%x, %s, %z) %b = Sigmoid(%a) %c = QuantizeLinear(%b, %s, %z)"
    " return %c as \"c\" }",
    "graph(%x: int8[n]) { %a = Relu(%x) return %a as \"a\" }",
    "graph(%x: int16[n,2]) { %s = const float32[] {0.5} %w = const int8[2,2] {1,-2,3,127}"
    " %t = const float32[2] {0.25,2.0} %a = DequantizeLinear(%x, %s)"
    " %b = DequantizeLinear(%w, %t) {axis=1} %y = MatMul(%a, %b) return %y as \"y\" }",
    "graph(%x: float32[n,32]) { %b = const uint8[3,1,16] "
    "{0,37,74,111,148,185,222,3,40,77,114,151,188,225,6,43,80,117,154,191,228,9,46,83,120,157,194,"
    "231,12,49,86,123,160,197,234,15,52,89,126,163,200,237,18,55,92,129,166,203}"
    " %s = const float32[3] {0.5,0.25,1.0}"
    " %y = com.microsoft:MatMulNBits(%x, %b, %s) {K=32, N=3, bits=4, block_size=32}"
    " %z = com.microsoft:MatMulNBits(%x, %b, %s) {K=32, N=3, bits=4, block_size=32, "
    "accuracy_level=4} return %y as \"y\", %z as \"z\" }",
    "graph(%x: float32[n,3]) { %k = const int64[] {1} %a = CumProd(%x, %k) return %a as \"a\" }",
    "graph(%x: float32[n,12,9,9]) { %s = const int64[4] {12,12,3,3}"
    " %w = ConstantOfShape(%s) %y = Conv(%x, %w) {pads=[1,1,1,1]} return %y as \"y\" }",
    /* moving */
    "graph(%x: float32[n,3,4]) { %a = Transpose(%x) {perm=[2,0,1]} %s = const int64[1] {1}"
    " %e = const int64[1] {3} %t = const int64[1] {1} %b = Slice(%a, %s, %e, %t)"
    " return %b as \"b\" }",
    "graph(%x: uint8[2,n]) { %r = const int64[2] {2,3} %a = Tile(%x, %r)"
    " %s = const int64[3] {2,1,1} %b = Expand(%x, %s) return %a as \"a\", %b as \"b\" }",
    "graph(%x: float32[n,3], %y: float32[m,3]) { %a = Concat(%x, %y) {axis=0}"
    " %t = const int64[1] {-1} %b = Reshape(%a, %t) return %b as \"b\" }",
    "graph(%x: float64[6,n]) { %p = const int64[2] {2,4} %a, %b = Split(%x, %p) {axis=0}"
    " %c = Neg(%a) %d = Relu(%b) return %c as \"c\", %d as \"d\" }",
    "graph(%x: float32[n,5], %p: int64[4]) { %v = const float32[] {2.0}"
    " %q = const int64[4] {1,0,1,2} %a = Pad(%x, %q, %v) {mode=\"constant\"}"
    " %b = Pad(%x, %q) {mode=\"reflect\"} return %a as \"a\", %b as \"b\" }",
    "graph(%x: float32[n,3], %i: int64[k]) { %a = Gather(%x, %i) {axis=0} return %a as \"a\" }",
    "graph(%x: float32[n,4], %c: float32[n,4], %s: float32[4]) { %z = const int64[1] {0}"
    " %h = const int64[1] {2} %f = const int64[1] {4} %k = const int64[1] {1}"
    " %a = Slice(%x, %z, %h, %k) %b = Slice(%x, %h, %f, %k) %m = Neg(%b)"
    " %t = Concat(%m, %a) {axis=1} %u = Mul(%t, %s) %v = Mul(%x, %c) %y = Add(%v, %u)"
    " return %y as \"y\" }",
    "graph(%x: float32[n,2], %i: int64[k]) { %w = const float32[3,2] {1.0,2.0,3.0,4.0,5.0,6.0}"
    " %a = Gather(%w, %i) {axis=0} %t = Transpose(%w) {perm=[1,0]} %b = MatMul(%x, %t)"
    " return %a as \"a\", %b as \"b\" }",
    "graph(%x: uint8[n,3], %i: int64[n,2]) { %a = GatherElements(%x, %i) {axis=1}"
    " return %a as \"a\" }",
    "graph(%x: float32[n,3,2], %i: int64[k,2]) { %a = GatherND(%x, %i) return %a as \"a\" }",
    "graph(%x: float32[n,3], %i: int64[k,3], %u: float32[k,3]) {"
    " %a = ScatterElements(%x, %i, %u) {axis=0, reduction=\"add\"} return %a as \"a\" }",
    "graph(%x: float32[n,3], %i: int64[k,1], %u: float32[k,3]) {"
    " %a = ScatterND(%x, %i, %u) {reduction=\"max\"} return %a as \"a\" }",
    "graph(%x: float32[4,n,2], %l: int64[n]) {"
    " %a = ReverseSequence(%x, %l) {batch_axis=1, time_axis=0} return %a as \"a\" }",
    "graph(%x: float32[n,4]) { %k = const int64[] {1} %a = Trilu(%x, %k) {upper=0}"
    " return %a as \"a\" }",
    "graph(%i: int64[n,2], %v: float32[2]) { %d = const int64[] {4}"
    " %a = OneHot(%i, %d, %v) {axis=1} return %a as \"a\" }",
    "graph(%i: int64[n,2], %d: float32[], %v: float32[2]) { %a = OneHot(%i, %d, %v) {axis=-1}"
    " return %a as \"a\" }",
    "graph(%x: float32[n,3], %k: int64[]) { %s = const int64[] {0} %d = const int64[] {1}"
    " %h = Shape(%x) {start=0, end=1} %z = Squeeze(%h) %a = Range(%s, %z, %d)"
    " %b = Range(%s, %k, %d) return %a as \"a\", %b as \"b\" }",
    "graph(%x: float32[], %y: float32[], %d: float32[]) { %a = Range(%x, %y, %d) %b = Abs(%a)"
    " return %b as \"b\" }",
    "graph(%x: float32[n,3]) { %a = EyeLike(%x) {k=1} %b = Size(%x) return %a as \"a\", %b as "
    "\"b\" }",
    /* sizes that data decide */
    "graph(%x: float32[n,3]) { %a = NonZero(%x) %b = Transpose(%a) %c = Cast(%b) {to=1}"
    " return %c as \"c\", %a as \"a\" }",
    "graph(%x: float32[n,3], %c: bool[n]) { %a = Compress(%x, %c) {axis=0} %b = Relu(%a)"
    " return %b as \"b\" }",
    "graph(%x: int64[n]) { %a, %b, %c, %d = Unique(%x) {sorted=1} return %a as \"a\", %b as \"b\","
    " %c as \"c\", %d as \"d\" }",
    "graph(%x: float32[n,2]) { %a, %b, %c, %d = Unique(%x) {axis=0, sorted=0} return %a as \"a\","
    " %c as \"c\" }",
    "graph(%x: float32[n], %s: int64[2]) { %a = Reshape(%x, %s) %b = Neg(%a) return %b as \"b\" }",
    "graph(%b: float32[1,n,4], %s: float32[1,2,n]) { %m = const int64[] {3}"
    " %i = const float32[] {0.5} %a = NonMaxSuppression(%b, %s, %m, %i) return %a as \"a\" }",
    "graph(%x: float32[n,5], %k: int64[1]) { %v, %i = TopK(%x, %k) {axis=1}"
    " return %v as \"v\", %i as \"i\" }",
    /* reductions */
    "graph(%x: float32[n,3,4]) { %x1 = const int64[1] {1} %a = ReduceMean(%x, %x1) {keepdims=0}"
    " %b = ReduceMax(%x) %c = ArgMax(%x) {axis=2} %d = ReduceLogSumExp(%x, %x1)"
    " return %a as \"a\", %b as \"b\", %c as \"c\", %d as \"d\" }",
    "graph(%x: float32[n,3,4], %i: int64[1]) { %a = ReduceSum(%x, %i) {keepdims=1}"
    " return %a as \"a\" }",
    "graph(%x: int64[n,3]) { %o = const int64[] {0} %a = CumSum(%x, %o) {exclusive=1}"
    " return %a as \"a\" }",
    "graph(%x: float32[n,3,4]) { %a = Softmax(%x) {axis=1} %b = LogSoftmax(%a) {axis=-1}"
    " %c = Hardmax(%b) {axis=0} return %c as \"c\" }",
    "graph(%x: float32[n,6], %s: float32[6], %b: float32[6]) { %y, %m, %v = "
    "LayerNormalization(%x, %s, %b) {axis=1} return %y as \"y\", %m as \"m\" }",
    "graph(%x: float32[n,4,5], %s: float32[4], %b: float32[4]) {"
    " %y = GroupNormalization(%x, %s, %b) {num_groups=2} %z = InstanceNormalization(%y, %s, %b)"
    " return %z as \"z\" }",
    "graph(%x: float32[n,3,3]) { %a = Det(%x) return %a as \"a\" }",
    "graph(%x: float32[n,3], %r: float32[], %t: bool[]) { %y, %m = Dropout(%x, %r, %t) {seed=3}"
    " return %y as \"y\", %m as \"m\" }",
    /* products */
    "graph(%x: float32[n,2,5], %y: float32[5,m]) { %a = MatMul(%x, %y) %b = Relu(%a)"
    " return %b as \"b\" }",
    "graph(%x: float32[n,9]) { %s = const int64[2] {9,20}"
    " %w = ConstantOfShape(%s) {value=const float32[1] {0.5}} %a = MatMul(%x, %w)"
    " %b = Tanh(%a) return %b as \"b\" }",
    "graph(%x: float64[n,3], %y: float64[4,3], %c: float64[4]) {"
    " %a = Gemm(%x, %y, %c) {transB=1, alpha=0.5} return %a as \"a\" }",
    "graph(%x: uint8[n,5], %y: int8[5,4], %p: uint8[], %q: int8[]) {"
    " %a = MatMulInteger(%x, %y, %p, %q) return %a as \"a\" }",
    "graph(%x: float32[n,5]) { %a, %s, %z = DynamicQuantizeLinear(%x)"
    " %w = const int8[5,2] {1,-2,100,100,5,6,7,-128,9,10} %b = const int8[2] {0,3}"
    " %c = MatMulInteger(%a, %w, %z, %b) %d = Cast(%c) {to=1} %e = Mul(%d, %s)"
    " return %e as \"e\" }",
    "graph(%w: float32[9,20], %d: float32[8,1,3,3], %v: float32[8,4,3,3]) { %a = holo:PackP16(%w)"
    " %b = holo:PackDw(%d) %c = holo:PackConv(%v) {group=2}"
    " return %a as \"a\", %b as \"b\", %c as \"c\" }",
    "graph(%x: float32[n,5,6,4], %w: float32[1,2,4,16], %v: float32[9,20], %b: float32[20]) {"
    " %a = holo:ConvPwDw(%x, %w, %v, %b) {kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,1],"
    " activation=2} return %a as \"a\" }",
    "graph(%x: float32[n,5,6,4], %w: float32[9,4], %v: float32[1,2,4,16]) {"
    " %a, %m = holo:ConvDw(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]}"
    " %k = const int64[2] {1, 2} %g = ReduceMean(%m, %k)"
    " %b = holo:ConvGated(%a, %v, %g) {out_channels=20} return %b as \"b\", %g as \"g\" }",
    "graph(%x: float32[n,5,6,4], %w: float16[1,1,4,16], %v: float16[4,9]) {"
    " %a = holo:ConvPwDw(%x, %w, %v, _) {kernel_shape=[2,2], activation=3, high=1.0,"
    " gate_scale=0.25, gate_shift=0.5} return %a as \"a\" }",
    "graph(%q: float32[n,3,6], %k: float32[n,4,6], %v: float32[n,4,6], %b: float32[4]) {"
    " %a = holo:Attention(%q, %k, %v, %b) {sizes=dims[n,2,3,4,3,3,1], q=dims[0,18,3,6,1],"
    " k=dims[0,24,3,6,1], v=dims[0,24,3,6,1], by_row=1} return %a as \"a\" }",
    /* windows */
    "graph(%x: float32[n,4,5,6], %w: float32[4,2,3,3], %b: float32[4]) {"
    " %a = Conv(%x, %w, %b) {group=2, pads=[1,1,1,1], strides=[2,1]} return %a as \"a\" }",
    "graph(%x: float32[n,4,5,6]) { %s = const int64[4] {8,4,3,3}"
    " %w = ConstantOfShape(%s) {value=const float32[1] {0.25}} %a = Conv(%x, %w)"
    " {pads=[1,1,1,1]} %r = Relu(%a) %t = const int64[4] {8,1,3,3}"
    " %v = ConstantOfShape(%t) {value=const float32[1] {0.5}} %c = Conv(%r, %v)"
    " {group=8, pads=[1,1,1,1], strides=[2,2]} %p = MaxPool(%c) {kernel_shape=[2,2]}"
    " return %p as \"p\" }",
    "graph(%x: float32[n,12,4,5,6]) { %s = const int64[5] {14,12,3,3,3}"
    " %w = ConstantOfShape(%s) {value=const float32[1] {0.25}} %a = Conv(%x, %w)"
    " {pads=[1,1,1,1,1,1]} %r = Relu(%a) %t = const int64[5] {3,14,2,3,1}"
    " %v = ConstantOfShape(%t) {value=const float32[1] {0.5}} %c = Conv(%r, %v)"
    " {strides=[2,1,2]} %p = AveragePool(%c) {kernel_shape=[2,2,2]} return %p as \"p\" }",
    "graph(%x: float32[n,9,4,5,6]) { %s = const int64[5] {9,1,3,2,3}"
    " %w = ConstantOfShape(%s) {value=const float32[1] {0.25}} %a = Conv(%x, %w)"
    " {group=9, pads=[1,1,1,1,1,1], strides=[1,1,2]} %r = Relu(%a) return %r as \"r\" }",
    "graph(%x: float32[n,2,4,4], %w: float32[2,3,3,3]) {"
    " %a = ConvTranspose(%x, %w) {strides=[2,2], output_padding=[1,1]} return %a as \"a\" }",
    "graph(%x: uint8[n,2,4,4], %z: uint8[]) {"
    " %w = const int8[3,2,1,2] {1,-2,100,100,5,6,7,-128,9,10,11,12} %b = const int8[3] {0,3,4}"
    " %v = const uint8[2,1,1,2] {1,2,200,255} %c = ConvInteger(%x, %w, %z, %b)"
    " %d = ConvInteger(%x, %v, %z) {group=2} %e = Cast(%d) {to=1}"
    " return %c as \"c\", %e as \"e\" }",
    "graph(%x: uint8[n,2,5,5], %w: uint8[3,2,3,3]) { %a = ConvInteger(%x, %w)"
    " {pads=[1,0,1,0]} return %a as \"a\" }",
    "graph(%x: float32[n,2,5,5], %w: float32[3,2,3,3], %o: float32[n,18,3,3], %b: float32[3],"
    " %m: float32[n,9,3,3]) { %a = DeformConv(%x, %w, %o, %b, %m) return %a as \"a\" }",
    "graph(%x: float32[n,2,6,6]) { %a, %i = MaxPool(%x) {kernel_shape=[2,2], strides=[2,2]}"
    " %b = MaxUnpool(%a, %i) {kernel_shape=[2,2], strides=[2,2]} %c = AveragePool(%x)"
    " {kernel_shape=[3,3], pads=[1,1,1,1], ceil_mode=1} %d = LpPool(%x) {kernel_shape=[2,2]}"
    " return %b as \"b\", %c as \"c\", %d as \"d\" }",
    "graph(%x: float32[n,2,4,4]) { %s = const float32[4] {1.0,1.0,2.0,1.5}"
    " %a = Resize(%x, _, %s) {mode=\"linear\"} %h = Shape(%x) {start=0, end=2}"
    " %u = const int64[2] {3,7} %t = Concat(%h, %u) {axis=0}"
    " %b = Resize(%x, _, _, %t) {mode=\"cubic\"} return %a as \"a\", %b as \"b\" }",
    "graph(%x: float32[1,2,4,4], %s: float32[4]) { %a = Resize(%x, _, %s) {mode=\"nearest\"}"
    " return %a as \"a\" }",
    "graph(%x: float32[n,6,8]) { %s = const int64[2] {4,4} %k = const int64[2] {1,3}"
    " %a = Col2Im(%x, %s, %k) return %a as \"a\" }",
    "graph(%x: float32[n,2,4,4], %g: float32[n,3,3,2]) { %a = GridSample(%x, %g)"
    " {mode=\"linear\", padding_mode=\"reflection\"} return %a as \"a\" }",
    "graph(%t: float32[n,2,3]) { %s = const int64[4] {2,1,3,4} %a = AffineGrid(%t, %s)"
    " return %a as \"a\" }",
    "graph(%x: float32[n,2,6,6], %r: float32[k,4], %b: int64[k]) { %a = RoiAlign(%x, %r, %b)"
    " {output_height=2, output_width=2, sampling_ratio=2} return %a as \"a\" }",
    "graph(%x: float32[n,2,6,6], %r: float32[k,5]) { %a = MaxRoiPool(%x, %r)"
    " {pooled_shape=[2,2]} return %a as \"a\" }",
    /* signals */
    "graph(%x: float32[n,8,2]) { %a = DFT(%x) {inverse=1} return %a as \"a\" }",
    "graph(%x: float32[1,32,1], %w: float32[8]) { %s = const int64[] {4} %l = const int64[] {8}"
    " %a = STFT(%x, %s, %w, %l) return %a as \"a\" }",
    "graph() { %a = const int64[] {4} %b = const int64[] {8} %c = const int64[] {8000}"
    " %d = const float32[] {0.0} %e = const float32[] {4000.0}"
    " %m = MelWeightMatrix(%a, %b, %c, %d, %e) return %m as \"m\" }",
    "graph(%a: int64[], %b: int64[], %c: int64[], %d: float32[], %e: float32[]) {"
    " %m = MelWeightMatrix(%a, %b, %c, %d, %e) return %m as \"m\" }",
    "graph(%x: float32[n,4]) { %a = Multinomial(%x) {sample_size=3, seed=1.0}"
    " %b = RandomUniformLike(%x) {seed=2.0} %c = RandomNormalLike(%x) {seed=3.0}"
    " %d = Bernoulli(%x) {seed=4.0} return %a as \"a\", %b as \"b\", %c as \"c\", %d as \"d\" }",
    "graph(%x: float32[n,2,4,3], %u: float32[n,2,1,3], %i: int64[n]) {"
    " %a = TensorScatter(%x, %u, %i) {axis=-2, mode=\"circular\"} return %a as \"a\" }",
    /* bodies */
    "graph(%c: bool[], %x: float32[n]) { %r = If(%c) then() { %a = Relu(%x) return %a }"
    " else() { %b = Neg(%x) return %b } return %r as \"r\" }",
    "graph(%c: bool[], %x: float32[n,2]) { %r = If(%c) then() { %a = NonZero(%x) return %a }"
    " else() { %s = Shape(%x) %o = const int64[2] {2,1} %b = Reshape(%s, %o) return %b }"
    " return %r as \"r\" }",
    "graph(%m: int64[], %c: bool[], %x: float32[n]) { %y, %z = Loop(%m, %c, %x)"
    " body(%i: int64[], %k: bool[], %a: float32[n]) { %b = Add(%a, %x) %d = Mul(%b, %a)"
    " return %k, %b, %d } return %y as \"y\", %z as \"z\" }",
    "graph(%m: int64[], %x: float32[n]) { %y, %z = Loop(%m, _, %x)"
    " body(%i: int64[], %k: bool[], %a: float32[?]) { %b = Concat(%a, %x) {axis=0}"
    " %s = Size(%b) return %k, %b, %s } return %y as \"y\", %z as \"z\" }",
    "graph(%s: float32[2], %x: float32[n,2]) { %f, %o = Scan(%s, %x) {num_scan_inputs=1}"
    " body(%a: float32[2], %b: float32[2]) { %c = Add(%a, %b) %d = Exp(%c) return %c, %d }"
    " return %f as \"f\", %o as \"o\" }",
    /* sequences */
    "graph(%x: float32[n], %y: float32[m], %p: int64[]) { %s = SequenceConstruct(%x, %y)"
    " %t = SequenceInsert(%s, %x, %p) %u = SequenceErase(%t, %p) %a = SequenceAt(%u, %p)"
    " %l = SequenceLength(%t) return %a as \"a\", %l as \"l\" }",
    "graph(%x: float32[n,2], %k: int64[]) { %s = SplitToSequence(%x, %k) {axis=0}"
    " %c = ConcatFromSequence(%s) {axis=0} return %c as \"c\", %s as \"s\" }",
    /* strings */
    "graph(%x: string[n], %y: string[]) { %k = const string[] {\" and \"} %a = StringConcat(%x, %k)"
    " %b = StringConcat(%a, %y) %c, %d = StringSplit(%b) %e = Equal(%x, %y)"
    " return %c as \"c\", %d as \"d\", %e as \"e\" }",
    "graph(%x: float32[n], %i: int64[n]) { %a = Cast(%x) {to=8} %b = Cast(%a) {to=11}"
    " %c = Cast(%i) {to=8} return %b as \"b\", %c as \"c\" }",
    "graph(%x: string[n]) { %y = StringNormalizer(%x) {stopwords=[\"te\", \"\"],"
    " case_change_action=\"UPPER\"} %z = TfIdfVectorizer(%x) {mode=\"TFIDF\", min_gram_length=1,"
    " max_gram_length=2, max_skip_count=1, ngram_counts=[0,2], ngram_indexes=[2,0,1],"
    " pool_strings=[\"t\", \"te\", \"t\", \"tex\"], weights=[1.0, 2.0, 3.0]}"
    " return %y as \"y\", %z as \"z\" }",
    /* recurrent */
    "graph(%x: float32[s,n,3], %w: float32[1,4,3], %r: float32[1,4,4]) {"
    " %y, %h = RNN(%x, %w, %r) {hidden_size=4} return %y as \"y\", %h as \"h\" }",
    "graph(%x: float32[s,n,3], %w: float32[2,12,3], %r: float32[2,12,4], %b: float32[2,24],"
    " %l: int32[n]) { %y, %h = GRU(%x, %w, %r, %b, %l) {hidden_size=4,"
    " direction=\"bidirectional\", linear_before_reset=1} return %y as \"y\", %h as \"h\" }",
    "graph(%x: float32[s,n,3], %w: float32[1,16,3], %r: float32[1,16,4], %b: float32[1,32]) {"
    " %y, %h, %c = LSTM(%x, %w, %r, %b) {hidden_size=4} return %y as \"y\", %c as \"c\" }",
    "graph(%x: float32[t,n,1], %l: int32[n]) { %w = const float32[1,3,1] {0.5,-0.5,0.25}"
    " %y, %h = GRU(%x, %w, %w, _, %l) {hidden_size=1} return %y as \"y\", %h as \"h\" }",
    /* bytes that are moved, looked up on the way, and looked up as a product reads them */
    "graph(%x: uint8[n,40,16]) { %y = Transpose(%x) {perm=[0,2,1]} return %y as \"y\" }",
    "graph(%x: uint8[n,40,3]) { %s = const float32[] {0.5} %d = DequantizeLinear(%x, %s)"
    " %e = Sigmoid(%d) %q = QuantizeLinear(%e, %s) %y = Transpose(%q) {perm=[0,2,1]}"
    " return %y as \"y\" }",
    "graph(%x: uint8[n,16]) { %s = const float32[] {0.5} %d = DequantizeLinear(%x, %s)"
    " %e = Sigmoid(%d) %q = QuantizeLinear(%e, %s) %w = const int8[16,2] {1,2,3,4,5,6,7,8,9,10,11,"
    "12,13,14,15,16,-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12,-13,-14,-15,-16}"
    " %y = MatMulInteger(%q, %w) return %y as \"y\" }",
    /* features, tables, trees, support vectors, maps */
    "graph(%x: float32[n,2]) { %y, %z = ai.onnx.ml:TreeEnsembleClassifier(%x) {"
    "nodes_treeids=[0,0,0,0,0,1], nodes_nodeids=[0,1,2,3,4,0], nodes_featureids=[0,1,0,0,0,0],"
    "nodes_values=[0.5,-0.5,0.0,0.0,0.0,0.0], nodes_modes=[\"BRANCH_LEQ\",\"BRANCH_EQ\",\"LEAF\","
    "\"LEAF\",\"LEAF\",\"LEAF\"], nodes_truenodeids=[1,3,0,0,0,0],"
    "nodes_falsenodeids=[2,4,0,0,0,0], class_treeids=[0,0,0,1], class_nodeids=[2,3,4,0],"
    "class_ids=[0,1,2,1], class_weights=[1.0,2.0,3.0,0.5], classlabels_int64s=[7,8,9],"
    "post_transform=\"SOFTMAX\"} return %y as \"y\", %z as \"z\" }",
    "graph(%x: int64[n]) { %y = ai.onnx.ml:LabelEncoder(%x) {keys_int64s=[0,1,5],"
    "values_strings=[\"a\",\"b\",\"c\"]} %z = ai.onnx.ml:LabelEncoder(%y)"
    "{keys_strings=[\"c\",\"a\"], values_floats=[1.0,2.0]} return %y as \"y\", %z as \"z\" }",
    "graph(%x: float32[n,2]) { %y, %z = ai.onnx.ml:SVMClassifier(%x) {kernel_type=\"RBF\","
    "kernel_params=[0.5,0.0,3.0], support_vectors=[1.0,2.0,3.0,4.0,5.0,6.0],"
    "vectors_per_class=[1,1,1], coefficients=[1.0,2.0,3.0,4.0,5.0,6.0], rho=[0.5,0.25,0.125],"
    "prob_a=[1.0,2.0,3.0], prob_b=[0.0,0.5,1.0], classlabels_ints=[4,5,6]}"
    " return %y as \"y\", %z as \"z\" }",
    "graph(%x: float32[2,2]) { %s = ai.onnx.ml:ZipMap(%x) {classlabels_int64s=[3,1]}"
    " %i = const int64[] {1} %m = SequenceAt(%s, %i) %y = ai.onnx.ml:CastMap(%m)"
    " %z = ai.onnx.ml:DictVectorizer(%m) {int64_vocabulary=[1,2,3]}"
    " return %s as \"s\", %y as \"y\", %z as \"z\" }",
    NULL,
};

size_t fault_compile_all(fault_program program[FAULT_PROGRAMS])
{
    size_t count = 0;
    for (size_t i = 0; fault_graphs[i] != NULL; i++) {
        for (uint32_t flags = 0; flags <= HOLO_COMPILE_NO_OPTIMIZE && count < FAULT_PROGRAMS;
             flags += HOLO_COMPILE_NO_OPTIMIZE) {
            fault_program *p = &program[count];
            holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
            options.flags = flags;
            options.numerics = (i & 1) != 0 ? HOLO_EXACT : HOLO_FAST;
            holo_error e = {0};
            p->text = fault_graphs[i];
            if (fault_compile(p->text, &options, &p->data, &p->size, &e) == HOLO_OK)
                count++;
            else
                hg_test_fail(HG_TEST_HERE, "%.60s ...: %s", p->text, e.message);
        }
    }
    return count;
}

void fault_free_all(fault_program *program, size_t count)
{
    for (size_t i = 0; i < count; i++)
        holo_buffer_free(NULL, program[i].data, program[i].size);
}
