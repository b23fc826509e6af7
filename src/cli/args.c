/* args.c - reads the command line by an option table. */
#include "cli/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGS_MOST_OPTIONS = 64 };

typedef struct args_parser {
    const hg_cli_command *command;
    hg_cli_args *out;
    int argc, at;
    char **argv;
} args_parser;

/* Where a common option goes: the same table form, over hg_cli_args. */
const hg_cli_option hg_cli_common[] = {
    {"quiet", 'q', HG_CLI_FLAG, NULL, "print results and errors only",
     offsetof(hg_cli_args, cli.quiet)},
    {"verbose", 'v', HG_CLI_FLAG, NULL, "print more", offsetof(hg_cli_args, cli.verbose)},
    {"help", 'h', HG_CLI_FLAG, NULL, "print this page", offsetof(hg_cli_args, help)},
    {0},
};

static const hg_cli_option *args_find(const hg_cli_option *table, const char *name, size_t length,
                                      char letter)
{
    for (const hg_cli_option *o = table; o != NULL && o->name != NULL; o++) {
        if (letter != 0 && o->letter == letter) return o;
        if (letter == 0 && strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    }
    return NULL;
}

static int args_unknown(const args_parser *p, const char *arg, const char *name)
{
    const char *names[ARGS_MOST_OPTIONS];
    size_t n = 0;
    for (const hg_cli_option *o = p->command->options; o != NULL && o->name != NULL; o++)
        names[n++] = o->name;
    for (const hg_cli_option *o = hg_cli_common; o->name != NULL; o++)
        names[n++] = o->name;
    const char *near = name[0] != '\0' ? hg_cli_nearest(name, names, n) : NULL;
    if (near != NULL)
        return hg_cli_usage(&p->out->cli, p->command->name, "unknown option %s, did you mean --%s?",
                            arg, near);
    return hg_cli_usage(&p->out->cli, p->command->name, "unknown option %s", arg);
}

static bool args_choice(const char *choices, const char *value, int *out)
{
    size_t n = strlen(value);
    for (int i = 0;; i++) {
        size_t length = strcspn(choices, "|");
        if (length == n && memcmp(choices, value, n) == 0) {
            *out = i;
            return true;
        }
        if (choices[length] == '\0') return false;
        choices += length + 1;
    }
}

static bool args_count(const char *value, uint64_t *out)
{
    char *end;
    errno = 0;
    if (*value < '0' || *value > '9') return false;
    unsigned long long n = strtoull(value, &end, 10);
    *out = n;
    return errno == 0 && *end == '\0';
}

static bool args_number(const char *value, double *out)
{
    char *end;
    *out = strtod(value, &end);
    return end != value && *end == '\0';
}

/* Stores a value into the field of its option; false when it cannot be read. */
static bool args_store(const args_parser *p, const hg_cli_option *option, void *base,
                       const char *value)
{
    void *field = (char *)base + option->offset;
    hg_cli_list *list = field;
    switch (option->kind) {
    case HG_CLI_FLAG: *(bool *)field = true; return true;
    case HG_CLI_TEXT: *(const char **)field = value; return true;
    case HG_CLI_LIST:
        if (list->item == NULL) list->item = calloc((size_t)p->argc + 1, sizeof *list->item);
        if (list->item == NULL) return false;
        list->item[list->count++] = value;
        return true;
    case HG_CLI_COUNT: return args_count(value, field);
    case HG_CLI_SIZE: return hg_cli_parse_size(value, field);
    case HG_CLI_NUMBER: return args_number(value, field);
    case HG_CLI_CHOICE: return args_choice(option->value, value, field);
    }
    return false;
}

/* One option at argv[at], with its value behind '=', glued to the letter, or in the next word. */
static int args_option(args_parser *p)
{
    const char *arg = p->argv[p->at++], *name = arg + 1, *value = NULL;
    char letter = 0;
    size_t length;
    if (arg[1] == '-') {
        name = arg + 2;
        length = strcspn(name, "=");
        if (name[length] == '=') value = name + length + 1;
    } else {
        letter = arg[1];
        length = 1;
        if (arg[2] != '\0') value = arg + 2 + (arg[2] == '=');
    }
    void *base = p->out->values;
    const hg_cli_option *option = args_find(p->command->options, name, length, letter);
    if (option == NULL) {
        base = p->out;
        option = args_find(hg_cli_common, name, length, letter);
    }
    if (option == NULL) return args_unknown(p, arg, letter ? "" : name);
    if (option->kind == HG_CLI_FLAG && value != NULL)
        return hg_cli_usage(&p->out->cli, p->command->name, "option --%s takes no value",
                            option->name);
    if (option->kind != HG_CLI_FLAG && value == NULL) {
        if (p->at >= p->argc)
            return hg_cli_usage(&p->out->cli, p->command->name, "option --%s needs a value: %s",
                                option->name, option->value);
        value = p->argv[p->at++];
    }
    if (!args_store(p, option, base, value))
        return hg_cli_usage(&p->out->cli, p->command->name, "option --%s takes %s, not '%s'",
                            option->name, option->value, value);
    return HG_CLI_OK;
}

static int args_check_operands(const args_parser *p)
{
    const hg_cli *cli = &p->out->cli;
    const hg_cli_command *c = p->command;
    if (cli->n_operand < c->least)
        return hg_cli_usage(cli, c->name, "%s needs %s", c->name, c->operands);
    if (cli->n_operand > c->most)
        return hg_cli_usage(cli, c->name, "unexpected '%s'", cli->operand[c->most]);
    return HG_CLI_OK;
}

static bool args_color(int fd)
{
    const char *never = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && (never == NULL || never[0] == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}

int hg_cli_args_parse(const hg_cli_command *command, int argc, char **argv, hg_cli_args *out)
{
    args_parser p = {command, out, argc, 0, argv};
    *out = (hg_cli_args){0};
    out->cli.color_out = args_color(STDOUT_FILENO);
    out->cli.color_err = args_color(STDERR_FILENO);
    out->values = calloc(1, command->args_size == 0 ? 1 : command->args_size);
    out->cli.operand = calloc((size_t)argc + 1, sizeof *out->cli.operand);
    if (out->values == NULL || out->cli.operand == NULL) {
        hg_cli_error(NULL, "out of memory");
        return HG_CLI_USAGE;
    }
    if (command->defaults != NULL) memcpy(out->values, command->defaults, command->args_size);
    bool only_operands = false;
    while (p.at < argc) {
        const char *arg = argv[p.at];
        if (!only_operands && strcmp(arg, "--") == 0) {
            only_operands = true;
            p.at++;
        } else if (only_operands || arg[0] != '-' || arg[1] == '\0') {
            out->cli.operand[out->cli.n_operand++] = argv[p.at++];
        } else {
            int code = args_option(&p);
            if (code != HG_CLI_OK) return code;
        }
    }
    return out->help ? HG_CLI_OK : args_check_operands(&p);
}

void hg_cli_args_free(const hg_cli_command *command, hg_cli_args *args)
{
    for (const hg_cli_option *o = command->options; o != NULL && o->name != NULL; o++)
        if (o->kind == HG_CLI_LIST && args->values != NULL)
            free(((hg_cli_list *)((char *)args->values + o->offset))->item);
    free(args->values);
    free(args->cli.operand);
    *args = (hg_cli_args){0};
}
