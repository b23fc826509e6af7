/* conv.c - convolutions of floats, integers and quantized numbers, transposed and deformed ones. */
#include "oracle/window.h"

#include <float.h>
#include <stdio.h>

typedef struct conv_case {
    const char *x, *w; /* [n, c, ...], [m, c / group, ...] */
    int64_t group;
    bool bias;
    window_text t;
} conv_case;

static const conv_case conv_table[] = {
    {"2,3,7", "4,3,3", 1, true, {.pads = {1, 0}}},
    {"1,4,6,5", "6,2,3,2", 2, true, {.pads = {1, 0, 2, 1}, .stride = {2, 1}}},
    {"2,4,6,6", "4,1,3,3", 4, true, {.pads = {1, 1, 1, 1}}},
    {"1,3,9,8", "3,1,4,3", 3, true, {.pads = {2, 1, 1, 1}}}, /* channels that fill no vector */
    {"1,9,9,8", "9,1,3,3", 9, true, {.pads = {1, 1, 1, 1}}},
    {"1,3,9,8", "10,3,3,3", 1, true, {.pads = {1, 1, 1, 1}}},
    {"1,3,8,7", "5,3,2,3", 1, false, {.dilation = {2, 2}}},
    {"1,3,8,7", "17,3,1,1", 1, true, {.pads = {0}}},
    {"1,2,5,6", "3,2,3,3", 1, false, {.automatic = "SAME_UPPER", .stride = {2, 2}}},
    {"1,2,5,6", "3,2,2,4", 1, false, {.automatic = "SAME_LOWER", .stride = {2, 1}}},
    {"1,2,5,6", "3,2,3,3", 1, true, {.automatic = "VALID"}},
    {"1,2,4,3,5", "2,1,2,3,2", 2, true, {.pads = {0, 1, 1, 1, 1, 0}, .stride = {1, 2, 2}}},
    {"0,2,5,6", "3,2,3,3", 1, true, {.pads = {0}}},
    {"1,2,2,2", "3,2,3,3", 1, true, {.pads = {3, 3, 3, 3}}}, /* windows wholly in the padding */
};
enum { CONV_CASES = sizeof conv_table / sizeof *conv_table };

/* ---- Conv, ConvInteger, QLinearConv
 * -------------------------------------------------------------- */

/* For output element (n, m, place): the sum over inputs less xz times weights less wz[m]. */
typedef struct conv_sums {
    ora *shape; /* of the output */
    long double *sum, *size;
    int64_t terms;
} conv_sums;

static conv_sums conv_sum(const ora *x, const ora *w, const conv_case *c, const ora *xz,
                          const ora *wz)
{
    const window win = window_make(x, w->dim + 2, &c->t);
    const int64_t per = w->dim[1], m_per = w->dim[0] / c->group, places = window_size(&win);
    int64_t dim[HOLO_MAX_RANK] = {x->dim[0], w->dim[0]}, at[HOLO_MAX_RANK], from[HOLO_MAX_RANK];
    memcpy(dim + 2, win.out, sizeof win.out);
    conv_sums s = {.shape = ora_new(x->type, x->rank, dim), .terms = per * places + 2};
    s.sum = ora_alloc(sizeof *s.sum * (size_t)(s.shape->count + 1));
    s.size = ora_alloc(sizeof *s.size * (size_t)(s.shape->count + 1));
    for (int64_t k = 0; k < s.shape->count; k++) {
        ora_unravel(s.shape, k, at);
        const int64_t m = at[1], g = m / m_per;
        const long double less =
            wz == NULL ? 0 : ora_real(wz->type, &wz->v[wz->count == 1 ? 0 : m]);
        from[0] = at[0];
        for (int64_t i = 0; i < per * places; i++) {
            from[1] = g * per + i / places;
            if (!window_at(&win, at + 2, i % places, from + 2)) continue;
            const long double a = ora_real(x->type, &x->v[ora_ravel(x, from)]) -
                                  (xz == NULL ? 0 : ora_real(xz->type, xz->v));
            const long double b = ora_real(w->type, &w->v[m * per * places + i]) - less;
            s.sum[k] += a * b;
            s.size[k] += fabsl(a * b);
        }
    }
    return s;
}

static const char *conv_attrs(const ora *x, const ora *w, const conv_case *c)
{
    const window win = window_make(x, w->dim + 2, &c->t);
    char *more = ora_alloc(40);
    snprintf(more, 40, "group=%lld", (long long)c->group);
    return window_attrs(&win, &c->t, true, more);
}

