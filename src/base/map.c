/* map.c - open addressing, linear probing, at most 3/4 full. */
#include "base/map.h"
#include "base/hash.h"

void hg_map_init(hg_map *map, hg_arena *arena)
{
    *map = (hg_map){.arena = arena};
}

static hg_map_slot *map_probe(hg_map_slot *slots, size_t capacity, hg_str key, uint64_t hash)
{
    for (size_t i = hash & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        hg_map_slot *s = &slots[i];
        if (s->value == 0 || (s->hash == hash && hg_str_equal(s->key, key))) return s;
    }
}

uint32_t hg_map_get(const hg_map *map, hg_str key)
{
    if (map->capacity == 0) return 0;
    return map_probe(map->slot, map->capacity, key, hg_hash(key.text, key.length, 0))->value;
}

static bool map_grow(hg_map *map)
{
    size_t capacity = map->capacity == 0 ? 32 : map->capacity * 2;
    hg_map_slot *slots = hg_arena_array(map->arena, capacity, sizeof *slots);
    if (slots == NULL) return false;
    for (size_t i = 0; i < map->capacity; i++) {
        const hg_map_slot *s = &map->slot[i];
        if (s->value != 0) *map_probe(slots, capacity, s->key, s->hash) = *s;
    }
    map->slot = slots;
    map->capacity = capacity;
    return true;
}

bool hg_map_set(hg_map *map, hg_str key, uint32_t value)
{
    if (map->count >= map->capacity / 4 * 3 && !map_grow(map)) return false;
    uint64_t hash = hg_hash(key.text, key.length, 0);
    hg_map_slot *s = map_probe(map->slot, map->capacity, key, hash);
    if (s->value == 0) map->count++;
    *s = (hg_map_slot){key, hash, value};
    return true;
}
