/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A switch with at most this share of its like's uplinks, and no more nodes to each, was meant so:
 * the last leaf of a cluster that is not full. */
#define MEANT_SMALL 0.5

enum { PORTS_MAX = 255 };

/* The switches of one level of one plane and how they are cabled to those above. */
struct tier {
    const struct subnet *subnet;
    struct subnet_findings *findings;
    int *lower, *upper; /* devices */
    int lower_count, upper_count;
    int *place;  /* of every device in lower or upper */
    int *bundle; /* cables of lower i to upper k: bundle[i * upper_count + k] */
    int *up, *down, *across;
    int *scratch;   /* room for every device */
    bool *is_told;  /* for each lower one */
    bool has_rings; /* that switches of one level are cabled to each other is meant */
};

static int *bundle_of(const struct tier *tier, int i)
{
    return tier->bundle + (size_t)i * (size_t)tier->upper_count;
}

static const struct subnet_device *lower_device(const struct tier *tier, int i)
{
    return &tier->subnet->devices[tier->lower[i]];
}

static const char *name_of(const struct tier *tier, int device, char *text, size_t size)
{
    return subnet_device_text(tier->subnet, device, text, size);
}

/* The most frequent number, of equally frequent ones the greatest. *times: how often. Numbers are
 * of cables of one switch. */
static int mode_of(const int *numbers, int count, int *times)
{
    int tally[PORTS_MAX + 1] = {0}, best = 0;

    for (int i = 0; i < count; i++)
        tally[numbers[i] < PORTS_MAX ? numbers[i] : PORTS_MAX]++;
    for (int i = 0; i <= PORTS_MAX; i++)
        if (tally[i] > 0 && tally[i] >= tally[best])
            best = i;
    *times = tally[best];
    return best;
}

/* Whether b is cabled to more than half of the switches that a is. */
static bool is_like(const struct tier *tier, int a, int b)
{
    const int *one = bundle_of(tier, a), *other = bundle_of(tier, b);
    int all = 0, same = 0;

    for (int k = 0; k < tier->upper_count; k++) {
        all += one[k] > 0;
        same += one[k] > 0 && other[k] > 0;
    }
    return 2 * same > all;
}

/* The others of the tier to hold a against: those of its pod where there are any, else all. Fills
 * peers with places. */
static int find_peers(const struct tier *tier, int a, int *peers)
{
    int count = 0;

    for (int i = 0; i < tier->lower_count; i++)
        if (i != a && is_like(tier, a, i))
            peers[count++] = i;
    for (int i = 0; count == 0 && i < tier->lower_count; i++)
        if (i != a)
            peers[count++] = i;
    return count;
}

/* How many cables switch a should have to upper k: as most of its peers have, or where these do not
 * agree as itself to most of the others above. -1: nobody says. */
static int usual_bundle(const struct tier *tier, int a, const int *peers, int count, int k)
{
    int *numbers = tier->scratch, times, usual;

    for (int i = 0; i < count; i++)
        numbers[i] = bundle_of(tier, peers[i])[k];
    usual = mode_of(numbers, count, &times);
    if (2 * times > count)
        return usual;
    usual = mode_of(bundle_of(tier, a), tier->upper_count, &times);
    return 2 * times > tier->upper_count ? usual : -1;
}

/* The upper switch that most peers reach from that port number, -1. */
static int usual_from_port(const struct tier *tier, const int *peers, int count, int number,
                           int *times)
{
    int best = -1;

    *times = 0;
    for (int i = 0; i < count; i++) {
        const struct subnet_port *port = subnet_port(tier->subnet, tier->lower[peers[i]], number);
        int device = port && port->peer >= 0 ? tier->subnet->ports[port->peer].device : -1;
        int same = 0;

        if (device < 0 || tier->place[device] < 0 ||
            tier->subnet->devices[device].level != lower_device(tier, peers[i])->level + 1)
            continue;
        for (int k = 0; k < count; k++) {
            const struct subnet_port *other =
                subnet_port(tier->subnet, tier->lower[peers[k]], number);

            same += other && other->peer >= 0 && tier->subnet->ports[other->peer].device == device;
        }
        if (same > *times) {
            *times = same;
            best = device;
        }
    }
    return best;
}

