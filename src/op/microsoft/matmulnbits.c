/* matmulnbits.c - com.microsoft:MatMulNBits: a product with weights of 2, 4 or 8 bits in blocks
 * that have a scale and a zero point each. The kernel reads the weights as they lie. */
#include "op/op_nbits.h"

enum { NBITS_A, NBITS_B, NBITS_SCALES, NBITS_ZEROS, NBITS_GROUPS, NBITS_BIAS };

#define NBITS_FLOATS (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))

typedef struct nbits_form {
    int64_t k, n, bits, block, blocks;
} nbits_form;

static nbits_form nbits_read(const hg_node *node)
{
    nbits_form f = {.k = hg_node_int(node, "K", 0),
                    .n = hg_node_int(node, "N", 0),
                    .bits = hg_node_int(node, "bits", 4),
                    .block = hg_node_int(node, "block_size", 0)};
    f.blocks = f.block < 1 ? 0 : f.k / f.block + (f.k % f.block != 0);
    return f;
}

static int64_t nbits_zero_bytes(const nbits_form *f)
{
    const int64_t codes = 8 / f->bits;
    return f->blocks / codes + (f->blocks % codes != 0);
}

static holo_status nbits_check_attributes(const hg_infer *n)
{
    static const char *const names[] = {"K", "N", "block_size"};
    int64_t value;
    for (size_t i = 0; i < HG_COUNT(names); i++) {
        HG_TRY(hg_attr_int(n, names[i], 0, &value));
        if (value < 1 || value > INT32_MAX)
            return hg_infer_fail(n, HOLO_E_MODEL, "%s is %lld, expected at least 1", names[i],
                                 (long long)value);
    }
    HG_TRY(hg_attr_int(n, "bits", 4, &value));
    HG_TRY(hg_nbits_check(n, value, hg_node_int(n->node, "block_size", 0)));
    HG_TRY(hg_attr_int(n, "accuracy_level", 0, &value));
    HG_TRY(hg_attr_int(n, "weight_prepacked", 0, &value));
    if (value == 0) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "weight_prepacked is %lld, expected 0",
                         (long long)value);
}

/* Input i is [rows, columns] or, as old models have it, [rows * columns]. */
static holo_status nbits_check_table(const hg_infer *n, uint32_t i, int64_t rows, int64_t columns)
{
    const hg_type *t = n->in[i];
    HG_TRY(hg_infer_rank(n, i, 1, 2));
    bool fits = t->rank == 1 ? hg_infer_equal(n, t->dim[0], hg_dim_const(n->dims, rows * columns))
                             : hg_infer_equal(n, t->dim[0], hg_dim_const(n->dims, rows)) &&
                                   hg_infer_equal(n, t->dim[1], hg_dim_const(n->dims, columns));
    if (fits) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_SHAPE, "input %u is not %lld x %lld", i, (long long)rows,
                         (long long)columns);
}

static holo_status nbits_check_inputs(const hg_infer *n, const nbits_form *f)
{
    const hg_type *a = n->in[NBITS_A], *b = n->in[NBITS_B];
    HG_TRY(hg_infer_rank(n, NBITS_A, 1, HG_MAX_RANK));
    if (!hg_infer_equal(n, a->dim[a->rank - 1], hg_dim_const(n->dims, f->k)))
        return hg_infer_fail(n, HOLO_E_SHAPE, "the last axis of A does not have K = %lld elements",
                             (long long)f->k);
    HG_TRY(hg_infer_types(n, NBITS_B, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_infer_rank(n, NBITS_B, 3, 3));
    const int64_t dims[] = {f->n, f->blocks, f->block * f->bits / 8};
    for (int32_t i = 0; i < 3; i++)
        if (!hg_infer_equal(n, b->dim[i], hg_dim_const(n->dims, dims[i])))
            return hg_infer_fail(n, HOLO_E_SHAPE, "dimension %d of B is not %lld", i,
                                 (long long)dims[i]);
    HG_TRY(hg_infer_types(n, NBITS_SCALES, NBITS_FLOATS));
    HG_TRY(nbits_check_table(n, NBITS_SCALES, f->n, f->blocks));
    if (hg_infer_has(n, NBITS_ZEROS)) {
        bool packed = n->in[NBITS_ZEROS]->dtype == HOLO_U8;
        HG_TRY(hg_infer_types(n, NBITS_ZEROS, NBITS_FLOATS | HG_TYPE_BIT(HOLO_U8)));
        HG_TRY(nbits_check_table(n, NBITS_ZEROS, f->n, packed ? nbits_zero_bytes(f) : f->blocks));
    }
    if (hg_infer_has(n, NBITS_GROUPS)) {
        HG_TRY(hg_infer_types(n, NBITS_GROUPS, HG_TYPE_BIT(HOLO_I32)));
        HG_TRY(hg_infer_rank(n, NBITS_GROUPS, 1, 1));
    }
    if (!hg_infer_has(n, NBITS_BIAS)) return HOLO_OK;
    HG_TRY(hg_infer_same_type(n, NBITS_A, NBITS_BIAS));
    HG_TRY(hg_infer_rank(n, NBITS_BIAS, 1, 1));
    if (hg_infer_equal(n, n->in[NBITS_BIAS]->dim[0], hg_dim_const(n->dims, f->n))) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_SHAPE, "the bias does not have N = %lld elements",
                         (long long)f->n);
}

static holo_status nbits_infer(hg_infer *n)
{
    HG_TRY(nbits_check_attributes(n));
    const nbits_form f = nbits_read(n->node);
    HG_TRY(nbits_check_inputs(n, &f));
    n->out[0] = *n->in[NBITS_A];
    n->out[0].dim[n->out[0].rank - 1] = hg_dim_const(n->dims, f.n);
    return HOLO_OK;
}

