/* derive.c - what follows from a verified program: order of definition, lifetimes, buffers, what is
 * late.
 *
 * A buffer is a set of values that share memory: a value, views of it, and results computed in
 * place. It lives from its first definition to the last use of any member.
 *
 * Steps may write views: then what they are views of is made of parts, by several steps, and by no
 * step as a whole. */
#include "isa/deep.h"
#include "runtime/model.h"

#define DERIVE(condition, ...) HG_REQUIRE(e, condition, HOLO_E_FORMAT, __VA_ARGS__)

enum { DERIVE_UNDEFINED = UINT32_MAX, DERIVE_BEFORE = UINT32_MAX - 1 };

typedef struct derive {
    hg_model_graph *g;
    const hg_program *p;
    uint32_t *defined;      /* per value: its step, BEFORE the first one, or UNDEFINED */
    uint32_t *last_use;     /* per value */
    uint32_t *symbol_ready; /* per symbol */
} derive;

size_t hg_model_derived_bytes(const hg_program_head *head)
{
    size_t words = (size_t)head->n_dim * 2 + (size_t)head->n_value * 6 + head->n_symbol +
                   (size_t)head->n_step + 64; /* 64: rounding of 12 arrays and n_step + 1 */
    size_t bytes = head->n_value + head->n_step + 64;
    return hg_align_up(words * sizeof(uint32_t) + bytes, 16);
}

static void *derive_take(uint8_t **at, size_t count, size_t size)
{
    void *p = *at;
    *at += hg_align_up(count * size, 8);
    return p;
}

/* A view that a step writes is there when that is done, others when all they lie in has begun. */
static bool derive_usable(const derive *d, uint32_t value, uint32_t step)
{
    uint32_t at = d->defined[value];
    if (at == DERIVE_UNDEFINED) at = d->defined[hg_program_root(d->p, value)];
    return at == DERIVE_BEFORE || (at != DERIVE_UNDEFINED && at < step);
}

static bool derive_is_control(const hg_step_rec *r)
{
    return r->op == HG_STEP_IF || r->op == HG_STEP_LOOP;
}

/* Step s finds sizes of its outputs. */
static bool derive_finds(const derive *d, uint32_t s)
{
    const hg_step_rec *r = &d->p->step[s];
    if (derive_is_control(r)) return true;
    return r->op == HG_STEP_KERNEL && d->g->reference[r->kernel]->size != NULL;
}

static bool derive_writes(const derive *d, uint32_t s, uint32_t value)
{
    const hg_step_rec *r = &d->p->step[s];
    bool writes = false;
    for (uint32_t k = 0; k < r->n_out; k++)
        writes |= d->p->list[r->out + k] == value;
    return writes;
}

/* Step s computes value v, which may be a part of another one. */
static holo_status derive_define(derive *d, uint32_t s, uint32_t v, holo_error *e)
{
    const uint32_t root = hg_program_root(d->p, v);
    DERIVE(d->defined[v] == DERIVE_UNDEFINED, "step %u computes value %u a second time", s, v);
    d->defined[v] = s;
    d->last_use[root] = s;
    if (root == v) return HOLO_OK;
    d->g->has_parts = true;
    if (d->defined[root] == DERIVE_UNDEFINED) d->defined[root] = s;
    DERIVE(!derive_writes(d, d->defined[root], root),
           "step %u writes a part of value %u, which another step computes", s, root);
    return HOLO_OK;
}

/* Definitions and uses in step order. */
static holo_status derive_order(derive *d, holo_error *e)
{
    const hg_program *p = d->p;
    for (uint32_t v = 1; v < p->head.n_value; v++) {
        const hg_value_rec *r = &p->value[v];
        d->defined[v] = r->storage == HG_STORAGE_INPUT || r->storage == HG_STORAGE_WEIGHT
                            ? DERIVE_BEFORE
                            : DERIVE_UNDEFINED;
    }
    for (uint32_t s = 0; s < p->head.n_step; s++) {
        const hg_step_rec *r = &p->step[s];
        for (uint32_t k = 0; k < r->n_in; k++) {
            uint32_t v = p->list[r->in + k];
            if (v == 0) continue;
            DERIVE(derive_usable(d, v, s), "step %u reads value %u before it is computed", s, v);
            d->last_use[hg_program_root(d->p, v)] = s;
        }
        for (uint32_t k = 0; k < r->n_out; k++) {
            uint32_t v = p->list[r->out + k];
            if (v != 0) HG_TRY(derive_define(d, s, v, e));
        }
        d->g->n_param += r->n_param;
        d->g->n_control += derive_is_control(r);
        if (r->n_out > d->g->max_out) d->g->max_out = r->n_out;
    }
    for (uint32_t i = 0; i < p->head.n_out; i++) {
        uint32_t v = p->out[i].value;
        DERIVE(derive_usable(d, v, p->head.n_step), "output %u is never computed", i);
        d->last_use[hg_program_root(d->p, v)] = p->head.n_step;
    }
    return HOLO_OK;
}

