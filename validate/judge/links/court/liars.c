/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/constants/judge_constants.h"
#include "validate/judge/links/court/court.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The receiver's time lies within the sender's, as that ends when the receiver has said that all is
 * there: the sender's figure cannot honestly be the higher one by more than the first message
 * makes, a sixteenth at most. The other way round it can be anything: an end that was not scheduled
 * before the first message or after the last one makes the sender's figure low. */
static bool is_contradicted(const struct link_sample *sample)
{
    return sample->received_mbps > 0 && sample->mbps > 0 &&
           sample->received_mbps < REPORTS_ALIKE_SHARE * sample->mbps;
}

struct witness {
    int told, contradicted, partners;
    int last_partner;
    bool is_liar;
};

static void count(const struct court *court, struct witness *witnesses)
{
    for (size_t i = 0; i < court->links->node_count; i++) {
        bool is_liar = witnesses[i].is_liar;

        witnesses[i] = (struct witness){.last_partner = -1, .is_liar = is_liar};
    }
    for (size_t i = 0; i < court->links->sample_count; i++) {
        const struct link_sample *sample = &court->samples[i];
        int ends[] = {sample->from, sample->to};

        if (!(sample->received_mbps > 0) || witnesses[sample->from].is_liar ||
            witnesses[sample->to].is_liar)
            continue;
        for (int k = 0; k < 2; k++) {
            struct witness *witness = &witnesses[ends[k]];

            witness->told++;
            if (!is_contradicted(sample))
                continue;
            witness->contradicted++;
            witness->partners += ends[1 - k] != witness->last_partner;
            witness->last_partner = ends[1 - k];
        }
    }
}

static int worst(const struct court *court, const struct witness *witnesses)
{
    int found = -1;

    for (int node = 0; node < (int)court->links->node_count; node++) {
        const struct witness *witness = &witnesses[node];

        if (witness->partners >= REPORTS_PARTNERS_LEAST &&
            witness->contradicted >= REPORTS_CONTRADICTED_SHARE * witness->told &&
            (found < 0 || witness->contradicted > witnesses[found].contradicted))
            found = node;
    }
    return found;
}

static void accuse(struct court *court, int node, const struct witness *witness)
{
    struct finding *finding = findings_add(&court->findings, FINDING_LIAR, VERDICT_FAIL);

    finding->node = node;
    finding->share = (double)witness->contradicted / witness->told;
    finding->sample_count = witness->told;
    snprintf(finding->part, sizeof finding->part, "records");
    snprintf(finding->message, sizeof finding->message,
             "its figures contradict those of its partners in %d of %d transfers; the partners are "
             "believed",
             witness->contradicted, witness->told);
}

int court_believe(struct court *court)
{
    const struct links *links = court->links;
    struct witness *witnesses;
    bool is_told = false;
    int node;

    court->samples = links->samples;
    for (size_t i = 0; i < links->sample_count && !is_told; i++)
        is_told = is_contradicted(&links->samples[i]);
    if (!is_told)
        return 0;
    witnesses = calloc(links->node_count + 1, sizeof *witnesses);
    court->believed = malloc((links->sample_count + 1) * sizeof *court->believed);
    if (!witnesses || !court->believed) {
        free(witnesses);
        return -1;
    }
    for (count(court, witnesses); (node = worst(court, witnesses)) >= 0; count(court, witnesses)) {
        accuse(court, node, &witnesses[node]);
        witnesses[node].is_liar = true;
    }
    memcpy(court->believed, links->samples, links->sample_count * sizeof *court->believed);
    for (size_t i = 0; i < links->sample_count; i++) {
        struct link_sample *sample = &court->believed[i];

        /* of a contradiction that is nobody's habit the lower figure counts */
        if (!is_contradicted(sample))
            continue;
        if (witnesses[sample->from].is_liar != witnesses[sample->to].is_liar)
            sample->mbps = witnesses[sample->from].is_liar ? sample->received_mbps : sample->mbps;
        else
            sample->mbps = fmin(sample->mbps, sample->received_mbps);
        sample->low_mbps = 0;
    }
    court->samples = court->believed;
    free(witnesses);
    return 0;
}
