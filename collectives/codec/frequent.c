/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/frequent.h"
#include "collectives/codec/path.h"

/* The first LOOK of each SPAN elements are sampled. */
enum { SPAN = 512, LOOK = 8 };

/* Fills up to FREQUENT candidates with neighbors of the symbols seen, since rare symbols are beside
 * less rare ones. Smaller exponents come first, as more different ones of them occur. */
static unsigned fill_up(const uint16_t seen[256], uint8_t candidates[256], unsigned count)
{
    unsigned below = candidates[0], above = candidates[count - 1] + 1;

    for (unsigned s = candidates[0]; s < above && count < FREQUENT; s++)
        if (seen[s] == 0)
            candidates[count++] = (uint8_t)s;
    if (above < 256 && count < FREQUENT)
        candidates[count++] = (uint8_t)above++;
    while (below > 0 && count < FREQUENT)
        candidates[count++] = (uint8_t)--below;
    while (count < FREQUENT)
        candidates[count++] = (uint8_t)above++;
    return count;
}

static uint8_t symbol_at(enum codec_type type, const uint8_t *values, size_t n)
{
    switch (type) {
    case CODEC_BF16:
        return (uint8_t)(codec_load16(values + 2 * n) >> 7);
    case CODEC_FP16:
        return codec_load16(values + 2 * n) >> 10 & 31;
    default:
        return (uint8_t)(codec_load32(values + 4 * n) >> 23);
    }
}

bool frequent_choose(enum codec_type type, const uint8_t *values, size_t length,
                     uint8_t frequent[FREQUENT])
{
    /* two tables, so that an increment need not wait for the one before it */
    uint16_t seen[256] = {0}, also[256] = {0};
    uint8_t candidates[256];
    size_t looked = 0, left_out = 0;
    unsigned count = 0;

    if (length < 4096)
        return false;
    for (size_t at = 0; at + LOOK <= length; at += SPAN, looked += LOOK)
        for (size_t i = 0; i < LOOK; i += 2) {
            seen[symbol_at(type, values, at + i)]++;
            also[symbol_at(type, values, at + i + 1)]++;
        }
    for (unsigned s = 0; s < 256; s++) {
        seen[s] = (uint16_t)(seen[s] + also[s]);
        candidates[count] = (uint8_t)s;
        count += seen[s] > 0;
    }
    if (count < FREQUENT)
        count = fill_up(seen, candidates, count);
    while (count > FREQUENT) {
        unsigned least = 0;

        for (unsigned c = 1; c < count; c++)
            if (seen[candidates[c]] < seen[candidates[least]])
                least = c;
        left_out += seen[candidates[least]];
        candidates[least] = candidates[--count];
    }
    for (unsigned i = 0; i < FREQUENT; i++)
        frequent[i] = candidates[i];
    return left_out * 32 < looked;
}
