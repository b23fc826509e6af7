/* fold_scales.c - the scale of codes that a product of codes ends in moves into the factors before
 * it, that of a convolution of floats into its weights, and nothing is divided at run time:
 *
 *     round(relu(f float(sum) + s (c - c0)) / t)
 *     round(relu((f / t) float(sum) + (s / t) (c - c0)))
 *
 * That of other codes moves into the constants that what is rounded is multiplied with, of which
 * one remains: round(x c d / t) is round(x (c d / t)), and round(x / t) is round(x (1 / t)).
 *
 * A quotient of constants is rounded once; a result half way between two codes to within a few
 * units of the last place may fall to the other side, as with any order of these roundings, so
 * --numerics exact leaves it out. Sums and means of codes alone lie half way all the time: those
 * are divided, in a table as a rule. */
#include "pass/quantize.h"
#include "table/table.h"

#include <math.h>

enum { SCALES_DEPTH = 8 };

typedef struct scales {
    hg_build b;
    double divisor;
    bool is_rounded; /* the quotient becomes a code */
    bool has_layer;  /* whose factors can take the divisor */
} scales;

static bool scales_is_const(const hg_graph *g, hg_value_id v)
{
    return v != 0 && hg_graph_is_const(g, v) && hg_graph_value(g, v)->type.dtype == HOLO_F32;
}

static bool scales_is_usual(double x)
{
    return x == 0 || (fabs(x) > 1e-30 && fabs(x) < 1e30);
}

/* A constant, all of it divided. */
static bool scales_can_divide(const scales *s, hg_value_id v)
{
    if (!scales_is_const(s->b.g, v)) return false;
    const hg_const *c = hg_graph_value(s->b.g, v)->constant;
    const float *x = c->data;
    for (size_t i = 0; i < c->bytes / sizeof *x; i++)
        if (!scales_is_usual((double)x[i]) || !scales_is_usual((double)x[i] / s->divisor))
            return false;
    return true;
}

static hg_value_id scales_divide(scales *s, hg_value_id v)
{
    const hg_value *from = hg_graph_value(s->b.g, v);
    const float *x = from->constant->data;
    const size_t bytes = from->constant->bytes, count = bytes / sizeof *x;
    float *made;
    if (s->b.status == HOLO_OK) s->b.status = HG_NEW(s->b.ctx, count + 1, &made);
    if (s->b.status != HOLO_OK) return 0;
    for (size_t i = 0; i < count; i++)
        made[i] = (float)((double)x[i] / s->divisor);
    return hg_build_const(&s->b, from->type, made, bytes);
}

/* float(sum) of a product, whose bias may have been added. */
static bool scales_is_sum(const hg_graph *g, hg_value_id v)
{
    const hg_node *n = hg_op_producer(g, v, NULL);
    return n != NULL && hg_op_is(n, "Cast") &&
           hg_graph_value(g, hg_node_in(g, n, 0))->type.dtype == HOLO_I32;
}

/* Inputs that are factors, a bit each: one of a product, weights and bias of a convolution. 0: it
 * is neither, or they are not constant. */
static uint32_t scales_factors(const scales *s, const hg_node *n)
{
    const hg_graph *g = s->b.g;
    if (hg_op_is(n, "Conv"))
        return scales_can_divide(s, hg_node_in(g, n, 1)) &&
                       (hg_node_in(g, n, 2) == 0 || scales_can_divide(s, hg_node_in(g, n, 2)))
                   ? 1 << 1 | 1 << 2
                   : 0;
    if (!hg_op_is(n, "Mul")) return 0;
    return scales_can_divide(s, hg_node_in(g, n, 1))   ? 1 << 1
           : scales_can_divide(s, hg_node_in(g, n, 0)) ? 1 << 0
                                                       : 0;
}

/* A convolution, or a product with the sums of one of codes: worth a rewrite. */
static bool scales_is_layer(const scales *s, const hg_node *n, uint32_t factors)
{
    if (hg_op_is(n, "Conv")) return s->is_rounded;
    return scales_is_sum(s->b.g, hg_node_in(s->b.g, n, factors == 1 << 0 ? 1 : 0));
}

/* Whether v / divisor can be had from other constants. */
static bool scales_fits(scales *s, hg_value_id v, int depth)
{
    const hg_graph *g = s->b.g;
    const hg_node *n = hg_op_producer(g, v, NULL);
    if (n == NULL) return scales_can_divide(s, v);
    const uint32_t factors = scales_factors(s, n);
    if (factors != 0) {
        const bool is_layer = scales_is_layer(s, n, factors);
        s->has_layer |= is_layer;
        /* codes are dequantised again for each of their readers */
        return hg_graph_only_user(g, v) != 0 || (!is_layer && hg_op_is(n, "Mul"));
    }
    if (depth == 0 || hg_graph_only_user(g, v) == 0) return false;
    if (hg_op_is(n, "Relu")) return scales_fits(s, hg_node_in(g, n, 0), depth - 1);
    const bool is_bound = hg_op_is(n, "Max") || hg_op_is(n, "Min"); /* the divisor is positive */
    if ((!is_bound && !hg_op_is(n, "Add")) || n->n_in != 2) return false;
    return scales_fits(s, hg_node_in(g, n, 0), depth - 1) &&
           scales_fits(s, hg_node_in(g, n, 1), depth - 1);
}

