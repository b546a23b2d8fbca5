/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/campaign.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/certify.h"
#include "validate/command/command.h"
#include "validate/history/history.h"
#include "validate/report/recordfile.h"

/* One `muster certify --campaign`. */
struct campaigning {
    struct certify *base; /* options, configuration, JSON of all its runs */
    struct campaign campaign;
    struct group group;
    char *partition; /* the group's; NULL: none */
    char name[CAMPAIGN_NAME], printed[600];
    char run[64];             /* the last run */
    bool is_broken;           /* ... had no node, but not because nodes are busy */
    bool lacks_job;           /* ... had nodes, but no job */
    struct hostlist refusals; /* the partition of each run that got no job, since its last run
                                 that got one */
    bool is_refused;          /* all that is left is in partitions that are given up */
    int broken; /* failures in a row: slurmctld did not answer, or a run had no nodes */
    int wait_s;
};

/* Prints the campaign's progress and next, unless that was the last line printed. */
static void print_progress(struct campaigning *doing, FILE *stream, const char *next)
{
    char counts[160], text[sizeof doing->printed];

    campaign_describe(&doing->campaign, counts, sizeof counts);
    text_put(text, sizeof text, "campaign %s: %s%s", doing->name, counts, next);
    if (strcmp(text, doing->printed) != 0)
        fprintf(stream, "%s\n", text);
    text_put(doing->printed, sizeof doing->printed, "%s", text);
    fflush(stream);
}

/* Writes the progress as a record, after those of a run. */
static void record_progress(struct campaigning *doing)
{
    struct record record;
    char counts[160];

    campaign_describe(&doing->campaign, counts, sizeof counts);
    record = RECORD(.suite = "certify", .test = "campaign", .metric = "certified",
                    .run = doing->run, .time = record_now_s(), .part = doing->name,
                    .value = (double)doing->campaign.counts[CAMPAIGN_CERTIFIED],
                    .limit = (double)doing->campaign.wanted, .limit_source = "expected",
                    .unit = "count", .message = counts);
    if (doing->base->json)
        record_write(doing->base->json, &record);
}

static int nodes_copy(const struct hostlist *from, struct hostlist *nodes, struct error *err)
{
    return hostlist_append_all(nodes, (const char *const *)from->names, from->count) == 0
               ? 0
               : error_set(err, "out of memory for %zu nodes", from->count);
}

/* Expands text to nodes, each listed once. */
static int nodes_named(const char *text, struct hostlist *nodes, struct error *err)
{
    char *folded;
    int rv = hostlist_expand(text, nodes, err);

    if (rv != 0)
        return rv;
    folded = hostlist_fold(nodes);
    hostlist_clear(nodes);
    rv = folded ? hostlist_expand(folded, nodes, err)
                : error_set(err, "out of memory for the nodes of -w");
    free(folded);
    return rv;
}

/* Finds the nodes of the campaign: those of -w or -p, else those of its earlier runs, else all.
 * Returns 0, or -1 with err. */
static int nodes_find(const struct campaigning *doing, const struct cluster *cluster,
                      struct hostlist *nodes, struct error *err)
{
    const struct certify_options *options = &doing->base->options;
    const struct cluster_partition *partition = NULL;

    if (options->campaign_nodes) {
        if (nodes_named(options->campaign_nodes, nodes, err) != 0)
            return -1;
        if (cluster_unknown_node(cluster, nodes, err)) {
            doing->base->is_misused = true;
            return -1;
        }
        return 0;
    }
    if (options->partition) {
        partition = plan_partition(cluster, options->partition, NULL, 0);
        if (!partition) {
            doing->base->is_misused = true;
            return error_set(err, "no partition %s in this cluster", options->partition);
        }
        return nodes_copy(&partition->nodes, nodes, err);
    }
    if (doing->campaign.runs > 0 && !doing->campaign.is_named) {
        doing->base->is_misused = true;
        return error_set(err,
                         "%s does not name all of its %zu nodes, as one of an older muster; name "
                         "them with -w",
                         doing->base->conf.history_path, doing->campaign.wanted);
    }
    if (doing->campaign.runs > 0)
        return nodes_copy(&doing->campaign.nodes, nodes, err);
    for (size_t i = 0; i < cluster->node_count; i++)
        if (hostlist_append(nodes, cluster->nodes[i].name) != 0)
            return error_set(err, "out of memory for %zu nodes", cluster->node_count);
    return 0;
}

/* Reads the state of the campaign, for the nodes of nodes_find(). Returns 0, or -1 with err. */
static int campaign_look(struct campaigning *doing, const struct cluster *cluster,
                         struct error *err)
{
    const char *path = doing->base->conf.history_path;
    struct hostlist nodes = {0};
    int rv = 0;

