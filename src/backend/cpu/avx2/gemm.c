/* gemm.c - row tiles of gemm.h: the inner loops of all products.
 *
 * With sixteen registers of eight floats a tile is 6 rows x 16 columns. WebAssembly has eight
 * pairs: there each half of a panel goes by on its own, in tiles of 4 rows x 8, and streams are
 * narrower. Which tile computes an output does not change its bits. */
#include "backend/cpu/avx2/gemm.h"

#include "backend/cpu/avx2/part8.h"
#include "backend/cpu/avx2/turn.h"
#include "kernel/pack.h"

/* The optimiser of a browser does best with the plain loop: unrolled twice it is a third slower. */
#if defined(__wasm__)
#define GEMM_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define GEMM_ROLLED
#endif

enum { GEMM_HALF_ROWS = 8 }; /* more row pointers than that do not fit the integer registers */

/* ---- row tiles --------------------------------------------------------------------------- */

/* Eight weights of either type. */
HG_INLINE __m256 gemm_load(const char *b, const bool is_half)
{
    if (is_half) return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)b));
    return _mm256_loadu_ps((const float *)(const void *)b);
}

/* The clamp; operands in this order keep a NaN. */
HG_INLINE __m256 gemm_clamp(const hg_gemm_step *s, __m256 x)
{
    if (!s->clamps) return x;
    return _mm256_min_ps(_mm256_set1_ps(s->high), _mm256_max_ps(_mm256_set1_ps(s->low), x));
}

/* The residual and the clamp of a whole vector at element `at` of c. */
HG_INLINE __m256 gemm_end(const hg_gemm_step *s, int64_t at, __m256 x)
{
    for (int n = 0; n < s->adds; n++)
        x = _mm256_add_ps(x, _mm256_loadu_ps(s->residual.data[n] + at));
    return gemm_clamp(s, x);
}

/* Stores columns [col, col + 8) of one row of a tile; at the right edge only those that exist. */
HG_INLINE void gemm_store(const hg_gemm_step *s, int64_t row, int64_t col, __m256 x)
{
    const int64_t cols = s->cols - col, at = row * s->ld + col;
    if (cols <= 0) return;
    if (s->alpha != 1) x = _mm256_mul_ps(x, _mm256_set1_ps(s->alpha));
    if (HG_LIKELY(cols >= 8)) {
        _mm256_storeu_ps(s->c + at, gemm_end(s, at, x));
        return;
    }
    for (int n = 0; n < s->adds; n++)
        x = _mm256_add_ps(x, hg_part8_load(s->residual.data[n] + at, cols));
    hg_part8_store(s->c + at, cols, gemm_clamp(s, x));
}

/* A tile of `width` columns from `col` on that is not simply stored: one function for all tiles,
 * where the code of each would be twice as long. */
HG_ONCE void gemm_store_tile(const hg_gemm_step *s, int64_t first, int rows, int64_t col, int width,
                             const float *tile)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j += 8)
            gemm_store(s, first + i, col + j, _mm256_loadu_ps(tile + i * width + j));
}

