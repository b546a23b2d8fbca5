/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SAVER_H
#define MUSTER_SAVER_H

#include "trainer/checkpoint/checkpoint.h"

/* Writes checkpoints in a thread of its own, from a copy, while training goes on. */

struct saver;

/* Takes memory for a copy of count elements of the three arrays, makes the directory and locks it:
 * two runs that write to one directory would take away each other's files. directory must live as
 * long. Returns 0, or -1 with err. */
int saver_create(const char *directory, const struct checkpoint_problem *problem, size_t count,
                 int keep, struct saver **saver, struct error *err);

/* Copies the state and begins to write it; waits first for the one before. Returns 0; -1 with err
 * when the one before could not be written (this one is begun all the same). */
int saver_save(struct saver *saver, long step, const struct checkpoint_state *state,
               struct error *err);

/* Waits for what is being written: 0, or -1 with err "checkpoint of step N: ...". */
int saver_wait(struct saver *saver, struct error *err);

/* Waits, whatever comes of it. */
void saver_destroy(struct saver *saver);

#endif
