/* dim.c - dimension expressions: simplification, laws on random expressions, text, memory. */
#include "isa/dim.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static hg_arena dim_arena;

static hg_dims dim_new(void)
{
    hg_dims d;
    hg_arena_init(&dim_arena, NULL, 0);
    hg_dims_init(&d, &dim_arena);
    return d;
}

static void dim_end(void)
{
    hg_arena_deinit(&dim_arena);
}

static hg_dim dim_of(hg_dims *d, const char *text)
{
    hg_dim dim = hg_dim_parse(d, hg_str_from(text));
    if (dim == 0) hg_test_fail(HG_TEST_HERE, "'%s' does not parse", text);
    return dim;
}

/* The expression simplifies to the text. */
static void dim_check(hg_dims *d, const char *text, const char *expected)
{
    char actual[256];
    hg_dim dim = dim_of(d, text);
    hg_dim_print(d, dim, actual, sizeof actual);
    CHECK_STR(actual, expected);
    CHECK_EQ_INT(dim_of(d, expected), dim);
}

static void dim_sums(void)
{
    hg_dims d = dim_new();
    dim_check(&d, "1+2*3-4", "3");
    dim_check(&d, "a+0", "a");
    dim_check(&d, "0+a", "a");
    dim_check(&d, "a-a", "0");
    dim_check(&d, "2*a+3*a", "a*5");
    dim_check(&d, "a+b-b", "a");
    dim_check(&d, "b+a", "a+b");
    dim_check(&d, "1+b+a+1", "a+b+2");
    dim_check(&d, "5-a", "5-a");
    dim_check(&d, "0-a", "a*-1");
    dim_check(&d, "(a-b)+(b-a)", "0");
    dim_check(&d, "a-3+b", "a+b-3");
    dim_check(&d, "3*(a+b)-3*b", "a*3");
    CHECK_EQ_INT(dim_of(&d, "a+(b+c)"), dim_of(&d, "(c+a)+b"));
    dim_end();
}

static void dim_products(void)
{
    hg_dims d = dim_new();
    dim_check(&d, "a*0", "0");
    dim_check(&d, "a*1", "a");
    dim_check(&d, "2*a*3", "a*6");
    dim_check(&d, "b*a*2", "a*b*2");
    dim_check(&d, "a*a*a", "a*a*a");
    dim_check(&d, "4*(a+b)", "a*4+b*4");
    dim_check(&d, "(2*a+2*b)*c", "c*(a+b)*2");
    CHECK_EQ_INT(dim_of(&d, "(a+b)*c*2"), dim_of(&d, "c*(2*b+2*a)"));
    dim_end();
}

static void dim_quotients(void)
{
    hg_dims d = dim_new();
    dim_check(&d, "batch*seq*768//768", "batch*seq");
    dim_check(&d, "12*a*b//(4*a)", "b*3");
    dim_check(&d, "batch*12*64//768", "batch");
    dim_check(&d, "(a*4+7)//4", "a+1");
    dim_check(&d, "(a*4+b+9)//4", "a+(b+1)//4+2");
    dim_check(&d, "a//b//c", "a//(b*c)");
    dim_check(&d, "((h+1)//2+1)//2", "(h+3)//4");
    dim_check(&d, "(h-1)//2+1", "(h+1)//2");
    dim_check(&d, "(past+seq)*64*batch//((seq+past)*batch)", "64");
    dim_check(&d, "(2*a+2*b)//(a+b)", "2");
    dim_check(&d, "(a*b+a*c)//a", "b+c");
    dim_check(&d, "6*a//(4*a)", "1");
    dim_check(&d, "6*a//4", "a*3//2");
    dim_check(&d, "ceil(a*8,8)", "a");
    dim_check(&d, "ceil(a*8+3,8)", "a+1");
    dim_check(&d, "ceil(ceil(a,2),3)", "ceil(a,6)");
    dim_check(&d, "trunc(a,4)", "a//4");
    dim_check(&d, "trunc(0-a*8,8)", "a*-1");
    dim_check(&d, "trunc(0-7,2)", "-3");
    dim_check(&d, "a//a", "1");
    dim_check(&d, "0//a", "0");
    dim_check(&d, "a//1", "a");
    dim_check(&d, "a//0", "a//0");
    dim_check(&d, "7//0", "7//0");
    dim_check(&d, "(a%4)//4", "0");
    dim_end();
}