#if HG_VEC8_REGISTERS >= 16
/* has_taps: there may be more than one. */
HG_INLINE void gemm_tile(const int rows, const bool is_half, const bool has_taps,
                         const hg_gemm_step *s, int64_t first)
{
    const char *next = s->next != NULL ? s->next + first * s->next_row : s->b;
    const int64_t next_step = s->next_step;
    __m256 sum[HG_GEMM_ROWS][2];
    if (s->sum == NULL || s->sum_ld == 0) { /* copies of registers are free, loads are not */
        const __m256 low = s->sum == NULL ? _mm256_setzero_ps() : _mm256_loadu_ps(s->sum);
        const __m256 high = s->sum == NULL ? _mm256_setzero_ps() : _mm256_loadu_ps(s->sum + 8);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            sum[i][0] = low;
            sum[i][1] = high;
        }
    } else {
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const float *from = s->sum + (first + i) * s->sum_ld;
            sum[i][0] = _mm256_loadu_ps(from);
            sum[i][1] = _mm256_loadu_ps(from + 8);
        }
    }
    const float *const *row = s->row + first;
    const char *b = s->b;
    const int64_t step = s->b_step;
    for (int64_t t = 0; t < (has_taps ? s->taps : 1); t++, row += s->row_step) {
        const float *a[HG_GEMM_ROWS];
        if (has_taps && hg_gemm_is_zero(rows, s->zero, row)) {
            b += step * s->depth;
            continue;
        }
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            a[i] = row[i] + s->offset;
        for (int64_t k = 0; k < s->depth; k++) {
            const __m256 low = gemm_load(b, is_half),
                         high = gemm_load(b + (is_half ? 16 : 32), is_half);
            b += step;
            _mm_prefetch(next, _MM_HINT_T1);
            next += next_step;
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++) {
                const __m256 x = _mm256_broadcast_ss(a[i] + k);
                sum[i][0] = _mm256_fmadd_ps(x, low, sum[i][0]);
                sum[i][1] = _mm256_fmadd_ps(x, high, sum[i][1]);
            }
        }
    }
    if (HG_LIKELY(s->alpha == 1 && s->cols == HG_GEMM_COLS)) {
        for (int n = 0; n < s->adds; n++) {
            const float *residual = s->residual.data[n] + first * s->ld;
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++) {
                sum[i][0] = _mm256_add_ps(sum[i][0], _mm256_loadu_ps(residual + i * s->ld));
                sum[i][1] = _mm256_add_ps(sum[i][1], _mm256_loadu_ps(residual + i * s->ld + 8));
            }
        }
        if (s->clamps) {
            /* operands in this order keep a NaN */
            const __m256 low = _mm256_set1_ps(s->low), high = _mm256_set1_ps(s->high);
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++) {
                sum[i][0] = _mm256_min_ps(high, _mm256_max_ps(low, sum[i][0]));
                sum[i][1] = _mm256_min_ps(high, _mm256_max_ps(low, sum[i][1]));
            }
        }
        float *c = s->c + first * s->ld;
        const int64_t ld = s->ld; /* a store may alias anything: not read again */
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            _mm256_storeu_ps(c + i * ld, sum[i][0]);
            _mm256_storeu_ps(c + i * ld + 8, sum[i][1]);
        }
        return;
    }
    float tile[HG_GEMM_ROWS * HG_GEMM_COLS];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        _mm256_storeu_ps(tile + i * HG_GEMM_COLS, sum[i][0]);
        _mm256_storeu_ps(tile + i * HG_GEMM_COLS + 8, sum[i][1]);
    }
    gemm_store_tile(s, first, rows, 0, HG_GEMM_COLS, tile);
}
#endif

/* Columns [col, col + 8) and more rows: a narrow panel takes little more than half the time of a
 * whole one. Of `rows` the first `count` exist; the last of them stands in for the others, which
 * cost nothing: fewer sums would wait for each other. */
HG_INLINE void gemm_half_tile(const int rows, const int64_t count, const bool is_half,
                              const hg_gemm_step *s, int64_t first, int64_t col)
{
    __m256 sum[GEMM_HALF_ROWS];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i] = s->sum == NULL
                     ? _mm256_setzero_ps()
                     : _mm256_loadu_ps(s->sum + (first + hg_min(i, count - 1)) * s->sum_ld + col);
    const float *const *row = s->row + first;
    const char *b = (const char *)s->b + col * (is_half ? 2 : 4);
    const ptrdiff_t step = (ptrdiff_t)s->b_step, depth = (ptrdiff_t)s->depth;
    for (int64_t t = 0; t < s->taps; t++, row += s->row_step) {
        const float *a[GEMM_HALF_ROWS];
        if (hg_gemm_is_zero(count, s->zero, row)) {
            b += step * depth;
            continue;
        }
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            a[i] = row[hg_min(i, count - 1)] + s->offset;
        GEMM_ROLLED
        for (ptrdiff_t k = 0; k < depth; k++) {
            const __m256 w = gemm_load(b, is_half);
            b += step;
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++)
                sum[i] = _mm256_fmadd_ps(_mm256_broadcast_ss(a[i] + k), w, sum[i]);
        }
    }
    if (HG_LIKELY(count == rows && s->alpha == 1 && s->cols >= col + 8)) {
        const int64_t at = first * s->ld + col, ld = s->ld;
        float *c = s->c + at;
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            _mm256_storeu_ps(c + i * ld, gemm_end(s, at + i * ld, sum[i]));
        return;
    }
    float tile[GEMM_HALF_ROWS * 8];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        _mm256_storeu_ps(tile + i * 8, sum[i]);
    gemm_store_tile(s, first, (int)count, col, 8, tile);
}

