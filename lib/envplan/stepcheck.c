/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/stepcheck.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/node/gpu/vendor.h"
#include "lib/node/gpu/visible_gpus.h"

/* ---------------------------------------------------------------- text */

/* Appends to a problem's text; cuts text that does not fit. */
#define APPEND(text, ...) text_join(text, STEPCHECK_TEXT, "", __VA_ARGS__)

/* Returns the text of a new problem, ""; overwrites the last problem if there are too many. */
static char *add_problem(struct stepcheck *check)
{
    if (check->count < STEPCHECK_PROBLEMS)
        check->count++;
    *check->problems[check->count - 1] = '\0';
    return check->problems[check->count - 1];
}

static const char *lookup(const struct stepcheck_facts *facts, const char *name)
{
    return facts->getenv_fn(name, facts->getenv_context);
}

/* Returns "is not there", "cannot be opened (Permission denied)" or the like. */
static const char *describe_error(int error, char text[64])
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return "is not there";
    case ENODEV:
        return "is no character device";
    case EPERM:
        return "is refused by the device cgroup";
    default:
        snprintf(text, 64, "cannot be opened (%.40s)", strerror(error));
        return text;
    }
}

/* Returns the number of entries of a comma list; 0 for NULL and "". */
static size_t count_entries(const char *list)
{
    size_t count = list != NULL && *list != '\0';

    for (; count > 0 && *list != '\0'; list++)
        count += *list == ',';
    return count;
}

/* ---------------------------------------------------------------- GPUs that can be opened */

/* How many of the node's GPUs this process can open. */
struct access_count {
    bool is_known;
    size_t total, openable;
    const char *failed_file; /* the first file with an error other than EPERM, the device cgroup's,
                             by which Slurm refuses devices not given to the step; or NULL */
    int failed_error;
};

static void check_access(const struct stepcheck_facts *facts, const char *file,
                         struct access_count *access_count)
{
    int error = facts->access_fn(file, facts->access_context);

    access_count->total++;
    access_count->openable += error == 0;
    access_count->is_known = access_count->is_known && error >= 0;
    if (error > 0 && error != EPERM && access_count->failed_file == NULL) {
        access_count->failed_file = file;
        access_count->failed_error = error;
    }
}

static bool is_gpu_file(const struct gres_device *device)
{
    return strcasecmp(device->kind, "gpu") == 0 && device->path[0] == '/';
}

/* Checks the GPUs of gres.conf. GPUs without a file, or with several files each, cannot be counted
 * from the list. */
static void count_gres(const struct stepcheck_facts *facts, struct access_count *access_count)
{
    access_count->is_known = facts->gres->counted == 0;
    for (size_t i = 0; i < facts->gres->count; i++)
        if (is_gpu_file(&facts->gres->devices[i]))
            check_access(facts, facts->gres->devices[i].path, access_count);
}

/* Checks the GPUs of the inventory. Slurm may hand out a partitioned GPU in parts. */
static void count_inventory(const struct stepcheck_facts *facts, struct access_count *access_count)
{
    access_count->is_known = true;
    for (size_t i = 0; i < facts->inventory->gpu_count; i++) {
        const struct gpu *gpu = &facts->inventory->gpus[i];

        if (gpu->is_partitioned || (gpu->device_file[0] == '\0' && gpu->driver[0] != '\0'))
            access_count->is_known = false;
        if (gpu->device_file[0] != '\0')
            check_access(facts, gpu->device_file, access_count);
    }
}

static void count_gpus(const struct stepcheck_facts *facts, struct access_count *access_count)
{
    memset(access_count, 0, sizeof *access_count);
    if (facts->gres != NULL && facts->gres->is_named && facts->gres->count > 0)
        count_gres(facts, access_count);
    else
        count_inventory(facts, access_count);
    access_count->is_known = access_count->is_known && access_count->total > 0;
}

/* ---------------------------------------------------------------- what the environment names */

/* Returns 1, 0 or -1 (not known) for visible_gpus_read(). */
static int can_open(const char *device_file, void *context)
{
    const struct stepcheck_facts *facts = context;
    int error = facts->access_fn(device_file, facts->access_context);

    return error < 0 ? -1 : error == 0;
}

