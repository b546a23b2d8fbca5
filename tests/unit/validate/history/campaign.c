/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/history/campaign.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "validate/certify/choose/group.h"
#include "validate/history/history.h"
#include "validate/report/recordfile.h"

enum { HOUR = 3600, NODES = 8, MANY = 5000 };

static const double now = 1795190000;
static char path[] = "/tmp/muster-campaign-XXXXXX";
static const char *added_cluster;   /* cluster of the runs that are added */
static const char *queried_cluster; /* cluster to read; NULL: any */

/* Adds a run with one node that ended `ago` seconds before now and took 60 s. campaign, nodes:
 * NULL if it belongs to no campaign. */
static void add_run(const char *run, double ago, const char *campaign, const char *nodes,
                    const char *level, const char *node, enum verdict verdict, enum fault_code code)
{
    struct records records = {0};
    struct record record =
        RECORD(.suite = "certify", .test = "campaign", .metric = "nodes", .run = run,
               .part = campaign, .time = now - ago, .value = 4, .unit = "count", .message = nodes);

    if (campaign)
        records_add(&records, &record);
    record = (struct record)RECORD_INIT; /* the node's conclusion */
    record.suite = "certify";
    record.test = "certify";
    record.run = run;
    record.node = node;
    record.time = now - ago;
    record.verdict = verdict;
    record.code = code;
    records_add(&records, &record);
    is_int(history_add(path,
                       &(struct history_run){.run = run,
                                             .cluster = added_cluster,
                                             .level = level,
                                             .time = now - ago,
                                             .seconds = 60},
                       &(struct history_node){
                           .node = node,
                           .verdict = verdict,
                           .certified_until = verdict == VERDICT_PASS ? "2027-01-01 00:00" : NULL,
                           .rail_mbps = NAN},
                       1, &records, 0, NULL),
           0, "run %s is added", run);
    records_clear(&records);
}

static void check_campaign(const char *name, const char *expected, const char *what)
{
    struct campaign campaign;
    char text[200] = "error";

    if (campaign_read(path, name, queried_cluster, NULL, &campaign, NULL) >= 0) {
        campaign_describe(&campaign, text, sizeof text);
        campaign_clear(&campaign);
    }
    is_str(text, expected, "%s", what);
}

