/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/scheduling/verify/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/scheduling/simulate/day.h"

/* Judges output of scontrol and sprio of Slurm 22.05. No probe job is submitted: the test
 * notes what they would request. */

static struct verify_capacity capacity = {.nodes = 7, .cpus = 64, .gres = "gpu:4"};
static char requests[200];  /* nodes and GRES per node of each job */
static int most_nodes = 64; /* limits refuse a job on more, */
static long most_gpus = 64; /* ... or of more GPUs, */
static int most_cpus = 999; /* ... or of more CPUs, */
static long most_each = 64; /* ... or of more GPUs or CPUs of a node, */
static int most_jobs = 64;  /* ... or more than so many */
static int job_count;       /* that were not ended */

const struct verify_capacity *verify_capacity_of(const struct verify_run *run)
{
    return &capacity;
}

struct seen_job *verify_submit(struct verify_run *run, const struct intent_who *who,
                               const struct verify_ask *ask, struct verify_seen *seen)
{
    long gpus = ask->gres ? ask->nodes * strtol(strchr(ask->gres, ':') + 1, NULL, 10) : 0;
    struct seen_job *job = &seen->jobs[seen->count++];

    text_join(requests, sizeof requests, ", ", "%d x %s", ask->nodes,
              ask->gres ? ask->gres : "no GPU");
    *job = (struct seen_job){.who = who, .id = 1, .state = "RUNNING"};
    if (ask->nodes > most_nodes || gpus > most_gpus || ask->cpus > most_cpus ||
        (gpus > 0 ? gpus : ask->cpus) / ask->nodes > most_each || job_count == most_jobs)
        *job = (struct seen_job){.who = who, .answer = PROBE_LIMITED};
    job_count += job->id != 0;
    return job;
}

bool verify_wait(struct verify_run *run, double most_s, struct verify_seen *seen,
                 bool (*is_so)(const struct verify_seen *seen))
{
    return true;
}

bool verify_occupy(struct verify_run *run, const struct intent_who *who, int minutes,
                   struct verify_seen *seen)
{
    return true;
}

void verify_factors(struct seen_job *job)
{
}

void verify_end(struct verify_run *run, struct seen_job *job)
{
    job_count -= job->id != 0;
}

void verify_uncertified(struct verify_run *run, const struct intent_statement *statement,
                        struct verify_seen *seen)
{
}

#define WAITS(reason)                                                                              \
    "JobId=19 JobName=x UserId=alice(7721) GroupId=alice(7721) MCS_label=N/A Priority=11000 "      \
    "Nice=0 Account=physics QOS=batch JobState=PENDING Reason=" reason " Dependency=(null) "       \
    "Requeue=1 Restarts=0 BatchFlag=1 SubmitTime=2026-11-25T17:16:01 StartTime=Unknown"
#define RUNS                                                                                       \
    "JobId=21 JobName=x UserId=bob(7722) GroupId=bob(7722) MCS_label=N/A Priority=110000 Nice=0 "  \
    "Account=physics QOS=urgent JobState=RUNNING Reason=None Dependency=(null) Requeue=1 "         \
    "Restarts=0 SubmitTime=2026-11-25T17:16:08 StartTime=2026-11-25T17:16:09"
#define REQUEUED                                                                                   \
    "JobId=20 JobName=x UserId=alice(7721) Priority=11000 Nice=0 Account=physics QOS=batch "       \
    "JobState=PENDING Reason=BeginTime Dependency=(null) Requeue=1 Restarts=1 "                    \
    "SubmitTime=2026-11-25T17:16:09 StartTime=2026-11-25T17:18:10"
#define CANCELLED                                                                                  \
    "JobId=20 JobName=x UserId=alice(7721) Priority=11000 JobState=PREEMPTED Reason=None "         \
    "Restarts=0 SubmitTime=2026-11-25T17:16:01 StartTime=2026-11-25T17:16:02"
#define REFUSED "" /* the job was not accepted */

static const struct intent_who customer = {"customer", "bob", "", "urgent", ""},
                               burst = {"burst", "alice", "", "batch", ""};
static struct verify_seen seen;
static struct verify_result result;
static struct intent_statement statement;

/* texts: scontrol's output for each job, "" for a job that a limit refused; ends with NULL. */
static void read_jobs(const char *const *texts)
{
    memset(&seen, 0, sizeof seen);
    for (; *texts; texts++) {
        struct seen_job *job = &seen.jobs[seen.count++];

        *job = (struct seen_job){.who = seen.count == 1 ? &burst : &customer,
                                 .id = (uint32_t)(18 + seen.count),
                                 .submitted_s = NAN,
                                 .started_s = NAN};
        if (!**texts) {
            job->answer = PROBE_LIMITED;
            strcpy(job->message, "Job violates accounting/QOS policy");
        } else {
            seen_job_read(*texts, job);
        }
    }
}

