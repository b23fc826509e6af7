/* gradient.c - Gradient against central differences in f64, for every rule; what is refused. */
#include "op/rule.h"

#include <math.h>

#define GRADIENT "ai.onnx.preview.training:Gradient"

enum { GRADIENT_MAX = 64 };

/* %a and %b are variables of these shapes, filled with numbers in (low, high); the body makes %f of
 * them. */
typedef struct gradient_case {
    const char *a, *b; /* "2,3"; b NULL: there is none */
    const char *body;
    double low, high; /* both 0: -2 and 2 */
} gradient_case;

typedef struct gradient_values {
    double x[2][GRADIENT_MAX];
    int count[2];
} gradient_values;

static int gradient_count(const char *dims)
{
    int count = 1;
    if (dims == NULL) return 0;
    for (const char *at = dims; *at != 0; at++)
        if (at == dims || at[-1] == ',') count *= atoi(at);
    return count;
}

/* No two are equal, so that maxima stand out. */
static void gradient_fill(const gradient_case *t, gradient_values *v)
{
    const double low = t->low == t->high ? -2 : t->low, high = t->low == t->high ? 2 : t->high;
    uint64_t seed = 7;
    v->count[0] = gradient_count(t->a);
    v->count[1] = gradient_count(t->b);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < v->count[k]; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            v->x[k][i] = low + (high - low) * ((double)(seed >> 11) * 0x1p-53);
        }
}

static void gradient_text(const gradient_case *t, const gradient_values *v, char *text, size_t size)
{
    size_t at = 0;
    for (int k = 0; k < 2; k++) {
        if (v->count[k] == 0) continue;
        at += (size_t)snprintf(text + at, size - at, "%%%c = const float64[%s] {", "ab"[k],
                               k == 0 ? t->a : t->b);
        for (int i = 0; i < v->count[k]; i++)
            at += (size_t)snprintf(text + at, size - at, "%s%.17g", i == 0 ? "" : ", ", v->x[k][i]);
        at += (size_t)snprintf(text + at, size - at, "}\n");
    }
    snprintf(text + at, size - at, "%s\n", t->body);
}

/* The elements of %y, a float64. */
static int gradient_eval(const char *body, double *out)
{
    char text[10000];
    snprintf(text, sizeof text, "graph() {\n%s\nreturn %%y as \"y\"\n}\n", body);
    fixture *f = fixture_parse(text);
    int count = -1;
    if (CHECK_OK(rule_compute(f), &f->error)) {
        const hg_value *v = hg_graph_value(&f->g, hg_region_out(&f->g, HG_REGION_MAIN, 0));
        CHECK_EQ_INT(v->type.dtype, HOLO_F64);
        count = (int)(v->constant->bytes / sizeof(double));
        if (count <= GRADIENT_MAX) memcpy(out, v->constant->data, v->constant->bytes);
    } else {
        hg_test_fail(HG_TEST_HERE, "%s", body);
    }
    fixture_free(f);
    return count;
}

static double gradient_sum(const gradient_case *t, const gradient_values *v)
{
    char text[8192], body[sizeof text + 512];
    double y = NAN;
    gradient_text(t, v, text, sizeof text);
    snprintf(body, sizeof body, "%s%%y = ReduceSum(%%f) {keepdims=0}", text);
    (void)gradient_eval(body, &y);
    return y;
}

static double gradient_difference(const gradient_case *t, gradient_values *v, int k, int i)
{
    const double x = v->x[k][i], step = 1e-5;
    v->x[k][i] = x + step;
    const double up = gradient_sum(t, v);
    v->x[k][i] = x - step;
    const double down = gradient_sum(t, v);
    v->x[k][i] = x;
    return (up - down) / (2 * step);
}

static void gradient_check(const gradient_case *t)
{
    gradient_values v;
    gradient_fill(t, &v);
    for (int k = 0; k < 2; k++) {
        char text[8192], body[sizeof text + 512];
        double found[GRADIENT_MAX];
        if (v.count[k] == 0) continue;
        gradient_text(t, &v, text, sizeof text);
        if (v.count[1] == 0)
            snprintf(body, sizeof body, "%s%%y = " GRADIENT "(%%a, %%a, %%f) {xs=[\"a\"], y=\"f\"}",
                     text);
        else
            snprintf(body, sizeof body,
                     "%s%%%s, %%%s = " GRADIENT
                     "(%%a, %%b, %%a, %%b, %%f) {xs=[\"a\", \"b\"], y=\"f\"}",
                     text, k == 0 ? "y" : "u", k == 1 ? "y" : "u");
        if (!CHECK_EQ_INT(gradient_eval(body, found), v.count[k])) continue;
        for (int i = 0; i < v.count[k]; i++) {
            const double expected = gradient_difference(t, &v, k, i);
            if (!(fabs(found[i] - expected) <= 1e-6 * (1 + fabs(expected))))
                hg_test_fail(HG_TEST_HERE, "%s: derivative %d of %c is %.9g, expected %.9g",
                             t->body, i, "ab"[k], found[i], expected);
        }
    }
}

