/* moves.c - new sizes for a session that has had some: what can move is listed once, when the
 * second size comes, and then only lists are walked.
 *
 * Many values have the same dims and many steps are alike: sizes are computed and compared once per
 * shape, kernels asked once per kind of step, and what is left for each operand is to store a few
 * numbers. Whatever is not as it should be is left to the way that settles everything: it has the
 * sentences. */
#include "runtime/moves.h"

#include "runtime/bind.h"
#include "runtime/redzone.h"

/* Values whose dims are one list, and some of them depend on the inputs. */
typedef struct moves_shape {
    size_t bytes, room;   /* room: of the smallest buffer that holds one */
    uint32_t dims, first; /* first: its operands begin there in `target` */
    uint32_t count;
    uint8_t dtype;
    int8_t rank;
    bool has_moved;
} moves_shape;

typedef struct moves_param {
    uint32_t at, dim;
} moves_param;

/* A view that begins at a fixed place has to stay inside what it is a view of. 0: that shape is
 * always the same. */
typedef struct moves_view {
    uint32_t shape, of;
    size_t offset;       /* where it begins */
    size_t bytes, whole; /* where the shape is always the same */
} moves_view;

/* Steps that are alike: the first one, what it depends on, and the others. */
typedef struct moves_kind {
    uint32_t step;
    uint32_t need, n_need; /* entries of `need`: a shape, or a dim with the highest bit set */
    uint32_t like, n_like; /* entries of `like` */
} moves_kind;

enum { MOVES_WINDOW = 32 };
#define MOVES_IS_DIM (UINT32_C(1) << 31)

