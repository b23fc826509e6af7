/* matmul_bits.c - matmul.bits: C = A B with B in codes of 1 to 8 bits and A rounded to 8 bits.
 *
 *   in[0]  A [..., K] f32; all leading dims are rows
 *   in[1]  codes u8, see matmul_bits.h
 *   in[2]  scales [panels, groups, 32] f32
 *   in[3]  book i8 [16], for HG_BITS_BOOK alone
 *   in[4]  offsets [panels, groups, 32] f32, may be absent: what a weight is more than code x scale
 *   param  kind, group (a multiple of 32)
 *   out[0] C [..., N] f32
 *
 * Each group of a row becomes codes round(x * 127 / largest): an error of at most 1/254 of the
 * group's largest number. Sums of codes are exact integers; one multiplication with both scales,
 * then an addition per group, in order. So every kernel gives the same bits. A group that is not
 * finite gives NaN. A unit is a panel of 32 columns. */
#include "kernel/matmul_bits.h"

#include <float.h>
#include <math.h>

uint32_t hg_bits_width(hg_bits_kind kind)
{
    static const uint8_t width[HG_BITS_KINDS] = {1, 2, 2, 3, 4, 4, 8};
    return width[kind];
}

int32_t hg_bits_zero(hg_bits_kind kind)
{
    static const int8_t zero[HG_BITS_KINDS] = {0, 1, 2, 4, 8, 0, 0};
    return zero[kind];
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Where a code of whole bits lies; bit 2 of three-bit codes is elsewhere. */
static size_t bits_place(hg_bits_kind kind, int64_t c, int64_t i, uint32_t *shift)
{
    const int64_t byte = c * 4 + i % 4;
    switch (kind) {
    case HG_BITS_1: *shift = (uint32_t)(i % 8); return (size_t)(i / 8 * 32 + c);
    case HG_BITS_TERNARY:
    case HG_BITS_2: *shift = (uint32_t)(i / 4 % 4 * 2); return (size_t)(i / 16 * 128 + byte);
    case HG_BITS_3:
        *shift = (uint32_t)(i / 4 % 4 * 2);
        return (size_t)(i / 32 * 384 + i / 16 % 2 * 128 + byte);
    case HG_BITS_4:
    case HG_BITS_BOOK: *shift = (uint32_t)(i / 4 % 2 * 4); return (size_t)(i / 8 * 128 + byte);
    case HG_BITS_8:
    case HG_BITS_KINDS: break;
    }
    *shift = 0;
    return (size_t)(i / 4 * 128 + byte);
}

static size_t bits_place_third(int64_t c, int64_t i, uint32_t *shift)
{
    *shift = (uint32_t)(i / 4 % 8);
    return (size_t)(i / 32 * 384 + 256 + c * 4 + i % 4);
}

uint32_t hg_bits_code(hg_bits_kind kind, const uint8_t *bytes, int64_t c, int64_t i)
{
    uint32_t shift;
    const size_t at = bits_place(kind, c, i, &shift);
    const uint32_t byte = (uint32_t)bytes[at] >> shift;
    if (kind != HG_BITS_3) return byte & ((1u << hg_bits_width(kind)) - 1);
    const size_t third = bits_place_third(c, i, &shift);
    return (byte & 3) | ((uint32_t)bytes[third] >> shift & 1) << 2;
}

void hg_bits_put(hg_bits_kind kind, uint8_t *bytes, int64_t c, int64_t i, uint32_t code)
{
    uint32_t shift;
    uint8_t *to = &bytes[bits_place(kind, c, i, &shift)];
    *to = (uint8_t)(*to + ((kind == HG_BITS_3 ? code & 3 : code) << shift));
    if (kind != HG_BITS_3) return;
    to = &bytes[bits_place_third(c, i, &shift)];
    *to = (uint8_t)(*to | (code >> 2 & 1) << shift);
}

/* ---- check ----------------------------------------------------------------------------------- */

static holo_status bits_check_table(const holo_tensor *t, holo_error *e, const char *what,
                                    int64_t panels, int64_t groups)
{
    HG_TRY(hg_check_rank(t, e, what, 3, 3));
    const int64_t *dim = t->dim;
    HG_REQUIRE(e, dim[0] == panels && dim[1] == groups && dim[2] == HG_BITS_COLUMNS, HOLO_E_SHAPE,
               "%s are %lld x %lld x %lld, expected %lld x %lld x 32", what, (long long)dim[0],
               (long long)dim[1], (long long)dim[2], (long long)panels, (long long)groups);
    return HOLO_OK;
}

/* Sizes are bounded first: N and K are those of tensors that exist, but not their product. */
static holo_status bits_check_codes(const hg_args *a, holo_error *e, int64_t n, int64_t k)
{
    const int64_t group = a->param[1];
    const int64_t panels = hg_ceil_div(n, HG_BITS_COLUMNS), groups = hg_ceil_div(k, group);
    HG_REQUIRE(e, n <= INT32_MAX && k <= INT32_MAX, HOLO_E_SHAPE,
               "the weights are %lld x %lld, expected at most 2^31 - 1 each", (long long)k,
               (long long)n);
    const size_t bytes = hg_bits_bytes((hg_bits_kind)a->param[0], n, k, group);
    HG_TRY(hg_check_rank(&a->in[1], e, "codes", 1, 1));
    HG_REQUIRE(e, (uint64_t)a->in[1].dim[0] == bytes, HOLO_E_SHAPE,
               "codes have %lld bytes, expected %zu", (long long)a->in[1].dim[0], bytes);
    HG_TRY(bits_check_table(&a->in[2], e, "scales", panels, groups));
    if (!hg_args_has(a, 4)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 4, HG_TYPE_BIT(HOLO_F32)));
    return bits_check_table(&a->in[4], e, "offsets", panels, groups);
}

