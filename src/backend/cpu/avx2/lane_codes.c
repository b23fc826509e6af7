/* lane_codes.c - floats become codes of 8 or 16 bits in one pass: a factor, rounding, a zero point
 * and limits stay in registers, where the interpreter takes a loop for each and one to store. The
 * bits are those of the lane code. */
#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"

enum { CODES_OPS = 12 };

/* limit(round(x * factor) + zero) or the same of x / factor, NaN as 0. */
typedef struct lane_codes {
    const hg_lane_view *factor; /* NULL: `by` */
    float by[8], zero, low, high;
    bool is_short; /* 16 bits */
    bool divides;
} lane_codes;

/* Operands of the operations that are left to read, as numbers of operations. */
typedef struct lane_codes_reader {
    const hg_lane_op *op;
    uint8_t a[CODES_OPS], b[CODES_OPS];
} lane_codes_reader;

/* Operation i is `kind` on floats; *number: its second operand, a constant. */
static bool codes_is(const lane_codes_reader *r, uint32_t i, uint8_t kind, float *number)
{
    const hg_lane_op *second = &r->op[r->b[i]];
    if (r->op[i].op != kind || r->op[i].type != HG_LANE_F32) return false;
    if (number == NULL) return true;
    if (second->op != HG_LANE_CONST) return false;
    const uint32_t bits = (uint32_t)second->imm;
    memcpy(number, &bits, sizeof bits);
    return *number == *number;
}

/* The product of operand 0 and a constant, or a number for each column or row, or the quotient;
 * operand 0 itself is its product with 1. */
static bool codes_factor(const lane_codes_reader *r, const hg_lane_tile *t, uint32_t i,
                         lane_codes *out)
{
    if (r->op[i].op == HG_LANE_LOAD && r->op[i].index == 0) {
        for (int k = 0; k < 8; k++)
            out->by[k] = 1;
        return true;
    }
    out->divides = codes_is(r, i, HG_LANE_DIV, NULL);
    if (!out->divides && !codes_is(r, i, HG_LANE_MUL, NULL)) return false;
    const hg_lane_op *left = &r->op[r->a[i]];
    const bool is_first = out->divides || (left->op == HG_LANE_LOAD && left->index == 0);
    const uint32_t x = is_first ? r->a[i] : r->b[i], by = is_first ? r->b[i] : r->a[i];
    if (r->op[x].op != HG_LANE_LOAD || r->op[x].index != 0) return false;
    const uint32_t bits = (uint32_t)r->op[by].imm;
    for (int k = 0; k < 8; k++)
        memcpy(&out->by[k], &bits, sizeof bits);
    if (r->op[by].op == HG_LANE_CONST) return true;
    if (r->op[by].op != HG_LANE_LOAD || r->op[by].index == 0) return false;
    out->factor = &t->in[r->op[by].index];
    return out->factor->dtype == HOLO_F32 && (out->factor->col == 1 || out->factor->col == 0);
}

static bool codes_read(const hg_lane_code *code, const hg_lane_tile *t, lane_codes *out)
{
    lane_codes_reader r = {.op = code->op};
    uint8_t writer[HG_LANE_MAX_REG] = {0};
    if (code->n_op < 7 || code->n_op > CODES_OPS || code->n_out != 1) return false;
    for (uint32_t i = 0; i < code->n_op; i++) {
        r.a[i] = writer[code->op[i].a];
        r.b[i] = writer[code->op[i].b];
        writer[code->op[i].dst] = (uint8_t)i;
    }
    uint32_t i = writer[code->out[0].reg];
    if (code->op[i].op != HG_LANE_CAST || code->op[i].type != HG_LANE_I32 ||
        code->op[i].index != HG_LANE_F32 || code->out[0].saturate != 0)
        return false;
    *out = (lane_codes){.zero = 0};
    if (!codes_is(&r, i = r.a[i], HG_LANE_MIN, &out->high)) return false;
    if (!codes_is(&r, i = r.a[i], HG_LANE_MAX, &out->low)) return false;
    if (!(out->low <= 0 && out->high >= 0)) return false; /* NaN is 0 whatever the limits */
    if (codes_is(&r, r.a[i], HG_LANE_ADD, &out->zero)) i = r.a[i];
    return codes_is(&r, i = r.a[i], HG_LANE_ROUND, NULL) && codes_factor(&r, t, r.a[i], out);
}

HG_INLINE __m256i codes_eight(const lane_codes *c, __m256 x, __m256 factor)
{
    const __m256 v = c->divides ? _mm256_div_ps(x, factor) : _mm256_mul_ps(x, factor);
    const __m256 whole = _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 code = _mm256_add_ps(whole, _mm256_set1_ps(c->zero));
    /* operands in this order keep a NaN, which becomes 2^31: 0 in the bits that are stored */
    return _mm256_cvttps_epi32(
        _mm256_min_ps(_mm256_set1_ps(c->high), _mm256_max_ps(_mm256_set1_ps(c->low), code)));
}

/* Whole groups of eight; factor: of each column, or eight for all with step 0. */
static void codes_groups(const lane_codes *c, const float *x, const float *factor, int64_t step,
                         uint8_t *out, int64_t n)
{
    const __m256i mask = _mm256_set1_epi32(c->is_short ? 65535 : 255);
    for (int64_t i = 0; i < n; i += 8) {
        const __m256i codes = _mm256_and_si256(
            codes_eight(c, _mm256_loadu_ps(x + i), _mm256_loadu_ps(factor + i * step)), mask);
        const __m128i shorts =
            _mm_packus_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1));
        if (c->is_short)
            _mm_storeu_si128((__m128i *)(void *)(out + 2 * i), shorts);
        else
            _mm_storel_epi64((__m128i *)(void *)(out + i), _mm_packus_epi16(shorts, shorts));
    }
}

/* Row i of a tile; its last eight once more where groups do not end with it. */
static void codes_row(const lane_codes *c, const hg_lane_tile *t, int64_t i)
{
    const hg_lane_view *x = t->in, *y = t->out, *f = c->factor;
    const int64_t bytes = c->is_short ? 2 : 1, whole = t->cols / 8 * 8, last = t->cols - 8;
    const int64_t step = f == NULL ? 0 : f->col;
    const float *from = (const float *)x->data + x->first + i * x->row;
    const float *factor = f == NULL ? c->by : (const float *)f->data + f->first + i * f->row;
    uint8_t *to = (uint8_t *)y->data + (y->first + i * y->row) * bytes;
    float same[8];
    if (f != NULL && step == 0) {
        _mm256_storeu_ps(same, _mm256_set1_ps(*factor));
        factor = same;
    }
    codes_groups(c, from, factor, step, to, whole);
    if (whole != t->cols)
        codes_groups(c, from + last, factor + last * step, step, to + last * bytes, 8);
}

bool hg_lane_codes_avx2(const hg_lane_code *code, const hg_lane_tile *t)
{
    lane_codes c;
    const hg_lane_view *x = t->in, *y = t->out;
    const bool is_short = y->dtype == HOLO_I16 || y->dtype == HOLO_U16;
    if (code->n_in == 0 || t->cols < 8 || x->dtype != HOLO_F32 || x->col != 1 || y->col != 1)
        return false;
    if (!is_short && y->dtype != HOLO_U8 && y->dtype != HOLO_I8) return false;
    if (x->data == y->data || !codes_read(code, t, &c)) return false;
    c.is_short = is_short;
    for (int64_t i = 0; i < t->rows; i++)
        codes_row(&c, t, i);
    return true;
}
