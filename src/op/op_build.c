/* op_build.c - building nodes in rewrites: composite operators and passes. */
#include "op/op.h"

#include "base/half.h"

#include <stdarg.h>
#include <stdio.h>

void hg_build_init(hg_build *b, hg_graph *g, hg_node_id replaced)
{
    const hg_node *n = hg_graph_node(g, replaced);
    *b = (hg_build){
        .g = g, .ctx = g->ctx, .region = n->region, .before = replaced, .id = replaced, .node = n};
}

static bool build_ok(hg_build *b, holo_status status)
{
    if (b->status == HOLO_OK) b->status = status;
    /* Adding nodes may move the array. */
    if (b->id != 0) b->node = hg_graph_node(b->g, b->id);
    return b->status == HOLO_OK;
}

holo_status hg_build_fail(hg_build *b, holo_status status, const char *format, ...)
{
    char sentence[512], label[64];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (b->status != HOLO_OK) return b->status;
    hg_str name = hg_node_label(b->g, b->id, label, sizeof label);
    return b->status = hg_fail(b->ctx->error, status, "node '%.*s' (%s): %s", HG_STR_ARG(name),
                               b->node->origin->name, sentence);
}

hg_value_id hg_build_in(const hg_build *b, uint32_t i)
{
    return hg_node_in(b->g, hg_graph_node(b->g, b->id), i);
}

holo_status hg_build_reader(hg_build *b, hg_infer *out)
{
    const hg_node *n = hg_graph_node(b->g, b->id);
    const uint32_t most = n->op->in.max > 0 ? (uint32_t)n->op->in.max : 0;
    const uint32_t count = n->n_in > most ? n->n_in : most;
    const hg_type **in;
    HG_TRY(HG_NEW(b->ctx, count + 1, &in));
    for (uint32_t i = 0; i < count; i++)
        in[i] = hg_build_type(b, hg_build_in(b, i));
    *out = (hg_infer){.g = b->g,
                      .ctx = b->ctx,
                      .dims = &b->g->dims,
                      .id = b->id,
                      .node = hg_graph_node(b->g, b->id),
                      .in = in,
                      .n_in = count,
                      .n_out = n->n_out};
    return HOLO_OK;
}

const hg_type *hg_build_type(const hg_build *b, hg_value_id value)
{
    static const hg_type absent;
    return value == 0 ? &absent : &hg_graph_value(b->g, value)->type;
}

/* Bodies of control flow are inferred when they become graphs of their own: before that a model
 * need not say what their inputs are. */
static bool build_waits(const hg_build *b, const hg_node_spec *spec)
{
    if (b->region == HG_REGION_MAIN) return false;
    for (uint32_t i = 0; i < spec->n_in; i++) {
        const hg_type *type = hg_build_type(b, spec->in[i]);
        if (spec->in[i] != 0 && (type->dtype == HOLO_NONE || type->rank == HG_RANK_UNKNOWN))
            return true;
    }
    return false;
}

static hg_node_id build_add(hg_build *b, const hg_node_spec *spec)
{
    hg_node_id id;
    if (!build_ok(b, hg_graph_add_node(b->g, b->region, b->before, spec, &id))) return 0;
    if (build_waits(b, spec)) return id;
    return build_ok(b, hg_op_infer(b->g, id)) ? id : 0;
}

hg_node_id hg_build_node(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                         const hg_attr *attr, uint32_t n_attr, uint32_t n_out)
{
    if (b->status != HOLO_OK) return 0;
    hg_attr *copy = NULL;
    if (n_attr != 0) {
        if (!build_ok(b, HG_NEW(b->ctx, n_attr, &copy))) return 0;
        memcpy(copy, attr, n_attr * sizeof *attr);
    }
    const hg_node *of = b->id == 0 ? NULL : hg_graph_node(b->g, b->id);
    return build_add(b, &(hg_node_spec){.op = hg_op_get(op),
                                        .origin = of == NULL ? NULL : of->origin,
                                        .name = of == NULL ? (hg_str){0} : of->name,
                                        .in = in,
                                        .n_in = n_in,
                                        .attr = copy,
                                        .n_attr = n_attr,
                                        .n_out = n_out});
}

