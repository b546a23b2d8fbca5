/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/certify.h"
#include "validate/certify/options.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <slurm/slurm_errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/bounded_child.h"
#include "lib/base/history_figure.h"
#include "lib/base/text.h"
#include "lib/constants/certify_constants.h"
#include "lib/constants/checks_constants.h"
#include "tests/unit/capture.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/certify/campaign.h"
#include "validate/certify/choose/job_minutes.h"
#include "validate/certify/report/run_report.h"
#include "validate/certify/stages/links/links_stage.h"
#include "validate/certify/state/estimate.h"
#include "validate/certify/state/rails.h"
#include "validate/certify/step/step_setup.h"
#include "validate/command/command.h"
#include "validate/history/history.h"
#include "validate/history/node_status.h"
#include "validate/history/stage_values.h"
#include "validate/localization/localization.h"
#include "validate/report/recordfile.h"
#include "validate/slurm/job/allocation.h"
#include "validate/slurm/revocation.h"
#include "validate/slurm/step/job_match.h"

/* Tests whole certifications, from the choice of nodes to the report, on a made-up cluster: the
 * table of operations, the clock and the user are made up. Each operation is refused in turn,
 * alone and with all that follow. */

enum { NODES = 6, OPERATIONS_MOST = 400 };
enum { HEALTHY, FAULTY, DRAINED_BY_MUSTER, DRAINED_BY_ADMIN }; /* kinds of nodes */

static const struct {
    const char *name;
    int kind;
} nodes[NODES] = {{"n1", HEALTHY},           {"n2", HEALTHY},          {"n3", FAULTY},
                  {"n4", DRAINED_BY_MUSTER}, {"n5", DRAINED_BY_ADMIN}, {"n6", HEALTHY}};
static const char muster_reason[] = "muster: rail_slow eth1 9 of 98 Mb/s 2026-11-01";

/* What a test changes in the cluster and its runs. Each test begins with default_setup. */
static struct setup {
    const char *admin_reason; /* the reason of an administrator's drain */
    const char *fifth_name;   /* the name of n5 in Slurm */
    bool is_dry_run, is_suspects, is_due, keeps_history;
    enum certify_level level;
    const char *live_directory;
    int refused_operation; /* 0: no operation is refused */
    int stopped_operation; /* the run gets SIGINT in this operation; 0: in none */
    bool refuses_all;      /* refuses also all operations after it */
    /* when slurmctld restarts, which takes RESTART_S */
    enum { NEVER, AFTER_THE_TESTS, AFTER_THE_CERTIFICATES } restarts;
    bool refuses_certificates;
    bool has_extra;   /* the cluster's nodes offer certificates in Extra */
    bool is_changing; /* the site and another run change nodes while the run has its first job */
    bool is_written_back; /* n1's health check restores Extra after the run's first change */
    int kept_node;        /* the node with a full-level certificate until kept_until; -1: none */
    long long kept_until;
    long long issued_s; /* issue time of the certificates that nodes have at first */
    /* The nodes' accelerators: none; good, the same number on each; good, more of them from n4
     * on; one of n1 slow; one of n1 slow near its limit; all slow; no library; no library on n1. */
    enum {
        NO_GPUS,
        GPUS,
        GPUS_OF_TWO_COUNTS,
        GPU_IS_SLOW,
        GPU_IS_NEAR,
        GPUS_ARE_SLOW,
        NO_LIBRARY,
        NO_LIBRARY_OF_N1
    } accelerators;
    const char *container;       /* GpuContainer */
    const char *container_lacks; /* the node that cannot start it, "": none; NULL: no container */
    /* what the simulated muster-host finds on n1 */
    enum {
        HOST_IS_GOOD,
        CORE_IS_SLOW,
        CORE_IS_NEAR,
        CORE_IS_WRONG,
        DISK_IS_SLOW,
        HOST_IS_LEFT_OUT
    } host_kind;
    double host_triad, host_stalled, gpu_rate; /* of n1 */
    int foreign_records;    /* number of records about n1 that the faulty node prints */
    const char *rebooted;   /* the node that Slurm reports as rebooted during the run */
    time_t boots[2];        /* its boot time before and after; after 0: in ten seconds */
    const char *reserved;   /* the node that waits in the reservation of muster reserve */
    bool is_waiting;        /* the other ranks wait in MPI_Init until the step is ended */
    int without_program;    /* number of nodes, from n2 on, on which the battery does not start */
    const char *full_spool; /* the node whose slurmd has no space left, from launch on */
    const char *full_reason;
    const char *unresponsive; /* the node that answers the head, but not slurmctld */
    const char *drained_late; /* the node that an administrator drains after the tests */
    int leaving_late; /* number of other nodes that leave, one at each try to get the last job */
    const char *unreserved_late; /* the node taken out of the run's reservation after the tests */
    const char *reserved_later;  /* the node where another reservation begins in an hour */
    const char *begun_late;      /* the node where a user's job begins before the run reserves it */
    int leaving; /* how often muster-launch loses its job to a drain, of n2 and n6 in turn */
    bool is_ended_early; /* muster-launch loses its job each time, without a drain */
    /* why no job is given: the user is missing, the site refuses, or the reason is unknown */
    enum { JOBS, NO_USER, NO_ACCOUNT, NO_JOBS } jobs_kind;
    /* the node whose process dies, the program in which it dies, and how often it still does */
    const char *dying, *dying_in;
    int deaths;
    int dying_each;        /* number of nodes, each of which dies in one try of muster-launch */
    enum fault_code death; /* the code of the death */
    int partner_deaths;    /* how often the partner's process dies, too, when the two are alone */
    bool dies_late;        /* it dies after all results */
    const char *far_end;   /* of the path from n1 */
    /* the node with a slow rail, and how often MPI hangs when the rail is measured again */
    const char *slow_rail;
    int hung_starts;
    /* the node whose rail loses a quarter of its packets */
    const char *lossy_rail;
    bool path_is_slow, path_is_lossy;
    int rails;                /* rails of each node; the first one is slow or lossy */
    double mbps;              /* bandwidth of a good rail */
    int failed_rails;         /* AllowFailedRails */
    const char *flapping;     /* the node that loses a link for a moment; n6 then has link errors */
    int unreported_passes;    /* number of last passes of muster-links whose end is not reported */
    bool has_few_rounds;      /* muster-links has no time for all rounds */
    const char *unmeasured;   /* the program that measures nothing */
    bool gives_reason;        /* and says so */
    const char *other_kernel; /* the node with another kernel */
    bool has_duplicate_address; /* n1 and n2 have the same address */
    long drained_s;             /* when n5 was drained */
    double refused_s;           /* when n5's gate refused a job, as its note says; 0: no note */
    int other_from, other_to;   /* another run has n2 from this query of the runs to that one */
    bool other_has_job;
    bool reports_addresses;               /* nodes report their addresses in muster check */
    int garbled_addresses;                /* the node, from 1, whose address is invalid; 0: none */
    const char *incomplete_check;         /* the node whose check does not complete */
    const char *full_file_system;         /* the node with a full file system */
    int complete_wait_s;                  /* CompleteWait of slurm.conf */
    bool has_lldpds;                      /* on each node */
    bool has_cables;                      /* lldpds see the switch leaf1 (n1 and n2) or leaf2 */
    bool uplink_is_slow, uplink_is_lossy; /* the uplink between the leaves */
    const char *silent_lldpd;             /* the node whose lldpd does not answer */
    bool has_topology;                    /* of Slurm: one leaf, rack1 */
    const char *cut_off;                  /* the node that the head cannot reach */
    bool is_cut_off_late;                 /* it cannot from the job's start on */
    enum reach_state cut_off_as;
    int without_munge; /* number of nodes, from n1 on, whose slurmd rejects messages of the head */
    double missed_s;   /* from when on slurmctld cannot reach cut_off either */
    bool is_rebooting; /* Slurm reboots cut_off after the job's start */
    const char *hanging;  /* the node where the battery's job does not end */
    const char *dead;     /* the node that goes down before the certificates' job */
    double epilog_s;      /* duration of the epilog on all nodes but n1 */
    int max_minutes;      /* time limit of each partition; 0: no limit */
    size_t max_nodes;     /* node limit of each partition; 0: no limit */
    bool is_busy_cluster; /* at each query another node completes */
    /* --idle. job_at_s: when a user's job begins to wait for a node; INFINITY: never. lasting_s:
     * duration of each step. listing_s: how long slurmctld takes to list its jobs. */
    bool is_idle;
    double job_at_s, lasting_s, listing_s;
    /* Partitions: p alone; p, and q with n1, n2 and n6; p with n1, and q with all; both with
     * all. */
    enum { ONE_PARTITION, TWO_PARTITIONS, PARTITION_IN_ANOTHER, TWIN_PARTITIONS } partition_kind;
    int deletion; /* number of the cluster query from which on q is gone; 0: q stays */
    const char *closed_partition; /* the partition that refuses the account of BatteryUser's jobs */
    double site_reserved_until_s; /* until then the site reserves the healthy nodes */
    /* What fails once: slurmctld does not answer while the nodes are reserved, or a run after
     * that finds no user or gets no job. */
    enum { NO_FAILURE, CLUSTER_QUERY, USER_LOOKUP, JOB_REQUEST } failing_once;
    int partitions_down;      /* number of partitions that are down, from the last one */
    const char *nodes_option; /* -w; NULL: not given */
    /* The node on which no job for suspect reports starts: another job took it (is_allocated_late),
     * or the reason is unknown. */
    const char *unreadable_reports;
    bool is_allocated_late, is_srun_killed;
    bool has_silent_reports; /* no suspect report can be read */
    bool has_other_warnings; /* n1 warns of n6, after another test's warning of n2 */
    const char *stopped_in;  /* the program in whose step the run gets SIGINT */
    const char *golden, *mounts, *fabric;
    const char *reference; /* the file with reference values; nodes then report their hardware */
    long valid_s;          /* CertificateValidity; 0: the default */
} setup;
static const struct setup default_setup = {.admin_reason = "fan broken",
                                           .fifth_name = "n5",
                                           .kept_node = -1,
                                           .kept_until = 4000000000,
                                           .host_triad = 200,
                                           .gpu_rate = 100,
                                           .rebooted = "",
                                           .boots = {1000},
                                           .rails = 1,
                                           .mbps = 198,
                                           .flapping = "",
                                           .unmeasured = "",
                                           .other_kernel = "",
                                           .reserved = "",
                                           .full_spool = "",
                                           .full_reason = "SlurmdSpoolDir is full",
                                           .unresponsive = "",
                                           .drained_late = "",
                                           .unreserved_late = "",
                                           .reserved_later = "",
                                           .begun_late = "",
                                           .dying = "",
                                           .dying_in = "muster-links",
                                           .slow_rail = "",
                                           .lossy_rail = "",
                                           .far_end = "n2",
                                           .incomplete_check = "",
                                           .full_file_system = "",
                                           .silent_lldpd = "",
                                           .cut_off = "",
                                           .cut_off_as = REACH_CUT_OFF,
                                           .death = FAULT_PROCESS_DIED,
                                           .hanging = "",
                                           .dead = "",
                                           .closed_partition = "",
                                           .unreadable_reports = "",
                                           .stopped_in = "",
                                           .golden = "",
                                           .mounts = "",
                                           .fabric = "",
                                           .reference = ""};

/* the cluster */
static struct {
    struct {
        bool is_drained, has_certificate, is_issued, is_reserved, was_in_service;
        bool has_left; /* has left the reservation where no job starts */
        char reason[256], comment[256], extra[256];
    } nodes[NODES];
    uint32_t job; /* 0: none */
    char job_name[96], reservation[96];
} slurm;

static struct certify certify; /* the last run */
static struct campaign last_campaign;

static FILE *live; /* the live file of the current run, opened in its first step */
static bool live_was_held;

static int operation_count; /* operations so far */
enum { RESTART_S = 60 };
static double refused_until_s; /* from the refused operation on */
static long gpus_requested;    /* GPUs per node that the last step of muster-gpu asked for */
static long job_gpus;          /* GPUs per node that the last job asked for */
static int gpu_tasks;
static char container_options[64], container_program[64];
static int host_steps;      /* how often muster-host was started */
static double waited_s;     /* the longest wait in MPI_Init */
static bool is_probe_named; /* the step that tests whether the battery starts has a name */
static int late_jobs;       /* number of jobs requested with the node that was drained late */
static int preempting_jobs; /* number of jobs requested with the node where a user's job began */
enum { LAST_TRY = 60 };     /* the campaign is stopped at this try of a job */
static int job_tries;
static bool links_were_quick;  /* the last muster-links had --quick */
static char links_blocks[100]; /* the last --blocks of muster-links */
static int unmeasured_steps;   /* number of steps of the program that measures nothing */
static int run_queries;        /* number of queries of other hosts' runs */
static char requested[4096];   /* the last request for certificates */
static char removed[64];       /* "--remove=" and the nodes whose suspect reports are removed */
static double lldp_deadline_s; /* of the step that asks the lldpds */
static char peers_of[3][1000]; /* MUSTER_PEERS of muster-launch, -links, -collectives, each try */
static int hung_loads;         /* number of loads of the nodes since a job hangs */
static double hung_since_s;    /* when the job began to hang */
static int allocations;        /* number of allocations of this run */
static int wanted_minutes;     /* of the run's longest job */
static int reserved_minutes;   /* of the reservation; 0: no end */
static char rails_of_mpi[200]; /* "PROGRAM: setting of Open MPI's rails; ..." */
static double unreserved_s;    /* when the reservation was last removed */
static int pending_queries;    /* number of queries of pending jobs */
static int node_loads, loads;  /* number of loads of the nodes, and of the whole cluster */
static bool was_read[NODES];   /* the node's suspect reports were read */
static char refused_name[64];
static double now_s;
static double check_deadline_s; /* of the last step of muster check */
static double start_s;          /* how long Slurm may take to start the last job */
static pid_t test_pid;
static char directory[] = "/tmp/muster-certification-XXXXXX";

/* Returns the path of a file in the test directory. The same name has the same buffer. */
static const char *test_path(const char *name)
{
    static char paths[12][100];
    int i = 0;

    while (*paths[i] && strcmp(paths[i] + strlen(directory) + 1, name) != 0)
        i++;
    snprintf(paths[i], sizeof paths[i], "%s/%s", directory, name);
    return paths[i];
}

static int begin_operation(const char *name, struct error *err)
{
    operation_count++;
    if (getpid() != test_pid) /* operations of the keeper's process are refused */
        return error_set(err, "refused in the keeper's process");
    if (operation_count == setup.stopped_operation)
        certify_stop = SIGINT;
    if (operation_count == setup.refused_operation) {
        snprintf(refused_name, sizeof refused_name, "%s", name);
        refused_until_s = setup.restarts == NEVER ? now_s : now_s + RESTART_S;
    }
    if (setup.refused_operation == 0 || operation_count < setup.refused_operation ||
        (operation_count > setup.refused_operation && !setup.refuses_all &&
         now_s >= refused_until_s))
        return 0;
    return error_set(err, "%s refused", name);
}

/* ---------------------------------------------------------------- the machine */

/* Gives runs that start in the same second different names. */
ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags)
{
    static unsigned count;

    count++;
    memcpy(buffer, &count, size < sizeof count ? size : sizeof count);
    return (ssize_t)size;
}

/* Returns whether this fails now, once. By then a campaign has given up the other partition. */
static bool fails_now(int what)
{
    if ((int)setup.failing_once != what || job_tries < CAMPAIGN_BROKEN_MOST ||
        (what == CLUSTER_QUERY
             ? now_s < setup.site_reserved_until_s - 600 || now_s >= setup.site_reserved_until_s
             : now_s < setup.site_reserved_until_s))
        return false;
    setup.failing_once = NO_FAILURE;
    return true;
}

static void count_try(void)
{
    if (++job_tries == LAST_TRY)
        certify_stop = SIGTERM;
}

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock == CLOCK_REALTIME)
        return __real_clock_gettime(clock, time);
    now_s += 1e-5;
    *time = (struct timespec){(time_t)now_s, (long)((now_s - (double)(time_t)now_s) * 1e9)};
    return 0;
}

/* Another process locks the history until a run waits for it. */
static sqlite3 *busy_history;

static void history_free(void)
{
    char pattern[100];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/history.db.*.waiting", directory);
    if (busy_history && glob(pattern, 0, NULL, &found) == 0) {
        globfree(&found);
        sqlite3_close(busy_history);
        busy_history = NULL;
    }
}

int __wrap_usleep(useconds_t microseconds)
{
    history_free();
    now_s += microseconds / 1e6;
    return 0;
}

unsigned __wrap_sleep(unsigned seconds)
{
    now_s += seconds;
    return 0;
}

int __wrap_user_find(const char *name, struct user *user, struct error *err)
{
    *user = (struct user){.uid = 977, .gid = 977};
    if (setup.jobs_kind == NO_USER || fails_now(USER_LOOKUP)) {
        count_try();
        return error_set(err, "no such user");
    }
    snprintf(user->name, sizeof user->name, "%s", name);
    return 0;
}

/* ---------------------------------------------------------------- the controller */

static int index_of(const char *name)
{
    for (int i = 0; i < NODES; i++)
        if (strcmp(nodes[i].name, name) == 0)
            return i;
    tap_diag("no node %s", name);
    abort();
}

static const char *slurm_name(int node)
{
    return strcmp(nodes[node].name, "n5") == 0 ? setup.fifth_name : nodes[node].name;
}

static int open_slurm(struct error *err)
{
    return begin_operation("open", err);
}

static int name_cluster(char *name, size_t size, struct error *err)
{
    snprintf(name, size, "made-up");
    return begin_operation("name", err);
}

static long gpus_of(int i)
{
    return setup.accelerators == NO_GPUS                        ? 0
           : setup.accelerators == GPUS_OF_TWO_COUNTS && i >= 3 ? 16
                                                                : 8;
}

static bool is_completing_in_a_busy_cluster(int node)
{
    return setup.is_busy_cluster && slurm.job == 0 && node == node_loads % NODES;
}

static int load_all(struct cluster *cluster, struct error *err)
{
    bool is_hung = slurm.job == 0 && allocations > 2;

    *cluster = (struct cluster){0};
    hung_loads += is_hung;
    node_loads++;
    if (begin_operation("load", err) != 0)
        return -1;
    cluster->name = strdup("made-up");
    cluster->has_extra = setup.has_extra;
    cluster->complete_wait_s = setup.complete_wait_s;
    cluster->has_waiting = *setup.reserved != '\0';
    cluster->nodes = calloc(NODES, sizeof *cluster->nodes);
    cluster->node_count = NODES;
    if (setup.has_topology) {
        cluster->leaves = calloc(1, sizeof *cluster->leaves);
        cluster->leaves[cluster->leaf_count++] = strdup("rack1");
    }
    for (int i = 0; i < NODES; i++) {
        struct cluster_node *node = &cluster->nodes[i];
        bool is_dead = allocations > 1 && strcmp(nodes[i].name, setup.dead) == 0;
        char gres[32] = "";

        if (gpus_of(i) > 0)
            snprintf(gres, sizeof gres, "gpu:x:%ld(S:0-1)", gpus_of(i));
        *node = (struct cluster_node){
            .name = strdup(slurm_name(i)),
            .address = strdup(slurm_name(i)),
            .gres = strdup(gres),
            .features = strdup(""),
            .reason = strdup(slurm.nodes[i].reason),
            .comment = strdup(slurm.nodes[i].comment),
            .extra = strdup(slurm.nodes[i].extra),
            .cpus = 1,
            .leaf = setup.has_topology ? 0 : -1,
            .is_idle = slurm.job == 0,
            .is_allocated = slurm.job != 0,
            .is_drained = slurm.nodes[i].is_drained,
            .is_down = is_dead,
            .is_completing = is_dead || is_completing_in_a_busy_cluster(i) ||
                             (is_hung && (strcmp(nodes[i].name, setup.hanging) == 0 ||
                                          (i > 0 && now_s < hung_since_s + setup.epilog_s))),
            .is_responding =
                (strcmp(nodes[i].name, setup.cut_off) != 0 || now_s < setup.missed_s) &&
                strcmp(nodes[i].name, setup.unresponsive) != 0,
            .is_waiting = strcmp(nodes[i].name, setup.reserved) == 0,
            .is_absent =
                setup.is_rebooting && allocations > 0 && strcmp(nodes[i].name, setup.cut_off) == 0,
            .reason_time = nodes[i].kind == DRAINED_BY_ADMIN ? setup.drained_s : 0,
            .boot_time = slurm.job == 0 || strcmp(nodes[i].name, setup.rebooted) != 0
                             ? setup.boots[0]
                         : setup.boots[1] > 0 ? setup.boots[1]
                                              : time(NULL) + 10,
            .is_reserved = slurm.nodes[i].is_reserved ||
                           (nodes[i].kind == HEALTHY && now_s < setup.site_reserved_until_s)};
        snprintf(node->state, sizeof node->state, "%s",
                 node->is_absent    ? "rebooting"
                 : node->is_drained ? "drained"
                                    : "idle");
    }
    if (cluster_index(cluster, err) != 0)
        return -1;
    if (*setup.reserved_later)
        cluster_node(cluster, setup.reserved_later)->reserved_at = time(NULL) + 3660;
    return 0;
}

