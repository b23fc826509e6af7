/* outline_loop.c - Loop, Scan and SequenceMap become holo:Loop.
 *
 * A carried value has one type in all iterations. It is found by trial: first the initial type is
 * assumed; when the body gives another size along an axis, that axis is free, and the body is
 * inferred again. */
#include "pass/outline.h"

typedef struct outline_loop outline_loop;
struct outline_loop {
    hg_build *b;
    hg_region_id body;
    hg_outline o;
    hg_value_id trips, condition; /* of the graph; may be 0 */
    hg_value_id counter;          /* of the child */
    uint32_t n_carried, first_in; /* which input of the node is the first carried one */
    hg_type *type;                /* per carried value, in dims of the graph */
    uint32_t *free;               /* per carried value: axes whose size may change */
    bool *wraps;          /* per carried value: an optional whose bare value the body gives */
    bool gives_condition; /* the body does, as its first output */
    bool counted, sequences;
    /* Gives the inputs of the body values of the child; counter, condition and carried values are
     * there. */
    holo_status (*bind)(outline_loop *l, hg_value_id condition);
};

/* ---- trial ----------------------------------------------------------------------------------- */

static holo_status outline_add_input(outline_loop *l, const char *name, hg_type type,
                                     hg_value_id *out)
{
    return hg_graph_add_region_input(l->o.child, HG_REGION_MAIN, hg_str_from(name), type, out);
}

/* Output i of the body is carried value k of the loop, or none (k too large). */
static holo_status outline_loop_output(outline_loop *l, uint32_t i, uint32_t k)
{
    hg_value_id value;
    hg_str name = hg_graph_region(l->b->g, l->body)->out_name[i];
    HG_TRY(hg_outline_value(&l->o, hg_region_out(l->b->g, l->body, i), &value));
    if (k < l->n_carried && l->wraps[k]) {
        hg_node_id id;
        hg_node_spec spec = {.op = hg_op_get("Optional"), .in = &value, .n_in = 1, .n_out = 1};
        HG_TRY(hg_graph_add_node(l->o.child, HG_REGION_MAIN, 0, &spec, &id));
        value = hg_graph_node(l->o.child, id)->out[0];
    }
    return hg_graph_add_region_output(l->o.child, HG_REGION_MAIN, name, value);
}

static holo_status outline_loop_child(outline_loop *l)
{
    hg_value_id condition, carried;
    bool changed = false;
    HG_TRY(outline_add_input(l, "iteration", (hg_type){.dtype = HOLO_I64}, &l->counter));
    HG_TRY(outline_add_input(l, "condition", (hg_type){.dtype = HOLO_BOOL}, &condition));
    for (uint32_t k = 0; k < l->n_carried; k++) {
        hg_type type;
        hg_value_id first = hg_build_in(l->b, l->first_in + k);
        HG_TRY(hg_outline_type(&l->o, &l->type[k], l->free[k], &type));
        HG_TRY(hg_graph_add_region_input(l->o.child, HG_REGION_MAIN,
                                         hg_graph_value(l->b->g, first)->name, type, &carried));
    }
    HG_TRY(l->bind(l, condition));
    HG_TRY(hg_outline_nodes(&l->o, l->body));
    if (!l->gives_condition)
        HG_TRY(hg_graph_add_region_output(l->o.child, HG_REGION_MAIN, hg_str_from("condition"),
                                          condition));
    for (uint32_t i = 0; i < hg_graph_region(l->b->g, l->body)->n_out; i++)
        HG_TRY(outline_loop_output(l, i, i - l->gives_condition));
    return hg_infer_graph(l->o.child, &changed);
}

