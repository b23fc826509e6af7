/* cmd_ops.c - hologram ops and passes: what the compiler knows, from the tables it uses. */
#include "cli/commands.h"

#include "io/json.h"

#include <string.h>

typedef struct ops_args {
    bool json, mdx;
} ops_args;

static const char *ops_domain(const holo_op_info *op)
{
    return op->domain[0] == '\0' ? "ai.onnx" : op->domain;
}

static void ops_text(void *user, const holo_op_info *op)
{
    char name[200];
    (void)user;
    snprintf(name, sizeof name, "%s%s%s", op->domain, op->domain[0] != '\0' ? ":" : "", op->name);
    printf("%-32s %3d-%-3d %-10s %s\n", name, op->since, op->version, op->tier, op->types);
}

static void ops_words(hg_io_json *json, const char *words)
{
    hg_io_json_array(json);
    while (*words != '\0') {
        char word[64];
        size_t n = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        if (n > 0) hg_io_json_text(json, word);
        words += n + (words[n] == ' ');
    }
    hg_io_json_close(json, ']');
}

static void ops_json(void *user, const holo_op_info *op)
{
    hg_io_json *json = user;
    hg_io_json_object(json);
    hg_io_json_key(json, "domain");
    hg_io_json_text(json, ops_domain(op));
    hg_io_json_key(json, "name");
    hg_io_json_text(json, op->name);
    hg_io_json_key(json, "since");
    hg_io_json_int(json, op->since);
    hg_io_json_key(json, "version");
    hg_io_json_int(json, op->version);
    hg_io_json_key(json, "tier");
    hg_io_json_text(json, op->tier);
    hg_io_json_key(json, "types");
    ops_words(json, op->types);
    hg_io_json_key(json, "backends");
    ops_words(json, "cpu");
    hg_io_json_key(json, "brief");
    hg_io_json_text(json, op->brief);
    hg_io_json_close(json, '}');
}

/* A cell of a table: '|' would end it, '{' and '<' mean something to MDX. */
static void ops_cell(const char *text)
{
    putchar(' ');
    for (; *text != '\0'; text++) {
        if (strchr("|{}<\\*_", *text) != NULL) putchar('\\');
        putchar(*text);
    }
    fputs(" |", stdout);
}

typedef struct ops_page {
    char last[64]; /* domain of the table that is open */
    int count;
} ops_page;

static void ops_mdx(void *user, const holo_op_info *op)
{
    ops_page *page = user;
    if (page->count++ == 0 || strcmp(page->last, op->domain) != 0) {
        snprintf(page->last, sizeof page->last, "%s", op->domain);
        printf("\n## %s\n\n| operator | versions | how | types of the first input | meaning |\n"
               "|---|---|---|---|---|\n",
               ops_domain(op));
    }
    putchar('|');
    ops_cell(op->name);
    printf(" %d to %d |", op->since, op->version);
    ops_cell(op->tier);
    ops_cell(op->types);
    ops_cell(op->brief);
    putchar('\n');
}

static int ops_run(const hg_cli *cli, const void *args)
{
    const ops_args *a = args;
    if (a->json && a->mdx) return hg_cli_usage(cli, "ops", "--json and --mdx do not go together");
    if (a->json) {
        hg_io_json json = {.out = stdout};
        hg_io_json_array(&json);
        holo_ops_visit(ops_json, &json);
        hg_io_json_close(&json, ']');
        putchar('\n');
    } else if (a->mdx) {
        ops_page page = {0};
        puts("---\ntitle: Operators\ndescription: Every operator the compiler knows, with versions "
             "and types\n"
             "---\n\nThis page is printed by `hologram ops --mdx`. A model that needs anything "
             "else is refused with "
             "a sentence that names node, operator and type.");
        holo_ops_visit(ops_mdx, &page);
    } else {
        printf("%-32s %-7s %-10s %s\n", "operator", "since", "how", "types of the first input");
        holo_ops_visit(ops_text, NULL);
    }
    return HG_CLI_OK;
}

/* clang-format off */
static const hg_cli_option ops_options[] = {
    {"json", 0, HG_CLI_FLAG, NULL, "print a JSON array", offsetof(ops_args, json)},
    {"mdx", 0, HG_CLI_FLAG, NULL, "print the page of the documentation", offsetof(ops_args, mdx)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_ops = {
    .name = "ops",
    .operands = "",
    .brief = "List the operators the compiler knows.",
    .example = "hologram ops | grep Conv",
    .options = ops_options,
    .args_size = sizeof(ops_args),
    .run = ops_run,
};

static void ops_pass(void *user, const char *name, const char *brief)
{
    (void)user;
    printf("%-24s %s\n", name, brief);
}

static int ops_passes_run(const hg_cli *cli, const void *args)
{
    (void)cli;
    (void)args;
    holo_passes_visit(ops_pass, NULL);
    return HG_CLI_OK;
}

const hg_cli_command hg_cmd_passes = {
    .name = "passes",
    .operands = "",
    .brief = "List the passes of the compiler in their order.",
    .example = "hologram compile m.onnx -o m.holo --disable fuse_pointwise",
    .run = ops_passes_run,
};

static int ops_version_run(const hg_cli *cli, const void *args)
{
    (void)cli;
    (void)args;
    printf("hologram %s\n", holo_version());
    return HG_CLI_OK;
}

const hg_cli_command hg_cmd_version = {
    .name = "version",
    .operands = "",
    .brief = "Print the version.",
    .example = "hologram version",
    .run = ops_version_run,
};
