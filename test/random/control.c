/* control.c - nodes with bodies: If, Loop, Scan, SequenceMap. A body is made of nodes that are
 * computed alone, too, with what its inputs hold in the first turn. */
#include "io/elem.h"
#include "random/random.h"

typedef struct control_outer {
    int32_t body, wanted;
} control_outer;

static int32_t control_begin(rnd_gen *n, control_outer *outer)
{
    *outer = (control_outer){n->body, n->wanted};
    if (n->g->n_body + 1 >= RND_MAX_BODY) return RND_NONE;
    n->body = ++n->g->n_body;
    n->g->body[n->body] = (rnd_body){0};
    n->depth++;
    return n->body;
}

static void control_end(rnd_gen *n, const control_outer *outer)
{
    n->body = outer->body;
    n->wanted = outer->wanted;
    n->depth--;
}

static int32_t control_formal(rnd_gen *n, const holo_tensor *t)
{
    rnd_body *b = &n->g->body[n->body];
    const int32_t v = rnd_add_value(n, rnd_copy(&n->g->arena, t), false);
    if (v == RND_NONE || b->n_in == RND_MAX_IN) return RND_NONE;
    n->g->value[v].body = n->body;
    n->g->value[v].is_formal = true;
    b->in[b->n_in++] = v;
    return v;
}

static bool control_give(rnd_gen *n, int32_t value)
{
    rnd_body *b = &n->g->body[n->body];
    if (value == RND_NONE || b->n_out == RND_MAX_OUT) return false;
    /* What a body gives is made inside it. */
    if (n->g->value[value].body != n->body || n->g->value[value].is_formal)
        value = rnd_apply(n, "Identity", &value, 1, NULL, 0);
    if (value == RND_NONE) return false;
    n->g->value[value].n_uses++;
    b->out[b->n_out++] = value;
    return true;
}

/* A few nodes that begin with the value; what the last of them gives. */
static int32_t control_nodes(rnd_gen *n, int32_t value)
{
    const uint32_t count = 1 + rnd_below(n->source, 3), n_ops = rnd_op_count();
    for (uint32_t i = 0; i < count; i++) {
        n->wanted = value;
        const int32_t made = rnd_make(n, rnd_op(rnd_below(n->source, n_ops)));
        if (made != RND_NONE) value = made;
    }
    return value;
}

static bool control_give_like(rnd_gen *n, int32_t value, const holo_tensor *like)
{
    if (value == RND_NONE || !rnd_is_plain(like)) return false;
    return control_give(n, rnd_adapt(n, value, like->dtype, like->rank, like->dim));
}

static int32_t control_add(rnd_gen *n, rnd_node *node)
{
    if (!rnd_add_node(n, node)) return RND_NONE;
    const rnd_node *made = &n->g->node[n->g->n_node - 1];
    return made->out[rnd_below(n->source, made->n_out)];
}

static int32_t control_find(rnd_gen *n, const char *dims, hg_types types)
{
    rnd_bind b;
    const rnd_want want = {.types = types, .dims = dims, .fill = ""};
    rnd_bind_init(&b);
    return rnd_find(n, &want, &b);
}

static const hg_types control_types = HG_TYPES_NUMBER | HG_TYPES_BOOL;

/* ---- If -------------------------------------------------------------------------------------- */

static bool control_branch(rnd_gen *n, rnd_node *node, uint32_t k, int32_t value, int32_t like)
{
    control_outer outer;
    node->child[k] = control_begin(n, &outer);
    if (node->child[k] == RND_NONE) return false;
    bool good;
    value = control_nodes(n, value);
    if (like == RND_NONE || n->g->value[like].t.dtype >= HOLO_SEQUENCE) {
        good = value != RND_NONE && n->g->value[value].t.dtype < HOLO_SEQUENCE &&
               control_give(n, value);
    } else {
        const holo_tensor *t = &n->g->value[like].t;
        const holo_tensor *own = &n->g->value[value].t;
        /* Other sizes than those of the first branch, now and then. */
        good = rnd_chance(n->source, 70) || own->rank != t->rank
                   ? control_give_like(n, value, t)
                   : control_give(n, rnd_adapt(n, value, t->dtype, own->rank, own->dim));
    }
    control_end(n, &outer);
    return good;
}

static int32_t control_if(rnd_gen *n, const hg_op *op)
{
    rnd_node node = {.op = op, .n_in = 1, .n_out = 1, .n_child = 2};
    const int32_t seed = n->wanted != RND_NONE ? n->wanted : control_find(n, "*", control_types);
    n->used = true;
    node.in[0] = control_find(n, "", HG_TYPES_BOOL);
    if (node.in[0] == RND_NONE || seed == RND_NONE || !control_branch(n, &node, 0, seed, RND_NONE))
        return RND_NONE;
    const int32_t like = n->g->body[node.child[0]].out[0];
    return control_branch(n, &node, 1, seed, like) ? control_add(n, &node) : RND_NONE;
}

/* ---- Loop ------------------------------------------------------------------------------------ */