/* Items of a sequence that starts empty are those that the body puts in. */
static holo_status outline_carried_item(outline_loop *l, uint32_t k, const hg_type *in,
                                        const hg_type *out, bool *again)
{
    const hg_graph *g = l->b->g;
    bool starts_empty = hg_dim_is(&g->dims, l->type[k].dim[0], 0) && (l->free[k] & 1) == 0;
    hg_type joined = {0};
    bool possible = true;
    if (in->item == NULL || out->item == NULL) return HOLO_OK;
    if (starts_empty)
        joined = *out->item;
    else
        HG_TRY(hg_type_join(l->b->ctx, in->item, out->item, &joined, &possible));
    if (!possible)
        return hg_build_fail(l->b, HOLO_E_TYPE, "carried value %u changes the type of its items",
                             k);
    hg_type before = *in->item;
    for (int32_t axis = 0; axis < joined.rank; axis++) /* what is not constant is unknown */
        if (!hg_dim_is_const(&l->o.child->dims, joined.dim[axis], &(int64_t){0}))
            joined.dim[axis] = 0;
    if (joined.dtype == before.dtype && joined.rank == before.rank &&
        (joined.rank <= 0 ||
         memcmp(joined.dim, before.dim, (size_t)joined.rank * sizeof joined.dim[0]) == 0))
        return HOLO_OK;
    *again = true;
    return hg_outline_item(l->o.child, l->b->g, &joined, &l->type[k].item);
}

static holo_status outline_check_carried(outline_loop *l, uint32_t k, bool *again)
{
    const hg_graph *child = l->o.child;
    hg_value_id v = hg_region_out(child, HG_REGION_MAIN, 1 + k);
    const hg_type *in =
        &hg_graph_value(child, hg_graph_region(child, HG_REGION_MAIN)->in[2 + k])->type;
    const hg_type *out = &hg_graph_value(child, v)->type;
    if (in->dtype == HOLO_OPTIONAL && in->item != NULL && in->item->dtype == out->dtype) {
        l->wraps[k] = *again = true;
        return HOLO_OK;
    }
    if (in->dtype != out->dtype)
        return hg_build_fail(l->b, HOLO_E_TYPE, "carried value %u starts as %s and becomes %s", k,
                             holo_dtype_text(in->dtype), holo_dtype_text(out->dtype));
    if (in->rank != out->rank)
        return hg_build_fail(l->b, HOLO_E_UNSUPPORTED,
                             "carried value %u starts with rank %d and gets rank %d", k, in->rank,
                             out->rank);
    HG_TRY(outline_carried_item(l, k, in, out, again));
    for (int32_t axis = 0; axis < in->rank; axis++) {
        uint32_t bit = UINT32_C(1) << axis;
        if (in->dim[axis] == out->dim[axis] || (l->free[k] & bit) != 0) continue;
        l->free[k] |= bit;
        *again = true;
    }
    return HOLO_OK;
}

static holo_status outline_try(outline_loop *l, bool *again)
{
    *again = false;
    hg_outline_end(&l->o);
    HG_TRY(hg_outline_begin(&l->o, l->b->g, l->b->id, "body"));
    HG_TRY(outline_loop_child(l));
    for (uint32_t k = 0; k < l->n_carried; k++)
        HG_TRY(outline_check_carried(l, k, again));
    return HOLO_OK;
}

/* Every trial but the last frees an axis or weakens the type of an item. */
static holo_status outline_find(outline_loop *l)
{
    HG_TRY(HG_NEW(l->b->ctx, l->n_carried + 1, &l->type));
    HG_TRY(HG_NEW(l->b->ctx, l->n_carried + 1, &l->free));
    HG_TRY(HG_NEW(l->b->ctx, l->n_carried + 1, &l->wraps));
    for (uint32_t k = 0; k < l->n_carried; k++) {
        hg_value_id first = hg_build_in(l->b, l->first_in + k);
        if (first == 0) return hg_build_fail(l->b, HOLO_E_MODEL, "carried value %u is missing", k);
        l->type[k] = hg_graph_value(l->b->g, first)->type;
        if (l->type[k].dtype == HOLO_NONE || l->type[k].rank == HG_RANK_UNKNOWN)
            return hg_build_fail(l->b, HOLO_E_UNSUPPORTED,
                                 "the rank of carried value %u is not known at compile time", k);
    }
    bool again = true;
    while (again)
        HG_TRY(outline_try(l, &again));
    return HOLO_OK;
}

/* ---- result ---------------------------------------------------------------------------------- */

