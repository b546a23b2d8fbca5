/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/catalog/verdict.h"

#include <string.h>

static const char *const names[] = {
    [VERDICT_NONE] = "none", [VERDICT_PASS] = "pass",       [VERDICT_SKIP] = "skip",
    [VERDICT_WARN] = "warn", [VERDICT_UNKNOWN] = "unknown", [VERDICT_FAIL] = "fail",
};

const char *verdict_name(enum verdict verdict)
{
    return (unsigned)verdict <= VERDICT_FAIL ? names[verdict] : "none";
}

int verdict_parse(const char *name)
{
    for (int i = VERDICT_NONE; i <= VERDICT_FAIL; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}
