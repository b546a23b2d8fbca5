/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/preflight/preflight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/privileges.h"
#include "lib/base/signals.h"
#include "lib/base/text.h"
#include "validate/command/command.h"
#include "validate/report/recordfile.h"
#include "validate/slurm/step/step.h"

/* with --step, if the step is heterogeneous */
enum { STATUS_COMPONENTS = 4 /* a fault */, STATUS_STOPPED = 5 /* interrupted */ };

volatile sig_atomic_t preflight_stop;

static void stop(int signal_number)
{
    preflight_stop = signal_number;
}

static void add_record(struct preflight *preflight, const struct record *record)
{
    struct record complete = *record;

    complete.suite = "preflight";
    complete.run = preflight->run;
    complete.job = preflight->options.job_id;
    records_add(&preflight->records, &complete);
    if (preflight->json)
        record_write(preflight->json, &complete);
}

void preflight_add_verdict(struct preflight *preflight, struct member *member, enum verdict verdict,
                           enum fault_code code, const char *test, const char *part,
                           const char *message)
{
    bool has_part = *part && !strstr(message, part);
    char text[480];
    struct record record = RECORD(.test = test, .node = member->name, .part = part,
                                  .verdict = verdict, .code = code, .message = message);

    add_record(preflight, &record);
    snprintf(text, sizeof text, "%s: %s%s%s", member->name, has_part ? part : "",
             has_part ? ": " : "", message);
    if (verdict >= VERDICT_WARN)
        hostlist_append(verdict == VERDICT_FAIL ? &preflight->faults : &preflight->notes, text);
    preflight->has_fault |= verdict == VERDICT_FAIL;
    if (verdict <= member->verdict)
        return;
    member->verdict = verdict;
    snprintf(member->test, sizeof member->test, "%s", test);
    snprintf(member->part, sizeof member->part, "%s", part);
    snprintf(member->message, sizeof member->message, "%s", message);
}

void preflight_set_unknown(struct preflight *preflight, const char *format, ...)
{
    if (*preflight->unknown)
        return;
    TEXT_FORMAT(preflight->unknown, sizeof preflight->unknown, format);
}

double preflight_left_s(const struct preflight *preflight)
{
    return preflight->budget_s - (clock_s() - preflight->begin);
}

/* ---------------------------------------------------------------- setup */

/* Finds the job: that of --step, else the one that this process is in. The caller removes Slurm's
 * variables afterwards. */
static int job_find(struct preflight *preflight, struct error *err)
{
    const char *job = getenv("SLURM_JOB_ID");
    char *end;

    if (preflight->options.has_step)
        return 0;
    if (!job || !*job)
        return error_set(err, "not inside a job: run it in salloc, sbatch or srun --pty, or use "
                              "srun --preflight");
    errno = 0;
    preflight->options.job_id = (uint32_t)strtoul(job, &end, 10);
    if (*end || errno || preflight->options.job_id == 0)
        return error_set(err, "SLURM_JOB_ID is '%s', expected a number", job);
    return 0;
}

/* Makes the ID of the run, and a name of the steps that no other step of the job has:
 * "muster-preflight-RUN-PID". */
static void set_names(struct preflight *preflight)
{
    char date[32];

    text_time(date, sizeof date, "%Y%m%d-%H%M%S", time(NULL));
    snprintf(preflight->run, sizeof preflight->run, "%s-%04x", date, (unsigned)getpid() & 0xffff);
    snprintf(preflight->step_name, sizeof preflight->step_name, "muster-preflight-%s-%ld",
             preflight->run, (long)getpid());
}

static void catch_signals(void)
{
    sigset_t none;

    signals_catch(stop, 0);
    signal_catch(SIGQUIT, stop, 0);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* blocked by the plugin until now */
}

/* ---------------------------------------------------------------- reports */

static void print_lines(const struct preflight *preflight, const struct hostlist *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        bool is_double = false;

        for (size_t k = 0; k < i && !is_double; k++)
            is_double = strcmp(lines->names[k], lines->names[i]) == 0;
        if (!is_double)
            fprintf(stderr, "%s: %s\n", preflight->command, lines->names[i]);
    }
}

/* Adds one record for each node, and one for all. */
static void add_final_records(struct preflight *preflight, enum verdict verdict)
{
    for (size_t i = 0; i <= preflight->names.count; i++) {
        const struct member *member = i < preflight->names.count ? &preflight->members[i] : NULL;
        struct record record = RECORD(.test = "preflight", .node = member ? member->name : NULL,
                                      .part = member ? member->part : NULL,
                                      .verdict = !member                          ? verdict
                                                 : member->verdict > VERDICT_PASS ? member->verdict
                                                 : *preflight->unknown            ? VERDICT_UNKNOWN
                                                                                  : VERDICT_PASS,
                                      .message = member ? member->message : preflight->unknown);

        add_record(preflight, &record);
    }
}

