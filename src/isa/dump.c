/* dump.c - disassembly of a program, a step a line.
 *
 *     graph "mlp" fast: 3 nodes, 2 steps
 *     symbol batch: input
 *     symbol n <= 100: dimension 0 of %4
 *     input %1 "x": float32[batch,3]
 *     output %5 "y": float32[batch,4]
 *     0  %4:float32[batch,4] = matmul.p16(%1, %2:float32[1,3,16]@weight0; 4,0.5d) "fc"
 *     1  %5:float32[batch,4] = lane(%4, %3:float32[4]@weight1) {r2=add(x0,x1); y0=r2} "add"
 *
 * A value has its type where it is computed. Weights and views have no such line: theirs is shown
 * at each use, with the place, @weight0 or @%4, @%4+offset for a view that starts there. "_" is an
 * operand that is absent. Behind ";" are the parameters; one that holds the bits of a double ends
 * in "d". */
#include "base/half.h"
#include "isa/print.h"

#include <inttypes.h>
#include <math.h>

typedef struct dump {
    hg_print out;
    const hg_program *p;
    hg_dims dims;
} dump;

static const char *dump_text(const dump *d, uint32_t text)
{
    return d->p->text + text;
}

static void dump_operand(dump *d, uint32_t value)
{
    hg_print *o = &d->out;
    if (value == 0) {
        hg_print_text(o, "_");
        return;
    }
    const hg_value_rec *v = &d->p->value[value];
    hg_print_format(o, "%%%" PRIu32, value);
    if (v->storage != HG_STORAGE_WEIGHT && v->storage != HG_STORAGE_ALIAS) return;
    hg_print_text(o, ":");
    hg_print_type(o, d->p, &d->dims, value);
    hg_print_format(o, v->storage == HG_STORAGE_WEIGHT ? "@weight%" PRIu32 : "@%%%" PRIu32, v->ref);
    if (v->storage != HG_STORAGE_ALIAS || v->offset == 0) return;
    hg_print_text(o, "+");
    hg_print_dim(o, &d->dims, v->offset);
}

static void dump_operands(dump *d, const hg_step_rec *s)
{
    for (uint32_t k = 0; k < s->n_in; k++) {
        if (k != 0) hg_print_text(&d->out, ", ");
        dump_operand(d, d->p->list[s->in + k]);
    }
}

static void dump_results(dump *d, const hg_step_rec *s)
{
    for (uint32_t k = 0; k < s->n_out; k++) {
        uint32_t value = d->p->list[s->out + k];
        if (k != 0) hg_print_text(&d->out, ", ");
        dump_operand(d, value);
        if (value == 0) continue;
        hg_print_text(&d->out, ":");
        hg_print_type(&d->out, d->p, &d->dims, value);
    }
    if (s->n_out != 0) hg_print_text(&d->out, " = ");
}

/* Sizes stay far below 2^53, the bits of ordinary doubles far above. */
static bool dump_is_double(const hg_dim_rec *r)
{
    const int64_t limit = INT64_C(1) << 53;
    return r->op == HG_DIM_CONST && (r->value > limit || r->value < -limit) &&
           isnormal(hg_f64_from_bits((uint64_t)r->value));
}

static void dump_params(dump *d, const hg_step_rec *s)
{
    for (uint32_t k = 0; k < s->n_param; k++) {
        uint32_t number = d->p->list[s->param + k];
        if (k != 0) hg_print_text(&d->out, ",");
        if (!dump_is_double(&d->p->dim[number])) {
            hg_print_dim(&d->out, &d->dims, number);
            continue;
        }
        hg_print_float(&d->out, hg_f64_from_bits((uint64_t)d->p->dim[number].value), false);
        hg_print_text(&d->out, "d");
    }
}

static void dump_call(dump *d, const hg_step_rec *s, const char *what)
{
    dump_results(d, s);
    hg_print_text(&d->out, what);
    hg_print_text(&d->out, "(");
    dump_operands(d, s);
    if (s->n_in != 0 && s->n_param != 0) hg_print_text(&d->out, "; ");
    dump_params(d, s);
    hg_print_text(&d->out, ")");
}

static void dump_bind(dump *d, const hg_step_rec *s)
{
    hg_print_text(&d->out, "bind ");
    for (uint32_t k = 0; k < s->n_param; k++) {
        if (k != 0) hg_print_text(&d->out, ",");
        hg_print_symbol(&d->out, &d->dims, d->p->list[s->param + k]);
    }
    hg_print_text(&d->out, " = ");
    dump_operands(d, s);
}

