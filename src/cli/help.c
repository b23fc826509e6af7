/* help.c - the help pages, from the option tables. */
#include "cli/args.h"

#include <string.h>

/* Prints text with every line indented and wrapped at 80 columns. */
static void help_wrap(FILE *out, const char *text, int indent)
{
    int column = 0;
    while (*text != '\0') {
        size_t n = strcspn(text, " \n");
        if (column > 0 && column + 1 + (int)n > 80 - indent) {
            putc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%*s%.*s", column == 0 ? indent : 1, "", (int)n, text);
        if (column <= indent + (int)n) column -= indent;
        text += n;
        if (*text == '\n') {
            putc('\n', out);
            column = 0;
        }
        if (*text != '\0') text++;
    }
    putc('\n', out);
}

static void help_option(FILE *out, const hg_cli_option *o)
{
    enum { COLUMN = 30 };
    int n = o->letter != 0 ? fprintf(out, "  -%c, --%s", o->letter, o->name)
                           : fprintf(out, "      --%s", o->name);
    if (o->value != NULL) n += fprintf(out, " %s", o->value);
    if (n >= COLUMN) {
        putc('\n', out);
        n = 0;
    }
    fprintf(out, "%*s%s\n", COLUMN - n, "", o->brief);
}

static void help_options(FILE *out, const hg_cli_option *table)
{
    for (const hg_cli_option *o = table; o != NULL && o->name != NULL; o++)
        help_option(out, o);
}

void hg_cli_help_command(FILE *out, const hg_cli_command *c)
{
    fprintf(out, "usage: hologram %s%s%s [options]\n\n", c->name, c->operands[0] ? " " : "",
            c->operands);
    help_wrap(out, c->brief, 0);
    if (c->details != NULL) {
        putc('\n', out);
        help_wrap(out, c->details, 0);
    }
    fputs("\noptions:\n", out);
    help_options(out, c->options);
    help_options(out, hg_cli_common);
    fprintf(out, "\nexample:\n");
    help_wrap(out, c->example, 2);
}

void hg_cli_help_all(FILE *out)
{
    fputs("hologram - compile a model into one file and run it\n\n"
          "usage: hologram COMMAND [arguments]\n\ncommands:\n",
          out);
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++)
        fprintf(out, "  %-12s %s\n", (*c)->name, (*c)->brief);
    fputs("\nhologram COMMAND --help shows the options of a command and an example.\n"
          "Exit codes: 0 right, 1 the model or input is at fault, 2 wrong usage.\n",
          out);
}
