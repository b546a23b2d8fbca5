/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/path.h"
#include "validate/command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/hostlist.h"
#include "validate/history/history.h"
#include "validate/history/node_status.h"
#include "validate/policy/testing.h"
#include "validate/slurm/cluster.h"

struct options {
    const char *nodes, *release, *config;
    bool is_list, is_dry_run;
};

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct options),
    OPTION('l', "list", NULL, "only list the waiting nodes", FLAG,
           OPTION_FIELD(struct options, is_list)),
    OPTION('n', "dry-run", NULL, "only print what would be done", FLAG,
           OPTION_FIELD(struct options, is_dry_run)),
    OPTION('r', "release", "LIST", "remove these nodes from the reservation, certified or not",
           TEXT, OPTION_FIELD(struct options, release)),
    OPTION('w', "nodes", "LIST", "these nodes: n[1-4]", TEXT, OPTION_FIELD(struct options, nodes)),
    OPTION('\0', "nodelist", "LIST", NULL, TEXT, OPTION_FIELD(struct options, nodes)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster reserve",
    .summary = "Puts nodes into the reservation \"" CLUSTER_WAITING
               "\", where no user job starts. muster certify tests them there and removes those "
               "that it certifies. Running jobs continue. Without -w: all nodes without a valid "
               "certificate in the history of this machine.",
    .status = "0 done, 2 usage, 3 not done.",
    .rows = rows,
};

/* Returns -1 to continue, else the exit status. */
static int options_read(int argc, char **argv, struct options *options)
{
    int status = command_options(&set, argc, argv, options);

    if (status < 0 && options->is_list + (options->nodes != NULL) + (options->release != NULL) > 1)
        status = command_misuse(argv[0], "--nodes, --release and --list are mutually exclusive");
    return status;
}

/* Finds the nodes that are to wait from now on: those that wait already, with (or for --release
 * without) those of the list; without a list also those that are not certified. Returns
 * COMMAND_PASS, or another exit status with err. */
static int wanted_find(const struct options *options, const char *history,
                       const struct cluster *cluster, struct hostlist *wanted, struct error *err)
{
    const char *text = options->release ? options->release : options->nodes;
    struct hostlist named = {0}, certified = {0};
    struct name_index requested = {0}, known = {0};
    int status = COMMAND_PASS;

    if (text && hostlist_expand(text, &named, err) != 0)
        return COMMAND_USAGE;
    if (cluster_unknown_node(cluster, &named, err))
        status = COMMAND_USAGE;
    /* a certificate of a run that is not yet in the history counts */
    if (status == COMMAND_PASS && !text &&
        ((geteuid() == 0 && history_take_in(history, err) != 0) ||
         node_status_valid(history, cluster->name, &certified, err) < 0))
        status = COMMAND_UNKNOWN;
    if (status == COMMAND_PASS &&
        (hostlist_index(&named, &requested) != 0 || hostlist_index(&certified, &known) != 0)) {
        error_set(err, "no memory");
        status = COMMAND_UNKNOWN;
    }
    for (size_t i = 0; i < cluster->node_count && status == COMMAND_PASS; i++) {
        const struct cluster_node *node = &cluster->nodes[i];
        bool is_named = name_index_has(&requested, node->name);
        bool is_wanted = options->release ? node->is_waiting && !is_named
                         : options->nodes ? node->is_waiting || is_named
                                          : node->is_waiting || !name_index_has(&known, node->name);

        if (is_wanted && hostlist_append(wanted, node->name) != 0) {
            error_set(err, "no memory");
            status = COMMAND_UNKNOWN;
        }
    }
    name_index_clear(&requested);
    name_index_clear(&known);
    hostlist_clear(&named);
    hostlist_clear(&certified);
    return status;
}

static int waiting_print(const struct cluster *cluster)
{
    struct hostlist waiting = {0};
    char *folded;

    for (size_t i = 0; i < cluster->node_count; i++)
        if (cluster->nodes[i].is_waiting)
            hostlist_append(&waiting, cluster->nodes[i].name);
    folded = hostlist_fold(&waiting);
    if (folded && waiting.count > 0)
        puts(folded);
    free(folded);
    hostlist_clear(&waiting);
    return COMMAND_PASS;
}

/* Finds the nodes to add to those that wait or, with --release, to remove from them. */
static int change_find(const struct cluster *cluster, const struct hostlist *wanted,
                       struct hostlist *changed, struct error *err)
{
    struct name_index waiting;
    int rv = hostlist_index(wanted, &waiting);

    for (size_t i = 0; i < cluster->node_count && rv == 0; i++)
        if (name_index_has(&waiting, cluster->nodes[i].name) != cluster->nodes[i].is_waiting)
            rv = hostlist_append(changed, cluster->nodes[i].name);
    name_index_clear(&waiting);
    return rv == 0 ? 0 : error_set(err, "no memory");
}

static void change_print(const struct hostlist *changed, bool is_more, bool is_dry_run)
{
    if (changed->count == 0)
        puts("nothing to do");
    else if (is_more)
        printf("%s for muster certify in reservation " CLUSTER_WAITING ": %s\n",
               is_dry_run ? "would wait" : "waiting", hostlist_text(changed).text);
    else
        printf("%s of reservation " CLUSTER_WAITING ": %s\n",
               is_dry_run ? "would be taken out" : "taken out", hostlist_text(changed).text);
}

static int reserve(const struct options *options, const struct conf *conf, struct error *err)
{
    struct cluster cluster = {0};
    struct hostlist wanted = {0}, changed = {0};
    char runs[512];
    int lock = -1, status;

    path_beside(conf->history_path, "runs", runs, sizeof runs);
    if (cluster_open(err) != 0)
        return COMMAND_UNKNOWN;
    /* muster certify may be releasing nodes now; any other error of the lock is ignored */
    if (!options->is_list && !options->is_dry_run && (lock = testing_lock(runs, err)) < 0 &&
        errno == EWOULDBLOCK)
        return COMMAND_UNKNOWN;
    status = cluster_load(&cluster, err) == 0 ? COMMAND_PASS : COMMAND_UNKNOWN;
    if (status == COMMAND_PASS && options->is_list) {
        status = waiting_print(&cluster);
    } else if (status == COMMAND_PASS) {
        status = wanted_find(options, conf->history_path, &cluster, &wanted, err);
        if (status == COMMAND_PASS &&
            (change_find(&cluster, &wanted, &changed, err) != 0 ||
             (!options->is_dry_run &&
              cluster_update_waiting(&wanted, &changed, cluster.has_waiting, err) != 0)))
            status = COMMAND_UNKNOWN;
        if (status == COMMAND_PASS)
            change_print(&changed, !options->release, options->is_dry_run);
    }
    if (lock >= 0)
        close(lock);
    hostlist_clear(&wanted);
    hostlist_clear(&changed);
    cluster_clear(&cluster);
    return status;
}

int command_reserve(int argc, char **argv)
{
    struct options options = {0};
    struct error err = {""};
    struct conf conf;
    int status = options_read(argc, argv, &options);

    if (status >= 0)
        return status;
    if (geteuid() != 0 && !options.is_list && !options.is_dry_run)
        return command_misuse(argv[0], "changing a reservation needs root; --list and --dry-run do "
                                       "not");
    status = command_conf(argv[0], options.config, &conf);
    if (status == COMMAND_PASS) {
        status = reserve(&options, &conf, &err);
        if (status != COMMAND_PASS)
            fprintf(stderr, "%s: %s\n", argv[0], err.text);
    }
    conf_clear(&conf);
    return status;
}
