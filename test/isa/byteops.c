/* byteops.c - each operation for all values and constants against its definition in wide integers,
 * and what is no program. */
#include "isa/byteops.h"

#include "../test.h"

#include <string.h>

static int byteops_i8(int a)
{
    return a < 128 ? a : a - 256;
}

static int byteops_limit(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

static int byteops_expected(int op, int a, int c)
{
    const int sa = byteops_i8(a), sc = byteops_i8(c);
    switch (op) {
    case HG_BYTE_ADD: return (a + c) % 256;
    case HG_BYTE_FROM: return (c - a + 256) % 256;
    case HG_BYTE_XOR: return (a | c) - (a & c);
    case HG_BYTE_AND: return a & c;
    case HG_BYTE_OR: return a | c;
    case HG_BYTE_ADD_U8: return byteops_limit(a + c, 0, 255);
    case HG_BYTE_SUB_U8: return byteops_limit(a - c, 0, 255);
    case HG_BYTE_ADD_I8: return byteops_limit(sa + sc, -128, 127) & 255;
    case HG_BYTE_SUB_I8: return byteops_limit(sa - sc, -128, 127) & 255;
    case HG_BYTE_MIN_U8: return a < c ? a : c;
    case HG_BYTE_MAX_U8: return a < c ? c : a;
    case HG_BYTE_MIN_I8: return (sa < sc ? sa : sc) & 255;
    case HG_BYTE_MAX_I8: return (sa < sc ? sc : sa) & 255;
    case HG_BYTE_EQUAL: return a == c ? 255 : 0;
    case HG_BYTE_MORE_I8: return sa > sc ? 255 : 0;
    case HG_BYTE_ABS_I8: return sa < 0 ? -sa : sa;
    case HG_BYTE_RIGHT: return a / (1 << c);
    case HG_BYTE_LEFT: return a * (1 << c) % 256;
    case HG_BYTE_TWICE_U8: return byteops_limit(2 * a, 0, 255);
    case HG_BYTE_TWICE_I8: return byteops_limit(2 * sa, -128, 127) & 255;
    default: return -1;
    }
}

static void byteops_each(void)
{
    for (int op = HG_BYTE_ADD; op < HG_BYTE_OPS; op++) {
        if (byteops_expected(op, 0, 0) < 0) continue;
        const bool shifts = op == HG_BYTE_RIGHT || op == HG_BYTE_LEFT;
        for (int c = 0; c < (shifts ? 8 : 256); c++)
            for (int a = 0; a < 256; a++) {
                const hg_byteops p = {.n = 1, .op = {(uint8_t)op}, .arg = {(uint8_t)c}};
                if (!CHECK_EQ_INT(hg_byteops_at(&p, (uint8_t)a), byteops_expected(op, a, c)))
                    return;
                if (!hg_byteops_is_binary((uint8_t)op)) continue;
                const hg_byteops with_code = {.n = 1, .op = {(uint8_t)(op | HG_BYTE_CODE)}};
                if (!CHECK_EQ_INT(hg_byteops_step(&with_code, 0, (uint8_t)a, (uint8_t)c),
                                  byteops_expected(op, a, c)))
                    return;
            }
    }
}

static void byteops_lists(void)
{
    hg_byteops p = {.n = 1, .n_list = 2};
    for (int i = 0; i < 16; i++) {
        p.list[0][i] = (uint8_t)(i * 37 + 200);
        p.list[1][i] = (uint8_t)(i * 91 + 7);
    }
    for (int a = 0; a < 256; a++) {
        const int low = p.list[0][a % 16], high = p.list[1][a / 16];
        const int expected[] = {byteops_expected(HG_BYTE_XOR, low, high),
                                (low + high) % 256,
                                low | high,
                                low & high,
                                low < high ? low : high,
                                low > high ? low : high};
        p.op[0] = HG_BYTE_LOOK;
        CHECK_EQ_INT(hg_byteops_at(&p, (uint8_t)a), a < 128 ? low : 0);
        for (int k = 0; k < 6; k++) {
            p.op[0] = (uint8_t)(HG_BYTE_NIBBLES_XOR + k);
            CHECK_EQ_INT(hg_byteops_at(&p, (uint8_t)a), expected[k]);
        }
    }
}

/* The code is at hand in every operation, not only in the first. */
static void byteops_in_turn(void)
{
    const hg_byteops p = {
        .n = 3, .op = {HG_BYTE_RIGHT, HG_BYTE_XOR | HG_BYTE_CODE, HG_BYTE_ADD}, .arg = {1, 0, 3}};
    for (int a = 0; a < 256; a++)
        CHECK_EQ_INT(hg_byteops_at(&p, (uint8_t)a), ((a ^ a >> 1) + 3) & 255);
}

static void byteops_reads(void)
{
    static const struct {
        size_t size;
        uint8_t bytes[5];
        bool good;
    } cases[] = {
        {1, {0}, true},
        {3, {1, HG_BYTE_ADD, 9}, true},
        {3, {1, HG_BYTE_ADD | HG_BYTE_CODE, 0}, true},
        {3, {1, HG_BYTE_LEFT, 7}, true},
        {0, {0}, false},
        {2, {1, HG_BYTE_ADD}, false},
        {4, {1, HG_BYTE_ADD, 9, 0}, false},
        {3, {1, 0, 0}, false},
        {3, {1, HG_BYTE_OPS, 0}, false},
        {3, {1, HG_BYTE_LEFT, 8}, false},
        {3, {1, HG_BYTE_RIGHT, 8}, false},
        {3, {1, HG_BYTE_ABS_I8 | HG_BYTE_CODE, 0}, false},
        {3, {1, HG_BYTE_CODE, 0}, false},
        {3, {1, HG_BYTE_LOOK, 0}, false},
        {3, {7, HG_BYTE_ADD, 0}, false},
    };
    uint8_t bytes[HG_BYTEOPS_BYTES + 16] = {1, HG_BYTE_NIBBLES_OR, 0};
    hg_byteops p, again;
    for (size_t i = 0; i < HG_COUNT(cases); i++)
        CHECK_EQ_INT(hg_byteops_read(cases[i].bytes, cases[i].size, &p), cases[i].good);
    CHECK(!hg_byteops_read(bytes, 3 + 16, &p)); /* needs two lists */
    for (int i = 0; i < 32; i++)
        bytes[3 + i] = (uint8_t)(i * 5);
    if (CHECK(hg_byteops_read(bytes, 3 + 32, &p))) {
        uint8_t written[HG_BYTEOPS_BYTES];
        CHECK_EQ_INT(hg_byteops_write(&p, written), 3 + 32);
        CHECK_MEM(written, bytes, 3 + 32);
        CHECK(hg_byteops_read(written, 3 + 32, &again));
        CHECK_MEM(&again, &p, sizeof p);
    }
    bytes[2] = 1;
    CHECK(!hg_byteops_read(bytes, 3 + 32, &p)); /* the second list has no next */
    bytes[0] = 0;
    CHECK(!hg_byteops_read(bytes, 1 + 16 * (HG_BYTEOPS_LISTS + 1), &p));
}

const hg_test_case hg_tests_isa_byteops[] = {
    {"each", byteops_each},
    {"lists", byteops_lists},
    {"in_turn", byteops_in_turn},
    {"reads", byteops_reads},
    {0},
};
