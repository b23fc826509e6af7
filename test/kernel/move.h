/* move.h - calling kernels that move elements: exactly sized buffers, and tables of calls that
 * break one rule each. */
#ifndef HG_TEST_KERNEL_MOVE_H
#define HG_TEST_KERNEL_MOVE_H

#include "base/half.h"
#include "kernel/variants.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct move_call {
    holo_tensor in[12], out[4];
    int64_t param[40];
    hg_fault fault;
    hg_args args;
} move_call;

/* Every element of a tensor is different as far as its bits allow: number i holds the bytes of i *
 * 7 + 1. */
static inline void move_fill(holo_tensor *t)
{
    const int64_t count = holo_tensor_count(t);
    const uint32_t bits = hg_dtype_bits(t->dtype);
    for (int64_t i = 0; i < count; i++) {
        uint64_t value[2] = {(uint64_t)i * 7 + 1, (uint64_t)i};
        if (bits < 8)
            hg_packed_set(t->data, i, (int)bits, (uint8_t)value[0]);
        else
            memcpy((uint8_t *)t->data + (size_t)i * (bits / 8), value, bits / 8);
    }
}

static inline holo_tensor move_tensor(holo_dtype dtype, int rank, const int64_t *dim)
{
    holo_tensor t = {.rank = rank, .dtype = dtype};
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    t.data = calloc(1, holo_tensor_bytes(&t));
    return t;
}

static inline holo_tensor *move_in(move_call *c, holo_dtype dtype, int rank, const int64_t *dim)
{
    holo_tensor *t = &c->in[c->args.n_in++];
    *t = move_tensor(dtype, rank, dim);
    move_fill(t);
    return t;
}

/* An int64 tensor with the given elements. */
static inline holo_tensor *move_ints(move_call *c, int rank, const int64_t *dim,
                                     const int64_t *value)
{
    holo_tensor *t = move_in(c, HOLO_I64, rank, dim);
    memcpy(t->data, value, holo_tensor_bytes(t));
    return t;
}

static inline holo_tensor *move_out(move_call *c, holo_dtype dtype, int rank, const int64_t *dim)
{
    holo_tensor *t = &c->out[c->args.n_out++];
    *t = move_tensor(dtype, rank, dim);
    return t;
}

static inline void move_param(move_call *c, int64_t value)
{
    c->param[c->args.n_param++] = value;
}

static inline void move_connect(move_call *c)
{
    c->args.in = c->in;
    c->args.out = c->out;
    c->args.param = c->param;
    c->args.fault = &c->fault;
}

static inline void move_free(move_call *c)
{
    for (uint32_t i = 0; i < HG_COUNT(c->in); i++)
        free(c->in[i].data);
    for (uint32_t i = 0; i < HG_COUNT(c->out); i++)
        free(c->out[i].data);
    memset(c, 0, sizeof *c);
}

/* Element i, whatever its size. */
static inline void move_get(const holo_tensor *t, int64_t i, uint64_t value[2])
{
    const uint32_t bits = hg_dtype_bits(t->dtype);
    value[0] = value[1] = 0;
    if (bits < 8)
        value[0] = hg_packed_get(t->data, i, (int)bits);
    else
        memcpy(value, (const uint8_t *)t->data + (size_t)i * (bits / 8), bits / 8);
}

static inline bool move_same(const holo_tensor *a, int64_t i, const holo_tensor *b, int64_t j)
{
    uint64_t x[2], y[2];
    move_get(a, i, x);
    move_get(b, j, y);
    return memcmp(x, y, sizeof x) == 0;
}

/* Flat index of out[...] with the coordinates of the flat index i of t. */
static inline void move_coordinates(const holo_tensor *t, int64_t i, int64_t *at)
{
    for (int k = t->rank - 1; k >= 0; k--) {
        at[k] = i % t->dim[k];
        i /= t->dim[k];
    }
}

static inline int64_t move_flat(const holo_tensor *t, const int64_t *at)
{
    int64_t i = 0;
    for (int k = 0; k < t->rank; k++)
        i = i * t->dim[k] + at[k];
    return i;
}

/* What a call needs, or NULL. */
static inline void *move_scratch(const hg_kernel *k, const move_call *c)
{
    const size_t bytes = hg_kernel_work(k, &c->args).scratch;
    return bytes == 0 ? NULL : aligned_alloc(64, hg_align_up(bytes, 64));
}

/* Runs one unit at a time from the last on, over zeros; whether the bytes are those of `copy`. */
static inline bool move_run_again(const hg_kernel *k, move_call *c, void *const *copy)
{
    bool same = true;
    void *scratch = move_scratch(k, c);
    for (uint32_t j = 0; j < c->args.n_out; j++)
        if (c->out[j].data != NULL) memset(c->out[j].data, 0, holo_tensor_bytes(&c->out[j]));
    for (int64_t unit = hg_kernel_work(k, &c->args).units; unit-- > 0;)
        k->run(&c->args, (hg_range){unit, unit + 1, scratch});
    for (uint32_t j = 0; j < c->args.n_out; j++) {
        const size_t bytes = c->out[j].data == NULL ? 0 : holo_tensor_bytes(&c->out[j]);
        same = CHECK(bytes == 0 || memcmp(copy[j], c->out[j].data, bytes) == 0) && same;
    }
    free(scratch);
    return same;
}