/* Prints the best nodes. Returns the exit status. */
static int print_best(const struct preflight *preflight)
{
    size_t *indices = calloc(preflight->names.count + 1, sizeof *indices);
    size_t wanted = (size_t)preflight->options.keep;
    size_t good = indices ? spares_rank(preflight->members, preflight->names.count, indices) : 0;
    FILE *stream = preflight->json == stdout ? stderr : stdout;
    struct hostlist kept = {0};
    char *folded = NULL;
    int status = COMMAND_FAIL;

    for (size_t i = 0; i < wanted && i < good; i++)
        hostlist_append(&kept, preflight->members[indices[i]].name);
    if (good >= wanted && kept.count == wanted && (folded = hostlist_fold_for_slurm(&kept))) {
        fprintf(stream, "%s\n", folded);
        status = *preflight->unknown ? COMMAND_UNKNOWN : COMMAND_PASS;
    } else {
        fprintf(stderr, "%s: %zu of %zu nodes are good, --keep needs %zu\n", preflight->command,
                good, preflight->names.count, wanted);
    }
    free(folded);
    free(indices);
    hostlist_clear(&kept);
    return status;
}

/* Returns a node whose result is unknown, or NULL. */
static const struct member *find_unknown(const struct preflight *preflight)
{
    for (size_t i = 0; i < preflight->names.count; i++)
        if (preflight->members[i].verdict == VERDICT_UNKNOWN)
            return &preflight->members[i];
    return NULL;
}

static int report(struct preflight *preflight)
{
    const struct preflight_options *options = &preflight->options;
    const struct member *member = find_unknown(preflight);
    bool is_unknown;
    char *folded = hostlist_fold(&preflight->names);
    int status;

    if (member)
        preflight_set_unknown(preflight, "%s: %s", member->name, member->message);
    is_unknown = *preflight->unknown && !preflight->has_fault;
    status = preflight->has_fault ? COMMAND_FAIL : is_unknown ? COMMAND_UNKNOWN : COMMAND_PASS;

    print_lines(preflight, &preflight->faults);
    print_lines(preflight, &preflight->notes);
    if (is_unknown)
        fprintf(stderr, "%s: cannot tell: %s%s\n", preflight->command, preflight->unknown,
                options->has_step ? "; the step starts" : "");
    else if (!preflight->has_fault)
        fprintf(stderr, "%s: %s passed in %.1f s (%s)\n", preflight->command,
                folded ? folded : "all", clock_s() - preflight->begin,
                conf_preflight_name(options->level));
    add_final_records(preflight, preflight->has_fault ? VERDICT_FAIL
                                 : is_unknown         ? VERDICT_UNKNOWN
                                                      : VERDICT_PASS);
    if (options->keep > 0)
        status = print_best(preflight);
    else if (preflight->has_fault && options->has_step && preflight->has_components)
        status = STATUS_COMPONENTS;
    free(folded);
    return status;
}

/* Whether there is nothing to test: a step on one node has no links, and the job has no GPUs
 * there. */
static bool has_nothing_to_test(const struct preflight *preflight)
{
    return preflight->options.has_step && preflight->names.count < 2 &&
           preflight->members[0].gpus == 0;
}

static int report_stop(const struct preflight *preflight)
{
    fprintf(stderr, "%s: stopped by signal %d\n", preflight->command, (int)preflight_stop);
    return !preflight->options.has_step ? COMMAND_UNKNOWN
           : preflight->has_components  ? STATUS_STOPPED
                                        : 128 + (int)preflight_stop;
}

static int run(struct preflight *preflight)
{
    struct error err = {""};
    int rv;

    preflight->begin = clock_s();
    preflight->budget_s = preflight->options.budget_s > 0 ? preflight->options.budget_s
                                                          : preflight->conf.preflight_budget_s;
    if (recordfile_open(preflight->options.json_path, &preflight->json, &err) != 0)
        return command_failed(COMMAND_USAGE, preflight->command, "%s", err.text);
    set_names(preflight);
    setenv("MUSTER_RUN", preflight->run, 1);
    catch_signals();
    if (job_find(preflight, &err) != 0)
        return command_failed(COMMAND_USAGE, preflight->command, "%s", err.text);
    /* a step runs as the user of its job: nobody else can be in a job of root */
    if (privileges_are_refused())
        return command_failed(COMMAND_UNKNOWN, preflight->command, "skipped: %s%s",
                              privileges_refusal,
                              preflight->options.has_step ? "; the step starts" : "");
    step_clean_environment();
    rv = preflight_members_find(preflight, &err);
    if (preflight_stop)
        return report_stop(preflight);
    if (rv == 0 && has_nothing_to_test(preflight))
        return COMMAND_PASS;
    if (rv != 0 || preflight_members_load(preflight, &err) != 0)
        return command_failed(COMMAND_UNKNOWN, preflight->command, "cannot tell: %s%s", err.text,
                              preflight->options.has_step ? "; the step starts" : "");
    if ((size_t)preflight->options.keep > preflight->names.count)
        return command_failed(COMMAND_FAIL, preflight->command,
                              "--keep=%ld: the job has only %zu node%s", preflight->options.keep,
                              preflight->names.count, text_plural(preflight->names.count));
    preflight_run(preflight);
    preflight_report_suspects(preflight);
    return preflight_stop ? report_stop(preflight) : report(preflight);
}