/* When each symbol gets its number. */
static holo_status derive_symbols(derive *d, holo_error *e)
{
    const hg_program *p = d->p;
    for (uint32_t i = 0; i < p->head.n_symbol; i++) {
        const hg_symbol_rec *y = &p->symbol[i];
        d->symbol_ready[i] = HG_NEVER;
        if (y->kind != HG_SYMBOL_SIZE) continue;
        uint32_t s = d->defined[y->value];
        DERIVE(s < p->head.n_step && derive_finds(d, s),
               "symbol %u is a size of value %u, whose size is not found at run time", i, y->value);
        uint32_t axis_dim = p->list[p->value[y->value].dims + y->index];
        DERIVE(p->dim[axis_dim].op == HG_DIM_SYMBOL && p->dim[axis_dim].value == i,
               "symbol %u is not dimension %u of value %u", i, y->index, y->value);
        d->symbol_ready[i] = s + 1;
    }
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        const hg_value_rec *v = &p->value[p->in[i].value];
        for (int32_t k = 0; k < v->rank; k++) {
            const hg_dim_rec *r = &p->dim[p->list[v->dims + (uint32_t)k]];
            if (r->op == HG_DIM_SYMBOL && p->symbol[r->value].kind == HG_SYMBOL_INPUT)
                d->symbol_ready[r->value] = 0;
        }
    }
    for (uint32_t s = 0; s < p->head.n_step; s++) {
        const hg_step_rec *r = &p->step[s];
        if (r->op != HG_STEP_BIND) continue;
        for (uint32_t k = 0; k < r->n_param; k++)
            d->symbol_ready[p->list[r->param + k]] = s + 1;
    }
    return HOLO_OK;
}

static uint32_t derive_later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void derive_dims(derive *d)
{
    const hg_program *p = d->p;
    uint32_t *ready = d->g->dim_ready;
    for (uint32_t i = 1; i < p->head.n_dim; i++) {
        const hg_dim_rec *r = &p->dim[i];
        if (r->op == HG_DIM_CONST)
            ready[i] = 0;
        else if (r->op == HG_DIM_SYMBOL)
            ready[i] = d->symbol_ready[r->value];
        else
            ready[i] = derive_later(derive_later(ready[r->a], ready[r->b]),
                                    r->op == HG_DIM_SELECT ? ready[r->c] : 0);
    }
    for (uint32_t v = 1; v < p->head.n_value; v++) {
        const hg_value_rec *r = &p->value[v];
        uint32_t at = r->rank < 0 ? derive_later(1, d->defined[hg_program_root(d->p, v)] + 1) : 0;
        for (int32_t k = 0; k < r->rank; k++)
            at = derive_later(at, ready[p->list[r->dims + (uint32_t)k]]);
        if (r->storage == HG_STORAGE_ALIAS)
            at = derive_later(at, derive_later(d->g->value_ready[r->ref], ready[r->offset]));
        /* How much lies behind the elements is found by the step. */
        if (hg_is_deep((holo_dtype)r->dtype) && d->defined[v] < p->head.n_step &&
            derive_finds(d, d->defined[v]))
            at = derive_later(at, d->defined[v] + 1);
        d->g->value_ready[v] = at;
    }
}

/* Late dims grouped by the step that makes them known: a counting sort. */
static void derive_late_dims(derive *d)
{
    hg_model_graph *g = d->g;
    uint32_t n_step = d->p->head.n_step, total = 0;
    for (uint32_t i = 1; i < d->p->head.n_dim; i++)
        if (g->dim_ready[i] != 0 && g->dim_ready[i] <= n_step) g->late_first[g->dim_ready[i] - 1]++;
    for (uint32_t s = 0; s <= n_step; s++) {
        uint32_t count = g->late_first[s];
        g->late_first[s] = total;
        total += count;
    }
    g->n_late_dim = total;
    for (uint32_t i = 1; i < d->p->head.n_dim; i++)
        if (g->dim_ready[i] != 0 && g->dim_ready[i] <= n_step)
            g->late_dim[g->late_first[g->dim_ready[i] - 1]++] = i;
    for (uint32_t s = n_step; s > 0; s--)
        g->late_first[s] = g->late_first[s - 1];
    g->late_first[0] = 0;
}

