/* reduce.c - kernels "reduce" and "reduce.order": sums, extremes and the like along any set of
 * axes.
 *
 *   in[0]   what is reduced: numbers; bool for max and min
 *   in[1..] more operands of the lane code
 *   out[0]  in[0] without the reduced dims, or with 1 in their place; int64 for arg max, arg min
 *   param   operation (hg_reduce_op), mask of reduced dims, select_last (arg max and arg min only)
 *   code    optional: applied to the result, operand 0, which has its compute type
 *
 * Numerics. Reduced elements are numbered in row-major order; number i goes to virtual lane i % 16,
 * which adds in order, and the lanes meet in a fixed tree: l with l + 8, then + 4, + 2, + 1. f16
 * and bf16 accumulate in f32, f32 in f32, integers in 64 bits that wrap; a mean of integers
 * truncates. L2, log-sum and log-sum-exp of integers are computed in f64 and truncated. Max and min
 * are NaN when an element is; arg max and arg min then give the index of a NaN. Nothing to reduce:
 * sum 0, product 1, max the smallest and min the largest value of the type (infinities for floats),
 * mean NaN (0 for integers). One unit is one output element. */
#include "kernel/reduce.h"

#include "isa/lane_math.h"
#include "kernel/lane.h"

/* ---- inner loops ----------------------------------------------------------------------------- */

#define T float
#define U float
#define NAME(stem) reduce_f32_##stem
#define ABS(x) hg_abs_f32(x)
#define REDUCE_EXP(x) hg_exp_f32(x)
#include "kernel/reduce_steps.inc"
#undef T
#undef U
#undef NAME
#undef ABS
#undef REDUCE_EXP
#define T double
#define U double
#define NAME(stem) reduce_f64_##stem
#define ABS(x) hg_abs_f64(x)
#define REDUCE_EXP(x) hg_exp_f64(x)
#include "kernel/reduce_steps.inc"
#undef T
#undef U
#undef NAME
#undef ABS
#undef REDUCE_EXP
#define T int64_t
#define U uint64_t
#define NAME(stem) reduce_i64_##stem
#define ABS(x) (x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
#include "kernel/reduce_steps.inc"
#undef T
#undef NAME
#undef ABS
#undef U

/* Unsigned integers are signed ones but for the order. */
HG_REDUCE_EXTREMES(uint64_t, reduce_u64)
HG_REDUCE_EXTREMES(int32_t, reduce_i32)

static bool reduce_is_max(hg_reduce_op op)
{
    return op == HG_REDUCE_MAX || op == HG_REDUCE_ARG_MAX;
}

static bool reduce_is_extreme(hg_reduce_op op)
{
    return reduce_is_max(op) || op == HG_REDUCE_MIN || op == HG_REDUCE_ARG_MIN;
}

static hg_reduce_step reduce_u64_step(hg_reduce_op op)
{
    if (reduce_is_max(op)) return (hg_reduce_step){reduce_u64_max, reduce_u64_max};
    if (reduce_is_extreme(op)) return (hg_reduce_step){reduce_u64_min, reduce_u64_min};
    return reduce_i64_step(op == HG_REDUCE_L1 ? HG_REDUCE_SUM : op);
}

/* Accumulated in f64: integers for LogSumExp. */
#define REDUCE_F64_TYPES (HG_TYPE_BIT(HOLO_F64) | HG_TYPES_INT)

hg_reduce_step hg_reduce_step_reference(hg_reduce_op op, hg_lane_type domain)
{
    if (domain == HG_LANE_F64 && (HG_TYPES_LINKED & REDUCE_F64_TYPES) != 0)
        return reduce_f64_step(op);
    if (domain == HG_LANE_U64 && (HG_TYPES_LINKED & HG_TYPES_UNSIGNED_INT) != 0)
        return reduce_u64_step(op);
    if (domain == HG_LANE_I32 && (HG_TYPES_LINKED & (HG_TYPES_INT | HG_TYPES_BOOL)) != 0)
        return reduce_is_max(op) ? (hg_reduce_step){reduce_i32_max, reduce_i32_max}
                                 : (hg_reduce_step){reduce_i32_min, reduce_i32_min};
    if (domain != HG_LANE_F32 && (HG_TYPES_LINKED & (HG_TYPES_INT | HG_TYPES_BOOL)) != 0)
        return reduce_i64_step(op);
    return reduce_f32_step(op);
}

