/* shrink.c - one graph from seed to verdict; a failing one is shown with as few nodes as still
 * fail. */
#include "random/random.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct shrink {
    const rnd_graph *r;
    bool keep[RND_MAX_NODE];
    int32_t out[RND_MAX_VALUE];
    uint32_t n_out;
} shrink;

static rnd_form shrink_form(const shrink *s)
{
    return (rnd_form){.keep = s->keep, .out = s->out, .n_out = s->n_out};
}

static bool shrink_fails(const shrink *s, const char *check)
{
    rnd_stats stats = {0};
    rnd_failure failure;
    const rnd_form form = shrink_form(s);
    if (s->n_out == 0) return false;
    rnd_diff(s->r, &form, check, &stats, &failure);
    return failure.check != NULL;
}

/* Outputs that no kept node gives are none. */
static void shrink_outputs(shrink *s)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < s->n_out; j++) {
        const int32_t node = s->r->value[s->out[j]].node;
        if (node != RND_NONE && s->keep[node]) s->out[n++] = s->out[j];
    }
    s->n_out = n;
}

/* Each value that a kept node gives, alone as the output. */
static bool shrink_to_one(shrink *s, const char *check)
{
    for (int32_t v = 0; v < s->r->n_value; v++) {
        const rnd_value *value = &s->r->value[v];
        if (value->node == RND_NONE || value->body != 0 || !s->keep[value->node]) continue;
        shrink trial = *s;
        trial.out[0] = v;
        trial.n_out = 1;
        if (!shrink_fails(&trial, check)) continue;
        *s = trial;
        return true;
    }
    return false;
}

static void shrink_run(shrink *s, const char *check)
{
    bool changed = true;
    (void)shrink_to_one(s, check);
    for (int round = 0; changed && round < 4; round++) {
        changed = false;
        for (int32_t i = s->r->n_node - 1; i >= 0; i--) {
            shrink trial = *s;
            if (!s->keep[i]) continue;
            trial.keep[i] = false;
            shrink_outputs(&trial);
            if (!shrink_fails(&trial, check)) continue;
            *s = trial;
            changed = true;
        }
    }
}

static void shrink_show(const rnd_graph *r, const rnd_failure *failure, const char *title)
{
    shrink s = {.r = r, .n_out = r->n_out};
    const rnd_form whole = {.out = r->out,
                            .n_out = r->n_out,
                            .constants = failure->constants,
                            .symbolic = failure->symbolic};
    rnd_stats stats = {0};
    rnd_failure small;
    printf("%s: %s: %s\n", title, failure->check, failure->why);
    rnd_print(r, &whole);
    for (int32_t i = 0; i < r->n_node; i++)
        s.keep[i] = true;
    memcpy(s.out, r->out, sizeof s.out);
    shrink_run(&s, failure->check);
    rnd_form form = shrink_form(&s);
    rnd_diff(r, &form, failure->check, &stats, &small);
    form.constants = failure->constants;
    form.symbolic = failure->symbolic;
    printf("the same with fewer nodes: %s: %s\n", failure->check, small.why);
    rnd_print(r, &form);
}

static bool shrink_bug(const rnd_gen *n, const char *title)
{
    if (n->bug == HOLO_OK) return false;
    const rnd_node *node = &n->g->node[n->g->n_node - 1];
    bool keep[RND_MAX_NODE] = {false};
    keep[n->g->n_node - 1] = true;
    const rnd_form form = {
        .keep = keep, .body = node->body, .out = node->out, .n_out = node->n_out};
    printf("%s: a node alone: %s\n", title, n->error.message);
    rnd_print(n->g, &form);
    return true;
}

bool rnd_try(rnd_source source, uint64_t *seen, rnd_stats *stats, const char *title)
{
    rnd_graph *r = calloc(1, sizeof *r);
    rnd_gen n = {.g = r, .source = &source, .seen = seen, .stats = stats};
    rnd_failure failure = {0};
    if (r == NULL) return false;
    const uint64_t pair = source.state;
    const uint32_t n_ops = rnd_op_count();
    hg_arena_init(&r->arena, NULL, 0);
    const bool made = rnd_generate(&n, rnd_op((uint32_t)(pair % n_ops)),
                                   rnd_op((uint32_t)(pair / n_ops % n_ops)));
    if (shrink_bug(&n, title)) {
        failure.check = "bug";
    } else if (made) {
        const rnd_form form = {.out = r->out, .n_out = r->n_out};
        stats->graphs++;
        stats->nodes += (uint64_t)r->n_node;
        rnd_diff(r, &form, NULL, stats, &failure);
        if (failure.check != NULL) shrink_show(r, &failure, title);
    }
    hg_arena_deinit(&r->arena);
    free(r);
    return failure.check == NULL;
}
