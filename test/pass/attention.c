/* attention.c - attention that is written out becomes one node; projections of one value become one
 * product. */
#include "rewrite.h"
#include "test.h"

/* The forms share names: q, k, v are [b, rows, 6] seen as 2 heads of 3. */
#define ATTENTION_INPUTS "%q: float32[b,m,6], %k: float32[b,n,6], %v: float32[b,n,6]"
#define ATTENTION_SPLIT                                                                            \
    "  %s = const int64[4] {0, 0, 2, 3}\n"                                                         \
    "  %q4 = Reshape(%q, %s)\n"                                                                    \
    "  %qt = Transpose(%q4) {perm=[0,2,1,3]}\n"                                                    \
    "  %k4 = Reshape(%k, %s)\n"                                                                    \
    "  %kt = Transpose(%k4) {perm=[0,2,3,1]}\n"                                                    \
    "  %v4 = Reshape(%v, %s)\n"                                                                    \
    "  %vt = Transpose(%v4) {perm=[0,2,1,3]}\n"
#define ATTENTION_MERGE                                                                            \
    "  %o = MatMul(%p, %vt)\n"                                                                     \
    "  %ot = Transpose(%o) {perm=[0,2,1,3]}\n"                                                     \
    "  %z = const int64[3] {0, 0, 6}\n"                                                            \
    "  %y = Reshape(%ot, %z)\n"                                                                    \
    "  return %y\n"                                                                                \
    "}\n"
#define ATTENTION_VIEWS                                                                            \
    "sizes=dims[b,2,m,n,3,3,1], q=dims[0,m*6,3,6,1], k=dims[0,n*6,3,6,1], v=dims[0,n*6,3,6,1]"
#define ATTENTION_RESULT                                                                           \
    "  %z = const int64[3] {0, 0, 6}\n"                                                            \
    "  %y = Reshape(%ot, %z)\n"                                                                    \
    "  return %y\n"                                                                                \
    "}\n"

static void attention_plain(void)
{
    CHECK_PASS("recognize_attention",
               "graph g(" ATTENTION_INPUTS ") {\n" ATTENTION_SPLIT "  %x = MatMul(%qt, %kt)\n"
               "  %p = Softmax(%x) {axis=-1}\n" ATTENTION_MERGE,
               "graph g(" ATTENTION_INPUTS ") {\n"
               "  %ot = holo:Attention(%q, %k, %v) {" ATTENTION_VIEWS
               ", scale=1.0, by_row=1, empty=0}\n" ATTENTION_RESULT);
}

/* Scales before and behind the product, a bias that broadcasts. */
static void attention_bias(void)
{
    CHECK_PASS("recognize_attention",
               "graph g(" ATTENTION_INPUTS ", %mask: float32[b,1,1,n]) {\n" ATTENTION_SPLIT
               "  %half = const float32[] {0.5}\n"
               "  %four = const float32[] {4.0}\n"
               "  %qs = Mul(%qt, %half)\n"
               "  %x = MatMul(%qs, %kt)\n"
               "  %d = Div(%x, %four)\n"
               "  %a = Add(%mask, %d)\n"
               "  %p = Softmax(%a) {axis=3}\n" ATTENTION_MERGE,
               "graph g(" ATTENTION_INPUTS ", %mask: float32[b,1,1,n]) {\n"
               "  %ot = holo:Attention(%q, %k, %v, %mask) {" ATTENTION_VIEWS
               ", scale=0.125, by_row=1, empty=0}\n" ATTENTION_RESULT);
}

/* Where in front, rows without keys behind. */
static void attention_where(void)
{
    CHECK_PASS("recognize_attention",
               "graph g(" ATTENTION_INPUTS ", %mask: bool[m,n]) {\n" ATTENTION_SPLIT
               "  %none = const float32[] {-100.0}\n"
               "  %zero = const float32[] {0.0}\n"
               "  %x = MatMul(%qt, %kt)\n"
               "  %w = Where(%mask, %none, %x)\n"
               "  %e = Softmax(%w)\n"
               "  %i = IsNaN(%e)\n"
               "  %p = Where(%i, %zero, %e)\n" ATTENTION_MERGE,
               "graph g(" ATTENTION_INPUTS ", %mask: bool[m,n]) {\n"
               "  %ot = holo:Attention(%q, %k, %v, _, %mask) {" ATTENTION_VIEWS
               ", scale=1.0, by_row=1, empty=1, drops=1, fill=-100.0}\n" ATTENTION_RESULT);
}

