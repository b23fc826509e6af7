/* memo.c - answers that are known: precomputed ones, grown ones, their order, hostile sections. */
#include "test.h"

#include "archive/holo.h"
#include "archive/memo.h"

#include <string.h>

enum { MEMO_WIDE = 3 };

typedef struct memo_fixture {
    void *data;
    size_t size;
    holo_model *model;
    holo_memo *memo;
    holo_session *session;
    holo_error error;
} memo_fixture;

/* y = x * x - x and z = x + 1, x [batch, 3] */
static holo_graph *memo_graph(void)
{
    holo_graph *g = NULL;
    holo_error e;
    float number = 1;
    holo_tensor one = {.data = &number, .dtype = HOLO_F32};
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "batch,3"), s, y, z;
    holo_value_id c = holo_graph_constant(g, &one);
    holo_graph_node(g, "Mul", (holo_value_id[]){x, x}, 2, NULL, 0, &s, 1);
    holo_graph_node(g, "Sub", (holo_value_id[]){s, x}, 2, NULL, 0, &y, 1);
    holo_graph_node(g, "Add", (holo_value_id[]){x, c}, 2, NULL, 0, &z, 1);
    holo_graph_output(g, y, "y");
    holo_graph_output(g, z, "z");
    return g;
}

static bool memo_compile(memo_fixture *f, const holo_sample *sample, size_t n)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_graph *g = memo_graph();
    options.precompute = sample;
    options.n_precompute = n;
    bool ok =
        CHECK_OK(holo_compile_graph(g, &options, &f->data, &f->size, NULL, &f->error), &f->error);
    holo_graph_free(g);
    return ok;
}

static bool memo_open(memo_fixture *f, void *memory, size_t bytes)
{
    holo_memo_options memo = HOLO_MEMO_OPTIONS_INIT;
    holo_session_options session = HOLO_SESSION_OPTIONS_INIT;
    memo.memory = memory;
    memo.memory_bytes = bytes;
    session.flags = HOLO_SESSION_POISON;
    if (!CHECK_OK(holo_model_open_memory(f->data, f->size, holo_kernels_all(), NULL, &f->model,
                                         &f->error),
                  &f->error) ||
        !CHECK_OK(holo_memo_new(f->model, &memo, &f->memo, &f->error), &f->error))
        return false;
    session.memo = f->memo;
    return CHECK_OK(holo_session_new(f->model, &session, &f->session, &f->error), &f->error);
}

static void memo_close(memo_fixture *f)
{
    holo_session_free(f->session);
    holo_memo_free(f->memo);
    holo_model_free(f->model);
    holo_buffer_free(NULL, f->data, f->size);
}

/* Runs rows [first, first + rows) of numbers and checks both outputs. */
static void memo_run(memo_fixture *f, int first, int64_t rows)
{
    float x[8 * MEMO_WIDE];
    for (int i = 0; i < rows * MEMO_WIDE; i++)
        x[i] = (float)(first + i) / 4;
    holo_tensor in = {.data = x, .dim = {rows, MEMO_WIDE}, .rank = 2, .dtype = HOLO_F32}, y, z;
    CHECK_OK(holo_session_set_input(f->session, 0, &in, &f->error), &f->error);
    if (!CHECK_OK(holo_session_run(f->session, &f->error), &f->error)) return;
    CHECK_OK(holo_session_output(f->session, 0, &y, &f->error), &f->error);
    CHECK_OK(holo_session_output(f->session, 1, &z, &f->error), &f->error);
    CHECK_EQ_INT(y.dim[0], rows);
    for (int i = 0; i < rows * MEMO_WIDE; i++) {
        CHECK(((float *)y.data)[i] == x[i] * x[i] - x[i]);
        CHECK(((float *)z.data)[i] == x[i] + 1);
    }
}

static void memo_counts(const memo_fixture *f, int hits, int misses)
{
    holo_memo_stats stats;
    holo_memo_get_stats(f->memo, &stats);
    CHECK_EQ_INT(stats.hits, hits);
    CHECK_EQ_INT(stats.misses, misses);
}

/* ---- grown ----------------------------------------------------------------------------------- */