struct hg_moves {
    uint8_t *room; /* of the arrays; NULL: there is none */
    bool is_built, has_rooms, is_possible;
    bool shifts;          /* views begin elsewhere when sizes change */
    uint32_t *dim, n_dim; /* those that depend on inputs, in order */
    uint8_t *varies;      /* per dim: is one of them */
    uint8_t *has_moved;   /* per dim: is another number than before */
    moves_shape *shape;   /* from 1 */
    uint32_t n_shape;
    uint32_t *shape_of; /* per value; 0: never moves */
    uint32_t *slot, n_slot;
    uint32_t *target;
    moves_param *param;
    uint32_t n_param;
    moves_view *view;
    uint32_t n_view;
    moves_kind *kind;
    uint32_t *kind_of; /* per step that is the first of its kind: number + 1, 0: never moves */
    uint32_t n_kind, *need, n_need, *like;
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Points the arrays into `base`, or only counts. */
static size_t moves_arrays(const hg_model_graph *g, hg_moves *m, uint8_t *base)
{
    const hg_program_head *h = &g->program.head;
    size_t used = 0;
    m->n_slot = 1;
    while (m->n_slot <= h->n_value)
        m->n_slot *= 2;
    m->shape = hg_carve(base, &used, (size_t)h->n_value + 1, sizeof *m->shape);
    m->view = hg_carve(base, &used, h->n_value, sizeof *m->view);
    m->kind = hg_carve(base, &used, h->n_step, sizeof *m->kind);
    m->param = hg_carve(base, &used, g->n_param, sizeof *m->param);
    m->need = hg_carve(base, &used, (size_t)g->n_slot + g->n_param, sizeof *m->need);
    m->target = hg_carve(base, &used, g->n_slot, sizeof *m->target);
    m->shape_of = hg_carve(base, &used, h->n_value, sizeof *m->shape_of);
    m->slot = hg_carve(base, &used, m->n_slot, sizeof *m->slot);
    m->kind_of = hg_carve(base, &used, h->n_step, sizeof *m->kind_of);
    m->like = hg_carve(base, &used, h->n_step, sizeof *m->like);
    m->dim = hg_carve(base, &used, h->n_dim, sizeof *m->dim);
    m->varies = hg_carve(base, &used, h->n_dim, 1);
    m->has_moved = hg_carve(base, &used, h->n_dim, 1);
    return used;
}

size_t hg_moves_bytes(const hg_model_graph *g)
{
    hg_moves count;
    bool moves = false;
    for (uint32_t i = 0; i < g->program.head.n_symbol; i++)
        moves |= g->program.symbol[i].kind == HG_SYMBOL_INPUT;
    return moves ? moves_arrays(g, &count, NULL) : 0;
}

const size_t hg_moves_size = sizeof(hg_moves);

void hg_moves_new_room(holo_session *s, void *room)
{
    s->moves->room = room;
    s->moves->is_built = false;
}

/* ---- finding out ----------------------------------------------------------------------------- */

static void moves_find_dims(const holo_session *s, hg_moves *m)
{
    const hg_program *p = &s->graph->program;
    m->n_dim = 0;
    memset(m->varies, 0, p->head.n_dim);
    memset(m->has_moved, 0, p->head.n_dim);
    for (uint32_t d = 1; d < p->head.n_dim; d++) {
        const hg_dim_rec *r = &p->dim[d];
        m->varies[d] =
            s->graph->dim_ready[d] == 0 &&
            (r->op == HG_DIM_SYMBOL ||
             (r->op != HG_DIM_CONST && (m->varies[r->a] | m->varies[r->b] |
                                        m->varies[r->op == HG_DIM_SELECT ? r->c : 0]) != 0));
        if (m->varies[d]) m->dim[m->n_dim++] = d;
    }
}

static bool moves_value_varies(const holo_session *s, const hg_moves *m, uint32_t v)
{
    const hg_program *p = &s->graph->program;
    const hg_value_rec *r = &p->value[v];
    bool varies = false;
    if (s->graph->value_ready[v] != 0) return false;
    for (int32_t k = 0; k < r->rank; k++)
        varies |= m->varies[p->list[r->dims + (uint32_t)k]] != 0;
    return varies;
}

/* The shape of value v, which may be a new one. */
static uint32_t moves_shape_of(const holo_session *s, hg_moves *m, uint32_t v)
{
    const hg_value_rec *r = &s->graph->program.value[v];
    const uint32_t mask = m->n_slot - 1;
    const uint64_t key = (uint64_t)r->dims << 16 | (uint64_t)r->dtype << 8 | (uint8_t)r->rank;
    uint32_t at = (uint32_t)(key * UINT64_C(0xd6e8feb86659fd93) >> 32) & mask;
    for (; m->slot[at] != 0; at = (at + 1) & mask) {
        const moves_shape *known = &m->shape[m->slot[at]];
        if (known->dims == r->dims && known->rank == r->rank && known->dtype == r->dtype)
            return m->slot[at];
    }
    m->slot[at] = ++m->n_shape;
    m->shape[m->n_shape] = (moves_shape){.bytes = SIZE_MAX, /* not known yet */
                                         .dims = r->dims,
                                         .rank = r->rank,
                                         .dtype = r->dtype};
    return m->n_shape;
}

/* The size of a weight never moves in a program that a compiler has made. */
static void moves_find_shapes(const holo_session *s, hg_moves *m)
{
    const hg_program *p = &s->graph->program;
    m->n_shape = 0;
    m->is_possible = true;
    memset(m->slot, 0, m->n_slot * sizeof *m->slot);
    m->shape_of[0] = 0;
    for (uint32_t v = 1; v < p->head.n_value; v++) {
        m->shape_of[v] = moves_value_varies(s, m, v) ? moves_shape_of(s, m, v) : 0;
        if (m->shape_of[v] != 0 && p->value[v].storage == HG_STORAGE_WEIGHT) m->is_possible = false;
    }
}

static bool moves_same_view(const moves_view *a, const moves_view *b)
{
    return a->shape == b->shape && a->of == b->of && a->offset == b->offset &&
           (a->shape != 0 || a->bytes == b->bytes) && (a->of != 0 || a->whole == b->whole);
}

/* Sizes fit, since the last prepare has found them to. */
static void moves_add_view(const holo_session *s, hg_moves *m, uint32_t v)
{
    const hg_value_rec *r = &s->graph->program.value[v];
    moves_view view = {.shape = m->shape_of[v],
                       .of = m->shape_of[r->ref],
                       .bytes = holo_tensor_bytes(hg_session_tensor(s, v)),
                       .whole = holo_tensor_bytes(hg_session_tensor(s, r->ref))};
    if (m->varies[r->offset]) m->shifts = true;
    if ((view.shape == 0 && view.of == 0) || m->varies[r->offset]) return;
    if (r->offset != 0 && !hg_dtype_bytes((holo_dtype)r->dtype, s->dim[r->offset], &view.offset))
        m->is_possible = false;
    for (uint32_t i = m->n_view; i-- > 0 && m->n_view - i <= MOVES_WINDOW;)
        if (moves_same_view(&m->view[i], &view)) return;
    m->view[m->n_view++] = view;
}

static void moves_find_views(const holo_session *s, hg_moves *m)
{
    const hg_program *p = &s->graph->program;
    m->n_view = 0;
    m->shifts = false;
    for (uint32_t v = 1; v < p->head.n_value; v++)
        if (p->value[v].storage == HG_STORAGE_ALIAS && s->graph->value_ready[v] == 0)
            moves_add_view(s, m, v);
}

/* Tensor `slot` of the session is one of value v: counted, or listed behind those before it. */
static void moves_target(hg_moves *m, uint32_t v, uint32_t slot, bool list)
{
    moves_shape *shape = &m->shape[m->shape_of[v]];
    if (m->shape_of[v] == 0) return;
    if (list) m->target[shape->first + shape->count] = slot;
    shape->count++;
}

static void moves_each_target(const holo_session *s, hg_moves *m, bool list)
{
    const hg_program *p = &s->graph->program;
    uint32_t end = 0;
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        const hg_step_rec *r = &p->step[i];
        const uint32_t first = hg_model_first_slot(s->graph, i, end), known = end - first;
        for (uint32_t k = known; !s->graph->step_late[i] && k < r->n_in; k++)
            moves_target(m, p->list[r->in + k], first + k, list);
        for (uint32_t k = 0; !s->graph->step_late[i] && k < r->n_out; k++)
            moves_target(m, p->list[r->out + k], first + r->n_in + k, list);
        end = first + r->n_in + r->n_out;
    }
    for (uint32_t v = 1; v < p->head.n_value; v++)
        if (s->graph->value_slot[v] >= end) moves_target(m, v, s->graph->value_slot[v], list);
}

