/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/evidence.h"
#include "lib/base/compare.h"

#include <stdbool.h>
#include <stdlib.h>

/* All evidence of one case in one communicator. */
struct incident {
    const struct evidence *items;
    int count;
    int observers;      /* how many different ones */
    int source;         /* the only one, or MIXED */
    int first_position; /* of the observers, in the communicator's order */
    bool is_explained;
    unsigned char *observed; /* [world rank] whether it has a wrong result */
};

enum { MIXED = -2 };

static int compare(const void *left, const void *right)
{
    const struct evidence *a = left, *b = right;

    return COMPARE(a->case_number, b->case_number) ?: COMPARE(a->first, b->first)
           ?: COMPARE(a->observer, b->observer);
}

static int position(const struct evidence *item, int rank)
{
    if (item->is_reversed)
        return item->first + item->count - 1 - rank;
    return (rank - item->first - item->shift + item->count) % item->count;
}

static void incident_fill(struct incident *incident)
{
    incident->source = incident->items[0].source;
    incident->first_position = incident->items[0].count;
    for (int i = 0; i < incident->count; i++) {
        const struct evidence *item = &incident->items[i];
        int observer_position = position(item, item->observer);

        incident->observers += !incident->observed[item->observer];
        incident->observed[item->observer] = 1;
        if (item->source != incident->source)
            incident->source = MIXED;
        if (observer_position < incident->first_position)
            incident->first_position = observer_position;
    }
}

static bool is_member(const struct evidence *item, int rank)
{
    return rank >= item->first && rank < item->first + item->count;
}

/* Whether the incident would look like this if the contributions of the rank, and nothing else,
 * were damaged. */
static bool explains_as_sender(const struct incident *incident, int rank)
{
    const struct evidence *item = &incident->items[0];
    int others = incident->observers - (incident->observed[rank] ? 1 : 0);

    if (!is_member(item, rank) || (incident->source != -1 && incident->source != rank))
        return false;
    if (item->kind == EVIDENCE_SHARED) /* all others have it; the rank itself may or may not */
        return others == item->count - 1;
    if (item->kind == EVIDENCE_PREFIX)
        return incident->first_position >= position(item, rank);
    return true;
}

static bool explains_as_receiver(const struct incident *incident, int rank)
{
    return incident->observers == 1 && incident->observed[rank];
}

/* Whether it would look like this if all that leaves the rank, of whatever rank it is, were
 * damaged. */
static bool explains_by_passing_on(const struct incident *incident, int rank)
{
    return is_member(&incident->items[0], rank) && !incident->observed[rank];
}

/* how: as of faulty_rank.sends. */
static bool explains(const struct incident *incident, int rank, int how)
{
    return how == 2   ? explains_by_passing_on(incident, rank)
           : how == 1 ? explains_as_sender(incident, rank)
                      : explains_as_receiver(incident, rank);
}

static int count_explained(const struct incident *incidents, int count, int rank, int how)
{
    int explained = 0;

    for (int i = 0; i < count; i++)
        explained += !incidents[i].is_explained && explains(&incidents[i], rank, how);
    return explained;
}

/* Returns the rank that explains most of the cases that are left. */
static struct faulty_rank find_best(const struct incident *incidents, int count, int size)
{
    struct faulty_rank best = {.rank = -1};

    for (int rank = 0; rank < size; rank++) {
        int sent = count_explained(incidents, count, rank, 1);
        int received = count_explained(incidents, count, rank, 0);
        int cases = sent > received ? sent : received;

        if (cases > best.cases)
            best = (struct faulty_rank){.rank = rank, .sends = sent >= received, .cases = cases};
        else if (cases > 0 && cases == best.cases)
            best.rivals++;
    }
    return best;
}

/* Returns the only rank that was right in all cases that are left, or rank -1 if there is not just
 * one such rank, or just one case. */
static struct faulty_rank find_passing(const struct incident *incidents, int count, int size)
{
    struct faulty_rank found = {.rank = -1};
    int left = 0, candidates = 0;

    for (int i = 0; i < count; i++)
        left += !incidents[i].is_explained;
    for (int rank = 0; rank < size && left > 1; rank++)
        if (count_explained(incidents, count, rank, 2) == left) {
            found = (struct faulty_rank){.rank = rank, .sends = 2, .cases = left};
            candidates++;
        }
    return candidates == 1 ? found : (struct faulty_rank){.rank = -1};
}

/* Sets aside cases that a rank with damaged contributions may have passed on, too. */
static void put_aside_passed_on(struct incident *incidents, int count, int size,
                                struct faulty_rank *faulty_rank)
{
    int passed_on = count_explained(incidents, count, faulty_rank->rank, 2);
    struct faulty_rank best = find_best(incidents, count, size);

    /* another sender would have damaged sums of this rank too, and so explain more */
    if (passed_on < best.cases || (passed_on == best.cases && !best.sends))
        return;
    for (int i = 0; i < count; i++)
        if (explains_by_passing_on(&incidents[i], faulty_rank->rank))
            incidents[i].is_explained = true;
    faulty_rank->cases += passed_on;
}

/* Names the next faulty rank. Returns false if nothing is left to explain. */
static bool name_next(struct incident *incidents, int count, int size,
                      struct faulty_rank *faulty_rank)
{
    struct faulty_rank passing = find_passing(incidents, count, size);
    bool has_example = false;

    *faulty_rank = find_best(incidents, count, size);
    if (passing.cases > faulty_rank->cases)
        *faulty_rank = passing;
    for (int i = 0; i < count; i++) {
        struct incident *incident = &incidents[i];

        if (incident->is_explained ||
            (faulty_rank->rank >= 0 && !explains(incident, faulty_rank->rank, faulty_rank->sends)))
            continue;
        if (!has_example)
            faulty_rank->example = incident->items[0];
        has_example = true;
        incident->is_explained = true;
        faulty_rank->cases += faulty_rank->rank < 0;
    }
    if (faulty_rank->rank >= 0 && faulty_rank->sends == 1 && faulty_rank->rivals == 0)
        put_aside_passed_on(incidents, count, size, faulty_rank);
    return has_example;
}

int evidence_attribute(struct evidence *items, int count, int size,
                       struct faulty_rank faulty_ranks[FAULTY_RANKS])
{
    struct incident *incidents = calloc((size_t)count + 1, sizeof *incidents);
    unsigned char *observed = NULL;
    int incident_count = 0, found = 0;

    if (!incidents)
        return -1;
    if (count > 0)
        qsort(items, (size_t)count, sizeof *items, compare);
    for (int i = 0; i < count; i++) {
        if (i == 0 || items[i].case_number != items[i - 1].case_number ||
            items[i].first != items[i - 1].first)
            incidents[incident_count++].items = &items[i];
        incidents[incident_count - 1].count++;
    }
    observed = calloc((size_t)incident_count + 1, (size_t)size);
    if (!observed) {
        free(incidents);
        return -1;
    }
    for (int i = 0; i < incident_count; i++) {
        incidents[i].observed = observed + (size_t)i * (size_t)size;
        incident_fill(&incidents[i]);
    }
    while (found < FAULTY_RANKS && name_next(incidents, incident_count, size, &faulty_ranks[found]))
        found++;
    free(observed);
    free(incidents);
    return found;
}
