/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/neighbors.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/step/certify_step.h"
#include "validate/slurm/step/step.h"
#include "validate/subnet/subnet.h"

/* Ethernet: where the nodes' cables go, as their lldpds report. */

static bool is_of(const struct record *record, enum metric_id metric)
{
    return catalog_is_suite(record->suite, SUITE_TOPOLOGY) &&
           catalog_is_metric(record->metric, metric) && record->node;
}

/* Finds the nodes on which muster check has seen lldpd. Returns their number. */
static size_t listeners_find(const struct certify *certify, struct hostlist *listeners)
{
    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (catalog_is_test(record->test, TEST_HOST_CONFIG) &&
            catalog_is_metric(record->metric, METRIC_LLDPD) && record->value > 0 && record->node)
            hostlist_append(listeners, record->node);
    }
    return listeners->count;
}

/* Notes the nodes that run lldpd and reported nothing: their cables are not checked. */
static void silence_note(struct certify *certify, const struct hostlist *names,
                         const struct hostlist *listeners, size_t first)
{
    struct hostlist able = {0}, told = {0}, silent = {0};

    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (is_of(record, METRIC_NEIGHBORS))
            hostlist_append(&told, record->node);
    }
    if (hostlist_split(names, listeners, &able, NULL) == 0)
        hostlist_split(&able, &told, NULL, &silent);
    if (silent.count > 0)
        certify_note(certify, "LLDP: cables of %s not checked: no answer of lldpd%s%s",
                     hostlist_text(&silent).text, *certify->error_line.text ? ": " : "",
                     certify->error_line.text);
    hostlist_clear(&able);
    hostlist_clear(&told);
    hostlist_clear(&silent);
}

static int neighbors_query(struct certify *certify, const struct hostlist *names, size_t *first,
                           struct error *err)
{
    struct arguments program = {0};

    step_add_muster(&program, "topology", "--neighbors", "--json", NULL);
    return certify_muster(
        certify,
        &(struct certify_step){.stage = STAGE_CHECK,
                               .nodes = names,
                               .deadline_s = certify_deadline_s(CERTIFY_NEIGHBORS_S, names->count)},
        &program, first, err);
}

/* Adds the neighbor in a record of muster topology --neighbors, "leaf1 Eth1/5"; "-" is no name. */
static int take(struct subnet_neighbors *neighbors, const struct record *record, struct error *err)
{
    struct subnet_neighbor neighbor = {.rate = {0}};
    const char *space = record->message ? strchr(record->message, ' ') : NULL;
    size_t length = space ? (size_t)(space - record->message) : 0;

    if (!space || !record->part || !record->peer || length >= sizeof neighbor.name)
        return 0;
    if (length != 1 || *record->message != '-')
        memcpy(neighbor.name, record->message, length);
    snprintf(neighbor.interface, sizeof neighbor.interface, "%s", record->part);
    snprintf(neighbor.chassis, sizeof neighbor.chassis, "%s", record->peer);
    snprintf(neighbor.port, sizeof neighbor.port, "%s", space + 1);
    if (record->value > 0 && record->value < 1e7)
        neighbor.rate = (struct subnet_rate){1, (int)record->value};
    return subnet_neighbors_add(neighbors, &neighbor, err);
}

/* A record of what a node's lldpd reported. */
struct heard {
    const char *node;
    bool is_end; /* it says that the node answered; else it is of a neighbor */
    size_t index;
};

/* Sorts by node, and of each the end first, then the neighbors in the order in which they came. */
static int by_node(const void *left, const void *right)
{
    const struct heard *a = left, *b = right;

    return strcmp(a->node, b->node) ?: b->is_end - a->is_end ?: COMPARE(a->index, b->index);
}

/* Adds the nodes that answered, each with its neighbors; the records of several nodes come mixed.
 */
static int gather(const struct certify *certify, size_t first, struct subnet_neighbors *neighbors,
                  struct error *err)
{
    const struct records *records = &certify->records;
    struct heard *heard = calloc(records->count - first + 1, sizeof *heard);
    const char *node = ""; /* the last that answered */
    size_t count = 0;
    int rv = heard ? 0 : error_set(err, "out of memory");

    for (size_t i = first; heard && i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);
        bool is_end = is_of(record, METRIC_NEIGHBORS);

        if (is_end || is_of(record, METRIC_NEIGHBOR))
            heard[count++] = (struct heard){record->node, is_end, i};
    }
    if (count > 0)
        qsort(heard, count, sizeof *heard, by_node);
    for (size_t i = 0; rv == 0 && i < count; i++) {
        bool is_same = strcmp(heard[i].node, node) == 0;

        if (heard[i].is_end && !is_same)
            rv = subnet_neighbors_node(neighbors, node = heard[i].node, err);
        else if (!heard[i].is_end && is_same)
            rv = take(neighbors, RECORD_AT(records, heard[i].index), err);
    }
    free(heard);
    return rv;
}

int certify_neighbors(struct certify *certify, struct subnet *subnet, struct error *err)
{
    struct subnet_neighbors neighbors = {0};
    struct hostlist names = {0}, listeners = {0};
    size_t first = certify->records.count;
    int rv;

    if (certify_stop || listeners_find(certify, &listeners) == 0 ||
        certify_list_good(certify, &names) == 0) {
        hostlist_clear(&names);
        hostlist_clear(&listeners);
        error_set(err, "no node runs lldpd");
        return 1;
    }
    rv = neighbors_query(certify, &names, &first, err) < 0
             ? -1
             : gather(certify, first, &neighbors, err);
    if (rv == 0)
        silence_note(certify, &names, &listeners, first);
    if (rv == 0)
        rv = neighbors.count > 0 ? subnet_neighbors_build(&neighbors, subnet, err) : 1;
    if (rv == 0)
        rv = subnet_finish(subnet, err);
    if (rv == 0)
        snprintf(subnet->source, sizeof subnet->source, "LLDP");
    subnet_neighbors_clear(&neighbors);
    hostlist_clear(&names);
    hostlist_clear(&listeners);
    return rv;
}
