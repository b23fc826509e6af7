/* fault.h - what damages .holo bytes and then tries them: random numbers, seals, a careful run. */
#ifndef HG_TEST_FAULT_FAULT_H
#define HG_TEST_FAULT_FAULT_H

#include "archive/holo.h"
#include "base/dtype.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* ---- random numbers ------------------------------------------------------------------------- */

/* The same on every machine. */
static inline uint64_t fault_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint32_t fault_below(uint64_t *state, uint32_t n)
{
    return n == 0 ? 0 : (uint32_t)(fault_random(state) % n);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* A copy that starts at a multiple of 64 and ends where its memory ends. */
static inline uint8_t *fault_copy(const void *data, size_t size)
{
    void *copy = NULL;
    if (posix_memalign(&copy, HG_ALIGN, size == 0 ? 1 : size) != 0) abort();
    if (size != 0) memcpy(copy, data, size);
    return copy;
}

/* The section table, or NULL when the head is too damaged to have one. */
static inline hg_holo_section *fault_sections(uint8_t *data, size_t size, uint32_t *count)
{
    hg_holo_head *head = (hg_holo_head *)(void *)data;
    if (size < sizeof *head || head->n_section == 0) return NULL;
    if (head->n_section > (size - sizeof *head) / sizeof(hg_holo_section)) return NULL;
    *count = head->n_section;
    return (hg_holo_section *)(void *)(data + sizeof *head);
}

/* Makes every hash right again, so that what lies behind the hashes is reached. */
static inline void fault_seal(uint8_t *data, size_t size)
{
    uint32_t count;
    hg_holo_head *head = (hg_holo_head *)(void *)data;
    hg_holo_section *table = fault_sections(data, size, &count);
    if (table == NULL) return;
    for (uint32_t i = 0; i < count; i++)
        if (table[i].offset <= size && table[i].size <= size - table[i].offset)
            table[i].hash = hg_hash_blocks(data + table[i].offset, (size_t)table[i].size);
    head->hash = 0;
    head->hash = hg_hash(table, count * sizeof *table, hg_hash(head, sizeof *head, 0));
}

/* ---- running -------------------------------------------------------------------------------- */

enum { FAULT_INPUTS = 16, FAULT_INPUT_BYTES = 1 << 16 };

/* Elements that operators take for indices, sizes, numbers and nonsense. */
static inline void fault_fill(holo_tensor *t, uint64_t *state)
{
    static const float number[] = {1.0F, 0.0F, -1.5F, 0.25F, 3.0F, 1e30F, -1e-30F};
    size_t bytes = holo_tensor_bytes(t);
    uint64_t wild = fault_random(state) % 16; /* 0: any bits */
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)t->data)[i] = wild == 0 ? (uint8_t)fault_random(state) : 0;
    int64_t count = wild == 0 ? 0 : holo_tensor_count(t);
    uint32_t range = wild >= 12 ? 1 : wild >= 8 ? 2 : 5; /* small enough for indices */
    for (int64_t i = 0; i < count; i++) {
        int64_t small = (int64_t)fault_below(state, range) - (wild == 1 ? 2 : 0);
        float f = number[fault_below(state, wild == 2 ? 7 : range)];
        double d = (double)f;
        switch ((int)t->dtype) {
        case HOLO_F32: ((float *)t->data)[i] = f; break;
        case HOLO_F64: ((double *)t->data)[i] = d; break;
        case HOLO_I64:
        case HOLO_U64: ((int64_t *)t->data)[i] = small; break;
        case HOLO_I32:
        case HOLO_U32: ((int32_t *)t->data)[i] = (int32_t)small; break;
        case HOLO_BOOL: ((uint8_t *)t->data)[i] = small > 1; break;
        case HOLO_STRING:
            ((holo_string *)t->data)[i] = (holo_string){"text", (uint64_t)(small & 3)};
            break;
        default: ((uint8_t *)t->data)[(size_t)i * bytes / (size_t)count] = (uint8_t)small; break;
        }
    }
    if (t->dtype == HOLO_STRING && wild == 0) memset(t->data, 0, bytes);
}

/* Equal names have equal sizes in one binding, mostly. */
static inline int64_t fault_symbol_size(const char *name, uint64_t *state, uint64_t round)
{
    if (fault_below(state, 32) == 0) return (int64_t)fault_below(state, 9);
    uint64_t hash = hg_hash(name, strlen(name), round);
    return hash % 11 == 0 ? 0 : (int64_t)(hash % 5) + 1;
}

