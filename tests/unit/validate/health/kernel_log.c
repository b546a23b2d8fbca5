/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/kernel_log.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/splitmix.h"
#include "validate/health/log_file.h"

enum { SECOND_US = 1000000, NOW_S = 200000 };
static const int64_t now_us = (int64_t)NOW_S * SECOND_US;

static struct kernel_log kernel;
static struct conf conf;

/* Takes a kernel entry that was written ago_s before now. */
static void add_entry(const char *text, int64_t ago_s)
{
    struct kmsg_entry entry = {.priority = 3, .time_us = now_us - ago_s * SECOND_US};

    snprintf(entry.text, sizeof entry.text, "%s", text);
    kernel_log_add(&kernel, &entry);
}

static void log_init(void)
{
    kernel_log_init(&kernel, "boot-1");
}

static struct kernel_judgement judgement_of(size_t index)
{
    struct kernel_judgement judgement;

    kernel_log_judge(&kernel, index, &conf, now_us, 0, &judgement);
    return judgement;
}

static size_t count_verdicts(enum verdict verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < kernel.count; i++)
        count += judgement_of(i).verdict == verdict;
    return count;
}

/* ---------------------------------------------------------------- every event */

/* Writes an entry that matches the event's pattern. */
static void make_example(const struct kernel_event *event, char *text, size_t size)
{
    static const struct {
        char kind;
        const char *text;
    } words[] = {{'d', "7"},    {'x', "0x1f"}, {'a', "able"}, {'w', "w0:"}, {'P', "0000:9b:00.0"},
                 {'D', "sda1"}, {'V', "loop0"}};
    size_t length = 0;

    *text = '\0';
    for (const char *at = event->pattern; *at && length < size - 1; at++) {
        const char *put = NULL;
        char byte[2] = {*at, '\0'};

        for (size_t i = 0; *at == '%' && i < sizeof words / sizeof *words; i++)
            if (words[i].kind == at[1])
                put = words[i].text;
        if (put && at[1] == 'd' && !*event->name)
            put = "99999"; /* a code that the table does not have */
        if (put)
            at++;
        else
            put = *at == '*' ? "some words" : byte;
        length += (size_t)snprintf(text + length, size - length, "%s", put);
    }
    snprintf(text + length, size - length, " and the rest");
}

static bool is_code(const struct kernel_event *event)
{
    return strcmp(event->source, "xid") == 0 || strcmp(event->source, "sxid") == 0;
}

static void test_every_event(void)
{
    char text[512], part[KERNEL_PART], name[KERNEL_NAME];
    bool are_found = true, are_good = true, are_named = true;
    int xids = 0, sxids = 0;

    for (size_t i = 0; i < kernel_event_count; i++) {
        const struct kernel_event *event = &kernel_events[i], *found;
        const struct catalog_fault *fault = catalog_fault(event->code);

        make_example(event, text, sizeof text);
        found = kernel_event_match(text, part, name);
        if (!found || strcmp(found->source, event->source) != 0 ||
            strcmp(found->name, event->name) != 0 || found->action != event->action ||
            found->code != event->code) {
            tap_diag("%s %s: %s", event->source, event->name, text);
            are_found = false;
        }
        if (strstr(event->pattern, "%P")   ? strcmp(part, "0000:9b:00.0") != 0
            : strstr(event->pattern, "%D") ? strcmp(part, "sda1") != 0
            : strstr(event->pattern, "%V") ? strcmp(part, "loop0") != 0
                                           : *part != '\0') {
            tap_diag("%s %s: part %s", event->source, event->name, part);
            are_named = false;
        }
        if ((event->action == KERNEL_DRAIN &&
             (event->cause != KERNEL_BY_MACHINE || fault->drain != DRAIN_HEALTH)) ||
            (event->code == FAULT_NONE) != (*event->ends != '\0') || !*event->reference ||
            !*event->meaning || strchr(event->meaning, '\n')) {
            tap_diag("%s %s", event->source, event->name);
            are_good = false;
        }
        xids += strcmp(event->source, "xid") == 0 && *event->name &&
                kernel_event_find("xid", event->name) == event;
        sxids += strcmp(event->source, "sxid") == 0 && *event->name;
    }
    ok(are_found, "each row of the table is found by an example");
    ok(are_named, "... with its part");
    ok(are_good,
       "each event that drains has a code that drains and a machine cause; all have a reference");
    is_int(xids, 172, "all codes of NVIDIA's catalog");
    is_int(sxids, 93, "all codes of NVIDIA's guide");
}

