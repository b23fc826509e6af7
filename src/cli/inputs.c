/* inputs.c - the inputs of a graph, from files, pictures and the deterministic generator. */
#include "cli/inputs.h"

#include "io/elem.h"
#include "io/npy.h"
#include "io/pb.h"
#include "io/png.h"
#include "io/tensor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct inputs_maker {
    const hg_cli *cli;
    const holo_model *model;
    uint32_t graph;
    const hg_cli_input_options *options;
    hg_rng rng;
} inputs_maker;

bool hg_cli_parse_shape(const char *text, int64_t dim[HOLO_MAX_RANK], int32_t *rank)
{
    *rank = 0;
    if (text[0] == '\0' || strcmp(text, "-") == 0) return true;
    for (;;) {
        char *end;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (end == text || value < 0 || errno != 0 || *rank == HOLO_MAX_RANK) return false;
        dim[(*rank)++] = value;
        if (*end == '\0') return true;
        if (*end != 'x' && *end != ',') return false;
        text = end + 1;
    }
}

/* The value of NAME=VALUE when its name is this one, else NULL. */
static const char *inputs_value(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}

static const char *inputs_lookup(const hg_cli_list *list, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const char *value = inputs_value(list->item[i], name);
        if (value != NULL) found = value;
    }
    return found;
}

/* "a, b, c": the names of the inputs, for sentences. */
static const char *inputs_names(const inputs_maker *m, char *out, size_t size)
{
    uint32_t n = holo_model_input_count(m->model, m->graph);
    size_t at = 0;
    snprintf(out, size, "none");
    for (uint32_t i = 0; i < n && at < size; i++) {
        holo_port port;
        if (holo_model_input(m->model, m->graph, i, &port) != HOLO_OK) break;
        int written = snprintf(out + at, size - at, "%s%s", i > 0 ? ", " : "", port.name);
        at += written > 0 ? (size_t)written : 0;
    }
    return out;
}

/* Every entry of --input, --shape must name an input; a typo must not pass as "random". */
static int inputs_check_names(const inputs_maker *m, const hg_cli_list *list, const char *flag)
{
    char names[400];
    uint32_t n = holo_model_input_count(m->model, m->graph);
    for (size_t i = 0; i < list->count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < n && !known; k++) {
            holo_port port;
            if (holo_model_input(m->model, m->graph, k, &port) != HOLO_OK) break;
            known = inputs_value(list->item[i], port.name) != NULL;
        }
        if (!known)
            return hg_cli_error(m->cli, "--%s %s names no input; the inputs are %s", flag,
                                list->item[i], inputs_names(m, names, sizeof names));
    }
    return HG_CLI_OK;
}

/* Entry is NAME=SIZE of a symbolic dimension of the port. */
static bool inputs_has_dim(const holo_port *port, const char *entry)
{
    for (int32_t i = 0; i < port->rank; i++)
        if (port->dim[i] < 0 && port->dim_name[i] != NULL && port->dim_name[i][0] != '\0' &&
            inputs_value(entry, port->dim_name[i]) != NULL)
            return true;
    return false;
}

/* "batch, length": the names of symbolic dimensions, for sentences. */
static const char *inputs_dims(const inputs_maker *m, char *out, size_t size)
{
    size_t at = 0;
    snprintf(out, size, "none");
    for (uint32_t k = 0, n = holo_model_input_count(m->model, m->graph); k < n; k++) {
        holo_port port;
        if (holo_model_input(m->model, m->graph, k, &port) != HOLO_OK) break;
        for (int32_t i = 0; i < port.rank && at < size; i++) {
            if (port.dim[i] >= 0 || port.dim_name[i] == NULL || port.dim_name[i][0] == '\0')
                continue;
            int written =
                snprintf(out + at, size - at, "%s%s", at > 0 ? ", " : "", port.dim_name[i]);
            at += written > 0 ? (size_t)written : 0;
        }
    }
    return out;
}

