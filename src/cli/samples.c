/* samples.c - reads a folder of .npy files as inputs of several runs. */
#include "cli/samples.h"

#include "io/npy.h"
#include "io/tensor.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool samples_ends_npy(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".npy") == 0;
}

static int samples_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void samples_free_list(struct dirent **list, int n)
{
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static void samples_free_one(const holo_sample *s)
{
    for (size_t k = 0; k < s->count; k++) {
        hg_io_tensor_free((holo_tensor *)(uintptr_t)&s->tensor[k]);
        free((void *)(uintptr_t)s->name[k]);
    }
    free((void *)(uintptr_t)s->tensor);
    free((void *)(uintptr_t)s->name);
}

static char *samples_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* One file as one more tensor; name NULL: of the only input. */
static int samples_add(const hg_cli *cli, const char *path, char *name, holo_sample *out)
{
    holo_error error = {0};
    holo_tensor *tensor = (holo_tensor *)(uintptr_t)out->tensor, read = {0};
    const char **names = (const char **)(uintptr_t)out->name;
    if (hg_npy_read(path, &read, &error) != HOLO_OK) {
        free(name);
        return hg_cli_fail(cli, &error);
    }
    tensor[out->count] = read;
    names[out->count++] = name;
    return HG_CLI_OK;
}

static bool samples_room(holo_sample *out, size_t n)
{
    out->tensor = calloc(n + 1, sizeof *out->tensor);
    out->name = calloc(n + 1, sizeof *out->name);
    return out->tensor != NULL && out->name != NULL;
}

/* The .npy files of a folder by the names of inputs. */
static int samples_folder(const hg_cli *cli, const char *folder, holo_sample *out)
{
    struct dirent **list = NULL;
    int n = scandir(folder, &list, samples_visible, alphasort), code = HG_CLI_OK;
    if (n < 0) return hg_cli_error(cli, "%s cannot be read", folder);
    if (!samples_room(out, (size_t)n)) code = hg_cli_error(cli, "out of memory");
    for (int i = 0; i < n && code == HG_CLI_OK; i++) {
        const char *file = list[i]->d_name;
        if (!samples_ends_npy(file)) continue;
        char *path = samples_join(folder, file), *name = strndup(file, strlen(file) - 4);
        if (path != NULL && name != NULL)
            code = samples_add(cli, path, name, out);
        else
            code = hg_cli_error(cli, "out of memory");
        free(path);
    }
    samples_free_list(list, n);
    return code;
}

static int samples_entry(const hg_cli *cli, const char *path, hg_cli_samples *out)
{
    struct stat info;
    if (stat(path, &info) != 0) return hg_cli_error(cli, "%s cannot be read", path);
    const bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && !samples_ends_npy(path)) return HG_CLI_OK;
    holo_sample *s = &out->sample[out->count++];
    if (is_folder) return samples_folder(cli, path, s);
    if (!samples_room(s, 1)) return hg_cli_error(cli, "out of memory");
    return samples_add(cli, path, NULL, s);
}

int hg_cli_samples_read(const hg_cli *cli, const char *folder, hg_cli_samples *out)
{
    struct dirent **list = NULL;
    int n = scandir(folder, &list, samples_visible, alphasort), code = HG_CLI_OK;
    *out = (hg_cli_samples){0};
    if (n < 0) return hg_cli_error(cli, "%s cannot be read as a folder", folder);
    out->sample = calloc((size_t)n + 1, sizeof *out->sample);
    if (out->sample == NULL) code = hg_cli_error(cli, "out of memory");
    for (int i = 0; i < n && code == HG_CLI_OK; i++) {
        char *path = samples_join(folder, list[i]->d_name);
        code = path != NULL ? samples_entry(cli, path, out) : hg_cli_error(cli, "out of memory");
        free(path);
    }
    samples_free_list(list, n);
    if (code == HG_CLI_OK && out->count == 0)
        code = hg_cli_error(cli,
                            "%s holds no .npy files: expected NAME.npy for a model with one "
                            "input, or folders with one INPUT.npy each",
                            folder);
    if (code != HG_CLI_OK) hg_cli_samples_free(out);
    return code;
}

void hg_cli_samples_free(hg_cli_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        samples_free_one(&samples->sample[i]);
    free(samples->sample);
    *samples = (hg_cli_samples){0};
}