static void dim_remainders(void)
{
    hg_dims d = dim_new();
    dim_check(&d, "a%1", "0");
    dim_check(&d, "a*8%4", "0");
    dim_check(&d, "(a*4+7)%4", "3");
    dim_check(&d, "(a*4+b)%4", "b%4");
    dim_check(&d, "a*6%4", "a*3%2*2");
    dim_check(&d, "a%4%4", "a%4");
    dim_check(&d, "(0-7)%4", "1");
    dim_check(&d, "7%-4", "-1");
    dim_check(&d, "3%a", "3%a");
    dim_end();
}

static void dim_comparisons(void)
{
    hg_dims d = dim_new();
    hg_dim content = hg_dim_symbol(
        &d, (hg_symbol){.name = hg_str_from("c"), .kind = HG_SYMBOL_CONTENT, .at_most = -1});
    hg_dim zero = hg_dim_const(&d, 0), one = hg_dim_const(&d, 1);
    dim_check(&d, "min(a,a)", "a");
    dim_check(&d, "max(a,a+1)", "a+1");
    dim_check(&d, "min(a+3,a)", "a");
    dim_check(&d, "max(a,0)", "a");
    dim_check(&d, "max(b,a)", "max(a,b)");
    dim_check(&d, "max(max(a,b),a)", "max(a,b)");
    dim_check(&d, "min(min(a,5),7)", "min(5,a)");
    dim_check(&d, "eq(a,a)", "1");
    dim_check(&d, "eq(a,a+1)", "0");
    dim_check(&d, "eq(a+1,0)", "0");
    dim_check(&d, "eq(2*a,1)", "0");
    dim_check(&d, "eq(2*a,4)", "eq(4,a*2)");
    dim_check(&d, "eq(2*a,6*b+3)", "0");
    dim_check(&d, "eq((a+31)//32*8,1)", "0");
    dim_check(&d, "eq(3*a+1,1)", "eq(1,a*3+1)");
    dim_check(&d, "select(eq(1,2*a),b,2*a)", "a*2");
    dim_check(&d, "lt(a,0)", "0");
    dim_check(&d, "lt(a,a+1)", "1");
    dim_check(&d, "lt(-1,a)", "1");
    dim_check(&d, "lt(a,b)", "lt(a,b)");
    dim_check(&d, "select(1,a,b)", "a");
    dim_check(&d, "select(0,a,b)", "b");
    dim_check(&d, "select(a+1,a,b)", "a");
    dim_check(&d, "select(a,b,b)", "b");
    CHECK(hg_dim_lt(&d, content, zero) != zero);
    CHECK(!hg_dim_is_nonnegative(&d, content));
    CHECK(hg_dim_is_nonnegative(&d, dim_of(&d, "a*b+a//3")));
    CHECK(!hg_dim_is_positive(&d, dim_of(&d, "a*b")));
    CHECK(hg_dim_is_positive(&d, dim_of(&d, "a+1")));
    CHECK(hg_dim_is_positive(&d, hg_dim_max(&d, content, one)));
    dim_end();
}

static void dim_unknown_and_overflow(void)
{
    hg_dims d = dim_new();
    hg_dim a = dim_of(&d, "a"), most = hg_dim_const(&d, INT64_MAX),
           least = hg_dim_const(&d, INT64_MIN);
    int64_t value;
    CHECK_EQ_INT(hg_dim_add(&d, a, 0), 0);
    CHECK_EQ_INT(hg_dim_mul(&d, 0, a), 0);
    CHECK_EQ_INT(hg_dim_select(&d, a, a, 0), 0);
    CHECK_EQ_INT(hg_dim_floordiv(&d, a, 0), 0);
    CHECK_EQ_INT(hg_dim_min(&d, 0, 0), 0);
    CHECK(!d.failed);
    for (int op = HG_DIM_ADD; op <= HG_DIM_TRUNCDIV; op++) {
        hg_dim of[4] = {a, most, least, hg_dim_const(&d, -1)};
        for (int i = 0; i < 64; i++)
            CHECK(hg_dim_make(&d, (hg_dim_op)op, of[i & 3], of[i >> 2 & 3], of[i >> 4]) != 0);
    }
    CHECK(!hg_dim_is_const(&d, hg_dim_add(&d, most, most), &value));
    CHECK(!hg_dim_is_const(&d, hg_dim_mul(&d, most, most), &value));
    CHECK(!hg_dim_is_const(&d, hg_dim_floordiv(&d, least, hg_dim_const(&d, -1)), &value));
    CHECK(hg_dim_is_positive(&d, hg_dim_add(&d, most, most)));
    CHECK(!hg_dim_eval_op(HG_DIM_FLOORDIV, 1, 0, 0, &value));
    CHECK(!hg_dim_eval_op(HG_DIM_MOD, 1, 0, 0, &value));
    CHECK(!hg_dim_eval_op(HG_DIM_TRUNCDIV, INT64_MIN, -1, 0, &value));
    CHECK(hg_dim_eval_op(HG_DIM_MOD, INT64_MIN, -1, 0, &value) && value == 0);
    dim_end();
}

