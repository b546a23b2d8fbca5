/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"
#include "validate/subnet/findings/tier.h"

#include <stdlib.h>

static struct text_line switch_text(const struct tier *tier, int a)
{
    return subnet_device_text(tier->subnet, tier->lower[a]);
}

/* Lists the cables that switch a lacks: by the port that its peers use, else by the upper switch.
 * Returns the number of cables listed by port. */
static int name_missing(const struct tier *tier, int a, const int *peers, int count, char *text,
                        size_t size)
{
    const struct subnet *subnet = tier->subnet;
    int named = 0, times;

    text[0] = '\0';
    for (int number = 1; number <= tier_device(tier, a)->port_count; number++) {
        const struct subnet_port *port = subnet_port(subnet, tier->lower[a], number);
        int device;

        if (port->peer >= 0)
            continue;
        device = tier_usual_from_port(tier, peers, count, number, &times);
        if (device < 0 || 2 * times <= count ||
            tier_bundle(tier, a)[tier->place[device]] >=
                tier_usual_bundle(tier, a, peers, count, tier->place[device]))
            continue;
        named++;
        text_join(text, size, ", ", "%s to %.90s%s", subnet_port_label(port).text,
                  subnet_device_text(tier->subnet, device).text,
                  tier_empty_port(subnet, device).text);
    }
    for (int k = 0; named == 0 && k < tier->upper_count; k++) {
        int usual = tier_usual_bundle(tier, a, peers, count, k);

        if (tier_bundle(tier, a)[k] < usual)
            text_join(text, size, ", ", "%d to %.90s%s", usual - tier_bundle(tier, a)[k],
                      subnet_device_text(tier->subnet, tier->upper[k]).text,
                      tier_empty_port(subnet, tier->upper[k]).text);
    }
    return named;
}

static int uplinks_of(const struct tier *tier, int a)
{
    return tier->up[a] + (tier->has_rings ? tier->across[a] : 0);
}

/* Returns how many uplinks a should have: as many as most of its peers, or if these do not agree,
 * the sum of the usual cables to each upper switch; -1: unknown. *times: the number of peers with
 * as many. */
static int usual_uplinks(const struct tier *tier, int a, const int *peers, int count, int *times)
{
    int usual, sum = 0;

    for (int i = 0; i < count; i++)
        tier->scratch[i] = uplinks_of(tier, peers[i]);
    usual = tier_mode(tier->scratch, count, times);
    if (2 * *times > count)
        return usual;
    if (tier->has_rings)
        return -1;
    for (int k = 0; k < tier->upper_count; k++) {
        usual = tier_usual_bundle(tier, a, peers, count, k);
        if (usual < 0)
            return -1;
        sum += usual;
    }
    *times = 0;
    for (int i = 0; i < count; i++)
        *times += tier->up[peers[i]] == sum;
    return sum;
}

static void judge_missing(struct tier *tier, int a, int *peers)
{
    int count = tier_peers(tier, a, peers), times = 0, usual, down, named;
    char missing[300];
    struct subnet_finding *finding;
    struct text_line name = switch_text(tier, a);

    usual = usual_uplinks(tier, a, peers, count, &times);
    if (count == 0 || uplinks_of(tier, a) >= usual)
        return;
    for (int i = 0; i < count; i++)
        tier->scratch[i] = tier->down[peers[i]];
    down = tier_mode(tier->scratch, count, &(int){0});
    if (tier->up[a] <= SUBNET_SMALL_UPLINKS_SHARE * usual &&
        (double)tier->down[a] * usual <= (double)down * tier->up[a])
        return;
    named = name_missing(tier, a, peers, count, missing, sizeof missing);
    finding =
        subnet_finding_add(tier->findings, SUBNET_UPLINKS, VERDICT_FAIL, "", name.text,
                           "%.120s has %d uplink%s, %d of %d switches like it have %d: %s%s",
                           name.text, tier->up[a], text_plural(tier->up[a]), times, count, usual,
                           !missing[0]  ? "compare its cables with theirs"
                           : named == 0 ? "look for the cable that is missing, "
                                        : "check the cable of its ",
                           missing);
    tier->is_reported[a] = true;
    finding->value = tier->up[a];
    finding->limit = usual;
}

