/* epilogue.c - runs lane code on tiles of a kernel's result. */
#include "kernel/epilogue.h"

#include <float.h>
#include <math.h>

/* Strides of `from` over dims [begin, end) of `to` as one stride, from the right as far as that is
 * possible for this operand; `stop` comes in as the leftmost dim wanted and goes out as the one
 * reached. */
static int64_t epilogue_collapse(const int64_t *stride, const holo_tensor *to, int begin, int end,
                                 int *stop)
{
    int64_t step = 0, size = 1;
    for (int d = end - 1; d >= begin; d--) {
        if (to->dim[d] == 1) continue;
        if (size == 1) {
            step = stride[d];
        } else if (stride[d] != step * size) {
            if (*stop < d + 1) *stop = d + 1;
            break;
        }
        size *= to->dim[d];
    }
    return step;
}

static holo_status epilogue_check_operand(const hg_args *a, holo_error *e, uint32_t i, int col_dims)
{
    const holo_tensor *t = &a->in[i], *out = &a->out[0];
    HG_TRY(hg_check_in_type(a, e, i, HG_EPILOGUE_TYPES | HG_TYPES_NARROW));
    HG_TRY(hg_check_broadcast(t, out, e, "epilogue operand"));
    if (holo_tensor_count(out) == 0) return HOLO_OK;
    int64_t stride[HG_MAX_RANK];
    hg_broadcast_strides(t, out, stride);
    int stop = 0;
    epilogue_collapse(stride, out, out->rank - col_dims, out->rank, &stop);
    HG_REQUIRE(e, stop == 0, HOLO_E_SHAPE,
               "input %u of the epilogue is broadcast along some of the last %d dimensions only", i,
               col_dims);
    return HOLO_OK;
}

holo_status hg_epilogue_check(const hg_args *a, holo_error *e, uint32_t first_extra, int col_dims,
                              holo_dtype result)
{
    const hg_lane_code *code = a->code;
    if (code == NULL) {
        HG_REQUIRE(e, a->n_in <= first_extra, HOLO_E_FORMAT, "%u inputs, expected at most %u",
                   a->n_in, first_extra);
        return hg_check_same_type(&a->out[0], &a->in[0], e, "output");
    }
    HG_REQUIRE(e, code->n_in >= 1 && code->n_in <= HG_LANE_MAX_IO, HOLO_E_FORMAT,
               "epilogue has %u operands, expected 1 to %d", code->n_in, HG_LANE_MAX_IO);
    HG_REQUIRE(e, code->n_out == 1, HOLO_E_FORMAT, "epilogue has %u results, expected 1",
               code->n_out);
    uint32_t extra = a->n_in > first_extra ? a->n_in - first_extra : 0;
    HG_REQUIRE(e, extra == code->n_in - 1, HOLO_E_FORMAT, "%u inputs for the epilogue, expected %u",
               extra, code->n_in - 1);
    holo_dtype types[HG_LANE_MAX_IO];
    types[0] = result;
    for (uint32_t i = 1; i < code->n_in; i++) {
        HG_TRY(epilogue_check_operand(a, e, first_extra + i - 1, col_dims));
        types[i] = a->in[first_extra + i - 1].dtype;
    }
    return hg_lane_check_types(code, types, &a->out[0].dtype, e);
}

static size_t epilogue_operand_bytes(const hg_lane_code *code)
{
    return hg_align_up(code->n_in * sizeof(hg_epilogue_operand), HG_ALIGN);
}

static size_t epilogue_view_bytes(const hg_lane_code *code)
{
    return hg_align_up((code->n_in + 1) * sizeof(hg_lane_view), HG_ALIGN);
}

size_t hg_epilogue_scratch(const hg_args *a)
{
    if (a->code == NULL) return 0;
    return epilogue_operand_bytes(a->code) + epilogue_view_bytes(a->code) +
           hg_align_up(hg_lane_scratch(a->code), HG_ALIGN);
}

