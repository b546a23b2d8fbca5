/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/findings/builder.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "lib/constants/links_constants.h"
#include "validate/diagnose/model.h"

/* Which samples of a part count: those up to the first of these levels that has any. */
enum trust { TRUST_ISOLATED, TRUST_OWN_UPLINK, TRUST_ANY, TRUSTS };

static enum trust trust_of(const struct evidence *evidence, size_t i)
{
    const struct diagnose_sample *sample = &evidence->links->samples[i];

    if (sample->stalled > MODEL_SEEN)
        return TRUST_ANY;
    return evidence->links->measured[i].is_isolated       ? TRUST_ISOLATED
           : sample_is_shared(&evidence->network, sample) ? TRUST_ANY
                                                          : TRUST_OWN_UPLINK;
}

int evidence_index(struct findings_builder *builder)
{
    const struct links *links = builder->evidence->links;
    size_t nodes = links->node_count, *begin = calloc(nodes + 2, sizeof *begin);

    builder->node_begin = begin;
    builder->node_samples = malloc((2 * links->sample_count + 1) * sizeof *builder->node_samples);
    builder->isolated = malloc((links->sample_count + 1) * sizeof *builder->isolated);
    builder->values = malloc((links->sample_count + 1) * sizeof *builder->values);
    if (!begin || !builder->node_samples || !builder->isolated || !builder->values)
        return -1;
    for (unsigned i = 0; i < links->sample_count; i++) {
        begin[links->samples[i].from + 2]++;
        begin[links->samples[i].to + 2]++;
        if (links->measured[i].is_isolated)
            builder->isolated[builder->isolated_count++] = i;
    }
    for (size_t node = 2; node < nodes + 2; node++)
        begin[node] += begin[node - 1];
    for (unsigned i = 0; i < links->sample_count; i++) {
        builder->node_samples[begin[links->samples[i].from + 1]++] = i;
        builder->node_samples[begin[links->samples[i].to + 1]++] = i;
    }
    return 0;
}

void evidence_index_clear(struct findings_builder *builder)
{
    free(builder->node_begin);
    free(builder->node_samples);
    free(builder->isolated);
    free(builder->values);
}

/* Returns the index of the kth sample that may pass the part, or SIZE_MAX after the last one. */
static size_t sample_of(const struct findings_builder *builder, const struct part *part, size_t k)
{
    if (part->type > DIAGNOSE_PATH)
        return k < builder->evidence->links->sample_count ? k : SIZE_MAX;
    k += builder->node_begin[part->index];
    return k < builder->node_begin[part->index + 1] ? builder->node_samples[k] : SIZE_MAX;
}

/* Whether the sample passes the part: of a host all rails at once, else one rail by itself. */
static bool passes(const struct evidence *evidence, const struct part *part,
                   const struct diagnose_sample *sample)
{
    return sample->is_together == (part->type == DIAGNOSE_HOST) &&
           part_carries(&evidence->network, part, sample->from, sample->to, sample->rail);
}

/* Returns what the samples of the part have, in Mb/s: the median; if the fault comes and goes, the
 * median of those below the limit or, if there are none, the lowest. */
static double value_of(const struct findings_builder *builder, const struct part *part)
{
    const struct evidence *evidence = builder->evidence;
    const struct links *links = evidence->links;
    double least = evidence->network.fault_share, lowest = NAN;
    bool is_at_times = part->duty > 0;

    for (enum trust trust = TRUST_ISOLATED; trust < TRUSTS; trust++) {
        size_t count = 0;

        for (size_t k = 0, i; (i = sample_of(builder, part, k)) != SIZE_MAX; k++) {
            const struct diagnose_sample *sample = &links->samples[i];
            const struct link_sample *measured = &links->measured[i];
            double share, mbps;

            if (!passes(evidence, part, sample) || trust_of(evidence, i) > trust)
                continue;
            share = is_at_times ? exp(sample_y(sample)) : sample->rate;
            mbps = fmin(measured->mbps, share * measured->expected_mbps);
            lowest = fmin(lowest, mbps);
            if (!is_at_times || share < least)
                builder->values[count++] = mbps;
        }
        if (count > 0)
            return statistics_median(builder->values, count);
    }
    return lowest;
}

/* Sets lost_bytes and path_mtu_bytes if most of the dead samples are dead because long packets are
 * lost. */
static void find_lost(const struct findings_builder *builder, const struct part *part,
                      struct finding *finding)
{
    const struct links *links = builder->evidence->links;
    size_t dead = 0, lost = 0;

