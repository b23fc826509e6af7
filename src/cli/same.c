/* same.c - do repeated runs give the same bits, with any number of threads? */
#include "cli/same.h"

#include "cli/values.h"
#include "io/tensor.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct same {
    const hg_cli *cli;
    const hg_cli_model *model;
    const hg_cli_inputs *inputs;
    holo_tensor *first; /* per output: a copy of what the first run gave */
    uint32_t count;     /* outputs */
    uint64_t runs, done;
} same;

static int same_compare(same *s, holo_session *session, uint64_t threads, uint64_t run)
{
    static const hg_cli_tolerance bits = {.same_bits = true};
    holo_error error = {0};
    char why[240];
    for (uint32_t i = 0; i < s->count; i++) {
        holo_tensor out;
        if (holo_session_output(session, i, &out, &error) != HOLO_OK ||
            (s->done == 0 && hg_io_tensor_copy(&out, &s->first[i], &error) != HOLO_OK))
            return hg_cli_fail(s->cli, &error);
        if (s->done != 0 && !hg_cli_values_agree(&out, &s->first[i], &bits, why, sizeof why))
            return hg_cli_error(s->cli,
                                "output %" PRIu32 " of run %" PRIu64 " with %" PRIu64
                                " threads differs from that of the first run: %s",
                                i, run + 1, threads, why);
    }
    s->done++;
    return HG_CLI_OK;
}

static int same_runs(same *s, holo_session *session, uint64_t threads)
{
    holo_error error = {0};
    int code = hg_cli_inputs_bind(s->cli, s->inputs, session);
    hg_cli_watch(session);
    for (uint64_t run = 0; code == HG_CLI_OK && run < s->runs; run++) {
        if (holo_session_run(session, &error) != HOLO_OK || hg_cli_interrupted() != 0)
            code = hg_cli_fail(s->cli, &error);
        else
            code = same_compare(s, session, threads, run);
    }
    hg_cli_watch(NULL);
    return code;
}

static int same_threads(same *s, uint64_t threads)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session *session;
    holo_error error = {0};
    int code = hg_cli_pool_new(s->cli, threads, &options.pool);
    if (code != HG_CLI_OK) return code;
    options.flags = HOLO_SESSION_GROW;
    options.graph = s->model->graph;
    if (holo_session_new(s->model->model, &options, &session, &error) != HOLO_OK) {
        code = hg_cli_fail(s->cli, &error);
    } else {
        code = same_runs(s, session, threads);
        holo_session_free(session);
    }
    if (options.pool != NULL) holo_pool_free(options.pool);
    return code;
}

int hg_cli_same(const hg_cli *cli, const hg_cli_model *model, const hg_cli_inputs *inputs,
                uint64_t runs)
{
    static const uint64_t threads[] = {1, 2, 4};
    same s = {.cli = cli,
              .model = model,
              .inputs = inputs,
              .count = holo_model_output_count(model->model, model->graph),
              .runs = runs};
    int code = HG_CLI_OK;
    s.first = calloc((size_t)s.count + 1, sizeof *s.first);
    if (s.first == NULL) return hg_cli_error(cli, "out of memory");
    for (size_t i = 0; code == HG_CLI_OK && i < sizeof threads / sizeof *threads; i++)
        code = same_threads(&s, threads[i]);
    if (code == HG_CLI_OK)
        printf("the same bits in %" PRIu64 " runs with 1, 2 and 4 threads\n", s.done);
    for (uint32_t i = 0; i < s.count; i++)
        hg_io_tensor_free(&s.first[i]);
    free(s.first);
    return code;
}
