/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"

/* Nearly all of the pairs across an uplink must lack bandwidth before the uplink is accused. */
static const double uplink_share = 0.8;

/* A latency is not worth a warning while it is within this of the peers' median, whatever the
 * ratio: a scheduler's hiccup on a busy node is as long. */
static const double latency_floor_us = 100;

enum direction { SENDS, RECEIVES };
static const char *const direction_names[] = {"sends", "receives", "both ways"};

/* One end of a rail: what the node's rail could do at best in one direction. */
struct end {
    double mbps;      /* best with any partner; NAN: nothing measured */
    double peers;     /* median of the other nodes' same end; NAN: none */
    double limit;     /* the limit that it is below; NAN when it is below none */
    double reference; /* what that limit is a share of */
    const char *source;
    bool is_low, is_below_peers;
};

struct judgement {
    const struct links *links;
    const struct links_limits *limits;
    size_t nodes, rails;
    double *cells;      /* [rail][from][to] Mb/s, NAN: not measured */
    double *latencies;  /* the same, us */
    struct end *ends;   /* [rail][node][direction] */
    bool *is_fabric;    /* [rail]: slow on most nodes alike */
    bool *is_slow_path; /* [block][block]: this direction between two blocks is slow */
    size_t blocks;
    struct finding *findings;
    size_t count, size;
    bool out_of_memory;
};

static double *cell(const struct judgement *j, int rail, int from, int to)
{
    return &j->cells[((size_t)rail * j->nodes + (size_t)from) * j->nodes + (size_t)to];
}

static double *latency(const struct judgement *j, int rail, int from, int to)
{
    return &j->latencies[((size_t)rail * j->nodes + (size_t)from) * j->nodes + (size_t)to];
}

static struct end *end_of(const struct judgement *j, int rail, int node, enum direction direction)
{
    return &j->ends[((size_t)rail * j->nodes + (size_t)node) * 2 + direction];
}

/* What node sent to peer, or received from it. */
static double cell_towards(const struct judgement *j, int rail, int node, int peer,
                           enum direction direction)
{
    return direction == SENDS ? *cell(j, rail, node, peer) : *cell(j, rail, peer, node);
}

static double nominal(const struct judgement *j, int node, int rail)
{
    double mbps = j->links->nominal_mbps
                      ? j->links->nominal_mbps[(size_t)node * j->rails + (size_t)rail]
                      : NAN;

    return mbps > 0 ? mbps : NAN;
}

static int block_of(const struct judgement *j, int node)
{
    return j->links->blocks ? j->links->blocks[node] : 0;
}

static bool *slow_path(const struct judgement *j, int from_block, int to_block)
{
    return &j->is_slow_path[(size_t)from_block * j->blocks + (size_t)to_block];
}

static struct finding *add_finding(struct judgement *j, enum finding_kind kind,
                                   enum verdict verdict)
{
    struct finding *finding;

    if (j->count == j->size) {
        size_t size = 2 * j->size + 16;
        struct finding *grown = realloc(j->findings, size * sizeof *grown);

        if (!grown) {
            static struct finding scratch;

            j->out_of_memory = true;
            return &scratch;
        }
        j->findings = grown;
        j->size = size;
    }
    finding = &j->findings[j->count++];
    *finding = (struct finding){.kind = kind,
                                .verdict = verdict,
                                .node = -1,
                                .peer = -1,
                                .rail = -1,
                                .block = -1,
                                .peer_block = -1,
                                .metric = "bandwidth",
                                .direction = "",
                                .value = NAN,
                                .limit = NAN,
                                .reference = NAN,
                                .limit_source = ""};
    return finding;
}

