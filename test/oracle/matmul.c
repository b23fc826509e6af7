/* matmul.c - products of matrices, of floats, integers and quantized numbers; Einsum, Det. */
#include "oracle/oracle.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- sums of products --------------------------------------------------------------------------
 */

/* In any order: the error is bounded by the sum of magnitudes. */
typedef struct matmul_sum {
    wide value;
    long double size;
    int64_t n;
} matmul_sum;

static void matmul_add(matmul_sum *s, holo_dtype type, const wide *a, const wide *b)
{
    if (ora_is_float(type)) {
        s->value.re += a->re * b->re;
        s->size += fabsl(a->re * b->re);
    } else {
        s->value.i = ora_wrap(type, s->value.i + a->i * b->i);
    }
    s->n++;
}

static wide matmul_done(const matmul_sum *s, holo_dtype type)
{
    wide w = s->value;
    if (ora_is_float(type) && isfinite(s->size))
        w.tol = (long double)(s->n + 2) * ora_eps(type) * s->size + LDBL_MIN;
    return w;
}

static ora *matmul_input(holo_dtype type, const char *dims, uint32_t seed)
{
    return ora_make(type, dims, ora_is_float(type) ? ORA_UNIT : ORA_SMALL, seed);
}

/* ---- MatMul ------------------------------------------------------------------------------------
 */

/* Shapes by numpy's rule: a vector is a row on the left, a column on the right, and goes again. */
static ora *matmul_shape(const ora *a, const ora *b, holo_dtype type)
{
    int64_t dim[HOLO_MAX_RANK];
    const int ra = a->rank < 2 ? 2 : a->rank, rb = b->rank < 2 ? 2 : b->rank;
    const int batch = (ra > rb ? ra : rb) - 2;
    int rank = batch;
    for (int d = 0; d < batch; d++) {
        const int p = d - batch + ra - 2, q = d - batch + rb - 2;
        dim[d] = p >= 0 ? a->dim[p] : 1;
        if (q >= 0 && b->dim[q] != 1) dim[d] = b->dim[q];
    }
    if (a->rank > 1) dim[rank++] = a->dim[a->rank - 2];
    if (b->rank > 1) dim[rank++] = b->dim[b->rank - 1];
    return ora_new(type, rank, dim);
}

static int64_t matmul_place(const ora *t, bool right, int batch, const int64_t *at, int64_t row,
                            int64_t column)
{
    int64_t place = 0;
    for (int d = 0; d < t->rank - 2; d++)
        place = place * t->dim[d] + (t->dim[d] == 1 ? 0 : at[batch - (t->rank - 2) + d]);
    if (t->rank > 1) place = place * t->dim[t->rank - 2] + row;
    return place * t->dim[t->rank - 1] + (t->rank == 1 && right ? row : column);
}

/* Each product of elements less their zero points (NULL: none). */
static ora *matmul_expected(const ora *a, const ora *b, holo_dtype type, const ora *za,
                            const ora *zb)
{
    ora *y = matmul_shape(a, b, type);
    const int drop = (a->rank > 1) + (b->rank > 1), batch = y->rank - drop;
    const int64_t k_size = a->dim[a->rank - 1];
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        matmul_sum sum = {.n = 0};
        ora_unravel(y, k, at);
        const int64_t row = a->rank > 1 ? at[batch] : 0;
        const int64_t column = b->rank > 1 ? at[y->rank - 1] : 0;
        for (int64_t i = 0; i < k_size; i++) {
            const wide *p = &a->v[matmul_place(a, false, batch, at, row, i)];
            const wide *q = &b->v[matmul_place(b, true, batch, at, i, column)];
            wide pz = *p, qz = *q;
            if (za != NULL) pz.i -= za->v[za->count == 1 ? 0 : row].i;
            if (zb != NULL) qz.i -= zb->v[zb->count == 1 ? 0 : column].i;
            matmul_add(&sum, type, &pz, &qz);
        }
        y->v[k] = matmul_done(&sum, type);
    }
    return y;
}

static const char *const matmul_shapes[][2] = {
    {"3,4", "4,5"},    {"4", "4"},        {"4", "4,3"},         {"3,4", "4"},
    {"2,3,4", "4,5"},  {"3,4", "2,4,5"},  {"2,1,3,4", "3,4,2"}, {"2,3,4", "2,4,1"},
    {"4", "2,4,3"},    {"2,3,4", "4"},    {"0,4", "4,2"},       {"3,0", "0,2"},
    {"3,4", "4,0"},    {"0,3,4", "4,2"},  {"1,1", "1,1"},       {"17,33", "33,19"},
    {"1,70", "70,35"}, {"5,3,1", "1,1,4"}};

