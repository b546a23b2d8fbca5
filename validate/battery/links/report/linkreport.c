/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/report/linkreport.h"

#include <math.h>

#include "lib/base/text.h"
#include "validate/battery/links/report/sums.h"
#include "validate/battery/links/report/verbsreport.h"
#include "validate/battery/verbs/verb.h"

static void report_state(const struct program *program, const struct link_result *result)
{
    struct record record = LINKREPORT(program, result, "state", .message = result->failure,
                                      .verdict = *result->rail ? VERDICT_FAIL : VERDICT_UNKNOWN);

    output_record(&record);
}

/* Whether long frames are lost on the path, or the other end takes none as long. */
static bool is_cut(const struct link_result *result)
{
    return result->path_mtu_bytes > 0 && result->path_mtu_bytes < result->mtu_bytes;
}

static void report_failure(const struct program *program, const struct link_result *result,
                           const char *metric)
{
    /* of libibverbs it is known only if long packets are lost */
    bool is_low = is_cut(result) || (result->is_verbs && result->path_mtu_bytes > 0);
    struct record record =
        LINKREPORT(program, result, metric, .value = 0, .unit = "Mb/s", .verdict = VERDICT_FAIL,
                   .code = is_low ? FAULT_PATH_MTU_LOW : FAULT_RAIL_FAULT);

    output_report(record, "%s %s -> %s %s: %s%s", record.node, result->rail, record.peer,
                  result->peer_rail, result->failure,
                  is_cut(result) ? "; packets of the full MTU do not arrive" : "");
}

static const char *stop_name(int stop)
{
    return stop == PATH_STOP_INTERVAL ? "interval" : "budget";
}

static void report_latency(const struct program *program, const struct link_result *result,
                           const char *metric)
{
    struct record record = LINKREPORT(
        program, result, metric, .value = result->latency_us, .low = result->latency_low_us,
        .high = result->latency_high_us, .samples = (unsigned)result->latency_count,
        .outliers = result->latency_outliers, .stalled = result->latency_stalled,
        .stopped = stop_name(result->latency_stop), .unit = "us");

    if (result->latency_count > 0)
        output_record(&record);
}

/* shared: pairs that used the same uplink at that time; 0: none. */
static void report_bandwidth(const struct program *program, const struct link_result *result,
                             const char *metric, int shared, double floor_percent)
{
    struct record record = LINKREPORT(
        program, result, metric, .round = result->sub_round, .value = result->bandwidth_mbps,
        .low = result->bandwidth_low_mbps, .high = result->bandwidth_high_mbps,
        .lowest = result->bandwidth_lowest_mbps, .samples = (unsigned)result->bandwidth_count,
        .outliers = result->bandwidth_outliers, .stalled = result->stalled,
        .stopped = stop_name(result->bandwidth_stop), .unit = "Mb/s");

    if (shared > 0)
        record.shared = shared;
    if (floor_percent > 0 && result->nominal_mbps > 0) {
        record.limit = result->nominal_mbps * floor_percent / 100;
        record.limit_source = "nominal";
        record.verdict = record.value < record.limit ? VERDICT_FAIL : VERDICT_PASS;
        record.code = FAULT_RAIL_SLOW;
        output_report(record, "%.1f of %g Mb/s nominal", record.value, result->nominal_mbps);
    } else if (floor_percent > 0) {
        record.verdict = VERDICT_UNKNOWN;
        output_report(record,
                      "the nominal speed of %s is unknown, so %g %% of it is unknown too; set "
                      "NominalSpeed",
                      record.part, floor_percent);
    } else {
        record.message = result->is_verbs ? result->transport : NULL;
        output_record(&record);
    }
}