static int load_nodes(struct cluster *cluster, struct error *err)
{
    int rv;

    if (setup.refused_operation == 0 &&
        ((setup.restarts == AFTER_THE_TESTS && *peers_of[2]) ||
         (setup.restarts == AFTER_THE_CERTIFICATES && slurm.nodes[3].is_issued)))
        setup.refused_operation = operation_count + 1;
    rv = load_all(cluster, err);
    if (rv == 0 && (*setup.begun_late || setup.is_allocated_late)) {
        struct cluster_node *node = cluster_node(
            cluster, setup.is_allocated_late ? setup.unreadable_reports : setup.begun_late);

        node->is_idle = false;
        node->is_allocated = true;
    }
    return rv;
}

static bool is_in_partition(int node, int partition)
{
    return setup.partition_kind == ONE_PARTITION || setup.partition_kind == TWIN_PARTITIONS ? true
           : setup.partition_kind == TWO_PARTITIONS ? (nodes[node].kind == HEALTHY) == partition
                                                    : partition == 1 || node == 0;
}

static int load(struct cluster *cluster, struct error *err)
{
    loads++;
    if (fails_now(CLUSTER_QUERY))
        return error_set(err, "slurmctld does not answer");
    if (load_all(cluster, err) != 0)
        return -1;
    cluster->partition_count =
        setup.partition_kind == ONE_PARTITION || (setup.deletion > 0 && loads >= setup.deletion)
            ? 1
            : 2;
    cluster->partitions = calloc(cluster->partition_count, sizeof *cluster->partitions);
    for (int i = 0; i < (int)cluster->partition_count; i++) {
        cluster->partitions[i] = (struct cluster_partition){
            .name = strdup(i == 0 ? "p" : "q"),
            .is_default = i == 0,
            .is_up = i < (int)cluster->partition_count - setup.partitions_down,
            .max_minutes = setup.max_minutes,
            .max_nodes = setup.max_nodes};
        for (int k = 0; k < NODES; k++)
            if (is_in_partition(k, i))
                hostlist_append(&cluster->partitions[i].nodes, slurm_name(k));
    }
    return 0;
}

static int reservation_find(const char *name, struct hostlist *found, time_t *since,
                            struct error *err)
{
    *found = (struct hostlist){0};
    if (begin_operation("reservation", err) != 0)
        return -1;
    for (int i = 0; i < NODES; i++)
        if (slurm.nodes[i].is_reserved)
            hostlist_append(found, nodes[i].name);
    return strcmp(name, slurm.reservation) == 0;
}

static int jobs_find(const char *prefix, struct cluster_job **jobs, struct error *err)
{
    *jobs = NULL;
    if (begin_operation("jobs", err) != 0)
        return -1;
    *jobs = calloc(1, sizeof **jobs);
    (*jobs)->id = slurm.job;
    snprintf((*jobs)->name, sizeof(*jobs)->name, "%.63s", slurm.job_name);
    return slurm.job != 0 && strncmp(slurm.job_name, prefix, strlen(prefix)) == 0;
}

static enum cluster_job_state job_state(uint32_t id, const char *name)
{
    return begin_operation("job_state", NULL) != 0 ? CLUSTER_JOB_UNKNOWN
           : id == slurm.job                       ? CLUSTER_JOB_ACTIVE
                                                   : CLUSTER_JOB_OVER;
}

static int job_cancel(uint32_t id, struct error *err)
{
    if (begin_operation("job_cancel", err) != 0)
        return -1;
    if (id == slurm.job)
        slurm.job = 0;
    return 0;
}

/* Applies `change` with the text to each node of the list. */
static int change_each(const char *list, void (*change)(int node, const char *text),
                       const char *text, const char *operation, struct error *err)
{
    struct hostlist names = {0};

    if (begin_operation(operation, err) != 0)
        return -1;
    hostlist_expand(list, &names, err);
    for (size_t i = 0; i < names.count; i++)
        change(index_of(names.names[i]), text);
    hostlist_clear(&names);
    return 0;
}

static void drain_node(int i, const char *reason)
{
    slurm.nodes[i].is_drained = true;
    snprintf(slurm.nodes[i].reason, sizeof slurm.nodes[i].reason, "%s", reason);
}

static int drain(const char *list, const char *reason, struct error *err)
{
    return change_each(list, drain_node, reason, "drain", err);
}

/* Outside a reservation a user's job could begin at once. */
static void resume_node(int i, const char *text)
{
    slurm.nodes[i].is_drained = false;
    slurm.nodes[i].was_in_service |= !slurm.nodes[i].is_reserved;
}

static int resume(const char *list, const char *text, struct error *err)
{
    return change_each(list, resume_node, text, "resume", err);
}

static void comment_node(int i, const char *text)
{
    snprintf(slurm.nodes[i].comment, sizeof slurm.nodes[i].comment, "%s", text);
}

static int set_comment(const char *list, const char *text, struct error *err)
{
    return change_each(list, comment_node, text, "set_comment", err);
}

static void set_node_extra(int i, const char *text)
{
    snprintf(slurm.nodes[i].extra, sizeof slurm.nodes[i].extra, "%s", text);
}

static int set_extra(const char *list, const char *text, struct error *err)
{
    int rv = change_each(list, set_node_extra, text, "set_extra", err);

    if (setup.is_written_back)
        set_node_extra(0, "{\"muster_fault\":\"5 eth1\"}");
    setup.is_written_back = false;
    return rv;
}

static void reserve_node(int i, const char *text)
{
    slurm.nodes[i].is_reserved = true;
}

static int reserve(const char *name, const char *list, const char *user, int minutes,
                   struct error *err)
{
    if (change_each(list, reserve_node, name, "reserve", err) != 0)
        return -1;
    reserved_minutes = minutes;
    snprintf(slurm.reservation, sizeof slurm.reservation, "%s", name);
    return 0;
}

static int unreserve(const char *name, struct error *err)
{
    if (begin_operation("unreserve", err) != 0)
        return -1;
    for (int i = 0; i < NODES && strcmp(name, slurm.reservation) == 0; i++) {
        slurm.nodes[i].is_reserved = false;
        slurm.nodes[i].was_in_service |=
            nodes[i].kind == DRAINED_BY_MUSTER && !slurm.nodes[i].is_drained;
    }
    slurm.reservation[0] = '\0';
    unreserved_s = now_s;
    return 0;
}

static int wait_for(const struct hostlist *names, const struct hostlist *changed, bool is_there,
                    struct error *err)
{
    if (begin_operation("wait", err) != 0)
        return -1;
    for (size_t i = 0; i < changed->count; i++)
        slurm.nodes[index_of(changed->names[i])].has_left = true;
    return 0;
}

static int runs_find(uid_t uid, struct cluster_run **runs, struct error *err)
{
    *runs = NULL;
    if (begin_operation("runs", err) != 0)
        return -1;
    run_queries++;
    if (run_queries < setup.other_from || run_queries >= setup.other_to)
        return 0;
    *runs = calloc(1, sizeof **runs);
    (*runs)->since = time(NULL);
    (*runs)->has_job = setup.other_has_job;
    snprintf((*runs)->run, sizeof(*runs)->run, "20261101-120000-0001");
    snprintf((*runs)->host, sizeof(*runs)->host, "head2");
    hostlist_append(&(*runs)->nodes, "n2");
    return 1;
}

static int pending_find(uid_t uid, struct pending_job **jobs, struct error *err)
{
    *jobs = NULL;
    pending_queries++;
    now_s += setup.listing_s;
    if (begin_operation("pending", err) != 0)
        return -1;
    *jobs = calloc(1, sizeof **jobs);
    **jobs = (struct pending_job){.id = 77,
                                  .uid = 1000,
                                  .nodes = 1,
                                  .is_refused = true,
                                  .partitions = strdup("p"),
                                  .required = strdup(""),
                                  .excluded = strdup(""),
                                  .features = strdup("")};
    if (now_s >= setup.job_at_s)
        return 1;
    pending_jobs_free(*jobs, 1);
    *jobs = NULL;
    return 0;
}

static int reach_made_nodes(struct cluster_node *const *list, size_t count, double deadline_s,
                            const volatile sig_atomic_t *stop, struct reach *answers,
                            struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        answers[i] = (struct reach){.state = REACH_ANSWERS};
        if (allocations == 0 && setup.is_cut_off_late)
            continue;
        if (strcmp(list[i]->name, setup.cut_off) == 0)
            answers[i] = (struct reach){.state = setup.cut_off_as, .message = "no answer"};
        if (index_of(list[i]->name) < setup.without_munge)
            answers[i] = (struct reach){.state = REACH_NO_MUNGE, .message = "no answer"};
    }
    return begin_operation("reach_nodes", err);
}

/* The site labels n1 and n4, and another run certifies n5 again. */
static void change_nodes_meanwhile(void)
{
    char mark[sizeof slurm.nodes[3].comment];

    snprintf(mark, sizeof mark, "%s", slurm.nodes[3].comment);
    snprintf(slurm.nodes[3].comment, sizeof slurm.nodes[3].comment, "rack 9 %.200s", mark);
    set_node_extra(0, "{\"rack\":7}");
    set_node_extra(2, "{\"muster_level\":2,\"muster_expires\":4000000000}");
    set_node_extra(4, "{\"muster_level\":2,\"muster_expires\":4000000000}");
    setup.is_changing = false;
}

static int get_allocation(const struct allocation_request *request, uint32_t *job_id,
                          struct error *err)
{
    static uint32_t last;

    if (begin_operation("allocation_get", err) != 0)
        return -1;
    if (request->minutes > wanted_minutes)
        wanted_minutes = request->minutes;
    job_gpus = request->gpus;
    start_s = request->deadline_s;
    if (setup.jobs_kind == NO_JOBS) {
        count_try();
        return error_set(err, "Unspecified error");
    }
    if (++allocations > 2 && hostlist_contains(request->nodes, setup.hanging)) {
        slurm.job = 0;
        hung_since_s = now_s;
        return error_set(err, "not ready within 60 s");
    }
    if (allocations > 2 && setup.leaving_late > 0) {
        static const char *const leaving[] = {"n2", "n4", "n6"};

        drain_node(index_of(leaving[--setup.leaving_late]), "fan broken");
        slurm.job = 0;
        return error_set(err, "ReqNodeNotAvail");
    }
    if (setup.is_changing)
        change_nodes_meanwhile();
    if (strcmp(request->cluster, "made-up") != 0)
        return error_set(err, "job requested from cluster %s", request->cluster);
    if (hostlist_contains(request->nodes, setup.unreserved_late) &&
        !slurm.nodes[index_of(setup.unreserved_late)].is_reserved) {
        slurm.job = 0;
        return error_set(err, "Requested nodes are not in the reservation");
    }
    if (hostlist_contains(request->nodes, setup.drained_late) &&
        slurm.nodes[index_of(setup.drained_late)].is_drained) {
        late_jobs++;
        slurm.job = 0;
        return error_set(err, "ReqNodeNotAvail");
    }
    if (hostlist_contains(request->nodes, setup.unresponsive)) {
        slurm.job = 0;
        return error_set(err, "ReqNodeNotAvail, UnavailableNodes:%s", setup.unresponsive);
    }
    preempting_jobs += hostlist_contains(request->nodes, setup.begun_late);
    if (setup.max_nodes > 0 && request->nodes->count > setup.max_nodes)
        return error_set(err, "Requested partition configuration not available now");
    snprintf(slurm.job_name, sizeof slurm.job_name, "%s", request->job_name);
    *job_id = slurm.job = ++last;
    return 0;
}

static int allocation_query(const struct allocation_request *request, struct error *err)
{
    if (setup.jobs_kind == NO_ACCOUNT || strcmp(request->partition, setup.closed_partition) == 0 ||
        fails_now(JOB_REQUEST)) {
        count_try();
        return allocation_refused(err, "no allocation of", "n1", "muster", ESLURM_INVALID_ACCOUNT);
    }
    return begin_operation("allocation_check", err);
}

/* ---------------------------------------------------------------- what runs on the nodes */

/* task: the index in a step with one task per node; -1: rank 0 of an MPI program. */
static void record_print(const struct process *process, long task, struct record record)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (task >= 0)
        fprintf(stream, "%ld: ", task);
    record_write(stream, &record);
    fclose(stream);
    text[strcspn(text, "\n")] = '\0';
    process->on_line(text, false, process->context);
    free(text);
}

#define PRINT(process, task, ...) record_print(process, task, RECORD(.time = 1, __VA_ARGS__))
/* Prints a passed record of rank 0 of muster-NAME. */
#define PASS(name, ...) PRINT(process, -1, .suite = name, .verdict = VERDICT_PASS, __VA_ARGS__)

static void print_gpu_records(const struct hostlist *names, const struct process *process)
{
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->names[i];
        bool is_first = strcmp(name, "n1") == 0;

        if (setup.accelerators == NO_LIBRARY ||
            (setup.accelerators == NO_LIBRARY_OF_N1 && is_first))
            PRINT(process, -1, .suite = "gpu", .test = "gpu.compute", .metric = "device",
                  .verdict = setup.accelerators == NO_LIBRARY ? VERDICT_SKIP : VERDICT_UNKNOWN,
                  .message = "not tested: it is not there", .node = name);
        else if (setup.accelerators == GPUS_ARE_SLOW ||
                 (is_first &&
                  (setup.accelerators == GPU_IS_SLOW || setup.accelerators == GPU_IS_NEAR)))
            for (int k = 0; k < 2; k++) /* two values of one device */
                PRINT(process, -1, .suite = "gpu", .test = "gpu.compute",
                      .metric = k == 0 ? "rate_fp32" : "rate_fp64", .unit = "GFLOP/s",
                      .value = setup.accelerators == GPU_IS_NEAR ? 80 : 40, .limit = 85,
                      .limit_source = "peers", .verdict = VERDICT_FAIL, .code = FAULT_GPU_SLOW,
                      .part = "gpu3", .message = "slow", .node = name);
        else
            PASS("gpu", .test = "gpu.compute", .metric = "rate_fp32", .unit = "GFLOP/s",
                 .value = is_first ? setup.gpu_rate : 100, .part = "gpu3", .node = name);
    }
}

/* What else muster-host finds on n1. */
static void print_host_faults(const struct process *process)
{
    switch (setup.host_kind) {
    case CORE_IS_SLOW:
    case CORE_IS_NEAR:
        PRINT(process, -1, .suite = "host", .test = "host.compute", .metric = "core_rate",
              .unit = "GFLOP/s", .value = setup.host_kind == CORE_IS_NEAR ? 60 : 40, .limit = 75,
              .limit_source = "peers", .verdict = VERDICT_FAIL, .code = FAULT_CORE_SLOW,
              .part = "cpu6", .message = "slow", .node = "n1");
        break;
    case CORE_IS_WRONG:
        PRINT(process, -1, .suite = "host", .test = "host.compute", .metric = "core_wrong",
              .unit = "count", .value = 2, .verdict = VERDICT_FAIL, .code = FAULT_CORE_WRONG,
              .part = "cpu6", .message = "wrong", .node = "n1");
        break;
    case DISK_IS_SLOW:
        PRINT(process, -1, .suite = "host", .test = "host.disk", .metric = "disk_read",
              .unit = "MB/s", .value = 20, .verdict = VERDICT_WARN, .code = FAULT_DISK_SLOW,
              .part = "/scratch", .message = "slow", .node = "n1");
        break;
    default:
        break;
    }
}

static void print_host_records(const struct hostlist *names, const struct process *process)
{
    host_steps++;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->names[i];
        bool is_first = strcmp(name, "n1") == 0;

        if (is_first && setup.host_kind == HOST_IS_LEFT_OUT) {
            PRINT(process, -1, .suite = "host", .test = "host.compute", .metric = "results",
                  .verdict = VERDICT_SKIP,
                  .message = "not measured: 8 nodes of the same machine were measured before it",
                  .node = "n1");
            continue;
        }
        PASS("host", .test = "host.memory", .metric = "triad", .unit = "GB/s",
             .value = is_first ? setup.host_triad : 200, .part = "numa0", .node = name,
             .stalled = setup.host_stalled);
        if (is_first)
            print_host_faults(process);
    }
}

static bool is_end_of(const char *node, const char *from, const char *to)
{
    return strcmp(from, node) == 0 || strcmp(to, node) == 0;
}

/* One direction of a pair. */
static void print_direction(const char *from, const char *to, const struct process *process)
{
    bool is_path = is_end_of("n1", from, to) && is_end_of(setup.far_end, from, to);
    bool is_uplink = (index_of(from) < 2) != (index_of(to) < 2);
    bool is_slow = is_end_of(setup.slow_rail, from, to) || (setup.path_is_slow && is_path) ||
                   (setup.uplink_is_slow && is_uplink);
    bool is_lossy = is_end_of(setup.lossy_rail, from, to) || (setup.path_is_lossy && is_path) ||
                    (setup.uplink_is_lossy && is_uplink);

    for (int rail = 0; rail < setup.rails; rail++)
        PASS("links", .test = "links", .metric = "bandwidth", .unit = "Mb/s",
             .value = is_slow && rail == 0 ? 80 : setup.mbps, .node = from,
             .part = rail == 0 ? "eth1" : "eth2", .peer = to, .stalled = 0);
    if (*setup.lossy_rail || setup.path_is_lossy || setup.uplink_is_lossy)
        PASS("links", .test = "links", .metric = "lost_pings", .unit = "count",
             .value = is_lossy ? 250 : 0, .samples = 1000, .node = from, .part = "eth1",
             .peer = to);
}

static void run_battery(const char *program, const struct hostlist *names,
                        const struct process *process)
{
    size_t count = names->count;

    if (strcmp(program, "launch") == 0)
        PASS("launch", .test = "mpi.messages", .metric = "messages", .unit = "count", .value = 4);
    if (strcmp(program, "collectives") == 0)
        PASS("collectives", .test = "collectives.correct", .metric = "mismatches", .unit = "count",
             .value = 0);
    if (strcmp(program, "gpu") == 0)
        print_gpu_records(names, process);
    if (strcmp(program, "host") == 0)
        print_host_records(names, process);
    if (strcmp(program, "train") == 0)
        PASS("train", .test = "train.nodes", .metric = "loss", .unit = "nats", .value = 4);
    if (strcmp(program, "links") != 0)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (i != k)
                print_direction(names->names[i], names->names[k], process);
    for (int i = 0; i < 2 && *setup.flapping; i++)
        PRINT(process, -1, .suite = "links", .test = "links", .metric = "carrier_changes",
              .unit = "count", .value = 2, .verdict = VERDICT_WARN,
              .code = i == 0 ? FAULT_LINK_LOST : FAULT_LINK_ERRORS, .part = "eth1",
              .node = i == 0 ? setup.flapping : "n6", .message = "eth1 carrier_changes grew by 2");
    for (int i = 0; i < 2 - setup.unreported_passes; i++)
        PRINT(process, -1, .suite = "links", .test = "links", .metric = "rounds", .unit = "count",
              .value = 2, .part = i == 0 ? "pairs" : "together",
              .verdict = setup.has_few_rounds && i == 0 ? VERDICT_UNKNOWN : VERDICT_PASS,
              .message = "2 of 9 rounds");
}

/* Returns the part of a request that belongs to the node, after the line that names it; "" if
 * there is none. */
