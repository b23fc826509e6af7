/* container.c - what a .holo container may try, one attack at a time. */
#include "fault/small.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void container_refused(fault_bytes b, uint32_t flags, holo_status status, const char *part)
{
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_error e = {0};
    options.flags = flags;
    CHECK_STATUS(holo_model_open_memory(b.data, b.size, holo_kernels_all(), &options, &model, &e),
                 status);
    CHECK_HAS(e.message, part);
    CHECK(model == NULL);
    holo_model_free(model);
}

/* ---- head: magic, version, byte order, sizes --------------------------------------------------
 */

typedef struct container_bad {
    size_t at;
    uint32_t bytes;
    uint64_t value;
    holo_status status;
    const char *part;
} container_bad;

#define CONTAINER_HEAD(field) offsetof(hg_holo_head, field), sizeof(((hg_holo_head *)0)->field)

static void container_head(void)
{
    static const container_bad bad[] = {
        {0, 1, 'h', HOLO_E_FORMAT, "not a .holo file"},
        {4, 1, '\n', HOLO_E_FORMAT, "not a .holo file"}, /* as text-mode transfers do */
        {CONTAINER_HEAD(version), 0, HOLO_E_FORMAT, "version 0"},
        {CONTAINER_HEAD(version), 2, HOLO_E_VERSION, "format version 2"},
        {CONTAINER_HEAD(version), UINT32_MAX, HOLO_E_VERSION, "use a newer one"},
        {CONTAINER_HEAD(order), 0x04030201, HOLO_E_FORMAT, "byte order mark is 04030201"},
        {CONTAINER_HEAD(size), 0, HOLO_E_FORMAT, "cut or extended"},
        {CONTAINER_HEAD(size), UINT64_MAX, HOLO_E_FORMAT, "cut or extended"},
        {CONTAINER_HEAD(n_section), 0, HOLO_E_FORMAT, "0 sections"},
        {CONTAINER_HEAD(n_section), 4097, HOLO_E_FORMAT, "4097 sections"},
        {CONTAINER_HEAD(n_section), 4096, HOLO_E_FORMAT, "outside the file"},
        {CONTAINER_HEAD(zero), 1, HOLO_E_FORMAT, "not zero"},
        {offsetof(hg_holo_head, reserved) + 23, 1, 1, HOLO_E_FORMAT, "not zero"},
        {CONTAINER_HEAD(hash), 1, HOLO_E_FORMAT, "hash of the head"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        fault_bytes b = fault_holo(FAULT_SMALL);
        memcpy(b.data + bad[i].at, &bad[i].value, bad[i].bytes);
        container_refused(b, 0, bad[i].status, bad[i].part);
        free(b.data);
    }
}

/* ---- sections ---------------------------------------------------------------------------------
 */

typedef struct container_place {
    hg_section_kind kind;
    uint64_t offset, size; /* added to what is there */
    const char *part;
} container_place;

static void container_sections(void)
{
    static const uint64_t half = UINT64_C(1) << 63;
    const container_place bad[] = {
        {HG_SECTION_PROGRAM, 0, UINT64_MAX - 8192, "overlaps another or leaves the file"},
        {HG_SECTION_PROGRAM, UINT64_MAX - 63, 0, "overlaps another or leaves the file"},
        {HG_SECTION_PROGRAM, 1, 0, "expected a multiple of 64"},
        {HG_SECTION_PROGRAM, half, 0, "leaves the file"},
        {HG_SECTION_PROGRAM, 0, half, "leaves the file"},
        {HG_SECTION_PROGRAM, 0, 1 << 20, "leaves the file"},
        {HG_SECTION_PROGRAM, 0, 512, "section 1 (bytes"}, /* overlaps the next */
        {HG_SECTION_PROGRAM, 0, -(uint64_t)64, "its tables need"},
        {HG_SECTION_META, 0, 4096, "overlaps another or leaves the file"},
        {HG_SECTION_META, 0, -(uint64_t)1, "not pairs of texts"},
        {HG_SECTION_WEIGHTS, 64, -(uint64_t)64, "expected a multiple of 4096"},
        {HG_SECTION_WEIGHTS, 0, -(uint64_t)1, "bytes follow the last section"},
        {HG_SECTION_WEIGHTS, 0, 1, "leaves the file"},
        {HG_SECTION_WEIGHTS, half, half, "leaves the file"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        fault_bytes b = fault_holo(FAULT_SMALL);
        hg_holo_section *s = fault_section(b, bad[i].kind);
        s->offset += bad[i].offset;
        s->size += bad[i].size;
        fault_seal(b.data, b.size);
        container_refused(b, 0, HOLO_E_FORMAT, bad[i].part);
        free(b.data);
    }
}

static void container_empty_program(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    fault_section(b, HG_SECTION_PROGRAM)->size = 0;
    fault_seal(b.data, b.size);
    container_refused(b, 0, HOLO_E_FORMAT, "a program section has 0 bytes");
    free(b.data);
}

static void container_repeated(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    hg_holo_section *program = fault_section(b, HG_SECTION_PROGRAM);
    program->kind = HG_SECTION_META;
    fault_seal(b.data, b.size);
    container_refused(b, 0, HOLO_E_FORMAT,
                      "0 programs and 1 weight, 2 metadata and 1 name sections");
    program->kind = 77;
    fault_seal(b.data, b.size);
    container_refused(b, 0, HOLO_E_VERSION, "kind 77");
    /* The same section twice. */
    program->kind = HG_SECTION_PROGRAM;
    hg_holo_section *meta = fault_section(b, HG_SECTION_META);
    *meta = *program;
    fault_seal(b.data, b.size);
    container_refused(b, 0, HOLO_E_FORMAT, "overlaps");
    free(b.data);
}

/* A section that nobody knows is skipped unless the file needs it. */
static void container_optional_section(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    hg_holo_section *meta = fault_section(b, HG_SECTION_META);
    meta->kind = 77;
    meta->flags = 0;
    fault_seal(b.data, b.size);
    holo_model *model = NULL;
    holo_error e = {0};
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    holo_model_free(model);
    free(b.data);
}

/* Counts whose product with the element size wraps, or is large. */
static void container_counts(void)
{
    for (size_t at = 0; at < offsetof(hg_program_head, numerics); at += sizeof(uint32_t)) {
        static const uint32_t count[] = {UINT32_MAX, 0x80000000U, 0x20000000U, 0x0aaaaaabU};
        for (size_t i = 0; i < HG_COUNT(count); i++) {
            fault_bytes b = fault_holo(FAULT_SMALL);
            memcpy(b.data + fault_section(b, HG_SECTION_PROGRAM)->offset + at, &count[i], 4);
            fault_seal(b.data, b.size);
            container_refused(b, 0, HOLO_E_FORMAT, "its tables need");
            free(b.data);
        }
    }
}

static void container_trailing(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    uint8_t *longer = fault_copy(b.data, b.size);
    longer = realloc(longer, b.size + 64);
    fault_bytes more = {fault_copy(longer, b.size + 64), b.size + 64};
    free(longer);
    memcpy(more.data + b.size, "PK\3\4", 4);
    container_refused(more, 0, HOLO_E_FORMAT, "cut or extended");
    ((hg_holo_head *)(void *)more.data)->size = more.size;
    fault_seal(more.data, more.size);
    container_refused(more, 0, HOLO_E_FORMAT, "64 bytes follow the last section");
    free(more.data);
    free(b.data);
}

static void container_weights_hash(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    b.data[fault_section(b, HG_SECTION_WEIGHTS)->offset] ^= 1;
    container_refused(b, HOLO_OPEN_CHECK_WEIGHTS, HOLO_E_FORMAT, "hash of the weights");
    free(b.data);
}

/* Names are for people: a damaged one is found when asked for, and harms nothing before. */
static void container_names_hash(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    memset(b.data + fault_section(b, HG_SECTION_NAMES)->offset, 'x', 4);
    container_refused(b, HOLO_OPEN_CHECK_WEIGHTS, HOLO_E_FORMAT, "hash of the names");
    holo_model *model = NULL;
    holo_error e = {0};
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    holo_model_free(model);
    free(b.data);
}

/* ---- names --------------------------------------------------------------------------------------
 */

/* Opens a file with two inputs, an output and the graph's name after a change to its texts. */
static void container_name(uint32_t port, const char *text, const char *sentence)
{
    fault_bytes b = fault_holo("graph(%aa: float32[n], %bb: float32[n]) { %c = Add(%aa, %bb)"
                               " return %c as \"cc\" , %aa as \"dd\" }");
    hg_program p = fault_program_of(b);
    hg_program_head *head =
        (hg_program_head *)(void *)(b.data + fault_section(b, HG_SECTION_PROGRAM)->offset);
    const uint32_t at[] = {p.in[0].name, p.in[1].name, p.out[1].name, p.out[0].name};
    if (port == 3) head->name = at[port];
    memcpy((char *)(uintptr_t)p.text + at[port], text, 2);
    fault_seal(b.data, b.size);
    container_refused(b, 0, HOLO_E_FORMAT, sentence);
    free(b.data);
}

/* Callers find inputs and outputs by name: names are text, and no two are the same. */
static void container_names(void)
{
    container_name(1, "aa", "inputs 0 and 1 have the same name 'aa'");
    container_name(2, "cc", "outputs 0 and 1 have the same name 'cc'");
    container_name(0, "\xff\n", "the name of input 0 is not text");
    container_name(2, "a\x1b", "the name of output 1 is not text");
    container_name(3, "\xc0\x80", "the name of the graph is not text");
}

/* Bytes between sections are zeros, fewer than a page. */
static void container_gaps(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    b.data[fault_section(b, HG_SECTION_WEIGHTS)->offset - 1] = 7;
    container_refused(b, 0, HOLO_E_FORMAT, "between sections, is 7; expected 0");
    free(b.data);
    fault_bytes small = fault_holo(FAULT_SMALL);
    fault_bytes wide = {.size = small.size + HG_HOLO_PAGE};
    uint8_t *bytes = calloc(1, wide.size);
    if (!CHECK(bytes != NULL)) return;
    fault_section(small, HG_SECTION_WEIGHTS)->offset += HG_HOLO_PAGE;
    ((hg_holo_head *)(void *)small.data)->size = wide.size;
    memcpy(bytes, small.data, small.size);
    wide.data = fault_copy(bytes, wide.size);
    fault_seal(wide.data, wide.size);
    container_refused(wide, 0, HOLO_E_FORMAT, "bytes behind the one before it");
    free(small.data);
    free(wide.data);
    free(bytes);
}

/* A name of a megabyte: the sentence is cut. */
static void container_long_name(void)
{
    static char graph[1 << 20];
    memset(graph, 'a', sizeof graph);
    memcpy(graph, "graph(%", 7);
    static const char rest[] = ": float32[3]) { %y = Relu(%x) return %y as \"y\" }";
    memcpy(graph + sizeof graph - sizeof rest, rest, sizeof rest);
    void *data = NULL;
    size_t size = 0;
    holo_error e = {0};
    holo_status status = fault_compile(graph, NULL, &data, &size, &e);
    CHECK(status != HOLO_OK);
    CHECK(memchr(e.message, 0, sizeof e.message) != NULL);
    holo_buffer_free(NULL, data, size);
}

/* ---- files --------------------------------------------------------------------------------------
 */

static float container_run(holo_model *model)
{
    float x[3] = {1, 1, 1}, y[2] = {0};
    holo_session *session = NULL;
    holo_error e = {0};
    holo_tensor t = {.data = x, .dim = {1, 3}, .rank = 2, .dtype = HOLO_F32};
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
    CHECK_OK(holo_session_set_output(session, 0, y, sizeof y, &e), &e);
    CHECK_OK(holo_session_run(session, &e), &e);
    holo_session_free(session);
    return y[1];
}

/* The program is copied before it is verified; with the copy flag the file may even vanish. */
static void container_changes_after_open(void)
{
    for (int copies = 0; copies < 2; copies++) {
        fault_bytes b = fault_holo(FAULT_SMALL);
        const char *path = hg_test_temp("m.holo");
        holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
        holo_model *model = NULL;
        holo_error e = {0};
        options.flags = copies != 0 ? HOLO_OPEN_COPY : 0;
        fault_write(path, b.data, b.size);
        if (CHECK_OK(holo_model_open_file(path, holo_kernels_all(), &options, &model, &e), &e)) {
            size_t keep =
                copies != 0 ? b.size : (size_t)fault_section(b, HG_SECTION_WEIGHTS)->offset;
            int fd = open(path, O_WRONLY);
            memset(b.data, 0xff, keep);
            CHECK(pwrite(fd, b.data, keep, 0) == (ssize_t)keep);
            if (copies != 0) CHECK_EQ_INT(ftruncate(fd, 0), 0);
            close(fd);
            CHECK_NEAR(container_run(model), 13, 0);
            holo_model_free(model);
        }
        free(b.data);
    }
}

static void container_sparse(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    const char *path = hg_test_temp("m.holo");
    hg_holo_head *head = (hg_holo_head *)(void *)b.data;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    off_t size =
        (off_t)(INT64_MAX & ~(INT64_C(1) << 20)); /* as close to 8 EiB as this disk allows */
    while (size > (off_t)b.size && ftruncate(fd, size) != 0)
        size /= 2;
    head->size = (uint64_t)size;
    fault_section(b, HG_SECTION_WEIGHTS)->size =
        (uint64_t)size - fault_section(b, HG_SECTION_WEIGHTS)->offset;
    fault_seal(b.data, b.size);
    CHECK(pwrite(fd, b.data, b.size, 0) == (ssize_t)b.size);
    close(fd);
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_error e = {0};
    options.flags = HOLO_OPEN_COPY;
    options.limits.memory_bytes = 1 << 20;
    CHECK_STATUS(holo_model_open_file(path, holo_kernels_all(), &options, &model, &e),
                 HOLO_E_LIMIT);
    options.flags = 0;
    if (holo_model_open_file(path, holo_kernels_all(), &options, &model, &e) == HOLO_OK)
        CHECK_NEAR(container_run(model), 13, 0); /* the weights are not touched by opening */
    holo_model_free(model);
    unlink(path);
    free(b.data);
}

static void container_special_files(void)
{
    char folder[2048];
    const char *pipe = hg_test_temp("pipe");
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(pipe, '/') - pipe), pipe);
    CHECK_EQ_INT(mkfifo(pipe, 0600), 0);
    const char *path[] = {pipe, folder, "/dev/zero", "/dev/null", "", hg_test_temp("missing")};
    for (uint32_t flags = 0; flags <= HOLO_OPEN_COPY; flags += HOLO_OPEN_COPY)
        for (size_t i = 0; i < HG_COUNT(path); i++) {
            holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
            holo_model *model = NULL;
            holo_error e = {0};
            options.flags = flags;
            CHECK_STATUS(holo_model_open_file(path[i], holo_kernels_all(), &options, &model, &e),
                         HOLO_E_IO);
            CHECK(e.message[0] != 0);
        }
}

const hg_test_case hg_tests_fault_container[] = {
    {"head", container_head},
    {"sections", container_sections},
    {"empty_program", container_empty_program},
    {"repeated", container_repeated},
    {"optional_section", container_optional_section},
    {"counts", container_counts},
    {"trailing", container_trailing},
    {"weights_hash", container_weights_hash},
    {"names_hash", container_names_hash},
    {"names", container_names},
    {"gaps", container_gaps},
    {"long_name", container_long_name},
    {"changes_after_open", container_changes_after_open},
    {"sparse", container_sparse},
    {"special_files", container_special_files},
    {0},
};