static int fill_cells(struct judgement *j)
{
    const struct links *links = j->links;
    size_t cell_count = j->rails * j->nodes * j->nodes;

    j->cells = malloc((cell_count + 1) * sizeof *j->cells);
    j->latencies = malloc((cell_count + 1) * sizeof *j->latencies);
    j->ends = calloc(j->rails * j->nodes * 2 + 1, sizeof *j->ends);
    j->is_fabric = calloc(j->rails + 1, sizeof *j->is_fabric);
    j->blocks = 1;
    for (size_t i = 0; i < j->nodes; i++)
        if ((size_t)block_of(j, (int)i) >= j->blocks)
            j->blocks = (size_t)block_of(j, (int)i) + 1;
    j->is_slow_path = calloc(j->blocks * j->blocks, sizeof *j->is_slow_path);
    if (!j->cells || !j->latencies || !j->ends || !j->is_fabric || !j->is_slow_path)
        return -1;
    for (size_t i = 0; i < cell_count; i++)
        j->cells[i] = j->latencies[i] = NAN;
    for (size_t i = 0; i < links->sample_count; i++) {
        const struct link_sample *sample = &links->samples[i];

        if (sample->from == sample->to)
            continue;
        if (!isnan(sample->mbps))
            *cell(j, sample->rail, sample->from, sample->to) = sample->mbps;
        if (!isnan(sample->latency_us))
            *latency(j, sample->rail, sample->from, sample->to) = sample->latency_us;
    }
    return 0;
}

/* Lower than that share of the reference? The first reference that an end is lower than is the one
 * that is named. */
static bool lower_than(struct end *end, double reference, double percent, const char *source)
{
    double limit = reference * percent / 100;

    if (!(end->mbps < limit))
        return false;
    if (!end->is_low) {
        end->is_low = true;
        end->limit = limit;
        end->reference = reference;
        end->source = source;
    }
    return true;
}

/* The ends of one rail in one direction: best figure, peers' median, low or not. */
static int judge_ends(struct judgement *j, int rail, enum direction direction)
{
    double *others = malloc((j->nodes + 1) * sizeof *others);
    size_t low_by_nominal = 0, low_by_peers = 0, measured = 0;

    if (!others)
        return -1;
    for (size_t node = 0; node < j->nodes; node++) {
        struct end *end = end_of(j, rail, (int)node, direction);

        end->mbps = end->limit = end->reference = NAN;
        for (size_t peer = 0; peer < j->nodes; peer++)
            end->mbps = fmax(end->mbps, cell_towards(j, rail, (int)node, (int)peer, direction));
    }
    for (size_t node = 0; node < j->nodes; node++) {
        struct end *end = end_of(j, rail, (int)node, direction);

        for (size_t peer = 0; peer < j->nodes; peer++)
            others[peer] = peer == node ? NAN : end_of(j, rail, (int)peer, direction)->mbps;
        end->peers = statistics_median(others, j->nodes);
        if (isnan(end->mbps))
            continue;
        measured++;
        low_by_nominal +=
            lower_than(end, nominal(j, (int)node, rail), j->limits->nominal_percent, "nominal");
        end->is_below_peers = lower_than(end, end->peers, j->limits->peers_percent, "peers");
        low_by_peers += end->is_below_peers;
    }
    free(others);
    /* Most nodes low against nominal, and alike: no single node's fault. */
    if (measured > 2 && 2 * low_by_nominal > measured && 2 * low_by_peers < measured)
        j->is_fabric[rail] = true;
    return 0;
}

/* Can the path between two blocks carry what it should in this direction, on any rail? True when it
 * is the same block, or when a pair of other nodes across it reaches the limit. */
static bool path_is_proved(const struct judgement *j, int from, int to, int but_node)
{
    if (block_of(j, from) == block_of(j, to))
        return true;
    for (size_t rail = 0; rail < j->rails; rail++)
        for (size_t a = 0; a < j->nodes; a++)
            for (size_t b = 0; b < j->nodes; b++) {
                double expected = fmin(end_of(j, (int)rail, (int)a, SENDS)->peers,
                                       end_of(j, (int)rail, (int)b, RECEIVES)->peers);

                if (block_of(j, (int)a) == block_of(j, from) &&
                    block_of(j, (int)b) == block_of(j, to) && (int)a != but_node &&
                    (int)b != but_node &&
                    *cell(j, (int)rail, (int)a, (int)b) >=
                        expected * j->limits->peers_percent / 100)
                    return true;
            }
    return false;
}

/* Is the low figure of an end the node's own? Only when some partner did well with others, over a
 * path that is known to be good. */
static bool end_is_proved(const struct judgement *j, int rail, int node, enum direction direction)
{
    const struct end *end = end_of(j, rail, node, direction);

    for (int peer = 0; peer < (int)j->nodes; peer++) {
        double with_others = NAN;

        if (peer == node || isnan(cell_towards(j, rail, node, peer, direction)))
            continue;
        for (int third = 0; third < (int)j->nodes; third++)
            if (third != node)
                with_others = fmax(with_others, cell_towards(j, rail, peer, third, !direction));
        if (with_others >= end->limit && (direction == SENDS ? path_is_proved(j, node, peer, node)
                                                             : path_is_proved(j, peer, node, node)))
            return true;
    }
    return false;
}

