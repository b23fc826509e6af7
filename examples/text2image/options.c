/* options.c - what the person asked for. */
#include "options.h"

#include "scheduler.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct options_reader {
    options *out;
    char *why;
    size_t why_bytes;
} options_reader;

typedef bool (*options_take_fn)(const options_reader *r, const char *name, const char *text);

static bool options_take_unsigned(const options_reader *r, const char *name, const char *text,
                                  uint64_t low, uint64_t high, uint64_t *out)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    const bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    if (is_number && value >= low && value <= high) {
        *out = value;
        return true;
    }
    snprintf(r->why, r->why_bytes, "%s is \"%s\", it must be a whole number from %ju to %ju", name,
             text, (uintmax_t)low, (uintmax_t)high);
    return false;
}

static bool options_take_small(const options_reader *r, const char *name, const char *text,
                               int32_t high, int32_t *out)
{
    uint64_t value;
    if (!options_take_unsigned(r, name, text, 1, (uint64_t)high, &value)) return false;
    *out = (int32_t)value;
    return true;
}

static bool options_take_seed(const options_reader *r, const char *name, const char *text)
{
    return options_take_unsigned(r, name, text, 0, UINT64_MAX, &r->out->seed);
}

static bool options_take_steps(const options_reader *r, const char *name, const char *text)
{
    return options_take_small(r, name, text, SCHEDULER_TRAIN_STEPS, &r->out->steps);
}

static bool options_take_threads(const options_reader *r, const char *name, const char *text)
{
    return options_take_small(r, name, text, 1024, &r->out->threads);
}

static bool options_take_grid(const options_reader *r, const char *name, const char *text)
{
    return options_take_small(r, name, text, 16, &r->out->grid);
}

static bool options_take_guidance(const options_reader *r, const char *name, const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    if (end != text && *end == '\0' && value >= 0 && value <= 100) {
        r->out->guidance = value;
        return true;
    }
    snprintf(r->why, r->why_bytes, "%s is \"%s\", it must be a number from 0 to 100", name, text);
    return false;
}

static bool options_take_path(const options_reader *r, const char *name, const char *text,
                              const char **out)
{
    if (text[0] == '\0') {
        snprintf(r->why, r->why_bytes, "%s needs a path", name);
        return false;
    }
    *out = text;
    return true;
}

static bool options_take_output(const options_reader *r, const char *name, const char *text)
{
    return options_take_path(r, name, text, &r->out->output);
}

static bool options_take_models(const options_reader *r, const char *name, const char *text)
{
    return options_take_path(r, name, text, &r->out->models);
}

static bool options_take_assets(const options_reader *r, const char *name, const char *text)
{
    return options_take_path(r, name, text, &r->out->assets);
}

static bool options_take_reference(const options_reader *r, const char *name, const char *text)
{
    return options_take_path(r, name, text, &r->out->reference);
}

static const struct {
    const char *name;
    const char *value;
    const char *brief;
    options_take_fn take;
} options_table[] = {
    {"--seed", "N", "where the noise starts (0)", options_take_seed},
    {"--steps", "N", "runs of the U-Net, 1 to 1000 (20)", options_take_steps},
    {"--guidance", "G", "how strictly to follow the prompt, 0 to 100 (4)", options_take_guidance},
    {"--threads", "N", "processors to use (all, up to 8)", options_take_threads},
    {"--grid", "N", "N x N pictures with consecutive seeds, 1 to 16 (1)", options_take_grid},
    {"-o", "FILE", "the picture (demo.png)", options_take_output},
    {"--models", "DIR", "folder of the three .holo files (build/demo)", options_take_models},
    {"--assets", "DIR", "folder of tokenizer.json and scheduler.json", options_take_assets},
    {"--check-reference", "DIR", "compare every stage with saved numbers", options_take_reference},
};

enum { OPTIONS_COUNT = sizeof options_table / sizeof options_table[0] };

void options_print_help(FILE *file)
{
    fputs("usage: text2image PROMPT [options]\n"
          "       text2image --check-reference DIR [options]\n\n"
          "Draws an emoji from its name, with a colour or a style if you like.\n\n",
          file);
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        char left[32];
        snprintf(left, sizeof left, "%s %s", options_table[i].name, options_table[i].value);
        fprintf(file, "  %-22s %s\n", left, options_table[i].brief);
    }
    fputs(
        "  --help                 this page\n\n"
        "examples:\n"
        "  text2image \"red heart\"\n"
        "  text2image \"blue dragon\" --seed 7 --steps 30 -o dragon.png\n"
        "  text2image \"birthday cake, twemoji style\" --grid 4 --threads 2\n"
        "  text2image --check-reference examples/text2image/models/reference\n\n"
        "Exit code: 0 right, 1 something is wrong with a file or a number, 2 wrong usage.\n"
        "NO_COLOR turns colours off. The pictures derive from open artwork, see LICENSE-NOTES.md;\n"
        "each PNG carries the notice.\n",
        file);
}

/* Entry of the table for "--name" or "--name=value"; *value points behind '=' or is NULL. */
static size_t options_find(const char *argument, const char **value)
{
    const char *equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
    const size_t size = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
    *value = equals != NULL ? equals + 1 : NULL;
    size_t i = 0;
    while (i < OPTIONS_COUNT && (strlen(options_table[i].name) != size ||
                                 strncmp(options_table[i].name, argument, size) != 0))
        i++;
    return i;
}

static bool options_take_prompt(const options_reader *r, const char *text)
{
    if (r->out->prompt != NULL) {
        snprintf(r->why, r->why_bytes, "there are two prompts, \"%s\" and \"%s\"; quote the words",
                 r->out->prompt, text);
        return false;
    }
    r->out->prompt = text;
    return true;
}

static bool options_read_all(const options_reader *r, int argc, char **argv)
{
    bool only_prompt = false;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (!only_prompt && strcmp(name, "--") == 0) {
            only_prompt = true;
            continue;
        }
        if (only_prompt || name[0] != '-') {
            if (!options_take_prompt(r, name)) return false;
            continue;
        }
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            r->out->help = true;
            return true;
        }
        const char *value;
        const size_t entry = options_find(name, &value);
        if (entry == OPTIONS_COUNT) {
            snprintf(r->why, r->why_bytes, "there is no option %s", name);
            return false;
        }
        if (value == NULL) value = argv[++i]; /* argv[argc] is NULL */
        if (value == NULL) {
            snprintf(r->why, r->why_bytes, "%s needs a value", name);
            return false;
        }
        if (!options_table[entry].take(r, options_table[entry].name, value)) return false;
    }
    return true;
}

bool options_parse(int argc, char **argv, options *out, char *why, size_t why_bytes)
{
    const options_reader reader = {out, why, why_bytes};
    *out = (options){.output = "demo.png", .guidance = -1, .grid = 1};
    if (!options_read_all(&reader, argc, argv)) return false;
    if (out->help || out->reference != NULL) return true;
    if (out->prompt != NULL) return true;
    snprintf(why, why_bytes, "a prompt is missing, for instance \"red heart\"");
    return false;
}
