/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/cluster.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/read_all.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/munge.h"
#include "validate/slurm/release.h"
#include "validate/slurm/step/process.h"
#include "validate/slurm/step/search_path.h"

#include <slurm/slurmdb.h> /* after release.h, which says how slurm.h is to be read */

/* Copies text from an untrusted source. */
static char *copy_clean(const char *text)
{
    char *made = strdup(text_of(text));

    if (made)
        utf8_clean(made);
    return made;
}

/* Adds the folder of Slurm's commands to PATH, found from libslurm's path. The address from dlsym()
 * is in libslurm; &slurm_load_node may be in our PLT. */
static void search_path_set(void)
{
    void *function = dlsym(RTLD_DEFAULT, "slurm_load_node");
    Dl_info library;

    if (function && dladdr(function, &library) != 0 && library.dli_fname)
        search_path_complete(library.dli_fname);
}

int cluster_open(struct error *err)
{
    static bool is_open;
    const char *path = getenv("SLURM_CONF");
    char text[400] = "";
    int ends[2], status = 0;
    pid_t pid;

    if (is_open)
        return 0;
    if (path && access(path, F_OK) != 0) /* libslurm waits a minute for this file to appear */
        return error_set(err, "cannot read Slurm's configuration: SLURM_CONF=%s: %m", path);
    if (pipe(ends) != 0)
        return error_set(err, "cannot read Slurm's configuration: %m");
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_IGN); /* the child may write more than we read */
        dup2(ends[1], 2);
        close(ends[0]);
        slurm_init(NULL);
        _exit(0);
    }
    close(ends[1]);
    if (pid > 0)
        (void)read_all(ends[0], text, sizeof text - 1);
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return error_set(err, "cannot read Slurm's configuration: %m");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        text[strcspn(text, "\n")] = '\0';
        return error_set(err, "cannot read Slurm's configuration: %s",
                         *text ? text : "libslurm exited without an error message");
    }
    slurm_init(NULL);
    search_path_set();
    is_open = true;
    return 0;
}

/* False when memory is out. */
static bool node_fill(const node_info_t *info, struct cluster_node *node)
{
    node->name = strdup(text_of(info->name));
    node->address = strdup(text_of(info->node_addr ? info->node_addr : info->name));
    node->port = info->port;
    node->gres = copy_clean(info->gres);
    node->features = copy_clean(info->features);
    node->reason = copy_clean(info->reason);
    node->comment = strdup(text_of(info->comment));
    node->extra = strdup(text_of(release_node_extra(info)));
    node->reason_uid = info->reason_uid;
    node->reason_time = info->reason_time;
    node->boot_time = info->boot_time;
    node->cpus = info->cpus;
    node->memory_mb =
        info->real_memory > info->mem_spec_limit ? info->real_memory - info->mem_spec_limit : 0;
    node->leaf = -1;
    node->is_older = release_is_older(info->version);
    cluster_node_state(info->node_state, node);
    return node->name && node->address && node->gres && node->features && node->reason &&
           node->comment && node->extra;
}

