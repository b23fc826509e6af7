/* precompute.c - runs given inputs now and stores the answers under a minimal perfect hash.
 *
 * Hash and displace: keys fall into buckets of about four; the fullest bucket is placed first, each
 * with the smallest shift that sends its keys to free entries. Should two different keys have the
 * same hash, no shift can part them and another seed is tried. */
#include "compile/precompute.h"

#include "archive/memo.h"
#include "compile/sample.h"

enum { PRECOMPUTE_SEEDS = 16, PRECOMPUTE_KEYS_PER_BUCKET = 4 };
static const uint32_t precompute_max_shift = UINT32_C(1) << 26;

typedef struct precompute_answer {
    holo_tensor *key, *value; /* copies */
    uint64_t hash;
    uint32_t bucket;
} precompute_answer;

typedef struct precompute_table {
    hg_ctx *ctx;
    precompute_answer *answer;
    uint32_t count, n_in, n_out, n_bucket;
    uint64_t seed;
    uint32_t *shift; /* per bucket */
    uint32_t *entry; /* per entry: answer + 1 */
} precompute_table;

/* ---- collecting ------------------------------------------------------------------------------ */

static holo_status precompute_copy(hg_ctx *ctx, holo_tensor *t)
{
    const size_t bytes = holo_tensor_bytes(t);
    void *copy = hg_arena_alloc_raw(&ctx->arena, bytes + 1);
    if (copy == NULL) return hg_fail_nomem(ctx->error, bytes);
    if (bytes != 0) memcpy(copy, t->data, bytes);
    t->data = copy;
    return HOLO_OK;
}

static bool precompute_same_key(const precompute_table *p, const holo_tensor *a,
                                const holo_tensor *b)
{
    for (uint32_t i = 0; i < p->n_in; i++) {
        const hg_memo_form x = hg_memo_form_of(&a[i]), y = hg_memo_form_of(&b[i]);
        if (memcmp(&x, &y, sizeof x) != 0) return false;
        if (x.bytes != 0 && memcmp(a[i].data, b[i].data, (size_t)x.bytes) != 0) return false;
    }
    return true;
}

/* Inputs and outputs of the run that has just been made; a key that is there already is left out.
 */
static holo_status precompute_keep(precompute_table *p, const holo_sample *sample,
                                   const hg_sampler *s)
{
    precompute_answer *a = &p->answer[p->count];
    HG_TRY(HG_NEW(p->ctx, p->n_in + 1, &a->key));
    HG_TRY(HG_NEW(p->ctx, p->n_out + 1, &a->value));
    for (uint32_t i = 0; i < p->n_in; i++) {
        holo_port port;
        HG_TRY(holo_model_input(s->model, 0, i, &port));
        a->key[i] = *hg_sample_find(sample, port.name, p->n_in);
    }
    for (uint32_t k = 0; k < p->count; k++)
        if (precompute_same_key(p, p->answer[k].key, a->key)) return HOLO_OK;
    for (uint32_t i = 0; i < p->n_in; i++)
        HG_TRY(precompute_copy(p->ctx, &a->key[i]));
    for (uint32_t i = 0; i < p->n_out; i++) {
        HG_TRY(holo_session_output(s->session, i, &a->value[i], p->ctx->error));
        HG_TRY(precompute_copy(p->ctx, &a->value[i]));
    }
    p->count++;
    return HOLO_OK;
}

/* ---- the perfect hash ------------------------------------------------------------------------ */

/* Places the keys of one bucket by one shift; undone when two meet. */
static bool precompute_place(precompute_table *p, uint32_t bucket, uint32_t shift)
{
    for (uint32_t k = 0; k < p->count; k++) {
        if (p->answer[k].bucket != bucket) continue;
        uint32_t slot = hg_memo_slot(p->answer[k].hash, shift, p->count);
        if (p->entry[slot] == 0) {
            p->entry[slot] = k + 1;
            continue;
        }
        for (uint32_t i = 0; i < p->count; i++)
            if (p->entry[i] != 0 && p->entry[i] <= k && p->answer[p->entry[i] - 1].bucket == bucket)
                p->entry[i] = 0;
        return false;
    }
    return true;
}

static bool precompute_bucket(precompute_table *p, uint32_t bucket)
{
    for (uint32_t shift = 0; shift < precompute_max_shift; shift++) {
        if (!precompute_place(p, bucket, shift)) continue;
        p->shift[bucket] = shift;
        return true;
    }
    return false;
}

static bool precompute_hashes_differ(const precompute_table *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (p->answer[i].hash == p->answer[k].hash) return false;
    return true;
}

/* Every key has an entry of its own. */
static bool precompute_assign(precompute_table *p, uint32_t *size)
{
    uint32_t largest = 0;
    memset(p->entry, 0, p->count * sizeof *p->entry);
    memset(size, 0, p->n_bucket * sizeof *size);
    for (uint32_t k = 0; k < p->count; k++) {
        precompute_answer *a = &p->answer[k];
        a->hash = hg_memo_hash(a->key, p->n_in, p->seed);
        a->bucket = hg_memo_bucket(a->hash, p->n_bucket);
        if (++size[a->bucket] > largest) largest = size[a->bucket];
    }
    if (!precompute_hashes_differ(p)) return false;
    for (uint32_t n = largest; n > 0; n--)
        for (uint32_t b = 0; b < p->n_bucket; b++)
            if (size[b] == n && !precompute_bucket(p, b)) return false;
    return true;
}

