/* string.c - new texts from old ones.
 *
 *   string.concat  in: a, b, which broadcast; out[0]: a's text followed by b's
 *   string.split   in: strings of any shape, delimiter (one string; empty: white space); param:
 * most cuts, -1: any number; out[0]: one axis more, of as many places as the string with most parts
 * needs, filled up with empty strings; out[1]: int64, how many parts each string has */
#include "kernel/container.h"
#include "kernel/string_case.h"

/* ---- concat -----------------------------------------------------------------------------------
 */

static holo_status string_concat_shape(const hg_args *a, holo_error *e, holo_tensor *out)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 0));
    for (uint32_t i = 0; i < 2; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_STRING));
    const holo_tensor *x = &a->in[0], *y = &a->in[1];
    *out = (holo_tensor){.dtype = HOLO_STRING, .rank = x->rank > y->rank ? x->rank : y->rank};
    for (int k = 0; k < out->rank; k++) {
        int i = k - (out->rank - x->rank), j = k - (out->rank - y->rank);
        int64_t p = i < 0 ? 1 : x->dim[i], q = j < 0 ? 1 : y->dim[j];
        out->dim[k] = p == 1 ? q : p;
    }
    HG_TRY(hg_check_broadcast(y, out, e, "input 1")); /* input 0 does, as out was made */
    HG_REQUIRE(e, holo_tensor_bytes(out) < SIZE_MAX / 4, HOLO_E_SHAPE, "the result is too large");
    return HOLO_OK;
}

static holo_status string_concat_check(const hg_args *a, holo_error *e)
{
    holo_tensor expected;
    HG_TRY(string_concat_shape(a, e, &expected));
    return hg_check_result(a, e, &expected);
}

/* The two strings that element i of a result of that shape is made of. */
typedef struct string_concat_walk {
    int64_t stride[2][HG_MAX_RANK];
    const holo_string *base[2];
} string_concat_walk;

static string_concat_walk string_concat_start(const hg_args *a, const holo_tensor *out)
{
    string_concat_walk w = {.base = {a->in[0].data, a->in[1].data}};
    hg_broadcast_strides(&a->in[0], out, w.stride[0]);
    hg_broadcast_strides(&a->in[1], out, w.stride[1]);
    return w;
}

static const holo_string *string_concat_part(const string_concat_walk *w, const holo_tensor *out,
                                             int side, int64_t i)
{
    int64_t at = 0;
    for (int k = out->rank - 1; k >= 0; k--) {
        at += i % out->dim[k] * w->stride[side][k];
        i /= out->dim[k];
    }
    return w->base[side] + at;
}

static holo_status string_concat_size(const hg_args *a, holo_error *e)
{
    holo_tensor out;
    HG_TRY(string_concat_shape(a, e, &out));
    const string_concat_walk w = string_concat_start(a, &out);
    int64_t count = holo_tensor_count(&out);
    for (int64_t i = 0; i < count; i++) {
        uint64_t p = string_concat_part(&w, &out, 0, i)->length,
                 q = string_concat_part(&w, &out, 1, i)->length;
        if (p > SIZE_MAX / 8 || q > SIZE_MAX / 8 ||
            !hg_add_size(a->extra[0], hg_align_up((size_t)(p + q), 16), &a->extra[0]))
            return hg_fail_nomem(e, SIZE_MAX);
    }
    a->out[0].rank = out.rank;
    memcpy(a->out[0].dim, out.dim, sizeof out.dim);
    return HOLO_OK;
}

static void string_concat_run(const hg_args *a, hg_range r)
{
    const holo_tensor *out = &a->out[0];
    const string_concat_walk w = string_concat_start(a, out);
    hg_room room = hg_room_behind(a);
    holo_string *y = out->data;
    (void)r;
    for (int64_t i = 0; i < holo_tensor_count(out); i++) {
        const holo_string *p = string_concat_part(&w, out, 0, i),
                          *q = string_concat_part(&w, out, 1, i);
        char *text = hg_room_take(&room, (size_t)(p->length + q->length));
        y[i] = (holo_string){"", 0};
        if (text == NULL || p->length + q->length == 0) continue;
        if (p->length != 0) memcpy(text, p->text, (size_t)p->length);
        if (q->length != 0) memcpy(text + p->length, q->text, (size_t)q->length);
        y[i] = (holo_string){text, p->length + q->length};
    }
}

/* ---- split ------------------------------------------------------------------------------------
 */

/* Bytes of the white space that a text begins with: of one character, 0 when there is none. */
static uint64_t string_split_space(const holo_string *s, uint64_t at)
{
    uint64_t next = at;
    if (at == s->length || !hg_utf8_is_space(hg_utf8_next(s->text, s->length, &next))) return 0;
    return next - at;
}

/* What is left to cut. */
typedef struct string_split_walk {
    holo_string rest, delimiter;
    int64_t cuts; /* left; -1: any number */
    bool done;
} string_split_walk;

static void string_split_skip_space(holo_string *s)
{
    uint64_t n = 0;
    for (uint64_t one; (one = string_split_space(s, n)) != 0;)
        n += one;
    if (n == 0) return; /* an empty text may have no address */
    s->text += n;
    s->length -= n;
}

