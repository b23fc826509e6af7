/* fusedmatmul.c - com.microsoft:FusedMatMul: alpha A' B', where the matrices and the axes of the
 * batch may be transposed. */
#include "op/op_matmul.h"

/* Axes of A' in A: [b1, b2 .. m, k] is stored as [m, b1, b2 .. k] when its batch is transposed;
 * then the last two may be swapped. */
static void fusedmatmul_perm(const hg_node *node, uint32_t i, int32_t rank, int64_t *perm)
{
    bool swaps = hg_node_int(node, i == 0 ? "transA" : "transB", 0) != 0;
    bool turns = hg_node_int(node, i == 0 ? "transBatchA" : "transBatchB", 0) != 0;
    for (int32_t k = 0; k < rank; k++)
        perm[k] = k;
    if (rank < 2) return;
    for (int32_t k = 0; turns && k < rank - 2; k++)
        perm[k] = k + 1;
    if (turns) perm[rank - 2] = 0;
    if (!swaps) return;
    int64_t kept = perm[rank - 1];
    perm[rank - 1] = perm[rank - 2];
    perm[rank - 2] = kept;
}

static holo_status fusedmatmul_infer(hg_infer *n)
{
    int64_t flag, perm[HG_MAX_RANK];
    double alpha;
    hg_type side[2];
    static const char *const names[] = {"transA", "transB", "transBatchA", "transBatchB"};
    for (size_t i = 0; i < HG_COUNT(names); i++)
        HG_TRY(hg_attr_int(n, names[i], 0, &flag));
    HG_TRY(hg_attr_float(n, "alpha", 1.0, &alpha));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    for (uint32_t i = 0; i < 2; i++) {
        side[i] = *n->in[i];
        fusedmatmul_perm(n->node, i, side[i].rank, perm);
        for (int32_t k = 0; k < side[i].rank; k++)
            side[i].dim[k] = n->in[i]->dim[perm[k]];
    }
    HG_TRY(hg_matmul_infer(n, &side[0], &side[1], &n->out[0]));
    n->out[0].dtype = n->in[0]->dtype;
    return HOLO_OK;
}

/* One operand; swapping its last axes is left to the product. */
static hg_value_id fusedmatmul_operand(hg_build *b, uint32_t i)
{
    hg_value_id x = hg_build_in(b, i);
    const int32_t rank = hg_build_type(b, x)->rank;
    int64_t perm[HG_MAX_RANK], axis = i;
    if (rank == 1) return hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, &axis, 1));
    if (hg_node_int(b->node, i == 0 ? "transBatchA" : "transBatchB", 0) == 0) return x;
    fusedmatmul_perm(b->node, i, rank, perm);
    hg_attr attr = hg_attr_make_ints(b, "perm", perm, (uint32_t)rank);
    return hg_build_op(b, "Transpose", &x, 1, &attr, 1);
}

/* The product still has to swap the last axes of operand i. */
static bool fusedmatmul_swaps(const hg_build *b, uint32_t i)
{
    return hg_build_type(b, hg_build_in(b, i))->rank > 1 &&
           hg_node_int(b->node, i == 0 ? "transBatchA" : "transBatchB", 0) == 0 &&
           hg_node_int(b->node, i == 0 ? "transA" : "transB", 0) != 0;
}

static holo_status fusedmatmul_lower(hg_build *b)
{
    bool left = hg_build_type(b, hg_build_in(b, 0))->rank == 1;
    bool right = hg_build_type(b, hg_build_in(b, 1))->rank == 1;
    hg_attr attr[] = {
        hg_attr_make_int("trans_a", fusedmatmul_swaps(b, 0)),
        hg_attr_make_int("trans_b", fusedmatmul_swaps(b, 1)),
        hg_attr_make_float("alpha", hg_node_float(b->node, "alpha", 1.0)),
    };
    hg_value_id in[] = {fusedmatmul_operand(b, 0), fusedmatmul_operand(b, 1)};
    hg_value_id y = hg_build_op(b, "holo:MatMul", in, 2, attr, HG_COUNT(attr));
    hg_build_replace(b, 0, hg_matmul_drop(b, y, left, right));
    return b->status;
}

const hg_op hg_op_microsoft_fusedmatmul = {
    .name = "FusedMatMul",
    .domain = "com.microsoft",
    .brief = "alpha A' B', where matrices and axes of the batch may be transposed",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = fusedmatmul_infer,
    .lower = fusedmatmul_lower,
};
