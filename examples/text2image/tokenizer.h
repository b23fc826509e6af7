/* tokenizer.h - text to the token numbers of tokenizer.json. */
#ifndef TEXT2IMAGE_TOKENIZER_H
#define TEXT2IMAGE_TOKENIZER_H

#include <hologram.h>

typedef struct tokenizer tokenizer;

/* Reads tokenizer.json; refuses one that asks for more than tokenizer.c does. */
holo_status tokenizer_new(const char *path, tokenizer **out, holo_error *error);
void tokenizer_free(tokenizer *t);

/* How many ids a prompt becomes, always. */
int64_t tokenizer_length(const tokenizer *t);

/* Writes tokenizer_length ids: begin, the tokens that fit, end, padding. */
holo_status tokenizer_encode(const tokenizer *t, const char *prompt, int64_t *ids,
                             holo_error *error);

#endif