/* Reports the transport in use. The NIC must have counted what UCX sent through it. */
static void report_path(const struct program *program, const struct link_result *result)
{
    bool is_short = result->counted_bytes < result->sent_bytes;
    struct record record =
        LINKREPORT(program, result, "path", .unit = "bytes", .limit = result->sent_bytes,
                   .limit_source = "sent", .verdict = is_short ? VERDICT_FAIL : VERDICT_PASS,
                   .code = FAULT_RAIL_WRONG_PATH);
    char mtu[48] = "";

    if (result->path_mtu_bytes > 0 && result->path_mtu_bytes >= result->mtu_bytes)
        snprintf(mtu, sizeof mtu, ", MTU %d end to end", result->path_mtu_bytes);
    if (result->counted_bytes >= 0)
        record.value = result->counted_bytes;
    if (result->is_wrong_transport) {
        record.verdict = VERDICT_FAIL;
        output_report(record, "the data of %s went by %s", result->rail, result->transport);
    } else if (result->counted_bytes < 0) {
        record.verdict = VERDICT_UNKNOWN;
        record.code = FAULT_NOT_MEASURED;
        output_report(record, "%s%s: %.1f MB sent, %s has no counter for it, or lost count",
                      result->transport, mtu, 1e-6 * result->sent_bytes, result->rail);
    } else {
        output_report(record, "%s%s: %.1f MB sent, %s counted %.1f MB%s", result->transport, mtu,
                      1e-6 * result->sent_bytes, result->rail, 1e-6 * result->counted_bytes,
                      is_short ? ": the data took a different path" : "");
    }
}

static void report_damage(const struct program *program, const struct link_result *result)
{
    struct record record =
        LINKREPORT(program, result, "damaged", .value = result->damaged, .unit = "count",
                   .verdict = VERDICT_FAIL, .code = FAULT_DATA_DAMAGED);

    output_report(record, "%s %s -> %s %s: %.0f of the last messages are damaged", record.node,
                  result->rail, record.peer, result->peer_rail, result->damaged);
}

/* Reports the errors that a NIC, or its PCIe link, counted while it was used. */
static void report_errors(const struct program *program, int node, const char *rail, int peer,
                          const struct errors *errors)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        const struct error_kind *error = &error_kinds[kind];

        if (errors->counts[kind] > 0)
            output_report(
                RECORD(.test = "links", .metric = error->name, .node = program->node_name[node],
                       .part = rail, .peer = program->node_name[peer],
                       .value = errors->counts[kind], .unit = "count", .code = error->fault,
                       .verdict = error->fault != FAULT_NONE ? VERDICT_WARN : VERDICT_NONE),
                "%s of %s counted %.0f more %s%s while %s was at the other end%s%s", rail,
                program->node_name[node], errors->counts[kind], error->name, text_of(error->way),
                program->node_name[peer], error->meaning ? ": " : "", text_of(error->meaning));
    }
}

static void report_path_mtu(const struct program *program, const struct link_result *result)
{
    struct record record =
        LINKREPORT(program, result, "path_mtu", .value = result->path_mtu_bytes,
                   .limit = result->mtu_bytes, .limit_source = "sysfs", .unit = "bytes");

    output_report(record,
                  "%s %s -> %s %s: packets of %d bytes are lost, packets of %d bytes arrive; check "
                  "the MTU of the other end and of the switches between",
                  record.node, result->rail, record.peer, result->peer_rail, result->mtu_bytes,
                  result->path_mtu_bytes);
}

/* Reports how many of TCP's segments the sender had to send again, and how many it sent. */
static void report_loss(const struct program *program, const struct link_result *result,
                        const char *metric, const struct segments *segments)
{
    struct record record = LINKREPORT(program, result, metric, .value = segments->lost,
                                      .samples = (unsigned)segments->sent, .unit = "count");

    if (segments->sent > 0)
        output_record(&record);
}

/* Reports the receiver's figure, to compare with the sender's. */
static void report_received(const struct program *program, const struct link_result *result)
{
    struct record record = LINKREPORT(program, result, "bandwidth_received",
                                      .value = result->received_mbps, .unit = "Mb/s");

    if (result->arrived_mbps > 0)
        record.high = result->arrived_mbps;
    if (result->received_mbps > 0)
        output_record(&record);
}