    for (size_t k = 0, i; (i = sample_of(builder, part, k)) != SIZE_MAX; k++) {
        const struct link_sample *one = &links->measured[i];

        if (one->mbps > 0 || !passes(builder->evidence, part, &links->samples[i]))
            continue;
        dead++;
        lost += one->lost_bytes > 0;
        if (one->lost_bytes > 0) {
            finding->lost_bytes = one->lost_bytes;
            finding->path_mtu_bytes = one->path_mtu_bytes;
        }
    }
    if (2 * lost <= dead)
        finding->lost_bytes = finding->path_mtu_bytes = 0;
}

void evidence_value(const struct findings_builder *builder, const struct suspicion *item,
                    struct finding *finding)
{
    struct part one_way = item->part;

    for (one_way.ways = DIAGNOSE_SENDS; one_way.ways <= DIAGNOSE_RECEIVES; one_way.ways++)
        if (item->part.ways & one_way.ways)
            finding->value = fmin(finding->value, value_of(builder, &one_way));
    if (finding->value <= 0 && item->part.type != DIAGNOSE_HOST)
        find_lost(builder, &item->part, finding);
}

/* The upper quartile, as pairs with leaves of slower uplinks do not show what these uplinks
 * carry. */
double evidence_uplink_mbps(const struct findings_builder *builder, const struct finding *finding)
{
    struct part part = {
        .type = DIAGNOSE_UPLINK, .index = finding->leaf, .peer = -1, .rail = finding->rail};
    const struct links *links = builder->evidence->links;
    double mbps = NAN;

    for (part.ways = DIAGNOSE_SENDS; part.ways <= DIAGNOSE_RECEIVES; part.ways++) {
        size_t count = 0;

        for (size_t i = 0; i < links->sample_count && finding->ways & part.ways; i++)
            if (passes(builder->evidence, &part, &links->samples[i]))
                builder->values[count++] = links->measured[i].mbps;
        mbps = fmin(mbps, statistics_quantile(builder->values, count, UPLINK_CARRIES_SHARE));
    }
    return mbps;
}

/* Whether the sample is of nodes that nobody suspects, and passes no part that is surely at
 * fault. */
static bool is_control(const struct findings_builder *builder, const struct diagnose_sample *sample)
{
    if (builder->is_suspect[sample->from] || builder->is_suspect[sample->to])
        return false;
    for (size_t i = 0; i < builder->shared_count; i++)
        if (part_carries(&builder->evidence->network, builder->shared[i], sample->from, sample->to,
                         sample->rail))
            return false;
    return true;
}

/* The median takes a pass over all samples, so it is kept for each rail. */
double evidence_peers_mbps(const struct findings_builder *builder, int rail)
{
    const struct links *links = builder->evidence->links;
    double *peers = &builder->peers_mbps[rail + 1];

    for (int is_any = 0; is_any < 2 && isnan(*peers); is_any++) {
        size_t count = 0;

        for (size_t i = 0; i < links->sample_count; i++) {
            const struct diagnose_sample *sample = &links->samples[i];

            if ((rail < 0 || sample->rail == rail) && !sample->is_together &&
                !sample_is_shared(&builder->evidence->network, sample) &&
                (is_any || is_control(builder, sample)))
                builder->values[count++] = links->measured[i].mbps;
        }
        *peers = statistics_median(builder->values, count);
    }
    return *peers;
}

/* Returns the nominal speed of the part's rail, or NAN if it has none. */
static double nominal_of(const struct links *links, const struct part *part)
{
    size_t node = part->type <= DIAGNOSE_PATH ? (size_t)part->index : 0;
    double nominal =
        links->nominal_mbps[node * links->rail_count + (size_t)(part->rail < 0 ? 0 : part->rail)];

    return nominal > 0 ? nominal : NAN;
}

/* Returns whether another part between nodes, which is surely at fault, makes the sample low: then
 * it is no evidence against the part. It is not lower than that part makes it and, as an
 * intermittent one or a cable may be absent, not higher. */
static bool is_explained(const struct findings_builder *builder, const struct part *part,
                         const struct diagnose_sample *sample)
{
    const struct evidence *evidence = builder->evidence;
    double least = evidence->network.fault_share;

    for (size_t i = 0; i < builder->shared_count && sample->rate < least; i++) {
        const struct part *shared = builder->shared[i];
        double left = shared->depth < MODEL_DEPTHS - 1 ? exp(model_depth(shared->depth)) : 0;

        if (!part_is_same(shared, part) && sample->rate >= least * left &&
            (shared->duty == 0 || least * sample->rate <= left) &&
            part_carries(&evidence->network, shared, sample->from, sample->to, sample->rail))
            return true;
    }
    return false;
}

