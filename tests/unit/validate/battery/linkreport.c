/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/report/linkreport.h"
#include "tests/unit/tap.h"
#include "validate/battery/links/report/sums.h"
#include "validate/battery/verbs/verb.h"

/* The fault code of a direction that failed, by what is known of its MTU. */

static enum fault_code failed_with;
static int failures, path_mtus;

static void note(struct record *record, void *context)
{
    path_mtus += catalog_is_metric(record->metric, METRIC_PATH_MTU);
    if (record->verdict != VERDICT_FAIL)
        return;
    failures++;
    failed_with = record->code;
}

const struct record_sink output_sink = {note, NULL};

void output_record(struct record *record)
{
    note(record, NULL);
}

void sums_report(const struct program *program, const struct pass_schedule *pass_schedule,
                 int round, struct link_results *results)
{
}

int pass_schedule_pair_load(const struct program *program,
                            const struct pass_schedule *pass_schedule, int round, int node)
{
    return 0;
}

/* mtu_bytes: of the sender's interface; 0: of libibverbs, which has none. */
static void check(int mtu_bytes, int path_mtu_bytes, enum fault_code expected, int records,
                  const char *what)
{
    const char *node_name[] = {"n1", "n2"};
    struct program program = {.node_name = node_name, .node_count = 2};
    struct link_result result = {.from = 0,
                                 .to = 1,
                                 .rail = "mlx5_0:1",
                                 .is_verbs = mtu_bytes == 0,
                                 .verb = VERB_WRITE,
                                 .scope = VERB_PAIR,
                                 .mtu_bytes = mtu_bytes,
                                 .path_mtu_bytes = path_mtu_bytes,
                                 .failure = "no answer"};
    struct pass_schedule pass_schedule = {.kind = mtu_bytes == 0 ? PASS_VERBS : PASS_PAIRS};

    failures = path_mtus = 0;
    linkreport_round(&program, &pass_schedule, 0, &(struct link_results){&result, 1}, 0);
    is_int(failures, 1, "%s fails", what);
    is_int(failed_with, expected, "... with the code for it");
    is_int(path_mtus, records, "... %s record of the MTU", records ? "and a" : "without a");
}

int main(void)
{
    check(9000, -1, FAULT_RAIL_FAULT, 0, "a path of an unknown MTU");
    check(9000, 9000, FAULT_RAIL_FAULT, 0, "a path of the full MTU");
    check(9000, 1500, FAULT_PATH_MTU_LOW, 1, "a path of a smaller MTU");
    check(0, -1, FAULT_RAIL_FAULT, 0, "RDMA");
    check(0, 512, FAULT_PATH_MTU_LOW, 0, "RDMA of which shorter packets arrive");
    return tap_done();
}