/* " port 5", when exactly one of the switch's ports among those with cables has none. */
static const char *empty_port(const struct subnet *subnet, int device, char *text, size_t size)
{
    const struct subnet_device *of = &subnet->devices[device];
    int last = 0, empty = 0, count = 0;
    char label[48];

    for (int number = 1; number <= of->port_count; number++)
        if (subnet_port(subnet, device, number)->peer >= 0)
            last = number;
    for (int number = 1; number < last; number++)
        if (subnet_port(subnet, device, number)->peer < 0) {
            empty = number;
            count++;
        }
    if (count == 0 && last < of->port_count) {
        empty = last + 1;
        count = last + 1 == of->port_count;
    }
    text[0] = '\0';
    if (count == 1)
        snprintf(text, size, " %s",
                 subnet_port_label(subnet_port(subnet, device, empty), label, sizeof label));
    return text;
}

static struct subnet_finding *add(struct tier *tier, int a, const char *text)
{
    struct subnet_finding *finding =
        subnet_finding_add(tier->findings, SUBNET_UPLINKS, VERDICT_FAIL, "%s", text);
    char name[400];

    snprintf(finding->part, sizeof finding->part, "%.95s",
             name_of(tier, tier->lower[a], name, sizeof name));
    finding->unit = "count";
    tier->is_told[a] = true;
    return finding;
}

/* Which cables switch a lacks: by the port that its peers use, else by the switch above. Returns
 * how many it named. */
static int name_missing(const struct tier *tier, int a, const int *peers, int count, char *text,
                        size_t size)
{
    const struct subnet *subnet = tier->subnet;
    char name[400], other[64], label[48];
    size_t length = 0;
    int named = 0, times;

    text[0] = '\0';
    for (int number = 1; number <= lower_device(tier, a)->port_count && length < size; number++) {
        const struct subnet_port *port = subnet_port(subnet, tier->lower[a], number);
        int device;

        if (port->peer >= 0)
            continue;
        device = usual_from_port(tier, peers, count, number, &times);
        if (device < 0 || 2 * times <= count ||
            bundle_of(tier, a)[tier->place[device]] >=
                usual_bundle(tier, a, peers, count, tier->place[device]))
            continue;
        length += (size_t)snprintf(
            text + length, size - length, "%s%s to %.90s%s", named++ ? ", " : "",
            subnet_port_label(port, label, sizeof label), name_of(tier, device, name, sizeof name),
            empty_port(subnet, device, other, sizeof other));
    }
    for (int k = 0; named == 0 && k < tier->upper_count && length < size; k++) {
        int usual = usual_bundle(tier, a, peers, count, k);

        if (bundle_of(tier, a)[k] >= usual)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%d to %.90s%s",
                                   length ? ", " : "", usual - bundle_of(tier, a)[k],
                                   name_of(tier, tier->upper[k], name, sizeof name),
                                   empty_port(subnet, tier->upper[k], other, sizeof other));
    }
    return named;
}

static int uplinks_of(const struct tier *tier, int a)
{
    return tier->up[a] + (tier->has_rings ? tier->across[a] : 0);
}

static void judge_missing(struct tier *tier, int a, int *peers)
{
    int count = find_peers(tier, a, peers), times, usual, down;
    char text[600], missing[300], name[400];
    struct subnet_finding *finding;

    for (int i = 0; i < count; i++)
        tier->scratch[i] = uplinks_of(tier, peers[i]);
    usual = mode_of(tier->scratch, count, &times);
    if (count == 0 || uplinks_of(tier, a) >= usual)
        return;
    for (int i = 0; i < count; i++)
        tier->scratch[i] = tier->down[peers[i]];
    down = mode_of(tier->scratch, count, &(int){0});
    if (tier->up[a] <= MEANT_SMALL * usual &&
        (double)tier->down[a] * usual <= (double)down * tier->up[a])
        return;
    name_missing(tier, a, peers, count, missing, sizeof missing);
    snprintf(text, sizeof text, "%.120s has %d uplink%s, %d of %d switches like it have %d: %s%s",
             name_of(tier, tier->lower[a], name, sizeof name), tier->up[a],
             tier->up[a] == 1 ? "" : "s", times, count, usual,
             missing[0] ? "check the cable of its " : "compare its cables with theirs", missing);
    finding = add(tier, a, text);
    finding->value = tier->up[a];
    finding->limit = usual;
}

