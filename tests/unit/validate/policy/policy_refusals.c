/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/policy/refusals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/certificate/brake.h"
#include "tests/unit/tap.h"
#include "validate/slurm/extra.h"

enum { NODES = 40 };

static struct cluster_node nodes[NODES];
static struct cluster cluster = {.nodes = nodes, .node_count = NODES};
static char names[NODES][8], empty[] = "", prolog[] = "Prolog error",
                             muster_reason[] = "muster: links eth1 98 of 940 Mb/s 2026-11-20",
                             admin_reason[] = "replace PSU";

static void nodes_reset(void)
{
    for (int i = 0; i < NODES; i++) {
        if (nodes[i].extra != empty)
            free(nodes[i].extra);
        snprintf(names[i], sizeof names[i], "n%d", i);
        nodes[i] = (struct cluster_node){.name = names[i], .reason = empty, .extra = empty};
    }
}

/* Publishes a cause and asks for permission, as a node's health check does. */
static bool is_allowed(int node, const char *cause, size_t limit, size_t cap)
{
    char *text = extra_set_note(nodes[node].extra, EXTRA_GATE, cause, NULL);
    struct refusals refusals;

    if (nodes[node].extra != empty)
        free(nodes[node].extra);
    nodes[node].extra = text;
    refusals_count(&cluster, names[node], cause, &refusals);
    return refusals_allow(&refusals, limit, cap);
}

static void test_common_causes(void)
{
    struct refusals refusals;
    int allowed = 0;

    nodes_reset();
    for (int i = 0; i < NODES; i++)
        allowed += is_allowed(i, "changed kernel", 3, 10);
    is_int(allowed, 3, "of 40 nodes with a new kernel three get permission to refuse jobs");
    ok(is_allowed(0, "expired", 3, 10), "another cause has its own count");
    ok(!is_allowed(0, "changed kernel", 3, 10),
       "once all nodes have the cause none gets permission again");

    nodes_reset();
    allowed = 0;
    for (int i = 0; i < NODES; i++)
        allowed += is_allowed(i, "expired", 3, 1);
    is_int(allowed, 1, "DrainCap applies if it is less");

    nodes_reset();
    nodes[1].is_drained = nodes[2].is_drained = nodes[3].is_drained = true;
    nodes[1].reason = muster_reason;
    nodes[2].reason = prolog;
    nodes[3].reason = admin_reason;
    refusals_count(&cluster, "n0", "expired", &refusals);
    is_int(refusals.drained, 2, "nodes drained by muster or a failed prolog count");
    ok(!is_allowed(0, "expired", 3, 2), "... against DrainCap");
    ok(is_allowed(0, "expired", 3, 3), "... but not against GateBrake");
    nodes_reset();
}

/* Certificates of nodes expire while the nodes wait for a spare part. */
static void test_nodes_out_of_service(void)
{
    static char refused[] = "muster: gate_refused - certificate expired: on 2026-11-19 2026-11-20";
    struct refusals refusals;

    nodes_reset();
    for (int i = 1; i <= 4; i++) {
        nodes[i].is_drained = true;
        nodes[i].reason = i < 4 ? admin_reason : muster_reason;
        ok(!is_allowed(i, "expired", 3, 10),
           "a node drained for another reason gets no permission");
    }
    ok(is_allowed(0, "expired", 3, 10), "... and does not count among refusing nodes");
    refusals_count(&cluster, "n0", "expired", &refusals);
    is_int(refusals.same_cause, 0, "... whoever drained it");
    is_int(refusals.drained, 1, "... but muster's drain counts against DrainCap");
    for (int i = 1; i <= 4; i++)
        nodes[i].is_drained = false;
    ok(!is_allowed(0, "expired", 3, 10), "resumed nodes count");
    for (int i = 1; i <= 4; i++) {
        nodes[i].is_drained = true;
        nodes[i].reason = i < 3 ? prolog : refused;
    }
    refusals_count(&cluster, "n0", "expired", &refusals);
    is_int(refusals.same_cause, 4, "... and so do nodes drained because they refused a job");
    ok(is_allowed(1, "expired", 5, 10), "these keep their permission");
    nodes[0].is_down = nodes[5].is_invalid = true;
    ok(!is_allowed(0, "expired", 9, 20), "a node that is down gets none, since no job comes to it");
    ok(!is_allowed(5, "expired", 9, 20), "... nor does a node with an invalid registration");
    nodes_reset();
}

static void test_stored_causes(void)
{
    char *text = extra_set_note("{\"rack\":3}", EXTRA_GATE, "expired", NULL),
         *cause = extra_read_note(text, EXTRA_GATE), *out;
    struct error err = {""};

    is_str(cause, "expired", "the cause is stored in Extra");
    out = extra_set_note(text, EXTRA_GATE, NULL, NULL);
    is_str(out, "{\"rack\":3}", "... and removed again, while the site's data stays");
    free(out);
    free(cause);
    free(text);
    ok(extra_set_note("by hand", EXTRA_GATE, "expired", &err) == NULL,
       "text of the site that is no object is kept");
    ok(extra_read_note("by hand", EXTRA_GATE) == NULL, "... and has no cause");
}

