/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/memory_stream.h"
#include "lib/base/utf8.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/job/user.h"

enum { LINE_MAX_BYTES = 65536, OUTPUT_MAX_BYTES = 1 << 30 };

const char *const process_parse_environment[] = {"LC_ALL=C", "SLURM_TIME_FORMAT=standard",
                                                 "TZ=UTC0", NULL};

void arguments_add(struct arguments *arguments, const char *format, ...)
{
    char **grown = realloc(arguments->argv, (size_t)(arguments->count + 2) * sizeof *grown);
    va_list values;

    if (!grown) {
        arguments->out_of_memory = true;
        return;
    }
    arguments->argv = grown;
    va_start(values, format);
    if (vasprintf(&grown[arguments->count], format, values) < 0)
        grown[arguments->count] = NULL;
    va_end(values);
    if (grown[arguments->count])
        grown[++arguments->count] = NULL;
    else
        arguments->out_of_memory = true;
}

void arguments_clear(struct arguments *arguments)
{
    for (int i = 0; i < arguments->count; i++)
        free(arguments->argv[i]);
    free(arguments->argv);
    *arguments = (struct arguments){0};
}

/* One of the program's output pipes and the line that has not ended yet. */
struct stream {
    int fd;
    bool is_error;
    size_t length;
    char *text; /* LINE_MAX_BYTES + 1 */
};

static void line_deliver(const struct process *process, struct process_result *result,
                         struct stream *stream, char *line)
{
    if (stream->is_error) /* records are cleaned when they are parsed */
        utf8_clean(line);
    if (stream->is_error && *line)
        error_line_add(&result->error_line, line);
    if (process->on_line)
        process->on_line(line, stream->is_error, process->context);
}

/* Delivers the whole lines that can be read; closes the stream at its end. */
static void stream_read(const struct process *process, struct process_result *result,
                        struct stream *stream)
{
    ssize_t got = read(stream->fd, stream->text + stream->length, LINE_MAX_BYTES - stream->length);
    char *line = stream->text, *end;

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        close(stream->fd);
        stream->fd = -1;
        if (stream->length > 0) {
            stream->text[stream->length] = '\0';
            line_deliver(process, result, stream, stream->text);
            stream->length = 0;
        }
        return;
    }
    stream->length += (size_t)got;
    stream->text[stream->length] = '\0';
    while ((end = memchr(line, '\n', stream->length - (size_t)(line - stream->text)))) {
        *end = '\0';
        line_deliver(process, result, stream, line);
        line = end + 1;
    }
    stream->length -= (size_t)(line - stream->text);
    memmove(stream->text, line, stream->length + 1);
    if (stream->length == LINE_MAX_BYTES) {
        line_deliver(process, result, stream, stream->text);
        stream->length = 0;
    }
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

/* Runs in the child until exec, with all signals blocked at first: otherwise a handler of this
 * process would catch a signal for the program. The pipe reports a failure; exec closes it. */
static void __attribute__((noreturn))
child_run(const struct process *process, pid_t parent, int in, int out, int error, int failed)
{
    sigset_t none;
    int reason;

    setpgid(0, 0);
    if (process->user && user_become(process->user) != 0)
        goto fail;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* after the change of user, which clears it */
    if (getppid() != parent)
        _exit(127);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 0; process->environment && process->environment[i]; i++)
        putenv((char *)(uintptr_t)process->environment[i]);
    if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(error, 2) >= 0)
        execvp(process->argv[0], process->argv);
