/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/gres.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/base/base_name.h"
#include "lib/base/sysfs.h"
#include "lib/node/gpu/vendor.h"

/* slurm.gres: the devices that Slurm allocates on this node exist, and are of the configured kind.
 * Device files are checked with stat() only: inside a step a file can exist that cannot be opened.
 */

struct device {
    const struct gres_device *gres;
    const char *part; /* "gpu5" */
    dev_t number;
    bool is_good; /* the file exists and is a character device */
};

struct context {
    const struct checks *checks;
    const struct gres_conf *conf;
    const struct gres_devices *list;
    struct device *devices; /* list->count of them */
    size_t failures;
};

/* Records a problem, and counts it if it is a failure. */
#define record_problem(context, part, verdict, ...)                                                \
    ((context)->failures += (verdict) == VERDICT_FAIL,                                             \
     checks_record((context)->checks, part, verdict, __VA_ARGS__))

static bool is_gpu(const struct device *device)
{
    return strcasecmp(device->gres->kind, "gpu") == 0;
}

static void check_device(struct context *context, struct device *device)
{
    const struct gres_device *gres = device->gres;
    char path[SYSFS_PATH];
    struct stat status;

    if (sysfs_path(context->checks->root, path, sizeof path, "%s",
                   gres->path + (gres->path[0] == '/')) < 0 ||
        stat(path, &status) < 0) {
        if (errno == ENOENT)
            record_problem(context, device->part, VERDICT_FAIL,
                           "%s:%d: %s does not exist; check that its driver is loaded and the "
                           "device is on the bus",
                           gres->file, gres->number, gres->path);
        else
            record_problem(context, device->part, VERDICT_UNKNOWN, "%s:%d: %s: %m", gres->file,
                           gres->number, gres->path);
        return;
    }
    if (!S_ISCHR(status.st_mode)) {
        if (is_gpu(device))
            record_problem(context, device->part, VERDICT_FAIL,
                           "%s:%d: %s is not a character device", gres->file, gres->number,
                           gres->path);
        return;
    }
    device->number = status.st_rdev;
    device->is_good = true;
}

/* Returns the driver of a character device's major number in /proc/devices, or "no driver". */
static const char *driver_name(const char *root, unsigned number, char *name, size_t size)
{
    char *text = sysfs_file(root, 65536, "proc/devices"), *rest = text, *line;

    snprintf(name, size, "no driver");
    while (rest && (line = strsep(&rest, "\n"))) {
        char word[64];
        unsigned found;

        if (strncmp(line, "Block", 5) == 0)
            break;
        if (sscanf(line, "%u %63s", &found, word) == 2 && found == number && word[0] != '/') {
            snprintf(name, size, "%s", word);
            break;
        }
    }
    free(text);
    return name;
}

/* Reports each device that is the same as an earlier one; the earlier one keeps its name. */
static void check_duplicates(struct context *context)
{
    for (size_t i = 0; i < context->list->count; i++) {
        struct device *device = &context->devices[i];

        for (size_t j = 0; j < i && device->is_good; j++) {
            const struct device *other = &context->devices[j];

            if (!other->is_good || other->number != device->number || device->gres->is_multiple ||
                strcasecmp(other->gres->kind, device->gres->kind) != 0)
                continue;
            device->is_good = false;
            record_problem(context, device->part, VERDICT_FAIL,
                           "%s:%d: %s is the same device as %s (%u:%u): two jobs would share it",
                           device->gres->file, device->gres->number, device->gres->path,
                           other->gres->path, major(device->number), minor(device->number));
        }
    }
}

static bool is_of_list(const struct device *device)
{
    return device->is_good && is_gpu(device) && !device->gres->is_multiple;
}

/* The major number of more than half the GPU files, or -1. */
static long common_major(const struct context *context)
{
    size_t all = 0;

    for (size_t i = 0; i < context->list->count; i++)
        all += is_of_list(&context->devices[i]);
    for (size_t i = 0; i < context->list->count; i++) {
        size_t same = 0;

        for (size_t j = 0; j < context->list->count && is_of_list(&context->devices[i]); j++)
            same += is_of_list(&context->devices[j]) &&
                    major(context->devices[j].number) == major(context->devices[i].number);
        if (2 * same > all)
            return (long)major(context->devices[i].number);
    }
    return all == 0 ? -1 : -2;
}

/* Returns whether GPUs that were found have this driver: a node may have GPUs of several. */
static bool is_of_found_gpus(const struct checks *checks, unsigned number)
{
    for (size_t i = 0; i < checks->inventory->gpu_count; i++) {
        const char *file = checks->inventory->gpus[i].device_file;
        char path[SYSFS_PATH];
        struct stat status;

        if (file[0] && sysfs_path(checks->root, path, sizeof path, "%s", file + 1) == 0 &&
            stat(path, &status) == 0 && major(status.st_rdev) == number)
            return true;
    }
    return false;
}

/* Reports files whose driver differs from that of most GPU files: they are no GPUs. */
static void check_kinds(struct context *context)
{
    const char *root = context->checks->root;
    long common = common_major(context);
    char found[64], expected[64];

    if (common == -2)
        record_problem(context, "gpu", VERDICT_WARN, "the GPU files of %s have different drivers",
                       context->list->devices[0].file);
    for (size_t i = 0; i < context->list->count && common >= 0; i++) {
        struct device *device = &context->devices[i];
        unsigned number = major(device->number);

        if (!is_of_list(device) || number == (unsigned)common ||
            is_of_found_gpus(context->checks, number))
            continue;
        device->is_good = false;
        record_problem(
            context, device->part, VERDICT_FAIL,
            "%s:%d: %s is not a GPU: it is a device of %s (%u:%u), the others are of %s (%ld)",
            device->gres->file, device->gres->number, device->gres->path,
            driver_name(root, number, found, sizeof found), number, minor(device->number),
            driver_name(root, (unsigned)common, expected, sizeof expected), common);
    }
}

