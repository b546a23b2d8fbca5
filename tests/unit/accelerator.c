/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tap.h"
#include "validate/accelerator/evaluate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The stand-in of NVML (tests/gpu) is given a state, the library is read, and what is found is one
 * text of lines "CODE PART MESSAGE". */
static char directory[] = "/tmp/muster-accelerator-XXXXXX", library[256], state_file[256];
static char said[16384];
static struct inventory node;
static struct accelerator_report *report;
static double deadline_s = 5;

#define bail(...)                                                                                  \
    do {                                                                                           \
        tap_diag(__VA_ARGS__);                                                                     \
        exit(1);                                                                                   \
    } while (0)

static void receive(const struct accelerator_finding *finding, void *context)
{
    size_t length = strlen(said);

    (void)context;
    snprintf(said + length, sizeof said - length, "%s %s %s\n", catalog_fault(finding->code)->name,
             finding->part, finding->message);
}

static bool calls_all_foreign(pid_t pid, char name[64])
{
    snprintf(name, 64, "vllm");
    return pid == 4711;
}

/* The library of that directory of the build: a copy, as the tree may be another user's. */
static void with(const char *build)
{
    char command[8192];

    snprintf(library, sizeof library, "%s/%s", directory, build);
    mkdir(library, 0755);
    snprintf(command, sizeof command, "cp tests/gpu/.libs/%s.so %s/libnvidia-ml.so.1", build,
             library);
    if (system(command) != 0)
        bail("%s", command);
}

/* NULL: no state, and so no driver. */
static void look(const char *state)
{
    struct accelerator_view view = {.inventory = &node, .is_foreign = calls_all_foreign};
    struct error err = {""};
    FILE *file;

    unlink(state_file);
    if (state) {
        file = fopen(state_file, "w");
        if (!file || fputs(state, file) < 0 || fclose(file) != 0)
            bail("%s", state_file);
    }
    free(report);
    said[0] = '\0';
    report = accelerator_read(GPU_NVIDIA, library, deadline_s, &err);
    if (!report)
        bail("no report: %s", err.text);
    accelerator_evaluate(report, &view, receive, NULL);
}

static long long number(size_t device, enum accelerator_value_id id)
{
    const struct accelerator_value *value = &report->accelerators[device].values[id];

    return value->answer == ANSWER_PRESENT ? value->number : -1;
}

static void healthy(void)
{
    look("devices 8\n");
    is_int(report->outcome, OUTCOME_READ, "the library is read: %s", report->reason);
    is_int(report->count, 8, "... with eight devices");
    is_str(said, "", "... without a fault");
    is_str(report->driver_version, "580.65.06", "... the driver's version");
    is_str(report->library_version, "13.580.65.06", "... and the library's");
    is_str(report->accelerators[3].pci, "0000:5d:00.0", "an address is as the kernel writes it");
    is_str(report->accelerators[3].model, "NVIDIA H100 80GB HBM3", "... model");
    is_str(report->accelerators[3].uuid, "GPU-00000000-0000-4000-8000-000000000003", "... UUID");
    for (int id = 0; id < ACCELERATOR_VALUE_COUNT; id++)
        is_int(report->accelerators[7].values[id].answer, ANSWER_PRESENT, "%s is told",
               accelerator_value_name((enum accelerator_value_id)id));
    is_int(number(0, ACCELERATOR_LINKS_ACTIVE), 18, "18 links are up");
    is_int(number(0, ACCELERATOR_POWER_LIMIT), 700000, "... the power limit is in mW");
    is_int(number(0, ACCELERATOR_MEMORY_TOTAL), 85520809984, "... memory in bytes");
    is_int(accelerator_untold(report), 0, "nothing is left untold");
}

#define finds(state, ...)                                                                          \
    do {                                                                                           \
        look("devices 8\n" state "\n");                                                            \
        is_str(said, __VA_ARGS__);                                                                 \
    } while (0)