/* ---- shape ----------------------------------------------------------------------------------- */

/* The input seen as alternating groups of kept and reduced dims. The last kept group, when nothing
 * is reduced after it, are the columns; the last reduced group are the rows:
 *
 *     element = kept index, reduced index, row * cols + col
 *
 * so that rows x cols elements lie side by side. */
typedef struct reduce_shape {
    int64_t cols, rows;
    int64_t steps; /* reduced elements of one output: rows * product of reduced_dim */
    int n_kept, n_reduced;
    int64_t kept_dim[HG_MAX_RANK], kept_stride[HG_MAX_RANK];       /* without cols; last first */
    int64_t reduced_dim[HG_MAX_RANK], reduced_stride[HG_MAX_RANK]; /* without rows; last first */
} reduce_shape;

static void reduce_drop_first(int64_t *dim, int64_t *stride, int *n)
{
    (*n)--;
    memmove(dim, dim + 1, (size_t)*n * sizeof *dim);
    memmove(stride, stride + 1, (size_t)*n * sizeof *stride);
}

static void reduce_shape_init(reduce_shape *s, const holo_tensor *in, int64_t axes)
{
    *s = (reduce_shape){.cols = 1, .rows = 1, .steps = 1};
    int64_t stride = 1;
    int previous = -1; /* 0 kept, 1 reduced: a dim of the same kind joins the group */
    for (int i = in->rank - 1; i >= 0; i--) {
        int64_t dim = in->dim[i];
        int kind = (int)(axes >> i & 1);
        if (dim == 1) continue;
        int64_t *dims = kind == 1 ? s->reduced_dim : s->kept_dim;
        int64_t *strides = kind == 1 ? s->reduced_stride : s->kept_stride;
        int *n = kind == 1 ? &s->n_reduced : &s->n_kept;
        if (kind != previous) {
            dims[*n] = 1;
            strides[(*n)++] = stride;
        }
        dims[*n - 1] *= dim;
        if (kind == 1) s->steps *= dim;
        stride *= dim;
        previous = kind;
    }
    if (s->n_kept > 0 && s->kept_stride[0] == 1) {
        s->cols = s->kept_dim[0];
        reduce_drop_first(s->kept_dim, s->kept_stride, &s->n_kept);
    }
    if (s->n_reduced > 0) {
        s->rows = s->reduced_dim[0];
        reduce_drop_first(s->reduced_dim, s->reduced_stride, &s->n_reduced);
    }
}

/* Element number of index k into groups of dims, the last group first. */
static int64_t reduce_offset(const int64_t *dim, const int64_t *stride, int n, int64_t k)
{
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        at += k % dim[i] * stride[i];
        k /= dim[i];
    }
    return at;
}

/* ---- accumulation ---------------------------------------------------------------------------- */

/* Accumulators are a matrix acc[16][cols], one row per virtual lane. Rows x cols input elements lie
 * side by side, so 16 rows of them enter the whole matrix in one go, element by element. */
enum { REDUCE_LANES = 16, REDUCE_COLS = 128, REDUCE_TILE = REDUCE_LANES * REDUCE_COLS };

typedef struct reduce_state {
    const hg_reduce_loops *loops;
    reduce_shape shape;
    hg_reduce_op op;
    holo_dtype dtype;    /* of the input */
    hg_lane_type domain; /* accumulators are f32, f64, i32, i64 or u64 */
    hg_reduce_step step;
    bool is_native;               /* input elements can be accumulated where they lie */
    bool is_short;                /* few rows, no columns: outputs side by side serve as columns */
    int64_t cols;                 /* of the current block of outputs */
    int64_t row_stride;           /* of the input, in elements */
    int64_t col_stride;           /* 1 unless is_short */
    bool is_whole;                /* the block has all columns: rows follow each other */
    int64_t n_result;             /* outputs waiting in result */
    int64_t result_first;         /* number of the first of them */
    uint64_t acc[REDUCE_TILE];    /* elements of the domain's type, at least 4 bytes each */
    uint64_t shift[REDUCE_TILE];  /* log-sum-exp: the maximum of each column, 16 times */
    uint64_t value[REDUCE_TILE];  /* converted input */
    uint64_t narrow[REDUCE_TILE]; /* input in its compute type, when that is not the domain */
    int64_t found[REDUCE_COLS];
    uint64_t result[HG_LANE_TILE]; /* in the compute type of the input; int64 for arg max, min */
} reduce_state;

