/* cmd_completions.c - hologram completions: scripts for bash, zsh and fish, from the option tables.
 */
#include "cli/commands.h"

#include <string.h>

/* What a value is completed with. */
typedef enum completions_hint {
    COMPLETIONS_NONE,
    COMPLETIONS_FILE,
    COMPLETIONS_WORDS
} completions_hint;

static completions_hint completions_of(const hg_cli_option *o)
{
    if (o->kind == HG_CLI_CHOICE) return COMPLETIONS_WORDS;
    bool is_file = o->value != NULL && o->kind == HG_CLI_TEXT &&
                   (strstr(o->value, "FILE") != NULL || strstr(o->value, "DIR") != NULL ||
                    strstr(o->value, "OUT") != NULL);
    return is_file ? COMPLETIONS_FILE : COMPLETIONS_NONE;
}

static void completions_names(const hg_cli_option *table, const char *before)
{
    for (const hg_cli_option *o = table; o != NULL && o->name != NULL; o++)
        printf("%s--%s", before, o->name);
}

/* "fast|exact" as "fast exact". */
static void completions_words(const char *choices)
{
    for (; choices != NULL && *choices != '\0'; choices++)
        putchar(*choices == '|' ? ' ' : *choices);
}

static void completions_bash_values(const hg_cli_command *c)
{
    for (const hg_cli_option *o = c->options; o != NULL && o->name != NULL; o++) {
        completions_hint hint = completions_of(o);
        if (hint == COMPLETIONS_NONE) continue;
        printf("    %s:--%s%s%c", c->name, o->name, o->letter ? "|" : ")", o->letter ? ' ' : '\n');
        if (o->letter) printf("%s:-%c)\n", c->name, o->letter);
        if (hint == COMPLETIONS_FILE) {
            puts("      COMPREPLY=($(compgen -f -- \"$cur\")); return ;;");
        } else {
            fputs("      COMPREPLY=($(compgen -W \"", stdout);
            completions_words(o->value);
            puts("\" -- \"$cur\")); return ;;");
        }
    }
}

static void completions_bash(void)
{
    puts("# bash completion of hologram; load with: source <(hologram completions bash)\n"
         "_hologram() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
         "cmd=${COMP_WORDS[1]} words");
    fputs("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"", stdout);
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++)
        printf("%s ", (*c)->name);
    puts("\" -- \"$cur\"))\n    return\n  fi\n  case $cmd:$prev in");
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++)
        completions_bash_values(*c);
    puts("  esac\n  case $cmd in");
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++) {
        printf("    %s) words=\"", (*c)->name);
        completions_names((*c)->options, " ");
        completions_names(hg_cli_common, " ");
        puts("\" ;;");
    }
    puts("  esac\n"
         "  case $cur in\n"
         "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _hologram hologram");
}

/* Text inside single quotes of a shell, where zsh also gives brackets and colons a meaning. */
static void completions_quoted(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr(special, *text) != NULL)
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void completions_zsh_options(const hg_cli_option *table)
{
    for (const hg_cli_option *o = table; o != NULL && o->name != NULL; o++) {
        printf("        '%s--%s%s[", o->kind == HG_CLI_LIST ? "*" : "", o->name,
               o->value != NULL ? "=" : "");
        completions_quoted(o->brief, "[]:\\");
        putchar(']');
        if (o->value != NULL) {
            putchar(':');
            completions_quoted(o->value, "[]:\\");
            putchar(':');
        }
        if (completions_of(o) == COMPLETIONS_FILE) fputs("_files", stdout);
        if (completions_of(o) == COMPLETIONS_WORDS) {
            putchar('(');
            completions_words(o->value);
            putchar(')');
        }
        puts("' \\");
    }
}

static void completions_zsh(void)
{
    puts("#compdef hologram\n"
         "# zsh completion of hologram; put it into a folder of $fpath as _hologram\n"
         "_hologram() {\n  local -a commands=(");
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++) {
        printf("    '%s:", (*c)->name);
        completions_quoted((*c)->brief, ":\\");
        puts("'");
    }
    puts("  )\n"
         "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local cmd=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $cmd in");
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++) {
        printf("    %s)\n      _arguments \\\n", (*c)->name);
        completions_zsh_options((*c)->options);
        completions_zsh_options(hg_cli_common);
        puts("        '*:file:_files' ;;");
    }
    puts("  esac\n}\n_hologram \"$@\"");
}

static void completions_fish_options(const char *command, const hg_cli_option *table)
{
    for (const hg_cli_option *o = table; o != NULL && o->name != NULL; o++) {
        completions_hint hint = completions_of(o);
        printf("complete -c hologram -n '__fish_seen_subcommand_from %s' -l %s", command, o->name);
        if (o->letter) printf(" -s %c", o->letter);
        if (o->value != NULL) fputs(hint == COMPLETIONS_FILE ? " -r -F" : " -r", stdout);
        if (hint == COMPLETIONS_WORDS) {
            fputs(" -f -a '", stdout);
            completions_words(o->value);
            putchar('\'');
        }
        fputs(" -d '", stdout);
        for (const char *p = o->brief; *p != '\0'; p++)
            printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
        puts("'");
    }
}

static void completions_fish(void)
{
    puts("# fish completion of hologram; put it into ~/.config/fish/completions/hologram.fish");
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++) {
        printf("complete -c hologram -n __fish_use_subcommand -f -a %s -d '", (*c)->name);
        for (const char *p = (*c)->brief; *p != '\0'; p++)
            printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
        puts("'");
    }
    for (const hg_cli_command *const *c = hg_cli_commands; *c != NULL; c++) {
        completions_fish_options((*c)->name, (*c)->options);
        completions_fish_options((*c)->name, hg_cli_common);
    }
}

static int completions_run(const hg_cli *cli, const void *args)
{
    const char *shell = cli->operand[0];
    (void)args;
    if (strcmp(shell, "bash") == 0)
        completions_bash();
    else if (strcmp(shell, "zsh") == 0)
        completions_zsh();
    else if (strcmp(shell, "fish") == 0)
        completions_fish();
    else
        return hg_cli_usage(cli, "completions", "unknown shell '%s': bash, zsh or fish", shell);
    return HG_CLI_OK;
}

const hg_cli_command hg_cmd_completions = {
    .name = "completions",
    .operands = "bash|zsh|fish",
    .least = 1,
    .most = 1,
    .brief = "Print the completion script of a shell.",
    .example = "source <(hologram completions bash)",
    .run = completions_run,
};
