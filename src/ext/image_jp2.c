/* image_jp2.c - JPEG 2000 by openjpeg: gray, RGB, YCC and CMYK, any depth. The library has no hook
 * for its memory. */
#include "ext/image.h"

#include <string.h>

#include <openjpeg.h>

typedef struct jp2_state {
    const hg_image *im;
    size_t at;
} jp2_state;

/* ---- a file in memory --------------------------------------------------------------------------
 */

static OPJ_SIZE_T jp2_read(void *out, OPJ_SIZE_T bytes, void *user)
{
    jp2_state *s = user;
    size_t left = s->im->size - s->at, n = bytes < left ? bytes : left;
    if (n == 0) return (OPJ_SIZE_T)-1; /* the end */
    memcpy(out, s->im->data + s->at, n);
    s->at += n;
    return n;
}

static OPJ_OFF_T jp2_skip(OPJ_OFF_T bytes, void *user)
{
    jp2_state *s = user;
    size_t left = s->im->size - s->at;
    if (bytes < 0 || (uint64_t)bytes > left) return -1;
    s->at += (size_t)bytes;
    return bytes;
}

static OPJ_BOOL jp2_seek(OPJ_OFF_T offset, void *user)
{
    jp2_state *s = user;
    if (offset < 0 || (uint64_t)offset > s->im->size) return OPJ_FALSE;
    s->at = (size_t)offset;
    return OPJ_TRUE;
}

static opj_stream_t *jp2_stream(jp2_state *s)
{
    opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
    if (stream == NULL) return NULL;
    opj_stream_set_user_data(stream, s, NULL);
    opj_stream_set_user_data_length(stream, s->im->size);
    opj_stream_set_read_function(stream, jp2_read);
    opj_stream_set_skip_function(stream, jp2_skip);
    opj_stream_set_seek_function(stream, jp2_seek);
    return stream;
}

/* ---- pixels ------------------------------------------------------------------------------------
 */

/* A sample of a component, which may be coarser than the picture, as a byte. */
static uint8_t jp2_sample(const opj_image_t *image, uint32_t c, int64_t x, int64_t y)
{
    const opj_image_comp_t *p = &image->comps[c];
    int64_t i = hg_min((x + image->x0) / p->dx - p->x0, (int64_t)p->w - 1);
    int64_t j = hg_min((y + image->y0) / p->dy - p->y0, (int64_t)p->h - 1);
    int64_t v = p->data[hg_max(j, 0) * p->w + hg_max(i, 0)];
    if (p->sgnd) v += INT64_C(1) << (p->prec - 1);
    return hg_image_byte((uint64_t)hg_max(v, 0), (UINT64_C(1) << p->prec) - 1);
}

static uint8_t jp2_clip(double v)
{
    return (uint8_t)(v <= 0 ? 0 : v >= 255 ? 255 : v + 0.5);
}

typedef enum jp2_color { JP2_GRAY, JP2_RGB, JP2_YCC, JP2_CMYK } jp2_color;

static jp2_color jp2_kind(const opj_image_t *image)
{
    if (image->numcomps < 3) return JP2_GRAY;
    if (image->color_space == OPJ_CLRSPC_CMYK && image->numcomps >= 4) return JP2_CMYK;
    if (image->color_space == OPJ_CLRSPC_SYCC || image->color_space == OPJ_CLRSPC_EYCC)
        return JP2_YCC;
    if (image->color_space == OPJ_CLRSPC_GRAY) return JP2_GRAY;
    /* Nobody makes red and blue coarser than green. */
    bool coarse =
        image->comps[1].dx > image->comps[0].dx && image->comps[2].dx > image->comps[0].dx;
    return coarse ? JP2_YCC : JP2_RGB;
}

static void jp2_pixel(const opj_image_t *image, jp2_color kind, int64_t x, int64_t y, uint8_t *rgb)
{
    uint8_t s[4] = {0};
    uint32_t n = kind == JP2_GRAY ? 1 : kind == JP2_CMYK ? 4 : 3;
    for (uint32_t c = 0; c < n; c++)
        s[c] = jp2_sample(image, c, x, y);
    if (kind == JP2_GRAY) {
        memset(rgb, s[0], 3);
    } else if (kind == JP2_CMYK) {
        hg_image_inks(s, rgb);
    } else if (kind == JP2_YCC) {
        double cb = s[1] - 128.0, cr = s[2] - 128.0;
        rgb[0] = jp2_clip(s[0] + 1.402 * cr);
        rgb[1] = jp2_clip(s[0] - 0.344136 * cb - 0.714136 * cr);
        rgb[2] = jp2_clip(s[0] + 1.772 * cb);
    } else {
        memcpy(rgb, s, 3);
    }
}

static bool jp2_fits(const opj_image_t *image, const hg_image *im)
{
    if (image->x1 - image->x0 != im->width || image->y1 - image->y0 != im->height) return false;
    for (uint32_t c = 0; c < image->numcomps; c++) {
        const opj_image_comp_t *p = &image->comps[c];
        if (p->data == NULL || p->w == 0 || p->h == 0 || p->dx == 0 || p->dy == 0 || p->prec == 0 ||
            p->prec > 31)
            return false;
    }
    return image->numcomps > 0;
}

static bool jp2_read_image(opj_codec_t *codec, opj_stream_t *stream, const hg_image *im,
                           opj_image_t **image)
{
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    return opj_setup_decoder(codec, &parameters) && opj_read_header(stream, codec, image) &&
           (int64_t)((*image)->x1 - (*image)->x0) == im->width &&
           (int64_t)((*image)->y1 - (*image)->y0) == im->height &&
           opj_decode(codec, stream, *image) && opj_end_decompress(codec, stream) &&
           jp2_fits(*image, im);
}

static size_t jp2_scratch(const hg_image *im)
{
    return (size_t)im->width * 3;
}

static bool jp2_decode(const hg_image *im, const hg_image_sink *sink, void *scratch)
{
    jp2_state s = {.im = im};
    opj_image_t *image = NULL;
    opj_codec_t *codec = opj_create_decompress(im->data[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    opj_stream_t *stream = jp2_stream(&s);
    uint8_t *rgb = scratch;
    bool good = codec != NULL && stream != NULL && jp2_read_image(codec, stream, im, &image);
    for (int64_t y = 0; good && y < im->height; y++) {
        const jp2_color kind = jp2_kind(image);
        for (int64_t x = 0; x < im->width; x++)
            jp2_pixel(image, kind, x, y, rgb + x * 3);
        hg_image_put(sink, y, rgb);
    }
    if (image != NULL) opj_image_destroy(image);
    if (stream != NULL) opj_stream_destroy(stream);
    if (codec != NULL) opj_destroy_codec(codec);
    return good;
}

const hg_image_codec hg_image_jp2 = {"JPEG 2000", jp2_scratch, jp2_decode};
