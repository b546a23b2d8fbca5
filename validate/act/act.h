/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACT_H
#define MUSTER_ACT_H

/* When and how far muster acts on a cluster. Each rule is one file, pure but for testing.h, and has
 * one test in tests/unit:
 *
 *   reason.h    a drain is muster's when its reason says so; all others are left untouched
 *   plan.h      what a run may do with a node, from its state: test, test again, name, leave alone
 *   decision.h  what becomes of a tested node: certified, suspect, drained; nothing in a dry run; a
 *               drain is lifted only by a test that was passed
 *   strikes.h   a fault near the limit must come back within a window before it drains
 *   alike.h     what fails many nodes alike is no node's fault
 *   cap.h       only a share of the nodes is drained, by whichever tool and run, or in tests, at a
 *               time
 *   turn.h      which nodes are tested when not all may be; jitter
 *   health.h    a node's own health check drains it for a missing or dead part only, where the site
 *               wants that, and all nodes together within the cap
 *   refusals.h  so many nodes' gates may refuse jobs for one cause
 *   testing.h   two runs on one head do not test the same node
 *
 * That a second, good partner confirms a slow link before anybody is accused is
 * validate/judge/links/trial/trial.h. */

#include "validate/act/alike.h"
#include "validate/act/cap.h"
#include "validate/act/decision.h"
#include "validate/act/health.h"
#include "validate/act/plan.h"
#include "validate/act/reason.h"
#include "validate/act/refusals.h"
#include "validate/act/strikes.h"
#include "validate/act/turn.h"

#endif