/* Returns "pass", "unknown", or the code of the finding. */
static const char *verdict_text(const struct verify_kind *kind)
{
    statement.kind = kind;
    statement.who = &customer;
    statement.other = &burst;
    result = verify_judge(&statement, &seen);
    return result.verdict == VERDICT_FAIL ? verify_codes[result.code].code
                                          : verdict_name(result.verdict);
}

static const char *judge_jobs(const struct verify_kind *kind, const char *const *texts)
{
    read_jobs(texts);
    return verdict_text(kind);
}
#define JOBS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define judged(kind, ...) judge_jobs(&verify_##kind, JOBS(__VA_ARGS__))

static void test_limits(void)
{
    statement = (struct intent_statement){.limit = INTENT_JOBS};
    is_str(judged(limit, RUNS, RUNS, WAITS("QOSMaxJobsPerUserLimit")), "pass",
           "two jobs run, and the third waits for a limit");
    has_str(result.found, "job 21 (bob) waits: QOSMaxJobsPerUserLimit", "... with Slurm's reason");
    is_str(judged(limit, RUNS, RUNS, REFUSED), "pass", "... or the limit refuses it");
    is_str(judged(limit, RUNS, RUNS, RUNS), "limit-passed", "the third job runs, too");
    is_str(judged(limit, RUNS, WAITS("AssocMaxJobsLimit"), RUNS), "limit-below",
           "the second job already waits for a limit");
    is_str(judged(limit, RUNS, WAITS("QOSGrpCpuLimit"), RUNS), "limit-below",
           "... or for a limit of a group");
    read_jobs(JOBS(RUNS, WAITS("QOSGrpCpuLimit"), RUNS));
    seen.other_jobs = 3;
    is_str(verdict_text(&verify_limit), "unknown", "... to which jobs of others may count");
    is_str(judged(limit, RUNS, RUNS, WAITS("Resources")), "unknown",
           "the third job waits for another reason: not shown");
    has_str(result.found, "not shown, because job 21 (bob) waits: Resources",
            "... the text says so");
    is_str(judged(limit, RUNS, WAITS("Priority"), REFUSED), "unknown",
           "the second job only waits for its turn");
    strcpy(seen.not_shown, "it needs 3 nodes, and 1 are reserved");
    is_str(verdict_text(&verify_limit), "unknown", "a probe that could not be made");

    statement.limit = INTENT_SUBMIT;
    is_str(judged(limit, WAITS("BeginTime"), REFUSED), "pass", "one job is accepted, and no more");
    is_str(judged(limit, WAITS("BeginTime"), WAITS("BeginTime")), "limit-passed",
           "both jobs are accepted");
    is_str(judged(limit, REFUSED, REFUSED), "limit-below", "no job is accepted");
    read_jobs(JOBS(REFUSED, REFUSED));
    seen.other_jobs = 3;
    seen.is_group_limited = true;
    is_str(verdict_text(&verify_limit), "unknown", "... while jobs of others may count");

    statement.limit = INTENT_WALL;
    is_str(judged(limit, REFUSED, WAITS("Reservation")), "pass",
           "one minute more than the limit is refused, and the limit itself is accepted");
    is_str(judged(limit, WAITS("QOSMaxWallDurationPerJobLimit"), RUNS), "pass",
           "... or the longer job waits forever");
    is_str(judged(limit, RUNS, RUNS), "limit-passed", "the longer job runs");
    is_str(judged(limit, REFUSED, REFUSED), "limit-below", "a job at the limit is refused as well");
    is_str(judged(limit, WAITS("None"), RUNS), "unknown", "Slurm has not considered the job yet");
}