static holo_status outline_loop_node(outline_loop *l, hg_node_id *out)
{
    hg_build *b = l->b;
    uint32_t n_in = 2 + l->n_carried + l->o.n_capture;
    uint32_t n_out = hg_graph_region(l->o.child, HG_REGION_MAIN)->n_out - 1;
    hg_value_id *in;
    int64_t number, *collect;
    HG_TRY(hg_outline_keep(&l->o, &number));
    HG_TRY(HG_NEW(b->ctx, n_in, &in));
    HG_TRY(HG_NEW(b->ctx, n_out + 1, &collect));
    in[0] = l->trips;
    in[1] = l->condition;
    for (uint32_t k = 0; k < l->n_carried; k++)
        in[2 + k] = hg_build_in(b, l->first_in + k);
    for (uint32_t k = 0; k < l->o.n_capture; k++)
        in[2 + l->n_carried + k] = l->o.capture[k];
    for (uint32_t j = 0; j < n_out - l->n_carried; j++)
        collect[j] = l->sequences;
    const hg_attr attr[5] = {
        hg_attr_make_ints(b, "bodies", &number, 1),
        hg_attr_make_dims(b, "dims0", l->o.outer, (uint32_t)l->o.n_outer),
        hg_attr_make_int("carried", l->n_carried),
        hg_attr_make_ints(b, "collect", collect, n_out - l->n_carried),
        hg_attr_make_int("counted", l->counted),
    };
    *out = hg_build_node(b, "holo:Loop", in, n_in, attr, 5, n_out);
    return b->status;
}

static holo_status outline_loop_run(outline_loop *l, hg_node_id *out)
{
    l->o.g = l->b->g;
    l->body = l->b->node->body[0];
    holo_status status = outline_find(l);
    if (status == HOLO_OK) status = outline_loop_node(l, out);
    hg_outline_end(&l->o);
    return status;
}

static holo_status outline_check_counts(hg_build *b, uint32_t in, uint32_t out)
{
    const hg_region *r = hg_graph_region(b->g, b->node->body[0]);
    if (r->n_in == in && r->n_out >= out) return HOLO_OK;
    return hg_build_fail(b, HOLO_E_MODEL,
                         "its body has %u inputs and %u outputs, expected %u and at least %u",
                         r->n_in, r->n_out, in, out);
}

static void outline_replace_all(const outline_loop *l, hg_node_id made)
{
    hg_build *b = l->b;
    for (uint32_t j = 0; made != 0 && j < hg_graph_node(b->g, b->id)->n_out; j++) {
        hg_value_id y = hg_graph_node(b->g, made)->out[j];
        if (j < l->n_carried && l->wraps[j]) y = hg_build_1(b, "OptionalGetElement", y);
        hg_build_replace(b, j, y);
    }
}

/* ---- Loop ------------------------------------------------------------------------------------ */

static holo_status outline_bind_loop(outline_loop *l, hg_value_id condition)
{
    const hg_region *r = hg_graph_region(l->b->g, l->body);
    const hg_region *child = hg_graph_region(l->o.child, HG_REGION_MAIN);
    l->o.inner[r->in[0]] = l->counter;
    l->o.inner[r->in[1]] = condition;
    for (uint32_t k = 0; k < l->n_carried; k++)
        l->o.inner[r->in[2 + k]] = child->in[2 + k];
    return HOLO_OK;
}

static bool outline_is_true(const hg_graph *g, hg_value_id value)
{
    double number;
    return value == 0 || (hg_graph_const_scalar(g, value, &number) && number != 0);
}

/* The condition starts true and the body leaves it so. */
static bool outline_counts(const hg_build *b)
{
    const hg_graph *g = b->g;
    const hg_region *r = hg_graph_region(g, b->node->body[0]);
    hg_value_id v = hg_region_out(g, b->node->body[0], 0);
    if (!outline_is_true(g, hg_build_in(b, 1)) || v == 0) return false;
    while (hg_graph_value(g, v)->node != 0 &&
           hg_op_is(hg_graph_node(g, hg_graph_value(g, v)->node), "Identity"))
        v = hg_node_in(g, hg_graph_node(g, hg_graph_value(g, v)->node), 0);
    return v == r->in[1] || (v != 0 && outline_is_true(g, v));
}

