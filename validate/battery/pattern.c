/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/pattern.h"

#include <string.h>

static uint64_t splitmix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

uint64_t pattern_mix(uint64_t a, uint64_t b)
{
    return splitmix64(splitmix64(a) ^ b);
}

struct pattern pattern_of(uint32_t from, uint32_t to, uint64_t size_bytes, uint64_t seed)
{
    uint64_t ends = (uint64_t)from << 32 | to;

    return (struct pattern){pattern_mix(pattern_mix(ends, size_bytes), seed)};
}

static uint64_t word_at(const struct pattern *pattern, size_t index)
{
    return splitmix64(pattern->state + index);
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