/* A job requests a GRES per node, so its nodes have the same number each. There are 7 nodes. */
static void test_amounts_of_gres(void)
{
    static const struct {
        enum intent_limit limit;
        long amount, nodes;
        const char *requests;
    } cases[] = {{INTENT_PER_JOB, 3, 1, "1 x gpu:4, 1 x gpu:3"},
                 {INTENT_PER_JOB, 4, 5, "5 x gpu:1, 1 x gpu:4"},
                 {INTENT_PER_JOB, 5, 5, "2 x gpu:3, 5 x gpu:1"},
                 {INTENT_PER_JOB, 6, 7, "7 x gpu:1, 2 x gpu:3"},
                 {INTENT_PER_JOB, 16, 6, "6 x gpu:3, 4 x gpu:4"},
                 {INTENT_PER_JOB, 28, 8, "8 x gpu:4, 7 x gpu:4"},
                 {INTENT_TOTAL, 3, 1, "1 x gpu:3, 1 x gpu:1"},
                 {INTENT_TOTAL, 9, 4, "3 x gpu:3, 1 x gpu:1"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verify_plan plan;

        statement = (struct intent_statement){.who = &customer,
                                              .limit = cases[i].limit,
                                              .tres = "gres/gpu",
                                              .amount = cases[i].amount};
        memset(&seen, 0, sizeof seen);
        *requests = '\0';
        plan = verify_limit.plan(&statement, &capacity);
        verify_limit.probe(NULL, &statement, &seen);
        is_str(requests, cases[i].requests, "%ld GPUs %s, on nodes with 4", cases[i].amount,
               cases[i].limit == INTENT_TOTAL ? "at once" : "in a job");
        is_int(plan.nodes, cases[i].nodes, "... need %ld nodes", cases[i].nodes);
    }
    read_jobs(JOBS(REFUSED, RUNS));
    statement.limit = INTENT_PER_JOB;
    seen.amounts[0] = 18;
    seen.amounts[1] = 16;
    is_str(verdict_text(&verify_limit), "pass", "more than one too many are refused");
    has_str(result.found, "2 more than stated is refused", "... the text says how many");
}

/* Probes and judges a limit of so much, where there may be others. */
static const char *probe(enum intent_limit limit, const char *tres, long amount)
{
    statement = (struct intent_statement){.who = &customer, .limit = limit, .amount = amount};
    strcpy(statement.tres, tres);
    memset(&seen, 0, sizeof seen);
    *requests = '\0';
    job_count = 0;
    verify_limit.probe(NULL, &statement, &seen);
    return verdict_text(&verify_limit);
}

static const char *judge_gpus(long amount)
{
    return probe(INTENT_PER_JOB, "gres/gpu", amount);
}

static void test_other_limits_of_gres(void)
{
    is_str(judge_gpus(4), "limit-passed", "no limit refuses 5 GPUs");
    most_gpus = 4;
    is_str(judge_gpus(4), "pass", "a limit of 4 GPUs refuses 5");
    is_str(requests, "5 x gpu:1, 5 x no GPU, 1 x gpu:4", "... and not their nodes without GPUs");
    is_str(judge_gpus(9), "limit-below", "... it refuses 9, too");
    is_int((long long)seen.count, 2, "... two jobs are judged");
    most_gpus = 64;
    most_nodes = 4;
    is_str(judge_gpus(4), "unknown", "a limit of 4 nodes refuses 5 with a GPU each");
    has_str(result.found, "5 nodes without the GRES: a job of bob is refused",
            "... and 5 without, which is the reason");
    is_str(judge_gpus(5), "unknown", "... it says nothing against a limit of 5 GPUs");
    most_nodes = 64;

    most_gpus = 4;
    most_jobs = 1;
    is_str(judge_gpus(4), "pass", "a limit of one submitted job is none of GPUs in a job");
    most_jobs = 0;
    is_str(judge_gpus(4), "unknown", "... one of none is no limit of GPUs");
    most_gpus = 64;
    most_jobs = 64;
    most_each = 2;
    is_str(judge_gpus(2), "limit-passed", "a limit of 2 GPUs of a node is none of a job");
    is_str(requests, "1 x gpu:3, 3 x gpu:1, 1 x gpu:2", "... it may have 3 of as many nodes");
    most_each = 64;
    most_jobs = 1;
    is_str(probe(INTENT_TOTAL, "gres/gpu", 4), "unknown",
           "a limit of submitted jobs refuses a second job");
    is_str(probe(INTENT_TOTAL, "cpu", 4), "unknown", "... of CPUs, too");
    most_jobs = 64;
}

/* Each of the 7 nodes has 64 CPUs. */
static void test_other_limits_of_tres(void)
{
    most_nodes = 1;
    is_str(probe(INTENT_PER_JOB, "cpu", 64), "unknown", "a limit of nodes refuses 65 CPUs");
    has_str(result.found, "2 nodes with a CPU each: a job of bob", "... and 2 on 2 nodes");
    is_str(probe(INTENT_PER_JOB, "node", 1), "pass", "... it is one of nodes in a job");
    most_nodes = 64;
    most_cpus = 64;
    is_str(probe(INTENT_PER_JOB, "cpu", 64), "pass", "a limit of CPUs refuses 65 CPUs");
    is_str(probe(INTENT_PER_JOB, "node", 1), "limit-passed", "... and not two nodes");
    most_cpus = 1;
    is_str(probe(INTENT_PER_JOB, "node", 1), "unknown", "a limit of one CPU refuses two nodes");
    is_str(probe(INTENT_PER_JOB, "cpu", 2), "limit-below", "... and what was stated of CPUs");
    most_cpus = 999;
    most_each = 32;
    is_str(probe(INTENT_PER_JOB, "cpu", 32), "limit-passed", "a limit of CPUs of a node");
    most_each = 64;
    most_jobs = 0;
    is_str(probe(INTENT_WALL, "", 60), "unknown", "a limit of no jobs says nothing of their time");
    most_jobs = 64;
}

/* Judges with jobs of others in the cluster, and a limit of the jobs that a group submits. */
static const char *judge_beside_others(enum intent_limit limit, const char *const *texts)
{
    statement = (struct intent_statement){.limit = limit, .tres = "gres/gpu"};
    read_jobs(texts);
    seen.other_jobs = 3;
    seen.is_group_limited = true;
    return verdict_text(&verify_limit);
}

static void test_limits_of_groups(void)
{
    is_str(judge_beside_others(INTENT_TOTAL, JOBS(RUNS, WAITS("AssocGrpGRES"))), "unknown",
           "others may use the rest of a group's limit");
    has_str(result.found, "3 jobs of other users may count", "... the text says so");
    is_str(judge_beside_others(INTENT_TOTAL, JOBS(RUNS, WAITS("MaxGRESPerAccount"))), "unknown",
           "... of an account's");
    is_str(judge_beside_others(INTENT_JOBS, JOBS(WAITS("MaxJobsPerAccount"), RUNS)), "unknown",
           "... which says nothing against the statement");
    is_str(judge_beside_others(INTENT_TOTAL, JOBS(RUNS, WAITS("QOSMaxGRESPerUser"))), "pass",
           "... and not of a user's");
    is_str(judge_beside_others(INTENT_PER_JOB, JOBS(WAITS("QOSGrpGRES"), RUNS)), "unknown",
           "more than stated waits for a group's limit");
    is_str(judge_beside_others(INTENT_PER_JOB, JOBS(REFUSED, RUNS)), "pass",
           "Slurm refuses a job for what it has itself");
    is_str(judge_beside_others(INTENT_PER_JOB, JOBS(REFUSED, REFUSED)), "limit-below",
           "... also the stated amount");
    is_str(judge_beside_others(INTENT_SUBMIT, JOBS(WAITS("BeginTime"), REFUSED)), "unknown",
           "jobs of others may count as submitted");
    seen.is_group_limited = false;
    is_str(verdict_text(&verify_limit), "pass", "... but not where no group is limited");
    read_jobs(JOBS(RUNS, WAITS("AssocGrpGRES")));
    seen.other_jobs = 3;
    statement.limit = INTENT_TOTAL;
    is_str(verdict_text(&verify_limit), "pass", "... where the limit is the user's own");
}

/* Returns whether alice shares a limit where a QOS and the account above have these; both may be
 * "".
 */
static bool is_shared(const char *qos_submit, const char *account_gpus)
{
    struct site one = {.has_accounting = true};
    char qos[100], associations[200];
    bool is_limited;

    snprintf(qos, sizeof qos, "Name|...\nbatch||||||||||||||||||||%s|\n", qos_submit);
    snprintf(associations, sizeof associations,
             "Account|User|...\nroot||||||||||||||||\nPhysics|||Root|||||||||%s||||\n"
             "physics|alice|||||||||||gres/gpu=2||||\n",
             account_gpus);
    site_parse(&one, CLUSTER_QOS, strdup(qos), NULL);
    site_parse(&one, CLUSTER_ASSOCIATIONS, strdup(associations), NULL);
    is_limited = site_is_group_limited(&one, "alice");
    site_clear(&one);
    return is_limited;
}

static void test_shared_limits(void)
{
    const struct site none = {.has_accounting = false};

    ok(is_shared("", "gres/gpu=4"), "users share the limit of an account above them");
    ok(!is_shared("", ""), "... and not one of their own");
    ok(is_shared("8", ""), "users share the number of jobs that a QOS accepts");
    ok(site_is_group_limited(&none, "alice"), "nothing is known without accounting");
}

static void test_reasons(void)
{
    static const struct {
        const char *tres, *reason, *verdict;
    } cases[] = {{"gres/gpu", WAITS("QOSMaxGRESPerJob"), "pass"},
                 {"gres/gpu", WAITS("AssocGrpGRES"), "pass"},
                 {"gres/gpu", WAITS("MaxGRESPerAccount"), "pass"},
                 {"gres/gpu", WAITS("AssocGrpGRESMinutes"), "unknown"},
                 {"gres/gpu", WAITS("QOSMaxGRESMinutesPerJob"), "unknown"},
                 {"gres/gpu", WAITS("QOSMaxGRESPerNode"), "unknown"},
                 {"gres/gpu", WAITS("QOSMinGRES"), "unknown"},
                 {"gres/gpu", WAITS("QOSMaxCpuPerUserLimit"), "unknown"},
                 {"gres/gpu", WAITS("MaxMemoryPerAccount"), "unknown"},
                 {"cpu", WAITS("AssocMaxCpuPerJobLimit"), "pass"},
                 {"cpu", WAITS("QOSMaxCpuPerUserLimit"), "pass"},
                 {"cpu", WAITS("QOSGrpCpuLimit"), "pass"},
                 {"cpu", WAITS("MaxCpuPerAccount"), "pass"},
                 {"cpu", WAITS("QOSGrpCPUMinutesLimit"), "unknown"},
                 {"cpu", WAITS("QOSMaxCpuMinutesPerJobLimit"), "unknown"},
                 {"cpu", WAITS("QOSMinCpuNotSatisfied"), "unknown"},
                 {"cpu", WAITS("MaxCpuRunMinsPerUser"), "unknown"},
                 {"cpu", WAITS("QOSMaxNodePerJobLimit"), "unknown"},
                 {"cpu", WAITS("QOSMaxGRESPerUser"), "unknown"},
                 {"node", WAITS("QOSGrpNodeLimit"), "pass"},
                 {"node", WAITS("QOSMaxNodePerJobLimit"), "pass"},
                 {"node", WAITS("PartitionNodeLimit"), "pass"},
                 {"node", WAITS("AssocGrpNodeMinutes"), "unknown"},
                 {"node", WAITS("QOSMaxCpuPerJobLimit"), "unknown"}};

    statement = (struct intent_statement){.limit = INTENT_PER_JOB};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        strcpy(statement.tres, cases[i].tres);
        is_str(judged(limit, cases[i].reason, RUNS), cases[i].verdict, "a limit of %s: %.*s",
               cases[i].tres, (int)strcspn(strstr(cases[i].reason, "Reason="), " "),
               strstr(cases[i].reason, "Reason="));
    }
    strcpy(statement.tres, "gres/gpu");
    is_str(judged(limit, WAITS("Resources"), RUNS), "unknown",
           "more than stated waits for nodes, and for no limit");
    is_str(judged(limit, REFUSED, WAITS("Resources")), "unknown", "... and the stated amount");
    is_str(judged(limit, RUNS, WAITS("Resources")), "limit-passed", "more than stated runs");
    is_str(judged(limit, WAITS("MaxGRESPerAccount"), WAITS("QOSMaxNodePerJobLimit")), "unknown",
           "the stated amount waits for nodes");
    has_str(result.found, "waits: QOSMaxNodePerJobLimit", "... which the text names");
    statement.limit = INTENT_TOTAL;
    is_str(judged(limit, RUNS, WAITS("QOSMaxJobsPerUserLimit")), "unknown",
           "a second job waits for a limit of jobs");
    is_str(judged(limit, RUNS, WAITS("QOSMaxGRESPerUser")), "pass", "... or of GPUs");
    statement = (struct intent_statement){.limit = INTENT_WALL};
    is_str(judged(limit, WAITS("AssocGrpCPUMinutesLimit"), RUNS), "unknown",
           "a budget of minutes is no limit of a job's time");
    statement.limit = INTENT_JOBS;
    is_str(judged(limit, RUNS, WAITS("QOSMaxCpuPerUserLimit")), "pass",
           "any limit is one of jobs that request as little as possible");
    is_str(judged(limit, WAITS("QOSMinGRES"), WAITS("QOSMinGRES")), "unknown",
           "... but not one of what a job must have at least");
    is_str(judged(limit, WAITS("PartitionTimeLimit"), WAITS("PartitionTimeLimit")), "unknown",
           "... or of its time");
}

