/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"

enum nvml_recovery_action {
    RECOVERY_NONE,
    RECOVERY_RESET,
    RECOVERY_REBOOT,
    RECOVERY_DRAIN_P2P,
    RECOVERY_DRAIN_AND_RESET,
    RECOVERY_IMEX,
};

enum { FABRIC_STARTED_NOT = 1, FABRIC_IN_PROGRESS = 2, FABRIC_DONE = 3 };
enum { FABRIC_UNHEALTHY = 2, FABRIC_LIMITED = 3 };

struct evaluation {
    const struct accelerator_report *report;
    const struct accelerator_view *view;
    long indexes[ACCELERATOR_MAX];
    const struct record_sink *sink;
    size_t count;
};

static const struct accelerator *device_at(const struct evaluation *evaluation, size_t index)
{
    return &evaluation->report->accelerators[index];
}

/* Returns the index of the device in the inventory, or -1. */
static long index_of(const struct evaluation *evaluation, const struct accelerator *device)
{
    return evaluation->indexes[device - evaluation->report->accelerators];
}

/* Reports a finding. device: may be NULL. id: ACCELERATOR_VALUE_COUNT for a finding without a
 * value. limit: NAN for none. */
static void __attribute__((format(printf, 6, 7)))
find(struct evaluation *evaluation, const struct accelerator *device, enum fault_code code,
     enum accelerator_value_id id, double limit, const char *format, ...)
{
    struct record record = RECORD(.code = code);
    const char *vendor = gpu_vendor_name(evaluation->report->vendor);
    char part[24] = "", message[320];
    int length = 0;

    if (device) {
        long index = index_of(evaluation, device);

        snprintf(part, sizeof part, "gpu%ld",
                 index >= 0 ? index : device - evaluation->report->accelerators);
        length =
            snprintf(message, sizeof message, "%s%s%s ", device->model[0] ? device->model : vendor,
                     device->pci[0] ? " at " : "", device->pci);
        /* a state has no unit and is no measurement */
        if (id < ACCELERATOR_VALUE_COUNT && *accelerator_value_unit(id)) {
            record.metric = accelerator_value_name(id);
            record.unit = accelerator_value_unit(id);
            record.value = (double)device->values[id].number;
            record.limit = limit;
            record.limit_source = isnan(limit) ? NULL : "nominal";
        }
    }
    TEXT_FORMAT(message + length, sizeof message - (size_t)length, format);
    record.part = part;
    evaluation->count++;
    record_report(evaluation->sink, record, "%s", message);
}

/* ---------------------------------------------------------------- numbers with a limit */

/* Judges memory errors. If the kernel counts uncorrected errors, another check judges these. */
static void evaluate_errors(struct evaluation *evaluation, const struct accelerator *device)
{
    long index = index_of(evaluation, device);
    long long errors = accelerator_number(device, ACCELERATOR_ECC_VOLATILE_UNCORRECTED);

    if (errors > 0 && (index < 0 || evaluation->view->inventory->gpus[index].ecc_uncorrected < 0))
        find(evaluation, device, FAULT_GPU_MEMORY_ERRORS, ACCELERATOR_ECC_VOLATILE_UNCORRECTED, 0,
             "has %lld uncorrected memory errors since its driver was loaded", errors);
    if (accelerator_number(device, ACCELERATOR_SRAM_THRESHOLD) > 0)
        find(evaluation, device, FAULT_GPU_SRAM_ERRORS, ACCELERATOR_SRAM_THRESHOLD, 0,
             "has more SRAM errors than its vendor allows");
}

/* Reports a pending ECC mode: the next reset would change the protection and the size of memory. */
static void evaluate_ecc_mode(struct evaluation *evaluation, const struct accelerator *device)
{
    long long now = accelerator_number(device, ACCELERATOR_ECC_ENABLED);
    long long pending = accelerator_number(device, ACCELERATOR_ECC_PENDING);

    if (now >= 0 && pending >= 0 && now != pending)
        find(evaluation, device, FAULT_GPU_ECC_PENDING, ACCELERATOR_ECC_PENDING, (double)now,
             "has ECC %s, and from its next reset on %s", now > 0 ? "on" : "off",
             pending > 0 ? "on" : "off");
}

