/* gridsample.c - gridsample: an input sampled at the places of a grid; affinegrid: such a grid.
 *
 *   gridsample  in[0]  X [N, C, spatial...]
 *               in[1]  grid [N, out..., n_spatial] floats: places in [-1, 1], last axis first
 *               param  mode (0 nearest, 1 linear, 2 cubic), align_corners at 2,
 *                      padding (0 zeros, 1 border, 2 reflection) at 1
 *               out[0] Y [N, C, out...], X's type
 *   affinegrid  in[0]  theta [N, n, n + 1] floats, n = 2 or 3
 *               param  align_corners
 *               out[0] [N, out..., n]
 *
 * gridsample: nearest moves elements of any type, the others take numbers and compute in f64;
 * integers are cut off. Places are computed in f32, in f64 for a grid of f64, as other
 * implementations do, so that ties fall the same way. A place that is NaN reads 0. */
#include "kernel/gridsample.h"

#include "isa/lane_math.h"
#include "kernel/elem.h"
#include "kernel/number.h"

enum { GRID_MAX_SPATIAL = HG_MAX_RANK - 2, GRID_MAX_TAPS = 4 };

holo_status hg_gridsample_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, HG_GRID_PARAMS));
    HG_TRY(hg_check_param(a, e, HG_GRID_PARAM_MODE, "mode", HG_GRID_NEAREST, HG_GRID_CUBIC));
    HG_TRY(
        hg_check_param(a, e, HG_GRID_PARAM_PADDING, "padding", HG_GRID_ZEROS, HG_GRID_REFLECTION));
    HG_TRY(hg_check_param(a, e, HG_GRID_PARAM_ALIGN, "align_corners", 0, 1));
    const hg_types types = a->param[HG_GRID_PARAM_MODE] == HG_GRID_NEAREST
                               ? HG_TYPES_ANY & ~HG_TYPES_NARROW
                               : HG_TYPES_NUMBER;
    HG_TRY(hg_check_in_type(a, e, 0, types));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, types));
    const holo_tensor *x = &a->in[0], *grid = &a->in[1], *y = &a->out[0];
    HG_TRY(hg_check_same_type(y, x, e, "output"));
    HG_TRY(hg_check_rank(x, e, "input", 3, HG_MAX_RANK));
    HG_TRY(hg_check_rank(grid, e, "grid", x->rank, x->rank));
    HG_TRY(hg_check_rank(y, e, "output", x->rank, x->rank));
    HG_REQUIRE(e, grid->dim[0] == x->dim[0] && grid->dim[x->rank - 1] == x->rank - 2, HOLO_E_SHAPE,
               "grid has %lld samples of %lld coordinates, expected %lld of %d",
               (long long)grid->dim[0], (long long)grid->dim[x->rank - 1], (long long)x->dim[0],
               x->rank - 2);
    HG_REQUIRE(e, y->dim[0] == x->dim[0] && y->dim[1] == x->dim[1], HOLO_E_SHAPE,
               "output has %lld x %lld planes, expected %lld x %lld", (long long)y->dim[0],
               (long long)y->dim[1], (long long)x->dim[0], (long long)x->dim[1]);
    for (int d = 2; d < x->rank; d++)
        HG_REQUIRE(e, y->dim[d] == grid->dim[d - 1], HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", d, (long long)y->dim[d],
                   (long long)grid->dim[d - 1]);
    return HOLO_OK;
}

int64_t hg_gridsample_units(const hg_args *a)
{
    const holo_tensor *y = &a->out[0];
    return holo_tensor_count(y) == 0 ? 0 : y->dim[0] * hg_dims_product(y, 2, y->rank);
}

static double grid_reflect(double x, double low, double high)
{
    const double range = high - low;
    if (range <= 0.0) return low;
    if (x < low) {
        const double rest = hg_fmod_f64(low - x, 2.0 * range);
        return rest < range ? low + rest : high - (rest - range);
    }
    if (x > high) {
        const double rest = hg_fmod_f64(x - high, 2.0 * range);
        return rest < range ? high - rest : low + (rest - range);
    }
    return x;
}

