/* prepare.c - sessions that go from size to size give what new ones give, and do not ask for memory
 * more often than they must; what steps that are alike rely on. */
#include "base/file.h"
#include "fault/memory.h"
#include "fault/small.h"
#include "runtime/session.h"

/* Four layers that are alike, a view that begins where n says, and a result that grows twice as
 * fast. */
#define PREPARE_LAYER(to, from)                                                                    \
    " %m" to " = MatMul(%" from ", %w) %a" to " = Add(%m" to ", %" from ") %" to                   \
    " = Softmax(%a" to ")"
static const char prepare_text[] =
    "graph(%x: float32[n,4]) { %w = const float32[4,4] {0.5,1.0,-1.0,0.25,1.0,0.0,0.5,-0.5,"
    "0.125,1.0,0.5,0.5,-1.0,0.5,0.25,1.0} %from = const int64[1] {-1} %to = const int64[1] "
    "{1000000}" PREPARE_LAYER("p", "x") PREPARE_LAYER("q", "p") PREPARE_LAYER("r", "q")
        PREPARE_LAYER("s", "r") " %both = Concat(%s, %x) {axis=0} %y = MatMul(%both, %w) %last = "
                                "Slice(%both, %from, %to)"
                                " return %y as \"y\", %last as \"last\" }";

enum { PREPARE_MOST = 200 };

typedef struct prepare_fixture {
    fault_bytes bytes;
    holo_model *model;
    holo_session *session;
    fault_memory memory;
    holo_error e;
    float x[PREPARE_MOST * 4];
} prepare_fixture;

/* bound: of n; -1: none. */
static bool prepare_begin(prepare_fixture *f, int64_t bound)
{
    holo_session_options session = HOLO_SESSION_OPTIONS_INIT;
    *f = (prepare_fixture){.bytes = fault_holo(prepare_text)};
    hg_symbol_rec *symbol = (hg_symbol_rec *)(uintptr_t)fault_program_of(f->bytes).symbol;
    symbol[0].at_most = bound;
    fault_seal(f->bytes.data, f->bytes.size);
    holo_allocator alloc = fault_memory_allocator(&f->memory);
    session.allocator = &alloc;
    for (int i = 0; i < PREPARE_MOST * 4; i++)
        f->x[i] = (float)(i % 23) / 8 - 1;
    return CHECK_OK(holo_model_open_memory(f->bytes.data, f->bytes.size, holo_kernels_all(), NULL,
                                           &f->model, &f->e),
                    &f->e) &&
           CHECK_OK(holo_session_new(f->model, &session, &f->session, &f->e), &f->e);
}

static void prepare_end(prepare_fixture *f)
{
    holo_session_free(f->session);
    holo_model_free(f->model);
    free(f->bytes.data);
    CHECK_EQ_INT((int64_t)f->memory.live, 0);
}

static holo_status prepare_run(prepare_fixture *f, holo_session *s, int64_t n)
{
    const holo_tensor t = {.data = f->x, .dim = {n, 4}, .rank = 2, .dtype = HOLO_F32};
    HG_TRY(holo_session_set_input(s, 0, &t, &f->e));
    return holo_session_run(s, &f->e);
}

/* The fixture's session at n rows against one that has never had another size. */
static void prepare_compare(prepare_fixture *f, int64_t n)
{
    holo_session *fresh = NULL;
    if (!CHECK_OK(holo_session_new(f->model, NULL, &fresh, &f->e), &f->e)) return;
    CHECK_OK(prepare_run(f, fresh, n), &f->e);
    CHECK_OK(prepare_run(f, f->session, n), &f->e);
    for (uint32_t i = 0; i < 2; i++) {
        holo_tensor a, b;
        CHECK_OK(holo_session_output(fresh, i, &a, &f->e), &f->e);
        CHECK_OK(holo_session_output(f->session, i, &b, &f->e), &f->e);
        CHECK_EQ_INT(a.dim[0], i == 0 ? 2 * n : 1);
        CHECK_EQ_INT(b.dim[0], a.dim[0]);
        CHECK_MEM(b.data, a.data, holo_tensor_bytes(&a));
    }
    holo_session_free(fresh);
}