#define AT3 "gpu3 NVIDIA H100 80GB HBM3 at 0000:5d:00.0 "

static void faults(void)
{
    finds("gpu3.lost 1", "gpu_lost gpu3 NVIDIA is lost: it fell off the bus\n", "a lost GPU");
    finds("gpu3.lost_late 1", "gpu_lost gpu3 NVIDIA is lost: it fell off the bus\n",
          "... that is lost while it is read");
    finds("gpu3.reset_required 1",
          "gpu_reset_required gpu3 NVIDIA must be reset before it works again\n",
          "a GPU that must be reset");
    finds("gpu3.recovery_action 2",
          "gpu_reboot_required " AT3 "needs a reboot of the node, says its driver\n",
          "the driver's own verdict");
    finds("gpu3.recovery_action 9",
          "gpu_reset_required " AT3 "needs recovery action 9, says its driver\n",
          "... one that is not known yet");
    finds("gpu3.ecc_volatile_uncorrected 2",
          "gpu_memory_errors " AT3
          "has counted 2 uncorrected memory errors since its driver was loaded\n",
          "uncorrected errors");
    finds(
        "gpu3.ecc_volatile_corrected 900\ngpu3.ecc_aggregate_uncorrected 7\ngpu3.rows_corrected 4",
        "", "corrected ones, and those of its whole life, are none");
    finds("gpu3.sram_threshold 1",
          "gpu_sram_errors " AT3 "has had more SRAM errors than its vendor allows\n", "SRAM");
    finds("gpu3.rows_failed 1",
          "gpu_row_remap_failed " AT3 "has a bad memory row that could not be remapped\n",
          "a row that was not remapped");
    finds("gpu3.rows_pending 1",
          "gpu_row_remap_pending " AT3 "has a bad memory row that is remapped at the next reset\n",
          "... that will be");
    finds("gpu3.rows_uncorrected 512",
          "gpu_rows_worn " AT3 "has remapped 512 memory rows for uncorrected errors\n",
          "very many rows");
    finds("gpu3.clock_reasons 0x48",
          "gpu_throttled " AT3 "lowers its clocks: it is too hot (hardware)\n", "throttling");
    finds("gpu3.clock_reasons 0x116", "", "... for other reasons is none");
    finds("gpu3.temperature 94", "gpu_hot " AT3 "is at 94 C\n", "heat");
    finds("gpu3.power_limit 350000",
          "gpu_power_limited " AT3 "is limited to 350 W, its default is 700 W\n", "a power limit");
    finds("gpu3.pcie_width 8", "pcie_degraded " AT3 "has 8 PCIe lanes of the 16 it can use\n",
          "half the lanes");
    finds("gpu3.pcie_generation 1", "", "a link that saves power is no fault");
    finds("gpu3.links_down 1",
          "gpu_link_down " AT3 "has 17 NVLinks up, another of the node has 18\n", "a link down");
    finds("gpu.links_down 6", "", "... of all GPUs alike is how they are wired");
    finds("gpu.links 0", "", "GPUs without NVLink are well");
    finds("gpu3.link_recoveries_failed 2",
          "gpu_link_errors " AT3 "has given up 2 times to recover an NVLink\n", "link errors");
    finds("gpu3.fabric_state 2",
          "gpu_fabric_down " AT3 "has not joined the NVLink fabric: in progress\n",
          "no fabric yet");
    finds("gpu3.fabric_status 999",
          "gpu_fabric_down " AT3 "could not join the NVLink fabric: error 999\n", "... or never");
    finds("gpu3.fabric_health 3",
          "gpu_fabric_degraded " AT3 "has limited capacity in the NVLink fabric\n",
          "... or in part");
    finds("gpu3.fabric_clique 5",
          "gpu_fabric_differs " AT3 "is in another NVLink clique than the node's first GPU\n",
          "another clique");
    finds("gpu.fabric_state 0", "", "GPUs without such a fabric are well");
    finds("gpu3.compute_mode 2",
          "gpu_compute_prohibited " AT3 "is set to compute mode 'prohibited': no job can use it\n",
          "no programs allowed");
    finds("gpu3.process 4711",
          "gpu_foreign_process " AT3 "is used by process 4711 (vllm), which belongs to no job\n",
          "a process of no job");
    finds("gpu3.process 4712\ngpu3.memory_used 50000000000", "", "a job's process may use it");
    finds("gpu3.memory_used 50000000000",
          "gpu_memory_held " AT3 "has 47683 MiB in use, and no process uses it\n",
          "memory that nobody uses");
}

