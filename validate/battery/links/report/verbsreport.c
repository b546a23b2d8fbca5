/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/report/verbsreport.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/constants/battery_constants.h"
#include "validate/battery/verbs/verb.h"

static const char LOSS_COUNTER[] = "rdma_retransmits";

void verbsreport_port(const struct program *program, const struct link_result *result)
{
    struct record record =
        linkreport_record(program, result, result->is_state ? "state" : "gpu_memory");

    if (result->is_state) {
        record.verdict = VERDICT_FAIL;
        record.message = result->failure;
        if (result->to == result->from)
            record.peer = NULL;
        output_record(&record);
        return;
    }
    record.peer = NULL;
    record.verdict = result->has_gpu_memory ? VERDICT_PASS
                     : result->has_gpu      ? VERDICT_WARN
                                            : VERDICT_SKIP;
    record.code = FAULT_GPU_HOST_COPIES;
    output_report(record, "%s%s", result->failure,
                  result->has_gpu_memory ? ""
                  : result->has_gpu      ? ": GPU data goes through host memory"
                                         : ": no GPU found");
}

void verbsreport_figures(const struct program *program, const struct link_result *result,
                         const char *metric, int shared, double floor_percent)
{
    char latency[48];

    verb_metric("latency", (enum verb)result->verb, (enum verb_scope)result->scope, latency,
                sizeof latency);
    linkreport_bandwidth(program, result, metric, shared,
                         result->scope == VERB_PAIR ? floor_percent : 0);
    linkreport_latency(program, result, latency);
}

static double retransmits(const struct errors *errors)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++)
        if (strcmp(error_name(kind), LOSS_COUNTER) == 0)
            return errors->counts[kind];
    return 0;
}

void verbsreport_loss(const struct program *program, const struct link_result *result)
{
    struct record record = linkreport_record(program, result, "loss");
    double lost = retransmits(&result->errors) + retransmits(&result->peer_errors), packets;

    if (result->packet_bytes <= 0 || lost <= 0 || result->to < 0)
        return;
    packets = fmax(ceil(result->sent_bytes / result->packet_bytes), lost);
    record.value = lost / packets;
    record.unit = "1";
    record.limit = VERBS_LOSS_LIMIT;
    record.limit_source = "expected";
    if (record.value <= VERBS_LOSS_LIMIT)
        return;
    record.verdict = VERDICT_WARN;
    record.code = FAULT_PATH_LOSS;
    output_report(
        record,
        "%s %s -> %s %s: the ports counted %.0f packets out of order or retransmitted, of "
        "about %.0f: this path loses packets; check its cables, and flow control (PFC) of "
        "%s, %s and the switch ports between",
        record.node, result->rail, record.peer, result->peer_rail, lost, packets, result->rail,
        result->peer_rail);
}

/* Rails of the same direction of the same pair. */
static bool is_alike(const struct link_result *a, const struct link_result *b)
{
    return a->from == b->from && a->to == b->to;
}

/* Writes on one rail alone. */
static bool is_candidate(const struct link_result *result)
{
    return result->is_verbs && result->verb == VERB_WRITE && result->scope == VERB_PAIR &&
           !result->is_state && !result->is_gpu_memory && !result->failure[0] &&
           result->bandwidth_mbps > 0;
}

static void report_striping(const struct program *program, const struct link_result *slow,
                            const struct link_result *fast, int count)
{
    struct record record = linkreport_record(program, slow, "striping");
    double even_mbps = count * slow->bandwidth_mbps;

    record.value = even_mbps;
    record.unit = "Mb/s";
    record.limit = fast->bandwidth_mbps;
    record.limit_source = "peers";
    record.verdict = VERDICT_WARN;
    record.code = FAULT_RAIL_UNEVEN;
    output_report(
        record,
        "%s %s -> %s carries %.1f Mb/s, %s %.1f: messages striped evenly over %d rails get %.1f in "
        "total, less than from %s alone; repair %s or leave it out of FabricInterfaces",
        record.node, slow->rail, record.peer, slow->bandwidth_mbps, fast->rail,
        fast->bandwidth_mbps, count, even_mbps, fast->rail, slow->rail);
}

void verbsreport_striping(const struct program *program, const struct link_results *results)
{
    for (int i = 0; i < results->count; i++) {
        const struct link_result *slow = &results->items[i], *fast = slow;
        int count = 0;
        bool is_first = true;

        if (!is_candidate(slow))
            continue;
        for (int j = 0; j < results->count; j++) {
            const struct link_result *one = &results->items[j];

            if (!is_candidate(one) || !is_alike(one, &results->items[i]))
                continue;
            is_first &= j >= i;
            count++;
            if (one->bandwidth_mbps < slow->bandwidth_mbps)
                slow = one;
            if (one->bandwidth_mbps > fast->bandwidth_mbps)
                fast = one;
        }
        if (is_first && count > 1 && count * slow->bandwidth_mbps < fast->bandwidth_mbps)
            report_striping(program, slow, fast, count);
    }
}
