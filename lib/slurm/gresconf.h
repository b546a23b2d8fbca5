/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GRESCONF_H
#define MUSTER_GRESCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/slurm/slurmconf.h"

/* What gres.conf(5) gives one node. */

/* One device of a line Name=KIND File=... */
struct gres_device {
    char kind[32];    /* "gpu", "nic" */
    char path[256];   /* "/dev/gpu5" */
    const char *file; /* of gres.conf's line; points into the lines */
    int number;
    bool is_multiple; /* of a MultipleFiles= value: one device of several files */
};

struct gres_devices {
    struct gres_device *devices;
    size_t count;
    long counted;  /* GPUs that have a Count= and no file, or several files */
    bool is_named; /* a gpu line is there for this node */
};

/* All devices of the node. Returns 0, or -1 with err "FILE:LINE: ...". To be released with
 * gres_devices_clear() in every case. */
int gres_devices_list(const struct slurm_lines *gres, const char *node,
                      struct gres_devices *devices, struct error *err);
void gres_devices_clear(struct gres_devices *devices);

/* AutoDetect= of the node, "nvml", "rsmi", ...; "" for none and for "off". A line of the node's
 * goes before one of all nodes, wherever they stand. */
void gres_auto_detect(const struct slurm_lines *gres, const char *node, char *value, size_t size);

/* Whether a job of whole nodes gets what is of that kind only if it asks for it (from 24.05 on):
 * Flags=explicit on a line of it, for that node, as slurmctld goes by what the node's slurmd read
 * (gres_stepmgr.c); NULL: for any, as gres.conf(5) has the flag for all. */
bool gres_is_explicit(const struct slurm_lines *gres, const char *kind, const char *node);

#endif
