/* graph_text.c - any text as a graph: what parses prints, and what is printed parses to the same
 * text. */
#include "fuzz.h"

#include <string.h>

typedef struct graph_text_buffer {
    char *text;
    size_t size, capacity;
} graph_text_buffer;

static bool graph_text_sink(void *user, const void *bytes, size_t size)
{
    graph_text_buffer *b = user;
    if (b->size + size > b->capacity) {
        b->capacity = (b->size + size) * 2;
        b->text = realloc(b->text, b->capacity);
        FUZZ_REQUIRE(b->text != NULL);
    }
    if (size != 0) memcpy(b->text + b->size, bytes, size);
    b->size += size;
    return true;
}

static holo_status graph_text_print(const char *text, size_t size, graph_text_buffer *out)
{
    hg_ctx ctx;
    holo_error error = {0};
    hg_graph g;
    fuzz_ctx_init(&ctx, &error);
    FUZZ_REQUIRE(hg_graph_init(&g, &ctx) == HOLO_OK);
    holo_status status = hg_graph_parse(&g, (hg_str){text, size}, &error);
    FUZZ_REQUIRE(status == HOLO_OK || error.message[0] != 0);
    if (status == HOLO_OK) FUZZ_REQUIRE(hg_graph_dump(&g, graph_text_sink, out) == HOLO_OK);
    fuzz_ctx_deinit(&ctx);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    graph_text_buffer first = {0}, second = {0};
    if (graph_text_print((const char *)data, size, &first) == HOLO_OK) {
        /* Constants above 16 elements are printed as their hash, which does not parse. */
        if (graph_text_print(first.text, first.size, &second) == HOLO_OK) {
            FUZZ_REQUIRE(first.size == second.size);
            FUZZ_REQUIRE(memcmp(first.text, second.text, first.size) == 0);
        } else {
            FUZZ_REQUIRE(first.size > 16);
        }
    }
    free(first.text);
    free(second.text);
    return 0;
}
