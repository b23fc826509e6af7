/* synth.c - programs in place of tables: known functions find short ones, random programs are found
 * again in at most their weight or not at all but never wrong, and one changed entry is another
 * table. */
#include "table/synth.h"

#include "../test.h"
#include "whole.h"

#include <math.h>

typedef struct synth_found {
    bool found;
    uint32_t weight;
    hg_byteops program;
} synth_found;

/* Searches; what is found is compared here, code by code. */
static synth_found synth_search(const uint8_t *entry, int64_t base, int64_t count, uint32_t most)
{
    holo_error error = {0};
    hg_ctx ctx = {.error = &error};
    synth_found f = {0};
    hg_arena_init(&ctx.arena, NULL, 0);
    CHECK_OK(hg_synth_find(&ctx, entry, (hg_alphabet){base, count}, most, &f.program, &f.found),
             &error);
    hg_arena_deinit(&ctx.arena);
    for (uint32_t i = 0; f.found && i < f.program.n; i++)
        f.weight += hg_byteops_weight(f.program.op[i], f.program.arg[i]);
    for (int64_t k = base; f.found && k < base + count; k++)
        if (!CHECK_EQ_INT(hg_byteops_at(&f.program, (uint8_t)k), entry[k])) break;
    CHECK(!f.found || f.weight <= most);
    return f;
}

/* ---- functions that have one -------------------------------------------------------------- */

static int synth_limit(double v, int low, int high)
{
    return v < low ? low : v > high ? high : (int)lround(v);
}

typedef struct synth_case {
    const char *name;
    int (*function)(int x, int s);
    uint32_t weight; /* at most; 0: there is none */
} synth_case;

#define SYNTH(name, value)                                                                         \
    static int synth_##name(int x, int s)                                                          \
    {                                                                                              \
        (void)x;                                                                                   \
        (void)s;                                                                                   \
        return value;                                                                              \
    }
SYNTH(relu, s < 0 ? 0 : s)
SYNTH(relu_at_100, x < 100 ? 100 : x)
SYNTH(clip, synth_limit(x, 30, 200))
SYNTH(clip_and_move, synth_limit(x - 20, 0, 150))
SYNTH(negate, -s)
SYNTH(absolute, s < 0 ? -s : s)
SYNTH(sign, s > 0 ? 1 : s < 0 ? -1 : 0)
SYNTH(solarise, x < 128 ? x : 255 - x)
SYNTH(posterise, x & 0xe0)
SYNTH(steep, synth_limit(255 / (1 + exp(-(x - 128) * .8)), 0, 255))
SYNTH(threshold, x > 77)
SYNTH(thresholded, s > 20 ? s : 0)
SYNTH(equal, x == 7)
SYNTH(shrink, s > 10 ? s - 10 : s < -10 ? s + 10 : 0)
SYNTH(twice, synth_limit(2 * x - 30, 0, 255))
SYNTH(contrast, synth_limit((x - 128) * 2 + 128, 0, 255))
SYNTH(to_signed, x - 128)
SYNTH(rotate, x << 3 | x >> 5)
SYNTH(gray, x ^ x >> 1)
SYNTH(waves, x < 64 ? x : x < 128 ? 128 - x : x < 192 ? x - 128 : 256 - x)
SYNTH(larger_nibble, (x & 15) > (x >> 4) ? (x & 15) : x >> 4)
SYNTH(levels, x < 64 ? 10 : x < 128 ? 90 : x < 192 ? 33 : 7)
SYNTH(rounded_half, (x + 1) >> 1)
SYNTH(steps_of_16, ((x + 8 > 255 ? 255 : x + 8) >> 4) * 13)
SYNTH(sigmoid, synth_limit(255 / (1 + exp(-(x - 128) * .05)), 0, 255))
SYNTH(gamma, synth_limit(255 * pow(x / 255.0, 2.2), 0, 255))
SYNTH(noise, (x * 167 + 13) ^ (x * x >> 3))
#undef SYNTH

static const synth_case synth_cases[] = {
    {"relu", synth_relu, 1},
    {"relu_at_100", synth_relu_at_100, 1},
    {"clip", synth_clip, 2},
    {"clip_and_move", synth_clip_and_move, 2},
    {"negate", synth_negate, 1},
    {"absolute", synth_absolute, 1},
    {"sign", synth_sign, 2},
    {"solarise", synth_solarise, 2},
    {"posterise", synth_posterise, 1},
    {"steep", synth_steep, 3},
    {"threshold", synth_threshold, 2},
    {"thresholded", synth_thresholded, 2},
    {"equal", synth_equal, 2},
    {"shrink", synth_shrink, 3},
    {"twice", synth_twice, 2},
    {"contrast", synth_contrast, 3},
    {"to_signed", synth_to_signed, 1},
    {"rotate", synth_rotate, 6},
    {"gray", synth_gray, 3},
    {"waves", synth_waves, 4},
    {"larger_nibble", synth_larger_nibble, 6},
    {"levels", synth_levels, 3},
    {"rounded_half", synth_rounded_half, 6},
    {"steps_of_16", synth_steps_of_16, 4},
    {"sigmoid", synth_sigmoid, 0},
    {"gamma", synth_gamma, 0},
    {"noise", synth_noise, 0},
};

static void synth_functions(void)
{
    for (size_t i = 0; i < HG_COUNT(synth_cases); i++) {
        const synth_case *c = &synth_cases[i];
        uint8_t entry[256];
        for (int x = 0; x < 256; x++)
            entry[x] = (uint8_t)c->function(x, x < 128 ? x : x - 256);
        const synth_found f = synth_search(entry, 0, 256, HG_BYTEOPS_MAX);
        if (f.found != (c->weight != 0) || f.weight > c->weight)
            hg_test_fail(HG_TEST_HERE, "%s: found %d with weight %u, expected %u", c->name, f.found,
                         f.weight, c->weight);
    }
}

