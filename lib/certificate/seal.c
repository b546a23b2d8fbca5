/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/clock.h"
#include "lib/base/write_all.h"
#include "lib/certificate/certificate.h"
#include "lib/certificate/seal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char socket_path[sizeof((struct sockaddr_un *)0)->sun_path];

int seal_use_socket(const char *path)
{
    if (path && strlen(path) >= sizeof socket_path)
        return -1;
    snprintf(socket_path, sizeof socket_path, "%s", path ? path : "");
    return 0;
}

#if __has_include(<munge.h>)
#include <munge.h>

/* libmunge's functions, with the types of its header. */
static struct {
    void *library;
    __typeof__(&munge_encode) encode;
    __typeof__(&munge_decode) decode;
    __typeof__(&munge_strerror) strerror;
    __typeof__(&munge_ctx_create) ctx_create;
    __typeof__(&munge_ctx_set) ctx_set;
    __typeof__(&munge_ctx_get) ctx_get;
    __typeof__(&munge_ctx_destroy) ctx_destroy;
    __typeof__(&munge_ctx_strerror) ctx_strerror;
} munge;

static int munge_open(struct error *err)
{
    void *library;

    if (munge.library)
        return 0;
    library = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return error_set(err, "cannot open libmunge: %s", dlerror());
    munge.encode = (__typeof__(munge.encode))dlsym(library, "munge_encode");
    munge.decode = (__typeof__(munge.decode))dlsym(library, "munge_decode");
    munge.strerror = (__typeof__(munge.strerror))dlsym(library, "munge_strerror");
    munge.ctx_create = (__typeof__(munge.ctx_create))dlsym(library, "munge_ctx_create");
    munge.ctx_set = (__typeof__(munge.ctx_set))dlsym(library, "munge_ctx_set");
    munge.ctx_get = (__typeof__(munge.ctx_get))dlsym(library, "munge_ctx_get");
    munge.ctx_destroy = (__typeof__(munge.ctx_destroy))dlsym(library, "munge_ctx_destroy");
    munge.ctx_strerror = (__typeof__(munge.ctx_strerror))dlsym(library, "munge_ctx_strerror");
    if (!munge.encode || !munge.decode || !munge.strerror || !munge.ctx_create || !munge.ctx_set ||
        !munge.ctx_get || !munge.ctx_destroy || !munge.ctx_strerror) {
        dlclose(library);
        return error_set(err, "libmunge.so.2 lacks a function that munge.h has");
    }
    munge.library = library;
    return 0;
}

/* The child's task. */
struct job {
    const char *seal; /* to verify; NULL: to make one */
    const char *text;
    size_t text_length;
    uid_t owner;
};

enum { MADE = 'm', YES = 'y', NO = 'n', UNKNOWN = 'u', OTHER_KEY = 'k', REPLY_MAX = 4 << 20 };

/* Writes the child's answer, one of the letters above and the seal or the reason, and exits. */
static void exit_with_answer(int fd, char letter, const char *text)
{
    _exit(write_all(fd, &letter, 1) != 0 || write_all(fd, text, strlen(text)) != 0);
}

static void exit_with_failure(int fd, char letter, const char *what, munge_ctx_t context,
                              munge_err_t code)
{
    const char *detail = munge.ctx_strerror(context);
    char text[400];

    snprintf(text, sizeof text, "%s: %s", what, detail ? detail : munge.strerror(code));
    exit_with_answer(fd, letter, text);
}

static void make_in_child(const struct job *job, munge_ctx_t context, int fd)
{
    char *seal = NULL;
    munge_err_t code = munge.encode(&seal, context, job->text, (int)job->text_length);

    if (code != EMUNGE_SUCCESS)
        exit_with_failure(fd, UNKNOWN, "cannot make a MUNGE credential", context, code);
    exit_with_answer(fd, MADE, seal);
}

