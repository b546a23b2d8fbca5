/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/base/text.h"

/* infiniband-diags' error_thresholds (ibqueryerrors --suppress-common), as installed by version 44:
 * what a healthy link may have counted since its counters were cleared. */
static const struct {
    const char *name;
    long long threshold;
    bool is_cable; /* else congestion: the other end does not accept packets */
} counters[SUBNET_COUNTERS] = {
    [SUBNET_SYMBOL_ERRORS] = {"symbol errors", 10, true},
    [SUBNET_LINK_RECOVERIES] = {"link recoveries", 10, true},
    [SUBNET_LINK_DOWNED] = {"times the link went down", 10, true},
    [SUBNET_RECEIVE_ERRORS] = {"receive errors", 10, true},
    [SUBNET_INTEGRITY_ERRORS] = {"local link integrity errors", 10, true},
    [SUBNET_BUFFER_OVERRUNS] = {"buffer overruns", 10, true},
    [SUBNET_DISCARDS] = {"discarded packets", 100, false},
};

/* Links of one kind are compared with each other: the same rail on the same switch, or the same
 * level of switches. */
struct link {
    int port; /* of the switch; between two switches of the lower one */
    int rail; /* -1: an adapter without a name; -2 - level: between switches */
    int leaf; /* of an adapter: its switch; else 0 */
    double mbps;
    bool is_nodes;    /* of an adapter: its name is a node's, and no other adapter has it */
    bool is_reported; /* a finding about its switch reports its rate */
};

/* The rate that most links of a kind have. */
struct usual {
    double mbps;
    int port; /* a port with this rate */
    int count, of;
};

enum { ENOUGH = 3 }; /* the fewest links for a majority; of two links the faster is usual */

static double link_mbps(const struct subnet *subnet, int port)
{
    double one = subnet_rate_mbps(subnet->ports[port].active);
    double other = subnet_rate_mbps(subnet->ports[subnet->ports[port].peer].active);

    return one < other ? one : other;
}

static int by_switch(const void *a, const void *b)
{
    const struct link *one = a, *other = b;

    return one->rail - other->rail ?: one->leaf - other->leaf ?: COMPARE(one->mbps, other->mbps);
}

static int by_rail(const void *a, const void *b)
{
    const struct link *one = a, *other = b;

    return one->rail - other->rail ?: COMPARE(one->mbps, other->mbps);
}

/* Returns the usual rate of links of one kind, sorted by rate; mbps is 0 without a majority. */
static struct usual find_usual(const struct link *links, size_t count)
{
    struct usual usual = {.of = (int)count};

    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !(links[end].mbps > links[i].mbps);)
            end++;
        if ((2 * (end - i) > count && count >= ENOUGH) || (count == 2 && end == count))
            usual = (struct usual){links[i].mbps, links[i].port, (int)(end - i), (int)count};
    }
    return usual;
}

static struct link *collect(const struct subnet *subnet, size_t *count)
{
    struct link *links = malloc((subnet->port_count + 1) * sizeof *links);
    int *attached = malloc((subnet->port_count + 1) * sizeof *attached); /* [port]: attachment */

    *count = 0;
    for (size_t i = 0; links && attached && i < subnet->port_count; i++)
        attached[i] = -1;
    for (size_t i = 0; links && attached && i < subnet->attachment_count; i++)
        attached[subnet->attachments[i].switch_port] = (int)i;
    for (size_t i = 0; links && attached && i < subnet->port_count; i++) {
        const struct subnet_port *port = &subnet->ports[i];
        const struct subnet_device *device = &subnet->devices[port->device], *other;
        int at = attached[i];

        if (port->peer < 0 || device->kind != SUBNET_SWITCH)
            continue;
        other = &subnet->devices[subnet->ports[port->peer].device];
        if (other->is_service || other->kind == SUBNET_ROUTER)
            continue;
        if (other->kind == SUBNET_SWITCH &&
            (device->level > other->level ||
             (device->level == other->level && (int)i > port->peer)))
            continue;
        links[(*count)++] =
            (struct link){.port = (int)i,
                          .rail = other->kind == SUBNET_SWITCH ? -2 - device->level
                                  : at >= 0                    ? subnet->attachments[at].rail
                                                               : -1,
                          .leaf = other->kind == SUBNET_SWITCH ? 0 : port->device,
                          .mbps = link_mbps(subnet, (int)i),
                          .is_nodes = at >= 0 && !subnet_is_double(subnet, (size_t)at)};
    }
    free(attached);
    if (!attached) {
        free(links);
        return NULL;
    }
    return links;
}