static void inventory_has(const char *pci, const char *driver)
{
    struct gpu *gpu = &node.gpus[node.gpu_count++];

    gpu->vendor = GPU_NVIDIA;
    strcpy(gpu->location.pci, pci);
    strcpy(gpu->driver, driver);
    strcpy(gpu->model, "H100");
}

static void places(void)
{
    memset(&node, 0, sizeof node);
    inventory_has("0000:18:00.0", "nvidia");
    inventory_has("0000:19:00.0", "vfio-pci");
    inventory_has("0000:2a:00.0", "nvidia");
    look("devices 2\ngpu1.temperature 99\n");
    has_str(said, "gpu_hot gpu2 ", "a GPU is named by its place in the inventory");
    look("devices 2\ngpu0.lost 1\n");
    is_str(said, "gpu_lost gpu0 NVIDIA is lost: it fell off the bus\n",
           "one that does not say where it is, is the one that no other is");
    look("devices 1\n");
    has_str(said, "gpu_lost gpu2 H100 at 0000:2a:00.0 is on the PCI bus, but ",
            "a GPU that is not listed is lost");
    ok(!strstr(said, "gpu1"), "unless it is kept for virtual machines");
    memset(&node, 0, sizeof node);
}

static void answers(void)
{
    look("devices 8\ngpu2.return.nvmlDeviceGetTotalEccErrors 3\n"
         "gpu2.return.nvmlDeviceGetSramEccErrorStatus 4\n"
         "gpu2.return.nvmlDeviceGetEnforcedPowerLimit 999\n"
         "gpu2.return.nvmlDeviceGetFieldValues 25\n");
    is_str(said, "", "values that are not told are no faults");
    is_int(report->accelerators[2].values[ACCELERATOR_ECC_VOLATILE_CORRECTED].answer,
           ANSWER_NOT_SUPPORTED, "not supported is told as that");
    is_int(report->accelerators[2].values[ACCELERATOR_SRAM_THRESHOLD].answer, ANSWER_NO_PERMISSION,
           "no permission, too");
    is_int(report->accelerators[2].values[ACCELERATOR_POWER_LIMIT].error, 999, "an error");
    is_int(report->accelerators[2].values[ACCELERATOR_RECOVERY_ACTION].answer, ANSWER_NO_FUNCTION,
           "another version of a structure");
    for (int code = 1; code < 31; code++) {
        char state[300];

        if (code == 15 || code == 16)
            continue;
        snprintf(state, sizeof state,
                 "devices 2\ngpu.return.nvmlDeviceGetTotalEccErrors %d\n"
                 "gpu.return.nvmlDeviceGetNvLinkState %d\n"
                 "gpu.return.nvmlDeviceGetGpuFabricInfoV %d\n"
                 "gpu.return.nvmlDeviceGetComputeRunningProcesses_v3 %d\n",
                 code, code, code, code);
        look(state);
        is_str(said, "", "code %d is no fault", code);
    }
    look("devices 8\nfabric_version 2\n");
    is_str(said, "", "an older structure of the fabric will do");
    is_int(number(0, ACCELERATOR_FABRIC_STATE), 3, "... with its state");
    is_int(report->accelerators[0].values[ACCELERATOR_FABRIC_HEALTH].answer, ANSWER_NO_FUNCTION,
           "... and without its health");
}