static void test_histories(void)
{
    struct campaign campaign;
    struct hostlist names = {0}, clusters = {0}, nodes = {0};
    struct error err;

    is_int(campaign_read(path, "spring", NULL, NULL, &campaign, &err), 0,
           "without runs there is no campaign");
    campaign_clear(&campaign);
    add_run("r0", 9 * HOUR, NULL, NULL, "quick", "n3", VERDICT_PASS, FAULT_NONE);
    add_run("r1", 8 * HOUR, "spring", "n[1-4]", "standard", "n1", VERDICT_PASS, FAULT_NONE);
    check_campaign("spring", "1 of 4 nodes certified (standard), 3 left",
                   "a node certified before the campaign is left");
    add_run("r2", 7 * HOUR, "spring", "n[1-4]", "standard", "n2", VERDICT_FAIL, FAULT_RAIL_SLOW);
    check_campaign("spring", "1 of 4 nodes certified (standard), 1 failed, 2 left",
                   "a node that failed is not left");
    add_run("r3", 6 * HOUR, "spring", "n[1-4]", "standard", "n3", VERDICT_UNKNOWN, FAULT_NODE_AWAY);
    add_run("r4", 6 * HOUR - 1, "spring", "n[1-4]", "standard", "n3", VERDICT_UNKNOWN,
            FAULT_NODE_AWAY);
    add_run("r5", 5 * HOUR, "spring", "n[1-4]", "standard", "n3", VERDICT_UNKNOWN,
            FAULT_PROCESS_SLOW);
    check_campaign("spring", "1 of 4 nodes certified (standard), 1 failed, 2 left",
                   "a node that a job had, or that was unknown once, is left");
    add_run("r6", 4 * HOUR, "spring", "n[1-4]", "standard", "n3", VERDICT_UNKNOWN,
            FAULT_PROCESS_SLOW);
    check_campaign("spring", "1 of 4 nodes certified (standard), 1 failed, 1 unknown, 1 left",
                   "... one that was unknown twice is not");
    add_run("r7", 3 * HOUR, NULL, NULL, "quick", "n4", VERDICT_PASS, FAULT_NONE);
    check_campaign("spring", "1 of 4 nodes certified (standard), 1 failed, 1 unknown, 1 left",
                   "a certificate of a lower level does not count");
    add_run("r8", 2 * HOUR, NULL, NULL, "full", "n4", VERDICT_PASS, FAULT_NONE);
    add_run("r9", 2 * HOUR - 1, NULL, NULL, "standard", "n2", VERDICT_PASS, FAULT_NONE);
    add_run("r10", 2 * HOUR - 2, NULL, NULL, "standard", "n9", VERDICT_PASS, FAULT_NONE);
    check_campaign("spring", "3 of 4 nodes certified (standard), 1 unknown",
                   "a run outside the campaign counts, but adds no other nodes");
    add_run("r11", 1 * HOUR, NULL, NULL, "quick", "n1", VERDICT_FAIL, FAULT_RAIL_SLOW);
    check_campaign("spring", "2 of 4 nodes certified (standard), 1 failed, 1 unknown",
                   "a node that fails later has failed");
    add_run("r12", 60, "autumn", NULL, "quick", "n1", VERDICT_PASS, FAULT_NONE);
    check_campaign("autumn", "1 of 4 nodes certified (quick), 3 left",
                   "without node names only their number is known");
    campaign_read(path, "autumn", NULL, NULL, &campaign, &err);
    ok(!campaign.is_named, "... and is_named says so");
    campaign_clear(&campaign);
    is_int(campaign_list(path, NULL, &names, &clusters, &err), 0, "all campaigns");
    ok(names.count == 2 && strcmp(names.names[0], "spring") == 0, "... are listed from the oldest");
    hostlist_expand("n[1,5]", &nodes, &err);
    is_int(campaign_read(path, "spring", NULL, &nodes, &campaign, &err), 1,
           "other nodes can be requested");
    is_int((long long)campaign.counts[CAMPAIGN_LEFT], 1, "... one of them is left");
    ok(fabs(campaign.begin - (now - 8 * HOUR - 60)) < 1, "a campaign begins with its first run");
    campaign_clear(&campaign);
    hostlist_clear(&names);
    hostlist_clear(&clusters);
    hostlist_clear(&nodes);
}

/* The other cluster has a node n2 as well. */
static void reads_runs_of_its_cluster_only(void)
{
    struct hostlist names = {0}, clusters = {0};

    added_cluster = "red";
    add_run("c1", 50, "twins", "n[1-4]", "quick", "n1", VERDICT_PASS, FAULT_NONE);
    added_cluster = "blue";
    add_run("c2", 40, NULL, NULL, "quick", "n2", VERDICT_PASS, FAULT_NONE);
    check_campaign("twins", "1 of 4 nodes certified (quick), 3 left",
                   "a node certified by another cluster's run is left");
    added_cluster = NULL;
    add_run("c3", 30, NULL, NULL, "quick", "n2", VERDICT_PASS, FAULT_NONE);
    check_campaign("twins", "2 of 4 nodes certified (quick), 2 left",
                   "... but a run without a cluster counts");
    added_cluster = "blue";
    add_run("c4", 20, "twins", "n[5-8]", "standard", "n5", VERDICT_PASS, FAULT_NONE);
    added_cluster = NULL;
    queried_cluster = "red";
    check_campaign("twins", "2 of 4 nodes certified (quick), 2 left",
                   "a campaign of the same name on another cluster is separate");
    queried_cluster = "blue";
    check_campaign("twins", "1 of 4 nodes certified (standard), 3 left", "... with its own nodes");
    queried_cluster = NULL;
    is_int(campaign_list(path, "twins", &names, &clusters, NULL), 0, "both are listed");
    ok(clusters.count == 2 && strcmp(clusters.names[0], "red") == 0 &&
           strcmp(clusters.names[1], "blue") == 0,
       "... with their clusters");
    add_run("c5", 10, "twins", "n[5-8]", "standard", "n6", VERDICT_PASS, FAULT_NONE);
    hostlist_clear(&names);
    hostlist_clear(&clusters);
    is_int(campaign_list(path, "twins", &names, &clusters, NULL), 0,
           "a run without a cluster is added");
    is_int((long long)names.count, 2, "... belongs to both and lists no third campaign");
    hostlist_clear(&names);
    hostlist_clear(&clusters);
}

