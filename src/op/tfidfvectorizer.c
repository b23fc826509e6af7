/* tfidfvectorizer.c - TfIdfVectorizer: how often n-grams occur in rows of words. */
#include "op/op.h"
#include "op/op_string.h"

static holo_status tfidfvectorizer_columns(const hg_infer *n, int64_t *out)
{
    const int64_t *index;
    size_t count;
    HG_TRY(hg_attr_ints(n, "ngram_indexes", &index, &count));
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (index[i] < 0 || index[i] >= INT32_MAX)
            return hg_infer_fail(n, HOLO_E_MODEL, "ngram_indexes has %lld, expected 0 to %d",
                                 (long long)index[i], INT32_MAX - 1);
        *out = hg_max(*out, index[i] + 1);
    }
    return HOLO_OK;
}

/* A required integer of at least `least`. */
static holo_status tfidfvectorizer_number(const hg_infer *n, const char *name, int64_t least,
                                          int64_t *out)
{
    HG_TRY(hg_attr_int(n, name, least, out));
    if (hg_node_attr(n->node, name) == NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "%s is missing", name);
    if (*out < least || *out > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "%s is %lld, expected %lld to %d", name,
                             (long long)*out, (long long)least, INT32_MAX);
    return HOLO_OK;
}

/* One pool, of the type of the input; as many weights as n-grams. */
static holo_status tfidfvectorizer_pool(const hg_infer *n)
{
    const hg_attr *text = hg_node_attr(n->node, "pool_strings");
    const hg_attr *ints = hg_node_attr(n->node, "pool_int64s");
    const hg_attr *weights = hg_node_attr(n->node, "weights");
    const hg_attr *indexes = hg_node_attr(n->node, "ngram_indexes");
    const bool wants_text = n->in[0]->dtype == HOLO_STRING;
    const size_t count = indexes == NULL ? 0 : indexes->count;
    if ((wants_text ? text : ints) == NULL || (wants_text ? ints : text) != NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "%s and no other pool is expected for words of %s",
                             wants_text ? "pool_strings" : "pool_int64s",
                             holo_dtype_text(n->in[0]->dtype));
    if (hg_node_attr(n->node, "ngram_counts") == NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "ngram_counts is missing");
    if (weights != NULL && weights->count != count)
        return hg_infer_fail(n, HOLO_E_MODEL, "%zu weights for %zu n-grams", weights->count, count);
    return HOLO_OK;
}

static holo_status tfidfvectorizer_infer(hg_infer *n)
{
    int64_t columns, least, most, skip;
    HG_TRY(hg_infer_rank(n, 0, 1, 2));
    HG_TRY(tfidfvectorizer_number(n, "min_gram_length", 1, &least));
    HG_TRY(tfidfvectorizer_number(n, "max_gram_length", least, &most));
    HG_TRY(tfidfvectorizer_number(n, "max_skip_count", 0, &skip));
    HG_TRY(tfidfvectorizer_pool(n));
    HG_TRY(tfidfvectorizer_columns(n, &columns));
    n->out[0] = *n->in[0];
    n->out[0].dtype = HOLO_F32;
    n->out[0].dim[n->out[0].rank - 1] = hg_dim_const(n->dims, columns);
    return HOLO_OK;
}

static hg_value_id tfidfvectorizer_ints(hg_build *b, const char *name)
{
    size_t count;
    const int64_t *list = hg_node_ints(b->node, name, &count);
    return hg_build_ints(b, list, (uint32_t)count);
}

static hg_value_id tfidfvectorizer_weights(hg_build *b)
{
    const hg_attr *a = hg_node_attr(b->node, "weights");
    hg_type type = {.dtype = HOLO_F32, .rank = 1};
    hg_value_id id = 0;
    if (a == NULL || a->kind != HG_ATTR_FLOATS || b->status != HOLO_OK) return 0;
    type.dim[0] = hg_dim_const(&b->g->dims, (int64_t)a->count);
    b->status =
        hg_graph_add_const(b->g, (hg_str){0}, type, a->floats, a->count * sizeof *a->floats, &id);
    return id;
}

static holo_status tfidfvectorizer_mode(hg_build *b, int64_t *out)
{
    static const char *const name[] = {"TF", "IDF", "TFIDF"};
    hg_str mode = hg_node_string(b->node, "mode", "");
    for (*out = 0; *out < (int64_t)HG_COUNT(name); ++*out)
        if (hg_str_is(mode, name[*out])) return HOLO_OK;
    return hg_build_fail(b, HOLO_E_MODEL, "mode is \"%.*s\", expected TF, IDF or TFIDF",
                         HG_STR_ARG(mode));
}

static holo_status tfidfvectorizer_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    const hg_attr *pool = hg_node_attr(b->node, "pool_strings");
    const hg_type out = *hg_build_type(b, b->node->out[0]);
    bool text = hg_build_type(b, x)->dtype == HOLO_STRING;
    int64_t mode, columns = 0;
    HG_TRY(tfidfvectorizer_mode(b, &mode));
    (void)hg_dim_is_const(&b->g->dims, out.dim[out.rank - 1], &columns);
    if (text && pool->kind != HG_ATTR_STRINGS)
        return hg_build_fail(b, HOLO_E_MODEL, "pool_strings are no strings");
    const hg_value_id in[5] = {
        text ? x : hg_build_cast(b, x, HOLO_I64),
        text ? hg_build_strings(b, pool->strings, (uint32_t)pool->count)
             : tfidfvectorizer_ints(b, "pool_int64s"),
        tfidfvectorizer_ints(b, "ngram_counts"),
        tfidfvectorizer_ints(b, "ngram_indexes"),
        tfidfvectorizer_weights(b),
    };
    const hg_attr attr[5] = {
        hg_attr_make_int("mode", mode),
        hg_attr_make_int("least", hg_node_int(b->node, "min_gram_length", 1)),
        hg_attr_make_int("most", hg_node_int(b->node, "max_gram_length", 1)),
        hg_attr_make_int("skip", hg_node_int(b->node, "max_skip_count", 0)),
        hg_attr_make_int("columns", columns),
    };
    hg_build_replace(b, 0, hg_build_op(b, "holo:Tfidf", in, in[4] == 0 ? 4 : 5, attr, 5));
    return b->status;
}

const hg_op hg_op_tfidfvectorizer = {
    .name = "TfIdfVectorizer",
    .brief = "how often n-grams occur in rows of words",
    .since = 9,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_STRING | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64),
    .infer = tfidfvectorizer_infer,
    .lower = tfidfvectorizer_lower,
};
