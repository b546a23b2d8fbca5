/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "validate/certify/report/run_records.h"
#include "validate/certify/stages/links/links_stage.h"
#include "validate/certify/state/rails.h"
#include "validate/localization/localization.h"

/* Evaluates what TCP had to retransmit: verdicts and notes. */

/* Returns why a rail's loss is not a failure of its node. */
static const char *doubt_of(enum loss_retest retest)
{
    static const char *const texts[] = {
        [LOSS_NOT_RETESTED] = "not retested",
        [LOSS_UNSCHEDULED] = "an endpoint was not scheduled in the retest",
        [LOSS_NO_CONTROL] = "no control pair in the retest",
        [LOSS_CONTROL_TOO] = "the control pair loses too: network or busy machines",
        [LOSS_NOT_AGAIN] = "not lost again in the retest",
        [LOSS_CONFIRMED] = "",
    };

    return texts[retest];
}

/* Writes the part and the message of a finding that is not about one node. */
static void shared_write(const struct certify *certify, const struct links *links,
                         const struct loss_finding *finding, char *part, size_t part_size,
                         char *message, size_t size)
{
    const char *const *leaves = (const char *const *)certify->cluster.leaves;
    const char *rail = links->rails[finding->part.rail];
    const char *verb = finding->is_damage ? "corrupts" : "loses";
    double percent = 100 * finding->lost / finding->sent;
    const char *doubt = finding->is_stalled ? "; endpoints were not scheduled: busy machines?" : "";

    switch (finding->part.type) {
    case DIAGNOSE_PATH:
        snprintf(part, part_size, "path %.63s-%.63s %.63s", links->nodes[finding->part.index],
                 links->nodes[finding->part.peer], rail);
        snprintf(message, size,
                 "%s %s %.2g %% of the packets that %.63s sends; both nodes are good with other "
                 "nodes: check the switches and cables between%s",
                 part, verb, percent, links->nodes[finding->part.index], doubt);
        break;
    case DIAGNOSE_UPLINK:
        snprintf(part, part_size, "uplink %.63s-%.63s %.63s", leaves[finding->part.index],
                 leaves[finding->part.peer], rail);
        snprintf(message, size,
                 "%s %s %.2g %% of the packets of several nodes: check the cables and ports "
                 "between these switches; no node drained%s",
                 part, verb, percent, doubt);
        break;
    case DIAGNOSE_LEAF:
        snprintf(part, part_size, "leaf %.63s %.63s", leaves[finding->part.index], rail);
        snprintf(message, size,
                 "%s loses %.2g %% of the packets of most of its nodes: check the switch; no node "
                 "drained%s",
                 part, percent, doubt);
        break;
    default:
        snprintf(part, part_size, "all %s", rail);
        snprintf(message, size,
                 "all %s lose %.2g %% of the packets on most nodes: the network is congested or "
                 "faulty; no node drained%s",
                 rail, percent, doubt);
        break;
    }
}

static void message_write(const struct links *links, const struct loss_finding *finding, char *part,
                          size_t part_size, char *message, size_t size)
{
    const char *rail = links->rails[finding->part.rail];
    const char *verb = finding->is_damage ? "corrupts" : "loses";
    double percent = 100 * finding->lost / finding->sent;

    snprintf(part, part_size, "%s", rail);
    if (finding->is_either)
        snprintf(message, size,
                 "%s or its path %s %.2g %% of the packets: either node, or the path between them; "
                 "certify it with more partners",
                 rail, verb, percent);
    else if (losses_verdict(finding) == VERDICT_FAIL)
        snprintf(message, size, "%s %s %.2g %% of what it %s", rail, verb, percent,
                 finding_verbs[finding->part.ways]);
    else
        snprintf(message, size, "%s %s %.2g %% of what it %s; %s; certify again", rail, verb,
                 percent, finding_verbs[finding->part.ways], doubt_of(finding->retest));
}

static void finding_apply(struct certify *certify, const struct localization *localization,
                          const struct loss_finding *finding)
{
    static const enum fault_code codes[] = {[DIAGNOSE_RAIL] = FAULT_PACKET_LOSS,
                                            [DIAGNOSE_PATH] = FAULT_PATH_LOSS,
                                            [DIAGNOSE_UPLINK] = FAULT_UPLINK_LOSS,
                                            [DIAGNOSE_LEAF] = FAULT_LEAF_LOSS,
                                            [DIAGNOSE_FABRIC] = FAULT_NETWORK_LOSS};
    const struct links *links = &localization->links;
    bool is_nodes = finding->part.type == DIAGNOSE_RAIL;
    struct record record;
    char part[224], message[512];

    if (is_nodes)
        message_write(links, finding, part, sizeof part, message, sizeof message);
    else
        shared_write(certify, links, finding, part, sizeof part, message, sizeof message);
    record = RECORD(.suite = "certify", .test = "links", .metric = "lost_share",
                    .node = is_nodes ? links->nodes[finding->part.index] : NULL, .part = part,
                    .value = finding->lost / finding->sent, .unit = "1",
                    .samples = (unsigned)finding->sent, .limit = LOSS_SHARE,
                    .limit_source = "expected", .verdict = losses_verdict(finding),
                    .code = codes[finding->part.type], .message = message);
    certify_record(certify, record);
    if (is_nodes) {
        struct node_run *node_run = certify_node_run(certify, record.node);

        outcome_note(&node_run->outcome, STAGE_LINKS,
                     certify_rails_verdict(certify, node_run, part, record.verdict), record.code,
                     "links", part, message);
        return;
    }
    certify_note(certify, "%s", message);
    certify->has_fault |= record.verdict == VERDICT_FAIL;
    if (finding->part.type == DIAGNOSE_LEAF)
        certify_leaf_doubt(certify, links, localization->source.leaves, finding->part.index,
                           &record);
}

void certify_losses(struct certify *certify, struct localization *localization)
{
    if (losses_retest(localization) != 0)
        certify_all(certify,
                    &(struct hostlist){(char **)(size_t)localization->links.nodes,
                                       localization->links.node_count},
                    STAGE_LINKS, VERDICT_UNKNOWN, FAULT_NONE, "links",
                    "out of memory, cannot evaluate packet losses");
    for (size_t i = 0; i < localization->losses.count; i++)
        finding_apply(certify, localization, &localization->losses.findings[i]);
}