static const char *block_of(int node, const char *request)
{
    static const char key[] = "\nnode: ";
    struct hostlist names;
    char list[256];

    for (const char *at = request; (at = strstr(at, key));) {
        bool is_there;

        at += strlen(key);
        snprintf(list, sizeof list, "%.*s", (int)strcspn(at, "\n"), at);
        hostlist_expand(list, &names, NULL);
        is_there = hostlist_contains(&names, nodes[node].name);
        hostlist_clear(&names);
        at += strlen(list);
        if (is_there)
            return at;
    }
    return "";
}

/* Returns whether the node has a certificate that lasts as long as the request demands of a kept
 * one. */
static bool is_kept(int node, const char *request)
{
    static const char key[] = "\nkeep: ";
    const char *block = block_of(node, request);

    return node == setup.kept_node && strncmp(block, key, strlen(key)) == 0 &&
           setup.kept_until >= strtoll(block + strlen(key), NULL, 10);
}

/* Runs muster check on a node. A check that is cut prints only the first of its facts. A
 * complete one ends with muster's version. */
static void node_check(int i, long task, const struct process *process)
{
    static const char *const facts[][3] = {
        {"kernel", "", "6.1"}, {"carrier", "eth1", "yes"}, {"muster", "", "1.0"}};
    const char *node = nodes[i].name;
    bool is_faulty = nodes[i].kind == FAULTY;
    char address[32];

    check_deadline_s = process->deadline_s;
    for (int k = 0; is_faulty && k <= setup.foreign_records; k++)
        PRINT(process, task, .suite = "check", .test = "net.interfaces", .verdict = VERDICT_FAIL,
              .code = FAULT_LINK_DOWN, .part = "eth1", .message = "no link",
              .node = k < setup.foreign_records ? "n1" : node);
    if (!is_faulty)
        PRINT(process, task, .suite = "check", .test = "net.interfaces", .verdict = VERDICT_PASS,
              .node = node);
    snprintf(address, sizeof address, "10.0.0.%d%s", i + 1,
             i + 1 == setup.garbled_addresses ? "-" : "");
    if (setup.reports_addresses)
        PRINT(process, task, .suite = "check", .test = "net.addresses", .verdict = VERDICT_PASS,
              .metric = "sources", .message = address, .node = node);
    if (setup.has_duplicate_address)
        PRINT(process, task, .suite = "check", .test = "net.addresses", .metric = "address",
              .part = "eth1", .message = i == 1 ? "10.0.0.1" : address, .node = node);
    if (nodes[i].kind == DRAINED_BY_ADMIN && setup.refused_s > 0)
        PRINT(process, task, .suite = "check", .test = "slurm.gate", .metric = "refused",
              .unit = "s", .value = setup.refused_s, .verdict = VERDICT_WARN,
              .message = "the gate refused a job: x", .node = node);
    if (setup.accelerators != NO_GPUS)
        PRINT(process, task, .suite = "check", .test = "gpu.health", .verdict = VERDICT_PASS,
              .node = node);
    for (int k = 0; k < (strcmp(node, setup.incomplete_check) == 0 ? 1 : 3); k++)
        PRINT(process, task, .suite = "check", .test = "host.config", .metric = facts[k][0],
              .part = facts[k][1],
              .message = k == 0 && strcmp(node, setup.other_kernel) == 0 ? "6.2" : facts[k][2],
              .node = node);
    if (strcmp(node, setup.full_file_system) == 0)
        PRINT(process, task, .suite = "check", .test = "host.space", .verdict = VERDICT_UNKNOWN,
              .code = FAULT_DISK_FULL, .part = "/tmp", .message = "0% is free", .node = node);
    for (int k = 0; k < 3 && *setup.reference; k++) {
        static const char *const hardware[][3] = {
            {"model", "gpu0", "H100"}, {"model", "eth1", "MT4129"}, {"speed", "eth1", "200"}};

        PRINT(process, task, .suite = "check", .test = "host.config", .metric = hardware[k][0],
              .part = hardware[k][1], .message = hardware[k][2], .unit = k == 2 ? "Mb/s" : NULL,
              .value = k == 2 ? 200 : NAN, .node = node);
    }
    if (setup.has_lldpds)
        PRINT(process, task, .suite = "check", .test = "host.config", .verdict = VERDICT_PASS,
              .metric = "lldpd", .unit = "count", .value = 1, .node = node);
}

static void node_issue(int i, long task, const struct process *process)
{
    bool stays = is_kept(i, process->input);

    snprintf(requested, sizeof requested, "%s", process->input);
    slurm.nodes[i].has_certificate = slurm.nodes[i].is_issued = true;
    if (stays)
        PRINT(process, task, .suite = "certificate", .test = "certificate", .metric = "level",
              .message = "full", .node = nodes[i].name);
    PRINT(process, task, .suite = "certificate", .test = "certificate", .verdict = VERDICT_PASS,
          .metric = stays ? "expires" : NULL, .unit = stays ? "s" : NULL,
          .value = stays ? (double)setup.kept_until : NAN, .node = nodes[i].name);
}

/* option: --issued-until=TIME, or NULL. */
static void node_revoke(int i, long task, const char *option, const struct process *process)
{
    bool is_later = option && setup.issued_s > atoll(strchr(option, '=') + 1);

    slurm.nodes[i].has_certificate &= is_later;
    PRINT(process, task, .suite = "certificate", .test = "certificate", .metric = "revoked",
          .unit = "count", .value = !is_later, .verdict = is_later ? VERDICT_SKIP : VERDICT_NONE,
          .node = nodes[i].name);
}

static void run_muster(char *const *words, const struct hostlist *names,
                       const struct process *process)
{
    long task = -1;

    if (strcmp(words[0], "suspects") == 0)
        snprintf(removed, sizeof removed, "%s", words[2]);
    if (strcmp(words[0], "topology") == 0)
        lldp_deadline_s = process->deadline_s;
    for (int i = 0; i < NODES; i++) { /* Slurm numbers tasks in its own order of nodes */
        if (!hostlist_contains(names, nodes[i].name))
            continue;
        task++;
        if (strcmp(words[0], "check") == 0)
            node_check(i, task, process);
        if (strcmp(words[0], "topology") == 0 && strcmp(nodes[i].name, setup.silent_lldpd) != 0)
            PRINT(process, task, .suite = "topology", .test = "net.topology",
                  .verdict = VERDICT_PASS, .metric = "neighbors", .unit = "count",
                  .value = setup.has_cables, .node = nodes[i].name);
        if (strcmp(words[0], "topology") == 0 && setup.has_cables) {
            char port[32];

            snprintf(port, sizeof port, "leaf%d Eth1/%d", i < 2 ? 1 : 2, i + 1);
            PRINT(process, task, .suite = "topology", .test = "net.topology", .metric = "neighbor",
                  .unit = "Mb/s", .value = 100000, .part = "eth1",
                  .peer = i < 2 ? "02:00:00:00:00:01" : "02:00:00:00:00:02", .message = port,
                  .node = nodes[i].name);
            for (int k = 0; k < 3; k++) /* with something missing */
                PRINT(process, task, .suite = "topology", .test = "net.topology",
                      .metric = "neighbor", .unit = "Mb/s", .value = 100000,
                      .part = k == 0 ? NULL : "eth0", .peer = k == 1 ? NULL : "02:00:00:00:00:03",
                      .message = k == 2 ? "no-port" : "leaf3 Eth1/9", .node = nodes[i].name);
        }
        if (strcmp(words[0], "certificate") == 0 && !setup.refuses_certificates)
            node_issue(i, task, process);
        if (strcmp(words[0], "revoke") == 0)
            node_revoke(i, task, words[2], process);
    }
}

static bool has_program(const char *node)
{
    return index_of(node) < 1 || index_of(node) > setup.without_program;
}

/* Each task prints its version, or an error: its loader's, or that of a container command or of
 * srun with pyxis. */
static void print_versions(const struct hostlist *names, const struct process *process)
{
    static const char *const texts[][2] = {
        {"muster-launch: libucp.so.0: cannot open it", "muster-launch 0.1"},
        {"pyxis: image not found", "muster-gpu 0.1"}};
    bool is_container = setup.container_lacks;
    char text[200];

    for (size_t task = 0; task < names->count; task++) {
        bool is_there = is_container ? strcmp(names->names[task], setup.container_lacks) != 0
                                     : has_program(names->names[task]);

        snprintf(text, sizeof text, "%zu: %s", task, texts[is_container][is_there]);
        process->on_line(text, !is_there, process->context);
    }
}

static void wait_for_ranks(const struct process *process, struct process_result *result)
{
    double begin_s = now_s;

    while (!*process->stop && now_s - begin_s < process->deadline_s) {
        now_s += 0.1;
        process->on_tick(process->context);
    }
    waited_s = fmax(waited_s, now_s - begin_s);
    result->end = *process->stop ? PROCESS_STOPPED : PROCESS_TIMED_OUT;
}

/* Returns whether the step runs to its end. */
static bool runs_to_its_end(const struct process *process, struct process_result *result)
{
    for (double left_s = setup.lasting_s; left_s > 0; left_s -= 0.1) {
        now_s += 0.1;
        process->on_tick(process->context);
        if (*process->stop) {
            result->end = PROCESS_STOPPED;
            return false;
        }
    }
    return true;
}

/* Opens the live file of the current run, as muster top does. */
static void open_live_file(void)
{
    char path[256];
    struct dirent *entry;
    DIR *files;

    snprintf(path, sizeof path, "%s/live", directory);
    files = live ? NULL : opendir(path);
    while (files && (entry = readdir(files)))
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/live/%s", directory, entry->d_name);
            live = fopen(path, "re");
            live_was_held = live && live_is_held(fileno(live));
        }
    if (files)
        closedir(files);
}

static bool has_option(char *const *words, const char *name)
{
    for (; *words; words++)
        if (strncmp(*words, name, strlen(name)) == 0)
            return true;
    return false;
}

/* Notes what the program learns of peers ("-" for nothing) and of rails. */
static void note_environment(const char *program, const struct process *process)
{
    static const char *const programs[] = {"muster-launch", "muster-links", "muster-collectives"};
    const char *found = "-";

    for (int i = 0; process->environment && process->environment[i]; i++) {
        if (strncmp(process->environment[i], "MUSTER_PEERS=", 13) == 0)
            found = process->environment[i] + 13;
        if (strstr(process->environment[i], "btl_tcp_if_"))
            text_join(rails_of_mpi, sizeof rails_of_mpi, "; ", "%s: %s", program,
                      process->environment[i]);
    }
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(program, programs[i]) == 0)
            text_join(peers_of[i], sizeof peers_of[i], "", "%s;", found);
}

static int run_step(const struct step *wanted, const struct process *process,
                    struct process_result *result, struct error *err)
{
    char *const *program = wanted->program;
    const char *name;

    if (strcmp(program[0], "contain") == 0 && strcmp(program[1], "image") == 0)
        program += 2;
    name = strrchr(program[0], '/');
    name = name ? name + 1 : program[0];
    if (begin_operation("step_run", err) != 0)
        return -1;
    open_live_file();
    *result = (struct process_result){.end = PROCESS_EXITED};
    if (wanted->job_id != slurm.job)
        return error_set(err, "no such job");
    if (!runs_to_its_end(process, result))
        return 0;
    if (strcmp(name, setup.stopped_in) == 0)
        certify_stop = SIGINT;
    note_environment(name, process);
    if (strcmp(name, "muster-links") == 0)
        links_were_quick = has_option(wanted->program, "--quick");
    for (size_t i = 0; wanted->program[i]; i++)
        if (strncmp(wanted->program[i], "--blocks=", 9) == 0)
            snprintf(links_blocks, sizeof links_blocks, "%s", wanted->program[i] + 9);
    if (strcmp(name, "muster-gpu") == 0) {
        gpus_requested = wanted->gpus;
        snprintf(container_options, sizeof container_options, "%s",
                 wanted->options ? wanted->options : "");
        snprintf(container_program, sizeof container_program, "%s", wanted->program[0]);
        gpu_tasks = wanted->tasks_per_node;
    }
    for (size_t i = 0; i < wanted->nodes->count; i++)
        if (wanted->gpus > gpus_of(index_of(wanted->nodes->names[i]))) {
            result->status = 1; /* srun: Requested node configuration is not available */
            return 0;
        }
    for (size_t i = 0; strncmp(name, "muster-", 7) == 0 && i < wanted->nodes->count; i++)
        if (!has_program(wanted->nodes->names[i])) {
            if (setup.is_waiting)
                wait_for_ranks(process, result);
            else
                result->status = 127;
            return 0;
        }
    if (strcmp(name, "env") == 0) {
        if (!setup.container_lacks)
            is_probe_named = wanted->name != NULL;
        print_versions(wanted->nodes, process);
        return 0;
    }
    if (strcmp(name, setup.unmeasured) == 0) {
        unmeasured_steps++;
        if (setup.gives_reason)
            PRINT(process, -1, .suite = name + strlen("muster-"), .test = "collectives.correct",
                  .verdict = VERDICT_UNKNOWN, .message = "no peer could be reached");
        result->status = setup.gives_reason ? 3 : 0;
        return 0;
    }
    if (strcmp(name, "muster-collectives") == 0 && *setup.drained_late)
        drain_node(index_of(setup.drained_late), "fan broken");
    if (strcmp(name, "muster-collectives") == 0 && *setup.unreserved_late)
        slurm.nodes[index_of(setup.unreserved_late)].is_reserved = false;
    if (strcmp(name, "muster-launch") == 0 && hostlist_contains(wanted->nodes, setup.full_spool)) {
        drain_node(index_of(setup.full_spool), setup.full_reason);
        result->status = 137;
        return 0;
    }
    if (strcmp(name, "muster-launch") == 0 && (setup.leaving > 0 || setup.is_ended_early)) {
        if (setup.leaving > 0)
            drain_node(index_of(setup.leaving-- % 2 == 0 ? "n6" : "n2"), "fan broken");
        slurm.job = 0;
        result->status = 137;
        return 0;
    }
    if (strcmp(name, "muster-launch") == 0 && setup.dying_each > 0) {
        static const char *const each[] = {"n2", "n4", "n6"};

        PRINT(process, -1, .suite = "launch", .test = "workers.enumerate", .metric = "died",
              .verdict = VERDICT_FAIL, .code = FAULT_PROCESS_DIED, .part = "rank 1",
              .node = each[--setup.dying_each], .message = "rank 1 died");
    }
    if (strcmp(name, setup.dying_in) == 0 && hostlist_contains(wanted->nodes, setup.dying) &&
        setup.deaths-- > 0) {
        if (strcmp(wanted->nodes->names[0], setup.dying) == 0) { /* rank 0 reports for all */
            result->status = 137;
            return 0;
        }
        PRINT(process, -1, .suite = name + strlen("muster-"), .test = "workers.enumerate",
              .metric = "died", .verdict = setup.dies_late ? VERDICT_WARN : VERDICT_FAIL,
              .code = setup.death, .part = "rank 1", .node = setup.dying, .message = "rank 1 died");
        if (wanted->nodes->count == 2 && setup.partner_deaths-- > 0)
            PRINT(process, -1, .suite = name + strlen("muster-"), .test = "workers.enumerate",
                  .metric = "died", .verdict = VERDICT_FAIL, .code = setup.death, .part = "rank 0",
                  .node = wanted->nodes->names[0], .message = "rank 0 died");
    }
    if (strcmp(name, "muster-links") == 0 && has_option(wanted->program, "--pairs") &&
        setup.hung_starts > 0) {
        setup.hung_starts--;
        PRINT(process, -1, .suite = "links", .test = "mpi.launch", .metric = "complete",
              .verdict = VERDICT_UNKNOWN, .code = FAULT_LAUNCH_FAILED, .node = "n1",
              .message = "MPI_Init did not return");
        result->status = 3;
        return 0;
    }
    if (strncmp(name, "muster-", 7) == 0)
        run_battery(name + 7, wanted->nodes, process);
    else
        run_muster(wanted->program + 1, wanted->nodes, process);
    return 0;
}

int job_match_query(struct job_match *asked, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        asked[i].has_node = asked[i].has_holder = true;
    return 0;
}

bool job_match_is_confirmed(const struct job_match *asked)
{
    return asked->has_node && asked->has_holder;
}

static void print_warnings(const struct hostlist *names, const struct process *process)
{
    static const char *const tests[2] = {"host.config", "preflight.suspects"};

    for (size_t task = 0; task < names->count; task++)
        for (int i = 0; i < 2 && strcmp(names->names[task], "n1") == 0; i++)
            PRINT(process, (long)task, .suite = "suspects", .test = tests[i],
                  .run = "preflight-7-1000", .node = i == 0 ? "n2" : "n6", .peer = "n1",
                  .verdict = VERDICT_WARN, .code = FAULT_NODE_REPORTED, .message = "reported");
}

static int run_step_on(const struct hostlist *names, const char *partition, int wait_s,
                       char *const *words, const struct process *process,
                       struct process_result *result, struct error *err)
{
    if (begin_operation("step", err) != 0)
        return -1;
    if (hostlist_contains(names, setup.unreadable_reports)) {
        *result = (struct process_result){
            .end = setup.is_srun_killed ? PROCESS_TIMED_OUT : PROCESS_EXITED, .status = 1};
        process->on_line("0: srun: nodes are busy", true, process->context);
        snprintf(result->error_line.text, sizeof result->error_line.text,
                 "0: srun: nodes are busy");
        return 0;
    }
    for (size_t i = 0; i < names->count; i++)
        was_read[index_of(names->names[i])] = true;
    if (setup.has_silent_reports)
        return error_set(err, "no job for the suspect reports");
    if (setup.has_other_warnings)
        print_warnings(names, process);
    *result = (struct process_result){.end = PROCESS_EXITED};
    return 0;
}

static const struct cluster_operations operations = {
    .open = open_slurm,
    .name = name_cluster,
    .load = load,
    .load_nodes = load_nodes,
    .reservation = reservation_find,
    .jobs = jobs_find,
    .job_state = job_state,
    .drain = drain,
    .resume = resume,
    .set_comment = set_comment,
    .set_extra = set_extra,
    .down = drain,
    .reserve = reserve,
    .unreserve = unreserve,
    .update_waiting = wait_for,
    .job_cancel = job_cancel,
    .runs = runs_find,
    .pending = pending_find,
    .reach_nodes = reach_made_nodes,
    .allocation_get = get_allocation,
    .allocation_check = allocation_query,
    .step_run = run_step,
    .step_run_on = run_step_on,
};

/* ---------------------------------------------------------------- the run */

static const char *stderr_text = ""; /* standard error of the last run */

/* Resets the cluster and the run. */
static void run_reset(void)
{
    const char *path = test_path("history.db");

    slurm = (typeof(slurm)){0};
    for (int i = 0; i < NODES; i++) {
        slurm.nodes[i].is_drained =
            nodes[i].kind == DRAINED_BY_MUSTER || nodes[i].kind == DRAINED_BY_ADMIN;
        slurm.nodes[i].has_certificate = true;
        snprintf(slurm.nodes[i].reason, sizeof slurm.nodes[i].reason, "%s",
                 nodes[i].kind == DRAINED_BY_MUSTER  ? muster_reason
                 : nodes[i].kind == DRAINED_BY_ADMIN ? setup.admin_reason
                                                     : "");
    }
    if (setup.is_changing)
        set_node_extra(4, "{\"muster_level\":1,\"muster_expires\":1}");
    operation_count = 0;
    pending_queries = run_queries = unmeasured_steps = 0;
    requested[0] = removed[0] = rails_of_mpi[0] = '\0';
    allocations = wanted_minutes = 0;
    certify_stop = 0;
    gpus_requested = -1;
    memset(peers_of, 0, sizeof peers_of);
    refused_name[0] = '\0';
    certify_clear(&certify);
    certify = (struct certify){.operations = &operations,
                               .live_directory = setup.live_directory,
                               .options = {.is_dry_run = setup.is_dry_run,
                                           .is_idle = setup.is_idle,
                                           .is_suspects = setup.is_suspects,
                                           .is_due = setup.is_due,
                                           .nodes = setup.nodes_option,
                                           .level = setup.level},
                               .undo = {.journal = -1, .keeper_pipe = -1}};
    conf_defaults(&certify.conf);
    certify.conf.drain_cap_percent = 50;
    snprintf(certify.conf.gpu_container, sizeof certify.conf.gpu_container, "%s",
             setup.container ? setup.container : "");
    certify.conf.allow_failed_rails = setup.failed_rails;
    if (setup.valid_s > 0)
        certify.conf.certificate_valid_s = setup.valid_s;
    hostlist_expand(setup.mounts, &certify.conf.mounts, NULL);
    hostlist_expand(setup.fabric, &certify.conf.fabric_interfaces, NULL);
    snprintf(certify.conf.golden_path, sizeof certify.conf.golden_path, "%s", setup.golden);
    snprintf(certify.conf.reference_path, sizeof certify.conf.reference_path, "%s",
             setup.reference);
    if (!setup.keeps_history)
        unlink(path);
    snprintf(certify.conf.history_path, sizeof certify.conf.history_path, "%s", path);
}

