/* op_if_gradient.c - the derivative of If.
 *
 * It is an If again, by the same condition: each branch computes its results once more, multiplies
 * them by the gradients that arrive, and has the derivatives of that sum by what it reads (a
 * Gradient inside of the branch). What only the other branch reads has a derivative of 0. Inference
 * then makes graphs of the branches as it does for an If of the model. */
#include "op/op_body.h"
#include "op/op_gradient.h"

typedef struct if_branch {
    hg_gradient *d;
    hg_build b;            /* at the end of the branch */
    const hg_graph *child; /* the body it repeats */
    uint32_t k, first;     /* which; the input of the node that is its first */
    hg_value_id *now;      /* by value of the child: the one in the branch */
} if_branch;

/* ---- the body once more ---------------------------------------------------------------------- */

static holo_status if_value(if_branch *x, hg_value_id inner, hg_value_id *out)
{
    const hg_value *v = inner == 0 ? NULL : hg_graph_value(x->child, inner);
    *out = inner == 0 ? 0 : x->now[inner];
    if (inner == 0 || *out != 0) return HOLO_OK;
    hg_type type = v->type;
    for (int32_t i = 0; i < type.rank; i++) {
        int64_t size = 0; /* a constant has no others */
        (void)hg_dim_is_const(&x->child->dims, v->type.dim[i], &size);
        type.dim[i] = hg_dim_const(&x->b.g->dims, size);
    }
    if (v->constant == NULL) return hg_gradient_fail(x->d, "a value of a branch has no node");
    HG_TRY(hg_graph_add_const(x->b.g, v->name, type, v->constant->data, v->constant->bytes, out));
    x->now[inner] = *out;
    return HOLO_OK;
}

static holo_status if_dims(if_branch *x, const hg_attr *from, hg_attr *to)
{
    hg_dim *dims;
    HG_TRY(HG_NEW(x->b.ctx, from->count + 1, &dims));
    for (size_t i = 0; i < from->count; i++) {
        const hg_infer n = hg_gradient_reader(x->d);
        HG_TRY(hg_body_dim(&n, x->k, from->dims[i], &dims[i]));
        if (dims[i] == 0 && from->dims[i] != 0)
            return hg_gradient_fail(x->d, "a size is found inside of a branch; give the inputs "
                                          "fixed sizes, or choose with Where");
    }
    to->dims = dims;
    return HOLO_OK;
}

static holo_status if_copy(if_branch *x, const hg_node *n)
{
    hg_value_id *in;
    hg_attr *attr;
    HG_TRY(HG_NEW(x->b.ctx, n->n_in + 1, &in));
    HG_TRY(HG_NEW(x->b.ctx, n->n_attr + 1, &attr));
    if (hg_node_attr(n, "bodies") != NULL)
        return hg_gradient_fail(x->d, "a branch has control flow of its own; choose with Where");
    for (uint32_t i = 0; i < n->n_in; i++)
        HG_TRY(if_value(x, hg_node_in(x->child, n, i), &in[i]));
    for (uint32_t i = 0; i < n->n_attr; i++) {
        attr[i] = n->attr[i];
        if (attr[i].kind == HG_ATTR_DIMS) HG_TRY(if_dims(x, &n->attr[i], &attr[i]));
        if (attr[i].kind == HG_ATTR_TENSOR) HG_TRY(if_value(x, n->attr[i].tensor, &attr[i].tensor));
    }
    const hg_node_spec spec = {.op = n->op,
                               .name = n->name,
                               .in = in,
                               .n_in = n->n_in,
                               .attr = attr,
                               .n_attr = n->n_attr,
                               .n_out = n->n_out};
    hg_node_id id;
    HG_TRY(hg_graph_add_node(x->b.g, x->b.region, 0, &spec, &id));
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0) x->now[n->out[j]] = hg_graph_node(x->b.g, id)->out[j];
    return HOLO_OK;
}

static holo_status if_repeat(if_branch *x)
{
    const hg_region *r = hg_graph_region(x->child, HG_REGION_MAIN);
    HG_TRY(HG_NEW(x->b.ctx, x->child->n_value + 1, &x->now));
    for (uint32_t i = 0; i < r->n_in; i++)
        x->now[r->in[i]] = hg_gradient_input(x->d, x->first + i);
    for (hg_node_id id = r->first; id != 0; id = hg_graph_node(x->child, id)->next)
        HG_TRY(if_copy(x, hg_graph_node(x->child, id)));
    return HOLO_OK;
}

/* ---- its derivative -------------------------------------------------------------------------- */

/* Results times the gradients that arrive, summed up; 0 when none does. */
static holo_status if_sum(if_branch *x, hg_value_id *sum)
{
    *sum = 0;
    for (uint32_t j = 0; j < hg_gradient_node(x->d)->n_out; j++) {
        hg_value_id y;
        if (x->d->out[j] == 0) continue;
        HG_TRY(if_value(x, hg_region_out(x->child, HG_REGION_MAIN, j), &y));
        const hg_attr keep = hg_attr_make_int("keepdims", 0);
        y = hg_build_2(&x->b, "Mul", y, x->d->out[j]);
        y = hg_build_op(&x->b, "ReduceSum", &y, 1, &keep, 1);
        *sum = *sum == 0 ? y : hg_build_2(&x->b, "Add", *sum, y);
    }
    return x->b.status;
}

static hg_value_id if_zeros(if_branch *x, hg_value_id like)
{
    const hg_value_id shape = hg_build_1(&x->b, "Shape", like);
    return hg_build_2(&x->b, "CastLike", hg_build_1(&x->b, "ConstantOfShape", shape), like);
}

