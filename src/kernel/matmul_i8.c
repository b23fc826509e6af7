/* matmul_i8.c - matmul.i8: the exact product of 8-bit matrices with zero points.
 *
 *   in[0]  A [batch..., M, K] u8 or i8
 *   in[1]  B [batch..., K, N] u8 or i8
 *   in[2]  zero points of A, its type, broadcast to A with one value for all of K; may be absent: 0
 *   in[3]  zero points of B, its type, broadcast to B with one value for all of K; may be absent: 0
 *   out[0] C [batch..., M, N] i32 = sum over k of (A - a0)(B - b0), modulo 2^32 */
#include "kernel/matmul_i8.h"

#define MATMUL_I8_TYPES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

static int32_t matmul_i8_load(const holo_tensor *t, int64_t i)
{
    return t->dtype == HOLO_U8 ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
}

/* Zero points in[2 + i] of operand i; `axis` of the operand, counted from the end, is K. */
static holo_status matmul_i8_check_zero(const hg_args *a, holo_error *e, uint32_t i, int axis)
{
    if (!hg_args_has(a, 2 + i)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 2 + i, MATMUL_I8_TYPES));
    const holo_tensor *z = &a->in[2 + i], *t = &a->in[i];
    HG_TRY(hg_check_same_type(z, t, e, "zero point"));
    HG_TRY(hg_check_broadcast(z, t, e, "zero point"));
    HG_REQUIRE(e, z->rank < axis || z->dim[z->rank - axis] == 1, HOLO_E_SHAPE,
               "zero points vary along k: %lld of them, expected 1",
               (long long)z->dim[z->rank - axis]);
    return HOLO_OK;
}

holo_status hg_matmul_i8_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 4, 1, 0));
    HG_TRY(hg_check_in_type(a, e, 0, MATMUL_I8_TYPES));
    HG_TRY(hg_check_in_type(a, e, 1, MATMUL_I8_TYPES));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_I32)));
    const holo_tensor *x = &a->in[0], *y = &a->in[1], *out = &a->out[0];
    HG_TRY(hg_check_rank(x, e, "A", 2, HG_MAX_RANK));
    HG_TRY(hg_check_rank(y, e, "B", 2, HG_MAX_RANK));
    const int rank = x->rank > y->rank ? x->rank : y->rank;
    HG_TRY(hg_check_rank(out, e, "output", rank, rank));
    HG_REQUIRE(e, x->dim[x->rank - 1] == y->dim[y->rank - 2], HOLO_E_SHAPE,
               "A has %lld columns, B has %lld rows", (long long)x->dim[x->rank - 1],
               (long long)y->dim[y->rank - 2]);
    const int64_t m = x->dim[x->rank - 2], n = y->dim[y->rank - 1];
    HG_REQUIRE(e, out->dim[rank - 2] == m && out->dim[rank - 1] == n, HOLO_E_SHAPE,
               "output is %lld x %lld, expected %lld x %lld", (long long)out->dim[rank - 2],
               (long long)out->dim[rank - 1], (long long)m, (long long)n);
    /* Batch dims: both operands broadcast to the output's. */
    holo_tensor p = *x, q = *y;
    p.dim[x->rank - 2] = q.dim[y->rank - 2] = m;
    p.dim[x->rank - 1] = q.dim[y->rank - 1] = n;
    HG_TRY(hg_check_broadcast(&p, out, e, "A"));
    HG_TRY(hg_check_broadcast(&q, out, e, "B"));
    HG_TRY(matmul_i8_check_zero(a, e, 0, 1));
    return matmul_i8_check_zero(a, e, 1, 2);
}

int64_t hg_matmul_i8_units(const hg_args *a)
{
    const holo_tensor *out = &a->out[0];
    return holo_tensor_count(out) == 0 ? 0 : hg_dims_product(out, 0, out->rank - 1);
}

void hg_matmul_i8_cost(const hg_args *a, hg_cost *cost)
{
    const double k = (double)a->in[0].dim[a->in[0].rank - 1];
    cost->flops = 2.0 * k * (double)holo_tensor_count(&a->out[0]);
}

int64_t hg_matmul_i8_offset(const holo_tensor *t, const holo_tensor *out, int64_t batch)
{
    int64_t at = 0, stride = t->rank < 2 ? 1 : t->dim[t->rank - 2] * t->dim[t->rank - 1];
    for (int d = out->rank - 3, i = t->rank - 3; i >= 0; d--, i--) {
        if (t->dim[i] != 1) at += batch % out->dim[d] * stride;
        batch /= out->dim[d];
        stride *= t->dim[i];
    }
    return at;
}

int32_t hg_matmul_i8_zero(const hg_args *a, uint32_t side, int64_t batch, int64_t i)
{
    if (!hg_args_has(a, 2 + side)) return 0;
    const holo_tensor *z = &a->in[2 + side];
    int64_t at = hg_matmul_i8_offset(z, &a->out[0], batch);
    const int axis = side == 0 ? z->rank - 2 : z->rank - 1;
    if (axis >= 0 && z->dim[axis] != 1) at += i;
    return matmul_i8_load(z, at);
}

/* c[i] += v * b[i] */
#define MATMUL_I8_ADD(T, suffix)                                                                   \
    static void matmul_i8_add_##suffix(uint32_t *c, uint32_t v, const T *b, int64_t n)             \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const int32_t w = (int32_t)b[i];                                                       \
            c[i] += v * (uint32_t)w;                                                               \
        }                                                                                          \
    }
MATMUL_I8_ADD(uint8_t, u8)
MATMUL_I8_ADD(int8_t, i8)
#undef MATMUL_I8_ADD

/* Row u of the output, counted over all batches. */
static void matmul_i8_row(const hg_args *a, int64_t u)
{
    const holo_tensor *x = &a->in[0], *y = &a->in[1], *out = &a->out[0];
    const int64_t m = out->dim[out->rank - 2], n = out->dim[out->rank - 1];
    const int64_t k = x->dim[x->rank - 1], batch = u / m;
    const int64_t at = hg_matmul_i8_offset(x, out, batch) + u % m * k;
    const int64_t bt = hg_matmul_i8_offset(y, out, batch);
    const int32_t zero = hg_matmul_i8_zero(a, 0, batch, u % m);
    uint32_t *c = (uint32_t *)out->data + u * n, sum = 0; /* sum: of the row of A */
    memset(c, 0, (size_t)n * sizeof *c);
    for (int64_t j = 0; j < k; j++) {
        const uint32_t v = (uint32_t)(matmul_i8_load(x, at + j) - zero);
        sum += v;
        if (y->dtype == HOLO_U8)
            matmul_i8_add_u8(c, v, (const uint8_t *)y->data + bt + j * n, n);
        else
            matmul_i8_add_i8(c, v, (const int8_t *)y->data + bt + j * n, n);
    }
    /* Each unit of B's zero point takes the sum away once. */
    for (int64_t i = 0; hg_args_has(a, 3) && i < n; i++)
        c[i] -= sum * (uint32_t)hg_matmul_i8_zero(a, 1, batch, i);
}

static void matmul_i8_run(const hg_args *a, hg_range r)
{
    for (int64_t u = r.begin; u < r.end; u++)
        matmul_i8_row(a, u);
}

const hg_kernel hg_kernels_matmul_i8[] = {
    {.name = "matmul.i8",
     .check = hg_matmul_i8_check,
     .units = hg_matmul_i8_units,
     .cost = hg_matmul_i8_cost,
     .run = matmul_i8_run},
    {0},
};
