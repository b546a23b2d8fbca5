/* SPDX-License-Identifier: Apache-2.0 */
/* What comes and goes, of few nodes. A cell keeps the best of what it showed alone, which a fault
 * that is there for a second of every three reaches before long; here each measurement is a
 * witness. The others on the same machines at the same time say how often a sound one is low. */
#include "validate/judge/links/court/moments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/constants/judge_constants.h"
#include "validate/judge/links/pursuit/ranking.h"

/* ---------------------------------------------------------------- who was there */

bool moments_is_about(const struct court *court, const struct finding *finding,
                      const struct cell *cell)
{
    int from = court->cells.blocks[cell->from], to = court->cells.blocks[cell->to];
    int block = finding->block, peer = finding->peer_block;

    if (finding->rail >= 0 && finding->rail != cell->rail)
        return false;
    switch (finding->kind) {
    case FINDING_RAIL:
    case FINDING_NODE:
    case FINDING_AMBIGUOUS:
        return finding->node == cell->from || finding->node == cell->to;
    case FINDING_LEAF:
        return from == block || to == block;
    case FINDING_UPLINK:
        return from != to && (from == block || to == block) &&
               (peer < 0 || from == peer || to == peer);
    default:
        return false;
    }
}

/* Whether what the cell showed is not explained: what is only in doubt explains nothing. */
static bool is_witness(const struct court *court, const struct cell *cell)
{
    for (size_t i = 0; i < court->findings.count; i++)
        if (court->findings.items[i].verdict == VERDICT_FAIL &&
            moments_is_about(court, &court->findings.items[i], cell))
            return false;
    return true;
}

static bool is_low_at(const struct cell *cell, float y)
{
    return y < cell->limit && y < cell->expected + (float)TIMES_DEPTH_LEAST;
}

/* Whether what was measured among others says something: what was low while its ends were not let
 * run only where it is low even without twice that time. Of 999 measurements of sound links, some
 * of them on busy machines, one was. */
static bool is_telling(const struct cell *cell, float y, float stalled)
{
    return stalled < LINKS_QUIET || y >= cell->limit ||
           (stalled < 0.5F && is_low_at(cell, y - logf(1 - 2 * stalled)));
}

/* look 0: among others. */
static void add(struct moments *moments, struct cell *cell, float y, int look)
{
    bool is_low = is_low_at(cell, y);

    moments->items[moments->count++] =
        (struct moment){.cell = cell, .y = y, .is_low = is_low, .is_alone = look > 0, .look = look};
    moments->low += is_low;
}

static int gather(struct court *court, struct moments *moments)
{
    struct cells *cells = &court->cells;
    size_t most = cells->count + court->links->moment_count + 1;

    *moments = (struct moments){.court = court};
    moments->items = malloc(most * sizeof *moments->items);
    moments->charges = malloc(most * sizeof *moments->charges);
    moments->levels = malloc(most * sizeof *moments->levels);
    moments->seen = malloc(cells->nodes + 1);
    if (!moments->items || !moments->charges || !moments->levels || !moments->seen)
        return -1;
    for (size_t i = 0; i < cells->count; i++) {
        struct cell *cell = &cells->cells[i];

        if (is_witness(court, cell) && is_telling(cell, cell->first_y, cell->first_stalled))
            add(moments, cell, cell->first_y, 0);
    }
    for (size_t i = 0; i < court->links->moment_count; i++) {
        const struct link_sample *sample = &court->links->moments[i];
        struct cell *cell = cells_find(cells, sample->from, sample->to, sample->rail);
        float y;

        if (!cell || !is_witness(court, cell))
            continue;
        y = cells_y(cells, cell, sample->mbps);
        if (sample->again > 0 || is_telling(cell, y, sample->first_stalled))
            add(moments, cell, y, sample->again > 0 ? sample->look : 0);
    }
    moments->total = moments->count;
    return 0;
}

static void clear(struct moments *moments)
{
    free(moments->items);
    free(moments->charges);
    free(moments->levels);
    free(moments->seen);
}

/* ---------------------------------------------------------------- what they say of a suspect */

