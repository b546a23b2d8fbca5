/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/findings/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "lib/constants/links_constants.h"
#include "validate/diagnose/model.h"

/* What samples of a part count: those of the first of these that it has any of. */
enum trust { TRUST_ISOLATED, TRUST_OWN_UPLINK, TRUST_ANY, TRUSTS };

static enum trust trust_of(const struct evidence *evidence, const struct link_sample *one)
{
    if (one->sample.stalled > MODEL_SEEN)
        return TRUST_ANY;
    return one->is_isolated                                     ? TRUST_ISOLATED
           : sample_is_shared(&evidence->network, &one->sample) ? TRUST_ANY
                                                                : TRUST_OWN_UPLINK;
}

/* way: DIAGNOSE_SENDS, what the part's node, or the lower node of a path, sends. */
static bool passes(const struct evidence *evidence, const struct part *part, int way,
                   const struct link_sample *one)
{
    const struct diagnose_sample *sample = &one->sample;
    struct part one_way = *part;

    one_way.ways = way;
    return sample->is_together == (part->type == DIAGNOSE_HOST) &&
           part_carries(&evidence->network, &one_way, sample->from, sample->to, sample->rail);
}

/* What the part's samples have in one way, in Mb/s, of what comes and goes the low ones. values:
 * room for the samples. */
static double value_of(const struct findings_builder *builder, const struct suspicion *item,
                       int way, double *values)
{
    const struct evidence *evidence = builder->evidence;
    const struct links *links = evidence->links;
    double least = evidence->conf->link_peers_percent / 100;

    for (enum trust trust = TRUST_ISOLATED; trust < TRUSTS; trust++) {
        size_t count = 0;

        for (size_t i = 0; i < links->sample_count; i++) {
            const struct link_sample *one = &links->samples[i];

            if (trust_of(evidence, one) <= trust && passes(evidence, &item->part, way, one) &&
                (item->part.duty == 0 || one->sample.rate < least))
                values[count++] = fmin(one->mbps, one->sample.rate * one->expected_mbps);
        }
        if (count > 0)
            return statistics_median(values, count);
    }
    return NAN;
}

/* Where most of what is dead is so as long packets are lost. */
static void find_lost(const struct evidence *evidence, const struct part *part,
                      struct finding *finding)
{
    size_t dead = 0, lost = 0;

