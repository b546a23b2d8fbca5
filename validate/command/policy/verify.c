/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/base/path.h"
#include "lib/base/signals.h"
#include "lib/base/text.h"
#include "validate/command/jsontext.h"
#include "validate/history/node_status.h"
#include "validate/report/progress.h"
#include "validate/report/table.h"
#include "validate/scheduling/simulate/day.h"

/* State for callbacks without a context: there is only one run. */
static volatile sig_atomic_t stop_signal;
static struct progress progress;
static bool as_json;
static struct {
    int passed, failed, unknown;
} counts;

static void stop(int number)
{
    stop_signal = number;
}

static void show_doing(const char *text)
{
    progress_doing(&progress, "%s", text);
    progress_tick(&progress);
}

static void show_leftover(const char *text)
{
    progress_print(&progress, "%s", text);
}

static void print_result(const struct intent_statement *statement,
                         const struct verify_result *result)
{
    char where[320];

    snprintf(where, sizeof where, "%s:%d", statement->line->file, statement->line->number);
    counts.passed += result->verdict == VERDICT_PASS;
    counts.failed += result->verdict == VERDICT_FAIL;
    counts.unknown += result->verdict == VERDICT_UNKNOWN;
    policy_print(&(struct policy_line){.kind = result->verdict == VERDICT_FAIL
                                                   ? &verify_codes[result->code]
                                                   : NULL,
                                       .verdict = result->verdict,
                                       .object = statement->who->name,
                                       .where = where,
                                       .stated = statement->line->text,
                                       .found = result->found},
                 as_json);
    fflush(stdout);
}

static void show_result(const struct intent_statement *statement,
                        const struct verify_result *result)
{
    progress_drop(&progress);
    print_result(statement, result);
    progress_begin(&progress, "verify");
}

/* Prints what would be tried, one line per statement. */
static int print_plan(const struct verify_setting *setting, struct error *err)
{
    struct verify_capacity capacity;
    double most_s = 0;
    long nodes = 1;

    if (verify_measure(setting, &capacity, err) != 0)
        return COMMAND_UNKNOWN;
    for (size_t i = 0; i < setting->intent->count; i++) {
        const struct intent_statement *statement = &setting->intent->statements[i];
        struct verify_plan plan = statement->kind->plan(statement, &capacity);

        most_s += plan.most_s;
        nodes = plan.nodes > nodes ? plan.nodes : nodes;
        printf("%s:%d: %s: %s; %.0f s at most\n", statement->line->file, statement->line->number,
               statement->line->text, plan.doing.text, plan.most_s);
    }
    printf("%zu statements on %ld node%s, %.0f minutes at most\n", setting->intent->count, nodes,
           text_plural(nodes), most_s / 60 + 1);
    return COMMAND_PASS;
}

static void begin(const char *stage)
{
    progress_init(&progress, stderr);
    signals_catch(stop, 0);
    signal(SIGPIPE, SIG_IGN);
    progress_begin(&progress, stage);
}

/* Returns rv, or -1 with err if a signal stopped the run. */
static int end(int rv, struct error *err)
{
    progress_drop(&progress);
    if (stop_signal && rv == 0)
        return error_set(err, "stopped by signal %d, all undone", (int)stop_signal);
    return rv;
}

static int status_of(int rv)
{
    if (rv == 0 && !as_json)
        printf("statements: %d hold, %d do not, %d not shown\n", counts.passed, counts.failed,
               counts.unknown);
    return rv != 0          ? COMMAND_UNKNOWN
           : counts.failed  ? COMMAND_FAIL
           : counts.unknown ? COMMAND_UNKNOWN
                            : COMMAND_PASS;
}

static int verify_here(const struct verify_setting *setting, struct error *err)
{
    begin("verify");
    return status_of(end(verify_all(setting, err), err));
}

/* -------------------------------------------------------------------------- simulate */