/* The same for --dim: what was fixed when the file was compiled cannot be chosen any more. */
static int inputs_check_dims(const inputs_maker *m)
{
    char names[400];
    const hg_cli_list *list = &m->options->dim;
    uint32_t n = holo_model_input_count(m->model, m->graph);
    for (size_t i = 0; i < list->count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < n && !known; k++) {
            holo_port port;
            if (holo_model_input(m->model, m->graph, k, &port) != HOLO_OK) break;
            known = inputs_has_dim(&port, list->item[i]);
        }
        if (!known)
            return hg_cli_error(m->cli,
                                "--dim %s names no open dimension of an input; there are %s",
                                list->item[i], inputs_dims(m, names, sizeof names));
    }
    return HG_CLI_OK;
}

/* Shape of a port: --shape, else its own dimensions with --dim or 1 for symbolic ones. */
static int inputs_shape(const inputs_maker *m, const holo_port *port, holo_tensor *shape)
{
    const char *text = inputs_lookup(&m->options->shape, port->name);
    *shape = (holo_tensor){.dtype = port->dtype};
    if (text != NULL) {
        if (!hg_cli_parse_shape(text, shape->dim, &shape->rank))
            return hg_cli_usage(m->cli, "run", "--shape %s=%s: expected for instance 1x3x224x224",
                                port->name, text);
        return HG_CLI_OK;
    }
    if (port->rank < 0)
        return hg_cli_error(m->cli,
                            "input '%s' has no fixed rank: give its shape with --shape %s=1x3",
                            port->name, port->name);
    shape->rank = port->rank;
    for (int32_t i = 0; i < port->rank; i++) {
        shape->dim[i] = port->dim[i] >= 0 ? port->dim[i] : 1;
        if (port->dim[i] >= 0 || port->dim_name[i] == NULL || port->dim_name[i][0] == '\0')
            continue;
        const char *value = inputs_lookup(&m->options->dim, port->dim_name[i]);
        int64_t dim[HOLO_MAX_RANK];
        int32_t rank = 1;
        if (value == NULL) continue;
        if (!hg_cli_parse_shape(value, dim, &rank) || rank != 1)
            return hg_cli_usage(m->cli, "run", "--dim %s=%s: expected a number", port->dim_name[i],
                                value);
        shape->dim[i] = dim[0];
    }
    return HG_CLI_OK;
}

static int inputs_fill(inputs_maker *m, const holo_port *port, const hg_fill *fill,
                       holo_tensor *out)
{
    holo_tensor shape;
    holo_error error = {0};
    if (port->dtype == HOLO_OPTIONAL) { /* an absent value is the only one that needs no type */
        if (hg_io_tensor_container(HOLO_OPTIONAL, 0, out, &error) != HOLO_OK)
            return hg_cli_fail(m->cli, &error);
        return HG_CLI_OK;
    }
    if (hg_io_is_container(port->dtype))
        return hg_cli_error(m->cli, "input '%s' is a %s: give it with --input %s=FILE.pb",
                            port->name, holo_dtype_text(port->dtype), port->name);
    int code = inputs_shape(m, port, &shape);
    if (code != HG_CLI_OK) return code;
    if (hg_io_tensor_new(shape.dtype, shape.dim, shape.rank, out, &error) != HOLO_OK)
        return hg_cli_error(m->cli, "input '%s': %s", port->name, error.message);
    hg_fill_tensor(fill, &m->rng, out);
    return HG_CLI_OK;
}

/* "0.485,0.456,0.406" or one number for all channels. */
static bool inputs_triple(const char *text, double fallback, double out[3])
{
    out[0] = out[1] = out[2] = fallback;
    if (text == NULL) return true;
    char *end;
    for (int i = 0; i < 3; i++) {
        out[i] = strtod(text, &end);
        if (end == text || !isfinite(out[i])) return false;
        if (i == 0 && *end == '\0') {
            out[1] = out[2] = out[0];
            return true;
        }
        if (*end != (i < 2 ? ',' : '\0')) return false;
        text = end + 1;
    }
    return true;
}