static void prepare_sizes(void)
{
    static const int64_t n[] = {3, 4, 1, 100, 2, 99, 101, 101, 5, 200, 3};
    prepare_fixture f;
    if (!prepare_begin(&f, -1)) return;
    for (size_t i = 0; i < HG_COUNT(n); i++)
        prepare_compare(&f, n[i]);
    prepare_end(&f);
}

/* With a buffer for a result: it is checked against every size. */
static void prepare_bound_output(void)
{
    static float y[2 * PREPARE_MOST * 4];
    prepare_fixture f;
    if (!prepare_begin(&f, -1)) return;
    for (int64_t n = 10; n < 14; n++) {
        CHECK_OK(holo_session_set_output(f.session, 0, y, sizeof(float) * 8 * 12, &f.e), &f.e);
        if (n <= 12)
            prepare_compare(&f, n);
        else
            CHECK_STATUS(prepare_run(&f, f.session, n), HOLO_E_ARG);
    }
    prepare_compare(&f, 11);
    CHECK_OK(holo_session_set_output(f.session, 0, NULL, 0, &f.e), &f.e);
    prepare_compare(&f, 11);
    prepare_end(&f);
}

/* Room for values is made for the bound at once. */
static void prepare_bounded(void)
{
    prepare_fixture f;
    if (!prepare_begin(&f, 64)) return;
    CHECK_OK(prepare_run(&f, f.session, 1), &f.e);
    const size_t calls = f.memory.calls;
    for (int64_t n = 1; n <= 64; n++)
        CHECK_OK(prepare_run(&f, f.session, n), &f.e);
    CHECK(f.memory.calls - calls <= 2); /* scratch, which no bound is known of */
    CHECK_STATUS(prepare_run(&f, f.session, 65), HOLO_E_SHAPE);
    CHECK_HAS(f.e.message, "at most 64");
    prepare_compare(&f, 64);
    prepare_compare(&f, 7);
    prepare_end(&f);
}

/* A bound that cannot be met is none. */
static void prepare_wide_bound(void)
{
    prepare_fixture f;
    holo_session_stats stats;
    if (!prepare_begin(&f, INT64_C(1) << 40)) return;
    prepare_compare(&f, 2);
    holo_session_get_stats(f.session, &stats);
    CHECK(stats.arena_bytes < 1024);
    prepare_compare(&f, 3);
    prepare_end(&f);
}

/* Without a bound memory grows ahead of the sizes. */
static void prepare_grows(void)
{
    prepare_fixture f;
    if (!prepare_begin(&f, -1)) return;
    CHECK_OK(prepare_run(&f, f.session, 20), &f.e);
    const size_t calls = f.memory.calls;
    for (int64_t n = 21; n <= PREPARE_MOST; n++)
        CHECK_OK(prepare_run(&f, f.session, n), &f.e);
    CHECK(f.memory.calls - calls < 20); /* 1.25^12 is more than the 10 times it grows */
    prepare_compare(&f, PREPARE_MOST);
    prepare_end(&f);
}

/* A limit on memory leaves no room for growing ahead: what fits exactly is accepted. */
static void prepare_limited(void)
{
    prepare_fixture f;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session_stats stats;
    holo_session *s = NULL;
    if (!prepare_begin(&f, 64)) return;
    options.limits.memory_bytes = 1 << 20;
    CHECK_OK(holo_session_new(f.model, &options, &s, &f.e), &f.e);
    CHECK_OK(prepare_run(&f, s, 2), &f.e);
    holo_session_get_stats(s, &stats);
    CHECK(stats.arena_bytes < 1024); /* for 2 rows, not for 64 */
    CHECK_OK(prepare_run(&f, s, 3), &f.e);
    holo_session_free(s);
    prepare_end(&f);
}

/* Results that fill large pages are aligned to them, unless memory is another allocator's or taken
 * ahead; numbers do not depend on it. */
