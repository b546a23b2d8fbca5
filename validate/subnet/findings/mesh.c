/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/tier.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"

/* Lists switches that lack a cable, with the empty port if there is exactly one: "r3-1 port 6,
 * r3-2". */
static void name_lacking(const struct tier *tier, const int *lacking, int count, char *text,
                         size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        text_join(text, size, ", ", "%.63s%s", tier_device(tier, lacking[i])->name,
                  tier_empty_port(tier->subnet, tier->lower[lacking[i]]).text);
}

static void report(struct tier *tier, int lacking, int usual, const char *text)
{
    struct subnet_finding *finding =
        subnet_finding_add(tier->findings, SUBNET_UPLINKS, VERDICT_FAIL, "",
                           subnet_device_text(tier->subnet, tier->lower[lacking]).text, "%s", text);

    finding->value = tier->across[lacking];
    finding->limit = usual;
}

static void report_switch(struct tier *tier, int lacking, int usual, int times)
{
    struct text_line port = tier_empty_port(tier->subnet, tier->lower[lacking]);
    char text[600];

    snprintf(
        text, sizeof text,
        "%.120s has %d cable%s to other switches, %d of %d like it have %d: check its cables to "
        "them%s%s%s",
        subnet_device_text(tier->subnet, tier->lower[lacking]).text, tier->across[lacking],
        text_plural(tier->across[lacking]), times, tier->lower_count, usual,
        *port.text ? " (its" : "", port.text, *port.text ? " is empty)" : "");
    report(tier, lacking, usual, text);
}

/* Reports two switches that lack one cable each: it is the cable between them. */
static void report_missing_cable(struct tier *tier, const int *lacking, int usual, int times)
{
    char text[600], ports[300];

    name_lacking(tier, lacking, 2, ports, sizeof ports);
    snprintf(
        text, sizeof text,
        "%.120s and %.120s have %d cable%s to other switches each, %d of %d like them have %d: "
        "check the cable between them (%s)",
        subnet_device_text(tier->subnet, tier->lower[lacking[0]]).text,
        subnet_device_text(tier->subnet, tier->lower[lacking[1]]).text, usual - 1,
        text_plural(usual - 1), times, tier->lower_count, usual, ports);
    report(tier, lacking[0], usual, text);
}

/* Reports that as many switches as a switch has neighbors lack one cable each: their common
 * neighbor is off, or half as many cables between them are missing. */
static void report_absent_switch(struct tier *tier, const int *lacking, int usual, int times)
{
    char text[600], ports[300];

    name_lacking(tier, lacking, usual, ports, sizeof ports);
    snprintf(text, sizeof text,
             "%d switches have %d cable%s to other switches each, the other %d of %d have %d: see "
             "whether a switch that all of them lead to is off, and check the cables between "
             "them if none is (%s)",
             usual, usual - 1, text_plural(usual - 1), times, tier->lower_count, usual, ports);
    report(tier, lacking[0], usual, text);
}

/* Returns the number of leaves of topology.conf that are completely absent: a finding reports that
 * they are off. */
static int absent_leaves(const struct tier *tier)
{
    int count = 0;

    for (size_t i = 0; i < tier->findings->count; i++) {
        const struct subnet_finding *finding = &tier->findings->items[i];
        bool is_there = false;

        if (finding->kind != SUBNET_MISSING || *finding->node || !*finding->part)
            continue;
        for (size_t k = 0; k < tier->subnet->device_count; k++)
            is_there |= strcmp(tier->subnet->devices[k].name, finding->part) == 0;
        count += !is_there;
    }
    return count;
}

/* Whether `absent` switches that are off explain `missing` cables that are not there. A cable
 * between two absent switches is missing at no other switch. */
static bool is_explained(int usual, int missing, int absent)
{
    return missing <= usual * absent && missing >= usual * absent - absent * (absent - 1);
}

void tier_judge_mesh(struct tier *tier)
{
    int times, usual = tier_mode(tier->across, tier->lower_count, &times), count = 0, missing = 0;
    int *lacking = tier->scratch;

    if (SUBNET_MESH_USUAL_SHARE * tier->lower_count > times)
        return;
    for (int i = 0; i < tier->lower_count; i++)
        if (tier->across[i] < usual) {
            lacking[count++] = i;
            missing += usual - tier->across[i];
        }
    if (missing > 0 && is_explained(usual, missing, absent_leaves(tier)))
        return;
    if (count == 2 && missing == 2) {
        report_missing_cable(tier, lacking, usual, times);
    } else if (count > 2 && count == usual && missing == usual) {
        report_absent_switch(tier, lacking, usual, times);
    } else {
        for (int i = 0; i < count; i++)
            report_switch(tier, lacking[i], usual, times);
    }
}
