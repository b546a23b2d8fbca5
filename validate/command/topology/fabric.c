/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/topology/fabric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/atomic_file.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/slurm/slurmconf.h"
#include "validate/command/command.h"
#include "validate/report/table.h"
#include "validate/subnet/findings/findings.h"
#include "validate/subnet/outline.h"

enum { FILES = 64 };

struct options {
    const char *from[FILES];
    size_t from_count;
    const char *lldp, *port, *names, *topology, *written;
    bool as_json, is_fabric;
};

static int take_from(const char *value, void *context, struct error *err)
{
    struct options *options = context;

    if (options->from_count == FILES)
        return error_set(err, "expected at most %d files", FILES);
    options->from[options->from_count++] = value;
    return 0;
}

static const struct option_row rows[] = {
    OPTION('\0', "fabric", NULL, NULL, FLAG, OPTION_FIELD(struct options, is_fabric)),
    OPTION('f', "from", "FILE",
           "read output of ibnetdiscover instead of the subnet; may be repeated, once per subnet",
           CALL, .take = take_from),
    COMMAND_JSON(struct options),
    OPTION('l', "lldp", "DIR",
           "Ethernet: files NODE.json in DIR, the output of lldpcli -f json show neighbors details "
           "on each node",
           TEXT, OPTION_FIELD(struct options, lldp)),
    OPTION('n', "names", "FILE",
           "names of adapters and switches, lines of 0xGUID \"NAME\", if their descriptions do not "
           "start with the node's name",
           TEXT, OPTION_FIELD(struct options, names)),
    OPTION('p', "port", "CA:PORT", "discover only through this port, such as mlx5_0:1", TEXT,
           OPTION_FIELD(struct options, port)),
    OPTION('t', "topology", "FILE",
           "topology.conf or topology.yaml with the expected places of nodes; default: Slurm's "
           "own, but none with --from or --lldp",
           TEXT, OPTION_FIELD(struct options, topology)),
    OPTION('w', "write-topology", "FILE",
           "write the topology found as topology.conf, or as topology.yaml if FILE ends in .yaml; "
           "-: standard output, with nothing else on it",
           TEXT, OPTION_FIELD(struct options, written)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster topology",
    .usage = "muster topology --fabric [OPTION...]",
    .summary = "Discovers the InfiniBand subnet, prints its switches and what is wrong with it: "
               "cables in the wrong place, nodes and rails that are missing or crossed, links that "
               "are narrow or slow, uplinks that are missing or unequal, error counters. Needs "
               "root.",
    .status = "0 no fault or warnings only, 1 a fault, 2 usage, 3 cannot tell.",
    .rows = rows,
};

/* Returns -1 to continue, else the exit status. */
static int read_options(int argc, char **argv, struct options *options)
{
    int status = command_options(&set, argc, argv, options);

    if (status >= 0)
        return status;
    if ((options->from_count > 0 || options->lldp) && options->port)
        return command_misuse(argv[0], "%s reads files: --port is for the subnet",
                              options->lldp ? "--lldp" : "--from");
    if (options->from_count > 0 && options->lldp)
        return command_misuse(argv[0], "--from (InfiniBand) and --lldp (Ethernet) are mutually "
                                       "exclusive");
    if (options->as_json && options->written && strcmp(options->written, "-") == 0)
        return command_misuse(argv[0],
                              "--json and --write-topology=- cannot both use standard output");
    return -1;
}

static int load_subnet(const struct options *options, struct subnet *subnet)
{
    struct error err;
    int rv;

    if (options->from_count == 0 && !options->lldp && isatty(STDERR_FILENO))
        fprintf(stderr, "%s: querying the subnet ...\n", set.name);
    rv = options->from_count > 0 ? 0
         : options->lldp         ? subnet_read_lldp(options->lldp, subnet, &err)
                                 : subnet_discover(options->port, subnet, &err);
    for (size_t i = 0; rv == 0 && i < options->from_count; i++)
        rv = subnet_read_text(options->from[i], subnet, &err);
    if (rv != 0)
        return command_failed(COMMAND_UNKNOWN, set.name, "%s", err.text);
    if (options->names && subnet_map(subnet, options->names, &err) != 0)
        return command_failed(COMMAND_USAGE, set.name, "%s", err.text);
    if (subnet_finish(subnet, &err) != 0)
        return command_failed(COMMAND_UNKNOWN, set.name, "%s", err.text);
    return COMMAND_PASS;
}

/* Loads the expected topology: the given file, or for a discovered subnet Slurm's own, if any. */
static int load_conf(const struct options *options, struct topology_conf *conf)
{
    char directory[SYSFS_PATH], path[SYSFS_PATH + 16];
    const char *named = options->topology;
    struct error err;

    *conf = (struct topology_conf){0};
    if (!named && options->from_count == 0 && !options->lldp &&
        slurm_client_directory("", directory, sizeof directory, NULL) == 0)
        named = topology_conf_find(directory, path, sizeof path);
    if (!named || topology_conf_read(named, conf, &err) == 0)
        return COMMAND_PASS;
    return command_failed(COMMAND_USAGE, set.name, "%s", err.text);
}

/* The number of cables of a switch to nodes and to other levels, and their usual rate. */
struct cables {
    int nodes, up, down, across;
    struct subnet_rate rate;
};

static struct cables count_cables(const struct subnet *subnet, int device)
{
    const struct subnet_device *of = &subnet->devices[device];
    struct cables cables = {0};

    for (int i = 0; i < of->port_count; i++) {
        const struct subnet_port *port = &subnet->ports[of->first_port + i];
        const struct subnet_device *other;

        if (port->peer < 0)
            continue;
        other = &subnet->devices[subnet->ports[port->peer].device];
        if (subnet_rate_mbps(port->active) > subnet_rate_mbps(cables.rate))
            cables.rate = port->active;
        if (other->kind != SUBNET_SWITCH)
            cables.nodes += !other->is_service;
        else if (other->level > of->level)
            cables.up++;
        else if (other->level < of->level)
            cables.down++;
        else
            cables.across++;
    }
    return cables;
}

static struct text_line level_name(int level)
{
    if (level == 0)
        return text_line("leaf");
    if (level == 1)
        return text_line("spine");
    return level < 0 ? text_line("alone") : text_line("core %d", level - 1);
}

static const struct subnet *sorted;

/* Compares by level, then by name. */
static int switch_compare(const void *a, const void *b)
{
    const struct subnet_device *one = &sorted->devices[*(const size_t *)a],
                               *other = &sorted->devices[*(const size_t *)b];

    return one->level - other->level ?: sysfs_compare(one->name, other->name)
           ?: strcmp(one->id, other->id);
}

static void print_switches(const struct subnet *subnet)
{
    size_t *order = calloc(subnet->device_count + 1, sizeof *order), count = 0;
    struct hostlist *nodes = calloc(subnet->device_count + 1, sizeof *nodes); /* on each leaf */
    struct table table = {0};
    bool has_across = false;

    for (size_t i = 0; nodes && i < subnet->attachment_count; i++)
        (void)hostlist_append(&nodes[subnet->attachments[i].leaf],
                              subnet->nodes.names[subnet->attachments[i].node]);
    for (size_t i = 0; order && nodes && i < subnet->device_count; i++)
        if (subnet->devices[i].kind == SUBNET_SWITCH)
            order[count++] = i;
    sorted = subnet;
    if (order)
        qsort(order, count, sizeof *order, switch_compare);
    for (size_t i = 0; i < count; i++)
        has_across = has_across || count_cables(subnet, (int)order[i]).across > 0;
    table_heading(&table, has_across ? "SWITCH\tID\tLEVEL\tUP\tDOWN\tACROSS\tFASTEST LINK\tNODES"
                                     : "SWITCH\tID\tLEVEL\tUP\tDOWN\tFASTEST LINK\tNODES");
    for (size_t i = 0; i < count; i++) {
        const struct subnet_device *device = &subnet->devices[order[i]];
        struct cables cables = count_cables(subnet, (int)order[i]);
        char *folded = hostlist_fold(&nodes[order[i]]);

        table_cells(&table, "%s\t%s\t%s\t%d\t%d", device->name[0] ? device->name : "-", device->id,
                    level_name(device->level).text, cables.up, cables.down + cables.nodes);
        if (has_across)
            table_cells(&table, "%d", cables.across);
        table_cells(&table, "%s\t%s", subnet_rate_text(subnet, cables.rate).text,
                    folded && *folded ? folded : "-");
        free(folded);
        hostlist_clear(&nodes[order[i]]);
    }
    free(nodes);
    free(order);
    table_print(&table, stdout, false);
    table_clear(&table);
    putchar('\n');
}

static int switch_count(const struct subnet *subnet)
{
    int count = 0;

    for (size_t i = 0; i < subnet->device_count; i++)
        count += subnet->devices[i].kind == SUBNET_SWITCH;
    return count;
}

static int nameless_count(const struct subnet *subnet)
{
    int count = 0;

    for (size_t i = 0; i < subnet->device_count; i++)
        count += subnet->devices[i].kind == SUBNET_ADAPTER && !subnet->devices[i].is_service &&
                 !subnet->devices[i].name[0];
    return count;
}

static void print_people(const struct subnet *subnet, const struct topology_conf *conf,
                         const struct subnet_findings *findings)
{
    bool has_colour = table_has_colour(stdout);
    int nameless = nameless_count(subnet);

    printf("subnet    %s\nswitches  %d on %d level%s\nnodes     %zu, rails %s\nplaces    %s\n\n",
           subnet->source, switch_count(subnet), subnet->level_count,
           text_plural(subnet->level_count), subnet->nodes.count,
           subnet->rails.count > 0 ? hostlist_text(&subnet->rails).text : "-",
           conf ? conf->path : "no topology.conf: using only the cabling");
    print_switches(subnet);
    for (size_t i = 0; i < findings->count; i++) {
        command_print_verdict(stdout, findings->items[i].verdict, has_colour);
        printf("  %s\n", findings->items[i].text);
    }
    if (nameless > 0)
        printf("%d adapter%s no node name in %s: set the node description (rdma-ndd does), or name "
               "%s with --names\n",
               nameless, nameless == 1 ? " has" : "s have",
               nameless == 1 ? "its description" : "their descriptions",
               nameless == 1 ? "it" : "them");
    if (subnet->device_count > 0 && switch_count(subnet) == 0)
        puts("no switch found: nothing to examine");
    else if (findings->count == 0)
        puts("no fault found");
    else
        printf("%zu finding%s\n", findings->count, text_plural(findings->count));
}

/* Writes records: doc/records.md. */
static void write_records(const struct subnet *subnet, const struct subnet_findings *findings)
{
    for (size_t i = 0; i < subnet->attachment_count; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];

        record_put(stdout,
                   RECORD(.suite = "topology", .test = "net.topology", .metric = "switch",
                          .node = subnet->nodes.names[at->node],
                          .part = subnet->rails.names[at->rail]),
                   "%s", subnet_port_text(subnet, at->switch_port).text);
    }
    for (size_t i = 0; i < findings->count; i++) {
        struct record record = subnet_finding_record(&findings->items[i]);

        record.suite = "topology";
        record_write(stdout, &record);
    }
    if (findings->count == 0)
        record_put(stdout,
                   RECORD(.suite = "topology", .test = "net.topology", .verdict = VERDICT_PASS),
                   "%s", "");
}