static void test_priority(void)
{
    read_jobs(JOBS(RUNS, WAITS("Resources"), RUNS));
    is_str(verdict_text(&verify_priority), "pass", "the job with the higher priority starts first");
    read_jobs(JOBS(RUNS, RUNS, WAITS("Resources")));
    seen_factors_read("JobId=20 Priority=20000 Age=0 FairShare=19000 JobSize=0 Partition=0 "
                      "QOS=1000 TRES=",
                      &seen.jobs[1]);
    seen_factors_read("JobId=21 Priority=11000 Age=0 FairShare=1000 JobSize=0 Partition=0 "
                      "QOS=10000 TRES=",
                      &seen.jobs[2]);
    is_str(verdict_text(&verify_priority), "order-reversed", "the other job starts first");
    has_str(result.found, "what counts most for customer is FairShare, 19000 to 1000",
            "... the factor that decided is named");
    is_str(judged(priority, RUNS, WAITS("Resources"), WAITS("Resources")), "order-reversed",
           "equal priorities");
    read_jobs(JOBS(RUNS, WAITS("Resources"), WAITS("Resources")));
    seen.jobs[2].priority = 20000;
    is_str(verdict_text(&verify_priority), "unknown", "no job started");
    is_str(judged(priority, RUNS, WAITS("QOSMaxJobsPerUserLimit"), RUNS), "unknown",
           "a limit held one of them");
}

