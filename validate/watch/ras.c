/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/ras.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/memory_stream.h"
#include "lib/constants/watch_constants.h"
#include "validate/watch/read.h"

void ras_clear(struct ras *ras)
{
    free(ras->comms);
    *ras = (struct ras){0};
}

/* ---------------------------------------------------------------- JSON */

static void rank_read(json_t *item, struct ras_rank *rank)
{
    const char *host = "";
    int pid = 0;

    json_unpack(item, "{s?is?ss?i}", "rank", &rank->rank, "host", &host, "pid", &pid);
    snprintf(rank->host, sizeof rank->host, "%.*s", (int)strcspn(host, ", "), host);
    rank->pid = pid;
}

/* Returns the number of operations that the rank has launched. */
static double operations_of(json_t *rank)
{
    const char *name;
    json_t *count;
    double sum = 0;

    json_object_foreach(json_object_get(rank, "collective_counts"), name, count) sum +=
        json_number_value(count);
    return sum;
}

static void comm_read(json_t *item, struct ras_comm *comm)
{
    json_t *ranks = json_object_get(item, "ranks"),
           *missing = json_object_get(item, "missing_ranks"), *rank;
    const char *hash = json_string_value(json_object_get(item, "hash"));
    size_t i;

    snprintf(comm->name, sizeof comm->name, "%.*s", hash ? (int)strcspn(hash, ", ") : 0,
             hash ? hash : "");
    json_array_foreach(ranks, i, rank)
    {
        double operations = operations_of(rank);

        if (i == 0 || operations < comm->least) {
            comm->least = operations;
            comm->behind_count = 0;
            rank_read(rank, &comm->behind);
        }
        if (operations > comm->most)
            comm->most = operations;
        comm->behind_count += operations == comm->least;
        comm->total += operations;
    }
    if (comm->least == comm->most)
        comm->behind_count = 0;
    json_array_foreach(missing, i, rank)
    {
        json_t *status = json_object_get(rank, "status");

        /* a rank that answers and is no member is starting or has ended: no fault */
        if (!json_is_true(json_object_get(status, "unresponsive")) &&
            !json_is_true(json_object_get(status, "considered_dead")))
            continue;
        if (comm->missing_count++ == 0)
            rank_read(rank, &comm->missing);
        comm->is_dead |= json_is_true(json_object_get(status, "considered_dead"));
    }
}

/* NCCL 2.28.7 and 2.28.9 leave out the comma before the "status" of a missing rank
 * (jsonWriteMissingRank() of src/ras/client_support.cc). Returns the answer with it; malloc'd, NULL
 * if memory is out. */
static char *commas_add(const char *answer)
{
    static const char key[] = "\"status\"";
    char *text = NULL;
    size_t size;
    FILE *stream = memory_stream(&text, &size);
    const char *at, *end;

    for (; stream && (at = strstr(answer, key)); answer = at + strlen(key)) {
        for (end = at; end > answer && isspace((unsigned char)end[-1]);)
            end--;
        fprintf(stream, "%.*s%s%s", (int)(end - answer), answer,
                end > answer && isdigit((unsigned char)end[-1]) ? "," : "", key);
    }
    if (stream) {
        fputs(answer, stream);
        fclose(stream);
    }
    return text;
}

static int json_parse(const char *answer, struct ras *ras)
{
    json_t *whole = json_loads(answer, 0, NULL), *list, *item;
    char *mended = whole ? NULL : commas_add(answer);
    struct ras_comm rest = {0};
    size_t i, kept[2] = {0};

    if (mended)
        whole = json_loads(mended, 0, NULL);
    free(mended);
    list = json_object_get(whole, "communicators");
    if (!json_is_array(list)) {
        json_decref(whole);
        return -1;
    }
    json_array_foreach(list, i, item)
    {
        struct ras_comm comm = {0};
        size_t *of_kind;

        comm_read(item, &comm);
        of_kind = &kept[comm.missing_count > 0];
        if (comm.missing_count + comm.behind_count > 0 && *of_kind < WATCH_RAS_COMMS &&
            GROW(ras->comms, ras->comm_count)) {
            ras->comms[ras->comm_count++] = comm;
            ++*of_kind;
            continue;
        }
        rest.total += comm.total;
        rest.missing_count += comm.missing_count;
        rest.behind_count += comm.behind_count;
    }
    json_decref(whole);
    if (i > ras->comm_count && GROW(ras->comms, ras->comm_count))
        ras->comms[ras->comm_count++] = rest;
    return 0;
}

/* ---------------------------------------------------------------- text */

/* Counts `count` ranks that have launched the operations up to this one. */
static void operation_take(struct ras_comm *comm, int count, double operation)
{
    if (comm->behind_count == 0 || operation < comm->least) {
        comm->least = operation;
        comm->behind_count = 0;
    }
    if (operation == comm->least)
        comm->behind_count += count;
    if (operation > comm->most)
        comm->most = operation;
    comm->total += operation * count;
}

/* The kind of the ranks on the following lines: >= 0: those up to this operation; or one of these.
 */
enum { RANKS_OTHER = -1, RANKS_MISSING = -2 };

