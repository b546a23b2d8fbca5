/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/utf8.h"

void watch_sample_clear(struct watch_sample *sample)
{
    free(sample->ranks);
    free(sample->rails);
    free(sample->flows);
    ras_clear(&sample->ras);
    *sample = (struct watch_sample){0};
}

enum { WORD = 64 };

/* Returns text as one word of the line, whatever a job's processes put into it. */
static const char *word(const char *text, char copy[WORD])
{
    size_t length = 0;

    for (; text[length] && length < WORD - 1; length++)
        copy[length] =
            text[length] > ' ' && text[length] < 0x7f && text[length] != ',' ? text[length] : '?';
    copy[length] = '\0';
    return length > 0 ? copy : "-";
}

void watch_sample_write(const struct watch_sample *sample, FILE *stream)
{
    char words[3][WORD];

    fprintf(stream, "muster-watch %s %.6f %.0f %d", word(sample->node, words[0]), sample->time_s,
            sample->unread_bytes, sample->ras.is_answered);
    for (size_t i = 0; i < sample->rank_count; i++) {
        const struct watch_rank *rank = &sample->ranks[i];

        fprintf(stream, " r,%ld,%d,%ld,%c,%.3f,%.3f,%.0f", rank->step, rank->rank, rank->pid,
                rank->state, rank->cpu_s, rank->queued_s, rank->io_bytes);
    }
    for (size_t i = 0; i < sample->rail_count; i++) {
        const struct watch_rail *rail = &sample->rails[i];

        fprintf(stream, " l,%s,%s,%.0f,%.0f,%.0f,%.0f,%d", word(rail->name, words[0]),
                word(rail->address, words[1]), rail->sent_bytes, rail->received_bytes, rail->losses,
                rail->errors, rail->is_partial);
    }
    for (size_t i = 0; i < sample->flow_count; i++)
        fprintf(stream, " f,%s,%s,%.0f,%.2f", word(sample->flows[i].rail, words[0]),
                word(sample->flows[i].peer, words[1]), sample->flows[i].bytes,
                sample->flows[i].mbps);
    for (size_t i = 0; i < sample->ras.comm_count; i++) {
        const struct ras_comm *comm = &sample->ras.comms[i];

        fprintf(stream, " c,%s,%.0f,%.0f,%.0f,%d,%d,%d,%s,%ld,%d,%d,%s,%ld",
                word(comm->name, words[0]), comm->least, comm->most, comm->total, comm->is_dead,
                comm->missing_count, comm->missing.rank, word(comm->missing.host, words[1]),
                comm->missing.pid, comm->behind_count, comm->behind.rank,
                word(comm->behind.host, words[2]), comm->behind.pid);
    }
    fputc('\n', stream);
}

/* Parses one word, comma-separated fields of which the first is its type, into the sample. Returns
 * 0, or -1 if it is of no known type or memory is out. */
static int word_read(const char *text, struct watch_sample *sample)
{
    struct watch_rank rank;
    struct watch_rail rail;
    struct watch_flow flow;
    struct ras_comm comm;
    int is_dead, is_partial;

    if (sscanf(text, "r,%ld,%d,%ld,%c,%lf,%lf,%lf", &rank.step, &rank.rank, &rank.pid, &rank.state,
               &rank.cpu_s, &rank.queued_s, &rank.io_bytes) == 7 &&
        GROW(sample->ranks, sample->rank_count)) {
        sample->ranks[sample->rank_count++] = rank;
    } else if (sscanf(text, "l,%63[^,],%63[^,],%lf,%lf,%lf,%lf,%d", rail.name, rail.address,
                      &rail.sent_bytes, &rail.received_bytes, &rail.losses, &rail.errors,
                      &is_partial) == 7 &&
               GROW(sample->rails, sample->rail_count)) {
        rail.is_partial = is_partial;
        sample->rails[sample->rail_count++] = rail;
    } else if (sscanf(text, "f,%63[^,],%63[^,],%lf,%lf", flow.rail, flow.peer, &flow.bytes,
                      &flow.mbps) == 4 &&
               GROW(sample->flows, sample->flow_count)) {
        sample->flows[sample->flow_count++] = flow;
    } else if (sscanf(text, "c,%39[^,],%lf,%lf,%lf,%d,%d,%d,%63[^,],%ld,%d,%d,%63[^,],%ld",
                      comm.name, &comm.least, &comm.most, &comm.total, &is_dead,
                      &comm.missing_count, &comm.missing.rank, comm.missing.host, &comm.missing.pid,
                      &comm.behind_count, &comm.behind.rank, comm.behind.host,
                      &comm.behind.pid) == 13 &&
               GROW(sample->ras.comms, sample->ras.comm_count)) {
        comm.is_dead = is_dead;
        sample->ras.comms[sample->ras.comm_count++] = comm;
    } else {
        return -1;
    }
    return 0;
}

int watch_sample_parse(const char *line, struct watch_sample *sample)
{
    char *text = strdup(line), *rest = NULL;
    int length = 0, is_answered, rv = -1;

    *sample = (struct watch_sample){0};
    if (text)
        utf8_clean(text);
    if (text && sscanf(text, "muster-watch %63s %lf %lf %d%n", sample->node, &sample->time_s,
                       &sample->unread_bytes, &is_answered, &length) == 4) {
        rv = 0;
        sample->ras.is_answered = is_answered;
        for (char *item = strtok_r(text + length, " ", &rest); rv == 0 && item;
             item = strtok_r(NULL, " ", &rest))
            rv = word_read(item, sample);
    }
    free(text);
    if (rv != 0)
        watch_sample_clear(sample);
    return rv;
}
