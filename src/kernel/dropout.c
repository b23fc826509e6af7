/* dropout.c - dropout.mask: which elements a dropout keeps.
 *
 *   in[0]   ratio, one float (absent: 1/2); in[1] training mode, one bool
 *   param   seed
 *   out[0]  bool; all true unless training with a ratio above 0
 *
 * The numbers are those of the Mersenne Twister MT19937, two per element, as numpy.random.seed and
 * numpy.random.uniform give them: an element is kept when its number in [0, 1) is at least the
 * ratio. */
#include "kernel/elem.h"

enum { DROPOUT_WORDS = 624, DROPOUT_SHIFT = 397 };

typedef struct dropout_twister {
    uint32_t word[DROPOUT_WORDS];
    int next;
} dropout_twister;

static holo_status dropout_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 1));
    for (uint32_t i = 0; i < 2; i++) {
        if (i == 0 && !hg_args_has(a, 0)) continue;
        HG_TRY(hg_check_in_type(a, e, i, i == 0 ? HG_TYPES_FLOAT : HG_TYPES_BOOL));
        HG_REQUIRE(e, holo_tensor_count(&a->in[i]) == 1, HOLO_E_SHAPE,
                   "input %u has %lld elements, expected 1", i,
                   (long long)holo_tensor_count(&a->in[i]));
    }
    return hg_check_out_type(a, e, 0, HG_TYPES_BOOL);
}

static int64_t dropout_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : 1;
}

static size_t dropout_scratch(const hg_args *a)
{
    (void)a;
    return sizeof(dropout_twister);
}

static void dropout_seed(dropout_twister *t, uint32_t seed)
{
    t->word[0] = seed;
    for (uint32_t i = 1; i < DROPOUT_WORDS; i++)
        t->word[i] = 1812433253u * (t->word[i - 1] ^ t->word[i - 1] >> 30) + i;
    t->next = DROPOUT_WORDS;
}

static void dropout_turn(dropout_twister *t)
{
    for (int i = 0; i < DROPOUT_WORDS; i++) {
        uint32_t y = (t->word[i] & 0x80000000u) | (t->word[(i + 1) % DROPOUT_WORDS] & 0x7fffffffu);
        uint32_t odd = (y & 1u) != 0 ? 0x9908b0dfu : 0;
        t->word[i] = t->word[(i + DROPOUT_SHIFT) % DROPOUT_WORDS] ^ y >> 1 ^ odd;
    }
    t->next = 0;
}

static uint32_t dropout_word(dropout_twister *t)
{
    if (t->next == DROPOUT_WORDS) dropout_turn(t);
    uint32_t y = t->word[t->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

static double dropout_uniform(dropout_twister *t)
{
    double high = (double)(dropout_word(t) >> 5), low = (double)(dropout_word(t) >> 6);
    return (high * 0x1p26 + low) * 0x1p-53;
}

static double dropout_ratio(const hg_args *a)
{
    if (!hg_args_has(a, 0)) return 0.5;
    const void *p = a->in[0].data;
    switch ((int)a->in[0].dtype) {
    case HOLO_F64: return *(const double *)p;
    case HOLO_F32: return (double)*(const float *)p;
    case HOLO_F16: return (double)hg_f16_to_f32(*(const uint16_t *)p);
    default: return (double)hg_bf16_to_f32(*(const uint16_t *)p);
    }
}

static void dropout_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const int64_t count = holo_tensor_count(&a->out[0]);
    const double ratio = dropout_ratio(a);
    uint8_t *mask = a->out[0].data;
    memset(mask, 1, (size_t)count);
    if (*(const uint8_t *)a->in[1].data == 0 || ratio == 0) return;
    if (!(ratio > 0 && ratio < 1)) {
        hg_fault_value(a->fault, "ratio is not in [0, 1)", 0, (int64_t)(ratio < 0));
        return;
    }
    dropout_twister *t = r.scratch;
    const uint64_t turn = a->turn == NULL ? 0 : *a->turn;
    dropout_seed(t, (uint32_t)a->param[0] ^ (uint32_t)turn ^ (uint32_t)(turn >> 32));
    for (int64_t i = 0; i < count; i++)
        mask[i] = dropout_uniform(t) >= ratio;
}

const hg_kernel hg_kernels_dropout[] = {
    {.name = "dropout.mask",
     .check = dropout_check,
     .units = dropout_units,
     .scratch = dropout_scratch,
     .run = dropout_run},
    {0},
};