/* "GPU 0 (NVML 3)" if the process does not see all GPUs of the node. */
#define BY_PROCESS " -- GPU %*[^m]managed by process %ld on node %63s"

static void line_read(const char *line, struct ras_comm *comm, double *ranks)
{
    struct ras_rank rank = {.rank = -1};
    double at = 0;
    int count, end = 0;

    if (sscanf(line, " Process %ld on node %63s managing", &rank.pid, rank.host) == 2) {
        if (comm->missing_count++ == 0)
            comm->missing = rank;
    } else if (sscanf(line, " The missing rank: %d", &rank.rank) == 1) { /* until 2.24 */
        comm->missing.rank = rank.rank;
    } else if (sscanf(line, " Missing communicator data from %d rank%n", &count, &end) == 1 &&
               end > 0) {
        *ranks = RANKS_MISSING;
    } else if (sscanf(line, " %d ranks have launched up to operation %lf", &count, &at) == 2 ||
               (sscanf(line, " %d ranks have not launched any%n", &count, &end) == 1 && end > 0)) {
        operation_take(comm, count, at);
        *ranks = at;
    } else if (sscanf(line, " Rank %d has launched up to operation %lf" BY_PROCESS, &rank.rank, &at,
                      &rank.pid, rank.host) == 4 ||
               sscanf(line, " Rank %d has not launched any operations" BY_PROCESS, &rank.rank,
                      &rank.pid, rank.host) == 3) {
        operation_take(comm, 1, at);
        if (at == comm->least)
            comm->behind = rank;
    } else if (sscanf(line, " Rank %d" BY_PROCESS, &rank.rank, &rank.pid, rank.host) == 3) {
        if (*ranks == RANKS_MISSING && rank.pid == comm->missing.pid)
            comm->missing.rank = rank.rank;
        if (*ranks >= 0 &&
            *ranks == comm->least) /* the first of the ranks that the last line counted */
            comm->behind = rank;
        if (*ranks >= 0)
            *ranks = RANKS_OTHER;
    }
}

/* Parses text, which lists only outliers, as one communicator, of which only missing and late ranks
 * are known. */
static int text_parse(const char *answer, struct ras *ras)
{
    char *text = strdup(answer), *rest = text, *line;
    struct ras_comm comm = {.missing.rank = -1, .behind.rank = -1};
    double ranks = RANKS_OTHER;
    bool is_answer = false;

    while (rest && (line = strsep(&rest, "\n"))) {
        is_answer |= strncmp(line, "Job summary", 11) == 0;
        line_read(line, &comm, &ranks);
    }
    free(text);
    if (comm.least == comm.most || comm.behind.pid == 0)
        comm.behind_count = 0;
    if (!is_answer || !GROW(ras->comms, ras->comm_count))
        return -1;
    ras->comms[ras->comm_count++] = comm;
    return 0;
}

int ras_parse(const char *answer, struct ras *ras)
{
    const char *json = strchr(answer, '{');

    if ((!json || json_parse(json, ras) != 0) && text_parse(answer, ras) != 0)
        return -1;
    ras->is_answered = true;
    return 0;
}

/* ---------------------------------------------------------------- the port */

static bool address_read(const char *address, struct sockaddr_in *to)
{
    char host[64];
    unsigned port;

    *to = (struct sockaddr_in){.sin_family = AF_INET};
    if (sscanf(address, "%63[^:]:%u", host, &port) != 2 || port > 65535)
        return false;
    to->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &to->sin_addr) ==
           1;
}

/* Returns all that the other end sends until it closes, malloc'd; NULL if it did not close in time.
 */
static char *answer_read(int fd, double end_s)
{
    char *text = NULL, piece[16384];
    size_t size, length = 0;
    FILE *stream = memory_stream(&text, &size);
    ssize_t got = -1;

    while (stream && length < WATCH_RAS_BYTES && clock_s() < end_s &&
           (got = read(fd, piece, sizeof piece)) > 0)
        length += fwrite(piece, 1, (size_t)got, stream);
    if (stream)
        fclose(stream);
    if (got != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Whether the port is trusted: a process of any user may listen on a loopback port. */
static bool is_trusted(const struct sockaddr_in *to, uid_t uid)
{
    in_addr_t address = ntohl(to->sin_addr.s_addr);

    return (address >> IN_CLASSA_NSHIFT != IN_LOOPBACKNET && address != INADDR_ANY) ||
           watch_listens(to, uid);
}

int ras_query(const char *address, uid_t uid, double deadline_s, struct ras *ras)
{
    /* A version without JSON refuses the format and answers in text. Its own timeout ends before
     * ours, so that it answers even if some ranks do not. */
    static const char request[] = "TIMEOUT 2\nSET FORMAT json\nVERBOSE STATUS\n";
    const struct timeval limit = {.tv_sec = (time_t)deadline_s};
    double end_s = clock_s() + deadline_s;
    struct sockaddr_in to;
    char *answer = NULL;
    int fd, rv = -1;

    if (!address_read(address, &to) || !is_trusted(&to, uid) ||
        (fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 &&
        send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == sizeof request - 1)
        answer = answer_read(fd, end_s);
    if (answer)
        rv = ras_parse(answer, ras);
    free(answer);
    close(fd);
    return rv;
}
