/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/amd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PAGE_PENDING = 1,
    PAGE_UNRESERVABLE = 2,
    BLOCKS = 63,
    BLOCK_XGMI = 7, /* its bit */
    PROCESSES_MAX = 1024,
};

struct amd_page {
    uint64_t address, size;
    uint32_t status;
};

struct amd_process { /* the same size in each version */
    uint32_t pid, unused;
    uint64_t rest[3];
};

struct amd_errors {
    uint64_t corrected, uncorrected;
};

/* The functions that both libraries have. */
static const struct amd_functions {
    const char *pages, *blocks, *block_errors, *compute_partition, *memory_partition;
    const char *processes, *process_devices;
} functions[2] = {
    {"amdsmi_get_gpu_bad_page_info", "amdsmi_get_gpu_ecc_enabled", "amdsmi_get_gpu_ecc_count",
     "amdsmi_get_gpu_compute_partition", "amdsmi_get_gpu_memory_partition",
     "amdsmi_get_gpu_compute_process_info", "amdsmi_get_gpu_compute_process_gpus"},
    {"rsmi_dev_memory_reserved_pages_get", "rsmi_dev_ecc_enabled_get", "rsmi_dev_ecc_count_get",
     "rsmi_dev_compute_partition_get", "rsmi_dev_memory_partition_get",
     "rsmi_compute_process_info_get", "rsmi_compute_process_gpus_get"},
};

static const struct amd_functions *functions_of(const struct reading *reading)
{
    return &functions[reading->reader->is_indexed];
}

static struct {
    int result;
    struct {
        long long count;
        pid_t pids[ACCELERATOR_USERS];
    } of[ACCELERATOR_MAX];
} users;

/* Reads the bad pages of the memory: how many are replaced, pending, and could not be replaced. */
void amd_read_pages(struct reading *reading, struct accelerator *device)
{
    void *get = reading_function(reading, functions_of(reading)->pages);
    struct amd_page *pages = NULL;
    uint32_t count = 0, room = 0;
    bool is_pending = false, has_failed = false;
    int result = READING_NO_FUNCTION;

    if (get)
        result = READING_CALL_DEVICE(reading, get, (uint32_t *, struct amd_page *), &count, NULL);
    if (result == AMD_OK && count > 0) {
        room = count + 64; /* some may be added meanwhile */
        pages = calloc(room, sizeof *pages);
        count = room;
        if (pages)
            result =
                READING_CALL_DEVICE(reading, get, (uint32_t *, struct amd_page *), &count, pages);
    }
    for (uint32_t i = 0; pages && result == AMD_OK && i < count && i < room; i++) {
        is_pending = is_pending || pages[i].status == PAGE_PENDING;
        has_failed = has_failed || pages[i].status == PAGE_UNRESERVABLE;
    }
    free(pages);
    reading_take(reading, device, ACCELERATOR_ROWS_UNCORRECTED, result, count);
    reading_take(reading, device, ACCELERATOR_ROWS_PENDING, result, is_pending);
    reading_take(reading, device, ACCELERATOR_ROWS_FAILED, result, has_failed);
}

/* Reads the errors of all blocks that count them, and separately those of the links. A block that
 * returns no count is left out. */
void amd_read_errors(struct reading *reading, struct accelerator *device)
{
    const struct amd_functions *of = functions_of(reading);
    uint64_t blocks = 0, corrected = 0, uncorrected = 0;
    int result = reading_query(reading, of->blocks, &blocks), answer = READING_NO_FUNCTION;
    void *get = reading_function(reading, of->block_errors);

    reading_take(reading, device, ACCELERATOR_ECC_ENABLED, result, blocks != 0);
    for (int bit = 0; get && result == AMD_OK && bit < BLOCKS; bit++) {
        AMD_ROOM(struct amd_errors, errors);
        int code;

        if (!(blocks & 1ULL << bit))
            continue;
        code = READING_CALL_DEVICE(reading, get, (uint64_t, void *), 1ULL << bit, &errors);
        if (bit == BLOCK_XGMI)
            reading_take(reading, device, ACCELERATOR_LINK_CRC_ERRORS, code,
                         (long long)(errors.of.corrected + errors.of.uncorrected));
        if (code == AMD_OK) {
            corrected += errors.of.corrected;
            uncorrected += errors.of.uncorrected;
        }
        if (answer != AMD_OK)
            answer = code;
    }
    if (result == AMD_OK && blocks == 0)
        return; /* no block counts errors */
    if (result == AMD_OK)
        result = answer;
    reading_take(reading, device, ACCELERATOR_ECC_VOLATILE_CORRECTED, result, (long long)corrected);
    reading_take(reading, device, ACCELERATOR_ECC_VOLATILE_UNCORRECTED, result,
                 (long long)uncorrected);
}

void amd_read_partition(struct reading *reading, struct accelerator *device)
{
    char compute[INVENTORY_NAME] = "", memory[INVENTORY_NAME] = "";

    reading_text(reading, functions_of(reading)->compute_partition, compute);
    reading_text(reading, functions_of(reading)->memory_partition, memory);
    if (!compute[0])
        return;
    snprintf(device->partition, sizeof device->partition, "%.10s%s%.10s", compute,
             memory[0] ? "/" : "", memory);
    value_set(device, ACCELERATOR_MIG, strcmp(compute, "SPX") != 0);
}

/* Reads the computing processes of all devices at once. The library returns the devices of a
 * process by index, also if it has handles. */
void amd_find_processes(struct reading *reading)
{
    static struct amd_process processes[PROCESSES_MAX];
    const struct amd_functions *of = functions_of(reading);
    int (*get)(struct amd_process *, uint32_t *) = reading_function(reading, of->processes);
    int (*get_devices)(uint32_t, uint32_t *, uint32_t *) =
        reading_function(reading, of->process_devices);
    uint32_t count = PROCESSES_MAX;

    users.result = READING_NO_FUNCTION;
    if (!get || !get_devices)
        return;
    *reading->function = of->processes;
    users.result = get(processes, &count);
    for (uint32_t i = 0; users.result == AMD_OK && i < count && i < PROCESSES_MAX; i++) {
        uint32_t devices[ACCELERATOR_MAX] = {0}, device_count = ACCELERATOR_MAX;

        /* this process may be listed too, as the library opens devices */
        if (processes[i].pid == (uint32_t)getpid() ||
            get_devices(processes[i].pid, devices, &device_count) != AMD_OK)
            continue;
        for (uint32_t j = 0; j < device_count && j < ACCELERATOR_MAX; j++)
            if (devices[j] < ACCELERATOR_MAX) {
                long long place = users.of[devices[j]].count++;

                if (place < ACCELERATOR_USERS)
                    users.of[devices[j]].pids[place] = (pid_t)processes[i].pid;
            }
    }
}

void amd_read_processes(struct reading *reading, struct accelerator *device)
{
    reading_take(reading, device, ACCELERATOR_PROCESSES, users.result,
                 users.of[reading->index].count);
    for (long long i = 0; i < users.of[reading->index].count && i < ACCELERATOR_USERS; i++)
        device->processes[i] = users.of[reading->index].pids[i];
}

int amd_fail_start(struct reading *reading, const char *function, int result, bool may_lack_driver)
{
    if (may_lack_driver && access("/sys/module/amdgpu", F_OK) != 0)
        return reading_end(reading, OUTCOME_NO_DRIVER, "no driver found");
    return reading_end(reading, OUTCOME_ERROR, "%s returned %d", function, result);
}
