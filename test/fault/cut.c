/* cut.c - every prefix and many flipped bits of a small .holo and a small .onnx. */
#include "fault/small.h"
#include "import/make.h"

#include <dirent.h>

enum { CUT_ALL = 1024, CUT_STRIDE = 29 }; /* bytes of which every bit is flipped; then one in ... */

static holo_status cut_open(const uint8_t *data, size_t size, uint32_t flags)
{
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_error e = {0};
    options.flags = flags;
    holo_status status =
        holo_model_open_memory(data, size, holo_kernels_all(), &options, &model, &e);
    if (status != HOLO_OK) CHECK(e.message[0] != 0);
    holo_model_free(model);
    return status;
}

static void cut_holo_prefixes(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    CHECK_STATUS(cut_open(b.data, b.size, 0), HOLO_OK);
    for (size_t size = 0; size < b.size; size++) {
        uint8_t *copy = fault_copy(b.data, size);
        if (cut_open(copy, size, 0) == HOLO_OK)
            hg_test_fail(HG_TEST_HERE, "%zu of %zu bytes open", size, b.size);
        /* Also when the head tells the true size. */
        if (size >= sizeof(hg_holo_head)) {
            ((hg_holo_head *)(void *)copy)->size = size;
            fault_seal(copy, size);
            CHECK(cut_open(copy, size, 0) != HOLO_OK);
        }
        free(copy);
    }
    free(b.data);
}

static bool cut_is_padding(fault_bytes b, size_t at)
{
    uint32_t count = 0;
    const hg_holo_section *table = fault_sections(b.data, b.size, &count);
    if (at < sizeof(hg_holo_head) + count * sizeof *table) return false;
    for (uint32_t i = 0; i < count; i++)
        if (at >= table[i].offset && at < table[i].offset + table[i].size) return false;
    return true;
}

static void cut_holo_flips(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    for (size_t at = 0; at < b.size; at += at < CUT_ALL ? 1 : CUT_STRIDE) {
        for (int bit = 0; bit < 8; bit++) {
            uint8_t *copy = fault_copy(b.data, b.size);
            copy[at] ^= (uint8_t)(1 << bit);
            if (!cut_is_padding(b, at) &&
                cut_open(copy, b.size, HOLO_OPEN_CHECK_WEIGHTS) == HOLO_OK)
                hg_test_fail(HG_TEST_HERE, "bit %d of byte %zu is not noticed", bit, at);
            fault_seal(copy, b.size);
            uint64_t state = at;
            bool opened;
            holo_error e;
            (void)fault_play(copy, b.size, &state, &opened, &e);
            free(copy);
        }
    }
    free(b.data);
}

/* ---- ONNX ------------------------------------------------------------------------------------ */

static make cut_onnx(make_fixture *f)
{
    static const float w[6] = {1, 2, 3, 4, 5, 6};
    make_init(f);
    make g = make_graph_xy(f);
    make node = make_node(f, "product", "MatMul", "x,w", "p"),
         relu = make_node(f, "", "Relu", "p", "y");
    make weight = make_tensor(f, "w", ELEM_F32, "3,2", w, 6);
    make_in(&g, GRAPH_NODE, &node);
    make_in(&g, GRAPH_NODE, &relu);
    make_in(&g, GRAPH_INITIALIZER, &weight);
    return make_model(f, &g, 21);
}

static holo_status cut_compile(const uint8_t *data, size_t size, holo_error *e)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.limits.memory_bytes = UINT64_C(64) << 20;
    void *out = NULL;
    size_t out_size = 0;
    holo_status status = holo_compile_memory(data, size, &options, &out, &out_size, NULL, e);
    holo_buffer_free(NULL, out, out_size);
    return status;
}

static void cut_onnx_prefixes(void)
{
    make_fixture f;
    make model = cut_onnx(&f);
    holo_error e = {0};
    CHECK_OK(cut_compile(model.data, model.size, &e), &e);
    for (size_t size = 0; size < model.size; size++) {
        uint8_t *copy = fault_copy(model.data, size);
        e = (holo_error){0};
        if (cut_compile(copy, size, &e) != HOLO_OK) CHECK(e.message[0] != 0);
        free(copy);
    }
    make_deinit(&f);
}

static void cut_onnx_flips(void)
{
    make_fixture f;
    make model = cut_onnx(&f);
    holo_error e = {0};
    for (size_t at = 0; at < model.size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            uint8_t *copy = fault_copy(model.data, model.size);
            copy[at] ^= (uint8_t)(1 << bit);
            e = (holo_error){0};
            if (cut_compile(copy, model.size, &e) != HOLO_OK) CHECK(e.message[0] != 0);
            free(copy);
        }
    }
    make_deinit(&f);
}

static int cut_count_files(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    if (!CHECK(dir != NULL)) return 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(dir);
    return count;
}

/* A compile that fails leaves nothing behind, and what was there before stays. */
static void cut_leaves_no_file(void)
{
    make_fixture f;
    make model = cut_onnx(&f);
    char in[2048], out[2048], folder[2048];
    snprintf(in, sizeof in, "%s", hg_test_temp("in.onnx"));
    snprintf(out, sizeof out, "%s", hg_test_temp("out.holo"));
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(in, '/') - in), in);
    fault_write(out, "old", 3);
    for (size_t size = 0; size < model.size; size += 7) {
        const char *path = in;
        holo_error e = {0};
        fault_write(in, model.data, size);
        holo_status status = holo_compile_files(&path, 1, out, NULL, NULL, &e);
        CHECK_EQ_INT(cut_count_files(folder), 2);
        if (status == HOLO_OK) {
            fault_write(out, "old", 3);
            continue;
        }
        char text[8] = {0};
        FILE *file = fopen(out, "rb");
        if (!CHECK(file != NULL)) break;
        CHECK_EQ_INT(fread(text, 1, sizeof text - 1, file), 3);
        CHECK_STR(text, "old");
        fclose(file);
    }
    make_deinit(&f);
}

const hg_test_case hg_tests_fault_cut[] = {
    {"holo_prefixes", cut_holo_prefixes},   {"holo_flips", cut_holo_flips},
    {"onnx_prefixes", cut_onnx_prefixes},   {"onnx_flips", cut_onnx_flips},
    {"leaves_no_file", cut_leaves_no_file}, {0},
};