/* Lines the next tile starts with. Rows of C lie far apart and stores commit in order; rows of A
 * are many short streams the hardware notices late. */
HG_ONCE void gemm_prefetch(const hg_gemm_step *s, int64_t first, int64_t rows)
{
    for (int64_t i = first; i < hg_min(first + HG_GEMM_ROWS, rows); i++) {
        if (s->fetch_c) {
            _mm_prefetch((const char *)(s->c + i * s->ld), _MM_HINT_T0);
            _mm_prefetch((const char *)(s->c + i * s->ld + HG_GEMM_COLS - 1), _MM_HINT_T0);
        }
        const hg_epilogue_at residual = hg_gemm_residuals(s, i);
        for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++) {
            if (residual.data[n] == NULL) continue;
            _mm_prefetch((const char *)residual.data[n], _MM_HINT_T0);
            _mm_prefetch((const char *)(residual.data[n] + HG_GEMM_COLS - 1), _MM_HINT_T0);
        }
        if (s->fetch_a)
            for (int64_t line = 0; line < 4; line++)
                _mm_prefetch((const char *)(s->row[i] + s->offset) + line * 64, _MM_HINT_T0);
    }
}

/* The weights are halves. */
HG_INLINE bool gemm_has_halves(const hg_gemm_step *s)
{
    return HG_IS_LINKED(HOLO_F16) && s->is_half;
}

/* `rows` from `first` on; most tiles have one height only. */
typedef void (*gemm_tile_fn)(const hg_gemm_step *s, int64_t first, int64_t rows);

/* One function for both types of weights: what asks for the type is not in the way of what these
 * few tiles compute. */
#define GEMM_TILE(height)                                                                          \
    static void gemm_##height##x16(const hg_gemm_step *s, int64_t first, int64_t rows)             \
    {                                                                                              \
        (void)rows;                                                                                \
        gemm_tile(height, gemm_has_halves(s), true, s, first);                                     \
    }

#if HG_VEC8_REGISTERS >= 16

/* Eight columns are all there are; where sixteen are stored the others are zeros. */
HG_INLINE void gemm_narrow_tile(const int rows, const int64_t count, const bool is_half,
                                const hg_gemm_step *s, int64_t first)
{
    gemm_half_tile(rows, count, is_half, s, first, 0);
    for (int64_t i = 0; i < count && s->cols == HG_GEMM_COLS; i++)
        _mm256_storeu_ps(s->c + (first + i) * s->ld + 8, _mm256_setzero_ps());
}

#define GEMM_NARROW(name, height)                                                                  \
    static void gemm_##name(const hg_gemm_step *s, int64_t first, int64_t rows)                    \
    {                                                                                              \
        gemm_narrow_tile(height, rows, gemm_has_halves(s), s, first);                              \
    }
GEMM_NARROW(upto_4x8, 4)
GEMM_NARROW(upto_8x8, 8)
#undef GEMM_NARROW

static gemm_tile_fn gemm_find_narrow(int64_t left, int64_t *height)
{
    static const gemm_tile_fn narrow[] = {gemm_upto_4x8, gemm_upto_8x8};
    *height = hg_min(left, GEMM_HALF_ROWS);
    return narrow[left > 4];
}

#else

/* One half after the other; where there is one only, the other is zeros. Of `rows` `count` exist.
 */
