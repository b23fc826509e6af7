/* tokenizer_load.c - reads tokenizer.json, the layout of the "tokenizers" library.
 *
 * Bytes are spelled as printable characters there: the byte itself where it is a visible Latin-1
 * character, and U+0100, U+0101, ... in order for the others, so a space is U+0120. */
#include "asset.h"
#include "fail.h"
#include "tokenizer_model.h"
#include "unicode.h"

#include <stdlib.h>
#include <string.h>

static holo_status tokenizer_load_id(const json_t *vocab, const char *path, const char *token,
                                     int32_t *out, holo_error *error)
{
    int64_t id;
    const holo_status status = asset_integer(vocab, path, token, 0, TOKENIZER_MAX_ID, &id, error);
    if (status == HOLO_OK) *out = (int32_t)id;
    return status;
}

static holo_status tokenizer_load_bytes(tokenizer *t, const json_t *vocab, const char *path,
                                        holo_error *error)
{
    uint32_t hidden = 0;
    for (uint32_t byte = 0; byte < 256; byte++) {
        const bool is_visible = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
        uint8_t spelled[5] = {0};
        unicode_encode(is_visible ? byte : 0x100 + hidden++, spelled);
        const holo_status status =
            tokenizer_load_id(vocab, path, (const char *)spelled, &t->byte_id[byte], error);
        if (status != HOLO_OK) return status;
    }
    return HOLO_OK;
}

static holo_status tokenizer_load_merge(tokenizer *t, const json_t *vocab, const json_t *pair,
                                        const char *path, int32_t rank, holo_error *error)
{
    const char *left = json_string_value(json_array_get(pair, 0));
    const char *right = json_string_value(json_array_get(pair, 1));
    char made[256];
    if (left == NULL || right == NULL || strlen(left) + strlen(right) >= sizeof made)
        return fail(error, HOLO_E_MODEL, "%s: merge %d is not a pair of short texts", path, rank);
    memcpy(made, left, strlen(left));
    memcpy(made + strlen(left), right, strlen(right) + 1);

    tokenizer_merge merge = {.rank = rank};
    holo_status status = tokenizer_load_id(vocab, path, left, &merge.left, error);
    if (status == HOLO_OK) status = tokenizer_load_id(vocab, path, right, &merge.right, error);
    if (status == HOLO_OK) status = tokenizer_load_id(vocab, path, made, &merge.made, error);
    if (status != HOLO_OK) return status;
    tokenizer_merge *slot = tokenizer_slot(t, merge.left, merge.right);
    if (slot->made >= 0)
        return fail(error, HOLO_E_MODEL, "%s: merge %d repeats an earlier one", path, rank);
    *slot = merge;
    return HOLO_OK;
}

static holo_status tokenizer_load_merges(tokenizer *t, const json_t *model, const json_t *vocab,
                                         const char *path, holo_error *error)
{
    const json_t *merges = json_object_get(model, "merges");
    const size_t count = json_array_size(merges);
    if (count > TOKENIZER_MAX_ID)
        return fail(error, HOLO_E_LIMIT, "%s has %zu merges, too many", path, count);
    t->slots = 2;
    while (t->slots < 2 * count)
        t->slots *= 2;
    t->merges = malloc(t->slots * sizeof *t->merges);
    if (t->merges == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the tokenizer");
    for (uint32_t i = 0; i < t->slots; i++)
        t->merges[i].made = -1;
    for (size_t i = 0; i < count; i++) {
        const holo_status status =
            tokenizer_load_merge(t, vocab, json_array_get(merges, i), path, (int32_t)i, error);
        if (status != HOLO_OK) return status;
    }
    return HOLO_OK;
}

static holo_status tokenizer_load_added(tokenizer *t, const char *path, holo_error *error)
{
    const json_t *list = json_object_get(t->root, "added_tokens");
    if (json_array_size(list) > TOKENIZER_MAX_ADDED)
        return fail(error, HOLO_E_LIMIT, "%s has more than %d added tokens", path,
                    TOKENIZER_MAX_ADDED);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        tokenizer_added *added = &t->added[t->n_added++];
        added->text = json_string_value(json_object_get(item, "content"));
        if (added->text == NULL || added->text[0] == '\0')
            return fail(error, HOLO_E_MODEL, "%s: added token %zu has no content", path, i);
        static const char *const flags[] = {"single_word", "lstrip", "rstrip", "normalized"};
        for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++)
            if (!json_is_false(json_object_get(item, flags[k])))
                return fail(error, HOLO_E_UNSUPPORTED,
                            "%s: added token \"%s\" sets \"%s\", which is not supported", path,
                            added->text, flags[k]);
        added->size = strlen(added->text);
        const holo_status status = tokenizer_load_id(item, path, "id", &added->id, error);
        if (status != HOLO_OK) return status;
    }
    return HOLO_OK;
}