/* Float32 to the type of the port; bytes get the picture's own values. */
static int inputs_convert(const inputs_maker *m, const holo_port *port, holo_tensor *tensor)
{
    holo_tensor other;
    holo_error error = {0};
    if (port->dtype == HOLO_F32 || hg_elem_classify(port->dtype) == HG_ELEM_OTHER) return HG_CLI_OK;
    if (hg_io_tensor_new(port->dtype, tensor->dim, tensor->rank, &other, &error) != HOLO_OK)
        return hg_cli_fail(m->cli, &error);
    double factor = hg_elem_classify(port->dtype) == HG_ELEM_INTEGER ? 255 : 1;
    for (int64_t i = 0, n = holo_tensor_count(tensor); i < n; i++)
        hg_elem_set(&other, i,
                    factor == 1 ? hg_elem_get(tensor, i) : rint(hg_elem_get(tensor, i) * factor));
    hg_io_tensor_free(tensor);
    *tensor = other;
    return HG_CLI_OK;
}

static int inputs_colours(const inputs_maker *m, double mean[3], double scale[3])
{
    if (!inputs_triple(m->options->mean, 0, mean) || !inputs_triple(m->options->scale, 1, scale) ||
        scale[0] == 0 || scale[1] == 0 || scale[2] == 0)
        return hg_cli_usage(m->cli, "run",
                            "--mean and --scale take three numbers R,G,B, scale not 0");
    return HG_CLI_OK;
}

static int inputs_picture(const inputs_maker *m, const holo_port *port, const char *path,
                          holo_tensor *out)
{
    double mean[3], scale[3];
    hg_png picture;
    holo_error error = {0};
    int code = inputs_colours(m, mean, scale);
    if (code != HG_CLI_OK) return code;
    bool last = port->rank == 4 && port->dim[1] != 3 && port->dim[1] != 1 &&
                (port->dim[3] == 3 || port->dim[3] == 1);
    bool gray = port->rank == 4 && port->dim[last ? 3 : 1] == 1;
    if (hg_png_read(path, gray ? 1 : 3, &picture, &error) != HOLO_OK)
        return hg_cli_fail(m->cli, &error);
    holo_status status =
        hg_png_to_tensor(&picture, last ? HG_PNG_NHWC : HG_PNG_NCHW, mean, scale, out, &error);
    hg_png_free(&picture);
    if (status != HOLO_OK) return hg_cli_fail(m->cli, &error);
    return inputs_convert(m, port, out);
}

static bool inputs_ends(const char *text, const char *ending)
{
    size_t n = strlen(text), k = strlen(ending);
    return n >= k && strcasecmp(text + n - k, ending) == 0;
}

static int inputs_from_text(inputs_maker *m, const holo_port *port, const char *text,
                            holo_tensor *out)
{
    holo_error error = {0};
    holo_status status = HOLO_OK;
    hg_fill fill;
    if (inputs_ends(text, ".png")) return inputs_picture(m, port, text, out);
    if (inputs_ends(text, ".pb")) {
        status = hg_pb_read_file(text, port->dtype, out, &error);
    } else if (inputs_ends(text, ".npy") || strcmp(text, "-") == 0) {
        status = hg_npy_read(text, out, &error);
        if (status == HOLO_OK) status = hg_npy_adapt(out, port->dtype, &error);
    } else if (strcmp(text, "random") == 0) {
        fill = hg_fill_default(port->dtype);
        return inputs_fill(m, port, &fill, out);
    } else if (hg_fill_parse(text, &fill, NULL) == HOLO_OK) {
        return inputs_fill(m, port, &fill, out);
    } else {
        return hg_cli_error(m->cli, "--input %s=%s: expected a .npy, .pb or .png file, - or random",
                            port->name, text);
    }
    if (status != HOLO_OK) return hg_cli_error(m->cli, "input '%s': %s", port->name, error.message);
    return HG_CLI_OK;
}