static void test_event_names(void)
{
    is_str(kernel_event_find("XID", "63")->meaning, "GPU memory remapping event",
           "a known code has a meaning");
    is_str(kernel_event_find("xid", "999")->name, "",
           "an XID of a newer driver matches the general row");
    ok(!kernel_event_find("xid", "0") && !kernel_event_find("xid", "63a") &&
           !kernel_event_find("xid", "") && !kernel_event_find("nvme", "63") &&
           !kernel_event_find("", ""),
       "unknown events are not found");
}

/* ---------------------------------------------------------------- what users can write */

/* Returns whether the entry drains a node, or may do so if the site configures it. */
static bool may_drain(const char *text)
{
    char part[KERNEL_PART], name[KERNEL_NAME];
    const struct kernel_event *event = kernel_event_match(text, part, name);

    return event && event->cause == KERNEL_BY_MACHINE && !*event->ends &&
           (event->action != KERNEL_WARN || strncmp(text, "EXT4-fs error ", 14) != 0);
}

/* Kernel messages that contain the name of a process (@: at most 15 bytes) or of a file ($). */
static const char *const user_messages[] = {
    "@[4711]: segfault at 7f00 ip 00007f00 sp 00007ffd error 4 in $[7f00+1000]",
    "traps: @[4711] general protection fault ip:7f00 sp:7ffd error:0 in $[7f00+1000]",
    "@[4711] trap int3 ip:7f00 sp:7ffd error:0 in $[7f00+1000]",
    "@[4711] bad frame in rt_sigreturn frame:7ffd ip:7f00 sp:7ffd orax:0 in $[7f00+1000]",
    "@ invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER), order=0, oom_score_adj=0",
    "Out of memory: Killed process 4711 (@) total-vm:1kB, anon-rss:1kB, file-rss:0kB, "
    "shmem-rss:0kB, UID:1000 pgtables:40kB oom_score_adj:0",
    "INFO: task @:4711 blocked for more than 120 seconds.",
    "@: potentially unexpected fatal signal 11.",
    "@ (4711): drop_caches: 3",
    "@ (4711) used greatest stack depth: 10000 bytes left",
    "process '$' launched '$' with NULL argv: empty string added",
    "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [@:4711]",
    "NVRM: Xid (PCI:0000:9b:00): 31, pid=4711, name=@, Ch 00000001, intr 00000000.",
    "NVRM: Xid (PCI:0000:9b:00): 13, pid=4711, name=@, @",
    "amdgpu 0000:63:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:40 vmid:8 "
    "pasid:1, for process @ pid 1 thread @ pid 1)",
    "EXT4-fs error (device sda1): ext4_lookup:1: inode #2: comm @: bad $",
    "audit: type=1701 audit(1:2): auid=1 uid=1 pid=4711 comm=\"@\" exe=\"$\" sig=11",
};

static void fill_message(const char *message, const char *name, const char *file, char *line,
                         size_t size)
{
    size_t length = 0;

    for (; *message; message++) {
        const char *put = *message == '@' ? name : *message == '$' ? file : NULL;

        for (; put && *put && length < size - 1; put++)
            line[length++] = *put;
        if (!put && length < size - 1)
            line[length++] = *message;
    }
    line[length] = '\0';
}

static void test_names_given_by_users(void)
{
    char text[512], line[2048], name[16];
    bool is_good = true;

    for (size_t i = 0; i < kernel_event_count; i++) {
        bool is_wanted = kernel_events[i].cause == KERNEL_BY_MACHINE;
        bool is_short = is_code(&kernel_events[i]) && i % 16 != 0; /* their texts are alike */

        make_example(&kernel_events[i], text, sizeof text);
        for (size_t begins = 0; is_wanted && begins <= strlen(text); begins++)
            for (size_t length = is_short ? 15 : 9; length <= 15; length++)
                for (size_t message = 0; message < sizeof user_messages / sizeof *user_messages;
                     message++) {
                    snprintf(name, sizeof name, "%.*s", (int)length, text + begins);
                    fill_message(user_messages[message], name, text + begins + strlen(name), line,
                                 sizeof line);
                    if (may_drain(line)) {
                        if (is_good)
                            tap_diag("%s", line);
                        is_good = false;
                    }
                }
    }
    ok(is_good, "no name of a process or file makes the kernel write an entry that drains");
}

