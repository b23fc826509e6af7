/* asset.c - reads the JSON files that describe the models. */
#include "asset.h"

#include "fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

holo_status asset_load(const char *path, json_t **out, holo_error *error)
{
    json_error_t why;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL && why.line < 1) return fail(error, HOLO_E_IO, "%s", why.text);
    if (root == NULL) return fail(error, HOLO_E_MODEL, "%s, line %d: %s", path, why.line, why.text);
    if (!json_is_object(root)) {
        json_decref(root);
        return fail(error, HOLO_E_MODEL, "%s does not hold a JSON object", path);
    }
    *out = root;
    return HOLO_OK;
}

holo_status asset_number(const json_t *object, const char *path, const char *key, double low,
                         double high, double *out, holo_error *error)
{
    const json_t *item = json_object_get(object, key);
    if (!json_is_number(item))
        return fail(error, HOLO_E_MODEL, "%s has no number \"%s\"", path, key);
    const double value = json_number_value(item);
    if (!(value >= low && value <= high))
        return fail(error, HOLO_E_MODEL, "%s: \"%s\" is %g, it must lie between %g and %g", path,
                    key, value, low, high);
    *out = value;
    return HOLO_OK;
}

holo_status asset_integer(const json_t *object, const char *path, const char *key, int64_t low,
                          int64_t high, int64_t *out, holo_error *error)
{
    const json_t *item = json_object_get(object, key);
    if (!json_is_integer(item))
        return fail(error, HOLO_E_MODEL, "%s has no whole number \"%s\"", path, key);
    double checked;
    const holo_status status =
        asset_number(object, path, key, (double)low, (double)high, &checked, error);
    if (status != HOLO_OK) return status;
    *out = json_integer_value(item);
    return HOLO_OK;
}

holo_status asset_expect(const json_t *object, const char *path, const char *key,
                         const char *expected, holo_error *error)
{
    const char *found = json_string_value(json_object_get(object, key));
    if (found != NULL && strcmp(found, expected) == 0) return HOLO_OK;
    return fail(error, HOLO_E_UNSUPPORTED, "%s: \"%s\" is \"%s\", only \"%s\" is supported", path,
                key, found != NULL ? found : "not text", expected);
}

char *asset_path(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) snprintf(path, size, "%s%s%s", folder, name[0] == '\0' ? "" : "/", name);
    return path;
}
