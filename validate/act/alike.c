/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/act/alike.h"

#include <string.h>

enum { FEW = 3, SHARE_PERCENT = 10 };

bool alike_is_common(size_t same, size_t kind, size_t asked)
{
    return (same >= 2 && 2 * same >= asked) || (kind >= FEW && 100 * kind > SHARE_PERCENT * asked);
}

static const char *number_skip(const char *text)
{
    return text + strspn(text, "0123456789");
}

bool alike_is_kind(const char *part, const char *other)
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