static bool is_of(const struct suspect *suspect, const struct cell *cell)
{
    bool sends = cell->from == suspect->node, receives = cell->to == suspect->node;

    if (cell->rail != suspect->rail || (!sends && !receives) ||
        (suspect->kind == PART_SENDS && !sends) || (suspect->kind == PART_RECEIVES && !receives))
        return false;
    return suspect->peer < 0 || cell->from == suspect->peer || cell->to == suspect->peer;
}

static double candidates_of_kind(const struct cells *cells, const struct suspect *suspect)
{
    return suspect->peer < 0 ? (double)candidates_count(cells, suspect->kind)
                             : (double)(cells->nodes * (cells->nodes - 1) / 2 * cells->rails);
}

/* Against the rate of low ones among the others: half of one more than was seen (Jeffreys), so that
 * none seen does not make it impossible. */
static double likelihood(const struct evidence *evidence, size_t others_low, size_t others)
{
    return ranking_likelihood((double)evidence->low, (double)evidence->all,
                              ((double)others_low + 0.5) / ((double)others + 1));
}

struct evidence moments_weigh(struct moments *moments, const struct suspect *suspect)
{
    const struct cells *cells = &moments->court->cells;
    struct evidence evidence = {0};

    for (size_t node = 0; node < cells->nodes; node++)
        moments->seen[node] = 0;
    for (size_t i = 0; i < moments->count; i++) {
        const struct moment *moment = &moments->items[i];
        int partner = moment->cell->from == suspect->node ? moment->cell->to : moment->cell->from;

        if (!is_of(suspect, moment->cell))
            continue;
        evidence.all++;
        evidence.low += moment->is_low;
        evidence.alone += moment->is_alone;
        evidence.alone_low += moment->is_low && moment->is_alone;
        if (moment->is_low && moment->is_alone)
            evidence.looks_low |= 1U << moment->look % 32;
        moments->seen[partner] |= (char)(moment->is_low ? 3 : 1);
    }
    for (size_t node = 0; node < cells->nodes; node++) {
        evidence.partners += moments->seen[node] & 1;
        evidence.partners_low += moments->seen[node] >> 1;
    }
    evidence.likelihood =
        likelihood(&evidence, moments->low - evidence.low, moments->count - evidence.all);
    return evidence;
}

/* Whether the end was asked often enough with others alone, for as long, and well each time, to be
 * told from a path that is low in that share of its measurements. Of a path in one direction its
 * sender's sending counts, and its receiver's receiving. */
static bool has_alibi(const struct moments *moments, int node, const struct suspect *path,
                      double share)
{
    bool is_one_way = path->kind == PART_SENDS;
    size_t well = 0;

    for (size_t i = 0; i < moments->count; i++) {
        const struct moment *moment = &moments->items[i];
        bool is_ends = (moment->cell->from == node && !(is_one_way && node == path->peer)) ||
                       (moment->cell->to == node && !(is_one_way && node == path->node));

        if (moment->cell->rail != path->rail || !is_ends || is_of(path, moment->cell))
            continue;
        if (moment->is_low)
            return false;
        well += moment->is_alone;
    }
    return pow(1 - share, (double)well) <= TIMES_EXONERATED;
}

/* Whether there is a case. Cables that fail each by itself meet in a rail too, but in less than
 * half of its paths; and what is low each time on one path its cell says as well. */
static bool is_case(const struct suspect *suspect, const struct evidence *evidence)
{
    if (evidence->alone_low == 0 || evidence->low < TIMES_SUSPICIOUS_LEAST ||
        (double)evidence->low < TIMES_SHARE_LEAST * (double)evidence->all ||
        evidence->likelihood <= 0)
        return false;
    return suspect->peer >= 0 ? evidence->low < evidence->all
                              : evidence->partners_low >= TIMES_PARTNERS_LEAST &&
                                    2 * evidence->partners_low >= evidence->partners;
}

/* ---------------------------------------------------------------- telling */

