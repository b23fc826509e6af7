/* pool.c - pools over windows, over everything and over regions. */
#include "oracle/window.h"

#include <float.h>
#include <stdio.h>

typedef struct pool_case {
    const char *x;
    int64_t kernel[WINDOW_MAX];
    window_text t;
} pool_case;

static const pool_case pool_table[] = {
    {"2,3,8", {3}, {.stride = {2}, .pads = {1, 0}}},
    {"2,3,6,7", {2, 3}, {.pads = {0}}},
    {"1,2,7,7", {3, 3}, {.stride = {2, 2}, .pads = {1, 1, 1, 1}}},
    {"1,2,7,6", {3, 2}, {.stride = {2, 3}, .pads = {1, 0, 1, 1}, .ceil = true}},
    {"1,2,7,6", {2, 2}, {.dilation = {2, 3}, .pads = {0}}},
    {"1,2,5,6", {3, 3}, {.stride = {2, 2}, .automatic = "SAME_UPPER"}},
    {"1,2,5,6", {2, 3}, {.stride = {2, 1}, .automatic = "SAME_LOWER"}},
    {"1,2,5,6", {2, 2}, {.stride = {2, 2}, .automatic = "VALID"}},
    {"1,2,4,3,5", {2, 2, 3}, {.stride = {1, 2, 2}, .pads = {0, 1, 1, 1, 0, 1}}},
    {"0,2,5,6", {2, 2}, {.pads = {0}}},
    {"1,1,4,4", {3, 3}, {.stride = {2, 2}, .pads = {0}, .ceil = true}},
};
enum { POOL_CASES = sizeof pool_table / sizeof *pool_table };

static ora *pool_output(const ora *x, const window *w, holo_dtype type)
{
    int64_t dim[HOLO_MAX_RANK] = {x->dim[0], x->dim[1]};
    memcpy(dim + 2, w->out, sizeof w->out);
    return ora_new(type, x->rank, dim);
}

/* ---- AveragePool, LpPool
 * ------------------------------------------------------------------------- */

/* Places of the window within input and padding: what ceil_mode adds behind does not count. */
static int64_t pool_padded(const window *w, const int64_t *out)
{
    int64_t count = 1;
    for (int d = 0; d < w->n; d++) {
        int64_t here = 0;
        for (int64_t k = 0; k < w->kernel[d]; k++) {
            const int64_t at = out[d] * w->stride[d] - w->low[d] + k * w->dilation[d];
            here += at < w->in[d] + w->high[d];
        }
        count *= here;
    }
    return count;
}

static void pool_average_check(const pool_case *c, holo_dtype type, bool include)
{
    const ora *x = ora_make(type, c->x, ORA_UNIT, 1);
    const window w = window_make(x, c->kernel, &c->t);
    ora *y = pool_output(x, &w, type);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK], from[HOLO_MAX_RANK], n = 0;
        long double sum = 0, size = 0;
        ora_unravel(y, k, at);
        memcpy(from, at, sizeof from);
        for (int64_t i = 0; i < window_size(&w); i++) {
            if (!window_at(&w, at + 2, i, from + 2)) continue;
            sum += x->v[ora_ravel(x, from)].re;
            size += fabsl(x->v[ora_ravel(x, from)].re);
            n++;
        }
        if (include) n = pool_padded(&w, at + 2);
        y->v[k].re = sum / (long double)n;
        y->v[k].tol = 30 * ora_eps(type) * size / (long double)n + LDBL_MIN;
    }
    ORA_CHECK("AveragePool", window_attrs(&w, &c->t, true, include ? "count_include_pad=1" : ""),
              ORA_IN(x), ORA_OUT(y));
}

static void pool_average(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < 2 * POOL_CASES; k++)
        pool_average_check(&pool_table[k / 2], type, k % 2);
}

static void pool_lp_check(const pool_case *c, holo_dtype type, int64_t p)
{
    const ora *x = ora_make(type, c->x, ORA_UNIT, 1);
    const window w = window_make(x, c->kernel, &c->t);
    ora *y = pool_output(x, &w, type);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK], from[HOLO_MAX_RANK];
        long double sum = 0;
        ora_unravel(y, k, at);
        memcpy(from, at, sizeof from);
        for (int64_t i = 0; i < window_size(&w); i++)
            if (window_at(&w, at + 2, i, from + 2))
                sum += powl(fabsl(x->v[ora_ravel(x, from)].re), (long double)p);
        y->v[k].re = powl(sum, 1 / (long double)p);
        y->v[k].tol = 60 * ora_eps(type) * y->v[k].re + LDBL_MIN;
        if (ora_bits(type) == 16)
            y->v[k].tol += 8 * ora_ulp(type, y->v[k].re); /* each step rounds */
    }
    char more[20];
    snprintf(more, sizeof more, "p=%lld", (long long)p);
    ORA_CHECK("LpPool", window_attrs(&w, &c->t, true, more), ORA_IN(x), ORA_OUT(y));
}