static void test_preemption(void)
{
    statement = (struct intent_statement){.within_s = 30, .mode = INTENT_REQUEUE};
    is_str(judged(preempt, REQUEUED, RUNS), "pass",
           "the job starts, and the other one is requeued");
    has_str(result.found, "started after 1 s", "... with the time to start");
    is_str(judged(preempt, CANCELLED, RUNS), "preempt-mode-differs",
           "the other job is canceled instead");
    statement.mode = INTENT_ANY_MODE;
    is_str(judged(preempt, CANCELLED, RUNS), "pass", "... which passes if any mode was stated");
    is_str(judged(preempt, RUNS, RUNS), "not-preempted", "both jobs run");
    is_str(judged(preempt, RUNS, WAITS("Resources")), "not-preempted", "the job waits");
    is_str(judged(dedicated, RUNS, WAITS("Resources")), "wait-too-long",
           "... too long for a dedicated customer");
    is_str(judged(preempt, RUNS, WAITS("QOSMaxJobsPerUserLimit")), "unknown",
           "the job waits for a limit");
    statement.within_s = 0.5;
    is_str(judged(preempt, REQUEUED, RUNS), "not-preempted", "the job starts too late");
    is_str(judged(dedicated, REQUEUED, RUNS), "wait-too-long", "... also for a dedicated customer");
    statement.within_s = 30;
    is_str(judged(dedicated, REQUEUED, RUNS), "pass", "a dedicated customer's job starts in time");
}