/* Where nothing is above, or most have such cables, they are meant: a mesh, a dragonfly. */
static bool has_rings(const struct tier *tier)
{
    int with = 0;

    for (int i = 0; i < tier->lower_count; i++)
        with += tier->across[i] > 0;
    return tier->upper_count == 0 || (tier->lower_count > 3 && 4 * with >= 3 * tier->lower_count);
}

/* A cable between two switches of one level where others have none. */
static void judge_across(struct tier *tier, int a, int *peers)
{
    const struct subnet_device *device = lower_device(tier, a);
    char text[600], one[400], other[400], missing[300];
    int count, poor;

    if (tier->across[a] == 0 || tier->has_rings)
        return;
    count = find_peers(tier, a, peers);
    for (int i = 0; i < device->port_count; i++) {
        int port = device->first_port + i, peer = tier->subnet->ports[port].peer;
        int b = peer < 0 ? -1 : tier->place[tier->subnet->ports[peer].device];

        if (peer < port || b < 0 ||
            tier->subnet->devices[tier->subnet->ports[peer].device].level != device->level)
            continue;

        poor = tier->up[a] <= tier->up[b] ? a : b;
        name_missing(tier, poor, peers, count, missing, sizeof missing);
        snprintf(text, sizeof text,
                 "%.120s is cabled to %.120s, a switch of the same level: uplinks belong into the "
                 "switches above%s%.60s%s%s",
                 subnet_port_text(tier->subnet, port, one, sizeof one),
                 subnet_port_text(tier->subnet, peer, other, sizeof other),
                 missing[0] ? ", where " : "", missing[0] ? lower_device(tier, poor)->name : "",
                 missing[0] ? " lacks " : "", missing);
        add(tier, a, text);
        tier->is_told[b] = true;
    }
}

/* The first cable of a to upper k that its peers use otherwise, or the last one. */
static int odd_cable(const struct tier *tier, int a, int k, const int *peers, int count)
{
    const struct subnet_device *device = lower_device(tier, a);
    int last = -1, times;

    for (int i = 0; i < device->port_count; i++) {
        int port = device->first_port + i, peer = tier->subnet->ports[port].peer;

        if (peer < 0 || tier->subnet->ports[peer].device != tier->upper[k])
            continue;
        last = port;
        if (usual_from_port(tier, peers, count, i + 1, &times) != tier->upper[k] &&
            2 * times > count)
            return port;
    }
    return last;
}

struct odd {
    int over, under; /* upper switches with one cable too many, one too few; -1 */
    int port;        /* the cable that is too many */
};

static struct odd find_odd(const struct tier *tier, int a, int *peers)
{
    int count = find_peers(tier, a, peers);
    struct odd odd = {-1, -1, -1};

    for (int k = 0; k < tier->upper_count; k++) {
        int usual = usual_bundle(tier, a, peers, count, k);
        int difference = bundle_of(tier, a)[k] - usual;

        if (usual < 0)
            continue;
        if (difference > 0 && odd.over < 0)
            odd.over = k;
        if (difference < 0 && odd.under < 0)
            odd.under = k;
    }
    if (odd.over >= 0)
        odd.port = odd_cable(tier, a, odd.over, peers, count);
    return odd;
}

/* As many cables as the others, but not to the same switches. */
static void judge_unequal(struct tier *tier, int a, int *peers)
{
    struct odd odd = find_odd(tier, a, peers), other;
    char text[600], cable[400], end[400], under[400], label[64];
    int b;

    if (odd.over < 0 || odd.under < 0 || odd.port < 0)
        return;
    for (b = a + 1; b < tier->lower_count; b++) {
        other = find_odd(tier, b, peers);
        if (!tier->is_told[b] && other.over == odd.under && other.under == odd.over)
            break;
    }
    subnet_port_text(tier->subnet, odd.port, cable, sizeof cable);
    if (b < tier->lower_count) {
        snprintf(text, sizeof text,
                 "uplinks of %.120s (to %.100s) and %.120s are in each other's place: swap the two "
                 "cables",
                 cable, name_of(tier, tier->upper[odd.over], end, sizeof end),
                 subnet_port_text(tier->subnet, other.port, under, sizeof under));
        tier->is_told[b] = true;
    } else {
        snprintf(
            text, sizeof text,
            "%.120s goes to %.110s, where one uplink more than usual is; one is missing to "
            "%.100s%s: move it there",
            cable,
            subnet_port_text(tier->subnet, tier->subnet->ports[odd.port].peer, end, sizeof end),
            name_of(tier, tier->upper[odd.under], under, sizeof under),
            empty_port(tier->subnet, tier->upper[odd.under], label, sizeof label));
    }
    add(tier, a, text);
}

