/* profile.h - time per step and per kernel, gathered by tracing runs. */
#ifndef HG_CLI_PROFILE_H
#define HG_CLI_PROFILE_H

#include "cli/cli.h"
#include "cli/peak.h"

typedef struct hg_cli_profile_entry {
    char *node, *kernel;
    double seconds, flops, bytes;
    uint64_t calls;
} hg_cli_profile_entry;

typedef struct hg_cli_profile {
    hg_cli_profile_entry *entry; /* by step index */
    size_t count;
    uint64_t runs;
    hg_cli_peak peak; /* of the machine, for the share of it that each step reaches */
    bool failed;      /* out of memory */
} hg_cli_profile;

/* A holo_trace_fn; user is the hg_cli_profile. */
void hg_cli_profile_trace(void *user, const holo_step_info *step);
/* A table of steps, slowest first, and a summary per kernel; times are per run. */
void hg_cli_profile_print(FILE *out, hg_cli_profile *profile);
void hg_cli_profile_free(hg_cli_profile *profile);

#endif
