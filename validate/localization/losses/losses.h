/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_LOSSES_H
#define MUSTER_LOCALIZATION_LOSSES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/record.h"
#include "validate/diagnose/parts.h"

/* Finds the parts that lose packets, by what TCP had to send again between each two nodes.
 *
 * A fault of a rail shows with each of its partners; one between two nodes, or two leaf switches,
 * does not. So a rail is at fault only if it loses more than the limit with two partners or more,
 * and hardly any partner shows that it does not. Losses that most nodes of the network, or of one
 * leaf switch, have alike are no fault of a node. Packets that a busy receiver dropped itself were
 * not lost on the path. A node fails only if a retest agrees. */

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
    LOSS_NO_CONTROL,   /* no control pair, or too little of it */
    LOSS_CONTROL_TOO,  /* the control pair loses as well: the network, or busy machines */
    LOSS_NOT_AGAIN,    /* it did not lose again with every good partner */
    LOSS_CONFIRMED,
};

struct loss_finding {
    /* a rail; a path, of what a node sends its peer; a leaf or the fabric, of what most of its
     * nodes have alike; or uplinks, of what pairs between two leaves have: of one rail */
    struct part part;
    bool is_either;          /* may be the path to its only partner, or out of its leaf switch */
    bool is_damage;          /* most of what was lost had arrived with a wrong checksum */
    bool is_stalled;         /* most was lost while an end was not scheduled: hardly evidence */
    double sent, lost;       /* segments in all, of those ways */
    enum loss_retest retest; /* of a rail */
};

struct losses {
    struct loss_finding *findings;
    size_t count;
};

/* Judges all samples. Pure. Returns 0, or -1, and sets none, if memory is out. */
int losses_judge(const struct loss_data *data, struct losses *losses);
void losses_clear(struct losses *losses);

struct localization;

/* Judges what was lost by the records of the localization, whose links have been read: sets
 * localization->losses. Returns 0, or -1 if memory is out. */
int losses_read(struct localization *localization);

/* Measures rails that may have lost packets again with localization->measure(): each alone, by
 * turns with a control pair, unless the retests of the localization have shown enough of them; and
 * judges anew. localization_run() has been called. Sets localization->retests if it is the first to
 * measure again. Returns 0, or -1 if memory is out. */
int losses_retest(struct localization *localization);

/* Returns FAIL, or UNKNOWN if the loss of a rail was not confirmed, or if it may be another part's
 * or that of busy machines. */
enum verdict losses_verdict(const struct loss_finding *finding);

#endif