/* Returns the number of the campaign's records with node names. */
static int count_names(const char *campaign)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    int count = -1;

    sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL);
    sqlite3_prepare_v2(database,
                       "SELECT count(*) FROM records WHERE test = 'campaign' AND part = ? AND"
                       " message NOT NULL",
                       -1, &statement, NULL);
    sqlite3_bind_text(statement, 1, campaign, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
}

/* The names have no pattern, so the list does not fit into one record. */
static void stores_thousands_of_nodes(void)
{
    struct campaign campaign = {.name = "summer"}, found;
    struct records records = {0};
    struct error err;
    char name[64];
    size_t longest = 0, same = 0;

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "rack%ux%08x-n", i % 7, i * 2654435761U);
        hostlist_append(&campaign.nodes, name);
    }
    is_int(campaign_records(&campaign, &records), 0, "a campaign of %d nodes", MANY);
    ok(records.count > 1, "... needs %zu records", records.count);
    for (size_t i = 0; i < records.count; i++) {
        size_t length = strlen(RECORD_AT(&records, i)->message);

        longest = length > longest ? length : longest;
    }
    ok(longest < RECORDFILE_MESSAGE, "... none longer than a record may be");
    for (int run = 0; run < 2; run++)
        is_int(history_add(path,
                           &(struct history_run){.run = run == 0 ? "s0" : "s1",
                                                 .level = "quick",
                                                 .time = now + run,
                                                 .seconds = 60},
                           &(struct history_node){.node = campaign.nodes.names[run],
                                                  .verdict = VERDICT_PASS,
                                                  .certified_until = "2027-01-01 00:00",
                                                  .rail_mbps = NAN},
                           1, &records, 0, &err),
               0, "its run %d is added", run);
    is_int(count_names("summer"), (long long)records.count, "... its names are stored once");
    is_int(count_names("spring"), 1, "... and so are those of another campaign");
    is_int(campaign_read(path, "summer", NULL, NULL, &found, &err), 1, "... the campaign is read");
    is_int(found.runs, 2, "... with two runs");
    ok(found.is_named, "... all nodes are known");
    for (size_t i = 0; i < MANY && found.nodes.count == MANY; i++)
        same += hostlist_contains(&found.nodes, campaign.nodes.names[i]);
    is_int((long long)same, MANY, "... each by its name");
    is_int((long long)found.counts[CAMPAIGN_LEFT], MANY - 2, "... and all but two are left");
    campaign_clear(&found);
    records.count--; /* one part is lost */
    history_add(
        path, &(struct history_run){.run = "s2", .level = "quick", .time = now + 2, .seconds = 60},
        NULL, 0, &records, 0, &err);
    campaign_read(path, "summer", NULL, NULL, &found, &err);
    ok(!found.is_named, "with a missing part the names are unknown");
    is_int((long long)found.wanted, MANY, "... but their number is known");
    records.count++;
    campaign_clear(&found);
    campaign_clear(&campaign);
    records_clear(&records);
}

