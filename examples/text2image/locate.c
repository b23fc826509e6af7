/* locate.c - finds files that came with the program. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#include "locate.h"

#include "asset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOCATE_PATH_BYTES = 4096 };

/* Absolute path of the program, or "" when it cannot be known. */
static void locate_program(const char *argv0, char path[LOCATE_PATH_BYTES])
{
    const ssize_t size = readlink("/proc/self/exe", path, LOCATE_PATH_BYTES - 1);
    path[size > 0 ? size : 0] = '\0';
    if (size > 0 || argv0 == NULL || strchr(argv0, '/') == NULL) return;
    char *resolved = realpath(argv0, NULL);
    if (resolved != NULL && strlen(resolved) < LOCATE_PATH_BYTES)
        memcpy(path, resolved, strlen(resolved) + 1);
    free(resolved);
}

static bool locate_has(const char *folder, const char *file)
{
    char *path = asset_path(folder, file);
    const bool is_there = path != NULL && access(path, R_OK) == 0;
    free(path);
    return is_there;
}

char *locate_folder(const char *argv0, const char *folder, const char *file, const char *otherwise)
{
    char above[LOCATE_PATH_BYTES];
    locate_program(argv0, above);
    for (char *slash = strrchr(above, '/'); slash != NULL; slash = strrchr(above, '/')) {
        *slash = '\0';
        char *found = asset_path(above, folder);
        if (found == NULL || locate_has(found, file)) return found;
        free(found);
    }
    return asset_path(otherwise, "");
}
