/* table_copy.c - table.copy with AVX2: pixels are looked up in registers. */
#include "backend/cpu/move.h"

#include "backend/cpu/avx2/table_whole.h"

typedef struct table_copy_look {
    __m256i part[3][16];
    const uint8_t *entry;
    int step; /* from a channel to the next: 0 where one row is for all */
} table_copy_look;

static_assert(sizeof(table_copy_look) <= HG_TABLE_COPY_LOOK, "it fits the scratch memory");

HG_INLINE __m256i table_copy_at(const void *user, int c, __m256i v)
{
    const table_copy_look *look = user;
    const __m256i *part = look->part[c * look->step];
    return table_whole(part, v);
}

HG_INLINE uint8_t table_copy_byte(const void *user, int c, uint8_t code)
{
    const table_copy_look *look = user;
    return look->entry[c * look->step * 256 + code];
}

#define PIXELS_NAME table_copy_pixels
#define pixels_look table_copy_at
#define pixels_byte table_copy_byte
#include "backend/cpu/pixels.inc"

static void table_copy_prepare(const hg_table *t, void *scratch)
{
    table_copy_look *look = scratch;
    look->entry = t->entry;
    look->step = t->channels > 1;
    for (int64_t c = 0; c < t->channels; c++)
        table_quarters(t->entry + 256 * c, look->part[c]);
}

static const hg_table_copy_form table_copy_form = {.pixels = table_copy_pixels,
                                                   .prepare = table_copy_prepare,
                                                   .copy = hg_copy_tile_avx2,
                                                   .block = hg_table_block_avx2};

static void table_copy_run(const hg_args *a, hg_range r)
{
    hg_table_copy_run(a, r, &table_copy_form);
}

const hg_kernel hg_kernels_table_copy_avx2[] = {
    {.name = "table.copy",
     .cpu = HG_CPU_AVX2,
     .check = hg_table_copy_check,
     .units = hg_table_copy_units,
     .scratch = hg_table_copy_scratch,
     .run = table_copy_run},
    {0},
};
