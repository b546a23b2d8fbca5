/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/certify.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "validate/command/command.h"
#include "validate/command/report.h"

/* Whole certifications, from the choice of nodes to the report, on a cluster that the test makes
 * up: it is the table of operations, and time and the user are made up too. Each operation is
 * refused in turn, alone and with all that follow. */

enum { NODES = 6, LAST_TURN = 400 };
enum { HEALTHY, FAULTY, OURS, OTHERS }; /* kinds of nodes */

static const struct {
    const char *name;
    int kind;
} nodes[NODES] = {{"n1", HEALTHY}, {"n2", HEALTHY}, {"n3", FAULTY},
                  {"n4", OURS},    {"n5", OTHERS},  {"n6", HEALTHY}};
static const char ours[] = "muster: rail_slow eth1 9 of 98 Mb/s 2026-11-01",
                  others[] = "fan broken";

/* the cluster */
static struct {
    struct {
        bool is_drained, has_certificate, is_issued, is_reserved, was_in_service;
        char reason[256], comment[256], extra[256];
    } nodes[NODES];
    uint32_t job; /* 0: none */
    char job_name[96], reservation[96];
} world;

static int turns, refused_turn; /* turns: operations so far; 0: none is refused */
static bool refuses_all;        /* from then on */
static bool refuses_certificates;
static char refused_name[64];
static double now_s;
static pid_t own;
static char directory[] = "/tmp/muster-certification-XXXXXX";

static int turn(const char *name, struct error *err)
{
    turns++;
    if (getpid() != own) /* the keeper has no part in this */
        return error_set(err, "of the keeper");
    if (refused_turn == 0 || turns < refused_turn || (turns > refused_turn && !refuses_all))
        return 0;
    if (turns == refused_turn)
        snprintf(refused_name, sizeof refused_name, "%s", name);
    return error_set(err, "%s refused", name);
}

/* ---------------------------------------------------------------- the machine */

uid_t __wrap_geteuid(void);
uid_t __wrap_geteuid(void)
{
    return 0;
}

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock == CLOCK_REALTIME)
        return __real_clock_gettime(clock, time);
    now_s += 1e-5;
    *time = (struct timespec){(time_t)now_s, (long)((now_s - (double)(time_t)now_s) * 1e9)};
    return 0;
}

int __wrap_usleep(useconds_t microseconds);
int __wrap_usleep(useconds_t microseconds)
{
    now_s += microseconds / 1e6;
    return 0;
}

unsigned __wrap_sleep(unsigned seconds);
unsigned __wrap_sleep(unsigned seconds)
{
    now_s += seconds;
    return 0;
}

int __wrap_user_find(const char *name, struct user *user, struct error *err);
int __wrap_user_find(const char *name, struct user *user, struct error *err)
{
    (void)err;
    *user = (struct user){.uid = 977, .gid = 977};
    snprintf(user->name, sizeof user->name, "%s", name);
    return 0;
}

int command_misuse(const char *command, const char *format, ...)
{
    (void)command, (void)format;
    return COMMAND_USAGE;
}

int report_past(struct survey *survey, const char *path, struct error *err)
{
    (void)survey, (void)path, (void)err;
    return 0;
}

/* ---------------------------------------------------------------- the controller */

static int index_of(const char *name)
{
    for (int i = 0; i < NODES; i++)
        if (strcmp(nodes[i].name, name) == 0)
            return i;
    tap_diag("no node %s", name);
    abort();
}

static int open_slurm(struct error *err)
{
    return turn("open", err);
}

static int name_of(char *name, size_t size, struct error *err)
{
    snprintf(name, size, "made-up");
    return turn("name", err);
}

static int load_nodes(struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){0};
    if (turn("load", err) != 0)
        return -1;
    cluster->name = strdup("made-up");
    cluster->nodes = calloc(NODES, sizeof *cluster->nodes);
    cluster->node_count = NODES;
    for (int i = 0; i < NODES; i++) {
        struct cluster_node *node = &cluster->nodes[i];

        *node = (struct cluster_node){.name = strdup(nodes[i].name),
                                      .address = strdup(nodes[i].name),
                                      .gres = strdup(""),
                                      .features = strdup(""),
                                      .reason = strdup(world.nodes[i].reason),
                                      .comment = strdup(world.nodes[i].comment),
                                      .extra = strdup(world.nodes[i].extra),
                                      .cpus = 1,
                                      .leaf = -1,
                                      .is_idle = world.job == 0,
                                      .is_allocated = world.job != 0,
                                      .is_drained = world.nodes[i].is_drained,
                                      .is_responding = true,
                                      .is_reserved = world.nodes[i].is_reserved};
        snprintf(node->state, sizeof node->state, node->is_drained ? "drained" : "idle");
    }
    return cluster_index(cluster, err);
}

