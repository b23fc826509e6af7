/* nonzero.c - nonzero: what counts as zero in each type, and where the others are. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_nonzero[];

static void nonzero_make(move_call *c, holo_dtype dtype)
{
    holo_tensor *in = move_in(c, dtype, 3, MOVE_DIMS(2, 3, 2));
    const size_t size = hg_dtype_bits(dtype) / 8;
    for (size_t i = 0; i < 12; i++)
        if (i % 5 != 1) memset((uint8_t *)in->data + i * size, 0, size);
    move_out(c, HOLO_I64, 2, MOVE_DIMS(3, 0));
}

static void nonzero_finds(void)
{
    static const holo_dtype types[] = {HOLO_BOOL, HOLO_I8,  HOLO_F16, HOLO_BF16, HOLO_I16, HOLO_F32,
                                       HOLO_U32,  HOLO_F64, HOLO_I64, HOLO_C64,  HOLO_C128};
    static const int64_t expected[] = {0, 1, 1, 0, 0, 2, 1, 0, 1}; /* elements 1, 6, 11 */
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        nonzero_make(&c, types[t]);
        if (move_size(hg_kernels_nonzero, &c) && move_run(hg_kernels_nonzero, &c)) {
            CHECK_EQ_INT(c.out[0].dim[1], 3);
            CHECK_MEM(c.out[0].data, expected, sizeof expected);
        }
        move_free(&c);
    }
}

static void nonzero_negative_zero(void)
{
    static const holo_dtype types[] = {HOLO_F16, HOLO_BF16, HOLO_F32, HOLO_F64,
                                       HOLO_I16, HOLO_I32,  HOLO_I64};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        holo_tensor *in = move_in(&c, types[t], 1, MOVE_DIMS(1));
        const size_t size = holo_tensor_bytes(in);
        memset(in->data, 0, size);
        ((uint8_t *)in->data)[size - 1] = 0x80;
        move_out(&c, HOLO_I64, 2, MOVE_DIMS(1, 0));
        move_size(hg_kernels_nonzero, &c);
        CHECK_EQ_INT(c.out[0].dim[1], t < 4 ? 0 : 1);
        move_free(&c);
    }
}

static void nonzero_strings(void)
{
    static const holo_string text[] = {{"a", 1}, {"", 0}, {"bc", 2}};
    move_call c = {0};
    memcpy(move_in(&c, HOLO_STRING, 1, MOVE_DIMS(3))->data, text, sizeof text);
    move_out(&c, HOLO_I64, 2, MOVE_DIMS(1, 0));
    if (move_size(hg_kernels_nonzero, &c) && move_run(hg_kernels_nonzero, &c))
        CHECK_MEM(c.out[0].data, MOVE_DIMS(0, 2), 16);
    move_free(&c);
}

/* More columns than there are elements: never beyond the input. */
static void nonzero_wrong_size(void)
{
    move_call c = {0};
    nonzero_make(&c, HOLO_F32);
    free(c.out[0].data);
    c.out[0] = move_tensor(HOLO_I64, 2, MOVE_DIMS(3, 9));
    move_run(hg_kernels_nonzero, &c);
    CHECK_EQ_INT(((const int64_t *)c.out[0].data)[8], 0);
    free(c.out[0].data);
    c.out[0] = move_tensor(HOLO_I64, 2, MOVE_DIMS(3, 1));
    move_run(hg_kernels_nonzero, &c);
    CHECK_EQ_INT(((const int64_t *)c.out[0].data)[2], 1);
    move_free(&c);
}

static void nonzero_make_good(move_call *c)
{
    nonzero_make(c, HOLO_F32);
}

static void nonzero_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I4, "input 0 has type int4"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
        {MOVE_OUT_DIM, 0, 0, 2, "the output has 2 rows"},
    };
    MOVE_REFUSES(hg_kernels_nonzero, nonzero_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    nonzero_make_good(&c);
    move_connect(&c);
    c.in[0].dim[0] = -1;
    CHECK_STATUS(hg_kernels_nonzero->size(&c.args, &e), HOLO_E_SHAPE);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_nonzero[] = {
    {"finds", nonzero_finds},     {"negative_zero", nonzero_negative_zero},
    {"strings", nonzero_strings}, {"wrong_size", nonzero_wrong_size},
    {"refuses", nonzero_refuses}, {0},
};
