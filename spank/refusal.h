/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_REFUSAL_H
#define MUSTER_SPANK_REFUSAL_H

/* What the parts of the prolog have in common: the process of their own that they do their work in.
 * The note about a job that they refused is lib/certificate/refused.h. */

/* In a child: slurmd waits for the end of the prolog's output, and a child that hangs must not hold
 * it open. */
void refusal_let_go_of_output(void);

#endif
