/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/judge_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/name_index.h"
#include "lib/base/statistics.h"

/* ---------------------------------------------------------------- rails */

/* Returns the rail's traffic divided by the median of the node's other rails; NAN with too little
 * traffic. */
static double rail_share(const struct watch_node *node, const struct watch_rail *rail)
{
    const struct watch_sample *newest = watch_newest(node);
    double *others = calloc(newest->rail_count + 1, sizeof *others), median;
    size_t count = 0;

    for (size_t i = 0; others && i < newest->rail_count; i++)
        if (&newest->rails[i] != rail && !newest->rails[i].is_partial)
            others[count++] = watch_rail_mbps(node, &newest->rails[i]);
    median = count ? statistics_median(others, count) : NAN;
    free(others);
    return median > WATCH_QUIET_MBPS ? watch_rail_mbps(node, rail) / median : NAN;
}

/* Reports the rail of the name on the node where it carries least of what the node's other rails
 * do. */
static void share_judge(struct judging *judging, const char *name)
{
    const struct watch_node *worst = NULL, *second = NULL;
    double least = INFINITY, next = INFINITY;
    size_t good = 0; /* nodes where the rail carries as much as the others */
    bool is_either;

    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_node *node = &judging->watch->nodes[i];
        const struct watch_rail *rail = watch_rail_find(watch_newest(node), name);
        double share = rail ? rail_share(node, rail) : NAN;

        good += share > WATCH_RAIL_PEERS;
        if (share < least) {
            next = least;
            second = worst;
            least = share;
            worst = node;
        } else if (share < next) {
            next = share;
            second = node;
        }
    }
    is_either = next < 1.25 * least + 0.02;
    if (least < WATCH_RAIL_LIMIT && good >= 2)
        FINDING(judging, VERDICT_WARN, FAULT_RAIL_STRAGGLES, worst->name, name,
                "%s carries %.0f %% of what the node's other rails do, and on %zu nodes as much as "
                "those%s%s",
                name, 100 * least, good, is_either ? "; it may be the one of " : "",
                is_either ? second->name : "");
}

static void errors_judge(struct judging *judging, const struct watch_node *node)
{
    const struct watch_sample *newest = watch_newest(node), *oldest = watch_oldest(node);

    for (size_t i = 0; oldest && i < newest->rail_count; i++) {
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
    const struct watch_sample *first = watch_newest(&watch->nodes[0]);

    for (size_t i = 0; i < watch->node_count; i++)
        errors_judge(judging, &watch->nodes[i]);
    if (judging->ready < watch->node_count)
        return;
    for (size_t i = 0; first && i < first->rail_count; i++)
        share_judge(judging, first->rails[i].name);
}

/* ---------------------------------------------------------------- connections */

static bool is_same(const struct watch_flow *one, const struct watch_flow *other)
{
    return strcmp(one->rail, other->rail) == 0 && strcmp(one->peer, other->peer) == 0;
}

/* Returns the same flow in another sample, or NULL. place: its index in the first, and mostly here.
 */
static const struct watch_flow *flow_find(const struct watch_sample *sample,
                                          const struct watch_flow *like, size_t place)
{
    if (sample && place < sample->flow_count && is_same(&sample->flows[place], like))
        return &sample->flows[place];
    for (size_t i = 0; sample && i < sample->flow_count; i++)
        if (is_same(&sample->flows[i], like))
            return &sample->flows[i];
    return NULL;
}

/* Returns the second highest rate of a flow of the newest sample, over the samples of these windows
 * between which it sent; NAN: too few. Load, other traffic and short bursts lower the rate of a
 * good path; nothing raises that of a slow one for long. So a high rate is that of the path, as BBR
 * takes it (Cardwell et al., ACM Queue 14(5), 2016), and a flow is slow only if it was so each
 * time. Not the highest: acknowledgements that come together make it several times too high. Rates
 * limited by the application do not count, as there. */
static double flow_mbps(const struct watch_node *node, const struct watch_flow *flow,
                        size_t windows)
{
    double highest = 0, second = 0;
    size_t count = 0;
    const struct watch_sample *newest = watch_newest(node), *sample;
    size_t place = (size_t)(flow - newest->flows);

    for (size_t age = 0; (sample = watch_sample_at(node, age)) &&
                         (age < windows * WATCH_FLOW_WINDOW ||
                          newest->time_s - sample->time_s <= (double)windows * WATCH_FLOWS_S);
         age++) {
        const struct watch_flow *now = flow_find(sample, flow, place),
                                *before = flow_find(watch_sample_at(node, age + 1), flow, place);

        if (now && before && now->mbps > 0 && now->bytes > before->bytes + WATCH_FLOW_BYTES) {
            second = fmax(second, fmin(highest, now->mbps));
            highest = fmax(highest, now->mbps);
            count++;
        }
    }
    return count >= windows * WATCH_FLOW_SAMPLES ? second : NAN;
}

/* A rail as an end of flows. */
struct flow_end {
    const struct watch_node *node;
    const char *rail;
    bool is_shared;         /* another rail has its address: a flow to it has an unknown peer */
    size_t slow, all;       /* flows */
    size_t newly;           /* slow flows that are not known to be slow in the window before */
    double mbps;            /* of its slowest flow */
    double median;          /* what its flows are compared with; NAN: too few; 0: not set yet */
    double sends, receives; /* the slowest flow that is not low, out and in, in Mb/s; or INFINITY */
};

struct ends {
    struct flow_end *rows; /* all rails, node by node */
    const char **addresses;
    size_t count;
    struct name_index index; /* of addresses */
};

/* A flow that has a rate. */
struct rated {
    double mbps, lasting_mbps;  /* over one window and over two */
    struct flow_end *from, *to; /* to NULL: no rail, or several rails have the address */
};

/* Returns 0, or -1 if memory is out or there is no rail. */
static int ends_make(const struct watch *watch, struct ends *ends)
{
    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_sample *newest = watch_newest(&watch->nodes[i]);

        for (size_t k = 0; newest && k < newest->rail_count; k++) {
            if (!GROW(ends->rows, ends->count) || !GROW(ends->addresses, ends->count))
                return -1;
            ends->addresses[ends->count] = newest->rails[k].address;
            ends->rows[ends->count++] = (struct flow_end){.node = &watch->nodes[i],
                                                          .rail = newest->rails[k].name,
                                                          .sends = INFINITY,
                                                          .receives = INFINITY};
        }
    }
    if (ends->count == 0 || name_index_build(ends->addresses, ends->count, &ends->index) != 0)
        return -1;
    for (size_t i = 0; i < ends->count; i++) {
        long first = name_index_find(&ends->index, ends->addresses[i]);

        if (first >= 0 && (size_t)first != i)
            ends->rows[first].is_shared = true;
    }
    return 0;
}

