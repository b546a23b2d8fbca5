/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the watch without MPI. Child processes of the test are the ranks, two on each node. */
#include "config.h"

#include "lib/base/thread_id.h"
#include "tests/unit/tap.h"
#include "validate/harness/output.h"
#include "validate/harness/watch/watch.h"
#include "validate/harness/watch/watchdog.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A failure that nobody notices lasts until the alarm. Noticing takes a few seconds on an idle
 * machine. */
enum { RANKS = 4, ALARM_S = 20, SOON_S = 15 };

static const char *const two_nodes[RANKS] = {"n1", "n1", "n2", "n2"};
static const char *const four_nodes[RANKS] = {"n1", "n2", "n3", "n4"};
static const char *const *nodes = two_nodes;
static pid_t pids[RANKS];
static char stdout_text[65536]; /* standard output of rank 0 */
static char stderr_text[4096];  /* standard error of the other ranks */
static double took_s;

/* Starves the main thread: it shares one processor with two busy processes, so it is always
 * ready and rarely runs. A rank of a busy node sees the same. */
static void spin_without_processor(void)
{
    struct sched_param parameter = {0};
    cpu_set_t one;
    pid_t parent = getpid();

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            while (getppid() == parent)
                ;
            _exit(0);
        }
    sched_setscheduler(0, SCHED_IDLE, &parameter);
    for (;;)
        ;
}

/* What each rank does after the watch has started. */
static void run_rank(const char *scenario, int rank)
{
    watch_phase("measure");
    if (strcmp(scenario, "rank 2 dies") == 0 && rank == 2) {
        usleep(300000);
        raise(SIGKILL);
    }
    if (strcmp(scenario, "rank 3 freezes") == 0 && rank == 3)
        raise(SIGSTOP);
    if (strcmp(scenario, "most freeze") == 0 && rank >= 2)
        raise(SIGSTOP);
    if (strcmp(scenario, "two are not scheduled") == 0 && rank >= 2) {
        watch_waits_for(5 - rank);
        spin_without_processor();
    }
    if (strcmp(scenario, "two pairs wait") == 0) {
        watch_waits_for(rank ^ 1);
        for (;;)
            pause();
    }
    if (strcmp(scenario, "rank 3 stops a while") == 0) {
        for (int i = 0; i < 4; i++) {
            usleep(500000);
            watch_step();
        }
        return;
    }
    if (strcmp(scenario, "rank 1 hangs") == 0 && rank == 1)
        for (;;)
            pause();
    if (strcmp(scenario, "rank 0 dies") == 0 && rank == 0) {
        usleep(300000);
        raise(SIGKILL);
    }
    if (strcmp(scenario, "rank 3 cannot go on") == 0 && rank == 3)
        watch_fault("no such %s", "thing");
    if (strcmp(scenario, "rank 2 is late") == 0) {
        if (rank == 2)
            usleep(500000);
        watch_stop();
        if (rank == 1) /* as a launcher does when a rank fails */
            kill(pids[0], SIGKILL);
        _exit(1);
    }
    if (strcmp(scenario, "all is well") != 0) {
        watch_waits_for(-1);
        for (;;)
            pause();
    }
    watch_phase("report");
}

/* A job that continues after losses without MPI. It waits until two ranks are lost. */
static void continue_after_losses(const char *scenario, int rank)
{
    usleep(300000); /* rank 0 tolerates by then */
    if (strcmp(scenario, "two are lost") == 0 && rank == 2)
        raise(SIGKILL);
    if (strcmp(scenario, "two are lost") == 0 && rank == 3)
        raise(SIGSTOP);
    if (strcmp(scenario, "one hangs and is given up") == 0 && rank == 3)
        for (;;)
            pause();
    watch_waits_for(-1);
    for (int i = 0; i < 1000 && !watch_is_lost(3); i++)
        usleep(10000);
    for (int i = 0; i < 1000 && strcmp(scenario, "two are lost") == 0 && !watch_is_lost(2); i++)
        usleep(10000);
    if (rank == 1) /* rank 1 knows it, too */
        printf("rank 1 saw %d %d\n", watch_is_lost(2), watch_is_lost(3));
    fflush(stdout);
    if (rank == 0)
        watch_send_finished();
    else
        watch_wait_finished();
    watch_stop();
    if (rank == 0)
        printf("needs abort: %d\n", watch_needs_abort());
    fflush(stdout);
    _exit(rank == 0 ? output_status() : 0);
}

