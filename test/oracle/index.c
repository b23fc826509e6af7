/* index.c - elements found or placed by indices, by a condition or by order. */
#include "oracle/oracle.h"

#include <stdio.h>

static ora *index_data(holo_dtype type, const char *dims)
{
    return ora_make(type, dims, ORA_EDGE, (uint32_t)strlen(dims) + 2);
}

static int64_t index_of(const wide *w, int64_t size)
{
    const int64_t i = (int64_t)w->i;
    return i < 0 ? i + size : i;
}

static const char *index_axis(const char *format, int64_t axis)
{
    char *text = ora_alloc(40);
    snprintf(text, 40, format, (long long)axis);
    return text;
}

/* ---- Gather ------------------------------------------------------------------------------------
 */

static void index_gather_check(holo_dtype type, const char *dims, int64_t axis, const ora *indices)
{
    const ora *x = index_data(type, dims);
    const int at_axis = (int)(axis < 0 ? axis + x->rank : axis);
    int64_t dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK], from[HOLO_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < x->rank; d++) {
        if (d != at_axis) dim[rank++] = x->dim[d];
        for (int k = 0; d == at_axis && k < indices->rank; k++)
            dim[rank++] = indices->dim[k];
    }
    ora *y = ora_new(type, rank, dim);
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        for (int d = 0; d < x->rank; d++)
            from[d] = d == at_axis ? 0 : at[d < at_axis ? d : d + indices->rank - 1];
        from[at_axis] = index_of(&indices->v[ora_ravel(indices, at + at_axis)], x->dim[at_axis]);
        y->v[k] = x->v[ora_ravel(x, from)];
    }
    ORA_CHECK("Gather", index_axis("axis=%lld", axis), ORA_IN(x, indices), ORA_OUT(y));
}

static void index_gather(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        index_gather_check(type, "4,3", 0, ora_of(HOLO_I64, "2,2", "0 -1 3 -4"));
        index_gather_check(type, "4,3,2", 1, ora_of(HOLO_I32, "3", "2 0 -2"));
        index_gather_check(type, "4,3", -1, ora_of(HOLO_I64, "", "-3"));
        index_gather_check(type, "7", 0, ora_of(HOLO_I64, "", "6"));
        index_gather_check(type, "4,3", 0, ora_of(HOLO_I64, "0", ""));
        index_gather_check(type, "4,0", 0, ora_of(HOLO_I64, "2", "1 -1"));
    }
    const ora *x = index_data(HOLO_F32, "4,3");
    ORA_REFUSE("index 4 at element 1 is outside -4 to 3", row->op, NULL,
               ORA_IN(x, ora_of(HOLO_I64, "2", "0 4")), ORA_OUT(x));
    ORA_REFUSE("outside", row->op, NULL, ORA_IN(x, ora_of(HOLO_I32, "2", "0 -2147483648")),
               ORA_OUT(x));
    ORA_REFUSE("outside", row->op, NULL,
               ORA_IN(ora_shape(HOLO_F32, "0,3"), ora_of(HOLO_I64, "1", "0")), ORA_OUT(x));
}

static void index_gatherelements_check(holo_dtype type, const char *dims, int64_t axis,
                                       const ora *indices)
{
    const ora *x = index_data(type, dims);
    const int along = (int)(axis < 0 ? axis + x->rank : axis);
    ora *y = ora_like(indices, type);
    int64_t at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        at[along] = index_of(&indices->v[k], x->dim[along]);
        y->v[k] = x->v[ora_ravel(x, at)];
    }
    ORA_CHECK("GatherElements", index_axis("axis=%lld", axis), ORA_IN(x, indices), ORA_OUT(y));
}

