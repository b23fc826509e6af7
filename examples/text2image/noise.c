/* noise.c - Gaussian noise from a seed: splitmix64 and Box-Muller. */
#include "noise.h"

#include <math.h>

static uint64_t noise_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

/* In (0, 1], so that its logarithm is finite. */
static double noise_uniform(uint64_t *state)
{
    return ((double)(noise_next(state) >> 11) + 1) / 9007199254740992.0; /* 2^53 */
}

/* To a multiple of 2^-16: maths libraries differ in the last bits of log, sin and cos. */
static float noise_round(double value)
{
    return (float)(nearbyint(value * 65536) / 65536);
}

void noise_fill(uint64_t seed, float *out, size_t count)
{
    const double two_pi = 6.283185307179586;
    uint64_t state = seed;
    for (size_t i = 0; i < count; i += 2) {
        const double radius = sqrt(-2 * log(noise_uniform(&state)));
        const double angle = two_pi * noise_uniform(&state);
        out[i] = noise_round(radius * cos(angle));
        if (i + 1 < count) out[i + 1] = noise_round(radius * sin(angle));
    }
}
