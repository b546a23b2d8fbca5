/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/certify.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/path.h"
#include "lib/base/signals.h"
#include "lib/base/text.h"
#include "validate/certify/choose/allocate.h"
#include "validate/certify/choose/nodes.h"
#include "validate/certify/choose/others.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/report/run_report.h"
#include "validate/certify/stages/stages.h"
#include "validate/certify/state/estimate.h"
#include "validate/certify/step/give_back.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/command/command.h"
#include "validate/history/history.h"
#include "validate/report/recordfile.h"
#include "validate/slurm/step/step.h"

static void stop(int signal_number)
{
    certify_stop = signal_number;
}

/* "20261120-161200-1a2b" */
static void run_name(char *text, size_t size)
{
    unsigned short salt = (unsigned short)getpid();
    char date[32];

    text_time(date, sizeof date, "%Y%m%d-%H%M%S", time(NULL));
    if (getrandom(&salt, sizeof salt, GRND_NONBLOCK) != (ssize_t)sizeof salt)
        salt = (unsigned short)getpid();
    snprintf(text, size, "%s-%04x", date, salt);
}

/* Many heads and timers must not begin at the same moment. */
static void jitter_wait(struct certify *certify)
{
    double delay_s = certify_delay_s(certify->options.jitter_s), begin = clock_s();

    if (delay_s >= 1)
        progress_print(&certify->progress, "starting in %.0f s (--jitter)", delay_s);
    while (!certify_stop && clock_s() - begin < delay_s)
        usleep(50000);
    certify->begin = clock_s();
}

/* Slurm gives the tasks of a step this host's limit, and no node must be judged by that. */
static void lift_memlock(void)
{
    const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

    if (geteuid() == 0)
        (void)setrlimit(RLIMIT_MEMLOCK, &unlimited); /* a container may not let root do it */
}

/* Finds the user of the MPI programs. Returns 0, or -1 with err. */
static int battery_user(struct certify *certify, struct error *err)
{
    const char *name = certify->conf.battery_user;
    struct error why = {""};

    certify->is_root = geteuid() == 0;
    if (!certify->is_root || user_find(name, &certify->battery, &why) == 0)
        return 0;
    return error_set(err,
                     "BatteryUser=%s: %s; next: useradd --system --user-group --home-dir / --shell "
                     "/usr/sbin/nologin %s, with the same UID on all nodes",
                     name, why.text, name);
}

/* Prepares the run, before anything is queried or changed. Returns 0, or -1 with err. */
static int prepare(struct certify *certify, struct error *err)
{
    char cluster[256];
    int left;

    if (battery_user(certify, err) != 0)
        return -1;
    run_name(certify->run, sizeof certify->run);
    snprintf(certify->job_name, sizeof certify->job_name, CLUSTER_RUN_JOB "%s", certify->run);
    certify->budget_s = certify->options.budget_s > 0              ? certify->options.budget_s
                        : certify->options.level == LEVEL_QUICK    ? certify->conf.quick_budget_s
                        : certify->options.level == LEVEL_STANDARD ? certify->conf.standard_budget_s
                                                                   : certify->conf.full_budget_s;
    if (certify->options.concurrency > 0)
        certify->conf.concurrency = certify->options.concurrency;
    step_clean_environment();
    lift_memlock();
    setenv("MUSTER_RUN", certify->run, 1);
    certify_site_reports_foresee(certify);
    jitter_wait(certify);
    if (certify->operations->open(err) != 0 ||
        certify->operations->name(cluster, sizeof cluster, err) != 0)
        return -1;
    /* until here there is nothing to undo, and a controller may be silent for long */
    signals_catch(stop, 0);
    signal(SIGPIPE, SIG_IGN);
    path_beside(certify->conf.history_path, "runs", certify->runs, sizeof certify->runs);
    /* this run decides by the history long before it is stored itself */
    if (geteuid() == 0 && history_take_in(certify->conf.history_path, err) != 0)
        fprintf(stderr, "muster certify: history: %s\n", err->text);
    left = geteuid() == 0 ? undo_clean_up(certify->operations, certify->runs, cluster,
                                          certify_report_leftover, &certify->changed, err)
                          : 0;
    if (left < 0)
        fprintf(stderr, "muster certify: %s\n", err->text);
    err->text[0] = '\0';
    if (undo_begin(certify->operations, certify->runs, certify->run, cluster, &certify->undo,
                   err) != 0)
        return -1;
    if (*err->text && geteuid() == 0)
        fprintf(stderr, "muster certify: %s\n", err->text);
    if (certify->live_directory)
        live_open(&certify->live, certify->live_directory, certify->run);
    if (certify->progress.is_terminal || certify->live.stream)
        setenv("MUSTER_PROGRESS", "1", 1);
    return 0;
}

