/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/ranges.h"

#include <ctype.h>
#include <stdlib.h>

int range_next(const char **list, struct range *range)
{
    const char *text = *list;
    char *end;

    if (!*text)
        return 0;
    if (!isdigit((unsigned char)*text))
        return -1;
    range->first = range->last = strtol(text, &end, 10);
    if (*end == '-') {
        text = end + 1;
        if (!isdigit((unsigned char)*text))
            return -1;
        range->last = strtol(text, &end, 10);
    }
    if ((*end && *end != ',') || range->last < range->first)
        return -1;
    *list = *end ? end + 1 : end;
    return 1;
}
