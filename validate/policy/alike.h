/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ALIKE_H
#define MUSTER_ALIKE_H

#include <stdbool.h>
#include <stddef.h>

/* What fails many nodes alike has one cause, and that is none of them: the network, the head, a
 * file of configuration, a driver. No node is failed for it. Pure. */

/* Whether so many of the `asked` nodes have the same fault that it is none of theirs: at the same
 * part ("eth1") on two of them or more, which are half of all; or at parts of one kind ("gpu3",
 * "gpu5") on three or more, which are more than a tenth. same: nodes with the same part, kind:
 * those with one of its kind, these included. Of the nodes of one leaf switch likewise. */
bool alike_is_common(size_t same, size_t kind, size_t asked);

/* Whether two parts differ in numbers at most: "gpu3" and "gpu5", "rank 0" and "rank 12". */
bool alike_is_kind(const char *part, const char *other);

#endif
