/* image.c - image.decode: what needs no library (BMP, PNM), what is refused, the way through a
 * model. */
#include "ext/picture.h"
#include "kernel/move.h"

enum { IMAGE_WIDTH = 7, IMAGE_HEIGHT = 5 };

static picture_file image_file;

/* ---- PNM ---------------------------------------------------------------------------------------
 */

static void image_pnm_samples(bool text, int bytes)
{
    for (int64_t i = 0; i < IMAGE_WIDTH * IMAGE_HEIGHT; i++) {
        uint8_t rgb[3];
        picture_draw(i % IMAGE_WIDTH, i / IMAGE_WIDTH, rgb);
        for (int k = 0; k < 3; k++) {
            char word[32];
            snprintf(word, sizeof word, "%d%s", rgb[k], i % 2 == 0 ? " " : "\n# a comment\n");
            if (text) picture_text(&image_file, word);
            for (int copies = 0; !text && copies < bytes; copies++)
                picture_add(&image_file, &rgb[k], 1);
        }
    }
}

static void image_pnm(void)
{
    static const struct {
        const char *head;
        bool text;
        int bytes;
    } makes[] = {
        {"P6\n7 5\n255\n", false, 1},
        {"P6 # made by hand\n# twice\n7\t5 255\n", false, 1},
        {"P6 7 5 65535\n", false, 2},
        {"P3\n7 5\n255\n", true, 1},
        {"P7\nWIDTH 7\nHEIGHT 5\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n", false, 1},
        {"P7\n# in any order\nTUPLTYPE RGB\nMAXVAL 255\nDEPTH 3\nHEIGHT 5\nWIDTH 7\nENDHDR\n",
         false, 1},
    };
    for (size_t i = 0; i < HG_COUNT(makes); i++) {
        image_file.size = 0;
        picture_text(&image_file, makes[i].head);
        image_pnm_samples(makes[i].text, makes[i].bytes);
        picture_is(&image_file, IMAGE_WIDTH, IMAGE_HEIGHT, 0);
        picture_formats(&image_file);
        picture_torture(&image_file, makes[i].text ? 20 : 0);
    }
}

/* A whole file as text, and the gray bytes it stands for. */
static void image_small(const char *file, size_t size, const char *gray, size_t count)
{
    picture p = picture_decode((const uint8_t *)file, size, HG_PIXELS_GRAY);
    CHECK_STR(p.error, "");
    if (CHECK_EQ_INT(p.width * p.height, (int64_t)count)) CHECK_MEM(p.data, gray, count);
    picture_free(&p);
}

#define IMAGE_SMALL(file, gray) image_small(file, sizeof(file) - 1, gray, sizeof(gray) - 1)

static void image_pnm_kinds(void)
{
    IMAGE_SMALL("P1\n3 2\n1 0 1\n010", "\x00\xff\x00\xff\x00\xff");
    IMAGE_SMALL("P4\n3 2\n\xa0\x40", "\x00\xff\x00\xff\x00\xff");
    IMAGE_SMALL("P4 9 1 \x00\x80", "\xff\xff\xff\xff\xff\xff\xff\xff\x00");
    IMAGE_SMALL("P2 2 1 15 0 15", "\x00\xff");
    IMAGE_SMALL("P2 3 1 4 1 2 9", "\x40\x80\xff");   /* above the largest is the largest */
    IMAGE_SMALL("P5 2 1 255\n\x20\x09", "\x20\x09"); /* samples that look like white space */
    IMAGE_SMALL("P5 2 1 1000\n\x01\xf4\x03\xe8", "\x80\xff");
    IMAGE_SMALL("P7 WIDTH 2 HEIGHT 1 DEPTH 2 MAXVAL 255 ENDHDR\n\x10\x00\x20\xff", "\x10\x20");
    IMAGE_SMALL("P7 WIDTH 2 HEIGHT 1 DEPTH 1 MAXVAL 1 ENDHDR\n\x00\x01", "\x00\xff");
    IMAGE_SMALL("P7 WIDTH 1 HEIGHT 1 DEPTH 4 MAXVAL 255 ENDHDR\n\x40\x40\x40\x00", "\x40");
}

/* ---- BMP ---------------------------------------------------------------------------------------
 */

typedef struct image_bmp_make {
    uint32_t header, bits, compression;
    bool from_top;
} image_bmp_make;

static void image_bmp_palette(uint32_t entry)
{
    for (int64_t i = 0; i < IMAGE_WIDTH * IMAGE_HEIGHT; i++) {
        uint8_t rgb[4] = {0};
        picture_draw(i % IMAGE_WIDTH, i / IMAGE_WIDTH, rgb);
        const uint8_t bgr[4] = {rgb[2], rgb[1], rgb[0], 0};
        picture_add(&image_file, bgr, entry);
    }
}