static bool build_has_body(const hg_build *b, uint32_t k)
{
    const hg_node *n = hg_graph_node(b->g, b->id);
    return k < n->n_body && hg_graph_region(b->g, n->body[k])->n_out != 0;
}

hg_value_id hg_build_body(hg_build *b, uint32_t k, hg_value_id x)
{
    if (b->status != HOLO_OK || !build_has_body(b, k)) return x;
    const hg_op *op = b->node->op;
    const hg_region_id body = b->node->body[k];
    const hg_region *r = hg_graph_region(b->g, body);
    if (r->n_in != 1 || r->n_out != 1) {
        (void)hg_build_fail(b, HOLO_E_MODEL,
                            "its graph '%s' has %u inputs and %u outputs, expected 1 and 1",
                            op->body[k], r->n_in, r->n_out);
        return 0;
    }
    hg_graph_replace_uses(b->g, r->in[0], x);
    hg_graph_splice(b->g, body, b->before);
    return hg_region_out(b->g, body, 0);
}

hg_node_id hg_build_later(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                          const hg_attr *attr, uint32_t n_attr, uint32_t body)
{
    hg_attr *copy;
    hg_node_id id;
    if (b->status != HOLO_OK || !build_ok(b, HG_NEW(b->ctx, n_attr + 1, &copy))) return 0;
    if (n_attr != 0) memcpy(copy, attr, n_attr * sizeof *attr);
    const bool takes = build_has_body(b, body);
    const hg_node_spec spec = {.op = hg_op_get(op),
                               .origin = b->node->origin,
                               .name = b->node->name,
                               .in = in,
                               .n_in = n_in,
                               .attr = copy,
                               .n_attr = n_attr,
                               .n_out = 1,
                               .n_body = takes ? 1 : 0};
    if (!build_ok(b, hg_graph_add_node(b->g, b->region, b->before, &spec, &id))) return 0;
    if (takes) hg_graph_swap_bodies(b->g, b->id, body, id, 0);
    return id;
}

hg_node_id hg_build_copy(hg_build *b, hg_node_id id, const hg_value_id *in, uint32_t n_in)
{
    if (b->status != HOLO_OK) return 0;
    const hg_node *n = hg_graph_node(b->g, id);
    return build_add(b, &(hg_node_spec){.op = n->op,
                                        .origin = n->origin,
                                        .name = n->name,
                                        .in = in,
                                        .n_in = n_in,
                                        .attr = n->attr,
                                        .n_attr = n->n_attr,
                                        .n_out = n->n_out});
}

hg_node_id hg_build_clone(hg_build *b, const hg_value_id *in, uint32_t n_in)
{
    return hg_build_copy(b, b->id, in, n_in);
}

hg_value_id hg_build_renamed(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                             const char *without)
{
    if (b->status != HOLO_OK) return 0;
    const hg_node *n = hg_graph_node(b->g, b->id);
    hg_attr *attr;
    uint32_t n_attr = 0;
    if (!build_ok(b, HG_NEW(b->ctx, n->n_attr + 1, &attr))) return 0;
    n = hg_graph_node(b->g, b->id);
    for (uint32_t i = 0; i < n->n_attr; i++) {
        size_t length = strlen(without);
        hg_str name = n->attr[i].name;
        if (name.length < length || memcmp(name.text, without, length) != 0)
            attr[n_attr++] = n->attr[i];
    }
    return hg_build_op(b, op, in, n_in, attr, n_attr);
}

hg_value_id hg_build_op(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                        const hg_attr *attr, uint32_t n_attr)
{
    hg_node_id id = hg_build_node(b, op, in, n_in, attr, n_attr, 1);
    return id == 0 ? 0 : hg_graph_node(b->g, id)->out[0];
}