static void memo_grows(void)
{
    memo_fixture f = {0};
    if (memo_compile(&f, NULL, 0) && memo_open(&f, NULL, 1 << 20)) {
        memo_run(&f, 0, 2);
        memo_run(&f, 5, 2);
        memo_counts(&f, 0, 2);
        memo_run(&f, 0, 2);
        memo_run(&f, 5, 2);
        memo_run(&f, 5, 3); /* the same numbers and more of them */
        memo_counts(&f, 2, 3);
        memo_run(&f, 0, 0); /* empty inputs are keys too */
        memo_run(&f, 9, 0);
        memo_counts(&f, 3, 4);
    }
    memo_close(&f);
}

/* The same bytes under another shape are another key: [1, 6] is refused, [2, 3] and [6, 1] differ.
 */
static void memo_shape_is_key(void)
{
    float a[6] = {0};
    holo_tensor x = {.data = a, .dim = {2, 3}, .rank = 2, .dtype = HOLO_F32}, y = x, z = x;
    y.dim[0] = 3;
    y.dim[1] = 2;
    z.dtype = HOLO_I32;
    const uint64_t hash = hg_memo_hash(&x, 1, 0);
    CHECK(hash != hg_memo_hash(&y, 1, 0));
    CHECK(hash != hg_memo_hash(&z, 1, 0));
    CHECK(hash != hg_memo_hash(&x, 1, 1));
}

/* Room for exactly n one-chunk entries. */
static size_t memo_room(size_t n)
{
    memo_fixture f = {0};
    holo_memo_stats stats = {0};
    size_t bytes = 256;
    if (memo_compile(&f, NULL, 0)) {
        CHECK_OK(
            holo_model_open_memory(f.data, f.size, holo_kernels_all(), NULL, &f.model, &f.error),
            &f.error);
        for (; stats.capacity < n * 1024; bytes += 64) {
            holo_memo_options memo = HOLO_MEMO_OPTIONS_INIT;
            holo_memo *m = NULL;
            memo.memory_bytes = bytes;
            if (!CHECK_OK(holo_memo_new(f.model, &memo, &m, &f.error), &f.error)) break;
            holo_memo_get_stats(m, &stats);
            holo_memo_free(m);
        }
    }
    memo_close(&f);
    return bytes;
}

static void memo_oldest_goes(void)
{
    memo_fixture f = {0};
    holo_memo_stats stats;
    if (memo_compile(&f, NULL, 0) && memo_open(&f, NULL, memo_room(3))) {
        memo_run(&f, 10, 1);
        memo_run(&f, 20, 1);
        memo_run(&f, 30, 1);
        memo_run(&f, 10, 1); /* hit: 20 is the oldest now */
        memo_run(&f, 40, 1); /* 20 goes */
        memo_counts(&f, 1, 4);
        memo_run(&f, 10, 1);
        memo_run(&f, 30, 1);
        memo_run(&f, 40, 1);
        memo_counts(&f, 4, 4);
        memo_run(&f, 20, 1);
        memo_counts(&f, 4, 5);
        holo_memo_get_stats(f.memo, &stats);
        CHECK_EQ_INT(stats.evicted, 2);
        CHECK_EQ_INT(stats.entries, 3);
        CHECK_EQ_INT(stats.bytes, stats.capacity);
    }
    memo_close(&f);
}

/* Entries of several chunks come and go; what is found is always right. */
static void memo_churns(void)
{
    memo_fixture f = {0};
    holo_memo_stats stats;
    uint32_t state = 1;
    if (memo_compile(&f, NULL, 0) && memo_open(&f, NULL, memo_room(7))) {
        for (int i = 0; i < 500; i++) {
            state = state * 1664525u + 1013904223u;
            memo_run(&f, (int)(state >> 28), (int64_t)(state >> 20 & 7));
        }
        holo_memo_get_stats(f.memo, &stats);
        CHECK(stats.hits > 0 && stats.evicted > 0);
        CHECK_EQ_INT(stats.hits + stats.misses, 500);
        CHECK_EQ_INT(stats.entries + stats.evicted, stats.stored);
        CHECK(stats.bytes <= stats.capacity);
    }
    memo_close(&f);
}

