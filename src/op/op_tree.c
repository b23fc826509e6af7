/* op_tree.c - decision trees become the tables of the tree kernel: nodes in an order in which every
 * way leads further down. Two ways may meet in one node; a way back is refused. */
#include "op/op_tree.h"
#include "base/half.h"

#include <float.h>

/* ---- attributes
 * -------------------------------------------------------------------------------------------- */

holo_status hg_tree_length(const hg_infer *n, const char *name, size_t actual, size_t expected)
{
    if (actual == expected) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL, "%s has %zu entries, expected %zu", name, actual,
                         expected);
}

static holo_status tree_tensor(const hg_infer *n, const hg_attr *a, double **out, size_t *count)
{
    const hg_value *v = hg_graph_value(n->g, a->tensor);
    const holo_dtype dtype = v->type.dtype;
    const hg_types types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_F16) |
                           HG_TYPE_BIT(HOLO_U8);
    int64_t size = 0;
    if (v->constant == NULL || v->type.rank != 1 || !hg_dtype_in(dtype, types) ||
        !hg_dim_is_const(n->dims, v->type.dim[0], &size))
        return hg_infer_fail(n, HOLO_E_MODEL, "%.*s is %s of rank %d, expected floats of rank 1",
                             HG_STR_ARG(a->name), holo_dtype_text(dtype), v->type.rank);
    HG_TRY(HG_NEW(n->ctx, (size_t)size + 1, out));
    *count = (size_t)size;
    const void *data = v->constant->data;
    for (int64_t i = 0; i < size; i++)
        (*out)[i] = dtype == HOLO_F64   ? ((const double *)data)[i]
                    : dtype == HOLO_F32 ? (double)((const float *)data)[i]
                    : dtype == HOLO_F16 ? (double)hg_f16_to_f32(((const uint16_t *)data)[i])
                                        : (double)((const uint8_t *)data)[i];
    return HOLO_OK;
}

holo_status hg_tree_numbers(const hg_infer *n, const char *list, const char *tensor, double **out,
                            size_t *count)
{
    const hg_attr *floats = NULL, *wide = NULL;
    if (list != NULL) HG_TRY(hg_attr_find(n, list, HG_ATTR_FLOATS, &floats));
    HG_TRY(hg_attr_find(n, tensor, HG_ATTR_TENSOR, &wide));
    const size_t size = floats == NULL ? 0 : floats->count;
    if (wide != NULL && size != 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "%s and %s are both there", list, tensor);
    if (wide != NULL) return tree_tensor(n, wide, out, count);
    HG_TRY(HG_NEW(n->ctx, size + 1, out));
    *count = size;
    for (size_t i = 0; i < size; i++)
        (*out)[i] = (double)floats->floats[i];
    return HOLO_OK;
}

holo_status hg_tree_integers(const hg_infer *n, const char *name, size_t count, bool is_needed,
                             const int64_t **out)
{
    const hg_attr *list;
    int64_t *zeros;
    HG_TRY(hg_ml_list(n, name, HG_ATTR_INTS, &list));
    *out = list->ints;
    if (is_needed || list->count != 0) return hg_tree_length(n, name, list->count, count);
    HG_TRY(HG_NEW(n->ctx, count + 1, &zeros));
    *out = zeros;
    return HOLO_OK;
}

/* ---- order
 * -------------------------------------------------------------------------------------------- */

enum { TREE_NEW, TREE_OPEN, TREE_DONE };
enum { TREE_MOST = INT32_MAX / 4 /* nodes, leaves or votes */ };

typedef struct tree_order {
    const hg_trees *trees;
    uint8_t *state; /* TREE_NEW ... of each node */
    uint8_t *left;  /* ways not followed yet */
    size_t *open;   /* nodes from a root to where we are */
    size_t n_open;
    size_t *done; /* nodes, those further down first */
    size_t n_done;
} tree_order;

static void tree_enter(tree_order *o, size_t node)
{
    o->state[node] = TREE_OPEN;
    o->left[node] = 2;
    o->open[o->n_open++] = node;
}

/* Follows the next way of the innermost open node, or closes it. */
static holo_status tree_step(hg_build *b, tree_order *o)
{
    const size_t at = o->open[o->n_open - 1];
    if (o->left[at] == 0) {
        o->state[at] = TREE_DONE;
        o->done[o->n_done++] = at;
        o->n_open--;
        return HOLO_OK;
    }
    const int64_t way = o->trees->node[at].way[--o->left[at]];
    if (way < 0 || o->state[way] == TREE_DONE) return HOLO_OK;
    if (o->state[way] == TREE_OPEN)
        return hg_build_fail(b, HOLO_E_MODEL, "the nodes at %zu and %zu of nodes_* lie on a cycle",
                             o->trees->node[way].entry, o->trees->node[at].entry);
    tree_enter(o, (size_t)way);
    return HOLO_OK;
}