static void test_causes(void)
{
    char cause[BRAKE_CAUSE];

    brake_cause(CERTIFICATE_EXPIRED, "kernel: 1\n", "kernel: 2\n", cause);
    is_str(cause, "expired", "the certificate's state is a cause");
    brake_cause(CERTIFICATE_CHANGED, "cpus: 4\nkernel: 1\n", "cpus: 4\nkernel: 2\n", cause);
    is_str(cause, "changed kernel", "... with the name of a changed fact");
    brake_cause(CERTIFICATE_CHANGED, "gpu 0000:1a:00.0: x\n", "", cause);
    is_str(cause, "changed gpu 0000", "... without a PCI address");
    brake_cause(CERTIFICATE_CHANGED, "", "nic eth1: x\n", cause);
    is_str(cause, "changed nic eth1", "... also for a new fact");
    brake_cause(CERTIFICATE_CHANGED, "", "nic \xc3\xa9: x\n", cause);
    is_str(cause, "changed nic ??", "... in ASCII");
    brake_cause(CERTIFICATE_MISSING, NULL, NULL, cause);
    is_str(cause, "missing", "... without facts only the state");
}

/* An invalid file gives no permission. */
static void check_damaged_files(const char *certificate, const char *path)
{
    static const char *const texts[] = {
        "",
        "muster brake 2\ntime: 1\nleave: yes\ncause: c\nmessage: m\n",
        "muster brake 1\nleave: yes\ncause: c\nmessage: m\n",
        "muster brake 1\ntime: 1\ncause: c\nmessage: m\n",
        "muster brake 1\ntime: 1\nleave: yes\nmessage: m\n",
        "muster brake 1\ntime: 1\nleave: yes\ncause: c\n",
        "muster brake 1\ntime: 1\nleave: perhaps\ncause: c\nmessage: m\n",
    };
    struct brake brake;
    struct error err;

    chmod(path, 0644);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(path, "w");

        if (!file || fputs(texts[i], file) < 0 || fclose(file) != 0)
            exit(99);
        is_int(brake_read(certificate, &brake, &err), -1, "damaged file %zu is refused", i);
    }
}

static void test_brake_files(void)
{
    struct brake brake = {1000, BRAKE_PERMITTED, "expired", "1 of 8\033 nodes"}, read;
    char directory[] = "/tmp/muster-brake-XXXXXX", path[64], file[64], why[300];
    struct stat status;
    struct error err;
    mode_t mask;

    ok(!brake_permits(NULL, "expired", 1000, why, sizeof why),
       "without a brake file no job is refused");
    is_str(why,
           "muster check --health has not looked at the cluster for \"expired\" within 60 minutes",
           "... the message says so");
    ok(brake_permits(&brake, "expired", 1100, why, sizeof why), "with permission it is");
    is_str(why, "1 of 8\033 nodes", "... with the message of the permission");
    ok(!brake_permits(&brake, "missing", 1100, why, sizeof why), "... not for another cause");
    for (int late = -1; late <= 1; late += 2) {
        ok(brake_permits(&brake, "expired", 1000 + late * BRAKE_FRESH_S, why, sizeof why),
           "... while it is fresh, whichever clock is late");
        ok(!brake_permits(&brake, "expired", 1000 + late * (BRAKE_FRESH_S + 1), why, sizeof why),
           "... not when it is %s", late < 0 ? "of the future" : "old");
    }
    ok(!brake_is_recent(&brake, "expired", 1100), "a permission is renewed at each health check");
    brake.permission = BRAKE_ON;
    ok(!brake_permits(&brake, "expired", 1100, why, sizeof why),
       "with the brake on no job is refused");
    ok(brake_is_recent(&brake, "expired", 1000) &&
           brake_is_recent(&brake, "expired", 999 + BRAKE_FRESH_S / 2),
       "... and the check is not repeated at once");
    ok(!brake_is_recent(&brake, "expired", 1000 + BRAKE_FRESH_S / 2), "... but later");
    ok(!brake_is_recent(&brake, "missing", 1100), "... and for another cause");
    ok(!brake_is_recent(&brake, "expired", 900), "... and if the clock was set back");
    brake.permission = BRAKE_LIFTED;
    ok(brake_permits(&brake, "missing", 99999999, why, sizeof why),
       "a lifted brake permits any cause");
    is_str(why, "lifted: 1 of 8\033 nodes", "... with its message");
    if (!mkdtemp(directory))
        exit(99);
    snprintf(path, sizeof path, "%s/certificate", directory);
    snprintf(file, sizeof file, "%s/brake", directory);
    is_int(brake_read(path, &read, &err), 1, "without a file nothing is read");
    mask = umask(077);
    is_int(brake_write(path, &brake, &err), 0, "a file is written");
    umask(mask);
    is_int(stat(file, &status) == 0 ? status.st_mode & 07777 : 0, 0644,
           "... readable by all under any umask");
    if (geteuid() == 0) {
        is_int(brake_read(path, &read, &err), 0, "... and read");
        ok(read.when == 1000 && read.permission == BRAKE_LIFTED &&
               strcmp(read.cause, "expired") == 0 && strcmp(read.message, "1 of 8? nodes") == 0,
           "... unchanged, but for what a log cannot show");
        chmod(file, 0666);
        is_int(brake_read(path, &read, &err), -1, "... a file that others can write is refused");
        check_damaged_files(path, file);
    }
    errno = 0;
    is_int(brake_remove(path, &err), 0, "the file is removed");
    is_int(brake_remove(path, &err), 0, "... also if it is missing");
    mkdir(file, 0700);
    is_int(brake_remove(path, &err), -1, "... a directory is not");
    rmdir(file);
    ok(brake_read("certificate", &read, &err) < 0 && brake_write("certificate", &brake, &err) < 0 &&
           brake_remove("certificate", &err) < 0,
       "a certificate path without a directory has no brake file");
    rmdir(directory);
}

int main(void)
{
    test_common_causes();
    test_nodes_out_of_service();
    test_stored_causes();
    test_causes();
    test_brake_files();
    return tap_done();
}
