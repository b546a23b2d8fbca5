/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/links.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/constants/judge_constants.h"
#include "validate/judge/links/cells/blocks.h"
#include "validate/judge/links/pursuit/candidates.h"
#include "validate/judge/links/court/court.h"

/* "n[1-4]" for each block that was found. */
static int name_blocks(struct court *court, const int *blocks, int count)
{
    struct findings *findings = &court->findings;
    const struct links *links = court->links;

    findings->block_parts = calloc((size_t)count + 1, sizeof *findings->block_parts);
    if (!findings->block_parts)
        return -1;
    findings->block_part_count = (size_t)count;
    for (int block = 0; block < count; block++) {
        struct hostlist names = {0};
        int rv = 0;

        for (size_t node = 0; node < links->node_count && rv == 0; node++)
            if (blocks[node] == block)
                rv = hostlist_append(&names, links->nodes[node]);
        findings->block_parts[block] = rv == 0 ? hostlist_fold(&names) : NULL;
        hostlist_clear(&names);
        if (!findings->block_parts[block])
            return -1;
    }
    return 0;
}

static void accuse_misplaced(struct court *court, const struct misplaced *misplaced, int stated)
{
    struct finding *finding = findings_add(&court->findings, FINDING_MISPLACED,
                                           misplaced->is_certain ? VERDICT_FAIL : VERDICT_WARN);

    finding->node = misplaced->node;
    finding->block = stated;
    finding->peer_block = misplaced->block;
    finding->share = misplaced->share;
    finding->sample_count = misplaced->sample_count;
    snprintf(finding->part, sizeof finding->part, "%.90s",
             findings_block(&court->findings, stated));
    snprintf(finding->message, sizeof finding->message,
             "topology.conf has it on %.60s; by %d measurements it is on %.60s",
             findings_block(&court->findings, stated), misplaced->sample_count,
             findings_block(&court->findings, misplaced->block));
}

/* Moves the nodes that are not where they are stated to be. Returns how many, or -1. */
static int correct_blocks(struct court *court, int *blocks)
{
    struct misplaced *misplaced = malloc((court->links->node_count + 1) * sizeof *misplaced);
    bool is_known;
    int count = misplaced ? blocks_check(&court->cells, misplaced, &is_known) : -1;

    for (int i = 0; i < count; i++) {
        accuse_misplaced(court, &misplaced[i], blocks[misplaced[i].node]);
        blocks[misplaced[i].node] = misplaced[i].block;
    }
    free(misplaced);
    return count;
}

static int fit(struct court *court, const int *blocks)
{
    cells_clear(&court->cells);
    if (cells_fit(court->links, &court->limits, court->samples, court->links->sample_count, blocks,
                  true, &court->cells) != 0)
        return -1;
    cells_count_alone(&court->cells);
    return 0;
}

/* Fits with the blocks that are stated, found or corrected. */
static int fit_with_blocks(struct court *court)
{
    const struct links *links = court->links;
    int *blocks = malloc((links->node_count + 1) * sizeof *blocks), count = -1, rv;

    rv = blocks ? fit(court, links->blocks) : -1;
    if (rv == 0 && !links->blocks) {
        count = blocks_find(&court->cells, blocks);
        if (count > 1)
            rv = name_blocks(court, blocks, count);
        count = count < 0 ? -1 : count > 1;
    } else if (rv == 0) {
        memcpy(blocks, links->blocks, links->node_count * sizeof *blocks);
        count = correct_blocks(court, blocks);
    }
    if (rv == 0 && count > 0)
        rv = fit(court, blocks);
    free(blocks);
    return count < 0 ? -1 : rv;
}

bool links_show_blocks(const struct links *links, const struct links_limits *limits)
{
    struct misplaced *misplaced = malloc((links->node_count + 1) * sizeof *misplaced);
    struct cells cells = {0};
    bool is_known = false;

    if (misplaced && links->blocks && links->sample_count > 0 &&
        cells_fit(links, limits, links->samples, links->sample_count, links->blocks, true,
                  &cells) == 0)
        blocks_check(&cells, misplaced, &is_known);
    cells_clear(&cells);
    free(misplaced);
    return is_known;
}