/* Returns the exit status. */
static int run_command(int (*function)(struct certify *))
{
    int status;

    capture_begin();
    status = function(&certify);
    stderr_text = capture_end(2);
    return status;
}

/* Returns the exit status. */
static int run(void)
{
    run_reset();
    return run_command(certify_run);
}

/* Removes journals that runs left for the next run because changes could not be undone. Returns
 * their number. */
static int remove_journals(void)
{
    char path[512];
    struct dirent *entry;
    int count = 0;
    DIR *runs;

    snprintf(path, sizeof path, "%s/runs", directory);
    runs = opendir(path);
    while (runs && (entry = readdir(runs))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/runs/%s", directory, entry->d_name);
        unlink(path);
        count++;
    }
    if (runs)
        closedir(runs);
    return count;
}

/* Returns the description of a forbidden change that was made, or "". */
static const char *forbidden_change(int status)
{
    bool has_journal = remove_journals() > 0;

    for (int i = 0; i < NODES; i++) {
        const struct node_run *node_run = certify_node_run(&certify, nodes[i].name);
        bool may_be_drained = nodes[i].kind != HEALTHY;

        if (slurm.nodes[i].is_drained && !may_be_drained)
            return "a healthy node is drained";
        if (slurm.nodes[i].is_issued &&
            (nodes[i].kind == FAULTY || nodes[i].kind == DRAINED_BY_ADMIN))
            return "a node is certified that must not be certified";
        if (nodes[i].kind != FAULTY && !slurm.nodes[i].has_certificate)
            return "a node that did not fail loses its certificate";
        if (node_run && *node_run->certified_until && !slurm.nodes[i].is_issued)
            return "a node without a certificate is reported as certified";
        if (nodes[i].kind == DRAINED_BY_MUSTER && !slurm.nodes[i].is_drained &&
            !slurm.nodes[i].is_issued && !has_journal)
            return "a drain is lifted and the node is not certified";
        if (nodes[i].kind == DRAINED_BY_MUSTER && slurm.nodes[i].was_in_service &&
            !slurm.nodes[i].is_issued)
            return "a node is in service before it is certified";
        if (nodes[i].kind == DRAINED_BY_MUSTER && strstr(slurm.nodes[i].comment, "[muster") &&
            !has_journal)
            return "the mark in a Comment is left";
        if (nodes[i].kind == DRAINED_BY_ADMIN &&
            (!slurm.nodes[i].is_drained || strcmp(slurm.nodes[i].reason, setup.admin_reason) != 0))
            return "an administrator's drain is changed";
    }
    if ((slurm.job != 0 || *slurm.reservation) && !has_journal)
        return "a job or a reservation is left without a journal";
    return status == COMMAND_PASS ? "the exit status reports no failure" : "";
}

static const struct outcome *outcome_of(const char *name)
{
    return &certify_node_run(&certify, name)->outcome;
}

static void add_value(const struct stage_value *value, void *context)
{
    text_join(context, 200, "", "%s %.0f %.0f;", value->stage, value->tested, value->found);
}

/* Returns "check 5 1;...": for each stage the number of nodes tested and failed, from the
 * history. */
static const char *stage_results(void)
{
    static char text[200];
    struct error err;

    text[0] = '\0';
    return stage_values(certify.conf.history_path, 0, add_value, text, &err) < 0 ? "an error"
                                                                                 : text;
}

static void test_one_run(void)
{
    int status = run();
    const char *expires;
    long long until;

    is_str(forbidden_change(status), "", "a run on a cluster with one faulty node does no harm");
    is_int(status, COMMAND_FAIL, "... and its exit status says that something failed");
    for (int i = 0; i < NODES; i++)
        is_int(slurm.nodes[i].is_issued,
               nodes[i].kind == HEALTHY || nodes[i].kind == DRAINED_BY_MUSTER, "%s %s certified",
               nodes[i].name,
               nodes[i].kind == HEALTHY || nodes[i].kind == DRAINED_BY_MUSTER ? "is" : "is not");
    has_str(slurm.nodes[2].reason, "muster: link_down eth1 no link", "the faulty node is drained");
    ok(!slurm.nodes[2].has_certificate, "... and its certificate is removed");
    is_int(revocation_read(slurm.nodes[2].comment), 0, "... so no later revocation is needed");
    has_str(requested, "cluster: made-up\nlevel: quick\nexpires: ",
            "the request for certificates has its level");
    expires = strstr(requested, "expires: ");
    until = expires ? strtoll(expires + strlen("expires: "), NULL, 10) : 0;
    ok(llabs(until - time(NULL) - certify.conf.certificate_valid_s) < 600,
       "... and its expiry: %lld", until);
    is_str(block_of(3, requested),
           "\ntest: check: pass\ntest: launch: pass\ntest: collectives: pass\n"
           "test: links eth1: 198 Mb/s\n",
           "... and what was measured, and nothing else");
    ok(!slurm.nodes[3].is_drained, "a node that muster drained and that passed is released");
    ok(slurm.job == 0 && !*slurm.reservation, "no job and no reservation is left");
    is_str(stage_results(), "check 5 1;collectives 4 0;launch 4 0;links 4 0;reach 5 0;",
           "the history has the results of each stage");
    ok(links_were_quick, "the links were measured quickly");
    ok(check_deadline_s > bounded_longest_s(certify.conf.gpu_deadline_s) + CERTIFY_CHECK_S - 1,
       "muster check has time to report a hanging GPU driver: %.0f s", check_deadline_s);
    setup.mounts = "/home,/scratch:rw,/projects";
    run();
    ok(check_deadline_s >
           bounded_longest_s(certify.conf.gpu_deadline_s) + 3 * bounded_longest_s(CHECK_MOUNT_S),
       "... and three mounts as well: %.0f s", check_deadline_s);
}

/* A slow rail is measured again, and once more if MPI does not start. */
static void test_slow_rails(void)
{
    setup.slow_rail = "n2";
    for (int tries = 0; tries <= 1; tries++) {
        setup.hung_starts = tries;
        run();
        has_str(slurm.nodes[1].reason, "muster: rail_slow eth1 80 of 198 Mb/s",
                "a slow rail drains its node where MPI hangs %d times when it is measured again",
                tries);
        ok(slurm.nodes[0].is_issued && !slurm.nodes[0].is_drained, "... and its partner passes");
    }
    setup.hung_starts = 2;
    run();
    ok(!slurm.nodes[1].is_drained && !slurm.nodes[1].is_issued,
       "... if MPI hangs twice the node is unknown");
}

static int count_drained(void)
{
    int count = 0;

    for (int i = 0; i < NODES; i++)
        count += slurm.nodes[i].is_drained && nodes[i].kind != DRAINED_BY_MUSTER &&
                 nodes[i].kind != DRAINED_BY_ADMIN;
    return count;
}

static int count_issued(void)
{
    int count = 0;

    for (int i = 0; i < NODES; i++)
        count += slurm.nodes[i].is_issued;
    return count;
}

static bool has_note(const char *text)
{
    for (size_t i = 0; i < certify.notes.count; i++)
        if (strstr(certify.notes.names[i], text))
            return true;
    return false;
}

/* A slow rail that loses packets is reported as lossy only. */
static void reports_lossy_rails_as_lossy_only(void)
{
    setup.lossy_rail = "n2";
    run();
    has_str(slurm.nodes[1].reason,
            "muster: packet_loss eth1 loses 25 % of what it sends and receives",
            "a rail that loses packets drains its node");
    ok(slurm.nodes[0].is_issued && slurm.nodes[5].is_issued, "... and its partners pass");
    setup.path_is_slow = true;
    run();
    has_str(slurm.nodes[1].reason, "muster: packet_loss", "... also if one of its paths is slow");
    ok(!has_note("path n1-n2"), "... and the path is not blamed");
    setup.lossy_rail = "";

    run();
    ok(has_note("path n1-n2 eth1 carries 80 of 198 Mb/s"), "a slow path is reported");
    ok(count_drained() == 1 && slurm.nodes[0].is_issued, "... no node is at fault");
    setup.path_is_lossy = true;
    run();
    ok(has_note("path n1-n2 eth1 loses 25 % of the packets that "),
       "so is a path that loses packets");
    ok(!has_note("path n1-n2 eth1 carries"), "... as lossy only, since that explains its speed");
}

/* A rail that is left out is listed in the certificate with its state. */
static void test_failed_rail(void)
{
    const struct node_run *node_run;
    char setting[1024];

    setup.failed_rails = 1;
    run();
    node_run = certify_node_run(&certify, "n3");
    ok(node_run && hostlist_contains(&node_run->rails, "links eth1: unusable rail_fault"),
       "a dead rail that AllowFailedRails permits is listed as unusable");
    is_str(rails_of_mpi, "muster-collectives: OMPI_MCA_btl_tcp_if_exclude=lo,eth1",
           "... and MPI data avoids it");
    hostlist_append(&certify_node_run(&certify, "n1")->unusable, "eth1");
    is_int(certify_rails_setting(&certify, setting, sizeof setting), 0,
           "... a rail is excluded from Open MPI");
    is_str(setting, "OMPI_MCA_btl_tcp_if_exclude=lo,eth1",
           "... once, even if several nodes lack it");
    setup.fabric = "eth1,eth2";
    setup.level = LEVEL_STANDARD;
    run();
    is_str(rails_of_mpi,
           "muster-collectives: OMPI_MCA_btl_tcp_if_include=eth2; "
           "muster-train: OMPI_MCA_btl_tcp_if_include=eth2",
           "... and the site's other rails are used");
    setup.fabric = "";
    setup.level = LEVEL_QUICK;
    setup.slow_rail = "n2";
    run();
    ok(slurm.nodes[1].is_drained && !slurm.nodes[1].is_issued,
       "a node whose only rail is slow is drained in spite of AllowFailedRails");
    setup.rails = 2;
    run();
    node_run = certify_node_run(&certify, "n2");
    ok(slurm.nodes[1].is_issued && !slurm.nodes[1].is_drained,
       "... one slow rail of two is permitted");
    ok(node_run && hostlist_contains(&node_run->rails, "links eth1: 80 Mb/s rail_slow") &&
           hostlist_contains(&node_run->rails, "links eth2: 198 Mb/s"),
       "... and the certificate lists it");
    ok(has_note("n2: eth1 80 of 198 Mb/s, left out by AllowFailedRails"), "... and so does a note");
    setup.failed_rails = 0;
    run();
    ok(slurm.nodes[1].is_drained && !slurm.nodes[1].is_issued,
       "... without AllowFailedRails it is drained");
}

/* A golden file that cannot be read is a fault of the run. */
static void test_unreadable_golden_file(void)
{
    setup.golden = "/nowhere/golden";
    run();
    ok(certify.has_fault, "a golden file that cannot be read is a fault of the run");
    ok(slurm.nodes[0].is_issued, "... and of no node");
}

static void test_live_file(void)
{
    struct live_event event;
    const char *path = test_path("live");
    char line[1024], stages[256] = "", faults[256] = "";
    int wrong = 0;

    setup.live_directory = path;
    run();
    ok(live && live_was_held, "a run holds its live file, which can be read meanwhile");
    while (live && fgets(line, sizeof line, live)) {
        wrong += live_read(line, &event) != 0;
        if (event.kind == LIVE_END && *event.text)
            text_join(stages, sizeof stages, "", "%s ", event.stage);
        if (event.kind == LIVE_NODE)
            text_join(faults, sizeof faults, "", "%s %s %s|", event.node,
                      verdict_name(event.verdict), event.stage);
    }
    is_int(wrong, 0, "... each line is an event");
    is_str(stages, "reach allocate check allocate launch links collectives allocate certificate ",
           "... it has the end of each stage");
    is_str(faults, "n3 fail check|", "... and the faulty node, once");
    ok(live && !live_is_held(fileno(live)), "nobody holds the file after the run");
    ok(rmdir(path) == 0, "... and it is removed");
    if (live)
        fclose(live);
    live = NULL;
}

static void test_dry_run(void)
{
    setup.is_dry_run = true;
    run();
    ok(!slurm.nodes[2].is_drained && slurm.nodes[3].is_drained, "a dry run changes no node");
    ok(slurm.nodes[2].has_certificate, "... removes no certificate");
    is_int(outcome_of("n1")->stages[STAGE_CERTIFICATE], VERDICT_SKIP,
           "... and writes no certificate");
}

static void test_no_accelerators(void)
{
    run();
    is_int(outcome_of("n1")->stages[STAGE_GPU], VERDICT_SKIP,
           "nodes without accelerators skip the stage gpu");
    is_int(gpus_requested, -1, "... and no program is started for it");
}

static void test_good_accelerators(void)
{
    setup.accelerators = GPUS;
    run();
    is_int(outcome_of("n1")->stages[STAGE_GPU], VERDICT_PASS, "accelerators pass");
    is_int(gpus_requested, 8, "... in a step that asks for all devices of a node");
    is_int(gpu_tasks, 1, "... with one task a node");
    ok(slurm.nodes[0].is_issued, "... and the node is certified");
}

/* With Flags=explicit in gres.conf a job has only the GPUs that it asks for on each node. */
static void test_explicit_accelerators(void)
{
    tree_put(directory, "slurm.conf", "ClusterName=made-up\n");
    tree_put(directory, "gres.conf", "Name=gpu File=/dev/nvidia[0-7] Flags=explicit\n");
    setenv("SLURM_CONF", test_path("slurm.conf"), 1);
    setup.accelerators = GPUS_OF_TWO_COUNTS;
    run();
    is_int(job_gpus, 8, "a job asks for as many GPUs of each node as the one with the fewest has");
    is_int(outcome_of("n1")->stages[STAGE_GPU], VERDICT_PASS, "... and those are tested");
    is_int(gpus_requested, 8, "... no step asks for more");
    is_int(outcome_of("n6")->stages[STAGE_GPU], VERDICT_UNKNOWN,
           "... a node with more GPUs is unknown");
    has_str(outcome_of("n6")->faults[0].message, "certify nodes with 16 GPUs in a run of their own",
            "... the message says why");
    ok(!slurm.nodes[5].is_drained && slurm.nodes[5].has_certificate,
       "... it is not drained and keeps its certificate");
    tree_put(directory, "gres.conf", "NodeName=other Name=gpu File=/dev/nvidia0 Flags=explicit\n");
    run();
    is_int(outcome_of("n6")->stages[STAGE_GPU], VERDICT_PASS,
           "the flag of another node's GPUs has no effect on this one");
    unsetenv("SLURM_CONF");
    unlink(test_path("gres.conf"));
    unlink(test_path("slurm.conf"));
}

static void test_slow_accelerators(void)
{
    setup.accelerators = GPU_IS_SLOW;
    run();
    has_str(slurm.nodes[0].reason, "muster: gpu_slow gpu3 slow", "a slow device drains its node");
    ok(!slurm.nodes[0].has_certificate, "... which loses its certificate");
    is_int(outcome_of("n1")->fault_count, 1, "... its two values are one fault");
    ok(!slurm.nodes[1].is_drained && slurm.nodes[1].is_issued, "... other nodes are certified");
    setup.accelerators = GPU_IS_NEAR;
    run();
    ok(!slurm.nodes[0].is_drained && !slurm.nodes[0].is_issued,
       "a value near its limit is a strike: neither drained nor certified");
    ok(slurm.nodes[0].has_certificate, "... and the node keeps its certificate");
    setup.accelerators = GPUS_ARE_SLOW;
    run();
    ok(!slurm.nodes[0].is_drained && !slurm.nodes[1].is_drained && !slurm.nodes[5].is_drained,
       "a fault that all nodes share drains none");
}

static void compares_accelerators_with_their_history(void)
{
    int compared = 0;

    setup.accelerators = GPUS;
    for (int i = 0; i < HISTORY_RUNS_LEAST; i++) {
        run();
        setup.keeps_history = true;
    }
    setup.gpu_rate = 80;
    run();
    is_int(outcome_of("n1")->stages[STAGE_GPU], VERDICT_WARN,
           "a rate below the device's own history is a warning");
    is_int(outcome_of("n2")->stages[STAGE_GPU], VERDICT_PASS, "... on no other node");
    setup.accelerators = GPU_IS_SLOW;
    run();
    for (size_t i = 0; i < certify.records.count; i++)
        compared += catalog_is_limit(RECORD_AT(&certify.records, i)->limit_source, LIMIT_HISTORY);
    is_int(compared, 0, "a rate that failed is not compared with it");
}

static void test_containers(void)
{
    setup.accelerators = GPUS;
    setup.container = "contain image";
    setup.container_lacks = "";
    run();
    is_int(outcome_of("n1")->stages[STAGE_GPU], VERDICT_PASS, "in a container accelerators pass");
    is_str(container_program, "contain", "... the container command begins the step's command");
    is_int(gpus_requested, 8, "... and the step is muster-gpu's");
    setup.container = "--container-image=image";
    setup.container_lacks = "n1";
    run();
    is_str(container_options, setup.container, "srun options of the container are passed to srun");
    is_int(outcome_of("n1")->stages[STAGE_GPU], VERDICT_SKIP,
           "a node that cannot start the container skips the stage");
    is_int(outcome_of("n2")->stages[STAGE_GPU], VERDICT_PASS, "... the others pass");
    ok(slurm.nodes[0].is_issued && !slurm.nodes[0].is_drained && certify.notes.count > 0,
       "... it is certified, with a note");
}

static void test_missing_libraries(void)
{
    setup.accelerators = NO_LIBRARY;
    run();
    is_int(outcome_of("n1")->stages[STAGE_GPU], VERDICT_SKIP,
           "without a library on any node the stage is skipped");
    ok(slurm.nodes[0].is_issued && certify.notes.count > 0, "... and the nodes are certified");
    setup.accelerators = NO_LIBRARY_OF_N1;
    run();
    is_int(outcome_of("n1")->stages[STAGE_GPU], VERDICT_UNKNOWN,
           "without the library on one node that node is unknown");
    ok(!slurm.nodes[0].is_issued && !slurm.nodes[0].is_drained && slurm.nodes[1].is_issued,
       "... neither certified nor drained");
}

static void test_hosts(void)
{
    host_steps = 0;
    run();
    is_int(outcome_of("n1")->stages[STAGE_HOST], VERDICT_SKIP, "level quick skips the stage host");
    is_int(host_steps, 0, "... and starts no program for it");
    setup.level = LEVEL_STANDARD;
    run();
    is_int(outcome_of("n1")->stages[STAGE_HOST], VERDICT_PASS, "level standard has it");
    is_int(host_steps, 1, "... once for all nodes");
    ok(!links_were_quick, "... and the links are not measured quickly");
    ok(slurm.nodes[0].is_issued, "... and the node is certified");
    setup.host_kind = CORE_IS_SLOW;
    run();
    has_str(slurm.nodes[0].reason, "muster: core_slow cpu6 slow", "a slow core drains its node");
    ok(!slurm.nodes[1].is_drained && slurm.nodes[1].is_issued, "... other nodes are certified");
    setup.host_kind = CORE_IS_NEAR;
    run();
    ok(!slurm.nodes[0].is_drained && !slurm.nodes[0].is_issued,
       "a value near its limit is a strike: neither drained nor certified");
    setup.host_kind = CORE_IS_WRONG;
    run();
    has_str(slurm.nodes[0].reason, "muster: core_wrong cpu6 wrong",
            "a core with wrong results drains its node");
    setup.host_kind = DISK_IS_SLOW;
    run();
    ok(!slurm.nodes[0].is_drained && *certify_node_run(&certify, "n1")->certified_until,
       "a slow disk is a warning, and the node is certified");
    is_int(outcome_of("n1")->stages[STAGE_HOST], VERDICT_WARN, "... in the stage's verdict");
    setup.host_kind = HOST_IS_LEFT_OUT;
    run();
    is_int(outcome_of("n1")->stages[STAGE_HOST], VERDICT_SKIP,
           "a node on which nothing was measured skips the stage");
    ok(has_note("host: n1: not measured: 8 nodes of the same machine"), "... a note says why");
    ok(slurm.nodes[0].is_issued, "... and it is certified");
    is_int(outcome_of("n2")->stages[STAGE_HOST], VERDICT_PASS, "... the others pass");
    setup.host_kind = HOST_IS_GOOD;
    for (int i = 0; i < HISTORY_RUNS_LEAST; i++) {
        run();
        setup.keeps_history = true;
    }
    setup.host_triad = 170;
    setup.host_stalled = 0.3;
    run();
    is_int(outcome_of("n1")->stages[STAGE_HOST], VERDICT_PASS,
           "a value of stalled threads is not compared with the node's history");
    setup.host_stalled = 0;
    run();
    is_int(outcome_of("n1")->stages[STAGE_HOST], VERDICT_WARN,
           "a figure below the node's own history is a warning");
    is_int(outcome_worst(outcome_of("n1"))->code, FAULT_MEMORY_SLOW, "... with its code");
    is_int(outcome_of("n2")->stages[STAGE_HOST], VERDICT_PASS, "... on no other node");
}

