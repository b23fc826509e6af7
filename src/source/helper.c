/* helper.c - functions that the emitted code calls: those of the interpreter, as they stand in its
 * headers, so that one text gives one result. */
#include "base/str.h"
#include "source/source.h"

/* The lines of base/half.h, isa/lane_math_f64.h and isa/lane_math.h. */
static const char *const helper_line[] = {
#include "source_text_list.inc"
};

static bool helper_starts(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* The word that ends at `end`. */
static hg_str helper_word_before(const char *line, const char *end)
{
    const char *begin = end;
    while (begin > line && hg_source_is_word(begin[-1]))
        begin--;
    return (hg_str){begin, (size_t)(end - begin)};
}

static hg_str helper_word_after(const char *line)
{
    size_t n = 0;
    while (hg_source_is_word(line[n]))
        n++;
    return (hg_str){line, n};
}

/* What a line defines, "" when it defines nothing. */
static hg_str helper_name(const char *line)
{
    static const char define[] = "#define ", type[] = "typedef struct ";
    if (helper_starts(line, define) && strchr(line, '\\') == NULL &&
        helper_starts(line + strlen(define), "HG_") && line[strlen(line) - 2] != '_')
        return helper_word_after(line + strlen(define));
    if (helper_starts(line, type)) return helper_word_after(line + strlen(type));
    if ((helper_starts(line, "HG_INLINE ") || helper_starts(line, "static inline ")) &&
        strchr(line, '(') != NULL)
        return helper_word_before(line, strchr(line, '('));
    return (hg_str){"", 0};
}

/* A comment right before a definition belongs to it. */
static uint32_t helper_comment(uint32_t at)
{
    uint32_t i = at;
    if (i == 0 || strstr(helper_line[i - 1], "*/") == NULL) return at;
    do
        i--;
    while (i > 0 && !helper_starts(helper_line[i], "/*"));
    return i;
}

static uint32_t helper_end(uint32_t at)
{
    if (helper_line[at][0] == '#') return at + 1;
    while (at < HG_COUNT(helper_line) && helper_line[at][0] != '}')
        at++;
    return at + 1;
}

bool hg_source_helpers_init(hg_source *s)
{
    hg_source_helper *list = hg_arena_array(s->arena, HG_COUNT(helper_line), sizeof *list);
    s->needs = hg_arena_array(s->arena, HG_COUNT(helper_line), sizeof *s->needs);
    if (list == NULL || s->needs == NULL) return false;
    for (uint32_t i = 0; i < HG_COUNT(helper_line); i++) {
        hg_str name = helper_name(helper_line[i]);
        if (name.length == 0) continue;
        list[s->n_helper++] = (hg_source_helper){name, helper_comment(i), helper_end(i)};
    }
    s->helper = list;
    return true;
}

static void helper_need(hg_source *s, hg_str name);

/* Every name in a line that is one of ours. */
static void helper_scan(hg_source *s, const char *line)
{
    while (*line != '\0') {
        hg_str word = helper_word_after(line);
        if (word.length == 0) {
            line++;
            continue;
        }
        if (helper_starts(line, "hg_") || helper_starts(line, "HG_")) helper_need(s, word);
        line += word.length;
    }
}

/* Calls form no circles, and each is followed once. */
static void helper_need(hg_source *s, hg_str name)
{
    for (uint32_t i = 0; i < s->n_helper; i++) {
        if (s->needs[i] || !hg_str_equal(s->helper[i].name, name)) continue;
        s->needs[i] = true;
        for (uint32_t k = s->helper[i].first; k < s->helper[i].end; k++)
            helper_scan(s, helper_line[k]);
        return;
    }
}

void hg_source_need(hg_source *s, const char *function)
{
    helper_need(s, hg_str_from(function));
}

void hg_source_helpers(hg_source *s)
{
    bool is_first = true;
    for (uint32_t i = 0; i < s->n_helper; i++) {
        if (!s->needs[i]) continue;
        if (is_first) hg_print_text(&s->out, "#define HG_INLINE static inline\n\n");
        is_first = false;
        for (uint32_t k = s->helper[i].first; k < s->helper[i].end; k++) {
            hg_print_text(&s->out, helper_line[k]);
            hg_print_text(&s->out, "\n");
        }
        hg_print_text(&s->out, "\n");
    }
}