HG_INLINE void gemm_halves_tile(const int rows, const int64_t count, const bool is_half,
                                const hg_gemm_step *s, int64_t first)
{
    gemm_half_tile(rows, count, is_half, s, first, 0);
    if (!s->narrow) {
        gemm_half_tile(rows, count, is_half, s, first, 8);
        return;
    }
    for (int64_t i = 0; i < count && s->cols == HG_GEMM_COLS; i++)
        _mm256_storeu_ps(s->c + (first + i) * s->ld + 8, _mm256_setzero_ps());
}

HG_INLINE void gemm_tile(const int rows, const bool is_half, const bool has_taps,
                         const hg_gemm_step *s, int64_t first)
{
    (void)has_taps;
    gemm_halves_tile(rows, rows, is_half, s, first);
}

/* Two or three rows: one function, since a page downloads it. */
static void gemm_upto_3x16(const hg_gemm_step *s, int64_t first, int64_t rows)
{
    gemm_halves_tile(3, rows, gemm_has_halves(s), s, first);
}

#endif

GEMM_TILE(1)
#if HG_VEC8_REGISTERS >= 16
GEMM_TILE(2)
GEMM_TILE(3)
GEMM_TILE(4)
GEMM_TILE(5)
#endif
#undef GEMM_TILE

/* For what tiles of the full height leave. */
static gemm_tile_fn gemm_find_tile(const hg_gemm_step *s, int64_t left, int64_t *height)
{
#if HG_VEC8_REGISTERS >= 16
    static const gemm_tile_fn low[] = {gemm_1x16, gemm_2x16, gemm_3x16, gemm_4x16, gemm_5x16};
    if (s->narrow) return gemm_find_narrow(left, height);
#else
    static const gemm_tile_fn low[] = {gemm_1x16, gemm_upto_3x16, gemm_upto_3x16};
    (void)s; /* such tiles take narrow steps too */
#endif
    *height = hg_gemm_tile_rows(left);
    return low[*height - 1];
}

/* ---- simple epilogues -------------------------------------------------------------------- */

void hg_gemm_begin_avx2(hg_gemm_step *s, const hg_epilogue_simple *e, int64_t col, int64_t cols,
                        float *edge)
{
    s->sum = NULL;
    s->sum_ld = 0;
    if (e == NULL || e->bias == NULL) return;
    s->sum = e->bias + col;
    const int64_t width = hg_max(1, s->panels) * HG_GEMM_COLS;
    if (cols >= width && e->bias2 == NULL) return;
    for (int64_t j = 0; j < width; j++) {
        edge[j] = j < cols ? e->bias[col + j] : 0;
        if (j < cols && e->bias2 != NULL) edge[j] += e->bias2[col + j];
    }
    s->sum = edge;
}

void hg_gemm_end_avx2(hg_gemm_step *s, const hg_epilogue_simple *e, const float *out)
{
    if (e == NULL) return;
    s->residual = hg_epilogue_residuals_at(e, s->c - out, s->ld);
    s->adds = 0;
    bool is_done = !e->is_scaled && e->is_final &&
                   (e->act == HG_EPILOGUE_LINEAR || e->act == HG_EPILOGUE_CLAMP);
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++) {
        const hg_epilogue_residual *r = &e->residual[n];
        s->residual_row[n] = r->per_row ? 1 : s->ld;
        if (r->data == NULL) continue;
        is_done = is_done && s->adds == n && r->when == HG_EPILOGUE_SUMMED && !r->per_row;
        s->adds++;
    }
    if (!is_done) s->adds = 0;
    s->clamps = is_done && e->act == HG_EPILOGUE_CLAMP;
    s->low = e->low;
    s->high = e->high;
    s->finish = is_done ? NULL : e;
    s->col = hg_epilogue_has_columns(e) ? (s->c - out) % s->ld : 0; /* rows are whole */
}