static void index_gatherelements(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        index_gatherelements_check(type, "3,3", 0, ora_of(HOLO_I64, "2,3", "1 -1 0 2 0 -3"));
        index_gatherelements_check(type, "3,4", -1, ora_of(HOLO_I32, "3,2", "3 0 -4 1 2 2"));
        index_gatherelements_check(type, "5", 0, ora_of(HOLO_I64, "7", "4 0 1 2 3 -5 -1"));
        index_gatherelements_check(type, "5,2", 0, ora_of(HOLO_I64, "0,2", ""));
    }
    const ora *x = index_data(HOLO_F32, "3");
    ORA_REFUSE("index -4", row->op, NULL, ORA_IN(x, ora_of(HOLO_I64, "1", "-4")), ORA_OUT(x));
}

static void index_gathernd_check(holo_dtype type, const char *dims, int64_t batch,
                                 const ora *indices, const char *out)
{
    const ora *x = index_data(type, dims);
    const int q = indices->rank, b = (int)batch;
    const int64_t tuple = indices->dim[q - 1];
    ora *y = ora_shape(type, out);
    int64_t at[HOLO_MAX_RANK], from[HOLO_MAX_RANK];
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        int64_t row = 0;
        for (int d = 0; d < q - 1; d++)
            row = row * indices->dim[d] + at[d];
        for (int d = 0; d < x->rank; d++) {
            if (d < b)
                from[d] = at[d];
            else if (d < b + tuple)
                from[d] = index_of(&indices->v[row * tuple + d - b], x->dim[d]);
            else
                from[d] = at[q - 1 + d - b - (int)tuple];
        }
        y->v[k] = x->v[ora_ravel(x, from)];
    }
    ORA_CHECK("GatherND", index_axis("batch_dims=%lld", batch), ORA_IN(x, indices), ORA_OUT(y));
}

/* The length of a tuple decides the rank of the result. */
static ora *index_tuples(const char *dims, const char *values)
{
    return ora_sized(ora_of(HOLO_I64, dims, values));
}

static void index_gathernd(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        index_gathernd_check(type, "2,3", 0, index_tuples("2,2", "0 -1 -2 1"), "2");
        index_gathernd_check(type, "2,3,2", 0, index_tuples("2,1", "1 0"), "2,3,2");
        index_gathernd_check(type, "2,3,2", 0, index_tuples("2,1,2", "0 2 -1 -3"), "2,1,2");
        index_gathernd_check(type, "2,3,2", 1, index_tuples("2,1", "1 -1"), "2,2");
        index_gathernd_check(type, "2,2,3", 2, index_tuples("2,2,1", "0 1 2 -1"), "2,2");
        index_gathernd_check(type, "2,3", 0, index_tuples("0,2", ""), "0");
    }
    const ora *x = index_data(HOLO_F32, "2,3");
    ORA_REFUSE("index 3", row->op, NULL, ORA_IN(x, index_tuples("1,2", "1 3")), ORA_OUT(x));
}

/* ---- Scatter -----------------------------------------------------------------------------------
 */

static const char *const index_reductions[] = {"none", "add", "mul", "max", "min"};

/* Adds of bool are or, products and, as 0 and 1 go. */
static wide index_reduce(holo_dtype type, int how, const wide *a, const wide *b)
{
    wide w = *b;
    if (how == 0) return w;
    if (ora_is_float(type)) {
        const long double eps = ora_eps(type);
        if (how == 1) w.re = a->re + b->re;
        if (how == 2) w.re = a->re * b->re;
        if (how == 3) w.re = isnan(a->re) || isnan(b->re) ? NAN : fmaxl(a->re, b->re);
        if (how == 4) w.re = isnan(a->re) || isnan(b->re) ? NAN : fminl(a->re, b->re);
        if (how <= 2 && isfinite(w.re))
            w.tol = ora_ulp(type, w.re) + 4 * eps * (fabsl(a->re) + fabsl(b->re));
        return w;
    }
    if (how == 1) w.i = ora_wrap(type, a->i + b->i);
    if (how == 2) w.i = ora_wrap(type, a->i * b->i);
    if (how == 3) w.i = ora_int_less(type, a->i, b->i) ? b->i : a->i;
    if (how == 4) w.i = ora_int_less(type, a->i, b->i) ? a->i : b->i;
    if (type == HOLO_BOOL) w.i = w.i != 0;
    return w;
}

