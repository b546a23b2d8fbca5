/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DOCTOR_H
#define MUSTER_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/catalog/verdict.h"
#include "lib/slurm/slurmconf.h"
#include "validate/command/command.h"

/* The preconditions that muster doctor checks, and its findings. */

enum { DOCTOR_FOUND = 300 };

/* One precondition on one host. */
struct finding {
    char *host;       /* a node, or "head" for the host of the command */
    const char *name; /* of the precondition */
    enum verdict verdict;
    char found[DOCTOR_FOUND]; /* one line, for people */
};

struct findings {
    struct finding *items;
    size_t count;
    bool out_of_memory;
};

/* Adds a finding. host is copied; name must stay valid. found is cut at DOCTOR_FOUND, and cleaned
 * of control characters. */
void doctor_add(struct findings *findings, const char *host, const char *name, enum verdict verdict,
                const char *found);
void doctor_clear(struct findings *findings);

/* Data of a host, read once for all preconditions. */
struct doctor_site {
    const char *root;   /* "" is this machine */
    const char *config; /* muster.conf if it is named, not below root; NULL: the default */
    const struct conf *conf;
    const struct inventory *inventory;
    const struct fabric *fabric;
    char slurm_directory[512]; /* "": there is no slurm.conf */
    struct slurm_lines slurm;  /* slurm.conf */
    struct error slurm_error;  /* "": all of it was read */
};

/* Sets found to the text, and returns the verdict, so that a check can end with it. */
#define FOUND(verdict, ...) (text_put(found, DOCTOR_FOUND, __VA_ARGS__), (verdict))

/* Checks that UCX has a transport for each rail that is up, and lists them. */
enum verdict doctor_look_transports(const struct doctor_site *site, char found[DOCTOR_FOUND]);
/* Checks, in a step of several nodes, that no firewall is before the next node of the step. */
enum verdict doctor_look_ports(const struct doctor_site *site, char found[DOCTOR_FOUND]);

/* A precondition: check() fills found and returns the verdict; cure is what to do about it. */
struct precondition {
    const char *name, *cure;
    enum verdict (*check)(const struct doctor_site *site, char found[DOCTOR_FOUND]);
    enum { ON_CLUSTER, ON_HEAD, ON_NODES, ON_ALL } hosts; /* ON_CLUSTER: by doctor_cluster() */
    /* SAME: `found` must be equal on all hosts. SAME_ON_NODES: equal on all nodes; a different head
     * is only a warning. */
    enum { MAY_DIFFER, SAME, SAME_ON_NODES } sameness;
    const char *test; /* of muster check, instead of check() */
};

extern const struct precondition precondition_table[];
extern const size_t precondition_count;
/* Returns the precondition of the name, or NULL. */
const struct precondition *precondition_find(const char *name);

/* Checks this host as the head or as a node: all preconditions of the table for a head, or for a
 * node. */
void doctor_host(const struct doctor_site *site, const char *host, bool is_head,
                 struct findings *findings);

/* Queries the controller, each slurmd and, by a small job that shares the nodes, each node of the
 * list for its findings (NULL: the default partition, or all nodes without one). This host needs
 * Slurm's commands. Returns 0, or -1 with err if the list is wrong or memory is out. */
int doctor_cluster(const char *list, struct findings *findings, struct error *err);

/* Parses a line that muster doctor --here --json printed on the node. Returns 0, or -1 if it is no
 * such line, or of another host. */
int doctor_take(struct findings *findings, const char *node, const char *line, double now_s);
/* Writes such a line. */
void doctor_give(FILE *stream, const struct finding *finding);

/* Makes findings that differ although they must be equal failures, or warnings of the head. */
void doctor_compare(struct findings *findings);

/* Prints the page: each precondition once for all hosts with the same finding, with its cure if it
 * does not hold. */
void doctor_print(FILE *stream, const struct findings *findings, bool has_colour);

/* Writes a tar of the page, the findings and the configuration, without values that may be secret;
 * cuts them from the findings. Returns 0, or -1 with err. */
int doctor_bundle(const char *path, const struct doctor_site *site, struct findings *findings,
                  struct error *err);

#endif
