/* string_normalize.c - string.normalize: words without stop words, in upper or lower case.
 *
 *   in[0]   words, [n] or [1, n]
 *   in[1]   stop words, [m]
 *   param   case of the result (0 as it is, 1 lower, 2 upper); 1: case counts when words are
 * compared out[0]  the words that stay, [k] or [1, k]; one empty word when none does */
#include "kernel/container.h"
#include "kernel/string_case.h"

static holo_status normalize_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 2));
    for (uint32_t i = 0; i < 2; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_STRING));
    HG_TRY(hg_check_rank(&a->in[0], e, "the words", 1, 2));
    HG_REQUIRE(e, a->in[0].rank == 1 || a->in[0].dim[0] == 1, HOLO_E_SHAPE,
               "the words have %lld rows, expected 1", (long long)a->in[0].dim[0]);
    HG_TRY(hg_check_param(a, e, 0, "the case", HG_CASE_NONE, HG_CASE_UPPER));
    return hg_check_param(a, e, 1, "case sensitivity", 0, 1);
}

static bool normalize_same(const holo_string *x, const holo_string *y, bool exact)
{
    uint64_t i = 0, j = 0;
    if (exact)
        return x->length == y->length &&
               (x->length == 0 || memcmp(x->text, y->text, (size_t)x->length) == 0);
    while (i < x->length && j < y->length) {
        uint32_t p = hg_case_change(hg_utf8_next(x->text, x->length, &i), HG_CASE_LOWER);
        uint32_t q = hg_case_change(hg_utf8_next(y->text, y->length, &j), HG_CASE_LOWER);
        if (p != q) return false;
    }
    return i == x->length && j == y->length;
}

static bool normalize_stays(const hg_args *a, int64_t i)
{
    const holo_string *word = (const holo_string *)a->in[0].data + i, *stop = a->in[1].data;
    for (int64_t k = 0; k < holo_tensor_count(&a->in[1]); k++)
        if (normalize_same(word, &stop[k], a->param[1] == 1)) return false;
    return true;
}

/* Words that stay; *bytes is room for all of them. A change of case never makes one longer than
 * twice. */
static int64_t normalize_count(const hg_args *a, size_t *bytes)
{
    int64_t n = 0;
    *bytes = 0;
    for (int64_t i = 0; i < holo_tensor_count(&a->in[0]); i++) {
        if (!normalize_stays(a, i)) continue;
        size_t length = (size_t)((const holo_string *)a->in[0].data)[i].length;
        if (length > SIZE_MAX / 16 || !hg_add_size(*bytes, 2 * length + 16, bytes))
            *bytes = SIZE_MAX / 2;
        n++;
    }
    return n;
}

static void normalize_shape(const hg_args *a, int64_t n, holo_tensor *out)
{
    *out = (holo_tensor){.rank = a->in[0].rank, .dtype = HOLO_STRING, .dim = {1, 1}};
    out->dim[out->rank - 1] = n == 0 ? 1 : n;
}

static holo_status normalize_check(const hg_args *a, holo_error *e)
{
    holo_tensor expected;
    size_t bytes;
    HG_TRY(normalize_check_in(a, e));
    normalize_shape(a, normalize_count(a, &bytes), &expected);
    return hg_check_result(a, e, &expected);
}

static holo_status normalize_size(const hg_args *a, holo_error *e)
{
    holo_tensor found;
    HG_TRY(normalize_check_in(a, e));
    normalize_shape(a, normalize_count(a, &a->extra[0]), &found);
    a->out[0].rank = found.rank;
    memcpy(a->out[0].dim, found.dim, sizeof found.dim);
    return HOLO_OK;
}

static holo_string normalize_word(const holo_string *word, hg_case to, hg_room *room)
{
    char *text = hg_room_take(room, 2 * (size_t)word->length);
    holo_string made = {"", 0};
    if (text == NULL || word->length == 0) return made;
    for (uint64_t at = 0; at < word->length;) {
        char one[4];
        uint64_t n =
            hg_utf8_put(hg_case_change(hg_utf8_next(word->text, word->length, &at), to), one);
        if (made.length + n > 2 * word->length) break;
        memcpy(text + made.length, one, (size_t)n);
        made.length += n;
    }
    made.text = text;
    return made;
}

static void normalize_run(const hg_args *a, hg_range r)
{
    hg_room room = hg_room_behind(a);
    holo_string *y = a->out[0].data;
    int64_t n = 0, most = holo_tensor_count(&a->out[0]);
    (void)r;
    for (int64_t i = 0; i < holo_tensor_count(&a->in[0]) && n < most; i++)
        if (normalize_stays(a, i))
            y[n++] =
                normalize_word((const holo_string *)a->in[0].data + i, (hg_case)a->param[0], &room);
    for (; n < most; n++)
        y[n] = (holo_string){"", 0};
}

const hg_kernel hg_kernels_string_normalize[] = {
    {.name = "string.normalize",
     .flags = HG_KERNEL_LATE,
     .check = normalize_check,
     .size = normalize_size,
     .units = hg_one_unit,
     .run = normalize_run},
    {0},
};
