/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_CAMPAIGN_H
#define MUSTER_HISTORY_CAMPAIGN_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/constants/certify_constants.h"
#include "validate/report/records.h"

/* A campaign certifies many nodes in several runs, as they become free. It has no state of its own:
 * it is the runs of its name and cluster in the history, and its nodes that have no certificate
 * since the first of them began are those that are left. */

enum { CAMPAIGN_NAME = 64 };

enum campaign_state {
    CAMPAIGN_LEFT,      /* not certified since the campaign began, at its level or a higher one */
    CAMPAIGN_CERTIFIED, /* ... certified, by whichever run, and not failed since */
    CAMPAIGN_FAILED,    /* ... failed, and not certified since */
    CAMPAIGN_UNKNOWN,   /* tested CAMPAIGN_TRIES times by the campaign without a verdict */
    CAMPAIGN_STATES
};

struct campaign {
    char name[CAMPAIGN_NAME], level[16]; /* level "": no run of it is known */
    char cluster[256];                   /* "": not known */
    double begin, last;                  /* seconds since the epoch: of the first run, the end of
                                            the last */
    int runs;
    struct hostlist nodes;
    bool is_named; /* nodes are all of its nodes */
    size_t wanted; /* nodes in all, by its newest run; nodes.count where they are known */
    enum campaign_state *states; /* of each of nodes */
    size_t counts[CAMPAIGN_STATES];
};

/* Letters, digits, '.', '_' and '-', fewer than CAMPAIGN_NAME, the first a letter or digit. */
bool campaign_is_name(const char *name);

/* Fills in what the history at path knows of the campaign of that name on that cluster, and of runs
 * whose cluster is not known; cluster NULL or "": on any. nodes: those it is about, copied; NULL:
 * those of its newest run, or all that were tested since it began where that did not tell. Returns
 * 1; 0 when there is no run of it: then all nodes are left, and it begins now; -1 with err. To be
 * cleared but after -1. */
int campaign_read(const char *path, const char *name, const char *cluster,
                  const struct hostlist *nodes, struct campaign *campaign, struct error *err);
void campaign_clear(struct campaign *campaign);

/* Appends what a run of the campaign has to record so that campaign_read() knows its nodes: each is
 * named once. Returns 0, or -1 when memory is out. */
int campaign_records(const struct campaign *campaign, struct records *records);

/* Appends name and cluster of all campaigns, or of those of that name, the oldest first; cluster
 * "": not known of any run of that name. Returns 0, or -1 with err. */
int campaign_list(const char *path, const char *name, struct hostlist *names,
                  struct hostlist *clusters, struct error *err);

/* "12 of 40 nodes certified (quick), 1 failed, 27 left". */
void campaign_describe(const struct campaign *campaign, char *text, size_t size);

#endif
