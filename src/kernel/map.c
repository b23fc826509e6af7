/* map.c - maps: two tensors, keys and values, as one value.
 *
 *   map.zip    in: float32 [n,c] or [c]; keys, int64 or text [c]
 *              out[0]: a sequence of n maps, one for each row
 *   map.dense  in: a map from int64; out[0]: its values in the order of the keys, [1,size]
 *   map.place  in: a map from int64 or text; one value for places that get none; a table (keys and
 *              slots, kernel/lookup.h) and the place of each key, or none: keys are places then
 *              param: number of places; 1 when a key without a place is an error, otherwise it is
 *              left out; out[0]: values at their places, [1,places]
 *
 * Texts stay where they are; what enters a map is copied. */
#include "kernel/container.h"
#include "kernel/lookup.h"

#define MAP_KEYS (HG_TYPE_BIT(HOLO_I64) | HG_TYPES_STRING)
#define MAP_VALUES                                                                                 \
    (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_I64) | HG_TYPES_STRING)

/* ---- zip
 * -------------------------------------------------------------------------------------------- */

static int64_t zip_rows(const hg_args *a)
{
    return a->in[0].rank == 2 ? a->in[0].dim[0] : 1;
}

static holo_status zip_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 0));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_in_type(a, e, 1, MAP_KEYS));
    HG_TRY(hg_check_rank(&a->in[0], e, "the table of rows", 1, 2));
    HG_TRY(hg_check_rank(&a->in[1], e, "the list of keys", 1, 1));
    HG_REQUIRE(e, a->in[0].dim[a->in[0].rank - 1] == a->in[1].dim[0], HOLO_E_SHAPE,
               "rows have %lld values for %lld keys", (long long)a->in[0].dim[a->in[0].rank - 1],
               (long long)a->in[1].dim[0]);
    return HOLO_OK;
}

static holo_status zip_check(const hg_args *a, holo_error *e)
{
    HG_TRY(zip_check_in(a, e));
    return hg_check_result(a, e,
                           &(holo_tensor){.dtype = HOLO_SEQUENCE, .rank = 1, .dim = {zip_rows(a)}});
}

/* All maps share one copy of the keys. */
static holo_status zip_size(const hg_args *a, holo_error *e)
{
    HG_TRY(zip_check_in(a, e));
    const holo_tensor row = {.dtype = HOLO_F32, .rank = 1, .dim = {a->in[1].dim[0]}};
    const size_t each = hg_align_up(2 * sizeof(holo_tensor), 16) + hg_deep_all(&row);
    size_t all;
    if (!hg_mul_size(each, (size_t)zip_rows(a), &all) ||
        !hg_add_size(all, hg_deep_all(&a->in[1]), &a->extra[0]))
        return hg_fail_nomem(e, SIZE_MAX);
    a->out[0].rank = 1;
    a->out[0].dim[0] = zip_rows(a);
    return HOLO_OK;
}

/* Without room: a map of nothing. */
static holo_tensor zip_row(const holo_tensor *keys, const float *value, hg_room *room)
{
    const holo_tensor row = {
        .dtype = HOLO_F32, .rank = 1, .dim = {keys->dim[0]}, .data = (void *)(uintptr_t)value};
    holo_tensor *pair = hg_room_take(room, 2 * sizeof *pair);
    if (pair == NULL || !hg_deep_copy_all(&row, &pair[1], room))
        return (holo_tensor){.dtype = HOLO_SEQUENCE, .rank = 1};
    pair[0] = *keys;
    return (holo_tensor){.dtype = HOLO_MAP, .rank = 1, .dim = {2}, .data = pair};
}

static void zip_run(const hg_args *a, hg_range r)
{
    hg_room room = hg_room_behind(a);
    holo_tensor *map = a->out[0].data, keys;
    const bool good = hg_deep_copy_all(&a->in[1], &keys, &room);
    (void)r;
    for (int64_t i = 0; i < zip_rows(a); i++) {
        map[i] = (holo_tensor){.dtype = HOLO_SEQUENCE, .rank = 1};
        if (good) map[i] = zip_row(&keys, (const float *)a->in[0].data + i * keys.dim[0], &room);
        if (map[i].dtype != HOLO_MAP)
            hg_fault_value(a->fault, "a row does not fit the room that was asked for", i, 0);
    }
}

