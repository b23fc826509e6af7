/* samples.h - a folder of .npy files as inputs of several runs. */
#ifndef HG_CLI_SAMPLES_H
#define HG_CLI_SAMPLES_H

#include "cli/cli.h"

typedef struct hg_cli_samples {
    holo_sample *sample;
    size_t count;
} hg_cli_samples;

/* FOLDER/ANY.npy is one run of a model with one input, FOLDER/ANY/INPUT.npy are the inputs of one
 * run by their names; both sorted by name. On failure a message was printed. */
int hg_cli_samples_read(const hg_cli *cli, const char *folder, hg_cli_samples *out);
void hg_cli_samples_free(hg_cli_samples *samples);

#endif
