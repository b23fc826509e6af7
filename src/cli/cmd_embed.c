/* cmd_embed.c - hologram embed: a compiled model as C source, header or object file. */
#include "cli/commands.h"
#include "cli/model.h"
#include "io/embed.h"

#include <stdlib.h>
#include <string.h>

typedef struct embed_args {
    const char *output, *symbol;
    int target; /* host, x86-64, aarch64 */
} embed_args;

typedef enum embed_form { EMBED_SOURCE, EMBED_HEADER, EMBED_OBJECT, EMBED_UNKNOWN } embed_form;

static embed_form embed_form_of(const char *path)
{
    size_t n = strlen(path);
    if (n < 3 || path[n - 2] != '.') return EMBED_UNKNOWN;
    switch (path[n - 1]) {
    case 'c': return EMBED_SOURCE;
    case 'h': return EMBED_HEADER;
    case 'o': return EMBED_OBJECT;
    default: return EMBED_UNKNOWN;
    }
}

/* 0 when this build runs on neither. */
static hg_io_machine embed_machine(int target)
{
    if (target == 1) return HG_IO_X86_64;
    if (target == 2) return HG_IO_AARCH64;
#if defined(__x86_64__) && defined(__ELF__)
    return HG_IO_X86_64;
#elif defined(__aarch64__) && defined(__ELF__)
    return HG_IO_AARCH64;
#else
    return (hg_io_machine)0;
#endif
}

/* A holo_sink_fn; user is the hg_io_writer. */
static bool embed_sink(void *user, const void *bytes, size_t size)
{
    return hg_cli_interrupted() == 0 && hg_io_writer_sink(user, bytes, size);
}

static int embed_write(const hg_cli *cli, const embed_args *a, const hg_io_embed *embed)
{
    hg_io_writer writer;
    holo_error error = {0};
    embed_form form = embed_form_of(a->output);
    if (hg_io_writer_open(a->output, &writer, &error) != HOLO_OK) return hg_cli_fail(cli, &error);
    if (form == EMBED_HEADER)
        hg_io_embed_header(embed, embed_sink, &writer);
    else if (form == EMBED_SOURCE)
        hg_io_embed_source(embed, embed_sink, &writer);
    else
        hg_io_embed_object(embed, embed_machine(a->target), embed_sink, &writer);
    if (hg_cli_interrupted() != 0) {
        hg_io_writer_abort(&writer);
        return hg_cli_fail(cli, &error);
    }
    /* A write that failed is known to the stream, and said here. */
    if (hg_io_writer_commit(&writer, &error) != HOLO_OK) return hg_cli_fail(cli, &error);
    return HG_CLI_OK;
}

static int embed_check_usage(const hg_cli *cli, const embed_args *a)
{
    if (a->output == NULL)
        return hg_cli_usage(cli, "embed", "embed needs -o OUT.c, OUT.h or OUT.o");
    embed_form form = embed_form_of(a->output);
    if (form == EMBED_UNKNOWN)
        return hg_cli_usage(cli, "embed", "-o %s: expected a name that ends in .c, .h or .o",
                            a->output);
    if (a->symbol != NULL && !hg_io_embed_is_symbol(a->symbol))
        return hg_cli_usage(cli, "embed", "--symbol %s: expected a name that C allows", a->symbol);
    if (form == EMBED_OBJECT && embed_machine(a->target) == (hg_io_machine)0)
        return hg_cli_usage(cli, "embed",
                            "object files are ELF, which this machine does not use: write %.*s.c "
                            "or give --target",
                            (int)strlen(a->output) - 2, a->output);
    return HG_CLI_OK;
}

/* The bytes of an open model: the file's, or what an .onnx file was compiled to. */
static int embed_model(const hg_cli *cli, const embed_args *a, const hg_cli_model *m,
                       const char *symbol)
{
    hg_io_bytes file = {0};
    holo_error error = {0};
    hg_io_embed embed = {symbol, m->compiled, m->compiled_bytes};
    if (m->compiled == NULL) {
        if (hg_io_read_file(m->path, &file, &error) != HOLO_OK) return hg_cli_fail(cli, &error);
        embed.data = file.data;
        embed.size = file.size;
    }
    int code = embed_write(cli, a, &embed);
    if (code == HG_CLI_OK) {
        char text[32];
        hg_cli_note(cli, "%s  %s as %s and %s_size", a->output,
                    hg_cli_size_text(embed.size, text, sizeof text), symbol, symbol);
    }
    hg_io_bytes_free(&file);
    return code;
}

static int embed_run(const hg_cli *cli, const void *args)
{
    const embed_args *a = args;
    hg_cli_model_options how = {.open_flags = HOLO_OPEN_CHECK_WEIGHTS};
    hg_cli_model m = {0};
    int code = embed_check_usage(cli, a);
    if (code != HG_CLI_OK) return code;
    char *stem = hg_cli_symbol(cli->operand[0]);
    if (stem == NULL) return hg_cli_error(cli, "out of memory");
    const char *symbol = a->symbol != NULL ? a->symbol : stem;
    if (!hg_io_embed_is_symbol(symbol))
        code = hg_cli_usage(cli, "embed", "'%s' is no name in C: give --symbol NAME", symbol);
    if (code == HG_CLI_OK) code = hg_cli_model_open_any(cli, cli->operand[0], &how, &m);
    if (code == HG_CLI_OK) {
        code = embed_model(cli, a, &m, symbol);
        hg_cli_model_close(&m);
    }
    free(stem);
    return code;
}

/* clang-format off */
static const hg_cli_option embed_options[] = {
    {"output", 'o', HG_CLI_TEXT, "OUT.c|OUT.h|OUT.o", "the file to write; its ending says what it is", offsetof(embed_args, output)},
    {"symbol", 0, HG_CLI_TEXT, "NAME", "name of the array, if not that of the file", offsetof(embed_args, symbol)},
    {"target", 0, HG_CLI_CHOICE, "host|x86-64|aarch64", "processor an object file is for", offsetof(embed_args, target)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_embed = {
    .name = "embed",
    .operands = "MODEL.holo",
    .least = 1,
    .most = 1,
    .brief = "Write a model as C source or object file, to link into a program.",
    .details =
        "The bytes are NAME, at an address divisible by 64, and their number is NAME_size; "
        "holo_model_open_memory(NAME, NAME_size, ...) opens them where they are. NAME is the "
        "file's name without ending, or --symbol. A .h file declares the two. Object files are "
        "ELF. An .onnx file is compiled first.",
    .example = "hologram embed model.holo -o model.o && hologram embed model.holo -o model.h\n"
               "cc -O2 app.c hologram_rt.c model.o -lm -lpthread",
    .files = "holo onnx",
    .options = embed_options,
    .args_size = sizeof(embed_args),
    .run = embed_run,
};