/* Collects the flows that have a rate, of nodes whose data moves: the last rates before a pause are
 * few. Returns their number. */
static size_t flows_rate(const struct watch *watch, const struct ends *ends, struct rated **flows)
{
    size_t count = 0, own = 0; /* own: the first end of the node */

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        const struct watch_sample *newest = watch_newest(node);

        for (size_t k = 0; newest && isnan(node->quiet_since_s) && k < newest->flow_count; k++) {
            const struct watch_flow *flow = &newest->flows[k];
            double mbps = flow_mbps(node, flow, 1);
            const struct watch_rail *rail = watch_rail_find(newest, flow->rail);
            long peer = name_index_find(&ends->index, flow->peer);

            if (isnan(mbps) || !rail || !GROW(*flows, count))
                continue;
            (*flows)[count] = (struct rated){
                mbps, flow_mbps(node, flow, 2), &ends->rows[own + (size_t)(rail - newest->rails)],
                peer >= 0 && !ends->rows[peer].is_shared ? &ends->rows[peer] : NULL};
            (*flows)[count].from->all++;
            if ((*flows)[count].to)
                (*flows)[count].to->all++;
            count++;
        }
        own += newest ? newest->rail_count : 0;
    }
    return count;
}

/* Sets rates to those of the rail's flows that are not of the end; NULL: of all. Returns their
 * number. */
static size_t rates_without(const struct flow_end *end, const char *rail, const struct rated *flows,
                            size_t count, double *rates)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (strcmp(flows[i].from->rail, rail) == 0 &&
            (!end || (flows[i].from != end && flows[i].to != end)))
            rates[found++] = flows[i].mbps;
    return found;
}

/* Sets the median of each end. Rails may differ in speed by design, so each rail has its own
 * median. A rail with few flows has the median of all flows if most flows are near it. An end that
 * has a third of the rail's flows or more has the median of the rest: with its own, a slow hub of
 * the job would be compared with itself. rates: room for count. */
