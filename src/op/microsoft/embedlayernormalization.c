/* embedlayernormalization.c - com.microsoft:EmbedLayerNormalization: LayerNormalization of the sum
 * of embeddings of words, positions and segments. */
#include "op/op_attention.h"
#include "op/op_norm.h"

enum {
    EMBED_WORDS,
    EMBED_SEGMENTS,
    EMBED_WORD_TABLE,
    EMBED_PLACE_TABLE,
    EMBED_SEGMENT_TABLE,
    EMBED_SCALE,
    EMBED_BIAS,
    EMBED_MASK,
    EMBED_PLACES
};

#define EMBED_INDICES (HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64))

static holo_status embed_check(const hg_infer *n)
{
    static const uint8_t indices[] = {EMBED_WORDS, EMBED_SEGMENTS, EMBED_MASK, EMBED_PLACES};
    static const uint8_t tables[] = {EMBED_WORD_TABLE, EMBED_PLACE_TABLE, EMBED_SEGMENT_TABLE,
                                     EMBED_SCALE, EMBED_BIAS};
    for (size_t k = 0; k < HG_COUNT(indices); k++) {
        if (!hg_infer_has(n, indices[k])) continue;
        HG_TRY(hg_infer_types(n, indices[k], EMBED_INDICES));
        HG_TRY(hg_infer_rank(n, indices[k], 2, 2));
    }
    for (size_t k = 0; k < HG_COUNT(tables); k++) {
        const uint32_t i = tables[k];
        const int rank = i >= EMBED_SCALE ? 1 : 2;
        if (!hg_infer_has(n, i)) continue;
        HG_TRY(hg_infer_types(n, i, HG_TYPES_FLOAT));
        HG_TRY(hg_infer_same_type(n, EMBED_WORD_TABLE, i));
        HG_TRY(hg_infer_rank(n, i, rank, rank));
        if (!hg_infer_equal(n, n->in[i]->dim[rank - 1], n->in[EMBED_WORD_TABLE]->dim[1]))
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "input %u does not have the width of the table of words", i);
    }
    if (hg_infer_has(n, EMBED_SEGMENTS) != hg_infer_has(n, EMBED_SEGMENT_TABLE))
        return hg_infer_fail(n, HOLO_E_MODEL, "segments and their table must come together");
    return HOLO_OK;
}

static holo_status embed_infer(hg_infer *n)
{
    double epsilon;
    int64_t kind;
    HG_TRY(hg_attr_float(n, "epsilon", HG_NORM_SKIP_EPSILON, &epsilon));
    HG_TRY(hg_attr_int(n, "mask_index_type", 0, &kind));
    HG_TRY(embed_check(n));
    const hg_type *words = n->in[EMBED_WORDS], *table = n->in[EMBED_WORD_TABLE];
    n->out[0] = (hg_type){
        .dtype = table->dtype, .rank = 3, .dim = {words->dim[0], words->dim[1], table->dim[1]}};
    if (n->n_out > 1) n->out[1] = (hg_type){.dtype = HOLO_I32, .rank = 1, .dim = {words->dim[0]}};
    if (n->n_out > 2) n->out[2] = n->out[0];
    return HOLO_OK;
}

/* Embeddings of the places, [S, width] or [B, S, width]. */
static hg_value_id embed_places(hg_build *b)
{
    hg_value_id places = hg_build_in(b, EMBED_PLACES), table = hg_build_in(b, EMBED_PLACE_TABLE);
    if (places != 0) return hg_build_2(b, "Gather", table, places);
    hg_dim count = hg_build_type(b, hg_build_in(b, EMBED_WORDS))->dim[1];
    return hg_build_2(b, "Gather", table, hg_build_range(b, count));
}

/* How many ones each row of the mask has; 0 without a mask. */
static hg_value_id embed_lengths(hg_build *b)
{
    hg_value_id mask = hg_build_in(b, EMBED_MASK), one = 0;
    hg_dim batch = hg_build_type(b, hg_build_in(b, EMBED_WORDS))->dim[0];
    if (mask == 0)
        return hg_build_2(b, "Expand", hg_build_scalar(b, HOLO_I32, 0.0),
                          hg_build_dims(b, &batch, 1));
    hg_attr keep = hg_attr_make_int("keepdims", 0);
    one = hg_build_scalar(b, hg_build_type(b, mask)->dtype, 1.0);
    hg_value_id in[] = {hg_build_cast(b, hg_build_2(b, "Equal", mask, one), HOLO_I32),
                        hg_build_ints(b, (int64_t[]){1}, 1)};
    return hg_build_op(b, "ReduceSum", in, 2, &keep, 1);
}

static holo_status embed_lower(hg_build *b)
{
    double epsilon = hg_node_float(b->node, "epsilon", HG_NORM_SKIP_EPSILON);
    hg_attr attr = hg_attr_make_float("epsilon", epsilon);
    hg_value_id segments = hg_build_in(b, EMBED_SEGMENTS);
    hg_value_id sum =
        hg_build_2(b, "Gather", hg_build_in(b, EMBED_WORD_TABLE), hg_build_in(b, EMBED_WORDS));
    sum = hg_build_2(b, "Add", sum, embed_places(b));
    if (segments != 0)
        sum = hg_build_2(b, "Add", sum,
                         hg_build_2(b, "Gather", hg_build_in(b, EMBED_SEGMENT_TABLE), segments));
    hg_value_id in[] = {sum, hg_build_in(b, EMBED_SCALE), hg_build_in(b, EMBED_BIAS)};
    hg_build_replace(b, 0, hg_build_op(b, "LayerNormalization", in, HG_COUNT(in), &attr, 1));
    if (b->status != HOLO_OK) return b->status;
    const uint32_t n_out = b->node->n_out;
    if (n_out > 1 && b->node->out[1] != 0) hg_build_replace(b, 1, embed_lengths(b));
    if (n_out > 2) hg_build_replace(b, 2, sum);
    return b->status;
}

const hg_op hg_op_microsoft_embedlayernormalization = {
    .name = "EmbedLayerNormalization",
    .domain = "com.microsoft",
    .brief = "LayerNormalization of the sum of embeddings of words, positions and segments",
    .since = 1,
    .in = {7, 9},
    .out = {1, 3},
    .types = EMBED_INDICES,
    .infer = embed_infer,
    .lower = embed_lower,
};