/* ---- reading a map
 * -------------------------------------------------------------------------------------------- */

/* The output's shape may not be known yet. */
static holo_status map_check_values(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, hg_dtype_in(a->out[0].dtype, MAP_VALUES), HOLO_E_TYPE, "the output is %s",
               holo_dtype_text(a->out[0].dtype));
    return HOLO_OK;
}

/* An empty map may not know the type of its values. */
static holo_status map_open(const hg_args *a, holo_error *e, hg_types key_types,
                            const holo_tensor **keys, const holo_tensor **values)
{
    HG_TRY(hg_check_container(a, e, 0, HOLO_MAP, HOLO_MAP));
    HG_REQUIRE(e, a->in[0].dim[0] == 2, HOLO_E_SHAPE, "a map of %lld tensors",
               (long long)a->in[0].dim[0]);
    const holo_tensor *k = a->in[0].data, *v = k + 1;
    HG_REQUIRE(e, hg_dtype_in(k->dtype, key_types), HOLO_E_TYPE, "the keys of a map are %s",
               holo_dtype_text(k->dtype));
    HG_REQUIRE(e, k->rank == 1 && v->rank == 1 && k->dim[0] == v->dim[0], HOLO_E_SHAPE,
               "a map has %lld keys (rank %d) and %lld values (rank %d)",
               (long long)holo_tensor_count(k), k->rank, (long long)holo_tensor_count(v), v->rank);
    HG_REQUIRE(e, v->dim[0] == 0 || v->dtype == a->out[0].dtype, HOLO_E_TYPE,
               "the values of a map are %s, expected %s", holo_dtype_text(v->dtype),
               holo_dtype_text(a->out[0].dtype));
    *keys = k;
    *values = v;
    return HOLO_OK;
}

static holo_status map_check_row(const hg_args *a, holo_error *e, int64_t columns)
{
    return hg_check_result(
        a, e, &(holo_tensor){.dtype = a->out[0].dtype, .rank = 2, .dim = {1, columns}});
}

static void map_row(const hg_args *a, int64_t columns)
{
    a->out[0].rank = 2;
    a->out[0].dim[0] = 1;
    a->out[0].dim[1] = columns;
}

static void map_put(const holo_tensor *from, int64_t i, const holo_tensor *to, int64_t j)
{
    const size_t size = hg_dtype_bits(to->dtype) / 8;
    memcpy((uint8_t *)to->data + (size_t)j * size, (const uint8_t *)from->data + (size_t)i * size,
           size);
}

/* ---- dense
 * -------------------------------------------------------------------------------------------- */

static holo_status dense_check_in(const hg_args *a, holo_error *e, const holo_tensor **keys,
                                  const holo_tensor **values)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 0));
    HG_TRY(map_check_values(a, e));
    return map_open(a, e, HG_TYPE_BIT(HOLO_I64), keys, values);
}

static holo_status dense_check(const hg_args *a, holo_error *e)
{
    const holo_tensor *keys = NULL, *values = NULL;
    HG_TRY(dense_check_in(a, e, &keys, &values));
    return map_check_row(a, e, keys->dim[0]);
}

static holo_status dense_size(const hg_args *a, holo_error *e)
{
    const holo_tensor *keys = NULL, *values = NULL;
    HG_TRY(dense_check_in(a, e, &keys, &values));
    map_row(a, keys->dim[0]);
    return HOLO_OK;
}

static size_t dense_scratch(const hg_args *a)
{
    return (size_t)a->out[0].dim[1] * sizeof(int64_t);
}

/* Lets order[at] sink into the heap order[0, n), the largest key on top. */
static void dense_sink(const int64_t *key, int64_t *order, int64_t at, int64_t n)
{
    for (;;) {
        int64_t top = at;
        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++)
            if (key[order[child]] > key[order[top]]) top = child;
        if (top == at) return;
        const int64_t other = order[top];
        order[top] = order[at];
        order[at] = other;
        at = top;
    }
}

static void dense_sort(const int64_t *key, int64_t *order, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = n / 2; i-- > 0;)
        dense_sink(key, order, i, n);
    for (int64_t left = n - 1; left > 0; left--) {
        const int64_t last = order[left];
        order[left] = order[0];
        order[0] = last;
        dense_sink(key, order, 0, left);
    }
}