/* Binds input i to memory of exactly its size; NULL data when the port asks for too much. */
static inline bool fault_bind(const holo_model *model, holo_session *session, uint32_t i,
                              uint64_t *state, uint64_t round, holo_tensor *t)
{
    holo_port port;
    if (holo_model_input(model, 0, i, &port) != HOLO_OK) return false;
    *t = (holo_tensor){.dtype = port.dtype, .rank = port.rank};
    if (port.rank < 0) t->rank = (int32_t)fault_below(state, 4);
    for (int32_t k = 0; k < t->rank; k++)
        t->dim[k] = port.rank >= 0 && port.dim[k] >= 0
                        ? port.dim[k]
                        : fault_symbol_size(port.rank < 0 ? "" : port.dim_name[k], state, round);
    size_t bytes = holo_tensor_bytes(t);
    if (hg_dtype_bits(t->dtype) == 0 || bytes > FAULT_INPUT_BYTES) return false;
    t->data = malloc(bytes == 0 ? 1 : bytes);
    if (t->data == NULL) return false;
    fault_fill(t, state);
    return holo_session_set_input(session, i, t, NULL) == HOLO_OK;
}

static inline holo_status fault_run_once(const holo_model *model, holo_session *session,
                                         uint64_t *state, holo_error *e)
{
    holo_tensor input[FAULT_INPUTS] = {{0}};
    uint64_t round = fault_random(state);
    uint32_t count = holo_model_input_count(model, 0);
    bool bound = count <= FAULT_INPUTS;
    for (uint32_t i = 0; bound && i < count; i++)
        bound = fault_bind(model, session, i, state, round, &input[i]);
    holo_status status = bound ? holo_session_run(session, e) : HOLO_E_ARG;
    for (uint32_t i = 0; status == HOLO_OK && i < holo_model_output_count(model, 0); i++) {
        holo_tensor out;
        status = holo_session_output(session, i, &out, e);
        if (status != HOLO_OK || out.data == NULL) continue;
        volatile uint8_t sum = 0; /* every byte of the result may be read */
        for (size_t k = 0; k < holo_tensor_bytes(&out); k++)
            sum = (uint8_t)(sum + ((const uint8_t *)out.data)[k]);
    }
    for (uint32_t i = 0; i < FAULT_INPUTS; i++)
        free(input[i].data);
    return status;
}

/* A memo with some room of its own beside what the file carries, mostly; NULL: none. */
static inline holo_memo *fault_memo(const holo_model *model, uint64_t *state)
{
    holo_memo_options options = HOLO_MEMO_OPTIONS_INIT;
    holo_memo *memo = NULL;
    options.memory_bytes = fault_below(state, 2) == 0 ? 0 : 1 << 14;
    if (fault_below(state, 4) == 0) return NULL;
    return holo_memo_new(model, &options, &memo, NULL) == HOLO_OK ? memo : NULL;
}

/* Opens the bytes; what opens is run twice within small limits. OK when one run was. */
static inline holo_status fault_play(const uint8_t *data, size_t size, uint64_t *state,
                                     bool *opened, holo_error *e)
{
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    open.flags = fault_below(state, 2) == 0 ? HOLO_OPEN_REFERENCE : 0;
    open.limits.memory_bytes = UINT64_C(64) << 20;
    options.flags = HOLO_SESSION_GROW | HOLO_SESSION_POISON;
    options.late_bytes = 4096;
    options.limits = (holo_limits){.memory_bytes = UINT64_C(64) << 20,
                                   .tensor_bytes = 1 << 16,
                                   .loop_iterations = 100,
                                   .run_ms = 1000};
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_status status = holo_model_open_memory(data, size, holo_kernels_all(), &open, &model, e);
    *opened = status == HOLO_OK;
    if (status == HOLO_OK) options.memo = fault_memo(model, state);
    if (status == HOLO_OK) status = holo_session_new(model, &options, &session, e);
    if (status == HOLO_OK) status = fault_run_once(model, session, state, e);
    if (session != NULL && fault_run_once(model, session, state, e) == HOLO_OK) status = HOLO_OK;
    holo_session_free(session);
    holo_memo_free(options.memo);
    holo_model_free(model);
    return status;
}

#endif
