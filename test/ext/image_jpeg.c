/* image_jpeg.c - JPEG: colours, inks, progressive files, damage. */
#include "ext/picture.h"

#ifdef HG_WITHOUT_IMAGE_JPEG

static void jpeg_skipped(void)
{
    SKIP("this build has no libjpeg-turbo");
}

#else

#include <jpeglib.h>

enum { JPEG_WIDTH = 9, JPEG_HEIGHT = 7 };

typedef struct jpeg_make {
    J_COLOR_SPACE from, to;
    int components;
    bool progressive;
} jpeg_make;

static void jpeg_write_row(const jpeg_make *m, int64_t y, uint8_t *row)
{
    for (int64_t x = 0; x < JPEG_WIDTH; x++) {
        uint8_t rgb[3];
        picture_draw(x, y, rgb);
        for (int k = 0; k < m->components; k++)
            row[x * m->components + k] = k == 3 ? 255 : rgb[k]; /* Adobe's way: no black */
    }
}

static void jpeg_encode(const jpeg_make *m, picture_file *f)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr error;
    unsigned char *data = NULL;
    unsigned long size = 0;
    uint8_t row[JPEG_WIDTH * 4];
    c.err = jpeg_std_error(&error);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &size);
    c.image_width = JPEG_WIDTH;
    c.image_height = JPEG_HEIGHT;
    c.input_components = m->components;
    c.in_color_space = m->from;
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, m->to);
    jpeg_set_quality(&c, 100, TRUE);
    for (int k = 0; k < c.num_components; k++)
        c.comp_info[k].h_samp_factor = c.comp_info[k].v_samp_factor = 1;
    c.dct_method = JDCT_ISLOW;
    if (m->progressive) jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        JSAMPROW p = row;
        jpeg_write_row(m, c.next_scanline, row);
        jpeg_write_scanlines(&c, &p, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    f->size = 0;
    picture_add(f, data, size);
    free(data);
}

static picture_file jpeg_file;

static void jpeg_colors(void)
{
    static const jpeg_make makes[] = {
        {JCS_RGB, JCS_YCbCr, 3, false}, {JCS_RGB, JCS_YCbCr, 3, true},
        {JCS_RGB, JCS_RGB, 3, false},   {JCS_CMYK, JCS_CMYK, 4, false},
        {JCS_CMYK, JCS_YCCK, 4, false},
    };
    for (size_t i = 0; i < HG_COUNT(makes); i++) {
        jpeg_encode(&makes[i], &jpeg_file);
        picture_is(&jpeg_file, JPEG_WIDTH, JPEG_HEIGHT, 4);
        picture_formats(&jpeg_file);
    }
}

static void jpeg_gray(void)
{
    jpeg_encode(&(jpeg_make){JCS_GRAYSCALE, JCS_GRAYSCALE, 1, false}, &jpeg_file);
    picture p = picture_decode(jpeg_file.data, jpeg_file.size, HG_PIXELS_RGB);
    CHECK_STR(p.error, "");
    for (int64_t i = 0; p.data != NULL && i < JPEG_WIDTH * JPEG_HEIGHT; i++) {
        uint8_t rgb[3];
        picture_draw(i % JPEG_WIDTH, i / JPEG_WIDTH, rgb);
        CHECK_NEAR(p.data[i * 3], rgb[0], 3);
        CHECK(p.data[i * 3] == p.data[i * 3 + 1] && p.data[i * 3] == p.data[i * 3 + 2]);
    }
    picture_free(&p);
    picture_formats(&jpeg_file);
}

static void jpeg_damage(void)
{
    /* The last two bytes end the file: a reader does not need them. */
    jpeg_encode(&(jpeg_make){JCS_RGB, JCS_YCbCr, 3, false}, &jpeg_file);
    picture_torture(&jpeg_file, 2);
    jpeg_encode(&(jpeg_make){JCS_RGB, JCS_YCbCr, 3, true}, &jpeg_file);
    picture_torture(&jpeg_file, 2);
}

#endif

const hg_test_case hg_tests_ext_image_jpeg[] = {
#ifdef HG_WITHOUT_IMAGE_JPEG
    {"skipped", jpeg_skipped},
#else
    {"colors", jpeg_colors},
    {"gray", jpeg_gray},
    {"damage", jpeg_damage},
#endif
    {0},
};
