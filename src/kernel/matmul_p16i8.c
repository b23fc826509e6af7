/* matmul_p16i8.c - matmul.p16i8: the exact product of 8-bit matrices, the right one packed.
 *
 *   in[0]  A [..., K] u8 or i8; all leading dims are rows
 *   in[1]  B [P, ceil(K / 4) + 1, 64] i8, made by pack.p16i8; P = ceil(N / 16)
 *   in[2]  zero points of A, its type: one, or one for each row; may be absent: 0
 *   in[3]  zero points of B [N] i32, as of its signed codes; may be absent: 0
 *   in[4+] operands of the epilogue, then tables [256] as the form says: behind the epilogue, for A
 *   param  form (igemm.h)
 *   out[0] C [..., N] = sum over k of (A - a0)(B - b0), modulo 2^32; i32, any type with an epilogue
 *
 * Every form gives the same bits. */
#include "kernel/matmul_p16i8.h"

#include "kernel/pack.h"

enum { MATMUL_P16I8_FORM = 0 };

holo_status hg_matmul_p16i8_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_IGEMM_CODES));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_I8)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_EPILOGUE_TYPES));
    const holo_tensor *x = &a->in[0], *out = &a->out[0];
    HG_TRY(hg_check_rows(x, out, e));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed B", 3, 3));
    const int64_t k = x->dim[x->rank - 1], n = out->dim[x->rank - 1];
    HG_TRY(hg_igemm_check_packed(a, e, n, k));
    return hg_igemm_check(a, e, hg_dims_product(x, 0, x->rank - 1), n, MATMUL_P16I8_FORM);
}

static void matmul_p16i8_gather(const hg_igemm *g, int64_t row, int64_t count, int64_t group,
                                uint8_t *to)
{
    const holo_tensor *x = &g->args->in[0];
    const int64_t width = hg_quads(g->k) * HG_QUAD;
    (void)group;
    for (int64_t i = 0; i < count; i++) {
        hg_igemm_lift(to + i * width, (const uint8_t *)x->data + (row + i) * g->k, g->k,
                      x->dtype == HOLO_I8);
        memset(to + i * width + g->k, 0, (size_t)(width - g->k));
    }
}

hg_igemm hg_matmul_p16i8_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0], *out = &a->out[0];
    const int64_t k = x->dim[x->rank - 1], n = out->dim[out->rank - 1];
    const bool loads = (a->param[MATMUL_P16I8_FORM] & HG_IGEMM_LOAD) != 0;
    const bool in_place = (loads || x->dtype == HOLO_U8) && k % HG_QUAD == 0;
    return (hg_igemm){.args = a,
                      .rows = hg_dims_product(x, 0, x->rank - 1),
                      .k = k,
                      .groups = 1,
                      .columns = n,
                      .panels = hg_panels(n),
                      .direct = in_place ? x->data : NULL,
                      .gather = matmul_p16i8_gather,
                      .pairs = (a->param[MATMUL_P16I8_FORM] & HG_IGEMM_PAIRS) != 0,
                      .lookup = hg_igemm_lookup(a, MATMUL_P16I8_FORM),
                      .loads = loads,
                      .load = hg_igemm_load(a, MATMUL_P16I8_FORM)};
}

void hg_matmul_p16i8_cost(const hg_args *a, hg_cost *cost)
{
    const hg_igemm g = hg_matmul_p16i8_of(a);
    hg_igemm_cost(&g, cost);
}

int64_t hg_matmul_p16i8_units(const hg_args *a)
{
    const hg_igemm g = hg_matmul_p16i8_of(a);
    return hg_igemm_units(&g);
}

static size_t matmul_p16i8_scratch(const hg_args *a)
{
    const hg_igemm g = hg_matmul_p16i8_of(a);
    return hg_igemm_scratch(&g, &hg_igemm_portable);
}

static void matmul_p16i8_run(const hg_args *a, hg_range r)
{
    const hg_igemm g = hg_matmul_p16i8_of(a);
    hg_igemm_run(&g, &hg_igemm_portable, r);
}

const hg_kernel hg_kernels_matmul_p16i8[] = {
    {.name = "matmul.p16i8",
     .check = hg_matmul_p16i8_check,
     .units = hg_matmul_p16i8_units,
     .scratch = matmul_p16i8_scratch,
     .cost = hg_matmul_p16i8_cost,
     .run = matmul_p16i8_run},
    {0},
};
