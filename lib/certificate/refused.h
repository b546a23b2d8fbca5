/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REFUSED_H
#define MUSTER_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* The note of the last job that this node's prolog refused: the file "refused" beside the
 * certificate, one line "2026-11-20T16:13:20Z n3: certificate missing: ...". Slurm drains such a
 * node with no other reason than "Prolog error"; the note says that it was muster's. It goes with
 * the next certificate. */

enum { REFUSED_LINE = 1600 };

/* Writes the note, which anybody may read, whole or not at all. Best effort. */
void refused_write(const char *certificate_path, const char *line);

/* Reads it: when, and line without the time, what is not printable as '?'. Returns 0, or -1 when
 * there is none that is root's. */
int refused_read(const char *certificate_path, time_t *when, char *line, size_t size);

/* Best effort. */
void refused_remove(const char *certificate_path);

/* Whether a refusal explains the drain of a node with "Prolog error": by time, as the reason has no
 * more. The clocks of node and controller may be as far apart as MUNGE allows. Pure. */
bool refused_explains(time_t refused, time_t drained);

#endif
