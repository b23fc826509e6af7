/* move.c - operators that only move, repeat, drop or pad elements. */
#include "oracle/oracle.h"

#include <stdio.h>
#include <stdlib.h>

static ora *move_data(holo_dtype type, const char *dims)
{
    return ora_make(type, dims, ORA_EDGE, (uint32_t)strlen(dims));
}

static ora *move_ints(const char *dims, const char *values)
{
    return ora_param(ora_of(HOLO_I64, dims, values));
}

/* The elements of x in order, under other dimensions. */
static ora *move_reshaped(const ora *x, const char *dims)
{
    ora *y = ora_shape(x->type, dims);
    memcpy(y->v, x->v, (size_t)y->count * sizeof *y->v);
    return y;
}

/* ---- views -------------------------------------------------------------------------------------
 */

static void move_identity(const ora_row *row)
{
    static const char *const shapes[] = {"2,3", "", "0,2"};
    ORA_EACH_TYPE(type, row->op, "V")
    for (size_t k = 0; k < 3; k++) {
        const ora *x = move_data(type, shapes[k]);
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(x));
    }
    ORA_EACH_TYPE(type, "ConcatFromSequence", "T")
    {
        ora *item = move_data(type, "2,2");
        ora *list = ora_box(HOLO_SEQUENCE, type, 1, &item);
        const ora *boxes[] = {
            list, ora_box(HOLO_SEQUENCE, type, 0, NULL), ora_box(HOLO_OPTIONAL, type, 1, &item),
            ora_box(HOLO_OPTIONAL, type, 0, NULL), ora_box(HOLO_OPTIONAL, type, 1, &list)};
        for (size_t k = 0; k < 5; k++)
            ORA_CHECK(row->op, NULL, ORA_IN(boxes[k]), ORA_OUT(boxes[k]));
    }
}

static void move_flatten(const ora_row *row)
{
    static const char *const table[][3] = {
        {"2,3,4", NULL, "2,12"},     {"2,3,4", "axis=0", "1,24"},  {"2,3,4", "axis=3", "24,1"},
        {"2,3,4", "axis=-1", "6,4"}, {"2,3,4", "axis=-3", "1,24"}, {"", "axis=0", "1,1"},
        {"2,0,3", "axis=1", "2,0"},  {"2,0,3", "axis=2", "0,3"}};
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        const ora *x = move_data(type, table[k][0]);
        ORA_CHECK(row->op, table[k][1], ORA_IN(x), ORA_OUT(move_reshaped(x, table[k][2])));
    }
}

typedef struct move_view {
    const char *in, *attrs, *n, *values, *out; /* n NULL: the second input is absent */
} move_view;

static void move_views(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (const move_view *v = row->data; v->in != NULL; v++) {
        const ora *x = move_data(type, v->in), *y = move_reshaped(x, v->out);
        if (v->n == NULL)
            ORA_CHECK(row->op, v->attrs, ORA_IN(x), ORA_OUT(y), .skip = 1u << ORA_SYMBOLIC);
        else
            ORA_CHECK(row->op, v->attrs, ORA_IN(x, move_ints(v->n, v->values)), ORA_OUT(y));
    }
}

static const move_view move_squeeze[] = {
    {"1,3,1,4", NULL, "1", "0", "3,1,4"}, {"1,3,1,4", NULL, "2", "-2 0", "3,4"},
    {"1,3,1,4", NULL, NULL, NULL, "3,4"}, {"1", NULL, "1", "-1", ""},
    {"1,0,1", NULL, "1", "2", "1,0"},     {"2,3", NULL, "0", "", "2,3"},
    {NULL, NULL, NULL, NULL, NULL}};
static const move_view move_unsqueeze[] = {
    {"3,4", NULL, "1", "0", "1,3,4"},     {"3,4", NULL, "2", "-1 0", "1,3,4,1"},
    {"3,4", NULL, "2", "2 1", "3,1,1,4"}, {"", NULL, "1", "0", "1"},
    {"", NULL, "2", "0 1", "1,1"},        {"0", NULL, "1", "-2", "1,0"},
    {NULL, NULL, NULL, NULL, NULL}};

