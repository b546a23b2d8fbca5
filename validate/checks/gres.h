/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GRES_H
#define MUSTER_GRES_H

#include "lib/slurm/gresconf.h"
#include "validate/checks/checks.h"

/* What slurm.conf and gres.conf configure for one node. */
struct gres_conf {
    char directory[256];
    struct slurm_lines slurm, gres; /* gres is empty if there is no gres.conf */
    struct slurm_node node;
    char auto_detect[32]; /* "nvml", "rsmi", ...; "" if unset or "off" */
};

/* Returns 0; 1 if this machine has no Slurm configuration (err says where it was searched); or -1
 * with err. Release conf with gres_conf_clear() in every case. */
int gres_conf_read(const struct checks *checks, struct gres_conf *conf, struct error *err);
void gres_conf_clear(struct gres_conf *conf);

/* Whether some GPUs of slurm.conf are partitions: by the names of their types, or since GPUs of the
 * node are partitioned. Then the count of slurm.conf is not the number of GPUs. */
bool gres_has_partitions(const struct checks *checks, const struct gres_conf *conf);

/* Returns the number of GPUs of the node in slurm.conf; -1 if it does not configure the node.
 * Unless -1, sets *has_partitions as gres_has_partitions() (NULL: not wanted). */
long gres_gpu_count(const struct checks *checks, bool *has_partitions);

#endif
