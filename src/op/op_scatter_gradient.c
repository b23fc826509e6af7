/* op_scatter_gradient.c - derivatives of ScatterElements and ScatterND.
 *
 * An element of the result is made of one of the data and of any number of updates. Gathering with
 * the node's indices is the other way round. */
#include "op/op_gradient.h"
#include "op/op_scatter.h"

typedef struct scatter_case {
    hg_gradient *d;
    hg_build *b;
    hg_value_id x, index, u, y, g; /* data, indices, updates, result and its gradient */
    holo_dtype dtype;
    bool by_tuple; /* ScatterND */
} scatter_case;

static hg_value_id scatter_into(const scatter_case *c, hg_value_id x, hg_value_id u,
                                const char *reduction)
{
    const hg_attr attr[] = {
        hg_attr_make_string("reduction", reduction),
        hg_attr_make_int("axis", hg_node_int(hg_gradient_node(c->d), "axis", 0))};
    const hg_value_id in[] = {x, c->index, u};
    return hg_build_op(c->b, c->by_tuple ? "ScatterND" : "ScatterElements", in, HG_COUNT(in), attr,
                       c->by_tuple ? 1 : 2);
}

/* What each update would find. */
static hg_value_id scatter_pick(const scatter_case *c, hg_value_id x)
{
    const hg_attr axis = hg_attr_make_int("axis", hg_node_int(hg_gradient_node(c->d), "axis", 0));
    const hg_value_id in[] = {x, c->index};
    return hg_build_op(c->b, c->by_tuple ? "GatherND" : "GatherElements", in, HG_COUNT(in), &axis,
                       c->by_tuple ? 0 : 1);
}

static hg_value_id scatter_zeros(const scatter_case *c, hg_value_id like, holo_dtype dtype)
{
    if (c->b->status != HOLO_OK) return 0;
    hg_type type = *hg_build_type(c->b, like);
    type.dtype = dtype;
    return hg_build_full(c->b, &type, 0.0);
}

/* Of several updates of one element the last one stays. */
static void scatter_replaced(const scatter_case *c)
{
    hg_build *b = c->b;
    const hg_type type = *hg_build_type(b, c->u);
    hg_value_id none = hg_build_scalar(b, c->dtype, 0.0);
    hg_value_id place = hg_build_places(b, &type);
    hg_value_id last = scatter_into(c, scatter_zeros(c, c->x, HOLO_I64), place, "none");
    hg_value_id stays = hg_build_2(b, "Equal", scatter_pick(c, last), place);
    c->d->in[0] = scatter_into(c, c->g, scatter_zeros(c, c->u, c->dtype), "none");
    c->d->in[2] = hg_build_3(b, "Where", stays, scatter_pick(c, c->g), none);
}

/* g times the product of all factors but f, from how many of them are 0 and the product of those
 * that are not. */
static hg_value_id scatter_others(const scatter_case *c, hg_value_id g, hg_value_id f,
                                  hg_value_id zeros, hg_value_id product)
{
    hg_build *b = c->b;
    hg_value_id none = hg_build_scalar(b, c->dtype, 0.0), one = hg_build_scalar(b, c->dtype, 1.0);
    hg_value_id is_none = hg_build_2(b, "Equal", f, none);
    hg_value_id left = hg_build_2(b, "Sub", zeros, hg_build_cast(b, is_none, HOLO_I64));
    hg_value_id share = hg_build_2(b, "Div", product, hg_build_3(b, "Where", is_none, one, f));
    hg_value_id any = hg_build_2(b, "Greater", left, hg_build_scalar(b, HOLO_I64, 0.0));
    return hg_build_3(b, "Where", any, none, hg_build_2(b, "Mul", g, share));
}

static void scatter_multiplied(const scatter_case *c)
{
    hg_build *b = c->b;
    hg_value_id none = hg_build_scalar(b, c->dtype, 0.0), one = hg_build_scalar(b, c->dtype, 1.0);
    hg_value_id x_none = hg_build_2(b, "Equal", c->x, none);
    hg_value_id u_none = hg_build_2(b, "Equal", c->u, none);
    hg_value_id zeros = scatter_into(c, hg_build_cast(b, x_none, HOLO_I64),
                                     hg_build_cast(b, u_none, HOLO_I64), "add");
    hg_value_id product = scatter_into(c, hg_build_3(b, "Where", x_none, one, c->x),
                                       hg_build_3(b, "Where", u_none, one, c->u), "mul");
    c->d->in[0] = scatter_others(c, c->g, c->x, zeros, product);
    c->d->in[2] = scatter_others(c, scatter_pick(c, c->g), c->u, scatter_pick(c, zeros),
                                 scatter_pick(c, product));
}

/* The extreme gets it; several that are equal share it. */
static void scatter_extreme(const scatter_case *c)
{
    hg_build *b = c->b;
    hg_value_id none = hg_build_scalar(b, c->dtype, 0.0);
    hg_value_id x_is = hg_build_2(b, "Equal", c->x, c->y);
    hg_value_id u_is = hg_build_2(b, "Equal", c->u, scatter_pick(c, c->y));
    hg_value_id count =
        scatter_into(c, hg_build_cast(b, x_is, c->dtype), hg_build_cast(b, u_is, c->dtype), "add");
    hg_value_id share = hg_build_2(b, "Div", c->g, count);
    c->d->in[0] = hg_build_3(b, "Where", x_is, share, none);
    c->d->in[2] = hg_build_3(b, "Where", u_is, scatter_pick(c, share), none);
}

holo_status hg_scatter_gradient(hg_gradient *d)
{
    const hg_node *n = hg_gradient_node(d);
    const hg_str reduction = hg_node_string(n, "reduction", "none");
    const scatter_case c = {.d = d,
                            .b = d->b,
                            .x = hg_gradient_input(d, 0),
                            .index = hg_build_cast(d->b, hg_gradient_input(d, 1), HOLO_I64),
                            .u = hg_gradient_input(d, 2),
                            .y = hg_gradient_output(d, 0),
                            .g = d->out[0],
                            .dtype = hg_gradient_type(d, 0)->dtype,
                            .by_tuple = hg_op_is(n, "ScatterND")};
    if (hg_str_is(reduction, "none")) {
        scatter_replaced(&c);
    } else if (hg_str_is(reduction, "add")) {
        d->in[0] = c.g;
        d->in[2] = scatter_pick(&c, c.g);
    } else if (hg_str_is(reduction, "mul")) {
        scatter_multiplied(&c);
    } else {
        scatter_extreme(&c);
    }
    return d->b->status;
}