static void gradient_table(const gradient_case *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gradient_check(&table[i]);
}

static void gradient_pointwise(void)
{
    static const char *const unary[] = {"Abs",       "Neg",         "Exp",
                                        "Sin",       "Cos",         "Tanh",
                                        "Sigmoid",   "Relu",        "Erf",
                                        "Sinh",      "Cosh",        "Asinh",
                                        "Atan",      "Softplus",    "Gelu",
                                        "Mish",      "Selu",        "Softsign",
                                        "HardSwish", "HardSigmoid", "LeakyRelu",
                                        "Elu",       "Celu",        "Swish",
                                        "Floor",     "Identity",    "ThresholdedRelu",
                                        "Round",     "Sign"};
    static const char *const inner[] = {"Tan", "Asin", "Acos",      "Atanh",
                                        "Log", "Sqrt", "Reciprocal"};
    for (size_t i = 0; i < HG_COUNT(unary) + HG_COUNT(inner); i++) {
        char body[128];
        const bool within = i >= HG_COUNT(unary);
        snprintf(body, sizeof body, "%%f = %s(%%a)",
                 within ? inner[i - HG_COUNT(unary)] : unary[i]);
        gradient_check(&(gradient_case){"2,3", NULL, body, within ? 0.1 : 0, within ? 0.9 : 0});
    }
    static const gradient_case table[] = {
        {"2,3", "2,3", "%f = Add(%a, %b)", 0, 0},
        {"2,3", "3", "%f = Sub(%a, %b)", 0, 0},
        {"2,1", "3", "%f = Mul(%a, %b)", 0, 0},
        {"2,1,2", "1,3,1", "%f = Div(%a, %b)", 0.5, 2},
        {"2,3", "1", "%f = Pow(%a, %b)", 0.5, 2},
        {"2,3", "2,3", "%f = Max(%a, %b, %a)", 0, 0},
        {"2,3", "3", "%f = Min(%a, %b)", 0, 0},
        {"4", "4", "%f = Mod(%a, %b) {fmod=1}", 0.3, 5},
        {"2,3", "3", "%f = Mean(%a, %b)", 0, 0},
        {"2,3", "3", "%s = Sum(%a, %b, %b) %f = Mul(%s, %a)", 0, 0},
        {"2,3", "2,3", "%f = SwiGLU(%a, %b) {alpha=1.5}", 0, 0},
        {"2,3", "3", "%f = PRelu(%a, %b)", 0, 0},
        {"6", NULL, "%f = Acosh(%a)", 1.5, 3},
        {"6", NULL, "%l = const float64[] {-1} %h = const float64[] {1} %f = Clip(%a, %l, %h)", 0,
         0},
        {"2,3", "2,3", "%c = Less(%a, %b) %f = Where(%c, %a, %b)", 0, 0},
        {"6", NULL, "%c = Cast(%a) {to=7} %d = Cast(%c) {to=11} %f = Mul(%a, %d)", 0, 0},
        {"6", NULL, "%s = Mul(%a, %a) %f = Mul(%s, %s)", 0, 0},
    };
    gradient_table(table, HG_COUNT(table));
}

