/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/court/court.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* The samples of all rails together by sender and rail: first[end] to first[end + 1] of order. */
struct rows {
    size_t *first, *order;
};

static int rows_make(const struct links *links, struct rows *rows)
{
    size_t ends = links->node_count * links->rail_count;

    rows->first = calloc(ends + 2, sizeof *rows->first);
    rows->order = malloc((links->together_count + 1) * sizeof *rows->order);
    if (!rows->first || !rows->order)
        return -1;
    for (size_t i = 0; i < links->together_count; i++)
        rows->first[(size_t)links->together[i].from * links->rail_count +
                    (size_t)links->together[i].rail + 2]++;
    for (size_t end = 0; end < ends; end++)
        rows->first[end + 2] += rows->first[end + 1];
    for (size_t i = 0; i < links->together_count; i++)
        rows->order[rows->first[(size_t)links->together[i].from * links->rail_count +
                                (size_t)links->together[i].rail + 1]++] = i;
    return 0;
}

/* Whether the pair is well alone: else it says nothing of what the hosts can do together. */
static bool is_well(const struct court *court, const struct cell *alone)
{
    return alone->y >= court->cells.typical[alone->rail] + log(court->limits.peers_percent / 100);
}

/* Whether either end's rail is known to be at fault: what comes and goes is slow together too, and
 * it is no host that makes it so. */
static bool is_known(const struct court *court, const struct link_sample *sample)
{
    for (size_t i = 0; i < court->findings.count; i++) {
        const struct finding *finding = &court->findings.items[i];

        if (finding->kind == FINDING_RAIL && finding->verdict == VERDICT_FAIL &&
            finding->rail == sample->rail &&
            (finding->node == sample->from || finding->node == sample->to))
            return true;
    }
    return false;
}

/* Whether other pairs were on the same uplink, and there is no other leaf whose paths were shared
 * alike: with all rails at once they may have met on a cable of the spine, and that is no host. */
static bool is_crowded(const struct court *court, const struct link_sample *sample)
{
    return sample->load > 1 && sample->again == 0 && court->cells.block_count < 3;
}

/* The samples of all rails together as shares of the same pair's rail alone, in percent. Returns
 * how many, or -1. */
static long make_shares(const struct court *court, struct link_sample *shares)
{
    const struct links *links = court->links;
    const struct cells *cells = &court->cells;
    const struct cell **alone = calloc(links->node_count + 1, sizeof *alone); /* by receiver */
    struct rows rows = {0};
    long made = alone && rows_make(links, &rows) == 0 ? 0 : -1;

    for (size_t end = 0; end < links->node_count * links->rail_count && made >= 0; end++) {
        if (rows.first[end] == rows.first[end + 1])
            continue;
        for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + 1]; i++)
            alone[cells->cells[i].to] = &cells->cells[i];
        for (size_t i = rows.first[end]; i < rows.first[end + 1]; i++) {
            const struct link_sample *sample = &links->together[rows.order[i]];
            const struct cell *cell = alone[sample->to];
            double percent;

            if (isnan(sample->mbps) || !cell || cell->from != sample->from ||
                cell->rail != sample->rail || !is_well(court, cell) || is_known(court, sample) ||
                is_crowded(court, sample))
                continue;
            shares[made] = *sample;
            percent = 100 / (cells_base(cells, cell) * exp(cell->y));
            shares[made].low_mbps = 0;
            shares[made].first_mbps = (float)(percent * sample->first_mbps);
            shares[made++].mbps = percent * sample->mbps;
        }
    }
    free(alone);
    free(rows.first);
    free(rows.order);
    return made;
}

static void accuse(struct court *court, const struct accused *accused)
{
    const struct links *links = court->links;
    struct finding *finding;
    double alone_mbps = 0, share = accused->value_mbps / 100;
    const char *verb = accused->kind == PART_SENDS      ? "sends"
                       : accused->kind == PART_RECEIVES ? "receives"
                                                        : "sends and receives";
    bool is_sure = accused->confidence >= court->limits.sure;

    for (int rail = 0; rail < (int)links->rail_count; rail++)
        if (accused->rail < 0 || accused->rail == rail)
            alone_mbps = fmax(alone_mbps, links_figure(links, accused->node, rail));
    finding =
        findings_add(&court->findings, FINDING_HOST, is_sure ? VERDICT_FAIL : VERDICT_UNKNOWN);
    finding->node = accused->node;
    finding->rail = accused->rail;
    finding->metric = "bandwidth_together";
    finding->direction =
        accused->kind == PART_SENDS || accused->kind == PART_RECEIVES ? verb : "both ways";
    finding->value = share * alone_mbps;
    finding->reference = accused->expected_mbps / 100 * alone_mbps;
    finding->limit = finding->reference * court->limits.peers_percent / 100;
    finding->limit_source = "peers";
    finding->confidence = accused->confidence;
    finding->share = accused->share;
    finding->again = accused->again;
    finding->sample_count = (int)(accused->all[0] + accused->all[1]);
    snprintf(finding->part, sizeof finding->part, "host%s%.80s", accused->rail >= 0 ? " " : "",
             accused->rail >= 0 ? links->rails[accused->rail] : "");
    snprintf(finding->message, sizeof finding->message,
             "%s %s %.0f Mb/s when all rails run, alone %.0f: check PCIe width, slot and NUMA "
             "placement of the NICs",
             accused->rail >= 0 ? links->rails[accused->rail] : "a rail", verb, finding->value,
             alone_mbps);
}