/* Id of the special token at `index` of the template <bos> text <eos>. */
static holo_status tokenizer_load_special(const json_t *post, const char *path, size_t index,
                                          int32_t *out, holo_error *error)
{
    const json_t *part = json_array_get(json_object_get(post, "single"), index);
    const char *name =
        json_string_value(json_object_get(json_object_get(part, "SpecialToken"), "id"));
    const json_t *special = json_object_get(json_object_get(post, "special_tokens"), name);
    const json_t *ids = json_object_get(special, "ids");
    const json_t *id = json_array_get(ids, 0);
    if (json_array_size(ids) != 1 || !json_is_integer(id) || json_integer_value(id) < 0 ||
        json_integer_value(id) > TOKENIZER_MAX_ID)
        return fail(error, HOLO_E_MODEL, "%s: part %zu of the template is not a special token",
                    path, index);
    *out = (int32_t)json_integer_value(id);
    return HOLO_OK;
}

static holo_status tokenizer_load_frame(tokenizer *t, const char *path, holo_error *error)
{
    const json_t *post = json_object_get(t->root, "post_processor");
    const json_t *single = json_object_get(post, "single");
    if (json_array_size(single) != 3 ||
        json_object_get(json_array_get(single, 1), "Sequence") == NULL)
        return fail(error, HOLO_E_UNSUPPORTED,
                    "%s: the template is not one token, the text, one token", path);
    const json_t *padding = json_object_get(t->root, "padding");
    const json_t *truncation = json_object_get(t->root, "truncation");
    int64_t fixed;
    holo_status status = tokenizer_load_special(post, path, 0, &t->begin, error);
    if (status == HOLO_OK) status = tokenizer_load_special(post, path, 2, &t->end, error);
    if (status == HOLO_OK) status = tokenizer_load_id(padding, path, "pad_id", &t->pad, error);
    if (status == HOLO_OK) status = asset_expect(padding, path, "direction", "Right", error);
    if (status == HOLO_OK) status = asset_expect(truncation, path, "direction", "Right", error);
    if (status == HOLO_OK)
        status = asset_integer(truncation, path, "max_length", 2, 4096, &t->length, error);
    if (status == HOLO_OK)
        status = asset_integer(json_object_get(padding, "strategy"), path, "Fixed", 2, 4096, &fixed,
                               error);
    if (status == HOLO_OK && fixed != t->length)
        return fail(error, HOLO_E_UNSUPPORTED, "%s: truncation and padding lengths differ", path);
    return status;
}

static holo_status tokenizer_load_kinds(const tokenizer *t, const json_t *model, const char *path,
                                        holo_error *error)
{
    const json_t *split = json_object_get(t->root, "pre_tokenizer");
    holo_status status = asset_expect(model, path, "type", "BPE", error);
    if (status == HOLO_OK)
        status =
            asset_expect(json_object_get(t->root, "normalizer"), path, "type", "Lowercase", error);
    if (status == HOLO_OK) status = asset_expect(split, path, "type", "ByteLevel", error);
    if (status != HOLO_OK) return status;
    if (!json_is_true(json_object_get(split, "add_prefix_space")) ||
        !json_is_true(json_object_get(split, "use_regex")))
        return fail(error, HOLO_E_UNSUPPORTED,
                    "%s: \"add_prefix_space\" and \"use_regex\" must be true", path);
    return HOLO_OK;
}

static holo_status tokenizer_load_all(tokenizer *t, const char *path, holo_error *error)
{
    holo_status status = asset_load(path, &t->root, error);
    if (status != HOLO_OK) return status;
    const json_t *model = json_object_get(t->root, "model");
    const json_t *vocab = json_object_get(model, "vocab");
    status = tokenizer_load_kinds(t, model, path, error);
    if (status == HOLO_OK) status = tokenizer_load_bytes(t, vocab, path, error);
    if (status == HOLO_OK) status = tokenizer_load_merges(t, model, vocab, path, error);
    if (status == HOLO_OK) status = tokenizer_load_added(t, path, error);
    if (status == HOLO_OK) status = tokenizer_load_frame(t, path, error);
    return status;
}

holo_status tokenizer_new(const char *path, tokenizer **out, holo_error *error)
{
    tokenizer *t = calloc(1, sizeof *t);
    if (t == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the tokenizer");
    const holo_status status = tokenizer_load_all(t, path, error);
    if (status != HOLO_OK) {
        tokenizer_free(t);
        return status;
    }
    *out = t;
    return HOLO_OK;
}
