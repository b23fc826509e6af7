/* error_gallery.c - prints the gallery of docs/reference/errors.mdx: bad models, files and inputs,
 * run for real, and the sentences they give. */
#include "fault/fault.h"
#include "fault/programs.h"

#include <stdio.h>

typedef struct gallery_case {
    const char *title, *advice;
    const char *graph;
    int64_t size; /* of symbol k of inputs; others are 2 */
    double fill;  /* of inputs */
    holo_limits limits;
} gallery_case;

enum { GALLERY_INPUTS = 5, GALLERY_ELEMENTS = 4096 };

static const gallery_case gallery_compile[] = {
    {.title = "Inputs of an operator do not fit each other",
     .advice =
         "Look at the named node in the model; shapes are inferred, declared ones do not count.",
     .graph = "graph(%x: float32[n,4], %w: float32[5,2]) { %y = MatMul(%x, %w) : ? \"dense\""
              " return %y as \"y\" }"},
    {.title = "Shapes do not broadcast",
     .advice = "Reshape or Unsqueeze one of them.",
     .graph = "graph(%x: float32[n,4], %b: float32[3]) { %y = Add(%x, %b) : ? \"bias\""
              " return %y as \"y\" }"},
    {.title = "An attribute is outside the standard",
     .advice = "The range that the operator takes is in the sentence: correct the attribute.",
     .graph = "graph(%x: float32[n,4]) { %y = Softmax(%x) {axis=2} : ? \"probabilities\""
              " return %y as \"y\" }"},
    {.title = "A kernel is larger than its input",
     .advice = "Pad more, or give larger images.",
     .graph = "graph(%x: float32[1,2,2,2], %w: float32[2,2,3,3]) { %y = Conv(%x, %w) : ? \"stem\""
              " return %y as \"y\" }"},
    {.title = "An element type that an operator does not take",
     .advice = "Cast the input; `hologram ops` lists what each operator takes.",
     .graph = "graph(%x: string[n]) { %y = Relu(%x) : ? \"act\" return %y as \"y\" }"},
    {.title = "Element types that differ",
     .advice = "Cast one of them.",
     .graph = "graph(%x: float32[n], %b: float16[n]) { %y = Mul(%x, %b) : ? \"scale\""
              " return %y as \"y\" }"},
    {.title = "A constant result that is too large",
     .advice = "Raise limits.tensor_bytes if the model is trusted.",
     .graph = "graph() { %s = const int64[3] {65536,65536,64} %y = ConstantOfShape(%s) : ? \"bomb\""
              " return %y as \"y\" }",
     .limits = {.tensor_bytes = 1 << 30}},
    {.title = "A compile above its memory",
     .advice = "Raise --max-memory or limits.memory_bytes.",
     .graph = "graph(%x: float32[n,4]) { %y = Relu(%x) return %y as \"y\" }",
     .limits = {.memory_bytes = 4096}},
};

static const gallery_case gallery_run[] = {
    {.title = "Sizes that an operator needs equal",
     .advice = "Both sizes are in the sentence: bind an input of the expected size.",
     .graph = "graph(%x: float32[n,c], %s: float32[k], %b: float32[c], %m: float32[c],"
              " %v: float32[c]) { %y = BatchNormalization(%x, %s, %b, %m, %v) : ? \"bn\""
              " return %y as \"y\" }",
     .size = 5},
    {.title = "Sizes that do not broadcast once they are known",
     .advice = "Bind inputs that have the same size in this dimension, or 1.",
     .graph = "graph(%x: float32[n,3], %y: float32[n,k]) { %z = Add(%x, %y) : ? \"sum\""
              " return %z as \"z\" }",
     .size = 2},
    {.title = "An index out of range",
     .advice = "The data is at fault: the range that is allowed is in the sentence; check the "
               "vocabulary or table that the indices were made for.",
     .graph = "graph(%x: float32[4,3], %i: int64[n]) { %y = Gather(%x, %i) : ? \"embed\""
              " return %y as \"y\" }",
     .fill = 7},
    {.title = "An integer division by zero",
     .advice = "The data is at fault: replace zeros before (Where), or divide as floats.",
     .graph = "graph(%x: int64[n], %y: int64[n]) { %z = Div(%x, %y) : ? \"ratio\""
              " return %z as \"z\" }"},
    {.title = "A target that is no shape",
     .advice = "Look at the node that gives this value: the numbers in its shape tensor must "
               "multiply to the elements there are.",
     .graph = "graph(%x: float32[n,3], %s: int64[2]) { %y = Reshape(%x, %s) : ? \"view\""
              " return %y as \"y\" }",
     .fill = 5},
    {.title = "A loop above its limit",
     .advice = "Raise limits.loop_iterations if the model is trusted.",
     .graph = "graph(%x: float32[n]) { %t = const bool[] {true} %y = Loop(_, %t, %x)"
              " body(%i: int64[], %c: bool[], %a: float32[n]) { %b = Neg(%a) return %c, %b }"
              " return %y as \"y\" }",
     .limits = {.loop_iterations = 1000}},
    {.title = "A run above its memory",
     .advice = "Raise --max-memory or limits.memory_bytes, or bind smaller inputs.",
     .graph = "graph(%x: float32[n,k]) { %y = Exp(%x) return %y as \"y\" }",
     .size = 2000,
     .limits = {.memory_bytes = 1000}},
};

