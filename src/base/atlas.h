/* atlas.h - the 96 classes of bytes. A byte has three coordinates: quadrant h2 (bits 7 and 6),
 * modality d (bits 5 and 4, where 11 counts as 00) and context l (bits 3 to 1); its class is
 * 24 h2 + 8 d + l. Both sides use this: the compiler to find functions that are constant on
 * classes, the kernels to look them up. */
#ifndef HG_BASE_ATLAS_H
#define HG_BASE_ATLAS_H

#include "base/base.h"

enum { HG_ATLAS_CLASSES = 96 };

HG_INLINE uint8_t hg_atlas_class(uint8_t byte)
{
    const uint32_t d = byte >> 4 & 3;
    return (uint8_t)(24 * (byte >> 6) + 8 * (d == 3 ? 0 : d) + (byte >> 1 & 7));
}

/* The smallest byte of a class. */
HG_INLINE uint8_t hg_atlas_byte(uint8_t class_number)
{
    const uint32_t c = class_number;
    return (uint8_t)(c / 24 << 6 | c % 24 / 8 << 4 | c % 8 << 1);
}

#endif
