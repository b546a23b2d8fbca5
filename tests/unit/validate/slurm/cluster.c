/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/cluster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/slurm/batch.h"
#include "validate/slurm/release.h"

/* The largest possible cluster, with node names in no order. */

enum { NODES = 65536 };

static char names[NODES][8];

static pid_t test_pid;

/* In a child process it prints warnings about slurm.conf, and continues when nobody reads any
 * more. */
void __wrap_slurm_init(const char *path)
{
    if (getpid() == test_pid)
        return;
    fprintf(stderr, "%2000s\n", "NodeNames=n1 match no Sockets");
    usleep(200000);
    fprintf(stderr, "%2000s\n", "NodeNames=n2 match no Sockets");
}

static time_t requested_end;      /* of the reservation that is changed */
static char requested_lists[100]; /* the node lists of all requests */
static bool is_old_slurmctld;     /* slurmctld before 23.02 accepts whole lists only */

int __wrap_slurm_update_reservation(resv_desc_msg_t *wanted)
{
    requested_end = wanted->end_time;
    text_join(requested_lists, sizeof requested_lists, "", "%s;",
              wanted->node_list ? wanted->node_list : "none");
    if (!is_old_slurmctld || !wanted->node_list || !strchr("+-", *wanted->node_list))
        return 0;
    errno = ESLURM_INVALID_NODE_NAME;
    return SLURM_ERROR;
}

/* Another host may have changed other nodes since they were read. */
static void changes_waiting_nodes_only(void)
{
    struct hostlist all = {0}, changed = {0}, left = {0};

    hostlist_expand("m1,n[1-3,5]", &all, NULL);
    hostlist_expand("m1,n[2-3,5]", &changed, NULL);
    hostlist_append(&left, "n1");
    *requested_lists = '\0';
    is_int(cluster_update_waiting(&all, &changed, true, NULL), 0,
           "nodes are added to the waiting ones");
    is_str(requested_lists, "+m1,+n[2-3,5];", "... by a request with these nodes only");
    *requested_lists = '\0';
    is_int(cluster_update_waiting(&left, &changed, true, NULL), 0, "nodes are removed");
    is_str(requested_lists, "-m1,-n[2-3,5];", "... by a request with these nodes only");
    *requested_lists = '\0';
    is_int(cluster_update_waiting(&left, &(struct hostlist){0}, true, NULL), 0,
           "no node is added or removed");
    is_str(requested_lists, "none;", "... and only the end is changed");
    is_old_slurmctld = true;
    *requested_lists = '\0';
    is_int(cluster_update_waiting(&all, &changed, true, NULL), 0, "an older slurmctld");
    is_str(requested_lists, "+m1,+n[2-3,5];m1,n[1-3,5];", "... gets the whole list");
    is_old_slurmctld = false;
    hostlist_clear(&all);
    hostlist_clear(&changed);
    hostlist_clear(&left);
}

static node_info_t all_nodes[5];
static uint32_t all_count;
static int load_error; /* of the query of all nodes; 0: the nodes are returned */

int __wrap_slurm_load_node(time_t since, node_info_msg_t **found, uint16_t flags)
{
    static node_info_msg_t message;

    message = (node_info_msg_t){.node_array = all_nodes, .record_count = all_count};
    *found = &message;
    errno = load_error;
    return load_error == 0 ? SLURM_SUCCESS : SLURM_ERROR;
}

void __wrap_slurm_free_node_info_msg(node_info_msg_t *message)
{
}

int __wrap_slurm_load_node_single(node_info_msg_t **found, char *name, uint16_t flags)
{
    static node_info_msg_t message;

    message = (node_info_msg_t){.node_array = all_nodes};
    while (message.record_count == 0 && message.node_array < all_nodes + all_count)
        if (strcmp(message.node_array->name, name) == 0)
            message.record_count = 1;
        else
            message.node_array++;
    *found = &message;
    return SLURM_SUCCESS;
}

