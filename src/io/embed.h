/* embed.h - bytes as something a linker takes: C source, its header, or an object file.
 *
 * All three agree on `const unsigned char NAME[]`, at an address divisible by 64 as
 * holo_model_open_memory asks, and `const size_t NAME_size`. */
#ifndef HG_IO_EMBED_H
#define HG_IO_EMBED_H

#include "base/base.h"

typedef struct hg_io_embed {
    const char *symbol; /* a C identifier */
    const uint8_t *data;
    size_t size;
} hg_io_embed;

/* The numbers of ELF. */
typedef enum hg_io_machine { HG_IO_X86_64 = 62, HG_IO_AARCH64 = 183 } hg_io_machine;

/* A letter or '_', then letters, digits and '_'; no word of C or C++. */
bool hg_io_embed_is_symbol(const char *text);

/* False when the sink refused. */
bool hg_io_embed_source(const hg_io_embed *embed, holo_sink_fn sink, void *user);
bool hg_io_embed_header(const hg_io_embed *embed, holo_sink_fn sink, void *user);
/* A relocatable ELF file, 64 bits, little-endian. */
bool hg_io_embed_object(const hg_io_embed *embed, hg_io_machine machine, holo_sink_fn sink,
                        void *user);

#endif
