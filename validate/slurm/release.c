/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/release.h"

#include <stdlib.h>

bool release_is_older(const char *version)
{
    unsigned major, minor;

    return version && sscanf(version, "%u.%u", &major, &minor) == 2 &&
           SLURM_VERSION_NUM(major, minor, 0) <
               SLURM_VERSION_NUM((unsigned)SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                                 (unsigned)SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER), 0);
}

uint32_t release_job_id(const slurm_job_info_t *job)
{
#ifdef HAVE_SLURM_JOB_INFO_T_JOB_ID
    return job->job_id;
#else
    return job->step_id.job_id;
#endif
}

uint32_t release_granted_id(const resource_allocation_response_msg_t *granted)
{
#ifdef HAVE_RESOURCE_ALLOCATION_RESPONSE_MSG_T_JOB_ID
    return granted->job_id;
#else
    return granted->step_id.job_id;
#endif
}

uint32_t release_submitted_id(const submit_response_msg_t *submitted)
{
#ifdef HAVE_SUBMIT_RESPONSE_MSG_T_JOB_ID
    return submitted->job_id;
#else
    return submitted->step_id.job_id;
#endif
}

#ifdef SLURM_STEPS_BY_STRUCT
static slurm_step_id_t step_of(uint32_t job_id, uint32_t step_id)
{
    slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;

    id.job_id = job_id;
    id.step_id = step_id;
    return id;
}
#endif

int release_steps_load(uint32_t job_id, job_step_info_response_msg_t **found, struct error *err)
{
#ifdef SLURM_STEPS_BY_STRUCT
    slurm_step_id_t id = step_of(job_id, NO_VAL);
    int rv = slurm_get_job_steps(&id, found, SHOW_ALL);
#else
    int rv = slurm_get_job_steps(0, job_id, NO_VAL, found, SHOW_ALL);
#endif

    return rv == SLURM_SUCCESS
               ? 0
               : error_set(err, "cannot query the controller for the steps of job %u: %s", job_id,
                           slurm_strerror(errno));
}

int release_step_kill(uint32_t job_id, uint32_t step_id, uint16_t signal)
{
#ifdef SLURM_STEPS_BY_STRUCT
    slurm_step_id_t id = step_of(job_id, step_id);

    return slurm_kill_job_step(&id, signal, 0);
#elif defined SLURM_STEP_KILL_HAS_FLAGS
    return slurm_kill_job_step(job_id, step_id, signal, 0);
#else
    return slurm_kill_job_step(job_id, step_id, signal);
#endif
}

void release_reservation_name_free(char *name)
{
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 5, 0)
    free(name);
#else
    (void)name;
#endif
}

void release_conf_free(slurm_conf_t *conf)
{
#if HAVE_DECL_SLURM_FREE_CONF
    slurm_free_conf(conf);
#else
    slurm_free_ctl_conf(conf);
#endif
}

bool release_hides_cloud(const slurm_conf_t *conf)
{
#ifdef PRIVATE_CLOUD_NODES
    return conf->suspend_program && !(conf->private_data & PRIVATE_CLOUD_NODES);
#else
    (void)conf;
    return false;
#endif
}

bool release_job_spread(job_desc_msg_t *job)
{
#ifdef HAVE_JOB_DESC_MSG_T_SEGMENT_SIZE
    job->segment_size = 1;
    return true;
#else
    (void)job;
    return false;
#endif
}

void release_node_uid(update_node_msg_t *update, uid_t uid)
{
#ifdef HAVE_UPDATE_NODE_MSG_T_REASON_UID
    update->reason_uid = uid;
#else
    (void)update;
    (void)uid;
#endif
}

bool release_has_extra(void)
{
#if defined HAVE_NODE_INFO_T_EXTRA && defined HAVE_UPDATE_NODE_MSG_T_EXTRA
    return true;
#else
    return false;
#endif
}

const char *release_node_extra(const node_info_t *node)
{
#ifdef HAVE_NODE_INFO_T_EXTRA
    return node->extra;
#else
    (void)node;
    return NULL;
#endif
}

void release_node_set_extra(update_node_msg_t *update, char *extra)
{
#ifdef HAVE_UPDATE_NODE_MSG_T_EXTRA
    update->extra = extra;
#else
    (void)update;
    (void)extra;
#endif
}

bool release_pmix_refuses(void)
{
    return SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0);
}

static const char *const *pmix_environment(void)
{
    /* By default mpi/pmix (seen with 22.05) mixes two kinds of fences and then lets some ranks out
     * of MPI_Init while others are still in its first fence: with three nodes one launch in twenty
     * died of a message that came too early. With either kind alone none in 60 did, but one in
     * fifteen with trees on a busy machine: launcher_barrier() is for those.
     *
     * Before 23.02 slurmstepd becomes the user while it starts tasks, in all of its threads. A
     * thread that then receives a peer's connection cannot decode its credential ("Unauthorized
     * credential for client") and refuses it, and MPI_Init waits for ever: one launch in 30 on busy
     * nodes. Without direct connections slurmd passes the messages on, and it stays root. It has no
     * ring fence. */
    static const char *const by_slurmd[] = {"SLURM_PMIX_DIRECT_CONN=false", "SLURM_PMIX_FENCE=tree",
                                            NULL},
                             *const direct[] = {"SLURM_PMIX_FENCE=ring", NULL};

    return release_pmix_refuses() ? by_slurmd : direct;
}

size_t release_mpi_environment(const char *interface, char text[2][128], const char **entries)
{
    size_t count = 0;

    for (const char *const *entry = pmix_environment(); *entry; entry++)
        entries[count++] = *entry;
    if (interface) {
        entries[count++] = "OMPI_MCA_pml=ob1";
        entries[count++] = "OMPI_MCA_btl=^openib,uct,ofi,usnic";
    }
    for (int i = 0; i < 2 && interface && *interface; i++) {
        snprintf(text[i], sizeof text[i], "OMPI_MCA_%s_tcp_if_include=%s", i ? "oob" : "btl",
                 interface);
        entries[count++] = text[i];
    }
    return count;
}