static const move_view move_reshape[] = {{"2,3,4", NULL, "2", "4 6", "4,6"},
                                         {"2,3,4", NULL, "3", "0 -1 2", "2,6,2"},
                                         {"2,3,4", NULL, "4", "-1 0 2 1", "4,3,2,1"},
                                         {"2,3,4", NULL, "1", "24", "24"},
                                         {"1,1", NULL, "0", "", ""},
                                         {"", NULL, "2", "1 1", "1,1"},
                                         {"0,3", "allowzero=1", "2", "3 0", "3,0"},
                                         {"0,3", NULL, "3", "0 1 3", "0,1,3"},
                                         {"4,0", "allowzero=1", "3", "0 7 2", "0,7,2"},
                                         {NULL, NULL, NULL, NULL, NULL}};

static void move_reshape_run(const ora_row *row)
{
    move_views(row);
    const ora *x = move_data(HOLO_F32, "2,3");
    ORA_REFUSE("", row->op, NULL, ORA_IN(x, move_ints("2", "4 2")), ORA_OUT(x));
}

/* ---- shapes as data ----------------------------------------------------------------------------
 */

static void move_shape_check(const ora *x, const char *attrs, int from, int to)
{
    int64_t dims[HOLO_MAX_RANK];
    int n = 0;
    for (int d = from; d < to; d++)
        dims[n++] = x->dim[d];
    ORA_CHECK("Shape", attrs, ORA_IN(x), ORA_OUT(ora_ints(HOLO_I64, n, dims)));
}

static void move_shape(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        const ora *x = move_data(type, "2,0,4");
        move_shape_check(x, NULL, 0, 3);
        move_shape_check(x, "start=1", 1, 3);
        move_shape_check(x, "start=-1", 2, 3);
        move_shape_check(x, "end=-1", 0, 2);
        move_shape_check(x, "start=-9 end=9", 0, 3);
        move_shape_check(x, "start=2 end=1", 0, 0);
        move_shape_check(move_data(type, ""), NULL, 0, 0);
    }
}

static void move_size(const ora_row *row)
{
    static const char *const shapes[] = {"2,3,4", "", "0,3", "1"};
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < 4; k++) {
        const ora *x = move_data(type, shapes[k]);
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(ora_scalar(HOLO_I64, (long double)x->count)));
    }
}

static void move_constantofshape_check(const char *n, const char *values, const char *dims,
                                       const ora *value)
{
    ora *y = ora_shape(value == NULL ? HOLO_F32 : value->type, dims);
    for (int64_t k = 0; k < y->count; k++)
        y->v[k] = value == NULL ? (wide){.re = 0} : value->v[0];
    ora_check(&(ora_case){.op = "ConstantOfShape",
                          ORA_IN(move_ints(n, values)),
                          ORA_OUT(y),
                          .tensor_name = "value",
                          .tensor = value});
}

static void move_constantofshape(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T2")
    {
        ora *value = ora_make(type, "1", ORA_EDGE, 1);
        move_constantofshape_check("2", "3 2", "3,2", value);
        move_constantofshape_check("0", "", "", value);
        move_constantofshape_check("2", "3 0", "3,0", value);
    }
    move_constantofshape_check("1", "5", "5", NULL);
    ORA_REFUSE("", row->op, NULL, ORA_IN(move_ints("1", "-1")), ORA_OUT(ora_shape(HOLO_F32, "1")));
}

/* ---- Transpose, Expand, Tile -------------------------------------------------------------------
 */

static void move_transpose_check(holo_dtype type, const char *dims, const char *attrs,
                                 const int *perm)
{
    const ora *x = move_data(type, dims);
    int64_t dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK], from[HOLO_MAX_RANK];
    for (int d = 0; d < x->rank; d++)
        dim[d] = x->dim[perm[d]];
    ora *y = ora_new(type, x->rank, dim);
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        for (int d = 0; d < x->rank; d++)
            from[perm[d]] = at[d];
        y->v[k] = x->v[ora_ravel(x, from)];
    }
    ORA_CHECK("Transpose", attrs, ORA_IN(x), ORA_OUT(y));
}

static void move_transpose(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_transpose_check(type, "3,5", NULL, (int[]){1, 0});
        move_transpose_check(type, "2,3,4", NULL, (int[]){2, 1, 0});
        move_transpose_check(type, "2,3,4", "perm=[1,0,2]", (int[]){1, 0, 2});
        move_transpose_check(type, "2,3,4,5", "perm=[0,3,1,2]", (int[]){0, 3, 1, 2});
        move_transpose_check(type, "2,3,4", "perm=[0,1,2]", (int[]){0, 1, 2});
        move_transpose_check(type, "3,0,2", "perm=[1,2,0]", (int[]){1, 2, 0});
        move_transpose_check(type, "", NULL, NULL);
        move_transpose_check(type, "17,9", "perm=[1,0]", (int[]){1, 0});
    }
}

