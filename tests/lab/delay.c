// SPDX-License-Identifier: Apache-2.0
/*
 * delay - a long cable: what goes into one of two tap devices comes out of the other, later.
 *
 *   delay TAP TAP MICROSECONDS
 *
 * Both ways alike, in order, and nothing is lost as long as no more than QUEUE frames are on their
 * way in a direction; then the newest is, as on a switch whose queue is full. The devices exist.
 * For kernels without netem. Runs until it is killed; exit status 1: a device cannot be had.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE = 4096, FRAME_BYTES = 9100 };

struct frame {
    int64_t due_ns;
    size_t size;
    unsigned char bytes[FRAME_BYTES];
};

struct cable {
    int in, out;
    unsigned first, count; // in frames[]
    struct frame *frames;
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int tap_open(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0) {
        fprintf(stderr, "lab: tap device %s: %m\n", name);
        exit(1);
    }
    return fd;
}

static void take_in(struct cable *cable, int64_t delay_ns)
{
    static unsigned char lost[FRAME_BYTES];

    for (;;) {
        struct frame *frame = &cable->frames[(cable->first + cable->count) % QUEUE];
        bool is_full = cable->count == QUEUE;
        ssize_t size = read(cable->in, is_full ? lost : frame->bytes, FRAME_BYTES);

        if (size <= 0)
            return;
        if (is_full)
            continue;
        frame->size = (size_t)size;
        frame->due_ns = now_ns() + delay_ns;
        cable->count++;
    }
}

// Returns when the next one is due; INT64_MAX: none is on its way.
static int64_t let_out(struct cable *cable)
{
    for (; cable->count > 0; cable->count--, cable->first = (cable->first + 1) % QUEUE) {
        const struct frame *frame = &cable->frames[cable->first];

        if (frame->due_ns > now_ns())
            return frame->due_ns;
        if (write(cable->out, frame->bytes, frame->size) < 0)
            continue; // the other end is down: nobody hears
    }
    return INT64_MAX;
}

int main(int argc, char *argv[])
{
    struct cable cables[2];
    struct pollfd fds[2];
    int64_t delay_ns;

    if (argc != 4) {
        fputs("usage: delay TAP TAP MICROSECONDS\n", stderr);
        return 1;
    }
    delay_ns = strtol(argv[3], NULL, 10) * INT64_C(1000);
    for (int i = 0; i < 2; i++) {
        fds[i] = (struct pollfd){.fd = tap_open(argv[1 + i]), .events = POLLIN};
        cables[i].frames = malloc(QUEUE * sizeof(struct frame));
        if (!cables[i].frames)
            return 1;
        cables[i].first = cables[i].count = 0;
    }
    for (int i = 0; i < 2; i++) {
        cables[i].in = fds[i].fd;
        cables[i].out = fds[!i].fd;
    }
    prctl(PR_SET_TIMERSLACK, 1000UL);
    for (;;) {
        int64_t due_ns = INT64_MAX, wait_ns;
        struct timespec timeout;

        for (int i = 0; i < 2; i++) {
            int64_t next_ns;

            take_in(&cables[i], delay_ns);
            next_ns = let_out(&cables[i]);
            due_ns = next_ns < due_ns ? next_ns : due_ns;
        }
        wait_ns = due_ns - now_ns();
        wait_ns = wait_ns > 0 ? wait_ns : 0;
        timeout = (struct timespec){wait_ns / 1000000000, wait_ns % 1000000000};
        ppoll(fds, 2, due_ns == INT64_MAX ? NULL : &timeout, NULL);
    }
}
