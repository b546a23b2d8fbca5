/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/report/verbsreport.h"

#include <math.h>
#include <string.h>

#include "lib/constants/battery_constants.h"
#include "validate/battery/verbs/verb.h"

static const char LOSS_COUNTER[] = "rdma_retransmits";

void verbsreport_port(const struct program *program, const struct link_result *result)
{
    struct record record = LINKREPORT(program, result, "state", .verdict = VERDICT_FAIL);

    if (result->is_gpu_memory || result->to == result->from)
        record.peer = NULL;
    if (result->is_state) {
        output_report(record, "%s", result->failure);
        return;
    }
    record.metric = "gpu_memory";
    record.verdict = result->has_gpu_memory ? VERDICT_PASS
                     : result->has_gpu      ? VERDICT_WARN
                                            : VERDICT_SKIP;
    record.code = FAULT_GPU_HOST_COPIES;
    output_report(record, "%s%s", result->failure,
                  result->has_gpu_memory ? ""
                  : result->has_gpu      ? ": GPU data goes through host memory"
                                         : ": no GPU found");
}

static double retransmits(const struct errors *errors)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++)
        if (strcmp(error_kinds[kind].name, LOSS_COUNTER) == 0)
            return errors->counts[kind];
    return 0;
}

void verbsreport_loss(const struct program *program, const struct link_result *result)
{
    double lost = retransmits(&result->errors) + retransmits(&result->peer_errors), packets;
    struct record record;

    if (result->packet_bytes <= 0 || lost <= 0 || result->to < 0)
        return;
    packets = fmax(ceil(result->sent_bytes / result->packet_bytes), lost);
    if (lost / packets <= VERBS_LOSS_LIMIT)
        return;
    record = LINKREPORT(program, result, "loss", .value = lost / packets, .unit = "1",
                        .limit = VERBS_LOSS_LIMIT, .limit_source = "expected",
                        .verdict = VERDICT_WARN, .code = FAULT_PATH_LOSS);
    output_report(
        record,
        "%s %s -> %s %s: the ports counted %.0f packets out of order or retransmitted, of "
        "about %.0f: this path loses packets; check its cables, and flow control (PFC) of "
        "%s, %s and the switch ports between",
        record.node, result->rail, record.peer, result->peer_rail, lost, packets, result->rail,
        result->peer_rail);
}

/* Whether both are of the same direction of the same pair. */
static bool is_alike(const struct link_result *a, const struct link_result *b)
{
    return a->from == b->from && a->to == b->to;
}

/* Whether the result is of writes on one rail alone. */
static bool is_candidate(const struct link_result *result)
{
    return result->is_verbs && result->verb == VERB_WRITE && result->scope == VERB_PAIR &&
           !result->is_state && !result->is_gpu_memory && !result->failure[0] &&
           result->bandwidth_mbps > 0;
}

static void report_striping(const struct program *program, const struct link_result *slow,
                            const struct link_result *fast, int count)
{
    double even_mbps = count * slow->bandwidth_mbps;
    struct record record = LINKREPORT(program, slow, "striping", .value = even_mbps, .unit = "Mb/s",
                                      .limit = fast->bandwidth_mbps, .limit_source = "peers",
                                      .verdict = VERDICT_WARN, .code = FAULT_RAIL_UNEVEN);

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