static int64_t reduce_width(const reduce_state *s)
{
    return (int64_t)hg_lane_width(s->domain);
}

/* n elements from number `first` on, in the domain's type. */
static const void *reduce_load(reduce_state *s, const void *data, int64_t first, int64_t n)
{
    if (s->is_native) return (const uint8_t *)data + first * reduce_width(s);
    hg_lane_type type = hg_lane_type_of(s->dtype);
    if (type == s->domain) {
        s->loops->read(s->dtype, s->value, data, first, s->col_stride, n);
        return s->value;
    }
    s->loops->read(s->dtype, s->narrow, data, first, s->col_stride, n);
    const int32_t *i32 = (const int32_t *)(void *)s->narrow;
    const int64_t *i64 = (const int64_t *)(void *)s->narrow;
    const uint64_t *u64 = s->narrow;
    double *f64 = (double *)(void *)s->value;
    int64_t *wide = (int64_t *)(void *)s->value;
    for (int64_t i = 0; i < n; i++) {
        if (s->domain == HG_LANE_I64)
            wide[i] = i32[i];
        else
            f64[i] = type == HG_LANE_I32   ? (double)i32[i]
                     : type == HG_LANE_I64 ? (double)i64[i]
                                           : (double)u64[i];
    }
    return s->value;
}

/* Most rows that can be loaded together, as whole turns of the lanes if possible. */
static int64_t reduce_most_rows(const reduce_state *s)
{
    if (!s->is_whole) return 1;
    if (s->is_native) return INT64_MAX - REDUCE_LANES;
    int64_t rows = REDUCE_TILE / s->cols;
    return rows - rows % REDUCE_LANES;
}

/* Enters `rows` rows from element number `first` on; the first of them goes to lane `lane`. */
static void reduce_rows(reduce_state *s, const void *data, int64_t first, int64_t lane,
                        int64_t rows)
{
    int64_t row_bytes = s->cols * reduce_width(s), most = reduce_most_rows(s);
    while (rows > 0) {
        int64_t n = hg_min(rows, most);
        bool is_turn = lane == 0 && n >= REDUCE_LANES;
        n = is_turn ? n - n % REDUCE_LANES : hg_min(n, REDUCE_LANES - lane);
        s->step.enter((uint8_t *)s->acc + lane * row_bytes,
                      reduce_load(s, data, first, n * s->cols), s->shift,
                      (is_turn ? REDUCE_LANES : n) * s->cols, is_turn ? n / REDUCE_LANES : 1);
        lane = (lane + n) % REDUCE_LANES;
        first += n * s->row_stride;
        rows -= n;
    }
}

/* What a lane holds before its first element: neutral, and in the range of the type. */
static void reduce_fill(reduce_state *s)
{
    bool is_max = reduce_is_max(s->op), is_extreme = reduce_is_extreme(s->op);
    uint32_t bits = s->dtype == HOLO_BOOL ? 1 : hg_dtype_bits(s->dtype);
    uint64_t ones = UINT64_MAX >> (64 - bits);
    bool is_signed = hg_dtype_is_signed_int(s->dtype);
    uint64_t low = is_signed ? ~(ones >> 1) : 0, high = is_signed ? ones >> 1 : ones;
    int neutral = s->op == HG_REDUCE_PROD ? 1 : 0;
    double f64 = is_extreme ? (is_max ? -HG_INFINITY : HG_INFINITY) : neutral;
    float f32 = (float)f64;
    uint64_t u64 = is_extreme ? (is_max ? low : high) : (uint64_t)neutral;
    uint32_t u32 = (uint32_t)u64;
    const void *value = s->domain == HG_LANE_F32   ? (const void *)&f32
                        : s->domain == HG_LANE_F64 ? (const void *)&f64
                        : s->domain == HG_LANE_I32 ? (const void *)&u32
                                                   : (const void *)&u64;
    hg_lane_splat(s->acc, value, (size_t)reduce_width(s), REDUCE_LANES * s->cols);
}

