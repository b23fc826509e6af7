/* bodies.c - IF and LOOP that do not fit the programs they run, one wrong field at a time. */
#include "fault/small.h"

static const char bodies_if[] =
    "graph(%c: bool[], %x: float32[n]) { %r = If(%c) then() { %a = Relu(%x) return %a }"
    " else() { %b = Neg(%x) return %b } return %r as \"r\" }";

static const char bodies_loop[] =
    "graph(%m: int64[], %c: bool[], %x: float32[n]) { %y, %z = Loop(%m, %c, %x)"
    " body(%i: int64[], %k: bool[], %a: float32[n]) { %b = Add(%a, %x) %d = Mul(%b, %a)"
    " return %k, %b, %d } return %y as \"y\", %z as \"z\" }";

enum { BODIES_PROGRAMS = 3 };

typedef struct bodies_file {
    fault_bytes bytes;
    hg_program program[BODIES_PROGRAMS]; /* views into bytes: the graph, then its bodies */
    hg_step_rec *step;                   /* of the graph: the one that runs bodies */
    uint32_t *list;
} bodies_file;

static bodies_file bodies_open(const char *text, hg_opcode op)
{
    bodies_file f = {.bytes = fault_holo(text)};
    uint32_t count = 0, n = 0;
    const hg_holo_section *table = fault_sections(f.bytes.data, f.bytes.size, &count);
    for (uint32_t i = 0; i < count && n < BODIES_PROGRAMS; i++)
        if (table[i].kind == HG_SECTION_PROGRAM &&
            hg_program_view(f.bytes.data + table[i].offset, (size_t)table[i].size, &f.program[n++],
                            NULL) != HOLO_OK)
            abort();
    f.list = (uint32_t *)(uintptr_t)f.program[0].list;
    for (uint32_t i = 0; i < f.program[0].head.n_step; i++)
        if (f.program[0].step[i].op == op) f.step = (hg_step_rec *)(uintptr_t)&f.program[0].step[i];
    if (!CHECK(f.step != NULL)) abort();
    return f;
}

static void bodies_close(bodies_file *f, const char *part)
{
    holo_model *model = NULL;
    holo_error e = {0};
    fault_seal(f->bytes.data, f->bytes.size);
    holo_status status =
        holo_model_open_memory(f->bytes.data, f->bytes.size, holo_kernels_all(), NULL, &model, &e);
    CHECK_STATUS(status, HOLO_E_FORMAT);
    CHECK_HAS(e.message, part);
    holo_model_free(model);
    free(f->bytes.data);
}

static hg_value_rec *bodies_value(const hg_program *p, uint32_t v)
{
    return (hg_value_rec *)(uintptr_t)&p->value[v];
}

static void bodies_of_if(void)
{
    for (int i = 0; i < 9; i++) {
        bodies_file f = bodies_open(bodies_if, HG_STEP_IF);
        const char *part = "";
        switch (i) {
        case 0: f.step->n_in = 0, part = "IF takes a condition and two bodies"; break;
        case 1: f.list[f.step->in] = 0, part = "IF takes a condition and two bodies"; break;
        case 2: f.step->b = f.step->a, part = "IF takes a condition and two bodies"; break;
        case 3: f.step->n_in -= 1, part = "IF has"; break;
        case 4: f.list[f.step->in + 1] = f.list[f.step->in], part = "does not fit input"; break;
        case 5: f.list[f.step->in + 1] = 0, part = "does not fit input"; break;
        case 6:
            bodies_value(&f.program[0], f.list[f.step->out])->dtype = HOLO_F64;
            part = "does not fit output";
            break;
        case 7: f.step->a = 0, part = "runs program 0"; break; /* itself: endless recursion */
        default: f.step->b = 99, part = "runs program 99"; break;
        }
        bodies_close(&f, part);
    }
}

static void bodies_of_loop(void)
{
    for (int i = 0; i < 8; i++) {
        bodies_file f = bodies_open(bodies_loop, HG_STEP_LOOP);
        const hg_program *body = &f.program[1];
        const char *part = "";
        switch (i) {
        case 0: f.step->n_param = 0, part = "LOOP takes a trip count and a condition"; break;
        case 1: f.step->n_param -= 1, part = "LOOP has"; break;
        case 2: f.step->n_in -= 1, part = "LOOP has"; break;
        case 3:
            bodies_value(body, body->in[0].value)->dtype = HOLO_I32;
            part = "does not take a counter and a condition";
            break;
        case 4:
            bodies_value(body, body->out[1].value)->dtype = HOLO_F64;
            part = "gives carried value 0 another type";
            break;
        case 5:
            bodies_value(&f.program[0], f.list[f.step->out + 1])->dtype = HOLO_F64;
            part = "does not fit what the body gives";
            break;
        case 6:
            bodies_value(&f.program[0], f.list[f.step->out + 1])->dtype = HOLO_SEQUENCE;
            bodies_value(body, body->out[2].value)->dtype = HOLO_SEQUENCE;
            part = "stacks what is no tensor";
            break;
        default:
            ((hg_dim_rec *)(uintptr_t)&f.program[0].dim[f.list[f.step->param]])->value = 7;
            part = "LOOP has parameter 0 above";
            break;
        }
        bodies_close(&f, part);
    }
}

const hg_test_case hg_tests_fault_bodies[] = {
    {"of_if", bodies_of_if},
    {"of_loop", bodies_of_loop},
    {0},
};
