/* sequence.c - making and reading sequences and optionals.
 *
 *   sequence.construct  in: values; out[0]: a sequence or optional of them
 *   sequence.insert     in: sequence, value, position or none (the end)
 *   sequence.erase      in: sequence, position or none (the last)
 *   sequence.at         in: sequence or optional, position or none (the first); out[0]: the item
 *
 * A value that enters a container is copied with all that it points to. Items that go from one
 * container to another stay where they are: what lies behind a container lives as long as the run.
 */
#include "kernel/container.h"

static holo_status sequence_count(const hg_args *a, int64_t count)
{
    a->out[0].rank = 1;
    a->out[0].dim[0] = count;
    return HOLO_OK;
}

static holo_status sequence_check_out(const hg_args *a, holo_error *e, int64_t count)
{
    HG_REQUIRE(e, a->out[0].dtype == HOLO_SEQUENCE || a->out[0].dtype == HOLO_OPTIONAL, HOLO_E_TYPE,
               "the output is %s, expected a container", holo_dtype_text(a->out[0].dtype));
    HG_REQUIRE(e, a->out[0].rank == 1 && a->out[0].dim[0] == count, HOLO_E_SHAPE,
               "the output has %lld items, expected %lld",
               a->out[0].rank == 1 ? (long long)a->out[0].dim[0] : -1, (long long)count);
    return HOLO_OK;
}

/* Puts a copy of in[i] into an item; what cannot be, because there is not enough room, stays empty.
 */
static void sequence_put(const hg_args *a, uint32_t i, hg_room *room, holo_tensor *item)
{
    if (hg_deep_copy_all(&a->in[i], item, room)) return;
    *item = (holo_tensor){.dtype = a->in[i].dtype, .rank = 1};
    hg_fault_value(a->fault, "a value does not fit the room that was asked for", i, 0);
}

static void sequence_keep(const holo_tensor *from, int64_t first, int64_t count, holo_tensor *to)
{
    if (count > 0) memcpy(to, (const holo_tensor *)from->data + first, (size_t)count * sizeof *to);
}

/* ---- construct ------------------------------------------------------------------------------- */

static holo_status sequence_construct_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 0, -1, 1, 0));
    HG_REQUIRE(e, a->out[0].dtype != HOLO_OPTIONAL || a->n_in <= 1, HOLO_E_SHAPE,
               "an optional of %u values", a->n_in);
    for (uint32_t i = 0; i < a->n_in; i++)
        HG_TRY(hg_check_value(a, e, i));
    return HOLO_OK;
}

static holo_status sequence_construct_check(const hg_args *a, holo_error *e)
{
    HG_TRY(sequence_construct_check_in(a, e));
    return sequence_check_out(a, e, a->n_in);
}

static holo_status sequence_construct_size(const hg_args *a, holo_error *e)
{
    HG_TRY(sequence_construct_check_in(a, e));
    for (uint32_t i = 0; i < a->n_in; i++)
        if (!hg_add_size(a->extra[0], hg_deep_all(&a->in[i]), &a->extra[0]))
            return hg_fail_nomem(e, SIZE_MAX);
    return sequence_count(a, a->n_in);
}

static void sequence_construct_run(const hg_args *a, hg_range r)
{
    hg_room room = hg_room_behind(a);
    (void)r;
    for (uint32_t i = 0; i < a->n_in; i++)
        sequence_put(a, i, &room, (holo_tensor *)a->out[0].data + i);
}

/* ---- insert ---------------------------------------------------------------------------------- */

static holo_status sequence_insert_check_in(const hg_args *a, holo_error *e, int64_t *at)
{
    HG_TRY(hg_check_counts(a, e, 2, 3, 1, 0));
    HG_TRY(hg_check_container(a, e, 0, HOLO_SEQUENCE, HOLO_SEQUENCE));
    HG_TRY(hg_check_value(a, e, 1));
    int64_t count = a->in[0].dim[0];
    return hg_read_position(a, e, 2, count, count, count, at);
}

static holo_status sequence_insert_check(const hg_args *a, holo_error *e)
{
    int64_t at;
    HG_TRY(sequence_insert_check_in(a, e, &at));
    return sequence_check_out(a, e, a->in[0].dim[0] + 1);
}

static holo_status sequence_insert_size(const hg_args *a, holo_error *e)
{
    int64_t at;
    HG_TRY(sequence_insert_check_in(a, e, &at));
    a->extra[0] = hg_deep_all(&a->in[1]);
    return sequence_count(a, a->in[0].dim[0] + 1);
}

