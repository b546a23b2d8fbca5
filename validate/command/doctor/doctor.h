/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DOCTOR_H
#define MUSTER_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/catalog/verdict.h"
#include "lib/slurm/slurmconf.h"
#include "validate/command/command.h"

/* What muster doctor looks at and what it finds. */

enum { DOCTOR_FOUND = 300 };

/* One precondition on one host. */
struct finding {
    char *host;       /* a node, or "head" for where the command runs */
    const char *name; /* of the precondition */
    enum verdict verdict;
    char found[DOCTOR_FOUND]; /* one line for a person */
};

struct findings {
    struct finding *items;
    size_t count;
    bool out_of_memory;
};

/* A copy of host is kept; name must live on. found is cut at DOCTOR_FOUND,
 * and steers no terminal. */
void doctor_add(struct findings *findings, const char *host, const char *name, enum verdict verdict,
                const char *found);
void doctor_clear(struct findings *findings);

/* What is read of a host, once for all preconditions. */
struct doctor_site {
    const char *root; /* "" is this machine */
    const struct conf *conf;
    const struct inventory *inventory;
    const struct fabric *fabric;
    char slurm_directory[512]; /* "": there is no slurm.conf */
    struct slurm_lines slurm;  /* slurm.conf */
    struct error slurm_error;
};

/* A precondition: a check, which fills found and returns the verdict, and what to do about it. */
struct precondition {
    const char *name;
    enum verdict (*check)(const struct doctor_site *site, char found[DOCTOR_FOUND]);
    const char *cure;
    /* What is found must be the same everywhere; or on the nodes, and the head is warned of. */
    enum { MAY_DIFFER, SAME, SAME_ON_NODES } sameness;
    bool is_heads, is_nodes;
};

extern const struct precondition precondition_table[];
extern const size_t precondition_count;
/* NULL: there is none of that name. */
const struct precondition *precondition_find(const char *name);

/* Looks at this host as the head, or as a node, with all of the table that is a head's or a node's.
 */
void doctor_host(const struct doctor_site *site, const char *host, bool is_head,
                 struct findings *findings);

/* Asks the controller, each slurmd and, by a small job beside what runs, each node of the list
 * (NULL: of the default partition, or all without one) for its findings. Needs this host to be one
 * with Slurm's commands. */
void doctor_cluster(const struct doctor_site *site, const char *list, struct findings *findings);

/* Takes a line that muster doctor --here --json printed on the node. Returns 0, or -1 when it is
 * none, or of another host. */
int doctor_take(struct findings *findings, const char *node, const char *line, double now_s);
/* Writes such a line. */
void doctor_give(FILE *stream, const struct finding *finding);

/* The findings that are to be the same and are not become failures. */
void doctor_compare(struct findings *findings);

/* The page: each precondition once for the hosts that say the same, with its cure where it does not
 * hold. */
void doctor_print(FILE *stream, const struct findings *findings, bool has_colour);

/* Writes a tar of the page, the findings and the configuration, with the values of what may be a
 * secret left out. Returns 0, or -1 with err. */
int doctor_bundle(const char *path, const struct doctor_site *site, const struct findings *findings,
                  struct error *err);

#endif
