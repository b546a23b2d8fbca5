/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/findings/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const finding_verbs[] = {"", "sends", "receives", "sends and receives"};

const char *message_leaf(const struct findings_builder *builder, int leaf)
{
    return builder->evidence->links->leaf_names[leaf];
}

void message_part(const struct findings_builder *builder, const struct part *part, char *name,
                  size_t size)
{
    const struct links *links = builder->evidence->links;
    const char *rail = part->rail >= 0 ? links->rails[part->rail] : "";
    const char *space = part->rail >= 0 ? " " : "";

    switch (part->type) {
    case DIAGNOSE_PATH:
        snprintf(name, size, "path %.63s-%.63s%s%.20s",
                 links->nodes[part->index < part->peer ? part->index : part->peer],
                 links->nodes[part->index < part->peer ? part->peer : part->index], space, rail);
        break;
    case DIAGNOSE_LEAF:
        snprintf(name, size, "leaf %.63s%s%.20s", message_leaf(builder, part->index), space, rail);
        break;
    case DIAGNOSE_UPLINK:
        if (part->peer < 0)
            snprintf(name, size, "uplink %.63s%s%.20s", message_leaf(builder, part->index), space,
                     rail);
        else
            snprintf(name, size, "uplink %.63s-%.63s%s%.20s", message_leaf(builder, part->index),
                     message_leaf(builder, part->peer), space, rail);
        break;
    case DIAGNOSE_HOST:
        snprintf(name, size, "host");
        break;
    case DIAGNOSE_FABRIC:
        snprintf(name, size, "all %.80s", part->rail >= 0 ? rail : "rails");
        break;
    default:
        snprintf(name, size, "%.90s", part->rail >= 0 ? rail : "all rails");
    }
}

void message_rival(const struct findings_builder *builder, const struct suspicion *item, char *text,
                   size_t size)
{
    const struct rival *rival = item->rival_count > 0 ? &item->rivals[0] : NULL;
    const struct part *part = rival && rival->count > 0 ? &rival->parts[0] : NULL;
    char name[160];

    if (!part) {
        snprintf(text, size, "or busy machines: cannot be distinguished");
        return;
    }
    message_part(builder, part, name, sizeof name);
    if (part_is_of_node(part))
        snprintf(text, size, "or %.100s of %.60s: cannot be distinguished", name,
                 builder->evidence->links->nodes[part->index]);
    else
        snprintf(text, size, "or %s: cannot be distinguished", name);
}

/* indexed by part.ways */
static const char *const ways_between[] = {"", "forth", "back", "both ways"};

/* Writes " at times, in 45 % of 20 samples" if the fault comes and goes, else nothing. */
static void how_often(const struct suspicion *item, char *text, size_t size)
{
    text[0] = '\0';
    if (item->part.duty > 0)
        snprintf(text, size, " at times, in %.0f %% of %u samples",
                 100.0 * item->low / (item->all > 0 ? item->all : 1), item->all);
}

static void describe_end(const struct suspicion *item, double peers, struct finding *finding)
{
    const char *verb = finding_verbs[item->part.ways];
    const char *what =
        finding->kind == FINDING_NODE ? "the node: PCIe, memory, load" : "cable or switch port";
    bool is_nominal = catalog_is_limit(finding->limit_source, LIMIT_NOMINAL);
    char often[64], of[32] = "";

    how_often(item, often, sizeof often);
    if (is_nominal)
        snprintf(of, sizeof of, " of %.0f", finding->reference);
    if (finding->value <= 0)
        snprintf(finding->message, sizeof finding->message,
                 "%s has no connection with any partner%s; check cable, switch port and address",
                 finding->part, often);
    else
        snprintf(finding->message, sizeof finding->message,
                 "%s %s %.0f%s Mb/s%s%s, its peers %.0f; check %s", finding->part, verb,
                 finding->value, of, is_nominal ? " (nominal)" : "", often,
                 is_nominal ? peers : finding->reference, what);
}

static void describe_host(const struct findings_builder *builder, const struct suspicion *item,
                          struct finding *finding)
{
    const struct links *links = builder->evidence->links;
    double alone_mbps = 0;

    for (size_t k = 0; k < links->rail_count; k++)
        alone_mbps =
            fmax(alone_mbps, links->figures_mbps[(size_t)finding->node * links->rail_count + k]);
    finding->metric = "bandwidth_together";
    finding->reference = alone_mbps;
    finding->limit = alone_mbps * builder->evidence->conf->link_peers_percent / 100;
    finding->limit_source = "peers";
    snprintf(finding->message, sizeof finding->message,
             "a rail %s %.0f Mb/s when all rails run, alone %.0f: check PCIe width, slot and NUMA "
             "placement of the NICs",
             finding_verbs[item->part.ways], finding->value, alone_mbps);
}

static void describe_shared(const struct findings_builder *builder, const struct suspicion *item,
                            struct finding *finding)
{
    const char *found =
        builder->evidence->links->has_found_leaves ? " (leaves found from the measurements)" : "";

    switch (item->part.type) {
    case DIAGNOSE_PATH:
        snprintf(finding->message, sizeof finding->message,
                 "%s carries %.0f of %.0f Mb/s%s%s; both nodes are good with other partners",
                 finding->part, finding->value, finding->reference,
                 item->part.ways == DIAGNOSE_BOTH    ? ""
                 : item->part.ways == DIAGNOSE_SENDS ? " from the first to the second"
                                                     : " from the second to the first",
                 item->part.duty > 0 ? " at times" : "");
        break;
    case DIAGNOSE_LEAF:
        snprintf(finding->message, sizeof finding->message,
                 "%s carries %.0f of %.0f Mb/s per pair, inside and out, on all of its nodes: "
                 "check the switch%s",
                 finding->part, finding->value, finding->reference, found);
        break;
    case DIAGNOSE_UPLINK:
        if (item->part.duty > 0)
            snprintf(finding->message, sizeof finding->message,
                     "%s carries %.0f of %.0f Mb/s on %.0f %% of its paths, the others are good: "
                     "one of several cables, or an intermittent fault%s",
                     finding->part, finding->value, finding->reference,
                     100.0 * item->low / (item->all > 0 ? item->all : 1), found);
        else
            snprintf(finding->message, sizeof finding->message,
                     "%s carries %.0f of %.0f Mb/s per pair %s; paths inside the leaves are good%s",
                     finding->part, finding->value, finding->reference,
                     ways_between[item->part.ways], found);
        break;
    default:
        snprintf(finding->message, sizeof finding->message,
                 "%s runs at %.0f of %.0f Mb/s (%s) on most nodes: the fabric is slow, or "
                 "NominalSpeed is wrong",
                 item->part.rail < 0 ? "each rail"
                                     : builder->evidence->links->rails[item->part.rail],
                 finding->value, finding->reference, finding->limit_source);
    }
}

void message_write(const struct findings_builder *builder, const struct suspicion *item,
                   double peers, struct finding *finding)
{
    if (finding->lost_bytes > 0)
        snprintf(
            finding->message, sizeof finding->message,
            "%s loses packets of %d bytes, those of %d arrive: check the MTU of the switches%s",
            finding->part, finding->lost_bytes, finding->path_mtu_bytes,
            part_is_of_node(&item->part) ? ", first of its own port" : "");
    else if (item->part.type == DIAGNOSE_HOST)
        describe_host(builder, item, finding);
    else if (part_is_of_node(&item->part))
        describe_end(item, peers, finding);
    else
        describe_shared(builder, item, finding);
}
