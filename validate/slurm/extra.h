/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_EXTRA_H
#define MUSTER_EXTRA_H

#include <stdbool.h>

#include "lib/base/error.h"

/* What a node's Extra says of its certificate, for jobs that ask with srun --extra
 * 'muster_level>=2' (Slurm 23.11 and later, SchedulerParameters=extra_constraints). Extra is a JSON
 * object; what the site has in it besides stays as it is.
 *
 *   {"muster_level":2,"muster_expires":1795794800} */

/* extra with the certificate's level (certificate_level()) and end (seconds since 1970) in it;
 * level 0 takes both out. extra NULL or "" is an empty object, and an object with nothing left in
 * it is "". Returns a text for the caller to free, or NULL with err: extra is no JSON object (it is
 * the site's own and to be left alone), or memory is out. */
char *extra_with(const char *extra, int level, long long expires, struct error *err);

/* Whether it offers a certificate that has ended by now, seconds since 1970. */
bool extra_is_over(const char *extra, long long now);

/* What the node's health check publishes for those of the other nodes: what its gate would refuse
 * its jobs for, "changed kernel", and what it would be drained for (policy/health.h). */
#define EXTRA_GATE "muster_gate"
#define EXTRA_FAULT "muster_fault"

/* extra with that note of one of these keys; NULL takes it out. As extra_with(). */
char *extra_with_note(const char *extra, const char *key, const char *note, struct error *err);

/* The note that it has, malloc'd, or NULL. */
char *extra_note(const char *extra, const char *key);

#endif
