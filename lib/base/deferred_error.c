/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/deferred_error.h"

#include <errno.h>

static int first;

void deferred_error_set(int error)
{
    if (first == 0)
        first = error;
}

void deferred_error_note(void)
{
    if (errno == ENOMEM || errno == EMFILE || errno == ENFILE || errno == EINTR)
        deferred_error_set(errno);
}

int deferred_error_take(void)
{
    int error = first;

    first = 0;
    return error;
}
