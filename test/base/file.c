/* file.c - tests of base/file.h: mapping, untrusted paths, the writer. */
#include "base/file.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_make(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return;
    CHECK_EQ_INT(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* The path of `name` inside a folder; valid until the next call. */
static const char *file_in(const char *folder, const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%.2000s/%.2000s", folder, name);
    return path;
}

static void file_maps_whole(void)
{
    const char *path = hg_test_temp("a");
    holo_error e = {0};
    hg_file file;
    file_make(path, "hello", 5);
    if (!CHECK_OK(hg_file_map(path, &file, &e), &e)) return;
    CHECK_EQ_INT(file.size, 5);
    CHECK_MEM(file.data, "hello", 5);
    CHECK(!file.is_copy);
    hg_file_prefault(&file);
    hg_file_forget(&file, file.data, file.size);
    CHECK_MEM(file.data, "hello", 5);
    hg_file_unmap(&file);
    CHECK(file.data == NULL);
}

static void file_maps_empty(void)
{
    const char *path = hg_test_temp("a");
    holo_error e = {0};
    hg_file file;
    file_make(path, "", 0);
    if (!CHECK_OK(hg_file_map(path, &file, &e), &e)) return;
    CHECK_EQ_INT(file.size, 0);
    hg_file_prefault(&file);
    hg_file_unmap(&file);
    if (!CHECK_OK(hg_file_read(path, 0, NULL, &file, &e), &e)) return;
    CHECK_EQ_INT(file.size, 0);
    hg_file_unmap(&file);
}

static void file_maps_part_of_descriptor(void)
{
    const char *path = hg_test_temp("a");
    enum { SIZE = 3 * 65536 };
    holo_error e = {0};
    hg_file map, copy;
    uint8_t *bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    file_make(path, bytes, SIZE);
    int fd = open(path, O_RDONLY);
    if (CHECK_OK(hg_file_map_fd(fd, 5001, 70000, &map, &e), &e)) {
        CHECK_EQ_INT(map.size, 70000);
        CHECK_MEM(map.data, bytes + 5001, 70000);
        hg_file_forget(&map, map.data, map.size);
        CHECK_MEM(map.data, bytes + 5001, 70000);
        hg_file_unmap(&map);
    }
    if (CHECK_OK(hg_file_read_fd(fd, 70001, 0, 0, NULL, &copy, &e), &e)) {
        CHECK_EQ_INT(copy.size, SIZE - 70001);
        CHECK_EQ_INT((uintptr_t)copy.data % 64, 0);
        CHECK_MEM(copy.data, bytes + 70001, copy.size);
        hg_file_unmap(&copy);
    }
    CHECK_STATUS(hg_file_map_fd(fd, 1, SIZE, &map, &e), HOLO_E_ARG);
    CHECK_HAS(e.message, "196608 bytes, but 196608 at 1");
    CHECK_STATUS(hg_file_map_fd(fd, UINT64_MAX, 2, &map, &e), HOLO_E_ARG);
    CHECK_STATUS(hg_file_map_fd(fd, 2, UINT64_MAX, &map, &e), HOLO_E_ARG);
    CHECK_STATUS(hg_file_map_fd(-1, 0, 0, &map, &e), HOLO_E_IO);
    close(fd);
    free(bytes);
}

static void file_reads_within_limit(void)
{
    const char *path = hg_test_temp("a");
    holo_error e = {0};
    hg_file file;
    file_make(path, "12345678", 8);
    if (CHECK_OK(hg_file_read(path, 8, NULL, &file, &e), &e)) {
        CHECK_MEM(file.data, "12345678", 8);
        hg_file_prefault(&file);
        hg_file_unmap(&file);
    }
    CHECK_STATUS(hg_file_read(path, 7, NULL, &file, &e), HOLO_E_LIMIT);
    CHECK_HAS(e.message, "8 bytes, at most 7");
}

static void file_refuses_what_is_no_file(void)
{
    holo_error e = {0};
    hg_file file;
    const char *path = hg_test_temp("pipe");
    CHECK_EQ_INT(mkfifo(path, 0600), 0);
    CHECK_STATUS(hg_file_map(path, &file, &e), HOLO_E_IO);
    CHECK_HAS(e.message, "is a pipe");
    CHECK_STATUS(hg_file_map("/dev/null", &file, &e), HOLO_E_IO);
    CHECK_HAS(e.message, "is a device");
    CHECK_STATUS(hg_file_read("/", 0, NULL, &file, &e), HOLO_E_IO);
    CHECK_HAS(e.message, "is a folder");
    CHECK_STATUS(hg_file_map(hg_test_temp("missing"), &file, &e), HOLO_E_IO);
    CHECK_HAS(e.message, "No such file");
    CHECK_STATUS(hg_file_map("", &file, &e), HOLO_E_IO);
    CHECK_STATUS(hg_file_map(NULL, &file, &e), HOLO_E_IO);
}

static void file_refuses_huge_sparse(void)
{
    holo_error e = {0};
    hg_file file;
    const char *path = hg_test_temp("sparse");
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    /* As large as the file system allows: 8 EiB less a byte on tmpfs, 16 TiB on ext4. */
    off_t size = INT64_MAX;
    while (size > 1 << 20 && ftruncate(fd, size) != 0)
        size /= 2;
    close(fd);
    holo_status status = hg_file_map(path, &file, &e);
    if (status == HOLO_OK) { /* it fits the address space: nothing was read */
        CHECK_EQ_INT(file.size, size);
        hg_file_unmap(&file);
    } else {
        CHECK_STATUS(status, HOLO_E_IO);
        CHECK_HAS(e.message, "sparse");
    }
    CHECK_EQ_INT(size < (off_t)1 << 47 || status == HOLO_E_IO, 1);
    CHECK(hg_file_read(path, 1 << 20, NULL, &file, &e) != HOLO_OK);
    unlink(path);
}

static void file_beneath_opens(void)
{
    const char *folder = hg_test_temp("m");
    holo_error e = {0};
    hg_file file, again;
    mkdir(folder, 0700);
    mkdir(file_in(folder, "sub"), 0700);
    file_make(file_in(folder, "sub/w.bin"), "weights", 7);
    static const char *const good[] = {"sub/w.bin", "./sub/w.bin", "sub//w.bin", "sub/./w.bin"};
    for (size_t i = 0; i < HG_COUNT(good); i++) {
        if (!CHECK_OK(hg_file_map_beneath(folder, hg_str_from(good[i]), &file, &e), &e)) continue;
        CHECK_MEM(file.data, "weights", 7);
        if (CHECK_OK(hg_file_map(file_in(folder, "sub/w.bin"), &again, &e), &e)) {
            CHECK(hg_file_is_same(&file, &again));
            hg_file_unmap(&again);
        }
        hg_file_unmap(&file);
    }
    CHECK(!hg_file_is_same(&(hg_file){0}, &(hg_file){0}));
    /* A hard link is the file. */
    char to[4096];
    snprintf(to, sizeof to, "%s/hard", folder);
    CHECK_EQ_INT(link(file_in(folder, "sub/w.bin"), to), 0);
    if (CHECK_OK(hg_file_map_beneath(folder, hg_str_from("hard"), &file, &e), &e))
        hg_file_unmap(&file);
}

static void file_beneath_refuses(void)
{
    const char *folder = hg_test_temp("m");
    const char *outside = hg_test_temp("secret");
    char link_path[4096];
    holo_error e = {0};
    hg_file file;
    mkdir(folder, 0700);
    mkdir(file_in(folder, "sub"), 0700);
    file_make(outside, "secret", 6);
    file_make(file_in(folder, "sub/w"), "w", 1);
    snprintf(link_path, sizeof link_path, "%s/last", folder);
    CHECK_EQ_INT(symlink("../secret", link_path), 0);
    snprintf(link_path, sizeof link_path, "%s/parent", folder);
    CHECK_EQ_INT(symlink("sub", link_path), 0);
    CHECK_EQ_INT(mkfifo(file_in(folder, "pipe"), 0600), 0);
    static const struct {
        const char *path, *why;
    } bad[] = {
        {"", "empty"},
        {"/etc/passwd", "absolute"},
        {"../secret", "leaves the folder"},
        {"sub/../../secret", "leaves the folder"},
        {"sub/..", "leaves the folder"},
        {"..", "leaves the folder"},
        {"sub\\w", "backslash"},
        {"..\\secret", "backslash"},
        {"last", "symbolic link"},
        {"parent/w", "symbolic link"},
        {"sub/", "names a folder"},
        {"sub", "is a folder"},
        {".", "is a folder"},
        {"pipe", "is a pipe"},
        {"missing", "No such file"},
        {"sub/w/x", "Not a directory"},
        {"a\nb", "not text"},
        {"a\xff", "not text"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        CHECK_STATUS(hg_file_map_beneath(folder, hg_str_from(bad[i].path), &file, &e), HOLO_E_IO);
        CHECK_HAS(e.message, bad[i].why);
    }
    CHECK_STATUS(hg_file_map_beneath(folder, (hg_str){"sub/w\0", 6}, &file, &e), HOLO_E_IO);
    char longest[300];
    memset(longest, 'a', sizeof longest);
    CHECK_STATUS(hg_file_map_beneath(folder, (hg_str){longest, 300}, &file, &e), HOLO_E_IO);
    CHECK_HAS(e.message, "255");
    /* An empty folder is the current one and never the root. */
    CHECK_STATUS(hg_file_map_beneath("", hg_str_from("etc/passwd"), &file, &e), HOLO_E_IO);
    CHECK_STATUS(hg_file_map_beneath(hg_test_temp("none"), hg_str_from("a"), &file, &e), HOLO_E_IO);
}

/* The same bytes through either kind of writer. */
static void file_write_sample(hg_writer *w)
{
    holo_error e = {0};
    enum { BIG = 1 << 20 };
    uint8_t *big = malloc(BIG);
    memset(big, 0xab, BIG);
    CHECK_OK(hg_writer_write(w, "head", 4, &e), &e);
    CHECK_OK(hg_writer_pad(w, 64, &e), &e);
    CHECK_OK(hg_writer_pad(w, 64, &e), &e);
    CHECK_EQ_INT(w->size, 64);
    CHECK_OK(hg_writer_write(w, big, BIG, &e), &e);
    CHECK_OK(hg_writer_write(w, "tail", 4, &e), &e);
    CHECK_OK(hg_writer_patch(w, 1, "EAD", 3, &e), &e);
    CHECK_OK(hg_writer_patch(w, w->size - 1, "L", 1, &e), &e);
    CHECK_OK(hg_writer_write(w, NULL, 0, &e), &e);
    CHECK_STATUS(hg_writer_patch(w, w->size, "x", 1, &e), HOLO_E_ARG);
    CHECK_STATUS(hg_writer_patch(w, UINT64_MAX, "x", 1, &e), HOLO_E_ARG);
    free(big);
}

static void file_check_sample(const uint8_t *data, size_t size)
{
    if (!CHECK_EQ_INT(size, 64 + (1 << 20) + 4)) return;
    CHECK_MEM(data, "hEAD\0\0\0", 7);
    CHECK_EQ_INT(data[64], 0xab);
    CHECK_EQ_INT(data[size - 5], 0xab);
    CHECK_MEM(data + size - 4, "taiL", 4);
}

static void file_writer_commits(void)
{
    const char *path = hg_test_temp("out");
    holo_error e = {0};
    hg_writer w;
    hg_file file;
    file_make(path, "old", 3);
    if (!CHECK_OK(hg_writer_init_file(&w, path, NULL, &e), &e)) return;
    file_write_sample(&w);
    if (CHECK_OK(hg_file_map(path, &file, &e), &e)) {
        CHECK_EQ_INT(file.size, 3); /* untouched until commit */
        hg_file_unmap(&file);
    }
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s", w.temporary);
    CHECK_EQ_INT(access(temporary, F_OK), 0);
    CHECK_OK(hg_writer_commit(&w, &e), &e);
    hg_writer_abort(&w);
    CHECK(access(temporary, F_OK) != 0);
    if (CHECK_OK(hg_file_map(path, &file, &e), &e)) {
        file_check_sample(file.data, file.size);
        hg_file_unmap(&file);
    }
    CHECK_STATUS(hg_writer_write(&w, "x", 1, &e), HOLO_E_STATE);
}

/* A target with the longest name a file can have. */
static void file_writer_longest_name(void)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    const char *path = hg_test_temp(name);
    holo_error e = {0};
    hg_writer w;
    if (!CHECK_OK(hg_writer_init_file(&w, path, NULL, &e), &e)) return;
    CHECK_OK(hg_writer_write(&w, "x", 1, &e), &e);
    CHECK_OK(hg_writer_commit(&w, &e), &e);
    hg_writer_abort(&w);
    CHECK_EQ_INT(access(path, F_OK), 0);
}

static void file_writer_aborts(void)
{
    const char *path = hg_test_temp("out");
    holo_error e = {0};
    hg_writer w;
    char temporary[4096];
    if (!CHECK_OK(hg_writer_init_file(&w, path, NULL, &e), &e)) return;
    file_write_sample(&w);
    snprintf(temporary, sizeof temporary, "%s", w.temporary);
    hg_writer_abort(&w);
    hg_writer_abort(&w);
    CHECK(access(temporary, F_OK) != 0);
    CHECK(access(path, F_OK) != 0);
}

static void file_writer_refuses(void)
{
    holo_error e = {0};
    hg_writer w;
    CHECK_STATUS(hg_writer_init_file(&w, "", NULL, &e), HOLO_E_IO);
    CHECK_STATUS(hg_writer_init_file(&w, "/dev/null", NULL, &e), HOLO_E_IO);
    CHECK_HAS(e.message, "is a device");
    CHECK_STATUS(hg_writer_init_file(&w, "/", NULL, &e), HOLO_E_IO);
    CHECK_STATUS(hg_writer_init_file(&w, hg_test_temp("no/such/folder"), NULL, &e), HOLO_E_IO);
    CHECK_HAS(e.message, "No such file");
    hg_writer_abort(&w);
}

static void file_writer_to_memory(void)
{
    holo_error e = {0};
    hg_writer w;
    void *data;
    size_t size;
    hg_writer_init_memory(&w, NULL);
    file_write_sample(&w);
    CHECK_STATUS(hg_writer_commit(&w, &e), HOLO_E_STATE);
    if (CHECK_OK(hg_writer_take(&w, &data, &size, &e), &e)) {
        file_check_sample(data, size);
        holo_allocator libc = hg_allocator_or_libc(NULL);
        hg_free(&libc, data, size);
    }
    hg_writer_abort(&w);
    hg_writer_init_memory(&w, NULL);
    CHECK_OK(hg_writer_take(&w, &data, &size, &e), &e);
    CHECK_EQ_INT(size, 0);
    hg_writer_abort(&w);
    hg_writer_init_memory(&w, NULL);
    CHECK_OK(hg_writer_write(&w, "x", 1, &e), &e);
    hg_writer_abort(&w);
}

/* Fails from the nth allocation on and counts what is live. */
typedef struct file_budget {
    int left, live;
} file_budget;

static void *file_budget_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    file_budget *b = user;
    (void)old_size;
    if (new_size == 0) {
        b->live -= p != NULL;
        free(p);
        return NULL;
    }
    if (b->left-- <= 0) return NULL;
    b->live += p == NULL;
    return realloc(p, new_size);
}