/* Codes that cannot come may become anything: a sine of 16 values is a list. */
static void synth_narrow(void)
{
    uint8_t entry[256] = {0};
    for (int x = 100; x < 136; x++)
        entry[x] = (uint8_t)(128 + 100 * sin(x));
    CHECK_EQ_INT(synth_search(entry, 100, 16, HG_BYTEOPS_MAX).weight, 1);
    CHECK_EQ_INT(synth_search(entry, 120, 16, HG_BYTEOPS_MAX).weight, 2);
    CHECK(!synth_search(entry, 120, 16, 1).found);
}

/* ---- random programs ---------------------------------------------------------------------- */

static uint32_t synth_draw(uint64_t *seed, uint32_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % n;
}

/* Operations that join, in chains of one to three, with codes from a random stretch. */
static hg_byteops synth_program(uint64_t *seed, uint32_t n)
{
    static const uint8_t ops[] = {HG_BYTE_ADD,    HG_BYTE_XOR,    HG_BYTE_FROM,   HG_BYTE_ADD_U8,
                                  HG_BYTE_SUB_U8, HG_BYTE_ADD_I8, HG_BYTE_SUB_I8, HG_BYTE_MIN_U8,
                                  HG_BYTE_MAX_U8, HG_BYTE_MIN_I8, HG_BYTE_MAX_I8, HG_BYTE_AND,
                                  HG_BYTE_OR,     HG_BYTE_ABS_I8, HG_BYTE_RIGHT,  HG_BYTE_EQUAL};
    hg_byteops p = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        p.op[i] = ops[synth_draw(seed, HG_COUNT(ops))];
        p.arg[i] = (uint8_t)synth_draw(seed, p.op[i] == HG_BYTE_RIGHT ? 8 : 256);
    }
    return p;
}

static void synth_random(void)
{
    uint64_t seed = 11;
    uint32_t found[4] = {0};
    enum { ROUNDS = 60 };
    for (uint32_t round = 0; round < 3 * ROUNDS; round++) {
        const uint32_t n = 1 + round % 3;
        const hg_byteops p = synth_program(&seed, n);
        uint8_t entry[256];
        uint32_t weight = 0;
        for (int x = 0; x < 256; x++)
            entry[x] = hg_byteops_at(&p, (uint8_t)x);
        for (uint32_t i = 0; i < n; i++)
            weight += hg_byteops_weight(p.op[i], p.arg[i]);
        const synth_found f = synth_search(entry, 0, 256, HG_BYTEOPS_MAX);
        found[n] += f.found && f.weight <= weight;
    }
    CHECK_EQ_INT(found[1], ROUNDS);
    CHECK(found[2] >= ROUNDS * 9 / 10);
    CHECK(found[3] >= ROUNDS * 7 / 10);
}

/* One entry of a table with a program changed: what is found, if anything, has it. */
static void synth_mutated(void)
{
    for (int at = 0; at < 256; at += 5) {
        uint8_t entry[256];
        for (int x = 0; x < 256; x++)
            entry[x] = (uint8_t)synth_limit(x - 20, 0, 150);
        entry[at] ^= 64;
        (void)synth_search(entry, 0, 256, 3);
    }
}

/* ---- graphs --------------------------------------------------------------------------------- */

#define SYNTH_RELU                                                                                 \
    "graph g(%x: uint8[n,1000]) {\n"                                                               \
    "  %s = const float32[] {0.05}\n"                                                              \
    "  %z = const uint8[] {100}\n"                                                                 \
    "  %a = DequantizeLinear(%x, %s, %z)\n"                                                        \
    "  %b = Relu(%a)\n"                                                                            \
    "  %y = QuantizeLinear(%b, %s, %z)\n"                                                          \
    "  return %y\n}\n"
#define SYNTH_SIGMOID                                                                              \
    "graph g(%x: uint8[n,1000]) {\n"                                                               \
    "  %s = const float32[] {0.05}\n"                                                              \
    "  %z = const uint8[] {100}\n"                                                                 \
    "  %a = DequantizeLinear(%x, %s, %z)\n"                                                        \
    "  %b = Sigmoid(%a)\n"                                                                         \
    "  %y = QuantizeLinear(%b, %s, %z)\n"                                                          \
    "  return %y\n}\n"

static void synth_graph(const char *text, uint32_t tables, uint32_t programs)
{
    whole w;
    if (CHECK_OK(whole_read(&w, text, "collapse_tables", false), &w.error)) {
        bool changed = false;
        CHECK_OK(hg_table_synthesize(&w.g, false, &changed), &w.error);
        CHECK_OK(hg_graph_verify(&w.g, &w.error), &w.error);
        CHECK_EQ_INT(whole_count(&w, "holo:Table"), tables);
        CHECK_EQ_INT(whole_count(&w, "holo:ByteOps"), programs);
    }
    whole_free(&w);
}

static void synth_graphs(void)
{
    synth_graph(SYNTH_RELU, 0, 1);
    synth_graph(SYNTH_SIGMOID, 1, 0);
}

const hg_test_case hg_tests_table_synth[] = {
    {"functions", synth_functions}, {"narrow", synth_narrow}, {"random", synth_random},
    {"mutated", synth_mutated},     {"graphs", synth_graphs}, {0},
};
