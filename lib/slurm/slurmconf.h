/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SLURMCONF_H
#define MUSTER_SLURMCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/* Reads Slurm's configuration files, as far as checks need them. The rules are those of
 * slurm.conf(5) and gres.conf(5). Does not use libslurm or slurmctld. */

/* One line, without comments, with continued lines joined and Include resolved, also one
 * with "%c". */
struct slurm_line {
    const char *file; /* the path, without the root */
    int number;       /* of its first line in the file */
    char *text;
};

struct slurm_lines {
    struct slurm_line *lines;
    size_t count;
    char *files[32]; /* the paths that the lines point to; the first is the requested file */
    size_t file_count;
};

/* Finds the directory whose slurm.conf libslurm and Slurm's commands read here, and slurmctld on
 * its host: the directory of $SLURM_CONF if root is this machine; else the first with a slurm.conf
 * of Slurm's own (configure's --with-slurm-sysconfdir), /run/slurm/conf (of a configless slurmd or
 * sackd), /etc/slurm, /etc/slurm-llnl, /usr/local/etc, /opt/slurm/etc. Returns 0, or -1 with
 * err. */
int slurm_client_directory(const char *root, char *directory, size_t size, struct error *err);

/* Finds the directory that this machine's slurmd reads: /run/slurm/conf while a slurmd runs with
 * --conf-server, unless $SLURM_CONF names another; else as slurm_client_directory(). */
int slurm_directory(const char *root, char *directory, size_t size, struct error *err);

/* Reads root/directory/file; slurm.conf under the name that $SLURM_CONF gives it. Returns 0, 1 with
 * err if there is no such file, or -1 with err. Release lines with slurm_lines_clear() in any
 * case. */
int slurm_lines_read(const char *root, const char *directory, const char *file,
                     struct slurm_lines *lines, struct error *err);
/* Reads a file of that form at any path of this machine; of a link, Include is relative to the
 * link's directory, as for slurmctld. Returns 0, or -1 with err. */
int slurm_file_read(const char *path, struct slurm_lines *lines, struct error *err);
void slurm_lines_clear(struct slurm_lines *lines);

/* Copies the value of Key=Value on the line, with the key in any case, without quotes, cut at size.
 * Returns false with "" if the line does not have it. */
bool slurm_line_value(const struct slurm_line *line, const char *key, char *value, size_t size);

/* Returns the whole value, malloc'd, for lists of nodes, which may be long; NULL if the line does
 * not have it or memory is out. */
char *slurm_line_text(const struct slurm_line *line, const char *key);

/* Returns whether the value is the name, or a list in Slurm's notation that contains it. */
bool slurm_line_names(const struct slurm_line *line, const char *key, const char *name);

/* Copies the value of the last line that begins with Key=Value. Returns false with "" if there is
 * none. */
bool slurm_lines_value(const struct slurm_lines *lines, const char *key, char *value, size_t size);

/* A node's entry in slurm.conf. */
struct slurm_node {
    bool is_found;    /* a NodeName line names the node */
    const char *file; /* the file and number of this line; file points into the lines */
    int number;
    char gres[1024]; /* "gpu:h100:8,nic:2", or "" */
};

/* Looks the node up, with the DEFAULT lines before its line. */
void slurm_node_find(const struct slurm_lines *lines, const char *name, struct slurm_node *node);

/* Finds the NodeName of the machine with this host name, short or fully qualified, as slurmd does:
 * the node whose NodeHostname (by default its NodeName) is the short host name, else the one whose
 * NodeHostname is the whole host name. If there is neither, slurmd asks the resolver for other
 * names; this function takes the node whose NodeHostname has the short host name as its label. Cut
 * at size. Returns false with "" if there is none, or if a host has several. */
bool slurm_node_of_host(const struct slurm_lines *lines, const char *host, char *name, size_t size);

/* Returns the number of devices of a kind in a Gres= value: 8 for "gpu" in
 * "gpu:a100:6,gpu:2,nic:1"; 0 if there are none. */
long slurm_gres_count(const char *gres, const char *kind);

/* Returns whether the name of a GPU's type in a Gres= value is of a MIG instance, "gpu:1g.10gb:7":
 * then its numbers count instances, and a GPU has several. */
bool slurm_gres_has_mig(const char *gres);

#endif
