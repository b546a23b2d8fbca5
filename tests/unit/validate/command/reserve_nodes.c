/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/capture.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "tests/unit/validate/command/made_cluster.h"
#include "validate/command/command.h"
#include "validate/history/history.h"

/* Tests muster reserve on four nodes of a made-up cluster, with certificates in a history. */

static char conf_path[256], history_path[256];
static char reserved_nodes[200]; /* the nodes put into the reservation; "": none */

int __wrap_cluster_update_waiting(const struct hostlist *names, const struct hostlist *changed,
                                  bool is_there, struct error *err)
{
    char *folded = hostlist_fold(names);

    snprintf(reserved_nodes, sizeof reserved_nodes, "%s", folded);
    free(folded);
    return 0;
}

/* Adds a run that certified the node. Returns history_add()'s result. */
static int add_certified_run(const char *node)
{
    struct records records = {0};

    return history_add(history_path,
                       &(struct history_run){.run = node,
                                             .cluster = "lab",
                                             .level = "quick",
                                             .time = (double)time(NULL),
                                             .seconds = 60},
                       &(struct history_node){.node = node,
                                              .verdict = VERDICT_PASS,
                                              .certified_until = "2036-01-01 00:00 UTC",
                                              .rail_mbps = NAN},
                       1, &records, 0, NULL);
}

static int run_reserve(void)
{
    static char name[] = "muster reserve", option[] = "-c";
    char *words[] = {name, option, conf_path, NULL};
    int status;

    reserved_nodes[0] = '\0';
    capture_begin();
    status = command_reserve(3, words);
    capture_end(1);
    return status;
}

static void counts_certificates_of_waiting_runs(void)
{
    sqlite3 *busy = NULL;

    is_int(add_certified_run("n1"), 0, "a run is stored");
    is_int(run_reserve(), COMMAND_PASS, "nodes without a certificate");
    is_str(reserved_nodes, "n[2-4]", "... wait");
    history_busy_ms = 1;
    sqlite3_open(history_path, &busy);
    sqlite3_exec(busy, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    is_int(add_certified_run("n2"), 1, "the history is busy: the run waits beside it");
    is_int(run_reserve(), COMMAND_UNKNOWN, "... and cannot be read");
    is_str(reserved_nodes, "", "... so no node is reserved");
    sqlite3_close(busy);
    is_int(run_reserve(), COMMAND_PASS, "... once it can be read");
    is_str(reserved_nodes, "n[3-4]", "... its nodes count as certified");
}

int main(void)
{
    char *root, text[300];

    if (geteuid() != 0)
        tap_skip_all("not root");
    root = tree_unpack("");
    snprintf(history_path, sizeof history_path, "%s/history.db", root);
    snprintf(conf_path, sizeof conf_path, "%s/muster.conf", root);
    snprintf(text, sizeof text, "HistoryFile=%s\n", history_path);
    tree_put(root, "muster.conf", text);
    counts_certificates_of_waiting_runs();
    tree_remove(root);
    return tap_done();
}
