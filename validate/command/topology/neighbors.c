/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/topology/fabric.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/command_constants.h"
#include "lib/fabric/fabric.h"
#include "validate/command/command.h"
#include "validate/report/table.h"
#include "validate/slurm/step/process.h"
#include "validate/subnet/subnet.h"

/* Prints what this node's lldpd has received, as text and, for muster certify, as records. */

/* Returns 0 with a malloc'd *text, or -1 with err. */
static int query_lldpd(char **text, struct error *err)
{
    static const char *const words[] = {"lldpcli",   "-f",      "json", "show",
                                        "neighbors", "details", NULL};
    struct error why;

    return process_output(words, NEIGHBORS_S, text, &why) == 0
               ? 0
               : error_set(err, "%s: is lldpd running?", why.text);
}

static void print_people(const struct subnet_neighbors *neighbors)
{
    const struct subnet unnamed = {.is_ethernet = true};
    struct table table = {0};

    table_heading(&table, "INTERFACE\tSWITCH\tID\tPORT\tSPEED");
    for (size_t i = 0; i < neighbors->count; i++) {
        const struct subnet_neighbor *item = &neighbors->items[i];

        table_cells(&table, "%s\t%s\t%s\t%s\t%s", item->interface, *item->name ? item->name : "-",
                    item->chassis, item->port, subnet_rate_text(&unnamed, item->rate).text);
    }
    table_end(&table, stdout, "");
    if (neighbors->count == 0)
        puts("no switch found by LLDP");
}

/* Formats "leaf1 Eth1/5"; "-" for no name, and '_' for blanks in a name. */
static void describe(const struct subnet_neighbor *item, char *text, size_t size)
{
    char *end;

    snprintf(text, size, "%s", *item->name ? item->name : "-");
    for (end = text; *end; end++)
        if (*end == ' ')
            *end = '_';
    snprintf(end, size - (size_t)(end - text), " %s", item->port);
}

/* Writes records: doc/records.md. The first has the number of the others. */
static void write_records(const struct subnet_neighbors *neighbors, const char *node,
                          const char *management)
{
    size_t count = 0;

    for (size_t i = 0; i < neighbors->count; i++)
        count += strcmp(neighbors->items[i].interface, management) != 0;
    for (size_t i = 0; i <= neighbors->count; i++) {
        const struct subnet_neighbor *item = i > 0 ? &neighbors->items[i - 1] : NULL;
        struct record record;
        char message[128];

        if (item && strcmp(item->interface, management) == 0)
            continue;
        record = RECORD(.suite = "topology", .test = "net.topology",
                        .metric = item ? "neighbor" : "neighbors", .node = node,
                        .value = item ? subnet_rate_mbps(item->rate) : (double)count,
                        .unit = item ? "Mb/s" : "count");
        if (item) {
            describe(item, message, sizeof message);
            record.part = item->interface;
            record.peer = item->chassis;
            record.message = message;
        }
        record_write(stdout, &record);
    }
}

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct node_options),
    OPTION('j', "json", NULL, "print records as JSON lines, without the management interface", FLAG,
           OPTION_FIELD(struct node_options, as_json)),
    OPTION('\0', "neighbors", NULL, NULL, FLAG, OPTION_FIELD(struct node_options, is_named)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster topology --neighbors",
    .summary = "Prints the switch ports to which this node's interfaces are cabled, as learned by "
               "lldpd on this node.",
    .status = "0 lldpd answered, 2 usage, 3 no answer.",
    .rows = rows,
};

static int show(const struct node_options *options, const struct node_view *node_view)
{
    const struct nic *management = node_view->fabric.management;
    const char *node = command_node(NULL, "");
    struct subnet_neighbors neighbors = {0};
    char *text = NULL;
    struct error err;
    int status = COMMAND_PASS;

    if (query_lldpd(&text, &err) != 0 ||
        subnet_neighbors_read(&neighbors, node, text, strlen(text), &err) != 0)
        status = command_failed(COMMAND_UNKNOWN, "muster topology", "%s", err.text);
    else if (options->as_json)
        write_records(&neighbors, node, management ? management->name : "");
    else
        print_people(&neighbors);
    free(text);
    subnet_neighbors_clear(&neighbors);
    return status;
}

int command_topology_neighbors(int argc, char **argv)
{
    return command_on_node(&set, argc, argv, show);
}
