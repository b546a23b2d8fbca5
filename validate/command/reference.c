/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "validate/checks/checks.h"
#include "validate/command/command.h"
#include "validate/compare/hints.h"
#include "validate/report/table.h"

static const struct option_row rows[] = {
    OPTION('a', "all", NULL, "also print lines that do not apply, and why", FLAG,
           OPTION_FIELD(struct node_options, is_all)),
    COMMAND_CONFIG(struct node_options),
    COMMAND_JSON(struct node_options),
    COMMAND_ROOT(struct node_options),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster reference",
    .summary = "Prints reference values for hardware like this node's: the lines of the reference "
               "table that apply here, why, and their source. They are hints: muster certify warns "
               "of a rail below a threshold, but never fails it.",
    .status = "0 printed, 2 usage or an invalid table, 3 cannot read the node.",
    .rows = rows,
};

static void take_fact(const struct record *record, void *context)
{
    records_add(context, record);
}

/* Returns the name of the fastest rail, which represents the node, or NULL. */
static const char *fastest_rail(const struct records *facts)
{
    const char *name = NULL;
    double most = 0;

    for (size_t i = 0; i < facts->count; i++) {
        const struct record *record = RECORD_AT(facts, i);

        if (catalog_is_metric(record->metric, METRIC_SPEED) && record->value > most) {
            most = record->value;
            name = record->part;
        }
    }
    return name;
}

static void print_record(const struct reference_line *line, const char *node, const char *why)
{
    record_put(stdout,
               RECORD(.suite = "reference", .test = "reference", .node = node, .value = line->value,
                      .unit = line->unit),
               "%s, %s; applies by %s; %s, %s%s%s", line->metric, reference_kind_name(line->kind),
               why, line->source, line->seen, *line->note ? "; " : "", line->note);
}

static void add_row(struct table *table, const struct reference_line *line, bool applies,
                    const char *why)
{
    char nodes[16] = "any";

    if (line->nodes_least > 0)
        snprintf(nodes, sizeof nodes, "%d%s", line->nodes_least,
                 line->nodes_most > line->nodes_least ? "+" : "");
    table_cells(table, "%u\t%s\t%g %s\t%s%s\t%s\t%s\t%s, %s%s%s", line->line, line->metric,
                line->value, line->unit, reference_kind_name(line->kind),
                applies && line->kind == REFERENCE_THRESHOLD && reference_is_measured(line->metric)
                    ? ", warns"
                    : "",
                nodes, why, line->source, line->seen, *line->note ? "; " : "", line->note);
}

static void print_lines(const struct node_options *node_view, const struct reference *reference,
                        const struct records *facts, const char *node)
{
    struct reference_hardware hardware = hints_hardware(facts, 0, node, fastest_rail(facts));
    struct table table = {0};
    size_t count = 0;
    char why[400];

    table_heading(&table, "LINE\tMETRIC\tVALUE\tKIND\tNODES\tAPPLIES BY\tSOURCE");
    for (size_t i = 0; i < reference->count; i++) {
        bool applies = reference_applies(&reference->lines[i], &hardware, why, sizeof why);

        count += applies;
        if (!applies && !node_view->is_all)
            continue;
        if (node_view->as_json && applies)
            print_record(&reference->lines[i], node, why);
        else if (!node_view->as_json)
            add_row(&table, &reference->lines[i], applies, why);
    }
    if (!node_view->as_json)
        printf("%s: %s, %d x %s, rails of %g Gb/s: %zu of %zu lines of %s apply\n", node,
               *hardware.cpu ? hardware.cpu : "processor unknown", hardware.gpus,
               *hardware.gpu ? hardware.gpu : "GPU", hardware.nic_gbps, count, reference->count,
               *reference->file ? reference->file : "no table");
    table_end(&table, stdout, "\n");
}

static int run(const struct node_options *options, const struct node_view *node_view)
{
    const char *node = options->root ? node_view->inventory->hostname : command_node(NULL, "");
    struct reference reference;
    struct records facts = {0};
    struct error err;
    struct checks checks = {.root = node_view->root,
                            .node = node,
                            .conf = &node_view->conf,
                            .inventory = node_view->inventory,
                            .fabric = &node_view->fabric,
                            .sink = take_fact,
                            .context = &facts,
                            .test = "host.config"};

    if (hints_read(&node_view->conf, &reference, &err) != 0)
        return command_failed(COMMAND_USAGE, "muster reference", "%s", err.text);
    check_config(&checks);
    print_lines(options, &reference, &facts, node);
    records_clear(&facts);
    reference_clear(&reference);
    return COMMAND_PASS;
}

int command_reference(int argc, char **argv)
{
    return command_on_node(&set, argc, argv, run);
}