static struct text_line link_text(const struct subnet *subnet, int port)
{
    int peer = subnet->ports[port].peer;

    /* the adapter first */
    if (subnet->devices[subnet->ports[peer].device].kind == SUBNET_ADAPTER) {
        int keep = port;

        port = peer;
        peer = keep;
    }
    return text_line("%.120s - %.120s", subnet_port_text(subnet, port).text,
                     subnet_port_text(subnet, peer).text);
}

/* Returns the least of both: the rate that two ends, or two settings, allow. */
static struct subnet_rate rate_least(struct subnet_rate a, struct subnet_rate b)
{
    return (struct subnet_rate){a.lanes < b.lanes ? a.lanes : b.lanes,
                                a.lane_mbps < b.lane_mbps ? a.lane_mbps : b.lane_mbps};
}

/* Returns the end (a port) that allows less than mbps although it supports it, or -1. */
static int limited_end(const struct subnet *subnet, int port, double mbps)
{
    int ends[] = {port, subnet->ports[port].peer};

    for (int i = 0; i < 2; i++) {
        const struct subnet_port *end = &subnet->ports[ends[i]];
        double allowed = subnet_rate_mbps(end->enabled);

        if (allowed > 0 && allowed < mbps && !(subnet_rate_mbps(end->supported) < mbps))
            return ends[i];
    }
    return -1;
}

static bool is_other_model(const struct subnet *subnet, int port, int other)
{
    const struct subnet_device *one = &subnet->devices[subnet->ports[port].device],
                               *two = &subnet->devices[subnet->ports[other].device];

    return one->model > 0 && two->model > 0 && one->model != two->model;
}

/* Whether an end is of a kind that cannot run at the usual rate, so that nothing is to repair: by
 * its supported rate, or by its model if that is unknown. */
static bool is_other_kind(const struct subnet *subnet, int port, const struct usual *usual)
{
    int ends[] = {port, subnet->ports[port].peer},
        others[] = {usual->port, subnet->ports[usual->port].peer};

    for (int i = 0; i < 2; i++) {
        double able = subnet_rate_mbps(subnet->ports[ends[i]].supported);

        if (able > 0 ? able < usual->mbps : is_other_model(subnet, ends[i], others[i]))
            return true;
    }
    return false;
}

/* Formats " 4021 symbol errors and 12 link recoveries at leaf1 port 3". Returns whether there are
 * errors. */
static bool describe_errors(const struct subnet *subnet, int port, char *text, size_t size,
                            bool *is_cable, double *worst)
{
    int ends[] = {port, subnet->ports[port].peer};

    text[0] = '\0';
    *is_cable = false;
    *worst = 0;
    for (int i = 0; i < 2; i++) {
        bool is_first = true;

        for (int k = 0; k < SUBNET_COUNTERS; k++) {
            long long count = subnet->ports[ends[i]].counters[k];

            if (count <= counters[k].threshold)
                continue;
            text_join(text, size, is_first ? "; " : ", ", "%lld %s", count, counters[k].name);
            is_first = false;
            *is_cable = *is_cable || counters[k].is_cable;
            if ((double)count > *worst)
                *worst = (double)count;
        }
        if (!is_first)
            text_join(text, size, " ", "at %.90s", subnet_port_text(subnet, ends[i]).text);
    }
    return *text;
}