/* ---- random expressions -------------------------------------------------------- */

enum { DIM_SYMBOLS = 6, DIM_TRIALS = 8, DIM_POOL = 40 };

static uint64_t dim_seed;

static uint32_t dim_random(uint32_t below)
{
    dim_seed = dim_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(dim_seed >> 33) % below;
}

/* An expression and what it must be worth under every assignment of the symbols. */
typedef struct dim_known {
    hg_dim dim;
    int64_t value[DIM_TRIALS];
    bool valid[DIM_TRIALS];
} dim_known;

/* Evaluates every record up to dim, as the runtime does. */
static bool dim_eval(const hg_dims *d, hg_dim dim, const int64_t *symbol, int64_t *value)
{
    int64_t *at = calloc(dim + 1, sizeof *at);
    bool *ok = calloc(dim + 1, sizeof *ok);
    if (at == NULL || ok == NULL) abort();
    for (hg_dim i = 1; i <= dim; i++) {
        const hg_dim_rec *r = &d->rec[i];
        ok[i] = true;
        if (r->op == HG_DIM_CONST)
            at[i] = r->value;
        else if (r->op == HG_DIM_SYMBOL)
            at[i] = symbol[r->value];
        else
            ok[i] = ok[r->a] && ok[r->b] && (r->c == 0 || ok[r->c]) &&
                    hg_dim_eval_op((hg_dim_op)r->op, at[r->a], at[r->b], at[r->c], &at[i]);
    }
    *value = at[dim];
    bool valid = ok[dim];
    free(at);
    free(ok);
    return valid;
}

/* A random operation on two or three of the pool; values that grow large are taken modulo 1000. */
static dim_known dim_grow(hg_dims *d, const dim_known *pool, uint32_t n)
{
    hg_dim_op op = (hg_dim_op)(HG_DIM_ADD + (int)dim_random(HG_DIM_TRUNCDIV - HG_DIM_ADD + 1));
    if (dim_random(2) == 0) op = (hg_dim_op)(HG_DIM_ADD + (int)dim_random(5));
    const dim_known *a = &pool[dim_random(n)], *b = &pool[dim_random(n)], *c = &pool[dim_random(n)];
    dim_known k = {.dim = hg_dim_make(d, op, a->dim, b->dim, c->dim)};
    bool large = false;
    for (int t = 0; t < DIM_TRIALS; t++) {
        k.valid[t] = a->valid[t] && b->valid[t] && (op != HG_DIM_SELECT || c->valid[t]) &&
                     hg_dim_eval_op(op, a->value[t], b->value[t], c->value[t], &k.value[t]);
        large = large || (k.valid[t] && (k.value[t] > 100000 || k.value[t] < -100000));
    }
    if (!large) return k;
    k.dim = hg_dim_mod(d, k.dim, hg_dim_const(d, 1000));
    for (int t = 0; t < DIM_TRIALS; t++)
        k.valid[t] = k.valid[t] && hg_dim_eval_op(HG_DIM_MOD, k.value[t], 1000, 0, &k.value[t]);
    return k;
}

static void dim_check_text(hg_dims *d, hg_dim dim)
{
    static char text[1 << 16], again[1 << 16];
    hg_dim_print(d, dim, text, sizeof text);
    if (strlen(text) + 1 >= sizeof text || strchr(text, '?') != NULL) return;
    hg_dim back = hg_dim_parse(d, hg_str_from(text));
    hg_dim_print(d, back, again, sizeof again);
    CHECK_STR(again, text);
    CHECK_EQ_INT(back, dim);
}

