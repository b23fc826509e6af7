/* op_svm.c - what the operators on support vectors share. */
#include "op/op_svm.h"
#include "kernel/svm.h"

static const char *const svm_kinds[HG_SVM_KINDS] = {"LINEAR", "POLY", "RBF", "SIGMOID"};

static int64_t svm_kind(hg_str name)
{
    for (int64_t i = 0; i < HG_SVM_KINDS; i++)
        if (hg_str_is(name, svm_kinds[i])) return i;
    return -1;
}

holo_status hg_svm_infer(const hg_infer *n)
{
    const hg_attr *params, *rho, *coefficients;
    hg_ml_transform transform;
    hg_str kind;
    HG_TRY(hg_ml_transform_of(n, &transform));
    HG_TRY(hg_attr_string(n, "kernel_type", "LINEAR", &kind));
    if (svm_kind(kind) < 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "kernel_type is \"%.*s\", expected LINEAR, POLY, RBF or SIGMOID",
                             HG_STR_ARG(kind));
    HG_TRY(hg_ml_list(n, "kernel_params", HG_ATTR_FLOATS, &params));
    if (params->count != 0) HG_TRY(hg_svm_length(n, "kernel_params", 3));
    HG_TRY(hg_ml_list(n, "rho", HG_ATTR_FLOATS, &rho));
    HG_TRY(hg_ml_list(n, "coefficients", HG_ATTR_FLOATS, &coefficients));
    if (rho->count == 0 || coefficients->count == 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "rho has %zu entries and coefficients %zu, expected "
                             "some",
                             rho->count, coefficients->count);
    return HOLO_OK;
}

holo_status hg_svm_length(const hg_infer *n, const char *name, int64_t count)
{
    const hg_attr *list;
    HG_TRY(hg_ml_list(n, name, HG_ATTR_FLOATS, &list));
    if ((int64_t)list->count == count) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL, "%s has %zu entries, expected %lld", name, list->count,
                         (long long)count);
}

holo_status hg_svm_features(const hg_infer *n, int64_t vectors, int64_t *out)
{
    const hg_attr *list;
    HG_TRY(hg_ml_list(n, "support_vectors", HG_ATTR_FLOATS, &list));
    *out = (int64_t)list->count / vectors;
    if (list->count != 0 && (int64_t)list->count % vectors == 0) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL,
                         "support_vectors has %zu entries, expected a multiple of %lld",
                         list->count, (long long)vectors);
}

hg_value_id hg_svm_near(hg_build *b, int64_t vectors)
{
    const hg_attr *list = hg_ml_node_list(b->node, "support_vectors");
    const hg_attr *params = hg_ml_node_list(b->node, "kernel_params");
    const int64_t kind = svm_kind(hg_node_string(b->node, "kernel_type", "LINEAR"));
    int64_t bits[3] = {0};
    for (size_t i = 0; i < params->count && i < 3; i++) {
        const double wide = (double)params->floats[i];
        memcpy(&bits[i], &wide, sizeof wide);
    }
    hg_value_id v = hg_ml_floats(b, list->floats, list->count, HOLO_F32);
    const int64_t shape[2] = {vectors, (int64_t)list->count / vectors};
    v = hg_build_1(b, "Transpose", hg_build_2(b, "Reshape", v, hg_build_ints(b, shape, 2)));
    const hg_attr attr[] = {hg_attr_make_int("kind", kind),
                            hg_attr_make_ints(b, "params", bits, 3)};
    return hg_build_op(b, "holo:SvmNear", (hg_value_id[]){hg_ml_matrix(b), v}, 2, attr, 2);
}
