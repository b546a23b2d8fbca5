/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/preflight/preflight.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/privileges.h"
#include "validate/command/command.h"
#include "validate/report/recordfile.h"
#include "validate/slurm/step.h"

enum { STATUS_COMPONENTS = 4 /* with --step: a fault, and the step is heterogeneous */ };

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
    records_add(&preflight->records, &complete);
    if (preflight->json)
        record_write(preflight->json, &complete);
}

void preflight_blame(struct preflight *preflight, struct member *member, enum verdict verdict,
                     const char *test, const char *part, const char *message)
{
    struct record record = RECORD_INIT;
    bool has_part = *part && !strstr(message, part);
    char text[480];

    record.test = test;
    record.node = member->name;
    record.part = part;
    record.verdict = verdict;
    record.message = message;
    add_record(preflight, &record);
    snprintf(text, sizeof text, "%s: %s%s%s", member->name, has_part ? part : "",
             has_part ? ": " : "", message);
    if (verdict >= VERDICT_WARN)
        hostlist_append(verdict == VERDICT_FAIL ? &preflight->faults : &preflight->remarks, text);
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
    va_list values;

    if (*preflight->unknown)
        return;
    va_start(values, format);
    vsnprintf(preflight->unknown, sizeof preflight->unknown, format, values);
    va_end(values);
}

double preflight_left_s(const struct preflight *preflight)
{
    return preflight->budget_s - (clock_s() - preflight->begin);
}

/* ---------------------------------------------------------------- before and after */

/* Which job: --step's, else the one that we are in. Slurm's variables go afterwards. */
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

