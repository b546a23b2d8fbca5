/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RUN_H
#define MUSTER_CERTIFY_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/name_index.h"
#include "lib/base/text.h"
#include "lib/conf/conf.h"
#include "validate/certify/state/budget.h"
#include "validate/certify/state/outcome.h"
#include "validate/policy/policy.h"
#include "validate/report/format.h"
#include "validate/report/progress.h"
#include "validate/report/records.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/user.h"
#include "validate/slurm/operations.h"
#include "validate/slurm/step/process.h"
#include "validate/slurm/step/step.h"
#include "validate/slurm/undo/undo.h"

/* One run of `muster certify`: what its stages share. */

enum { CERTIFY_REPORTS = 16 };

const char *certify_level_name(enum certify_level level); /* "quick", "standard", "full" */

struct certify_options {
    const char *nodes, *partition, *config_path, *json_path, *junit_path,
        *mpi; /* NULL: not given */
    struct {
        const struct report_format *format;
        const char *path;
    } reports[CERTIFY_REPORTS]; /* --report */
    size_t report_count;
    enum certify_level level;
    bool has_level;             /* --level was given */
    const char *campaign;       /* NULL: not given */
    const char *campaign_nodes; /* of a campaign: the value of -w, moved from nodes; NULL: none */
    long at_a_time;             /* of a campaign: nodes of a run; 0: as many as are free */
    bool is_campaign;           /* several runs under one name */
    bool is_dry_run, no_drain;
    bool is_suspects; /* only nodes that a suspect report or a strike is about, and partners */
    bool is_due;      /* only nodes whose certificate is missing or ends soon, and partners */
    bool is_idle;     /* only a few idle nodes, until a job wants them */
    double jitter_s;  /* start after a random part of it */
    double budget_s;  /* 0: the configuration's */
    int concurrency;  /* 0: the configuration's */
};

/* A step runs as the user of its job. A run of root therefore has three jobs, one after the other,
 * in its reservation: root's for the checks, the battery user's for the MPI programs, and root's
 * for the certificates. A dry run of an ordinary user has one job of that user. */
enum certify_job { JOB_NONE, JOB_CHECK, JOB_BATTERY, JOB_CERTIFICATES };

/* What one run knows of a node. */
struct node_run {
    const char *name;
    struct cluster_node *slurm;
    struct plan plan;
    struct outcome outcome;
    long gpus;            /* of the node's GRES in Slurm */
    bool has_accelerator; /* as muster check found; before the check, as Slurm says */
    bool lacks_gpus;      /* the job lacks some of its GPUs: gres_is_explicit() */
    bool is_in_job;
    bool is_selected; /* among the nodes of the last certify_list_good() */
    bool is_resumed;  /* its drain was lifted by us */
    bool is_partner;  /* chosen only as another's partner */
    bool is_silent;   /* it stopped answering while it was in the job */
    bool is_cut_off;  /* this host cannot reach it, but the controller still counts it as up */
    bool lacks_certificate_job; /* it was not available for the certificates' job */
    bool is_suspect; /* a process died or hung in this stage: set aside for certify_retest() */
    char suspicion[200], suspect_part[64]; /* of a suspect: what was seen, and where */
    enum fault_code suspect_code;
    bool is_live;    /* its worst fault was published in live */
    bool is_decided; /* the decision is final */
    enum decision decision;
    int strike;               /* if its failure is near a limit: which strike, from 1 */
    double rail_mbps;         /* its worst rail's bandwidth; NAN: not measured */
    char certified_until[32]; /* "": it has no certificate of this run, and kept none */
    time_t certified_until_s;
    int certified_level; /* certificate_level(): above the run's if it kept an older certificate */
    bool is_revoked;     /* it reported that its certificate is gone */
    time_t revoke_until; /* revoke certificates issued until then; 0: none, -1: all */
    size_t refusal_record, certificate_record; /* 1 + the index of the record of a refusal by its
                                                  gate, and of its certificate; 0: none */
    bool has_addresses;                        /* muster check reported them: certify_peers() */
    struct hostlist unusable; /* rails that muster check found down or without an address */
    struct hostlist rails;    /* lines "links eth1: 196 Mb/s" for the certificate */
};

