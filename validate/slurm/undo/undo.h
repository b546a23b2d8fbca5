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

/* Changes of a run in the cluster that must not outlive it. Each is written to a journal before it
 * is made; then three lines of defense undo what is in there:
 *   1. the run itself, at its end or after a signal,
 *   2. the keeper, a small process in a session of its own that reads end of file from a pipe once
 *      the run has died without a byte sent, killed with SIGKILL for instance,
 *   3. the next run, which finds the journal of a run that is gone with its keeper.
 * The journal is locked (flock) by the run and its keeper as long as one of them lives, and names
 * their host: if hosts share the directory, a lock may hold on its own host only. Only what is
 * still as the run left it is undone: jobs of that name that are this user's; a reservation that
 * holds the nodes that it was made with; a node that is still in that reservation, or has its mark
 * (retest.h) or its old reason, unless the reservation is there without it. What somebody else has
 * changed since stays as it is. */
struct undo {
    const struct cluster_operations *operations;
    char run[64];    /* as retest_read() returns it */
    int journal;     /* file descriptor */
    char path[4096]; /* "" if the journal is held in memory */
    char *unwritten; /* lines for which the journal had no space any more, or NULL */
    int keeper_pipe; /* end of file without a byte wakes the keeper; -1: no keeper */
    pid_t keeper;
};

/* Opens directory/run, a journal of that cluster, and starts the keeper. If the directory cannot be
 * written, the journal is held in memory and err says so (the third line of defense is lost then);
 * still returns 0. -1 with err if there can be no journal or keeper at all: nothing must be changed
 * then. argc, argv: of main(), so that the keeper shows its own name. */
int undo_begin(const struct cluster_operations *operations, const char *directory, const char *run,
               const char *cluster, int argc, char **argv, struct undo *undo, struct error *err);

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

/* These note what has happened already. Return 0; 1 with err the first time that the journal cannot
 * be written, as on a full disk, and this process alone remembers the note; -1 with err if it could
 * not be noted at all. */
/* The node stopped answering in the middle of the job, and is drained with that reason. If the job
 * does not end within seconds after it is canceled, the node is set down, if it still has that
 * reason: then the job is over for Slurm and its other nodes are free. Never before: while an
 * exclusive job runs, Slurm (22.05 to 26.05) does not count down no_share_job_cnt of a node that is
 * taken out of it, and keeps later jobs that name the node waiting, "Requested nodes are busy",
 * until it reads its configuration again. */
int undo_note_down(struct undo *undo, const char *node, const char *reason, struct error *err);
/* The nodes, without a text, are now in their final state. */
int undo_note_settled(struct undo *undo, const struct batch *nodes, struct error *err);
/* The certificate of the node, which was not reached, is to be revoked (revocation.h) up to that
 * time; and this is done now. Without the second note, the undo revokes it. */
int undo_note_revocation(struct undo *undo, const char *node, time_t until, struct error *err);
int undo_note_revoked(struct undo *undo, const char *node, struct error *err);

/* Undoes all changes, ends the keeper and removes the journal; report (may be NULL) gets
 * a line for each thing that is left because somebody has changed it. Returns 0, or -1 with err if
 * something is still there (the keeper then goes on trying for a while). */
int undo_end(struct undo *undo, void (*report)(const char *text), struct error *err);

/* Finds the journals of runs that are gone and undoes their changes. A journal of another cluster,
 * or one that is not whole, is reported and left as it is, and so is one of another host for
 * UNDO_OTHER_HOST_S: its run may live (if not, retest_clean_up() finds what is in Slurm). changed
 * (may be NULL) gets the reservations that stay because somebody has changed them. Returns how many
 * journals were undone, or -1. */
int undo_clean_up(const struct cluster_operations *operations, const char *directory,
                  const char *cluster, void (*report)(const char *text), struct hostlist *changed,
                  struct error *err);

#endif
