/* synth.c - searches a short program of byte operations that equals a table on all its codes.
 *
 * The search goes forwards. A state says what is wanted of each value that the byte can have so
 * far; an operation leads on when the values it joins want the same. So only operations that join
 * something need trying, and the table itself says with which constants: the ends of constant
 * stretches (saturation, minimum, maximum), bits it does not depend on (masks, shifts), centres of
 * symmetry (absolute value), steps of equal width. One operation that joins nothing (sum,
 * difference, exclusive or, with all constants) may stand before the last. The last one is derived:
 * of most operations one value decides the constant, lists of sixteen are read off, and whether a
 * table is made of a part of each nibble is decided by algebra. What is found is evaluated for
 * every code of the domain before it is believed. */
#include "table/synth.h"

/* States of one search; operations before one that joins nothing, which is tried with all
 * constants.
 */
enum { SYNTH_STATES = 128, SYNTH_BLIND = 2, SYNTH_SYMMETRIES = 8 };

typedef struct synth_state {
    int16_t want[256]; /* by value of the byte; -1: it does not occur */
    uint8_t op[HG_BYTEOPS_MAX], arg[HG_BYTEOPS_MAX];
    uint32_t n, weight;
    uint32_t values; /* that occur */
    bool is_done;
} synth_state;

/* A state as a list, with what the last operations are derived from. */
typedef struct synth_list {
    uint32_t n;
    uint8_t a[256], w[256];
    uint8_t all, any;                   /* bits of all w, of some w */
    uint8_t low, high, low_i8, high_i8; /* smallest and largest w */
    int32_t below, above, inside;       /* some item with w < 255, w > 0, -128 < w < 127; or -1 */
    bool is_mask;                       /* all w are 0 or 255 */
} synth_list;

typedef struct synth {
    const uint8_t *entry;
    hg_alphabet codes;
    uint8_t suffix; /* an operation with the code behind everything, or 0 */
    synth_state *state;
    uint32_t n_state;
    uint32_t best; /* weight of the program so far; what is found must be lighter */
    hg_byteops *program;
    bool found;
} synth;

/* ---- candidates ------------------------------------------------------------------------------
 */

static bool synth_equals(const synth *s, const hg_byteops *p)
{
    for (int64_t k = s->codes.base; k < s->codes.base + s->codes.count; k++)
        if (hg_byteops_at(p, (uint8_t)k) != s->entry[k]) return false;
    return true;
}

static bool synth_append(hg_byteops *p, uint8_t op, uint8_t arg)
{
    if (p->n == HG_BYTEOPS_MAX) return false;
    p->op[p->n] = op;
    p->arg[p->n++] = arg;
    return true;
}

static uint32_t synth_room(const synth *s, const synth_state *from)
{
    const uint32_t used = from->weight + (s->suffix != 0) + 1;
    return s->best > used ? s->best - used : 0;
}

/* The operations of a state, then `more`; kept when that is lighter than what there is and right.
 */
static void synth_offer(synth *s, const synth_state *from, const hg_byteops *more)
{
    hg_byteops p = {.n_list = more->n_list};
    uint32_t weight = from->weight + (s->suffix != 0);
    memcpy(p.list, more->list, sizeof p.list);
    for (uint32_t i = 0; i < from->n; i++)
        if (!synth_append(&p, from->op[i], from->arg[i])) return;
    for (uint32_t i = 0; i < more->n; i++) {
        weight += hg_byteops_weight(more->op[i], more->arg[i]);
        if (!synth_append(&p, more->op[i], more->arg[i])) return;
    }
    if (s->suffix != 0 && !synth_append(&p, s->suffix, 0)) return;
    if (weight >= s->best || !synth_equals(s, &p)) return;
    *s->program = p;
    s->best = weight;
    s->found = true;
}

/* ---- the last operation ----------------------------------------------------------------------
 */

static void synth_list_of(const synth_state *from, synth_list *l)
{
    *l = (synth_list){.all = 255, .low = 255, .low_i8 = 127, .high_i8 = 128, .is_mask = true};
    l->below = l->above = l->inside = -1;
    for (int a = 0; a < 256; a++) {
        if (from->want[a] < 0) continue;
        const uint8_t w = (uint8_t)from->want[a];
        l->a[l->n] = (uint8_t)a;
        l->w[l->n] = w;
        l->all &= w;
        l->any |= w;
        l->low = (uint8_t)hg_min(l->low, w);
        l->high = (uint8_t)hg_max(l->high, w);
        if ((int8_t)w < (int8_t)l->low_i8) l->low_i8 = w;
        if ((int8_t)w > (int8_t)l->high_i8) l->high_i8 = w;
        if (w != 255) l->below = (int32_t)l->n;
        if (w != 0) l->above = (int32_t)l->n;
        if (w != 0 && w != 255) l->is_mask = false;
        if (w != 127 && w != 128) l->inside = (int32_t)l->n;
        l->n++;
    }
}

