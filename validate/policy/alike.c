/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/alike.h"

#include <string.h>

#include "lib/constants/policy_constants.h"

bool alike_is_common(size_t same, size_t kind, size_t queried)
{
    return (same >= ALIKE_PART_LEAST && 100 * same >= ALIKE_PART_PERCENT * queried) ||
           (kind >= ALIKE_KIND_LEAST && 100 * kind > ALIKE_KIND_PERCENT * queried);
}

static const char *number_skip(const char *text)
{
    return text + strspn(text, "0123456789");
}

bool alike_is_same_kind(const char *part, const char *other)
{
    for (;; part++, other++) {
        part = number_skip(part);
        other = number_skip(other);
        if (*part != *other)
            return false;
        if (!*part)
            return true;
    }
}
