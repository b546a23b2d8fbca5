/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/state/rails.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/fabric_class.h"

#ifdef HAVE_IBVERBS
enum { HAS_VERBS = true };
#else
enum { HAS_VERBS = false };
#endif

/* If AllowFailedRails permits it, a node with a dead rail is certified for its other rails. A node
 * without any measured rail is not certified. */

int certify_rails_left_out(const struct certify *certify, const struct node_run *node_run)
{
    int unusable = (int)node_run->unusable.count;

    return unusable <= certify->conf.allow_failed_rails ? unusable : 0;
}

void certify_rails_note(struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        struct node_run *node_run = certify_node_run(certify, record->node);

        enum fault_code code = record_code(record);

        if (node_run && node_run->is_selected && record->verdict == VERDICT_FAIL && record->part &&
            (code == FAULT_LINK_DOWN || code == FAULT_ADDRESS_MISSING) &&
            !hostlist_contains(&node_run->unusable, record->part))
            hostlist_append(&node_run->unusable, record->part);
    }
    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (certify_rails_left_out(certify, node_run) == 0)
            continue;
        for (size_t k = 0; k < node_run->unusable.count; k++)
            certify_note(certify, "%s: rail %s is unusable; left out (AllowFailedRails)",
                         node_run->name, node_run->unusable.names[k]);
    }
}

enum verdict certify_rails_verdict(const struct certify *certify, const struct node_run *node_run,
                                   const char *part, enum verdict verdict)
{
    bool is_left_out = part && certify_rails_left_out(certify, node_run) > 0 &&
                       hostlist_contains(&node_run->unusable, part);

    return is_left_out && verdict >= VERDICT_WARN ? VERDICT_WARN : verdict;
}

/* Appends to text the names that are not in `but`, with commas. Returns how many; 0 if they do not
 * fit. */
static size_t names_join(const struct hostlist *names, const struct hostlist *but, char *text,
                         size_t size)
{
    size_t length = strlen(text), count = 0;

    for (size_t i = 0; i < names->count && length < size; i++) {
        if (hostlist_contains(but, names->names[i]) || strchr(names->names[i], ':'))
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s",
                                   text[length - 1] == '=' ? "" : ",", names->names[i]);
        count++;
    }
    return length < size ? count : 0;
}

/* With fewer than half of the nodes, the few rounds of the verbs pass may never pair two of them.
 */
bool certify_has_verbs(const struct certify *certify, const struct hostlist *names)
{
    bool *has_rdma = calloc(certify->count + 1, sizeof *has_rdma);
    size_t count = 0;

    for (size_t i = 0; has_rdma && i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        const struct node_run *node_run;

        if (!record->metric || !record->message ||
            !catalog_is_test(record->test, TEST_HOST_CONFIG) ||
            !catalog_is_metric(record->metric, METRIC_CLASS) ||
            !fabric_class_is_rdma(fabric_class_parse(record->message)))
            continue;
        node_run = certify_node_run(certify, record->node);
        if (node_run)
            has_rdma[node_run - certify->node_runs] = true;
    }
    for (size_t i = 0; has_rdma && i < names->count; i++)
        count += has_rdma[certify_node_run(certify, names->names[i]) - certify->node_runs];
    free(has_rdma);
    return HAS_VERBS && count > 1 && 2 * count >= names->count;
}

/* Open MPI over TCP needs the same interfaces on all nodes: 4.1 hung when one node had only the
 * second rail and the others had both. */
int certify_rails_setting(const struct certify *certify, char *text, size_t size)
{
    struct hostlist left_out = {0}, none = {0};
    size_t count;

    for (size_t i = 0; i < certify->count; i++)
        if (certify_rails_left_out(certify, &certify->node_runs[i]) > 0)
            hostlist_unite(&left_out, &certify->node_runs[i].unusable);
    snprintf(text, size, "OMPI_MCA_btl_tcp_if_include=");
    count = names_join(&certify->conf.fabric_interfaces, &left_out, text, size);
    if (count == 0) {
        snprintf(text, size, "OMPI_MCA_btl_tcp_if_exclude=lo");
        count = names_join(&left_out, &none, text, size);
    }
    hostlist_clear(&left_out);
    return count > 0 ? 0 : -1;
}