struct accused moments_describe(struct moments *moments, const struct suspect *suspect,
                                const struct evidence *evidence)
{
    const struct court *court = moments->court;
    const struct cells *cells = &court->cells;
    struct accused accused = {.kind = suspect->kind,
                              .node = suspect->node,
                              .rail = suspect->rail,
                              .block = -1,
                              .peer_block = -1,
                              .share = (double)evidence->low / (double)evidence->all,
                              .is_partial = true,
                              .again = (int)evidence->alone,
                              .candidates = candidates_of_kind(cells, suspect)};
    size_t low = 0;
    double bases = 0, expected = 0;

    accused.low[CELL_INSIDE] = evidence->low;
    accused.all[CELL_INSIDE] = evidence->all;
    for (size_t i = 0; i < moments->count; i++) {
        const struct moment *moment = &moments->items[i];

        if (!moment->is_low || !is_of(suspect, moment->cell))
            continue;
        bases += cells_base(cells, moment->cell);
        expected += moment->cell->expected;
        moments->levels[low++] = moment->y;
    }
    accused.level = cells_median(moments->levels, low);
    accused.expected = (float)(expected / (double)low);
    accused.value_mbps = accused.level < -20 ? 0 : bases / (double)low * exp(accused.level);
    accused.expected_mbps = bases / (double)low * exp(accused.expected);
    accused.is_by_nominal = cells->has_nominal[suspect->rail] && !cells->is_fabric[suspect->rail] &&
                            accused.level < log(court->limits.nominal_percent / 100);
    return accused;
}

/* Takes back what was said of the rail with less evidence. */
static void withdraw(struct court *court, int node, int rail)
{
    size_t left = 0;

    for (size_t i = 0; i < court->findings.count; i++) {
        const struct finding *finding = &court->findings.items[i];

        if (finding->kind != FINDING_RAIL || finding->verdict != VERDICT_UNKNOWN ||
            finding->node != node || finding->rail != rail)
            court->findings.items[left++] = *finding;
    }
    court->findings.count = left;
    court->is_accused[(size_t)node * court->links->rail_count + (size_t)rail] = false;
}

struct finding *moments_tell_path(struct court *court, const struct suspect *path,
                                  enum verdict verdict, const struct accused *accused)
{
    bool is_both = path->kind == PART_RAIL, is_forth = path->node < path->peer;
    struct finding *finding = findings_add(&court->findings, FINDING_PAIR, verdict);

    finding->node = path->node;
    finding->peer = path->peer;
    finding->rail = path->rail;
    finding->direction = is_both ? "both ways" : "sends";
    finding->value = accused->value_mbps;
    finding->reference = accused->expected_mbps;
    finding->limit = finding->reference * court->limits.peers_percent / 100;
    finding->limit_source = "peers";
    finding->confidence = accused->confidence;
    finding->share = accused->share;
    finding->again = accused->again;
    finding->sample_count = (int)accused->all[CELL_INSIDE];
    finding->is_intermittent = true;
    findings_name_path(&court->findings, finding);
    snprintf(finding->message, sizeof finding->message,
             "%s carries %.0f of %.0f Mb/s%s at times, in %zu of %zu samples; with other partners "
             "both ends do well",
             finding->part, finding->value, finding->reference,
             is_both    ? ""
             : is_forth ? " from the first to the second"
                        : " from the second to the first",
             accused->low[CELL_INSIDE], accused->all[CELL_INSIDE]);
    return finding;
}

/* The suspect's cells that were low at some time are explained by it. */
static void close_cells(struct court *court, const struct suspect *suspect)
{
    for (size_t i = 0; i < court->cells.count; i++) {
        struct cell *cell = &court->cells.cells[i];

        if (is_of(suspect, cell) && (cell->is_low || cell->quiet_low > 0))
            cell->is_open = false;
    }
}

static void tell(struct court *court, struct charge *charge)
{
    const struct suspect *suspect = &charge->suspect;
    const struct evidence *evidence = &charge->evidence;
    bool is_sure =
        charge->accused.confidence >= court->limits.sure && evidence->low >= TIMES_LOW_LEAST &&
        evidence->alone_low >= TIMES_ALONE_LEAST &&
        (suspect->peer < 0 || (evidence->has_alibi &&
                               __builtin_popcount(evidence->looks_low) >= TIMES_PATH_ROUNDS_LEAST));

    if (!is_sure) /* of what is not known the figures alone do not make sure */
        charge->accused.confidence = fmin(charge->accused.confidence, TIMES_SUSPICIOUS);
    if (suspect->peer >= 0) {
        moments_tell_path(court, suspect, is_sure ? VERDICT_FAIL : VERDICT_UNKNOWN,
                          &charge->accused);
    } else {
        withdraw(court, suspect->node, suspect->rail);
        court_take(court, &charge->accused);
    }
    close_cells(court, suspect);
}

