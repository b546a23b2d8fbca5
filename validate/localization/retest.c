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

enum { PARTNERS = 2 };

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

static bool is_on_leaf_of(const struct links *links, size_t node, size_t other)
{
    return !links->leaves || links->leaves[node] == links->leaves[other];
}

/* The partners of a suspect: nodes that nobody suspects, after it in the list, of its own leaf
 * first; where there is none, suspects. */
static int choose_partners(const struct links *links, const bool *is_suspect, size_t suspect,
                           size_t partners[PARTNERS])
{
    int count = 0;

    for (int choice = 0; choice < 3; choice++)
        for (size_t i = 1; i < links->node_count && count < PARTNERS; i++) {
            size_t node = (suspect + i) % links->node_count;
            bool is_own = is_on_leaf_of(links, node, suspect);

            if (choice < 2 ? !is_suspect[node] && is_own == (choice == 0)
                           : is_suspect[node] && count == 0)
                partners[count++] = node;
        }
    return count;
}

bool localization_measure_nodes(const struct localization *localization, const bool *is_suspect,
                                enum retest_passes passes, size_t *first)
{
    const struct links *links = &localization->links;
    struct node_pair *pairs = malloc((PARTNERS * links->node_count + 2) * sizeof *pairs);
    size_t count = 0, partners[PARTNERS], control = SIZE_MAX;
    bool is_measured;

    for (size_t node = 0; node < links->node_count && pairs; node++) {
        int found = is_suspect[node] ? choose_partners(links, is_suspect, node, partners) : 0;

        for (int i = 0; i < found; i++) {
            struct node_pair pair = node_pair_of((int)node, (int)partners[i]);

            if (!is_suspect[partners[i]] || pair.low == (int)node)
                pairs[count++] = pair;
        }
    }
    for (size_t node = links->node_count; node-- > 0 && count > 0;) {
        if (is_suspect[node])
            continue;
        if (control != SIZE_MAX) {
            pairs[count++] = (struct node_pair){(int)node, (int)control};
            break;
        }
        control = node;
    }
    is_measured =
        count > 0 && localization_measure_pairs(localization, pairs, count, passes, first);
    free(pairs);
    return is_measured;
}
