/* late.c - first fit in a few chunks. No bookkeeping grows during a run: there is one piece per
 * late buffer and a few for the loop that runs, and their number is known when the session is made.
 */
#include "runtime/late.h"

#include "base/base.h"

#include <string.h>

holo_status hg_late_add(hg_late *late, const holo_allocator *alloc, size_t bytes, holo_error *e)
{
    if (late->n_chunk == HG_LATE_CHUNKS)
        return hg_fail(e, HOLO_E_SPACE,
                       "the region for data-dependent results is in %d pieces already",
                       HG_LATE_CHUNKS);
    hg_late_chunk chunk = {.bytes = hg_align_up(bytes, HG_ALIGN)};
    chunk.data = hg_alloc_aligned(alloc, chunk.bytes, &chunk.base);
    if (chunk.data == NULL) return hg_fail_nomem(e, chunk.bytes);
    late->chunk[late->n_chunk++] = chunk;
    late->bytes += chunk.bytes;
    return HOLO_OK;
}

void hg_late_free(hg_late *late, const holo_allocator *alloc)
{
    for (uint32_t i = 0; i < late->n_chunk; i++)
        if (late->chunk[i].base != NULL)
            hg_free(alloc, late->chunk[i].base, late->chunk[i].bytes + HG_ALIGN);
    late->n_chunk = 0;
}

void hg_late_reset(hg_late *late)
{
    late->n_piece = 0;
}

static void late_release(hg_late *late, uint32_t now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < late->n_piece; i++)
        if (late->piece[i].last >= now) late->piece[kept++] = late->piece[i];
    late->n_piece = kept;
}

static void *late_insert(hg_late *late, uint32_t at, hg_late_piece piece)
{
    memmove(&late->piece[at + 1], &late->piece[at], (late->n_piece - at) * sizeof piece);
    late->piece[at] = piece;
    late->n_piece++;
    return late->chunk[piece.chunk].data + piece.offset;
}

void *hg_late_take(hg_late *late, size_t bytes, uint32_t now, uint32_t last)
{
    late_release(late, now);
    if (late->n_piece >= late->max_piece) return NULL;
    if (bytes == 0) bytes = 1; /* empty results still get an address */
    uint32_t i = 0;
    for (uint32_t c = 0; c < late->n_chunk; c++) {
        size_t at = 0;
        for (; i < late->n_piece && late->piece[i].chunk == c; i++) {
            if (late->piece[i].offset - at >= bytes)
                return late_insert(late, i, (hg_late_piece){at, bytes, c, last});
            at = hg_align_up(late->piece[i].offset + late->piece[i].bytes, HG_ALIGN);
        }
        if (late->chunk[c].bytes >= at && late->chunk[c].bytes - at >= bytes)
            return late_insert(late, i, (hg_late_piece){at, bytes, c, last});
    }
    return NULL;
}

void hg_late_drop(hg_late *late, const void *data)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < late->n_piece; i++) {
        const hg_late_piece *p = &late->piece[i];
        if (late->chunk[p->chunk].data + p->offset != data) late->piece[kept++] = *p;
    }
    late->n_piece = kept;
}
