/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/findings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* topology.conf by itself: errors that slurmctld refuses or warns of (src/plugins/topology/tree of
 * Slurm 22.05), and nodes that are in it twice or not at all. */

struct conf_check {
    const struct subnet *subnet;
    const struct topology_conf *conf;
    const struct subnet_groups *groups; /* group i is leaf i of conf */
    struct subnet_findings *findings;
};

static struct text_line place(const struct conf_check *check, const struct topology_place *at)
{
    return topology_conf_place(check->conf, at);
}

static bool is_one_file(const struct topology_place *at, const struct topology_place *other)
{
    return at->file && other->file ? strcmp(at->file, other->file) == 0 : at->file == other->file;
}

/* Returns "line 3", with the file's name if it is not that of `other`. */
static struct text_line line_text(const struct conf_check *check, const struct topology_place *at,
                                  const struct topology_place *other)
{
    return is_one_file(at, other) ? text_line("line %d", at->line) : place(check, at);
}

/* Returns switch i of all, leaves first. */
static const struct topology_switch *switch_at(const struct topology_conf *conf, size_t i)
{
    return i < conf->count ? &conf->leaves[i] : &conf->switches[i - conf->count];
}

static void judge_duplicates(const struct conf_check *check)
{
    const struct topology_conf *conf = check->conf;

    for (size_t i = 1; i < conf->count + conf->switch_count; i++) {
        const char *name = switch_at(conf, i)->name;
        const struct topology_place *at = &switch_at(conf, i)->at, *first;
        size_t k = 0;

        while (strcmp(switch_at(conf, k)->name, name) != 0)
            k++;
        if (k == i)
            continue;
        first = &switch_at(conf, k)->at;
        if (is_one_file(at, first) && at->line < first->line) {
            first = at;
            at = &switch_at(conf, k)->at;
        }
        subnet_finding_add(check->findings, SUBNET_CONF, VERDICT_FAIL, "", name,
                           "%s has %s a second time, first in %s: slurmctld does not start with "
                           "it; remove or rename one",
                           place(check, at).text, name, line_text(check, first, at).text);
    }
}

static void judge_loops(const struct conf_check *check)
{
    const struct topology_conf *conf = check->conf;

    for (size_t i = 0; i < conf->switch_count; i++) {
        int at = (int)i;
        bool is_first = true;

        for (size_t k = 0; k < conf->switch_count && at >= 0; k++) {
            at = topology_conf_parent(conf, conf->switches[at].name);
            is_first = is_first && at >= (int)i;
            if (at == (int)i)
                break;
        }
        if (at != (int)i || !is_first)
            continue;
        subnet_finding_add(check->findings, SUBNET_CONF, VERDICT_FAIL, "", conf->switches[i].name,
                           "%s has %s above itself: slurmctld does not start with it; correct its "
                           "Switches= or those of the switches below it",
                           place(check, &conf->switches[i].at).text, conf->switches[i].name);
    }
}

/* Reports the nodes of the leaf that another leaf has too, in one finding. */
static void judge_shared(const struct conf_check *check, size_t leaf)
{
    const struct topology_conf *conf = check->conf;
    const struct hostlist *nodes = &conf->leaves[leaf].below;
    struct hostlist shared = {0};
    int other = -1;

    for (size_t i = 0; i < nodes->count; i++) {
        int node = subnet_node(check->subnet, nodes->names[i]);
        int group = node < 0 ? -1 : check->groups->group_of[node];

        if (group < 0 || group == (int)leaf || (other >= 0 && group != other) ||
            strcmp(conf->leaves[group].name, conf->leaves[leaf].name) == 0)
            continue;
        other = group;
        if (hostlist_append(&shared, nodes->names[i]) != 0)
            check->findings->is_out_of_memory = true;
    }
    if (shared.count > 0)
        subnet_finding_add(check->findings, SUBNET_CONF, VERDICT_WARN, "", conf->leaves[leaf].name,
                           "%s has %.200s under %s, %s has %s under %s too: leave %s in the line "
                           "where the cable is",
                           place(check, &conf->leaves[leaf].at).text, hostlist_text(&shared).text,
                           conf->leaves[leaf].name,
                           line_text(check, &conf->leaves[other].at, &conf->leaves[leaf].at).text,
                           shared.count == 1 ? "it" : "them", conf->leaves[other].name,
                           shared.count == 1 ? "it" : "them");
    hostlist_clear(&shared);
}

/* Whether two names are the same except for their digits. */
static bool is_alike(const char *one, const char *other)
{
    for (;; one++, other++) {
        while (isdigit((unsigned char)*one))
            one++;
        while (isdigit((unsigned char)*other))
            other++;
        if (*one != *other)
            return false;
        if (!*one)
            return true;
    }
}

/* Reports nodes on the leaf's switches, with names like its nodes, that no line has. A management
 * host or a server has another kind of name. */
static void judge_left_out(const struct conf_check *check, size_t leaf)
{
    const struct subnet *subnet = check->subnet;
    const struct topology_switch *of = &check->conf->leaves[leaf];
    struct hostlist out = {0};
    int last = -1;

    for (size_t i = 0; i < subnet->attachment_count && of->below.count > 0; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];

        if (check->groups->group_of[at->node] >= 0 || at->node == last ||
            check->groups->groups[leaf].leaves[at->rail] != at->leaf ||
            !is_alike(subnet->nodes.names[at->node], of->below.names[0]))
            continue;
        last = at->node;
        if (hostlist_append(&out, subnet->nodes.names[at->node]) != 0)
            check->findings->is_out_of_memory = true;
    }
    if (out.count > 0)
        subnet_finding_add(check->findings, SUBNET_CONF, VERDICT_WARN, "", of->name,
                           "%.200s %s cabled to the switches of %s and %s in no line of "
                           "topology.conf: add %s to %s",
                           hostlist_text(&out).text, out.count == 1 ? "is" : "are", of->name,
                           out.count == 1 ? "is" : "are", out.count == 1 ? "it" : "them",
                           place(check, &of->at).text);
    hostlist_clear(&out);
}

