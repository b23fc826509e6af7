/* tokenizer.c - any bytes as a prompt for the tokenizer of the demo, and as its tokenizer.json. */
#include "../examples/text2image/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TOKENIZER_JSON HG_FUZZ_ROOT "/examples/text2image/models/tokenizer.json"

static void tokenizer_try(const tokenizer *t, const char *prompt)
{
    int64_t *ids = calloc((size_t)tokenizer_length(t) + 1, sizeof *ids);
    holo_error error = {0};
    if (ids == NULL) return;
    holo_status status = tokenizer_encode(t, prompt, ids, &error);
    if (status != HOLO_OK && error.message[0] == 0) abort();
    free(ids);
}

/* The bytes as a file that is nowhere on disk. */
static void tokenizer_read(const uint8_t *data, size_t size)
{
    char path[64];
    tokenizer *t = NULL;
    holo_error error = {0};
    int fd = memfd_create("tokenizer", 0);
    if (fd < 0) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size) {
        holo_status status = tokenizer_new(path, &t, &error);
        if (status == HOLO_OK)
            tokenizer_try(t, "a red heart");
        else if (error.message[0] == 0)
            abort();
    }
    tokenizer_free(t);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tokenizer *shipped;
    if (shipped == NULL && tokenizer_new(TOKENIZER_JSON, &shipped, NULL) != HOLO_OK) return 0;
    if (size > 0 && data[0] == '{') {
        tokenizer_read(data, size);
        return 0;
    }
    char *prompt = malloc(size + 1);
    if (prompt == NULL) return 0;
    memcpy(prompt, data, size);
    prompt[size] = 0;
    tokenizer_try(shipped, prompt);
    free(prompt);
    return 0;
}