/* From [-1, 1] to a place among `size` elements, moved inside as the padding says. */
static double grid_place(const hg_args *a, double n, int64_t size)
{
    const bool align = a->param[HG_GRID_PARAM_ALIGN] != 0;
    const double low = align ? 0.0 : -0.5, high = (double)size - (align ? 1.0 : 0.5);
    double x;
    if (a->in[1].dtype == HOLO_F64) {
        x = align ? (n + 1.0) / 2.0 * (double)(size - 1) : ((n + 1.0) * (double)size - 1.0) / 2.0;
    } else {
        const float f = (float)n, s = (float)size;
        x = (double)(align ? (f + 1.0f) / 2.0f * (s - 1.0f) : ((f + 1.0f) * s - 1.0f) / 2.0f);
    }
    if (a->param[HG_GRID_PARAM_MODE] == HG_GRID_NEAREST) x = hg_round_f64(x);
    if (x >= low && x <= high) return x;
    if (a->param[HG_GRID_PARAM_PADDING] == HG_GRID_BORDER)
        return x < 0.0 ? 0.0 : x > (double)(size - 1) ? (double)(size - 1) : x;
    return a->param[HG_GRID_PARAM_PADDING] == HG_GRID_REFLECTION ? grid_reflect(x, low, high) : x;
}

/* Element i of an axis, or -1: zero. */
static int64_t grid_index(const hg_args *a, int64_t i, int64_t size)
{
    if (i >= 0 && i < size) return i;
    if (a->param[HG_GRID_PARAM_PADDING] == HG_GRID_ZEROS) return -1;
    if (a->param[HG_GRID_PARAM_PADDING] == HG_GRID_BORDER) return i < 0 ? 0 : size - 1;
    const bool align = a->param[HG_GRID_PARAM_ALIGN] != 0;
    const double low = align ? 0.0 : -0.5, high = (double)size - (align ? 1.0 : 0.5);
    return hg_max(0, hg_min((int64_t)grid_reflect((double)i, low, high), size - 1));
}

typedef struct grid_axis {
    int taps;
    int64_t index[GRID_MAX_TAPS];
    double weight[GRID_MAX_TAPS];
} grid_axis;

/* Keys' cubic convolution with a = -0.75. */
static double grid_cubic(double x)
{
    const double a = -0.75;
    x = hg_abs_f64(x);
    if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    return x < 2.0 ? ((x - 5.0) * x + 8.0) * x * a - 4.0 * a : 0.0;
}

/* False when the place is too far away to be an integer, or no number: everything there is zero. */
static bool grid_axis_of(const hg_args *a, double place, int64_t size, grid_axis *axis)
{
    if (size == 0 || !(place > -0x1p40 && place < 0x1p40)) return false;
    const int64_t mode = a->param[HG_GRID_PARAM_MODE], base = (int64_t)hg_floor_f64(place);
    const double rest = place - (double)base;
    axis->taps = mode == HG_GRID_NEAREST ? 1 : mode == HG_GRID_LINEAR ? 2 : 4;
    for (int k = 0; k < axis->taps; k++) {
        const int64_t i = mode == HG_GRID_CUBIC ? base - 1 + k : base + k;
        axis->index[k] = grid_index(a, i, size);
        axis->weight[k] = mode == HG_GRID_NEAREST ? 1.0
                          : mode == HG_GRID_CUBIC ? grid_cubic((double)(i - base) - rest)
                          : k == 0                ? 1.0 - rest
                                                  : rest;
    }
    return true;
}

/* An element of a plane and its weight. */
typedef struct grid_tap {
    int64_t index;
    double weight;
} grid_tap;

/* All combinations of the axes' taps that lie inside and weigh something; their number. */
static int64_t grid_combine(const holo_tensor *x, const grid_axis *axis, grid_tap *out)
{
    const int rank = x->rank - 2;
    int tap[GRID_MAX_SPATIAL] = {0};
    int64_t count = 0;
    for (;;) {
        grid_tap t = {0, 1.0};
        bool inside = true;
        for (int d = 0; d < rank; d++) {
            inside = inside && axis[d].index[tap[d]] >= 0;
            t.index = t.index * x->dim[2 + d] + axis[d].index[tap[d]];
            t.weight *= axis[d].weight[tap[d]];
        }
        if (inside && t.weight != 0.0) out[count++] = t;
        int d = rank - 1;
        while (d >= 0 && ++tap[d] == axis[d].taps)
            tap[d--] = 0;
        if (d < 0) return count;
    }
}

static double grid_sum(const holo_tensor *x, int64_t at, const grid_tap *tap, int64_t count)
{
    double sum = 0.0;
    if (x->dtype == HOLO_F32) {
        const float *v = (const float *)x->data + at;
        for (int64_t k = 0; k < count; k++)
            sum += tap[k].weight * (double)v[tap[k].index];
        return sum;
    }
    for (int64_t k = 0; k < count; k++)
        sum += tap[k].weight * hg_number_load(x, at + tap[k].index);
    return sum;
}

