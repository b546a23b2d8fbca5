/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/job_match.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/slurm/release.h"
#include "validate/slurm/show.h"

/* The controller has forgotten all jobs. */
int slurm_load_jobs(time_t since, job_info_msg_t **found, uint16_t flags)
{
    static job_info_msg_t none;

    *found = &none;
    return SLURM_SUCCESS;
}

void slurm_free_job_info_msg(job_info_msg_t *found)
{
}

char *slurm_strerror(int number)
{
    return NULL;
}

uint32_t release_job_id(const slurm_job_info_t *job)
{
    return job->job_id;
}

/* 2026-11-25T17:00:00 in UTC */
enum { FIVE_PM_UTC = 1795626000 };

static bool is_believed(const char *line, unsigned job_id, time_t at)
{
    struct job_match report = {
        .job_id = job_id, .uid = 1000, .node = "n1", .holder = "n2", .at = at};

    job_match_parse_line(line, &report, 1);
    return job_match_is_confirmed(&report);
}

static void believes_reports_of_the_jobs_time(void)
{
    const char *line = "12|12|1000|2026-11-25T16:00:00|2026-11-25T17:00:00|n[1-2]";

    ok(is_believed(line, 12, FIVE_PM_UTC - 60), "a report from the time of the job is believed");
    ok(is_believed(line, 12, FIVE_PM_UTC + 60), "... and from a little later, as clocks differ");
    ok(!is_believed(line, 12, FIVE_PM_UTC + 86400), "a report of the next day is not");
    ok(!is_believed(line, 12, FIVE_PM_UTC - 86400), "... nor one of the day before");
    ok(!is_believed(line, 13, FIVE_PM_UTC - 60), "... nor one of another job");
    ok(is_believed("12|12|1000|2026-11-25T16:00:00|Unknown|n[1-2]", 12, FIVE_PM_UTC + 86400),
       "a running job has no end");
    ok(!is_believed("12|12|1000|Unknown|Unknown|n[1-2]", 12, FIVE_PM_UTC),
       "a report of a job that never began is not");
    ok(!is_believed("12|12|1001|2026-11-25T16:00:00|Unknown|n[1-2]", 12, FIVE_PM_UTC),
       "a report of another user is not");
}

static void finds_jobs_by_their_ids(void)
{
    ok(is_believed("12+1|13|1000|2026-11-25T16:00:00|Unknown|n[1-2]", 12, FIVE_PM_UTC),
       "a component is found by its leader's ID");
    ok(is_believed("9_3|14|1000|2026-11-25T16:00:00|Unknown|n[1-2]", 14, FIVE_PM_UTC),
       "an array task is found by its own ID");
    ok(!is_believed("9_3|14|1000|2026-11-25T16:00:00|Unknown|n[1-2]", 9, FIVE_PM_UTC),
       "... not by the array's ID");
}

/* Like sacct: of a requeued job only the newest run is listed, unless duplicates are requested. */
static void believes_reports_of_runs_before_a_requeue(void)
{
    char *root = tree_unpack(""), path[4096], *before = strdup(getenv("PATH"));
    struct job_match report = {
        .job_id = 12, .uid = 1000, .node = "n1", .holder = "n2", .at = FIVE_PM_UTC - 1800};
    struct error err = {""};

    tree_put(root, "sacct",
             "#!/bin/sh\n"
             "case \" $* \" in *' --duplicates '*)\n"
             "    echo '12|12|1000|2026-11-25T16:00:00|2026-11-25T17:00:00|n[1-2]' ;;\n"
             "esac\n"
             "echo '12|12|1000|2026-11-25T18:00:00|Unknown|n[3-4]'\n");
    snprintf(path, sizeof path, "%s/sacct", root);
    chmod(path, 0700);
    snprintf(path, sizeof path, "%s:%s", root, before);
    setenv("PATH", path, 1);
    is_int(job_match_query(&report, 1, &err), 0, "sacct is queried: %s", err.text);
    ok(job_match_is_confirmed(&report), "a report from a run before the requeue is believed");
    setenv("PATH", before, 1);
    free(before);
    tree_remove(root);
}

/* sacct and scontrol format times as their environment demands. */
static void reads_times_whatever_the_environment(void)
{
    char *root = tree_unpack(""), path[4096], *before = strdup(getenv("PATH"));
    struct job_match report = {
        .job_id = 12, .uid = 1000, .node = "n1", .holder = "n2", .at = FIVE_PM_UTC - 60};
    struct error err = {""};
    char *text = NULL;

    tree_put(
        root, "sacct",
        "#!/bin/sh\n"
        "[ \"$SLURM_TIME_FORMAT\" = standard ] && form=%FT%T || form=%H:%M\n"
        "echo \"12|12|1000|$(date -d @1795622400 +$form)|$(date -d @1795626000 +$form)|n[1-2]\"\n");
    tree_put(root, "scontrol", "#!/bin/sh\necho $SLURM_TIME_FORMAT $(date -d @1795626000 +%T)\n");
    snprintf(path, sizeof path, "%s/sacct", root);
    chmod(path, 0700);
    snprintf(path, sizeof path, "%s/scontrol", root);
    chmod(path, 0700);
    snprintf(path, sizeof path, "%s:%s", root, before);
    setenv("PATH", path, 1);
    setenv("SLURM_TIME_FORMAT", "relative", 1);
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    is_int(job_match_query(&report, 1, &err), 0, "sacct is queried: %s", err.text);
    ok(job_match_is_confirmed(&report),
       "a report of an ended job is believed despite SLURM_TIME_FORMAT and TZ");
    is_int(cluster_show_job(12, &text, &err), 0, "scontrol is queried: %s", err.text);
    is_str(text ? text : "", "standard 17:00:00\n", "... with the same time format");
    free(text);
    unsetenv("SLURM_TIME_FORMAT");
    unsetenv("TZ");
    setenv("PATH", before, 1);
    free(before);
    tree_remove(root);
}

int main(void)
{
    setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
    tzset();
    reads_times_whatever_the_environment();
    believes_reports_of_runs_before_a_requeue();
    believes_reports_of_the_jobs_time();
    finds_jobs_by_their_ids();
    return tap_done();
}
