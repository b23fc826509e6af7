/* copy.c - copy.strided: out[i0, i1, ...] = in[offset + i0 stride0 + i1 stride1 + ...].
 *
 *   in[0]   any tensor
 *   param   offset, then extent and stride of each loop, the outermost first; in elements of in[0]
 *   out[0]  of the same type or of plain elements as wide; the loops fill it in row-major order,
 * whatever its dims
 *
 * Slice, Transpose, Expand, Tile, DepthToSpace and others are this kernel with different numbers:
 * stride 0 repeats, a negative stride reverses. Loops of one turn are dropped and neighbours that
 * walk on evenly are joined, so that the innermost loop is as long as it can be. Then there are
 * three ways:
 *
 *   runs     the innermost stride is 1: memcpy
 *   tiles    some other loop has stride 1: a transposition, in blocks that stay in the cache
 *   steps    neither */
#include "kernel/copy.h"

#include "isa/deep.h"
#include "kernel/elem.h"

enum {
    COPY_BLOCK =
        16384, /* elements of a unit; a multiple of 4, so that packed elements share no byte */
    COPY_TILE_ROWS = 64,
    COPY_TILE_AREA = 16384,
    COPY_FEW = 3,   /* rows of a tile */
    COPY_TILE = 8,  /* columns at once: as many cache lines as share a place on most machines */
    COPY_SHORT = 16 /* elements; a longer row is worth a call of its own */
};

static int copy_loops(const hg_args *a)
{
    return ((int)a->n_param - 1) / 2;
}

/* Lowest and highest element of in[0] that the loops reach. */
static bool copy_reach(const hg_args *a, int64_t *low, int64_t *high)
{
    *low = *high = a->param[0];
    for (int i = 0; i < copy_loops(a); i++) {
        int64_t extent = a->param[1 + 2 * i], stride = a->param[2 + 2 * i], way;
        if (!hg_mul_i64(extent - 1, stride, &way)) return false;
        if (!hg_add_i64(way < 0 ? *low : *high, way, way < 0 ? low : high)) return false;
    }
    return true;
}

/* Bits mean the same everywhere, but text is not in its elements. */
static bool copy_fits(holo_dtype out, holo_dtype in)
{
    if (out == in) return true;
    return hg_dtype_bits(out) == hg_dtype_bits(in) && !hg_is_deep(out) && !hg_is_deep(in);
}

holo_status hg_copy_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, (int)a->n_param));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    HG_REQUIRE(e, copy_fits(a->out[0].dtype, a->in[0].dtype), HOLO_E_TYPE,
               "output has type %s, expected the width of %s", holo_dtype_text(a->out[0].dtype),
               holo_dtype_text(a->in[0].dtype));
    HG_REQUIRE(e, a->n_param % 2 == 1 && a->n_param <= 2 * HG_COPY_MAX_LOOPS + 1, HOLO_E_FORMAT,
               "%u parameters, expected an odd number of at most %d", a->n_param,
               2 * HG_COPY_MAX_LOOPS + 1);
    int64_t count = 1, low, high;
    const int64_t out_count = holo_tensor_count(&a->out[0]), size = holo_tensor_count(&a->in[0]);
    for (int i = 0; i < copy_loops(a); i++) {
        int64_t extent = a->param[1 + 2 * i];
        HG_REQUIRE(e, extent >= 0, HOLO_E_SHAPE, "loop %d has %lld turns", i, (long long)extent);
        HG_REQUIRE(e, hg_mul_i64(count, extent, &count), HOLO_E_SHAPE, "too many elements");
    }
    HG_REQUIRE(e, count == out_count, HOLO_E_SHAPE, "output has %lld elements, expected %lld",
               (long long)out_count, (long long)count);
    if (count == 0) return HOLO_OK;
    HG_REQUIRE(e, copy_reach(a, &low, &high), HOLO_E_SHAPE, "the strides are too large");
    HG_REQUIRE(e, low >= 0 && high < size, HOLO_E_SHAPE,
               "elements %lld to %lld are read, but the input has %lld", (long long)low,
               (long long)high, (long long)size);
    return HOLO_OK;
}

holo_status hg_copy_width_check(const hg_args *a, uint32_t bits, holo_error *e)
{
    HG_TRY(hg_copy_check(a, e));
    HG_REQUIRE(e, hg_dtype_bits(a->in[0].dtype) == bits, HOLO_E_TYPE,
               "elements of %s, expected such of %u bits", holo_dtype_text(a->in[0].dtype), bits);
    return HOLO_OK;
}