/* What the last operation sees: the values, after one that joins nothing. */
typedef struct synth_view {
    const synth_list *l;
    uint8_t op, arg; /* op 0: none */
} synth_view;

static uint8_t synth_value(const synth_view *v, uint32_t i)
{
    const uint8_t a = v->l->a[i];
    if (v->op == 0) return a;
    return v->op == HG_BYTE_ADD   ? (uint8_t)(a + v->arg)
           : v->op == HG_BYTE_XOR ? a ^ v->arg
                                  : (uint8_t)(v->arg - a);
}

static bool synth_fits(const synth_view *v, uint8_t op, uint8_t arg)
{
    const hg_byteops one = {.n = 1, .op = {op}, .arg = {arg}};
    for (uint32_t i = 0; i < v->l->n; i++)
        if (hg_byteops_step(&one, 0, synth_value(v, i), 0) != v->l->w[i]) return false;
    return true;
}

static void synth_end(synth *s, const synth_state *from, const synth_view *v, uint8_t op,
                      uint8_t arg)
{
    hg_byteops more = {0};
    if (!synth_fits(v, op, arg)) return;
    if (v->op != 0) (void)synth_append(&more, v->op, v->arg);
    (void)synth_append(&more, op, arg);
    synth_offer(s, from, &more);
}

/* Lists of sixteen: values from 128 on give 0. */
static void synth_end_look(synth *s, const synth_state *from, const synth_view *v)
{
    hg_byteops more = {.n_list = 1};
    bool is_set[16] = {false};
    for (uint32_t i = 0; i < v->l->n; i++) {
        const uint8_t a = synth_value(v, i), w = v->l->w[i], k = a & 15;
        if (a >= 128 && w != 0) return;
        if (a >= 128) continue;
        if (is_set[k] && more.list[0][k] != w) return;
        is_set[k] = true;
        more.list[0][k] = w;
    }
    if (v->op != 0) (void)synth_append(&more, v->op, v->arg);
    (void)synth_append(&more, HG_BYTE_LOOK, 0);
    synth_offer(s, from, &more);
}

/* Sums that saturate: an item that does not says by how much. */
static void synth_end_sums(synth *s, const synth_state *from, const synth_view *v)
{
    const synth_list *l = v->l;
    if (l->below >= 0) {
        const int32_t by = l->w[l->below] - synth_value(v, (uint32_t)l->below);
        if (by > 0) synth_end(s, from, v, HG_BYTE_ADD_U8, (uint8_t)by);
    }
    if (l->above >= 0) {
        const int32_t by = synth_value(v, (uint32_t)l->above) - l->w[l->above];
        if (by > 0) synth_end(s, from, v, HG_BYTE_SUB_U8, (uint8_t)by);
    }
    if (l->inside >= 0) {
        const int32_t by = (int8_t)l->w[l->inside] - (int8_t)synth_value(v, (uint32_t)l->inside);
        if (by >= -128 && by < 128) synth_end(s, from, v, HG_BYTE_ADD_I8, (uint8_t)by);
        if (by > 0 && by <= 128) synth_end(s, from, v, HG_BYTE_SUB_I8, (uint8_t)-by);
    }
}

static void synth_end_compare(synth *s, const synth_state *from, const synth_view *v)
{
    const synth_list *l = v->l;
    int32_t last = -1, equal = -1; /* largest signed value that gives 0; one that gives 255 */
    for (uint32_t i = 0; l->is_mask && i < l->n; i++) {
        const uint8_t a = synth_value(v, i);
        if (l->w[i] == 255) equal = a;
        if (l->w[i] == 0 && (last < 0 || (int8_t)a > (int8_t)last)) last = a;
    }
    if (equal >= 0) synth_end(s, from, v, HG_BYTE_EQUAL, (uint8_t)equal);
    if (last >= 0) synth_end(s, from, v, HG_BYTE_MORE_I8, (uint8_t)last);
}

