/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training - a data-parallel training loop for campaign-watch: computes, waits as for a GPU, and
 * sums gradients over all ranks, until it is killed. Unlike muster-train it does not watch its
 * ranks.
 *
 *   training DIRECTORY
 *
 * Rank 0 writes the number of the step to DIRECTORY/step. While DIRECTORY/fault exists, it has a
 * line "WHAT RANK", and that rank
 * - spins: uses a processor and does not go on
 * - sleeps: does not go on
 * - blocked: is blocked in the kernel (state D, by vfork)
 * - straggles: computes for 1.5 s more in each step
 * - dawdles: sleeps for 1.5 s more in each step
 * - checkpoint: writes DIRECTORY/checkpoint for 15 s, once
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GRADIENTS = 250000, WIDTH = 96 };

static char fault_path[4096], step_path[4096], checkpoint_path[4096];
static float gradients[GRADIENTS], inputs[WIDTH][WIDTH], weights[WIDTH][WIDTH],
    outputs[WIDTH][WIDTH];

static void nap(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    nanosleep(&time, NULL);
}

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end)
        for (int i = 0; i < WIDTH; i++)
            for (int k = 0; k < WIDTH; k++)
                for (int j = 0; j < WIDTH; j++)
                    outputs[i][j] += inputs[i][k] * weights[k][j];
}

static int has_fault(void)
{
    return access(fault_path, F_OK) == 0;
}

static void block(void)
{
    if (vfork() != 0)
        return;
    while (has_fault())
        nap(0.1);
    _exit(0);
}

static void checkpoint(void)
{
    FILE *file = fopen(checkpoint_path, "w");

    for (int i = 0; file && i < 150; i++) {
        rewind(file);
        fwrite(gradients, sizeof gradients, 1, file);
        fflush(file);
        nap(0.1);
    }
    if (file)
        fclose(file);
}

static void fault_apply(int rank)
{
    static int has_checkpoint;
    char what[16] = "";
    int which = -1;
    FILE *file = fopen(fault_path, "r");
    int count = file ? fscanf(file, "%15s %d", what, &which) : 0;

    if (file)
        fclose(file);
    else
        has_checkpoint = 0;
    if (count != 2 || which != rank)
        return;
    while (strcmp(what, "spins") == 0 && has_fault())
        compute(0.1);
    while (strcmp(what, "sleeps") == 0 && has_fault())
        nap(0.1);
    if (strcmp(what, "blocked") == 0)
        block();
    else if (strcmp(what, "straggles") == 0)
        compute(1.5);
    else if (strcmp(what, "dawdles") == 0)
        nap(1.5);
    else if (strcmp(what, "checkpoint") == 0 && !has_checkpoint++)
        checkpoint();
}

/* Sleeps between tests, so that ranks that wait use no processor. */
static void sum(void)
{
    MPI_Request request;
    int is_done = 0;

    MPI_Iallreduce(MPI_IN_PLACE, gradients, GRADIENTS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
        nap(0.001);
}

int main(int argc, char **argv)
{
    int rank;
    FILE *file;

    if (argc != 2 || MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return 2;
    snprintf(fault_path, sizeof fault_path, "%s/fault", argv[1]);
    snprintf(step_path, sizeof step_path, "%s/step", argv[1]);
    snprintf(checkpoint_path, sizeof checkpoint_path, "%s/checkpoint", argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long step = 0;; step++) {
        fault_apply(rank);
        compute(0.005);
        nap(0.08);
        sum();
        if (rank == 0 && (file = fopen(step_path, "w"))) {
            fprintf(file, "%ld\n", step);
            fclose(file);
        }
    }
}