static void file_survives_lack_of_memory(void)
{
    const char *path = hg_test_temp("out");
    for (int n = 0; n < 6; n++) {
        file_budget budget = {.left = n};
        holo_allocator alloc = {file_budget_resize, &budget};
        holo_error e = {0};
        hg_writer w;
        hg_file file;
        holo_status status = hg_writer_init_file(&w, path, &alloc, &e);
        CHECK_EQ_INT(status, n < 3 ? HOLO_E_NOMEM : HOLO_OK);
        hg_writer_abort(&w);
        CHECK_EQ_INT(budget.live, 0);
        budget.left = n;
        hg_writer_init_memory(&w, &alloc);
        status = hg_writer_write(&w, "abc", 3, &e);
        CHECK_EQ_INT(status, n < 1 ? HOLO_E_NOMEM : HOLO_OK);
        hg_writer_abort(&w);
        CHECK_EQ_INT(budget.live, 0);
        file_make(path, "data", 4);
        budget.left = n;
        status = hg_file_read(path, 0, &alloc, &file, &e);
        CHECK_EQ_INT(status, n < 1 ? HOLO_E_NOMEM : HOLO_OK);
        if (status == HOLO_OK) hg_file_unmap(&file);
        CHECK_EQ_INT(budget.live, 0);
    }
}

const hg_test_case hg_tests_base_file[] = {
    {"maps_whole", file_maps_whole},
    {"maps_empty", file_maps_empty},
    {"maps_part_of_descriptor", file_maps_part_of_descriptor},
    {"reads_within_limit", file_reads_within_limit},
    {"refuses_what_is_no_file", file_refuses_what_is_no_file},
    {"refuses_huge_sparse", file_refuses_huge_sparse},
    {"beneath_opens", file_beneath_opens},
    {"beneath_refuses", file_beneath_refuses},
    {"writer_commits", file_writer_commits},
    {"writer_longest_name", file_writer_longest_name},
    {"writer_aborts", file_writer_aborts},
    {"writer_refuses", file_writer_refuses},
    {"writer_to_memory", file_writer_to_memory},
    {"survives_lack_of_memory", file_survives_lack_of_memory},
    {0},
};
