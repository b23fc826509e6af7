/* fuse_load.c - a table whose codes the step next to it copies anyway: they are looked up on that
 * way, and lie nowhere in between.
 *
 *   Table, product      an 8-bit product, or a convolution whose windows do not overlap, gathers
 *                       its rows and looks them up there
 *   movement, Table     pixels of three bytes that become planes, or planes that become pixels, are
 *   Table, movement     looked up in registers
 *
 * Behind fuse_lookup: a table that an epilogue can take costs even less there. Windows that overlap
 * would look codes up several times (0.107 ns each with AVX2, where a pass over them costs 0.06).
 * Of other transpositions AVX2 has no register left for the table: fused, 448 x 448 pixels of 64
 * bytes took 3.2 ms and not 2.9, while 3840 x 2160 of three take 3.8 and not 4.7 to planes, 3.5 and
 * not 5.1 from planes (with AVX-512 2.7 and 3.5, 1.7 and 3.8). */
#include "op/op_codes.h"
#include "pass/pass.h"

static holo_status load_replace(hg_build *b, hg_node_id made, hg_node_id table)
{
    if (made == 0) return b->status;
    hg_build_replace(b, 0, hg_graph_node(b->g, made)->out[0]);
    hg_graph_remove_node(b->g, b->id);
    hg_graph_remove_node(b->g, table);
    return b->status;
}

/* ---- products ----------------------------------------------------------------------------- */

/* Windows along one axis neither overlap nor reach beyond `size`; by the parameters of the kernel:
 * kernel, stride, padding and dilation of both axes. */
static bool load_axis_fits(const hg_graph *g, const hg_emit *e, int axis, hg_dim size, hg_dim out)
{
    int64_t p[4], n, m;
    for (int i = 0; i < 4; i++)
        if (!hg_dim_is_const(&g->dims, e->param[2 * i + axis], &p[i])) return false;
    if (p[0] == 1 && p[1] == 1 && p[2] == 0 && size == out) return true;
    return hg_dim_is_const(&g->dims, size, &n) && hg_dim_is_const(&g->dims, out, &m) &&
           p[1] >= p[0] && p[2] == 0 && (m - 1) * p[1] + (p[0] - 1) * p[3] < n;
}

static holo_status load_product_fits(hg_graph *g, hg_node_id id, hg_value_id codes, bool *fits)
{
    hg_emit e;
    const hg_node *n = hg_graph_node(g, id);
    const bool is_conv = hg_op_is(n, "holo:ConvNhwcI8");
    *fits = (is_conv || hg_op_is(n, "holo:MatMulP16I8")) && hg_node_in(g, n, 0) == codes &&
            hg_node_int(n, "load", 0) == 0;
    if (!*fits || !is_conv) return HOLO_OK;
    HG_TRY(hg_op_emit(g, id, &e));
    const hg_type *x = &hg_graph_value(g, codes)->type,
                  *y = &hg_graph_value(g, hg_graph_node(g, id)->out[0])->type;
    *fits = load_axis_fits(g, &e, 0, x->dim[1], y->dim[1]) &&
            load_axis_fits(g, &e, 1, x->dim[2], y->dim[2]);
    return HOLO_OK;
}

static holo_status load_product(hg_graph *g, hg_node_id product, hg_node_id table)
{
    hg_build b;
    hg_build_init(&b, g, product);
    const hg_node *t = hg_graph_node(g, table);
    const hg_value_id x = hg_node_in(g, t, 0), entries = hg_node_in(g, t, 1);
    return load_replace(&b, hg_build_codes_table(&b, product, x, entries, "load"), table);
}

/* ---- movement ----------------------------------------------------------------------------- */

/* Three neighbours become three planes, or the other way round: by the parameters of a copy, which
 * are its offset and extent and stride of each loop. */
static bool load_is_pixels(const hg_graph *g, const hg_emit *e)
{
    const hg_dims *d = &g->dims;
    const hg_dim *last = e->param + e->n_param - 2;
    for (uint32_t i = 1; i + 2 < e->n_param; i += 2)
        if (hg_dim_is(d, e->param[i + 1], 1) &&
            (hg_dim_is(d, last[0], 3) ||
             (hg_dim_is(d, last[1], 3) && hg_dim_is(d, e->param[i], 3))))
            return true;
    return false;
}

/* Fewer bytes stay in the caches between two steps: 50,176 pixels take 4 % longer in one. */
enum { LOAD_BYTES = 1 << 20 };

static bool load_is_large(hg_graph *g, const hg_node *n)
{
    int64_t count;
    const hg_dim all = hg_type_count(g, &hg_graph_value(g, n->out[0])->type);
    return !hg_dim_is_const(&g->dims, all, &count) || count >= LOAD_BYTES;
}

