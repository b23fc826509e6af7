/* image.c - ImageDecoder, on files written here, and NonMaxSuppression. */
#include "oracle/oracle.h"

#include <stdio.h>

/* ---- ImageDecoder ------------------------------------------------------------------------------
 */

enum { IMAGE_MAX = 4096 };

typedef struct image_file {
    uint8_t data[IMAGE_MAX];
    size_t size;
} image_file;

/* Pixel (y, x), red green blue; gray ones are equal. */
static uint8_t image_pixel(int64_t y, int64_t x, int64_t c, bool gray)
{
    return (uint8_t)(gray ? 17 * y + 31 * x : 17 * y + 31 * x + 71 * c + 5);
}

static void image_pnm(image_file *f, int64_t h, int64_t w, bool gray)
{
    f->size = (size_t)snprintf((char *)f->data, IMAGE_MAX, "P%d\n%d %d\n255\n", gray ? 5 : 6,
                               (int)w, (int)h);
    for (int64_t k = 0; k < h * w; k++)
        for (int64_t c = 0; c < (gray ? 1 : 3); c++)
            f->data[f->size++] = image_pixel(k / w, k % w, c, gray);
}

static void image_number(image_file *f, uint32_t value, int bytes)
{
    for (int k = 0; k < bytes; k++)
        f->data[f->size++] = (uint8_t)(value >> 8 * k);
}

/* Rows from the bottom, blue first, each filled up to four bytes. */
static void image_bmp(image_file *f, int64_t h, int64_t w, bool gray)
{
    const uint32_t row = (uint32_t)(w * 3 + 3) / 4 * 4, pixels = row * (uint32_t)h;
    const uint32_t head[][2] = {{0x4d42, 2},      {54 + pixels, 4}, {0, 4},    {54, 4}, {40, 4},
                                {(uint32_t)w, 4}, {(uint32_t)h, 4}, {1, 2},    {24, 2}, {0, 4},
                                {pixels, 4},      {2835, 4},        {2835, 4}, {0, 4},  {0, 4}};
    f->size = 0;
    for (size_t k = 0; k < sizeof head / sizeof *head; k++)
        image_number(f, head[k][0], (int)head[k][1]);
    for (int64_t y = h - 1; y >= 0; y--) {
        for (int64_t x = 0; x < w; x++)
            for (int64_t c = 2; c >= 0; c--)
                f->data[f->size++] = image_pixel(y, x, c, gray);
        image_number(f, 0, (int)(row - (uint32_t)w * 3));
    }
}

static void image_check(void (*write)(image_file *, int64_t, int64_t, bool), int64_t h, int64_t w,
                        bool gray)
{
    static const char *const formats[] = {"RGB", "BGR", "Grayscale"};
    image_file f;
    write(&f, h, w, gray);
    ora *x = ora_new(HOLO_U8, 1, (int64_t[]){(int64_t)f.size});
    for (size_t k = 0; k < f.size; k++)
        x->v[k].i = f.data[k];
    /* How colours become gray is not said; those that are gray stay what they are. */
    for (int format = 0; format < (gray ? 3 : 2); format++) {
        const int64_t depth = format == 2 ? 1 : 3;
        ora *y = ora_new(HOLO_U8, 3, (int64_t[]){h, w, depth});
        char attrs[40];
        for (int64_t k = 0; k < y->count; k++) {
            const int64_t c = format == 1 ? 2 - k % depth : k % depth;
            y->v[k].i = image_pixel(k / depth / w, k / depth % w, c, gray);
        }
        snprintf(attrs, sizeof attrs, "pixel_format=\"%s\"", formats[format]);
        ORA_CHECK("ImageDecoder", attrs, ORA_IN(x), ORA_OUT(y));
    }
}

static void image_decoder(const ora_row *row)
{
    (void)row;
    for (int gray = 0; gray < 2; gray++) {
        image_check(image_pnm, 3, 5, gray);
        image_check(image_pnm, 1, 1, gray);
        image_check(image_bmp, 3, 5, gray);
        image_check(image_bmp, 2, 4, gray);
    }
    ORA_REFUSE("", row->op, NULL, ORA_IN(ora_of(HOLO_U8, "3", "1 2 3")),
               ORA_OUT(ora_shape(HOLO_U8, "1,1,3")));
}

/* ---- NonMaxSuppression -------------------------------------------------------------------------
 */

typedef struct nms_case {
    int64_t batches, classes, boxes, most;
    float overlap, score;
    bool center;
} nms_case;

typedef struct nms_box {
    long double low[2], high[2];
} nms_box;

static nms_box nms_read(const wide *v, bool center)
{
    nms_box b;
    for (int d = 0; d < 2; d++) {
        const long double p = v[d].re, q = v[d + 2].re;
        b.low[d] = center ? p - q / 2 : fminl(p, q);
        b.high[d] = center ? p + q / 2 : fmaxl(p, q);
    }
    return b;
}