/* ---------------------------------------------------------------- the search */

static void consider(struct moments *moments, const struct suspect *suspects, int count,
                     struct charge *best)
{
    struct charge most = {.evidence = {.likelihood = -1}};

    for (int i = 0; i < count; i++) {
        struct evidence evidence = moments_weigh(moments, &suspects[i]);

        if (evidence.likelihood > most.evidence.likelihood)
            most = (struct charge){suspects[i], evidence, {0}};
    }
    if (is_case(&most.suspect, &most.evidence) &&
        most.evidence.likelihood > best->evidence.likelihood)
        *best = most;
}

/* The suspect that explains most; false: nobody explains anything. */
static bool find_best(struct moments *moments, struct charge *best)
{
    int nodes = (int)moments->court->links->node_count;
    int rails = (int)moments->court->links->rail_count;

    *best = (struct charge){.evidence = {.likelihood = 0}};
    for (int end = 0; end < nodes * rails; end++) {
        int node = end / rails, rail = end % rails;

        consider(moments,
                 (struct suspect[]){{PART_RAIL, node, -1, rail},
                                    {PART_SENDS, node, -1, rail},
                                    {PART_RECEIVES, node, -1, rail}},
                 3, best);
        for (int peer = node + 1; peer < nodes; peer++)
            consider(moments,
                     (struct suspect[]){{PART_RAIL, node, peer, rail},
                                        {PART_SENDS, node, peer, rail},
                                        {PART_SENDS, peer, node, rail}},
                     3, best);
    }
    return best->evidence.likelihood > 0;
}

/* Takes what the charge explains out of the game. */
static void charge(struct moments *moments, struct charge *charge)
{
    const struct suspect *suspect = &charge->suspect;
    /* half of what the path showed, as its measurements may have kept step with what comes and goes
     */
    double share = 0.5 * (double)charge->evidence.low / (double)charge->evidence.all;
    size_t left = 0;

    charge->evidence.has_alibi = suspect->peer >= 0 &&
                                 has_alibi(moments, suspect->node, suspect, share) &&
                                 has_alibi(moments, suspect->peer, suspect, share);
    charge->accused = moments_describe(moments, suspect, &charge->evidence);
    for (size_t i = 0; i < moments->count; i++)
        if (!is_of(suspect, moments->items[i].cell)) {
            struct moment keep = moments->items[i];

            moments->items[i] = moments->items[left];
            moments->items[left++] = keep;
        }
    moments->count = left;
    moments->low -= charge->evidence.low;
    moments->charges[moments->charge_count++] = *charge;
}

/* What each charge is worth at the rate that is left; those that are worth nothing give back what
 * they had, the weakest first. */
static void settle(struct moments *moments)
{
    size_t low = moments->low, all = moments->count;

    for (size_t i = moments->charge_count; i-- > 0;) {
        struct charge *charge = &moments->charges[i];
        double chances = charge->accused.candidates * exp(-likelihood(&charge->evidence, low, all));

        charge->accused.confidence = 1 - fmin(1, chances);
        if (charge->accused.confidence >= TIMES_SUSPICIOUS)
            continue;
        low += charge->evidence.low;
        all += charge->evidence.all;
    }
    for (size_t i = 0; i < moments->charge_count; i++)
        if (moments->charges[i].accused.confidence >= TIMES_SUSPICIOUS)
            tell(moments->court, &moments->charges[i]);
}

static bool was_asked(const struct cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->cells[i].again > 0)
            return true;
    return false;
}

int court_moments(struct court *court)
{
    struct moments moments;
    struct charge best;
    int rv;

    if (court->links->node_count > LINKS_FEW ||
        (court->links->moment_count == 0 && !was_asked(&court->cells)))
        return 0;
    rv = gather(court, &moments);
    while (rv == 0 && find_best(&moments, &best))
        charge(&moments, &best);
    if (rv == 0)
        settle(&moments);
    if (rv == 0)
        moments_ask(&moments);
    clear(&moments);
    return rv;
}