static void describe_rail(const struct judgement *j, struct finding *finding, const struct end *end,
                          const char *direction)
{
    const char *rail = j->links->rails[finding->rail];
    const char *verb = strcmp(direction, "both ways") == 0 ? "sends and receives" : direction;

    finding->direction = direction;
    finding->value = end->mbps;
    finding->limit = end->limit;
    finding->reference = end->reference;
    finding->limit_source = end->source;
    snprintf(finding->part, sizeof finding->part, "%s", rail);
    if (finding->kind == FINDING_AMBIGUOUS)
        snprintf(finding->message, sizeof finding->message,
                 "%s %s %.0f of %.0f Mb/s (%s) at best: the node, or the path to its partners; "
                 "certify it with more partners",
                 rail, verb, end->mbps, end->reference, end->source);
    else if (end->mbps <= 0)
        snprintf(finding->message, sizeof finding->message,
                 "%s has no connection with any partner; check cable, switch port and address",
                 rail);
    else if (strcmp(end->source, "nominal") == 0 && !isnan(end->peers))
        snprintf(finding->message, sizeof finding->message,
                 "%s %s %.0f of %.0f Mb/s (nominal), its peers %.0f; check cable or switch port",
                 rail, verb, end->mbps, end->reference, end->peers);
    else
        snprintf(finding->message, sizeof finding->message,
                 "%s %s %.0f Mb/s, %s %.0f; check cable or switch port", rail, verb, end->mbps,
                 strcmp(end->source, "peers") == 0 ? "its peers" : "nominal", end->reference);
}

static void find_rails(struct judgement *j, int rail)
{
    for (int node = 0; node < (int)j->nodes; node++) {
        const struct end *sends = end_of(j, rail, node, SENDS);
        const struct end *receives = end_of(j, rail, node, RECEIVES);
        const struct end *worse;
        struct finding *finding;
        bool low[2], proved;

        if (isnan(sends->mbps) && isnan(receives->mbps)) {
            finding = add_finding(j, FINDING_MISSING, VERDICT_UNKNOWN);
            finding->node = node;
            finding->rail = rail;
            snprintf(finding->part, sizeof finding->part, "%s", j->links->rails[rail]);
            snprintf(finding->message, sizeof finding->message, "%s was not measured",
                     j->links->rails[rail]);
            continue;
        }
        /* On a rail that is slow everywhere only those that are worse than their peers count. */
        low[SENDS] = j->is_fabric[rail] ? sends->is_below_peers : sends->is_low;
        low[RECEIVES] = j->is_fabric[rail] ? receives->is_below_peers : receives->is_low;
        if (!low[SENDS] && !low[RECEIVES])
            continue;
        proved = (low[SENDS] && end_is_proved(j, rail, node, SENDS)) ||
                 (low[RECEIVES] && end_is_proved(j, rail, node, RECEIVES));
        worse = low[SENDS] && (!low[RECEIVES] || sends->mbps <= receives->mbps) ? sends : receives;
        finding = add_finding(j, proved ? FINDING_RAIL : FINDING_AMBIGUOUS,
                              proved ? VERDICT_FAIL : VERDICT_UNKNOWN);
        finding->node = node;
        finding->rail = rail;
        describe_rail(j, finding, worse,
                      direction_names[low[SENDS] && low[RECEIVES] ? 2
                                      : low[SENDS]                ? SENDS
                                                                  : RECEIVES]);
    }
}

static void find_fabric(struct judgement *j, int rail)
{
    double *figures = malloc((2 * j->nodes + 1) * sizeof *figures);
    struct finding *finding;

    if (!figures) {
        j->out_of_memory = true;
        return;
    }
    finding = add_finding(j, FINDING_FABRIC, VERDICT_FAIL);
    for (size_t i = 0; i < 2 * j->nodes; i++)
        figures[i] = end_of(j, rail, (int)(i / 2), i % 2)->mbps;
    finding->rail = rail;
    finding->direction = direction_names[2];
    finding->value = statistics_median(figures, 2 * j->nodes);
    finding->reference = nominal(j, 0, rail);
    finding->limit = finding->reference * j->limits->nominal_percent / 100;
    finding->limit_source = "nominal";
    snprintf(finding->part, sizeof finding->part, "all %s", j->links->rails[rail]);
    snprintf(finding->message, sizeof finding->message,
             "%s runs at %.0f of %.0f Mb/s (nominal) on most nodes alike: the fabric, or the "
             "NominalSpeed of the configuration",
             j->links->rails[rail], finding->value, finding->reference);
    free(figures);
}