/* In weights that are constant: a parameter, as models have them. */
static void conv_check(holo_dtype type, const conv_case *c, bool constant)
{
    ora *x = ora_make(type, c->x, ORA_UNIT, 1), *w = ora_make(type, c->w, ORA_UNIT, 2);
    ora *b = c->bias ? ora_make(type, "32", ORA_UNIT, 3) : NULL;
    if (b != NULL) b->dim[0] = b->count = w->dim[0];
    if (constant) ora_param(w);
    if (constant && b != NULL) ora_param(b);
    const conv_sums s = conv_sum(x, w, c, NULL, NULL);
    ora *y = ora_like(s.shape, type);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(y, k, at);
        const long double bias = b == NULL ? 0 : b->v[at[1]].re;
        y->v[k].re = s.sum[k] + bias;
        y->v[k].tol = (long double)s.terms * ora_eps(type) * (s.size[k] + fabsl(bias)) + LDBL_MIN;
        if (ora_bits(type) == 16) y->v[k].tol += ora_ulp(type, s.size[k] + fabsl(bias));
    }
    ORA_CHECK("Conv", conv_attrs(x, w, c), ORA_IN(x, w, b), ORA_OUT(y));
}

static void conv_run(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < CONV_CASES; k++) {
        conv_check(type, &conv_table[k], false);
        conv_check(type, &conv_table[k], true);
    }
}

static void conv_integer(const ora_row *row)
{
    ORA_EACH_TYPE(tx, row->op, "T1")
    ORA_EACH_TYPE(tw, row->op, "T2")
    for (size_t k = 0; k < CONV_CASES; k++)
        for (int zero = 0; zero < 3; zero++) {
            const conv_case *c = &conv_table[k];
            ora *x = ora_make(tx, c->x, ORA_EDGE, 1), *w = ora_make(tw, c->w, ORA_EDGE, 2);
            const ora *xz = zero ? ora_of(tx, "", "5") : NULL;
            ora *wz = zero == 1   ? ora_of(tw, "", "3")
                      : zero == 2 ? ora_make(tw, "32", ORA_SMALL, 9)
                                  : NULL;
            if (zero == 2) wz->dim[0] = wz->count = w->dim[0];
            if (zero == 1) ora_param(w);
            const conv_sums s = conv_sum(x, w, c, xz, wz);
            ora *y = ora_like(s.shape, HOLO_I32);
            for (int64_t i = 0; i < y->count; i++)
                y->v[i].i = ora_wrap(HOLO_I32, (uint64_t)(int64_t)s.sum[i]);
            ORA_CHECK(row->op, conv_attrs(x, w, c), ORA_IN(x, w, xz, wz), ORA_OUT(y));
        }
}

static void conv_qlinear_check(const conv_case *c, holo_dtype tx, holo_dtype tw, holo_dtype ty,
                               bool channels)
{
    ora *x = ora_make(tx, c->x, ORA_SMALL, 1), *w = ora_make(tw, c->w, ORA_SMALL, 2);
    ora *b = c->bias ? ora_make(HOLO_I32, "32", ORA_SMALL, 3) : NULL;
    ora *ws = channels ? ora_make(HOLO_F32, "32", ORA_SMALL, 9) : ora_of(HOLO_F32, "", "0.25");
    ora *wz = channels ? ora_make(tw, "32", ORA_SMALL, 9) : ora_of(tw, "", "3");
    for (int64_t k = 0; channels && k < 32; k++) {
        ws->v[k].re = ldexpl(1, (int)(k % 4) - 3); /* ties stay ties however it is computed */
        wz->v[k].i = tw == HOLO_I8 ? 0 : wz->v[k].i;
    }
    if (channels) ws->dim[0] = ws->count = wz->dim[0] = wz->count = w->dim[0];
    if (b != NULL) b->dim[0] = b->count = w->dim[0];
    const ora *xs = ora_of(HOLO_F32, "", "0.5"), *xz = ora_of(tx, "", "2");
    const ora *ys = ora_of(HOLO_F32, "", "1"), *yz = ora_of(ty, "", "7");
    const conv_sums s = conv_sum(x, w, c, xz, wz);
    ora *y = ora_like(s.shape, ty);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(y, k, at);
        const long double sum = s.sum[k] + (b == NULL ? 0 : (long double)(int64_t)b->v[at[1]].i);
        long double q = rintl(sum * 0.5L * ws->v[channels ? at[1] : 0].re) + 7;
        q = fminl(fmaxl(q, (long double)ora_int_min(ty)), (long double)ora_int_max(ty));
        y->v[k] = ora_wide(ty, q);
    }
    ora_param(ws), ora_param(wz), ora_param(w);
    ORA_CHECK("QLinearConv", conv_attrs(x, w, c), ORA_IN(x, xs, xz, w, ws, wz, ys, yz, b),
              ORA_OUT(y));
}

