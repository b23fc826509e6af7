/* picture.h - small pictures through image.decode: right ones, cut ones, altered ones. */
#ifndef HG_TEST_EXT_PICTURE_H
#define HG_TEST_EXT_PICTURE_H

#include "ext/image.h"
#include "isa/kernel.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const hg_kernel hg_kernels_image[];

/* Bytes of a file under construction. */
typedef struct picture_file {
    uint8_t data[1 << 16];
    size_t size;
} picture_file;

static inline void picture_add(picture_file *f, const void *data, size_t size)
{
    if (!CHECK(size <= sizeof f->data - f->size)) return;
    memcpy(f->data + f->size, data, size);
    f->size += size;
}

static inline void picture_text(picture_file *f, const char *text)
{
    picture_add(f, text, strlen(text));
}

static inline void picture_little(picture_file *f, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(i < 8 ? value >> 8 * i : 0);
        picture_add(f, &byte, 1);
    }
}

typedef struct picture {
    uint8_t *data;
    int64_t height, width, channels;
    char error[600]; /* empty when it was decoded */
} picture;

enum { PICTURE_MOST = 1 << 22 }; /* bytes; larger ones are measured, not decoded */

/* Through size, check, scratch and run as the runtime does; the file lies in memory of exactly its
 * size. */
static inline picture picture_decode(const uint8_t *data, size_t size, hg_pixels pixels)
{
    const hg_kernel *k = &hg_kernels_image[0];
    uint8_t *copy = malloc(size + (size == 0));
    if (size != 0) memcpy(copy, data, size);
    holo_tensor in = {.data = copy, .dim = {(int64_t)size}, .rank = 1, .dtype = HOLO_U8};
    holo_tensor out = {.dtype = HOLO_U8};
    int64_t param = pixels;
    hg_fault fault = {0};
    holo_error e = {0};
    picture p = {0};
    hg_args a = {.in = &in,
                 .out = &out,
                 .param = &param,
                 .fault = &fault,
                 .n_in = 1,
                 .n_out = 1,
                 .n_param = 1};
    if (k->size(&a, &e) != HOLO_OK) {
        CHECK(e.message[0] != 0);
        snprintf(p.error, sizeof p.error, "%s", e.message);
    } else if (holo_tensor_bytes(&out) > PICTURE_MOST) {
        snprintf(p.error, sizeof p.error, "large");
    } else {
        out.data = malloc(holo_tensor_bytes(&out));
        size_t scratch_bytes = hg_kernel_work(k, &a).scratch;
        void *scratch = malloc(scratch_bytes);
        CHECK_OK(k->check(&a, &e), &e);
        k->run(&a, (hg_range){0, 1, scratch});
        free(scratch);
        p = (picture){
            .data = out.data, .height = out.dim[0], .width = out.dim[1], .channels = out.dim[2]};
        if (fault.kind != HG_FAULT_NONE) snprintf(p.error, sizeof p.error, "%s", fault.what);
    }
    free(copy);
    return p;
}

static inline void picture_free(picture *p)
{
    free(p->data);
    p->data = NULL;
}

/* What the tests draw: every channel depends on the place. */
static inline void picture_draw(int64_t x, int64_t y, uint8_t rgb[3])
{
    rgb[0] = (uint8_t)(x * 30 + y * 7);
    rgb[1] = (uint8_t)(255 - x * 11 - y * 20);
    rgb[2] = (uint8_t)(x * 9 + y * 33);
}

/* A picture of width x height drawn like that, within `most` of each byte. */
static inline void picture_is(const picture_file *f, int64_t width, int64_t height, int most)
{
    picture p = picture_decode(f->data, f->size, HG_PIXELS_RGB);
    CHECK_STR(p.error, "");
    if (CHECK_EQ_INT(p.width, width) && CHECK_EQ_INT(p.height, height) &&
        CHECK_EQ_INT(p.channels, 3)) {
        for (int64_t i = 0; i < width * height; i++) {
            uint8_t rgb[3];
            picture_draw(i % width, i / width, rgb);
            for (int k = 0; k < 3; k++)
                if (!CHECK_NEAR(p.data[i * 3 + k], rgb[k], most)) return;
        }
    }
    picture_free(&p);
}

/* The same file as BGR and gray agrees with its RGB. */
static inline void picture_formats(const picture_file *f)
{
    picture rgb = picture_decode(f->data, f->size, HG_PIXELS_RGB);
    picture bgr = picture_decode(f->data, f->size, HG_PIXELS_BGR);
    picture gray = picture_decode(f->data, f->size, HG_PIXELS_GRAY);
    CHECK_EQ_INT(gray.channels, 1);
    for (int64_t i = 0; gray.data != NULL && i < rgb.width * rgb.height; i++) {
        const uint8_t *p = rgb.data + i * 3, *q = bgr.data + i * 3;
        double light = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
        if (!CHECK(p[0] == q[2] && p[1] == q[1] && p[2] == q[0])) break;
        if (!CHECK_NEAR(gray.data[i], light, 0.5001)) break;
    }
    picture_free(&rgb);
    picture_free(&bgr);
    picture_free(&gray);
}

/* Cut at every byte, with every byte altered: an error or a picture, nothing else. How many bytes
 * may be missing at the end without harm is up to the format. */
static inline void picture_torture(const picture_file *f, size_t spare)
{
    static const uint8_t flip[] = {0x01, 0x80, 0xff};
    picture_file *copy = malloc(sizeof *copy);
    for (size_t n = 0; n < f->size; n++) {
        picture p = picture_decode(f->data, n, HG_PIXELS_RGB);
        if (n + spare < f->size && p.error[0] == 0)
            hg_test_fail(HG_TEST_HERE, "%zu of %zu bytes decode", n, f->size);
        picture_free(&p);
    }
    for (size_t n = 0; n < f->size * HG_COUNT(flip); n++) {
        memcpy(copy, f, sizeof *copy);
        copy->data[n / HG_COUNT(flip)] ^= flip[n % HG_COUNT(flip)];
        picture p = picture_decode(copy->data, copy->size, HG_PIXELS_GRAY);
        picture_free(&p);
    }
    free(copy);
}

#endif