static void verify_in_child(const struct job *job, munge_ctx_t context, int fd)
{
    void *payload = NULL;
    char text[200];
    int length = 0;
    uid_t uid = (uid_t)-1;
    munge_err_t code = munge.decode(job->seal, context, &payload, &length, &uid, NULL);

    switch (code) {
    case EMUNGE_SUCCESS:
    case EMUNGE_CRED_EXPIRED:  /* these three are genuine credentials, decoded as a valid one is */
    case EMUNGE_CRED_REWOUND:  /* (munge(3)); only their time or single use is wrong, which does */
    case EMUNGE_CRED_REPLAYED: /* not matter for a seal */
        break;
    case EMUNGE_SNAFU:
    case EMUNGE_NO_MEMORY:
    case EMUNGE_SOCKET:
    case EMUNGE_TIMEOUT:
        exit_with_failure(fd, UNKNOWN, "MUNGE does not answer", context, code);
        break;
    case EMUNGE_CRED_INVALID: /* decrypted with another key, it looks altered */
        exit_with_answer(
            fd, OTHER_KEY,
            "this node's MUNGE key does not decode the seal: the key has changed since, or the "
            "seal is forged");
        break;
    default:
        exit_with_failure(fd, NO, "the seal is not genuine", context, code);
    }
    if (uid != job->owner) {
        snprintf(text, sizeof text, "the seal was made by uid %lu, expected uid %lu",
                 (unsigned long)uid, (unsigned long)job->owner);
        exit_with_answer(fd, NO, text);
    }
    if (length < 0 || (size_t)length != job->text_length || !payload ||
        memcmp(payload, job->text, job->text_length) != 0)
        exit_with_answer(fd, NO, "the text was changed after it was sealed");
    exit_with_answer(fd, YES, "");
}

static munge_ctx_t make_context(void)
{
    munge_ctx_t context = munge.ctx_create();

    if (context && *socket_path)
        munge.ctx_set(context, MUNGE_OPT_SOCKET, socket_path);
    return context;
}

static void run_child(const struct job *job, int fd) __attribute__((noreturn));
static void run_child(const struct job *job, int fd)
{
    munge_ctx_t context;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    context = make_context();
    if (!context)
        _exit(1); /* no memory for a query */
    if (job->seal)
        verify_in_child(job, context, fd);
    else
        make_in_child(job, context, fd);
    _exit(1);
}

/* Sets err to the reason why munged did not answer. Connects to its socket, which accepts
 * connections even while munged is stopped or hangs. Call it only after a timeout, as munged logs
 * a connection without a message. */
static void explain_silence(struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    munge_ctx_t context = make_context();
    const char *path = NULL;
    int fd;

    error_set(err, "MUNGE does not answer within %d ms", SEAL_TIMEOUT_MS);
    if (!context)
        return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (munge.ctx_get(context, MUNGE_OPT_SOCKET, &path) == EMUNGE_SUCCESS && path && fd >= 0) {
        snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
            error_set(err, "MUNGE does not answer: munged's socket %s: %m", path);
        else
            error_set(err, "MUNGE does not answer within %d ms, though munged's socket %s is open",
                      SEAL_TIMEOUT_MS, path);
    }
    if (fd >= 0)
        close(fd);
    munge.ctx_destroy(context);
}

/* Reads the child's answer until it closes the pipe. Returns the text, malloc'd, or NULL with err.
 * *is_late: the child has not closed the pipe in time and must be killed. *is_queried is false if
 * memory is out, or if the child has ended without an answer. */
static char *read_answer(int fd, bool *is_queried, bool *is_late, struct error *err)
{
    const long deadline = clock_ms() + SEAL_TIMEOUT_MS;
    size_t length = 0, size = 1024;
    char *text = malloc(size), *grown;

    *is_queried = text;
    *is_late = !text;
    if (!text)
        error_set(err, "out of memory");
    while (text) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        long left = deadline - clock_ms();
        ssize_t got;

        if (left <= 0 || poll(&poll_fd, 1, (int)left) == 0) {
            explain_silence(err);
            *is_late = true;
            break;
        }
        got = read(fd, text + length, size - 1 - length);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0) {
            text[length] = '\0';
            if (length > 0)
                return text;
            error_set(err, "the child process that queries MUNGE has died");
            *is_queried = false;
            break;
        }
        length += (size_t)got;
        if (length + 1 < size)
            continue;
        size *= 2;
        grown = size <= REPLY_MAX ? realloc(text, size) : NULL;
        if (!grown) {
            error_set(err, "MUNGE's answer is too long");
            *is_late = true;
            break;
        }
        text = grown;
    }
    free(text);
    return NULL;
}

/* Runs a job in a child. Returns its answer, malloc'd, or NULL with err. *is_queried is false if
 * this process could not query munged. */