/* Writes to a closed pipe, as MPI does to a dead rank. The process must not be killed. Returns
 * whether the write failed with EPIPE. */
static bool survives_closed_pipe(void)
{
    int ends[2];
    bool has_failed;

    if (pipe(ends) != 0)
        return false;
    close(ends[0]);
    has_failed = write(ends[1], "", 1) == -1 && errno == EPIPE;
    close(ends[1]);
    return has_failed;
}

static void run_process(const char *scenario, int rank, int listener,
                        const struct heartbeat_endpoint *endpoint)
{
    struct watch_config config = {"test", rank, RANKS, nodes, 4, NULL};
    struct error err = {""};
    int failed;

    output_start("test", "launch", true);
    if (rank == 0) {
        failed = watch_start_monitor(&config, listener, endpoint, &err);
        usleep(200000); /* MPI has a barrier here */
        watch_all_joined();
    } else {
        int fd = heartbeat_connect(endpoint, rank, 1000, 4000, &err);

        failed = fd < 0 || watch_start_member(&config, fd, &err) != 0;
        usleep(200000);
    }
    if (failed || !survives_closed_pipe())
        _exit(9);
    if (strcmp(scenario, "two are lost") == 0 ||
        strcmp(scenario, "one hangs and is given up") == 0) {
        if (rank == 0)
            watch_tolerate_losses();
        continue_after_losses(scenario, rank);
    }
    run_rank(scenario, rank);
    watch_stop();
    _exit(rank == 0 ? output_status() : 0);
}

static void read_all(FILE *stream, char *text, size_t size)
{
    rewind(stream);
    text[fread(text, 1, size - 1, stream)] = '\0';
    fclose(stream);
}

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Runs a scenario to its end. Returns the exit status of rank 0, -1 on a signal. signalled: the
 * signal sent to rank 1 after 0.7 s, or 0. */
static int run_scenario(const char *scenario, int signalled)
{
    struct heartbeat_endpoint endpoint;
    struct error err;
    FILE *out = tmpfile(), *errors = tmpfile();
    int listener = heartbeat_listen("", false, &endpoint, &err), statuses[RANKS];
    double begin = now_s();

    fflush(NULL);
    for (int rank = 0; rank < RANKS; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0) {
            alarm(ALARM_S);
            dup2(fileno(out), STDOUT_FILENO);
            dup2(fileno(errors), STDERR_FILENO);
            run_process(scenario, rank, listener, &endpoint);
        }
    }
    close(listener);
    if (signalled) {
        usleep(700000);
        kill(pids[1], signalled);
    }
    if (strcmp(scenario, "rank 3 stops a while") == 0) {
        usleep(500000);
        kill(pids[3], SIGSTOP);
        usleep(2000000);
        kill(pids[3], SIGCONT);
    }
    for (int i = 0; i < RANKS; i++) {
        int rank = (i + 1) % RANKS; /* a frozen rank is killed after rank 0 has ended */

        if (rank == 2 && strcmp(scenario, "two are not scheduled") == 0)
            for (int k = 2; k <= 3; k++) /* rank 1 has ended, so these must run to end, too */
                sched_setscheduler(pids[k], SCHED_OTHER, &(struct sched_param){0});
        if (rank == 2 && strcmp(scenario, "most freeze") == 0)
            continue;
        if (rank == 3 &&
            (strcmp(scenario, "rank 3 freezes") == 0 || strcmp(scenario, "two are lost") == 0 ||
             strcmp(scenario, "most freeze") == 0)) {
            waitpid(pids[0], &statuses[0], 0);
            kill(pids[2], SIGKILL);
            kill(pids[3], SIGKILL);
            waitpid(pids[2], &statuses[2], 0);
            waitpid(pids[3], &statuses[3], 0);
            break;
        }
        waitpid(pids[rank], &statuses[rank], 0);
    }
    took_s = now_s() - begin;
    read_all(out, stdout_text, sizeof stdout_text);
    read_all(errors, stderr_text, sizeof stderr_text);
    return WIFEXITED(statuses[0]) ? WEXITSTATUS(statuses[0]) : -1;
}

static int connect_to(const struct heartbeat_endpoint *endpoint)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = endpoint->addresses[0].sin6_port};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        perror("connect");
    return fd;
}

/* Returns how many ranks are admitted if all have called before the monitor starts. is_second:
 * each rank also made an earlier connection and closed it. */