    campaign_clear(&doing->campaign);
    if (campaign_read(path, doing->name, cluster->name, NULL, &doing->campaign, err) < 0)
        return -1;
    rv = nodes_find(doing, cluster, &nodes, err);
    campaign_clear(&doing->campaign);
    if (rv == 0)
        rv = campaign_read(path, doing->name, cluster->name, &nodes, &doing->campaign, err) < 0 ? -1
                                                                                                : 0;
    hostlist_clear(&nodes);
    return rv;
}

static size_t refusals_of(const struct campaigning *doing, const char *partition)
{
    size_t count = 0;

    for (size_t i = 0; i < doing->refusals.count; i++)
        count += strcmp(doing->refusals.names[i], partition) == 0;
    return count;
}

/* Forgets the refusals of a partition that has given a job. */
static void refusals_forget(struct hostlist *refusals, const char *partition)
{
    size_t kept = 0;

    for (size_t i = 0; i < refusals->count; i++)
        if (strcmp(refusals->names[i], partition) == 0)
            free(refusals->names[i]);
        else
            refusals->names[kept++] = refusals->names[i];
    refusals->count = kept;
}

/* Chooses the group from the partitions that are up and have fewer than `most` refusals. Returns 0,
 * or -1 with err. */
static int group_beside(struct campaigning *doing, const struct cluster *cluster, size_t most,
                        struct error *err)
{
    const struct certify_options *options = &doing->base->options;
    struct cluster beside = *cluster;
    int rv;

    group_clear(&doing->group);
    free(doing->partition);
    doing->partition = NULL;
    beside.partitions = calloc(cluster->partition_count + 1, sizeof *beside.partitions);
    beside.partition_count = 0;
    if (!beside.partitions)
        return error_set(err, "out of memory for the cluster's partitions");
    for (size_t i = 0; i < cluster->partition_count; i++)
        if (refusals_of(doing, cluster->partitions[i].name) < most)
            beside.partitions[beside.partition_count++] = cluster->partitions[i];
    rv = group_choose(&beside, &doing->campaign, options->partition, (size_t)options->at_a_time,
                      &doing->group, err);
    if (rv == 0 && doing->group.partition &&
        !(doing->partition = strdup(doing->group.partition->name)))
        rv = error_set(err, "out of memory for the name of a partition");
    doing->group.partition = NULL; /* it ends with the cluster */
    free(beside.partitions);
    return rv;
}

/* Chooses the next group. A partition that refused a job is tried again if no other partition has a
 * free node, as the refusal may pass; after many refusals in a row it is given up, as each try
 * reserves its nodes. */
static int group_find(struct campaigning *doing, const struct cluster *cluster, struct error *err)
{
    doing->is_refused = false;
    if (group_beside(doing, cluster, 1, err) != 0)
        return -1;
    if (doing->refusals.count == 0 || doing->group.ready > 0)
        return 0;
    if (group_beside(doing, cluster, CAMPAIGN_BROKEN_MOST, err) != 0)
        return -1;
    if (doing->group.ready > 0 || doing->group.busy > 0)
        return 0;
    if (group_beside(doing, cluster, SIZE_MAX, err) != 0)
        return -1;
    doing->is_refused = doing->group.ready > 0 || doing->group.busy > 0;
    return 0;
}

/* Reads the state from the controller and the history, and chooses the next group. Returns 0, or -1
 * with err. */
static int look(struct campaigning *doing, struct error *err)
{
    struct cluster cluster = {0};
    int rv;

    if (doing->base->operations->open(err) != 0 ||
        doing->base->operations->load(&cluster, err) != 0)
        return -1;
    rv = campaign_look(doing, &cluster, err);
    if (rv == 0)
        rv = group_find(doing, &cluster, err);
    cluster_clear(&cluster);
    return rv;
}

static void wait_some(struct campaigning *doing)
{
    double begin = clock_s();

    while (!certify_stop && clock_s() - begin < doing->wait_s)
        usleep(50000);
    doing->wait_s =
        doing->wait_s * 2 < CAMPAIGN_WAIT_MOST_S ? doing->wait_s * 2 : CAMPAIGN_WAIT_MOST_S;
}

/* Performs one run, of one group. *tested: the number of its nodes. Returns the run's exit status.
 */
