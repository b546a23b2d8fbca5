/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/memory_stream.h"
#include "lib/base/signals.h"
#include "lib/base/text.h"
#include "validate/command/command.h"
#include "validate/report/table.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/own_job.h"
#include "validate/slurm/job/user.h"
#include "validate/slurm/step/labels.h"
#include "validate/slurm/step/step.h"
#include "validate/suspects/suspect_reports.h"
#include "validate/watch/judge.h"
#include "validate/watch/read.h"
#include "validate/watch/show.h"

struct options {
    const char *config;
    double interval_s, patience_s;
    bool as_json, is_once, until_hang, reports, is_sampler;
    uint32_t job_id;
};

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct options),
    OPTION('i', "interval", "SECONDS", "interval between samples", SECONDS,
           OPTION_FIELD(struct options, interval_s), OPTION_RANGE(0.5, 60), .initial = "2"),
    COMMAND_JSON(struct options),
    OPTION('\0', "once", NULL, "exit as soon as there is a verdict", FLAG,
           OPTION_FIELD(struct options, is_once)),
    OPTION('p', "patience", "SECONDS",
           "time without data on the rails after which a job counts as hung", SECONDS,
           OPTION_FIELD(struct options, patience_s), OPTION_RANGE(10, 86400), .initial = "30"),
    OPTION('\0', "report", NULL,
           "at the end, leave a suspect report about the node named by the verdict", FLAG,
           OPTION_FIELD(struct options, reports)),
    OPTION('\0', "until-hang", NULL, "print nothing until the job hangs, then exit", FLAG,
           OPTION_FIELD(struct options, until_hang)),
    OPTION('\0', "samples", NULL,
           "print samples of this node until standard input ends; run by muster watch", FLAG,
           OPTION_FIELD(struct options, is_sampler)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster watch",
    .usage = "muster watch [OPTION...] JOB",
    .summary = "Observes a running job with a small step on each of its nodes, and names the rank, "
               "node or rail that holds it up. Changes nothing. Runs as the job's user or as root. "
               "On a terminal the view is refreshed until Ctrl-C or the end of the job; otherwise "
               "it is printed whenever the verdict changes.",
    .status = "0 the job makes progress and nothing differs, 1 a rank, node or rail holds it up, 2 "
              "usage, 3 cannot tell; taken from the last verdict.",
    .rows = rows,
    .words = 1,
};

static volatile sig_atomic_t watch_stop;

static void on_signal(int number)
{
    watch_stop = number;
}

/* ---------------------------------------------------------------- on a node */

/* Waits until time_s. Returns false once standard input has ended: our srun has ended then. */
static bool wait_until(double time_s)
{
    double left_s;

    while ((left_s = time_s - clock_s()) > 0) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        char ignored[64];

        if (poll(&input, 1, (int)(1000 * left_s) + 1) > 0 &&
            read(STDIN_FILENO, ignored, sizeof ignored) <= 0)
            return false;
    }
    return true;
}

static int print_samples(const struct options *options)
{
    const char *step = getenv("SLURM_STEP_ID");
    struct watch_job job = {
        .id = options->job_id, .own_step = step ? atol(step) : -2, .uid = getuid()};
    struct node_view view;
    double next_s = clock_s(), asked_s = -INFINITY;
    int status = command_node_open(set.name, NULL, options->config, &view);

    for (bool goes_on = status == COMMAND_PASS; goes_on; next_s += options->interval_s) {
        struct watch_sample sample = {.time_s = clock_s()};
        char address[128];
        bool has_rank_0 = false;

        snprintf(sample.node, sizeof sample.node, "%s", command_node(NULL, ""));
        goes_on = watch_read_ranks("", &job, &sample, address, sizeof address) == 0 &&
                  watch_read_rails("", &view.fabric, &sample) == 0;
        watch_read_flows(job.uid, &sample);
        for (size_t i = 0; i < sample.rank_count; i++)
            has_rank_0 |= sample.ranks[i].rank == 0;
        if (goes_on && has_rank_0 && clock_s() - asked_s > WATCH_RAS_S) {
            asked_s = clock_s();
            ras_query(address, job.uid, WATCH_RAS_DEADLINE_S, &sample.ras);
        }
        watch_sample_write(&sample, stdout);
        goes_on = goes_on && fflush(stdout) == 0;
        watch_sample_clear(&sample);
        next_s = fmax(next_s, clock_s() - options->interval_s);
        goes_on = goes_on && wait_until(next_s + options->interval_s);
    }
    command_node_close(&view);
    return status;
}

/* ---------------------------------------------------------------- on the head */

struct watching {
    const struct options *options;
    const struct hostlist *nodes;
    struct labels labels;
    struct watch watch;
    struct watch_verdict verdict, shown;
    double next_s;
    bool is_terminal, has_colour;
    volatile sig_atomic_t stop; /* a signal came, or the verdict is final */
};

