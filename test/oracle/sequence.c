/* sequence.c - sequences, optionals, and the operators with bodies. */
#include "oracle/oracle.h"

#include <stdio.h>

static ora *sequence_data(holo_dtype type, const char *dims, uint32_t seed)
{
    return ora_make(type, dims, ORA_EDGE, seed);
}

/* Three items of different shapes. */
static ora *sequence_make(holo_dtype type)
{
    return ora_box(HOLO_SEQUENCE, type, 3,
                   (ora *const[]){sequence_data(type, "2,3", 0), sequence_data(type, "2,1", 3),
                                  sequence_data(type, "2,4", 5)});
}

static ora *sequence_place(holo_dtype type, int64_t place)
{
    return ora_scalar(type, (long double)place);
}

/* ---- reading and changing
 * -------------------------------------------------------------------------- */

static void sequence_at(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int64_t k = -3; k < 3; k++) {
        const ora *s = sequence_make(type), *i = sequence_place(k % 2 ? HOLO_I32 : HOLO_I64, k);
        ORA_CHECK(row->op, NULL, ORA_IN(s, i), ORA_OUT(s->item[k < 0 ? k + 3 : k]));
    }
    ORA_REFUSE("", row->op, NULL, ORA_IN(sequence_make(HOLO_F32), sequence_place(HOLO_I64, 3)),
               ORA_OUT(ora_shape(HOLO_F32, "2,3")));
}

static void sequence_construct(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        const ora *s = sequence_make(type);
        ORA_CHECK(row->op, NULL, ORA_IN(s->item[0], s->item[1], s->item[2]), ORA_OUT(s));
        ora *one = sequence_data(type, "", 1);
        ORA_CHECK(row->op, NULL, ORA_IN(one), ORA_OUT(ora_box(HOLO_SEQUENCE, type, 1, &one)));
    }
}

static void sequence_empty(const ora_row *row)
{
    ORA_EACH_TYPE(type, "SequenceConstruct", "T")
    {
        char attrs[20];
        snprintf(attrs, sizeof attrs, "dtype=%d", (int)type);
        ora_check(&(ora_case){
            .op = row->op, .attrs = attrs, ORA_OUT(ora_box(HOLO_SEQUENCE, type, 0, NULL))});
    }
    ora_check(&(ora_case){.op = row->op, ORA_OUT(ora_box(HOLO_SEQUENCE, HOLO_F32, 0, NULL))});
}

static void sequence_erase(const ora_row *row)
{
    ORA_EACH_TYPE(type, "SequenceConstruct", "T")
    for (int64_t k = -3; k <= 3; k++) {
        const ora *s = sequence_make(type);
        const int64_t gone = k == 3 ? 2 : k < 0 ? k + 3 : k;
        ora *left[2];
        size_t n = 0;
        for (int64_t i = 0; i < 3; i++)
            if (i != gone) left[n++] = s->item[i];
        const ora *y = ora_box(HOLO_SEQUENCE, type, 2, left);
        if (k == 3)
            ORA_CHECK(row->op, NULL, ORA_IN(s), ORA_OUT(y));
        else
            ORA_CHECK(row->op, NULL, ORA_IN(s, sequence_place(k % 2 ? HOLO_I32 : HOLO_I64, k)),
                      ORA_OUT(y));
    }
}

static void sequence_insert(const ora_row *row)
{
    ORA_EACH_TYPE(type, "SequenceConstruct", "T")
    for (int64_t k = -3; k <= 4; k++) {
        const ora *s = sequence_make(type);
        ora *more = sequence_data(type, "1,1", 7), *all[4];
        const int64_t at = k == 4 ? 3 : k < 0 ? k + 3 : k;
        for (int64_t i = 0, n = 0; i < 4; i++)
            all[i] = i == at ? more : s->item[n++];
        const ora *y = ora_box(HOLO_SEQUENCE, type, 4, all);
        if (k == 4)
            ORA_CHECK(row->op, NULL, ORA_IN(s, more), ORA_OUT(y));
        else
            ORA_CHECK(row->op, NULL,
                      ORA_IN(s, more, sequence_place(k % 2 ? HOLO_I32 : HOLO_I64, k)), ORA_OUT(y));
    }
}

static void sequence_length(const ora_row *row)
{
    ORA_EACH_TYPE(type, "SequenceConstruct", "T")
    {
        ORA_CHECK(row->op, NULL, ORA_IN(sequence_make(type)), ORA_OUT(ora_scalar(HOLO_I64, 3)));
        ORA_CHECK(row->op, NULL, ORA_IN(ora_box(HOLO_SEQUENCE, type, 0, NULL)),
                  ORA_OUT(ora_scalar(HOLO_I64, 0)));
    }
}

/* ---- joining and splitting
 * ------------------------------------------------------------------------- */

static void sequence_concat(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        const ora *s = sequence_make(type);
        ora *y = ora_shape(type, "2,8");
        for (int64_t k = 0; k < 16; k++) {
            const int64_t c = k % 8,
                          item = c < 3   ? 0
                                 : c < 4 ? 1
                                         : 2,
                          from = item == 0   ? 0
                                 : item == 1 ? 3
                                             : 4;
            y->v[k] = s->item[item]->v[k / 8 * s->item[item]->dim[1] + c - from];
        }
        ORA_CHECK(row->op, "axis=1", ORA_IN(s), ORA_OUT(y));
        ORA_CHECK(row->op, "axis=-1", ORA_IN(s), ORA_OUT(y));
        const ora *same = ora_box(HOLO_SEQUENCE, type, 2, (ora *const[]){s->item[0], s->item[0]});
        ora *stacked = ora_shape(type, "2,2,3");
        for (int64_t k = 0; k < 12; k++)
            stacked->v[k] = s->item[0]->v[k % 6];
        ORA_CHECK(row->op, "axis=0 new_axis=1", ORA_IN(same), ORA_OUT(stacked));
    }
}