static void evaluate_rows(struct evaluation *evaluation, const struct accelerator *device)
{
    const struct accelerator_traits *traits = accelerator_traits(evaluation->report->vendor);
    long long rows = accelerator_number(device, ACCELERATOR_ROWS_UNCORRECTED);
    long long limit = accelerator_number(device, ACCELERATOR_ROWS_LIMIT);

    if (accelerator_number(device, ACCELERATOR_ROWS_FAILED) > 0)
        find(evaluation, device, FAULT_GPU_ROW_REMAP_FAILED, ACCELERATOR_ROWS_FAILED, 0,
             "has a bad memory %s that could not be %s", traits->row, traits->replaced);
    if (accelerator_number(device, ACCELERATOR_ROWS_PENDING) > 0)
        find(evaluation, device, FAULT_GPU_ROW_REMAP_PENDING, ACCELERATOR_ROWS_PENDING, 0,
             "has a bad memory %s that is %s at the next reset", traits->row, traits->replaced);
    if (limit <= 0)
        limit = traits->rows_limit;
    if (limit > 0 && rows > limit)
        find(evaluation, device, FAULT_GPU_ROWS_WORN, ACCELERATOR_ROWS_UNCORRECTED, (double)limit,
             "has %s %lld memory %ss for uncorrected errors", traits->replaced, rows, traits->row);
}

static void evaluate_temperature(struct evaluation *evaluation, const struct accelerator *device)
{
    long long temperature = accelerator_number(device, ACCELERATOR_TEMPERATURE);
    long long limit = accelerator_number(device, ACCELERATOR_TEMPERATURE_LIMIT) - 1;

    if (limit <= 0)
        limit = accelerator_traits(evaluation->report->vendor)->temperature_C;
    if (limit > 0 && temperature > limit)
        find(evaluation, device, FAULT_GPU_HOT, ACCELERATOR_TEMPERATURE, (double)limit,
             "is at %lld C", temperature);
}

/* ---------------------------------------------------------------- what is particular */

static void evaluate_recovery(struct evaluation *evaluation, const struct accelerator *device)
{
    static const struct {
        enum fault_code code;
        const char *text;
    } actions[] = {
        [RECOVERY_RESET] = {FAULT_GPU_RESET_REQUIRED, "must be reset according to its driver"},
        [RECOVERY_REBOOT] = {FAULT_GPU_REBOOT_REQUIRED,
                             "needs a node reboot according to its driver"},
        [RECOVERY_DRAIN_P2P] = {FAULT_GPU_RESET_REQUIRED,
                                "must stop its peer-to-peer traffic according to its driver"},
        [RECOVERY_DRAIN_AND_RESET] = {FAULT_GPU_RESET_REQUIRED,
                                      "must be drained and reset according to its driver"},
        [RECOVERY_IMEX] = {FAULT_GPU_FABRIC_DOWN,
                           "needs its IMEX domain recovered according to its driver"},
    };
    long long action = accelerator_number(device, ACCELERATOR_RECOVERY_ACTION);

    if (action <= RECOVERY_NONE)
        return;
    if (action < (long long)(sizeof actions / sizeof *actions))
        find(evaluation, device, actions[action].code, ACCELERATOR_RECOVERY_ACTION, RECOVERY_NONE,
             "%s", actions[action].text);
    else /* of a newer library */
        find(evaluation, device, FAULT_GPU_RESET_REQUIRED, ACCELERATOR_RECOVERY_ACTION,
             RECOVERY_NONE, "needs recovery action %lld according to its driver", action);
}

