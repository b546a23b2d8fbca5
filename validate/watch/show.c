/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/record.h"
#include "lib/base/text.h"
#include "validate/command/command.h"
#include "validate/report/table.h"

static void add_share(struct table *table, double share)
{
    if (isnan(share))
        table_cells(table, "-");
    else
        table_cells(table, "%.0f %%", 100 * share);
}

/* Adds the states of the node's ranks: "R", or "3R 1T" if they differ. */
static void add_states(struct table *table, const struct watch *watch,
                       const struct watch_node *node)
{
    static const char states[] = "RSDTtZX";
    size_t kinds = 0, counts[sizeof states] = {0};
    char text[160] = "", number[24] = "";

    WATCH_EACH_RANK(watch, node, rank)
    {
        const char *at = strchr(states, rank->state);

        if (at)
            kinds += counts[at - states]++ == 0;
    }
    for (size_t i = 0; i < sizeof states; i++) {
        if (counts[i] == 0)
            continue;
        if (kinds > 1)
            snprintf(number, sizeof number, "%zu", counts[i]);
        text_join(text, sizeof text, " ", "%s%c", number, states[i]);
    }
    table_cells(table, "%s", *text ? text : "-");
}

static void add_node(struct table *table, const struct watch *watch, const struct watch_node *node)
{
    const struct watch_sample *sample = watch_newest(node);
    double cpu = 0, queued = 0;
    size_t ranks = 0;
    char rails[4096] = "";

    if (!sample) {
        table_cells(table, "%s\tno sample yet\t\t\t\t", node->name);
        return;
    }
    WATCH_EACH_RANK(watch, node, rank)
    {
        ranks++;
        cpu += watch_use_of(node, rank).cpu;
        queued += watch_use_of(node, rank).queued;
    }
    for (size_t i = 0; i < sample->rail_count; i++) {
        double mbps = watch_rail_mbps(node, &sample->rails[i]);
        char text[32] = "-";

        if (!isnan(mbps))
            snprintf(text, sizeof text, "%.*f", mbps < 10 ? 1 : 0, mbps);
        text_join(rails, sizeof rails, "  ", "%s %s", sample->rails[i].name, text);
    }
    table_cells(table, "%s\t%zu", node->name, ranks);
    add_states(table, watch, node);
    add_share(table, ranks ? cpu / (double)ranks : NAN);
    add_share(table, ranks ? queued / (double)ranks : NAN);
    table_cells(table, "%s", rails);
}

void watch_print_table(const struct watch *watch, const struct watch_verdict *verdict,
                       bool has_colour, FILE *stream)
{
    struct table table = {0};

    table_heading(&table, "NODE\tRANKS\tSTATE\tCPU\tQUEUED\tRAILS (Mb/s)");
    for (size_t i = 0; i < watch->node_count; i++)
        add_node(&table, watch, &watch->nodes[i]);
    table_end(&table, stream, "");
    for (size_t i = 0; verdict->count > 1 && i < verdict->count; i++) {
        const struct watch_finding *finding = &verdict->findings[i];

        command_print_verdict(stream, finding->verdict, has_colour);
        fprintf(stream, "  %s%s%s\n", finding->node ? finding->node : "", finding->node ? ": " : "",
                finding->message);
    }
    command_print_verdict(stream, verdict->verdict, has_colour);
    fprintf(stream, "  %s\n", verdict->line);
    fflush(stream);
}

static void print_record(const struct watch_node *node, const char *part, const char *metric,
                         double value, const char *unit, double job, FILE *stream)
{
    if (!isnan(value))
        record_put(stream,
                   RECORD(.suite = "watch", .test = "watch", .metric = metric, .node = node->name,
                          .part = part, .value = value, .unit = unit, .job = job),
                   "%s", "");
}

void watch_print_records(const struct watch *watch, const struct watch_verdict *verdict,
                         unsigned job_id, FILE *stream)
{
    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        const struct watch_sample *sample = watch_newest(node);

        WATCH_EACH_RANK(watch, node, rank)
        print_record(node, text_line("rank %d", rank->rank).text, "cpu_share",
                     watch_use_of(node, rank).cpu, "1", job_id, stream);
        for (size_t k = 0; sample && k < sample->rail_count; k++)
            print_record(node, sample->rails[k].name, "traffic",
                         watch_rail_mbps(node, &sample->rails[k]), "Mb/s", job_id, stream);
    }
    for (size_t i = 0; i < verdict->count || i == 0; i++) {
        struct watch_finding good = {.verdict = verdict->verdict};
        const struct watch_finding *finding = verdict->count ? &verdict->findings[i] : &good;

        record_put(stream,
                   RECORD(.suite = "watch", .test = "watch", .node = finding->node,
                          .part = finding->part, .verdict = finding->verdict, .code = finding->code,
                          .job = job_id),
                   "%s", verdict->count ? finding->message : verdict->line);
    }
}
