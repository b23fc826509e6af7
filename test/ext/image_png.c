/* image_png.c - PNG: every colour type and depth, interlaced or not, damage. */
#include "ext/picture.h"

#ifdef HG_WITHOUT_IMAGE_PNG

static void png_skipped(void)
{
    SKIP("this build has no libpng");
}

#else

#include <png.h>

enum { PNG_WIDTH = 8, PNG_HEIGHT = 6 };

typedef struct png_make {
    int color, depth, interlace;
} png_make;

static picture_file png_file;

static void png_write_bytes(png_structp png, png_bytep data, size_t size)
{
    picture_add(png_get_io_ptr(png), data, size);
}

static void png_flush_bytes(png_structp png)
{
    (void)png;
}

/* Two bytes per sample are the byte twice, so that the value is the same. */
static size_t png_sample(uint8_t *row, size_t at, uint8_t value, int depth)
{
    row[at++] = value;
    if (depth == 16) row[at++] = value;
    return at;
}

static void png_pixel(const png_make *m, int64_t x, int64_t y, uint8_t *row, size_t *at)
{
    uint8_t rgb[3];
    picture_draw(x, y, rgb);
    if (m->color == PNG_COLOR_TYPE_PALETTE) {
        row[(*at)++] = (uint8_t)(y * PNG_WIDTH + x);
        return;
    }
    bool gray = (m->color & PNG_COLOR_MASK_COLOR) == 0;
    for (int k = 0; k < (gray ? 1 : 3); k++)
        *at = png_sample(row, *at, rgb[k], m->depth);
    if ((m->color & PNG_COLOR_MASK_ALPHA) != 0) *at = png_sample(row, *at, (uint8_t)x, m->depth);
}

static void png_palette(png_structp png, png_infop info)
{
    png_color palette[PNG_WIDTH * PNG_HEIGHT];
    png_byte alpha[4] = {0, 100, 200, 255};
    for (int i = 0; i < PNG_WIDTH * PNG_HEIGHT; i++) {
        uint8_t rgb[3];
        picture_draw(i % PNG_WIDTH, i / PNG_WIDTH, rgb);
        palette[i] = (png_color){rgb[0], rgb[1], rgb[2]};
    }
    png_set_PLTE(png, info, palette, PNG_WIDTH * PNG_HEIGHT);
    png_set_tRNS(png, info, alpha, 4, NULL);
}

static void png_encode(const png_make *m)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    uint8_t rows[PNG_HEIGHT][PNG_WIDTH * 8], *row[PNG_HEIGHT];
    png_file.size = 0;
    png_set_write_fn(png, &png_file, png_write_bytes, png_flush_bytes);
    png_set_IHDR(png, info, PNG_WIDTH, PNG_HEIGHT, m->depth, m->color, m->interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (m->color == PNG_COLOR_TYPE_PALETTE) png_palette(png, info);
    png_set_gAMA(png, info, 1.0); /* must not change anything */
    png_write_info(png, info);
    for (int64_t y = 0; y < PNG_HEIGHT; y++) {
        size_t at = 0;
        row[y] = rows[y];
        for (int64_t x = 0; x < PNG_WIDTH; x++)
            png_pixel(m, x, y, rows[y], &at);
    }
    png_write_image(png, row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

static void png_colors(void)
{
    static const int colors[] = {PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA, PNG_COLOR_TYPE_PALETTE};
    for (size_t i = 0; i < HG_COUNT(colors) * 4; i++) {
        png_make m = {colors[i / 4], i % 2 == 0 ? 8 : 16, (int)(i / 2 % 2)};
        if (m.color == PNG_COLOR_TYPE_PALETTE) m.depth = 8;
        png_encode(&m);
        picture_is(&png_file, PNG_WIDTH, PNG_HEIGHT, 0);
        picture_formats(&png_file);
    }
}

static void png_gray(void)
{
    static const int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA};
    for (size_t i = 0; i < HG_COUNT(colors) * 2; i++) {
        png_encode(&(png_make){colors[i / 2], i % 2 == 0 ? 8 : 16, 0});
        picture p = picture_decode(png_file.data, png_file.size, HG_PIXELS_GRAY);
        CHECK_STR(p.error, "");
        for (int64_t j = 0; p.data != NULL && j < PNG_WIDTH * PNG_HEIGHT; j++) {
            uint8_t rgb[3];
            picture_draw(j % PNG_WIDTH, j / PNG_WIDTH, rgb);
            CHECK_EQ_INT(p.data[j], rgb[0]);
        }
        picture_free(&p);
    }
}

static void png_damage(void)
{
    /* What lies behind the last row is read to the end of the file. */
    png_encode(&(png_make){PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_ADAM7});
    picture_torture(&png_file, 0);
    png_encode(&(png_make){PNG_COLOR_TYPE_PALETTE, 8, 0});
    picture_torture(&png_file, 0);
}

/* 100,000 x 100,000 pixels in a few bytes. */
static void png_bomb(void)
{
    static const uint8_t side[4] = {0x00, 0x01, 0x86, 0xa0};
    png_encode(&(png_make){PNG_COLOR_TYPE_RGB, 8, 0});
    memcpy(png_file.data + 16, side, 4);
    memcpy(png_file.data + 20, side, 4);
    picture p = picture_decode(png_file.data, png_file.size, HG_PIXELS_RGB);
    CHECK_STR(p.error, "a PNG of 100000 x 100000 pixels, the limit is 268435456");
}

#endif

const hg_test_case hg_tests_ext_image_png[] = {
#ifdef HG_WITHOUT_IMAGE_PNG
    {"skipped", png_skipped},
#else
    {"colors", png_colors},
    {"gray", png_gray},
    {"damage", png_damage},
    {"bomb", png_bomb},
#endif
    {0},
};