/* Returns whether list has an index beyond the devices that can be opened. Used for devices of
 * unknown vendors, which the inventory does not list. */
static bool has_index_past(const char *list, size_t openable)
{
    while (list != NULL && *list != '\0') {
        char *end;
        long index = strtol(list, &end, 10); /* LONG_MAX if too large */

        if (end == list || (*end != ',' && *end != '\0'))
            return false;
        if (index < 0 || (size_t)index >= openable)
            return true;
        list = *end == ',' ? end + 1 : end;
    }
    return false;
}

static void report_named(const struct stepcheck_facts *facts,
                         const struct access_count *access_count, char *text)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                        "HIP_VISIBLE_DEVICES"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *list = lookup(facts, names[i]);

        if (!has_index_past(list, access_count->openable))
            continue;
        APPEND(text, "%s=%.40s names devices other than the %zu that can be opened", names[i], list,
               access_count->openable);
        return;
    }
}

/* Appends the problem of the lists of visible devices, if there is one. */
static void report_visible(const struct stepcheck_facts *facts,
                           const struct access_count *access_count, char text[STEPCHECK_TEXT])
{
    struct visible_gpus visible;

    if (facts->inventory->gpu_count == 0) {
        if (access_count->is_known)
            report_named(facts, access_count, text);
        return;
    }
    visible_gpus_read(facts->inventory, facts->getenv_fn, facts->getenv_context, can_open,
                      (void *)facts, &visible);
    if (visible.openable == 0 || (!visible.is_cut && (visible.count > 0 || !visible.is_known)))
        return;
    if (visible.is_known && visible.count == 0)
        APPEND(text, "the program sees none: %s", visible.fact);
    else if (visible.is_known)
        APPEND(text, "the program sees only %zu: %s", visible.count, visible.fact);
    else
        APPEND(text, "%s", visible.fact);
}

/* ---------------------------------------------------------------- checks */

static bool report_common_file(const struct stepcheck_facts *facts,
                               const struct gpu_common_file *file, char text[STEPCHECK_TEXT])
{
    int error = facts->access_fn(file->path, facts->access_context);
    char reason[64];

    if (error <= 0 || (error == ENOENT && file->is_made_later))
        return false;
    APPEND(text, "%s %s, which %s needs", file->path, describe_error(error, reason), file->user);
    return true;
}

static void report_common_files(const struct stepcheck_facts *facts, char text[STEPCHECK_TEXT])
{
    for (int vendor = GPU_OTHER + 1; vendor < GPU_VENDORS; vendor++) {
        const struct gpu_vendor_info *info = gpu_vendor_info((enum gpu_vendor)vendor);

        if (!inventory_has_gpu(facts->inventory, (enum gpu_vendor)vendor))
            continue;
        for (const struct gpu_common_file *file = info->common_files; file->path; file++)
            if (report_common_file(facts, file, text))
                return;
    }
}

static void check_gpus(const struct stepcheck_facts *facts, struct stepcheck *check)
{
    const char *list = lookup(facts, "SLURM_STEP_GPUS");
    size_t allocated = count_entries(list);
    char difference[STEPCHECK_TEXT] = "", reason[64];
    struct access_count access_count;
    char *text;

    if (allocated == 0)
        return;
    count_gpus(facts, &access_count);
    if (access_count.is_known && access_count.openable < allocated) {
        APPEND(difference, "the step can open %zu of the node's %zu", access_count.openable,
               access_count.total);
        if (access_count.failed_file != NULL)
            APPEND(difference, ", %s %s", access_count.failed_file,
                   describe_error(access_count.failed_error, reason));
    } else {
        report_visible(facts, &access_count, difference);
        if (*difference == '\0')
            report_common_files(facts, difference);
    }
    if (*difference == '\0')
        return;
    text = add_problem(check);
    APPEND(text, "%zu GPU%s allocated (%.40s%s), %s", allocated, text_plural(allocated), list,
           strlen(list) > 40 ? "..." : "", difference);
}

/* Returns whether programs use the fabric through verbs: not Gaudi's own ports, nor Slingshot's. */
static bool has_rdma(const struct fabric *fabric)
{
    return fabric->class > FABRIC_ETHERNET && fabric->class != FABRIC_SLINGSHOT &&
           fabric->class != FABRIC_GAUDI;
}