static void find_fabric(struct court *court, int rail)
{
    const struct links *links = court->links;
    const struct cells *cells = &court->cells;
    double base = links->nominal_mbps[rail];
    struct finding *finding = findings_add(&court->findings, FINDING_FABRIC, VERDICT_FAIL);

    for (size_t node = 1; node < links->node_count && !(base > 0); node++)
        base = links->nominal_mbps[node * links->rail_count + (size_t)rail];
    finding->rail = rail;
    finding->direction = "both ways";
    finding->reference = base;
    finding->value = base * exp(cells->typical[rail]);
    finding->limit = base * court->limits.nominal_percent / 100;
    finding->limit_source = "nominal";
    snprintf(finding->part, sizeof finding->part, "all %.80s", links->rails[rail]);
    snprintf(finding->message, sizeof finding->message,
             "%s runs at %.0f of %.0f Mb/s (nominal) on most nodes alike: the fabric, or the "
             "NominalSpeed of the configuration",
             links->rails[rail], finding->value, finding->reference);
}

static void find_uplinks(struct court *court, int rail)
{
    const struct cells *cells = &court->cells;
    struct finding *finding = findings_add(&court->findings, FINDING_FABRIC, VERDICT_WARN);
    double percent = 100 * exp(cells->across[rail] - cells->typical[rail]);

    finding->rail = rail;
    finding->direction = "both ways";
    snprintf(finding->part, sizeof finding->part, "all uplinks %.80s", court->links->rails[rail]);
    snprintf(finding->message, sizeof finding->message,
             "a pair across any uplink of %s has %.0f %% of what a pair inside a leaf has, on all "
             "leaves alike: the spine, its routing, or as it was built",
             court->links->rails[rail], percent);
}

static void count_good(struct court *court)
{
    const struct cells *cells = &court->cells;

    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];
        size_t rail = (size_t)cell->rail;

        if (cell->y < cell->first_limit)
            continue;
        court->good[0][(size_t)cell->from * cells->rails + rail]++;
        court->good[1][(size_t)cell->to * cells->rails + rail]++;
    }
}

static enum finding_kind kind_of(enum part_kind kind)
{
    if (kind <= PART_RAIL)
        return FINDING_RAIL;
    if (kind == PART_NODE)
        return FINDING_NODE;
    return kind >= PART_LEAF ? FINDING_LEAF : FINDING_UPLINK;
}

static void mark_accused(struct court *court, int node, int rail)
{
    for (size_t k = 0; k < court->links->rail_count; k++)
        if (rail < 0 || (int)k == rail)
            court->is_accused[(size_t)node * court->links->rail_count + k] = true;
}

/* Whether something was said of the rail already, of any of the node's when rail is -1. */
static bool is_accused(const struct court *court, int node, int rail)
{
    bool is_any = false;

    for (size_t k = 0; k < court->links->rail_count && !is_any; k++)
        is_any = (rail < 0 || (int)k == rail) &&
                 court->is_accused[(size_t)node * court->links->rail_count + k];
    return is_any;
}

/* Whether what is low at times, and not sure, is to be asked about. Of the paths across some meet
 * on a good cable in any case. */
static bool is_worth_asking(const struct court *court, const struct accused *accused)
{
    return candidates_is_node(accused->kind) && court->links->node_count <= LINKS_FEW &&
           !is_accused(court, accused->node, accused->rail);
}

/* A rail that was accused of one direction and now of the other: one finding. */
static bool merge(struct court *court, const struct accused *accused)
{
    for (size_t i = 0; i < court->findings.count; i++) {
        struct finding *finding = &court->findings.items[i];
        struct accused both = *accused;
        struct finding other = *finding;

        if (finding->kind != FINDING_RAIL || finding->node != accused->node ||
            finding->rail != accused->rail || finding->is_intermittent != accused->is_partial)
            continue;
        both.kind = PART_RAIL;
        both.confidence = fmin(both.confidence, finding->confidence);
        findings_describe(&court->findings, &other, &both, &court->limits);
        if (!(other.value > finding->value)) /* the slower direction's figures stay */
            *finding = other;
        finding->direction = "both ways";
        return true;
    }
    return false;
}

