/* window.c - convolutions and pools: how windows make sizes, also of sizes known later. */
#include "op/rule.h"

static void window_conv(void)
{
    static const rule table[] = {
        {"%x: float32[n,3,224,224], %w: float32[64,3,7,7]",
         "%y = Conv(%x, %w) {strides=[2,2], pads=[3,3,3,3]}", "float32[n,64,112,112]"},
        {"%x: float32[n,3,h,w], %w: float32[8,3,3,3]", "%y = Conv(%x, %w) {pads=[1,1,1,1]}",
         "float32[n,8,h,w]"},
        {"%x: float32[1,4,10], %w: float32[6,2,3]", "%y = Conv(%x, %w) {group=2, dilations=[2]}",
         "float32[1,6,6]"},
        {"%x: float32[1,3,h,w], %w: float32[8,3,3,3]",
         "%y = Conv(%x, %w) {auto_pad=\"SAME_UPPER\", strides=[2,2]}",
         "float32[1,8,ceil(h,2),ceil(w,2)]"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]",
         "%y = Conv(%x, %w) {auto_pad=\"VALID\", pads=[7,7,7,7]}", "float32[1,8,7,7]"},
        {"%x: float32[1,1,4,5,6], %w: float32[2,1,2,2,2]", "%y = Conv(%x, %w)",
         "float32[1,2,3,4,5]"},
        {"%x: float32[1,3,2,2], %w: float32[8,3,3,3]", "%y = Conv(%x, %w)",
         "!the padded input has 2 along spatial axis 0, expected at least 3"},
        {"%x: float32[1,4,9,9], %w: float32[8,3,3,3]", "%y = Conv(%x, %w)",
         "!the number of input channels is 4, expected 3"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3]", "%y = Conv(%x, %w)",
         "!the weights have rank 3"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]", "%y = Conv(%x, %w) {group=0}",
         "!group is 0"},
        {"%x: float32[1,3,9,9], %w: float32[8,1,3,3]", "%y = Conv(%x, %w) {group=3}",
         "!8 channels cannot be divided into 3 groups"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]", "%y = Conv(%x, %w) {strides=[1]}",
         "!attribute strides has 1 numbers, expected 2"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]", "%y = Conv(%x, %w) {strides=[0,1]}",
         "!strides[0] is 0"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]", "%y = Conv(%x, %w) {dilations=[1,0]}",
         "!dilations[1] is 0"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]", "%y = Conv(%x, %w) {pads=[1,1,1]}",
         "!attribute pads has 3 numbers, expected 4"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]", "%y = Conv(%x, %w) {kernel_shape=[5,3]}",
         "!kernel_shape[0] is 5 but the weights have 3"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]", "%y = Conv(%x, %w) {auto_pad=\"SAME\"}",
         "!auto_pad is \"SAME\""},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3], %b: float32[7]", "%y = Conv(%x, %w, %b)",
         "!the number of elements of the bias is 7, expected 8"},
        {"%x: float32[1,3], %w: float32[8,3]", "%y = Conv(%x, %w)", "!input 0 has rank 2"},
        {"%x: uint8[1,3,h,9], %w: int8[8,3,3,3]", "%y = ConvInteger(%x, %w)", "int32[1,8,h-2,7]"},
    };
    RULES(table);
}

static void window_transpose(void)
{
    static const rule table[] = {
        {"%x: float32[n,2,h,5], %w: float32[2,3,3,3]", "%y = ConvTranspose(%x, %w)",
         "float32[n,3,h+2,7]"},
        {"%x: float32[1,2,3,3], %w: float32[2,3,3,3]",
         "%y = ConvTranspose(%x, %w) {strides=[3,2], output_padding=[1,1]}", "float32[1,3,10,8]"},
        {"%x: float32[1,2,3,3], %w: float32[2,3,3,3]",
         "%y = ConvTranspose(%x, %w) {strides=[3,2], output_shape=[10,8]}", "float32[1,3,10,8]"},
        {"%x: float32[1,2,h,3], %w: float32[2,3,3,3]",
         "%y = ConvTranspose(%x, %w) {strides=[2,2], auto_pad=\"SAME_LOWER\"}",
         "float32[1,3,h*2,6]"},
        {"%x: float32[1,4,3,3], %w: float32[4,3,3,3]", "%y = ConvTranspose(%x, %w) {group=2}",
         "float32[1,6,5,5]"},
        {"%x: float32[1,4,3,3], %w: float32[3,3,3,3]", "%y = ConvTranspose(%x, %w)",
         "!dimension 0 of the weights is 3, expected 4"},
        {"%x: float32[1,4,3,3], %w: float32[4,3,3,3]",
         "%y = ConvTranspose(%x, %w) {output_shape=[5]}", "!attribute output_shape has 1 numbers"},
    };
    RULES(table);
    static const rule_value values[] = {
        {"%x = const float32[1,1,2] {1, 2} %w = const float32[1,1,2] {1, 10} %y = "
         "ConvTranspose(%x, "
         "%w) {strides=[2]}",
         "float32[1,1,4] {1.0, 10.0, 2.0, 20.0}"},
        {"%x = const float32[1,1,2] {1, 2} %w = const float32[1,1,3] {1, 10, 100} %y = "
         "ConvTranspose(%x, %w) {output_shape=[3]}",
         "float32[1,1,3] {12.0, 120.0, 200.0}"},
    };
    RULE_VALUES(values);
}