static int load(struct cluster *cluster, struct error *err)
{
    if (load_nodes(cluster, err) != 0)
        return -1;
    cluster->partitions = calloc(1, sizeof *cluster->partitions);
    cluster->partition_count = 1;
    cluster->partitions[0] = (struct cluster_partition){
        .name = strdup("p"), .is_default = true, .is_up = true, .time_limit_minutes = -1};
    for (int i = 0; i < NODES; i++)
        hostlist_append(&cluster->partitions[0].nodes, nodes[i].name);
    return 0;
}

static int reservation_find(const char *name, struct hostlist *found, struct error *err)
{
    *found = (struct hostlist){0};
    if (turn("reservation", err) != 0)
        return -1;
    for (int i = 0; i < NODES; i++)
        if (world.nodes[i].is_reserved)
            hostlist_append(found, nodes[i].name);
    return strcmp(name, world.reservation) == 0;
}

static int jobs_find(const char *prefix, struct cluster_job **jobs, struct error *err)
{
    *jobs = NULL;
    if (turn("jobs", err) != 0)
        return -1;
    *jobs = calloc(1, sizeof **jobs);
    (*jobs)->id = world.job;
    snprintf((*jobs)->name, sizeof(*jobs)->name, "%.63s", world.job_name);
    return world.job != 0 && strncmp(world.job_name, prefix, strlen(prefix)) == 0;
}

static enum cluster_job_state job_state(uint32_t id, const char *name)
{
    (void)name;
    return turn("job_state", NULL) != 0 ? CLUSTER_JOB_UNKNOWN
           : id == world.job            ? CLUSTER_JOB_HELD
                                        : CLUSTER_JOB_OVER;
}

static int job_cancel(uint32_t id, struct error *err)
{
    if (turn("job_cancel", err) != 0)
        return -1;
    if (id == world.job)
        world.job = 0;
    return 0;
}

/* Returns the text of the node, all of them in turn. */
static int each(const char *list, void (*change)(int node, const char *text), const char *text,
                const char *operation, struct error *err)
{
    struct hostlist names = {0};

    if (turn(operation, err) != 0)
        return -1;
    hostlist_expand(list, &names, err);
    for (size_t i = 0; i < names.count; i++)
        change(index_of(names.names[i]), text);
    hostlist_clear(&names);
    return 0;
}

static void drain_one(int i, const char *reason)
{
    world.nodes[i].is_drained = true;
    snprintf(world.nodes[i].reason, sizeof world.nodes[i].reason, "%s", reason);
}

static int drain(const char *list, const char *reason, struct error *err)
{
    return each(list, drain_one, reason, "drain", err);
}

/* Outside of a reservation a job of a user would begin there. */
static void resume_one(int i, const char *text)
{
    (void)text;
    world.nodes[i].is_drained = false;
    world.nodes[i].was_in_service |= !world.nodes[i].is_reserved;
}

static int resume(const char *list, const char *text, struct error *err)
{
    return each(list, resume_one, text, "resume", err);
}

static void comment_one(int i, const char *text)
{
    snprintf(world.nodes[i].comment, sizeof world.nodes[i].comment, "%s", text);
}

static int set_comment(const char *list, const char *text, struct error *err)
{
    return each(list, comment_one, text, "set_comment", err);
}

static void extra_one(int i, const char *text)
{
    snprintf(world.nodes[i].extra, sizeof world.nodes[i].extra, "%s", text);
}

static int set_extra(const char *list, const char *text, struct error *err)
{
    return each(list, extra_one, text, "set_extra", err);
}

static void reserve_one(int i, const char *text)
{
    (void)text;
    world.nodes[i].is_reserved = true;
}

static int reserve(const char *name, const char *list, const char *user, int minutes,
                   struct error *err)
{
    (void)user, (void)minutes;
    if (each(list, reserve_one, name, "reserve", err) != 0)
        return -1;
    snprintf(world.reservation, sizeof world.reservation, "%s", name);
    return 0;
}