void hg_epilogue_init(hg_epilogue *ep, const hg_args *a, uint32_t first_extra, int col_dims,
                      hg_lane_run_fn run, void *scratch)
{
    const holo_tensor *out = &a->out[0];
    const int rows_rank = out->rank - col_dims;
    char *bytes = scratch;
    ep->args = a;
    ep->run = run;
    ep->operand = (hg_epilogue_operand *)(void *)bytes;
    ep->view = (hg_lane_view *)(void *)(bytes + epilogue_operand_bytes(a->code));
    ep->scratch = bytes + epilogue_operand_bytes(a->code) + epilogue_view_bytes(a->code);
    ep->cols = hg_dims_product(out, rows_rank, out->rank);
    ep->n_outer = 0;
    const uint32_t extra = a->code->n_in - 1;
    for (uint32_t i = 0; i < extra; i++) {
        const holo_tensor *t = &a->in[first_extra + i];
        hg_epilogue_operand *p = &ep->operand[i];
        int ignored = 0;
        hg_broadcast_strides(t, out, p->outer);
        p->col = epilogue_collapse(p->outer, out, rows_rank, out->rank, &ignored);
        epilogue_collapse(p->outer, out, 0, rows_rank, &ep->n_outer);
    }
    ep->period = hg_dims_product(out, ep->n_outer, rows_rank);
    for (uint32_t i = 0; i < extra; i++) {
        int ignored = 0;
        hg_epilogue_operand *p = &ep->operand[i];
        p->row = epilogue_collapse(p->outer, out, ep->n_outer, rows_rank, &ignored);
        ep->view[1 + i] = (hg_lane_view){.data = a->in[first_extra + i].data,
                                         .row = p->row,
                                         .col = p->col,
                                         .dtype = a->in[first_extra + i].dtype};
    }
    ep->view[a->code->n_in] =
        (hg_lane_view){.data = out->data, .row = ep->cols, .col = 1, .dtype = out->dtype};
}

/* Rows [row, row + rows) that lie in one period. */
static void epilogue_chunk(const hg_epilogue *ep, const hg_epilogue_tile *tile, int64_t row,
                           int64_t rows)
{
    const hg_args *a = ep->args;
    const holo_tensor *out = &a->out[0];
    const uint32_t n_in = a->code->n_in;
    const int64_t inner = row % ep->period;
    ep->view[0] = (hg_lane_view){.data = tile->data,
                                 .row = tile->ld,
                                 .col = 1,
                                 .dtype = tile->dtype,
                                 .first = (row - tile->row) * tile->ld};
    for (uint32_t i = 1; i < n_in; i++) {
        const hg_epilogue_operand *p = &ep->operand[i - 1];
        int64_t at = inner * p->row + tile->col * p->col, rest = row / ep->period;
        for (int d = ep->n_outer - 1; d >= 0; d--) {
            at += rest % out->dim[d] * p->outer[d];
            rest /= out->dim[d];
        }
        ep->view[i].first = at;
    }
    const int64_t first = row * ep->cols + tile->col;
    ep->view[n_in].first = first;
    const hg_lane_tile lane = {.in = ep->view,
                               .out = &ep->view[n_in],
                               .rows = rows,
                               .cols = tile->cols,
                               .first = first,
                               .row_elements = ep->cols,
                               .scratch = ep->scratch,
                               .fault = a->fault};
    ep->run(a->code, &lane);
}

void hg_epilogue_run(const hg_epilogue *ep, const hg_epilogue_tile *tile)
{
    if (tile->cols == 0) return;
    const int64_t end = tile->row + tile->rows;
    for (int64_t row = tile->row; row < end;) {
        int64_t rows = hg_min(end - row, ep->period - row % ep->period);
        epilogue_chunk(ep, tile, row, rows);
        row += rows;
    }
}

/* ---- recognising simple epilogues --------------------------------------------------------- */

enum { EPILOGUE_MAX_OP = 32, EPILOGUE_CUBIC_DEPTH = 6 };

/* The code as a graph: operands are numbers of operations. */
typedef struct epilogue_graph {
    const hg_args *args;
    uint32_t first_extra;
    const hg_lane_op *op;
    uint8_t a[EPILOGUE_MAX_OP], b[EPILOGUE_MAX_OP], c[EPILOGUE_MAX_OP];
} epilogue_graph;

static bool epilogue_is(const epilogue_graph *g, uint32_t i, hg_lane_opcode op)
{
    return g->op[i].op == op;
}

