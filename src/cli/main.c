/* main.c - the `hologram` command: finds the command, reads its options, runs it. */
#include "cli/args.h"
#include "cli/commands.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

const hg_cli_command *const hg_cli_commands[] = {
    &hg_cmd_compile, &hg_cmd_run,     &hg_cmd_compare,     &hg_cmd_bench, &hg_cmd_inspect,
    &hg_cmd_embed,   &hg_cmd_verify,  &hg_cmd_prove,       &hg_cmd_ops,   &hg_cmd_passes,
    &hg_cmd_atlas,   &hg_cmd_version, &hg_cmd_completions, &hg_cmd_man,   NULL,
};

static const hg_cli_command *main_find(const char *name)
{
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    return NULL;
}

static int main_unknown(const char *name)
{
    const char *names[HG_COUNT(hg_cli_commands)];
    size_t n = 0;
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++)
        names[n++] = (*c)->name;
    const char *near = hg_cli_nearest(name, names, n);
    if (near != NULL)
        return hg_cli_usage(NULL, "", "unknown command '%s', did you mean '%s'?", name, near);
    return hg_cli_usage(NULL, "", "unknown command '%s'", name);
}

static int main_run(const hg_cli_command *command, int argc, char **argv)
{
    hg_cli_args args;
    int code = hg_cli_args_parse(command, argc, argv, &args);
    if (code == HG_CLI_OK && args.help)
        hg_cli_help_command(stdout, command);
    else if (code == HG_CLI_OK)
        code = command->run(&args.cli, args.values);
    hg_cli_args_free(command, &args);
    return code;
}

int main(int argc, char **argv)
{
    int code;
    hg_cli_catch_signals();
    if (argc < 2) {
        hg_cli_help_all(stderr);
        return HG_CLI_USAGE;
    }
    const char *name = argv[1];
    bool is_help =
        strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    const hg_cli_command *command = main_find(strcmp(name, "--version") == 0 ? "version" : name);
    if (is_help && argc > 2) command = main_find(argv[2]);
    if (command == NULL && (!is_help || argc > 2)) return main_unknown(is_help ? argv[2] : name);
    if (is_help) {
        if (command != NULL)
            hg_cli_help_command(stdout, command);
        else
            hg_cli_help_all(stdout);
        code = HG_CLI_OK;
    } else {
        code = main_run(command, argc - 2, argv + 2);
    }
    /* A full disk behind a redirection must not pass for success. */
    if (fflush(stdout) != 0 || ferror(stdout))
        code = hg_cli_error(NULL, "cannot write standard output: %s", strerror(errno));
    int signal_number = hg_cli_interrupted();
    if (signal_number != 0) {
        signal(signal_number, SIG_DFL); /* so that the shell sees what ended us */
        raise(signal_number);
    }
    return code;
}
