/* atlas.c - Atlas by enumeration, from its definition in words; Q96, addresses and rings. */
#include "base/atlas.h"

#include "test.h"

#include <math.h>
#include <string.h>

/* h2, d, l of a byte, by digits. */
static int atlas_digit(int byte, int which)
{
    static const int modality[4] = {0, 1, 2, 0};
    if (which == 0) return byte / 64;
    return which == 1 ? modality[byte / 16 % 4] : byte / 2 % 8;
}

static void atlas_classes(void)
{
    int size[96] = {0};
    for (int b = 0; b < 256; b++) {
        const int h2 = atlas_digit(b, 0), d = atlas_digit(b, 1), l = atlas_digit(b, 2);
        const uint8_t c = holo_atlas_class((uint8_t)b);
        uint8_t at[3];
        CHECK_EQ_INT(c, 24 * h2 + 8 * d + l);
        CHECK_EQ_INT(hg_atlas_class((uint8_t)b), c);
        holo_atlas_coordinates(c, &at[0], &at[1], &at[2]);
        CHECK(at[0] == h2 && at[1] == d && at[2] == l);
        CHECK_EQ_INT(holo_atlas_residual((uint8_t)b), b % 2 + (b / 16 % 4 == 3 ? 2 : 0));
        CHECK_EQ_INT(holo_atlas_byte(c, holo_atlas_residual((uint8_t)b)), b);
        size[c]++;
    }
    for (int c = 0; c < 96; c++) {
        const uint8_t byte = holo_atlas_byte((uint8_t)c, 0);
        CHECK_EQ_INT(holo_atlas_class(byte), c);
        CHECK_EQ_INT(byte, c / 24 * 64 + c % 24 / 8 * 16 + c % 8 * 2);
        CHECK_EQ_INT(size[c], c % 24 < 8 ? 4 : 2);
    }
    CHECK_EQ_INT(holo_atlas_class(0x2a), 21);
    CHECK_EQ_INT(holo_atlas_byte(5, 0), 0x0a);
    CHECK_EQ_INT(holo_atlas_byte(21, 2), 0x2a); /* no second flag where d is not 0 */
    CHECK_EQ_INT(holo_atlas_byte(96 + 5, 0), 0x0a);
}

/* What a word does to coordinates, the last letter first. */
static int atlas_follow(const char *word, int c)
{
    int h2 = c / 24, d = c % 24 / 8, l = c % 8;
    for (size_t k = strlen(word); k-- > 0;) {
        if (word[k] == 'R') h2 = (h2 + 1) % 4;
        if (word[k] == 'D') d = (d + 1) % 3;
        if (word[k] == 'T') l = (l + 1) % 8;
        if (word[k] == 'M') d = (3 - d) % 3;
    }
    return 24 * h2 + 8 * d + l;
}

/* All words of up to six letters: 5,461 of them; each is as short as it gets when named. */
static void atlas_every_word(void)
{
    for (int length = 0; length <= 6; length++)
        for (int n = 0; n < 1 << 2 * length; n++) {
            char word[8] = "", back[16];
            uint8_t map[96], again[96];
            for (int k = 0; k < length; k++)
                word[k] = "RDTM"[n >> 2 * k & 3];
            CHECK(holo_atlas_map(word, map));
            for (int c = 0; c < 96; c++)
                if (!CHECK_EQ_INT(map[c], atlas_follow(word, c))) return;
            if (!CHECK(holo_atlas_word(map, back))) return;
            CHECK(holo_atlas_map(back, again));
            CHECK_MEM(again, map, sizeof map);
            CHECK(strlen(back) <= 13);
        }
}

static void atlas_word_is(const char *word, const char *expected)
{
    uint8_t map[96];
    char back[16] = "?";
    CHECK(holo_atlas_map(word, map));
    CHECK(holo_atlas_word(map, back));
    CHECK_STR(back, expected);
}

static void atlas_laws(void)
{
    uint8_t map[96] = {1, 2, 3}, before[96];
    char word[16] = "as before";
    atlas_word_is("RRRR", "");
    atlas_word_is("DDD", "");
    atlas_word_is("TTTTTTTT", "");
    atlas_word_is("MM", "");
    atlas_word_is("MDM", "DD");
    atlas_word_is("MDMD", "");
    atlas_word_is("MRTD", "RDDTM");
    memcpy(before, map, sizeof map);
    CHECK(!holo_atlas_map("RX", map));
    CHECK_MEM(map, before, sizeof map);
    CHECK(!holo_atlas_word(map, word)); /* a map, but no word */
    map[95] = 96;
    CHECK(!holo_atlas_word(map, word));
    CHECK_STR(word, "as before");
    CHECK(!holo_atlas_compose(map, before, before));
    CHECK(!holo_atlas_compose(before, map, before));
}

static void atlas_composes(void)
{
    uint8_t f[96], g[96], out[96];
    for (int i = 0; i < 96; i++) {
        f[i] = (uint8_t)(i * i % 96);
        g[i] = (uint8_t)((i + 17) % 96 / 3);
    }
    CHECK(holo_atlas_compose(g, f, out));
    for (int i = 0; i < 96; i++)
        CHECK_EQ_INT(out[i], (i * i % 96 + 17) % 96 / 3);
    CHECK(holo_atlas_compose(g, f, f)); /* over an operand */
    CHECK_MEM(f, out, sizeof f);
}