static void gallery_print(const gallery_case *c, holo_status status, const holo_error *e)
{
    printf("**%s.** %s\n\n```text\n%s\n", c->title, c->advice, c->graph);
    printf("\n%s\n%s\n```\n\n", holo_status_text(status), e->message);
}

static holo_status gallery_bind(const gallery_case *c, const holo_model *m, holo_session *s,
                                void *const *room, holo_error *e)
{
    for (uint32_t i = 0; i < holo_model_input_count(m, 0) && i < GALLERY_INPUTS; i++) {
        holo_port port;
        if (holo_model_input(m, 0, i, &port) != HOLO_OK) return HOLO_E_BUG;
        holo_tensor t = {.data = room[i], .rank = port.rank, .dtype = port.dtype};
        for (int32_t k = 0; k < port.rank; k++)
            t.dim[k] = port.dim[k] >= 0                     ? port.dim[k]
                       : strcmp(port.dim_name[k], "k") == 0 ? c->size
                                                            : 2;
        for (int64_t k = 0; k < GALLERY_ELEMENTS; k++) {
            if (port.dtype == HOLO_I64) ((int64_t *)room[i])[k] = (int64_t)c->fill;
            if (port.dtype == HOLO_F32) ((float *)room[i])[k] = (float)c->fill;
        }
        holo_status status = holo_session_set_input(s, i, &t, e);
        if (status != HOLO_OK) return status;
    }
    return holo_session_run(s, e);
}

static int gallery_one(const gallery_case *c, bool runs)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_session_options how = HOLO_SESSION_OPTIONS_INIT;
    holo_error e = {0};
    void *data = NULL, *room[GALLERY_INPUTS];
    size_t size = 0;
    holo_model *model = NULL;
    holo_session *session = NULL;
    for (int i = 0; i < GALLERY_INPUTS; i++)
        room[i] = calloc(GALLERY_ELEMENTS, 8);
    if (!runs) options.limits = c->limits;
    how.limits = c->limits;
    how.flags = HOLO_SESSION_GROW;
    holo_status status = fault_compile(c->graph, &options, &data, &size, &e);
    if (runs && status == HOLO_OK)
        status = holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e);
    if (runs && status == HOLO_OK) status = holo_session_new(model, &how, &session, &e);
    if (runs && status == HOLO_OK) status = gallery_bind(c, model, session, room, &e);
    gallery_print(c, status, &e);
    holo_session_free(session);
    holo_model_free(model);
    holo_buffer_free(NULL, data, size);
    for (int i = 0; i < GALLERY_INPUTS; i++)
        free(room[i]);
    return status == HOLO_OK;
}

/* ---- files -------------------------------------------------------------------------------------
 */

typedef struct gallery_file {
    const char *title, *advice;
    size_t at; /* byte that is changed; at or behind the end: the file is cut there */
    uint8_t value;
    bool sealed; /* hashes are made right again */
} gallery_file;

static const gallery_file gallery_files[] = {
    {"Not a .holo file", "Compile the model first: hologram compile.", 0, 'X', false},
    {"A file of a newer version", "Use a newer release, or compile the model again.",
     offsetof(hg_holo_head, version), 9, false},
    {"A damaged head", "Copy or compile it again.", offsetof(hg_holo_head, hash), 1, false},
    {"A file that was cut", "Copy it again: it is not whole.", SIZE_MAX, 0, false},
    {"A damaged program", "Copy or compile it again.", 320, 0xff, false},
};

static int gallery_open(const gallery_file *f, const uint8_t *bytes, size_t size)
{
    holo_error e = {0};
    holo_model *model = NULL;
    uint8_t *copy = fault_copy(bytes, size);
    if (f->at < size)
        copy[f->at] = f->value;
    else
        size -= 100;
    holo_status status = holo_model_open_memory(copy, size, holo_kernels_all(), NULL, &model, &e);
    printf("**%s.** %s\n\n```text\n%s\n%s\n```\n\n", f->title, f->advice, holo_status_text(status),
           e.message);
    holo_model_free(model);
    free(copy);
    return status == HOLO_OK;
}

int main(void)
{
    int bad = 0;
    void *data = NULL;
    size_t size = 0;
    puts("### While compiling\n");
    for (size_t i = 0; i < HG_COUNT(gallery_compile); i++)
        bad += gallery_one(&gallery_compile[i], false);
    puts("### While opening\n");
    if (fault_compile("graph(%x: float32[n,4]) { %y = Exp(%x) return %y as \"y\" }", NULL, &data,
                      &size, NULL) != HOLO_OK)
        return 1;
    for (size_t i = 0; i < HG_COUNT(gallery_files); i++)
        bad += gallery_open(&gallery_files[i], data, size);
    holo_buffer_free(NULL, data, size);
    puts("### While running\n");
    for (size_t i = 0; i < HG_COUNT(gallery_run); i++)
        bad += gallery_one(&gallery_run[i], true);
    return bad != 0;
}