static void gradient_reductions(void)
{
    static const char *const name[] = {"Sum", "Mean", "Max",    "Min",       "Prod",
                                       "L1",  "L2",   "LogSum", "LogSumExp", "SumSquare"};
    static const char *const form[] = {"(%a)", "(%a, %i)", "(%a, %i) {keepdims=0}",
                                       "(%a, %n) {noop_with_empty_axes=1}"};
    for (size_t i = 0; i < HG_COUNT(name); i++)
        for (size_t k = 0; k < HG_COUNT(form); k++) {
            char body[256];
            snprintf(body, sizeof body,
                     "%%i = const int64[2] {0, -1} %%n = const int64[0] {} %%w = const "
                     "float64[3] {1, 2, 3} %%r = Reduce%s%s %%f = Mul(%%r, %%r)",
                     name[i], form[k]);
            gradient_check(&(gradient_case){"2,3,2", NULL, body, 0.5, 1.5});
        }
    static const gradient_case table[] = {
        {"2,3", "3", "%s = Softmax(%a) %f = Mul(%s, %b)", 0, 0},
        {"2,3", "3", "%s = LogSoftmax(%a) {axis=0} %f = Mul(%s, %b)", 0, 0},
        {"2,3", "3", "%x = const int64[] {1} %s = CumSum(%a, %x) {exclusive=1} %f = Mul(%s, %b)", 0,
         0},
        {"2,3", NULL, "%k = const int64[1] {2} %v, %i = TopK(%a, %k) %f = Mul(%v, %v)", 0, 0},
        {"2,3", NULL, "%l = const int64[2] {0, 2} %f, %p = SoftmaxCrossEntropyLoss(%a, %l)", 0, 0},
        {"2,3", "3", "%l = LayerNormalization(%a, %b) %f = Mul(%l, %a)", 0, 0},
        {"2,4", "4", "%l = LayerNormalization(%a, %b, %b) %f = Mul(%l, %l)", 0, 0},
        {"2,4", "4", "%l = RMSNormalization(%a, %b) %f = Mul(%l, %a)", 0, 0},
        {"2,4,3", "4", "%l = GroupNormalization(%a, %b, %b) {num_groups=2} %f = Mul(%l, %a)", 0, 0},
        {"2,2,3", "2", "%l = InstanceNormalization(%a, %b, %b) %f = Mul(%l, %a)", 0, 0},
        {"2,2,3", "2",
         "%v = const float64[2] {1, 2} %l = BatchNormalization(%a, %b, %b, %b, %v) "
         "%f = Mul(%l, %a)",
         0, 0},
    };
    gradient_table(table, HG_COUNT(table));
}

/* Elements that are met once, twice and not at all; factors that are 0. */
static void gradient_scatters(void)
{
    static const char *const reduction[] = {"none", "add", "mul", "max", "min"};
    for (size_t i = 0; i < HG_COUNT(reduction); i++) {
        char body[400];
        snprintf(body, sizeof body,
                 "%%i = const int64[2,3] {1, 0, 2, -2, 0, 0} %%s = ScatterElements(%%a, %%i, %%b) "
                 "{axis=1, reduction=\"%s\"} %%f = Mul(%%s, %%s)",
                 reduction[i]);
        gradient_check(&(gradient_case){"2,4", "2,3", body, 0, 0});
        snprintf(body, sizeof body,
                 "%%i = const int32[3,1] {2, 0, 2} %%s = ScatterND(%%a, %%i, %%b) "
                 "{reduction=\"%s\"} %%f = Mul(%%s, %%s)",
                 reduction[i]);
        gradient_check(&(gradient_case){"4,2", "3,2", body, 0, 0});
        snprintf(body, sizeof body,
                 "%%i = const int64[2,2] {1, 0, 0, -1} %%s = ScatterND(%%a, %%i, %%b) "
                 "{reduction=\"%s\"} %%f = Mul(%%s, %%s)",
                 reduction[i]);
        gradient_check(&(gradient_case){"2,3", "2", body, 0, 0});
    }
    static const gradient_case table[] = {
        {"4", "3",
         "%z = const float64[4] {1, 0, 0, 1} %k = const float64[3] {0, 1, 1} %x = Mul(%a, %z) "
         "%v = Mul(%b, %k) %i = const int64[3] {0, 1, 3} %s = ScatterElements(%x, %i, %v) "
         "{reduction=\"mul\"} %f = Add(%s, %a)",
         0, 0},
    };
    gradient_table(table, HG_COUNT(table));
}

/* Products with no, one and two factors of 0, each way. */
static void gradient_running(void)
{
    static const char *const zero[] = {"1, 1, 1, 1", "1, 0, 1, 1", "1, 0, 1, 0", "0, 1, 1, 1"};
    for (int i = 0; i < 16; i++) {
        char body[400];
        snprintf(body, sizeof body,
                 "%%o = const float64[4] {%s} %%x = Mul(%%a, %%o) %%k = const int64[] {-1} "
                 "%%p = CumProd(%%x, %%k) {exclusive=%d, reverse=%d} %%m = Mul(%%p, %%p) "
                 "%%f = Add(%%m, %%p)",
                 zero[i / 4], i & 1, i >> 1 & 1);
        gradient_check(&(gradient_case){"2,4", NULL, body, 0, 0});
    }
    static const gradient_case pools[] = {
        {"1,2,5", NULL, "%p = LpPool(%a) {kernel_shape=[2], strides=[2], p=3} %f = Mul(%p, %p)", 0,
         0},
        {"1,1,4,3", NULL,
         "%p = LpPool(%a) {kernel_shape=[2,2], pads=[1,0,0,1], dilations=[1,2]} %f = Exp(%p)", 0,
         0},
        {"1,2,4", NULL,
         "%p = LpPool(%a) {kernel_shape=[3], p=1, auto_pad=\"SAME_LOWER\"} "
         "%f = Mul(%p, %p)",
         0, 0},
        {"2,2,3", NULL, "%p = GlobalLpPool(%a) {p=3} %f = Mul(%p, %p)", 0, 0},
        {"2,2,3", NULL, "%p = GlobalLpPool(%a) %f = Exp(%p)", 0, 0},
    };
    gradient_table(pools, HG_COUNT(pools));
}

