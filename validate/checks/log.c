/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/certificate/certificate.h"
#include "validate/checks/checks.h"
#include "validate/health/job_lines.h"
#include "validate/health/log_file.h"

/* host.log: the kernel log. The health check reads from where the last one ended. Any other check
 * reads the same new entries, and saves nothing. */

struct log_check {
    const struct checks *checks;
    struct kernel_log *log;
    int64_t now_us, repaired_us;
    bool may_fail;
    struct job_lines *programs; /* new faults of jobs' programs; NULL: not wanted */
};

/* Adds an entry of a job's program; the node's log of jobs shows which job it was. */
static void add_program_fault(struct job_lines *programs, const struct kernel_finding *finding,
                              const struct kmsg_entry *entry)
{
    struct job_line line = {.event = JOB_LOGGED, .value = 1};

    line.begin_s = line.end_s = log_epoch_s(entry->time_us);
    snprintf(line.part, sizeof line.part, "%.31s", finding->part);
    snprintf(line.text, sizeof line.text, "%s %s: %.120s", finding->event->source, finding->name,
             entry->text);
    for (size_t i = 0; i < programs->count; i++) {
        struct job_line *other = &programs->lines[i];

        /* entries that repeat within a minute share one line */
        if (strcmp(other->part, line.part) == 0 && line.end_s - other->begin_s < 60 &&
            strncmp(other->text, line.text, strcspn(line.text, ":")) == 0) {
            other->value++;
            other->end_s = line.end_s;
            return;
        }
    }
    job_lines_add(programs, &line);
}

static void add_entry(const struct kmsg_entry *entry, void *context)
{
    struct log_check *check = context;
    const struct kernel_finding *finding = kernel_log_add(check->log, entry);

    if (finding && finding->event->cause == KERNEL_BY_JOB && check->programs)
        add_program_fault(check->programs, finding, entry);
    if (check->checks->root[0] && entry->time_us > check->now_us)
        check->now_us = entry->time_us; /* a recorded log ends at its last entry */
}

/* Whether part, a PCI address in the log with or without the function, is the device's. */
static bool is_device_address(const char *pci, const char *part)
{
    size_t length = strlen(part);

    return length > 0 && strncasecmp(pci, part, length) == 0 &&
           (pci[length] == '\0' || pci[length] == '.');
}

/* Returns muster's name of the part if the log has a PCI address: "gpu3", "eth1". */
static const char *part_name(const struct inventory *inventory, const char *part, char name[64])
{
    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (is_device_address(inventory->gpus[i].location.pci, part)) {
            snprintf(name, 64, "gpu%zu", i);
            return name;
        }
    for (size_t i = 0; i < inventory->nic_count; i++)
        if (is_device_address(inventory->nics[i].location.pci, part))
            return inventory->nics[i].name;
    return part;
}

enum { DEVICES_DEEP = 8 }; /* arrays and volumes on top of each other */

/* Whether the device is a drive on the network (iSCSI, Fibre Channel, NVMe over Fabrics), or on top
 * of one. directory: the device's in sysfs, below the root. */
static bool is_remote(const char *root, const char *directory, int depth)
{
    static const char *const marks[] = {"/session", "/rport-", "/nvme-fabrics/"};
    /* what is below it, or below the drive of a partition: the drives of an array or a volume; an
     * NVMe drive with several paths is beside links to its controllers */
    static const struct {
        const char *directory, *begin;
    } below[] = {{"slaves", ""}, {"../slaves", ""}, {"..", "nvme"}, {"../..", "nvme"}};
    char path[SYSFS_PATH], real[PATH_MAX];
    bool is_any = false;

    if (sysfs_path(root, path, sizeof path, "%s", directory) != 0 || !realpath(path, real))
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        is_any = is_any || strstr(real, marks[i]);
    for (size_t i = 0; depth > 0 && i < sizeof below / sizeof *below; i++) {
        bool is_controller = *below[i].begin;
        char **names;
        size_t count;

        if (is_any || (is_controller && !strstr(real, "/nvme-subsystem/")))
            break;
        count = sysfs_names(root, &names, "%s/%s", directory, below[i].directory);
        for (size_t k = 0; k < count && !is_any; k++)
            is_any = strncmp(names[k], below[i].begin, strlen(below[i].begin)) == 0 &&
                     sysfs_path(NULL, path, sizeof path, "%s/%s/%s", directory, below[i].directory,
                                names[k]) == 0 &&
                     is_remote(root, path + 1, is_controller ? 0 : depth - 1);
        sysfs_names_free(names, count);
    }
    return is_any;
}