static bool epilogue_const(const epilogue_graph *g, uint32_t i, float *value)
{
    if (!epilogue_is(g, i, HG_LANE_CONST)) return false;
    const uint32_t bits = (uint32_t)g->op[i].imm;
    memcpy(value, &bits, sizeof *value);
    return *value == *value; /* what NaN does to limits is left to the interpreter */
}

/* Operation i is `op` of something and a constant; which of the two comes first does not matter
 * unless `op` is a division. */
static bool epilogue_with_const(const epilogue_graph *g, uint32_t i, hg_lane_opcode op,
                                uint32_t *inner, float *value)
{
    if (!epilogue_is(g, i, op)) return false;
    *inner = g->a[i];
    if (epilogue_const(g, g->b[i], value)) return true;
    *inner = g->b[i];
    return op != HG_LANE_DIV && epilogue_const(g, g->a[i], value);
}

/* One value for each column. */
static const float *epilogue_bias(const epilogue_graph *g, uint32_t i)
{
    if (!epilogue_is(g, i, HG_LANE_LOAD) || g->op[i].index == 0) return NULL;
    const holo_tensor *t = &g->args->in[g->first_extra + g->op[i].index - 1];
    const holo_tensor *out = &g->args->out[0];
    if (t->dtype != HOLO_F32 || t->rank == 0) return NULL;
    const int64_t cols = out->dim[out->rank - 1];
    return t->dim[t->rank - 1] == cols && holo_tensor_count(t) == cols ? t->data : NULL;
}

/* Operation i is `op` of something and a value for each column. */
static const float *epilogue_with_bias(const epilogue_graph *g, uint32_t i, hg_lane_opcode op,
                                       uint32_t *inner)
{
    if (!epilogue_is(g, i, op)) return NULL;
    const float *right = epilogue_bias(g, g->b[i]);
    *inner = right != NULL ? g->a[i] : g->b[i];
    return right != NULL ? right : epilogue_bias(g, g->a[i]);
}

/* Operation i is one value for each output or for each row. */
static bool epilogue_residual(const epilogue_graph *g, uint32_t i, hg_epilogue_residual *found)
{
    if (!epilogue_is(g, i, HG_LANE_LOAD) || g->op[i].index == 0) return false;
    const holo_tensor *t = &g->args->in[g->first_extra + g->op[i].index - 1];
    const holo_tensor *out = &g->args->out[0];
    const int64_t count = holo_tensor_count(t), all = holo_tensor_count(out);
    const bool per_row = count != all && t->rank > 0 && t->dim[t->rank - 1] == 1 &&
                         count * out->dim[out->rank - 1] == all;
    if (t->dtype != HOLO_F32 || (count != all && !per_row)) return false;
    *found = (hg_epilogue_residual){.data = t->data, .per_row = per_row};
    return true;
}

/* i = max and min of something with constants, in any order. */
static uint32_t epilogue_clamp(const epilogue_graph *g, uint32_t i, float *low, float *high)
{
    const uint32_t whole = i;
    uint32_t inner;
    float value;
    *low = -INFINITY;
    *high = INFINITY;
    for (int n = 0; n < 2; n++) {
        if (*low == -INFINITY && epilogue_with_const(g, i, HG_LANE_MAX, &inner, &value))
            *low = value;
        else if (*high == INFINITY && epilogue_with_const(g, i, HG_LANE_MIN, &inner, &value))
            *high = value;
        else
            break;
        i = inner;
    }
    return *low <= *high ? i : whole; /* otherwise the order matters */
}

/* Takes factors that are constant off operation i. */
static uint32_t epilogue_strip(const epilogue_graph *g, uint32_t i, float *factor)
{
    uint32_t inner;
    float value;
    for (;;) {
        if (epilogue_with_const(g, i, HG_LANE_MUL, &inner, &value))
            *factor *= value;
        else if (epilogue_with_const(g, i, HG_LANE_DIV, &inner, &value))
            *factor /= value;
        else
            return i;
        i = inner;
    }
}

/* i = x * scale + shift, either of them left out; x itself is reached, or the innermost operation.
 */
