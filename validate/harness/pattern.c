/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/pattern.h"

#include "lib/base/splitmix.h"

uint64_t pattern_mix(uint64_t a, uint64_t b)
{
    return splitmix_at(splitmix_at(a, 0) ^ b, 0);
}

struct pattern pattern_of(uint32_t from, uint32_t to, uint64_t size_bytes, uint64_t seed)
{
    uint64_t ends = (uint64_t)from << 32 | to;

    return (struct pattern){pattern_mix(pattern_mix(ends, size_bytes), seed)};
}

static uint64_t word_at(const struct pattern *pattern, size_t index)
{
    return splitmix_at(pattern->state + index, 0);
}

uint8_t pattern_byte(const struct pattern *pattern, size_t offset)
{
    return (uint8_t)(word_at(pattern, offset / 8) >> 8 * (offset % 8));
}

void pattern_fill(const struct pattern *pattern, void *data, size_t size)
{
    uint8_t *bytes = data;
    size_t offset = 0;

    for (; offset + 8 <= size; offset += 8) {
        uint64_t word = word_at(pattern, offset / 8);

        for (int i = 0; i < 8; i++)
            bytes[offset + (size_t)i] = (uint8_t)(word >> 8 * i);
    }
    for (; offset < size; offset++)
        bytes[offset] = pattern_byte(pattern, offset);
}

size_t pattern_check(const struct pattern *pattern, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    size_t offset = 0;

    for (; offset + 8 <= size; offset += 8) {
        uint64_t word = word_at(pattern, offset / 8), found = 0;

        for (int i = 0; i < 8; i++)
            found |= (uint64_t)bytes[offset + (size_t)i] << 8 * i;
        if (found != word)
            break;
    }
    for (; offset < size; offset++)
        if (bytes[offset] != pattern_byte(pattern, offset))
            return offset;
    return size;
}
