/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_H
#define MUSTER_POLICY_H

/* When and how far muster acts on a cluster. Each rule is one file, pure but for testing.h, and has
 * one test in tests/unit/validate/policy:
 *
 *   reason.h    a drain is muster's when its reason says so; all others are left untouched
 *   plan.h      what a run may do with a node, from its state: test, test again, name, leave alone
 *   decision.h  what becomes of a tested node: certified, suspect, drained; nothing in a dry run; a
 *               drain is lifted only by a test that was passed
 *   strikes.h   a fault near the limit must come back within a window before it drains
 *   alike.h     a failure that many nodes share is no node's fault
 *   cap.h       only a share of the nodes is drained, by whichever tool and run, or in tests, at a
 *               time
 *   turn.h      which nodes are tested when not all may be; jitter
 *   idle.h      which idle nodes are tested, by the time since their last test and their history
 *   health.h    a node's own health check drains it for a missing or dead part only, where the site
 *               wants that, and all nodes together within the cap
 *   refusals.h  only so many nodes may refuse jobs for one cause
 *   testing.h   two runs on one head do not test the same node */

#include "validate/policy/alike.h"
#include "validate/policy/cap.h"
#include "validate/policy/decision.h"
#include "validate/policy/health.h"
#include "validate/policy/idle.h"
#include "validate/policy/plan.h"
#include "validate/policy/reason.h"
#include "validate/policy/refusals.h"
#include "validate/policy/strikes.h"
#include "validate/policy/turn.h"

#endif
