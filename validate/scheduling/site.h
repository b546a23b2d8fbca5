/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULING_SITE_H
#define MUSTER_SCHEDULING_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/name_index.h"
#include "lib/slurm/slurmconf.h"
#include "validate/slurm/show.h"

/* A cluster's scheduling configuration: tables of what Slurm's commands print
 * (validate/slurm/show.h). Pure, but for the names of users and groups. */

struct site_field {
    char *key, *value;
};

/* One partition, node, QOS, association or reservation; or all of the configuration. */
struct site_record {
    struct site_field *fields;
    size_t count;
};

struct site_table {
    struct site_record *records;
    size_t count;
};

enum site_name { SITE_USER, SITE_GROUP };

struct site {
    char *texts[CLUSTER_TEXTS]; /* the records point into them */
    struct site_table tables[CLUSTER_TEXTS];
    struct name_index accounts; /* of the associations: those without a user, by account */
    bool has_accounting;        /* QOS and associations were read */
    bool *members;              /* for each partition, then each node: whether the node is in the
                                   partition */
    struct slurm_lines lines;   /* slurm.conf, where there is one here; none otherwise */
    /* 1: there is such a user or group, 0: there is not, -1: not known */
    int (*knows)(enum site_name what, const char *name, void *context);
    void *context;
};

/* Parses the text, malloc'd and from now on owned by the site, as a table. Returns 0, or -1 with
 * err: it is no such table, or memory is out. */
int site_parse(struct site *site, enum cluster_text what, char *text, struct error *err);
/* Completes the site once all texts are parsed. Returns 0, or -1 with err. */
int site_finish(struct site *site, struct error *err);
void site_clear(struct site *site);

/* Returns the record's value of key, whose case does not matter; "" if there is none: "(null)",
 * "N/A", "NONE", "n/a". Never NULL. */
const char *site_value(const struct site_record *record, const char *key);
/* The same for the cluster's configuration. */
const char *site_config(const struct site *site, const char *key);
/* Sets *record to the next record of that table, or to the first if it is NULL. Returns false, and
 * sets NULL, at the end. */
bool site_next(const struct site *site, enum cluster_text what, const struct site_record **record);
/* Returns the record of that table whose key has that value; NULL: none. */
const struct site_record *site_find(const struct site *site, enum cluster_text what,
                                    const char *key, const char *value);

/* Return the account above an association, that of a user or the parent of an account, and its
 * name; NULL and "": none. */
const struct site_record *site_parent(const struct site *site,
                                      const struct site_record *association);
const char *site_parent_name(const struct site_record *association);
/* Returns whether users share a limit of an account above the user, or of the jobs that a QOS
 * accepts; also if there is no accounting to tell. */
bool site_is_group_limited(const struct site *site, const char *user);

/* Returns the last line of slurm.conf that has PartitionName=name or, with name NULL, begins with
 * key. NULL: no such line here. */
const struct slurm_line *site_line(const struct site *site, const char *key, const char *name);

bool site_is_member(const struct site *site, const struct site_record *partition,
                    const struct site_record *node);
/* Whether some node is in both partitions. */
bool site_share_nodes(const struct site *site, const struct site_record *one,
                      const struct site_record *other);

/* Writes the next word of a list with commas, and moves *list on. Returns false at its end. */
bool site_word(const char **list, char *word, size_t size);
/* Returns whether the list has the word, whose case does not matter. */
bool site_list_has(const char *list, const char *word);
/* Returns the amount of tres ("gres/gpu") in a list "cpu=4,mem=10G,gres/gpu=2", memory in MB; NAN:
 * it is not in the list. */
double site_tres(const char *list, const char *tres);
/* Returns the seconds of Slurm's times "1-00:00:00", "01:00:00", "30:00"; INFINITY for UNLIMITED
 * and INFINITE, NAN if it is no time. */
double site_seconds(const char *text);
/* Returns the number that text begins with, or NAN. */
double site_number(const char *text);

#endif