static void conv_qlinear(const ora_row *row)
{
    ORA_EACH_TYPE(tx, row->op, "T1")
    ORA_EACH_TYPE(tw, row->op, "T2")
    for (size_t k = 0; k < CONV_CASES; k++) {
        conv_qlinear_check(&conv_table[k], tx, tw, tx, false);
        conv_qlinear_check(&conv_table[k], tx, tw, HOLO_U8, true);
    }
}

/* ---- ConvTranspose
 * ------------------------------------------------------------------------------- */

typedef struct conv_transposed {
    const char *x, *w; /* [n, c, ...], [c, m / group, ...] */
    int64_t group;
    bool bias;
    int64_t stride[2], dilation[2], pads[4], more[2];
    const char *attrs;
} conv_transposed;

static void conv_transpose_check(holo_dtype type, const conv_transposed *c)
{
    const ora *x = ora_make(type, c->x, ORA_UNIT, 1), *w = ora_make(type, c->w, ORA_UNIT, 2);
    const int n = x->rank - 2;
    const int64_t per = w->dim[1], in_per = x->dim[1] / c->group;
    int64_t dim[HOLO_MAX_RANK] = {x->dim[0], per * c->group}, places = 1;
    for (int d = 0; d < n; d++) {
        dim[d + 2] = c->stride[d] * (x->dim[d + 2] - 1) + c->more[d] +
                     (w->dim[d + 2] - 1) * c->dilation[d] + 1 - c->pads[d] - c->pads[d + n];
        places *= w->dim[d + 2];
    }
    ora *y = ora_new(type, x->rank, dim), *b = c->bias ? ora_make(type, "32", ORA_UNIT, 3) : NULL;
    long double *size = ora_alloc(sizeof *size * (size_t)(y->count + 1));
    for (int64_t i = 0; i < x->count; i++)
        for (int64_t j = 0; j < per * places; j++) {
            int64_t at[HOLO_MAX_RANK], k = j % places;
            bool inside = true;
            ora_unravel(x, i, at);
            const int64_t channel = at[1];
            for (int d = n - 1; d >= 0; d--) {
                at[d + 2] =
                    at[d + 2] * c->stride[d] - c->pads[d] + k % w->dim[d + 2] * c->dilation[d];
                inside = inside && at[d + 2] >= 0 && at[d + 2] < dim[d + 2];
                k /= w->dim[d + 2];
            }
            if (!inside) continue;
            at[1] = channel / in_per * per + j / places;
            const long double term = x->v[i].re * w->v[channel * per * places + j].re;
            y->v[ora_ravel(y, at)].re += term;
            size[ora_ravel(y, at)] += fabsl(term);
        }
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(y, k, at);
        const long double bias = b == NULL ? 0 : b->v[at[1]].re;
        y->v[k].re += bias;
        size[k] += fabsl(bias);
        y->v[k].tol = (long double)(in_per * places + 2) * ora_eps(type) * size[k] + LDBL_MIN;
        if (ora_bits(type) == 16) y->v[k].tol += ora_ulp(type, size[k]);
    }
    if (b != NULL) b->dim[0] = b->count = dim[1];
    ORA_CHECK("ConvTranspose", c->attrs, ORA_IN(x, w, b), ORA_OUT(y));
}