/* Returns whether a part of a node other than `node`, which is surely at fault, explains that the
 * sample is low. */
static bool is_others(const struct evidence *evidence, int node,
                      const struct diagnose_sample *sample)
{
    for (size_t i = 0; i < evidence->diagnosis.count; i++) {
        const struct suspicion *item = &evidence->diagnosis.items[i];

        if (part_is_of_node(&item->part) && item->part.index != node && suspicion_is_sure(item) &&
            part_carries(&evidence->network, &item->part, sample->from, sample->to, sample->rail))
            return true;
    }
    return false;
}

/* Whether `low` of `all` samples may be low by chance, if each is so with that probability. */
static bool may_be(size_t low, size_t all, double chance)
{
    return statistics_binomial_tail(low, all, chance) > RETEST_UNSEEN_CHANCE;
}

/* Which samples of a node count. */
enum where { WITHIN_LEAF = 1, ACROSS_LEAVES = 2, ANYWHERE = 3 };

struct low_samples {
    size_t all, low;
};

/* Counts the samples of a node that pass the part, and the low ones. Left out are samples that
 * shared an uplink or that a part between nodes explains, low ones in which an end was not
 * scheduled and, but for a permanent fault of the node within its leaf, those through a faulty part
 * of another node. */
static struct low_samples low_samples_of(const struct findings_builder *builder,
                                         const struct part *part, int node, enum where where)
{
    const struct evidence *evidence = builder->evidence;
    const struct diagnose_network *network = &evidence->network;
    bool counts_others = where == WITHIN_LEAF && part->duty == 0;
    struct low_samples counted = {0};

    for (size_t k = builder->node_begin[node]; k < builder->node_begin[node + 1]; k++) {
        const struct diagnose_sample *sample = &evidence->links->samples[builder->node_samples[k]];
        bool is_low = sample->rate < network->fault_share;
        bool is_there = where & (sample_is_across(network, sample) ? ACROSS_LEAVES : WITHIN_LEAF);

        if (!passes(evidence, part, sample) || !is_there || sample_is_shared(network, sample) ||
            (is_low && sample->stalled > MODEL_SEEN) || is_explained(builder, part, sample) ||
            (!counts_others && is_others(evidence, part_is_of_node(part) ? node : -1, sample)))
            continue;
        counted.all++;
        counted.low += is_low;
    }
    return counted;
}

bool evidence_is_of_leaf(const struct findings_builder *builder, const struct part *leaf,
                         bool *is_cleared)
{
    const struct diagnose_network *network = &builder->evidence->network;
    double share = LEAF_LOW_SHARE * part_duty(leaf);
    /* faults of a few of its nodes look like an intermittent one of the leaf within it */
    enum where where = leaf->duty > 0 ? ACROSS_LEAVES : ANYWHERE;
    size_t nodes = 0, alike = 0, low = 0;

    for (int node = 0; node < (int)network->node_count; node++) {
        struct low_samples counted = {0};

        if (network->leaves[node] == leaf->index)
            counted = low_samples_of(builder, leaf, node, where);
        if (counted.all == 0)
            continue;
        nodes++;
        low += counted.low;
        alike += leaf->duty == 0 ? (double)counted.low >= share * (double)counted.all
                                 : may_be(counted.all - counted.low, counted.all, 1 - share);
    }
    *is_cleared |= low == 0;
    return low > 0 && alike + (nodes >= LEAF_EXCEPT_LEAST) >= nodes;
}

/* Numbers of samples that were measured alone on the network with both ends scheduled: of the part,
 * and of control pairs, of nodes that nobody suspects. */
struct retested {
    size_t part, part_low, control, control_low;
    /* low ones besides: an end was not scheduled, or a part between nodes is the reason */
    size_t part_stalled, part_explained;
};

static struct retested retested_of(const struct findings_builder *builder, const struct part *part)
{
    const struct evidence *evidence = builder->evidence;
    struct retested retested = {0};

    for (size_t k = 0; k < builder->isolated_count; k++) {
        const struct diagnose_sample *sample = &evidence->links->samples[builder->isolated[k]];
        bool is_low = sample->rate < evidence->network.fault_share;
        bool is_of_part = passes(evidence, part, sample);

        /* a sample in which an end was not scheduled may show that a path is fast, never that it is
         * slow */
        if (is_low && sample->stalled > MODEL_SEEN) {
            retested.part_stalled += is_of_part;
        } else if (is_of_part && part_is_of_node(part) && is_explained(builder, part, sample)) {
            retested.part_explained++;
        } else if (is_of_part) {
            retested.part++;
            retested.part_low += is_low;
        } else if (is_control(builder, sample)) {
            retested.control++;
            retested.control_low += is_low;
        }
    }
    return retested;
}

