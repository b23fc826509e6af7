/* tokenizer_model.h - what tokenizer_load.c reads and tokenizer.c uses. */
#ifndef TEXT2IMAGE_TOKENIZER_MODEL_H
#define TEXT2IMAGE_TOKENIZER_MODEL_H

#include "tokenizer.h"

#include <jansson.h>

enum { TOKENIZER_MAX_ADDED = 16, TOKENIZER_MAX_ID = 1 << 24 };

/* Two neighbours that become one token; the lowest rank goes first. made < 0: an empty slot. */
typedef struct tokenizer_merge {
    int32_t left;
    int32_t right;
    int32_t rank;
    int32_t made;
} tokenizer_merge;

/* A token that is found in the text as it stands, before anything else: "<eos>". */
typedef struct tokenizer_added {
    const char *text; /* borrowed from root */
    size_t size;
    int32_t id;
} tokenizer_added;

struct tokenizer {
    json_t *root;
    int32_t byte_id[256]; /* the token of each single byte */
    tokenizer_merge *merges;
    uint32_t slots; /* a power of two */
    tokenizer_added added[TOKENIZER_MAX_ADDED];
    size_t n_added;
    int64_t length;
    int32_t begin;
    int32_t end;
    int32_t pad;
};

/* The slot that holds (left, right), or the empty one where it would be. */
tokenizer_merge *tokenizer_slot(const tokenizer *t, int32_t left, int32_t right);

#endif
