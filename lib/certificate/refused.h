/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REFUSED_H
#define MUSTER_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* The note of the last job that this node's prolog refused: the file "refused" beside the
 * certificate, one line "2026-11-20T16:13:20Z n3: certificate missing: ...". Slurm drains such a
 * node with the reason "Prolog error" only; the note shows that muster refused the job. The next
 * certificate removes the note. */

enum { REFUSED_LINE = 1600 };

/* Writes the note, completely or not at all, readable for all. Best effort. */
void refused_write(const char *certificate_path, const char *line);

/* Reads the note: when, and line without the time, with unprintable bytes as '?'. Returns 0, or -1
 * if there is no note owned by root. */
int refused_read(const char *certificate_path, time_t *when, char *line, size_t size);

/* Best effort. */
void refused_remove(const char *certificate_path);

/* Returns whether the refusal explains a drain with the reason "Prolog error". Compares only the
 * times, as the reason says nothing more. The clocks of node and controller may differ as much as
 * MUNGE allows. Pure. */
bool refused_explains(time_t refused, time_t drained);

#endif