static bool index_can_reduce(holo_dtype type, int how)
{
    if (how == 0) return true;
    return ora_is_float(type) || ora_is_int(type);
}

static void index_scatterelements_check(const char *op, holo_dtype type, const char *dims,
                                        int64_t axis, const ora *indices, int how)
{
    const ora *x = ora_make(type, dims, ORA_SMALL, 1);
    const ora *updates = ora_make(type, ora_dims_text(indices), ORA_SMALL, 5);
    const int along = (int)(axis < 0 ? axis + x->rank : axis);
    ora *y = ora_like(x, type);
    memcpy(y->v, x->v, (size_t)x->count * sizeof *x->v);
    char attrs[80];
    if (strcmp(op, "Scatter") == 0)
        snprintf(attrs, sizeof attrs, "axis=%lld", (long long)axis);
    else
        snprintf(attrs, sizeof attrs, "axis=%lld reduction=\"%s\"", (long long)axis,
                 index_reductions[how]);
    for (int64_t k = 0; k < indices->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(indices, k, at);
        at[along] = index_of(&indices->v[k], x->dim[along]);
        wide *to = &y->v[ora_ravel(x, at)];
        *to = index_reduce(type, how, to, &updates->v[k]);
    }
    ora_check(&(ora_case){.op = op,
                          .attrs = attrs,
                          ORA_IN(x, indices, updates),
                          ORA_OUT(y),
                          .opset = strcmp(op, "Scatter") == 0 ? 10 : 0});
}

static void index_scatterelements(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int how = 0; how < 5; how++) {
        if (!index_can_reduce(type, how)) continue;
        index_scatterelements_check(row->op, type, "3,3", 0,
                                    ora_of(HOLO_I64, "2,3", "1 0 2 0 -1 1"), how);
        index_scatterelements_check(row->op, type, "2,5", -1, ora_of(HOLO_I32, "2,2", "1 3 -5 4"),
                                    how);
        index_scatterelements_check(row->op, type, "4", 0, ora_of(HOLO_I64, "0", ""), how);
        if (how > 0)
            index_scatterelements_check(row->op, type, "3", 0, ora_of(HOLO_I64, "5", "1 1 -2 0 1"),
                                        how);
    }
    const ora *x = index_data(HOLO_F32, "3");
    ORA_REFUSE("index 3", row->op, NULL,
               ORA_IN(x, ora_of(HOLO_I64, "1", "3"), ora_of(HOLO_F32, "1", "1")), ORA_OUT(x));
}

/* The operator's older name, of opset 9. */
static void index_scatter(const ora_row *row)
{
    index_scatterelements_check(row->op, HOLO_F32, "3,3", 0, ora_of(HOLO_I64, "2,3", "1 0 2 0 2 1"),
                                0);
    index_scatterelements_check(row->op, HOLO_I8, "2,5", 1, ora_of(HOLO_I32, "2,2", "1 3 0 4"), 0);
}

static void index_scatternd_check(holo_dtype type, const char *dims, const ora *indices,
                                  const char *update_dims, int how)
{
    const ora *x = ora_make(type, dims, ORA_SMALL, 1);
    const ora *updates = ora_make(type, update_dims, ORA_SMALL, 5);
    const int64_t tuple = indices->dim[indices->rank - 1];
    ora *y = ora_like(x, type);
    int64_t block = 1, rows = 1;
    memcpy(y->v, x->v, (size_t)x->count * sizeof *x->v);
    for (int d = (int)tuple; d < x->rank; d++)
        block *= x->dim[d];
    for (int d = 0; d < indices->rank - 1; d++)
        rows *= indices->dim[d];
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = 0;
        for (int d = 0; d < tuple; d++)
            at = at * x->dim[d] + index_of(&indices->v[r * tuple + d], x->dim[d]);
        for (int64_t k = 0; k < block; k++) {
            wide *to = &y->v[at * block + k];
            *to = index_reduce(type, how, to, &updates->v[r * block + k]);
        }
    }
    char attrs[40];
    snprintf(attrs, sizeof attrs, "reduction=\"%s\"", index_reductions[how]);
    ORA_CHECK("ScatterND", attrs, ORA_IN(x, indices, updates), ORA_OUT(y));
}