static void evaluate_clocks(struct evaluation *evaluation, const struct accelerator *device)
{
    const char *slowdown =
        accelerator_slowdown(accelerator_number(device, ACCELERATOR_CLOCK_REASONS));

    if (slowdown)
        find(evaluation, device, FAULT_GPU_THROTTLED, ACCELERATOR_CLOCK_REASONS, NAN,
             "lowers its clocks: %s", slowdown);
}

static void evaluate_power(struct evaluation *evaluation, const struct accelerator *device)
{
    long long limit = accelerator_number(device, ACCELERATOR_POWER_LIMIT);
    long long standard = accelerator_number(device, ACCELERATOR_POWER_LIMIT_DEFAULT);

    if (limit > 0 && limit < standard)
        find(evaluation, device, FAULT_GPU_POWER_LIMITED, ACCELERATOR_POWER_LIMIT, (double)standard,
             "is limited to %lld W, its default is %lld W", limit / 1000, standard / 1000);
}

/* Judges only the width of the link: an idle device lowers its speed to save power. */
static void evaluate_pcie(struct evaluation *evaluation, const struct accelerator *device)
{
    long index = index_of(evaluation, device);
    long long width = accelerator_number(device, ACCELERATOR_PCIE_WIDTH);
    long long width_max = accelerator_number(device, ACCELERATOR_PCIE_WIDTH_MAX);

    if (index >= 0) {
        struct location location = evaluation->view->inventory->gpus[index].location;

        if (location.link_width > 0)
            return; /* another check judges the kernel's values */
        location.link_width_max = (int)width_max;
        width_max = location_width_limit(&location);
    }
    if (width > 0 && width < width_max)
        find(evaluation, device, FAULT_PCIE_DEGRADED, ACCELERATOR_PCIE_WIDTH, (double)width_max,
             "uses %lld of %lld PCIe lanes", width, width_max);
}

/* Whether the library lists all GPUs of its vendor in the node. */
static bool lists_all(const struct evaluation *evaluation)
{
    const struct inventory *inventory = evaluation->view->inventory;
    size_t count = 0;

    for (size_t i = 0; i < inventory->gpu_count; i++)
        count += inventory->gpus[i].vendor == evaluation->report->vendor;
    return evaluation->report->count >= count;
}

/* Whether all other devices of the model have links and their number is odd: bridges join cards in
 * pairs or in fours, so one of the links should lead to this device. */
static bool is_left_over(const struct evaluation *evaluation, const struct accelerator *device)
{
    size_t linked = 0;

    for (size_t i = 0; i < evaluation->report->count; i++) {
        const struct accelerator *other = device_at(evaluation, i);

        if (other == device || strcmp(other->model, device->model) != 0)
            continue;
        if (accelerator_number(other, ACCELERATOR_LINKS_ACTIVE) <= 0)
            return false;
        linked++;
    }
    return linked % 2 == 1 && lists_all(evaluation);
}

/* Whether the device should have links: all GPUs on a baseboard or in an xGMI hive have them.
 * Bridges between PCIe cards may join only some (is_left_over()), and MIG turns off the links of an
 * A100, which has no fabric state (NVIDIA, Fabric Manager User Guide: Interoperability With MIG).
 */
static bool has_links_on_board(const struct evaluation *evaluation,
                               const struct accelerator *device)
{
    if (accelerator_number(device, ACCELERATOR_MIG) == 1 &&
        accelerator_number(device, ACCELERATOR_LINKS) == 0)
        return false; /* a partition without links: another one of its GPU has them */
    return (evaluation->report->vendor != GPU_NVIDIA && evaluation->report->vendor != GPU_AMD) ||
           accelerator_number(device, ACCELERATOR_FABRIC_STATE) >= FABRIC_STARTED_NOT ||
           device->fabric_cluster[0] ||
           (accelerator_number(device, ACCELERATOR_MIG) != 1 &&
            (strstr(device->model, "SXM") || is_left_over(evaluation, device)));
}

