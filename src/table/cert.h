/* cert.h - certificates: what was proved when a file was compiled, as text that can be checked.
 *
 *     certificate "conv1"
 *     at 4096 256 hash 93f0a1...           bytes of the weights section
 *     table uint8 -> uint8 base 0 entries 256 rows 1 classes 0
 *     graph chain(%codes: uint8[1,256]) {  the chain in text form, unfused
 *       ...
 *     }
 *     range 0 127                          only when narrowed: the codes that can come
 *     graph producer(...) {                and the nodes that show it
 *       ...
 *     }
 *     end
 *
 *     certificate "relu1"                  the same of a program of byte operations
 *     at 4416 5 hash 41...
 *     program int8 -> int8 base 0 entries 256 rows 1 classes 0
 *     graph chain(...) { ... }
 *     end
 *
 *     certificate "fc1"
 *     at 8192 65536 hash 5c...
 *     product k 256 input_max 255 weight_max 127 pair_max 128 panel 4160 used 4096
 *     end
 *
 *     certificate "fc2"                    codes of 1 to 8 bits in panels (kernel/matmul_bits.h)
 *     at 12288 2048 hash 1d...
 *     bits kind 4 group 32 input_max 127 weight_max 8
 *     end
 *
 *     certificate "embedding"              constants that are stored as palette and codes
 *     at 16384 400 hash 77...
 *     palette uint8 -> float32 values 100 count 65536 original 5e...
 *     codes 20480 65536
 *     end
 *
 * The section is these texts, one after the other. */
#ifndef HG_TABLE_CERT_H
#define HG_TABLE_CERT_H

#include "op/op_bits.h"
#include "table/table.h"

/* A sum of k products of |input| <= input_max and |weight| <= weight_max, all integers, fits 32
 * bits; pair_max, when not 0: |w[2i]| + |w[2i+1]| is at most that for all bytes, so that two
 * products of bytes fit 16 bits. Of every `panel` bytes, an even number, the first `used` are
 * weights; panel 0: all are. column_max, when not 0: the panels have 16 columns and 4 of k, and the
 * sizes of the weights of a column are at most that together, which bounds the sum instead of k and
 * weight_max. */
typedef struct hg_cert_bound {
    int64_t k, input_max, weight_max, pair_max, panel, used, column_max;
} hg_cert_bound;

/* Sums of one group of codes in panels: every weight that a code of the kind stands for is at most
 * weight_max, so that two products fit 16 bits and all of a group 32. */
typedef struct hg_cert_bits {
    int64_t kind, group, input_max, weight_max;
} hg_cert_bits;

/* For the table that `value` holds. */
HG_MUST_CHECK holo_status hg_cert_add_table(hg_graph *g, hg_value_id value, hg_node_id node,
                                            hg_str text);
/* For the 8-bit weights, signed, that `value` holds, packed or not. */
HG_MUST_CHECK holo_status hg_cert_add_product(hg_graph *g, hg_value_id value, hg_node_id node,
                                              const hg_cert_bound *bound);
/* The same for codes in panels of 16 columns and 4 of k, and for those of a depthwise convolution,
 * of which k are a product: what the kernels rely on, whatever the left side and the zero points
 * are. None for sums so long that they may wrap, as the operators say. */
HG_MUST_CHECK holo_status hg_cert_add_panels(hg_graph *g, hg_value_id packed, hg_node_id node,
                                             int64_t k, bool pairs);
/* The same for inputs of 16 bits. */
HG_MUST_CHECK holo_status hg_cert_add_wide_panels(hg_graph *g, hg_value_id packed, hg_node_id node,
                                                  int64_t k);
/* The most that sizes of a column's weights may be together for those. */
enum { HG_CERT_WIDE_COLUMN = INT32_MAX / 32768 };
HG_MUST_CHECK holo_status hg_cert_add_depthwise(hg_graph *g, hg_value_id packed, hg_node_id node,
                                                int64_t k);
/* For codes that matmul.bits reads. */
HG_MUST_CHECK holo_status hg_cert_add_bits(hg_graph *g, hg_value_id codes, hg_node_id node,
                                           hg_bits_kind kind, int64_t group);
/* For `values`, which `count` codes stand for; decoded, the bytes have this hash: that of pieces of
 * HG_CERT_PIECE bytes, each hashed with the one before as its seed. */
enum { HG_CERT_PIECE = 1 << 14 };
HG_MUST_CHECK holo_status hg_cert_add_palette(hg_graph *g, hg_node_id node, hg_value_id codes,
                                              hg_value_id values, int64_t count, uint64_t original);
/* "table ..." with the text of the chain, and of the producer when there is one. */
HG_MUST_CHECK holo_status hg_cert_table_text(hg_arena *arena, const hg_chain *c,
                                             const hg_entries *t, hg_str chain, hg_alphabet range,
                                             hg_str producer, hg_str *out);
/* The text of a table's certificate for a program that says the same of these codes. */
HG_MUST_CHECK holo_status hg_cert_program_text(hg_ctx *ctx, hg_str table, holo_dtype from,
                                               holo_dtype to, hg_alphabet codes, hg_str *out);
/* The whole certificate as it stands in the file. */
HG_MUST_CHECK holo_status hg_cert_store(hg_ctx *ctx, const hg_cert *cert, uint64_t offset,
                                        uint64_t bytes, uint64_t hash, hg_str *out);

/* ---- reading ---------------------------------------------------------------------------------
 */

typedef struct hg_cert_view {
    hg_str label;
    uint64_t offset, bytes, hash;
    hg_str
        claim; /* the line "table ...", "program ...", "palette ...", "bits ..." or "product ..." */
    hg_str chain, range, producer;
    uint64_t low, high;  /* of the range */
    holo_dtype from, to; /* of a table or program */
    int64_t rows, entries, base, classes;
    hg_cert_bound bound; /* of a product */
    hg_cert_bits bits;   /* of codes in panels */
    bool is_bits;
    bool is_table;                      /* or a program */
    bool is_program;                    /* its bytes are one (isa/byteops.h) */
    bool is_palette;                    /* `entries` values for `rows` codes */
    uint64_t codes_offset, codes_bytes; /* of its codes */
    uint64_t original;                  /* hash of what they decode to */
} hg_cert_view;

/* The next certificate of the section; false at its end. E_FORMAT when it is malformed. */
HG_MUST_CHECK holo_status hg_cert_next(hg_str *rest, hg_cert_view *out, bool *more, holo_error *e);
/* E_DATA with the reason when the certificate does not hold for the weights. */
HG_MUST_CHECK holo_status hg_cert_prove(const hg_cert_view *v, const uint8_t *weights,
                                        uint64_t weight_bytes, holo_error *e);

#endif
