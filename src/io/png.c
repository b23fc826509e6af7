/* png.c - 8-bit pictures through libpng. */
#include "io/png.h"

#include "base/error.h"
#include "io/file.h"
#include "io/tensor.h"

#include <stdlib.h>
#include <string.h>

#ifdef HG_HAVE_PNG
#include <png.h>
#endif

enum { PNG_MAX_SIDE = 1 << 16 };

void hg_png_free(hg_png *picture)
{
    free(picture->pixels);
    *picture = (hg_png){0};
}

#ifdef HG_HAVE_PNG

static png_uint_32 png_format(uint32_t channels)
{
    return channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

/* Deflate expands at most 1032 times and a pixel takes at least one bit, so a larger picture is a
 * lie that must not cost memory. */
static bool png_is_plausible(const png_image *image, size_t file_size)
{
    uint64_t pixels = (uint64_t)image->width * image->height;
    return pixels / 8 / 1032 <= file_size;
}

static holo_status png_decode(png_image *image, const char *path, size_t file_size,
                              uint32_t channels, hg_png *out, holo_error *error)
{
    if (image->width > PNG_MAX_SIDE || image->height > PNG_MAX_SIDE ||
        !png_is_plausible(image, file_size))
        return hg_fail(error, HOLO_E_LIMIT, "%s claims %u x %u pixels, which is too large", path,
                       image->width, image->height);
    if (channels == 0)
        channels = !(image->format & PNG_FORMAT_FLAG_COLOR)  ? 1
                   : (image->format & PNG_FORMAT_FLAG_ALPHA) ? 4
                                                             : 3;
    image->format = png_format(channels);
    size_t size = (size_t)image->width * image->height * channels;
    uint8_t *pixels = malloc(size == 0 ? 1 : size);
    if (pixels == NULL) return hg_fail_nomem(error, size);
    /* Transparency is laid over black: a model sees no alpha. */
    png_color black = {0, 0, 0};
    if (!png_image_finish_read(image, &black, pixels, 0, NULL)) {
        free(pixels);
        return hg_fail(error, HOLO_E_FORMAT, "%s cannot be read as PNG: %s", path, image->message);
    }
    *out = (hg_png){pixels, image->width, image->height, channels};
    return HOLO_OK;
}

holo_status hg_png_read(const char *path, uint32_t channels, hg_png *out, holo_error *error)
{
    hg_io_bytes bytes;
    HG_TRY(hg_io_read_file(path, &bytes, error));
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    holo_status status;
    if (bytes.size == 0 || !png_image_begin_read_from_memory(&image, bytes.data, bytes.size))
        status = hg_fail(error, HOLO_E_FORMAT, "%s cannot be read as PNG: %s", path,
                         bytes.size == 0 ? "it is empty" : image.message);
    else
        status = png_decode(&image, path, bytes.size, channels, out, error);
    png_image_free(&image);
    hg_io_bytes_free(&bytes);
    return status;
}

holo_status hg_png_write(const char *path, const hg_png *picture, holo_error *error)
{
    hg_io_writer writer;
    HG_TRY(hg_io_writer_open(path, &writer, error));
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = picture->width;
    image.height = picture->height;
    image.format = png_format(picture->channels);
    holo_status status = HOLO_OK;
    if (!png_image_write_to_stdio(&image, writer.file, 0, picture->pixels, 0, NULL))
        status = hg_fail(error, HOLO_E_IO, "cannot write %s: %s", path, image.message);
    png_image_free(&image);
    if (status == HOLO_OK) return hg_io_writer_commit(&writer, error);
    hg_io_writer_abort(&writer);
    return status;
}

#else

holo_status hg_png_read(const char *path, uint32_t channels, hg_png *out, holo_error *error)
{
    (void)channels;
    (void)out;
    return hg_fail(error, HOLO_E_UNSUPPORTED, "%s: this build of Hologram has no libpng", path);
}

holo_status hg_png_write(const char *path, const hg_png *picture, holo_error *error)
{
    (void)picture;
    return hg_fail(error, HOLO_E_UNSUPPORTED, "%s: this build of Hologram has no libpng", path);
}

#endif

holo_status hg_png_to_tensor(const hg_png *picture, hg_png_layout layout, const double mean[3],
                             const double scale[3], holo_tensor *out, holo_error *error)
{
    if (picture->channels != 1 && picture->channels != 3)
        return hg_fail(error, HOLO_E_ARG, "a picture of %u channels has no tensor form",
                       picture->channels);
    int64_t c = picture->channels, h = picture->height, w = picture->width;
    int64_t nchw[4] = {1, c, h, w}, nhwc[4] = {1, h, w, c};
    HG_TRY(hg_io_tensor_new(HOLO_F32, layout == HG_PNG_NCHW ? nchw : nhwc, 4, out, error));
    float *to = out->data;
    for (int64_t i = 0; i < h * w; i++)
        for (int64_t k = 0; k < c; k++) {
            double value = ((double)picture->pixels[i * c + k] / 255.0 - mean[k]) / scale[k];
            to[layout == HG_PNG_NCHW ? k * h * w + i : i * c + k] = (float)value;
        }
    return HOLO_OK;
}