static void evaluate_links(struct evaluation *evaluation, const struct accelerator *device)
{
    const char *link = accelerator_traits(evaluation->report->vendor)->link;
    long long active = accelerator_number(device, ACCELERATOR_LINKS_ACTIVE), most = active;
    long long failed = accelerator_number(device, ACCELERATOR_LINK_RECOVERIES_FAILED);

    for (size_t i = 0; active >= 0 && i < evaluation->report->count; i++) {
        const struct accelerator *other = device_at(evaluation, i);
        long long others = accelerator_number(other, ACCELERATOR_LINKS_ACTIVE);

        if (strcmp(other->model, device->model) == 0 && others > most)
            most = others;
    }
    if (active < most && (active > 0 || has_links_on_board(evaluation, device)))
        find(evaluation, device, FAULT_GPU_LINK_DOWN, ACCELERATOR_LINKS_ACTIVE, (double)most,
             "has %lld %ss up, another device of the node has %lld", active, link, most);
    if (failed > 0)
        find(evaluation, device, FAULT_GPU_LINK_ERRORS, ACCELERATOR_LINK_RECOVERIES_FAILED, 0,
             "failed %lld times to recover an %s", failed, link);
    if (accelerator_number(device, ACCELERATOR_LINK_STATUS) > 0)
        find(evaluation, device, FAULT_GPU_LINK_ERRORS, ACCELERATOR_LINK_STATUS, 0,
             "had an error of an %s since the error was last cleared", link);
}

static void evaluate_fabric(struct evaluation *evaluation, const struct accelerator *device)
{
    long long state = accelerator_number(device, ACCELERATOR_FABRIC_STATE);
    long long status = accelerator_number(device, ACCELERATOR_FABRIC_STATUS);
    long long health = accelerator_number(device, ACCELERATOR_FABRIC_HEALTH);
    const struct accelerator *first = device;

    if (state == FABRIC_STARTED_NOT || state == FABRIC_IN_PROGRESS) {
        double up_s = evaluation->view->up_s;
        bool is_new = up_s > 0 && up_s < ACCELERATOR_FABRIC_S;
        char since[48] = "";

        if (is_new)
            snprintf(since, sizeof since, ", %.0f s after the node's boot", up_s);
        find(evaluation, device, is_new ? FAULT_NOT_MEASURED : FAULT_GPU_FABRIC_DOWN,
             ACCELERATOR_FABRIC_STATE, FABRIC_DONE, "has not joined the NVLink fabric: %s%s",
             state == FABRIC_IN_PROGRESS ? "in progress" : "not started", since);
        return;
    }
    if (state != FABRIC_DONE)
        return;
    if (status > 0)
        find(evaluation, device, FAULT_GPU_FABRIC_DOWN, ACCELERATOR_FABRIC_STATUS, 0,
             "could not join the NVLink fabric: error %lld", status);
    else if (health == FABRIC_UNHEALTHY)
        find(evaluation, device, FAULT_GPU_FABRIC_DOWN, ACCELERATOR_FABRIC_HEALTH, NAN,
             "is unhealthy in the NVLink fabric");
    else if (health == FABRIC_LIMITED)
        find(evaluation, device, FAULT_GPU_FABRIC_DEGRADED, ACCELERATOR_FABRIC_HEALTH, NAN,
             "has limited capacity in the NVLink fabric");
    for (size_t i = 0; device_at(evaluation, i) < device && first == device; i++)
        if (accelerator_number(device_at(evaluation, i), ACCELERATOR_FABRIC_STATE) == FABRIC_DONE)
            first = device_at(evaluation, i);
    if (accelerator_number(first, ACCELERATOR_FABRIC_CLIQUE) !=
            accelerator_number(device, ACCELERATOR_FABRIC_CLIQUE) ||
        strcmp(first->fabric_cluster, device->fabric_cluster) != 0)
        find(evaluation, device, FAULT_GPU_FABRIC_DIFFERS, ACCELERATOR_FABRIC_CLIQUE,
             (double)accelerator_number(first, ACCELERATOR_FABRIC_CLIQUE),
             "is in another NVLink clique than the node's first GPU");
}

