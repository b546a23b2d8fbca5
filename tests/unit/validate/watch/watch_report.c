/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/memory_stream.h"
#include "tests/unit/capture.h"
#include "tests/unit/tap.h"
#include "validate/command/command.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/own_job.h"
#include "validate/slurm/step/step.h"
#include "validate/watch/sample.h"

/* Tests muster watch --report on a job of two nodes, with simulated output of srun and a simulated
 * clock. */

static struct {
    char state;         /* of n2's rank */
    double silent_at_s; /* from then on no node sends samples */
    int report_status;  /* of the step that leaves the report */
    bool is_answered;   /* NCCL on n1 misses n2's rank */
} setup;
static double now_s = 1000;
static const char *holders; /* the nodes that were given reports; NULL: none */

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){(time_t)now_s, 0};
    return 0;
}

int __wrap_cluster_open(struct error *err);
int __wrap_cluster_open(struct error *err)
{
    (void)err;
    return 0;
}

int __wrap_own_job_load(uint32_t id, struct own_job *job, struct error *err);
int __wrap_own_job_load(uint32_t id, struct own_job *job, struct error *err)
{
    (void)id;
    *job = (struct own_job){.is_running = true, .uid = geteuid()};
    return hostlist_expand("n[1-2]", &job->nodes, err);
}

static void sample_send(const struct process *process, int task)
{
    struct watch_rank rank = {
        .rank = task, .pid = 100 + task, .state = task == 1 ? setup.state : 'S'};
    struct watch_rail rail = {.name = "eth1"};
    struct ras_comm comm = {.name = "c", .missing_count = 1, .missing = {1, "n2", 101}};
    struct watch_sample sample = {
        .time_s = now_s, .ranks = &rank, .rank_count = 1, .rails = &rail, .rail_count = 1};
    char *line = NULL;
    size_t size;
    FILE *stream = memory_stream(&line, &size);

    snprintf(sample.node, sizeof sample.node, "n%d", task + 1);
    if (task == 0 && setup.is_answered)
        sample.ras = (struct ras){true, &comm, 1};
    fprintf(stream, "%d: ", task);
    watch_sample_write(&sample, stream);
    fclose(stream);
    line[strcspn(line, "\n")] = '\0';
    process->on_line(line, false, process->context);
    free(line);
}

int __wrap_step_run(const struct step *step, const struct process *watching,
                    struct process_result *result, struct error *err);
int __wrap_step_run(const struct step *step, const struct process *watching,
                    struct process_result *result, struct error *err)
{
    (void)err;
    *result = (struct process_result){.end = PROCESS_EXITED};
    if (!watching->on_line) {
        holders = step->nodes->count == 1 ? "n2" : "several";
        result->status = setup.report_status;
        if (setup.report_status != 0)
            strcpy(result->error_line.text, "srun: error: n2: cannot start");
        return 0;
    }
    for (double end_s = now_s + 60; now_s < end_s && !*watching->stop; now_s += 2) {
        for (int task = 0; task < 2 && now_s < setup.silent_at_s; task++)
            sample_send(watching, task);
        watching->on_tick(watching->context);
    }
    return 0;
}

/* Runs muster watch --report. Returns what it prints on standard error. */
static const char *watch_stderr(const char *mode, int *status)
{
    char name[] = "watch", report[] = "--report", until[16], id[] = "7";
    char *words[] = {name, report, until, id, NULL};

    snprintf(until, sizeof until, "%s", mode);
    holders = NULL;
    optind = 0;
    capture_begin();
    *status = command_watch(4, words);
    return capture_end(2);
}

int main(void)
{
    const char *text;
    int status;

    setup.state = 'T';
    setup.silent_at_s = 1e9;
    text = watch_stderr("--once", &status);
    is_int(status, COMMAND_FAIL, "a job with a rank that is stopped hangs");
    is_str(holders, "n2", "... its node keeps the report");
    is_str(text, "muster watch: suspect report left about 1 node\n", "... and a line says so");

    setup.report_status = 1;
    text = watch_stderr("--once", &status);
    is_str(text, "muster watch: no suspect report was left: srun: error: n2: cannot start\n",
           "a report that cannot be left is named");
    is_int(status, COMMAND_FAIL, "... and the status is that of the verdict");

    setup.state = 'S';
    setup.is_answered = true;
    setup.silent_at_s = now_s + 20;
    text = watch_stderr("-i2", &status);
    ok(!holders, "no report is left if no node sends samples any more");
    is_str(text, "muster watch: no suspect report was left: no node of the job sends samples\n",
           "... which a line says");
    is_int(status, COMMAND_FAIL, "... and the status is that of the verdict");
    return tap_done();
}
