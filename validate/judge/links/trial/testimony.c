/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/trial/trial.h"

#include <stdlib.h>
#include <string.h>

/* What libibverbs says of two ports: that a message did not arrive, or that they cannot talk. The
 * other bandwidths of the battery are judged by the matrix. */
static bool is_of_verbs(const struct record *record)
{
    const char *metric = record->metric ? record->metric : "";

    return record->verdict == VERDICT_FAIL && record->peer &&
           (strncmp(metric, "bandwidth_rc_", 13) == 0 ||
            strncmp(metric, "bandwidth_ud_", 13) == 0 || strcmp(metric, "state") == 0);
}

static bool is_damage(const struct record *record)
{
    return record->peer && record->metric && strcmp(record->metric, "damaged") == 0;
}

/* Whose fault it is, the record alone does not tell. */
static bool is_of_both(const struct record *record)
{
    return is_damage(record) || is_of_verbs(record);
}

/* How many records of each kind have a node at either end. */
struct blames {
    struct name_index by_node;
    const char **nodes;  /* as often as the records name them; the first place counts */
    size_t (*counts)[2]; /* of each place: of libibverbs, of damage */
};

static bool is_counted(const struct record *record)
{
    return record->node && strcmp(record->suite, "links") == 0 && is_of_both(record);
}

static void blames_clear(struct blames *blames)
{
    name_index_clear(&blames->by_node);
    free(blames->nodes);
    free(blames->counts);
}

/* Returns 0, or -1 when memory is out; to be cleared in either case. */
static int blames_make(const struct records *records, size_t first, struct blames *blames)
{
    size_t most = 0, count = 0;

    *blames = (struct blames){0};
    for (size_t i = first; i < records->count; i++)
        most += 2 * is_counted(&records->items[i]);
    blames->nodes = malloc((most + 1) * sizeof *blames->nodes);
    blames->counts = calloc(most + 1, sizeof *blames->counts);
    if (!blames->nodes || !blames->counts)
        return -1;
    for (size_t i = first; i < records->count; i++)
        if (is_counted(&records->items[i])) {
            blames->nodes[count++] = records->items[i].node;
            blames->nodes[count++] = records->items[i].peer;
        }
    if (name_index_build(blames->nodes, count, &blames->by_node) != 0)
        return -1;
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = &records->items[i];

        if (!is_counted(record))
            continue;
        blames->counts[name_index_find(&blames->by_node, record->node)][is_damage(record)]++;
        if (strcmp(record->node, record->peer) != 0)
            blames->counts[name_index_find(&blames->by_node, record->peer)][is_damage(record)]++;
    }
    return 0;
}

void trial_testimony(const struct records *records, size_t first,
                     void (*accuse)(void *context, const char *node, enum verdict verdict,
                                    const struct record *record),
                     void *context)
{
    struct blames blames;
    bool has_blames = blames_make(records, first, &blames) == 0;

    for (size_t i = first; i < records->count; i++) {
        const struct record *record = &records->items[i];
        const char *ends[] = {record->node, record->peer};
        size_t blame[2] = {0, 0};

        if (!record->node || record->verdict < VERDICT_WARN ||
            strcmp(record->suite, "links") != 0 || matrix_is_measurement(record) ||
            (strncmp(record->metric ? record->metric : "", "bandwidth_", 10) == 0 &&
             !is_of_verbs(record)))
            continue;
        if (!is_of_both(record)) {
            accuse(context, record->node, record->verdict, record);
            continue;
        }
        /* without memory it could be either */
        for (int k = 0; k < 2 && has_blames; k++)
            blame[k] = blames.counts[name_index_find(&blames.by_node, ends[k])][is_damage(record)];
        for (int k = 0; k < 2; k++)
            if (blame[k] >= blame[1 - k])
                accuse(context, ends[k], blame[k] > blame[1 - k] ? VERDICT_FAIL : VERDICT_UNKNOWN,
                       record);
    }
    blames_clear(&blames);
}
