/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/facts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/sysfs.h"
#include "lib/base/text.h"

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void record_system(const struct checks *checks)
{
    char *text = sysfs_file(checks->root, 8192, "etc/os-release");
    char *found = text ? strstr(text, "PRETTY_NAME=\"") : NULL;

    if (found) {
        found += strlen("PRETTY_NAME=\"");
        found[strcspn(found, "\"\n")] = '\0';
        fact_text(checks, "system", "", found);
    }
    free(text);
}

/* Records the value of the first line "name : value". */
static void record_cpu_line(const struct checks *checks, const char *cpuinfo, const char *name,
                            const char *metric)
{
    char line[256];
    const char *found = strstr(cpuinfo, name);

    if (!found)
        return;
    found += strcspn(found, ":\n");
    found += *found == ':';
    found += strspn(found, " \t");
    snprintf(line, sizeof line, "%.*s", (int)strcspn(found, "\n"), found);
    fact_text(checks, metric, "", line);
}

static void record_processor(const struct checks *checks)
{
    char *text = sysfs_file(checks->root, 8192, "proc/cpuinfo");

    if (text) {
        record_cpu_line(checks, text, "model name", "cpu.model");
        record_cpu_line(checks, text, "microcode", "microcode");
    }
    free(text);
}

/* Records the machine's product and BIOS. Values that the vendor left empty are not reported. */
static void record_machine(const struct checks *checks)
{
    static const char *const files[][3] = {{"product", "sys_vendor", "product_name"},
                                           {"bios", "bios_version", "bios_date"}};
    const char *root = checks->root;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char first[128], second[128];

        sysfs_line(root, first, sizeof first, "sys/class/dmi/id/%s", files[i][1]);
        sysfs_line(root, second, sizeof second, "sys/class/dmi/id/%s", files[i][2]);
        if (*first || *second)
            fact_record(checks, files[i][0], "", NAN, NULL, "%s%s%s", first,
                        *first && *second ? " " : "", second);
    }
}

/* Records the kernel command line without the words that are specific to this node or to the file
 * of the kernel. */
static void record_command_line(const struct checks *checks)
{
    static const char *const own[] = {
        "BOOT_IMAGE=",        "root=",   "initrd=", "ip=",      "BOOTIF=",
        "hostname=",          "resume=", "rd.",     "nfsroot=", "ifname=",
        "systemd.machine_id="};
    char *text = sysfs_file(checks->root, 4096, "proc/cmdline"), *rest = text, *word;
    char kept[900] = "";

    if (!text)
        return;
    while ((word = strsep(&rest, " \t\n"))) {
        bool is_own = !*word;

        for (size_t i = 0; i < sizeof own / sizeof *own && !is_own; i++)
            is_own = strncmp(word, own[i], strlen(own[i])) == 0;
        if (!is_own)
            text_join(kept, sizeof kept, " ", "%s", word);
    }
    fact_text(checks, "cmdline", "", kept);
    free(text);
}

/* "always [madvise] never" is madvise */
static void record_huge_pages(const struct checks *checks)
{
    const char *root = checks->root;
    char text[64], *begin, *end;

    fact_number(checks, "hugepages", "", sysfs_number(root, "proc/sys/vm/nr_hugepages"), "count");
    sysfs_line(root, text, sizeof text, "sys/kernel/mm/transparent_hugepage/enabled");
    begin = strchr(text, '[');
    end = begin ? strchr(begin, ']') : NULL;
    if (end) {
        *end = '\0';
        fact_text(checks, "transparent_hugepages", "", begin + 1);
    }
}

/* Records the processors and the memory in whole GiB of each NUMA node. */
static void record_numa(const struct checks *checks)
{
    const char *root = checks->root;
    char **names;
    size_t count = sysfs_names(root, &names, "sys/devices/system/node");

    for (size_t i = 0; i < count; i++) {
        char part[32], processors[256];
        char *memory, *found;

        if (strncmp(names[i], "node", 4) != 0 ||
            strspn(names[i] + 4, "0123456789") != strlen(names[i] + 4) ||
            sysfs_line(root, processors, sizeof processors, "sys/devices/system/node/%s/cpulist",
                       names[i]) != 0)
            continue;
        snprintf(part, sizeof part, "numa%.20s", names[i] + 4);
        memory = sysfs_file(root, 4096, "sys/devices/system/node/%s/meminfo", names[i]);
        found = memory ? strstr(memory, "MemTotal:") : NULL;
        if (found)
            fact_record(checks, "numa", part, NAN, NULL, "CPUs %s, %.0f GiB", processors,
                        strtod(found + strlen("MemTotal:"), NULL) / (1 << 20));
        else
            fact_record(checks, "numa", part, NAN, NULL, "CPUs %s", processors);
        free(memory);
    }
    sysfs_names_free(names, count);
    fact_line(checks, "numa.balancing", "", "proc/sys/kernel/numa_balancing");
}

