/* loop.c - LOOP: carried values go back and forth between two rooms each; collected values are
 * stacked into the output when its size is known, and into late memory that doubles otherwise. */
#include "runtime/control.h"
#include "runtime/settle.h"

#include "isa/deep.h"
#include "kernel/elem.h"

/* ---- rooms ----------------------------------------------------------------------------------- */

/* Makes room `which` hold `bytes` bytes; what is in use there moves along. */
static holo_status loop_room(holo_session *s, uint32_t i, hg_loop_value *v, uint32_t which,
                             size_t bytes, holo_error *e)
{
    void *made;
    if (bytes <= v->size[which]) return HOLO_OK;
    if (bytes > s->limits.tensor_bytes)
        return hg_fail(e, HOLO_E_LIMIT, "a result of the loop has more than %llu bytes",
                       (unsigned long long)s->limits.tensor_bytes);
    size_t size = v->size[which] > bytes / 2 ? 2 * v->size[which] : bytes;
    HG_TRY(hg_settle_take(s, size, i, i, &made, e));
    if (v->used[which] != 0) memcpy(made, v->room[which], v->used[which]);
    if (v->is_late[which]) hg_late_drop(&s->late, v->room[which]);
    v->room[which] = made;
    v->size[which] = size;
    v->is_late[which] = true;
    return HOLO_OK;
}

/* Carried values start with their planned rooms, everything else with none. */
static void loop_reset(holo_session *s, uint32_t i)
{
    hg_control *c = s->step[i].control;
    const holo_tensor *in = s->step[i].in;
    uint8_t *at = c->block.data;
    for (uint32_t k = 0; k < s->graph->program.step[i].n_out; k++) {
        c->value[k] = (hg_loop_value){0};
        if (k >= c->n_carried) continue;
        c->value[k].now = in[2 + k];
        if (s->graph->step_late[i] || hg_is_deep(in[2 + k].dtype)) continue;
        size_t bytes = holo_tensor_bytes(&in[2 + k]);
        if (bytes == 0) continue; /* there may be no block */
        for (uint32_t which = 0; which < 2; which++, at += hg_align_up(bytes, HG_ALIGN)) {
            c->value[k].room[which] = at;
            c->value[k].size[which] = bytes;
        }
    }
}

/* ---- prepare --------------------------------------------------------------------------------- */

static holo_status loop_block(holo_session *s, uint32_t i, holo_error *e)
{
    hg_control *c = s->step[i].control;
    size_t bytes = 0;
    for (uint32_t k = 0; k < c->n_carried; k++) {
        const holo_tensor *t = &s->step[i].in[2 + k];
        size_t one = hg_is_deep(t->dtype) ? 0 : holo_tensor_bytes(t);
        if (one > SIZE_MAX / 8 || !hg_add_size(bytes, 2 * hg_align_up(one, HG_ALIGN), &bytes) ||
            bytes > SIZE_MAX / 4)
            return hg_fail_nomem(e, SIZE_MAX);
    }
    if ((s->flags & HOLO_SESSION_MEASURE) == 0) return hg_session_reserve(s, &c->block, bytes, e);
    if (bytes > c->block.bytes) c->block.bytes = bytes;
    return HOLO_OK;
}

/* The counter, the condition, and everything from the first carried value on. */
static holo_status loop_bind_inputs(holo_session *s, uint32_t i, holo_error *e)
{
    hg_control *c = s->step[i].control;
    holo_tensor iteration = {.data = &c->iteration, .dtype = HOLO_I64};
    holo_tensor condition = {.data = &c->condition, .dtype = HOLO_BOOL};
    HG_TRY(hg_session_bind_input(c->body[0], 0, &iteration, e));
    HG_TRY(hg_session_bind_input(c->body[0], 1, &condition, e));
    for (uint32_t k = 2; k < s->graph->program.step[i].n_in; k++)
        HG_TRY(hg_session_bind_input(c->body[0], k, &s->step[i].in[k], e));
    return HOLO_OK;
}

