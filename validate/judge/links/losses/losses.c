/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/losses/losses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct loss_limit limits[] = {
    [LOSS_SHARE] = {1e-3, "of the segments",
                    "Guo et al., Pingmesh, SIGCOMM 2015: 1e-5 to 1e-4 is normal, 1e-3 an incident; "
                    "the lab, shaped and busy: none of 53000"},
    [LOSS_PATH_LEAST] = {10, "segments", "fewer of one path may be one burst of other traffic"},
    [LOSS_PAIR_LEAST] = {2, "segments", "one alone is chance"},
    [LOSS_FAST_SHARE] = {0.8, "of the median bandwidth",
                         "a stream that a slower hop holds back fills its queue"},
};

/* So many partners that lose are needed for one that does not. */
enum { LOSING_FOR_ONE = 20, PARTNERS_LEAST = 2 };

const struct loss_limit *losses_limit(enum loss_limit_name name)
{
    return &limits[name];
}

bool losses_is_congested(double mbps, double median_mbps)
{
    return !(mbps >= limits[LOSS_FAST_SHARE].value * median_mbps);
}

/* One way of a node's rail. */
struct way {
    double sent, lost, damaged;
    int losing, clean; /* partners */
};

/* [0]: what it sends; [1]: what it receives. */
struct end {
    struct way ways[2];
};

static bool is_losing(double sent, double lost)
{
    return lost >= limits[LOSS_PAIR_LEAST].value && lost > limits[LOSS_SHARE].value * sent;
}

/* Whether so few are hardly chance where `expected` would have been lost: less than 1 of 100 times
 * (Poisson). */
static bool is_clean(double expected, double lost)
{
    double term = exp(-expected), sum = term;

    for (int k = 1; k <= (int)lost; k++) {
        term *= expected / k;
        sum += term;
    }
    return sum < 0.01;
}

static int by_pair(const void *left, const void *right)
{
    const struct loss_sample *a = left, *b = right;

    return a->rail != b->rail   ? (a->rail > b->rail) - (a->rail < b->rail)
           : a->from != b->from ? (a->from > b->from) - (a->from < b->from)
                                : (a->to > b->to) - (a->to < b->to);
}

/* Adds the samples of each pair up; returns how many there are. */
static size_t pool(struct loss_sample *pairs, size_t count)
{
    size_t left = 0;

    qsort(pairs, count, sizeof *pairs, by_pair);
    for (size_t i = 0; i < count; i++) {
        if (left > 0 && by_pair(&pairs[left - 1], &pairs[i]) == 0) {
            pairs[left - 1].sent += pairs[i].sent;
            pairs[left - 1].lost += pairs[i].lost;
            pairs[left - 1].damaged += pairs[i].damaged;
        } else {
            pairs[left++] = pairs[i];
        }
    }
    return left;
}

static struct way *way_of(struct end *ends, int nodes, const struct loss_sample *pair, int way)
{
    return &ends[(size_t)pair->rail * (size_t)nodes + (size_t)(way ? pair->to : pair->from)]
                .ways[way];
}

/* Sums of what loses first: by them it is known how much a good pair would have lost. */
static void ends_fill(struct end *ends, int nodes, const struct loss_sample *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int way = 0; way < 2 && is_losing(pairs[i].sent, pairs[i].lost); way++) {
            struct way *of = way_of(ends, nodes, &pairs[i], way);

            of->sent += pairs[i].sent;
            of->lost += pairs[i].lost;
            of->damaged += pairs[i].damaged;
            of->losing++;
        }
    for (size_t i = 0; i < count; i++)
        for (int way = 0; way < 2 && !is_losing(pairs[i].sent, pairs[i].lost); way++) {
            struct way *of = way_of(ends, nodes, &pairs[i], way);

            if (of->losing > 0 && is_clean(pairs[i].sent * of->lost / of->sent, pairs[i].lost))
                of->clean++;
        }
}

static bool is_suspect(const struct end *end, int losing)
{
    for (int way = 0; way < 2; way++)
        if (end->ways[way].losing >= losing &&
            end->ways[way].clean * LOSING_FOR_ONE <= end->ways[way].losing)
            return true;
    return false;
}

static void take(struct loss_finding *finding, enum loss_kind kind, int rail, int node,
                 const struct end *end, int losing)
{
    double damaged = 0;

    *finding = (struct loss_finding){.kind = kind, .node = node, .peer = -1, .rail = rail};
    for (int way = 0; way < 2; way++) {
        const struct way *of = &end->ways[way];

        if (of->losing < losing || of->clean * LOSING_FOR_ONE > of->losing)
            continue;
        *(way ? &finding->receives : &finding->sends) = true;
        finding->sent += of->sent;
        finding->lost += of->lost;
        damaged += of->damaged;
    }
    finding->is_damage = damaged >= finding->lost / 2;
}

