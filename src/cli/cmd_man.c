/* cmd_man.c - hologram man: the manual page in roff, from the option tables. */
#include "cli/commands.h"

#include <string.h>

/* Text for roff: a backslash is doubled, a dash stays a dash, a dot does not start a request. */
static void man_text(const char *text)
{
    bool at_start = true;
    for (; *text != '\0'; text++) {
        if (at_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        at_start = *text == '\n';
    }
}

static void man_options(const hg_cli_option *table)
{
    for (const hg_cli_option *o = table; o != NULL && o->name != NULL; o++) {
        fputs(".TP\n\\fB", stdout);
        if (o->letter) printf("\\-%c\\fR, \\fB", o->letter);
        fputs("\\-\\-", stdout);
        man_text(o->name);
        fputs("\\fR", stdout);
        if (o->value != NULL) {
            fputs(" \\fI", stdout);
            man_text(o->value);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        man_text(o->brief);
        putchar('\n');
    }
}

static void man_command(const hg_cli_command *c)
{
    fputs(".SS \"hologram ", stdout);
    man_text(c->name);
    if (c->operands[0] != '\0') putchar(' ');
    man_text(c->operands);
    fputs("\"\n", stdout);
    man_text(c->brief);
    putchar('\n');
    if (c->details != NULL) {
        puts(".PP");
        man_text(c->details);
        putchar('\n');
    }
    man_options(c->options);
    fputs(".PP\nExample:\n.PP\n.nf\n", stdout);
    man_text(c->example);
    puts("\n.fi");
}

static int man_run(const hg_cli *cli, const void *args)
{
    (void)cli;
    (void)args;
    printf(".TH HOLOGRAM 1 \"\" \"hologram %s\" \"User Commands\"\n", holo_version());
    puts(".SH NAME\nhologram \\- compile a model into one file and run it\n"
         ".SH SYNOPSIS\n.B hologram\n.I COMMAND\n[arguments]\n"
         ".SH DESCRIPTION\n"
         "Hologram turns a model into one file (.holo) that a small runtime maps and runs.\n"
         ".SH COMMANDS");
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++)
        man_command(*c);
    puts(".SH COMMON OPTIONS");
    man_options(hg_cli_common);
    puts(".SH EXIT STATUS\n0 right, 1 the model or input is at fault, 2 wrong usage.\n"
         ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhen set, nothing is coloured");
    return HG_CLI_OK;
}

const hg_cli_command hg_cmd_man = {
    .name = "man",
    .operands = "",
    .brief = "Print the manual page.",
    .example = "hologram man > hologram.1",
    .run = man_run,
};