/* Reports the number of GPUs, with a message. */
#define report_count(context, found, expected, verdict_, ...)                                      \
    ((context)->failures += (verdict_) == VERDICT_FAIL,                                            \
     checks_report((context)->checks,                                                              \
                   RECORD(.part = "gpu", .metric = "count", .value = (double)(found),              \
                          .unit = "count", .limit = (double)(expected), .limit_source = "conf",    \
                          .verdict = verdict_),                                                    \
                   __VA_ARGS__))

/* With AutoDetect Slurm uses the GPUs that the vendor's library finds; this check uses the GPUs on
 * the PCI bus. */
static void check_detected(struct context *context, long expected)
{
    const struct gres_conf *conf = context->conf;
    enum gpu_vendor vendor = gpu_vendor_by_auto_detect(conf->auto_detect);
    const struct inventory *inventory = context->checks->inventory;
    long found = 0;

    if (vendor == GPU_OTHER) {
        record_problem(context, "gpu", VERDICT_SKIP,
                       "not checked: only slurmd can find GPUs with AutoDetect=%s",
                       conf->auto_detect);
        return;
    }
    for (size_t i = 0; i < inventory->gpu_count; i++)
        found += inventory->gpus[i].vendor == vendor && inventory->gpus[i].driver[0] &&
                 !gpu_is_passed_through(&inventory->gpus[i]);
    if (found < expected)
        report_count(context, found, expected, VERDICT_FAIL,
                     "%s:%d: slurm.conf gives gpu:%ld, AutoDetect=%s can find %ld", conf->node.file,
                     conf->node.number, expected, conf->auto_detect, found);
    else
        report_count(context, found, expected, VERDICT_PASS,
                     "slurm.conf gives gpu:%ld, AutoDetect=%s can find %ld", expected,
                     conf->auto_detect, found);
}

/* Compares the GPUs of gres.conf with those of slurm.conf. Slurm drains a node that has fewer, and
 * does not use additional ones. */
static void compare_counts(struct context *context)
{
    const struct slurm_node *node = &context->conf->node;
    long expected = slurm_gres_count(node->gres, "gpu"), found = context->list->counted;

    for (size_t i = 0; i < context->list->count; i++)
        found += is_gpu(&context->devices[i]) && !context->list->devices[i].is_multiple;
    if (found == 0 && expected == 0)
        return;
    if (context->conf->auto_detect[0] && gres_has_partitions(context->checks, context->conf)) {
        record_problem(context, "gpu", VERDICT_SKIP,
                       "not checked: slurm.conf counts partitions (MIG), gpu:%ld, which only "
                       "slurmd can find",
                       expected);
    } else if (!context->list->is_named && context->conf->auto_detect[0]) {
        check_detected(context, expected);
    } else if (!context->list->is_named) {
        report_count(context, 0, expected, VERDICT_FAIL,
                     "%s:%d: slurm.conf gives gpu:%ld, gres.conf has no GPU for %s", node->file,
                     node->number, expected, context->checks->node);
    } else if (found != expected) {
        report_count(context, found, expected, found < expected ? VERDICT_FAIL : VERDICT_WARN,
                     "%s:%d: slurm.conf gives gpu:%ld, gres.conf has %ld", node->file, node->number,
                     expected, found);
    } else if (context->failures == 0) {
        report_count(context, found, expected, VERDICT_PASS,
                     "gpu:%ld, as in slurm.conf; gres.conf has a device file for each", found);
    }
}

static void check_devices(struct context *context)
{
    for (size_t i = 0; i < context->list->count; i++) {
        struct device *device = &context->devices[i];

        device->gres = &context->list->devices[i];
        device->part = base_name(device->gres->path);
        check_device(context, device);
    }
    /* before the duplicates, which leave out devices of another kind */
    check_kinds(context);
    check_duplicates(context);
}

static void check_node(const struct checks *checks, const struct gres_conf *conf)
{
    struct gres_devices list;
    struct context context = {checks, conf, &list, NULL, 0};
    struct error err;

    if (gres_devices_list(&conf->gres, checks->node, &list, &err) < 0) {
        checks_record(checks, "", VERDICT_FAIL, "%s", err.text);
    } else if (list.count == 0 && !list.is_named && !conf->node.gres[0]) {
        checks_record(checks, "", VERDICT_SKIP, "slurm.conf and gres.conf have no GRES for %s",
                      checks->node);
    } else {
        context.devices = calloc(list.count + 1, sizeof *context.devices);
        if (context.devices) {
            check_devices(&context);
            compare_counts(&context);
        } else {
            checks_record(checks, "", VERDICT_UNKNOWN, "out of memory for %zu devices", list.count);
        }
        free(context.devices);
    }
    gres_devices_clear(&list);
}

void check_gres(const struct checks *checks)
{
    struct gres_conf conf;
    struct error err;
    int result = gres_conf_read(checks, &conf, &err);

    if (result > 0)
        checks_record(checks, "", VERDICT_SKIP, "%s", err.text);
    else if (result < 0)
        checks_record(checks, "", VERDICT_UNKNOWN, "%s", err.text);
    else if (!conf.node.is_found)
        checks_record(checks, "", VERDICT_SKIP, "%s/slurm.conf has no NodeName %s", conf.directory,
                      checks->node);
    else
        check_node(checks, &conf);
    gres_conf_clear(&conf);
}
