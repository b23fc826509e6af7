/* inspect.c - the four forms of holo_model_inspect: complete, well-formed, and safe with hostile
 * names. */
#include "archive/write.h"
#include "base/file.h"

#include "import/make.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* ---- a model -----------------------------------------------------------------------------------
 */

static const char hostile[] = "<script>alert(1)</script>\"'&";

/* Names of nodes are nobody's promise: "#7" becomes worse than text. */
static void inspect_spoil_names(uint8_t *bytes)
{
    hg_holo_head head;
    hg_holo_section section;
    memcpy(&head, bytes, sizeof head);
    for (uint32_t i = 0; i < head.n_section; i++) {
        memcpy(&section, bytes + sizeof head + i * sizeof section, sizeof section);
        if (section.kind != HG_SECTION_NAMES) continue;
        uint8_t *name = bytes + section.offset;
        for (uint64_t k = 0; k + 2 < section.size; k++)
            if (name[k] == '#') memcpy(name + k, "\x01\xff", 2);
    }
}

/* y = Relu(x * w + b) with any batch, and a name nobody should trust. */
static bool inspect_compile(void **bytes, size_t *size)
{
    holo_graph *g;
    holo_error e = {0};
    float w[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, b[4] = {0, 1, 0, -1};
    holo_tensor weight = {.data = w, .dim = {3, 4}, .rank = 2, .dtype = HOLO_F32};
    holo_tensor bias = {.data = b, .dim = {4}, .rank = 1, .dtype = HOLO_F32};
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return false;
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "batch,3"), product, sum, y;
    holo_graph_node(g, "MatMul", (holo_value_id[]){x, holo_graph_constant(g, &weight)}, 2, NULL, 0,
                    &product, 1);
    holo_graph_node(g, "Add", (holo_value_id[]){product, holo_graph_constant(g, &bias)}, 2, NULL, 0,
                    &sum, 1);
    holo_graph_node(g, "Relu", &sum, 1, NULL, 0, &y, 1);
    holo_graph_output(g, y, hostile);
    bool ok = CHECK_OK(holo_compile_graph(g, NULL, bytes, size, NULL, &e), &e);
    if (ok) inspect_spoil_names(*bytes);
    holo_graph_free(g);
    return ok;
}

/* The same file with other metadata. The result comes from hg_writer_take. */
static bool inspect_with_meta(const uint8_t *from, const char *meta, size_t meta_size, void **bytes,
                              size_t *size)
{
    hg_holo_head head;
    hg_holo_section table[8], out_table[8];
    hg_holo_writer w;
    hg_writer out;
    holo_error e = {0};
    memcpy(&head, from, sizeof head);
    if (!CHECK(head.n_section <= 8)) return false;
    memcpy(table, from + sizeof head, head.n_section * sizeof table[0]);
    hg_writer_init_memory(&out, NULL);
    bool ok = CHECK_OK(hg_holo_write_begin(&w, &out, out_table, head.n_section, &e), &e);
    for (uint32_t i = 0; ok && i < head.n_section; i++) {
        bool is_meta = table[i].kind == HG_SECTION_META;
        ok = CHECK_OK(hg_holo_write_section(&w, (hg_section_kind)table[i].kind,
                                            is_meta ? (const void *)meta : from + table[i].offset,
                                            is_meta ? meta_size : (size_t)table[i].size, &e),
                      &e);
    }
    ok = ok && CHECK_OK(hg_holo_write_finish(&w, &e), &e);
    ok = ok && CHECK_OK(hg_writer_take(&out, bytes, size, &e), &e);
    hg_writer_abort(&out);
    return ok;
}

static holo_model *inspect_open(const holo_allocator *allocator)
{
    static const char meta[] = "author\0<b>somebody</b>\0holo.before\0Relu 1,MatMul 20,<i> 3,Add\0";
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_error e = {0};
    void *compiled, *bytes;
    size_t compiled_size, size;
    options.flags = HOLO_OPEN_COPY;
    options.allocator = allocator;
    if (!inspect_compile(&compiled, &compiled_size)) return NULL;
    if (inspect_with_meta(compiled, meta, sizeof meta - 1, &bytes, &size)) {
        CHECK_OK(holo_model_open_memory(bytes, size, holo_kernels_all(), &options, &model, &e), &e);
        free(bytes);
    }
    holo_buffer_free(NULL, compiled, compiled_size);
    return model;
}

