/* pattern.c - shapes as patterns: "N,G*C,*" over letters that all inputs of a node share.
 *
 *   letters, numbers, + - * and brackets   one dim
 *   "#" and "$"                            the rank of the first input, and 1 .. that
 *   "*" and "%"                            any number of dims, the same at each place
 *   ""                                     rank 0
 */
#include "random/random.h"

void rnd_bind_init(rnd_bind *b)
{
    *b = (rnd_bind){.star_rank = {-1, -1}, .first_rank = -1};
    for (size_t i = 0; i < HG_COUNT(b->letter); i++)
        b->letter[i] = -1;
}

int64_t rnd_size(rnd_source *s)
{
    uint32_t kind = rnd_below(s, 100);
    if (kind < 4) return 0;
    if (kind < 20) return 1;
    if (kind < 70) return 2 + rnd_below(s, 3);
    if (kind < 90) return 5 + rnd_below(s, 5);
    return 10 + rnd_below(s, 28);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static int64_t pattern_factor(rnd_source *s, rnd_bind *b, const char **text)
{
    char c = *(*text)++;
    if (c == '(') {
        int64_t value = rnd_eval(s, b, text);
        if (**text == ')') ++*text;
        return value;
    }
    if (c >= '0' && c <= '9') {
        int64_t value = c - '0';
        while (**text >= '0' && **text <= '9')
            value = value * 10 + (*(*text)++ - '0');
        return value;
    }
    if (c == '-') return -pattern_factor(s, b, text);
    int64_t *letter = &b->letter[(unsigned char)c & 127], *rank = &b->letter['#'];
    if (c == '$' && *letter < 0) *letter = *rank <= 0 ? 0 : 1 + rnd_below(s, (uint32_t)*rank);
    if (*letter < 0) *letter = rnd_size(s);
    return *letter;
}

static int64_t pattern_product(rnd_source *s, rnd_bind *b, const char **text)
{
    int64_t value = pattern_factor(s, b, text);
    while (**text == '*') {
        ++*text;
        value *= pattern_factor(s, b, text);
    }
    return value;
}

int64_t rnd_eval(rnd_source *s, rnd_bind *b, const char **text)
{
    int64_t value = pattern_product(s, b, text);
    while (**text == '+' || **text == '-') {
        bool minus = *(*text)++ == '-';
        int64_t next = pattern_product(s, b, text);
        value = minus ? value - next : value + next;
    }
    return value;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool pattern_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int pattern_star(const char *at)
{
    if (at[0] != '*' && at[0] != '%') return -1;
    return at[0] == '*' ? 0 : 1;
}

static const char *pattern_next(const char *at)
{
    while (*at != 0 && *at != ',')
        at++;
    return *at == ',' ? at + 1 : at;
}

/* Letters of "G*C" that are free take divisors of the dim, so that products match often. */
static bool pattern_divide(rnd_source *s, rnd_bind *b, const char *at, int64_t dim)
{
    int64_t rest = dim;
    const char *free_letter = NULL;
    for (; pattern_is_letter(*at) || *at == '*' || (*at >= '0' && *at <= '9'); at++) {
        if (*at == '*') continue;
        int64_t *letter = &b->letter[(unsigned char)*at];
        int64_t factor = pattern_is_letter(*at) ? *letter : *at - '0';
        if (factor < 0 && free_letter == NULL) {
            free_letter = at;
            continue;
        }
        if (factor < 0) factor = *letter = rest > 0 && rest % 2 == 0 ? 1 + rnd_below(s, 2) : 1;
        if (factor == 0 || rest % factor != 0) return false;
        rest /= factor;
    }
    if (free_letter != NULL) b->letter[(unsigned char)*free_letter] = rest;
    return free_letter != NULL;
}

static bool pattern_match_dim(rnd_source *s, rnd_bind *b, const char *at, int64_t dim)
{
    if (pattern_is_letter(*at)) {
        if ((at[1] == ',' || at[1] == 0) && b->letter[(unsigned char)*at] < 0) {
            b->letter[(unsigned char)*at] = dim;
            return true;
        }
        rnd_bind trial = *b;
        if (pattern_divide(s, &trial, at, dim)) *b = trial;
    }
    return rnd_eval(s, b, &at) == dim;
}

static bool pattern_match_star(rnd_bind *b, int star, const int64_t *dim, int32_t rank)
{
    if (rank < 0) return false;
    if (b->star_rank[star] < 0) {
        b->star_rank[star] = rank;
        for (int32_t k = 0; k < rank; k++)
            b->star[star][k] = dim[k];
        return true;
    }
    if (b->star_rank[star] != rank) return false;
    for (int32_t k = 0; k < rank; k++)
        if (b->star[star][k] != dim[k]) return false;
    return true;
}

bool rnd_match(rnd_source *s, rnd_bind *b, const char *pattern, const holo_tensor *t)
{
    int32_t fixed = 0, k = 0;
    bool has_star = false;
    for (const char *at = pattern; *at != 0; at = pattern_next(at)) {
        has_star |= pattern_star(at) >= 0;
        fixed += pattern_star(at) < 0;
    }
    if (has_star ? t->rank < fixed : t->rank != fixed) return false;
    for (const char *at = pattern; *at != 0; at = pattern_next(at)) {
        int star = pattern_star(at);
        if (star < 0) {
            if (k >= t->rank || !pattern_match_dim(s, b, at, t->dim[k++])) return false;
            continue;
        }
        int32_t take = b->star_rank[star] >= 0 ? b->star_rank[star] : t->rank - fixed;
        if (k + take > t->rank || !pattern_match_star(b, star, &t->dim[k], take)) return false;
        k += take;
    }
    return k == t->rank;
}

static void pattern_draw_star(rnd_source *s, rnd_bind *b, int star)
{
    if (b->star_rank[star] >= 0) return;
    b->star_rank[star] = (int32_t)rnd_below(s, 4);
    for (int32_t k = 0; k < b->star_rank[star]; k++)
        b->star[star][k] = rnd_size(s);
}

bool rnd_shape(rnd_source *s, rnd_bind *b, const char *pattern, int32_t *rank, int64_t *dim)
{
    int64_t count = 1;
    *rank = 0;
    for (const char *at = pattern; *at != 0; at = pattern_next(at)) {
        int star = pattern_star(at);
        if (star >= 0) pattern_draw_star(s, b, star);
        int32_t add = star < 0 ? 1 : b->star_rank[star];
        if (*rank + add > HG_MAX_RANK) return false;
        for (int32_t k = 0; k < add; k++) {
            const char *text = at;
            dim[*rank] = star < 0 ? rnd_eval(s, b, &text) : b->star[star][k];
            if (dim[*rank] < 0 || dim[*rank] > RND_MAX_ELEMENTS) return false;
            count *= dim[(*rank)++];
            if (count > RND_MAX_ELEMENTS) return false;
        }
    }
    return true;
}
