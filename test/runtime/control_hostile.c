/* control_hostile.c - programs whose control flow lies: refused at open, or harmless when run. The
 * hashes are right: whoever writes such a file computes them too. */
#include "archive/holo.h"
#include "base/hash.h"
#include "control_text.h"
#include "isa/program.h"

#include <stdlib.h>

/* A loop with a branch, a sequence and strings inside; programs: graph, body, then, else. */
static const char *const hostile_text =
    "graph(%m: int64[], %x: float32[n], %t: string[2]) {\n"
    "  %k = const string[2] {\"left\", \"right\"}\n"
    "  %e = SequenceEmpty()\n"
    "  %two = const int64[] {2}\n"
    "  %y, %s, %u, %all = Loop(%m, _, %x, %e, %t) body(%i: int64[], %c: bool[], %v: float32[n],\n"
    "      %p: sequence(float32), %z: string[2]) {\n"
    "    %odd = Less(%i, %two)\n"
    "    %w = If(%odd) then() { %a = Concat(%v, %x) {axis=0} return %a }\n"
    "      else() { %b = Neg(%v) return %b }\n"
    "    %q = SequenceInsert(%p, %w)\n"
    "    %r = StringConcat(%z, %k)\n"
    "    %h = ReduceMax(%w) {keepdims=0}\n"
    "    return %c, %w, %q, %r, %h\n  }\n"
    "  %l = ConcatFromSequence(%s) {axis=0}\n"
    "  return %y, %l, %u, %all\n}\n";

/* A copy of the file that may be changed, and the sections of it. */
typedef struct hostile {
    control f;
    uint8_t *copy;
    hg_holo_head *head;
    hg_holo_section *table;
} hostile;

static bool hostile_start(hostile *h)
{
    *h = (hostile){0};
    if (!control_compile(&h->f, hostile_text, 0)) return false;
    h->copy = aligned_alloc(64, hg_align_up(h->f.size, 64));
    if (!CHECK(h->copy != NULL)) return false;
    h->head = (hg_holo_head *)(void *)h->copy;
    h->table = (hg_holo_section *)(void *)(h->copy + sizeof *h->head);
    return true;
}

static void hostile_restore(hostile *h)
{
    memcpy(h->copy, h->f.data, h->f.size);
}

static void hostile_end(hostile *h)
{
    free(h->copy);
    control_close(&h->f);
}

static hg_program hostile_program(hostile *h, uint32_t number)
{
    hg_program p;
    CHECK_EQ_INT(h->table[number].kind, HG_SECTION_PROGRAM);
    CHECK_OK(hg_program_view(h->copy + h->table[number].offset, (size_t)h->table[number].size, &p,
                             &h->f.error),
             &h->f.error);
    return p;
}

static hg_program_head *hostile_head(hostile *h, uint32_t number)
{
    return (hg_program_head *)(void *)(h->copy + h->table[number].offset);
}

/* The step of program `number` that runs bodies. */
static hg_step_rec *hostile_step(hostile *h, uint32_t number)
{
    hg_program p = hostile_program(h, number);
    for (uint32_t i = 0; i < p.head.n_step; i++)
        if (p.step[i].op == HG_STEP_IF || p.step[i].op == HG_STEP_LOOP)
            return (hg_step_rec *)(uintptr_t)&p.step[i];
    CHECK(false);
    return NULL;
}

static void hostile_rehash(hostile *h)
{
    for (uint32_t i = 0; i < h->head->n_section; i++)
        h->table[i].hash = hg_hash_blocks(h->copy + h->table[i].offset, (size_t)h->table[i].size);
    h->head->hash = 0;
    h->head->hash = hg_hash(h->table, h->head->n_section * sizeof *h->table,
                            hg_hash(h->head, sizeof *h->head, 0));
}

static holo_status hostile_open(hostile *h, holo_model **model)
{
    hostile_rehash(h);
    return holo_model_open_memory(h->copy, h->f.size, holo_kernels_all(), NULL, model, &h->f.error);
}

static void hostile_refused(hostile *h, const char *part)
{
    holo_model *model = NULL;
    CHECK_STATUS(hostile_open(h, &model), HOLO_E_FORMAT);
    CHECK_HAS(h->f.error.message, part);
    holo_model_free(model);
    hostile_restore(h);
}

/* ---- numbers of bodies ------------------------------------------------------------------------
 */

static void hostile_numbers(void)
{
    hostile h;
    if (hostile_start(&h)) {
        static const uint32_t wrong[] = {0, 4, UINT32_MAX};
        hostile_restore(&h);
        for (size_t i = 0; i < HG_COUNT(wrong); i++) {
            hostile_step(&h, 0)->a = wrong[i];
            hostile_refused(&h, "runs program");
        }
        hostile_step(&h, 1)->a = 1; /* itself */
        hostile_refused(&h, "runs program 1");
        hostile_step(&h, 1)->b = hostile_step(&h, 1)->a;
        hostile_refused(&h, "two bodies");
        hostile_step(&h, 0)->a = 2; /* which belongs to the branch; and 1 to nobody */
        hostile_refused(&h, "");
        hostile_head(&h, 1)->is_body = 0;
        hostile_refused(&h, "runs program 1");
        hostile_head(&h, 3)->is_body = 0;
        hostile_refused(&h, "graph behind a body");
        hostile_head(&h, 0)->is_body = 1;
        hostile_refused(&h, "no graph");
        hostile_head(&h, 0)->is_body = 2;
        hostile_refused(&h, "neither graph nor body");
    }
    hostile_end(&h);
}

