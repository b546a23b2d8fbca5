/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/prolog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/node_name.h"
#include "lib/certificate/brake.h"
#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"
#include "lib/certificate/fingerprint.h"
#include "lib/certificate/refused.h"
#include "lib/certificate/seal.h"
#include "spank/host.h"
#include "spank/refusal.h"

/* What the examination found; it crosses a pipe in one write. */
struct finding {
    bool is_known; /* false: it could not be told, message says why */
    enum certificate_state state;
    enum conf_policy policy;
    char key[20]; /* the key of muster.conf that decided: "OnMissing" */
    char certificate_path[256];
    char battery_user[33];
    char message[1024];
    bool is_braked; /* policy is to refuse, and brake says why not now */
    char brake[300];
};
_Static_assert(sizeof(struct finding) <= PIPE_BUF, "one write is one piece");

/* ---------------------------------------------------------------- the examination */

static void cannot_tell(struct finding *finding, const char *text)
{
    finding->is_known = false;
    snprintf(finding->message, sizeof finding->message, "%s", text);
}

/* What the cluster has to say about a refusal. */
static void ask_brake(const struct conf *conf, const struct certificate *certificate,
                      const char *fingerprint, struct finding *finding)
{
    struct brake brake;
    char cause[BRAKE_CAUSE];
    int status;

    if (conf->gate_brake == 0)
        return;
    brake_cause(finding->state, certificate->fingerprint, fingerprint, cause);
    status = brake_read(conf->certificate_path, &brake, NULL);
    finding->is_braked = !brake_permits(status == 0 ? &brake : NULL, cause, time(NULL),
                                        finding->brake, sizeof finding->brake);
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
    struct certificate certificate;
    struct conf conf;
    struct error err;
    const char *key;
    char *fingerprint;

    if (conf_read(config_path, &conf, &err) < 0) {
        cannot_tell(finding, err.text);
        conf_clear(&conf);
        return;
    }
    snprintf(finding->certificate_path, sizeof finding->certificate_path, "%s",
             conf.certificate_path);
    snprintf(finding->battery_user, sizeof finding->battery_user, "%s", conf.battery_user);
    seal_use_socket(conf.munge_socket);
    fingerprint = fingerprint_now(&conf, &err);
    if (fingerprint == NULL) {
        cannot_tell(finding, err.text);
    } else {
        facts.fingerprint = fingerprint;
        finding->is_known = true;
        finding->state = certificate_check(conf.certificate_path, 0, &facts, seal_verify,
                                           &certificate, finding->message, sizeof finding->message);
        finding->policy = certificate_policy(&conf, finding->state, &key);
        snprintf(finding->key, sizeof finding->key, "%s", key);
        if (finding->policy == POLICY_REFUSE)
            ask_brake(&conf, &certificate, fingerprint, finding);
        certificate_clear(&certificate);
    }
    free(fingerprint);
    conf_clear(&conf);
}

static bool is_refusal(const struct finding *finding)
{
    return finding->is_known && finding->policy == POLICY_REFUSE &&
           finding->state != CERTIFICATE_VALID && finding->state != CERTIFICATE_UNVERIFIED;
}

/* Whether the job is the battery's, which has to run there for the node to be certified. Asks the
 * name service, and so only where the job would be refused otherwise. */
static bool is_battery(const struct finding *finding, uid_t uid)
{
    struct passwd entry, *found = NULL;
    char text[4096];

    return getpwnam_r(finding->battery_user, &entry, text, sizeof text, &found) == 0 && found &&
           found->pw_uid == uid;
}

/* ---------------------------------------------------------------- the deadline */

static bool read_in_time(int fd, void *bytes, size_t size, long deadline_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    for (;;) {
        long left_ms = deadline_ms - clock_ms();
        int ready = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0);

        if (ready > 0)
            return read(fd, bytes, size) == (ssize_t)size;
        if (ready == 0 || left_ms <= 0 || (errno != EINTR && errno != EAGAIN))
            return false;
    }
}

/* Examines in a process of its own, which is given up at the deadline: what hangs inside libmunge
 * or the kernel cannot be interrupted otherwise. */
static void examine_in_time(const char *config_path, const char *node, uid_t uid,
                            struct finding *finding, bool *is_exempt)
{
    long deadline_ms = clock_ms() + GATE_DEADLINE_MS;
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        cannot_tell(finding, "no pipe for the examination");
        return;
    }
    child = fork();
    if (child == 0) {
        refusal_let_go_of_output();
        examine(config_path, node, finding);
        if (write(ends[1], finding, sizeof *finding) == sizeof *finding && is_refusal(finding)) {
            *is_exempt = is_battery(finding, uid);
            _exit(write(ends[1], is_exempt, sizeof *is_exempt) != sizeof *is_exempt);
        }
        _exit(0);
    }
    close(ends[1]);
    if (child < 0) {
        cannot_tell(finding, "no process for the examination");
    } else if (read_in_time(ends[0], finding, sizeof *finding, deadline_ms)) {
        /* a name service that does not answer changes nothing about the finding */
        if (is_refusal(finding) &&
            !read_in_time(ends[0], is_exempt, sizeof *is_exempt, deadline_ms)) {
            *is_exempt = false;
            kill(child, SIGKILL);
        }
        waitpid(child, NULL, 0);
    } else {
        bool is_late = clock_ms() >= deadline_ms;

        memset(finding, 0, sizeof *finding);
        cannot_tell(finding, is_late ? "no answer within the gate's deadline (munged, a driver or "
                                       "a file system hangs)"
                                     : "the examination ended without an answer");
        kill(child, SIGKILL);
        if (!is_late)
            waitpid(child, NULL, 0);
        /* a moment for what can be killed; what hangs in the kernel is left */
        for (int i = 0; is_late && i < 50 && waitpid(child, NULL, WNOHANG) == 0; i++)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    close(ends[0]);
}

/* ---------------------------------------------------------------- the refusal */

int gate_check(const char *config_path, const struct gate_job *job)
{
    struct finding finding = {0};
    bool is_exempt = false;
    char node[HOST_NAME_MAX + 1], line[1600];

    if (job->uid == 0)
        return 0;
    node_name(node, sizeof node);
    examine_in_time(config_path, node, job->uid, &finding, &is_exempt);
    if (!finding.is_known) {
        host_error("%s: job %u let through, the gate cannot tell: %s", node, job->job_id,
                   finding.message);
        return 0;
    }
    if (finding.state == CERTIFICATE_VALID || finding.policy == POLICY_IGNORE || is_exempt)
        return 0;
    if (!is_refusal(&finding)) {
        host_info("%s: certificate %s: %s; job %u let through", node,
                  certificate_state_name(finding.state), finding.message, job->job_id);
        return 0;
    }
    if (finding.is_braked) {
        host_error("%s: certificate %s: %s; job %u let through, though %s=refuse, as the brake is "
                   "on: %s; to lift it: muster certificate --brake=off",
                   node, certificate_state_name(finding.state), finding.message, job->job_id,
                   finding.key, finding.brake);
        return 0;
    }
    snprintf(line, sizeof line,
             "%s: certificate %s: %s; job %u refused by %s=refuse; next: muster certify -w %s",
             node, certificate_state_name(finding.state), finding.message, job->job_id, finding.key,
             node);
    host_error("%s", line);
    refused_write(finding.certificate_path, line);
    return -1;
}
