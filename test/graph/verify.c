/* verify.c - every invariant of the graph, broken one at a time. */
#include "graph/fixture.h"

static const hg_op verify_add = {.name = "Add", .in = {2, 2}, .out = {1, 1}};
static const hg_op verify_branch = {.name = "If", .in = {1, 1}, .out = {1, 2}, .n_body = 2};

/* Ids of the graph below. */
enum {
    V_CONDITION = 1,
    V_X,
    V_WEIGHT,
    V_SUM,
    V_CHOICE,
    V_ADD = 1,
    V_BRANCH,
    V_INNER_YES,
    V_INNER_NO,
    V_LAST
};

/*  graph(%condition, %x) {
 *    %weight = const float32[2] {1.0, 2.0}
 *    %sum = Add(%x, %weight)
 *    %choice = If(%condition) then() { %5 = Add(%sum, %x)  return %5 }
 *                             else() { %6 = Add(%sum, %x)  return %6 }
 *    %7 = Add(%choice, %choice)
 *    return %7, %sum } */
static fixture *verify_graph(void)
{
    static const float weight[2] = {1, 2};
    fixture *f = fixture_graph();
    hg_graph *g = &f->g;
    CHECK_EQ_INT(fixture_input(f, "condition"), V_CONDITION);
    CHECK_EQ_INT(fixture_input(f, "x"), V_X);
    CHECK_EQ_INT(fixture_const(f, HOLO_F32, (const int64_t[]){2, -1}, weight, 8), V_WEIGHT);
    CHECK_EQ_INT(fixture_node(f, 1, &verify_add, (hg_value_id[]){V_X, V_WEIGHT}, 2, 1), V_ADD);
    CHECK_EQ_INT(fixture_node(f, 1, &verify_branch, (hg_value_id[]){V_CONDITION}, 1, 1), V_BRANCH);
    for (uint32_t i = 0; i < 2; i++) {
        hg_region_id body = hg_graph_node(g, V_BRANCH)->body[i];
        hg_node_id n = fixture_node(f, body, &verify_add, (hg_value_id[]){V_SUM, V_X}, 2, 1);
        CHECK_OK(hg_graph_add_region_output(g, body, (hg_str){0}, fixture_out(f, n, 0)), &f->error);
    }
    hg_node_id n = fixture_node(f, 1, &verify_add, (hg_value_id[]){V_CHOICE, V_CHOICE}, 2, 1);
    CHECK_EQ_INT(n, V_LAST);
    CHECK_OK(hg_graph_add_region_output(g, 1, (hg_str){0}, fixture_out(f, n, 0)), &f->error);
    CHECK_OK(hg_graph_add_region_output(g, 1, (hg_str){0}, V_SUM), &f->error);
    CHECK_OK(hg_graph_verify(g, &f->error), &f->error);
    return f;
}

static void verify_good(void)
{
    fixture_free(verify_graph());
}

/* ---- one mutation each --------------------------------------------------------------- */

#define VERIFY_BREAK(name, statement)                                                              \
    static void verify_break_##name(hg_graph *g)                                                   \
    {                                                                                              \
        statement;                                                                                 \
    }

