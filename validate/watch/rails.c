/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/judge_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/statistics.h"

/* ---------------------------------------------------------------- rails */

/* What it carried of what the node's rails carry, their median; NAN: too little to say. */
static double rail_share(const struct watch_node *node, const struct watch_rail *rail)
{
    const struct watch_sample *newest = watch_newest(node);
    double *others = calloc(newest->rail_count + 1, sizeof *others), median;
    size_t count = 0;

    for (size_t i = 0; others && i < newest->rail_count; i++)
        if (&newest->rails[i] != rail)
            others[count++] = watch_rail_mbps(node, &newest->rails[i]);
    median = count ? statistics_median(others, count) : NAN;
    free(others);
    return median > WATCH_QUIET_MBPS ? watch_rail_mbps(node, rail) / median : NAN;
}

/* The least share of a rail of that name, the next to it, and nodes where it is as other rails. */
struct shares {
    double least, next;
    const struct watch_node *node, *next_node;
    size_t good;
};

static struct shares shares_of(const struct watch *watch, const char *name)
{
    struct shares shares = {.least = INFINITY, .next = INFINITY};

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        const struct watch_rail *rail = watch_rail_find(watch_newest(node), name);
        double share = rail ? rail_share(node, rail) : NAN;

        shares.good += share > WATCH_RAIL_PEERS;
        if (share < shares.least) {
            shares.next = shares.least;
            shares.next_node = shares.node;
            shares.least = share;
            shares.node = node;
        } else if (share < shares.next) {
            shares.next = share;
            shares.next_node = node;
        }
    }
    return shares;
}

static void errors_judge(struct judging *judging, const struct watch_node *node)
{
    const struct watch_sample *newest = watch_newest(node), *oldest;
    size_t kept = node->count < WATCH_WINDOW ? node->count : WATCH_WINDOW;

    if (kept < 2)
        return;
    oldest = watch_sample_at(node, kept - 1);
    for (size_t i = 0; i < newest->rail_count; i++) {
        const struct watch_rail *rail = &newest->rails[i],
                                *before = watch_rail_find(oldest, rail->name);

        if (before &&
            (rail->losses > before->losses || rail->errors >= before->errors + WATCH_LINK_ERRORS))
            FINDING(judging, VERDICT_WARN, FAULT_LINK_ERRORS, node->name, rail->name,
                    "the link of %s was lost or recovered %.0f times, and had %.0f errors, within "
                    "%.0f s",
                    rail->name, rail->losses - before->losses, rail->errors - before->errors,
                    newest->time_s - oldest->time_s);
    }
}

void watch_judge_rails(struct judging *judging)
{
    const struct watch *watch = judging->watch;
    const struct watch_sample *first = NULL;

    for (size_t i = 0; i < watch->node_count; i++) {
        errors_judge(judging, &watch->nodes[i]);
        if (!first)
            first = watch_newest(&watch->nodes[i]);
    }
    if (judging->ready < watch->node_count)
        return;
    for (size_t i = 0; first && i < first->rail_count; i++) {
        const char *name = first->rails[i].name;
        struct shares shares = shares_of(watch, name);

        if (shares.least < WATCH_RAIL_LIMIT && shares.good >= 2)
            FINDING(judging, VERDICT_WARN, FAULT_RAIL_STRAGGLES, shares.node->name, name,
                    "%s carries %.0f %% of what the node's other rails do, and on %zu nodes as "
                    "much as those%s%s",
                    name, 100 * shares.least, shares.good,
                    shares.next < 1.25 * shares.least + 0.02 ? "; it may be the one of " : "",
                    shares.next < 1.25 * shares.least + 0.02 ? shares.next_node->name : "");
    }
}

/* ---------------------------------------------------------------- connections */

static const struct watch_flow *flow_find(const struct watch_sample *sample,
                                          const struct watch_flow *like)
{
    for (size_t i = 0; sample && i < sample->flow_count; i++)
        if (strcmp(sample->flows[i].rail, like->rail) == 0 &&
            strcmp(sample->flows[i].peer, like->peer) == 0)
            return &sample->flows[i];
    return NULL;
}

