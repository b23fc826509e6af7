/* commands.h - the commands, one file each: cmd_<name>.c. */
#ifndef HG_CLI_COMMANDS_H
#define HG_CLI_COMMANDS_H

#include "cli/cli.h"

extern const hg_cli_command hg_cmd_compile;
extern const hg_cli_command hg_cmd_run;
extern const hg_cli_command hg_cmd_compare;
extern const hg_cli_command hg_cmd_bench;
extern const hg_cli_command hg_cmd_inspect;
extern const hg_cli_command hg_cmd_verify;
extern const hg_cli_command hg_cmd_prove;
extern const hg_cli_command hg_cmd_embed;
extern const hg_cli_command hg_cmd_ops;
extern const hg_cli_command hg_cmd_passes;
extern const hg_cli_command hg_cmd_atlas;
extern const hg_cli_command hg_cmd_version;
extern const hg_cli_command hg_cmd_completions;
extern const hg_cli_command hg_cmd_man;

#endif
