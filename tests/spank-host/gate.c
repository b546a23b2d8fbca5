/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "tests/spank-host/fixture.h"
#include "tests/spank-host/host.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* The gate: job_prolog with every state of a certificate and every policy, and with a munged or an
 * examination that hangs. */

enum { SOON_MS = 10000 /* far above a deadline, to tell it from a hang without end */ };

/* Runs the gate of a job with these lines in muster.conf and
 * CertificateFile=fixture_path("certificate").
 */
static int gate(const char *policies, uid_t uid)
{
    const char *munge = getenv("FAKE_MUNGE");
    bool is_late, may_be_late = munge && (!strcmp(munge, "hangs") || !strcmp(munge, "freezes"));
    char conf[8192];
    int status, tries = 0;

    snprintf(conf, sizeof conf, "CertificateFile=%s\n%s%s", fixture_path("certificate"), policies,
             strstr(policies, "GateBrake") ? "" : "GateBrake=off\n");
    /* a busy machine may not let the examination run before the gate's deadline */
    do {
        fixture_load(S_CTX_JOB_SCRIPT, conf);
        host_job.uid = uid;
        status = host_call("job_prolog");
        is_late = !may_be_late && strstr(host_log, "no answer within the gate's deadline");
        if (host_call("job_epilog") != 0)
            ok(false, "... job_epilog");
        host_unload();
    } while (is_late && ++tries < 20);
    return status;
}

static uid_t uid_of(const char *name)
{
    const struct passwd *user = getpwnam(name);

    return user ? user->pw_uid : 12345;
}

static void gate_states(void)
{
    static const struct {
        enum state state;
        const char *name, *key, *says;
    } cases[] = {
        {MISSING, "missing", "OnMissing", "certificate missing"},
        {EXPIRED, "expired", "OnExpired", "certificate expired"},
        {CHANGED, "changed", "OnChanged", "eth77"},
        {ALTERED, "altered", "OnChanged", "certificate invalid"},
        {COPIED, "copied", "OnChanged", "n3"},
        {OTHER_CLUSTER, "of another cluster", "OnChanged", "attic"},
    };
    char policies[256];
    struct stat status;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_certificate(cases[i].state);
        snprintf(policies, sizeof policies,
                 "OnMissing=ignore\nOnExpired=ignore\nOnChanged=ignore\n");
        is_int(gate(policies, 1000), 0, "%s, all ignored: passes", cases[i].name);
        is_str(host_log, "", "... without a message");
        memcpy(strstr(policies, cases[i].key) + strlen("OnXxxxxxx="), "log   ", 6);
        is_int(gate(policies, 1000), 0, "%s, %s=log: passes", cases[i].name, cases[i].key);
        has_str(host_log, cases[i].says, "... with the message: %s", cases[i].says);
        has_str(host_log, "job 12 allowed", "... and that the job is allowed");
        memcpy(strstr(policies, cases[i].key) + strlen("OnXxxxxxx="), "refuse", 6);
        unlink(fixture_path("refused"));
        is_int(gate(policies, 1000), -1, "%s, %s=refuse: refused", cases[i].name, cases[i].key);
        has_str(host_log, "error: muster: n2: certificate ", "... the log names the node");
        has_str(host_log, cases[i].says, "... with the message: %s", cases[i].says);
        has_str(host_log, "=refuse; next: muster certify -w n2", "... and the next step");
        has_str(tree_text(fixture_path("refused")), cases[i].says, "... a note is written with: %s",
                cases[i].says);
        stat(fixture_path("refused"), &status);
        is_int(status.st_mode & 07777, 0644, "... which everybody may read");
        is_int(gate(policies, 0), 0, "%s, %s=refuse, a job of root: passes", cases[i].name,
               cases[i].key);
        is_str(host_log, "", "... without a message");
    }
    put_certificate(MISSING);
    is_int(gate("OnMissing=refuse\nBatteryUser=nobody\n", uid_of("nobody")), 0,
           "a job of BatteryUser passes, so that certification can run");
    is_str(host_log, "", "... without a message");
    is_int(gate("OnMissing=refuse\nBatteryUser=nobody\n", 1000), -1, "... other users are refused");
    is_int(gate("OnMissing=refuse\nBatteryUser=no-such-user\n", 1000), -1,
           "... also with a BatteryUser that does not exist");
    put_certificate(ALTERED);
    is_int(gate("OnMissing=refuse\nOnExpired=log\nOnChanged=log\n", 1000), -1,
           "a certificate that is not genuine meets the strictest policy");
    has_str(host_log, "OnMissing=refuse", "... which is named");
    is_int(gate("OnMissing=log\nOnExpired=refuse\nOnChanged=log\n", 1000), -1,
           "... whichever key that is");
    has_str(host_log, "OnExpired=refuse", "... which is named");
}

static const char refuse_all[] = "OnMissing=refuse\nOnExpired=refuse\nOnChanged=refuse\n";

