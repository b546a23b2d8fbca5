/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/node/part_counters.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/deferred_error.h"
#include "lib/base/grow.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/node/counters.h"

enum { MEMORY_LEAST_BYTES = 1000000000 };

static const char title[] = "muster counters 1", memory_used[] = "memory_used";

void part_counters_init(struct part_counters *counters, const char *boot_id, int64_t time_s)
{
    *counters = (struct part_counters){.time_s = time_s};
    snprintf(counters->boot_id, sizeof counters->boot_id, "%s", boot_id);
}

void part_counters_clear(struct part_counters *counters)
{
    free(counters->items);
    counters->items = NULL;
    counters->count = 0;
}

static void mark_lost(struct part_counters *counters)
{
    part_counters_clear(counters);
    counters->is_lost = true;
}

const char *part_counter_unit(const char *counter)
{
    return strcmp(counter, memory_used) == 0 ? "bytes" : "count";
}

/* Returns whether the name fits size bytes and is one word. */
static bool is_word(const char *name, size_t size)
{
    return strlen(name) < size && !strpbrk(name, " \n");
}

void part_counters_add(struct part_counters *counters, const char *part, const char *counter,
                       uint64_t value)
{
    struct part_counter *items;

    if (counters->is_lost || !*part || !is_word(part, PART_NAME) || !is_word(counter, COUNTER_NAME))
        return;
    if (counters->count >= PART_COUNTERS_MOST || !GROW(counters->items, counters->count)) {
        mark_lost(counters);
        return;
    }
    items = &counters->items[counters->count++];
    *items = (struct part_counter){.value = value};
    strcpy(items->part, part);
    strcpy(items->counter, counter);
}

/* ---------------------------------------------------------------- reading */

#define COUNTER(field) #field, offsetof(struct counters, field)

static const struct {
    const char *name;
    size_t offset; /* in struct counters */
} sources[] = {
    {"crc_errors", offsetof(struct counters, rx_crc_errors)},
    {COUNTER(rx_errors)},
    {COUNTER(tx_errors)},
    {COUNTER(rx_missed)},
    {COUNTER(tx_discards)},
    {COUNTER(tx_carrier_errors)},
    {COUNTER(carrier_changes)},
    {COUNTER(symbol_errors)},
    {COUNTER(link_downed)},
    {COUNTER(link_error_recovery)},
    {COUNTER(port_rcv_errors)},
    {COUNTER(link_integrity_errors)},
    {COUNTER(buffer_overruns)},
    {COUNTER(rdma_retransmits)},
    {COUNTER(rdma_not_ready)},
    {COUNTER(rdma_discards)},
    {COUNTER(rdma_slowed)},
    {COUNTER(pcie_correctable)},
    {COUNTER(pcie_nonfatal)},
    {COUNTER(pcie_fatal)},
};

static void add_counters(struct part_counters *counters, const char *part,
                         const struct counters *found)
{
    part_counters_add(counters, part, "", 0);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        uint64_t value = *(const uint64_t *)((const char *)found + sources[i].offset);

        if (counters_lacks(found, sources[i].offset))
            value = PART_COUNTER_UNREAD;
        if (value > 0)
            part_counters_add(counters, part, sources[i].name, value);
    }
}

static void read_links(const char *root, const struct inventory *inventory,
                       struct part_counters *counters)
{
    struct counters found;
    char part[2 * INVENTORY_NAME];

    for (size_t i = 0; i < inventory->nic_count; i++) {
        const struct nic *nic = &inventory->nics[i];

        if (!nic->is_physical || counters_read(root, nic->name, "", 0, &found) != 0)
            continue;
        counters_read_pci(root, nic->location.pci, &found);
        add_counters(counters, nic->name, &found);
    }
    for (size_t i = 0; i < inventory->rdma_count; i++) {
        const struct rdma_port *port = &inventory->rdma[i];

        if (counters_read(root, "", port->device, port->port, &found) != 0)
            continue;
        if (!*port->netdev) /* else its interface has the PCIe counters */
            counters_read_pci(root, port->location.pci, &found);
        snprintf(part, sizeof part, "%s:%d", port->device, port->port);
        add_counters(counters, part, &found);
    }
}

/* Adds an ECC counter. value -1: an AMD GPU does not report it, at least not now; other vendors
 * never do. */
static void add_ecc(struct part_counters *counters, const char *part, const struct gpu *gpu,
                    const char *counter, long value)
{
    if (value > 0)
        part_counters_add(counters, part, counter, (uint64_t)value);
    else if (value < 0 && gpu->vendor == GPU_AMD)
        part_counters_add(counters, part, counter, PART_COUNTER_UNREAD);
}

static void read_gpus(const char *root, const struct inventory *inventory,
                      struct part_counters *counters)
{
    char part[PART_NAME];

    for (size_t i = 0; i < inventory->gpu_count; i++) {
        const struct gpu *gpu = &inventory->gpus[i];
        struct counters found = {0};

        snprintf(part, sizeof part, "gpu%zu", i);
        counters_read_pci(root, gpu->location.pci, &found);
        add_counters(counters, part, &found);
        add_ecc(counters, part, gpu, "ecc_corrected", gpu->ecc_corrected);
        add_ecc(counters, part, gpu, "ecc_uncorrected", gpu->ecc_uncorrected);
    }
}

