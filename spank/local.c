/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/local.h"

#include <unistd.h>

#include "spank/host.h"

int local_check(const struct options *options)
{
    struct options filled = *options;
    struct error err;

    if (options_fill(&filled, host_lookup, environ, &err) == 0)
        return 0;
    host_error("%s", err.text);
    return -1;
}