static void move_expand_check(holo_dtype type, const char *in, const char *n, const char *shape,
                              const char *out)
{
    const ora *x = move_data(type, in);
    ora *y = ora_shape(type, out);
    int64_t at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        y->v[k] = *ora_broadcast_at(x, y->rank, at);
    }
    ORA_CHECK("Expand", NULL, ORA_IN(x, move_ints(n, shape)), ORA_OUT(y));
}

static void move_expand(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_expand_check(type, "3,1", "3", "2 1 6", "2,3,6");
        move_expand_check(type, "2,3", "2", "1 1", "2,3");
        move_expand_check(type, "", "2", "2 2", "2,2");
        move_expand_check(type, "4", "0", "", "4");
        move_expand_check(type, "1,3", "2", "0 1", "0,3");
        move_expand_check(type, "0,1", "2", "1 4", "0,4");
    }
    const ora *x = move_data(HOLO_F32, "3");
    ORA_REFUSE("", "Expand", NULL, ORA_IN(x, move_ints("1", "2")), ORA_OUT(x));
}

static void move_tile_check(holo_dtype type, const char *in, const char *n, const char *repeats,
                            const char *out)
{
    const ora *x = move_data(type, in);
    ora *y = ora_shape(type, out);
    int64_t at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        for (int d = 0; d < x->rank; d++)
            at[d] %= x->dim[d];
        y->v[k] = x->v[ora_ravel(x, at)];
    }
    ORA_CHECK("Tile", NULL, ORA_IN(x, move_ints(n, repeats)), ORA_OUT(y));
}

static void move_tile(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_tile_check(type, "2,3", "2", "2 3", "4,9");
        move_tile_check(type, "2,3,1", "3", "1 2 4", "2,6,4");
        move_tile_check(type, "5", "1", "0", "0");
        move_tile_check(type, "0,2", "2", "3 3", "0,6");
        move_tile_check(type, "", "0", "", "");
    }
}

/* ---- Concat, Split -----------------------------------------------------------------------------
 */

static void move_concat_check(holo_dtype type, const char *attrs, int axis, size_t n,
                              const char *const *shapes)
{
    ora_case c = {.op = "Concat", .attrs = attrs, .n_in = n, .n_out = 1};
    ora *first = move_data(type, shapes[0]);
    int64_t dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK];
    memcpy(dim, first->dim, sizeof dim);
    dim[axis] = 0;
    for (size_t k = 0; k < n; k++) {
        c.in[k] = ora_make(type, shapes[k], ORA_EDGE, (uint32_t)(5 * k));
        dim[axis] += c.in[k]->dim[axis];
    }
    ora *y = ora_new(type, first->rank, dim);
    int64_t base = 0;
    for (size_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < c.in[j]->count; k++) {
            ora_unravel(c.in[j], k, at);
            at[axis] += base;
            y->v[ora_ravel(y, at)] = c.in[j]->v[k];
        }
        base += c.in[j]->dim[axis];
    }
    c.out[0] = y;
    ora_check(&c);
}

static void move_concat(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_concat_check(type, "axis=0", 0, 3, (const char *const[]){"2,3", "1,3", "4,3"});
        move_concat_check(type, "axis=1", 1, 2, (const char *const[]){"2,3", "2,2"});
        move_concat_check(type, "axis=-1", 2, 2, (const char *const[]){"2,3,1", "2,3,5"});
        move_concat_check(type, "axis=-2", 0, 2, (const char *const[]){"0,3", "2,3"});
        move_concat_check(type, "axis=0", 0, 1, (const char *const[]){"5"});
        move_concat_check(type, "axis=0", 0, 2, (const char *const[]){"0", "0"});
    }
}

