/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/scheduling/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Backfill, node weights, and how far the scheduler plans: slurm.conf(5), SchedulerParameters. */

enum { WINDOW_MINUTES = 1440, RESOLUTION_S = 60 }; /* Slurm's defaults */
enum { WINDOW_MOST_MINUTES = 43200 };

/* The most steps of a plan. The default is 1440, a day by the minute. Our own judgment: the
 * manual's advice is about four times as many. */
enum { STEPS_MOST = 4 * WINDOW_MINUTES };

/* Names of SchedulerParameters of releases 22.05 to 25.05. */
static const char known[] =
    "Ignore_NUMA, allow_zero_lic, assoc_limit_stop, batch_sched_delay, bb_array_stage_cnt, "
    "bf_allow_magnetic_mixed, bf_busy_nodes, bf_continue, bf_hetjob_immediate, bf_hetjob_prio, "
    "bf_interval, bf_job_part_count_reserve, bf_licenses, bf_max_job_array_resv, "
    "bf_max_job_assoc, bf_max_job_part, bf_max_job_start, bf_max_job_test, bf_max_job_user, "
    "bf_max_job_user_part, bf_max_time, bf_min_age_reserve, bf_min_prio_reserve, "
    "bf_node_space_size, bf_one_resv_per_job, bf_resolution, bf_running_job_reserve, "
    "bf_topopt_enable, bf_topopt_iterations, bf_window, bf_window_linear, bf_yield_interval, "
    "bf_yield_sleep, build_queue_timeout, correspond_after_task_cnt, default_queue_depth, defer, "
    "defer_batch, delay_boot, disable_hetjob_steps, disable_job_shrink, enable_hetjob_steps, "
    "enable_job_state_cache, enable_user_top, extra_constraints, ignore_constraint_validation, "
    "ignore_prefer_validation, inventory_interval, kill_invalid_depend, max_array_tasks, "
    "max_depend_depth, max_rpc_cnt, max_sched_time, max_script_size, max_submit_line_size, "
    "max_switch_wait, no_backup_scheduling, no_env_cache, nohold_on_prolog_fail, "
    "pack_serial_at_end, partition_job_depth, preempt_reorder_count, preempt_send_user_signal, "
    "preempt_strict_order, preempt_youngest_first, reduce_completing_frag, requeue_delay, "
    "requeue_setup_env_fail, salloc_wait_nodes, sbatch_wait_nodes, sched_interval, "
    "sched_max_job_start, sched_min_interval, spec_cores_first, step_retry_count, "
    "step_retry_time, time_min_as_soft_limit, whole_hetjob";

/* Returns the number behind NAME= in the list, else `otherwise`. */
static double parameter(const char *list, const char *name, double otherwise)
{
    double value = site_tres(list, name);

    return isnan(value) ? otherwise : value;
}

static void check_parameters(struct policy_findings *findings, const char *list)
{
    enum { NEAR = 2, LENGTH_LEAST = 8 }; /* shorter words are near too many */
    char word[256], name[64], nearest[64];

    while (site_word(&list, word, sizeof word)) {
        const char *names = known;
        size_t least = NEAR + 1;

        word[strcspn(word, "=")] = '\0';
        while (site_word(&names, name, sizeof name))
            if (text_distance(word, name) < least) {
                least = text_distance(word, name);
                strcpy(nearest, name);
            }
        if (least > 0 && least <= NEAR && strlen(word) >= LENGTH_LEAST)
            policy_add(findings, POLICY_PARAMETER_UNKNOWN, "SchedulerParameters", "slurm.conf",
                       "SchedulerParameters has %s; did you mean %s", word, nearest);
    }
}