    for (size_t i = 0; i < evidence->links->sample_count; i++) {
        const struct link_sample *one = &evidence->links->samples[i];

        if (one->mbps > 0 || !passes(evidence, part, part->ways, one))
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

/* Of both directions that of the slower one. */
void evidence_value(struct findings_builder *builder, const struct suspicion *item,
                    struct finding *finding)
{
    const struct links *links = builder->evidence->links;
    double *values = malloc((links->sample_count + 1) * sizeof *values);

    for (int way = DIAGNOSE_SENDS; way <= DIAGNOSE_RECEIVES && values; way++)
        if (item->part.ways & way)
            finding->value = fmin(finding->value, value_of(builder, item, way, values));
    if (finding->value <= 0 && item->part.type != DIAGNOSE_HOST)
        find_lost(builder->evidence, &item->part, finding);
    builder->is_out_of_memory |= !values;
    free(values);
}

/* Whether it is of nodes that nobody suspects, and nothing between them is at fault for sure. */
static bool is_control(const struct findings_builder *builder, const struct link_sample *one)
{
    if (builder->is_suspect[one->sample.from] || builder->is_suspect[one->sample.to])
        return false;
    for (size_t i = 0; i < builder->shared_count; i++)
        if (passes(builder->evidence, builder->shared[i], builder->shared[i]->ways, one))
            return false;
    return true;
}

/* The median of all samples costs their time: once a rail. */
double evidence_peers_mbps(struct findings_builder *builder, int rail)
{
    const struct links *links = builder->evidence->links;
    double *values, *peers = &builder->peers_mbps[rail + 1];

    if (!isnan(*peers))
        return *peers;
    values = malloc((links->sample_count + 1) * sizeof *values);
    for (int is_any = 0; is_any < 2 && isnan(*peers) && values; is_any++) {
        size_t count = 0;

        for (size_t i = 0; i < links->sample_count; i++) {
            const struct diagnose_sample *sample = &links->samples[i].sample;

            if ((rail < 0 || sample->rail == rail) && !sample->is_together &&
                !sample_is_shared(&builder->evidence->network, sample) &&
                (is_any || is_control(builder, &links->samples[i])))
                values[count++] = links->samples[i].mbps;
        }
        *peers = statistics_median(values, count);
    }
    builder->is_out_of_memory |= !values;
    free(values);
    return *peers;
}

/* The stated speed of the part's rail; NAN: it has none. */
static double nominal_of(const struct links *links, const struct part *part)
{
    size_t node = part->type <= DIAGNOSE_PATH ? (size_t)part->place : 0;
    double nominal =
        links->nominal_mbps[node * links->rail_count + (size_t)(part->rail < 0 ? 0 : part->rail)];

    return nominal > 0 ? nominal : NAN;
}

/* What was measured alone on the network while the ends were scheduled: of the part, and by turns
 * of nodes that nobody suspects. */
struct retested {
    size_t part, part_low, control, control_low;
    size_t part_stalled; /* besides: an end was not scheduled */
};

static struct retested retested_of(const struct findings_builder *builder, const struct part *part)
{
    const struct evidence *evidence = builder->evidence;
    double least = evidence->conf->link_peers_percent / 100;
    struct retested retested = {0};

    for (size_t i = 0; i < evidence->links->sample_count; i++) {
        const struct link_sample *one = &evidence->links->samples[i];
        bool is_low = one->sample.rate < least;

        /* an end that was not scheduled is no evidence that a way is slow, only that it is fast */
        if (!one->is_isolated)
            continue;
        if (is_low && one->sample.stalled > MODEL_SEEN) {
            retested.part_stalled += passes(evidence, part, part->ways, one);
        } else if (passes(evidence, part, part->ways, one)) {
            retested.part++;
            retested.part_low += is_low;
        } else if (is_control(builder, one)) {
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

/* Whether busy machines may have made as many low samples: of those that they keep from running the
 * ends notice a share only, so the rest has some as well, at most as the model's busy machine. */
static bool may_be_unseen(const struct retested *retested)
{
    double noticed = MODEL_SEEN_PREEMPTED, busy = MODEL_PREEMPTED_BUSY;
    double most = busy * (1 - noticed) * MODEL_SLOWED_SHARE / (1 - busy * noticed);
    double unseen = (double)retested->part_stalled * (1 / noticed - 1) / (double)retested->part;

    return statistics_binomial_tail(retested->part_low, retested->part, fmin(unseen, most)) >
           RETEST_UNSEEN_CHANCE;
}

/* Whether the retest bears a node's failure out; else why has the words. *is_cleared: it was well
 * so often that what was low was nobody's. */
bool evidence_bears_out(const struct findings_builder *builder, const struct suspicion *item,
                        bool *is_cleared, char *why, size_t size)
{
    struct retested retested = retested_of(builder, &item->part);
    bool is_low = item->part.duty > 0
                      ? retested.part_low > 0
                      : low_share(retested.part_low, retested.part) >= RETEST_SUSPECT_LOW_SHARE;

    *is_cleared = retested.part_low == 0 && retested.part >= RETEST_CLEARED_LEAST;
    if (retested.part == 0)
        snprintf(why, size, "never measured alone with both ends scheduled: busy machine?");
    else if (retested.control == 0)
        snprintf(why, size, "no control pair was scheduled in the retest; certify again");
    else if (low_share(retested.control_low, retested.control) >
             RETEST_CONTROL_LOW_SHARE * low_share(retested.part_low, retested.part))
        snprintf(why, size, "the control pair is slow as well: busy machines or network");
    else if (is_low && may_be_unseen(&retested))
        snprintf(why, size,
                 "%zu of %zu retest samples were slow, and in %zu more an end was not scheduled: "
                 "busy machine?",
                 retested.part_low, retested.part, retested.part_stalled);
    else if (!is_low)
        snprintf(why, size, "%zu of %zu retest samples were slow; certify again", retested.part_low,
                 retested.part);
    else
        return true;
    return false;
}

/* What 100 % is: the stated speed where it is below that, else the peers. */
void evidence_set_limit(struct findings_builder *builder, const struct suspicion *item,
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
