/* control.c - operators whose work is done by bodies: If, Loop, Scan, SequenceMap. */
#include "oracle/oracle.h"

#include <stdio.h>

/* ---- bodies ------------------------------------------------------------------------------------
 */

static void control_node(ora_message *graph, const char *op, const char *in, const char *out)
{
    const ora_message m = ora_node(op, in, out, NULL);
    ora_put(graph, ORA_GRAPH_NODE, &m);
}

static void control_port(ora_message *graph, uint32_t field, const char *name, const ora *like)
{
    const ora_message m = ora_value_info(name, like, NULL);
    ora_put(graph, field, &m);
}

/* An output without a shape. */
static void control_out(ora_message *graph, const char *name, const ora *like)
{
    const ora bare = {.type = like->type};
    ora_message m = {0};
    if (like->type >= HOLO_SEQUENCE) {
        control_port(graph, ORA_GRAPH_OUT, name, like);
        return;
    }
    ora_message elem = {0}, type = {0};
    ora_put_int(&elem, 1, bare.type);
    ora_put(&type, 1, &elem);
    ora_put_text(&m, 1, name);
    ora_put(&m, 2, &type);
    ora_put(graph, ORA_GRAPH_OUT, &m);
}

/* ---- If ----------------------------------------------------------------------------------------
 */

/* Either branch passes one of two outer values on. */
static void control_if_check(const ora *a, const ora *b)
{
    for (int yes = 0; yes < 2; yes++) {
        ora_message branch[2] = {{0}, {0}};
        for (int k = 0; k < 2; k++) {
            ora_put_text(&branch[k], ORA_GRAPH_NAME, k ? "yes" : "no");
            control_node(&branch[k], "Identity", k ? "x1" : "x2", "t");
            control_out(&branch[k], "t", a);
        }
        ora_case c = {.op = "If",
                      ORA_IN(ora_scalar(HOLO_BOOL, yes), a, b),
                      .n_outer = 2,
                      ORA_OUT(yes ? a : b)};
        ora_put_graph_attr(&c.more, "then_branch", &branch[1]);
        ora_put_graph_attr(&c.more, "else_branch", &branch[0]);
        ora_check(&c);
    }
}

static void control_if(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "V")
    {
        control_if_check(ora_make(type, "2,3", ORA_EDGE, 0), ora_make(type, "2,3", ORA_EDGE, 4));
        control_if_check(ora_make(type, "", ORA_EDGE, 0), ora_make(type, "", ORA_EDGE, 4));
        control_if_check(ora_make(type, "2,0", ORA_EDGE, 0), ora_make(type, "2,0", ORA_EDGE, 4));
    }
    control_if_check(ora_make(HOLO_F32, "2,3", ORA_SMALL, 0),
                     ora_make(HOLO_F32, "4,1", ORA_SMALL, 4));
    ORA_EACH_TYPE(type, "SequenceConstruct", "T")
    {
        ora *x = ora_make(type, "2", ORA_EDGE, 0), *y = ora_make(type, "3", ORA_EDGE, 1);
        ora *s = ora_box(HOLO_SEQUENCE, type, 2, (ora *const[]){x, y});
        ora *t = ora_box(HOLO_SEQUENCE, type, 1, (ora *const[]){y});
        control_if_check(s, t);
        control_if_check(ora_box(HOLO_OPTIONAL, type, 1, &x), ora_box(HOLO_OPTIONAL, type, 1, &y));
        control_if_check(ora_box(HOLO_OPTIONAL, type, 1, &s), ora_box(HOLO_OPTIONAL, type, 1, &t));
    }
    /* Nothing makes containers of the other types, and Identity does not take them. */
    ora_excuse_containers("V", ~ora_types("SequenceConstruct", "T"));
}

/* ---- Loop --------------------------------------------------------------------------------------
 */

/* The body passes v on and gives it as a row of the scan output. */
static void control_loop_check(const ora *v, int64_t times, bool counted, bool scans)
{
    ora_message body = {0};
    int64_t dim[HOLO_MAX_RANK] = {times};
    ora_put_text(&body, ORA_GRAPH_NAME, "body");
    control_port(&body, ORA_GRAPH_IN, "i", ora_shape(HOLO_I64, ""));
    control_port(&body, ORA_GRAPH_IN, "go", ora_shape(HOLO_BOOL, ""));
    control_port(&body, ORA_GRAPH_IN, "v", v);
    if (counted) {
        control_node(&body, "Identity", "go", "again");
    } else { /* stops after `times` */
        const ora_message limit = ora_tensor("limit", ora_scalar(HOLO_I64, (long double)times - 1));
        ora_put(&body, ORA_GRAPH_INIT, &limit);
        control_node(&body, "Less", "i,limit", "again");
    }
    control_node(&body, "Identity", "v", "next");
    if (scans) control_node(&body, "Identity", "v", "row");
    control_out(&body, "again", ora_shape(HOLO_BOOL, ""));
    control_out(&body, "next", v);
    if (scans) control_out(&body, "row", v);
    ora_case c = {.op = "Loop", .n_in = 3, .n_out = scans ? 2 : 1};
    c.in[0] = counted ? ora_scalar(HOLO_I64, (long double)times) : NULL;
    c.in[1] = ora_scalar(HOLO_BOOL, 1);
    c.in[2] = v;
    c.out[0] = v;
    if (scans) {
        memcpy(dim + 1, v->dim, sizeof *dim * (HOLO_MAX_RANK - 1));
        ora *rows = ora_new(v->type, v->rank + 1, dim);
        for (int64_t k = 0; k < rows->count; k++)
            rows->v[k] = v->v[k % v->count];
        c.out[1] = rows;
    }
    ora_put_graph_attr(&c.more, "body", &body);
    ora_check(&c);
}