static void matmul_run(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        for (uint32_t k = 0; k < sizeof matmul_shapes / sizeof *matmul_shapes; k++) {
            const ora *a = matmul_input(type, matmul_shapes[k][0], k);
            const ora *b = matmul_input(type, matmul_shapes[k][1], k + 50);
            ORA_CHECK(row->op, NULL, ORA_IN(a, b),
                      ORA_OUT(matmul_expected(a, b, type, NULL, NULL)));
        }
        if (ora_is_float(type)) {
            const ora *a = ora_of(type, "2,2", "nan 1 inf 0"), *b = ora_of(type, "2,1", "0 1");
            ORA_CHECK(row->op, NULL, ORA_IN(a, b), ORA_OUT(ora_of(type, "2,1", "nan nan")));
        } else {
            const ora *a = ora_make(type, "5,6", ORA_EDGE, 0),
                      *b = ora_make(type, "6,5", ORA_EDGE, 3);
            ORA_CHECK(row->op, NULL, ORA_IN(a, b),
                      ORA_OUT(matmul_expected(a, b, type, NULL, NULL)));
        }
    }
}

static void matmul_integer(const ora_row *row)
{
    ORA_EACH_TYPE(ta, row->op, "T1")
    ORA_EACH_TYPE(tb, row->op, "T2")
    {
        for (uint32_t k = 0; k < sizeof matmul_shapes / sizeof *matmul_shapes; k++) {
            const ora *a = ora_make(ta, matmul_shapes[k][0], ORA_EDGE, k);
            const ora *b = ora_make(tb, matmul_shapes[k][1], ORA_EDGE, k + 50);
            const ora *za = ora_of(ta, "", "3"), *zb = ora_of(tb, "", "100");
            ORA_CHECK(row->op, NULL, ORA_IN(a, b),
                      ORA_OUT(matmul_expected(a, b, HOLO_I32, NULL, NULL)));
            ORA_CHECK(row->op, NULL, ORA_IN(a, b, za, zb),
                      ORA_OUT(matmul_expected(a, b, HOLO_I32, za, zb)));
        }
        const ora *a = ora_make(ta, "3,4", ORA_EDGE, 1), *b = ora_make(tb, "4,2", ORA_EDGE, 2);
        const ora *za = ora_of(ta, "3", "1 2 127"), *zb = ora_of(tb, "2", "9 0");
        ORA_CHECK(row->op, NULL, ORA_IN(a, b, za, zb),
                  ORA_OUT(matmul_expected(a, b, HOLO_I32, za, zb)));
        ORA_CHECK(row->op, NULL, ORA_IN(a, b, NULL, zb),
                  ORA_OUT(matmul_expected(a, b, HOLO_I32, NULL, zb)));
    }
}

/* ---- QLinearMatMul -----------------------------------------------------------------------------
 */

static long double matmul_saturate(holo_dtype type, long double x)
{
    if (!ora_is_int(type)) {
        const long double most = ora_max_finite(type);
        return x > most ? most : x < -most ? -most : ora_round(type, x);
    }
    const long double r = rintl(x), low = (long double)ora_int_min(type);
    const long double high = (long double)ora_int_max(type);
    return r < low ? low : r > high ? high : r;
}

/* Scales are powers of two, so that ties are ties in every order of computing. */
static void matmul_qlinear_check(const ora_row *row, const holo_dtype *t, holo_dtype ts,
                                 const char *const *shapes)
{
    const ora *a = ora_make(t[0], shapes[0], ORA_SMALL, 1),
              *b = ora_make(t[1], shapes[1], ORA_SMALL, 2);
    const bool whole = ora_is_int(t[0]);
    const ora *sa = ora_of(ts, "", "0.5"), *sb = ora_of(ts, "", "0.25"),
              *sy = ora_of(ts, "", "0.5");
    const ora *za = ora_of(t[0], "", whole ? "2" : "0"), *zb = ora_of(t[1], "", whole ? "1" : "0");
    const ora *zy = ora_of(t[2], "", whole ? "3" : "0");
    ora *fa = ora_like(a, HOLO_F64), *fb = ora_like(b, HOLO_F64);
    for (int64_t k = 0; k < a->count; k++)
        fa->v[k].re = ora_real(t[0], &a->v[k]) - ora_real(t[0], za->v);
    for (int64_t k = 0; k < b->count; k++)
        fb->v[k].re = ora_real(t[1], &b->v[k]) - ora_real(t[1], zb->v);
    ora *sum = matmul_expected(fa, fb, HOLO_F64, NULL, NULL), *y = ora_like(sum, t[2]);
    for (int64_t k = 0; k < y->count; k++) {
        const long double q = sum->v[k].re * 0.25L;
        const long double r = whole ? rintl(q) + ora_real(t[2], zy->v) : q;
        y->v[k] = ora_wide(t[2], matmul_saturate(t[2], r));
        if (!whole && y->v[k].re == 0) y->v[k].tol = LDBL_MIN;
    }
    ORA_CHECK(row->op, NULL, ORA_IN(a, sa, za, b, sb, zb, sy, zy), ORA_OUT(y));
}