/* Leaves the reduced value of each column in acc[0 .. cols). */
static void reduce_block(reduce_state *s, const void *data, int64_t first)
{
    const reduce_shape *shape = &s->shape;
    int64_t outer = shape->steps / hg_max(shape->rows, 1);
    reduce_fill(s);
    for (int64_t k = 0; k < outer; k++)
        reduce_rows(
            s, data,
            first + reduce_offset(shape->reduced_dim, shape->reduced_stride, shape->n_reduced, k),
            k * shape->rows % REDUCE_LANES, shape->rows);
    uint8_t *acc = (uint8_t *)s->acc;
    for (int64_t w = REDUCE_LANES / 2; w > 0; w /= 2)
        s->step.join(acc, acc + w * s->cols * reduce_width(s), s->shift, w * s->cols, 1);
}

/* ---- operations that look twice -------------------------------------------------------------- */

/* log(sum(exp(x))) as m + log(sum(exp(x - m))) with m the maximum, 0 where that is infinite. */
static void reduce_log_sum_exp(reduce_state *s, const void *data, int64_t first)
{
    int64_t cols = s->cols;
    float *f32 = (float *)(void *)s->acc, *m32 = (float *)(void *)s->shift;
    double *f64 = (double *)(void *)s->acc, *m64 = (double *)(void *)s->shift;
    s->op = HG_REDUCE_MAX;
    s->step = s->loops->step(s->op, s->domain);
    reduce_block(s, data, first);
    for (int64_t j = 0; j < cols; j++) {
        if (s->domain == HG_LANE_F32)
            m32[j] = hg_abs_f32(f32[j]) == (float)HG_INFINITY ? 0 : f32[j];
        else
            m64[j] = hg_abs_f64(f64[j]) == HG_INFINITY ? 0 : f64[j];
    }
    const int64_t row = cols * reduce_width(s);
    for (int64_t l = 1; l < REDUCE_LANES; l++)
        memcpy((uint8_t *)s->shift + l * row, s->shift, (size_t)row);
    s->op = HG_REDUCE_LOG_SUM_EXP;
    s->step = s->loops->step(s->op, s->domain);
    reduce_block(s, data, first);
    for (int64_t j = 0; j < cols; j++) {
        if (s->domain == HG_LANE_F32)
            f32[j] = m32[j] + hg_log_f32(f32[j]);
        else
            f64[j] = m64[j] + hg_log_f64(f64[j]);
    }
}

/* found[j] = step of the first or last row where a column holds its extreme (or any NaN: then that
 * is the extreme); rows are those of steps step, step + 1, ... */
static void reduce_match(reduce_state *s, const void *from, int64_t step, int64_t rows,
                         bool is_last)
{
    int64_t cols = s->cols;
#define MATCH(T)                                                                                   \
    {                                                                                              \
        const T *best = (const T *)(const void *)s->acc, *x = from;                                \
        int64_t i = 0;                                                                             \
        while (cols == 1 && !is_last && i + 64 <= rows) { /* skips what has no match */            \
            int32_t hits = 0;                                                                      \
            for (int64_t l = 0; l < 64; l++)                                                       \
                hits += (x[l] == best[0]) | (x[l] != x[l]);                                        \
            if (hits != 0) break;                                                                  \
            i += 64;                                                                               \
            x += 64;                                                                               \
        }                                                                                          \
        for (; i < rows; i++, x += cols)                                                           \
            for (int64_t j = 0; j < cols; j++)                                                     \
                if ((is_last || s->found[j] < 0) && (x[j] == best[j] || x[j] != x[j]))             \
                    s->found[j] = step + i;                                                        \
        return;                                                                                    \
    }
    if (s->domain == HG_LANE_F32) MATCH(float)
    if (s->domain == HG_LANE_F64) MATCH(double)
    if (s->domain == HG_LANE_I32) MATCH(int32_t)
    MATCH(uint64_t)
#undef MATCH
}