static void moves_find_targets(const holo_session *s, hg_moves *m)
{
    uint32_t total = 0;
    moves_each_target(s, m, false);
    for (uint32_t i = 1; i <= m->n_shape; i++) {
        m->shape[i].first = total;
        total += m->shape[i].count;
        m->shape[i].count = 0;
    }
    moves_each_target(s, m, true);
}

/* Steps that share numbers share those of an earlier step; also a late one's are known now if they
 * do not depend on the run. */
static void moves_find_params(const holo_session *s, hg_moves *m)
{
    const hg_program *p = &s->graph->program;
    uint32_t end = 0;
    m->n_param = 0;
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        const hg_step_rec *r = &p->step[i];
        const uint32_t at = (uint32_t)(s->step[i].param - s->param);
        if (r->op == HG_STEP_BIND || at < end) continue;
        for (uint32_t k = 0; k < r->n_param; k++)
            if (m->varies[p->list[r->param + k]])
                m->param[m->n_param++] = (moves_param){at + k, p->list[r->param + k]};
        if (r->n_param != 0) end = at + r->n_param;
    }
}

static void moves_need(hg_moves *m, moves_kind *kind, uint32_t what)
{
    for (uint32_t i = 0; i < kind->n_need; i++)
        if (m->need[kind->need + i] == what) return;
    m->need[kind->need + kind->n_need++] = what;
}