/* All last operations, at most `room` heavy. */
static void synth_ends(synth *s, const synth_state *from, const synth_view *v, uint32_t room)
{
    const synth_list *l = v->l;
    const uint8_t a = synth_value(v, 0);
    if (v->op == 0) { /* otherwise it is the same one twice */
        synth_end(s, from, v, HG_BYTE_ADD, (uint8_t)(l->w[0] - a));
        synth_end(s, from, v, HG_BYTE_FROM, (uint8_t)(l->w[0] + a));
    }
    synth_end(s, from, v, HG_BYTE_XOR, l->w[0] ^ a);
    synth_end(s, from, v, HG_BYTE_AND, l->any);
    synth_end(s, from, v, HG_BYTE_OR, l->all);
    synth_end(s, from, v, HG_BYTE_MIN_U8, l->high);
    synth_end(s, from, v, HG_BYTE_MAX_U8, l->low);
    synth_end(s, from, v, HG_BYTE_MIN_I8, l->high_i8);
    synth_end(s, from, v, HG_BYTE_MAX_I8, l->low_i8);
    synth_end_sums(s, from, v);
    synth_end_compare(s, from, v);
    synth_end(s, from, v, HG_BYTE_ABS_I8, 0);
    synth_end_look(s, from, v);
    synth_end(s, from, v, HG_BYTE_TWICE_U8, 0);
    synth_end(s, from, v, HG_BYTE_TWICE_I8, 0);
    for (uint8_t by = 1; by < 8; by++) {
        if (by > 1 && room < 2) return;
        if ((l->any & ((1 << by) - 1)) == 0) synth_end(s, from, v, HG_BYTE_LEFT, by);
        if (room >= 2 && l->any >> (8 - by) == 0) synth_end(s, from, v, HG_BYTE_RIGHT, by);
    }
}

/* ---- nibbles ---------------------------------------------------------------------------------
 */

/* low[a & 15] + high[a >> 4] (or exclusive or) = w for every item: one item ties the two together,
 * the first of each group is free. Gives up when two ways disagree. */
static bool synth_nibbles_tie(const synth_list *l, bool is_sum, uint8_t list[2][16])
{
    bool known[2][16] = {{false}};
    for (uint32_t round = 0; round <= 32; round++) {
        bool changed = false;
        for (uint32_t i = 0; i < l->n; i++) {
            const uint8_t at[2] = {l->a[i] & 15, l->a[i] >> 4}, w = l->w[i];
            for (int k = 0; k < 2; k++) {
                const uint8_t here = list[k][at[k]];
                const uint8_t need = is_sum ? (uint8_t)(w - here) : w ^ here;
                if (!known[k][at[k]]) continue;
                if (known[1 - k][at[1 - k]] && list[1 - k][at[1 - k]] != need) return false;
                changed |= !known[1 - k][at[1 - k]];
                known[1 - k][at[1 - k]] = true;
                list[1 - k][at[1 - k]] = need;
            }
        }
        if (changed) continue;
        uint32_t next = 0;
        while (next < l->n && known[0][l->a[next] & 15])
            next++;
        if (next == l->n) return true;
        known[0][l->a[next] & 15] = true;
        list[0][l->a[next] & 15] = 0;
    }
    return true;
}

/* Of parts that can only add bits, or only make larger, the most each may have is the best. */
static void synth_nibbles_most(const synth_list *l, uint8_t op, uint8_t list[2][16])
{
    const bool falls = op == HG_BYTE_NIBBLES_AND || op == HG_BYTE_NIBBLES_MIN;
    memset(list, falls ? 0 : 255, 32);
    for (uint32_t i = 0; i < l->n; i++) {
        const uint8_t at[2] = {l->a[i] & 15, l->a[i] >> 4}, w = l->w[i];
        for (int k = 0; k < 2; k++) {
            uint8_t *part = &list[k][at[k]];
            *part = op == HG_BYTE_NIBBLES_OR    ? *part & w
                    : op == HG_BYTE_NIBBLES_AND ? *part | w
                    : op == HG_BYTE_NIBBLES_MIN ? (uint8_t)hg_max(*part, w)
                                                : (uint8_t)hg_min(*part, w);
        }
    }
}