size_t hg_gridsample_scratch(const hg_args *a)
{
    size_t taps = 1;
    for (int d = 2; d < a->in[0].rank; d++)
        taps *= a->param[HG_GRID_PARAM_MODE] == HG_GRID_CUBIC ? 4 : 2;
    return taps * sizeof(grid_tap);
}

/* Elements nearest to a place: moved, not computed with. */
static void grid_move(const hg_args *a, const grid_axis *axis, int64_t at, int64_t to)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const uint32_t bits = hg_dtype_bits(x->dtype);
    int64_t index = 0;
    bool inside = true;
    for (int d = 0; d < x->rank - 2; d++) {
        inside = inside && axis[d].index[0] >= 0;
        index = index * x->dim[2 + d] + axis[d].index[0];
    }
    if (inside)
        hg_elem_copy(y->data, to, x->data, at + index, 1, bits);
    else
        memset((char *)y->data + (size_t)to * (bits / 8), 0, bits / 8);
}

/* What an integer type can hold, without the fraction. */
static double grid_clamp(holo_dtype dtype, double v)
{
    if (hg_dtype_is_float(dtype)) return v;
    const int bits = (int)hg_dtype_bits(dtype);
    const bool is_signed = hg_dtype_is_signed_int(dtype);
    /* The largest f64 below 2^bits. */
    const double top = hg_pow_f64(2.0, is_signed ? bits - 1 : bits);
    const double high = bits == 64 ? top * (1.0 - 0x1p-53) : top - 1.0,
                 low = is_signed ? -top : 0.0;
    if (v != v) return 0.0;
    return v < low ? low : v > high ? high : v;
}

/* ---- pictures of f32, linear: the same sums, many places at a time ----------------------------
 */

enum { GRID_BLOCK = 64, GRID_PICTURE_TAPS = 4 };

typedef struct grid_block {
    int count[GRID_BLOCK]; /* taps that lie inside and weigh something */
    int64_t index[GRID_BLOCK][GRID_PICTURE_TAPS];
    double weight[GRID_BLOCK][GRID_PICTURE_TAPS];
} grid_block;

bool hg_gridsample_is_picture(const hg_args *a)
{
    return a->in[0].rank == 4 && a->in[0].dtype == HOLO_F32 && a->in[1].dtype == HOLO_F32 &&
           a->param[HG_GRID_PARAM_MODE] == HG_GRID_LINEAR;
}

/* A place along an axis as its first element and how far behind that it is; false when it is too
 * far away, or no number. */
static bool grid_split(const hg_args *a, float n, int64_t size, int64_t *base, double *rest)
{
    const float s = (float)size;
    const float f = a->param[HG_GRID_PARAM_ALIGN] != 0 ? (n + 1.0f) / 2.0f * (s - 1.0f)
                                                       : ((n + 1.0f) * s - 1.0f) / 2.0f;
    if (HG_LIKELY(f >= 0.0f && f <= s - 1.0f)) { /* inside: nothing is moved */
        *base = (int64_t)f;
        *rest = (double)f - (double)*base;
        return true;
    }
    const double place = grid_place(a, (double)n, size);
    if (!(place > -0x1p40 && place < 0x1p40)) return false;
    *base = (int64_t)place;
    *base -= (double)*base > place;
    *rest = place - (double)*base;
    return true;
}

/* Taps around (row, col) that lie inside and weigh something, moved to the front. */
static int grid_some_taps(const hg_args *a, int64_t row, int64_t col, int64_t *index,
                          double *weight)
{
    const int64_t height = a->in[0].dim[2], width = a->in[0].dim[3];
    int count = 0;
    for (int k = 0; k < GRID_PICTURE_TAPS; k++) {
        const int64_t y = grid_index(a, row + k / 2, height);
        const int64_t x = grid_index(a, col + k % 2, width);
        if (y < 0 || x < 0 || weight[k] == 0.0) continue;
        index[count] = y * width + x;
        weight[count++] = weight[k];
    }
    return count;
}

