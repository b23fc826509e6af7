/* container.c - sequences, optionals and strings: through bodies, as inputs and as outputs. */
#include "control_text.h"

#include <math.h>

static void container_set(control *f, uint32_t i, const holo_tensor *t)
{
    CHECK_OK(holo_session_set_input(f->session, i, t, &f->error), &f->error);
}

static void container_text(const holo_tensor *t, int64_t k, const char *expected)
{
    const holo_string *s = (const holo_string *)t->data + k;
    if (CHECK_EQ_INT(s->length, strlen(expected))) CHECK_MEM(s->text, expected, (size_t)s->length);
}

/* ---- sequences --------------------------------------------------------------------------------
 */

/* Items of any size; a loop puts them in, another takes them out. */
static void container_sequence_in_loop(void)
{
    control f;
    int64_t m;
    float x[2] = {1, 2};
    if (control_open(&f,
                     "graph(%m: int64[], %x: float32[n]) {\n"
                     "  %e = SequenceEmpty()\n"
                     "  %s, %w = Loop(%m, _, %e, %x) body(%i: int64[], %c: bool[],\n"
                     "      %t: sequence(float32), %v: float32[n]) {\n"
                     "    %u = SequenceInsert(%t, %v)\n"
                     "    %y = Concat(%v, %x) {axis=0}\n"
                     "    return %c, %u, %y\n  }\n"
                     "  %all = ConcatFromSequence(%s) {axis=0}\n"
                     "  %n = SequenceLength(%s)\n"
                     "  return %all, %n, %s\n}\n",
                     0, NULL)) {
        control_scalar(&f, 0, HOLO_I64, &m);
        control_set(&f, 1, HOLO_F32, x, 1, 2);
        for (m = 1; m < 4; m++) {
            float expected[12];
            for (int k = 0; k < 12; k++)
                expected[k] = (float)(k % 2 + 1);
            if (!control_run(&f)) break;
            control_is(&f, 0, expected, m * (m + 1));
            CHECK_EQ_INT(*(int64_t *)control_out(&f, 1).data, m);
            holo_tensor s = control_out(&f, 2);
            CHECK_EQ_INT(s.dtype, HOLO_SEQUENCE);
            CHECK_EQ_INT(s.dim[0], m);
            for (int64_t k = 0; k < m; k++)
                CHECK_EQ_INT(((const holo_tensor *)s.data)[k].dim[0], 2 * (k + 1));
        }
        m = 0; /* nothing to put together */
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
        CHECK_HAS(f.error.message, "the sequence is empty");
    }
    control_close(&f);
}

static void container_positions(void)
{
    control f;
    int64_t at;
    float x[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    holo_tensor item[3], sequence = {.data = item, .dim = {3}, .rank = 1, .dtype = HOLO_SEQUENCE};
    for (int k = 0; k < 3; k++)
        item[k] = (holo_tensor){.data = x[k], .dim = {2}, .rank = 1, .dtype = HOLO_F32};
    if (control_open(&f,
                     "graph(%s: sequence(float32[2]), %p: int64[]) {\n"
                     "  %a = SequenceAt(%s, %p)\n"
                     "  %b = SequenceErase(%s, %p)\n"
                     "  %c = SequenceInsert(%b, %a, %p)\n"
                     "  %d = ConcatFromSequence(%c) {axis=0}\n"
                     "  return %a, %d\n}\n",
                     0, NULL)) {
        container_set(&f, 0, &sequence);
        control_scalar(&f, 1, HOLO_I64, &at);
        for (at = 0; at < 3; at++) {
            if (!control_run(&f)) break;
            control_is(&f, 0, x[at], 2);
            control_is(&f, 1, x[0], 6);
        }
        at = -2; /* the second of three, then behind the first of two */
        if (control_run(&f)) control_is(&f, 1, (const float[]){3, 4, 1, 2, 5, 6}, 6);
        at = 3;
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
        CHECK_HAS(f.error.message, "position 3 is outside -3 to 2");
        at = INT64_MIN;
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
    }
    control_close(&f);
}

/* An output buffer of the caller gets everything, not addresses of the session's memory. */
static void container_bound_output(void)
{
    control f;
    float x[2] = {7, 8};
    static _Alignas(64) uint8_t buffer[4096];
    if (control_open(&f,
                     "graph(%x: float32[2]) {\n"
                     "  %y = Neg(%x)\n  %s = SequenceConstruct(%x, %y)\n  return %s\n}\n",
                     0, NULL)) {
        control_set(&f, 0, HOLO_F32, x, 1, 2);
        CHECK_OK(holo_session_set_output(f.session, 0, buffer, sizeof buffer, &f.error), &f.error);
        control_run(&f);
        holo_tensor s = control_out(&f, 0);
        CHECK(s.data == buffer);
        const holo_tensor *item = s.data;
        for (int k = 0; k < 2; k++) {
            const uint8_t *data = item[k].data;
            CHECK(data > buffer && data < buffer + sizeof buffer);
            CHECK_NEAR(((const float *)item[k].data)[1], k == 0 ? 8 : -8, 0);
        }
        CHECK_OK(holo_session_set_output(f.session, 0, buffer, 100, &f.error), &f.error);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_ARG);
    }
    control_close(&f);
}