static uint32_t epilogue_affine(const epilogue_graph *g, uint32_t i, uint32_t x, float *scale,
                                float *shift)
{
    uint32_t inner;
    *scale = 1;
    *shift = 0;
    if (i != x && epilogue_with_const(g, i, HG_LANE_ADD, &inner, shift)) i = inner;
    return i == x ? i : epilogue_strip(g, i, scale);
}

/* i = a polynomial of x, coefficients of x^0 to x^3. The depth bounds the work. */
static bool epilogue_polynomial(const epilogue_graph *g, uint32_t i, uint32_t x, int depth,
                                double *c)
{
    double p[4], q[4];
    float value = 0;
    const bool is_const = i != x && epilogue_const(g, i, &value);
    const bool is_sum = epilogue_is(g, i, HG_LANE_ADD), is_ratio = epilogue_is(g, i, HG_LANE_DIV);
    memset(c, 0, sizeof p);
    c[0] = value;
    c[1] = i == x;
    if (i == x || is_const) return true;
    if (depth == 0 || (!is_sum && !is_ratio && !epilogue_is(g, i, HG_LANE_MUL)) ||
        !epilogue_polynomial(g, g->a[i], x, depth - 1, p) ||
        !epilogue_polynomial(g, g->b[i], x, depth - 1, q))
        return false;
    if (is_ratio && (q[0] == 0 || q[1] != 0 || q[2] != 0 || q[3] != 0)) return false;
    if (is_ratio) q[0] = 1 / q[0];
    for (int m = 0; m < 4; m++)
        for (int n = 0; n < 4; n++) {
            const double part = !is_sum ? p[m] * q[n] : m == n ? p[m] + q[n] : 0;
            const int power = is_sum ? m : m + n;
            if (power <= 3)
                c[power] += part;
            else if (part != 0)
                return false;
        }
    return true;
}

/* x (1 + tanh(u)) with u = i * part, which is x and x^3 with constants, in any order. */
static bool epilogue_cubic(const epilogue_graph *g, uint32_t i, uint32_t x, double part,
                           hg_epilogue_simple *s)
{
    double c[4];
    if (!epilogue_polynomial(g, i, x, EPILOGUE_CUBIC_DEPTH, c) || c[0] != 0 || c[2] != 0)
        return false;
    s->act = HG_EPILOGUE_GELU_TANH;
    s->gate_scale = (float)(c[1] * part);
    /* x^2 may be infinite, and infinity times 0 is no number */
    s->gate_shift = c[3] != 0 ? (float)(c[3] * part) : copysignf(FLT_MIN, s->gate_scale);
    return true;
}

/* x * other, where other depends on x alone. */
static bool epilogue_pair(const epilogue_graph *g, uint32_t x, uint32_t other,
                          hg_epilogue_simple *s)
{
    uint32_t inner;
    float value;
    if (epilogue_is(g, other, HG_LANE_SIGMOID)) {
        s->act = HG_EPILOGUE_SILU;
        if (g->a[other] == x) return true;
        /* 2 sigmoid(2 u) = 1 + tanh(u) */
        if (!epilogue_cubic(g, g->a[other], x, 0.5, s)) return false;
        s->factor *= 0.5F;
        return true;
    }
    if (epilogue_with_const(g, other, HG_LANE_ADD, &inner, &value) && value == 1 &&
        epilogue_is(g, inner, HG_LANE_ERF)) {
        s->act = HG_EPILOGUE_GELU;
        return epilogue_affine(g, g->a[inner], x, &s->gate_scale, &s->gate_shift) == x &&
               s->gate_shift == 0;
    }
    if (epilogue_with_const(g, other, HG_LANE_ADD, &inner, &value) && value == 1 &&
        epilogue_is(g, inner, HG_LANE_TANH))
        return epilogue_cubic(g, g->a[inner], x, 1, s);
    s->act = HG_EPILOGUE_HARDSWISH;
    inner = epilogue_clamp(g, other, &s->low, &s->high);
    return s->low > -INFINITY && s->high < INFINITY &&
           epilogue_affine(g, inner, x, &s->gate_scale, &s->gate_shift) == x;
}

