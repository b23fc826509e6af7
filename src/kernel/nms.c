/* nms.c - nms: boxes that do not overlap better ones too much.
 *
 *   in[0]  boxes [B, N, 4] floats
 *   in[1]  scores [B, C, N] floats
 *   in[2]  largest overlap (intersection over union), one float; may be absent: 0
 *   in[3]  smallest score, one float; may be absent: none
 *   param  largest number of boxes a class, center_point: a box is (x, y, width, height) around its
 *          middle instead of two corners (y, x, y, x)
 *   out[0] chosen [B * C * min(N, largest number), 3] int64: batch, class, box; then zeros
 *   out[1] how many were chosen, [1] int64
 *
 * Candidates of a class are sorted by score (equal ones by index) and compared with those chosen so
 * far: n log n + n * chosen steps. A score or box with NaN is never chosen. One unit. */
#include "kernel/number.h"

typedef struct nms_candidate {
    double score;
    int64_t index;
} nms_candidate;

/* Corners in order, and the area. */
typedef struct nms_box {
    double low[2], high[2], area;
} nms_box;

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

enum { NMS_ASK = 64 }; /* candidates between two looks at the clock */

static int64_t nms_units(const hg_args *a)
{
    (void)a;
    return 1;
}

static size_t nms_scratch(const hg_args *a)
{
    return hg_align_up((size_t)a->in[0].dim[1] * sizeof(nms_candidate), HG_ALIGN) +
           (size_t)a->in[0].dim[1] * sizeof(nms_box);
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

static bool nms_overlaps(const nms_box *a, const nms_box *b, double most)
{
    double common = 1.0;
    for (int k = 0; k < 2; k++) {
        const double low = a->low[k] > b->low[k] ? a->low[k] : b->low[k];
        const double high = a->high[k] < b->high[k] ? a->high[k] : b->high[k];
        if (!(high > low)) return false;
        common *= high - low;
    }
    const double whole = a->area + b->area - common;
    return whole > 0.0 && common / whole > most;
}

static bool nms_before(nms_candidate a, nms_candidate b)
{
    return a.score > b.score || (a.score == b.score && a.index < b.index);
}

/* Heap sort, best first: no memory, n log n always. */
static void nms_sift(nms_candidate *c, int64_t count, int64_t at)
{
    const nms_candidate entry = c[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && nms_before(c[child], c[child + 1])) child++;
        if (!nms_before(entry, c[child])) break;
        c[at] = c[child];
        at = child;
    }
    c[at] = entry;
}

static void nms_sort(const hg_args *a, nms_candidate *c, int64_t count)
{
    for (int64_t i = count / 2 - 1; i >= 0; i--)
        nms_sift(c, count, i);
    for (int64_t n = count - 1; n > 0; n--) {
        const nms_candidate last = c[0];
        c[0] = c[n];
        c[n] = last;
        nms_sift(c, n, 0);
        if (n % NMS_ASK == 0 && hg_args_stopped(a)) return;
    }
}

/* Chooses boxes of one class; returns how many, written from row `at` of the output on. */
static int64_t nms_class(const hg_args *a, int64_t batch, int64_t class, int64_t at,
                         nms_candidate *c, nms_box *chosen)
{
    const int64_t n = a->in[0].dim[1], most = hg_min(n, a->param[0]);
    const bool has_least = hg_args_has(a, 3);
    const double overlap = hg_args_has(a, 2) ? hg_number_load(&a->in[2], 0) : 0.0;
    const double least = has_least ? hg_number_load(&a->in[3], 0) : 0.0;
    int64_t count = 0, found = 0;
    for (int64_t i = 0; i < n; i++) {
        const double s = hg_number_load(&a->in[1], (batch * a->in[1].dim[1] + class) * n + i);
        if (s == s && (!has_least || s > least)) c[count++] = (nms_candidate){s, i};
    }
    nms_sort(a, c, count);
    for (int64_t i = 0; i < count && found < most; i++) {
        if (i % NMS_ASK == 0 && hg_args_stopped(a)) break;
        const nms_box box = nms_box_of(a, batch * n + c[i].index);
        bool keeps = box.area == box.area;
        for (int64_t k = 0; k < found && keeps; k++)
            keeps = !nms_overlaps(&box, &chosen[k], overlap);
        if (!keeps) continue;
        int64_t *row = (int64_t *)a->out[0].data + (at + found) * 3;
        row[0] = batch;
        row[1] = class;
        row[2] = c[i].index;
        chosen[found++] = box;
    }
    return found;
}

static void nms_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    *(int64_t *)a->out[1].data = 0;
    if (a->in[0].dim[1] == 0) return; /* without boxes there is no scratch */
    const int64_t batches = a->in[1].dim[0], classes = a->in[1].dim[1];
    nms_candidate *c = r.scratch;
    nms_box *chosen =
        (nms_box *)(void *)((char *)r.scratch +
                            hg_align_up((size_t)a->in[0].dim[1] * sizeof *c, HG_ALIGN));
    int64_t found = 0;
    memset(a->out[0].data, 0, holo_tensor_bytes(&a->out[0]));
    for (int64_t i = 0; i < batches * classes; i++)
        found += nms_class(a, i / classes, i % classes, found, c, chosen);
    *(int64_t *)a->out[1].data = found;
}

const hg_kernel hg_kernels_nms[] = {
    {.name = "nms", .check = nms_check, .units = nms_units, .scratch = nms_scratch, .run = nms_run},
    {0},
};
