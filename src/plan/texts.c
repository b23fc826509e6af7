/* texts.c - zero-terminated texts one behind the other, each stored once; the first one is empty.
 */
#include "plan/plan.h"

static holo_status texts_append(hg_texts *t, char c)
{
    char *text = hg_arena_grow(&t->ctx->arena, t->text, t->size, &t->capacity, 1);
    if (text == NULL || t->size == UINT32_MAX) return hg_fail_nomem(t->ctx->error, t->capacity);
    t->text = text;
    t->text[t->size++] = c;
    return HOLO_OK;
}

holo_status hg_texts_init(hg_texts *t, hg_ctx *ctx, size_t longest)
{
    *t = (hg_texts){.ctx = ctx, .longest = longest};
    hg_map_init(&t->seen, &ctx->arena);
    return texts_append(t, 0);
}

holo_status hg_texts_add(hg_texts *t, hg_str text, uint32_t *at)
{
    if (text.length > t->longest) text.length = t->longest;
    *at = text.length == 0 ? 0 : hg_map_get(&t->seen, text);
    if (*at != 0 || text.length == 0) return HOLO_OK;
    *at = (uint32_t)t->size;
    for (size_t i = 0; i < text.length; i++)
        HG_TRY(texts_append(t, text.text[i]));
    HG_TRY(texts_append(t, 0));
    hg_str key = hg_str_copy(&t->ctx->arena, text); /* labels are made in buffers of the caller */
    if (key.text == NULL || !hg_map_set(&t->seen, key, *at))
        return hg_fail_nomem(t->ctx->error, text.length);
    return HOLO_OK;
}
