/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/constants/collectives_constants.h"

enum {
    ROUNDS = 3,
    LONG_ROUNDS = 2,
    AGAIN_ROUNDS = CANDIDATE_BATCHES - 1,
    SURE_ROUNDS = 2, /* before a candidate is given up */
    BATCH_CALLS = 10000,
    MORE_CALLS = 2, /* at most, after the first call and before the batches */
    LOOP_CALLS = 5, /* per batch, at least, unless they take longer than CANDIDATE_LOOP_US */
};

static int call_mpi(const struct candidates_call *call)
{
    int count = (int)call->block;

    switch (call->kind) {
    case COLLECTIVE_ALLREDUCE:
        return PMPI_Allreduce(call->in, call->out, count, MPI_FLOAT, MPI_SUM, call->comm);
    case COLLECTIVE_REDUCE_SCATTER:
        return PMPI_Reduce_scatter_block(call->in, call->out, count, MPI_FLOAT, MPI_SUM,
                                         call->comm);
    case COLLECTIVE_ALL_GATHER:
        return PMPI_Allgather(call->in, count, MPI_FLOAT, call->out, count, MPI_FLOAT, call->comm);
    case COLLECTIVE_BROADCAST:
        return PMPI_Bcast(call->out, count, MPI_FLOAT, 0, call->comm);
    case COLLECTIVE_REDUCE:
        return PMPI_Reduce(call->in, call->out, count, MPI_FLOAT, MPI_SUM, 0, call->comm);
    default:
        return PMPI_Alltoall(call->in, count, MPI_FLOAT, call->out, count, MPI_FLOAT, call->comm);
    }
}

static struct collective_call call_ours(const struct candidates_call *call,
                                        const struct choice *choice)
{
    return (struct collective_call){
        .kind = call->kind,
        .type = call->type,
        .op = REDUCE_SUM,
        .in = call->in,
        .out = call->out,
        .count = call->block,
        .wire = call->wire,
        .algorithm = choice->algorithm,
        .segment_bytes = choice->segment_bytes,
    };
}

static int prepare(const struct candidates_call *call, const struct choice *choice,
                   struct error *err)
{
    struct collective_call ours = call_ours(call, choice);

    return choice->algorithm == NULL ? 0 : collective_prepare(call->collective, &ours, err);
}

static int run_once(const struct candidates_call *call, const struct choice *choice,
                    struct error *err)
{
    struct collective_call ours = call_ours(call, choice);

    if (choice->algorithm == NULL)
        return call_mpi(call) == MPI_SUCCESS ? 0 : error_set(err, "MPI's own collective failed");
    return collective_run(call->collective, &ours, err);
}

/* The time per call in a loop without barriers, in us, on the slowest rank. -1: a call failed, or
 * memory for it is out, at this rank or another. A rank whose call failed makes the rest, too, as
 * the others would wait for it. */
static double time_calls(const struct candidates_call *call, const struct choice *choice, int calls,
                         struct error *err)
{
    int status = 0;
    double us;

    if (collective_agree(call->comm, prepare(call, choice, err), err) < 0)
        return -1;
    PMPI_Barrier(call->comm);
    us = PMPI_Wtime();
    for (int i = 0; i < calls; i++)
        status |= run_once(call, choice, err);
    us = (PMPI_Wtime() - us) * 1e6 / calls;
    if (PMPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, call->comm) != MPI_SUCCESS)
        status = error_set(err, "MPI_Allreduce failed");
    return collective_agree(call->comm, status, err) < 0 ? -1 : us;
}

/* Whether time is left. Rank 0 decides for all. */
static bool is_time_left(const struct candidates_call *call)
{
    int may = call->rank == 0 && PMPI_Wtime() < call->deadline;

    PMPI_Bcast(&may, 1, MPI_INT, 0, call->comm);
    return may;
}

/* The least time of the batches, or without any that of the single call, which may be too short:
 * ranks are faster just after a barrier. */
static double least_of(const struct candidate *candidate)
{
    double least = candidate->batches > 0 ? candidate->us[0] : candidate->once_us;

    for (int i = 1; i < candidate->batches; i++)
        least = fmin(least, candidate->us[i]);
    return least;
}