static double low_share(size_t low, size_t all)
{
    return all > 0 ? (double)low / (double)all : 0;
}

/* Returns the share of the samples of a part that busy machines may have made low unnoticed. Ends
 * notice only a share of the samples in which they are preempted, so some of the others are so as
 * well; at most as many as in the busy machine of the model. */
static double unseen_share(const struct retested *retested)
{
    double noticed = MODEL_SEEN_PREEMPTED, busy = MODEL_PREEMPTED_BUSY;
    double most = busy * (1 - noticed) * MODEL_SLOWED_SHARE / (1 - busy * noticed);

    return fmin((double)retested->part_stalled * (1 / noticed - 1) / (double)retested->part, most);
}

/* Whether the uplinks of the node's leaf may be at fault, or one cable of them, on which by chance
 * most streams are this node's: with others of its leaf no sample was low or, if the fault comes
 * and goes, no more than are low anyway. Sets *inside. */
static bool may_be_uplink(const struct findings_builder *builder, const struct part *part,
                          double unseen, struct low_samples *inside)
{
    const struct diagnose_network *network = &builder->evidence->network;

    if (network->leaf_count < 2 || !part_is_of_node(part) || node_is_alone(network, part->index))
        return false;
    *inside = low_samples_of(builder, part, part->index, WITHIN_LEAF);
    return inside->low == 0 ||
           (part->duty > 0 && may_be(inside->low, inside->all, fmax(unseen, MODEL_DIP_SHARE)));
}

bool evidence_confirms(const struct findings_builder *builder, const struct suspicion *item,
                       bool *is_cleared, char *why, size_t size)
{
    struct retested retested = retested_of(builder, &item->part);
    struct low_samples inside;
    double unseen = unseen_share(&retested);
    bool is_low = item->part.duty > 0
                      ? retested.part_low > 0
                      : low_share(retested.part_low, retested.part) >= RETEST_SUSPECT_LOW_SHARE;

    /* what is explained clears a part only if that explains all that made it suspect */
    *is_cleared = retested.part_low == 0 &&
                  (retested.part >= RETEST_CLEARED_LEAST ||
                   (retested.part + retested.part_explained >= RETEST_CLEARED_LEAST &&
                    low_samples_of(builder, &item->part, item->part.index, ANYWHERE).low == 0));
    if (retested.part == 0 && retested.part_explained > 0)
        snprintf(why, size,
                 "its retest samples all pass a leaf, uplink or path that is slow or loses packets "
                 "itself");
    else if (retested.part == 0)
        snprintf(why, size, "never measured alone with both ends scheduled: busy machine?");
    else if (retested.control == 0)
        snprintf(why, size, "no control pair was scheduled in the retest; certify again");
    else if (low_share(retested.control_low, retested.control) >
             RETEST_CONTROL_LOW_SHARE * low_share(retested.part_low, retested.part))
        snprintf(why, size, "the control pair is slow as well: busy machines or network");
    else if (is_low && may_be(retested.part_low, retested.part, unseen))
        snprintf(why, size,
                 "%zu of %zu retest samples were slow, and in %zu more an end was not scheduled: "
                 "busy machine?",
                 retested.part_low, retested.part, retested.part_stalled);
    else if (is_low && may_be_uplink(builder, &item->part, unseen, &inside))
        snprintf(
            why, size,
            "%zu of %zu samples within its leaf were slow: the leaf's uplinks, or one cable of "
            "them, may be at fault; check these first",
            inside.low, inside.all);
    else if (!is_low)
        snprintf(why, size, "%zu of %zu retest samples were slow; certify again", retested.part_low,
                 retested.part);
    else
        return true;
    return false;
}

void evidence_set_limit(const struct findings_builder *builder, const struct suspicion *item,
                        double peers, struct finding *finding)
{
    const struct conf *conf = builder->evidence->conf;
    double nominal = nominal_of(builder->evidence->links, &item->part);
    bool is_by_nominal = (part_is_of_node(&item->part) || item->part.type == DIAGNOSE_FABRIC) &&
                         finding->value < nominal * conf->link_nominal_percent / 100;

    finding->reference = is_by_nominal ? nominal : peers;
    finding->limit = finding->reference *
                     (is_by_nominal ? conf->link_nominal_percent : conf->link_peers_percent) / 100;
    finding->limit_source = is_by_nominal ? "nominal" : "peers";
}