static void moves_add_kind(const holo_session *s, hg_moves *m, uint32_t i)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    moves_kind kind = {.step = i, .need = m->n_need};
    for (uint32_t k = 0; k < r->n_in; k++)
        if (m->shape_of[p->list[r->in + k]] != 0)
            moves_need(m, &kind, m->shape_of[p->list[r->in + k]]);
    for (uint32_t k = 0; k < r->n_out; k++)
        if (m->shape_of[p->list[r->out + k]] != 0)
            moves_need(m, &kind, m->shape_of[p->list[r->out + k]]);
    for (uint32_t k = 0; k < r->n_param; k++)
        if (m->varies[p->list[r->param + k]])
            moves_need(m, &kind, p->list[r->param + k] | MOVES_IS_DIM);
    if (kind.n_need == 0) return;
    m->n_need += kind.n_need;
    m->kind[m->n_kind] = kind;
    m->kind_of[i] = ++m->n_kind;
}

/* Kinds of steps, and of each the steps that are like its first. */
static void moves_find_kinds(const holo_session *s, hg_moves *m)
{
    const hg_program *p = &s->graph->program;
    uint32_t total = 0;
    m->n_kind = m->n_need = 0;
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        m->kind_of[i] = 0;
        if (p->step[i].op != HG_STEP_KERNEL || s->graph->step_late[i]) continue;
        if (s->alike[i] == i)
            moves_add_kind(s, m, i);
        else if (m->kind_of[s->alike[i]] != 0)
            m->kind[m->kind_of[s->alike[i]] - 1].n_like++;
    }
    for (uint32_t k = 0; k < m->n_kind; k++) {
        m->kind[k].like = total;
        total += m->kind[k].n_like;
        m->kind[k].n_like = 0;
    }
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        const uint32_t k = s->alike[i] == i ? 0 : m->kind_of[s->alike[i]];
        if (k != 0) m->like[m->kind[k - 1].like + m->kind[k - 1].n_like++] = i;
    }
}

static void moves_build(const holo_session *s, hg_moves *m)
{
    (void)moves_arrays(s->graph, m, m->room);
    moves_find_dims(s, m);
    moves_find_shapes(s, m);
    moves_find_views(s, m);
    moves_find_targets(s, m);
    moves_find_params(s, m);
    moves_find_kinds(s, m);
    m->is_built = true;
    m->has_rooms = false;
}

static void moves_find_rooms(holo_session *s, hg_moves *m)
{
    for (uint32_t i = 1; i <= m->n_shape; i++)
        m->shape[i].room = SIZE_MAX;
    for (uint32_t v = 1; v < s->graph->program.head.n_value; v++) {
        const hg_span *span = hg_session_span(s, v);
        moves_shape *shape = &m->shape[m->shape_of[v]];
        if (m->shape_of[v] != 0 && span != NULL && span->bytes < shape->room)
            shape->room = span->bytes;
    }
    m->has_rooms = true;
}

/* ---- moving ---------------------------------------------------------------------------------- */

static bool moves_eval(holo_session *s, hg_moves *m)
{
    for (uint32_t i = 0; i < m->n_dim; i++) {
        const uint32_t d = m->dim[i];
        const int64_t before = s->dim[d];
        if (hg_session_eval(s, d, NULL) != HOLO_OK) return false;
        m->has_moved[d] = s->dim[d] != before;
    }
    return true;
}

/* Inputs have the sizes that follow from the symbols. */
static bool moves_inputs_fit(const holo_session *s)
{
    const hg_program *p = &s->graph->program;
    bool fit = true;
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        const hg_value_rec *v = &p->value[p->in[i].value];
        for (int32_t k = 0; k < v->rank; k++)
            fit &= s->input[i].dim[k] == s->dim[p->list[v->dims + (uint32_t)k]];
    }
    return fit;
}