void hg_gemm_finish_all_avx2(const hg_epilogue_simple *e, const float *out, float *c, int64_t ld,
                             int64_t rows, int64_t col, int64_t cols)
{
    if (e == NULL) return;
    hg_gemm_finish_avx2(e, e->bias == NULL ? NULL : e->bias + col,
                        e->bias2 == NULL ? NULL : e->bias2 + col,
                        hg_epilogue_residuals_at(e, c - out, ld), c, ld, rows, col, cols);
}

static const float *gemm_columns(const float *from, const hg_gemm_step *step, float *to)
{
    return from == NULL ? NULL : memcpy(to, from + step->col, (size_t)step->cols * sizeof(float));
}

/* What is left to do to `rows` rows from `first` on, while they are in L1. They are whole vectors
 * then. */
HG_INLINE void gemm_finish_tile(const hg_gemm_step *s, int64_t first, int64_t rows)
{
    if (s->finish == NULL) return;
    hg_gemm_finish_avx2(s->finish, NULL, NULL, hg_gemm_residuals(s, first), s->c + first * s->ld,
                        s->ld, rows, s->col, s->cols);
}

/* As many tiles of the full height as there are; returns the rows. The step is copied: a vector
 * store may alias anything, and the compiler would read it again behind each. */
HG_INLINE int64_t gemm_whole_tiles(const bool is_half, const bool has_taps,
                                   const hg_gemm_step *step, int64_t rows)
{
    const hg_gemm_step s = *step;
    const bool fetches = s.fetch_c || s.fetch_a || hg_gemm_has_residual(&s);
    int64_t first = 0;
    for (; hg_gemm_tile_rows(rows - first) == HG_GEMM_ROWS; first += HG_GEMM_ROWS) {
        if (fetches) gemm_prefetch(&s, first + HG_GEMM_ROWS, rows);
        gemm_tile(HG_GEMM_ROWS, is_half, has_taps, &s, first);
        gemm_finish_tile(&s, first, HG_GEMM_ROWS);
    }
    return first;
}

static int64_t gemm_f32_whole(const hg_gemm_step *s, int64_t rows)
{
    return gemm_whole_tiles(false, true, s, rows);
}

static int64_t gemm_f32_one_tap(const hg_gemm_step *s, int64_t rows)
{
    return gemm_whole_tiles(false, false, s, rows);
}

static int64_t gemm_f16_whole(const hg_gemm_step *s, int64_t rows)
{
    return HG_IS_LINKED(HOLO_F16) ? gemm_whole_tiles(true, true, s, rows) : 0;
}

static int64_t gemm_whole(const hg_gemm_step *s, int64_t rows)
{
    if (s->narrow && HG_VEC8_REGISTERS >= 16) return 0; /* gemm_find_narrow */
    if (s->is_half) return gemm_f16_whole(s, rows);
    const bool is_one = s->taps == 1 && HG_VEC8_REGISTERS >= 16; /* others loop over taps anyway */
    return is_one ? gemm_f32_one_tap(s, rows) : gemm_f32_whole(s, rows);
}

static void gemm_tiles(const hg_gemm_step *step, int64_t rows)
{
    const bool fetches = step->fetch_c || step->fetch_a || hg_gemm_has_residual(step);
    for (int64_t first = gemm_whole(step, rows); first < rows;) {
        int64_t height;
        const gemm_tile_fn tile = gemm_find_tile(step, rows - first, &height);
        if (fetches) gemm_prefetch(step, first + height, rows);
        tile(step, first, height);
        gemm_finish_tile(step, first, height);
        first += height;
    }
}

enum { GEMM_PART_ROWS = 24 }; /* whole tiles of any height */

/* Rows that end inside a vector, from `first` on, and what is left to do to them: all of that on
 * whole vectors that lie elsewhere. */
