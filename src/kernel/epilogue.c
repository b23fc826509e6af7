/* epilogue.c - runs lane code on tiles of a kernel's result. */
#include "kernel/epilogue.h"

/* Strides of `from` over dims [begin, end) of `to` as one stride, from the right as far as that is
 * possible for this operand; `stop` comes in as the leftmost dim wanted and goes out as the one
 * reached. */
static int64_t epilogue_collapse(const int64_t *stride, const holo_tensor *to, int begin, int end,
                                 int *stop)
{
    int64_t step = 0, size = 1;
    for (int d = end - 1; d >= begin; d--) {
        if (to->dim[d] == 1) continue;
        if (size == 1) {
            step = stride[d];
        } else if (stride[d] != step * size) {
            if (*stop < d + 1) *stop = d + 1;
            break;
        }
        size *= to->dim[d];
    }
    return step;
}

static holo_status epilogue_check_operand(const hg_args *a, holo_error *e, uint32_t i, int col_dims)
{
    const holo_tensor *t = &a->in[i], *out = &a->out[0];
    HG_TRY(hg_check_in_type(a, e, i, HG_EPILOGUE_TYPES | HG_TYPES_NARROW));
    HG_TRY(hg_check_broadcast(t, out, e, "epilogue operand"));
    if (holo_tensor_count(out) == 0) return HOLO_OK;
    int64_t stride[HG_MAX_RANK];
    hg_broadcast_strides(t, out, stride);
    int stop = 0;
    epilogue_collapse(stride, out, out->rank - col_dims, out->rank, &stop);
    HG_REQUIRE(e, stop == 0, HOLO_E_SHAPE,
               "input %u of the epilogue is broadcast along some of the last %d dimensions only", i,
               col_dims);
    return HOLO_OK;
}

holo_status hg_epilogue_check(const hg_args *a, holo_error *e, uint32_t first_extra, int col_dims,
                              holo_dtype result)
{
    const hg_lane_code *code = a->code;
    if (code == NULL) {
        HG_REQUIRE(e, a->n_in <= first_extra, HOLO_E_FORMAT, "%u inputs, expected at most %u",
                   a->n_in, first_extra);
        return hg_check_same_type(&a->out[0], &a->in[0], e, "output");
    }
    HG_REQUIRE(e, code->n_in >= 1 && code->n_in <= HG_LANE_MAX_IO, HOLO_E_FORMAT,
               "epilogue has %u operands, expected 1 to %d", code->n_in, HG_LANE_MAX_IO);
    HG_REQUIRE(e, code->n_out == 1, HOLO_E_FORMAT, "epilogue has %u results, expected 1",
               code->n_out);
    uint32_t extra = a->n_in > first_extra ? a->n_in - first_extra : 0;
    HG_REQUIRE(e, extra == code->n_in - 1, HOLO_E_FORMAT, "%u inputs for the epilogue, expected %u",
               extra, code->n_in - 1);
    holo_dtype types[HG_LANE_MAX_IO];
    types[0] = result;
    for (uint32_t i = 1; i < code->n_in; i++) {
        HG_TRY(epilogue_check_operand(a, e, first_extra + i - 1, col_dims));
        types[i] = a->in[first_extra + i - 1].dtype;
    }
    return hg_lane_check_types(code, types, &a->out[0].dtype, e);
}

static size_t epilogue_operand_bytes(const hg_lane_code *code)
{
    return hg_align_up(code->n_in * sizeof(hg_epilogue_operand), HG_ALIGN);
}

static size_t epilogue_view_bytes(const hg_lane_code *code)
{
    return hg_align_up((code->n_in + 1) * sizeof(hg_lane_view), HG_ALIGN);
}

size_t hg_epilogue_scratch(const hg_args *a)
{
    if (a->code == NULL) return 0;
    return epilogue_operand_bytes(a->code) + epilogue_view_bytes(a->code) +
           hg_align_up(hg_lane_scratch(a->code), HG_ALIGN);
}

