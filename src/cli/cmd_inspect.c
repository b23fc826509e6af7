/* cmd_inspect.c - hologram inspect: what a file holds, as text, JSON, program or page. */
#include "cli/commands.h"
#include "cli/model.h"

typedef struct inspect_args {
    bool json, program, check;
    const char *html;
} inspect_args;

static int inspect_write(const hg_cli *cli, const holo_model *model, holo_inspect_form form,
                         const char *path)
{
    hg_io_writer writer;
    holo_error error = {0};
    if (hg_io_writer_open(path, &writer, &error) != HOLO_OK) return hg_cli_fail(cli, &error);
    holo_status status = holo_model_inspect(model, form, hg_io_writer_sink, &writer, &error);
    if (hg_io_writer_why(&writer, status, &error) != HOLO_OK) {
        hg_io_writer_abort(&writer);
        return hg_cli_fail(cli, &error);
    }
    return hg_io_writer_commit(&writer, &error) == HOLO_OK ? HG_CLI_OK : hg_cli_fail(cli, &error);
}

static int inspect_run(const hg_cli *cli, const void *args)
{
    const inspect_args *a = args;
    hg_cli_model_options how = {0};
    hg_cli_model m = {0};
    if (a->json && a->program)
        return hg_cli_usage(cli, "inspect", "--json and --program do not go together");
    if (a->check) how.open_flags |= HOLO_OPEN_CHECK_WEIGHTS;
    int code = hg_cli_model_open_any(cli, cli->operand[0], &how, &m);
    if (code != HG_CLI_OK) return code;
    if (a->html != NULL) code = inspect_write(cli, m.model, HOLO_INSPECT_HTML, a->html);
    if (code == HG_CLI_OK && a->json) code = inspect_write(cli, m.model, HOLO_INSPECT_JSON, "-");
    if (code == HG_CLI_OK && a->program)
        code = inspect_write(cli, m.model, HOLO_INSPECT_PROGRAM, "-");
    if (code == HG_CLI_OK && !a->json && !a->program && a->html == NULL &&
        !(a->check && cli->quiet))
        code = inspect_write(cli, m.model, HOLO_INSPECT_TEXT, "-");
    if (code == HG_CLI_OK && a->check)
        hg_cli_note(cli, "%s: program and weights are intact", m.path);
    hg_cli_model_close(&m);
    return code;
}

/* clang-format off */
static const hg_cli_option inspect_options[] = {
    {"json", 0, HG_CLI_FLAG, NULL, "print one JSON object", offsetof(inspect_args, json)},
    {"program", 0, HG_CLI_FLAG, NULL, "print the program, a step a line", offsetof(inspect_args, program)},
    {"html", 0, HG_CLI_TEXT, "FILE", "write a self-contained page with pictures", offsetof(inspect_args, html)},
    {"check", 0, HG_CLI_FLAG, NULL, "verify the hash of the weights too", offsetof(inspect_args, check)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_inspect = {
    .name = "inspect",
    .operands = "FILE",
    .least = 1,
    .most = 1,
    .brief = "Show what a file holds: graphs, inputs, steps, weights, memory.",
    .details = "FILE is a .holo file, or an .onnx file that is compiled in memory.",
    .example = "hologram inspect model.holo\n"
               "hologram inspect model.holo --check --html model.html",
    .files = "holo onnx",
    .options = inspect_options,
    .args_size = sizeof(inspect_args),
    .run = inspect_run,
};