static char *query_munged(const struct job *job, bool *is_queried, struct error *err)
{
    int fds[2];
    bool is_late;
    char *text;
    pid_t child;

    *is_queried = false;
    if (munge_open(err) != 0)
        return NULL;
    if (pipe2(fds, O_CLOEXEC) != 0) {
        error_set(err, "cannot create a pipe: %m");
        return NULL;
    }
    child = fork();
    if (child == 0)
        run_child(job, fds[1]);
    close(fds[1]);
    if (child < 0) {
        error_set(err, "cannot start a process: %m");
        close(fds[0]);
        return NULL;
    }
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    text = read_answer(fds[0], is_queried, &is_late, err);
    /* if SIGCHLD is ignored, the ID of a child that has ended may be another process's */
    if (is_late)
        kill(child, SIGKILL);
    close(fds[0]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return text;
}

int seal_make(const char *text, size_t text_length, char **seal, struct error *err)
{
    const struct job job = {.text = text, .text_length = text_length};
    char *reply;
    int result = -1;
    bool is_queried;

    if (text_length > 1 << 20) /* munged's own limit, and fits an int */
        return error_set(err, "a text of %zu bytes is too long to be sealed", text_length);
    reply = query_munged(&job, &is_queried, err);
    if (!reply)
        return -1;
    if (reply[0] == MADE) {
        *seal = strdup(reply + 1);
        result = *seal ? 0 : error_set(err, "out of memory");
    } else {
        error_set(err, "%s", reply + 1);
    }
    free(reply);
    return result;
}

int seal_verify_by(unsigned owner_uid, const char *seal, const char *text, size_t text_length,
                   struct error *err)
{
    const struct job job = {
        .seal = seal, .text = text, .text_length = text_length, .owner = owner_uid};
    bool is_queried;
    char *reply = query_munged(&job, &is_queried, err);
    int result;

    if (!reply)
        return -1;
    result = reply[0] == YES         ? SEAL_GENUINE
             : reply[0] == NO        ? SEAL_FALSE
             : reply[0] == OTHER_KEY ? SEAL_UNDECODABLE
                                     : SEAL_UNKNOWN;
    error_set(err, "%s", reply + 1);
    free(reply);
    return result;
}

/* Makes a seal and verifies it. Returns whether it is genuine. *is_silent: munged did not answer.
 */
static bool make_and_verify(bool *is_queried, bool *is_silent, struct error *err)
{
    static const char text[] = "muster";
    struct job job = {.text = text, .text_length = sizeof text - 1, .owner = getuid()};
    char *seal = query_munged(&job, is_queried, err), *reply = NULL;
    bool is_good;

    if (seal && seal[0] == MADE) {
        job.seal = seal + 1;
        reply = query_munged(&job, is_queried, err);
    } else if (seal) {
        error_set(err, "%s", seal + 1);
    }
    is_good = reply && reply[0] == YES;
    if (reply && !is_good)
        error_set(err, "%s", reply + 1);
    *is_silent = *is_queried && (!reply || reply[0] == UNKNOWN);
    free(seal);
    free(reply);
    return is_good;
}

int seal_try(bool *is_queried, struct error *err)
{
    bool is_silent, is_good = make_and_verify(is_queried, &is_silent, err);

    if (is_silent) { /* the machine may be busy, or munged may be restarting */
        usleep(1000000 * SEAL_RESTART_S);
        is_good = make_and_verify(is_queried, &is_silent, err);
    }
    return is_good ? 0 : -1;
}

#else /* without munge.h, seals can be neither made nor verified */

int seal_make(const char *text, size_t text_length, char **seal, struct error *err)
{
    (void)text, (void)text_length, (void)seal;
    return error_set(err, "this muster was built without MUNGE");
}

int seal_verify_by(unsigned owner_uid, const char *seal, const char *text, size_t text_length,
                   struct error *err)
{
    (void)owner_uid, (void)seal, (void)text, (void)text_length;
    return error_set(err, "this muster was built without MUNGE");
}

int seal_try(bool *is_queried, struct error *err)
{
    *is_queried = false;
    return error_set(err, "this muster was built without MUNGE");
}

#endif

int seal_verify(const char *seal, const char *text, size_t text_length, struct error *err)
{
    return seal_verify_by(0, seal, text, text_length, err);
}
