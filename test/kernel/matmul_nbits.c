/* matmul_nbits.c - matmul.nbits, all variants, against sums of weights in f64. */
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_matmul_nbits[];
#if defined(TUNED)
extern const hg_kernel TUNED(matmul_nbits)[];
#endif
#if defined(__x86_64__)
extern const hg_kernel TUNED_DOT(matmul_nbits)[];
#endif

typedef struct nbits_case {
    int64_t m, n, k, bits, block;
    holo_dtype scales, zeros; /* zeros: NONE absent */
} nbits_case;

static const nbits_case nbits_cases[] = {
    {1, 7, 77, 4, 32, HOLO_F32, HOLO_U8},     {1, 6, 200, 4, 64, HOLO_F16, HOLO_F32},
    {1, 5, 32, 4, 16, HOLO_F32, HOLO_NONE},   {3, 4, 72, 4, 32, HOLO_F32, HOLO_U8},
    {2, 9, 300, 4, 128, HOLO_F16, HOLO_F16},  {1, 3, 48, 8, 16, HOLO_F32, HOLO_U8},
    {5, 6, 515, 8, 512, HOLO_BF16, HOLO_F32}, {2, 7, 77, 2, 16, HOLO_F32, HOLO_U8},
    {4, 1, 16, 2, 64, HOLO_F32, HOLO_NONE},   {0, 4, 32, 4, 16, HOLO_F32, HOLO_NONE},
    {2, 0, 32, 4, 16, HOLO_F32, HOLO_U8},     {2, 3, 0, 4, 16, HOLO_F32, HOLO_NONE},
    {1, 9, 160, 4, 32, HOLO_F32, HOLO_U8},    {1, 4, 1056, 4, 32, HOLO_F16, HOLO_NONE},
    {1, 5, 640, 4, 128, HOLO_F32, HOLO_U8},   {1, 3, 99, 4, 256, HOLO_F32, HOLO_NONE},
    {1, 5, 33, 4, 32, HOLO_F32, HOLO_U8},     {1, 2, 64, 4, 64, HOLO_F32, HOLO_U8},
    {8, 16, 64, 4, 32, HOLO_F32, HOLO_NONE},  {16, 37, 300, 4, 32, HOLO_F32, HOLO_U8},
    {13, 5, 515, 8, 64, HOLO_F16, HOLO_F32},  {200, 20, 77, 2, 16, HOLO_F32, HOLO_U8},
    {9, 3, 0, 4, 16, HOLO_F32, HOLO_NONE},    {400, 18, 1030, 4, 128, HOLO_BF16, HOLO_U8},
    {1, 6, 1290, 4, 32, HOLO_BF16, HOLO_U8},  {1, 5, 700, 4, 16, HOLO_F16, HOLO_U8},
    {1, 9, 2100, 4, 512, HOLO_F32, HOLO_U8},  {1, 5, 515, 8, 64, HOLO_BF16, HOLO_U8},
};

static void nbits_make(move_call *c, const nbits_case *p)
{
    const int64_t blocks = (p->k + p->block - 1) / p->block;
    const bool packed = p->zeros == HOLO_U8;
    value_in(c, HOLO_F32, 2, MOVE_DIMS(p->m, p->k), 1);
    move_in(c, HOLO_U8, 3, MOVE_DIMS(p->n, blocks, p->block * p->bits / 8));
    value_in(c, p->scales, 2, MOVE_DIMS(p->n, blocks), 3);
    if (p->zeros == HOLO_NONE)
        value_absent(c);
    else
        value_in(c, p->zeros, 2, MOVE_DIMS(p->n, packed ? (blocks * p->bits + 7) / 8 : blocks), 4);
    move_out(c, HOLO_F32, 2, MOVE_DIMS(p->m, p->n));
    move_param(c, p->bits);
    move_param(c, p->block);
}

