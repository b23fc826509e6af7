/* scan.c - Scan-8: a batch of sequences of different lengths. */
#include "runtime/control_text.h"

#include "op/op.h"

/* Running sums of three sequences of three numbers. */
#define SCAN(directions)                                                                           \
    "graph(%l: int64[3]) {\n%i = const float32[3,1] {0, 100, 200}\n"                               \
    "%x = const float32[3,3,1] {1, 2, 3, 4, 5, 6, 7, 8, 9}\n"                                      \
    "%f, %y = Scan(%l, %i, %x) {num_scan_inputs=1" directions "} "                                 \
    "body(%s: float32[1], %e: float32[1]) { %t = Add(%s, %e) return %t, %t }\n"                    \
    "return %f as \"f\", %y as \"y\"\n}\n"

static holo_status scan_upgrade(hg_graph *g)
{
    const hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first;
    const hg_op *op = hg_graph_node(g, id)->op;
    HG_TRY(op->upgrade(g, id, 8));
    hg_graph_remove_node(g, id);
    return hg_graph_verify(g, g->ctx->error);
}

static void scan_compare(const char *text, const float *state, const float *sums)
{
    control f;
    int64_t lengths[] = {2, 3, 0};
    if (control_open_with(&f, text, 0, NULL, scan_upgrade)) {
        control_set(&f, 0, HOLO_I64, lengths, 1, 3);
        if (control_run(&f)) {
            const holo_tensor a = control_out(&f, 0), b = control_out(&f, 1);
            CHECK_EQ_INT(holo_tensor_count(&a), 3);
            CHECK_EQ_INT(holo_tensor_count(&b), 9);
            CHECK_MEM(a.data, state, 3 * sizeof *state);
            CHECK_MEM(b.data, sums, 9 * sizeof *sums);
        }
    }
    control_close(&f);
}

static void scan_lengths(void)
{
    static const float state[] = {3, 115, 200}, sums[] = {1, 3, 0, 104, 109, 115, 0, 0, 0};
    scan_compare(SCAN(""), state, sums);
}

/* From the last place of each on. */
static void scan_lengths_backwards(void)
{
    static const float state[] = {3, 115, 200}, sums[] = {2, 3, 0, 106, 111, 115, 0, 0, 0};
    scan_compare(SCAN(", directions=[1]"), state, sums);
}

static void scan_length_too_large(void)
{
    control f;
    int64_t lengths[] = {2, 4, 0};
    if (control_open_with(&f, SCAN(""), 0, NULL, scan_upgrade)) {
        control_set(&f, 0, HOLO_I64, lengths, 1, 3);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
        CHECK_HAS(f.error.message, "index 3 at element 3 is outside -3 to 2");
    }
    control_close(&f);
}

const hg_test_case hg_tests_runtime_scan[] = {
    {"lengths", scan_lengths},
    {"lengths_backwards", scan_lengths_backwards},
    {"length_too_large", scan_length_too_large},
    {0},
};