holo_status hg_matmul_bits_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 5, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_check_in_type(a, e, 2, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_param(a, e, 0, "kind", 0, HG_BITS_KINDS - 1));
    HG_TRY(hg_check_param(a, e, 1, "group", HG_BITS_STEP, 65536));
    HG_REQUIRE(e, a->param[1] % HG_BITS_STEP == 0, HOLO_E_MODEL,
               "group is %lld, expected a multiple of 32", (long long)a->param[1]);
    HG_TRY(hg_check_rows(&a->in[0], &a->out[0], e));
    const int32_t last = a->in[0].rank - 1;
    HG_TRY(bits_check_codes(a, e, a->out[0].dim[last], a->in[0].dim[last]));
    if (a->param[0] != HG_BITS_BOOK) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 3, HG_TYPE_BIT(HOLO_I8)));
    HG_REQUIRE(e, a->in[3].rank == 1 && a->in[3].dim[0] == 16, HOLO_E_SHAPE,
               "the book has %lld numbers, expected 16", (long long)holo_tensor_count(&a->in[3]));
    return HOLO_OK;
}

hg_bits_shape hg_bits_shape_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    hg_bits_shape s = {.m = hg_dims_product(x, 0, x->rank - 1),
                       .n = a->out[0].dim[x->rank - 1],
                       .k = x->dim[x->rank - 1],
                       .group = a->param[1],
                       .kind = (hg_bits_kind)a->param[0]};
    s.panels = hg_ceil_div(s.n, HG_BITS_COLUMNS);
    s.groups = hg_ceil_div(s.k, s.group);
    s.group_bytes = (size_t)s.group * 4 * hg_bits_width(s.kind);
    return s;
}

int64_t hg_matmul_bits_units(const hg_args *a)
{
    const hg_bits_shape s = hg_bits_shape_of(a);
    return s.m == 0 ? 0 : s.panels;
}

void hg_matmul_bits_cost(const hg_args *a, hg_cost *cost)
{
    const hg_bits_shape s = hg_bits_shape_of(a);
    cost->flops = 2.0 * (double)s.m * (double)s.n * (double)s.k;
}

/* ---- the row --------------------------------------------------------------------------------- */

size_t hg_bits_row_bytes(const hg_bits_shape *s)
{
    return hg_align_up((size_t)(s->groups * s->group), HG_ALIGN) +
           hg_align_up((size_t)s->groups * 8, HG_ALIGN);
}