static int group_run(struct campaigning *doing, int argc, char **argv, size_t *tested)
{
    struct certify certify = {.options = doing->base->options,
                              .conf = doing->base->conf,
                              .json = doing->base->json,
                              .campaign = &doing->campaign,
                              .operations = doing->base->operations,
                              .live_directory = doing->base->live_directory,
                              .undo = {.journal = -1, .keeper_pipe = -1}};
    int status;

    if (doing->partition)
        certify.options.partition = doing->partition; /* and no other that has the same nodes */
    status = certify_run(&certify, argc, argv);
    if (status == COMMAND_USAGE && certify.is_misused)
        status = COMMAND_UNKNOWN; /* its partition is gone; the next look() tells whether -p
                                     named it */
    *tested = certify.count;
    doing->lacks_job = certify.count > 0 && certify.lacks_job;
    doing->is_broken = certify.count == 0 && certify.is_broken;
    text_put(doing->run, sizeof doing->run, "%s", certify.run);
    doing->base->options.jitter_s = 0;
    certify.conf = (struct conf){0}; /* the next run needs it as well */
    certify_clear(&certify);
    fflush(stdout);
    return status;
}

/* Selects the level that the campaign began with. Returns -1 to go on, or the exit status. */
static int level_take(struct campaigning *doing)
{
    struct certify_options *options = &doing->base->options;
    const char *level = doing->campaign.level;

    if (!*level)
        return -1;
    if (options->has_level && strcmp(certify_level_name(options->level), level) != 0)
        return command_misuse("muster certify",
                              "campaign %s is of level %s, found --level %s; name another campaign",
                              doing->name, level, certify_level_name(options->level));
    options->level = LEVEL_QUICK;
    while (options->level < LEVEL_FULL && strcmp(level, certify_level_name(options->level)) != 0)
        options->level++;
    return -1;
}

/* Returns how many of the nodes that are left cannot be tested, as their names are too long. */
static size_t long_names(const struct campaign *campaign)
{
    size_t count = 0;

    for (size_t i = 0; i < campaign->nodes.count; i++)
        count += campaign->states[i] == CAMPAIGN_LEFT &&
                 strlen(campaign->nodes.names[i]) > CLUSTER_NODE_NAME_MOST;
    return count;
}

static int end(struct campaigning *doing)
{
    const size_t *counts = doing->campaign.counts;
    size_t unnamed = long_names(&doing->campaign);
    char next[300];

    if (certify_stop) {
        text_put(next, sizeof next, "; stopped by signal %d; next: muster certify --campaign %s",
                 (int)certify_stop, doing->name);
        print_progress(doing, stderr, next);
        return COMMAND_UNKNOWN;
    }
    text_put(next, sizeof next, counts[CAMPAIGN_LEFT] > 0 ? "" : "; complete");
    if (unnamed > 0)
        text_put(next, sizeof next,
                 "; %zu node%s cannot be tested: names longer than %d characters", unnamed,
                 text_plural(unnamed), CLUSTER_NODE_NAME_MOST);
    if (counts[CAMPAIGN_LEFT] > unnamed)
        text_put(next + strlen(next), sizeof next - strlen(next),
                 "; the remaining nodes are drained by others, down, powered off or in no "
                 "partition that is up; next: muster certify --campaign %s once they are back",
                 doing->name);
    print_progress(doing, doing->base->json == stdout ? stderr : stdout, next);
    return counts[CAMPAIGN_FAILED] > 0                                 ? COMMAND_FAIL
           : counts[CAMPAIGN_UNKNOWN] > 0 || counts[CAMPAIGN_LEFT] > 0 ? COMMAND_UNKNOWN
                                                                       : COMMAND_PASS;
}

static bool has_more(const struct campaigning *doing, int runs)
{
    struct campaign campaign;
    struct error err;
    bool is_there;

    if (campaign_read(doing->base->conf.history_path, doing->name, doing->campaign.cluster, NULL,
                      &campaign, &err) < 0)
        return false;
    is_there = campaign.runs > runs;
    campaign_clear(&campaign);
    return is_there;
}

/* Returns whether the history contains the run that has ended, as the campaign remembers nothing
 * else. A run that could not be stored because the history was busy is taken in first. */
static bool is_kept(const struct campaigning *doing, int runs, size_t tested)
{
    double begin = clock_s();
    struct error err;

    if (tested == 0 || certify_stop || has_more(doing, runs))
        return true;
    while (history_take_in(doing->base->conf.history_path, &err) != 0) {
        if (certify_stop || clock_s() - begin >= CAMPAIGN_KEPT_S)
            return certify_stop;
        usleep(500000);
    }
    return has_more(doing, runs);
}

