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
struct campaign_session {
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
static void print_progress(struct campaign_session *session, FILE *stream, const char *next)
{
    char counts[160], text[sizeof session->printed];

    campaign_describe(&session->campaign, counts, sizeof counts);
    text_put(text, sizeof text, "campaign %s: %s%s", session->name, counts, next);
    if (strcmp(text, session->printed) != 0)
        fprintf(stream, "%s\n", text);
    text_put(session->printed, sizeof session->printed, "%s", text);
    fflush(stream);
}

/* Writes the progress as a record, after those of a run. */
static void record_progress(struct campaign_session *session)
{
    struct record record;
    char counts[160];

    campaign_describe(&session->campaign, counts, sizeof counts);
    record = RECORD(.suite = "certify", .test = "campaign", .metric = "certified",
                    .run = session->run, .time = record_now_s(), .part = session->name,
                    .value = (double)session->campaign.counts[CAMPAIGN_CERTIFIED],
                    .limit = (double)session->campaign.wanted, .limit_source = "expected",
                    .unit = "count", .message = counts);
    if (session->base->json)
        record_write(session->base->json, &record);
}

static int nodes_copy(const struct hostlist *from, struct hostlist *nodes, struct error *err)
{
    return hostlist_unite(nodes, from) == 0
               ? 0
               : error_set(err, "out of memory for %zu nodes", from->count);
}

/* Finds the nodes of the campaign: those of -w or -p, else those of its earlier runs, else all.
 * Returns 0, or -1 with err. */
static int nodes_find(const struct campaign_session *session, const struct cluster *cluster,
                      struct hostlist *nodes, struct error *err)
{
    const struct certify_options *options = &session->base->options;
    const struct cluster_partition *partition = NULL;

    if (options->campaign_nodes) {
        if (hostlist_expand_once(options->campaign_nodes, nodes, err) != 0)
            return -1;
        if (cluster_unknown_node(cluster, nodes, err)) {
            session->base->is_misused = true;
            return -1;
        }
        return 0;
    }
    if (options->partition) {
        partition = plan_partition(cluster, options->partition, NULL, 0);
        if (!partition) {
            session->base->is_misused = true;
            return error_set(err, "no partition %s in this cluster", options->partition);
        }
        return nodes_copy(&partition->nodes, nodes, err);
    }
    if (session->campaign.runs > 0 && !session->campaign.is_named) {
        session->base->is_misused = true;
        return error_set(err,
                         "%s, written by an older muster, does not name all %zu nodes of the "
                         "campaign; name them with -w",
                         session->base->conf.history_path, session->campaign.wanted);
    }
    if (session->campaign.runs > 0)
        return nodes_copy(&session->campaign.nodes, nodes, err);
    for (size_t i = 0; i < cluster->node_count; i++)
        if (hostlist_append(nodes, cluster->nodes[i].name) != 0)
            return error_set(err, "out of memory for %zu nodes", cluster->node_count);
    return 0;
}

/* Reads the state of the campaign, for the nodes of nodes_find(). Returns 0, or -1 with err. */
static int campaign_reload(struct campaign_session *session, const struct cluster *cluster,
                           struct error *err)
{
    const char *path = session->base->conf.history_path;
    struct hostlist nodes = {0};
    int rv = 0;

