/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/amount.h"

struct amount amount_of(size_t bytes, int blocks)
{
    size_t block = bytes / sizeof(float) / (size_t)blocks;

    if (block == 0)
        block = 1;
    return (struct amount){block, block * (size_t)blocks * sizeof(float)};
}