/* done[0, n_done) are the nodes that some root reaches. The last root first: what comes first in
 * the tables is then the first tree. */
static holo_status tree_sort(hg_build *b, tree_order *o)
{
    const hg_trees *t = o->trees;
    HG_TRY(HG_NEW(b->ctx, t->n_node + 1, &o->state));
    HG_TRY(HG_NEW(b->ctx, t->n_node + 1, &o->left));
    HG_TRY(HG_NEW(b->ctx, t->n_node + 1, &o->open));
    HG_TRY(HG_NEW(b->ctx, t->n_node + 1, &o->done));
    for (size_t r = t->n_root; r-- > 0;) {
        if (t->root[r] < 0 || o->state[t->root[r]] != TREE_NEW) continue;
        tree_enter(o, (size_t)t->root[r]);
        while (o->n_open != 0)
            HG_TRY(tree_step(b, o));
    }
    return HOLO_OK;
}

/* ---- tables
 * -------------------------------------------------------------------------------------------- */

typedef struct tree_tables {
    int32_t *node, *root;
    double *split;
    size_t n_node;
} tree_tables;

static int32_t tree_way(const int32_t *number, int64_t way)
{
    return way < 0 ? (int32_t)way : number[way];
}

static holo_status tree_fill(hg_build *b, const tree_order *o, int64_t features, tree_tables *out)
{
    const hg_trees *t = o->trees;
    int32_t *number;
    out->n_node = o->n_done;
    HG_TRY(HG_NEW(b->ctx, t->n_node + 1, &number));
    HG_TRY(HG_NEW(b->ctx, o->n_done * HG_TREE_FIELDS + 1, &out->node));
    HG_TRY(HG_NEW(b->ctx, o->n_done + 1, &out->split));
    HG_TRY(HG_NEW(b->ctx, t->n_root + 1, &out->root));
    for (size_t i = 0; i < o->n_done; i++)
        number[o->done[i]] = (int32_t)(o->n_done - 1 - i);
    for (size_t i = 0; i < o->n_done; i++) {
        const hg_tree_node *from = &t->node[o->done[i]];
        const size_t to = o->n_done - 1 - i;
        if (from->feature < 0 || from->feature > INT32_MAX ||
            (features >= 0 && from->feature >= features))
            return hg_build_fail(b, HOLO_E_MODEL,
                                 "nodes_featureids[%zu] is %lld, expected 0 to %lld", from->entry,
                                 (long long)from->feature,
                                 features < 0 ? (long long)INT32_MAX : (long long)features - 1);
        int32_t *row = out->node + to * HG_TREE_FIELDS;
        row[HG_TREE_FEATURE] = (int32_t)from->feature;
        row[HG_TREE_MODE] = (int32_t)from->mode + (from->nan_is_true ? HG_TREE_MODES : 0);
        row[HG_TREE_TRUE] = tree_way(number, from->way[0]);
        row[HG_TREE_FALSE] = tree_way(number, from->way[1]);
        out->split[to] = from->split;
    }
    for (size_t i = 0; i < t->n_root; i++)
        out->root[i] = tree_way(number, t->root[i]);
    return HOLO_OK;
}

static hg_value_id tree_const(hg_build *b, holo_dtype dtype, const void *data, size_t rows,
                              size_t columns)
{
    hg_type type = {.dtype = dtype, .rank = columns == 0 ? 1 : 2};
    type.dim[0] = hg_dim_const(&b->g->dims, (int64_t)rows);
    type.dim[1] = columns == 0 ? 0 : hg_dim_const(&b->g->dims, (int64_t)columns);
    const size_t count = rows * (columns == 0 ? 1 : columns);
    return hg_build_const(b, type, data, count * hg_dtype_bits(dtype) / 8);
}

holo_status hg_tree_base(hg_build *b, int64_t count, hg_value_id *out)
{
    const hg_infer n = hg_ml_infer(b);
    double *values;
    size_t actual;
    *out = 0;
    HG_TRY(hg_tree_numbers(&n, "base_values", "base_values_as_tensor", &values, &actual));
    if (actual == 0) return HOLO_OK;
    if (actual != 1) HG_TRY(hg_tree_length(&n, "base_values", actual, (size_t)count));
    *out = tree_const(b, HOLO_F64, values, actual, 0);
    return b->status;
}

hg_value_id hg_tree_matrix(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    const hg_type *type = hg_build_type(b, x);
    const holo_dtype dtype = type->dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    if (type->rank == 1) x = hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, (int64_t[]){0}, 1));
    return hg_build_cast(b, x, dtype);
}