static void take_line(const char *line, bool is_error, void *context)
{
    struct watching *watching = context;
    struct watch_sample sample;
    const char *text;
    long task = is_error ? -1 : labels_parse(&watching->labels, line, &text), node;

    if (task < 0 || watch_sample_parse(text, &sample) != 0)
        return;
    node = watch_node_of(&watching->watch, task, sample.node);
    if (node >= 0)
        watch_add(&watching->watch, (size_t)node, &sample, clock_s());
    watch_sample_clear(&sample);
}

static void show(struct watching *watching)
{
    if (watching->options->as_json) {
        watch_print_records(&watching->watch, &watching->verdict, watching->options->job_id,
                            stdout);
        fflush(stdout);
        return;
    }
    if (watching->is_terminal)
        fputs("\033[H\033[J", stdout);
    watch_print_table(&watching->watch, &watching->verdict, watching->has_colour, stdout);
}

/* Whether the verdict differs from the one shown last; different seconds and percents are the same.
 */
static bool is_new(const struct watch_verdict *verdict, const struct watch_verdict *shown)
{
    if (verdict->verdict != shown->verdict || verdict->count != shown->count)
        return true;
    for (size_t i = 0; i < verdict->count; i++)
        if (verdict->findings[i].code != shown->findings[i].code ||
            verdict->findings[i].node != shown->findings[i].node ||
            strcmp(verdict->findings[i].part, shown->findings[i].part) != 0)
            return true;
    return false;
}

static void tick(void *context)
{
    struct watching *watching = context;
    const struct options *options = watching->options;
    double now_s = clock_s();

    if (watch_stop)
        watching->stop = 1;
    if (now_s < watching->next_s || watching->stop)
        return;
    watch_judge(&watching->watch, now_s, &watching->verdict);
    watching->next_s = clock_s() + options->interval_s;
    if ((options->is_once && !watching->verdict.is_settled) ||
        (options->until_hang && watching->verdict.verdict != VERDICT_FAIL))
        return;
    if (!watching->watch.has_samples && !watching->is_terminal && !options->is_once)
        return; /* the step is starting */
    if (options->is_once || options->as_json || watching->is_terminal ||
        is_new(&watching->verdict, &watching->shown))
        show(watching);
    watching->shown = watching->verdict;
    watching->stop = options->is_once || options->until_hang;
}

/* Reports the nodes that may have caused a finding by their own fault. */
static void report_suspects(const struct watching *watching, const struct user *user)
{
    const struct watch_verdict *verdict = &watching->verdict;
    struct hostlist suspects = {0}, holders = {0};
    struct arguments program = {0};
    struct process_result result = {0};
    struct error err;
    char *lines = NULL;
    size_t size;
    FILE *stream = memory_stream(&lines, &size);
    int rv = stream ? 0 : error_set(&err, "no memory");

    for (size_t i = 0; rv == 0 && i < verdict->count; i++) {
        const struct watch_finding *finding = &verdict->findings[i];
        const char *holder;

        if (!finding->node || finding->verdict == VERDICT_UNKNOWN ||
            hostlist_contains(&suspects, finding->node))
            continue;
        holder = watch_holder(&watching->watch, finding->node);
        if (!holder) {
            rv = error_set(&err, "no node of the job sends samples");
            break;
        }
        suspect_report_print(stream, holder, finding->node, watching->options->job_id, "watch",
                             finding->part, finding->message);
        if (hostlist_append(&suspects, finding->node) != 0 ||
            (!hostlist_contains(&holders, holder) && hostlist_append(&holders, holder) != 0))
            rv = error_set(&err, "no memory");
    }
    if (stream && fclose(stream) != 0 && rv == 0)
        rv = error_set(&err, "no memory");
    if (rv == 0 && holders.count > 0) {
        step_add_muster(&program, "suspects", "--leave", NULL);
        rv = step_run(&(struct step){.job_id = watching->options->job_id,
                                     .nodes = &holders,
                                     .tasks_per_node = 1,
                                     .name = "muster-suspects",
                                     .mpi = "none",
                                     .has_no_gres = true,
                                     .program = program.argv},
                      &(struct process){.user = user,
                                        .input = lines,
                                        .deadline_s = WATCH_REPORT_S,
                                        .grace_s = WATCH_GRACE_S},
                      &result, &err);
        if (rv == 0 && (result.end != PROCESS_EXITED || result.status != 0))
            rv = error_set(&err, "%s",
                           *result.error_line.text ? result.error_line.text : "it did not end");
        if (rv == 0)
            fprintf(stderr, "%s: suspect report left about %zu node%s\n", set.name, suspects.count,
                    text_plural(suspects.count));
    }
    if (rv != 0)
        fprintf(stderr, "%s: no suspect report was left: %s\n", set.name, err.text);
    arguments_clear(&program);
    hostlist_clear(&suspects);
    hostlist_clear(&holders);
    free(lines);
}

