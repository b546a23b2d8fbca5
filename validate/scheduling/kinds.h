/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULING_KINDS_H
#define MUSTER_SCHEDULING_KINDS_H

/* KIND(ID, code, verdict, what, why, source, cure): a row per kind of mistake in a cluster's
 * scheduling configuration, in the order of doc/policy.md. what: one line; why: its consequence;
 * source: the page of Slurm's documentation that says so, as of release 22.05. */

/* clang-format off */
#define POLICY_KIND_LIST(KIND) \
/* limits */ \
KIND(LIMITS_NOT_ENFORCED, "limits-not-enforced", FAIL, \
    "limits are set and not enforced", \
    "without limits in AccountingStorageEnforce limits are not enforced, even if they are set", \
    "accounting.html, Limit Enforcement", \
    "add limits and qos to AccountingStorageEnforce, and restart slurmctld") \
KIND(QOS_NOT_ENFORCED, "qos-not-enforced", FAIL, \
    "users are assigned some QOS but may use all", \
    "access to QOS is enforced only with qos in AccountingStorageEnforce", \
    "accounting.html, Slurm Accounting Configuration After Build", \
    "add qos to AccountingStorageEnforce, and restart slurmctld") \
KIND(ASSOCIATIONS_NOT_ENFORCED, "associations-not-enforced", WARN, \
    "users have accounts but do not need them", \
    "jobs of users without an account, and of invalid accounts, also run", \
    "resource_limits.html, Configuration", \
    "add associations to AccountingStorageEnforce, and restart slurmctld") \
KIND(MINUTES_NOT_SAFE, "minutes-not-safe", WARN, \
    "a budget of minutes kills running jobs", \
    "a job starts while GrpTRESMins is not used up, and can be killed once it is", \
    "slurm.conf(5), AccountingStorageEnforce: safe", \
    "add safe to AccountingStorageEnforce: a job then starts only if the budget lasts until its end") \
KIND(GRES_NOT_TRACKED, "gres-not-tracked", FAIL, \
    "a limit on a resource that is not tracked", \
    "Slurm tracks only the resources that AccountingStorageTRES names, and some by default", \
    "tres.html, slurm.conf settings", \
    "add the resource to AccountingStorageTRES, and restart slurmctld") \
KIND(TYPED_GRES_HOLE, "typed-gres-hole", FAIL, \
    "a limit on a GRES type that jobs without a type bypass", \
    "a limit on a type is not enforced for a job that asks for the GRES without a type", \
    "resource_limits.html, Specific limits over GRES", \
    "have a job_submit plugin refuse GRES without a type, or make the limit on the GRES without a type no larger") \
KIND(TYPED_GRES_ALONE, "typed-gres-alone", WARN, \
    "types of a GRES are tracked, but the GRES is not", \
    "a job that requests no type is accounted under any type, possibly a wrong one", \
    "slurm.conf(5), AccountingStorageTRES", \
    "name the GRES without a type in AccountingStorageTRES too") \
KIND(TYPED_ABOVE_UNTYPED, "typed-above-untyped", WARN, \
    "a limit on a type of GRES above the one on the GRES", \
    "the GRES without a type counts those of all types, so its smaller limit is reached first", \
    "slurm.conf(5), AccountingStorageTRES", \
    "lower the limit on the type, or raise that on the GRES to it") \
KIND(LIMIT_ABOVE_CLUSTER, "limit-above-cluster", WARN, \
    "a limit larger than the cluster", \
    "the cluster has less, so the limit is never reached: a wrong number or unit", \
    "sacctmgr(1), GrpTRES and MaxTRES", \
    "correct the number, or remove the limit with -1") \
KIND(CHILD_ABOVE_PARENT, "child-above-parent", WARN, \
    "a limit above that of the parent account", \
    "a Grp limit of an account applies to all its children together, so the larger limit is never reached", \
    "sacctmgr(1), GrpTRES and the like", \
    "raise the account's limit, or lower the one below it") \
