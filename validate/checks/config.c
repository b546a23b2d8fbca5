/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/sysfs.h"
#include "validate/checks/gres.h"

/* host.config: facts, one record each, that the nodes of a cluster should have in common. They
 * have no verdict: whoever sees all nodes judges them by majority. */

struct context {
    const struct checks *checks;
    const char *test;
};

/* An unknown fact ("") is not told. value NAN when the fact is no number. */
static void tell(const struct context *context, const char *metric, const char *part, double value,
                 const char *unit, const char *format, ...) __attribute__((format(printf, 6, 7)));

static void tell(const struct context *context, const char *metric, const char *part, double value,
                 const char *unit, const char *format, ...)
{
    struct record record = RECORD_INIT;
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!text[0])
        return;
    record.metric = metric;
    record.part = part;
    record.value = value;
    record.unit = isnan(value) ? NULL : unit;
    record.verdict = VERDICT_NONE;
    record.message = text;
    checks_report(context->checks, context->test, &record);
}

static void tell_text(const struct context *context, const char *metric, const char *part,
                      const char *text)
{
    tell(context, metric, part, NAN, NULL, "%s", text);
}

static void tell_number(const struct context *context, const char *metric, const char *part,
                        long long number, const char *unit)
{
    if (number >= 0)
        tell(context, metric, part, (double)number, unit, "%lld", number);
}

static void tell_line(const struct context *context, const char *metric, const char *path)
{
    char text[192];

    if (sysfs_line(context->checks->root, text, sizeof text, "%s", path) == 0)
        tell_text(context, metric, "", text);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void tell_system(const struct context *context)
{
    char *text = sysfs_file(context->checks->root, 8192, "etc/os-release");
    char *found = text ? strstr(text, "PRETTY_NAME=\"") : NULL;

    if (found) {
        found += strlen("PRETTY_NAME=\"");
        found[strcspn(found, "\"\n")] = '\0';
        tell_text(context, "system", "", found);
    }
    free(text);
}

static void tell_cpu_model(const struct context *context)
{
    char *text = sysfs_file(context->checks->root, 8192, "proc/cpuinfo");
    char *found = text ? strstr(text, "model name") : NULL;

    if (found) {
        found += strcspn(found, ":\n");
        found += *found == ':';
        found += strspn(found, " ");
        found[strcspn(found, "\n")] = '\0';
        tell_text(context, "cpu.model", "", found);
    }
    free(text);
}

/* "always [madvise] never" is madvise */
static void tell_huge_pages(const struct context *context)
{
    const char *root = context->checks->root;
    char text[64], *begin, *end;

    tell_number(context, "hugepages", "", sysfs_number(root, "proc/sys/vm/nr_hugepages"), "count");
    sysfs_line(root, text, sizeof text, "sys/kernel/mm/transparent_hugepage/enabled");
    begin = strchr(text, '[');
    end = begin ? strchr(begin, ']') : NULL;
    if (end) {
        *end = '\0';
        tell_text(context, "transparent_hugepages", "", begin + 1);
    }
}

static void tell_host(const struct context *context)
{
    const struct inventory *inventory = context->checks->inventory;

    tell_text(context, "kernel", "", inventory->kernel);
    tell_system(context);
    tell_cpu_model(context);
    tell_number(context, "cpu.count", "", inventory->cpu_count, "count");
    tell_number(context, "numa.count", "", inventory->numa_node_count, "count");
    /* kernels keep slightly different amounts for themselves: whole GiB compare */
    if (inventory->memory_bytes > 0)
        tell(context, "memory", "", (double)inventory->memory_bytes / 1e6, "MB", "%.0f GiB",
             (double)inventory->memory_bytes / (1 << 30));
    tell_line(context, "clocksource",
              "sys/devices/system/clocksource/clocksource0/current_clocksource");
    tell_line(context, "governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    tell_line(context, "smt", "sys/devices/system/cpu/smt/control");
    tell_huge_pages(context);
}

static void tell_memlock(const struct context *context)
{
    struct rlimit limit;

    if (context->checks->root[0] || getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY)
        tell_text(context, "memlock", "", "unlimited");
    else
        tell(context, "memlock", "", (double)limit.rlim_cur / 1e6, "MB", "%.4g MB",
             (double)limit.rlim_cur / 1e6);
}

static void tell_rail(const struct context *context, const struct rail *rail)
{
    if (rail->port) {
        if (rail->port->rate_gbps > 0)
            tell(context, "speed", rail->name, rail->port->rate_gbps * 1000, "Mb/s", "%.10g Mb/s",
                 rail->port->rate_gbps * 1000);
        tell_text(context, "firmware", rail->name, rail->port->firmware);
        tell_text(context, "driver", rail->name, rail->port->driver);
    } else {
        if (rail->nic->speed_mbps > 0)
            tell(context, "speed", rail->name, rail->nic->speed_mbps, "Mb/s", "%d Mb/s",
                 rail->nic->speed_mbps);
        tell_text(context, "driver", rail->name, rail->nic->driver);
    }
    if (rail->nic)
        tell_number(context, "mtu", rail->name, rail->nic->mtu_bytes, "bytes");
    tell_text(context, "class", rail->name, fabric_class_name(rail->class));
    tell_text(context, "carrier", rail->name, rail_is_up(rail) ? "yes" : "no");
}

static void tell_gpus(const struct context *context)
{
    const struct inventory *inventory = context->checks->inventory;
    long given = gres_gpu_count(context->checks);
    char part[24];

    tell_number(context, "gpu.count", "", (long long)inventory->gpu_count, "count");
    tell_number(context, "gres.count", "", given, "count");
    tell_text(context, "nvidia.driver", "", inventory->nvidia_driver);
    tell_text(context, "amdgpu.driver", "", inventory->amdgpu_driver);
    tell_text(context, "habanalabs.driver", "", inventory->habanalabs_driver);
    for (size_t i = 0; i < inventory->gpu_count; i++) {
        snprintf(part, sizeof part, "gpu%zu", i);
        tell_text(context, "model", part, inventory->gpus[i].model);
        tell_text(context, "firmware", part, inventory->gpus[i].firmware);
        tell_text(context, "pci", part, inventory->gpus[i].location.pci);
    }
}

void check_config(const struct checks *checks, const char *test)
{
    struct context context = {checks, test};

    tell_host(&context);
    tell_memlock(&context);
    tell_text(&context, "fabric", "", fabric_class_name(checks->fabric->class));
    for (size_t i = 0; i < checks->fabric->rail_count; i++)
        tell_rail(&context, &checks->fabric->rails[i]);
    tell_gpus(&context);
}
