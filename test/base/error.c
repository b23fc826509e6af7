/* error.c - sentences: written, cut, prefixed; texts of statuses. */
#include "base/error.h"
#include "test.h"

#include <string.h>

static void error_writes(void)
{
    holo_error e;
    CHECK_STATUS(hg_fail(&e, HOLO_E_SHAPE, "rank %d", 3), HOLO_E_SHAPE);
    CHECK_STATUS(e.status, HOLO_E_SHAPE);
    CHECK_STR(e.message, "rank 3");
    CHECK_STATUS(hg_fail(NULL, HOLO_E_TYPE, "x"), HOLO_E_TYPE);
    CHECK_STATUS(hg_fail_nomem(&e, 77), HOLO_E_NOMEM);
    CHECK_HAS(e.message, "77 bytes");
    CHECK_STATUS(hg_fail_nomem(NULL, 1), HOLO_E_NOMEM);
}

static void error_cuts(void)
{
    holo_error e;
    char text[1000];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = 0;
    (void)hg_fail(&e, HOLO_E_MODEL, "%s", text);
    CHECK_EQ_INT(strlen(e.message), sizeof e.message - 1);
    CHECK_STR(e.message + sizeof e.message - 5, "y...");
    text[sizeof e.message - 1] = 0; /* fits to the byte */
    (void)hg_fail(&e, HOLO_E_MODEL, "%s", text);
    CHECK_STR(e.message, text);
}

static void error_prefixes(void)
{
    holo_error e;
    char text[1000];
    (void)hg_fail(&e, HOLO_E_SHAPE, "rank 3");
    CHECK_STATUS(hg_fail_prefix(&e, HOLO_E_MODEL, "node '%s': ", "a"), HOLO_E_MODEL);
    CHECK_STR(e.message, "node 'a': rank 3");
    CHECK_STATUS(e.status, HOLO_E_MODEL);
    CHECK_STATUS(hg_fail_prefix(NULL, HOLO_E_IO, "x"), HOLO_E_IO);
    memset(text, 'z', sizeof text - 1);
    text[sizeof e.message - 20] = 0;
    (void)hg_fail(&e, HOLO_E_SHAPE, "%s", text);
    (void)hg_fail_prefix(&e, HOLO_E_SHAPE, "a prefix of 30 characters it is");
    CHECK_EQ_INT(strlen(e.message), sizeof e.message - 1);
    CHECK_HAS(e.message, "z...");
    text[sizeof e.message - 20] = 'z';
    text[sizeof text - 1] = 0;
    (void)hg_fail_prefix(&e, HOLO_E_SHAPE, "%s", text);
    CHECK_EQ_INT(strlen(e.message), sizeof e.message - 1);
}

static void error_texts(void)
{
    CHECK_STR(holo_status_text(HOLO_OK), "success");
    CHECK_STR(holo_status_text(HOLO_E_BUG), "a bug in Hologram");
    CHECK_STR(holo_status_text((holo_status)55), "unknown status");
    CHECK_STR(holo_version(), HOLO_VERSION_TEXT);
}

const hg_test_case hg_tests_base_error[] = {
    {"writes", error_writes},
    {"cuts", error_cuts},
    {"prefixes", error_prefixes},
    {"texts", error_texts},
    {0},
};
