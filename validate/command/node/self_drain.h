/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SELF_DRAIN_H
#define MUSTER_SELF_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/conf/conf.h"

/* Drains this node for the fault `reason`, which it has since `since` ("": no fault). Then compares
 * the drain with drains of the other nodes, and resumes the node if there are too many. Compares a
 * drain of an earlier check that could not be compared (unreviewed.h, at path); else withdraws the
 * published fault if there is none now. The other nodes are read only if this node's own state does
 * not decide. Returns whether muster has drained the node for this reason now. Sets text to a
 * message, or "". */
bool self_drain(const char *node, const char *reason, time_t since, const struct conf *conf,
                const char *path, char *text, size_t size);

#endif