KIND(NO_JOBS_ALLOWED, "no-jobs-allowed", WARN, \
    "a limit of no jobs", \
    "at a limit of submitted jobs more are refused, at a limit of running jobs more wait", \
    "resource_limits.html, MaxJobs and MaxSubmitJobs", \
    "set a number, or remove the limit with -1") \
KIND(LIMIT_SHADOWED, "limit-shadowed", WARN, \
    "a QOS has a tighter limit than the partition's QOS, which takes precedence", \
    "if both set the same limit, the partition's QOS wins, unless the job's QOS has the flag OverPartQOS", \
    "resource_limits.html, Hierarchy", \
    "give the QOS the flag OverPartQOS, or the limit to the partition's QOS") \
KIND(WALL_ABOVE_PARTITIONS, "wall-above-partitions", WARN, \
    "a QOS lets jobs run longer than every partition does", \
    "without the flag PartitionTimeLimit no QOS lets a job run longer than the partition does", \
    "resource_limits.html, Hierarchy", \
    "raise MaxTime, lower MaxWall, or give the QOS the flag PartitionTimeLimit") \
KIND(OVERRIDE_REFUSED, "override-refused", WARN, \
    "a QOS should override a partition's limits, but jobs are refused by them first", \
    "with EnforcePartLimits a job's QOS cannot exceed partition limits", \
    "slurm.conf(5), EnforcePartLimits", \
    "set EnforcePartLimits=NO, or take the flags off the QOS") \
/* QOS and accounts */ \
KIND(NO_ACCOUNTS, "no-accounts", FAIL, \
    "accounts are required, but no user has one", \
    "no new job may run without an association, and only root has one", \
    "slurm.conf(5), AccountingStorageEnforce", \
    "sacctmgr add account NAME; sacctmgr add user NAME account=NAME") \
KIND(QOS_UNUSED, "qos-unused", WARN, \
    "a QOS that nobody may use", \
    "a job needs a QOS of its association; no association of this cluster and no partition has this one", \
    "resource_limits.html, Configuration", \
    "sacctmgr modify account NAME set qos+=QOS, or remove the QOS if no other cluster uses it") \
KIND(DEFAULT_QOS_REFUSED, "default-qos-refused", FAIL, \
    "a default QOS that its user may not use", \
    "the default QOS must be in the user's QOS list; no job is scheduled without a valid QOS", \
    "sacctmgr(1), DefaultQOS; slurm.conf(5), AccountingStorageEnforce", \
    "sacctmgr modify user NAME set qos+=QOS, or another defaultqos") \
KIND(PARTITION_QOS_UNKNOWN, "partition-qos-unknown", FAIL, \
    "a partition names a QOS that does not exist", \
    "a partition has the limits of its QOS: without it no such limit applies", \
    "qos.html, Partition QOS", \
    "sacctmgr add qos NAME, or correct the name in slurm.conf") \
KIND(ALLOW_QOS_UNKNOWN, "allow-qos-unknown", FAIL, \
    "AllowQos or DenyQos names a QOS that does not exist", \
    "the name allows or denies nobody", \
    "slurm.conf(5), AllowQos and DenyQos", \
    "correct the name, or sacctmgr add qos NAME") \
KIND(ALLOW_ACCOUNT_UNKNOWN, "allow-account-unknown", FAIL, \
    "AllowAccounts or DenyAccounts names an account that does not exist", \
    "the name allows or denies nobody", \
    "slurm.conf(5), AllowAccounts and DenyAccounts", \
    "correct the name, or sacctmgr add account NAME") \
KIND(ALLOW_GROUP_UNKNOWN, "allow-group-unknown", FAIL, \
    "AllowGroups names a group that does not exist", \
    "the name allows nobody", \
    "slurm.conf(5), AllowGroups", \
    "correct the name, or create the group on the controller's host") \