static void memo_too_large(void)
{
    memo_fixture f = {0};
    static float x[3 * 400];
    holo_memo_stats stats;
    if (memo_compile(&f, NULL, 0) && memo_open(&f, NULL, memo_room(2))) {
        holo_tensor in = {.data = x, .dim = {400, MEMO_WIDE}, .rank = 2, .dtype = HOLO_F32};
        CHECK_OK(holo_session_set_input(f.session, 0, &in, &f.error), &f.error);
        CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
        memo_run(&f, 1, 1);
        memo_run(&f, 1, 1);
        holo_memo_get_stats(f.memo, &stats);
        CHECK_EQ_INT(stats.too_large, 1);
        CHECK_EQ_INT(stats.hits, 1);
    }
    memo_close(&f);
}

static void memo_callers_memory(void)
{
    memo_fixture f = {0};
    static _Alignas(64) uint8_t memory[8192];
    float x[3] = {1, 2, 3}, y[3], z[2];
    if (memo_compile(&f, NULL, 0) && memo_open(&f, memory, sizeof memory)) {
        holo_tensor in = {.data = x, .dim = {1, MEMO_WIDE}, .rank = 2, .dtype = HOLO_F32};
        CHECK_OK(holo_session_set_output(f.session, 0, y, sizeof y, &f.error), &f.error);
        CHECK_OK(holo_session_set_input(f.session, 0, &in, &f.error), &f.error);
        for (int i = 0; i < 2; i++) {
            memset(y, 0, sizeof y);
            CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
            CHECK(y[0] == 0 && y[1] == 2 && y[2] == 6);
        }
        memo_counts(&f, 1, 1);
        CHECK_OK(holo_session_set_output(f.session, 1, z, sizeof z, &f.error), &f.error);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_ARG); /* z is too small */
    }
    memo_close(&f);
}

static void memo_refuses(void)
{
    memo_fixture f = {0}, other = {0};
    holo_memo_options options = HOLO_MEMO_OPTIONS_INIT;
    holo_session_options session = HOLO_SESSION_OPTIONS_INIT;
    static _Alignas(64) uint8_t memory[256];
    holo_memo *m = NULL;
    holo_session *s = NULL;
    if (!memo_compile(&f, NULL, 0) || !memo_open(&f, NULL, 4096)) return memo_close(&f);
    options.memory = memory + 1;
    options.memory_bytes = 128;
    CHECK_STATUS(holo_memo_new(f.model, &options, &m, &f.error), HOLO_E_ARG);
    CHECK_HAS(f.error.message, "aligned");
    options.memory = memory;
    options.memory_bytes = 64;
    CHECK_STATUS(holo_memo_new(f.model, &options, &m, &f.error), HOLO_E_NOMEM);
    options = (holo_memo_options)HOLO_MEMO_OPTIONS_INIT;
    options.memory_bytes = SIZE_MAX;
    CHECK_STATUS(holo_memo_new(f.model, &options, &m, &f.error), HOLO_E_NOMEM);
    options.memory_bytes = 0;
    options.graph = 1;
    CHECK_STATUS(holo_memo_new(f.model, &options, &m, &f.error), HOLO_E_ARG);
    options.struct_size = 1;
    CHECK_STATUS(holo_memo_new(f.model, &options, &m, &f.error), HOLO_E_ARG);
    CHECK_STATUS(holo_memo_new(NULL, NULL, &m, &f.error), HOLO_E_ARG);
    if (memo_compile(&other, NULL, 0) && memo_open(&other, NULL, 0)) {
        session.memo = f.memo;
        CHECK_STATUS(holo_session_new(other.model, &session, &s, &f.error), HOLO_E_ARG);
        CHECK_HAS(f.error.message, "another");
    }
    memo_close(&other);
    memo_close(&f);
}

