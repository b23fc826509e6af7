/* prefix.c - finds the parts of a program that read some of its inputs only, and answers them from
 * a memo. Exact by construction: a part's steps depend on its inputs and nothing else, sizes and
 * random numbers (whose seeds are in the program) included. */
#include "runtime/prefix.h"

#include "base/hash.h"
#include "isa/deep.h"

/* Sets of inputs: a bit each, the last but one for all that are left. The last bit is what cannot
 * be kept: sizes that depend on data, texts, containers. */
enum { PREFIX_BITS = 62 };
static const uint64_t prefix_never = UINT64_C(1) << 63;

static bool prefix_within(uint64_t set, uint64_t in)
{
    return (set & ~in) == 0;
}

static uint64_t prefix_bit(uint32_t i)
{
    return UINT64_C(1) << (i < PREFIX_BITS ? i : PREFIX_BITS);
}

/* ---- finding --------------------------------------------------------------------------------- */

typedef struct prefix_search {
    hg_prefix *x;
    const hg_model_graph *g;
    const hg_program *p;
    uint64_t *value; /* per value, of roots: what they depend on */
    uint64_t *owner; /* per symbol: inputs that have it as a size */
    uint64_t *dim;   /* per dim: symbols in it, sets like those of inputs */
} prefix_search;

static void prefix_sizes(prefix_search *f)
{
    const hg_program *p = f->p;
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        const hg_value_rec *v = &p->value[p->in[i].value];
        for (int32_t k = 0; k < v->rank; k++) {
            const hg_dim_rec *r = &p->dim[p->list[v->dims + (uint32_t)k]];
            if (r->op == HG_DIM_SYMBOL) f->owner[r->value] |= prefix_bit(i);
        }
    }
    for (uint32_t d = 1; d < p->head.n_dim; d++) {
        const hg_dim_rec *r = &p->dim[d];
        if (r->op == HG_DIM_SYMBOL)
            f->dim[d] = prefix_bit((uint32_t)r->value);
        else if (r->op != HG_DIM_CONST)
            f->dim[d] = f->dim[r->a] | f->dim[r->b] | (r->op == HG_DIM_SELECT ? f->dim[r->c] : 0);
    }
}

/* Inputs of `set` say how large these symbols are; where none does, one is added. */
static uint64_t prefix_add_sizes(const prefix_search *f, uint64_t set, uint64_t symbols)
{
    for (uint32_t i = 0; i < f->p->head.n_symbol && symbols != 0; i++) {
        if ((symbols & prefix_bit(i)) == 0) continue;
        if (i < PREFIX_BITS) symbols &= ~prefix_bit(i);
        if (f->owner[i] == 0) return set | prefix_never; /* found during a run */
        if ((set & f->owner[i]) == 0) set |= f->owner[i] & (0 - f->owner[i]);
    }
    return set;
}

static uint64_t prefix_value_symbols(const prefix_search *f, uint32_t v)
{
    const hg_value_rec *r = &f->p->value[v];
    uint64_t symbols = r->storage == HG_STORAGE_ALIAS ? f->dim[r->offset] : 0;
    for (int32_t k = 0; k < r->rank; k++)
        symbols |= f->dim[f->p->list[r->dims + (uint32_t)k]];
    return symbols;
}

/* The set that step s depends on. */
static uint64_t prefix_step(const prefix_search *f, uint32_t s)
{
    const hg_program *p = f->p;
    const hg_step_rec *r = &p->step[s];
    uint64_t set = 0, symbols = 0;
    if (f->g->step_late[s] || r->op == HG_STEP_BIND) return prefix_never;
    for (uint32_t k = 0; k < (uint32_t)r->n_in + r->n_out; k++) {
        const uint32_t v = p->list[k < r->n_in ? r->in + k : r->out + k - r->n_in];
        if (v == 0) continue;
        if (hg_is_deep((holo_dtype)p->value[v].dtype) || f->g->value_ready[v] != 0)
            return prefix_never;
        if (k < r->n_in) set |= f->value[hg_program_root(p, v)];
        symbols |= prefix_value_symbols(f, v);
    }
    for (uint32_t k = 0; k < r->n_param; k++)
        symbols |= f->dim[p->list[r->param + k]];
    return prefix_add_sizes(f, set, symbols);
}

