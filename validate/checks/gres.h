/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GRES_H
#define MUSTER_GRES_H

#include "validate/checks/checks.h"
#include "validate/checks/slurmconf.h"

/* What slurm.conf and gres.conf give one node. */
struct gres_conf {
    char directory[256];
    struct slurm_lines slurm, gres; /* gres is empty when there is no gres.conf */
    bool has_gres_conf;
    struct slurm_node node;
    char auto_detect[32]; /* "nvml", "rsmi", ...; "" and "off" are both "" */
};

/* Returns 0; 1 when this machine has no Slurm configuration (err says where it was looked for);
 * -1 with err. To be released with gres_conf_clear() in every case. */
int gres_conf_read(const struct checks *checks, struct gres_conf *conf, struct error *err);
void gres_conf_clear(struct gres_conf *conf);

/* One device of a line Name=KIND File=... */
struct gres_device {
    char kind[32];    /* "gpu", "nic" */
    char path[256];   /* "/dev/gpu5" */
    const char *file; /* of gres.conf's line */
    int number;
    bool is_multiple; /* of a MultipleFiles= value: one device of several files */
};

struct gres_devices {
    struct gres_device *devices;
    size_t count;
    long counted;  /* GPUs that have a Count= and no file */
    bool is_named; /* a gpu line is there for this node */
};

/* All devices of this node. Returns 0, or -1 with err "FILE:LINE: ...". devices->devices is
 * malloc'd in every case. */
int gres_devices_list(const struct gres_conf *conf, const char *node, struct gres_devices *devices,
                      struct error *err);

/* How many GPUs slurm.conf gives the node; -1 when there is no configuration to tell. */
long gres_gpu_count(const struct checks *checks);

#endif
