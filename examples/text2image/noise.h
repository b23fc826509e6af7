/* noise.h - Gaussian noise from a seed. */
#ifndef TEXT2IMAGE_NOISE_H
#define TEXT2IMAGE_NOISE_H

#include <stddef.h>
#include <stdint.h>

/* count standard normal numbers; the same seed gives the same numbers on every machine. */
void noise_fill(uint64_t seed, float *out, size_t count);

#endif