/* Index of the extreme in acc. */
static void reduce_find(reduce_state *s, const void *data, int64_t first, bool is_last)
{
    const reduce_shape *shape = &s->shape;
    int64_t most = s->is_whole ? REDUCE_TILE / s->cols : 1;
    for (int64_t j = 0; j < s->cols; j++)
        s->found[j] = -1;
    for (int64_t step = 0, n; step < shape->steps; step += n) {
        int64_t row = step % shape->rows;
        n = hg_min(most, shape->rows - row);
        int64_t at = first + row * s->row_stride +
                     reduce_offset(shape->reduced_dim, shape->reduced_stride, shape->n_reduced,
                                   step / shape->rows);
        reduce_match(s, reduce_load(s, data, at, n * s->cols), step, n, is_last);
        if (s->cols == 1 && !is_last && s->found[0] >= 0) return;
    }
}

/* ---- results --------------------------------------------------------------------------------- */

static bool reduce_is_arg(int64_t op)
{
    return op == HG_REDUCE_ARG_MAX || op == HG_REDUCE_ARG_MIN;
}

/* Compute type of the result, as an element type. */
static holo_dtype reduce_result_type(hg_reduce_op op, holo_dtype in)
{
    static const holo_dtype dtypes[] = {HOLO_NONE, HOLO_F32, HOLO_F64,
                                        HOLO_I32,  HOLO_I64, HOLO_U64};
    return reduce_is_arg(op) ? HOLO_I64 : dtypes[hg_lane_type_of(in)];
}

/* Integers: the accumulator as a number of the input's type. */
static uint64_t reduce_finish_int(const reduce_state *s, uint64_t x)
{
    int64_t n = s->shape.steps;
    bool is_unsigned = hg_lane_type_of(s->dtype) == HG_LANE_U64;
    double real = is_unsigned ? (double)x : (double)(int64_t)x;
    if (s->op == HG_REDUCE_MEAN)
        return n == 0 ? 0 : is_unsigned ? x / (uint64_t)n : (uint64_t)((int64_t)x / n);
    if (s->op == HG_REDUCE_L2)
        real = hg_sqrt_f64(real);
    else if (s->op == HG_REDUCE_LOG_SUM)
        real = hg_log_f64(real);
    else if (s->op == HG_REDUCE_LOG_SUM_EXP)
        real = hg_f64_from_bits(x);
    else
        return x;
    if (is_unsigned) return real > -1 && real < 0x1p64 ? (uint64_t)real : 0;
    return (uint64_t)(real >= -0x1p63 && real < 0x1p63 ? (int64_t)real : INT64_MIN);
}

/* Reduced value j of the block, finished, into element `to` of result. */
static void reduce_finish(reduce_state *s, int64_t j, int64_t to)
{
    hg_lane_type type = hg_lane_type_of(s->dtype);
    if (reduce_is_arg(s->op)) {
        memcpy(&s->result[to], &s->found[j], sizeof s->found[j]);
    } else if (type == HG_LANE_F32) {
        float x = ((const float *)(const void *)s->acc)[j];
        if (s->op == HG_REDUCE_L2) x = hg_sqrt_f32(x);
        if (s->op == HG_REDUCE_LOG_SUM) x = hg_log_f32(x);
        ((float *)(void *)s->result)[to] = x;
    } else if (type == HG_LANE_F64) {
        double x = ((const double *)(const void *)s->acc)[j];
        if (s->op == HG_REDUCE_MEAN) x /= (double)s->shape.steps;
        if (s->op == HG_REDUCE_L2) x = hg_sqrt_f64(x);
        if (s->op == HG_REDUCE_LOG_SUM) x = hg_log_f64(x);
        ((double *)(void *)s->result)[to] = x;
    } else if (s->domain == HG_LANE_I32) {
        ((int32_t *)(void *)s->result)[to] = ((const int32_t *)(const void *)s->acc)[j];
    } else {
        uint64_t x;
        memcpy(&x, &s->acc[j], sizeof x);
        x = reduce_finish_int(s, x);
        if (type == HG_LANE_I32)
            ((int32_t *)(void *)s->result)[to] = (int32_t)(uint32_t)x;
        else
            s->result[to] = x;
    }
}

