/* tokenizer.c - byte-level BPE.
 *
 *     prompt -> added tokens cut out -> lower case -> a space in front -> words -> bytes -> merges
 *
 * Words are the matches of the pattern that ByteLevel stands for:
 *
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
#include "tokenizer.h"

#include "fail.h"
#include "tokenizer_model.h"
#include "unicode.h"

#include <stdlib.h>
#include <string.h>

enum {
    TOKENIZER_MAX_BYTES = 4096,
    TOKENIZER_MAX_CODES = 2 * TOKENIZER_MAX_BYTES + 1, /* lower case may double, and the space */
    TOKENIZER_NO_RANK = INT32_MAX
};

/* One prompt on its way; too large for the stack. */
typedef struct tokenizer_work {
    uint32_t codes[TOKENIZER_MAX_CODES];
    size_t n_codes;
    int32_t word[4 * TOKENIZER_MAX_CODES];
    int32_t rank[4 * TOKENIZER_MAX_CODES]; /* of word[i] with word[i + 1] */
    size_t n_word;
    int64_t *ids; /* the caller's, behind the begin token */
    size_t n_ids;
    size_t room;
} tokenizer_work;

void tokenizer_free(tokenizer *t)
{
    if (t == NULL) return;
    json_decref(t->root);
    free(t->merges);
    free(t);
}

int64_t tokenizer_length(const tokenizer *t)
{
    return t->length;
}

tokenizer_merge *tokenizer_slot(const tokenizer *t, int32_t left, int32_t right)
{
    const uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    const uint32_t hash = (uint32_t)(key * 0x9E3779B97F4A7C15U >> 32);
    for (uint32_t at = hash;; at++) { /* at most half of the slots are taken */
        tokenizer_merge *slot = &t->merges[at & (t->slots - 1)];
        if (slot->made < 0 || (slot->left == left && slot->right == right)) return slot;
    }
}

static int32_t tokenizer_rank(const tokenizer *t, const tokenizer_work *w, size_t i)
{
    if (i + 1 >= w->n_word) return TOKENIZER_NO_RANK;
    const tokenizer_merge *merge = tokenizer_slot(t, w->word[i], w->word[i + 1]);
    return merge->made < 0 ? TOKENIZER_NO_RANK : merge->rank;
}

static void tokenizer_append(tokenizer_work *w, int32_t id)
{
    if (w->n_ids < w->room) w->ids[w->n_ids++] = id;
}

/* Joins the leftmost pair of lowest rank until no pair is known. One at a time: a token may be made
 * by two merges of different rank, and what it does next may come before the second of them. */
static void tokenizer_merge_word(const tokenizer *t, tokenizer_work *w)
{
    for (size_t i = 0; i < w->n_word; i++)
        w->rank[i] = tokenizer_rank(t, w, i);
    while (w->n_word > 1) {
        size_t best = 0;
        for (size_t i = 1; i < w->n_word; i++)
            if (w->rank[i] < w->rank[best]) best = i;
        if (w->rank[best] == TOKENIZER_NO_RANK) break;
        w->word[best] = tokenizer_slot(t, w->word[best], w->word[best + 1])->made;
        const size_t tail = w->n_word - best - 2;
        memmove(&w->word[best + 1], &w->word[best + 2], tail * sizeof w->word[0]);
        memmove(&w->rank[best + 1], &w->rank[best + 2], tail * sizeof w->rank[0]);
        w->n_word--;
        w->rank[best] = tokenizer_rank(t, w, best);
        if (best > 0) w->rank[best - 1] = tokenizer_rank(t, w, best - 1);
    }
}

static void tokenizer_add_word(const tokenizer *t, tokenizer_work *w, size_t first, size_t last)
{
    w->n_word = 0;
    for (size_t i = first; i < last; i++) {
        uint8_t bytes[4];
        const size_t size = unicode_encode(w->codes[i], bytes);
        for (size_t k = 0; k < size; k++)
            w->word[w->n_word++] = t->byte_id[bytes[k]];
    }
    tokenizer_merge_word(t, w);
    for (size_t i = 0; i < w->n_word; i++)
        tokenizer_append(w, w->word[i]);
}