/* A container image is a user's file. Its file system may be as broken as the user likes. */
static void images_and_remote_devices_never_drain(void)
{
    static const char *const patterns[] = {
        "EXT4-fs (%s): Remounting filesystem read-only",
        "EXT4-fs error (device %s): ext4_lookup:1855: inode #2: comm ls: iget: checksum invalid",
        "XFS (%s): Filesystem has been shut down due to log error (0x2).",
        "XFS (%s): Corruption of in-memory data detected.  Shutting down filesystem",
        "XFS (%s): Metadata corruption detected at xfs_agi_verify+0x10f/0x170 [xfs]",
        "XFS (%s): metadata I/O error in \"xfs_da_read_buf+0xe8\" at daddr 0x40 len 8 error 117",
        "I/O error, dev %s, sector 2 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2",
        "blk_update_request: I/O error, dev %s, sector 2 op 0x0:(READ)",
        "critical medium error, dev %s, sector 2 op 0x0:(READ)",
        "Buffer I/O error on dev %s, logical block 1, async page read",
    };
    static const char *const devices[] = {"loop0", "loop127", "nbd0", "nbd3p1", "rbd0", "rbd1p2"};
    char text[256], part[KERNEL_PART], name[KERNEL_NAME];

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        bool is_good = true;

        for (size_t k = 0; k < sizeof devices / sizeof *devices; k++) {
            const struct kernel_event *event;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text, sizeof text, patterns[i], devices[k]);
#pragma GCC diagnostic pop
            log_init();
            add_entry(text, 10);
            event = kernel_event_match(text, part, name);
            is_good = is_good && event && event->cause == KERNEL_BY_EITHER && kernel.count == 1 &&
                      judgement_of(0).verdict == VERDICT_WARN && strcmp(part, devices[k]) == 0;
        }
        ok(is_good, "%.30s: at most a warning for an image or a remote device", patterns[i]);
    }
    log_init();
    add_entry("EXT4-fs (loop): Remounting filesystem read-only", 10);
    add_entry("EXT4-fs (dm-0): Remounting filesystem read-only", 10);
    add_entry("EXT4-fs (nbdx): Remounting filesystem read-only", 10);
    is_int(count_verdicts(VERDICT_FAIL), 3, "devices with other names are the node's own");
}

static int parse_line(const char *line, struct kmsg_entry *entry)
{
    return kmsg_parse(line, strlen(line), entry);
}

static void test_entries_of_users(void)
{
    static const char *const users[] = {
        "14,7,100,-;NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.",
        "8,7,100,-;NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.",
        "30,7,100,-;NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.",
        "2047,7,100,-;NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.",
        "12,7,100,-;\\x0a3,8,100,-;NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off",
        "12,7,100,-;x\n3,8,100,-;NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off",
        "12,7,100,-;x\n DEVICE=c\n3,8,1,-;NVRM: Xid (PCI:0000:9b:00): 79, off the bus",
    };
    struct kmsg_entry entry;

    log_init();
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        if (parse_line(users[i], &entry) == 0)
            kernel_log_add(&kernel, &entry);
    is_int(kernel.count, 0, "entries that users write to the log are not taken");
    is_int(
        parse_line("3,7,100,-;NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", &entry),
        0, "an entry of the kernel");
    is_int(entry.facility, 0, "... has the kernel's facility");
    is_int(entry.sequence, 7, "... and its sequence number");
    is_int(entry.time_us, 100, "... and time");
    kernel_log_add(&kernel, &entry);
    is_int(kernel.count, 1, "... and is counted");
    is_int(parse_line("3,8,100,-;a\xff\033[2J", &entry), 0, "an entry with control bytes");
    is_str(entry.text, "a??[2J", "... gets ? for them");
    add_entry("kernel: NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", 1);
    add_entry(" NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", 1);
    add_entry("NVRM: Xid (invalid): 79, GPU has fallen off the bus.", 1);
    add_entry("NVRM: Xid (PCI:0000:9b:00): 79", 1);
    add_entry("NVRM: Xid error: xyz, invalid data", 1);
    is_int(kernel.findings[0].count, 1, "entries that only look similar are not taken");
}

