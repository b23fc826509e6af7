/* cmd_atlas.c - hologram atlas: the 96 classes of bytes, and their laws checked one case at a time.
 */
#include "cli/commands.h"

#include "io/json.h"

#include <string.h>

typedef struct atlas_args {
    bool json, list;
} atlas_args;

/* One law: how many cases were tried and how many of them broke it. */
typedef struct atlas_tally {
    uint64_t tried, broken;
} atlas_tally;

static void atlas_count(atlas_tally *t, bool holds)
{
    t->tried++;
    t->broken += !holds;
}

/* ---- bytes and classes --------------------------------------------------------------------- */

static void atlas_bijection(atlas_tally *t)
{
    for (int b = 0; b < 256; b++) {
        const uint8_t byte = (uint8_t)b, number = holo_atlas_class(byte);
        atlas_count(t, number < 96 && holo_atlas_byte(number, holo_atlas_residual(byte)) == byte);
    }
}

static void atlas_representatives(atlas_tally *t)
{
    for (int c = 0; c < 96; c++) {
        const uint8_t byte = holo_atlas_byte((uint8_t)c, 0);
        atlas_count(t, holo_atlas_class(byte) == c && byte % 2 == 0 && (byte & 0x30) != 0x30);
    }
}

static void atlas_fibres(atlas_tally *t)
{
    int size[96] = {0}, pairs = 0, fours = 0;
    for (int b = 0; b < 256; b++)
        size[holo_atlas_class((uint8_t)b)]++;
    for (int c = 0; c < 96; c++) {
        uint8_t h2, d, l;
        holo_atlas_coordinates((uint8_t)c, &h2, &d, &l);
        atlas_count(t, size[c] == (d == 0 ? 4 : 2));
        pairs += size[c] == 2;
        fours += size[c] == 4;
    }
    atlas_count(t, pairs == 64 && fours == 32);
}

/* What replacing a byte by its representative costs: 12.5 on average, 49 at worst. */
static void atlas_projection(atlas_tally *t)
{
    int sum = 0, worst = 0;
    for (int b = 0; b < 256; b++) {
        const int error = b - holo_atlas_byte(holo_atlas_class((uint8_t)b), 0);
        sum += error;
        worst = error > worst ? error : worst;
        atlas_count(t, error >= 0);
    }
    atlas_count(t, sum * 2 == 25 * 256 && worst == 49);
}

/* ---- transforms ---------------------------------------------------------------------------- */

/* Two words that are the same map. */
static bool atlas_same(const char *a, const char *b)
{
    uint8_t f[96], g[96];
    return holo_atlas_map(a, f) && holo_atlas_map(b, g) && memcmp(f, g, sizeof f) == 0;
}

static void atlas_words(atlas_tally *t)
{
    static const char *const same[][2] = {
        {"RRRR", ""}, {"DDD", ""},  {"TTTTTTTT", ""}, {"MM", ""},   {"RD", "DR"},
        {"RT", "TR"}, {"DT", "TD"}, {"MR", "RM"},     {"MT", "TM"}, {"MDM", "DD"},
    };
    static const char *const other[] = {"R", "RR", "D", "T", "TT", "TTTT", "M"};
    for (size_t i = 0; i < HG_COUNT(same); i++)
        atlas_count(t, atlas_same(same[i][0], same[i][1]));
    for (size_t i = 0; i < HG_COUNT(other); i++)
        atlas_count(t, !atlas_same(other[i], ""));
}

/* R^a D^b T^c M^m: 4 * 3 * 8 * 2 words, all different, and closed under composition. */
static void atlas_group(atlas_tally *t)
{
    static uint8_t map[192][96];
    char word[16];
    for (int n = 0; n < 192; n++) {
        const int turns[4] = {n % 4, n / 4 % 3, n / 12 % 8, n / 96};
        size_t at = 0;
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < turns[k]; i++)
                word[at++] = "RDTM"[k];
        word[at] = '\0';
        char back[16] = "";
        atlas_count(t, holo_atlas_map(word, map[n]) && holo_atlas_word(map[n], back) &&
                           strcmp(word, back) == 0);
    }
    for (int i = 0; i < 192 * 192; i++) {
        uint8_t both[96];
        atlas_count(t, holo_atlas_compose(map[i / 192], map[i % 192], both) &&
                           holo_atlas_word(both, word));
    }
}

