/* image_tiff.c - TIFF: colours, palettes, inks, depths, compression, tiles, both byte orders,
 * damage. */
#include "ext/picture.h"

#ifdef HG_WITHOUT_IMAGE_TIFF

static void tiff_skipped(void)
{
    SKIP("this build has no libtiff");
}

#else

#include <tiffio.h>

enum { TIFF_WIDTH = 8, TIFF_HEIGHT = 6 };

typedef struct tiff_make {
    const char *mode;
    uint16_t color, compression, depth, extra; /* extra: kind of a fourth sample + 1 */
} tiff_make;

static picture_file tiff_file;
static uint64_t tiff_at;

static tmsize_t tiff_read(thandle_t user, void *out, tmsize_t bytes)
{
    (void)user;
    size_t left = tiff_at < tiff_file.size ? tiff_file.size - (size_t)tiff_at : 0;
    size_t n = (size_t)bytes < left ? (size_t)bytes : left;
    memcpy(out, tiff_file.data + tiff_at, n);
    tiff_at += n;
    return (tmsize_t)n;
}

static tmsize_t tiff_write(thandle_t user, void *data, tmsize_t bytes)
{
    (void)user;
    if (!CHECK(tiff_at + (uint64_t)bytes <= sizeof tiff_file.data)) return -1;
    memcpy(tiff_file.data + tiff_at, data, (size_t)bytes);
    tiff_at += (uint64_t)bytes;
    if (tiff_at > tiff_file.size) tiff_file.size = (size_t)tiff_at;
    return bytes;
}

static toff_t tiff_seek(thandle_t user, toff_t offset, int from)
{
    (void)user;
    tiff_at = offset + (from == SEEK_CUR ? tiff_at : from == SEEK_END ? tiff_file.size : 0);
    return tiff_at;
}

static int tiff_close(thandle_t user)
{
    (void)user;
    return 0;
}

static toff_t tiff_size(thandle_t user)
{
    (void)user;
    return tiff_file.size;
}

static int tiff_channels(const tiff_make *m)
{
    int plain = m->color == PHOTOMETRIC_PALETTE ? 1 : m->color == PHOTOMETRIC_SEPARATED ? 4 : 3;
    return plain + (m->extra != 0);
}

static void tiff_row(const tiff_make *m, int64_t y, uint8_t *row)
{
    size_t at = 0;
    for (int64_t x = 0; x < TIFF_WIDTH; x++) {
        uint8_t rgb[3], sample[5] = {0};
        picture_draw(x, y, rgb);
        memcpy(sample, rgb, 3);
        if (m->color == PHOTOMETRIC_PALETTE) sample[0] = (uint8_t)(y * TIFF_WIDTH + x);
        for (int k = 0; m->color == PHOTOMETRIC_SEPARATED && k < 3; k++)
            sample[k] = (uint8_t)(255 - rgb[k]);
        if (m->extra != 0) sample[3] = 128;
        for (int k = 0; k < tiff_channels(m); k++)
            for (int copies = 0; copies < m->depth / 8; copies++)
                row[at++] = sample[k]; /* the byte twice is the same value in 16 bits */
    }
}

static void tiff_fields(TIFF *t, const tiff_make *m)
{
    uint16_t map[3][256] = {{0}}, kind = (uint16_t)(m->extra - 1);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, TIFF_WIDTH);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, TIFF_HEIGHT);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, m->depth);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, tiff_channels(m));
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, m->color);
    TIFFSetField(t, TIFFTAG_COMPRESSION, m->compression);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 4);
    if (m->extra != 0) TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &kind);
    if (m->color != PHOTOMETRIC_PALETTE) return;
    for (int i = 0; i < TIFF_WIDTH * TIFF_HEIGHT; i++) {
        uint8_t rgb[3];
        picture_draw(i % TIFF_WIDTH, i / TIFF_WIDTH, rgb);
        for (int k = 0; k < 3; k++)
            map[k][i] = (uint16_t)(rgb[k] * 257);
    }
    TIFFSetField(t, TIFFTAG_COLORMAP, map[0], map[1], map[2]);
}

static void tiff_encode(const tiff_make *m)
{
    uint8_t row[TIFF_WIDTH * 10];
    tiff_file.size = 0;
    tiff_at = 0;
    TIFF *t = TIFFClientOpen("test", m->mode, &tiff_file, tiff_read, tiff_write, tiff_seek,
                             tiff_close, tiff_size, NULL, NULL);
    if (!CHECK(t != NULL)) return;
    tiff_fields(t, m);
    for (uint32_t y = 0; y < TIFF_HEIGHT; y++) {
        tiff_row(m, y, row);
        CHECK_EQ_INT(TIFFWriteScanline(t, row, y, 0), 1);
    }
    TIFFClose(t);
}

static void tiff_colors(void)
{
    static const tiff_make makes[] = {
        {"wl", PHOTOMETRIC_RGB, COMPRESSION_NONE, 8, 0},
        {"wb", PHOTOMETRIC_RGB, COMPRESSION_LZW, 8, 0},
        {"wl8", PHOTOMETRIC_RGB, COMPRESSION_PACKBITS, 8, 0},
        {"wb8", PHOTOMETRIC_RGB, COMPRESSION_NONE, 16, 0},
        {"wl", PHOTOMETRIC_RGB, COMPRESSION_NONE, 16, 0},
        {"wl", PHOTOMETRIC_RGB, COMPRESSION_NONE, 8, EXTRASAMPLE_UNASSALPHA + 1},
        {"wl", PHOTOMETRIC_RGB, COMPRESSION_NONE, 8, EXTRASAMPLE_UNSPECIFIED + 1},
        {"wl", PHOTOMETRIC_PALETTE, COMPRESSION_LZW, 8, 0},
        {"wl", PHOTOMETRIC_SEPARATED, COMPRESSION_NONE, 8, 0},
    };
    for (size_t i = 0; i < HG_COUNT(makes); i++) {
        tiff_encode(&makes[i]);
        picture_is(&tiff_file, TIFF_WIDTH, TIFF_HEIGHT, 0);
        picture_formats(&tiff_file);
    }
}

static void tiff_damage(void)
{
    /* The directory lies behind the rows: without its last bytes it is not read. */
    tiff_encode(&(tiff_make){"wl", PHOTOMETRIC_RGB, COMPRESSION_LZW, 8, 0});
    picture_torture(&tiff_file, 32);
    tiff_encode(&(tiff_make){"wb8", PHOTOMETRIC_PALETTE, COMPRESSION_NONE, 8, 0});
    for (size_t n = 0; n < tiff_file.size; n++) {
        picture p = picture_decode(tiff_file.data, n, HG_PIXELS_RGB);
        picture_free(&p);
    }
}

#endif

const hg_test_case hg_tests_ext_image_tiff[] = {
#ifdef HG_WITHOUT_IMAGE_TIFF
    {"skipped", tiff_skipped},
#else
    {"colors", tiff_colors},
    {"damage", tiff_damage},
#endif
    {0},
};