/* ---- operands ---------------------------------------------------------------------------------
 */

static void hostile_operands(void)
{
    hostile h;
    if (hostile_start(&h)) {
        hostile_restore(&h);
        hostile_step(&h, 0)->n_in--;
        hostile_refused(&h, "its body");
        hostile_step(&h, 0)->n_out--;
        hostile_refused(&h, "LOOP has");
        hostile_step(&h, 0)->n_param--;
        hostile_refused(&h, "LOOP has");
        hostile_step(&h, 0)->n_param = 0;
        hostile_refused(&h, "trip count");
        hostile_step(&h, 1)->n_in--;
        hostile_refused(&h, "IF has");
        hostile_step(&h, 1)->n_param = 1;
        hostile_refused(&h, "");
        hostile_step(&h, 1)->op = HG_STEP_LOOP;
        hostile_refused(&h, "LOOP takes");
        hostile_step(&h, 0)->op = HG_STEP_IF;
        hostile_refused(&h, "IF takes");
        hg_program p = hostile_program(&h, 0);
        const hg_step_rec *loop = hostile_step(&h, 0);
        uint32_t *list = (uint32_t *)(uintptr_t)p.list;
        list[loop->in + 2] = list[loop->in + 3]; /* a sequence for a tensor */
        hostile_refused(&h, "does not fit input 2");
        list[loop->in + 4] = 0;
        hostile_refused(&h, "does not fit input 4");
        list[loop->param] = list[loop->param + 1];
        hostile_refused(&h, "LOOP");
        p = hostile_program(&h, 1);
        ((hg_port_rec *)(uintptr_t)p.out)[0].value = p.out[1].value; /* no condition */
        hostile_refused(&h, "");
    }
    hostile_end(&h);
}

/* ---- anything ---------------------------------------------------------------------------------
 */

static void hostile_run(hostile *h, holo_model *model)
{
    holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
    holo_session *s;
    int64_t m = 3;
    float x[4] = {1, 2, 3, 4};
    holo_string text[2] = {{"a", 1}, {"bc", 2}};
    holo_tensor in[3] = {
        {.data = &m, .dtype = HOLO_I64},
        {.data = x, .dim = {4}, .rank = 1, .dtype = HOLO_F32},
        {.data = text, .dim = {2}, .rank = 1, .dtype = HOLO_STRING},
    };
    o.flags = HOLO_SESSION_GROW;
    o.limits.memory_bytes = 8 << 20;
    o.limits.tensor_bytes = 1 << 20;
    o.limits.loop_iterations = 50;
    o.limits.run_ms = 200;
    if (holo_session_new(model, &o, &s, &h->f.error) != HOLO_OK) return;
    for (uint32_t i = 0; i < holo_model_input_count(model, 0) && i < 3; i++)
        (void)holo_session_set_input(s, i, &in[i], &h->f.error);
    (void)holo_session_run(s, &h->f.error);
    (void)holo_session_run(s, &h->f.error);
    holo_session_free(s);
}

/* Changed words anywhere in the programs: an error or some result, never more than that. */
static void hostile_words(void)
{
    hostile h;
    uint32_t random = 12345, opened = 0;
    if (hostile_start(&h)) {
        for (int round = 0; round < 20000; round++) {
            hostile_restore(&h);
            uint32_t changes = 1 + (uint32_t)round % 3;
            for (uint32_t k = 0; k < changes; k++) {
                random = random * 1664525 + 1013904223;
                const hg_holo_section *s = &h.table[(random >> 8) % 4];
                random = random * 1664525 + 1013904223;
                uint8_t *at = h.copy + s->offset + (random >> 4) % (s->size / 4) * 4;
                random = random * 1664525 + 1013904223;
                uint32_t word;
                memcpy(&word, at, 4);
                word = (random >> 28) < 12 ? (random >> 20) % 24 : word ^ 1U << (random >> 20) % 32;
                memcpy(at, &word, 4);
            }
            holo_model *model = NULL;
            if (hostile_open(&h, &model) != HOLO_OK) continue;
            opened++;
            hostile_run(&h, model);
            holo_model_free(model);
        }
        CHECK(opened > 100);
    }
    hostile_end(&h);
}

/* Constant strings that lie outside their weight. */
static void hostile_strings(void)
{
    hostile h;
    if (hostile_start(&h)) {
        hostile_restore(&h);
        const hg_holo_section *w = &h.table[h.head->n_section - 1];
        CHECK_EQ_INT(w->kind, HG_SECTION_WEIGHTS);
        hg_program p = hostile_program(&h, 1);
        for (uint32_t v = 1; v < p.head.n_value; v++) {
            if (p.value[v].dtype != HOLO_STRING || p.value[v].storage != HG_STORAGE_WEIGHT)
                continue;
            uint8_t *data = h.copy + w->offset + p.weight[p.value[v].ref].offset;
            for (int field = 0; field < 3; field++) {
                const uint64_t wrong = field == 0 ? 1000 : UINT64_MAX - 3;
                memcpy(data + 8 * field, &wrong, sizeof wrong);
                hostile_refused(&h, field == 0 ? "no strings" : "lie outside it");
            }
        }
    }
    hostile_end(&h);
}

const hg_test_case hg_tests_runtime_control_hostile[] = {
    {"numbers", hostile_numbers},
    {"operands", hostile_operands},
    {"strings", hostile_strings},
    {"words", hostile_words},
    {0},
};
