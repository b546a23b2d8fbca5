/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/run.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/run_constants.h"
#include "validate/command/command.h"
#include "validate/report/recordfile.h"
#include "validate/run/decide.h"
#include "validate/run/examine.h"
#include "validate/run/hang.h"
#include "validate/run/keeper.h"
#include "validate/run/launch.h"
#include "validate/run/layout.h"
#include "validate/run/requeue.h"
#include "validate/run/script.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/own_job.h"
#include "validate/slurm/show.h"

struct run {
    const char *name;
    const struct run_options *options;
    FILE *json;
    uint32_t job_id;
    struct own_job job;       /* as last loaded */
    struct hostlist all;      /* the nodes at the job's begin, from the environment */
    struct hostlist chosen;   /* where the command runs, or ran last */
    struct hostlist at_fault; /* not used any more */
    size_t wanted;
    int starts, restarts; /* restarts: in this allocation */
    bool has_repeated;
    long step_before;            /* the last step before the command was started; -1: none */
    double reloaded_at, lost_at; /* clock_s(); lost_at 0: Slurm has taken none of the chosen */
    struct hang hang;
    struct hang_note hung; /* of the last start */
    struct keeper keeper;
};

/* ---------------------------------------------------------------- output */

static void __attribute__((format(printf, 2, 3)))
print_message(const struct run *run, const char *format, ...)
{
    va_list values;

    fprintf(stderr, "%s: ", run->name);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

/* Prints a line of JSON. Owns fields; NULL: memory was out. */
static void print_event(const struct run *run, const char *event, json_t *fields)
{
    json_t *line =
        json_pack("{ss sf si}", "event", event, "time", clock_epoch_s(), "start", run->starts);

    if (run->json && line && fields && json_object_update(line, fields) == 0) {
        json_dumpf(line, run->json, JSON_COMPACT | JSON_PRESERVE_ORDER);
        fputc('\n', run->json);
        fflush(run->json);
    }
    json_decref(line);
    json_decref(fields);
}

static json_t *names_json(const struct hostlist *names)
{
    json_t *array = json_array();

    for (size_t i = 0; i < names->count; i++)
        json_array_append_new(array, json_string(names->names[i]));
    return array;
}

/* ---------------------------------------------------------------- the job */

static int job_reload(struct run *run, struct error *err)
{
    struct own_job job;

    if (own_job_load(run->job_id, &job, err) != 0)
        return -1;
    own_job_clear(&run->job);
    run->job = job;
    return 0;
}

/* Adds to lost the names of nodes that the job no longer has. Returns 0, or -1 if memory is
 * out. */
static int lost_find(const struct run *run, const struct hostlist *names, struct hostlist *lost)
{
    for (size_t i = 0; i < names->count; i++)
        if (!hostlist_contains(&run->job.nodes, names->names[i]) &&
            hostlist_append(lost, names->names[i]) != 0)
            return -1;
    return 0;
}

static void print_hang(const struct run *run)
{
    const struct hang_note *note = &run->hung;

    if (!note->is_hung) {
        print_message(run, "the command is no longer watched for a hang: %s", note->text);
        return;
    }
    print_message(run, "%s%s%s", note->node, *note->node ? ": " : "", note->text);
    print_event(
        run, "hung",
        json_pack("{ss* ss}", "node", *note->node ? note->node : NULL, "message", note->text));
}

static void keeper_start(struct run *run)
{
    const char *script = getenv("SLURMD_NODENAME");
    char *node = keeper_node(&run->job, script, run->options->max_restarts);
    struct error err;

    if (run->keeper.pid == 0 && node &&
        keeper_begin(&run->keeper, run->job_id, node, script, &err) != 0)
        print_message(run, "%s", err.text);
}

static void keeper_poll(void *context)
{
    struct run *run = context;

    if (run->keeper.pid > 0 && !keeper_beat(&run->keeper))
        print_message(run,
                      "the keeper step ended: the job will not be requeued if this node fails");
}

/* The on_tick() of struct launch. Slurm ends a step that loses a node, but not every launcher ends
 * with it; and a command that hangs does not end. */
static bool run_poll(void *context)
{
    struct run *run = context;
    double now = clock_s();
    struct hostlist lost = {0};
    struct error err;

    keeper_poll(run);
    if (!run->hung.is_hung && !launch_stop && hang_poll(&run->hang, &run->hung))
        print_hang(run);
    if (now - run->reloaded_at > RUN_LOOK_S && run->lost_at == 0) {
        run->reloaded_at = now;
        if (job_reload(run, &err) == 0 && lost_find(run, &run->chosen, &lost) == 0 &&
            lost.count > 0)
            run->lost_at = now;
        hostlist_clear(&lost);
    }
    return run->hung.is_hung || (run->lost_at > 0 && now - run->lost_at > RUN_LOST_S);
}

/* Prints a warning if a node that fails may end the job. */
static void check_no_kill(const struct run *run)
{
    const char *variable = getenv("SBATCH_NO_KILL");
    char *script = NULL;
    struct error err;

    if (variable || cluster_show_script(run->job_id, &script, &err) != 0)
        return;
    if (!script_has_no_kill(script))
        print_message(run, "the job script has no \"#SBATCH --no-kill\": unless sbatch was run "
                           "with it, Slurm ends the whole job when a node fails");
    free(script);
}

/* Finds the job and checks it. Returns 0, or the exit status after a line that says why. */
static int job_find(struct run *run)
{
    const char *id = getenv("SLURM_JOB_ID"), *nodes = getenv("SLURM_JOB_NODELIST");
    struct error err = {""};
    char *end;

    errno = 0;
    run->job_id = id ? (uint32_t)strtoul(id, &end, 10) : 0;
    if (!id || !*id || *end || errno || run->job_id == 0 || !nodes)
        return command_failed(COMMAND_USAGE, run->name,
                              "not inside a job: run it in an sbatch script or in salloc");
    if (hostlist_expand(nodes, &run->all, &err) != 0 || cluster_open(&err) != 0 ||
        job_reload(run, &err) != 0)
        return command_failed(COMMAND_UNKNOWN, run->name, "%s", err.text);
    if (run->job.is_heterogeneous)
        return command_failed(COMMAND_USAGE, run->name,
                              "job %u is heterogeneous, which is not supported", run->job_id);
    if ((size_t)run->options->spares >= run->all.count)
        return command_failed(COMMAND_USAGE, run->name, "--spares=%ld: the job has only %zu node%s",
                              run->options->spares, run->all.count, text_plural(run->all.count));
    run->wanted = run->all.count - (size_t)run->options->spares;
    check_no_kill(run);
    return 0;
}

/* ---------------------------------------------------------------- who is at fault */

/* How many of names are in list. */
static size_t count_in(const struct hostlist *names, const struct hostlist *list)
{
    size_t count = 0;

    for (size_t i = 0; i < names->count; i++)
        count += hostlist_contains(list, names->names[i]);
    return count;
}

/* Examines all nodes that the job still has; the counts are of those in `used`. Adds nodes to
 * at_fault. */
static void nodes_examine(struct run *run, const struct hostlist *used, struct run_seen *seen)
{
    struct hostlist left = {0}, passed = {0}, failed = {0}, lost = {0};
    struct error err = {""};
    bool is_known = job_reload(run, &err) == 0 && lost_find(run, used, &lost) == 0;

    for (size_t i = 0; is_known && i < run->job.nodes.count; i++)
        if (!hostlist_contains(&run->at_fault, run->job.nodes.names[i]))
            is_known = hostlist_append(&left, run->job.nodes.names[i]) == 0;
    if (is_known && left.count > 0)
        is_known = examine(&(struct examination){.nodes = &left,
                                                 .keep = run->wanted,
                                                 .level = conf_preflight_name(
                                                     run->options->level == PREFLIGHT_STANDARD
                                                         ? PREFLIGHT_STANDARD
                                                         : PREFLIGHT_QUICK),
                                                 .config_path = run->options->config_path,
                                                 .budget_s = run->options->budget_s,
                                                 .on_tick = keeper_poll,
                                                 .context = run,
                                                 .stop = &launch_stop},
                           &passed, &failed, &err) == 0;
    if (!is_known && !launch_stop)
        print_message(run, "cannot tell which nodes are good: %s", err.text);
    for (size_t i = 0; i < lost.count; i++)
        print_message(run, "%s: Slurm removed it from the job: it failed, or was given back",
                      lost.names[i]);
    seen->is_examined = true;
    seen->used = used->count;
    seen->lost = lost.count;
    seen->faulty = count_in(used, &failed);
    seen->tested = seen->faulty + count_in(used, &passed);
    if (!run_is_many(seen))
        hostlist_unite(&run->at_fault, &failed);
    hostlist_unite(&run->at_fault, &lost);
    seen->blocking = hostlist_contains(&run->chosen, run->hung.node) &&
                     !hostlist_contains(&run->at_fault, run->hung.node);
    seen->good = run->job.nodes.count - count_in(&run->job.nodes, &run->at_fault);
    seen->wanted = run->wanted;
    seen->can_requeue = run->job.can_requeue;
    print_event(run, "examined",
                json_pack("{so so so}", "lost", names_json(&lost), "failed", names_json(&failed),
                          "passed", names_json(&passed)));
    hostlist_clear(&left);
    hostlist_clear(&passed);
    hostlist_clear(&failed);
    hostlist_clear(&lost);
}

static void seen_fill(const struct run *run, int status, struct run_seen *seen)
{
    *seen = (struct run_seen){.status = status,
                              .is_stopped = launch_stop != 0,
                              .restarts = run->restarts + run->job.requeues,
                              .most_restarts = (int)run->options->max_restarts,
                              .has_repeated = run->has_repeated};
}

/* Decides with the time that is left by now: a preflight may have taken minutes of it. */
static struct run_decision decide(struct run *run, struct run_seen *seen)
{
    struct run_decision decision;

    seen->left_s = run->job.end_s - clock_s();
    decision = run_decide(seen);
    print_event(run, "decision",
                json_pack("{ss ss}", "action", run_action_name(decision.action), "reason",
                          run_reason_name(decision.reason)));
    return decision;
}

/* ---------------------------------------------------------------- going on */

/* Requeues the job without the nodes at fault. Returns only if it is not queued. */
static void requeue(struct run *run)
{
    int rv = hostlist_append_all(&run->job.excluded, (const char *const *)run->at_fault.names,
                                 run->at_fault.count);

    print_message(run, "too few good nodes left; requeueing job %u without %s", run->job_id,
                  hostlist_text(&run->at_fault).text);
    if (rv != 0)
        print_message(run, "no memory");
    else
        requeue_until_ended(run->name, run->job_id, &run->job);
}

static void print_end(const struct run *run, const struct run_decision *decision, int status)
{
    static const char *const texts[] = {
        [RUN_NO_RESTART_LEFT] = "no restarts left (--max-restarts)",
        [RUN_NO_TIME_LEFT] = "too little of the job's time limit left for a restart",
        [RUN_NO_SPARE] = "too few good nodes left, and the job cannot be requeued",
        [RUN_NODES_PASSED] =
            "it failed again on nodes that pass the preflight: the program is at fault, not a node",
        [RUN_NODES_UNKNOWN] = "it failed again, and the node at fault cannot be determined",
        [RUN_TOO_MANY_FAULTY] = "it failed again, and most nodes fail the preflight: the network "
                                "or the preflight is at fault, not a node",
        [RUN_STOPPED] = "stopped by a signal",
    };
    const char *text =
        decision->reason < sizeof texts / sizeof *texts ? texts[decision->reason] : NULL;

    if (text)
        print_message(run, "ends with status %d: %s", status, text);
}

static void print_restart(const struct run *run, const struct run_decision *decision)
{
    static const char *const texts[] = {
        [RUN_NODES_PASSED] = "the preflight found no node at fault",
        [RUN_NODES_UNKNOWN] = "the node at fault cannot be determined",
        [RUN_TOO_MANY_FAULTY] = "most nodes fail the preflight, so no single node is at fault",
    };

    if (decision->action == RUN_REPLACE)
        print_message(run, "restart %d of %ld without %s", run->restarts + run->job.requeues,
                      run->options->max_restarts, hostlist_text(&run->at_fault).text);
    else
        print_message(run, "%s; restart %d of %ld on the same nodes, once", texts[decision->reason],
                      run->restarts + run->job.requeues, run->options->max_restarts);
}

/* ---------------------------------------------------------------- the command */

/* A step with a dead node exists until Slurm sets the node down, and keeps the other nodes' CPUs
 * and GPUs from the next step. Waits for such steps. Returns whether one of an earlier start is
 * left; *last: the last step of all. */
static bool has_step_left(const struct run *run, long *last)
{
    double begin = clock_s();
    struct error err;

    for (;;) {
        if (own_job_last_step(run->job_id, last, &err) != 0) {
            *last = run->step_before;
            return run->starts > 0;
        }
        if (run->starts == 0 || *last <= run->step_before || launch_stop)
            return false;
        if (clock_s() - begin > RUN_STEP_S)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    }
}

/* Starts the command on the good nodes and waits for its end. Returns 0, or -1 if it could not be
 * started, after a line that says why. */
static int command_run_once(struct run *run, int *status)
{
    struct arguments variables = {0}, command = {0};
    struct hostlist chosen;
    struct error err = {""};
    double begin;
    long last;
    int rv = -1;

    *status = 126;
    if (layout_choose(&run->job.nodes, &run->chosen, &run->at_fault, run->wanted, &chosen) != 0) {
        error_set(&err, "no memory");
        hostlist_clear(&chosen);
        goto done;
    }
    hostlist_clear(&run->chosen);
    run->chosen = chosen;
    if (has_step_left(run, &last))
        arguments_add(&variables, "SLURM_OVERLAP=1");
    run->step_before = last;
    if (layout_environment(&run->all, &chosen, &variables, &err) != 0 ||
        layout_command(run->options->command, &run->job.nodes, &chosen, &command, &err) != 0)
        goto done;
    keeper_start(run);
    run->starts++;
    print_message(run, "starts %s on %s", run->options->command[0], hostlist_text(&chosen).text);
    print_event(run, "start", json_pack("{so}", "nodes", names_json(&chosen)));
    run->reloaded_at = begin = clock_s();
    run->lost_at = 0;
    run->hung = (struct hang_note){0};
    if (run->options->hang_s > 0 && hang_begin(&run->hang, run->job_id, run->options->hang_s,
                                               run->options->config_path, &err) != 0)
        print_message(run, "%s", err.text);
    rv = launch_run(&(struct launch){.argv = command.argv,
                                     .environment = variables.argv,
                                     .on_tick = run_poll,
                                     .context = run},
                    status, &err);
    hang_end(&run->hang);
    if (rv == 0 && *status != 0)
        print_message(run, "%s ended with status %d after %.0f s", run->options->command[0],
                      *status, clock_s() - begin);
    print_event(run, "end", json_pack("{si sf}", "status", *status, "seconds", clock_s() - begin));
done:
    if (rv != 0)
        print_message(run, "%s", err.text);
    arguments_clear(&variables);
    arguments_clear(&command);
    return rv;
}

/* Before the first start: checks that there are enough nodes, after a preflight if one is wanted.
 * Returns 0, or the exit status. */
static int start_check(struct run *run)
{
    struct run_seen seen;
    struct run_decision decision;

    seen_fill(run, COMMAND_FAIL, &seen);
    if (run->options->level != PREFLIGHT_OFF)
        nodes_examine(run, &run->all, &seen);
    else
        seen.good = run->job.nodes.count;
    if (launch_stop)
        return 128 + (int)launch_stop;
    if (seen.good >= run->wanted)
        return 0;
    decision = decide(run, &seen);
    if (decision.action == RUN_REQUEUE)
        requeue(run);
    print_message(run, "too few good nodes: found %zu, need %zu", seen.good, run->wanted);
    return COMMAND_FAIL;
}

static int run_until_end(struct run *run)
{
    int status;

    for (;;) {
        struct run_seen seen;
        struct run_decision decision;
        bool is_started = command_run_once(run, &status) == 0;

        seen_fill(run, status, &seen);
        seen.is_no_command = !is_started;
        decision = decide(run, &seen);
        if (decision.action == RUN_EXAMINE) {
            nodes_examine(run, &run->chosen, &seen);
            seen.is_stopped = launch_stop != 0;
            decision = decide(run, &seen);
        }
        if (decision.action == RUN_REQUEUE)
            requeue(run);
        if (decision.action != RUN_REPLACE && decision.action != RUN_REPEAT) {
            print_end(run, &decision, status);
            return status;
        }
        if (decision.reason == RUN_HUNG)
            hostlist_append(&run->at_fault, run->hung.node);
        run->restarts++;
        run->has_repeated |= decision.action == RUN_REPEAT;
        print_restart(run, &decision);
    }
}

int run_job(const char *name, const struct run_options *options)
{
    struct run run = {.name = name, .options = options, .step_before = -1};
    struct error err = {""};
    int status;

    if (recordfile_open(options->json_path, &run.json, &err) != 0)
        return command_failed(COMMAND_USAGE, name, "%s", err.text);
    launch_catch_signals();
    status = job_find(&run);
    if (status == 0)
        status = start_check(&run);
    if (status == 0)
        status = run_until_end(&run);
    if (recordfile_close(options->json_path, run.json, &err) != 0)
        print_message(&run, "%s", err.text);
    own_job_clear(&run.job);
    hostlist_clear(&run.all);
    hostlist_clear(&run.chosen);
    hostlist_clear(&run.at_fault);
    return status;
}
