/* lookup.h - tables of keys: made when a model is compiled, searched by kernels.
 *
 * A table is [n] keys, each once (int64, float64 or text), and a power of two of slots, at least
 * one of them 0: slot hash, hash + 1 ... holds the number of a key + 1, up to the first 0. */
#ifndef HG_KERNEL_LOOKUP_H
#define HG_KERNEL_LOOKUP_H

#include "isa/kernel.h"

/* What is looked for, in the type of the keys. */
typedef struct hg_wanted {
    int64_t integer;
    double number;
    const holo_string *text;
    bool is_possible; /* some key could be equal to it */
} hg_wanted;

/* Keys, slots: types, ranks and sizes of a table, at in[i] and in[i + 1]. */
holo_status hg_table_check(const hg_args *a, holo_error *e, uint32_t i);
/* Element i of x (int16 to int64, float32, float64, text) for keys of that type. A float is looked
 * for among integers without its fraction; NaN and what int64 cannot hold are not among them. */
hg_wanted hg_wanted_at(const holo_tensor *x, int64_t i, holo_dtype keys);
/* Nothing lies further from its place: keys that were made to collide cannot make a search long. A
 * million keys in a table that is half full need fewer than a hundred. */
enum { HG_TABLE_PROBES = 1024 };
/* The number of the key, or -1. NaN is equal to NaN. When `free` is not NULL, it gets the slot
 * where the search ended. Whatever the slots hold, the search ends. */
int64_t hg_table_find(const holo_tensor *keys, const holo_tensor *slots, const hg_wanted *w,
                      int64_t *free);

#endif
