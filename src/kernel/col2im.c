/* col2im.c - col2im: sums columns of blocks back into a picture, any number of spatial axes.
 *
 *   in[0]  X [N, C * block elements, blocks]; blocks numbered last axis fastest
 *   param  n_spatial, then lists: block, stride, pad_begin, dilation, blocks along each axis
 *   out[0] Y [N, C, spatial...], X's type: the sum of all that cover an element
 *
 * Summed in the order of the block's elements, in the type itself, f16 and bf16 in f32 with one
 * rounding at the end; integers modulo their width; a sum of bool says whether any is true. */
#include "isa/lane_io.h"
#include "kernel/conv.h"

#define COL2IM_TYPES (HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_COMPLEX)

enum { COL2IM_LIMIT = INT32_MAX, COL2IM_MAX_SPATIAL = HG_MAX_RANK - 2 };

static holo_status col2im_check_axes(const hg_args *a, holo_error *e, uint32_t rank)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    int64_t taps = y->dim[1], blocks = 1;
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t at = 1 + d;
        HG_TRY(hg_check_param(a, e, at, "block", 1, COL2IM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + rank, "stride", 1, COL2IM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + 2 * rank, "padding", -COL2IM_LIMIT, COL2IM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + 3 * rank, "dilation", 1, COL2IM_LIMIT));
        HG_TRY(hg_check_param(a, e, at + 4 * rank, "number of blocks", 0, INT64_MAX));
        HG_REQUIRE(e,
                   hg_mul_i64(taps, a->param[at], &taps) &&
                       hg_mul_i64(blocks, a->param[at + 4 * rank], &blocks),
                   HOLO_E_SHAPE, "the blocks are too large");
    }
    HG_REQUIRE(e, x->dim[1] == taps, HOLO_E_SHAPE, "input has %lld rows, expected %lld",
               (long long)x->dim[1], (long long)taps);
    HG_REQUIRE(e, x->dim[2] == blocks, HOLO_E_SHAPE, "input has %lld blocks, expected %lld",
               (long long)x->dim[2], (long long)blocks);
    return HOLO_OK;
}

static holo_status col2im_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_param(a, e, 0, "number of spatial axes", 1, COL2IM_MAX_SPATIAL));
    const int rank = (int)a->param[0];
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 1 + 5 * rank));
    HG_TRY(hg_check_in_type(a, e, 0, COL2IM_TYPES));
    HG_TRY(hg_check_out_type(a, e, 0, COL2IM_TYPES));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_rank(&a->in[0], e, "input", 3, 3));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", rank + 2, rank + 2));
    HG_REQUIRE(e, a->in[0].dim[0] == a->out[0].dim[0], HOLO_E_SHAPE,
               "output has %lld pictures, expected %lld", (long long)a->out[0].dim[0],
               (long long)a->in[0].dim[0]);
    return col2im_check_axes(a, e, (uint32_t)rank);
}

static int64_t col2im_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : a->out[0].dim[0] * a->out[0].dim[1];
}

/* y[i * step] += x[i], elements of `parts` numbers each. */
typedef void (*col2im_add_fn)(const void *x, int64_t n, int64_t parts, int64_t step, void *y);

#define COL2IM_ADD(T, suffix, operator)                                                            \
    static void col2im_add_##suffix(const void *vx, int64_t n, int64_t parts, int64_t step,        \
                                    void *vy)                                                      \
    {                                                                                              \
        const T *HG_RESTRICT x = vx;                                                               \
        T *HG_RESTRICT y = vy;                                                                     \
        for (int64_t i = 0; step == 1 && i < n * parts; i++)                                       \
            y[i] = (T)(y[i] operator x[i]);                                                        \
        for (int64_t i = 0; step != 1 && i < n * parts; i++)                                       \
            y[i / parts * step * parts + i % parts] =                                              \
                (T)(y[i / parts * step * parts + i % parts] operator x[i]);                        \
    }
COL2IM_ADD(uint8_t, b8, |)
COL2IM_ADD(uint8_t, u8, +)
COL2IM_ADD(uint16_t, u16, +)
COL2IM_ADD(uint32_t, u32, +)
COL2IM_ADD(uint64_t, u64, +)
COL2IM_ADD(float, f32, +)
COL2IM_ADD(double, f64, +)
#undef COL2IM_ADD

/* Signs make no difference to the low bits of a sum. */
static col2im_add_fn col2im_find_add(holo_dtype dtype)
{
    const uint32_t bits = hg_dtype_bits(dtype);
    if (dtype == HOLO_BOOL) return col2im_add_b8;
    if (dtype == HOLO_F64 || dtype == HOLO_C128) return col2im_add_f64;
    if (hg_dtype_is_float(dtype) || dtype == HOLO_C64) return col2im_add_f32;
    if (bits == 8) return col2im_add_u8;
    if (bits == 16) return col2im_add_u16;
    return bits == 32 ? col2im_add_u32 : col2im_add_u64;
}