static void index_scatternd(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int how = 0; how < 5; how++) {
        if (!index_can_reduce(type, how)) continue;
        index_scatternd_check(type, "8", index_tuples("4,1", "4 3 -7 -1"), "4", how);
        index_scatternd_check(type, "4,3", index_tuples("2,1", "0 -2"), "2,3", how);
        index_scatternd_check(type, "2,3,2", index_tuples("2,1,2", "0 2 -1 0"), "2,1,2", how);
        index_scatternd_check(type, "2,3", index_tuples("0,2", ""), "0", how);
        if (how > 0) index_scatternd_check(type, "3", index_tuples("3,1", "1 1 -2"), "3", how);
    }
    const ora *x = index_data(HOLO_F32, "2,2");
    ORA_REFUSE("index -3", row->op, NULL,
               ORA_IN(x, index_tuples("1,1", "-3"), ora_of(HOLO_F32, "1,2", "1 1")), ORA_OUT(x));
}

static void index_tensorscatter_check(holo_dtype type, const char *attrs, int axis, bool circular,
                                      const char *update_dims, const ora *where)
{
    const ora *x = index_data(type, "2,4,3"), *update = ora_make(type, update_dims, ORA_SMALL, 3);
    ora *y = ora_like(x, type);
    memcpy(y->v, x->v, (size_t)x->count * sizeof *x->v);
    for (int64_t k = 0; k < update->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(update, k, at);
        at[axis] += where == NULL ? 0 : (int64_t)where->v[at[0]].i;
        if (circular) at[axis] %= x->dim[axis];
        y->v[ora_ravel(x, at)] = update->v[k];
    }
    ORA_CHECK("TensorScatter", attrs, ORA_IN(x, update, where), ORA_OUT(y));
}

static void index_tensorscatter(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        index_tensorscatter_check(type, NULL, 1, false, "2,2,3", NULL);
        index_tensorscatter_check(type, "axis=1", 1, false, "2,2,3", ora_of(HOLO_I64, "2", "2 1"));
        index_tensorscatter_check(type, "axis=-1 mode=\"circular\"", 2, true, "2,4,2",
                                  ora_of(HOLO_I64, "2", "2 1"));
        index_tensorscatter_check(type, "mode=\"circular\"", 1, true, "2,3,3",
                                  ora_of(HOLO_I64, "2", "3 0"));
    }
    const ora *x = index_data(HOLO_F32, "2,4,3"), *u = index_data(HOLO_F32, "2,2,3");
    ORA_REFUSE("", row->op, NULL, ORA_IN(x, u, ora_of(HOLO_I64, "2", "3 0")), ORA_OUT(x));
}

/* ---- Compress, NonZero, OneHot -----------------------------------------------------------------
 */

static void index_compress_check(holo_dtype type, const char *dims, int axis, const char *attrs,
                                 const ora *keep)
{
    const ora *x = index_data(type, dims);
    const ora flat = {.rank = 1, .dim = {x->count}, .count = x->count};
    const ora *shape = axis < 0 ? &flat : x;
    const int along = axis < 0 ? 0 : axis;
    int64_t dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK], map[64], n = 0;
    for (int64_t k = 0; k < keep->count && k < shape->dim[along]; k++)
        if (keep->v[k].i) map[n++] = k;
    memcpy(dim, shape->dim, sizeof dim);
    dim[along] = n;
    ora *y = ora_new(type, shape->rank, dim);
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        at[along] = map[at[along]];
        y->v[k] = x->v[ora_ravel(shape, at)];
    }
    ORA_CHECK("Compress", attrs, ORA_IN(x, keep), ORA_OUT(y));
}