static void matmul_qlinear(const ora_row *row)
{
    static const char *const shapes[][2] = {
        {"3,4", "4,5"}, {"2,3,4", "4,2"}, {"2,3,4", "2,4,2"}, {"0,4", "4,2"}, {"9,40", "40,17"}};
    ORA_EACH_TYPE(type, row->op, "T1")
    ORA_EACH_TYPE(ts, row->op, "TS")
    for (size_t k = 0; k < 5; k++)
        matmul_qlinear_check(row, (holo_dtype[]){type, type, type}, ts, shapes[k]);
    matmul_qlinear_check(row, (holo_dtype[]){HOLO_U8, HOLO_I8, HOLO_U8}, HOLO_F32, shapes[0]);
    matmul_qlinear_check(row, (holo_dtype[]){HOLO_I8, HOLO_U8, HOLO_I8}, HOLO_F32, shapes[1]);
    matmul_qlinear_check(row, (holo_dtype[]){HOLO_U8, HOLO_U8, HOLO_I8}, HOLO_F32, shapes[4]);
}

/* ---- Gemm --------------------------------------------------------------------------------------
 */

typedef struct matmul_gemm {
    const char *a, *b, *c; /* c NULL: none */
    bool ta, tb;
    float alpha, beta;
} matmul_gemm;

static void matmul_gemm_check(const ora_row *row, holo_dtype type, const matmul_gemm *g)
{
    const ora *a = matmul_input(type, g->a, 1), *b = matmul_input(type, g->b, 2);
    const ora *c = g->c == NULL ? NULL : matmul_input(type, g->c, 3);
    const int64_t m = a->dim[g->ta], n = b->dim[!g->tb], depth = a->dim[!g->ta];
    ora *y = ora_new(type, 2, (int64_t[]){m, n});
    for (int64_t k = 0; k < y->count; k++) {
        const int64_t i = k / n, j = k % n;
        matmul_sum sum = {.n = 0};
        for (int64_t d = 0; d < depth; d++)
            matmul_add(&sum, type, &a->v[g->ta ? d * m + i : i * depth + d],
                       &b->v[g->tb ? j * depth + d : d * n + j]);
        const wide *add = c == NULL ? NULL : ora_broadcast_at(c, 2, (int64_t[]){i, j});
        if (ora_is_float(type)) {
            const long double from = add == NULL ? 0 : g->beta * add->re;
            sum.size = sum.size * fabsl((long double)g->alpha) + fabsl(from);
            sum.value.re = sum.value.re * g->alpha + from;
        } else {
            sum.value.i =
                ora_wrap(type, sum.value.i * (uint64_t)(int64_t)g->alpha +
                                   (add == NULL ? 0 : add->i * (uint64_t)(int64_t)g->beta));
        }
        sum.n += 2;
        y->v[k] = matmul_done(&sum, type);
        if (ora_is_float(type) && ora_bits(type) == 16) /* the product is rounded before the sum */
            y->v[k].tol += 2 * ora_ulp(type, sum.size);
    }
    char attrs[100];
    snprintf(attrs, sizeof attrs, "transA=%d transB=%d alpha=%.4f beta=%.4f", g->ta, g->tb,
             (double)g->alpha, (double)g->beta);
    ORA_CHECK(row->op, attrs, ORA_IN(a, b, c), ORA_OUT(y));
}