typedef struct inspect_text {
    char *text;
    size_t used, calls, refuse_at;
} inspect_text;

static bool inspect_take(void *user, const void *bytes, size_t size)
{
    inspect_text *t = user;
    if (++t->calls == t->refuse_at) return false;
    char *grown = realloc(t->text, t->used + size + 1);
    if (grown == NULL) return false;
    memcpy(grown + t->used, bytes, size);
    t->text = grown;
    t->used += size;
    t->text[t->used] = 0;
    return true;
}

static char *inspect_form(holo_inspect_form form)
{
    inspect_text t = {0};
    holo_error e = {0};
    holo_model *model = inspect_open(NULL);
    if (model == NULL) return NULL;
    CHECK_OK(holo_model_inspect(model, form, inspect_take, &t, &e), &e);
    holo_model_free(model);
    if (t.text != NULL) CHECK_EQ_INT(strlen(t.text), t.used);
    return t.text;
}

/* ---- text and program --------------------------------------------------------------------------
 */

static void inspect_text_names_everything(void)
{
    char *text = inspect_form(HOLO_INSPECT_TEXT);
    if (!CHECK(text != NULL)) return;
    CHECK_HAS(text, "inputs     \"x\" float32[batch,3]\n");
    CHECK_HAS(text, "outputs    \"<script>alert(1)</script>\\\"'&\" float32[batch,4]\n");
    CHECK_HAS(text, "dims       batch, from the inputs\n");
    CHECK_HAS(text, " at batch=1\n");
    CHECK_HAS(text, "20  MatMul\n");
    CHECK_HAS(text, "  \"author\" = \"<b>somebody</b>\"\n");
    CHECK_HAS(text, "\nweights ");
    CHECK_HAS(text, "  program    at ");
    CHECK_HAS(text, "  weights    at ");
    CHECK(strstr(text, "holo.before") == NULL);
    CHECK(strchr(text, 1) == NULL);
    free(text);
}

static void inspect_program_is_the_disassembly(void)
{
    char *text = inspect_form(HOLO_INSPECT_PROGRAM);
    if (!CHECK(text != NULL)) return;
    CHECK_HAS(text, "input %1 \"x\": float32[batch,3]\n");
    CHECK_HAS(text, "\n0  %");
    CHECK_HAS(text, "@weight0");
    free(text);
}

/* ---- JSON: a small reader that accepts exactly the standard
 * ---------------------------------------- */

typedef struct inspect_json {
    const char *at;
    int depth;
} inspect_json;

static bool inspect_json_value(inspect_json *j);

static bool inspect_json_text(inspect_json *j)
{
    if (*j->at++ != '"') return false;
    for (; *j->at != '"'; j->at++) {
        if ((uint8_t)*j->at < 0x20 || (uint8_t)*j->at == 0xff) return false;
        if (*j->at != '\\') continue;
        j->at++;
        if (*j->at == 'u') {
            if (strspn(j->at + 1, "0123456789abcdef") < 4) return false;
        } else if (strchr("\"\\/bfnrt", *j->at) == NULL || *j->at == 0) {
            return false;
        }
    }
    j->at++;
    return true;
}

static bool inspect_json_list(inspect_json *j, char end)
{
    j->at++;
    for (bool first = true; *j->at != end; first = false) {
        if (!first && *j->at++ != ',') return false;
        if (end == '}' && (!inspect_json_text(j) || *j->at++ != ':')) return false;
        if (!inspect_json_value(j)) return false;
    }
    j->at++;
    return true;
}