static void index_compress(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        index_compress_check(type, "3,4", 0, "axis=0", ora_of(HOLO_BOOL, "3", "1 0 1"));
        index_compress_check(type, "3,4", 1, "axis=-1", ora_of(HOLO_BOOL, "2", "0 1"));
        index_compress_check(type, "3,4", -1, NULL, ora_of(HOLO_BOOL, "6", "0 1 1 0 0 1"));
        index_compress_check(type, "3,4", 0, "axis=0", ora_of(HOLO_BOOL, "3", "0 0 0"));
        index_compress_check(type, "0,4", 0, "axis=0", ora_of(HOLO_BOOL, "0", ""));
    }
}

static bool index_is_zero(holo_dtype type, const wide *w)
{
    if (type == HOLO_STRING) return w->s.length == 0;
    return ora_is_float(type) || ora_is_complex(type) ? w->re == 0 && w->im == 0 : w->i == 0;
}

static void index_nonzero_check(const ora *x)
{
    int64_t n = 0, at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < x->count; k++)
        n += !index_is_zero(x->type, &x->v[k]);
    ora *y = ora_new(HOLO_I64, 2, (int64_t[]){x->rank, n});
    n = 0;
    for (int64_t k = 0; k < x->count; k++) {
        if (index_is_zero(x->type, &x->v[k])) continue;
        ora_unravel(x, k, at);
        for (int d = 0; d < x->rank; d++)
            y->v[d * y->dim[1] + n].i = (uint64_t)at[d];
        n++;
    }
    ORA_CHECK("NonZero", NULL, ORA_IN(x), ORA_OUT(y));
}

static void index_nonzero(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        index_nonzero_check(index_data(type, "3,7"));
        index_nonzero_check(ora_make(type, "2,3,4", ORA_SMALL, 4));
        index_nonzero_check(ora_shape(type, "0,3"));
        if (type != HOLO_STRING) index_nonzero_check(ora_shape(type, "5"));
    }
}

static void index_onehot_check(holo_dtype t1, holo_dtype t2, holo_dtype t3, const char *dims,
                               int64_t axis)
{
    const bool negative = ora_is_signed(t1) || ora_is_float(t1);
    const ora *x = ora_of(t1, dims, negative ? "0 2 -1 -4 3 7" : "0 2 1 9 3 7");
    const ora *depth = ora_param(ora_scalar(t2, 4)), *values = ora_make(t3, "2", ORA_EDGE, 1);
    const int along = (int)(axis < 0 ? axis + x->rank + 1 : axis);
    int64_t dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK];
    for (int d = 0; d <= x->rank; d++)
        dim[d] = d == along ? 4 : x->dim[d < along ? d : d - 1];
    ora *y = ora_new(t3, x->rank + 1, dim);
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        const int64_t here = at[along];
        for (int d = along; d < x->rank; d++)
            at[d] = at[d + 1];
        int64_t i = (int64_t)ora_real(t1, &x->v[ora_ravel(x, at)]);
        if (i < 0 && i >= -4) i += 4;
        y->v[k] = values->v[i == here];
    }
    ORA_CHECK("OneHot", index_axis("axis=%lld", axis), ORA_IN(x, depth, values), ORA_OUT(y));
}

static void index_onehot(const ora_row *row)
{
    ORA_EACH_TYPE(t1, row->op, "T1")
    {
        index_onehot_check(t1, HOLO_I64, HOLO_F32, "6", -1);
        index_onehot_check(t1, HOLO_I64, HOLO_F32, "2,3", 0);
        index_onehot_check(t1, HOLO_I64, HOLO_F32, "2,3", 1);
        index_onehot_check(t1, HOLO_I64, HOLO_F32, "", 0);
        index_onehot_check(t1, HOLO_I64, HOLO_F32, "0,2", -2);
    }
    ORA_EACH_TYPE(t2, row->op, "T2") index_onehot_check(HOLO_I32, t2, HOLO_I8, "3,2", -3);
    ORA_EACH_TYPE(t3, row->op, "T3") index_onehot_check(HOLO_I64, HOLO_I64, t3, "2,3", -1);
}

