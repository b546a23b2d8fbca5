/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which callers are admitted at a listening socket, and what false, silent and noisy
 * callers cost. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/harness_constants.h"
#include "tests/unit/tap.h"
#include "validate/harness/watch/heartbeat.h"

enum { RANKS = 8, SILENT = 200, SOON_S = 30 };

static struct admission admission;
static struct heartbeat_endpoint endpoint;
static unsigned char key[SHA256_BYTES];
static struct sockaddr_in listener_address = {.sin_family = AF_INET};

/* from: an address of 127.0.0.0/8, host order; 0: any. */
static int connect_from(uint32_t from)
{
    struct sockaddr_in source = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(from)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (from && bind(fd, (struct sockaddr *)&source, sizeof source) != 0)
        tap_skip_all("cannot bind");
    if (connect(fd, (struct sockaddr *)&listener_address, sizeof listener_address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void reopen_admission(void)
{
    admission_close(&admission);
    admission_open(&admission, admission.listener, key, RANKS);
}

/* Serves for this long, or until a caller is admitted. Returns its rank, or -1. */
static int serve_until(double seconds)
{
    double until = clock_s() + seconds;

    while (clock_s() < until) {
        struct pollfd polled[ADMISSION_POLLED];
        int rank, fd = admission_next(&admission, clock_s(), &rank);

        if (fd >= 0) {
            close(fd);
            return rank;
        }
        admission_polled(&admission, polled);
        poll(polled, ADMISSION_POLLED, 20);
    }
    return -1;
}

/* Serves until the caller's process ends. Returns the rank that was admitted, or -1, and the
 * caller's exit status. */
static int serve_caller(pid_t pid, int *status)
{
    int rank = -1, admitted;

    while (waitpid(pid, status, WNOHANG) == 0) {
        admitted = serve_until(0.02);
        rank = admitted >= 0 ? admitted : rank;
    }
    *status = WEXITSTATUS(*status);
    return rank;
}

/* Starts a caller in its own process. Its exit status is 0 if it was admitted, else errno of
 * admission_call(). */
static pid_t start_caller(int rank, const unsigned char *caller_key)
{
    pid_t pid = fork();
    int fd;

    if (pid != 0)
        return pid;
    fd = connect_from(0);
    _exit(admission_call(fd, caller_key, rank, 1000 * SOON_S) == 0 ? 0 : errno);
}

static int wait_status(pid_t pid)
{
    int status;

    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static void check_callers(void)
{
    unsigned char other[SHA256_BYTES] = {1}, environment[SHA256_BYTES];
    pid_t pid = start_caller(5, key);
    int status;

    is_int(serve_until(SOON_S), 5, "a caller with the secret is admitted as its rank");
    is_int(wait_status(pid), 0, "... and accepts the listener");
    pid = start_caller(3, other);
    is_int(serve_caller(pid, &status), -1, "a caller without the secret is not");
    is_int(status, ECONNRESET, "... and its connection is reset");
    pid = start_caller(RANKS, key);
    is_int(serve_caller(pid, &status), -1, "a rank beyond the run's ranks is not admitted");
    pid = start_caller(-1, key);
    is_int(serve_caller(pid, &status), -1, "... and a negative rank is not either");

    setenv("MUSTER_SECRET", "00112233445566778899aabbccddeeff", 1);
    heartbeat_read_secret();
    ok(getenv("MUSTER_SECRET") == NULL, "the secret is removed from the environment");
    heartbeat_key(&endpoint, environment);
    ok(!sha256_equal(environment, key), "... and is part of the key");
}

/* A proof that was sent once does not admit a second connection. */
static void check_replay(void)
{
    unsigned char nonce[NONCE_BYTES];
    struct admission_proof proof = {.rank = 2};
    int ends[2], fd;

    /* the false listener gets a proof for its own nonce */
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        tap_skip_all("no sockets");
    memset(nonce, 7, sizeof nonce);
    is_int(write(ends[0], nonce, sizeof nonce), sizeof nonce, "a false listener sends a nonce");
    if (fork() == 0)
        _exit(admission_call(ends[1], key, 2, 500) == 0);
    is_int(recv(ends[0], &proof, sizeof proof, MSG_WAITALL), sizeof proof, "... gets a proof");
    fd = connect_from(0);
    is_int(write(fd, &proof, sizeof proof), sizeof proof,
           "... and replays it to the real listener");
    is_int(serve_until(0.5), -1, "... which does not admit it");
    close(fd);
    close(ends[0]);
    close(ends[1]);
    wait(NULL);
}

static void check_garbage(void)
{
    static char noise[1 << 16];
    int fd = connect_from(0);
    pid_t pid;

    memset(noise, 0xa5, sizeof noise);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ok(write(fd, noise, sizeof noise) > 0, "garbage of any length");
    is_int(serve_until(0.3), -1, "... admits nobody");
    close(fd);
    fd = connect_from(0);
    is_int(write(fd, noise, 3), 3, "an incomplete proof");
    close(fd);
    pid = start_caller(1, key);
    is_int(serve_until(SOON_S), 1, "... does not keep the next caller out");
    wait_status(pid);
}

static void check_silent_callers(void)
{
    int fds[SILENT];
    double begin, took_s;
    pid_t pid;

    for (int i = 0; i < SILENT; i++)
        fds[i] = connect_from(0);
    begin = clock_s();
    pid = start_caller(6, key);
    is_int(serve_until(SOON_S), 6, "after 200 silent connections a real caller is admitted");
    took_s = clock_s() - begin;
    ok(took_s < 3, "... soon (%.2f s)", took_s);
    is_int(wait_status(pid), 0, "... at its first call");
    for (int i = 0; i < SILENT; i++)
        close(fds[i]);
    reopen_admission();
    serve_until(0.2);
    for (int i = 0; i < 10; i++)
        fds[i] = connect_from(0);
    begin = clock_s();
    pid = start_caller(4, key);
    serve_until(3);
    took_s = clock_s() - begin;
    /* less than if each had to be waited for, however slow the machine */
    ok(took_s < 10 * ADMISSION_WANTED_S, "ten silent connections cost no time (%.3f s)", took_s);
    wait_status(pid);
    for (int i = 0; i < 10; i++)
        close(fds[i]);
}

static void check_interface(void)
{
    struct heartbeat_endpoint found;
    int listener = heartbeat_listen("no-such-interface", true, &found, NULL), fd;

    listener_address.sin_port = found.addresses[0].sin6_port;
    fd = connect_from(0);
    ok(fd >= 0, "an interface without an address: all others of the node are listened on");
    close(fd);
    close(listener);
}

int main(void)
{
    struct error err;
    int listener = heartbeat_listen("", false, &endpoint, &err);
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;

    alarm(60);
    if (listener < 0 || getsockname(listener, (struct sockaddr *)&bound, &size) != 0)
        tap_skip_all("%s", err.text);
    listener_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check_interface();
    listener_address.sin_port = endpoint.addresses[0].sin6_port;
    heartbeat_key(&endpoint, key);
    admission_open(&admission, listener, key, RANKS);
    check_callers();
    check_replay();
    check_garbage();
    check_silent_callers();
    admission_close(&admission);
    close(listener);
    return tap_done();
}
