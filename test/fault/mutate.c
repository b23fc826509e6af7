/* mutate.c - altered programs with right hashes: what opens must run clean. The address sanitizer
 * watches inputs, weights and, through red zones, every buffer of the session. */
#include "fault/checks.h"
#include "fault/fault.h"
#include "fault/programs.h"
#include "isa/program.h"
#include "kernel/kernels.h"
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#ifdef HG_REDZONE
enum { MUTATE_COUNT = 10000 }; /* per case */
#else
enum { MUTATE_COUNT = 2000 };
#endif

typedef struct mutate {
    hg_program p; /* views into the copy */
    const holo_kernels *kernels;
    uint64_t state;
} mutate;

/* Tables are views of memory that this file owns. */
#define MUTATE_WRITE(pointer) ((void *)(uintptr_t)(pointer))

static uint32_t mutate_below(mutate *m, uint32_t n)
{
    return fault_below(&m->state, n);
}

/* A number near the old one, at an edge, or small. */
static uint32_t mutate_u32(mutate *m, uint32_t old, uint32_t bound)
{
    switch (mutate_below(m, 8)) {
    case 0: return old + 1;
    case 1: return old - 1;
    case 2: return bound;
    case 3: return bound - 1;
    case 4: return mutate_below(m, 4);
    case 5: return UINT32_MAX - mutate_below(m, 2);
    default: return mutate_below(m, bound + 1);
    }
}

static int64_t mutate_i64(mutate *m, int64_t old)
{
    static const int64_t edge[] = {0,         1,  2,         -1,        3,         5,
                                   7,         16, 64,        1000,      INT32_MAX, INT64_MAX,
                                   INT64_MIN, -2, 1LL << 20, 1LL << 40, 1LL << 62, 4096};
    if (mutate_below(m, 3) == 0) return (int64_t)((uint64_t)old + mutate_below(m, 5) - 2);
    return edge[mutate_below(m, HG_COUNT(edge))];
}

static void mutate_list(mutate *m)
{
    uint32_t *list = MUTATE_WRITE(m->p.list), n = m->p.head.n_list;
    if (n == 0) return;
    uint32_t i = mutate_below(m, n);
    if (mutate_below(m, 3) == 0)
        list[i] = list[mutate_below(m, n)];
    else
        list[i] =
            mutate_u32(m, list[i], mutate_below(m, 2) == 0 ? m->p.head.n_value : m->p.head.n_dim);
}

static void mutate_dim(mutate *m)
{
    hg_dim_rec *dim = MUTATE_WRITE(m->p.dim);
    if (m->p.head.n_dim < 2) return;
    uint32_t i = 1 + mutate_below(m, m->p.head.n_dim - 1);
    switch (mutate_below(m, 4)) {
    case 0: dim[i].op = mutate_below(m, HG_DIM_TRUNCDIV + 2); break;
    case 1: dim[i].a = mutate_u32(m, dim[i].a, i); break;
    case 2: dim[i].b = mutate_u32(m, dim[i].b, i); break;
    default: dim[i].value = mutate_i64(m, dim[i].value); break;
    }
}

static void mutate_value(mutate *m)
{
    hg_value_rec *value = MUTATE_WRITE(m->p.value);
    if (m->p.head.n_value < 2) return;
    hg_value_rec *v = &value[1 + mutate_below(m, m->p.head.n_value - 1)];
    switch (mutate_below(m, 8)) {
    case 0: v->dtype = (uint8_t)mutate_below(m, 28); break;
    case 7: v->dtype = (uint8_t)(HOLO_SEQUENCE + mutate_below(m, 3)); break;
    case 1: v->rank = (int8_t)((int)mutate_below(m, 11) - 1); break;
    case 2: v->storage = (uint8_t)mutate_below(m, 6); break;
    case 3: v->dims = mutate_u32(m, v->dims, m->p.head.n_list); break;
    case 4: v->ref = mutate_u32(m, v->ref, m->p.head.n_value); break;
    case 5: v->offset = mutate_u32(m, v->offset, m->p.head.n_dim); break;
    default: v->dtype = value[1 + mutate_below(m, m->p.head.n_value - 1)].dtype; break;
    }
}