static int scanned_rows; /* rows read by full scans */

int __real_sqlite3_finalize(sqlite3_stmt *statement);
int __wrap_sqlite3_finalize(sqlite3_stmt *statement)
{
    if (statement)
        scanned_rows += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    return __real_sqlite3_finalize(statement);
}

/* A campaign is read every few seconds while it waits for nodes. */
static void reads_no_records_of_nodes(void)
{
    struct record record = RECORD(.suite = "certify", .test = "certify", .run = "t0", .time = now,
                                  .node = "n1", .verdict = VERDICT_FAIL);
    struct records records = {0};
    struct campaign campaign;
    struct error err;

    for (int i = 0; i < MANY; i++)
        records_add(&records, &record);
    is_int(history_add(
               path,
               &(struct history_run){.run = "t0", .level = "quick", .time = now, .seconds = 60},
               NULL, 0, &records, 0, &err),
           0, "a run with %d records of nodes", MANY);
    records_clear(&records);
    scanned_rows = 0;
    is_int(campaign_read(path, "spring", NULL, NULL, &campaign, &err), 1, "a campaign is read");
    campaign_clear(&campaign);
    ok(scanned_rows < MANY / 10, "... without a scan of those records: %d rows", scanned_rows);
}

static void check_group(const struct cluster *cluster, const struct campaign *campaign, size_t most,
                        const char *expected, const char *what)
{
    struct group group;
    char *wanted, *partners, text[300];

    group_choose(cluster, campaign, NULL, most, &group, NULL);
    wanted = hostlist_fold(&group.wanted);
    partners = hostlist_fold(&group.partners);
    snprintf(text, sizeof text, "%s + %s; %zu %zu %zu", wanted, partners, group.ready, group.busy,
             group.away);
    is_str(text, expected, "%s", what);
    free(wanted);
    free(partners);
    group_clear(&group);
}