/* What a pair should reach: the worse of its two ends, which are not low themselves. NAN when an
 * end is low (that explains the pair) or not known. */
static double expected_of(const struct judgement *j, int rail, int from, int to)
{
    const struct end *sends = end_of(j, rail, from, SENDS);
    const struct end *receives = end_of(j, rail, to, RECEIVES);

    if ((sends->is_low || receives->is_low) && !j->is_fabric[rail])
        return NAN;
    return fmin(sends->mbps, receives->mbps);
}

static bool pair_is_low(const struct judgement *j, int rail, int from, int to)
{
    double mbps = *cell(j, rail, from, to);

    return mbps < expected_of(j, rail, from, to) * j->limits->peers_percent / 100;
}

/* Marks the directions between blocks in which nearly all pairs are low. */
static void mark_slow_paths(struct judgement *j)
{
    for (int a = 0; a < (int)j->blocks; a++)
        for (int b = 0; b < (int)j->blocks; b++) {
            size_t low = 0, all = 0;

            if (a == b)
                continue;
            for (int rail = 0; rail < (int)j->rails; rail++)
                for (int from = 0; from < (int)j->nodes; from++)
                    for (int to = 0; block_of(j, from) == a && to < (int)j->nodes; to++) {
                        if (block_of(j, to) != b || isnan(*cell(j, rail, from, to)) ||
                            isnan(expected_of(j, rail, from, to)))
                            continue;
                        all++;
                        low += pair_is_low(j, rail, from, to);
                    }
            *slow_path(j, a, b) = all >= 2 && (double)low >= uplink_share * (double)all;
        }
}

/* Median figure and expectation of the pairs from one block to another (-1: any other). */
static void describe_uplink(struct judgement *j, struct finding *finding, int a, int b)
{
    size_t most = j->rails * j->nodes * j->nodes, count = 0;
    double *figures = malloc((most + 1) * sizeof *figures);
    double *expected = malloc((most + 1) * sizeof *expected);
    const char *const *names = j->links->block_names;

    if (figures && expected) {
        for (int rail = 0; rail < (int)j->rails; rail++)
            for (int from = 0; from < (int)j->nodes; from++)
                for (int to = 0; to < (int)j->nodes; to++) {
                    int out = block_of(j, from), in = block_of(j, to);
                    bool across = b < 0 ? (out == a) != (in == a)
                                        : (out == a && in == b) || (out == b && in == a);

                    if (!across || !pair_is_low(j, rail, from, to))
                        continue;
                    figures[count] = *cell(j, rail, from, to);
                    expected[count++] = expected_of(j, rail, from, to);
                }
        finding->value = statistics_median(figures, count);
        finding->reference = statistics_median(expected, count);
        finding->limit = finding->reference * j->limits->peers_percent / 100;
    } else {
        j->out_of_memory = true;
    }
    free(figures);
    free(expected);
    finding->block = a;
    finding->peer_block = b;
    finding->limit_source = "peers";
    if (b < 0)
        snprintf(finding->part, sizeof finding->part, "uplink %s", names[a]);
    else
        snprintf(finding->part, sizeof finding->part, "uplink %s-%s", names[a], names[b]);
    snprintf(finding->message, sizeof finding->message,
             "%s carries %.0f of %.0f Mb/s a pair %s; inside the leaves all is well", finding->part,
             finding->value, finding->reference, finding->direction);
}