static void matmul_gemm_run(const ora_row *row)
{
    static const matmul_gemm table[] = {
        {"3,4", "4,5", "3,5", false, false, 1, 1}, {"4,3", "4,5", "5", true, false, 1, 1},
        {"3,4", "5,4", "3,1", false, true, 2, 3},  {"4,3", "5,4", "", true, true, 2, 1},
        {"3,4", "4,5", "1,5", false, false, 1, 0}, {"3,4", "4,5", NULL, false, false, 3, 1},
        {"0,4", "4,5", "5", false, false, 1, 1},   {"3,0", "0,5", "5", false, false, 1, 2},
        {"3,4", "4,0", NULL, false, false, 1, 1},  {"18,34", "34,21", "21", false, false, 1, 1},
        {"18,34", "21,34", "1", false, true, 1, 1}};
    ORA_EACH_TYPE(type, row->op, "T")
    {
        for (size_t k = 0; k < sizeof table / sizeof *table; k++)
            matmul_gemm_check(row, type, &table[k]);
        if (ora_is_float(type))
            matmul_gemm_check(row, type,
                              &(matmul_gemm){"3,4", "4,5", "5", false, false, 0.25F, 0.5F});
    }
}

/* ---- Einsum ------------------------------------------------------------------------------------
 */

typedef struct matmul_term {
    char label[HOLO_MAX_RANK + 1];
} matmul_term;

/* "...ij" of a tensor: the dots stand for A, B ... from the right. */
static const char *matmul_term_read(const char *text, int rank, matmul_term *term)
{
    int n = 0, letters = 0;
    for (const char *p = text; *p != '\0' && *p != ',' && *p != '-'; p++)
        letters += *p >= 'a' && *p <= 'z';
    for (; *text != '\0' && *text != ',' && *text != '-'; text++) {
        if (*text == '.') {
            for (int k = rank - letters; k > 0; k--)
                term->label[n++] = (char)('A' + k - 1);
            text += 2;
        } else if (*text != ' ') {
            term->label[n++] = *text;
        }
    }
    term->label[n] = '\0';
    return text;
}

static void matmul_einsum_check(const ora_row *row, holo_dtype type, const char *equation,
                                const char *out, size_t n, const char *const *dims)
{
    matmul_term term[4] = {{{0}}}, result = {{0}};
    ora_case c = {.op = row->op, .n_in = n, .n_out = 1};
    int64_t size[128] = {0};
    char used[32] = "", attrs[60];
    const char *at = equation;
    snprintf(attrs, sizeof attrs, "equation=\"%s\"", equation);
    for (size_t k = 0; k < n; k++) {
        c.in[k] = matmul_input(type, dims[k], (uint32_t)k + 1);
        at = matmul_term_read(at, c.in[k]->rank, &term[k]);
        if (*at == ',') at++;
        for (int d = 0; d < c.in[k]->rank; d++) {
            const char label = term[k].label[d];
            if (size[(int)label] <= 1) size[(int)label] = c.in[k]->dim[d];
            if (strchr(used, label) == NULL) strncat(used, &label, 1);
        }
    }
    matmul_term_read(out, 8, &result);
    int64_t dim[HOLO_MAX_RANK], total = 1;
    snprintf(result.label, sizeof result.label, "%.8s", out);
    const int rank = (int)strlen(result.label);
    for (int d = 0; d < rank; d++)
        dim[d] = size[(int)result.label[d]];
    ora *y = ora_new(type, rank, dim);
    matmul_sum *sums = ora_alloc(sizeof *sums * (size_t)(y->count + 1));
    for (const char *p = used; *p != '\0'; p++)
        total *= size[(int)*p];
    for (int64_t k = 0; k < total; k++) {
        int64_t value[128], rest = k, to[HOLO_MAX_RANK];
        wide product = ora_wide(type, 1);
        for (const char *p = used; *p != '\0'; p++) {
            value[(int)*p] = rest % size[(int)*p];
            rest /= size[(int)*p];
        }
        for (size_t j = 0; j < n; j++) {
            int64_t from[HOLO_MAX_RANK];
            for (int d = 0; d < c.in[j]->rank; d++)
                from[d] = c.in[j]->dim[d] == 1 ? 0 : value[(int)term[j].label[d]];
            const wide *x = &c.in[j]->v[ora_ravel(c.in[j], from)];
            product.re *= x->re;
            product.i *= x->i;
        }
        for (int d = 0; d < rank; d++)
            to[d] = value[(int)result.label[d]];
        const wide one = ora_wide(type, 1);
        matmul_add(&sums[ora_ravel(y, to)], type, &product, &one);
    }
    for (int64_t k = 0; k < y->count; k++) {
        sums[k].n += (int64_t)n;
        y->v[k] = matmul_done(&sums[k], type);
        if (ora_is_float(type) && ora_bits(type) == 16 && n > 1)
            y->v[k].tol += 2 * ora_ulp(type, sums[k].size);
    }
    c.attrs = attrs;
    c.out[0] = y;
    ora_check(&c);
}

