/* tensor.h - tensors that tools own: data from libc, aligned to 64 bytes, freed as a tree.
 *
 * A STRING tensor is one block, the holo_string array followed by the text. SEQUENCE, OPTIONAL and
 * MAP own their items. */
#ifndef HG_IO_TENSOR_H
#define HG_IO_TENSOR_H

#include "base/base.h"

/* A tensor of zeros. The caller has bounded the size by what its source holds. Status: E_ARG,
 * E_LIMIT, E_NOMEM. Free with hg_io_tensor_free. */
HG_MUST_CHECK holo_status hg_io_tensor_new(holo_dtype dtype, const int64_t *dim, int32_t rank,
                                           holo_tensor *out, holo_error *error);
/* A STRING tensor from texts, which are copied; n must be the number of elements. */
HG_MUST_CHECK holo_status hg_io_tensor_strings(const holo_string *texts, size_t n,
                                               const int64_t *dim, int32_t rank, holo_tensor *out,
                                               holo_error *error);
/* A rank 1 container (SEQUENCE, OPTIONAL, MAP) of n empty items. */
HG_MUST_CHECK holo_status hg_io_tensor_container(holo_dtype dtype, int64_t n, holo_tensor *out,
                                                 holo_error *error);
/* A deep copy, for values that outlive the session they came from. */
HG_MUST_CHECK holo_status hg_io_tensor_copy(const holo_tensor *tensor, holo_tensor *out,
                                            holo_error *error);
void hg_io_tensor_free(holo_tensor *tensor);

/* Memory aligned to 64 bytes, or NULL; free() releases it. Never NULL for size 0. */
void *hg_io_alloc(size_t size);

bool hg_io_is_container(holo_dtype dtype);

/* "float32 [1, 3, 224, 224]", "sequence of 3"; cut at size. Returns text. */
const char *hg_io_tensor_text(const holo_tensor *tensor, char *text, size_t size);

#endif
