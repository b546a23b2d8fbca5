/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_REFUSAL_H
#define MUSTER_SPANK_REFUSAL_H

#include <stddef.h>

/* What the parts of the prolog have in common: the process of their own that they do their work in,
 * the note about a job that they refused. */

/* The last refusal in a file "refused" beside the certificate that anybody may read, whole or not
 * at all. Best effort. */
void refusal_note(const char *certificate_path, const char *line);

/* In a child: slurmd waits for the end of the prolog's output, and a child that hangs must not hold
 * it open. */
void refusal_let_go_of_output(void);

#endif
