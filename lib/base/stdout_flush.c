/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/stdout_flush.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int stdout_flush(const char *program)
{
    if (fflush(stdout) != 0)
        fprintf(stderr, "%s: standard output: %s\n", program, strerror(errno));
    else if (ferror(stdout))
        fprintf(stderr, "%s: standard output: could not write all of it\n", program);
    else
        return 0;
    return -1;
}