static void prepare_large_pages(void)
{
    enum { ROWS = 200000 };
    float *x = malloc(sizeof(float) * ROWS * 4);
    holo_session *s = NULL;
    holo_tensor own, theirs;
    prepare_fixture f;
    if (!CHECK(x != NULL) || !prepare_begin(&f, -1)) return;
    for (int i = 0; i < ROWS * 4; i++)
        x[i] = (float)(i % 29) / 16 - 1;
    const holo_tensor t = {.data = x, .dim = {ROWS, 4}, .rank = 2, .dtype = HOLO_F32};
    CHECK_OK(holo_session_new(f.model, NULL, &s, &f.e), &f.e);
    CHECK_OK(prepare_run(&f, s, 2), &f.e);
    CHECK(s->slab.bytes < HG_LARGE_PAGE && !s->slab.wants_large);
    CHECK_OK(holo_session_set_input(s, 0, &t, &f.e), &f.e);
    CHECK_OK(holo_session_prepare(s, &f.e), &f.e);
    CHECK(s->slab.wants_large && (uintptr_t)s->slab.data % HG_LARGE_PAGE == 0);
    CHECK_OK(holo_session_run(s, &f.e), &f.e);
    CHECK(!s->slab.wants_large);
    CHECK_OK(holo_session_set_input(f.session, 0, &t, &f.e), &f.e);
    CHECK_OK(holo_session_run(f.session, &f.e), &f.e);
    CHECK_EQ_INT((int64_t)(f.session->slab.taken - f.session->slab.bytes), HG_ALIGN);
    CHECK_OK(holo_session_output(s, 0, &own, &f.e), &f.e);
    CHECK_OK(holo_session_output(f.session, 0, &theirs, &f.e), &f.e);
    CHECK_MEM(own.data, theirs.data, holo_tensor_bytes(&own));
    holo_session_free(s);
    prepare_end(&f);
    free(x);
}

/* ---- operands ---------------------------------------------------------------------------------
 */

/* Operand k of a step is a tensor of value v. */
static void prepare_check_operand(const holo_session *s, const holo_tensor *operand, uint32_t v)
{
    const holo_tensor *t = hg_session_tensor(s, v);
    CHECK(operand->data == t->data && operand->dtype == t->dtype && operand->rank == t->rank);
    CHECK_MEM(operand->dim, t->dim, (size_t)t->rank * sizeof *t->dim);
}

/* A step takes the tensor that the step before gives, not a copy; all others have places apart. */
static void prepare_shares(void)
{
    prepare_fixture f;
    if (!prepare_begin(&f, -1)) return;
    CHECK_OK(prepare_run(&f, f.session, 7), &f.e);
    const holo_session *s = f.session;
    const hg_program *p = &s->graph->program;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        const hg_step_rec *r = &p->step[i];
        const holo_tensor *in = s->step[i].in, *out = hg_step_out(&s->step[i]);
        for (uint32_t k = 0; k < r->n_in; k++)
            prepare_check_operand(s, &in[k], p->list[r->in + k]);
        for (uint32_t k = 0; k < r->n_out; k++)
            prepare_check_operand(s, &out[k], p->list[r->out + k]);
        if (i == 0) continue;
        const holo_tensor *end = hg_step_out(&s->step[i - 1]) + s->step[i - 1].n_out;
        CHECK(in == end || in == end - 1);
        if (in == end) continue;
        CHECK_EQ_INT(p->list[r->in], p->list[p->step[i - 1].out + p->step[i - 1].n_out - 1]);
        shared++;
    }
    CHECK(shared >= 6); /* four layers of two steps */
    prepare_end(&f);
}

/* ---- what steps that are alike rely on ------------------------------------------------------- */

typedef struct prepare_answers {
    holo_status status;
    hg_work work;
    hg_cost cost;
} prepare_answers;

static prepare_answers prepare_ask(const hg_kernel *k, const hg_args *a)
{
    prepare_answers r = {.status = k->check(a, NULL)};
    if (r.status != HOLO_OK) return r;
    r.work = hg_kernel_work(k, a);
    if (k->cost != NULL) k->cost(a, &r.cost);
    return r;
}

/* Lane code whose constants are other ones. */
static hg_lane_code prepare_other_constants(const hg_lane_code *code, hg_lane_op *op)
{
    hg_lane_code other = *code;
    memcpy(op, code->op, code->n_op * sizeof *op);
    for (uint32_t i = 0; i < code->n_op; i++)
        if (op[i].op == HG_LANE_CONST) op[i].imm ^= UINT32_C(0x3f9a3c17);
    other.op = op;
    return other;
}