static void libraries(void)
{
    double begin_s;
    struct timespec now;

    look(NULL);
    is_int(report->outcome, OUTCOME_NO_DRIVER, "no driver");
    is_str(said, "", "... is no fault");
    look("return.nvmlInit_v2 18\n");
    is_int(report->outcome, OUTCOME_VERSION_MISMATCH, "a library of another version");
    has_str(said, "gpu_driver_mismatch  ", "... is a fault of its own");
    look("return.nvmlInit_v2 17\n");
    has_str(said, "not_measured  ", "an error of the library is not measured");

    look("crash nvmlDeviceGetMemoryInfo_v2\n");
    is_int(report->outcome, OUTCOME_CRASHED, "a library that crashes");
    has_str(said, "gpu_library_crashed  ", "... is named");
    has_str(said, "Aborted) in nvmlDeviceGetMemoryInfo_v2 of device 0", "... and where");
    look("crash nvmlInit_v2\n");
    has_str(said, "gpu_library_crashed  ", "... at its start, too");

    deadline_s = 0.3;
    clock_gettime(CLOCK_MONOTONIC, &now);
    begin_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    look("hang nvmlDeviceGetNvLinkState\ngpu0.ecc_volatile_uncorrected 1\n");
    clock_gettime(CLOCK_MONOTONIC, &now);
    is_int(report->outcome, OUTCOME_HUNG, "a library that hangs");
    ok((double)now.tv_sec + (double)now.tv_nsec / 1e9 - begin_s >= 0.3, "... at the deadline");
    has_str(said, "gpu_driver_hung  ", "... is a fault of the driver");
    has_str(said, "no answer within 0.3 s in nvmlDeviceGetNvLinkState of device 0",
            "... with where");
    has_str(said, "gpu_memory_errors gpu0 ", "... and what it told before holds");
    is_int(waitpid(-1, NULL, WNOHANG), -1, "no child is left");
    deadline_s = 5;

    with("nvml-old");
    look("devices 8\ngpu3.temperature 95\ngpu3.clock_reasons 8\n");
    is_int(report->outcome, OUTCOME_READ, "an old library is read");
    has_str(said, "gpu_throttled gpu3", "... by the older names of its functions");
    has_str(said, "gpu_hot gpu3", "... and its older functions");
    is_int(report->accelerators[0].values[ACCELERATOR_RECOVERY_ACTION].answer, ANSWER_NO_FUNCTION,
           "what it does not know is not guessed");
    is_int(report->accelerators[0].values[ACCELERATOR_MEMORY_USED].answer, ANSWER_NO_FUNCTION,
           "... memory in use neither, which it counts otherwise");
    is_int(number(0, ACCELERATOR_MEMORY_TOTAL), 85520809984, "... the whole is told");
    ok(accelerator_untold(report) > 0, "... and it is known that something is missing");

    snprintf(library, sizeof library, "%s/none", directory);
    look("devices 8\n");
    is_int(report->outcome, OUTCOME_NO_LIBRARY, "no library");
    has_str(report->reason, "No such file", "... says why");
    is_str(said, "", "... is no fault");
    snprintf(library, sizeof library, "%s", directory);
    {
        char path[300];
        FILE *file;

        snprintf(path, sizeof path, "%s/libnvidia-ml.so.1", directory);
        file = fopen(path, "w");
        if (file) {
            fputs("no ELF", file);
            fclose(file);
        }
        look("devices 8\n");
        is_int(report->outcome, OUTCOME_NO_LIBRARY, "what is no library is none");
        unlink(path);
    }
}

int main(void)
{
    if (!mkdtemp(directory))
        bail("%s", directory);
    snprintf(state_file, sizeof state_file, "%s/state", directory);
    setenv("MUSTER_GPU_STATE", state_file, 1);
    with("nvml");
    healthy();
    faults();
    places();
    answers();
    libraries();
    free(report);
    if (!fork())
        execlp("rm", "rm", "-rf", directory, (char *)NULL);
    wait(NULL);
    return tap_done();
}
