/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_LAYOUT_H
#define MUSTER_RUN_LAYOUT_H

#include "lib/base/hostlist.h"
#include "validate/slurm/step/process.h"

/* Restricts a command that starts Slurm steps to some nodes of its allocation. */

/* Chooses up to `wanted` of the nodes, none of the excluded: those of `keep` before the others,
 * each in their order. chosen: in the order of nodes; the caller clears it. Returns 0, or -1 if
 * memory is out. */
int layout_choose(const struct hostlist *nodes, const struct hostlist *keep,
                  const struct hostlist *excluded, size_t wanted, struct hostlist *chosen);

/* Adds the variables that srun and other launchers read of an allocation, for the chosen of all its
 * nodes, as "NAME=VALUE" from our own environment: numbers of nodes, tasks and GPUs, lists of nodes
 * and values in the order of the nodes, "2(x3),1". Tasks and GPUs are the chosen nodes' share of
 * what was requested, so they are the same whichever nodes are chosen. Variables that are not set
 * are not added; none is added if all nodes are chosen. Returns 0, or -1 with err. */
int layout_environment(const struct hostlist *all, const struct hostlist *chosen,
                       struct arguments *variables, struct error *err);

/* Adds the command; if it is srun, with --exclude=LIST of the job's nodes that are not chosen, as
 * srun has no variable for it. Returns 0, or -1 with err. */
int layout_command(char *const *command, const struct hostlist *nodes,
                   const struct hostlist *chosen, struct arguments *arguments, struct error *err);

#endif
