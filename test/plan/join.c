/* join.c - Concat without a copy: which ones are no steps, and that the numbers are the same.
 *
 * Every case gives parts that are x times a factor, side by side; x is [m,n,3]. */
#include "fault/small.h"

enum { JOIN_PARTS = 4, JOIN_MOST = 2 * 5 * 3 };

typedef struct join_case {
    const char *name, *text;
    uint32_t steps, concats; /* of the program */
    int axis;
    float factor[JOIN_PARTS]; /* 0: no such part */
} join_case;

#define JOIN_A " %a = Neg(%x)"
#define JOIN_B " %b = Add(%x, %x)"
#define JOIN_1 "graph(%x: float32[1,n,3]) {" JOIN_A JOIN_B
#define JOIN_M "graph(%x: float32[m,n,3]) {" JOIN_A JOIN_B

static const join_case join_cases[] = {
    {"results", JOIN_1 " %c = Concat(%a, %b) {axis=1} return %c as \"c\" }", 2, 0, 1, {-1, 2}},
    {"an input", JOIN_1 " %c = Concat(%x, %a) {axis=-2} return %c as \"c\" }", 2, 1, 1, {1, -1}},
    {"one result twice",
     JOIN_1 " %c = Concat(%a, %b, %a) {axis=1} return %c as \"c\" }",
     3,
     1,
     1,
     {-1, 2, -1}},
    {"two to copy",
     JOIN_1 " %c = Concat(%x, %a, %x) {axis=1} return %c as \"c\" }",
     2,
     1,
     1,
     {1, -1, 1}},
    {"a part of a part",
     JOIN_1 " %d = Concat(%b, %a) {axis=1} %e = Concat(%d, %x) {axis=1} return %e as \"c\" }",
     3,
     1,
     1,
     {2, -1, 1}},
    {"in two at once",
     JOIN_1 " %d = Concat(%a, %b) {axis=1} %e = Concat(%d, %b) {axis=1} return %e as \"c\" }",
     3,
     1,
     1,
     {-1, 2, 2}},
    {"seen as another shape",
     "graph(%x: float32[1,n,3]) { %s = const int64[2] {3,-1} %t = const int64[3] {1,-1,3}"
     " %y = Reshape(%x, %s) %a = Neg(%y) %b = Reshape(%a, %t) %c = Concat(%b, %x) {axis=1}"
     " return %c as \"c\" }",
     2,
     1,
     1,
     {-1, 1}},
    {"read elsewhere too",
     JOIN_1 " %d = Add(%a, %b) %c = Concat(%a, %d) {axis=1} return %c as \"c\" }",
     2,
     0,
     1,
     {-1, 1}},
    {"given back too",
     JOIN_1 " %c = Concat(%a, %b) {axis=1} return %c as \"c\", %a as \"a\" }",
     3,
     1,
     1,
     {-1, 2}},
    {"batches", JOIN_M " %c = Concat(%a, %b) {axis=1} return %c as \"c\" }", 3, 1, 1, {-1, 2}},
    {"outermost", JOIN_M " %c = Concat(%a, %b) {axis=0} return %c as \"c\" }", 2, 0, 0, {-1, 2}},
    {"outermost, one result three times",
     JOIN_M " %c = Concat(%a, %a, %a) {axis=0} return %c as \"c\" }",
     2,
     1,
     0,
     {-1, -1, -1}},
    {"views of what has parts",
     JOIN_1 " %c = Concat(%a, %b) {axis=1} %p, %q = Split(%c) {axis=1, num_outputs=2}"
            " %f = Neg(%q) %g = Concat(%p, %f) {axis=1} return %g as \"c\" }",
     4,
     1,
     1,
     {-1, -2}},
};

static uint32_t join_count(const hg_program *p, const char *kernel)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->head.n_step; i++)
        count += p->step[i].op == HG_STEP_KERNEL &&
                 strcmp(p->text + p->kernel[p->step[i].kernel], kernel) == 0;
    return count;
}