fail:
    reason = errno;
    while (write(failed, &reason, sizeof reason) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* The termination of the group: SIGTERM, then SIGKILL after grace_s. */
struct termination {
    pid_t pid;
    double reported_at; /* when its status was reported, 0: not yet */
    double term_at;     /* when TERM was sent, 0: not yet */
    double killed_at;   /* when KILL was, 0: not yet */
};

static bool has_reported(const struct process *process)
{
    return process->reported_status && *process->reported_status >= 0;
}

static void termination_advance(const struct process *process, struct process_result *result,
                                struct termination *termination, double begin)
{
    double now = clock_s();

    if (termination->term_at == 0) {
        bool is_stopped = process->stop && *process->stop;

        if (termination->reported_at == 0 && has_reported(process))
            termination->reported_at = now;
        if (!is_stopped && now - begin < process->deadline_s &&
            (termination->reported_at == 0 || now - termination->reported_at < PROCESS_END_S))
            return;
        result->has_hung = termination->reported_at > 0;
        result->end = is_stopped ? PROCESS_STOPPED : PROCESS_TIMED_OUT;
        termination->term_at = now;
        kill(-termination->pid, SIGTERM);
    } else if (termination->killed_at == 0 && now - termination->term_at >= process->grace_s) {
        termination->killed_at = now;
        kill(-termination->pid, SIGKILL);
    }
}

/* A watched program. outer: the program whose on_tick() started this one. Its output is read
 * meanwhile, because it could block in a write. */
struct watched {
    const struct process *process;
    struct process_result *result;
    struct stream *streams; /* 2 */
    struct watched *outer;
};
enum { WATCHED_MOST = 3 };
static _Thread_local struct watched *innermost;

/* Waits for output of these programs, or for room for the innermost one's input. Returns whether
 * there is room. */
static bool read_all_outputs(const struct watched *watched, int in, int timeout_ms)
{
    struct pollfd polled[1 + 2 * WATCHED_MOST] = {{.fd = in, .events = POLLOUT}};
    int count = 1;

    for (const struct watched *one = watched; one && count < 2 * WATCHED_MOST; one = one->outer)
        for (int i = 0; i < 2; i++)
            polled[count++] = (struct pollfd){.fd = one->streams[i].fd, .events = POLLIN};
    if (poll(polled, (nfds_t)count, timeout_ms) <= 0)
        return false;
    for (int i = 1; i < count; i++, watched = i % 2 ? watched->outer : watched)
        if (polled[i].revents)
            stream_read(watched->process, watched->result, &watched->streams[(i - 1) % 2]);
    return polled[0].revents;
}

/* Writes the input and reads both outputs until the program ends or is abandoned. *status: its wait
 * status, if it was reaped. */
static void watch(const struct process *process, struct process_result *result, pid_t pid, int in,
                  struct stream streams[2], int *status)
{
    struct termination termination = {.pid = pid};
    size_t written = 0, length = process->input ? strlen(process->input) : 0;
    double begin = clock_s(), ended_at = 0, ticked = 0;
    struct watched watched = {process, result, streams, innermost};

    innermost = &watched;
    for (;;) {
        bool is_closed = streams[0].fd < 0 && streams[1].fd < 0;
        siginfo_t info = {0};

        /* Not reaped yet: the ID of the process group must not be reused. */
        if (ended_at == 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == pid)
            ended_at = clock_s();
        /* A child of the program may keep the pipes open: only the program's end counts. */
        if (ended_at > 0 && (is_closed || clock_s() - ended_at > 1))
            break;
        if (read_all_outputs(&watched, process->input ? in : -1,
                             ended_at > 0 || is_closed ? 5 : PROCESS_TICK_MS)) {
            ssize_t sent = write(in, process->input + written, length - written);

            if (sent > 0)
                written += (size_t)sent;
            if (written == length || (sent < 0 && errno != EINTR && errno != EAGAIN)) {
                close(in);
                in = -1;
            }
        }
        if (process->on_tick && clock_s() - ticked > 1e-3 * PROCESS_TICK_MS) {
            ticked = clock_s();
            process->on_tick(process->context);
        }
        if (ended_at == 0)
            termination_advance(process, result, &termination, begin);
        if (termination.killed_at > 0 && clock_s() - termination.killed_at > PROCESS_KILL_S)
            break; /* abandon a process that hangs in the kernel */
    }
    innermost = watched.outer;
    kill(-pid, SIGKILL); /* children of the program */
    waitpid(pid, status, WNOHANG);
    if (in >= 0)
        close(in);
    result->seconds = clock_s() - begin;
}

int process_run(const struct process *process, struct process_result *result, struct error *err)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, error[2] = {-1, -1}, failed[2] = {-1, -1};
    struct stream streams[2] = {{.fd = -1}, {.fd = -1, .is_error = true}};
    int status = 0, reason = 0, rv = -1;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, saved;
    sigset_t all, before;
    pid_t pid, parent = getpid();

    *result = (struct process_result){.end = PROCESS_EXITED};
    streams[0].text = malloc(LINE_MAX_BYTES + 1);
    streams[1].text = malloc(LINE_MAX_BYTES + 1);
    if (!streams[0].text || !streams[1].text || pipe2(out, O_CLOEXEC) || pipe2(error, O_CLOEXEC) ||
        pipe2(failed, O_CLOEXEC | O_NONBLOCK))
        goto done;
    if (process->input || process->holds_input
            ? pipe2(in, O_CLOEXEC)
            : (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
        goto done;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        child_run(process, parent, in[0], out[1], error[1], failed[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        goto done;
    setpgid(pid, pid); /* parent or child, whichever comes first */
    close(failed[1]);
    close(out[1]);
    close(error[1]);
    close(in[0]);
    failed[1] = out[1] = error[1] = in[0] = -1;
    streams[0].fd = out[0];
    streams[1].fd = error[0];
    if (in[1] >= 0)
        fcntl(in[1], F_SETFL, O_NONBLOCK);
    sigaction(SIGPIPE, &ignore, &saved);
    watch(process, result, pid, in[1], streams, &status);
    sigaction(SIGPIPE, &saved, NULL);
    out[0] = streams[0].fd;
    error[0] = streams[1].fd;
    in[1] = -1;
    if (read(failed[0], &reason, sizeof reason) == (ssize_t)sizeof reason) {
        errno = reason;
        goto done;
    }
    if (has_reported(process) && result->end != PROCESS_STOPPED) {
        result->end = PROCESS_EXITED;
        result->status = *process->reported_status;
    } else if (result->end == PROCESS_EXITED) {
        result->end = WIFSIGNALED(status) ? PROCESS_SIGNALED : PROCESS_EXITED;
        result->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    }
    rv = 0;
done:
    if (rv != 0) /* each failure sets errno */
        error_set(err, "cannot start %s: %m", process->argv[0]);
    close_pair(in);
    close_pair(out);
    close_pair(error);
    close_pair(failed);
    free(streams[0].text);
    free(streams[1].text);
    return rv;
}

static void keep_line(const char *line, bool is_error, void *context)
{
    if (!is_error && ftell(context) < OUTPUT_MAX_BYTES)
        fprintf(context, "%s\n", line);
}

int process_output(const char *const *words, double deadline_s, char **text, struct error *err)
{
    int status;

    return process_output_status(words, deadline_s, text, &status, err);
}

int process_output_status(const char *const *words, double deadline_s, char **text, int *status,
                          struct error *err)
{
    struct process_result result = {0};
    size_t size;
    FILE *stream;
    int rv;

    *text = NULL;
    *status = -1;
    stream = memory_stream(text, &size);
    if (!stream)
        return error_set(err, "no memory");
    rv = process_run(&(struct process){.argv = (char *const *)(uintptr_t)words,
                                       .environment = process_parse_environment,
                                       .deadline_s = deadline_s,
                                       .grace_s = 1,
                                       .on_line = keep_line,
                                       .context = stream},
                     &result, err);
    if (rv == 0 && result.end == PROCESS_EXITED)
        *status = result.status;
    if (fclose(stream) != 0 && rv == 0)
        rv = error_set(err, "no memory");
    if (rv == 0 && (result.end != PROCESS_EXITED || result.status != 0))
        rv = error_set(err, "%s: %s", words[0],
                       result.end == PROCESS_TIMED_OUT && !*result.error_line.text
                           ? "no answer in time"
                           : error_line_text(&result.error_line));
    if (rv != 0) {
        free(*text);
        *text = NULL;
    }
    return rv;
}