holo_status hg_outline_loop(hg_build *b)
{
    hg_node_id made;
    outline_loop l = {.b = b,
                      .trips = hg_build_in(b, 0),
                      .condition = hg_build_in(b, 1),
                      .n_carried = b->node->n_in < 2 ? 0 : b->node->n_in - 2,
                      .first_in = 2,
                      .gives_condition = true,
                      .bind = outline_bind_loop};
    /* the condition is the body's own */
    HG_TRY(outline_check_counts(b, 2 + l.n_carried,
                                1 + (uint32_t)hg_max(l.n_carried, b->node->n_out)));
    if ((l.trips != 0 && hg_build_type(b, l.trips)->dtype != HOLO_I64) ||
        (l.condition != 0 && hg_build_type(b, l.condition)->dtype != HOLO_BOOL))
        return hg_build_fail(b, HOLO_E_TYPE, "the trip count is %s and the condition %s",
                             holo_dtype_text(hg_build_type(b, l.trips)->dtype),
                             holo_dtype_text(hg_build_type(b, l.condition)->dtype));
    l.counted = outline_counts(b);
    HG_TRY(outline_loop_run(&l, &made));
    outline_replace_all(&l, made);
    return b->status;
}

/* ---- Scan ------------------------------------------------------------------------------------ */

/* A node of the child that the body's own come behind; inferred with them. */
static holo_status outline_add(outline_loop *l, const char *op, hg_value_id x, hg_value_id index,
                               int64_t axis, hg_value_id *out)
{
    hg_attr *attr;
    hg_node_id id;
    HG_TRY(HG_NEW(l->b->ctx, 1, &attr));
    attr[0] = hg_attr_make_int("axis", axis);
    hg_node_spec spec = {.op = hg_op_get(op),
                         .origin = l->b->node->origin,
                         .name = l->b->node->name,
                         .in = (hg_value_id[]){x, index},
                         .n_in = 2,
                         .attr = attr,
                         .n_attr = strcmp(op, "Gather") == 0,
                         .n_out = 1};
    HG_TRY(hg_graph_add_node(l->o.child, HG_REGION_MAIN, 0, &spec, &id));
    *out = hg_graph_node(l->o.child, id)->out[0];
    return HOLO_OK;
}

static int64_t outline_entry(const hg_node *n, const char *name, uint32_t k)
{
    size_t count;
    const int64_t *list = hg_node_ints(n, name, &count);
    return k < count ? list[k] : 0;
}

/* Backwards is from the last on: index -1 - iteration. */
static holo_status outline_bind_scan(outline_loop *l, hg_value_id condition)
{
    const hg_node *n = l->b->node;
    const hg_region *r = hg_graph_region(l->b->g, l->body);
    static const int64_t minus_one = -1;
    (void)condition;
    for (uint32_t k = 0; k < r->n_in; k++) {
        hg_value_id index = l->counter, x, from;
        if (k < l->n_carried) {
            l->o.inner[r->in[k]] = hg_graph_region(l->o.child, HG_REGION_MAIN)->in[2 + k];
            continue;
        }
        if (outline_entry(n, "scan_input_directions", k - l->n_carried) == 1) {
            HG_TRY(hg_graph_add_const(l->o.child, (hg_str){0}, (hg_type){.dtype = HOLO_I64},
                                      &minus_one, sizeof minus_one, &from));
            HG_TRY(outline_add(l, "Sub", from, l->counter, 0, &index));
        }
        HG_TRY(hg_outline_value(&l->o, hg_build_in(l->b, k), &x));
        HG_TRY(outline_add(l, "Gather", x, index,
                           outline_entry(n, "scan_input_axes", k - l->n_carried),
                           &l->o.inner[r->in[k]]));
    }
    return HOLO_OK;
}

