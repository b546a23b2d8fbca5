// SPDX-License-Identifier: Apache-2.0
/*
 * delay - simulates a long or bad cable between two tap devices: carries frames from one to the
 * other with a delay, drops some of them, and flips a bit in the payload of some.
 *
 *   delay TAP TAP MICROSECONDS [LOST_PERCENT [TURNED_PERCENT [ADDRESS]]]
 *
 * Treats both directions alike, and keeps the order. Drops and damages only IPv4 and IPv6 frames,
 * at random from a fixed seed; with ADDRESS only frames from or to that IPv4 address.
 * Drops no other frame while at most QUEUE frames are under way in a direction; beyond that it
 * drops the newest, as a switch does whose queue is full. A tap device completes the checksums of
 * frames that it hands out and keeps those it is given, so the receiver sees the damage. The
 * devices must exist. For kernels without netem. Runs until it is killed; exit status 1 if the
 * usage is wrong, memory is out, or a device cannot be opened.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
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

enum { QUEUE = 4096, FRAME_BYTES = 9100, HEADERS_BYTES = 14 + 40 };

struct frame {
    int64_t due_ns;
    size_t size;
    unsigned char bytes[FRAME_BYTES];
};

struct damage {
    double lost, turned; // shares of the frames, 0 to 1
    uint32_t address;    // IPv4, in network byte order; 0: any
    uint64_t seed;
};

struct cable {
    struct damage damage;
    int in, out;
    unsigned first, count; // the queued frames in frames[], a ring of QUEUE
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

// Returns a random number from 0 to 1 (SplitMix64).
static double draw(struct damage *damage)
{
    uint64_t z = damage->seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Flips a random bit behind the Ethernet and IP headers, so that the checksum of TCP or UDP fails.
static void flip_bit(struct damage *damage, struct frame *frame)
{
    size_t place = HEADERS_BYTES + (size_t)(draw(damage) * (double)(frame->size - HEADERS_BYTES));

    frame->bytes[place] ^= (unsigned char)(1U << (unsigned)(draw(damage) * 8));
}

static bool matches_address(const struct damage *damage, const struct frame *frame)
{
    const unsigned char *addresses = frame->bytes + 14 + 12; // IPv4: source, destination

    return damage->address == 0 ||
           (frame->bytes[12] == 0x08 && (memcmp(addresses, &damage->address, 4) == 0 ||
                                         memcmp(addresses + 4, &damage->address, 4) == 0));
}

// Damages the frame at random. Returns whether it arrives.
static bool damage_frame(struct damage *damage, struct frame *frame)
{
    bool is_ip =
        frame->size > HEADERS_BYTES && ((frame->bytes[12] == 0x08 && frame->bytes[13] == 0) ||
                                        (frame->bytes[12] == 0x86 && frame->bytes[13] == 0xdd));

    if (!is_ip || !matches_address(damage, frame))
        return true;
    if (damage->lost > 0 && draw(damage) < damage->lost)
        return false;
    if (damage->turned > 0 && draw(damage) < damage->turned)
        flip_bit(damage, frame);
    return true;
}

static void read_frames(struct cable *cable, int64_t delay_ns)
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
        if (!damage_frame(&cable->damage, frame))
            continue;
        frame->due_ns = now_ns() + delay_ns;
        cable->count++;
    }
}

// Writes the frames that are due. Returns when the next one is due, INT64_MAX if none is queued.
static int64_t write_due_frames(struct cable *cable)
{
    for (; cable->count > 0; cable->count--, cable->first = (cable->first + 1) % QUEUE) {
        const struct frame *frame = &cable->frames[cable->first];

        if (frame->due_ns > now_ns())
            return frame->due_ns;
        if (write(cable->out, frame->bytes, frame->size) < 0)
            continue; // the other end is down: the frame is lost
    }
    return INT64_MAX;
}

int main(int argc, char *argv[])
{
    struct cable cables[2];
    struct pollfd fds[2];
    int64_t delay_ns;
    uint32_t address = 0;

    if (argc < 4 || argc > 7) {
        fputs("usage: delay TAP TAP MICROSECONDS [LOST_PERCENT [TURNED_PERCENT [ADDRESS]]]\n",
              stderr);
        return 1;
    }
    if (argc > 6 && inet_pton(AF_INET, argv[6], &address) != 1) {
        fprintf(stderr, "delay: %s is no IPv4 address\n", argv[6]);
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
        cables[i].damage = (struct damage){.lost = argc > 4 ? strtod(argv[4], NULL) / 100 : 0,
                                           .turned = argc > 5 ? strtod(argv[5], NULL) / 100 : 0,
                                           .address = address,
                                           .seed = 1 + (uint64_t)i};
    }
    prctl(PR_SET_TIMERSLACK, 1000UL);
    for (;;) {
        int64_t due_ns = INT64_MAX, wait_ns;
        struct timespec timeout;

        for (int i = 0; i < 2; i++) {
            int64_t next_ns;

            read_frames(&cables[i], delay_ns);
            next_ns = write_due_frames(&cables[i]);
            due_ns = next_ns < due_ns ? next_ns : due_ns;
        }
        wait_ns = due_ns - now_ns();
        wait_ns = wait_ns > 0 ? wait_ns : 0;
        timeout = (struct timespec){wait_ns / 1000000000, wait_ns % 1000000000};
        ppoll(fds, 2, due_ns == INT64_MAX ? NULL : &timeout, NULL);
    }
}