static long double nms_overlap(const nms_box *a, const nms_box *b)
{
    long double common = 1, first = 1, second = 1;
    for (int d = 0; d < 2; d++) {
        const long double side = fminl(a->high[d], b->high[d]) - fmaxl(a->low[d], b->low[d]);
        common *= side > 0 ? side : 0;
        first *= a->high[d] - a->low[d];
        second *= b->high[d] - b->low[d];
    }
    return common == 0 ? 0 : common / (first + second - common);
}

/* Chooses for one class; returns how many went into `chosen`. */
static int64_t nms_choose(const nms_case *c, const wide *boxes, const wide *scores, int64_t *chosen)
{
    int64_t n = 0;
    bool gone[64] = {false};
    while (n < c->most) {
        int64_t best = -1;
        for (int64_t k = 0; k < c->boxes; k++)
            if (!gone[k] && scores[k].re > c->score && (best < 0 || scores[k].re > scores[best].re))
                best = k;
        if (best < 0) break;
        gone[best] = true;
        chosen[n++] = best;
        const nms_box winner = nms_read(&boxes[best * 4], c->center);
        for (int64_t k = 0; k < c->boxes; k++) {
            const nms_box other = nms_read(&boxes[k * 4], c->center);
            gone[k] |= nms_overlap(&winner, &other) > c->overlap;
        }
    }
    return n;
}

static void nms_check(const nms_case *c)
{
    ora *boxes = ora_new(HOLO_F32, 3, (int64_t[]){c->batches, c->boxes, 4});
    ora *scores = ora_new(HOLO_F32, 3, (int64_t[]){c->batches, c->classes, c->boxes});
    int64_t found[1024][3], n = 0, chosen[64];
    uint32_t state = 3;
    for (int64_t k = 0; k < boxes->count; k++) /* sixteenths: overlaps are exact enough */
        boxes->v[k].re = (long double)(ora_random(&state) % 24 + (k % 4 > 1 ? 9 : 0)) / 16;
    for (int64_t k = 0; k < scores->count; k++)
        scores->v[k].re = (long double)(ora_random(&state) % 4096 * 2 + 1) / 8192;
    for (int64_t k = 0; k < c->batches * c->classes; k++) {
        const int64_t batch = k / c->classes;
        const int64_t more =
            nms_choose(c, &boxes->v[batch * c->boxes * 4], &scores->v[k * c->boxes], chosen);
        for (int64_t i = 0; i < more; i++, n++) {
            found[n][0] = batch;
            found[n][1] = k % c->classes;
            found[n][2] = chosen[i];
        }
    }
    ora *y = ora_new(HOLO_I64, 2, (int64_t[]){n, 3});
    for (int64_t k = 0; k < n * 3; k++)
        y->v[k].i = (uint64_t)found[k / 3][k % 3];
    ORA_CHECK("NonMaxSuppression", c->center ? "center_point_box=1" : NULL,
              ORA_IN(boxes, scores, ora_param(ora_scalar(HOLO_I64, (long double)c->most)),
                     ora_param(ora_scalar(HOLO_F32, c->overlap)),
                     ora_param(ora_scalar(HOLO_F32, c->score))),
              ORA_OUT(y));
}

static void image_nms(const ora_row *row)
{
    for (int center = 0; center < 2; center++) {
        nms_check(&(nms_case){1, 1, 20, 20, 0.45F, 0.25F, center});
        nms_check(&(nms_case){2, 3, 12, 4, 0.3F, 0, center});
        nms_check(&(nms_case){2, 2, 60, 60, 0.7F, 0.9F, center});
        nms_check(&(nms_case){1, 2, 9, 9, 0, 0, center});
        nms_check(&(nms_case){1, 2, 9, 9, 1, 0, center});
        nms_check(&(nms_case){1, 2, 9, 0, 0.5F, 0, center});
        nms_check(&(nms_case){1, 2, 9, 5, 0.5F, 2, center});
        nms_check(&(nms_case){1, 2, 0, 5, 0.5F, 0, center});
        nms_check(&(nms_case){0, 2, 3, 5, 0.5F, 0, center});
    }
    /* None are asked for. */
    ORA_CHECK(
        row->op, NULL,
        ORA_IN(ora_make(HOLO_F32, "1,4,4", ORA_UNIT, 1), ora_make(HOLO_F32, "1,2,4", ORA_UNIT, 2)),
        ORA_OUT(ora_shape(HOLO_I64, "0,3")));
}

const ora_row ora_rows_image[] = {
    {"ImageDecoder", image_decoder, NULL},
    {"NonMaxSuppression", image_nms, NULL},
    {NULL, NULL, NULL},
};

static void image_rows(void)
{
    ora_run(ora_rows_image);
}

const hg_test_case hg_tests_oracle_image[] = {{"rows", image_rows}, {0}};