KIND(ALLOW_AND_DENY, "allow-and-deny", FAIL, \
    "a partition has both an allow list and a deny list", \
    "if an allow list is set, the deny list is not enforced", \
    "slurm.conf(5), DenyQos and DenyAccounts", \
    "keep one of both lists") \
KIND(PARTITION_FOR_NOBODY, "partition-for-nobody", FAIL, \
    "a partition that nobody may use", \
    "no association has both an account and a QOS that it allows", \
    "slurm.conf(5), AllowAccounts and AllowQos", \
    "sacctmgr modify account NAME set qos+=QOS, or change AllowAccounts or AllowQos") \
/* priority */ \
KIND(WEIGHTS_WITHOUT_PLUGIN, "weights-without-plugin", FAIL, \
    "priority weights are set but not used", \
    "priority/basic takes jobs first in, first out; weights are for priority/multifactor", \
    "slurm.conf(5), PriorityType and PriorityWeightQOS", \
    "set PriorityType=priority/multifactor, and restart slurmctld") \
KIND(WEIGHTS_WITHOUT_ACCOUNTING, "weights-without-accounting", FAIL, \
    "shares or QOS have weights, but there is no accounting", \
    "shares, QOS and associations are in the database of slurmdbd", \
    "priority_multifactor.html, Fair-share Factor; qos.html", \
    "set AccountingStorageType=accounting_storage/slurmdbd, or the weights to 0") \
KIND(WEIGHTS_ALL_ZERO, "weights-all-zero", FAIL, \
    "no factor of the priority has a weight", \
    "each weight is 0 by default, so neither QOS nor shares nor partitions add to a job's priority", \
    "slurm.conf(5), PriorityWeightQOS and the like", \
    "set weights for the intended factors") \
KIND(QOS_WEIGHT_ZERO, "qos-weight-zero", WARN, \
    "QOS have priorities without a weight", \
    "with PriorityWeightQOS=0 the QOS adds nothing to a job's priority", \
    "qos.html, Job Scheduling Priority", \
    "set PriorityWeightQOS") \
KIND(QOS_WEIGHT_IDLE, "qos-weight-idle", WARN, \
    "PriorityWeightQOS is set, but all QOS have the same priority", \
    "the factor is the same for all jobs", \
    "priority_multifactor.html, Quality of Service (QOS) Factor", \
    "sacctmgr modify qos NAME set priority=NUMBER, or PriorityWeightQOS=0") \
KIND(PARTITION_WEIGHT_ZERO, "partition-weight-zero", FAIL, \
    "partitions have a PriorityJobFactor without a weight", \
    "with PriorityWeightPartition=0 PriorityJobFactor adds nothing to a job's priority", \
    "priority_multifactor.html, Job Priority Factors In General", \
    "set PriorityWeightPartition") \
KIND(PARTITION_WEIGHT_IDLE, "partition-weight-idle", WARN, \
    "PriorityWeightPartition is set, but all partitions have the same factor", \
    "the factor is the same for all jobs", \
    "priority_multifactor.html, Partition Factor", \
    "set PriorityJobFactor of partitions, or PriorityWeightPartition=0") \
KIND(SHARES_WEIGHT_ZERO, "shares-weight-zero", WARN, \
    "shares differ without a weight", \
    "with PriorityWeightFairshare=0 shares add nothing to a job's priority", \
    "priority_multifactor.html, Job Priority Factors In General", \
    "set PriorityWeightFairshare") \
KIND(SHARES_ABOVE_QOS, "shares-above-qos", WARN, \
    "shares outweigh the difference between QOS", \
    "each factor is between 0 and 1, so a job of the lowest QOS can go before one of the highest", \
    "priority_multifactor.html, Job Priority Factors In General", \
    "raise PriorityWeightQOS above PriorityWeightFairshare, or lower the latter, unless shares should dominate") \