void hg_epilogue_init(hg_epilogue *ep, const hg_args *a, uint32_t first_extra, int col_dims,
                      hg_lane_run_fn run, void *scratch)
{
    const holo_tensor *out = &a->out[0];
    const int rows_rank = out->rank - col_dims;
    char *bytes = scratch;
    ep->args = a;
    ep->run = run;
    ep->operand = (hg_epilogue_operand *)(void *)bytes;
    ep->view = (hg_lane_view *)(void *)(bytes + epilogue_operand_bytes(a->code));
    ep->scratch = bytes + epilogue_operand_bytes(a->code) + epilogue_view_bytes(a->code);
    ep->cols = hg_dims_product(out, rows_rank, out->rank);
    ep->n_outer = 0;
    const uint32_t extra = a->code->n_in - 1;
    for (uint32_t i = 0; i < extra; i++) {
        const holo_tensor *t = &a->in[first_extra + i];
        hg_epilogue_operand *p = &ep->operand[i];
        int ignored = 0;
        hg_broadcast_strides(t, out, p->outer);
        p->col = epilogue_collapse(p->outer, out, rows_rank, out->rank, &ignored);
        epilogue_collapse(p->outer, out, 0, rows_rank, &ep->n_outer);
    }
    ep->period = hg_dims_product(out, ep->n_outer, rows_rank);
    for (uint32_t i = 0; i < extra; i++) {
        int ignored = 0;
        hg_epilogue_operand *p = &ep->operand[i];
        p->row = epilogue_collapse(p->outer, out, ep->n_outer, rows_rank, &ignored);
        ep->view[1 + i] = (hg_lane_view){.data = a->in[first_extra + i].data,
                                         .row = p->row,
                                         .col = p->col,
                                         .dtype = a->in[first_extra + i].dtype};
    }
    ep->view[a->code->n_in] =
        (hg_lane_view){.data = out->data, .row = ep->cols, .col = 1, .dtype = out->dtype};
}

/* Rows [row, row + rows) that lie in one period. */
static void epilogue_chunk(const hg_epilogue *ep, const hg_epilogue_tile *tile, int64_t row,
                           int64_t rows)
{
    const hg_args *a = ep->args;
    const holo_tensor *out = &a->out[0];
    const uint32_t n_in = a->code->n_in;
    const int64_t inner = row % ep->period;
    ep->view[0] = (hg_lane_view){.data = tile->data,
                                 .row = tile->ld,
                                 .col = 1,
                                 .dtype = tile->dtype,
                                 .first = (row - tile->row) * tile->ld};
    for (uint32_t i = 1; i < n_in; i++) {
        const hg_epilogue_operand *p = &ep->operand[i - 1];
        int64_t at = inner * p->row + tile->col * p->col, rest = row / ep->period;
        for (int d = ep->n_outer - 1; d >= 0; d--) {
            at += rest % out->dim[d] * p->outer[d];
            rest /= out->dim[d];
        }
        ep->view[i].first = at;
    }
    const int64_t first = row * ep->cols + tile->col;
    ep->view[n_in].first = first;
    const hg_lane_tile lane = {.in = ep->view,
                               .out = &ep->view[n_in],
                               .rows = rows,
                               .cols = tile->cols,
                               .first = first,
                               .row_elements = ep->cols,
                               .scratch = ep->scratch,
                               .fault = a->fault};
    ep->run(a->code, &lane);
}

void hg_epilogue_run(const hg_epilogue *ep, const hg_epilogue_tile *tile)
{
    if (tile->cols == 0) return;
    const int64_t end = tile->row + tile->rows;
    for (int64_t row = tile->row; row < end;) {
        int64_t rows = hg_min(end - row, ep->period - row % ep->period);
        epilogue_chunk(ep, tile, row, rows);
        row += rows;
    }
}
