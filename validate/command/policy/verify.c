/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/policy/policy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/signals.h"
#include "lib/base/text.h"
#include "validate/history/node_status.h"
#include "validate/report/progress.h"
#include "validate/scheduling/verify/run.h"

/* What the calls of a run have no context for: there is one run. */
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

static void show_result(const struct intent_statement *statement,
                        const struct verify_result *result)
{
    char where[320];

    snprintf(where, sizeof where, "%s:%d", statement->line->file, statement->line->number);
    counts.passed += result->verdict == VERDICT_PASS;
    counts.failed += result->verdict == VERDICT_FAIL;
    counts.unknown += result->verdict == VERDICT_UNKNOWN;
    progress_drop(&progress);
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
    progress_begin(&progress, "verify");
}

/* What would be tried, a line a statement. */
static int print_plan(const struct verify_setting *setting, struct error *err)
{
    struct verify_capacity capacity;
    double most_s = 0;
    long nodes = 1;

    if (verify_measure(setting, &capacity, err) != 0)
        return COMMAND_UNKNOWN;
    for (size_t i = 0; i < setting->intent->count; i++) {
        const struct intent_statement *statement = &setting->intent->statements[i];
        struct verify_plan plan = {0};

        statement->kind->plan(statement, &capacity, &plan);
        most_s += plan.most_s;
        nodes = plan.nodes > nodes ? plan.nodes : nodes;
        printf("%s:%d: %s: %s; %.0f s at most\n", statement->line->file, statement->line->number,
               statement->line->text, plan.doing, plan.most_s);
    }
    printf("%zu statements on %ld node%s, %.0f minutes at most\n", setting->intent->count, nodes,
           text_plural(nodes), most_s / 60 + 1);
    return COMMAND_PASS;
}

static int verify_here(const struct verify_setting *setting, struct error *err)
{
    int rv;

    progress_init(&progress, stderr);
    signals_catch(stop, 0);
    signal(SIGPIPE, SIG_IGN);
    progress_begin(&progress, "verify");
    rv = verify_all(setting, err);
    progress_drop(&progress);
    if (stop_signal && rv == 0)
        error_set(err, "stopped by signal %d, all undone", (int)stop_signal);
    if (rv == 0 && !as_json)
        printf("statements: %d hold, %d do not, %d not shown\n", counts.passed, counts.failed,
               counts.unknown);
    return rv != 0 || stop_signal ? COMMAND_UNKNOWN
           : counts.failed        ? COMMAND_FAIL
           : counts.unknown       ? COMMAND_UNKNOWN
                                  : COMMAND_PASS;
}

/* The file beside muster.conf that the name has. */
static void path_beside(const char *beside, const char *name, char *path, size_t size)
{
    const char *slash = strrchr(beside, '/');

    snprintf(path, size, "%.*s%s", slash ? (int)(slash + 1 - beside) : 0, beside, name);
}

static int verify(const struct policy_options *options, const struct conf *conf,
                  const char *directory, const char *path, struct intent *intent, struct site *site,
                  struct error *err)
{
    struct verify_setting setting = {.site = site,
                                     .intent = intent,
                                     .directory = directory,
                                     .has_gate = conf->on_missing == POLICY_REFUSE,
                                     .argc = options->argc,
                                     .argv = options->argv,
                                     .stop = &stop_signal,
                                     .on_doing = show_doing,
                                     .on_result = show_result,
                                     .on_leftover = show_leftover};
    struct error accounting = {""};
    int status = COMMAND_UNKNOWN;

    if (intent_read(path, intent, err) != 0 ||
        (options->nodes && hostlist_expand(options->nodes, &setting.nodes, err) != 0))
        status = COMMAND_USAGE;
    else if (!options->is_dry_run && geteuid() != 0)
        error_set(err, "needs root to submit jobs of the test users; --dry-run does not");
    else if (policy_load(options, site, err, &accounting) == 0 &&
             (options->is_dry_run ||
              node_status_valid(conf->history_path, &setting.certified, err) >= 0))
        status = options->is_dry_run ? print_plan(&setting, err) : verify_here(&setting, err);
    hostlist_clear(&setting.nodes);
    hostlist_clear(&setting.certified);
    return status;
}

int policy_verify(const char *name, const struct policy_options *options)
{
    const char *named = options->config ? options->config : getenv("MUSTER_CONF");
    char path[4096], directory[4096];
    struct intent intent = {.count = 0};
    struct site site = {0};
    struct error err = {""};
    struct conf conf;
    int status = command_conf(name, options->config, &conf);

    as_json = options->as_json;
    if (status == COMMAND_PASS) {
        path_beside(named && *named ? named : conf_default_path(), "policy.conf", path,
                    sizeof path);
        path_beside(conf.history_path, "policy-runs", directory, sizeof directory);
        status = verify(options, &conf, directory, options->file ? options->file : path, &intent,
                        &site, &err);
        if (*err.text)
            fprintf(stderr, "%s: %s\n", name, err.text);
    }
    intent_clear(&intent);
    site_clear(&site);
    conf_clear(&conf);
    return status;
}
