/* tfidf.c - tfidf: how often n-grams occur in rows of words.
 *
 *   in[0]   words, [c] or [b, c]: int64 or text
 *   in[1]   the n-grams, one behind the other: first those of one word, then of two ...; type of
 * in[0] in[2]   int64: where in in[1] those of one word, of two ... begin in[3]   int64: the column
 * of each n-gram in[4]   float32: the weight of each n-gram; absent: 1 param   mode (0 counts, 1
 * weights of those that occur, 2 counts times weights); least and largest length; how many words
 * may be skipped between two of an n-gram out[0]  float32, [columns] or [b, columns] */
#include "base/hash.h"
#include "kernel/container.h"
#include "kernel/lookup.h"

static holo_status tfidf_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 4, 5, 1, 4));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_STRING | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_STRING | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_same_type(&a->in[1], &a->in[0], e, "the n-grams"));
    HG_TRY(hg_check_in_type(a, e, 2, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_in_type(a, e, 3, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_rank(&a->in[0], e, "the words", 1, 2));
    HG_TRY(hg_check_rank(&a->out[0], e, "the output", a->in[0].rank, a->in[0].rank));
    HG_REQUIRE(e, a->in[0].rank == 1 || a->in[0].dim[0] == a->out[0].dim[0], HOLO_E_SHAPE,
               "%lld rows of words, the output has %lld", (long long)a->in[0].dim[0],
               (long long)a->out[0].dim[0]);
    for (uint32_t i = 1; i < 4; i++)
        HG_TRY(hg_check_rank(&a->in[i], e, "a list", 1, 1));
    if (hg_args_has(a, 4)) {
        HG_TRY(hg_check_in_type(a, e, 4, HG_TYPE_BIT(HOLO_F32)));
        HG_TRY(hg_check_same_shape(&a->in[4], &a->in[3], e, "the weights"));
    }
    HG_TRY(hg_check_param(a, e, 0, "the mode", 0, 2));
    HG_TRY(hg_check_param(a, e, 1, "the least length", 1, INT32_MAX));
    HG_TRY(hg_check_param(a, e, 2, "the largest length", 1, INT32_MAX));
    return hg_check_param(a, e, 3, "the number of skipped words", 0, INT32_MAX);
}

/* ---- looking up -------------------------------------------------------------------------------
 */

/* An n-gram: its length and its first word, `step` words apart. */
typedef struct tfidf_gram {
    const holo_tensor *from;
    int64_t first, step, length;
} tfidf_gram;

/* A hash table of the n-grams. */
typedef struct tfidf_table {
    const hg_args *a;
    int64_t *slot; /* three words each: number + 1, first word, length */
    int64_t n_slot;
} tfidf_table;

static int64_t tfidf_slots(const hg_args *a)
{
    int64_t n = 16;
    while (n < 2 * a->in[3].dim[0] && n < INT64_MAX / 64)
        n *= 2;
    return n;
}

static size_t tfidf_scratch(const hg_args *a)
{
    return (size_t)tfidf_slots(a) * 3 * sizeof(int64_t);
}

static uint64_t tfidf_hash(const tfidf_gram *g)
{
    uint64_t hash = (uint64_t)g->length;
    for (int64_t k = 0; k < g->length; k++) {
        int64_t at = g->first + k * g->step;
        if (g->from->dtype == HOLO_I64) {
            hash = hg_hash((const int64_t *)g->from->data + at, sizeof(int64_t), hash);
        } else {
            const holo_string *s = (const holo_string *)g->from->data + at;
            hash = hg_hash(s->length == 0 ? "" : s->text, (size_t)s->length, hash);
        }
    }
    return hash;
}

static bool tfidf_same(const tfidf_gram *x, const tfidf_gram *y)
{
    for (int64_t k = 0; k < x->length; k++) {
        int64_t i = x->first + k * x->step, j = y->first + k * y->step;
        if (x->from->dtype == HOLO_I64) {
            if (((const int64_t *)x->from->data)[i] != ((const int64_t *)y->from->data)[j])
                return false;
            continue;
        }
        const holo_string *s = (const holo_string *)x->from->data + i;
        const holo_string *t = (const holo_string *)y->from->data + j;
        if (s->length != t->length ||
            (s->length != 0 && memcmp(s->text, t->text, (size_t)s->length) != 0))
            return false;
    }
    return true;
}

/* The slot of a known n-gram of that length, or the empty one where it would be; NULL when words
 * that were made to collide fill the places near it. */
static int64_t *tfidf_find(const tfidf_table *t, const tfidf_gram *g)
{
    uint64_t at = tfidf_hash(g) & (uint64_t)(t->n_slot - 1);
    for (int step = 0; step < HG_TABLE_PROBES; step++, at = (at + 1) & (uint64_t)(t->n_slot - 1)) {
        int64_t *slot = t->slot + 3 * at;
        if (slot[0] == 0) return slot;
        const tfidf_gram known = {&t->a->in[1], slot[1], 1, slot[2]};
        if (known.length == g->length && tfidf_same(&known, g)) return slot;
    }
    return NULL;
}

/* Every n-gram of the pool; lists that do not fit each other end it. */
static tfidf_table tfidf_build(const hg_args *a, void *scratch)
{
    tfidf_table t = {.a = a, .slot = scratch, .n_slot = tfidf_slots(a)};
    const int64_t *start = a->in[2].data, lengths = a->in[2].dim[0], words = a->in[1].dim[0];
    int64_t number = 0;
    memset(t.slot, 0, tfidf_scratch(a));
    for (int64_t n = 1; n <= lengths; n++) {
        int64_t at = start[n - 1], end = n < lengths ? start[n] : words;
        if (at < 0 || end > words) {
            hg_fault_range(a->fault, "the beginning of n-grams", n - 1, at < 0 ? at : end, 0,
                           words);
            return t;
        }
        for (; at <= end - n && number < a->in[3].dim[0]; at += n, number++) {
            int64_t *slot = tfidf_find(&t, &(tfidf_gram){&a->in[1], at, 1, n});
            if (slot == NULL) {
                hg_fault_value(a->fault, "an n-gram is one of too many with the same hash", number,
                               at);
                return t;
            }
            slot[0] = number + 1;
            slot[1] = at;
            slot[2] = n;
        }
    }
    return t;
}

/* ---- counting ---------------------------------------------------------------------------------
 */

static void tfidf_count(const hg_args *a, int64_t number, float *row, int64_t columns)
{
    int64_t column = ((const int64_t *)a->in[3].data)[number];
    float weight = hg_args_has(a, 4) ? ((const float *)a->in[4].data)[number] : 1;
    if (column < 0 || column >= columns) {
        hg_fault_range(a->fault, "the column of an n-gram", number, column, 0, columns - 1);
        return;
    }
    if (a->param[0] == 1)
        row[column] = weight;
    else
        row[column] += a->param[0] == 0 ? 1 : weight;
}

static void tfidf_row(const tfidf_table *t, int64_t r, float *row, int64_t columns)
{
    const hg_args *a = t->a;
    const int64_t words = a->in[0].dim[a->in[0].rank - 1];
    for (int64_t skip = 0; skip <= a->param[3] && skip < words; skip++) {
        for (int64_t n = a->param[1]; n <= a->param[2] && n <= words; n++) {
            if (n == 1 && skip > 0) continue; /* nothing lies between one word */
            for (int64_t i = 0; i + (skip + 1) * (n - 1) < words; i++) {
                const tfidf_gram g = {&a->in[0], r * words + i, skip + 1, n};
                const int64_t *slot = tfidf_find(t, &g);
                if (slot != NULL && slot[0] != 0) tfidf_count(a, slot[0] - 1, row, columns);
            }
        }
    }
}

static void tfidf_run(const hg_args *a, hg_range r)
{
    const int64_t columns = a->out[0].dim[a->out[0].rank - 1];
    const int64_t rows = a->in[0].rank == 2 ? a->in[0].dim[0] : 1;
    const tfidf_table t = tfidf_build(a, r.scratch);
    size_t bytes = holo_tensor_bytes(&a->out[0]);
    if (bytes != 0) memset(a->out[0].data, 0, bytes);
    for (int64_t i = 0; i < rows; i++)
        tfidf_row(&t, i, (float *)a->out[0].data + i * columns, columns);
}

const hg_kernel hg_kernels_tfidf[] = {
    {.name = "tfidf",
     .check = tfidf_check,
     .units = hg_one_unit,
     .scratch = tfidf_scratch,
     .run = tfidf_run},
    {0},
};
