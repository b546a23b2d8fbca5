/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/constants/judge_constants.h"
#include "validate/judge/links/court/moments.h"

#include <math.h>

/* How often one end of the cell was measured alone in that direction while it was let run, and how
 * often it was low. */
struct alone {
    int all, low;
};

static struct alone asked_alone(const struct moments *moments, const struct cell *cell,
                                bool receives)
{
    struct alone alone = {0, 0};

    for (size_t i = 0; i < moments->total; i++) {
        const struct moment *moment = &moments->items[i];

        if (!moment->is_alone || moment->cell->rail != cell->rail ||
            (receives ? moment->cell->to != cell->to : moment->cell->from != cell->from))
            continue;
        alone.all++;
        alone.low += moment->is_low;
    }
    return alone;
}

/* Whether what is low for that share of the time would have been low so rarely by a small chance
 * only: the lower tail of the binomial distribution. */
static bool is_cleared(const struct alone *alone)
{
    double term = pow(1 - TIMES_SHARE_LEAST, alone->all), tail = 0;

    for (int low = 0; low <= alone->low; low++) {
        tail += term;
        term *=
            (double)(alone->all - low) / (low + 1) * TIMES_SHARE_LEAST / (1 - TIMES_SHARE_LEAST);
    }
    return tail <= RETEST_CLEAR;
}

/* Whether somebody of whom the cell is has a finding that is worse than a warning. */
static bool is_told(const struct court *court, const struct cell *cell)
{
    for (size_t i = 0; i < court->findings.count; i++) {
        const struct finding *finding = &court->findings.items[i];
        bool is_path = finding->kind == FINDING_PAIR && finding->rail == cell->rail &&
                       finding->node + finding->peer == cell->from + cell->to &&
                       (finding->node == cell->from || finding->node == cell->to);

        if (finding->verdict > VERDICT_WARN && (is_path || moments_is_about(court, finding, cell)))
            return true;
    }
    return false;
}

/* A path that was low while nobody was held up, and whose ends were not asked often enough since.
 * What is low as a whole is the pairs' to tell. */
static void ask(struct moments *moments, const struct moment *moment)
{
    struct court *court = moments->court;
    const struct cell *cell = moment->cell;
    struct alone sends = asked_alone(moments, cell, false);
    struct alone receives = asked_alone(moments, cell, true);
    struct suspect path = {PART_SENDS, cell->from, cell->to, cell->rail};
    struct evidence evidence;
    struct accused accused;

    if (cell->is_low || is_told(court, cell) || (is_cleared(&sends) && is_cleared(&receives)))
        return;
    evidence = moments_weigh(moments, &path);
    accused = moments_describe(moments, &path, &evidence);
    moments_tell_path(court, &path, VERDICT_UNKNOWN, &accused)->is_question =
        sends.low == 0 && receives.low == 0;
}

void moments_ask(struct moments *moments)
{
    moments->count = moments->total;
    for (size_t i = 0; i < moments->total; i++)
        if (moments->items[i].is_low)
            ask(moments, &moments->items[i]);
}
