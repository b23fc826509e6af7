/* matmul_bits.c - matmul.bits, all kinds: layouts, values against integers and f64, variants bit by
 * bit, numbers that are not finite. */
#include "kernel/matmul_bits.h"

#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_matmul_bits[];
#if defined(TUNED)
extern const hg_kernel TUNED(matmul_bits)[], TUNED_DOT(matmul_bits)[];
#endif

static const struct {
    int64_t m, n, k, group;
} bits_shapes[] = {{1, 32, 32, 32},   {2, 33, 65, 32},  {1, 5, 200, 64},
                   {3, 70, 128, 128}, {1, 300, 31, 32}, {1, 1, 300, 256},
                   {0, 8, 32, 32},    {2, 3, 0, 32},    {22, 33, 96, 64}};

/* Codes that each kind may have, and the numbers they are. */
static const int bits_codes[HG_BITS_KINDS] = {2, 3, 4, 8, 16, 16, 256};

static int32_t bits_number(const move_call *c, hg_bits_kind kind, uint32_t code)
{
    switch (kind) {
    case HG_BITS_1: return code == 0 ? -1 : 1;
    case HG_BITS_TERNARY: return (int32_t)code - 1;
    case HG_BITS_2: return (int32_t)code - 2;
    case HG_BITS_3: return (int32_t)code - 4;
    case HG_BITS_4: return (int32_t)code - 8;
    case HG_BITS_BOOK: return (int32_t)hg_max(((const int8_t *)c->in[3].data)[code], -127);
    case HG_BITS_8:
    case HG_BITS_KINDS: break;
    }
    return (int8_t)code;
}

/* Random codes are put one by one; code [n][k] keeps them as they are. */
static void bits_make(move_call *c, hg_bits_kind kind, size_t shape, uint8_t *code)
{
    const int64_t n = bits_shapes[shape].n, k = bits_shapes[shape].k;
    const int64_t group = bits_shapes[shape].group;
    const int64_t panels = (n + 31) / 32, groups = (k + group - 1) / group;
    const size_t each = (size_t)group * 4 * hg_bits_width(kind);
    uint64_t state = 17 + shape;
    value_in(c, HOLO_F32, 2, MOVE_DIMS(bits_shapes[shape].m, k), 1);
    holo_tensor *codes =
        move_in(c, HOLO_U8, 1, MOVE_DIMS((int64_t)hg_bits_bytes(kind, n, k, group)));
    memset(codes->data, 0, holo_tensor_bytes(codes));
    value_in(c, HOLO_F32, 3, MOVE_DIMS(panels, groups, 32), 3);
    if (kind == HG_BITS_BOOK) value_in(c, HOLO_I8, 1, MOVE_DIMS(16), 4);
    if (kind == HG_BITS_BOOK) ((int8_t *)c->in[3].data)[1] = 127;
    if (kind == HG_BITS_BOOK) ((int8_t *)c->in[3].data)[2] = -128;
    if (shape % 3 == 1) { /* with offsets */
        if (kind != HG_BITS_BOOK) value_absent(c);
        value_in(c, HOLO_F32, 3, MOVE_DIMS(panels, groups, 32), 5);
    }
    for (int64_t i = 0; i < n * k; i++) {
        uint8_t *bytes =
            (uint8_t *)codes->data + (size_t)(i / k / 32 * groups + i % k / group) * each;
        code[i] = (uint8_t)(value_random(&state) * bits_codes[kind]);
        hg_bits_put(kind, bytes, i / k % 32, i % k % group, code[i]);
    }
    for (int64_t i = 0; i < n * k; i++) {
        const uint8_t *bytes =
            (const uint8_t *)codes->data + (size_t)(i / k / 32 * groups + i % k / group) * each;
        if (!CHECK_EQ_INT(hg_bits_code(kind, bytes, i / k % 32, i % k % group), code[i])) break;
    }
    move_out(c, HOLO_F32, 2, MOVE_DIMS(bits_shapes[shape].m, n));
    move_param(c, kind);
    move_param(c, group);
}

