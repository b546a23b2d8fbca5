/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GRESCONF_H
#define MUSTER_GRESCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/slurm/slurmconf.h"

/* Reads the devices of one node from gres.conf(5). */

/* One device of a line Name=KIND File=... */
struct gres_device {
    char kind[32];    /* "gpu", "nic" */
    char path[256];   /* "/dev/gpu5" */
    const char *file; /* the file and number of gres.conf's line; file points into the lines */
    int number;
    bool is_multiple; /* a file of MultipleFiles=, where one device has several files */
};

struct gres_devices {
    struct gres_device *devices;
    size_t count;
    long counted;  /* number of GPUs without a file (by Count=), or with several files */
    bool is_named; /* there is a gpu line for this node */
};

/* Lists all devices of the node. Returns 0, or -1 with err "FILE:LINE: ...". Release devices with
 * gres_devices_clear() in either case. */
int gres_devices_list(const struct slurm_lines *gres, const char *node,
                      struct gres_devices *devices, struct error *err);
void gres_devices_clear(struct gres_devices *devices);

/* Copies the node's AutoDetect=, "nvml", "rsmi", ...; "" for none and for "off". A line for the
 * node overrides a line for all nodes, in whatever order they are. */
void gres_auto_detect(const struct slurm_lines *gres, const char *node, char *value, size_t size);

/* Returns whether a job with whole nodes gets devices of this kind only if it requests them
 * (Flags=explicit, since 24.05). Only lines for node count, as slurmctld uses the lines that the
 * node's slurmd read (gres_stepmgr.c); node NULL: all lines, as gres.conf(5) has the flag for
 * all. */
bool gres_is_explicit(const struct slurm_lines *gres, const char *kind, const char *node);

#endif