static void gradient_products(void)
{
    static const gradient_case table[] = {
        {"2,3", "3,2", "%f = MatMul(%a, %b)", 0, 0},
        {"3", "3,2", "%m = MatMul(%a, %b) %f = Mul(%m, %m)", 0, 0},
        {"2,2,3", "3", "%m = MatMul(%a, %b) %f = Mul(%m, %m)", 0, 0},
        {"2,1,2,3", "3,3,2", "%m = MatMul(%a, %b) %f = Mul(%m, %m)", 0, 0},
        {"3,2", "2,3", "%m = Gemm(%a, %b) {transA=1, transB=1, alpha=0.5} %f = Mul(%m, %m)", 0, 0},
        {"3,2", "3,4", "%m = Gemm(%a, %b) {transA=1} %f = Mul(%m, %m)", 0, 0},
        {"2,3", "4,3", "%m = Gemm(%a, %b) {transB=1} %f = Mul(%m, %m)", 0, 0},
        {"2,3", "3",
         "%w = const float64[3,3] {1,2,3,4,5,6,7,8,9} %m = Gemm(%a, %w, %b) {beta=2.0} "
         "%f = Mul(%m, %m)",
         0, 0},
        {"2,3,4", "4,3", "%m = Einsum(%a, %b) {equation=\"bij,ji->bi\"} %f = Mul(%m, %m)", 0, 0},
        {"1,2,2,3", "1,1,4,3",
         "%v = const float64[1,1,4,2] {1,2,3,4,5,6,7,8} "
         "%m = Attention(%a, %b, %v) {is_causal=1} %f = Mul(%m, %m)",
         0, 0},
        {"1,2,5", "4,2,3", "%c = Conv(%a, %b) {pads=[1,0], strides=[2]} %f = Mul(%c, %c)", 0, 0},
        {"2,4,4", "4,2,2", "%c = Conv(%a, %b) {group=2, dilations=[2]} %f = Mul(%c, %c)", 0, 0},
        {"1,1,4,5", "2,1,2,3",
         "%w = const float64[2] {1, 2} %c = Conv(%a, %b, %w) "
         "{auto_pad=\"SAME_UPPER\", strides=[2,2]} %f = Mul(%c, %c)",
         0, 0},
        {"1,1,5", "3",
         "%w = const float64[3,1,2] {1,2,3,4,5,6} %c = Conv(%a, %w, %b) "
         "%f = Mul(%c, %c)",
         0, 0},
        {"1,4,3", "4,1,3",
         "%c = ConvTranspose(%a, %b) {group=2, strides=[2], pads=[1,0], "
         "output_padding=[1]} %f = Mul(%c, %c)",
         0, 0},
        {"1,2,3", "2,1,2", "%c = ConvTranspose(%a, %b) {dilations=[2]} %f = Mul(%c, %c)", 0, 0},
        {"1,2,4,4", NULL,
         "%c = MaxPool(%a) {kernel_shape=[2,2], strides=[1,2], storage_order=1} "
         "%f = Mul(%c, %c)",
         0, 0},
        {"2,2,5", NULL,
         "%c = AveragePool(%a) {kernel_shape=[3], strides=[2], pads=[1,1]} "
         "%f = Mul(%c, %c)",
         0, 0},
        {"1,2,5", NULL,
         "%c = AveragePool(%a) {kernel_shape=[2], strides=[2], pads=[1,0], "
         "ceil_mode=1, count_include_pad=1} %f = Mul(%c, %c)",
         0, 0},
        {"1,2,4", NULL, "%c = GlobalAveragePool(%a) %f = Mul(%c, %c)", 0, 0},
    };
    gradient_table(table, HG_COUNT(table));
}

