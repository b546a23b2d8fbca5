/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/localization.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/memory_stream.h"
#include "lib/constants/links_constants.h"
#include "validate/schedule/apart.h"

struct retest_schedule retest_schedule(size_t nodes)
{
    return nodes <= LINKS_FEW ? (struct retest_schedule){3, 4, true}
                              : (struct retest_schedule){2, 8, false};
}

/* Returns "n1:n2+n3:n4,n1:n3", the pairs by round, malloc'd, or NULL if memory is out. Adds their
 * nodes to names. */
static char *write_pairs(const struct links *links, const struct node_pair *pairs, size_t count,
                         const int *rounds, int round_count, struct hostlist *names)
{
    bool *is_named = calloc(links->node_count + 1, sizeof *is_named);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = is_named ? memory_stream(&text, &size) : NULL;

    for (int round = 0; stream && round < round_count; round++) {
        const char *before = round > 0 ? "," : "";

        for (size_t i = 0; i < count; i++) {
            int ends[] = {pairs[i].low, pairs[i].high};

            if (rounds[i] != round)
                continue;
            fprintf(stream, "%s%s:%s", before, links->nodes[ends[0]], links->nodes[ends[1]]);
            before = "+";
            for (int k = 0; k < 2; k++)
                if (!is_named[ends[k]]) {
                    is_named[ends[k]] = true;
                    hostlist_append(names, links->nodes[ends[k]]);
                }
        }
    }
    if (stream)
        fclose(stream);
    free(is_named);
    return text;
}

static bool measure_pairs(const struct localization *localization, const struct node_pair *pairs,
                          size_t count, enum retest_passes passes, size_t *first)
{
    const struct links *links = &localization->links;
    int(*ends)[2] = malloc((count + 1) * sizeof *ends), round_count = -1;
    int *rounds = malloc((count + 1) * sizeof *rounds);
    struct hostlist names = {0};
    bool is_measured = false;
    char *text = NULL;

    for (size_t i = 0; i < count && ends; i++)
        memcpy(ends[i], (int[]){pairs[i].low, pairs[i].high}, sizeof ends[i]);
    if (ends && rounds && count > 0) /* a few pairs have a round each: nothing is quieter */
        round_count = schedule_apart((const int(*)[2])ends, count, (int)links->node_count,
                                     count > RETEST_SERIAL_MOST ? links->leaves : NULL, rounds);
    if (round_count > 0)
        text = write_pairs(links, pairs, count, rounds, round_count, &names);
    if (text)
        is_measured = localization->measure(localization->context, &names, text, passes, first);
    free(text);
    free(ends);
    free(rounds);
    hostlist_clear(&names);
    return is_measured;
}

/* Marks the nodes that are lost. Returns how many. */
static size_t mark_lost(const struct localization *localization, bool *is_lost)
{
    const struct links *links = &localization->links;
    size_t count = 0;

    for (size_t i = 0; i < links->node_count && localization->is_lost; i++) {
        is_lost[i] = localization->is_lost(localization->context, links->nodes[i]);
        count += is_lost[i];
    }
    return count;
}

bool localization_measure_next(const struct localization *localization,
                               const struct diagnose_network *network,
                               const struct diagnosis *diagnosis, const struct diagnosis *before,
                               size_t most, size_t screen_most, enum retest_passes passes,
                               size_t *first)
{
    struct node_pair *pairs = malloc((most + 1) * sizeof *pairs);
    bool *is_lost = calloc(network->node_count + 1, sizeof *is_lost), is_measured = false;
    struct diagnose_network left = *network;
    size_t count, known;

    left.is_lost = is_lost;
    if (pairs && is_lost)
        do {
            known = mark_lost(localization, is_lost);
            count = diagnose_next(&left, diagnosis, before, pairs, most, screen_most);
            is_measured = count > 0 && measure_pairs(localization, pairs, count, passes, first);
        } while (count > 0 && !is_measured && mark_lost(localization, is_lost) > known);
    free(is_lost);
    free(pairs);
    return is_measured;
}

bool localization_measure_nodes(const struct localization *localization, const bool *is_suspect,
                                enum retest_passes passes, size_t *first)
{
    const struct links *links = &localization->links;
    struct diagnose_network network = {.node_count = links->node_count,
                                       .rail_count = links->rail_count,
                                       .leaf_count = links->leaf_count > 1 ? links->leaf_count : 0,
                                       .leaves = links->leaves};
    struct diagnosis suspects = {0};
    bool is_measured = true;

    for (int node = 0; node < (int)links->node_count && is_measured; node++)
        if (is_suspect[node] && (is_measured = GROW(suspects.items, suspects.count)))
            /* the node is at fault, or nothing is */
            suspects.items[suspects.count++] = (struct suspicion){.part = {.type = DIAGNOSE_NODE,
                                                                           .index = node,
                                                                           .peer = -1,
                                                                           .rail = -1,
                                                                           .ways = DIAGNOSE_BOTH},
                                                                  .probability = 0.5,
                                                                  .rivals = {{.probability = 0.5}},
                                                                  .rival_count = 1};
    is_measured = is_measured && localization_measure_next(
                                     localization, &network, &suspects, NULL,
                                     DIAGNOSE_PAIRS_OF_ITEM * links->node_count, 0, passes, first);
    diagnosis_clear(&suspects);
    return is_measured;
}