KIND(USAGE_KEPT_FOREVER, "usage-kept-forever", FAIL, \
    "usage is never forgotten", \
    "with PriorityDecayHalfLife=0 usage does not decay, and PriorityUsageResetPeriod must be set", \
    "slurm.conf(5), PriorityDecayHalfLife", \
    "set PriorityDecayHalfLife, or PriorityUsageResetPeriod") \
/* preemption */ \
KIND(PREEMPT_LISTS_IDLE, "preempt-lists-idle", FAIL, \
    "a QOS has a preempt list, but PreemptType is not preempt/qos", \
    "QOS determine preemption only with PreemptType=preempt/qos", \
    "qos.html, Configuration", \
    "set PreemptType=preempt/qos and a PreemptMode, and restart slurmctld") \
KIND(PREEMPT_MODE_OFF, "preempt-mode-off", FAIL, \
    "preemption is on, but no job can be preempted", \
    "PreemptMode=OFF disables preemption, and it is OFF for every job that could be preempted", \
    "preempt.html, PreemptMode", \
    "set PreemptMode of the cluster, of the QOS or of the partition to REQUEUE, CANCEL or SUSPEND,GANG") \
KIND(PREEMPT_NO_LISTS, "preempt-no-lists", WARN, \
    "PreemptType is preempt/qos, but no QOS has a preempt list", \
    "a job preempts only jobs of the QOS that its own QOS lists", \
    "qos.html, Job Preemption", \
    "sacctmgr modify qos NAME set preempt=QOS, or PreemptType=preempt/none") \
KIND(TIERS_NEVER_PREEMPT, "tiers-never-preempt", FAIL, \
    "PreemptType is preempt/partition_prio, but no partition preempts another", \
    "a partition preempts those with a lower PriorityTier whose nodes it shares", \
    "preempt.html, PriorityTier", \
    "give partitions that share nodes different PriorityTier, the lower one a PreemptMode") \
KIND(TIERS_EQUAL, "tiers-equal", FAIL, \
    "partitions that share nodes differ in PreemptMode, but none has a higher PriorityTier", \
    "partitions of the same PriorityTier do not preempt each other", \
    "preempt.html, PriorityTier", \
    "give the preempting partition a higher PriorityTier") \
KIND(PREEMPTS_HIGHER, "preempts-higher", WARN, \
    "a QOS preempts one of higher priority", \
    "the priority of a QOS does not affect preemption: the higher one is preempted anyway", \
    "sacctmgr(1), Preempt", \
    "give the QOS that preempts the higher priority, or take the other off its list with preempt-=") \
KIND(REQUEUE_OFF, "requeue-off", FAIL, \
    "preempted jobs should be requeued, but JobRequeue is 0", \
    "they are canceled instead, unless the user gave --requeue", \
    "slurm.conf(5), PreemptMode: REQUEUE", \
    "set JobRequeue=1, or PreemptMode=CANCEL if intended") \
KIND(SUSPEND_WITHOUT_GANG, "suspend-without-gang", FAIL, \
    "jobs are suspended but never resumed", \
    "the mode SUSPEND always needs GANG at the cluster level", \
    "slurm.conf(5), PreemptMode: SUSPEND", \
    "set PreemptMode=SUSPEND,GANG of the cluster") \
KIND(SUSPEND_KEEPS_GRES, "suspend-keeps-gres", WARN, \
    "preempted jobs are suspended on nodes with GRES", \
    "suspended jobs do not release GRES, so no job gets a GPU by preemption", \
    "slurm.conf(5), PreemptMode: SUSPEND", \
    "set PreemptMode=REQUEUE or CANCEL for QOS or partitions with GPUs") \
KIND(SUSPEND_WITHOUT_SHARING, "suspend-without-sharing", WARN, \
    "jobs should be suspended in a partition with OverSubscribe=NO", \
    "OverSubscribe=NO disables this preemption on the partition", \
    "slurm.conf(5), OverSubscribe: NO", \
    "set OverSubscribe=FORCE:1 of the partition") \
