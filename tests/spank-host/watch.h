/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_WATCH_H
#define MUSTER_TESTS_SPANK_HOST_WATCH_H

/* What a hook has to leave in the process as it found it: open files, umask, working directory,
 * signal mask and handlers, limits, user and group, alarm, environ (but in srun, where a hook may
 * hand variables on), children, threads; and what it may return: 0, and -1 only in job_prolog, in
 * option callbacks, and in srun, sbatch and salloc in init_post_opt and local_user_init. */

/* Sets host_before_hook and host_after_hook. complain is called with one line for each difference.
 */
void watch_hooks(void (*complain)(const char *line));

#endif
