/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIGNALS_H
#define MUSTER_SIGNALS_H

#include <signal.h>

/* Installs the handler for a signal, unless the signal is ignored, as SIGHUP below nohup(1). flags:
 * sigaction()'s. */
static inline void signal_catch(int number, void (*handler)(int), int flags)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction before;

    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

/* Installs the handler for the signals that end a program from outside. */
static inline void signals_catch(void (*handler)(int), int flags)
{
    signal_catch(SIGINT, handler, flags);
    signal_catch(SIGTERM, handler, flags);
    signal_catch(SIGHUP, handler, flags);
}

#endif
