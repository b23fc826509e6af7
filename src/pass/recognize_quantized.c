/* recognize_quantized.c - products and convolutions of dequantised codes become exact integer ones.
 *
 *     Conv(sx (x - x0), sw (w - w0), b)  ->  float(ConvInteger(x, w, x0, w0)) (sx sw) + b
 *
 * The sum is exact and rounded once, where the float form rounds every term: the result is the one
 * that QLinearConv and QLinearMatMul define, nearer to the numbers meant. A bias that is itself a
 * code with scale sx sw is added to the sum. Codes of 16 bits without a zero point, times signed
 * weights that leave 32 bits with none of them, go straight into the packed form, since
 * MatMulInteger takes bytes alone. Where weights alone are codes, the product becomes
 * MatMulNBits, which widens them on the way instead of all at every run. DequantizeLinear has
 * become Cast, Sub and Mul by now; what its constants go through is looked through, since nothing
 * is folded yet. */
#include "op/op_codes.h"
#include "pass/pass.h"
#include "table/cert.h"

typedef struct quant_match {
    hg_value_id codes;
    hg_value_id scale, zero; /* constants; zero 0: none. One element, or one for each of `axis` */
    int64_t count;           /* of the scales */
    int32_t axis;
} quant_match;

/* The constant behind what changes no element: Unsqueeze, Reshape, and Cast of codes. */
static hg_value_id quant_constant(const hg_graph *g, hg_value_id v)
{
    static const char *const through[] = {"Unsqueeze", "Reshape", "Cast"};
    for (int depth = 0; depth < 4; depth++) {
        if (hg_graph_is_const(g, v)) return v;
        const hg_node *n = NULL;
        for (size_t i = 0; n == NULL && i < HG_COUNT(through); i++)
            n = hg_op_producer(g, v, through[i]);
        if (n == NULL) return 0;
        v = hg_node_in(g, n, 0);
    }
    return 0;
}

static bool quant_count(hg_graph *g, hg_value_id v, int64_t *count)
{
    return hg_dim_is_const(&g->dims, hg_type_count(g, &hg_graph_value(g, v)->type), count);
}

/* Scale and zero point of one value or of one for each index of an axis. */
static bool quant_constants(hg_graph *g, hg_value_id scale, hg_value_id zero, holo_dtype codes,
                            quant_match *m)
{
    int64_t zeros = 1;
    const int32_t rank = hg_graph_value(g, m->codes)->type.rank;
    const int32_t spread = hg_graph_value(g, scale)->type.rank;
    m->scale = quant_constant(g, scale);
    if (m->scale == 0 || hg_graph_value(g, m->scale)->type.dtype != HOLO_F32) return false;
    if (!quant_count(g, m->scale, &m->count)) return false;
    m->axis = rank - spread;
    if (m->count != 1 && (m->axis < 0 || hg_graph_value(g, m->scale)->type.rank != 1)) return false;
    m->zero = zero == 0 ? 0 : quant_constant(g, zero);
    if (zero == 0) return true;
    return m->zero != 0 && hg_graph_value(g, m->zero)->type.dtype == codes &&
           quant_count(g, m->zero, &zeros) && (zeros == 1 || zeros == m->count);
}

/* v = (Cast(codes) - zero) scale, of type float32. */
static bool quant_find(hg_graph *g, hg_value_id v, hg_types types, quant_match *m)
{
    const hg_node *product = hg_op_producer(g, v, "Mul");
    if (product == NULL || hg_graph_value(g, v)->type.dtype != HOLO_F32) return false;
    const hg_value_id scale = hg_node_in(g, product, 1);
    const hg_node *less = hg_op_producer(g, hg_node_in(g, product, 0), "Sub");
    const hg_value_id zero = less == NULL ? 0 : hg_node_in(g, less, 1);
    const hg_value_id wide = hg_node_in(g, less == NULL ? product : less, 0);
    const hg_node *cast = hg_op_producer(g, wide, "Cast");
    if (cast == NULL || hg_graph_value(g, wide)->type.dtype != HOLO_F32) return false;
    m->codes = hg_node_in(g, cast, 0);
    const holo_dtype dtype = hg_graph_value(g, m->codes)->type.dtype;
    return hg_dtype_in(dtype, types) && quant_constants(g, scale, zero, dtype, m);
}

