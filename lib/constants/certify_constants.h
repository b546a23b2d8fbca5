/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_CONSTANTS_H
#define MUSTER_CERTIFY_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define CERTIFY_CONSTANTS(ROW) \
/* budget: arrays are of the levels quick, standard, full */ \
ROW(integer, BUDGET_ALL_PAIRS_NODES, 8, "nodes", "chosen 2026-11", "most nodes of which each level measures all pairs") \
ROW(reals, BUDGET_CONFIDENCE, (0.99, 0.9999, 1 - 1e-12), "probability", "chosen 2026-11", "probability to find a bad node, from which the rounds of links are computed, by level") \
ROW(reals, BUDGET_RAIL_S, (0.45, 0.9, 0.9), "s", "measured 2026-11: labs of 4 to 24 nodes, two rails", "estimate for one rail of a pair in both directions, by level") \
ROW(reals, BUDGET_LAUNCH_S, (1, 2, 2), "s", "measured 2026-11: labs of 4 to 24 nodes", "estimate for launch on two nodes, by level") \
ROW(reals, BUDGET_COLLECTIVES_S, (2, 8, 30), "s", "measured 2026-11: labs of 4 to 24 nodes", "estimate for collectives on two nodes, by level") \
ROW(reals, BUDGET_NODE_S, (0.05, 0.1, 0.2), "s", "measured 2026-11: labs of 4 to 24 nodes", "estimate for each further node of a stage, by level") \
ROW(reals, BUDGET_TRAIN_S, (0, 20, 120), "s", "measured 2026-11: labs of 4 to 24 nodes", "estimate for training, by level") \
ROW(reals, BUDGET_HOST_S, (0, 5, 10), "s", "measured 2026-11: one node of two processors, a disk among it", "estimate for host, on the nodes of each machine one after the other, by level") \
ROW(reals, BUDGET_GPU_S, (3, 18, 18), "s", "chosen 2026-11", "estimate for each accelerator of a node, by level; not measured on a device") \
ROW(reals, BUDGET_LEAST_LIMIT_S, (120, 150, 900), "s", "chosen 2026-11", "least time limit of a stage, by level") \
ROW(real, BUDGET_LINKS_LEAST_LIMIT_S, 900, "s", "chosen 2026-11", "least time limit of links") \
ROW(real, BUDGET_PATIENCE, 10, "ratio", "chosen 2026-11", "time after which a stage counts as stuck, in estimates") \
ROW(real, BUDGET_SHARED_LAUNCH_S, 0.008, "s", "measured 2026-11: labs of 16, 32 and 64 nodes on two processors", "estimate for launch, more for each node and each node that shares its processor") \
ROW(real, BUDGET_SHARED_COLLECTIVES_S, 0.035, "s", "measured 2026-11: labs of 16, 32 and 64 nodes on two processors", "estimate for collectives, more for each node and each node that shares its processor") \
ROW(real, BUDGET_SHARED_RAIL, 2, "ratio", "measured 2026-11: labs of 16, 32 and 64 nodes on two processors", "how many times as long a rail takes where nodes share processors") \
ROW(real, BUDGET_SHARED_RAIL_NODES, 8, "nodes per processor", "measured 2026-11: labs of 16, 32 and 64 nodes on two processors", "nodes per processor from which BUDGET_SHARED_RAIL holds in full; fewer in proportion") \
ROW(integer, BUDGET_RAILS_GUESSED, 2, "rails", "chosen 2026-11", "rails assumed of a node whose rails are not known yet") \
ROW(integer, BUDGET_SPLIT_ROUNDS, 4, "rounds", "chosen 2026-11", "first rounds of links, within leaves and across, which show the limits of leaves and uplinks") \
/* choice of nodes */ \
ROW(integer, CERTIFY_SETTLE_S, 15, "s", "chosen 2026-11", "time limit for nodes to leave a transient state") \
ROW(real, CERTIFY_SETTLE_EACH_S, 0.3, "s", "chosen 2026-11", "first interval of queries of their state, doubled each time: six queries") \
ROW(integer, CERTIFY_CONTROLLER_S, 180, "s", "chosen 2026-11", "time limit for a restarted slurmctld, or its backup, to answer: SlurmctldTimeout is 120 s") \
ROW(integer, CERTIFY_PARTNERS, 2, "nodes", "chosen 2026-11", "partners for a node that is certified alone") \
ROW(integer, CERTIFY_YIELD_S, 15, "s", "chosen 2026-11", "time after which the run that began first has a job") \
ROW(real, CERTIFY_AGAIN_S, 3, "s", "chosen 2026-11", "time within which each of several runs that began together retries") \
ROW(integer, CERTIFY_DUE_S, 216000, "s", "chosen 2026-11", "remaining validity below which a nightly run renews a certificate: two nights, so that a node that is busy in one has the other") \
ROW(real, CERTIFY_DUE_SHARE, 0.6, "ratio", "chosen 2026-11", "the same as a share of CertificateValidity, if that is less: a nightly timer is in time whatever the validity") \
ROW(integer, CERTIFY_KEEP_S, 86400, "s", "chosen 2026-11", "remaining validity for which a certificate of a higher level is kept, if the share that is due is not less") \
ROW(integer, CERTIFY_ALLOCATE_S, 20, "s", "chosen 2026-11", "time limit for Slurm to start the job of a run") \
ROW(integer, CERTIFY_ALLOCATE_NEXT_S, 60, "s", "chosen 2026-11", "time limit for Slurm to start a further job of a run: epilogs come first") \
ROW(integer, CERTIFY_COMPLETE_WAIT_MOST_S, 600, "s", "chosen 2026-11", "most of CompleteWait that is added to these limits: while jobs complete, Slurm starts none") \
ROW(integer, CERTIFY_NOTED_S, 5, "s", "chosen 2026-11", "time limit for Slurm to note why a job did not start") \
ROW(real, CERTIFY_LOOK_S, 0.5, "s", "chosen 2026-11", "first interval of queries of the nodes after a job that did not start; later a tenth of the wait") \
ROW(integer, CERTIFY_HUNG_S, 15, "s", "chosen 2026-11", "time without a further node on which a canceled job ends, after which it hangs on the rest: epilogs differ by less") \
ROW(integer, CERTIFY_JOB_LOSSES, 3, "jobs", "chosen 2026-11", "most jobs that a restarting slurmctld loses before the run asks for no more: the job may be the cause") \
ROW(integer, CERTIFY_SHORT_JOB_MIN, 5, "min", "chosen 2026-11", "time limit of a job for check or certificates, beyond that of its steps") \
ROW(integer, CERTIFY_BATTERY_BESIDES_MIN, 2, "min", "chosen 2026-11", "time limit of the battery's job, beyond that of its stages") \
ROW(integer, CERTIFY_RESERVED_BESIDES_MIN, 5, "min", "chosen 2026-11", "duration of a reservation, beyond that of its jobs") \
ROW(integer, CERTIFY_REVOKE_STEPS, 4, "steps", "chosen 2026-11", "most steps that revoke certificates from before earlier failures, each of one time") \
/* users' reports of suspects */ \
ROW(integer, SUSPECTS_PARTNERS, 2, "nodes", "chosen 2026-11", "nodes certified together with each suspect") \
ROW(integer, SUSPECTS_OF_USER, 16, "nodes", "chosen 2026-11", "most nodes that one user may report within SUSPECTS_DAY_S") \
ROW(integer, SUSPECTS_DAY_S, 86400, "s", "chosen 2026-11", "period of SUSPECTS_OF_USER") \
ROW(integer, SUSPECTS_WAIT_S, 10, "s", "chosen 2026-11", "time limit for a job that collects or removes reports to start") \
ROW(integer, SUSPECTS_COLLECT_S, 30, "s", "chosen 2026-11", "time limit to collect reports") \
ROW(integer, SUSPECTS_QUICK_S, 60, "s", "chosen 2026-11", "time after its start within which the failure of a job makes its node suspect") \
ROW(integer, SUSPECTS_QUICK_JOBS, 4, "jobs", "chosen 2026-11", "least jobs that failed so quickly to make a node suspect") \
ROW(real, SUSPECTS_QUICK_ODDS, 1000, "ratio", "chosen 2026-11", "least odds against as many quick failures by chance") \
ROW(integer, SUSPECTS_REMOVE_S, 20, "s", "chosen 2026-11", "time limit to remove reports") \
/* steps */ \
ROW(integer, CERTIFY_REACH_S, 4, "s", "chosen 2026-11", "time limit for slurmd to answer") \
ROW(integer, CERTIFY_MISSED_S, 20, "s", "chosen 2026-11", "time within which slurmctld notices that a node whose job has ended is gone") \
ROW(integer, CERTIFY_CHECK_S, 20, "s", "chosen 2026-11", "time limit of the step that runs muster check on few nodes, beyond what hanging drivers and file servers take") \
ROW(integer, CERTIFY_NEIGHBORS_S, 15, "s", "chosen 2026-11", "time limit of the step that queries lldpd") \
ROW(integer, CERTIFY_CERTIFICATE_S, 20, "s", "chosen 2026-11", "time limit of the step that writes certificates on few nodes") \
ROW(integer, CERTIFY_PART_NODES, 128, "nodes", "chosen 2026-11", "nodes with sixteen rails and results of their own whose certificates fit into the text of one step") \
ROW(integer, CERTIFY_NODES_PER_S, 50, "nodes/s", "chosen 2026-11", "nodes for which a step gets one more second") \
ROW(integer, CERTIFY_CONTAINER_S, 300, "s", "chosen 2026-11", "time limit for a container of GpuContainer to be fetched and to start a program") \
ROW(integer, CERTIFY_PROBE_S, 20, "s", "chosen 2026-11", "time limit for a program without MPI to start on a node and end") \
ROW(integer, CERTIFY_MUTE_S, 10, "s", "chosen 2026-11", "silence of an MPI program on few nodes after which these are asked whether it starts there") \
ROW(integer, CERTIFY_GRACE_S, 3, "s", "chosen 2026-11", "time between SIGTERM and SIGKILL of a step") \
ROW(integer, CERTIFY_WATCH_AFTER_S, 5, "s", "chosen 2026-11", "age of a step at which its nodes are queried first") \
ROW(integer, CERTIFY_WATCH_EACH_S, 10, "s", "chosen 2026-11", "interval of queries of the nodes of a step") \
ROW(integer, CERTIFY_WATCH_MOST, 512, "nodes", "chosen 2026-11", "most nodes of a step queried at once: its output waits meanwhile") \
ROW(integer, CERTIFY_RECORDS_OF_NODE, 8192, "records", "chosen 2026-11", "most records kept per node of what a program reports: 384 cores or 128 GPU devices make two thirds of it") \
ROW(integer, CERTIFY_RECORDS_OF_PAIR, 64, "records", "chosen 2026-11", "most records kept in addition per pair of nodes: 16 rails, both directions, latency and bandwidth") \
ROW(integer, CERTIFY_TEXT_OF_NODE, 1048576, "bytes", "chosen 2026-11", "most bytes of distinct texts in the records of a node") \
ROW(integer, CERTIFY_SILENT_S, 12, "s", "chosen 2026-11", "silence after which a node counts as lost") \
/* the battery */ \
ROW(integer, CERTIFY_TRIES, 3, "tries", "chosen 2026-11", "attempts of a stage, with fewer nodes each time, however long they take; more where its time limit allows") \
ROW(integer, CERTIFY_BLAMELESS_MOST, 1, "tries", "chosen 2026-11", "most attempts that end early with no node at fault: a transient cause ends only one") \
ROW(integer, CERTIFY_MARGIN_S, 10, "s", "chosen 2026-11", "time for a program to end itself after its time limit") \
ROW(integer, CERTIFY_RETESTS, 4, "nodes", "chosen 2026-11", "most suspects of a stage that are measured again; the rest is unknown") \
ROW(integer, CERTIFY_RETEST_PARTNERS, 2, "nodes", "chosen 2026-11", "partners with which a suspect is measured, one after the other") \
ROW(integer, CERTIFY_SAME_BOOT_S, 5, "s", "chosen 2026-11", "most by which two reports of one boot time differ") \
ROW(integer, HOST_FULL_TIMES, 20, "ratio", "chosen 2026-11", "how many times as long each core computes at level full as at level standard") \
ROW(integer, LINKS_CONFIRM_TRIES, 4, "tries", "chosen 2026-11", "most retests of links before a suspect counts as confirmed") \
/* reports */ \
ROW(real, CERTIFY_SPEED_SHARE, 0.1, "quantile", "chosen 2026-11", "quantile of the speeds of a rail to which reports compare all its pairs: a NIC or two that came up slow hide no slow pair") \
ROW(integer, HISTORY_STEP_S, 86400, "s", "chosen 2026-11", "most by which a clock may be set back with runs kept in the order in which they were stored; a run dated further ahead is an error") \
/* campaigns */ \
ROW(integer, CAMPAIGN_WAIT_LEAST_S, 5, "s", "chosen 2026-11", "first interval of queries of the cluster, doubled while nothing changes") \
ROW(integer, CAMPAIGN_WAIT_MOST_S, 60, "s", "chosen 2026-11", "longest interval of queries of the cluster") \
ROW(integer, CAMPAIGN_KEPT_S, 60, "s", "chosen 2026-11", "time limit to add a run to a history that was busy: another process copies it") \
ROW(integer, CAMPAIGN_TRIES, 2, "tries", "chosen 2026-11", "attempts for a node without a verdict before it is left unknown") \
ROW(integer, CAMPAIGN_BROKEN_MOST, 20, "tries", "chosen 2026-11", "most attempts in a row without an answer of slurmctld, or without a job in a partition, before a campaign ends or gives the partition up")
/* clang-format on */
CERTIFY_CONSTANTS(CONSTANT_DEFINE)

#endif