/* Whether cables within the level are intended (a mesh, a dragonfly): no switch is above, or most
 * switches have such cables. */
static bool has_rings(const struct tier *tier)
{
    int with = 0;

    for (int i = 0; i < tier->lower_count; i++)
        with += tier->across[i] > 0;
    return tier->upper_count == 0 || (tier->lower_count > 3 && 4 * with >= 3 * tier->lower_count);
}

/* Reports cables of switch a to switches of its own level if others have none. */
static void judge_across(struct tier *tier, int a, int *peers)
{
    const struct subnet_device *device = tier_device(tier, a);
    char missing[300];
    int count, lacking;

    if (tier->across[a] == 0 || tier->has_rings)
        return;
    count = tier_peers(tier, a, peers);
    for (int i = 0; i < device->port_count; i++) {
        int port = device->first_port + i, peer = tier->subnet->ports[port].peer;
        int next = subnet_peer_device(tier->subnet, &tier->subnet->ports[port]);
        int b = next < 0 ? -1 : tier->place[next];

        if (peer < port || b < 0 || tier->subnet->devices[next].level != device->level)
            continue;
        lacking = tier->up[a] <= tier->up[b] ? a : b;
        name_missing(tier, lacking, peers, count, missing, sizeof missing);
        subnet_finding_add(
            tier->findings, SUBNET_UPLINKS, VERDICT_FAIL, "", switch_text(tier, a).text,
            "%.120s is cabled to %.120s, a switch of the same level: uplinks belong into the "
            "switches above%s%.60s%s%s",
            subnet_port_text(tier->subnet, port).text, subnet_port_text(tier->subnet, peer).text,
            missing[0] ? ", where " : "", missing[0] ? tier_device(tier, lacking)->name : "",
            missing[0] ? " lacks " : "", missing);
        tier->is_reported[a] = tier->is_reported[b] = true;
    }
}

/* Returns the cable (a port) of switch a to upper k that is too many: the first from a port that
 * its peers use for another upper switch, else the only one from a port that no peer uses for an
 * uplink, else the last. */
static int surplus_cable(const struct tier *tier, int a, int k, const int *peers, int count)
{
    const struct subnet_device *device = tier_device(tier, a);
    int last = -1, lone = -1, lone_count = 0, times;

    for (int i = 0; i < device->port_count; i++) {
        int port = device->first_port + i;

        if (subnet_peer_device(tier->subnet, &tier->subnet->ports[port]) != tier->upper[k])
            continue;
        last = port;
        if (tier_usual_from_port(tier, peers, count, i + 1, &times) != tier->upper[k] &&
            2 * times > count)
            return port;
        if (times == 0) {
            lone = port;
            lone_count++;
        }
    }
    return lone_count == 1 ? lone : last;
}

struct mismatch {
    int over, under; /* upper switches with one cable too many, one too few; -1 */
    int port;        /* the cable that is too many */
};

static struct mismatch mismatch_find(const struct tier *tier, int a, int *peers)
{
    int count = tier_peers(tier, a, peers);
    struct mismatch mismatch = {-1, -1, -1};

    for (int k = 0; k < tier->upper_count; k++) {
        int usual = tier_usual_bundle(tier, a, peers, count, k);
        int difference = tier_bundle(tier, a)[k] - usual;

        if (usual < 0)
            continue;
        if (difference > 0 && mismatch.over < 0)
            mismatch.over = k;
        if (difference < 0 && mismatch.under < 0)
            mismatch.under = k;
    }
    if (mismatch.over >= 0)
        mismatch.port = surplus_cable(tier, a, mismatch.over, peers, count);
    return mismatch;
}