static float quant_scale(const hg_graph *g, const quant_match *m, int64_t i)
{
    return ((const float *)hg_graph_value(g, m->scale)->constant->data)[m->count == 1 ? 0 : i];
}

/* ---- what is built ------------------------------------------------------------------------- */

typedef struct quant_product {
    quant_match x, w;
    double alpha;
    int64_t outputs;
    int32_t axis;       /* of the weights that holds outputs */
    int32_t trailing;   /* dims of the result behind the outputs */
    bool is_transposed; /* [n, k] */
    bool is_wide;       /* x has codes of 16 bits */
} quant_product;

/* One value of a constant, or all of them along the outputs. */
static hg_value_id quant_zero(hg_build *b, hg_value_id zero)
{
    if (zero == 0) return 0;
    const hg_value *v = hg_graph_value(b->g, zero);
    if (v->constant->bytes != 1 || v->type.rank == 0) return zero;
    return hg_build_const(b, (hg_type){.dtype = v->type.dtype}, v->constant->data, 1);
}

/* [outputs, 1, 1 ...] or a scalar: alpha sx sw. */
static hg_value_id quant_scales(hg_build *b, const quant_product *p)
{
    float *list;
    hg_type type = {.dtype = HOLO_F32};
    const int64_t count = p->w.count;
    b->status = HG_NEW(b->ctx, (size_t)count + 1, &list);
    for (int64_t i = 0; b->status == HOLO_OK && i < count; i++)
        list[i] = quant_scale(b->g, &p->x, 0) * quant_scale(b->g, &p->w, i) * (float)p->alpha;
    if (b->status != HOLO_OK) return 0;
    if (count != 1) {
        type.rank = 1 + p->trailing;
        for (int32_t d = 0; d < type.rank; d++)
            type.dim[d] = hg_dim_const(&b->g->dims, d == 0 ? count : 1);
    }
    return hg_build_const(b, type, list, (size_t)count * sizeof *list);
}

/* A vector over the outputs beside the result. */
static hg_value_id quant_spread(hg_build *b, hg_value_id v, int32_t trailing)
{
    int64_t axes[HG_MAX_RANK];
    for (int32_t d = 0; d < trailing; d++)
        axes[d] = 1 + d;
    if (trailing == 0 || hg_build_type(b, v)->rank == 0) return v;
    return hg_build_2(b, "Unsqueeze", v, hg_build_ints(b, axes, (uint32_t)trailing));
}

/* Codes of the bias when they are in units of the sum: scale sx sw to the last bits, zero point 0.
 */
static hg_value_id quant_bias(hg_graph *g, const quant_product *p, hg_value_id bias)
{
    quant_match m;
    if (bias == 0 || !quant_find(g, bias, HG_TYPE_BIT(HOLO_I32), &m)) return 0;
    if (!hg_graph_is_const(g, m.codes) || (m.count != 1 && m.count != p->outputs)) return 0;
    if (m.zero != 0) {
        const hg_const *zero = hg_graph_value(g, m.zero)->constant;
        for (size_t i = 0; i < zero->bytes; i++)
            if (((const uint8_t *)zero->data)[i] != 0) return 0;
    }
    for (int64_t i = 0; i < p->outputs; i++) {
        const double unit = (double)quant_scale(g, &p->x, 0) * (double)quant_scale(g, &p->w, i);
        const double difference = (double)quant_scale(g, &m, i) - unit;
        if (!(difference <= unit * 0x1p-22 && difference >= -unit * 0x1p-22)) return 0;
    }
    return m.codes;
}

static hg_value_id quant_matrix(hg_build *b, const quant_product *p)
{
    const hg_value_id w = p->w.codes;
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){1, 0}, 2);
    return p->is_transposed ? hg_build_op(b, "Transpose", &w, 1, &perm, 1) : w;
}

