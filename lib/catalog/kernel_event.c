/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/catalog/kernel_event.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/catalog/kernel_nvidia.h"

#define XID_HEAD "NVRM: Xid (%P): "
#define SXID_HEAD "nvidia-nvswitch%d: SXid (%P): "
#define ROW(source, name, cause, action, code, follows, times, within_s, ends, pattern, reference, \
            meaning)                                                                               \
    {                                                                                              \
        source, name, pattern, KERNEL_BY_##cause, KERNEL_##action, FAULT_##code, follows, times,   \
            within_s, ends, reference, meaning                                                     \
    }
#define EVENT(source, name, cause, action, code, pattern, reference, meaning)                      \
    ROW(source, name, cause, action, code, false, 0, 0, "", pattern, reference, meaning)
#define BURST(source, name, cause, action, code, times, within_s, pattern, reference, meaning)     \
    ROW(source, name, cause, action, code, false, times, within_s, "", pattern, reference, meaning)
#define END(source, name, ends, pattern, reference, meaning)                                       \
    ROW(source, name, MACHINE, IGNORE, NONE, false, 0, 0, ends, pattern, reference, meaning)
#define VIRTUAL(source, pattern, reference)                                                        \
    EVENT(source, "virtual", EITHER, WARN, FILESYSTEM_ERRORS, pattern, reference,                  \
          "error of a device that is a file, as a container's image is, or on the network")

#define KERNEL_XID(number, cause, action, code, reference, meaning)                                \
    KERNEL_XID_TEXT(number, "", cause, action, code, reference, meaning)
#define KERNEL_XID_TEXT(number, text, cause, action, code, reference, meaning)                     \
    EVENT("xid", #number, cause, action, code, XID_HEAD #number "," text, "NVIDIA " reference,     \
          meaning),
#define KERNEL_XID_FOLLOWS(number, cause, action, code, reference, meaning)                        \
    ROW("xid", #number, cause, action, code, true, 0, 0, "", XID_HEAD #number ",",                 \
        "NVIDIA " reference, meaning),