/* Whether the entry is of a drive whose server or network may be at fault. */
static bool is_of_remote_drive(const struct log_check *check, const char *part)
{
    char path[64 + KERNEL_PART];

    snprintf(path, sizeof path, "sys/class/block/%s", part);
    return *part && is_remote(check->checks->root, path, DEVICES_DEEP);
}

static void report_judgement(const struct log_check *check,
                             const struct kernel_judgement *judgement)
{
    char name[64], message[480];

    kernel_log_describe(judgement->finding, check->now_us, message, sizeof message);
    checks_report(
        check->checks,
        RECORD(.part = part_name(check->checks->inventory, judgement->finding->part, name),
               .verdict =
                   judgement->verdict == VERDICT_FAIL &&
                           (!check->may_fail || is_of_remote_drive(check, judgement->finding->part))
                       ? VERDICT_WARN
                       : judgement->verdict,
               .code = judgement->code),
        "%s", message);
}

/* Returns the number of warnings and failures. */
static size_t report_findings(const struct log_check *check)
{
    const struct kernel_finding *program = NULL;
    struct kernel_judgement judgement;
    uint64_t programs = 0;
    size_t reported = 0;
    char name[64], message[400];

    for (size_t i = 0; i < check->log->count; i++) {
        kernel_log_judge(check->log, i, check->checks->conf, check->now_us, check->repaired_us,
                         &judgement);
        if (judgement.verdict >= VERDICT_WARN) {
            report_judgement(check, &judgement);
            reported++;
        } else if (!judgement.is_ignored) {
            programs += judgement.finding->count;
            if (!program || judgement.finding->last_us >= program->last_us)
                program = judgement.finding;
        }
    }
    if (program) {
        kernel_log_describe(program, check->now_us, message, sizeof message);
        checks_record(check->checks, part_name(check->checks->inventory, program->part, name),
                      VERDICT_PASS,
                      "%" PRIu64 " fault%s of jobs' programs, no fault of the node: %s", programs,
                      text_plural(programs), message);
    }
    return reported;
}

static void report_reading(const struct log_check *check, const struct kmsg_reading *reading,
                           size_t reported)
{
    if (reported == 0)
        checks_record(check->checks, "", VERDICT_PASS,
                      "%" PRIu64 " new kernel log entries, no fault of the node", reading->read);
    if (reading->lost > 0)
        checks_record(check->checks, "", VERDICT_SKIP,
                      "%" PRIu64 " kernel log entries were overwritten before they were read; "
                      "check more often, or enlarge the log with log_buf_len",
                      reading->lost);
    if (check->log->left_out > 0)
        checks_record(check->checks, "", VERDICT_WARN,
                      "%" PRIu64 " more fault entries beyond the limit of %d kinds and parts",
                      check->log->left_out, KERNEL_FINDINGS);
}

void check_log(const struct checks *checks)
{
    static struct kernel_log log;
    static struct job_lines programs;
    struct log_check check = {
        checks, &log, 0, INT64_MIN, checks->is_in_service, checks->keeps_state ? &programs : NULL};
    char boot_id[sizeof log.boot_id] = "-", path[SYSFS_PATH];
    struct kmsg_reading reading;
    struct error err = {""};
    int result;

    sysfs_line(checks->root, boot_id, sizeof boot_id, "proc/sys/kernel/random/boot_id");
    kernel_log_init(&log, boot_id);
    if (!checks->root[0]) {
        log_file_load(boot_id, &log);
        check.now_us = log_now_us();
        check.repaired_us = log_repaired_us(checks->conf, boot_id);
    }
    if (sysfs_path(checks->root, path, sizeof path, "dev/kmsg") != 0)
        return;
    result = kmsg_read(path, log.next, add_entry, &check, &reading, &err);
    if (result != 0) {
        checks_record(checks, "", result > 0 ? VERDICT_SKIP : VERDICT_UNKNOWN,
                      "cannot read the kernel log: %s", err.text);
        return;
    }
    log.next = reading.next;
    if (checks->keeps_state) {
        kernel_log_prune(&log, check.now_us, check.repaired_us);
        if (log_file_save(&log, &err) != 0) {
            check.may_fail = false; /* else each check would drain the node for the same entry */
            checks_record(checks, "", VERDICT_UNKNOWN, "cannot save the kernel log position: %s",
                          err.text);
        } else {
            job_lines_attribute(&programs, checks->conf);
        }
    }
    report_reading(&check, &reading, report_findings(&check));
}
