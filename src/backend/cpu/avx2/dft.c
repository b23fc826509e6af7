/* dft.c - kernels "dft" and "stft" on AVX2: eight transforms of complex floats side by side, or
 * four in f64 (fft_lanes.inc). The same bits as the reference kernel, which does what is left:
 * long lines, lengths with large prime factors, floats of 16 bits, complex signals in frames. */
#include "kernel/fft.h"

#include "backend/cpu/vec8.h"

extern const hg_kernel hg_kernels_dft[];

enum {
    DFT_MOST = 8,          /* lanes */
    DFT_LONGEST = 1 << 16, /* lines whose lanes take no more than 8 MB */
    DFT_DFT = 0,           /* places in the reference's table */
    DFT_STFT = 1
};

/* Lines that are transformed together. */
typedef struct dft_lines {
    const holo_tensor *x, *y;
    int64_t from[DFT_MOST], to[DFT_MOST]; /* their first elements */
    int64_t used[DFT_MOST];               /* numbers of a line that are read, zeros follow */
    int64_t from_step, to_step;           /* elements from number to number */
    int64_t parts_in, parts_out, bins;    /* of a number; numbers that are written */
    int lanes, count;                     /* count of them exist, the last stands in for others */
    bool is_side;                         /* numbers of all lines lie side by side */
} dft_lines;

static bool dft_is_f32(const holo_tensor *t)
{
    return t->dtype == HOLO_F32;
}

/* Part `part` of number k of each line, in f64. */
static void dft_take(const dft_lines *l, int64_t k, int64_t part, double to[DFT_MOST])
{
    for (int i = 0; i < l->lanes; i++) {
        const int64_t at = l->from[i] + k * l->from_step + part;
        to[i] = k >= l->used[i]    ? 0
                : dft_is_f32(l->x) ? (double)((const float *)l->x->data)[at]
                                   : ((const double *)l->x->data)[at];
    }
}

static void dft_give(const dft_lines *l, int64_t k, int64_t part, const double from[DFT_MOST])
{
    for (int i = 0; i < l->count; i++) {
        const int64_t at = l->to[i] + k * l->to_step + part;
        if (dft_is_f32(l->y))
            ((float *)l->y->data)[at] = (float)from[i];
        else
            ((double *)l->y->data)[at] = from[i];
    }
}

/* How a line is read before it is transformed. */
typedef struct dft_how {
    bool inverse, from_half;   /* half: the second half of the spectrum mirrors the first */
    const holo_tensor *window; /* NULL: none */
    void *work[2];
} dft_how;

/* ---- eight lines of complex floats ----------------------------------------------------------- */

#define LANES_NAME(stem) dft32_##stem
#define LANES_T float
#define LANES_V __m256
#define LANES_OP(name) _mm256_##name##_ps
#define LANES_TAKE dft32_take
#define LANES_GIVE dft32_give
#include "backend/cpu/avx2/fft_lanes.inc"

static dft32_complex dft32_take(const dft_lines *l, int64_t k)
{
    if (l->is_side && k < l->used[0]) {
        const float *x = (const float *)l->x->data + l->from[0] + k * l->from_step;
        const __m256 a = _mm256_loadu_ps(x), b = _mm256_loadu_ps(x + 8);
        const __m256d re = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
        const __m256d im = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
        return (dft32_complex){_mm256_castpd_ps(_mm256_permute4x64_pd(re, 0xd8)),
                               _mm256_castpd_ps(_mm256_permute4x64_pd(im, 0xd8))};
    }
    double part[2][DFT_MOST];
    __m256 v[2];
    for (int i = 0; i < 2; i++) {
        dft_take(l, k, i, part[i]);
        v[i] = _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(part[i] + 4)),
                               _mm256_cvtpd_ps(_mm256_loadu_pd(part[i])));
    }
    return (dft32_complex){v[0], v[1]};
}

static void dft32_give(const dft_lines *l, int64_t k, dft32_complex v)
{
    if (l->is_side && l->count == 8 && l->parts_out == 2) {
        float *y = (float *)l->y->data + l->to[0] + k * l->to_step;
        const __m256 a = _mm256_unpacklo_ps(v.re, v.im), b = _mm256_unpackhi_ps(v.re, v.im);
        _mm256_storeu_ps(y, _mm256_permute2f128_ps(a, b, 0x20));
        _mm256_storeu_ps(y + 8, _mm256_permute2f128_ps(a, b, 0x31));
        return;
    }
    const __m256 part[2] = {v.re, v.im};
    double to[DFT_MOST] = {0};
    for (int i = 0; i < (int)l->parts_out; i++) {
        _mm256_storeu_pd(to, _mm256_cvtps_pd(_mm256_castps256_ps128(part[i])));
        _mm256_storeu_pd(to + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(part[i], 1)));
        dft_give(l, k, i, to);
    }
}