/* The packed form, whose sums are proved to fit. */
static hg_value_id quant_wide(hg_build *b, hg_node_id id, const quant_product *p)
{
    int64_t k;
    const hg_dim columns = hg_dim_const(&b->g->dims, p->outputs);
    hg_attr trans = hg_attr_make_int("trans", p->is_transposed);
    hg_attr n = hg_attr_make_dims(b, "n", &columns, 1);
    hg_value_id packed = hg_build_op(b, "holo:PackP16I8", &p->w.codes, 1, &trans, 1);
    const hg_value_id in[] = {p->x.codes, packed, 0, 0};
    if (b->status == HOLO_OK && quant_count(b->g, p->w.codes, &k))
        b->status = hg_cert_add_wide_panels(b->g, packed, id, k / p->outputs);
    return hg_build_op(b, "holo:MatMulP16I16", in, HG_COUNT(in), &n, 1);
}

static holo_status quant_replace(hg_graph *g, hg_node_id id, const quant_product *p)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const bool is_conv = hg_op_is(b.node, "Conv");
    const hg_value_id bias = is_conv ? hg_build_in(&b, 2) : 0;
    const hg_value_id codes = quant_bias(g, p, bias);
    const hg_value_id in[] = {p->x.codes, p->is_wide ? p->w.codes : quant_matrix(&b, p),
                              quant_zero(&b, p->x.zero), quant_zero(&b, p->w.zero)};
    hg_value_id y =
        is_conv ? hg_build_op(&b, "ConvInteger", in, HG_COUNT(in), b.node->attr, b.node->n_attr)
        : p->is_wide ? quant_wide(&b, id, p)
                     : hg_build_op(&b, "MatMulInteger", in, HG_COUNT(in), NULL, 0);
    if (codes != 0) y = hg_build_2(&b, "Add", y, quant_spread(&b, codes, p->trailing));
    y = hg_build_2(&b, "Mul", hg_build_cast(&b, y, HOLO_F32), quant_scales(&b, p));
    if (bias != 0 && codes == 0) y = hg_build_2(&b, "Add", y, quant_spread(&b, bias, p->trailing));
    hg_build_replace(&b, 0, y);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

/* ---- weights alone ------------------------------------------------------------------------- */

enum { QUANT_BLOCK = 128 };

/* Codes as unsigned bytes [n][blocks][block], the rest of the last block 0: inputs end before. */
static holo_status quant_blocks(const hg_graph *g, const quant_product *p, int64_t k,
                                int64_t blocks, uint8_t **out)
{
    const hg_value *v = hg_graph_value(g, p->w.codes);
    const uint8_t *from = v->constant->data, flip = v->type.dtype == HOLO_I8 ? 128 : 0;
    const int64_t n = p->outputs;
    HG_TRY(HG_NEW(g->ctx, (size_t)(n * blocks * QUANT_BLOCK), out));
    for (int64_t i = 0; i < k; i++)
        for (int64_t c = 0; c < n; c++)
            (*out)[c * blocks * QUANT_BLOCK + i] =
                from[p->is_transposed ? c * k + i : i * n + c] ^ flip;
    return HOLO_OK;
}

/* Scales and zero points [n][blocks]. */
static holo_status quant_block_tables(const hg_graph *g, const quant_product *p, int64_t blocks,
                                      float **scales, uint8_t **zeros)
{
    const uint8_t *zero = p->w.zero == 0 ? NULL : hg_graph_value(g, p->w.zero)->constant->data;
    const bool is_one = p->w.zero == 0 || hg_graph_value(g, p->w.zero)->constant->bytes == 1;
    const uint8_t flip = hg_graph_value(g, p->w.codes)->type.dtype == HOLO_I8 ? 128 : 0;
    HG_TRY(HG_NEW(g->ctx, (size_t)(p->outputs * blocks), scales));
    HG_TRY(HG_NEW(g->ctx, (size_t)(p->outputs * blocks), zeros));
    for (int64_t i = 0; i < p->outputs * blocks; i++) {
        (*scales)[i] = quant_scale(g, &p->w, i / blocks);
        (*zeros)[i] = (uint8_t)((zero == NULL ? 0 : zero[is_one ? 0 : i / blocks]) ^ flip);
    }
    return HOLO_OK;
}

