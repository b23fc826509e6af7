/* stringsplit.c - StringSplit: parts of strings between delimiters, and how many they are. */
#include "op/op.h"
#include "op/op_string.h"

static holo_status stringsplit_infer(hg_infer *n)
{
    int64_t most;
    HG_TRY(hg_infer_rank(n, 0, 0, HG_MAX_RANK - 1));
    HG_TRY(hg_attr_int(n, "maxsplit", -1, &most));
    n->out[0] = *n->in[0];
    n->out[0].dim[n->out[0].rank++] = hg_dim_const(n->dims, 0);
    if (n->n_out > 1) n->out[1] = *n->in[0];
    if (n->n_out > 1) n->out[1].dtype = HOLO_I64;
    return HOLO_OK;
}

static holo_status stringsplit_lower(hg_build *b)
{
    hg_str text = hg_node_string(b->node, "delimiter", "");
    int64_t most = hg_node_int(b->node, "maxsplit", -1);
    uint32_t n_out = b->node->n_out;
    const hg_value_id in[2] = {hg_build_in(b, 0), hg_build_strings(b, &text, 1)};
    hg_attr attr = hg_attr_make_int("maxsplit", most < 0 ? -1 : most);
    hg_node_id made = hg_build_node(b, "holo:SplitString", in, 2, &attr, 1, 2);
    for (uint32_t j = 0; made != 0 && j < n_out; j++)
        hg_build_replace(b, j, hg_graph_node(b->g, made)->out[j]);
    return b->status;
}

const hg_op hg_op_stringsplit = {
    .name = "StringSplit",
    .brief = "parts of strings between delimiters, and how many they are",
    .since = 20,
    .in = {1, 1},
    .out = {1, 2},
    .types = HG_TYPES_STRING,
    .infer = stringsplit_infer,
    .lower = stringsplit_lower,
};