/* Codes of the row and their sums are integers, so the only rounding is that of a few floats. */
static double bits_expected(const move_call *c, hg_bits_kind kind, size_t shape,
                            const uint8_t *code, int64_t row, int64_t column, double *size)
{
    const int64_t k = bits_shapes[shape].k, group = bits_shapes[shape].group;
    const int64_t groups = (k + group - 1) / group;
    const float *x = (const float *)c->in[0].data + row * k;
    double y = 0;
    *size = 0;
    for (int64_t g = 0; g < groups; g++) {
        const int64_t from = g * group, to = from + group < k ? from + group : k;
        float most = 0;
        int64_t sum = 0, all = 0;
        for (int64_t i = from; i < to; i++)
            most = fmaxf(most, fabsf(x[i]));
        for (int64_t i = from; i < to; i++) {
            const int64_t rounded = (int64_t)nearbyintf(x[i] * (127 / most));
            sum += rounded * bits_number(c, kind, code[column * k + i]);
            all += rounded;
        }
        const int64_t at = (column / 32 * groups + g) * 32 + column % 32;
        const double offset = c->args.n_in > 4 ? value_get(&c->in[4], at) : 0;
        const double unit = (double)most / 127, scale = value_get(&c->in[2], at);
        y += (double)sum * unit * scale + (double)all * unit * offset;
        *size += fabs((double)sum * unit * scale) + fabs((double)all * unit * offset);
    }
    return y;
}

static void bits_values(void)
{
    static uint8_t code[300 * 300];
    for (int kind = 0; kind < HG_BITS_KINDS; kind++) {
        for (size_t shape = 0; shape < HG_COUNT(bits_shapes); shape++) {
            move_call c = {0};
            bits_make(&c, (hg_bits_kind)kind, shape, code);
            const int64_t n = bits_shapes[shape].n, all = bits_shapes[shape].m * n;
            if (move_run(hg_kernels_matmul_bits, &c))
                for (int64_t i = 0; i < all; i++) {
                    double size;
                    const double y =
                        bits_expected(&c, (hg_bits_kind)kind, shape, code, i / n, i % n, &size);
                    if (!CHECK_NEAR(value_get(&c.out[0], i), y, size * 1e-6)) break;
                }
            move_free(&c);
        }
    }
}

/* The kernels this CPU has; how many. */
static size_t bits_kernels(const hg_kernel *out[3])
{
    size_t n = 0;
    out[n++] = hg_kernels_matmul_bits;
#if defined(TUNED)
    if (tuned_runs()) out[n++] = TUNED(matmul_bits);
    if (tuned_dot_runs()) out[n++] = TUNED_DOT(matmul_bits);
#endif
    return n;
}

static void bits_variants(void)
{
    static uint8_t code[300 * 300];
    static float first[1024];
    const hg_kernel *kernels[3];
    const size_t count = bits_kernels(kernels);
    if (count == 1) SKIP("not for this CPU");
    for (int kind = 0; kind < HG_BITS_KINDS; kind++) {
        for (size_t shape = 0; shape < HG_COUNT(bits_shapes); shape++) {
            move_call c = {0};
            bits_make(&c, (hg_bits_kind)kind, shape, code);
            uint64_t state = 5;
            /* Whatever bytes there are, also those that no code has. */
            for (int64_t i = 0; shape % 2 == 1 && i < c.in[1].dim[0]; i++)
                ((uint8_t *)c.in[1].data)[i] = (uint8_t)(value_random(&state) * 256);
            const size_t bytes = holo_tensor_bytes(&c.out[0]);
            if (move_run(kernels[0], &c)) memcpy(first, c.out[0].data, bytes);
            for (size_t v = 1; v < count; v++)
                if (move_run(kernels[v], &c)) CHECK_MEM(c.out[0].data, first, bytes);
            move_free(&c);
        }
    }
}

/* The longest group with the largest codes: sums stay within 32 bits. */
static void bits_largest(void)
{
    const hg_kernel *kernels[3];
    const size_t count = bits_kernels(kernels);
    for (int kind = 0; kind < HG_BITS_KINDS; kind++) {
        move_call c = {0};
        holo_tensor *x = move_in(&c, HOLO_F32, 2, MOVE_DIMS(1, 65536));
        holo_tensor *w = move_in(
            &c, HOLO_U8, 1, MOVE_DIMS((int64_t)hg_bits_bytes((hg_bits_kind)kind, 1, 65536, 65536)));
        holo_tensor *scale = move_in(&c, HOLO_F32, 3, MOVE_DIMS(1, 1, 32));
        holo_tensor *book = move_in(&c, HOLO_I8, 1, MOVE_DIMS(16));
        for (int i = 0; i < 65536; i++)
            ((float *)x->data)[i] = 127;
        memset(w->data, kind == HG_BITS_8 ? 127 : 255, holo_tensor_bytes(w));
        memset(book->data, 127, 16);
        for (int i = 0; i < 32; i++)
            ((float *)scale->data)[i] = 1;
        move_out(&c, HOLO_F32, 2, MOVE_DIMS(1, 1));
        move_param(&c, kind);
        move_param(&c, 65536);
        static const int most[HG_BITS_KINDS] = {1, 2, 1, 3, 7, 127, 127};
        for (size_t v = 0; v < count; v++)
            if (move_run(kernels[v], &c))
                CHECK(value_get(&c.out[0], 0) == 65536.0 * 127 * most[kind]);
        move_free(&c);
    }
}

