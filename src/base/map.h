/* map.h - string to uint32 hash map in an arena. */
#ifndef HG_BASE_MAP_H
#define HG_BASE_MAP_H

#include "base/str.h"

typedef struct hg_map_slot {
    hg_str key;
    uint64_t hash;
    uint32_t value; /* 0: empty slot */
} hg_map_slot;

typedef struct hg_map {
    hg_arena *arena;
    hg_map_slot *slot;
    size_t capacity; /* power of two or 0 */
    size_t count;
} hg_map;

void hg_map_init(hg_map *map, hg_arena *arena);
/* Value of the key, 0 when absent. */
uint32_t hg_map_get(const hg_map *map, hg_str key);
/* Sets key to value (not 0); the key's text is borrowed. False when memory is exhausted. */
HG_MUST_CHECK bool hg_map_set(hg_map *map, hg_str key, uint32_t value);

#endif