/* Records the final verdict of each node. */
static void conclude(struct certify *certify, enum verdict *verdicts)
{
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];
        const struct outcome_fault *worst;
        char text[OUTCOME_TEXT];

        verdicts[i] = outcome_conclude(&node_run->outcome);
        outcome_text(&node_run->outcome, true, text, sizeof text);
        worst = outcome_worst(&node_run->outcome);
        certify_record(certify,
                       RECORD(.suite = "certify", .test = "certify", .node = node_run->name,
                              .part = worst->part, .verdict = verdicts[i], .code = worst->code,
                              .message = text));
    }
}

static void history_save(struct certify *certify, const enum verdict *verdicts, int status,
                         double seconds)
{
    struct history_run run = {.run = certify->run,
                              .cluster = certify->cluster.name,
                              .level = certify_level_name(certify->options.level),
                              .is_dry_run = certify->options.is_dry_run,
                              .seconds = seconds,
                              .status = status};
    struct history_node *nodes = calloc(certify->count + 1, sizeof *nodes);
    struct error err;

    for (size_t i = 0; nodes && i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];
        const struct outcome_fault *worst = outcome_worst(&node_run->outcome);
        bool is_slurms = verdicts[i] == VERDICT_FAIL && certify_is_untested(node_run);

        nodes[i] = (struct history_node){.node = node_run->name,
                                         .verdict = verdicts[i],
                                         .test = is_slurms ? "slurm.state" : worst->test,
                                         .part = worst->part,
                                         .message = worst->message,
                                         .certified_until = node_run->certified_until,
                                         .rail_mbps = node_run->rail_mbps};
    }
    if (nodes && history_add(certify->conf.history_path, &run, nodes, certify->count,
                             &certify->records, (double)certify->conf.history_keep_s, &err) != 0)
        fprintf(stderr, "muster certify: history: %s\n", err.text);
    free(nodes);
}

/* Returns whether the level does not include the stage, or its program was not built. */
static bool is_skipped(const struct certify *certify, const struct certify_stage *stage)
{
    char path[4096];

    if (stage->program)
        step_program_path(stage->program, path, sizeof path);
    return certify->options.level < stage->level || (stage->program && access(path, X_OK) != 0);
}

static void stage_run(struct certify *certify, const struct certify_stage *stage)
{
    size_t first = certify->records.count;

    for (size_t i = 0; is_skipped(certify, stage) && i < certify->count; i++)
        if (outcome_is_good(&certify->node_runs[i].outcome))
            outcome_note(&certify->node_runs[i].outcome, stage->stage, VERDICT_SKIP, FAULT_NONE,
                         NULL, "", "");
    if (is_skipped(certify, stage))
        return;
    certify->stage_s[stage->stage] -= clock_s();
    if (stage->run)
        stage->run(certify);
    else
        certify_battery(certify, stage->battery);
    certify->stage_s[stage->stage] += clock_s();
    if (stage->fold)
        stage->fold(certify, stage->stage, first);
}

/* Prints a line with the estimate of each stage, for the good nodes. */
static void estimate_print(struct certify *certify)
{
    struct hostlist names = {0};
    size_t nodes = certify_list_good(certify, &names);
    struct budget_work work = certify_work(certify, nodes);
    double train_s = budget_estimate_s(&work, STAGE_TRAIN);
    double gpu_s = budget_estimate_s(&work, STAGE_GPU);
    double host_s = budget_estimate_s(&work, STAGE_HOST);
    char train[48] = "", gpu[48] = "", host[48] = "";

    if (train_s > 0)
        snprintf(train, sizeof train, ", train %.0f s", train_s);
    if (certify->options.level >= LEVEL_STANDARD)
        snprintf(host, sizeof host, " host %.0f s,", host_s);
    if (gpu_s > 0)
        snprintf(gpu, sizeof gpu, " gpu %.0f s,", gpu_s);
    if (nodes > 1)
        progress_print(&certify->progress,
                       "estimate for %zu nodes, %d rail%s: launch %.0f s,%s%s links %.0f s (%d "
                       "rounds), collectives %.0f s%s",
                       nodes, work.rails, text_plural((size_t)work.rails),
                       budget_estimate_s(&work, STAGE_LAUNCH), host, gpu,
                       budget_estimate_s(&work, STAGE_LINKS), work.rounds,
                       budget_estimate_s(&work, STAGE_COLLECTIVES), train);
    hostlist_clear(&names);
}

static void job_begin(struct certify *certify, enum certify_job job)
{
    switch (job) {
    case JOB_NONE:
        break;
    case JOB_CHECK:
        certify_allocate(certify);
        break;
    case JOB_BATTERY:
        certify_await(certify);
        certify_allocate_next(certify, job);
        estimate_print(certify);
        break;
    case JOB_CERTIFICATES:
        certify_await(certify);
        certify_reach_last(certify);
        if (!certify->options.is_dry_run)
            certify_allocate_next(certify, job);
        break;
    }
}