/* An uplink of one block when all its paths are slow and there are several; else each path. */
static void find_uplinks(struct judgement *j)
{
    bool *is_merged = calloc(j->blocks, sizeof *is_merged);

    if (!is_merged) {
        j->out_of_memory = true;
        return;
    }
    for (int a = 0; a < (int)j->blocks && j->blocks > 2; a++) {
        size_t slow = 0;

        for (int b = 0; b < (int)j->blocks; b++)
            slow += *slow_path(j, a, b) || *slow_path(j, b, a);
        is_merged[a] = slow == j->blocks - 1;
    }
    for (int a = 0; a < (int)j->blocks; a++) {
        if (is_merged[a]) {
            struct finding *finding = add_finding(j, FINDING_UPLINK, VERDICT_FAIL);

            finding->direction = direction_names[2];
            describe_uplink(j, finding, a, -1);
        }
        for (int b = a + 1; b < (int)j->blocks; b++) {
            struct finding *finding;

            if ((!*slow_path(j, a, b) && !*slow_path(j, b, a)) || is_merged[a] || is_merged[b])
                continue;
            finding = add_finding(j, FINDING_UPLINK, VERDICT_FAIL);
            finding->direction = *slow_path(j, a, b) && *slow_path(j, b, a) ? direction_names[2]
                                 : *slow_path(j, a, b)                      ? "forth"
                                                                            : "back";
            describe_uplink(j, finding, a, b);
        }
    }
    free(is_merged);
}

static void find_pairs(struct judgement *j, int rail)
{
    for (int a = 0; a < (int)j->nodes; a++)
        for (int b = a + 1; b < (int)j->nodes; b++) {
            bool forth = pair_is_low(j, rail, a, b), back = pair_is_low(j, rail, b, a);
            const struct links *links = j->links;
            struct finding *finding;
            int from, to;

            forth = forth && !*slow_path(j, block_of(j, a), block_of(j, b));
            back = back && !*slow_path(j, block_of(j, b), block_of(j, a));
            if (!forth && !back)
                continue;
            from = !forth || (back && *cell(j, rail, b, a) < *cell(j, rail, a, b)) ? b : a;
            to = from == a ? b : a;
            finding = add_finding(j, FINDING_PAIR, VERDICT_FAIL);
            finding->node = from;
            finding->peer = to;
            finding->rail = rail;
            finding->direction = direction_names[forth && back ? 2 : SENDS];
            finding->value = *cell(j, rail, from, to);
            finding->reference = expected_of(j, rail, from, to);
            finding->limit = finding->reference * j->limits->peers_percent / 100;
            finding->limit_source = "peers";
            snprintf(finding->part, sizeof finding->part, "path %s-%s %s", links->nodes[a],
                     links->nodes[b], links->rails[rail]);
            snprintf(finding->message, sizeof finding->message,
                     "%s carries %.0f of %.0f Mb/s%s; with other partners both ends do well",
                     finding->part, finding->value, finding->reference,
                     forth && back ? ""
                     : from == a   ? " from the first to the second"
                                   : " from the second to the first");
        }
}

static void find_latencies(struct judgement *j, int rail)
{
    double *best = malloc((j->nodes + 1) * sizeof *best);
    double median;

    if (!best) {
        j->out_of_memory = true;
        return;
    }
    for (int node = 0; node < (int)j->nodes; node++) {
        best[node] = NAN;
        for (int peer = 0; peer < (int)j->nodes; peer++)
            best[node] = fmin(best[node],
                              fmin(*latency(j, rail, node, peer), *latency(j, rail, peer, node)));
    }
    median = statistics_median(best, j->nodes);
    for (int node = 0; node < (int)j->nodes && j->nodes > 2; node++) {
        struct finding *finding;

        if (!(best[node] > median * j->limits->latency_peers_ratio) ||
            best[node] < median + latency_floor_us)
            continue;
        finding = add_finding(j, FINDING_RAIL, VERDICT_WARN);
        finding->metric = "latency";
        finding->node = node;
        finding->rail = rail;
        finding->value = best[node];
        finding->reference = median;
        finding->limit = median * j->limits->latency_peers_ratio;
        finding->limit_source = "peers";
        snprintf(finding->part, sizeof finding->part, "%s", j->links->rails[rail]);
        snprintf(finding->message, sizeof finding->message,
                 "%s answers in %.0f us at best, the median of its peers is %.0f us",
                 j->links->rails[rail], best[node], median);
    }
    free(best);
}

static int worst_first(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;

    if (a->verdict != b->verdict)
        return (int)b->verdict - (int)a->verdict;
    if (a->kind != b->kind)
        return (int)a->kind - (int)b->kind;
    if (a->node != b->node)
        return a->node - b->node;
    return a->rail - b->rail;
}

