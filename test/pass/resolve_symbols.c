/* resolve_symbols.c - sizes that kernels were to find: of nodes that were merged, and of nodes
 * whose inputs have become constants. */
#include "op/rule.h"

static fixture *resolve_passes(const char *inputs, const char *body, const char *const *passes)
{
    fixture *f = rule_parse(inputs, body);
    bool changed;
    for (; *passes != NULL; passes++)
        if (!CHECK_OK(hg_pass_find(*passes)->run(&f->g, &changed), &f->error)) break;
    return f;
}

static void resolve_merged(void)
{
    static const char *const passes[] = {"infer_shapes", "merge_duplicates", "resolve_symbols",
                                         NULL};
    fixture *f = resolve_passes("%x: float32[n]",
                                "%a = NonZero(%x) %b = NonZero(%x) %c = Concat(%a, %b) {axis=0} "
                                "%y = Concat(%b, %b) {axis=1}",
                                passes);
    rule_type_is(f, "int64[1,a.dim1*2]");
    fixture_free(f);
}

static void resolve_constant_scales(void)
{
    static const char *const passes[] = {"infer_shapes", "remove_identity", "resolve_symbols",
                                         NULL};
    fixture *f = resolve_passes("%x: float32[1,3,h,w]",
                                "%c = const float32[4] {1.0, 1.0, 2.0, 2.0} %s = Identity(%c) "
                                "%r = Resize(%x, _, %s) %y = Relu(%r)",
                                passes);
    rule_type_is(f, "float32[1,3,h*2,w*2]");
    fixture_free(f);
}

/* Each size decides the next one: one run of the pass finds them all. */
static void resolve_chain(void)
{
    static const char *const passes[] = {"infer_shapes", "remove_identity", "resolve_symbols",
                                         NULL};
    fixture *f = resolve_passes("%x: float32[1,3,h,w]",
                                "%c = const float32[4] {1.0, 1.0, 2.0, 2.0} %s = Identity(%c) "
                                "%a = Resize(%x, _, %s) %b = Resize(%a, _, %s) "
                                "%d = Resize(%b, _, %s) %e = Resize(%d, _, %s) %y = Relu(%e)",
                                passes);
    rule_type_is(f, "float32[1,3,h*16,w*16]");
    fixture_free(f);
}

/* Inferring again keeps the symbol a size has. */
static void resolve_keeps(void)
{
    static const char *const passes[] = {"infer_shapes", "infer_shapes", "resolve_symbols", NULL};
    fixture *f = resolve_passes("%x: float32[n]", "%a = NonZero(%x) %y = Neg(%a)", passes);
    rule_type_is(f, "int64[1,a.dim1]");
    CHECK_EQ_INT(f->g.dims.n_symbol, 2);
    fixture_free(f);
}

const hg_test_case hg_tests_pass_resolve_symbols[] = {
    {"merged", resolve_merged},
    {"constant_scales", resolve_constant_scales},
    {"chain", resolve_chain},
    {"keeps", resolve_keeps},
    {0},
};
