/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/scheme.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/pages.h"

const struct scheme *const schemes[SCHEMES] = {&scheme_ddp, &scheme_zero1, &scheme_zero2,
                                               &scheme_zero3, &scheme_replicas};

const struct scheme *scheme_named(const char *name)
{
    for (int i = 0; i < SCHEMES; i++)
        if (strcmp(schemes[i]->name, name) == 0)
            return schemes[i];
    return NULL;
}

real *holding_take(size_t count, size_t *bytes, struct error *err)
{
    real *memory = calloc(count > 0 ? count : 1, sizeof *memory);

    if (!memory) {
        error_set(err, "%.1f GB of memory cannot be had: %m", (double)count * sizeof(real) / 1e9);
        return NULL;
    }
    pages_prefer_large(memory, count * sizeof *memory);
    *bytes += count * sizeof *memory;
    return memory;
}
