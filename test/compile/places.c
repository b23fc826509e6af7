/* places.c - places of buffers that a compile finds and a file carries: arenas near their bound,
 * and the same answers whatever the section says. */
#include "fault/small.h"
#include "runtime/session.h"

enum { PLACES_TEXT = 1 << 15, PLACES_NODES = 28, PLACES_ROWS = 16, PLACES_MOST_ROWS = 256 };

/* Products of random widths, each of one that came before: buffers of many sizes and lifetimes. */
static void places_graph(char *text, uint64_t *state, const char *rows)
{
    uint32_t width[PLACES_NODES + 1] = {16};
    bool is_read[PLACES_NODES + 1] = {0};
    int at =
        snprintf(text, PLACES_TEXT,
                 "graph g(%%v0: float32[1,%s,16]) {\n  %%k = const float32[1] {0.125}\n", rows);
    for (uint32_t i = 1; i <= PLACES_NODES; i++) {
        const uint32_t from = i - 1 - fault_below(state, i < 6 ? i : 6);
        width[i] = 16 * (1 + fault_below(state, 12));
        is_read[from] = true;
        at += snprintf(text + at, (size_t)(PLACES_TEXT - at),
                       "  %%s%u = const int64[2] {%u,%u}\n  %%w%u = Expand(%%k, %%s%u)\n"
                       "  %%v%u = MatMul(%%v%u, %%w%u)\n",
                       i, width[from], width[i], i, i, i, from, i);
    }
    at += snprintf(text + at, (size_t)(PLACES_TEXT - at), "  return");
    const char *comma = "";
    for (uint32_t i = 1; i <= PLACES_NODES; i++) {
        if (is_read[i]) continue;
        at += snprintf(text + at, (size_t)(PLACES_TEXT - at), "%s %%v%u as \"v%u\"", comma, i, i);
        comma = ",";
    }
    snprintf(text + at, (size_t)(PLACES_TEXT - at), "\n}\n");
}

/* Runs the file and checks every answer; the sizes of its arena are in stats. */
static bool places_run(fault_bytes b, int64_t rows, holo_session_stats *stats)
{
    static float x[PLACES_MOST_ROWS * 16];
    holo_tensor in = {.data = x, .dim = {1, rows, 16}, .rank = 3, .dtype = HOLO_F32}, out;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    for (int i = 0; i < PLACES_MOST_ROWS * 16; i++)
        x[i] = 1.0F;
    if (holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e) != HOLO_OK)
        return false;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    options.flags = HOLO_SESSION_POISON;
    CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
    CHECK_OK(holo_session_set_input(session, 0, &in, &e), &e);
    if (CHECK_OK(holo_session_run(session, &e), &e)) {
        holo_session_get_stats(session, stats);
        for (uint32_t i = 0; i < holo_model_output_count(model, 0); i++) {
            CHECK_OK(holo_session_output(session, i, &out, &e), &e);
            const float *y = out.data;
            for (int64_t k = 1; k < holo_tensor_count(&out); k++) /* all sums are of the same */
                if (!CHECK(y[k] == y[0] && y[k] > 0)) break;
        }
    }
    holo_session_free(session);
    holo_model_free(model);
    return true;
}

static hg_holo_section *places_section(fault_bytes b)
{
    uint32_t count = 0;
    hg_holo_section *table = fault_sections(b.data, b.size, &count);
    for (uint32_t i = 0; i < count; i++)
        if (table[i].kind == HG_SECTION_PLACES) return &table[i];
    return NULL;
}

/* Arenas of random graphs; some would be larger without the section. */
static void places_bound(void)
{
    char text[PLACES_TEXT];
    uint64_t state = 3;
    int found = 0;
    for (int round = 0; round < 40; round++) {
        holo_session_stats stats = {0}, without = {0};
        places_graph(text, &state, "16");
        const fault_bytes b = fault_holo(text);
        CHECK(places_run(b, PLACES_ROWS, &stats));
        CHECK(stats.arena_bytes <= stats.arena_bound + stats.arena_bound / 20);
        hg_holo_section *s = places_section(b);
        if (s != NULL) {
            s->kind = 99; /* skipped, as in an older library */
            fault_seal(b.data, b.size);
            CHECK(places_run(b, PLACES_ROWS, &without));
            CHECK(without.arena_bytes >= stats.arena_bytes);
            found += without.arena_bytes > stats.arena_bytes;
        }
        free(b.data);
    }
    CHECK(found > 0);
}

/* The same for a size that only a run knows: 256 is what a compile assumes. */
static void places_open(void)
{
    static const int64_t rows[] = {PLACES_ROWS, PLACES_MOST_ROWS};
    char text[PLACES_TEXT];
    uint64_t state = 3;
    int found = 0;
    for (int round = 0; round < 40; round++) {
        places_graph(text, &state, "rows");
        const fault_bytes b = fault_holo(text);
        found += places_section(b) != NULL;
        for (size_t i = 0; i < HG_COUNT(rows); i++) {
            holo_session_stats stats = {0};
            CHECK(places_run(b, rows[i], &stats));
            /* constants keep their size, so that an order serves one better than the other */
            CHECK(rows[i] != PLACES_MOST_ROWS ||
                  stats.arena_bytes <= stats.arena_bound + stats.arena_bound / 20);
        }
        free(b.data);
    }
    CHECK(found > 0);
}

/* Whatever the section says, the file runs as before or is refused with a sentence. */
static void places_damaged(void)
{
    char text[PLACES_TEXT];
    uint64_t state = 3;
    holo_session_stats stats = {0};
    places_graph(text, &state, "16");
    const fault_bytes b = fault_holo(text);
    hg_holo_section *s = places_section(b);
    if (!CHECK(s != NULL)) return;
    uint32_t *word = (uint32_t *)(void *)(b.data + s->offset);
    const uint32_t n = (uint32_t)(s->size / sizeof *word);
    for (int round = 0; round < 200; round++) {
        const uint32_t at = 2 + fault_below(&state, n - 2), kept = word[at];
        word[at] = fault_below(&state, 2) == 0 ? fault_below(&state, n) : UINT32_MAX - at;
        fault_seal(b.data, b.size);
        CHECK(places_run(b, PLACES_ROWS, &stats));
        word[at] = kept;
    }
    word[0] = 1; /* a graph that is not there */
    fault_seal(b.data, b.size);
    CHECK(!places_run(b, PLACES_ROWS, &stats));
    word[0] = 0;
    word[1] = (n - 2) / 2 + 1; /* more than there is room for */
    fault_seal(b.data, b.size);
    CHECK(!places_run(b, PLACES_ROWS, &stats));
    word[1] = 0; /* none */
    fault_seal(b.data, b.size);
    CHECK(places_run(b, PLACES_ROWS, &stats));
    s->size -= 2;
    fault_seal(b.data, b.size);
    CHECK(places_run(b, PLACES_ROWS, &stats));
    s->size = 4; /* no room for its head */
    fault_seal(b.data, b.size);
    CHECK(!places_run(b, PLACES_ROWS, &stats));
    free(b.data);
}

const hg_test_case hg_tests_compile_places[] = {
    {"bound", places_bound},
    {"open", places_open},
    {"damaged", places_damaged},
    {0},
};
