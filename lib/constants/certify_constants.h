/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_CONSTANTS_H
#define MUSTER_CERTIFY_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define CERTIFY_CONSTANTS(ROW) \
/* budget: arrays are of the levels quick, standard, full */ \
ROW(integer, BUDGET_ALL_PAIRS_NODES, 8, "nodes", "chosen 2026-11", "up to so many, each level measures all pairs") \
ROW(reals, BUDGET_CONFIDENCE, (0.99, 0.9999, 1 - 1e-12), "probability", "chosen 2026-11", "to find a bad node, by which rounds of links are counted") \
ROW(reals, BUDGET_RAIL_S, (0.45, 0.9, 0.9), "s", "measured 2026-11: labs of 4 to 24 nodes, two rails", "one rail of a pair, both directions") \
ROW(reals, BUDGET_LAUNCH_S, (1, 2, 2), "s", "measured 2026-11: labs of 4 to 24 nodes", "launch on two nodes") \
ROW(reals, BUDGET_COLLECTIVES_S, (2, 8, 30), "s", "measured 2026-11: labs of 4 to 24 nodes", "collectives on two nodes") \
ROW(reals, BUDGET_NODE_S, (0.05, 0.1, 0.2), "s", "measured 2026-11: labs of 4 to 24 nodes", "what each node adds to a stage") \
ROW(reals, BUDGET_TRAIN_S, (0, 20, 120), "s", "measured 2026-11: labs of 4 to 24 nodes", "training") \
ROW(reals, BUDGET_HOST_S, (0, 5, 10), "s", "measured 2026-11: one node of two processors, a disk among it", "host, on the nodes of each machine one after the other") \
ROW(reals, BUDGET_GPU_S, (3, 18, 18), "s", "chosen 2026-11", "each accelerator of a node, by what is done; not measured on a device") \
ROW(reals, BUDGET_LEAST_LIMIT_S, (120, 150, 900), "s", "chosen 2026-11", "no stage is ended before") \
ROW(real, BUDGET_LINKS_LEAST_LIMIT_S, 900, "s", "chosen 2026-11", "links is not ended before") \
ROW(real, BUDGET_PATIENCE, 10, "ratio", "chosen 2026-11", "a stage that takes so many times its estimate has come to a stop") \
ROW(real, BUDGET_SHARED_LAUNCH_S, 0.008, "s", "measured 2026-11: labs of 16, 32 and 64 nodes on two processors", "launch, more for each node and each of those that share its processor") \
ROW(real, BUDGET_SHARED_COLLECTIVES_S, 0.035, "s", "measured 2026-11: labs of 16, 32 and 64 nodes on two processors", "collectives, more for each node and each of those that share its processor") \
ROW(real, BUDGET_SHARED_RAIL, 2, "ratio", "measured 2026-11: labs of 16, 32 and 64 nodes on two processors", "a rail takes so many times as long where nodes share processors") \
ROW(real, BUDGET_SHARED_RAIL_NODES, 8, "nodes per processor", "measured 2026-11: labs of 16, 32 and 64 nodes on two processors", "from which a rail takes that long; less in proportion") \
ROW(integer, BUDGET_RAILS_GUESSED, 2, "rails", "chosen 2026-11", "of a node whose rails are not known yet") \
ROW(integer, BUDGET_SPLIT_ROUNDS, 4, "rounds", "chosen 2026-11", "the first of links, inside of leaves and across, by which limits of leaves and uplinks are seen") \
/* choice of nodes */ \
ROW(integer, CERTIFY_SETTLE_S, 15, "s", "chosen 2026-11", "nodes may take to leave a state that passes") \
ROW(real, CERTIFY_SETTLE_EACH_S, 0.3, "s", "chosen 2026-11", "between the first looks at them, doubled each time: six looks") \
ROW(integer, CERTIFY_CONTROLLER_S, 180, "s", "chosen 2026-11", "for a slurmctld that is started again, or for its backup: SlurmctldTimeout is 120 s") \
ROW(integer, CERTIFY_PARTNERS, 2, "nodes", "chosen 2026-11", "enough as partners of a node that is certified alone") \
ROW(integer, CERTIFY_YIELD_S, 15, "s", "chosen 2026-11", "the run that began first has a job by then") \
ROW(real, CERTIFY_AGAIN_S, 3, "s", "chosen 2026-11", "of runs that began together, each tries again within") \
ROW(integer, CERTIFY_DUE_S, 216000, "s", "chosen 2026-11", "a nightly run renews what ends within two nights, whenever in the night they are: a node that is busy in one has the other") \
ROW(real, CERTIFY_DUE_SHARE, 0.6, "ratio", "chosen 2026-11", "of CertificateValidity, where that is less: the timer of each night is in time whatever the validity") \
ROW(integer, CERTIFY_KEEP_S, 86400, "s", "chosen 2026-11", "a certificate of a higher level is worth keeping if it lasts so long, or the share that is due") \
ROW(integer, CERTIFY_ALLOCATE_S, 20, "s", "chosen 2026-11", "Slurm may take to start the job of a run") \
ROW(integer, CERTIFY_ALLOCATE_NEXT_S, 60, "s", "chosen 2026-11", "the same after a job of the run: epilogs come first") \
ROW(integer, CERTIFY_COMPLETE_WAIT_MOST_S, 600, "s", "chosen 2026-11", "of CompleteWait, that Slurm may take in addition: while jobs complete it starts none") \
ROW(integer, CERTIFY_NOTED_S, 5, "s", "chosen 2026-11", "Slurm may take to note why a job did not start") \
ROW(real, CERTIFY_LOOK_S, 0.5, "s", "chosen 2026-11", "between looks at the nodes after a job that did not start, at first; a tenth of the wait then") \
ROW(integer, CERTIFY_HUNG_S, 15, "s", "chosen 2026-11", "a canceled job ends on no further node: it hangs on those that are left. Epilogs differ by less") \
ROW(integer, CERTIFY_JOB_LOSSES, 3, "jobs", "chosen 2026-11", "that slurmctld loses as it starts again, before no more is asked for: the job may be why") \
ROW(integer, CERTIFY_SHORT_JOB_MIN, 5, "min", "chosen 2026-11", "time limit of a job for check or certificates beyond its steps") \
ROW(integer, CERTIFY_BATTERY_BESIDES_MIN, 2, "min", "chosen 2026-11", "time limit of the battery's job beyond its stages") \
ROW(integer, CERTIFY_RESERVED_BESIDES_MIN, 5, "min", "chosen 2026-11", "a reservation lasts so much longer than its jobs") \
ROW(integer, CERTIFY_REVOKE_STEPS, 4, "steps", "chosen 2026-11", "that revoke certificates from before earlier failures, of one time each") \
/* users' reports of suspects */ \
ROW(integer, SUSPECTS_PARTNERS, 2, "nodes", "chosen 2026-11", "certified together with each suspect") \
ROW(integer, SUSPECTS_OF_USER, 16, "nodes", "chosen 2026-11", "that one user may report within a day") \
ROW(integer, SUSPECTS_DAY_S, 86400, "s", "chosen 2026-11", "that day") \
ROW(integer, SUSPECTS_WAIT_S, 10, "s", "chosen 2026-11", "for a job that collects or removes reports to start") \
ROW(integer, SUSPECTS_COLLECT_S, 30, "s", "chosen 2026-11", "to collect reports") \
ROW(integer, SUSPECTS_QUICK_S, 60, "s", "chosen 2026-11", "after its start a job that fails has failed at once, if the node is to be suspected") \
ROW(integer, SUSPECTS_QUICK_JOBS, 4, "jobs", "chosen 2026-11", "that failed so on a node: fewer make no suspect") \
ROW(real, SUSPECTS_QUICK_ODDS, 1000, "ratio", "chosen 2026-11", "to one against as many by chance") \
ROW(integer, SUSPECTS_REMOVE_S, 20, "s", "chosen 2026-11", "to remove reports") \
/* steps */ \
ROW(integer, CERTIFY_REACH_S, 4, "s", "chosen 2026-11", "slurmd may take to answer") \
ROW(integer, CERTIFY_MISSED_S, 20, "s", "chosen 2026-11", "slurmctld may take to miss a node whose job has ended") \
ROW(integer, CERTIFY_CHECK_S, 20, "s", "chosen 2026-11", "the step that runs muster check, of few nodes, besides what drivers and file servers that hang may take") \
ROW(integer, CERTIFY_NEIGHBORS_S, 15, "s", "chosen 2026-11", "the step that asks lldpd for neighbors") \
ROW(integer, CERTIFY_CERTIFICATE_S, 20, "s", "chosen 2026-11", "the step that writes certificates, of few nodes") \
ROW(integer, CERTIFY_PART_NODES, 128, "nodes", "chosen 2026-11", "with sixteen rails and results of their own fit into the text of one such step") \
ROW(integer, CERTIFY_NODES_PER_S, 50, "nodes/s", "chosen 2026-11", "what a step of many nodes gets more") \
ROW(integer, CERTIFY_CONTAINER_S, 300, "s", "chosen 2026-11", "for a container of GpuContainer to be fetched and to start a program") \
ROW(integer, CERTIFY_PROBE_S, 20, "s", "chosen 2026-11", "for a program to start on a node, without MPI, and end") \
ROW(integer, CERTIFY_MUTE_S, 10, "s", "chosen 2026-11", "an MPI program of few nodes is silent before they are asked whether it starts there") \
ROW(integer, CERTIFY_GRACE_S, 3, "s", "chosen 2026-11", "between SIGTERM and SIGKILL of a step") \
ROW(integer, CERTIFY_WATCH_AFTER_S, 5, "s", "chosen 2026-11", "a step runs before the nodes are looked at") \
ROW(integer, CERTIFY_WATCH_EACH_S, 10, "s", "chosen 2026-11", "between looks at the nodes of a step") \
ROW(integer, CERTIFY_WATCH_MOST, 512, "nodes", "chosen 2026-11", "of a step that are looked at in one go: its output waits meanwhile") \
ROW(integer, CERTIFY_RECORDS_OF_NODE, 8192, "records", "chosen 2026-11", "that are taken of what a program says of a node: 384 cores or 128 devices of GPUs have two thirds of it") \
ROW(integer, CERTIFY_RECORDS_OF_PAIR, 64, "records", "chosen 2026-11", "that are taken besides of each pair of nodes: 16 rails, both ways, latency and bandwidth") \
ROW(integer, CERTIFY_TEXT_OF_NODE, 1048576, "bytes", "chosen 2026-11", "of texts, each kept once, in the records of a node") \
ROW(integer, CERTIFY_SILENT_S, 12, "s", "chosen 2026-11", "a node is silent before it is taken for lost") \
/* the battery */ \
ROW(integer, CERTIFY_TRIES, 3, "tries", "chosen 2026-11", "of a stage, with fewer nodes each time, however long they take; more where its time limit allows") \
ROW(integer, CERTIFY_BLAMELESS_MOST, 1, "tries", "chosen 2026-11", "that end early with no node at fault: a passing cause has only one") \
ROW(integer, CERTIFY_MARGIN_S, 10, "s", "chosen 2026-11", "a program may take to end itself after its time limit") \
ROW(integer, CERTIFY_RETESTS, 4, "nodes", "chosen 2026-11", "suspects of a stage that are measured again; the rest is unknown") \
ROW(integer, CERTIFY_RETEST_PARTNERS, 2, "nodes", "chosen 2026-11", "that a suspect is measured with, one after the other") \
ROW(integer, CERTIFY_SAME_BOOT_S, 5, "s", "chosen 2026-11", "that two reports of one boot's time may differ") \
ROW(integer, HOST_FULL_TIMES, 20, "ratio", "chosen 2026-11", "as long at level full, each core computes, as at level standard") \
ROW(integer, LINKS_CONFIRM_TRIES, 4, "tries", "chosen 2026-11", "of links on suspects, before one is taken for sure") \
/* reports */ \
ROW(real, CERTIFY_SPEED_SHARE, 0.1, "quantile", "chosen 2026-11", "of the speeds of a rail, that all its pairs are held to in reports: a NIC or two that came up slow hide no slow pair") \
ROW(integer, HISTORY_STEP_S, 86400, "s", "chosen 2026-11", "that a clock may be stepped back: runs keep the order in which they are stored. One ahead by more is taken for an error") \
/* campaigns */ \
ROW(integer, CAMPAIGN_WAIT_LEAST_S, 5, "s", "chosen 2026-11", "between looks at the cluster, doubled while nothing changes") \
ROW(integer, CAMPAIGN_WAIT_MOST_S, 60, "s", "chosen 2026-11", "between looks at the cluster, at most") \
ROW(integer, CAMPAIGN_KEPT_S, 60, "s", "chosen 2026-11", "for the history to take in a run that it was busy for: another process copies it") \
ROW(integer, CAMPAIGN_TRIES, 2, "tries", "chosen 2026-11", "of a node without a verdict, before it is left unknown") \
ROW(integer, CAMPAIGN_BROKEN_MOST, 20, "tries", "chosen 2026-11", "in a row that slurmctld does not answer or that a partition gives no job, before a campaign ends or gives the partition up")
/* clang-format on */
CERTIFY_CONSTANTS(CONSTANT_DEFINE)

#endif
