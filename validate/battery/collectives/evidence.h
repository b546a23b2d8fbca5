/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_EVIDENCE_H
#define MUSTER_EVIDENCE_H

#include <stdint.h>

/* Finds the rank at fault from wrong results of collectives. Pure.
 *
 * One wrong result rarely shows it: a wrong sum may be any contributor's fault. But collectives
 * differ in which ranks get data of which others, and a rank that sends or receives damaged data
 * does so in many of them. So each rank is tested against all cases: would it alone, as a sender or
 * as a receiver of damaged data, explain which ranks have wrong results, and which have not? The
 * rank that explains most is named, its cases are set aside, and the rest is examined again.
 *
 * A rank whose messages are damaged on their way out has right results itself. Wrong are those of
 * ranks that get data through it: in trees and rings some of the others, and different ones if the
 * root is another. Almost every rank would explain one such case. So the rank must be the only one
 * that was right in all cases that are left, or one that is named already for what it contributes;
 * and it must explain more than any other rank does as sender or receiver. */

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

/* Names the faulty ranks. size: of the world. Sorts the items by case. Returns the number of faulty
 * ranks, at most FAULTY_RANKS, the clearest first, or -1 if memory is out. */
int evidence_attribute(struct evidence *items, int count, int size,
                       struct faulty_rank faulty_ranks[FAULTY_RANKS]);

#endif