static int count_admitted(int size, bool is_second)
{
    const char **names = calloc((size_t)size, sizeof *names);
    int *fds = calloc((size_t)size, sizeof *fds), admitted = 0;
    struct watch_config config = {"test", 0, size, names, 60, NULL};
    struct heartbeat_endpoint endpoint;
    struct error err;
    int listener = heartbeat_listen("", false, &endpoint, &err);
    unsigned char key[SHA256_BYTES];
    pid_t monitor;
    double end;

    for (int rank = 0; rank < size; rank++)
        names[rank] = "n1";
    for (int attempt = is_second ? 0 : 1; attempt < 2; attempt++)
        for (int rank = 1; rank < size; rank++) {
            fds[rank] = connect_to(&endpoint);
            if (attempt == 0)
                close(fds[rank]);
        }
    fflush(NULL);
    monitor = fork();
    if (monitor == 0) {
        alarm(ALARM_S);
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        output_start("test", "launch", true);
        watch_start_monitor(&config, listener, &endpoint, &err);
        pause();
    }
    close(listener);
    heartbeat_key(&endpoint, key);
    end = now_s() + ALARM_S; /* the monitor is gone by then */
    for (int rank = 1; rank < size; rank++) {
        while (admission_call(fds[rank], key, rank, 4000) != 0 && now_s() < end) {
            close(fds[rank]); /* the monitor was late: call again, as a rank does */
            fds[rank] = connect_to(&endpoint);
        }
        admitted += now_s() < end;
    }
    for (int rank = 1; rank < size; rank++)
        close(fds[rank]);
    kill(monitor, SIGKILL);
    waitpid(monitor, NULL, 0);
    free(names);
    free(fds);
    return admitted;
}

/* Instead of libc's: a thread must not read variables while MPI_Init, in the main thread, sets
 * some. */