    campaign_clear(&session->campaign);
    if (campaign_read(path, session->name, cluster->name, NULL, &session->campaign, err) < 0)
        return -1;
    rv = nodes_find(session, cluster, &nodes, err);
    campaign_clear(&session->campaign);
    if (rv == 0)
        rv = campaign_read(path, session->name, cluster->name, &nodes, &session->campaign, err) < 0
                 ? -1
                 : 0;
    hostlist_clear(&nodes);
    return rv;
}

static size_t refusals_of(const struct campaign_session *session, const char *partition)
{
    size_t count = 0;

    for (size_t i = 0; i < session->refusals.count; i++)
        count += strcmp(session->refusals.names[i], partition) == 0;
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
static int group_choose_below(struct campaign_session *session, const struct cluster *cluster,
                              size_t most, struct error *err)
{
    const struct certify_options *options = &session->base->options;
    struct cluster usable = *cluster;
    int rv;

    group_clear(&session->group);
    free(session->partition);
    session->partition = NULL;
    usable.partitions = calloc(cluster->partition_count + 1, sizeof *usable.partitions);
    usable.partition_count = 0;
    if (!usable.partitions)
        return error_set(err, "out of memory for the cluster's partitions");
    for (size_t i = 0; i < cluster->partition_count; i++)
        if (refusals_of(session, cluster->partitions[i].name) < most)
            usable.partitions[usable.partition_count++] = cluster->partitions[i];
    rv = group_choose(&usable, &session->campaign, options->partition, (size_t)options->at_a_time,
                      &session->group, err);
    if (rv == 0 && session->group.partition &&
        !(session->partition = strdup(session->group.partition->name)))
        rv = error_set(err, "out of memory for the name of a partition");
    session->group.partition = NULL; /* it ends with the cluster */
    free(usable.partitions);
    return rv;
}

/* Chooses the next group. A partition that refused a job is tried again if no other partition has a
 * free node, as the refusal may pass; after many refusals in a row it is given up, as each try
 * reserves its nodes. */
static int group_find(struct campaign_session *session, const struct cluster *cluster,
                      struct error *err)
{
    session->is_refused = false;
    if (group_choose_below(session, cluster, 1, err) != 0)
        return -1;
    if (session->refusals.count == 0 || session->group.ready > 0)
        return 0;
    if (group_choose_below(session, cluster, CAMPAIGN_BROKEN_MOST, err) != 0)
        return -1;
    if (session->group.ready > 0 || session->group.busy > 0)
        return 0;
    if (group_choose_below(session, cluster, SIZE_MAX, err) != 0)
        return -1;
    session->is_refused = session->group.ready > 0 || session->group.busy > 0;
    return 0;
}

/* Reads the state from the controller and the history, and chooses the next group. Returns 0, or -1
 * with err. */
static int next_group_find(struct campaign_session *session, struct error *err)
{
    struct cluster cluster = {0};
    int rv;

    if (session->base->operations->open(err) != 0 ||
        session->base->operations->load(&cluster, err) != 0)
        return -1;
    rv = campaign_reload(session, &cluster, err);
    if (rv == 0)
        rv = group_find(session, &cluster, err);
    cluster_clear(&cluster);
    return rv;
}

static void wait_some(struct campaign_session *session)
{
    double begin = clock_s();

    while (!certify_stop && clock_s() - begin < session->wait_s)
        usleep(50000);
    session->wait_s =
        session->wait_s * 2 < CAMPAIGN_WAIT_MOST_S ? session->wait_s * 2 : CAMPAIGN_WAIT_MOST_S;
}

/* Performs one run, of one group. *tested: the number of its nodes. Returns the run's exit status.
 */
static int group_run(struct campaign_session *session, size_t *tested)
{
    struct certify certify = {.options = session->base->options,
                              .conf = session->base->conf,
                              .json = session->base->json,
                              .campaign = &session->campaign,
                              .operations = session->base->operations,
                              .live_directory = session->base->live_directory,
                              .undo = {.journal = -1, .keeper_pipe = -1}};
    int status;

    if (session->partition)
        certify.options.partition = session->partition; /* and no other that has the same nodes */
    status = certify_run(&certify);
    if (status == COMMAND_USAGE && certify.is_misused)
        status = COMMAND_UNKNOWN; /* its partition is gone; next_group_find() then checks whether
                                     -p named it */
    *tested = certify.count;
    session->lacks_job = certify.count > 0 && certify.lacks_job;
    session->is_broken = certify.count == 0 && certify.is_broken;
    text_put(session->run, sizeof session->run, "%s", certify.run);
    session->base->options.jitter_s = 0;
    certify.conf = (struct conf){0}; /* the next run needs it as well */
    certify_clear(&certify);
    fflush(stdout);
    return status;
}

/* Selects the level that the campaign began with. Returns -1 to go on, or the exit status. */
static int level_select(struct campaign_session *session)
{
    struct certify_options *options = &session->base->options;
    const char *level = session->campaign.level;

    if (!*level)
        return -1;
    if (options->has_level && strcmp(certify_level_name(options->level), level) != 0)
        return command_misuse("muster certify",
                              "campaign %s is of level %s, found --level %s; name another campaign",
                              session->name, level, certify_level_name(options->level));
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

static int campaign_end(struct campaign_session *session)
{
    const size_t *counts = session->campaign.counts;
    size_t unnamed = long_names(&session->campaign);
    char next[300];

    if (certify_stop) {
        text_put(next, sizeof next, "; stopped by signal %d; next: muster certify --campaign %s",
                 (int)certify_stop, session->name);
        print_progress(session, stderr, next);
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
                 session->name);
    print_progress(session, session->base->json == stdout ? stderr : stdout, next);
    return counts[CAMPAIGN_FAILED] > 0                                 ? COMMAND_FAIL
           : counts[CAMPAIGN_UNKNOWN] > 0 || counts[CAMPAIGN_LEFT] > 0 ? COMMAND_UNKNOWN
                                                                       : COMMAND_PASS;
}

static bool has_more_runs(const struct campaign_session *session, int runs)
{
    struct campaign campaign;
    struct error err;
    bool is_there;

    if (campaign_read(session->base->conf.history_path, session->name, session->campaign.cluster,
                      NULL, &campaign, &err) < 0)
        return false;
    is_there = campaign.runs > runs;
    campaign_clear(&campaign);
    return is_there;
}

/* Returns whether the history contains the run that has ended, as the campaign remembers nothing
 * else. A run that could not be stored because the history was busy is taken in first. */
static bool is_stored(const struct campaign_session *session, int runs, size_t tested)
{
    double begin = clock_s();
    struct error err;

    if (tested == 0 || certify_stop || has_more_runs(session, runs))
        return true;
    while (history_take_in(session->base->conf.history_path, &err) != 0) {
        if (certify_stop || clock_s() - begin >= CAMPAIGN_KEPT_S)
            return certify_stop;
        usleep(500000);
    }
    return has_more_runs(session, runs);
}

/* Ends the campaign: what failed so often does not recover by itself. Returns the exit status. */
static int campaign_give_up(const struct campaign_session *session)
{
    fprintf(stderr,
            "muster certify: campaign %s: ended after %d failures in a row; next: correct what the "
            "lines above say, then: muster certify --campaign %s\n",
            session->name, CAMPAIGN_BROKEN_MOST, session->name);
    return COMMAND_UNKNOWN;
}

/* Writes which partitions are given up, for the line about a wait; "" if none is. */
static void given_up_text(const struct campaign_session *session, char *text, size_t size)
{
    struct hostlist names = {0};

    for (size_t i = 0; i < session->refusals.count; i++)
        if (refusals_of(session, session->refusals.names[i]) >= CAMPAIGN_BROKEN_MOST)
            hostlist_append(&names, session->refusals.names[i]);
    text[0] = '\0';
    if (names.count > 0)
        text_put(text, size, "; partition %s is given up: it refused %d jobs in a row",
                 hostlist_text(&names).text, CAMPAIGN_BROKEN_MOST);
    hostlist_clear(&names);
}

/* Tests groups until no node is left that is or will be free. Returns the exit status. */
static int campaign_run(struct campaign_session *session)
{
    int status = -1;
    struct error err = {""};
    char next[300], given_up[200];

    while (status < 0 && !certify_stop) {
        size_t left, tested = 0;
        int runs;

        if (next_group_find(session, &err) != 0) {
            fprintf(stderr, "muster certify: campaign %s: %s\n", session->name, err.text);
            if (session->base->is_misused)
                return COMMAND_USAGE;
            if (++session->broken >= CAMPAIGN_BROKEN_MOST)
                return campaign_give_up(session);
            wait_some(session);
            continue;
        }
        status = level_select(session);
        if (status < 0 && session->is_refused)
            return campaign_give_up(session);
        if (status >= 0 || (session->group.ready == 0 && session->group.busy == 0))
            break;
        if (session->group.wanted.count == 0) {
            given_up_text(session, given_up, sizeof given_up);
            text_put(next, sizeof next, "; waiting until %zu busy node%s free%s",
                     session->group.busy, session->group.busy == 1 ? " is" : "s are", given_up);
            print_progress(session, stderr, next);
            session->broken = 0;
            wait_some(session);
            continue;
        }
        text_put(next, sizeof next, ", %zu of them free", session->group.ready);
        print_progress(session, stderr, next);
        runs = session->campaign.runs;
        left = session->campaign.counts[CAMPAIGN_LEFT];
        if (group_run(session, &tested) == COMMAND_USAGE)
            return COMMAND_USAGE;
        if (!is_stored(session, runs, tested)) {
            fprintf(stderr,
                    "muster certify: campaign %s: %s does not contain run %s; without it the "
                    "campaign would test the same nodes again; correct HistoryFile, then: muster "
                    "certify --campaign %s\n",
                    session->name, session->base->conf.history_path, session->run, session->name);
            return COMMAND_UNKNOWN;
        }
        if (session->lacks_job)
            hostlist_append(&session->refusals, session->partition);
        else if (tested > 0)
            refusals_forget(&session->refusals, session->partition);
        if (next_group_find(session, &err) == 0) {
            record_progress(session);
            session->broken = session->is_broken ? session->broken + 1 : 0;
            if (session->is_refused || session->broken >= CAMPAIGN_BROKEN_MOST)
                return campaign_give_up(session);
            if (session->campaign.counts[CAMPAIGN_LEFT] < left)
                session->wait_s = CAMPAIGN_WAIT_LEAST_S;
            else if (session->campaign.counts[CAMPAIGN_LEFT] > 0)
                wait_some(session);
        }
    }
    return status >= 0 ? status : campaign_end(session);
}

int certify_campaign(struct certify *base)
{
    struct campaign_session session = {.base = base, .wait_s = CAMPAIGN_WAIT_LEAST_S};
    struct error err;
    int status;

    if (base->options.campaign)
        text_put(session.name, sizeof session.name, "%s", base->options.campaign);
    else
        text_time(session.name, sizeof session.name, "%Y%m%d-%H%M%S", time(NULL));
    if (recordfile_open(base->options.json_path, &base->json, &err) != 0) {
        fprintf(stderr, "muster certify: %s\n", err.text);
        return COMMAND_USAGE;
    }
    status = campaign_run(&session);
    campaign_clear(&session.campaign);
    group_clear(&session.group);
    hostlist_clear(&session.refusals);
    free(session.partition);
    return status;
}
