/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_FINDINGS_BUILDER_H
#define MUSTER_LOCALIZATION_FINDINGS_BUILDER_H

#include "lib/base/grow.h"
#include "lib/catalog/catalog.h"
#include "validate/localization/findings/findings.h"

/* Findings while they are made. */
struct findings_builder {
    const struct evidence *evidence;
    struct findings *findings;
    bool *is_reported;          /* node_count x rail_count: there is a finding about the rail */
    bool *is_suspect;           /* node_count: a part of it may be at fault */
    const struct part **shared; /* parts between nodes that are at fault for sure */
    size_t shared_count;
    double *peers_mbps; /* [1 + rail] median of the rail's samples; NAN: not known yet */
    /* indices of samples: those of each node, from node_begin[node] to node_begin[node + 1], and
     * those that were measured alone on the network */
    size_t *node_begin;
    unsigned *node_samples, *isolated;
    size_t isolated_count;
    double *values; /* room for one of each sample */
    bool is_out_of_memory;
    struct finding scratch; /* used if there is no memory for another one */
};

/* Adds a finding without a subject. Never NULL. */
struct finding *builder_add(struct findings_builder *builder, enum finding_kind kind,
                            enum verdict verdict);

/* Indexes the samples, so that evidence of a node's part costs that node's samples only, and makes
 * room for their values. Returns 0, or -1 when memory is out; to be cleared in either case.
 * O(samples). */
int evidence_index(struct findings_builder *builder);
void evidence_index_clear(struct findings_builder *builder);

/* Sets the value of the finding: what the part has in Mb/s, in the slower direction; if the fault
 * comes and goes, in the low samples. If the part is dead because long packets are lost, sets
 * lost_bytes and path_mtu_bytes. */
void evidence_value(const struct findings_builder *builder, const struct suspicion *item,
                    struct finding *finding);

/* Returns what the uplinks of the finding's leaf carry of a pair at best, in Mb/s in the slower
 * direction: the upper quartile; NAN if nothing is known. */
double evidence_uplink_mbps(const struct findings_builder *builder, const struct finding *finding);

/* Returns what the rail (-1: any) has where nothing is suspected or, if that is nowhere,
 * everywhere: the median of the samples that did not share an uplink, in Mb/s. Computed once a
 * rail. */
double evidence_peers_mbps(const struct findings_builder *builder, int rail);

/* Sets reference (what 100 % is), limit and limit_source: by the nominal speed if the part is of a
 * node, or the fabric, and the value is below that limit, else by the peers. */
void evidence_set_limit(const struct findings_builder *builder, const struct suspicion *item,
                        double peers, struct finding *finding);

/* Whether the retest confirms the failure of a part of a node, or of a path; if not, why gets the
 * reason. *is_cleared: it was good so often that the low samples before count for nothing. */
bool evidence_confirms(const struct findings_builder *builder, const struct suspicion *item,
                       bool *is_cleared, char *why, size_t size);

/* Returns whether the fault of a leaf shows in the samples of all of its nodes (one of many may
 * differ), and is not that of a few of them. Sets *is_cleared if no sample is low because of it
 * alone. */
bool evidence_is_of_leaf(const struct findings_builder *builder, const struct part *leaf,
                         bool *is_cleared);

/* Writes the name of the part: "eth1", "path n1-n3 eth1", "leaf leaf2", "uplink leaf1-leaf2", "all
 * eth1". */
void message_part(const struct findings_builder *builder, const struct part *part, char *name,
                  size_t size);
const char *message_leaf(const struct findings_builder *builder, int leaf);
/* Writes the likeliest rival: "or eth1 of n2: cannot be distinguished". */
void message_rival(const struct findings_builder *builder, const struct suspicion *item, char *text,
                   size_t size);
/* Sets the message; of a host also metric, reference, limit and limit_source. */
void message_write(const struct findings_builder *builder, const struct suspicion *item,
                   double peers, struct finding *finding);

/* Adds the findings about single rails, after all others: a rail that no sample clears, a high
 * latency, a rate below its own history or below the minimum that others expect. */
void rails_report(struct findings_builder *builder);

#endif
