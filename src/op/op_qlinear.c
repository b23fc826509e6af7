/* op_qlinear.c - operators on 8-bit codes that are computed on the numbers behind them. */
#include "op/op_qlinear.h"

static holo_status qlinear_check_single(const hg_infer *n, uint32_t i)
{
    const hg_type *t = n->in[i];
    if (t->rank == 0 || (t->rank == 1 && hg_infer_equal(n, t->dim[0], hg_dim_const(n->dims, 1))))
        return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_SHAPE, "input %u is not one number", i);
}

holo_status hg_qlinear_check(const hg_infer *n, uint32_t scale, holo_dtype dtype)
{
    HG_TRY(hg_infer_types(n, scale, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(qlinear_check_single(n, scale));
    if (!hg_infer_has(n, scale + 1)) return HOLO_OK;
    HG_TRY(hg_infer_types(n, scale + 1, HG_TYPE_BIT(dtype)));
    return qlinear_check_single(n, scale + 1);
}

holo_status hg_qlinear_infer(hg_infer *n)
{
    HG_TRY(hg_qlinear_check(n, 1, n->in[0]->dtype));
    HG_TRY(hg_qlinear_check(n, 3, n->in[0]->dtype));
    return hg_infer_same_as_input(n);
}

enum { QLINEAR_A, QLINEAR_B = 3, QLINEAR_SCALE = 6 };

holo_status hg_qlinear_binary_infer(hg_infer *n)
{
    const holo_dtype dtype = n->in[QLINEAR_A]->dtype;
    HG_TRY(hg_infer_types(n, QLINEAR_B, HG_TYPE_BIT(dtype)));
    HG_TRY(hg_qlinear_check(n, QLINEAR_A + 1, dtype));
    HG_TRY(hg_qlinear_check(n, QLINEAR_B + 1, dtype));
    HG_TRY(hg_qlinear_check(n, QLINEAR_SCALE, dtype));
    const hg_type *in[] = {n->in[QLINEAR_A], n->in[QLINEAR_B]};
    hg_infer operands = *n;
    operands.in = in;
    operands.n_in = HG_COUNT(in);
    return hg_infer_broadcast(&operands);
}

/* [N, spatial.., C] as [N, C, spatial..], or back. */
static hg_type qlinear_channels(const hg_type *t, bool to_last)
{
    hg_type moved = *t;
    for (int32_t k = 1; k < t->rank; k++)
        moved.dim[k] =
            to_last ? t->dim[k == t->rank - 1 ? 1 : k + 1] : t->dim[k == 1 ? t->rank - 1 : k - 1];
    return moved;
}

holo_status hg_qlinear_pool_infer(hg_infer *n, const char *op)
{
    int64_t last;
    HG_TRY(hg_attr_int(n, "channels_last", 0, &last));
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_qlinear_infer(n));
    hg_type x = last == 0 ? *n->in[0] : qlinear_channels(n->in[0], false);
    const hg_type *in = &x;
    hg_infer pool = *n;
    pool.in = &in;
    pool.n_in = 1;
    HG_TRY(hg_op_get(op)->infer(&pool));
    if (last != 0) n->out[0] = qlinear_channels(&n->out[0], true);
    return HOLO_OK;
}

/* A vector of one element beside a scalar would give the result an axis. */
static hg_value_id qlinear_scalar(hg_build *b, uint32_t i)
{
    hg_value_id x = hg_build_in(b, i);
    if (x == 0 || hg_build_type(b, x)->rank == 0) return x;
    return hg_build_2(b, "Reshape", x, hg_build_ints(b, NULL, 0));
}

hg_value_id hg_build_dequantized(hg_build *b, uint32_t i)
{
    return hg_build_3(b, "DequantizeLinear", hg_build_in(b, i), qlinear_scalar(b, i + 1),
                      qlinear_scalar(b, i + 2));
}

hg_value_id hg_build_quantized(hg_build *b, hg_value_id y, uint32_t i, holo_dtype dtype)
{
    hg_attr to = hg_attr_make_int("output_dtype", (int64_t)dtype);
    hg_value_id in[] = {y, qlinear_scalar(b, i), qlinear_scalar(b, i + 1)};
    return hg_build_op(b, "QuantizeLinear", in, HG_COUNT(in), &to, 1);
}

holo_status hg_qlinear_binary_lower(hg_build *b, const char *op)
{
    const holo_dtype dtype = hg_build_type(b, hg_build_in(b, QLINEAR_A))->dtype;
    hg_value_id x = hg_build_dequantized(b, QLINEAR_A), y = hg_build_dequantized(b, QLINEAR_B);
    hg_build_replace(b, 0, hg_build_quantized(b, hg_build_2(b, op, x, y), QLINEAR_SCALE, dtype));
    return b->status;
}

static hg_value_id qlinear_move_channels(hg_build *b, hg_value_id x, bool to_last)
{
    if (b->status != HOLO_OK) return 0;
    const int32_t rank = hg_build_type(b, x)->rank;
    int64_t perm[HG_MAX_RANK] = {0};
    for (int32_t k = 1; k < rank; k++)
        perm[k] = to_last ? (k == rank - 1 ? 1 : k + 1) : (k == 1 ? rank - 1 : k - 1);
    hg_attr attr = hg_attr_make_ints(b, "perm", perm, (uint32_t)rank);
    return hg_build_op(b, "Transpose", &x, 1, &attr, 1);
}

/* The zero point is added before the sum is rounded, as ONNX Runtime does in QLinearAveragePool,
 * and only there: means of codes lie half way often, where an odd zero point decides. */
static hg_value_id qlinear_round_sum(hg_build *b, hg_value_id y, uint32_t i, holo_dtype dtype)
{
    const hg_value_id zero = qlinear_scalar(b, i + 1), one = hg_build_scalar(b, HOLO_F32, 1.0);
    hg_attr to = hg_attr_make_int("output_dtype", (int64_t)dtype);
    y = hg_build_2(b, "Div", y, qlinear_scalar(b, i));
    if (zero != 0) y = hg_build_2(b, "Add", y, hg_build_cast(b, zero, HOLO_F32));
    hg_value_id in[] = {y, one};
    return hg_build_op(b, "QuantizeLinear", in, HG_COUNT(in), &to, 1);
}

holo_status hg_qlinear_pool_lower(hg_build *b, const char *op)
{
    const holo_dtype dtype = hg_build_type(b, hg_build_in(b, 0))->dtype;
    bool last = hg_node_int(b->node, "channels_last", 0) != 0;
    hg_value_id x = hg_build_dequantized(b, 0);
    if (last) x = qlinear_move_channels(b, x, false);
    hg_value_id y = hg_build_renamed(b, op, &x, 1, "channels_last");
    if (last) y = qlinear_move_channels(b, y, true);
    const bool is_window = strcmp(op, "AveragePool") == 0;
    hg_build_replace(
        b, 0, is_window ? qlinear_round_sum(b, y, 3, dtype) : hg_build_quantized(b, y, 3, dtype));
    return b->status;
}