/* Changes what it can of the list, as slurmctld does. It resumes no node in service. */
int __wrap_slurm_update_node(update_node_msg_t *update)
{
    struct hostlist wanted;

    errno = hostlist_expand(update->node_names, &wanted, NULL) == 0 ? 0 : ENOMEM;
    for (uint32_t i = 0; i < all_count; i++)
        if (!hostlist_contains(&wanted, all_nodes[i].name))
            continue;
        else if (all_nodes[i].node_state == (NODE_STATE_IDLE | NODE_STATE_DRAIN))
            all_nodes[i].node_state = NODE_STATE_IDLE;
        else
            errno = ESLURM_INVALID_NODE_STATE;
    hostlist_clear(&wanted);
    return errno == 0 ? SLURM_SUCCESS : SLURM_ERROR;
}

static int node_resume(const char *list, const char *text, struct error *err)
{
    return cluster_resume(list, err);
}

static void count_resumed(const char *name, const char *text, const struct error *err,
                          void *context)
{
    if (!err)
        ++*(int *)context;
}

/* slurmctld refuses the resume of n2 alone, once it has resumed the others. */
static void resumes_the_rest_of_a_refused_list(void)
{
    static char lists[3][4] = {"n1", "n2", "n3"};
    struct batch resumes = {0};
    struct error err = {""};
    int resumed = 0;

    all_count = 3;
    for (int i = 0; i < 3; i++) {
        all_nodes[i] =
            (node_info_t){.name = lists[i], .node_state = NODE_STATE_IDLE | NODE_STATE_DRAIN};
        batch_add(&resumes, lists[i], "");
    }
    all_nodes[1].node_state |= NODE_STATE_INVALID_REG;
    is_int(batch_apply(&resumes, node_resume, count_resumed, &resumed, &err), -1,
           "one of three resumes is refused");
    is_str(err.text, "n2: cannot resume: Invalid node state specified", "... which is reported");
    is_int(resumed, 2, "... the other two count as resumed, as they are");
    all_count = 0;
}

static const char *topology = "";

int __wrap_process_output_status(const char *const *words, double deadline_s, char **text,
                                 int *status, struct error *err)
{
    *text = strdup(topology);
    *status = 0;
    return 0;
}

static reserve_info_t reservations[5];

int __wrap_slurm_load_reservations(time_t since, reserve_info_msg_t **found)
{
    static reserve_info_msg_t message = {.record_count = 5, .reservation_array = reservations};

    *found = &message;
    return SLURM_SUCCESS;
}

void __wrap_slurm_free_reservation_info_msg(reserve_info_msg_t *message)
{
}

/* n1 to n5. A run's MAINT reservation would keep others' jobs off their nodes. */
static void reservations_that_begin_soon(void)
{
    static char lesson[] = "lesson", later[] = "later", floats[] = "floats", over[] = "over",
                run[] = CLUSTER_RUN "20260101-120000-abcd";
    static char lists[5][4] = {"n1", "n2", "n3", "n4", "n5"};
    time_t now = time(NULL);
    struct cluster cluster;

    reservations[0] = (reserve_info_t){.name = lesson, .start_time = now + 600};
    reservations[1] = (reserve_info_t){.name = later, .start_time = now + 7200};
    reservations[2] =
        (reserve_info_t){.name = floats, .start_time = now + 600, .flags = RESERVE_FLAG_TIME_FLOAT};
    reservations[3] = (reserve_info_t){.name = over, .start_time = now - 7200};
    reservations[4] =
        (reserve_info_t){.name = run, .start_time = now + 5}; /* the head's clock is ahead */
    for (int i = 0; i < 5; i++) {
        reservations[i].end_time = reservations[i].start_time + 3600;
        reservations[i].node_list = lists[i];
        all_nodes[i] = (node_info_t){.name = lists[i], .node_state = NODE_STATE_IDLE};
    }
    all_count = 5;
    load_error = 0;
    is_int(cluster_load_nodes(&cluster, NULL), 0, "nodes and reservations are loaded");
    all_count = 0;
    for (int i = 0; i < 5; i++)
        is_int(cluster_is_reserved_soon(cluster_node(&cluster, lists[i])), i == 0,
               "... %s is reserved soon or not, by %s", lists[i], reservations[i].name);
    ok(cluster_node(&cluster, lists[1])->reserved_at == now + 7200 &&
           cluster_node(&cluster, lists[2])->reserved_at == 0,
       "... with the time");
    cluster_clear(&cluster);
}