static uint32_t image_bmp_head_bytes(const image_bmp_make *m)
{
    uint32_t palette = m->bits == 8 ? IMAGE_WIDTH * IMAGE_HEIGHT * (m->header == 12 ? 3 : 4) : 0;
    return 14 + m->header + (m->header == 40 && m->compression == 3 ? 12 : 0) + palette;
}

static void image_bmp_head(const image_bmp_make *m)
{
    picture_file *f = &image_file;
    f->size = 0;
    picture_text(f, "BM");
    picture_little(f, 0, 8);
    picture_little(f, image_bmp_head_bytes(m), 4);
    picture_little(f, m->header, 4);
    const int number = m->header == 12 ? 2 : 4;
    picture_little(f, IMAGE_WIDTH, number);
    picture_little(f, (uint64_t)(m->from_top ? -IMAGE_HEIGHT : IMAGE_HEIGHT), number);
    picture_little(f, 1, 2);
    picture_little(f, m->bits, 2);
    if (m->header == 12) return;
    picture_little(f, m->compression, 4);
    picture_little(f, 0, 12);
    picture_little(f, m->bits == 8 ? IMAGE_WIDTH * IMAGE_HEIGHT : 0, 4);
    picture_little(f, 0, 4);
    if (m->compression == 3) {
        picture_little(f, 0xff, 4); /* red in the lowest byte, unlike the standard order */
        picture_little(f, 0xff00, 4);
        picture_little(f, 0xff0000, 4);
    }
    while (f->size < 14 + (size_t)m->header)
        picture_little(f, 0, 1);
}

static void image_bmp_rows(const image_bmp_make *m)
{
    for (int64_t i = 0; i < IMAGE_HEIGHT; i++) {
        int64_t y = m->from_top ? i : IMAGE_HEIGHT - 1 - i;
        size_t start = image_file.size;
        for (int64_t x = 0; x < IMAGE_WIDTH; x++) {
            uint8_t rgb[4] = {0};
            picture_draw(x, y, rgb);
            const uint8_t bgr[4] = {rgb[2], rgb[1], rgb[0], 77};
            if (m->bits == 8)
                picture_little(&image_file, (uint64_t)(y * IMAGE_WIDTH + x), 1);
            else
                picture_add(&image_file, m->compression == 3 ? rgb : bgr, m->bits / 8);
        }
        while ((image_file.size - start) % 4 != 0)
            picture_little(&image_file, 0, 1);
    }
}

static void image_bmp(void)
{
    static const image_bmp_make makes[] = {
        {40, 24, 0, false}, {40, 24, 0, true},  {12, 24, 0, false},  {124, 24, 0, false},
        {40, 32, 0, false}, {40, 32, 3, true},  {108, 32, 3, false}, {40, 8, 0, false},
        {12, 8, 0, false},  {64, 24, 0, false},
    };
    for (size_t i = 0; i < HG_COUNT(makes); i++) {
        image_bmp_head(&makes[i]);
        if (makes[i].bits == 8) image_bmp_palette(makes[i].header == 12 ? 3 : 4);
        image_bmp_rows(&makes[i]);
        picture_is(&image_file, IMAGE_WIDTH, IMAGE_HEIGHT, 0);
        picture_formats(&image_file);
        picture_torture(&image_file, 4); /* the last row need not be padded */
    }
}

/* A header of 40 bytes, `colors` grays from 0 on, then the pixels. */
static void image_bmp_index(int64_t width, int64_t height, uint32_t bits, uint32_t compression,
                            uint32_t colors, const void *pixels, size_t size)
{
    picture_file *f = &image_file;
    f->size = 0;
    picture_text(f, "BM");
    picture_little(f, 0, 8);
    picture_little(f, 54 + colors * 4, 4);
    picture_little(f, 40, 4);
    picture_little(f, (uint64_t)width, 4);
    picture_little(f, (uint64_t)height, 4);
    picture_little(f, 1, 2);
    picture_little(f, bits, 2);
    picture_little(f, compression, 4);
    picture_little(f, 0, 12);
    picture_little(f, colors, 4);
    picture_little(f, 0, 4);
    for (uint32_t i = 0; i < colors; i++)
        picture_little(f, i * 0x010101, 4);
    picture_add(f, pixels, size);
}

static void image_bmp_gray(const char *gray, size_t count)
{
    image_small((const char *)image_file.data, image_file.size, gray, count);
}