void court_take(struct court *court, const struct accused *accused)
{
    enum finding_kind kind = kind_of(accused->kind);
    int node = accused->node;
    bool is_sure =
        accused->confidence >= court->limits.sure && (accused->is_steady || accused->is_partial);
    struct finding *finding;

    /* a node that is alone on its leaf cannot be told from the leaf and its uplink */
    if (node >= 0 && court->cells.block_count > 1 &&
        court->cells.block_size[court->cells.blocks[node]] == 1)
        kind = FINDING_AMBIGUOUS;
    if (accused->is_partial && !is_sure && !is_worth_asking(court, accused))
        return;
    if (kind == FINDING_RAIL && merge(court, accused))
        return;
    finding = findings_add(&court->findings, kind,
                           is_sure && kind != FINDING_AMBIGUOUS ? VERDICT_FAIL : VERDICT_UNKNOWN);
    finding->rail = accused->rail;
    if (node >= 0) {
        finding->node = node;
        mark_accused(court, node, accused->rail);
    } else {
        finding->block = accused->block;
        finding->peer_block = accused->peer_block;
    }
    findings_describe(&court->findings, finding, accused, &court->limits);
}

/* What is well on the whole but not in each of its repeats. */
static int find_intermittent(struct court *court)
{
    struct cells *cells = &court->cells;
    struct pursuit pursuit = {0};
    bool is_spotty = false;
    int rv;

    for (size_t i = 0; i < cells->count; i++) {
        struct cell *cell = &cells->cells[i];

        if (cell->is_low) {
            cell->is_open = false;
            continue;
        }
        cell->is_low = cell->is_open && cell->spot < cell->expected + (float)LINKS_SPOT_GAP;
        if (cell->is_low)
            cell->y = cell->spot;
        is_spotty = is_spotty || cell->is_low;
    }
    if (!is_spotty)
        return 0;
    rv = pursuit_hold(cells, PART_SENDS, PART_NODE, &pursuit);
    for (size_t i = 0; i < pursuit.count && rv == 0; i++) {
        struct accused *accused = &pursuit.accused[i];

        accused->is_partial = true;
        if (candidates_is_node(accused->kind) && !is_accused(court, accused->node, accused->rail))
            court_take(court, accused);
    }
    pursuit_clear(&pursuit);
    return rv;
}

/* One bad cable of several that join a leaf to the spine: few of the paths are on it, and where
 * many others meet on good cables and are low for that, it is lost among them; but it is far below
 * what these leave each other. */
static int find_cables(struct court *court)
{
    struct cells *cells = &court->cells;
    struct pursuit pursuit = {0};
    bool is_any = false;
    int rv;

    if (cells->block_count < 2)
        return 0;
    for (size_t i = 0; i < cells->count; i++) {
        struct cell *cell = &cells->cells[i];

        cell->is_low = cell->is_open && cell->is_low && cell->region == CELL_ACROSS &&
                       cell->y < cell->first_limit + (float)LINKS_CABLE_GAP;
        is_any = is_any || cell->is_low;
    }
    rv = is_any ? pursuit_hold(cells, PART_UPLINK_OUT, PART_UPLINK_ALL, &pursuit) : 0;
    for (size_t i = 0; i < pursuit.count && rv == 0; i++)
        court_take(court, &pursuit.accused[i]);
    for (size_t i = 0; i < cells->count; i++)
        cells->cells[i].is_low = cells->cells[i].y < cells->cells[i].limit;
    pursuit_clear(&pursuit);
    return rv;
}

/* The parts that explain what is low. */
static int pursue(struct court *court, struct pursuit *pursuit)
{
    int rv = pursuit_hold(&court->cells, PART_SENDS, PART_LEAF_ALL, pursuit);

    for (size_t i = 0; i < pursuit->count && rv == 0; i++)
        court_take(court, &pursuit->accused[i]);
    rv = rv == 0 ? find_cables(court) : rv;
    return rv == 0 ? court_moments(court) : rv;
}

static bool is_sure_at_times(const struct finding *finding)
{
    return finding->kind == FINDING_RAIL && finding->verdict == VERDICT_FAIL &&
           finding->is_intermittent;
}

/* Keeps of the findings since first those about rails that come and go for sure. Returns how many
 * others there were. */