static void report(const struct program *program, const struct pass_schedule *pass_schedule,
                   int round, const struct link_result *result, double floor_percent)
{
    bool is_pairs = pass_schedule->kind == PASS_PAIRS;
    bool has_floor = result->is_verbs ? result->scope == VERB_PAIR : is_pairs;
    char verb_bandwidth[48], verb_latency[48];
    const char *bandwidth = pass_metric(pass_schedule->kind), *latency = "latency";
    int shared =
        result->to >= 0 ? pass_schedule_pair_load(program, pass_schedule, round, result->from) : 0;
    bool is_short = result->counted_bytes >= 0 && result->counted_bytes < result->sent_bytes;

    if (result->is_state || result->is_gpu_memory) {
        verbsreport_port(program, result);
        return;
    }
    if (result->is_verbs) {
        enum verb verb = (enum verb)result->verb;
        enum verb_scope scope = (enum verb_scope)result->scope;

        bandwidth = verb_metric("bandwidth", verb, scope, verb_bandwidth, sizeof verb_bandwidth);
        latency = verb_metric("latency", verb, scope, verb_latency, sizeof verb_latency);
    }
    report_errors(program, result->from, result->rail, result->to, &result->errors);
    report_errors(program, result->to, result->peer_rail, result->from, &result->peer_errors);
    if (is_cut(result))
        report_path_mtu(program, result);
    verbsreport_loss(program, result);
    if (result->failure[0]) {
        report_failure(program, result, bandwidth);
        return;
    }
    report_bandwidth(program, result, bandwidth, shared, has_floor ? floor_percent : 0);
    if (is_pairs) {
        report_received(program, result);
        report_loss(program, result, "lost_pings", &result->pings);
        report_loss(program, result, "lost_segments", &result->stream);
    }
    report_latency(program, result, latency);
    if (is_pairs || is_short || result->is_wrong_transport)
        report_path(program, result);
    if (result->damaged > 0)
        report_damage(program, result);
}

void linkreport_speeds(const struct program *program, int node, const struct rail_infos *rail_infos)
{
    for (int i = 0; i < rail_infos->count; i++) {
        struct record record =
            RECORD(.test = "links", .metric = "speed", .node = program->node_name[node],
                   .part = rail_infos->rails[i].name, .value = rail_infos->rails[i].nominal_mbps,
                   .unit = "Mb/s");

        if (record.value > 0)
            output_record(&record);
    }
}

void linkreport_states(const struct program *program, const struct link_results *results)
{
    for (int i = 0; i < results->count; i++)
        report_state(program, &results->items[i]);
}

void linkreport_round(const struct program *program, const struct pass_schedule *pass_schedule,
                      int round, struct link_results *results, double floor_percent)
{
    if (pass_is_for_all(pass_schedule->kind))
        sums_report(program, pass_schedule, round, results);
    for (int i = 0; i < results->count; i++)
        report(program, pass_schedule, round, &results->items[i], floor_percent);
    verbsreport_striping(program, results);
}

void linkreport_pass(const struct program *program, const struct pass_schedule *pass_schedule,
                     int rounds, bool is_wanted, double pass_s, double run_s)
{
    struct record record =
        RECORD(.test = "links", .metric = "rounds", .part = pass_name(pass_schedule->kind),
               .value = rounds, .limit = pass_schedule->rounds, .limit_source = "expected",
               .unit = "count",
               .verdict = rounds >= pass_schedule->enough ? VERDICT_PASS
                          : is_wanted                     ? VERDICT_UNKNOWN
                                                          : VERDICT_SKIP);

    if (record.verdict == VERDICT_UNKNOWN)
        output_report(record, "time limit of %g s reached: %d of %d rounds measured, %d needed",
                      program->common.time_limit_s, rounds, pass_schedule->once,
                      pass_schedule->enough);
    else
        output_report(record, "%d of %d rounds in %.1f s, %.1f s of the limit of %g s left", rounds,
                      pass_schedule->rounds, pass_s, fmax(program->common.time_limit_s - run_s, 0),
                      program->common.time_limit_s);
}

void linkreport_lost(const struct program *program, int node, int sub_round)
{
    output_report(RECORD(.test = "links", .metric = "complete", .node = program->node_name[node],
                         .verdict = VERDICT_UNKNOWN),
                  "%s was lost: all that it had not measured by round %d is unknown",
                  program->node_name[node], sub_round);
}

void linkreport_unknown(const char *format, ...)
{
    char message[512];

    TEXT_FORMAT(message, sizeof message, format);
    output_report(RECORD(.test = "links", .metric = "complete", .verdict = VERDICT_UNKNOWN), "%s",
                  message);
}