/* A task may report about its own node only. */
static void ignores_foreign_records(void)
{
    size_t count;

    setup.foreign_records = 3000;
    run();
    ok(!slurm.nodes[0].is_drained && slurm.nodes[0].is_issued,
       "reports of a node about another one do not harm it");
    has_str(slurm.nodes[2].reason, "muster: link_down", "... reports about itself count");
    is_int((long)certify.refused_records, 3000, "... all refused records are counted");
    count = certify.records.count;
    ok(count < 1000, "... and %zu records are kept", count);
}

/* Checks a node that nobody else has and that a campaign could otherwise test forever. */
static void check_counts_as_try(const char *name, const char *what)
{
    is_int(outcome_of(name)->verdict, VERDICT_UNKNOWN, "%s is unknown", what);
    is_int(outcome_worst(outcome_of(name))->code, FAULT_NOT_MEASURED,
           "... with a code that counts as a try");
}

/* Measurements after the reboot are good. */
static void check_reboot(const char *name)
{
    int status;

    setup.rebooted = name;
    setup.boots[1] = time(NULL);
    setup.lasting_s = 20; /* each step */
    status = run();
    ok(!slurm.nodes[index_of(name)].is_issued, "%s, which reboots during the run, is not certified",
       name);
    check_counts_as_try(name, "... it");
    is_str(forbidden_change(status), "", "... and no harm is done");
}

/* n1, n2 and n6 are reserved by the site. */
static void notes_nodes_left_alone_in_one_line(void)
{
    setup.site_reserved_until_s = now_s + 3600;
    run();
    ok(has_note("n[1-2,6]: left alone: it is in a reservation"),
       "nodes left alone for the same reason share a line");
    ok(has_note("n5: left alone: drained by someone else: fan broken"),
       "... another reason has its own line");
}

/* The head cannot reach n2, from the start or once it is in the job. slurmctld misses it after_s
 * later. */
static void check_cut_off(bool is_late, double after_s, enum verdict verdict)
{
    setup.cut_off = "n2";
    setup.is_cut_off_late = is_late;
    setup.missed_s = now_s + after_s;
    run();
    is_int(outcome_of("n2")->verdict, verdict,
           "a node that the head does not reach%s, and slurmctld %s", is_late ? " any more" : "",
           isinf(after_s)  ? "does"
           : after_s > 0.0 ? "misses later"
                           : "neither");
    is_int(slurm.nodes[1].is_drained, verdict == VERDICT_FAIL, "... is drained if it failed");
    ok(!slurm.nodes[1].is_issued && slurm.nodes[0].is_issued, "... and the others are certified");
    if (verdict == VERDICT_UNKNOWN)
        has_str(outcome_worst(outcome_of("n2"))->message,
                "no answer; slurmctld does not miss it: check names and network of this host",
                "... the message says so");
}

/* A note begins with names and ends with the reason and the next step. */
static void cuts_names_of_a_note(void)
{
    struct certify noting = {0};
    char names_of_many[3 * RECORDFILE_MESSAGE];

    memset(names_of_many, 'n', sizeof names_of_many - 1);
    names_of_many[sizeof names_of_many - 1] = '\0';
    certify_note(&noting, "%s: left for another run; next: muster certify --campaign NAME",
                 names_of_many);
    is_int((long long)noting.notes.count, 1, "a note with a thousand nodes");
    is_int((long long)strlen(noting.notes.names[0]), RECORDFILE_MESSAGE,
           "... has the maximum length of a record");
    ok(strstr(noting.notes.names[0], "nnn ... (cut) ... nnn") &&
           strstr(noting.notes.names[0], ": left for another run; next: muster certify "
                                         "--campaign NAME"),
       "... the names are cut");
    hostlist_clear(&noting.notes);
}

/* The certificates' job waits for n2, whose epilog hangs. n3 failed but answers. */
static void removes_the_certificate_where_another_node_hangs(void)
{
    setup.hanging = "n2";
    hung_loads = 0;
    run();
    ok(hung_loads < 50, "while two jobs hang the nodes are loaded %d times only", hung_loads);
    ok(!slurm.nodes[1].is_issued && slurm.nodes[0].is_issued,
       "a node whose epilog hangs gets no certificate, others do");
    ok(!certify_node_run(&certify, "n3")->is_silent, "... a failed node does not become silent");
    ok(!slurm.nodes[2].has_certificate, "... and loses its certificate");
}

static void waits_for_epilogs_that_are_slow(void)
{
    setup.hanging = "n2";
    setup.epilog_s = 10;
    run();
    ok(!slurm.nodes[1].is_issued, "a node whose epilog hangs gets no certificate");
    ok(slurm.nodes[0].is_issued && slurm.nodes[3].is_issued && slurm.nodes[5].is_issued,
       "... those with a slow epilog do");
    ok(!slurm.nodes[2].has_certificate, "... a failed node loses its certificate");
}

/* n3 failed, and the battery's job does not end there. */
static void revokes_certificates_of_nodes_that_are_down(void)
{
    setup.dead = "n3";
    run();
    ok(certify_node_run(&certify, "n3")->lacks_certificate_job,
       "a node that is down and completing is missed");
    ok(slurm.nodes[2].has_certificate && revocation_read(slurm.nodes[2].comment) != 0,
       "... its remaining certificate is revoked in its Comment");
    ok(has_note("n3 did not remove its certificate; it is revoked"), "... a note says so");
    ok(slurm.nodes[0].is_issued, "... other nodes are certified");
}

/* n2 goes silent once it is in the job. slurmctld misses it 15 s after the start. */
static void is_cut_off_in_the_stage_that_noticed(void)
{
    enum stage stage;

    setup.cut_off = "n2";
    setup.is_cut_off_late = true;
    setup.lasting_s = 10;
    setup.missed_s = now_s + 15;
    run();
    stage = outcome_worst(outcome_of("n2"))->stage;
    is_int(outcome_of("n2")->verdict, VERDICT_FAIL, "a node that slurmctld misses late fails");
    is_str(stage_name(stage), "check", "... in the stage where it went silent");
    ok(slurm.nodes[0].is_issued && slurm.nodes[5].is_issued,
       "... the other nodes' checks continue");
}

static void fails_no_node_that_slurm_reboots(void)
{
    setup.cut_off = "n2";
    setup.is_cut_off_late = setup.is_rebooting = true;
    setup.lasting_s = 10;
    setup.missed_s = now_s;
    run();
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN,
           "a node that Slurm reboots on purpose is unknown");
    is_str(outcome_worst(outcome_of("n2"))->message, "left alone: rebooting",
           "... the message says so");
    ok(!slurm.nodes[1].is_drained, "... and is not drained");
    ok(!slurm.nodes[1].is_issued && slurm.nodes[0].is_issued, "... the others are certified");
}

/* A node keeps a certificate of a higher level than this run's. */
static void keeps_certificate_of_higher_level(void)
{
    char *comment;

    setup.has_extra = true;
    setup.kept_node = 1;
    run();
    has_str(slurm.nodes[1].extra, "\"muster_level\":3,\"muster_expires\":4000000000",
            "a kept certificate of a higher level is offered to jobs");
    has_str(slurm.nodes[0].extra, "\"muster_level\":1,", "... other nodes offer the new one");
    ok(strstr(slurm.nodes[0].extra, "4000000000") == NULL, "... with its own expiry");
    setup.kept_node = 3;
    run();
    has_str(slurm.nodes[3].extra, "\"muster_level\":1,",
            "a node drained for a fault gets a new certificate");
    setup.kept_node = 1;
    run_reset();
    comment = revocation_set("", time(NULL));
    comment_node(1, comment);
    free(comment);
    run_command(certify_run);
    has_str(slurm.nodes[1].extra, "\"muster_level\":1,",
            "... and so does one whose certificate was revoked");
}

/* n1's certificate has a higher level and ends in left_s. */
static void check_renewal(time_t left_s, bool is_due_run, const char *what, bool is_renewed)
{
    const char *path = test_path("history.db");
    char until[32];
    struct records none = {0};
    struct error err;

    setup.kept_until = time(NULL) + left_s;
    text_time(until, sizeof until, "%Y-%m-%d %H:%M", (time_t)setup.kept_until);
    unlink(path);
    history_add(
        path,
        &(struct history_run){.run = "r0", .level = "full", .time = record_now_s(), .seconds = 60},
        &(struct history_node){
            .node = "n1", .verdict = VERDICT_PASS, .certified_until = until, .rail_mbps = NAN},
        1, &none, 0, &err);
    setup.has_extra = setup.keeps_history = true;
    setup.kept_node = 0;
    setup.is_due = is_due_run;
    run();
    is_int(strstr(slurm.nodes[0].extra, "\"muster_level\":3,") == NULL, is_renewed, "%s", what);
}

static void renews_what_is_due(void)
{
    check_renewal(CERTIFY_DUE_S - 3600, true,
                  "a certificate of a higher level that is due is renewed", true);
    check_renewal(CERTIFY_DUE_S - 3600, false, "... in other runs it is kept", false);
    setup.valid_s = 86400;
    check_renewal(20 * 3600, true, "with a validity of a day, a certificate not due yet is kept",
                  false);
    check_renewal(20 * 3600, false, "... in other runs, too", false);
    check_renewal(10 * 3600, false, "... and one that ends sooner is renewed", true);
}

/* Adds an earlier run to the history that certified all nodes. Returns history_add()'s result. */
static int certified_before(void)
{
    struct history_node certified[NODES];
    struct records none = {0};
    const char *path = test_path("history.db");
    struct error err;

    for (int i = 0; i < NODES; i++)
        certified[i] = (struct history_node){.node = nodes[i].name,
                                             .verdict = VERDICT_PASS,
                                             .certified_until = "2036-01-01 00:00 UTC",
                                             .rail_mbps = NAN};
    return history_add(path, &(struct history_run){.run = "r0", .level = "full"}, certified, NODES,
                       &none, 0, &err);
}

/* n4 is tested because muster drained it. It has two other partners, so n6 is not tested. */
static void counts_runs_that_wait_for_the_history(void)
{
    const char *path = test_path("history.db");
    sqlite3 *busy;

    unlink(path);
    history_busy_ms = 1;
    sqlite3_open(path, &busy);
    sqlite3_exec(busy, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    is_int(certified_before(), 1, "an earlier run waits for the history");
    sqlite3_close(busy);
    history_busy_ms = 10000;
    setup.is_due = setup.keeps_history = true;
    run();
    ok(slurm.nodes[3].is_issued && !slurm.nodes[5].is_issued, "... and its nodes are not due");
}

/* A full disk can leave a history that is no database. */
static void all_are_due_where_the_history_is_damaged(void)
{
    const char *path = test_path("history.db");
    char command[300], damaged[8001];

    snprintf(damaged, sizeof damaged, "%08000d", 7);
    tree_put(directory, "history.db", damaged);
    setup.is_due = setup.keeps_history = true;
    run();
    ok(slurm.nodes[0].is_issued && slurm.nodes[3].is_issued && slurm.nodes[5].is_issued,
       "with a damaged history all nodes are due");
    ok(has_note("all certificates count as due: "), "... a note says so");
    snprintf(command, sizeof command, "rm -f %s*", path); /* the run is stored beside it */
    is_int(system(command), 0, "... and the run is kept");
}

/* The history has a certificate for n6. Slurm's fields say otherwise. */
static void check_due_by_slurm(const char *extra, const char *comment, const char *what)
{
    setup.is_due = true;
    run_reset();
    setup.is_due = false;
    certified_before();
    set_node_extra(5, extra);
    comment_node(5, comment);
    run_command(certify_run);
    ok(slurm.nodes[5].is_issued, "a node %s is due", what);
    is_int(revocation_read(slurm.nodes[5].comment), 0,
           "... after the new certificate none is revoked");
    is_str(slurm.nodes[5].extra, "", "... and none is refused");
    ok(!has_note("did not remove its certificate"), "... and no removal is reported as missing");
}

static void is_due_against_the_history(void)
{
    char *comment = revocation_set("", time(NULL));

    check_due_by_slurm("{\"muster_gate\":\"changed kernel\"}", "", "that its gate refuses");
    check_due_by_slurm("", comment, "whose certificate is revoked");
    free(comment);
    setup.reserved = nodes[5].name;
    check_due_by_slurm("", "", "that waits where no job starts");
    ok(slurm.nodes[5].has_left, "... and leaves that reservation");
    setup.reserved = nodes[2].name;
    run();
    ok(!slurm.nodes[2].has_left, "... a failed node stays in it");
}

/* n1 failed a minute ago, as this host's history or its Comment says, and reboots during the
 * run. */
static void check_after_failure(bool is_in_comment, int later_s, bool stays)
{
    struct records none = {0};
    struct error err;
    time_t failed = time(NULL) - 60;
    char *comment;

    run_reset();
    comment = revocation_set("", failed);
    if (is_in_comment)
        comment_node(0, comment);
    else
        history_add(certify.conf.history_path,
                    &(struct history_run){.run = "r0", .level = "full", .time = (double)failed},
                    &(struct history_node){.node = "n1", .verdict = VERDICT_FAIL, .rail_mbps = NAN},
                    1, &none, 0, &err);
    free(comment);
    setup.issued_s = failed + later_s;
    setup.rebooted = "n1";
    run_command(certify_run);
    is_int(outcome_of("n1")->verdict, VERDICT_UNKNOWN, "a node without a result");
    is_int(slurm.nodes[0].has_certificate, stays, "... %s a certificate from %s failed by its %s",
           stays ? "keeps" : "loses", stays ? "after it" : "before it",
           is_in_comment ? "Comment" : "history");
    is_int(revocation_read(slurm.nodes[0].comment) != 0, is_in_comment && stays,
           "... and the Comment revokes none once it is removed");
    ok(!slurm.nodes[2].has_certificate, "... while a node that fails now loses its certificate");
}

static void keeps_what_others_write(void)
{
    setup.has_extra = setup.is_changing = true;
    run();
    is_str(slurm.nodes[3].comment, "rack 9",
           "text that the site writes into Comment during the run is kept");
    has_str(slurm.nodes[0].extra, "\"rack\":7", "... and so is text in Extra");
    has_str(slurm.nodes[0].extra, "\"muster_level\":1,", "... with the new certificate after it");
    has_str(slurm.nodes[4].extra, "\"muster_level\":2,\"muster_expires\":4000000000",
            "a certificate that another run wrote during the run is kept");
    is_str(slurm.nodes[2].extra, "", "... except that of a node that fails");
}

static void rewrites_what_a_health_check_removes(void)
{
    setup.has_extra = setup.is_written_back = true;
    run();
    has_str(slurm.nodes[0].extra, "\"muster_level\":1,",
            "a certificate that a health check removed from Extra is written again");
    has_str(slurm.nodes[0].extra, "\"muster_fault\":\"5 eth1\"",
            "... beside the fault that the check published");
}

/* Slurm drains n5. Another run certifies it during this one. */
static void keeps_certificates_of_nodes_drained_by_slurm(void)
{
    setup.has_extra = setup.is_changing = true;
    setup.admin_reason = "gres/gpu count reported lower than configured (0 < 8)";
    run();
    is_int(outcome_of("n5")->verdict, VERDICT_FAIL, "a node that Slurm drained for a fault fails");
    has_str(slurm.nodes[4].extra, "\"muster_level\":2,\"muster_expires\":4000000000",
            "... its certificate is not revoked and is still offered to jobs");
}

static void add_name(const char *name, double time, void *context)
{
    text_join(context, 64, ";", "%s", name);
}

/* Slurm drains n5, for a fault or because it is silent. n3 fails a test. */
static void notes_no_drain_by_slurm_as_a_failed_test(void)
{
    static const char *const reasons[] = {"gres/gpu count reported lower than configured (0 < 8)",
                                          "Not responding"};

    for (int i = 0; i < 2; i++) {
        char failed[64] = "";

        setup.admin_reason = reasons[i];
        setup.cut_off = i == 1 ? "n5" : "";
        setup.missed_s = now_s;
        run();
        is_int(outcome_of("n5")->verdict, VERDICT_FAIL, "a node fails that Slurm drained: %s",
               reasons[i]);
        node_status_failed(test_path("history.db"), NULL, add_name, failed, NULL);
        is_str(failed, "n3", "... in the history it failed no test");
    }
}

static void keeps_certificate_on_a_full_file_system(void)
{
    setup.full_file_system = "n2";
    run();
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN, "a node with a full disk is unknown");
    ok(slurm.nodes[1].has_certificate && !slurm.nodes[1].is_issued && !slurm.nodes[1].is_drained,
       "... neither certified nor drained, and keeps its certificate");
    setup.full_file_system = "";
    setup.incomplete_check = "n2";
    setup.keeps_history = true;
    run();
    ok(slurm.nodes[1].has_certificate, "... also in a later run without a result");
}

static void waits_for_no_node_of_a_busy_cluster_that_completes_later(void)
{
    double begin_s;

    node_loads = loads = 0;
    setup.is_busy_cluster = setup.is_dry_run = true;
    begin_s = now_s;
    run();
    is_int(loads, 2, "while nodes complete in turn the cluster is loaded only twice");
    ok(now_s - begin_s < CERTIFY_SETTLE_S, "... and only the first completing node is waited for");
}

/* Nobody but Slurm has taken the node, so a campaign tests it at most twice. */
static void tests_a_node_that_answers_again(void)
{
    setup.admin_reason = "Not responding";
    run();
    check_counts_as_try("n5", "a node that Slurm set down and that answers again");
}

/* As after a change of MUNGE's key: a step that ended meanwhile could not report it. */
static void fails_no_node_where_a_step_did_not_end(void)
{
    setup.admin_reason = "Kill task failed";
    run();
    is_int(outcome_of("n5")->verdict, VERDICT_UNKNOWN,
           "a node where a step did not end in time, and that answers now, is unknown");
    has_str(outcome_worst(outcome_of("n5"))->message,
            "it answers now; next: read slurmd's log there, then scontrol update nodename=n5 ",
            "... with the next step");
    is_str(slurm.nodes[4].reason, "Kill task failed", "... and its drain stays");
}

static void counts_what_recurs_as_tries(void)
{
    setup.full_spool = "n2";
    setup.full_reason = "muster: memory_low 2026-11-01";
    run();
    check_counts_as_try("n2", "a node that its health check drains in mid-run");
    setup = default_setup;
    setup.is_ended_early = true;
    run();
    setup.is_ended_early = false;
    check_counts_as_try("n1", "a node whose job is canceled");
    setup.leaving = CERTIFY_TRIES;
    run();
    is_int(setup.leaving, 0, "a job ends early in each attempt");
    check_counts_as_try("n1", "... the remaining node");
    is_int(outcome_worst(outcome_of("n6"))->code, FAULT_NODE_AWAY,
           "... a node that was drained is away");
}