static void dim_check_known(hg_dims *d, const dim_known *k, int64_t symbol[][DIM_SYMBOLS])
{
    for (int t = 0; t < DIM_TRIALS; t++) {
        hg_dim to[DIM_SYMBOLS];
        int64_t value;
        if (!k->valid[t]) continue;
        if (!CHECK(dim_eval(d, k->dim, symbol[t], &value))) return;
        CHECK_EQ_INT(value, k->value[t]);
        CHECK(d->info[k->dim].low <= value && value <= d->info[k->dim].high);
        if (t != 0) continue;
        for (int s = 0; s < DIM_SYMBOLS; s++)
            to[s] = hg_dim_const(d, symbol[t][s]);
        CHECK(hg_dim_is(d, hg_dim_substitute(d, k->dim, to, DIM_SYMBOLS), value));
    }
}

static void dim_random_round(hg_dims *d)
{
    dim_known pool[DIM_POOL];
    int64_t symbol[DIM_TRIALS][DIM_SYMBOLS];
    uint32_t n = 0;
    for (int s = 0; s < DIM_SYMBOLS; s++) {
        bool content = s >= DIM_SYMBOLS - 2;
        char name[2] = {(char)('a' + (s + 3) % DIM_SYMBOLS), 0};
        hg_symbol_kind kind = content ? HG_SYMBOL_CONTENT : HG_SYMBOL_INPUT;
        pool[n].dim =
            hg_dim_symbol(d, (hg_symbol){.name = hg_str_from(name), .kind = kind, .at_most = -1});
        for (int t = 0; t < DIM_TRIALS; t++) {
            symbol[t][s] = content ? (int64_t)dim_random(21) - 10 : (int64_t)dim_random(8);
            pool[n].value[t] = symbol[t][s];
            pool[n].valid[t] = true;
        }
        n++;
    }
    for (int64_t c = -2; c <= 6; c++) {
        pool[n].dim = hg_dim_const(d, c);
        for (int t = 0; t < DIM_TRIALS; t++) {
            pool[n].value[t] = c;
            pool[n].valid[t] = true;
        }
        n++;
    }
    while (n < DIM_POOL) {
        pool[n] = dim_grow(d, pool, n);
        dim_check_known(d, &pool[n], symbol);
        dim_check_text(d, pool[n].dim);
        n++;
    }
}

static void dim_laws(void)
{
    for (dim_seed = 1; dim_seed < 400; dim_seed++) {
        hg_dims d = dim_new();
        uint64_t seed = dim_seed;
        dim_random_round(&d);
        dim_seed = seed;
        dim_end();
    }
}

/* ---- text ---------------------------------------------------------------------- */

static void dim_text(void)
{
    hg_dims d = dim_new();
    char text[64];
    hg_dim odd = hg_dim_named(&d, hg_str_from("2*n 'x\\\n"));
    hg_dim_print(&d, odd, text, sizeof text);
    CHECK_STR(text, "'2*n \\'x\\\\\\x0a'");
    CHECK_EQ_INT(hg_dim_parse(&d, hg_str_from(text)), odd);
    dim_check(&d, " a + ( b ) ", "a+b");
    dim_check(&d, "min", "min");
    dim_check(&d, "-9223372036854775808", "-9223372036854775808");
    dim_check(&d, "a-(b-c)*2", "a+c*2-b*2");
    dim_check(&d, "a*(b//c)", "a*(b//c)");
    dim_check(&d, "a*b//c", "a*b//c");
    hg_dim_print(&d, dim_of(&d, "alpha+beta"), text, 5);
    CHECK_STR(text, "alph");
    hg_dim_print(&d, 0, text, sizeof text);
    CHECK_STR(text, "?");
    const char *const bad[] = {"",
                               "a+",
                               "(a",
                               "a)",
                               "?",
                               "a b",
                               "min(a)",
                               "foo(a,b)",
                               "9223372036854775808",
                               "'a",
                               "''",
                               "a*-b",
                               "select(a,b)",
                               "a//",
                               "'\\xg0'",
                               "-"};
    for (size_t i = 0; i < HG_COUNT(bad); i++)
        if (hg_dim_parse(&d, hg_str_from(bad[i])) != 0)
            hg_test_fail(HG_TEST_HERE, "'%s' parses", bad[i]);
    dim_end();
}