/* ---- maps, levels, addresses, rings -------------------------------------------------------- */

static void atlas_levels(atlas_tally *t)
{
    const holo_q96 q = holo_q96_make(-1.5f, 3.25f);
    for (int c = 0; c < 96; c++)
        atlas_count(t, holo_q96_code(&q, holo_q96_value(&q, (uint8_t)c)) == c);
    atlas_count(t, holo_q96_code(&q, -100.0f) == 0 && holo_q96_code(&q, 100.0f) == 95);
}

/* (h g) f = h (g f), for maps that forget things too. */
static void atlas_associative(atlas_tally *t)
{
    uint8_t f[96], g[96], h[96], left[96], right[96], identity[96];
    holo_atlas_map("", identity);
    for (int n = 0; n < 96; n++) {
        for (int i = 0; i < 96; i++) {
            f[i] = (uint8_t)((i * n + 7) % 96);
            g[i] = (uint8_t)(i * i / 7 % 96);
            h[i] = (uint8_t)(i / (n + 1));
        }
        holo_atlas_compose(h, g, left);
        holo_atlas_compose(left, f, left);
        holo_atlas_compose(g, f, right);
        holo_atlas_compose(h, right, right);
        atlas_count(t, memcmp(left, right, sizeof left) == 0);
        holo_atlas_compose(f, identity, left);
        holo_atlas_compose(identity, f, right);
        atlas_count(t, memcmp(left, f, sizeof f) == 0 && memcmp(right, f, sizeof f) == 0);
    }
}

static void atlas_cells(atlas_tally *t)
{
    uint64_t next = 0;
    for (int n = 0; n < 96 * 48 * 256; n++)
        atlas_count(t, holo_atlas_class_cell((uint8_t)(n / 12288), (uint16_t)(n / 256 % 48),
                                             (uint8_t)(n % 256)) == next++);
}

/* Every class, page and byte with the first and the last sub-address. */
static void atlas_addresses(atlas_tally *t)
{
    for (uint64_t n = 0; n < UINT64_C(96) * 480 * 256 * 2; n++) {
        const uint64_t number = n / 2 * 65536 + n % 2 * 65535;
        holo_atlas_address a;
        atlas_count(t,
                    holo_atlas_address_of(number, &a) && holo_atlas_address_number(&a) == number);
    }
    holo_atlas_address a;
    atlas_count(t, !holo_atlas_address_of(UINT64_C(773094113280), &a));
}

static void atlas_ring(atlas_tally *t)
{
    for (uint32_t n = 48; n <= 96; n += 48)
        for (uint32_t i = 0; i < n * n; i++) {
            const uint32_t a = i / n, b = i % n, c = (a + 5 * b) % n;
            atlas_count(t, holo_ring_add(n, a, b) == holo_ring_add(n, b, a));
            atlas_count(
                t, holo_ring_multiply(n, a, holo_ring_add(n, b, c)) ==
                       holo_ring_add(n, holo_ring_multiply(n, a, b), holo_ring_multiply(n, a, c)));
            atlas_count(t, holo_ring_times(n, b, a) == holo_ring_multiply(n, a, b));
        }
}

/* n -> (n mod 48, n mod 96) takes 96 values, because 48 divides 96: it is not one to one. */
static void atlas_pairs(atlas_tally *t)
{
    static bool seen[48][96];
    int images = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t n = 0; n < 48 * 96; n++) {
        bool *at = &seen[holo_ring_add(48, n, 0)][holo_ring_add(96, n, 0)];
        images += !*at;
        *at = true;
    }
    atlas_count(t, images == 96);
}

typedef struct atlas_law {
    const char *name, *text;
    void (*check)(atlas_tally *t);
} atlas_law;