/* Reports a leaf under no switch, while a switch joins others: Slurm gives no job nodes of both. */
static void judge_unconnected_leaf(const struct conf_check *check, size_t leaf)
{
    const struct topology_conf *conf = check->conf;

    if (conf->switch_count == 0 || topology_conf_parent(conf, conf->leaves[leaf].name) >= 0)
        return;
    for (size_t rail = 0; rail < check->subnet->rails.count; rail++) {
        int device = check->groups->groups[leaf].leaves[rail];

        for (size_t i = 0; device >= 0 && i < conf->count; i++) {
            int other = check->groups->groups[i].leaves[rail];

            if (i == leaf || other < 0 || topology_conf_parent(conf, conf->leaves[i].name) < 0 ||
                check->subnet->devices[other].plane != check->subnet->devices[device].plane)
                continue;
            subnet_finding_add(
                check->findings, SUBNET_CONF, VERDICT_WARN, "", conf->leaves[leaf].name,
                "%s has %s, which is under no other switch though cables join it to "
                "%s: Slurm gives no job nodes of both; add it to the Switches= of "
                "%s",
                place(check, &conf->leaves[leaf].at).text, conf->leaves[leaf].name,
                conf->leaves[i].name,
                conf->switches[topology_conf_parent(conf, conf->leaves[i].name)].name);
            return;
        }
    }
}

/* Whether one of the leaf's switches, of any rail, has the leaf's name. */
static bool is_own_name(const struct conf_check *check, size_t leaf)
{
    for (size_t rail = 0; rail < check->subnet->rails.count; rail++) {
        int device = check->groups->groups[leaf].leaves[rail];

        if (device >= 0 &&
            strcmp(check->subnet->devices[device].name, check->conf->leaves[leaf].name) == 0)
            return true;
    }
    return false;
}

/* Reports a leaf with the name of another leaf's switch: a technician would go to the wrong switch.
 * Two leaves with swapped names are reported once. */
static void judge_leaf_name(const struct conf_check *check, size_t leaf)
{
    const struct subnet *subnet = check->subnet;
    const struct topology_conf *conf = check->conf;
    const char *own = conf->leaves[leaf].name;

    for (size_t rail = 0; rail < subnet->rails.count && !is_own_name(check, leaf); rail++) {
        int device = check->groups->groups[leaf].leaves[rail];

        if (device < 0)
            continue;
        for (size_t i = 0; i < conf->count; i++) {
            int other = check->groups->groups[i].leaves[rail];

            if (i == leaf || other < 0 || other == device ||
                strcmp(subnet->devices[other].name, own) != 0 ||
                (i < leaf && strcmp(conf->leaves[i].name, subnet->devices[device].name) == 0))
                continue;
            subnet_finding_add(check->findings, SUBNET_CONF, VERDICT_WARN, "", own,
                               "%s names the switch of its nodes %s, but its own name is %.120s, "
                               "and %s is the switch of the nodes of %s: correct the names",
                               place(check, &conf->leaves[leaf].at).text, own,
                               subnet_device_text(subnet, device).text, own,
                               line_text(check, &conf->leaves[i].at, &conf->leaves[leaf].at).text);
            return;
        }
    }
}

/* Reports a leaf whose nodes are on the switches of an earlier leaf, rail by rail. */
static void judge_split(const struct conf_check *check, size_t leaf)
{
    const struct topology_conf *conf = check->conf;

    for (size_t i = 0; i < leaf; i++) {
        size_t same = 0, other = 0;

        if (strcmp(conf->leaves[i].name, conf->leaves[leaf].name) == 0)
            continue; /* already reported */
        for (size_t rail = 0; rail < check->subnet->rails.count; rail++) {
            int one = check->groups->groups[i].leaves[rail];
            int two = check->groups->groups[leaf].leaves[rail];

            same += one >= 0 && one == two;
            other += one != two;
        }
        if (same == 0 || other > 0)
            continue;
        subnet_finding_add(check->findings, SUBNET_CONF, VERDICT_WARN, "", conf->leaves[leaf].name,
                           "%s has %s, whose nodes are cabled to the switches of %s in %s: Slurm "
                           "places jobs as if these were apart; make them one line",
                           place(check, &conf->leaves[leaf].at).text, conf->leaves[leaf].name,
                           conf->leaves[i].name,
                           line_text(check, &conf->leaves[i].at, &conf->leaves[leaf].at).text);
        return;
    }
}

void subnet_judge_conf(const struct subnet *subnet, const struct topology_conf *conf,
                       const struct subnet_groups *groups, struct subnet_findings *findings)
{
    struct conf_check check = {
        .subnet = subnet, .conf = conf, .groups = groups, .findings = findings};

    if (!conf)
        return;
    judge_duplicates(&check);
    judge_loops(&check);
    for (size_t i = 0; i < conf->count; i++) {
        judge_shared(&check, i);
        judge_left_out(&check, i);
        judge_unconnected_leaf(&check, i);
        judge_leaf_name(&check, i);
        judge_split(&check, i);
    }
}
