/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/node/bundle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "lib/base/atomic_file.h"
#include "lib/base/bounded_child.h"
#include "lib/base/clock.h"
#include "lib/base/memory_stream.h"
#include "lib/base/path.h"
#include "lib/base/sysfs.h"
#include "lib/certificate/certificate.h"
#include "lib/constants/command_constants.h"
#include "lib/node/part_counters.h"
#include "validate/checks/accelerators.h"
#include "validate/command/jsontext.h"
#include "validate/command/node/inventory.h"
#include "validate/command/tar.h"
#include "validate/health/kmsg.h"
#include "validate/health/log_file.h"

enum {
    LOG_BYTES = 1000000,
    LOG_ENTRIES = 20000,   /* the newest, in about LOG_BYTES */
    MEMBER_BYTES = 240000, /* of each of the other four members */
};

struct work {
    const struct checks *checks;
    const char *records;
    size_t records_size;
    char path[EVIDENCE_PATH];
    bool is_done;
    struct error err;
};

/* ---------------------------------------------------------------- members */

/* Adds the newest `most` bytes of a text, from the start of a line on. */
static void add_newest(FILE *tar, const char *name, const char *text, size_t size, size_t most)
{
    const char *from = text;

    if (size > most) {
        from = memchr(text + size - most, '\n', most);
        from = from ? from + 1 : text + size - most;
    }
    tar_member(tar, name, from, size - (size_t)(from - text));
}

static void print_entry(const struct kmsg_entry *entry, void *context)
{
    fprintf(context, "[%" PRId64 ".%06" PRId64 "] %s\n", entry->time_us / 1000000,
            entry->time_us % 1000000, entry->text);
}

static void write_log(const struct checks *checks, FILE *stream)
{
    static struct kernel_log log; /* as saved by the check just before */
    struct kmsg_reading reading;
    struct error err;
    char path[SYSFS_PATH];
    uint64_t from;

    log_file_load(checks->inventory->boot_id, &log);
    from = log.next > LOG_ENTRIES ? log.next - LOG_ENTRIES : 0;
    if (sysfs_path(checks->root, path, sizeof path, "dev/kmsg") == 0 &&
        kmsg_read(path, from, print_entry, stream, &reading, &err) != 0)
        fprintf(stream, "not read: %s\n", err.text);
}

static void write_counters(const struct checks *checks, FILE *stream)
{
    struct part_counters counters;

    part_counters_init(&counters, checks->inventory->boot_id, (int64_t)clock_s());
    part_counters_read(checks->root, checks->inventory, &counters);
    part_counters_write(&counters, stream);
    part_counters_clear(&counters);
}

static void write_inventory(const struct checks *checks, FILE *stream)
{
    inventory_write_json(checks->inventory, checks->fabric, stream);
}

static json_t *device_json(const struct accelerator *device)
{
    json_t *object = json_object();

    json_object_set_new(object, "state", json_integer(device->state));
    json_object_set_new(object, "pci", jsontext(device->pci));
    json_object_set_new(object, "model", jsontext(device->model));
    json_object_set_new(object, "uuid", jsontext(device->uuid));
    json_object_set_new(object, "serial", jsontext(device->serial));
    json_object_set_new(object, "firmware", jsontext(device->firmware));
    json_object_set_new(object, "partition", jsontext(device->partition));
    for (int i = 0; i < ACCELERATOR_VALUE_COUNT; i++) {
        const struct accelerator_value *value = &device->values[i];

        if (value->answer == ANSWER_PRESENT)
            json_object_set_new(object, accelerator_value_name((enum accelerator_value_id)i),
                                json_integer(value->number));
    }
    return object;
}

static json_t *report_json(const struct accelerator_report *report)
{
    json_t *object = json_object(), *devices = json_array();

    json_object_set_new(object, "vendor", jsontext(gpu_vendor_name(report->vendor)));
    json_object_set_new(object, "library", jsontext(report->library));
    json_object_set_new(object, "library_version", jsontext(report->library_version));
    json_object_set_new(object, "driver_version", jsontext(report->driver_version));
    json_object_set_new(object, "reason", jsontext(report->reason));
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(devices, device_json(&report->accelerators[i]));
    json_object_set_new(object, "devices", devices);
    return object;
}

static void write_accelerators(const struct checks *checks, FILE *stream)
{
    json_t *array = json_array();

    for (int vendor = 0; checks->accelerators && vendor < GPU_VENDORS; vendor++)
        if (checks->accelerators->reports[vendor])
            json_array_append_new(array, report_json(checks->accelerators->reports[vendor]));
    jsontext_print(stream, JSON_INDENT(2), array);
}

static void add_written(FILE *tar, const char *name, const struct checks *checks,
                        void (*write)(const struct checks *checks, FILE *stream), size_t most)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = memory_stream(&text, &size);

    if (!stream)
        return;
    write(checks, stream);
    if (fclose(stream) == 0)
        add_newest(tar, name, text, size, most);
    free(text);
}

/* ---------------------------------------------------------------- the bundle */

static void make(void *state)
{
    struct work *work = state;
    struct atomic_file file;

    if (atomic_file_begin(&file, work->path, 0600, &work->err) != 0)
        return;
    add_newest(file.stream, "records.jsonl", work->records, work->records_size, MEMBER_BYTES);
    add_written(file.stream, "kernel-log.txt", work->checks, write_log, LOG_BYTES);
    add_written(file.stream, "inventory.json", work->checks, write_inventory, MEMBER_BYTES);
    add_written(file.stream, "accelerators.json", work->checks, write_accelerators, MEMBER_BYTES);
    add_written(file.stream, "counters.txt", work->checks, write_counters, MEMBER_BYTES);
    tar_end(file.stream);
    work->is_done = atomic_file_commit(&file, &work->err) == 0;
}

int bundle_keep(const struct checks *checks, enum fault_code code, const char *part,
                const char *records, size_t size, struct evidence *evidence, struct error *err)
{
    struct work work = {.checks = checks, .records = records, .records_size = size};
    const char *certificate = checks->conf->certificate_path;
    char directory[EVIDENCE_PATH], above[EVIDENCE_PATH];
    struct bounded_end end;

    /* muster stores nothing on a machine where it has no directory */
    if (evidence_directory(certificate, directory) != 0 ||
        !path_directory(directory, above, sizeof above) || access(above, F_OK) != 0 ||
        !evidence_is_wanted(directory, code, part, (int64_t)clock_epoch_s(),
                            certificate_issued(certificate, NULL), evidence))
        return 0;
    if (evidence_make_room(directory, err) != 0)
        return -1;
    memcpy(work.path, evidence->path, sizeof work.path);
    if (bounded_run("muster-evidence", BUNDLE_LIMIT_S, make, &work, sizeof work, &end, err) != 0)
        return -1;
    if (end.outcome == BOUNDED_RETURNED && work.is_done)
        return 1;
    if (end.outcome == BOUNDED_LATE)
        return error_set(err, "no end within %d s", BUNDLE_LIMIT_S);
    return error_set(err, "%s", end.outcome == BOUNDED_RETURNED ? work.err.text : "crashed");
}
