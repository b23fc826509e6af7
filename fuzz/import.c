/* import.c - any bytes as an ONNX model: what is imported is a right graph that prints. */
#include "import/onnx/import.h"
#include "fuzz.h"
#include "onnx.h"

static bool import_sink(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hg_ctx ctx;
    holo_error error = {0};
    hg_graph g;
    fuzz_ctx_init(&ctx, &error);
    FUZZ_REQUIRE(hg_graph_init(&g, &ctx) == HOLO_OK);
    holo_status status = hg_import_onnx(&g, data, size, &(hg_import_options){0});
    FUZZ_REQUIRE(status == HOLO_OK || error.message[0] != 0);
    FUZZ_REQUIRE(status != HOLO_E_BUG);
    size_t printed = 0;
    if (status == HOLO_OK) {
        FUZZ_REQUIRE(hg_graph_verify(&g, &error) == HOLO_OK);
        FUZZ_REQUIRE(hg_graph_dump(&g, import_sink, &printed) == HOLO_OK);
    }
    fuzz_ctx_deinit(&ctx);
    return 0;
}