static void test_private_data_and_topology(void)
{
    struct cluster cluster;
    struct error err = {""};

    load_error = ESLURM_ACCESS_DENIED;
    is_int(cluster_load_topology(&cluster, &err), 0,
           "without access to nodes (PrivateData) loading succeeds");
    is_int(cluster.node_count, 0, "... and no node is known");
    cluster_clear(&cluster);
    load_error = SLURM_COMMUNICATIONS_CONNECTION_ERROR;
    is_int(cluster_load_topology(&cluster, &err), -1, "a controller without an answer is an error");
    load_error = 0;
    topology = "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n";
    is_int(cluster_load_topology(&cluster, &err), 0, "a topology of switches");
    ok(!cluster.has_blocks, "... has no blocks");
    cluster_clear(&cluster);
    topology = "BlockName=b1 BlockIndex=0 Nodes=n[1-18] BlockSize=18\n";
    is_int(cluster_load_topology(&cluster, &err), 0, "a topology of blocks");
    ok(cluster.has_blocks && cluster.leaf_count == 0, "... has blocks and no switches");
    cluster_clear(&cluster);
}

/* The reservation lasts while nodes come and go. */
static void keeps_waiting_nodes_without_end(void)
{
    struct hostlist one = {0};

    hostlist_append(&one, "n1");
    is_int(cluster_update_waiting(&one, &one, true, NULL), 0,
           "a node is added to the waiting ones");
    ok(!cluster_reservation_has_end(time(NULL), requested_end) &&
           requested_end < time(NULL) + 366 * 86400,
       "... in a reservation that ends in a year");
    hostlist_clear(&one);
}

static void opens_despite_warnings(void)
{
    struct error err = {""};

    test_pid = getpid();
    setenv("PATH", "/nowhere", 1);
    is_int(cluster_open(&err), 0,
           "warnings of libslurm about slurm.conf do not stop cluster_open() (%s)", err.text);
    if (access("/usr/bin/scontrol", X_OK) == 0)
        is_str(getenv("PATH"), "/nowhere:/usr/bin", "Slurm's commands are found beside libslurm");
}

static void test_find_nodes(const struct cluster *cluster)
{
    size_t wrong = 0;

    for (int i = 0; i < NODES; i++)
        wrong += cluster_node(cluster, names[i]) != &cluster->nodes[i];
    is_int(wrong, 0, "each of %d nodes is found", NODES);
    ok(!cluster_node(cluster, "n"), "... and no other name");
    ok(!cluster_node(cluster, "n65536"), "... none beyond the last");
    ok(!cluster_node(&(struct cluster){0}, "n1"), "... none in an empty cluster");
}

static void test_mark_waiting(struct cluster *cluster)
{
    struct hostlist waiting, others;
    size_t marked = 0, reserved = 0;

    for (int i = 0; i < NODES; i++)
        cluster->nodes[i].is_reserved = true;
    hostlist_expand("n[0-59999],gone", &waiting, NULL);
    hostlist_expand("n[100-65535]", &others, NULL);
    is_int(cluster_mark_waiting(cluster, &waiting, &others, NULL), 0, "waiting nodes are marked");
    for (int i = 0; i < NODES; i++) {
        marked += cluster->nodes[i].is_waiting;
        reserved += cluster->nodes[i].is_reserved;
    }
    is_int(marked, 60000, "... those of the waiting reservation");
    is_int(reserved, NODES - 100,
           "... and they stay reserved if another reservation has them, too");
    hostlist_clear(&waiting);
    hostlist_clear(&others);
}

static void check_state(uint32_t state, bool is_absent, const char *name)
{
    struct cluster_node node = {0};

    cluster_node_state(state, &node);
    is_str(node.state, name, "state %#x is %s", state, name);
    is_int(node.is_absent, is_absent, "... absent: %d", is_absent);
}

