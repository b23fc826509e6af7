/* image_webp.c - WebP: lossless, lossy, with alpha, animated, damage. */
#include "ext/picture.h"

#ifdef HG_WITHOUT_IMAGE_WEBP

static void webp_skipped(void)
{
    SKIP("this build has no libwebp");
}

#else

#include <webp/encode.h>

enum { WEBP_WIDTH = 9, WEBP_HEIGHT = 7 };

static picture_file webp_file;

static void webp_encode(bool lossless, bool alpha)
{
    uint8_t pixels[WEBP_WIDTH * WEBP_HEIGHT * 4], *data = NULL;
    int channels = alpha ? 4 : 3, pitch = WEBP_WIDTH * channels;
    for (int64_t i = 0; i < WEBP_WIDTH * WEBP_HEIGHT; i++) {
        uint8_t rgb[3];
        picture_draw(i % WEBP_WIDTH, i / WEBP_WIDTH, rgb);
        memcpy(pixels + i * channels, rgb, 3);
        if (alpha) pixels[i * 4 + 3] = (uint8_t)(255 - i % 7);
    }
    size_t size = !lossless ? WebPEncodeRGB(pixels, WEBP_WIDTH, WEBP_HEIGHT, pitch, 100, &data)
                  : alpha   ? WebPEncodeLosslessRGBA(pixels, WEBP_WIDTH, WEBP_HEIGHT, pitch, &data)
                            : WebPEncodeLosslessRGB(pixels, WEBP_WIDTH, WEBP_HEIGHT, pitch, &data);
    webp_file.size = 0;
    picture_add(&webp_file, data, size);
    WebPFree(data);
}

static void webp_lossless(void)
{
    webp_encode(true, false);
    picture_is(&webp_file, WEBP_WIDTH, WEBP_HEIGHT, 0);
    picture_formats(&webp_file);
    webp_encode(true, true);
    picture_is(&webp_file, WEBP_WIDTH, WEBP_HEIGHT, 0);
}

static void webp_lossy(void)
{
    webp_encode(false, false);
    picture p = picture_decode(webp_file.data, webp_file.size, HG_PIXELS_RGB);
    CHECK_STR(p.error, "");
    CHECK_EQ_INT(p.width, WEBP_WIDTH);
    CHECK_EQ_INT(p.height, WEBP_HEIGHT);
    picture_free(&p);
    picture_formats(&webp_file);
}

/* The first frame, drawn at (2, 4) of a black picture of 20 x 16. */
static void webp_animate(void)
{
    picture_file *f = malloc(sizeof *f);
    f->size = 0;
    webp_encode(true, false);
    size_t stream = webp_file.size - 12;
    picture_text(f, "RIFF");
    picture_little(f, 4 + 18 + 14 + 24 + stream, 4);
    picture_text(f, "WEBPVP8X");
    picture_little(f, 10, 4);
    picture_little(f, 2, 4); /* animated */
    picture_little(f, 19, 3);
    picture_little(f, 15, 3);
    picture_text(f, "ANIM");
    picture_little(f, 6, 4);
    picture_little(f, 0, 6);
    picture_text(f, "ANMF");
    picture_little(f, 16 + stream, 4);
    picture_little(f, 1, 3);
    picture_little(f, 2, 3);
    picture_little(f, WEBP_WIDTH - 1, 3);
    picture_little(f, WEBP_HEIGHT - 1, 3);
    picture_little(f, 100, 4);
    picture_add(f, webp_file.data + 12, stream);
    webp_file = *f;
    free(f);
}

static void webp_animated(void)
{
    webp_animate();
    picture p = picture_decode(webp_file.data, webp_file.size, HG_PIXELS_RGB);
    CHECK_STR(p.error, "");
    CHECK_EQ_INT(p.width, 20);
    CHECK_EQ_INT(p.height, 16);
    for (int64_t i = 0; p.data != NULL && i < 20 * 16; i++) {
        int64_t x = i % 20 - 2, y = i / 20 - 4;
        uint8_t rgb[3] = {0, 0, 0};
        if (x >= 0 && x < WEBP_WIDTH && y >= 0 && y < WEBP_HEIGHT) picture_draw(x, y, rgb);
        if (!CHECK_MEM(p.data + i * 3, rgb, 3)) break;
    }
    picture_free(&p);
}

static void webp_damage(void)
{
    /* Chunks are padded; a lossless stream may have unused bits at its end. */
    webp_encode(true, false);
    picture_torture(&webp_file, 8);
    webp_encode(false, false);
    picture_torture(&webp_file, 8);
    webp_animate();
    picture_torture(&webp_file, 8);
}

#endif

const hg_test_case hg_tests_ext_image_webp[] = {
#ifdef HG_WITHOUT_IMAGE_WEBP
    {"skipped", webp_skipped},
#else
    {"lossless", webp_lossless},
    {"lossy", webp_lossy},
    {"animated", webp_animated},
    {"damage", webp_damage},
#endif
    {0},
};