static bool inspect_json_value(inspect_json *j)
{
    bool ok = false;
    if (++j->depth > 50) return false;
    size_t digits = strspn(j->at, "-0123456789");
    if (*j->at == '{' || *j->at == '[') {
        ok = inspect_json_list(j, *j->at == '{' ? '}' : ']');
    } else if (*j->at == '"') {
        ok = inspect_json_text(j);
    } else if (digits > 0) {
        j->at += digits;
        ok = true;
    } else {
        const char *const words[] = {"true", "false", "null"};
        for (int i = 0; i < 3 && !ok; i++) {
            ok = strncmp(j->at, words[i], strlen(words[i])) == 0;
            if (ok) j->at += strlen(words[i]);
        }
    }
    j->depth--;
    return ok;
}

static void inspect_json_is_one_object(void)
{
    char *text = inspect_form(HOLO_INSPECT_JSON);
    if (!CHECK(text != NULL)) return;
    inspect_json j = {.at = text};
    bool ok = CHECK(*text == '{' && inspect_json_value(&j));
    if (!ok) hg_test_fail(__FILE__, __LINE__, "no JSON from here on: %.60s", j.at);
    if (ok) CHECK_STR(j.at, "\n");
    CHECK_HAS(
        text,
        "\"inputs\":[{\"name\":\"x\",\"value\":1,\"dtype\":\"float32\",\"dims\":[\"batch\",3]}]");
    CHECK_HAS(text, "\"name\":\"<script>alert(1)</script>\\\"'&\"");
    CHECK_HAS(text, "\"node\":\"\\u0001\\ufffd\"");
    CHECK_HAS(text, "\"operators_before\":[{\"name\":\"MatMul\",\"count\":20},{\"name\":\"Relu\","
                    "\"count\":1}]");
    CHECK_HAS(text, "\"sizes\":{\"batch\":1},\"arena_bytes\":");
    CHECK_HAS(text, "\"sections\":[{\"kind\":\"program\",\"offset\":");
    CHECK_HAS(text, "\"storage\":\"weight\"");
    CHECK_HAS(text, "\"device\":\"cpu\"");
    free(text);
}

/* ---- HTML --------------------------------------------------------------------------------------
 */

