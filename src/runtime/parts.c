/* parts.c - steps that write into parts of a value: what else they read or write there must lie
 * beside the part.
 *
 * Kernels rely on it that no operand changes while they run. Where values lie of their own, that
 * follows from lifetimes; two views of one value can overlap when a file says so. */
#include "runtime/session.h"

/* Both have addresses, in the same value. */
static bool parts_overlap(const holo_tensor *a, const holo_tensor *b)
{
    const uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    const size_t x_bytes = holo_tensor_bytes(a), y_bytes = holo_tensor_bytes(b);
    return x_bytes != 0 && y_bytes != 0 && (x < y ? y - x < x_bytes : x - y < y_bytes);
}

/* `count` operands of step i, one of which may be the part itself, at place `self`. */
static holo_status parts_check(const holo_session *s, uint32_t i, uint32_t part,
                               const uint32_t *operand, uint32_t count, uint32_t self,
                               holo_error *e)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t v = operand[k];
        if (v == 0 || k == self || hg_program_root(p, v) != p->value[part].ref) continue;
        HG_REQUIRE(e, !parts_overlap(hg_session_tensor(s, part), hg_session_tensor(s, v)),
                   HOLO_E_FORMAT,
                   "step %u writes value %u, which overlaps value %u that it uses too", i, part, v);
    }
    return HOLO_OK;
}

holo_status hg_session_check_parts(const holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    const uint32_t *out = p->list + r->out;
    for (uint32_t k = 0; k < r->n_out; k++) {
        if (out[k] == 0 || p->value[out[k]].storage != HG_STORAGE_ALIAS) continue;
        HG_TRY(parts_check(s, i, out[k], p->list + r->in, r->n_in, UINT32_MAX, e));
        HG_TRY(parts_check(s, i, out[k], out, r->n_out, k, e));
    }
    return HOLO_OK;
}