static void gradient_resized(void)
{
    static const char *const how[] = {
        "",
        "mode=\"linear\"",
        "mode=\"cubic\"",
        "mode=\"cubic\", exclude_outside=1",
        "mode=\"linear\", coordinate_transformation_mode=\"align_corners\"",
        "mode=\"linear\", antialias=1",
        "nearest_mode=\"ceil\""};
    for (size_t i = 0; i < HG_COUNT(how); i++) {
        char body[400];
        snprintf(body, sizeof body,
                 "%%s = const int64[2] {5, 2} %%r = Resize(%%a, _, _, %%s) {axes=[1,2]%s%s} "
                 "%%f = Mul(%%r, %%b)",
                 how[i][0] == 0 ? "" : ", ", how[i]);
        gradient_check(&(gradient_case){"2,3,4", "2,5,2", body, 0, 0});
        snprintf(body, sizeof body,
                 "%%s = const float32[3] {1.0, 1.7, 0.6} %%r = Resize(%%a, _, %%s) {%s} "
                 "%%f = Mul(%%r, %%b)",
                 how[i]);
        gradient_check(&(gradient_case){"2,3,4", "2,5,2", body, 0, 0});
    }
    static const gradient_case table[] = {
        {"1,4", "1,3",
         "%o = const float32[2] {0.2, 1.3} %s = const int64[1] {3} "
         "%r = Resize(%a, %o, _, %s) {axes=[1], mode=\"linear\", extrapolation_value=4.0, "
         "coordinate_transformation_mode=\"tf_crop_and_resize\"} %f = Mul(%r, %b)",
         0, 0},
        {"1,1,2,2", "1,1,4,2",
         "%s = const float32[4] {1.0, 1.0, 2.0, 1.0} %r = Upsample(%a, %s) {mode=\"linear\"} "
         "%f = Mul(%r, %b)",
         0, 0},
    };
    gradient_table(table, HG_COUNT(table));
}

/* Places inside, outside and between, each way. */
static void gradient_sampled(void)
{
    static const char *const mode[] = {"linear", "cubic", "nearest"};
    static const char *const padding[] = {"zeros", "border", "reflection"};
    for (int i = 0; i < 18; i++) {
        char body[400];
        snprintf(body, sizeof body,
                 "%%s = GridSample(%%a, %%b) {mode=\"%s\", padding_mode=\"%s\", "
                 "align_corners=%d} %%f = Mul(%%s, %%s)",
                 mode[i / 6], padding[i / 2 % 3], i % 2);
        gradient_check(&(gradient_case){"1,2,3,4", "1,2,2,2", body, -1.4, 1.4});
    }
    gradient_check(&(gradient_case){"1,1,2,2,3", "1,1,2,1,3",
                                    "%s = GridSample(%a, %b) %f = Mul(%s, %s)", -1.2, 1.2});
}

/* Two steps of a batch of two, two inputs and two hidden elements; the weights are the variables.
 */
static void gradient_recurrent(void)
{
    static const char *const node[] = {
        "%o, %h = RNN(%x, %a, %b) {hidden_size=2}",
        "%o, %h = RNN(%x, %a, %b, _, %n, %s) {hidden_size=2, direction=\"reverse\", "
        "activations=[\"ScaledTanh\"], activation_alpha=[0.5], activation_beta=[1.5], clip=0.75}",
        "%o, %h = RNN(%v, %a, %b, _, %n, %s) {hidden_size=2, layout=1, "
        "activations=[\"HardSigmoid\"]}",
        "%g = Concat(%a, %a, %b) {axis=1} %q = Concat(%b, %a, %b) {axis=1} "
        "%o, %h = GRU(%x, %g, %q, %c6, %n, %s) {hidden_size=2}",
        "%g = Concat(%a, %a, %b) {axis=1} %q = Concat(%b, %a, %b) {axis=1} "
        "%o, %h = GRU(%x, %g, %q, %c6, _, %s) {hidden_size=2, linear_before_reset=1, "
        "activations=[\"Elu\", \"Affine\"], activation_alpha=[0.3, 0.5], activation_beta=[0.1]}",
        "%g = Concat(%a, %a, %b, %b) {axis=1} %q = Concat(%b, %a, %b, %a) {axis=1} "
        "%o, %h, %k = LSTM(%x, %g, %q, %c8, %n, %s, %s, %p) {hidden_size=2} %w = Add(%h, %k)",
        "%g = Concat(%a, %a, %b, %b) {axis=1} %q = Concat(%b, %a, %b, %a) {axis=1} "
        "%o, %h, %k = LSTM(%x, %g, %q) {hidden_size=2, input_forget=1, direction=\"reverse\"}",
        "%g1 = Concat(%a, %a, %b, %b) {axis=1} %q1 = Concat(%b, %a, %b, %a) {axis=1} "
        "%g = Concat(%g1, %q1) {axis=0} %q = Concat(%q1, %g1) {axis=0} "
        "%o, %h, %k = LSTM(%x, %g, %q, _, %n) {hidden_size=2, direction=\"bidirectional\"}",
    };
    for (size_t i = 0; i < HG_COUNT(node); i++) {
        char body[2000];
        snprintf(body, sizeof body,
                 "%%x = const float64[2,2,2] {0.5, -0.25, 1, 0.75, -1, 0.5, 0.25, -0.75} "
                 "%%v = const float64[2,2,2] {0.5, -0.25, 1, 0.75, -1, 0.5, 0.25, -0.75} "
                 "%%n = const int32[2] {2, 1} "
                 "%%s = const float64[%s] {0.1, -0.3, 0.2, 0.4} "
                 "%%p = const float64[1,6] {0.1, 0.2, -0.3, 0.4, 0.5, -0.6} "
                 "%%c6 = const float64[1,12] {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6} "
                 "%%c8 = const float64[1,16] {1,2,3,4,5,6,7,8,-1,-2,-3,-4,-5,-6,-7,-8} "
                 "%s %%t = Mul(%%o, %%o) %%t2 = ReduceSum(%%t) {keepdims=0} "
                 "%%t3 = ReduceSum(%%h) {keepdims=0} %%f = Add(%%t2, %%t3)",
                 i == 2 ? "2,1,2" : "1,2,2", node[i]);
        gradient_check(&(gradient_case){"1,2,2", "1,2,2", body, -1, 1});
    }
    /* the input, the bias and the first state */
    gradient_check(&(gradient_case){
        "3,1,2", "1,4",
        "%w = const float64[1,2,2] {0.5, -1, 0.25, 0.75} %z = const int64[1] {0} "
        "%e = const int64[1] {2} %i = const int64[1] {1} %s = Slice(%b, %z, %e, %i) "
        "%q = const int64[3] {1, 1, 2} %h0 = Reshape(%s, %q) "
        "%o, %h = RNN(%a, %w, %w, %b, _, %h0) {hidden_size=2} %f = Mul(%o, %o)",
        -1, 1});
}

