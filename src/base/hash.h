/* hash.h - a 64-bit hash of our own for content and checksums; not for secrets. */
#ifndef HG_BASE_HASH_H
#define HG_BASE_HASH_H

#include "base/base.h"

/* Defined on bytes, the same on every machine. The file format depends on it: never change it. */
uint64_t hg_hash(const void *data, size_t size, uint64_t seed);

#endif
