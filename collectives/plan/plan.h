/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_H
#define MUSTER_PLAN_H

#include "collectives/wire/wire.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one rank does in a collective, as a list of steps. An algorithm is a pure function from a
 * shape to a plan, so that it can be tried for any number of ranks without MPI, its time be
 * predicted, and one engine can run them all.
 *
 * An algorithm writes its steps down as a program that would be right if they ran one after the
 * other, a send being buffered. What may overlap is found out here: a step comes after those that
 * wrote what it reads, and after those that read or wrote what it writes.
 *
 * Steps of one kind begin in their order (sends; receives; what is computed), so that messages
 * between two ranks need no number: the n-th sent is the n-th received. */

enum collective_kind {
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_REDUCE,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_KINDS
};

const char *
collective_kind_name(enum collective_kind kind); /* "allreduce", "reduce-scatter", ... */
bool collective_kind_parse(const char *name, enum collective_kind *kind);

/* Whether the kind reduces, so that an operation counts. */
bool collective_kind_reduces(enum collective_kind kind);

/* Whether the kind has a root. */
static inline bool collective_kind_has_root(enum collective_kind kind)
{
    return kind == COLLECTIVE_BROADCAST || kind == COLLECTIVE_REDUCE;
}

/* Whether a call's count is that of a block for each rank, and counts of their own may be given. */
bool collective_kind_has_blocks(enum collective_kind kind);

/* busbw = algbw x this, as nccl-tests defines it: 2 (p - 1) / p of an allreduce, (p - 1) / p of
 * reduce-scatter, all-gather and all-to-all, 1 of the others. algbw counts all blocks together:
 * what COLLECTIVE_ALL_GATHER has in out, COLLECTIVE_REDUCE_SCATTER and ALL_TO_ALL in `in`. */
double collective_kind_factor(enum collective_kind kind, int ranks);

/* Where ranks are. The arrays belong to the caller and live as long as plans are made. */
struct plan_topology {
    const int *node_of_rank; /* [ranks], nodes from 0 up in the order of their lowest ranks */
    int nodes;
    bool has_window; /* the ranks of a node share memory for PLAN_WINDOW */
    bool can_pull;   /* ... and may read and write each other's: plan_pull(), plan_push() */
    int processors;  /* that it has, where it is one node with more ranks than those; else 0 */
    const int *ring; /* [ranks], the ranks in the order in which a ring visits them; NULL: as they
                        are numbered */
};

/* Whether ranks wait for processors. */
static inline bool plan_is_oversubscribed(const struct plan_topology *topology)
{
    return topology->processors > 0;
}

/* What is asked for. Blocks: allreduce, broadcast, reduce have one of `count` elements. The others
 * have one per rank, of count elements each, or of counts[rank]: reduce-scatter in `in`, all-gather
 * in `out`, all-to-all in both. */
struct plan_shape {
    enum collective_kind kind;
    size_t element_bytes;
    int rank, ranks, root; /* root: of broadcast and reduce */
    size_t count;
    const size_t *counts;       /* [ranks] or NULL: count each */
    const size_t *offsets;      /* [ranks], elements, or NULL: one after the other */
    const size_t *send_counts;  /* [ranks]: all-to-all's blocks in `in`, where counts and offsets */
    const size_t *send_offsets; /* are those in out; both or neither */
    bool in_place;  /* all-gather: this rank's block is in out already; others: out holds `in` */
    size_t segment; /* elements that travel at once; 0: blocks whole */
    enum wire_format wire;
    const struct plan_topology *topology; /* NULL: all ranks on nodes of their own */
};

struct plan_block {
    size_t offset, count; /* elements */
};

/* The rank's block in the buffer that has one per rank (all-to-all: in out). */
struct plan_block plan_shape_block(const struct plan_shape *shape, int rank);

/* The rank's block in `in` of all-to-all. */
struct plan_block plan_shape_send_block(const struct plan_shape *shape, int rank);

/* The count of the greatest of all ranks' blocks. */
size_t plan_shape_greatest_block(const struct plan_shape *shape);

/* The k-th piece of `each` elements of a block; empty behind its end. */
struct plan_block plan_block_piece(struct plan_block block, size_t each, size_t k);

/* Part `index` of count elements in `parts` parts whose sizes differ by 1 at most. */
struct plan_block plan_part(size_t count, int parts, int index);

/* The rank that a ring visits at a position, and back; any position, also negative. */
int plan_ring_rank(const struct plan_shape *shape, int position);
int plan_ring_position(const struct plan_shape *shape, int rank);

