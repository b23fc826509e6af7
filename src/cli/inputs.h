/* inputs.h - the inputs of a graph, from files, pictures and the deterministic generator. */
#ifndef HG_CLI_INPUTS_H
#define HG_CLI_INPUTS_H

#include "cli/cli.h"
#include "io/fill.h"

/* As the flags of `run`, `bench` and `compare` say. */
typedef struct hg_cli_input_options {
    const char *inputs; /* NAME:DTYPE:DIMS:FILL;... for all inputs, or NULL */
    hg_cli_list input;  /* NAME=FILE or NAME=FILL */
    hg_cli_list vary;   /* NAME=FILL: other numbers in each run */
    hg_cli_list dim;    /* NAME=4: size of a symbolic dimension */
    hg_cli_list shape;  /* NAME=1x3: shape of an input */
    const char *mean, *scale;
    uint64_t seed;
} hg_cli_input_options;

/* One tensor per input of the graph, in its order. */
typedef struct hg_cli_inputs {
    holo_tensor *tensor;
    uint32_t count;
} hg_cli_inputs;

/* Makes every input: what is not given is random. On failure a message was printed. */
int hg_cli_inputs_make(const hg_cli *cli, const holo_model *model, uint32_t graph,
                       const hg_cli_input_options *options, hg_cli_inputs *out);
/* New numbers for the inputs that vary, before run `turn` of a session they are bound to. */
int hg_cli_inputs_vary(const hg_cli *cli, const holo_model *model, uint32_t graph,
                       const hg_cli_input_options *options, uint64_t turn, hg_cli_inputs *inputs);
int hg_cli_inputs_bind(const hg_cli *cli, const hg_cli_inputs *inputs, holo_session *session);
void hg_cli_inputs_free(hg_cli_inputs *inputs);

/* "1x3x224x224", "" or "-" for a scalar; false when malformed. */
bool hg_cli_parse_shape(const char *text, int64_t dim[HOLO_MAX_RANK], int32_t *rank);

#endif