hg_value_id hg_build_1(hg_build *b, const char *op, hg_value_id a)
{
    return hg_build_op(b, op, &a, 1, NULL, 0);
}

hg_value_id hg_build_2(hg_build *b, const char *op, hg_value_id a, hg_value_id c)
{
    return hg_build_op(b, op, (hg_value_id[]){a, c}, 2, NULL, 0);
}

hg_value_id hg_build_3(hg_build *b, const char *op, hg_value_id a, hg_value_id c, hg_value_id d)
{
    return hg_build_op(b, op, (hg_value_id[]){a, c, d}, 3, NULL, 0);
}

hg_value_id hg_build_const(hg_build *b, hg_type type, const void *data, size_t bytes)
{
    void *copy;
    hg_value_id id;
    if (b->status != HOLO_OK) return 0;
    copy = hg_arena_alloc(&b->ctx->arena, bytes + 1);
    if (copy == NULL) return build_ok(b, hg_fail_nomem(b->ctx->error, bytes)) ? 0 : 0;
    if (bytes != 0) memcpy(copy, data, bytes);
    if (!build_ok(b, hg_graph_add_const(b->g, (hg_str){0}, type, copy, bytes, &id))) return 0;
    return id;
}

/* The bits of an integer; what is beyond 64 bits, and no number, is beside float types only, which
 * do not use it: the nearest, or 0. */
static int64_t build_integer(holo_dtype dtype, double value)
{
    if (dtype == HOLO_U64 && value >= 0x1p63)
        return (int64_t)(value < 0x1p64 ? (uint64_t)value : UINT64_MAX);
    if (value >= 0x1p63) return INT64_MAX;
    if (value < -0x1p63) return INT64_MIN;
    return value == value ? (int64_t)value : 0; /* NaN is not itself */
}

/* Any number type, through the same narrowing that stores use. */
static size_t build_encode(holo_dtype dtype, double value, uint8_t out[8])
{
    const int64_t i = build_integer(dtype, value);
    float f = (float)value;
    uint16_t h;
    switch (hg_dtype_bits(dtype)) {
    case 64: memcpy(out, dtype == HOLO_F64 ? (void *)&value : (void *)&i, 8); return 8;
    case 32:
        memcpy(out, dtype == HOLO_F32 ? (void *)&f : (void *)&(int32_t){(int32_t)i}, 4);
        return 4;
    case 16:
        h = dtype == HOLO_F16    ? hg_f32_to_f16(hg_f64_to_f32_odd(value))
            : dtype == HOLO_BF16 ? hg_f32_to_bf16(hg_f64_to_f32_odd(value))
                                 : (uint16_t)i;
        memcpy(out, &h, 2);
        return 2;
    default: out[0] = (uint8_t)i; return 1;
    }
}

hg_value_id hg_build_scalar(hg_build *b, holo_dtype dtype, double value)
{
    uint8_t bytes[8];
    size_t size = build_encode(dtype, value, bytes);
    return hg_build_const(b, (hg_type){.dtype = dtype}, bytes, size);
}

hg_value_id hg_build_ints(hg_build *b, const int64_t *values, uint32_t count)
{
    hg_type type = {.dtype = HOLO_I64, .rank = 1};
    type.dim[0] = hg_dim_const(&b->g->dims, count);
    return hg_build_const(b, type, values, count * sizeof *values);
}

hg_value_id hg_build_dims(hg_build *b, const hg_dim *dims, uint32_t count)
{
    hg_attr attr = hg_attr_make_dims(b, "dims", dims, count);
    return hg_build_op(b, "holo:Dims", NULL, 0, &attr, 1);
}

hg_value_id hg_build_cast(hg_build *b, hg_value_id a, holo_dtype to)
{
    if (hg_build_type(b, a)->dtype == to) return a;
    hg_attr attr = hg_attr_make_int("to", (int64_t)to);
    return hg_build_op(b, "Cast", &a, 1, &attr, 1);
}