/* Stacked on axis 0: turned round and moved to where the model wants it. */
static hg_value_id outline_scan_output(hg_build *b, hg_value_id y, int64_t axis, bool backwards)
{
    const hg_type type = *hg_build_type(b, y);
    if (backwards) {
        const hg_value_id in[5] = {
            y, hg_build_ints(b, &(int64_t){-1}, 1), hg_build_ints(b, &(int64_t){INT64_MIN}, 1),
            hg_build_ints(b, &(int64_t){0}, 1), hg_build_ints(b, &(int64_t){-1}, 1)};
        y = hg_build_op(b, "Slice", in, 5, NULL, 0);
    }
    if (axis < 0) axis += type.rank;
    if (axis == 0) return y;
    int64_t perm[HG_MAX_RANK];
    if (type.rank == HG_RANK_UNKNOWN || axis < 0 || axis >= type.rank) {
        (void)hg_build_fail(b, HOLO_E_SHAPE, "an output axis is outside rank %d", type.rank);
        return 0;
    }
    for (int32_t k = 0; k < type.rank; k++)
        perm[k] = k == axis ? 0 : k < axis ? k + 1 : k;
    hg_attr attr = hg_attr_make_ints(b, "perm", perm, (uint32_t)type.rank);
    return hg_build_op(b, "Transpose", &y, 1, &attr, 1);
}

static holo_status outline_scan_trips(hg_build *b, uint32_t n_carried, hg_value_id *out)
{
    const hg_type *x = hg_build_type(b, hg_build_in(b, n_carried));
    int64_t axis = outline_entry(b->node, "scan_input_axes", 0);
    if (axis < 0) axis += x->rank;
    if (axis < 0 || axis >= x->rank)
        return hg_build_fail(b, HOLO_E_SHAPE, "an input axis is outside rank %d", x->rank);
    *out = hg_build_dims(b, &x->dim[axis], 1);
    return b->status;
}

holo_status hg_outline_scan(hg_build *b)
{
    int64_t n_scan = hg_node_int(b->node, "num_scan_inputs", 0);
    if (n_scan < 1 || n_scan > b->node->n_in)
        return hg_build_fail(b, HOLO_E_MODEL, "num_scan_inputs is %lld of %u inputs",
                             (long long)n_scan, b->node->n_in);
    outline_loop l = {.b = b,
                      .n_carried = b->node->n_in - (uint32_t)n_scan,
                      .counted = true,
                      .bind = outline_bind_scan};
    hg_node_id made;
    HG_TRY(outline_check_counts(b, b->node->n_in, (uint32_t)hg_max(l.n_carried, b->node->n_out)));
    HG_TRY(outline_scan_trips(b, l.n_carried, &l.trips));
    HG_TRY(outline_loop_run(&l, &made));
    for (uint32_t j = 0; made != 0 && j < hg_graph_node(b->g, b->id)->n_out; j++) {
        hg_value_id y = hg_graph_node(b->g, made)->out[j];
        uint32_t k = j - l.n_carried;
        if (j >= l.n_carried)
            y = outline_scan_output(b, y, outline_entry(b->node, "scan_output_axes", k),
                                    outline_entry(b->node, "scan_output_directions", k) == 1);
        hg_build_replace(b, j, y);
    }
    return b->status;
}

/* ---- SequenceMap ----------------------------------------------------------------------------- */

static holo_status outline_bind_map(outline_loop *l, hg_value_id condition)
{
    const hg_region *r = hg_graph_region(l->b->g, l->body);
    (void)condition;
    for (uint32_t k = 0; k < r->n_in; k++) {
        hg_value_id x;
        HG_TRY(hg_outline_value(&l->o, hg_build_in(l->b, k), &x));
        l->o.inner[r->in[k]] = x;
        if (hg_build_type(l->b, hg_build_in(l->b, k))->dtype == HOLO_SEQUENCE)
            HG_TRY(outline_add(l, "SequenceAt", x, l->counter, 0, &l->o.inner[r->in[k]]));
    }
    return HOLO_OK;
}

holo_status hg_outline_sequence_map(hg_build *b)
{
    outline_loop l = {.b = b, .counted = true, .sequences = true, .bind = outline_bind_map};
    hg_node_id made;
    const hg_type *first = hg_build_type(b, hg_build_in(b, 0));
    HG_TRY(outline_check_counts(b, b->node->n_in, b->node->n_out));
    if (first->dtype != HOLO_SEQUENCE)
        return hg_build_fail(b, HOLO_E_TYPE, "its first input is %s, expected a sequence",
                             holo_dtype_text(first->dtype));
    l.trips = hg_build_dims(b, &first->dim[0], 1);
    HG_TRY(outline_loop_run(&l, &made));
    outline_replace_all(&l, made);
    return b->status;
}
