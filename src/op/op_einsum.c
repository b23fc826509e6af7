/* op_einsum.c - the equation of Einsum, read. */
#include "op/op_einsum.h"

int32_t hg_einsum_find(const hg_einsum_term *t, uint8_t label)
{
    for (int32_t i = 0; i < t->rank; i++)
        if (t->label[i] == label) return i;
    return -1;
}

static bool einsum_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Letters before and after the ellipsis of a term; *has_dots when there is one. */
static holo_status einsum_count(const hg_infer *n, hg_str term, uint32_t *letters, bool *has_dots)
{
    *letters = 0;
    *has_dots = false;
    for (size_t i = 0; i < term.length; i++) {
        char c = term.text[i];
        if (c == ' ') continue;
        if (einsum_is_letter(c)) {
            ++*letters;
        } else if (c == '.' && i + 2 < term.length && term.text[i + 1] == '.' &&
                   term.text[i + 2] == '.' && !*has_dots) {
            *has_dots = true;
            i += 2;
        } else {
            return hg_infer_fail(n, HOLO_E_MODEL,
                                 "the equation holds an unexpected character in \"%.*s\"",
                                 HG_STR_ARG(term));
        }
    }
    return HOLO_OK;
}

/* Labels of a term whose ellipsis stands for `dots` dimensions. */
static holo_status einsum_term(const hg_infer *n, hg_str text, int32_t dots, hg_einsum_term *t)
{
    uint32_t letters;
    bool has_dots;
    HG_TRY(einsum_count(n, text, &letters, &has_dots));
    if (letters + (has_dots ? (uint32_t)dots : 0) > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "\"%.*s\" has more than %d dimensions",
                             HG_STR_ARG(text), HG_MAX_RANK);
    t->rank = 0;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (einsum_is_letter(c)) t->label[t->rank++] = (uint8_t)c;
        if (c != '.') continue;
        for (int32_t k = dots; k > 0; k--)
            t->label[t->rank++] = (uint8_t)k;
        i += 2;
    }
    return HOLO_OK;
}

/* The part of `text` up to `stop`; what follows stays in `text`. */
static hg_str einsum_cut(hg_str *text, char stop)
{
    size_t i = 0;
    while (i < text->length && text->text[i] != stop)
        i++;
    hg_str part = {text->text, i};
    size_t skip = i < text->length ? i + 1 : i;
    text->text += skip;
    text->length -= skip;
    return part;
}

static holo_status einsum_sizes(const hg_infer *n, uint32_t i, const hg_type *type, hg_einsum *e)
{
    for (int32_t k = 0; k < type->rank; k++) {
        hg_dim *size = &e->size[e->in[i].label[k]];
        if (*size == 0)
            *size = type->dim[k];
        else if (hg_infer_broadcast_dim(n, *size, type->dim[k], size) != HOLO_OK)
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "dimension %d of input %u does not agree with an earlier one", k,
                                 i);
    }
    return HOLO_OK;
}

/* Without "->": the ellipsis, then all letters that occur once, in order. */
static void einsum_implicit(hg_einsum *e, int32_t dots)
{
    uint32_t count[128] = {0};
    for (uint32_t i = 0; i < e->n_in; i++)
        for (int32_t k = 0; k < e->in[i].rank; k++)
            count[e->in[i].label[k]]++;
    e->out.rank = 0;
    for (int32_t k = dots; k > 0; k--)
        e->out.label[e->out.rank++] = (uint8_t)k;
    for (uint8_t c = 'A'; c <= 'z' && e->out.rank < HG_MAX_RANK; c++)
        if (count[c] == 1) e->out.label[e->out.rank++] = c;
}

static holo_status einsum_check_out(const hg_infer *n, const hg_einsum *e)
{
    for (int32_t k = 0; k < e->out.rank; k++) {
        uint8_t label = e->out.label[k];
        if (hg_einsum_find(&e->out, label) != k)
            return hg_infer_fail(n, HOLO_E_MODEL, "'%c' occurs twice in the result", label);
        if (e->size[label] == 0)
            return hg_infer_fail(n, HOLO_E_MODEL, "'%c' occurs in the result but in no operand",
                                 label);
    }
    return HOLO_OK;
}

holo_status hg_einsum_read(const hg_infer *n, const hg_type *const *in, uint32_t n_in, hg_einsum *e)
{
    hg_str equation, left;
    HG_TRY(hg_attr_string(n, "equation", "", &equation));
    *e = (hg_einsum){.n_in = n_in};
    if (n_in > HG_EINSUM_MAX_TERMS)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "%u operands, expected at most %d", n_in,
                             HG_EINSUM_MAX_TERMS);
    left = einsum_cut(&equation, '-');
    bool is_explicit = left.text + left.length != equation.text;
    if (is_explicit && (equation.length == 0 || equation.text[0] != '>'))
        return hg_infer_fail(n, HOLO_E_MODEL, "the equation holds '-' without '>'");
    int32_t most = 0;
    for (uint32_t i = 0; i < n_in; i++) {
        uint32_t letters;
        bool has_dots, more = left.length != 0 || i == 0;
        hg_str term = einsum_cut(&left, ',');
        HG_TRY(einsum_count(n, term, &letters, &has_dots));
        int32_t dots = in[i]->rank - (int32_t)letters;
        if (!more || dots < 0 || (!has_dots && dots != 0))
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "input %u has rank %d, which does not fit \"%.*s\"", i,
                                 in[i]->rank, HG_STR_ARG(term));
        most = dots > most ? dots : most;
        HG_TRY(einsum_term(n, term, dots, &e->in[i]));
        HG_TRY(einsum_sizes(n, i, in[i], e));
    }
    if (left.length != 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "the equation has more terms than the %u operands",
                             n_in);
    if (is_explicit) {
        equation.text++;
        equation.length--;
        HG_TRY(einsum_term(n, equation, most, &e->out));
    } else {
        einsum_implicit(e, most);
    }
    return einsum_check_out(n, e);
}