/* Prints what the replay is, and what it does not show. site NULL: unknown. */
static int print_day(const struct intent *intent, const struct day *day, const struct site *site)
{
    static const char *const keys[] = {"PriorityDecayHalfLife", "PriorityMaxAge",
                                       "PriorityCalcPeriod"};
    double length_s = day->jobs[day->count - 1].submit_s;
    size_t coarse = 0;

    for (size_t i = 0; i < day->count; i++)
        coarse += day_minutes(day, &day->jobs[i]) * 60 * day->speed > 1.5 * day->jobs[i].limit_s;
    printf("%zu jobs in %s; at speed %.0f they are submitted in %s\n", day->count,
           day_duration(length_s).text, day->speed, day_duration(length_s / day->speed).text);
    for (size_t i = 0; site && i < sizeof keys / sizeof *keys; i++)
        if (site_seconds(site_config(site, keys[i])) > 0)
            printf("%s=%s here is %s of the day\n", keys[i], site_config(site, keys[i]),
                   day_duration(site_seconds(site_config(site, keys[i])) * day->speed).text);
    printf("a start, for which Slurm itself may take %d s, is known to %s of the day\n",
           SIMULATE_LATENCY_S, day_duration(SIMULATE_LATENCY_S * day->speed).text);
    printf("jobs with a much longer time limit than in the day: %zu (a minute here is %s)\n",
           coarse, day_duration(60 * day->speed).text);
    for (size_t i = 0; i < intent->count; i++)
        if (!outcome_is_shown(&intent->statements[i]))
            printf("%s:%d: %s: not looked at; muster policy verify proves it\n",
                   intent->statements[i].line->file, intent->statements[i].line->number,
                   intent->statements[i].line->text);
    return COMMAND_PASS;
}

static void add_row(const struct day_job *job, const struct outcome *outcome, struct table *table)
{
    char entitled[16] = "-";

    if (as_json)
        jsontext_print(
            stdout, JSON_COMPACT,
            json_pack(
                "{so so si si si si si sf sf sf sf so}", "account", jsontext(job->account), "qos",
                jsontext(job->qos), "jobs", (int)outcome->jobs, "refused", (int)outcome->refused,
                "never_started", (int)outcome->never, "finished", (int)outcome->finished,
                "preempted", (int)outcome->preempted, "waited_median_s", outcome->waited_s[0],
                "waited_90_s", outcome->waited_s[1], "waited_most_s", outcome->waited_s[2], "share",
                outcome->share, "entitled_share",
                isnan(outcome->entitled_share) ? json_null() : json_real(outcome->entitled_share)));
    if (!isnan(outcome->entitled_share))
        snprintf(entitled, sizeof entitled, "%.0f %%", 100 * outcome->entitled_share);
    table_cells(table, "%s\t%s\t%zu\t%zu\t%zu\t%zu\t%zu\t%s\t%s\t%s\t%.0f %%\t%s", job->account,
                job->qos, outcome->jobs, outcome->refused, outcome->never, outcome->finished,
                outcome->preempted, day_duration(outcome->waited_s[0]).text,
                day_duration(outcome->waited_s[1]).text, day_duration(outcome->waited_s[2]).text,
                100 * outcome->share, entitled);
}

static int print_outcomes(const struct day *day, const struct site *site)
{
    struct table table = {0};
    struct outcome outcome;
    int rv = 0;

    table_heading(&table,
                  "ACCOUNT\tQOS\tJOBS\tREFUSED\tNEVER STARTED\tFINISHED\tPREEMPTED\tWAITED\t90 %"
                  "\tMOST\tACCOUNT USED\tENTITLED");
    for (size_t i = 0; rv == 0 && i < day->count; i++) {
        const struct day_job *job = &day->jobs[i];
        bool is_new = true;

        for (size_t k = 0; k < i && is_new; k++)
            is_new = strcmp(day->jobs[k].account, job->account) != 0 ||
                     strcmp(day->jobs[k].qos, job->qos) != 0;
        if (is_new && (rv = outcome_sum(day, site, job->account, job->qos, &outcome)) == 0)
            add_row(job, &outcome, &table);
    }
    if (rv == 0 && !as_json)
        table_print(&table, stdout, false);
    table_clear(&table);
    return rv;
}

