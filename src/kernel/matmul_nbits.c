/* matmul_nbits.c - matmul.nbits: C = A B with B in codes of 2, 4 or 8 bits, read as they lie.
 *
 *   in[0]  A [..., K] f32; all leading dims are rows
 *   in[1]  B [N, blocks, block * bits / 8] u8: column by column, the first code in the low bits
 *   in[2]  scales [N, blocks] f32, f16 or bf16
 *   in[3]  zero points, may be absent (2^(bits - 1)): u8 [N, ceil(blocks * bits / 8)] packed as B,
 *          or [N, blocks] f32, f16 or bf16
 *   param  bits, block (a power of two, at least 16); blocks = ceil(K / block)
 *   out[0] C [..., N] f32
 *
 * A weight is (code - zero point) * scale, each operation rounded to f32. Exact profile as in
 * matmul.c: k in order, multiply then add. A unit is HG_NBITS_COLUMNS columns of all rows. */
#include "kernel/matmul_nbits.h"

#define NBITS_FLOATS (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))

static holo_status nbits_check_2d(const holo_tensor *t, holo_error *e, const char *what, int64_t n,
                                  int64_t columns)
{
    HG_TRY(hg_check_rank(t, e, what, 2, 2));
    HG_REQUIRE(e, t->dim[0] == n && t->dim[1] == columns, HOLO_E_SHAPE,
               "%s are %lld x %lld, expected %lld x %lld", what, (long long)t->dim[0],
               (long long)t->dim[1], (long long)n, (long long)columns);
    return HOLO_OK;
}

static holo_status nbits_check_params(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_param(a, e, 0, "bits", 2, 8));
    HG_REQUIRE(e, (a->param[0] & (a->param[0] - 1)) == 0, HOLO_E_MODEL,
               "bits is %lld, expected 2, 4 or 8", (long long)a->param[0]);
    HG_TRY(hg_check_param(a, e, 1, "block", 16, INT32_MAX));
    HG_REQUIRE(e, (a->param[1] & (a->param[1] - 1)) == 0, HOLO_E_MODEL,
               "block is %lld, expected a power of two", (long long)a->param[1]);
    return HOLO_OK;
}

holo_status hg_matmul_nbits_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 4, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_check_in_type(a, e, 2, NBITS_FLOATS));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(nbits_check_params(a, e));
    const holo_tensor *x = &a->in[0], *w = &a->in[1], *out = &a->out[0];
    HG_TRY(hg_check_rows(x, out, e));
    const int64_t k = x->dim[x->rank - 1], n = out->dim[x->rank - 1], bits = a->param[0];
    const int64_t blocks = k / a->param[1] + (k % a->param[1] != 0);
    HG_TRY(hg_check_rank(w, e, "B", 3, 3));
    HG_REQUIRE(e, w->dim[0] == n && w->dim[1] == blocks && w->dim[2] == a->param[1] * bits / 8,
               HOLO_E_SHAPE, "B is %lld x %lld x %lld, expected %lld x %lld x %lld",
               (long long)w->dim[0], (long long)w->dim[1], (long long)w->dim[2], (long long)n,
               (long long)blocks, (long long)(a->param[1] * bits / 8));
    HG_TRY(nbits_check_2d(&a->in[2], e, "scales", n, blocks));
    if (!hg_args_has(a, 3)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 3, NBITS_FLOATS | HG_TYPE_BIT(HOLO_U8)));
    const bool packed = a->in[3].dtype == HOLO_U8;
    return nbits_check_2d(&a->in[3], e, "zero points", n,
                          packed ? blocks / (8 / bits) + (blocks % (8 / bits) != 0) : blocks);
}

hg_nbits_shape hg_matmul_nbits_shape_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0], *w = &a->in[1];
    return (hg_nbits_shape){
        .m = hg_dims_product(x, 0, x->rank - 1),
        .n = w->dim[0],
        .k = x->dim[x->rank - 1],
        .blocks = w->dim[1],
        .block = a->param[1],
        .row = w->dim[1] * w->dim[2],
        .zero_row = hg_args_has(a, 3) ? a->in[3].dim[1] : 0,
        .bits = (uint32_t)a->param[0],
    };
}

int64_t hg_matmul_nbits_units(const hg_args *a)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    return s.m == 0 ? 0 : (s.n + HG_NBITS_COLUMNS - 1) / HG_NBITS_COLUMNS;
}

void hg_matmul_nbits_cost(const hg_args *a, hg_cost *cost)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    cost->flops = 2.0 * (double)s.m * (double)s.n * (double)s.k;
}

/* Weights [from, to) of a column, within one block. */
static void nbits_weights(const hg_args *a, const hg_nbits_shape *s, int64_t column, int64_t from,
                          int64_t to, float *w)
{
    float scale, zero;
    const uint8_t *codes = (const uint8_t *)a->in[1].data + column * s->row;
    hg_nbits_block(a, s, column, from / s->block, &scale, &zero);
    for (int64_t i = from; i < to; i++)
        w[i - from] = ((float)hg_nbits_code(codes, s->bits, i) - zero) * scale;
}

/* One column: the sums of all rows grow in the output, piece by piece of k. */
static void nbits_column(const hg_args *a, const hg_nbits_shape *s, int64_t column)
{
    float w[HG_NBITS_DEPTH], *y = (float *)a->out[0].data + column;
    const float *x = a->in[0].data;
    for (int64_t m = 0; m < s->m; m++)
        y[m * s->n] = 0;
    for (int64_t from = 0, to; from < s->k; from = to) {
        to = hg_min(hg_min(from + HG_NBITS_DEPTH, (from / s->block + 1) * s->block), s->k);
        nbits_weights(a, s, column, from, to, w);
        for (int64_t m = 0; m < s->m; m++) {
            float sum = y[m * s->n];
            for (int64_t i = from; i < to; i++)
                sum += x[m * s->k + i] * w[i - from];
            y[m * s->n] = sum;
        }
    }
}

static void nbits_run(const hg_args *a, hg_range r)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    const int64_t end = hg_min(r.end * HG_NBITS_COLUMNS, s.n);
    for (int64_t column = r.begin * HG_NBITS_COLUMNS; column < end; column++)
        nbits_column(a, &s, column);
}

const hg_kernel hg_kernels_matmul_nbits[] = {
    {.name = "matmul.nbits",
     .check = hg_matmul_nbits_check,
     .units = hg_matmul_nbits_units,
     .cost = hg_matmul_nbits_cost,
     .run = nbits_run},
    {0},
};