static void synth_nibbles(synth *s, const synth_state *from, const synth_list *l)
{
    for (uint8_t op = HG_BYTE_NIBBLES_XOR; op <= HG_BYTE_NIBBLES_MAX; op++) {
        hg_byteops more = {.n = 1, .n_list = 2, .op = {op}};
        if (op <= HG_BYTE_NIBBLES_ADD) {
            if (!synth_nibbles_tie(l, op == HG_BYTE_NIBBLES_ADD, more.list)) continue;
        } else {
            synth_nibbles_most(l, op, more.list);
        }
        synth_offer(s, from, &more);
    }
}

/* ---- states ----------------------------------------------------------------------------------
 */

static bool synth_is_new(const synth *s, const synth_state *state)
{
    for (uint32_t i = 0; i < s->n_state; i++)
        if (s->state[i].weight <= state->weight &&
            memcmp(s->state[i].want, state->want, sizeof state->want) == 0)
            return false;
    return true;
}

/* What is wanted behind an operation; false when it joins values that want different things. */
static bool synth_through(const synth_state *from, uint8_t op, uint8_t arg, synth_state *out)
{
    const hg_byteops one = {.n = 1, .op = {op}, .arg = {arg}};
    memset(out->want, 255, sizeof out->want);
    for (int a = 0; a < 256; a++) {
        if (from->want[a] < 0) continue;
        int16_t *to = &out->want[hg_byteops_step(&one, 0, (uint8_t)a, (uint8_t)a)];
        if (*to >= 0 && *to != from->want[a]) return false;
        *to = from->want[a];
    }
    return true;
}

static bool synth_add_op(synth_state *state, uint8_t op, uint8_t arg)
{
    if (state->n == HG_BYTEOPS_MAX) return false;
    state->op[state->n] = op;
    state->arg[state->n++] = arg;
    state->weight += hg_byteops_weight(op, arg);
    return true;
}

static void synth_keep(synth *s, const synth_state *state)
{
    if (s->n_state == SYNTH_STATES || state->weight + (s->suffix != 0) + 1 >= s->best) return;
    if (!synth_is_new(s, state)) return;
    synth_state *kept = &s->state[s->n_state++];
    *kept = *state;
    kept->is_done = false;
    kept->values = 0;
    for (int a = 0; a < 256; a++)
        kept->values += kept->want[a] >= 0;
}

/* The state to go on from: one with the fewest values, as that is what all this is for. */
static bool synth_next(const synth *s, uint32_t *out)
{
    bool found = false;
    for (uint32_t i = 0; i < s->n_state; i++) {
        if (s->state[i].is_done || (found && s->state[i].values >= s->state[*out].values)) continue;
        *out = i;
        found = true;
    }
    return found;
}

static void synth_go(synth *s, uint32_t from, uint8_t op, uint8_t arg)
{
    synth_state next = s->state[from];
    if (synth_add_op(&next, op, arg) && synth_through(&s->state[from], op, arg, &next))
        synth_keep(s, &next);
}

/* Values in rising order as unsigned (flip 0) or signed (flip 128) numbers: the last of those that
 * want what the first wants, and the first of those that want what the last wants. */
static bool synth_stretches(const synth_list *l, uint8_t flip, uint8_t *first, uint8_t *last)
{
    int16_t want[256], low = -1, high = -1;
    memset(want, 255, sizeof want);
    for (uint32_t i = 0; i < l->n; i++)
        want[l->a[i] ^ flip] = l->w[i];
    for (int a = 0; a < 256; a++) {
        if (want[a] < 0) continue;
        if (low >= 0 && want[a] != low) break;
        low = want[a];
        *first = (uint8_t)a;
    }
    for (int a = 255; a >= 0; a--) {
        if (want[a] < 0) continue;
        if (high >= 0 && want[a] != high) break;
        high = want[a];
        *last = (uint8_t)a;
    }
    return l->n > 1;
}

static void synth_go_ends(synth *s, uint32_t at, const synth_list *l)
{
    uint8_t first = 0, last = 255;
    if (!synth_stretches(l, 0, &first, &last)) return;
    synth_go(s, at, HG_BYTE_MAX_U8, first);
    synth_go(s, at, HG_BYTE_SUB_U8, first);
    synth_go(s, at, HG_BYTE_MIN_U8, last);
    synth_go(s, at, HG_BYTE_ADD_U8, 255 - last);
    (void)synth_stretches(l, 128, &first, &last);
    synth_go(s, at, HG_BYTE_MAX_I8, first ^ 128);
    synth_go(s, at, HG_BYTE_MIN_I8, last ^ 128);
    if (first < 128) synth_go(s, at, HG_BYTE_SUB_I8, first); /* to -128 */
    if (last >= 128) synth_go(s, at, HG_BYTE_ADD_I8, 255 - last);
}

