/* run.c - a random graph compiled in memory, and the program run. */
#include "compile/compile.h"
#include "random/random.h"

#include <stdio.h>

holo_status rnd_compile(const rnd_graph *r, const rnd_form *form,
                        const holo_compile_options *options, rnd_program *out, holo_error *e)
{
    hg_compile c;
    holo_compile_options all = *options;
    all.extra = holo_kernels_ext();
    *out = (rnd_program){0};
    holo_status status = hg_compile_init(&c, &all, 1, e);
    if (status == HOLO_OK) status = hg_graph_init(&c.model[0].graph, &c.ctx);
    if (status == HOLO_OK) status = rnd_write(r, form, &c.model[0].graph, out->port, &out->n_port);
    if (status == HOLO_OK) status = hg_graph_verify(&c.model[0].graph, e);
    if (status == HOLO_OK) status = hg_compile_model_run(&c, &c.model[0]);
    if (status == HOLO_OK) status = hg_compile_to_memory(&c, &out->data, &out->size);
    hg_compile_deinit(&c);
    return status;
}

void rnd_program_free(rnd_program *p)
{
    holo_buffer_free(NULL, p->data, p->size);
    *p = (rnd_program){0};
}

/* Two threads, for all runs of the process: starting some for each would take longer than the run.
 */
static holo_pool *run_pool(void)
{
    static holo_pool *pool;
    if (pool == NULL) (void)holo_pool_new(2, NULL, &pool, NULL);
    return pool;
}

static holo_status run_bind(const rnd_graph *r, const rnd_program *p, const rnd_run *how,
                            holo_session *session, holo_error *e)
{
    for (uint32_t i = 0; i < p->n_port; i++) {
        char name[24];
        const int32_t value = p->port[i];
        const holo_tensor *t = how->value != NULL ? &how->value[value] : &r->value[value].t;
        snprintf(name, sizeof name, "v%d", value);
        int32_t index = holo_session_find_input(session, name);
        if (index < 0) return hg_fail(e, HOLO_E_BUG, "the program has no input '%s'", name);
        HG_TRY(holo_session_set_input(session, (uint32_t)index, t, e));
    }
    return HOLO_OK;
}

static holo_status run_session(const rnd_graph *r, const rnd_program *p, const rnd_run *how,
                               holo_session *session, hg_arena *arena, holo_tensor *out,
                               uint32_t n_out, holo_error *e)
{
    HG_TRY(run_bind(r, p, how, session, e));
    /* Twice: the second run finds what the first one left. */
    HG_TRY(holo_session_run(session, e));
    HG_TRY(holo_session_run(session, e));
    for (uint32_t j = 0; j < n_out; j++) {
        holo_tensor t;
        HG_TRY(holo_session_output(session, j, &t, e));
        out[j] = rnd_copy(arena, &t);
    }
    return HOLO_OK;
}

holo_status rnd_run_program(const rnd_graph *r, const rnd_program *p, const rnd_run *how,
                            hg_arena *arena, holo_tensor *out, uint32_t n_out, holo_error *e)
{
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    open.flags = how->open_flags;
    open.extra = holo_kernels_ext();
    options.flags = how->session_flags | HOLO_SESSION_GROW;
    options.pool = how->two_threads ? run_pool() : NULL;
    options.limits.run_ms = 20000;
    holo_status status =
        holo_model_open_memory(p->data, p->size, holo_kernels_all(), &open, &model, e);
    if (status == HOLO_OK) status = holo_session_new(model, &options, &session, e);
    if (status == HOLO_OK && how->before != NULL)
        (void)!run_session(how->before, p, how, session, arena, out, n_out, e);
    if (status == HOLO_OK) status = run_session(r, p, how, session, arena, out, n_out, e);
    holo_session_free(session);
    holo_model_free(model);
    return status;
}
