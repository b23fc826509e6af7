/* values.c - tensors for people: one-line summaries, differences, files of outputs. */
#include "cli/values.h"

#include "io/elem.h"
#include "io/npy.h"
#include "io/tensor.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- summaries ------------------------------------------------------------------------------- */

static void values_print_numbers(FILE *out, const holo_tensor *tensor)
{
    int64_t n = holo_tensor_count(tensor) * hg_elem_parts(tensor->dtype), nans = 0;
    double low = (double)INFINITY, high = -(double)INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double value = hg_elem_get(tensor, i);
        if (isnan(value)) {
            nans++;
            continue;
        }
        if (value < low) low = value;
        if (value > high) high = value;
        sum += value;
    }
    if (n == nans)
        fprintf(out, "  %s", n == 0 ? "empty" : "all NaN");
    else
        fprintf(out, "  min %.7g  max %.7g  mean %.7g", low, high, sum / (double)(n - nans));
    if (nans > 0 && nans < n) fprintf(out, "  NaN %" PRId64, nans);
}

static void values_print_strings(FILE *out, const holo_tensor *tensor)
{
    const holo_string *text = tensor->data;
    int64_t n = holo_tensor_count(tensor);
    for (int64_t i = 0; i < n && i < 4; i++) {
        char raw[64], clean[64];
        snprintf(raw, sizeof raw, "%.*s", (int)(text[i].length > 60 ? 60 : text[i].length),
                 text[i].text);
        fprintf(out, "  \"%s\"", hg_cli_clean(raw, clean, sizeof clean));
    }
    if (n > 4) fputs("  ...", out);
}

