/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/allocation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fake_clock.h"
#include "tests/unit/tap.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/memory.h"
#include "validate/slurm/release.h"
#include "validate/slurm/show.h"

/* Tests what a job asks for, and the messages about a job that Slurm refuses or does not start.
 * The clock advances by sleeps only. */

static int refusal_errno;             /* errno of slurmctld; 0: it accepts the job */
static uint32_t state_reason;         /* why the job is pending */
static const char *shown_reason = ""; /* the same as scontrol prints it */
static uint64_t wanted_memory;
static char wanted_nodes[64]; /* "n1 without none" */
static char wanted_gpus[32];
static bool can_spread; /* whether this release supports segments */

bool __wrap_release_job_spread(job_desc_msg_t *job)
{
    return can_spread;
}

int __wrap_usleep(useconds_t microseconds)
{
    now_s += microseconds / 1e6 + 1e-6;
    return 0;
}

int __wrap_slurm_allocate_resources(job_desc_msg_t *wanted,
                                    resource_allocation_response_msg_t **granted)
{
    static resource_allocation_response_msg_t message;

    wanted_memory = wanted->pn_min_memory;
    snprintf(wanted_nodes, sizeof wanted_nodes, "%s without %s",
             wanted->req_nodes ? wanted->req_nodes : "any",
             wanted->exc_nodes ? wanted->exc_nodes : "none");
    snprintf(wanted_gpus, sizeof wanted_gpus, "%s",
             wanted->tres_per_node ? wanted->tres_per_node : "none");
    *granted = &message;
    errno = refusal_errno;
    return refusal_errno == 0 ? SLURM_SUCCESS : SLURM_ERROR;
}

void __wrap_slurm_free_resource_allocation_response_msg(resource_allocation_response_msg_t *msg)
{
}

int __wrap_slurm_job_node_ready(uint32_t id)
{
    return READY_NODE_STATE;
}

int __wrap_slurm_load_job(job_info_msg_t **found, uint32_t id, uint16_t flags)
{
    static slurm_job_info_t job;
    static job_info_msg_t message = {.record_count = 1, .job_array = &job};

    job = (slurm_job_info_t){.job_state = JOB_PENDING, .state_reason = state_reason};
    *found = &message;
    return SLURM_SUCCESS;
}

void __wrap_slurm_free_job_info_msg(job_info_msg_t *message)
{
}

int __wrap_cluster_show_job(uint32_t id, char **text, struct error *err)
{
    *text = NULL;
    return asprintf(text, "JobId=0 JobState=PENDING Reason=%s Dependency=(null)\n", shown_reason) <
           0;
}

/* Returns the result of allocation_get(), with its message in err. */
static int get_allocation(uint64_t memory, struct error *err)
{
    struct hostlist nodes = {0};
    uint32_t id;
    int rv;

    err->text[0] = '\0';
    hostlist_append(&nodes, "n1");
    rv = allocation_get(
        &(struct allocation_request){
            .job_name = "x", .nodes = &nodes, .memory = memory, .minutes = 1, .deadline_s = 20},
        &id, err);
    hostlist_clear(&nodes);
    return rv;
}

static void check_refused_soon(uint32_t reason, const char *expected, const char *what)
{
    double begin = now_s;
    struct error err;

    state_reason = reason;
    is_int(get_allocation(0, &err), -1, "a job that waits forever is refused: %s", what);
    ok(now_s - begin < 10, "... before the deadline: after %.1f s", now_s - begin);
    ok(strstr(err.text, expected), "... the message says what to do: %s", err.text);
}

static void names_the_reason(void)
{
    struct error err;

    check_refused_soon(WAIT_QOS_MAX_GRES_PER_JOB, "a limit of its account or QOS",
                       "the GPUs of whole nodes exceed the limit of its QOS");
    check_refused_soon(WAIT_ASSOC_MAX_MEM_PER_NODE, "a limit of its account or QOS",
                       "its memory exceeds the limit of its account");
    check_refused_soon(WAIT_PN_MEM_LIMIT, "MaxMemPerNode or MaxMemPerCPU",
                       "its memory exceeds the limit of all jobs");
    state_reason = WAIT_QOS_MAX_GRES_PER_USER;
    shown_reason = "QOSMaxGRESPerUser";
    is_int(get_allocation(0, &err), 1, "a job that may still start is waited for");
    is_str(err.text,
           "no allocation of 1 nodes within 20 s: the controller did not start the job "
           "(QOSMaxGRESPerUser)",
           "... the message has Slurm's reason");
    refusal_errno = SLURM_ERROR;
    is_int(get_allocation(0, &err), -1, "a job that a plugin refuses is an error");
    ok(strstr(err.text, "a job_submit plugin may have refused it"),
       "... the message says where to look: %s", err.text);
    refusal_errno = 0;
}

