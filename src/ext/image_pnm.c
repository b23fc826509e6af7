/* image_pnm.c - portable anymaps: PBM (P1, P4), PGM (P2, P5), PPM (P3, P6) and PAM (P7).
 *
 * Numbers in the header stand between white space and comments; then samples, as text or as bytes
 * (two, the higher one first, when the largest is above 255). In bitmaps 1 is black. */
#include "ext/image.h"

#include <string.h>

typedef struct pnm_info {
    char kind;      /* '1' to '7' */
    uint64_t depth; /* samples per pixel */
    uint64_t most;  /* value of a full sample */
    size_t at;      /* where the samples begin */
} pnm_info;

static bool pnm_is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool hg_image_is_pnm(const hg_image *im)
{
    return im->size >= 3 && im->data[0] == 'P' && im->data[1] >= '1' && im->data[1] <= '7' &&
           (pnm_is_space(im->data[2]) || im->data[2] == '#');
}

/* White space and comments, which end with the line. */
static void pnm_skip(const hg_image *im, size_t *at)
{
    for (bool comment = false; *at < im->size; ++*at) {
        uint8_t c = im->data[*at];
        if (c == '#') comment = true;
        if (c == '\n' || c == '\r') comment = false;
        if (!comment && !pnm_is_space(c)) return;
    }
}

static bool pnm_number(const hg_image *im, size_t *at, uint64_t *out)
{
    pnm_skip(im, at);
    size_t first = *at;
    for (*out = 0; *at < im->size && im->data[*at] >= '0' && im->data[*at] <= '9'; ++*at)
        if (*out <= UINT32_MAX) *out = *out * 10 + (uint64_t)(im->data[*at] - '0');
    return *at > first && *out <= INT32_MAX;
}

static bool pnm_read_plain(hg_image *im, pnm_info *p)
{
    uint64_t width, height;
    bool bits = p->kind == '1' || p->kind == '4';
    p->depth = p->kind == '3' || p->kind == '6' ? 3 : 1;
    p->most = 1;
    if (!pnm_number(im, &p->at, &width) || !pnm_number(im, &p->at, &height)) return false;
    if (!bits && !pnm_number(im, &p->at, &p->most)) return false;
    /* Exactly one white space before the samples, which may look like more of it. */
    if (p->at >= im->size || !pnm_is_space(im->data[p->at])) return false;
    p->at++;
    im->width = (int64_t)width;
    im->height = (int64_t)height;
    return true;
}

/* The word at `at` is `word`. */
static bool pnm_word(const hg_image *im, size_t at, const char *word)
{
    size_t n = strlen(word);
    return hg_image_holds(im, at, n + 1) && memcmp(im->data + at, word, n) == 0 &&
           pnm_is_space(im->data[at + n]);
}

/* PAM: lines of a word and a value, until ENDHDR. */
static bool pnm_read_pam(hg_image *im, pnm_info *p)
{
    static const char *const words[] = {"WIDTH", "HEIGHT", "DEPTH", "MAXVAL"};
    uint64_t value[HG_COUNT(words)] = {0};
    for (;;) {
        pnm_skip(im, &p->at);
        if (pnm_word(im, p->at, "ENDHDR")) break;
        size_t k = 0;
        while (k < HG_COUNT(words) && !pnm_word(im, p->at, words[k]))
            k++;
        if (k < HG_COUNT(words)) {
            p->at += strlen(words[k]);
            if (!pnm_number(im, &p->at, &value[k])) return false;
            continue;
        }
        if (!pnm_word(im, p->at, "TUPLTYPE")) return false;
        while (p->at < im->size && im->data[p->at] != '\n')
            p->at++;
    }
    p->at += strlen("ENDHDR") + 1;
    im->width = (int64_t)value[0];
    im->height = (int64_t)value[1];
    p->depth = value[2];
    p->most = value[3];
    return true;
}

static bool pnm_read(hg_image *im, pnm_info *p)
{
    *p = (pnm_info){.kind = (char)im->data[1], .at = 2};
    if (!(p->kind == '7' ? pnm_read_pam(im, p) : pnm_read_plain(im, p))) return false;
    return im->width > 0 && im->height > 0 && p->depth >= 1 && p->depth <= 4 && p->most >= 1 &&
           p->most <= 65535;
}

bool hg_image_measure_pnm(hg_image *im)
{
    pnm_info p;
    return pnm_read(im, &p);
}

/* ---- samples -----------------------------------------------------------------------------------
 */

/* The next sample of text; those of bitmaps need no space between them. */
static bool pnm_text(const hg_image *im, pnm_info *p, uint64_t *out)
{
    if (p->kind != '1') return pnm_number(im, &p->at, out);
    pnm_skip(im, &p->at);
    if (p->at >= im->size || (im->data[p->at] != '0' && im->data[p->at] != '1')) return false;
    *out = im->data[p->at++] == '0';
    return true;
}

static bool pnm_sample(const hg_image *im, pnm_info *p, uint64_t *out)
{
    if (p->kind <= '3') return pnm_text(im, p, out);
    int bytes = p->most > 255 ? 2 : 1;
    if (!hg_image_holds(im, p->at, (size_t)bytes)) return false;
    *out = hg_image_big(im, p->at, bytes);
    p->at += (size_t)bytes;
    return true;
}

static bool pnm_row(const hg_image *im, pnm_info *p, uint8_t *rgb)
{
    uint64_t sample[4];
    for (int64_t x = 0; x < im->width; x++) {
        for (uint64_t k = 0; k < p->depth; k++)
            if (!pnm_sample(im, p, &sample[k])) return false;
        for (int k = 0; k < 3; k++)
            rgb[x * 3 + k] = hg_image_byte(sample[p->depth < 3 ? 0 : k], p->most);
    }
    return true;
}

/* Eight pixels a byte, the first in the highest bit. */
static bool pnm_bit_row(const hg_image *im, pnm_info *p, uint8_t *rgb)
{
    size_t bytes = ((size_t)im->width + 7) / 8;
    if (!hg_image_holds(im, p->at, bytes)) return false;
    for (int64_t x = 0; x < im->width; x++) {
        bool black = (im->data[p->at + (size_t)x / 8] >> (7 - x % 8) & 1) != 0;
        memset(rgb + x * 3, black ? 0 : 255, 3);
    }
    p->at += bytes;
    return true;
}

static size_t pnm_scratch(const hg_image *im)
{
    return (size_t)im->width * 3;
}

static bool pnm_decode(const hg_image *im, const hg_image_sink *sink, void *scratch)
{
    hg_image copy = *im;
    pnm_info p;
    if (!pnm_read(&copy, &p)) return false;
    for (int64_t y = 0; y < im->height; y++) {
        if (!(p.kind == '4' ? pnm_bit_row(im, &p, scratch) : pnm_row(im, &p, scratch)))
            return false;
        hg_image_put(sink, y, scratch);
    }
    return true;
}

const hg_image_codec hg_image_pnm = {"PNM", pnm_scratch, pnm_decode};