/* Either order, with or without constants inside the two factors. */
static bool epilogue_product(const epilogue_graph *g, uint32_t i, uint32_t *x,
                             hg_epilogue_simple *s)
{
    if (!epilogue_is(g, i, HG_LANE_MUL)) return false;
    const uint32_t side[2] = {g->a[i], g->b[i]};
    for (int n = 0; n < 8; n++) {
        float factor = 1;
        const uint32_t first = side[n & 1], second = side[(n & 1) ^ 1];
        *x = n & 2 ? epilogue_strip(g, first, &factor) : first;
        if (!epilogue_pair(g, *x, n & 4 ? epilogue_strip(g, second, &factor) : second, s)) continue;
        s->factor *= factor;
        return true;
    }
    return false;
}

/* x < 0 ? x * slope : x, one slope or one for each column, or max(x * slope, x). */
static bool epilogue_leaky(const epilogue_graph *g, uint32_t i, uint32_t *x, hg_epilogue_simple *s)
{
    const uint32_t less = g->a[i], low = g->b[i];
    uint32_t inner;
    float zero;
    s->act = HG_EPILOGUE_LEAKY;
    for (int side = 0; side < 2 && epilogue_is(g, i, HG_LANE_MAX); side++) {
        *x = side == 0 ? g->b[i] : g->a[i];
        if (epilogue_with_const(g, side == 0 ? g->a[i] : g->b[i], HG_LANE_MUL, &inner,
                                &s->gate_scale) &&
            inner == *x && s->gate_scale > 0 && s->gate_scale <= 1)
            return true;
    }
    *x = g->c[i];
    if (!epilogue_is(g, i, HG_LANE_SELECT) || !epilogue_is(g, less, HG_LANE_LT) ||
        g->a[less] != *x || !epilogue_const(g, g->b[less], &zero) || zero != 0)
        return false;
    if (!epilogue_with_const(g, low, HG_LANE_MUL, &inner, &s->gate_scale)) {
        s->slope = epilogue_with_bias(g, low, HG_LANE_MUL, &inner);
        if (s->slope == NULL) return false;
    }
    return inner == *x;
}

/* max and min of leaky(x) * f are those of leaky(x), with limits divided by f, times f; f > 0, and
 * no limit leaves the numbers. */
static bool epilogue_scaled_leaky(const epilogue_graph *g, uint32_t i, uint32_t *x,
                                  hg_epilogue_simple *s)
{
    float f = 1;
    const uint32_t inside = epilogue_strip(g, i, &f);
    if (inside == i || !(f > 1e-6F && f < 1e6F) || !epilogue_leaky(g, inside, x, s)) return false;
    s->low /= f;
    s->high /= f;
    s->factor *= f;
    return true;
}

/* Takes the activation and its factor off operation i. */
static uint32_t epilogue_activation(const epilogue_graph *g, uint32_t i, hg_epilogue_simple *s)
{
    uint32_t x;
    s->factor = 1;
    i = epilogue_strip(g, i, &s->factor);
    if (epilogue_product(g, i, &x, s)) return x;
    if (epilogue_is(g, i, HG_LANE_TANH) || epilogue_is(g, i, HG_LANE_SIGMOID)) {
        s->act = g->op[i].op == HG_LANE_TANH ? HG_EPILOGUE_TANH : HG_EPILOGUE_SIGMOID;
        return g->a[i];
    }
    const uint32_t inside = epilogue_clamp(g, i, &s->low, &s->high);
    if (epilogue_leaky(g, inside, &x, s) || epilogue_scaled_leaky(g, inside, &x, s)) return x;
    s->act = inside == i ? HG_EPILOGUE_LINEAR : HG_EPILOGUE_CLAMP;
    return inside;
}

/* A place for one more residual; NULL when all are taken. */
static hg_epilogue_residual *epilogue_free(hg_epilogue_simple *s)
{
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
        if (s->residual[n].data == NULL) return &s->residual[n];
    return NULL;
}

/* i = a sum of operand 0, once, and at most two biases and the residuals there is a place for. Ends
 * at the first surplus term, so the depth of the code bounds the work. */
