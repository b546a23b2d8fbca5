/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_MPI_CHECKS_H
#define MUSTER_TESTS_MPI_CHECKS_H

#include <mpi.h>
#include <stdio.h>

#include "lib/base/error.h"
#include "tests/unit/failing_memory.h"

/* Checks of a program under mpirun, for the script that starts it: rank 0 prints "ok ..." or
 * "not ok ..." for each. Included by one file, which is linked with --wrap=calloc and
 * --wrap=reallocarray. */

static int rank, ranks, failures;

/* All ranks: true where it held at all of them. */
static void check(bool held, const char *what, const char *more)
{
    int mine = held, all;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s - %s%s%s\n", all ? "ok" : "not ok", what, more ? " " : "", more ? more : "");
    failures += !all;
    fflush(stdout);
}

/* Our allocations alone: MPI's are not linked with these. */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return memory_fails() ? NULL : __real_calloc(count, size);
}

void *__real_reallocarray(void *memory, size_t count, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size)
{
    return memory_fails() ? NULL : __real_reallocarray(memory, count, size);
}

/* Each allocation fails in turn, at the last rank; of many, of which most are alike, the further
 * the fewer. */
static void fail_each(const char *what, int make(const void *of, struct error *err), const void *of,
                      bool are_many)
{
    int has_failed = 1, failures_seen = 0, differences = 0;

    for (unsigned number = 1; has_failed; number += 1 + (are_many ? number / 4 : 0)) {
        struct error err = {""};
        int status, least, most;

        memory_fails_at(rank == ranks - 1 ? number : 0);
        status = make(of, &err);
        has_failed = memory_has_failed();
        memory_fails_at(0);
        MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        differences += least != most || (status < 0 && *err.text == '\0');
        failures_seen += least < 0;
        MPI_Bcast(&has_failed, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    }
    check(differences == 0 && failures_seen > 0, what, "come to the same end on all ranks");
}

#endif