static void test_reservation(void)
{
    read_jobs(JOBS(WAITS("BeginTime"), REFUSED));
    seen.jobs[1].answer = PROBE_DENIED;
    is_str(verdict_text(&verify_reserved), "pass",
           "a reservation is open to one and not to the other");
    seen.jobs[0].answer = PROBE_DENIED;
    is_str(verdict_text(&verify_reserved), "reservation-closed", "... is open to neither");
    is_str(judged(reserved, WAITS("BeginTime"), WAITS("BeginTime")), "reservation-open",
           "... is open to both");
    is_str(judged(reserved, WAITS("BeginTime"), REFUSED), "unknown",
           "a limit refused the other job");
    seen.jobs[0].answer = PROBE_NO_ANSWER;
    is_str(verdict_text(&verify_reserved), "unknown", "the controller does not answer");
}

/* Judges a node without a certificate, the first of so many. Returns as verdict_text() does. */
static const char *judge_node(enum probe_answer answer, double after_s, size_t count)
{
    bool has_gate = seen.has_gate;

    memset(&seen, 0, sizeof seen);
    seen.has_gate = has_gate;
    seen.node_count = count;
    seen.node = (struct seen_node){.name = "n2", .answer = answer, .after_s = after_s};
    if (answer != PROBE_ACCEPTED)
        strcpy(seen.node.message, answer == PROBE_NO_ANSWER ? "timed out" : "Access denied");
    return verdict_text(&verify_certified);
}

