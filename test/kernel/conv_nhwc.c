/* conv_nhwc.c - conv.nhwc and conv.winograd against a double-precision oracle, every variant. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_conv_nhwc[], hg_kernels_conv_winograd[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv_nhwc)[], TUNED(conv_winograd)[];
#endif

typedef struct nhwc_sizes {
    int64_t n, h, w, c, oh, ow, o;
    int64_t kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w, groups;
    int64_t d, od, kd, stride_d, pad_front, dil_d; /* a third axis, if kd is not 0 */
} nhwc_sizes;

#define NHWC_FLAT 0, 0, 0, 0, 0, 0

/* [n, d, h, w, c], or [n, h, w, c]; the rank. */
static int nhwc_dims(const nhwc_sizes *s, int64_t d, int64_t h, int64_t w, int64_t c, int64_t *dim)
{
    int rank = 0;
    dim[rank++] = s->n;
    if (s->kd != 0) dim[rank++] = d;
    dim[rank++] = h;
    dim[rank++] = w;
    dim[rank++] = c;
    return rank;
}

static uint32_t nhwc_params(const nhwc_sizes *s, int64_t *param)
{
    const int64_t third[4] = {s->kd, s->stride_d, s->pad_front, s->dil_d};
    const int64_t *pair = &s->kh;
    uint32_t n = 0;
    for (int i = 0; i < 4; i++) {
        if (s->kd != 0) param[n++] = third[i];
        param[n++] = *pair++;
        param[n++] = *pair++;
    }
    param[n++] = s->groups;
    return n;
}

static void nhwc_make(gemm_call *c, const nhwc_sizes *s, holo_dtype dtype)
{
    const int64_t group_o = s->o / s->groups, group_c = s->c / s->groups;
    const int64_t taps = s->kh * s->kw * (s->kd == 0 ? 1 : s->kd);
    int64_t in[5], out[5];
    memset(c, 0, sizeof *c);
    c->in[0] = gemm_tensor(HOLO_F32, nhwc_dims(s, s->d, s->h, s->w, s->c, in), in, 1);
    c->in[1] =
        gemm_tensor(dtype, 4, (int64_t[]){s->groups, (group_o + 15) / 16, taps * group_c, 16}, 2);
    c->out = gemm_tensor(HOLO_F32, nhwc_dims(s, s->od, s->oh, s->ow, s->o, out), out, 3);
    gemm_connect(c, 2, nhwc_params(s, c->param));
}

/* The picture of the input that plane k of the kernel meets; -1 outside. */
static int64_t nhwc_plane(const nhwc_sizes *s, int64_t picture, int64_t k)
{
    if (s->kd == 0) return picture;
    const int64_t z = picture % s->od * s->stride_d + k * s->dil_d - s->pad_front;
    return z < 0 || z >= s->d ? -1 : picture / s->od * s->d + z;
}

static double nhwc_oracle(const gemm_call *c, const nhwc_sizes *s, int64_t element, double *sum_abs)
{
    const int64_t o = element % s->o, ox = element / s->o % s->ow;
    const int64_t oy = element / s->o / s->ow % s->oh, image = element / s->o / s->ow / s->oh;
    const int64_t group_o = s->o / s->groups, group_c = s->c / s->groups;
    const int64_t group = o / group_o, inner = o % group_o, panels = (group_o + 15) / 16;
    double sum = 0;
    *sum_abs = 0;
    for (int64_t i = 0; i < s->kh * (s->kd == 0 ? 1 : s->kd); i++)
        for (int64_t j = 0; j < s->kw; j++) {
            const int64_t plane = nhwc_plane(s, image, i / s->kh);
            const int64_t y = oy * s->stride_h + i % s->kh * s->dil_h - s->pad_top;
            const int64_t x = ox * s->stride_w + j * s->dil_w - s->pad_left;
            if (plane < 0 || y < 0 || y >= s->h || x < 0 || x >= s->w) continue;
            for (int64_t k = 0; k < group_c; k++) {
                const int64_t at = ((plane * s->h + y) * s->w + x) * s->c + group * group_c + k;
                const int64_t row = (i * s->kw + j) * group_c + k;
                const int64_t depth = c->in[1].dim[2];
                const int64_t panel = group * panels + inner / 16;
                const double p = gemm_get(&c->in[0], at) *
                                 gemm_get(&c->in[1], (panel * depth + row) * 16 + inner % 16);
                sum += p;
                *sum_abs += fabs(p);
            }
        }
    return sum;
}

/* Sums of Winograd's tiles err by what lies in the whole tile, also where an output sees little of
 * it; numbers are at most 1 here. */
static bool nhwc_near(const hg_kernel *k, const char *what, const gemm_call *c, int64_t e,
                      double sum, double sum_abs)
{
    const int64_t depth = c->in[1].dim[2];
    if (strcmp(k->name, "conv.winograd") != 0)
        return gemm_near(what, &c->out, e, depth, sum, sum_abs);
    return gemm_near(what, &c->out, e, 8, sum, sum_abs + (double)depth);
}

