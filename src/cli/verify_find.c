/* verify_find.c - finds test cases: folders with model.onnx and test_data_set_*, and NAME.onnx with
 * NAME_output_0.pb beside it. */
#include "cli/verify.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { VERIFY_FIND_DEPTH = 16 };

static char *verify_find_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static bool verify_find_exists(const char *folder, const char *name)
{
    struct stat info;
    char *path = verify_find_join(folder, name);
    bool found = path != NULL && stat(path, &info) == 0;
    free(path);
    return found;
}

static bool verify_find_add(hg_verify_cases *cases, const hg_verify_case *c)
{
    bool complete =
        c->name != NULL && c->model != NULL && (c->folder != NULL || c->outputs != NULL);
    if (complete && cases->count == cases->capacity) {
        size_t capacity = cases->capacity == 0 ? 64 : cases->capacity * 2;
        hg_verify_case *grown = realloc(cases->item, capacity * sizeof *grown);
        complete = grown != NULL;
        if (complete) {
            cases->item = grown;
            cases->capacity = capacity;
        }
    }
    if (complete) {
        cases->item[cases->count++] = *c;
        return true;
    }
    free(c->name);
    free(c->model);
    free(c->folder);
    free(c->outputs);
    return false;
}

/* The last part of a path, without slashes at its end. */
static char *verify_find_last(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    size_t start = n;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return strndup(path + start, n - start);
}

/* NAME.onnx with NAME_output_0.pb */
static bool verify_find_light(hg_verify_cases *cases, const char *folder, const char *file)
{
    char expected[300];
    size_t n = strlen(file);
    if (n < 6 || n > 200 || strcmp(file + n - 5, ".onnx") != 0) return true;
    snprintf(expected, sizeof expected, "%.*s_output_0.pb", (int)(n - 5), file);
    if (!verify_find_exists(folder, expected)) return true;
    expected[strlen(expected) - 4] = '\0'; /* keep up to the number */
    hg_verify_case c = {.name = strndup(file, n - 5),
                        .model = verify_find_join(folder, file),
                        .outputs = verify_find_join(folder, expected)};
    return verify_find_add(cases, &c);
}

static int verify_find_walk(const hg_cli *cli, const char *folder, int depth,
                            hg_verify_cases *cases);

static int verify_find_entry(const hg_cli *cli, const char *folder, const char *name, int depth,
                             hg_verify_cases *cases)
{
    struct stat info;
    int code = HG_CLI_OK;
    char *path = verify_find_join(folder, name);
    if (path == NULL) return hg_cli_error(cli, "out of memory");
    /* lstat: a link to a folder above would lead in circles. */
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
        code = verify_find_walk(cli, path, depth + 1, cases);
    else if (!verify_find_light(cases, folder, name))
        code = hg_cli_error(cli, "out of memory");
    free(path);
    return code;
}

static int verify_find_walk(const hg_cli *cli, const char *folder, int depth,
                            hg_verify_cases *cases)
{
    struct dirent **entry;
    if (depth > VERIFY_FIND_DEPTH || hg_cli_interrupted() != 0) return HG_CLI_OK;
    if (verify_find_exists(folder, "model.onnx")) {
        hg_verify_case c = {.name = verify_find_last(folder),
                            .model = verify_find_join(folder, "model.onnx"),
                            .folder = strdup(folder)};
        return verify_find_add(cases, &c) ? HG_CLI_OK : hg_cli_error(cli, "out of memory");
    }
    int n = scandir(folder, &entry, NULL, alphasort);
    if (n < 0) return hg_cli_error(cli, "cannot list %s: %s", folder, strerror(errno));
    int code = HG_CLI_OK;
    for (int i = 0; i < n; i++) {
        if (code == HG_CLI_OK && entry[i]->d_name[0] != '.')
            code = verify_find_entry(cli, folder, entry[i]->d_name, depth, cases);
        free(entry[i]);
    }
    free(entry);
    return code;
}

int hg_verify_find(const hg_cli *cli, const char *folder, hg_verify_cases *cases)
{
    return verify_find_walk(cli, folder, 0, cases);
}

void hg_verify_cases_free(hg_verify_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        free(cases->item[i].name);
        free(cases->item[i].model);
        free(cases->item[i].folder);
        free(cases->item[i].outputs);
    }
    free(cases->item);
    *cases = (hg_verify_cases){0};
}
