/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/meeting/lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "validate/battery/watch/beat.h"
#include "validate/battery/watch/warden.h" /* clock_s() */

/* Two partners meet, or give up, well before those who wait for all to begin (path_plan's
 * timeout_s) give up themselves. */
enum { CONNECT_MS = 2000, ANSWER_MS = 2000, MEET_S = 5, REST_MS = 50 };

/* How often a wait looks whether the other end was given up; all else wakes it. */
enum { LOST_MS = 250 };

struct lines {
    struct program *program;
    int listener;
    struct admission admission;
    struct beat_endpoint *endpoints; /* node_count */
    int *fds;                        /* node_count: to the first node, or at it to all; -1: none */
    int partner, partner_fd;         /* -1: none */
    struct pollfd *polled;           /* node_count, of the first node */
};

static bool is_lost(const struct lines *lines, int node)
{
    return watch_is_lost(lines->program->leader_of_node[node]);
}

/* Moves what can be moved now. Returns bytes, 0 when it would block, -1 when the line is lost. */
static ssize_t move_some(int fd, void *data, size_t size, bool sends)
{
    ssize_t moved = sends ? send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                          : recv(fd, data, size, MSG_DONTWAIT);

    if (moved < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return moved == 0 ? -1 : moved;
}

static void rest(int fd, short events, const struct lines_idle *idle)
{
    struct pollfd polled[1 + LINES_IDLE] = {{.fd = fd, .events = events}};
    int more = idle ? idle->work(idle->context, polled + 1) : 0;

    poll(polled, (nfds_t)(1 + (more > 0 ? more : 0)), more < 0 ? 1 : LOST_MS);
}

static int move_all(struct lines *lines, int node, int fd, void *data, size_t size, bool sends,
                    const struct lines_idle *idle)
{
    size_t moved = 0;

    if (fd < 0)
        return -1;
    watch_waits_for(lines->program->leader_of_node[node]);
    while (moved < size) {
        ssize_t step = move_some(fd, (char *)data + moved, size - moved, sends);

        if (step < 0 || (step == 0 && is_lost(lines, node)))
            break;
        if (step == 0)
            rest(fd, sends ? POLLOUT : POLLIN, idle);
        moved += (size_t)step;
    }
    watch_works();
    return moved == size ? 0 : -1;
}

int lines_send(struct lines *lines, int node, const void *data, size_t size_bytes)
{
    return move_all(lines, node, lines->fds[node], (void *)(size_t)data, size_bytes, true, NULL);
}

int lines_receive(struct lines *lines, int node, void *data, size_t size_bytes)
{
    return move_all(lines, node, lines->fds[node], data, size_bytes, false, NULL);
}

bool lines_has_word(struct lines *lines, int node)
{
    struct pollfd wait = {.fd = lines->fds[node], .events = POLLIN};

    return lines->fds[node] < 0 || is_lost(lines, node) || poll(&wait, 1, 0) != 0;
}

void lines_wait(struct lines *lines, const bool *is_heard)
{
    int count = lines->program->node_count;

    for (int node = 0; node < count; node++) {
        bool is_awaited = !is_heard[node] && !is_lost(lines, node);

        lines->polled[node] =
            (struct pollfd){.fd = is_awaited ? lines->fds[node] : -1, .events = POLLIN};
    }
    watch_waits_for(-1);
    poll(lines->polled, (nfds_t)count, LOST_MS);
    watch_works();
}

/* Waits until somebody calls who knows the secret. Returns the node, *fd its line; or -1. */
static int take_call(struct lines *lines, int wait_ms, int *fd)
{
    struct pollfd polled[ADMISSION_POLLED];
    int node;

    *fd = admission_next(&lines->admission, clock_s(), &node);
    if (*fd >= 0)
        return node;
    admission_polled(&lines->admission, polled);
    poll(polled, ADMISSION_POLLED, wait_ms);
    *fd = admission_next(&lines->admission, clock_s(), &node);
    return *fd >= 0 ? node : -1;
}

static int call(struct lines *lines, int node, int timeout_ms)
{
    struct error err;

    return beat_connect(&lines->endpoints[node], lines->program->node, timeout_ms, ANSWER_MS, &err);
}

/* For each of the partner's addresses: those that swallow all packets leave time for the others. */
static int meet_ms(const struct lines *lines, int partner)
{
    int most = 1000 * MEET_S / (int)(lines->endpoints[partner].address_count + 1);

    return most < CONNECT_MS ? most : CONNECT_MS;
}

/* The first node: takes the calls of all others, those that come in time. Who calls again has given
 * its earlier call up. */
static void take_calls(struct lines *lines)
{
    double until = clock_s() + 1e-3 * (CONNECT_MS + ANSWER_MS);
    int missing = lines->program->node_count - 1;

    while (missing > 0 && clock_s() < until) {
        int fd, node = take_call(lines, 100, &fd);

        if (node == 0) {
            close(fd);
        } else if (node > 0) {
            if (lines->fds[node] >= 0)
                close(lines->fds[node]);
            else
                missing--;
            lines->fds[node] = fd;
        }
    }
}

static struct lines *allocate(struct program *program)
{
    size_t count = (size_t)program->node_count;
    struct lines *lines = calloc(1, sizeof *lines);

    if (!lines)
        watch_fault("out of memory");
    *lines = (struct lines){.program = program, .listener = -1, .partner = -1, .partner_fd = -1};
    lines->endpoints = calloc(count, sizeof *lines->endpoints);
    lines->fds = calloc(count, sizeof *lines->fds);
    lines->polled = calloc(count, sizeof *lines->polled);
    if (!lines->endpoints || !lines->fds || !lines->polled)
        watch_fault("out of memory");
    for (size_t i = 0; i < count; i++)
        lines->fds[i] = -1;
    return lines;
}

struct lines *lines_open(struct program *program, struct error *err)
{
    struct lines *lines = allocate(program);
    unsigned char key[SHA256_BYTES] = {0};
    struct beat_endpoint own;
    MPI_Request request;

    lines->listener = beat_listen(program_management(program), false, &own, err);
    if (lines->listener >= 0)
        beat_key(&own, key);
    admission_open(&lines->admission, lines->listener, key, program->node_count);
    MPI_Iallgather(&own, sizeof own, MPI_BYTE, lines->endpoints, sizeof own, MPI_BYTE,
                   program->leaders, &request);
    program_wait(program, &request, -1);
    if (program->node == 0)
        take_calls(lines);
    else if (lines->listener >= 0)
        lines->fds[0] = call(lines, 0, CONNECT_MS);
    if (lines->listener >= 0)
        return lines;
    lines_close(lines);
    return NULL;
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    lines_part(lines);
    for (int node = 0; node < lines->program->node_count; node++)
        if (lines->fds[node] >= 0)
            close(lines->fds[node]);
    admission_close(&lines->admission);
    if (lines->listener >= 0)
        close(lines->listener);
    free(lines->endpoints);
    free(lines->fds);
    free(lines->polled);
    free(lines);
}

/* The lower one calls, the other one waits a little longer. A call of somebody else is one that
 * came too late in an earlier round. */
int lines_meet(struct lines *lines, int partner)
{
    bool calls = lines->program->node < partner;
    double until = clock_s() + (calls ? MEET_S : MEET_S + 1e-3 * CONNECT_MS);
    int fd = -1;

    lines_part(lines);
    watch_waits_for(lines->program->leader_of_node[partner]);
    while (fd < 0 && clock_s() < until && !is_lost(lines, partner)) {
        int node = partner;

        if (calls && (fd = call(lines, partner, meet_ms(lines, partner))) < 0)
            poll(NULL, 0, REST_MS);
        else if (!calls)
            node = take_call(lines, REST_MS, &fd);
        if (node >= 0 && node != partner)
            close(fd);
        if (node != partner)
            fd = -1;
        watch_step();
    }
    watch_works();
    lines->partner = partner;
    lines->partner_fd = fd;
    return fd < 0 ? -1 : 0;
}

int lines_swap(struct lines *lines, const void *out, void *in, size_t size_bytes,
               const struct lines_idle *idle)
{
    /* the kernel's buffers hold as much before the other end reads */
    enum { PIECE_BYTES = 16384 };
    int fd = lines->partner_fd, node = lines->partner;

    for (size_t at = 0; at < size_bytes; at += PIECE_BYTES) {
        size_t some = size_bytes - at < PIECE_BYTES ? size_bytes - at : PIECE_BYTES;

        if (move_all(lines, node, fd, (char *)(size_t)out + at, some, true, idle) != 0 ||
            move_all(lines, node, fd, (char *)in + at, some, false, idle) != 0)
            return -1;
    }
    return 0;
}

void lines_part(struct lines *lines)
{
    if (lines->partner_fd >= 0)
        close(lines->partner_fd);
    lines->partner_fd = -1;
}
