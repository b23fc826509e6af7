/* epilogue.h - point-wise work on a result tile right after it was computed, before anybody else
 * reads it.
 *
 * A kernel with lane code sees its output as a matrix: all leading dimensions are rows, the last
 * `col_dims` are columns. Operand 0 of the code is the result tile in the type the kernel
 * accumulates in (not rounded to the output's type); operand i >= 1 is in[first_extra + i - 1],
 * broadcast to the output.
 *
 *   matmul [batch, m, n]      rows (batch, m)       columns n
 *   conv.nhwc [n, h, w, c]    rows (n, h, w)        columns c
 *   conv [n, c, h, w]         rows (n, c)           columns (h, w)
 *
 * Rows may be broadcast in any way; columns of every operand must collapse to one stride. */
#ifndef HG_KERNEL_EPILOGUE_H
#define HG_KERNEL_EPILOGUE_H

#include "isa/kernel.h"

/* An operand as seen from the output: element (row, col) is number
 * sum(outer index * outer stride) + (row % period) * row + col * col. */
typedef struct hg_epilogue_operand {
    char *data;   /* read only */
    int64_t size; /* bytes of an element */
    int64_t row, col;
    int64_t outer[HG_MAX_RANK];
} hg_epilogue_operand;

typedef struct hg_epilogue {
    const hg_args *args; /* its code is not NULL */
    hg_lane_run_fn run;
    hg_epilogue_operand *operand; /* operands 1 .. n_in-1 of the code are operand[0 .. n_in-2] */
    hg_lane_view *view;           /* n_in operands, then the output */
    void *scratch;
    int64_t cols;   /* of the whole output */
    int64_t period; /* rows after which some operand starts again or jumps */
    int n_outer;    /* leading output dims above the period */
} hg_epilogue;

/* A computed block: element (i, j) of the block is data[i * ld + j] of type `dtype`. It may lie in
 * the output itself when the types are equal. */
typedef struct hg_epilogue_tile {
    void *data;
    int64_t ld;
    holo_dtype dtype;
    int64_t row, rows, col, cols;
} hg_epilogue_tile;

/* Types an output may have: whole bytes, with a compute type. Extra operands may be narrower. */
#define HG_EPILOGUE_TYPES                                                                          \
    (HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_FLOAT8 | HG_TYPE_BIT(HOLO_F8E8M0))

/* Without code: no operand beyond first_extra, and the output has the type of in[0]. With code:
 * operands, a result of type `result` and the output fit it. The caller has checked in[0 ..
 * first_extra), the shape of out[0] and that its type is one of HG_EPILOGUE_TYPES. */
holo_status hg_epilogue_check(const hg_args *a, holo_error *e, uint32_t first_extra, int col_dims,
                              holo_dtype result);
/* 0 without code. */
size_t hg_epilogue_scratch(const hg_args *a);
/* scratch has hg_epilogue_scratch bytes; a->code is not NULL. */
void hg_epilogue_init(hg_epilogue *ep, const hg_args *a, uint32_t first_extra, int col_dims,
                      hg_lane_run_fn run, void *scratch);
void hg_epilogue_run(const hg_epilogue *ep, const hg_epilogue_tile *tile);

/* ---- epilogues that a tuned kernel can do itself ------------------------------------------ */

typedef enum hg_epilogue_act {
    HG_EPILOGUE_LINEAR,
    HG_EPILOGUE_CLAMP,     /* limited to [low, high] */
    HG_EPILOGUE_SILU,      /* v sigmoid(v) */
    HG_EPILOGUE_HARDSWISH, /* v * clamp(v * gate_scale + gate_shift) */
    HG_EPILOGUE_GELU,      /* v (1 + erf(v * gate_scale)) */
    HG_EPILOGUE_GELU_TANH, /* v (1 + tanh(v * gate_scale + v^3 * gate_shift)) */
    HG_EPILOGUE_LEAKY,     /* v * slope where v < 0, v elsewhere; limited to [low, high] */
    HG_EPILOGUE_TANH,
    HG_EPILOGUE_SIGMOID
} hg_epilogue_act;