static void container_optional(void)
{
    control f;
    float x[2] = {7, 8};
    holo_tensor item = {.data = x, .dim = {2}, .rank = 1, .dtype = HOLO_F32};
    holo_tensor optional = {.data = &item, .dim = {1}, .rank = 1, .dtype = HOLO_OPTIONAL};
    if (control_open(&f,
                     "graph(%o: optional(float32[n])) {\n"
                     "  %zero = const float32[1] {0.0}\n"
                     "  %c = OptionalHasElement(%o)\n"
                     "  %y = If(%c) then() { %a = OptionalGetElement(%o) return %a }\n"
                     "    else() { return %zero }\n"
                     "  return %y, %c\n}\n",
                     0, NULL)) {
        container_set(&f, 0, &optional);
        if (control_run(&f)) control_is(&f, 0, x, 2);
        optional.dim[0] = 0;
        container_set(&f, 0, &optional);
        if (control_run(&f)) control_is(&f, 0, (const float[]){0}, 1);
        CHECK_EQ_INT(*(uint8_t *)control_out(&f, 1).data, 0);
    }
    control_close(&f);
}

/* ---- strings ----------------------------------------------------------------------------------
 */

/* Constants from the file, inputs of the caller, texts made on the way: stacked by a loop. */
static void container_strings(void)
{
    control f;
    int64_t m;
    holo_string text[2] = {{"ab", 2}, {"", 0}};
    holo_tensor x = {.data = text, .dim = {2}, .rank = 1, .dtype = HOLO_STRING};
    if (control_open(&f,
                     "graph(%m: int64[], %x: string[2]) {\n"
                     "  %k = const string[] {\"-\xc3\xa9\"}\n"
                     "  %s, %all = Loop(%m, _, %x) body(%i: int64[], %c: bool[], %t: string[2]) {\n"
                     "    %u = StringConcat(%t, %k)\n"
                     "    return %c, %u, %u\n  }\n"
                     "  %p = Transpose(%all) {perm=[1,0]}\n"
                     "  return %s, %p\n}\n",
                     0, NULL)) {
        control_scalar(&f, 0, HOLO_I64, &m);
        container_set(&f, 1, &x);
        for (m = 3; m >= 0; m -= 3) {
            if (!control_run(&f)) break;
            holo_tensor s = control_out(&f, 0), p = control_out(&f, 1);
            container_text(&s, 0, m == 0 ? "ab" : "ab-\xc3\xa9-\xc3\xa9-\xc3\xa9");
            container_text(&s, 1, m == 0 ? "" : "-\xc3\xa9-\xc3\xa9-\xc3\xa9");
            CHECK_EQ_INT(p.dim[0], 2);
            CHECK_EQ_INT(p.dim[1], m);
            if (m == 0) continue;
            container_text(&p, 1, "ab-\xc3\xa9-\xc3\xa9");
            container_text(&p, 3, "-\xc3\xa9");
        }
    }
    control_close(&f);
}

static void container_split(void)
{
    control f;
    holo_string text[3] = {{" a  bc d ", 9}, {"", 0}, {"x", 1}};
    holo_tensor x = {.data = text, .dim = {3}, .rank = 1, .dtype = HOLO_STRING};
    if (control_open(&f,
                     "graph(%x: string[n]) {\n"
                     "  %p, %n = StringSplit(%x)\n"
                     "  %q, %o = StringSplit(%x) {delimiter=\"bc\", maxsplit=1}\n"
                     "  return %p, %n, %q, %o\n}\n",
                     0, NULL)) {
        container_set(&f, 0, &x);
        if (control_run(&f)) {
            holo_tensor p = control_out(&f, 0), n = control_out(&f, 1), q = control_out(&f, 2);
            CHECK_EQ_INT(p.dim[1], 3);
            container_text(&p, 0, "a");
            container_text(&p, 1, "bc");
            container_text(&p, 2, "d");
            container_text(&p, 4, "");
            container_text(&p, 6, "x");
            CHECK_EQ_INT(((int64_t *)n.data)[0], 3);
            CHECK_EQ_INT(((int64_t *)n.data)[1], 0);
            CHECK_EQ_INT(q.dim[1], 2);
            container_text(&q, 0, " a  ");
            container_text(&q, 1, " d ");
        }
    }
    control_close(&f);
}