static void check_memlock(const struct stepcheck_facts *facts, struct stepcheck *check)
{
    long wanted_mb = facts->conf->memlock_mb;
    unsigned long long wanted =
        wanted_mb < 0 ? ULLONG_MAX : (unsigned long long)wanted_mb * 1000000;
    char *text;

    if (facts->memlock_bytes >= wanted)
        return;
    text = add_problem(check);
    APPEND(text, "%.4g MB of locked memory, %s needs ", (double)facts->memlock_bytes / 1e6,
           fabric_class_name(facts->fabric->class));
    if (wanted_mb < 0)
        APPEND(text, "unlimited");
    else
        APPEND(text, "%ld MB", wanted_mb);
    APPEND(text, " (MemlockMB): the administrator sets LimitMEMLOCK of slurmd's unit and "
                 "PropagateResourceLimitsExcept=MEMLOCK");
}

static void check_verbs(const struct stepcheck_facts *facts, struct stepcheck *check)
{
    const struct rail *first = NULL;
    int first_error = 0;
    size_t refused = 0;
    char reason[64], *text;

    for (size_t i = 0; i < facts->fabric->rail_count; i++) {
        const struct rail *rail = &facts->fabric->rails[i];
        int error;

        if (rail->port == NULL || rail->port->verbs_file[0] == '\0' || !rail_is_up(rail))
            continue;
        error = facts->access_fn(rail->port->verbs_file, facts->access_context);
        if (error <= 0)
            continue;
        refused++;
        if (first == NULL) {
            first = rail;
            first_error = error;
        }
    }
    if (refused == 0)
        return;
    text = add_problem(check);
    APPEND(text, "rail %s: %s %s", first->name, first->port->verbs_file,
           describe_error(first_error, reason));
    if (refused > 1)
        APPEND(text, ", nor can those of %zu other rails be opened", refused - 1);
    APPEND(text, "; %s is used through it", fabric_class_name(facts->fabric->class));
}

/* Returns whether a list of UCX_TLS has no transport that uses InfiniBand or RoCE (ucx_info -d; the
 * aliases of ucp_context.c). A list that begins with ^ names unwanted transports: returns false. */
static bool is_without_rdma(const char *transports)
{
    static const char *const rdma[] = {"all", "ib", "rc", "ud", "dc", "gga"};

    if (transports[0] == '^' || transports[0] == '\0')
        return false;
    for (const char *name = transports; *name != '\0'; name += *name == ',') {
        size_t length = strcspn(name, ","), first;

        first = *name == '\\'; /* "\\rc": rc without its auxiliary transports */
        for (size_t i = 0; i < sizeof rdma / sizeof *rdma; i++)
            if (strncmp(name + first, rdma[i], strlen(rdma[i])) == 0)
                return false;
        name += length;
    }
    return true;
}

/* Checks for a variable that selects TCP although there is RDMA. The user, a module or an old
 * script may have set it. */
static void check_transports(const struct stepcheck_facts *facts, struct stepcheck *check)
{
    const char *transports = lookup(facts, "UCX_TLS"), *disable = lookup(facts, "NCCL_IB_DISABLE");
    const char *net = lookup(facts, "NCCL_NET"), *class = fabric_class_name(facts->fabric->class);
    const char *name = NULL, *value = NULL, *user = "NCCL";

    if (!fabric_class_is_rdma(facts->fabric->class))
        return;
    if (transports != NULL && is_without_rdma(transports))
        name = "UCX_TLS", value = transports, user = "UCX";
    else if (disable != NULL && strcmp(disable, "1") == 0)
        name = "NCCL_IB_DISABLE", value = disable;
    else if (net != NULL && strcasecmp(net, "Socket") == 0)
        name = "NCCL_NET", value = net;
    if (name != NULL)
        APPEND(add_problem(check),
               "%s=%.80s keeps %s off %s: messages between nodes use TCP; remove it from the job's "
               "environment",
               name, value, user, class);
}

/* Returns the port's GID with this index, or NULL. *is_known: the port's table is not empty and was
 * read to its end. */