static void move_split_check(holo_dtype type, const char *dims, const char *attrs, int axis, int n,
                             const int64_t *parts, bool given)
{
    const ora *x = move_data(type, dims);
    ora_case c = {.op = "Split", .attrs = attrs, .n_in = given ? 2 : 1, .n_out = (size_t)n};
    int64_t at[HOLO_MAX_RANK], dim[HOLO_MAX_RANK], base = 0;
    memcpy(dim, x->dim, sizeof dim);
    for (int j = 0; j < n; j++) {
        dim[axis] = parts[j];
        ora *y = ora_new(type, x->rank, dim);
        for (int64_t k = 0; k < y->count; k++) {
            ora_unravel(y, k, at);
            at[axis] += base;
            y->v[k] = x->v[ora_ravel(x, at)];
        }
        base += parts[j];
        c.out[j] = y;
    }
    c.in[0] = x;
    if (given) c.in[1] = ora_param(ora_ints(HOLO_I64, n, parts));
    ora_check(&c);
}

static void move_split(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_split_check(type, "6,2", "num_outputs=3", 0, 3, (int64_t[]){2, 2, 2}, false);
        move_split_check(type, "2,7", "num_outputs=3 axis=1", 1, 3, (int64_t[]){3, 3, 1}, false);
        move_split_check(type, "2,7", "num_outputs=1 axis=-1", 1, 1, (int64_t[]){7}, false);
        move_split_check(type, "7,2", NULL, 0, 3, (int64_t[]){2, 0, 5}, true);
        move_split_check(type, "2,3,4", "axis=-1", 2, 2, (int64_t[]){1, 3}, true);
        move_split_check(type, "2,0", "axis=-1", 1, 2, (int64_t[]){0, 0}, true);
    }
    const ora *x = move_data(HOLO_F32, "5");
    ORA_REFUSE("", "Split", NULL, ORA_IN(x, move_ints("2", "2 2")), ORA_OUT(x, x));
}

/* ---- Slice -------------------------------------------------------------------------------------
 */

typedef struct move_slice {
    const char *in, *n, *start, *end, *axes, *step; /* axes, step NULL: absent */
} move_slice;

/* One axis, by the standard's words: add the size to negative numbers, then clamp. */
static int64_t move_slice_axis(int64_t size, int64_t *start, int64_t end, int64_t step)
{
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    int64_t count = 0;
    if (*start < 0) *start += *start < -size ? 0 : size;
    *start = *start < 0 ? 0 : *start > high ? high : *start;
    if (*start < low) *start = low;
    if (end < 0) end = end < -size ? low : end + size;
    end = end > (step > 0 ? size : size) ? size : end;
    if (end < low) end = low;
    for (int64_t k = *start; (step > 0 ? k < end : k > end) && k >= 0 && k < size; k += step) {
        count++;
        if (step > size || step < -size) break;
    }
    return count;
}

static void move_slice_check(holo_dtype type, holo_dtype index, const move_slice *s)
{
    const ora *x = move_data(type, s->in);
    ora *start = ora_param(ora_of(index, s->n, s->start)),
        *end = ora_param(ora_of(index, s->n, s->end));
    ora *axes = s->axes == NULL ? NULL : ora_param(ora_of(index, s->n, s->axes));
    ora *step = s->step == NULL ? NULL : ora_param(ora_of(index, s->n, s->step));
    int64_t dim[HOLO_MAX_RANK], first[HOLO_MAX_RANK] = {0}, by[HOLO_MAX_RANK], at[HOLO_MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        dim[d] = x->dim[d];
        by[d] = 1;
    }
    for (int64_t k = 0; k < start->count; k++) {
        int64_t axis = axes == NULL ? k : (int64_t)axes->v[k].i;
        if (axis < 0) axis += x->rank;
        by[axis] = step == NULL ? 1 : (int64_t)step->v[k].i;
        first[axis] = (int64_t)start->v[k].i;
        dim[axis] = move_slice_axis(x->dim[axis], &first[axis], (int64_t)end->v[k].i, by[axis]);
    }
    ora *y = ora_new(type, x->rank, dim);
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        for (int d = 0; d < x->rank; d++)
            at[d] = first[d] + at[d] * by[d];
        y->v[k] = x->v[ora_ravel(x, at)];
    }
    ORA_CHECK("Slice", NULL, ORA_IN(x, start, end, axes, step), ORA_OUT(y));
}

