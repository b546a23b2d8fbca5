/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/history/history.h"

#include <stdlib.h>
#include <string.h>

#include "validate/command/command.h"
#include "validate/history/campaign.h"
#include "validate/report/table.h"

static void print_record(const struct campaign *campaign)
{
    char text[160];

    campaign_describe(campaign, text, sizeof text);
    record_put(stdout,
               RECORD(.suite = "certify", .test = "campaign", .metric = "certified",
                      .time = campaign->last, .part = campaign->name,
                      .value = (double)campaign->counts[CAMPAIGN_CERTIFIED],
                      .limit = (double)campaign->wanted, .limit_source = "expected",
                      .unit = "count"),
               "%s", text);
}

static void add_heading(struct table *table)
{
    table_heading(table, "CAMPAIGN\tCLUSTER\tLEVEL\tBEGAN\tLAST RUN\tRUNS\tCERTIFIED\tFAILED"
                         "\tUNKNOWN\tLEFT\tOF");
}

static void add_row(const struct campaign *campaign, struct table *table)
{
    const size_t *counts = campaign->counts;

    table_cells(table, "%s\t%s\t%s\t%s\t%s\t%d", campaign->name,
                *campaign->cluster ? campaign->cluster : "-", campaign->level,
                history_time(campaign->begin).text, history_time(campaign->last).text,
                campaign->runs);
    table_cell(table, VERDICT_PASS, "%zu", counts[CAMPAIGN_CERTIFIED]);
    table_cell(table, counts[CAMPAIGN_FAILED] ? VERDICT_FAIL : VERDICT_NONE, "%zu",
               counts[CAMPAIGN_FAILED]);
    table_cell(table, counts[CAMPAIGN_UNKNOWN] ? VERDICT_UNKNOWN : VERDICT_NONE, "%zu",
               counts[CAMPAIGN_UNKNOWN]);
    table_cells(table, "%zu\t%zu", counts[CAMPAIGN_LEFT], campaign->wanted);
}

/* Prints the nodes of a state: "failed: n[3,7]". */
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
    table_end(&table, stdout, "");
    print_all_nodes(campaign);
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
    table_end(&table, stdout, "");
    hostlist_clear(&names);
    hostlist_clear(&clusters);
    return rv < 0 ? COMMAND_UNKNOWN : COMMAND_PASS;
}