holo_status hg_loop_prepare(holo_session *s, uint32_t i, holo_error *e)
{
    HG_TRY(loop_block(s, i, e));
    if (loop_bind_inputs(s, i, NULL) == HOLO_OK)
        (void)!holo_session_prepare(s->step[i].control->body[0], NULL);
    return HOLO_OK;
}

/* ---- what an iteration gives ----------------------------------------------------------------- */

static holo_status loop_carry(holo_session *s, uint32_t i, uint32_t k, uint32_t which,
                              holo_error *e)
{
    hg_loop_value *v = &s->step[i].control->value[k];
    holo_tensor from = hg_session_result(s->step[i].control->body[0], 1 + k);
    if (from.data == v->room[which] && from.data != NULL) {
        v->now = from;
        return HOLO_OK;
    }
    HG_TRY(loop_room(s, i, v, which, hg_deep_bytes(&from), e));
    v->now = from;
    v->now.data = v->room[which];
    hg_room room = {NULL, 0};
    if (hg_is_deep(from.dtype)) room = (hg_room){hg_deep_behind(&v->now), hg_deep_extra(&from)};
    if (!hg_deep_copy(&from, &v->now, &room))
        return hg_fail(e, HOLO_E_BUG, "a carried value changed while it was copied");
    return HOLO_OK;
}

/* Items with text or tensors behind them are kept as a list; where they point to moves when that
 * grows. */
static holo_status loop_append(holo_session *s, uint32_t i, hg_loop_value *v,
                               const holo_tensor *item, holo_error *e)
{
    size_t bytes = hg_deep_all(item), all;
    if (!hg_add_size(v->used[1], bytes, &all)) return hg_fail_nomem(e, SIZE_MAX);
    const uint8_t *old = v->room[1];
    HG_TRY(loop_room(s, i, v, 0, v->used[0] + sizeof *item, e));
    HG_TRY(loop_room(s, i, v, 1, all, e));
    holo_tensor *list = (holo_tensor *)(void *)v->room[0];
    size_t count = v->used[0] / sizeof *list;
    if (v->room[1] != old)
        for (size_t k = 0; k < count; k++)
            hg_deep_move(&list[k], v->room[1] - old);
    hg_room room = {bytes == 0 ? NULL : v->room[1] + v->used[1], bytes};
    if (!hg_deep_copy_all(item, &list[count], &room))
        return hg_fail(e, HOLO_E_BUG, "an item changed while it was copied");
    v->used[0] += sizeof *list;
    v->used[1] = all;
    return HOLO_OK;
}

