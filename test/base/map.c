/* map.c - string to number: many keys, replacement, memory. */
#include "base/map.h"
#include "test.h"

static void map_holds_many(void)
{
    hg_arena arena;
    hg_map map;
    hg_arena_init(&arena, NULL, 0);
    hg_map_init(&map, &arena);
    CHECK_EQ_INT(hg_map_get(&map, hg_str_from("k")), 0);
    for (uint32_t i = 1; i <= 5000; i++) {
        CHECK(hg_map_set(&map, hg_str_format(&arena, "key %u", i), i));
        CHECK_EQ_INT(map.count, i);
    }
    for (uint32_t i = 1; i <= 5000; i++)
        CHECK_EQ_INT(hg_map_get(&map, hg_str_format(&arena, "key %u", i)), i);
    CHECK_EQ_INT(hg_map_get(&map, hg_str_from("key 5001")), 0);
    CHECK_EQ_INT(hg_map_get(&map, hg_str_from("key")), 0);
    hg_arena_deinit(&arena);
}

static void map_replaces(void)
{
    hg_arena arena;
    hg_map map;
    hg_arena_init(&arena, NULL, 0);
    hg_map_init(&map, &arena);
    for (uint32_t i = 1; i < 200; i++)
        CHECK(hg_map_set(&map, hg_str_from("one"), i));
    CHECK(hg_map_set(&map, (hg_str){0}, 7));
    CHECK(hg_map_set(&map, (hg_str){"a\0b", 3}, 8));
    CHECK(hg_map_set(&map, (hg_str){"a\0c", 3}, 9));
    CHECK_EQ_INT(map.count, 4);
    CHECK_EQ_INT(hg_map_get(&map, hg_str_from("one")), 199);
    CHECK_EQ_INT(hg_map_get(&map, hg_str_from("")), 7);
    CHECK_EQ_INT(hg_map_get(&map, (hg_str){"a\0b", 3}), 8);
    hg_arena_deinit(&arena);
}

static void map_out_of_memory(void)
{
    hg_arena arena;
    hg_map map;
    static char key[4096][8];
    uint32_t stored = 0;
    hg_arena_init(&arena, NULL, 20000);
    hg_map_init(&map, &arena);
    for (uint32_t i = 0; i < 4096; i++) {
        memcpy(key[i], &i, sizeof i);
        if (!hg_map_set(&map, (hg_str){key[i], 4}, i + 1)) break;
        stored++;
    }
    CHECK(stored > 0 && stored < 4096);
    for (uint32_t i = 0; i < stored; i++)
        CHECK_EQ_INT(hg_map_get(&map, (hg_str){key[i], 4}), i + 1);
    CHECK_EQ_INT(hg_map_get(&map, (hg_str){key[stored], 4}), 0);
    hg_arena_deinit(&arena);
}

const hg_test_case hg_tests_base_map[] = {
    {"holds_many", map_holds_many},
    {"replaces", map_replaces},
    {"out_of_memory", map_out_of_memory},
    {0},
};
