/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HASH_H
#define MUSTER_HASH_H

#include <stdint.h>

/* FNV-1a of 64 bits (Fowler, Noll, Vo; isthe.com/chongo/tech/comp/fnv). Begin with HASH_BEGIN, then
 * add one text after another. */
static const uint64_t HASH_BEGIN = 0xcbf29ce484222325u;

static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

#endif
