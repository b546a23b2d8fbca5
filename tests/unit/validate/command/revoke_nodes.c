/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "tests/unit/capture.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "tests/unit/validate/command/made_cluster.h"
#include "validate/command/command.h"
#include "validate/history/history.h"
#include "validate/history/node_status.h"
#include "validate/slurm/revocation.h"

/* Tests muster revoke -w on four nodes of a made-up cluster, with simulated output of srun. n1's
 * task also reports that n4 removed its certificate, which must not count. */

static bool is_failing;          /* n4 cannot remove its certificate */
static const char *site_comment; /* the Comment that the site writes during the command */
static char comments[4096], last_comment[256];
static char history[256];

int __wrap_cluster_load_nodes(struct cluster *cluster, struct error *err)
{
    return __wrap_cluster_load(cluster, err);
}

int __wrap_cluster_set_comment(const char *nodes, const char *comment, struct error *err)
{
    text_join(comments, sizeof comments, "", "%s=%s;", nodes,
              revocation_read(comment) == 0           ? "none"
              : revocation_read(comment) > 1763650000 ? "now"
                                                      : "before");
    snprintf(last_comment, sizeof last_comment, "%s", comment);
    return 0;
}

static void print_record(const struct process *process, int task, const char *node,
                         const char *verdict)
{
    char text[400];

    snprintf(text, sizeof text,
             "%d: {\"suite\":\"certificate\",\"test\":\"certificate\",\"time\":1,\"node\":\"%s\","
             "\"verdict\":\"%s\",\"message\":\"%s\"}",
             task, node, verdict,
             strcmp(verdict, "fail") == 0 ? "Read-only file system" : "revoked");
    process->on_line(text, false, process->context);
}

/* muster revoke -w needs root. */
uid_t __wrap_geteuid(void);
uid_t __wrap_geteuid(void)
{
    return 0;
}

int __wrap_step_run_on(const struct hostlist *nodes, const char *partition, int wait_s,
                       char *const *program, const struct process *watching,
                       struct process_result *result, struct error *err)
{
    if (nodes->count == MADE_NODES || made_is_down)
        for (int i = 0; i < (int)nodes->count; i++) {
            if (i == 0)
                print_record(watching, i, "n4", "pass");
            print_record(watching, i, nodes->names[i],
                         is_failing && i == MADE_NODES - 1 ? "fail" : "pass");
        }
    if (site_comment)
        made_comment = site_comment;
    *result = (struct process_result){.end = PROCESS_EXITED};
    return 0;
}

/* Runs the command and discards its output. Returns its exit status. */
static int run_revoke(void)
{
    int status;

    comments[0] = '\0';
    capture_begin();
    status = revoke_nodes("muster revoke", "n[1-4]", true, history);
    capture_end(1);
    return status;
}

/* The same with an invalid configuration of this host. */
static int run_misconfigured(const char *root)
{
    static char name[] = "muster revoke", option[] = "-w", list[] = "n[1-4]";
    char *words[] = {name, option, list, NULL}, path[300];
    int status;

    tree_put(root, "muster.conf", "OnMissing=maybe\n");
    snprintf(path, sizeof path, "%s/muster.conf", root);
    setenv("MUSTER_CONF", path, 1);
    comments[0] = '\0';
    capture_begin();
    status = command_revoke(3, words);
    has_str(capture_end(2), "muster.conf:1: OnMissing=maybe", "an invalid configuration is named");
    return status;
}

/* The last run in the history certified n1. */
static void add_certified_run(void)
{
    struct records none = {0};

    is_int(history_add(history, &(struct history_run){.run = "r1", .level = "quick"},
                       &(struct history_node){.node = "n1",
                                              .verdict = VERDICT_PASS,
                                              .certified_until = "2099-01-01 00:00 UTC",
                                              .rail_mbps = NAN},
                       1, &none, 0, NULL),
           0, "a node is certified");
}

/* Returns the number of nodes that are certified by the history; -1 on an error. */
static int count_certified(void)
{
    struct hostlist names = {0};
    struct error err;
    int count = node_status_valid(history, "lab", &names, &err) < 0 ? -1 : (int)names.count;

    hostlist_clear(&names);
    return count;
}

int main(void)
{
    char *root = tree_unpack("");

    snprintf(history, sizeof history, "%s/history.db", root);
    add_certified_run();
    is_int(count_certified(), 1, "... by the history");
    made_comment = revocation_set("", 1763650000);
    is_int(run_revoke(), COMMAND_PASS, "four nodes remove their certificates");
    is_str(comments, "n[1-4]=none;", "... and their revocations are cleared");
    is_int(count_certified(), 0, "... and the history has no certificate any more");
    is_int(run_misconfigured(root), COMMAND_USAGE, "... and decides the exit status");
    is_str(comments, "n[1-4]=none;", "... of nodes that have removed their certificates");
    is_failing = true;
    is_int(run_misconfigured(root), COMMAND_FAIL, "... unless a node has not");
    is_int(run_revoke(), COMMAND_FAIL,
           "a node that cannot is reported, whatever another node says");
    has_str(comments, "n4=now;", "... and its certificate is revoked in Slurm");
    has_str(comments, "n[1-3]=none;", "... the revocations of the others are cleared");
    free((char *)(size_t)made_comment);
    made_comment = "";
    site_comment = "rack 7";
    run_revoke();
    has_str(comments, "n4=now;", "a certificate is revoked in Slurm");
    has_str(last_comment, "rack 7", "... and the site's new text in Comment is kept");
    is_failing = false;
    site_comment = NULL;
    made_comment = "";
    made_is_divided = made_is_down = true;
    is_int(run_revoke(), COMMAND_FAIL, "a node whose partition is down cannot be asked");
    is_str(comments, "n4=now;", "... and only its certificate is revoked in Slurm");
    tree_remove(root);
    return tap_done();
}
