/* external.c - tests of import/onnx/external.h: what data in other files may and may not be (attack
 * 26). */
#include "import/make.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct external_case {
    make_fixture f;
    hg_external external;
    char folder[1024];
} external_case;

static void external_init(external_case *c)
{
    make_init(&c->f);
    hg_external_init(&c->external, NULL);
    snprintf(c->folder, sizeof c->folder, "%s", hg_test_temp("model"));
    mkdir(c->folder, 0700);
}

static void external_deinit(external_case *c)
{
    make_deinit(&c->f);
    hg_external_deinit(&c->external);
}

static const char *external_path(const external_case *c, const char *name)
{
    static char path[2048];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    return path;
}

static void external_write(const external_case *c, const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(external_path(c, name), "wb");
    if (!CHECK(file != NULL)) return;
    CHECK_EQ_INT(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void external_entry(make *tensor, const char *key, const char *value)
{
    make entry = make_new(tensor->arena);
    make_text(&entry, 1, key);
    make_text(&entry, 2, value);
    make_in(tensor, 13, &entry);
}

/* Output w: a float32 tensor of two elements elsewhere. NULL leaves an entry out. */
static make external_model(make_fixture *f, const char *location, const char *offset,
                           const char *length)
{
    make t = make_tensor(f, "w", ELEM_F32, "2", NULL, 0), g = make_new(&f->arena);
    const make w = make_value(f, "w", ELEM_F32, NULL);
    make_int(&t, 14, 1);
    if (location != NULL) external_entry(&t, "location", location);
    if (offset != NULL) external_entry(&t, "offset", offset);
    if (length != NULL) external_entry(&t, "length", length);
    external_entry(&t, "checksum", "whatever");
    make_in(&g, GRAPH_INITIALIZER, &t);
    make_in(&g, GRAPH_OUTPUT, &w);
    return make_model(f, &g, 13);
}

static holo_status external_import(external_case *c, const char *location, const char *offset,
                                   const char *length)
{
    const make m = external_model(&c->f, location, offset, length);
    const hg_import_options o = {.base_dir = c->folder, .external = &c->external};
    return make_import(&c->f, &m, &o);
}

static void external_reads(void)
{
    external_case c;
    external_init(&c);
    static const float values[] = {0, 1.5f, -2, 3};
    external_write(&c, "w.bin", values, sizeof values);
    mkdir(external_path(&c, "sub"), 0700);
    external_write(&c, "sub/w.bin", values, sizeof values);
    static const struct {
        const char *location, *offset, *length, *text;
    } good[] = {
        {"w.bin", NULL, NULL, "{0.0, 1.5}"},
        {"w.bin", "4", "8", "{1.5, -2.0}"},
        {"w.bin", "8", NULL, "{-2.0, 3.0}"},
        {"./w.bin", "00008", "08", "{-2.0, 3.0}"},
        {"sub/w.bin", "0", "8", "{0.0, 1.5}"},
        {"w.bin", "1", "8", "const float32[2]"}, /* unaligned: copied */
    };
    for (size_t i = 0; i < HG_COUNT(good); i++)
        if (CHECK_OK(external_import(&c, good[i].location, good[i].offset, good[i].length),
                     &c.f.error))
            CHECK_HAS(make_dump(&c.f), good[i].text);
    CHECK_EQ_INT(c.external.n_file, 2); /* each once, whatever the spelling */
    external_deinit(&c);
}

static void external_reads_empty(void)
{
    external_case c;
    external_init(&c);
    external_write(&c, "empty", "", 0);
    make t = make_tensor(&c.f, "w", ELEM_F32, "0", NULL, 0), g = make_new(&c.f.arena);
    const make w = make_value(&c.f, "w", ELEM_F32, NULL);
    make_int(&t, 14, 1);
    external_entry(&t, "location", "empty");
    make_in(&g, GRAPH_INITIALIZER, &t);
    make_in(&g, GRAPH_OUTPUT, &w);
    const make m = make_model(&c.f, &g, 13);
    const hg_import_options o = {.base_dir = c.folder, .external = &c.external};
    CHECK_OK(make_import(&c.f, &m, &o), &c.f.error);
    external_deinit(&c);
}

static void external_refuses(void)
{
    external_case c;
    external_init(&c);
    external_write(&c, "w.bin", "0123456789", 10);
    CHECK_EQ_INT(symlink("w.bin", external_path(&c, "link")), 0);
    CHECK_EQ_INT(symlink(".", external_path(&c, "here")), 0);
    CHECK_EQ_INT(mkfifo(external_path(&c, "pipe"), 0600), 0);
    mkdir(external_path(&c, "sub"), 0700);
    static const struct {
        const char *location, *offset, *length, *text;
    } bad[] = {
        {NULL, NULL, NULL, "without a location"},
        {"", NULL, NULL, "empty"},
        {"/etc/passwd", NULL, NULL, "absolute"},
        {"../model/w.bin", NULL, NULL, "leaves the folder"},
        {"sub/../w.bin", NULL, NULL, "leaves the folder"},
        {"sub\\w.bin", NULL, NULL, "backslash"},
        {"link", NULL, NULL, "symbolic link"},
        {"here/w.bin", NULL, NULL, "symbolic link"},
        {"pipe", NULL, NULL, "is a pipe"},
        {"sub", NULL, NULL, "is a folder"},
        {"missing", NULL, NULL, "No such file"},
        {"w.bin\xff", NULL, NULL, "not text"},
        {"w.bin", "3", NULL, "has 10 bytes, but 8 at offset 3"},
        {"w.bin", "11", NULL, "but 8 at offset 11"},
        {"w.bin", "18446744073709551615", NULL, "but 8 at offset 18446744073709551615"},
        {"w.bin", "18446744073709551616", NULL, "expected a number"},
        {"w.bin", "99999999999999999999999999", NULL, "expected a number"},
        {"w.bin", "-1", NULL, "offset is '-1', expected a number"},
        {"w.bin", "", NULL, "expected a number"},
        {"w.bin", "0x8", NULL, "expected a number"},
        {"w.bin", " 8", NULL, "expected a number"},
        {"w.bin", "0", "4", "has length 4, expected 8 bytes"},
        {"w.bin", "0", "18446744073709551615", "expected 8 bytes"},
        {"w.bin", "0", "eight", "length is 'eight'"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        CHECK(external_import(&c, bad[i].location, bad[i].offset, bad[i].length) != HOLO_OK);
        CHECK_HAS(c.f.error.message, "initializer 'w': ");
        CHECK_HAS(c.f.error.message, bad[i].text);
    }
    external_deinit(&c);
}

static void external_refuses_without_folder(void)
{
    external_case c;
    external_init(&c);
    const make m = external_model(&c.f, "w.bin", NULL, NULL);
    CHECK_STATUS(make_import(&c.f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(c.f.error.message, "a model in memory cannot have");
    const hg_import_options o = {.base_dir = "", .external = &c.external};
    const make root = external_model(&c.f, "etc/passwd", NULL, NULL);
    CHECK_STATUS(make_import(&c.f, &root, &o), HOLO_E_IO);
    external_deinit(&c);
}

static void external_refuses_the_model_itself(void)
{
    external_case c;
    external_init(&c);
    const make m = external_model(&c.f, "m.onnx", NULL, NULL);
    external_write(&c, "m.onnx", m.data, m.size);
    CHECK_EQ_INT(link(external_path(&c, "m.onnx"), hg_test_temp("model/hard")), 0);
    hg_file file;
    if (CHECK_OK(hg_file_map(external_path(&c, "m.onnx"), &file, &c.f.error), &c.f.error)) {
        const hg_import_options o = {.base_dir = c.folder, .external = &c.external, .file = &file};
        CHECK_STATUS(make_import(&c.f, &m, &o), HOLO_E_MODEL);
        CHECK_HAS(c.f.error.message, "'m.onnx' is the model file itself");
        const make hard = external_model(&c.f, "hard", NULL, NULL);
        CHECK_STATUS(make_import(&c.f, &hard, &o), HOLO_E_MODEL);
        hg_file_unmap(&file);
    }
    external_deinit(&c);
}

static void external_refuses_strings(void)
{
    external_case c;
    external_init(&c);
    external_write(&c, "w.bin", "0123456789abcdef", 16);
    make t = make_tensor(&c.f, "w", ELEM_STRING, "1", NULL, 0), g = make_new(&c.f.arena);
    const make w = make_value(&c.f, "w", ELEM_STRING, NULL);
    make_int(&t, 14, 1);
    external_entry(&t, "location", "w.bin");
    make_in(&g, GRAPH_INITIALIZER, &t);
    make_in(&g, GRAPH_OUTPUT, &w);
    const make m = make_model(&c.f, &g, 13);
    const hg_import_options o = {.base_dir = c.folder, .external = &c.external};
    CHECK_STATUS(make_import(&c.f, &m, &o), HOLO_E_MODEL);
    CHECK_HAS(c.f.error.message, "strings cannot be external");
    external_deinit(&c);
}

/* Offsets above 4 GiB in a sparse file. */
static void external_large_offset(void)
{
    external_case c;
    external_init(&c);
    static const float values[] = {4, 5};
    external_write(&c, "big", "", 0);
    FILE *file = fopen(external_path(&c, "big"), "r+b");
    const bool is_made = file != NULL && fseeko(file, (off_t)5 << 30, SEEK_SET) == 0 &&
                         fwrite(values, 1, sizeof values, file) == sizeof values;
    if (file != NULL && fclose(file) == 0 && is_made &&
        CHECK_OK(external_import(&c, "big", "5368709120", "8"), &c.f.error))
        CHECK_HAS(make_dump(&c.f), "{4.0, 5.0}");
    external_deinit(&c);
}

const hg_test_case hg_tests_import_external[] = {
    {"reads", external_reads},
    {"reads_empty", external_reads_empty},
    {"refuses", external_refuses},
    {"refuses_without_folder", external_refuses_without_folder},
    {"refuses_the_model_itself", external_refuses_the_model_itself},
    {"refuses_strings", external_refuses_strings},
    {"large_offset", external_large_offset},
    {0},
};