/* All inputs from one text; each must be there once. */
static int inputs_from_spec(inputs_maker *m, hg_cli_inputs *out)
{
    char names[400];
    hg_fill_inputs list;
    holo_error error = {0};
    int code = HG_CLI_OK;
    if (hg_fill_inputs_parse(m->options->inputs, &m->rng, &list, &error) != HOLO_OK) {
        hg_cli_usage(m->cli, "bench", "--inputs: %s", error.message);
        return HG_CLI_USAGE;
    }
    for (size_t i = 0; code == HG_CLI_OK && i < list.count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < out->count && !known; k++) {
            holo_port port;
            known = holo_model_input(m->model, m->graph, k, &port) == HOLO_OK &&
                    strcmp(port.name, list.item[i].name) == 0;
            if (!known) continue;
            hg_io_tensor_free(&out->tensor[k]);
            out->tensor[k] = list.item[i].tensor;
            list.item[i].tensor = (holo_tensor){0};
        }
        if (!known)
            code = hg_cli_error(m->cli, "--inputs names '%s', but the inputs are %s",
                                list.item[i].name, inputs_names(m, names, sizeof names));
    }
    hg_fill_inputs_free(&list);
    return code;
}

int hg_cli_inputs_make(const hg_cli *cli, const holo_model *model, uint32_t graph,
                       const hg_cli_input_options *options, hg_cli_inputs *out)
{
    inputs_maker m = {cli, model, graph, options, {(uint32_t)options->seed}};
    *out = (hg_cli_inputs){.count = holo_model_input_count(model, graph)};
    out->tensor = calloc((size_t)out->count + 1, sizeof *out->tensor);
    if (out->tensor == NULL) return hg_cli_error(cli, "out of memory");
    int code = inputs_check_names(&m, &options->input, "input");
    if (code == HG_CLI_OK) code = inputs_check_names(&m, &options->vary, "vary");
    if (code == HG_CLI_OK) code = inputs_check_names(&m, &options->shape, "shape");
    if (code == HG_CLI_OK) code = inputs_check_dims(&m);
    if (code == HG_CLI_OK) code = inputs_colours(&m, (double[3]){0}, (double[3]){0});
    if (code == HG_CLI_OK && options->inputs != NULL) code = inputs_from_spec(&m, out);
    for (uint32_t i = 0; code == HG_CLI_OK && i < out->count; i++) {
        holo_port port;
        if (out->tensor[i].data != NULL) continue;
        if (holo_model_input(model, graph, i, &port) != HOLO_OK) {
            code = hg_cli_error(cli, "input %u cannot be described", i);
        } else if (options->inputs != NULL) {
            code = hg_cli_error(cli, "--inputs does not give input '%s'", port.name);
        } else {
            const char *text = inputs_lookup(&options->input, port.name);
            code = inputs_from_text(&m, &port, text != NULL ? text : "random", &out->tensor[i]);
        }
    }
    if (code != HG_CLI_OK) hg_cli_inputs_free(out);
    return code;
}

int hg_cli_inputs_vary(const hg_cli *cli, const holo_model *model, uint32_t graph,
                       const hg_cli_input_options *options, uint64_t turn, hg_cli_inputs *inputs)
{
    hg_rng rng = {(uint32_t)(options->seed + turn)};
    for (uint32_t i = 0; options->vary.count != 0 && i < inputs->count; i++) {
        holo_port port;
        holo_error error = {0};
        hg_fill fill;
        if (holo_model_input(model, graph, i, &port) != HOLO_OK) continue;
        const char *text = inputs_lookup(&options->vary, port.name);
        if (text == NULL || hg_io_is_container(port.dtype)) continue;
        fill = hg_fill_default(port.dtype);
        if (strcmp(text, "random") != 0 && hg_fill_parse(text, &fill, &error) != HOLO_OK)
            return hg_cli_usage(cli, "run", "--vary %s: %s", port.name, error.message);
        hg_fill_tensor(&fill, &rng, &inputs->tensor[i]);
    }
    return HG_CLI_OK;
}

int hg_cli_inputs_bind(const hg_cli *cli, const hg_cli_inputs *inputs, holo_session *session)
{
    holo_error error = {0};
    for (uint32_t i = 0; i < inputs->count; i++)
        if (holo_session_set_input(session, i, &inputs->tensor[i], &error) != HOLO_OK)
            return hg_cli_fail(cli, &error);
    return HG_CLI_OK;
}

void hg_cli_inputs_free(hg_cli_inputs *inputs)
{
    for (uint32_t i = 0; inputs->tensor != NULL && i < inputs->count; i++)
        hg_io_tensor_free(&inputs->tensor[i]);
    free(inputs->tensor);
    *inputs = (hg_cli_inputs){0};
}