static bool epilogue_terms(const epilogue_graph *g, uint32_t i, hg_epilogue_simple *s,
                           bool *has_result)
{
    if (epilogue_is(g, i, HG_LANE_ADD))
        return epilogue_terms(g, g->a[i], s, has_result) &&
               epilogue_terms(g, g->b[i], s, has_result);
    if (epilogue_is(g, i, HG_LANE_LOAD) && g->op[i].index == 0) {
        const bool is_first = !*has_result;
        *has_result = true;
        return is_first;
    }
    hg_epilogue_residual *residual = epilogue_free(s);
    const float *bias = epilogue_bias(g, i);
    if (bias != NULL && s->bias == NULL)
        s->bias = bias;
    else if (bias != NULL && s->bias2 == NULL)
        s->bias2 = bias;
    else
        return residual != NULL && epilogue_residual(g, i, residual);
    return true;
}

static bool epilogue_sum(const epilogue_graph *g, uint32_t i, hg_epilogue_simple *s)
{
    bool has_result = false;
    return epilogue_terms(g, i, s, &has_result) && has_result;
}

/* Takes off residual n, which is added or multiplied last; one that could as well be part of the
 * sum stays there. */
static uint32_t epilogue_last(const epilogue_graph *g, uint32_t i, hg_epilogue_simple *s, int n)
{
    const bool is_product = epilogue_is(g, i, HG_LANE_MUL);
    for (int side = 0; side < 2 && (is_product || epilogue_is(g, i, HG_LANE_ADD)); side++) {
        const uint32_t other = side == 0 ? g->b[i] : g->a[i];
        const uint32_t rest = side == 0 ? g->a[i] : g->b[i];
        hg_epilogue_simple sum = *s;
        hg_epilogue_residual found;
        if (!epilogue_residual(g, other, &found) || epilogue_sum(g, i, &sum)) continue;
        found.when = is_product ? HG_EPILOGUE_MULTIPLIED : HG_EPILOGUE_ADDED;
        s->residual[n] = found;
        return rest;
    }
    return i;
}

/* Takes off a factor for each column, and what is added to it: a normalisation behind an
 * activation. */
static uint32_t epilogue_columns(const epilogue_graph *g, uint32_t i, hg_epilogue_simple *s)
{
    uint32_t sum = i, inner;
    s->lift = epilogue_with_bias(g, i, HG_LANE_ADD, &sum);
    s->gain = epilogue_with_bias(g, s->lift == NULL ? i : sum, HG_LANE_MUL, &inner);
    if (s->gain != NULL) return inner;
    s->lift = NULL; /* part of the sum */
    return i;
}

bool hg_epilogue_is_simple(const hg_args *a, uint32_t first_extra, hg_epilogue_simple *simple)
{
    const hg_lane_code *code = a->code;
    uint8_t writer[HG_LANE_MAX_REG] = {0};
    epilogue_graph g = {.args = a, .first_extra = first_extra};
    if (code == NULL || code->n_op == 0 || code->n_op > EPILOGUE_MAX_OP ||
        a->out[0].dtype != HOLO_F32)
        return false;
    if (code->out[0].type != HG_LANE_F32) return false;
    g.op = code->op;
    for (uint32_t i = 0; i < code->n_op; i++) {
        if (code->op[i].type != HG_LANE_F32) return false;
        g.a[i] = writer[code->op[i].a];
        g.b[i] = writer[code->op[i].b];
        g.c[i] = writer[code->op[i].c];
        writer[code->op[i].dst] = (uint8_t)i;
    }
    *simple = (hg_epilogue_simple){.act = HG_EPILOGUE_LINEAR, .factor = 1, .cpu = a->cpu};
    uint32_t i = writer[code->out[0].reg], inner;
    for (int n = HG_EPILOGUE_RESIDUALS; n-- > 0;)
        i = epilogue_last(&g, i, simple, n);
    i = epilogue_columns(&g, i, simple);
    if (epilogue_with_const(&g, i, HG_LANE_ADD, &inner, &simple->offset)) i = inner;
    i = epilogue_activation(&g, i, simple);
    i = epilogue_affine(&g, i, UINT32_MAX, &simple->scale, &simple->shift);
    simple->is_scaled = simple->scale != 1 || simple->shift != 0;
    simple->is_final = simple->factor == 1 && simple->offset == 0 && simple->gain == NULL;
    return epilogue_sum(&g, i, simple);
}