/* The second text is the result with the dots written as A and B; as far as it is not in the first.
 */
static void matmul_einsum(const ora_row *row)
{
    static const struct {
        const char *equation, *out;
        size_t n;
        const char *dims[3];
    } table[] = {
        {"ij->ji", "ji", 1, {"3,4"}},
        {"ij->i", "i", 1, {"3,4"}},
        {"ij->", "", 1, {"3,4"}},
        {"ii->i", "i", 1, {"4,4"}},
        {"ii", "", 1, {"4,4"}},
        {"iji->j", "j", 1, {"3,4,3"}},
        {"i,i", "", 2, {"5", "5"}},
        {"i,j->ij", "ij", 2, {"3", "4"}},
        {"ij,jk", "ik", 2, {"3,4", "4,5"}},
        {"bij,bjk->bik", "bik", 2, {"2,3,4", "2,4,5"}},
        {"...ij,...jk->...ik", "BAik", 2, {"2,3,3,4", "3,4,2"}},
        {"...ii->...i", "Ai", 1, {"3,4,4"}},
        {"ij,jk,kl->il", "il", 3, {"2,3", "3,4", "4,2"}},
        {"bhqd,bhkd->bhqk", "bhqk", 2, {"2,2,3,4", "2,2,5,4"}},
        {" i j , j k -> k i ", "ki", 2, {"3,4", "4,2"}},
        {"ij,jk->ik", "ik", 2, {"0,4", "4,2"}},
        {"ij,jk->ik", "ik", 2, {"3,0", "0,2"}},
        {"ba", "ab", 1, {"2,3"}},
        {"ij,ij->ij", "ij", 2, {"2,3", "2,3"}},
    };
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        matmul_einsum_check(row, type, table[k].equation, table[k].out, table[k].n, table[k].dims);
}

/* ---- Det ---------------------------------------------------------------------------------------
 */

/* Elimination with pivots; the bound grows with the product of the rows' norms. */
static wide matmul_det_of(holo_dtype type, const wide *m, int64_t n)
{
    long double *a = ora_alloc(sizeof *a * (size_t)(n * n + 1)), det = 1, size = 1;
    for (int64_t i = 0; i < n; i++) {
        long double norm = 0;
        for (int64_t j = 0; j < n; j++) {
            a[i * n + j] = m[i * n + j].re;
            norm += fabsl(a[i * n + j]);
        }
        size *= norm;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t best = i;
        for (int64_t r = i; r < n; r++)
            if (fabsl(a[r * n + i]) > fabsl(a[best * n + i])) best = r;
        if (best != i) det = -det;
        for (int64_t j = 0; j < n; j++) {
            const long double t = a[i * n + j];
            a[i * n + j] = a[best * n + j];
            a[best * n + j] = t;
        }
        det *= a[i * n + i];
        if (a[i * n + i] == 0) break;
        for (int64_t r = i + 1; r < n; r++) {
            const long double f = a[r * n + i] / a[i * n + i];
            for (int64_t j = i; j < n; j++)
                a[r * n + j] -= f * a[i * n + j];
        }
    }
    return (wide){.re = det, .tol = (long double)(4 * n * n) * ora_eps(type) * size + LDBL_MIN};
}

static void matmul_det(const ora_row *row)
{
    static const char *const shapes[][2] = {{"1,1", ""},        {"3,3", ""},    {"2,4,4", "2"},
                                            {"2,1,2,2", "2,1"}, {"0,3,3", "0"}, {"9,9", ""}};
    ORA_EACH_TYPE(type, row->op, "T")
    for (uint32_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const ora *x = ora_make(type, shapes[k][0], ORA_UNIT, k);
        ora *y = ora_shape(type, shapes[k][1]);
        const int64_t n = x->dim[x->rank - 1];
        for (int64_t i = 0; i < y->count; i++)
            y->v[i] = matmul_det_of(type, x->v + i * n * n, n);
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(y));
    }
}

const ora_row ora_rows_matmul[] = {
    {"Det", matmul_det, NULL},
    {"Einsum", matmul_einsum, NULL},
    {"Gemm", matmul_gemm_run, NULL},
    {"MatMul", matmul_run, NULL},
    {"MatMulInteger", matmul_integer, NULL},
    {"QLinearMatMul", matmul_qlinear, NULL},
    {NULL, NULL, NULL},
};

static void matmul_rows(void)
{
    ora_run(ora_rows_matmul);
}

const hg_test_case hg_tests_oracle_matmul[] = {{"rows", matmul_rows}, {0}};