double hg_tree_start(hg_tree_aggregate aggregate, holo_dtype dtype)
{
    const double most = dtype == HOLO_F64 ? DBL_MAX : dtype == HOLO_F16 ? 65504.0 : (double)FLT_MAX;
    if (aggregate == HG_TREE_MIN) return most;
    return aggregate == HG_TREE_MAX ? -most : 0.0;
}

/* The last inputs of the kernel; none when no tree can be compared and rows cannot take steps. */
static uint32_t tree_plan(hg_build *b, const hg_trees *t, const tree_tables *tables, bool adds,
                          hg_value_id *in)
{
    const hg_tree_tables from = {.node = tables->node,
                                 .root = tables->root,
                                 .first = t->first,
                                 .split = tables->split,
                                 .n_node = tables->n_node,
                                 .n_root = t->n_root};
    hg_tree_plans plans = {0};
    if (b->status == HOLO_OK)
        b->status = HG_NEW(b->ctx, t->n_root * HG_TREE_PLAN_FIELDS + 1, &plans.plan);
    if (b->status == HOLO_OK)
        b->status = HG_NEW(b->ctx, tables->n_node * HG_TREE_TEST_FIELDS + 1, &plans.test);
    if (b->status == HOLO_OK)
        b->status = HG_NEW(b->ctx, tables->n_node + t->n_root + 1, &plans.leaf);
    if (b->status == HOLO_OK)
        b->status = HG_NEW(b->ctx, (2 * tables->n_node + 1) * HG_TREE_STEP_FIELDS, &plans.step);
    if (b->status != HOLO_OK) return 0;
    hg_tree_plan(&from, adds, &plans);
    if (plans.n_test == 0 && !plans.has_steps) return 0;
    in[0] = tree_const(b, HOLO_I32, plans.plan, t->n_root, HG_TREE_PLAN_FIELDS);
    in[1] = tree_const(b, HOLO_I32, plans.test, plans.n_test, HG_TREE_TEST_FIELDS);
    in[2] = tree_const(b, HOLO_I32, plans.leaf, plans.n_leaf, 0);
    if (!plans.has_steps) return HG_TREE_IN_STEPS - HG_TREE_IN_PLANS;
    in[3] = tree_const(b, HOLO_I32, plans.step, plans.n_step, HG_TREE_STEP_FIELDS);
    return HG_TREE_INS - HG_TREE_IN_PLANS;
}

hg_value_id hg_tree_scores(hg_build *b, const hg_trees *t, hg_value_id x,
                           hg_tree_aggregate aggregate, double start)
{
    tree_order order = {.trees = t};
    tree_tables tables = {0};
    int64_t features = -1, bits;
    if (t->n_node > TREE_MOST || t->n_leaf > TREE_MOST || t->n_vote > TREE_MOST)
        (void)hg_build_fail(b, HOLO_E_LIMIT, "the trees have more than %d nodes or votes",
                            TREE_MOST);
    if (b->status != HOLO_OK) return 0;
    (void)hg_dim_is_const(&b->g->dims, hg_build_type(b, x)->dim[1], &features);
    b->status = tree_sort(b, &order);
    if (b->status == HOLO_OK) b->status = tree_fill(b, &order, features, &tables);
    if (b->status != HOLO_OK) return 0;
    hg_value_id in[HG_TREE_INS] = {
        x,
        tree_const(b, HOLO_I32, tables.node, tables.n_node, HG_TREE_FIELDS),
        tree_const(b, HOLO_F64, tables.split, tables.n_node, 0),
        tree_const(b, HOLO_I32, tables.root, t->n_root, 0),
        tree_const(b, HOLO_I32, t->first, t->n_leaf + 1, 0),
        tree_const(b, HOLO_I32, t->target, t->n_vote, 0),
        tree_const(b, HOLO_F64, t->weight, t->n_vote, 0),
    };
    const bool adds = aggregate == HG_TREE_SUM || aggregate == HG_TREE_AVERAGE;
    uint32_t n_in = HG_TREE_IN_PLANS;
    if (hg_build_type(b, x)->dtype == HOLO_F32)
        n_in += tree_plan(b, t, &tables, adds, in + HG_TREE_IN_PLANS);
    memcpy(&bits, &start, sizeof bits);
    const hg_attr attr[] = {hg_attr_make_int("targets", t->n_target),
                            hg_attr_make_int("aggregate", aggregate),
                            hg_attr_make_int("start", bits)};
    return hg_build_op(b, "holo:Tree", in, n_in, attr, HG_COUNT(attr));
}
