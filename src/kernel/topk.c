/* topk.c - topk: the k largest or smallest elements along an axis, best first, and where they were.
 *
 *   in[0]  X, any number type
 *   param  axis, largest (0 or 1)
 *   out[0] values, X's type, k elements along the axis; may be absent
 *   out[1] indices, int64, the same shape; may be absent, but not both
 *
 * Of equal elements the one with the lower index is better; NaN is larger than every number; -0 and
 * 0 are equal. A heap of k, or sorting: n log k steps a row. A unit is one row. */
#include "kernel/elem.h"
#include "kernel/number.h"

typedef struct topk_entry {
    uint64_t key; /* larger is better */
    int64_t index;
} topk_entry;

static bool topk_has_out(const hg_args *a, uint32_t j)
{
    return j < a->n_out && a->out[j].dtype != HOLO_NONE;
}

static const holo_tensor *topk_out(const hg_args *a)
{
    return &a->out[topk_has_out(a, 0) ? 0 : 1];
}

static holo_status topk_check(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->n_in == 1, HOLO_E_FORMAT, "%u inputs, expected 1", a->n_in);
    HG_REQUIRE(e, a->n_out <= 2 && (topk_has_out(a, 0) || topk_has_out(a, 1)), HOLO_E_FORMAT,
               "%u outputs, expected 1 or 2", a->n_out);
    HG_REQUIRE(e, a->n_param == 2, HOLO_E_FORMAT, "%u parameters, expected 2", a->n_param);
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_NUMBER));
    const holo_tensor *x = &a->in[0];
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, x->rank - 1));
    HG_TRY(hg_check_param(a, e, 1, "largest", 0, 1));
    for (uint32_t j = 0; j < 2; j++) {
        if (!topk_has_out(a, j)) continue;
        const holo_tensor *y = &a->out[j];
        HG_TRY(hg_check_out_type(a, e, j, j == 0 ? HG_TYPES_NUMBER : HG_TYPE_BIT(HOLO_I64)));
        HG_REQUIRE(e, j == 1 || y->dtype == x->dtype, HOLO_E_TYPE,
                   "values have type %s, expected %s", holo_dtype_text(y->dtype),
                   holo_dtype_text(x->dtype));
        HG_TRY(hg_check_rank(y, e, "output", x->rank, x->rank));
        for (int d = 0; d < x->rank; d++)
            HG_REQUIRE(e, d == a->param[0] ? y->dim[d] <= x->dim[d] : y->dim[d] == x->dim[d],
                       HOLO_E_SHAPE, "dimension %d of output %u is %lld, expected %s%lld", d, j,
                       (long long)y->dim[d], d == a->param[0] ? "at most " : "",
                       (long long)x->dim[d]);
    }
    if (topk_has_out(a, 0) && topk_has_out(a, 1))
        HG_TRY(hg_check_same_shape(&a->out[1], &a->out[0], e, "indices"));
    return HOLO_OK;
}

static int64_t topk_units(const hg_args *a)
{
    const holo_tensor *y = topk_out(a);
    return holo_tensor_count(y) == 0 ? 0 : holo_tensor_count(y) / y->dim[a->param[0]];
}

enum { TOPK_ASK = 1 << 16 }; /* elements between two looks at the clock */

/* Most of the elements are wanted: sorting them all is faster than a heap of them. */
static bool topk_sorts(int64_t n, int64_t k)
{
    return k > n / 4;
}

static size_t topk_scratch(const hg_args *a)
{
    const int64_t k = topk_out(a)->dim[a->param[0]], n = a->in[0].dim[a->param[0]];
    if (topk_units(a) == 0) return 0;
    return (size_t)(topk_sorts(n, k) ? 2 * n : k) * sizeof(topk_entry);
}

/* A number whose order as unsigned is that of the elements. */
static uint64_t topk_key(const holo_tensor *x, int64_t i)
{
    const uint64_t sign = UINT64_C(1) << 63;
    if (hg_dtype_is_float(x->dtype)) {
        const double v = hg_number_load(x, i);
        if (v != v) return UINT64_MAX;
        const uint64_t bits = hg_bits_f64(v == 0.0 ? 0.0 : v);
        return (bits & sign) != 0 ? ~bits : bits | sign;
    }
    if (x->dtype == HOLO_U64) return ((const uint64_t *)x->data)[i];
    if (x->dtype == HOLO_I64) return (uint64_t)((const int64_t *)x->data)[i] ^ sign;
    return (uint64_t)(int64_t)hg_number_load(x, i) ^ sign;
}

static bool topk_worse(topk_entry a, topk_entry b)
{
    return a.key < b.key || (a.key == b.key && a.index > b.index);
}

