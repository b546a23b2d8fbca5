/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/localization.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/constants/links_constants.h"
#include "validate/schedule/apart.h"

struct retest_schedule retest_schedule(size_t nodes)
{
    return nodes <= LINKS_FEW ? (struct retest_schedule){3, 4, true}
                              : (struct retest_schedule){2, 8, false};
}

/* "n1:n2+n3:n4,n1:n3": pairs of a round, then the next one's. malloc'd; NULL: memory is out. names:
 * gets the nodes of them. */
static char *write_pairs(const struct links *links, const struct node_pair *pairs, size_t count,
                         const int *rounds, int round_count, struct hostlist *names)
{
    bool *is_named = calloc(links->node_count + 1, sizeof *is_named);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = is_named ? open_memstream(&text, &size) : NULL;

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

bool localization_measure_pairs(const struct localization *localization,
                                const struct node_pair *pairs, size_t count,
                                enum retest_passes passes, size_t *first)
{
    const struct links *links = &localization->links;
    int(*ends)[2] = malloc((count + 1) * sizeof *ends), round_count = -1;
    int *rounds = malloc((count + 1) * sizeof *rounds);
    struct hostlist names = {0};
    bool is_measured = false;
    char *text = NULL;

    for (size_t i = 0; i < count && ends; i++)
        memcpy(ends[i], (int[]){pairs[i].low, pairs[i].high}, sizeof ends[i]);
    if (ends && rounds && count > 0) /* a few have a round each: nothing is quieter */
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

bool localization_measure_nodes(const struct localization *localization, const bool *is_suspect,
                                enum retest_passes passes, size_t *first)
{
    const struct links *links = &localization->links;
    struct diagnose_network network = {.node_count = links->node_count,
                                       .rail_count = links->rail_count,
                                       .leaf_count = links->leaf_count > 1 ? links->leaf_count : 0,
                                       .leaves = links->leaves};
    size_t most = DIAGNOSE_PAIRS_OF_ITEM * links->node_count, count = 0;
    struct node_pair *pairs = malloc((most + 1) * sizeof *pairs);
    struct diagnosis suspects = {0};
    bool is_measured = pairs != NULL;

    for (int node = 0; node < (int)links->node_count && is_measured; node++)
        if (is_suspect[node] && (is_measured = GROW(suspects.items, suspects.count)))
            /* it, or nothing */
            suspects.items[suspects.count++] = (struct suspicion){.part = {.type = DIAGNOSE_NODE,
                                                                           .place = node,
                                                                           .peer = -1,
                                                                           .rail = -1,
                                                                           .ways = DIAGNOSE_BOTH},
                                                                  .probability = 0.5,
                                                                  .rivals = {{.probability = 0.5}},
                                                                  .rival_count = 1};
    if (is_measured)
        count = diagnose_next(&network, &suspects, NULL, pairs, most, 0);
    is_measured =
        count > 0 && localization_measure_pairs(localization, pairs, count, passes, first);
    diagnosis_clear(&suspects);
    free(pairs);
    return is_measured;
}