/* Without the white space at its end. */
static void string_split_trim(holo_string *s)
{
    uint64_t end = 0;
    for (uint64_t at = 0; at < s->length;) {
        uint64_t space = string_split_space(s, at);
        if (space == 0)
            (void)hg_utf8_next(s->text, s->length, &at);
        else
            at += space;
        if (space == 0) end = at;
    }
    s->length = end;
}

static string_split_walk string_split_start(const holo_string *s, const holo_string *delimiter,
                                            int64_t cuts)
{
    string_split_walk w = {.rest = *s, .delimiter = *delimiter, .cuts = cuts};
    if (delimiter->length == 0) {
        string_split_skip_space(&w.rest);
        w.done =
            w.rest.length == 0; /* white space alone has no part; with a delimiter "" has one */
    }
    return w;
}

/* Where the next delimiter begins, or the length of the rest. No white space begins inside another
 * character. */
static uint64_t string_split_find(const string_split_walk *w)
{
    uint64_t n = w->delimiter.length;
    for (uint64_t i = 0; w->cuts != 0 && i < w->rest.length; i++) {
        if (n == 0 && string_split_space(&w->rest, i) != 0) return i;
        if (n != 0 && n <= w->rest.length - i &&
            memcmp(w->rest.text + i, w->delimiter.text, (size_t)n) == 0)
            return i;
    }
    return w->rest.length;
}

/* The next part; false when there is none. */
static bool string_split_next(string_split_walk *w, holo_string *part)
{
    if (w->done) return false;
    uint64_t at = string_split_find(w);
    uint64_t skip =
        w->delimiter.length == 0 ? string_split_space(&w->rest, at) : w->delimiter.length;
    *part = (holo_string){w->rest.text, at};
    w->done = at == w->rest.length;
    if (w->done) {
        /* White space at the very end is no part of the last word. */
        if (w->delimiter.length == 0) string_split_trim(part);
        return true;
    }
    w->rest = (holo_string){w->rest.text + at + skip, w->rest.length - at - skip};
    if (w->cuts > 0) w->cuts--;
    if (w->delimiter.length == 0) {
        string_split_skip_space(&w->rest);
        w->done = w->rest.length == 0;
    }
    return true;
}

static int64_t string_split_count(const hg_args *a, int64_t i)
{
    string_split_walk w =
        string_split_start((const holo_string *)a->in[0].data + i, a->in[1].data, a->param[0]);
    holo_string part;
    int64_t n = 0;
    while (string_split_next(&w, &part))
        n++;
    return n;
}

static holo_status string_split_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 2, 1));
    for (uint32_t i = 0; i < 2; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_STRING));
    HG_TRY(hg_check_rank(&a->in[0], e, "the strings", 0, HG_MAX_RANK - 1));
    HG_REQUIRE(e, holo_tensor_count(&a->in[1]) == 1, HOLO_E_SHAPE, "%lld delimiters, expected 1",
               (long long)holo_tensor_count(&a->in[1]));
    return hg_check_param(a, e, 0, "the number of cuts", -1, INT64_MAX);
}

static holo_status string_split_check(const hg_args *a, holo_error *e)
{
    HG_TRY(string_split_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_STRING));
    HG_TRY(hg_check_out_type(a, e, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_same_shape(&a->out[1], &a->in[0], e, "the counts"));
    holo_tensor lines = a->out[0];
    HG_REQUIRE(e, lines.rank == a->in[0].rank + 1, HOLO_E_SHAPE,
               "the parts have rank %d, expected %d", lines.rank, a->in[0].rank + 1);
    lines.rank--;
    return hg_check_same_shape(&lines, &a->in[0], e, "the parts");
}

static holo_status string_split_size(const hg_args *a, holo_error *e)
{
    HG_TRY(string_split_check_in(a, e));
    int64_t most = 0;
    for (int64_t i = 0; i < holo_tensor_count(&a->in[0]); i++)
        most = hg_max(most, string_split_count(a, i));
    for (int j = 0; j < 2; j++) {
        a->out[j].rank = a->in[0].rank;
        memcpy(a->out[j].dim, a->in[0].dim, sizeof a->in[0].dim);
    }
    a->out[0].dim[a->out[0].rank++] = most;
    return HOLO_OK;
}

/* Parts point into the texts they were cut from. */
static void string_split_run(const hg_args *a, hg_range r)
{
    const int64_t places = a->out[0].dim[a->out[0].rank - 1];
    int64_t *counts = a->out[1].data;
    (void)r;
    for (int64_t i = 0; i < holo_tensor_count(&a->in[0]); i++) {
        string_split_walk w =
            string_split_start((const holo_string *)a->in[0].data + i, a->in[1].data, a->param[0]);
        holo_string *part = (holo_string *)a->out[0].data + i * places;
        counts[i] = 0;
        while (counts[i] < places && string_split_next(&w, &part[counts[i]]))
            counts[i]++;
        for (int64_t k = counts[i]; k < places; k++)
            part[k] = (holo_string){"", 0};
    }
}

const hg_kernel hg_kernels_string[] = {
    {.name = "string.concat",
     .flags = HG_KERNEL_LATE,
     .check = string_concat_check,
     .size = string_concat_size,
     .units = hg_one_unit,
     .run = string_concat_run},
    {.name = "string.split",
     .flags = HG_KERNEL_LATE,
     .check = string_split_check,
     .size = string_split_size,
     .units = hg_one_unit,
     .run = string_split_run},
    {0},
};