#include "backend/cpu/avx2/dft_lanes.inc"
#undef LANES_NAME
#undef LANES_T
#undef LANES_V
#undef LANES_OP
#undef LANES_TAKE
#undef LANES_GIVE

/* ---- four lines in f64 ----------------------------------------------------------------------- */

#define LANES_NAME(stem) dft64_##stem
#define LANES_T double
#define LANES_V __m256d
#define LANES_OP(name) _mm256_##name##_pd
#define LANES_TAKE dft64_take
#define LANES_GIVE dft64_give
#include "backend/cpu/avx2/fft_lanes.inc"

static dft64_complex dft64_take(const dft_lines *l, int64_t k)
{
    const __m256d none = _mm256_setzero_pd();
    if (l->is_side && k < l->used[0] && l->parts_in == 1 && dft_is_f32(l->x)) {
        const float *x = (const float *)l->x->data + l->from[0] + k * l->from_step;
        return (dft64_complex){_mm256_cvtps_pd(_mm_loadu_ps(x)), none};
    }
    double part[2][DFT_MOST];
    dft_take(l, k, 0, part[0]);
    if (l->parts_in == 1) return (dft64_complex){_mm256_loadu_pd(part[0]), none};
    dft_take(l, k, 1, part[1]);
    return (dft64_complex){_mm256_loadu_pd(part[0]), _mm256_loadu_pd(part[1])};
}

static void dft64_give(const dft_lines *l, int64_t k, dft64_complex v)
{
    if (l->is_side && l->count == 4 && l->parts_out == 2 && dft_is_f32(l->y)) {
        float *y = (float *)l->y->data + l->to[0] + k * l->to_step;
        const __m128 re = _mm256_cvtpd_ps(v.re), im = _mm256_cvtpd_ps(v.im);
        _mm_storeu_ps(y, _mm_unpacklo_ps(re, im));
        _mm_storeu_ps(y + 4, _mm_unpackhi_ps(re, im));
        return;
    }
    const __m256d part[2] = {v.re, v.im};
    double to[DFT_MOST] = {0};
    for (int i = 0; i < (int)l->parts_out; i++) {
        _mm256_storeu_pd(to, part[i]);
        dft_give(l, k, i, to);
    }
}

#include "backend/cpu/avx2/dft_lanes.inc"
#undef LANES_NAME
#undef LANES_T
#undef LANES_V
#undef LANES_OP
#undef LANES_TAKE
#undef LANES_GIVE

/* ---- steps ------------------------------------------------------------------------------------
 */

/* Whether numbers of all lanes, `parts` each, lie side by side. */
static bool dft_is_side(const int64_t *at, int lanes, int64_t parts)
{
    bool is_side = true;
    for (int i = 1; i < lanes; i++)
        is_side = is_side && at[i] == at[0] + i * parts;
    return is_side;
}

/* Bytes of one of two places for all lanes of a transform. */
static size_t dft_work_bytes(int64_t n)
{
    return (size_t)n * sizeof(dft64_complex);
}

static size_t dft_reference_scratch(const hg_args *a, int which)
{
    return hg_align_up(hg_kernels_dft[which].scratch(a), HG_ALIGN);
}

/* Whether lines of length n are transformed side by side. */
static bool dft_has_lanes(int64_t n)
{
    return n <= DFT_LONGEST && hg_fft_is_direct(n);
}

/* The reference's scratch, which has room for all that hg_fft_init needs, then lanes. */
static size_t dft_lanes_scratch(const hg_args *a, int which, int64_t n)
{
    const size_t reference = dft_reference_scratch(a, which);
    return reference == 0 || !dft_has_lanes(n) ? reference : reference + 2 * dft_work_bytes(n);
}

/* What a step is: lines [begin, end) are found with `point`. */
typedef struct dft_step {
    const hg_args *a;
    int which;
    int64_t n;
    bool is_wide; /* in f64 */
    void (*point)(const hg_args *a, int64_t line, int i, dft_lines *l);
} dft_step;