/* Whether the node becomes a copy of pixels, and then with which parameters. */
static holo_status load_is_copy(hg_graph *g, hg_node_id id, hg_emit *e, bool *is_copy)
{
    const hg_node *n = id == 0 ? NULL : hg_graph_node(g, id);
    *is_copy = n != NULL && hg_op_is(n, "Transpose") && load_is_large(g, n);
    if (!*is_copy) return HOLO_OK;
    HG_TRY(hg_op_emit(g, id, e));
    *is_copy = !e->is_view && load_is_pixels(g, e);
    return HOLO_OK;
}

/* Bytes with an entry for each code, in one row or in one for each of three channels. */
static bool load_is_bytes(const hg_graph *g, const hg_node *table)
{
    const hg_type *codes = &hg_graph_value(g, hg_node_in(g, table, 0))->type,
                  *t = &hg_graph_value(g, hg_node_in(g, table, 1))->type;
    return hg_dtype_bits(codes->dtype) == 8 && hg_dtype_bits(t->dtype) == 8 &&
           hg_dim_is(&g->dims, t->dim[t->rank - 1], 256) &&
           (t->rank == 1 || hg_dim_is(&g->dims, t->dim[0], 3));
}

/* Where the dimension that picks the row of a table is behind a Transpose. */
static int64_t load_moved_axis(const hg_node *transpose, int64_t axis, int32_t rank)
{
    size_t count;
    const int64_t *perm = hg_node_ints(transpose, "perm", &count);
    for (int32_t k = 0; perm != NULL && k < rank; k++)
        if ((perm[k] < 0 ? perm[k] + rank : perm[k]) == axis) return k;
    return rank - 1 - axis;
}

/* `table` and `move` as one node in the place of the later one, `last`. */
static holo_status load_copy(hg_graph *g, hg_node_id table, hg_node_id move, hg_node_id last,
                             const hg_emit *e)
{
    hg_build b;
    hg_build_init(&b, g, last);
    const hg_node_id first = last == table ? move : table;
    const hg_node *t = hg_graph_node(g, table);
    const hg_value_id in[2] = {hg_node_in(g, hg_graph_node(g, first), 0), hg_node_in(g, t, 1)};
    const hg_type *made = &hg_graph_value(g, hg_graph_node(g, last)->out[0])->type;
    int64_t axis = hg_node_int(t, "axis", 0);
    if (axis < 0) axis += made->rank;
    if (last == move) axis = load_moved_axis(hg_graph_node(g, move), axis, made->rank);
    const bool has_rows = hg_build_type(&b, in[1])->rank == 2;
    const hg_attr attr[5] = {hg_attr_make_int("axis", has_rows ? axis : 0),
                             hg_attr_make_int("base", hg_node_int(t, "base", 0)),
                             hg_attr_make_int("classes", hg_node_int(t, "classes", 0)),
                             hg_attr_make_dims(&b, "copy", e->param, e->n_param),
                             hg_attr_make_dims(&b, "shape", made->dim, (uint32_t)made->rank)};
    return load_replace(&b, hg_build_node(&b, "holo:TableCopy", in, 2, attr, 5, 1), first);
}

/* The movement before or behind a table; *done: it has been taken along. */
static holo_status load_move(hg_graph *g, hg_node_id table, hg_node_id user, bool *done)
{
    hg_emit e;
    const hg_node *t = hg_graph_node(g, table);
    const hg_value_id codes = hg_node_in(g, t, 0);
    const hg_node_id feeder = hg_graph_value(g, codes)->node;
    *done = false;
    if (!load_is_bytes(g, t)) return HOLO_OK;
    if (hg_graph_only_user(g, codes) == table) {
        HG_TRY(load_is_copy(g, feeder, &e, done));
        if (*done) return load_copy(g, table, feeder, table, &e);
    }
    HG_TRY(load_is_copy(g, user, &e, done));
    return *done ? load_copy(g, table, user, user, &e) : HOLO_OK;
}

/* ---- all tables --------------------------------------------------------------------------- */

static holo_status load_table(hg_graph *g, hg_node_id table, bool *done)
{
    const hg_value_id made = hg_graph_node(g, table)->out[0];
    const hg_node_id user = hg_graph_only_user(g, made);
    *done = false;
    if (user != 0 && hg_codes_table_fits(g, hg_graph_node(g, table))) {
        HG_TRY(load_product_fits(g, user, made, done));
        if (*done) return load_product(g, user, table);
    }
    return load_move(g, table, user, done);
}

static holo_status load_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->last, next; id != 0; id = next) {
        bool done;
        next = hg_graph_node(g, id)->prev;
        if (!hg_op_is(hg_graph_node(g, id), "holo:Table")) continue;
        /* what is put in the place of two nodes lies before the later of them */
        if (next != 0 && hg_graph_value(g, hg_node_in(g, hg_graph_node(g, id), 0))->node == next)
            next = hg_graph_node(g, next)->prev;
        HG_TRY(load_table(g, id, &done));
        *changed |= done;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_load = {
    .name = "fuse_load",
    .brief = "a table is looked up by the product or the movement next to it",
    .run = load_run,
};
