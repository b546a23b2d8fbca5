/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/netif.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/node_name.h"
#include "lib/conf/conf.h"
#include "lib/netif/netif_apply.h"
#include "spank/deadline.h"
#include "spank/host.h"
#include "spank/refusal.h"

enum hook { HOOK_PROLOG, HOOK_EPILOG, HOOK_SLURMD_START };

/* The child's results, in memory shared with the parent, which reads them even after the child was
 * killed. */
struct outcome {
    bool is_done, is_late;
    bool is_conf_bad;
    enum conf_policy policy;
    char certificate_path[256];
    struct error err;
    struct netif_report report;
};

/* ---------------------------------------------------------------- the child */

static void restore(const char *journal_path, const struct netif_machine *machine, enum hook hook,
                    uint32_t job_id, struct netif_report *report)
{
    netif_restore(journal_path, NETIF_LOCK_MS, machine,
                  hook == HOOK_EPILOG ? RESTORE_JOB : RESTORE_ORPHANS, job_id, report);
}

static void apply_or_restore(struct outcome *outcome, const char *config_path, enum hook hook,
                             uint32_t job_id)
{
    struct netif_machine machine;
    struct conf conf;
    struct error err;

    /* without muster.conf, settings can still be restored: conf has the journal's default path */
    if (conf_read(config_path, &conf, &outcome->err) < 0)
        outcome->is_conf_bad = true;
    outcome->policy = conf.on_interface;
    snprintf(outcome->certificate_path, sizeof outcome->certificate_path, "%s",
             conf.certificate_path);
    if (hook == HOOK_PROLOG && conf.netif_line_count == 0 &&
        access(conf.interface_journal, F_OK) != 0) {
        conf_clear(&conf);
        return;
    }
    if (netif_machine_open(&machine, "", &err) != 0) {
        netif_report_add(&outcome->report, LINE_FAILED, "%s", err.text);
        outcome->report.failed++;
        outcome->report.inconclusive++;
        conf_clear(&conf);
        return;
    }
    if (hook != HOOK_PROLOG || conf.netif_line_count == 0) {
        restore(conf.interface_journal, &machine, hook, job_id, &outcome->report);
    } else {
        netif_apply(conf.interface_journal, NETIF_LOCK_MS, &machine, conf.netif_lines,
                    conf.netif_line_count, job_id, &outcome->report);
        if (netif_is_at_fault(&outcome->report, true, false) && conf.on_interface == POLICY_REFUSE)
            restore(conf.interface_journal, &machine, HOOK_EPILOG, job_id, &outcome->report);
    }
    netif_machine_close(&machine);
    conf_clear(&conf);
}

/* ---------------------------------------------------------------- the deadline */

struct request {
    struct outcome *outcome;
    const char *config_path;
    enum hook hook;
    uint32_t job_id;
};

/* The answer is one byte: the results are in the shared memory. */
static void run_and_report(int fd, void *context)
{
    const struct request *request = context;

    apply_or_restore(request->outcome, request->config_path, request->hook, request->job_id);
    request->outcome->is_done = true;
    (void)!write(fd, "", 1);
}

/* Does the work in a child. Returns the shared memory, which the caller unmaps, or NULL after it
 * has logged the reason. */
static struct outcome *run_with_deadline(const char *config_path, enum hook hook, uint32_t job_id)
{
    struct request request = {.config_path = config_path, .hook = hook, .job_id = job_id};
    struct outcome *outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct deadline deadline;
    bool is_complete;
    char byte;

    if (outcome == MAP_FAILED) {
        host_error("out of memory to set interfaces: %s", strerror(errno));
        return NULL;
    }
    request.outcome = outcome;
    if (!deadline_start(&deadline, NETIF_DEADLINE_MS, run_and_report, &request)) {
        error_set(&outcome->err, "cannot start a process to set interfaces: %s", strerror(errno));
        return outcome;
    }
    is_complete = deadline_read(&deadline, &byte, 1);
    outcome->is_late = deadline_end(&deadline, is_complete);
    if (!outcome->is_done && outcome->is_late)
        error_set(
            &outcome->err,
            "setting the interfaces did not end within %d ms (%s); the journal lists what was set",
            NETIF_DEADLINE_MS,
            outcome->report.has_waited ? "another job was setting them"
                                       : "a driver or a file system hangs");
    else if (!outcome->is_done)
        error_set(&outcome->err, "the process that sets the interfaces ended early");
    return outcome;
}

/* ---------------------------------------------------------------- the log */

/* Logs the lines. Sets first to the line of the first setting that failed, or "". */
static void log_lines(const char *node, const struct outcome *outcome, char *first,
                      size_t first_size)
{
    const struct netif_report *report = &outcome->report;

    *first = '\0';
    for (size_t i = 0; i < report->line_count; i++) {
        const struct netif_report_line *line = &report->lines[i];

        if (line->kind == LINE_FAILED && !*first)
            snprintf(first, first_size, "%s", line->text);
        if (line->kind == LINE_INFO)
            host_info("%s: %s", node, line->text);
        else if (line->kind == LINE_NOT_RESTORED || outcome->policy != POLICY_IGNORE)
            host_error("%s: %s", node, line->text);
    }
    if (report->left_out > 0)
        host_info("%s: %u more lines about interfaces", node, report->left_out);
}

int netif_prolog(const char *config_path, uint32_t job_id)
{
    struct outcome *outcome = run_with_deadline(config_path, HOOK_PROLOG, job_id);
    char node[HOST_NAME_MAX + 1], first[REPORT_TEXT] = "", line[800];
    bool is_refused;

    if (outcome == NULL)
        return 0;
    node_name(node, sizeof node);
    if (outcome->is_conf_bad || !outcome->is_done)
        host_error("%s: %s%s", node, outcome->is_conf_bad ? "interfaces left unchanged: " : "",
                   outcome->err.text);
    log_lines(node, outcome, first, sizeof first);
    is_refused = !outcome->is_conf_bad && outcome->policy == POLICY_REFUSE &&
                 netif_is_at_fault(&outcome->report, outcome->is_done, outcome->is_late);
    if (is_refused) {
        snprintf(line, sizeof line, "%s: %s; job %u refused by OnInterface=refuse", node,
                 *first ? first : outcome->err.text, job_id);
        host_error("%s", line);
        refusal_write_note(outcome->certificate_path, line);
    }
    munmap(outcome, sizeof *outcome);
    return is_refused ? -1 : 0;
}

static void restore_and_report(const char *config_path, enum hook hook, uint32_t job_id)
{
    struct outcome *outcome = run_with_deadline(config_path, hook, job_id);
    char node[HOST_NAME_MAX + 1], first[REPORT_TEXT];

    if (outcome == NULL)
        return;
    node_name(node, sizeof node);
    if (outcome->is_conf_bad && hook == HOOK_EPILOG)
        host_error("%s: using the default path of the interface journal: %s", node,
                   outcome->err.text);
    if (!outcome->is_done)
        host_error("%s: %s", node, outcome->err.text);
    log_lines(node, outcome, first, sizeof first);
    munmap(outcome, sizeof *outcome);
}

void netif_epilog(const char *config_path, uint32_t job_id)
{
    restore_and_report(config_path, HOOK_EPILOG, job_id);
}

void netif_recover(const char *config_path)
{
    restore_and_report(config_path, HOOK_SLURMD_START, 0);
}