/* Linux, Documentation/ABI/testing/sysfs-devices-edac */
static void read_memory_errors(const char *root, struct part_counters *counters)
{
    static const struct {
        const char *file, *counter;
    } files[] = {{"ce_count", "ecc_corrected"}, {"ue_count", "ecc_uncorrected"}};
    char **names;
    size_t count = sysfs_names(root, &names, "sys/devices/system/edac/mc");

    for (size_t i = 0; i < count; i++) {
        if (strncmp(names[i], "mc", 2) != 0)
            continue;
        part_counters_add(counters, names[i], "", 0);
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            long long value =
                sysfs_number(root, "sys/devices/system/edac/mc/%s/%s", names[i], files[k].file);

            if (value > 0)
                part_counters_add(counters, names[i], files[k].counter, (uint64_t)value);
        }
    }
    sysfs_names_free(names, count);
}

/* Returns the number after name at the beginning of a line; 0 if there is no such line. */
static uint64_t number_of(const char *text, const char *name)
{
    const char *number = text_after(text, name);

    return number ? strtoull(number, NULL, 10) : 0;
}

static void read_host(const char *root, struct part_counters *counters)
{
    char *text = sysfs_file(root, 1 << 16, "proc/vmstat");
    uint64_t kills = text ? number_of(text, "oom_kill ") : 0, all, available;

    free(text);
    part_counters_add(counters, "node", "", 0);
    if (kills > 0)
        part_counters_add(counters, "node", "oom_kills", kills);
    text = sysfs_file(root, 1 << 14, "proc/meminfo");
    if (text) {
        all = number_of(text, "MemTotal:");
        available = number_of(text, "MemAvailable:");
        if (available > 0 && available < all)
            part_counters_add(counters, "node", memory_used, 1024 * (all - available));
    }
    free(text);
}

void part_counters_read(const char *root, const struct inventory *inventory,
                        struct part_counters *counters)
{
    deferred_error_take();
    read_links(root, inventory, counters);
    read_gpus(root, inventory, counters);
    read_memory_errors(root, counters);
    read_host(root, counters);
    if (deferred_error_take() != 0)
        mark_lost(counters);
}

/* ---------------------------------------------------------------- the difference */

static const struct part_counter *find(const struct part_counters *counters, const char *part,
                                       const char *counter)
{
    for (size_t i = 0; i < counters->count; i++)
        if (strcmp(counters->items[i].part, part) == 0 &&
            strcmp(counters->items[i].counter, counter) == 0)
            return &counters->items[i];
    return NULL;
}

void part_counters_increased(const struct part_counters *then, const struct part_counters *now,
                             void (*each)(const struct part_counter *increase, void *context),
                             void *context)
{
    if (strcmp(then->boot_id, now->boot_id) != 0)
        return;
    for (size_t i = 0; i < now->count; i++) {
        struct part_counter increase = now->items[i];
        const struct part_counter *before = find(then, increase.part, increase.counter);
        uint64_t was = before ? before->value : 0;

        if (!*increase.counter || increase.value == PART_COUNTER_UNREAD || increase.value <= was ||
            !find(then, increase.part, ""))
            continue;
        increase.value -= was;
        if (strcmp(increase.counter, memory_used) != 0 || increase.value > MEMORY_LEAST_BYTES)
            each(&increase, context);
    }
}

/* ---------------------------------------------------------------- the text */

int part_counters_write(const void *what, FILE *stream)
{
    const struct part_counters *counters = what;

    fprintf(stream, "%s\nboot %s %" PRId64 "\n", title, counters->boot_id, counters->time_s);
    for (size_t i = 0; i < counters->count; i++) {
        const struct part_counter *item = &counters->items[i];

        fprintf(stream, "%s %s ", item->part, *item->counter ? item->counter : "-");
        if (item->value == PART_COUNTER_UNREAD)
            fputs("?\n", stream);
        else
            fprintf(stream, "%" PRIu64 "\n", item->value);
    }
    return ferror(stream) ? -1 : 0;
}

static void parse_line(struct part_counters *counters, const char *line)
{
    char part[PART_NAME], counter[COUNTER_NAME];
    uint64_t value = PART_COUNTER_UNREAD;
    int behind = 0;

    if (sscanf(line, "%31s %27s %n%" SCNu64, part, counter, &behind, &value) == 3 ||
        (behind > 0 && line[behind] == '?'))
        part_counters_add(counters, part, counter[0] == '-' ? "" : counter, value);
}

int part_counters_parse(struct part_counters *counters, char *text)
{
    size_t length = strlen(title);
    char *end;
    int behind = -1;

    part_counters_init(counters, "", 0);
    if (strncmp(text, title, length) != 0 ||
        sscanf(text + length, "\nboot %39s %" SCNd64 "%n", counters->boot_id, &counters->time_s,
               &behind) != 2 ||
        behind < 0 || text[length + (size_t)behind] != '\n') {
        part_counters_init(counters, "", 0);
        return -1;
    }
    for (char *line = text + length + behind + 1; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        parse_line(counters, line);
    }
    return 0;
}
