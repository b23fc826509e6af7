/* gathernd.c - gathernd against coordinates, with and without batch dimensions. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_gathernd[];

/* data [2, 3, 4, 5]; tuples of `tuple` indices, 6 of them in each batch. */
static void gathernd_make(move_call *c, holo_dtype dtype, int batch, int tuple)
{
    const int64_t dim[4] = {2, 3, 4, 5};
    int64_t index_dim[4], out_dim[8];
    int rank = 0, out_rank;
    for (int i = 0; i < batch; i++)
        index_dim[rank++] = dim[i];
    index_dim[rank++] = 6;
    memcpy(out_dim, index_dim, sizeof index_dim);
    out_rank = rank;
    index_dim[rank++] = tuple;
    for (int i = batch + tuple; i < 4; i++)
        out_dim[out_rank++] = dim[i];
    move_in(c, dtype, 4, dim);
    holo_tensor *index = move_in(c, HOLO_I64, rank, index_dim);
    for (int64_t i = 0; i < holo_tensor_count(index); i++) {
        int64_t size = dim[batch + i % tuple];
        ((int64_t *)index->data)[i] = i * 5 % (2 * size) - size;
    }
    move_out(c, dtype, out_rank, out_dim);
    move_param(c, batch);
}

static void gathernd_compare(const move_call *c, int batch, int tuple)
{
    const holo_tensor *out = &c->out[0], *index = &c->in[1], *data = &c->in[0];
    for (int64_t i = 0; i < holo_tensor_count(out); i++) {
        int64_t at[8], from[4];
        move_coordinates(out, i, at);
        int64_t which = 0;
        for (int k = 0; k <= batch; k++)
            which = which * index->dim[k] + at[k];
        for (int k = 0; k < 4; k++) {
            from[k] = k < batch ? at[k] : 0;
            if (k >= batch && k < batch + tuple)
                from[k] = ((const int64_t *)index->data)[which * tuple + k - batch];
            if (k >= batch + tuple) from[k] = at[k - tuple + 1];
            if (from[k] < 0) from[k] += data->dim[k];
        }
        if (!CHECK(move_same(out, i, data, move_flat(data, from)))) return;
    }
}

static void gathernd_picks(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_STRING, HOLO_I2};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int batch = 0; batch < 3; batch++)
            for (int tuple = 1; tuple <= 4 - batch; tuple++) {
                move_call c = {0};
                gathernd_make(&c, types[t], batch, tuple);
                if (move_run(hg_kernels_gathernd, &c)) gathernd_compare(&c, batch, tuple);
                CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
                move_free(&c);
            }
}

static void gathernd_reports(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 2, MOVE_DIMS(2, 3));
    move_ints(&c, 2, MOVE_DIMS(2, 2), MOVE_DIMS(1, 2, 1, 3));
    move_out(&c, HOLO_F32, 1, MOVE_DIMS(2));
    move_param(&c, 0);
    move_run(hg_kernels_gathernd, &c);
    CHECK_EQ_INT(c.fault.element, 3);
    CHECK_EQ_INT(c.fault.value, 3);
    move_free(&c);
}

static void gathernd_make_good(move_call *c)
{
    gathernd_make(c, HOLO_F32, 1, 2);
}

static void gathernd_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_NONE, "input 0 is missing"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I8, "input 1 has type int8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_IN_RANK, 1, 0, 0, "indices has rank 0"},
        {MOVE_PARAM, 0, 0, -1, "batch dimensions is -1"},
        {MOVE_PARAM, 0, 0, 3, "batch dimensions is 3"},
        {MOVE_IN_DIM, 1, 2, 4, "tuples of 4 indices, expected at most 3"},
        {MOVE_IN_DIM, 1, 0, 3, "batch dimension 0 is 3"},
        {MOVE_OUT_RANK, 0, 0, 4, "output has rank 4"},
        {MOVE_OUT_DIM, 0, 1, 5, "dimension 1 of the output is 5"},
        {MOVE_OUT_DIM, 0, 2, 4, "dimension 2 of the output is 4"},
    };
    MOVE_REFUSES(hg_kernels_gathernd, gathernd_make_good, bad);
}

const hg_test_case hg_tests_kernel_gathernd[] = {
    {"picks", gathernd_picks},
    {"reports", gathernd_reports},
    {"refuses", gathernd_refuses},
    {0},
};
