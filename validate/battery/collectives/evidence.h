/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_EVIDENCE_H
#define MUSTER_EVIDENCE_H

#include <stdint.h>

/* From wrong results of collectives to the rank that is at fault. Pure.
 *
 * One wrong result rarely tells: a wrong sum may be any contributor's fault. But collectives differ
 * in who sees what of whom, and a rank that sends or receives damaged data does so in many of them.
 * So each rank is held against all cases: would it alone, as a sender or as a receiver of damaged
 * data, explain what was seen, and by whom it was not seen? The rank that explains most is named,
 * its cases are put aside, and the rest is looked at again.
 *
 * A rank whose messages are damaged on their way out has right results itself, while those are
 * wrong that get theirs by way of it: in trees and rings some of the others, and other ones where
 * another is root. Almost every rank would explain one such case. So it has to be the one rank
 * that was right in all that is left, or one that is named already for what it contributes, and to
 * explain more than any other rank does as sender or receiver. */

enum evidence_kind {
    EVIDENCE_SHARED,   /* all members receive the same data: bcast, allgather, allreduce */
    EVIDENCE_PREFIX,   /* a member receives what those before it contributed: scan, exscan */
    EVIDENCE_PERSONAL, /* each member receives data of its own: alltoall, gather, reduce, ... */
};

/* One wrong block of one result. The communicator: world ranks first to first + count - 1, in
 * that order or reversed; or in that order, beginning with the one `shift` places on. */
struct evidence {
    int case_number;
    enum evidence_kind kind;
    int observer; /* world rank that has the wrong result */
    int source;   /* world rank whose data it is, -1: a result of several */
    int first, count, is_reversed, shift;
    int64_t index, found, expected; /* of the first wrong element */
};

struct faulty_rank {
    int rank;   /* -1: no single rank explains the rest */
    int sends;  /* 1: what it contributes is damaged, 0: what it receives, 2: what it passes on */
    int cases;  /* how many it explains */
    int rivals; /* other ranks that would explain as many; > 0: rank is one of several */
    struct evidence example;
};

enum { FAULTY_RANKS = 16 };

/* size: of the world. The items are put in order of cases. Returns the number of faulty ranks, at
 * most FAULTY_RANKS, the clearest first; -1 when memory is out. */
int evidence_attribute(struct evidence *items, int count, int size,
                       struct faulty_rank faulty_ranks[FAULTY_RANKS]);

#endif
