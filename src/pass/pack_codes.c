/* pack_codes.c - exact products of 8-bit codes read constant right sides in panels.
 *
 * Codes are signed there; zero points become 32-bit numbers, one for each column. Whether two codes
 * that lie side by side along k can leave 16 bits with any left side is decided here, for the whole
 * matrix: attribute "pairs". */
#include "op/op_codes.h"
#include "pass/pass.h"
#include "table/cert.h"

/* Looks through a Transpose to a constant matrix [k, n]; *transposed: it is [n, k]. */
static bool codes_find(const hg_graph *g, hg_value_id v, hg_code_columns *out, bool *transposed)
{
    const hg_node *n = hg_op_producer(g, v, "Transpose");
    *transposed = n != NULL;
    *out = (hg_code_columns){.value = *transposed ? hg_node_in(g, n, 0) : v};
    const hg_value *c = hg_graph_value(g, out->value);
    if (c->constant == NULL || c->type.rank != 2 || c->constant->bytes == 0) return false;
    if (!hg_dim_is_const(&g->dims, c->type.dim[*transposed], &out->k) ||
        !hg_dim_is_const(&g->dims, c->type.dim[!*transposed], &out->columns))
        return false;
    out->channels = out->k;
    out->channel_step = *transposed ? 1 : out->columns;
    out->column_step = *transposed ? out->k : 1;
    return true;
}

/* One zero point, or one for each row of a matrix [.., m, k]: dims as the matrix, the last 1. */
static bool codes_rows_fit(const hg_graph *g, hg_value_id zero, hg_value_id x)
{
    if (zero == 0) return true;
    const hg_type *z = &hg_graph_value(g, zero)->type, *t = &hg_graph_value(g, x)->type;
    bool is_single = true, is_each = z->rank == t->rank;
    for (int32_t d = 0; d < z->rank; d++) {
        const bool is_one = hg_dim_is(&g->dims, z->dim[d], 1);
        is_single = is_single && is_one;
        is_each = is_each && (d == t->rank - 1 ? is_one : z->dim[d] == t->dim[d]);
    }
    return is_single || is_each;
}

static holo_status codes_matmul(hg_graph *g, hg_node_id id, const hg_code_columns *from,
                                bool transposed)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const holo_dtype dtype = hg_graph_value(g, from->value)->type.dtype;
    hg_attr trans = hg_attr_make_int("trans", transposed);
    hg_value_id packed = hg_build_op(&b, "holo:PackP16I8", &from->value, 1, &trans, 1);
    const hg_dim columns = hg_dim_const(&g->dims, from->columns);
    const bool pairs = hg_codes_are_pairs(g, from);
    HG_TRY(hg_cert_add_panels(g, packed, id, from->k, pairs));
    hg_attr attr[] = {hg_attr_make_dims(&b, "n", &columns, 1), hg_attr_make_int("pairs", pairs)};
    hg_value_id in[] = {hg_build_in(&b, 0), packed, hg_build_in(&b, 2),
                        hg_build_codes_zero(&b, hg_build_in(&b, 3), dtype, from->columns)};
    hg_value_id made = hg_build_op(&b, "holo:MatMulP16I8", in, HG_COUNT(in), attr, HG_COUNT(attr));
    hg_build_replace(&b, 0, made);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status codes_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        hg_code_columns from;
        bool transposed;
        if (hg_op_is(n, "MatMulInteger") &&
            codes_find(g, hg_node_in(g, n, 1), &from, &transposed) &&
            codes_rows_fit(g, hg_node_in(g, n, 2), hg_node_in(g, n, 0)) &&
            hg_codes_zero_fits(g, hg_node_in(g, n, 3), from.columns)) {
            HG_TRY(codes_matmul(g, id, &from, transposed));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_pack_codes = {
    .name = "pack_codes",
    .brief = "constant matrices of 8-bit codes are stored in the layout the kernels read",
    .flags = HG_PASS_TUNED,
    .run = codes_run,
};
