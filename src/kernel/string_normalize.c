/* string_normalize.c - string.normalize: words without stop words, in upper or lower case.
 *
 *   in[0]   words, [n] or [1, n]
 *   in[1]   stop words, [m]
 *   param   case of the result (0 as it is, 1 lower, 2 upper); 1: case counts when words are
 *           compared; 1: the rules of Turkish and Azerbaijani
 *   out[0]  the words that stay, [k] or [1, k]; one empty word when none does */
#include "kernel/container.h"
#include "kernel/string_case.h"

static holo_status normalize_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 3));
    for (uint32_t i = 0; i < 2; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_STRING));
    HG_TRY(hg_check_rank(&a->in[0], e, "the words", 1, 2));
    HG_REQUIRE(e, a->in[0].rank == 1 || a->in[0].dim[0] == 1, HOLO_E_SHAPE,
               "the words have %lld rows, expected 1", (long long)a->in[0].dim[0]);
    HG_TRY(hg_check_param(a, e, 0, "the case", HG_CASE_NONE, HG_CASE_UPPER));
    HG_TRY(hg_check_param(a, e, 1, "case sensitivity", 0, 1));
    return hg_check_param(a, e, 2, "the rules of case", HG_CASE_COMMON, HG_CASE_TURKIC);
}

static bool normalize_same(const holo_string *x, const holo_string *y, const int64_t *param)
{
    if (param[1] == 0) return hg_case_same(x, y, (hg_case_rules)param[2]);
    return x->length == y->length &&
           (x->length == 0 || memcmp(x->text, y->text, (size_t)x->length) == 0);
}

static bool normalize_stays(const hg_args *a, int64_t i)
{
    const holo_string *word = (const holo_string *)a->in[0].data + i, *stop = a->in[1].data;
    for (int64_t k = 0; k < holo_tensor_count(&a->in[1]); k++)
        if (normalize_same(word, &stop[k], a->param)) return false;
    return true;
}

static uint64_t normalize_text(const hg_args *a, const holo_string *word, char *out)
{
    return hg_case_text(word, (hg_case)a->param[0], (hg_case_rules)a->param[2], out);
}

/* Words that stay; *bytes is room for all of them. */
static int64_t normalize_count(const hg_args *a, size_t *bytes)
{
    int64_t n = 0;
    *bytes = 0;
    for (int64_t i = 0; i < holo_tensor_count(&a->in[0]); i++) {
        if (!normalize_stays(a, i)) continue;
        uint64_t length = normalize_text(a, (const holo_string *)a->in[0].data + i, NULL);
        if (length > SIZE_MAX / 16 || !hg_add_size(*bytes, (size_t)length + 16, bytes))
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

/* A word that grew since it was measured has no room. */
static holo_string normalize_word(const hg_args *a, const holo_string *word, hg_room *room)
{
    uint64_t length = normalize_text(a, word, NULL);
    char *text = length == 0 ? NULL : hg_room_take(room, (size_t)length);
    if (text == NULL) return (holo_string){"", 0};
    return (holo_string){text, normalize_text(a, word, text)};
}

static void normalize_run(const hg_args *a, hg_range r)
{
    hg_room room = hg_room_behind(a);
    holo_string *y = a->out[0].data;
    int64_t n = 0, most = holo_tensor_count(&a->out[0]);
    (void)r;
    for (int64_t i = 0; i < holo_tensor_count(&a->in[0]) && n < most; i++)
        if (normalize_stays(a, i))
            y[n++] = normalize_word(a, (const holo_string *)a->in[0].data + i, &room);
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