/* Returns 0, or -1 with err if the run could not go on. */
static int stages_run(struct certify *certify, struct error *err)
{
    enum certify_job job = JOB_NONE;

    if (certify_select(certify, err) != 0)
        return -1;
    progress_print(&certify->progress, "certifying %zu node%s of cluster %s, level %s%s, run %s",
                   certify->count, text_plural(certify->count), certify->cluster.name,
                   certify_level_name(certify->options.level),
                   certify->options.is_dry_run ? ", dry run" : "", certify->run);
    for (size_t i = 0; certify_stages[i]; i++) {
        certify_give_back_poll(certify);
        if (certify_stages[i]->job != job)
            job_begin(certify, certify_stages[i]->job);
        job = certify_stages[i]->job;
        stage_run(certify, certify_stages[i]);
    }
    return 0;
}

/* Returns whether a node's drain or certificate stays, or its certificate is gone. */
static bool is_any_changed(const struct certify *certify)
{
    for (size_t i = 0; i < certify->count && !certify->options.is_dry_run; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (node_run->decision == DECISION_DRAIN || node_run->decision == DECISION_KEEP ||
            *node_run->certified_until || node_run->is_revoked)
            return true;
    }
    return false;
}

int certify_run(struct certify *certify)
{
    const struct certify_options *options = &certify->options;
    /* a run that finds no node is a success then */
    bool is_selective = options->is_suspects || options->is_due || options->is_idle;
    enum verdict *verdicts = NULL;
    struct error err = {""};
    bool is_undone;
    int status = COMMAND_UNKNOWN;

    certify->begin = clock_s();
    progress_init(&certify->progress, stderr);
    certify->progress.live = &certify->live;
    if (certify_reports_can_be_saved(options, &err) != 0 ||
        (!certify->campaign && recordfile_open(options->json_path, &certify->json, &err) != 0)) {
        fprintf(stderr, "muster certify: %s\n", err.text);
        return COMMAND_USAGE;
    }
    if (prepare(certify, &err) != 0) {
        fprintf(stderr, "muster certify: %s\n", err.text);
        certify->is_broken = true;
        return COMMAND_UNKNOWN;
    }
    if (stages_run(certify, &err) != 0) {
        fprintf(stderr, "muster certify: %s\n", err.text);
        certify->is_broken = true;
    }
    is_undone = undo_end(&certify->undo, certify_report_leftover, &err) == 0;
    if (!is_undone) {
        fprintf(stderr, "muster certify: cleaning up: %s\n", err.text);
        certify->is_broken = true;
    }
    certify_stop_end(certify);
    verdicts = calloc(certify->count + 1, sizeof *verdicts);
    if (certify->is_broken && certify->count == 0) {
        status = certify->is_misused ? COMMAND_USAGE : COMMAND_UNKNOWN;
    } else if (verdicts && certify->cluster.name) {
        conclude(certify, verdicts);
        status = outcome_exit_status(verdicts, certify->count, certify->has_fault);
        if (certify_stop || certify->is_broken)
            status = COMMAND_UNKNOWN;
        if (certify->count == 0 && is_selective && !certify_stop && !certify->is_broken)
            status = COMMAND_PASS;
        if (certify->has_unread && status == COMMAND_PASS)
            status = COMMAND_UNKNOWN;
        if (certify->count == 0)
            certify_note(certify, certify->has_unread    ? "no node tested: suspects unknown"
                                  : options->is_suspects ? "no suspects"
                                  : options->is_due      ? "no certificate is due"
                                  : options->is_idle     ? "no idle node needs a test"
                                                         : "no node to certify");
        certify_facts(certify);
        certify_report(certify, certify->json == stdout ? stderr : stdout);
        /* a run without nodes, as most runs with --suspects, must not become "last", and a run that
         * was stopped does not count as a try of a campaign */
        if (geteuid() == 0 && certify->count > 0 && !(certify->campaign && certify_stop))
            history_save(certify, verdicts, status, clock_s() - certify->begin);
        if (certify_reports(certify) != 0 && status == COMMAND_PASS)
            status = COMMAND_UNKNOWN;
    }
    live_close(&certify->live);
    if (*certify->idle_end)
        fprintf(stderr, "muster certify: interrupted: %s%s\n", certify->idle_end,
                is_undone ? "; the nodes were released" : "");
    else if (certify_stop)
        fprintf(stderr, "muster certify: stopped by signal %d%s\n", (int)certify_stop,
                !is_undone ? ""
                : is_any_changed(certify)
                    ? "; drains and certificates that were decided before stay"
                    : "; all changes were undone");
    free(verdicts);
    return status;
}

void certify_clear(struct certify *certify)
{
    records_clear(&certify->records);
    hostlist_clear(&certify->headlines);
    hostlist_clear(&certify->notes);
    hostlist_clear(&certify->reserved);
    hostlist_clear(&certify->changed);
    cluster_clear(&certify->cluster);
    name_index_clear(&certify->by_name);
    for (size_t i = 0; i < certify->count; i++) {
        hostlist_clear(&certify->node_runs[i].unusable);
        hostlist_clear(&certify->node_runs[i].rails);
    }
    free(certify->node_runs);
    free(certify->partition);
    free(certify->peers);
    conf_clear(&certify->conf);
}