/* What has no fixed size before a run, or is no number. */
static void memo_unsupported(void)
{
    static const struct {
        const char *op;
        holo_dtype dtype;
        const char *says;
    } cases[] = {{"NonZero", HOLO_F32, "depends on data"}, {"Identity", HOLO_STRING, "numbers"}};
    for (size_t i = 0; i < 2; i++) {
        memo_fixture f = {0};
        holo_graph *g = NULL;
        holo_value_id y;
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        CHECK_OK(holo_graph_new(0, NULL, &g, &f.error), &f.error);
        holo_value_id x = holo_graph_input(g, "x", cases[i].dtype, "4");
        holo_graph_node(g, cases[i].op, &x, 1, NULL, 0, &y, 1);
        holo_graph_output(g, y, "y");
        CHECK_OK(holo_compile_graph(g, &options, &f.data, &f.size, NULL, &f.error), &f.error);
        CHECK_OK(
            holo_model_open_memory(f.data, f.size, holo_kernels_all(), NULL, &f.model, &f.error),
            &f.error);
        CHECK_STATUS(holo_memo_new(f.model, NULL, &f.memo, &f.error), HOLO_E_UNSUPPORTED);
        CHECK_HAS(f.error.message, cases[i].says);
        holo_graph_free(g);
        memo_close(&f);
    }
}

/* ---- precomputed ----------------------------------------------------------------------------- */

enum { MEMO_SAMPLES = 40 };

typedef struct memo_samples {
    float x[MEMO_SAMPLES][8 * MEMO_WIDE];
    holo_tensor tensor[MEMO_SAMPLES];
    holo_sample sample[MEMO_SAMPLES];
} memo_samples;

/* Sample i is what memo_run makes of (i, 1 + i % 3); the last repeats the first. */
static void memo_fill(memo_samples *s)
{
    for (int i = 0; i < MEMO_SAMPLES; i++) {
        const int first = i == MEMO_SAMPLES - 1 ? 0 : i;
        for (int k = 0; k < 8 * MEMO_WIDE; k++)
            s->x[i][k] = (float)(first + k) / 4;
        s->tensor[i] = (holo_tensor){
            .data = s->x[i], .dim = {1 + first % 3, MEMO_WIDE}, .rank = 2, .dtype = HOLO_F32};
        s->sample[i] = (holo_sample){.tensor = &s->tensor[i], .count = 1};
    }
}

static void memo_precomputed(void)
{
    static memo_samples s;
    memo_fill(&s);
    for (size_t n = 1; n < MEMO_SAMPLES; n += 19) {
        memo_fixture f = {0};
        holo_memo_stats stats;
        if (memo_compile(&f, s.sample, n) && memo_open(&f, NULL, 0)) {
            for (int i = 0; i < (int)n; i++)
                memo_run(&f, i, 1 + i % 3);
            memo_counts(&f, (int)n, 0);
            memo_run(&f, 1000, 1);
            memo_counts(&f, (int)n, 1);
            holo_memo_get_stats(f.memo, &stats);
            CHECK_EQ_INT(stats.precomputed, n);
            CHECK_EQ_INT(stats.capacity, 0);
        }
        memo_close(&f);
    }
}

static void memo_precompute_repeats(void)
{
    static memo_samples s;
    memo_fixture f = {0}, again = {0};
    holo_memo_stats stats;
    memo_fill(&s);
    if (memo_compile(&f, s.sample, MEMO_SAMPLES) && memo_open(&f, NULL, 0)) {
        holo_memo_get_stats(f.memo, &stats);
        CHECK_EQ_INT(stats.precomputed, MEMO_SAMPLES - 1);
    }
    /* The same samples give the same bytes. */
    if (memo_compile(&again, s.sample, MEMO_SAMPLES) && CHECK_EQ_INT(again.size, f.size))
        CHECK_MEM(again.data, f.data, f.size);
    holo_buffer_free(NULL, again.data, again.size);
    memo_close(&f);
}

static void memo_precompute_refuses(void)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_graph *g = memo_graph();
    holo_error e;
    float x[6] = {0};
    const char *name = "no";
    void *data = NULL;
    size_t size = 0;
    holo_tensor t = {.data = x, .dim = {2, 3}, .rank = 2, .dtype = HOLO_F32}, two[2] = {t, t};
    holo_sample sample = {.name = &name, .tensor = &t, .count = 1};
    options.precompute = &sample;
    options.n_precompute = 1;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_ARG);
    CHECK_HAS(e.message, "no tensor for input 'x'");
    sample = (holo_sample){.tensor = two, .count = 2};
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_ARG);
    CHECK_HAS(e.message, "sample 0");
    sample = (holo_sample){.tensor = &t, .count = 1};
    t.dim[1] = 2;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_SHAPE);
    t.dtype = HOLO_F64;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_TYPE);
    holo_graph_free(g);
}

/* ---- hostile sections ------------------------------------------------------------------------ */