static int simulate(const struct policy_options *options, const struct verify_setting *setting,
                    struct day *day, struct error *err)
{
    const char *cluster = site_config(setting->site, "ClusterName");
    int rv;

    if (strcasecmp(cluster, options->copy) != 0) {
        error_set(err, "this cluster is %s, not %s, the copy that may be filled with jobs", cluster,
                  options->copy);
        return COMMAND_UNKNOWN;
    }
    begin("simulate");
    rv = end(day_replay(setting, day, err), err);
    if (rv == 0 && !as_json)
        print_day(setting->intent, day, setting->site);
    if (rv == 0 && print_outcomes(day, setting->site) != 0)
        rv = error_set(err, "no memory");
    for (size_t i = 0; rv == 0 && i < setting->intent->count; i++) {
        const struct intent_statement *statement = &setting->intent->statements[i];

        if (outcome_is_shown(statement)) {
            struct verify_result result = outcome_judge(day, setting->site, statement);

            print_result(statement, &result);
        }
    }
    return status_of(rv);
}

static int verify(const char *name, const struct policy_options *options, const struct conf *conf,
                  const char *directory, const char *path, struct error *err)
{
    struct intent intent = {.count = 0};
    struct site site = {0};
    struct verify_setting setting = {.site = &site,
                                     .intent = &intent,
                                     .directory = directory,
                                     .has_gate = conf->on_missing == POLICY_REFUSE,
                                     .stop = &stop_signal,
                                     .on_doing = show_doing,
                                     .on_result = show_result,
                                     .on_leftover = show_leftover};
    struct error accounting = {""};
    struct day day = {.count = 0};
    int status = COMMAND_UNKNOWN;

    day.speed = options->speed ? options->speed : 60;
    if (intent_read(path, &intent, err) != 0 ||
        (options->day && day_read(options->day, &day, err) != 0) ||
        (options->nodes && hostlist_expand(options->nodes, &setting.nodes, err) != 0))
        status = COMMAND_USAGE;
    else if (!options->is_dry_run && geteuid() != 0)
        error_set(err, "needs root to submit jobs of the test users; --dry-run does not");
    else if (options->day && options->is_dry_run)
        status = print_day(&intent, &day, NULL);
    else if (policy_load(options, &site, err, &accounting) == 0 &&
             (options->is_dry_run ||
              node_status_valid(conf->history_path, site_config(&site, "ClusterName"),
                                &setting.certified, err) >= 0))
        status = options->day          ? simulate(options, &setting, &day, err)
                 : options->is_dry_run ? print_plan(&setting, err)
                                       : verify_here(&setting, err);
    if (*accounting.text)
        fprintf(stderr, "%s: accounting: %s\n", name, accounting.text);
    intent_clear(&intent);
    site_clear(&site);
    day_clear(&day);
    hostlist_clear(&setting.nodes);
    hostlist_clear(&setting.certified);
    return status;
}

int policy_verify(const char *name, const struct policy_options *options)
{
    const char *named = options->config ? options->config : getenv("MUSTER_CONF");
    char path[4096], directory[4096];
    struct error err = {""};
    struct conf conf;
    int status = command_conf(name, options->config, &conf);

    as_json = options->as_json;
    if (status == COMMAND_PASS) {
        if (!path_beside(named && *named ? named : conf_default_path(), "policy.conf", path,
                         sizeof path))
            snprintf(path, sizeof path, "policy.conf");
        path_beside(conf.history_path, "policy-runs", directory, sizeof directory);
        status =
            verify(name, options, &conf, directory, options->file ? options->file : path, &err);
        if (*err.text)
            fprintf(stderr, "%s: %s\n", name, err.text);
    }
    conf_clear(&conf);
    return status;
}
