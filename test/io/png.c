/* png.c - pictures: round trip, conversion to a tensor, hostile files. */
#include "test.h"

#include "io/png.h"
#include "io/tensor.h"

#include <stdio.h>
#include <string.h>

#ifdef HG_HAVE_PNG

static void png_roundtrip(void)
{
    static uint8_t pixels[2 * 3 * 4];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = i % 4 == 3 ? 255 : (uint8_t)(i * 9);
    for (uint32_t channels = 1; channels <= 4; channels++) {
        if (channels == 2) continue;
        hg_png a = {pixels, 3, 2, channels}, b = {0};
        holo_error error = {0};
        const char *path = hg_test_temp("picture.png");
        CHECK_OK(hg_png_write(path, &a, &error), &error);
        if (!CHECK_OK(hg_png_read(path, 0, &b, &error), &error)) return;
        CHECK_EQ_INT(b.width, 3);
        CHECK_EQ_INT(b.height, 2);
        CHECK_EQ_INT(b.channels, channels);
        CHECK_MEM(b.pixels, pixels, (size_t)6 * channels);
        hg_png_free(&b);
    }
}

static void png_hostile(void)
{
    /* a header that claims 65000 x 65000 pixels, then nothing */
    static const uint8_t bomb[] = {0x89, 'P',  'N', 'G', 13,  10, 26, 10,   0,    0, 0,
                                   13,   'I',  'H', 'D', 'R', 0,  0,  0xfd, 0xe8, 0, 0,
                                   0xfd, 0xe8, 8,   2,   0,   0,  0,  0,    0,    0, 0};
    hg_png p;
    holo_error error = {0};
    const char *path = hg_test_temp("bomb.png");
    for (size_t n = 0; n <= sizeof bomb; n++) {
        FILE *f = fopen(path, "wb");
        if (!CHECK(f != NULL)) return;
        fwrite(bomb, 1, n, f);
        fclose(f);
        CHECK(hg_png_read(path, 3, &p, &error) != HOLO_OK);
        CHECK_HAS(error.message, "bomb.png");
    }
    CHECK_STATUS(hg_png_read("/", 3, &p, &error), HOLO_E_IO);
    CHECK_STATUS(hg_png_read(hg_test_temp("absent.png"), 3, &p, &error), HOLO_E_IO);
}

#endif

static void png_to_tensor(void)
{
    uint8_t pixels[6] = {0, 51, 102, 153, 204, 255};
    hg_png p = {pixels, 2, 1, 3};
    double mean[3] = {0, 0.2, 0.4}, scale[3] = {1, 0.5, 0.25};
    holo_tensor t;
    holo_error error = {0};
    if (!CHECK_OK(hg_png_to_tensor(&p, HG_PNG_NCHW, mean, scale, &t, &error), &error)) return;
    const float *x = t.data;
    CHECK_EQ_INT(t.dim[1], 3);
    CHECK_NEAR(x[1], 0.6, 1e-6); /* red of the second pixel */
    CHECK_NEAR(x[3], 1.2, 1e-6); /* green: (0.8 - 0.2) / 0.5 */
    hg_io_tensor_free(&t);
    if (!CHECK_OK(hg_png_to_tensor(&p, HG_PNG_NHWC, mean, scale, &t, &error), &error)) return;
    CHECK_EQ_INT(t.dim[3], 3);
    CHECK_NEAR(((const float *)t.data)[4], 1.2, 1e-6);
    hg_io_tensor_free(&t);
}

const hg_test_case hg_tests_io_png[] = {
    {"to_tensor", png_to_tensor},
#ifdef HG_HAVE_PNG
    {"roundtrip", png_roundtrip},
    {"hostile", png_hostile},
#endif
    {0},
};