static const struct gid *gid_at(const struct rail *rail, long index, bool *is_known)
{
    *is_known = rail->port->gid_count > 0 && rail->port->gid_count < INVENTORY_GIDS;
    for (size_t i = 0; i < rail->port->gid_count; i++)
        if (rail->port->gids[i].index == index)
            return &rail->port->gids[i];
    return NULL;
}

/* Adds the problem of a GID index, if there is one. Returns whether there is. */
static bool report_gid_index(const struct rail *rail, const char *name, long index, int best_index,
                             struct stepcheck *check)
{
    bool is_known, is_best_known;
    const struct gid *gid = gid_at(rail, index, &is_known);
    const struct gid *best = gid_at(rail, best_index, &is_best_known);
    char *text;

    if (best == NULL || (gid == NULL && !is_known) ||
        (gid != NULL && (gid->type != GID_ROCE_V1 || best->type != GID_ROCE_V2)))
        return false;
    text = add_problem(check);
    if (gid == NULL)
        APPEND(text, "%s=%ld: %s has no GID with that index, connections hang and the job aborts",
               name, index, rail->name);
    else
        APPEND(text,
               "%s=%ld is RoCE v1 on %s: it is not routable and does not reach a port that uses "
               "RoCE v2",
               name, index, rail->name);
    APPEND(text, "; the index to use is %d (%s): remove %s from the job's environment", best_index,
           gid_type_name(best->type), name);
    return true;
}

/* Checks a GID index that the user, a module or a script of another cluster has set. */
static void check_gid_indexes(const struct stepcheck_facts *facts, struct stepcheck *check)
{
    static const struct {
        const char *name;
        bool is_ucx;
    } users[] = {{"UCX_IB_GID_INDEX", true}, {"NCCL_IB_GID_INDEX", false}};

    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        const char *value = lookup(facts, users[i].name);
        char *end = NULL;
        long index = value != NULL ? strtol(value, &end, 10) : -1;
        bool is_said = value == NULL || end == value || *end != '\0' || index < 0;

        for (size_t k = 0; k < facts->fabric->rail_count && !is_said; k++) {
            const struct rail *rail = &facts->fabric->rails[k];

            if (rail->port != NULL && rail_is_up(rail) &&
                (rail->class == FABRIC_ROCE_V1 || rail->class == FABRIC_ROCE_V2))
                is_said = report_gid_index(
                    rail, users[i].name, index,
                    users[i].is_ucx ? rail_ucx_gid_index(rail) : rail->gid_index, check);
        }
    }
}

static void check_shared_memory(const struct stepcheck_facts *facts, struct stepcheck *check)
{
    long wanted_mb = facts->conf->shm_mb;

    if (wanted_mb <= 0 || facts->shared_memory_bytes < 0 ||
        facts->shared_memory_bytes >= wanted_mb * 1000000LL)
        return;
    APPEND(add_problem(check),
           "/dev/shm has %.0f MB, ShmMB asks for %ld; ranks on one node communicate through it",
           (double)facts->shared_memory_bytes / 1e6, wanted_mb);
}

static bool spans_nodes(const struct stepcheck_facts *facts)
{
    const char *nodes = lookup(facts, "SLURM_STEP_NUM_NODES");

    return nodes != NULL && strtol(nodes, NULL, 10) > 1;
}

void stepcheck_make(const struct stepcheck_facts *facts, struct stepcheck *check)
{
    check->count = 0;
    check_gpus(facts, check);
    if (has_rdma(facts->fabric) && spans_nodes(facts)) {
        check_memlock(facts, check);
        check_verbs(facts, check);
        check_transports(facts, check);
        check_gid_indexes(facts, check);
    }
    check_shared_memory(facts, check);
    for (size_t i = 0; i < check->count; i++)
        text_make_ascii(check->problems[i]);
}

unsigned long long stepcheck_memlock(const char *propagated, unsigned long long soft,
                                     unsigned long long hard)
{
    unsigned long long value;
    char *end;

    if (propagated == NULL)
        return soft;
    propagated += *propagated == 'U';
    if (!isdigit((unsigned char)*propagated))
        return soft;
    value = strtoull(propagated, &end, 10); /* ULLONG_MAX if too large */
    return *end != '\0' || value > hard ? soft : value;
}