/* Bits that nothing depends on are left out, all together; shifts leave some out as well. */
static void synth_go_bits(synth *s, uint32_t at)
{
    synth_state next;
    uint8_t mask = 255;
    for (int bit = 0; bit < 8; bit++) {
        const uint8_t tried = (uint8_t)(mask & ~(1 << bit));
        if (synth_through(&s->state[at], HG_BYTE_AND, tried, &next)) mask = tried;
    }
    if (mask != 255) synth_go(s, at, HG_BYTE_AND, mask);
    for (uint8_t by = 1; by < 8; by++) {
        synth_go(s, at, HG_BYTE_RIGHT, by);
        synth_go(s, at, HG_BYTE_LEFT, by);
    }
}

/* Two operations of which only the second joins. */
static void synth_go_pair(synth *s, uint32_t at, uint8_t op, uint8_t arg, uint8_t op2, uint8_t arg2)
{
    synth_state middle = s->state[at], next;
    if (!synth_add_op(&middle, op, arg) || !synth_through(&s->state[at], op, arg, &middle)) return;
    next = middle;
    if (synth_add_op(&next, op2, arg2) && synth_through(&middle, op2, arg2, &next))
        synth_keep(s, &next);
}

/* Changes come every 2^k values, but not at multiples of it: moved there, a shift can join them. */
static void synth_go_steps(synth *s, uint32_t at, const synth_list *l)
{
    for (int bits = 7; bits > 0; bits--) {
        const int step = 1 << bits;
        int place = -1;
        bool even = true;
        for (uint32_t i = 1; i < l->n && even; i++) {
            if (l->w[i] == l->w[i - 1]) continue;
            if (place < 0) place = l->a[i] % step;
            even = l->a[i] % step == place && l->a[i] == l->a[i - 1] + 1;
        }
        if (!even || place <= 0) continue;
        const uint8_t by = (uint8_t)bits;
        synth_go_pair(s, at, HG_BYTE_ADD, (uint8_t)(step - place), HG_BYTE_RIGHT, by);
        synth_go_pair(s, at, HG_BYTE_ADD_U8, (uint8_t)(step - place), HG_BYTE_RIGHT, by);
        synth_go_pair(s, at, HG_BYTE_SUB_U8, (uint8_t)place, HG_BYTE_RIGHT, by);
        return;
    }
}

/* f(a) = f(c - a): folded over at the middle, which is at 0 for an absolute value. At the start the
 * code is at hand, and the smaller of a and c - a does the same for every c. */
static void synth_go_symmetry(synth *s, uint32_t at, const synth_list *l)
{
    uint32_t found = 0;
    synth_go(s, at, HG_BYTE_ABS_I8, 0);
    for (int c = 0; c < 256 && found < SYNTH_SYMMETRIES; c++) {
        uint32_t pairs = 0, i = 0;
        for (; i < l->n; i++) {
            const uint8_t other = (uint8_t)(c - l->a[i]);
            if (other == l->a[i] || s->state[at].want[other] < 0) continue;
            if (s->state[at].want[other] != l->w[i]) break;
            pairs++;
        }
        if (i < l->n || pairs < 2) continue;
        found++;
        if (c % 2 == 0) synth_go_pair(s, at, HG_BYTE_ADD, (uint8_t)(-c / 2), HG_BYTE_ABS_I8, 0);
        if (s->state[at].n == 0)
            synth_go_pair(s, at, HG_BYTE_FROM, (uint8_t)c, HG_BYTE_MIN_U8 | HG_BYTE_CODE, 0);
    }
}

/* All operations that join nothing, then the last one. */
static void synth_blind(synth *s, uint32_t at, const synth_list *l)
{
    static const uint8_t ops[] = {HG_BYTE_ADD, HG_BYTE_XOR, HG_BYTE_FROM};
    const synth_state from = s->state[at];
    for (size_t k = 0; k < HG_COUNT(ops); k++)
        for (int arg = ops[k] == HG_BYTE_FROM ? 0 : 1; arg < 256; arg++) {
            const uint32_t room = synth_room(s, &from);
            const synth_view view = {l, ops[k], (uint8_t)arg};
            if (room < 2) return;
            synth_ends(s, &from, &view, room - 1);
        }
}