/* Rows worth a tile: of pixels of three elements too, which tuned code takes apart together. */
static int copy_unit_stride(const hg_copy_plan *p, uint32_t bits)
{
    for (int i = p->loops - 2; i >= 0; i--)
        if (p->stride[i] == 1 && p->extent[i] > (bits == 8 || bits == 32 ? COPY_FEW - 1 : COPY_FEW))
            return i;
    return -1;
}

hg_copy_plan hg_copy_plan_of(const hg_args *a)
{
    hg_copy_plan p = {
        .offset = a->param[0], .count = holo_tensor_count(&a->out[0]), .tile_loop = -1};
    if (p.count == 0) return p;
    for (int i = 0; i < copy_loops(a); i++) {
        int64_t extent = a->param[1 + 2 * i], stride = a->param[2 + 2 * i];
        if (extent == 1) continue;
        if (p.loops > 0 && p.stride[p.loops - 1] == extent * stride) {
            p.extent[p.loops - 1] *= extent;
            p.stride[p.loops - 1] = stride;
            continue;
        }
        p.extent[p.loops] = extent;
        p.stride[p.loops++] = stride;
    }
    if (p.loops == 0) {
        p.extent[0] = p.stride[0] = 1;
        p.loops = 1;
    }
    const int64_t inner = p.stride[p.loops - 1];
    if (inner != 1 && inner != 0 && !hg_elem_is_packed(&a->in[0]))
        p.tile_loop = copy_unit_stride(&p, hg_dtype_bits(a->in[0].dtype));
    if (p.tile_loop >= 0) {
        /* of few columns more rows, of few rows more columns */
        const int64_t rows = p.extent[p.tile_loop], cols = p.extent[p.loops - 1];
        p.tile_height = hg_min(rows, hg_max(COPY_TILE_ROWS, COPY_TILE_AREA / cols / 64 * 64));
        p.tile_width = p.tile_height * cols <= COPY_TILE_AREA
                           ? cols
                           : COPY_TILE_AREA / p.tile_height / 64 * 64;
        p.tile_rows = hg_ceil_div(p.extent[p.tile_loop], p.tile_height);
        p.tile_cols = hg_ceil_div(p.extent[p.loops - 1], p.tile_width);
    }
    return p;
}

int64_t hg_copy_units(const hg_copy_plan *p)
{
    if (p->tile_loop < 0) return hg_ceil_div(p->count, COPY_BLOCK);
    return p->count / p->extent[p->tile_loop] / p->extent[p->loops - 1] * p->tile_rows *
           p->tile_cols;
}

/* ---- by element size ----------------------------------------------------------------------------
 */

/* steps: rows of n elements, `row` and `stride` apart in the input and dense in the output.
 * tile: n columns of the input, `stride` apart, become n columns of the output, whose rows are
 * `row` apart. */
#define COPY_SIZE(T, size)                                                                         \
    static void copy_steps_##size(void *out, const void *in, hg_copy_grid g)                       \
    {                                                                                              \
        T *HG_RESTRICT y = out;                                                                    \
        const T *HG_RESTRICT x = in;                                                               \
        for (int64_t r = 0; r < g.rows; r++, x += g.row, y += g.n)                                 \
            if (sizeof(T) == 4 && g.stride == 2) /* compilers make vectors of it */                \
                for (int64_t i = 0; i < g.n; i++)                                                  \
                    y[i] = x[2 * i];                                                               \
            else                                                                                   \
                for (int64_t i = 0; i < g.n; i++)                                                  \
                    y[i] = x[i * g.stride];                                                        \
    }                                                                                              \
    static void copy_tile_##size(void *out, const void *in, hg_copy_grid g)                        \
    {                                                                                              \
        T *HG_RESTRICT y = out;                                                                    \
        const T *HG_RESTRICT x = in;                                                               \
        if (g.n == COPY_TILE)                                                                      \
            for (int64_t r = 0; r < g.rows; r++, x++, y += g.row)                                  \
                for (int64_t i = 0; i < COPY_TILE; i++)                                            \
                    y[i] = x[i * g.stride];                                                        \
        else                                                                                       \
            for (int64_t r = 0; r < g.rows; r++, x++, y += g.row)                                  \
                for (int64_t i = 0; i < g.n; i++)                                                  \
                    y[i] = x[i * g.stride];                                                        \
    }