static void test_dynamic_nodes(void)
{
    static const uint32_t flags[] = {0, NODE_STATE_CLOUD, NODE_STATE_DYNAMIC_NORM,
                                     NODE_STATE_DYNAMIC_FUTURE, NODE_STATE_DRAIN};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct cluster_node node = {0};

        cluster_node_state(NODE_STATE_IDLE | flags[i], &node);
        is_int(node.is_dynamic, i == 2 || i == 3, "state %#x: dynamic or not", flags[i]);
    }
}

static void test_older_releases(void)
{
    const unsigned major = SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                   minor = SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER);
    char version[32];

    snprintf(version, sizeof version, "%u.%02u.0-0rc1", major, minor);
    ok(!release_is_older(version), "%s is not older", version);
    snprintf(version, sizeof version, "%u.%02u.9", major, minor - 1);
    ok(release_is_older(version), "%s is", version);
    snprintf(version, sizeof version, "%u.%02u", major - 1, 11u);
    ok(release_is_older(version), "%s is", version);
    snprintf(version, sizeof version, "%u.%02u.1", major + 1, 2u);
    ok(!release_is_older(version), "%s is newer", version);
    ok(!release_is_older(NULL) && !release_is_older(""), "no version is not older");
}

static void test_states(void)
{
    const uint32_t idle = NODE_STATE_IDLE, cloud = NODE_STATE_IDLE | NODE_STATE_CLOUD;

    check_state(idle, false, "idle");
    check_state(cloud, false, "idle");
    check_state(idle | NODE_STATE_DYNAMIC_NORM, false, "idle");
    check_state(NODE_STATE_DOWN | NODE_STATE_NO_RESPOND, false, "down*");
    check_state(NODE_STATE_FUTURE, true, "future");
    check_state(cloud | NODE_STATE_POWERED_DOWN | NODE_STATE_NO_RESPOND, true, "powered down");
    check_state(NODE_STATE_DOWN | NODE_STATE_CLOUD | NODE_STATE_POWERED_DOWN, true, "powered down");
    check_state(NODE_STATE_ALLOCATED | NODE_STATE_CLOUD | NODE_STATE_POWERING_UP, true,
                "powering up");
    check_state(cloud | NODE_STATE_POWERED_DOWN | NODE_STATE_POWER_UP, true, "powering up");
    check_state(cloud | NODE_STATE_POWERING_DOWN, true, "powering down");
    check_state(cloud | NODE_STATE_POWER_DOWN, true, "about to be powered down");
    check_state(idle | NODE_STATE_DRAIN | NODE_STATE_POWER_DRAIN, true, "about to be powered down");
    check_state(idle | NODE_STATE_REBOOT_REQUESTED, true, "about to be rebooted");
    check_state(idle | NODE_STATE_REBOOT_ISSUED, true, "rebooting");
#ifdef NODE_STATE_BLOCKED
    check_state(idle | NODE_STATE_BLOCKED, false, "blocked");
    check_state(idle | NODE_STATE_BLOCKED | NODE_STATE_DRAIN, false, "drained");
#endif
    check_state(NODE_STATE_UNKNOWN, false, "unknown");
}

static void test_reservations_of_runs(void)
{
    static const char *const others[] = {"muster-2nd-floor",
                                         "muster-20261120",
                                         "muster-20261120-161200",
                                         "muster-20261120-161200-",
                                         "muster-20261120-161200-1a",
                                         "muster-20261120-161200-1a2g",
                                         "muster-20261120-161200-1A2B",
                                         "muster-2026112a-161200-1a2b",
                                         "muster-20261120-161200-1a2bc",
                                         "muster-20261120_161200-1a2b",
                                         "muster",
                                         "muster-",
                                         "site",
                                         NULL};

    is_str(cluster_run_name("muster-20261120-161200-1a2b"), "20261120-161200-1a2b",
           "a run's name is taken from its reservation's name");
    for (int i = 0; others[i]; i++)
        ok(!cluster_run_name(others[i]), "%s is not a run's reservation", others[i]);
    ok(!cluster_run_name(NULL), "... nor is one without a name");
    ok(cluster_reservation_has_end(1000, 1000 + 7200), "a reservation of two hours has an end");
    ok(!cluster_reservation_has_end(1000, 1000 + 365 * 86400),
       "a reservation of a year counts as endless");
}

