/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/linkreport.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct record record_of(const struct program *program, const struct link_result *result,
                               const char *metric)
{
    struct record record = RECORD_INIT;

    record.test = "links";
    record.metric = metric;
    record.node = program->node_name[result->from];
    record.part = result->rail;
    record.peer = result->to >= 0 ? program->node_name[result->to] : NULL;
    return record;
}

static void report_failure(const struct program *program, const struct link_result *result)
{
    struct record record = record_of(program, result, result->to < 0 ? "state" : "bandwidth");
    char message[512];

    record.verdict = VERDICT_FAIL;
    if (result->to < 0) {
        record.verdict = *result->rail ? VERDICT_FAIL : VERDICT_UNKNOWN;
        record.message = result->failure;
        output_record(&record);
        return;
    }
    snprintf(message, sizeof message, "%s %s -> %s %s: %s", record.node, result->rail, record.peer,
             result->peer_rail, result->failure);
    record.message = message;
    record.value = 0;
    record.unit = "Mb/s";
    output_record(&record);
}

static void report_latency(const struct program *program, const struct link_result *result)
{
    struct record record = record_of(program, result, "latency");

    if (result->latency_count == 0)
        return;
    record.value = result->latency_us;
    record.low = result->latency_low_us;
    record.high = result->latency_high_us;
    record.samples = (unsigned)result->latency_count;
    record.unit = "us";
    output_record(&record);
}

static void report_bandwidth(const struct program *program, const struct link_result *result,
                             double floor_percent)
{
    struct record record = record_of(program, result, "bandwidth");
    char message[160];

    record.value = result->bandwidth_mbps;
    record.low = result->bandwidth_low_mbps;
    record.high = result->bandwidth_high_mbps;
    record.samples = (unsigned)result->bandwidth_count;
    record.unit = "Mb/s";
    if (floor_percent > 0 && result->nominal_mbps > 0) {
        record.limit = result->nominal_mbps * floor_percent / 100;
        record.limit_source = "nominal";
        record.verdict = record.value < record.limit ? VERDICT_FAIL : VERDICT_PASS;
        snprintf(message, sizeof message, "%.1f of %g Mb/s nominal", record.value,
                 result->nominal_mbps);
        record.message = message;
    }
    output_record(&record);
}

/* The transport in use: the NIC must have counted what UCX sent through it. */
static void report_path(const struct program *program, const struct link_result *result)
{
    struct record record = record_of(program, result, "path");
    char message[256];
    bool is_short = result->counted_bytes < result->sent_bytes;

    record.unit = "bytes";
    record.limit = result->sent_bytes;
    record.limit_source = "sent";
    record.verdict = is_short ? VERDICT_FAIL : VERDICT_PASS;
    if (result->counted_bytes < 0) {
        record.verdict = VERDICT_UNKNOWN;
        snprintf(message, sizeof message, "%s: %.1f MB sent, %s does not count", result->transport,
                 1e-6 * result->sent_bytes, result->rail);
    } else {
        record.value = result->counted_bytes;
        snprintf(message, sizeof message, "%s: %.1f MB sent, %s counted %.1f MB%s",
                 result->transport, 1e-6 * result->sent_bytes, result->rail,
                 1e-6 * result->counted_bytes, is_short ? ": the data took another way" : "");
    }
    record.message = message;
    output_record(&record);
}

static void report_damage(const struct program *program, const struct link_result *result)
{
    struct record record = record_of(program, result, "damaged");
    char message[512];

    record.value = result->damaged;
    record.unit = "count";
    record.verdict = VERDICT_FAIL;
    snprintf(message, sizeof message, "%s %s -> %s %s: %.0f of the last %d messages are damaged",
             record.node, result->rail, record.peer, result->peer_rail, result->damaged,
             CHANNEL_WINDOW);
    record.message = message;
    output_record(&record);
}

static void report(const struct program *program, const struct link_result *result,
                   double floor_percent)
{
    if (result->failure[0]) {
        report_failure(program, result);
        return;
    }
    report_bandwidth(program, result, floor_percent);
    report_latency(program, result);
    report_path(program, result);
    if (result->damaged > 0)
        report_damage(program, result);
}

void linkreport_speeds(struct program *program, const struct offers *own)
{
    struct offers *all = NULL;
    MPI_Request request;

    if (program->rank == 0 && !(all = calloc((size_t)program->node_count, sizeof *all)))
        watch_fault("out of memory");
    MPI_Igather(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, 0, program->leaders,
                &request);
    program_wait(program, &request, -1);
    for (int node = 0; all && node < program->node_count; node++)
        for (int i = 0; i < all[node].count; i++) {
            struct record record = RECORD_INIT;

            record.test = "links";
            record.metric = "speed";
            record.node = program->node_name[node];
            record.part = all[node].rails[i].name;
            record.value = all[node].rails[i].nominal_mbps;
            record.unit = "Mb/s";
            if (record.value > 0)
                output_record(&record);
        }
    free(all);
}

void linkreport_gather(struct program *program, struct link_results *results, double floor_percent)
{
    size_t nodes = (size_t)program->node_count;
    int *sizes = calloc(nodes, sizeof *sizes), *offsets = calloc(nodes, sizeof *offsets);
    int size = results->count * (int)sizeof *results->items, total = 0;
    struct link_result *all = NULL;
    MPI_Request request;

    if (!sizes || !offsets)
        watch_fault("out of memory");
    MPI_Igather(&size, 1, MPI_INT, sizes, 1, MPI_INT, 0, program->leaders, &request);
    program_wait(program, &request, -1);
    for (size_t i = 0; i < nodes; i++) {
        offsets[i] = total;
        total += sizes[i];
    }
    if (program->rank == 0 && !(all = malloc((size_t)total + 1)))
        watch_fault("out of memory");
    MPI_Igatherv(results->items, size, MPI_BYTE, all, sizes, offsets, MPI_BYTE, 0, program->leaders,
                 &request);
    program_wait(program, &request, -1);
    for (size_t i = 0; program->rank == 0 && i < (size_t)total / sizeof *all; i++)
        report(program, &all[i], floor_percent);
    results->count = 0;
    free(all);
    free(sizes);
    free(offsets);
}

void linkreport_unknown(const char *format, ...)
{
    struct record record = RECORD_INIT;
    char message[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    record.test = "links";
    record.metric = "complete";
    record.verdict = VERDICT_UNKNOWN;
    record.message = message;
    output_record(&record);
}
