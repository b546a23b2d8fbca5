/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_RUN_H
#define MUSTER_RUN_RUN_H

#include "lib/conf/conf.h"

/* `muster run`, inside a job and as its user: runs the command on all nodes of the job but the
 * spares; if it fails, finds the node at fault and leaves it out. decide.h has the rules. */

struct run_options {
    long spares, max_restarts;
    enum conf_preflight level; /* of the preflight before the first start; PREFLIGHT_OFF: none */
    const char *config_path, *json_path; /* NULL: not given */
    double budget_s;                     /* of a preflight */
    double hang_s;        /* without progress until the command is ended and restarted; 0: never */
    const char *keeper;   /* the node of the job script: run as keeper, keeper.h; NULL: not */
    char *const *command; /* ends with NULL */
};

/* Returns the exit status: the command's last one, or 128 + the signal that ended it; 126 or 127 if
 * it could not be started. Before its start: COMMAND_USAGE if it cannot be run here, COMMAND_FAIL
 * if there are too few good nodes, COMMAND_UNKNOWN if Slurm does not answer. If the job is
 * requeued, Slurm ends this process. */
int run_job(const char *name, const struct run_options *options);

#endif
