/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/history/history.h"

#include <stdlib.h>
#include <string.h>

#include "validate/command/command.h"
#include "validate/history/campaign.h"
#include "validate/report/table.h"

static void print_record(const struct campaign *campaign)
{
    struct record record;
    char text[160];

    campaign_describe(campaign, text, sizeof text);
    record = RECORD(.suite = "certify", .test = "campaign", .metric = "certified",
                    .time = campaign->last, .part = campaign->name,
                    .value = (double)campaign->counts[CAMPAIGN_CERTIFIED],
                    .limit = (double)campaign->wanted, .limit_source = "expected", .unit = "count",
                    .message = text);
    record_write(stdout, &record);
}

static void add_heading(struct table *table)
{
    static const char *const names[] = {"CAMPAIGN", "CLUSTER", "LEVEL",     "BEGAN",
                                        "LAST RUN", "RUNS",    "CERTIFIED", "FAILED",
                                        "UNKNOWN",  "LEFT",    "OF"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        table_cell(table, VERDICT_NONE, "%s", names[i]);
        table->columns++;
    }
}

static void add_row(const struct campaign *campaign, struct table *table)
{
    const size_t *counts = campaign->counts;
    char text[32];

    table_cell(table, VERDICT_NONE, "%s", campaign->name);
    table_cell(table, VERDICT_NONE, "%s", *campaign->cluster ? campaign->cluster : "-");
    table_cell(table, VERDICT_NONE, "%s", campaign->level);
    table_cell(table, VERDICT_NONE, "%s", history_time(campaign->begin, text));
    table_cell(table, VERDICT_NONE, "%s", history_time(campaign->last, text));
    table_cell(table, VERDICT_NONE, "%d", campaign->runs);
    table_cell(table, VERDICT_PASS, "%zu", counts[CAMPAIGN_CERTIFIED]);
    table_cell(table, counts[CAMPAIGN_FAILED] ? VERDICT_FAIL : VERDICT_NONE, "%zu",
               counts[CAMPAIGN_FAILED]);
    table_cell(table, counts[CAMPAIGN_UNKNOWN] ? VERDICT_UNKNOWN : VERDICT_NONE, "%zu",
               counts[CAMPAIGN_UNKNOWN]);
    table_cell(table, VERDICT_NONE, "%zu", counts[CAMPAIGN_LEFT]);
    table_cell(table, VERDICT_NONE, "%zu", campaign->wanted);
}

/* "failed: n[3,7]". */
static void print_nodes(const struct campaign *campaign, enum campaign_state state,
                        const char *heading)
{
    struct hostlist names = {0};
    char *folded;

    for (size_t i = 0; i < campaign->nodes.count; i++)
        if (campaign->states[i] == state)
            hostlist_append(&names, campaign->nodes.names[i]);
    folded = names.count > 0 ? hostlist_fold(&names) : NULL;
    if (folded)
        printf("%s: %s\n", heading, folded);
    free(folded);
    hostlist_clear(&names);
}

static void print_all_nodes(const struct campaign *campaign)
{
    print_nodes(campaign, CAMPAIGN_CERTIFIED, "\ncertified");
    print_nodes(campaign, CAMPAIGN_FAILED, "failed");
    print_nodes(campaign, CAMPAIGN_UNKNOWN, "unknown");
    print_nodes(campaign, CAMPAIGN_LEFT, "left");
}

static void print_one(const struct campaign *campaign)
{
    struct table table = {0};

    add_heading(&table);
    add_row(campaign, &table);
    table_print(&table, stdout, table_has_colour(stdout));
    print_all_nodes(campaign);
    table_clear(&table);
}

int history_campaigns(const char *path, const char *name, bool as_json)
{
    struct hostlist names = {0}, clusters = {0};
    struct table table = {0};
    struct error err;
    size_t found = 0;
    int rv = campaign_list(path, name, &names, &clusters, &err);

    add_heading(&table);
    for (size_t i = 0; rv == 0 && i < names.count; i++) {
        struct campaign campaign;

        rv = campaign_read(path, names.names[i], clusters.names[i], NULL, &campaign, &err);
        if (rv < 0)
            break;
        found += rv > 0;
        if (rv > 0 && as_json)
            print_record(&campaign);
        else if (rv > 0 && name)
            print_one(&campaign);
        else if (rv > 0)
            add_row(&campaign, &table);
        campaign_clear(&campaign);
        rv = 0;
    }
    if (rv < 0)
        fprintf(stderr, "muster history: %s\n", err.text);
    else if (found == 0)
        fprintf(stderr, "muster history: no campaign%s%s in %s\n", name ? " " : "",
                name ? name : "", path);
    if (found > 0 && !as_json && !name)
        table_print(&table, stdout, table_has_colour(stdout));
    hostlist_clear(&names);
    hostlist_clear(&clusters);
    table_clear(&table);
    return rv < 0 ? COMMAND_UNKNOWN : COMMAND_PASS;
}
