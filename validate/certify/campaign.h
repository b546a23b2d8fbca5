/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_CAMPAIGN_H
#define MUSTER_CERTIFY_CAMPAIGN_H

#include "validate/certify/choose/group.h"
#include "validate/certify/state/run.h"

/* A campaign tests the nodes in successive runs, each on a group of free nodes, until none is left.
 * Its only state is the history (validate/history/campaign.h), so a campaign that was stopped,
 * killed or lost with its host continues when --campaign names it again. */

/* Runs the campaign with the options and configuration of base; opens the JSON file in base.
 * Returns the exit status. */
int certify_campaign(struct certify *base);

#endif
