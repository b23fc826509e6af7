/* quantize_random.c - a sample where none is given: random numbers, in sizes that most models take.
 *
 * Floats lie in [-1, 1). Integers that choose rows of a table (tokens, positions) are any of its
 * rows, as the pass "quantize" finds them; other integers and truth values are 1: a mask that hides
 * nothing. Open sizes are RANDOM_OPEN, the first of an input (mostly a batch) 1, those of a past
 * 0; where the model refuses that, RANDOM_LONG, as sound needs it, or 1. */
#include "compile/quantize_run.h"

#include "base/half.h"

#include <string.h>

enum { RANDOM_OPEN = 64, RANDOM_LONG = 512, RANDOM_TRIES = 4, RANDOM_BYTES = 1 << 28 };

/* What a try takes for open sizes. */
typedef struct random_sizes {
    int64_t open, past;
} random_sizes;

static const random_sizes random_try[RANDOM_TRIES] = {
    {RANDOM_OPEN, 0}, {RANDOM_LONG, 0}, {1, 0}, {1, 1}};

static int64_t random_size(const holo_port *port, int32_t k, const random_sizes *sizes)
{
    if (port->dim[k] >= 0) return port->dim[k];
    const char *name = port->dim_name[k];
    if (name != NULL && strstr(name, "past") != NULL && strpbrk(name, "+ ") == NULL)
        return sizes->past;
    return k == 0 && port->rank > 1 ? 1 : sizes->open;
}

static uint32_t random_next(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

static void random_fill(holo_tensor *t, int64_t rows, uint32_t *state)
{
    const size_t bytes = holo_tensor_bytes(t), each = hg_dtype_bits(t->dtype) / 8;
    uint8_t *data = t->data;
    for (size_t at = 0; each != 0 && at < bytes; at += each) {
        const uint32_t bits = random_next(state);
        const float x = (float)bits / 2147483648.0f - 1;
        const uint16_t half = t->dtype == HOLO_F16 ? hg_f32_to_f16(x) : hg_f32_to_bf16(x);
        const uint64_t row = rows == 0 ? 1 : ((uint64_t)bits * (uint64_t)rows) >> 32;
        if (t->dtype == HOLO_F32)
            memcpy(data + at, &x, sizeof x);
        else if (t->dtype == HOLO_F16 || t->dtype == HOLO_BF16)
            memcpy(data + at, &half, sizeof half);
        else if (hg_dtype_in(t->dtype, HG_TYPES_INT | HG_TYPES_BOOL))
            memcpy(data + at, &row, each); /* little-endian, as every file is */
    }
}

/* A sample with sizes of try k. */
static holo_status random_make(hg_compile *c, const struct hg_quantize_run *r,
                               const holo_model *model, int k, holo_sample *out)
{
    const uint32_t n = holo_model_input_count(model, 0);
    uint32_t state = 7;
    holo_tensor *t;
    const char **name;
    HG_TRY(HG_NEW(&c->ctx, n + 1, &t));
    HG_TRY(HG_NEW(&c->ctx, n + 1, &name));
    for (uint32_t i = 0; i < n; i++) {
        holo_port port;
        HG_TRY(holo_model_input(model, 0, i, &port));
        name[i] = port.name;
        t[i] = (holo_tensor){.rank = port.rank < 0 ? 0 : port.rank, .dtype = port.dtype};
        for (int32_t d = 0; d < t[i].rank; d++)
            t[i].dim[d] = random_size(&port, d, &random_try[k]);
        const size_t bytes = holo_tensor_bytes(&t[i]);
        if (port.dtype == HOLO_STRING || port.dtype >= HOLO_SEQUENCE)
            return hg_fail(c->ctx.error, HOLO_E_UNSUPPORTED,
                           "input '%s' has a type without random numbers", port.name);
        if (bytes > RANDOM_BYTES)
            return hg_fail(c->ctx.error, HOLO_E_LIMIT, "input '%s' has too many bytes", port.name);
        t[i].data = hg_arena_alloc(&c->ctx.arena, bytes + 1);
        if (t[i].data == NULL) return hg_fail_nomem(c->ctx.error, bytes);
        random_fill(&t[i], i < r->q.n_input ? r->q.rows[i] : 0, &state);
    }
    *out = (holo_sample){name, t, n};
    return HOLO_OK;
}

holo_status hg_quantize_random(hg_compile *c, const struct hg_quantize_run *r, hg_sampler *s,
                               holo_sample *out, bool *found)
{
    holo_error *e = c->ctx.error;
    holo_error why = {0};
    *found = false;
    for (int k = 0; k < RANDOM_TRIES && !*found; k++) {
        why = (holo_error){0};
        c->ctx.error = &why;
        holo_status status = random_make(c, r, s->model, k, out);
        if (status == HOLO_OK) status = hg_sampler_run(s, &c->ctx, out, 0);
        c->ctx.error = e;
        *found = status == HOLO_OK;
        if (status == HOLO_E_NOMEM && k + 1 == RANDOM_TRIES)
            return hg_fail(e, status, "%s", why.message);
    }
    if (!*found)
        hg_log(&c->ctx, HOLO_LOG_WARNING,
               "errors are not measured: the model refuses random inputs (%s); --calibrate gives "
               "others",
               why.message);
    return HOLO_OK;
}