#define KERNEL_XID_END(number, text, reference, meaning, ends)                                     \
    END("xid", #number, ends, XID_HEAD #number "," text, "NVIDIA " reference, meaning),
/* A row that drains matches only entries that the driver calls "Fatal". Entries that the guide
 * calls not fatal, and some others, are written as not fatal: these never drain. */
#define KERNEL_SXID(number, cause, action, code, reference, meaning)                               \
    EVENT("sxid", #number, cause, action, code, SXID_HEAD #number ", " SXID_##action,              \
          "NVIDIA " reference, meaning),
#define SXID_IGNORE
#define SXID_WARN
#define SXID_DRAIN "Fatal"

/* A pattern begins with a literal byte. The text before its first * is long and exact enough that
 * no user can make the kernel log it: some lines begin with the name of a process (15 bytes),
 * others end with a file's name of any length. A unit test checks every row. */

/* clang-format off */
const struct kernel_event kernel_events[] = {
    KERNEL_XID_TABLE
    KERNEL_SXID_TABLE
    EVENT("xid", "79", MACHINE, DRAIN, GPU_LOST, "NVRM: GPU %P: GPU has fallen off the bus", "NVIDIA RESTART_BM", "GPU has fallen off the bus"),
    EVENT("xid", "79", MACHINE, DRAIN, GPU_LOST, "NVRM: fallen off the bus and is not responding to commands", "NVIDIA RESTART_BM", "GPU has fallen off the bus"),
    EVENT("xid", "", MACHINE, WARN, GPU_DRIVER_ERROR, XID_HEAD "%d,", "not in NVIDIA's catalog", "an XID that muster does not know"),
    EVENT("sxid", "", MACHINE, WARN, GPU_SWITCH_ERRORS, SXID_HEAD "%d, ", "not in NVIDIA's guide, or not fatal", "an SXID that muster does not know, or that is not fatal"),
    EVENT("nvidia", "init_failed", MACHINE, WARN, GPU_DRIVER_ERROR, "NVRM: GPU %P: RmInitAdapter failed", "NVIDIA's driver", "the driver could not start a GPU"),

    EVENT("amdgpu", "page_fault", JOB, WARN, APPLICATION_FAULT, "amdgpu %P: *page fault (src_id:%d ring:", "Linux amdgpu", "page fault of a program on the GPU"),
    EVENT("amdgpu", "lost", MACHINE, DRAIN, GPU_LOST, "amdgpu %P: *device lost from bus!", "Linux amdgpu_device.c", "GPU has fallen off the bus"),
    EVENT("amdgpu", "reset_failed", MACHINE, DRAIN, GPU_RESET_REQUIRED, "amdgpu %P: *GPU reset end with ret = -", "Linux amdgpu_device.c", "a reset of the GPU failed"),
    END("amdgpu", "reset_done", "reset_failed", "amdgpu %P: *GPU reset(%d) succeeded!", "Linux amdgpu_device.c", "a reset of the GPU succeeded"),
    EVENT("amdgpu", "reset", EITHER, WARN, GPU_WAS_RESET, "amdgpu %P: *GPU reset begin!", "Linux amdgpu_device.c", "the driver resets the GPU"),
    EVENT("amdgpu", "ring_timeout", EITHER, WARN, GPU_DRIVER_ERROR, "amdgpu %P: *ring %w timeout, signaled seq=", "Linux amdgpu_job.c", "a job on the GPU timed out"),
    EVENT("amdgpu", "ring_timeout", EITHER, WARN, GPU_DRIVER_ERROR, "[drm:amdgpu_job_timedout [amdgpu]] ", "Linux amdgpu_job.c", "a job on the GPU timed out"),
    EVENT("amdgpu", "ras_fatal", MACHINE, DRAIN, GPU_RESET_REQUIRED, "amdgpu %P: *uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!", "Linux amdgpu_ras.c", "fatal hardware error of the GPU"),
    EVENT("amdgpu", "ras_uncorrectable", MACHINE, DRAIN, GPU_MEMORY_ERRORS, "amdgpu %P: *new uncorrectable hardware errors detected in ", "Linux amdgpu_ras.c", "uncorrectable error of the GPU"),
    BURST("amdgpu", "ras_correctable", MACHINE, WARN, GPU_MEMORY_CORRECTED, 10, 3600, "amdgpu %P: *new correctable hardware errors detected in ", "Linux amdgpu_ras.c", "correctable errors of the GPU"),
    /* written whenever somebody reads the counters, and wrong if the GPU sleeps */
    EVENT("amdgpu", "ras_total", MACHINE, IGNORE, GPU_MEMORY_ERRORS, "amdgpu %P: *correctable hardware errors detected in ", "Linux amdgpu_ras.c", "a total, not an event; gpu.health reads the counters"),

    EVENT("habanalabs", "heartbeat", MACHINE, WARN, GPU_DRIVER_ERROR, "habanalabs %D: *Device heartbeat failed!", "Linux habanalabs device.c", "firmware of the accelerator does not answer; the driver resets it"),
    EVENT("habanalabs", "reset_failed", MACHINE, DRAIN, GPU_RESET_REQUIRED, "habanalabs %D: *Failed to reset! Device is NOT usable", "Linux habanalabs device.c", "a reset of the accelerator failed"),
    EVENT("habanalabs", "heartbeat", MACHINE, WARN, GPU_DRIVER_ERROR, "accel %D: *Device heartbeat failed!", "Linux habanalabs device.c", "firmware of the accelerator does not answer; the driver resets it"),
    EVENT("habanalabs", "reset_failed", MACHINE, DRAIN, GPU_RESET_REQUIRED, "accel %D: *Failed to reset! Device is NOT usable", "Linux habanalabs device.c", "a reset of the accelerator failed"),
    END("habanalabs", "reset_done", "heartbeat reset_failed", "habanalabs %D: *Successfully finished resetting the ", "Linux habanalabs device.c", "a reset of the accelerator succeeded"),
    END("habanalabs", "reset_done", "heartbeat reset_failed", "accel %D: *Successfully finished resetting the ", "Linux habanalabs device.c", "a reset of the accelerator succeeded"),

    /* registers that the firmware reserves; each read of a counter writes this entry (gpud 1164) */
    EVENT("mlx5", "access_reg", MACHINE, IGNORE, NIC_ERRORS, "mlx5_core %P: mlx5_cmd_out_err:*ACCESS_REG(", "gpud 1164", "a register that the firmware reserves"),
    EVENT("mlx5", "health", MACHINE, DRAIN, NIC_FAILED, "mlx5_core %P: poll_health:*device's health compromised", "Linux mlx5 health.c; NVSentinel", "firmware of the NIC does not answer"),
    EVENT("mlx5", "fatal", MACHINE, WARN, NIC_ERRORS, "mlx5_core %P: poll_health:*Fatal error ", "Linux mlx5 health.c", "fatal error of the NIC; the driver tries to recover it"),
    EVENT("mlx5", "recovery_failed", MACHINE, DRAIN, NIC_FAILED, "mlx5_core %P: *health recovery failed", "Linux mlx5 health.c", "the driver could not recover the NIC"),
    END("mlx5", "recovered", "health fatal recovery_failed", "mlx5_core %P: *health recovery succeeded", "Linux mlx5 health.c", "the driver has recovered the NIC"),
    EVENT("mlx5", "command", MACHINE, WARN, NIC_ERRORS, "mlx5_core %P: *timeout. Will cause a leak of a command resource", "Linux mlx5 cmd.c", "firmware of the NIC does not answer a command"),
    EVENT("mlx5", "power", MACHINE, WARN, NIC_ERRORS, "mlx5_core %P: *Detected insufficient power on the PCIe slot", "Linux mlx5 events.c", "insufficient power at the NIC's slot"),
    EVENT("mlx5", "module", MACHINE, WARN, NIC_ERRORS, "mlx5_core %P: *Port module event[error]:", "Linux mlx5 events.c", "fault of a cable or transceiver"),
    EVENT("bnxt", "firmware", MACHINE, WARN, NIC_ERRORS, "bnxt_en %P *Firmware not responding, status: ", "Linux bnxt.c", "firmware of the NIC does not answer"),
    EVENT("bnxt", "timeout", MACHINE, WARN, NIC_ERRORS, "bnxt_en %P *TX timeout detected, starting reset task!", "Linux bnxt.c", "the NIC did not send; the driver resets it"),
    EVENT("irdma", "event", EITHER, WARN, NIC_ERRORS, "ice %P *: abnormal ae_id = 0x%x", "Linux irdma hw.c", "a connection of the NIC failed"),
    EVENT("irdma", "event", EITHER, WARN, NIC_ERRORS, "infiniband %D: abnormal ae_id = 0x%x", "Linux irdma hw.c", "a connection of the NIC failed"),

    EVENT("mce", "exception", MACHINE, WARN, MACHINE_CHECK, "mce: [Hardware Error]: CPU %d: Machine Check Exception: ", "Linux mce/core.c", "machine check exception of a processor"),
    EVENT("mce", "memory", MACHINE, DRAIN, MEMORY_ERRORS, "mce: Uncorrected hardware memory error in user-access at ", "Linux mce/core.c", "uncorrected error of host memory"),
    EVENT("mce", "apei", MACHINE, WARN, MACHINE_CHECK, "{%d}[Hardware Error]: event severity: fatal", "Linux apei/ghes.c", "hardware error that the firmware reports"),
    EVENT("mce", "apei", MACHINE, WARN, MACHINE_CHECK, "{%d}[Hardware Error]: event severity: recoverable", "Linux apei/ghes.c", "hardware error that the firmware reports"),
    EVENT("edac", "ue", MACHINE, DRAIN, MEMORY_ERRORS, "EDAC %D: %d UE *page:0x%x", "Linux edac_mc.c", "uncorrected error of host memory"),
    BURST("edac", "ce", MACHINE, WARN, MEMORY_CORRECTED, 10, 3600, "EDAC %D: %d CE *page:0x%x", "Linux edac_mc.c", "corrected errors of host memory"),
    EVENT("aer", "fatal", MACHINE, WARN, PCIE_ERRORS, "pcieport %P: AER: *Uncorrect%a (Fatal) error", "Linux aer.c", "fatal error on the PCI bus"),
    EVENT("aer", "nonfatal", MACHINE, WARN, PCIE_ERRORS, "pcieport %P: AER: *Uncorrect%a (Non-Fatal) error", "Linux aer.c", "uncorrectable error on the PCI bus"),
    BURST("aer", "corrected", MACHINE, WARN, PCIE_ERRORS, 100, 3600, "pcieport %P: AER: *Correct%a error", "Linux aer.c", "corrected errors on the PCI bus"),
    EVENT("aer", "recovery_failed", MACHINE, WARN, PCIE_ERRORS, "pcieport %P: AER: device recovery failed", "Linux pcie/err.c", "a device did not recover from an error on the PCI bus"),
    EVENT("aer", "link_down", MACHINE, WARN, PCIE_ERRORS, "pcieport %P: pciehp: Slot(%w Link Down", "Linux pciehp_ctrl.c", "a PCIe slot lost its link"),

    EVENT("nvme", "failed", MACHINE, DRAIN, DISK_FAILED, "nvme %D: Disabling device after reset failure: ", "Linux nvme/host/pci.c", "the kernel disabled a drive"),
    EVENT("nvme", "failed", MACHINE, DRAIN, DISK_FAILED, "nvme %D: Removing after probe failure status: ", "Linux nvme/host/pci.c", "the kernel disabled a drive"),
    EVENT("nvme", "timeout", MACHINE, WARN, DISK_ERRORS, "nvme %D: I/O *timeout, reset controller", "Linux nvme/host/pci.c", "a drive did not answer and is reset"),
    EVENT("nvme", "down", MACHINE, WARN, DISK_ERRORS, "nvme %D: controller is down; will reset: ", "Linux nvme/host/pci.c", "a drive's controller is down and is reset"),
    EVENT("nvme", "no_path", MACHINE, WARN, DISK_ERRORS, "block %D: no available path - failing I/O", "Linux nvme/host/multipath.c", "a drive cannot be reached"),
    /* drives without a medium, as virtual machines have */
    EVENT("disk", "no_medium", MACHINE, IGNORE, DISK_ERRORS, "I/O error, dev fd%d, ", "Linux blk-core.c", "a floppy drive without a medium"),
    EVENT("disk", "no_medium", MACHINE, IGNORE, DISK_ERRORS, "I/O error, dev sr%d, ", "Linux blk-core.c", "an optical drive without a medium"),
    EVENT("disk", "no_medium", MACHINE, IGNORE, DISK_ERRORS, "blk_update_request: I/O error, dev fd%d, ", "Linux blk-core.c", "a floppy drive without a medium"),
    EVENT("disk", "no_medium", MACHINE, IGNORE, DISK_ERRORS, "blk_update_request: I/O error, dev sr%d, ", "Linux blk-core.c", "an optical drive without a medium"),
    /* a user can mount a damaged image by a setuid program, and so cause these entries */
    VIRTUAL("disk", "I/O error, dev %V, sector ", "Linux blk-core.c"),
    VIRTUAL("disk", "blk_update_request: I/O error, dev %V, sector ", "Linux blk-core.c"),
    VIRTUAL("disk", "critical medium error, dev %V, sector ", "Linux blk-core.c"),
    VIRTUAL("disk", "Buffer I/O error on dev %V, logical block ", "Linux fs/buffer.c"),
    EVENT("disk", "error", MACHINE, WARN, DISK_ERRORS, "I/O error, dev %D, sector %d ", "Linux blk-core.c", "a drive could not read or write"),
    EVENT("disk", "error", MACHINE, WARN, DISK_ERRORS, "blk_update_request: I/O error, dev %D, sector ", "Linux blk-core.c", "a drive could not read or write"),
    EVENT("disk", "error", MACHINE, WARN, DISK_ERRORS, "critical medium error, dev %D, sector ", "Linux blk-core.c", "a drive could not read or write"),
    EVENT("disk", "error", MACHINE, WARN, DISK_ERRORS, "Buffer I/O error on dev %D, logical block ", "Linux fs/buffer.c", "a drive could not read or write"),
    EVENT("disk", "raid", MACHINE, WARN, DISK_ERRORS, "md/raid%d:%w Disk failure on %D", "Linux md", "a drive of an array failed"),
    VIRTUAL("ext4", "EXT4-fs (%V): Remounting filesystem read-only", "Linux ext4 super.c"),
    VIRTUAL("ext4", "EXT4-fs error (device %V): ", "Linux ext4 super.c"),
    VIRTUAL("xfs", "XFS (%V): Filesystem has been shut down due to ", "Linux xfs_fsops.c"),
    VIRTUAL("xfs", "XFS (%V): *Shutting down filesystem", "Linux xfs_fsops.c"),
    VIRTUAL("xfs", "XFS (%V): Metadata corruption detected at ", "Linux xfs_error.c"),
    VIRTUAL("xfs", "XFS (%V): metadata I/O error in ", "Linux xfs_buf.c"),
    EVENT("ext4", "read_only", MACHINE, DRAIN, FILESYSTEM_FAILED, "EXT4-fs (%D): Remounting filesystem read-only", "Linux ext4 super.c", "a file system was made read-only after an error"),
    EVENT("ext4", "error", MACHINE, WARN, FILESYSTEM_ERRORS, "EXT4-fs error (device %D): ", "Linux ext4 super.c", "error of a file system"),
    EVENT("xfs", "shut_down", MACHINE, DRAIN, FILESYSTEM_FAILED, "XFS (%D): Filesystem has been shut down due to ", "Linux xfs_fsops.c", "a file system was shut down after an error"),
    EVENT("xfs", "shut_down", MACHINE, DRAIN, FILESYSTEM_FAILED, "XFS (%D): *Shutting down filesystem", "Linux xfs_fsops.c", "a file system was shut down after an error"),
    EVENT("xfs", "error", MACHINE, WARN, FILESYSTEM_ERRORS, "XFS (%D): Metadata corruption detected at ", "Linux xfs_error.c", "error of a file system"),
    EVENT("xfs", "error", MACHINE, WARN, FILESYSTEM_ERRORS, "XFS (%D): metadata I/O error in ", "Linux xfs_buf.c", "error of a file system"),

    EVENT("kernel", "hung_task", EITHER, WARN, TASK_HUNG, "INFO: task *:%d blocked for more than %d seconds", "Linux hung_task.c", "a process is blocked in the kernel"),
    EVENT("kernel", "lockup", EITHER, WARN, KERNEL_ERROR, "watchdog: BUG: soft lockup - CPU#%d stuck for ", "Linux watchdog.c", "a processor is stuck in the kernel"),
    EVENT("kernel", "lockup", EITHER, WARN, KERNEL_ERROR, "watchdog: Watchdog detected hard LOCKUP on cpu ", "Linux watchdog.c", "a processor is stuck in the kernel"),
    EVENT("kernel", "stall", EITHER, WARN, KERNEL_ERROR, "rcu: INFO: rcu_%a *detected stall", "Linux rcu/tree_stall.h", "a processor is stuck in the kernel"),
    EVENT("kernel", "oops", EITHER, WARN, KERNEL_ERROR, "BUG: unable to handle ", "Linux mm/fault.c", "error inside the kernel"),
    EVENT("kernel", "oops", EITHER, WARN, KERNEL_ERROR, "BUG: kernel NULL pointer dereference", "Linux mm/fault.c", "error inside the kernel"),
    EVENT("kernel", "oops", EITHER, WARN, KERNEL_ERROR, "kernel BUG at ", "Linux bug.c", "error inside the kernel"),
    EVENT("kernel", "out_of_memory", EITHER, WARN, SYSTEM_PROCESS_KILLED, "Out of memory: Killed process %d (*, UID:0 pgtables:", "Linux oom_kill.c", "a process of root was killed because memory ran out"),
    EVENT("thermal", "processor", MACHINE, WARN, HOST_HOT, "CPU%d: Core temperature is above threshold, cpu clock is throttled", "Linux therm_throt.c", "a processor is too hot"),
    EVENT("thermal", "processor", MACHINE, WARN, HOST_HOT, "CPU%d: Package temperature is above threshold, cpu clock is throttled", "Linux therm_throt.c", "a processor is too hot"),
    EVENT("thermal", "processor", MACHINE, WARN, HOST_HOT, "mce: CPU%d: Core temperature above threshold", "Linux therm_throt.c", "a processor is too hot"),
    EVENT("thermal", "processor", MACHINE, WARN, HOST_HOT, "mce: CPU%d: Package temperature above threshold", "Linux therm_throt.c", "a processor is too hot"),
    EVENT("thermal", "critical", MACHINE, WARN, HOST_HOT, "thermal thermal_zone%d: *critical temperature reached", "Linux thermal_core.c", "the node shuts down because it is too hot"),
};
/* clang-format on */
const size_t kernel_event_count = sizeof kernel_events / sizeof *kernel_events;

/* The number of rows at the begin of the table that match only a text with a code. */
enum {
    CODED = sizeof((const struct kernel_event[]){KERNEL_XID_TABLE KERNEL_SXID_TABLE}) /
            sizeof(struct kernel_event)
};

/* ---------------------------------------------------------------- names */

static const char *const action_names[] = {"ignore", "warn", "drain"};

const char *kernel_action_name(enum kernel_action action)
{
    return (unsigned)action <= KERNEL_DRAIN ? action_names[action] : "unknown";
}

int kernel_action_parse(const char *name)
{
    for (int action = KERNEL_IGNORE; action <= KERNEL_DRAIN; action++)
        if (strcasecmp(name, action_names[action]) == 0)
            return action;
    return -1;
}

static bool is_number(const char *name)
{
    return strspn(name, "0123456789") == strlen(name) && *name && *name != '0' && strlen(name) <= 5;
}

const struct kernel_event *kernel_event_find(const char *source, const char *name)
{
    bool is_code = is_number(name);

    for (size_t i = 0; i < kernel_event_count; i++) {
        const struct kernel_event *event = &kernel_events[i];

        if (strcasecmp(event->source, source) == 0 &&
            (*event->name ? strcasecmp(event->name, name) == 0 : is_code))
            return event;
    }
    return NULL;
}

/* ---------------------------------------------------------------- patterns */

struct match {
    const char *part;
    size_t part_length;
};

/* Returns the length of a PCI address, with or without a function; 0 if text does not begin with
 * one. */
static size_t address_length(const char *text)
{
    static const char form[] = "xxxx:xx:xx";
    size_t length = 0;

    for (; form[length]; length++)
        if (form[length] == 'x' ? !isxdigit((unsigned char)text[length])
                                : text[length] != form[length])
            return 0;
    if (text[length] == '.' && text[length + 1] >= '0' && text[length + 1] <= '7')
        length += 2;
    return length;
}

static size_t word_length(char kind, const char *text)
{
    static const char device[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t length = 0;

    switch (kind) {
    case 'd':
        return strspn(text, "0123456789");
    case 'x':
        length = text[0] == '0' && text[1] == 'x' ? 2 : 0;
        return length + strspn(text + length, "0123456789abcdefABCDEF");
    case 'a':
        while (isalpha((unsigned char)text[length]))
            length++;
        return length;
    case 'w':
        while (text[length] && text[length] != ' ')
            length++;
        return length;
    default:
        return strspn(text, device);
    }
}

/* Returns the length of the name of a block device that is a file or on the network; 0 if text does
 * not begin with one. */
static size_t virtual_length(const char *text)
{
    static const char *const kinds[] = {"loop", "nbd", "rbd"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0 &&
            isdigit((unsigned char)text[strlen(kinds[i])]))
            return word_length('D', text);
    return 0;
}

/* Returns whether the pattern matches the beginning of the text. */
static bool pattern_match(const char *pattern, const char *text, struct match *match)
{
    for (; *pattern; pattern++) {
        size_t length = 1;

        if (*pattern == '*') {
            for (; *text; text++)
                if (pattern_match(pattern + 1, text, match))
                    return true;
            return pattern[1] == '\0';
        }
        if (*pattern == '%' && pattern[1] == 'P') {
            text += strncmp(text, "PCI:", 4) == 0 ? 4 : 0;
            length = address_length(text);
        } else if (*pattern == '%' && pattern[1] == 'V') {
            length = virtual_length(text);
        } else if (*pattern == '%') {
            length = word_length(pattern[1], text);
        } else if (*pattern != *text) {
            return false;
        }
        if (length == 0)
            return false;
        if (*pattern == '%' && strchr("PDV", pattern[1]))
            *match = (struct match){text, length};
        pattern += *pattern == '%';
        text += length;
    }
    return true;
}

/* Returns whether the text begins with "NAME[PID]", as in "NAME[PID]: segfault at ... in FILE": a
 * user chooses the names of processes and files. */
static bool is_of_process(const char *text)
{
    enum { NAME = 15 };
    size_t digits;

    for (size_t i = 0; i <= NAME && text[i]; i++) {
        digits = text[i] == '[' ? strspn(text + i + 1, "0123456789") : 0;
        if (digits > 0 && text[i + 1 + digits] == ']')
            return true;
    }
    return false;
}

/* Reads the number after one of NVIDIA's heads; "" if the text has none. */
static void read_code(const char *text, char name[KERNEL_NAME])
{
    static const char *const heads[] = {XID_HEAD, SXID_HEAD};
    struct match match;
    const char *code;
    size_t length;

    *name = '\0';
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (!pattern_match(heads[i], text, &match))
            continue;
        code = strstr(match.part + match.part_length, "): ");
        length = code ? strspn(code + 3, "0123456789") : 0;
        if (length > 0 && length <= 5)
            snprintf(name, KERNEL_NAME, "%.*s", (int)length, code + 3);
        return;
    }
}

const struct kernel_event *kernel_event_match(const char *text, char part[KERNEL_PART],
                                              char name[KERNEL_NAME])
{
    struct match match;

    *part = '\0';
    read_code(text, name);
    if (is_of_process(text))
        return NULL;
    for (size_t i = *name ? 0 : CODED; i < kernel_event_count; i++) {
        const struct kernel_event *event = &kernel_events[i];

        /* compare the code first: many rows with codes begin alike */
        if (*name && *event->name && (*event->name != *name || strcmp(event->name, name) != 0))
            continue;
        match = (struct match){NULL, 0};
        if (*event->pattern != *text || !pattern_match(event->pattern, text, &match))
            continue;
        if (match.part_length >= KERNEL_PART)
            return NULL;
        snprintf(part, KERNEL_PART, "%.*s", (int)match.part_length, match.part ? match.part : "");
        if (!*name)
            snprintf(name, KERNEL_NAME, "%s", event->name);
        return event;
    }
    return NULL;
}