static void window_pool(void)
{
    static const rule table[] = {
        {"%x: float32[n,64,112,112]",
         "%y = MaxPool(%x) {kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]}",
         "float32[n,64,56,56]"},
        {"%x: float32[1,1,6]", "%y = MaxPool(%x) {kernel_shape=[3], strides=[2], ceil_mode=1}",
         "float32[1,1,3]"},
        /* the last window would start in the padding */
        {"%x: float32[1,1,2]",
         "%y = MaxPool(%x) {kernel_shape=[1], strides=[2], pads=[0,1], ceil_mode=1}",
         "float32[1,1,1]"},
        {"%x: int8[1,1,h]", "%y = MaxPool(%x) {kernel_shape=[2]}", "int8[1,1,h-1]"},
        {"%x: int32[1,1,6]", "%y = MaxPool(%x) {kernel_shape=[2]}", "!element type int32"},
        {"%x: float32[1,1,6]", "%y = MaxPool(%x)", "!attribute kernel_shape is missing"},
        {"%x: float32[1,1,6]", "%y = MaxPool(%x) {kernel_shape=[0]}", "!kernel_shape[0] is 0"},
        {"%x: float32[1,6]", "%y = AveragePool(%x) {kernel_shape=[2]}", "!rank 2"},
        {"%x: float32[1,1,6]", "%y = LpPool(%x) {kernel_shape=[2], p=0}", "!p is 0"},
        {"%x: float32[n,c,h,w]", "%y = GlobalAveragePool(%x)", "float32[n,c,1,1]"},
        {"%x: float32[n,c]", "%y = GlobalMaxPool(%x)", "float32[n,c]"},
        {"%x: float32[c]", "%y = GlobalMaxPool(%x)", "!input 0 has rank 1"},
        {"%x: float32[1,1,2,2], %i: int64[1,1,2,2]",
         "%y = MaxUnpool(%x, %i) {kernel_shape=[2,2], strides=[2,2]}", "float32[1,1,4,4]"},
        {"%x: float32[n,c,h,w], %r: float32[k,5]", "%y = MaxRoiPool(%x, %r) {pooled_shape=[2,3]}",
         "float32[k,c,2,3]"},
        {"%x: float32[n,c,h,w], %r: float32[k,5]", "%y = MaxRoiPool(%x, %r) {pooled_shape=[2]}",
         "!pooled_shape has 1 numbers"},
        {"%x: float32[n,c,h,w], %r: float32[k,4], %b: int64[k]",
         "%y = RoiAlign(%x, %r, %b) {output_height=5, output_width=6}", "float32[k,c,5,6]"},
        {"%x: float32[n,c,h,w], %r: float32[k,4], %b: int64[k]",
         "%y = RoiAlign(%x, %r, %b) {mode=\"min\"}", "!mode is \"min\""},
        {"%x: float32[n,c,h,w], %r: float32[k,4], %b: int64[k]",
         "%y = RoiAlign(%x, %r, %b) {output_height=0}", "!output_height is 0"},
    };
    RULES(table);
    static const rule_value values[] = {
        {"%x = const float32[1,1,2,2] {1, 2, 3, 6} %y = GlobalAveragePool(%x)",
         "float32[1,1,1,1] {3.0}"},
        {"%x = const float32[1,1,2] {-3, 4} %y = GlobalLpPool(%x)", "float32[1,1,1] {5.0}"},
        {"%x = const float32[1,1,4] {1, 2, 3, 5} %y = AveragePool(%x) {kernel_shape=[2], "
         "pads=[1,0], count_include_pad=1}",
         "float32[1,1,4] {0.5, 1.5, 2.5, 4.0}"},
        {"%x = const float32[1,3,1] {1, 2, 4} %y = LRN(%x) {size=3, alpha=3.0, beta=1.0, bias=1.0}",
         "float32[1,3,1] {0.16666667, 0.09090909, 0.1904762}"},
    };
    RULE_VALUES(values);
}

