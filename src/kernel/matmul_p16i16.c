/* matmul_p16i16.c - matmul.p16i16: the exact product of 16-bit codes and packed 8-bit ones.
 *
 *   in[0]  A [..., K] i16; all leading dims are rows
 *   in[1]  B [P, ceil(K / 4) + 1, 64] i8, made by pack.p16i8; P = ceil(N / 16)
 *   in[2], in[3]  absent: there are no zero points
 *   in[4+] operands of the epilogue
 *   out[0] C [..., N] = sum over k of A B, modulo 2^32; i32, any type with an epilogue
 *
 * What 8 bits are too coarse for: 16 times 8 bits in pairs is as fast on CPUs without 8-bit dot
 * products, and half as fast with them. The compiler has proved that no sum leaves 32 bits
 * (certificate "product"). */
#include "kernel/matmul_p16i16.h"

#include "kernel/pack.h"

holo_status hg_matmul_p16i16_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, 0));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_I16)));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_I8)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_EPILOGUE_TYPES));
    const holo_tensor *x = &a->in[0], *out = &a->out[0];
    HG_TRY(hg_check_rows(x, out, e));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed B", 3, 3));
    HG_TRY(hg_igemm_check_packed(a, e, out->dim[x->rank - 1], x->dim[x->rank - 1]));
    HG_REQUIRE(e, !hg_args_has(a, HG_IGEMM_ZERO_A) && !hg_args_has(a, HG_IGEMM_ZERO_B),
               HOLO_E_FORMAT, "zero points for codes of 16 bits, expected none");
    return hg_igemm_check_end(a, e);
}

static void matmul_p16i16_gather(const hg_igemm *g, int64_t row, int64_t count, int64_t group,
                                 uint8_t *to)
{
    const size_t used = (size_t)g->k * 2, width = (size_t)(hg_quads(g->k) * HG_QUAD) * 2;
    (void)group;
    for (int64_t i = 0; i < count; i++, to += width) {
        memcpy(to, (const uint8_t *)g->args->in[0].data + (size_t)(row + i) * used, used);
        memset(to + used, 0, width - used);
    }
}

hg_igemm hg_matmul_p16i16_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0], *out = &a->out[0];
    const int64_t k = x->dim[x->rank - 1], n = out->dim[out->rank - 1];
    return (hg_igemm){.args = a,
                      .rows = hg_dims_product(x, 0, x->rank - 1),
                      .k = k,
                      .groups = 1,
                      .columns = n,
                      .panels = hg_panels(n),
                      .direct = k % HG_QUAD == 0 ? x->data : NULL,
                      .gather = matmul_p16i16_gather,
                      .is_wide = true};
}

void hg_matmul_p16i16_cost(const hg_args *a, hg_cost *cost)
{
    const hg_igemm g = hg_matmul_p16i16_of(a);
    hg_igemm_cost(&g, cost);
}

int64_t hg_matmul_p16i16_units(const hg_args *a)
{
    const hg_igemm g = hg_matmul_p16i16_of(a);
    return hg_igemm_units(&g);
}

static void matmul_p16i16_tile(const hg_igemm_tile *t)
{
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t j = 0; j < t->panels * HG_PANEL; j++) {
            const int16_t *a = (const int16_t *)(const void *)(t->a + i * t->lda);
            const int8_t *b = t->b + j / HG_PANEL * hg_igemm_panel_bytes(t->quads);
            uint32_t sum = 0;
            for (int64_t k = 0; k < t->quads * HG_QUAD; k++)
                sum += (uint32_t)(a[k] * b[k / HG_QUAD * HG_QUAD_BYTES + j % HG_PANEL * HG_QUAD +
                                           k % HG_QUAD]);
            memcpy(&t->c[i * t->ldc + j], &sum, sizeof sum);
        }
}

static const hg_igemm_form matmul_p16i16_portable = {.tile = matmul_p16i16_tile,
                                                     .lane = hg_lane_run};

static size_t matmul_p16i16_scratch(const hg_args *a)
{
    const hg_igemm g = hg_matmul_p16i16_of(a);
    return hg_igemm_scratch(&g, &matmul_p16i16_portable);
}

static void matmul_p16i16_run(const hg_args *a, hg_range r)
{
    const hg_igemm g = hg_matmul_p16i16_of(a);
    hg_igemm_run(&g, &matmul_p16i16_portable, r);
}

const hg_kernel hg_kernels_matmul_p16i16[] = {
    {.name = "matmul.p16i16",
     .check = hg_matmul_p16i16_check,
     .units = hg_matmul_p16i16_units,
     .scratch = matmul_p16i16_scratch,
     .cost = hg_matmul_p16i16_cost,
     .run = matmul_p16i16_run},
    {0},
};