char *getenv(const char *name)
{
    size_t length = strlen(name);

    if (thread_id() != getpid())
        _exit(9);
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

/* Starts a rank whose MPI_Init may not return. Returns its exit status, -1 on a signal. */
static int start_mpi(const char *rank, double limit_s, bool returns)
{
    FILE *out = tmpfile();
    double begin = now_s();
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        alarm(ALARM_S);
        dup2(fileno(out), STDOUT_FILENO);
        setenv("PMIX_RANK", rank, 1);
        setenv("SLURMD_NODENAME", "n1", 1);
        output_start("test", "launch", true);
        watchdog_start(limit_s, NULL);
        usleep(300000);
        if (!returns)
            pause();
        watchdog_stop();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    took_s = now_s() - begin;
    read_all(out, stdout_text, sizeof stdout_text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_watchdog(void)
{
    ok(watchdog_limit_s(260, 4) < 61, "the limit of MPI's start is less than a stage's time limit");
    ok(watchdog_limit_s(260, 4000) > 130, "... more with many ranks");
    ok(watchdog_limit_s(20, 4) <= 20, "... and never more than the stage");
    is_int(start_mpi("0", 1, true), 0, "MPI starts: nothing happens");
    is_str(stdout_text, "", "... without output");
    is_int(start_mpi("0", 1, false), 3, "MPI_Init does not return: rank 0 leaves with status 3");
    has_str(stdout_text, "\"metric\":\"complete\",\"node\":\"n1\",\"verdict\":\"unknown\"",
            "... its record names no rank");
    has_str(stdout_text, "MPI_Init did not return in ", "... and has the cause");
    has_str(stdout_text, "\"metric\":\"end\"", "... and ends the output");
    ok(took_s < SOON_S, "... soon (%.1f s)", took_s);
    is_int(start_mpi("1", 1, false), 3, "another rank leaves, too, as rank 0 may be lost");
    is_str(stdout_text, "", "... without output");
    ok(took_s > 5, "... later than rank 0 (%.1f s)", took_s);
}

/* Checks that a record of the last scenario fails this rank. */
static void fails(const char *metric, const char *node, const char *rank, const char *what)
{
    char text[128];

    snprintf(text, sizeof text,
             "\"metric\":\"%s\",\"node\":\"%s\",\"part\":\"%s\",\"verdict\":\"fail\"", metric, node,
             rank);
    has_str(stdout_text, text, "%s", what);
}

int main(void)
{
    test_watchdog();
    is_int(count_admitted(400, false), 399, "400 ranks that call at once are all admitted");
    is_int(count_admitted(40, true), 39, "ranks that call again are admitted at their second call");

    is_int(run_scenario("all is well", 0), 0, "all ranks end: status 0");
    is_str(stdout_text, "", "... without output");
    is_str(stderr_text, "", "... or complaints");

    run_scenario("rank 2 is late", 0);
    is_str(stderr_text, "", "no rank ends, and gets rank 0 killed, before the last rank is done");

    is_int(run_scenario("rank 2 dies", 0), 1, "a rank dies: status 1");
    fails("died", "n2", "rank 2", "... the rank and its node are named");
    has_str(stdout_text, "rank 2 on n2 died in phase measure", "... with its phase");
    has_str(stdout_text, "\"verdict\":\"unknown\"", "... and the run is incomplete");
    ok(took_s < SOON_S, "... soon (%.1f s)", took_s);

    is_int(run_scenario("rank 3 freezes", 0), 1, "a rank freezes: status 1");
    fails("frozen", "n2", "rank 3", "... the rank and its node are named");
    ok(strstr(stdout_text, "rank 2") == NULL, "... and no other rank");
    ok(took_s < SOON_S, "... soon (%.1f s)", took_s);

    nodes = four_nodes;
    is_int(run_scenario("most freeze", 0), 3, "most nodes freeze at once: status 3");
    ok(strstr(stdout_text, "\"fail\"") == NULL, "... no rank is named");
    has_str(stdout_text, "2 of 4 ranks stopped responding at once",
            "... the record has the number of ranks");
    nodes = two_nodes;

    is_int(run_scenario("rank 3 stops a while", 0), 0, "a rank that stops for a while: status 0");
    is_str(stdout_text, "", "... without output");

    is_int(run_scenario("two are not scheduled", 0), 3, "a pair without a processor: status 3");
    ok(strstr(stdout_text, "\"fail\"") == NULL, "... no rank is named");
    has_str(stdout_text, "\"metric\":\"slow\"", "... the record says slow");
    has_str(stdout_text, "while nodes were busy: rank ", "... and names the busy node");

    is_int(run_scenario("two pairs wait", 0), 3, "two pairs wait for each other: status 3");
    ok(strstr(stdout_text, "\"fail\"") == NULL, "... no rank is named");
    has_str(stdout_text, "2 pairs of ranks at once wait for each other",
            "... both pairs are counted");

    is_int(run_scenario("rank 1 hangs", 0), 1, "a rank hangs: status 1");
    fails("hang", "n1", "rank 1", "... the rank and its node are named");
    ok(took_s < SOON_S, "... soon (%.1f s)", took_s);

    is_int(run_scenario("rank 0 dies", 0), -1, "rank 0 dies");
    has_str(stderr_text, "rank 0 on n1 is gone", "... the others name it and its node");
    ok(took_s < SOON_S, "... and leave (%.1f s)", took_s);

    is_int(run_scenario("rank 3 cannot go on", 0), 1, "a rank cannot go on: status 1");
    has_str(stdout_text, "rank 3 on n2 in phase measure: no such thing",
            "... its message has the reason");

    is_int(run_scenario("all wait", SIGTERM), 3, "SIGTERM to one rank: status 3");
    has_str(stdout_text, "stopped by SIGTERM", "... the record names the signal");
    ok(strstr(stdout_text, "\"fail\"") == NULL, "... and no rank");

    is_int(run_scenario("two are lost", 0), 1,
           "one rank dies and one freezes in a job that continues: status 1");
    fails("died", "n2", "rank 2", "... the first rank is named");
    fails("frozen", "n2", "rank 3", "... and so is the second");
    ok(strstr(stdout_text, "unknown") == NULL, "... the rest is complete");
    has_str(stdout_text, "rank 1 saw 1 1", "... each rank knows which ranks are lost");
    has_str(stdout_text, "needs abort: 1", "... and that the frozen rank does not end by itself");
    ok(took_s < SOON_S, "... soon (%.1f s)", took_s);

    is_int(run_scenario("one hangs and is given up", 0), 1,
           "one rank hangs in a job that continues: status 1");
    fails("hang", "n2", "rank 3", "... the rank is named");
    has_str(stdout_text, "rank 1 saw 0 1", "... and no other rank");
    is_str(stderr_text, "", "... it leaves without a complaint");
    has_str(stdout_text, "needs abort: 0", "... and without an abort");
    return tap_done();
}