KIND(FORCE_SHARES_FIRST, "force-shares-first", WARN, \
    "jobs share resources where they should be preempted", \
    "FORCE is recommended only with PreemptMode=SUSPEND,GANG: a job that can start beside others preempts none", \
    "slurm.conf(5), OverSubscribe: FORCE; preempt.html, Preemption Design and Operation", \
    "set OverSubscribe=NO or FORCE:1 of the partition") \
KIND(PARTITION_MODE_IDLE, "partition-mode-idle", WARN, \
    "a partition has its own PreemptMode, but PreemptType is not preempt/partition_prio", \
    "the partition's mode applies only with preempt/partition_prio: it protects no job", \
    "slurm.conf(5), PreemptMode of a partition", \
    "set the PreemptMode of QOS instead") \
KIND(GRACE_OUTLASTS_JOBS, "grace-outlasts-jobs", WARN, \
    "a GraceTime as long as the longest job", \
    "a preempted job ends after GraceTime: it would have ended by then anyway", \
    "preempt.html and sacctmgr(1), GraceTime", \
    "shorten GraceTime") \
KIND(EXEMPT_OUTLASTS_JOBS, "exempt-outlasts-jobs", FAIL, \
    "a PreemptExemptTime as long as the longest job", \
    "a job can be preempted only after PreemptExemptTime, and no job runs that long", \
    "preempt.html, PreemptExemptTime", \
    "shorten PreemptExemptTime") \
/* partitions */ \
KIND(PARTITION_WITHOUT_NODES, "partition-without-nodes", WARN, \
    "a partition without nodes", \
    "with an empty list the partition has no resources: its jobs wait", \
    "slurm.conf(5), Nodes", \
    "set its nodes, or remove it, unless it is meant to be empty for a time") \
KIND(PARTITION_NODES_DOWN, "partition-nodes-down", WARN, \
    "a partition with no node that takes jobs", \
    "nodes that are down, drained or failing are not available for jobs", \
    "sinfo(1), NODE STATE CODES", \
    "sinfo -R shows who drained the nodes, and why") \
KIND(NODE_IN_NO_PARTITION, "node-in-no-partition", WARN, \
    "nodes without a partition", \
    "a job runs in a partition, so no job runs there", \
    "slurm.conf(5), PARTITION CONFIGURATION", \
    "add them to a partition") \
KIND(DEFAULT_ABOVE_MAX, "default-above-max", FAIL, \
    "a DefaultTime above MaxTime", \
    "a job without --time gets DefaultTime, but no job may exceed MaxTime", \
    "slurm.conf(5), DefaultTime and MaxTime", \
    "lower DefaultTime to MaxTime or less") \
KIND(DEFAULT_PARTITION_CLOSED, "default-partition-closed", FAIL, \
    "the default partition is not up", \
    "a job without --partition is refused, or waits", \
    "slurm.conf(5), Default and State of a partition", \
    "scontrol update partitionname=NAME state=up, or make another one the default") \
KIND(MIN_ABOVE_MAX, "min-above-max", FAIL, \
    "MinNodes above MaxNodes or above the partition", \
    "no number of nodes satisfies both", \
    "slurm.conf(5), MinNodes and MaxNodes", \
    "lower MinNodes") \
KIND(MEMORY_ABOVE_NODES, "memory-above-nodes", FAIL, \
    "the default memory is more than every node has, or than MaxMemPerNode", \
    "a job without --mem gets the default, but no node has it or no job may use it", \
    "slurm.conf(5), DefMemPerNode, DefMemPerCPU and MaxMemPerNode", \
    "lower the default") \
