/* conv_i8.c - conv.i8 against sums of 64-bit products. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_conv_i8[];

typedef struct conv_i8_case {
    int rank, zeros; /* zeros: 0 none, 1 one each, 2 one for each output channel */
    int64_t n, c, o, groups, in[3], kernel[3], stride[3], pad[3], dilation[3], out[3];
} conv_i8_case;

static const conv_i8_case conv_i8_cases[] = {
    {1, 0, 2, 3, 4, 1, {9}, {3}, {2}, {1}, {1}, {5}},
    {2, 1, 1, 4, 6, 2, {5, 6}, {3, 2}, {1, 2}, {1, 0}, {1, 2}, {5, 2}},
    {2, 2, 2, 2, 2, 1, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {4, 4}},
    {3, 2, 1, 2, 2, 2, {3, 4, 3}, {2, 2, 2}, {1, 1, 1}, {0, 1, 0}, {1, 1, 2}, {2, 5, 1}},
    {1, 2, 1, 0, 2, 1, {4}, {2}, {1}, {0}, {1}, {3}},
};

static void conv_i8_make(move_call *c, const conv_i8_case *p, holo_dtype x, holo_dtype w)
{
    int64_t in[5] = {p->n, p->c}, kernel[5] = {p->o, p->c / p->groups}, out[5] = {p->n, p->o};
    for (int d = 0; d < p->rank; d++)
        in[2 + d] = p->in[d], kernel[2 + d] = p->kernel[d], out[2 + d] = p->out[d];
    value_in(c, x, p->rank + 2, in, 1);
    value_in(c, w, p->rank + 2, kernel, 2);
    if (p->zeros > 0) {
        value_in(c, x, 0, in, 3);
        value_in(c, w, p->zeros == 2, &p->o, 4);
    }
    move_out(c, HOLO_I32, p->rank + 2, out);
    move_param(c, p->rank);
    move_param(c, p->groups);
    value_params(c, p->stride, p->rank);
    value_params(c, p->pad, p->rank);
    value_params(c, p->dilation, p->rank);
}

static int64_t conv_i8_oracle(const conv_i8_case *p, const move_call *c, const int64_t *at)
{
    const int64_t channels = p->c / p->groups, group = at[1] / (p->o / p->groups);
    const double x_zero = p->zeros > 0 ? value_get(&c->in[2], 0) : 0.0;
    const double w_zero = p->zeros > 0 ? value_get(&c->in[3], p->zeros == 2 ? at[1] : 0) : 0.0;
    int64_t taps = 1, plane = 1;
    double sum = 0.0;
    for (int d = 0; d < p->rank; d++)
        taps *= p->kernel[d], plane *= p->in[d];
    for (int64_t k = 0; k < channels * taps; k++) {
        int64_t rest = k % taps, index = 0, step = 1;
        bool inside = true;
        for (int d = p->rank - 1; d >= 0; d--) {
            const int64_t i =
                at[2 + d] * p->stride[d] - p->pad[d] + rest % p->kernel[d] * p->dilation[d];
            rest /= p->kernel[d];
            inside = inside && i >= 0 && i < p->in[d];
            index += i * step;
            step *= p->in[d];
        }
        if (!inside) continue;
        const int64_t channel = at[0] * p->c + group * channels + k / taps;
        sum += (value_get(&c->in[0], channel * plane + index) - x_zero) *
               (value_get(&c->in[1], at[1] * channels * taps + k) - w_zero);
    }
    return (int64_t)sum;
}

static void conv_i8_values(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_I8};
    for (size_t k = 0; k < 4 * HG_COUNT(conv_i8_cases); k++) {
        move_call c = {0};
        conv_i8_make(&c, &conv_i8_cases[k / 4], types[k % 2], types[k / 2 % 2]);
        if (move_run(hg_kernels_conv_i8, &c))
            for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                int64_t at[5];
                move_coordinates(&c.out[0], i, at);
                if (!CHECK_EQ_INT(((int32_t *)c.out[0].data)[i],
                                  conv_i8_oracle(&conv_i8_cases[k / 4], &c, at)))
                    break;
            }
        move_free(&c);
    }
}

static void conv_i8_make_good(move_call *c)
{
    conv_i8_make(c, &conv_i8_cases[2], HOLO_U8, HOLO_I8);
}

static void conv_i8_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 7, "7 parameters"},
        {MOVE_N_PARAM, 0, 0, 0, "parameter 0, number of spatial axes, is missing"},
        {MOVE_PARAM, 0, 0, 7, "number of spatial axes is 7"},
        {MOVE_PARAM, 1, 0, 0, "groups is 0"},
        {MOVE_PARAM, 1, 0, 4, "2 output channels in 4 groups"},
        {MOVE_PARAM, 2, 0, 0, "stride is 0"},
        {MOVE_PARAM, 4, 0, INT64_C(1) << 40, "padding is"},
        {MOVE_PARAM, 7, 0, 0, "dilation is 0"},
        {MOVE_IN_TYPE, 0, 0, HOLO_F32, "input 0 has type float32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F32, "input 2 has type float32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I8, "zero point has type int8"},
        {MOVE_IN_TYPE, 3, 0, HOLO_U8, "zero point has type uint8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F32, "output 0 has type float32"},
        {MOVE_IN_RANK, 0, 0, 3, "input has rank 3"},
        {MOVE_IN_RANK, 1, 0, 5, "kernel has rank 5"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_IN_DIM, 1, 0, 3, "2 output channels in 1 groups, the kernel has 3"},
        {MOVE_IN_DIM, 1, 1, 3, "2 input channels in 1 groups, the kernel has 3"},
        {MOVE_OUT_DIM, 0, 0, 1, "output has 1 images"},
        {MOVE_IN_DIM, 1, 2, INT64_C(1) << 33, "a kernel of 8589934592 is too large"},
        {MOVE_IN_DIM, 3, 0, 3, "3 zero points, expected 1 or 2"},
        {MOVE_IN_RANK, 2, 0, 1, "0 zero points, expected 1 or 1"},
    };
    MOVE_REFUSES(hg_kernels_conv_i8, conv_i8_make_good, bad);
}

const hg_test_case hg_tests_kernel_conv_i8[] = {
    {"values", conv_i8_values},
    {"refuses", conv_i8_refuses},
    {0},
};