static size_t keep_sure_at_times(struct court *court, size_t first)
{
    struct findings *findings = &court->findings;
    size_t left = first, others;

    for (size_t i = first; i < findings->count; i++)
        if (is_sure_at_times(&findings->items[i]))
            findings->items[left++] = findings->items[i];
    others = findings->count - left;
    findings->count = left;
    return others;
}

/* A new game without the cells of the rails that were kept. */
static int begin_without_them(struct court *court, size_t first)
{
    const struct links *links = court->links;
    int *blocks = malloc((links->node_count + 1) * sizeof *blocks), rv = -1;

    if (blocks) {
        memcpy(blocks, court->cells.blocks, links->node_count * sizeof *blocks);
        rv = fit(court, blocks);
    }
    free(blocks);
    memset(court->is_accused, 0, links->node_count * links->rail_count * sizeof(bool));
    for (size_t k = first; k < court->findings.count; k++) {
        const struct finding *finding = &court->findings.items[k];

        mark_accused(court, finding->node, finding->rail);
        for (size_t i = 0; i < court->cells.count && rv == 0; i++) {
            struct cell *cell = &court->cells.cells[i];

            if (cell->rail == finding->rail &&
                (cell->from == finding->node || cell->to == finding->node))
                cell->is_open = false;
        }
    }
    return rv;
}

/* What comes and goes makes others look low as well, at the moments that they met it: these are
 * looked for once more without it. */
static int pursue_all(struct court *court, struct pursuit *pursuit)
{
    size_t first = court->findings.count;
    bool is_any = false;
    int rv = pursue(court, pursuit);

    for (size_t i = first; i < court->findings.count; i++)
        is_any = is_any || is_sure_at_times(&court->findings.items[i]);
    if (rv != 0 || !is_any || court->links->node_count > LINKS_FEW ||
        keep_sure_at_times(court, first) == 0)
        return rv;
    pursuit_clear(pursuit);
    rv = begin_without_them(court, first);
    return rv == 0 ? pursue(court, pursuit) : rv;
}

static int judge(struct court *court)
{
    struct pursuit pursuit = {0};
    int rv = court_believe(court);

    rv = rv == 0 ? fit_with_blocks(court) : rv;
    if (rv != 0)
        return rv;
    count_good(court);
    for (size_t rail = 0; rail < court->cells.rails; rail++) {
        if (court->cells.is_fabric[rail])
            find_fabric(court, (int)rail);
        if (court->cells.is_uplinks[rail])
            find_uplinks(court, (int)rail);
    }
    rv = pursue_all(court, &pursuit);
    rv = rv == 0 ? court_pairs(court) : rv;
    if (rv == 0)
        court_unproved(court, &pursuit);
    rv = rv == 0 ? court_together(court) : rv;
    rv = rv == 0 ? find_intermittent(court) : rv; /* the last one: it changes the cells */
    rv = rv == 0 ? court_latency(court) : rv;
    if (rv == 0)
        court_history(court);
    pursuit_clear(&pursuit);
    return rv;
}

int links_judge(const struct links *links, const struct links_limits *limits,
                struct finding **findings)
{
    size_t ends = links->node_count * links->rail_count;
    struct court court = {.links = links, .limits = *limits, .findings = {.links = links}};
    int rv = -1;

    if (!(court.limits.sure > 0))
        court.limits.sure = LINKS_SURE;
    court.is_accused = calloc(ends + 1, sizeof *court.is_accused);
    for (int k = 0; k < 2; k++)
        court.good[k] = calloc(ends + 1, sizeof *court.good[k]);
    if (court.is_accused && court.good[0] && court.good[1])
        rv = judge(&court);
    findings_sort(&court.findings);
    for (size_t i = 0; i < court.findings.block_part_count; i++)
        free(court.findings.block_parts[i]);
    free(court.findings.block_parts);
    cells_clear(&court.cells);
    free(court.believed);
    free(court.is_accused);
    free(court.good[0]);
    free(court.good[1]);
    if (rv != 0 || court.findings.is_out_of_memory) {
        free(court.findings.items);
        *findings = NULL;
        return -1;
    }
    *findings = court.findings.items;
    return (int)court.findings.count;
}