/* ---- TopK, Unique ------------------------------------------------------------------------------
 */

/* Orders as the standard's implementations do: NaN above every number. */
static int index_order(holo_dtype type, const wide *a, const wide *b)
{
    if (type == HOLO_STRING) {
        const size_t n = a->s.length < b->s.length ? a->s.length : b->s.length;
        const int c = n == 0 ? 0 : memcmp(a->s.text, b->s.text, n);
        return c != 0 ? c : (a->s.length > b->s.length) - (a->s.length < b->s.length);
    }
    if (ora_is_float(type) || ora_is_complex(type)) {
        if (isnan(a->re) || isnan(b->re)) return isnan(a->re) - isnan(b->re);
        if (a->re != b->re) return a->re > b->re ? 1 : -1;
        if (isnan(a->im) || isnan(b->im)) return isnan(a->im) - isnan(b->im);
        return (a->im > b->im) - (a->im < b->im);
    }
    return ora_int_less(type, b->i, a->i) - ora_int_less(type, a->i, b->i);
}

static void index_topk_check(const ora *x, int64_t axis, int64_t count, bool largest)
{
    const int along = (int)(axis < 0 ? axis + x->rank : axis);
    int64_t dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK];
    char attrs[60];
    memcpy(dim, x->dim, sizeof dim);
    dim[along] = count;
    ora *y = ora_new(x->type, x->rank, dim), *where = ora_new(HOLO_I64, x->rank, dim);
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        const int64_t rank = at[along];
        for (int64_t i = 0; i < x->dim[along]; i++) { /* element i has `rank` elements before it */
            int64_t before = 0;
            at[along] = i;
            const wide *mine = &x->v[ora_ravel(x, at)];
            for (int64_t j = 0; j < x->dim[along]; j++) {
                at[along] = j;
                const int order = index_order(x->type, &x->v[ora_ravel(x, at)], mine);
                before += order == 0 ? j < i : (order > 0) == largest;
            }
            if (before != rank) continue;
            y->v[k] = *mine;
            where->v[k].i = (uint64_t)i;
        }
    }
    snprintf(attrs, sizeof attrs, "axis=%lld largest=%d sorted=1", (long long)axis, largest);
    ORA_CHECK("TopK", attrs, ORA_IN(x, ora_param(ora_ints(HOLO_I64, 1, &count))),
              ORA_OUT(y, where));
}

static void index_topk(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int largest = 0; largest < 2; largest++) {
        index_topk_check(ora_make(type, "3,7", ORA_SMALL, 2), -1, 3, largest);
        index_topk_check(ora_make(type, "5,2,3", ORA_SMALL, 3), 0, 5, largest);
        index_topk_check(ora_make(type, "2,20", ORA_EDGE, 3), 1, 20, largest);
        index_topk_check(ora_make(type, "2,20", ORA_EDGE, 5), -1, 4, largest);
        index_topk_check(ora_make(type, "4", ORA_SMALL, 3), 0, 0, largest);
        index_topk_check(ora_make(type, "0,3", ORA_SMALL, 3), 1, 2, largest);
        index_topk_check(ora_make(type, "1,300", ORA_SMALL, 3), 1, 30, largest);
    }
}

/* Subtensors along `axis` compared element by element; axis -1: single elements. */
typedef struct index_parts {
    const ora *x;
    int axis;
    int64_t n, size;
} index_parts;

static const wide *index_part(const index_parts *p, int64_t part, int64_t k)
{
    if (p->axis < 0) return &p->x->v[part];
    int64_t inner = 1;
    for (int d = p->axis + 1; d < p->x->rank; d++)
        inner *= p->x->dim[d];
    return &p->x->v[(k / inner * p->n + part) * inner + k % inner];
}

