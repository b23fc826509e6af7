/* names.c - the names section: texts for people, each stored once, shared by all programs. */
#include "plan/plan.h"

void hg_names_init(hg_names *n, hg_ctx *ctx)
{
    *n = (hg_names){.ctx = ctx};
    hg_map_init(&n->seen, &ctx->arena);
}

static holo_status names_append(hg_names *n, char c)
{
    char *text = hg_arena_grow(&n->ctx->arena, n->text, n->size, &n->capacity, 1);
    if (text == NULL || n->size == UINT32_MAX) return hg_fail_nomem(n->ctx->error, n->capacity);
    n->text = text;
    n->text[n->size++] = c;
    return HOLO_OK;
}

holo_status hg_names_add(hg_names *n, hg_str name, uint32_t *at)
{
    if (name.length > HG_NAME_MAX) name.length = HG_NAME_MAX;
    if (n->size == 0) HG_TRY(names_append(n, 0)); /* position 0: no name */
    uint32_t known = hg_map_get(&n->seen, name);
    *at = known;
    if (known != 0 || name.length == 0) return HOLO_OK;
    *at = (uint32_t)n->size;
    for (size_t i = 0; i < name.length; i++)
        HG_TRY(names_append(n, name.text[i]));
    HG_TRY(names_append(n, 0));
    hg_str key = hg_str_copy(&n->ctx->arena, name); /* labels are made in buffers of the caller */
    if (key.text == NULL || !hg_map_set(&n->seen, key, *at))
        return hg_fail_nomem(n->ctx->error, name.length);
    return HOLO_OK;
}
