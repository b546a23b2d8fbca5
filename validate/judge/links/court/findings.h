/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_FINDINGS_H
#define MUSTER_JUDGE_FINDINGS_H

#include "validate/judge/links/links.h"
#include "validate/judge/links/pursuit/pursuit.h"

/* The list of findings as it grows, and its words. */
struct findings {
    const struct links *links;
    struct finding *items;
    size_t count;
    bool is_out_of_memory;
    char **block_parts; /* names for blocks that were found, or NULL */
    size_t block_part_count;
};

/* A new finding with nothing in it but its kind and verdict. Never NULL; when memory is out it is
 * one that is not in the list. */
struct finding *findings_add(struct findings *findings, enum finding_kind kind,
                             enum verdict verdict);

/* The name of a block: topology.conf's, or "n[1-4]" of one that was found. */
const char *findings_block(const struct findings *findings, int block);

/* Puts "path n1-n3 eth1" into the part of the finding, whose node, peer and rail are set. */
void findings_name_path(const struct findings *findings, struct finding *finding);

/* Puts figures, part and message of what a pursuit accused into the finding, whose kind, node, rail
 * and blocks are set. peers_mbps: what peers reach. */
void findings_describe(const struct findings *findings, struct finding *finding,
                       const struct accused *accused, const struct links_limits *limits);

/* Worst first, then by kind, node, rail. */
void findings_sort(struct findings *findings);

#endif