static void test_invalid_lines(void)
{
    static const char *const lines[] = {
        "",
        ";",
        ",,,;",
        "3",
        "3,7",
        "3,7,100",
        "3,7,100,-",
        "x,7,100,-;a",
        "3,x,100,-;a",
        "-3,7,100,-;a",
        "3,-7,100,-;a",
        "3 ,7,100,-;a",
        "3,7,99999999999999999999,-;a",
        "99999,7,100,-;a",
        " SUBSYSTEM=pci",
        "3;7,100,-;a",
        "\n",
        "3,7\n,100,-;a",
    };
    static const char letters[] = "0123456789,,;;-- \n%\x80\xffNVRM: Xid (PCI0:";
    struct kmsg_entry entry;
    uint64_t state = 1;
    char line[300];
    bool is_good = true;
    int taken_count = 0;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (parse_line(lines[i], &entry) == 0) {
            tap_diag("%s", lines[i]);
            is_good = false;
        }
    ok(is_good, "invalid lines are refused");
    log_init();
    for (int i = 0; i < 200000; i++) {
        size_t length = splitmix_next(&state) % sizeof line;

        for (size_t j = 0; j < length; j++)
            line[j] = letters[splitmix_next(&state) % (sizeof letters - 1)];
        if (i % 2 == 0 && length > 8)
            memcpy(line, "3,7,1,-;", 8);
        if (kmsg_parse(line, length, &entry) == 0) {
            taken_count++;
            kernel_log_add(&kernel, &entry);
        }
    }
    ok(taken_count > 1000, "of random lines %d are entries", taken_count);
    is_int(count_verdicts(VERDICT_FAIL), 0, "... and none is a fault");
}

/* ---------------------------------------------------------------- published false alarms */

/* Each was reported by the named program as a fault of the node. */
static const struct {
    const char *source, *text;
} false_alarms[] = {
    {"NVSentinel 1710", "NVRM: Xid (PCI:0000:9b:00): 45, pid=1818990, name=python3, Ch 00000001"},
    {"NVSentinel 1629", "NVRM: Xid (PCI:0008:01:00): 45, pid=77, name=python3, Ch 0000000c caused "
                        "by previous Xid 145"},
    {"NVSentinel 1357", "NVRM: Xid (PCI:0000:c5:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 17 "
                        "(0x04084507 0x00000004 0x00000000 0x00000000 0x00000000 0x00000000"},
    {"gpud 1174", "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 "
                  "(0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)"},
    {"gpud 1174", "NVRM: Xid (PCI:0000:9b:00): 94, pid=1234, name=python3, Contained ECC error"},
    {"azurehpc 648", "NVRM: Xid (PCI:0000:9b:00): 13, pid=1, name=python3, Graphics SM Warp "
                     "Exception on (GPC 0, TPC 0, SM 0): Out Of Range Address"},
    {"azurehpc 648", "NVRM: Xid (PCI:0000:9b:00): 31, pid=1, name=python3, Ch 00000008, intr "
                     "00000000. MMU Fault: ENGINE GRAPHICS"},
    {"azurehpc 648", "NVRM: Xid (PCI:0000:9b:00): 43, pid=1, name=python3, Ch 00000008"},
    {"NVSentinel 1252", "NVRM: Xid (PCI:0000:9b:00): 162, PSHC reengaged"},
    {"DCGM, Azure on 63", "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked "
                          "for remapping, reset gpu to activate."},
    {"gpud 1164", "mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 268269): ACCESS_REG(0x805) "
                  "op_mod(0x1) failed, status bad resource(0x5), syndrome (0x305684), err(-22)"},
    {"gpud peermem", "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, "
                     "skipping further processing"},
    {"gpud nccl", "pt_main_thread[2536443]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp "
                  "00007f7c12fd7c30 error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]"},
    {"a GPU asleep", "amdgpu 0000:0b:00.0: 1048560 uncorrectable hardware errors detected in umc "
                     "block"},
    {"an all-clear", "amdgpu 0000:c3:00.0: amdgpu: no uncorrectable hardware errors detected in "
                     "umc block"},
    {"a program's", "amdgpu 0000:83:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:40 "
                    "vmid:8 pasid:32776, for process python pid 4277 thread python pid 4277)"},
    {"NVIDIA's guide", "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 "
                       "egress non-posted PRIV error (First)"},
    {"not fatal", "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 22003, Non-fatal, Minion Halt"},
    {"virtual machines", "blk_update_request: I/O error, dev fd0, sector 0 op 0x0:(READ) flags "
                         "0x0 phys_seg 1 prio class 0"},
    {"a job's memory", "Out of memory: Killed process 2024 (slurmd) total-vm:1kB, anon-rss:1kB, "
                       "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:68kB oom_score_adj:0"},
    {"a job's limit", "Memory cgroup out of memory: Killed process 9 (python3) total-vm:1kB, "
                      "anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:68kB "
                      "oom_score_adj:0"},
    {"a slow server", "INFO: task jfsmount:136986 blocked for more than 120 seconds."},
    {"a code unheard of", "NVRM: Xid (PCI:0000:05:00): 99999, unknown error"},
    {"the driver is done", "NVRM: Xid (PCI:0019:01:00): 154, GPU recovery action changed from 0x4 "
                           "(Drain and Reset) to 0x0 (None)"},
};