static void inspect_html_is_safe(void)
{
    char *text = inspect_form(HOLO_INSPECT_HTML);
    if (!CHECK(text != NULL)) return;
    CHECK(strncmp(text, "<!doctype html>", 15) == 0);
    CHECK_HAS(text, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;");
    CHECK_HAS(text, "title=\"&#xfffd;&#xfffd;\"");
    CHECK_HAS(text, "&lt;b&gt;somebody&lt;/b&gt;");
    CHECK(strstr(text, "<script") == NULL);
    CHECK(strstr(text, "<b>somebody") == NULL);
    CHECK(strstr(text, "<i>") == NULL);
    /* Nothing is loaded from elsewhere. */
    CHECK(strstr(text, "http:") == NULL && strstr(text, "https:") == NULL);
    CHECK(strstr(text, "src=") == NULL && strstr(text, "url(") == NULL);
    CHECK(strstr(text, "@import") == NULL);
    free(text);
}

/* Every element that is opened is closed, in order. */
static void inspect_html_is_balanced(void)
{
    char *text = inspect_form(HOLO_INSPECT_HTML), name[64][16];
    int depth = 0;
    if (!CHECK(text != NULL)) return;
    for (const char *at = text; (at = strchr(at, '<')) != NULL; at++) {
        bool closes = at[1] == '/';
        const char *word = at + 1 + closes, *end = strchr(at, '>');
        size_t n = strcspn(word, " >/");
        if (!CHECK(end != NULL && n < 16)) break;
        if (word[0] == '!' || end[-1] == '/' || strncmp(word, "meta", 4) == 0) continue;
        if (closes) {
            if (!CHECK(depth > 0 && strlen(name[depth - 1]) == n &&
                       strncmp(name[depth - 1], word, n) == 0)) {
                hg_test_fail(__FILE__, __LINE__, "closed in the wrong order: %.40s", at);
                break;
            }
            depth--;
        } else if (CHECK(depth < 64)) {
            memcpy(name[depth], word, n);
            name[depth++][n] = 0;
        }
    }
    CHECK_EQ_INT(depth, 0);
    free(text);
}

static void inspect_html_has_pictures(void)
{
    char *text = inspect_form(HOLO_INSPECT_HTML);
    if (!CHECK(text != NULL)) return;
    CHECK_HAS(text, "aria-label=\"memory over time\"");
    CHECK_HAS(text, "<rect class=\"k0\" x=\"0\"");
    CHECK_HAS(text, "aria-label=\"flow of the steps\"");
    CHECK_HAS(text, "<circle class=\"k0\"");
    CHECK_HAS(text, "prefers-color-scheme:dark");
    CHECK_HAS(text, ">MatMul</td><td class=\"number\">20</td>");
    free(text);
}

/* ---- bodies ------------------------------------------------------------------------------------
 */

/* y = cond ? Relu(x) : Neg(x), as ONNX bytes. */
static make inspect_if_model(make_fixture *f)
{
    const char *const ops[2] = {"Relu", "Neg"}, *const names[2] = {"then_branch", "else_branch"};
    make g = make_graph_xy(f), cond = make_value(f, "cond", ELEM_BOOL, "");
    make n = make_node(f, "choice", "If", "cond", "y");
    make_in(&g, GRAPH_INPUT, &cond);
    for (int i = 0; i < 2; i++) {
        make body = make_new(&f->arena), out = make_value(f, "r", ELEM_F32, NULL);
        make inner = make_node(f, "", ops[i], "x", "r"), a = make_attr(f, names[i], 5);
        make_text(&body, 2, names[i]);
        make_in(&body, GRAPH_NODE, &inner);
        make_in(&body, GRAPH_OUTPUT, &out);
        make_in(&a, 6, &body);
        make_in(&n, 5, &a);
    }
    make_in(&g, GRAPH_NODE, &n);
    return make_model(f, &g, 21);
}

static void inspect_shows_bodies(void)
{
    static const struct {
        holo_inspect_form form;
        const char *has[3];
    } cases[] = {
        {HOLO_INSPECT_TEXT, {"1 graph, ", "\nbody, program 1 ", "\nbody, program 2 "}},
        {HOLO_INSPECT_PROGRAM, {"program 0\ngraph ", "= if(%2, ", ") program 1 else program 2 "}},
        {HOLO_INSPECT_JSON, {"\"programs\":[1,2]", "\"bodies\":[{\"name\":", "\"program\":2,"}},
        {HOLO_INSPECT_HTML, {"Body, program 1 ", "Body, program 2 ", "A step a line"}},
    };
    make_fixture f;
    make_init(&f);
    const make model = inspect_if_model(&f);
    void *bytes = NULL;
    size_t size = 0;
    holo_model *opened = NULL;
    holo_error e = {0};
    if (CHECK_OK(holo_compile_memory(model.data, model.size, NULL, &bytes, &size, NULL, &e), &e) &&
        CHECK_OK(holo_model_open_memory(bytes, size, holo_kernels_all(), NULL, &opened, &e), &e)) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            inspect_text t = {0};
            CHECK_OK(holo_model_inspect(opened, cases[i].form, inspect_take, &t, &e), &e);
            for (int k = 0; k < 3; k++)
                CHECK_HAS(t.text, cases[i].has[k]);
            inspect_json j = {.at = t.text};
            if (cases[i].form == HOLO_INSPECT_JSON) CHECK(inspect_json_value(&j));
            free(t.text);
        }
    }
    holo_model_free(opened);
    holo_buffer_free(NULL, bytes, size);
    make_deinit(&f);
}

/* ---- what can go wrong -------------------------------------------------------------------------
 */

/* Inputs that nothing can be made up for are named; what has no data is not read. */
static void inspect_texts(void)
{
    inspect_text t = {0};
    holo_error e = {0};
    holo_graph *g;
    holo_model *model;
    holo_value_id joined;
    void *bytes;
    size_t size;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return;
    const holo_value_id x = holo_graph_input(g, "words", HOLO_STRING, "4000");
    holo_graph_node(g, "StringConcat", (holo_value_id[]){x, x}, 2, NULL, 0, &joined, 1);
    holo_graph_output(g, joined, "y");
    if (CHECK_OK(holo_compile_graph(g, NULL, &bytes, &size, NULL, &e), &e)) {
        CHECK_OK(holo_model_open_memory(bytes, size, holo_kernels_all(), NULL, &model, &e), &e);
        CHECK_OK(holo_model_inspect(model, HOLO_INSPECT_TEXT, inspect_take, &t, &e), &e);
        CHECK_HAS(t.text, "the size of input 'words' is known only at run time");
        holo_model_free(model);
        holo_buffer_free(NULL, bytes, size);
    }
    free(t.text);
    holo_graph_free(g);
}