hg_bits_row hg_bits_row_in(const hg_bits_shape *s, void *scratch, size_t number)
{
    if (scratch == NULL) return (hg_bits_row){0}; /* no groups: no address from no room */
    uint8_t *at = (uint8_t *)scratch + number * hg_bits_row_bytes(s);
    uint8_t *numbers = at + hg_align_up((size_t)(s->groups * s->group), HG_ALIGN);
    return (hg_bits_row){.code = (int8_t *)at,
                         .scale = (float *)(void *)numbers,
                         .sum = (int32_t *)(void *)(numbers + (size_t)s->groups * 4)};
}

static void bits_quantize(const hg_bits_shape *s, const float *x, hg_bits_row *row)
{
    for (int64_t g = 0; g < s->groups; g++) {
        const int64_t from = g * s->group, n = hg_min(s->group, s->k - from);
        float most = 0;
        bool finite = true;
        for (int64_t i = 0; i < n; i++) {
            finite &= fabsf(x[from + i]) <= FLT_MAX;
            most = fabsf(x[from + i]) > most ? fabsf(x[from + i]) : most;
        }
        const bool is_zero = !finite || most < HG_BITS_LEAST;
        const float inverse = is_zero ? 0 : 127 / most;
        row->scale[g] = !finite ? NAN : is_zero ? 0 : most / 127;
        row->sum[g] = 0;
        for (int64_t i = 0; i < s->group; i++) {
            const float code = i < n && !is_zero ? nearbyintf(x[from + i] * inverse) : 0;
            row->code[from + i] = (int8_t)code;
            row->sum[g] += (int32_t)code;
        }
    }
}

/* ---- run ------------------------------------------------------------------------------------- */

static int32_t bits_weight(const hg_args *a, hg_bits_kind kind, const uint8_t *bytes, int64_t c,
                           int64_t i)
{
    const uint32_t code = hg_bits_code(kind, bytes, c, i);
    if (kind == HG_BITS_1) return 2 * (int32_t)code - 1;
    if (kind != HG_BITS_BOOK && kind != HG_BITS_8) return (int32_t)code - hg_bits_zero(kind);
    if (kind == HG_BITS_8) return (int8_t)code;
    const int8_t w = ((const int8_t *)a->in[3].data)[code];
    return w < -127 ? -127 : w; /* tuned kernels need an opposite for each */
}

static float bits_dot(const hg_args *a, const hg_bits_shape *s, const hg_bits_row *row,
                      int64_t column)
{
    const int64_t panel = column / HG_BITS_COLUMNS, c = column % HG_BITS_COLUMNS;
    float y = 0;
    for (int64_t g = 0; g < s->groups; g++) {
        const uint8_t *bytes = hg_bits_codes(a, s, panel, g);
        int32_t sum = 0;
        for (int64_t i = 0; i < s->group; i++)
            sum += row->code[g * s->group + i] * bits_weight(a, s->kind, bytes, c, i);
        y += (float)sum * (row->scale[g] * hg_bits_scales(a, s, panel, g)[c]);
    }
    return y;
}

static size_t bits_scratch(const hg_args *a)
{
    const hg_bits_shape s = hg_bits_shape_of(a);
    return hg_bits_row_bytes(&s);
}

static void bits_run(const hg_args *a, hg_range r)
{
    const hg_bits_shape s = hg_bits_shape_of(a);
    hg_bits_row row = hg_bits_row_in(&s, r.scratch, 0);
    const int64_t end = hg_min(r.end * HG_BITS_COLUMNS, s.n);
    for (int64_t m = 0; m < s.m; m++) {
        bits_quantize(&s, (const float *)a->in[0].data + m * s.k, &row);
        for (int64_t n = r.begin * HG_BITS_COLUMNS; n < end; n += HG_BITS_COLUMNS) {
            const int64_t columns = hg_min(HG_BITS_COLUMNS, end - n);
            float y[HG_BITS_COLUMNS] = {0};
            for (int64_t c = 0; c < columns; c++)
                y[c] = bits_dot(a, &s, &row, n + c);
            hg_bits_add_offsets(a, &s, &row, n / HG_BITS_COLUMNS, y);
            memcpy((float *)a->out[0].data + m * s.n + n, y, (size_t)columns * sizeof *y);
        }
    }
}

const hg_kernel hg_kernels_matmul_bits[] = {
    {.name = "matmul.bits",
     .check = hg_matmul_bits_check,
     .units = hg_matmul_bits_units,
     .scratch = bits_scratch,
     .cost = hg_matmul_bits_cost,
     .run = bits_run},
    {0},
};
