/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_BELIEVE_H
#define MUSTER_LOCALIZATION_BELIEVE_H

#include "validate/diagnose/observations.h"

/* Whose figures are believed, before parts are looked for. Pure. */

struct inconsistent_node {
    int node;
    int told, contradicted; /* transfers that it took part in, and those of them that contradict */
};

/* Nodes whose figures contradict those of several partners, the most contradicted first. Of each
 * contradiction the figure of the end that is consistent is put into the samples, of two such ends
 * the lower one. *inconsistent is malloc'd. Returns how many, or -1 when memory is out. O(samples x
 * inconsistent). */
long believe_reports(const struct diagnose_network *network, struct diagnose_sample *samples,
                     size_t count, struct inconsistent_node **inconsistent);

#endif