/* Sizes are known when a step needs them; marks the late ones. */
static holo_status derive_readiness(derive *d, holo_error *e)
{
    const hg_program *p = d->p;
    hg_model_graph *g = d->g;
    for (uint32_t i = 0; i < p->head.n_in; i++)
        DERIVE(g->value_ready[p->in[i].value] == 0, "the size of input %u depends on the run", i);
    for (uint32_t s = 0; s < p->head.n_step; s++) {
        const hg_step_rec *r = &p->step[s];
        bool sizes = derive_finds(d, s);
        uint32_t latest = sizes && !derive_is_control(r) ? 1 : 0;
        for (uint32_t k = 0; k < r->n_in; k++) {
            uint32_t at = g->value_ready[p->list[r->in + k]];
            DERIVE(at <= s, "step %u needs the size of value %u before it is known", s,
                   p->list[r->in + k]);
            latest = derive_later(latest, at);
        }
        for (uint32_t k = 0; k < r->n_out; k++) {
            uint32_t at = g->value_ready[p->list[r->out + k]];
            DERIVE(at <= s + (sizes ? 1 : 0),
                   "step %u needs the size of value %u before it is known", s, p->list[r->out + k]);
            const uint32_t root = hg_program_root(d->p, p->list[r->out + k]);
            DERIVE(root == p->list[r->out + k] || (at == 0 && !sizes && g->value_ready[root] == 0),
                   "step %u writes a part of value %u, whose size depends on the run", s, root);
            latest = derive_later(latest, at);
        }
        for (uint32_t k = 0; k < r->n_param && r->op != HG_STEP_BIND; k++) {
            uint32_t at = g->dim_ready[p->list[r->param + k]];
            DERIVE(at <= s, "step %u needs parameter %u before it is known", s, k);
            latest = derive_later(latest, at);
        }
        g->step_late[s] = latest != 0;
        g->has_late |= latest != 0;
    }
    for (uint32_t i = 0; i < p->head.n_out; i++)
        DERIVE(g->value_ready[p->out[i].value] <= p->head.n_step,
               "the size of output %u is never known", i);
    return HOLO_OK;
}

static bool derive_same_dims(const hg_program *p, const hg_value_rec *a, const hg_value_rec *b)
{
    if (a->rank < 0 || a->rank != b->rank) return false;
    if (a->dtype != b->dtype &&
        hg_dtype_bits((holo_dtype)a->dtype) != hg_dtype_bits((holo_dtype)b->dtype))
        return false;
    for (int32_t k = 0; a->dims != b->dims && k < a->rank; k++)
        if (p->list[a->dims + (uint32_t)k] != p->list[b->dims + (uint32_t)k]) return false;
    return true;
}

/* The input whose memory output v of an in-place kernel may take over at step s, or 0: it dies
 * here, has the same size, starts its buffer, and no other operand shares its memory. */
static uint32_t derive_in_place(const derive *d, uint32_t s, uint32_t v)
{
    const hg_program *p = d->p;
    const hg_step_rec *r = &p->step[s];
    for (uint32_t k = 0; k < r->n_in; k++) {
        uint32_t in = p->list[r->in + k];
        uint32_t buffer = in == 0 ? 0 : d->g->value_buffer[hg_program_root(d->p, in)];
        if (buffer == 0 || d->g->buffer_last[buffer - 1] != s) continue;
        if (!derive_same_dims(p, &p->value[in], &p->value[v])) continue;
        if (hg_program_root(d->p, in) != in && p->value[in].offset != 0) continue;
        bool shared = false;
        for (uint32_t other = 0; other < r->n_in; other++) {
            uint32_t o = p->list[r->in + other];
            shared |= o != 0 && o != in && d->g->value_buffer[hg_program_root(d->p, o)] == buffer;
        }
        if (!shared) return buffer;
    }
    return 0;
}

/* The first part of a value: from here on all of it has a place. */
static void derive_part(derive *d, uint32_t s, uint32_t whole)
{
    hg_model_graph *g = d->g;
    g->value_buffer[whole] = ++g->n_buffer;
    g->buffer_first[g->n_buffer - 1] = s;
    g->buffer_last[g->n_buffer - 1] = d->last_use[whole];
}

