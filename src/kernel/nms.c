/* nms.c - nms: boxes that do not overlap better ones too much.
 *
 *   in[0]  boxes [B, N, 4] floats, N < 2^32
 *   in[1]  scores [B, C, N] floats
 *   in[2]  largest overlap (intersection over union), one float; may be absent: 0
 *   in[3]  smallest score, one float; may be absent: none
 *   param  largest number of boxes a class, center_point: a box is (x, y, width, height) around its
 *          middle instead of two corners (y, x, y, x)
 *   out[0] chosen [B * C * min(N, largest number), 3] int64: batch, class, box; then zeros
 *   out[1] how many were chosen, [1] int64
 *
 * Candidates of a class come by score, best first (equal ones by index), and are compared with
 * those chosen so far. They are put in order only as far as they are asked for: n + k log k steps
 * for k of n, n log n at worst, + k * chosen. A score or box with NaN is never chosen. One unit. */
#include "kernel/number.h"

#include <math.h>

enum {
    NMS_ASK = 64,   /* candidates between two looks at the clock */
    NMS_BLOCK = 8,  /* chosen boxes that are compared with a candidate at a time */
    NMS_SKIP = 16,  /* scores that are compared with the smallest at a time */
    NMS_FEW = 16,   /* candidates that are sorted by insertion */
    NMS_PARTS = 48, /* parts that wait to be sorted */
    NMS_PASSES = 48 /* times all candidates may be looked at before sorting by a heap */
};

/* Corners in order, and the area. */
typedef struct nms_box {
    double low[2], high[2], area;
} nms_box;

/* Boxes that were chosen, side by side. */
typedef struct nms_block {
    double low[2][NMS_BLOCK], high[2][NMS_BLOCK], area[NMS_BLOCK];
} nms_block;

/* Candidates of a class. An entry has the score above the index, of which the lower one is better;
 * larger entries are better. Of f64 only the upper half of a score has place, `wide` has it all. */
typedef struct nms_list {
    uint64_t *entry;
    const double *wide; /* scores of the class when they are f64, or NULL */
    int64_t count;
    int64_t sorted; /* entries [0, sorted) are in order */
    int64_t budget; /* entries that may be looked at before sorting by a heap */
    uint32_t parts;
    uint32_t end[NMS_PARTS]; /* of parts: all entries before are better than those after */
} nms_list;

static holo_status nms_check_threshold(const hg_args *a, holo_error *e, uint32_t i)
{
    if (!hg_args_has(a, i)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_FLOAT));
    HG_REQUIRE(e, holo_tensor_count(&a->in[i]) == 1, HOLO_E_SHAPE,
               "threshold has %lld elements, expected 1", (long long)holo_tensor_count(&a->in[i]));
    return HOLO_OK;
}

static holo_status nms_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 4, 2, 2));
    HG_TRY(hg_check_param(a, e, 0, "number of boxes a class", 0, INT64_MAX));
    HG_TRY(hg_check_param(a, e, 1, "center_point", 0, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_out_type(a, e, 1, HG_TYPE_BIT(HOLO_I64)));
    const holo_tensor *boxes = &a->in[0], *scores = &a->in[1], *y = &a->out[0];
    HG_TRY(hg_check_rank(boxes, e, "boxes", 3, 3));
    HG_TRY(hg_check_rank(scores, e, "scores", 3, 3));
    HG_TRY(hg_check_rank(y, e, "output", 2, 2));
    HG_REQUIRE(e, boxes->dim[2] == 4, HOLO_E_SHAPE, "boxes have %lld numbers, expected 4",
               (long long)boxes->dim[2]);
    HG_REQUIRE(e, boxes->dim[1] <= UINT32_MAX, HOLO_E_SHAPE, "%lld boxes, expected at most %lld",
               (long long)boxes->dim[1], (long long)UINT32_MAX);
    HG_REQUIRE(e, scores->dim[0] == boxes->dim[0] && scores->dim[2] == boxes->dim[1], HOLO_E_SHAPE,
               "scores are [%lld, classes, %lld], expected [%lld, classes, %lld]",
               (long long)scores->dim[0], (long long)scores->dim[2], (long long)boxes->dim[0],
               (long long)boxes->dim[1]);
    const int64_t most = scores->dim[0] * scores->dim[1] * hg_min(boxes->dim[1], a->param[0]);
    HG_REQUIRE(e, y->dim[0] == most && y->dim[1] == 3, HOLO_E_SHAPE,
               "output is %lld x %lld, expected %lld x 3", (long long)y->dim[0],
               (long long)y->dim[1], (long long)most);
    HG_REQUIRE(e, holo_tensor_count(&a->out[1]) == 1, HOLO_E_SHAPE,
               "the count has %lld elements, expected 1", (long long)holo_tensor_count(&a->out[1]));
    HG_TRY(nms_check_threshold(a, e, 2));
    return nms_check_threshold(a, e, 3);
}

