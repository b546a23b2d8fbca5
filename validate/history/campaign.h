/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_CAMPAIGN_H
#define MUSTER_HISTORY_CAMPAIGN_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/constants/certify_constants.h"
#include "validate/report/records.h"

/* A campaign certifies many nodes in several runs, as nodes become free. It has no state of its
 * own: it is the runs of its name and cluster in the history. Its nodes without a certificate since
 * its first run began are left. */

enum { CAMPAIGN_NAME = 64 };

enum campaign_state {
    CAMPAIGN_LEFT,      /* not certified since the campaign began, at its level or a higher one */
    CAMPAIGN_CERTIFIED, /* ... certified, by any run, and not failed since */
    CAMPAIGN_FAILED,    /* ... failed, and not certified since */
    CAMPAIGN_UNKNOWN,   /* tested CAMPAIGN_TRIES times by the campaign without a verdict */
    CAMPAIGN_STATES
};

struct campaign {
    char name[CAMPAIGN_NAME], level[16]; /* level "": no run of it is known */
    char cluster[256];                   /* "": unknown */
    double begin, last;                  /* seconds since the epoch: begin of the first run, end of
                                            the last */
    int runs;
    struct hostlist nodes;
    bool is_named; /* `nodes` has all of its nodes */
    size_t wanted; /* number of its nodes, by its newest run; nodes.count if all are known */
    enum campaign_state *states; /* [nodes.count] */
    size_t counts[CAMPAIGN_STATES];
};

/* Whether the name has only letters, digits, '.', '_' and '-', starts with a letter or digit, and
 * is shorter than CAMPAIGN_NAME. */
bool campaign_is_name(const char *name);

/* Reads the campaign of the name on the cluster from the history at path; runs without a known
 * cluster count too; cluster NULL or "": any cluster. nodes: the nodes of the campaign, copied;
 * NULL: those that its newest run named, else all that were tested since it began. Returns 1; 0 if
 * there is no run of it: then all nodes are left, and it begins now; or -1 with err. Clear campaign
 * except after -1. */
int campaign_read(const char *path, const char *name, const char *cluster,
                  const struct hostlist *nodes, struct campaign *campaign, struct error *err);
void campaign_clear(struct campaign *campaign);

/* Appends the records of a run from which campaign_read() knows the campaign's nodes: each is named
 * once. Returns 0, or -1 if memory is out. */
int campaign_records(const struct campaign *campaign, struct records *records);

/* Appends the name and cluster of all campaigns, or of those of the name, the oldest first; cluster
 * "": unknown for all runs of the name. Returns 0, or -1 with err. */
int campaign_list(const char *path, const char *name, struct hostlist *names,
                  struct hostlist *clusters, struct error *err);

/* Formats "12 of 40 nodes certified (quick), 1 failed, 27 left". */
void campaign_describe(const struct campaign *campaign, char *text, size_t size);

#endif
