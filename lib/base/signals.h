/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIGNALS_H
#define MUSTER_SIGNALS_H

#include <signal.h>
#include <stddef.h>

/* The handler gets these signals from here on, but those that are ignored: what nohup(1) ignores
 * stays so. flags: sigaction()'s. */
static inline void signals_catch(const int *numbers, size_t count, void (*handler)(int), int flags)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    for (size_t i = 0; i < count; i++) {
        struct sigaction before;

        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

#endif