static void image_bmp_bits(void)
{
    image_bmp_index(10, 1, 1, 0, 2, "\xa5\x40\0\0", 4);
    image_bmp_gray("\1\0\1\0\0\1\0\1\0\1", 10);
    image_bmp_index(5, 1, 2, 0, 4, "\x1b\x80\0\0", 4);
    image_bmp_gray("\0\1\2\3\2", 5);
    image_bmp_index(3, 2, 4, 0, 16, "\x12\x30\0\0\xfe\xd0\0\0", 8);
    image_bmp_gray("\xf\xe\xd\1\2\3", 6);
    image_bmp_index(2, 1, 8, 0, 4, "\x03\x09\0\0", 4); /* colour 9 of 4 */
    image_bmp_gray("\3\0", 2);
    /* 5 bits each: white, full red, half green */
    image_bmp_index(3, 1, 16, 0, 0, "\xff\x7f\x00\x7c\x00\x02\0\0", 8);
    picture p = picture_decode(image_file.data, image_file.size, HG_PIXELS_RGB);
    CHECK_STR(p.error, "");
    if (p.data != NULL) CHECK_MEM(p.data, "\xff\xff\xff\xff\x00\x00\x00\x84\x00", 9);
    picture_free(&p);
}

static void image_bmp_packed(void)
{
    /* two 5s, end of line, three as they stand and padding, a jump, one 9, end */
    static const char runs[] = "\2\5\0\0\0\3\1\2\3\0\0\2\1\0\1\x9\0\1";
    image_bmp_index(5, 2, 8, 1, 16, runs, sizeof runs - 1);
    image_bmp_gray("\1\2\3\0\x9\5\5\0\0\0", 10);
    picture_torture(&image_file, 0);
    static const char half[] = "\3\x56\0\0\0\5\x12\x34\x50\0\0\1";
    image_bmp_index(5, 2, 4, 2, 16, half, sizeof half - 1);
    image_bmp_gray("\1\2\3\4\5\5\6\5\0\0", 10);
    picture_torture(&image_file, 0);
    /* runs beyond the right edge and the top stay outside */
    image_bmp_index(2, 1, 8, 1, 16, "\xff\7\0\2\xff\xff\1\1\0\1", 10);
    image_bmp_gray("\7\7", 2);
}

/* ---- refused -----------------------------------------------------------------------------------
 */

static void image_refused(const void *data, size_t size, const char *sentence)
{
    picture p = picture_decode(data, size, HG_PIXELS_RGB);
    CHECK_HAS(p.error, sentence);
    picture_free(&p);
}

#define IMAGE_REFUSED(text, sentence) image_refused(text, sizeof(text) - 1, sentence)

static void image_unknown(void)
{
    IMAGE_REFUSED("", "0 bytes that are no JPEG");
    IMAGE_REFUSED("GIF89a", "6 bytes that are no JPEG");
    IMAGE_REFUSED("P8 1 1 1\n1", "no JPEG");
    IMAGE_REFUSED("P6 0 1 255\n", "a PNM of 11 bytes whose header is broken");
    IMAGE_REFUSED("P5 1 1 65536\n1", "header is broken");
    IMAGE_REFUSED("P5 1 1 0\n1", "header is broken");
    IMAGE_REFUSED("P5 99999999999999999999 1 1\n1", "header is broken");
    IMAGE_REFUSED("P5 100000 100000 255\n", "a PNM of 100000 x 100000 pixels, the limit is");
    IMAGE_REFUSED("P7 DEPTH 5 WIDTH 1 HEIGHT 1 MAXVAL 1 ENDHDR\n", "header is broken");
    IMAGE_REFUSED("P7 COLOR 5 ENDHDR\n", "header is broken");
    IMAGE_REFUSED("BM", "a BMP of 2 bytes whose header is broken");
    IMAGE_REFUSED("\xff\xd8\xff\xd9", "a JPEG of 4 bytes whose header is broken");
    IMAGE_REFUSED("\x89PNG\r\n\x1a\n", "a PNG of 8 bytes");
    IMAGE_REFUSED("RIFF....WEBPVP8X", "a WebP of 16 bytes");
    IMAGE_REFUSED("II*\0\xff\xff\xff\xff", "a TIFF of 8 bytes");
    IMAGE_REFUSED("\xff\x4f\xff\x51", "a JPEG 2000 of 4 bytes");
    image_bmp_index(1, 1, 8, 5, 1, "", 0); /* a PNG inside */
    image_refused(image_file.data, image_file.size, "header is broken");
    image_bmp_index(1, 1, 3, 0, 1, "", 0);
    image_refused(image_file.data, image_file.size, "header is broken");
}

static void image_make_good(move_call *c)
{
    static const char file[] = "P5 2 1 255\nab";
    holo_tensor *in = move_in(c, HOLO_U8, 1, (const int64_t[]){sizeof file - 1});
    memcpy(in->data, file, sizeof file - 1);
    move_out(c, HOLO_U8, 3, (const int64_t[]){1, 2, 3});
    move_param(c, HG_PIXELS_RGB);
}

