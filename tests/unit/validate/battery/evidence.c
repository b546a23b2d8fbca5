/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/evidence.h"
#include "tests/unit/tap.h"

enum { SIZE = 8 };

static struct evidence items[4096];
static int item_count, case_count, shift;
static struct faulty_rank faulty_ranks[FAULTY_RANKS];

static void add_evidence(enum evidence_kind kind, int observer, int source)
{
    items[item_count++] =
        (struct evidence){case_count, kind, observer, source, 0, SIZE, 0, shift, 0, 1, 2};
}

/* Records what other ranks observe of a rank that sends damaged data. */
static void send_damaged(int rank)
{
    case_count++; /* allreduce */
    for (int i = 0; i < SIZE; i++)
        add_evidence(EVIDENCE_SHARED, i, -1);
    case_count++; /* allgather; the rank's own copy may be right */
    for (int i = 0; i < SIZE; i++)
        if (i != rank)
            add_evidence(EVIDENCE_SHARED, i, rank);
    case_count++; /* scan */
    for (int i = rank; i < SIZE; i++)
        add_evidence(EVIDENCE_PREFIX, i, -1);
    case_count++; /* alltoall, one block */
    add_evidence(EVIDENCE_PERSONAL, (rank + 3) % SIZE, rank);
    case_count++; /* reduce to rank 1 */
    add_evidence(EVIDENCE_PERSONAL, 1, -1);
}

/* Records what a rank observes that receives damaged data. */
static void receive_damaged(int rank)
{
    case_count++;
    add_evidence(EVIDENCE_SHARED, rank, -1);
    case_count++;
    for (int i = 0; i < SIZE; i++)
        add_evidence(EVIDENCE_SHARED, rank, i);
    case_count++;
    add_evidence(EVIDENCE_PREFIX, rank, -1);
    case_count++;
    add_evidence(EVIDENCE_PERSONAL, rank, (rank + 1) % SIZE);
}

/* Records a rank that damages about one case in eight. There are four kinds of cases and four
 * rounds, and each round rotates the ranks, so that another rank is first. */
static void damage_sometimes(int rank, int is_sender, unsigned seed)
{
    for (int round = 0; round < 4; round++) {
        shift = round;
        for (int i = 0; i < 40; i++) {
            int kind = i % 4, comm_rank = (rank - shift + SIZE) % SIZE,
                peer = (i * 3 + round) % SIZE;

            case_count++;
            seed = seed * 1103515245 + 12345;
            if (seed >> 16 & 7)
                continue;
            if (!is_sender) {
                add_evidence(kind == 3 ? EVIDENCE_PERSONAL : EVIDENCE_SHARED, rank,
                             kind ? -1 : peer);
                continue;
            }
            for (int p = kind == 1 ? comm_rank : 0; p < SIZE; p++) { /* index in the communicator */
                int observer = (p + shift) % SIZE;

                if (kind == 0)
                    add_evidence(EVIDENCE_SHARED, observer, -1); /* allreduce */
                else if (kind == 1)
                    add_evidence(EVIDENCE_PREFIX, observer, -1); /* scan */
                else if (observer == peer)
                    add_evidence(EVIDENCE_PERSONAL, observer,
                                 kind == 2 ? -1 : rank); /* reduce, alltoall */
            }
        }
    }
    shift = 0;
}

static int attribute(void)
{
    int found = evidence_attribute(items, item_count, SIZE, faulty_ranks);

    item_count = case_count = 0;
    return found;
}

int main(void)
{
    int missed = 0;

    is_int(attribute(), 0, "without evidence no rank is named");
    for (int rank = 0; rank < SIZE; rank++) {
        send_damaged(rank);
        is_int(attribute(), 1, "rank %d sends damaged data: one faulty rank", rank);
        ok(faulty_ranks[0].rank == rank && faulty_ranks[0].sends && faulty_ranks[0].rivals == 0,
           "... it is named, as sender, without rivals");
        is_int(faulty_ranks[0].cases, 5, "... for all cases");
        receive_damaged(rank);
        is_int(attribute(), 1, "rank %d receives damaged data: one faulty rank", rank);
        ok(faulty_ranks[0].rank == rank && !faulty_ranks[0].sends && faulty_ranks[0].rivals == 0,
           "... it is named, as receiver, without rivals");
    }
    for (unsigned seed = 0; seed < 50; seed++)
        for (int rank = 0; rank < SIZE; rank++)
            for (int is_sender = 0; is_sender < 2; is_sender++) {
                damage_sometimes(rank, is_sender, seed);
                if (attribute() != 1 || faulty_ranks[0].rank != rank ||
                    faulty_ranks[0].rivals > 0 || faulty_ranks[0].sends != is_sender)
                    missed++;
            }
    is_int(missed, 0, "a rank that damages one case in eight is named after four rounds");
    send_damaged(2);
    receive_damaged(6);
    is_int(attribute(), 2, "a sender and a receiver: two faulty ranks");
    ok(faulty_ranks[0].rank == 2 && faulty_ranks[1].rank == 6, "... both named");

    case_count++;
    for (int i = 0; i < SIZE; i++)
        add_evidence(EVIDENCE_SHARED, i, -1);
    is_int(attribute(), 1, "a sum that is wrong on all ranks, without other evidence");
    ok(faulty_ranks[0].rivals == SIZE - 1, "... may come from any rank");

    case_count++;
    add_evidence(EVIDENCE_SHARED, 1, -1);
    add_evidence(EVIDENCE_SHARED, 4, -1);
    is_int(attribute(), 1, "a sum wrong on two of eight");
    is_int(faulty_ranks[0].rank, -1, "... is explained by no single rank");
    is_int(faulty_ranks[0].cases, 1, "... one case");

    case_count++;
    add_evidence(EVIDENCE_PERSONAL, 3, 5);
    is_int(attribute(), 1, "one block from 5 to 3");
    is_int(faulty_ranks[0].rivals, 1, "... both are possible: one rival");
    return tap_done();
}
