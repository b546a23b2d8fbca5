/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/frequent.h"

/* Of each SPAN symbols the first LOOK are looked at. */
enum { SPAN = 128, LOOK = 8 };

bool frequent_choose(const uint8_t *symbols, size_t length, uint8_t frequent[FREQUENT])
{
    int16_t seen[256] = {0};
    uint8_t candidates[256];
    size_t looked = 0, among = 0;
    unsigned count = 0;

    if (length < 4096)
        return false;
    for (size_t at = 0; at + LOOK <= length; at += SPAN, looked += LOOK)
        for (size_t i = 0; i < LOOK; i++)
            seen[symbols[at + i]]++;
    /* all that were seen, and where these are too few, others */
    for (unsigned s = 0; s < 256; s++)
        if (seen[s] > 0 || s < FREQUENT)
            candidates[count++] = (uint8_t)s;
    for (unsigned i = 0; i < FREQUENT; i++) {
        unsigned best = 0;

        for (unsigned c = 1; c < count; c++)
            if (seen[candidates[c]] > seen[candidates[best]])
                best = c;
        frequent[i] = candidates[best];
        among += (size_t)seen[frequent[i]];
        seen[frequent[i]] = -1;
    }
    return (looked - among) * 32 < looked;
}