static bool moves_size(const holo_session *s, const hg_moves *m, moves_shape *shape)
{
    const uint32_t *dim = s->graph->program.list + shape->dims;
    bool has_moved = shape->bytes == SIZE_MAX;
    for (int32_t k = 0; k < shape->rank; k++)
        has_moved |= m->has_moved[dim[k]] != 0;
    shape->has_moved = has_moved;
    if (!has_moved) return true;
    int64_t count = 1;
    size_t bytes;
    for (int32_t k = 0; k < shape->rank; k++)
        if (s->dim[dim[k]] < 0 || !hg_mul_i64(count, s->dim[dim[k]], &count)) return false;
    if ((uint64_t)count > s->limits.tensor_elements ||
        !hg_dtype_bytes((holo_dtype)shape->dtype, count, &bytes) || bytes > s->limits.tensor_bytes)
        return false;
    shape->bytes = bytes;
    return bytes == 0 || bytes + HG_REDZONE_BYTES <= shape->room;
}

static bool moves_view_fits(const hg_moves *m, const moves_view *v)
{
    const size_t bytes = v->shape == 0 ? v->bytes : m->shape[v->shape].bytes;
    const size_t whole = v->of == 0 ? v->whole : m->shape[v->of].bytes;
    return v->offset <= whole && bytes <= whole - v->offset;
}

static bool moves_sizes_fit(const holo_session *s, hg_moves *m)
{
    for (uint32_t i = 1; i <= m->n_shape; i++)
        if (!moves_size(s, m, &m->shape[i])) return false;
    for (uint32_t i = 0; i < m->n_view; i++)
        if (!moves_view_fits(m, &m->view[i])) return false;
    return true;
}

/* One number of every tensor of a shape. */
static void moves_axis(const holo_session *s, const hg_moves *m, const moves_shape *shape,
                       int32_t axis, uint32_t dim)
{
    const uint32_t *target = m->target + shape->first, *end = target + shape->count;
    holo_tensor *operand = s->operand;
    const int64_t size = s->dim[dim];
    for (; target < end; target++)
        operand[*target].dim[axis] = size;
}

static void moves_tensors(const holo_session *s, const hg_moves *m)
{
    for (uint32_t i = 1; i <= m->n_shape; i++) {
        const moves_shape *shape = &m->shape[i];
        const uint32_t *dim = s->graph->program.list + shape->dims;
        for (int32_t k = 0; shape->has_moved && k < shape->rank; k++)
            if (m->varies[dim[k]]) moves_axis(s, m, shape, k, dim[k]);
    }
    for (uint32_t i = 0; i < m->n_param; i++)
        s->param[m->param[i].at] = s->dim[m->param[i].dim];
}

static bool moves_kind_has_moved(const hg_moves *m, const moves_kind *kind)
{
    for (uint32_t i = 0; i < kind->n_need; i++) {
        const uint32_t what = m->need[kind->need + i];
        if ((what & MOVES_IS_DIM) != 0 ? m->has_moved[what & ~MOVES_IS_DIM]
                                       : m->shape[what].has_moved)
            return true;
    }
    return false;
}

static bool moves_steps(holo_session *s, const hg_moves *m)
{
    for (uint32_t k = 0; k < m->n_kind; k++) {
        const moves_kind *kind = &m->kind[k];
        if (!moves_kind_has_moved(m, kind)) continue;
        if (hg_session_ask_step(s, kind->step, NULL) != HOLO_OK) return false;
        for (uint32_t i = 0; i < kind->n_like; i++)
            hg_session_answer(s, kind->step, m->like[kind->like + i]);
    }
    return true;
}

bool hg_moves_apply(holo_session *s)
{
    hg_moves *m = s->moves;
    if (m->room == NULL) return false;
    if (!m->is_built) moves_build(s, m);
    if (!m->is_possible) return false;
    if (!m->has_rooms) moves_find_rooms(s, m);
    if (!moves_eval(s, m) || !moves_inputs_fit(s) || !moves_sizes_fit(s, m)) return false;
    moves_tensors(s, m);
    if (m->shifts) s->pointers_changed = true;
    return moves_steps(s, m);
}

void hg_moves_forget(holo_session *s)
{
    s->moves->is_built = false;
}

void hg_moves_widened(holo_session *s)
{
    s->moves->has_rooms = false;
}