static void window_resize(void)
{
    static const rule table[] = {
        {"%x: float32[n,c,h,w]",
         "%s = const float32[4] {1.0, 1.0, 2.0, 2.0} %y = Resize(%x, _, %s) {mode=\"nearest\"}",
         "float32[n,c,h*2,w*2]"},
        {"%x: float32[n,c,h,w]",
         "%s = const float32[2] {0.5, 1.5} %y = Resize(%x, _, %s) {axes=[2,3]}",
         "float32[n,c,h//2,w*3//2]"},
        {"%x: float32[1,c,7,8]",
         "%s = const int64[2] {5, 6} %y = Resize(%x, _, _, %s) {axes=[2,-1]}", "float32[1,c,5,6]"},
        {"%x: float32[10,20]",
         "%s = const int64[2] {5, 5} %y = Resize(%x, _, _, %s) "
         "{keep_aspect_ratio_policy=\"not_larger\"}",
         "float32[3,5]"},
        {"%x: float32[10,20]",
         "%s = const int64[2] {5, 5} %y = Resize(%x, _, _, %s) "
         "{keep_aspect_ratio_policy=\"not_smaller\"}",
         "float32[5,10]"},
        {"%x: float32[n,h,w,c]",
         "%s = const float32[4] {1.0, 1.0, 2.0, 3.0} %y = holo:ResizeNhwc(%x, _, %s)",
         "float32[n,h*2,w*3,c]"},
        {"%x: float32[4]", "%s = const float32[1] {0.0} %y = Resize(%x, _, %s)", "!scales[0] is 0"},
        {"%x: float32[4]", "%s = const float32[1] {-2.0} %y = Resize(%x, _, %s)",
         "!scales[0] is -2"},
        {"%x: float32[4]", "%s = const float32[2] {1.0, 1.0} %y = Resize(%x, _, %s)",
         "!scales does not have 1 elements"},
        {"%x: float32[4]", "%s = const int64[1] {-1} %y = Resize(%x, _, _, %s)", "!sizes[0] is -1"},
        {"%x: float32[4]", "%s = const int64[2] {1, 1} %y = Resize(%x, _, _, %s)",
         "!sizes has 2 elements"},
        {"%x: float32[4]", "%y = Resize(%x)", "!has neither scales nor sizes"},
        {"%x: float32[4]", "%s = const int64[1] {3} %y = Resize(%x, _, _, %s) {mode=\"best\"}",
         "!mode is \"best\""},
        {"%x: float32[4,4]", "%s = const int64[2] {3, 3} %y = Resize(%x, _, _, %s) {axes=[0,0]}",
         "!axes names axis 0 twice"},
        {"%x: float32[4]",
         "%s = const int64[1] {3} %y = Resize(%x, _, _, %s) "
         "{coordinate_transformation_mode=\"tf_crop_and_resize\"}",
         "!needs a roi of 2 elements"},
        {"%x: string[4]", "%s = const int64[1] {3} %y = Resize(%x, _, _, %s) {mode=\"linear\"}",
         "!string cannot be interpolated"},
        {"%x: float32[n,c,h,w]", "%y = Upsample(%x) {scales=[1.0, 1.0, 2.0, 2.0]}",
         "float32[n,c,h*2,w*2]"},
    };
    RULES(table);
    static const rule_value values[] = {
        {"%x = const int32[1,2] {1, 2} %s = const float32[2] {2.0, 2.0} %y = Resize(%x, _, %s)",
         "int32[2,4] {1, 1, 2, 2, 1, 1, 2, 2}"},
        {"%x = const float32[2] {0, 4} %s = const int64[1] {4} %y = Resize(%x, _, _, %s) "
         "{mode=\"linear\"}",
         "float32[4] {0.0, 1.0, 3.0, 4.0}"},
        {"%x = const int32[5] {1, 2, 3, 4, 5} %s = const int64[1] {3} %y = CenterCropPad(%x, %s)",
         "int32[3] {2, 3, 4}"},
        {"%x = const int32[2] {1, 2} %s = const int64[1] {5} %y = CenterCropPad(%x, %s)",
         "int32[5] {0, 1, 2, 0, 0}"},
    };
    RULE_VALUES(values);
}

const hg_test_case hg_tests_op_window[] = {
    {"conv", window_conv},
    {"transpose", window_transpose},
    {"pool", window_pool},
    {"resize", window_resize},
    {0},
};
