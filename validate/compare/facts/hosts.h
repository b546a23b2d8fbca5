/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_HOSTS_H
#define MUSTER_JUDGE_HOSTS_H

#include "validate/compare/facts/duplicates.h"

/* The addresses of nodes in the nodes' /etc/hosts: identities of the kind "hosts", whose part is
 * the host name and whose value is the address. A difference is no fault of a certain node, since
 * it is not known which file is right. Pure. */

#define HOSTS_KIND "hosts"

/* Sorts the identities and calls each() with "/etc/hosts differs between nodes: n4 is 10.0.0.9 on
 * n3, 10.0.0.4 on n[1-2,4]; ..." for each name that has several addresses. Returns their number, or
 * -1 if memory is out. */
int hosts_differ(struct identity *identities, size_t count,
                 void (*each)(const char *text, void *context), void *context);

#endif
