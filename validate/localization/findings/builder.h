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
    bool *is_reported;          /* node_count x rail_count: something was said of that rail */
    bool *is_suspect;           /* node_count: a part of it may be at fault */
    const struct part **shared; /* parts between nodes that are at fault for sure */
    size_t shared_count;
    double *peers_mbps; /* [1 + rail] median of the rail's samples; NAN: not known yet */
    /* indices of samples: those of each node, at node_begin[node] up to the next one's, and those
     * that were measured alone on the network */
    size_t *node_begin;
    unsigned *node_samples, *isolated;
    size_t isolated_count;
    bool is_out_of_memory;
    struct finding scratch; /* where there is no memory for another */
};

/* Adds a finding about nothing yet. Never NULL. */
struct finding *builder_add(struct findings_builder *builder, enum finding_kind kind,
                            enum verdict verdict);

/* Indexes the samples, so that evidence of a node's part costs that node's samples only. Returns 0,
 * or -1 when memory is out; to be cleared in either case. O(samples). */
int evidence_index(struct findings_builder *builder);
void evidence_index_clear(struct findings_builder *builder);

/* Sets the finding's value: what the part has in Mb/s, of both directions that of the slower one,
 * of what comes and goes that of the low samples; and, where it is dead for that, which packets are
 * lost. */
void evidence_value(struct findings_builder *builder, const struct suspicion *item,
                    struct finding *finding);

/* What the uplinks of the finding's leaf carry of a pair at best: the upper quartile; NAN: nothing
 * is known. */
double evidence_uplink_mbps(struct findings_builder *builder, const struct finding *finding);

/* What the rail (-1: any) has where nothing is suspected, or else everywhere: the median of the
 * samples that had their uplinks to themselves. Found once a rail. */
double evidence_peers_mbps(struct findings_builder *builder, int rail);

/* Sets what 100 % is: the stated speed where the value is below that, else the peers. */
void evidence_set_limit(struct findings_builder *builder, const struct suspicion *item,
                        double peers, struct finding *finding);

/* Whether the retest bears the failure of a node's part or of a path out; else why has the words.
 * *is_cleared: it was well so often that what was low was nobody's. */
bool evidence_bears_out(const struct findings_builder *builder, const struct suspicion *item,
                        bool *is_cleared, char *why, size_t size);

/* "eth1", "path n1-n3 eth1", "leaf leaf2", "uplink leaf1-leaf2", "all eth1". */
void message_part(const struct findings_builder *builder, const struct part *part, char *name,
                  size_t size);
const char *message_leaf(const struct findings_builder *builder, int leaf);
/* "or eth1 of n2: cannot be told apart": the likeliest rival. */
void message_rival(const struct findings_builder *builder, const struct suspicion *item, char *text,
                   size_t size);
/* Sets the message, and of a host what it is held against. */
void message_write(const struct findings_builder *builder, const struct suspicion *item,
                   double peers, struct finding *finding);

/* What is said of each rail by itself, last: that nobody vouches for it, its latency, its own
 * history, and what others take for the least. */
void rails_report(struct findings_builder *builder);

#endif