static bool control_loop_body(rnd_gen *n, rnd_node *node, int32_t carried)
{
    control_outer outer;
    node->child[0] = control_begin(n, &outer);
    if (node->child[0] == RND_NONE) return false;
    holo_tensor turn = rnd_tensor(&n->g->arena, HOLO_I64, 0, NULL);
    holo_tensor go = rnd_tensor(&n->g->arena, HOLO_BOOL, 0, NULL);
    *(bool *)go.data = true;
    const int32_t i = control_formal(n, &turn), c = control_formal(n, &go);
    const int32_t x = control_formal(n, &n->g->value[carried].t);
    bool good = i != RND_NONE && c != RND_NONE && x != RND_NONE;
    if (good) {
        const int32_t y = control_nodes(n, rnd_chance(n->source, 80) ? x : i);
        good = control_give(n, c);
        good = good && (control_give_like(n, y, &n->g->value[x].t) || control_give(n, x));
        /* What no turn gives has no size. */
        const bool runs = *(const int64_t *)n->g->value[node->in[0]].t.data > 0;
        if (good && runs && y != RND_NONE && rnd_is_plain(&n->g->value[y].t))
            node->n_out += control_give(n, y);
    }
    control_end(n, &outer);
    return good;
}

static int32_t control_loop(rnd_gen *n, const hg_op *op)
{
    rnd_node node = {.op = op, .n_in = 3, .n_out = 1, .n_child = 1};
    const int32_t carried = n->wanted != RND_NONE && rnd_is_plain(&n->g->value[n->wanted].t)
                                ? n->wanted
                                : control_find(n, "*", control_types);
    n->used = true;
    rnd_bind b;
    rnd_bind_init(&b);
    const rnd_want times = {.types = HG_TYPE_BIT(HOLO_I64), .dims = "", .fill = "ints(0..3)"};
    node.in[0] = rnd_find(n, &times, &b);
    node.in[1] = RND_NONE;
    if (rnd_chance(n->source, 40)) {
        holo_tensor go = rnd_tensor(&n->g->arena, HOLO_BOOL, 0, NULL);
        *(bool *)go.data = true;
        node.in[1] = rnd_add_value(n, go, true);
    }
    node.in[2] = carried;
    if (carried == RND_NONE || node.in[0] == RND_NONE) return RND_NONE;
    return control_loop_body(n, &node, carried) ? control_add(n, &node) : RND_NONE;
}

/* ---- Scan ------------------------------------------------------------------------------------ */

static holo_tensor control_slice(rnd_gen *n, const holo_tensor *t)
{
    holo_tensor slice = rnd_tensor(&n->g->arena, t->dtype, t->rank - 1, &t->dim[1]);
    for (int64_t i = 0; i < holo_tensor_count(&slice); i++)
        hg_elem_set(&slice, i, hg_elem_get(t, i));
    return slice;
}

static bool control_scan_body(rnd_gen *n, rnd_node *node, int32_t state, int32_t scanned)
{
    control_outer outer;
    node->child[0] = control_begin(n, &outer);
    if (node->child[0] == RND_NONE) return false;
    holo_tensor slice = control_slice(n, &n->g->value[scanned].t);
    const int32_t s = control_formal(n, &n->g->value[state].t), x = control_formal(n, &slice);
    bool good = s != RND_NONE && x != RND_NONE;
    if (good) {
        const int32_t y = control_nodes(n, x);
        good = control_give_like(n, y, &n->g->value[s].t) || control_give(n, s);
        good = good && y != RND_NONE && rnd_is_plain(&n->g->value[y].t) && control_give(n, y);
    }
    control_end(n, &outer);
    return good;
}

static int32_t control_scan(rnd_gen *n, const hg_op *op)
{
    rnd_node node = {.op = op, .n_in = 2, .n_out = 2, .n_child = 1, .n_attr = 1};
    const int32_t scanned = control_find(n, "A,*", control_types);
    const int32_t state = control_find(n, "*", control_types);
    if (scanned == RND_NONE || state == RND_NONE || n->g->value[scanned].t.dim[0] == 0 ||
        n->g->value[scanned].t.dim[0] > 6)
        return RND_NONE;
    node.in[0] = state;
    node.in[1] = scanned;
    node.attr = hg_arena_alloc(&n->g->arena, sizeof *node.attr);
    node.attr[0] = rnd_attr_int("num_scan_inputs", 1);
    return control_scan_body(n, &node, state, scanned) ? control_add(n, &node) : RND_NONE;
}

/* ---- SequenceMap ----------------------------------------------------------------------------- */

static int32_t control_map(rnd_gen *n, const hg_op *op)
{
    rnd_node node = {.op = op, .n_in = 1, .n_out = 1, .n_child = 1};
    control_outer outer;
    node.in[0] = control_find(n, "*", RND_SEQUENCE);
    if (node.in[0] == RND_NONE || n->g->value[node.in[0]].t.dim[0] == 0) return RND_NONE;
    node.child[0] = control_begin(n, &outer);
    if (node.child[0] == RND_NONE) return RND_NONE;
    const int32_t x = control_formal(n, n->g->value[node.in[0]].t.data);
    const int32_t y = x == RND_NONE ? x : control_nodes(n, x);
    const bool good = y != RND_NONE && n->g->value[y].t.dtype < HOLO_SEQUENCE && control_give(n, y);
    control_end(n, &outer);
    return good ? control_add(n, &node) : RND_NONE;
}

int32_t rnd_make_control(rnd_gen *n, const hg_op *op)
{
    n->used = false;
    if (n->depth >= 2) return RND_NONE;
    if (strcmp(op->name, "If") == 0) return control_if(n, op);
    if (strcmp(op->name, "Loop") == 0) return control_loop(n, op);
    if (strcmp(op->name, "Scan") == 0) return control_scan(n, op);
    return strcmp(op->name, "SequenceMap") == 0 ? control_map(n, op) : RND_NONE;
}
