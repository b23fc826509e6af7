/* caches.h - pasts and presents of a decoder that are one buffer each, as `bench --cache` says. */
#ifndef HG_CLI_CACHES_H
#define HG_CLI_CACHES_H

#include "cli/inputs.h"

typedef struct hg_cli_cache {
    uint32_t input, output;
    int32_t axis;       /* of time */
    int64_t length;     /* rows of the input */
    holo_tensor buffer; /* with room for more */
} hg_cli_cache;

typedef struct hg_cli_caches {
    hg_cli_cache *item;
    size_t count;
} hg_cli_caches;

/* One buffer for every input and output that an item PAST=PRESENT of the list names, which holds
 * the rows of the input. A * in both stands for the same text. On failure a message was printed. */
int hg_cli_caches_make(const hg_cli *cli, const holo_model *model, uint32_t graph,
                       const hg_cli_list *pairs, const hg_cli_inputs *inputs, hg_cli_caches *out);
/* After the inputs. */
int hg_cli_caches_bind(const hg_cli *cli, const hg_cli_caches *caches, holo_session *session);
void hg_cli_caches_free(hg_cli_caches *caches);

#endif