/* Restores a heap whose root, the worst, may be too good; `count` entries from `at` down. */
static void topk_sift(topk_entry *heap, int64_t count, int64_t at)
{
    const topk_entry entry = heap[at];
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && topk_worse(heap[child + 1], heap[child])) child++;
        if (!topk_worse(heap[child], entry)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

/* Sorts n entries, best first, by merging runs of 1, 2, 4 ...; returns where they are: at x or y.
 */
static topk_entry *topk_sort(const hg_args *a, topk_entry *x, topk_entry *y, int64_t n)
{
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t first = 0; first < n; first += 2 * run) {
            int64_t i = first, middle = hg_min(first + run, n), j = middle;
            const int64_t end = hg_min(first + 2 * run, n);
            for (int64_t to = first; to < end; to++) {
                if (to % TOPK_ASK == TOPK_ASK - 1 && hg_args_stopped(a)) return x;
                const bool left = i < middle && (j == end || !topk_worse(x[i], x[j]));
                y[to] = left ? x[i++] : x[j++];
            }
        }
        topk_entry *t = x;
        x = y;
        y = t;
    }
    return x;
}

/* The k best of n entries through a heap of k, best first. */
static void topk_heap(const topk_entry *next, topk_entry *heap, int64_t i, int64_t k)
{
    if (i < k) {
        heap[i] = *next;
        for (int64_t j = k / 2 - 1; i == k - 1 && j >= 0; j--)
            topk_sift(heap, k, j);
    } else if (topk_worse(heap[0], *next)) {
        heap[0] = *next;
        topk_sift(heap, k, 0);
    }
}

enum { TOPK_SKIP = 16 };

/* Number of the first of x[i, n) that may be better than `worst`: most are not, which is seen
 * without keys. Comparisons are such that NaN may be. */
HG_INLINE int64_t topk_skip_to(const float *x, int64_t i, int64_t n, float worst,
                               const bool largest)
{
    for (; i + TOPK_SKIP <= n; i += TOPK_SKIP) {
        int32_t worse = 0;
        for (int64_t j = 0; j < TOPK_SKIP; j++)
            worse += largest ? x[i + j] <= worst : x[i + j] >= worst;
        if (worse != TOPK_SKIP) break;
    }
    while (i < n && (largest ? x[i] <= worst : x[i] >= worst))
        i++;
    return i;
}

static int64_t topk_skip(const float *x, int64_t i, int64_t n, float worst, bool largest)
{
    if (largest) return topk_skip_to(x, i, n, worst, true);
    return topk_skip_to(x, i, n, worst, false);
}

/* The k best of n elements, best first; somewhere in `work`. */
static const topk_entry *topk_row(const hg_args *a, int64_t first, int64_t stride, int64_t n,
                                  int64_t k, topk_entry *work)
{
    const holo_tensor *x = &a->in[0];
    const bool largest = a->param[1] != 0;
    const bool sorts = topk_sorts(n, k);
    const float *near = NULL; /* floats that lie side by side */
    if (x->dtype == HOLO_F32 && stride == 1) near = (const float *)x->data + first;
    if (k == 0) return work;
    for (int64_t i = 0; i < n; i++) {
        if (near != NULL && !sorts && i >= k) {
            i = topk_skip(near, i, n, near[work[0].index], largest);
            if (i == n) break;
        }
        const uint64_t key = topk_key(x, first + i * stride);
        const topk_entry entry = {largest ? key : ~key, i};
        if (sorts)
            work[i] = entry;
        else
            topk_heap(&entry, work, i, k);
    }
    if (sorts) return topk_sort(a, work, work + n, n);
    for (int64_t count = k; count > 1; count--) {
        const topk_entry worst = work[0];
        work[0] = work[count - 1];
        work[count - 1] = worst;
        topk_sift(work, count - 1, 0);
    }
    return work;
}

static void topk_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0];
    const int axis = (int)a->param[0];
    const int64_t inner = hg_dims_product(x, axis + 1, x->rank), n = x->dim[axis];
    const int64_t k = topk_out(a)->dim[axis];
    const uint32_t bits = hg_dtype_bits(x->dtype);
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t from = u / inner * n * inner + u % inner,
                      to = u / inner * k * inner + u % inner;
        const topk_entry *best = topk_row(a, from, inner, n, k, r.scratch);
        for (int64_t i = 0; i < k; i++) {
            if (topk_has_out(a, 0))
                hg_elem_copy(a->out[0].data, to + i * inner, x->data, from + best[i].index * inner,
                             1, bits);
            if (topk_has_out(a, 1)) ((int64_t *)a->out[1].data)[to + i * inner] = best[i].index;
        }
    }
}

const hg_kernel hg_kernels_topk[] = {
    {.name = "topk",
     .check = topk_check,
     .units = topk_units,
     .scratch = topk_scratch,
     .run = topk_run},
    {0},
};
