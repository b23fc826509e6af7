/* lane.c - kernel "lane" on AVX2: the reference interpreter's loops, vectorised eight wide. The
 * bits are the same because the source is; only f16 has instructions of its own. A second variant
 * has faster functions, which round in another way. */
#include "backend/cpu/avx2/lane.h"

#include "kernel/lane.h"

#include "backend/cpu/avx2/lane_fast.h"
#include "backend/cpu/avx2/lane_pairs.h"
#include "backend/cpu/avx2/lane_wide.h"

#if defined(__F16C__) || defined(__aarch64__)
#define LANE_READ_F16(d, s, n)                                                                     \
    for (int64_t i = 0; i < (n); i += 8)                                                           \
    _mm256_storeu_ps((d) + i,                                                                      \
                     _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)((s) + i))))
#define LANE_WRITE_F16(d, s, n)                                                                    \
    for (int64_t i = 0; i < (n); i += 8)                                                           \
    _mm_storeu_si128((__m128i *)(void *)((d) + i), _mm256_cvtps_ph(_mm256_loadu_ps((s) + i), 0))
#endif

#define LANE_RUN hg_lane_run_avx2
#define LANE_PICKS 1
#define LANE_DOUBLES
#define LANE_READ hg_lane_read_avx2
#define LANE_WRITE hg_lane_write_avx2
#include "isa/lane_run.inc"

/* One loop for two operations, or one with a single value. */
static hg_lane_fn lane_pick_short(uint32_t op, uint32_t from)
{
    if (op >= HG_LANE_THEN) return hg_lane_pair_of(op % HG_LANE_THEN, op / HG_LANE_THEN, from);
    return hg_lane_one_of(op);
}

static bool lane_is_short(uint32_t op, uint32_t from)
{
    return op >= HG_LANE_THEN || (op != HG_LANE_CAST && from == HG_LANE_ONE);
}

static hg_lane_fn lane_pick_same(uint32_t op, uint32_t type, uint32_t from)
{
    if (lane_is_short(op, from)) return lane_pick_short(op, from);
    const hg_lane_fn fn = hg_lane_wide_of(op, type, from);
    return fn != NULL ? fn : lane_double_of(op, type, from);
}

/* Behind a product: few loops more than it links anyway. */
static hg_lane_fn lane_pick_behind(uint32_t op, uint32_t type, uint32_t from)
{
    if (lane_is_short(op, from)) return lane_pick_short(op, from);
    return from == 0 ? hg_lane_fast_common_of(op, type) : NULL;
}

void hg_lane_tile_fast_avx2(const hg_lane_code *code, const hg_lane_tile *tile)
{
    hg_lane_tile own = *tile;
    own.pick = lane_pick_behind;
    hg_lane_tile_avx2(code, &own);
}

static hg_lane_fn lane_pick_fast(uint32_t op, uint32_t type, uint32_t from)
{
    /* those of two operands take an array as the second one */
    const hg_lane_fn fn = from == 0 && op < HG_LANE_THEN ? hg_lane_fast_of(op, type) : NULL;
    return fn != NULL ? fn : lane_pick_same(op, type, from);
}

#if HG_HAS_AVX512
static hg_lane_fn lane_pick_wide(uint32_t op, uint32_t type, uint32_t from)
{
    const hg_lane_fn fn = from == 0 ? hg_lane_common_avx512(op, type) : NULL;
    return fn != NULL ? fn : lane_pick_fast(op, type, from);
}
#endif

static void lane_tile_with(const hg_lane_code *code, const hg_lane_tile *tile, hg_lane_pick pick)
{
    hg_lane_tile own = *tile;
    own.pick = pick;
#if defined(__AVX2__)
    if (hg_lane_floats_avx2(code, tile)) return;
#endif
    hg_lane_tile_avx2(code, &own);
}

static void lane_tile_same(const hg_lane_code *code, const hg_lane_tile *tile)
{
    lane_tile_with(code, tile, lane_pick_same);
}

static void lane_tile_fast(const hg_lane_code *code, const hg_lane_tile *tile)
{
    lane_tile_with(code, tile, lane_pick_fast);
}

#if HG_HAS_AVX512
static void lane_tile_wide(const hg_lane_code *code, const hg_lane_tile *tile)
{
    lane_tile_with(code, tile, lane_pick_wide);
}
#else
#define lane_tile_wide lane_tile_fast
#endif

static void lane_run_same(const hg_args *a, hg_range r)
{
    hg_kernel_lane_run(a, r, lane_tile_same);
}

static void lane_run_fast(const hg_args *a, hg_range r)
{
    hg_kernel_lane_run(a, r, hg_has_avx512(a) ? lane_tile_wide : lane_tile_fast);
}

const hg_kernel hg_kernels_lane_avx2[] = {
    {
        .name = "lane",
        .flags = HG_KERNEL_INPLACE,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_lane_check,
        .units = hg_kernel_lane_units,
        .scratch = hg_kernel_lane_scratch,
        .cost = hg_kernel_lane_cost,
        .run = lane_run_same,
    },
    {
        .name = "lane",
        .flags = HG_KERNEL_INPLACE | HG_KERNEL_FAST,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_lane_check,
        .units = hg_kernel_lane_units,
        .scratch = hg_kernel_lane_scratch,
        .cost = hg_kernel_lane_cost,
        .run = lane_run_fast,
    },
    {0},
};
