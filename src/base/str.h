/* str.h - string view (pointer + length) and its few operations. */
#ifndef HG_BASE_STR_H
#define HG_BASE_STR_H

#include "base/arena.h"

#include <string.h>

typedef struct hg_str {
    const char *text;
    size_t length;
} hg_str;

/* For printf: "%.*s", HG_STR_ARG(s). Long names are cut to 120 bytes so that sentences stay
 * readable. */
#define HG_STR_ARG(s) ((int)((s).length < 120 ? (s).length : 120)), ((s).text ? (s).text : "")

static inline hg_str hg_str_from(const char *text)
{
    return (hg_str){text, text == NULL ? 0 : strlen(text)};
}

static inline bool hg_str_equal(hg_str a, hg_str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

static inline bool hg_str_is(hg_str a, const char *text)
{
    return hg_str_equal(a, hg_str_from(text));
}

/* Copy in the arena, NUL-terminated; {NULL, 0} when memory is exhausted. */
hg_str hg_str_copy(hg_arena *arena, hg_str s);
/* printf into the arena. */
hg_str hg_str_format(hg_arena *arena, const char *format, ...) HG_PRINTF(2, 3);
/* Well-formed UTF-8 without NUL or control characters. */
bool hg_str_is_text(hg_str s);

#endif
