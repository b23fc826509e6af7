/* byteops.c - the kernel "byteops" as a lookup of what its program makes of each code. */
#include "kernel/byteops.h"

#include "source/source.h"

#include <inttypes.h>

static bool byteops_write(hg_source *s, const hg_args *a)
{
    const int64_t base = a->param[HG_BYTEOPS_BASE], entries = a->param[HG_BYTEOPS_ENTRIES];
    int64_t made[256];
    hg_byteops program;
    hg_ctext at;
    char codes[16];
    if (a->in[1].data == NULL || !hg_byteops_read(a->in[1].data, (size_t)a->in[1].dim[0], &program))
        return hg_source_refuse(s, "its program is no constant");
    for (int i = 0; i < 256; i++)
        made[i] = hg_byteops_at(&program, (uint8_t)i);
    hg_source_table(s, "made", made, 256);
    int levels = hg_source_for_dims(s, &a->out[0], 0, a->out[0].rank);
    hg_source_at(&at, &a->out[0], &a->out[0]);
    hg_source_line(s, "const int32_t k = (uint8_t)%s[%s];", hg_source_in(s, 0, codes), at.text);
    if (entries < 256) {
        s->faults[s->step] = 1;
        hg_source_line(s, "if (k < %" PRId64 " || k >= %" PRId64 ") return 1;", base,
                       base + entries);
    }
    hg_source_line(s, "y0[%s] = (%s)made[k];", at.text, hg_source_ctype(a->out[0].dtype));
    hg_source_close(s, levels);
    return true;
}

const hg_source_kernel hg_source_kernels_byteops[] = {
    {"byteops", byteops_write},
    {0},
};
