/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_UNDO_H
#define MUSTER_UNDO_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

struct batch;
struct cluster_operations;

/* Undoes a run's temporary changes in the cluster. Each change is written to a journal first. Three
 * lines of defense undo the changes in the journal:
 *   1. the run itself, at its end or after a signal,
 *   2. the keeper, a small process in its own session; it reads end of file from a pipe if the run
 *      died, for instance by SIGKILL,
 *   3. the next run, if the run and its keeper died.
 * The run and its keeper lock the journal (flock) while they are alive. The journal names their
 * host, because a lock in a shared directory may be invisible on other hosts. Only these are
 * undone:
 *   - jobs of that name and user,
 *   - a reservation that still has its original nodes,
 *   - a node in such a reservation, or with the run's mark (retest.h) or its old reason; not a node
 *     that somebody removed from the reservation.
 * Everything else was changed by somebody else since, and stays. */
struct undo {
    const struct cluster_operations *operations;
    char run[64];    /* as retest_read() returns it */
    int journal;     /* file descriptor */
    char path[4096]; /* "" if the journal is held in memory */
    char *unwritten; /* lines that did not fit on the disk, or NULL */
    int keeper_pipe; /* end of file without a byte wakes the keeper; -1: no keeper */
    pid_t keeper;
};

/* Opens directory/run, a journal of that cluster, and starts the keeper. If the directory cannot be
 * written, the journal is held in memory and err says so (the third line of defense is lost then);
 * still returns 0. -1 with err if there can be no journal or keeper at all: nothing must be changed
 * then. */
int undo_begin(const struct cluster_operations *operations, const char *directory, const char *run,
               const char *cluster, struct undo *undo, struct error *err);

/* Call each of these before the change. Returns 0, or -1 with err: then do not make the change; the
 * journal is as it was before. */
/* uid: the user of the job, if it is not that of this process. */
int undo_note_job(struct undo *undo, const char *job_name, uid_t uid, struct error *err);
/* nodes: as hostlist_fold_for_slurm() writes them. */
int undo_note_reservation(struct undo *undo, const char *name, const char *nodes,
                          struct error *err);
/* Notes that the drains of these nodes, each with its reason, are about to be lifted: all are
 * noted, or none. */
int undo_note_resumes(struct undo *undo, const struct batch *drains, struct error *err);

/* These note finished changes. Return 0; 1 with err at the first failed write, as on a full disk:
 * only this process then has the note; -1 with err if the note is lost. */
/* The node stopped answering during the job and is drained with that reason. If the canceled job
 * does not end within seconds, undo sets the node down, provided that the reason is unchanged.
 * Slurm then ends the job and frees its other nodes. Do not set it down earlier: Slurm (22.05
 * to 26.05) does not decrement no_share_job_cnt of a node that it removes from a running exclusive
 * job. Later jobs that name the node then wait, "Requested nodes are busy", until slurmctld is
 * reconfigured. */
int undo_note_down(struct undo *undo, const char *node, const char *reason, struct error *err);
/* The nodes, without a text, are now in their final state. */
int undo_note_settled(struct undo *undo, const struct batch *nodes, struct error *err);
/* The certificate of an unreachable node must be revoked (revocation.h) up to that time; it is
 * revoked now. Undo revokes it if the second note is missing. */
int undo_note_revocation(struct undo *undo, const char *node, time_t until, struct error *err);
int undo_note_revoked(struct undo *undo, const char *node, struct error *err);

/* Undoes all changes, ends the keeper and removes the journal. report (may be NULL) gets a line for
 * each change that stays because somebody else modified it. Returns 0, or -1 with err if the undo
 * is incomplete: the keeper then retries for a while. */
int undo_end(struct undo *undo, void (*report)(const char *text), struct error *err);

/* Undoes the journals of dead runs. Reports and keeps a journal of another cluster, a damaged one,
 * and one of another host for UNDO_OTHER_HOST_S: its run may be alive. If it is dead,
 * retest_clean_up() finds its changes in Slurm. changed (may be NULL) gets the reservations that
 * stay because somebody changed them. Returns how many journals were undone, or -1. */
int undo_clean_up(const struct cluster_operations *operations, const char *directory,
                  const char *cluster, void (*report)(const char *text), struct hostlist *changed,
                  struct error *err);

#endif
