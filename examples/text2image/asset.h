/* asset.h - reads the JSON files that describe the models. */
#ifndef TEXT2IMAGE_ASSET_H
#define TEXT2IMAGE_ASSET_H

#include <hologram.h>
#include <jansson.h>

/* Reads a file whose root is an object. Release *out with json_decref. */
holo_status asset_load(const char *path, json_t **out, holo_error *error);

/* The number at key when it lies in [low, high]; the sentence names path and key otherwise. */
holo_status asset_number(const json_t *object, const char *path, const char *key, double low,
                         double high, double *out, holo_error *error);

/* The same for a whole number. */
holo_status asset_integer(const json_t *object, const char *path, const char *key, int64_t low,
                          int64_t high, int64_t *out, holo_error *error);

/* Refuses a file whose string at key is not `expected`. */
holo_status asset_expect(const json_t *object, const char *path, const char *key,
                         const char *expected, holo_error *error);

/* "folder/name", or folder alone when name is "", in new memory, or NULL. */
char *asset_path(const char *folder, const char *name);

#endif