static void dft_step_run(const dft_step *s, dft_lines *l, dft_how *how, hg_range r)
{
    hg_fft f;
    if (r.end - r.begin < 2 || !dft_has_lanes(s->n)) {
        hg_kernels_dft[s->which].run(s->a, r);
        return;
    }
    hg_fft_init(&f, s->a, s->n, s->is_wide, r.scratch);
    l->lanes = s->is_wide ? 4 : 8;
    how->work[0] = (char *)r.scratch + dft_reference_scratch(s->a, s->which);
    how->work[1] = (char *)how->work[0] + dft_work_bytes(s->n);
    for (int64_t line = r.begin; line < r.end; line += l->lanes) {
        if (hg_args_stopped(s->a)) return;
        l->count = (int)hg_min(l->lanes, r.end - line);
        for (int i = 0; i < l->lanes; i++)
            s->point(s->a, line + hg_min(i, l->count - 1), i, l);
        l->is_side = dft_is_side(l->from, l->lanes, l->parts_in) &&
                     dft_is_side(l->to, l->lanes, l->parts_out) &&
                     dft_is_side(l->used, l->lanes, 0);
        (s->is_wide ? dft64_run : dft32_run)(&f, l, how);
    }
}

/* ---- dft ------------------------------------------------------------------------------------- */

static holo_status dft_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_kernels_dft[DFT_DFT].check(a, e));
    return hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64));
}

static size_t dft_scratch(const hg_args *a)
{
    return dft_lanes_scratch(a, DFT_DFT, a->param[3]);
}

static void dft_point(const hg_args *a, int64_t line, int i, dft_lines *l)
{
    const int axis = (int)a->param[0];
    const int64_t inner = hg_dims_product(l->y, axis + 1, l->y->rank - 1);
    l->from[i] = (line / inner * l->x->dim[axis] * inner + line % inner) * l->parts_in;
    l->to[i] = (line / inner * l->y->dim[axis] * inner + line % inner) * l->parts_out;
    l->used[i] = hg_min(l->x->dim[axis], a->param[3]);
    l->from_step = inner * l->parts_in;
    l->to_step = inner * l->parts_out;
}

static void dft_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    dft_lines l = {.x = x,
                   .y = y,
                   .parts_in = x->dim[x->rank - 1],
                   .parts_out = y->dim[y->rank - 1],
                   .bins = y->dim[a->param[0]]};
    dft_how how = {.inverse = a->param[1] != 0, .from_half = a->param[1] != 0 && a->param[2] != 0};
    const dft_step s = {.a = a,
                        .which = DFT_DFT,
                        .n = a->param[3],
                        .is_wide = x->dtype == HOLO_F64 || l.parts_in == 1,
                        .point = dft_point};
    dft_step_run(&s, &l, &how, r);
}

/* ---- stft: real signals ---------------------------------------------------------------------- */

static holo_status dft_stft_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_kernels_dft[DFT_STFT].check(a, e));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64)));
    HG_REQUIRE(e, a->in[0].dim[2] == 1, HOLO_E_UNSUPPORTED,
               "the signal is complex, expected a real one");
    return HOLO_OK;
}

static size_t dft_stft_scratch(const hg_args *a)
{
    return dft_lanes_scratch(a, DFT_STFT, a->param[1]);
}

static void dft_stft_point(const hg_args *a, int64_t line, int i, dft_lines *l)
{
    const int64_t frames = l->y->dim[1], begin = line % frames * a->param[0];
    const int64_t width = hg_args_has(a, 1) ? a->in[1].dim[0] : a->param[1];
    l->from[i] = line / frames * l->x->dim[1] + begin;
    l->to[i] = line * 2 * l->bins;
    l->used[i] = hg_min(hg_min(width, a->param[1]), hg_max(0, l->x->dim[1] - begin));
    l->from_step = 1;
    l->to_step = 2;
}

static void dft_stft_run(const hg_args *a, hg_range r)
{
    dft_lines l = {
        .x = &a->in[0], .y = &a->out[0], .parts_in = 1, .parts_out = 2, .bins = a->out[0].dim[2]};
    dft_how how = {.window = hg_args_has(a, 1) ? &a->in[1] : NULL};
    const dft_step s = {
        .a = a, .which = DFT_STFT, .n = a->param[1], .is_wide = true, .point = dft_stft_point};
    dft_step_run(&s, &l, &how, r);
}

static int64_t dft_units(const hg_args *a)
{
    return hg_kernels_dft[DFT_DFT].units(a);
}

static int64_t dft_stft_units(const hg_args *a)
{
    return hg_kernels_dft[DFT_STFT].units(a);
}

const hg_kernel hg_kernels_dft_avx2[] = {
    {.name = "dft",
     .flags = HG_KERNEL_ASKS,
     .cpu = HG_CPU_AVX2,
     .check = dft_check,
     .units = dft_units,
     .scratch = dft_scratch,
     .cost = hg_dft_cost,
     .run = dft_run},
    {.name = "stft",
     .flags = HG_KERNEL_ASKS,
     .cpu = HG_CPU_AVX2,
     .check = dft_stft_check,
     .units = dft_stft_units,
     .scratch = dft_stft_scratch,
     .cost = hg_stft_cost,
     .run = dft_stft_run},
    {0},
};
