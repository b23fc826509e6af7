/* lane.c - kernel "lane": a point-wise body applied to every element of its outputs.
 *
 *   in     as many as the body loads from; each broadcasts to the outputs' shape
 *   out    as many as the body has results, all of one shape
 *   code   the body; no parameters
 *
 * One unit is LANE_BLOCK elements, a multiple of every packing, so that no two units share a byte.
 * NaN and signed zeros are the interpreter's. */
#include "kernel/lane.h"

enum {
    LANE_BLOCK = 4096,
    LANE_SHORT = 512 /* elements of a tile that takes less time than finding out what to do to it */
};

/* ---- the iteration space -----------------------------------------------------------------------
 */

/* A space, its operands and their views. */
static size_t space_header(const hg_lane_code *code)
{
    const size_t n = (size_t)code->n_in + code->n_out;
    return hg_align_up(sizeof(hg_lane_space) + n * (sizeof(hg_lane_operand) + sizeof(hg_lane_view)),
                       HG_ALIGN);
}

size_t hg_lane_space_scratch(const hg_lane_code *code)
{
    return space_header(code) + hg_lane_scratch(code);
}

/* Dims i and i + 1 are one dim for every operand. */
static bool space_can_merge(const hg_lane_space *s, int i)
{
    for (uint32_t v = 0; v < s->code->n_in + s->code->n_out; v++) {
        const int64_t *stride = s->operand[v].stride;
        if (stride[i] != stride[i + 1] * s->dim[i + 1]) return false;
    }
    return true;
}

static void space_drop(hg_lane_space *s, int i)
{
    for (int k = i; k + 1 < s->rank; k++) {
        s->dim[k] = s->dim[k + 1];
        for (uint32_t v = 0; v < s->code->n_in + s->code->n_out; v++)
            s->operand[v].stride[k] = s->operand[v].stride[k + 1];
    }
    s->rank--;
}

static void space_merge(hg_lane_space *s)
{
    for (int i = s->rank - 1; i >= 0 && s->rank > 1; i--)
        if (s->dim[i] == 1) space_drop(s, i);
    for (int i = s->rank - 2; i >= 0; i--)
        if (space_can_merge(s, i)) {
            s->dim[i + 1] *= s->dim[i];
            space_drop(s, i);
        }
}

hg_lane_space *hg_lane_space_init(void *scratch, const hg_lane_code *code,
                                  const holo_tensor *result, const holo_tensor *in,
                                  const holo_tensor *out)
{
    hg_lane_space *s = scratch;
    s->code = code;
    s->operand = (hg_lane_operand *)(s + 1);
    s->view = (hg_lane_view *)(s->operand + code->n_in + code->n_out);
    s->rank = out[0].rank;
    s->count = hg_dims_product(&out[0], 0, s->rank);
    memcpy(s->dim, out[0].dim, sizeof s->dim);
    for (uint32_t v = 0; v < code->n_in + code->n_out; v++) {
        const holo_tensor *t = v < code->n_in ? &in[v] : &out[v - code->n_in];
        if (v == 0 && result != NULL) t = result;
        s->operand[v].data = t->data;
        s->operand[v].dtype = t->dtype;
        s->operand[v].origin = 0;
        s->operand[v].stride[0] = 1; /* stays for rank 0 */
        hg_broadcast_strides(t, &out[0], s->operand[v].stride);
    }
    if (s->rank == 0) {
        s->rank = 1;
        s->dim[0] = 1;
    }
    space_merge(s);
    return s;
}

/* Views of a tile whose first element is number `at` of the space and whose rows are those of dim
 * `row`. */
static void space_views(hg_lane_space *s, int64_t at, int row)
{
    int col = s->rank - 1;
    for (uint32_t v = 0; v < s->code->n_in + s->code->n_out; v++) {
        const int64_t *stride = s->operand[v].stride;
        int64_t rest = at, first = -s->operand[v].origin;
        for (int k = col; k >= 0 && rest > 0; k--) {
            first += rest % s->dim[k] * stride[k];
            rest /= s->dim[k];
        }
        hg_lane_view *view = &s->view[v];
        *view = (hg_lane_view){.data = s->operand[v].data,
                               .row = row >= 0 ? stride[row] : 0,
                               .col = stride[col],
                               .dtype = s->operand[v].dtype,
                               .first = first};
        uint32_t bits = hg_dtype_bits(view->dtype);
        if (bits < 8) continue;
        view->data = (uint8_t *)view->data + first * (int64_t)(bits / 8);
        view->first = 0;
    }
}

/* How many of the small matrices that are the last two dims lie one behind the other from element
 * `at` on, and are better taken together: a tile then is the same row of all of them. */
static int64_t space_stack(const hg_lane_space *s, int64_t at, int64_t end)
{
    if (s->rank < 3) return 0;
    const int64_t rows = s->dim[s->rank - 2], size = rows * s->dim[s->rank - 1];
    if (size >= LANE_SHORT || at % size != 0) return 0;
    const int64_t outer = s->dim[s->rank - 3];
    const int64_t count = hg_min(outer - at / size % outer, hg_min(end - at, LANE_BLOCK) / size);
    return count > rows ? count : 0;
}