static void pool_lp(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < 3 * POOL_CASES; k++)
        pool_lp_check(&pool_table[k / 3], type, (int64_t)(k % 3) + 1);
}

/* ---- MaxPool, MaxUnpool
 * -------------------------------------------------------------------------- */

static void pool_max_check(const pool_case *c, holo_dtype type, bool column, bool edges)
{
    const ora *x = edges ? ora_make(type, c->x, ORA_EDGE, 0) : ora_make(type, c->x, ORA_SMALL, 1);
    const window w = window_make(x, c->kernel, &c->t);
    ora *y = pool_output(x, &w, type), *where = pool_output(x, &w, HOLO_I64);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK], from[HOLO_MAX_RANK], best = -1;
        ora_unravel(y, k, at);
        memcpy(from, at, sizeof from);
        for (int64_t i = 0; i < window_size(&w); i++) {
            if (!window_at(&w, at + 2, i, from + 2)) continue;
            const int64_t place = ora_ravel(x, from);
            if (best < 0 || ora_real(type, &x->v[place]) > ora_real(type, &x->v[best]))
                best = place;
        }
        y->v[k] = x->v[best];
        if (ora_is_float(type) && y->v[k].re == 0) y->v[k].tol = LDBL_MIN;
        int64_t number = best;
        if (column) { /* the last dimension changes slowest within a plane */
            ora_unravel(x, best, from);
            number = 0;
            for (int d = x->rank - 1; d >= 2; d--)
                number = number * x->dim[d] + from[d];
            for (int d = 2; d < x->rank; d++)
                from[1] =
                    d == 2 ? (from[0] * x->dim[1] + from[1]) * x->dim[d] : from[1] * x->dim[d];
            number += from[1];
        }
        where->v[k].i = (uint64_t)number;
    }
    const char *attrs = window_attrs(&w, &c->t, true, column ? "storage_order=1" : "");
    ORA_CHECK("MaxPool", attrs, ORA_IN(x), ORA_OUT(y, where));
    ORA_CHECK("MaxPool", attrs, ORA_IN(x), ORA_OUT(y));
}

static void pool_max(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < POOL_CASES; k++) {
        pool_max_check(&pool_table[k], type, false, false);
        if (k != 0 && k != 8) pool_max_check(&pool_table[k], type, true, false);
        if (!ora_is_float(type)) pool_max_check(&pool_table[k], type, false, true);
    }
}

static void pool_unpool(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    {
        const ora *x = ora_make(type, "1,2,2,2", ORA_EDGE, 0);
        ora *where = ora_of(HOLO_I64, "1,2,2,2", "5 7 13 15 16 18 24 31"),
            *y = ora_shape(type, "1,2,4,4");
        for (int64_t k = 0; k < 8; k++)
            y->v[where->v[k].i] = x->v[k];
        ORA_CHECK(row->op, "kernel_shape=[2,2] strides=[2,2]", ORA_IN(x, where), ORA_OUT(y));
        /* Numbers count in the output that the window gives: 4 x 4, the corner of what is asked
         * for. */
        ora *one = ora_of(HOLO_I64, "1,1,2,2", "5 7 13 15"), *wide_y = ora_shape(type, "1,1,5,5");
        const ora *part = ora_make(type, "1,1,2,2", ORA_SMALL, 0);
        for (int64_t k = 0; k < 4; k++)
            wide_y->v[one->v[k].i / 4 * 5 + one->v[k].i % 4] = part->v[k];
        ORA_CHECK(row->op, "kernel_shape=[2,2] strides=[2,2]",
                  ORA_IN(part, one, ora_param(ora_of(HOLO_I64, "4", "1 1 5 5"))), ORA_OUT(wide_y));
    }
    const ora *x = ora_make(HOLO_F32, "1,1,1,1", ORA_SMALL, 0);
    ORA_REFUSE("", row->op, "kernel_shape=[2,2] strides=[2,2]",
               ORA_IN(x, ora_of(HOLO_I64, "1,1,1,1", "4")), ORA_OUT(x));
}

/* ---- Global*
 * --------------------------------------------------------------------------------------- */

