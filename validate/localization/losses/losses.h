/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_LOSSES_H
#define MUSTER_LOCALIZATION_LOSSES_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/diagnose/parts.h"
#include "validate/localization/localization.h"

/* Which part loses packets, by what TCP had to send again between each two nodes.
 *
 * A fault of a rail shows with each of its partners; one between two nodes, or two leaf switches,
 * does not. So a rail is at fault only if it loses more than the limit with two partners or more,
 * and hardly any partner shows that it does not. What most nodes have alike, of the network or of
 * one leaf switch, is no node's. What a busy receiver dropped itself had not been lost on the way.
 * A node is failed for it only where a retest agrees: losses_confirm(). */

/* One measurement: what `from` sent to `to` on a rail. */
struct loss_sample {
    int from, to, rail; /* indices */
    double sent, lost;  /* segments */
    double damaged;     /* packets that `to` received with a wrong CRC or checksum */
    double dropped;     /* packets that reached `to`, and were dropped there for want of room */
    bool is_stalled;    /* an end was not scheduled for a part of the time, or it is not known */
    bool is_isolated;   /* of a retest: alone on the network, by turns with a control pair */
};

struct loss_data {
    const struct loss_sample *samples;
    size_t count;
    /* leaves: -1 of a node whose leaf is not known; NULL: no topology */
    struct diagnose_network network;
};

/* What the isolated samples say of a rail: those during which both ends were scheduled. */
enum loss_retest {
    LOSS_NOT_RETESTED, /* none, or too few */
    LOSS_UNSCHEDULED,  /* an end was not scheduled in any */
    LOSS_NO_CONTROL,   /* no pair of others, or too little of it */
    LOSS_CONTROL_TOO,  /* the control pair loses as well: the network, or busy machines */
    LOSS_NOT_AGAIN,    /* it did not lose again with every good partner */
    LOSS_CONFIRMED,
};

struct loss_finding {
    /* a rail, what a node sends its peer, what most nodes of a leaf or of all have alike, or what
     * pairs between two leaves have: of one rail */
    struct part part;
    bool is_either;          /* or the path to its only partner, or out of its leaf switch */
    bool is_damage;          /* most of what was lost had arrived with a wrong checksum */
    bool is_stalled;         /* most was lost while an end was not scheduled: hardly evidence */
    double sent, lost;       /* segments in all, of those ways */
    enum loss_retest retest; /* of a rail: set by losses_confirm() */
};

/* *findings is malloc'd, *found of them: rails first. Pure. Returns 0, or -1 when memory is out. */
int losses_judge(const struct loss_data *data, struct loss_finding **findings, size_t *found);

/* Sets retest of the findings about a node's rail, and leaves of its ways those that lost again. A
 * partner or a control pair is of nodes that no finding is about on that rail. Drops what was lost
 * only while an end was not scheduled and was not lost again. *found may become less. Pure. Returns
 * 0, or -1 when memory is out: then none is confirmed. */
int losses_confirm(const struct loss_data *data, struct loss_finding *findings, size_t *found);

/* What was lost by the records of a localization that is over. */
struct losses {
    struct loss_finding *findings;
    size_t count;
    const char *const *nodes, *const *rails; /* what the findings' indices are of */
};

/* Judges what was lost, and measures the rails that it is suspected of once more, with the
 * localization's measure(): each alone, by turns with a control pair, unless the localization's own
 * retests have shown enough of them. Sets localization.retests where it was the first to measure.
 * Returns 0, or -1 when memory is out; to be cleared in either case. */
int losses_hold(struct localization *localization, struct losses *losses);
void losses_clear(struct losses *losses);

/* FAIL, or UNKNOWN where a rail's loss was not confirmed or nothing but busy machines may have made
 * it. */
enum verdict losses_verdict(const struct loss_finding *finding);

#endif