static void sequence_split_check(const ora_row *row, holo_dtype type, const char *attrs,
                                 const ora *split, size_t n, const int64_t *columns, bool keep)
{
    const ora *x = sequence_data(type, "2,5", 1);
    ora *items[5];
    int64_t from = 0;
    for (size_t j = 0; j < n; j++) {
        items[j] =
            keep ? ora_new(type, 2, (int64_t[]){2, columns[j]}) : ora_new(type, 1, (int64_t[]){2});
        for (int64_t k = 0; k < items[j]->count; k++)
            items[j]->v[k] = x->v[k / columns[j] * 5 + from + k % columns[j]];
        from += columns[j];
    }
    ORA_CHECK(row->op, attrs, ORA_IN(x, split), ORA_OUT(ora_box(HOLO_SEQUENCE, type, n, items)));
}

static void sequence_split(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        sequence_split_check(row, type, "axis=1", NULL, 5, (int64_t[]){1, 1, 1, 1, 1}, true);
        sequence_split_check(row, type, "axis=-1 keepdims=0", NULL, 5, (int64_t[]){1, 1, 1, 1, 1},
                             false);
        sequence_split_check(row, type, "axis=1", ora_param(ora_scalar(HOLO_I64, 2)), 3,
                             (int64_t[]){2, 2, 1}, true);
        sequence_split_check(row, type, "axis=-1", ora_param(ora_of(HOLO_I32, "2", "4 1")), 2,
                             (int64_t[]){4, 1}, true);
    }
}

/* ---- optionals
 * ------------------------------------------------------------------------------------- */

static void sequence_optional(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "V")
    {
        ora *x = sequence_data(type, "2,2", 1), *s = sequence_make(type);
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(ora_box(HOLO_OPTIONAL, type, 1, &x)));
        ORA_CHECK(row->op, NULL, ORA_IN(s), ORA_OUT(ora_box(HOLO_OPTIONAL, type, 1, &s)));
        ora_case c = {.op = row->op, ORA_OUT(ora_box(HOLO_OPTIONAL, type, 0, NULL))};
        ora_put_type_attr(&c.more, "type", x);
        ora_check(&c);
    }
}

static void sequence_optional_get(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "V")
    {
        ora *x = sequence_data(type, "2,2", 1), *s = sequence_make(type);
        ORA_CHECK(row->op, NULL, ORA_IN(ora_box(HOLO_OPTIONAL, type, 1, &x)), ORA_OUT(x));
        ORA_CHECK(row->op, NULL, ORA_IN(ora_box(HOLO_OPTIONAL, type, 1, &s)), ORA_OUT(s));
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(x));
        ORA_CHECK(row->op, NULL, ORA_IN(s), ORA_OUT(s));
        ORA_REFUSE("", row->op, NULL, ORA_IN(ora_box(HOLO_OPTIONAL, type, 0, NULL)), ORA_OUT(x));
    }
}

static void sequence_optional_has(const ora_row *row)
{
    const ora *yes = ora_scalar(HOLO_BOOL, 1), *no = ora_scalar(HOLO_BOOL, 0);
    ORA_EACH_TYPE(type, "Optional", "V")
    {
        ora *x = sequence_data(type, "2,2", 1), *s = sequence_make(type);
        ora *none = ora_box(HOLO_OPTIONAL, type, 0, NULL);
        ORA_CHECK(row->op, NULL, ORA_IN(ora_box(HOLO_OPTIONAL, type, 1, &x)), ORA_OUT(yes));
        ORA_CHECK(row->op, NULL, ORA_IN(ora_box(HOLO_OPTIONAL, type, 1, &s)), ORA_OUT(yes));
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(yes));
        ORA_CHECK(row->op, NULL, ORA_IN(s), ORA_OUT(yes));
        ORA_CHECK(row->op, NULL, ORA_IN(none), ORA_OUT(no));
    }
    ora_check(&(ora_case){.op = row->op, ORA_OUT(no)});
}

const ora_row ora_rows_sequence[] = {
    {"ConcatFromSequence", sequence_concat, NULL},
    {"Optional", sequence_optional, NULL},
    {"OptionalGetElement", sequence_optional_get, NULL},
    {"OptionalHasElement", sequence_optional_has, NULL},
    {"SequenceAt", sequence_at, NULL},
    {"SequenceConstruct", sequence_construct, NULL},
    {"SequenceEmpty", sequence_empty, NULL},
    {"SequenceErase", sequence_erase, NULL},
    {"SequenceInsert", sequence_insert, NULL},
    {"SequenceLength", sequence_length, NULL},
    {"SplitToSequence", sequence_split, NULL},
    {NULL, NULL, NULL},
};

static void sequence_rows(void)
{
    ora_run(ora_rows_sequence);
}

const hg_test_case hg_tests_oracle_sequence[] = {{"rows", sequence_rows}, {0}};
