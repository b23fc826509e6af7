/* regex.c - regex.match: which strings a regular expression describes as a whole, by PCRE2.
 *
 *   in[0]   strings of any shape
 *   in[1]   the pattern, one string, in RE2's syntax (kernel/regex_syntax.h)
 *   out[0]  bool, the shape of in[0]; false for text that is no UTF-8
 *
 * The pattern is compiled for each range of strings, in scratch memory. Matching by backtracking
 * is fast but may take time that grows without measure; it ends after REGEX_STEPS, and short texts
 * are then matched by following all ways at once, whose time is bounded. */
#include "ext/pool.h"
#include "isa/kernel.h"
#include "kernel/container.h"
#include "kernel/regex_syntax.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    REGEX_SCRATCH = 1 << 20,
    REGEX_TEXT = 1 << 16,       /* bytes of a pattern for PCRE2 */
    REGEX_STEPS = 1000000,      /* of backtracking */
    REGEX_HEAP = 200,           /* KiB of backtracking */
    REGEX_WAYS = 1 << 12,       /* numbers for ways that are followed at once */
    REGEX_WAYS_LENGTH = 1 << 13 /* bytes of a text that all ways are followed in */
};

typedef struct regex_state {
    hg_pool_block pool;
    pcre2_general_context *general;
    pcre2_match_context *limits;
    pcre2_code *code;
    pcre2_match_data *found;
    int *ways;
} regex_state;

static void *regex_take(PCRE2_SIZE bytes, void *pool)
{
    return hg_pool_take(pool, bytes);
}

static void regex_give(void *p, void *pool)
{
    hg_pool_give(pool, p);
}

/* Lines end with \n alone, and $ stands at the very end of a text: RE2's rules. */
static int regex_compile(regex_state *s, const char *text, size_t length)
{
    const uint32_t options = PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
                             PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP |
                             PCRE2_NO_AUTO_CAPTURE;
    PCRE2_SIZE at;
    int error = PCRE2_ERROR_NOMEMORY;
    s->general = pcre2_general_context_create(regex_take, regex_give, &s->pool);
    if (s->general == NULL) return error;
    pcre2_compile_context *compile = pcre2_compile_context_create(s->general);
    s->limits = pcre2_match_context_create(s->general);
    s->ways = hg_pool_take(&s->pool, REGEX_WAYS * sizeof *s->ways);
    if (compile == NULL || s->limits == NULL || s->ways == NULL) return error;
    pcre2_set_newline(compile, PCRE2_NEWLINE_LF);
    pcre2_set_match_limit(s->limits, REGEX_STEPS);
    pcre2_set_heap_limit(s->limits, REGEX_HEAP);
    s->code = pcre2_compile((PCRE2_SPTR)text, length, options, &error, &at, compile);
    if (s->code == NULL) return error;
    s->found = pcre2_match_data_create(1, s->general);
    return s->found == NULL ? PCRE2_ERROR_NOMEMORY : 0;
}

/* From the pattern to code in scratch memory; false and a fault when it cannot be used. */
static bool regex_open(const hg_args *a, regex_state *s, void *scratch)
{
    const holo_string *pattern = a->in[1].data;
    hg_regex_flaw flaw;
    char *text = scratch;
    size_t length =
        hg_regex_translate(pattern->text, (size_t)pattern->length, text, REGEX_TEXT, &flaw);
    *s = (regex_state){
        .pool = {.data = (uint8_t *)scratch + REGEX_TEXT, .bytes = REGEX_SCRATCH - REGEX_TEXT}};
    if (flaw.what != NULL) {
        hg_fault_value(a->fault, "the pattern is not RE2's syntax, from byte", 0, (int64_t)flaw.at);
        return false;
    }
    if (length > REGEX_TEXT) {
        hg_fault_range(a->fault, "the length of the pattern", 0, (int64_t)length, 0, REGEX_TEXT);
        return false;
    }
    int error = regex_compile(s, text, length);
    if (error == 0) return true;
    hg_fault_value(a->fault, "PCRE2 refuses the pattern, error", 0, error);
    return false;
}

/* Matches, no match, or an error that is neither. */
static int regex_one(const regex_state *s, const holo_string *text)
{
    PCRE2_SPTR subject = (PCRE2_SPTR)(text->length == 0 ? "" : text->text);
    size_t length = (size_t)text->length;
    int rc = pcre2_match(s->code, subject, length, 0, 0, s->found, s->limits);
    bool gave_up = rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_HEAPLIMIT ||
                   rc == PCRE2_ERROR_DEPTHLIMIT || rc == PCRE2_ERROR_NOMEMORY;
    if (gave_up && length <= REGEX_WAYS_LENGTH)
        rc = pcre2_dfa_match(s->code, subject, length, 0, PCRE2_NO_UTF_CHECK, s->found, s->limits,
                             s->ways, REGEX_WAYS);
    bool no_text = rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21;
    return no_text ? PCRE2_ERROR_NOMATCH : rc;
}

static holo_status regex_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 0));
    for (uint32_t i = 0; i < 2; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_STRING));
    HG_REQUIRE(e, holo_tensor_count(&a->in[1]) == 1, HOLO_E_SHAPE, "%lld patterns, expected 1",
               (long long)holo_tensor_count(&a->in[1]));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_BOOL));
    return hg_check_same_shape(&a->out[0], &a->in[0], e, "the output");
}

static int64_t regex_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]);
}

static size_t regex_scratch(const hg_args *a)
{
    (void)a;
    return REGEX_SCRATCH;
}

static void regex_run(const hg_args *a, hg_range r)
{
    regex_state s;
    bool *out = a->out[0].data;
    bool open = regex_open(a, &s, r.scratch);
    for (int64_t i = r.begin; i < r.end; i++) {
        int rc = open ? regex_one(&s, (const holo_string *)a->in[0].data + i) : PCRE2_ERROR_NOMATCH;
        out[i] = rc >= 0;
        if (rc < 0 && rc != PCRE2_ERROR_NOMATCH)
            hg_fault_value(a->fault, "the pattern takes too long for the text, PCRE2's error", i,
                           rc);
    }
}

const hg_kernel hg_kernels_regex[] = {
    {.name = "regex.match",
     .check = regex_check,
     .units = regex_units,
     .scratch = regex_scratch,
     .run = regex_run},
    {0},
};