/* Counts the cables of the tier. */
static void tier_count(struct tier *tier)
{
    const struct subnet *subnet = tier->subnet;

    for (int i = 0; i < tier->lower_count; i++) {
        const struct subnet_device *device = lower_device(tier, i);

        for (int k = 0; k < device->port_count; k++) {
            int peer = subnet->ports[device->first_port + k].peer;
            const struct subnet_device *other;

            if (peer < 0)
                continue;
            other = &subnet->devices[subnet->ports[peer].device];
            if (other->kind == SUBNET_SWITCH && other->level == device->level + 1) {
                bundle_of(tier, i)[tier->place[subnet->ports[peer].device]]++;
                tier->up[i]++;
            } else if (other->kind == SUBNET_SWITCH && other->level == device->level) {
                tier->across[i]++;
            } else if (!other->is_service) {
                tier->down[i]++;
            }
        }
    }
}

static int tier_make(struct tier *tier, int plane, int level)
{
    const struct subnet *subnet = tier->subnet;
    size_t all = subnet->device_count + 1;

    tier->lower = calloc(7 * all, sizeof *tier->lower);
    tier->is_told = calloc(all, sizeof *tier->is_told);
    if (!tier->lower || !tier->is_told)
        return -1;
    tier->upper = tier->lower + all;
    tier->place = tier->upper + all;
    tier->up = tier->place + all;
    tier->down = tier->up + all;
    tier->across = tier->down + all;
    tier->scratch = tier->across + all;
    for (size_t i = 0; i < subnet->device_count; i++) {
        const struct subnet_device *device = &subnet->devices[i];

        tier->place[i] = -1;
        if (device->kind != SUBNET_SWITCH || device->plane != plane)
            continue;
        if (device->level == level) {
            tier->place[i] = tier->lower_count;
            tier->lower[tier->lower_count++] = (int)i;
        } else if (device->level == level + 1) {
            tier->place[i] = tier->upper_count;
            tier->upper[tier->upper_count++] = (int)i;
        }
    }
    tier->bundle =
        calloc((size_t)tier->lower_count * (size_t)tier->upper_count + 1, sizeof *tier->bundle);
    if (!tier->bundle)
        return -1;
    tier_count(tier);
    return 0;
}

/* How many uplinks a has and where they begin and end, as port numbers. */
static void uplink_range(const struct tier *tier, int a, int *first, int *last)
{
    const struct subnet_device *device = lower_device(tier, a);

    *first = *last = 0;
    for (int number = 1; number <= device->port_count; number++) {
        int peer = subnet_port(tier->subnet, tier->lower[a], number)->peer;
        const struct subnet_device *other =
            peer < 0 ? NULL : &tier->subnet->devices[tier->subnet->ports[peer].device];

        if (!other || other->kind != SUBNET_SWITCH || other->level != device->level + 1)
            continue;
        *first = *first ? *first : number;
        *last = number;
    }
}

/* A switch above that is off is missing from all alike: the same ports between those that lead up
 * are empty on all, and with them each would have as many cables up as down. */
static void judge_absent_switch(struct tier *tier)
{
    int empty = 0, first, last;
    char text[200] = "", label[48];
    size_t length = 0;
    struct subnet_finding *finding;

    uplink_range(tier, 0, &first, &last);
    for (int number = first; first > 0 && number < last; number++) {
        bool is_empty = true;

        for (int i = 0; is_empty && i < tier->lower_count; i++) {
            const struct subnet_port *port = subnet_port(tier->subnet, tier->lower[i], number);

            is_empty = port && port->peer < 0;
        }
        if (!is_empty)
            continue;
        empty++;
        if (length < sizeof text)
            length += (size_t)snprintf(
                text + length, sizeof text - length, "%s%s", length ? ", " : "",
                subnet_port_label(subnet_port(tier->subnet, tier->lower[0], number), label,
                                  sizeof label));
    }
    for (int i = 0; i < tier->lower_count; i++)
        if (empty == 0 || tier->up[i] + empty != tier->down[i])
            return;
    finding = subnet_finding_add(
        tier->findings, SUBNET_UPLINKS, VERDICT_WARN,
        "all %d switches like %.100s have no cable in %.190s, between ports that lead up, and %d "
        "uplink%s fewer than nodes: see whether a switch above is off",
        tier->lower_count, lower_device(tier, 0)->name, text, empty, empty == 1 ? "" : "s");
    finding->value = tier->up[0];
    finding->limit = tier->down[0];
    finding->unit = "count";
}

