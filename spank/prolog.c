/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/prolog.h"

#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/node_name.h"
#include "lib/base/write_all.h"
#include "lib/certificate/brake.h"
#include "lib/certificate/certificate.h"
#include "lib/certificate/fingerprint.h"
#include "lib/certificate/seal.h"
#include "lib/conf/conf.h"
#include "spank/deadline.h"
#include "spank/host.h"
#include "spank/refusal.h"

/* The result of the examination; it crosses a pipe. */
struct finding {
    bool is_known; /* false: the certificate could not be checked, and message says why */
    enum certificate_state state;
    enum conf_policy policy;
    char key[20]; /* the key of muster.conf that decided: "OnMissing" */
    char certificate_path[256];
    char battery_user[33];
    char message[1024];
    bool is_braked; /* policy is to refuse, but the brake is on; brake says why */
    char brake[300];
};

/* ---------------------------------------------------------------- the examination */

static void set_unknown(struct finding *finding, const char *text)
{
    snprintf(finding->message, sizeof finding->message, "%s", text);
}

/* Reads whether the cluster's brake forbids the refusal. */
static void read_brake(const struct conf *conf, const struct certificate *certificate,
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
static char *make_fingerprint(const struct conf *conf, struct error *err)
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
        set_unknown(finding, err.text);
        conf_clear(&conf);
        return;
    }
    snprintf(finding->certificate_path, sizeof finding->certificate_path, "%s",
             conf.certificate_path);
    snprintf(finding->battery_user, sizeof finding->battery_user, "%s", conf.battery_user);
    seal_use_socket(conf.munge_socket);
    fingerprint = make_fingerprint(&conf, &err);
    if (fingerprint == NULL) {
        set_unknown(finding, err.text);
    } else {
        facts.fingerprint = fingerprint;
        finding->is_known = true;
        finding->state = certificate_check(conf.certificate_path, 0, &facts, seal_verify,
                                           &certificate, finding->message, sizeof finding->message);
        finding->policy = certificate_policy(&conf, finding->state, &key);
        snprintf(finding->key, sizeof finding->key, "%s", key);
        if (finding->policy == POLICY_REFUSE)
            read_brake(&conf, &certificate, fingerprint, finding);
        certificate_clear(&certificate);
    }
    free(fingerprint);
    conf_clear(&conf);
}

static bool is_refusal(const struct finding *finding)
{
    return finding->is_known && finding->policy == POLICY_REFUSE;
}

/* Returns whether the user is BatteryUser, whose jobs must run for the node to be certified.
 * Queries the name service, so it is called only for a job that would be refused otherwise. */
static bool is_battery_user(const struct finding *finding, uid_t uid)
{
    const struct passwd *entry = getpwnam(finding->battery_user); /* of any length */

    return entry != NULL && entry->pw_uid == uid;
}

/* ---------------------------------------------------------------- the deadline */

struct request {
    const char *config_path, *node;
    uid_t uid;
};

static void run_examination(int fd, void *context)
{
    const struct request *request = context;
    struct finding finding = {0};
    bool is_exempt;

    examine(request->config_path, request->node, &finding);
    if (write_all(fd, &finding, sizeof finding) == 0 && is_refusal(&finding)) {
        is_exempt = is_battery_user(&finding, request->uid);
        write_all(fd, &is_exempt, sizeof is_exempt);
    }
}

/* Examines in a child process: libmunge, a driver or a file system may hang. */
static void examine_with_deadline(const char *config_path, const char *node, uid_t uid,
                                  struct finding *finding, bool *is_exempt)
{
    struct request request = {config_path, node, uid};
    struct deadline deadline;
    bool is_late;

    if (!deadline_start(&deadline, GATE_DEADLINE_MS, run_examination, &request)) {
        set_unknown(finding, "cannot start a process for the check");
        return;
    }
    if (deadline_read(&deadline, finding, sizeof *finding)) {
        /* if the name service does not answer, the finding stays and the user is not exempt */
        deadline_end(&deadline, !is_refusal(finding) ||
                                    deadline_read(&deadline, is_exempt, sizeof *is_exempt));
        return;
    }
    is_late = deadline_end(&deadline, false);
    memset(finding, 0, sizeof *finding);
    set_unknown(finding, is_late ? "no answer within the gate's deadline (munged, a driver or "
                                   "a file system hangs)"
                                 : "the check ended without an answer");
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
    examine_with_deadline(config_path, node, job->uid, &finding, &is_exempt);
    if (!finding.is_known) {
        host_error("%s: job %u allowed: certificate could not be checked: %s", node, job->job_id,
                   finding.message);
        return 0;
    }
    if (finding.state == CERTIFICATE_VALID || finding.policy == POLICY_IGNORE || is_exempt)
        return 0;
    if (!is_refusal(&finding)) {
        host_info("%s: certificate %s: %s; job %u allowed", node,
                  certificate_state_name(finding.state), finding.message, job->job_id);
        return 0;
    }
    if (finding.is_braked) {
        host_error("%s: certificate %s: %s; job %u allowed despite %s=refuse, because the brake is "
                   "on: %s; to release it: muster certificate --brake=off",
                   node, certificate_state_name(finding.state), finding.message, job->job_id,
                   finding.key, finding.brake);
        return 0;
    }
    snprintf(line, sizeof line,
             "%s: certificate %s: %s; job %u refused by %s=refuse; next: muster certify -w %s",
             node, certificate_state_name(finding.state), finding.message, job->job_id, finding.key,
             node);
    host_error("%s", line);
    refusal_write_note(finding.certificate_path, line);
    return -1;
}