struct campaign;

struct certify {
    struct certify_options options;
    const struct campaign *campaign; /* the campaign of this run; NULL: none */
    struct conf conf;
    double budget_s;                             /* the administrator's, 0: none */
    double begin;                                /* clock_s() */
    char run[64], job_name[96], reservation[96]; /* reservation "": none */
    const struct cluster_operations *operations; /* all requests to Slurm */
    struct cluster cluster;
    struct node_run *node_runs;
    size_t count;
    struct name_index by_name; /* of node_runs */
    char *partition;
    struct hostlist reserved; /* the nodes of the reservation */
    struct user battery;      /* the user of the MPI programs */
    bool is_root;             /* check and certificates run as root, in jobs of their own */
    enum certify_job job;
    uint32_t job_id; /* 0: no allocation */
    struct undo undo;
    struct records records;
    FILE *json;
    struct progress progress;
    struct live live;
    const char *live_directory;   /* where others can watch the run; NULL: nowhere */
    struct hostlist headlines;    /* lines above the table: faults that many nodes share */
    struct hostlist notes;        /* lines under the table */
    bool is_misused;              /* an unknown node or partition was named */
    bool has_fault;               /* a fault outside of the nodes */
    bool has_unread;              /* suspect reports could not be read: the run does not pass */
    bool is_broken;               /* the run could not begin, go on or undo all: no node's fault */
    bool lacks_job;               /* available nodes got no job, for an unknown reason */
    char *peers;                  /* for certify_environment_peers(); NULL: not known */
    size_t drained;               /* nodes that muster holds out of service, with this run's */
    char runs[512];               /* the directory of journals */
    struct hostlist changed;      /* reservations of dead runs that somebody has changed:
                                     undo_clean_up() */
    size_t stray_lines;           /* lines of programs that were no records */
    size_t refused_records;       /* records that were left out: step/record_source.h */
    char refused_source[64];      /* of the first: a node, or the program of all */
    char refused_reason[160];     /* of the first */
    struct error_line error_line; /* what a program said on standard error */
    char mpi_program[1024];       /* the path that the last MPI step ran; "": there was none */
    double stage_s[STAGE_COUNT];  /* duration of each stage */
    double gone_s;                /* how long the run waited for slurmctld */
    time_t certified_until_s;     /* the end of this run's certificates */
    double idle_look_at;          /* --idle: clock_s() of the next look at the jobs that wait */
    char idle_end[200];           /* --idle: why the nodes are given back; "": they are not */
};

/* The number of a received SIGINT, SIGTERM or SIGHUP, once there may be changes to undo; before,
 * these signals end the process. CERTIFY_STOP_IDLE: the nodes are given back (step/give_back.h). */
enum { CERTIFY_STOP_IDLE = -1 };
extern volatile sig_atomic_t certify_stop;

void certify_note(struct certify *certify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the node run of that name; NULL if name is NULL or no node of the run. */
struct node_run *certify_node_run(const struct certify *certify, const char *name);
/* Replaces names by the nodes of the job that have no fault so far and are no suspects, and sets
 * is_selected for exactly these. Release names with hostlist_clear(). Returns their number; 0 if
 * the run was stopped. */
size_t certify_list_good(struct certify *certify, struct hostlist *names);
/* Returns whether a step that ended with a status of the battery completed on all its nodes, by its
 * records since first. */
bool certify_is_complete(const struct certify *certify, size_t first);
/* Returns whether the node was in all jobs so far and answers; it may be faulty. A silent node
 * would delay a step. */
bool certify_is_available(const struct node_run *node_run);
/* Returns whether the node is not tested because Slurm or somebody else took it out of service. A
 * failed prolog of the site is no fault of the node. */
bool certify_is_untested(const struct node_run *node_run);
/* Returns whether the node loses the certificate that it had, because it failed a test. A suspect
 * keeps it. */
bool certify_loses_certificate(const struct node_run *node_run);

#endif
