/* rows.c - every operator of ai.onnx that the compiler knows has a row. */
#include "oracle/oracle.h"

#define X(name) extern const ora_row ora_rows_##name[];
#include "oracle_list.inc"
#undef X

static const ora_row *const rows_all[] = {
#define X(name) ora_rows_##name,
#include "oracle_list.inc"
#undef X
};

static bool rows_have(const char *op)
{
    for (size_t k = 0; k < sizeof rows_all / sizeof *rows_all; k++)
        for (const ora_row *row = rows_all[k]; row->op != NULL; row++)
            if (strcmp(row->op, op) == 0) return true;
    return false;
}

static void rows_visit(void *user, const holo_op_info *op)
{
    (void)user;
    if (op->domain[0] != '\0' && strcmp(op->domain, "ai.onnx") != 0) return;
    if (!rows_have(op->name)) hg_test_fail(HG_TEST_HERE, "no row in test/oracle/ for %s", op->name);
}

static void rows_cover(void)
{
    holo_ops_visit(rows_visit, NULL);
}

const hg_test_case hg_tests_oracle_rows[] = {{"cover", rows_cover}, {0}};
