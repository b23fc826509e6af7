/* unicode.h - what a byte-level tokenizer must know about characters, without a locale. */
#ifndef TEXT2IMAGE_UNICODE_H
#define TEXT2IMAGE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The classes that the pre-tokenizer tells apart: \p{L}, \p{N}, \s and the rest. */
typedef enum unicode_class {
    UNICODE_OTHER,
    UNICODE_LETTER,
    UNICODE_NUMBER,
    UNICODE_SPACE
} unicode_class;

/* Reads the code point at *at and moves *at behind it; false when the bytes are not UTF-8. */
bool unicode_decode(const char *text, size_t size, size_t *at, uint32_t *out);

/* Writes code as UTF-8 and returns the number of bytes, 1 to 4. */
size_t unicode_encode(uint32_t code, uint8_t out[4]);

unicode_class unicode_class_of(uint32_t code);

/* Lower case of one code point by itself; returns how many code points that is, 1 or 2. */
size_t unicode_lower(uint32_t code, uint32_t out[2]);

#endif