/* When one rail of a node runs slower together the others take what it leaves: one finding a node.
 */
static bool is_told(const struct court *court, int node)
{
    for (size_t i = 0; i < court->findings.count; i++)
        if (court->findings.items[i].kind == FINDING_HOST && court->findings.items[i].node == node)
            return true;
    return false;
}

static int by_pair(const void *left, const void *right)
{
    const struct link_sample *a = left, *b = right;

    return a->from != b->from ? a->from - b->from : a->to - b->to;
}

/* The mean of all rails of each pair and direction, as a sample of rail 0: rails that share what
 * the host has do not share it evenly, and not alike each time, while what they have together
 * stays. A pair of which a rail is missing is left out. shares: by pair afterwards. Returns how
 * many. */
static long make_means(const struct links *links, struct link_sample *shares, long count,
                       struct link_sample *means)
{
    long made = 0;

    qsort(shares, (size_t)count, sizeof *shares, by_pair);
    for (long i = 0, next; i < count; i = next) {
        struct link_sample mean = shares[i];
        int rails;

        for (next = i + 1; next < count && by_pair(&shares[i], &shares[next]) == 0; next++) {
            const struct link_sample *other = &shares[next];

            mean.mbps += other->mbps;
            mean.first_mbps += other->first_mbps;
            mean.again = mean.again < other->again ? mean.again : other->again;
            mean.stalled = fmaxf(mean.stalled, other->stalled);
        }
        rails = (int)(next - i);
        if (rails < (int)links->rail_count)
            continue;
        mean.rail = 0;
        mean.mbps /= rails;
        mean.first_mbps = mean.again > 0 ? mean.first_mbps / (float)rails : 0;
        means[made++] = mean;
    }
    return made;
}

/* Samples of a rail at one end: how many, and low ones. */
struct heard {
    long all, low;
};

/* Counts [node x rail] what the rail showed with that node at one end, and how much of it is low.
 * malloc'd; NULL: memory is out. */
static struct heard *count_low(const struct court *court, const struct link_sample *shares,
                               long count)
{
    size_t rails = court->links->rail_count;
    struct heard *heard = calloc(court->links->node_count * rails + 1, sizeof *heard);

    for (long i = 0; i < count && heard; i++)
        for (int k = 0; k < 2; k++) {
            size_t node = (size_t)(k ? shares[i].to : shares[i].from);
            struct heard *end = &heard[node * rails + (size_t)shares[i].rail];

            end->all++;
            end->low += shares[i].mbps < court->limits.peers_percent;
        }
    return heard;
}

/* Whether one rail alone makes the node slow, most of whose figures are low: then it is that rail
 * that is named. */
static bool is_one_rail(const struct court *court, const struct heard *heard, int node)
{
    size_t rails = court->links->rail_count;
    int low = 0;

    for (size_t end = (size_t)node * rails; end < ((size_t)node + 1) * rails; end++)
        low += 2 * heard[end].low > heard[end].all;
    return low == 1;
}

/* Accuses the nodes that samples, shares in percent of links, are low of. heard: of each rail where
 * samples are means of rails, or NULL. */
static int pursue(struct court *court, const struct links *links, const struct link_sample *samples,
                  long count, const struct heard *heard)
{
    struct pursuit pursuit = {0};
    struct cells cells = {0};
    int rv = cells_fit(links, &court->limits, samples, (size_t)count,
                       court->cells.block_count > 1 ? court->cells.blocks : NULL, false, &cells);

    rv = rv == 0 ? pursuit_hold(&cells, PART_SENDS, PART_LEAF_ALL, &pursuit) : rv;
    /* slow uplinks are the first pass' business: there is more on them here by design */
    for (size_t i = 0; i < pursuit.count && rv == 0; i++) {
        struct accused *accused = &pursuit.accused[i];

        if (accused->kind > PART_NODE || accused->is_partial || is_told(court, accused->node) ||
            (heard && is_one_rail(court, heard, accused->node)))
            continue;
        if (heard)
            accused->rail = -1;
        accuse(court, accused);
    }
    pursuit_clear(&pursuit);
    cells_clear(&cells);
    return rv;
}

/* What has an end that was told of says nothing of the others. Returns how many are left. */
static long drop_told(const struct court *court, struct link_sample *shares, long count)
{
    long left = 0;

    for (long i = 0; i < count; i++)
        if (!is_told(court, shares[i].from) && !is_told(court, shares[i].to))
            shares[left++] = shares[i];
    return left;
}

int court_together(struct court *court)
{
    struct link_sample *shares, *means;
    struct links links = *court->links, whole;
    long count = -1, mean_count;
    struct heard *heard = NULL;
    int rv = -1;

    if (links.together_count == 0 || links.rail_count < 2)
        return 0;
    shares = malloc((links.together_count + 1) * sizeof *shares);
    means = malloc((links.together_count + 1) * sizeof *means);
    if (shares && means)
        count = make_shares(court, shares);
    links.nominal_mbps = NULL;
    whole = links;
    whole.rail_count = 1;
    if (count >= 0) {
        mean_count = make_means(&links, shares, count, means);
        heard = count_low(court, shares, count);
        rv = heard ? pursue(court, &whole, means, mean_count, heard) : -1;
    }
    if (rv == 0) {
        count = drop_told(court, shares, count);
        rv = pursue(court, &links, shares, count, NULL);
    }
    free(heard);
    free(shares);
    free(means);
    return rv;
}
