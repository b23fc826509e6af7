/* found.c - graphs that random ones led to: each was refused, computed wrongly or wrote where it
 * must not. */
#include "compile/compile.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct found {
    void *data;
    size_t size;
    holo_model *model;
    holo_session *session;
    holo_error error;
} found;

static bool found_open_as(found *f, const char *text, uint32_t flags, holo_numerics numerics)
{
    hg_compile c;
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_session_options session = HOLO_SESSION_OPTIONS_INIT;
    *f = (found){0};
    options.flags = flags;
    options.numerics = numerics;
    session.flags = HOLO_SESSION_POISON | HOLO_SESSION_GROW;
    holo_status status = hg_compile_init(&c, &options, 1, &f->error);
    if (status == HOLO_OK) status = hg_graph_init(&c.model[0].graph, &c.ctx);
    if (status == HOLO_OK) status = hg_graph_parse(&c.model[0].graph, hg_str_from(text), &f->error);
    if (status == HOLO_OK) status = hg_compile_model_run(&c, &c.model[0]);
    if (status == HOLO_OK) status = hg_compile_to_memory(&c, &f->data, &f->size);
    hg_compile_deinit(&c);
    return CHECK_OK(status, &f->error) &&
           CHECK_OK(holo_model_open_memory(f->data, f->size, holo_kernels_all(), NULL, &f->model,
                                           &f->error),
                    &f->error) &&
           CHECK_OK(holo_session_new(f->model, &session, &f->session, &f->error), &f->error);
}

static bool found_open(found *f, const char *text, uint32_t flags)
{
    return found_open_as(f, text, flags, HOLO_EXACT);
}

static void found_close(found *f)
{
    holo_session_free(f->session);
    holo_model_free(f->model);
    holo_buffer_free(NULL, f->data, f->size);
}

/* Inputs in order, then the run. */
static bool found_run(found *f, const holo_tensor *in, uint32_t n_in)
{
    for (uint32_t i = 0; i < n_in; i++)
        if (!CHECK_OK(holo_session_set_input(f->session, i, &in[i], &f->error), &f->error))
            return false;
    return CHECK_OK(holo_session_run(f->session, &f->error), &f->error);
}

static holo_tensor found_out(found *f, uint32_t i, int64_t count)
{
    holo_tensor t = {0};
    CHECK_OK(holo_session_output(f->session, i, &t, &f->error), &f->error);
    CHECK_EQ_INT(holo_tensor_count(&t), count);
    return t;
}

/* Compiled in both ways; `check` looks at the outputs. */
static void found_both(const char *text, const holo_tensor *in, uint32_t n_in,
                       void (*check)(found *f))
{
    for (uint32_t k = 0; k < 2; k++) {
        found f;
        if (found_open(&f, text, k == 0 ? 0 : HOLO_COMPILE_NO_OPTIMIZE) && found_run(&f, in, n_in))
            check(&f);
        found_close(&f);
    }
}