static void mutate_step(mutate *m)
{
    hg_step_rec *step = MUTATE_WRITE(m->p.step);
    const hg_program_head *h = &m->p.head;
    if (h->n_step == 0) return;
    hg_step_rec *s = &step[mutate_below(m, h->n_step)], swap;
    switch (mutate_below(m, 11)) {
    case 0: s->op = (uint16_t)mutate_below(m, 7); break;
    case 1: s->kernel = mutate_u32(m, s->kernel, h->n_kernel); break;
    case 2: s->in = mutate_u32(m, s->in, h->n_list); break;
    case 3: s->n_in = (uint16_t)mutate_u32(m, s->n_in, 4); break;
    case 4: s->out = mutate_u32(m, s->out, h->n_list); break;
    case 5: s->n_out = (uint16_t)mutate_u32(m, s->n_out, 3); break;
    case 6: s->param = mutate_u32(m, s->param, h->n_list); break;
    case 7: s->n_param = (uint16_t)mutate_u32(m, s->n_param, 8); break;
    case 8: s->code = mutate_u32(m, s->code, h->n_code + 1); break;
    case 9: s->a = mutate_u32(m, s->a, 3); break;
    default:
        swap = *s;
        *s = step[0];
        step[0] = swap;
        break;
    }
}

static void mutate_lane(mutate *m)
{
    hg_lane_op *list = MUTATE_WRITE(m->p.lane_op);
    if (m->p.head.n_lane_op == 0) return;
    hg_lane_op *op = &list[mutate_below(m, m->p.head.n_lane_op)];
    switch (mutate_below(m, 8)) {
    case 0: op->op = (uint8_t)mutate_below(m, 64); break;
    case 1: op->type = (uint8_t)mutate_below(m, 7); break;
    case 2: op->dst = (uint16_t)mutate_below(m, 6); break;
    case 3: op->a = (uint16_t)mutate_below(m, 6); break;
    case 4: op->b = (uint16_t)mutate_below(m, 6); break;
    case 5: op->c = (uint16_t)mutate_below(m, 6); break;
    case 6: op->index = mutate_u32(m, op->index, 6); break;
    default: op->imm = fault_random(&m->state); break;
    }
}

static void mutate_code(mutate *m)
{
    hg_code_rec *list = MUTATE_WRITE(m->p.code_rec);
    hg_lane_out *outs = MUTATE_WRITE(m->p.lane_out);
    if (m->p.head.n_code == 0 || m->p.head.n_lane_out == 0) return;
    hg_code_rec *c = &list[mutate_below(m, m->p.head.n_code)];
    hg_lane_out *out = &outs[mutate_below(m, m->p.head.n_lane_out)];
    switch (mutate_below(m, 9)) {
    case 0: c->first_op = mutate_u32(m, c->first_op, m->p.head.n_lane_op); break;
    case 1: c->n_op = mutate_u32(m, c->n_op, m->p.head.n_lane_op); break;
    case 2: c->first_out = mutate_u32(m, c->first_out, m->p.head.n_lane_out); break;
    case 3: c->n_out = mutate_u32(m, c->n_out, m->p.head.n_lane_out); break;
    case 4: c->n_in = mutate_u32(m, c->n_in, 4); break;
    case 5: c->n_reg = mutate_u32(m, c->n_reg, 8); break;
    case 6: out->reg = (uint16_t)mutate_u32(m, out->reg, 8); break;
    case 7: out->type = (uint8_t)mutate_below(m, 7); break;
    default: out->saturate = (uint8_t)mutate_below(m, 3); break;
    }
}

static void mutate_symbol(mutate *m)
{
    hg_symbol_rec *list = MUTATE_WRITE(m->p.symbol);
    if (m->p.head.n_symbol == 0) return;
    hg_symbol_rec *s = &list[mutate_below(m, m->p.head.n_symbol)];
    switch (mutate_below(m, 4)) {
    case 0: s->kind = mutate_below(m, 5); break;
    case 1: s->value = mutate_u32(m, s->value, m->p.head.n_value); break;
    case 2: s->index = mutate_u32(m, s->index, 4); break;
    default: s->at_most = mutate_i64(m, s->at_most); break;
    }
}