void hg_cli_print_value(FILE *out, const char *name, const holo_tensor *tensor)
{
    char form[200], clean[200];
    fprintf(out, "%s  %s", hg_cli_clean(name, clean, sizeof clean),
            hg_io_tensor_text(tensor, form, sizeof form));
    if (hg_elem_classify(tensor->dtype) != HG_ELEM_OTHER) values_print_numbers(out, tensor);
    if (tensor->dtype == HOLO_STRING) values_print_strings(out, tensor);
    putc('\n', out);
    if (!hg_io_is_container(tensor->dtype)) return;
    const holo_tensor *item = tensor->data;
    for (int64_t i = 0; i < tensor->dim[0]; i++) {
        char label[240];
        snprintf(label, sizeof label, "  %.200s[%" PRId64 "]", clean, i);
        hg_cli_print_value(out, label, &item[i]);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *values_stand_in(holo_dtype dtype)
{
    if (dtype == HOLO_BF16) return "uint16";
    if (dtype == HOLO_I4 || dtype == HOLO_I2) return "int8";
    bool small = hg_elem_classify(dtype) == HG_ELEM_FLOAT && hg_elem_bits(dtype) <= 8;
    return small || dtype == HOLO_U4 || dtype == HOLO_U2 ? "uint8" : NULL;
}

int hg_cli_write_value(const hg_cli *cli, const char *folder, const char *prefix, const char *name,
                       const holo_tensor *tensor)
{
    char path[4096], clean[100], item_prefix[200];
    holo_error error = {0};
    if (hg_io_is_container(tensor->dtype)) {
        const holo_tensor *item = tensor->data;
        for (int64_t i = 0; i < tensor->dim[0]; i++) {
            snprintf(item_prefix, sizeof item_prefix, "%.150s_%" PRId64, prefix, i);
            int code = hg_cli_write_value(cli, folder, item_prefix, name, &item[i]);
            if (code != HG_CLI_OK) return code;
        }
        return HG_CLI_OK;
    }
    snprintf(clean, sizeof clean, "%s", name);
    for (char *p = clean; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("._-", *p) == NULL) *p = '_';
    int n = snprintf(path, sizeof path, "%s/%s_%s.npy", folder, prefix, clean);
    if (n < 0 || (size_t)n >= sizeof path)
        return hg_cli_error(cli, "the path %.80s... is too long", folder);
    const char *stand_in = values_stand_in(tensor->dtype);
    if (stand_in != NULL)
        hg_cli_note(cli, "note: %s is %s, which NumPy lacks; it is stored as %s", name,
                    holo_dtype_text(tensor->dtype), stand_in);
    if (hg_npy_write(strcmp(folder, "-") == 0 ? "-" : path, tensor, &error) != HOLO_OK)
        return hg_cli_fail(cli, &error);
    return HG_CLI_OK;
}

/* ---- agreement ------------------------------------------------------------------------------- */

static bool values_same_form(const holo_tensor *a, const holo_tensor *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

static bool values_close(double actual, double expected, const hg_cli_tolerance *t)
{
    if (actual == expected || (isnan(actual) && isnan(expected))) return true;
    if (!isfinite(actual) || !isfinite(expected)) return false;
    return fabs(actual - expected) <= t->atol + t->rtol * fabs(expected);
}

static bool values_same_text(const holo_string *a, const holo_string *b)
{
    return a->length == b->length &&
           (a->length == 0 || memcmp(a->text, b->text, (size_t)a->length) == 0);
}

/* The first element that departs, and how many do. */
static bool values_elements_agree(const holo_tensor *actual, const holo_tensor *expected,
                                  const hg_cli_tolerance *t, char *why, size_t size)
{
    hg_elem_class class = hg_elem_classify(actual->dtype);
    int64_t n = holo_tensor_count(actual) * hg_elem_parts(actual->dtype), bad = 0, first = 0;
    for (int64_t i = 0; i < n; i++) {
        bool same;
        if (class == HG_ELEM_FLOAT)
            same = values_close(hg_elem_get(actual, i), hg_elem_get(expected, i), t);
        else if (class == HG_ELEM_INTEGER)
            same = hg_elem_get_int(actual, i) == hg_elem_get_int(expected, i);
        else
            same = values_same_text((const holo_string *)actual->data + i,
                                    (const holo_string *)expected->data + i);
        if (!same && bad++ == 0) first = i;
    }
    if (bad == 0 && t->same_bits && class != HG_ELEM_OTHER && n > 0 &&
        memcmp(actual->data, expected->data, holo_tensor_bytes(actual)) != 0) {
        snprintf(why, size, "equal numbers have other bits");
        return false;
    }
    if (bad == 0) return true;
    if (class == HG_ELEM_OTHER)
        snprintf(why, size, "%" PRId64 " of %" PRId64 " texts differ, first at %" PRId64, bad, n,
                 first);
    else
        snprintf(why, size,
                 "%" PRId64 " of %" PRId64 " values differ, first at %" PRId64
                 ": %.9g, expected %.9g",
                 bad, n, first, hg_elem_get(actual, first), hg_elem_get(expected, first));
    return false;
}

bool hg_cli_values_agree(const holo_tensor *actual, const holo_tensor *expected,
                         const hg_cli_tolerance *tolerance, char *why, size_t size)
{
    char have[160], want[160];
    /* The length of a sequence is data, that of a tensor is its shape; both must agree. */
    if (!values_same_form(actual, expected)) {
        snprintf(why, size, "is %s, expected %s", hg_io_tensor_text(actual, have, sizeof have),
                 hg_io_tensor_text(expected, want, sizeof want));
        return false;
    }
    if (hg_io_is_container(actual->dtype)) {
        const holo_tensor *a = actual->data, *b = expected->data;
        for (int64_t i = 0; i < actual->dim[0]; i++) {
            char inner[240];
            if (hg_cli_values_agree(&a[i], &b[i], tolerance, inner, sizeof inner)) continue;
            snprintf(why, size, "item %" PRId64 " %s", i, inner);
            return false;
        }
        return true;
    }
    if (tolerance->only_shape || actual->dtype == HOLO_NONE) return true;
    return values_elements_agree(actual, expected, tolerance, why, size);
}

static void values_join(hg_cli_difference *total, const hg_cli_difference *item)
{
    total->same_form = total->same_form && item->same_form;
    if (item->relative >= total->relative) {
        total->largest = item->largest;
        total->scale = item->scale;
        total->relative = item->relative;
    }
}

hg_cli_difference hg_cli_values_differ(const holo_tensor *a, const holo_tensor *b)
{
    hg_cli_difference d = {.same_form = values_same_form(a, b)};
    if (!d.same_form) return d;
    if (hg_io_is_container(a->dtype)) {
        for (int64_t i = 0; i < a->dim[0]; i++) {
            hg_cli_difference item = hg_cli_values_differ((const holo_tensor *)a->data + i,
                                                          (const holo_tensor *)b->data + i);
            values_join(&d, &item);
        }
        return d;
    }
    int64_t n = holo_tensor_count(a) * hg_elem_parts(a->dtype);
    for (int64_t i = 0; i < n; i++) {
        double distance;
        if (a->dtype == HOLO_STRING) {
            bool same = values_same_text((const holo_string *)a->data + i,
                                         (const holo_string *)b->data + i);
            distance = same ? 0 : 1;
        } else {
            double x = hg_elem_get(a, i), y = hg_elem_get(b, i);
            bool same = x == y || (isnan(x) && isnan(y));
            distance = same ? 0 : fabs(x - y);
            if (isnan(distance)) distance = (double)INFINITY;
            if (isfinite(x) && fabs(x) > d.scale) d.scale = fabs(x);
        }
        if (distance > d.largest) d.largest = distance;
    }
    d.relative = d.scale > 0 ? d.largest / d.scale : d.largest;
    return d;
}