static void test_certified(void)
{
    memset(&seen, 0, sizeof seen);
    is_str(judge_node(PROBE_NO_ANSWER, 0, 0), "unknown", "all nodes have a certificate");
    is_str(judge_node(PROBE_ACCEPTED, 365 * 86400.0, 2), "pass", "accepted for a year later only");
    is_str(judge_node(PROBE_REFUSED, 0, 80), "pass", "refused on all of many nodes");
    has_str(result.found, "no job would start on n2 and the others", "... on any of the nodes");
    has_str(result.found, "Access denied", "... with Slurm's message");
    is_str(judge_node(PROBE_REFUSED, 0, 1), "pass", "a single node");
    ok(!strstr(result.found, "others"), "... has no others in its text");
    is_str(judge_node(PROBE_ACCEPTED, 3600, 80), "unknown", "a start within an hour");
    has_str(result.found, "n2", "... names the node");
    is_str(judge_node(PROBE_ACCEPTED, 0, 80), "uncertified-node-open", "a start now");
    has_str(result.found, "n2", "... names the node");
    seen.has_gate = true;
    is_str(judge_node(PROBE_ACCEPTED, 0, 80), "unknown", "... with a gate the prolog may refuse");
    seen.has_gate = false;
    is_str(judge_node(PROBE_NO_ANSWER, 0, 80), "unknown", "a controller that does not answer");
    has_str(result.found, "n2: timed out", "... names the node and the error");
}

/* -------------------------------------------------------------------------- a replay */

#define SHOWN(state, rest)                                                                         \
    "JobId=20 JobName=x UserId=alice(7721) Priority=11000 Account=physics QOS=batch "              \
    "JobState=" state " Reason=None Requeue=1 " rest " Partition=cpu"

static void test_job_updates(void)
{
    struct day_job job = {.submitted_s = NAN, .started_s = NAN, .ended_s = NAN};

    day_job_update(
        &job, SHOWN("PENDING", "Restarts=0 SubmitTime=2026-11-25T17:16:01 StartTime=Unknown"), 1);
    is_str(job.partition, "cpu", "a job has the partition that Slurm chose");
    ok(isnan(job.started_s) && !job.is_over, "... is waiting");
    day_job_update(
        &job,
        SHOWN("RUNNING", "Restarts=0 SubmitTime=2026-11-25T17:16:01 StartTime=2026-11-25T17:16:11"),
        4);
    is_near(job.started_s - job.submitted_s, 10, 0, "... starts after ten seconds");
    day_job_update(
        &job,
        SHOWN("PENDING", "Restarts=1 SubmitTime=2026-11-25T17:16:15 StartTime=2026-11-25T17:17:00"),
        1);
    day_job_update(&job,
                   SHOWN("COMPLETED", "Restarts=1 SubmitTime=2026-11-25T17:16:15 "
                                      "StartTime=2026-11-25T17:17:00 EndTime=2026-11-25T17:17:30"),
                   1);
    is_near(job.started_s - job.submitted_s, 10, 0,
            "a requeued job waited for its first start only");
    ok(job.is_over && job.seen.restarts == 1, "... and ended after a restart");
    is_near(job.ended_s - job.submitted_s, 89, 0, "... with its end");
    is_near(job.used_s, 4, 0, "... and the time it was seen running");

    job = (struct day_job){.submitted_s = NAN, .started_s = NAN, .ended_s = NAN};
    day_job_update(&job,
                   SHOWN("CANCELLED", "Restarts=0 SubmitTime=2026-11-25T17:16:01 "
                                      "StartTime=2026-11-25T17:18:01 EndTime=2026-11-25T17:18:01"),
                   1);
    ok(isnan(job.started_s), "a job canceled while waiting has not started");
    job = (struct day_job){.submitted_s = NAN, .started_s = NAN, .ended_s = NAN};
    day_job_update(&job,
                   SHOWN("COMPLETED", "Restarts=0 SubmitTime=2026-11-25T17:16:01 "
                                      "StartTime=2026-11-25T17:16:02 EndTime=2026-11-25T17:16:05"),
                   1);
    is_near(job.used_s, 3, 0, "a job never seen running has the time from start to end");
}

/* Returns a job of the replay, with times in seconds of the replay. The cluster has four nodes. */
static struct day_job replayed_job(const char *qos, long nodes, double submitted_s,
                                   double started_s, double ended_s)
{
    static const struct slurm_line line = {.number = 7};
    struct day_job job = {.line = &line,
                          .nodes = nodes,
                          .seen.answer = PROBE_ACCEPTED,
                          .submitted_s = submitted_s,
                          .started_s = started_s,
                          .ended_s = ended_s,
                          .used_s = isnan(started_s) ? 0 : ended_s - started_s};

    strcpy(job.user, "bob");
    strcpy(job.account, "physics");
    strcpy(job.qos, qos);
    strcpy(job.partition, "cpu");
    strcpy(job.seen.state, "COMPLETED");
    return job;
}

static struct day_job jobs[3];
static struct site site;

static const char *outcome_text(const struct verify_kind *kind)
{
    const struct day day = {.jobs = jobs, .count = 3, .speed = 60, .end_s = 1000};

    statement =
        (struct intent_statement){.kind = kind, .who = &customer, .other = &burst, .within_s = 600};
    result = outcome_judge(&day, &site, &statement);
    return result.verdict == VERDICT_FAIL ? verify_codes[result.code].code
                                          : verdict_name(result.verdict);
}

