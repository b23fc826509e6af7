/* model.h - FILE[:GRAPH] of the command line as an open model. */
#ifndef HG_CLI_MODEL_H
#define HG_CLI_MODEL_H

#include "cli/cli.h"

typedef struct hg_cli_model_options {
    uint32_t compile_flags; /* for an .onnx file, which is compiled in memory */
    uint32_t open_flags;
    holo_numerics numerics;
    holo_limits limits;
} hg_cli_model_options;

typedef struct hg_cli_model {
    holo_model *model;
    uint32_t graph;
    void *compiled; /* an .onnx file's program; NULL for a .holo file */
    size_t compiled_bytes;
    char *path; /* without :GRAPH */
} hg_cli_model;

/* Opens the file and picks the graph. On failure a message was printed; returns the exit code. */
int hg_cli_model_open(const hg_cli *cli, const char *file, const hg_cli_model_options *options,
                      hg_cli_model *out);
/* The same without picking a graph, for commands about the whole file. */
int hg_cli_model_open_any(const hg_cli *cli, const char *file, const hg_cli_model_options *options,
                          hg_cli_model *out);
/* Opens the same file once more, for measuring. */
holo_status hg_cli_model_reopen(const hg_cli_model *m, const hg_cli_model_options *options,
                                holo_model **out, holo_error *error);
void hg_cli_model_close(hg_cli_model *m);

/* The kernels of libhologram_ext; NULL where it is not installed. */
const holo_kernels *hg_cli_extra(void);

bool hg_cli_is_onnx(const char *path);
/* A name for C from that of a file: "dir/my-model.v2.holo" gives my_model_v2, to be freed. NULL
 * without memory. */
char *hg_cli_symbol(const char *path);

/* A pool of `threads`, NULL in *out when one thread is enough. Returns the exit code. */
int hg_cli_pool_new(const hg_cli *cli, uint64_t threads, holo_pool **out);

#endif