static void derive_buffers(derive *d)
{
    const hg_program *p = d->p;
    hg_model_graph *g = d->g;
    for (uint32_t s = 0; s < p->head.n_step; s++) {
        const hg_step_rec *r = &p->step[s];
        bool in_place =
            r->op == HG_STEP_KERNEL &&
            (g->kernel[r->kernel]->flags & g->reference[r->kernel]->flags & HG_KERNEL_INPLACE) != 0;
        for (uint32_t k = 0; k < r->n_out; k++) {
            uint32_t v = p->list[r->out + k];
            if (v == 0 || g->value_buffer[hg_program_root(d->p, v)] != 0) continue;
            if (hg_program_root(d->p, v) != v) {
                derive_part(d, s, hg_program_root(d->p, v));
                continue;
            }
            bool late = g->value_ready[v] != 0;
            uint32_t buffer = in_place && k == 0 && !late ? derive_in_place(d, s, v) : 0;
            if (buffer == 0 || g->buffer_late[buffer - 1]) {
                buffer = ++g->n_buffer;
                g->buffer_first[buffer - 1] = s;
                g->buffer_late[buffer - 1] = late;
            }
            g->value_buffer[v] = buffer;
            /* Elements of other values may point to what lies behind these. */
            bool stays = late && hg_is_deep((holo_dtype)p->value[v].dtype);
            g->buffer_last[buffer - 1] = stays ? p->head.n_step : d->last_use[v];
        }
    }
    for (uint32_t v = 1; v < p->head.n_value; v++)
        g->value_buffer[v] = g->value_buffer[hg_program_root(d->p, v)];
}

enum { DERIVE_APART = HG_NEVER - 1 };

/* A tensor that one step gives, or a weight, lies where that step, or the first that reads it, has
 * its operands: others have copies. Apart lie those that are views, that callers can bind to
 * other memory, and that are known only during the run. */
static void derive_slots(derive *d)
{
    const hg_program *p = d->p;
    uint32_t *slot = d->last_use, at = 0;
    d->g->value_slot = slot;
    memset(slot, 0xff, p->head.n_value * sizeof *slot); /* HG_NEVER */
    for (uint32_t i = 0; i < p->head.n_out; i++)
        slot[p->out[i].value] = DERIVE_APART;
    for (uint32_t s = 0; s < p->head.n_step; s++) {
        const hg_step_rec *r = &p->step[s];
        const bool is_fixed = r->op == HG_STEP_KERNEL && !d->g->step_late[s];
        at = hg_model_first_slot(d->g, s, at);
        for (uint32_t k = 0; is_fixed && k < (uint32_t)r->n_in + r->n_out; k++) {
            const uint32_t v = p->list[k < r->n_in ? r->in + k : r->out + (k - r->n_in)];
            const uint8_t home = k < r->n_in ? HG_STORAGE_WEIGHT : HG_STORAGE_ARENA;
            if (v != 0 && slot[v] == HG_NEVER && p->value[v].storage == home) slot[v] = at + k;
        }
        at += (uint32_t)r->n_in + r->n_out;
    }
    d->g->n_slot = at;
    for (uint32_t v = 0; v < p->head.n_value; v++)
        if (slot[v] >= DERIVE_APART) slot[v] = d->g->n_slot++;
}

/* Whether any size can depend on the run. If not, every "ready" is 0, as the block is. */
static bool derive_may_be_late(const derive *d)
{
    const hg_program *p = d->p;
    bool late = d->g->n_control != 0;
    for (uint32_t i = 0; i < p->head.n_symbol; i++)
        late |= d->symbol_ready[i] != 0;
    for (uint32_t i = 0; i < p->head.n_kernel; i++)
        late |= d->g->reference[i]->size != NULL;
    for (uint32_t v = 1; v < p->head.n_value; v++)
        late |= p->value[v].rank < 0;
    return late;
}

holo_status hg_model_derive(hg_model_graph *g, void *block, holo_error *e)
{
    const hg_program_head *h = &g->program.head;
    uint8_t *at = block;
    derive d = {.g = g, .p = &g->program};
    g->dim_ready = derive_take(&at, h->n_dim, 4);
    g->late_dim = derive_take(&at, h->n_dim, 4);
    g->value_ready = derive_take(&at, h->n_value, 4);
    g->value_buffer = derive_take(&at, h->n_value, 4);
    g->buffer_first = derive_take(&at, h->n_value, 4);
    g->buffer_last = derive_take(&at, h->n_value, 4);
    d.defined = derive_take(&at, h->n_value, 4);
    d.last_use = derive_take(&at, h->n_value, 4);
    d.symbol_ready = derive_take(&at, h->n_symbol, 4);
    g->late_first = derive_take(&at, h->n_step + 1, 4);
    g->buffer_late = derive_take(&at, h->n_value, 1);
    g->step_late = derive_take(&at, h->n_step, 1);
    HG_TRY(derive_order(&d, e));
    HG_TRY(derive_symbols(&d, e));
    if (derive_may_be_late(&d)) {
        derive_dims(&d);
        HG_TRY(derive_readiness(&d, e));
        derive_late_dims(&d);
    }
    derive_buffers(&d);
    derive_slots(&d);
    return HOLO_OK;
}
