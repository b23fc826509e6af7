/* same.h - do repeated runs give the same bits, with any number of threads? */
#ifndef HG_CLI_SAME_H
#define HG_CLI_SAME_H

#include "cli/inputs.h"
#include "cli/model.h"

/* Runs the model `runs` times each with 1, 2 and 4 threads, each number of threads with a session
 * of its own, and compares every output of every run with that of the first. Prints a line; returns
 * the exit code, not HG_CLI_OK when a bit differs. */
int hg_cli_same(const hg_cli *cli, const hg_cli_model *model, const hg_cli_inputs *inputs,
                uint64_t runs);

#endif