/* --------------------------------------------------------------------------------------- plan */

/* PLAN_WIRE: slots for coded messages; the offset is the number of a slot, which has room for
 * plan->wire_count elements. Algorithms do not see it.
 * PLAN_WINDOW: memory that all ranks of a node share, with a part of plan->window elements for
 * each: offset / plan->window is the rank. A rank writes its own part alone and reads those of
 * others, when they have signalled. */
enum plan_buffer { PLAN_IN, PLAN_OUT, PLAN_SCRATCH, PLAN_WIRE, PLAN_WINDOW, PLAN_BUFFERS };

/* Of a rank's part of the window, at most. Two halves of it stay in the second-level caches of what
 * is built since 2020. */
enum { PLAN_WINDOW_BYTES = 1 << 21 };

/* A plan that uses no more than this of a part need not wait for the one before it: who only writes
 * goes on while others have yet to read. */
enum { PLAN_WINDOW_SMALL_BYTES = 8192 };

struct plan_address {
    enum plan_buffer buffer;
    size_t offset; /* elements */
};

enum plan_action {
    PLAN_SEND,    /* left to peer */
    PLAN_RECEIVE, /* peer to out */
    PLAN_COPY,    /* left to out */
    PLAN_REDUCE,  /* out = left op right */
    PLAN_ENCODE,  /* left, coded, to the slot out */
    PLAN_DECODE,  /* the slot left to out */
    PLAN_SIGNAL,  /* tells the ranks of the node `number`: all computed before can be seen */
    PLAN_AWAIT,   /* until peer has told `number` or a greater one */
    PLAN_PULL,    /* left, in the peer's buffer of this name, to out */
    PLAN_PUSH,    /* left to out, in the peer's buffer of this name */
};

/* Of a rank, sends and receives each, by whoever runs a plan. */
enum { PLAN_MESSAGES_UNDER_WAY = 16 };

/* Steps of one stream begin in their order. */
enum plan_stream { PLAN_SENDS, PLAN_RECEIVES, PLAN_COMPUTES, PLAN_STREAMS };
enum plan_stream plan_stream_of(enum plan_action action);

struct plan_step {
    enum plan_action action;
    int peer; /* of sends, receives, awaits, pulls and pushes */
    struct plan_address left, right, out;
    size_t count;        /* elements */
    unsigned number;     /* of signals and awaits */
    bool is_nontemporal; /* of copies and reductions: out goes past the caches */
    unsigned after;      /* where the steps that must have ended begin in plan->after */
    unsigned after_end;  /* and end; all have lower numbers */
};

/* Whether the step reads `left`, and writes `out`, of this rank. */
static inline bool plan_step_reads(const struct plan_step *step)
{
    return step->action != PLAN_RECEIVE && step->action != PLAN_SIGNAL &&
           step->action != PLAN_AWAIT && step->action != PLAN_PULL;
}

static inline bool plan_step_writes(const struct plan_step *step)
{
    return step->action != PLAN_SEND && step->action != PLAN_SIGNAL && step->action != PLAN_AWAIT &&
           step->action != PLAN_PUSH;
}

struct plan {
    struct plan_step *steps;
    unsigned step_count;
    unsigned *after;
    size_t scratch;                /* elements */
    size_t window;                 /* elements of a rank's part of PLAN_WINDOW; 0: it uses none */
    bool publishes_buffers;        /* a rank's part holds where its PLAN_IN and PLAN_OUT are */
    size_t wire_slots, wire_count; /* slots of PLAN_WIRE, and the elements that each has room for */
    unsigned *streams[PLAN_STREAMS], stream_counts[PLAN_STREAMS]; /* numbers of steps, in order */

    struct plan_maker *maker; /* between plan_begin() and plan_end() */
};

/* A plan without is one stream: its steps are its order. */
static inline bool plan_has_messages(const struct plan *plan)
{
    return plan->stream_counts[PLAN_SENDS] > 0 || plan->stream_counts[PLAN_RECEIVES] > 0;
}

/* Makes an empty plan for the shape, which lives at least until plan_end(). */
void plan_begin(struct plan *plan, const struct plan_shape *shape);

/* Each adds a step, or none where count is 0; a message above 1 GiB becomes several. Memory that is
 * out shows at plan_end(). Where shape->in_place, PLAN_IN is a part of PLAN_OUT here. */
/* Sends a part of the sum, which this rank itself does not use any more. */
void plan_send(struct plan *plan, int peer, struct plan_address from, size_t count);

