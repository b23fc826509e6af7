/* image.c - any bytes as a picture: every header, and the readers that are ours. Libraries have
 * fuzzers of their own. */
#include "ext/image.h"

#include "fuzz.h"
#include "isa/kernel.h"

enum { IMAGE_MOST = 1 << 20 }; /* bytes of a result */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const hg_kernel *k = hg_kernel_lookup(holo_kernels_ext(), "image.decode");
    const int64_t param = (int64_t)(size % 3);
    holo_error e = {0};
    hg_image im;
    hg_fault fault = {0};
    holo_status status = hg_image_head(data, (int64_t)size, &im, &e);
    FUZZ_REQUIRE(status == HOLO_OK || e.message[0] != 0);
    if (status != HOLO_OK || im.format->library != NULL) return 0;
    holo_tensor in = {
        .data = (void *)(uintptr_t)data, .dim = {(int64_t)size}, .rank = 1, .dtype = HOLO_U8};
    holo_tensor out = {.dtype = HOLO_U8};
    hg_args a = {.in = &in,
                 .out = &out,
                 .param = &param,
                 .fault = &fault,
                 .n_in = 1,
                 .n_out = 1,
                 .n_param = 1};
    FUZZ_REQUIRE(k->size(&a, &e) == HOLO_OK);
    if (holo_tensor_bytes(&out) > IMAGE_MOST) return 0;
    out.data = malloc(holo_tensor_bytes(&out));
    void *scratch = malloc(k->scratch(&a));
    FUZZ_REQUIRE(k->check(&a, &e) == HOLO_OK);
    k->run(&a, (hg_range){0, 1, scratch});
    free(scratch);
    free(out.data);
    return 0;
}