/* Heads of keys and values that several heads of queries share; a result by heads. */
static void attention_repeat(void)
{
    CHECK_PASS("recognize_attention",
               "graph g(%q: float32[b,4,m,3], %k: float32[b,2,n,3], %v: float32[b,2,n,3]) {\n"
               "  %two = const int64[1] {2}\n"
               "  %e = const int64[5] {1, 1, 2, 1, 1}\n"
               "  %k5 = Unsqueeze(%k, %two)\n"
               "  %ke = Expand(%k5, %e)\n"
               "  %s4 = holo:Dims() {dims=dims[b,4,n,3]}\n"
               "  %k4 = Reshape(%ke, %s4)\n"
               "  %kt = Transpose(%k4) {perm=[0,1,3,2]}\n"
               "  %v5 = Unsqueeze(%v, %two)\n"
               "  %ve = Expand(%v5, %e)\n"
               "  %v4 = Reshape(%ve, %s4)\n"
               "  %x = MatMul(%q, %kt)\n"
               "  %p = Softmax(%x)\n"
               "  %y = MatMul(%p, %v4)\n"
               "  return %y\n"
               "}\n",
               "graph g(%q: float32[b,4,m,3], %k: float32[b,2,n,3], %v: float32[b,2,n,3]) {\n"
               "  %y = holo:Attention(%q, %k, %v) {sizes=dims[b,4,m,n,3,3,2], "
               "q=dims[0,m*12,m*3,3,1], k=dims[0,n*6,n*3,3,1], v=dims[0,n*6,n*3,3,1], scale=1.0, "
               "by_row=0, empty=0}\n"
               "  return %y\n"
               "}\n");
}

/* q, k and v side by side in one value; one matrix for all heads of all batches. */
static void attention_slices(void)
{
    CHECK_PASS("recognize_attention",
               "graph g(%x: float32[m,6,9]) {\n"
               "  %i0 = const int64[1] {0}\n"
               "  %i3 = const int64[1] {3}\n"
               "  %i6 = const int64[1] {6}\n"
               "  %i9 = const int64[1] {9}\n"
               "  %i2 = const int64[1] {2}\n"
               "  %q = Slice(%x, %i0, %i3, %i2)\n"
               "  %qt = Transpose(%q) {perm=[1,0,2]}\n"
               "  %k = Slice(%x, %i3, %i6, %i2)\n"
               "  %kt = Transpose(%k) {perm=[1,2,0]}\n"
               "  %v = Slice(%x, %i6, %i9, %i2)\n"
               "  %vt = Transpose(%v) {perm=[1,0,2]}\n"
               "  %s = MatMul(%qt, %kt)\n"
               "  %p = Softmax(%s)\n"
               "  %o = MatMul(%p, %vt)\n"
               "  %y = Transpose(%o) {perm=[1,0,2]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[m,6,9]) {\n"
               "  %1 = holo:Attention(%x, %x, %x) {sizes=dims[1,6,m,m,3,3,1], q=dims[0,0,9,54,1], "
               "k=dims[3,0,9,54,1], v=dims[6,0,9,54,1], scale=1.0, by_row=1, empty=0}\n"
               "  %2 = holo:Dims() {dims=dims[m,6,3]}\n"
               "  %y = Reshape(%1, %2) {allowzero=1}\n"
               "  return %y\n"
               "}\n");
}

/* Scores that somebody else reads are computed anyway. */
static void attention_shared(void)
{
    static const char text[] = "graph g(%q: float32[m,3], %k: float32[3,n], %v: float32[n,3]) {\n"
                               "  %x = MatMul(%q, %k)\n"
                               "  %p = Softmax(%x)\n"
                               "  %y = MatMul(%p, %v)\n"
                               "  return %y, %x\n"
                               "}\n";
    CHECK_PASS("recognize_attention", text, text);
}