static void check_window(struct policy_findings *findings, const char *list)
{
    const struct site *site = findings->site;
    double window = parameter(list, "bf_window", WINDOW_MINUTES),
           resolution_s = parameter(list, "bf_resolution", RESOLUTION_S), longest_s = 0;
    const struct site_record *longest = NULL, *partition = NULL;

    while (site_next(site, CLUSTER_PARTITIONS, &partition)) {
        double most_s = site_seconds(site_value(partition, "MaxTime"));

        /* a time without an end is longer than every window, and has a finding of its own */
        if (policy_is_up(partition) && isfinite(most_s) && most_s > longest_s) {
            longest_s = most_s;
            longest = partition;
        }
    }
    if (longest && fmin(longest_s, WINDOW_MOST_MINUTES * 60) > window * 60)
        policy_add(findings, POLICY_WINDOW_TOO_SHORT, "SchedulerParameters", "slurm.conf",
                   "bf_window is %.0f minutes, but MaxTime of partition %s is %.0f", window,
                   site_value(longest, "PartitionName"), longest_s / 60);
    if (resolution_s > 0 && window * 60 / resolution_s > STEPS_MOST)
        policy_add(findings, POLICY_RESOLUTION_TOO_FINE, "SchedulerParameters", "slurm.conf",
                   "bf_window is %.0f minutes, and bf_resolution %.0f s: %.0f steps", window,
                   resolution_s, window * 60 / resolution_s);
}

static bool has_topology(const struct site *site)
{
    const char *plugin = site_config(site, "TopologyPlugin");

    return strcasestr(plugin, "tree") || strcasestr(plugin, "block");
}

/* Checks whether nodes of one partition have different weights. */
static void check_nodes(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const struct site_record *partition = NULL;

    while (has_topology(site) && site_next(site, CLUSTER_PARTITIONS, &partition)) {
        const struct site_record *first = NULL, *node = NULL;

        while (site_next(site, CLUSTER_NODES, &node)) {
            const char *weight = site_value(node, "Weight");

            if (!site_is_member(site, partition, node) || !*weight)
                continue;
            if (!first) {
                first = node;
            } else if (strcmp(weight, site_value(first, "Weight")) != 0) {
                policy_add(findings, POLICY_WEIGHT_BEFORE_TOPOLOGY, "NodeName", "slurm.conf",
                           "TopologyPlugin is %s; node %s has Weight=%s, node %s %s",
                           site_config(site, "TopologyPlugin"), site_value(first, "NodeName"),
                           site_value(first, "Weight"), site_value(node, "NodeName"), weight);
                return;
            }
        }
    }
}

static void check_least_loaded(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    bool is_everywhere = site_list_has(site_config(site, "SelectTypeParameters"), "CR_LLN");
    const char *plugin = site_config(site, "TopologyPlugin");
    const struct site_record *partition = NULL;

    if (!has_topology(site))
        return;
    if (is_everywhere)
        policy_add(findings, POLICY_LLN_SCATTERS, "SelectTypeParameters", "slurm.conf",
                   "SelectTypeParameters has CR_LLN, but TopologyPlugin is %s", plugin);
    while (!is_everywhere && site_next(site, CLUSTER_PARTITIONS, &partition))
        if (strcasecmp(site_value(partition, "LLN"), "YES") == 0)
            policy_add(findings, POLICY_LLN_SCATTERS, "PartitionName",
                       policy_object(CLUSTER_PARTITIONS, partition).text,
                       "LLN=YES, but TopologyPlugin is %s", plugin);
}

void policy_check_scheduler(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const char *list = site_config(site, "SchedulerParameters"),
               *type = site_config(site, "SchedulerType");
    double array = site_number(site_config(site, "MaxArraySize")),
           tasks = parameter(list, "max_array_tasks", INFINITY),
           jobs = site_number(site_config(site, "MaxJobCount"));

    check_parameters(findings, list);
    if (strcasestr(type, "backfill"))
        check_window(findings, list);
    else if (strncmp(list, "bf_", 3) == 0 || strstr(list, ",bf_"))
        policy_add(findings, POLICY_PARAMETERS_IDLE, "SchedulerParameters", "slurm.conf",
                   "SchedulerType is %s, but SchedulerParameters is %s", type, list);
    check_nodes(findings);
    check_least_loaded(findings);
    if (array - 1 > jobs && tasks > jobs) /* it is one above the largest index */
        policy_add(findings, POLICY_ARRAY_ABOVE_JOBS, "MaxArraySize", "slurm.conf",
                   "MaxArraySize is %.0f, but MaxJobCount is %.0f", array, jobs);
}
