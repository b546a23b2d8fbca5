/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/pair/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/battery_constants.h"
#include "validate/harness/sleeping_wait.h"
#include "validate/harness/watch/heartbeat.h"

struct control {
    struct program *program;
    int listener;
    struct admission admission;
    struct heartbeat_endpoint *endpoints; /* node_count */
    int *fds;                /* node_count: to the first node, or at it to all; -1: none */
    int partner, partner_fd; /* -1: none */
    struct pollfd *polled;   /* node_count, of the first node */
};

static bool is_lost(const struct control *control, int node)
{
    return watch_is_lost(control->program->leader_of_node[node]);
}

/* Moves what can be moved now. Returns bytes, 0 if it would block, -1 if the connection is lost. */
static ssize_t move_some(int fd, void *data, size_t size, bool sends)
{
    ssize_t moved = sends ? send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                          : recv(fd, data, size, MSG_DONTWAIT);

    if (moved < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return moved == 0 ? -1 : moved;
}

static void wait_ready(int fd, short events, const struct control_idle *idle)
{
    struct pollfd polled[1 + CONTROL_IDLE] = {{.fd = fd, .events = events}};
    int more = idle ? idle->work(idle->context, polled + 1) : 0;

    poll(polled, (nfds_t)(1 + (more > 0 ? more : 0)), more < 0 ? 1 : CONTROL_LOST_MS);
}

static int move_all(struct control *control, int node, int fd, void *data, size_t size, bool sends,
                    const struct control_idle *idle)
{
    size_t moved = 0;

    if (fd < 0)
        return -1;
    watch_waits_for(control->program->leader_of_node[node]);
    while (moved < size) {
        ssize_t step = move_some(fd, (char *)data + moved, size - moved, sends);

        if (step < 0 || (step == 0 && is_lost(control, node)))
            break;
        if (step == 0)
            wait_ready(fd, sends ? POLLOUT : POLLIN, idle);
        moved += (size_t)step;
    }
    watch_works();
    return moved == size ? 0 : -1;
}

int control_send(struct control *control, int node, const void *data, size_t size_bytes)
{
    return move_all(control, node, control->fds[node], (void *)(size_t)data, size_bytes, true,
                    NULL);
}

int control_receive(struct control *control, int node, void *data, size_t size_bytes)
{
    return move_all(control, node, control->fds[node], data, size_bytes, false, NULL);
}

bool control_has_message(struct control *control, int node)
{
    short seen = control->polled[node].revents;

    control->polled[node].revents = 0;
    return control->fds[node] < 0 || is_lost(control, node) || seen != 0;
}

void control_wait(struct control *control, const bool *is_received)
{
    int count = control->program->node_count;

    for (int node = 0; node < count; node++) {
        bool is_awaited = !is_received[node] && !is_lost(control, node);

        control->polled[node] =
            (struct pollfd){.fd = is_awaited ? control->fds[node] : -1, .events = POLLIN};
    }
    watch_waits_for(-1);
    poll(control->polled, (nfds_t)count, CONTROL_LOST_MS);
    watch_works();
}

/* Waits for a connection of a node that knows the key, wait_ms at most. Returns the node, with *fd,
 * or -1. */
static int accept_node(struct control *control, int wait_ms, int *fd)
{
    struct pollfd polled[ADMISSION_POLLED];
    int node;

    *fd = admission_next(&control->admission, clock_s(), &node);
    if (*fd >= 0)
        return node;
    admission_polled(&control->admission, polled);
    poll(polled, ADMISSION_POLLED, wait_ms);
    *fd = admission_next(&control->admission, clock_s(), &node);
    return *fd >= 0 ? node : -1;
}

static int connect_to(struct control *control, int node, int timeout_ms)
{
    struct error err;

    return heartbeat_connect(&control->endpoints[node], control->program->node, timeout_ms,
                             CONTROL_ANSWER_MS, &err);
}

/* Returns the time for each address of the partner: one that drops all packets leaves time for the
 * others. */
static int connect_ms(const struct control *control, int partner)
{
    int most = 1000 * CONTROL_MEET_S / (int)(control->endpoints[partner].address_count + 1);

    return most < CONTROL_CONNECT_MS ? most : CONTROL_CONNECT_MS;
}

/* First node: accepts the connections of all others that come in time. A node that connects again
 * has given up its earlier connection. */
static void accept_all(struct control *control)
{
    double until = clock_s() + 1e-3 * (CONTROL_CONNECT_MS + CONTROL_ANSWER_MS);
    int missing = control->program->node_count - 1;

    while (missing > 0 && clock_s() < until) {
        int fd, node = accept_node(control, 100, &fd);

        if (node == 0) {
            close(fd);
        } else if (node > 0) {
            if (control->fds[node] >= 0)
                close(control->fds[node]);
            else
                missing--;
            control->fds[node] = fd;
        }
    }
}

static struct control *allocate(struct program *program)
{
    size_t count = (size_t)program->node_count;
    struct control *control = watch_allocate(1, sizeof *control);

    *control =
        (struct control){.program = program, .listener = -1, .partner = -1, .partner_fd = -1};
    control->endpoints = watch_allocate(count, sizeof *control->endpoints);
    control->fds = watch_allocate(count, sizeof *control->fds);
    control->polled = watch_allocate(count, sizeof *control->polled);
    for (size_t i = 0; i < count; i++)
        control->fds[i] = -1;
    return control;
}

struct control *control_open(struct program *program, struct error *err)
{
    struct control *control = allocate(program);
    unsigned char key[SHA256_BYTES] = {0};
    struct heartbeat_endpoint own;

    control->listener = heartbeat_listen(program_management(program), false, &own, err);
    if (control->listener >= 0)
        heartbeat_key(&own, key);
    admission_open(&control->admission, control->listener, key, program->node_count);
    sleeping_allgather(&own, control->endpoints, sizeof own, program->leaders);
    if (program->node == 0)
        accept_all(control);
    else if (control->listener >= 0)
        control->fds[0] = connect_to(control, 0, CONTROL_CONNECT_MS);
    if (control->listener >= 0)
        return control;
    control_close(control);
    return NULL;
}

void control_close(struct control *control)
{
    if (!control)
        return;
    control_disconnect(control);
    for (int node = 0; node < control->program->node_count; node++)
        if (control->fds[node] >= 0)
            close(control->fds[node]);
    admission_close(&control->admission);
    if (control->listener >= 0)
        close(control->listener);
    free(control->endpoints);
    free(control->fds);
    free(control->polled);
    free(control);
}

/* The lower node connects, the other one waits a little longer. A connection of another node came
 * too late in an earlier round. */
int control_connect(struct control *control, int partner)
{
    bool connects = control->program->node < partner;
    double until =
        clock_s() + (connects ? CONTROL_MEET_S : CONTROL_MEET_S + 1e-3 * CONTROL_CONNECT_MS);
    int fd = -1;

    control_disconnect(control);
    watch_waits_for(control->program->leader_of_node[partner]);
    while (fd < 0 && clock_s() < until && !is_lost(control, partner)) {
        int node = partner;

        if (connects && (fd = connect_to(control, partner, connect_ms(control, partner))) < 0)
            poll(NULL, 0, CONTROL_REST_MS);
        else if (!connects)
            node = accept_node(control, CONTROL_REST_MS, &fd);
        if (node >= 0 && node != partner)
            close(fd);
        if (node != partner)
            fd = -1;
        watch_step();
    }
    watch_works();
    control->partner = partner;
    control->partner_fd = fd;
    return fd < 0 ? -1 : 0;
}

int control_exchange(struct control *control, const void *out, void *in, size_t size_bytes,
                     const struct control_idle *idle)
{
    /* the kernel's buffers hold as much before the other end reads */
    enum { PIECE_BYTES = 16384 };
    int fd = control->partner_fd, node = control->partner;

    for (size_t at = 0; at < size_bytes; at += PIECE_BYTES) {
        size_t some = size_bytes - at < PIECE_BYTES ? size_bytes - at : PIECE_BYTES;

        if (move_all(control, node, fd, (char *)(size_t)out + at, some, true, idle) != 0 ||
            move_all(control, node, fd, (char *)in + at, some, false, idle) != 0)
            return -1;
    }
    return 0;
}

void control_disconnect(struct control *control)
{
    if (control->partner_fd >= 0)
        close(control->partner_fd);
    control->partner_fd = -1;
}