/* Row `at` of all that lies side by side: part by part, or one behind the other. */
static void join_check(const join_case *t, const float *x, int64_t m, int64_t n, const float *out)
{
    const int64_t outer = t->axis == 0 ? 1 : m, inner = t->axis == 0 ? m * n * 3 : n * 3;
    for (int64_t o = 0; o < outer; o++)
        for (int k = 0; k < JOIN_PARTS && t->factor[k] != 0; k++)
            for (int64_t i = 0; i < inner; i++)
                if (!CHECK_NEAR(*out++, t->factor[k] * x[o * inner + i], 0)) {
                    fprintf(stderr, "in '%s', part %d\n", t->name, k);
                    return;
                }
}

static void join_run(const join_case *t, fault_bytes b)
{
    static const int64_t sizes[] = {2, 5, 0, 1, 4};
    float x[JOIN_MOST], given[JOIN_PARTS * JOIN_MOST];
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_error e = {0};
    options.flags = HOLO_SESSION_POISON;
    for (int i = 0; i < JOIN_MOST; i++)
        x[i] = (float)(i + 1);
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
    for (size_t k = 0; k < HG_COUNT(sizes); k++) {
        const int64_t m = strstr(t->text, "[m,") != NULL ? 2 : 1, n = sizes[k];
        holo_tensor in = {.data = x, .dim = {m, n, 3}, .rank = 3, .dtype = HOLO_F32}, out;
        if (k == 3) CHECK_OK(holo_session_set_output(session, 0, given, sizeof given, &e), &e);
        CHECK_OK(holo_session_set_input(session, 0, &in, &e), &e);
        if (!CHECK_OK(holo_session_run(session, &e), &e)) break;
        CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
        join_check(t, x, m, n, out.data);
    }
    holo_session_free(session);
    holo_model_free(model);
}

static void join_all(void)
{
    for (size_t i = 0; i < HG_COUNT(join_cases); i++) {
        const join_case *t = &join_cases[i];
        fault_bytes b = fault_holo(t->text);
        hg_program p = fault_program_of(b);
        const uint32_t concats = join_count(&p, "concat");
        if (!CHECK_EQ_INT(p.head.n_step, t->steps) || !CHECK_EQ_INT(concats, t->concats))
            fprintf(stderr, "in '%s'\n", t->name);
        join_run(t, b);
        free(b.data);
    }
}

/* Sizes that a run finds leave Concat as it is. */
static void join_late(void)
{
    fault_bytes b = fault_holo("graph(%x: float32[n,3]) { %a = NonZero(%x) %b = Neg(%a)"
                               " %c = Concat(%b, %a) {axis=0} return %c as \"c\" }");
    hg_program p = fault_program_of(b);
    CHECK_EQ_INT(join_count(&p, "concat"), 1);
    free(b.data);
}

/* ---- files that lie ---------------------------------------------------------------------------
 */

#define JOIN_SMALL JOIN_1 " %c = Concat(%a, %b) {axis=1} %d = Neg(%c) return %d as \"d\" }"

static holo_status join_try(fault_bytes b, holo_error *e)
{
    float x[6] = {1, 2, 3, 4, 5, 6};
    holo_tensor in = {.data = x, .dim = {1, 2, 3}, .rank = 3, .dtype = HOLO_F32};
    holo_model *model = NULL;
    holo_session *session = NULL;
    fault_seal(b.data, b.size);
    holo_status s = holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, e);
    if (s == HOLO_OK) s = holo_session_new(model, NULL, &session, e);
    if (s == HOLO_OK) s = holo_session_set_input(session, 0, &in, e);
    if (s == HOLO_OK) s = holo_session_run(session, e);
    holo_session_free(session);
    holo_model_free(model);
    return s;
}