static holo_status if_names(if_branch *x, const char *name, uint32_t count, hg_attr *out)
{
    hg_str *names;
    HG_TRY(HG_NEW(x->b.ctx, count + 1, &names));
    for (uint32_t i = 0; i < count; i++)
        names[i] = hg_str_format(&x->b.ctx->arena, "%s%u", name, i);
    *out = (hg_attr){
        .name = hg_str_from(name), .kind = HG_ATTR_STRINGS, .strings = names, .count = count};
    return HOLO_OK;
}

/* A Gradient by the n_x values that are wanted; whatever else the branch reads is held. */
static holo_status if_derive(if_branch *x, hg_value_id sum, const hg_value_id *var, uint32_t n_x,
                             uint32_t n_var, hg_node_id *id)
{
    hg_value_id *in;
    hg_attr *attr;
    HG_TRY(HG_NEW(x->b.ctx, 3, &attr));
    HG_TRY(HG_NEW(x->b.ctx, 2 * (size_t)n_var + 1, &in));
    memcpy(in, var, n_var * sizeof *in);
    memcpy(in + n_var, var, n_var * sizeof *in);
    in[2 * n_var] = sum;
    HG_TRY(if_names(x, "xs", n_x, &attr[0]));
    HG_TRY(if_names(x, "zs", n_var - n_x, &attr[1]));
    attr[2] = hg_attr_make_string("y", "y");
    const hg_node_spec spec = {.op = hg_op_get("ai.onnx.preview.training:Gradient"),
                               .name = hg_gradient_node(x->d)->name,
                               .in = in,
                               .n_in = 2 * n_var + 1,
                               .attr = attr,
                               .n_attr = 3,
                               .n_out = n_x};
    return hg_graph_add_node(x->b.g, x->b.region, 0, &spec, id);
}

/* The values that branch k reads, the wanted ones first; *n_x counts those. */
static holo_status if_variables(if_branch *x, hg_value_id **var, uint32_t *n_x, uint32_t *n_var)
{
    const uint32_t n_in = hg_graph_region(x->child, HG_REGION_MAIN)->n_in;
    const uint32_t n_out = hg_gradient_node(x->d)->n_out;
    HG_TRY(HG_NEW(x->b.ctx, n_in + n_out + 1, var));
    *n_x = *n_var = 0;
    for (int wanted = 1; wanted >= 0; wanted--) {
        for (uint32_t i = 0; i < n_in; i++)
            if (x->d->wanted[x->first + i] == (wanted != 0))
                (*var)[(*n_var)++] = hg_gradient_input(x->d, x->first + i);
        if (wanted) *n_x = *n_var;
    }
    for (uint32_t j = 0; j < n_out; j++) /* these come from outside of the branch, too */
        if (x->d->out[j] != 0) (*var)[(*n_var)++] = x->d->out[j];
    return HOLO_OK;
}

/* One result for each input that is wanted, in their order. */
static holo_status if_fill(if_branch *x)
{
    hg_value_id sum, *var;
    uint32_t n_x, n_var, next = 0;
    hg_node_id derived = 0;
    HG_TRY(if_repeat(x));
    HG_TRY(if_sum(x, &sum));
    HG_TRY(if_variables(x, &var, &n_x, &n_var));
    const uint32_t n_in = hg_graph_region(x->child, HG_REGION_MAIN)->n_in;
    if (n_x != 0) HG_TRY(if_derive(x, sum, var, n_x, n_var, &derived));
    for (uint32_t i = 1; i < hg_gradient_node(x->d)->n_in; i++) {
        if (!x->d->wanted[i]) continue;
        const bool mine = i >= x->first && i < x->first + n_in;
        const hg_value_id y = mine ? hg_graph_node(x->b.g, derived)->out[next++]
                                   : if_zeros(x, hg_gradient_input(x->d, i));
        HG_TRY(x->b.status);
        HG_TRY(hg_graph_add_region_output(x->b.g, x->b.region, (hg_str){0}, y));
    }
    return HOLO_OK;
}

holo_status hg_if_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    hg_graph *g = b->g;
    uint32_t n_out = 0, next = 0, first = 1;
    hg_node_id made;
    for (uint32_t i = 1; i < hg_gradient_node(d)->n_in; i++)
        n_out += d->wanted[i];
    const hg_value_id condition = hg_gradient_input(d, 0);
    const hg_node_spec spec = {.op = hg_op_get("If"),
                               .name = hg_gradient_node(d)->name,
                               .in = &condition,
                               .n_in = 1,
                               .n_out = n_out,
                               .n_body = 2};
    HG_TRY(hg_graph_add_node(g, b->region, b->before, &spec, &made));
    for (uint32_t k = 0; k < 2; k++) {
        if_branch x = {.d = d,
                       .b = *b,
                       .child = hg_body_graph(g, hg_gradient_node(d), k),
                       .k = k,
                       .first = first};
        x.b.region = hg_graph_node(g, made)->body[k];
        x.b.before = 0;
        first += hg_graph_region(x.child, HG_REGION_MAIN)->n_in;
        HG_TRY(if_fill(&x));
    }
    for (uint32_t i = 1; i < hg_gradient_node(d)->n_in; i++) {
        if (!d->wanted[i]) continue;
        d->in[i] = hg_graph_node(g, made)->out[next++];
        hg_graph_value(g, d->in[i])->type = *hg_gradient_type(d, i); /* what it will be */
    }
    return HOLO_OK;
}
