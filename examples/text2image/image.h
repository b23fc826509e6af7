/* image.h - an RGB canvas that pictures are laid on, and its PNG file. */
#ifndef TEXT2IMAGE_IMAGE_H
#define TEXT2IMAGE_IMAGE_H

#include <hologram.h>

typedef struct image {
    uint8_t *rgb; /* [height, width, 3] */
    uint32_t width;
    uint32_t height;
} image;

/* A note that travels inside the PNG file; UTF-8. */
typedef struct image_note {
    const char *key; /* "Description", "Copyright", ... */
    const char *text;
} image_note;

holo_status image_init(image *out, uint32_t width, uint32_t height, holo_error *error);
void image_deinit(image *canvas);

/* Lays a picture [3, size, size] with values in [-1, 1] at column x and row y; it must fit. */
void image_put(image *canvas, const float *picture, uint32_t size, uint32_t x, uint32_t y);

/* Says early what would make image_write fail in the end. */
holo_status image_check_path(const char *path, holo_error *error);

/* Writes beside path, then renames: path never holds half a picture. */
holo_status image_write(const image *canvas, const char *path, const image_note *notes,
                        size_t n_notes, holo_error *error);

#endif