static void dim_order_is_by_name(void)
{
    hg_dims d = dim_new();
    hg_dim forth = dim_of(&d, "x*y+y*z+x//z+max(x,y)+3");
    char text[2][128];
    hg_dim_print(&d, forth, text[0], sizeof text[0]);
    hg_dims e;
    hg_dims_init(&e, &dim_arena);
    (void)dim_of(&e, "z*y*x");
    hg_dim back = dim_of(&e, "3+max(y,x)+z*y+y*x+x//z");
    hg_dim_print(&e, back, text[1], sizeof text[1]);
    CHECK_STR(text[1], text[0]);
    dim_end();
}

static void dim_symbols(void)
{
    hg_dims d = dim_new();
    hg_symbol late = {.name = hg_str_from("n"), .kind = HG_SYMBOL_SIZE, .value = 7, .at_most = 10};
    hg_dim first = hg_dim_symbol(&d, late), second = hg_dim_symbol(&d, late);
    CHECK(first != second);
    CHECK(!hg_str_equal(d.symbol[0].name, d.symbol[1].name));
    CHECK_EQ_INT(hg_dim_named(&d, hg_str_from("n")), first);
    CHECK_EQ_INT(hg_dim_symbol_of(&d, second), 1);
    CHECK_EQ_INT(hg_dim_symbol_of(&d, hg_dim_const(&d, 1)), -1);
    late.name = (hg_str){0};
    CHECK(hg_dim_symbol(&d, late) != 0 && d.symbol[2].name.length != 0);
    dim_end();
}

/* ---- size and memory ----------------------------------------------------------- */

static void dim_deep(void)
{
    hg_dims d = dim_new();
    hg_dim a = dim_of(&d, "a"), seven = hg_dim_const(&d, 7), at = a;
    hg_dim to[1] = {hg_dim_const(&d, 3)};
    char text[4096];
    for (int i = 0; i < 20000; i++) {
        at = hg_dim_mul(&d, at, hg_dim_add(&d, at, seven)); /* shares itself: 2^20000 as a tree */
        at = hg_dim_mod(&d, at, hg_dim_const(&d, 1000 + i));
    }
    CHECK(at != 0);
    hg_dim_print(&d, at, text, sizeof text);
    int64_t value;
    CHECK(hg_dim_is_const(&d, hg_dim_substitute(&d, at, to, 1), &value));
    at = a;
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        at = hg_dim_add(&d, hg_dim_named(&d, hg_str_from(name)), at);
        at = hg_dim_mul(&d, hg_dim_named(&d, hg_str_from(name)), at);
    }
    CHECK(at != 0 && hg_dim_substitute(&d, at, to, 1) != 0);
    CHECK(hg_dim_sub(&d, at, at) == hg_dim_const(&d, 0));
    CHECK(hg_dim_floordiv(&d, at, hg_dim_add(&d, at, at)) != 0);
    memset(text, '(', sizeof text);
    CHECK_EQ_INT(hg_dim_parse(&d, (hg_str){text, sizeof text}), 0);
    dim_end();
}

static void *dim_fail_after(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)old_size;
    int *left = user;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    if (*left <= 0) return NULL;
    (*left)--;
    return realloc(p, new_size);
}

static void dim_out_of_memory(void)
{
    for (int allowed = 0; allowed < 6; allowed++) {
        int left = allowed;
        holo_allocator alloc = {dim_fail_after, &left};
        hg_arena arena;
        hg_dims d;
        hg_arena_init(&arena, &alloc, 0);
        hg_dims_init(&d, &arena);
        hg_dim at = hg_dim_named(&d, hg_str_from("a"));
        for (int i = 0; i < 40000 && !d.failed; i++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", i);
            at = hg_dim_max(&d, hg_dim_mod(&d, at, hg_dim_const(&d, i + 2)),
                            hg_dim_named(&d, hg_str_from(name)));
        }
        CHECK(d.failed);
        CHECK_EQ_INT(hg_dim_const(&d, 5), 0);
        CHECK_EQ_INT(hg_dim_parse(&d, hg_str_from("a*2+'b c'")), 0);
        hg_arena_deinit(&arena);
    }
}

const hg_test_case hg_tests_isa_dim[] = {
    {"sums", dim_sums},
    {"products", dim_products},
    {"quotients", dim_quotients},
    {"remainders", dim_remainders},
    {"comparisons", dim_comparisons},
    {"unknown_and_overflow", dim_unknown_and_overflow},
    {"laws", dim_laws},
    {"text", dim_text},
    {"order_is_by_name", dim_order_is_by_name},
    {"symbols", dim_symbols},
    {"deep", dim_deep},
    {"out_of_memory", dim_out_of_memory},
    {0},
};