VERIFY_BREAK(dtype, g->value[V_X].type.dtype = (holo_dtype)40)
VERIFY_BREAK(rank, g->value[V_X].type.rank = 9)
VERIFY_BREAK(dim, g->value[V_X].type.dim[0] = 999)
VERIFY_BREAK(producer, g->value[V_X].node = 999)
VERIFY_BREAK(first_use, g->value[V_X].first_use = 999)
VERIFY_BREAK(const_bytes, ((hg_const *)g->value[V_WEIGHT].constant)->bytes = 7)
VERIFY_BREAK(const_data, ((hg_const *)g->value[V_WEIGHT].constant)->data = NULL)
VERIFY_BREAK(const_dim, g->value[V_WEIGHT].type.dim[0] = hg_dim_named(&g->dims, hg_str_from("n")))
VERIFY_BREAK(const_rank, g->value[V_WEIGHT].type.rank = -1)
VERIFY_BREAK(const_type, g->value[V_WEIGHT].type.dtype = HOLO_SEQUENCE)
VERIFY_BREAK(const_node, g->value[V_WEIGHT].node = V_ADD)
VERIFY_BREAK(out, g->node[V_ADD].out[0] = 999)
VERIFY_BREAK(slots, g->node[V_ADD].first_slot = 999)
VERIFY_BREAK(body, g->node[V_BRANCH].body[1] = 999)
VERIFY_BREAK(body_main, g->node[V_BRANCH].body[1] = HG_REGION_MAIN)
VERIFY_BREAK(body_twice, g->node[V_BRANCH].body[1] = g->node[V_BRANCH].body[0])
VERIFY_BREAK(region_owner, g->region[HG_REGION_MAIN].owner = V_ADD)
VERIFY_BREAK(region_input, g->region[HG_REGION_MAIN].in[0] = 0)
VERIFY_BREAK(list_next, g->node[V_ADD].next = V_ADD)
VERIFY_BREAK(list_prev, g->node[V_LAST].prev = V_ADD)
VERIFY_BREAK(list_last, g->region[HG_REGION_MAIN].last = V_BRANCH)
VERIFY_BREAK(list_region, g->node[V_LAST].region = 2)
VERIFY_BREAK(list_cut, (g->node[V_BRANCH].next = 0, g->region[HG_REGION_MAIN].last = V_BRANCH))
VERIFY_BREAK(unreached, g->node[V_BRANCH].n_body = 1)
VERIFY_BREAK(two_definitions, g->node[V_LAST].out[0] = V_SUM)
VERIFY_BREAK(out_index, g->value[V_SUM].index = 1)
VERIFY_BREAK(in_index, g->value[V_X].index = 0)
VERIFY_BREAK(stale_node, (g->node[V_ADD].out[0] = 0, g->value[V_SUM].index = 0))
VERIFY_BREAK(slot_node, g->use[g->node[V_ADD].first_slot].node = V_LAST)
VERIFY_BREAK(slot_index, g->use[g->node[V_ADD].first_slot].index = 1)
VERIFY_BREAK(slot_value, g->use[g->node[V_ADD].first_slot].value = 999)
VERIFY_BREAK(slot_changed, g->use[g->node[V_ADD].first_slot].value = V_CONDITION)
VERIFY_BREAK(slot_lost, g->node[V_ADD].n_in = 1)
VERIFY_BREAK(slot_region, g->use[g->region[1].first_slot].region = 2)
VERIFY_BREAK(use_count, g->value[V_X].n_uses++)
VERIFY_BREAK(use_list_cut, g->use[g->value[V_X].first_use - 1].next = 0)
VERIFY_BREAK(use_list_prev, g->use[g->value[V_X].first_use - 1].prev = 3)
VERIFY_BREAK(use_list_loop, g->use[g->value[V_X].first_use - 1].next = g->value[V_X].first_use)
VERIFY_BREAK(order, hg_graph_move_node(g, V_LAST, V_ADD))
VERIFY_BREAK(self, hg_graph_set_input(g, V_ADD, 0, V_SUM))
VERIFY_BREAK(inner, hg_graph_set_input(g, V_LAST, 0, g->node[V_INNER_YES].out[0]))
VERIFY_BREAK(sibling, hg_graph_set_input(g, V_INNER_NO, 0, g->node[V_INNER_YES].out[0]))
VERIFY_BREAK(own_result, hg_graph_set_input(g, V_INNER_NO, 0, V_CHOICE))
VERIFY_BREAK(returned, hg_graph_replace_uses(g, V_SUM, g->node[V_INNER_YES].out[0]))
VERIFY_BREAK(undefined, (hg_graph_replace_uses(g, V_SUM, V_X), hg_graph_remove_node(g, V_ADD),
                         hg_graph_set_input(g, V_LAST, 0, V_SUM)))