static void evaluate_users(struct evaluation *evaluation, const struct accelerator *device)
{
    long long processes = accelerator_number(device, ACCELERATOR_PROCESSES);
    long long used = accelerator_number(device, ACCELERATOR_MEMORY_USED);
    char name[64] = "";

    if (accelerator_number(device, ACCELERATOR_COMPUTE_MODE) == 2)
        find(evaluation, device, FAULT_GPU_COMPUTE_PROHIBITED, ACCELERATOR_COMPUTE_MODE, 0,
             "is set to compute mode 'prohibited': no job can use it");
    if (processes == 0 && used > ACCELERATOR_MEMORY_HELD_BYTES &&
        accelerator_number(device, ACCELERATOR_MIG) != 1)
        find(evaluation, device, FAULT_GPU_MEMORY_HELD, ACCELERATOR_MEMORY_USED,
             (double)ACCELERATOR_MEMORY_HELD_BYTES, "has %lld MiB in use, and no process uses it",
             used >> 20);
    for (long long i = 0; evaluation->view->is_foreign && i < processes && i < ACCELERATOR_USERS;
         i++)
        if (evaluation->view->is_foreign(device->processes[i], name)) {
            find(evaluation, device, FAULT_GPU_FOREIGN_PROCESS, ACCELERATOR_VALUE_COUNT, NAN,
                 "is used by process %d (%s), which belongs to no job", (int)device->processes[i],
                 name);
            return;
        }
}

/* ---------------------------------------------------------------- devices */

static void evaluate_device(struct evaluation *evaluation, const struct accelerator *device)
{
    switch (device->state) {
    case ACCELERATOR_LOST:
        find(evaluation, device, FAULT_GPU_LOST, ACCELERATOR_VALUE_COUNT, NAN,
             "is lost: it fell off the bus");
        return;
    case ACCELERATOR_RESET_REQUIRED:
        find(evaluation, device, FAULT_GPU_RESET_REQUIRED, ACCELERATOR_VALUE_COUNT, NAN,
             "must be reset before it works again");
        return;
    case ACCELERATOR_UNREADABLE:
        find(evaluation, device, FAULT_NOT_MEASURED, ACCELERATOR_VALUE_COUNT, NAN,
             "cannot be read: %s returned %d", evaluation->report->library, device->error);
        return;
    case ACCELERATOR_HIDDEN:
        return;
    case ACCELERATOR_OK:
        break;
    }
    evaluate_recovery(evaluation, device);
    evaluate_errors(evaluation, device);
    evaluate_ecc_mode(evaluation, device);
    evaluate_rows(evaluation, device);
    evaluate_clocks(evaluation, device);
    evaluate_temperature(evaluation, device);
    evaluate_power(evaluation, device);
    evaluate_pcie(evaluation, device);
    evaluate_links(evaluation, device);
    evaluate_fabric(evaluation, device);
    evaluate_users(evaluation, device);
}

static bool is_expected(const struct accelerator_report *report, const struct gpu *gpu)
{
    return gpu->vendor == report->vendor && gpu_is_usable(gpu);
}

static bool is_taken(const long *indexes, size_t count, long gpu)
{
    for (size_t i = 0; i < count; i++)
        if (indexes[i] == gpu)
            return true;
    return false;
}

/* Whether a device without a PCI address may be the GPU. can_open: as in struct accelerator_view.
 */
static bool may_be(const struct accelerator_report *report, const struct inventory *inventory,
                   const bool *can_open, size_t gpu, const long *indexes)
{
    return is_expected(report, &inventory->gpus[gpu]) && (!can_open || can_open[gpu]) &&
           !is_taken(indexes, report->count, (long)gpu);
}

