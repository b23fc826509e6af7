/* image.c - image.decode: the pixels of a picture in a file format.
 *
 *   in[0]   uint8 [n]: the file
 *   param   pixels: 0 red, green, blue; 1 blue, green, red; 2 gray
 *   out[0]  uint8 [height, width, 3 or 1]
 *
 * Alpha is left out, deeper samples are rounded to 8 bits, the first picture of several counts.
 * Codecs of other libraries take memory of their own while they decode, but for libpng, which works
 * in scratch memory. */
#include "ext/image.h"

#include "isa/kernel.h"
#include "kernel/container.h"

#define X(stem) extern const hg_image_codec hg_image_##stem;
#include "codec_list.inc"
#undef X

static const hg_image_codec *const image_codecs[] = {
#define X(stem) &hg_image_##stem,
#include "codec_list.inc"
#undef X
};

static const hg_image_codec *image_codec(const hg_image *im)
{
    for (size_t i = 0; i < HG_COUNT(image_codecs); i++)
        if (strcmp(image_codecs[i]->name, im->format->name) == 0) return image_codecs[i];
    return NULL;
}

void hg_image_put(const hg_image_sink *sink, int64_t y, const uint8_t *rgb)
{
    const int64_t n = sink->width;
    uint8_t *out = sink->data + y * n * (sink->pixels == HG_PIXELS_GRAY ? 1 : 3);
    if (sink->pixels == HG_PIXELS_RGB) {
        memcpy(out, rgb, (size_t)n * 3);
        return;
    }
    for (int64_t x = 0; x < n; x++) {
        const uint8_t *p = rgb + x * 3;
        if (sink->pixels == HG_PIXELS_BGR)
            out[x * 3] = p[2], out[x * 3 + 1] = p[1], out[x * 3 + 2] = p[0];
        else
            out[x] = (uint8_t)((19595U * p[0] + 38470U * p[1] + 7471U * p[2] + 32768U) >> 16);
    }
}

static holo_status image_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_check_rank(&a->in[0], e, "the file", 1, 1));
    return hg_check_param(a, e, 0, "the pixel format", HG_PIXELS_RGB, HG_PIXELS_GRAY);
}

static holo_status image_check(const hg_args *a, holo_error *e)
{
    HG_TRY(image_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_U8)));
    HG_TRY(hg_check_rank(&a->out[0], e, "the picture", 3, 3));
    const int64_t channels = a->param[0] == HG_PIXELS_GRAY ? 1 : 3;
    HG_REQUIRE(e, a->out[0].dim[2] == channels, HOLO_E_SHAPE,
               "the picture has %lld channels, expected %lld", (long long)a->out[0].dim[2],
               (long long)channels);
    return HOLO_OK;
}

static holo_status image_size(const hg_args *a, holo_error *e)
{
    hg_image im;
    HG_TRY(image_check_in(a, e));
    HG_TRY(hg_image_head(a->in[0].data, a->in[0].dim[0], &im, e));
    if (image_codec(&im) == NULL)
        return hg_fail(e, HOLO_E_UNSUPPORTED, "a %s, which this build cannot read; it needs %s",
                       im.format->name, im.format->library);
    a->out[0].rank = 3;
    a->out[0].dim[0] = im.height;
    a->out[0].dim[1] = im.width;
    a->out[0].dim[2] = a->param[0] == HG_PIXELS_GRAY ? 1 : 3;
    return HOLO_OK;
}

/* The file may have changed since it was measured, or a program lied about the size. */
static const hg_image_codec *image_open(const hg_args *a, hg_image *im)
{
    if (hg_image_head(a->in[0].data, a->in[0].dim[0], im, NULL) != HOLO_OK ||
        im->height != a->out[0].dim[0] || im->width != a->out[0].dim[1])
        return NULL;
    return image_codec(im);
}

static size_t image_scratch(const hg_args *a)
{
    hg_image im;
    const hg_image_codec *codec = image_open(a, &im);
    return codec == NULL ? 0 : codec->scratch(&im);
}

static void image_run(const hg_args *a, hg_range r)
{
    hg_image im;
    const hg_image_sink sink = {.data = a->out[0].data,
                                .height = a->out[0].dim[0],
                                .width = a->out[0].dim[1],
                                .pixels = (hg_pixels)a->param[0]};
    const hg_image_codec *codec = image_open(a, &im);
    if (r.begin >= r.end) return;
    if (codec != NULL && codec->decode(&im, &sink, r.scratch)) return;
    size_t bytes = holo_tensor_bytes(&a->out[0]);
    if (bytes != 0) memset(a->out[0].data, 0, bytes);
    hg_fault_value(a->fault, "the picture is broken or of a kind that is not read; its bytes", 0,
                   a->in[0].dim[0]);
}

const hg_kernel hg_kernels_image[] = {
    {.name = "image.decode",
     .flags = HG_KERNEL_LATE,
     .check = image_check,
     .size = image_size,
     .units = hg_one_unit,
     .scratch = image_scratch,
     .run = image_run},
    {0},
};
