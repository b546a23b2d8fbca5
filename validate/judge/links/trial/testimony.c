/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/trial/trial.h"

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

/* How many records since first of that kind have the node at either end. */
static size_t blame_of(const struct records *records, size_t first, bool of_damage,
                       const char *node)
{
    size_t count = 0;

    for (size_t i = first; i < records->count; i++) {
        const struct record *record = &records->items[i];

        if (record->node && strcmp(record->suite, "links") == 0 && is_of_both(record) &&
            is_damage(record) == of_damage)
            count += strcmp(record->node, node) == 0 || strcmp(record->peer, node) == 0;
    }
    return count;
}

void trial_testimony(const struct records *records, size_t first,
                     void (*accuse)(void *context, const char *node, enum verdict verdict,
                                    const struct record *record),
                     void *context)
{
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = &records->items[i];
        const char *ends[] = {record->node, record->peer};
        size_t blame[2];

        if (!record->node || record->verdict < VERDICT_WARN ||
            strcmp(record->suite, "links") != 0 || matrix_is_measurement(record) ||
            (strncmp(record->metric ? record->metric : "", "bandwidth_", 10) == 0 &&
             !is_of_verbs(record)))
            continue;
        if (!is_of_both(record)) {
            accuse(context, record->node, record->verdict, record);
            continue;
        }
        for (int k = 0; k < 2; k++)
            blame[k] = blame_of(records, first, is_damage(record), ends[k]);
        for (int k = 0; k < 2; k++)
            if (blame[k] >= blame[1 - k])
                accuse(context, ends[k], blame[k] > blame[1 - k] ? VERDICT_FAIL : VERDICT_UNKNOWN,
                       record);
    }
}