COPY_SIZE(uint8_t, 1)
COPY_SIZE(uint16_t, 2)
COPY_SIZE(uint32_t, 4)
COPY_SIZE(uint64_t, 8)
COPY_SIZE(hg_elem16, 16)
#undef COPY_SIZE

static void copy_steps(uint8_t *out, const uint8_t *in, hg_copy_grid g, int64_t size)
{
    switch (size) {
    case 1: copy_steps_1(out, in, g); break;
    case 2: copy_steps_2(out, in, g); break;
    case 4: copy_steps_4(out, in, g); break;
    case 8: copy_steps_8(out, in, g); break;
    default: copy_steps_16(out, in, g); break;
    }
}

static void copy_tile(uint8_t *out, const uint8_t *in, hg_copy_grid g, int64_t size)
{
    switch (size) {
    case 1: copy_tile_1(out, in, g); break;
    case 2: copy_tile_2(out, in, g); break;
    case 4: copy_tile_4(out, in, g); break;
    case 8: copy_tile_8(out, in, g); break;
    default: copy_tile_16(out, in, g); break;
    }
}

/* ---- runs and steps
 * ------------------------------------------------------------------------------- */

static void copy_packed(const hg_args *a, int64_t at, int64_t from, hg_copy_grid g)
{
    const int bits = (int)hg_dtype_bits(a->in[0].dtype);
    for (int64_t r = 0; r < g.rows; r++)
        for (int64_t i = 0; i < g.n; i++)
            hg_packed_set(a->out[0].data, at + r * g.n + i, bits,
                          hg_packed_get(a->in[0].data, from + r * g.row + i * g.stride, bits));
}

static void copy_piece(const hg_args *a, int64_t at, int64_t from, hg_copy_grid g)
{
    const int64_t size = (int64_t)hg_dtype_bits(a->in[0].dtype) / 8;
    uint8_t *out = (uint8_t *)a->out[0].data + at * size;
    const uint8_t *in = (const uint8_t *)a->in[0].data + from * size;
    const int64_t bytes = g.n * size, row = g.row * size;
    if (size == 0) {
        copy_packed(a, at, from, g);
    } else if (g.n >= COPY_SHORT && g.stride == 1) {
        for (int64_t r = 0; r < g.rows; r++)
            memcpy(out + r * bytes, in + r * row, (size_t)bytes);
    } else if (g.n >= COPY_SHORT && g.stride == 0) {
        for (int64_t r = 0; r < g.rows; r++)
            hg_elem_fill(out + r * bytes, 0, in + r * row, g.n, (uint32_t)size * 8);
    } else {
        copy_steps(out, in, g, size);
    }
}

/* Whole rows are copied together. */
static int64_t copy_whole_rows(const hg_copy_plan *p, const int64_t *turn, int64_t left)
{
    const int last = p->loops - 1;
    assert(last >= 0);
    if (last == 0 || turn[last] != 0) return 1;
    return hg_max(1, hg_min(p->extent[last - 1] - turn[last - 1], left / p->extent[last]));
}

/* Elements [begin, end) of the output. */
static void copy_rows(const hg_args *a, const hg_copy_plan *p, int64_t begin, int64_t end)
{
    int64_t turn[HG_COPY_MAX_LOOPS] = {0}, from = p->offset, rest = begin;
    const int last = p->loops - 1;
    for (int i = last; i >= 0; i--) {
        turn[i] = rest % p->extent[i];
        rest /= p->extent[i];
        from += turn[i] * p->stride[i];
    }
    while (begin < end) {
        hg_copy_grid g = {.rows = copy_whole_rows(p, turn, end - begin),
                          .n = hg_min(p->extent[last] - turn[last], end - begin),
                          .row = last == 0 ? 0 : p->stride[last - 1],
                          .stride = p->stride[last]};
        copy_piece(a, begin, from, g);
        begin += g.rows * g.n;
        from += (g.rows - 1) * g.row + g.n * g.stride;
        if (g.rows > 1) turn[last - 1] += g.rows - 1;
        turn[last] += g.n;
        for (int i = last; i > 0 && turn[i] == p->extent[i]; i--) {
            from += p->stride[i - 1] - p->extent[i] * p->stride[i];
            turn[i] = 0;
            turn[i - 1]++;
        }
    }
}