static hg_value_id scales_build(scales *s, hg_value_id v)
{
    const hg_node *n = hg_op_producer(s->b.g, v, NULL);
    if (n == NULL) return scales_divide(s, v);
    hg_value_id in[3] = {0};
    const uint32_t factors = scales_factors(s, n);
    const hg_node_id id = hg_graph_value(s->b.g, v)->node;
    const uint32_t n_in = n->n_in;
    for (uint32_t i = 0; i < n_in; i++) {
        in[i] = hg_node_in(s->b.g, hg_graph_node(s->b.g, id), i);
        if (in[i] == 0) continue;
        if (factors == 0)
            in[i] = scales_build(s, in[i]);
        else if ((factors >> i & 1) != 0)
            in[i] = scales_divide(s, in[i]);
    }
    if (s->b.status != HOLO_OK) return 0;
    const hg_node_id made = hg_build_copy(&s->b, id, in, n_in);
    return made == 0 ? 0 : hg_graph_node(s->b.g, made)->out[0];
}

/* Codes, and what is made of codes and constants alone, one by one or as a mean. */
static bool scales_is_coded(const hg_graph *g, hg_value_id v, int depth)
{
    if (v == 0 || hg_graph_is_const(g, v)) return true;
    const hg_node *n = hg_op_producer(g, v, NULL);
    if (n == NULL || depth == 0) return false;
    if (hg_op_is(n, "Cast")) {
        const holo_dtype from = hg_graph_value(g, hg_node_in(g, n, 0))->type.dtype;
        return !hg_dtype_is_float(from) && hg_dtype_bits(from) <= 16;
    }
    const bool is_mean = hg_op_is(n, "AveragePool") || hg_op_is(n, "ReduceMean");
    if (!is_mean && n->op->lane == NULL && !hg_chain_is_move(n)) return false;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!scales_is_coded(g, hg_node_in(g, n, i), depth - 1)) return false;
    return true;
}

/* A quotient by one positive constant. */
static bool scales_wants(const hg_graph *g, const hg_node *n, double *divisor)
{
    if (!hg_op_is(n, "Div") || !scales_is_const(g, hg_node_in(g, n, 1))) return false;
    const hg_value *by = hg_graph_value(g, hg_node_in(g, n, 1));
    if (by->constant->bytes != sizeof(float) || by->type.rank != 0) return false;
    *divisor = (double)*(const float *)by->constant->data;
    return *divisor > 0 && scales_is_usual(*divisor);
}

/* Takes factors off *x that are one number each, as part of the divisor. */
static void scales_collect(scales *s, hg_value_id *x)
{
    const hg_graph *g = s->b.g;
    for (int depth = 0; depth < SCALES_DEPTH; depth++) {
        const hg_node *n = hg_op_producer(g, *x, "Mul");
        double factor;
        if (n == NULL) return;
        const uint32_t at = hg_graph_const_scalar(g, hg_node_in(g, n, 1), &factor) ? 1 : 0;
        if (at == 0 && !hg_graph_const_scalar(g, hg_node_in(g, n, 0), &factor)) return;
        const double divisor = s->divisor / factor;
        const hg_value_id of = hg_node_in(g, n, 1 - at);
        if (!scales_is_usual(factor) || !scales_is_usual(divisor)) return;
        if (hg_graph_value(g, of)->type.rank != hg_graph_value(g, *x)->type.rank) return;
        s->divisor = divisor;
        *x = of;
    }
}

/* x / divisor as one product; 0: it has none. */
static hg_value_id scales_product(scales *s, hg_value_id x)
{
    const hg_graph *g = s->b.g;
    scales_collect(s, &x);
    const hg_node *n = hg_op_producer(g, x, "Mul");
    const uint32_t factors = n == NULL ? 0 : scales_factors(s, n);
    hg_value_id factor = 0;
    if (factors != 0) {
        factor = hg_node_in(g, n, factors == 1 << 0 ? 0 : 1);
        x = hg_node_in(g, n, factors == 1 << 0 ? 1 : 0);
        scales_collect(s, &x);
        if (!scales_can_divide(s, factor)) return 0;
        factor = scales_divide(s, factor);
    } else {
        const float inverse = (float)(1 / s->divisor);
        factor = hg_build_const(&s->b, (hg_type){.dtype = HOLO_F32}, &inverse, sizeof inverse);
    }
    return factor == 0 ? 0 : hg_build_2(&s->b, "Mul", x, factor);
}

/* What the quotient becomes; 0: it stays. So do those of models that only show errors: results of
 * layers are outputs there, their scales cannot move, and codes half way would fall otherwise than
 * in the model that is made. */
static hg_value_id scales_instead(scales *s, hg_value_id x)
{
    const hg_quantize *q = s->b.ctx->quantize;
    if (scales_fits(s, x, SCALES_DEPTH) && s->has_layer) return scales_build(s, x);
    const bool is_shown = q != NULL && q->observe;
    if (!s->is_rounded || is_shown || scales_is_coded(s->b.g, x, SCALES_DEPTH)) return 0;
    return scales_product(s, x);
}

static holo_status scales_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        scales s = {.has_layer = false};
        if (scales_wants(g, hg_graph_node(g, id), &s.divisor)) {
            hg_build_init(&s.b, g, id);
            const hg_value_id x = hg_build_in(&s.b, 0);
            const hg_node_id reader = hg_graph_only_user(g, hg_graph_node(g, id)->out[0]);
            s.is_rounded = reader != 0 && hg_op_is(hg_graph_node(g, reader), "Round");
            const hg_value_id made = scales_instead(&s, x);
            HG_TRY(s.b.status);
            if (made != 0) {
                hg_build_replace(&s.b, 0, made);
                hg_graph_remove_node(g, id);
                *changed = true;
            }
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fold_scales = {
    .name = "fold_scales",
    .brief = "scales of codes move into the factors of the product before them",
    .run = scales_run,
};