static void move_slice_run(const ora_row *row)
{
    static const move_slice table[] = {
        {"5,6", "2", "1 2", "4 5", NULL, NULL},
        {"5,6", "1", "-3", "2147483647", "1", NULL},
        {"5,6", "1", "-1", "-2147483648", "0", "-1"},
        {"5,6", "2", "4 5", "0 -100", "-2 -1", "-2 -3"},
        {"5,6", "1", "9", "20", "0", "1"},
        {"5,6", "1", "3", "1", "0", "1"},
        {"5,6", "1", "-100", "3", "0", "2"},
        {"5,6", "1", "0", "5", "1", "2147483647"},
        {"5,6", "1", "5", "-2147483648", "1", "-2147483648"},
        {"0,4", "2", "0 1", "5 -1", "0 1", "1 1"},
        {"7", "1", "100", "-100", "0", "-1"},
    };
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        move_slice_check(type, HOLO_I64, &table[k]);
        if (type == HOLO_F32) move_slice_check(type, HOLO_I32, &table[k]);
    }
    static const move_slice wide_table[] = {
        {"5", "1", "-9223372036854775808", "9223372036854775807", "0", "9223372036854775807"},
        {"5", "1", "9223372036854775807", "-9223372036854775808", "0", "-1"},
        {"5", "1", "9223372036854775807", "-9223372036854775808", "0", "-9223372036854775808"},
    };
    for (size_t k = 0; k < 3; k++)
        move_slice_check(HOLO_F32, HOLO_I64, &wide_table[k]);
    const ora *x = move_data(HOLO_F32, "5");
    ORA_REFUSE("", "Slice", NULL,
               ORA_IN(x, move_ints("1", "0"), move_ints("1", "5"), NULL, move_ints("1", "0")),
               ORA_OUT(x));
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

static void move_block_check(holo_dtype type, bool to_depth, bool column, const char *dims,
                             int64_t b, const char *attrs)
{
    /* `deep` [n, c*b*b, h, w], `flat` [n, c, h*b, w*b]; one of them is the input. */
    ora *x = move_data(type, dims);
    const int64_t c = to_depth ? x->dim[1] : x->dim[1] / (b * b);
    const int64_t h = to_depth ? x->dim[2] / b : x->dim[2],
                  w = to_depth ? x->dim[3] / b : x->dim[3];
    const ora deep = {.rank = 4, .dim = {x->dim[0], c * b * b, h, w}};
    const ora flat = {.rank = 4, .dim = {x->dim[0], c, h * b, w * b}};
    ora *y = ora_new(type, 4, to_depth ? deep.dim : flat.dim);
    for (int64_t k = 0; k < x->count; k++) {
        int64_t at[4], to[4];
        ora_unravel(&flat, k, at);
        const int64_t p = at[2] % b, q = at[3] % b;
        to[0] = at[0];
        to[1] = column ? (at[1] * b + p) * b + q : (p * b + q) * c + at[1];
        to[2] = at[2] / b;
        to[3] = at[3] / b;
        if (to_depth)
            y->v[ora_ravel(&deep, to)] = x->v[k];
        else
            y->v[k] = x->v[ora_ravel(&deep, to)];
    }
    ORA_CHECK(to_depth ? "SpaceToDepth" : "DepthToSpace", attrs, ORA_IN(x), ORA_OUT(y));
}

static void move_depthtospace(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_block_check(type, false, false, "2,8,2,3", 2, "blocksize=2");
        move_block_check(type, false, false, "1,9,1,2", 3, "blocksize=3 mode=\"DCR\"");
        move_block_check(type, false, true, "2,8,2,3", 2, "blocksize=2 mode=\"CRD\"");
        move_block_check(type, false, false, "0,4,2,2", 2, "blocksize=2");
        move_block_check(type, false, true, "1,3,2,2", 1, "blocksize=1 mode=\"CRD\"");
    }
}

static void move_spacetodepth(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_block_check(type, true, false, "2,3,4,6", 2, "blocksize=2");
        move_block_check(type, true, false, "1,1,3,3", 3, "blocksize=3");
        move_block_check(type, true, false, "1,2,0,4", 2, "blocksize=2");
    }
}

/* ---- Pad, CenterCropPad ------------------------------------------------------------------------
 */

/* Where place k of a padded axis comes from, or -1: the value. */
static int64_t move_pad_source(const char *mode, int64_t size, int64_t k)
{
    if (k >= 0 && k < size) return k;
    if (strcmp(mode, "edge") == 0) return size == 0 ? -1 : k < 0 ? 0 : size - 1;
    if (strcmp(mode, "wrap") == 0) return size == 0 ? -1 : ((k % size) + size) % size;
    if (strcmp(mode, "constant") == 0 || size == 0) return -1;
    if (size == 1) return 0;
    const int64_t period = 2 * (size - 1), m = ((k % period) + period) % period;
    return m < size ? m : period - m;
}