static void prefix_add_set(hg_prefix *x, uint64_t set)
{
    uint32_t i = 0;
    while (i < x->n_set && x->set[i] != set)
        i++;
    if (i == x->n_set && i < HG_PREFIX_SETS) x->set[x->n_set++] = set;
}

/* What every step depends on, in order, then who reads what. */
static void prefix_search_steps(prefix_search *f)
{
    const hg_program *p = f->p;
    hg_prefix *x = f->x;
    uint64_t all = 0;
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        f->value[p->in[i].value] = prefix_bit(i);
        all |= prefix_bit(i);
    }
    for (uint32_t s = 0; s < p->head.n_step; s++) {
        const hg_step_rec *r = &p->step[s];
        const uint64_t set = x->step_inputs[s] = prefix_step(f, s);
        for (uint32_t k = 0; k < r->n_in; k++)
            x->readers[hg_program_root(p, p->list[r->in + k])] |= set;
        for (uint32_t k = 0; k < r->n_out; k++)
            f->value[hg_program_root(p, p->list[r->out + k])] |= set;
        if (set != all && (set & prefix_never) == 0) prefix_add_set(x, set);
    }
    for (uint32_t i = 0; i < p->head.n_out; i++)
        x->readers[hg_program_root(p, p->out[i].value)] |= UINT64_MAX;
}

static void *prefix_take(uint8_t **at, size_t count, size_t size)
{
    void *p = *at;
    *at += hg_align_up(count * size, HG_ALIGN);
    return p;
}

static holo_status prefix_before(hg_prefix *x, const holo_session *s, uint32_t step, bool *known,
                                 holo_error *e);
static void prefix_after(hg_prefix *x, const holo_session *s, uint32_t step);

size_t hg_prefix_init(hg_prefix *x, const hg_model_graph *g, void *memory, size_t bytes,
                      hg_memo_store *store)
{
    const hg_program_head *h = &g->program.head;
    prefix_search f = {.x = x, .g = g, .p = &g->program};
    *x = (hg_prefix){.before = prefix_before, .after = prefix_after, .store = store};
    uint8_t *at = memory;
    const size_t words = (size_t)h->n_step + 2 * (size_t)h->n_value + h->n_symbol + h->n_dim;
    const size_t need = words * sizeof(uint64_t) + h->n_in * sizeof *x->key + 6 * HG_ALIGN;
    if (need > bytes / 2) return 0; /* answers are worth more than what finds them */
    memset(memory, 0, need);
    x->step_inputs = prefix_take(&at, h->n_step, sizeof *x->step_inputs);
    x->readers = prefix_take(&at, h->n_value, sizeof *x->readers);
    x->key = prefix_take(&at, h->n_in, sizeof *x->key);
    const size_t kept = (size_t)(at - (uint8_t *)memory);
    f.value = prefix_take(&at, h->n_value, sizeof *f.value);
    f.owner = prefix_take(&at, h->n_symbol, sizeof *f.owner);
    f.dim = prefix_take(&at, h->n_dim, sizeof *f.dim);
    prefix_sizes(&f);
    prefix_search_steps(&f);
    return x->n_set == 0 ? 0 : kept;
}

/* ---- results of a part ------------------------------------------------------------------------
 */

/* Output k of a step of the part is read outside of it. */
static bool prefix_gives(const hg_prefix *x, const hg_program *p, uint64_t set, uint32_t step,
                         uint32_t k)
{
    const uint32_t v = p->list[p->step[step].out + k];
    return v != 0 && !prefix_within(x->readers[hg_program_root(p, v)], set);
}

static size_t prefix_answer_bytes(const hg_prefix *x, const holo_session *s, uint64_t set)
{
    const hg_program *p = &s->graph->program;
    size_t all = 0;
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        if (!prefix_within(x->step_inputs[i], set)) continue;
        for (uint32_t k = 0; k < p->step[i].n_out; k++)
            if (prefix_gives(x, p, set, i, k) &&
                !hg_add_size(all, hg_memo_bytes(&hg_step_out(&s->step[i])[k], 1), &all))
                return SIZE_MAX;
    }
    return all;
}

