/* json.h - writes JSON to a stream: commas, escapes and numbers are right without thinking. */
#ifndef HG_IO_JSON_H
#define HG_IO_JSON_H

#include "base/base.h"

#include <stdio.h>

enum { HG_IO_JSON_DEPTH = 32 };

/* Start with {.out = stream}. */
typedef struct hg_io_json {
    FILE *out;
    uint32_t depth;
    bool is_started[HG_IO_JSON_DEPTH]; /* a value was written at this depth */
    bool after_key;
} hg_io_json;

void hg_io_json_object(hg_io_json *json);
void hg_io_json_array(hg_io_json *json);
/* Closes the innermost object or array with '}' or ']'. */
void hg_io_json_close(hg_io_json *json, char bracket);
void hg_io_json_key(hg_io_json *json, const char *key);
/* NULL is null. Bytes that are not UTF-8 become U+FFFD. */
void hg_io_json_text(hg_io_json *json, const char *text);
/* With at most `decimals` digits behind the point; NaN and infinities are null, as JSON has none.
 */
void hg_io_json_number(hg_io_json *json, double value, int decimals);
void hg_io_json_int(hg_io_json *json, int64_t value);
void hg_io_json_bool(hg_io_json *json, bool value);

#endif