/* Each moves elements, then weighs them. */
static void gradient_moves(void)
{
    static const gradient_case table[] = {
        {"2,3", "3,2", "%s = const int64[2] {3, -1} %m = Reshape(%a, %s) %f = Mul(%m, %b)", 0, 0},
        {"2,3", "6", "%m = Flatten(%a) {axis=0} %s = Squeeze(%m) %f = Mul(%s, %b)", 0, 0},
        {"2,3", "2,1,3", "%x = const int64[1] {1} %m = Unsqueeze(%a, %x) %f = Mul(%m, %b)", 0, 0},
        {"2,3,2", "2,2,3", "%m = Transpose(%a) {perm=[2,0,1]} %f = Mul(%m, %b)", 0, 0},
        {"2,3", "2,2", "%m = Concat(%a, %b, %a) {axis=-1} %f = Mul(%m, %m)", 0, 0},
        {"2,5", NULL,
         "%s = const int64[2] {2, 3} %p, %q = Split(%a, %s) {axis=1} "
         "%f = Mul(%q, %q)",
         0, 0},
        {"3,5", "2,4",
         "%s = const int64[2] {0, 1} %e = const int64[2] {-1, 99} "
         "%m = Slice(%a, %s, %e) %f = Mul(%m, %b)",
         0, 0},
        {"3,5", "3,3",
         "%s = const int64[1] {-1} %e = const int64[1] {-99} %x = const int64[1] {1} "
         "%t = const int64[1] {-2} %m = Slice(%a, %s, %e, %x, %t) %f = Mul(%m, %b)",
         0, 0},
        {"2,1", "3,2,4", "%s = const int64[3] {3, 1, 4} %m = Expand(%a, %s) %f = Mul(%m, %b)", 0,
         0},
        {"2,2", "4,6", "%s = const int64[2] {2, 3} %m = Tile(%a, %s) %f = Mul(%m, %b)", 0, 0},
        {"2,3", "3,3", "%s = const int64[4] {1, -1, 0, 1} %m = Pad(%a, %s) %f = Mul(%m, %b)", 0, 0},
        {"4", "8",
         "%s = const int64[2] {2, 2} %m = Pad(%a, %s) {mode=\"reflect\"} "
         "%f = Mul(%m, %b)",
         0, 0},
        {"4,2", "2,2,2",
         "%i = const int64[2,2] {0, -1, 3, 1} %m = Gather(%a, %i) "
         "%f = Mul(%m, %b)",
         0, 0},
        {"2,4", "2,3",
         "%i = const int32[3] {0, -1, 0} %m = Gather(%a, %i) {axis=1} "
         "%f = Mul(%m, %b)",
         0, 0},
        {"2,3", "2,2",
         "%i = const int64[2,2] {0, 2, 1, 1} %m = GatherElements(%a, %i) {axis=1} "
         "%f = Mul(%m, %b)",
         0, 0},
        {"2,3", "2", "%i = const int64[2,2] {0, 2, 1, -1} %m = GatherND(%a, %i) %f = Mul(%m, %b)",
         0, 0},
        {"3,3", "3,3", "%m = Trilu(%a) {upper=0} %f = Mul(%m, %b)", 0, 0},
        {"1,4,1,2", "1,1,2,4", "%m = DepthToSpace(%a) {blocksize=2} %f = Mul(%m, %b)", 0, 0},
        {"1,1,2,4", "1,4,1,2", "%m = SpaceToDepth(%a) {blocksize=2} %f = Mul(%m, %b)", 0, 0},
        {"3,2", "3,2", "%l = const int64[2] {2, 3} %m = ReverseSequence(%a, %l) %f = Mul(%m, %b)",
         0, 0},
        {"2,3", NULL, "%m = Dropout(%a) %f = Mul(%m, %m)", 0, 0},
        {"", "", "%f = Mul(%a, %b)", 0, 0},
    };
    gradient_table(table, HG_COUNT(table));
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void gradient_walks(void)
{
    static const rule_value table[] = {
        /* twice: d(x^3) is 3 x^2, d of that 6 x */
        {"%x = const float32[2] {2, 3} %s = Mul(%x, %x) %c = Mul(%s, %x) %d = " GRADIENT
         "(%x, %x, %c) {xs=[\"x\"], y=\"c\"} %y = " GRADIENT "(%x, %x, %d) {xs=[\"x\"], y=\"d\"}",
         "float32[2] {12.0, 18.0}"},
        /* at another place than where y was computed */
        {"%x = const float32[2] {2, 3} %z = const float32[2] {5, 7} %c = Mul(%x, %x) %y = " GRADIENT
         "(%z, %x, %c) {xs=[\"x\"], y=\"c\"}",
         "float32[2] {10.0, 14.0}"},
        /* one value given for two variables: d(a b)/da at a = b = 5 */
        {"%a = const float32[] {2} %b = const float32[] {3} %u = const float32[] {5} "
         "%c = Mul(%a, %b) %d = Mul(%c, %a) %y, _ = " GRADIENT
         "(%u, %u, %a, %b, %d) {xs=[\"a\", \"b\"], y=\"d\"}",
         "float32[] {50.0}"},
        /* with respect to a value inside; zs are held */
        {"%x = const float32[] {2} %z = const float32[] {3} %h = Mul(%x, %x) %f = Mul(%h, %z) "
         "%y = " GRADIENT "(%h, %z, %h, %z, %f) {xs=[\"h\"], zs=[\"z\"], y=\"f\"}",
         "float32[] {3.0}"},
        /* y does not depend on it */
        {"%x = const float32[2] {2, 3} %z = const float32[] {3} %f = Mul(%z, %z) %y = " GRADIENT
         "(%x, %z, %x, %z, %f) {xs=[\"x\"], zs=[\"z\"], y=\"f\"}",
         "float32[2] {0.0, 0.0}"},
        {"%x = const float32[2] {2, 3} %y = " GRADIENT "(%x, %x, %x) {xs=[\"x\"], y=\"x\"}",
         "float32[2] {1.0, 1.0}"},
        /* what is not chosen may be infinite */
        {"%x = const float32[2] {200, -inf} %f = Elu(%x) %y = " GRADIENT
         "(%x, %x, %f) {xs=[\"x\"], y=\"f\"}",
         "float32[2] {1.0, 0.0}"},
        {"%x = const float16[2] {1, 2} %f = Mul(%x, %x) %y = " GRADIENT
         "(%x, %x, %f) {xs=[\"x\"], y=\"f\"}",
         "float16[2] {2.0, 4.0}"},
        {"%x = const float32[0] {} %f = Exp(%x) %y = " GRADIENT
         "(%x, %x, %f) {xs=[\"x\"], y=\"f\"}",
         "float32[0] {}"},
        {"%x = const float32[2,2] {1, 2, 2, 4} %f = Det(%x) %y = " GRADIENT /* singular */
         "(%x, %x, %f) {xs=[\"x\"], y=\"f\"}",
         "float32[2,2] {4.0, -2.0, -2.0, 1.0}"},
        {"%x = const float32[1,4,1] {1, 2, 3, 4} %f = DFT(%x) \"waves\" %y = " GRADIENT
         "(%x, %x, %f) {xs=[\"x\"], y=\"f\"}",
         "!the derivative of node 'waves' (DFT) is not known"},
        {"%x = const int64[2] {1, 2} %f = Cast(%x) {to=1} %y = " GRADIENT
         "(%x, %x, %f) {xs=[\"x\"], y=\"f\"}",
         "!input 0 has element type int64"},
        {"%x = const float32[2] {1, 2} %f = Exp(%x) %y = " GRADIENT "(%x, %x, %f) {y=\"f\"}",
         "!attribute 'xs' names nothing"},
        {"%x = const float32[2] {1, 2} %f = Exp(%x) %y = " GRADIENT
         "(%x, %f) {xs=[\"x\"], y=\"f\"}",
         "!0 inputs and 1 outputs, expected 1 and at most 1"},
    };
    RULE_VALUES(table);
}

/* Sizes that are known later: whether an operand was broadcast is decided then. */
static void gradient_symbols(void)
{
    static const char text[] =
        "graph(%a: float32[n,3], %b: float32[m,3]) {\n%f = Mul(%a, %b)\n"
        "%y, %z = " GRADIENT "(%a, %b, %a, %b, %f) {xs=[\"a\", \"b\"], y=\"f\"}\n"
        "return %y as \"y\", %z as \"z\"\n}\n";
    fixture *f = fixture_parse(text);
    bool changed = false;
    if (CHECK_OK(hg_pass_find("infer_shapes")->run(&f->g, &changed), &f->error)) {
        const char *dump = fixture_dump(f);
        CHECK_HAS(dump, "ReduceSum");
        const hg_type *y = &hg_graph_value(&f->g, hg_region_out(&f->g, HG_REGION_MAIN, 0))->type;
        CHECK_EQ_INT(
            y->dim[0],
            hg_graph_value(&f->g, hg_graph_region(&f->g, HG_REGION_MAIN)->in[0])->type.dim[0]);
    }
    fixture_free(f);
}

static void gradient_det(void)
{
    static const gradient_case table[] = {
        {"3,3", NULL, "%f = Det(%a)", 0, 0},
        {"2,3,3", NULL, "%d = Det(%a) %f = Mul(%d, %d)", 0, 0},
        {"2,1,4,4", NULL, "%d = Det(%a) %f = Sin(%d)", 0, 0},
        {"1,1", NULL, "%d = Det(%a) %f = Mul(%d, %d)", 0, 0},
    };
    gradient_table(table, HG_COUNT(table));
}

/* By the picture and the weights, then by the offsets and the mask; each is squared, so that the
 * gradients that arrive differ. */
static void gradient_deform(void)
{
    static const char *const rest[] = {
        "%o = const float64[1,8,2,2] {0.3, -0.4, 0.7, 0.1, 0.2, -0.6, 0.9, 0.4, -0.3, 0.8, 0.15, "
        "-0.7, 1.2, 0.35, -0.45, 0.6, 0.1, -1.3, 0.55, 0.25, 0.65, -0.2, 0.85, 0.3, -0.9, 0.45, "
        "0.75, -0.35, 0.05, 1.6, -2.7, 0.95}\n"};
    char body[4][1400];
    snprintf(body[0], sizeof body[0], "%s%%y0 = DeformConv(%%a, %%b, %%o) %%f = Mul(%%y0, %%y0)",
             rest[0]);
    snprintf(body[1], sizeof body[1],
             "%s%%y0 = DeformConv(%%a, %%b, %%o) {group=2, strides=[2,1], pads=[1,0,1,0]} "
             "%%f = Mul(%%y0, %%y0)",
             rest[0]);
    snprintf(body[2], sizeof body[2],
             "%%x = const float64[1,2,3,3] {1, -2, 3, 0.5, 2, -1, 4, 0.25, -3, 2, 1, -1, 0.75, 3, "
             "-2, 1.5, 2.5, 1}\n%%w = const float64[1,2,2,1] {1, -0.5, 2, 0.75}\n"
             "%%y0 = DeformConv(%%x, %%w, %%a, _, %%b) {offset_group=2, dilations=[2,1]} "
             "%%f = Mul(%%y0, %%y0)");
    snprintf(body[3], sizeof body[3],
             "%%x = const float64[1,2,3,3] {1, -2, 3, 0.5, 2, -1, 4, 0.25, -3, 2, 1, -1, 0.75, 3, "
             "-2, 1.5, 2.5, 1}\n%%w = const float64[2,2,1,1] {1, -0.5, 2, 0.75}\n"
             "%%y0 = DeformConv(%%x, %%w, %%b, %%a) {strides=[2,2]} %%f = Mul(%%y0, %%y0)");
    const gradient_case table[] = {
        {"1,2,3,3", "1,2,2,2", body[0], 0, 0},
        {"1,2,2,3", "2,1,2,2", body[1], 0, 0},
        {"1,8,1,3", "1,4,1,3", body[2], -0.9, 0.9},
        {"2", "1,2,2,2", body[3], -0.9, 0.9},
    };
    gradient_table(table, HG_COUNT(table));
}

const hg_test_case hg_tests_op_gradient[] = {
    {"det", gradient_det},
    {"deform", gradient_deform},
    {"pointwise", gradient_pointwise},
    {"reductions", gradient_reductions},
    {"scatters", gradient_scatters},
    {"running", gradient_running},
    {"products", gradient_products},
    {"resized", gradient_resized},
    {"sampled", gradient_sampled},
    {"recurrent", gradient_recurrent},
    {"moves", gradient_moves},
    {"walks", gradient_walks},
    {"symbols", gradient_symbols},
    {0},
};
