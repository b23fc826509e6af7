/* npy.h - NumPy's .npy files, versions 1 to 3.
 *
 * NumPy has no type for some of ours; they are stored as what holds their bits, one element each:
 *     bfloat16 -> uint16      float8* -> uint8      float4e2m1, uint4, uint2 -> uint8      int4,
 * int2 -> int8 and hg_npy_adapt turns them back when the reader knows the type it wants. Strings
 * are stored as fixed-width UTF-32 (numpy.str_). Fortran order and foreign byte order are converted
 * on reading. */
#ifndef HG_IO_NPY_H
#define HG_IO_NPY_H

#include "base/base.h"

#include <stdio.h>

/* Reads a file, or standard input when path is "-": there, several arrays may follow each other.
 * Free with hg_io_tensor_free. Status: E_IO, E_FORMAT, E_LIMIT, E_TYPE, E_NOMEM. */
HG_MUST_CHECK holo_status hg_npy_read(const char *path, holo_tensor *out, holo_error *error);
/* The same from a stream; `name` is for sentences. */
HG_MUST_CHECK holo_status hg_npy_read_stream(FILE *stream, const char *name, holo_tensor *out,
                                             holo_error *error);

/* Writes a tensor (not a container) through a temporary file, or to standard output for "-". */
HG_MUST_CHECK holo_status hg_npy_write(const char *path, const holo_tensor *tensor,
                                       holo_error *error);
HG_MUST_CHECK holo_status hg_npy_write_stream(FILE *stream, const holo_tensor *tensor,
                                              holo_error *error);

/* Turns the stand-in types above into `wanted`, where the bits allow it; other tensors stay as they
 * are, so that the library can say which type it expects. Replaces the tensor's data if needed. */
HG_MUST_CHECK holo_status hg_npy_adapt(holo_tensor *tensor, holo_dtype wanted, holo_error *error);

#endif
