/* image_tiff.c - TIFF by libtiff: whatever it can show as red, green and blue. The library has no
 * hook for its memory, but keeps a limit. */
#include "ext/image.h"

#include <string.h>

#include <tiffio.h>

typedef struct tiff_state {
    const hg_image *im;
    uint64_t at;
} tiff_state;

/* ---- a file in memory --------------------------------------------------------------------------
 */

static tmsize_t tiff_read(thandle_t user, void *out, tmsize_t bytes)
{
    tiff_state *s = user;
    uint64_t left = s->at < s->im->size ? s->im->size - s->at : 0;
    uint64_t n = bytes < 0 ? 0 : (uint64_t)bytes < left ? (uint64_t)bytes : left;
    if (n != 0) memcpy(out, s->im->data + s->at, (size_t)n);
    s->at += n;
    return (tmsize_t)n;
}

static tmsize_t tiff_write(thandle_t user, void *data, tmsize_t bytes)
{
    (void)user, (void)data, (void)bytes;
    return -1;
}

static toff_t tiff_seek(thandle_t user, toff_t offset, int from)
{
    tiff_state *s = user;
    uint64_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? s->at : s->im->size;
    s->at = base + offset;
    return s->at;
}

static int tiff_close(thandle_t user)
{
    (void)user;
    return 0;
}

static toff_t tiff_size(thandle_t user)
{
    return ((tiff_state *)user)->im->size;
}

static int tiff_map(thandle_t user, void **base, toff_t *size)
{
    const hg_image *im = ((tiff_state *)user)->im;
    *base = (void *)(uintptr_t)im->data;
    *size = im->size;
    return 1;
}

static void tiff_unmap(thandle_t user, void *base, toff_t size)
{
    (void)user, (void)base, (void)size;
}

/* Its sentences would go to standard error. */
static int tiff_silence(TIFF *tiff, void *user, const char *module, const char *format,
                        va_list args)
{
    (void)tiff, (void)user, (void)module, (void)format, (void)args;
    return 1;
}

static TIFF *tiff_open(tiff_state *s)
{
    uint64_t pixels = (uint64_t)s->im->width * (uint64_t)s->im->height;
    TIFFOpenOptions *o = TIFFOpenOptionsAlloc();
    if (o == NULL) return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(o, tiff_silence, NULL);
    TIFFOpenOptionsSetWarningHandlerExtR(o, tiff_silence, NULL);
    TIFFOpenOptionsSetMaxSingleMemAlloc(o, (tmsize_t)(pixels * 16 + (64 << 20)));
    TIFF *tiff = TIFFClientOpenExt("memory", "r", s, tiff_read, tiff_write, tiff_seek, tiff_close,
                                   tiff_size, tiff_map, tiff_unmap, o);
    TIFFOpenOptionsFree(o);
    return tiff;
}

/* ---- pixels ------------------------------------------------------------------------------------
 */

/* Colours that stand beside an alpha are not multiplied by it when it is called something else. */
static void tiff_forget_alpha(TIFF *tiff)
{
    uint16_t count = 0, *kinds = NULL, unknown[1] = {EXTRASAMPLE_UNSPECIFIED};
    if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) && count == 1 &&
        kinds[0] == EXTRASAMPLE_UNASSALPHA)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, unknown);
}

static bool tiff_read_all(TIFF *tiff, const hg_image *im, uint32_t *raster)
{
    uint32_t width = 0, height = 0;
    char sentence[1024];
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) ||
        !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height) || width != im->width ||
        height != im->height)
        return false;
    tiff_forget_alpha(tiff);
    if (!TIFFRGBAImageOK(tiff, sentence)) return false;
    return TIFFReadRGBAImageOriented(tiff, width, height, raster, ORIENTATION_TOPLEFT, 1) == 1;
}

static size_t tiff_scratch(const hg_image *im)
{
    return (size_t)im->width * (size_t)im->height * sizeof(uint32_t);
}

static bool tiff_decode(const hg_image *im, const hg_image_sink *sink, void *scratch)
{
    tiff_state s = {.im = im};
    TIFF *tiff = tiff_open(&s);
    if (tiff == NULL) return false;
    uint32_t *raster = scratch;
    bool good = tiff_read_all(tiff, im, raster);
    TIFFClose(tiff);
    for (int64_t y = 0; good && y < im->height; y++) {
        const uint32_t *from = raster + y * im->width;
        uint8_t *rgb = (uint8_t *)raster; /* rows above are done, and 3 bytes never pass 4 */
        for (int64_t x = 0; x < im->width; x++) {
            uint32_t pixel = from[x];
            rgb[x * 3] = (uint8_t)TIFFGetR(pixel);
            rgb[x * 3 + 1] = (uint8_t)TIFFGetG(pixel);
            rgb[x * 3 + 2] = (uint8_t)TIFFGetB(pixel);
        }
        hg_image_put(sink, y, rgb);
    }
    return good;
}

const hg_image_codec hg_image_tiff = {"TIFF", tiff_scratch, tiff_decode};
