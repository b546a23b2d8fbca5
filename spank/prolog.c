/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/prolog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/certificate.h"
#include "lib/conf.h"
#include "lib/fingerprint.h"
#include "lib/seal.h"
#include "spank/host.h"

/* What the examination found; it crosses a pipe in one write. */
struct finding {
    bool is_known; /* false: it could not be told, message says why */
    enum certificate_state state;
    enum conf_policy policy;
    char key[16]; /* the key of muster.conf that decided: "OnMissing" */
    char certificate_path[256];
    char message[1024];
};
_Static_assert(sizeof(struct finding) <= PIPE_BUF, "one write is one piece");

/* ---------------------------------------------------------------- who we are */

static void node_name(char *name, size_t size)
{
    const char *given = getenv("SLURMD_NODENAME");

    if (given != NULL && *given != '\0') {
        snprintf(name, size, "%s", given);
        return;
    }
    if (gethostname(name, size) < 0)
        snprintf(name, size, "?");
    name[size - 1] = '\0';
    name[strcspn(name, ".")] = '\0';
}

/* ---------------------------------------------------------------- the examination */

static void cannot_tell(struct finding *finding, const char *text)
{
    finding->is_known = false;
    snprintf(finding->message, sizeof finding->message, "%s", text);
}

/* The policy for a state. A certificate that is not genuine is worse than any of the three. */
static void decide(const struct conf *conf, struct finding *finding)
{
    enum conf_policy strictest = conf->on_missing;
    const char *key = "OnMissing";

    switch (finding->state) {
    case CERTIFICATE_VALID:
    case CERTIFICATE_UNVERIFIED:
        strictest = POLICY_LOG;
        break;
    case CERTIFICATE_MISSING:
        break;
    case CERTIFICATE_EXPIRED:
        strictest = conf->on_expired;
        key = "OnExpired";
        break;
    case CERTIFICATE_CHANGED:
        strictest = conf->on_changed;
        key = "OnChanged";
        break;
    case CERTIFICATE_INVALID:
        if (conf->on_expired > strictest) {
            strictest = conf->on_expired;
            key = "OnExpired";
        }
        if (conf->on_changed > strictest) {
            strictest = conf->on_changed;
            key = "OnChanged";
        }
        break;
    }
    finding->policy = strictest;
    snprintf(finding->key, sizeof finding->key, "%s", key);
}

/* malloc'd, or NULL with err */
static char *fingerprint_now(const struct conf *conf, struct error *err)
{
    struct inventory *inventory = inventory_read("", err);
    char *text;

    if (inventory == NULL)
        return NULL;
    text = fingerprint_node(inventory, conf);
    inventory_free(inventory);
    if (text == NULL)
        error_set(err, "out of memory");
    return text;
}

static void examine(const char *config_path, const char *node, struct finding *finding)
{
    struct certificate_facts facts = {node, getenv("SLURM_CLUSTER_NAME"), NULL, time(NULL)};
    struct conf conf;
    struct error err;
    char *fingerprint;

    if (conf_read(config_path, &conf, &err) < 0) {
        cannot_tell(finding, err.text);
        conf_clear(&conf);
        return;
    }
    snprintf(finding->certificate_path, sizeof finding->certificate_path, "%s",
             conf.certificate_path);
    seal_use_socket(conf.munge_socket);
    fingerprint = fingerprint_now(&conf, &err);
    if (fingerprint == NULL) {
        cannot_tell(finding, err.text);
    } else {
        facts.fingerprint = fingerprint;
        finding->is_known = true;
        finding->state = certificate_check(conf.certificate_path, 0, &facts, seal_verify, NULL,
                                           finding->message, sizeof finding->message);
        decide(&conf, finding);
    }
    free(fingerprint);
    conf_clear(&conf);
}

/* ---------------------------------------------------------------- the deadline */

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* slurmd waits for the end of the prolog's output: a child that hangs must not hold it open. */
static void let_go_of_output(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= 2; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
}

static bool read_finding(int fd, struct finding *finding, long deadline_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    for (;;) {
        long left_ms = deadline_ms - now_ms();
        int ready = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0);

        if (ready > 0)
            return read(fd, finding, sizeof *finding) == sizeof *finding;
        if (ready == 0 || (errno != EINTR && errno != EAGAIN))
            return false;
    }
}

/* Examines in a process of its own, which is given up at the deadline: what hangs inside libmunge
 * or the kernel cannot be interrupted otherwise. */
static void examine_in_time(const char *config_path, const char *node, struct finding *finding)
{
    long deadline_ms = now_ms() + GATE_DEADLINE_MS;
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        cannot_tell(finding, "no pipe for the examination");
        return;
    }
    child = fork();
    if (child == 0) {
        let_go_of_output();
        examine(config_path, node, finding);
        _exit(write(ends[1], finding, sizeof *finding) != sizeof *finding);
    }
    close(ends[1]);
    if (child < 0) {
        cannot_tell(finding, "no process for the examination");
    } else if (read_finding(ends[0], finding, deadline_ms)) {
        waitpid(child, NULL, 0);
    } else {
        bool is_late = now_ms() >= deadline_ms;

        memset(finding, 0, sizeof *finding);
        cannot_tell(finding, is_late ? "no answer within the gate's deadline (munged, a driver or "
                                       "a file system hangs)"
                                     : "the examination ended without an answer");
        kill(child, SIGKILL);
        waitpid(child, NULL, is_late ? WNOHANG : 0);
    }
    close(ends[0]);
}

/* ---------------------------------------------------------------- the refusal */

/* The last refusal in a file that anybody may read, whole or not at all. Best effort. */
static void leave_note(const char *certificate_path, const char *line)
{
    char directory[sizeof((struct finding *)0)->certificate_path], path[300], temporary[320];
    char text[2048], stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    char *slash;
    int fd, length;

    snprintf(directory, sizeof directory, "%s", certificate_path);
    slash = strrchr(directory, '/');
    if (slash == NULL || slash == directory)
        return;
    *slash = '\0';
    snprintf(path, sizeof path, "%s/refused", directory);
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    length = snprintf(text, sizeof text, "%s %s\n", stamp, line);
    mkdir(directory, 0755);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return;
    if (fchmod(fd, 0644) < 0 || write(fd, text, (size_t)length) != length ||
        rename(temporary, path) < 0)
        unlink(temporary);
    close(fd);
}

int gate_check(const char *config_path, const struct gate_job *job)
{
    struct finding finding = {0};
    char node[HOST_NAME_MAX + 1], line[1600];

    if (job->uid == 0)
        return 0;
    node_name(node, sizeof node);
    examine_in_time(config_path, node, &finding);
    if (!finding.is_known) {
        host_error("%s: job %u let through, the gate cannot tell: %s", node, job->job_id,
                   finding.message);
        return 0;
    }
    if (finding.state == CERTIFICATE_VALID || finding.policy == POLICY_IGNORE)
        return 0;
    if (finding.state == CERTIFICATE_UNVERIFIED || finding.policy != POLICY_REFUSE) {
        host_info("%s: certificate %s: %s; job %u let through", node,
                  certificate_state_name(finding.state), finding.message, job->job_id);
        return 0;
    }
    snprintf(line, sizeof line,
             "%s: certificate %s: %s; job %u refused by %s=refuse; next: muster certify -w %s",
             node, certificate_state_name(finding.state), finding.message, job->job_id, finding.key,
             node);
    host_error("%s", line);
    leave_note(finding.certificate_path, line);
    return -1;
}
