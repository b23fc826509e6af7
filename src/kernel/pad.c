/* pad.c - pad: a tensor with a border added or cut off.
 *
 *   in[0]   data, in[1] the value of a constant border (one element, same type; absent: zero bits)
 *   param   mode, then for each dim how many elements come before data (negative: how many are cut
 *           off)
 *   out[0]  its dims say what comes behind
 *
 * mode 0 is a constant; 1 reflects without repeating the edge; 2 repeats the edge; 3 wraps around.
 * What is cut off is gone before the border is made: it is neither reflected nor wrapped. */
#include "kernel/pad.h"

#include "kernel/elem.h"

enum { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP };
enum { PAD_SHORT = 32 };

/* The elements of dimension d that are not cut off: the first one and how many. */
static int64_t pad_kept(const hg_args *a, int d, int64_t *first)
{
    const int64_t before = a->param[1 + d], size = a->in[0].dim[d];
    const int64_t behind = a->out[0].dim[d] - size - before;
    *first = before < 0 ? -before : 0;
    return size - *first + hg_min(behind, 0);
}

/* Sums of this and a dimension do not overflow. */
#define PAD_MOST (INT64_C(1) << 60)

static holo_status pad_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, (int)a->n_param));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    HG_TRY(hg_check_same_type(out, in, e, "output"));
    HG_TRY(hg_check_rank(out, e, "output", in->rank, in->rank));
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, 1 + in->rank));
    HG_TRY(hg_check_param(a, e, 0, "mode", PAD_CONSTANT, PAD_WRAP));
    if (hg_args_has(a, 1)) {
        HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_ANY));
        HG_TRY(hg_check_same_type(&a->in[1], in, e, "value"));
        HG_REQUIRE(e, holo_tensor_count(&a->in[1]) == 1, HOLO_E_SHAPE,
                   "the value has %lld elements, expected 1",
                   (long long)holo_tensor_count(&a->in[1]));
    }
    const bool empty = holo_tensor_count(out) == 0;
    for (int i = 0; i < in->rank; i++) {
        HG_TRY(hg_check_param(a, e, 1 + (uint32_t)i, "padding", -PAD_MOST, PAD_MOST));
        int64_t first;
        HG_REQUIRE(e, a->param[0] == PAD_CONSTANT || empty || pad_kept(a, i, &first) > 0,
                   HOLO_E_SHAPE, "nothing of dimension %d is left to pad with", i);
    }
    return HOLO_OK;
}

/* Dims behind the last one that has a border are parts of its elements. */
typedef struct pad_plan {
    int last;                  /* -1: no dim has a border */
    int lead;                  /* dims before these have none, up to `last` */
    int64_t inner, rows, cols; /* elements of one of `cols` parts of a row */
    int64_t run;               /* rows of dims [lead, last): those of data, in order */
    int64_t first, end, skip;  /* parts [first, end) of a row are data, from part `skip` on */
    uint32_t bits;             /* of an element */
    int64_t source[PAD_SHORT]; /* of the parts of a short border, one after the other */
    bool is_words;             /* short borders of parts of 32 bits */
} pad_plan;

static pad_plan pad_plan_of(const hg_args *a)
{
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    pad_plan p = {.last = in->rank - 1, .inner = 1, .rows = 1, .cols = 1, .run = 1};
    for (; p.last >= 0 && a->param[1 + p.last] == 0 && in->dim[p.last] == out->dim[p.last];
         p.last--)
        p.inner *= out->dim[p.last];
    if (p.last < 0) return p;
    for (p.lead = p.last; p.lead > 0; p.lead--) {
        const int d = p.lead - 1;
        if (a->param[1 + d] != 0 || in->dim[d] != out->dim[d]) break;
        p.run *= in->dim[d];
    }
    p.rows = hg_dims_product(out, 0, p.last);
    p.cols = out->dim[p.last];
    return p;
}

static int64_t pad_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_elem_is_packed(&a->in[0]) ? 1 : pad_plan_of(a).rows;
}

static inline int64_t pad_source(const hg_args *a, int d, int64_t i)
{
    const int64_t mode = a->param[0], before = a->param[1 + d];
    int64_t first;
    const int64_t size = pad_kept(a, d, &first);
    i -= hg_max(before, 0);
    if (i >= 0 && i < size) return first + i;
    if (mode == PAD_CONSTANT) return -1;
    if (mode == PAD_EDGE) return first + (i < 0 ? 0 : size - 1);
    const int64_t period = mode == PAD_WRAP ? size : hg_max(2 * (size - 1), 1);
    const int64_t turn = i - hg_floor_div(i, period) * period;
    return first + (mode == PAD_WRAP || turn < size ? turn : period - turn);
}

int64_t hg_pad_source(const hg_args *a, int d, int64_t i)
{
    return pad_source(a, d, i);
}

/* Where the parts of a row come from. */
static void pad_plan_row(const hg_args *a, pad_plan *p)
{
    const int64_t before = p->last < 0 ? 0 : a->param[1 + p->last];
    const int64_t size = p->last < 0 ? 1 : a->in[0].dim[p->last];
    p->first = hg_min(hg_max(before, 0), p->cols);
    p->end = hg_max(p->first, hg_min(p->cols, before + size));
    p->skip = p->first - before;
    p->bits = hg_dtype_bits(a->out[0].dtype);
    p->is_words = p->bits == 32 && p->inner == 1 && p->cols - (p->end - p->first) <= PAD_SHORT;
    if (a->param[0] == PAD_CONSTANT) return;
    for (int64_t i = 0, at = 0; i < p->cols && at < PAD_SHORT; i++) {
        if (i == p->first) i = p->end;
        if (i < p->cols) p->source[at++] = pad_source(a, p->last, i);
    }
}