/* Finds what the link belongs to: returns the node, with its rail in *part; or "", with the
 * switch's port in *part. */
static const char *attribute(const struct subnet *subnet, const struct link *link,
                             struct text_line *text, const char **part)
{
    int peer = subnet->ports[link->port].peer;
    const char *node = link->is_nodes ? subnet->devices[subnet->ports[peer].device].name : "";

    *text = subnet_port_text(subnet, link->is_nodes ? peer : link->port);
    *part = link->is_nodes ? text->text + strlen(node) + 1 : text->text;
    return node;
}

static void judge_errors(const struct subnet *subnet, const struct link *link,
                         struct subnet_findings *findings)
{
    struct text_line text;
    const char *part, *node = attribute(subnet, link, &text, &part);
    char errors[300];
    bool is_cable;
    double worst;

    if (describe_errors(subnet, link->port, errors, sizeof errors, &is_cable, &worst))
        subnet_finding_add(
            findings, SUBNET_ERRORS, VERDICT_WARN, node, part, "%s has counted %s: %s",
            link_text(subnet, link->port).text, errors,
            is_cable ? "reseat or replace the cable, clear the counters and look again"
                     : "the other end does not take packets in time: look for congestion or a node "
                       "that hangs")
            ->value = worst;
}

static void report_rate(const struct subnet *subnet, const struct link *link, double limit,
                        enum verdict verdict, const char *against, struct subnet_findings *findings)
{
    const struct subnet_port *port = &subnet->ports[link->port];
    struct subnet_rate active = rate_least(port->active, subnet->ports[port->peer].active);
    int end = limited_end(subnet, link->port, limit);
    struct text_line text;
    const char *part, *node = attribute(subnet, link, &text, &part);
    char cause[200], errors[300];
    struct subnet_finding *finding;
    bool is_cable;
    double worst;

    if (end >= 0)
        snprintf(cause, sizeof cause, "%.100s allows no more than %s: look at its settings",
                 subnet_port_text(subnet, end).text,
                 subnet_rate_text(subnet, subnet->ports[end].enabled).text);
    else
        snprintf(cause, sizeof cause, "reseat or replace the cable");
    if (link->rail >= -1 && !link->is_nodes) /* the adapter may be no node's */
        verdict = VERDICT_WARN;
    finding = subnet_finding_add(findings, SUBNET_RATE, verdict, node, part,
                                 "%s runs at %s, %s: %s", link_text(subnet, link->port).text,
                                 subnet_rate_text(subnet, active).text, against, cause);
    finding->value = link->mbps;
    finding->limit = limit;
    if (describe_errors(subnet, link->port, errors, sizeof errors, &is_cable, &worst))
        text_join(finding->text, sizeof finding->text, "; ", "it has counted %s", errors);
}

/* Whether both ends support mbps. */
static bool is_able(const struct subnet *subnet, int port, double mbps)
{
    const struct subnet_port *one = &subnet->ports[port], *other = &subnet->ports[one->peer];

    return subnet_rate_mbps(rate_least(one->supported, other->supported)) >= mbps;
}

/* A link below the usual rate fails if both ends support that rate. If this is unknown, the link
 * may be of another kind, and is a warning on Ethernet, as LLDP does not show the kind of an
 * adapter, and with less than ENOUGH links to compare. */
static enum verdict rate_verdict(const struct subnet *subnet, const struct link *link,
                                 struct usual usual)
{
    return is_able(subnet, link->port, usual.mbps) || (!subnet->is_ethernet && usual.of >= ENOUGH)
               ? VERDICT_FAIL
               : VERDICT_WARN;
}