static holo_status prefix_before(hg_prefix *x, const holo_session *s, uint32_t step, bool *known,
                                 holo_error *e)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t i = 0; i < x->n_part; i++) {
        hg_prefix_part *part = &x->part[i];
        if (part->state != HG_PREFIX_KNOWN || !prefix_within(x->step_inputs[step], part->inputs))
            continue;
        *known = true;
        for (uint32_t k = 0; k < p->step[step].n_out; k++) {
            if (!prefix_gives(x, p, part->inputs, step, k)) continue;
            holo_tensor *t = &hg_step_out(&s->step[step])[k];
            if (!hg_memo_store_is_form(x->store, part->at, t))
                return hg_model_blame(
                    p, step,
                    hg_fail(e, HOLO_E_BUG,
                            "output %u has %zu bytes, the run that is remembered for the same "
                            "inputs gave %llu",
                            k, holo_tensor_bytes(t),
                            (unsigned long long)hg_memo_store_form(x->store, part->at).bytes),
                    e);
            hg_memo_store_get(x->store, &part->at, t);
        }
    }
    return HOLO_OK;
}

static void prefix_after(hg_prefix *x, const holo_session *s, uint32_t step)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t i = 0; i < x->n_part; i++) {
        hg_prefix_part *part = &x->part[i];
        if (part->state != HG_PREFIX_KEPT || !prefix_within(x->step_inputs[step], part->inputs))
            continue;
        for (uint32_t k = 0; k < p->step[step].n_out; k++)
            if (prefix_gives(x, p, part->inputs, step, k))
                hg_memo_store_put(x->store, &part->at, &hg_step_out(&s->step[step])[k]);
    }
}

/* ---- which parts pay --------------------------------------------------------------------------
 */

/* Nanoseconds as bind.c counts them. What moves data without saying how much may read little of a
 * large table. */
static double prefix_step_ns(const holo_session *s, uint32_t i)
{
    const hg_step_run *r = &s->step[i];
    const hg_cost cost = hg_session_cost(s, r);
    double bytes = cost.bytes;
    if (r->kernel == NULL || r->kernel->cost == NULL) {
        bytes = 0;
        for (uint32_t k = 0; k < r->n_out; k++)
            if (hg_step_out(r)[k].dtype != HOLO_NONE)
                bytes += 2 * (double)holo_tensor_bytes(&hg_step_out(r)[k]);
    }
    return cost.flops / 20 + bytes / 8;
}

/* Tensors of the key of a set. */
static uint32_t prefix_key(const hg_prefix *x, const holo_session *s, uint64_t set)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->graph->program.head.n_in; i++)
        if ((set & prefix_bit(i)) != 0) x->key[n++] = s->input[i];
    return n;
}

/* Steps of the set that no part inside it has, in nanoseconds. */
static double prefix_gain(const hg_prefix *x, const holo_session *s, uint64_t set)
{
    double ns = 0;
    for (uint32_t i = 0; i < s->graph->program.head.n_step; i++) {
        const uint64_t step = x->step_inputs[i];
        bool covered = !prefix_within(step, set);
        for (uint32_t k = 0; k < x->n_part && !covered; k++)
            covered =
                prefix_within(step, x->part[k].inputs) && prefix_within(x->part[k].inputs, set);
        if (!covered) ns += prefix_step_ns(s, i);
    }
    return ns;
}

/* Hashing and comparing a key, writing and reading an answer must be a small share of the steps. */
static bool prefix_pays(const hg_prefix *x, const holo_session *s, uint64_t set)
{
    const size_t key = hg_memo_bytes(x->key, prefix_key(x, s, set));
    const size_t answer = prefix_answer_bytes(x, s, set);
    const size_t room = (size_t)x->store->count * HG_MEMO_CHUNK;
    if (key > room || answer > room - key) return false;
    return prefix_gain(x, s, set) >= 1000 + 4 * (2 * (double)key + 2 * (double)answer) / 8;
}

