/* precompute.h - answers for given inputs, computed while compiling: the memo section of a file. */
#ifndef HG_COMPILE_PRECOMPUTE_H
#define HG_COMPILE_PRECOMPUTE_H

#include "compile/compile.h"

/* Compiles once into memory, runs options->precompute and leaves the section in c->memo. Nothing
 * without such samples. */
HG_MUST_CHECK holo_status hg_precompute(hg_compile *c);

#endif
