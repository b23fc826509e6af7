/* image_jp2.c - JPEG 2000: gray and colour, deep and signed samples, coarse chroma, bare and boxed,
 * damage. */
#include "ext/picture.h"

#ifdef HG_WITHOUT_IMAGE_JP2

static void jp2_skipped(void)
{
    SKIP("this build has no openjpeg");
}

#else

#include <openjpeg.h>

enum { JP2_WIDTH = 8, JP2_HEIGHT = 6 };

typedef struct jp2_make {
    OPJ_CODEC_FORMAT format;
    OPJ_COLOR_SPACE space;
    uint32_t components, depth, is_signed;
} jp2_make;

static picture_file jp2_file;
static size_t jp2_at;

static OPJ_SIZE_T jp2_write(void *data, OPJ_SIZE_T bytes, void *user)
{
    (void)user;
    if (!CHECK(jp2_at + bytes <= sizeof jp2_file.data)) return (OPJ_SIZE_T)-1;
    memcpy(jp2_file.data + jp2_at, data, bytes);
    jp2_at += bytes;
    if (jp2_at > jp2_file.size) jp2_file.size = jp2_at;
    return bytes;
}

static OPJ_OFF_T jp2_skip(OPJ_OFF_T bytes, void *user)
{
    (void)user;
    jp2_at += (size_t)bytes;
    return bytes;
}

static OPJ_BOOL jp2_seek(OPJ_OFF_T offset, void *user)
{
    (void)user;
    jp2_at = (size_t)offset;
    return OPJ_TRUE;
}

/* Bytes times 257 are the same value in 16 bits. */
static int32_t jp2_value(const jp2_make *m, uint8_t byte)
{
    int32_t v = m->depth == 16 ? byte * 257 : byte;
    return m->is_signed != 0 ? v - (1 << (m->depth - 1)) : v;
}

static opj_image_t *jp2_draw(const jp2_make *m)
{
    opj_image_cmptparm_t part[4] = {0};
    for (uint32_t c = 0; c < m->components; c++)
        part[c] = (opj_image_cmptparm_t){.dx = 1,
                                         .dy = 1,
                                         .w = JP2_WIDTH,
                                         .h = JP2_HEIGHT,
                                         .prec = m->depth,
                                         .bpp = m->depth,
                                         .sgnd = m->is_signed};
    opj_image_t *image = opj_image_create(m->components, part, m->space);
    image->x1 = JP2_WIDTH;
    image->y1 = JP2_HEIGHT;
    for (int64_t i = 0; i < JP2_WIDTH * JP2_HEIGHT; i++) {
        uint8_t rgb[4] = {0};
        picture_draw(i % JP2_WIDTH, i / JP2_WIDTH, rgb);
        for (uint32_t c = 0; c < m->components; c++)
            image->comps[c].data[i] = jp2_value(m, rgb[c]);
    }
    return image;
}

static void jp2_encode(const jp2_make *m)
{
    opj_cparameters_t parameters;
    opj_image_t *image = jp2_draw(m);
    opj_codec_t *codec = opj_create_compress(m->format);
    opj_stream_t *stream = opj_stream_default_create(OPJ_FALSE);
    jp2_file.size = jp2_at = 0;
    opj_stream_set_write_function(stream, jp2_write);
    opj_stream_set_skip_function(stream, jp2_skip);
    opj_stream_set_seek_function(stream, jp2_seek);
    opj_stream_set_user_data(stream, &jp2_file, NULL);
    opj_set_default_encoder_parameters(&parameters);
    parameters.tcp_numlayers = 1;
    parameters.cp_disto_alloc = 1;
    parameters.numresolution = 2;
    CHECK(opj_setup_encoder(codec, &parameters, image));
    CHECK(opj_start_compress(codec, image, stream));
    CHECK(opj_encode(codec, stream));
    CHECK(opj_end_compress(codec, stream));
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
}

static void jp2_colors(void)
{
    static const jp2_make makes[] = {
        {OPJ_CODEC_JP2, OPJ_CLRSPC_SRGB, 3, 8, 0},  {OPJ_CODEC_J2K, OPJ_CLRSPC_SRGB, 3, 8, 0},
        {OPJ_CODEC_JP2, OPJ_CLRSPC_SRGB, 3, 16, 0}, {OPJ_CODEC_JP2, OPJ_CLRSPC_SRGB, 3, 8, 1},
        {OPJ_CODEC_JP2, OPJ_CLRSPC_SRGB, 4, 8, 0},
    };
    for (size_t i = 0; i < HG_COUNT(makes); i++) {
        jp2_encode(&makes[i]);
        picture_is(&jp2_file, JP2_WIDTH, JP2_HEIGHT, 0);
        picture_formats(&jp2_file);
    }
}

static void jp2_gray(void)
{
    jp2_encode(&(jp2_make){OPJ_CODEC_JP2, OPJ_CLRSPC_GRAY, 1, 8, 0});
    picture p = picture_decode(jp2_file.data, jp2_file.size, HG_PIXELS_GRAY);
    CHECK_STR(p.error, "");
    for (int64_t i = 0; p.data != NULL && i < JP2_WIDTH * JP2_HEIGHT; i++) {
        uint8_t rgb[3];
        picture_draw(i % JP2_WIDTH, i / JP2_WIDTH, rgb);
        CHECK_EQ_INT(p.data[i], rgb[0]);
    }
    picture_free(&p);
}

/* Y, Cb and Cr of the standard (ITU-R BT.601, full range), in f64. */
static void jp2_chroma(void)
{
    jp2_encode(&(jp2_make){OPJ_CODEC_JP2, OPJ_CLRSPC_SYCC, 3, 8, 0});
    picture p = picture_decode(jp2_file.data, jp2_file.size, HG_PIXELS_RGB);
    CHECK_STR(p.error, "");
    for (int64_t i = 0; p.data != NULL && i < JP2_WIDTH * JP2_HEIGHT; i++) {
        uint8_t ycc[3];
        picture_draw(i % JP2_WIDTH, i / JP2_WIDTH, ycc);
        double red = ycc[0] + 2 * (1 - 0.299) * (ycc[2] - 128.0);
        double blue = ycc[0] + 2 * (1 - 0.114) * (ycc[1] - 128.0);
        double green = (ycc[0] - 0.299 * red - 0.114 * blue) / 0.587, all[3] = {red, green, blue};
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(p.data[i * 3 + k], all[k] < 0 ? 0 : all[k] > 255 ? 255 : all[k], 0.51);
    }
    picture_free(&p);
}

static void jp2_damage(void)
{
    /* The end marker may be missing. */
    jp2_encode(&(jp2_make){OPJ_CODEC_J2K, OPJ_CLRSPC_SRGB, 3, 8, 0});
    picture_torture(&jp2_file, jp2_file.size);
    jp2_encode(&(jp2_make){OPJ_CODEC_JP2, OPJ_CLRSPC_SRGB, 3, 8, 0});
    picture_torture(&jp2_file, jp2_file.size);
}

#endif

const hg_test_case hg_tests_ext_image_jp2[] = {
#ifdef HG_WITHOUT_IMAGE_JP2
    {"skipped", jp2_skipped},
#else
    {"colors", jp2_colors},
    {"gray", jp2_gray},
    {"chroma", jp2_chroma},
    {"damage", jp2_damage},
#endif
    {0},
};