static void dense_run(const hg_args *a, hg_range r)
{
    const holo_tensor *keys = NULL, *values = NULL;
    if (dense_check_in(a, NULL, &keys, &values) != HOLO_OK) return;
    const int64_t n = keys->dim[0], *key = keys->data;
    int64_t *order = r.scratch;
    dense_sort(key, order, n);
    for (int64_t i = 0; i < n; i++) {
        map_put(values, order[i], &a->out[0], i);
        if (i > 0 && key[order[i]] == key[order[i - 1]])
            hg_fault_value(a->fault, "a key is twice in a map", order[i], key[order[i]]);
    }
}

/* ---- place
 * -------------------------------------------------------------------------------------------- */

static holo_status place_check_in(const hg_args *a, holo_error *e, const holo_tensor **keys,
                                  const holo_tensor **values)
{
    HG_TRY(hg_check_counts(a, e, 2, 5, 1, 2));
    HG_TRY(map_check_values(a, e));
    HG_TRY(hg_check_param(a, e, 0, "the number of places", 0, INT64_MAX));
    HG_TRY(hg_check_param(a, e, 1, "strict", 0, 1));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(a->out[0].dtype)));
    HG_REQUIRE(e, holo_tensor_count(&a->in[1]) == 1, HOLO_E_SHAPE,
               "%lld values for other places, expected 1", (long long)holo_tensor_count(&a->in[1]));
    if (a->n_in == 2) return map_open(a, e, HG_TYPE_BIT(HOLO_I64), keys, values);
    HG_TRY(hg_check_in_type(a, e, 2, MAP_KEYS));
    HG_TRY(hg_table_check(a, e, 2));
    HG_TRY(hg_check_in_type(a, e, 4, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_same_shape(&a->in[4], &a->in[2], e, "their places"));
    return map_open(a, e, HG_TYPE_BIT(a->in[2].dtype), keys, values);
}

static holo_status place_check(const hg_args *a, holo_error *e)
{
    const holo_tensor *keys = NULL, *values = NULL;
    HG_TRY(place_check_in(a, e, &keys, &values));
    return map_check_row(a, e, a->param[0]);
}

static holo_status place_size(const hg_args *a, holo_error *e)
{
    const holo_tensor *keys = NULL, *values = NULL;
    HG_TRY(place_check_in(a, e, &keys, &values));
    map_row(a, a->param[0]);
    return HOLO_OK;
}

static void place_one(const hg_args *a, const holo_tensor *values, int64_t i, int64_t place)
{
    if (place >= 0 && place < a->param[0])
        map_put(values, i, &a->out[0], place);
    else
        hg_fault_range(a->fault, "the place of a key", i, place, 0, a->param[0] - 1);
}

static void place_run(const hg_args *a, hg_range r)
{
    const holo_tensor *keys = NULL, *values = NULL, *known = &a->in[2];
    (void)r;
    if (place_check_in(a, NULL, &keys, &values) != HOLO_OK) return;
    for (int64_t j = 0; j < a->param[0]; j++)
        map_put(&a->in[1], 0, &a->out[0], j);
    for (int64_t i = 0; i < keys->dim[0]; i++) {
        if (a->n_in == 2) {
            place_one(a, values, i, ((const int64_t *)keys->data)[i]);
            continue;
        }
        const hg_wanted w = hg_wanted_at(keys, i, known->dtype);
        const int64_t k = hg_table_find(known, &a->in[3], &w, NULL);
        if (k >= 0)
            place_one(a, values, i, ((const int64_t *)a->in[4].data)[k]);
        else if (a->param[1] != 0)
            hg_fault_value(a->fault, "a key of the map is not known", i, w.integer);
    }
}

const hg_kernel hg_kernels_map[] = {
    {.name = "map.dense",
     .flags = HG_KERNEL_LATE,
     .check = dense_check,
     .size = dense_size,
     .units = hg_one_unit,
     .scratch = dense_scratch,
     .run = dense_run},
    {.name = "map.place",
     .flags = HG_KERNEL_LATE,
     .check = place_check,
     .size = place_size,
     .units = hg_one_unit,
     .run = place_run},
    {.name = "map.zip",
     .flags = HG_KERNEL_LATE,
     .check = zip_check,
     .size = zip_size,
     .units = hg_one_unit,
     .run = zip_run},
    {0},
};
