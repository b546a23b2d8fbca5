/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SELF_DRAIN_H
#define MUSTER_SELF_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/conf/conf.h"

/* Drains this node for what it has since then (reason "": nothing), compares that with what the
 * others did meanwhile, and takes it back when it is one too many; a drain of an earlier check that
 * could not be compared (unreviewed.h, at path) is compared now. The others are asked about only
 * where this node's own state does not decide. Returns whether it is drained by muster now for that
 * reason, and what is to be said, in text; "" for nothing. */
bool self_drain(const char *node, const char *reason, time_t since, const struct conf *conf,
                const char *path, char *text, size_t size);

#endif