static void gemm_finish_part(const hg_gemm_step *step, int64_t first, int64_t rows)
{
    float part[GEMM_PART_ROWS * HG_GEMM_COLS];
    float added[HG_EPILOGUE_RESIDUALS][GEMM_PART_ROWS * HG_GEMM_COLS];
    hg_epilogue_at residual = hg_gemm_residuals(step, first);
    hg_gemm_step inner = *step, outer = *step;
    inner.row += first;
    if (inner.sum != NULL) inner.sum += first * inner.sum_ld;
    if (inner.next != NULL) inner.next += first * inner.next_row;
    inner.c = part;
    inner.ld = inner.cols = HG_GEMM_COLS;
    inner.finish = NULL;
    inner.residual = (hg_epilogue_at){{NULL}};
    inner.fetch_c = false;
    gemm_tiles(&inner, rows);
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++) {
        if (residual.data[n] == NULL || step->finish->residual[n].per_row) continue;
        memset(added[n], 0, sizeof added[n]);
        for (int64_t i = 0; i < rows; i++)
            memcpy(added[n] + i * HG_GEMM_COLS, residual.data[n] + i * step->residual_row[n],
                   (size_t)step->cols * sizeof(float));
        residual.data[n] = added[n];
    }
    /* whole vectors can be read of what differs by columns */
    float columns[3][HG_GEMM_COLS] = {{0}};
    hg_epilogue_simple finish = *step->finish;
    finish.gain = gemm_columns(finish.gain, step, columns[0]);
    finish.lift = gemm_columns(finish.lift, step, columns[1]);
    finish.slope = gemm_columns(finish.slope, step, columns[2]);
    hg_gemm_finish_avx2(&finish, NULL, NULL, residual, part, HG_GEMM_COLS, rows, 0,
                        step->cols / 8 * 8 + 8);
    outer.alpha = 1;
    gemm_store_tile(&outer, first, (int)rows, 0, HG_GEMM_COLS, part);
}

static void gemm_panel(const hg_gemm_step *step, int64_t rows)
{
    if (step->finish == NULL || step->cols % 8 == 0) {
        gemm_tiles(step, rows);
        return;
    }
    for (int64_t first = 0; first < rows; first += GEMM_PART_ROWS)
        gemm_finish_part(step, first, hg_min(GEMM_PART_ROWS, rows - first));
}

#if HG_VEC8_REGISTERS >= 16

void hg_gemm_panel_avx2(const hg_gemm_step *step, int64_t rows)
{
    gemm_panel(step, rows);
}

#else

/* Without an instruction that widens f16, weights that several tiles read are widened once. */
static void gemm_widened_panel(hg_gemm_step step, int64_t rows)
{
    float wide[HG_GEMM_DEPTH * HG_GEMM_COLS];
    const char *b = step.b;
    const ptrdiff_t depth = (ptrdiff_t)(step.taps * step.depth), from = (ptrdiff_t)step.b_step;
    for (ptrdiff_t k = 0; k < depth; k++, b += from) {
        _mm256_storeu_ps(wide + k * HG_GEMM_COLS, gemm_load(b, true));
        _mm256_storeu_ps(wide + k * HG_GEMM_COLS + 8, gemm_load(b + 16, true));
    }
    step.b = wide;
    step.b_step = HG_GEMM_COLS * sizeof(float);
    step.is_half = false;
    gemm_panel(&step, rows);
}

void hg_gemm_panel_avx2(const hg_gemm_step *step, int64_t rows)
{
    if (step->is_half && rows > HG_GEMM_ROWS && step->taps * step->depth <= HG_GEMM_DEPTH)
        gemm_widened_panel(*step, rows);
    else
        gemm_panel(step, rows);
}

#endif

/* ---- streaming: few rows, many panels ------------------------------------------------------ */

/* Two rows: gcc loads weights for each of them otherwise, 63 instead of 98 GFLOP/s out of L2. */
#if defined(__x86_64__)
#define GEMM_NOW(v) __asm__("" : "+x"(v))
#else
#define GEMM_NOW(v) (void)0
#endif

