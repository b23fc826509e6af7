/* conv_means.c - means of the output rows of a convolution: rules and reference. */
#include "kernel/conv_means.h"

holo_status hg_conv_means_check(const hg_args *a, holo_error *e)
{
    if (!hg_conv_has_means(a)) return HOLO_OK;
    const holo_tensor *y = &a->out[0], *m = &a->out[1];
    HG_TRY(hg_check_rank(y, e, "output with means", 4, 4));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_out_type(a, e, 1, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_rank(m, e, "means", 4, 4));
    HG_REQUIRE(e, y->dim[2] >= 1, HOLO_E_SHAPE,
               "the output has %lld pixels in a row, expected at least 1 for the means",
               (long long)y->dim[2]);
    const int64_t expected[4] = {y->dim[0], y->dim[1], 1, y->dim[3]};
    for (int d = 0; d < 4; d++)
        HG_REQUIRE(e, m->dim[d] == expected[d], HOLO_E_SHAPE,
                   "dimension %d of the means is %lld, expected %lld", d, (long long)m->dim[d],
                   (long long)expected[d]);
    return HOLO_OK;
}

void hg_conv_means_run(const hg_args *a, int64_t row)
{
    if (!hg_conv_has_means(a)) return;
    const int64_t ow = a->out[0].dim[2], o = a->out[0].dim[3];
    const float *y = (const float *)a->out[0].data + row * ow * o;
    float *m = (float *)a->out[1].data + row * o;
    for (int64_t j = 0; j < o; j++) {
        float sum = 0;
        for (int64_t x = 0; x < ow; x++)
            sum += y[x * o + j];
        m[j] = sum / (float)ow;
    }
}