static void false_alarms_drain_nobody(void)
{
    enum { ALARMS = sizeof false_alarms / sizeof *false_alarms };
    size_t drained = 0;

    for (size_t i = 0; i < ALARMS; i++) {
        log_init();
        for (int times = 0; times < 1232; times++)
            add_entry(false_alarms[i].text, 1232 - times);
        if (count_verdicts(VERDICT_FAIL) > 0) {
            tap_diag("%s: %s", false_alarms[i].source, false_alarms[i].text);
            drained++;
        }
    }
    is_int(drained, 0, "of %d published false alarms, each 1232 times, none drains", ALARMS);
    log_init();
    for (int64_t i = 0; i < 168924; i++)
        add_entry(false_alarms[0].text, 172800 - i);
    is_int(count_verdicts(VERDICT_PASS), 1, "168924 times XID 45 is one fault of jobs' programs");
    ok(!judgement_of(0).is_ignored, "... which is reported");
}

/* ---------------------------------------------------------------- rules */

static void test_real_faults(void)
{
    static const struct {
        const char *text, *part;
        enum fault_code code;
    } faults[] = {
        {"NVRM: Xid (PCI:0000:05:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
         "bus.",
         "0000:05:00", FAULT_GPU_LOST},
        {"NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.", "0000:29:00.0", FAULT_GPU_LOST},
        {"NVRM: Xid (0000:03:00): 48, An uncorrectable double bit error (DBE) has been detected",
         "0000:03:00", FAULT_GPU_MEMORY_ERRORS},
        {"NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of "
         "waiting for RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC)",
         "0000:9b:00", FAULT_GPU_RESET_REQUIRED},
        {"NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 "
         "(Drain and Reset)",
         "0009:01:00", FAULT_GPU_RESET_REQUIRED},
        {"NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 "
         "(Node Reboot Required)",
         "0009:01:00", FAULT_GPU_REBOOT_REQUIRED},
        {"mlx5_core 0000:d2:00.0: poll_health:825:(pid 0): device's health compromised - reached "
         "miss count",
         "0000:d2:00.0", FAULT_NIC_FAILED},
        {"nvme nvme4: Disabling device after reset failure: -19", "nvme4", FAULT_DISK_FAILED},
        {"EDAC MC0: 1 UE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0 "
         "page:0x1234 offset:0x0 grain:32)",
         "MC0", FAULT_MEMORY_ERRORS},
        {"EXT4-fs (nvme0n1p1): Remounting filesystem read-only", "nvme0n1p1",
         FAULT_FILESYSTEM_FAILED},
        {"amdgpu 0000:c3:00.0: amdgpu: device lost from bus!", "0000:c3:00.0", FAULT_GPU_LOST},
        {"habanalabs hl0: 0000:19:00.0 Failed to reset! Device is NOT usable", "hl0",
         FAULT_GPU_RESET_REQUIRED},
    };

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        log_init();
        add_entry(faults[i].text, 10);
        ok(kernel.count == 1 && judgement_of(0).verdict == VERDICT_FAIL &&
               judgement_of(0).code == faults[i].code &&
               strcmp(kernel.findings[0].part, faults[i].part) == 0,
           "%.50s: %s of %s", faults[i].text, catalog_fault(faults[i].code)->name, faults[i].part);
    }
}