/* Runs the step until the job, this program or the deadline ends it. */
static int watch_run(struct watching *watching, const struct user *user, struct error *err)
{
    const struct options *options = watching->options;
    struct arguments program = {0};
    struct process_result result = {0};
    char name[32];
    int rv;

    watching->watch.is_patient = options->until_hang;
    snprintf(name, sizeof name, "muster-watch-%ld", (long)getpid());
    step_add_muster(&program, "watch", "--samples", NULL);
    arguments_add(&program, "--interval=%g", options->interval_s);
    arguments_add(&program, "%u", options->job_id);
    rv = step_run(&(struct step){.job_id = options->job_id,
                                 .nodes = watching->nodes,
                                 .tasks_per_node = 1,
                                 .name = name,
                                 .mpi = "none",
                                 .has_no_gres = true,
                                 .has_labels = true,
                                 .program = program.argv},
                  &(struct process){.user = user,
                                    .deadline_s = WATCH_MOST_S,
                                    .grace_s = WATCH_GRACE_S,
                                    .on_line = take_line,
                                    .on_tick = tick,
                                    .context = watching,
                                    .stop = &watching->stop},
                  &result, err);
    arguments_clear(&program);
    if (rv == 0 && result.end != PROCESS_STOPPED && !watching->watch.has_samples)
        rv = error_set(err, "no sample of job %u: %s", options->job_id,
                       *result.error_line.text ? result.error_line.text : "its step has ended");
    return rv;
}

/* Finds the user who has to start the step; *owner is NULL if it is this user. Returns 0, or -1
 * with err. */
static int owner_find(const struct own_job *job, uint32_t id, struct user *user,
                      const struct user **owner, struct error *err)
{
    const struct passwd *entry = getpwuid(job->uid);

    *owner = NULL;
    if (job->uid == geteuid())
        return 0;
    if (geteuid() != 0)
        return error_set(err, "job %u is %s's: only that user and root can start a step in it", id,
                         entry ? entry->pw_name : "another user");
    if (!entry)
        return error_set(err, "unknown user %u of job %u", (unsigned)job->uid, id);
    if (user_find(entry->pw_name, user, err) != 0)
        return error_prefix(err, "%s", entry->pw_name);
    *owner = user;
    return 0;
}

static int job_watch(struct watching *watching, struct error *err)
{
    const struct options *options = watching->options;
    const struct user *owner;
    struct own_job job = {0};
    struct user user;
    int rv = -1;

    step_clean_environment();
    if (cluster_open(err) != 0 || own_job_load(options->job_id, &job, err) != 0)
        return -1;
    if (!job.is_running)
        error_set(err, "job %u is not running", options->job_id);
    else if (job.is_heterogeneous)
        error_set(err, "job %u is heterogeneous: give one of its components", options->job_id);
    else if (owner_find(&job, options->job_id, &user, &owner, err) == 0) {
        watching->nodes = &job.nodes;
        if (labels_make(&job.nodes, &watching->labels) != 0 ||
            watch_make(&watching->watch, &job.nodes, options->interval_s, options->patience_s,
                       clock_s()) != 0)
            error_set(err, "out of memory for %zu nodes", job.nodes.count);
        else if ((rv = watch_run(watching, owner, err)) == 0 && options->reports &&
                 (!options->until_hang || watching->verdict.verdict == VERDICT_FAIL))
            report_suspects(watching, owner);
        watch_clear(&watching->watch);
        labels_clear(&watching->labels);
    }
    own_job_clear(&job);
    return rv;
}

static int status_of(enum verdict verdict)
{
    return verdict == VERDICT_PASS                              ? COMMAND_PASS
           : verdict == VERDICT_FAIL || verdict == VERDICT_WARN ? COMMAND_FAIL
                                                                : COMMAND_UNKNOWN;
}

int command_watch(int argc, char **argv)
{
    struct options options = {0};
    struct watching watching = {.options = &options, .verdict.verdict = VERDICT_UNKNOWN};
    int status = command_options(&set, argc, argv, &options);
    struct error err = {""};
    char *end;
    unsigned long id;

    if (status >= 0)
        return status;
    if (!argv[optind])
        return command_misuse(set.name, "no job given");
    errno = 0;
    id = strtoul(argv[optind], &end, 10);
    if (errno || *end || end == argv[optind] || id == 0 || id >= UINT32_MAX)
        return command_misuse(set.name, "expected a job ID, found \"%s\"", argv[optind]);
    options.job_id = (uint32_t)id;
    if (options.is_sampler)
        return print_samples(&options);
    watching.is_terminal =
        isatty(STDOUT_FILENO) && !options.as_json && !options.is_once && !options.until_hang;
    watching.has_colour = table_has_colour(stdout);
    signals_catch(on_signal, 0);
    if (job_watch(&watching, &err) != 0)
        return command_failed(COMMAND_UNKNOWN, set.name, "%s", err.text);
    return status_of(watching.verdict.verdict);
}
