/* memo.c - any bytes as a .holo file, with the hashes made right: a session with a memo gives what
 * one without gives, whatever parts of its runs are known. Inputs come back often. */
#include "fuzz.h"
#include "holo.h"

enum { MEMO_ROUNDS = 8 };

typedef struct memo_pair {
    holo_model *model;
    holo_memo *memo;
    holo_session *plain, *knowing;
} memo_pair;

static holo_status memo_open(const uint8_t *data, size_t size, uint64_t *state, memo_pair *p)
{
    static const size_t room[] = {1 << 12, 1 << 14, 1 << 16, 1 << 18};
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_memo_options memo = HOLO_MEMO_OPTIONS_INIT;
    open.limits.memory_bytes = UINT64_C(64) << 20;
    memo.memory_bytes = room[fault_below(state, 4)];
    options.flags = HOLO_SESSION_GROW | HOLO_SESSION_POISON;
    options.late_bytes = 4096;
    options.limits = (holo_limits){
        .memory_bytes = UINT64_C(64) << 20, .tensor_bytes = 1 << 16, .loop_iterations = 100};
    HG_TRY(holo_model_open_memory(data, size, holo_kernels_all(), &open, &p->model, NULL));
    HG_TRY(holo_memo_new(p->model, &memo, &p->memo, NULL));
    HG_TRY(holo_session_new(p->model, &options, &p->plain, NULL));
    options.memo = p->memo;
    return holo_session_new(p->model, &options, &p->knowing, NULL);
}

/* Some inputs stay what they were; the others are new. */
static bool memo_bind(memo_pair *p, holo_tensor *input, uint32_t n, uint64_t *state, uint64_t sizes)
{
    const uint64_t again = fault_random(state);
    for (uint32_t i = 0; i < n; i++) {
        if (input[i].data != NULL && (again >> i & 1) != 0) continue;
        free(input[i].data);
        input[i].data = NULL;
        if (!fault_bind(p->model, p->plain, i, state, sizes, &input[i]) ||
            holo_session_set_input(p->knowing, i, &input[i], NULL) != HOLO_OK)
            return false;
    }
    return true;
}

static void memo_compare(const memo_pair *p)
{
    const holo_status first = holo_session_run(p->plain, NULL),
                      second = holo_session_run(p->knowing, NULL);
    if (first == HOLO_E_LIMIT || first == HOLO_E_NOMEM) return;
    FUZZ_REQUIRE(first == second);
    for (uint32_t i = 0; first == HOLO_OK && i < holo_model_output_count(p->model, 0); i++) {
        holo_tensor a, b;
        FUZZ_REQUIRE(holo_session_output(p->plain, i, &a, NULL) == HOLO_OK);
        FUZZ_REQUIRE(holo_session_output(p->knowing, i, &b, NULL) == HOLO_OK);
        const size_t bytes = holo_tensor_bytes(&a);
        FUZZ_REQUIRE(a.dtype == b.dtype && a.rank == b.rank && bytes == holo_tensor_bytes(&b));
        FUZZ_REQUIRE(memcmp(a.dim, b.dim, (size_t)a.rank * sizeof *a.dim) == 0);
        FUZZ_REQUIRE(bytes == 0 || memcmp(a.data, b.data, bytes) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = holo_sealed(data, size);
    uint64_t state = hg_hash(copy, size, 0);
    holo_tensor input[FAULT_INPUTS] = {{0}};
    memo_pair p = {0};
    const uint64_t sizes = fault_random(&state);
    if (memo_open(copy, size, &state, &p) == HOLO_OK) {
        const uint32_t n = holo_model_input_count(p.model, 0);
        for (int round = 0; n <= FAULT_INPUTS && round < MEMO_ROUNDS; round++)
            if (memo_bind(&p, input, n, &state, sizes)) memo_compare(&p);
    }
    for (uint32_t i = 0; i < FAULT_INPUTS; i++)
        free(input[i].data);
    holo_session_free(p.knowing);
    holo_session_free(p.plain);
    holo_memo_free(p.memo);
    holo_model_free(p.model);
    free(copy);
    return 0;
}
