/* caches.c - pasts and presents of a decoder that are one buffer each. */
#include "cli/caches.h"

#include <stdlib.h>
#include <string.h>

/* Rows beside those of the input: as many again, and some. */
enum { CACHES_SPARE = 64 };

/* "key.*": what stands for the * in `name`; the whole name where there is none. */
typedef struct caches_pattern {
    const char *text;
    size_t before, after; /* characters around the * */
    bool has_star;
} caches_pattern;

static caches_pattern caches_parse(const char *text, size_t length)
{
    const char *star = memchr(text, '*', length);
    const size_t before = star == NULL ? length : (size_t)(star - text);
    return (caches_pattern){.text = text,
                            .before = before,
                            .after = star == NULL ? 0 : length - before - 1,
                            .has_star = star != NULL};
}

/* Whether the name is one of the pattern's; *part of *length characters stands for the *. */
static bool caches_match(const caches_pattern *p, const char *name, const char **part,
                         size_t *length)
{
    const size_t all = strlen(name);
    if (all < p->before + p->after || (!p->has_star && all != p->before)) return false;
    if (memcmp(name, p->text, p->before) != 0) return false;
    *part = name + p->before;
    *length = all - p->before - p->after;
    return memcmp(*part + *length, p->text + p->before + p->has_star, p->after) == 0;
}

/* The output whose name the pattern makes of that part; its number, or that of outputs. */
static uint32_t caches_output(const holo_model *model, uint32_t graph, const caches_pattern *p,
                              const char *part, size_t length, holo_port *port)
{
    const uint32_t n = holo_model_output_count(model, graph);
    for (uint32_t i = 0; i < n; i++) {
        const char *own;
        size_t own_length;
        if (holo_model_output(model, graph, i, port) != HOLO_OK ||
            !caches_match(p, port->name, &own, &own_length))
            continue;
        if (!p->has_star || (own_length == length && memcmp(own, part, length) == 0)) return i;
    }
    return n;
}

/* The only dimension that is another one in the output; -1: none, or several. */
static int32_t caches_axis(const holo_port *in, const holo_port *out)
{
    int32_t axis = -1;
    if (in->rank != out->rank || in->dtype != out->dtype) return -1;
    for (int32_t k = 0; k < in->rank; k++) {
        const char *a = in->dim_name[k], *b = out->dim_name[k];
        const bool is_same =
            in->dim[k] == out->dim[k] && (a == b || (a != NULL && b != NULL && strcmp(a, b) == 0));
        if (is_same) continue;
        if (axis >= 0) return -1;
        axis = k;
    }
    return axis;
}

static int64_t caches_product(const holo_tensor *t, int32_t begin, int32_t end)
{
    int64_t n = 1;
    for (int32_t k = begin; k < end; k++)
        n *= t->dim[k];
    return n;
}

/* A buffer with room for more rows than the input has, which come first. */
static bool caches_fill(hg_cli_cache *c, const holo_tensor *past)
{
    c->length = past->dim[c->axis];
    c->buffer = *past;
    c->buffer.dim[c->axis] = 2 * c->length + CACHES_SPARE;
    const size_t bytes = holo_tensor_bytes(&c->buffer), rows = holo_tensor_bytes(past);
    c->buffer.data = bytes == SIZE_MAX ? NULL : calloc(1, bytes + 1);
    if (c->buffer.data == NULL) return false;
    const size_t outer = (size_t)caches_product(past, 0, c->axis);
    for (size_t i = 0; i < outer; i++)
        memcpy((char *)c->buffer.data + i * (bytes / outer),
               (const char *)past->data + i * (rows / outer), rows / outer);
    return true;
}

static int caches_add(const hg_cli *cli, const holo_port *in, const holo_port *out,
                      const holo_tensor *past, hg_cli_caches *all, hg_cli_cache c)
{
    c.axis = caches_axis(in, out);
    if (c.axis < 0)
        return hg_cli_error(cli,
                            "input '%s' and output '%s' cannot be a cache: expected one type and "
                            "dimensions that are the same but for one",
                            in->name, out->name);
    hg_cli_cache *more = realloc(all->item, (all->count + 1) * sizeof *more);
    if (more == NULL) return hg_cli_error(cli, "out of memory");
    all->item = more;
    if (!caches_fill(&c, past)) return hg_cli_error(cli, "out of memory");
    all->item[all->count++] = c;
    return HG_CLI_OK;
}

static int caches_pair(const hg_cli *cli, const holo_model *model, uint32_t graph, const char *pair,
                       const hg_cli_inputs *inputs, hg_cli_caches *all)
{
    const char *equal = strchr(pair, '='), *part;
    const size_t before = all->count;
    size_t length;
    if (equal == NULL)
        return hg_cli_usage(cli, "bench", "--cache takes PAST=PRESENT, not '%s'", pair);
    const caches_pattern past = caches_parse(pair, (size_t)(equal - pair));
    const caches_pattern present = caches_parse(equal + 1, strlen(equal + 1));
    for (uint32_t i = 0; i < inputs->count; i++) {
        holo_port in, out;
        if (holo_model_input(model, graph, i, &in) != HOLO_OK ||
            !caches_match(&past, in.name, &part, &length))
            continue;
        const uint32_t o = caches_output(model, graph, &present, part, length, &out);
        if (o == holo_model_output_count(model, graph))
            return hg_cli_error(cli, "no output continues input '%s': --cache %s", in.name, pair);
        const int code = caches_add(cli, &in, &out, &inputs->tensor[i], all,
                                    (hg_cli_cache){.input = i, .output = o});
        if (code != HG_CLI_OK) return code;
    }
    if (all->count > before) return HG_CLI_OK;
    return hg_cli_error(cli, "no input is called '%.*s'", (int)(equal - pair), pair);
}

int hg_cli_caches_make(const hg_cli *cli, const holo_model *model, uint32_t graph,
                       const hg_cli_list *pairs, const hg_cli_inputs *inputs, hg_cli_caches *out)
{
    int code = HG_CLI_OK;
    for (size_t i = 0; code == HG_CLI_OK && i < pairs->count; i++)
        code = caches_pair(cli, model, graph, pairs->item[i], inputs, out);
    return code;
}

int hg_cli_caches_bind(const hg_cli *cli, const hg_cli_caches *caches, holo_session *session)
{
    holo_error error = {0};
    for (size_t i = 0; i < caches->count; i++) {
        const hg_cli_cache *c = &caches->item[i];
        if (holo_session_set_cache(session, c->input, c->output, &c->buffer, c->axis, c->length,
                                   &error) != HOLO_OK)
            return hg_cli_fail(cli, &error);
    }
    return HG_CLI_OK;
}

void hg_cli_caches_free(hg_cli_caches *caches)
{
    for (size_t i = 0; i < caches->count; i++)
        free(caches->item[i].buffer.data);
    free(caches->item);
}