static int index_part_order(const index_parts *p, int64_t a, int64_t b)
{
    for (int64_t k = 0; k < p->size; k++) {
        const int order = index_order(p->x->type, index_part(p, a, k), index_part(p, b, k));
        if (order != 0) return order;
    }
    return 0;
}

static void index_unique_check(const ora *x, int axis, bool sorted)
{
    index_parts p = {.x = x, .axis = axis, .n = axis < 0 ? x->count : x->dim[axis], .size = 1};
    if (axis >= 0)
        for (int d = 0; d < x->rank; d++)
            p.size *= d == axis ? 1 : x->dim[d];
    int64_t first[128], n = 0, dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < p.n; k++) { /* first occurrences, in order */
        bool seen = false;
        for (int64_t j = 0; j < n && !seen; j++)
            seen = index_part_order(&p, first[j], k) == 0;
        if (seen) continue;
        int64_t to = n++;
        for (; sorted && to > 0 && index_part_order(&p, k, first[to - 1]) < 0; to--)
            first[to] = first[to - 1];
        first[to] = k;
    }
    memcpy(dim, x->dim, sizeof dim);
    dim[axis < 0 ? 0 : axis] = n;
    ora *y = ora_new(x->type, axis < 0 ? 1 : x->rank, dim);
    ora *firsts = ora_ints(HOLO_I64, (int)n, first), *counts = ora_like(firsts, HOLO_I64);
    ora *inverse = ora_new(HOLO_I64, 1, &p.n);
    for (int64_t k = 0; k < p.n; k++)
        for (int64_t j = 0; j < n; j++)
            if (index_part_order(&p, first[j], k) == 0) {
                inverse->v[k].i = (uint64_t)j;
                counts->v[j].i++;
            }
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, at);
        at[axis < 0 ? 0 : axis] = first[at[axis < 0 ? 0 : axis]];
        y->v[k] = axis < 0 ? x->v[at[0]] : x->v[ora_ravel(x, at)];
    }
    char attrs[40] = "";
    if (axis >= 0)
        snprintf(attrs, sizeof attrs, "axis=%d sorted=%d", axis - x->rank, sorted);
    else
        snprintf(attrs, sizeof attrs, "sorted=%d", sorted);
    ORA_CHECK("Unique", attrs, ORA_IN(x), ORA_OUT(y, firsts, inverse, counts));
}

/* Zeros of both signs are one value; which stands for it is the first. */
static void index_unique(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int sorted = 0; sorted < 2; sorted++) {
        index_unique_check(ora_make(type, "4,7", ORA_SMALL, 2), -1, sorted);
        index_unique_check(ora_make(type, "6,1", ORA_SMALL, 3), 0, sorted);
        index_unique_check(ora_make(type, "2,9,2", ORA_SMALL, 3), 1, sorted);
        index_unique_check(ora_make(type, "", ORA_SMALL, 3), -1, sorted);
        index_unique_check(ora_shape(type, "0"), -1, sorted);
        if (ora_is_int(type)) index_unique_check(ora_make(type, "17", ORA_EDGE, 1), -1, sorted);
    }
}

const ora_row ora_rows_index[] = {
    {"Compress", index_compress, NULL},
    {"Gather", index_gather, NULL},
    {"GatherElements", index_gatherelements, NULL},
    {"GatherND", index_gathernd, NULL},
    {"NonZero", index_nonzero, NULL},
    {"OneHot", index_onehot, NULL},
    {"Scatter", index_scatter, NULL},
    {"ScatterElements", index_scatterelements, NULL},
    {"ScatterND", index_scatternd, NULL},
    {"TensorScatter", index_tensorscatter, NULL},
    {"TopK", index_topk, NULL},
    {"Unique", index_unique, NULL},
    {NULL, NULL, NULL},
};

static void index_rows(void)
{
    ora_run(ora_rows_index);
}

const hg_test_case hg_tests_oracle_index[] = {{"rows", index_rows}, {0}};