/* Sends what this rank goes on with too, at a place in PLAN_OUT: where the wire rounds, the place
 * itself is rounded, so that both have the same. What came in and is passed on unchanged is not
 * coded again. */
void plan_share(struct plan *plan, int peer, struct plan_address place, size_t count);

/* As they are, whatever the wire: what others have in the same bits, or where coding cannot pay. */
void plan_send_plain(struct plan *plan, int peer, struct plan_address from, size_t count);
void plan_receive_plain(struct plan *plan, int peer, struct plan_address to, size_t count);

void plan_receive(struct plan *plan, int peer, struct plan_address to, size_t count);
void plan_copy(struct plan *plan, struct plan_address from, struct plan_address to, size_t count);
void plan_reduce(struct plan *plan, struct plan_address left, struct plan_address right,
                 struct plan_address out, size_t count);

/* What is copied and reduced from here on goes past the caches, or no longer. */
void plan_nontemporal(struct plan *plan, bool is_nontemporal);

/* Room for count elements of scratch, aligned to 64 bytes, used by nobody else. */
struct plan_address plan_scratch(struct plan *plan, size_t count);

/* The plan uses PLAN_WINDOW, with so many elements for each rank, PLAN_WINDOW_BYTES at most: all
 * ranks say the same, and signal at least once. */
void plan_window(struct plan *plan, size_t count);

/* The plan uses PLAN_WINDOW for signals alone, and ranks' buffers may be pulled and pushed: a
 * rank's first signal tells where they are. */
void plan_window_of_buffers(struct plan *plan);

/* What is computed goes on in order, so that a signal tells of all before it and all behind an
 * await sees what was told. Numbers of a rank's signals ascend from 1. What is awaited is told: by
 * who does not know what others await, the greatest number at its end. */
#define PLAN_SIGNAL_LAST UINT32_MAX
void plan_signal(struct plan *plan, unsigned number);
void plan_await(struct plan *plan, int peer, unsigned number);

/* Reads what stands in PLAN_IN or PLAN_OUT of a peer that has told something: with
 * plan_window_of_buffers(); the peer leaves the place alone until it is told that this has been
 * done. */
void plan_pull(struct plan *plan, int peer, struct plan_address from, struct plan_address to,
               size_t count);

/* Writes to PLAN_OUT of a peer that has told something: with plan_window_of_buffers(); the peer
 * leaves the place alone until it is told that this has been done. */
void plan_push(struct plan *plan, int peer, struct plan_address from, struct plan_address to,
               size_t count);

/* Zeros that live until plan_end(), for an algorithm's own lists; NULL: out of memory, which shows
 * at plan_end(). One list per plan. */
int *plan_ints(struct plan *plan, size_t count);

/* -1: out of memory; the plan is then empty. */
int plan_end(struct plan *plan, struct error *err);

/* NULL is fine, and so is a plan of zeros. */
void plan_clear(struct plan *plan);

static inline struct plan_address plan_at(struct plan_address place, size_t offset)
{
    place.offset += offset;
    return place;
}

static inline struct plan_address plan_in(size_t offset)
{
    return (struct plan_address){PLAN_IN, offset};
}

static inline struct plan_address plan_out(size_t offset)
{
    return (struct plan_address){PLAN_OUT, offset};
}

/* Whether plan_share() rounds: what is shared must be in PLAN_OUT first. */
static inline bool plan_rounds(const struct plan_shape *shape)
{
    return wire_is_lossy(shape->wire);
}

/* For an algorithm's loops over the segments of a block: their number, at least 1 for a block that
 * is not empty, and the offset and size of one within the block. */
unsigned plan_segments(const struct plan_shape *shape, size_t count);
struct plan_block plan_segment(const struct plan_shape *shape, size_t count, unsigned index);

/* The most that a segment of a block of up to count elements holds. Not that of the greatest block:
 * of 7 elements by 6 the segments are 4 and 3, of 6 there is one. */
size_t plan_segment_most(const struct plan_shape *shape, size_t count);

/* A whole block, segment by segment. */
void plan_send_segments(struct plan *plan, const struct plan_shape *shape, int peer,
                        struct plan_address from, size_t count);
void plan_receive_segments(struct plan *plan, const struct plan_shape *shape, int peer,
                           struct plan_address to, size_t count);

/* Shares one block and receives another, a segment of each in turn: what came in last time is then
 * still at hand as it came. What one sends as its k-th message the other receives as its k-th. */
void plan_pass_on(struct plan *plan, const struct plan_shape *shape, int next,
                  struct plan_address out, size_t out_count, int before, struct plan_address in,
                  size_t in_count);

#endif