/* Length of 's 't 're 've 'm 'll 'd at `at`, or 0. */
static size_t tokenizer_suffix(const tokenizer_work *w, size_t at)
{
    static const char *const suffixes[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (w->codes[at] != '\'') return 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const size_t size = strlen(suffixes[i]);
        size_t k = 0;
        while (k < size && at + 1 + k < w->n_codes &&
               w->codes[at + 1 + k] == (uint32_t)suffixes[i][k])
            k++;
        if (k == size) return size + 1;
    }
    return 0;
}

static size_t tokenizer_skip(const tokenizer_work *w, size_t at, unicode_class kind)
{
    while (at < w->n_codes && unicode_class_of(w->codes[at]) == kind)
        at++;
    return at;
}

/* Where the word that starts at `at` ends. */
static size_t tokenizer_word_end(const tokenizer_work *w, size_t at)
{
    const size_t suffix = tokenizer_suffix(w, at);
    if (suffix > 0) return at + suffix;
    const size_t start = w->codes[at] == ' ' && at + 1 < w->n_codes ? at + 1 : at;
    const unicode_class kind = unicode_class_of(w->codes[start]);
    if (kind != UNICODE_SPACE) return tokenizer_skip(w, start, kind);
    const size_t end = tokenizer_skip(w, at, UNICODE_SPACE);
    /* \s+(?!\S): the last space before a word is left to the word, unless it is the only one. */
    return end < w->n_codes && end > at + 1 ? end - 1 : end;
}

static bool tokenizer_add_text(const tokenizer *t, tokenizer_work *w, const char *text, size_t size)
{
    size_t at = 0;
    w->n_codes = 1;
    w->codes[0] = ' ';
    while (at < size) {
        uint32_t code;
        if (!unicode_decode(text, size, &at, &code)) return false;
        w->n_codes += unicode_lower(code, &w->codes[w->n_codes]);
    }
    if (w->n_codes == 1) return true;
    size_t next;
    for (size_t first = w->codes[1] == ' ' ? 1 : 0; first < w->n_codes; first = next) {
        next = tokenizer_word_end(w, first);
        tokenizer_add_word(t, w, first, next);
    }
    return true;
}

/* The first added token in text, or NULL; *size becomes the number of bytes before it. */
static const tokenizer_added *tokenizer_find_added(const tokenizer *t, const char *text,
                                                   size_t *size)
{
    const tokenizer_added *found = NULL;
    *size = strlen(text);
    for (size_t i = 0; i < t->n_added; i++) {
        const char *hit = strstr(text, t->added[i].text);
        if (hit == NULL) continue;
        const size_t before = (size_t)(hit - text); /* below *size while nothing is found */
        if (before > *size || (before == *size && t->added[i].size < found->size)) continue;
        found = &t->added[i];
        *size = before;
    }
    return found;
}

static bool tokenizer_add_prompt(const tokenizer *t, tokenizer_work *w, const char *prompt)
{
    for (;;) {
        size_t size;
        const tokenizer_added *added = tokenizer_find_added(t, prompt, &size);
        if (!tokenizer_add_text(t, w, prompt, size)) return false;
        if (added == NULL) return true;
        tokenizer_append(w, added->id);
        prompt += size + added->size;
    }
}

holo_status tokenizer_encode(const tokenizer *t, const char *prompt, int64_t *ids,
                             holo_error *error)
{
    const size_t length = (size_t)t->length;
    if (strlen(prompt) > TOKENIZER_MAX_BYTES)
        return fail(error, HOLO_E_LIMIT, "the prompt has %zu bytes, at most %d are read",
                    strlen(prompt), TOKENIZER_MAX_BYTES);
    tokenizer_work *w = malloc(sizeof *w);
    if (w == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the prompt");
    w->ids = ids + 1;
    w->n_ids = 0;
    w->room = length - 2;
    const bool is_text = tokenizer_add_prompt(t, w, prompt);
    const size_t count = w->n_ids;
    free(w);
    if (!is_text) return fail(error, HOLO_E_ARG, "the prompt is not valid UTF-8");
    ids[0] = t->begin;
    ids[count + 1] = t->end;
    for (size_t i = count + 2; i < length; i++)
        ids[i] = t->pad;
    return HOLO_OK;
}
