/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WINDOW_H
#define MUSTER_WINDOW_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that the ranks of one node share: a part for each rank in each of some slots, so that
 * calls can be under way at once, and what each rank has told in the slot. A call has a ticket, the
 * same at all ranks; it shares its slot with the call that is by the number of slots before it, and
 * waits until all ranks have left that one. A rank that waits for nothing else (the root of a
 * broadcast) is so many calls ahead of the others at most. That costs little where parts are small:
 * there are a few slots with room for much, more with room for little, and many with room for a few
 * lines. Pages are there once they are touched, on the NUMA node of the rank that writes them
 * first; with many ranks that takes longer than a small call, so all slots for a few lines are on a
 * few. */

enum {
    WINDOW_SLOTS = 2,
    WINDOW_SMALL_SLOTS = 16, /* PLAN_WINDOW_SMALL_BYTES at most */
    WINDOW_TINY_SLOTS = 64,  /* WINDOW_TINY_BYTES at most */
    WINDOW_LEAST_SLOTS = 64, /* WINDOW_LEAST_BYTES at most */
};

/* With the word that tells of them, a slot is then four lines, or half of one: the caches' own work
 * of two calls is one line's then. */
enum { WINDOW_TINY_BYTES = 248, WINDOW_LEAST_BYTES = 24 };

struct window;
struct window_slots;

struct window_ticket {
    struct window_slots *slots;
    uint64_t number;
    size_t at; /* where the slot stands among those of a rank, bytes */
};

/* All ranks of comm call it. NULL at all of them where they cannot share memory: they are on
 * several nodes, in containers that do not see each other, or there is no memory. */
struct window *window_create(MPI_Comm comm);
void window_destroy(struct window *window); /* NULL is fine; nothing is under way at any rank */

/* For a call that uses part_bytes of each part, PLAN_WINDOW_BYTES at most: the same at all ranks.
 */
void window_take_ticket(struct window *window, size_t part_bytes, struct window_ticket *ticket);

/* Whether all ranks have left the slot's earlier call. To be seen true before anything else. */
bool window_is_free(const struct window *window, const struct window_ticket *ticket);

/* A rank's part, aligned to 8 bytes, a large one to a page. */
char *window_part(const struct window *window, const struct window_ticket *ticket, int rank);

/* Whether ranks may read and write each other's memory, all of all: the kernel may forbid it
 * (ptrace(2)). */
bool window_can_pull(const struct window *window);

/* Where this rank's buffers are in the call, told to the others with the first signal: the part
 * holds their addresses. */
enum { WINDOW_BUFFERS = 2 };
void window_announce(struct window *window, const struct window_ticket *ticket,
                     const void *const buffers[WINDOW_BUFFERS]);

/* Reads bytes of a peer's buffer, from an offset on, to own, or writes them there from own. The
 * peer has told something in the call. -1 with errno: it could not be reached. */
int window_reach(const struct window *window, const struct window_ticket *ticket, int peer,
                 int buffer, size_t offset, void *own, size_t bytes, bool writes);

/* Tells the others: what was written before can be read by who sees the number reached. */
void window_signal(struct window *window, const struct window_ticket *ticket, unsigned number);
bool window_has_reached(struct window *window, const struct window_ticket *ticket, int rank,
                        unsigned number);

/* Whether lately some word that was told took long to come: its processor shares no cache with this
 * one's. A cache so far away gives up a line slowly, too, so what is written to be read there is
 * better written past the caches (nontemporal.h). Words are timed in calls with large parts;
 * where a processor has no clock for that, none is far. */
bool window_is_far(const struct window *window);

/* This rank has done all that it does in the call, and told all that others wait for. */
void window_leave(struct window *window, const struct window_ticket *ticket);

#endif