/* Code i of a row of bytes. */
static int64_t nbits_code(const holo_tensor *t, int64_t row, int64_t bytes, int64_t bits, int64_t i)
{
    const uint8_t *p = (const uint8_t *)t->data + row * bytes;
    return p[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
}

static double nbits_weight(const move_call *c, const nbits_case *p, int64_t n, int64_t k)
{
    const int64_t blocks = c->in[1].dim[1], block = k / p->block;
    double zero = (double)(1 << (p->bits - 1));
    if (p->zeros == HOLO_U8)
        zero = (double)nbits_code(&c->in[3], n, c->in[3].dim[1], p->bits, block);
    else if (p->zeros != HOLO_NONE)
        zero = value_get(&c->in[3], n * blocks + block);
    const double code = (double)nbits_code(&c->in[1], n, blocks * c->in[1].dim[2], p->bits, k);
    return (code - zero) * value_get(&c->in[2], n * blocks + block);
}

static void nbits_against_f64(const hg_kernel *kernel)
{
    for (size_t t = 0; t < HG_COUNT(nbits_cases); t++) {
        const nbits_case *p = &nbits_cases[t];
        move_call c = {0};
        nbits_make(&c, p);
        if (move_run(kernel, &c))
            for (int64_t i = 0; i < p->m * p->n; i++) {
                double sum = 0, size = 0;
                for (int64_t k = 0; k < p->k; k++) {
                    const double v =
                        value_get(&c.in[0], i / p->n * p->k + k) * nbits_weight(&c, p, i % p->n, k);
                    sum += v;
                    size += fabs(v);
                }
                if (!CHECK_NEAR(value_get(&c.out[0], i), sum, size * 1e-6 + 1e-30)) break;
            }
        move_free(&c);
    }
}

static void nbits_values(void)
{
    nbits_against_f64(hg_kernels_matmul_nbits);
}

#if defined(TUNED)
static void nbits_tuned(void)
{
    if (!tuned_runs()) SKIP("not for this CPU");
    nbits_against_f64(TUNED(matmul_nbits));
}
#endif

#if defined(__x86_64__)
static void nbits_tuned_dot(void)
{
    if (!tuned_dot_runs()) SKIP("not for this CPU");
    nbits_against_f64(TUNED_DOT(matmul_nbits));
}
#endif

static void nbits_make_good(move_call *c)
{
    nbits_make(c, &nbits_cases[3]);
}

static void nbits_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I8, "input 1 has type int8"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I32, "input 2 has type int32"},
        {MOVE_IN_TYPE, 3, 0, HOLO_I8, "input 3 has type int8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_PARAM, 0, 0, 1, "bits is 1"},
        {MOVE_PARAM, 0, 0, 16, "bits is 16"},
        {MOVE_PARAM, 0, 0, 6, "bits is 6, expected 2, 4 or 8"},
        {MOVE_PARAM, 1, 0, 8, "block is 8"},
        {MOVE_PARAM, 1, 0, 48, "block is 48, expected a power of two"},
        {MOVE_IN_RANK, 0, 0, 0, "A has rank 0"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
        {MOVE_OUT_DIM, 0, 0, 2, "output dimension 0 is 2, expected 3"},
        {MOVE_IN_RANK, 1, 0, 2, "B has rank 2"},
        {MOVE_IN_DIM, 1, 0, 3, "B is 3 x 3 x 16, expected 4 x 3 x 16"},
        {MOVE_IN_DIM, 1, 1, 2, "B is 4 x 2 x 16, expected 4 x 3 x 16"},
        {MOVE_IN_DIM, 1, 2, 15, "B is 4 x 3 x 15, expected 4 x 3 x 16"},
        {MOVE_IN_RANK, 2, 0, 1, "scales has rank 1"},
        {MOVE_IN_DIM, 2, 0, 3, "scales are 3 x 3, expected 4 x 3"},
        {MOVE_IN_DIM, 2, 1, 2, "scales are 4 x 2, expected 4 x 3"},
        {MOVE_IN_DIM, 3, 1, 1, "zero points are 4 x 1, expected 4 x 2"},
    };
    MOVE_REFUSES(hg_kernels_matmul_nbits, nbits_make_good, bad);
}

const hg_test_case hg_tests_kernel_matmul_nbits[] = {
    {"values", nbits_values},
#if defined(TUNED)
    {"tuned", nbits_tuned},
#endif
#if defined(__x86_64__)
    {"tuned_dot", nbits_tuned_dot},
#endif
    {"refuses", nbits_refuses},     {0},
};
