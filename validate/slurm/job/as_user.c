/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/as_user.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/read_all.h"

/* The answer of a child process that runs as another user. */
struct child_answer {
    int reason;
    struct as_user_answer found;
};

int as_user(const struct user *user, as_user_fn *request, job_desc_msg_t *wanted,
            struct as_user_answer *found)
{
    struct child_answer answer = {.reason = ECHILD};
    pid_t parent = getpid(), child;
    int ends[2], reason;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (user && user_become(user) != 0) {
            answer.reason = errno;
        } else if (prctl(PR_SET_PDEATHSIG, SIGKILL), getppid() == parent) {
            wanted->user_id = getuid();
            wanted->group_id = getgid();
            answer.reason = request(wanted, &answer.found);
        }
        _exit(write(ends[1], &answer, sizeof answer) != (ssize_t)sizeof answer);
    }
    reason = errno;
    close(ends[1]);
    if (child > 0) {
        if (read_all(ends[0], &answer, sizeof answer) != (ssize_t)sizeof answer)
            answer = (struct child_answer){.reason = ECHILD};
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
        reason = answer.reason;
        *found = answer.found;
    }
    close(ends[0]);
    return reason;
}

int as_user_would_start(job_desc_msg_t *wanted, struct as_user_answer *start)
{
    will_run_response_msg_t *answer = NULL;

    if (slurm_job_will_run2(wanted, &answer) != SLURM_SUCCESS || !answer)
        return errno ? errno : ESLURM_INTERNAL;
    start->value = (uint32_t)answer->start_time;
    snprintf(start->nodes, sizeof start->nodes, "%s", answer->node_list ? answer->node_list : "");
    return 0; /* slurm.h has nothing to free the answer with: it ends with the child */
}