static void pool_global(const ora_row *row)
{
    static const char *const shapes[] = {"2,3,4,5", "2,3,7", "1,2,2,3,2", "0,3,4", "2,1,1,1"};
    const bool max = strcmp(row->op, "GlobalMaxPool") == 0,
               lp = strcmp(row->op, "GlobalLpPool") == 0;
    ORA_EACH_TYPE(type, row->op, "T")
    for (uint32_t s = 0; s < 15; s++) {
        const ora *x = ora_make(type, shapes[s / 3], ORA_UNIT, s);
        const int p = lp ? (int)(s % 3) + 1 : 1;
        int64_t dim[HOLO_MAX_RANK] = {x->dim[0], x->dim[1], 1, 1, 1, 1}, n = 1;
        for (int d = 2; d < x->rank; d++)
            n *= x->dim[d];
        ora *y = ora_new(type, x->rank, dim);
        for (int64_t k = 0; k < y->count; k++) {
            long double sum = 0, most = -INFINITY, size = 0;
            for (int64_t i = 0; i < n; i++) {
                const long double v = x->v[k * n + i].re;
                most = fmaxl(most, v);
                sum += lp ? powl(fabsl(v), p) : v;
                size += fabsl(v);
            }
            y->v[k].re = max ? most : lp ? powl(sum, 1.0L / p) : sum / (long double)n;
            y->v[k].tol = max ? 0 : (long double)(n + 30) * ora_eps(type) * size;
            if (lp && ora_bits(type) == 16) y->v[k].tol += 8 * ora_ulp(type, y->v[k].re);
        }
        char attrs[20] = "";
        if (lp) snprintf(attrs, sizeof attrs, "p=%d", p);
        ORA_CHECK(row->op, attrs, ORA_IN(x), ORA_OUT(y));
        if (!lp && s % 3 == 1) s++;
    }
}

/* ---- regions
 * --------------------------------------------------------------------------------------- */

/* Whole numbers of pixels; bins as the standard cuts them: floor of the start, ceiling of the end.
 */
static void pool_maxroi(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int scaled = 0; scaled < 2; scaled++) {
        const ora *x = ora_make(type, "2,2,6,7", ORA_UNIT, 1);
        const ora *roi = scaled ? ora_of(type, "2,5", "0 0 0 8 6 1 2 4 12 10")
                                : ora_of(type, "3,5", "0 0 0 3 3 1 1 2 5 5 0 4 4 4 4");
        ora *y = ora_new(type, 4, (int64_t[]){roi->dim[0], 2, 2, 3});
        for (int64_t k = 0; k < y->count; k++) {
            int64_t at[4];
            ora_unravel(y, k, at);
            const wide *r = roi->v + at[0] * 5;
            const long double scale = scaled ? 0.5L : 1;
            const long double x0 = roundl(r[1].re * scale), y0 = roundl(r[2].re * scale);
            const long double width = fmaxl(roundl(r[3].re * scale) - x0 + 1, 1) / 3;
            const long double height = fmaxl(roundl(r[4].re * scale) - y0 + 1, 1) / 2;
            long double most = -INFINITY;
            for (int64_t i = (int64_t)(floorl((long double)at[2] * height) + y0);
                 i < (int64_t)(ceill((long double)(at[2] + 1) * height) + y0); i++)
                for (int64_t j = (int64_t)(floorl((long double)at[3] * width) + x0);
                     j < (int64_t)(ceill((long double)(at[3] + 1) * width) + x0); j++)
                    if (i >= 0 && j >= 0 && i < 6 && j < 7)
                        most =
                            fmaxl(most, x->v[(((int64_t)r[0].re * 2 + at[1]) * 6 + i) * 7 + j].re);
            y->v[k].re = isinf(most) ? 0 : most;
        }
        ORA_CHECK(row->op, scaled ? "pooled_shape=[2,3] spatial_scale=0.5" : "pooled_shape=[2,3]",
                  ORA_IN(x, roi), ORA_OUT(y));
    }
}

typedef struct pool_align {
    bool half, max;
    int64_t ratio;
    long double scale;
} pool_align;

