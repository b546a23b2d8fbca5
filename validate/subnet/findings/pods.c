/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "validate/subnet/findings/tier.h"

#include <stdio.h>
#include <stdlib.h>

/* If an upper switch is off, all switches below it lack it alike, and none differs from its
 * neighbors. So they are compared with other pods, and their uplinks with their downlinks. */

/* Lower switches with the same upper switches. */
struct pod {
    int first, count;
    int up, down; /* the cables that most of the switches have, -1: they do not agree */
};

struct pods {
    struct pod *items;
    int count;
    int *of;   /* [lower]: its pod, -1: it has no uplinks */
    int *room; /* scratch: a number for each lower switch */
};

/* Returns the value of counts that most members of a pod have, or -1 if they do not agree. */
static int usual_of(const struct tier *tier, const struct pods *pods, int pod, const int *counts)
{
    int count = 0, times, usual;

    for (int i = 0; i < tier->lower_count; i++)
        if (pods->of[i] == pod)
            pods->room[count++] = counts[i];
    usual = tier_mode(pods->room, count, &times);
    return 2 * times > count ? usual : -1;
}

static int pods_make(const struct tier *tier, struct pods *pods)
{
    size_t room = (size_t)tier->lower_count + 1;

    *pods = (struct pods){.items = calloc(room, sizeof *pods->items),
                          .of = calloc(room, sizeof *pods->of),
                          .room = calloc(room, sizeof *pods->room)};
    if (!pods->items || !pods->of || !pods->room)
        return -1;
    for (int i = 0; i < tier->lower_count; i++)
        pods->of[i] = -1;
    for (int i = 0; i < tier->lower_count; i++) {
        struct pod *pod = &pods->items[pods->count];

        if (pods->of[i] >= 0 || tier->up[i] == 0)
            continue;
        pod->first = i;
        for (int k = i; k < tier->lower_count; k++)
            if (pods->of[k] < 0 && tier_is_like(tier, i, k) && tier_is_like(tier, k, i)) {
                pods->of[k] = pods->count;
                pod->count++;
            }
        pod->up = usual_of(tier, pods, pods->count, tier->up);
        pod->down = usual_of(tier, pods, pods->count, tier->down);
        pods->count++;
    }
    return 0;
}

static void pods_clear(struct pods *pods)
{
    free(pods->items);
    free(pods->of);
    free(pods->room);
}

/* Whether the port is empty on all members of the pod; pod -1: of the whole tier. */
static bool is_empty(const struct tier *tier, const struct pods *pods, int pod, int number)
{
    for (int i = 0; i < tier->lower_count; i++) {
        const struct subnet_port *port;

        if (pod >= 0 && pods->of[i] != pod)
            continue;
        port = subnet_port(tier->subnet, tier->lower[i], number);
        if (!port || port->peer >= 0)
            return false;
    }
    return true;
}

/* Whether the port leads up on more than half of the switches of other pods. */
static bool leads_up_elsewhere(const struct tier *tier, const struct pods *pods, int pod,
                               int number)
{
    int others = 0, up = 0;

    for (int i = 0; i < tier->lower_count; i++) {
        if (pods->of[i] == pod)
            continue;
        others++;
        up += tier_leads_up(tier, i, number);
    }
    return 2 * up > others;
}

/* Appends "port 7" to a list. */
static void list_port(const struct tier *tier, int i, int number, char *text, size_t size)
{
    text_join(text, size, ", ", "%s",
              subnet_port_label(subnet_port(tier->subnet, tier->lower[i], number)).text);
}

/* Reports a pod whose switches have fewer uplinks than those of most other pods, if ports are empty
 * that lead up in the other pods. */