static void conv_transpose(const ora_row *row)
{
    static const conv_transposed table[] = {
        {"2,3,5", "3,2,3", 1, true, {1}, {1}, {0, 0}, {0}, ""},
        {"1,4,3,4",
         "4,2,3,2",
         2,
         true,
         {2, 3},
         {1, 1},
         {1, 0, 0, 1},
         {1, 0},
         "strides=[2,3] pads=[1,0,0,1] output_padding=[1,0] group=2"},
        {"1,2,3,4", "2,3,2,2", 1, false, {1, 1}, {2, 2}, {0, 0, 0, 0}, {0, 0}, "dilations=[2,2]"},
        {"1,2,3,3",
         "2,3,3,3",
         1,
         true,
         {2, 2},
         {1, 1},
         {0, 0, 1, 1},
         {0, 0},
         "strides=[2,2] auto_pad=\"SAME_UPPER\""},
        {"1,2,3,3",
         "2,3,3,3",
         1,
         true,
         {2, 2},
         {1, 1},
         {1, 1, 0, 0},
         {0, 0},
         "strides=[2,2] auto_pad=\"SAME_LOWER\""},
        {"1,2,3,3",
         "2,1,3,3",
         1,
         false,
         {3, 3},
         {1, 1},
         {0, 0, 0, 0},
         {1, 1},
         "strides=[3,3] output_shape=[10,10]"},
        {"0,2,3,3", "2,1,3,3", 1, false, {1, 1}, {1, 1}, {0, 0, 0, 0}, {0, 0}, ""},
        {"1,4,4,4",
         "4,1,2,2",
         4,
         true,
         {2, 2},
         {1, 1},
         {0, 0, 0, 0},
         {0, 0},
         "strides=[2,2] group=4"},
    };
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        conv_transpose_check(type, &table[k]);
}

/* ---- DeformConv
 * ---------------------------------------------------------------------------------- */

static long double conv_pixel(const ora *x, int64_t n, int64_t c, int64_t row, int64_t column)
{
    if (row < 0 || column < 0 || row >= x->dim[2] || column >= x->dim[3]) return 0;
    return x->v[((n * x->dim[1] + c) * x->dim[2] + row) * x->dim[3] + column].re;
}

static long double conv_bilinear(const ora *x, int64_t n, int64_t c, long double row,
                                 long double column)
{
    const long double r = floorl(row), q = floorl(column), fr = row - r, fc = column - q;
    const int64_t i = (int64_t)r, j = (int64_t)q;
    return (1 - fr) * ((1 - fc) * conv_pixel(x, n, c, i, j) + fc * conv_pixel(x, n, c, i, j + 1)) +
           fr * ((1 - fc) * conv_pixel(x, n, c, i + 1, j) + fc * conv_pixel(x, n, c, i + 1, j + 1));
}

static void conv_deform_check(holo_dtype type, int64_t group, int64_t offset_group, bool extra,
                              const window_text *t)
{
    const ora *x = ora_make(type, "2,4,6,5", ORA_UNIT, 1);
    ora *w = ora_make(type, group == 2 ? "4,2,3,2" : "4,4,3,2", ORA_UNIT, 2);
    const window win = window_make(x, w->dim + 2, t);
    const int64_t places = 6, per = w->dim[1];
    ora *offset =
        ora_new(type, 4, (int64_t[]){2, offset_group * places * 2, win.out[0], win.out[1]});
    ora *mask = ora_new(type, 4, (int64_t[]){2, offset_group * places, win.out[0], win.out[1]});
    uint32_t state = 99;
    for (int64_t k = 0; k < offset->count; k++) /* eighths are exact in every type */
        offset->v[k].re = ((int)(ora_random(&state) % 41) - 20) / 8.0L;
    for (int64_t k = 0; k < mask->count; k++)
        mask->v[k].re = (long double)(ora_random(&state) % 9) / 8;
    const ora *bias = extra ? ora_make(type, "4", ORA_UNIT, 7) : NULL;
    ora *y = ora_new(type, 4, (int64_t[]){2, 4, win.out[0], win.out[1]});
    const int64_t area = win.out[0] * win.out[1];
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[4];
        ora_unravel(y, k, at);
        long double sum = bias == NULL ? 0 : bias->v[at[1]].re, size = fabsl(sum);
        for (int64_t i = 0; i < per * places; i++) {
            const int64_t c = at[1] / (4 / group) * per + i / places, p = i % places;
            const int64_t og = c / (4 / offset_group), place = at[2] * win.out[1] + at[3];
            const int64_t o = (at[0] * offset_group + og) * places + p;
            const long double row =
                (long double)(at[2] * win.stride[0] - win.low[0] + p / 2 * win.dilation[0]) +
                offset->v[2 * o * area + place].re;
            const long double column =
                (long double)(at[3] * win.stride[1] - win.low[1] + p % 2 * win.dilation[1]) +
                offset->v[(2 * o + 1) * area + place].re;
            const long double v = conv_bilinear(x, at[0], c, row, column) *
                                  (extra ? mask->v[o * area + place].re : 1) *
                                  w->v[at[1] * per * places + i].re;
            sum += v;
            size += fabsl(v) + 0.25L;
        }
        y->v[k] = (wide){.re = sum, .tol = 40 * ora_eps(type) * size};
        if (ora_bits(type) == 16) y->v[k].tol += ora_ulp(type, size);
    }
    char more[60];
    snprintf(more, sizeof more, "group=%lld offset_group=%lld", (long long)group,
             (long long)offset_group);
    ORA_CHECK("DeformConv", window_attrs(&win, t, true, more),
              ORA_IN(x, w, offset, bias, extra ? mask : NULL), ORA_OUT(y));
}