static const atlas_law atlas_laws[] = {
    {"bijection", "class and residual together are the byte", atlas_bijection},
    {"representatives", "the least byte of a class is even, without bits 5 and 4 both set",
     atlas_representatives},
    {"fibres", "64 classes hold 2 bytes, the 32 with d = 0 hold 4", atlas_fibres},
    {"projection", "class alone loses 12.5 on average and 49 at worst", atlas_projection},
    {"words", "R^4 = D^3 = T^8 = M^2 = 1; R, D, T commute; MR = RM, MT = TM, MDM = D^-1",
     atlas_words},
    {"group", "the words are a group of 192 maps, Z4 x Z8 x S3", atlas_group},
    {"maps", "composition is associative and has an identity", atlas_associative},
    {"levels", "Q96: every level decodes and encodes to itself", atlas_levels},
    {"cells", "96 * 48 * 256 = 1,179,648 class cells, one after the other", atlas_cells},
    {"addresses", "773,094,113,280 addresses, each its own coordinates", atlas_addresses},
    {"rings", "Z48 and Z96: commutative, distributive, multiples are sums", atlas_ring},
    {"pairs", "n -> (n mod 48, n mod 96) has 96 images", atlas_pairs},
};

/* ---- printing ------------------------------------------------------------------------------ */

static void atlas_print_classes(void)
{
    puts("class  h2 d l  bytes");
    for (int c = 0; c < 96; c++) {
        uint8_t h2, d, l;
        holo_atlas_coordinates((uint8_t)c, &h2, &d, &l);
        printf("%5d  %2d %d %d ", c, h2, d, l);
        for (uint8_t r = 0; r < (d == 0 ? 4 : 2); r++)
            printf(" %02x", holo_atlas_byte((uint8_t)c, r));
        putchar('\n');
    }
}

static void atlas_law_json(hg_io_json *json, const atlas_law *law, const atlas_tally *tally)
{
    hg_io_json_object(json);
    hg_io_json_key(json, "name");
    hg_io_json_text(json, law->name);
    hg_io_json_key(json, "law");
    hg_io_json_text(json, law->text);
    hg_io_json_key(json, "cases");
    hg_io_json_int(json, (int64_t)tally->tried);
    hg_io_json_key(json, "broken");
    hg_io_json_int(json, (int64_t)tally->broken);
    hg_io_json_close(json, '}');
}

static int atlas_run(const hg_cli *cli, const void *args)
{
    const atlas_args *a = args;
    hg_io_json json = {.out = stdout};
    uint64_t broken = 0;
    if (a->json && a->list)
        return hg_cli_usage(cli, "atlas", "--json and --list do not go together");
    if (a->list) {
        atlas_print_classes();
        return HG_CLI_OK;
    }
    if (a->json) hg_io_json_array(&json);
    for (size_t i = 0; i < HG_COUNT(atlas_laws); i++) {
        atlas_tally tally = {0};
        atlas_laws[i].check(&tally);
        broken += tally.broken;
        if (a->json)
            atlas_law_json(&json, &atlas_laws[i], &tally);
        else
            printf("%-16s %-9s %9llu cases  %s\n", atlas_laws[i].name,
                   tally.broken == 0 ? "holds" : "BROKEN", (unsigned long long)tally.tried,
                   atlas_laws[i].text);
    }
    if (a->json) {
        hg_io_json_close(&json, ']');
        putchar('\n');
    }
    if (broken != 0) return hg_cli_error(cli, "%llu cases break a law", (unsigned long long)broken);
    return HG_CLI_OK;
}

/* clang-format off */
static const hg_cli_option atlas_options[] = {
    {"json", 0, HG_CLI_FLAG, NULL, "print a JSON array", offsetof(atlas_args, json)},
    {"list", 0, HG_CLI_FLAG, NULL, "print the classes with their bytes instead", offsetof(atlas_args, list)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_atlas = {
    .name = "atlas",
    .operands = "",
    .brief = "Check the laws of the 96 classes of bytes, case by case.",
    .example = "hologram atlas --list | head",
    .options = atlas_options,
    .args_size = sizeof(atlas_args),
    .run = atlas_run,
};
