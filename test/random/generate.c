/* generate.c - graphs: nodes one by one, each computed alone when it is made. */
#include "random/random.h"

#include <stdio.h>

/* ---- operators ------------------------------------------------------------------------------- */

uint32_t rnd_op_count(void)
{
    uint32_t count = 0;
    for (const hg_op *const *op = hg_ops(); *op != NULL; op++)
        count += ((*op)->flags & HG_OP_INTERNAL) == 0;
    return count;
}

const hg_op *rnd_op(uint32_t i)
{
    for (const hg_op *const *op = hg_ops(); *op != NULL; op++)
        if (((*op)->flags & HG_OP_INTERNAL) == 0 && i-- == 0) return *op;
    return NULL;
}

static void generate_count(rnd_gen *n, const hg_op *op)
{
    uint32_t i = 0;
    for (const hg_op *const *at = hg_ops(); n->seen != NULL && *at != NULL; at++) {
        if (*at == op) n->seen[i]++;
        i += ((*at)->flags & HG_OP_INTERNAL) == 0;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

int32_t rnd_add_value(rnd_gen *n, holo_tensor t, bool is_const)
{
    if (n->g->n_value == RND_MAX_VALUE) return RND_NONE;
    rnd_value *v = &n->g->value[n->g->n_value];
    *v = (rnd_value){.t = t,
                     .node = RND_NONE,
                     .is_const = is_const && t.dtype < HOLO_SEQUENCE,
                     .is_wild = rnd_is_wild(&t)};
    return n->g->n_value++;
}

static void generate_keep(const rnd_graph *r, int32_t node, bool *keep)
{
    keep[node] = true;
    for (uint32_t k = 0; k < r->node[node].n_child; k++)
        for (int32_t i = 0; i < r->n_node; i++)
            if (r->node[i].body == r->node[node].child[k]) generate_keep(r, i, keep);
}

/* Gradient speaks of the nodes before it, too. */
static void generate_keep_needed(const rnd_graph *r, int32_t node, bool *keep)
{
    generate_keep(r, node, keep);
    if (strcmp(r->node[node].op->name, "Gradient") != 0) return;
    for (int32_t i = 0; i < node; i++)
        if (r->node[i].body == r->node[node].body) generate_keep(r, i, keep);
}

/* The node alone, by the reference kernels, without any pass that can be left out. */
static holo_status generate_compute(rnd_graph *r, int32_t number, holo_tensor *out, holo_error *e)
{
    bool keep[RND_MAX_NODE] = {false};
    const rnd_node *node = &r->node[number];
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    rnd_program program;
    generate_keep_needed(r, number, keep);
    options.flags = HOLO_COMPILE_NO_OPTIMIZE;
    options.numerics = HOLO_EXACT;
    options.limits = (holo_limits){.memory_bytes = 64 << 20, .tensor_bytes = 4 << 20};
    const rnd_form form = {
        .keep = keep, .body = node->body, .out = node->out, .n_out = node->n_out};
    const rnd_run how = {.open_flags = HOLO_OPEN_REFERENCE, .session_flags = HOLO_SESSION_POISON};
    holo_status status = rnd_compile(r, &form, &options, &program, e);
    if (status == HOLO_OK)
        status = rnd_run_program(r, &program, &how, &r->arena, out, node->n_out, e);
    rnd_program_free(&program);
    return status;
}

static bool generate_is_small(const holo_tensor *t)
{
    if (t->dtype >= HOLO_SEQUENCE) {
        for (int64_t i = 0; i < t->dim[0]; i++)
            if (!generate_is_small((const holo_tensor *)t->data + i)) return false;
        return t->dim[0] < 200;
    }
    return holo_tensor_count(t) <= 4 * RND_MAX_ELEMENTS;
}

bool rnd_add_node(rnd_gen *n, const rnd_node *node)
{
    rnd_graph *r = n->g;
    const int32_t number = r->n_node, n_value = r->n_value;
    holo_tensor out[RND_MAX_OUT];
    holo_error e = {0};
    if (number == RND_MAX_NODE || node->n_out > RND_MAX_OUT) return false;
    rnd_node *made = &r->node[number];
    *made = *node;
    made->body = n->body;
    for (uint32_t j = 0; j < node->n_out; j++) {
        made->out[j] = rnd_add_value(n, (holo_tensor){.dtype = HOLO_F32, .rank = 1}, false);
        if (made->out[j] == RND_NONE) return false;
        r->value[made->out[j]].node = number;
    }
    r->n_node++;
    holo_status status = generate_compute(r, number, out, &e);
    bool good = status == HOLO_OK;
    for (uint32_t j = 0; good && j < node->n_out; j++)
        good = generate_is_small(&out[j]);
    if (!good) {
        n->error = e;
        if (status == HOLO_E_BUG && n->bug == HOLO_OK) {
            n->bug = status;
            return false; /* the node stays, to be shown */
        }
        r->n_node = number;
        r->n_value = n_value;
        return false;
    }
    for (uint32_t j = 0; j < node->n_out; j++) {
        rnd_value *v = &r->value[made->out[j]];
        v->t = out[j];
        v->body = n->body;
        v->is_wild = rnd_is_wild(&out[j]);
    }
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != RND_NONE) r->value[node->in[i]].n_uses++;
    generate_count(n, node->op);
    return true;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Sizes of inputs become symbols: equal ones often the same. */
static void generate_symbols(rnd_gen *n)
{
    rnd_graph *r = n->g;
    uint8_t by_size[64] = {0};
    for (int32_t v = 0; v < r->n_value; v++) {
        rnd_value *value = &r->value[v];
        if (value->t.dtype >= HOLO_SEQUENCE || value->is_formal) continue;
        for (int32_t k = 0; k < value->t.rank; k++) {
            const int64_t size = value->t.dim[k];
            if (rnd_chance(n->source, 35) || r->n_symbol == 250) continue;
            const bool shared = size < 64 && rnd_chance(n->source, 70);
            if (shared && by_size[size] == 0) by_size[size] = (uint8_t)++r->n_symbol;
            value->symbol[k] = shared ? by_size[size] : (uint8_t)++r->n_symbol;
        }
    }
}

static void generate_outputs(rnd_gen *n)
{
    rnd_graph *r = n->g;
    for (int32_t v = 0; v < r->n_value; v++) {
        const rnd_value *value = &r->value[v];
        if (value->node == RND_NONE || value->body != 0) continue;
        if (value->n_uses == 0 || rnd_chance(n->source, 20)) r->out[r->n_out++] = v;
    }
}

/* A value that nobody uses yet, if there is one. */
static int32_t generate_loose_end(rnd_gen *n)
{
    int32_t loose = RND_NONE;
    uint32_t count = 0;
    for (int32_t v = 0; v < n->g->n_value; v++) {
        const rnd_value *value = &n->g->value[v];
        if (value->node == RND_NONE || value->body != 0) continue;
        if (value->n_uses == 0 && rnd_below(n->source, ++count) == 0) loose = v;
    }
    return loose;
}

bool rnd_generate(rnd_gen *n, const hg_op *first, const hg_op *second)
{
    const uint32_t n_ops = rnd_op_count();
    n->wanted = RND_NONE;
    if (rnd_chance(n->source, 30)) n->wanted = rnd_make(n, rnd_op(rnd_below(n->source, n_ops)));
    const int32_t a = rnd_make(n, first);
    if (a == RND_NONE && n->stats != NULL)
        snprintf(n->stats->refused, sizeof n->stats->refused, "%s", n->error.message);
    n->wanted = a;
    if (n->bug != HOLO_OK) return false;
    const int32_t b = rnd_make(n, second);
    const uint32_t more = rnd_below(n->source, 8);
    for (uint32_t i = 0; i < more && n->g->n_node < RND_MAX_NODE / 2 && n->bug == HOLO_OK; i++) {
        n->wanted = rnd_chance(n->source, 70) ? generate_loose_end(n) : RND_NONE;
        (void)rnd_make(n, rnd_op(rnd_below(n->source, n_ops)));
    }
    generate_symbols(n);
    generate_outputs(n);
    n->g->ways = (uint8_t)rnd_below(n->source, 256);
    return n->g->n_out > 0 && (a != RND_NONE || b != RND_NONE);
}