int links_judge(const struct links *links, const struct links_limits *limits,
                struct finding **findings)
{
    struct judgement j = {
        .links = links, .limits = limits, .nodes = links->node_count, .rails = links->rail_count};

    j.out_of_memory = fill_cells(&j) != 0;
    for (int rail = 0; rail < (int)j.rails && !j.out_of_memory; rail++)
        j.out_of_memory = judge_ends(&j, rail, SENDS) != 0 || judge_ends(&j, rail, RECEIVES) != 0;
    if (!j.out_of_memory) {
        mark_slow_paths(&j);
        for (int rail = 0; rail < (int)j.rails; rail++) {
            if (j.is_fabric[rail])
                find_fabric(&j, rail);
            find_rails(&j, rail);
            find_pairs(&j, rail);
            find_latencies(&j, rail);
        }
        find_uplinks(&j);
    }
    free(j.cells);
    free(j.latencies);
    free(j.ends);
    free(j.is_fabric);
    free(j.is_slow_path);
    if (j.out_of_memory) {
        free(j.findings);
        *findings = NULL;
        return -1;
    }
    if (j.count > 0)
        qsort(j.findings, j.count, sizeof *j.findings, worst_first);
    *findings = j.findings;
    return (int)j.count;
}

double links_figure(const struct links *links, int node, int rail)
{
    double best[2] = {NAN, NAN};

    for (size_t i = 0; i < links->sample_count; i++) {
        const struct link_sample *sample = &links->samples[i];

        if (sample->rail != rail || sample->from == sample->to)
            continue;
        if (sample->from == node)
            best[SENDS] = fmax(best[SENDS], sample->mbps);
        if (sample->to == node)
            best[RECEIVES] = fmax(best[RECEIVES], sample->mbps);
    }
    return fmin(best[SENDS], best[RECEIVES]);
}

static void add_pair(struct link_pair *pairs, size_t *count, size_t most, int from, int to)
{
    for (size_t i = 0; i < *count; i++)
        if ((pairs[i].from == from && pairs[i].to == to) ||
            (pairs[i].from == to && pairs[i].to == from))
            return;
    if (*count < most)
        pairs[(*count)++] = (struct link_pair){from, to};
}

static bool is_suspect(const struct finding *findings, size_t count, int node)
{
    for (size_t i = 0; i < count; i++)
        if (findings[i].verdict >= VERDICT_UNKNOWN && findings[i].kind != FINDING_PAIR &&
            findings[i].node == node)
            return true;
    return false;
}

/* Two partners that nobody suspects: the next one, and the one half the list away. */
static void add_partners(const struct links *links, const struct finding *findings,
                         size_t finding_count, int node, struct link_pair *pairs, size_t *count,
                         size_t most)
{
    int nodes = (int)links->node_count, first = -1;

    for (int step = 1; step < nodes && first < 0; step++)
        if (!is_suspect(findings, finding_count, (node + step) % nodes))
            first = (node + step) % nodes;
    if (first < 0)
        return;
    add_pair(pairs, count, most, node, first);
    for (int step = 0; step < nodes; step++) {
        int second = (node + nodes / 2 + step) % nodes;

        if (second != node && second != first && !is_suspect(findings, finding_count, second)) {
            add_pair(pairs, count, most, node, second);
            return;
        }
    }
}

size_t links_suspect_pairs(const struct links *links, const struct finding *findings,
                           size_t finding_count, struct link_pair *pairs, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < finding_count; i++) {
        const struct finding *finding = &findings[i];

        if (finding->kind == FINDING_PAIR) {
            add_pair(pairs, &count, most, finding->node, finding->peer);
        } else if (finding->kind == FINDING_UPLINK) {
            size_t across = 0;

            for (int a = 0; a < (int)links->node_count && across < 2; a++)
                for (int b = 0; b < (int)links->node_count && across < 2; b++)
                    if (links->blocks[a] == finding->block &&
                        (finding->peer_block < 0 ? links->blocks[b] != finding->block
                                                 : links->blocks[b] == finding->peer_block)) {
                        add_pair(pairs, &count, most, a, b);
                        across++;
                        break;
                    }
        } else if (finding->node >= 0) {
            add_partners(links, findings, finding_count, finding->node, pairs, &count, most);
        }
    }
    return count;
}
