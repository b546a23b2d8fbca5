/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/netif/netif_journal.h"
#include "lib/netif/netif_machine.h"
#include "tests/spank-host/host.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* Prolog and epilog of the plugin, each in a process of its own, in a network namespace with a
 * loopback interface: settings are made and restored, jobs are refused, hooks are killed at random
 * times. */

static char plugin_path[4096], directory[64], config_argument[128];
static struct netif_machine machine;
static int lock = -1; /* the lock of the journal while the test holds it; else -1 */

static const char settings[] = "Interface=lo mtu=4000 txqueuelen=77 up=yes\n"
                               "Interface=lo arp_ignore=1 arp_announce=2 rp_filter=2\n";

static const char *file(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Writes muster.conf with these lines. */
static void configure(const char *lines)
{
    FILE *stream = fopen(file("muster.conf"), "w");

    if (stream == NULL) {
        printf("Bail out! no %s\n", file("muster.conf"));
        exit(255);
    }
    fprintf(stream, "%sOnMissing=ignore\nCertificateFile=%s/certificate\n", lines, directory);
    fprintf(stream, "InterfaceJournal=%s/interfaces\n", directory);
    fclose(stream);
}

/* All settings of the interface as one text; the last four results are valid. */
static const char *state(void)
{
    static char texts[4][256];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    size_t length = 0;
    struct error err;

    for (int i = NETIF_TXQUEUELEN; i <= NETIF_UP; i++) {
        long value;

        if (machine.get(machine.context, "lo", 1, (enum netif_setting)i, &value, &err) == 0)
            length += (size_t)snprintf(text + length, 256 - length, "%s %ld ",
                                       netif_setting_name((enum netif_setting)i), value);
    }
    return text;
}

/* Runs one hook of a job in a process of its own. until_us >= 0: kills it that long after the hook
 * began. Returns 0 if the hook succeeded, -1 if it failed, 1 if the process was killed. */
static int run(const char *hook, spank_context_t context, uint32_t job, long until_us)
{
    int ends[2], status;
    char byte;
    pid_t child;

    if (pipe(ends) != 0)
        exit(255);
    host_log[0] = '\0';
    fflush(stdout);
    child = fork();
    if (child == 0) {
        host_load(plugin_path, context);
        host_arguments[0] = config_argument;
        host_job.job_id = job;
        close(ends[0]);
        if (lock >= 0)
            close(lock); /* else this process would hold the lock that it waits for */
        if (write(ends[1], "", 1) != 1)
            _exit(255);
        close(ends[1]); /* children of the hook must not inherit it */
        _exit(host_call(hook) == 0 ? 0 : 3);
    }
    close(ends[1]);
    if (until_us >= 0 && read(ends[0], &byte, 1) == 1) {
        const struct timespec pause = {0, until_us * 1000};

        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
    }
    waitpid(child, &status, 0);
    close(ends[0]);
    return WIFSIGNALED(status) ? 1 : WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int prolog(uint32_t job)
{
    return run("job_prolog", S_CTX_JOB_SCRIPT, job, -1);
}

static int epilog(uint32_t job)
{
    return run("job_epilog", S_CTX_JOB_SCRIPT, job, -1);
}

static int slurmd_start(void)
{
    return run("init", S_CTX_SLURMD, 0, -1);
}

/* ---------------------------------------------------------------- */

static const char *const expected_settings =
    "txqueuelen 77 mtu 4000 arp_ignore 1 arp_announce 2 arp_filter 0 rp_filter 2 accept_local 0 "
    "up 1 ";

static void jobs(const char *before)
{
    configure("");
    is_int(prolog(12), 0, "without Interface lines a prolog");
    is_int(epilog(12), 0, "... and an epilog");
    is_str(state(), before, "... change nothing");
    is_int(access(file("interfaces.lock"), F_OK), -1, "... and make no file");

    configure(settings);
    is_int(prolog(12), 0, "a prolog");
    is_str(host_log, "", "... without a message");
    is_str(state(), expected_settings, "... makes the settings");
    is_int(prolog(13), 0, "the prolog of a second job");
    is_int(epilog(12), 0, "the epilog of the first");
    is_str(state(), expected_settings, "... leaves the settings to the second");
    is_int(slurmd_start(), 0, "slurmd restarts");
    is_str(state(), expected_settings, "... and leaves them, too");
    is_int(epilog(13), 0, "the epilog of the second");
    is_str(host_log, "", "... without a message");
    is_str(state(), before, "... restores all settings");
    is_int(access(file("interfaces"), F_OK), -1, "... and removes the journal");

    is_int(prolog(12), 0, "a prolog");
    configure("");
    is_int(epilog(12), 0, "... the epilog, after its lines were removed from muster.conf");
    is_str(state(), before, "... restores all settings from the journal");
}

static void policies(const char *before)
{
    char line[256];

    configure("Interface=lo mtu=4000\nInterface=eth9 mtu=9000\nOnInterface=refuse\n");
    is_int(prolog(12), -1, "OnInterface=refuse: a job is refused");
    snprintf(line, sizeof line,
             "error: muster: n2: eth9: is not on this node; Interface line 2 of muster.conf; job "
             "12 refused by OnInterface=refuse\n");
    has_str(host_log, line, "... with its reason in the log");
    is_str(state(), before, "... and settings that were made are restored");
    has_str(tree_text(file("refused")), "Z n2: eth9: is not on this node",
            "... and a note is written with the reason");
    is_int(epilog(12), 0, "... and its epilog succeeds");

    configure("Interface=eth9 mtu=9000\nInterface=lo mtu=4000 address=10.0.0.0/8\n");
    is_int(prolog(12), 0, "OnInterface=log: the job starts");
    has_str(host_log, "error: muster: n2: eth9: is not on this node",
            "... and the log has the reason");
    has_str(host_log, "error: muster: n2: lo: has no IP address in 10.0.0.0/8", "... all reasons");
    has_str(state(), "mtu 4000", "... other settings are made");
    is_int(epilog(12), 0, "... its epilog");
    is_str(state(), before, "... restores these");
    configure("Interface=eth9 mtu=9000\nOnInterface=ignore\n");
    is_int(prolog(12), 0, "OnInterface=ignore: the job starts");
    is_str(host_log, "", "... without a message");

    configure("Interface=lo mtu=what\nOnInterface=refuse\n");
    is_int(prolog(12), 0, "with a muster.conf that cannot be read the job starts");
    has_str(host_log, "interfaces left unchanged: ", "... with a message");
    is_str(state(), before, "... and nothing is changed");

    configure(settings);
    prolog(12);
    machine.set(machine.context, "lo", 1, NETIF_MTU, 3000, NULL);
    is_int(epilog(12), 0, "an epilog after a change by another program");
    has_str(host_log, "error: muster: n2: lo: mtu 3000 was changed by another program",
            "... reports it");
    has_str(state(), "mtu 3000 arp_ignore 0", "... and leaves that setting only");
    machine.set(machine.context, "lo", 1, NETIF_MTU, 65536, NULL);
    is_str(state(), before, "... all others are restored");
}

/* A prolog while another process holds the lock of the journal. */
static void waits(const char *before)
{
    configure(settings);
    lock = journal_lock(file("interfaces"), 0, NULL);
    is_int(prolog(12), 0, "a lock that is held too long: the job starts");
    has_str(host_log, "no interface is set: ", "... and the log has the reason");
    is_str(state(), before, "... nothing is set");

    /* the process that slurmd started is killed, its child waits for the lock */
    is_int(run("job_prolog", S_CTX_JOB_SCRIPT, 12, 50000), 1, "a prolog killed while it waits");
    usleep(50000);
    close(lock);
    lock = -1;
    usleep(200000);
    is_str(state(), before, "... makes no setting after its process: an epilog may have run");
    epilog(12);
}

static unsigned seed = 20261121;

static long random_below(long limit)
{
    seed = seed * 1103515245 + 12345;
    return (long)(seed / 65536 % 32768) * limit / 32768;
}

static bool holds(uint32_t job)
{
    struct netif_journal journal;
    struct error err;
    bool is_held = false;

    if (journal_load(file("interfaces"), &journal, &err) < 0)
        tap_diag("%s", err.text);
    for (size_t i = 0; i < journal.count; i++)
        for (size_t j = 0; j < journal.entries[i].job_count; j++)
            is_held |= journal.entries[i].jobs[j] == job;
    journal_clear(&journal);
    return is_held;
}

static long elapsed_us(uint32_t job, int (*what)(uint32_t job))
{
    double begin_s = clock_s();

    what(job);
    return (long)(1e6 * (clock_s() - begin_s));
}

/* Settings that a killed epilog left are restored when slurmd starts, not when a step starts. */
static void orphaned(const char *before)
{
    struct netif_journal journal;
    struct error err = {""};

    configure(settings);
    prolog(12);
    journal_load(file("interfaces"), &journal, &err);
    for (size_t i = 0; i < journal.count; i++)
        entry_remove_job(&journal.entries[i], 12);
    is_int(journal_store(file("interfaces"), &journal, &err), 0, "settings that no job wants %s",
           err.text);
    journal_clear(&journal);
    is_int(run("init", S_CTX_REMOTE, 13, -1), 0, "a step starts");
    is_str(state(), expected_settings, "... and leaves these settings");
    is_int(slurmd_start(), 0, "slurmd starts");
    is_str(state(), before, "... and restores all");
    is_int(access(file("interfaces"), F_OK), -1, "... and removes the journal");
    is_int(slurmd_start(), 0, "slurmd starts again");
    is_str(host_log, "", "... without a message");
}

static void killed(const char *before)
{
    /* a busy machine kills late: turns go on until one kill was in time */
    enum { TURNS = 50, TURNS_MOST = 1000 };
    long prolog_us, epilog_us;
    unsigned left = 0, wrong = 0, hit = 0, noted = 0;
    int turn;

    configure(settings);
    prolog_us = elapsed_us(12, prolog);
    epilog_us = elapsed_us(12, epilog);
    for (turn = 0; turn < TURNS || (hit == 0 && turn < TURNS_MOST); turn++) {
        hit += run("job_prolog", S_CTX_JOB_SCRIPT, 12, random_below(prolog_us)) == 1;
        wrong += epilog(12) != 0;
        left += strcmp(state(), before) != 0 || access(file("interfaces"), F_OK) == 0;
    }
    ok(hit > 0, "a prolog killed at %d moments, %u times before its end", turn, hit);
    is_int(wrong, 0, "... its epilog never fails");
    is_int(left, 0, "... and restores all settings");

    left = hit = 0;
    for (turn = 0; turn < TURNS || (hit == 0 && turn < TURNS_MOST); turn++) {
        prolog(12);
        hit += run("job_epilog", S_CTX_JOB_SCRIPT, 12, random_below(epilog_us)) == 1;
        if (!holds(12)) {
            noted++;
            slurmd_start();
        } else {
            epilog(12);
        }
        left += strcmp(state(), before) != 0 || access(file("interfaces"), F_OK) == 0;
    }
    ok(hit > 0, "an epilog killed at %d moments, %u times before its end", turn, hit);
    is_int(left, 0, "... is completed by the start of slurmd (%u times), or by another epilog",
           noted);
}

int main(void)
{
    static const char *const names[] = {"muster.conf", "interfaces", "interfaces.lock",
                                        "interfaces.new", "refused"};
    static const char *const sysctls[] = {"arp_ignore", "arp_announce", "arp_filter", "rp_filter",
                                          "accept_local"};
    const char *top = getenv("top_builddir");
    struct error err = {""};
    char before[256], path[128];

    snprintf(plugin_path, sizeof plugin_path, "%s/spank/spank_muster.so", top != NULL ? top : ".");
    if (access(plugin_path, R_OK) != 0)
        tap_skip_all("no plugin in this build");
    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0)
        tap_skip_all("no network namespace of its own: needs root");
    snprintf(directory, sizeof directory, "%s/muster-interfaces-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(directory) == NULL || netif_machine_open(&machine, "", &err) != 0)
        tap_skip_all("no directory, or %s", err.text);
    snprintf(config_argument, sizeof config_argument, "config=%s", file("muster.conf"));
    setenv("SLURMD_NODENAME", "n2", 1);
    /* a new namespace has the machine's values in "all" */
    for (size_t i = 0; i < sizeof sysctls / sizeof *sysctls; i++) {
        FILE *stream;

        snprintf(path, sizeof path, "/proc/sys/net/ipv4/conf/all/%s", sysctls[i]);
        if ((stream = fopen(path, "w")) == NULL || fputs("0\n", stream) < 0 || fclose(stream) != 0)
            tap_skip_all("no writable /proc/sys");
        machine.set(machine.context, "lo", 1, (enum netif_setting)(NETIF_ARP_IGNORE + (int)i), 0,
                    NULL);
    }
    /* shared with the processes of the hooks */
    host_load(plugin_path, S_CTX_JOB_SCRIPT);
    snprintf(before, sizeof before, "%s", state());
    jobs(before);
    policies(before);
    waits(before);
    orphaned(before);
    killed(before);
    netif_machine_close(&machine);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(file(names[i]));
    is_int(rmdir(directory), 0, "no file is left behind");
    return tap_done();
}
