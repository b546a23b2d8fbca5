/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/findings.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

/* The switches above the leaves of topology.conf: compares the leaves that a switch of
 * topology.conf joins with the leaves whose cables lead to the same switch. A tree coarser than the
 * cables is no fault, as one switch above all leaves of several pods. */

struct upper {
    const struct subnet *subnet;
    const struct topology_conf *conf;
    const struct subnet_groups *groups; /* group i is leaf i of conf */
    struct subnet_findings *findings;
    int *parent;    /* [leaf of conf]: the index of its switch in conf, -1 */
    bool *is_above; /* [leaf][device]: a cable leads up from a switch of the leaf to the device */
};

static bool *above(const struct upper *upper, size_t leaf)
{
    return &upper->is_above[leaf * upper->subnet->device_count];
}

/* Returns a device above both leaves, or -1. */
static int common_device(const struct upper *upper, size_t one, size_t other)
{
    for (size_t i = 0; i < upper->subnet->device_count; i++)
        if (above(upper, one)[i] && above(upper, other)[i])
            return (int)i;
    return -1;
}

static void find_above(const struct upper *upper, size_t leaf)
{
    const struct subnet *subnet = upper->subnet;

    for (size_t rail = 0; rail < subnet->rails.count; rail++) {
        int device = upper->groups->groups[leaf].leaves[rail];

        for (int number = 1; device >= 0 && number <= subnet->devices[device].port_count;
             number++) {
            int other = subnet_peer_device(subnet, subnet_port(subnet, device, number));

            if (other >= 0 && subnet->devices[other].kind == SUBNET_SWITCH &&
                subnet->devices[other].level > subnet->devices[device].level)
                above(upper, leaf)[other] = true;
        }
    }
}

static bool has_any(const struct upper *upper, size_t leaf)
{
    for (size_t i = 0; i < upper->subnet->device_count; i++)
        if (above(upper, leaf)[i])
            return true;
    return false;
}

/* Returns with how many other leaves of the switch `parent` of conf the leaf shares a switch above.
 * *count: the number of these leaves that have a switch above. */
static size_t count_joined(const struct upper *upper, size_t leaf, int parent, size_t *count)
{
    size_t joined = 0;

    *count = 0;
    for (size_t i = 0; i < upper->conf->count; i++) {
        if (i == leaf || upper->parent[i] != parent || !has_any(upper, i))
            continue;
        ++*count;
        joined += common_device(upper, leaf, i) >= 0;
    }
    return joined;
}

static struct text_line place(const struct upper *upper, int which)
{
    return topology_conf_place(upper->conf, &upper->conf->switches[which].at);
}

/* Lists two switches above the leaf, then "...": "spine2-1 (0x...), spine2-2 (0x...)". */
static void name_above(const struct upper *upper, size_t leaf, char *text, size_t size)
{
    size_t count = 0;

    text[0] = '\0';
    for (size_t i = 0; i < upper->subnet->device_count && count < 3; i++) {
        if (!above(upper, leaf)[i])
            continue;
        text_join(text, size, ", ", "%.90s",
                  count++ < 2 ? subnet_device_text(upper->subnet, (int)i).text : "...");
    }
}

/* Judges a leaf that conf has under one switch, but whose cables lead to the switches above the
 * leaves of another. */
static void judge_leaf(const struct upper *upper, size_t leaf)
{
    const struct topology_conf *conf = upper->conf;
    int parent = upper->parent[leaf];
    size_t own_count, own;
    char spines[320];

    if (parent < 0 || !has_any(upper, leaf))
        return;
    own = count_joined(upper, leaf, parent, &own_count);
    if (own_count == 0 || own > 0)
        return;
    for (size_t i = 0; i < conf->switch_count; i++) {
        size_t count, joined = count_joined(upper, leaf, (int)i, &count);

        if ((int)i == parent || 2 * joined <= count)
            continue;
        name_above(upper, leaf, spines, sizeof spines);
        subnet_finding_add(upper->findings, SUBNET_PLACE, VERDICT_FAIL, "", conf->leaves[leaf].name,
                           "%s has %s under %s, but its uplinks go to %s, with those of the leaves "
                           "of %s: move its uplinks to the spines of %s, or correct topology.conf",
                           place(upper, parent).text, conf->leaves[leaf].name,
                           conf->switches[parent].name, spines, conf->switches[i].name,
                           conf->switches[parent].name);
        return;
    }
}