/* rows x panels * 2 accumulators; every weight is loaded once. */
HG_INLINE void gemm_stream_tile(const int rows, const int panels, const bool is_half,
                                const hg_gemm_stream *s)
{
    const int64_t step = s->b_step, panel = s->b_panel;
    __m256 sum[4][12];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int j = 0; j < 2 * panels; j++)
            sum[i][j] = _mm256_setzero_ps();
    }
    const char *b = s->b;
    for (int64_t k = 0; k < s->k; k++) {
        __m256 x[4];
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            x[i] = _mm256_broadcast_ss(s->a + i * s->k + k);
        HG_GEMM_UNROLL
        for (int j = 0; j < 2 * panels; j++) {
            __m256 w = gemm_load(b + j / 2 * panel + (j % 2 == 0 ? 0 : is_half ? 16 : 32), is_half);
            if (rows > 1) GEMM_NOW(w);
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++)
                sum[i][j] = _mm256_fmadd_ps(x[i], w, sum[i][j]);
        }
        b += step;
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int j = 0; j < 2 * panels; j++)
            _mm256_storeu_ps(s->c + i * s->ld + (int64_t)8 * j,
                             _mm256_mul_ps(sum[i][j], _mm256_set1_ps(s->alpha)));
    }
}

#if HG_VEC8_REGISTERS >= 16
/* Four rows x three half panels from `half` on: the eight sums of one panel would only just
 * keep the multiply-adds busy, and two panels do not fit. */
HG_INLINE void gemm_stream_halves(const int half, const hg_gemm_stream *s)
{
    const int64_t step = s->b_step / (int64_t)sizeof(float);
    const int64_t panel = s->b_panel / (int64_t)sizeof(float);
    __m256 sum[4][3];
    HG_GEMM_UNROLL
    for (int i = 0; i < 12; i++)
        sum[i / 3][i % 3] = _mm256_setzero_ps();
    const float *b[3];
    HG_GEMM_UNROLL
    for (int j = 0; j < 3; j++)
        b[j] = (const float *)(const void *)s->b + (half + j) / 2 * panel + (half + j) % 2 * 8;
    const float *a[4] = {s->a, s->a + s->k, s->a + 2 * s->k, s->a + 3 * s->k};
    for (int64_t k = 0, at = 0; k < s->k; k++, at += step) {
        const __m256 w[3] = {_mm256_loadu_ps(b[0] + at), _mm256_loadu_ps(b[1] + at),
                             _mm256_loadu_ps(b[2] + at)};
        HG_GEMM_UNROLL
        for (int i = 0; i < 4; i++) {
            const __m256 x = _mm256_broadcast_ss(a[i] + k);
            HG_GEMM_UNROLL
            for (int j = 0; j < 3; j++)
                sum[i][j] = _mm256_fmadd_ps(x, w[j], sum[i][j]);
        }
    }
    const __m256 alpha = _mm256_set1_ps(s->alpha);
    HG_GEMM_UNROLL
    for (int i = 0; i < 12; i++)
        _mm256_storeu_ps(s->c + i / 3 * s->ld + (half + i % 3) * 8,
                         _mm256_mul_ps(sum[i / 3][i % 3], alpha));
}

static void gemm_f32_4x3p(const hg_gemm_stream *s)
{
    gemm_stream_halves(0, s);
    gemm_stream_halves(3, s);
}
#endif

#define GEMM_STREAM(rows, panels, type, is_half)                                                   \
    static void gemm_##type##_##rows##x##panels##p(const hg_gemm_stream *s)                        \
    {                                                                                              \
        if (!(is_half) || HG_IS_LINKED(HOLO_F16)) gemm_stream_tile(rows, panels, is_half, s);      \
    }
#define GEMM_STREAMS(rows, panels)                                                                 \
    GEMM_STREAM(rows, panels, f32, false)                                                          \
    GEMM_STREAM(rows, panels, f16, true)
#if HG_VEC8_REGISTERS >= 16
GEMM_STREAMS(1, 6)
GEMM_STREAMS(1, 4)
GEMM_STREAMS(2, 3)
GEMM_STREAMS(3, 2)
GEMM_STREAM(4, 1, f32, false)
#else
GEMM_STREAMS(1, 3)
#endif
GEMM_STREAMS(1, 1)
GEMM_STREAMS(2, 1)
GEMM_STREAMS(3, 1)
#undef GEMM_STREAMS
#undef GEMM_STREAM