static int compare_times(const void *left, const void *right)
{
    return COMPARE(*(const double *)left, *(const double *)right);
}

static double mean_of_faster_half(const struct candidate *candidate)
{
    int half = (candidate->batches + 1) / 2;
    double us[CANDIDATE_BATCHES], sum = 0;

    memcpy(us, candidate->us, (size_t)candidate->batches * sizeof *us);
    qsort(us, (size_t)candidate->batches, sizeof *us, compare_times);
    for (int i = 0; i < half; i++)
        sum += us[i];
    return sum / half;
}

double candidate_us(const struct candidates_call *call, const struct candidate *candidate)
{
    return call->is_one_node || candidate->batches == 0 ? least_of(candidate)
                                                        : mean_of_faster_half(candidate);
}

static double best_of(const struct candidate *candidates, unsigned count)
{
    double best = INFINITY;

    for (unsigned i = 0; i < count; i++)
        best = fmin(best, least_of(&candidates[i]));
    return best;
}

/* Calls once, then up to MORE_CALLS times while calls are short, and sets the number of calls per
 * batch from their time. */
static int warm_up(const struct candidates_call *call, double batch_us, struct candidate *candidate,
                   struct error *err)
{
    bool is_oversubscribed = plan_is_oversubscribed(collective_topology(call->collective));
    double loop_us = is_oversubscribed ? CANDIDATE_OVERSUBSCRIBED_LOOP_US : CANDIDATE_LOOP_US;
    double long_us = call->is_one_node ? CHOICE_TOO_LONG_US : CHOICE_LONG_US;
    double once = time_calls(call, candidate->choice, 1, err), last = once;

    for (int i = 0; i < MORE_CALLS && last >= 0 && last < long_us; i++) {
        last = time_calls(call, candidate->choice, 1, err);
        once = call->is_one_node ? fmin(once, last) : last;
    }
    if (last < 0)
        return -1;
    candidate->calls =
        (int)fmax(1, fmin(BATCH_CALLS, fmax(batch_us / once, fmin(LOOP_CALLS, loop_us / once))));
    candidate->once_us = once;
    if (candidate->calls == 1)
        candidate->us[candidate->batches++] = once;
    return 0;
}

/* Runs a batch of each candidate that is not out. 1: done, 0: time is up, -1: a call failed. */
static int try_round(const struct candidates_call *call, struct candidate *candidates,
                     unsigned count, struct error *err)
{
    for (unsigned i = 0; i < count; i++) {
        double time_us;

        if (candidates[i].is_given_up)
            continue;
        if (!is_time_left(call))
            return 0;
        time_us = time_calls(call, candidates[i].choice, candidates[i].calls, err);
        if (time_us < 0)
            return -1;
        candidates[i].us[candidates[i].batches++] = fmax(time_us, 1e-3);
    }
    return 1;
}

/* Gives up candidates that take longer than least_us and much longer than the best. */
static void give_up_slow(struct candidate *candidates, unsigned count, double least_us)
{
    double best = best_of(candidates, count);

    for (unsigned i = 0; i < count; i++)
        candidates[i].is_given_up =
            least_of(&candidates[i]) > fmax(least_us, CHOICE_MUCH_SLOWER * best);
}

int candidates_try(const struct candidates_call *call, bool is_again, struct candidate *candidates,
                   unsigned count, struct error *err)
{
    double batch_us = is_again ? CANDIDATE_AGAIN_US : CANDIDATE_BATCH_US;
    unsigned tried = 0;
    int status = 1, rounds;

    while (tried < count && is_time_left(call)) {
        if (warm_up(call, batch_us, &candidates[tried], err) < 0)
            return -1;
        tried++;
    }
    /* a single call as long as a batch is enough to decide */
    give_up_slow(candidates, tried, CANDIDATE_BATCH_US);
    rounds = is_again                                      ? AGAIN_ROUNDS
             : best_of(candidates, tried) > CHOICE_LONG_US ? LONG_ROUNDS
                                                           : ROUNDS;
    for (int round = 0; round < rounds && status == 1; round++) {
        status = try_round(call, candidates, tried, err);
        if (round + 1 == SURE_ROUNDS)
            give_up_slow(candidates, tried, 0);
    }
    return status < 0 ? -1 : (int)tried;
}