/* The median of the rates that it had between samples in which it sent; NAN: of too few. */
static double flow_mbps(const struct watch_node *node, const struct watch_flow *flow)
{
    double rates[WATCH_WINDOW];
    size_t count = 0;
    const struct watch_sample *newest = watch_newest(node), *sample;

    for (size_t age = 0;
         (sample = watch_sample_at(node, age)) && newest->time_s - sample->time_s <= WATCH_FLOWS_S;
         age++) {
        const struct watch_flow *now = flow_find(sample, flow),
                                *before = flow_find(watch_sample_at(node, age + 1), flow);

        if (now && before && now->mbps > 0 && now->bytes > before->bytes + WATCH_FLOW_BYTES)
            rates[count++] = now->mbps;
    }
    return count >= WATCH_FLOW_SAMPLES ? statistics_median(rates, count) : NAN;
}

/* A rail as an end of flows. */
struct flow_end {
    const struct watch_node *node;
    const char *rail;
    size_t slow, all;
    double mbps; /* the least */
};

/* Counts the flow at its end with that address; NULL: the address is not of the job. */
static void end_take(struct flow_end *ends, size_t count, const char *address, double mbps,
                     bool is_slow)
{
    for (size_t i = 0; i < count; i++) {
        const struct watch_rail *rail = watch_rail_find(watch_newest(ends[i].node), ends[i].rail);

        if (strcmp(rail->address, address) != 0)
            continue;
        ends[i].all++;
        ends[i].slow += is_slow;
        if (is_slow && (ends[i].mbps == 0 || mbps < ends[i].mbps))
            ends[i].mbps = mbps;
    }
}

/* Calls take() for each flow that has a rate. Returns how many. */
static size_t flows_each(const struct watch *watch, double *rates, double limit_mbps,
                         struct flow_end *ends, size_t end_count)
{
    size_t count = 0;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        const struct watch_sample *newest = watch_newest(node);

        for (size_t k = 0; newest && k < newest->flow_count; k++) {
            const struct watch_flow *flow = &newest->flows[k];
            double mbps = flow_mbps(node, flow);
            const struct watch_rail *rail = watch_rail_find(newest, flow->rail);

            if (isnan(mbps) || !rail)
                continue;
            if (rates)
                rates[count] = mbps;
            count++;
            end_take(ends, end_count, rail->address, mbps, mbps < limit_mbps);
            end_take(ends, end_count, flow->peer, mbps, mbps < limit_mbps);
        }
    }
    return count;
}

/* other: the end that may be the reason as well, or the path to it; NULL: there is none. */
static void end_print(struct judging *judging, const struct flow_end *end,
                      const struct flow_end *other, double median)
{
    FINDING(judging, VERDICT_WARN, FAULT_RAIL_STRAGGLES, end->node->name, end->rail,
            "%zu of %zu TCP connections by %s are slow: the least sends at %.0f Mb/s, the median "
            "of the job's at %.0f%s%s",
            end->slow, end->all, end->rail, end->mbps, median,
            other ? "; it may be the path to " : "", other ? other->node->name : "");
}

/* The rail most of whose flows are slow, in and out; or the two between which all slow ones are. */
void watch_judge_flows(struct judging *judging)
{
    const struct watch *watch = judging->watch;
    size_t count = flows_each(watch, NULL, 0, NULL, 0), end_count = 0, slow = 0;
    bool is_path;
    double *rates = calloc(count + 1, sizeof *rates), median;
    struct flow_end *ends = NULL, *worst = NULL, *next = NULL;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_sample *newest = watch_newest(&watch->nodes[i]);

        for (size_t k = 0; newest && k < newest->rail_count && GROW(ends, end_count); k++)
            ends[end_count++] = (struct flow_end){&watch->nodes[i], newest->rails[k].name, 0, 0, 0};
    }
    if (!rates || end_count == 0 || count < 4)
        goto done;
    flows_each(watch, rates, 0, NULL, 0);
    median = statistics_median(rates, count);
    flows_each(watch, NULL, WATCH_RAIL_LIMIT * median, ends, end_count);
    for (size_t i = 0; i < end_count; i++) {
        slow += ends[i].slow;
        if (!worst || ends[i].slow > worst->slow) {
            next = worst;
            worst = &ends[i];
        } else if (!next || ends[i].slow > next->slow) {
            next = &ends[i];
        }
    }
    is_path = next && next->slow == worst->slow && slow == 2 * worst->slow;
    if (worst->slow > 0 && (2 * worst->slow > worst->all || is_path))
        end_print(judging, worst, is_path ? next : NULL, median);
    if (worst->slow > 0 && is_path)
        end_print(judging, next, worst, median);
done:
    free(rates);
    free(ends);
}