static void test_folding(void)
{
    char text[128], described[300];

    log_init();
    for (int i = 0; i < 800000; i++) {
        snprintf(text, sizeof text, "NVRM: Xid (PCI:0000:%02x:00): 95, Uncontained ECC error",
                 i % 29);
        add_entry(text, 5);
    }
    is_int(kernel.count, 29, "800000 entries of 29 kinds are 29 findings");
    is_int(kernel.findings[28].count, 800000 / 29, "... with their counts");
    kernel_log_describe(&kernel.findings[0], now_us, described, sizeof described);
    is_str(described,
           "xid 95 (uncontained memory error), 27587 entries, the last 5 s ago: NVRM: Xid "
           "(PCI:0000:00:00): 95, Uncontained ECC error",
           "... each described in a line");
    kernel_log_describe(&kernel.findings[0], now_us + 7100LL * SECOND_US, described,
                        sizeof described);
    ok(strstr(described, "the last 118 min ago: ") != NULL, "... with the age in minutes");
    kernel_log_describe(&kernel.findings[0], now_us + 7200LL * SECOND_US, described,
                        sizeof described);
    ok(strstr(described, "the last 2 h ago: ") != NULL, "... and in hours");
    log_init();
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "nvme nvme%d: Disabling device after reset failure: -19", i);
        add_entry(text, 5);
    }
    is_int(kernel.count, KERNEL_FINDINGS, "more findings than the table holds");
    is_int(kernel.left_out, 100 - KERNEL_FINDINGS, "... are counted");
}

/* Users can make the kernel write more kinds of entries than the table holds. */
static void keeps_the_worst_findings(void)
{
    char text[128];

    log_init();
    add_entry("NVRM: Xid (PCI:0000:aa:00): 63, Row Remapper", 20);
    for (int i = 0; i < KERNEL_FINDINGS; i++) {
        snprintf(text, sizeof text, "NVRM: Xid (PCI:0000:%02x:00): 31, pid=1, name=a, MMU Fault",
                 i);
        add_entry(text, 20 - (i > 0));
    }
    is_int(kernel.left_out, 1, "findings about programs fill the table");
    add_entry("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", 5);
    is_int(count_verdicts(VERDICT_FAIL), 1, "... a GPU that falls off the bus still drains");
    is_int(count_verdicts(VERDICT_WARN), 1, "... it replaces a finding about a program");
    is_int(kernel.count, KERNEL_FINDINGS, "... the table stays full");
    is_int(kernel.left_out, 2, "... the replaced one is counted as left out");
    add_entry("NVRM: Xid (PCI:0000:00:00): 31, pid=1, name=a, MMU Fault", 4);
    is_int(kernel.left_out, 3, "... it was the oldest");
}

static void test_bursts(void)
{
    static const char ce[] = "EDAC MC0: 1 CE memory read error on DIMM_A1 (channel:1 slot:0 "
                             "page:0x12 offset:0x0 grain:32)";

    log_init();
    for (int i = 0; i < 9; i++)
        add_entry(ce, 3000 - i);
    ok(judgement_of(0).is_ignored, "nine corrected errors in an hour are normal");
    add_entry(ce, 2000);
    is_int(judgement_of(0).verdict, VERDICT_WARN, "the tenth is a warning");
    log_init();
    for (int i = 0; i < 30; i++)
        add_entry(ce, 80000 - 2000 * i);
    ok(judgement_of(0).is_ignored, "thirty over a day are normal");
}

static void test_related_entries(void)
{
    log_init();
    add_entry("NVRM: Xid (PCI:0000:9b:00): 48, DBE", 100);
    add_entry("NVRM: Xid (PCI:0000:9b:00): 45, pid=1, name=a, Ch 1", 99);
    add_entry("NVRM: Xid (PCI:0000:9b:00): 171, DRAM", 99);
    add_entry("NVRM: Xid (PCI:0000:aa:00): 171, DRAM", 99);
    ok(judgement_of(1).is_ignored && judgement_of(2).is_ignored,
       "entries that follow from another fault are ignored");
    is_int(judgement_of(3).verdict, VERDICT_WARN, "the same entry alone is a warning");
    add_entry("NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x1 (GPU Reset "
              "Required) to 0x0 (None)",
              50);
    is_int(count_verdicts(VERDICT_FAIL), 0,
           "after the driver clears the recovery action the fault is over");
    log_init();
    add_entry("NVRM: Xid (PCI:0000:9b:00): 64, failed", 100);
    add_entry(
        "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x1 (x) to 0x0 (N)", 50);
    is_int(count_verdicts(VERDICT_FAIL), 1, "... except a row that cannot be remapped");
    log_init();
    add_entry("mlx5_core 0000:d2:00.0: poll_health:825:(pid 0): device's health compromised", 100);
    add_entry("mlx5_core 0000:d3:00.0: poll_health:825:(pid 0): device's health compromised", 100);
    add_entry("mlx5_core 0000:d2:00.0: mlx5_health_try_recover:335:(pid 1): health recovery "
              "succeeded",
              50);
    is_int(count_verdicts(VERDICT_FAIL), 1,
           "a NIC that its driver recovered is healthy, the other one is not");
    log_init();
    add_entry("NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 "
              "(Node Reboot Required)",
              20);
    add_entry("NVRM: Xid (PCI:0009:01:00): 154, strange", 10);
    is_int(judgement_of(0).code, FAULT_GPU_REBOOT_REQUIRED, "the worst entry of a code is used");
}