/* Weights side by side, biases too, zeros where there is none; rows grow from 2 to 6 columns. */
static void attention_merge(void)
{
    CHECK_PASS("merge_projections",
               "graph g(%x: float32[b,m,1]) {\n"
               "  %wq = const float32[1,2] {1.0, 2.0}\n"
               "  %wk = const float32[1,2] {3.0, 4.0}\n"
               "  %wv = const float32[1,2] {5.0, 6.0}\n"
               "  %bq = const float32[2] {7.0, 8.0}\n"
               "  %bv = const float32[2] {9.0, 10.0}\n"
               "  %pq = holo:PackP16(%wq)\n"
               "  %pk = holo:PackP16(%wk)\n"
               "  %pv = holo:PackP16(%wv)\n"
               "  %mq = holo:MatMulP16(%x, %pq) {n=2}\n"
               "  %k = holo:MatMulP16(%x, %pk) {n=2}\n"
               "  %mv = holo:MatMulP16(%x, %pv) {n=2}\n"
               "  %q = Add(%mq, %bq)\n"
               "  %v = Add(%bv, %mv)\n"
               "  %y = holo:Attention(%q, %k, %v) {sizes=dims[b,2,m,m,1,1,1], q=dims[0,m*2,1,2,1], "
               "k=dims[0,m*2,1,2,1], v=dims[0,m*2,1,2,1], scale=1.0, by_row=1, empty=0}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[b,m,1]) {\n"
               "  %wq = const float32[1,2] {1.0, 2.0}\n"
               "  %wk = const float32[1,2] {3.0, 4.0}\n"
               "  %wv = const float32[1,2] {5.0, 6.0}\n"
               "  %1 = holo:PackP16(%wq, %wk, %wv) {trans=0}\n"
               "  %2 = holo:MatMulP16(%x, %1) {n=dims[6], alpha=1.0}\n"
               "  %3 = const float32[6] {7.0, 8.0, 0.0, 0.0, 9.0, 10.0}\n"
               "  %4 = Add(%2, %3)\n"
               "  %y = holo:Attention(%4, %4, %4) {sizes=dims[b,2,m,m,1,1,1], q=dims[0,m*6,1,6,1], "
               "k=dims[2,m*6,1,6,1], v=dims[4,m*6,1,6,1], scale=1.0, by_row=1, empty=0}\n"
               "  return %y\n"
               "}\n");
}

/* Keys and values of another sequence; queries stay. */
static void attention_merge_cross(void)
{
    CHECK_PASS("merge_projections",
               "graph g(%q: float32[m,2], %x: float32[n,1]) {\n"
               "  %wk = const float32[2,1] {3.0, 4.0}\n"
               "  %wv = const float32[2,1] {5.0, 6.0}\n"
               "  %pk = holo:PackP16(%wk) {trans=1}\n"
               "  %pv = holo:PackP16(%wv) {trans=1}\n"
               "  %k = holo:MatMulP16(%x, %pk) {n=2}\n"
               "  %v = holo:MatMulP16(%x, %pv) {n=2}\n"
               "  %y = holo:Attention(%q, %k, %v) {sizes=dims[1,1,m,n,2,2,1], q=dims[0,0,0,2,1], "
               "k=dims[0,0,0,2,1], v=dims[0,0,0,2,1], scale=1.0, by_row=0, empty=0}\n"
               "  return %y\n"
               "}\n",
               "graph g(%q: float32[m,2], %x: float32[n,1]) {\n"
               "  %wk = const float32[2,1] {3.0, 4.0}\n"
               "  %wv = const float32[2,1] {5.0, 6.0}\n"
               "  %1 = holo:PackP16(%wk, %wv) {trans=1}\n"
               "  %2 = holo:MatMulP16(%x, %1) {n=dims[4], alpha=1.0}\n"
               "  %y = holo:Attention(%q, %2, %2) {sizes=dims[1,1,m,n,2,2,1], q=dims[0,0,0,2,1], "
               "k=dims[0,0,0,4,1], v=dims[2,0,0,4,1], scale=1.0, by_row=0, empty=0}\n"
               "  return %y\n"
               "}\n");
}