static void found_is_empty(found *f)
{
    (void)found_out(f, 0, 0);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* A body that narrows straight into its output wrote beyond it, into the other output. */
static void found_narrow_check(found *f)
{
    holo_tensor t = found_out(f, 0, 360);
    for (int64_t i = 0; i < 360; i++)
        CHECK(((const float *)t.data)[i] == (i % 2 == 0 ? 0.5F : 0.25F));
}

static void found_narrow(void)
{
    float x[2] = {0.5F, 0.25F}, a[480], b[240];
    for (int i = 0; i < 480; i++)
        a[i] = (float)i;
    for (int i = 0; i < 240; i++)
        b[i] = 1;
    const holo_tensor in[] = {
        {.data = x, .dim = {2}, .rank = 1, .dtype = HOLO_F32},
        {.data = a, .dim = {2, 30, 4, 2}, .rank = 4, .dtype = HOLO_F32},
        {.data = b, .dim = {2, 30, 4, 1}, .rank = 4, .dtype = HOLO_F32},
    };
    found_both("graph(%x: float32[2], %a: float32[2,30,4,2], %b: float32[2,30,4,1]) {\n"
               "  %times = const int64[1] {180}\n"
               "  %y = Tile(%x, %times)\n"
               "  %e = Equal(%a, %b)\n"
               "  %z = Cast(%e) {to=6}\n"
               "  return %y, %z\n}\n",
               in, 3, found_narrow_check);
}

/* ---- sizes -------------------------------------------------------------------------------------
 */

/* Views with offsets of views with offsets. */
static void found_views_check(found *f)
{
    holo_tensor t = found_out(f, 0, 2);
    CHECK(((const float *)t.data)[0] == 4 && ((const float *)t.data)[1] == 5);
}

static void found_views(void)
{
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const holo_tensor in = {.data = x, .dim = {8, 1}, .rank = 2, .dtype = HOLO_F32};
    found_both("graph(%x: float32[n,m]) {\n"
               "  %flat = const int64[1] {-1}\n"
               "  %two = const int64[1] {2}\n"
               "  %four = const int64[1] {4}\n"
               "  %eight = const int64[1] {8}\n"
               "  %a = Reshape(%x, %flat)\n"
               "  %b = Slice(%a, %two, %eight)\n"
               "  %c = Reshape(%b, %flat)\n"
               "  %y = Slice(%c, %two, %four)\n"
               "  return %y\n}\n",
               &in, 1, found_views_check);
}

/* Of 0 and 1, 0 is the size of a sum, also when both are known late. */
static void found_empty_sum(void)
{
    float b[2] = {1, 2};
    const holo_tensor in[] = {
        {.data = b, .dim = {2, 0}, .rank = 2, .dtype = HOLO_F32},
        {.data = b, .dim = {2, 1}, .rank = 2, .dtype = HOLO_F32},
    };
    found_both("graph(%a: float32[n,s], %b: float32[n,t]) { %y = Add(%a, %b) return %y }", in, 2,
               found_is_empty);
    found_both("graph(%b: float32[n,t], %a: float32[n,s]) { %y = Add(%a, %b) return %y }",
               (const holo_tensor[]){in[1], in[0]}, 2, found_is_empty);
}

/* A size of 0 in a Reshape that the compiler made is a size, not "as before". */
static void found_zero_sizes(void)
{
    found_both("graph() {\n"
               "  %s = const int64[3] {0, 3, 0}\n"
               "  %y = ConstantOfShape(%s) {value=const int64[1] {-6}}\n"
               "  return %y\n}\n",
               NULL, 0, found_is_empty);
    found_both("graph() { %x = const bool[9,0] {} %y = Not(%x) return %y }", NULL, 0,
               found_is_empty);
}

/* Folding calls no kernel that has nothing to do: this one would divide by its channels. */
static void found_no_units(void)
{
    found_both("graph() {\n"
               "  %x = const float32[1,2,2,0] {}\n"
               "  %s = const float32[0] {}\n"
               "  %y = com.microsoft:GroupNorm(%x, %s, %s) {groups=1, activation=0}\n"
               "  return %y\n}\n",
               NULL, 0, found_is_empty);
}

/* A number that is cast to an unsigned type wraps, also when it could have been a size. */
static void found_wraps_check(found *f)
{
    holo_tensor t = found_out(f, 0, 2);
    CHECK_EQ_INT(((const int64_t *)t.data)[0], 4294967294);
    CHECK_EQ_INT(((const int64_t *)t.data)[1], 7);
}

static void found_wraps(void)
{
    found_both("graph() {\n"
               "  %x = const int64[3] {-2, 7, 1}\n"
               "  %like = const uint32[1] {0}\n"
               "  %from = const int64[1] {0}\n"
               "  %to = const int64[1] {2}\n"
               "  %u = CastLike(%x, %like)\n"
               "  %a = Cast(%u) {to=7}\n"
               "  %y = Slice(%a, %from, %to)\n"
               "  return %y\n}\n",
               NULL, 0, found_wraps_check);
}

/* A value that decides a size is computed, whatever else is fused with it. */
static void found_measured_check(found *f)
{
    (void)found_out(f, 1, 4);
    CHECK(*(const float *)found_out(f, 0, 1).data == -4);
}

static void found_measured(void)
{
    float x = 4.5F;
    const holo_tensor in = {.data = &x, .dtype = HOLO_F32};
    found_both("graph(%x: float32[]) {\n"
               "  %n = Cast(%x) {to=7}\n"
               "  %f = Cast(%n) {to=1}\n"
               "  %y = Neg(%f)\n"
               "  %z = HannWindow(%n)\n"
               "  return %y, %z\n}\n",
               &in, 1, found_measured_check);
}

/* The last pass that folds constants may fold one that decides a size. */
static void found_folded_check(found *f)
{
    (void)found_out(f, 0, 6);
}

static void found_folded(void)
{
    bool c = true;
    const holo_tensor in = {.data = &c, .dtype = HOLO_BOOL};
    found_both("graph(%c: bool[]) {\n"
               "  %true = const bool[] {true}\n"
               "  %w = Where(%true, %true, %c)\n"
               "  %f = Cast(%w) {to=1}\n"
               "  %flat = const int64[1] {-1}\n"
               "  %score = Reshape(%f, %flat)\n"
               "  %boxes = const float32[1,2,4] {0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0}\n"
               "  %scores = const float32[1,1,2] {2.0, 1.5}\n"
               "  %most = const int64[1] {3}\n"
               "  %y = NonMaxSuppression(%boxes, %scores, %most, %score)\n"
               "  return %y\n}\n",
               &in, 1, found_folded_check);
}

/* Only the shape of what a loop gives is asked for: its body is in no file. */
static void found_unused_body_check(found *f)
{
    CHECK_EQ_INT(*(const int64_t *)found_out(f, 0, 1).data, 3);
}

static void found_unused_body(void)
{
    float x[3] = {1, 2, 3};
    const holo_tensor in = {.data = x, .dim = {3}, .rank = 1, .dtype = HOLO_F32};
    found_both("graph(%x: float32[3]) {\n"
               "  %m = const int64[] {2}\n"
               "  %l = Loop(%m, _, %x) body(%i: int64[], %c: bool[], %v: float32[3]) {\n"
               "    %w = Neg(%v)\n"
               "    return %c, %w\n  }\n"
               "  %y = Shape(%l)\n"
               "  return %y\n}\n",
               &in, 1, found_unused_body_check);
}

/* Heads of queries, none of them, over heads of keys. */
static void found_no_heads(void)
{
    float x[24] = {0};
    const holo_tensor in[] = {
        {.data = x, .dim = {3, 0, 2, 4}, .rank = 4, .dtype = HOLO_F32},
        {.data = x, .dim = {3, 2, 1, 4}, .rank = 4, .dtype = HOLO_F32},
    };
    found f;
    for (int k = 0; k < 2; k++) {
        if (found_open_as(&f,
                          "graph(%q: float32[3,0,2,4], %k: float32[3,2,1,4]) {\n"
                          "  %y = Attention(%q, %k, %k) {scale=0.5}\n"
                          "  return %y\n}\n",
                          0, k == 0 ? HOLO_FAST : HOLO_EXACT) &&
            found_run(&f, in, 2))
            found_is_empty(&f);
        found_close(&f);
    }
}

/* ---- convolutions ------------------------------------------------------------------------------
 */

/* Means that count what is padded, behind a convolution. */
static void found_padded_mean_check(found *f)
{
    holo_tensor t = found_out(f, 0, 9);
    const float x[2][2] = {{4, 1}, {6, 1}};
    for (int i = 0; i < 9; i++) {
        float sum = 0;
        for (int r = i / 3 - 1; r <= i / 3; r++)
            for (int c = i % 3 - 1; c <= i % 3; c++)
                sum += r < 0 || r > 1 || c < 0 || c > 1 ? 0 : x[r][c];
        CHECK(((const float *)t.data)[i] == sum / 4);
    }
}

static void found_padded_mean(void)
{
    float x[4] = {4, 1, 6, 1};
    const holo_tensor in = {.data = x, .dim = {1, 1, 2, 2}, .rank = 4, .dtype = HOLO_F32};
    found_both("graph(%x: float32[1,1,2,2]) {\n"
               "  %w = const float32[1,1,1,1] {1.0}\n"
               "  %a = Conv(%x, %w)\n"
               "  %y = AveragePool(%a) {kernel_shape=[2,2], pads=[1,1,1,1], count_include_pad=1}\n"
               "  return %y\n}\n",
               &in, 1, found_padded_mean_check);
}

/* A convolution with a window of no elements gives its bias. */
static void found_no_window_check(found *f)
{
    holo_tensor t = found_out(f, 0, 8);
    for (int i = 0; i < 8; i++)
        CHECK(((const float *)t.data)[i] == (i < 4 ? 2.5F : -1.0F));
}

static void found_no_window(void)
{
    float x[2] = {4, 1};
    const holo_tensor in = {.data = x, .dim = {1, 1, 1, 2}, .rank = 4, .dtype = HOLO_F32};
    found_both("graph(%x: float32[1,1,1,2]) {\n"
               "  %w = const float32[2,1,0,1] {}\n"
               "  %b = const float32[2] {2.5, -1.0}\n"
               "  %y = Conv(%x, %w, %b)\n"
               "  return %y\n}\n",
               &in, 1, found_no_window_check);
}

/* Resizing by numbers that come as an input, beside a convolution. */
static void found_resize_check(found *f)
{
    (void)found_out(f, 1, 8);
}

static void found_resize(void)
{
    float x[2] = {4, 1}, scales[4] = {1, 1, 2, 2};
    const holo_tensor in[] = {
        {.data = x, .dim = {1, 1, 1, 2}, .rank = 4, .dtype = HOLO_F32},
        {.data = scales, .dim = {4}, .rank = 1, .dtype = HOLO_F32},
    };
    found_both("graph(%x: float32[1,1,1,2], %s: float32[4]) {\n"
               "  %w = const float32[1,1,1,1] {1.0}\n"
               "  %a = Conv(%x, %w)\n"
               "  %b = Resize(%x, _, %s)\n"
               "  %flat = const int64[1] {-1}\n"
               "  %y = Reshape(%b, %flat)\n"
               "  return %a, %y\n}\n",
               in, 2, found_resize_check);
}

/* ---- bits --------------------------------------------------------------------------------------
 */

/* The same bits in both ways, with --numerics exact. */
static void found_bits(const char *text, const holo_tensor *in, uint32_t n_in, int64_t count)
{
    found a, b;
    if (found_open(&a, text, 0) && found_open(&b, text, HOLO_COMPILE_NO_OPTIMIZE)) {
        if (found_run(&a, in, n_in) && found_run(&b, in, n_in))
            CHECK_MEM(found_out(&a, 0, count).data, found_out(&b, 0, count).data,
                      (size_t)count * sizeof(float));
        found_close(&b);
    }
    found_close(&a);
}

static void found_exact(void)
{
    float x[84];
    for (int i = 0; i < 84; i++)
        x[i] = 1.0F / (float)(3 + i * 7 % 31);
    const holo_tensor in = {.data = x, .dim = {7, 2, 2, 3}, .rank = 4, .dtype = HOLO_F32};
    /* Sums keep their order. */
    found_bits("graph(%x: float32[7,2,2,3]) {\n"
               "  %t = Transpose(%x) {perm=[1,3,2,0]}\n"
               "  %y = GlobalAveragePool(%t)\n"
               "  return %y\n}\n",
               &in, 1, 6);
    /* A square is a product. */
    found_bits("graph(%x: float32[7,2,2,3]) {\n"
               "  %two = const float32[] {2.0}\n"
               "  %y = Pow(%x, %two)\n"
               "  return %y\n}\n",
               &in, 1, 84);
}

/* A scale whose size is known late is the kernel's business, not that of other arithmetic. */
static void found_norm(void)
{
    found f;
    holo_session_stats stats;
    float x[6] = {1, 2, 3, 4, 5, 7}, scale[3] = {1, 2, 3};
    const holo_tensor in[] = {
        {.data = x, .dim = {2, 3}, .rank = 2, .dtype = HOLO_F32},
        {.data = scale, .dim = {3}, .rank = 1, .dtype = HOLO_F32},
    };
    if (found_open(&f,
                   "graph(%x: float32[n,c], %s: float32[d]) {\n"
                   "  %y = RMSNormalization(%x, %s)\n"
                   "  return %y\n}\n",
                   0) &&
        found_run(&f, in, 2)) {
        holo_session_get_stats(f.session, &stats);
        CHECK_EQ_INT(stats.steps, 1);
    }
    found_close(&f);
    /* It may turn out to be 1. */
    if (found_open(&f,
                   "graph(%x: float32[n,3], %s: float32[d]) {\n"
                   "  %zero = const int64[1] {0}\n"
                   "  %one = const int64[1] {1}\n"
                   "  %a = Slice(%s, %zero, %one)\n"
                   "  %y = RMSNormalization(%x, %a)\n"
                   "  return %y\n}\n",
                   0) &&
        found_run(&f, in, 2))
        (void)found_out(&f, 0, 6);
    found_close(&f);
}

static void found_check_stored(found *f)
{
    const holo_tensor y = found_out(f, 0, 2), z = found_out(f, 1, 2);
    CHECK_EQ_INT(((const int64_t *)y.data)[0], 65533);
    CHECK_EQ_INT(((const int64_t *)y.data)[1], 6);
    CHECK_EQ_INT(((const int8_t *)z.data)[0], 5); /* -23 modulo 7 */
    CHECK_EQ_INT(((const int8_t *)z.data)[1], 2);
}

/* Numbers that are followed through small element types wrap there. */
static void found_stored(void)
{
    found_both("graph() {\n"
               "  %a = const int32[2] {-3, 6}\n"
               "  %b = Cast(%a) {to=4}\n"
               "  %y = Cast(%b) {to=7}\n"
               "  %c = const uint32[2] {233, 9}\n"
               "  %d = Cast(%c) {to=3}\n"
               "  %seven = const int8[] {7}\n"
               "  %z = Mod(%d, %seven)\n"
               "  return %y, %z\n}\n",
               NULL, 0, found_check_stored);
}

static void found_check_masks(found *f)
{
    const holo_tensor y = found_out(f, 0, 128);
    const float *x = y.data;
    CHECK(memcmp(x, x + 64, 64 * sizeof *x) != 0);
    for (int i = 0; i < 128; i++)
        CHECK(x[i] == 0 || x[i] == 2);
}

/* A dropout of a constant in a loop keeps other elements at each turn. */
static void found_masks(void)
{
    found_both("graph() {\n"
               "  %n = const int64[] {2}\n"
               "  %go = const bool[] {true}\n"
               "  %y = Loop(%n, %go) body(%i: int64, %c: bool) {\n"
               "    %one = const float32[1] {1.0}\n"
               "    %times = const int64[1] {64}\n"
               "    %x = Tile(%one, %times)\n"
               "    %ratio = const float32[] {0.5}\n"
               "    %training = const bool[] {true}\n"
               "    %d = Dropout(%x, %ratio, %training) {seed=3}\n"
               "    return %c, %d\n"
               "  }\n"
               "  return %y\n}\n",
               NULL, 0, found_check_masks);
}

static void found_check_triangle(found *f)
{
    static const float expected[] = {0, 2, 0, 0};
    CHECK(memcmp(found_out(f, 0, 4).data, expected, sizeof expected) == 0);
}

/* A number that a kernel finds decides another step; sizes of the same kernel are found again. */
static void found_triangle(void)
{
    const holo_string text = {"one", 3};
    const holo_tensor in = {.dtype = HOLO_STRING, .data = (void *)(uintptr_t)&text};
    found_both("graph(%s: string[]) {\n"
               "  %parts, %n = StringSplit(%s)\n"
               "  %c = const float32[2,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %y = Trilu(%c, %n)\n"
               "  return %y\n}\n",
               &in, 1, found_check_triangle);
}

/* Exact numerics keep the order in which a ConvTranspose adds, whatever is optimised. */
static void found_order(void)
{
    float x[54], sum[2][18] = {{0}};
    const holo_tensor in = {.data = x, .dim = {1, 27, 2}, .rank = 3, .dtype = HOLO_F32};
    for (int i = 0; i < 54; i++)
        x[i] = (float)(i * 37 % 29) / 7 - 2;
    for (uint32_t k = 0; k < 2; k++) {
        found f;
        if (found_open(&f,
                       "graph(%x: float32[1,27,2]) {\n"
                       "  %a = const float32[1] {0.3}\n"
                       "  %n = const int64[1] {324}\n"
                       "  %t = Tile(%a, %n)\n"
                       "  %s = const int64[3] {27,3,4}\n"
                       "  %w = Reshape(%t, %s)\n"
                       "  %y = ConvTranspose(%x, %w) {strides=[2]}\n"
                       "  return %y\n}\n",
                       k == 0 ? 0 : HOLO_COMPILE_NO_OPTIMIZE) &&
            found_run(&f, &in, 1))
            memcpy(sum[k], found_out(&f, 0, 18).data, sizeof sum[k]);
        found_close(&f);
    }
    CHECK(memcmp(sum[0], sum[1], sizeof sum[0]) == 0);
}

/* ---- tables of any size ------------------------------------------------------------------------
 */

enum { OPEN_HALF = 3, OPEN_PLACES = 5, OPEN_ROWS = 4, OPEN_HEADS = 2 };

/* Element i of the table: row i / OPEN_HALF, pair i % OPEN_HALF. */
static double found_angle(int64_t i)
{
    return (double)(i / OPEN_HALF) * (1.0 + (double)(i % OPEN_HALF)) / 4;
}

/* x[k] = k / 64 with the rows of places 4, 0, 3, 1; no element is left as it was. */
static void found_tables_check(found *f)
{
    static const int64_t place[OPEN_ROWS] = {4, 0, 3, 1};
    holo_tensor t = found_out(f, 0, OPEN_HEADS * OPEN_ROWS * 2 * OPEN_HALF);
    for (int64_t k = 0; k < OPEN_HEADS * OPEN_ROWS * OPEN_HALF; k++) {
        const int64_t row = k / OPEN_HALF, pair = k % OPEN_HALF, at = row * 2 * OPEN_HALF + pair;
        const double angle = found_angle(place[row % OPEN_ROWS] * OPEN_HALF + pair);
        const double a = (double)at / 64, b = (double)(at + OPEN_HALF) / 64;
        CHECK_NEAR(((const float *)t.data)[at], a * cos(angle) - b * sin(angle), 1e-6);
        CHECK_NEAR(((const float *)t.data)[at + OPEN_HALF], a * sin(angle) + b * cos(angle), 1e-6);
    }
}

static void found_tables(void)
{
    enum { COUNT = OPEN_HEADS * OPEN_ROWS * 2 * OPEN_HALF, TABLE = OPEN_PLACES * OPEN_HALF };
    float x[COUNT], c[TABLE], s[TABLE];
    int64_t p[OPEN_ROWS] = {4, 0, 3, 1};
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i / 64;
    for (int i = 0; i < TABLE; i++) {
        c[i] = (float)cos(found_angle(i));
        s[i] = (float)sin(found_angle(i));
    }
    const holo_tensor in[] = {
        {.data = x, .dim = {1, OPEN_HEADS, OPEN_ROWS, 2 * OPEN_HALF}, .rank = 4, .dtype = HOLO_F32},
        {.data = c, .dim = {OPEN_PLACES, OPEN_HALF}, .rank = 2, .dtype = HOLO_F32},
        {.data = s, .dim = {OPEN_PLACES, OPEN_HALF}, .rank = 2, .dtype = HOLO_F32},
        {.data = p, .dim = {1, OPEN_ROWS}, .rank = 2, .dtype = HOLO_I64},
    };
    static const char *const node[] = {"RotaryEmbedding(%x, %c, %s, %p)",
                                       "com.microsoft:RotaryEmbedding(%x, %p, %c, %s)"};
    for (size_t i = 0; i < HG_COUNT(node); i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "graph(%%x: float32[b,n,l,h], %%c: float32[m,d], %%s: float32[k,e], "
                 "%%p: int64[a,o]) {\n  %%y = %s\n  return %%y\n}\n",
                 node[i]);
        found_both(text, in, 4, found_tables_check);
    }
}