static void test_age_and_repair(void)
{
    struct kernel_judgement judgement;

    log_init();
    add_entry("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", 3600);
    kernel_log_judge(&kernel, 0, &conf, now_us, now_us - (int64_t)1800 * SECOND_US, &judgement);
    ok(judgement.verdict == VERDICT_PASS && judgement.is_ignored,
       "an entry from before the node's certificate does not count");
    kernel_log_judge(&kernel, 0, &conf, now_us, now_us - (int64_t)7200 * SECOND_US, &judgement);
    is_int(judgement.verdict, VERDICT_FAIL, "an entry from after it counts");
    kernel_log_judge(&kernel, 0, &conf, now_us + (int64_t)86400 * SECOND_US, 0, &judgement);
    is_int(judgement.verdict, VERDICT_WARN, "after a day it is a warning");
    is_int(kernel_log_mark_drained(&kernel, &conf, now_us, 0), 1,
           "the node is drained for the entry");
    is_int(judgement_of(0).verdict, VERDICT_WARN, "... the entry is then a warning");
    is_int(kernel_log_mark_drained(&kernel, &conf, now_us, 0), 0, "... and drains no second time");
    add_entry("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", 1);
    is_int(judgement_of(0).verdict, VERDICT_FAIL, "... unless it occurs again");
    kernel_log_prune(&kernel, now_us + (int64_t)3 * 86400 * SECOND_US, 0);
    is_int(kernel.count, 0, "after days it is forgotten");
}

static void test_site_rules(void)
{
    static const struct kernel_rule rules[] = {
        {"xid", "79", KERNEL_IGNORE, 1},    {"XID", "63", KERNEL_DRAIN, 2},
        {"nvme", "failed", KERNEL_WARN, 3}, {"xid", "13", KERNEL_WARN, 4},
        {"xid", "777", KERNEL_DRAIN, 5},
    };
    struct conf site = conf;
    struct kernel_judgement found[5];

    site.kernel_rules = (struct kernel_rule *)rules;
    site.kernel_rule_count = 5;
    log_init();
    add_entry("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", 1);
    add_entry("NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked", 1);
    add_entry("nvme nvme4: Disabling device after reset failure: -19", 1);
    add_entry("NVRM: Xid (PCI:0000:aa:00): 13, pid=1, name=a, Graphics", 1);
    add_entry("NVRM: Xid (PCI:0000:aa:00): 777, new", 1);
    for (size_t i = 0; i < 5; i++)
        kernel_log_judge(&kernel, i, &site, now_us, 0, &found[i]);
    ok(found[0].is_ignored, "a site can ignore an event");
    is_int(found[1].verdict, VERDICT_FAIL, "... or drain for one");
    is_int(found[1].code, FAULT_KERNEL_LOG_FAULT, "... with a code that drains");
    is_int(found[2].verdict, VERDICT_WARN, "... or only warn");
    is_int(found[3].verdict, VERDICT_WARN, "... or get a warning about a program's event");
    is_int(found[4].verdict, VERDICT_FAIL, "... or drain for a code that muster does not know");
}

/* ---------------------------------------------------------------- files */

static void test_saved_state(void)
{
    struct kernel_log parsed;
    char *text = NULL, *copy;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    log_init();
    kernel.next = 4711;
    add_entry("NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.", 20);
    add_entry("NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 "
              "(Node Reboot Required)",
              10);
    add_entry("NVRM: Xid (PCI:0000:aa:00): 777, new", 5);
    add_entry("kernel BUG at mm/slub.c:1!", 5);
    kernel.findings[0].is_drained = true;
    is_int(kernel_log_write(&kernel, stream), 0, "the state is written");
    fclose(stream);
    copy = strdup(text);
    is_int(kernel_log_parse(&parsed, copy, "boot-1"), 0, "... and read");
    is_int(parsed.next, 4711, "... with the position in the log");
    is_int(memcmp(parsed.findings, kernel.findings, sizeof parsed.findings), 0,
           "... and all findings");
    free(copy);
    copy = strdup(text);
    is_int(kernel_log_parse(&parsed, copy, "boot-2"), -1, "a state of another boot is refused");
    is_int(parsed.next + parsed.count, 0, "... the log is read from its beginning");
    free(copy);
    for (size_t length = 0; length < size; length++) {
        copy = strndup(text, length);
        (void)kernel_log_parse(&parsed, copy, "boot-1"); /* a sanitizer build checks this */
        free(copy);
    }
    free(text);
}