/* Ends the campaign: what failed so often does not recover by itself. Returns the exit status. */
static int broken_end(const struct campaigning *doing)
{
    fprintf(stderr,
            "muster certify: campaign %s: ended after %d failures in a row; next: correct what the "
            "lines above say, then: muster certify --campaign %s\n",
            doing->name, CAMPAIGN_BROKEN_MOST, doing->name);
    return COMMAND_UNKNOWN;
}

/* Writes which partitions are given up, for the line about a wait; "" if none is. */
static void given_up_text(const struct campaigning *doing, char *text, size_t size)
{
    struct hostlist names = {0};

    for (size_t i = 0; i < doing->refusals.count; i++)
        if (refusals_of(doing, doing->refusals.names[i]) >= CAMPAIGN_BROKEN_MOST)
            hostlist_append(&names, doing->refusals.names[i]);
    text[0] = '\0';
    if (names.count > 0)
        text_put(text, size, "; partition %s is given up: it refused %d jobs in a row",
                 hostlist_text(&names).text, CAMPAIGN_BROKEN_MOST);
    hostlist_clear(&names);
}

/* Tests groups until no node is left that is or will be free. Returns the exit status. */
static int campaign_run(struct campaigning *doing, int argc, char **argv)
{
    int status = -1;
    struct error err = {""};
    char next[300], given_up[200];

    while (status < 0 && !certify_stop) {
        size_t left, tested = 0;
        int runs;

        if (look(doing, &err) != 0) {
            fprintf(stderr, "muster certify: campaign %s: %s\n", doing->name, err.text);
            if (doing->base->is_misused)
                return COMMAND_USAGE;
            if (++doing->broken >= CAMPAIGN_BROKEN_MOST)
                return broken_end(doing);
            wait_some(doing);
            continue;
        }
        status = level_take(doing);
        if (status < 0 && doing->is_refused)
            return broken_end(doing);
        if (status >= 0 || (doing->group.ready == 0 && doing->group.busy == 0))
            break;
        if (doing->group.wanted.count == 0) {
            given_up_text(doing, given_up, sizeof given_up);
            text_put(next, sizeof next, "; waiting until %zu busy node%s free%s", doing->group.busy,
                     doing->group.busy == 1 ? " is" : "s are", given_up);
            print_progress(doing, stderr, next);
            doing->broken = 0;
            wait_some(doing);
            continue;
        }
        text_put(next, sizeof next, ", %zu of them free", doing->group.ready);
        print_progress(doing, stderr, next);
        runs = doing->campaign.runs;
        left = doing->campaign.counts[CAMPAIGN_LEFT];
        if (group_run(doing, argc, argv, &tested) == COMMAND_USAGE)
            return COMMAND_USAGE;
        if (!is_kept(doing, runs, tested)) {
            fprintf(stderr,
                    "muster certify: campaign %s: %s does not contain run %s; without it the "
                    "campaign would test the same nodes again; correct HistoryFile, then: muster "
                    "certify --campaign %s\n",
                    doing->name, doing->base->conf.history_path, doing->run, doing->name);
            return COMMAND_UNKNOWN;
        }
        if (doing->lacks_job)
            hostlist_append(&doing->refusals, doing->partition);
        else if (tested > 0)
            refusals_forget(&doing->refusals, doing->partition);
        if (look(doing, &err) == 0) {
            record_progress(doing);
            doing->broken = doing->is_broken ? doing->broken + 1 : 0;
            if (doing->is_refused || doing->broken >= CAMPAIGN_BROKEN_MOST)
                return broken_end(doing);
            if (doing->campaign.counts[CAMPAIGN_LEFT] < left)
                doing->wait_s = CAMPAIGN_WAIT_LEAST_S;
            else if (doing->campaign.counts[CAMPAIGN_LEFT] > 0)
                wait_some(doing);
        }
    }
    return status >= 0 ? status : end(doing);
}

int certify_campaign(struct certify *base, int argc, char **argv)
{
    struct campaigning doing = {.base = base, .wait_s = CAMPAIGN_WAIT_LEAST_S};
    struct error err;
    int status;

    if (base->options.campaign)
        text_put(doing.name, sizeof doing.name, "%s", base->options.campaign);
    else
        text_time(doing.name, sizeof doing.name, "%Y%m%d-%H%M%S", time(NULL));
    if (recordfile_open(base->options.json_path, &base->json, &err) != 0) {
        fprintf(stderr, "muster certify: %s\n", err.text);
        return COMMAND_USAGE;
    }
    status = campaign_run(&doing, argc, argv);
    campaign_clear(&doing.campaign);
    group_clear(&doing.group);
    hostlist_clear(&doing.refusals);
    free(doing.partition);
    return status;
}
