/* args.h - reads the command line by an option table. */
#ifndef HG_CLI_ARGS_H
#define HG_CLI_ARGS_H

#include "cli/cli.h"

typedef struct hg_cli_args {
    void *values; /* of command->args_size bytes */
    hg_cli cli;
    bool help;
} hg_cli_args;

/* argv starts behind the command's name. Returns HG_CLI_OK, or HG_CLI_USAGE after a message. End
 * with hg_cli_args_free in both cases. */
int hg_cli_args_parse(const hg_cli_command *command, int argc, char **argv, hg_cli_args *out);
void hg_cli_args_free(const hg_cli_command *command, hg_cli_args *args);

/* The list of all commands, and the page of one. */
void hg_cli_help_all(FILE *out);
void hg_cli_help_command(FILE *out, const hg_cli_command *command);

#endif
