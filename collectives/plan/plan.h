/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_H
#define MUSTER_PLAN_H

#include "collectives/wire/wire.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A plan is the list of steps of one rank in a collective. An algorithm is a pure function from a
 * shape to a plan, so that it can be tested for any number of ranks without MPI, its time can be
 * predicted, and one engine can run all algorithms.
 *
 * An algorithm writes its steps as a program that would be correct if they ran one after the other
 * with buffered sends. The plan finds what may overlap: a step comes after the steps that wrote
 * what it reads, and after those that read or wrote what it writes.
 *
 * Steps of one stream (sends, receives, computing) begin in their order, so messages between two
 * ranks need no number: the n-th sent is the n-th received. */

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

/* Whether the kind reduces, and so uses the call's operation. */
bool collective_kind_reduces(enum collective_kind kind);

/* Whether the kind has a root. */
static inline bool collective_kind_has_root(enum collective_kind kind)
{
    return kind == COLLECTIVE_BROADCAST || kind == COLLECTIVE_REDUCE;
}

/* Whether the kind has a block for each rank: count is that of one block, and counts may be set. */
bool collective_kind_has_blocks(enum collective_kind kind);

/* Returns busbw / algbw as nccl-tests defines it: 2 (p - 1) / p for allreduce, (p - 1) / p for
 * reduce-scatter, all-gather and all-to-all, 1 for the others. algbw counts all blocks together:
 * those in out for all-gather, those in `in` for reduce-scatter and all-to-all. */
double collective_kind_factor(enum collective_kind kind, int ranks);

/* Where ranks run. The arrays belong to the caller and live as long as plans are made. */
struct plan_topology {
    const int *node_of_rank; /* [ranks], nodes from 0 up in the order of their lowest ranks */
    int nodes;
    bool has_window; /* the ranks of a node share memory for PLAN_WINDOW */
    bool can_pull;   /* ... and access each other's memory: plan_pull(), plan_push() */
    int processors;  /* of the only node, if it has more ranks than processors; else 0 */
    const int *ring; /* [ranks], the ranks in the order in which a ring visits them; NULL: in
                        rank order */
};

/* Whether the node has more ranks than processors, so that ranks wait for processors. */
static inline bool plan_is_oversubscribed(const struct plan_topology *topology)
{
    return topology->processors > 0;
}

/* What a call asks for. allreduce, broadcast and reduce have one block of `count` elements. The
 * others have one block per rank, of count elements or of counts[rank]: reduce-scatter in `in`,
 * all-gather in `out`, all-to-all in both. */
struct plan_shape {
    enum collective_kind kind;
    size_t element_bytes;
    int rank, ranks, root; /* root: of broadcast and reduce */
    size_t count;
    const size_t *counts;       /* [ranks] or NULL: count each */
    const size_t *offsets;      /* [ranks], elements, or NULL: one after the other */
    const size_t *send_counts;  /* [ranks]: blocks of all-to-all in `in`, if they differ from */
    const size_t *send_offsets; /* counts and offsets, those in out; both or neither are NULL */
    bool in_place;  /* all-gather: this rank's block is in out already; others: out holds `in` */
    size_t segment; /* the most elements that travel at a time; 0: whole blocks */
    enum wire_format wire;
    const struct plan_topology *topology; /* NULL: each rank on its own node */
};

struct plan_block {
    size_t offset, count; /* elements */
};

/* Returns the rank's block in the buffer that has one per rank (all-to-all: in out). */
struct plan_block plan_shape_block(const struct plan_shape *shape, int rank);

/* Returns the rank's block in `in` of all-to-all. */
struct plan_block plan_shape_send_block(const struct plan_shape *shape, int rank);

/* Returns the count of the largest block. */
size_t plan_shape_greatest_block(const struct plan_shape *shape);

/* Returns the k-th piece of `each` elements of a block: the last may be shorter, later ones are
 * empty. */
struct plan_block plan_block_piece(struct plan_block block, size_t each, size_t k);

/* Divides count elements into `parts` parts whose sizes differ by 1 at most; returns part
 * `index`. */
struct plan_block plan_part(size_t count, int parts, int index);

/* Return the rank at a position of the ring, which may be negative or beyond the last, and the
 * position of a rank. */
int plan_ring_rank(const struct plan_shape *shape, int position);
int plan_ring_position(const struct plan_shape *shape, int rank);

/* --------------------------------------------------------------------------------------- plan */

/* PLAN_WIRE: slots for coded messages; the offset is the number of a slot, which has room for
 * plan->wire_count elements. Algorithms do not see it.
 * PLAN_WINDOW: memory that the ranks of a node share, with a part of plan->window elements for
 * each: offset / plan->window is the rank. A rank writes only its own part, and reads another
 * rank's after that has signalled. */
enum plan_buffer { PLAN_IN, PLAN_OUT, PLAN_SCRATCH, PLAN_WIRE, PLAN_WINDOW, PLAN_BUFFERS };

/* The largest part of a rank in the window. Its two halves stay in the second-level caches of
 * processors built since 2020. */
enum { PLAN_WINDOW_BYTES = 1 << 21 };

/* A plan that uses no more than this of a part need not wait for the plan before it: a rank that
 * only writes goes on while others have yet to read. */
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
    PLAN_SIGNAL,  /* publishes `number`: the ranks of the node can see all computed before */
    PLAN_AWAIT,   /* waits until peer has signalled `number` or a greater one */
    PLAN_PULL,    /* left, in the peer's buffers, to out */
    PLAN_PUSH,    /* left to out, in the peer's buffers */
};