static void inspect_reports_a_full_sink(void)
{
    holo_model *model = inspect_open(NULL);
    if (!CHECK(model != NULL)) return;
    for (int form = HOLO_INSPECT_TEXT; form <= HOLO_INSPECT_HTML; form++) {
        for (size_t at = 1; at < 100; at++) {
            inspect_text t = {.refuse_at = at};
            holo_error e = {0};
            holo_status status =
                holo_model_inspect(model, (holo_inspect_form)form, inspect_take, &t, &e);
            free(t.text);
            if (t.calls < at) {
                CHECK_STATUS(status, HOLO_OK);
                break;
            }
            CHECK_STATUS(status, HOLO_E_IO);
            CHECK_HAS(e.message, "could not be written");
        }
    }
    holo_model_free(model);
}

static void inspect_refuses_bad_arguments(void)
{
    holo_error e = {0};
    holo_model *model = inspect_open(NULL);
    inspect_text t = {0};
    CHECK_STATUS(holo_model_inspect(NULL, HOLO_INSPECT_TEXT, inspect_take, &t, &e), HOLO_E_ARG);
    CHECK_STATUS(holo_model_inspect(model, (holo_inspect_form)9, inspect_take, &t, &e), HOLO_E_ARG);
    CHECK_HAS(e.message, "form number 9");
    CHECK(t.text == NULL);
    holo_model_free(model);
}

typedef struct inspect_memory {
    size_t in_use, calls, fail_at;
} inspect_memory;

static void *inspect_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    inspect_memory *m = user;
    if (new_size != 0 && ++m->calls == m->fail_at) return NULL;
    m->in_use += new_size - (p == NULL ? 0 : old_size);
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

/* Each allocation of the report fails in turn: a clean status, nothing is lost. */
static void inspect_survives_failing_memory(void)
{
    inspect_memory m = {0};
    const holo_allocator allocator = {inspect_resize, &m};
    holo_model *model = inspect_open(&allocator);
    if (!CHECK(model != NULL)) return;
    const size_t before = m.in_use;
    for (int form = HOLO_INSPECT_TEXT; form <= HOLO_INSPECT_HTML; form++) {
        for (size_t n = 1; n < 200; n++) {
            inspect_text t = {0};
            m.calls = 0;
            m.fail_at = n;
            holo_status status =
                holo_model_inspect(model, (holo_inspect_form)form, inspect_take, &t, NULL);
            free(t.text);
            CHECK_EQ_INT(m.in_use, before);
            CHECK(status == HOLO_OK || status == HOLO_E_NOMEM || status == HOLO_E_IO);
            if (m.calls < n) {
                CHECK_STATUS(status, HOLO_OK);
                break;
            }
        }
    }
    m.fail_at = 0;
    holo_model_free(model);
    CHECK_EQ_INT(m.in_use, 0);
}

const hg_test_case hg_tests_report_inspect[] = {
    {"text_names_everything", inspect_text_names_everything},
    {"program_is_the_disassembly", inspect_program_is_the_disassembly},
    {"json_is_one_object", inspect_json_is_one_object},
    {"html_is_safe", inspect_html_is_safe},
    {"html_is_balanced", inspect_html_is_balanced},
    {"html_has_pictures", inspect_html_has_pictures},
    {"shows_bodies", inspect_shows_bodies},
    {"texts", inspect_texts},
    {"reports_a_full_sink", inspect_reports_a_full_sink},
    {"refuses_bad_arguments", inspect_refuses_bad_arguments},
    {"survives_failing_memory", inspect_survives_failing_memory},
    {0},
};
