/* png.h - 8-bit pictures, through libpng where the build has it (HG_HAVE_PNG). */
#ifndef HG_IO_PNG_H
#define HG_IO_PNG_H

#include "base/base.h"

/* Rows from top to bottom, `channels` bytes a pixel: 1 gray, 3 RGB, 4 RGBA. */
typedef struct hg_png {
    uint8_t *pixels;
    uint32_t width, height, channels;
} hg_png;

/* Reads a picture, converted to `channels` (0: as the file is). Free with hg_png_free. Status:
 * E_IO, E_FORMAT, E_LIMIT, E_NOMEM, E_UNSUPPORTED without libpng. */
HG_MUST_CHECK holo_status hg_png_read(const char *path, uint32_t channels, hg_png *out,
                                      holo_error *error);
/* Writes through a temporary file. */
HG_MUST_CHECK holo_status hg_png_write(const char *path, const hg_png *picture, holo_error *error);
void hg_png_free(hg_png *picture);

typedef enum hg_png_layout { HG_PNG_NCHW, HG_PNG_NHWC } hg_png_layout;

/* Float32 [1, C, H, W] or [1, H, W, C] of an RGB or gray picture: (value / 255 - mean) / scale per
 * channel. Free with hg_io_tensor_free. */
HG_MUST_CHECK holo_status hg_png_to_tensor(const hg_png *picture, hg_png_layout layout,
                                           const double mean[3], const double scale[3],
                                           holo_tensor *out, holo_error *error);

#endif