static void grid_find_block(const hg_args *a, const float *grid, int64_t places, grid_block *b)
{
    const int64_t height = a->in[0].dim[2], width = a->in[0].dim[3];
    for (int64_t i = 0; i < places; i++) {
        int64_t row, col;
        double down, across;
        b->count[i] = 0;
        if (width == 0 || height == 0 || !grid_split(a, grid[2 * i], width, &col, &across) ||
            !grid_split(a, grid[2 * i + 1], height, &row, &down))
            continue;
        double *weight = b->weight[i];
        weight[0] = (1.0 - down) * (1.0 - across);
        weight[1] = (1.0 - down) * across;
        weight[2] = down * (1.0 - across);
        weight[3] = down * across;
        if (row < 0 || row + 1 >= height || col < 0 || col + 1 >= width || weight[3] == 0.0) {
            b->count[i] = grid_some_taps(a, row, col, b->index[i], weight);
            continue;
        }
        for (int k = 0; k < GRID_PICTURE_TAPS; k++)
            b->index[i][k] = (row + k / 2) * width + col + k % 2;
        b->count[i] = GRID_PICTURE_TAPS;
    }
}

static void grid_sum_block(const grid_block *b, const float *x, int64_t places, float *y)
{
    for (int64_t i = 0; i < places; i++) {
        const int64_t *index = b->index[i];
        const double *weight = b->weight[i];
        double sum = 0.0;
        if (b->count[i] == GRID_PICTURE_TAPS) {
            for (int k = 0; k < GRID_PICTURE_TAPS; k++)
                sum += weight[k] * (double)x[index[k]];
        } else {
            for (int k = 0; k < b->count[i]; k++)
                sum += weight[k] * (double)x[index[k]];
        }
        y[i] = (float)sum;
    }
}

static void grid_run_picture(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t plane = x->dim[2] * x->dim[3], out = y->dim[2] * y->dim[3];
    grid_block b;
    for (int64_t u = r.begin; u < r.end;) {
        const int64_t image = u / out, at = u % out;
        const int64_t places = hg_min(GRID_BLOCK, hg_min(r.end - u, out - at));
        grid_find_block(a, (const float *)a->in[1].data + 2 * u, places, &b);
        for (int64_t c = 0; c < x->dim[1]; c++) {
            const int64_t p = image * x->dim[1] + c;
            grid_sum_block(&b, (const float *)x->data + p * plane, places,
                           (float *)y->data + p * out + at);
        }
        u += places;
    }
}

void hg_gridsample_run(const hg_args *a, hg_range r)
{
    if (hg_gridsample_is_picture(a)) {
        grid_run_picture(a, r);
        return;
    }
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int rank = x->rank - 2;
    const int64_t plane = hg_dims_product(x, 2, x->rank), out = hg_dims_product(y, 2, y->rank);
    const size_t size = hg_dtype_bits(y->dtype) / 8;
    grid_axis axis[GRID_MAX_SPATIAL] = {{0}};
    for (int64_t u = r.begin; u < r.end; u++) {
        bool known = true;
        for (int d = 0; d < rank; d++) {
            const double n = hg_number_load(&a->in[1], u * rank + (rank - 1 - d));
            known =
                known && grid_axis_of(a, grid_place(a, n, x->dim[2 + d]), x->dim[2 + d], &axis[d]);
        }
        grid_tap *tap = r.scratch;
        const bool computes = known && a->param[HG_GRID_PARAM_MODE] != HG_GRID_NEAREST;
        const int64_t count = computes ? grid_combine(x, axis, tap) : 0;
        for (int64_t c = 0; c < x->dim[1]; c++) {
            const int64_t p = u / out * x->dim[1] + c, to = p * out + u % out;
            if (!known)
                memset((char *)y->data + (size_t)to * size, 0, size);
            else if (a->param[HG_GRID_PARAM_MODE] == HG_GRID_NEAREST)
                grid_move(a, axis, p * plane, to);
            else
                hg_number_store(y, to, grid_clamp(y->dtype, grid_sum(x, p * plane, tap, count)));
        }
    }
}

/* ---- affinegrid ----------------------------------------------------------------------------- */

