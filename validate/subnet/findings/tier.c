/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/tier.h"

#include <stdlib.h>

enum { PORTS_MAX = 255 };

int *tier_bundle(const struct tier *tier, int i)
{
    return tier->bundle + (size_t)i * (size_t)tier->upper_count;
}

const struct subnet_device *tier_device(const struct tier *tier, int i)
{
    return &tier->subnet->devices[tier->lower[i]];
}

int tier_mode(const int *numbers, int count, int *times)
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

bool tier_is_like(const struct tier *tier, int a, int b)
{
    const int *one = tier_bundle(tier, a), *other = tier_bundle(tier, b);
    int all = 0, same = 0;

    for (int k = 0; k < tier->upper_count; k++) {
        all += one[k] > 0;
        same += one[k] > 0 && other[k] > 0;
    }
    return 2 * same > all;
}

int tier_peers(const struct tier *tier, int a, int *peers)
{
    int count = 0;

    for (int i = 0; i < tier->lower_count; i++)
        if (i != a && tier_is_like(tier, a, i))
            peers[count++] = i;
    if (count > 0)
        return count;
    for (int i = 0; i < tier->lower_count; i++)
        if (i != a)
            peers[count++] = i;
    return count;
}

int tier_usual_bundle(const struct tier *tier, int a, const int *peers, int count, int k)
{
    int *numbers = tier->scratch, times, usual;

    for (int i = 0; i < count; i++)
        numbers[i] = tier_bundle(tier, peers[i])[k];
    usual = tier_mode(numbers, count, &times);
    if (2 * times > count)
        return usual;
    usual = tier_mode(tier_bundle(tier, a), tier->upper_count, &times);
    return 2 * times > tier->upper_count ? usual : -1;
}

static int beyond(const struct tier *tier, int i, int number)
{
    return subnet_peer_device(tier->subnet, subnet_port(tier->subnet, tier->lower[i], number));
}

int tier_usual_from_port(const struct tier *tier, const int *peers, int count, int number,
                         int *times)
{
    int best = -1;

    *times = 0;
    for (int i = 0; i < count; i++) {
        int device = beyond(tier, peers[i], number), same = 0;

        if (device < 0 || tier->place[device] < 0 ||
            tier->subnet->devices[device].level != tier_device(tier, peers[i])->level + 1)
            continue;
        for (int k = 0; k < count; k++)
            same += beyond(tier, peers[k], number) == device;
        if (same > *times) {
            *times = same;
            best = device;
        }
    }
    return best;
}

/* Counts the cables of the tier. */
static void tier_count(struct tier *tier)
{
    const struct subnet *subnet = tier->subnet;

    for (int i = 0; i < tier->lower_count; i++) {
        const struct subnet_device *device = tier_device(tier, i);

        for (int number = 1; number <= device->port_count; number++) {
            int next = beyond(tier, i, number);
            const struct subnet_device *other = next < 0 ? NULL : &subnet->devices[next];

            if (!other)
                continue;
            if (other->kind == SUBNET_SWITCH && other->level == device->level + 1) {
                tier_bundle(tier, i)[tier->place[next]]++;
                tier->up[i]++;
            } else if (other->kind == SUBNET_SWITCH && other->level == device->level) {
                tier->across[i]++;
            } else if (!other->is_service) {
                tier->down[i]++;
            }
        }
    }
}

int tier_make(struct tier *tier, int plane, int level)
{
    const struct subnet *subnet = tier->subnet;
    size_t all = subnet->device_count + 1;

    tier->lower = calloc(7 * all, sizeof *tier->lower);
    tier->is_reported = calloc(all, sizeof *tier->is_reported);
    if (!tier->lower || !tier->is_reported)
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

void tier_clear(struct tier *tier)
{
    free(tier->lower);
    free(tier->is_reported);
    free(tier->bundle);
}

bool tier_leads_up(const struct tier *tier, int i, int number)
{
    int other = beyond(tier, i, number);

    return other >= 0 && tier->subnet->devices[other].kind == SUBNET_SWITCH &&
           tier->subnet->devices[other].level == tier_device(tier, i)->level + 1;
}

struct text_line tier_empty_port(const struct subnet *subnet, int device)
{
    const struct subnet_device *of = &subnet->devices[device];
    int last = 0, empty = 0, count = 0;

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
    if (count != 1)
        return (struct text_line){""};
    return text_line(" %s", subnet_port_label(subnet_port(subnet, device, empty)).text);
}