/* Slurm refuses a longer job, or never starts it. */
static void requests_no_longer_job_than_the_partition_allows(void)
{
    struct error err;

    run();
    ok(wanted_minutes > 20, "the battery's job may last %d minutes", wanted_minutes);
    is_int(reserved_minutes, 0,
           "... its reservation has no end while it holds a node that muster drained");
    setup.max_minutes = 20;
    run();
    is_int(wanted_minutes, 20, "... but no longer than the partition allows");
    ok(slurm.nodes[0].is_issued, "... nodes are certified");
    setup.is_ended_early = true;
    run();
    has_str(outcome_worst(outcome_of("n1"))->message, "MaxTime=20 of partition p",
            "... the end of a job that was too short is explained");
    setup = default_setup;
    setup.nodes_option = "n1,n2";
    run();
    ok(reserved_minutes > wanted_minutes,
       "... a reservation without drained nodes ends by itself after %d minutes", reserved_minutes);
    allocation_refused(&err, "no job of", "n1", "muster", ESLURM_INVALID_TIME_LIMIT);
    has_str(err.text, "MaxTime", "a refusal for the time limit names the setting to change");
}

static void adds_complete_wait(void)
{
    setup.complete_wait_s = 120;
    run();
    is_near(start_s, CERTIFY_ALLOCATE_NEXT_S + 120, 0.1,
            "CompleteWait is added to the wait for a job's start");
    setup.complete_wait_s = 65533;
    run();
    is_near(start_s, CERTIFY_ALLOCATE_NEXT_S + CERTIFY_COMPLETE_WAIT_MOST_S, 0.1,
            "... up to a maximum");
}

/* A job's time limit covers the deadlines of its steps. */
static void jobs_last_as_long_as_their_steps(void)
{
    static struct certify made_certify;

    made_certify = (struct certify){.count = 16384, .is_root = true};
    made_certify.node_runs = calloc(made_certify.count, sizeof *made_certify.node_runs);
    ok(60 * certify_job_minutes(&made_certify, JOB_CHECK) >
           certify_deadline_s(CERTIFY_CHECK_S, made_certify.count) + 60,
       "the check job of 16,384 nodes lasts longer than its step");
    ok(60 * certify_job_minutes(&made_certify, JOB_CERTIFICATES) >
           2 * certify_deadline_s(CERTIFY_CERTIFICATE_S, made_certify.count) + 60,
       "... and so does the job of their certificates");
    made_certify.count = 6;
    ok(certify_job_minutes(&made_certify, JOB_CERTIFICATES) < 10,
       "... the job of a few nodes is short");
    free(made_certify.node_runs);
}

/* Runs a campaign, which ends when nothing changes any more. Returns the exit status. */
static int campaign(const char *name)
{
    struct error err;
    int status;

    run_reset();
    certify.options.campaign = name;
    certify.options.is_campaign = true;
    certify.options.campaign_nodes = setup.nodes_option;
    certify.options.nodes = NULL;
    certify.options.json_path = "-"; /* all messages are then on standard error */
    job_tries = 0;
    status = run_command(certify_campaign);
    campaign_clear(&last_campaign);
    campaign_read(certify.conf.history_path, name, NULL, NULL, &last_campaign, &err);
    return status;
}

static void ends_a_campaign(void)
{
    is_int(campaign("spring"), COMMAND_FAIL, "a campaign with one faulty node fails");
    is_int((long long)last_campaign.counts[CAMPAIGN_CERTIFIED], 4, "... certifies the good nodes");
    is_int((long long)last_campaign.counts[CAMPAIGN_LEFT], 1,
           "... and leaves nodes that others drained");
    setup.jobs_kind = NO_USER;
    is_int(campaign("spring"), COMMAND_UNKNOWN, "a campaign without BatteryUser ends");
    is_int(job_tries, CAMPAIGN_BROKEN_MOST, "... after some tries");
    setup.jobs_kind = NO_JOBS;
    is_int(campaign("spring"), COMMAND_UNKNOWN, "a campaign that gets no job ends");
    is_int(last_campaign.runs, CAMPAIGN_BROKEN_MOST, "... after the same number of runs");
    is_int((long long)last_campaign.counts[CAMPAIGN_UNKNOWN], 0, "... no node is unknown");
    is_int((long long)last_campaign.counts[CAMPAIGN_LEFT], NODES,
           "... all are left for a continuation");
    setup.jobs_kind = NO_ACCOUNT; /* or slurmctld lacks the association for a while */
    is_int(campaign("spring"), COMMAND_UNKNOWN, "a campaign whose account is refused ends");
    is_int(last_campaign.runs, CAMPAIGN_BROKEN_MOST, "... after the same number of runs");
    is_int((long long)last_campaign.counts[CAMPAIGN_UNKNOWN], 0, "... no node is unknown");
    is_int((long long)last_campaign.counts[CAMPAIGN_LEFT], NODES, "... all are left, too");
}

/* Most of the free nodes are in q. */
static void tests_the_other_partitions_of_one_that_refuses(void)
{
    setup.partition_kind = TWO_PARTITIONS;
    setup.closed_partition = "q";
    is_int(campaign("may"), COMMAND_UNKNOWN, "a campaign that one partition refuses ends");
    ok(!certify_stop, "... by itself");
    is_int((long long)last_campaign.counts[CAMPAIGN_FAILED], 1,
           "... it tests the nodes of the other partition");
    is_int((long long)last_campaign.counts[CAMPAIGN_LEFT], 4, "... the rest is left");
    is_int(job_tries, CAMPAIGN_BROKEN_MOST, "... after as many tries as without another partition");
    setup.closed_partition = "p";
    setup.site_reserved_until_s = now_s + 3600;
    campaign("april");
    ok(!certify_stop, "a campaign whose other partition is busy ends, too");
    is_int((long long)last_campaign.counts[CAMPAIGN_CERTIFIED], 3,
           "... after it tested those nodes once free");
    is_int(job_tries, CAMPAIGN_BROKEN_MOST, "... without further tries in the first partition");
    has_str(stderr_text,
            "busy nodes are free; partition p is given up: it refused 20 jobs in a row",
            "... the output says so while it waits");
    for (int i = CLUSTER_QUERY; i <= JOB_REQUEST; i++) {
        static const char *const causes[] = {"", "slurmctld", "BatteryUser", "a job"};
        char name[20];

        snprintf(name, sizeof name, "april-%d", i);
        setup.failing_once = i;
        setup.site_reserved_until_s = now_s + 3600;
        campaign(name);
        ok(setup.failing_once == NO_FAILURE && !certify_stop,
           "one that lacks %s once then ends, too", causes[i]);
        is_int((long long)last_campaign.counts[CAMPAIGN_CERTIFIED], 3,
               "... and has tested the nodes as well");
    }
    setup.partition_kind = TWIN_PARTITIONS;
    is_int(campaign("june"), COMMAND_FAIL, "a campaign whose nodes are in a second partition, too");
    is_int((long long)last_campaign.counts[CAMPAIGN_CERTIFIED], 4, "... tests them there");
}

/* q is deleted after the campaign chose a group of it. */
static void continues_without_a_deleted_partition(void)
{
    setup.partition_kind = TWO_PARTITIONS;
    loads = 0;
    setup.deletion = 2;
    is_int(campaign("july"), COMMAND_FAIL, "a campaign with a deleted partition continues");
    is_int((long long)last_campaign.counts[CAMPAIGN_FAILED], 1,
           "... with the nodes of the other partition");
}

/* All nodes but n5 are free. */
static void requests_no_more_nodes_than_the_partition_allows(void)
{
    setup.max_nodes = 2;
    run();
    ok(slurm.nodes[0].is_issued && slurm.nodes[1].is_issued,
       "as many nodes as MaxNodes allows are certified");
    is_int(outcome_of("n6")->verdict, VERDICT_UNKNOWN, "... the others are unknown");
    ok(slurm.nodes[3].is_drained, "... and drains of theirs are not lifted");
    ok(has_note("n[3-4,6]: left for another run: MaxNodes=2 of partition p"), "... a note says so");
    setup.max_nodes = 4;
    is_int(campaign("august"), COMMAND_FAIL, "a campaign takes at most MaxNodes at a time");
    is_int((long long)last_campaign.counts[CAMPAIGN_CERTIFIED], 4, "... and tests all of them");
}

static void names_nodes_that_are_never_tested(void)
{
    setup.fifth_name = "n5-in-the-third-rack-of-the-second-row-of-the-first-hall-of-two-halls";
    is_int(campaign("autumn"), COMMAND_FAIL, "a campaign with a node name that is too long");
    has_str(stderr_text, "1 node cannot be tested: names longer than 63", "... names it");
    ok(!strstr(stderr_text, "once they are back"), "... and does not advise to wait for it");
}

static void keeps_a_run_of_a_campaign_while_the_history_is_busy(void)
{
    const char *path = test_path("history.db");

    setup.keeps_history = true;
    history_busy_ms = 1;
    sqlite3_open(path, &busy_history);
    sqlite3_exec(busy_history, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    is_int(campaign("winter"), COMMAND_FAIL, "a campaign while a copy of the history is made");
    ok(!busy_history, "... has a run that waits for the history");
    is_int((long long)last_campaign.counts[CAMPAIGN_CERTIFIED], 4,
           "... and certifies the good nodes");
    is_int((long long)last_campaign.counts[CAMPAIGN_UNKNOWN], 0, "... and leaves no node unknown");
    sqlite3_close(busy_history);
    busy_history = NULL;
    history_busy_ms = 10000;
}

/* n5, which Slurm drained, is in partition q with n1 and its partners. n1 is in p as well. */
static void campaign_partners_are_of_the_partition_of_their_group(void)
{
    setup.admin_reason = "gres/gpu count reported lower than configured (0 < 8)";
    setup.partition_kind = PARTITION_IN_ANOTHER;
    setup.nodes_option = "n1,n5";
    is_int(campaign("summer"), COMMAND_FAIL, "a campaign with overlapping partitions");
    is_int((long long)last_campaign.counts[CAMPAIGN_CERTIFIED], 1, "... certifies the good node");
}

/* An older version of muster left out a long node list. */
static void needs_nodes_that_no_record_names(void)
{
    struct record record = RECORD(.suite = "certify", .test = "campaign", .metric = "nodes",
                                  .part = "old", .value = NODES, .unit = "count", .time = 1);
    struct records records = {0};
    struct error err;
    const char *path = test_path("history.db");

    records_add(&records, &record);
    setup.keeps_history = true;
    for (int i = 0; i < 2; i++) {
        unlink(path);
        history_add(path,
                    &(struct history_run){.run = "r0",
                                          .cluster = i == 0 ? "made-up" : "another",
                                          .level = "quick",
                                          .time = record_now_s(),
                                          .seconds = 60},
                    &(struct history_node){.node = "n1",
                                           .verdict = VERDICT_PASS,
                                           .certified_until = "2036-01-01 00:00 UTC",
                                           .rail_mbps = NAN},
                    1, &records, 0, &err);
        is_int(campaign("old"), i == 0 ? COMMAND_USAGE : COMMAND_FAIL,
               i == 0 ? "a campaign whose nodes are not known ends"
                      : "... one of another cluster is not asked for its nodes");
        if (i == 0)
            is_int((long long)last_campaign.counts[CAMPAIGN_LEFT], NODES - 1,
                   "... and is not complete");
    }
    records_clear(&records);
}

/* MUNGE fails on each node after the tests. */
static void test_failed_certificates(void)
{
    int status;

    setup.refuses_certificates = true;
    status = run();
    is_int(outcome_of("n1")->stages[STAGE_COLLECTIVES], VERDICT_PASS,
           "a failed certificate does not change the collectives' result");
    is_int(outcome_of("n1")->stages[STAGE_CERTIFICATE], VERDICT_UNKNOWN,
           "... it is unknown in its own stage");
    ok(slurm.nodes[3].is_drained && strcmp(slurm.nodes[3].reason, muster_reason) == 0,
       "... a node that muster drained stays drained");
    is_str(forbidden_change(status), "", "... and no harm is done");
}

static void waits_for_a_controller_that_is_started_again(void)
{
    for (setup.restarts = AFTER_THE_TESTS; setup.restarts <= AFTER_THE_CERTIFICATES;
         setup.restarts++) {
        int status = run();

        is_str(refused_name, "load", "slurmctld restarts after the %s",
               setup.restarts == AFTER_THE_TESTS ? "tests" : "certificates");
        is_str(forbidden_change(status), "", "... and no harm is done");
        ok(slurm.nodes[0].is_issued && slurm.nodes[3].is_issued, "... nodes are certified");
        ok(!slurm.nodes[3].is_drained && !strstr(slurm.nodes[3].comment, "[muster"),
           "... a node that passed is released and its mark removed");
        has_str(slurm.nodes[2].reason, "muster: link_down", "... a failed node is drained");
        ok(!slurm.nodes[2].has_certificate, "... and loses its certificate");
        setup.refused_operation = 0;
    }
}

/* Slurm drains a node during a stage, which ends the stage for all nodes. */
static void test_full_disk(void)
{
    setup.full_spool = "n2";
    run();
    is_str(slurm.nodes[1].reason, "SlurmdSpoolDir is full",
           "a node that Slurm drains during the run keeps that reason");
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN, "... it is unknown");
    ok(!slurm.nodes[1].is_issued && slurm.nodes[0].is_issued && slurm.nodes[5].is_issued,
       "... and the others are certified without it");
    setup.full_reason = "Kill task failed";
    run();
    is_str(slurm.nodes[1].reason, setup.full_reason,
           "a node that Slurm drains for a fault keeps that reason, too");
    is_int(outcome_of("n2")->verdict, VERDICT_FAIL, "... it failed");
    ok(slurm.nodes[1].has_certificate && revocation_read(slurm.nodes[1].comment) == 0,
       "... but not in a test, so it keeps its certificate");
}

/* The certificates' job would wait for the node. */
static void requests_no_job_with_a_node_that_is_drained(void)
{
    setup.drained_late = "n2";
    late_jobs = 0;
    run();
    is_int(late_jobs, 0, "no job is requested with a node drained after its tests");
    is_str(slurm.nodes[1].reason, "fan broken", "... whose drain stays");
    ok(!slurm.nodes[1].is_issued && slurm.nodes[0].is_issued, "... and the others are certified");
}

/* slurmctld has asked it while a key was changed, for instance. Slurm starts no job there. */
static void leaves_out_nodes_that_do_not_respond_to_slurmctld(void)
{
    setup.unresponsive = "n2";
    run();
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN,
           "a node that answers the head but not slurmctld is unknown");
    ok(!slurm.nodes[1].is_drained && slurm.nodes[1].has_certificate,
       "... not drained, and keeps its certificate");
    ok(slurm.nodes[0].is_issued, "... and the others are certified");
}

/* With thousands of nodes one may leave at any time. */
static void retries_jobs_as_often_as_a_node_leaves(void)
{
    setup.leaving_late = 3;
    run();
    ok(slurm.nodes[0].is_issued,
       "a node is certified though another one leaves in each of three tries");
    ok(!slurm.nodes[1].is_issued && !slurm.nodes[5].is_issued, "... the nodes that left are not");
    is_str(slurm.nodes[5].reason, "fan broken", "... and they stay drained");
}

/* A user's job begins before the run's reservation. Slurm would preempt it for the run's job. */
static void preempts_no_job_that_began_before_the_reservation(void)
{
    setup.begun_late = "n2";
    preempting_jobs = 0;
    run();
    is_int(preempting_jobs, 0, "no job is requested with a node where a user's job began");
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN, "... the node is unknown");
    ok(!slurm.nodes[1].is_drained && slurm.nodes[0].is_issued, "... and the others are certified");
}

/* The other reservation would keep the run's jobs off the node. */
static void leaves_a_node_where_a_reservation_begins_before_the_end(void)
{
    char begins[64];

    text_time(begins, sizeof begins, "left alone: a reservation begins there at %Y-",
              time(NULL) + 3660);
    setup.reserved_later = "n2";
    run();
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN,
           "a node where a reservation begins soon is unknown");
    has_str(outcome_worst(outcome_of("n2"))->message, begins,
            "... and left alone, with the time of the reservation");
    ok(slurm.nodes[0].is_issued, "... and the others are certified");
}

/* Somebody changes the run's reservation. */
static void leaves_a_node_that_is_taken_out_of_the_reservation(void)
{
    setup.unreserved_late = "n2";
    run();
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN,
           "a node removed from the run's reservation is unknown");
    has_str(outcome_worst(outcome_of("n2"))->message,
            "it was removed from the run's reservation meanwhile", "... the message says so");
    ok(!slurm.nodes[1].is_issued && slurm.nodes[0].is_issued && slurm.nodes[5].is_issued,
       "... and the others are certified");
}

/* One node that cannot start the battery keeps the others waiting. If most nodes cannot, no node
 * is at fault. */
static void test_missing_program(void)
{
    setup.without_program = 1;
    run();
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN,
           "a node on which the battery does not start is unknown");
    ok(is_probe_named, "... the probe step has a name, so that it alone can be canceled");
    has_str(outcome_of("n2")->faults[0].message,
            "muster-launch does not start here: muster-launch: libucp.so.0: cannot open it",
            "... with its loader's error");
    ok(!slurm.nodes[1].is_drained && !slurm.nodes[1].is_issued,
       "... neither drained nor certified");
    ok(slurm.nodes[0].is_issued && slurm.nodes[5].is_issued, "... and the others are certified");
    setup.is_waiting = true;
    run();
    ok(waited_s > CERTIFY_MUTE_S && waited_s < CERTIFY_MUTE_S + 2,
       "while other ranks wait for it nodes are probed after %.1f s", waited_s);
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN, "... it is unknown");
    ok(slurm.nodes[0].is_issued && slurm.nodes[5].is_issued, "... and the others are certified");
    setup.is_waiting = false;
    setup.without_program = 4;
    run();
    ok(!slurm.nodes[1].is_issued && !slurm.nodes[5].is_issued && !slurm.nodes[1].is_drained,
       "if it does not start on most nodes, none is certified or drained");
    ok(!strstr(outcome_of("n2")->faults[0].message, "does not start here"),
       "... and no node is named");
}

/* A node whose process dies is measured again, alone with a good node that reports on it. */
static void check_process_death(const char *name, int times, bool is_drained)
{
    setup.dying = name;
    setup.deaths = times;
    run();
    is_int(slurm.nodes[index_of(name)].is_drained, is_drained, "%s whose process dies %s", name,
           is_drained   ? "again and again is drained"
           : times == 1 ? "once is not drained"
                        : "without a word is not drained");
    ok(!slurm.nodes[index_of(name)].is_issued && slurm.nodes[0].is_issued,
       "... it is not certified, and others are");
    if (is_drained)
        has_str(slurm.nodes[index_of(name)].reason, "alone with", "... with the reason");
}

/* A campaign continues at its own level unless another is given. */
static void reads_whether_a_level_is_given(void)
{
    static char name[] = "certify", campaign[] = "--campaign=spring", level[] = "--level=quick";
    char *argv[] = {name, campaign, level, NULL};
    struct certify_options options = {0};

    is_int(certify_options_read(2, argv, &options), -1, "a campaign without a level");
    ok(!options.has_level && options.level == LEVEL_QUICK, "... has the default level");
    options = (struct certify_options){0};
    is_int(certify_options_read(3, argv, &options), -1, "a campaign with a level");
    ok(options.has_level && options.level == LEVEL_QUICK, "... has that level");
}

/* A process that dies after all results is a warning. */
static void dies_after_the_results(void)
{
    setup.dying = "n2";
    setup.dying_in = "muster-collectives";
    setup.dies_late = true;
    setup.deaths = 9;
    run();
    ok(slurm.nodes[1].is_issued && !slurm.nodes[1].is_drained,
       "a node whose process dies after the results is certified");
    is_int(outcome_of("n2")->stages[STAGE_COLLECTIVES], VERDICT_WARN, "... with a warning");
    is_int(setup.deaths, 8, "... after a single run");
}

/* A step asks for the same number of GPUs on each node. */
static void retests_with_a_node_that_has_as_many_gpus(void)
{
    setup.accelerators = GPUS_OF_TWO_COUNTS;
    setup.dying_in = "muster-gpu";
    check_process_death("n6", 9, true);
}

/* The first try of a stage accepts connections from its nodes only. The next one shows what
 * happens without that. */
static void test_peer_addresses(void)
{
    static const char all[] = "10.0.0.1-10.0.0.2 10.0.0.4 10.0.0.6;";

    run();
    is_str(peers_of[0], "-;", "without reported addresses the peers are unknown");
    setup.reports_addresses = true;
    run();
    for (int i = 0; i < 3; i++)
        is_str(peers_of[i], all, "stage %d of the battery knows its nodes' addresses", i + 1);
    setup.dying = "n2";
    setup.deaths = 1;
    run();
    is_int(strncmp(peers_of[1], all, strlen(all)), 0, "... in its first try");
    is_str(peers_of[1] + strlen(all), "-;", "... only");
    setup.dying = "";
    setup.garbled_addresses = 2;
    run();
    is_str(peers_of[0], "-;", "with an invalid address the peers are unknown");
    ok(has_note("n2: muster check reported no addresses that can be parsed"),
       "... a note names the node");
}