/* The suspects of one rail; returns how many findings. is_told: of nodes, that their losses are
 * explained. */
static size_t rail_judge(const struct end *ends, int nodes, int rail, const bool *is_measured,
                         bool *is_told, struct loss_finding *findings)
{
    size_t count = 0;
    int measured = 0, suspects = 0;

    for (int node = 0; node < nodes; node++) {
        measured += is_measured[node];
        suspects += is_suspect(&ends[node], PARTNERS_LEAST);
    }
    if (suspects > 1 && 2 * suspects > measured) {
        findings[0] =
            (struct loss_finding){.kind = LOSS_MANY, .node = -1, .peer = -1, .rail = rail};
        for (int node = 0; node < nodes; node++) {
            findings[0].sent += ends[node].ways[0].sent;
            findings[0].lost += ends[node].ways[0].lost;
            is_told[node] = true;
        }
        return 1;
    }
    for (int node = 0; node < nodes; node++)
        if (is_suspect(&ends[node], PARTNERS_LEAST)) {
            take(&findings[count++], LOSS_RAIL, rail, node, &ends[node], PARTNERS_LEAST);
            is_told[node] = true;
        }
    return count;
}

/* A pair that neither end explains. */
static size_t pair_judge(const struct end *ends, const struct loss_sample *pair, bool *is_told,
                         struct loss_finding *findings)
{
    const struct end *from = &ends[pair->from], *to = &ends[pair->to];
    size_t count = 0;

    if (!is_losing(pair->sent, pair->lost) || pair->lost < limits[LOSS_PATH_LEAST].value)
        return 0;
    /* with no other partner it could be either end */
    if (from->ways[0].clean == 0 && from->ways[0].losing == 1 && to->ways[1].clean == 0 &&
        to->ways[1].losing == 1) {
        if (!is_told[pair->from])
            take(&findings[count++], LOSS_EITHER, pair->rail, pair->from, from, 1);
        if (!is_told[pair->to])
            take(&findings[count++], LOSS_EITHER, pair->rail, pair->to, to, 1);
        is_told[pair->from] = is_told[pair->to] = true;
        return count;
    }
    findings[0] = (struct loss_finding){.kind = LOSS_PATH,
                                        .node = pair->from,
                                        .peer = pair->to,
                                        .rail = pair->rail,
                                        .is_damage = pair->damaged >= pair->lost / 2,
                                        .sent = pair->sent,
                                        .lost = pair->lost};
    return 1;
}

int losses_judge(const struct loss_sample *samples, size_t count, int nodes, int rails,
                 struct loss_finding **findings, size_t *found)
{
    size_t each = (size_t)nodes;
    struct loss_sample *pairs = calloc(count + 1, sizeof *pairs);
    struct end *ends = calloc(each * (size_t)rails + 1, sizeof *ends);
    bool *is_told = calloc(each * (size_t)rails + 1, sizeof *is_told);
    bool *is_measured = calloc(each * (size_t)rails + 1, sizeof *is_measured);
    size_t most = each * (size_t)rails + 2 * count + 1;
    int rv = -1;

    *found = 0;
    *findings = calloc(most, sizeof **findings);
    if (pairs && ends && is_told && is_measured && *findings) {
        if (count > 0)
            memcpy(pairs, samples, count * sizeof *pairs);
        count = pool(pairs, count);
        ends_fill(ends, nodes, pairs, count);
        for (size_t i = 0; i < count; i++)
            is_measured[(size_t)pairs[i].rail * each + (size_t)pairs[i].from] = true;
        for (int rail = 0; rail < rails; rail++)
            *found += rail_judge(ends + (size_t)rail * each, nodes, rail,
                                 is_measured + (size_t)rail * each, is_told + (size_t)rail * each,
                                 *findings + *found);
        for (size_t i = 0; i < count; i++) {
            bool *told = is_told + (size_t)pairs[i].rail * each;

            if (!told[pairs[i].from] && !told[pairs[i].to])
                *found += pair_judge(ends + (size_t)pairs[i].rail * each, &pairs[i], told,
                                     *findings + *found);
        }
        rv = 0;
    }
    if (rv != 0) {
        free(*findings);
        *findings = NULL;
    }
    free(pairs);
    free(ends);
    free(is_told);
    free(is_measured);
    return rv;
}
