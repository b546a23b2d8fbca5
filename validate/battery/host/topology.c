/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/host/topology.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/ranges.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "validate/battery/host/kernels.h"

enum { FILE_MOST = 1 << 20, CACHE_LEVELS = 10, DEFAULT_CACHE = 32 << 20 };

/* Returns the number behind the key in a file of lines "KEY NUMBER", or NAN. */
static double number_in(const char *text, const char *key)
{
    const char *value = text ? text_after(text, key) : NULL;

    return value ? strtod(value + strspn(value, " \t:"), NULL) : NAN;
}

static double file_number(const char *root, const char *key, const char *path)
{
    char *text = sysfs_file(root, FILE_MOST, "%s", path);
    double number = number_in(text, key);

    free(text);
    return number;
}

/* ---------------------------------------------------------------- processors */

static void model_read(const char *root, struct host_node *node)
{
    char *text = sysfs_file(root, FILE_MOST, "proc/cpuinfo");
    const char *value = text ? text_after(text, "model name") : NULL;
    int length;

    if (!value && text) /* Arm has numbers only */
        value = text_after(text, "CPU part");
    value = value ? value + strspn(value, " \t:") : "unknown";
    length = (int)strcspn(value, "\n");
    snprintf(node->model, sizeof node->model, "%.*s (%s)", length > 80 ? 80 : length, value,
             kernel_instructions());
    free(text);
}

static bool list_has(const char *list, long number)
{
    struct range range;

    while (range_next(&list, &range) == 1)
        if (number >= range.first && number <= range.last)
            return true;
    return false;
}