void hg_lane_space_run(hg_lane_space *s, int64_t begin, int64_t end, hg_fault *fault,
                       hg_lane_run_fn run)
{
    int64_t rows = s->rank > 1 ? s->dim[s->rank - 2] : 1, cols = s->dim[s->rank - 1];
    hg_lane_tile tile = {.in = s->view,
                         .out = s->view + s->code->n_in,
                         .scratch = (uint8_t *)(void *)s + space_header(s->code),
                         .fault = fault};
    for (int64_t at = begin; at < end;) {
        const int64_t stack = space_stack(s, at, end);
        int64_t row = at / cols % rows, col = at % cols;
        bool is_part = col != 0 || end - at < cols;
        tile.rows = is_part ? 1 : hg_min(rows - row, (end - at) / cols);
        tile.cols = is_part ? hg_min(cols - col, end - at) : cols;
        if (stack > 0) tile.rows = stack;
        tile.row_elements = stack > 0 ? rows * cols : cols;
        const int64_t tiles = stack > 0 ? rows : 1;
        for (int64_t i = 0; i < tiles; i++) {
            tile.first = at + i * cols;
            space_views(s, tile.first, s->rank - (stack > 0 ? 3 : 2));
            run(s->code, &tile);
        }
        at += tiles * tile.rows * tile.cols;
    }
}

/* ---- the kernel ----------------------------------------------------------------------------- */

holo_status hg_kernel_lane_check_body(const hg_args *a, const holo_tensor *result, holo_error *e)
{
    const hg_lane_code *code = a->code;
    holo_dtype in_type[HG_LANE_MAX_IO], out_type[HG_LANE_MAX_IO];
    HG_REQUIRE(e, a->n_in == code->n_in, HOLO_E_FORMAT, "%u inputs, expected %u by the lane code",
               a->n_in, code->n_in);
    HG_REQUIRE(e, a->n_out == code->n_out, HOLO_E_FORMAT,
               "%u outputs, expected %u by the lane code", a->n_out, code->n_out);
    for (uint32_t i = 0; i < a->n_in; i++) {
        const holo_tensor *t = i == 0 && result != NULL ? result : &a->in[i];
        in_type[i] = t->dtype;
        HG_TRY(hg_check_broadcast(t, &a->out[0], e, "an input"));
    }
    for (uint32_t i = 0; i < a->n_out; i++) {
        out_type[i] = a->out[i].dtype;
        HG_TRY(hg_check_same_shape(&a->out[i], &a->out[0], e, "a lane result"));
    }
    return hg_lane_check_types(code, in_type, out_type, e);
}

holo_status hg_kernel_lane_check(const hg_args *a, holo_error *e)
{
    hg_types types = HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_NARROW;
    HG_REQUIRE(e, a->code != NULL, HOLO_E_FORMAT, "lane code is missing");
    HG_TRY(hg_check_counts(a, e, 0, -1, (int)a->n_out, 0));
    for (uint32_t i = 0; i < a->n_in; i++)
        HG_TRY(hg_check_in_type(a, e, i, types));
    for (uint32_t i = 0; i < a->n_out; i++)
        HG_TRY(hg_check_out_type(a, e, i, types));
    return hg_kernel_lane_check_body(a, NULL, e);
}

int64_t hg_kernel_lane_units(const hg_args *a)
{
    return hg_ceil_div(hg_dims_product(&a->out[0], 0, a->out[0].rank), LANE_BLOCK);
}

size_t hg_kernel_lane_scratch(const hg_args *a)
{
    return hg_lane_space_scratch(a->code);
}

void hg_kernel_lane_cost(const hg_args *a, hg_cost *cost)
{
    uint32_t ops = 0;
    for (uint32_t i = 0; i < a->code->n_op; i++)
        ops += hg_lane_operands(a->code->op[i].op) > 0;
    cost->flops = (double)ops * (double)hg_dims_product(&a->out[0], 0, a->out[0].rank);
}

/* Bits after the last element of a packed output are 0, so that equal tensors have equal bytes. */
static void lane_clear_padding(const holo_tensor *t)
{
    uint32_t bits = hg_dtype_bits(t->dtype);
    int64_t used = holo_tensor_count(t) * (int64_t)bits;
    if (bits >= 8 || used % 8 == 0) return;
    uint8_t *last = (uint8_t *)t->data + used / 8;
    *last = (uint8_t)(*last & ((1 << used % 8) - 1));
}

void hg_kernel_lane_run(const hg_args *a, hg_range r, hg_lane_run_fn run)
{
    hg_lane_space *space = hg_lane_space_init(r.scratch, a->code, NULL, a->in, a->out);
    int64_t end = hg_min(r.end * LANE_BLOCK, space->count);
    hg_lane_space_run(space, r.begin * LANE_BLOCK, end, a->fault, run);
    for (uint32_t i = 0; end == space->count && i < a->n_out; i++)
        lane_clear_padding(&a->out[i]);
}

static void lane_run_reference(const hg_args *a, hg_range r)
{
    hg_kernel_lane_run(a, r, hg_lane_run);
}

const hg_kernel hg_kernels_lane[] = {
    {
        .name = "lane",
        .flags = HG_KERNEL_INPLACE,
        .check = hg_kernel_lane_check,
        .units = hg_kernel_lane_units,
        .scratch = hg_kernel_lane_scratch,
        .cost = hg_kernel_lane_cost,
        .run = lane_run_reference,
    },
    {0},
};