/* Writes the waiting results, through the lane code if there is any. */
static void reduce_flush(reduce_state *s, const hg_args *a)
{
    if (s->n_result == 0) return;
    if (a->code == NULL) {
        s->loops->write(a->out[0].dtype, false, a->out[0].data, s->result_first, 1, s->result,
                        s->n_result);
    } else {
        holo_tensor result = a->out[0];
        result.data = s->result;
        result.dtype = reduce_result_type(s->op, s->dtype);
        void *scratch = (uint8_t *)(void *)s + hg_align_up(sizeof *s, HG_ALIGN);
        hg_lane_space *space = hg_lane_space_init(scratch, a->code, &result, a->in, a->out);
        space->operand[0].origin = s->result_first;
        hg_lane_space_run(space, s->result_first, s->result_first + s->n_result, a->fault,
                          s->loops->lane);
    }
    s->result_first += s->n_result;
    s->n_result = 0;
}

static void reduce_begin(reduce_state *s, const hg_args *a, const hg_reduce_loops *loops)
{
    s->loops = loops;
    reduce_shape_init(&s->shape, &a->in[0], a->param[1]);
    s->op = (hg_reduce_op)a->param[0];
    s->dtype = a->in[0].dtype;
    hg_lane_type type = hg_lane_type_of(s->dtype);
    bool is_int = type != HG_LANE_F32 && type != HG_LANE_F64;
    s->domain = type == HG_LANE_I32 && !reduce_is_extreme(s->op) ? HG_LANE_I64 : type;
    if (is_int && s->op == HG_REDUCE_LOG_SUM_EXP) s->domain = HG_LANE_F64;
    const reduce_shape *shape = &s->shape;
    s->is_short = shape->cols == 1 && shape->n_reduced == 0 && shape->rows < REDUCE_LANES &&
                  shape->n_kept == 1;
    s->is_native = hg_lane_is_native(s->dtype) && s->domain == type && !s->is_short;
    s->row_stride = s->is_short ? 1 : shape->cols;
    s->col_stride = s->is_short ? shape->kept_stride[0] : 1;
    s->step = loops->step(s->op, s->domain);
    s->n_result = 0;
}

/* What is accumulated is the result. */
static bool reduce_is_final(hg_reduce_op op)
{
    return op != HG_REDUCE_MEAN && op != HG_REDUCE_L2 && op != HG_REDUCE_LOG_SUM;
}

/* The block's outputs wait with the others. */
static void reduce_keep(reduce_state *s, const hg_args *a)
{
    if (s->n_result + s->cols > HG_LANE_TILE) reduce_flush(s, a);
    float *result = (float *)(void *)s->result + s->n_result;
    const float *acc = (const float *)(const void *)s->acc;
    const bool is_f32 = hg_lane_type_of(s->dtype) == HG_LANE_F32 && !reduce_is_arg(s->op);
    if (is_f32 && reduce_is_final(s->op))
        memcpy(result, acc, (size_t)s->cols * sizeof *acc);
    else if (is_f32 && s->op == HG_REDUCE_MEAN)
        for (int64_t j = 0; j < s->cols; j++)
            result[j] = acc[j] / (float)s->shape.steps;
    else
        for (int64_t j = 0; j < s->cols; j++)
            reduce_finish(s, j, s->n_result + j);
    s->n_result += s->cols;
}

/* Rows of neighbours; false: otherwise. */
static bool reduce_by_rows(reduce_state *s, const hg_args *a, hg_range r)
{
    const reduce_shape *shape = &s->shape;
    const int64_t stride = shape->n_kept == 0 ? 0 : shape->kept_stride[0];
    if (s->loops->rows == NULL || s->dtype != HOLO_F32 || shape->cols != 1 ||
        shape->n_reduced != 0 || shape->n_kept > 1)
        return false;
    if (a->code == NULL && reduce_is_final(s->op))
        return s->loops->rows(s->op, (const float *)a->in[0].data + r.begin * stride, shape->rows,
                              stride, r.end - r.begin, (float *)a->out[0].data + r.begin);
    for (int64_t o = r.begin; o < r.end; o += s->cols) {
        s->cols = hg_min(REDUCE_COLS, r.end - o);
        if (!s->loops->rows(s->op, (const float *)a->in[0].data + o * stride, shape->rows, stride,
                            s->cols, (float *)(void *)s->acc))
            return false;
        reduce_keep(s, a);
    }
    reduce_flush(s, a);
    return true;
}