/* The value that output 0 of step i is. */
static uint32_t *join_out(hg_program *p, uint32_t i)
{
    return (uint32_t *)(uintptr_t)&p->list[p->step[i].out];
}

static hg_value_rec *join_value(hg_program *p, uint32_t v)
{
    return (hg_value_rec *)(uintptr_t)&p->value[v];
}

typedef void (*join_damage)(hg_program *p);

static void join_beyond(hg_program *p) /* the second part begins behind all of it */
{
    hg_dim_rec *d = (hg_dim_rec *)(uintptr_t)&p->dim[join_value(p, *join_out(p, 1))->offset];
    *d = (hg_dim_rec){.op = HG_DIM_CONST, .value = 1 << 20};
}

static void join_onto(hg_program *p) /* step 1 reads the part it writes */
{
    const uint32_t v = *join_out(p, 0);
    join_value(p, *join_out(p, 1))->offset = 0;
    *(uint32_t *)(uintptr_t)&p->list[p->step[1].in] = v;
}

static void join_input(hg_program *p) /* a part of the caller's input */
{
    hg_value_rec *v = join_value(p, *join_out(p, 0));
    v->ref = p->in[0].value;
}

static void join_whole(hg_program *p) /* the last step computes what has parts */
{
    *join_out(p, 2) = join_value(p, *join_out(p, 0))->ref;
}

static void join_twice(hg_program *p)
{
    *join_out(p, 1) = *join_out(p, 0);
}

static void join_text(hg_program *p) /* texts in parts: unwritten ones would point anywhere */
{
    const uint32_t v = *join_out(p, 0);
    join_value(p, v)->dtype = join_value(p, join_value(p, v)->ref)->dtype = HOLO_STRING;
    join_value(p, *join_out(p, 1))->dtype = HOLO_STRING;
}

static void join_result(hg_program *p) /* a part of what the last step computes */
{
    hg_value_rec *v = join_value(p, *join_out(p, 0));
    *join_out(p, 2) = v->ref;
    const uint32_t first = p->step[0].out;
    ((hg_step_rec *)(uintptr_t)p->step)[0].out = p->step[2].out;
    ((hg_step_rec *)(uintptr_t)p->step)[2].out = first;
}

/* The second part begins where data say. */
static void join_late_part(void)
{
    fault_bytes b = fault_holo("graph(%x: float32[1,n,3]) { %z = NonZero(%x)" JOIN_A JOIN_B
                               " %c = Concat(%a, %b) {axis=1} return %c as \"c\", %z as \"z\" }");
    hg_program p = fault_program_of(b);
    holo_error e = {0};
    CHECK_EQ_INT(p.head.n_step, 3);
    join_value(&p, *join_out(&p, 2))->offset = p.list[join_value(&p, *join_out(&p, 0))->dims + 1];
    CHECK_STATUS(join_try(b, &e), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "whose size depends on the run");
    free(b.data);
}

static void join_hostile(void)
{
    static const struct {
        join_damage damage;
        const char *sentence;
    } row[] = {
        {join_beyond, "is a view of 24 bytes at element 1048576"},
        {join_onto, "that it uses too"},
        {join_input, "writes value"},
        {join_whole, "a second time"},
        {join_twice, "a second time"},
        {join_text, "which it may not"},
        {join_result, "which another step computes"},
    };
    for (size_t i = 0; i < HG_COUNT(row); i++) {
        fault_bytes b = fault_holo(JOIN_SMALL);
        hg_program p = fault_program_of(b);
        holo_error e = {0};
        CHECK_EQ_INT(p.head.n_step, 3);
        row[i].damage(&p);
        CHECK(join_try(b, &e) != HOLO_OK);
        CHECK_HAS(e.message, row[i].sentence);
        free(b.data);
    }
}

const hg_test_case hg_tests_plan_join[] = {
    {"all", join_all},
    {"late", join_late},
    {"hostile", join_hostile},
    {"late_part", join_late_part},
    {0},
};
