/* igemm.h - exact products of 8-bit codes: what "matmul.p16i8" and "conv.nhwc.i8" share.
 *
 * The right side is packed (pack_i8.c): panels of 16 columns, in each K / 4 rows ("quads") of 16
 * columns times 4 of k, then one row with the 16 column sums as i32. Codes are signed there; those
 * of the left side are made unsigned on the way in. So every instruction set has a fast form:
 *
 *   sum over k of (a - a0)(b - b0) = sum a b - a0 colsum(b) - b0 (rowsum(a) - K a0)     modulo 2^32
 *
 * VNNI adds four products at once, exactly. `maddubs` of AVX2 adds two in 16 bits and saturates
 * unless 255 (|b1| + |b2|) < 2^15 for every pair; bit HG_IGEMM_PAIRS of parameter "form" says that
 * the compiler has proved this (certificate "product"), else 16-bit products are used, if only
 * where a pair is too large. With HG_IGEMM_LOOKUP there is one more input, a table of 256 entries:
 * codes that the epilogue makes are looked up there while their tile is in cache. With
 * HG_IGEMM_LOAD the last input is a table of 256 entries for the codes of the left side, which are
 * looked up as they are gathered. */
#ifndef HG_KERNEL_IGEMM_H
#define HG_KERNEL_IGEMM_H

#include "kernel/epilogue.h"
#include "kernel/igemm_finish.h"

enum {
    HG_QUAD = 4,
    HG_QUAD_BYTES = 64,                     /* of one row of a panel: 16 columns, 4 of k */
    HG_CODE_LIFT = 128,                     /* between signed and unsigned codes */
    HG_PAIR_LIMIT = 128,                    /* of |b1| + |b2|, so that 255 times it fits 16 bits */
    HG_PAIR_DEPTH = INT32_MAX / (255 * 128) /* of k: longer sums may wrap, nothing is proved */
};

static inline int64_t hg_quads(int64_t k)
{
    return k / HG_QUAD + (k % HG_QUAD != 0);
}

/* Bits of parameter "form". */
enum { HG_IGEMM_PAIRS = 1, HG_IGEMM_LOOKUP = 2, HG_IGEMM_LOAD = 4, HG_IGEMM_FORMS = 7 };

/* Rows of unsigned codes times panels. */
typedef struct hg_igemm_tile {
    const uint8_t *a; /* [rows][quads * 4], lda bytes apart; of hg_igemm.is_wide: int16_t */
    int64_t lda;
    const int8_t *b;     /* first panel */
    const int8_t *b_end; /* of all panels, which lie side by side: they are read one by one */
    int64_t quads, rows, panels;
    int64_t done; /* rows of the same panels before these */
    int32_t *c;   /* [rows][panels * 16] */
    int64_t ldc;
    const int32_t *zero_a; /* by row */
    /* By row: sum of the row - K zero_a, with zero_b; what the form's meet says; or NULL. */
    const int32_t *rest;
    const int32_t *zero_b; /* by column, panels * 16 of them; NULL: 0 */
    bool pairs;
    bool is_met;    /* what the form's meet has answered */
    bool is_single; /* all rows have the same zero_a */
    bool is_even;   /* and there is no zero_b */
    int16_t *wide;  /* room for a, twice as wide, for forms that asked for it, */
    bool *is_wide;  /* and whether it is filled: tiles of the same rows share it */
    int16_t *panel; /* the same for a panel */
    /* Forms that asked for it make codes of the sums, from this row and column of the output on;
     * all columns are whole panels then, and is_even is set. NULL: sums go to c. */
    const hg_finish *requant;
    int64_t out_row, out_col;
    /* What the epilogue will write, rows and columns so many bytes apart: may be prefetched. */
    const char *out;
    int64_t out_step, out_size;
} hg_igemm_tile;

/* A panel and the next one are so many bytes apart. */
static inline int64_t hg_igemm_panel_bytes(int64_t quads)
{
    return (quads + 1) * HG_QUAD_BYTES;
}

/* Rows of A as signed codes, one behind the other, for instructions that take no others:
 * sum of (a - a0) b = sum of (a - HG_CODE_LIFT) b + (HG_CODE_LIFT - a0) colsum(b). */
static inline void hg_igemm_turn(const hg_igemm_tile *t, uint8_t *to)
{
    const int64_t width = t->quads * HG_QUAD;
    for (int64_t i = 0; i < t->rows; i++, to += width)
        for (int64_t k = 0; k < width; k++)
            to[k] = t->a[i * t->lda + k] ^ HG_CODE_LIFT;
}