static int unreserve(const char *name, struct error *err)
{
    if (turn("unreserve", err) != 0)
        return -1;
    for (int i = 0; i < NODES && strcmp(name, world.reservation) == 0; i++) {
        world.nodes[i].is_reserved = false;
        world.nodes[i].was_in_service |= nodes[i].kind == OURS && !world.nodes[i].is_drained;
    }
    world.reservation[0] = '\0';
    return 0;
}

static int wait_for(const struct hostlist *names, bool is_there, struct error *err)
{
    (void)names, (void)is_there;
    return turn("wait", err);
}

static int runs_find(uid_t uid, struct cluster_run **runs, struct error *err)
{
    (void)uid;
    *runs = NULL;
    return turn("runs", err);
}

static int reach(struct cluster_node *const *list, size_t count, double deadline_s,
                 const volatile sig_atomic_t *stop, struct reach *answers, struct error *err)
{
    (void)list, (void)deadline_s, (void)stop;
    for (size_t i = 0; i < count; i++)
        answers[i] = (struct reach){.state = REACH_ANSWERS};
    return turn("reach_nodes", err);
}

static int allocation(const struct allocation_request *request, uint32_t *job_id, struct error *err)
{
    static uint32_t last;

    if (turn("allocation_get", err) != 0)
        return -1;
    snprintf(world.job_name, sizeof world.job_name, "%s", request->job_name);
    *job_id = world.job = ++last;
    return 0;
}

static int allocation_query(const struct allocation_request *request, struct error *err)
{
    (void)request;
    return turn("allocation_check", err);
}

/* ---------------------------------------------------------------- what runs on the nodes */

static void __attribute__((format(printf, 2, 3)))
line(const struct process *process, const char *format, ...)
{
    char text[1000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    process->on_line(text, false, process->context);
}

#define RECORD "{\"suite\":\"%s\",\"test\":\"%s\",\"time\":1,\"verdict\":\"pass\""

static void battery(const char *program, const struct hostlist *names,
                    const struct process *process)
{
    size_t count = names->count;

    if (strcmp(program, "launch") == 0)
        line(process, RECORD ",\"metric\":\"messages\",\"unit\":\"count\",\"value\":4}", "launch",
             "mpi.messages");
    if (strcmp(program, "collectives") == 0)
        line(process, RECORD ",\"metric\":\"mismatches\",\"unit\":\"count\",\"value\":0}",
             "collectives", "collectives.correct");
    if (strcmp(program, "links") != 0)
        return;
    for (size_t i = 0; i < 2 * count; i++) /* each with the next one, both ways */
        line(process,
             RECORD ",\"metric\":\"bandwidth\",\"unit\":\"Mb/s\",\"value\":198,\"node\":\"%s\","
                    "\"part\":\"eth1\",\"peer\":\"%s\"}",
             "links", "links", names->names[i % 2 ? i / 2 : (i / 2 + 1) % count],
             names->names[i % 2 ? (i / 2 + 1) % count : i / 2]);
    for (int i = 0; i < 2; i++)
        line(process,
             RECORD ",\"metric\":\"rounds\",\"unit\":\"count\",\"value\":2,\"part\":\"%s\"}",
             "links", "links", i == 0 ? "pairs" : "together");
}

static void muster(char *const *words, const struct hostlist *names, const struct process *process)
{
    for (size_t task = 0; task < names->count; task++) {
        int i = index_of(names->names[task]);

        if (strcmp(words[0], "check") == 0 && nodes[i].kind == FAULTY)
            line(process,
                 "%zu: {\"suite\":\"check\",\"test\":\"net.interfaces\",\"time\":1,\"verdict\":"
                 "\"fail\",\"code\":\"link_down\",\"part\":\"eth1\",\"message\":\"no link\","
                 "\"node\":\"%s\"}",
                 task, nodes[i].name);
        else if (strcmp(words[0], "check") == 0)
            line(process, "%zu: " RECORD ",\"node\":\"%s\"}", task, "check", "net.interfaces",
                 nodes[i].name);
        if (strcmp(words[0], "certificate") == 0 && !refuses_certificates) {
            world.nodes[i].has_certificate = world.nodes[i].is_issued = true;
            line(process, "%zu: " RECORD ",\"node\":\"%s\"}", task, "certificate", "certificate",
                 nodes[i].name);
        }
        if (strcmp(words[0], "revoke") == 0) {
            world.nodes[i].has_certificate = false;
            line(process,
                 "%zu: {\"suite\":\"certificate\",\"test\":\"certificate\",\"time\":1,\"metric\":"
                 "\"revoked\",\"unit\":\"count\",\"value\":1,\"node\":\"%s\"}",
                 task, nodes[i].name);
        }
    }
}

static int step(const struct step *wanted, const struct process *process,
                struct process_result *result, struct error *err)
{
    const char *name = strrchr(wanted->program[0], '/');

    name = name ? name + 1 : wanted->program[0];
    if (turn("step_run", err) != 0)
        return -1;
    *result = (struct process_result){.end = PROCESS_EXITED};
    if (wanted->job_id != world.job)
        return error_set(err, "no such job");
    if (strncmp(name, "muster-", 7) == 0)
        battery(name + 7, wanted->nodes, process);
    else
        muster(wanted->program + 1, wanted->nodes, process);
    return 0;
}

static const struct cluster_operations operations = {
    .open = open_slurm,
    .name = name_of,
    .load = load,
    .load_nodes = load_nodes,
    .reservation = reservation_find,
    .jobs = jobs_find,
    .job_state = job_state,
    .drain = drain,
    .resume = resume,
    .set_comment = set_comment,
    .set_extra = set_extra,
    .down = drain,
    .reserve = reserve,
    .unreserve = unreserve,
    .wait = wait_for,
    .job_cancel = job_cancel,
    .runs = runs_find,
    .reach_nodes = reach,
    .allocation_get = allocation,
    .allocation_check = allocation_query,
    .step_run = step,
};

/* ---------------------------------------------------------------- the run */

static void silence(int *kept)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    fflush(NULL);
    for (int fd = 1; fd <= 2; fd++) {
        kept[fd] = dup(fd);
        dup2(null, fd);
    }
    close(null);
}