/* Loads the node of that name; NULL: all nodes. */
static int nodes_load(struct cluster *cluster, const char *name, struct error *err)
{
    node_info_msg_t *found = NULL;
    bool has_memory;

    if ((name ? slurm_load_node_single(&found, release_text(name), SHOW_ALL)
              : slurm_load_node(0, &found, SHOW_ALL)) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its nodes");
    cluster->nodes = calloc(found->record_count + 1, sizeof *cluster->nodes);
    has_memory = cluster->nodes != NULL;
    for (uint32_t i = 0; has_memory && i < found->record_count; i++)
        if (found->node_array[i].name && *found->node_array[i].name)
            has_memory = node_fill(&found->node_array[i], &cluster->nodes[cluster->node_count++]);
    slurm_free_node_info_msg(found);
    return has_memory ? cluster_index(cluster, err)
                      : error_set(err, "out of memory for the cluster's nodes");
}

/* Finds which nodes wait for a certificate, and which are in a reservation of a run or of somebody
 * else. */
static int reservations_load(struct cluster *cluster, struct error *err)
{
    reserve_info_msg_t *found = NULL;
    time_t now = time(NULL);
    struct hostlist waiting = {0}, others = {0};
    int rv = 0;

    if (slurm_load_reservations(0, &found) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its reservations");
    for (uint32_t i = 0; rv == 0 && i < found->record_count; i++) {
        const reserve_info_t *info = &found->reservation_array[i];
        struct hostlist *names = strcmp(info->name, CLUSTER_WAITING) == 0 ? &waiting : &others,
                        more = {0};
        bool is_later = info->start_time > now;
        const char *run;

        /* a TIME_FLOAT reservation never begins */
        if (info->end_time < now || (is_later && info->flags & RESERVE_FLAG_TIME_FLOAT))
            continue;
        cluster->has_waiting |= names == &waiting;
        if ((run = cluster_run_name(info->name)) && hostlist_append(&cluster->runs, run) != 0)
            rv = error_set(err, "out of memory for the cluster's reservations");
        if (rv != 0)
            break;
        rv = hostlist_expand(text_of(info->node_list), &more, err);
        for (size_t k = 0; rv == 0 && k < more.count; k++) {
            struct cluster_node *node =
                run || is_later ? cluster_node(cluster, more.names[k]) : NULL;

            /* a run's reservation begins later only if the clocks of two hosts differ */
            if (node && run)
                node->is_in_run = true;
            else if (node && names == &others &&
                     (node->reserved_at == 0 || info->start_time < node->reserved_at))
                node->reserved_at = info->start_time;
            if ((!is_later || names == &waiting) && hostlist_append(names, more.names[k]) != 0)
                rv = error_set(err, "out of memory for the cluster's reservations");
        }
        hostlist_clear(&more);
    }
    slurm_free_reservation_info_msg(found);
    if (rv == 0)
        rv = cluster_mark_waiting(cluster, &waiting, &others, err);
    hostlist_clear(&waiting);
    hostlist_clear(&others);
    return rv;
}

static int partitions_load(struct cluster *cluster, struct error *err)
{
    partition_info_msg_t *found = NULL;
    int rv = 0;

    if (slurm_load_partitions(0, &found, SHOW_ALL) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its partitions");
    cluster->partitions = calloc(found->record_count + 1, sizeof *cluster->partitions);
    if (!cluster->partitions)
        rv = error_set(err, "out of memory for the cluster's partitions");
    for (uint32_t i = 0; rv == 0 && i < found->record_count; i++) {
        const partition_info_t *info = &found->partition_array[i];
        struct cluster_partition *partition = &cluster->partitions[cluster->partition_count++];

        partition->name = strdup(text_of(info->name));
        partition->is_default = info->flags & PART_FLAG_DEFAULT;
        partition->is_up = info->state_up & PARTITION_SCHED;
        partition->is_closed = !(info->state_up & PARTITION_SUBMIT);
        partition->max_minutes = info->max_time < INT_MAX ? (int)info->max_time : 0; /* INFINITE */
        partition->max_nodes = info->max_nodes < INT_MAX ? info->max_nodes : 0;
        rv = hostlist_expand(text_of(info->nodes), &partition->nodes, err);
        partition->max_memory = info->max_mem_per_cpu ? info->max_mem_per_cpu : cluster->max_memory;
        if (rv == 0 && !partition->name)
            rv = error_set(err, "out of memory for the cluster's partitions");
    }
    slurm_free_partition_info_msg(found);
    return rv;
}

/* Reads the value of Key= from a line of Key=Value words, truncated to size. Returns whether it
 * exists. */
static bool line_value(const char *line, const char *key, char *value, size_t size)
{
    const char *found = line;
    size_t length = strlen(key);

    while ((found = strstr(found, key)) && found != line && found[-1] != ' ')
        found += length;
    if (!found)
        return false;
    found += length;
    snprintf(value, size, "%.*s", (int)strcspn(found, " \n"), found);
    return true;
}

/* Adds the switch of the line, if it is a leaf: level 0. */
static int leaf_add(struct cluster *cluster, const char *line, struct error *err)
{
    size_t size = strlen(line) + 1;
    char *value = malloc(size);
    struct hostlist names = {0};
    int rv = 0;

    if (!value)
        return error_set(err, "out of memory for the cluster's topology");
    if (!line_value(line, "Level=", value, size) || strcmp(value, "0") != 0 ||
        !line_value(line, "Nodes=", value, size) || !*value)
        goto done;
    rv = hostlist_expand(value, &names, err);
    if (rv != 0)
        goto done;
    for (size_t k = 0; k < names.count; k++) {
        struct cluster_node *node = cluster_node(cluster, names.names[k]);

        if (node)
            node->leaf = (int)cluster->leaf_count;
    }
    if (!GROW(cluster->leaves, cluster->leaf_count) ||
        !(cluster->leaves[cluster->leaf_count] =
              strdup(line_value(line, "SwitchName=", value, size) ? value : "")))
        rv = error_set(err, "out of memory for the cluster's topology");
    else
        cluster->leaf_count++;
done:
    hostlist_clear(&names);
    free(value);
    return rv;
}

/* Reads the topology from scontrol, one switch per line. libslurm is no alternative: since 24.11
 * its topology plugin needs symbols of Slurm's own commands and ends any other process. Without
 * switches the leaves stay unknown, which is no error. If scontrol cannot run, topology_err says
 * why. */
static int topology_load(struct cluster *cluster, struct error *err)
{
    static const char *const words[] = {"scontrol", "-o", "show", "topology", NULL};
    char *text, *rest, *line;
    int rv = 0, status;

    if (process_output_status(words, TOPOLOGY_S, &text, &status, &cluster->topology_err) != 0) {
        if (status >= 0)
            *cluster->topology_err.text = '\0';
        return 0;
    }
    for (rest = text; rv == 0 && (line = strsep(&rest, "\n"));) {
        cluster->has_blocks |= strncmp(line, "BlockName=", strlen("BlockName=")) == 0;
        rv = leaf_add(cluster, line, err);
    }
    free(text);
    return rv;
}

static int config_load(struct cluster *cluster, struct error *err)
{
    slurm_conf_t *found = NULL;
    int rv;

    if (slurm_load_ctl_conf(0, &found) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its configuration");
    cluster->name = strdup(text_of(found->cluster_name));
    cluster->max_memory = found->max_mem_per_cpu;
    cluster->complete_wait_s = found->complete_wait;
    munge_set_socket(found->authtype, found->authinfo);
    cluster->hides_cloud = release_hides_cloud(found);
    cluster->has_extra = release_has_extra() && found->sched_params &&
                         strstr(found->sched_params, "extra_constraints");
    release_conf_free(found);
    if (!cluster->name)
        return error_set(err, "out of memory for the cluster's name");
    rv = cluster_check_selected(getenv("SLURM_CLUSTERS"), cluster->name, err);
    unsetenv("SLURM_CLUSTERS"); /* srun would follow it */
    return rv;
}

int cluster_name(char *name, size_t size, struct error *err)
{
    struct cluster cluster = {0};

    if (config_load(&cluster, err) != 0) {
        cluster_clear(&cluster);
        return -1;
    }
    snprintf(name, size, "%s", cluster.name);
    cluster_clear(&cluster);
    return 0;
}

int cluster_federated_name(char *name, size_t size, struct error *err)
{
    void *found = NULL;
    int rv = 0;

    *name = '\0';
    if (slurm_load_federation(&found) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its federation");
    if (found && ((const slurmdb_federation_rec_t *)found)->name)
        rv = cluster_name(name, size, err);
    slurm_destroy_federation_rec(found);
    return rv;
}

/* Returns 0, or -1 with cluster empty. */
static int loaded(struct cluster *cluster, bool is_loaded)
{
    if (!is_loaded)
        cluster_clear(cluster);
    return is_loaded ? 0 : -1;
}

int cluster_load_node(const char *name, struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){0};
    return loaded(cluster, nodes_load(cluster, name, err) == 0);
}

int cluster_load(struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){0};
    return loaded(cluster, config_load(cluster, err) == 0 && nodes_load(cluster, NULL, err) == 0 &&
                               reservations_load(cluster, err) == 0 &&
                               partitions_load(cluster, err) == 0 &&
                               topology_load(cluster, err) == 0);
}

int cluster_load_topology(struct cluster *cluster, struct error *err)
{
    bool is_private;

    *cluster = (struct cluster){0};
    unsetenv("SLURM_CLUSTERS"); /* scontrol and srun would follow it */
    errno = 0;
    if (nodes_load(cluster, NULL, err) == 0)
        return loaded(cluster, topology_load(cluster, err) == 0);
    is_private = errno == ESLURM_ACCESS_DENIED;
    cluster_clear(cluster);
    return is_private ? 0 : -1;
}

int cluster_load_nodes(struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){0};
    return loaded(cluster,
                  nodes_load(cluster, NULL, err) == 0 && reservations_load(cluster, err) == 0);
}

int cluster_load_partitions(struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){0};
    return loaded(cluster, partitions_load(cluster, err) == 0);
}

void cluster_clear(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->node_count; i++) {
        free(cluster->nodes[i].name);
        free(cluster->nodes[i].address);
        free(cluster->nodes[i].gres);
        free(cluster->nodes[i].features);
        free(cluster->nodes[i].reason);
        free(cluster->nodes[i].comment);
        free(cluster->nodes[i].extra);
    }
    for (size_t i = 0; i < cluster->partition_count; i++) {
        free(cluster->partitions[i].name);
        hostlist_clear(&cluster->partitions[i].nodes);
    }
    for (size_t i = 0; i < cluster->leaf_count; i++)
        free(cluster->leaves[i]);
    hostlist_clear(&cluster->runs);
    free(cluster->nodes);
    free(cluster->by_name);
    free(cluster->partitions);
    free(cluster->leaves);
    free(cluster->name);
    *cluster = (struct cluster){0};
}

