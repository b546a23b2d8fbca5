/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LIVE_H
#define MUSTER_LIVE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/record.h"

/* The progress of root's runs on this host, for muster top: one file per run with events as lines
 * of JSON. The run keeps the file locked (flock()), and removes it at its end. A file that no
 * process holds is left over. Best effort: no run fails or waits because of it. */
#define LIVE_DIRECTORY "/run/muster/live"

enum live_kind {
    LIVE_TEXT,  /* a line of the run: text */
    LIVE_BEGIN, /* stage begins */
    LIVE_DOING, /* the current action of the stage: text */
    LIVE_END,   /* stage is over: verdict, seconds, text; text "": nothing to report */
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
    FILE *stream; /* NULL: there is no file */
    char path[128];
    double doing_s; /* clock_s() of the last LIVE_DOING */
};

/* Opens the file of a run, and removes files that are left over. Without permission or room,
 * live->stream is NULL. directory: LIVE_DIRECTORY. */
void live_open(struct live *live, const char *directory, const char *run);

/* Writes an event with the current time as time_s. Skips LIVE_DOING if the last one was less than
 * LIVE_EACH_S ago. Does nothing without a file, or if live is NULL. */
void live_write(struct live *live, const struct live_event *event);

void live_close(struct live *live);

/* Parses a line of such a file, without its newline. Returns 0, or -1 if it is no event. Texts have
 * no control characters. */
int live_read(const char *line, struct live_event *event);

/* Whether a run holds the open file. */
bool live_is_held(int fd);

#endif