void accelerator_indexes(const struct accelerator_report *report, const struct inventory *inventory,
                         const bool *can_open, long indexes[ACCELERATOR_MAX])
{
    for (size_t i = 0; i < report->count; i++)
        indexes[i] = report->accelerators[i].pci[0]
                         ? inventory_gpu_at(inventory, report->accelerators[i].pci)
                         : -1;
    /* a lost device has no PCI address: it is a GPU that no other device is */
    for (size_t i = 0; i < report->count; i++) {
        const struct accelerator *device = &report->accelerators[i];

        if (device->pci[0] || device->state == ACCELERATOR_HIDDEN)
            continue;
        for (size_t j = 0; indexes[i] < 0 && j < inventory->gpu_count; j++)
            if (may_be(report, inventory, can_open, j, indexes))
                indexes[i] = (long)j;
    }
}

/* Reports GPUs that the kernel has and the library does not list. */
static void evaluate_unlisted(struct evaluation *evaluation)
{
    const struct inventory *inventory = evaluation->view->inventory;
    const struct accelerator_report *report = evaluation->report;
    const bool *can_open = evaluation->view->can_open;
    size_t hidden = 0; /* devices that may be one of the GPUs that can be opened */

    for (size_t i = 0; i < report->count; i++)
        hidden += report->accelerators[i].state == ACCELERATOR_HIDDEN;
    for (size_t j = 0; j < inventory->gpu_count && can_open && hidden > 0; j++)
        hidden -= is_expected(report, &inventory->gpus[j]) && !can_open[j] &&
                  !is_taken(evaluation->indexes, report->count, (long)j);
    for (size_t j = 0; j < inventory->gpu_count; j++) {
        char part[24];

        if (!is_expected(report, &inventory->gpus[j]) ||
            is_taken(evaluation->indexes, report->count, (long)j) || (can_open && !can_open[j]))
            continue;
        if (hidden > 0) {
            hidden--;
            continue;
        }
        snprintf(part, sizeof part, "gpu%zu", j);
        evaluation->count++;
        record_report(evaluation->sink, RECORD(.part = part, .code = FAULT_GPU_LOST),
                      "%s at %s is on the PCI bus, but %s does not list it",
                      inventory->gpus[j].model, inventory->gpus[j].location.pci, report->library);
    }
}

size_t accelerator_evaluate(const struct accelerator_report *report,
                            const struct accelerator_view *view, const struct record_sink *sink)
{
    static const enum fault_code codes[] = {
        [OUTCOME_READ] = FAULT_NONE,
        [OUTCOME_NO_LIBRARY] = FAULT_NONE,
        [OUTCOME_NO_DRIVER] = FAULT_NONE,
        [OUTCOME_VERSION_MISMATCH] = FAULT_GPU_DRIVER_MISMATCH,
        [OUTCOME_HUNG] = FAULT_GPU_DRIVER_HUNG,
        [OUTCOME_CRASHED] = FAULT_GPU_LIBRARY_CRASHED,
        [OUTCOME_ERROR] = FAULT_NOT_MEASURED,
    };
    struct evaluation evaluation = {.report = report, .view = view, .sink = sink};

    accelerator_indexes(report, view->inventory, view->can_open, evaluation.indexes);
    if (codes[report->outcome] != FAULT_NONE)
        find(&evaluation, NULL, codes[report->outcome], ACCELERATOR_VALUE_COUNT, NAN, "%s: %s",
             report->library, report->reason);
    /* if the library hung or crashed at a device, the missing values are no finding */
    for (size_t i = 0; i < report->count; i++)
        evaluate_device(&evaluation, device_at(&evaluation, i));
    if (report->outcome == OUTCOME_READ)
        evaluate_unlisted(&evaluation);
    return evaluation.count;
}

size_t accelerator_count_missing(const struct accelerator_report *report)
{
    size_t count = 0;

    for (size_t i = 0; i < report->count; i++)
        for (int id = 0; id < ACCELERATOR_VALUE_COUNT; id++) {
            enum accelerator_answer answer = report->accelerators[i].values[id].answer;

            count += answer == ANSWER_NO_FUNCTION || answer == ANSWER_NO_PERMISSION ||
                     answer == ANSWER_ERROR;
        }
    return count;
}