static void test_groups(void)
{
    static char names[NODES][4], longest[80], empty[] = "", part[] = "batch", other[] = "gpu";
    static struct cluster_node nodes[NODES];
    struct cluster_partition partitions[2] = {{.name = part, .is_up = true, .is_default = true},
                                              {.name = other, .is_up = true}};
    struct cluster cluster = {
        .nodes = nodes, .node_count = NODES, .partitions = partitions, .partition_count = 1};
    struct campaign campaign = {.name = "spring"};

    hostlist_expand("n[1-8]", &campaign.nodes, NULL);
    hostlist_expand("n[1-8]", &partitions[0].nodes, NULL);
    campaign.states = calloc(NODES, sizeof *campaign.states);
    for (int i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i + 1);
        nodes[i] = (struct cluster_node){.name = names[i],
                                         .address = names[i],
                                         .gres = empty,
                                         .reason = empty,
                                         .is_idle = true,
                                         .is_responding = true,
                                         .state = "idle"};
    }
    check_group(&cluster, &campaign, 3, "n[1-3] + ; 8 0 0", "the first group has no partners");
    check_group(&cluster, &campaign, 0, "n[1-8] + ; 8 0 0",
                "without a limit all free nodes are chosen");
    campaign.states[0] = campaign.states[1] = CAMPAIGN_CERTIFIED;
    campaign.states[2] = CAMPAIGN_FAILED;
    check_group(&cluster, &campaign, 3, "n[4-6] + n[1-2]; 5 0 0",
                "the next group has certified nodes as partners");
    nodes[0].is_allocated = nodes[3].is_allocated = true;
    nodes[0].is_idle = nodes[3].is_idle = false;
    check_group(&cluster, &campaign, 3, "n[5-7] + n2; 4 1 0",
                "busy nodes are neither chosen nor partners");
    nodes[4].is_drained = true;
    check_group(&cluster, &campaign, 3, "n[6-8] + n2; 3 1 1", "a drained node is not chosen");
    for (int i = 5; i < NODES; i++) {
        nodes[i].is_reserved = true;
        nodes[i].is_idle = false;
    }
    nodes[7].is_reserved = false;
    nodes[7].is_idle = true;
    check_group(&cluster, &campaign, 3, "n8 + n[2-3]; 1 3 1",
                "a single node gets any free partner, certified ones first");
    nodes[7].is_allocated = true;
    check_group(&cluster, &campaign, 3, " + ; 0 4 1", "with no free node there is no group");
    nodes[7].is_allocated = false;
    for (int i = 1; i < 3; i++)
        nodes[i].is_allocated = !(nodes[i].is_idle = false);
    check_group(&cluster, &campaign, 3, " + ; 0 4 1",
                "a single node waits while others are busy, since links need two");
    hostlist_clear(&partitions[0].nodes);
    hostlist_expand("n[2-8]", &partitions[0].nodes, NULL);
    hostlist_expand("n1,n8", &partitions[1].nodes, NULL);
    cluster.partition_count = 2;
    nodes[0].is_allocated = !(nodes[0].is_idle = true);
    check_group(&cluster, &campaign, 3, "n8 + n1; 1 3 1",
                "... but not if another of its partitions has a partner");
    hostlist_clear(&partitions[0].nodes);
    hostlist_clear(&partitions[1].nodes);
    hostlist_expand("n[1-8]", &partitions[0].nodes, NULL);
    cluster.partition_count = 1;
    for (int i = 0; i < 7; i++)
        nodes[i].is_drained = true;
    check_group(&cluster, &campaign, 3, "n8 + ; 1 0 4", "... nor if no other node will be free");
    for (int i = 0; i < NODES; i++)
        nodes[i].is_allocated = nodes[i].is_reserved = nodes[i].is_drained =
            !(nodes[i].is_idle = true);
    hostlist_clear(&partitions[0].nodes);
    hostlist_expand("n[1-6]", &partitions[0].nodes, NULL);
    hostlist_expand("n[7-8]", &partitions[1].nodes, NULL);
    cluster.partition_count = 2;
    check_group(&cluster, &campaign, 0, "n[4-6] + n[1-2]; 5 0 0",
                "a group is in the partition with the most nodes left");
    campaign.states[3] = campaign.states[4] = campaign.states[5] = CAMPAIGN_CERTIFIED;
    check_group(&cluster, &campaign, 0, "n[7-8] + ; 2 0 0",
                "... the next group is in the other one");
    cluster.partition_count = 1;
    check_group(&cluster, &campaign, 0, " + ; 0 0 2", "a node in no partition cannot be tested");
    nodes[6].is_allocated = !(nodes[6].is_idle = false);
    check_group(&cluster, &campaign, 0, " + ; 0 0 2", "... even after its job has ended");
    memset(longest, 'n', sizeof longest - 1);
    nodes[0].name = longest;
    hostlist_clear(&campaign.nodes);
    hostlist_append(&campaign.nodes, longest);
    campaign.states[0] = CAMPAIGN_LEFT;
    check_group(&cluster, &campaign, 0, " + ; 0 0 1",
                "a node with a name that is too long cannot be tested");
    hostlist_clear(&partitions[0].nodes);
    hostlist_clear(&partitions[1].nodes);
    campaign_clear(&campaign);
}

int main(void)
{
    int fd = mkstemp(path);

    close(fd);
    unlink(path);
    ok(campaign_is_name("spring-2026.1_a"), "a campaign's name");
    ok(!campaign_is_name("") && !campaign_is_name("-x") && !campaign_is_name("a b") &&
           !campaign_is_name("a;b"),
       "... and invalid names");
    test_histories();
    reads_runs_of_its_cluster_only();
    stores_thousands_of_nodes();
    reads_no_records_of_nodes();
    test_groups();
    unlink(path);
    return tap_done();
}