/* ---- channels known when it runs ---------------------------------------------------------------
 */

enum { CHANNELS_N = 2, CHANNELS_C = 3, CHANNELS_L = 4, CHANNELS_K = 3 };

/* Element t of the sequence with its past before it: a quarter of its number. */
static double found_channel(int64_t row, int64_t t)
{
    const int64_t before = CHANNELS_K - 1;
    return t < before ? (double)(row * before + t) / 8
                      : (double)(row * CHANNELS_L + t - before) / 4;
}

static void found_channels_check(found *f)
{
    const float *y = found_out(f, 0, CHANNELS_N * CHANNELS_C * CHANNELS_L).data;
    const float *state = found_out(f, 1, CHANNELS_N * CHANNELS_C * (CHANNELS_K - 1)).data;
    for (int64_t i = 0; i < CHANNELS_N * CHANNELS_C * CHANNELS_L; i++) {
        const int64_t row = i / CHANNELS_L, c = row % CHANNELS_C;
        double sum = (double)c - 1;
        for (int64_t k = 0; k < CHANNELS_K; k++)
            sum += found_channel(row, i % CHANNELS_L + k) * (double)(c * CHANNELS_K + k + 1);
        CHECK_NEAR(y[i], sum, 1e-5);
    }
    for (int64_t i = 0; i < CHANNELS_N * CHANNELS_C * (CHANNELS_K - 1); i++)
        CHECK_NEAR(state[i], found_channel(i / (CHANNELS_K - 1), CHANNELS_L + i % (CHANNELS_K - 1)),
                   0);
}

