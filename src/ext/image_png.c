/* image_png.c - PNG by libpng, in memory of ours.
 *
 * The library reports errors by a jump (setjmp). Chunks that change no pixel are left out unread;
 * gamma is not applied, as in other readers. */
#include "ext/image.h"
#include "ext/pool.h"

#include <setjmp.h>
#include <string.h>

#include <png.h>

/* What libpng and zlib take beside rows: about 60 KB, and the buffer of a chunk. */
enum { PNG_ROOM = 256 << 10 };

typedef struct png_state {
    hg_pool_block pool;
    const hg_image *im;
    const hg_image_sink *sink;
    size_t at; /* bytes read so far */
    png_structp png;
    png_infop info;
    uint8_t *rows; /* all of them when they come in passes, else one */
} png_state;

static bool png_is_interlaced(const hg_image *im)
{
    return im->data[28] != 0;
}

static PNG_CALLBACK(png_voidp, png_take, (png_structp png, png_alloc_size_t bytes))
{
    return hg_pool_take(&((png_state *)png_get_mem_ptr(png))->pool, bytes);
}

static PNG_CALLBACK(void, png_give, (png_structp png, png_voidp p))
{
    hg_pool_give(&((png_state *)png_get_mem_ptr(png))->pool, p);
}

static PNG_CALLBACK(void, png_stop, (png_structp png, png_const_charp sentence))
{
    (void)sentence;
    png_longjmp(png, 1);
}

static PNG_CALLBACK(void, png_silence, (png_structp png, png_const_charp sentence))
{
    (void)png, (void)sentence;
}

static PNG_CALLBACK(void, png_read_bytes, (png_structp png, png_bytep out, size_t bytes))
{
    png_state *s = png_get_io_ptr(png);
    if (!hg_image_holds(s->im, s->at, bytes)) png_error(png, "the file ends too early");
    memcpy(out, s->im->data + s->at, bytes);
    s->at += bytes;
}

/* Whatever it is becomes 8 bits of red, green and blue. */
static int png_prepare(const png_state *s)
{
    png_set_read_fn(s->png, (png_voidp)(uintptr_t)s, png_read_bytes);
    png_set_keep_unknown_chunks(s->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_user_limits(s->png, (png_uint_32)s->im->width, (png_uint_32)s->im->height);
    png_read_info(s->png, s->info);
    png_set_expand(s->png);
    png_set_scale_16(s->png);
    png_set_gray_to_rgb(s->png);
    png_set_strip_alpha(s->png);
    int passes = png_set_interlace_handling(s->png);
    png_read_update_info(s->png, s->info);
    if (png_get_rowbytes(s->png, s->info) != (size_t)s->im->width * 3 ||
        png_get_image_height(s->png, s->info) != s->im->height)
        png_error(s->png, "not what the header said");
    return passes;
}

static void png_all_rows(const png_state *s)
{
    int passes = png_prepare(s);
    size_t pitch = png_is_interlaced(s->im) ? (size_t)s->im->width * 3 : 0;
    for (int pass = 0; pass < passes; pass++)
        for (int64_t y = 0; y < s->im->height; y++) {
            png_read_row(s->png, s->rows + (size_t)y * pitch, NULL);
            if (pass == passes - 1) hg_image_put(s->sink, y, s->rows + (size_t)y * pitch);
        }
    png_read_end(s->png, NULL);
}

/* Rows that libpng keeps: two of at most 8 bytes a pixel, and room to align them. */
static size_t png_room(const hg_image *im)
{
    return PNG_ROOM + ((size_t)im->width + 64) * 8 * 3;
}

static size_t png_scratch(const hg_image *im)
{
    size_t rows = png_is_interlaced(im) ? (size_t)im->height : 1;
    return hg_align_up(sizeof(png_state), 16) + hg_align_up(rows * (size_t)im->width * 3, 16) +
           png_room(im);
}

static bool png_decode(const hg_image *im, const hg_image_sink *sink, void *scratch)
{
    png_state *s = scratch; /* not on the stack: a jump would leave it in doubt */
    uint8_t *rows = (uint8_t *)scratch + hg_align_up(sizeof *s, 16);
    size_t row_bytes = (png_is_interlaced(im) ? (size_t)im->height : 1) * (size_t)im->width * 3;
    *s = (png_state){.im = im, .sink = sink, .rows = rows};
    s->pool = (hg_pool_block){.data = rows + hg_align_up(row_bytes, 16), .bytes = png_room(im)};
    s->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, png_stop, png_silence, s, png_take,
                                      png_give);
    if (s->png == NULL) return false;
    if (setjmp(png_jmpbuf(s->png)) != 0) {
        png_destroy_read_struct(&s->png, &s->info, NULL);
        return false;
    }
    s->info = png_create_info_struct(s->png);
    if (s->info != NULL) png_all_rows(s);
    bool good = s->info != NULL;
    png_destroy_read_struct(&s->png, &s->info, NULL);
    return good;
}

const hg_image_codec hg_image_png = {"PNG", png_scratch, png_decode};