static bool loop_same_item(const holo_tensor *a, const holo_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

/* Bytes of one item; the items of a stack have the same shape. */
static holo_status loop_check_item(hg_loop_value *v, const holo_tensor *item, size_t *bytes,
                                   int64_t iteration, holo_error *e)
{
    if (iteration == 0) v->now = *item;
    if (!loop_same_item(&v->now, item))
        return hg_fail(e, HOLO_E_SHAPE,
                       "what iteration %lld gives to be stacked has another shape than before",
                       (long long)iteration);
    if (item->rank >= HG_MAX_RANK)
        return hg_fail(e, HOLO_E_SHAPE, "a stack would have rank %d, at most %d is allowed",
                       item->rank + 1, HG_MAX_RANK);
    *bytes = holo_tensor_bytes(item);
    return HOLO_OK;
}

static bool loop_fills_bytes(const holo_tensor *item)
{
    return holo_tensor_count(item) * hg_dtype_bits(item->dtype) % 8 == 0;
}

/* An item that begins or ends inside a byte. */
static holo_status loop_pack(holo_session *s, uint32_t i, hg_loop_value *v, const holo_tensor *item,
                             holo_error *e)
{
    const int64_t count = holo_tensor_count(item), before = s->step[i].control->iteration * count;
    const uint32_t bits = hg_dtype_bits(item->dtype);
    const size_t all = ((size_t)(before + count) * bits + 7) / 8;
    HG_TRY(loop_room(s, i, v, 0, all, e));
    if (count == 0) return HOLO_OK; /* there may be no room at all */
    if (all > v->used[0]) memset(v->room[0] + v->used[0], 0, all - v->used[0]);
    v->used[0] = all;
    hg_elem_copy(v->room[0], before, item->data, 0, count, bits);
    return HOLO_OK;
}

/* Where item `iteration` of an output of known size belongs, or NULL. */
static uint8_t *loop_slot(const holo_session *s, uint32_t i, uint32_t k, int64_t iteration,
                          size_t *bytes)
{
    const hg_program *p = &s->graph->program;
    uint32_t v = p->list[p->step[i].out + k];
    const holo_tensor *t = v == 0 || s->graph->value_ready[v] != 0 ? NULL : hg_session_tensor(s, v);
    if (t == NULL || t->rank < 1 || iteration >= t->dim[0]) return NULL;
    if (holo_tensor_count(t) / t->dim[0] * hg_dtype_bits(t->dtype) % 8 != 0) return NULL;
    *bytes = holo_tensor_bytes(t) / (size_t)t->dim[0];
    if (*bytes == 0) return t->data; /* nothing, perhaps nowhere */
    return (uint8_t *)t->data + (size_t)iteration * *bytes;
}

static holo_status loop_collect(holo_session *s, uint32_t i, uint32_t k, holo_error *e)
{
    hg_control *c = s->step[i].control;
    hg_loop_value *v = &c->value[k];
    holo_tensor item = hg_session_result(c->body[0], 1 + k);
    size_t bytes = 0, room = 0, all;
    if (s->step[i].param[1 + k - c->n_carried] == 1) return loop_append(s, i, v, &item, e);
    HG_TRY(loop_check_item(v, &item, &bytes, c->iteration, e));
    if (hg_is_deep(item.dtype)) return loop_append(s, i, v, &item, e);
    if (!loop_fills_bytes(&item)) return loop_pack(s, i, v, &item, e);
    uint8_t *slot = loop_slot(s, i, k, c->iteration, &room);
    if (slot != NULL && room == bytes) {
        if (slot != item.data && bytes != 0) memcpy(slot, item.data, bytes);
        return HOLO_OK;
    }
    if (!hg_add_size(v->used[0], bytes, &all)) return hg_fail_nomem(e, SIZE_MAX);
    HG_TRY(loop_room(s, i, v, 0, all, e));
    if (bytes != 0) memcpy(v->room[0] + v->used[0], item.data, bytes);
    v->used[0] = all;
    return HOLO_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Shape of a stack of nothing: what is known of it. */
static void loop_empty_stack(const holo_session *s, uint32_t i, uint32_t k, holo_tensor *out)
{
    const hg_model_graph *g = s->graph;
    uint32_t v = g->program.list[g->program.step[i].out + k];
    const hg_value_rec *r = &g->program.value[v];
    *out = (holo_tensor){.dtype = (holo_dtype)r->dtype, .rank = r->rank < 1 ? 1 : r->rank};
    for (int32_t axis = 1; v != 0 && axis < out->rank; axis++) {
        uint32_t d = g->program.list[r->dims + (uint32_t)axis];
        if (g->dim_ready[d] <= i) out->dim[axis] = s->dim[d];
    }
}

/* Text of a stack of strings stays where it is until the result is copied. */
static holo_status loop_stack_strings(holo_session *s, uint32_t i, hg_loop_value *v,
                                      holo_tensor *out, holo_error *e)
{
    const holo_tensor *list = (const holo_tensor *)(const void *)v->room[0];
    size_t bytes = holo_tensor_bytes(out), one = holo_tensor_bytes(&v->now);
    void *made;
    if (bytes > s->limits.tensor_bytes) return hg_fail_nomem(e, bytes);
    HG_TRY(hg_settle_take(s, bytes, i, i, &made, e));
    for (int64_t k = 0; k < out->dim[0]; k++)
        if (one != 0) memcpy((uint8_t *)made + (size_t)k * one, list[k].data, one);
    out->data = made;
    return HOLO_OK;
}

static holo_status loop_collected(holo_session *s, uint32_t i, uint32_t k, holo_tensor *out,
                                  holo_error *e)
{
    hg_control *c = s->step[i].control;
    hg_loop_value *v = &c->value[k];
    if (s->step[i].param[1 + k - c->n_carried] == 1) {
        *out = (holo_tensor){
            .data = v->room[0], .dim = {c->iteration}, .rank = 1, .dtype = HOLO_SEQUENCE};
        return HOLO_OK;
    }
    if (c->iteration == 0) {
        loop_empty_stack(s, i, k, out);
        return HOLO_OK;
    }
    *out = v->now;
    out->rank++;
    memmove(out->dim + 1, v->now.dim, (HG_MAX_RANK - 1) * sizeof out->dim[0]);
    out->dim[0] = c->iteration;
    if (hg_is_deep(out->dtype)) return loop_stack_strings(s, i, v, out, e);
    out->data = v->room[0];
    size_t bytes;
    if (v->room[0] == NULL) out->data = loop_slot(s, i, k, 0, &bytes);
    return HOLO_OK;
}

static holo_status loop_read_scalar(const holo_tensor *t, holo_dtype dtype, const char *what,
                                    holo_error *e)
{
    if (t->dtype == dtype && holo_tensor_count(t) == 1) return HOLO_OK;
    return hg_fail(e, HOLO_E_SHAPE, "the %s is %s with %lld elements, expected one %s", what,
                   holo_dtype_text(t->dtype), (long long)holo_tensor_count(t),
                   holo_dtype_text(dtype));
}

static holo_status loop_iterate(holo_session *s, uint32_t i, holo_error *e)
{
    hg_control *c = s->step[i].control;
    uint32_t n_out = s->graph->program.step[i].n_out, which = (uint32_t)c->iteration % 2;
    HG_TRY(hg_session_check(s, e));
    if (s->shared->iterations++ >= s->shared->loop_limit)
        return hg_fail(
            e, HOLO_E_LIMIT,
            "the loops of this run go round more than %llu times (limits.loop_iterations)",
            (unsigned long long)s->shared->loop_limit);
    for (uint32_t k = 0; k < n_out; k++) {
        hg_loop_value *v = &c->value[k];
        size_t bytes = v->size[which];
        uint8_t *place = v->is_late[which] || bytes == 0 ? NULL : v->room[which];
        if (k < c->n_carried)
            HG_TRY(hg_session_bind_input(c->body[0], 2 + k, &v->now, e));
        else
            place = loop_slot(s, i, k, c->iteration, &bytes);
        hg_session_bind_output(c->body[0], 1 + k, place, bytes);
    }
    /* Every turn of every loop draws other random numbers; the top has turn 0. */
    c->body[0]->turn = s->turn * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)c->iteration + 1;
    HG_TRY(hg_session_run(c->body[0], e));
    for (uint32_t k = 0; k < n_out; k++)
        HG_TRY(k < c->n_carried ? loop_carry(s, i, k, which, e) : loop_collect(s, i, k, e));
    holo_tensor condition = hg_session_result(c->body[0], 0);
    HG_TRY(loop_read_scalar(&condition, HOLO_BOOL, "condition", e));
    c->condition = *(const uint8_t *)condition.data != 0;
    c->iteration++;
    return HOLO_OK;
}

holo_status hg_loop_run(holo_session *s, uint32_t i, holo_error *e)
{
    hg_control *c = s->step[i].control;
    const holo_tensor *in = s->step[i].in;
    int64_t trips = INT64_MAX;
    c->iteration = 0;
    c->condition = true;
    if (in[0].dtype != HOLO_NONE) {
        HG_TRY(loop_read_scalar(&in[0], HOLO_I64, "trip count", e));
        trips = *(const int64_t *)in[0].data;
    }
    if (in[1].dtype != HOLO_NONE) {
        HG_TRY(loop_read_scalar(&in[1], HOLO_BOOL, "condition", e));
        c->condition = *(const uint8_t *)in[1].data != 0;
    }
    loop_reset(s, i);
    HG_TRY(loop_bind_inputs(s, i, e));
    while (c->condition && c->iteration < trips)
        HG_TRY(loop_iterate(s, i, e));
    for (uint32_t k = 0; k < s->graph->program.step[i].n_out; k++) {
        if (k < c->n_carried)
            c->found[k] = c->value[k].now;
        else
            HG_TRY(loop_collected(s, i, k, &c->found[k], e));
    }
    return HOLO_OK;
}