static void count_entry(const struct kmsg_entry *entry, void *context)
{
    ++*(int *)context;
}

static void test_log_reading(void)
{
    char path[4096], *root = tree_unpack("");
    struct kmsg_reading found;
    struct error err = {""};
    int count = 0;
    FILE *log;

    snprintf(path, sizeof path, "%s/kmsg", root);
    is_int(kmsg_read(path, 0, count_entry, &count, &found, &err), 1, "a missing log is no error");
    tree_put(root, "kmsg",
             "6,100,1,-;a\n SUBSYSTEM=pci\n\nnonsense\n14,101,2,-;a user's\n3,105,3,c;b\n");
    is_int(kmsg_read(path, 0, count_entry, &count, &found, &err), 0, "a file is read as the log");
    is_int(count, 2, "... the two entries of the kernel are passed on");
    is_int(found.read, 3, "... three entries are read");
    is_int(found.lost, 3, "... three missing between them are counted as lost");
    is_int(found.wrong, 1, "... an invalid line is counted");
    is_int(found.next, 106, "... the next position is known");
    count = 0;
    is_int(kmsg_read(path, 106, count_entry, &count, &found, &err), 0,
           "the log is read again from there");
    is_int(count + (int)found.lost, 0, "... nothing is new or lost");
    is_int(found.next, 106, "... and the position stays");
    is_int(kmsg_read(path, 90, count_entry, &count, &found, &err), 0,
           "the log is read from an older position");
    is_int(found.lost, 13, "... ten more entries were overwritten");
    if ((log = fopen(path, "w"))) {
        for (int i = 0; i < 90000; i++) /* 18 MB in all */
            fprintf(log, "6,%d,%d,-;%0180d\n", 100 + i, i, i);
        fclose(log);
    }
    count = 0;
    is_int(kmsg_read(path, 90099, count_entry, &count, &found, &err), 0,
           "a log with 18 MB that were read before");
    is_int(count, 1, "... one new entry is read");
    is_int(kmsg_read(path, 0, count_entry, &count, &found, &err), 0, "18 MB of new entries");
    ok(found.next < 90100, "... are more than one reading takes");
    is_int(kmsg_read(path, found.next, count_entry, &count, &found, &err), 0,
           "... the next reading");
    is_int(found.next, 90100, "... gets the rest");
    unlink(path);
    is_int(mkfifo(path, 0600), 0, "a pipe instead of a log");
    is_int(kmsg_read(path, 0, count_entry, &count, &found, &err), 1, "... is not opened");
    is_int(kmsg_read("/dev/null", 0, count_entry, &count, &found, &err), 1,
           "/dev/null instead of a log");
    has_str(err.text, "/dev/null is not the kernel log", "... is reported, as containers have it");
    tree_remove(root);
}

/* The kernel log has the time since boot. Certificates have the time of day, which may be set. */
static void test_log_times(void)
{
    double before_s = clock_raw_s();
    int64_t now = log_now_us(), hour = 3600LL * SECOND_US;
    int64_t ago = log_time_us(time(NULL) - 3600), near = log_time_us(time(NULL) + 60);

    ok(now >= (int64_t)(before_s * 1e6) && now <= (int64_t)(clock_raw_s() * 1e6),
       "now is the raw monotonic clock, as in the kernel log");
    ok(llabs(now - hour - ago) < 10 * SECOND_US, "a time one hour ago is converted");
    ok(log_time_us(0) == INT64_MIN, "no time is converted to long ago");
    ok(log_time_us(time(NULL) + 3600) == INT64_MIN, "a time far ahead is converted to long ago");
    ok(near >= now && near <= log_now_us(), "... a minute ahead is converted to now");
}

int main(void)
{
    test_log_times();
    conf_defaults(&conf);
    test_every_event();
    test_event_names();
    test_names_given_by_users();
    images_and_remote_devices_never_drain();
    test_entries_of_users();
    test_invalid_lines();
    false_alarms_drain_nobody();
    test_real_faults();
    test_folding();
    keeps_the_worst_findings();
    test_bursts();
    test_related_entries();
    test_age_and_repair();
    test_site_rules();
    test_saved_state();
    test_log_reading();
    conf_clear(&conf);
    return tap_done();
}
