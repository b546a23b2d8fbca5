/* SPDX-License-Identifier: Apache-2.0 */
/* What comes and goes, of few nodes. A cell keeps the best of what it showed alone, which a fault
 * that is there for a second of every three reaches before long; here each measurement is a
 * witness. The others on the same machines at the same time say how often a sound one is low. */
#include "validate/judge/links/court.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "validate/judge/links/candidates.h"
#include "validate/judge/links/ranking.h"

/* To be accused: low measurements in all, of these alone, and partners that show it. To be asked
 * again: as many low ones with that confidence. */
enum { LOW_LEAST = 3, ALONE_LEAST = 2, SUSPICIOUS_LEAST = 2, PARTNERS_LEAST = 2 };
static const double suspicious = 0.5;

/* What comes and goes is that far below what is expected when it is there (log 0.8): where machines
 * are busy all is somewhat low at times. */
static const float depth_least = -0.22F;

/* What is low more rarely than that is not told from bad luck by so few measurements. */
static const double share_least = 0.2;

/* An end that was low once while nobody was held up is cleared when it was asked alone so often in
 * that direction: a fault that is there for a third of the time is missed by one in ten. Of 178
 * such measurements of sound links on busy machines none was low. */
enum { ALONE_TO_CLEAR = 5 };

/* An end that is low in that share of its measurements with one partner would not have been well
 * each time with the others but by a chance as small as that. */
static const double alibi_chance = 0.01;

/* One measurement: the first one, among others, or one alone. */
struct moment {
    struct cell *cell;
    float y;
    bool is_low, is_alone;
};

/* A rail of a node, or its path to a peer. */
struct suspect {
    enum part_kind kind;  /* PART_SENDS, PART_RECEIVES; PART_RAIL: both ways */
    int node, peer, rail; /* peer -1: not a path */
};

struct evidence {
    size_t low, all, alone, alone_low;
    int partners, partners_low;
    double likelihood;
    bool has_alibi; /* a path's ends were well with others often enough */
};

/* Somebody who explains what was low better than chance does. */
struct charge {
    struct suspect suspect;
    struct evidence evidence;
    struct accused accused;
};

struct moments {
    struct court *court;
    struct moment *items;
    size_t count, low; /* low: of these */
    struct charge *charges;
    size_t charge_count;
    float *levels; /* work space, [count] */
    char *seen;    /* [nodes] 1: a partner, 3: one with which it was low */
};

/* ---------------------------------------------------------------- who was there */

/* Whether the finding is about the cell's ends, their leaf switch or its uplinks. */
static bool is_about(const struct court *court, const struct finding *finding,
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
            is_about(court, &court->findings.items[i], cell))
            return false;
    return true;
}

static void add(struct moments *moments, struct cell *cell, float y, bool is_alone)
{
    bool is_low = y < cell->limit && y < cell->expected + depth_least;

    moments->items[moments->count++] =
        (struct moment){.cell = cell, .y = y, .is_low = is_low, .is_alone = is_alone};
    moments->low += is_low;
}

/* What was low the first time while its ends were not let run says nothing. */
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

        if (is_witness(court, cell) && (cell->is_first_quiet || !cell->was_low))
            add(moments, cell, cell->first_y, false);
    }
    for (size_t i = 0; i < court->links->moment_count; i++) {
        const struct link_sample *sample = &court->links->moments[i];
        struct cell *cell = cells_find(cells, sample->from, sample->to, sample->rail);
        float y;

        if (!cell || !is_witness(court, cell))
            continue;
        y = cells_y(cells, cell, sample->mbps);
        if (sample->again > 0 || sample->first_stalled < LINKS_QUIET || y >= cell->limit)
            add(moments, cell, y, sample->again > 0);
    }
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

static struct evidence weigh(struct moments *moments, const struct suspect *suspect)
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
 * told from a path that is low in that share of its measurements. */
static bool has_alibi(const struct moments *moments, int node, const struct suspect *path,
                      double share)
{
    size_t well = 0;

    for (size_t i = 0; i < moments->count; i++) {
        const struct moment *moment = &moments->items[i];
        bool is_ends = moment->cell->from == node || moment->cell->to == node;

        if (moment->cell->rail != path->rail || !is_ends || is_of(path, moment->cell))
            continue;
        if (moment->is_low)
            return false;
        well += moment->is_alone;
    }
    return pow(1 - share, (double)well) <= alibi_chance;
}

/* Whether there is a case. Cables that fail each by itself meet in a rail too, but in less than
 * half of its paths; and what is low each time on one path its cell says as well. */