typedef enum hg_epilogue_when {
    HG_EPILOGUE_SUMMED,    /* part of the sum */
    HG_EPILOGUE_ADDED,     /* comes last: y + residual */
    HG_EPILOGUE_MULTIPLIED /* y * residual */
} hg_epilogue_when;

/* One value for each output or for each row. */
typedef struct hg_epilogue_residual {
    const float *data; /* NULL: there is none */
    bool per_row;
    hg_epilogue_when when;
} hg_epilogue_residual;

/* A layer's input, and the other of two parallel branches. */
enum { HG_EPILOGUE_RESIDUALS = 2 };

/* v = (x + bias + bias2 + residuals) * scale + shift;  y = (act(v) * factor + offset) * gain +
 * lift. Residuals that come last follow in their order. */
typedef struct hg_epilogue_simple {
    hg_epilogue_act act;
    const float *bias;  /* one value for each column, or NULL */
    const float *bias2; /* another one; NULL when bias is */
    hg_epilogue_residual residual[HG_EPILOGUE_RESIDUALS];
    bool is_scaled;           /* scale is not 1 or shift not 0 */
    bool is_final;            /* factor is 1, offset 0, no gain and no lift */
    const float *gain, *lift; /* one value for each column, or NULL; no lift without a gain */
    const float *slope;       /* one value for each column, or NULL: gate_scale is the slope */
    float scale, shift, factor, offset;
    float low, high, gate_scale, gate_shift;
    uint32_t cpu; /* of the call, see hg_args */
} hg_epilogue_simple;

/* Values of both residuals for a block of outputs; NULL where there is none. */
typedef struct hg_epilogue_at {
    const float *data[HG_EPILOGUE_RESIDUALS];
} hg_epilogue_at;

/* Those of output number `at`; a row has `cols` outputs. */
static inline hg_epilogue_at hg_epilogue_residuals_at(const hg_epilogue_simple *e, int64_t at,
                                                      int64_t cols)
{
    hg_epilogue_at found = {{NULL}};
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
        if (e->residual[n].data != NULL)
            found.data[n] = e->residual[n].data + (e->residual[n].per_row ? at / cols : at);
    return found;
}

/* Those `rows` rows and `cols` columns further on; rows lie `ld` outputs apart. */
static inline hg_epilogue_at hg_epilogue_residuals_from(const hg_epilogue_simple *e,
                                                        hg_epilogue_at at, int64_t ld, int64_t rows,
                                                        int64_t cols)
{
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
        if (at.data[n] != NULL) at.data[n] += e->residual[n].per_row ? rows : rows * ld + cols;
    return at;
}

static inline bool hg_epilogue_has_residual(const hg_epilogue_simple *e)
{
    return e->residual[0].data != NULL || e->residual[1].data != NULL;
}

/* Whether there is a residual that comes then. */
static inline bool hg_epilogue_has_when(const hg_epilogue_simple *e, bool last)
{
    bool has = false;
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
        has = has ||
              (e->residual[n].data != NULL && (e->residual[n].when != HG_EPILOGUE_SUMMED) == last);
    return has;
}

/* Whether a residual has one value for each row. */
static inline bool hg_epilogue_has_rows(const hg_epilogue_simple *e)
{
    return e->residual[0].per_row || e->residual[1].per_row;
}

/* Whether there is more than a bias that differs from column to column. */
static inline bool hg_epilogue_has_columns(const hg_epilogue_simple *e)
{
    return e->gain != NULL || e->slope != NULL;
}

/* Nothing but a bias and a clamp. */
static inline bool hg_epilogue_is_plain(const hg_epilogue_simple *e)
{
    return !hg_epilogue_has_residual(e) && !e->is_scaled && e->is_final &&
           (e->act == HG_EPILOGUE_LINEAR || e->act == HG_EPILOGUE_CLAMP);
}

/* Whether the code is of that form, up to rounding, with an f32 result and output of matrix form
 * (columns are the last dim). Checked arguments only; false without code. */
bool hg_epilogue_is_simple(const hg_args *a, uint32_t first_extra, hg_epilogue_simple *simple);

#endif