/* Compares a node's facts with those of other nodes. */
static void compares_nodes_with_each_other(void)
{
    setup.other_kernel = "n1";
    run();
    is_int(outcome_of("n1")->stages[STAGE_CHECK], VERDICT_WARN, "another kernel is a warning");
    is_int(outcome_worst(outcome_of("n1"))->code, FAULT_CONFIG_DIFFERS, "... with its code");
    is_int(outcome_of("n2")->stages[STAGE_CHECK], VERDICT_PASS, "... on no other node");
    ok(slurm.nodes[0].is_issued, "... and certified");
    setup.has_duplicate_address = true;
    run();
    for (int i = 0; i < 2; i++) {
        is_int(outcome_worst(outcome_of(nodes[i].name))->code, FAULT_ADDRESS_DUPLICATE,
               "%s has the same address as another node", nodes[i].name);
        ok(!slurm.nodes[i].is_issued && !slurm.nodes[i].is_drained,
           "... it is neither certified nor drained");
    }
    ok(slurm.nodes[5].is_issued, "... a node with its own address is certified");
}

/* n2's link is lost for a moment. Its peers are good. */
static void doubts_nodes_whose_link_is_lost(void)
{
    setup.flapping = "n2";
    run();
    is_int(outcome_of("n2")->stages[STAGE_LINKS], VERDICT_UNKNOWN,
           "a node whose link is lost during the measurement is unknown");
    ok(!slurm.nodes[1].is_issued && !slurm.nodes[1].is_drained,
       "... neither certified nor drained");
    is_int(outcome_of("n6")->stages[STAGE_LINKS], VERDICT_WARN, "link errors are a warning");
    ok(slurm.nodes[5].is_issued, "... and the node is certified");
}

/* All rails alike are slower than in earlier runs. */
static void compares_rails_with_their_history(void)
{
    setup.rails = 2;
    for (int i = 0; i < HISTORY_RUNS_LEAST; i++) {
        run();
        setup.keeps_history = true;
    }
    is_int(outcome_of("n1")->stages[STAGE_LINKS], VERDICT_PASS, "rails as fast as before pass");
    setup.mbps = 120;
    run();
    ok(has_note("n1: eth1 runs at 120 Mb/s, in its last 5 good runs at 198"),
       "... slower ones get a note");
    ok(has_note("n1: eth2 runs at 120 Mb/s, in its last 5 good runs at 198"), "... each of a node");
    for (int i = 0; i < NODES; i++)
        if (nodes[i].kind == HEALTHY) {
            is_int(outcome_of(nodes[i].name)->stages[STAGE_LINKS], VERDICT_WARN,
                   "%s, whose rail became slower, gets a warning", nodes[i].name);
            ok(slurm.nodes[i].is_issued, "... and is certified, as it is as good as the others");
        }
}

static void compares_rails_with_the_reference(void)
{
    const char *path = test_path("reference");

    tree_put(directory, "reference",
             "metric=links.bandwidth value=0.199 unit=Gb/s kind=threshold gpu=H100 nic_gbps=0.2 "
             "source=\"others\" seen=2026-11\n"
             "metric=links.bandwidth value=0.1 unit=Gb/s kind=threshold gpu=H200 nic_gbps=0.2 "
             "source=\"others\" seen=2026-11\n");
    setup.reference = path;
    run();
    is_int(outcome_of("n1")->stages[STAGE_LINKS], VERDICT_WARN,
           "a rail slower than the reference for its hardware gets a warning");
    ok(slurm.nodes[0].is_issued, "... and its node is certified");
    ok(has_note("n1: eth1 runs at 198 Mb/s, the reference minimum is 199"), "... a note says so");
    unlink(path);
}

/* Checks a stage that measured only a part. n1 stands for all nodes. */
static void check_partly_measured(enum stage stage, const char *what)
{
    int status = run();

    is_int(outcome_of("n1")->stages[stage], VERDICT_UNKNOWN, "%s: %s is unknown", what,
           stage_name(stage));
    is_str(forbidden_change(status), "", "... and no harm is done");
    is_int(count_issued(), 0, "... and certifies no node");
}

static void certifies_nothing_that_was_not_measured(void)
{
    static const enum stage stages[] = {STAGE_LAUNCH, STAGE_LINKS, STAGE_COLLECTIVES};
    char program[32];

    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        for (int gives_reason = 0; gives_reason < 2; gives_reason++) {
            snprintf(program, sizeof program, "muster-%s", stage_name(stages[i]));
            setup.unmeasured = program;
            setup.gives_reason = gives_reason;
            check_partly_measured(stages[i], gives_reason
                                                 ? "a program that says that it measured nothing"
                                                 : "a program that says nothing");
            is_int(unmeasured_steps, 2, "... after two tries");
        }
    setup.unmeasured = "";
    for (setup.unreported_passes = 1; setup.unreported_passes <= 2; setup.unreported_passes++)
        check_partly_measured(STAGE_LINKS, "passes that nobody saw end");
    setup.unreported_passes = 0;
    setup.has_few_rounds = true;
    check_partly_measured(STAGE_LINKS, "too few rounds");
    is_str(outcome_worst(outcome_of("n1"))->message, "links: 2 of 9 rounds",
           "... the message says so");
    setup.has_few_rounds = false;
    setup.nodes_option = "n1,n3"; /* which fails before */
    check_partly_measured(STAGE_LINKS, "a node that is left alone");
}

/* Slurm drained n5 for a failed prolog. Only n5 knows whether muster's gate failed it. */
static void releases_nodes_drained_by_their_gate(void)
{
    setup.admin_reason = "Prolog error";
    setup.nodes_option = "n[1-2],n5";
    setup.drained_s = 1000000;
    for (int i = 0; i < 3; i++) {
        bool is_refusal = i == 2;
        int status;

        setup.refused_s = i == 0 ? 0 : is_refusal ? 1000010 : 1000000 - 86400;
        status = run();
        is_int(slurm.nodes[4].is_issued, is_refusal, "a node whose gate refused %s",
               i == 0       ? "no job"
               : is_refusal ? "the job then"
                            : "a job the day before");
        is_int(slurm.nodes[4].is_drained, !is_refusal, "... is %s",
               is_refusal ? "released" : "drained as it was");
        is_str(is_refusal ? "" : forbidden_change(status), "", "... no harm is done");
        is_int(has_note("n5 was drained by muster's gate"), is_refusal,
               "... a note names muster's gate");
        is_int(outcome_of("n5")->verdict, is_refusal ? VERDICT_WARN : VERDICT_FAIL, "... it %s",
               is_refusal ? "passed" : "failed");
    }
}

/* Another host's run has n2: before this run chooses, before it reserves, or when both have
 * their reservations. */
static void leaves_nodes_of_other_runs(void)
{
    setup.other_has_job = true;
    setup.other_from = 1;
    setup.other_to = 100;
    run();
    ok(!certify_node_run(&certify, "n2") && !slurm.nodes[1].is_issued && slurm.nodes[0].is_issued,
       "a node that another run tests is not in this run");
    ok(has_note("left alone: run 20261101-120000-0001 of host head2 tests n2 since "),
       "... a note names the other run");
    for (setup.other_from = 2; setup.other_from <= 3; setup.other_from++) {
        setup.other_has_job = true;
        setup.other_to = 100;
        is_str(forbidden_change(run()), "", "two runs on one node do no harm");
        ok(allocations == 0 && count_issued() == 0, "... the later run requests no job");
        has_str(outcome_worst(outcome_of("n1"))->message, "of host head2 tests n2 since ",
                "... its message names the other run");
        setup.other_has_job = false;
        setup.other_to = setup.other_from + 2;
        is_str(forbidden_change(run()), "", "a run that waits for another one does no harm");
        ok(slurm.nodes[0].is_issued && slurm.nodes[1].is_issued, "... and tests all its nodes");
    }
}

/* A node that does not report its cables passes with a note. */
static void names_nodes_whose_cables_are_not_checked(void)
{
    setup.has_lldpds = true;
    run();
    ok(!has_note("LLDP"), "if all nodes report their cables no note says otherwise");
    ok(lldp_deadline_s > CERTIFY_NEIGHBORS_S,
       "... the step's deadline grows with the number of nodes");
    setup.silent_lldpd = "n2";
    run();
    ok(has_note("LLDP: cables of n2 not checked"), "a node that does not report them is named");
    ok(slurm.nodes[1].is_issued, "... and certified");
}

static const char *leaf_of(const char *name)
{
    int leaf = cluster_node(&certify.cluster, name)->leaf;

    return leaf < 0 ? "none" : certify.cluster.leaves[leaf];
}

/* All nodes report their cables. */
static void reads_leaves_from_cables(void)
{
    setup.failed_rails = 1;
    setup.has_lldpds = setup.has_cables = true;
    run();
    is_str(leaf_of("n1"), "leaf1", "a node is on the leaf that its cable leads to");
    is_str(leaf_of("n6"), "leaf2", "... another node on the other leaf");
    setup.uplink_is_slow = true;
    run();
    ok(has_note("uplink leaf1-leaf2"), "a slow uplink between the leaves is reported");
    ok(count_drained() == 0 && slurm.nodes[0].is_issued, "... no node is at fault");
    setup.uplink_is_slow = false;
    setup.path_is_slow = true;
    setup.far_end = "n6";
    run();
    ok(has_note("path n1-n6 eth1 carries 80 of 198 Mb/s"),
       "a slow path across the uplink is reported");
    setup.uplink_is_lossy = true;
    run();
    ok(has_note("uplink leaf1-leaf2 eth1 loses 25 % of the packets"),
       "an uplink that loses packets is reported");
    ok(!has_note("path n1-n6"), "... and not the path, since that explains its speed");
    is_str(links_blocks, "leaf1=n[1-2];leaf2=n[3-4,6]", "links are measured by leaf");
    run_reset();
    certify.conf.uplink_concurrency = 3;
    run_command(certify_run);
    is_str(links_blocks, "leaf1=n[1-2]:3;leaf2=n[3-4,6]:3",
           "... with the uplink limit of each leaf");
    setup.has_topology = true;
    setup.silent_lldpd = "n2";
    run();
    is_str(leaf_of("n1"), "rack1", "Slurm's leaves stay if a node reports no cables");
}

/* Facts that are missing because a check was cut are no failure. */
static void test_incomplete_check(void)
{
    int failures = 0;

    setup.incomplete_check = "n2";
    run();
    for (size_t i = 0; i < certify.records.count; i++) {
        const struct record *record = RECORD_AT(&certify.records, i);

        failures +=
            record->node && strcmp(record->node, "n2") == 0 && record->verdict == VERDICT_FAIL;
    }
    is_int(failures, 0, "facts missing from a cut check are no failure");
    is_int(certify_node_run(&certify, "n2")->outcome.verdict, VERDICT_UNKNOWN,
           "... the node is unknown");
    is_int(slurm.nodes[1].is_drained, false, "... and not drained");
    ok(slurm.nodes[0].is_issued, "... others are certified");
}

static const char *newest_node = "n1";

static void read_newest(const struct history_node *node, void *context)
{
    if (strcmp(node->node, newest_node) == 0)
        snprintf(context, 200, "%s %s", verdict_name(node->verdict), node->message);
}

/* n1 and n2 are chosen. n3, which is faulty, and n6 are their partners. */
static void test_idle_run(void)
{
    char text[200] = "", path[sizeof certify.conf.history_path];
    struct error err;
    double begin_s = now_s;

    setup.is_idle = true;
    setup.job_at_s = INFINITY;
    setup.lasting_s = 10;
    run();
    is_int((long)certify.count, 4,
           "IdleCap limits the idle nodes that are tested, and two partners join them");
    ok(slurm.nodes[0].is_issued && slurm.nodes[1].is_issued, "... and certified");
    has_str(slurm.nodes[2].reason, "muster: link_down", "... or drained if faulty");
    ok(slurm.nodes[3].is_drained && strcmp(slurm.nodes[3].reason, muster_reason) == 0,
       "a drained node is not idle");
    ok(pending_queries > 4 && pending_queries < (now_s - begin_s) / 4,
       "pending jobs are listed now and then: %d times in %.0f s", pending_queries,
       now_s - begin_s);

    setup.job_at_s = 0;
    is_int(run(), COMMAND_PASS, "nodes that a job waits for are not tested");
    is_int((long)certify.count, 0, "... none of them");

    begin_s = now_s;
    setup.job_at_s = now_s + 25; /* during launch */
    is_int(run(), COMMAND_UNKNOWN, "a job that needs a node interrupts the test");
    ok(unreserved_s > setup.job_at_s &&
           unreserved_s < setup.job_at_s + certify.conf.idle_grace_s / 2,
       "... nodes are given back after %.1f s", unreserved_s - setup.job_at_s);
    ok(slurm.job == 0 && !*slurm.reservation, "... no job and no reservation is left");
    is_int(count_drained() + count_issued(), 0, "... no node is drained or certified");
    ok(slurm.nodes[2].has_certificate, "... no node loses its certificate");
    is_int(outcome_of("n3")->verdict, VERDICT_UNKNOWN, "... the faulty node has no verdict");
    snprintf(path, sizeof path, "%s", certify.conf.history_path);
    ok(history_nodes(path, NULL, NODES, read_newest, text, &err) > 0, "the history has the nodes");
    is_str(stage_results(), "", "... without a finding of any stage");
    is_str(text, "unknown interrupted: job 77 of user 1000 wants nodes of partition p",
           "... and with the reason");

    setup.keeps_history = true;
    setup.job_at_s = INFINITY;
    is_int(run(), COMMAND_PASS, "after an interruption the nodes are left alone for a while");
    is_int((long)certify.count, 0, "... and none is tested");
    setup.keeps_history = false;

    setup.listing_s = 4;
    is_int(run(), COMMAND_UNKNOWN, "a slow slurmctld is left alone");
    ok(certify.count == 0 && pending_queries == 1, "... after the first query");
}

/* Whether many nodes fail alike is known only at the end of a run. */
static void fails_none_when_stopped(void)
{
    char text[200] = "", path[sizeof certify.conf.history_path];
    struct error err;

    setup.stopped_in = "muster-launch";
    is_int(run(), COMMAND_UNKNOWN, "a stopped run has no result");
    is_int(count_drained() + count_issued(), 0, "... no node is drained or certified");
    is_int(outcome_of("n3")->verdict, VERDICT_UNKNOWN,
           "... a failure seen so far is unknown, as it was not decided");
    snprintf(path, sizeof path, "%s", certify.conf.history_path);
    newest_node = "n3";
    ok(history_nodes(path, NULL, NODES, read_newest, text, &err) > 0, "the history has the nodes");
    newest_node = "n1";
    is_str(text, "unknown interrupted: stopped by signal 2; seen until then: eth1: no link",
           "... with what was seen");
}

/* Two runs on one node would disturb each other's measurements. */
static void tests_nothing_while_another_run_chooses(void)
{
    const char *path = test_path("runs/.turn");
    int fd;

    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ok(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0, "another run has the lock");
    is_int(run(), COMMAND_UNKNOWN, "... for too long");
    is_int(allocations, 0, "... so nothing is tested");
    has_str(stderr_text, "cannot tell whether another run tests the same nodes",
            "... the output says so");
    close(fd);
    unlink(path);
    is_int(mkdir(path, 0700), 0, "a lock that cannot be made");
    run();
    ok(allocations > 0, "... is no sign of another run: the nodes are tested");
    rmdir(path);
    path = test_path("runs/other");
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ok(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && dprintf(fd, "testing n2\n") > 0,
       "another run of this host tests a node");
    run();
    ok(!certify_node_run(&certify, "n2") && !slurm.nodes[1].is_issued && slurm.nodes[0].is_issued,
       "... which is not in this run");
    ok(has_note("n2: left alone: another run is testing it"), "... a note says so");
    close(fd);
    unlink(path);
}

/* A stopped run undoes its changes. */
static void stops_without_harm(void)
{
    const char *what = "";
    int stopped = 0;

    for (setup.stopped_operation = 1; setup.stopped_operation < OPERATIONS_MOST && !*what;
         setup.stopped_operation++) {
        what = forbidden_change(run());
        if (*what)
            tap_diag("operation %d: %s", setup.stopped_operation, what);
        stopped += certify_stop != 0;
        if (operation_count < setup.stopped_operation)
            break;
    }
    ok(!*what && stopped > 30, "a run is stopped in each of %d operations without harm", stopped);
}

static void reports_nothing_left_after_a_dry_run(void)
{
    int stopped = 0, wrong = 0;

    setup.is_dry_run = true;
    for (setup.stopped_operation = 1; setup.stopped_operation < OPERATIONS_MOST;
         setup.stopped_operation++) {
        run();
        stopped += certify_stop != 0;
        wrong += certify_stop != 0 && !strstr(stderr_text, "; all changes were undone");
        if (operation_count < setup.stopped_operation)
            break;
    }
    ok(stopped > 20, "a dry run is stopped in each of %d operations", stopped);
    is_int(wrong, 0, "... and reports that nothing is left");
}

static void finds_no_suspects_without_reports(void)
{
    setup.is_suspects = true;
    is_int(run(), COMMAND_PASS, "without a suspect report nothing is tested");
    is_int((long)certify.count, 0, "... no node is in the run");
    ok(has_note("no suspects"), "... a note says so");
    setup.has_silent_reports = true;
    is_int(run(), COMMAND_UNKNOWN, "reports that cannot be read are no pass");
    ok(has_note("no job for the suspect reports"), "... a note says why");
    ok(!has_note("no suspects"), "... and does not claim that there are no suspects");
}

/* A job took the node, or the step on it fails. */
static void reads_suspect_reports_of_the_other_nodes(void)
{
    setup.is_suspects = true;
    setup.unreadable_reports = "n2";
    for (int i = 0; i < 2; i++) {
        setup.is_allocated_late = i == 0;
        memset(was_read, 0, sizeof was_read);
        is_int(run(), setup.is_allocated_late ? COMMAND_PASS : COMMAND_UNKNOWN, "a node %s",
               setup.is_allocated_late ? "that a job took is as one that was not free"
                                       : "whose reports cannot be read is no pass");
        ok(was_read[0] && was_read[2] && was_read[5] && !was_read[1],
           "... the other nodes' reports are read");
        is_int(has_note("cannot read the suspect reports of n2: srun: nodes are busy"),
               !setup.is_allocated_late, "... which is %ssaid",
               setup.is_allocated_late ? "not " : "");
    }
    setup.is_allocated_late = setup.is_srun_killed = true;
    is_int(run(), COMMAND_UNKNOWN, "a node that muster's own job may still hold");
    ok(has_note("cannot read the suspect reports of n2"), "... is not taken for a busy one");
}

static void ignores_other_warnings_as_suspect_reports(void)
{
    setup.is_suspects = setup.has_other_warnings = true;
    run();
    ok(has_note("n6: reported"), "a node is tested because of a suspect report");
    ok(!has_note("n2: reported"), "... and none because of another test's warning");
    ok(strstr(removed, "--remove=") && strstr(removed, "6]"), "... the report is then removed: %s",
       removed);
    setup.rebooted = "n6";
    run();
    is_str(removed, "", "... and is kept if the node has no result");
}

/* Nodes of a partition that was set down on purpose keep their suspect reports. */
static void reads_suspect_reports_where_a_partition_is_up(void)
{
    setup.partition_kind = TWO_PARTITIONS;
    setup.is_suspects = true;
    setup.partitions_down = 1;
    is_int(run(), COMMAND_PASS, "reading suspect reports of partitions that are up suffices");
    ok(has_note("cannot read the suspect reports of 3 nodes: none of their partitions"),
       "... a note names the rest");
    setup.partitions_down = 2;
    is_int(run(), COMMAND_UNKNOWN, "if no partition is up suspects are unknown");
}

/* n5 is in the default partition and is not tested. n1 is in the other one. */
static void partners_are_of_the_tested_nodes_partition(void)
{
    setup.partition_kind = TWO_PARTITIONS;
    setup.nodes_option = "n1,n5";
    run();
    ok(slurm.nodes[0].is_issued, "a node named together with a busy one has partners");
    ok(slurm.nodes[1].is_issued && slurm.nodes[5].is_issued, "... from its own partition");
}

