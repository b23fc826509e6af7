/* table.c - the kernel "table" as a lookup. */
#include "kernel/table.h"

#include "base/atlas.h"
#include "source/source.h"

#include <inttypes.h>

/* A table from bytes to their Atlas class, before the loops. */
static bool table_classes(hg_source *s)
{
    int64_t *class_of = hg_arena_array(s->arena, 256, sizeof *class_of);
    if (class_of == NULL) return hg_source_refuse(s, "out of memory");
    for (int i = 0; i < 256; i++)
        class_of[i] = hg_atlas_class((uint8_t)i);
    hg_source_table(s, "class_of", class_of, 256);
    return true;
}

static bool table_write(hg_source *s, const hg_args *a)
{
    const hg_table t = hg_table_of(a);
    const char *type = t.bits == 8 ? "uint8_t" : "uint16_t";
    hg_ctext at, entry;
    char codes[16], name[16];
    if (t.by_class && !table_classes(s)) return false;
    int levels = hg_source_for_dims(s, &a->out[0], 0, a->out[0].rank);
    hg_source_at(&at, &a->out[0], &a->out[0]);
    hg_source_in(s, 0, codes);
    if (t.by_class)
        hg_source_line(s, "const int32_t k = class_of[(%s)%s[%s]];", type, codes, at.text);
    else
        hg_source_line(s, "const int32_t k = (%s)%s[%s] - %" PRId64 ";", type, codes, at.text,
                       t.base);
    if (!t.by_class && (t.base != 0 || t.entries < INT64_C(1) << t.bits)) {
        s->faults[s->step] = 1;
        hg_source_line(s, "if (k < 0 || k >= %" PRId64 ") return 1;", t.entries);
    }
    hg_ctext_set(&entry, "k");
    hg_ctext row;
    hg_ctext_set(&row, "i%d", (int)a->param[HG_TABLE_AXIS]);
    hg_source_add(&entry, row.text, t.channels, t.entries);
    hg_source_line(s, "y0[%s] = %s[%s];", at.text, hg_source_in(s, 1, name), entry.text);
    hg_source_close(s, levels);
    return true;
}

const hg_source_kernel hg_source_kernels_table[] = {
    {"table", table_write},
    {0},
};