static void control_loop(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "V")
    {
        control_loop_check(ora_make(type, "2,4", ORA_EDGE, 0), 3, true, true);
        /* Rows of elements that share bytes need not fill them. */
        control_loop_check(ora_make(type, "", ORA_EDGE, 0), 4, false, true);
        control_loop_check(ora_make(type, "3", ORA_EDGE, 0), 5, true, true);
        control_loop_check(ora_make(type, "4", ORA_EDGE, 0), 0, true, true);
    }
    ORA_EACH_TYPE(type, "SequenceConstruct", "T")
    {
        ora *x = ora_make(type, "2", ORA_EDGE, 0), *s = ora_box(HOLO_SEQUENCE, type, 1, &x);
        control_loop_check(s, 2, true, false);
        control_loop_check(ora_box(HOLO_OPTIONAL, type, 1, &x), 2, true, false);
        control_loop_check(ora_box(HOLO_OPTIONAL, type, 1, &s), 2, true, false);
    }
    ora_excuse_containers("V", ~ora_types("SequenceConstruct", "T")); /* as for If */
}

/* ---- Scan --------------------------------------------------------------------------------------
 */

typedef struct control_scan_case {
    int in_axis, out_axis;
    bool in_reverse, out_reverse, add;
} control_scan_case;

/* state + row is the next state (or the state stays); each row goes out again. x is [n, m] when
 * the axis is 0, else [m, n]. */
static void control_scan_check(holo_dtype type, const control_scan_case *s, int64_t n, int64_t m)
{
    const int in_axis = s->in_axis < 0 ? s->in_axis + 2 : s->in_axis;
    const int out_axis = s->out_axis < 0 ? s->out_axis + 2 : s->out_axis;
    ora *x = ora_new(type, 2, in_axis == 0 ? (int64_t[]){n, m} : (int64_t[]){m, n});
    const ora *from = ora_make(type, "64", s->add ? ORA_SMALL : ORA_EDGE, 1);
    ora *y = ora_new(type, 2, out_axis == 0 ? (int64_t[]){n, m} : (int64_t[]){m, n});
    ora *state = ora_make(type, m == 4 ? "4" : "3", ORA_SMALL, 2),
        *last = ora_make(type, m == 4 ? "4" : "3", ORA_SMALL, 2);
    memcpy(x->v, from->v, sizeof *x->v * (size_t)x->count);
    for (int64_t t = 0; t < n; t++)
        for (int64_t j = 0; j < m; j++) {
            const int64_t row = s->in_reverse ? n - 1 - t : t, to = s->out_reverse ? n - 1 - t : t;
            const wide *w = &x->v[in_axis == 0 ? row * m + j : j * n + row];
            y->v[out_axis == 0 ? to * m + j : j * n + to] = *w;
            if (!s->add) continue;
            last->v[j].re += w->re;
            last->v[j].i = ora_wrap(type, last->v[j].i + w->i);
            last->v[j].tol = 0x1p-400L; /* quarters: exact, but for the sign of 0 */
        }
    ora_message body = {0};
    const ora *one = ora_shape(type, m == 4 ? "4" : "3");
    ora_put_text(&body, ORA_GRAPH_NAME, "body");
    control_port(&body, ORA_GRAPH_IN, "s", one);
    control_port(&body, ORA_GRAPH_IN, "r", one);
    control_node(&body, s->add ? "Add" : "Identity", s->add ? "s,r" : "s", "next");
    control_node(&body, "Identity", "r", "row");
    control_out(&body, "next", one);
    control_out(&body, "row", one);
    char attrs[200];
    snprintf(
        attrs, sizeof attrs,
        "num_scan_inputs=1 scan_input_axes=[%d] scan_output_axes=[%d] scan_input_directions=[%d] "
        "scan_output_directions=[%d]",
        s->in_axis, s->out_axis, s->in_reverse, s->out_reverse);
    ora_case c = {.op = "Scan", .attrs = attrs, ORA_IN(state, x), ORA_OUT(last, y)};
    ora_put_graph_attr(&c.more, "body", &body);
    ora_check(&c);
}