/* Asked again with addresses that cannot be read and other constants, a kernel says the same. */
static void prepare_ask_blind(const hg_kernel *k, const holo_session *s, uint32_t step)
{
    enum { MOST = 64 };
    holo_tensor in[MOST], out[MOST];
    static hg_lane_op op[HG_LANE_MAX_OP];
    hg_lane_code code;
    const hg_args own = hg_session_args(s, &s->step[step]);
    hg_args a = own;
    if (a.n_in > MOST || a.n_out > MOST) return;
    memcpy(in, a.in, a.n_in * sizeof *in);
    memcpy(out, a.out, a.n_out * sizeof *out);
    for (uint32_t i = 0; i < a.n_in; i++)
        if (in[i].dtype != HOLO_NONE) in[i].data = (void *)(uintptr_t)HG_ALIGN;
    for (uint32_t i = 0; i < a.n_out; i++)
        if (out[i].dtype != HOLO_NONE) out[i].data = (void *)(uintptr_t)HG_ALIGN;
    a.in = in;
    a.out = out;
    if (a.code != NULL) {
        code = prepare_other_constants(a.code, op);
        a.code = &code;
    }
    const prepare_answers seen = prepare_ask(k, &own), blind = prepare_ask(k, &a);
    if (!CHECK(seen.status == blind.status && seen.work.units == blind.work.units &&
               seen.work.scratch == blind.work.scratch && seen.cost.flops == blind.cost.flops &&
               seen.cost.bytes == blind.cost.bytes))
        printf("    kernel %s\n", k->name);
}

/* Binds all inputs, with small sizes, and prepares. */
static bool prepare_some(const holo_model *model, holo_session *s, holo_tensor *input,
                         uint64_t *state)
{
    const uint32_t count = holo_model_input_count(model, 0);
    const uint64_t round = fault_random(state);
    bool bound = count <= FAULT_INPUTS;
    for (uint32_t i = 0; bound && i < count; i++)
        bound = fault_bind(model, s, i, state, round, &input[i]);
    return bound && holo_session_prepare(s, NULL) == HOLO_OK;
}

static size_t prepare_blind_program(const fault_program *program, uint64_t *state)
{
    holo_tensor input[FAULT_INPUTS] = {{0}};
    holo_model *model = NULL;
    holo_session *s = NULL;
    holo_error e = {0};
    size_t asked = 0;
    CHECK_OK(
        holo_model_open_memory(program->data, program->size, holo_kernels_all(), NULL, &model, &e),
        &e);
    CHECK_OK(holo_session_new(model, NULL, &s, &e), &e);
    const hg_model_graph *g = &model->graph[0];
    const bool is_ready = prepare_some(model, s, input, state);
    for (uint32_t i = 0; is_ready && i < g->program.head.n_step; i++) {
        const hg_step_rec *r = &g->program.step[i];
        if (r->op != HG_STEP_KERNEL || g->step_late[i]) continue;
        prepare_ask_blind(g->kernel[r->kernel], s, i);
        prepare_ask_blind(g->reference[r->kernel], s, i);
        asked++;
    }
    holo_session_free(s);
    holo_model_free(model);
    for (uint32_t i = 0; i < FAULT_INPUTS; i++)
        free(input[i].data);
    return asked;
}

static void prepare_blind(void)
{
    static fault_program program[FAULT_PROGRAMS];
    const size_t n = fault_compile_all(program);
    size_t asked = 0;
    uint64_t state = 5;
    for (size_t i = 0; i < n; i++)
        asked += prepare_blind_program(&program[i], &state);
    CHECK(asked > n); /* most programs have several steps */
    fault_free_all(program, n);
}

const hg_test_case hg_tests_runtime_prepare[] = {
    {"sizes", prepare_sizes},
    {"bound_output", prepare_bound_output},
    {"bounded", prepare_bounded},
    {"grows", prepare_grows},
    {"limited", prepare_limited},
    {"shares", prepare_shares},
    {"blind", prepare_blind},
    {"wide_bound", prepare_wide_bound},
    {"large_pages", prepare_large_pages},
    {0},
};
