/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/slurm/slurmconf.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/stages/neighbors.h"
#include "validate/certify/state/rails.h"
#include "validate/subnet/findings/findings.h"
#include "validate/subnet/outline.h"

/* Finds what is wrong with the nodes' cables, and on which leaves the nodes really are: in the
 * InfiniBand subnet of this host, if the nodes are in it, else in the Ethernet that their lldpds
 * see. */

/* Fills conf with the controller's topology, if topology.conf is not on this host. Returns 0, or -1
 * if memory is out. */
static int conf_from_cluster(const struct certify *certify, struct topology_conf *conf)
{
    const struct cluster *cluster = &certify->cluster;

    snprintf(conf->path, sizeof conf->path, "topology.conf");
    conf->leaves = calloc(cluster->leaf_count + 1, sizeof *conf->leaves);
    if (!conf->leaves)
        return -1;
    for (size_t i = 0; i < cluster->leaf_count; i++) {
        struct topology_switch *leaf = &conf->leaves[conf->count++];

        leaf->name = strdup(cluster->leaves[i]);
        if (!leaf->name)
            return -1;
        for (size_t k = 0; k < cluster->node_count; k++)
            if (cluster->nodes[k].leaf == (int)i &&
                hostlist_append(&leaf->below, cluster->nodes[k].name) != 0)
                return -1;
    }
    return 0;
}

static int conf_find(struct certify *certify, struct topology_conf *conf)
{
    char directory[512], path[600];
    struct error err;

    *conf = (struct topology_conf){0};
    if (certify->cluster.leaf_count == 0)
        return 0;
    if (slurm_client_directory("", directory, sizeof directory, NULL) == 0 &&
        topology_conf_find(directory, path, sizeof path)) {
        if (topology_conf_read(path, conf, &err) == 0)
            return 0;
        certify_note(certify, "%s", err.text);
    }
    return conf_from_cluster(certify, conf);
}

/* Returns the verdict of a finding. A link below its peers and crossed rails make a node unfit. If
 * a cable is in another switch than topology.conf says, one of the two is wrong, and the node
 * works. A node or rail that is not found may only have no name or no adapter, or a packet was
 * lost: the node's own check reports whether a rail is down. */
static enum verdict verdict_on(const struct subnet_finding *finding)
{
    bool is_mild = finding->kind == SUBNET_PLACE || finding->kind == SUBNET_MISSING;

    return finding->verdict == VERDICT_FAIL && is_mild ? VERDICT_WARN : finding->verdict;
}

static void finding_apply(struct certify *certify, const struct subnet_finding *finding)
{
    struct node_run *node_run = *finding->node ? certify_node_run(certify, finding->node) : NULL;
    struct record record = subnet_finding_record(finding);

    if (*finding->node && !node_run)
        return; /* of a node that this run is not about */
    record.suite = "certify";
    record.verdict = verdict_on(finding);
    if (node_run) {
        record.verdict = certify_rails_verdict(certify, node_run, finding->part, record.verdict);
        outcome_note(&node_run->outcome, STAGE_CHECK, record.verdict, record.code, record.test,
                     finding->part, finding->text);
    } else {
        certify->has_fault = certify->has_fault || record.verdict == VERDICT_FAIL;
    }
    if (!node_run || record.verdict == VERDICT_WARN)
        certify_note(certify, "%s", finding->text);
    certify_record(certify, record);
}

static size_t nodes_in(const struct certify *certify, const struct subnet *subnet)
{
    size_t count = 0;

    for (size_t i = 0; i < certify->count; i++)
        count += subnet_node(subnet, certify->node_runs[i].name) >= 0;
    return count;
}

/* Replaces the leaves of topology.conf by those where the cables are. Returns 0, or -1 if memory is
 * out. */
