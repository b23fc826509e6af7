/* file.c - whole files: a failure leaves what was there before. */
#include "test.h"

#include "io/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void file_put(const char *path, const char *text)
{
    hg_io_writer w;
    holo_error error = {0};
    if (!CHECK_OK(hg_io_writer_open(path, &w, &error), &error)) return;
    CHECK(hg_io_writer_sink(&w, text, strlen(text)));
    CHECK_OK(hg_io_writer_commit(&w, &error), &error);
}

static void file_replaces_whole(void)
{
    const char *path = hg_test_temp("a.txt");
    hg_io_bytes bytes;
    hg_io_writer w;
    holo_error error = {0};
    file_put(path, "old");
    if (!CHECK_OK(hg_io_writer_open(path, &w, &error), &error)) return;
    CHECK(hg_io_writer_sink(&w, "half", 4));
    CHECK(access(w.temporary, F_OK) == 0);
    char *temporary = strdup(w.temporary);
    hg_io_writer_abort(&w);
    CHECK(access(temporary, F_OK) != 0);
    free(temporary);
    if (!CHECK_OK(hg_io_read_file(path, &bytes, &error), &error)) return;
    CHECK_EQ_INT(bytes.size, 3);
    CHECK_MEM(bytes.data, "old", 3);
    hg_io_bytes_free(&bytes);
    file_put(path, "newer");
    if (!CHECK_OK(hg_io_read_file(path, &bytes, &error), &error)) return;
    CHECK_EQ_INT(bytes.size, 5);
    hg_io_bytes_free(&bytes);
}

static void file_special(void)
{
    hg_io_bytes bytes;
    holo_error error = {0};
    CHECK_STATUS(hg_io_read_file("/", &bytes, &error), HOLO_E_IO);
    CHECK_HAS(error.message, "folder");
    CHECK_STATUS(hg_io_read_file(hg_test_temp("absent"), &bytes, &error), HOLO_E_IO);
    CHECK_STATUS(hg_io_read_file("/dev/zero", &bytes, &error), HOLO_E_LIMIT);
    if (CHECK_OK(hg_io_read_file("/dev/null", &bytes, &error), &error)) {
        CHECK_EQ_INT(bytes.size, 0);
        hg_io_bytes_free(&bytes);
    }
    file_put("/dev/null", "gone"); /* written, not replaced by a file */
    CHECK(access("/dev/null", W_OK) == 0);
}

static void file_folders(void)
{
    holo_error error = {0};
    const char *path = hg_test_temp("x/y/z");
    CHECK_OK(hg_io_make_folder(path, &error), &error);
    CHECK_OK(hg_io_make_folder(path, &error), &error);
    CHECK_STATUS(hg_io_make_folder("/proc/nothing", &error), HOLO_E_IO);
    CHECK_HAS(error.message, "/proc/nothing");
}

const hg_test_case hg_tests_io_file[] = {
    {"replaces_whole", file_replaces_whole},
    {"special", file_special},
    {"folders", file_folders},
    {0},
};