static int nodes_update(update_node_msg_t *update, const char *nodes, const char *what,
                        struct error *err)
{
    update->node_names = release_text(nodes);
    return slurm_update_node(update) == SLURM_SUCCESS
               ? 0
               : error_set(err, "%s: cannot %s: %s", nodes, what, slurm_strerror(errno));
}

static int state_update(const char *nodes, uint32_t state, const char *what, const char *reason,
                        struct error *err)
{
    update_node_msg_t update;

    slurm_init_update_node_msg(&update);
    update.node_state = state;
    update.reason = release_text(reason);
    release_node_uid(&update, getuid());
    return nodes_update(&update, nodes, what, err);
}

int cluster_drain(const char *nodes, const char *reason, struct error *err)
{
    return state_update(nodes, NODE_STATE_DRAIN, "drain", reason, err);
}

int cluster_down(const char *nodes, const char *reason, struct error *err)
{
    return cluster_drain(nodes, reason, err) == 0
               ? state_update(nodes, NODE_STATE_DOWN, "set down", reason, err)
               : -1;
}

/* Returns whether nodes is one node, which is in service. */
static bool is_in_service(const char *nodes)
{
    const struct cluster_node *node;
    struct cluster cluster;
    bool is_good;

    if (cluster_load_node(nodes, &cluster, NULL) != 0)
        return false;
    node = cluster_node(&cluster, nodes);
    is_good = node && !node->is_drained && !node->is_down && !node->is_invalid;
    cluster_clear(&cluster);
    return is_good;
}

int cluster_resume(const char *nodes, struct error *err)
{
    int rv = state_update(nodes, NODE_RESUME, "resume", NULL, err);

    return rv != 0 && errno == ESLURM_INVALID_NODE_STATE && is_in_service(nodes) ? 0 : rv;
}

int cluster_set_comment(const char *nodes, const char *comment, struct error *err)
{
    update_node_msg_t update;

    slurm_init_update_node_msg(&update);
    update.comment = release_text(comment);
    return nodes_update(&update, nodes, "write Comment", err);
}

int cluster_set_extra(const char *nodes, const char *extra, struct error *err)
{
    update_node_msg_t update;

    slurm_init_update_node_msg(&update);
    release_node_set_extra(&update, release_text(extra));
    return nodes_update(&update, nodes, "write Extra", err);
}
