/* conv_gated.c - conv.gated: 1x1 convolution, channels last, of an input whose channels are scaled
 * first, image by image: the end of a squeeze-and-excite block without a scaled copy of its map.
 *
 *   in[0]  X [N, H, W, C] f32
 *   in[1]  W [1, P, C, 16] f32 or f16, made by pack.conv; P = ceil(O / 16)
 *   in[2]  G [N or 1, 1, 1, C] f32
 *   in[3+] operands of the epilogue
 *   out[0] Y [N, H, W, O] f32 (any type with an epilogue)
 *
 * y = sum over c of x * (w * g), in order. */
#include "kernel/conv_gated.h"

#include "base/half.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

static holo_status conv_gated_check_gate(const hg_args *a, holo_error *e)
{
    const holo_tensor *g = &a->in[2];
    HG_TRY(hg_check_in_type(a, e, 2, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_rank(g, e, "gate", 4, 4));
    HG_REQUIRE(e, g->dim[0] == 1 || g->dim[0] == a->in[0].dim[0], HOLO_E_SHAPE,
               "gate has %lld images, expected 1 or %lld", (long long)g->dim[0],
               (long long)a->in[0].dim[0]);
    const int64_t expected[4] = {g->dim[0], 1, 1, a->in[0].dim[3]};
    for (int d = 1; d < 4; d++)
        HG_REQUIRE(e, g->dim[d] == expected[d], HOLO_E_SHAPE,
                   "dimension %d of the gate is %lld, expected %lld", d, (long long)g->dim[d],
                   (long long)expected[d]);
    return HOLO_OK;
}

holo_status hg_conv_gated_check(const hg_args *a, holo_error *e)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *y = &a->out[0];
    HG_TRY(hg_check_counts(a, e, 3, -1, 1, 0));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_EPILOGUE_TYPES));
    HG_TRY(hg_check_rank(x, e, "input", 4, 4));
    HG_TRY(hg_check_rank(w, e, "packed weights", 4, 4));
    HG_TRY(hg_check_rank(y, e, "output", 4, 4));
    for (int d = 0; d < 3; d++)
        HG_REQUIRE(e, y->dim[d] == x->dim[d], HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", d, (long long)y->dim[d],
                   (long long)x->dim[d]);
    const int64_t expected[4] = {1, hg_panels(y->dim[3]), x->dim[3], HG_PANEL};
    for (int d = 0; d < 4; d++)
        HG_REQUIRE(e, w->dim[d] == expected[d], HOLO_E_SHAPE,
                   "dimension %d of the packed weights is %lld, expected %lld", d,
                   (long long)w->dim[d], (long long)expected[d]);
    HG_TRY(conv_gated_check_gate(a, e));
    return hg_epilogue_check(a, e, HG_CONV_GATED_FIRST_EXTRA, 1, HOLO_F32);
}

hg_conv_gated_shape hg_conv_gated_shape_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    return (hg_conv_gated_shape){.n = x->dim[0],
                                 .pixels = x->dim[1] * x->dim[2],
                                 .c = x->dim[3],
                                 .o = a->out[0].dim[3],
                                 .panels = a->in[1].dim[1],
                                 .gate_step = a->in[2].dim[0] == 1 ? 0 : x->dim[3]};
}

void hg_conv_gated_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = 2.0 * (double)holo_tensor_count(&a->out[0]) * (double)a->in[0].dim[3];
}

static int64_t conv_gated_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    const hg_conv_gated_shape s = hg_conv_gated_shape_of(a);
    return s.n * s.pixels;
}

static size_t conv_gated_pixel_bytes(const hg_args *a)
{
    return hg_align_up((size_t)a->out[0].dim[3] * sizeof(float), HG_ALIGN);
}

static size_t conv_gated_scratch(const hg_args *a)
{
    return a->code == NULL ? 0 : conv_gated_pixel_bytes(a) + hg_epilogue_scratch(a);
}

static void conv_gated_pixel(const hg_args *a, const hg_conv_gated_shape *s, const float *x,
                             const float *gate, float *y)
{
    const holo_tensor *w = &a->in[1];
    for (int64_t j = 0; j < s->o; j++) {
        const int64_t panel = j / HG_PANEL * s->c * HG_PANEL + j % HG_PANEL;
        float sum = 0;
        for (int64_t k = 0; k < s->c; k++) {
            const int64_t at = panel + k * HG_PANEL;
            const float weight = w->dtype == HOLO_F32
                                     ? ((const float *)w->data)[at]
                                     : hg_f16_to_f32(((const uint16_t *)w->data)[at]);
            sum += x[k] * (weight * gate[k]);
        }
        y[j] = sum;
    }
}

static void conv_gated_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const hg_conv_gated_shape s = hg_conv_gated_shape_of(a);
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, HG_CONV_GATED_FIRST_EXTRA, 1, hg_lane_run,
                         (char *)r.scratch + conv_gated_pixel_bytes(a));
    for (int64_t u = r.begin; u < r.end; u++) {
        float *y = a->code == NULL ? (float *)a->out[0].data + u * s.o : r.scratch;
        conv_gated_pixel(a, &s, (const float *)a->in[0].data + u * s.c,
                         (const float *)a->in[2].data + u / s.pixels * s.gate_step, y);
        const hg_epilogue_tile tile = {
            .data = y, .ld = s.o, .dtype = HOLO_F32, .row = u, .rows = 1, .col = 0, .cols = s.o};
        if (a->code != NULL) hg_epilogue_run(&ep, &tile);
    }
}

const hg_kernel hg_kernels_conv_gated[] = {
    {.name = "conv.gated",
     .check = hg_conv_gated_check,
     .units = conv_gated_units,
     .scratch = conv_gated_scratch,
     .cost = hg_conv_gated_cost,
     .run = conv_gated_run},
    {0},
};
