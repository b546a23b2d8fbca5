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

/* Returns extra with the certificate's level (certificate_level()) and end (seconds since 1970) in
 * it; level 0 removes both. extra NULL or "" is an empty object, and an object with nothing left in
 * it is "". The caller frees the text. NULL with err: extra is no JSON object (it is the site's own
 * and to be left alone), or memory is out. */
char *extra_set_level(const char *extra, int level, long long expires, struct error *err);

/* Returns whether extra shows a certificate that has ended by now, in seconds since 1970. */
bool extra_is_expired(const char *extra, long long now);

/* What a node's health check publishes for the health checks of the other nodes: why its gate would
 * refuse jobs, "changed kernel", and why it would be drained (policy/health.h). */
#define EXTRA_GATE "muster_gate"
#define EXTRA_FAULT "muster_fault"

/* As extra_set_level(): sets the note of one of these keys; NULL removes it. */
char *extra_set_note(const char *extra, const char *key, const char *note, struct error *err);

/* Returns the note of the key, malloc'd, or NULL. */
char *extra_read_note(const char *extra, const char *key);

#endif