static void test_outcome(void)
{
    const struct day day = {.jobs = jobs, .count = 3, .speed = 60, .end_s = 1000};
    struct outcome outcome;

    site_parse(&site, CLUSTER_CONFIG, strdup("ClusterName = c\n"), NULL);
    site_parse(&site, CLUSTER_PARTITIONS, strdup("PartitionName=cpu TotalNodes=4\n"), NULL);
    site_parse(&site, CLUSTER_NODES, strdup("NodeName=n1 Partitions=cpu\n"), NULL);
    site_parse(&site, CLUSTER_ASSOCIATIONS,
               strdup("Account|User|...\n"
                      "root||||1||||||||||||\nroot|root|||1||||||||||||\n"
                      "Physics|||root|2||||||||||||\nchemistry|||Root|1||||||||||||\n"),
               NULL);
    site_finish(&site, NULL);

    jobs[0] = replayed_job("batch", 4, 0, 0, 500);
    jobs[1] = replayed_job("urgent", 4, 100, 105, 200);
    jobs[2] = replayed_job("normal", 1, 100, 500, 600);
    is_str(outcome_text(&verify_preempt), "pass",
           "a start within the stated ten minutes of the day");
    jobs[1].started_s = 120;
    is_str(outcome_text(&verify_preempt), "unknown", "a start later by what Slurm itself may need");
    jobs[1].started_s = 300;
    is_str(outcome_text(&verify_preempt), "not-preempted", "twenty minutes late");
    has_str(result.found, "line 7 of the day (bob), waited 3:20:00", "... the worst job is named");
    is_str(outcome_text(&verify_dedicated), "wait-too-long",
           "... too late for a dedicated customer");
    jobs[1].was_limited = true;
    is_str(outcome_text(&verify_dedicated), "unknown", "... unless a limit held it");
    jobs[1].was_limited = false;
    strcpy(jobs[0].qos, "normal");
    is_str(outcome_text(&verify_dedicated), "pass",
           "... unless other jobs than stated had the nodes");
    jobs[1].started_s = NAN;
    strcpy(jobs[0].qos, "batch");
    is_str(outcome_text(&verify_dedicated), "wait-too-long", "the job never starts");

    jobs[2] = replayed_job("batch", 4, 90, 150, 600);
    jobs[1].started_s = 300;
    is_str(outcome_text(&verify_priority), "order-reversed", "one of the other jobs starts first");
    has_str(result.found, "waited 2:30:00 more", "... with the time it is ahead");
    jobs[2].nodes = 3;
    is_str(outcome_text(&verify_priority), "pass",
           "... unless the nodes would not have sufficed for the job");
    jobs[2].nodes = 4;
    jobs[2].limit_s = 3600;
    jobs[1].limit_s = 2 * 3600;
    is_str(outcome_text(&verify_priority), "pass", "... or the time would not have");
    jobs[2].started_s = 110;
    jobs[2].limit_s = jobs[1].limit_s;
    is_str(outcome_text(&verify_priority), "pass", "both jobs were submitted a moment ago");

    is_int(outcome_sum(&day, &site, "physics", "batch", &outcome), 0, "a row of the report");
    is_int((long)outcome.jobs, 2, "... has two jobs");
    is_near(outcome.waited_s[0], 0, 0, "... the median of their waiting time in the day");
    is_near(outcome.waited_s[2], 20 * 60, 0, "... and the maximum");
    is_near(outcome.share, 1, 1e-9, "... the share that the account used");
    is_near(outcome.entitled_share, 0.5, 1e-9,
            "... and the share it is entitled to among its siblings, in whatever case");
    site_clear(&site);
}

int main(void)
{
    struct seen_job job = {0};

    is_int(seen_job_read("Invalid job id specified", &job), -1, "no job is parsed");
    is_int(seen_job_read(RUNS, &job), 0, "a job is parsed");
    is_str(job.state, "RUNNING", "... its state");
    is_int(job.priority, 110000, "... its priority");
    is_near(job.started_s - job.submitted_s, 1, 0, "... the time it waited");
    test_limits();
    test_amounts_of_gres();
    test_other_limits_of_gres();
    test_other_limits_of_tres();
    test_reasons();
    test_limits_of_groups();
    test_shared_limits();
    test_priority();
    test_preemption();
    test_reservation();
    test_certified();
    test_job_updates();
    test_outcome();
    return tap_done();
}