static void judge_pod(struct tier *tier, const struct pods *pods, int which)
{
    const struct pod *pod = &pods->items[which];
    int count = 0, times, usual, empty = 0;
    char ports[200] = "";
    struct subnet_finding *finding;
    struct text_line name;

    for (int i = 0; i < pods->count; i++)
        if (i != which)
            pods->room[count++] = pods->items[i].up < 0 ? 0 : pods->items[i].up;
    usual = tier_mode(pods->room, count, &times);
    if (pod->up < 0 || count < 2 || 2 * times <= count || pod->up >= usual || pod->count < 2)
        return;
    for (int number = 1; number <= tier_device(tier, pod->first)->port_count; number++)
        if (is_empty(tier, pods, which, number) && leads_up_elsewhere(tier, pods, which, number)) {
            list_port(tier, pod->first, number, ports, sizeof ports);
            empty++;
        }
    if (empty == 0)
        return;
    name = subnet_device_text(tier->subnet, tier->lower[pod->first]);
    finding = subnet_finding_add(
        tier->findings, SUBNET_UPLINKS, VERDICT_FAIL, "", name.text,
        "all %d switches like %.120s have %d uplink%s, those of %d of %d other groups have "
        "%d: %.190s %s empty on all of them: see whether the switch above, to which %s, is off",
        pod->count, name.text, pod->up, text_plural(pod->up), times, count, usual, ports,
        empty == 1 ? "is" : "are", empty == 1 ? "that leads" : "these lead");
    finding->value = pod->up;
    finding->limit = usual;
}

/* Finds the first and the last port with an uplink on the first switch. */
static void uplink_range(const struct tier *tier, int *first, int *last)
{
    *first = *last = 0;
    for (int number = 1; number <= tier_device(tier, 0)->port_count; number++)
        if (tier_leads_up(tier, 0, number)) {
            *first = *first ? *first : number;
            *last = number;
        }
}

/* Whether the ports that are empty on all switches would complete the tree: with them a switch has
 * as many cables up as down; or they are the cables to one more upper switch, and only with them is
 * `down` a multiple of `up`. */
static bool makes_even(const struct tier *tier, int up, int down, int empty)
{
    int times, bundle;

    if (up + empty == down)
        return true;
    for (int k = 0; k < tier->upper_count; k++)
        tier->scratch[k] = tier_bundle(tier, 0)[k];
    bundle = tier_mode(tier->scratch, tier->upper_count, &times);
    return empty == bundle && down % (up + empty) == 0 && down % up != 0;
}

/* Reports an upper switch that is off: all lower switches have the same empty ports between those
 * that lead up. */
static void judge_absent_switch(struct tier *tier, const struct pods *pods)
{
    int empty = 0, first, last, times, up, down;
    char ports[200] = "", few[64];
    struct subnet_finding *finding;

    uplink_range(tier, &first, &last);
    for (int number = first; first > 0 && number < last; number++)
        if (is_empty(tier, pods, -1, number)) {
            list_port(tier, 0, number, ports, sizeof ports);
            empty++;
        }
    up = tier_mode(tier->up, tier->lower_count, &times);
    if (empty == 0 || times < tier->lower_count)
        return;
    down = tier_mode(tier->down, tier->lower_count, &times);
    if (2 * times <= tier->lower_count || !makes_even(tier, up, down, empty))
        return;
    if (up + empty == down)
        snprintf(few, sizeof few, "%d uplink%s fewer than nodes", empty, text_plural(empty));
    else
        snprintf(few, sizeof few, "%d uplinks for %d nodes", up, down);
    finding = subnet_finding_add(
        tier->findings, SUBNET_UPLINKS, VERDICT_WARN, "", "",
        "all %d switches like %.100s have no cable in %.190s, between ports that lead up, and %s: "
        "see whether a switch above is off",
        tier->lower_count, tier_device(tier, 0)->name, ports, few);
    finding->value = up;
    finding->limit = up + empty;
}

void tier_judge_pods(struct tier *tier)
{
    struct pods pods;

    if (pods_make(tier, &pods) != 0) {
        tier->findings->is_out_of_memory = true;
    } else {
        for (int i = 0; i < pods.count; i++)
            judge_pod(tier, &pods, i);
        judge_absent_switch(tier, &pods);
    }
    pods_clear(&pods);
}