static void container_numbers(void)
{
    control f;
    float x[9] = {0.47892547f, -1, 1e-5f, 1.5e16f, 100, 0, 3.4028235e38f, INFINITY, 0.1f};
    static const char *const text[9] = {"0.47892547", "-1.0",          "1e-05", "1.5e+16", "100.0",
                                        "0.0",        "3.4028235e+38", "inf",   "0.1"};
    int64_t n[2] = {INT64_MIN, 42};
    holo_string bad[2] = {{"12", 2}, {"1x", 2}};
    holo_tensor b = {.data = bad, .dim = {2}, .rank = 1, .dtype = HOLO_STRING};
    if (control_open(&f,
                     "graph(%x: float32[9], %n: int64[2], %b: string[2]) {\n"
                     "  %s = Cast(%x) {to=8}\n  %y = Cast(%s) {to=1}\n"
                     "  %t = Cast(%n) {to=8}\n  %m = Cast(%t) {to=7}\n"
                     "  %u = Cast(%b) {to=6}\n"
                     "  return %s, %y, %t, %m, %u\n}\n",
                     0, NULL)) {
        control_set(&f, 0, HOLO_F32, x, 1, 9);
        control_set(&f, 1, HOLO_I64, n, 1, 2);
        container_set(&f, 2, &b);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
        CHECK_HAS(f.error.message, "no number");
        bad[1].text = "-7";
        if (control_run(&f)) {
            holo_tensor s = control_out(&f, 0), t = control_out(&f, 2);
            for (int k = 0; k < 9; k++)
                container_text(&s, k, text[k]);
            CHECK_MEM(control_out(&f, 1).data, x, sizeof x);
            container_text(&t, 0, "-9223372036854775808");
            CHECK_MEM(control_out(&f, 3).data, n, sizeof n);
            CHECK_EQ_INT(((int32_t *)control_out(&f, 4).data)[1], -7);
        }
    }
    control_close(&f);
}

/* ---- bad values -------------------------------------------------------------------------------
 */

static void container_refuses(control *f, const holo_tensor *t, holo_status expected)
{
    CHECK_STATUS(holo_session_set_input(f->session, 0, t, &f->error), expected);
    CHECK_HAS(f->error.message, "input 's'");
}

static void container_bad_inputs(void)
{
    control f;
    holo_tensor nest[12], item = {.dim = {3}, .rank = 1, .dtype = HOLO_F32};
    holo_tensor s = {.data = &item, .dim = {1}, .rank = 1, .dtype = HOLO_SEQUENCE};
    holo_string text = {NULL, 5};
    for (int k = 0; k < 12; k++)
        nest[k] = (holo_tensor){
            .data = &nest[k + 1 < 12 ? k + 1 : 0], .dim = {1}, .rank = 1, .dtype = HOLO_SEQUENCE};
    if (control_open(&f, "graph(%s: sequence(float32)) { %n = SequenceLength(%s) return %n }\n", 0,
                     NULL)) {
        container_refuses(&f, &s, HOLO_E_ARG); /* no data */
        container_refuses(&f, nest, HOLO_E_LIMIT);
        item.dim[0] = -1;
        container_refuses(&f, &s, HOLO_E_SHAPE);
        item.dtype = (holo_dtype)33;
        container_refuses(&f, &s, HOLO_E_TYPE);
        item = (holo_tensor){.data = &text, .dtype = HOLO_STRING};
        container_refuses(&f, &s, HOLO_E_ARG);
        item = (holo_tensor){.data = nest, .dim = {2}, .rank = 1, .dtype = HOLO_OPTIONAL};
        container_refuses(&f, &s, HOLO_E_SHAPE);
        item = (holo_tensor){.rank = 9, .dtype = HOLO_F32};
        container_refuses(&f, &s, HOLO_E_SHAPE);
        s.rank = 0;
        container_refuses(&f, &s, HOLO_E_SHAPE);
    }
    control_close(&f);
}

/* The items are not what the graph says. */
static void container_other_items(void)
{
    control f;
    int32_t x[3] = {1, 2, 3};
    holo_tensor item = {.data = x, .dim = {3}, .rank = 1, .dtype = HOLO_I32};
    holo_tensor s = {.data = &item, .dim = {1}, .rank = 1, .dtype = HOLO_SEQUENCE};
    if (control_open(&f,
                     "graph(%s: sequence(float32[2])) {\n"
                     "  %p = const int64[] {0}\n  %y = SequenceAt(%s, %p)\n  return %y\n}\n",
                     0, NULL)) {
        container_set(&f, 0, &s);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_TYPE);
        item.dtype = HOLO_F32;
        container_set(&f, 0, &s);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_SHAPE);
    }
    control_close(&f);
}

const hg_test_case hg_tests_runtime_container[] = {
    {"sequence_in_loop", container_sequence_in_loop},
    {"positions", container_positions},
    {"bound_output", container_bound_output},
    {"optional", container_optional},
    {"strings", container_strings},
    {"split", container_split},
    {"numbers", container_numbers},
    {"bad_inputs", container_bad_inputs},
    {"other_items", container_other_items},
    {0},
};
