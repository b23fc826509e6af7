/* json.c - the JSON writer: nesting, escapes, numbers. */
#include "test.h"

#include "io/json.h"

#include <math.h>
#include <stdlib.h>

static void json_object(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    hg_io_json j = {.out = f};
    hg_io_json_object(&j);
    hg_io_json_key(&j, "a\"b");
    hg_io_json_array(&j);
    hg_io_json_int(&j, -5);
    hg_io_json_number(&j, 2.5, 3);
    hg_io_json_number(&j, 100, 3);
    hg_io_json_number(&j, (double)NAN, 3);
    hg_io_json_number(&j, -0.0001, 3);
    hg_io_json_close(&j, ']');
    hg_io_json_key(&j, "t");
    hg_io_json_text(&j, "\x01\n\\ \xc3\xbc \xff \xed\xa0\x80");
    hg_io_json_key(&j, "n");
    hg_io_json_text(&j, NULL);
    hg_io_json_key(&j, "b");
    hg_io_json_bool(&j, true);
    hg_io_json_key(&j, "o");
    hg_io_json_object(&j);
    hg_io_json_close(&j, '}');
    hg_io_json_close(&j, '}');
    fclose(f);
    CHECK_STR(text, "{\"a\\\"b\":[-5,2.5,100,null,0],\"t\":\"\\u0001\\n\\\\ \xc3\xbc \\ufffd "
                    "\\ufffd\\ufffd\\ufffd\",\"n\":null,\"b\":true,\"o\":{}}");
    free(text);
}

const hg_test_case hg_tests_io_json[] = {
    {"object", json_object},
    {0},
};