/* At any time that the job arrives. */
static void test_idle_interruptions(void)
{
    double longest_s = 0;
    int halves = 0, whole = 0, interrupted = 0;

    setup.is_idle = true;
    setup.lasting_s = 10;
    for (int at = 0; at < 90; at += 3) {
        bool is_whole;

        setup.job_at_s = now_s + at;
        run();
        is_whole = count_issued() > 0;
        halves += is_whole ? count_issued() != 3 || count_drained() != 1 : count_drained() > 0;
        halves += !is_whole && !slurm.nodes[2].has_certificate;
        whole += is_whole;
        interrupted += *certify.idle_end != '\0';
        if (unreserved_s > setup.job_at_s)
            longest_s = fmax(longest_s, unreserved_s - setup.job_at_s);
    }
    ok(whole > 2 && interrupted > 10, "%d tests end, %d are interrupted", whole, interrupted);
    is_int(halves, 0, "... none is half done");
    ok(longest_s > 1 && longest_s <= certify.conf.idle_grace_s,
       "... the job has its node after at most %.1f s", longest_s);
}

static void check_refusals(bool all)
{
    const char *what = "";
    int count = 0;

    setup.refuses_all = all;
    for (setup.refused_operation = 1; setup.refused_operation < OPERATIONS_MOST && !*what;
         setup.refused_operation++) {
        what = forbidden_change(run());
        if (*what)
            tap_diag("operation %d, %s: %s", setup.refused_operation, refused_name, what);
        if (operation_count < setup.refused_operation)
            break;
        count++;
    }
    ok(!*what && count > 30 && count < OPERATIONS_MOST - 1,
       "each of %d operations is refused%s without harm", count,
       all ? " with all that follow" : "");
}

/* The estimates of a run before its stages. */
static void test_estimates(void)
{
    static const char *const speeds[] = {"n1", "n2", "n2", "n2", "n3"};
    static struct certify made_certify;
    static struct node_run runs[3] = {{.name = "n1", .gpus = 8, .has_accelerator = true},
                                      {.name = "n2", .gpus = 4},
                                      {.name = "n3"}};
    static struct cluster_node cluster_nodes[3] = {{.leaf = 0}, {.leaf = 0}, {.leaf = 1}};
    struct record record = {.test = catalog_tests[TEST_HOST_CONFIG].name,
                            .metric = catalog_metrics[METRIC_SPEED].name};
    struct hostlist none = {0};
    struct budget_work work;
    int *pairs;

    made_certify = (struct certify){.node_runs = runs, .count = 3};
    name_index_build((const char *const[]){"n1", "n2", "n3"}, 3, &made_certify.by_name);
    is_int(certify_work(&made_certify, 3).rails, BUDGET_RAILS_GUESSED,
           "without reported rails a default is used");
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        record.node = speeds[i];
        records_add(&made_certify.records, &record);
    }
    for (int i = 0; i < 3; i++) {
        record = (struct record){.test = catalog_tests[TEST_NET_ADDRESSES].name,
                                 .metric = catalog_metrics[METRIC_BOOT].name,
                                 .node = runs[i].name,
                                 .message = "one machine"};
        records_add(&made_certify.records, &record);
        record = (struct record){.test = catalog_tests[TEST_HOST_CONFIG].name,
                                 .metric = catalog_metrics[METRIC_CPU_COUNT].name,
                                 .node = runs[i].name,
                                 .value = 2};
        records_add(&made_certify.records, &record);
    }
    work = certify_work(&made_certify, 3);
    is_int(work.rails, 3, "... else the largest number of a node");
    is_int(work.gpus, 8, "... GPUs of nodes with an accelerator are counted");
    runs[0].outcome.verdict = VERDICT_FAIL;
    is_int(certify_work(&made_certify, 2).gpus, 0, "... but not of a node that is not tested");
    runs[0].outcome.verdict = VERDICT_NONE;
    is_near(work.oversubscription, 1.5, 1e-9, "... nodes that share a machine oversubscribe it");
    is_int(work.sub_rounds, 0, "... without leaf limits there are no sub-rounds");
    made_certify.cluster.leaf_count = 2;
    ok(!certify_uplink_pairs(&made_certify, &none), "... without other jobs uplinks have no limit");
    made_certify.conf.uplink_concurrency = 3;
    pairs = certify_uplink_pairs(&made_certify, &none);
    ok(pairs && pairs[0] == 3 && pairs[1] == 3, "UplinkConcurrency applies to each leaf");
    free(pairs);
    for (int i = 0; i < 3; i++)
        runs[i].slurm = &cluster_nodes[i];
    made_certify.conf.leaf_concurrency = 1;
    is_int(certify_work(&made_certify, 3).sub_rounds, 1, "... LeafConcurrency makes sub-rounds");
    runs[0].outcome.verdict = VERDICT_FAIL;
    is_near(certify_work(&made_certify, 2).oversubscription, 1, 1e-9,
            "... nodes that failed are not counted");
    name_index_clear(&made_certify.by_name);
    records_clear(&made_certify.records);
}

/* Returns the limit that reports use for a rail when `slower` nodes run at 100 Gb/s and the
 * others at 200 Gb/s. */
static double limit_of_speeds(int slower)
{
    enum { MANY = 16 };
    static char texts[MANY][8];
    static const char *many[MANY];
    static struct node_run runs[MANY];
    static struct certify made_certify;
    struct record record = {.suite = "links", .test = "links", .part = "eth1", .unit = "Mb/s"};
    double limit = NAN;

    made_certify = (struct certify){.node_runs = runs, .count = MANY};
    conf_defaults(&made_certify.conf);
    record.metric = catalog_metrics[METRIC_SPEED].name;
    for (int i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "m%d", i);
        runs[i].name = record.node = many[i] = texts[i];
        record.value = i < slower ? 1e5 : 2e5;
        for (int k = i < slower ? 0 : 3; k < 4; k++) /* slow nodes are checked again */
            records_add(&made_certify.records, &record);
    }
    name_index_build(many, MANY, &made_certify.by_name);
    record.metric = catalog_metrics[METRIC_BANDWIDTH].name;
    record.peer = many[0];
    records_add(&made_certify.records, &record);
    certify_facts(&made_certify);
    for (size_t i = 0; i < made_certify.records.count; i++) {
        const struct record *found = RECORD_AT(&made_certify.records, i);

        if (catalog_is_suite(found->suite, SUITE_CERTIFY) &&
            catalog_is_metric(found->metric, METRIC_BANDWIDTH))
            limit = found->limit;
    }
    name_index_clear(&made_certify.by_name);
    records_clear(&made_certify.records);
    conf_clear(&made_certify.conf);
    return limit;
}

static void reports_hold_a_rail_to_the_speed_of_its_slower_nodes(void)
{
    is_near(limit_of_speeds(8), 0.8 * 1e5, 1,
            "with half of the nodes slower the limit follows the slower speed");
    is_near(limit_of_speeds(1), 0.8 * 2e5, 1, "... one node that came up slow does not set it");
}

/* Checks the effect of each finding about the links on four nodes with two leaves: the first
 * letter of each node's verdict, a capital if it is near its limit, "-" for none. */
static void applies_link_findings(void)
{
    enum { MANY = 4 };
    static const char *const names[MANY] = {"m0", "m1", "m2", "m3"};
    static const struct {
        enum finding_kind kind;
        enum verdict verdict;
        int node;
        const char *limit_source, *expected;
        bool has_fault, is_unmeasured; /* is_unmeasured: no link of m3 was measured */
    } cases[] = {
        {FINDING_NODE, VERDICT_FAIL, 0, "nominal", "f---", false, false},
        {FINDING_RAIL, VERDICT_FAIL, 1, "peers", "-F--", false, false},
        {FINDING_HOST, VERDICT_UNKNOWN, 2, "peers", "--u-", false, false},
        {FINDING_RAIL, VERDICT_WARN, 3, "history", "---w", false, false},
        {FINDING_MISSING, VERDICT_UNKNOWN, 0, "nominal", "u---", false, false},
        {FINDING_PAIR, VERDICT_FAIL, 0, "nominal", "----", true, false},
        {FINDING_UPLINK, VERDICT_FAIL, -1, "nominal", "----", true, false},
        {FINDING_LEAF, VERDICT_FAIL, -1, "nominal", "--uu", true, false},
        {FINDING_LEAF, VERDICT_WARN, -1, "nominal", "----", false, false},
        {FINDING_FABRIC, VERDICT_FAIL, -1, "nominal", "uuuu", true, false},
        {FINDING_FABRIC, VERDICT_WARN, -1, "nominal", "----", false, false},
        {FINDING_MISPLACED, VERDICT_WARN, 0, "nominal", "----", false, false},
        {FINDING_MISPLACED, VERDICT_WARN, 0, "nominal", "---u", false, true},
    };
    static struct certify made_certify;
    static struct node_run runs[MANY];
    static struct cluster_node leafless_node = {.leaf = -1};
    static char rail[] = "eth1";
    char *rails[] = {rail};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct finding finding = {.kind = cases[i].kind,
                                  .verdict = cases[i].verdict,
                                  .node = cases[i].node,
                                  .peer = cases[i].kind == FINDING_PAIR ? 1 : -1,
                                  .leaf = 1,
                                  .metric = "bandwidth",
                                  .value = 150,
                                  .limit = 160,
                                  .reference = 198,
                                  .limit_source = cases[i].limit_source,
                                  .part = "eth1",
                                  .message = "eth1 is slow"};
        double figures[MANY] = {198, 198, 198, cases[i].is_unmeasured ? NAN : 198};
        int leaves[MANY] = {0, 0, 1, 1};
        struct localization localization = {.links = {.node_count = MANY,
                                                      .rail_count = 1,
                                                      .nodes = names,
                                                      .rails = rails,
                                                      .leaves = leaves,
                                                      .leaf_count = 2,
                                                      .figures_mbps = figures},
                                            .findings = {&finding, 1}};
        char found[MANY + 1] = "";

        made_certify = (struct certify){.node_runs = runs, .count = MANY};
        name_index_build(names, MANY, &made_certify.by_name);
        for (int k = 0; k < MANY; k++)
            runs[k] =
                (struct node_run){.name = names[k], .slurm = &leafless_node, .rail_mbps = NAN};
        certify_link_findings(&made_certify, &localization, 0);
        for (int k = 0; k < MANY; k++) {
            enum verdict verdict = runs[k].outcome.verdict;

            found[k] = verdict == VERDICT_NONE   ? '-'
                       : runs[k].outcome.is_near ? 'F'
                                                 : *verdict_name(verdict);
            hostlist_clear(&runs[k].rails);
        }
        is_str(found, cases[i].expected, "finding %zu%s", i,
               cases[i].is_unmeasured ? ", and a node of which no link was measured" : "");
        is_int(made_certify.has_fault, cases[i].has_fault, "... of the network");
        name_index_clear(&made_certify.by_name);
        records_clear(&made_certify.records);
        hostlist_clear(&made_certify.notes);
    }
}

/* Refuses operations with accelerators, and in --idle. */
static void test_refusals(void)
{
    setup.is_idle = true;
    setup.job_at_s = INFINITY;
    check_refusals(false);
    setup = default_setup;
    setup.accelerators = GPUS;
    check_refusals(false);
    check_refusals(true);
}

static void test_reboots(void)
{
    const time_t now = time(NULL);
    const struct {
        time_t before, after;
        bool is_issued;
        const char *what;
    } boots[] = {
        {1000, now - 3600, true, "that booted before the run, as slurmctld learns late"},
        {0, now, true, "whose boot time slurmctld did not know when the run began"},
        {now, now + CERTIFY_SAME_BOOT_S, true, "whose boot time is computed anew"},
        {now, now + CERTIFY_SAME_BOOT_S + 1, false, "that boots again soon after a boot"},
    };

    check_reboot("n1");
    check_reboot("n4");
    for (size_t i = 0; i < sizeof boots / sizeof *boots; i++) {
        setup.rebooted = "n1";
        setup.boots[0] = boots[i].before;
        setup.boots[1] = boots[i].after;
        run();
        is_int(slurm.nodes[0].is_issued, boots[i].is_issued, "a node %s", boots[i].what);
    }
}

/* In a later stage that is no reason to end the stage. */
static void ignores_names_the_head_cannot_resolve(void)
{
    setup.cut_off = "n2";
    setup.cut_off_as = REACH_NO_ADDRESS;
    setup.is_cut_off_late = true;
    setup.missed_s = INFINITY;
    setup.lasting_s = 10;
    run();
    ok(slurm.nodes[1].is_issued, "a node whose name the head can no longer resolve is certified");
}

/* With one node it is the node's fault. Several nodes may have a new key that the head lacks. */
static void fails_no_nodes_whose_key_changes(void)
{
    for (setup.without_munge = 1; setup.without_munge <= 2; setup.without_munge++) {
        bool is_one = setup.without_munge == 1;

        run();
        is_int(slurm.nodes[0].is_drained, is_one, "%s that does not accept the head's key",
               is_one ? "a node" : "one of two nodes");
        ok(!slurm.nodes[0].is_issued && slurm.nodes[5].is_issued,
           "... is not certified, others are");
        is_int(outcome_of("n1")->verdict, is_one ? VERDICT_FAIL : VERDICT_UNKNOWN, "... it %s",
               is_one ? "failed" : "is unknown");
        ok(!outcome_worst(outcome_of("n1"))->is_common, "... not as a common fault");
    }
}

/* Only the node whose check does not complete is queried, but all would refuse the head's new key.
 */
static void fails_no_node_when_the_head_gets_another_key(void)
{
    setup.incomplete_check = "n2";
    setup.without_munge = NODES;
    setup.is_cut_off_late = true;
    run();
    is_int(outcome_of("n2")->verdict, VERDICT_UNKNOWN,
           "a node that is queried alone and refuses the head's key is unknown");
    ok(!slurm.nodes[1].is_drained && slurm.nodes[1].has_certificate,
       "... not drained, and keeps its certificate");
}

/* The other node accepts no credential of the head either: it does not answer at all. */
static void fails_no_node_when_none_accepts_the_key(void)
{
    setup.nodes_option = "n[1-2]";
    setup.without_munge = 1;
    setup.cut_off = "n2";
    run();
    is_int(outcome_of("n1")->verdict, VERDICT_UNKNOWN,
           "a node that refuses the head's key, and no other answers: it is unknown");
    ok(!slurm.nodes[0].is_drained, "... and not drained");
}

static void test_cut_off_nodes(void)
{
    check_cut_off(false, 0, VERDICT_FAIL);
    check_cut_off(false, INFINITY, VERDICT_UNKNOWN);
    check_cut_off(true, INFINITY, VERDICT_UNKNOWN);
    check_cut_off(true, 0, VERDICT_FAIL);
}

static void test_certificates_after_failures(void)
{
    for (int i = 0; i < 4; i++)
        check_after_failure(i / 2 == 1, i % 2 == 0 ? -10 : 10, i % 2 == 1);
}

static void test_process_deaths(void)
{
    check_process_death("n2", 1, false);
    check_process_death("n2", 9, true);
    setup.dying_in = "muster-launch";
    check_process_death("n2", 1, false);
    check_process_death("n2", 9, true);
    setup.partner_deaths = 1;
    check_process_death("n2", 9, true);
    ok(!strstr(slurm.nodes[1].reason, "alone with n1"),
       "... a try with a partner that died, too, does not count: %s", slurm.nodes[1].reason);
    setup.death = FAULT_NODE_FROZEN;
    check_process_death("n2", 9, false);
    has_str(outcome_worst(outcome_of("n2"))->message,
            "recurred, but its slurmd answers: the process was stopped or not scheduled",
            "... its process may not have been scheduled");
}

/* With thousands of nodes a program may die on several, each at another time. */
static void tries_as_often_as_another_dies(void)
{
    setup.dying_each = 3;
    run();
    is_int(outcome_of("n1")->stages[STAGE_LAUNCH], VERDICT_PASS,
           "a node passes a stage though another one's process dies in each of three tries");
    is_int(outcome_of("n6")->verdict, VERDICT_UNKNOWN, "... those nodes are unknown");
}

static void (*const tests[])(void) = {
    test_estimates,
    reports_hold_a_rail_to_the_speed_of_its_slower_nodes,
    applies_link_findings,
    test_one_run,
    test_slow_rails,
    reports_lossy_rails_as_lossy_only,
    test_failed_rail,
    test_unreadable_golden_file,
    test_live_file,
    test_dry_run,
    test_no_accelerators,
    test_good_accelerators,
    test_explicit_accelerators,
    test_slow_accelerators,
    compares_accelerators_with_their_history,
    test_containers,
    test_missing_libraries,
    test_hosts,
    ignores_foreign_records,
    test_reboots,
    test_failed_certificates,
    waits_for_a_controller_that_is_started_again,
    tests_a_node_that_answers_again,
    fails_no_node_where_a_step_did_not_end,
    counts_what_recurs_as_tries,
    requests_no_longer_job_than_the_partition_allows,
    adds_complete_wait,
    jobs_last_as_long_as_their_steps,
    waits_for_no_node_of_a_busy_cluster_that_completes_later,
    ends_a_campaign,
    tests_the_other_partitions_of_one_that_refuses,
    continues_without_a_deleted_partition,
    requests_no_more_nodes_than_the_partition_allows,
    names_nodes_that_are_never_tested,
    keeps_a_run_of_a_campaign_while_the_history_is_busy,
    campaign_partners_are_of_the_partition_of_their_group,
    needs_nodes_that_no_record_names,
    notes_nodes_left_alone_in_one_line,
    test_cut_off_nodes,
    ignores_names_the_head_cannot_resolve,
    fails_no_nodes_whose_key_changes,
    fails_no_node_when_the_head_gets_another_key,
    fails_no_node_when_none_accepts_the_key,
    is_cut_off_in_the_stage_that_noticed,
    fails_no_node_that_slurm_reboots,
    removes_the_certificate_where_another_node_hangs,
    cuts_names_of_a_note,
    waits_for_epilogs_that_are_slow,
    revokes_certificates_of_nodes_that_are_down,
    keeps_certificate_of_higher_level,
    renews_what_is_due,
    counts_runs_that_wait_for_the_history,
    all_are_due_where_the_history_is_damaged,
    is_due_against_the_history,
    test_certificates_after_failures,
    keeps_what_others_write,
    rewrites_what_a_health_check_removes,
    keeps_certificates_of_nodes_drained_by_slurm,
    notes_no_drain_by_slurm_as_a_failed_test,
    keeps_certificate_on_a_full_file_system,
    test_full_disk,
    requests_no_job_with_a_node_that_is_drained,
    leaves_out_nodes_that_do_not_respond_to_slurmctld,
    retries_jobs_as_often_as_a_node_leaves,
    preempts_no_job_that_began_before_the_reservation,
    leaves_a_node_where_a_reservation_begins_before_the_end,
    leaves_a_node_that_is_taken_out_of_the_reservation,
    test_missing_program,
    reads_whether_a_level_is_given,
    test_process_deaths,
    tries_as_often_as_another_dies,
    dies_after_the_results,
    retests_with_a_node_that_has_as_many_gpus,
    test_peer_addresses,
    compares_nodes_with_each_other,
    doubts_nodes_whose_link_is_lost,
    compares_rails_with_their_history,
    compares_rails_with_the_reference,
    certifies_nothing_that_was_not_measured,
    releases_nodes_drained_by_their_gate,
    leaves_nodes_of_other_runs,
    test_incomplete_check,
    names_nodes_whose_cables_are_not_checked,
    reads_leaves_from_cables,
    test_idle_run,
    fails_none_when_stopped,
    tests_nothing_while_another_run_chooses,
    stops_without_harm,
    reports_nothing_left_after_a_dry_run,
    finds_no_suspects_without_reports,
    reads_suspect_reports_of_the_other_nodes,
    ignores_other_warnings_as_suspect_reports,
    reads_suspect_reports_where_a_partition_is_up,
    partners_are_of_the_tested_nodes_partition,
    test_idle_interruptions,
    test_refusals,
};

int main(void)
{
    char command[64];

    test_pid = getpid();
    if (!mkdtemp(directory))
        tap_skip_all("no directory: %m");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        setup = default_setup;
        tests[i]();
    }
    certify_clear(&certify);
    campaign_clear(&last_campaign);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 ? tap_done() : 1;
}
