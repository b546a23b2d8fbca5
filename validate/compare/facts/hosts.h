/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_HOSTS_H
#define MUSTER_JUDGE_HOSTS_H

#include "validate/compare/facts/duplicates.h"

/* What the nodes' /etc/hosts say of each other: identities of the kind "hosts", whose part is the
 * name that is looked up and whose value is the address. Files that differ are no fault of a node
 * that can be told: nobody knows which of them is right. Pure. */

#define HOSTS_KIND "hosts"

/* Sorts the identities and calls each() with "/etc/hosts differs between nodes: n4 is 10.0.0.9 on
 * n3, 10.0.0.4 on n[1-2,4]; ..." for each name that has several addresses. Returns how many, or -1
 * when memory is out. */
int hosts_differ(struct identity *identities, size_t count,
                 void (*each)(const char *text, void *context), void *context);

#endif
