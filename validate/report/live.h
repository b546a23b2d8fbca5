/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LIVE_H
#define MUSTER_LIVE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/record.h"

/* What root's runs on this host are at, for whoever looks (muster top): a file a run, of events as
 * lines of JSON, which its run holds locked (flock()) and removes at its end. One that nobody holds
 * is left over. Best effort: no run fails or waits for want of it. */
#define LIVE_DIRECTORY "/run/muster/live"

enum live_kind {
    LIVE_TEXT,  /* a line of the run: text */
    LIVE_BEGIN, /* stage begins */
    LIVE_DOING, /* what the stage is at: text */
    LIVE_END,   /* stage is over: verdict, seconds, text; "" there is nothing to tell */
    LIVE_NODE,  /* a fault of node in stage: verdict, text */
    LIVE_KINDS
};

struct live_event {
    enum live_kind kind;
    double time_s; /* clock_epoch_s() */
    enum verdict verdict;
    double seconds;
    char stage[24], node[64], text[400];
};

struct live {
    FILE *stream; /* NULL: nobody can look */
    char path[128];
    double doing_s; /* clock_s() of the last LIVE_DOING */
};

/* Opens the file of a run, and removes those that are left over. Without permission for it, or
 * without room, live->stream is NULL. directory: LIVE_DIRECTORY. */
void live_open(struct live *live, const char *directory, const char *run);

/* Writes an event; time_s is now. LIVE_DOING is left out when the last was less than LIVE_EACH_S
 * ago. Does nothing where nobody can look, or live is NULL. */
void live_write(struct live *live, const struct live_event *event);

void live_close(struct live *live);

/* Reads a line of such a file, without a newline. Returns 0, or -1 when it is none. Texts have no
 * control characters. */
int live_read(const char *line, struct live_event *event);

/* Whether a run holds the open file. */
bool live_is_held(int fd);

#endif