static int64_t nms_units(const hg_args *a)
{
    (void)a;
    return 1;
}

static size_t nms_entries(const hg_args *a)
{
    return hg_align_up((size_t)a->in[0].dim[1] * sizeof(uint64_t), HG_ALIGN);
}

static size_t nms_scratch(const hg_args *a)
{
    const size_t most = (size_t)hg_min(a->in[0].dim[1], a->param[0]);
    return sizeof(nms_list) + HG_ALIGN + nms_entries(a) +
           (most + NMS_BLOCK - 1) / NMS_BLOCK * sizeof(nms_block);
}

static nms_box nms_box_of(const hg_args *a, int64_t at)
{
    double v[4];
    nms_box b;
    for (int k = 0; k < 4; k++)
        v[k] = hg_number_load(&a->in[0], at * 4 + k);
    for (int k = 0; k < 2; k++) {
        const double p = a->param[1] != 0 ? v[k] - v[2 + k] / 2.0 : v[k];
        const double q = a->param[1] != 0 ? v[k] + v[2 + k] / 2.0 : v[2 + k];
        b.low[k] = p < q ? p : q;
        b.high[k] = p < q ? q : p;
    }
    b.area = (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]);
    return b;
}

/* ---- candidates ----------------------------------------------------------------------------- */

/* Grows with v; -0 is 0. */
static uint32_t nms_key(float v)
{
    uint32_t bits;
    v += 0.0F;
    memcpy(&bits, &v, sizeof bits);
    return bits ^ ((bits >> 31) != 0 ? UINT32_MAX : UINT32_C(1) << 31);
}

/* The upper half of a key of f64. */
static uint32_t nms_key_wide(double v)
{
    uint64_t bits;
    v += 0.0;
    memcpy(&bits, &v, sizeof bits);
    return (uint32_t)((bits ^ ((bits >> 63) != 0 ? UINT64_MAX : UINT64_C(1) << 63)) >> 32);
}

static uint64_t nms_entry(uint32_t key, int64_t index)
{
    return (uint64_t)key << 32 | (uint32_t) ~(uint32_t)index;
}

static int64_t nms_index(uint64_t entry)
{
    return (int64_t)(uint32_t) ~(uint32_t)entry;
}