/* Reports a switch with as many uplinks as its peers, but not to the same switches. */
static void judge_unequal(struct tier *tier, int a, int *peers)
{
    struct mismatch mismatch = mismatch_find(tier, a, peers), other;
    struct text_line cable;
    int b;

    if (mismatch.over < 0 || mismatch.under < 0 || mismatch.port < 0)
        return;
    for (b = a + 1; b < tier->lower_count; b++) {
        other = mismatch_find(tier, b, peers);
        if (!tier->is_reported[b] && other.over == mismatch.under && other.under == mismatch.over)
            break;
    }
    cable = subnet_port_text(tier->subnet, mismatch.port);
    tier->is_reported[a] = true;
    if (b < tier->lower_count) {
        subnet_finding_add(
            tier->findings, SUBNET_UPLINKS, VERDICT_FAIL, "", switch_text(tier, a).text,
            "uplinks of %.120s (to %.100s) and %.120s are in each other's place: swap the two "
            "cables",
            cable.text, subnet_device_text(tier->subnet, tier->upper[mismatch.over]).text,
            subnet_port_text(tier->subnet, other.port).text);
        tier->is_reported[b] = true;
    } else {
        subnet_finding_add(
            tier->findings, SUBNET_UPLINKS, VERDICT_FAIL, "", switch_text(tier, a).text,
            "%.120s goes to %.110s, which has one uplink too many; one is missing to %.100s%s: "
            "move it there",
            cable.text,
            subnet_port_text(tier->subnet, tier->subnet->ports[mismatch.port].peer).text,
            subnet_device_text(tier->subnet, tier->upper[mismatch.under]).text,
            tier_empty_port(tier->subnet, tier->upper[mismatch.under]).text);
    }
}

/* Reports a switch with one uplink more than its peers: the cable belongs to a node or to another
 * switch. */
static void judge_surplus(struct tier *tier, int a, int *peers)
{
    struct mismatch mismatch = mismatch_find(tier, a, peers);
    int count = tier_peers(tier, a, peers), times, usual;
    struct subnet_finding *finding;

    for (int i = 0; i < count; i++)
        tier->scratch[i] = uplinks_of(tier, peers[i]);
    usual = tier_mode(tier->scratch, count, &times);
    if (2 * times <= count || count < 2 || uplinks_of(tier, a) != usual + 1 || mismatch.over < 0 ||
        mismatch.under >= 0 || mismatch.port < 0)
        return;
    finding = subnet_finding_add(
        tier->findings, SUBNET_UPLINKS, VERDICT_WARN, "", switch_text(tier, a).text,
        "%.120s goes to %.120s, one uplink more than the %d that %d of %d switches like it "
        "have: see whether it is the cable of a node or of another switch",
        subnet_port_text(tier->subnet, mismatch.port).text,
        subnet_port_text(tier->subnet, tier->subnet->ports[mismatch.port].peer).text, usual, times,
        count);
    finding->value = usual + 1;
    finding->limit = usual;
    tier->is_reported[a] = true;
}

/* Compares each switch with its peers, then each pod with the other pods. */
static void judge_tree(struct tier *tier, int *peers)
{
    for (int i = 0; i < tier->lower_count; i++)
        judge_across(tier, i, peers);
    if (tier->lower_count < 2)
        return;
    for (int i = 0; i < tier->lower_count; i++)
        if (!tier->is_reported[i])
            judge_missing(tier, i, peers);
    for (int i = 0; i < tier->lower_count; i++)
        if (!tier->is_reported[i])
            judge_unequal(tier, i, peers);
    for (int i = 0; i < tier->lower_count; i++)
        if (!tier->is_reported[i])
            judge_surplus(tier, i, peers);
    tier_judge_pods(tier);
}

static void judge_tier(const struct subnet *subnet, int plane, int level,
                       struct subnet_findings *findings)
{
    struct tier tier = {.subnet = subnet, .findings = findings};
    int rv = tier_make(&tier, plane, level);
    int *peers = rv == 0 ? calloc(subnet->device_count + 1, sizeof *peers) : NULL;