/* n elements from element `at` on. */
static void pad_fill(const hg_args *a, const pad_plan *p, int64_t at, int64_t n)
{
    static const uint64_t zero[2] = {0};
    const void *value = hg_args_has(a, 1) ? a->in[1].data : zero;
    hg_elem_fill(a->out[0].data, at, value, n, p->bits);
}

/* Parts [begin, end) of a row, all of its border, `before` parts of which come before them. */
static void pad_border(const hg_args *a, const pad_plan *p, int64_t at, int64_t from, int64_t begin,
                       int64_t end, int64_t before)
{
    if (a->param[0] == PAD_CONSTANT) {
        pad_fill(a, p, at + begin * p->inner, (end - begin) * p->inner);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        const int64_t place = before + i - begin;
        const int64_t source = place < PAD_SHORT ? p->source[place] : pad_source(a, p->last, i);
        hg_elem_copy(a->out[0].data, at + i * p->inner, a->in[0].data, from + source * p->inner,
                     p->inner, p->bits);
    }
}

/* The same as pad_row: what is most frequent calls nothing but for data. */
static void pad_row_words(const hg_args *a, const pad_plan *p, int64_t at, int64_t from)
{
    uint32_t *y = (uint32_t *)a->out[0].data + at;
    const uint32_t *x = (const uint32_t *)a->in[0].data + from;
    const uint32_t value = hg_args_has(a, 1) ? *(const uint32_t *)a->in[1].data : 0;
    const int64_t behind = p->end - p->first, *source = p->source;
    const bool is_constant = a->param[0] == PAD_CONSTANT;
    for (int64_t i = 0; i < p->first; i++)
        y[i] = is_constant ? value : x[source[i]];
    if (behind == 1)
        y[p->first] = x[p->skip];
    else
        memcpy(y + p->first, x + p->skip, (size_t)behind * sizeof *y);
    for (int64_t i = p->end; i < p->cols; i++)
        y[i] = is_constant ? value : x[source[i - behind]];
}

/* One row of the output that starts at element `at`, from the row of data that starts at `from`. */
static void pad_row(const hg_args *a, const pad_plan *p, int64_t at, int64_t from)
{
    if (p->is_words) {
        pad_row_words(a, p, at, from);
        return;
    }
    pad_border(a, p, at, from, 0, p->first, 0);
    if (p->first < p->end)
        hg_elem_copy(a->out[0].data, at + p->first * p->inner, a->in[0].data,
                     from + p->skip * p->inner, (p->end - p->first) * p->inner, p->bits);
    pad_border(a, p, at, from, p->end, p->cols, p->first);
}

/* Where runs of rows come from, a dim at a time: start[d + 1] is where data begins that the first
 * d + 1 indices of a run lead to, -1 in a border of constants. */
typedef struct pad_walk {
    int64_t at[HG_MAX_RANK], start[HG_MAX_RANK + 1];
    int64_t stride[HG_MAX_RANK];
} pad_walk;

static void pad_lead(const hg_args *a, const pad_plan *p, pad_walk *w, int d)
{
    for (; d < p->lead; d++) {
        const int64_t source = w->start[d] < 0 ? -1 : pad_source(a, d, w->at[d]);
        w->start[d + 1] = source < 0 ? -1 : w->start[d] + source * w->stride[d];
    }
}

/* `given` is the number of elements of a row of data. */
static void pad_begin(const hg_args *a, const pad_plan *p, pad_walk *w, int64_t given, int64_t run)
{
    int64_t stride = given * p->run;
    for (int d = p->lead - 1; d >= 0; d--) {
        w->stride[d] = stride;
        w->at[d] = run % a->out[0].dim[d];
        run /= a->out[0].dim[d];
        stride *= a->in[0].dim[d];
    }
    w->start[0] = 0;
    pad_lead(a, p, w, 0);
}

static void pad_next(const hg_args *a, const pad_plan *p, pad_walk *w)
{
    int d = p->lead - 1;
    for (; d > 0 && w->at[d] + 1 == a->out[0].dim[d]; d--)
        w->at[d] = 0;
    if (d < 0) return;
    w->at[d]++;
    pad_lead(a, p, w, d);
}

/* A unit is a row along the last dimension with a border. */
static void pad_run(const hg_args *a, hg_range r)
{
    pad_plan p = pad_plan_of(a);
    pad_plan_row(a, &p);
    const int64_t length = p.cols * p.inner;
    const int64_t given = p.last < 0 ? p.inner : a->in[0].dim[p.last] * p.inner;
    pad_walk w;
    if (hg_elem_is_packed(&a->in[0])) r.end = r.begin < r.end ? p.rows : 0;
    if (r.begin < r.end) pad_begin(a, &p, &w, given, r.begin / p.run);
    for (int64_t row = r.begin; row < r.end;) {
        const int64_t first = row % p.run, from = w.start[p.lead];
        const int64_t end = hg_min(r.end, row - first + p.run);
        if (from < 0) pad_fill(a, &p, row * length, (end - row) * length);
        for (int64_t i = from < 0 ? end : row; i < end; i++)
            pad_row(a, &p, i * length, from + (first + i - row) * given);
        row = end;
        if (row < r.end) pad_next(a, &p, &w);
    }
}

const hg_kernel hg_kernels_pad[] = {
    {.name = "pad", .check = pad_check, .units = pad_units, .run = pad_run},
    {0},
};
