/* options.h - what the person asked for. */
#ifndef TEXT2IMAGE_OPTIONS_H
#define TEXT2IMAGE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct options {
    const char *prompt;
    const char *output;
    const char *models;    /* NULL: look for them */
    const char *assets;    /* NULL: look for them */
    const char *reference; /* NULL: draw */
    uint64_t seed;
    double guidance; /* below 0: as scheduler.json says */
    int32_t steps;   /* 0: as scheduler.json says */
    int32_t threads; /* 0: one for each processor, up to 8 */
    int32_t grid;
    bool help;
} options;

/* Reads the command line; on failure writes one sentence to `why` and returns false. */
bool options_parse(int argc, char **argv, options *out, char *why, size_t why_bytes);

void options_print_help(FILE *file);

#endif
