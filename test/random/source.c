/* source.c - where random choices come from: the bytes of a fuzzer, then a generator. */
#include "random/random.h"

rnd_source rnd_from_seed(uint64_t seed)
{
    return (rnd_source){.state = seed};
}

rnd_source rnd_from_bytes(const uint8_t *data, size_t size)
{
    rnd_source s = {.data = data, .size = size};
    for (size_t i = 0; i < size && i < 8; i++)
        s.state |= (uint64_t)data[i] << (8 * i);
    /* Eight bytes or fewer are a seed. */
    if (size <= 8) s.size = 0;
    return s;
}

static uint64_t source_next(rnd_source *s)
{
    uint64_t z = s->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t rnd_below(rnd_source *s, uint32_t n)
{
    if (n == 0) return 0;
    if (s->size >= 2) {
        uint32_t two = s->data[0] | (uint32_t)s->data[1] << 8;
        s->data += 2;
        s->size -= 2;
        return two % n;
    }
    return (uint32_t)((source_next(s) >> 32) % n);
}

bool rnd_chance(rnd_source *s, uint32_t percent)
{
    return rnd_below(s, 100) < percent;
}