/* NaN and infinities reach the outputs of their row; a group of zeros or tiny numbers is zero. */
static void bits_special(void)
{
    static uint8_t code[300 * 300];
    const hg_kernel *kernels[3];
    const size_t count = bits_kernels(kernels);
    static const float special[] = {NAN, INFINITY, -INFINITY, 0, 1e-40f};
    for (size_t v = 0; v < count; v++) {
        for (size_t s = 0; s < HG_COUNT(special); s++) {
            move_call c = {0};
            bits_make(&c, HG_BITS_4, 2, code); /* 1 x 200 in groups of 64, 5 columns */
            float *x = c.in[0].data;
            for (int i = 0; i < 200; i++)
                if (special[s] == 0 || special[s] == 1e-40f) x[i] = special[s];
            x[199] = special[s];
            if (move_run(kernels[v], &c))
                for (int i = 0; i < 5; i++) {
                    const double y = value_get(&c.out[0], i);
                    CHECK(s < 3 ? isnan(y) : y == 0);
                }
            move_free(&c);
        }
    }
}

static void bits_make_good(move_call *c)
{
    static uint8_t code[300 * 300];
    bits_make(c, HG_BITS_BOOK, 1, code); /* 2 x 65 by 33, groups of 32 */
}

static void bits_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I8, "input 1 has type int8"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I32, "input 2 has type int32"},
        {MOVE_IN_TYPE, 3, 0, HOLO_U8, "input 3 has type uint8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_PARAM, 0, 0, 7, "kind is 7"},
        {MOVE_PARAM, 1, 0, 16, "group is 16"},
        {MOVE_PARAM, 1, 0, 48, "group is 48, expected a multiple of 32"},
        {MOVE_IN_RANK, 0, 0, 0, "A has rank 0"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
        {MOVE_OUT_DIM, 0, 0, 1, "output dimension 0 is 1, expected 2"},
        {MOVE_IN_DIM, 0, 1, INT64_C(1) << 40, "expected at most 2^31 - 1 each"},
        {MOVE_IN_RANK, 1, 0, 2, "codes has rank 2"},
        {MOVE_IN_DIM, 1, 0, 3071, "codes have 3071 bytes, expected 3072"},
        {MOVE_IN_RANK, 2, 0, 2, "scales has rank 2"},
        {MOVE_IN_DIM, 2, 0, 1, "scales are 1 x 3 x 32, expected 2 x 3 x 32"},
        {MOVE_IN_DIM, 2, 1, 2, "scales are 2 x 2 x 32, expected 2 x 3 x 32"},
        {MOVE_IN_DIM, 2, 2, 31, "scales are 2 x 3 x 31, expected 2 x 3 x 32"},
        {MOVE_IN_DIM, 3, 0, 15, "the book has 15 numbers, expected 16"},
        {MOVE_N_IN, 0, 0, 6, "6 inputs"},
        {MOVE_IN_TYPE, 4, 0, HOLO_I32, "input 4 has type int32"},
        {MOVE_IN_RANK, 4, 0, 2, "offsets has rank 2"},
        {MOVE_IN_DIM, 4, 1, 2, "offsets are 2 x 2 x 32, expected 2 x 3 x 32"},
    };
    MOVE_REFUSES(hg_kernels_matmul_bits, bits_make_good, bad);
}

const hg_test_case hg_tests_kernel_matmul_bits[] = {
    {"values", bits_values},   {"variants", bits_variants}, {"largest", bits_largest},
    {"special", bits_special}, {"refuses", bits_refuses},   {0},
};
