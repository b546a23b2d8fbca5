/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/peers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/address_ranges.h"
#include "validate/certify/step/step_setup.h"
#include "validate/harness/watch/peers.h"

/* RANGES_MOST keeps the variable to 41 KB, of the 128 KiB that one may have, for any number of
 * nodes: the addresses of a rail are mostly one range or a few. */
enum { RANGES_MOST = 512 };

static bool is_sources(const struct certify *certify, const struct record *record)
{
    const struct node_run *node_run = record->message && record->metric &&
                                              catalog_is_test(record->test, TEST_NET_ADDRESSES) &&
                                              catalog_is_metric(record->metric, METRIC_SOURCES)
                                          ? certify_node_run(certify, record->node)
                                          : NULL;

    return node_run && node_run->is_selected && outcome_is_good(&node_run->outcome);
}

/* Notes the good nodes whose addresses are not known: connections of any host are accepted then,
 * or the connections of these nodes would be refused. Returns whether there are none. */
static bool is_complete(struct certify *certify)
{
    struct hostlist names = {0};
    bool is_complete;

    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (!node_run->has_addresses && node_run->is_selected &&
            outcome_is_good(&node_run->outcome))
            hostlist_append(&names, node_run->name);
    }
    is_complete = names.count == 0;
    if (!is_complete)
        certify_note(
            certify,
            "%s: muster check reported no addresses that can be parsed: the battery accepts "
            "connections from any host",
            hostlist_text(&names).text);
    hostlist_clear(&names);
    return is_complete;
}

void certify_peers(struct certify *certify, size_t first)
{
    struct address_range *ranges = NULL;
    size_t count = 0;
    char *text = NULL;

    free(certify->peers);
    certify->peers = NULL;
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (is_sources(certify, record))
            certify_node_run(certify, record->node)->has_addresses =
                address_ranges_parse(record->message, &ranges, &count) == 0;
    }
    if (is_complete(certify) && count > 0)
        text = address_ranges_text(ranges, address_ranges_fold(ranges, count, RANGES_MOST));
    if (text && asprintf(&certify->peers, PEERS_VARIABLE "=%s", text) < 0)
        certify->peers = NULL;
    free(text);
    free(ranges);
}

void certify_environment_peers(const struct certify *certify,
                               struct certify_environment *environment)
{
    size_t count = 0;

    while (environment->entries[count])
        count++;
    if (certify->peers && count + 1 < sizeof environment->entries / sizeof *environment->entries)
        environment->entries[count] = certify->peers;
}
