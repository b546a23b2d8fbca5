/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/step/error_line.h"

#include <string.h>

#include "tests/unit/tap.h"

static struct error_line kept;

static const char *kept_from(const char *const *lines)
{
    kept = (struct error_line){0};
    for (; *lines; lines++)
        error_line_add(&kept, *lines);
    return kept.text;
}

#define complaint_of(...) kept_from((const char *const[]){__VA_ARGS__, NULL})

int main(void)
{
    char long_line[600];

    is_str(kept_from((const char *const[]){NULL}), "", "without lines there is no error line");
    is_str(complaint_of("", "   "), "", "... nor with empty lines");
    is_str(
        complaint_of("srun: error: n2: task 1: Exited with exit code 1",
                     "slurmstepd: error: n2: cannot write to /var/spool: No space left on device",
                     "srun: error: n1: task 0: Killed", "srun: Terminating StepId=3.0"),
        "slurmstepd: error: n2: cannot write to /var/spool: No space left on device",
        "a full disk is chosen, not the task that it killed");
    is_str(complaint_of("[n2:123] some layer complains of an address",
                        "muster-links: n2: cannot open /dev/shm: No space left"),
           "muster-links: n2: cannot open /dev/shm: No space left",
           "muster's own line is chosen before MPI's");
    is_str(complaint_of("[n2:123] first", "[n2:123] second"), "[n2:123] first",
           "the first of several similar lines is chosen");
    is_str(complaint_of("srun: error: n2: task 1: Exited with exit code 127",
                        "slurmstepd-n1: error:  mpi/pmix_v4: pmixp_p2p_send: n1 [0]: send failed"),
           "srun: error: n2: task 1: Exited with exit code 127",
           "a task that exited is chosen, not those that wait for it");
    is_str(complaint_of("(null)", "srun: error: n2: task 1: Exited with exit code 1"),
           "srun: error: n2: task 1: Exited with exit code 1",
           "a task is chosen, not an empty message");
    is_str(complaint_of("srun: error: n2: task 1: Killed",
                        "MPI_ABORT was invoked on rank 0 in communicator"),
           "srun: error: n2: task 1: Killed", "... and not the rank that aborted because of it");
    is_str(complaint_of("srun: error: n1: task 0: Killed"), "srun: error: n1: task 0: Killed",
           "a killed task is chosen if there is nothing else");
    ok(!kept.is_refusal, "... it is no refusal, since a task ran");
    complaint_of("srun: error: Unable to create step for job 7: Invalid MPI plugin");
    ok(kept.is_refusal, "srun could not create the step: a refusal");
    complaint_of("srun: error: Unable to create step for job 7: Requested node down",
                 "slurmstepd: error: execve(): No such file");
    ok(kept.is_refusal, "... and the first line is kept");
    complaint_of("slurmstepd: error: execve(): No such file");
    ok(!kept.is_refusal, "a node's error is no refusal");
    memset(long_line, 'x', sizeof long_line);
    for (size_t i = 5; i < sizeof long_line; i += 6)
        long_line[i] = ' ';
    long_line[sizeof long_line - 1] = '\0';
    has_str(complaint_of(long_line), "xxxxx...", "a long line is cut after a word");
    return tap_done();
}
