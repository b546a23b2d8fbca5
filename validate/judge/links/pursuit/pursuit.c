/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/pursuit/pursuit.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/constants/judge_constants.h"
#include "validate/judge/links/pursuit/hearing.h"

/* Closes what the part explains. What is slower than a slow path has another reason as well, and
 * what is far below the level of some slow cables of an uplink may be on a worse one. */
static void explain(struct cells *cells, const struct hearing *hearing, struct ranking *ranking,
                    const struct accused *part, bool is_all)
{
    bool is_some_cables = part->is_partial && candidates_is_uplink(part->kind);

    for (size_t i = 0; i < hearing->count; i++) {
        struct cell *cell = &cells->cells[hearing->indices[i]];
        float slack = cell->is_sole ? (float)PATH_SOLE_SLACK : (float)PATH_SLACK;
        bool is_near = cell->y >= part->level + slack;

        if (!cell->is_low || (is_some_cables && !is_near))
            continue;
        if (is_all || cell->load > 0 || is_near) {
            ranking_drop(ranking, cell);
            cell->is_open = false;
        } else {
            cell->expected = fminf(cell->expected, part->level);
            cell->limit = cell->expected + slack;
        }
    }
}

static int accuse(struct pursuit *pursuit, const struct accused *part)
{
    if (!GROW(pursuit->accused, pursuit->count))
        return -1;
    pursuit->accused[pursuit->count++] = *part;
    return 0;
}

/* Of the rate of low cells that are left one more than was seen is taken, so that none seen does
 * not make it impossible. */
static double confidence_of(const struct pursuit *pursuit, const struct accused *part)
{
    double ratio = 0;

    for (int region = 0; region < CELL_REGIONS; region++)
        ratio += ranking_likelihood((double)part->low[region], (double)part->all[region],
                                    ((double)pursuit->low[region] + 1) /
                                        ((double)pursuit->all[region] + 2));
    if (part->is_partial && !candidates_is_node(part->kind))
        ratio /= PATH_COLLISION;
    return 1 - fmin(1, part->candidates * exp(-ratio));
}

/* The rates that are left, and what each accusation is worth at them. */
static void settle(const struct cells *cells, struct pursuit *pursuit)
{
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];

        if (!cell->is_open)
            continue;
        pursuit->all[cell->region] += 1U + cell->again;
        pursuit->low[cell->region] += cell->is_low ? 1U + cell->again : 0;
    }
    for (size_t i = 0; i < pursuit->count; i++)
        pursuit->accused[i].confidence = confidence_of(pursuit, &pursuit->accused[i]);
}

int pursuit_hold(struct cells *cells, enum part_kind first_kind, enum part_kind last_kind,
                 struct pursuit *pursuit)
{
    struct ranking ranking;
    struct hearing hearing = {0};
    unsigned candidate;
    int rv;

    *pursuit = (struct pursuit){0};
    rv = ranking_make(cells, first_kind, last_kind, &ranking);
    if (rv == 0)
        rv = hearing_make(cells, &ranking, &hearing);
    while (rv == 0 && ranking_next(&ranking, &candidate)) {
        struct accused part = candidates_describe(&ranking.candidates, candidate);
        enum outcome_of_hearing outcome = hearing_hold(&hearing, &part);

        part.candidates = (double)candidates_count(cells, part.kind);
        if (outcome == HEARING_NO_CASE)
            continue;
        explain(cells, &hearing, &ranking, &part,
                candidates_is_node(part.kind) || part.is_partial || outcome == HEARING_CLEARED);
        if (outcome == HEARING_GUILTY)
            rv = accuse(pursuit, &part);
    }
    if (rv == 0)
        settle(cells, pursuit);
    hearing_clear(&hearing);
    ranking_clear(&ranking);
    return rv;
}

void pursuit_clear(struct pursuit *pursuit)
{
    free(pursuit->accused);
    *pursuit = (struct pursuit){0};
}