static holo_status precompute_hash(precompute_table *p)
{
    uint32_t *size;
    p->n_bucket = p->count / PRECOMPUTE_KEYS_PER_BUCKET + 1;
    HG_TRY(HG_NEW(p->ctx, p->n_bucket, &size));
    HG_TRY(HG_NEW(p->ctx, p->n_bucket, &p->shift));
    HG_TRY(HG_NEW(p->ctx, p->count, &p->entry));
    for (p->seed = 0; p->seed < PRECOMPUTE_SEEDS; p->seed++)
        if (precompute_assign(p, size)) return HOLO_OK;
    return hg_fail(p->ctx->error, HOLO_E_BUG, "no perfect hash was found for %u inputs", p->count);
}

/* ---- the section ----------------------------------------------------------------------------- */

static uint64_t precompute_put(uint8_t *out, const holo_tensor *t, uint32_t n)
{
    uint8_t *at = out;
    for (uint32_t i = 0; i < n; i++) {
        const hg_memo_form form = hg_memo_form_of(&t[i]);
        memcpy(at, &form, sizeof form);
        if (form.bytes != 0) memcpy(at + sizeof form, t[i].data, (size_t)form.bytes);
        at += hg_memo_bytes(&t[i], 1);
    }
    return (uint64_t)(at - out);
}

static holo_status precompute_section(const precompute_table *p, hg_compile *c)
{
    const hg_memo_head head = {.n_entry = p->count, .n_bucket = p->n_bucket, .seed = p->seed};
    const size_t shifts = p->n_bucket * sizeof *p->shift,
                 entries_at = sizeof head + (shifts + 7) / 8 * 8;
    size_t at = entries_at + p->count * sizeof(hg_memo_entry), size = at;
    for (uint32_t k = 0; k < p->count; k++)
        size +=
            hg_memo_bytes(p->answer[k].key, p->n_in) + hg_memo_bytes(p->answer[k].value, p->n_out);
    uint8_t *out = hg_arena_alloc(&p->ctx->arena, size);
    if (out == NULL) return hg_fail_nomem(p->ctx->error, size);
    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, p->shift, shifts);
    for (uint32_t i = 0; i < p->count; i++) {
        const precompute_answer *a = &p->answer[p->entry[i] - 1];
        hg_memo_entry entry = {.key = at};
        entry.key_bytes = precompute_put(out + at, a->key, p->n_in);
        entry.value = at + entry.key_bytes;
        entry.value_bytes = precompute_put(out + entry.value, a->value, p->n_out);
        at = (size_t)(entry.value + entry.value_bytes);
        memcpy(out + entries_at + i * sizeof entry, &entry, sizeof entry);
    }
    c->memo = out;
    c->memo_bytes = size;
    return HOLO_OK;
}

static holo_status precompute_run(hg_compile *c, hg_sampler *s, precompute_table *p)
{
    const holo_compile_options *o = c->options;
    holo_memo *memo;
    /* What a memo cannot hold is said before anything runs. */
    HG_TRY(holo_memo_new(s->model, NULL, &memo, c->ctx.error));
    holo_memo_free(memo);
    p->n_in = holo_model_input_count(s->model, 0);
    p->n_out = holo_model_output_count(s->model, 0);
    HG_TRY(HG_NEW(&c->ctx, o->n_precompute, &p->answer));
    for (size_t i = 0; i < o->n_precompute; i++) {
        HG_TRY(hg_sampler_run(s, &c->ctx, &o->precompute[i], i));
        HG_TRY(precompute_keep(p, &o->precompute[i], s));
    }
    HG_TRY(precompute_hash(p));
    return precompute_section(p, c);
}

holo_status hg_precompute(hg_compile *c)
{
    const holo_compile_report before = c->report;
    precompute_table table = {.ctx = &c->ctx};
    hg_sampler sampler = {0};
    void *data = NULL;
    size_t size = 0;
    if (c->options->n_precompute == 0) return HOLO_OK;
    if (c->n_model != 1)
        return hg_fail(c->ctx.error, HOLO_E_ARG,
                       "answers are precomputed for one model, %zu were given", c->n_model);
    if (c->options->n_precompute > UINT32_MAX / 2)
        return hg_fail(c->ctx.error, HOLO_E_LIMIT, "%zu inputs are too many to precompute",
                       c->options->n_precompute);
    HG_TRY(hg_compile_bytes(c, &data, &size));
    holo_status status = hg_sampler_open(&sampler, &c->ctx, c->options->extra, data, size);
    if (status == HOLO_OK) status = precompute_run(c, &sampler, &table);
    hg_sampler_deinit(&sampler, &c->ctx);
    c->report = before;
    c->report.memo_entries = table.count;
    return status;
}