/* A user who means another cluster must not certify this one. */
static void test_meant_clusters(void)
{
    struct error err = {""};

    is_int(cluster_check_selected(NULL, "west", &err), 0,
           "without SLURM_CLUSTERS this cluster is meant");
    is_int(cluster_check_selected("", "west", &err), 0, "... also with an empty one");
    is_int(cluster_check_selected("west", "west", &err), 0, "this cluster is accepted");
    is_int(cluster_check_selected("east,West", "west", &err), 0,
           "this cluster among others is accepted, in any case");
    is_int(cluster_check_selected("all", "west", &err), 0, "all clusters are accepted");
    is_int(cluster_check_selected("east", "west", &err), -1, "another cluster is refused");
    is_str(
        err.text,
        "SLURM_CLUSTERS is 'east', but the cluster of this host is west; next: run this on a host "
        "of that cluster, or unset SLURM_CLUSTERS",
        "... with a message in one line");
    is_int(cluster_check_selected("western,wes", "west", &err), -1,
           "similar names are other clusters");
}

static void check_uplinks(const struct cluster *cluster, const struct hostlist *run, int first,
                          int second, const char *what)
{
    int pairs[2] = {-1, -1};

    cluster_uplink_pairs(cluster, run, pairs);
    is_int(pairs[0], first, "%s", what);
    is_int(pairs[1], second, "... the other leaf");
}

static void test_uplinks_beside_jobs(void)
{
    struct cluster_node nodes[12] = {0};
    struct cluster cluster = {.nodes = nodes, .node_count = 12, .leaf_count = 2};
    struct hostlist run;

    for (int i = 0; i < 12; i++) { /* eight on one leaf, four on the other */
        nodes[i].name = names[i];
        snprintf(names[i], sizeof names[i], "m%d", i);
        nodes[i].leaf = i >= 8;
    }
    hostlist_expand("m[0-5],m8", &run, NULL);
    check_uplinks(&cluster, &run, 0, 0, "without jobs there is no limit");
    nodes[0].is_allocated = true;
    check_uplinks(&cluster, &run, 0, 0, "a job on a node of the run is the run itself");
    nodes[7].is_allocated = true;
    check_uplinks(&cluster, &run, 2, 0, "another job: a quarter of a leaf of eight");
    nodes[9].is_allocated = true;
    check_uplinks(&cluster, &run, 2, 1, "... and a quarter of the other leaf");
    hostlist_clear(&run);
    hostlist_expand("m[0-5]", &run, NULL);
    check_uplinks(&cluster, &run, 2, 0,
                  "a job on a leaf with nodes of the run, and one on a leaf without");
    for (int i = 0; i < 12; i++)
        nodes[i].leaf = -1;
    check_uplinks(&cluster, &run, 0, 0, "without a topology there is no limit");
    hostlist_clear(&run);
}

int main(void)
{
    struct cluster cluster = {.nodes = calloc(NODES, sizeof *cluster.nodes), .node_count = NODES};
    clock_t begin = clock();
    struct error err = {""};
    double cpu_s;

    for (size_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i * 40503 % NODES);
        cluster.nodes[i].name = names[i];
    }
    is_int(cluster_index(&cluster, &err), 0, "the nodes are indexed");
    test_find_nodes(&cluster);
    test_mark_waiting(&cluster);
    cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ok(cpu_s < 2, "all of it takes %.3f s of processor time", cpu_s);
    free(cluster.by_name);
    free(cluster.nodes);
    opens_despite_warnings();
    test_states();
    test_dynamic_nodes();
    test_older_releases();
    test_reservations_of_runs();
    keeps_waiting_nodes_without_end();
    changes_waiting_nodes_only();
    resumes_the_rest_of_a_refused_list();
    test_meant_clusters();
    test_uplinks_beside_jobs();
    test_private_data_and_topology();
    reservations_that_begin_soon();
    return tap_done();
}