/* Heads that run over the end of a row: rows cannot grow. */
static void attention_merge_not(void)
{
    static const char text[] =
        "graph g(%q: float32[m,2], %x: float32[n,1]) {\n"
        "  %wk = const float32[1,2] {3.0, 4.0}\n"
        "  %wv = const float32[1,2] {5.0, 6.0}\n"
        "  %pk = holo:PackP16(%wk) {trans=0}\n"
        "  %pv = holo:PackP16(%wv) {trans=0}\n"
        "  %k = holo:MatMulP16(%x, %pk) {n=2}\n"
        "  %v = holo:MatMulP16(%x, %pv) {n=2}\n"
        "  %y = holo:Attention(%q, %k, %v) {sizes=dims[1,1,m,n*2,1,1,1], q=dims[0,0,0,2,1], "
        "k=dims[0,0,0,1,1], v=dims[0,0,0,1,1], scale=1.0, by_row=0, empty=0}\n"
        "  return %y\n"
        "}\n";
    CHECK_PASS("merge_projections", text, text);
    /* A head that begins inside a row and ends outside of it. */
    static const char end[] =
        "graph g(%q: float32[m,2], %x: float32[n,1]) {\n"
        "  %wk = const float32[1,4] {3.0, 4.0, 5.0, 6.0}\n"
        "  %wv = const float32[1,4] {5.0, 6.0, 7.0, 8.0}\n"
        "  %pk = holo:PackP16(%wk) {trans=0}\n"
        "  %pv = holo:PackP16(%wv) {trans=0}\n"
        "  %k = holo:MatMulP16(%x, %pk) {n=4}\n"
        "  %v = holo:MatMulP16(%x, %pv) {n=4}\n"
        "  %y = holo:Attention(%q, %k, %v) {sizes=dims[1,1,m,n-1,2,2,1], q=dims[0,0,0,2,1], "
        "k=dims[3,0,0,4,1], v=dims[0,0,0,4,1], scale=1.0, by_row=0, empty=0}\n"
        "  return %y\n"
        "}\n";
    CHECK_PASS("merge_projections", end, end);
    /* Products that are scaled; weights of which one is turned. */
    static const char scaled[] =
        "graph g(%q: float32[m,2], %x: float32[n,1]) {\n"
        "  %wk = const float32[1,2] {3.0, 4.0}\n"
        "  %wv = const float32[1,2] {5.0, 6.0}\n"
        "  %pk = holo:PackP16(%wk) {trans=0}\n"
        "  %pv = holo:PackP16(%wv) {trans=0}\n"
        "  %k = holo:MatMulP16(%x, %pk) {n=2, alpha=0.5}\n"
        "  %v = holo:MatMulP16(%x, %pv) {n=2}\n"
        "  %y = holo:Attention(%q, %k, %v) {sizes=dims[1,1,m,n,2,2,1], q=dims[0,0,0,2,1], "
        "k=dims[0,0,0,2,1], v=dims[0,0,0,2,1], scale=1.0, by_row=0, empty=0}\n"
        "  return %y\n"
        "}\n";
    CHECK_PASS("merge_projections", scaled, scaled);
    static const char turned[] =
        "graph g(%q: float32[m,2], %x: float32[n,1]) {\n"
        "  %wk = const float32[2,1] {3.0, 4.0}\n"
        "  %wv = const float32[1,2] {5.0, 6.0}\n"
        "  %pk = holo:PackP16(%wk) {trans=1}\n"
        "  %pv = holo:PackP16(%wv) {trans=0}\n"
        "  %k = holo:MatMulP16(%x, %pk) {n=2}\n"
        "  %v = holo:MatMulP16(%x, %pv) {n=2}\n"
        "  %y = holo:Attention(%q, %k, %v) {sizes=dims[1,1,m,n,2,2,1], q=dims[0,0,0,2,1], "
        "k=dims[0,0,0,2,1], v=dims[0,0,0,2,1], scale=1.0, by_row=0, empty=0}\n"
        "  return %y\n"
        "}\n";
    CHECK_PASS("merge_projections", turned, turned);
}

const hg_test_case hg_tests_pass_attention[] = {
    {"plain", attention_plain},         {"bias", attention_bias},
    {"where", attention_where},         {"repeat", attention_repeat},
    {"slices", attention_slices},       {"shared", attention_shared},
    {"merge", attention_merge},         {"merge_cross", attention_merge_cross},
    {"merge_not", attention_merge_not}, {0},
};