static int leaves_replace(struct certify *certify, const struct outline *outline)
{
    struct cluster *cluster = &certify->cluster;
    char **leaves = calloc(outline->count + 1, sizeof *leaves);
    size_t count = 0;

    for (size_t i = 0; leaves && i < outline->count; i++)
        if (outline->items[i].is_leaf) {
            leaves[count] = strdup(outline->items[i].name);
            count += leaves[count] != NULL;
        }
    if (!leaves)
        return -1;
    for (size_t i = 0; i < cluster->leaf_count; i++)
        free(cluster->leaves[i]);
    free(cluster->leaves);
    cluster->leaves = leaves;
    cluster->leaf_count = count;
    for (size_t i = 0; i < cluster->node_count; i++)
        cluster->nodes[i].leaf = -1;
    for (size_t i = 0, leaf = 0; i < outline->count && leaf < count; i++) {
        if (!outline->items[i].is_leaf)
            continue;
        for (size_t k = 0; k < outline->items[i].members.count; k++) {
            struct cluster_node *node = cluster_node(cluster, outline->items[i].members.names[k]);

            if (node)
                node->leaf = (int)leaf;
        }
        leaf++;
    }
    return 0;
}

static int subnet_apply(struct certify *certify, const struct subnet *subnet,
                        const struct topology_conf *conf)
{
    struct subnet_findings findings = {0};
    struct outline outline = {0};
    int rv = subnet_judge(subnet, conf, &findings);

    for (size_t i = 0; rv == 0 && i < findings.count; i++)
        finding_apply(certify, &findings.items[i]);
    /* with Ethernet, a node that reported nothing would be on no leaf */
    if (rv == 0 && (!subnet->is_ethernet || nodes_in(certify, subnet) == certify->count))
        rv = subnet_outline(subnet, conf, &outline);
    if (rv == 0 && outline.count > 0)
        rv = leaves_replace(certify, &outline);
    outline_clear(&outline);
    subnet_findings_clear(&findings);
    return rv;
}

/* Removes from conf the nodes that are not in the subnet: with Ethernet only what the nodes of this
 * run reported is known. */
static void conf_narrow(struct topology_conf *conf, const struct subnet *subnet)
{
    for (size_t i = 0; i < conf->count; i++) {
        struct hostlist *nodes = &conf->leaves[i].below;
        size_t kept = 0;

        for (size_t k = 0; k < nodes->count; k++) {
            if (subnet_node(subnet, nodes->names[k]) >= 0)
                nodes->names[kept++] = nodes->names[k];
            else
                free(nodes->names[k]);
        }
        nodes->count = kept;
    }
}

/* Compares the nodes' cables with topology.conf and each other, if this host has a port in their
 * InfiniBand subnet or their lldpds report. The leaves that were found count from here on. */
static void run(struct certify *certify)
{
    struct subnet subnet = {0};
    struct topology_conf conf = {0};
    struct error err;
    int rv;

    if (certify_stop)
        return;
    rv = subnet_discover(NULL, &subnet, &err);
    if (rv == 0)
        rv = subnet_finish(&subnet, &err);
    if (rv < 0)
        certify_note(certify, "%s", err.text);
    /* with fewer than half of the nodes it is another network than the nodes' */
    if (rv != 0 || 2 * nodes_in(certify, &subnet) < certify->count) {
        subnet_clear(&subnet);
        rv = certify_neighbors(certify, &subnet, &err);
        if (rv < 0)
            certify_note(certify, "LLDP: %s", err.text);
    }
    if (rv == 0) {
        rv = conf_find(certify, &conf);
        if (rv == 0 && subnet.is_ethernet)
            conf_narrow(&conf, &subnet);
        if (rv != 0 || subnet_apply(certify, &subnet, conf.count > 0 ? &conf : NULL) != 0)
            certify_note(certify, "out of memory for the subnet");
    }
    subnet_clear(&subnet);
    topology_conf_clear(&conf);
}

const struct certify_stage stage_subnet = {
    .stage = STAGE_CHECK,
    .job = JOB_CHECK,
    .level = LEVEL_QUICK,
    .run = run,
};