static void dump_body(dump *d, const hg_step_rec *s)
{
    switch ((hg_opcode)s->op) {
    case HG_STEP_KERNEL: dump_call(d, s, dump_text(d, d->p->kernel[s->kernel])); return;
    case HG_STEP_BIND: dump_bind(d, s); return;
    case HG_STEP_DIMS: dump_call(d, s, "dims"); return;
    case HG_STEP_IF:
        dump_call(d, s, "if");
        hg_print_format(&d->out, " program %" PRIu32 " else program %" PRIu32, s->a, s->b);
        return;
    case HG_STEP_LOOP:
        dump_call(d, s, "loop");
        hg_print_format(&d->out, " program %" PRIu32, s->a);
        return;
    }
}

static void dump_step(dump *d, uint32_t i, int width)
{
    const hg_step_rec *s = &d->p->step[i];
    hg_print_format(&d->out, "%-*" PRIu32 "  ", width, i);
    dump_body(d, s);
    if (s->code != 0) {
        hg_print_text(&d->out, " ");
        hg_print_code(&d->out, d->p, s->code - 1);
    }
    hg_print_text(&d->out, " ");
    hg_name room;
    hg_print_quote(&d->out, hg_program_name(d->p, s->name, &room));
    hg_print_text(&d->out, "\n");
}

static void dump_symbol(dump *d, uint32_t i)
{
    const hg_symbol_rec *y = &d->p->symbol[i];
    hg_print_text(&d->out, "symbol ");
    hg_print_symbol(&d->out, &d->dims, i);
    if (y->at_most >= 0) hg_print_format(&d->out, " <= %" PRId64, y->at_most);
    if (y->kind == HG_SYMBOL_INPUT) hg_print_text(&d->out, ": input\n");
    if (y->kind == HG_SYMBOL_CONTENT)
        hg_print_format(&d->out, ": element %" PRIu32 " of %%%" PRIu32 "\n", y->index, y->value);
    if (y->kind == HG_SYMBOL_SIZE)
        hg_print_format(&d->out, ": dimension %" PRIu32 " of %%%" PRIu32 "\n", y->index, y->value);
}

static void dump_port(dump *d, const char *what, const hg_port_rec *port)
{
    hg_print_text(&d->out, what);
    dump_operand(d, port->value);
    hg_print_text(&d->out, " ");
    hg_print_quote(&d->out, dump_text(d, port->name));
    hg_print_text(&d->out, ": ");
    hg_print_type(&d->out, d->p, &d->dims, port->value);
    hg_print_text(&d->out, "\n");
}

static void dump_head(dump *d)
{
    const hg_program_head *h = &d->p->head;
    hg_print_text(&d->out, h->is_body ? "body " : "graph ");
    hg_print_quote(&d->out, dump_text(d, h->name));
    hg_print_format(&d->out, " %s: %" PRIu32 " nodes, %" PRIu32 " steps\n",
                    h->numerics == HOLO_EXACT ? "exact" : "fast", h->nodes_after, h->n_step);
    for (uint32_t i = 0; i < h->n_symbol; i++)
        dump_symbol(d, i);
    for (uint32_t i = 0; i < h->n_in; i++)
        dump_port(d, "input ", &d->p->in[i]);
    for (uint32_t i = 0; i < h->n_out; i++)
        dump_port(d, "output ", &d->p->out[i]);
}

holo_status hg_program_dump(const hg_program *p, holo_sink_fn sink, void *user)
{
    dump d = {.out = {.sink = sink, .user = user}, .p = p};
    hg_arena arena;
    hg_arena_init(&arena, NULL, 0);
    if (!hg_print_dims_init(p, &arena, &d.dims)) {
        hg_arena_deinit(&arena);
        return HOLO_E_NOMEM;
    }
    dump_head(&d);
    int width = 1;
    for (uint32_t n = p->head.n_step; n > 10; n /= 10)
        width++;
    for (uint32_t i = 0; i < p->head.n_step && !d.out.failed; i++)
        dump_step(&d, i, width);
    hg_arena_deinit(&arena);
    return hg_print_flush(&d.out) ? HOLO_OK : HOLO_E_IO;
}