static void conv_deform(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        conv_deform_check(type, 1, 1, false, &(window_text){.pads = {0}});
        conv_deform_check(type, 1, 1, true, &(window_text){.pads = {1, 0, 1, 1}, .stride = {2, 1}});
        conv_deform_check(type, 2, 1, true,
                          &(window_text){.pads = {1, 1, 1, 1}, .dilation = {1, 2}});
        conv_deform_check(type, 2, 2, true, &(window_text){.pads = {0}});
    }
}

/* ---- Col2Im
 * -------------------------------------------------------------------------------------- */

static void conv_col2im_check(holo_dtype type, const char *image, const char *block,
                              const window_text *t, const char *n)
{
    const ora *shape = ora_of(HOLO_I64, n, image), *kernel = ora_of(HOLO_I64, n, block);
    int64_t dim[HOLO_MAX_RANK] = {2, 2}, size[WINDOW_MAX], columns = 1;
    for (int64_t d = 0; d < shape->count; d++) {
        dim[d + 2] = (int64_t)shape->v[d].i;
        size[d] = (int64_t)kernel->v[d].i;
    }
    ora *y = ora_new(type, (int)shape->count + 2, dim);
    const window win = window_make(y, size, t);
    for (int d = 0; d < win.n; d++)
        columns *= win.out[d];
    const int64_t places = window_size(&win);
    const ora *x = ora_make(type, "2,1,1", ORA_SMALL, 1);
    x = ora_new(type, 3, (int64_t[]){2, 2 * places, columns});
    const ora *values = ora_make(type, "999", ORA_SMALL, 5),
              *grid = ora_new(HOLO_U8, win.n, win.out);
    for (int64_t k = 0; k < x->count; k++) {
        int64_t at[HOLO_MAX_RANK], out[WINDOW_MAX];
        x->v[k] = values->v[k % 999];
        ora_unravel(grid, k % columns, out);
        at[0] = k / columns / (2 * places);
        at[1] = k / columns / places % 2;
        if (!window_at(&win, out, k / columns % places, at + 2)) continue;
        wide *to = &y->v[ora_ravel(y, at)];
        to->re += x->v[k].re;
        to->im += x->v[k].im;
        to->i = type == HOLO_BOOL ? to->i | x->v[k].i : ora_wrap(type, to->i + x->v[k].i);
        to->tol = 0x1p-400L; /* quarters add up exactly; a zero has either sign */
    }
    ORA_CHECK(
        "Col2Im", window_attrs(&win, t, false, ""),
        ORA_IN(x, ora_param(ora_of(HOLO_I64, n, image)), ora_param(ora_of(HOLO_I64, n, block))),
        ORA_OUT(y));
}

static void conv_col2im(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        if (type == HOLO_STRING) continue; /* have no sum */
        conv_col2im_check(type, "5 5", "1 5", &(window_text){.pads = {0}}, "2");
        conv_col2im_check(type, "4 5", "2 2",
                          &(window_text){.pads = {1, 0, 1, 1}, .stride = {2, 1}}, "2");
        conv_col2im_check(type, "6 6", "2 2", &(window_text){.pads = {0}, .dilation = {2, 3}}, "2");
        conv_col2im_check(type, "7", "3", &(window_text){.pads = {1, 1}}, "1");
        conv_col2im_check(type, "3 3 4", "1 2 2", &(window_text){.pads = {0}}, "3");
    }
    ora_excuse("T", 1u << HOLO_STRING);
}

const ora_row ora_rows_conv[] = {
    {"Col2Im", conv_col2im, NULL},
    {"Conv", conv_run, NULL},
    {"ConvInteger", conv_integer, NULL},
    {"ConvTranspose", conv_transpose, NULL},
    {"DeformConv", conv_deform, NULL},
    {"QLinearConv", conv_qlinear, NULL},
    {NULL, NULL, NULL},
};

static void conv_rows(void)
{
    ora_run(ora_rows_conv);
}

const hg_test_case hg_tests_oracle_conv[] = {{"rows", conv_rows}, {0}};