hg_value_id hg_build_reshape(hg_build *b, hg_value_id a, const hg_dim *dims, uint32_t count)
{
    hg_attr attr = hg_attr_make_int("allowzero", 1);
    hg_value_id in[] = {a, hg_build_dims(b, dims, count)};
    return hg_build_op(b, "Reshape", in, 2, &attr, 1);
}

hg_value_id hg_build_part(hg_build *b, hg_value_id x, int64_t axis, hg_dim begin, hg_dim end)
{
    hg_value_id in[] = {x, hg_build_dims(b, &begin, 1), hg_build_dims(b, &end, 1),
                        hg_build_ints(b, &axis, 1)};
    return hg_build_op(b, "Slice", in, HG_COUNT(in), NULL, 0);
}

hg_value_id hg_build_wide(hg_build *b, hg_value_id a)
{
    const holo_dtype dtype = hg_build_type(b, a)->dtype;
    return dtype == HOLO_F16 || dtype == HOLO_BF16 ? hg_build_cast(b, a, HOLO_F32) : a;
}

hg_attr hg_attr_make_int(const char *name, int64_t value)
{
    return (hg_attr){.name = hg_str_from(name), .kind = HG_ATTR_INT, .i = value};
}

hg_attr hg_attr_make_float(const char *name, double value)
{
    return (hg_attr){.name = hg_str_from(name), .kind = HG_ATTR_FLOAT, .f = (float)value};
}

hg_attr hg_attr_make_string(const char *name, const char *value)
{
    return (hg_attr){.name = hg_str_from(name), .kind = HG_ATTR_STRING, .s = hg_str_from(value)};
}

hg_attr hg_attr_make_ints(hg_build *b, const char *name, const int64_t *values, uint32_t count)
{
    int64_t *copy;
    if (!build_ok(b, HG_NEW(b->ctx, count + 1, &copy))) return (hg_attr){0};
    if (count != 0) memcpy(copy, values, count * sizeof *values);
    return (hg_attr){.name = hg_str_from(name), .kind = HG_ATTR_INTS, .ints = copy, .count = count};
}

hg_attr hg_attr_make_dims(hg_build *b, const char *name, const hg_dim *dims, uint32_t count)
{
    hg_dim *copy;
    if (!build_ok(b, HG_NEW(b->ctx, count + 1, &copy))) return (hg_attr){0};
    if (count != 0) memcpy(copy, dims, count * sizeof *dims);
    return (hg_attr){.name = hg_str_from(name), .kind = HG_ATTR_DIMS, .dims = copy, .count = count};
}

hg_attr hg_attr_make_code(const char *name, const hg_lane_code *code)
{
    return (hg_attr){.name = hg_str_from(name), .kind = HG_ATTR_CODE, .code = code};
}

void hg_build_replace(hg_build *b, uint32_t j, hg_value_id value)
{
    if (b->status != HOLO_OK || value == 0) return;
    hg_value_id old = hg_graph_node(b->g, b->id)->out[j];
    if (old == 0) return;
    /* The model's name is what people know; it moves to the new value unless that has one. */
    hg_value *to = hg_graph_value(b->g, value);
    if (to->name.length == 0) to->name = hg_graph_value(b->g, old)->name;
    hg_graph_replace_uses(b->g, old, value);
}

holo_status hg_build_fused(hg_build *b, hg_node_id made, hg_node_id feeder)
{
    if (made == 0) return b->status;
    const hg_node *from = hg_graph_node(b->g, feeder);
    hg_graph_node(b->g, made)->name = from->name;
    hg_graph_node(b->g, made)->origin = from->origin;
    hg_build_replace(b, 0, hg_graph_node(b->g, made)->out[0]);
    hg_graph_remove_node(b->g, b->id);
    hg_graph_remove_node(b->g, feeder);
    return b->status;
}
