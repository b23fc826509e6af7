/* rule.h - tests of operators as texts: what type a node infers, what a node of constants gives,
 * what it refuses. The body of a graph defines %y; constants and other nodes may stand before it.
 */
#ifndef HG_TEST_OP_RULE_H
#define HG_TEST_OP_RULE_H

#include "eval/eval.h"
#include "graph/fixture.h"
#include "pass/pass.h"

static inline fixture *rule_parse(const char *inputs, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text, "graph(%s) {\n%s\nreturn %%y as \"y\"\n}\n", inputs, body);
    return fixture_parse(text);
}

/* Infers every node as it stands, without rewriting. */
static inline holo_status rule_infer(fixture *f)
{
    for (hg_node_id id = hg_graph_region(&f->g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(&f->g, id)->next)
        HG_TRY(hg_op_infer(&f->g, id));
    return HOLO_OK;
}

/* "float32[batch,3]" of the value named y, its known contents behind it. */
static inline void rule_type_is(fixture *f, const char *type)
{
    char expected[512];
    const char *text = fixture_dump(f), *at = strstr(text, "%y");
    snprintf(expected, sizeof expected, " : %s\n", type);
    if (at == NULL) at = "";
    const char *end = strchr(at, '\n');
    const size_t length = strlen(expected), line = end == NULL ? 0 : (size_t)(end + 1 - at);
    if (line < length || memcmp(at + line - length, expected, length) != 0)
        hg_test_fail(HG_TEST_HERE, "expected %s in\n%s", type, text);
}

/* One rule: the type of %y or, when it starts with "!", part of the sentence that refuses it. */
typedef struct rule {
    const char *inputs, *body, *type;
} rule;

static inline void rule_check(const rule *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fixture *f = rule_parse(table[i].inputs, table[i].body);
        const holo_status status = rule_infer(f);
        if (table[i].type[0] != '!') {
            if (CHECK_OK(status, &f->error)) rule_type_is(f, table[i].type);
        } else if (status == HOLO_OK) {
            hg_test_fail(HG_TEST_HERE, "accepted, expected '%s': %s", table[i].type + 1,
                         table[i].body);
        } else {
            CHECK_HAS(f->error.message, table[i].type + 1);
        }
        fixture_free(f);
    }
}

/* ---- values
 * ------------------------------------------------------------------------------------------ */

static inline holo_status rule_eval(fixture *f, hg_node_id id)
{
    hg_graph *g = &f->g;
    void *out[8] = {NULL};
    size_t bytes[8];
    const uint32_t n_out = hg_graph_node(g, id)->n_out;
    HG_TRY(hg_op_infer(g, id));
    if (!hg_eval_can(g, id)) return hg_fail(&f->error, HOLO_E_BUG, "cannot be evaluated");
    for (uint32_t j = 0; j < n_out; j++) {
        if (hg_graph_node(g, id)->out[j] == 0) continue;
        HG_TRY(hg_eval_bytes(g, id, j, &bytes[j]));
        out[j] = hg_arena_alloc(&f->ctx.arena, bytes[j] + 1);
    }
    HG_TRY(hg_eval_run(g, id, out));
    for (uint32_t j = 0; j < n_out; j++) {
        hg_value_id old = hg_graph_node(g, id)->out[j], made;
        if (old == 0) continue;
        hg_type type = hg_graph_value(g, old)->type;
        HG_TRY(hg_graph_add_const(g, (hg_str){0}, type, out[j], bytes[j], &made));
        hg_graph_replace_uses(g, old, made);
    }
    return HOLO_OK;
}

/* Rewrites composites and computes every node through the reference kernels. */
static inline holo_status rule_compute(fixture *f)
{
    bool changed = false;
    HG_TRY(hg_pass_find("infer_shapes")->run(&f->g, &changed));
    for (hg_node_id id = hg_graph_region(&f->g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(&f->g, id)->next)
        HG_TRY(rule_eval(f, id));
    return HOLO_OK;
}

/* A graph of constants: its result "int8[2] {1, -2}" or, after "!", part of the sentence that
 * refuses it. */
typedef struct rule_value {
    const char *body, *result;
} rule_value;

static inline void rule_values(const rule_value *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fixture *f = rule_parse("", table[i].body);
        char expected[1024];
        const holo_status status = rule_compute(f);
        snprintf(expected, sizeof expected, " = const %s\n  return ", table[i].result);
        if (table[i].result[0] == '!' && status != HOLO_OK) {
            CHECK_HAS(f->error.message, table[i].result + 1);
        } else if (CHECK_OK(status, &f->error)) {
            const char *text = fixture_dump(f);
            if (strstr(text, expected) == NULL)
                hg_test_fail(HG_TEST_HERE, "%s\nexpected %s in\n%s", table[i].body, table[i].result,
                             text);
        }
        fixture_free(f);
    }
}

#define RULES(table) rule_check(table, HG_COUNT(table))
#define RULE_VALUES(table) rule_values(table, HG_COUNT(table))

#endif