static void mutate_rest(mutate *m)
{
    hg_weight_rec *weight = MUTATE_WRITE(m->p.weight);
    hg_port_rec *in = MUTATE_WRITE(m->p.in), *out = MUTATE_WRITE(m->p.out);
    uint32_t n_weight = m->p.head.n_weight, w = mutate_below(m, n_weight);
    switch (mutate_below(m, 4)) {
    case 0:
        if (n_weight != 0) weight[w].offset += (mutate_below(m, 5) - 2) * (uint64_t)64;
        break;
    case 1:
        if (n_weight != 0) weight[w].bytes = (uint64_t)mutate_i64(m, (int64_t)weight[w].bytes);
        break;
    case 2:
        if (m->p.head.n_in != 0)
            in[mutate_below(m, m->p.head.n_in)].value = mutate_below(m, m->p.head.n_value + 1);
        break;
    default:
        if (m->p.head.n_out != 0)
            out[mutate_below(m, m->p.head.n_out)].value = mutate_below(m, m->p.head.n_value + 1);
        break;
    }
}

/* Another kernel whose name is not longer takes the place. */
static void mutate_kernel(mutate *m)
{
    if (m->p.head.n_kernel == 0 || m->kernels->count == 0) return;
    uint32_t at = m->p.kernel[mutate_below(m, m->p.head.n_kernel)];
    char *text = MUTATE_WRITE(m->p.text);
    if (at >= m->p.head.n_text) return;
    size_t room = strnlen(text + at, m->p.head.n_text - at);
    const char *name = m->kernels->list[mutate_below(m, (uint32_t)m->kernels->count)][0].name;
    if (name != NULL && strlen(name) < room) memcpy(text + at, name, strlen(name) + 1);
}

static void mutate_byte(mutate *m, uint8_t *section, size_t size)
{
    size_t i = (size_t)(fault_random(&m->state) % size);
    if (mutate_below(m, 2) == 0)
        section[i] = (uint8_t)fault_random(&m->state);
    else
        section[i] ^= (uint8_t)(1U << mutate_below(m, 8));
}

/* One to four changes; dims and list entries most often, since they reach the deepest. */
static void mutate_section(mutate *m, uint8_t *section, size_t size)
{
    holo_error e;
    if (hg_program_view(section, size, &m->p, &e) != HOLO_OK) return;
    for (uint32_t n = 1 + mutate_below(m, 6) / 4; n > 0; n--) {
        switch (mutate_below(m, 16)) {
        case 0:
        case 1:
        case 2: mutate_list(m); break;
        case 3:
        case 4:
        case 5:
        case 6: mutate_dim(m); break;
        case 7:
        case 8: mutate_value(m); break;
        case 9: mutate_step(m); break;
        case 10: mutate_lane(m); break;
        case 11: mutate_code(m); break;
        case 12: mutate_symbol(m); break;
        case 13: mutate_rest(m); break;
        case 14: mutate_kernel(m); break;
        default: mutate_byte(m, section, size); break;
        }
    }
}

/* The number of the mutant at work is the first line of the output when one ends the process. */
static void mutate_announce(uint32_t number, const char *text)
{
    char line[96];
    int length = snprintf(line, sizeof line, "mutant %u of %.70s", number, text);
    while (length < (int)sizeof line - 1)
        line[length++] = ' ';
    line[sizeof line - 1] = '\n';
    if (pwrite(STDOUT_FILENO, line, sizeof line, 0) < 0) return; /* a terminal has no place 0 */
}

static void mutate_one(const fault_program *base, size_t n_base, uint32_t number, int *opened,
                       int *ran)
{
    mutate m = {.kernels = hg_kernels_reference(), .state = number};
    const fault_program *b = &base[fault_random(&m.state) % n_base];
    uint8_t *copy = fault_copy(b->data, b->size);
    uint32_t count = 0;
    hg_holo_section *table = fault_sections(copy, b->size, &count);
    mutate_announce(number, b->text);
    for (uint32_t i = 0; i < count; i++)
        if (table[i].kind == HG_SECTION_PROGRAM && (count <= 3 || mutate_below(&m, 2) == 0))
            mutate_section(&m, copy + table[i].offset, (size_t)table[i].size);
    fault_seal(copy, b->size);
    bool is_open;
    holo_error e;
    holo_status status = fault_play(copy, b->size, &m.state, &is_open, &e);
    *opened += is_open;
    *ran += status == HOLO_OK;
    free(copy);
}