/* Whether every leaf of switch `one` shares a switch above with every leaf of switch `other`.
 * *device: one of these switches. */
static bool is_joined(const struct upper *upper, int one, int other, int *device)
{
    bool has_both = false;

    for (size_t i = 0; i < upper->conf->count; i++)
        for (size_t k = 0; k < upper->conf->count; k++) {
            if (upper->parent[i] != one || upper->parent[k] != other)
                continue;
            *device = common_device(upper, i, k);
            if (*device < 0)
                return false;
            has_both = true;
        }
    return has_both;
}

/* Reports, once, a level of topology.conf that the cables do not have: two switches of conf, but
 * the same spines join the leaves of both. */
static void judge_levels(const struct upper *upper)
{
    const struct topology_conf *conf = upper->conf;
    int device = -1;

    for (size_t i = 0; i < conf->switch_count; i++)
        for (size_t k = i + 1; k < conf->switch_count; k++) {
            if (!is_joined(upper, (int)i, (int)k, &device))
                continue;
            subnet_finding_add(
                upper->findings, SUBNET_CONF, VERDICT_WARN, "", conf->switches[i].name,
                "%s keeps the leaves of %s apart from those of %s, but %.120s joins them as it "
                "joins leaves of one: write one switch for both, or have it written (muster "
                "topology --fabric --write-topology)",
                place(upper, (int)i).text, conf->switches[i].name, conf->switches[k].name,
                subnet_device_text(upper->subnet, device).text);
            return;
        }
}

/* Reports a name under a switch that is not defined in the file: Slurm does not start with it. */
static void judge_names(const struct upper *upper)
{
    const struct topology_conf *conf = upper->conf;

    for (size_t i = 0; i < conf->switch_count; i++)
        for (size_t k = 0; k < conf->switches[i].below.count; k++) {
            const char *name = conf->switches[i].below.names[k];
            bool is_there = false;

            for (size_t n = 0; n < conf->count && !is_there; n++)
                is_there = strcmp(conf->leaves[n].name, name) == 0;
            for (size_t n = 0; n < conf->switch_count && !is_there; n++)
                is_there = strcmp(conf->switches[n].name, name) == 0;
            if (is_there)
                continue;
            subnet_finding_add(upper->findings, SUBNET_CONF, VERDICT_FAIL, "", name,
                               "%s has %s under %s, and no line says what %s is: correct its name, "
                               "or add its line",
                               place(upper, (int)i).text, name, conf->switches[i].name, name);
        }
}

void subnet_judge_upper(const struct subnet *subnet, const struct topology_conf *conf,
                        const struct subnet_groups *groups, struct subnet_findings *findings)
{
    struct upper upper = {.subnet = subnet, .conf = conf, .groups = groups, .findings = findings};
    bool has_memory;

    if (!conf || conf->switch_count == 0)
        return;
    upper.parent = calloc(conf->count + 1, sizeof *upper.parent);
    upper.is_above = calloc(conf->count * subnet->device_count + 1, sizeof *upper.is_above);
    has_memory = upper.parent && upper.is_above;
    findings->is_out_of_memory |= !has_memory;
    for (size_t i = 0; has_memory && i < conf->count; i++) {
        upper.parent[i] = topology_conf_parent(conf, conf->leaves[i].name);
        find_above(&upper, i);
    }
    if (has_memory) {
        judge_names(&upper);
        for (size_t i = 0; i < conf->count; i++)
            judge_leaf(&upper, i);
        judge_levels(&upper);
    }
    free(upper.parent);
    free(upper.is_above);
}
