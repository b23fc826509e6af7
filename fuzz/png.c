/* png.c - any bytes as a picture. The reader takes a path, so the bytes go through a file in
 * memory. */
#include "io/png.h"

#include "fuzz.h"
#include "io/tensor.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("png", 0);
    FUZZ_REQUIRE(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    hg_png picture = {0};
    holo_error error = {0};
    holo_status status = hg_png_read(path, size % 2 == 0 ? 3 : 0, &picture, &error);
    FUZZ_REQUIRE(status == HOLO_OK || error.message[0] != 0);
    if (status == HOLO_OK) {
        static const double mean[3] = {0.5, 0.5, 0.5}, scale[3] = {0.25, 0.25, 0.25};
        holo_tensor t = {0};
        if (hg_png_to_tensor(&picture, HG_PNG_NCHW, mean, scale, &t, &error) == HOLO_OK)
            hg_io_tensor_free(&t);
        hg_png_free(&picture);
    }
    close(fd);
    return 0;
}
