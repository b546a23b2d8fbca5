/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/capture.h"
#include "tests/unit/tap.h"
#include "tests/unit/validate/command/made_cluster.h"
#include "validate/command/command.h"

/* Tests muster compare on four nodes of a made-up cluster, with simulated output of srun. The
 * check of one node does not complete. */

static char conf[] = "/tmp/muster-compare-XXXXXX"; /* empty */
static bool is_silent;                             /* n4 does not even print an error */
static size_t asked;                               /* nodes of the last step */

static void print_fact(const struct process *process, int task, const char *node,
                       const char *metric)
{
    char text[400];

    snprintf(text, sizeof text,
             "%d: {\"suite\":\"check\",\"test\":\"host.config\",\"time\":1,\"node\":\"%s\","
             "\"metric\":\"%s\",\"message\":\"6.1\"}",
             task, node, metric);
    process->on_line(text, false, process->context);
}

/* A step on all nodes does not start. Steps on some of the nodes do. */
int __wrap_step_run_on(const struct hostlist *nodes, const char *partition, int wait_s,
                       char *const *program, const struct process *watching,
                       struct process_result *result, struct error *err)
{
    *result = (struct process_result){.end = PROCESS_EXITED};
    asked = nodes->count;
    if (nodes->count == MADE_NODES) {
        watching->on_line("srun: error: a job took n2", true, watching->context);
        return 0;
    }
    for (int i = 0; i < (int)nodes->count; i++) {
        print_fact(watching, i, nodes->names[i], "kernel");
        if (strcmp(nodes->names[i], "n4") != 0)
            print_fact(watching, i, nodes->names[i], "muster");
        else if (!is_silent)
            watching->on_line("1: muster check: out of memory", true, watching->context);
    }
    return 0;
}

/* Returns what muster compare prints on standard error. nodes: -w; "": not given. */
static const char *compare_stderr(const char *nodes)
{
    static char name[] = "compare", option[] = "-c", nodes_option[] = "-w";
    char list[64], *words[] = {name, option, conf, nodes_option, list, NULL};

    snprintf(list, sizeof list, "%s", nodes);
    capture_begin();
    command_compare(*nodes ? 5 : 3, words);
    return capture_end(2);
}

int main(void)
{
    close(mkstemp(conf));
    is_str(compare_stderr(""),
           "muster compare: n4: not compared, muster check did not complete: muster check: out of "
           "memory\n",
           "a node whose check does not complete is named, with its error");
    is_silent = true;
    is_str(compare_stderr(""), "muster compare: n4: not compared, muster check did not complete\n",
           "an error of an earlier step is not given as the reason");
    is_str(compare_stderr("n1,n[1-2]"), "", "a node that is named twice");
    is_int((long long)asked, 2, "... is asked once");
    unlink(conf);
    return tap_done();
}