/* [rows * columns] as [rows, columns]. */
static hg_value_id nbits_table(hg_build *b, uint32_t i, int64_t rows)
{
    hg_value_id x = hg_build_in(b, i);
    if (x == 0 || hg_build_type(b, x)->rank == 2) return x;
    return hg_build_2(b, "Reshape", x, hg_build_ints(b, (int64_t[]){rows, -1}, 2));
}

/* Zero points as numbers, [N, blocks], or one for all. */
static hg_value_id nbits_zeros(hg_build *b, const nbits_form *f)
{
    hg_value_id zeros = nbits_table(b, NBITS_ZEROS, f->n);
    if (zeros == 0) return hg_build_scalar(b, HOLO_F32, (double)(1 << (f->bits - 1)));
    if (hg_build_type(b, zeros)->dtype == HOLO_U8)
        zeros = hg_build_unpacked(b, zeros, f->bits, hg_dim_const(&b->g->dims, f->blocks));
    return hg_build_cast(b, zeros, HOLO_F32);
}

/* The table [N, blocks] at the group of each k, [N, K]; one number stays. */
static hg_value_id nbits_by_group(hg_build *b, hg_value_id table, hg_value_id groups)
{
    hg_attr axis = hg_attr_make_int("axis", 1);
    if (b->status != HOLO_OK || hg_build_type(b, table)->rank == 0) return table;
    return hg_build_op(b, "Gather", (hg_value_id[]){table, groups}, 2, &axis, 1);
}

/* Elements of a row may belong to blocks in any order: then the weights are computed and the
 * product is an ordinary one. The operator's documentation calls that deprecated. */
static hg_value_id nbits_grouped(hg_build *b, const nbits_form *f, hg_value_id a)
{
    hg_dims *d = &b->g->dims;
    hg_value_id groups[] = {hg_build_in(b, NBITS_GROUPS), hg_build_ints(b, (int64_t[]){0}, 1),
                            hg_build_ints(b, &f->k, 1)};
    groups[0] = hg_build_op(b, "Slice", groups, 3, NULL, 0);
    hg_value_id w = hg_build_2(b, "Reshape", hg_build_in(b, NBITS_B),
                               hg_build_ints(b, (int64_t[]){f->n, -1}, 2));
    w = hg_build_cast(b, hg_build_unpacked(b, w, f->bits, hg_dim_const(d, f->k)), HOLO_F32);
    if (f->bits == 8 && f->k % f->block != 0) {
        hg_value_id in[] = {w, hg_build_ints(b, (int64_t[]){0}, 1), hg_build_ints(b, &f->k, 1),
                            hg_build_ints(b, (int64_t[]){1}, 1)};
        w = hg_build_op(b, "Slice", in, HG_COUNT(in), NULL, 0);
    }
    hg_value_id scales = hg_build_cast(b, nbits_table(b, NBITS_SCALES, f->n), HOLO_F32);
    w = hg_build_2(b, "Sub", w, nbits_by_group(b, nbits_zeros(b, f), groups[0]));
    w = hg_build_2(b, "Mul", w, nbits_by_group(b, scales, groups[0]));
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){1, 0}, 2);
    return hg_build_2(b, "MatMul", a, hg_build_op(b, "Transpose", &w, 1, &perm, 1));
}

/* The kernel takes floats of 32 bits and tables of rank 2; a bias is a sum of its own. */
static holo_status nbits_lower(hg_build *b)
{
    const nbits_form f = nbits_read(b->node);
    hg_value_id a = hg_build_in(b, NBITS_A), bias = hg_build_in(b, NBITS_BIAS), y;
    const holo_dtype dtype = hg_build_type(b, a)->dtype;
    hg_value_id zeros = hg_build_in(b, NBITS_ZEROS), groups = hg_build_in(b, NBITS_GROUPS);
    bool has_tables = hg_build_type(b, hg_build_in(b, NBITS_SCALES))->rank == 2 &&
                      (zeros == 0 || hg_build_type(b, zeros)->rank == 2);
    if (dtype == HOLO_F32 && bias == 0 && groups == 0 && has_tables) return HOLO_OK;
    a = hg_build_cast(b, a, HOLO_F32);
    if (groups != 0) {
        y = nbits_grouped(b, &f, a);
    } else {
        hg_value_id in[] = {a, hg_build_in(b, NBITS_B), nbits_table(b, NBITS_SCALES, f.n),
                            nbits_table(b, NBITS_ZEROS, f.n)};
        y = hg_build_renamed(b, "com.microsoft:MatMulNBits", in, HG_COUNT(in), "holo");
    }
    if (bias != 0) y = hg_build_2(b, "Add", y, hg_build_cast(b, bias, HOLO_F32));
    hg_build_replace(b, 0, hg_build_cast(b, y, dtype));
    return b->status;
}

static holo_status nbits_emit(hg_emit *e)
{
    const nbits_form f = nbits_read(e->node);
    if (e->n_in > NBITS_GROUPS) e->n_in = NBITS_GROUPS; /* absent ones behind */
    HG_TRY(hg_emit_int(e, f.bits));
    return hg_emit_int(e, f.block);
}

const hg_op hg_op_microsoft_matmulnbits = {
    .name = "MatMulNBits",
    .domain = "com.microsoft",
    .brief = "a product with weights of 2, 4 or 8 bits in blocks that have a scale each",
    .since = 1,
    .in = {3, 6},
    .out = {1, 1},
    .types = NBITS_FLOATS,
    .infer = nbits_infer,
    .lower = nbits_lower,
    .kernel = "matmul.nbits",
    .emit = nbits_emit,
};