static void preflight_clear(struct preflight *preflight)
{
    struct error err;

    if (recordfile_close(preflight->options.json_path, preflight->json, &err) != 0)
        fprintf(stderr, "%s: %s\n", preflight->command, err.text);
    records_clear(&preflight->records);
    hostlist_clear(&preflight->faults);
    hostlist_clear(&preflight->notes);
    hostlist_clear(&preflight->names);
    cluster_clear(&preflight->cluster);
    name_index_clear(&preflight->by_name);
    free(preflight->members);
    conf_clear(&preflight->conf);
}

/* ---------------------------------------------------------------- options */

static int parse_step(const char *value, void *context, struct error *err)
{
    struct preflight_options *options = context;
    char *end;
    unsigned long job, step;

    errno = 0;
    job = strtoul(value, &end, 10);
    if (end == value || *end != '.' || end[1] < '0' || end[1] > '9')
        return error_set(err, "expected JOB.STEP, found \"%s\"", value);
    step = strtoul(end + 1, &end, 10);
    if (*end || errno || job == 0 || job > UINT32_MAX || step > UINT32_MAX)
        return error_set(err, "expected JOB.STEP, found \"%s\"", value);
    options->job_id = (uint32_t)job;
    options->step_id = (uint32_t)step;
    options->has_step = true;
    return 0;
}

static int parse_nodes(const char *value, void *field, struct error *err)
{
    struct hostlist names;
    size_t count;

    if (hostlist_expand(value, &names, err) != 0)
        return -1;
    count = names.count;
    hostlist_clear(&names);
    *(const char **)field = value;
    return count > 0 ? 0 : error_set(err, "expected nodes, found \"%s\"", value);
}

#define FIELD(member) OPTION_FIELD(struct preflight_options, member)

static const struct option_row rows[] = {
    OPTION('b', "budget", "SECONDS", "time budget, instead of PreflightBudget", SECONDS,
           FIELD(budget_s), OPTION_RANGE(5, 3600)),
    OPTION('c', "config", "FILE", "configuration, instead of $MUSTER_CONF or muster.conf", TEXT,
           FIELD(config_path)),
    OPTION('j', "json", "FILE", "write all records as JSON lines; - is standard output", TEXT,
           FIELD(json_path)),
    OPTION('k', "keep", "N",
           "print the N best nodes, for srun -w; nodes with a fault and nodes that do not answer "
           "are left out",
           LONG, FIELD(keep), OPTION_RANGE(1, HOSTLIST_MAX)),
    OPTION('l', "level", "LEVEL", "level of the tests", CHOICE, FIELD(level),
           .choices = "quick|standard", .initial = "quick"),
    OPTION('\0', "mpi", "TYPE", "srun's --mpi, if not the cluster's default", TEXT, FIELD(mpi)),
    OPTION('\0', "no-gpus", NULL, "leave the job's GPUs alone", FLAG, FIELD(no_gpus)),
    OPTION('w', "nodes", "LIST", "test these nodes of the job, such as n[1-4], instead of all",
           CALL, FIELD(nodes), .take = parse_nodes),
    OPTION('\0', "nodelist", "LIST", NULL, CALL, FIELD(nodes), .take = parse_nodes),
    OPTION('\0', "step", "JOB.STEP", "the nodes of this step, for srun --preflight", CALL,
           .take = parse_step),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster preflight",
    .summary = "Inside a job: tests its nodes and the links between them before the job's work. "
               "Checks that MPI starts, messages arrive undamaged, every rail reaches its speed, "
               "an allreduce is exact and the job's GPUs compute right. Prints each node and part "
               "at fault. Runs as the job's "
               "user; drains and certifies no node.",
    .status =
        "0 no fault (with --keep: N nodes are printed), 1 a fault (with --keep: fewer than N "
        "are good), 2 usage, 3 cannot tell or interrupted; with --step also 4, a fault of a "
        "heterogeneous step, 5, an interruption of one, and 128 and the signal that interrupted "
        "another.",
    .rows = rows,
    .words_hint = "name nodes with -w",
};

/* Returns -1 to go on, else the exit status. */
static int options_read(int argc, char **argv, struct preflight_options *options)
{
    int status;

    status = command_options(&set, argc, argv, options);
    options->level += PREFLIGHT_QUICK; /* the first of its choices */
    if (status >= 0)
        return status;
    if (options->has_step && (options->nodes || options->keep))
        return command_misuse(set.name, "--step cannot be combined with -w or --keep");
    return -1;
}

int command_preflight(int argc, char **argv)
{
    struct preflight preflight = {.command = "muster preflight"};
    int status = options_read(argc, argv, &preflight.options);

    if (status >= 0)
        return status;
    status = command_conf(preflight.command, preflight.options.config_path, &preflight.conf);
    if (status == COMMAND_PASS)
        status = run(&preflight);
    preflight_clear(&preflight);
    return status;
}
