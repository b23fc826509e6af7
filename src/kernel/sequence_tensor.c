/* sequence_tensor.c - tensors into sequences and back.
 *
 *   sequence.split   in: tensor, sizes (integers: one, for all parts but perhaps the last, or one
 * each) or none; param: axis, 1 to keep the axis of parts of size 1 (only without sizes)
 *   sequence.concat  in: sequence of tensors; param: axis, 1 to stack on a new axis
 *
 * Elements narrower than a byte are taken only where parts begin at bytes. */
#include "kernel/container.h"

/* `lines` times `bytes` bytes, from and to places that lie `from_step` and `to_step` bytes apart.
 */
static void sequence_tensor_copy_lines(const uint8_t *from, size_t from_step, uint8_t *to,
                                       size_t to_step, size_t bytes, int64_t lines)
{
    for (int64_t i = 0; i < lines && bytes != 0; i++)
        memcpy(to + (size_t)i * to_step, from + (size_t)i * from_step, bytes);
}

/* ---- split ----------------------------------------------------------------------------------- */

typedef struct sequence_tensor_split {
    int axis;
    int64_t count, outer, line; /* line: bytes of one place along the axis */
    bool keeps;
} sequence_tensor_split;

static int64_t sequence_tensor_split_size(const hg_args *a, const sequence_tensor_split *s,
                                          int64_t k)
{
    int64_t all = a->in[0].dim[s->axis];
    if (!hg_args_has(a, 1)) return 1;
    if (a->in[1].rank != 0) return hg_read_integer(&a->in[1], k);
    int64_t size = hg_read_integer(&a->in[1], 0);
    return k + 1 < s->count ? size : all - size * (s->count - 1);
}

static holo_status sequence_tensor_split_count(const hg_args *a, holo_error *e,
                                               sequence_tensor_split *s)
{
    int64_t all = a->in[0].dim[s->axis], sum = 0;
    s->count = all;
    if (!hg_args_has(a, 1)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_rank(&a->in[1], e, "the sizes", 0, 1));
    if (a->in[1].rank == 0) {
        int64_t size = hg_read_integer(&a->in[1], 0);
        HG_REQUIRE(e, size > 0, HOLO_E_DATA, "parts of size %lld", (long long)size);
        s->count = all / size + (all % size != 0);
        return HOLO_OK;
    }
    s->count = a->in[1].dim[0];
    for (int64_t k = 0; k < s->count; k++) {
        int64_t size = hg_read_integer(&a->in[1], k);
        HG_REQUIRE(e, size >= 0 && size <= all - sum, HOLO_E_DATA,
                   "part %lld has size %lld, %lld are left", (long long)k, (long long)size,
                   (long long)(all - sum));
        sum += size;
    }
    HG_REQUIRE(e, sum == all, HOLO_E_DATA, "the sizes add up to %lld, expected %lld",
               (long long)sum, (long long)all);
    return HOLO_OK;
}

static holo_status sequence_tensor_split_check_in(const hg_args *a, holo_error *e,
                                                  sequence_tensor_split *s)
{
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_rank(&a->in[0], e, "the input", 1, HG_MAX_RANK));
    HG_TRY(hg_check_param(a, e, 0, "the axis", 0, a->in[0].rank - 1));
    HG_TRY(hg_check_param(a, e, 1, "keepdims", 0, 1));
    s->axis = (int)a->param[0];
    s->keeps = a->param[1] == 1 || hg_args_has(a, 1);
    s->outer = hg_dims_product(&a->in[0], 0, s->axis);
    int64_t bits = hg_dims_product(&a->in[0], s->axis + 1, a->in[0].rank) *
                   (int64_t)hg_dtype_bits(a->in[0].dtype);
    HG_REQUIRE(e, bits % 8 == 0, HOLO_E_UNSUPPORTED, "parts of %s that do not fill bytes",
               holo_dtype_text(a->in[0].dtype));
    s->line = bits / 8;
    return sequence_tensor_split_count(a, e, s);
}