static int write_outline(const char *path, const struct subnet *subnet,
                         const struct outline *outline, struct error *err)
{
    bool as_yaml = topology_conf_is_yaml(path);
    struct atomic_file file;

    if (strcmp(path, "-") == 0)
        return outline_write(stdout, subnet, outline, as_yaml) == 0
                   ? 0
                   : error_set(err, "no memory for the topology");
    if (atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    if (outline_write(file.stream, subnet, outline, as_yaml) == 0)
        return atomic_file_commit(&file, err);
    errno = ENOMEM;
    return atomic_file_discard(&file, err);
}

/* Prints the nodes that are in the outline only because topology.conf has them. Returns 0, or -1 if
 * memory is out. */
static int print_kept(const char *path, const struct outline *outline)
{
    struct hostlist kept = {0};
    char *folded = NULL;
    int rv = 0;

    for (size_t i = 0; i < outline->count; i++)
        for (size_t k = 0; rv == 0 && k < outline->items[i].kept.count; k++)
            rv = hostlist_append(&kept, outline->items[i].kept.names[k]);
    if (rv == 0 && kept.count > 0) {
        folded = hostlist_fold(&kept);
        if (folded)
            fprintf(stderr, "%s: %s has %s as topology.conf does: not in the network\n", set.name,
                    strcmp(path, "-") == 0 ? "what is written" : path, folded);
        else
            rv = -1;
    }
    free(folded);
    hostlist_clear(&kept);
    return rv;
}

static int write_topology(const struct options *options, const struct subnet *subnet,
                          const struct topology_conf *conf)
{
    struct outline outline;
    struct error err;
    int rv;

    if (subnet_outline(subnet, conf, &outline) != 0)
        rv = error_set(&err, "no memory for the topology");
    else if (outline.count == 0)
        rv = error_set(&err,
                       "%s: no node of the subnet is known, so no topology.conf can be written",
                       options->written);
    else
        rv = write_outline(options->written, subnet, &outline, &err);
    if (rv == 0 && print_kept(options->written, &outline) != 0)
        rv = error_set(&err, "no memory for the topology");
    if (rv != 0)
        fprintf(stderr, "%s: %s\n", set.name, err.text);
    outline_clear(&outline);
    return rv == 0 ? COMMAND_PASS : COMMAND_UNKNOWN;
}

static int report(const struct options *options, const struct subnet *subnet,
                  const struct topology_conf *conf)
{
    struct subnet_findings findings;
    int status = COMMAND_PASS;

    if (subnet_judge(subnet, conf, &findings) != 0)
        return command_failed(COMMAND_UNKNOWN, set.name, "no memory for the subnet");
    if (options->as_json)
        write_records(subnet, &findings);
    else if (!options->written || strcmp(options->written, "-") != 0)
        print_people(subnet, conf, &findings);
    for (size_t i = 0; i < findings.count; i++)
        if (findings.items[i].verdict == VERDICT_FAIL)
            status = COMMAND_FAIL;
    if (options->written && write_topology(options, subnet, conf) != COMMAND_PASS)
        status = COMMAND_UNKNOWN;
    subnet_findings_clear(&findings);
    return status;
}

int command_topology_fabric(int argc, char **argv)
{
    struct subnet subnet = {0};
    struct topology_conf conf = {0};
    struct options options = {0};
    int status = read_options(argc, argv, &options);

    if (status >= 0)
        return status;
    status = load_conf(&options, &conf);
    if (status == COMMAND_PASS)
        status = load_subnet(&options, &subnet);
    if (status == COMMAND_PASS)
        status = report(&options, &subnet, conf.count > 0 ? &conf : NULL);
    subnet_clear(&subnet);
    topology_conf_clear(&conf);
    return status;
}
