/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_INTENT_H
#define MUSTER_INTENT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/constants/policy_constants.h"
#include "lib/slurm/slurmconf.h"

/* policy.conf: what a site wants of its scheduling. Lines "Keyword=NAME Key=Value ..."; the case of
 * keys does not matter, # begins a comment. Who=NAME names a test user and what its jobs request;
 * every other line is a statement about such a user. Pure, but for intent_read(). */

enum intent_limit {
    INTENT_JOBS,    /* so many run at once, no more */
    INTENT_SUBMIT,  /* so many are accepted */
    INTENT_WALL,    /* a job may be so long */
    INTENT_TOTAL,   /* TRES of all jobs that run at once */
    INTENT_PER_JOB, /* TRES of one job */
    INTENT_LIMITS,
};

enum intent_mode { INTENT_ANY_MODE, INTENT_REQUEUE, INTENT_CANCEL, INTENT_SUSPEND };

struct intent_who {
    char name[64];
    char user[64], account[64], qos[64], partition[64]; /* "": the user's default */
};

struct verify_kind;

struct intent_statement {
    const struct verify_kind *kind;
    const struct slurm_line *line;
    const struct intent_who *who, *other; /* other: NULL where there is none */
    enum intent_limit limit;
    long amount;   /* of the limit; of Wall: minutes */
    char tres[64]; /* "cpu", "node", "gres/gpu", "gres/gpu:a100" */
    double within_s;
    enum intent_mode mode;
    char reservation[128];
};

struct intent {
    struct slurm_lines lines; /* the statements point into them */
    struct intent_who *who;
    size_t who_count;
    struct intent_statement *statements;
    size_t count;
};

enum intent_need { INTENT_OPTIONAL, INTENT_NEEDED, INTENT_ONE /* exactly one of these */ };

/* The type of a key's value. */
enum intent_value {
    INTENT_COUNT,
    INTENT_MINUTES, /* whole ones */
    INTENT_TRES,
    INTENT_OTHER, /* another Who= line */
    INTENT_WITHIN,
    INTENT_MODE,
    INTENT_RESERVATION,
    INTENT_WHO, /* a name in a Who= line */
};

/* A key of a line, after its keyword. */
struct intent_key {
    const char *name;
    const char *allowed; /* for messages and the manual: "a number from 1 to 64" */
    enum intent_need need;
    enum intent_value value;
    enum intent_limit limit; /* the limit that it states, if INTENT_ONE */
    size_t offset;           /* of the name in struct intent_who, if INTENT_WHO */
};

enum { INTENT_AMOUNT_MOST = 64 };

/* Reads the file at path. Returns 0, or -1 with err "FILE:LINE: ..., found ..., allowed ...".
 * Release with intent_clear() in any case. */
int intent_read(const char *path, struct intent *intent, struct error *err);
void intent_clear(struct intent *intent);
/* Parses a number from 1 to most. Returns 0, or -1 if the value is none. */
int intent_count(const char *value, long most, long *count);

#endif
