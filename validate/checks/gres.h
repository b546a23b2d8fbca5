/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GRES_H
#define MUSTER_GRES_H

#include "lib/slurm/gresconf.h"
#include "validate/checks/checks.h"

/* What slurm.conf and gres.conf give one node. */
struct gres_conf {
    char directory[256];
    struct slurm_lines slurm, gres; /* gres is empty when there is no gres.conf */
    struct slurm_node node;
    char auto_detect[32]; /* "nvml", "rsmi", ...; "" and "off" are both "" */
};

/* Returns 0; 1 when this machine has no Slurm configuration (err says where it was looked for);
 * -1 with err. To be released with gres_conf_clear() in every case. */
int gres_conf_read(const struct checks *checks, struct gres_conf *conf, struct error *err);
void gres_conf_clear(struct gres_conf *conf);

/* Whether the GPUs that slurm.conf gives the node, or some, are parts of GPUs: by the names of
 * their types, or since GPUs of the node are partitioned. Their number is not that of GPUs then. */
bool gres_has_partitions(const struct checks *checks, const struct gres_conf *conf);

/* How many GPUs slurm.conf gives the node; -1 when there is no configuration to tell.
 * has_partitions: the same of them; NULL: not wanted. */
long gres_gpu_count(const struct checks *checks, bool *has_partitions);

#endif