typedef struct move_pad {
    const char *in, *n, *pads, *axes, *mode;
} move_pad;

/* Negative pads drop elements first; what is left is padded. */
static void move_pad_check(holo_dtype type, holo_dtype index, const move_pad *p, const ora *value)
{
    const ora *x = move_data(type, p->in);
    ora *pads = ora_param(ora_of(HOLO_I64, p->n, p->pads)), *axes = NULL;
    const int n = (int)pads->count / 2;
    int64_t low[HOLO_MAX_RANK] = {0}, high[HOLO_MAX_RANK] = {0}, dim[HOLO_MAX_RANK];
    char text[16], attrs[40];
    snprintf(text, sizeof text, "%d", n);
    snprintf(attrs, sizeof attrs, "mode=\"%s\"", p->mode);
    if (p->axes != NULL) axes = ora_param(ora_of(index, text, p->axes));
    for (int k = 0; k < n; k++) {
        int64_t axis = axes == NULL ? k : (int64_t)axes->v[k].i;
        if (axis < 0) axis += x->rank;
        low[axis] = (int64_t)pads->v[k].i;
        high[axis] = (int64_t)pads->v[k + n].i;
    }
    for (int d = 0; d < x->rank; d++)
        dim[d] = x->dim[d] + low[d] + high[d];
    ora *y = ora_new(type, x->rank, dim);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        bool inside = true;
        ora_unravel(y, k, at);
        for (int d = 0; d < x->rank && inside; d++) {
            const int64_t cut = low[d] < 0 ? -low[d] : 0, end = high[d] < 0 ? -high[d] : 0;
            const int64_t grow = low[d] > 0 ? low[d] : 0;
            at[d] = move_pad_source(p->mode, x->dim[d] - cut - end, at[d] - grow);
            inside = at[d] >= 0;
            at[d] += cut;
        }
        y->v[k] = inside          ? x->v[ora_ravel(x, at)]
                  : value != NULL ? value->v[0]
                                  : (wide){.s = {"", 0}};
    }
    ORA_CHECK("Pad", attrs, ORA_IN(x, pads, value, axes), ORA_OUT(y));
}

static void move_pad_run(const ora_row *row)
{
    static const move_pad table[] = {
        {"3,4", "4", "1 0 2 3", NULL, "constant"}, {"3,4", "4", "-1 0 1 -2", NULL, "constant"},
        {"3,4", "2", "1 2", "-1", "constant"},     {"0,2", "4", "1 1 1 0", NULL, "constant"},
        {"3,4", "4", "1 2 2 3", NULL, "edge"},     {"3,4", "4", "-1 2 2 -1", NULL, "edge"},
        {"3,4", "4", "2 1 1 3", NULL, "reflect"},  {"3,4", "4", "-1 1 1 -1", NULL, "reflect"},
        {"3,4", "4", "4 1 2 5", NULL, "wrap"},     {"3,4", "4", "-1 2 2 -1", NULL, "wrap"},
        {"3,4", "4", "0 0 0 0", NULL, "wrap"},     {"", "0", "", NULL, "constant"},
        {"2,3,4", "4", "1 -1 0 2", "0 2", "edge"},
    };
    ORA_EACH_TYPE(type, row->op, "T")
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        const ora *value = ora_param(ora_make(type, "", ORA_EDGE, 1));
        if (type == HOLO_F8E8M0) { /* has no 0 to pad with */
            if (strcmp(table[k].mode, "constant") == 0)
                move_pad_check(type, HOLO_I64, &table[k], value);
            else
                move_pad_check(type, HOLO_I64, &table[k], NULL);
            continue;
        }
        move_pad_check(type, HOLO_I64, &table[k], NULL);
        if (strcmp(table[k].mode, "constant") == 0)
            move_pad_check(type, HOLO_I64, &table[k], value);
        if (type == HOLO_F32) move_pad_check(type, HOLO_I32, &table[k], NULL);
    }
}

static void move_crop_check(holo_dtype type, holo_dtype index, const char *in, const char *attrs,
                            const char *n, const char *shape, const char *out)
{
    const ora *x = move_data(type, in);
    ora *y = ora_shape(type, out);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        bool inside = true;
        ora_unravel(y, k, at);
        for (int d = 0; d < x->rank; d++) {
            const int64_t less = x->dim[d] - y->dim[d];
            at[d] += less > 0 ? less / 2 : -(-less / 2);
            inside = inside && at[d] >= 0 && at[d] < x->dim[d];
        }
        y->v[k] = inside ? x->v[ora_ravel(x, at)] : (wide){.s = {"", 0}};
    }
    ORA_CHECK("CenterCropPad", attrs, ORA_IN(x, ora_param(ora_of(index, n, shape))), ORA_OUT(y));
}