VERIFY_BREAK(no_operator, g->node[V_ADD].op = NULL)
VERIFY_BREAK(arity_in, g->node[V_ADD].op = &verify_branch)
VERIFY_BREAK(arity_body, g->node[V_BRANCH].n_out = 1; g->node[V_BRANCH].op = fixture_op("Relu"))

static const struct {
    void (*damage)(hg_graph *g);
    const char *sentence;
} verify_cases[] = {
    {verify_break_dtype, "its element type is unknown"},
    {verify_break_rank, "its rank is not valid"},
    {verify_break_dim, "a dimension is no expression"},
    {verify_break_producer, "outside the graph"},
    {verify_break_first_use, "outside the graph"},
    {verify_break_const_bytes, "number of bytes does not fit"},
    {verify_break_const_data, "without data"},
    {verify_break_const_dim, "dimensions are not numbers"},
    {verify_break_const_rank, "without rank"},
    {verify_break_const_type, "no tensor"},
    {verify_break_const_node, "also defined elsewhere"},
    {verify_break_out, "outside the graph"},
    {verify_break_slots, "outside the graph"},
    {verify_break_body, "outside the graph"},
    {verify_break_body_main, "outside the graph"},
    {verify_break_body_twice, "a body twice"},
    {verify_break_region_owner, "outside the graph"},
    {verify_break_region_input, "outside the graph"},
    {verify_break_list_next, "nodes is broken"},
    {verify_break_list_prev, "nodes is broken"},
    {verify_break_list_last, "not the last"},
    {verify_break_list_region, "nodes is broken"},
    {verify_break_list_cut, "in its list"},
    {verify_break_unreached, "a walk meets"},
    {verify_break_two_definitions, "not the one that defines it"},
    {verify_break_out_index, "not the one that defines it"},
    {verify_break_in_index, "not the one that defines it"},
    {verify_break_stale_node, "does not define it"},
    {verify_break_slot_node, "inputs are not recorded"},
    {verify_break_slot_index, "inputs are not recorded"},
    {verify_break_slot_value, "inputs are not recorded"},
    {verify_break_slot_changed, "uses is broken"},
    {verify_break_slot_lost, "uses are recorded"},
    {verify_break_slot_region, "outputs are not recorded"},
    {verify_break_use_count, "number of its uses is wrong"},
    {verify_break_use_list_cut, "number of its uses is wrong"},
    {verify_break_use_list_prev, "uses is broken"},
    {verify_break_use_list_loop, "uses is broken"},
    {verify_break_order, "used before or outside"},
    {verify_break_self, "used before or outside"},
    {verify_break_inner, "used before or outside"},
    {verify_break_sibling, "used before or outside"},
    {verify_break_own_result, "used before or outside"},
    {verify_break_returned, "used before or outside"},
    {verify_break_undefined, "used before or outside"},
    {verify_break_no_operator, "it has no operator"},
    {verify_break_arity_in, "this number of inputs"},
    {verify_break_arity_body, "this number of bodies"},
};

static void verify_broken(void)
{
    for (size_t i = 0; i < HG_COUNT(verify_cases); i++) {
        fixture *f = verify_graph();
        holo_error e = {.status = HOLO_OK};
        verify_cases[i].damage(&f->g);
        if (!CHECK_STATUS(hg_graph_verify(&f->g, &e), HOLO_E_BUG))
            printf("case %zu: %s\n", i, verify_cases[i].sentence);
        else
            CHECK_HAS(e.message, verify_cases[i].sentence);
        CHECK_STATUS(hg_graph_verify(&f->g, NULL), HOLO_E_BUG);
        fixture_free(f);
    }
}

static void verify_out_of_memory(void)
{
    fixture *f = verify_graph();
    f->limited = true;
    f->allowed = 0;
    CHECK_STATUS(hg_graph_verify(&f->g, &f->error), HOLO_E_NOMEM);
    fixture_free(f);
}

const hg_test_case hg_tests_graph_verify[] = {
    {"good", verify_good},
    {"broken", verify_broken},
    {"out_of_memory", verify_out_of_memory},
    {0},
};
