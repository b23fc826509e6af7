/* gatherblockquantized.c - com.microsoft:GatherBlockQuantized: Gather of codes in blocks that have
 * a scale and a zero point each, and the numbers behind them. */
#include "op/op_nbits.h"

enum { GBQ_DATA, GBQ_INDICES, GBQ_SCALES, GBQ_ZEROS };

#define GBQ_CODES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I4) | HG_TYPE_BIT(HOLO_U4))
#define GBQ_FLOATS (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))

typedef struct gbq_form {
    int64_t bits, block;
    int32_t gather, quantize; /* axes */
    hg_dim count;             /* codes along the quantised axis */
} gbq_form;

static holo_status gbq_read(const hg_infer *n, gbq_form *f)
{
    const hg_type *data = n->in[GBQ_DATA];
    const int32_t last = data->rank - 1;
    HG_TRY(hg_attr_int(n, "bits", 4, &f->bits));
    HG_TRY(hg_attr_int(n, "block_size", 128, &f->block));
    HG_TRY(hg_attr_axis(n, "gather_axis", 0, data->rank, &f->gather));
    HG_TRY(hg_attr_axis(n, "quantize_axis", 1, data->rank, &f->quantize));
    HG_TRY(hg_nbits_check(n, f->bits, f->block));
    f->count = data->dim[f->quantize];
    if (data->dtype != HOLO_U8) return HOLO_OK;
    if (f->quantize != last || f->gather == last)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "quantize_axis is %d and gather_axis %d, expected the last axis and "
                             "another one for uint8 data",
                             f->quantize, f->gather);
    f->count = hg_dim_mul(n->dims, data->dim[last], hg_dim_const(n->dims, 8 / f->bits));
    return HOLO_OK;
}

static holo_status gbq_check_scales(const hg_infer *n, const gbq_form *f)
{
    const hg_type *data = n->in[GBQ_DATA], *scales = n->in[GBQ_SCALES];
    hg_dim blocks = hg_dim_ceildiv(n->dims, f->count, hg_dim_const(n->dims, f->block));
    int64_t packed = data->dtype == HOLO_U8 ? 8 / f->bits : 1;
    HG_TRY(hg_infer_rank(n, GBQ_SCALES, data->rank, data->rank));
    for (int32_t i = 0; i < data->rank; i++)
        if (!hg_infer_equal(n, scales->dim[i], i == f->quantize ? blocks : data->dim[i]))
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "dimension %d of the scales does not fit the data", i);
    if (!hg_infer_has(n, GBQ_ZEROS)) return HOLO_OK;
    HG_TRY(hg_infer_same_type(n, GBQ_DATA, GBQ_ZEROS));
    HG_TRY(hg_infer_rank(n, GBQ_ZEROS, data->rank, data->rank));
    for (int32_t i = 0; i < data->rank; i++) {
        hg_dim wanted = scales->dim[i];
        if (i == f->quantize)
            wanted = hg_dim_ceildiv(n->dims, wanted, hg_dim_const(n->dims, packed));
        if (!hg_infer_equal(n, n->in[GBQ_ZEROS]->dim[i], wanted))
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "dimension %d of the zero points does not fit the scales", i);
    }
    return HOLO_OK;
}

static holo_status gbq_infer(hg_infer *n)
{
    gbq_form f;
    const hg_type *data = n->in[GBQ_DATA], *indices = n->in[GBQ_INDICES];
    HG_TRY(hg_infer_rank(n, GBQ_DATA, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_types(n, GBQ_INDICES, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_infer_types(n, GBQ_SCALES, GBQ_FLOATS));
    HG_TRY(gbq_read(n, &f));
    HG_TRY(gbq_check_scales(n, &f));
    const int32_t rank = data->rank - 1 + indices->rank;
    if (rank > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "the result has rank %d, at most %d is possible", rank, HG_MAX_RANK);
    hg_type *out = &n->out[0];
    *out = (hg_type){.dtype = n->in[GBQ_SCALES]->dtype};
    for (int32_t i = 0; i < data->rank; i++) {
        hg_dim dim = i == f.quantize ? f.count : data->dim[i];
        if (i != f.gather) out->dim[out->rank++] = dim;
        for (int32_t k = 0; i == f.gather && k < indices->rank; k++)
            out->dim[out->rank++] = indices->dim[k];
    }
    return HOLO_OK;
}

static hg_value_id gbq_gather(hg_build *b, hg_value_id x, int32_t axis)
{
    hg_attr attr = hg_attr_make_int("axis", axis);
    hg_value_id in[] = {x, hg_build_in(b, GBQ_INDICES)};
    return x == 0 ? 0 : hg_build_op(b, "Gather", in, 2, &attr, 1);
}

/* Without zero points bytes have the middle of their range and 4-bit types 0. */
static hg_value_id gbq_zeros(hg_build *b, const gbq_form *f, hg_value_id zeros, hg_value_id scales)
{
    if (b->status != HOLO_OK) return 0;
    const hg_type type = *hg_build_type(b, scales);
    bool bytes = hg_build_type(b, hg_build_in(b, GBQ_DATA))->dtype == HOLO_U8;
    if (!bytes) return zeros;
    if (zeros != 0) return hg_build_unpacked(b, zeros, f->bits, type.dim[type.rank - 1]);
    hg_value_id middle = hg_build_scalar(b, HOLO_U8, (double)(1 << (f->bits - 1)));
    return hg_build_2(b, "Expand", middle, hg_build_dims(b, type.dim, (uint32_t)type.rank));
}

static hg_value_id gbq_numbers(hg_build *b, const gbq_form *f, hg_value_id in[3], int32_t axis)
{
    if (hg_build_type(b, hg_build_in(b, GBQ_DATA))->dtype == HOLO_U8)
        in[0] = hg_build_unpacked(b, in[0], f->bits, f->count);
    in[2] = gbq_zeros(b, f, in[2], in[1]);
    hg_attr attr[] = {hg_attr_make_int("axis", axis), hg_attr_make_int("block_size", f->block)};
    return hg_build_op(b, "DequantizeLinear", in, 3, attr, HG_COUNT(attr));
}

static holo_status gbq_lower(hg_build *b)
{
    hg_infer n;
    hg_value_id in[] = {hg_build_in(b, GBQ_DATA), hg_build_in(b, GBQ_SCALES),
                        hg_build_in(b, GBQ_ZEROS)};
    gbq_form f;
    HG_TRY(hg_build_reader(b, &n));
    HG_TRY(gbq_read(&n, &f));
    const int32_t more = hg_build_type(b, hg_build_in(b, GBQ_INDICES))->rank - 1;
    if (f.gather == f.quantize) { /* blocks are cut apart: all numbers first */
        hg_build_replace(b, 0, gbq_gather(b, gbq_numbers(b, &f, in, f.quantize), f.gather));
        return b->status;
    }
    for (size_t i = 0; i < HG_COUNT(in); i++)
        in[i] = gbq_gather(b, in[i], f.gather);
    hg_build_replace(
        b, 0, gbq_numbers(b, &f, in, f.quantize < f.gather ? f.quantize : f.quantize + more));
    return b->status;
}

const hg_op hg_op_microsoft_gatherblockquantized = {
    .name = "GatherBlockQuantized",
    .domain = "com.microsoft",
    .brief = "Gather of codes in blocks that have a scale each, and the numbers behind them",
    .since = 1,
    .in = {3, 4},
    .out = {1, 1},
    .types = GBQ_CODES,
    .infer = gbq_infer,
    .lower = gbq_lower,
};
