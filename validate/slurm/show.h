/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SLURM_SHOW_H
#define MUSTER_SLURM_SHOW_H

#include <stdint.h>

#include "lib/base/error.h"

/* The active configuration as Slurm's commands print it. The text is the same on all releases; a
 * saved copy serves as a test case. */
enum cluster_text {
    CLUSTER_CONFIG,       /* scontrol show config */
    CLUSTER_PARTITIONS,   /* scontrol -a -o show partition */
    CLUSTER_NODES,        /* scontrol -a -o show node */
    CLUSTER_RESERVATIONS, /* scontrol -o show reservation */
    CLUSTER_QOS,          /* sacctmgr -P show qos, with the columns below */
    CLUSTER_ASSOCIATIONS, /* sacctmgr -P show assoc, with the columns below */
    CLUSTER_TEXTS,
};

/* Columns for sacctmgr's option format=. Some releases print other names in the header line. */
#define CLUSTER_QOS_COLUMNS                                                                        \
    "Name,Priority,Preempt,PreemptMode,PreemptExemptTime,GraceTime,Flags,MinTRES,MaxWall,"         \
    "MaxTRES,MaxTRESPerNode,MaxTRESPU,MaxTRESPA,MaxJobsPU,MaxJobsPA,MaxSubmitPU,MaxSubmitPA,"      \
    "GrpTRES,GrpTRESMins,GrpJobs,GrpSubmit,GrpWall"
#define CLUSTER_ASSOCIATION_COLUMNS                                                                \
    "Account,User,Partition,ParentName,Fairshare,QOS,DefaultQOS,MaxWall,MaxTRES,MaxTRESPerNode,"   \
    "MaxJobs,MaxSubmit,GrpTRES,GrpTRESMins,GrpJobs,GrpSubmit,GrpWall"

/* "config", "partitions", ...: the name of a file that has that text. */
const char *cluster_text_name(enum cluster_text what);

/* Runs the command. cluster: whose associations to list. Returns 0 with *text, malloc'd, or -1 with
 * the command's message in err. */
int cluster_show(enum cluster_text what, const char *cluster, char **text, struct error *err);

/* One job by "scontrol -o show job"; id 0: all, a line each. As cluster_show(). */
int cluster_show_job(uint32_t id, char **text, struct error *err);

/* The script of a batch job by "scontrol write batch_script", as its user or root; likewise. */
int cluster_show_script(uint32_t id, char **text, struct error *err);

/* The priority of a job that waits, and its weighted parts, by sprio. */
#define CLUSTER_PRIORITY_FORMAT                                                                    \
    "JobId=%i Priority=%Y Age=%A FairShare=%F JobSize=%J Partition=%P QOS=%Q TRES=%T"
int cluster_show_priority(uint32_t id, char **text, struct error *err);

#endif
