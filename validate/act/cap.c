/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/act/cap.h"

#include <math.h>

size_t cap_nodes(size_t nodes, double percent, size_t least)
{
    size_t cap = (size_t)ceil((double)nodes * percent / 100 - 1e-9);

    return cap < least ? least : cap;
}