static void requests_memory(void)
{
    char names[2][4] = {"n1", "n2"}, list[] = "n[1-2]";
    struct cluster_node nodes[2] = {{.name = names[0], .cpus = 64, .memory_mb = 512000},
                                    {.name = names[1], .cpus = 128, .memory_mb = 2000000}};
    struct cluster_node *by_name[2] = {&nodes[0], &nodes[1]};
    struct cluster cluster = {.nodes = nodes, .node_count = 2, .by_name = by_name};
    static const struct {
        const char *name;
        uint64_t limit, wanted;
        bool is_second; /* the job has the second node only */
    } rows[] = {
        {"without a limit a job asks for all memory", 0, 0, false},
        {"... also with a limit per CPU", MEM_PER_CPU, 0, false},
        {"... and if the limit allows all", 2000000, 0, false},
        {"with a limit that a node exceeds it asks for what each node has", 1000000, 512000, false},
        {"... of the job's own nodes", 1000000, 1000000, true},
        {"... within the limit", 400000, 400000, false},
        {"with a limit per CPU that allows all it asks for all", 16000 | MEM_PER_CPU, 0, false},
        {"... else for what each CPU has", 10000 | MEM_PER_CPU, 8000 | MEM_PER_CPU, false},
        {"... of the job's own nodes", 10000 | MEM_PER_CPU, 10000 | MEM_PER_CPU, true},
        {"... within the limit", 4000 | MEM_PER_CPU, 4000 | MEM_PER_CPU, false},
    };
    struct cluster_partition partition = {.name = NULL};
    struct hostlist second = {0};
    struct error err;

    hostlist_expand(list, &partition.nodes, &err);
    hostlist_append(&second, "n2");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        partition.max_memory = rows[i].limit;
        ok(memory_of_job(&cluster, &partition, rows[i].is_second ? &second : &partition.nodes) ==
               rows[i].wanted,
           "%s", rows[i].name);
    }
    hostlist_clear(&partition.nodes);
    is_int(memory_of_job(&cluster, &partition, &partition.nodes), 0, "a partition without nodes");
    (void)get_allocation(4000 | MEM_PER_CPU, &err);
    ok(wanted_memory == (4000 | MEM_PER_CPU), "the job asks for the given memory");
    hostlist_clear(&second);
}

static void check_requested_nodes(const char *reserved, const char *expected, const char *what)
{
    struct hostlist nodes = {0}, among = {0};
    struct error err = {""};
    uint32_t id;

    hostlist_append(&nodes, "n1");
    hostlist_append(&nodes, "n3");
    if (reserved)
        hostlist_expand(reserved, &among, &err);
    refusal_errno = ESLURM_INVALID_QOS;
    (void)allocation_get(&(struct allocation_request){.job_name = "x",
                                                      .nodes = &nodes,
                                                      .reservation = "r",
                                                      .reservation_nodes = reserved ? &among : NULL,
                                                      .minutes = 1,
                                                      .deadline_s = 20},
                         &id, &err);
    refusal_errno = 0;
    is_str(wanted_nodes, expected, "%s", what);
    hostlist_clear(&nodes);
    hostlist_clear(&among);
}

/* A job that names its nodes may not use more blocks than their number would fill. */
static void spreads_over_blocks(void)
{
    check_requested_nodes(NULL, "n[1,3] without none", "a job requires its nodes");
    check_requested_nodes("n[1-3]", "n[1,3] without none",
                          "... also if Slurm does not support segments");
    can_spread = true;
    check_requested_nodes("n[1-3]", "any without n2",
                          "with segments it excludes the other nodes of its reservation");
    check_requested_nodes("n1,n3", "any without none", "... of which there may be none");
}

static void requests_gpus(void)
{
    struct hostlist nodes = {0};
    struct error err;
    uint32_t id;

    hostlist_append(&nodes, "n1");
    (void)get_allocation(0, &err);
    is_str(wanted_gpus, "none", "a job with whole nodes gets their GPUs without a request");
    (void)allocation_get(
        &(struct allocation_request){
            .job_name = "x", .nodes = &nodes, .gpus = 8, .minutes = 1, .deadline_s = 1},
        &id, &err);
    is_str(wanted_gpus, "gres/gpu:8", "... or requests a number on each node");
    hostlist_clear(&nodes);
}

int main(void)
{
    spreads_over_blocks();
    names_the_reason();
    requests_memory();
    requests_gpus();
    return tap_done();
}