static void speak(const int *kept)
{
    fflush(NULL);
    for (int fd = 1; fd <= 2; fd++) {
        dup2(kept[fd], fd);
        close(kept[fd]);
    }
}

/* Returns the exit status; certify is to be cleared. */
static int run(struct certify *certify, bool is_dry_run)
{
    static char program[] = "certification";
    char *argv[] = {program, NULL}, path[256];
    int kept[3], status;

    world = (typeof(world)){0};
    for (int i = 0; i < NODES; i++) {
        world.nodes[i].is_drained = nodes[i].kind == OURS || nodes[i].kind == OTHERS;
        world.nodes[i].has_certificate = nodes[i].kind == FAULTY;
        snprintf(world.nodes[i].reason, sizeof world.nodes[i].reason, "%s",
                 nodes[i].kind == OURS     ? ours
                 : nodes[i].kind == OTHERS ? others
                                           : "");
    }
    turns = 0;
    refused_name[0] = '\0';
    *certify = (struct certify){.operations = &operations,
                                .options = {.is_dry_run = is_dry_run},
                                .undo = {.journal = -1, .keeper_pipe = -1}};
    conf_defaults(&certify->conf);
    certify->conf.drain_cap_percent = 50;
    snprintf(path, sizeof path, "%s/history.db", directory);
    unlink(path);
    snprintf(certify->conf.history_path, sizeof certify->conf.history_path, "%s", path);
    silence(kept);
    status = certify_run(certify, 1, argv);
    speak(kept);
    return status;
}

/* The journals of runs that are left: what could not be undone, for the next run. Takes them away.
 */
static int journals_take(void)
{
    char path[512];
    struct dirent *entry;
    int count = 0;
    DIR *runs;

    snprintf(path, sizeof path, "%s/runs", directory);
    runs = opendir(path);
    while (runs && (entry = readdir(runs))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/runs/%s", directory, entry->d_name);
        unlink(path);
        count++;
    }
    if (runs)
        closedir(runs);
    return count;
}

