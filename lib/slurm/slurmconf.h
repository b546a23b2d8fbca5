/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SLURMCONF_H
#define MUSTER_SLURMCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/* Slurm's configuration files, as far as checks need them: slurm.conf(5) and gres.conf(5) are the
 * source of the rules. Files are read as they are, without libslurm and without slurmctld. */

/* One line: comments gone, continued lines joined, Include resolved. */
struct slurm_line {
    const char *file; /* as a person would open it: without the root */
    int number;       /* of its first line */
    char *text;
};

struct slurm_lines {
    struct slurm_line *lines;
    size_t count;
    char *files[32]; /* owns the names that the lines point to; the first is what was asked for */
    size_t file_count;
};

/* The directory whose slurm.conf libslurm and Slurm's commands read here, and slurmctld on its
 * host: that of $SLURM_CONF when root is this machine; where Slurm was built to look (configure's
 * --with-slurm-sysconfdir), what a configless slurmd or sackd keeps in /run/slurm/conf, /etc/slurm,
 * /etc/slurm-llnl, /usr/local/etc, /opt/slurm/etc. Returns 0, or -1 with err. */
int slurm_client_directory(const char *root, char *directory, size_t size, struct error *err);

/* The same of what this machine's slurmd has: while one runs with --conf-server /run/slurm/conf,
 * unless $SLURM_CONF names another. */
int slurm_directory(const char *root, char *directory, size_t size, struct error *err);

/* Reads root/directory/file; slurm.conf by the name that $SLURM_CONF gives it. Returns 0; 1 when
 * there is no such file; -1 with err. lines is always to be released with slurm_lines_clear(). */
int slurm_lines_read(const char *root, const char *directory, const char *file,
                     struct slurm_lines *lines, struct error *err);
void slurm_lines_clear(struct slurm_lines *lines);

/* The value of Key=Value on the line, key in any case, quotes taken off, cut at size. False and ""
 * without. */
bool slurm_line_value(const struct slurm_line *line, const char *key, char *value, size_t size);

/* The same whole, for lists of nodes, which may be long: malloc'd; NULL without, or without memory.
 */
char *slurm_line_text(const struct slurm_line *line, const char *key);

/* Whether that value is the name, or a list in Slurm's notation that has it. */
bool slurm_line_names(const struct slurm_line *line, const char *key, const char *name);

/* The value of the last line that begins with Key=Value. False and "" without. */
bool slurm_lines_value(const struct slurm_lines *lines, const char *key, char *value, size_t size);

/* What slurm.conf says of a node. */
struct slurm_node {
    bool is_found;    /* a NodeName line names it */
    const char *file; /* of that line; points into the lines */
    int number;
    char gres[1024]; /* "gpu:h100:8,nic:2"; "" */
};

/* Looks the node up, DEFAULT lines before it included. */
void slurm_node_find(const struct slurm_lines *lines, const char *name, struct slurm_node *node);

/* The NodeName of the machine with that host name, short or fully qualified, as slurmd finds it: of
 * the NodeHostname (the NodeName where there is none) that is the short host name, else of that
 * which is the whole. Where neither is there, slurmd asks the resolver for other names; this takes
 * the only one whose label is the short host name. Cut at size. False and "" without, or where one
 * host has several. */
bool slurm_node_of_host(const struct slurm_lines *lines, const char *host, char *name, size_t size);

/* How many of a kind a Gres= value gives: 8 of "gpu" for "gpu:a100:6,gpu:2,nic:1"; 0 without. */
long slurm_gres_count(const char *gres, const char *kind);

/* Whether a GPU of a Gres= value is an instance of a GPU by the name of its type, "gpu:1g.10gb:7":
 * then its numbers are of instances, of which one GPU has several. */
bool slurm_gres_has_mig(const char *gres);

#endif
