/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WINDOW_H
#define MUSTER_WINDOW_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that the ranks of one node share. It has slots, so that several calls can be under way at
 * once; a slot has a part and a signal word for each rank. A call has a ticket, the same at all
 * ranks, and uses the slots in turn: it waits until all ranks have left the earlier call of its
 * slot. So a rank that waits for nothing else (the root of a broadcast) is at most as many calls
 * ahead of the others as there are slots. Small parts cost little: there are few slots with large
 * parts, more with small ones, and many with parts of a few cache lines. Pages are allocated when
 * they are touched, on the NUMA node of the rank that writes them first. With many ranks that takes
 * longer than a small call, so the slots of a few lines share few pages. */

enum {
    WINDOW_SLOTS = 2,
    WINDOW_SMALL_SLOTS = 16, /* PLAN_WINDOW_SMALL_BYTES at most */
    WINDOW_TINY_SLOTS = 64,  /* WINDOW_TINY_BYTES at most */
    WINDOW_LEAST_SLOTS = 64, /* WINDOW_LEAST_BYTES at most */
};

/* With its signal word a slot takes four cache lines, or half a line: two calls then cost the
 * caches no more than one line. */
enum { WINDOW_TINY_BYTES = 248, WINDOW_LEAST_BYTES = 24 };

struct window;
struct window_slots;

struct window_ticket {
    struct window_slots *slots;
    uint64_t number;
    size_t at; /* offset of the slot among those of a rank, in bytes */
};

/* Creates a window. All ranks of comm call it. Returns NULL at all of them if they cannot share
 * memory: they are on several nodes, in containers that do not see each other, or memory is out. */
struct window *window_create(MPI_Comm comm);
void window_destroy(struct window *window); /* NULL is fine; nothing is under way at any rank */

/* Takes the ticket of a call that uses part_bytes of each part, PLAN_WINDOW_BYTES at most and the
 * same at all ranks. */
void window_take_ticket(struct window *window, size_t part_bytes, struct window_ticket *ticket);

/* Whether all ranks have left the slot's earlier call. A call uses its slot only after that. */
bool window_is_free(const struct window *window, const struct window_ticket *ticket);

/* Returns a rank's part, aligned to 8 bytes, or to a page if it is large. */
char *window_part(const struct window *window, const struct window_ticket *ticket, int rank);

/* Whether each rank may read and write every other's memory: the kernel may forbid it
 * (ptrace(2)). */
bool window_can_pull(const struct window *window);

/* Writes the addresses of this rank's buffers into its part; its first signal publishes them. */
enum { WINDOW_BUFFERS = 2 };
void window_announce(struct window *window, const struct window_ticket *ticket,
                     const void *const buffers[WINDOW_BUFFERS]);

/* Copies bytes of a peer's buffer, from an offset on, to own, or if writes from own to there. The
 * peer must have signalled in the call. Returns -1 with errno if its memory cannot be accessed. */
int window_reach(const struct window *window, const struct window_ticket *ticket, int peer,
                 int buffer, size_t offset, void *own, size_t bytes, bool writes);

/* Publishes a number: a rank that sees that it has been reached can read what was written
 * before. */
void window_signal(struct window *window, const struct window_ticket *ticket, unsigned number);
bool window_has_reached(struct window *window, const struct window_ticket *ticket, int rank,
                        unsigned number);

/* Whether a signal word recently took long to arrive: its processor shares no cache with this
 * one's. Such a cache is also slow to give up a line, so data to be read there is better written
 * past the caches (nontemporal.h). Words are timed in calls with large parts; on processors without
 * a time stamp counter this returns false. */
bool window_is_far(const struct window *window);

/* Leaves the slot: this rank has done all its work in the call, and signalled all that others
 * await. */
void window_leave(struct window *window, const struct window_ticket *ticket);

#endif
