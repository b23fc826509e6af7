/* npy.h - reads arrays that NumPy saved. */
#ifndef TEXT2IMAGE_NPY_H
#define TEXT2IMAGE_NPY_H

#include <hologram.h>

/* Reads folder/name, an array of this type and shape. out->data is new memory: free it. */
holo_status npy_read(const char *folder, const char *name, holo_dtype dtype, const int64_t *dim,
                     int32_t rank, holo_tensor *out, holo_error *error);

#endif