static int judge_tier(const struct subnet *subnet, int plane, int level,
                      struct subnet_findings *findings)
{
    struct tier tier = {.subnet = subnet, .findings = findings};
    int rv = tier_make(&tier, plane, level);
    int *peers = rv == 0 ? calloc(subnet->device_count + 1, sizeof *peers) : NULL;

    tier.has_rings = peers && has_rings(&tier);
    for (int i = 0; peers && i < tier.lower_count; i++)
        judge_across(&tier, i, peers);
    for (int i = 0; peers && tier.lower_count > 1 && i < tier.lower_count; i++)
        if (!tier.is_told[i])
            judge_missing(&tier, i, peers);
    for (int i = 0; peers && tier.lower_count > 1 && i < tier.lower_count; i++)
        if (!tier.is_told[i])
            judge_unequal(&tier, i, peers);
    if (peers && tier.lower_count > 1 && tier.upper_count > 0)
        judge_absent_switch(&tier);
    free(peers);
    free(tier.lower);
    free(tier.is_told);
    free(tier.bundle);
    return peers ? 0 : -1;
}

/* Whether the leaf has a cable to another switch. */
static bool has_uplink(const struct subnet *subnet, int device)
{
    const struct subnet_device *of = &subnet->devices[device];

    for (int i = 0; i < of->port_count; i++) {
        int peer = subnet->ports[of->first_port + i].peer;

        if (peer >= 0 && subnet->devices[subnet->ports[peer].device].kind == SUBNET_SWITCH)
            return true;
    }
    return false;
}

static bool has_rail(const struct subnet *subnet, int leaf, int rail)
{
    for (size_t i = 0; i < subnet->attachment_count; i++)
        if (subnet->attachments[i].leaf == leaf && subnet->attachments[i].rail == rail)
            return true;
    return false;
}

/* A leaf that no cable joins to the others, while at least half of those with the same rail are
 * joined.
 * Only a file shows such: nobody can ask it. */
static void judge_lonely(const struct subnet *subnet, int leaf, struct subnet_findings *findings)
{
    int joined = 0, lonely = 0, rail = -1, nodes = 0;
    char name[400];
    struct subnet_finding *finding;

    for (size_t i = 0; i < subnet->attachment_count; i++)
        if (subnet->attachments[i].leaf == leaf) {
            rail = subnet->attachments[i].rail;
            nodes++;
        }
    for (size_t i = 0; i < subnet->device_count; i++) {
        if (!has_rail(subnet, (int)i, rail))
            continue;
        if (has_uplink(subnet, (int)i))
            joined++;
        else
            lonely++;
    }
    if (joined < lonely)
        return;
    finding = subnet_finding_add(findings, SUBNET_UPLINKS, VERDICT_FAIL,
                                 "%.120s with %d node%s has no uplink at all: check its cables to "
                                 "the switches above",
                                 subnet_device_text(subnet, leaf, name, sizeof name), nodes,
                                 nodes == 1 ? "" : "s");
    snprintf(finding->part, sizeof finding->part, "%.95s", name);
    finding->value = 0;
    finding->unit = "count";
}

int subnet_judge_uplinks(const struct subnet *subnet, struct subnet_findings *findings)
{
    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].level == 0 && !has_uplink(subnet, (int)i))
            judge_lonely(subnet, (int)i, findings);
    for (int plane = 0; plane < subnet->plane_count; plane++)
        for (int level = 0; level < subnet->level_count; level++)
            if (judge_tier(subnet, plane, level, findings) != 0)
                return -1;
    return 0;
}
