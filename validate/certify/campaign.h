/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_CAMPAIGN_H
#define MUSTER_CERTIFY_CAMPAIGN_H

#include "validate/certify/choose/group.h"
#include "validate/certify/state/run.h"

/* A campaign: one run after the other, each of a group of nodes that are free, until none is left.
 * All that it remembers is in the history (validate/history/campaign.h), so that one that was
 * ended, killed or lost with its host goes on when it is asked for again. */

/* Options and configuration are those of base, in which the JSON file is opened. Returns the exit
 * status. */
int certify_campaign(struct certify *base, int argc, char **argv);

#endif