/* The most sends, and the most receives, that a rank has under way when a plan is run. */
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
    bool is_nontemporal; /* of copies and reductions: writes out past the caches */
    unsigned after;      /* plan->after[after to after_end - 1] are the steps that must have */
    unsigned after_end;  /* ended before; all have lower numbers */
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
    size_t scratch;         /* elements */
    size_t window;          /* elements of a rank's part of PLAN_WINDOW; 0: not used */
    bool publishes_buffers; /* a rank's part holds the addresses of its PLAN_IN and PLAN_OUT */
    size_t wire_slots, wire_count; /* slots of PLAN_WIRE, and the elements that each has room for */
    unsigned *streams[PLAN_STREAMS], stream_counts[PLAN_STREAMS]; /* numbers of steps, in order */

    struct plan_maker *maker; /* between plan_begin() and plan_end() */
};

/* Whether the plan has messages. Without any it is one stream, and its steps run in order. */
static inline bool plan_has_messages(const struct plan *plan)
{
    return plan->stream_counts[PLAN_SENDS] > 0 || plan->stream_counts[PLAN_RECEIVES] > 0;
}

/* Makes an empty plan for the shape, which must live until plan_end(). */
void plan_begin(struct plan *plan, const struct plan_shape *shape);

/* Each function below adds a step, or none if count is 0; a message above 1 GiB becomes several. If
 * memory is out plan_end() fails. With shape->in_place, PLAN_IN is a part of PLAN_OUT here. */
/* Sends numbers, such as a partial sum, that this rank itself does not use any more. */
void plan_send(struct plan *plan, int peer, struct plan_address from, size_t count);

/* Sends numbers that this rank goes on using. A lossy wire rounds them in place, so that both ranks
 * have the same; they must not be in PLAN_IN then. Numbers that were received and are passed on
 * unchanged are not coded again. */
void plan_share(struct plan *plan, int peer, struct plan_address place, size_t count);

/* Send and receive numbers as they are, whatever the wire: for numbers that all ranks must have in
 * the same bits, or where coding cannot pay. */
void plan_send_plain(struct plan *plan, int peer, struct plan_address from, size_t count);
void plan_receive_plain(struct plan *plan, int peer, struct plan_address to, size_t count);

void plan_receive(struct plan *plan, int peer, struct plan_address to, size_t count);
void plan_copy(struct plan *plan, struct plan_address from, struct plan_address to, size_t count);
void plan_reduce(struct plan *plan, struct plan_address left, struct plan_address right,
                 struct plan_address out, size_t count);

/* Sets whether the copies and reductions added from here on write past the caches. */
void plan_nontemporal(struct plan *plan, bool is_nontemporal);

/* Reserves count elements of scratch, aligned to 64 bytes, and returns their address. */
struct plan_address plan_scratch(struct plan *plan, size_t count);

/* Makes the plan use PLAN_WINDOW, with count elements for each rank, PLAN_WINDOW_BYTES at most. All
 * ranks pass the same count, and signal at least once. */
void plan_window(struct plan *plan, size_t count);

/* Makes the plan use PLAN_WINDOW for signals alone, and allows plan_pull() and plan_push(): a
 * rank's first signal publishes the addresses of its buffers. */
void plan_window_of_buffers(struct plan *plan);

/* Computing steps run in order: a signal covers all steps before it, and all steps behind an await
 * see what the peer did before its signal. The numbers of a rank's signals ascend from 1. Every
 * number that is awaited must be signalled: a rank that does not know what others await ends with
 * PLAN_SIGNAL_LAST. */
#define PLAN_SIGNAL_LAST UINT32_MAX
void plan_signal(struct plan *plan, unsigned number);
void plan_await(struct plan *plan, int peer, unsigned number);

/* Reads from PLAN_IN or PLAN_OUT of a peer that has signalled; needs plan_window_of_buffers(). The
 * peer must not change the place until a signal says that it has been read. */
void plan_pull(struct plan *plan, int peer, struct plan_address from, struct plan_address to,
               size_t count);

/* Writes to PLAN_OUT of a peer that has signalled; needs plan_window_of_buffers(). The peer must
 * not use the place until a signal says that it has been written. */
void plan_push(struct plan *plan, int peer, struct plan_address from, struct plan_address to,
               size_t count);

/* Returns count zeros that live until plan_end(), for an algorithm's own lists. NULL: out of
 * memory, and plan_end() will fail. One list per plan. */
int *plan_ints(struct plan *plan, size_t count);

/* Completes the plan. Returns -1 if memory is out; the plan is then empty. */
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

/* Whether plan_share() rounds in place: what is shared must not be in PLAN_IN then. */
static inline bool plan_rounds(const struct plan_shape *shape)
{
    return wire_is_lossy(shape->wire);
}

/* For loops over the segments of a block of count elements: the number of segments, 0 only for an
 * empty block, and the offset and size of one within the block. */
unsigned plan_segments(const struct plan_shape *shape, size_t count);
struct plan_block plan_segment(const struct plan_shape *shape, size_t count, unsigned index);

/* Returns the size of the largest segment of any block of up to count elements. The largest block
 * need not have it: with segments of 6, a block of 7 has segments of 4 and 3, one of 6 has one of
 * 6. */
size_t plan_segment_most(const struct plan_shape *shape, size_t count);

/* Send or receive a whole block, segment by segment. */
void plan_send_segments(struct plan *plan, const struct plan_shape *shape, int peer,
                        struct plan_address from, size_t count);
void plan_receive_segments(struct plan *plan, const struct plan_shape *shape, int peer,
                           struct plan_address to, size_t count);

/* Shares one block with `next` and receives another from `before`, a segment of each in turn: the
 * block received last time is then still in its slots, coded. The k-th message that one rank sends
 * is the k-th that the other receives. */
void plan_pass_on(struct plan *plan, const struct plan_shape *shape, int next,
                  struct plan_address out, size_t out_count, int before, struct plan_address in,
                  size_t in_count);

#endif