static void medians_find(const struct ends *ends, const struct rated *flows, size_t count,
                         double *rates)
{
    size_t near = 0;
    double all;

    for (size_t i = 0; i < count; i++)
        rates[i] = flows[i].mbps;
    all = count < 4 ? NAN : statistics_median(rates, count);
    for (size_t i = 0; i < count; i++)
        near += flows[i].mbps >= WATCH_RAIL_LIMIT * all && flows[i].mbps * WATCH_RAIL_LIMIT <= all;
    if (4 * near < 3 * count)
        all = NAN;
    for (size_t i = 0; i < ends->count; i++) {
        const char *rail = ends->rows[i].rail;
        size_t alike, rest;
        double median;

        if (ends->rows[i].median != 0)
            continue;
        alike = rates_without(NULL, rail, flows, count, rates);
        median = alike < 4 ? all : statistics_median(rates, alike);
        for (size_t k = i; k < ends->count; k++) {
            struct flow_end *end = &ends->rows[k];

            if (strcmp(end->rail, rail) != 0)
                continue;
            end->median = median;
            if (alike >= 4 && 3 * end->all >= alike &&
                (rest = rates_without(end, rail, flows, count, rates)) >= 2)
                end->median = statistics_median(rates, rest);
        }
    }
}

static bool is_low(const struct rated *flow, double median)
{
    return flow->mbps < WATCH_RAIL_LIMIT * median;
}

/* Whether the flow is low for either end. */
static bool is_low_for_one(const struct rated *flow)
{
    return is_low(flow, flow->from->median) || (flow->to && is_low(flow, flow->to->median));
}

static void end_take(struct flow_end *end, const struct rated *flow)
{
    double others = fmin(flow->from->sends, flow->to ? flow->to->receives : INFINITY);

    /* not by sharing a rail: that would slow the others there, too */
    if (!is_low(flow, end->median) || !is_low(flow, others))
        return;
    end->mbps = end->slow++ == 0 ? flow->mbps : fmin(end->mbps, flow->mbps);
    end->newly += !(flow->lasting_mbps < WATCH_RAIL_LIMIT * end->median);
}

/* other: the other end, if it or the path to it may be the cause as well; else NULL. */
static void end_print(struct judging *judging, const struct flow_end *end,
                      const struct flow_end *other)
{
    const struct watch *watch = judging->watch;
    bool is_busy = watch_is_busy(watch, end->node) || (other && watch_is_busy(watch, other->node));

    FINDING(judging, is_busy ? VERDICT_UNKNOWN : VERDICT_WARN, FAULT_RAIL_STRAGGLES,
            end->node->name, end->rail,
            "%zu of %zu TCP connections by %s are slow: the least sends at %.0f Mb/s, the median "
            "of others by that rail at %.0f%s%s%s",
            end->slow, end->all, end->rail, end->mbps, end->median,
            other ? "; it may be the path to " : "", other ? other->node->name : "",
            is_busy ? "; but ranks wait for processors: the machine is busy" : "");
}

/* Reports the rail most of whose flows, in and out, are slow; or the two rails between which all
 * slow flows are, once these were slow for so long that the others of either rail would be, too. */
void watch_judge_flows(struct judging *judging)
{
    const struct watch *watch = judging->watch;
    size_t count = 0, slow = 0;
    bool is_path;
    double *rates = NULL;
    struct rated *flows = NULL;
    struct ends ends = {0};
    struct flow_end *worst = NULL, *next = NULL;

    if (ends_make(watch, &ends) != 0 || (count = flows_rate(watch, &ends, &flows)) == 0 ||
        !(rates = calloc(count, sizeof *rates)))
        goto done;
    medians_find(&ends, flows, count, rates);
    for (size_t i = 0; i < count; i++) {
        if (is_low_for_one(&flows[i]))
            continue;
        flows[i].from->sends = fmin(flows[i].from->sends, flows[i].mbps);
        if (flows[i].to)
            flows[i].to->receives = fmin(flows[i].to->receives, flows[i].mbps);
    }
    for (size_t i = 0; i < count; i++) {
        end_take(flows[i].from, &flows[i]);
        if (flows[i].to)
            end_take(flows[i].to, &flows[i]);
    }
    for (size_t i = 0; i < ends.count; i++) {
        struct flow_end *end = &ends.rows[i];

        slow += end->slow;
        if (!worst || end->slow > worst->slow) {
            next = worst;
            worst = end;
        } else if (!next || end->slow > next->slow) {
            next = end;
        }
    }
    is_path = next && next->slow == worst->slow && slow == 2 * worst->slow;
    if (worst->slow > 0 &&
        (is_path ? worst->newly + next->newly == 0 : 2 * worst->slow > worst->all)) {
        end_print(judging, worst, is_path ? next : NULL);
        if (is_path)
            end_print(judging, next, worst);
    }
done:
    free(rates);
    free(flows);
    free(ends.rows);
    free(ends.addresses);
    name_index_clear(&ends.index);
}