static long double pool_align_sample(const ora *x, int64_t plane, long double row,
                                     long double column, bool max)
{
    const long double h = (long double)x->dim[2], w = (long double)x->dim[3];
    if (row < -1 || row > h || column < -1 || column > w) return 0;
    row = fminl(fmaxl(row, 0), h - 1);
    column = fminl(fmaxl(column, 0), w - 1);
    const int64_t i = (int64_t)row, j = (int64_t)column;
    const int64_t i1 = i + 1 < x->dim[2] ? i + 1 : i, j1 = j + 1 < x->dim[3] ? j + 1 : j;
    const long double fr = row - (long double)i, fc = column - (long double)j;
    const wide *p = x->v + plane * x->dim[2] * x->dim[3];
    const long double a = (1 - fr) * (1 - fc) * p[i * x->dim[3] + j].re,
                      b = (1 - fr) * fc * p[i * x->dim[3] + j1].re,
                      c = fr * (1 - fc) * p[i1 * x->dim[3] + j].re,
                      d = fr * fc * p[i1 * x->dim[3] + j1].re;
    return max ? fmaxl(fmaxl(a, b), fmaxl(c, d)) : a + b + c + d;
}

static void pool_roialign_check(holo_dtype type, const pool_align *c)
{
    const ora *x = ora_make(type, "2,2,6,7", ORA_UNIT, 1);
    const ora *roi = ora_of(type, "4,4", "0 0 4 4 1.5 2.25 5 4.5 -2 -1 9 8 3 3 3 3");
    const ora *batch = ora_of(HOLO_I64, "4", "0 1 1 0");
    ora *y = ora_new(type, 4, (int64_t[]){4, 2, 2, 3});
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[4];
        ora_unravel(y, k, at);
        const wide *r = roi->v + at[0] * 4;
        const long double shift = c->half ? 0.5L : 0;
        const long double x0 = r[0].re * c->scale - shift, y0 = r[1].re * c->scale - shift;
        long double width = r[2].re * c->scale - shift - x0,
                    height = r[3].re * c->scale - shift - y0;
        if (!c->half) width = fmaxl(width, 1), height = fmaxl(height, 1);
        width /= 3, height /= 2;
        const int64_t nh = c->ratio > 0 ? c->ratio : (int64_t)ceill(height);
        const int64_t nw = c->ratio > 0 ? c->ratio : (int64_t)ceill(width);
        long double sum = 0, most = -INFINITY;
        for (int64_t i = 0; i < nh * nw; i++) {
            const long double row = y0 + (long double)at[2] * height +
                                    ((long double)(i / nw) + 0.5L) * height / (long double)nh;
            const long double column = x0 + (long double)at[3] * width +
                                       ((long double)(i % nw) + 0.5L) * width / (long double)nw;
            const long double v =
                pool_align_sample(x, (int64_t)batch->v[at[0]].i * 2 + at[1], row, column, c->max);
            sum += v;
            most = fmaxl(most, v);
        }
        y->v[k].re = c->max         ? (nh * nw == 0 ? 0 : most)
                     : nh * nw == 0 ? 0
                                    : sum / (long double)(nh * nw);
        y->v[k].tol = 64 * ora_eps(type);
    }
    char attrs[200];
    snprintf(attrs, sizeof attrs,
             "output_height=2 output_width=3 sampling_ratio=%lld spatial_scale=%.2Lf mode=\"%s\" "
             "coordinate_transformation_mode=\"%s\"",
             (long long)c->ratio, c->scale, c->max ? "max" : "avg",
             c->half ? "half_pixel" : "output_half_pixel");
    ORA_CHECK("RoiAlign", attrs, ORA_IN(x, roi, batch), ORA_OUT(y));
}

static void pool_roialign(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    for (int k = 0; k < 16; k++)
        pool_roialign_check(
            type, &(pool_align){k & 1, k >> 1 & 1, k >> 2 & 1 ? 2 : 0, k >> 3 ? 0.5L : 1});
    const ora *x = ora_make(HOLO_F32, "1,1,2,2", ORA_UNIT, 1);
    ORA_REFUSE("", row->op, NULL,
               ORA_IN(x, ora_of(HOLO_F32, "1,4", "0 0 1 1"), ora_of(HOLO_I64, "1", "1")),
               ORA_OUT(x));
}

const ora_row ora_rows_pool[] = {
    {"AveragePool", pool_average, NULL}, {"GlobalAveragePool", pool_global, NULL},
    {"GlobalLpPool", pool_global, NULL}, {"GlobalMaxPool", pool_global, NULL},
    {"LpPool", pool_lp, NULL},           {"MaxPool", pool_max, NULL},
    {"MaxRoiPool", pool_maxroi, NULL},   {"MaxUnpool", pool_unpool, NULL},
    {"RoiAlign", pool_roialign, NULL},   {NULL, NULL, NULL},
};

static void pool_rows(void)
{
    ora_run(ora_rows_pool);
}

const hg_test_case hg_tests_oracle_pool[] = {{"rows", pool_rows}, {0}};