/* ---- tiles
 * ------------------------------------------------------------------------------------------ */

/* One unit: at most tile_height turns of the loop with stride 1 by tile_width of the innermost. */
static hg_copy_part copy_tiles(const hg_args *a, const hg_copy_plan *p, hg_copy_tile *tile,
                               const void *look, int64_t unit)
{
    const int last = p->loops - 1, mid = p->tile_loop;
    const int64_t size = (int64_t)hg_dtype_bits(a->in[0].dtype) / 8;
    const int64_t col = unit % p->tile_cols * p->tile_width;
    int64_t rest = unit / p->tile_cols;
    const int64_t row = rest % p->tile_rows * p->tile_height;
    rest /= p->tile_rows;
    int64_t to = 0, from = p->offset, out_stride = 1;
    hg_copy_part part = {.rows = hg_min(p->tile_height, p->extent[mid] - row),
                         .n = hg_min(p->tile_width, p->extent[last] - col)};
    for (int i = last; i >= 0; i--) {
        int64_t turn = i == last ? col : i == mid ? row : rest % p->extent[i];
        if (i != last && i != mid) rest /= p->extent[i];
        if (i == mid) part.step = out_stride;
        to += turn * out_stride;
        from += turn * p->stride[i];
        out_stride *= p->extent[i];
    }
    part.at = to;
    hg_copy_grid g = {part.rows, 0, part.step, p->stride[last]};
    uint8_t *y = (uint8_t *)a->out[0].data + to * size;
    const uint8_t *x = (const uint8_t *)a->in[0].data + from * size;
    const bool is_pixels =
        size == 4 && part.n <= HG_COPY_PIXEL && part.step == part.n && part.rows > HG_COPY_SIDE;
    const bool is_large = part.rows >= COPY_FEW && part.n >= HG_COPY_SIDE;
    if (tile != NULL && (size == 1 || is_large || is_pixels)) {
        g.n = part.n;
        tile(y, x, g, look);
        return part;
    }
    for (int64_t r = 0; part.rows <= COPY_FEW && r < part.rows; r++) /* columns would be short */
        copy_steps(y + r * g.row * size, x + r * size, (hg_copy_grid){1, part.n, 0, g.stride},
                   size);
    for (int64_t c = 0; part.rows > COPY_FEW && c < part.n; c += COPY_TILE) {
        g.n = hg_min(COPY_TILE, part.n - c);
        copy_tile(y + c * size, x + c * g.stride * size, g, size);
    }
    return part;
}

hg_copy_part hg_copy_unit(const hg_args *a, const hg_copy_plan *p, hg_copy_tile *tile,
                          const void *look, int64_t unit)
{
    if (p->tile_loop >= 0) return copy_tiles(a, p, tile, look, unit);
    const int64_t begin = unit * COPY_BLOCK, end = hg_min(begin + COPY_BLOCK, p->count);
    copy_rows(a, p, begin, end);
    return (hg_copy_part){.at = begin, .rows = 1, .n = end - begin};
}

int64_t hg_copy_call_units(const hg_args *a)
{
    const hg_copy_plan p = hg_copy_plan_of(a);
    return hg_copy_units(&p);
}

/* Elements that do not lie side by side cost more than their bytes: about 0.1 ns each, with tuned
 * code too. */
void hg_copy_cost(const hg_args *a, hg_cost *cost)
{
    const double count = (double)holo_tensor_count(&a->out[0]);
    const bool is_even = a->n_param == 1 || a->param[a->n_param - 1] == 1;
    cost->flops = is_even ? 0 : 8 * count;
    cost->bytes = count * hg_dtype_bits(a->out[0].dtype) / 8;
}

void hg_copy_run(const hg_args *a, hg_range r, hg_copy_tile *tile)
{
    const hg_copy_plan p = hg_copy_plan_of(a);
    for (int64_t unit = r.begin; unit < r.end; unit++)
        hg_copy_unit(a, &p, tile, NULL, unit);
}

static void copy_run(const hg_args *a, hg_range r)
{
    hg_copy_run(a, r, NULL);
}

const hg_kernel hg_kernels_copy[] = {
    {.name = "copy.strided",
     .check = hg_copy_check,
     .units = hg_copy_call_units,
     .cost = hg_copy_cost,
     .run = copy_run},
    {0},
};
