/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_WATCH_H
#define MUSTER_TESTS_SPANK_HOST_WATCH_H

/* Checks that a hook leaves the process unchanged: open files, umask, working directory, signal
 * mask and handlers, limits, user and group, alarm, environ (except in srun, where a hook may set
 * variables), children, threads. Checks the status: 0, or -1 in job_prolog, in option callbacks,
 * and in init_post_opt and local_user_init of srun, sbatch and salloc. */

/* Sets host_before_hook and host_after_hook. Calls complain with one line for each violation. */
void watch_hooks(void (*complain)(const char *line));

#endif