/* What an instruction set brings along. */
typedef struct hg_igemm_form {
    void (*tile)(const hg_igemm_tile *t);
    /* Looks at rows of 16-bit numbers before tiles read them, `width` each and so many apart, and
     * notes what they share in rest. NULL: nothing. */
    bool (*meet)(const int16_t *a, int64_t width, int64_t rows, int32_t *rest);
    /* The sum of codes. NULL: the driver adds them. */
    uint32_t (*sum)(const uint8_t *a, int64_t count);
    hg_lane_run_fn lane;
    /* Does an epilogue that is a chain on a tile of i32; *rest: columns at its end that are left to
     * the lane code. NULL: the form has no such code. */
    void (*finish)(const hg_finish *f, const hg_epilogue_tile *tile, hg_epilogue_tile *rest);
    /* out[i] = entry[codes[i]], of 256 entries; may be in place. NULL: one at a time. */
    void (*lookup)(const uint8_t *entry, const uint8_t *codes, uint8_t *out, int64_t count);
    /* So many rows are multiplied and finished before the next: what the epilogue writes to memory
     * far away goes out under the products. 0: all of a block. */
    int64_t rows;
    bool widens;       /* wants hg_igemm_tile.wide unless pairs is set */
    bool widens_pairs; /* and then too */
    bool widens_panel; /* wants hg_igemm_tile.panel */
    bool requants;     /* and hg_igemm_tile.requant where it can be had */
    bool looks;        /* minds hg_finish.lookup: in requant, or without that in finish */
} hg_igemm_form;

/* A product as the driver sees it; checked arguments only. */
typedef struct hg_igemm hg_igemm;
struct hg_igemm {
    const hg_args *args;
    int64_t rows, k, groups, columns, panels; /* columns and panels of one group */
    /* Rows can be read in place, from here, k codes apart; with `load` they can be looked up from
     * here, k being a multiple of HG_QUAD and codes of any type. Or NULL. */
    const uint8_t *direct;
    /* Rows [row, row + count) of a channel group as unsigned codes, quads * 4 of them each; or as
     * 16-bit numbers, see below. */
    void (*gather)(const hg_igemm *g, int64_t row, int64_t count, int64_t group, uint8_t *to);
    bool pairs;
    bool is_wide;          /* the left side has signed codes of 16 bits, and forms read such */
    const uint8_t *lookup; /* entries; NULL: none */
    bool loads;            /* the left side is looked up, in `load`: entries in its type */
    const uint8_t *load;
};

/* in[2]: zero points of the left side, in[3]: of the right; in[4] and so on: the epilogue's. */
enum { HG_IGEMM_ZERO_A = 2, HG_IGEMM_ZERO_B, HG_IGEMM_FIRST_EXTRA };

#define HG_IGEMM_CODES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

/* Zero points, the epilogue and the tables: `rows` and `columns` of the whole product;
 * form: number of the parameter. */
HG_MUST_CHECK holo_status hg_igemm_check(const hg_args *a, holo_error *e, int64_t rows,
                                         int64_t columns, uint32_t form);
/* Entries of the tables, NULL: none. */
const uint8_t *hg_igemm_lookup(const hg_args *a, uint32_t form);
const uint8_t *hg_igemm_load(const hg_args *a, uint32_t form);
/* The epilogue alone. */
HG_MUST_CHECK holo_status hg_igemm_check_end(const hg_args *a, holo_error *e);
/* Dims of the packed right side, `lead` of them before (panels, quads + 1, 64). */
HG_MUST_CHECK holo_status hg_igemm_check_packed(const hg_args *a, holo_error *e, int64_t columns,
                                                int64_t k);
void hg_igemm_cost(const hg_igemm *g, hg_cost *cost);
int64_t hg_igemm_units(const hg_igemm *g);
size_t hg_igemm_scratch(const hg_igemm *g, const hg_igemm_form *form);
void hg_igemm_run(const hg_igemm *g, const hg_igemm_form *form, hg_range r);
/* What becomes of the sums: nothing, a chain or lane code. */
typedef struct hg_igemm_end {
    const hg_args *args;
    const hg_igemm_form *form;
    hg_epilogue epilogue; /* with code */
    hg_finish finish;
    bool is_chain, requants;
    const uint8_t *lookup;
} hg_igemm_end;

/* scratch has hg_epilogue_scratch bytes. */
void hg_igemm_end_init(hg_igemm_end *end, const hg_args *a, const hg_igemm_form *form,
                       void *scratch);
void hg_igemm_end_run(const hg_igemm_end *end, const hg_epilogue_tile *tile);
/* The portable form. */
extern const hg_igemm_form hg_igemm_portable;

/* Zero point of a row of the left side, as an unsigned code. */
uint8_t hg_igemm_zero(const hg_args *a, int64_t row);
/* dst[i] = src[i] as an unsigned code. */
void hg_igemm_lift(uint8_t *dst, const uint8_t *src, int64_t count, bool is_signed);

#endif