/* What must never happen, or NULL. */
static const char *harm(const struct certify *certify, int status)
{
    bool is_left = journals_take() > 0;

    for (int i = 0; i < NODES; i++) {
        const struct subject *subject = certify_subject(certify, nodes[i].name);
        bool may_be_drained = nodes[i].kind != HEALTHY;

        if (world.nodes[i].is_drained && !may_be_drained)
            return "a healthy node is drained";
        if (world.nodes[i].is_issued && (nodes[i].kind == FAULTY || nodes[i].kind == OTHERS))
            return "a node is certified that must not be";
        if (subject && *subject->certified_until && !world.nodes[i].is_issued)
            return "a node is said to be certified that has no certificate";
        if (nodes[i].kind == OURS && !world.nodes[i].is_drained && !world.nodes[i].is_issued &&
            !is_left)
            return "a drain is lifted and the node is not certified";
        if (nodes[i].kind == OURS && world.nodes[i].was_in_service && !world.nodes[i].is_issued)
            return "a node is in service before it is certified";
        if (nodes[i].kind == OURS && strstr(world.nodes[i].comment, "[muster") && !is_left)
            return "a mark is left";
        if (nodes[i].kind == OTHERS &&
            (!world.nodes[i].is_drained || strcmp(world.nodes[i].reason, others) != 0))
            return "an administrator's drain is changed";
    }
    if ((world.job != 0 || *world.reservation) && !is_left)
        return "a job or a reservation is left, and no journal tells of it";
    return status == COMMAND_PASS ? "the exit status says that all is well" : NULL;
}

static const struct outcome *outcome_of(const struct certify *certify, const char *name)
{
    return &certify_subject(certify, name)->outcome;
}

static void one_run(void)
{
    static struct certify certify;
    int status = run(&certify, false);
    const char *what = harm(&certify, status);

    is_str(what ? what : "", "", "a run on a cluster with one faulty node does no harm");
    is_int(status, COMMAND_FAIL, "... and its exit status says that something failed");
    for (int i = 0; i < NODES; i++)
        is_int(world.nodes[i].is_issued, nodes[i].kind == HEALTHY || nodes[i].kind == OURS,
               "%s %s certified", nodes[i].name,
               nodes[i].kind == HEALTHY || nodes[i].kind == OURS ? "is" : "is not");
    has_str(world.nodes[2].reason, "muster: link_down eth1 no link", "the faulty one is drained");
    ok(!world.nodes[2].has_certificate, "... and its certificate is gone");
    ok(!world.nodes[3].is_drained, "what is ours and passed is released");
    ok(world.job == 0 && !*world.reservation, "no job and no reservation is left");
    certify_clear(&certify);
}

static void dry_run(void)
{
    static struct certify certify;

    run(&certify, true);
    ok(!world.nodes[2].is_drained && world.nodes[3].is_drained, "a dry run changes no node");
    is_int(outcome_of(&certify, "n1")->stages[STAGE_CERTIFICATE], VERDICT_SKIP,
           "... and writes no certificate");
    certify_clear(&certify);
}

/* MUNGE fails on each node once the tests are over. */
static void no_certificates(void)
{
    static struct certify certify;
    int status;

    refuses_certificates = true;
    status = run(&certify, false);
    refuses_certificates = false;
    is_int(outcome_of(&certify, "n1")->stages[STAGE_COLLECTIVES], VERDICT_PASS,
           "a certificate that cannot be written says nothing of the collectives");
    is_int(outcome_of(&certify, "n1")->stages[STAGE_CERTIFICATE], VERDICT_UNKNOWN,
           "... it stands in its own column");
    ok(world.nodes[3].is_drained && strcmp(world.nodes[3].reason, ours) == 0,
       "... and a node of ours stays drained");
    ok(!harm(&certify, status), "... which does no harm");
    certify_clear(&certify);
}

static void refusals(bool all)
{
    static struct certify certify;
    const char *what = NULL;
    int count = 0;

    refuses_all = all;
    for (refused_turn = 1; refused_turn < LAST_TURN && !what; refused_turn++) {
        int status = run(&certify, false);

        what = harm(&certify, status);
        if (what)
            tap_diag("operation %d, %s: %s", refused_turn, refused_name, what);
        certify_clear(&certify);
        if (turns < refused_turn)
            break;
        count++;
    }
    refused_turn = 0;
    ok(!what && count > 30 && count < LAST_TURN - 1,
       "each of %d operations is refused%s, and no harm is done", count,
       all ? " with all that follow" : "");
}

int main(void)
{
    char command[64];

    own = getpid();
    if (!mkdtemp(directory))
        tap_skip_all("no directory: %m");
    one_run();
    dry_run();
    no_certificates();
    refusals(false);
    refusals(true);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 ? tap_done() : 1;
}