/* The smallest float above `least`; NaN when there is none. */
static float nms_above(double least)
{
    float v = (float)least + 0.0F;
    if (!((double)v <= least)) return v;
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits += bits < 0 ? -1 : 1;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Most scores of a detector are too small: many are passed over at once. */
static int64_t nms_filter_f32(const float *score, int64_t n, float least, uint64_t *entry)
{
    int64_t count = 0, i = 0;
    for (; i + NMS_SKIP <= n; i += NMS_SKIP) {
        int any = 0;
        for (int64_t j = i; j < i + NMS_SKIP; j++)
            any |= score[j] >= least ? -1 : 0;
        for (int64_t j = i; any != 0 && j < i + NMS_SKIP; j++) {
            entry[count] = nms_entry(nms_key(score[j]), j);
            count += score[j] >= least;
        }
    }
    for (; i < n; i++) {
        entry[count] = nms_entry(nms_key(score[i]), i);
        count += score[i] >= least;
    }
    return count;
}

/* Candidates of scores from element `first` on. */
static void nms_filter(const hg_args *a, int64_t first, nms_list *c)
{
    const int64_t n = a->in[0].dim[1];
    const holo_tensor *score = &a->in[1];
    const bool has_least = hg_args_has(a, 3);
    const double least = has_least ? hg_number_load(&a->in[3], 0) : 0.0;
    c->wide = score->dtype == HOLO_F64 ? (const double *)score->data + first : NULL;
    c->count = c->sorted = 0;
    if (score->dtype == HOLO_F32) {
        c->count = nms_filter_f32((const float *)score->data + first, n,
                                  has_least ? nms_above(least) : -INFINITY, c->entry);
    } else {
        for (int64_t i = 0; i < n; i++) {
            const double s = hg_number_load(score, first + i);
            const uint32_t key = c->wide != NULL ? nms_key_wide(s) : nms_key((float)s);
            if (s == s && (!has_least || s > least)) c->entry[c->count++] = nms_entry(key, i);
        }
    }
    c->budget = NMS_PASSES * c->count;
    c->parts = 1;
    c->end[0] = (uint32_t)c->count;
}

static bool nms_before(const nms_list *c, uint64_t x, uint64_t y)
{
    if (c->wide != NULL && (x ^ y) >> 32 == 0) {
        const double p = c->wide[nms_index(x)], q = c->wide[nms_index(y)];
        if (p != q) return p > q;
    }
    return x > y;
}

/* Heap sort, best first: no memory, n log n always. */
static void nms_sift(const nms_list *c, uint64_t *heap, int64_t count, int64_t at)
{
    const uint64_t entry = heap[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && nms_before(c, heap[child], heap[child + 1])) child++;
        if (!nms_before(c, entry, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

static void nms_sort(const hg_args *a, const nms_list *c, uint64_t *x, int64_t count)
{
    for (int64_t i = 1; i < count && count <= NMS_FEW; i++) {
        const uint64_t entry = x[i];
        int64_t at = i;
        for (; at > 0 && nms_before(c, entry, x[at - 1]); at--)
            x[at] = x[at - 1];
        x[at] = entry;
    }
    if (count <= NMS_FEW) return;
    for (int64_t i = count / 2 - 1; i >= 0; i--)
        nms_sift(c, x, count, i);
    for (int64_t n = count - 1; n > 0; n--) {
        const uint64_t last = x[0];
        x[0] = x[n];
        x[n] = last;
        nms_sift(c, x, n, 0);
        if (n % NMS_ASK == 0 && hg_args_stopped(a)) return;
    }
}

/* Brings the better entries, about half of them, to the front; how many they are. */
static int64_t nms_part(const nms_list *c, uint64_t *x, int64_t count)
{
    const uint64_t p = x[0], q = x[count / 2], r = x[count - 1];
    const uint64_t low = p < q ? p : q, high = p < q ? q : p;
    uint64_t middle = r < low ? low : r < high ? r : high;
    int64_t front = 0;
    if (c->wide != NULL) middle &= ~(uint64_t)UINT32_MAX; /* lower halves are in nms_before alone */
    for (int64_t i = 0; i < count; i++) {
        const uint64_t entry = x[i];
        x[i] = x[front];
        x[front] = entry;
        front += entry >= middle;
    }
    return front;
}

/* Puts more entries in order. Parts are cut until the first is small, as quicksort does it; what
 * follows waits. Entries that are cut badly again and again are sorted by a heap. False when the
 * run is stopped. */
static bool nms_more(const hg_args *a, nms_list *c)
{
    for (;;) {
        uint64_t *x = c->entry + c->sorted;
        const int64_t count = (int64_t)c->end[c->parts - 1] - c->sorted;
        int64_t front = count;
        c->budget -= count;
        if (count > NMS_FEW && c->budget >= 0 && c->parts < NMS_PARTS)
            front = nms_part(c, x, count);
        if (front < count) {
            c->end[c->parts++] = (uint32_t)(c->sorted + front);
            if (hg_args_stopped(a)) return false;
            continue;
        }
        nms_sort(a, c, x, front);
        c->sorted += front;
        c->parts--;
        return true;
    }
}

/* ---- choosing ------------------------------------------------------------------------------- */

static bool nms_overlaps(const nms_box *a, const nms_block *b, int i, double most)
{
    double common = 1.0;
    for (int k = 0; k < 2; k++) {
        const double low = a->low[k] > b->low[k][i] ? a->low[k] : b->low[k][i];
        const double high = a->high[k] < b->high[k][i] ? a->high[k] : b->high[k][i];
        if (!(high > low)) return false;
        common *= high - low;
    }
    const double whole = a->area + b->area[i] - common;
    return whole > 0.0 && common / whole > most;
}

/* One box of a block may overlap. Without a division: when common / whole, rounded, is above `most`
 * then common is above most * whole, and not below it when that is rounded. */
static bool nms_may_overlap(const nms_box *a, const nms_block *b, double most)
{
    const double y[] = {a->low[0], a->high[0]}, x[] = {a->low[1], a->high[1]}, own = a->area;
    double mark[NMS_BLOCK], any = 0.0; /* not bool: lanes stay lanes */
    for (int i = 0; i < NMS_BLOCK; i++) {
        double top = b->low[0][i], left = b->low[1][i];
        double bottom = b->high[0][i], right = b->high[1][i];
        const double area = b->area[i];
        top = y[0] > top ? y[0] : top;
        bottom = y[1] < bottom ? y[1] : bottom;
        left = x[0] > left ? x[0] : left;
        right = x[1] < right ? x[1] : right;
        const double common = (bottom - top) * (right - left);
        const double bound = most * (own + area - common);
        const double hit = common >= bound ? 1.0 : 0.0, high = bottom > top ? hit : 0.0;
        mark[i] = right > left ? high : 0.0;
    }
    for (int i = 0; i < NMS_BLOCK; i++)
        any += mark[i];
    return any != 0.0;
}

static bool nms_keeps(const nms_box *box, const nms_block *chosen, int64_t found, double most)
{
    if (box->area != box->area) return false;
    for (const nms_block *b = chosen; b < chosen + (found + NMS_BLOCK - 1) / NMS_BLOCK; b++) {
        if (!nms_may_overlap(box, b, most)) continue;
        for (int i = 0; i < NMS_BLOCK; i++)
            if (nms_overlaps(box, b, i, most)) return false;
    }
    return true;
}

/* Box number `at` of those chosen; places of its block that are still free overlap nothing. */
static void nms_choose(nms_block *chosen, int64_t at, const nms_box *box)
{
    nms_block *b = &chosen[at / NMS_BLOCK];
    for (int64_t i = at % NMS_BLOCK; i < NMS_BLOCK; i++) {
        for (int k = 0; k < 2; k++) {
            b->low[k][i] = i == at % NMS_BLOCK ? box->low[k] : INFINITY;
            b->high[k][i] = i == at % NMS_BLOCK ? box->high[k] : -INFINITY;
        }
        b->area[i] = box->area;
    }
}

/* Chooses boxes of one class; returns how many, written from row `at` of the output on. */
static int64_t nms_class(const hg_args *a, int64_t batch, int64_t class, int64_t at, nms_list *c,
                         nms_block *chosen)
{
    const int64_t n = a->in[0].dim[1], most = hg_min(n, a->param[0]);
    const double overlap = hg_args_has(a, 2) ? hg_number_load(&a->in[2], 0) : 0.0;
    int64_t found = 0;
    nms_filter(a, (batch * a->in[1].dim[1] + class) * n, c);
    for (int64_t i = 0; i < c->count && found < most; i++) {
        if (i % NMS_ASK == 0 && hg_args_stopped(a)) break;
        while (i >= c->sorted)
            if (!nms_more(a, c)) return found;
        const nms_box box = nms_box_of(a, batch * n + nms_index(c->entry[i]));
        if (!nms_keeps(&box, chosen, found, overlap)) continue;
        int64_t *row = (int64_t *)a->out[0].data + (at + found) * 3;
        row[0] = batch;
        row[1] = class;
        row[2] = nms_index(c->entry[i]);
        nms_choose(chosen, found++, &box);
    }
    return found;
}

static void nms_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    int64_t found = 0;
    const int64_t batches = a->in[1].dim[0], classes = a->in[1].dim[1], rows = a->out[0].dim[0];
    nms_list *c = r.scratch;
    char *entries = (char *)r.scratch + hg_align_up(sizeof *c, HG_ALIGN);
    for (int64_t i = 0; rows > 0 && i < batches * classes; i++) {
        c->entry = (uint64_t *)(void *)entries;
        found += nms_class(a, i / classes, i % classes, found, c,
                           (nms_block *)(void *)(entries + nms_entries(a)));
    }
    if (found < rows)
        memset((int64_t *)a->out[0].data + 3 * found, 0,
               (size_t)(rows - found) * 3 * sizeof(int64_t));
    *(int64_t *)a->out[1].data = found;
}

const hg_kernel hg_kernels_nms[] = {
    {.name = "nms", .check = nms_check, .units = nms_units, .scratch = nms_scratch, .run = nms_run},
    {0},
};