static bool is_case(const struct suspect *suspect, const struct evidence *evidence)
{
    if (evidence->alone_low == 0 || evidence->low < SUSPICIOUS_LEAST ||
        (double)evidence->low < share_least * (double)evidence->all || evidence->likelihood <= 0)
        return false;
    return suspect->peer >= 0 ? evidence->low < evidence->all
                              : evidence->partners_low >= PARTNERS_LEAST &&
                                    2 * evidence->partners_low >= evidence->partners;
}

/* ---------------------------------------------------------------- telling */

static struct accused describe(struct moments *moments, const struct suspect *suspect,
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

static struct finding *tell_path(struct court *court, const struct suspect *path,
                                 enum verdict verdict, const struct accused *accused)
{
    const struct links *links = court->links;
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
    snprintf(finding->part, sizeof finding->part, "path %.32s-%.32s %.20s",
             links->nodes[is_forth ? path->node : path->peer],
             links->nodes[is_forth ? path->peer : path->node], links->rails[path->rail]);
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
    bool is_sure = charge->accused.confidence >= court->limits.sure && evidence->low >= LOW_LEAST &&
                   evidence->alone_low >= ALONE_LEAST && (suspect->peer < 0 || evidence->has_alibi);

    if (!is_sure) /* of what is not known the figures alone do not make sure */
        charge->accused.confidence = fmin(charge->accused.confidence, suspicious);
    if (suspect->peer >= 0) {
        tell_path(court, suspect, is_sure ? VERDICT_FAIL : VERDICT_UNKNOWN, &charge->accused);
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
        struct evidence evidence = weigh(moments, &suspects[i]);

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
    double share = (double)charge->evidence.low / (double)charge->evidence.all;
    size_t left = 0;

    charge->evidence.has_alibi = suspect->peer >= 0 &&
                                 has_alibi(moments, suspect->node, suspect, share) &&
                                 has_alibi(moments, suspect->peer, suspect, share);
    charge->accused = describe(moments, suspect, &charge->evidence);
    for (size_t i = 0; i < moments->count; i++)
        if (!is_of(suspect, moments->items[i].cell))
            moments->items[left++] = moments->items[i];
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
        if (charge->accused.confidence >= suspicious)
            continue;
        low += charge->evidence.low;
        all += charge->evidence.all;
    }
    for (size_t i = 0; i < moments->charge_count; i++)
        if (moments->charges[i].accused.confidence >= suspicious)
            tell(moments->court, &moments->charges[i]);
}

/* ---------------------------------------------------------------- who is asked once more */

/* How often the end was asked alone on that rail in that direction while it was let run. */
static int asked_alone(const struct court *court, int node, int rail, bool receives)
{
    int count = 0;

    for (size_t i = 0; i < court->links->moment_count; i++) {
        const struct link_sample *sample = &court->links->moments[i];

        count += sample->again > 0 && sample->rail == rail &&
                 (receives ? sample->to : sample->from) == node;
    }
    return count;
}

/* Whether somebody of whom the cell is has a finding that is worse than a warning. */
static bool is_told(const struct court *court, const struct cell *cell)
{
    for (size_t i = 0; i < court->findings.count; i++) {
        const struct finding *finding = &court->findings.items[i];
        bool is_path = finding->kind == FINDING_PAIR && finding->rail == cell->rail &&
                       finding->node + finding->peer == cell->from + cell->to &&
                       (finding->node == cell->from || finding->node == cell->to);

        if (finding->verdict > VERDICT_WARN && (is_path || is_about(court, finding, cell)))
            return true;
    }
    return false;
}

/* A path that was low while nobody was held up, and whose ends were not asked often enough since.
 * What is low as a whole is the pairs' to tell. */
static void ask_once_more(struct moments *moments, const struct moment *moment)
{
    struct court *court = moments->court;
    const struct cell *cell = moment->cell;
    struct suspect path = {PART_SENDS, cell->from, cell->to, cell->rail};
    struct evidence evidence;
    struct accused accused;

    if (cell->is_low || is_told(court, cell) ||
        (asked_alone(court, cell->from, cell->rail, false) >= ALONE_TO_CLEAR &&
         asked_alone(court, cell->to, cell->rail, true) >= ALONE_TO_CLEAR))
        return;
    evidence = weigh(moments, &path);
    accused = describe(moments, &path, &evidence);
    tell_path(court, &path, VERDICT_UNKNOWN, &accused)->is_question = true;
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
    for (size_t i = 0; i < moments.count && rv == 0; i++)
        if (moments.items[i].is_low)
            ask_once_more(&moments, &moments.items[i]);
    clear(&moments);
    return rv;
}