/* Scan-8: the rows of each item of a batch, up to its own length; what lies behind is 0. */
static void control_scan_batch(bool has_lengths, bool is_reverse)
{
    enum { B = 2, N = 3, M = 2 };
    const int64_t length[B] = {3, has_lengths ? 2 : 3};
    ora *state = ora_make(HOLO_F32, "2,2", ORA_SMALL, 1), *last = ora_shape(HOLO_F32, "2,2");
    ora *x = ora_make(HOLO_F32, "2,3,2", ORA_SMALL, 2), *y = ora_shape(HOLO_F32, "2,3,2");
    for (int b = 0; b < B; b++)
        for (int j = 0; j < M; j++) {
            long double sum = state->v[b * M + j].re;
            for (int64_t t = 0; t < length[b]; t++) {
                const int64_t row = is_reverse ? length[b] - 1 - t : t;
                sum += x->v[(b * N + row) * M + j].re;
                y->v[(b * N + t) * M + j].re = sum;
            }
            last->v[b * M + j].re = sum;
        }
    for (int k = 0; k < B * N * M; k++) /* quarters: exact, but for the sign of 0 */
        y->v[k].tol = last->v[k % (B * M)].tol = 0x1p-400L;
    ora_message body = {0};
    const ora *one = ora_shape(HOLO_F32, "2");
    ora_put_text(&body, ORA_GRAPH_NAME, "body");
    control_port(&body, ORA_GRAPH_IN, "s", one);
    control_port(&body, ORA_GRAPH_IN, "r", one);
    control_node(&body, "Add", "s,r", "next");
    control_node(&body, "Identity", "next", "row");
    control_out(&body, "next", one);
    control_out(&body, "row", one);
    ora_case c = {.op = "Scan",
                  .attrs = is_reverse ? "num_scan_inputs=1 directions=[1]" : "num_scan_inputs=1",
                  ORA_IN(has_lengths ? ora_ints(HOLO_I64, B, length) : NULL, state, x),
                  ORA_OUT(last, y),
                  .opset = 8};
    ora_put_graph_attr(&c.more, "body", &body);
    ora_check(&c);
}

static void control_scan(const ora_row *row)
{
    static const control_scan_case table[] = {{0, 0, false, false, false},
                                              {1, 0, false, false, false},
                                              {0, 1, true, false, false},
                                              {-1, -1, false, true, false},
                                              {0, 0, true, true, false}};
    ORA_EACH_TYPE(type, row->op, "V")
    for (size_t k = 0; k < 5; k++)
        for (int64_t m = 3; m <= 4; m++)
            control_scan_check(type, &table[k], 4, m);
    ORA_EACH_TYPE(type, "Add", "T")
    {
        control_scan_check(type, &(control_scan_case){0, 0, false, false, true}, 5, 4);
        control_scan_check(type, &(control_scan_case){1, 0, true, false, true}, 3, 4);
    }
    for (int k = 0; k < 4; k++)
        control_scan_batch(k % 2 != 0, k / 2 != 0);
}

/* ---- SequenceMap
 * --------------------------------------------------------------------------------- */

static void control_map(const ora_row *row)
{
    ORA_EACH_TYPE(type, "SequenceConstruct", "T")
    {
        ora *a = ora_make(type, "2", ORA_EDGE, 0), *b = ora_make(type, "3", ORA_EDGE, 3);
        ora *other = ora_make(type, "2,2", ORA_EDGE, 5);
        const ora *s = ora_sized(ora_box(HOLO_SEQUENCE, type, 2, (ora *const[]){a, b}));
        const ora *t = ora_sized(ora_box(HOLO_SEQUENCE, type, 2, (ora *const[]){b, a}));
        const ora *same = ora_box(HOLO_SEQUENCE, type, 2, (ora *const[]){other, other});
        for (int list = 0; list < 2; list++) {
            /* Gives the item, and what comes with it: a tensor each time, or the items of a list.
             */
            ora_message body = {0};
            ora_put_text(&body, ORA_GRAPH_NAME, "body");
            const ora_message p = ora_value_info("p", a, "p"),
                              q = ora_value_info("q", list ? b : other, "q");
            ora_put(&body, ORA_GRAPH_IN, &p);
            ora_put(&body, ORA_GRAPH_IN, &q);
            control_node(&body, "Identity", "p", "y");
            control_node(&body, "Identity", "q", "z");
            control_out(&body, "y", a);
            control_out(&body, "z", a);
            ora_case c = {.op = row->op, ORA_IN(s, list ? t : other), ORA_OUT(s, list ? t : same)};
            ora_put_graph_attr(&c.more, "body", &body);
            ora_check(&c);
        }
    }
}

const ora_row ora_rows_control[] = {
    {"If", control_if, NULL},           {"Loop", control_loop, NULL}, {"Scan", control_scan, NULL},
    {"SequenceMap", control_map, NULL}, {NULL, NULL, NULL},
};

static void control_rows(void)
{
    ora_run(ora_rows_control);
}

const hg_test_case hg_tests_oracle_control[] = {{"rows", control_rows}, {0}};