static void sequence_insert_run(const hg_args *a, hg_range r)
{
    int64_t at = 0, count = a->in[0].dim[0];
    hg_room room = hg_room_behind(a);
    holo_tensor *item = a->out[0].data;
    (void)r;
    if (hg_read_position(a, NULL, 2, count, count, count, &at) != HOLO_OK) at = count;
    sequence_keep(&a->in[0], 0, at, item);
    sequence_put(a, 1, &room, item + at);
    sequence_keep(&a->in[0], at, count - at, item + at + 1);
}

/* ---- erase ----------------------------------------------------------------------------------- */

static holo_status sequence_erase_check_in(const hg_args *a, holo_error *e, int64_t *at)
{
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, 0));
    HG_TRY(hg_check_container(a, e, 0, HOLO_SEQUENCE, HOLO_SEQUENCE));
    int64_t count = a->in[0].dim[0];
    HG_REQUIRE(e, count > 0, HOLO_E_DATA, "an item is taken from an empty sequence");
    return hg_read_position(a, e, 1, count, count - 1, count - 1, at);
}

static holo_status sequence_erase_check(const hg_args *a, holo_error *e)
{
    int64_t at;
    HG_TRY(sequence_erase_check_in(a, e, &at));
    return sequence_check_out(a, e, a->in[0].dim[0] - 1);
}

static holo_status sequence_erase_size(const hg_args *a, holo_error *e)
{
    int64_t at;
    HG_TRY(sequence_erase_check_in(a, e, &at));
    return sequence_count(a, a->in[0].dim[0] - 1);
}

static void sequence_erase_run(const hg_args *a, hg_range r)
{
    int64_t at = 0, count = a->in[0].dim[0];
    holo_tensor *item = a->out[0].data;
    (void)r;
    if (hg_read_position(a, NULL, 1, count, count - 1, count - 1, &at) != HOLO_OK) at = count - 1;
    sequence_keep(&a->in[0], 0, at, item);
    sequence_keep(&a->in[0], at + 1, count - at - 1, item + at);
}

/* ---- at -------------------------------------------------------------------------------------- */

static holo_status sequence_at_check_in(const hg_args *a, holo_error *e, const holo_tensor **item)
{
    int64_t at;
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, 0));
    HG_TRY(hg_check_container(a, e, 0, HOLO_SEQUENCE, HOLO_OPTIONAL));
    int64_t count = a->in[0].dim[0];
    HG_REQUIRE(e, count > 0, HOLO_E_DATA, "the %s is empty", holo_dtype_text(a->in[0].dtype));
    HG_TRY(hg_read_position(a, e, 1, count, count - 1, 0, &at));
    *item = (const holo_tensor *)a->in[0].data + at;
    return HOLO_OK;
}

static holo_status sequence_at_check(const hg_args *a, holo_error *e)
{
    const holo_tensor *item = NULL;
    HG_TRY(sequence_at_check_in(a, e, &item));
    return hg_check_result(a, e, item);
}

static holo_status sequence_at_size(const hg_args *a, holo_error *e)
{
    const holo_tensor *item = NULL;
    HG_TRY(sequence_at_check_in(a, e, &item));
    a->out[0].rank = item->rank;
    memcpy(a->out[0].dim, item->dim, sizeof item->dim);
    return HOLO_OK;
}

static void sequence_at_run(const hg_args *a, hg_range r)
{
    const holo_tensor *item = NULL;
    (void)r;
    if (sequence_at_check_in(a, NULL, &item) != HOLO_OK) return;
    size_t bytes = holo_tensor_bytes(item);
    if (bytes != 0 && bytes == holo_tensor_bytes(&a->out[0]))
        memcpy(a->out[0].data, item->data, bytes);
}

const hg_kernel hg_kernels_sequence[] = {
    {.name = "sequence.at",
     .flags = HG_KERNEL_LATE,
     .check = sequence_at_check,
     .size = sequence_at_size,
     .units = hg_one_unit,
     .run = sequence_at_run},
    {.name = "sequence.construct",
     .flags = HG_KERNEL_LATE,
     .check = sequence_construct_check,
     .size = sequence_construct_size,
     .units = hg_one_unit,
     .run = sequence_construct_run},
    {.name = "sequence.erase",
     .flags = HG_KERNEL_LATE,
     .check = sequence_erase_check,
     .size = sequence_erase_size,
     .units = hg_one_unit,
     .run = sequence_erase_run},
    {.name = "sequence.insert",
     .flags = HG_KERNEL_LATE,
     .check = sequence_insert_check,
     .size = sequence_insert_size,
     .units = hg_one_unit,
     .run = sequence_insert_run},
    {0},
};