/* Records the governor of all processors, or "mixed" if they differ. */
static void record_governor(const struct checks *checks)
{
    const char *root = checks->root;
    char **names, first[64] = "", text[64];
    size_t count = sysfs_names(root, &names, "sys/devices/system/cpu/cpufreq");
    bool is_mixed = false;

    sysfs_line(root, first, sizeof first, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    for (size_t i = 0; i < count; i++)
        if (strncmp(names[i], "policy", 6) == 0 &&
            sysfs_line(root, text, sizeof text,
                       "sys/devices/system/cpu/cpufreq/%s/scaling_governor", names[i]) == 0) {
            if (!*first)
                strcpy(first, text);
            is_mixed |= strcmp(first, text) != 0;
        }
    sysfs_names_free(names, count);
    fact_text(checks, "governor", "", is_mixed ? "mixed" : first);
}

static void record_turbo(const struct checks *checks)
{
    const char *root = checks->root;
    long long off = sysfs_number(root, "sys/devices/system/cpu/intel_pstate/no_turbo");
    long long on = off < 0 ? sysfs_number(root, "sys/devices/system/cpu/cpufreq/boost") : !off;

    if (on >= 0)
        fact_text(checks, "turbo", "", on ? "on" : "off");
}

/* Records how deep processors may sleep: the idle driver, and the last state that is enabled. */
static void record_sleep(const struct checks *checks)
{
    const char *root = checks->root;
    char driver[64], name[64], deepest[64] = "none";
    char **names;
    size_t count = sysfs_names(root, &names, "sys/devices/system/cpu/cpu0/cpuidle");

    for (size_t i = 0; i < count; i++)
        if (sysfs_number(root, "sys/devices/system/cpu/cpu0/cpuidle/%s/disable", names[i]) == 0 &&
            sysfs_line(root, name, sizeof name, "sys/devices/system/cpu/cpu0/cpuidle/%s/name",
                       names[i]) == 0)
            strcpy(deepest, name);
    sysfs_names_free(names, count);
    if (sysfs_line(root, driver, sizeof driver, "sys/devices/system/cpu/cpuidle/current_driver") ==
        0)
        fact_record(checks, "cstate", "", NAN, NULL, "%s, deepest %s", driver, deepest);
}

/* Records "off", or the translation of the first IOMMU group: "identity", "DMA", "DMA-FQ". */
static void record_iommu(const struct checks *checks)
{
    const char *root = checks->root;
    char kind[64], **names;
    size_t count;

    if (!sysfs_exists(root, "sys/kernel/iommu_groups"))
        return;
    count = sysfs_names(root, &names, "sys/kernel/iommu_groups");
    if (count > 0)
        sysfs_line(root, kind, sizeof kind, "sys/kernel/iommu_groups/%s/type", names[0]);
    fact_text(checks, "iommu", "", count == 0 ? "off" : *kind ? kind : "on");
    sysfs_names_free(names, count);
}

static void record_limit(const struct checks *checks, const char *part, int resource)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY)
        fact_text(checks, "limits", part, "unlimited");
    else
        fact_record(checks, "limits", part, NAN, NULL, "%llu", (unsigned long long)limit.rlim_cur);
}

/* Records limits of this process; a recorded tree has none. */
static void record_limits(const struct checks *checks)
{
    struct statvfs shared;
    struct rlimit limit;

    if (checks->root[0])
        return;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
        fact_text(checks, "memlock", "", "unlimited");
    else if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        fact_record(checks, "memlock", "", (double)limit.rlim_cur / 1e6, "MB", "%.4g MB",
                    (double)limit.rlim_cur / 1e6);
    record_limit(checks, "nofile", RLIMIT_NOFILE);
    record_limit(checks, "stack", RLIMIT_STACK);
    record_limit(checks, "nproc", RLIMIT_NPROC);
    if (statvfs("/dev/shm", &shared) == 0)
        fact_record(checks, "shm", "", (double)shared.f_blocks * (double)shared.f_frsize / 1e6,
                    "MB", "%.1f GiB",
                    (double)shared.f_blocks * (double)shared.f_frsize / (1 << 30));
}

/* Records whether lldpd runs, which knows the node's neighbors by LLDP. */
static void record_lldpd(const struct checks *checks)
{
    char path[SYSFS_PATH];
    bool is_running;

    if (sysfs_path(checks->root, path, sizeof path, "run/lldpd.socket") != 0)
        return;
    is_running = access(path, F_OK) == 0;
    fact_record(checks, "lldpd", "", is_running, "count", "%s",
                is_running ? "running" : "not running");
}

void facts_host(const struct checks *checks)
{
    const struct inventory *inventory = checks->inventory;

    fact_text(checks, "kernel", "", inventory->kernel);
    record_system(checks);
    record_command_line(checks);
    record_machine(checks);
    record_lldpd(checks);
    record_processor(checks);
    fact_number(checks, "cpu.count", "", inventory->cpu_count, "count");
    fact_number(checks, "numa.count", "", inventory->numa_node_count, "count");
    /* kernels reserve slightly different amounts, so whole GiB are compared */
    if (inventory->memory_bytes > 0)
        fact_record(checks, "memory", "", (double)inventory->memory_bytes / 1e6, "MB", "%.0f GiB",
                    (double)inventory->memory_bytes / (1 << 30));
    fact_line(checks, "clocksource", "",
              "sys/devices/system/clocksource/clocksource0/current_clocksource");
    fact_line(checks, "smt", "", "sys/devices/system/cpu/smt/control");
    record_numa(checks);
    record_governor(checks);
    record_turbo(checks);
    record_sleep(checks);
    record_iommu(checks);
    record_huge_pages(checks);
    record_limits(checks);
}