static int prefix_size(uint64_t set)
{
    int n = 0;
    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

static void prefix_choose(hg_prefix *x, const holo_session *s)
{
    x->n_part = 0;
    for (int size = 0; size <= PREFIX_BITS + 1; size++)
        for (uint32_t i = 0; i < x->n_set && x->n_part < HG_PREFIX_PARTS; i++)
            if (prefix_size(x->set[i]) == size && prefix_pays(x, s, x->set[i]))
                x->part[x->n_part++] = (hg_prefix_part){.inputs = x->set[i]};
}

/* Costs follow from sizes: they are looked at again when those are others. */
static void prefix_settle(hg_prefix *x, const holo_session *s)
{
    uint64_t sizes = 0;
    for (uint32_t i = 0; i < s->graph->program.head.n_in; i++)
        sizes = hg_hash(s->input[i].dim, (size_t)s->input[i].rank * sizeof s->input[i].dim[0],
                        sizes + 1);
    if (x->is_sized && sizes == x->sizes) return;
    prefix_choose(x, s);
    x->is_sized = true;
    x->sizes = sizes;
}

/* ---- around a run -----------------------------------------------------------------------------
 */

static hg_memo_key prefix_key_of(const hg_prefix *x, const holo_session *s, uint64_t set)
{
    const uint32_t n = prefix_key(x, s, set);
    return (hg_memo_key){
        .hash = hg_memo_hash(x->key, n, set), .set = set, .tensor = x->key, .n = n};
}

/* Lies in a part that is known. */
static bool prefix_is_covered(const hg_prefix *x, uint32_t part)
{
    for (uint32_t i = part + 1; i < x->n_part; i++)
        if (x->part[i].state == HG_PREFIX_KNOWN &&
            prefix_within(x->part[part].inputs, x->part[i].inputs))
            return true;
    return false;
}

/* Every result of the part is computed or put in place by this run. A known part that shares steps
 * with it, and is not inside it, leaves out those that only its own steps read. */
static bool prefix_is_whole(const hg_prefix *x, const holo_session *s, uint64_t set)
{
    for (uint32_t i = 0; i < x->n_part; i++) {
        const uint64_t other = x->part[i].inputs;
        if (x->part[i].state != HG_PREFIX_KNOWN || prefix_within(other, set)) continue;
        for (uint32_t k = 0; k < s->graph->program.head.n_step; k++)
            if (prefix_within(x->step_inputs[k], other & set)) return false;
    }
    return true;
}

static void prefix_find(hg_prefix *x, const holo_session *s, hg_prefix_part *part)
{
    const hg_memo_key key = prefix_key_of(x, s, part->inputs);
    part->item = hg_memo_store_find(x->store, &key);
    if (part->item == 0) {
        x->misses++;
        part->unseen++;
        return;
    }
    x->hits++;
    part->unseen = 0;
    part->state = HG_PREFIX_KNOWN;
    part->at = hg_memo_store_value(x->store, part->item);
    hg_memo_store_hold(x->store, part->item);
}

/* Inputs that are new in every run are not worth a copy each time, but they may begin to repeat. */
enum { PREFIX_PATIENCE = 32 };

static bool prefix_may_repeat(const hg_prefix_part *part)
{
    return part->unseen < PREFIX_PATIENCE || part->unseen % PREFIX_PATIENCE == 0;
}

static void prefix_make_room(hg_prefix *x, const holo_session *s, hg_prefix_part *part)
{
    const hg_memo_key key = prefix_key_of(x, s, part->inputs);
    part->item = hg_memo_store_add(x->store, &key, prefix_answer_bytes(x, s, part->inputs));
    if (part->item == 0) return;
    part->state = HG_PREFIX_KEPT;
    part->at = hg_memo_store_value(x->store, part->item);
    hg_memo_store_hold(x->store, part->item);
}

void hg_prefix_begin(hg_prefix *x, holo_session *s)
{
    bool is_needed = false;
    prefix_settle(x, s);
    for (uint32_t i = x->n_part; i-- > 0;) {
        x->part[i].state = HG_PREFIX_IDLE;
        if (!prefix_is_covered(x, i)) prefix_find(x, s, &x->part[i]);
    }
    for (uint32_t i = 0; i < x->n_part; i++) {
        hg_prefix_part *part = &x->part[i];
        if (part->state == HG_PREFIX_IDLE && prefix_may_repeat(part) &&
            prefix_is_whole(x, s, part->inputs))
            prefix_make_room(x, s, part);
        is_needed |= part->state != HG_PREFIX_IDLE;
    }
    if (is_needed) s->prefix = x;
}

void hg_prefix_end(hg_prefix *x, holo_session *s, bool good)
{
    s->prefix = NULL;
    for (uint32_t i = 0; i < x->n_part; i++) {
        hg_prefix_part *part = &x->part[i];
        if (part->state == HG_PREFIX_IDLE) continue;
        hg_memo_store_release(x->store, part->item);
        if (part->state == HG_PREFIX_KEPT && !good) hg_memo_store_drop(x->store, part->item);
        part->state = HG_PREFIX_IDLE;
    }
}
