/* hash.h - a 64-bit hash of our own for content and checksums; not for secrets. */
#ifndef HG_BASE_HASH_H
#define HG_BASE_HASH_H

#include "base/base.h"

/* Defined on bytes, the same on every machine. The file format depends on it: never change it. */
uint64_t hg_hash(const void *data, size_t size, uint64_t seed);
/* Hash of a long run of bytes: blocks of HG_HASH_BLOCK, each seeded with the hash before. A writer
 * that streams computes it block by block; up to one block it is hg_hash(data, size, 0). */
enum { HG_HASH_BLOCK = 1 << 20 };
uint64_t hg_hash_blocks(const void *data, size_t size);

#endif