static void found_channels(void)
{
    float x[CHANNELS_N * CHANNELS_C * CHANNELS_L], w[CHANNELS_C * CHANNELS_K], b[CHANNELS_C];
    float past[CHANNELS_N * CHANNELS_C * (CHANNELS_K - 1)];
    for (int i = 0; i < CHANNELS_N * CHANNELS_C * CHANNELS_L; i++)
        x[i] = (float)i / 4;
    for (int i = 0; i < CHANNELS_C * CHANNELS_K; i++)
        w[i] = (float)(i + 1);
    for (int i = 0; i < CHANNELS_C; i++)
        b[i] = (float)(i - 1);
    for (int i = 0; i < CHANNELS_N * CHANNELS_C * (CHANNELS_K - 1); i++)
        past[i] = (float)i / 8;
    const holo_tensor in[] = {
        {.data = x, .dim = {CHANNELS_N, CHANNELS_C, CHANNELS_L}, .rank = 3, .dtype = HOLO_F32},
        {.data = w, .dim = {CHANNELS_C, 1, CHANNELS_K}, .rank = 3, .dtype = HOLO_F32},
        {.data = b, .dim = {CHANNELS_C}, .rank = 1, .dtype = HOLO_F32},
        {.data = past,
         .dim = {CHANNELS_N, CHANNELS_C, CHANNELS_K - 1},
         .rank = 3,
         .dtype = HOLO_F32},
    };
    found_both("graph(%x: float32[n,c,l], %w: float32[c,1,3], %b: float32[c], %p: float32[n,c,2]) "
               "{\n  %y, %s = CausalConvWithState(%x, %w, %b, %p)\n  return %y, %s\n}\n",
               in, 4, found_channels_check);
}

const hg_test_case hg_tests_random_found[] = {
    {"channels", found_channels},
    {"tables", found_tables},
    {"order", found_order},
    {"stored", found_stored},
    {"masks", found_masks},
    {"triangle", found_triangle},
    {"narrow", found_narrow},
    {"views", found_views},
    {"empty_sum", found_empty_sum},
    {"zero_sizes", found_zero_sizes},
    {"no_units", found_no_units},
    {"wraps", found_wraps},
    {"measured", found_measured},
    {"folded", found_folded},
    {"unused_body", found_unused_body},
    {"no_heads", found_no_heads},
    {"padded_mean", found_padded_mean},
    {"no_window", found_no_window},
    {"resize", found_resize},
    {"exact", found_exact},
    {"norm", found_norm},
    {0},
};