static holo_status sequence_tensor_split_check(const hg_args *a, holo_error *e)
{
    sequence_tensor_split s;
    HG_TRY(sequence_tensor_split_check_in(a, e, &s));
    HG_REQUIRE(
        e, a->out[0].dtype == HOLO_SEQUENCE && a->out[0].rank == 1 && a->out[0].dim[0] == s.count,
        HOLO_E_SHAPE, "the output is no sequence of %lld parts", (long long)s.count);
    return HOLO_OK;
}

static holo_status sequence_tensor_split_part_size(const hg_args *a, holo_error *e)
{
    sequence_tensor_split s;
    HG_TRY(sequence_tensor_split_check_in(a, e, &s));
    size_t all = holo_tensor_bytes(&a->in[0]), round;
    if (!hg_mul_size((size_t)s.count, 16, &round) || !hg_add_size(all, round, &a->extra[0]))
        return hg_fail_nomem(e, SIZE_MAX);
    a->out[0].rank = 1;
    a->out[0].dim[0] = s.count;
    return HOLO_OK;
}

static void sequence_tensor_split_shape(const hg_args *a, const sequence_tensor_split *s,
                                        int64_t size, holo_tensor *part)
{
    *part = a->in[0];
    part->dim[s->axis] = size;
    if (s->keeps) return;
    part->rank--;
    memmove(part->dim + s->axis, part->dim + s->axis + 1,
            (size_t)(HG_MAX_RANK - 1 - s->axis) * sizeof part->dim[0]);
}

static void sequence_tensor_split_run(const hg_args *a, hg_range r)
{
    sequence_tensor_split s;
    hg_room room = hg_room_behind(a);
    holo_tensor *part = a->out[0].data;
    (void)r;
    if (sequence_tensor_split_check_in(a, NULL, &s) != HOLO_OK || s.count != a->out[0].dim[0])
        return;
    size_t step = (size_t)(a->in[0].dim[s.axis] * s.line);
    const uint8_t *from = a->in[0].data;
    for (int64_t k = 0; k < s.count; k++) {
        int64_t size = sequence_tensor_split_size(a, &s, k);
        size_t bytes = (size_t)(size * s.line);
        sequence_tensor_split_shape(a, &s, size, &part[k]);
        part[k].data = hg_room_take(&room, bytes * (size_t)s.outer);
        if (part[k].data == NULL) {
            hg_fault_value(a->fault, "a part does not fit the room that was asked for", k, size);
            part[k].dim[0] = 0;
            part[k].rank = 1;
            continue;
        }
        sequence_tensor_copy_lines(from, step, part[k].data, bytes, bytes, s.outer);
        from += bytes;
    }
}

/* ---- concat ---------------------------------------------------------------------------------- */

