/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/decide.h"

#include <string.h>

#include "lib/constants/run_constants.h"

static struct run_decision decision(enum run_action action, enum run_reason reason)
{
    return (struct run_decision){.action = action, .reason = reason};
}

/* Decides by the command's end alone. */
static struct run_decision end_decide(const struct run_seen *seen)
{
    if (seen->status == 0)
        return decision(RUN_END, RUN_DONE);
    if (seen->is_no_command)
        return decision(RUN_END, RUN_NO_COMMAND);
    if (seen->is_stopped)
        return decision(RUN_END, RUN_STOPPED);
    if (seen->restarts >= seen->most_restarts)
        return decision(RUN_END, RUN_NO_RESTART_LEFT);
    if (seen->left_s < RUN_LEAST_LEFT_S)
        return decision(RUN_END, RUN_NO_TIME_LEFT);
    return decision(RUN_EXAMINE, RUN_FAILED);
}

bool run_is_many(const struct run_seen *seen)
{
    return seen->faulty * 2 > seen->tested;
}

struct run_decision run_decide(const struct run_seen *seen)
{
    struct run_decision decided = end_decide(seen);
    bool is_many = run_is_many(seen);
    size_t at_fault = seen->lost + (is_many ? 0 : seen->faulty);

    /* a requeued job has its full time again */
    if (decided.reason == RUN_NO_TIME_LEFT && seen->is_examined && at_fault > 0 &&
        seen->can_requeue)
        return decision(RUN_REQUEUE, RUN_NODES_AT_FAULT);
    if (decided.action != RUN_EXAMINE || !seen->is_examined)
        return decided;
    if (at_fault > 0 && seen->good >= seen->wanted)
        return decision(RUN_REPLACE, RUN_NODES_AT_FAULT);
    if (at_fault > 0 && seen->can_requeue)
        return decision(RUN_REQUEUE, RUN_NODES_AT_FAULT);
    if (at_fault > 0)
        return decision(RUN_END, RUN_NO_SPARE);
    if (seen->blocking > 0 && seen->good >= seen->wanted + seen->blocking)
        return decision(RUN_REPLACE, RUN_HUNG);
    return decision(seen->has_repeated ? RUN_END : RUN_REPEAT, is_many ? RUN_TOO_MANY_FAULTY
                                                               : seen->tested < seen->used
                                                                   ? RUN_NODES_UNKNOWN
                                                                   : RUN_NODES_PASSED);
}

const char *run_action_name(enum run_action action)
{
    static const char *const names[] = {
        [RUN_END] = "end",       [RUN_EXAMINE] = "examine", [RUN_REPLACE] = "replace",
        [RUN_REPEAT] = "repeat", [RUN_REQUEUE] = "requeue",
    };

    return names[action];
}

const char *run_reason_name(enum run_reason reason)
{
    static const char *const names[] = {
        [RUN_DONE] = "done",
        [RUN_STOPPED] = "stopped",
        [RUN_NO_COMMAND] = "no-command",
        [RUN_NO_RESTART_LEFT] = "no-restart-left",
        [RUN_NO_TIME_LEFT] = "no-time-left",
        [RUN_FAILED] = "failed",
        [RUN_NODES_AT_FAULT] = "nodes-at-fault",
        [RUN_HUNG] = "hung",
        [RUN_NO_SPARE] = "no-spare",
        [RUN_NODES_PASSED] = "nodes-passed",
        [RUN_NODES_UNKNOWN] = "nodes-unknown",
        [RUN_TOO_MANY_FAULTY] = "too-many-faulty",
    };

    return names[reason];
}

char *keeper_node(const struct own_job *job, const char *script, long most_restarts)
{
    char *node = NULL;

    if (!job->can_requeue || job->requeues >= most_restarts || !script ||
        !hostlist_contains(&job->nodes, script))
        return NULL;
    for (size_t i = 0; i < job->nodes.count; i++)
        if (strcmp(job->nodes.names[i], script) != 0)
            node = job->nodes.names[i];
    return node;
}

enum keeper_action keeper_decide(const struct own_job *job, const char *here, const char *script)
{
    if (job->is_running && !hostlist_contains(&job->nodes, here))
        return KEEPER_END;
    return job->is_running && !hostlist_contains(&job->nodes, script) ? KEEPER_REQUEUE
                                                                      : KEEPER_WAIT;
}
