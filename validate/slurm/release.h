/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RELEASE_H
#define MUSTER_RELEASE_H

/* One interface to libslurm, whose releases differ: seen to build and to work with 22.05, 24.11 and
 * 26.05. configure tries how each call is made (m4/muster_slurm_calls.m4); version numbers are
 * compared only where slurm.h looks the same. As with libslurm itself, errno says why a call
 * failed.
 *
 * From 25.11 on jobs are named by a struct; with this macro slurm.h takes their numbers as well. */
#define SLURM_BACKWARD_COMPAT
#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/error.h"

/* Sets err to what failed and to libslurm's reason; leaves errno as it is. Returns -1. */
static inline int release_failed(struct error *err, const char *what)
{
    int reason = errno;

    error_set(err, "%s: %s%s", what, slurm_strerror(reason),
              reason == SLURM_PROTOCOL_AUTHENTICATION_ERROR
                  ? "; next: see that munged, or sackd with AuthType=auth/slurm, runs on this host"
                  : "");
    errno = reason;
    return -1;
}

/* A text of a request, which libslurm only reads. */
static inline char *release_text(const char *text)
{
    return (char *)(uintptr_t)text;
}

uint32_t release_job_id(const slurm_job_info_t *job);
uint32_t release_granted_id(const resource_allocation_response_msg_t *granted);
uint32_t release_submitted_id(const submit_response_msg_t *submitted);

/* Returns 0, or -1 with err. found is released with libslurm's own function. */
int release_steps_load(uint32_t job_id, job_step_info_response_msg_t **found, struct error *err);
/* Returns whether the step is of the job: for the number of an array, the steps of all its tasks
 * are loaded. */
static inline bool release_step_is_of(const job_step_info_t *step, uint32_t job_id)
{
    return step->array_job_id == 0 || step->step_id.job_id == job_id;
}
int release_step_kill(uint32_t job_id, uint32_t step_id, uint16_t signal);
void release_conf_free(slurm_conf_t *conf);
/* Frees the name that slurm_create_reservation() returned: to be freed by free() up to 24.11, by
 * xfree() in 26.05, which slurm.h lacks. From 25.05 on the few bytes are left. */
void release_reservation_name_free(char *name);

/* Returns whether powered-down cloud nodes are hidden: old releases hide them without
 * PrivateData=cloud; new releases lack that option. */
bool release_hides_cloud(const slurm_conf_t *conf);

/* With topology/block, lets a job without named nodes use any nodes, in segments of one node (24.05
 * and later). Returns whether this release supports it. */
bool release_job_spread(job_desc_msg_t *job);

/* Sets who requests the update; 26.05 finds that out itself. */
void release_node_uid(update_node_msg_t *update, uid_t uid);

/* A node's Extra, a text of the site's, exists since 23.02. release_node_extra() returns a pointer
 * into node; NULL if there is none or this release has no such field. */
bool release_has_extra(void);
const char *release_node_extra(const node_info_t *node);
/* extra stays the caller's and must live as long as update. */
void release_node_set_extra(update_node_msg_t *update, char *extra);

/* Appends the environment of an MPI step to entries: workarounds for mpi/pmix of this release and,
 * unless interface is NULL, settings that keep control traffic on it ("": on TCP). text: storage
 * for the entries with the interface. Returns how many were added, at most 6. */
size_t release_mpi_environment(const char *interface, char text[2][128], const char **entries);
/* Returns whether a daemon of that version ("24.05.3" or NULL) is older than libslurm. It then
 * understands no request of libslurm, which always uses its own protocol version. */
bool release_is_older(const char *version);
/* Returns whether the slurmstepd of this release refuses connections of mpi/pmix at times: before
 * 23.02. */
bool release_pmix_refuses(void);

#endif