static void synth_visit(synth *s, uint32_t at)
{
    static const hg_byteops nothing;
    const synth_state from = s->state[at];
    synth_list l;
    const synth_view view = {.l = &l};
    synth_list_of(&from, &l);
    s->state[at].is_done = true;
    synth_offer(s, &from, &nothing);
    if (synth_room(s, &from) < 1) return;
    synth_ends(s, &from, &view, synth_room(s, &from));
    if (synth_room(s, &from) >= 6) synth_nibbles(s, &from, &l);
    if (synth_room(s, &from) < 2) return;
    if (from.n <= (s->suffix == 0 ? SYNTH_BLIND : 0)) synth_blind(s, at, &l);
    synth_go_ends(s, at, &l);
    synth_go_bits(s, at);
    synth_go_steps(s, at, &l);
    synth_go_symmetry(s, at, &l);
    synth_go(s, at, HG_BYTE_XOR, 128);
    synth_go(s, at, HG_BYTE_XOR, 255);
    synth_go(s, at, HG_BYTE_TWICE_U8, 0);
    synth_go(s, at, HG_BYTE_TWICE_I8, 0);
}

/* ---- roots -----------------------------------------------------------------------------------
 */

/* What must stand before `suffix` for the table to come out; -1 when anything might. False when
 * nothing can. */
static bool synth_before(uint8_t suffix, uint8_t x, uint8_t t, int16_t *want)
{
    *want = -1;
    switch (suffix & 127) {
    case 0: *want = t; return true;
    case HG_BYTE_ADD: *want = (uint8_t)(t - x); return true;
    case HG_BYTE_FROM: *want = (uint8_t)(x - t); return true;
    case HG_BYTE_XOR: *want = t ^ x; return true;
    case HG_BYTE_AND:
        if (x != 0) *want = t == x ? 255 : 0;
        return t == x || t == 0;
    case HG_BYTE_OR:
        if (x != 255) *want = t == x ? 0 : 255;
        return t == x || t == 255;
    case HG_BYTE_ADD_U8:
        if (t != 255) *want = (uint8_t)(t - x);
        return t >= x;
    case HG_BYTE_SUB_U8:
        if (t != 0) *want = (uint8_t)(t + x);
        return t + x <= 255;
    case HG_BYTE_MIN_U8:
    case HG_BYTE_MAX_U8:
        if (t != x) *want = t;
        return (suffix & 127) == HG_BYTE_MIN_U8 ? t <= x : t >= x;
    default:
        if (t != x) *want = t;
        return (suffix & 127) == HG_BYTE_MIN_I8 ? (int8_t)t <= (int8_t)x : (int8_t)t >= (int8_t)x;
    }
}

static void synth_root(synth *s, uint8_t suffix)
{
    synth_state *root = &s->state[0];
    *root = (synth_state){.n = 0};
    memset(root->want, 255, sizeof root->want);
    for (int64_t k = s->codes.base; k < s->codes.base + s->codes.count; k++)
        if (!synth_before(suffix, (uint8_t)k, s->entry[k], &root->want[k])) return;
    s->suffix = suffix;
    s->n_state = 1;
    for (uint32_t at = 0; synth_next(s, &at);)
        synth_visit(s, at);
}

holo_status hg_synth_find(hg_ctx *ctx, const uint8_t *entry, hg_alphabet codes, uint32_t most,
                          hg_byteops *out, bool *found)
{
    static const uint8_t suffixes[] = {
        0,
        HG_BYTE_ADD | HG_BYTE_CODE,
        HG_BYTE_FROM | HG_BYTE_CODE,
        HG_BYTE_XOR | HG_BYTE_CODE,
        HG_BYTE_AND | HG_BYTE_CODE,
        HG_BYTE_OR | HG_BYTE_CODE,
        HG_BYTE_ADD_U8 | HG_BYTE_CODE,
        HG_BYTE_SUB_U8 | HG_BYTE_CODE,
        HG_BYTE_MIN_U8 | HG_BYTE_CODE,
        HG_BYTE_MAX_U8 | HG_BYTE_CODE,
        HG_BYTE_MIN_I8 | HG_BYTE_CODE,
        HG_BYTE_MAX_I8 | HG_BYTE_CODE,
    };
    synth s = {.entry = entry, .codes = codes, .best = most + 1, .program = out};
    HG_TRY(HG_NEW(ctx, SYNTH_STATES, &s.state));
    for (size_t i = 0; i < HG_COUNT(suffixes); i++)
        synth_root(&s, suffixes[i]);
    *found = s.found;
    return HOLO_OK;
}