/* Extremes of rows of neighbours that have a byte each; a truth is any number but 0. */
static bool reduce_by_bytes(const reduce_state *s, const hg_args *a, hg_range r)
{
    const reduce_shape *shape = &s->shape;
    const int64_t stride = shape->n_kept == 0 ? 0 : shape->kept_stride[0];
    uint8_t *out = a->out[0].data;
    if (s->loops->bytes == NULL || hg_dtype_bits(s->dtype) != 8 || a->code != NULL ||
        (s->op != HG_REDUCE_MAX && s->op != HG_REDUCE_MIN) || shape->rows == 0 ||
        shape->cols != 1 || shape->n_reduced != 0 || shape->n_kept > 1)
        return false;
    s->loops->bytes(s->op == HG_REDUCE_MAX, s->dtype == HOLO_I8,
                    (const uint8_t *)a->in[0].data + r.begin * stride, shape->rows, stride,
                    r.end - r.begin, out + r.begin);
    for (int64_t i = r.begin; s->dtype == HOLO_BOOL && i < r.end; i++)
        out[i] = out[i] != 0;
    return true;
}

/* Where extremes are, without looking for them first and then for their places. */
static bool reduce_by_arg(reduce_state *s, const hg_args *a, hg_range r)
{
    const reduce_shape *shape = &s->shape;
    const bool is_rows = shape->cols == 1 && shape->n_kept <= 1;
    const int64_t stride = shape->n_kept == 0 ? 0 : shape->kept_stride[0];
    if (!reduce_is_arg(s->op) || s->loops->arg == NULL || s->dtype != HOLO_F32 ||
        shape->n_reduced != 0)
        return false;
    for (int64_t o = r.begin; o < r.end; o += s->cols) {
        const int64_t col = o % shape->cols;
        const int64_t first = col + reduce_offset(shape->kept_dim, shape->kept_stride,
                                                  shape->n_kept, o / shape->cols);
        const int64_t most = is_rows ? REDUCE_COLS : hg_min(shape->cols - col, REDUCE_COLS);
        s->cols = hg_min(most, r.end - o);
        const hg_reduce_arg q = {.x = (const float *)a->in[0].data + first,
                                 .rows = shape->rows,
                                 .row_stride = shape->cols,
                                 .cols = s->cols,
                                 .col_stride = is_rows ? stride : 1,
                                 .is_max = reduce_is_max(s->op),
                                 .is_last = a->param[2] != 0};
        if (!s->loops->arg(&q, s->found)) return false;
        reduce_keep(s, a);
    }
    reduce_flush(s, a);
    return true;
}

/* Columns of float32 with nothing else between their elements; false: otherwise. */
static bool reduce_by_cols(reduce_state *s, const void *data, int64_t first)
{
    const reduce_shape *shape = &s->shape;
    if (s->loops->cols == NULL || s->dtype != HOLO_F32 || s->is_short || shape->n_reduced != 0 ||
        s->cols < REDUCE_LANES)
        return false;
    return s->loops->cols(s->op, (const float *)data + first, shape->rows, shape->cols, s->cols,
                          (float *)(void *)s->acc);
}

void hg_kernel_reduce_run(const hg_args *a, hg_range r, const hg_reduce_loops *loops)
{
    reduce_state *s = r.scratch;
    const reduce_shape *shape = &s->shape;
    reduce_begin(s, a, loops);
    s->result_first = r.begin;
    if (reduce_by_arg(s, a, r) || reduce_by_bytes(s, a, r) || reduce_by_rows(s, a, r)) return;
    for (int64_t o = r.begin; o < r.end; o += s->cols) {
        int64_t col = o % shape->cols;
        int64_t first = col + reduce_offset(shape->kept_dim, shape->kept_stride, shape->n_kept,
                                            o / shape->cols);
        int64_t most = s->is_short ? REDUCE_COLS : hg_min(shape->cols - col, REDUCE_COLS);
        s->cols = hg_min(most, r.end - o);
        s->is_whole = s->cols == shape->cols && !s->is_short;
        if (s->op == HG_REDUCE_LOG_SUM_EXP)
            reduce_log_sum_exp(s, a->in[0].data, first);
        else if (!reduce_by_cols(s, a->in[0].data, first))
            reduce_block(s, a->in[0].data, first);
        if (reduce_is_arg(s->op)) reduce_find(s, a->in[0].data, first, a->param[2] != 0);
        reduce_keep(s, a);
    }
    reduce_flush(s, a);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* The dims of out other than 1 are the kept dims of in other than 1, in order. */
static bool reduce_shape_fits(const holo_tensor *in, const holo_tensor *out, int64_t axes)
{
    int k = 0;
    for (int i = 0; i < in->rank; i++) {
        if ((axes >> i & 1) != 0 || in->dim[i] == 1) continue;
        while (k < out->rank && out->dim[k] == 1)
            k++;
        if (k == out->rank || out->dim[k++] != in->dim[i]) return false;
    }
    while (k < out->rank && out->dim[k] == 1)
        k++;
    return k == out->rank;
}

static holo_status reduce_check_code(const hg_args *a, hg_reduce_op op, holo_error *e)
{
    holo_tensor result = a->out[0];
    result.dtype = reduce_result_type(op, a->in[0].dtype);
    if (a->code == NULL) {
        HG_TRY(hg_check_counts(a, e, 1, 1, 1, 3));
        return hg_check_same_type(&a->out[0], reduce_is_arg(op) ? &result : &a->in[0], e, "output");
    }
    for (uint32_t i = 1; i < a->n_in; i++)
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_NARROW));
    return hg_kernel_lane_check_body(a, &result, e);
}

