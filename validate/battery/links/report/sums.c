/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/report/sums.h"

#include <stdlib.h>

#include "validate/battery/links/path/samples.h"

/* The side that a node is on. */
static int side_of(const struct program *program, const struct pass_schedule *pass_schedule,
                   int round, int node)
{
    if (pass_schedule->kind == PASS_UPLINKS)
        return pass_schedule->blocks[node];
    return pass_schedule_is_first(program, pass_schedule, round, node) ? 0 : 1;
}

static const char *side_name(const struct pass_schedule *pass_schedule, int side)
{
    if (pass_schedule->kind == PASS_BISECTION)
        return side == 0 ? "first" : "second";
    return side < 0 ? "others" : pass_schedule->block_names[side];
}

/* Finds the results in the group of results->items[first]: members has their indices, flows[i] is
 * that of members[i]. Returns how many; *failed more could not be measured. */
static int select_group(const struct program *program, const struct pass_schedule *pass_schedule,
                        int round, const struct link_results *results, int first, int *members,
                        struct flow *flows, bool *is_done, int *failed)
{
    const struct link_result *one = &results->items[first];
    int from = side_of(program, pass_schedule, round, one->from), count = 0;
    int to = side_of(program, pass_schedule, round, one->to);

    *failed = 0;
    for (int i = first; i < results->count; i++) {
        const struct link_result *result = &results->items[i];

        if (side_of(program, pass_schedule, round, result->from) != from ||
            side_of(program, pass_schedule, round, result->to) != to)
            continue;
        is_done[i] = true;
        if (*result->failure) {
            ++*failed;
            continue;
        }
        flows[count] = (struct flow){result->marks_s, result->mark_count, result->mark_bytes};
        members[count++] = i;
    }
    return count;
}

static void report_sum(const struct pass_schedule *pass_schedule, const char *from, const char *to,
                       struct link_results *results, const int *members, const struct flow *flows,
                       int count, int failed)
{
    struct record record;
    char part[160];
    double begin_s, end_s, sum = 0;

    snprintf(part, sizeof part, "%s %.60s-%.60s",
             pass_schedule->kind == PASS_UPLINKS ? "uplink" : "bisection", from, to);
    record = RECORD(.test = "links", .metric = pass_metric(pass_schedule->kind), .part = part);
    if (!flows_window(flows, count, &begin_s, &end_s)) {
        record.verdict = VERDICT_UNKNOWN;
        output_report(record, "%d flows, %d failed: they never all ran at the same time",
                      count + failed, failed);
        return;
    }
    for (int i = 0; i < count; i++) {
        double mbps = flow_mbps(&flows[i], begin_s, end_s);

        pair_run_set_bandwidth(&results->items[members[i]], mbps);
        sum += mbps;
    }
    record.value = sum;
    record.unit = "Mb/s";
    record.samples = (unsigned)count;
    output_report(record, "%d flows at once for %.0f ms, %d failed", count, 1e3 * (end_s - begin_s),
                  failed);
}

void sums_report(const struct program *program, const struct pass_schedule *pass_schedule,
                 int round, struct link_results *results)
{
    size_t size = (size_t)results->count + 1;
    struct flow *flows = watch_allocate(size, sizeof *flows);
    int *members = watch_allocate(size, sizeof *members);
    bool *is_done = watch_allocate(size, sizeof *is_done);

    for (int i = 0; i < results->count; i++) {
        const struct link_result *result = &results->items[i];
        int count, failed;

        if (is_done[i])
            continue;
        count = select_group(program, pass_schedule, round, results, i, members, flows, is_done,
                             &failed);
        report_sum(pass_schedule,
                   side_name(pass_schedule, side_of(program, pass_schedule, round, result->from)),
                   side_name(pass_schedule, side_of(program, pass_schedule, round, result->to)),
                   results, members, flows, count, failed);
    }
    free(flows);
    free(members);
    free(is_done);
}