/* Shape of the result: out->dim; every item is checked against the first. */
static holo_status sequence_tensor_concat_check_in(const hg_args *a, holo_error *e,
                                                   holo_tensor *out)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 2));
    HG_TRY(hg_check_container(a, e, 0, HOLO_SEQUENCE, HOLO_SEQUENCE));
    HG_TRY(hg_check_param(a, e, 1, "new_axis", 0, 1));
    const holo_tensor *item = a->in[0].data;
    int64_t count = a->in[0].dim[0], stack = a->param[1];
    HG_REQUIRE(e, count > 0, HOLO_E_DATA, "the sequence is empty");
    HG_REQUIRE(e, hg_dtype_bits(item[0].dtype) != 0, HOLO_E_TYPE, "the items are %s",
               holo_dtype_text(item[0].dtype));
    int64_t rank = item[0].rank + stack, axis = a->param[0] < 0 ? a->param[0] + rank : a->param[0];
    HG_REQUIRE(e, rank <= HG_MAX_RANK && axis >= 0 && axis < rank, HOLO_E_SHAPE,
               "axis %lld of a result of rank %lld", (long long)a->param[0], (long long)rank);
    *out = (holo_tensor){.dtype = item[0].dtype, .rank = (int32_t)rank};
    for (int64_t k = 0; k < rank; k++)
        out->dim[k] = stack && k >= axis ? (k == axis ? 0 : item[0].dim[k - 1]) : item[0].dim[k];
    out->dim[axis] = stack ? count : 0;
    for (int64_t i = 0; i < count; i++) {
        HG_REQUIRE(e, item[i].dtype == out->dtype && item[i].rank == item[0].rank, HOLO_E_TYPE,
                   "item %lld is %s of rank %d, the first is %s of rank %d", (long long)i,
                   holo_dtype_text(item[i].dtype), item[i].rank, holo_dtype_text(out->dtype),
                   item[0].rank);
        for (int32_t k = 0; k < item[0].rank; k++)
            HG_REQUIRE(e, (!stack && k == axis) || item[i].dim[k] == item[0].dim[k], HOLO_E_SHAPE,
                       "item %lld has %lld in dimension %d, the first has %lld", (long long)i,
                       (long long)item[i].dim[k], k, (long long)item[0].dim[k]);
        if (!stack && !hg_add_i64(out->dim[axis], item[i].dim[axis], &out->dim[axis]))
            return hg_fail(e, HOLO_E_SHAPE, "the items are too many");
    }
    return HOLO_OK;
}

static holo_status sequence_tensor_concat_check(const hg_args *a, holo_error *e)
{
    holo_tensor expected;
    HG_TRY(sequence_tensor_concat_check_in(a, e, &expected));
    HG_REQUIRE(e, hg_dtype_bits(expected.dtype) % 8 == 0, HOLO_E_UNSUPPORTED, "items of %s",
               holo_dtype_text(expected.dtype));
    return hg_check_result(a, e, &expected);
}

static holo_status sequence_tensor_concat_size(const hg_args *a, holo_error *e)
{
    holo_tensor found;
    HG_TRY(sequence_tensor_concat_check_in(a, e, &found));
    a->out[0].rank = found.rank;
    memcpy(a->out[0].dim, found.dim, sizeof found.dim);
    return HOLO_OK;
}

static void sequence_tensor_concat_run(const hg_args *a, hg_range r)
{
    const holo_tensor *item = a->in[0].data, *out = &a->out[0];
    int axis = (int)(a->param[0] < 0 ? a->param[0] + out->rank : a->param[0]);
    size_t width = hg_dtype_bits(out->dtype) / 8;
    size_t line = (size_t)hg_dims_product(out, axis + 1, out->rank) * width;
    int64_t outer = hg_dims_product(out, 0, axis);
    uint8_t *to = out->data;
    (void)r;
    if (outer == 0) return; /* nothing is written, perhaps nowhere */
    for (int64_t i = 0; i < a->in[0].dim[0]; i++) {
        size_t bytes = line * (size_t)(a->param[1] == 1 ? 1 : item[i].dim[axis]);
        if (bytes == 0) continue; /* there may be no memory to point into */
        sequence_tensor_copy_lines(item[i].data, bytes, to, line * (size_t)out->dim[axis], bytes,
                                   outer);
        to += bytes;
    }
}

const hg_kernel hg_kernels_sequence_tensor[] = {
    {.name = "sequence.concat",
     .flags = HG_KERNEL_LATE,
     .check = sequence_tensor_concat_check,
     .size = sequence_tensor_concat_size,
     .units = hg_one_unit,
     .run = sequence_tensor_concat_run},
    {.name = "sequence.split",
     .flags = HG_KERNEL_LATE,
     .check = sequence_tensor_split_check,
     .size = sequence_tensor_split_part_size,
     .units = hg_one_unit,
     .run = sequence_tensor_split_run},
    {0},
};