/* Checks and runs: all units at once, then one at a time from the last on, and so with all that the
 * processor has; each gives the same bytes. */
static inline bool move_run(const hg_kernel *k, move_call *c)
{
    holo_error e = {0};
    move_connect(c);
    if (!CHECK_OK(k->check(&c->args, &e), &e)) return false;
    void *scratch = move_scratch(k, c), *copy[4];
    k->run(&c->args, (hg_range){0, hg_kernel_work(k, &c->args).units, scratch});
    for (uint32_t j = 0; j < c->args.n_out; j++) {
        const size_t bytes = c->out[j].data == NULL ? 0 : holo_tensor_bytes(&c->out[j]);
        copy[j] = malloc(bytes + 1);
        if (bytes != 0) memcpy(copy[j], c->out[j].data, bytes);
    }
    bool same = move_run_again(k, c, copy);
    for (int is_wide = 0; k->cpu != 0 && is_wide < 2; is_wide++) {
        c->args.cpu = tuned_features(is_wide != 0);
        same = move_run_again(k, c, copy) && same;
    }
    c->args.cpu = 0;
    for (uint32_t j = 0; j < c->args.n_out; j++)
        free(copy[j]);
    free(scratch);
    return same;
}

/* Lets a late kernel find the size of its outputs and gives them memory. */
static inline bool move_size(const hg_kernel *k, move_call *c)
{
    holo_error e = {0};
    move_connect(c);
    if (!CHECK_OK(k->size(&c->args, &e), &e)) return false;
    for (uint32_t j = 0; j < c->args.n_out; j++) {
        if (c->out[j].dtype == HOLO_NONE) continue;
        free(c->out[j].data);
        c->out[j].data = calloc(1, holo_tensor_bytes(&c->out[j]));
    }
    return true;
}

/* ---- calls that break one rule
 * ------------------------------------------------------------------- */

typedef enum move_what {
    MOVE_N_IN,
    MOVE_N_OUT,
    MOVE_N_PARAM,
    MOVE_IN_TYPE, /* of input `index` */
    MOVE_IN_RANK,
    MOVE_IN_DIM, /* dimension `axis` of it */
    MOVE_OUT_TYPE,
    MOVE_OUT_RANK,
    MOVE_OUT_DIM,
    MOVE_PARAM
} move_what;

typedef struct move_bad {
    move_what what;
    uint32_t index;
    int axis;
    int64_t value;
    const char *sentence; /* part of the error */
} move_bad;

static inline void move_break(move_call *c, const move_bad *b)
{
    switch (b->what) {
    case MOVE_N_IN: c->args.n_in = (uint32_t)b->value; break;
    case MOVE_N_OUT: c->args.n_out = (uint32_t)b->value; break;
    case MOVE_N_PARAM: c->args.n_param = (uint32_t)b->value; break;
    case MOVE_IN_TYPE: c->in[b->index].dtype = (holo_dtype)b->value; break;
    case MOVE_IN_RANK: c->in[b->index].rank = (int32_t)b->value; break;
    case MOVE_IN_DIM: c->in[b->index].dim[b->axis] = b->value; break;
    case MOVE_OUT_TYPE: c->out[b->index].dtype = (holo_dtype)b->value; break;
    case MOVE_OUT_RANK: c->out[b->index].rank = (int32_t)b->value; break;
    case MOVE_OUT_DIM: c->out[b->index].dim[b->axis] = b->value; break;
    case MOVE_PARAM: c->param[b->index] = b->value; break;
    }
}

/* Each entry changes one thing in a call that make gives and check accepts. */
static inline void move_refuses(const hg_kernel *k, void (*make)(move_call *), const move_bad *bad,
                                size_t n_bad)
{
    for (size_t i = 0; i < n_bad; i++) {
        move_call c = {0};
        holo_error e = {0};
        make(&c);
        move_connect(&c);
        CHECK_OK(k->check(&c.args, &e), &e);
        move_break(&c, &bad[i]);
        holo_status status = k->check(&c.args, &e);
        if (status == HOLO_OK)
            hg_test_fail(HG_TEST_HERE, "%s: bad call %zu (%s) was accepted", k->name, i,
                         bad[i].sentence);
        else
            CHECK_HAS(e.message, bad[i].sentence);
        move_free(&c);
    }
}

#define MOVE_REFUSES(kernel, make, table) move_refuses(kernel, make, table, HG_COUNT(table))
#define MOVE_DIMS(...)                                                                             \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#endif
