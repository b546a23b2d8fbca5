/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/bounded_child.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "tests/unit/tap.h"

static void set_number(void *context)
{
    *(int *)context = 7;
}

static void leave(void *context)
{
    (void)context;
    exit(0);
}

static void die(void *context)
{
    (void)context;
    raise(SIGFPE);
}

static void hang(void *context)
{
    (void)context;
    for (;;)
        pause();
}

/* A library that makes itself a daemon. */
static void close_all_and_hang(void *context)
{
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    hang(context);
}

static enum bounded_outcome outcome_of(void (*work)(void *state), int *state,
                                       struct bounded_end *end)
{
    struct error err = {{0}};

    if (bounded_run("muster-test", 0.3, work, state, sizeof *state, end, &err) < 0)
        tap_diag("%s", err.text);
    return end->outcome;
}

int main(void)
{
    int number = 0;
    struct bounded_end end;
    double begin_s = clock_s();

    is_int(outcome_of(set_number, &number, &end), BOUNDED_RETURNED, "work that returns");
    is_int(number, 7, "... has left what it found");
    is_int(outcome_of(leave, &number, &end), BOUNDED_EXITED, "work that ends its process");
    is_int(outcome_of(die, &number, &end), BOUNDED_SIGNALED, "work that dies");
    is_int(end.signal, SIGFPE, "... of its signal");
    is_int(outcome_of(hang, &number, &end), BOUNDED_LATE, "work that hangs is killed");
    ok(!end.is_stuck, "... and gone");
    is_int(outcome_of(close_all_and_hang, &number, &end), BOUNDED_LATE,
           "so is work that hangs with its files closed");
    ok(clock_s() - begin_s < 10 && bounded_stuck("muster-test") == 0, "nothing is left of it");
    return tap_done();
}