static void nhwc_try(const hg_kernel *k, const char *what, const nhwc_sizes *s, holo_dtype dtype)
{
    gemm_call c;
    nhwc_make(&c, s, dtype);
    const bool ran = gemm_run(k, &c);
    const int64_t count = holo_tensor_count(&c.out);
    for (int64_t e = 0; ran && e < count; e++) {
        double sum_abs;
        const double sum = nhwc_oracle(&c, s, e, &sum_abs);
        if (!nhwc_near(k, what, &c, e, sum, sum_abs)) break;
    }
    gemm_free(&c);
}

/* clang-format off */
static const nhwc_sizes nhwc_table[] = {
    /* n  h   w   c   oh  ow  o   kernel stride  pad    dil  groups */
    {1,  5,  6,  4,  5,  6,  7,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {2,  9,  8,  3,  5,  4, 20,  3, 3,  2, 2,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1,  7,  7, 16,  7,  7, 16,  1, 1,  1, 1,  0, 0,  1, 1, 1, NHWC_FLAT},
    {3,  4,  5, 40,  4,  5, 33,  1, 1,  1, 1,  0, 0,  1, 1, 1, NHWC_FLAT},
    {1, 12, 11,  3,  6,  6,  9,  7, 7,  2, 2,  3, 3,  1, 1, 1, NHWC_FLAT},
    {1, 10, 10, 20, 10, 10, 18,  3, 3,  1, 1,  2, 2,  2, 2, 1, NHWC_FLAT},
    {1, 10, 10,  5, 10, 10, 18,  3, 3,  1, 1,  2, 2,  2, 2, 1, NHWC_FLAT},
    {1, 23, 21, 30, 23, 21, 20,  3, 3,  1, 1, 12, 9, 12, 9, 1, NHWC_FLAT}, /* many taps in the padding */
    {1,  8,  9,  8,  8,  9, 12,  3, 5,  1, 1,  1, 2,  1, 1, 4, NHWC_FLAT},
    {1,  8,  9, 60,  8,  9, 40,  3, 3,  1, 1,  1, 1,  1, 1, 2, NHWC_FLAT},
    {1,  6,  6,  6,  6,  6,  6,  3, 3,  1, 1,  1, 1,  1, 1, 6, NHWC_FLAT},
    {1, 14,  3, 24,  7,  1, 50,  2, 3,  2, 3,  0, 0,  1, 1, 1, NHWC_FLAT},
    {1,  1, 40, 12,  1, 40, 30,  1, 9,  1, 1,  0, 4,  1, 1, 1, NHWC_FLAT},
    {2, 40,  1,  1, 20,  1, 18,  9, 1,  2, 1,  4, 0,  1, 1, 1, NHWC_FLAT}, /* one pixel wide */
    {1, 33,  1,  6, 33,  1,  9,  5, 1,  1, 1,  4, 0,  2, 1, 1, NHWC_FLAT},
    {1, 30,  1,  8, 30,  1, 12,  3, 1,  1, 1,  1, 0,  1, 1, 4, NHWC_FLAT},
    {1,  9,  1,  4,  9,  1,  6,  3, 1,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT}, /* in the padding */
    {1, 49, 10,  1, 24,  5, 64, 10, 4,  2, 2,  4, 1,  1, 1, 1, NHWC_FLAT},
    {1,  3,  3, 30,  9,  9, 17,  5, 5,  1, 1,  5, 5,  1, 1, 1, NHWC_FLAT}, /* padding beyond the kernel */
    {1, 20, 20,  4,  6,  5, 17,  3, 3,  2, 3, -3, -2, 1, 1, 1, NHWC_FLAT}, /* negative padding crops */
    {1,  4,  4,  5, 10,  9,  6,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT}, /* output reaches far outside */
    {1,  4,  4,  5,  3,  3,  6,  3, 3,  1, 1, 40, 90, 1, 1, 1, NHWC_FLAT}, /* nothing inside */
    {1,  5,  5, 500, 5,  5, 18,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT}, /* a tap longer than a k block */
    {1,  6,  6, 130, 6,  6, 16,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT}, /* two taps in a k block */
    {1,  4,  4,  0,  4,  4,  5,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1,  0,  4,  3,  2,  2,  5,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {0,  4,  4,  3,  4,  4,  5,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1,  4,  4,  3,  4,  0,  5,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1,  4,  4,  3,  4,  4,  0,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1, 30, 30, 16, 30, 30,  1,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1, 30, 30, 11, 30, 30,  3,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1, 17, 17, 24, 17, 17,  2,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1, 17, 17, 24, 17, 17,  4,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1, 17, 17, 40, 17, 17,  3,  3, 3,  1, 1,  2, 2,  2, 2, 1, NHWC_FLAT},
    {2,  7,  5, 64,  7,  5,  1,  1, 1,  1, 1,  0, 0,  1, 1, 1, NHWC_FLAT},
    {2, 17, 17, 20, 17, 17,  8,  3, 3,  1, 1,  1, 1,  1, 1, 2, NHWC_FLAT},
    {1, 13, 13,  8, 13, 13,  8,  3, 3,  1, 1,  1, 1,  1, 1, 1, NHWC_FLAT},
    {1, 13, 13,  9, 13, 13,  5,  1, 1,  1, 1,  0, 0,  1, 1, 1, NHWC_FLAT},
    /*                                                           d od kernel stride pad dil */
    {1,  7,  6, 20,  7,  6, 18,  3, 3,  1, 1,  1, 1,  1, 1, 1,  5, 5, 3, 1,  1, 1},
    {2,  9,  9, 13,  9,  9, 12,  3, 3,  1, 1,  1, 1,  1, 1, 1,  4, 4, 3, 1,  1, 1},
    {1, 12, 11,  3,  6,  6,  9,  3, 7,  2, 2,  1, 3,  1, 1, 1,  6, 3, 3, 2,  1, 1},
    {2,  6,  6, 14,  6,  6, 14,  3, 3,  1, 1,  1, 1,  1, 1, 1,  3, 3, 1, 1,  0, 1}, /* pictures */
    {2,  6,  6, 14,  6,  6, 14,  3, 3,  1, 1,  1, 1,  1, 1, 1,  5, 3, 1, 2,  0, 1},
    {1,  6,  6, 14,  6,  6, 14,  3, 3,  1, 1,  1, 1,  1, 1, 1,  5, 3, 1, 1, -1, 1}, /* cropped */
    {2,  5,  4, 24,  5,  4, 30,  1, 1,  1, 1,  0, 0,  1, 1, 1,  7, 5, 3, 1,  0, 1},
    {1,  6,  7, 16,  6,  7, 16,  3, 3,  1, 1,  1, 1,  1, 1, 1,  9, 9, 3, 1,  2, 2}, /* dilated */
    {1,  6,  7, 16,  6,  7, 12,  3, 3,  1, 1,  1, 1,  1, 1, 4,  4, 4, 3, 1,  1, 1}, /* groups */
    {1,  9,  9, 16,  9,  9, 16,  3, 3,  1, 1,  1, 1,  1, 1, 1,  2, 8, 3, 1,  4, 1}, /* planes of
                                                                                       padding */
    {1,  9,  9, 16,  9,  9, 16,  3, 3,  1, 1,  1, 1,  1, 1, 1,  0, 3, 3, 1,  2, 1},
    {1,  9,  9, 16,  9,  9, 16,  3, 3,  1, 1,  1, 1,  1, 1, 1,  4, 0, 3, 1,  2, 1},
};
/* clang-format on */

static void nhwc_table_on(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(nhwc_table); i++) {
        char what[40];
        snprintf(what, sizeof what, "case %zu", i);
        nhwc_try(k, what, &nhwc_table[i], HOLO_F32);
        nhwc_try(k, what, &nhwc_table[i], HOLO_F16);
    }
}

static void nhwc_matches_oracle(void)
{
    nhwc_table_on(hg_kernels_conv_nhwc);
    nhwc_try(hg_kernels_conv_winograd, "second name", &nhwc_table[0], HOLO_F32);
}

/* Products in the order (kh, kw, c), multiply then add. */
static void nhwc_exact_bits(void)
{
    const nhwc_sizes s = {1, 6, 5, 19, 6, 5, 18, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT};
    gemm_call c;
    nhwc_make(&c, &s, HOLO_F32);
    if (!gemm_run(hg_kernels_conv_nhwc, &c)) return;
    const float *x = c.in[0].data, *w = c.in[1].data, *out = c.out.data;
    const int64_t depth = 9 * s.c;
    for (int64_t e = 0; e < s.h * s.w * s.o; e++) {
        const int64_t o = e % s.o, ox = e / s.o % s.w, oy = e / s.o / s.w;
        volatile float sum = 0;
        for (int64_t t = 0; t < depth; t++) {
            const int64_t y = oy + t / s.c / 3 - 1, z = ox + t / s.c % 3 - 1;
            if (y < 0 || y >= s.h || z < 0 || z >= s.w) continue;
            volatile float product =
                x[(y * s.w + z) * s.c + t % s.c] * w[(o / 16 * depth + t) * 16 + o % 16];
            sum = sum + product;
        }
        if (!CHECK(sum == out[e])) return;
    }
    gemm_free(&c);
}

/* Bias by channel, a scale for each image and channel, a residual; then max with 0. */
static void nhwc_epilogue_on(const hg_kernel *k, const nhwc_sizes *s, holo_dtype out)
{
    gemm_call c;
    gemm_code code;
    int64_t one[5], full[5];
    const int rank = nhwc_dims(s, 1, 1, 1, s->o, one);
    (void)nhwc_dims(s, s->od, s->oh, s->ow, s->o, full);
    nhwc_make(&c, s, HOLO_F32);
    free(c.out.data);
    c.in[2] = gemm_tensor(HOLO_F32, 1, (int64_t[]){s->o}, 4);
    c.in[3] = gemm_tensor(HOLO_F32, rank, one, 5);
    c.in[4] = gemm_tensor(HOLO_F32, rank, full, 6);
    c.out = gemm_tensor(out, rank, full, 7);
    gemm_code_sum(&code, 3);
    gemm_connect(&c, 5, c.args.n_param);
    c.args.code = &code.code;
    const bool ran = gemm_run(k, &c);
    const int64_t count = holo_tensor_count(&c.out);
    const int64_t image = s->n == 0 ? 1 : count / s->n;
    for (int64_t e = 0; ran && e < count; e++) {
        double sum_abs;
        double sum = nhwc_oracle(&c, s, e, &sum_abs);
        const double extra[3] = {gemm_get(&c.in[2], e % s->o),
                                 gemm_get(&c.in[3], e / image * s->o + e % s->o),
                                 gemm_get(&c.in[4], e)};
        for (int i = 0; i < 3; i++) {
            sum += extra[i];
            sum_abs += fabs(extra[i]);
        }
        if (!nhwc_near(k, "epilogue", &c, e, sum < 0 ? 0 : sum, sum_abs)) break;
    }
    gemm_free(&c);
}

static void nhwc_epilogue_cases(const hg_kernel *k)
{
    static const nhwc_sizes sizes[] = {
        {2, 9, 10, 20, 9, 10, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {2, 11, 10, 3, 11, 10, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {3, 7, 7, 40, 7, 7, 34, 1, 1, 1, 1, 0, 0, 1, 1, 2, NHWC_FLAT},
        {2, 9, 9, 16, 9, 9, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {2, 9, 9, 32, 9, 9, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {2, 5, 9, 24, 5, 9, 2, 1, 1, 1, 1, 0, 0, 1, 1, 1, NHWC_FLAT},
        {2, 5, 9, 24, 5, 9, 4, 1, 1, 1, 1, 0, 0, 1, 1, 1, NHWC_FLAT},
        {2, 9, 9, 16, 9, 9, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {2, 9, 10, 20, 9, 10, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1, 4, 4, 3, 1, 1, 1},
        {2, 7, 6, 3, 4, 3, 17, 3, 3, 2, 2, 1, 1, 1, 1, 1, 4, 2, 3, 2, 1, 1},
    };
    for (size_t i = 0; i < HG_COUNT(sizes); i++) {
        nhwc_epilogue_on(k, &sizes[i], HOLO_F32);
        nhwc_epilogue_on(k, &sizes[i], HOLO_F16);
    }
}

static void nhwc_epilogue(void)
{
    nhwc_epilogue_cases(hg_kernels_conv_nhwc);
}

/* ---- maps side by side ------------------------------------------------------------------- */

enum { NHWC_MAPS = 6 };

typedef struct nhwc_split {
    nhwc_sizes s;
    int64_t channels[NHWC_MAPS]; /* of each map; together s.c */
} nhwc_split;

/* clang-format off */
static const nhwc_split nhwc_splits[] = {
    {{1, 7, 7,  48, 7, 7, 16, 1, 1, 1, 1, 0, 0, 1, 1, 1, NHWC_FLAT}, {16, 32}},
    {{2, 9, 8,  80, 5, 4, 20, 3, 3, 2, 2, 1, 1, 1, 1, 1, NHWC_FLAT}, {32, 16, 32}},
    {{1, 9, 9,  12, 9, 9, 18, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT}, {1, 2, 3, 4, 1, 1}},
    {{1, 5, 5, 600, 5, 5, 18, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT}, {200, 400}}, /* pieces longer than a k block */
    {{2, 9, 7,  64, 9, 7,  3, 3, 3, 1, 1, 2, 2, 2, 2, 1, NHWC_FLAT}, {16, 32, 16}}, /* few outputs */
    {{1, 9, 7,  64, 9, 7,  1, 1, 1, 1, 1, 0, 0, 1, 1, 1, NHWC_FLAT}, {32, 32}},
    {{1, 30, 1, 24, 30, 1, 12, 3, 1, 1, 1, 1, 0, 1, 1, 1, NHWC_FLAT}, {8, 16}}, /* one pixel wide */
    {{1, 9, 9,  32, 9, 9, 16, 3, 3, 1, 1, 12, 9, 12, 9, 1, NHWC_FLAT}, {16, 16}}, /* taps in the padding */
    {{1, 21, 22, 64, 21, 22, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT}, {16, 48}}, /* Winograd */
    {{2, 13, 15, 61, 13, 15, 37, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT}, {5, 16, 7, 24, 9}},
    {{1, 29, 29, 48, 29, 29, 16, 3, 3, 1, 1, 2, 2, 2, 2, 1, NHWC_FLAT}, {16, 16, 16}},
    {{1, 13, 15, 30, 13, 15, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 5, 5, 3, 1, 1, 1}, {10, 20}},
    {{1, 6, 7,  30, 6, 7, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 4, 4, 3, 1, 1, 1}, {10, 20}}, /* three axes */
    {{1, 6, 7,  30, 6, 7, 16, 1, 1, 1, 1, 0, 0, 1, 1, 1, 4, 2, 3, 2, 1, 1}, {10, 5, 15}},
    {{0, 6, 7,  30, 6, 7, 16, 1, 1, 1, 1, 0, 0, 1, 1, 1, NHWC_FLAT}, {10, 20}},
    {{1, 6, 7,  40, 6, 7, 16, 1, 1, 1, 1, 0, 0, 1, 1, 1, NHWC_FLAT}, {40}}, /* a single one */
};
/* clang-format on */

/* Channels [first, first + channels) of all pixels. */
static holo_tensor nhwc_cut(const holo_tensor *x, int64_t first, int64_t channels)
{
    holo_tensor part = *x;
    const int last = x->rank - 1;
    part.dim[last] = channels;
    part.data = gemm_alloc(holo_tensor_bytes(&part));
    for (int64_t i = 0; i < holo_tensor_count(&part); i++)
        gemm_set(&part, i, gemm_get(x, i / channels * x->dim[last] + first + i % channels));
    return part;
}

/* The whole in double precision, with a bias and a residual. */
static void nhwc_maps_on(const hg_kernel *k, const nhwc_split *m, holo_dtype dtype)
{
    const nhwc_sizes *s = &m->s;
    gemm_call c, whole;
    gemm_code code;
    uint32_t n = 1;
    nhwc_make(&whole, s, dtype);
    c = whole;
    int64_t first = 0, maps = 0;
    for (; maps < NHWC_MAPS && m->channels[maps] != 0; first += m->channels[maps++]) {
        c.in[maps == 0 ? 0 : n] = nhwc_cut(&whole.in[0], first, m->channels[maps]);
        n++;
    }
    CHECK_EQ_INT(first, s->c);
    c.param[c.args.n_param] = maps;
    c.in[n++] = gemm_tensor(HOLO_F32, 1, (int64_t[]){s->o}, 4);
    c.in[n++] = gemm_tensor(HOLO_F32, whole.out.rank, whole.out.dim, 6);
    gemm_code_sum(&code, 2);
    gemm_connect(&c, n, c.args.n_param + 1);
    c.args.code = &code.code;
    const bool ran = gemm_run(k, &c);
    for (int64_t e = 0; ran && e < holo_tensor_count(&c.out); e++) {
        double sum_abs, sum = nhwc_oracle(&whole, s, e, &sum_abs);
        const double bias = gemm_get(&c.in[n - 2], e % s->o), more = gemm_get(&c.in[n - 1], e);
        sum += bias + more;
        sum_abs += fabs(bias) + fabs(more);
        if (!nhwc_near(k, "maps", &c, e, sum < 0 ? 0 : sum, sum_abs)) break;
    }
    free(whole.in[0].data);
    gemm_free(&c);
}

static void nhwc_maps_all(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(nhwc_splits); i++) {
        nhwc_maps_on(k, &nhwc_splits[i], HOLO_F32);
        nhwc_maps_on(k, &nhwc_splits[i], HOLO_F16);
    }
}

static void nhwc_maps(void)
{
    nhwc_maps_all(hg_kernels_conv_nhwc);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double nhwc_space[1024];

static void nhwc_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){nhwc_space, {1, 5, 6, 8}, 4, HOLO_F32};
    c->in[1] = (holo_tensor){nhwc_space, {2, 1, 36, 16}, 4, HOLO_F32};
    c->out = (holo_tensor){nhwc_space, {1, 5, 6, 6}, 4, HOLO_F32};
    const int64_t param[9] = {3, 3, 1, 1, 1, 1, 1, 1, 2};
    memcpy(c->param, param, sizeof param);
    gemm_connect(c, 2, 9);
}

#define NHWC_SPOIL(name, ...)                                                                      \
    static void nhwc_spoil_##name(gemm_call *c)                                                    \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
NHWC_SPOIL(inputs, c->args.n_in = 1)
NHWC_SPOIL(params, c->args.n_param = 8)
NHWC_SPOIL(type_x, c->in[0].dtype = HOLO_F16)
NHWC_SPOIL(type_w, c->in[1].dtype = HOLO_F64)
NHWC_SPOIL(type_out, c->out.dtype = HOLO_F16)
NHWC_SPOIL(out_string, c->out.dtype = HOLO_STRING)
NHWC_SPOIL(rank_x, c->in[0].rank = 3)
NHWC_SPOIL(rank_w, c->in[1].rank = 3)
NHWC_SPOIL(rank_out, c->out.rank = 5)
NHWC_SPOIL(kernel_h, c->param[0] = 0)
NHWC_SPOIL(kernel_w, c->param[1] = INT64_C(1) << 31)
NHWC_SPOIL(stride_h, c->param[2] = 0)
NHWC_SPOIL(stride_w, c->param[3] = -1)
NHWC_SPOIL(pad_top, c->param[4] = INT64_C(1) << 31)
NHWC_SPOIL(pad_left, c->param[5] = -(INT64_C(1) << 31))
NHWC_SPOIL(dil_h, c->param[6] = 0)
NHWC_SPOIL(dil_w, c->param[7] = INT64_MAX)
NHWC_SPOIL(groups, c->param[8] = 0)
NHWC_SPOIL(groups_c, c->in[0].dim[3] = 9)
NHWC_SPOIL(groups_o, c->out.dim[3] = 5)
NHWC_SPOIL(images, c->out.dim[0] = 2)
NHWC_SPOIL(reach, c->out.dim[1] = INT64_C(1) << 40; c->out.dim[3] = 0; c->in[1].dim[1] = 0;
           c->param[2] = 1 << 30)
NHWC_SPOIL(k, c->param[0] = c->param[1] = INT32_MAX; c->in[0].dim[3] = INT64_C(1) << 40;
           c->in[0].dim[0] = c->out.dim[0] = 0)
NHWC_SPOIL(dim_groups, c->in[1].dim[0] = 1)
NHWC_SPOIL(dim_panels, c->out.dim[3] = 40)
NHWC_SPOIL(dim_k, c->param[0] = 2)
NHWC_SPOIL(dim_16, c->in[1].dim[3] = 8)
NHWC_SPOIL(extra, c->args.n_in = 3)
NHWC_SPOIL(deep_params, c->in[0].rank = 5)
NHWC_SPOIL(deep_rank, c->in[0].rank = 5; c->args.n_param = 13)
NHWC_SPOIL(deep_kernel, c->in[0].rank = c->out.rank = 5; c->args.n_param = 13; c->param[0] = 0)
NHWC_SPOIL(deep_k, c->in[0] = (holo_tensor){nhwc_space, {0, 5, 5, 6, 8}, 5, HOLO_F32};
           c->out = (holo_tensor){nhwc_space, {0, 5, 5, 6, 6}, 5, HOLO_F32};
           for (int i = 0; i < 13; i++) c->param[i] = i < 3 ? INT32_MAX : 1; c->args.n_param = 13)
#undef NHWC_SPOIL

static const gemm_bad nhwc_bad[] = {
    {"inputs, expected at least 2", nhwc_spoil_inputs, HOLO_E_FORMAT},
    {"parameters", nhwc_spoil_params, HOLO_E_FORMAT},
    {"input 0 has type", nhwc_spoil_type_x, HOLO_E_TYPE},
    {"input 1 has type", nhwc_spoil_type_w, HOLO_E_TYPE},
    {"output has type", nhwc_spoil_type_out, HOLO_E_TYPE},
    {"output 0 has type", nhwc_spoil_out_string, HOLO_E_TYPE},
    {"input has rank", nhwc_spoil_rank_x, HOLO_E_SHAPE},
    {"packed weights has rank", nhwc_spoil_rank_w, HOLO_E_SHAPE},
    {"output has rank", nhwc_spoil_rank_out, HOLO_E_SHAPE},
    {"kernel height", nhwc_spoil_kernel_h, HOLO_E_ARG},
    {"kernel width", nhwc_spoil_kernel_w, HOLO_E_ARG},
    {"stride is 0", nhwc_spoil_stride_h, HOLO_E_ARG},
    {"stride is -1", nhwc_spoil_stride_w, HOLO_E_ARG},
    {"padding is 2147483648", nhwc_spoil_pad_top, HOLO_E_ARG},
    {"padding is -2147483648", nhwc_spoil_pad_left, HOLO_E_ARG},
    {"dilation is 0", nhwc_spoil_dil_h, HOLO_E_ARG},
    {"dilation is 9223372036854775807", nhwc_spoil_dil_w, HOLO_E_ARG},
    {"groups is 0", nhwc_spoil_groups, HOLO_E_ARG},
    {"do not divide 9 input", nhwc_spoil_groups_c, HOLO_E_SHAPE},
    {"do not divide 5 output", nhwc_spoil_groups_o, HOLO_E_SHAPE},
    {"output has 2 images", nhwc_spoil_images, HOLO_E_SHAPE},
    {"with stride 1073741824 is too large", nhwc_spoil_reach, HOLO_E_SHAPE},
    {"channels is too large", nhwc_spoil_k, HOLO_E_SHAPE},
    {"dimension 0 of the packed weights", nhwc_spoil_dim_groups, HOLO_E_SHAPE},
    {"dimension 1 of the packed weights", nhwc_spoil_dim_panels, HOLO_E_SHAPE},
    {"dimension 2 of the packed weights", nhwc_spoil_dim_k, HOLO_E_SHAPE},
    {"dimension 3 of the packed weights", nhwc_spoil_dim_16, HOLO_E_SHAPE},
    {"inputs, expected at most 2", nhwc_spoil_extra, HOLO_E_FORMAT},
    {"9 parameters, expected 13", nhwc_spoil_deep_params, HOLO_E_FORMAT},
    {"output has rank 4", nhwc_spoil_deep_rank, HOLO_E_SHAPE},
    {"kernel depth is 0", nhwc_spoil_deep_kernel, HOLO_E_ARG},
    {"channels is too large", nhwc_spoil_deep_k, HOLO_E_SHAPE},
};

/* Two maps of 3 and 5 channels. */
static void nhwc_good_maps(gemm_call *c)
{
    nhwc_good(c);
    c->in[0].dim[3] = 3;
    c->in[1] = (holo_tensor){nhwc_space, {1, 1, 72, 16}, 4, HOLO_F32};
    c->in[2] = (holo_tensor){nhwc_space, {1, 5, 6, 5}, 4, HOLO_F32};
    c->param[8] = 1;
    c->param[9] = 2;
    gemm_connect(c, 3, 10);
}

#define NHWC_SPOIL(name, ...)                                                                      \
    static void nhwc_spoil_maps_##name(gemm_call *c)                                               \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
NHWC_SPOIL(groups, c->param[8] = 2)
NHWC_SPOIL(none, c->param[9] = 0)
NHWC_SPOIL(many, c->param[9] = 17)
NHWC_SPOIL(missing, c->param[9] = 3)
NHWC_SPOIL(type, c->in[2].dtype = HOLO_F16)
NHWC_SPOIL(rank, c->in[2].rank = 3)
NHWC_SPOIL(size, c->in[2].dim[1] = 4)
NHWC_SPOIL(empty, c->in[2].dim[3] = 0)
NHWC_SPOIL(first, c->in[0].dim[3] = 0)
NHWC_SPOIL(depth, c->in[2].dim[3] = 6)
#undef NHWC_SPOIL

static const gemm_bad nhwc_bad_maps[] = {
    {"groups is 2", nhwc_spoil_maps_groups, HOLO_E_ARG},
    {"maps is 0", nhwc_spoil_maps_none, HOLO_E_ARG},
    {"maps is 17", nhwc_spoil_maps_many, HOLO_E_ARG},
    {"inputs, expected at least 4", nhwc_spoil_maps_missing, HOLO_E_FORMAT},
    {"input 2 has type", nhwc_spoil_maps_type, HOLO_E_TYPE},
    {"a map has rank 3", nhwc_spoil_maps_rank, HOLO_E_SHAPE},
    {"dimension 1 of map 1 is 4, expected 5", nhwc_spoil_maps_size, HOLO_E_SHAPE},
    {"map 1 has no channels", nhwc_spoil_maps_empty, HOLO_E_SHAPE},
    {"map 0 has no channels", nhwc_spoil_maps_first, HOLO_E_SHAPE},
    {"dimension 2 of the packed weights", nhwc_spoil_maps_depth, HOLO_E_SHAPE},
};

static void nhwc_refuses(void)
{
    gemm_refuse(hg_kernels_conv_nhwc, nhwc_good, nhwc_bad, HG_COUNT(nhwc_bad));
    gemm_refuse(hg_kernels_conv_nhwc, nhwc_good_maps, nhwc_bad_maps, HG_COUNT(nhwc_bad_maps));
}

static void nhwc_cost_counts(void)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    nhwc_good(&c);
    hg_cost cost = {0};
    hg_kernels_conv_nhwc->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 5 * 6 * 6 * 36, 0);
}

/* ---- tuned ------------------------------------------------------------------------------- */

#if defined(TUNED)
static nhwc_sizes nhwc_random(uint32_t *seed)
{
    nhwc_sizes s = {.n = gemm_size(seed, 1, 2), .h = gemm_size(seed, 1, 14)};
    s.w = gemm_size(seed, 1, 14);
    s.groups = gemm_random(seed) % 3 == 0 ? gemm_size(seed, 1, 4) : 1;
    s.c = s.groups * gemm_size(seed, 1, gemm_random(seed) % 3 == 0 ? 90 : 12);
    s.o = s.groups * gemm_size(seed, 1, gemm_random(seed) % 2 == 0 ? 40 : 9);
    s.kh = gemm_size(seed, 1, 5);
    s.kw = gemm_size(seed, 1, 5);
    s.stride_h = gemm_size(seed, 1, 3);
    s.stride_w = gemm_size(seed, 1, 3);
    s.pad_top = gemm_size(seed, -2, 4);
    s.pad_left = gemm_size(seed, -2, 4);
    s.dil_h = gemm_size(seed, 1, 2);
    s.dil_w = gemm_size(seed, 1, 2);
    s.oh = gemm_size(seed, 1, 16);
    s.ow = gemm_size(seed, 1, 16);
    return s;
}

/* A third axis. */
static void nhwc_deepen(nhwc_sizes *s, uint32_t *seed)
{
    s->d = gemm_size(seed, 1, 6);
    s->od = gemm_size(seed, 1, 6);
    s->kd = gemm_size(seed, 1, 4);
    s->stride_d = gemm_size(seed, 1, 2);
    s->pad_front = gemm_size(seed, -1, 3);
    s->dil_d = gemm_size(seed, 1, 2);
    s->h = s->w = hg_min(s->h, s->w);
}

static void nhwc_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    nhwc_table_on(TUNED(conv_nhwc));
    nhwc_epilogue_cases(TUNED(conv_nhwc));
    nhwc_maps_all(TUNED(conv_nhwc));
    uint32_t seed = 5;
    for (int i = 0; i < 400; i++) {
        nhwc_sizes s = nhwc_random(&seed);
        char what[40];
        if (i >= 300) nhwc_deepen(&s, &seed);
        snprintf(what, sizeof what, "random %d", i);
        nhwc_try(TUNED(conv_nhwc), what, &s, i % 2 ? HOLO_F16 : HOLO_F32);
    }
}

/* Sizes for which tiles, panels, channels and blocks have every kind of rest. */
static void nhwc_winograd(void)
{
    static const nhwc_sizes sizes[] = {
        {1, 16, 16, 16, 16, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {2, 13, 15, 21, 13, 15, 37, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {1, 9, 90, 12, 7, 88, 12, 3, 3, 1, 1, 0, 0, 1, 1, 1, NHWC_FLAT},
        {1, 30, 31, 150, 30, 31, 24, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {1, 8, 8, 300, 10, 12, 40, 3, 3, 1, 1, 2, 3, 1, 1, 1, NHWC_FLAT},
        {3, 6, 6, 33, 6, 6, 136, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT},
        {1, 70, 66, 13, 60, 60, 17, 3, 3, 1, 1, -4, -5, 1, 1, 1, NHWC_FLAT},
        {1, 40, 36, 48, 40, 36, 72, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT}, /* pairs of panels */
        {1, 12, 12, 32, 12, 12, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1, NHWC_FLAT}, /* and none of two */
        {1, 29, 29, 16, 29, 29, 16, 3, 3, 1, 1, 2, 2, 2, 2, 1, NHWC_FLAT}, /* grids */
        {2, 33, 21, 12, 33, 20, 14, 3, 3, 1, 1, 4, 3, 4, 3, 1, NHWC_FLAT},
        {1, 33, 33, 12, 33, 33, 12, 3, 3, 1, 1, 1, 16, 1, 16, 1, NHWC_FLAT},
        {1, 20, 20, 64, 20, 20, 64, 3, 3, 1, 1, 1, 1, 1, 1, 4, NHWC_FLAT}, /* groups */
        {2, 19, 18, 60, 19, 18, 96, 3, 3, 1, 1, 1, 1, 1, 1, 3, NHWC_FLAT},
        {1, 20, 21, 300, 18, 19, 32, 3, 3, 1, 1, 0, 0, 1, 1, 2, NHWC_FLAT},
        {1, 29, 29, 26, 29, 29, 32, 3, 3, 1, 1, 2, 2, 2, 2, 2, NHWC_FLAT},
        {1, 20, 20, 48, 20, 20, 48, 3, 3, 1, 1, 1, 1, 1, 1, 2, NHWC_FLAT}, /* no whole panels */
        {1, 12, 12, 32, 12, 12, 32, 3, 3, 1, 1, 1, 1, 1, 1, 2, NHWC_FLAT}, /* few tiles */
        {1, 13, 15, 42, 13, 15, 48, 3, 3, 1, 1, 1, 1, 1, 1, 3, 5, 3, 3, 1, 0, 1},
        {1, 14, 13, 12, 14, 13, 14, 3, 3, 1, 1, 2, 1, 2, 1, 1, 3, 3, 3, 1, 1, 1},
        {1, 16, 16, 16, 16, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 9, 9, 3, 1, 1, 1},
        {2, 13, 15, 21, 13, 15, 37, 3, 3, 1, 1, 1, 1, 1, 1, 1, 5, 3, 3, 1, 0, 1},
        {1, 9, 90, 12, 7, 88, 12, 3, 3, 1, 1, 0, 0, 1, 1, 1, 7, 7, 3, 1, 1, 1}, /* many parts */
        {1, 6, 6, 150, 6, 6, 24, 3, 3, 1, 1, 1, 1, 1, 1, 1, 6, 6, 5, 1, 2, 1},
        {1, 6, 400, 12, 6, 400, 12, 3, 3, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 1, 1, 1}, /* too wide */
        {3, 6, 6, 33, 6, 6, 50, 3, 3, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1},
    };
    if (!tuned_runs()) SKIP("no tuned kernels");
    const hg_kernel *k = TUNED(conv_winograd);
    nhwc_table_on(k);
    nhwc_epilogue_cases(k);
    nhwc_maps_all(k);
    for (size_t i = 0; i < HG_COUNT(sizes); i++) {
        nhwc_try(k, "winograd", &sizes[i], HOLO_F32);
        nhwc_try(k, "winograd", &sizes[i], HOLO_F16);
        nhwc_epilogue_on(k, &sizes[i], HOLO_F32);
    }
    uint32_t seed = 9;
    for (int i = 0; i < 120; i++) {
        nhwc_sizes s = nhwc_random(&seed);
        if (i >= 60) nhwc_deepen(&s, &seed);
        if (i >= 90) s.stride_d = 1;
        s.kh = s.kw = 3;
        s.stride_h = s.stride_w = 1;
        s.groups = gemm_size(&seed, 1, 3);
        s.c = (s.c + 11) * s.groups;
        s.o = s.groups == 1 ? s.o + 11 : 16 * s.groups * gemm_size(&seed, 1, 3);
        nhwc_try(k, "winograd random", &s, i % 2 ? HOLO_F16 : HOLO_F32);
    }
    gemm_refuse(k, nhwc_good, nhwc_bad, HG_COUNT(nhwc_bad));
}

static void nhwc_tuned_refuses(void)
{
    gemm_refuse(TUNED(conv_nhwc), nhwc_good, nhwc_bad, HG_COUNT(nhwc_bad));
}
#endif

const hg_test_case hg_tests_kernel_conv_nhwc[] = {
    {"matches_oracle", nhwc_matches_oracle},
    {"exact_bits", nhwc_exact_bits},
    {"epilogue", nhwc_epilogue},
    {"maps", nhwc_maps},
    {"refuses", nhwc_refuses},
    {"cost", nhwc_cost_counts},
#if defined(TUNED)
    {"tuned", nhwc_tuned},
    {"tuned_refuses", nhwc_tuned_refuses},
    {"tuned_winograd", nhwc_winograd},
#endif
    {0},
};