/* "preflight-12.0-4711": no other step of the job has that name. */
static void names_make(struct preflight *preflight)
{
    time_t now = time(NULL);
    struct tm day;
    char date[32];

    gmtime_r(&now, &day);
    strftime(date, sizeof date, "%Y%m%d-%H%M%S", &day);
    snprintf(preflight->run, sizeof preflight->run, "%s-%04x", date, (unsigned)getpid() & 0xffff);
    snprintf(preflight->step_name, sizeof preflight->step_name, "muster-preflight-%s-%ld",
             preflight->run, (long)getpid());
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* ---------------------------------------------------------------- what is said */

static void print_message(const struct preflight *preflight, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void print_message(const struct preflight *preflight, const char *format, ...)
{
    va_list values;

    fprintf(stderr, "%s: ", preflight->command);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

static void print_lines(const struct preflight *preflight, const struct hostlist *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        bool is_double = false;

        for (size_t k = 0; k < i && !is_double; k++)
            is_double = strcmp(lines->names[k], lines->names[i]) == 0;
        if (!is_double)
            print_message(preflight, "%s", lines->names[i]);
    }
}

/* One record a node, and one of the whole. */
static void conclude(struct preflight *preflight, enum verdict verdict)
{
    for (size_t i = 0; i <= preflight->names.count; i++) {
        const struct member *member = i < preflight->names.count ? &preflight->members[i] : NULL;
        struct record record = RECORD_INIT;

        record.test = "preflight";
        record.node = member ? member->name : NULL;
        record.part = member ? member->part : NULL;
        record.verdict = !member                          ? verdict
                         : member->verdict > VERDICT_PASS ? member->verdict
                         : *preflight->unknown            ? VERDICT_UNKNOWN
                                                          : VERDICT_PASS;
        record.message = member ? member->message : preflight->unknown;
        add_record(preflight, &record);
    }
}

/* Prints the best nodes. Returns the exit status. */
static int keep(const struct preflight *preflight)
{
    size_t *places = calloc(preflight->names.count + 1, sizeof *places);
    size_t wanted = (size_t)preflight->options.keep;
    size_t good = places ? spares_rank(preflight->members, preflight->names.count, places) : 0;
    FILE *stream = preflight->json == stdout ? stderr : stdout;
    struct hostlist kept = {0};
    char *folded = NULL;
    int status = COMMAND_FAIL;

    for (size_t i = 0; i < wanted && i < good; i++)
        hostlist_append(&kept, preflight->members[places[i]].name);
    if (good >= wanted && kept.count == wanted && (folded = hostlist_fold_for_slurm(&kept))) {
        fprintf(stream, "%s\n", folded);
        status = *preflight->unknown ? COMMAND_UNKNOWN : COMMAND_PASS;
    } else {
        print_message(preflight, "%zu of %zu nodes are good, %zu were asked for", good,
                      preflight->names.count, wanted);
    }
    free(folded);
    free(places);
    hostlist_clear(&kept);
    return status;
}

/* A node of which it cannot be told whether it is at fault. */
static const struct member *doubtful(const struct preflight *preflight)
{
    for (size_t i = 0; i < preflight->names.count; i++)
        if (preflight->members[i].verdict == VERDICT_UNKNOWN)
            return &preflight->members[i];
    return NULL;
}

static int report(struct preflight *preflight)
{
    const struct preflight_options *options = &preflight->options;
    const struct member *member = doubtful(preflight);
    bool is_unknown;
    char *folded = hostlist_fold(&preflight->names);
    int status;

    if (member)
        preflight_set_unknown(preflight, "%s: %s", member->name, member->message);
    is_unknown = *preflight->unknown && !preflight->has_fault;
    status = preflight->has_fault ? COMMAND_FAIL : is_unknown ? COMMAND_UNKNOWN : COMMAND_PASS;

    print_lines(preflight, &preflight->faults);
    print_lines(preflight, &preflight->remarks);
    if (is_unknown)
        print_message(preflight, "cannot tell: %s%s", preflight->unknown,
                      options->has_step ? "; the step starts" : "");
    else if (!preflight->has_fault)
        print_message(preflight, "%s passed in %.1f s (%s)", folded ? folded : "all",
                      clock_s() - preflight->begin, conf_preflight_name(options->level));
    conclude(preflight, preflight->has_fault ? VERDICT_FAIL
                        : is_unknown         ? VERDICT_UNKNOWN
                                             : VERDICT_PASS);
    if (options->keep > 0)
        status = keep(preflight);
    else if (preflight->has_fault && options->has_step && preflight->has_components)
        status = STATUS_COMPONENTS;
    free(folded);
    return status;
}

static int run(struct preflight *preflight)
{
    struct error err = {""};

    preflight->begin = clock_s();
    preflight->budget_s = preflight->options.budget_s > 0 ? preflight->options.budget_s
                                                          : preflight->conf.preflight_budget_s;
    if (recordfile_open(preflight->options.json_path, &preflight->json, &err) != 0) {
        print_message(preflight, "%s", err.text);
        return COMMAND_USAGE;
    }
    names_make(preflight);
    setenv("MUSTER_RUN", preflight->run, 1);
    catch_signals();
    if (job_find(preflight, &err) != 0) {
        print_message(preflight, "%s", err.text);
        return COMMAND_USAGE;
    }
    /* a step has the user of its job: nobody else can be in root's */
    if (privileges_are_too_many()) {
        print_message(preflight, "skipped in a job of root's: the battery %s%s", privileges_refusal,
                      preflight->options.has_step ? "; the step starts" : "");
        return COMMAND_UNKNOWN;
    }
    step_clean_environment();
    if (preflight_members_find(preflight, &err) != 0) {
        print_message(preflight, "cannot tell: %s%s", err.text,
                      preflight->options.has_step ? "; the step starts" : "");
        return COMMAND_UNKNOWN;
    }
    if ((size_t)preflight->options.keep > preflight->names.count) {
        print_message(preflight, "--keep %ld: the job has %zu nodes", preflight->options.keep,
                      preflight->names.count);
        return COMMAND_FAIL;
    }
    if (preflight->options.has_step && preflight->names.count < 2)
        return COMMAND_PASS; /* no links */
    preflight_run(preflight);
    preflight_claim(preflight);
    if (preflight_stop) {
        print_message(preflight, "stopped by signal %d", (int)preflight_stop);
        return preflight->options.has_step ? 128 + (int)preflight_stop : COMMAND_UNKNOWN;
    }
    return report(preflight);
}

static void preflight_clear(struct preflight *preflight)
{
    struct error err;

    if (recordfile_close(preflight->options.json_path, preflight->json, &err) != 0)
        print_message(preflight, "%s", err.text);
    records_clear(&preflight->records);
    hostlist_clear(&preflight->faults);
    hostlist_clear(&preflight->remarks);
    hostlist_clear(&preflight->names);
    cluster_clear(&preflight->cluster);
    free(preflight->members);
    conf_clear(&preflight->conf);
}

/* ---------------------------------------------------------------- options */

static void print_help(void)
{
    puts("Usage: muster preflight [OPTION...]\n"
         "Tests the nodes of the job that it is run in and the links between them, before the "
         "job's\n"
         "own work: MPI starts, messages arrive unharmed, every rail has its speed, an allreduce "
         "is\n"
         "exact. For the job's user; drains and certifies nobody. Names each node and part at\n"
         "fault.\n"
         "\n"
         "  -w, --nodes LIST       these nodes of the job: n[1-4]; without it all of them\n"
         "  -k, --keep N           print the N best nodes, for srun -w: those with a fault and "
         "those\n"
         "                         that do not answer are left out\n"
         "  -l, --level LEVEL      quick (default) or standard\n"
         "  -b, --budget S         seconds that it may take, instead of PreflightBudget\n"
         "  -j, --json FILE        all records as JSON lines; - is standard output\n"
         "  -c, --config FILE      instead of $MUSTER_CONF or muster.conf\n"
         "      --mpi TYPE         srun's --mpi, if not the cluster's default\n"
         "      --step JOB.STEP    the nodes of this step, as srun --preflight asks\n"
         "  -h, --help             this text\n"
         "\n"
         "Exit status: 0 no fault (with --keep: N nodes are printed), 1 a fault (fewer than N are\n"
         "good), 2 usage, 3 could not tell or interrupted; with --step also 4, a fault of a\n"
         "heterogeneous step, and 128 and the signal that interrupted.");
}

static int step_parse(const char *text, struct preflight_options *options)
{
    char *end;
    unsigned long job, step;

    errno = 0;
    job = strtoul(text, &end, 10);
    if (end == text || *end != '.' || end[1] < '0' || end[1] > '9')
        return command_misuse("muster preflight", "step is '%s', expected JOB.STEP", text);
    step = strtoul(end + 1, &end, 10);
    if (*end || errno || job == 0 || job > UINT32_MAX || step > UINT32_MAX)
        return command_misuse("muster preflight", "step is '%s', expected JOB.STEP", text);
    options->job_id = (uint32_t)job;
    options->step_id = (uint32_t)step;
    options->has_step = true;
    return -1;
}

static int nodes_parse(const char *text, struct preflight_options *options)
{
    struct hostlist names;
    struct error err;
    int status = -1;

    options->nodes = text;
    if (hostlist_expand(text, &names, &err) != 0)
        return command_misuse("muster preflight", "%s", err.text);
    if (names.count == 0)
        status = command_misuse("muster preflight", "-w names no node: '%s'", text);
    hostlist_clear(&names);
    return status;
}

/* Returns -1 to go on, else the exit status. */
static int options_read(int argc, char **argv, struct preflight_options *options)
{
    static const struct option table[] = {
        {"nodes", required_argument, NULL, 'w'},
        {"nodelist", required_argument, NULL, 'w'},
        {"keep", required_argument, NULL, 'k'},
        {"level", required_argument, NULL, 'l'},
        {"budget", required_argument, NULL, 'b'},
        {"json", required_argument, NULL, 'j'},
        {"config", required_argument, NULL, 'c'},
        {"mpi", required_argument, NULL, 'm'},
        {"step", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option, level, status = -1;
    char *end;

    while (status < 0 && (option = command_option(argc, argv, "w:k:l:b:j:c:h", table)) != -1) {
        switch (option) {
        case 'w':
            status = nodes_parse(optarg, options);
            break;
        case 'k':
            options->keep = strtol(optarg, &end, 10);
            if (*end || end == optarg || options->keep < 1 || options->keep > HOSTLIST_MAX)
                return command_misuse("muster preflight",
                                      "keep is '%s', expected a number of nodes", optarg);
            break;
        case 'l':
            level = conf_preflight_parse(optarg);
            if (level != PREFLIGHT_QUICK && level != PREFLIGHT_STANDARD)
                return command_misuse("muster preflight",
                                      "level is '%s', expected quick or standard", optarg);
            options->level = (enum conf_preflight)level;
            break;
        case 'b':
            status =
                command_seconds("muster preflight", "budget", optarg, 5, 3600, &options->budget_s);
            break;
        case 'j':
            options->json_path = optarg;
            break;
        case 'c':
            options->config_path = optarg;
            break;
        case 'm':
            options->mpi = optarg;
            break;
        case 's':
            status = step_parse(optarg, options);
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        default:
            return command_usage_error("muster preflight");
        }
    }
    if (status < 0 && optind < argc)
        return command_misuse("muster preflight", "what is '%s'? Nodes are named with -w",
                              argv[optind]);
    if (status < 0 && options->has_step && (options->nodes || options->keep))
        return command_misuse("muster preflight", "%s",
                              "--step names its nodes itself: neither -w nor --keep goes with it");
    return status;
}

int command_preflight(int argc, char **argv)
{
    struct preflight preflight = {.command = "muster preflight",
                                  .options = {.level = PREFLIGHT_QUICK}};
    int status = options_read(argc, argv, &preflight.options);

    if (status >= 0)
        return status;
    status = command_conf(preflight.command, preflight.options.config_path, &preflight.conf);
    if (status == COMMAND_PASS)
        status = run(&preflight);
    preflight_clear(&preflight);
    return status;
}
