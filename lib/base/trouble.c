/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/trouble.h"

#include <errno.h>

static int first;

void trouble_set(int error)
{
    if (first == 0)
        first = error;
}

void trouble_note(void)
{
    if (errno == ENOMEM || errno == EMFILE || errno == ENFILE || errno == EINTR)
        trouble_set(errno);
}

int trouble_take(void)
{
    int error = first;

    first = 0;
    return error;
}
