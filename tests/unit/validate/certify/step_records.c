/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/certify_step.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "tests/unit/tap.h"
#include "validate/slurm/operations.h"

/* Tests which printed records a step accepts: from each task about its own node, and from rank 0
 * of an MPI program about all nodes. */

enum { NODES = 2, NAME_BYTES = 8 };

static struct certify certify;
static struct cluster_node nodes[NODES];
static struct node_run node_runs[NODES];
static char names[NODES][NAME_BYTES];
static struct hostlist both;

/* The text that a step prints printed_count times, with the index for each %d. A line of a node's
 * task begins with its label. */
static const char *printed_text;
static int printed_count;
static const char *last_line; /* a final line after them; NULL: none */

static int run_step(const struct step *step, const struct process *process,
                    struct process_result *result, struct error *err)
{
    char text[8192];

    for (int i = 0; i < printed_count; i++) {
        char *at = text, *end = text + sizeof text;

        for (const char *from = printed_text; *from && at + 16 < end; from++)
            if (from[0] == '%' && from[1] == 'd') {
                at += snprintf(at, 16, "%d", i);
                from++;
            } else {
                *at++ = *from;
            }
        *at = '\0';
        process->on_line(text, false, process->context);
    }
    if (last_line)
        process->on_line(last_line, false, process->context);
    *result = (struct process_result){.end = PROCESS_EXITED};
    return 0;
}

static const struct cluster_operations operations = {.step_run = run_step};

static void cluster_make(void)
{
    const char *pointers[NODES];
    struct error err;

    certify = (struct certify){.operations = &operations,
                               .node_runs = node_runs,
                               .count = NODES,
                               .cluster = {.nodes = nodes, .node_count = NODES}};
    for (int i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i + 1);
        nodes[i].name = names[i];
        node_runs[i] = (struct node_run){.name = names[i], .slurm = &nodes[i]};
        pointers[i] = names[i];
        hostlist_append(&both, names[i]);
    }
    if (cluster_index(&certify.cluster, &err) != 0 ||
        name_index_build(pointers, NODES, &certify.by_name) != 0)
        exit(255);
}

/* Runs a step. Forgets earlier records first. */
static void run_step_printing(const char *lines, int count, bool is_mpi)
{
    char name[] = "/usr/bin/muster-links", *program[] = {name, NULL};
    struct certify_step step = {.stage = is_mpi ? STAGE_LINKS : STAGE_CHECK,
                                .nodes = &both,
                                .tasks_per_node = 1,
                                .is_mpi = is_mpi,
                                .program = program,
                                .deadline_s = 600};
    struct error err;
    size_t first;

    records_clear(&certify.records);
    certify.refused_records = 0;
    for (int i = 0; i < NODES; i++)
        node_runs[i].outcome = (struct outcome){0};
    printed_text = lines;
    printed_count = count;
    is_int(certify_step(&certify, &step, &first, &err), 0, "a step ends");
}

static enum verdict verdict_of(int node)
{
    return node_runs[node].outcome.verdict;
}

static void test_record_limit(void)
{
    run_step_printing("1: {\"suite\":\"check\",\"test\":\"t\",\"node\":\"n1\",\"message\":\"m%d\"}",
                      1000, false);
    is_int((long)certify.records.count, 0, "records of a node about another node are refused");
    is_int((long)certify.records.texts.count, 0, "... none of their texts is kept");
    is_int((long)certify.refused_records, 1000, "... all of them are counted");
    run_step_printing("1: {\"suite\":\"check\",\"test\":\"t\",\"node\":\"n2\",\"message\":\"m%d\"}",
                      2 * CERTIFY_RECORDS_OF_NODE, false);
    is_int((long)certify.records.count, CERTIFY_RECORDS_OF_NODE,
           "a node's own records are accepted up to a limit");
    ok(certify.records.texts.count < CERTIFY_RECORDS_OF_NODE + 8, "... with their texts");
    run_step_printing("{\"suite\":\"links\",\"test\":\"t\",\"node\":\"n2\",\"message\":\"m%d\"}",
                      3 * CERTIFY_RECORDS_OF_NODE, true);
    ok(certify.records.count >= NODES * CERTIFY_RECORDS_OF_NODE &&
           certify.records.count < NODES * CERTIFY_RECORDS_OF_NODE + 1000,
       "rank 0 is limited to as many records per node");
}

/* A failure counts even if the node has reached its limit of records. */
static void doubts_failures_beyond_the_limit(void)
{
    static const char passes[] =
        "1: {\"suite\":\"check\",\"test\":\"t\",\"node\":\"n2\",\"message\":\"m%d\"}";

    last_line = "1: {\"suite\":\"check\",\"test\":\"t\",\"node\":\"n2\",\"verdict\":\"fail\","
                "\"message\":\"slow\"}";
    run_step_printing(passes, CERTIFY_RECORDS_OF_NODE, false);
    is_int(verdict_of(1), VERDICT_UNKNOWN, "a failure beyond the limit makes its node unknown");
    is_int(verdict_of(0), VERDICT_NONE, "... and no other node");
    last_line = "1: {\"suite\":\"check\",\"test\":\"t\",\"node\":\"n1\",\"verdict\":\"fail\","
                "\"message\":\"slow\"}";
    run_step_printing(passes, CERTIFY_RECORDS_OF_NODE, false);
    is_int(verdict_of(0), VERDICT_NONE, "... but not if another node's task reports it");
    last_line = NULL;
}

static void test_text_limit(void)
{
    static char line[1000];
    char filler[901];

    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = '\0';
    snprintf(line, sizeof line,
             "1: {\"suite\":\"check\",\"test\":\"t\",\"node\":\"n2\",\"message\":\"%%d%s\"}",
             filler);
    run_step_printing(line, 3000, false);
    ok(certify.records.count > 1000 && certify.records.count < 1300,
       "of long texts fewer records are kept: %zu", certify.records.count);
}

static void test_impossible_values(void)
{
    run_step_printing(
        "1: {\"suite\":\"check\",\"test\":\"host.memory\",\"node\":\"n2\",\"unit\":\"GB/s\","
        "\"value\":1e300}",
        1, false);
    is_int((long)certify.records.count, 0, "an impossible value is refused");
    is_int((long)certify.refused_records, 1, "... and counted");
    is_int(verdict_of(1), VERDICT_NONE, "... without an effect on its node");
    run_step_printing(
        "1: {\"suite\":\"check\",\"test\":\"host.memory\",\"node\":\"n2\",\"unit\":\"GB/s\","
        "\"value\":-4,\"verdict\":\"fail\",\"message\":\"slow\"}",
        1, false);
    is_int(verdict_of(1), VERDICT_UNKNOWN,
           "a failure with an impossible value makes its node unknown");
    is_int(verdict_of(0), VERDICT_NONE, "... and no other node");
    run_step_printing(
        "{\"suite\":\"links\",\"test\":\"links\",\"metric\":\"bandwidth\",\"node\":\"n1\","
        "\"peer\":\"n2\",\"unit\":\"Mb/s\",\"value\":100,\"low\":200,\"high\":90}",
        3, true);
    is_int((long)certify.records.count, 0, "impossible values from rank 0 are refused, too");
}

int main(void)
{
    cluster_make();
    test_record_limit();
    doubts_failures_beyond_the_limit();
    test_text_limit();
    test_impossible_values();
    records_clear(&certify.records);
    name_index_clear(&certify.by_name);
    free(certify.cluster.by_name);
    hostlist_clear(&both);
    return tap_done();
}