static void mutate_range(uint32_t first)
{
    static fault_program base[FAULT_PROGRAMS];
    size_t n_base = fault_compile_all(base);
    int opened = 0, ran = 0;
    for (uint32_t i = 0; n_base != 0 && i < MUTATE_COUNT; i++)
        mutate_one(base, n_base, first * MUTATE_COUNT + i, &opened, &ran);
    fault_free_all(base, n_base);
    /* The damage is small enough to get behind the verifier, and now and then through the run. */
    CHECK(opened > MUTATE_COUNT / 5);
    CHECK(ran > MUTATE_COUNT / 20);
    hg_checks_forget();
}

static bool mutate_has_kernel(const fault_program *base, size_t n_base, const char *name)
{
    for (size_t i = 0; i < n_base; i++) {
        uint32_t count = 0;
        const uint8_t *data = base[i].data;
        const hg_holo_section *table = fault_sections(base[i].data, base[i].size, &count);
        for (uint32_t k = 0; k < count; k++) {
            hg_program p;
            if (table[k].kind != HG_SECTION_PROGRAM) continue;
            if (hg_program_view(data + table[k].offset, (size_t)table[k].size, &p, NULL) != HOLO_OK)
                continue;
            for (uint32_t j = 0; j < p.head.n_kernel; j++)
                if (strcmp(p.text + p.kernel[j], name) == 0) return true;
        }
    }
    return false;
}

/* The bases run as they are, and nearly every kernel is in one of them. */
static void mutate_bases(void)
{
    static fault_program base[FAULT_PROGRAMS];
    size_t n_base = fault_compile_all(base);
    const holo_kernels *kernels = hg_kernels_reference();
    size_t missing = 0, total = 0;
    for (size_t i = 0; i < kernels->count; i++)
        for (const hg_kernel *k = kernels->list[i]; k->name != NULL; k++, total++)
            if (!mutate_has_kernel(base, n_base, k->name)) {
                printf("no base calls kernel %s\n", k->name);
                missing++;
            }
    CHECK(missing * 10 < total); /* those that are new; kernels take each other's place anyway */
    for (size_t i = 0; i < n_base; i++) {
        bool opened = false, ran = false;
        holo_error e = {0};
        uint8_t *copy = fault_copy(base[i].data, base[i].size);
        uint64_t state = 1;
        for (int n = 0; n < 100 && !ran; n++)
            ran = fault_play(copy, base[i].size, &state, &opened, &e) == HOLO_OK;
        if (!ran) hg_test_fail(HG_TEST_HERE, "%s never ran: %s", base[i].text, e.message);
        free(copy);
    }
    fault_free_all(base, n_base);
}

#define MUTATE_CASE(n)                                                                             \
    static void mutate_range_##n(void)                                                             \
    {                                                                                              \
        mutate_range(n);                                                                           \
    }
MUTATE_CASE(0)
MUTATE_CASE(1)
MUTATE_CASE(2)
MUTATE_CASE(3)
MUTATE_CASE(4)
MUTATE_CASE(5)
MUTATE_CASE(6)
MUTATE_CASE(7)
MUTATE_CASE(8)
MUTATE_CASE(9)
#undef MUTATE_CASE

const hg_test_case hg_tests_fault_mutate[] = {
    {"bases", mutate_bases},     {"range_0", mutate_range_0}, {"range_1", mutate_range_1},
    {"range_2", mutate_range_2}, {"range_3", mutate_range_3}, {"range_4", mutate_range_4},
    {"range_5", mutate_range_5}, {"range_6", mutate_range_6}, {"range_7", mutate_range_7},
    {"range_8", mutate_range_8}, {"range_9", mutate_range_9}, {0},
};