/* Whether an earlier hardware thread of the same core is allowed. */
static bool is_sibling(const char *root, const cpu_set_t *allowed, int cpu)
{
    char text[256];
    const char *list = text;
    struct range range;

    sysfs_line(root, text, sizeof text,
               "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    while (range_next(&list, &range) == 1)
        for (long other = range.first; other <= range.last && other < cpu; other++)
            if (CPU_ISSET((size_t)other, allowed))
                return true;
    return false;
}

static void cores_read(const char *root, const cpu_set_t *allowed, struct host_node *node)
{
    for (int cpu = 0; cpu < CPU_SETSIZE && node->core_count < HOST_CORES; cpu++) {
        long long socket;

        if (!CPU_ISSET((size_t)cpu, allowed) || is_sibling(root, allowed, cpu))
            continue;
        socket =
            sysfs_number(root, "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        node->cores[node->core_count++] =
            (struct host_core){.cpu = (uint16_t)cpu, .socket = (uint16_t)(socket > 0 ? socket : 0)};
    }
}

/* Returns the bytes of the processor's last-level cache, or 0 if not known. list: gets the
 * processors that share it. */
static double last_cache(const char *root, int cpu, char *list, size_t size)
{
    long long level = 0;
    double bytes = 0;

    for (int index = 0; index < CACHE_LEVELS; index++) {
        long long own =
            sysfs_number(root, "sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, index);
        char text[32], *unit;

        if (own <= level)
            continue;
        level = own;
        sysfs_line(root, text, sizeof text, "sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu,
                   index);
        bytes = strtod(text, &unit) * (*unit == 'K' ? 1024 : *unit == 'M' ? 1 << 20 : 1);
        sysfs_line(root, list, size, "sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
                   cpu, index);
    }
    return bytes;
}

/* Adds up the caches of each NUMA node, each cache once: at the first of its cores. */
static void caches_add(const char *root, const struct host_node *node, const int *numa_of,
                       double *cache_bytes)
{
    for (int k = 0; k < node->core_count; k++) {
        char list[256] = "";
        double bytes = last_cache(root, node->cores[k].cpu, list, sizeof list);
        bool is_first = true;

        for (int other = 0; other < k && is_first; other++)
            is_first = numa_of[other] != numa_of[k] || !list_has(list, node->cores[other].cpu);
        if (is_first)
            cache_bytes[numa_of[k]] += bytes;
    }
    for (int k = 0; k < node->numa_count; k++)
        if (cache_bytes[k] <= 0)
            cache_bytes[k] = DEFAULT_CACHE;
}

/* Returns the NUMA node of the processor; 0 if there are none. */
static int numa_number(const char *root, char **names, size_t count, int cpu)
{
    for (size_t i = 0; i < count; i++) {
        char list[1024];

        if (strncmp(names[i], "node", 4) == 0 &&
            sysfs_line(root, list, sizeof list, "sys/devices/system/node/%s/cpulist", names[i]) ==
                0 &&
            list_has(list, cpu))
            return atoi(names[i] + 4);
    }
    return 0;
}

static int numa_index(struct host_node *node, int number)
{
    for (int k = 0; k < node->numa_count; k++)
        if (node->numas[k].number == number)
            return k;
    if (node->numa_count == HOST_NUMA_NODES)
        return HOST_NUMA_NODES - 1;
    node->numas[node->numa_count].number = number;
    return node->numa_count++;
}

void topology_read(const char *root, const cpu_set_t *allowed, struct host_node *node,
                   double *cache_bytes, int *numa_of)
{
    char **names = NULL;
    size_t count = sysfs_names(root, &names, "sys/devices/system/node");

    model_read(root, node);
    node->memory_gib = file_number(root, "MemTotal:", "proc/meminfo") / (1 << 20);
    cores_read(root, allowed, node);
    for (int k = 0; k < node->core_count; k++)
        numa_of[k] = numa_index(node, numa_number(root, names, count, node->cores[k].cpu));
    sysfs_names_free(names, count);
    memset(cache_bytes, 0, HOST_NUMA_NODES * sizeof *cache_bytes);
    caches_add(root, node, numa_of, cache_bytes);
}

/* ---------------------------------------------------------------- cgroups */

typedef void cgroup_fn(const char *root, const char *path, void *context);

/* Returns PATH of a line "NUMBER:CONTROLLERS:PATH", if the controller is one of these, else
 * NULL. */
static const char *path_of(const char *line, const char *controller)
{
    const char *names = strchr(line, ':'), *end = names ? strchr(names + 1, ':') : NULL;
    size_t length = strlen(controller);

    for (const char *name = names; end && name < end; name = strpbrk(name, ",:")) {
        name++;
        if (strncmp(name, controller, length) == 0 && (name[length] == ',' || name[length] == ':'))
            return end + 1;
    }
    return NULL;
}

/* Calls each() for the cgroup of the process in a hierarchy, and for the cgroups above it, with the
 * path of each below the root, "sys/fs/cgroup/...". controller: of version 1; "": version 2. */
static void cgroups_each(const char *root, const char *controller, cgroup_fn *each, void *context)
{
    char *text = sysfs_file(root, FILE_MOST, "proc/self/cgroup"), path[SYSFS_PATH], *rest = NULL;

    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *own = path_of(line, controller);

        if (!own)
            continue;
        snprintf(path, sizeof path, "sys/fs/cgroup%s%s%s", *controller ? "/" : "", controller, own);
        do {
            each(root, path, context);
            *strrchr(path, '/') = '\0';
        } while (strcmp(path, "sys/fs") != 0);
    }
    free(text);
}

static double numbers_difference(const char *root, const char *path, const char *most,
                                 const char *used)
{
    long long limit = sysfs_number(root, "%s/%s", path, most);
    long long now = sysfs_number(root, "%s/%s", path, used);

    return limit < 0 || now < 0 ? INFINITY : fmax(0, (double)(limit - now));
}

static void memory_left(const char *root, const char *path, void *context)
{
    double *least = context;

    *least = fmin(*least, numbers_difference(root, path, "memory.max", "memory.current"));
    *least = fmin(*least,
                  numbers_difference(root, path, "memory.limit_in_bytes", "memory.usage_in_bytes"));
}

double topology_free_bytes(const char *root)
{
    double least = 1024 * file_number(root, "MemAvailable:", "proc/meminfo");

    if (!isfinite(least))
        return 0;
    cgroups_each(root, "", memory_left, &least);
    cgroups_each(root, "memory", memory_left, &least);
    return least;
}

static void add_throttled(const char *root, const char *path, void *context)
{
    char *text = sysfs_file(root, FILE_MOST, "%s/cpu.stat", path);
    double throttled_us = number_in(text, "throttled_usec"); /* version 2 */
    double throttled_ns = number_in(text, "throttled_time"); /* version 1 */

    if (isfinite(throttled_us))
        *(double *)context += 1e-6 * throttled_us;
    else if (isfinite(throttled_ns))
        *(double *)context += 1e-9 * throttled_ns;
    free(text);
}

double topology_throttled_s(const char *root)
{
    double sum_s = 0;

    cgroups_each(root, "", add_throttled, &sum_s);
    cgroups_each(root, "cpu", add_throttled, &sum_s);
    return sum_s;
}

uint64_t topology_steal_ticks(const char *stat, int cpu)
{
    char key[16];
    const char *line;
    uint64_t steal = 0;

    snprintf(key, sizeof key, "cpu%d ", cpu);
    line = stat ? text_after(stat, key) : NULL;
    if (line)
        sscanf(line, "%*u %*u %*u %*u %*u %*u %*u %" SCNu64, &steal);
    return steal;
}