static void judge_link(const struct subnet *subnet, const struct link *link, struct usual usual,
                       struct subnet_findings *findings)
{
    const struct subnet_port *one = &subnet->ports[link->port], *other = &subnet->ports[one->peer];
    /* the rate that the link should run at; 0: unknown */
    struct subnet_rate possible = rate_least(one->enabled, other->enabled);
    double able = subnet_rate_mbps(possible);
    char against[160];

    if (link->is_reported) {
        judge_errors(subnet, link, findings);
    } else if (usual.mbps > link->mbps && link->mbps > 0 &&
               !is_other_kind(subnet, link->port, &usual)) {
        snprintf(against, sizeof against, "%d of %d links of its kind at %s", usual.count, usual.of,
                 subnet_rate_text(subnet, subnet->ports[usual.port].active).text);
        report_rate(subnet, link, usual.mbps, rate_verdict(subnet, link, usual), against, findings);
    } else if (able > link->mbps && link->mbps > 0 && !(usual.mbps > 0 && able > usual.mbps)) {
        snprintf(against, sizeof against, "both ends allow %s",
                 subnet_rate_text(subnet, possible).text);
        report_rate(subnet, link, able, VERDICT_FAIL, against, findings);
    } else {
        judge_errors(subnet, link, findings);
    }
}

/* Links of one switch that all run below the usual rate of their kind: the cause is the switch, not
 * each of the cables. */
struct batch {
    int device;
    const char *what;         /* "uplinks", "links to nodes", "links to switches below" */
    const struct link *first; /* one of them */
    int count, of;            /* the number of slow links, and of all */
};

/* The verdict is a failure only if the ends support more. */
static void report_batch(const struct subnet *subnet, const struct batch *batch, struct usual usual,
                         struct subnet_findings *findings)
{
    int port = batch->first->port, end = limited_end(subnet, port, usual.mbps);
    const struct subnet_port *one = &subnet->ports[port], *other = &subnet->ports[one->peer];
    struct text_line name = subnet_device_text(subnet, batch->device);
    char cause[200], share[40];
    struct subnet_finding *finding;

    if (batch->count == batch->of)
        snprintf(share, sizeof share, "all %d", batch->count);
    else
        snprintf(share, sizeof share, "%d of %d", batch->count, batch->of);
    if (end >= 0)
        snprintf(cause, sizeof cause,
                 "%.100s, one of them, allows no more than %s: look at the "
                 "settings",
                 subnet_port_text(subnet, end).text,
                 subnet_rate_text(subnet, subnet->ports[end].enabled).text);
    else
        snprintf(cause, sizeof cause,
                 "look at the switch's model, firmware and port settings before its cables");
    finding = subnet_finding_add(
        findings, SUBNET_RATE, is_able(subnet, port, usual.mbps) ? VERDICT_FAIL : VERDICT_WARN, "",
        name.text, "%s %s of %.120s run at %s, %d of %d links of their kind at %s: %s", share,
        batch->what, name.text,
        subnet_rate_text(subnet, rate_least(one->active, other->active)).text, usual.count,
        usual.of, subnet_rate_text(subnet, subnet->ports[usual.port].active).text, cause);
    finding->value = batch->first->mbps;
    finding->limit = usual.mbps;
}

/* Finds the usual rate of every rail, from links sorted by_rail(). usuals: [rail + offset]. */
static void find_rail_usuals(const struct link *links, size_t count, int offset,
                             struct usual *usuals)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && links[end].rail == links[i].rail;)
            end++;
        usuals[links[i].rail + offset] = find_usual(links + i, end - i);
    }
}

/* For a switch at one end of the cables between two levels: all its cables, and those that run at
 * the rate of the first, if that is low. */
struct tally {
    int all, low;
    const struct link *first;
};

static struct tally *tally_of(const struct subnet *subnet, struct tally *tallies,
                              const struct link *link, bool is_upper)
{
    int port = is_upper ? subnet->ports[link->port].peer : link->port;

    return &tallies[2 * subnet->ports[port].device + is_upper];
}