static holo_status quant_replace_weights(hg_graph *g, hg_node_id id, const quant_product *p,
                                         int64_t k)
{
    const int64_t blocks = hg_ceil_div(k, QUANT_BLOCK), n = p->outputs;
    uint8_t *codes, *zeros;
    float *scales;
    hg_build b;
    HG_TRY(quant_blocks(g, p, k, blocks, &codes));
    HG_TRY(quant_block_tables(g, p, blocks, &scales, &zeros));
    hg_build_init(&b, g, id);
    hg_type type = {.dtype = HOLO_U8, .rank = 3}, table = {.dtype = HOLO_F32, .rank = 2};
    type.dim[0] = table.dim[0] = hg_dim_const(&g->dims, n);
    type.dim[1] = table.dim[1] = hg_dim_const(&g->dims, blocks);
    type.dim[2] = hg_dim_const(&g->dims, QUANT_BLOCK);
    hg_type zero = table;
    zero.dtype = HOLO_U8;
    const size_t count = (size_t)(n * blocks);
    hg_value_id in[] = {hg_build_in(&b, 0), hg_build_const(&b, type, codes, count * QUANT_BLOCK),
                        hg_build_const(&b, table, scales, count * sizeof *scales),
                        hg_build_const(&b, zero, zeros, count)};
    hg_attr attr[] = {hg_attr_make_int("K", k), hg_attr_make_int("N", n),
                      hg_attr_make_int("bits", 8), hg_attr_make_int("block_size", QUANT_BLOCK)};
    hg_build_replace(
        &b, 0,
        hg_build_op(&b, "com.microsoft:MatMulNBits", in, HG_COUNT(in), attr, HG_COUNT(attr)));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

/* ---- what is recognised -------------------------------------------------------------------- */

/* Weights of a matrix product; codes or numbers may be behind a Transpose. */
static bool quant_find_matrix(hg_graph *g, hg_value_id v, quant_product *p)
{
    const hg_node *turn = hg_op_producer(g, v, "Transpose");
    if (hg_graph_value(g, v)->type.rank != 2) return false;
    if (turn != NULL) {
        v = hg_node_in(g, turn, 0);
        p->is_transposed = !p->is_transposed;
    }
    if (!quant_find(g, v, HG_TYPES_CODES, &p->w)) return false;
    turn = hg_op_producer(g, p->w.codes, "Transpose");
    if (turn == NULL || !hg_graph_is_const(g, hg_node_in(g, turn, 0))) return true;
    p->w.codes = hg_node_in(g, turn, 0);
    p->w.axis = 1 - p->w.axis;
    p->is_transposed = !p->is_transposed;
    return true;
}

/* A product of floats with a constant matrix of codes, [k, n] or [n, k]; k fills a block. */
static bool quant_wants_weights(hg_graph *g, const hg_node *n, quant_product *p, int64_t *k)
{
    const bool is_fused = hg_op_is(n, "holo:MatMul");
    *p = (quant_product){.alpha = is_fused ? hg_node_float(n, "alpha", 1.0) : 1.0};
    if (!is_fused && !hg_op_is(n, "MatMul")) return false;
    if (is_fused && (n->n_in != 2 || hg_node_int(n, "trans_a", 0) != 0)) return false;
    p->is_transposed = is_fused && hg_node_int(n, "trans_b", 0) != 0;
    const hg_type *x = &hg_graph_value(g, hg_node_in(g, n, 0))->type;
    if (p->alpha != 1.0 || x->dtype != HOLO_F32 || x->rank < 2) return false;
    if (!quant_find_matrix(g, hg_node_in(g, n, 1), p) || !hg_graph_is_const(g, p->w.codes))
        return false;
    const hg_type *w = &hg_graph_value(g, p->w.codes)->type;
    p->axis = p->is_transposed ? 0 : 1;
    if (!hg_dim_is_const(&g->dims, w->dim[p->axis], &p->outputs) ||
        !hg_dim_is_const(&g->dims, w->dim[1 - p->axis], k) || p->outputs < 1 || *k < QUANT_BLOCK)
        return false;
    return p->w.count == 1 || (p->w.axis == p->axis && p->w.count == p->outputs);
}

static bool quant_is_zero(const hg_graph *g, hg_value_id zero)
{
    return zero == 0 || hg_graph_const_is_zero(g, zero);
}

/* No zero points, signed weights, and no sum with any codes of 16 bits leaves 32 bits. */
static bool quant_fits_wide(hg_graph *g, const quant_product *p)
{
    const hg_value *w = hg_graph_value(g, p->w.codes);
    const int64_t count = (int64_t)w->constant->bytes, n = p->outputs, k = n == 0 ? 0 : count / n;
    const int8_t *codes = w->constant->data;
    if (w->type.dtype != HOLO_I8 || !quant_is_zero(g, p->x.zero) || !quant_is_zero(g, p->w.zero))
        return false;
    for (int64_t c = 0; c < n; c++) {
        int64_t sum = 0;
        for (int64_t i = 0; i < k; i++) {
            const int32_t x = codes[p->is_transposed ? c * k + i : i * n + c];
            sum += x < 0 ? -x : x;
        }
        if (sum > HG_CERT_WIDE_COLUMN) return false;
    }
    return true;
}

static bool quant_wants(hg_graph *g, const hg_node *n, quant_product *p)
{
    const bool is_fused = hg_op_is(n, "holo:MatMul"), is_conv = hg_op_is(n, "Conv");
    *p = (quant_product){.alpha = is_fused ? hg_node_float(n, "alpha", 1.0) : 1.0};
    if (!is_fused && !is_conv && !hg_op_is(n, "MatMul")) return false;
    if (is_fused && (n->n_in != 2 || hg_node_int(n, "trans_a", 0) != 0)) return false;
    p->is_transposed = is_fused && hg_node_int(n, "trans_b", 0) != 0;
    const hg_types codes = is_conv ? HG_TYPES_CODES : HG_TYPES_CODES | HG_TYPE_BIT(HOLO_I16);
    if (!quant_find(g, hg_node_in(g, n, 0), codes, &p->x) || p->x.count != 1) return false;
    if (!(is_conv ? quant_find(g, hg_node_in(g, n, 1), HG_TYPES_CODES, &p->w)
                  : quant_find_matrix(g, hg_node_in(g, n, 1), p)))
        return false;
    const hg_type *x = &hg_graph_value(g, p->x.codes)->type;
    const hg_type *w = &hg_graph_value(g, p->w.codes)->type;
    if (!hg_graph_is_const(g, p->w.codes) || x->rank < 2) return false;
    p->axis = is_conv || p->is_transposed ? 0 : 1;
    p->trailing = is_conv ? w->rank - 2 : 0;
    if (!hg_dim_is_const(&g->dims, w->dim[p->axis], &p->outputs)) return false;
    p->is_wide = x->dtype == HOLO_I16;
    if (p->is_wide && !quant_fits_wide(g, p)) return false;
    return p->w.count == 1 || (p->w.axis == p->axis && p->w.count == p->outputs);
}

static holo_status quant_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        quant_product p;
        int64_t k;
        if (quant_wants(g, hg_graph_node(g, id), &p)) {
            HG_TRY(quant_replace(g, id, &p));
            *changed = true;
        } else if (quant_wants_weights(g, hg_graph_node(g, id), &p, &k)) {
            HG_TRY(quant_replace_weights(g, id, &p, k));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_recognize_quantized = {
    .name = "recognize_quantized",
    .brief = "products and convolutions of dequantised codes become exact integer ones",
    .run = quant_run,
};
