/* image_jpeg.c - JPEG by libjpeg-turbo: accurate integer transform, smooth chroma upsampling, as
 * ImageDecoder-20 describes them.
 *
 * The library reports errors by a jump (setjmp), has no hook for its memory, and goes on where data
 * are damaged; such warnings are errors here, but for those that change no pixel. */
#include "ext/image.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
/* The numbers of its warnings. */
#include <jerror.h>

enum { JPEG_MAX_SCANS = 500 }; /* a progressive file may repeat scans without end */

typedef struct jpeg_state {
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr error;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    const hg_image *im;
    const hg_image_sink *sink;
    uint8_t *row;
} jpeg_state;

static void jpeg_stop(j_common_ptr d)
{
    longjmp(((jpeg_state *)d->client_data)->back, 1);
}

static void jpeg_warn(j_common_ptr d, int level)
{
    if (level >= 0) return;
    switch (d->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_ADOBE_XFORM: return;
    default: jpeg_stop(d);
    }
}

static void jpeg_silence(j_common_ptr d)
{
    (void)d;
}

static void jpeg_count_scans(j_common_ptr d)
{
    if (((j_decompress_ptr)d)->input_scan_number > JPEG_MAX_SCANS) jpeg_stop(d);
}

/* Adobe writes inks the other way round: 255 is none. */
static void jpeg_from_inks(const jpeg_state *s)
{
    for (int64_t x = 0; x < s->im->width; x++) {
        uint8_t inks[4];
        for (int k = 0; k < 4; k++)
            inks[k] =
                (uint8_t)(s->d.saw_Adobe_marker ? 255 - s->row[x * 4 + k] : s->row[x * 4 + k]);
        hg_image_inks(inks, s->row + x * 3); /* never ahead of what is read */
    }
}

static bool jpeg_rows(jpeg_state *s)
{
    struct jpeg_decompress_struct *d = &s->d;
    jpeg_mem_src(d, s->im->data, (unsigned long)s->im->size);
    (void)jpeg_read_header(d, TRUE);
    if (d->image_width != s->im->width || d->image_height != s->im->height) return false;
    bool inks = d->jpeg_color_space == JCS_CMYK || d->jpeg_color_space == JCS_YCCK;
    d->out_color_space = inks ? JCS_CMYK : JCS_RGB;
    d->dct_method = JDCT_ISLOW;
    d->do_fancy_upsampling = TRUE;
    (void)jpeg_start_decompress(d);
    while (d->output_scanline < d->output_height) {
        int64_t y = d->output_scanline;
        JSAMPROW row = s->row;
        if (jpeg_read_scanlines(d, &row, 1) != 1) return false;
        if (inks) jpeg_from_inks(s);
        hg_image_put(s->sink, y, s->row);
    }
    return true;
}

static size_t jpeg_scratch(const hg_image *im)
{
    return (size_t)im->width * 4 + sizeof(jpeg_state) + 16;
}

static bool jpeg_decode(const hg_image *im, const hg_image_sink *sink, void *scratch)
{
    jpeg_state *s = scratch; /* not on the stack: a jump would leave it in doubt */
    *s = (jpeg_state){.im = im, .sink = sink, .row = (uint8_t *)(s + 1)};
    s->d.err = jpeg_std_error(&s->error);
    s->error.error_exit = jpeg_stop;
    s->error.emit_message = jpeg_warn;
    s->error.output_message = jpeg_silence;
    s->d.client_data = s;
    if (setjmp(s->back) != 0) {
        jpeg_destroy_decompress(&s->d);
        return false;
    }
    jpeg_create_decompress(&s->d);
    s->progress.progress_monitor = jpeg_count_scans;
    s->d.progress = &s->progress;
    bool good = jpeg_rows(s);
    jpeg_destroy_decompress(&s->d);
    return good;
}

const hg_image_codec hg_image_jpeg = {"JPEG", jpeg_scratch, jpeg_decode};