holo_status hg_kernel_reduce_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, -1, 1, 3));
    HG_TRY(hg_check_param(a, e, 0, "operation", HG_REDUCE_SUM, HG_REDUCE_LOG_SUM));
    hg_reduce_op op = (hg_reduce_op)a->param[0];
    bool takes_bool = op == HG_REDUCE_MAX || op == HG_REDUCE_MIN;
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_NUMBER | (takes_bool ? HG_TYPES_BOOL : 0)));
    /* Whole bytes: two units must not share one. */
    HG_TRY(hg_check_out_type(
        a, e, 0, HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_FLOAT8 | HG_TYPE_BIT(HOLO_F8E8M0)));
    HG_TRY(hg_check_param(a, e, 1, "mask of axes", 0, (INT64_C(1) << a->in[0].rank) - 1));
    HG_TRY(hg_check_param(a, e, 2, "select_last", 0, reduce_is_arg(op) ? 1 : 0));
    HG_REQUIRE(e, reduce_shape_fits(&a->in[0], &a->out[0], a->param[1]), HOLO_E_SHAPE,
               "the output's dimensions are not those that are kept");
    reduce_shape shape;
    reduce_shape_init(&shape, &a->in[0], a->param[1]);
    HG_REQUIRE(e, !reduce_is_arg(op) || shape.steps > 0 || holo_tensor_count(&a->out[0]) == 0,
               HOLO_E_SHAPE, "arg max or arg min of no elements");
    return reduce_check_code(a, op, e);
}

int64_t hg_kernel_reduce_units(const hg_args *a)
{
    return hg_dims_product(&a->out[0], 0, a->out[0].rank);
}

size_t hg_kernel_reduce_scratch(const hg_args *a)
{
    size_t lane = a->code != NULL ? hg_lane_space_scratch(a->code) : 0;
    return hg_align_up(sizeof(reduce_state), HG_ALIGN) + lane;
}

void hg_kernel_reduce_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = (double)hg_dims_product(&a->in[0], 0, a->in[0].rank);
}

static void reduce_run(const hg_args *a, hg_range r)
{
    static const hg_reduce_loops loops = {.step = hg_reduce_step_reference,
                                          .read = hg_lane_read,
                                          .write = hg_lane_write,
                                          .lane = hg_lane_run};
    hg_kernel_reduce_run(a, r, &loops);
}

const hg_kernel hg_kernels_reduce[] = {
    {
        .name = "reduce",
        .check = hg_kernel_reduce_check,
        .units = hg_kernel_reduce_units,
        .scratch = hg_kernel_reduce_scratch,
        .cost = hg_kernel_reduce_cost,
        .run = reduce_run,
    },
    {
        /* extremes and their places by a name of their own: only programs that have some link the
         * tuned code for them */
        .name = "reduce.order",
        .check = hg_kernel_reduce_check,
        .units = hg_kernel_reduce_units,
        .scratch = hg_kernel_reduce_scratch,
        .cost = hg_kernel_reduce_cost,
        .run = reduce_run,
    },
    {0},
};