KIND(PART_LIMITS_NOT_ENFORCED, "part-limits-not-enforced", WARN, \
    "jobs over a partition's limits are accepted", \
    "with EnforcePartLimits=NO they stay queued until the limits are changed, instead of being refused", \
    "slurm.conf(5), EnforcePartLimits", \
    "set EnforcePartLimits=ALL") \
KIND(TIME_UNLIMITED, "time-unlimited", WARN, \
    "jobs without a time limit have no end", \
    "backfill plans with the expected end of jobs and needs reasonable time limits", \
    "sched_config.html, Backfill Scheduling", \
    "set DefaultTime or MaxTime of the partition") \
/* scheduler */ \
KIND(WINDOW_TOO_SHORT, "window-too-short", WARN, \
    "the backfill window is shorter than the longest job", \
    "with a window shorter than the longest time limit jobs may starve", \
    "slurm.conf(5), SchedulerParameters: bf_window", \
    "set bf_window to the longest MaxTime, in minutes, 43200 at most") \
KIND(RESOLUTION_TOO_FINE, "resolution-too-fine", WARN, \
    "backfill plans a long window in small steps", \
    "if bf_window is increased, increase bf_resolution too, to limit the backfill data", \
    "slurm.conf(5), SchedulerParameters: bf_window", \
    "raise bf_resolution, for example to 600 for a week") \
KIND(PARAMETERS_IDLE, "parameters-idle", WARN, \
    "backfill parameters without backfill", \
    "bf_ parameters are for sched/backfill only", \
    "slurm.conf(5), SchedulerParameters", \
    "set SchedulerType=sched/backfill, or remove them") \
KIND(PARAMETER_UNKNOWN, "parameter-unknown", WARN, \
    "a scheduler parameter with a misspelled name", \
    "the manual does not list this parameter, so the intended one is not set", \
    "slurm.conf(5), SchedulerParameters", \
    "correct the name") \
KIND(WEIGHT_BEFORE_TOPOLOGY, "weight-before-topology", WARN, \
    "nodes under a topology have different Weight", \
    "Weight overrides the selection of nodes by topology", \
    "topology.html, Hierarchical Networks", \
    "give nodes of a partition the same Weight, or do without the topology if Weight matters more") \
KIND(LLN_SCATTERS, "lln-scatters", WARN, \
    "least loaded nodes first under a topology", \
    "LLN is recommended for serial jobs only: parallel jobs are distributed across many nodes", \
    "slurm.conf(5), LLN", \
    "set LLN=NO, or keep it for partitions of serial jobs") \
KIND(ARRAY_ABOVE_JOBS, "array-above-jobs", WARN, \
    "an array may have more tasks than the cluster allows jobs", \
    "each task counts as a job, and no more than MaxJobCount jobs can exist", \
    "slurm.conf(5), MaxArraySize and MaxJobCount", \
    "make MaxJobCount much larger than MaxArraySize, or set max_array_tasks") \
/* reservations */ \
KIND(RESERVATION_OVERLAPS, "reservation-overlaps", WARN, \
    "two reservations have the same nodes at the same time", \
    "jobs of the first reservation cannot use the nodes that the second took with OVERLAP", \
    "reservations.html, Overlapping Reservations", \
    "unless intended, scontrol update reservation=NAME nodes=LIST or starttime=TIME") \
KIND(RESERVATION_WITHOUT_NODES, "reservation-without-nodes", FAIL, \
    "a reservation of nodes that do not exist", \
    "jobs in a reservation can use only what it has", \
    "reservations.html", \
    "scontrol update reservation=NAME nodes=LIST") \
KIND(RESERVATION_FOR_NOBODY, "reservation-for-nobody", FAIL, \
    "a reservation for a user, group or account that does not exist", \
    "the intended users cannot use it, and no other job can use its nodes", \
    "reservations.html", \
    "scontrol update reservation=NAME users=LIST or accounts=LIST") \
/* end of kinds */
/* clang-format on */

#endif