static void image_checks(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 0, "0 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I8, "int8"},
        {MOVE_IN_RANK, 0, 0, 0, "the file has rank 0"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I8, "int8"},
        {MOVE_OUT_RANK, 0, 0, 2, "the picture has rank 2"},
        {MOVE_OUT_DIM, 0, 2, 1, "the picture has 1 channels, expected 3"},
        {MOVE_PARAM, 0, 0, 3, "the pixel format"},
    };
    move_refuses(hg_kernels_image, image_make_good, bad, HG_COUNT(bad));
}

/* A program that lies about the size, or a file that changed, gives an error and zeros. */
static void image_wrong_size(void)
{
    move_call c = {0};
    image_make_good(&c);
    c.out[0].dim[1] = 1;
    move_connect(&c);
    CHECK_EQ_INT(hg_kernels_image[0].scratch(&c.args), 0);
    hg_kernels_image[0].run(&c.args, (hg_range){0, 1, NULL});
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
    CHECK_MEM(c.out[0].data, "\0\0\0", 3);
    move_free(&c);
}

/* ---- through a model ---------------------------------------------------------------------------
 */

static holo_status image_compile(const char *format, const holo_kernels *extra, void **data,
                                 size_t *size, holo_error *e)
{
    holo_graph *g;
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_value_id y = 0;
    options.extra = extra;
    CHECK_OK(holo_graph_new(20, NULL, &g, e), e);
    holo_value_id x = holo_graph_input(g, "x", HOLO_U8, "n");
    holo_attr attr = {.name = "pixel_format", .kind = HOLO_ATTR_STRING, .s = format};
    holo_graph_node(g, "ImageDecoder", &x, 1, &attr, 1, &y, 1);
    holo_graph_output(g, y, "y");
    holo_status status = holo_compile_graph(g, &options, data, size, NULL, e);
    holo_graph_free(g);
    return status;
}

static void image_run(holo_session *session, const char *file, size_t size, holo_status expected,
                      const char *result)
{
    holo_error e = {0};
    holo_tensor out;
    holo_tensor in = {
        .data = (void *)(uintptr_t)file, .dim = {(int64_t)size}, .rank = 1, .dtype = HOLO_U8};
    CHECK_OK(holo_session_set_input(session, 0, &in, &e), &e);
    CHECK_STATUS(holo_session_run(session, &e), expected);
    if (expected != HOLO_OK) {
        CHECK_HAS(e.message, result);
    } else if (CHECK_OK(holo_session_output(session, 0, &out, &e), &e)) {
        CHECK_MEM(out.data, result, 6);
    }
}

static void image_model(void)
{
    holo_error e = {0};
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    void *data = NULL;
    size_t size = 0;
    if (!CHECK_OK(image_compile("BGR", holo_kernels_ext(), &data, &size, &e), &e)) return;
    CHECK_STATUS(holo_model_open_memory(data, size, holo_kernels_all(), &open, &model, &e),
                 HOLO_E_KERNEL);
    CHECK_HAS(e.message, "no kernel 'image.decode'");
    open.extra = holo_kernels_ext();
    CHECK_OK(holo_model_open_memory(data, size, holo_kernels_all(), &open, &model, &e), &e);
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    image_run(session, "P6 2 1 255\nabcdef", 17, HOLO_OK, "cbafed");
    image_run(session, "P6 2 1 255\nabcde", 16, HOLO_E_DATA,
              "(ImageDecoder): the picture is broken");
    image_run(session, "no picture", 10, HOLO_E_DATA, "(ImageDecoder): 10 bytes that are no JPEG");
    image_run(session, "P6 20000 20000 1\n", 17, HOLO_E_LIMIT, "20000 x 20000 pixels");
    image_run(session, "P6 2 1 255\nABCDEF", 17, HOLO_OK, "CBAFED");
    holo_session_free(session);
    holo_model_free(model);
    holo_buffer_free(NULL, data, size);
}

static void image_not_compiled(void)
{
    holo_error e = {0};
    void *data = NULL;
    size_t size = 0;
    CHECK_STATUS(image_compile("RGB", NULL, &data, &size, &e), HOLO_E_UNSUPPORTED);
    CHECK_HAS(e.message, "(ImageDecoder): needs kernel 'image.decode' of libhologram_ext");
    CHECK_STATUS(image_compile("CMYK", holo_kernels_ext(), &data, &size, &e), HOLO_E_MODEL);
    CHECK_HAS(e.message, "pixel_format is \"CMYK\", expected RGB, BGR or Grayscale");
}

const hg_test_case hg_tests_ext_image[] = {
    {"pnm", image_pnm},
    {"pnm_kinds", image_pnm_kinds},
    {"bmp", image_bmp},
    {"bmp_bits", image_bmp_bits},
    {"bmp_packed", image_bmp_packed},
    {"unknown", image_unknown},
    {"checks", image_checks},
    {"wrong_size", image_wrong_size},
    {"model", image_model},
    {"not_compiled", image_not_compiled},
    {0},
};