typedef struct col2im_work {
    int last; /* spatial axis */
    const int64_t *block, *stride, *pad, *dilation, *blocks, *size;
    holo_dtype dtype;
    col2im_add_fn add;
    int64_t bytes, parts; /* of an element */
    float *row, *sum;     /* of f16 and bf16: widened blocks of the last axis, a plane */
    /* of the element of the block at hand: blocks whose place is inside, the place of the first */
    int64_t begin[COL2IM_MAX_SPATIAL], end[COL2IM_MAX_SPATIAL], first[COL2IM_MAX_SPATIAL];
} col2im_work;

static bool col2im_widens(holo_dtype dtype)
{
    return hg_dtype_is_float(dtype) && hg_dtype_bits(dtype) == 16;
}

static size_t col2im_scratch(const hg_args *a)
{
    const holo_tensor *y = &a->out[0];
    if (!col2im_widens(y->dtype)) return 0;
    return (size_t)(a->param[a->n_param - 1] + hg_dims_product(y, 2, y->rank)) * sizeof(float);
}

static col2im_work col2im_work_of(const hg_args *a, void *scratch)
{
    const int64_t rank = a->param[0];
    const holo_dtype dtype = a->in[0].dtype;
    const bool is_complex = dtype == HOLO_C64 || dtype == HOLO_C128;
    col2im_work w = {.last = (int)rank - 1,
                     .block = a->param + 1,
                     .size = a->out[0].dim + 2,
                     .dtype = dtype,
                     .add = col2im_find_add(dtype),
                     .bytes = hg_dtype_bits(dtype) / 8,
                     .parts = is_complex ? 2 : 1};
    w.stride = w.block + rank;
    w.pad = w.stride + rank;
    w.dilation = w.pad + rank;
    w.blocks = w.dilation + rank;
    if (!col2im_widens(dtype)) return w;
    w.row = scratch;
    w.sum = w.row + w.blocks[rank - 1];
    return w;
}

/* The blocks that element number `tap` of a block is inside with; false when there are none. */
static bool col2im_find_blocks(col2im_work *w, int64_t tap)
{
    bool found = true;
    for (int d = w->last; d >= 0; d--) {
        const int64_t shift = tap % w->block[d] * w->dilation[d];
        tap /= w->block[d];
        hg_conv_inside(w->size[d], w->blocks[d], w->stride[d], w->pad[d], shift, &w->begin[d],
                       &w->end[d]);
        w->first[d] = w->begin[d] * w->stride[d] + shift - w->pad[d];
        found = found && w->begin[d] < w->end[d];
    }
    return found;
}

/* Adds x, one element of all blocks, to the plane y: axis d and those behind it, blocks from number
 * `from` and places from number `to` on. */
static void col2im_add(const col2im_work *w, int d, const char *x, int64_t from, int64_t to,
                       char *y)
{
    from = from * w->blocks[d] + w->begin[d];
    to = to * w->size[d] + w->first[d];
    if (d < w->last) {
        for (int64_t b = w->begin[d]; b < w->end[d]; b++, from++, to += w->stride[d])
            col2im_add(w, d + 1, x, from, to, y);
        return;
    }
    const int64_t n = w->end[d] - w->begin[d];
    if (w->row == NULL) {
        w->add(x + from * w->bytes, n, w->parts, w->stride[d], y + to * w->bytes);
        return;
    }
    hg_lane_read(w->dtype, w->row, x, from, 1, n);
    w->add(w->row, n, 1, w->stride[d], w->sum + to);
}

static void col2im_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t plane = hg_dims_product(y, 2, y->rank), blocks = x->dim[2];
    const int64_t taps = blocks == 0 ? 0 : x->dim[1] / y->dim[1];
    col2im_work w = col2im_work_of(a, r.scratch);
    for (int64_t u = r.begin; u < r.end; u++) {
        char *to = (char *)y->data + u * plane * w.bytes;
        if (w.sum != NULL) memset(w.sum, 0, (size_t)plane * sizeof(float));
        if (w.sum == NULL) memset(to, 0, (size_t)(plane * w.bytes));
        for (int64_t t = 0; t < taps; t++)
            if (col2im_find_blocks(&w, t))
                col2im_add(&w, 0, (const char *)x->data + (u * taps + t) * blocks * w.bytes, 0, 0,
                           to);
        if (w.sum != NULL) hg_lane_write(w.dtype, false, y->data, u * plane, 1, w.sum, plane);
    }
}

const hg_kernel hg_kernels_col2im[] = {
    {.name = "col2im",
     .check = col2im_check,
     .units = col2im_units,
     .scratch = col2im_scratch,
     .run = col2im_run},
    {0},
};