static hg_holo_section memo_section(const memo_fixture *f)
{
    hg_holo_head head;
    hg_holo_section section = {0};
    memcpy(&head, f->data, sizeof head);
    for (uint32_t i = 0; i < head.n_section; i++) {
        memcpy(&section, (uint8_t *)f->data + sizeof head + i * sizeof section, sizeof section);
        if (section.kind == HG_SECTION_MEMO) break;
    }
    CHECK_EQ_INT(section.kind, HG_SECTION_MEMO);
    CHECK_EQ_INT(section.flags, 0);
    return section;
}

/* Whatever a byte of the section becomes, a run ends well; inputs decide that it is a hit. */
static void memo_hostile_bytes(void)
{
    static memo_samples s;
    memo_fixture f = {0};
    memo_fill(&s);
    if (!memo_compile(&f, s.sample, 3)) return;
    const hg_holo_section section = memo_section(&f);
    uint8_t *bytes = (uint8_t *)f.data + section.offset;
    for (uint64_t at = 0; at < section.size; at++) {
        for (int bit = 0; bit < 8; bit += 7) {
            memo_fixture run = {.data = f.data, .size = f.size};
            holo_session_options session = HOLO_SESSION_OPTIONS_INIT;
            bytes[at] ^= (uint8_t)(1 << bit);
            CHECK_OK(holo_model_open_memory(f.data, f.size, holo_kernels_all(), NULL, &run.model,
                                            &run.error),
                     &run.error);
            holo_status status = holo_memo_new(run.model, NULL, &run.memo, &run.error);
            CHECK(status == HOLO_OK || status == HOLO_E_FORMAT);
            session.memo = run.memo;
            CHECK_OK(holo_session_new(run.model, &session, &run.session, &run.error), &run.error);
            for (int i = 0; i < 3; i++) {
                CHECK_OK(holo_session_set_input(run.session, 0, &s.tensor[i], &run.error),
                         &run.error);
                CHECK_OK(holo_session_run(run.session, &run.error), &run.error);
            }
            bytes[at] ^= (uint8_t)(1 << bit);
            run.data = NULL;
            memo_close(&run);
        }
    }
    memo_close(&f);
}

static void memo_hostile_sizes(void)
{
    hg_memo_view view;
    holo_error e;
    hg_memo_head head = {.n_entry = 1, .n_bucket = 1};
    uint8_t bytes[256] = {0};
    memcpy(bytes, &head, sizeof head);
    CHECK_OK(hg_memo_open(bytes, 32 + 8 + 32, &view, &e), &e);
    CHECK_STATUS(hg_memo_open(bytes, 32 + 8 + 31, &view, &e), HOLO_E_FORMAT);
    CHECK_STATUS(hg_memo_open(bytes, 31, &view, &e), HOLO_E_FORMAT);
    head.n_bucket = UINT32_MAX;
    memcpy(bytes, &head, sizeof head);
    CHECK_STATUS(hg_memo_open(bytes, sizeof bytes, &view, &e), HOLO_E_FORMAT);
    head = (hg_memo_head){.n_entry = 0, .n_bucket = 1};
    memcpy(bytes, &head, sizeof head);
    CHECK_STATUS(hg_memo_open(bytes, sizeof bytes, &view, &e), HOLO_E_FORMAT);
    head = (hg_memo_head){.n_entry = 1, .n_bucket = 0};
    memcpy(bytes, &head, sizeof head);
    CHECK_STATUS(hg_memo_open(bytes, sizeof bytes, &view, &e), HOLO_E_FORMAT);
}

const hg_test_case hg_tests_runtime_memo[] = {
    {"grows", memo_grows},
    {"shape_is_key", memo_shape_is_key},
    {"oldest_goes", memo_oldest_goes},
    {"churns", memo_churns},
    {"too_large", memo_too_large},
    {"callers_memory", memo_callers_memory},
    {"refuses", memo_refuses},
    {"unsupported", memo_unsupported},
    {"precomputed", memo_precomputed},
    {"precompute_repeats", memo_precompute_repeats},
    {"precompute_refuses", memo_precompute_refuses},
    {"hostile_bytes", memo_hostile_bytes},
    {"hostile_sizes", memo_hostile_sizes},
    {0},
};