/* Judges the links of one level. usual: their usual rate. tallies: two for every device, all zero.
 */
static void judge_level(const struct subnet *subnet, struct link *links, size_t count,
                        struct usual usual, struct tally *tallies, struct subnet_findings *findings)
{
    for (size_t i = 0; i < count; i++)
        for (int is_upper = 0; is_upper < 2; is_upper++) {
            struct tally *tally = tally_of(subnet, tallies, &links[i], is_upper);

            tally->first = tally->first ? tally->first : &links[i];
            tally->all++;
            tally->low += links[i].mbps < usual.mbps && links[i].mbps > 0 &&
                          !(tally->first->mbps > links[i].mbps) &&
                          !(tally->first->mbps < links[i].mbps) &&
                          !is_other_kind(subnet, links[i].port, &usual);
        }
    for (size_t i = 0; i < count; i++)
        for (int is_upper = 0; is_upper < 2; is_upper++) {
            struct tally *tally = tally_of(subnet, tallies, &links[i], is_upper);

            if (tally->low < ENOUGH || tally->low < tally->all || links[i].is_reported)
                continue;
            if (tally->first == &links[i])
                report_batch(subnet,
                             &(struct batch){.device = (int)((tally - tallies) / 2),
                                             .what = is_upper ? "links to switches below"
                                                              : "links to other switches",
                                             .first = &links[i],
                                             .count = tally->all,
                                             .of = tally->all},
                             usual, findings);
            links[i].is_reported = true;
        }
}

/* Judges the links of one rail on one switch. own: their usual rate, which is a fault if the rail's
 * usual rate on all switches is higher. */
static void judge_leaf(const struct subnet *subnet, const struct link *links, size_t count,
                       struct usual own, struct usual rail, struct subnet_findings *findings)
{
    if (!(own.mbps > 0) || !(rail.mbps > own.mbps) || own.count < ENOUGH)
        return;
    for (size_t i = 0; i < count; i++)
        if (links[i].port == own.port && !is_other_kind(subnet, own.port, &rail))
            report_batch(subnet,
                         &(struct batch){.device = links[i].leaf,
                                         .what = "links to nodes",
                                         .first = &links[i],
                                         .count = own.count,
                                         .of = (int)count},
                         rail, findings);
}

void subnet_judge_rates(const struct subnet *subnet, struct subnet_findings *findings)
{
    int offset = subnet->level_count + 2;
    struct usual *usuals = calloc(subnet->rails.count + (size_t)offset + 1, sizeof *usuals);
    struct tally *tallies = calloc(2 * subnet->device_count + 1, sizeof *tallies);
    size_t count = 0;
    struct link *links = collect(subnet, &count);
    bool has_memory = usuals && tallies && links;

    findings->is_out_of_memory |= !has_memory;
    if (has_memory) {
        qsort(links, count, sizeof *links, by_rail);
        find_rail_usuals(links, count, offset, usuals);
        qsort(links, count, sizeof *links, by_switch);
        for (size_t i = 0, end; i < count; i = end) {
            struct usual rail = usuals[links[i].rail + offset], usual;

            for (end = i + 1; end < count && links[end].rail == links[i].rail &&
                              links[end].leaf == links[i].leaf;)
                end++;
            usual = find_usual(links + i, end - i);
            if (links[i].rail >= 0)
                judge_leaf(subnet, links + i, end - i, usual, rail, findings);
            if (!(usual.mbps > 0))
                usual = rail;
            if (links[i].rail < -1) {
                judge_level(subnet, links + i, end - i, usual, tallies, findings);
                memset(tallies, 0, 2 * subnet->device_count * sizeof *tallies);
            }
            for (size_t k = i; k < end; k++)
                judge_link(subnet, &links[k], usual, findings);
        }
    }
    free(usuals);
    free(tallies);
    free(links);
}
