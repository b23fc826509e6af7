/* same.c - small programs that together call every kernel: the same bits, or the same sentence,
 * from every run, with one thread or several that share every step. */
#include "fault/small.h"

enum { SAME_THREADS = 3, SAME_RUNS = 3, SAME_OUTPUTS = 16, SAME_ROUNDS = 2 };

/* What a run gave. */
typedef struct same_result {
    holo_status status;
    holo_error error;
    uint64_t hash[SAME_OUTPUTS]; /* of shape and bytes */
    uint32_t count;
} same_result;

/* Texts and what containers hold are followed to their bytes. */
static uint64_t same_hash(const holo_tensor *t, uint64_t seed)
{
    seed = hg_hash(t->dim, (size_t)t->rank * sizeof t->dim[0], seed + (uint64_t)t->dtype);
    const int64_t count = holo_tensor_count(t);
    if (t->dtype == HOLO_STRING) {
        for (int64_t i = 0; i < count; i++) {
            const holo_string *s = (const holo_string *)t->data + i;
            seed = hg_hash(s->text, (size_t)s->length, seed);
        }
    } else if (t->dtype >= HOLO_SEQUENCE) {
        for (int64_t i = 0; i < count; i++)
            seed = same_hash((const holo_tensor *)t->data + i, seed);
    } else if (count > 0) {
        seed = hg_hash(t->data, holo_tensor_bytes(t), seed);
    }
    return seed;
}

static void same_run(const holo_model *model, holo_session *session, same_result *out)
{
    *out = (same_result){.count = holo_model_output_count(model, 0)};
    if (out->count > SAME_OUTPUTS) out->count = SAME_OUTPUTS;
    out->status = holo_session_run(session, &out->error);
    for (uint32_t i = 0; out->status == HOLO_OK && i < out->count; i++) {
        holo_tensor t;
        out->status = holo_session_output(session, i, &t, &out->error);
        if (out->status == HOLO_OK) out->hash[i] = same_hash(&t, 1);
    }
}

static void same_compare(const fault_program *program, const same_result *a, const same_result *b,
                         uint32_t threads)
{
    bool equal = CHECK_EQ_INT(b->status, a->status);
    if (a->status != HOLO_OK) equal = equal && CHECK_STR(b->error.message, a->error.message);
    for (uint32_t i = 0; equal && a->status == HOLO_OK && i < a->count; i++)
        equal = CHECK(a->hash[i] == b->hash[i]);
    if (!equal) printf("    %u threads: %.200s\n", threads, program->text);
}

/* Inputs follow from the seed; all runs of all pools see the same ones. */
static bool same_program(const fault_program *program, holo_pool *const *pool, uint64_t seed)
{
    holo_tensor input[FAULT_INPUTS] = {{0}};
    same_result first = {0}, next;
    holo_model *model = NULL;
    holo_error e = {0};
    bool bound = CHECK_OK(holo_model_open_memory(program->data, program->size, holo_kernels_all(),
                                                 NULL, &model, &e),
                          &e) &&
                 holo_model_input_count(model, 0) <= FAULT_INPUTS;
    for (int k = 0; bound && k < SAME_THREADS; k++) {
        holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
        holo_session *session = NULL;
        uint64_t state = seed;
        options.flags = HOLO_SESSION_GROW | HOLO_SESSION_SPLIT | HOLO_SESSION_POISON;
        options.pool = pool[k];
        options.limits.loop_iterations = 100;
        CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
        for (uint32_t i = 0; bound && i < holo_model_input_count(model, 0); i++) {
            free(input[i].data);
            bound = fault_bind(model, session, i, &state, seed, &input[i]);
        }
        for (int run = 0; bound && run < SAME_RUNS; run++) {
            same_run(model, session, k == 0 && run == 0 ? &first : &next);
            if (k != 0 || run != 0) same_compare(program, &first, &next, k == 0 ? 1 : 1U << k);
        }
        holo_session_free(session);
    }
    holo_model_free(model);
    for (uint32_t i = 0; i < FAULT_INPUTS; i++)
        free(input[i].data);
    return bound && first.status == HOLO_OK;
}

static void same_bits(void)
{
    static fault_program program[FAULT_PROGRAMS];
    holo_pool *pool[SAME_THREADS] = {NULL};
    holo_error e = {0};
    const size_t n = fault_compile_all(program);
    size_t good = 0;
    for (uint32_t k = 1; k < SAME_THREADS; k++)
        if (!CHECK_OK(holo_pool_new(1U << k, NULL, &pool[k], &e), &e)) return;
    for (size_t i = 0; i < n; i++)
        for (uint64_t round = 1; round <= SAME_ROUNDS; round++)
            good += same_program(&program[i], pool, 1000 * i + round);
    CHECK(good > n); /* most of them run to the end in most rounds */
    fault_free_all(program, n);
    for (uint32_t k = 1; k < SAME_THREADS; k++)
        holo_pool_free(pool[k]);
}

const hg_test_case hg_tests_runtime_same[] = {
    {"bits", same_bits},
    {0},
};