static holo_status grid_affine_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 1));
    HG_TRY(hg_check_param(a, e, 0, "align_corners", 0, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *t = &a->in[0], *y = &a->out[0];
    HG_TRY(hg_check_same_type(y, t, e, "output"));
    HG_TRY(hg_check_rank(t, e, "theta", 3, 3));
    HG_TRY(hg_check_rank(y, e, "output", 4, 5));
    const int64_t n = y->rank - 2;
    HG_REQUIRE(e, t->dim[0] == y->dim[0] && t->dim[1] == n && t->dim[2] == n + 1, HOLO_E_SHAPE,
               "theta is %lld x %lld x %lld, expected %lld x %lld x %lld", (long long)t->dim[0],
               (long long)t->dim[1], (long long)t->dim[2], (long long)y->dim[0], (long long)n,
               (long long)(n + 1));
    HG_REQUIRE(e, y->dim[y->rank - 1] == n, HOLO_E_SHAPE,
               "output has %lld coordinates, expected %lld", (long long)y->dim[y->rank - 1],
               (long long)n);
    return HOLO_OK;
}

/* A row: all places that agree in the axes before the last. */
static int64_t grid_affine_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0
                                              : hg_dims_product(&a->out[0], 0, a->out[0].rank - 2);
}

/* Coordinate of element i of `size`. */
static double grid_affine_place(const hg_args *a, int64_t i, int64_t size)
{
    if (a->param[0] == 0) return (2.0 * (double)i + 1.0) / (double)size - 1.0;
    return size > 1 ? 2.0 * (double)i / ((double)size - 1.0) - 1.0 : -1.0;
}

/* y[i][k] = base[k] + slope[k] * place[i]. */
#define GRID_AFFINE(T, n, suffix)                                                                  \
    static void grid_affine_##suffix(const double *base, const double *slope, const double *place, \
                                     int64_t count, void *vy)                                      \
    {                                                                                              \
        T *HG_RESTRICT y = vy;                                                                     \
        for (int64_t i = 0; i < count; i++)                                                        \
            for (int k = 0; k < (n); k++)                                                          \
                y[i * (n) + k] = (T)(base[k] + slope[k] * place[i]);                               \
    }
GRID_AFFINE(float, 2, f32x2)
GRID_AFFINE(float, 3, f32x3)
GRID_AFFINE(double, 2, f64x2)
GRID_AFFINE(double, 3, f64x3)
#undef GRID_AFFINE

/* Places along the last axis, and a row of f16 or bf16 before it is narrowed. */
static size_t grid_affine_scratch(const hg_args *a)
{
    const holo_tensor *y = &a->out[0];
    const size_t cols = (size_t)y->dim[y->rank - 2], n = (size_t)y->rank - 2;
    return cols * sizeof(double) + (hg_dtype_bits(y->dtype) == 16 ? cols * n * sizeof(double) : 0);
}

static void grid_affine_run(const hg_args *a, hg_range r)
{
    const holo_tensor *y = &a->out[0];
    const int n = y->rank - 2;
    const int64_t cols = y->dim[n], size = hg_dtype_bits(y->dtype) / 8;
    double *place = r.scratch;
    for (int64_t i = 0; i < cols; i++)
        place[i] = grid_affine_place(a, i, cols);
    for (int64_t u = r.begin; u < r.end; u++) {
        double base[3] = {0}, slope[3] = {0}, lead[3] = {0}; /* lead: y, z */
        int64_t rest = u;
        for (int d = n - 1; d > 0; d--) {
            lead[n - d] = grid_affine_place(a, rest % y->dim[d], y->dim[d]);
            rest /= y->dim[d];
        }
        for (int k = 0; k < n; k++) {
            const int64_t row = (rest * n + k) * (n + 1);
            slope[k] = hg_number_load(&a->in[0], row);
            base[k] = hg_number_load(&a->in[0], row + n);
            for (int j = 1; j < n; j++)
                base[k] += hg_number_load(&a->in[0], row + j) * lead[j];
        }
        void *to = size == 2 ? (void *)(place + cols) : (char *)y->data + u * cols * n * size;
        if (y->dtype == HOLO_F32)
            (n == 2 ? grid_affine_f32x2 : grid_affine_f32x3)(base, slope, place, cols, to);
        else
            (n == 2 ? grid_affine_f64x2 : grid_affine_f64x3)(base, slope, place, cols, to);
        for (int64_t i = 0; size == 2 && i < cols * n; i++)
            hg_number_store(y, u * cols * n + i, ((const double *)to)[i]);
    }
}

const hg_kernel hg_kernels_gridsample[] = {
    {.name = "affinegrid",
     .check = grid_affine_check,
     .units = grid_affine_units,
     .scratch = grid_affine_scratch,
     .run = grid_affine_run},
    {.name = "gridsample",
     .check = hg_gridsample_check,
     .units = hg_gridsample_units,
     .scratch = hg_gridsample_scratch,
     .run = hg_gridsample_run},
    {0},
};
