/* external.h - tensor data that lies in files beside the model. */
#ifndef HG_IMPORT_EXTERNAL_H
#define HG_IMPORT_EXTERNAL_H

#include "base/file.h"
#include "base/map.h"
#include "import/onnx/model.h"

/* The files one model refers to, each mapped once. */
typedef struct hg_external {
    holo_allocator alloc;
    hg_arena arena;
    hg_map known; /* path as written in the model to its place in file, plus 1 */
    hg_file *file;
    size_t n_file, capacity;
} hg_external;

void hg_external_init(hg_external *x, const holo_allocator *allocator);
/* Unmaps them. */
void hg_external_deinit(hg_external *x);

/* Where the entries of a tensor say its bytes are. */
typedef struct hg_external_place {
    hg_str location;
    uint64_t offset, length;
    bool has_length;
} hg_external_place;

/* Reads the entries "location", "offset" and "length"; others (checksums) are passed over. The
 * sentence lacks the tensor's name: the caller puts it in front. Status: E_MODEL. */
HG_MUST_CHECK holo_status hg_external_read_place(const hg_onnx_source *s, hg_wire_list entries,
                                                 hg_external_place *out);

/* Exactly `bytes` bytes from that place. The path must stay below base_dir (base/file.h says how
 * strictly) and must not be the model itself (`model` may be NULL). *file, the file they lie in,
 * stays valid until the next call. Status: E_IO, E_MODEL, E_NOMEM. */
HG_MUST_CHECK holo_status hg_external_map(hg_external *x, const char *base_dir,
                                          const hg_file *model, const hg_external_place *place,
                                          size_t bytes, const uint8_t **data, const hg_file **file,
                                          holo_error *error);

#endif
