/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_CONFIRM_H
#define MUSTER_JUDGE_CONFIRM_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/judge/links/localization/localization.h"

/* Whether a finding may be a node's failure: a node is drained for it. Three rules, over the single
 * samples and not over what the judge made of them:
 *   (a) samples during which an end was not scheduled are no evidence that a link is slow, only
 *       that it is fast; too few others are left: unknown;
 *   (b) the part is better than any other explanation of all samples, by a margin of log
 *       likelihood: a leaf switch, its uplinks, paths, the other end of a pair, the whole network,
 *       nothing but busy machines;
 *   (c) measured alone, in alternation with a control pair of nodes that nobody suspects, the part
 *       is low nearly each time and the control is not. */

struct confirm;

/* The samples of the localization, which has to have its findings. NULL: memory is out. */
struct confirm *confirm_open(const struct localization *localization);
void confirm_close(struct confirm *confirm);

/* Whether the rules are for that finding: FAIL, of a node, by its bandwidth. */
bool confirm_is_asked(const struct finding *finding);

/* Whether the finding, which is one of the localization's, holds by all three rules. Else why has
 * the words for its message. O(samples); what is compared are samples of the node and its leaf. */
bool confirm_holds(const struct confirm *confirm, const struct finding *finding, char *why,
                   size_t size);

/* Makes each finding that does not hold unknown. Returns 0, or -1 when memory is out: then all of
 * them are unknown. */
int confirm_all(struct localization *localization);

#endif