/* A function factors exactly when no byte differs from its class's representative. */
static void atlas_factors(void)
{
    uint8_t function[256], map[96];
    for (int b = 0; b < 256; b++)
        function[b] = (uint8_t)(atlas_digit(b, 0) * 50 + atlas_digit(b, 1) * 10 + 3);
    CHECK(holo_atlas_factors(function, map));
    for (int b = 0; b < 256; b++)
        CHECK_EQ_INT(map[holo_atlas_class((uint8_t)b)], function[b]);
    for (int b = 0; b < 256; b++) {
        function[b]++;
        CHECK(!holo_atlas_factors(function, map));
        function[b]--;
    }
}

static void atlas_levels(void)
{
    const holo_q96 q = {.low = -2.0f, .step = 0.25f}, r = holo_q96_make(-1.0f, 18.0f);
    for (int c = 0; c < 96; c++) {
        CHECK(holo_q96_value(&q, (uint8_t)c) == -2.0f + 0.25f * (float)c);
        CHECK_EQ_INT(holo_q96_code(&q, -2.0f + 0.25f * (float)c + 0.1f), c);
        CHECK_EQ_INT(holo_q96_code(&q, -2.0f + 0.25f * (float)c - 0.1f), c);
        /* ties go to the even level */
        if (c < 95)
            CHECK_EQ_INT(holo_q96_code(&q, -2.0f + 0.25f * (float)c + 0.125f),
                         c % 2 == 0 ? c : c + 1);
    }
    CHECK(r.step == 0.2f);
    CHECK_EQ_INT(holo_q96_code(&q, -INFINITY), 0);
    CHECK_EQ_INT(holo_q96_code(&q, INFINITY), 95);
    CHECK_EQ_INT(holo_q96_code(&q, NAN), 0);
    CHECK_EQ_INT(holo_q96_code(&q, 1e30f), 95);
}

static void atlas_addresses(void)
{
    holo_atlas_address a = {0};
    CHECK_EQ_INT(holo_atlas_cell(47, 255), 12287);
    CHECK_EQ_INT(holo_atlas_cell(48, 0), -1);
    CHECK_EQ_INT(holo_atlas_class_cell(95, 47, 255), 1179647);
    CHECK_EQ_INT(holo_atlas_class_cell(1, 2, 3), 12288 + 512 + 3);
    CHECK_EQ_INT(holo_atlas_class_cell(96, 0, 0), -1);
    CHECK_EQ_INT(holo_atlas_class_cell(0, 48, 0), -1);
    for (uint64_t n = 0; n < UINT64_C(773094113280); n += UINT64_C(7730941139)) {
        CHECK(holo_atlas_address_of(n, &a));
        CHECK(a.number < 96 && a.page < 480);
        CHECK(holo_atlas_address_number(&a) == n);
    }
    CHECK(holo_atlas_address_of(UINT64_C(773094113279), &a));
    CHECK(a.number == 95 && a.page == 479 && a.byte == 255 && a.sub == 65535);
    CHECK(!holo_atlas_address_of(UINT64_C(773094113280), &a));
    CHECK(!holo_atlas_address_of(UINT64_MAX, &a));
    a.page = 480;
    CHECK(holo_atlas_address_number(&a) == UINT64_MAX);
    a.page = 0;
    a.number = 96;
    CHECK(holo_atlas_address_number(&a) == UINT64_MAX);
}

/* Every slot gets the same share of evenly spread hashes. */
static void atlas_slots(void)
{
    int share[96] = {0};
    for (uint64_t h = 0; h < 960; h++)
        share[holo_atlas_slot((2 * h + 1) * (UINT64_MAX / 1920), 96)]++;
    for (int s = 0; s < 96; s++)
        CHECK_EQ_INT(share[s], 10);
    CHECK_EQ_INT(holo_atlas_slot(UINT64_MAX, 96), 95);
    CHECK_EQ_INT(holo_atlas_slot(0, 96), 0);
}

static void atlas_rings(void)
{
    for (uint32_t n = 48; n <= 96; n += 48)
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++) {
                CHECK_EQ_INT(holo_ring_add(n, a, b), a + b < n ? a + b : a + b - n);
                uint32_t sum = 0;
                for (uint32_t i = 0; i < b; i++)
                    sum = holo_ring_add(n, sum, a);
                CHECK_EQ_INT(holo_ring_multiply(n, a, b), sum);
                CHECK_EQ_INT(holo_ring_times(n, b, a), sum);
                CHECK_EQ_INT(holo_ring_add(n, holo_ring_times(n, -(int64_t)b, a), sum), 0);
            }
    CHECK_EQ_INT(holo_ring_add(0, 1, 2), 0);
    CHECK_EQ_INT(holo_ring_times(96, INT64_MIN, 1), 96 - INT64_C(9223372036854775807) % 96 - 1);
}

const hg_test_case hg_tests_base_atlas[] = {
    {"classes", atlas_classes},     {"every_word", atlas_every_word},
    {"laws", atlas_laws},           {"composes", atlas_composes},
    {"factors", atlas_factors},     {"levels", atlas_levels},
    {"addresses", atlas_addresses}, {"slots", atlas_slots},
    {"rings", atlas_rings},         {0},
};