typedef void (*gemm_stream_fn)(const hg_gemm_stream *s);

/* Tiles of many panels, of some and of one. */
typedef struct gemm_stream_kind {
    int64_t panels, fewer;
    gemm_stream_fn many, some, one;
} gemm_stream_kind;

/* How many panels the next tile has: eight are twice four rather than six and two. */
static int64_t gemm_stream_width(const gemm_stream_kind *kind, int64_t panels)
{
    if (panels >= kind->panels && panels != 2 * kind->fewer) return kind->panels;
    return panels >= kind->fewer ? kind->fewer : 1;
}

void hg_gemm_stream_avx2(hg_gemm_stream s, int64_t rows, int64_t panels)
{
#if HG_HAS_AVX512
    if (s.is_wide && !s.is_half && panels >= HG_GEMM_STREAM_WIDE) {
        hg_gemm_stream_avx512(&s, rows, panels, false);
        return;
    }
#endif
#if HG_VEC8_REGISTERS >= 16
    static const gemm_stream_kind kinds[2][HG_GEMM_STREAM_NEAR] = {
        {{6, 4, gemm_f32_1x6p, gemm_f32_1x4p, gemm_f32_1x1p},
         {3, 3, gemm_f32_2x3p, gemm_f32_2x3p, gemm_f32_2x1p},
         {2, 2, gemm_f32_3x2p, gemm_f32_3x2p, gemm_f32_3x1p},
         {3, 3, gemm_f32_4x3p, gemm_f32_4x3p, gemm_f32_4x1p}},
        {{6, 4, gemm_f16_1x6p, gemm_f16_1x4p, gemm_f16_1x1p},
         {3, 3, gemm_f16_2x3p, gemm_f16_2x3p, gemm_f16_2x1p},
         {2, 2, gemm_f16_3x2p, gemm_f16_3x2p, gemm_f16_3x1p}},
    };
#else
    static const gemm_stream_kind kinds[2][HG_GEMM_STREAM_NEAR] = {
        {{3, 3, gemm_f32_1x3p, gemm_f32_1x3p, gemm_f32_1x1p},
         {1, 1, gemm_f32_2x1p, gemm_f32_2x1p, gemm_f32_2x1p},
         {1, 1, gemm_f32_3x1p, gemm_f32_3x1p, gemm_f32_3x1p}},
        {{3, 3, gemm_f16_1x3p, gemm_f16_1x3p, gemm_f16_1x1p},
         {1, 1, gemm_f16_2x1p, gemm_f16_2x1p, gemm_f16_2x1p},
         {1, 1, gemm_f16_3x1p, gemm_f16_3x1p, gemm_f16_3x1p}},
    };
#endif
    const gemm_stream_kind *kind = &kinds[s.is_half][rows - 1];
    const int64_t fewer = kind->fewer;
    const bool is_wide = panels >= fewer;
    while (panels > 0) {
        /* Two accumulators wait for each other: a rest of several panels is computed together
         * with the panels in front of it, once more. */
        if (is_wide && panels > 1 && panels < fewer) {
            s.b -= (fewer - panels) * s.b_panel;
            s.c -= (fewer - panels) * HG_GEMM_COLS;
            panels = fewer;
        }
        const int64_t done = gemm_stream_width(kind, panels);
        (done == 1 ? kind->one : done == fewer ? kind->some : kind->many)(&s);
        s.b += done * s.b_panel;
        s.c += done * HG_GEMM_COLS;
        panels -= done;
    }
}

/* ---- transposing --------------------------------------------------------------------------- */

void hg_gemm_turn_avx2(const float *src, int64_t src_ld, int64_t rows, int64_t cols, float *dst,
                       int64_t dst_ld)
{
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8)
            turn_8x8(src + i * src_ld + j, src_ld, dst + j * dst_ld + i, dst_ld);
        for (; j < cols; j++)
            for (int64_t r = i; r < i + 8; r++)
                dst[j * dst_ld + r] = src[r * src_ld + j];
    }
    for (; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            dst[j * dst_ld + i] = src[i * src_ld + j];
}