static void move_centercroppad(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_crop_check(type, HOLO_I64, "5,4", NULL, "2", "2 7", "2,7");
        move_crop_check(type, HOLO_I32, "5,4", NULL, "2", "8 1", "8,1");
        move_crop_check(type, HOLO_I64, "5,4,3", "axes=[-1,0]", "2", "4 2", "2,4,4");
        move_crop_check(type, HOLO_I64, "0,3", "axes=[0]", "1", "2", "2,3");
        move_crop_check(type, HOLO_I64, "3,3", "axes=[1]", "1", "0", "3,0");
    }
}

/* ---- triangles and diagonals -------------------------------------------------------------------
 */

static void move_trilu_check(holo_dtype type, const char *dims, bool upper, int64_t shift,
                             bool given)
{
    const ora *x = move_data(type, dims);
    ora *y = ora_like(x, type);
    for (int64_t k = 0; k < x->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(x, k, at);
        const int64_t row = at[x->rank - 2], column = at[x->rank - 1];
        const bool keep = upper ? column - row >= shift : column - row <= shift;
        y->v[k] = keep ? x->v[k] : (wide){.s = {"", 0}};
    }
    const ora *by = given ? ora_param(ora_scalar(HOLO_I64, (long double)shift)) : NULL;
    ORA_CHECK("Trilu", upper ? NULL : "upper=0", ORA_IN(x, by), ORA_OUT(y));
}

static void move_trilu(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int upper = 0; upper < 2; upper++) {
        move_trilu_check(type, "3,4", upper, 0, false);
        for (int64_t shift = -4; shift <= 5; shift += 3)
            move_trilu_check(type, "2,4,3", upper, shift, true);
        move_trilu_check(type, "0,3", upper, 1, true);
        move_trilu_check(type, "3,3", upper, INT64_C(1) << 40, true);
        move_trilu_check(type, "3,3", upper, -(INT64_C(1) << 40), true);
    }
}

static void move_eyelike_check(const ora *x, holo_dtype to, bool typed, int64_t shift)
{
    char attrs[60] = "";
    ora *y = ora_like(x, to);
    for (int64_t k = 0; k < y->count; k++)
        if (k % y->dim[1] - k / y->dim[1] == shift) y->v[k] = ora_wide(to, 1);
    if (typed)
        snprintf(attrs, sizeof attrs, "dtype=%d k=%lld", (int)to, (long long)shift);
    else
        snprintf(attrs, sizeof attrs, "k=%lld", (long long)shift);
    ORA_CHECK("EyeLike", attrs, ORA_IN(x), ORA_OUT(y));
}

static void move_eyelike(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    {
        move_eyelike_check(move_data(type, "3,4"), type, false, 1);
        move_eyelike_check(move_data(type, "4,3"), type, false, -2);
        move_eyelike_check(move_data(type, "0,3"), type, false, 0);
        move_eyelike_check(move_data(HOLO_F32, "3,3"), type, true, 0);
        move_eyelike_check(move_data(HOLO_I32, "2,5"), type, true, 9);
    }
}

/* ---- choice ------------------------------------------------------------------------------------
 */

static void move_where_check(holo_dtype type, const char *c, const char *a, const char *b)
{
    ora *in[] = {ora_make(HOLO_BOOL, c, ORA_SMALL, 3), move_data(type, a),
                 ora_make(type, b, ORA_EDGE, 9)};
    ora *y = ora_broadcast_new(type, 3, in);
    int64_t at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        y->v[k] =
            *ora_broadcast_at(in[ora_broadcast_at(in[0], y->rank, at)->i ? 1 : 2], y->rank, at);
    }
    ORA_CHECK("Where", NULL, ORA_IN(in[0], in[1], in[2]), ORA_OUT(y));
}

static void move_where(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_where_check(type, "3,7", "3,7", "3,7");
        move_where_check(type, "3,1", "7", "");
        move_where_check(type, "", "2,3", "3");
        move_where_check(type, "", "", "");
        move_where_check(type, "2,1,1", "3,1", "4");
        move_where_check(type, "0,3", "1", "3");
        move_where_check(type, "1", "2,0", "2,1");
    }
}