static void gate_lets_through(void)
{
    long begin;

    put_certificate(VALID);
    is_int(gate(refuse_all, 1000), 0, "a valid certificate passes");
    is_str(host_log, "", "... without a message");

    setenv("FAKE_MUNGE", "silent", 1);
    is_int(gate(refuse_all, 1000), 0, "munged does not answer: passes");
    has_str(host_log, "unverified", "... with a message");

    setenv("FAKE_MUNGE", "rotated", 1);
    is_int(gate(refuse_all, 1000), 0, "another MUNGE key: passes, whatever the other policies");
    has_str(host_log, "certificate unverifiable: this node's MUNGE key", "... with a message");
    is_int(gate("OnUnverifiable=ignore\n", 1000), 0, "... ignored: passes");
    is_str(host_log, "", "... without a message");
    is_int(gate("OnUnverifiable=refuse\n", 1000), -1, "... OnUnverifiable=refuse: refused");
    has_str(host_log, "refused by OnUnverifiable=refuse; next: muster certify -w n2",
            "... with the name of the key");

    setenv("FAKE_MUNGE", "hangs", 1);
    begin = clock_ms();
    is_int(gate(refuse_all, 1000), 0, "munged hangs: passes");
    ok(clock_ms() - begin < SOON_MS, "... and delays no job (%ld ms)", clock_ms() - begin);
    has_str(host_log, "job 12 allowed", "... with a message");

    setenv("FAKE_MUNGE", "freezes", 1);
    begin = clock_ms();
    is_int(gate(refuse_all, 1000), 0, "the examination itself hangs: passes");
    ok(clock_ms() - begin < SOON_MS, "... and delays no job (%ld ms)", clock_ms() - begin);
    has_str(host_log, "no answer within the gate's deadline", "... with a message");
    unsetenv("FAKE_MUNGE");

    put_certificate(MISSING);
    is_int(gate("OnMissing=refuse\nOnExpired=perhaps\n", 1000), 0,
           "a muster.conf that cannot be read: passes");
    has_str(host_log, "muster.conf:3: ", "... and names file and line");

    setenv("SPANK_OnMissing", "ignore", 1);
    setenv("SPANK_SLURMD_NODENAME", "n9", 1);
    is_int(gate("OnMissing=refuse\n", 1000), -1, "SPANK_ variables of the user change nothing");
    has_str(host_log, "muster: n2: ", "... not even the name of the node");
    unsetenv("SPANK_OnMissing");
    unsetenv("SPANK_SLURMD_NODENAME");

    fixture_load(S_CTX_JOB_SCRIPT, "");
    is_int(host_call("job_prolog"), 0, "without policies a missing certificate is logged");
    is_int(host_call("job_prolog"), 0, "listed twice, the second job_prolog does nothing");
    ok(strstr(strstr(host_log, "allowed") + 1, "allowed") == NULL, "... without a message");
    host_unload();
}

/* Writes the brake file of the health check, which says whether the gate may refuse jobs. */
static void put_brake(const char *permission, const char *cause, long age_s)
{
    FILE *stream = fopen(fixture_path("brake"), "w");

    fprintf(stream, "muster brake 1\ntime: %ld\nleave: %s\ncause: %s\nmessage: 7 of 8 nodes\n",
            (long)time(NULL) - age_s, permission, cause);
    fclose(stream);
    chmod(fixture_path("brake"), 0644);
}

static void gate_brakes(void)
{
    static const char braked[] = "OnExpired=refuse\nOnChanged=refuse\nGateBrake=3\n";

    put_certificate(EXPIRED);
    is_int(gate(braked, 1000), 0, "without a health check of the cluster: passes");
    has_str(host_log,
            "job 12 allowed despite OnExpired=refuse, because the brake is on: muster check "
            "--health has not looked at the cluster for \"expired\"",
            "... with the reason");
    has_str(host_log, "to release it: muster certificate --brake=off",
            "... and how to release the brake");
    put_brake("no", "expired", 10);
    is_int(gate(braked, 1000), 0, "many nodes are refused alike: passes");
    has_str(host_log, "because the brake is on: 7 of 8 nodes;", "... with a message");
    put_brake("yes", "expired", 10);
    is_int(gate(braked, 1000), -1, "with permission: refused");
    put_brake("yes", "expired", 7300);
    is_int(gate(braked, 1000), 0, "with an old permission: passes");
    put_brake("yes", "missing", 10);
    is_int(gate(braked, 1000), 0, "with a permission for another cause: passes");
    put_brake("lifted", "any", 100000);
    is_int(gate(braked, 1000), -1, "with the brake lifted: refused");
    put_certificate(CHANGED);
    put_brake("yes", "changed nic eth77", 10);
    is_int(gate(braked, 1000), -1, "the cause of a changed node contains the changed fact");
    unlink(fixture_path("brake"));
}

/* A BatteryUser whose passwd entry is as long as those of directory services may be. */
static void gate_of_long_entry(void)
{
    static char entry[6000];

    memset(entry, 'x', sizeof entry - 1);
    memcpy(entry, "longuser:x:4711:4711:", 21);
    strcpy(entry + sizeof entry - 13, ":/:/bin/sh\n");
    write_file(fixture_path("passwd"), entry);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(fixture_path("passwd"), "/etc/passwd", NULL, MS_BIND, NULL) != 0) {
        tap_skip("no namespace of mounts for a passwd of our own");
    } else {
        put_certificate(MISSING);
        is_int(gate("OnMissing=refuse\nBatteryUser=longuser\n", 4711), 0,
               "a BatteryUser with a long entry is recognized");
        is_int(gate("OnMissing=refuse\nBatteryUser=longuser\n", 1000), -1, "... and no other user");
        umount2("/etc/passwd", MNT_DETACH);
    }
    unlink(fixture_path("passwd"));
}

int main(int argc, char *argv[])
{
    fixture_begin(argv);
    setenv("SLURMD_NODENAME", "n2", 1);
    setenv("SLURM_CLUSTER_NAME", "lab", 1);
    if (geteuid() == 0) {
        gate_states();
        gate_lets_through();
        gate_brakes();
        gate_of_long_entry();
    } else {
        tap_skip("only root can write a valid certificate");
    }
    fixture_end();
    return tap_done();
}