    tier.has_rings = peers && has_rings(&tier);
    if (peers && tier.upper_count > 0)
        judge_tree(&tier, peers);
    else if (peers && tier.lower_count > 2)
        tier_judge_mesh(&tier);
    findings->is_out_of_memory |= !peers;
    free(peers);
    tier_clear(&tier);
}

/* Whether the leaf has a cable to another switch. */
static bool has_uplink(const struct subnet *subnet, int device)
{
    const struct subnet_device *of = &subnet->devices[device];

    for (int i = 0; i < of->port_count; i++) {
        int other = subnet_peer_device(subnet, &subnet->ports[of->first_port + i]);

        if (other >= 0 && subnet->devices[other].kind == SUBNET_SWITCH)
            return true;
    }
    return false;
}

/* The attachments of each leaf. */
struct leaf_counts {
    int *nodes;                /* [device]: the number of attachments */
    int *rail;                 /* [device]: the rail of the last attachment */
    int *joined, *unconnected; /* [rail]: its leaves with and without a cable to another switch */
    bool *is_counted;          /* [rail][device] */
};

static void leaf_counts_clear(struct leaf_counts *counts)
{
    free(counts->nodes);
    free(counts->rail);
    free(counts->joined);
    free(counts->unconnected);
    free(counts->is_counted);
}

/* Returns 0, or -1 if memory is out. Clear counts in both cases. */
static int leaf_counts_make(const struct subnet *subnet, struct leaf_counts *counts)
{
    size_t devices = subnet->device_count, rails = subnet->rails.count;

    *counts = (struct leaf_counts){.nodes = calloc(devices + 1, sizeof *counts->nodes),
                                   .rail = calloc(devices + 1, sizeof *counts->rail),
                                   .joined = calloc(rails + 1, sizeof *counts->joined),
                                   .unconnected = calloc(rails + 1, sizeof *counts->unconnected),
                                   .is_counted = calloc(rails * devices + 1, sizeof(bool))};
    if (!counts->nodes || !counts->rail || !counts->joined || !counts->unconnected ||
        !counts->is_counted)
        return -1;
    for (size_t i = 0; i < subnet->attachment_count; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];
        bool *is_counted = &counts->is_counted[(size_t)at->rail * devices + (size_t)at->leaf];

        counts->nodes[at->leaf]++;
        counts->rail[at->leaf] = at->rail;
        if (!*is_counted)
            (has_uplink(subnet, at->leaf) ? counts->joined : counts->unconnected)[at->rail]++;
        *is_counted = true;
    }
    return 0;
}

/* Reports a leaf without a cable to another switch, if at least half of the leaves of its rail have
 * one. Only a network read from a file has such a leaf: it cannot be discovered. */
static void judge_unconnected(const struct subnet *subnet, const struct leaf_counts *counts,
                              int leaf, struct subnet_findings *findings)
{
    int rail = counts->rail[leaf], nodes = counts->nodes[leaf];
    struct text_line name = subnet_device_text(subnet, leaf);

    if (nodes == 0 || counts->joined[rail] < counts->unconnected[rail])
        return;
    subnet_finding_add(findings, SUBNET_UPLINKS, VERDICT_FAIL, "", name.text,
                       "%.120s with %d node%s has no uplink at all: check its cables to the "
                       "switches above",
                       name.text, nodes, text_plural(nodes))
        ->value = 0;
}

void subnet_judge_uplinks(const struct subnet *subnet, struct subnet_findings *findings)
{
    struct leaf_counts counts;
    int rv = leaf_counts_make(subnet, &counts);

    for (size_t i = 0; rv == 0 && i < subnet->device_count; i++)
        if (subnet->devices[i].level == 0 && !has_uplink(subnet, (int)i))
            judge_unconnected(subnet, &counts, (int)i, findings);
    leaf_counts_clear(&counts);
    findings->is_out_of_memory |= rv != 0;
    for (int plane = 0; plane < subnet->plane_count; plane++)
        for (int level = 0; level < subnet->level_count; level++)
            judge_tier(subnet, plane, level, findings);
}