static void move_reversesequence_check(holo_dtype type, bool time_first, const char *lengths)
{
    const ora *x = move_data(type, "4,3,2");
    const int batch = time_first ? 1 : 0, time = 1 - batch;
    ora *y = ora_like(x, type), *n = ora_of(HOLO_I64, time_first ? "3" : "4", lengths);
    for (int64_t k = 0; k < x->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(x, k, at);
        const int64_t length = (int64_t)n->v[at[batch]].i;
        if (at[time] < length) at[time] = length - 1 - at[time];
        y->v[k] = x->v[ora_ravel(x, at)];
    }
    ORA_CHECK("ReverseSequence", time_first ? NULL : "time_axis=1 batch_axis=0", ORA_IN(x, n),
              ORA_OUT(y));
}

static void move_reversesequence(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_reversesequence_check(type, true, "1 4 3");
        move_reversesequence_check(type, false, "3 2 1 3");
        const ora *empty = ora_shape(type, "2,0"), *none = ora_shape(HOLO_I64, "0");
        ORA_CHECK("ReverseSequence", NULL, ORA_IN(empty, none), ORA_OUT(empty));
    }
    const ora *x = move_data(HOLO_F32, "2,2");
    ORA_REFUSE("3", "ReverseSequence", NULL, ORA_IN(x, ora_of(HOLO_I64, "2", "1 3")), ORA_OUT(x));
}

/* ---- Range -------------------------------------------------------------------------------------
 */

static void move_range_check(holo_dtype type, long double start, long double limit,
                             long double step)
{
    const int64_t count = (int64_t)ceill((limit - start) / step);
    ora *y = ora_new(type, 1, (int64_t[]){count < 0 ? 0 : count});
    for (int64_t k = 0; k < y->count; k++) {
        y->v[k] = ora_wide(type, start + (long double)k * step);
        if (ora_is_float(type)) y->v[k].tol = fabsl(y->v[k].re) * ora_eps(type);
    }
    ORA_CHECK("Range", NULL,
              ORA_IN(ora_param(ora_scalar(type, start)), ora_param(ora_scalar(type, limit)),
                     ora_param(ora_scalar(type, step))),
              ORA_OUT(y));
}

static void move_range(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        move_range_check(type, 1, 10, 3);
        move_range_check(type, 10, -4, -5);
        move_range_check(type, 3, 3, 1);
        move_range_check(type, 5, 1, 1);
        move_range_check(type, 0, 100, 1);
        if (ora_is_float(type)) move_range_check(type, -1, 1, 0.25L);
    }
    ORA_REFUSE("", "Range", NULL,
               ORA_IN(ora_scalar(HOLO_I32, 1), ora_scalar(HOLO_I32, 2), ora_scalar(HOLO_I32, 0)),
               ORA_OUT(ora_shape(HOLO_I32, "1")));
    move_range_check(HOLO_I16, 32760, 32767, 3);
}

const ora_row ora_rows_move[] = {
    {"CenterCropPad", move_centercroppad, NULL},
    {"Concat", move_concat, NULL},
    {"ConstantOfShape", move_constantofshape, NULL},
    {"DepthToSpace", move_depthtospace, NULL},
    {"Expand", move_expand, NULL},
    {"EyeLike", move_eyelike, NULL},
    {"Flatten", move_flatten, NULL},
    {"Identity", move_identity, NULL},
    {"Pad", move_pad_run, NULL},
    {"Range", move_range, NULL},
    {"Reshape", move_reshape_run, move_reshape},
    {"ReverseSequence", move_reversesequence, NULL},
    {"Shape", move_shape, NULL},
    {"Size", move_size, NULL},
    {"Slice", move_slice_run, NULL},
    {"SpaceToDepth", move_spacetodepth, NULL},
    {"Split", move_split, NULL},
    {"Squeeze", move_views, move_squeeze},
    {"Tile", move_tile, NULL},
    {"Transpose", move_transpose, NULL},
    {"Trilu", move_trilu, NULL},
    {"Unsqueeze", move_views, move_unsqueeze},
    {"Where", move_where, NULL},
    {NULL, NULL, NULL},
};

static void move_rows(void)
{
    ora_run(ora_rows_move);
}

const hg_test_case hg_tests_oracle_move[] = {{"rows", move_rows}, {0}};
