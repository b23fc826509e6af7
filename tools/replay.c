/* replay.c - runs a fuzz target over files and folders of inputs, without a fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_count;

static void replay_file(const char *path, size_t size)
{
    uint8_t *data = malloc(size); /* exactly as large as the file: reading past it is caught */
    FILE *file = fopen(path, "rb");
    if (file == NULL || (size > 0 && (data == NULL || fread(data, 1, size, file) != size))) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last line before a crash names the input */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replay_count++;
}

static void replay_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return;
    if (S_ISREG(info.st_mode)) replay_file(path, (size_t)info.st_size);
    DIR *folder = S_ISDIR(info.st_mode) ? opendir(path) : NULL;
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char child[4096];
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.') replay_path(child);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay_path(argv[i]);
    printf("%d passed, 0 failed\n", replay_count);
    return EXIT_SUCCESS;
}
