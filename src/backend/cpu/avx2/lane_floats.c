/* lane_floats.c - codes of 8 bits become floats in one pass: (x - zero) * factor stays in
 * registers, where the interpreter takes a loop to load, one to convert and one to compute. The
 * bits are those of the lane code. */
#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"

enum { FLOATS_OPS = 6 };

typedef struct lane_floats {
    const hg_lane_view *factor; /* a number for each row, or for each column; NULL: `by` */
    float by, zero;
    bool is_signed;
} lane_floats;

static float floats_number(const hg_lane_op *op)
{
    const uint32_t bits = (uint32_t)op->imm;
    float number;
    memcpy(&number, &bits, sizeof bits);
    return number;
}

/* What operation `by` multiplies with. */
static bool floats_factor(const hg_lane_op *by, const hg_lane_tile *t, lane_floats *out)
{
    out->by = floats_number(by);
    if (by->op == HG_LANE_CONST) return true;
    if (by->op != HG_LANE_LOAD || by->index == 0) return false;
    out->factor = &t->in[by->index];
    return out->factor->dtype == HOLO_F32 && (out->factor->col == 0 || out->factor->col == 1);
}

/* Operation i is operand 0, converted, with or without a zero point taken off. */
static bool floats_value(const hg_lane_op *op, const uint8_t *a, const uint8_t *b, uint32_t i,
                         lane_floats *out)
{
    if (op[i].op == HG_LANE_SUB && op[b[i]].op == HG_LANE_CONST) {
        out->zero = floats_number(&op[b[i]]);
        i = a[i];
    }
    return op[i].op == HG_LANE_CAST && op[i].index == HG_LANE_I32 && op[a[i]].op == HG_LANE_LOAD &&
           op[a[i]].index == 0;
}

static bool floats_read(const hg_lane_code *code, const hg_lane_tile *t, lane_floats *out)
{
    uint8_t a[FLOATS_OPS], b[FLOATS_OPS], writer[HG_LANE_MAX_REG] = {0};
    const hg_lane_op *op = code->op;
    if (code->n_op > FLOATS_OPS || code->n_out != 1) return false;
    for (uint32_t i = 0; i < code->n_op; i++) {
        a[i] = writer[op[i].a];
        b[i] = writer[op[i].b];
        writer[op[i].dst] = (uint8_t)i;
    }
    const uint32_t last = writer[code->out[0].reg];
    *out = (lane_floats){.is_signed = t->in[0].dtype == HOLO_I8};
    return op[last].op == HG_LANE_MUL && op[last].type == HG_LANE_F32 &&
           ((floats_value(op, a, b, a[last], out) && floats_factor(&op[b[last]], t, out)) ||
            (floats_value(op, a, b, b[last], out) && floats_factor(&op[a[last]], t, out)));
}

HG_INLINE void floats_eight(const lane_floats *f, const uint8_t *x, __m256 factor, float *y)
{
    const __m128i codes = _mm_loadl_epi64((const __m128i *)(const void *)x);
    const __m256 v = _mm256_cvtepi32_ps(f->is_signed ? _mm256_cvtepi8_epi32(codes)
                                                     : _mm256_cvtepu8_epi32(codes));
    _mm256_storeu_ps(y, _mm256_mul_ps(_mm256_sub_ps(v, _mm256_set1_ps(f->zero)), factor));
}

/* Row i of a tile; its last eight once more where groups do not end with it. */
static void floats_row(const lane_floats *f, const hg_lane_tile *t, int64_t i)
{
    const hg_lane_view *x = t->in, *y = t->out, *v = f->factor;
    const uint8_t *from = (const uint8_t *)x->data + x->first + i * x->row;
    const float *factor = v == NULL ? &f->by : (const float *)v->data + v->first + i * v->row;
    float *to = (float *)y->data + y->first + i * y->row;
    const __m256 one = _mm256_set1_ps(*factor);
    const bool is_one = v == NULL || v->col == 0;
    for (int64_t k = 0; k < t->cols; k += 8) {
        const int64_t at = hg_min(k, t->cols - 8);
        floats_eight(f, from + at, is_one ? one : _mm256_loadu_ps(factor + at), to + at);
    }
}

bool hg_lane_floats_avx2(const hg_lane_code *code, const hg_lane_tile *t)
{
    lane_floats f;
    const hg_lane_view *x = t->in, *y = t->out;
    if (code->n_in == 0 || t->cols < 8 || y->dtype != HOLO_F32 || x->col != 1 || y->col != 1 ||
        (x->dtype != HOLO_U8 && x->dtype != HOLO_I8) || !floats_read(code, t, &f))
        return false;
    /* what is done twice must be there still */
    if (f.factor != NULL && f.factor->data == y->data) return false;
    for (int64_t i = 0; i < t->rows; i++)
        floats_row(&f, t, i);
    return true;
}
