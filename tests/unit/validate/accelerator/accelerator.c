/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/accelerator/evaluate.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Each test writes a state file for a stand-in of a vendor's library (tests/gpu), reads that
 * library, and collects the findings as text: one line "CODE PART MESSAGE" each. */
static char directory[] = "/tmp/muster-accelerator-XXXXXX", library[256], state_file[256];
static char findings_text[16384];
static struct inventory node;
static struct accelerator_report *report;
enum { READS_S = 60, HANGS_S = 1 /* every call before the one that hangs is done by then */ };

static double deadline_s = READS_S;
static enum gpu_vendor vendor;
static const char *state_prefix = ""; /* put before each state */

#define bail(...)                                                                                  \
    do {                                                                                           \
        tap_diag(__VA_ARGS__);                                                                     \
        exit(1);                                                                                   \
    } while (0)

static void add_finding(struct record *finding, void *context)
{
    text_join(findings_text, sizeof findings_text, "", "%s %s %s\n",
              catalog_fault(finding->code)->name, finding->part, finding->message);
}

static const struct record_sink sink = {add_finding, NULL};

static bool is_foreign_process(pid_t pid, char name[64])
{
    snprintf(name, 64, "vllm");
    return pid == 4711;
}

/* Copies the library tests/gpu/BUILD.so of the build into the test directory under the given
 * file name. It is a copy because another user may own the tree. */
static void copy_library(const char *build, const char *file)
{
    char command[8192];

    snprintf(command, sizeof command, "cp tests/gpu/%s.so %s/%s", build, library, file);
    if (system(command) != 0)
        bail("%s", command);
}

/* Uses a library directory that contains this library only. */
static void use_library(enum gpu_vendor used_vendor, const char *build, const char *file)
{
    vendor = used_vendor;
    snprintf(library, sizeof library, "%s/%s", directory, build);
    mkdir(library, 0755);
    copy_library(build, file);
}

static double up_s; /* time since the node booted; 0: unknown */

/* Reads and evaluates the library in the given state. NULL: no state file, so no driver. */
static void read_state(const char *state)
{
    struct accelerator_view view = {
        .inventory = &node, .is_foreign = is_foreign_process, .up_s = up_s};
    struct error err = {""};
    FILE *file;

    unlink(state_file);
    if (state) {
        file = fopen(state_file, "w");
        if (!file || fputs(state_prefix, file) < 0 || fputs(state, file) < 0 || fclose(file) != 0)
            bail("%s", state_file);
    }
    free(report);
    findings_text[0] = '\0';
    report = accelerator_read(vendor, library, deadline_s, &err);
    if (!report)
        bail("no report: %s", err.text);
    accelerator_evaluate(report, &view, &sink);
}

/* Read the library in a state and check the findings, a part of them, or the outcome. */
#define reports(state, ...) (read_state(state), is_str(findings_text, __VA_ARGS__))
#define reports_part(state, ...) (read_state(state), has_str(findings_text, __VA_ARGS__))
#define ends(state, ...) (read_state(state), is_int(report->outcome, __VA_ARGS__))

static long long value_number(size_t device, enum accelerator_value_id id)
{
    const struct accelerator_value *value = &report->accelerators[device].values[id];

    return value->answer == ANSWER_PRESENT ? value->number : -1;
}

/* Checks that all values of the device are present except the given ones. */
static void check_present_except(size_t device, const enum accelerator_value_id *absent,
                                 size_t count)
{
    for (int id = 0; id < ACCELERATOR_VALUE_COUNT; id++) {
        bool is_expected = true;

        for (size_t i = 0; i < count; i++)
            is_expected = is_expected && (int)absent[i] != id;
        is_int(report->accelerators[device].values[id].answer == ANSWER_PRESENT, is_expected,
               "%s is %spresent", accelerator_value_name((enum accelerator_value_id)id),
               is_expected ? "" : "not ");
    }
}

#define present_except(device, ...)                                                                \
    check_present_except(device, (const enum accelerator_value_id[]){__VA_ARGS__},                 \
                         sizeof((const enum accelerator_value_id[]){__VA_ARGS__}) /                \
                             sizeof(enum accelerator_value_id))

/* Checks a library with eight healthy devices, its version and the driver's version. */
static void check_healthy_library(const char *name, const char *library_version,
                                  const char *driver_version)
{
    ends("devices 8\n", OUTCOME_READ, "%s is read: %s", name, report->reason);
    is_int(report->count, 8, "... with eight devices");
    is_str(findings_text, "", "... without a fault");
    is_str(report->driver_version, driver_version, "... the driver's version");
    is_str(report->library_version, library_version, "... and the library's");
}

static void test_healthy(void)
{
    check_healthy_library("NVML", "13.580.65.06", "580.65.06");
    is_str(report->accelerators[3].pci, "0000:5d:00.0", "the PCI address has the kernel's format");
    is_str(report->accelerators[3].model, "NVIDIA H100 80GB HBM3", "... model");
    is_str(report->accelerators[3].uuid, "GPU-00000000-0000-4000-8000-000000000003", "... UUID");
    present_except(7, ACCELERATOR_ROWS_LIMIT, ACCELERATOR_TEMPERATURE_LIMIT,
                   ACCELERATOR_LINK_STATUS);
    is_int(value_number(0, ACCELERATOR_LINKS_ACTIVE), 18, "18 links are up");
    is_int(value_number(0, ACCELERATOR_POWER_LIMIT), 700000, "... the power limit is in mW");
    is_int(value_number(0, ACCELERATOR_MEMORY_TOTAL), 85520809984, "... memory in bytes");
    is_int(accelerator_count_missing(report), 0, "no value is missing");
}

#define finds(state, ...) reports("devices 8\n" state "\n", __VA_ARGS__)

static const char *gpu3; /* model and address, as messages name it */

/* Checks the one finding when gpu3 is in this state. */
#define gpu3_has(state, code, words, name)                                                         \
    check_gpu3("devices 8\ngpu3." state "\n", code, words, name)
static void check_gpu3(const char *state, const char *code, const char *words, const char *name)
{
    char expected[300];

    read_state(state);
    snprintf(expected, sizeof expected, "%s gpu3 %s %s\n", code, gpu3, words);
    is_str(findings_text, expected, "%s", name);
}

static void test_faults(void)
{
    gpu3 = "NVIDIA H100 80GB HBM3 at 0000:5d:00.0";
    finds("gpu3.lost 1", "gpu_lost gpu3 NVIDIA is lost: it fell off the bus\n", "a lost GPU");
    finds("gpu3.lost_late 1", "gpu_lost gpu3 NVIDIA is lost: it fell off the bus\n",
          "... a GPU that gets lost while it is read");
    finds("gpu3.reset_required 1",
          "gpu_reset_required gpu3 NVIDIA must be reset before it works again\n",
          "a GPU that must be reset");
    finds("gpu3.return.nvmlDeviceGetHandleByIndex_v2 4", "",
          "a GPU that this process may not use is not judged");
    gpu3_has("recovery_action 2", "gpu_reboot_required",
             "needs a node reboot according to its driver", "the driver asks for a reboot");
    gpu3_has("recovery_action 9", "gpu_reset_required",
             "needs recovery action 9 according to its driver",
             "... or for an unknown recovery action");
    gpu3_has("ecc_volatile_uncorrected 2", "gpu_memory_errors",
             "has 2 uncorrected memory errors since its driver was loaded", "uncorrected errors");
    finds(
        "gpu3.ecc_volatile_corrected 900\ngpu3.ecc_aggregate_uncorrected 7\ngpu3.rows_corrected 4",
        "", "corrected errors and lifetime errors are no fault");
    gpu3_has("sram_threshold 1", "gpu_sram_errors", "has more SRAM errors than its vendor allows",
             "SRAM");
    gpu3_has("rows_failed 1", "gpu_row_remap_failed",
             "has a bad memory row that could not be remapped", "a row that was not remapped");
    gpu3_has("rows_pending 1", "gpu_row_remap_pending",
             "has a bad memory row that is remapped at the next reset",
             "a row remapped at the next reset");
    gpu3_has("rows_uncorrected 512", "gpu_rows_worn",
             "has remapped 512 memory rows for uncorrected errors", "very many rows");
    gpu3_has("clock_reasons 0x48", "gpu_throttled",
             "lowers its clocks: thermal slowdown (hardware)", "throttling");
    finds("gpu3.clock_reasons 0x116", "", "... other clock reasons are no fault");
    gpu3_has("temperature 94", "gpu_hot", "is at 94 C", "heat");
    gpu3_has("power_limit 350000", "gpu_power_limited", "is limited to 350 W, its default is 700 W",
             "a power limit");
    gpu3_has("ecc_pending 0", "gpu_ecc_pending", "has ECC on, and from its next reset on off",
             "an ECC mode that waits for a reset");
    gpu3_has("pcie_width 8", "pcie_degraded", "uses 8 of 16 PCIe lanes", "half the lanes");
    finds("gpu3.pcie_generation 1", "", "a lower PCIe generation saves power and is no fault");
    gpu3_has("links_down 1", "gpu_link_down",
             "has 17 NVLinks up, another device of the node has 18", "a link down");
    finds("gpu.links_down 6", "", "... the same number down on all GPUs is the wiring");
    gpu3_has("links_down 18", "gpu_link_down",
             "has 0 NVLinks up, another device of the node has 18",
             "all links down in an NVLink fabric");
    finds("gpu3.links_down 18\ngpu.fabric_state 0\ngpu.name NVIDIA A100-SXM4-40GB",
          "gpu_link_down gpu3 NVIDIA A100-SXM4-40GB at 0000:5d:00.0 has 0 NVLinks up, another "
          "device of the node has 18\n",
          "... or on an SXM baseboard");
    gpu3_has("links_down 18\ngpu.fabric_state 0", "gpu_link_down",
             "has 0 NVLinks up, another device of the node has 18",
             "... or for an unknown form factor: a bridge never leaves out a single card");
    finds("gpu3.links_down 18\ngpu.fabric_state 0\ngpu3.mig 1", "", "... but not with MIG");
    finds("gpu2.links_down 18\ngpu3.links_down 18\ngpu.fabric_state 0\n"
          "gpu.name NVIDIA A100-PCIE-40GB",
          "", "PCIe cards without a bridge are healthy");
    finds("gpu3.links_down 4\ngpu.fabric_state 0\ngpu.name NVIDIA A100-PCIE-40GB",
          "gpu_link_down gpu3 NVIDIA A100-PCIE-40GB at 0000:5d:00.0 has 14 NVLinks up, another "
          "device of the node has 18\n",
          "... a bridge that is partly down is a fault");
    finds("gpu.links 0", "", "GPUs without NVLink are healthy");
    gpu3_has("link_recoveries_failed 2", "gpu_link_errors", "failed 2 times to recover an NVLink",
             "link errors");
    gpu3_has("fabric_state 2", "gpu_fabric_down", "has not joined the NVLink fabric: in progress",
             "fabric not joined yet");
    up_s = ACCELERATOR_FABRIC_S + 1;
    gpu3_has("fabric_state 1", "gpu_fabric_down", "has not joined the NVLink fabric: not started",
             "... long after the boot");
    up_s = 45;
    gpu3_has("fabric_state 2", "not_measured",
             "has not joined the NVLink fabric: in progress, 45 s after the node's boot",
             "... soon after the boot it is no fault");
    up_s = 0;
    gpu3_has("fabric_status 999", "gpu_fabric_down", "could not join the NVLink fabric: error 999",
             "... fabric not joined, with an error");
    gpu3_has("fabric_health 3", "gpu_fabric_degraded", "has limited capacity in the NVLink fabric",
             "... fabric joined with limited capacity");
    gpu3_has("fabric_clique 5", "gpu_fabric_differs",
             "is in another NVLink clique than the node's first GPU", "another clique");
    finds("gpu.fabric_state 0", "", "GPUs without an NVLink fabric are healthy");
    gpu3_has("compute_mode 2", "gpu_compute_prohibited",
             "is set to compute mode 'prohibited': no job can use it",
             "a compute mode that prohibits all programs");
    gpu3_has("process 4711", "gpu_foreign_process",
             "is used by process 4711 (vllm), which belongs to no job", "a process of no job");
    gpu3_has("process 4711\ngpu3.processes 300", "gpu_foreign_process",
             "is used by process 4711 (vllm), which belongs to no job", "... among many");
    is_int(value_number(3, ACCELERATOR_PROCESSES), 300, "... which are counted");
    finds("gpu3.process 4712\ngpu3.memory_used 50000000000", "", "a job's process may use it");
    gpu3_has("memory_used 50000000000", "gpu_memory_held",
             "has 47683 MiB in use, and no process uses it", "memory in use without a process");
}

static void inventory_add(const char *pci, const char *driver)
{
    struct gpu *gpu = &node.gpus[node.gpu_count++];

    gpu->vendor = GPU_NVIDIA;
    strcpy(gpu->location.pci, pci);
    strcpy(gpu->driver, driver);
    strcpy(gpu->model, "H100");
}

static void test_inventory_names(void)
{
    static const bool can_open[] = {true, false, false, true};
    const struct accelerator_view of_job = {.inventory = &node, .can_open = can_open};

    memset(&node, 0, sizeof node);
    inventory_add("0000:18:00.0", "nvidia");
    inventory_add("0000:19:00.0", "vfio-pci");
    inventory_add("0000:2a:00.0", "nvidia");
    reports_part("devices 2\ngpu1.temperature 99\n", "gpu_hot gpu2 ",
                 "a GPU is named by its index in the inventory");
    reports("devices 2\ngpu0.lost 1\n", "gpu_lost gpu0 NVIDIA is lost: it fell off the bus\n",
            "a lost GPU without an address is the one that no other device matches");
    inventory_add("0000:3a:00.0", "nvidia");
    read_state("devices 2\ngpu1.lost 1\n");
    findings_text[0] = '\0';
    accelerator_evaluate(report, &of_job, &sink);
    is_str(findings_text, "gpu_lost gpu3 NVIDIA is lost: it fell off the bus\n",
           "... in a job it is one of the job's GPUs");
    node.gpu_count--;
    reports_part("devices 1\n", "gpu_lost gpu2 H100 at 0000:2a:00.0 is on the PCI bus, but ",
                 "a GPU that is not listed is lost");
    ok(!strstr(findings_text, "gpu1"), "... but not a GPU bound to vfio-pci for virtual machines");
    strcpy(node.gpus[1].driver, "nvgrace_gpu_vfio_pci");
    reports_part("devices 1\n", "gpu_lost gpu2 ", "... or to a driver made from vfio-pci");
    ok(!strstr(findings_text, "gpu1"), "... which is not lost either");
    strcpy(node.gpus[1].driver, "pci-stub");
    reports_part("devices 1\n", "gpu_lost gpu2 ", "... or to pci-stub");
    ok(!strstr(findings_text, "gpu1"), "... which keeps a GPU from the node's drivers, too");
    node.gpus[2].is_excluded = true;
    reports("devices 1\n", "", "... nor a GPU excluded by the site");
    node.gpus[2].is_excluded = false;
    reports("devices 2\ngpu1.links_down 18\ngpu.fabric_state 0\n", "",
            "a card's bridge may lead to a card that is not listed");
    reports_part("devices 2\ngpu1.pcie_width 8\n", "pcie_degraded gpu2 ",
                 "a GPU with half its lanes");
    node.gpus[2].location.port_width_max = 8;
    reports("devices 2\ngpu1.pcie_width 8\n", "", "... is healthy in a slot with 8 lanes");
    memset(&node, 0, sizeof node);
}

static void test_missing_values(void)
{
    reports("devices 8\ngpu2.return.nvmlDeviceGetTotalEccErrors 3\n"
            "gpu2.return.nvmlDeviceGetSramEccErrorStatus 4\n"
            "gpu2.return.nvmlDeviceGetEnforcedPowerLimit 999\n"
            "gpu2.return.nvmlDeviceGetFieldValues 25\n",
            "", "missing values are no faults");
    is_int(report->accelerators[2].values[ACCELERATOR_ECC_VOLATILE_CORRECTED].answer,
           ANSWER_NOT_SUPPORTED, "a value that is not supported");
    is_int(report->accelerators[2].values[ACCELERATOR_SRAM_THRESHOLD].answer, ANSWER_NO_PERMISSION,
           "... or not permitted");
    is_int(report->accelerators[2].values[ACCELERATOR_POWER_LIMIT].error, 999,
           "... or read with an error");
    is_int(report->accelerators[2].values[ACCELERATOR_RECOVERY_ACTION].answer, ANSWER_NO_FUNCTION,
           "... or in another version of its structure");
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
        reports(state, "", "code %d is no fault", code);
    }
    reports("devices 8\nfabric_version 2\n", "", "an older fabric structure is read");
    is_int(value_number(0, ACCELERATOR_FABRIC_STATE), 3, "... with its state");
    is_int(report->accelerators[0].values[ACCELERATOR_FABRIC_HEALTH].answer, ANSWER_NO_FUNCTION,
           "... and without its health");
}

/* Another check, whose child hangs in the kernel as it does while a driver starts a GPU. Here it
 * waits for its vfork() child. */
static void test_beside_another_check(void)
{
    char path[32], text[512] = "";
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "muster-gpu");
        if (vfork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            sleep(READS_S);
            _exit(0);
        }
        for (;;)
            pause();
    }
    for (int i = 0; i < 10000 && !strstr(text, ") D"); i++) {
        FILE *file;

        usleep(1000);
        snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
        file = fopen(path, "r");
        if (!file || !fgets(text, sizeof text, file))
            bail("%s", path);
        fclose(file);
    }
    has_str(text, "(muster-gpu) D", "another check waits for the driver");
    ends("devices 8\n", OUTCOME_READ, "... which does not count as hung");
    deadline_s = -3600; /* the other check is then long past its deadline */
    read_state("devices 8\n");
    deadline_s = READS_S;
    has_str(findings_text, "gpu_driver_hung  ", "... until it is past its deadline");
    has_str(findings_text, "of an earlier check is hung in the driver", "... its process is named");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_library_failures(void)
{
    double begin_s;
    struct timespec now;

    ends(NULL, OUTCOME_NO_DRIVER, "no driver");
    is_str(findings_text, "", "... is no fault");
    ends("return.nvmlInit_v2 18\n", OUTCOME_VERSION_MISMATCH, "a library of another version");
    has_str(findings_text, "gpu_driver_mismatch  ", "... is its own fault");
    reports_part("return.nvmlInit_v2 17\n", "not_measured  ",
                 "an error of the library is reported as not measured");

    ends("crash nvmlDeviceGetMemoryInfo_v2\n", OUTCOME_CRASHED, "a library that crashes");
    has_str(findings_text, "gpu_library_crashed  ", "... is reported");
    has_str(findings_text, "Aborted) in nvmlDeviceGetMemoryInfo_v2 of device 0",
            "... with the function and device");
    reports_part("crash nvmlInit_v2\n", "gpu_library_crashed  ",
                 "... also when it crashes in its init");

    deadline_s = HANGS_S;
    clock_gettime(CLOCK_MONOTONIC, &now);
    begin_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    read_state("hang nvmlDeviceGetNvLinkState\ngpu0.ecc_volatile_uncorrected 1\n");
    clock_gettime(CLOCK_MONOTONIC, &now);
    is_int(report->outcome, OUTCOME_ERROR, "a library that does not answer");
    ok((double)now.tv_sec + (double)now.tv_nsec / 1e9 - begin_s >= HANGS_S, "... at the deadline");
    has_str(findings_text, "not_measured  ",
            "... is not measured, since its process could be killed");
    has_str(findings_text, "no answer within 1 s in nvmlDeviceGetNvLinkState of device 0",
            "... the function and device are named");
    has_str(findings_text, "gpu_memory_errors gpu0 ", "... earlier findings are kept");
    is_int(waitpid(-1, NULL, WNOHANG), -1, "no child is left");
    deadline_s = READS_S;
    test_beside_another_check();

    use_library(GPU_NVIDIA, "nvml-old", "libnvidia-ml.so.1");
    ends("devices 8\ngpu3.temperature 95\ngpu3.clock_reasons 8\n", OUTCOME_READ,
         "an old library is read");
    has_str(findings_text, "gpu_throttled gpu3", "... by the old names of its functions");
    has_str(findings_text, "gpu_hot gpu3", "... and by its old functions");
    is_int(report->accelerators[0].values[ACCELERATOR_RECOVERY_ACTION].answer, ANSWER_NO_FUNCTION,
           "unknown values are not guessed");
    is_int(report->accelerators[0].values[ACCELERATOR_MEMORY_USED].answer, ANSWER_NO_FUNCTION,
           "... nor is memory in use, which the old library counts differently");
    is_int(value_number(0, ACCELERATOR_MEMORY_TOTAL), 85520809984, "... total memory is read");
    ok(accelerator_count_missing(report) > 0, "... missing values are counted");

    snprintf(library, sizeof library, "%s/none", directory);
    ends("devices 8\n", OUTCOME_NO_LIBRARY, "no library");
    has_str(report->reason, "No such file", "... the reason is given");
    is_str(findings_text, "", "... is no fault");
    snprintf(library, sizeof library, "%s", directory);
    tree_put(directory, "libnvidia-ml.so.1", "no ELF");
    ends("devices 8\n", OUTCOME_NO_LIBRARY, "a file that is not a library is no library");
    snprintf(library, sizeof library, "%s/libnvidia-ml.so.1", directory);
    unlink(library);
}

/* ---------------------------------------------------------------- AMD */

/* A library that hangs, crashes, returns an error code, or has no driver. */
static void check_failing_library(const char *function, const char *later_function)
{
    char state[256], expected[256];

    snprintf(state, sizeof state, "hang %s\ngpu0.ecc_volatile_uncorrected 1\n", later_function);
    deadline_s = HANGS_S;
    read_state(state);
    deadline_s = READS_S;
    is_int(report->outcome, OUTCOME_ERROR, "a library that does not answer");
    snprintf(expected, sizeof expected, "no answer within 1 s in %s of device 0", later_function);
    has_str(findings_text, expected, "... the function and device are named");
    has_str(findings_text, "gpu_memory_errors gpu0 ", "... earlier findings are kept");
    snprintf(state, sizeof state, "crash %s\n", function);
    ends(state, OUTCOME_CRASHED, "a library that crashes");
    has_str(findings_text, "gpu_library_crashed  ", "... is reported");
    snprintf(expected, sizeof expected, "in %s", function);
    has_str(findings_text, expected, "... with the function");
    for (int code = 1; code < 60; code++) {
        if (vendor == GPU_GAUDI && code == 15)
            continue;
        snprintf(state, sizeof state, "gpu.return.%s %d\ngpu.return.%s %d\n", function, code,
                 later_function, code);
        read_state(state);
        if (report->outcome != OUTCOME_READ || findings_text[0])
            is_str(findings_text, "", "code %d is no fault", code);
    }
    ok(true, "no error code is a fault");
    ends(NULL, OUTCOME_NO_DRIVER, "no driver");
    is_str(findings_text, "", "... is no fault");
}

static void test_amd_smi(void)
{
    gpu3 = "AMD Instinct MI300X at 0000:5c:00.0";
    use_library(GPU_AMD, "amdsmi", "libamd_smi.so");
    check_healthy_library("AMD SMI", "26.5.0", "6.14.14");
    is_str(report->accelerators[3].pci, "0000:5c:00.0", "... an address");
    is_str(report->accelerators[3].model, "AMD Instinct MI300X", "... model");
    is_str(report->accelerators[3].uuid, "03ff74a1-0000-1000-80c6-28f2e18ab91c", "... UUID");
    is_str(report->accelerators[3].fabric_cluster, "7153d1a1e5b4d5f1", "... hive");
    is_str(report->accelerators[3].partition, "SPX/NPS1", "... partition");
    present_except(7, ACCELERATOR_RECOVERY_ACTION, ACCELERATOR_ECC_PENDING,
                   ACCELERATOR_ECC_AGGREGATE_CORRECTED, ACCELERATOR_ECC_AGGREGATE_UNCORRECTED,
                   ACCELERATOR_SRAM_THRESHOLD, ACCELERATOR_ROWS_CORRECTED,
                   ACCELERATOR_LINK_RECOVERIES, ACCELERATOR_LINK_RECOVERIES_FAILED,
                   ACCELERATOR_FABRIC_STATE, ACCELERATOR_FABRIC_STATUS, ACCELERATOR_FABRIC_CLIQUE,
                   ACCELERATOR_FABRIC_HEALTH, ACCELERATOR_PERSISTENCE, ACCELERATOR_COMPUTE_MODE);
    is_int(value_number(0, ACCELERATOR_POWER_LIMIT), 750000, "the power limit is in mW");
    is_int(value_number(0, ACCELERATOR_MEMORY_TOTAL), 206141652992, "... memory in bytes");
    is_int(value_number(0, ACCELERATOR_CLOCK_MAX), 2100, "... clocks in MHz");
    is_int(value_number(0, ACCELERATOR_TEMPERATURE), 41, "... the temperature in C");
    is_int(value_number(0, ACCELERATOR_PCIE_GENERATION), 5, "... and the link is PCIe 5");
    is_int(value_number(0, ACCELERATOR_LINKS_ACTIVE), 7, "seven links are up");
    is_int(value_number(0, ACCELERATOR_PROCESSES), 0,
           "the reading process itself is not counted as a user");
    is_int(accelerator_count_missing(report), 0, "no value is missing");

    state_prefix = "gpu.no_counters 1\n"; /* reading these counters takes 0.1 s */
    gpu3_has("ecc_volatile_uncorrected 2", "gpu_memory_errors",
             "has 2 uncorrected memory errors since its driver was loaded", "uncorrected errors");
    gpu3_has("rows_failed 1", "gpu_row_remap_failed",
             "has a bad memory page that could not be retired", "a page that was not retired");
    gpu3_has("rows_pending 1", "gpu_row_remap_pending",
             "has a bad memory page that is retired at the next reset",
             "... a page retired at the next reset");
    gpu3_has("rows_uncorrected 257", "gpu_rows_worn",
             "has retired 257 memory pages for uncorrected errors",
             "more pages than the device's own limit");
    finds("gpu3.rows_uncorrected 256", "", "... the limit itself is no fault");
    gpu3_has("clock_reasons 0x40\ngpu.no_counters 0", "gpu_throttled",
             "lowers its clocks: thermal slowdown (hardware)", "throttling");
    gpu3_has("clock_reasons 0x8\ngpu.no_counters 0", "gpu_throttled",
             "lowers its clocks: hardware slowdown", "... throttled by the board");
    finds("gpu.no_counters 0\ngpu3.clock_reasons 0x4", "",
          "... a power limit is no throttling fault");
    is_int(value_number(3, ACCELERATOR_CLOCK_REASONS), 4, "... and the reason is read");
    finds("gpu3.no_counters 1", "", "a device without throttling counters is no fault");
    is_int(report->accelerators[3].values[ACCELERATOR_CLOCK_REASONS].answer, ANSWER_NOT_SUPPORTED,
           "... and the value is not supported");
    gpu3_has("temperature 100", "gpu_hot", "is at 100 C", "heat, by the device's limit");
    finds("gpu3.temperature 99", "", "... below the limit is no fault");
    gpu3_has("power_limit 500000", "gpu_power_limited", "is limited to 500 W, its default is 750 W",
             "a power limit");
    gpu3_has("pcie_width 8", "pcie_degraded", "uses 8 of 16 PCIe lanes", "half the lanes");
    gpu3_has("links_down 1", "gpu_link_down",
             "has 6 xGMI links up, another device of the node has 7", "a link down");
    gpu3_has("link_status 1", "gpu_link_errors",
             "had an error of an xGMI link since the error was last cleared", "an error of a link");
    reports(
        "devices 8\ngpu3.link_crc_errors 5\ngpu3.pcie_replays 7\ngpu3.ecc_volatile_corrected 9\n",
        "", "corrected errors are no fault");
    is_int(value_number(3, ACCELERATOR_LINK_CRC_ERRORS), 5,
           "... CRC errors of the links are counted");
    is_int(value_number(3, ACCELERATOR_PCIE_REPLAYS), 7, "... PCIe replays");
    is_int(value_number(3, ACCELERATOR_ECC_VOLATILE_CORRECTED), 14, "... ECC errors of all blocks");
    gpu3_has("process 4711", "gpu_foreign_process",
             "is used by process 4711 (vllm), which belongs to no job", "a process of no job");
    finds("gpu3.process 4712\ngpu3.memory_used 50000000000", "", "a job's process may use it");
    gpu3_has("memory_used 50000000000", "gpu_memory_held",
             "has 47967 MiB in use, and no process uses it", "memory that nobody uses");
    finds("gpu3.memory_used 50000000000\ngpu3.compute_partition CPX\ngpu3.memory_partition NPS4",
          "", "... the owner of memory is unknown on a partitioned GPU");
    is_str(report->accelerators[3].partition, "CPX/NPS4", "... whose partition is read");
    finds("gpu3.compute_partition CPX\ngpu3.no_links 1", "",
          "a partition without link information has no link down");
    gpu3_has("no_links 1", "gpu_link_down", "has 0 xGMI links up, another device of the node has 7",
             "... a whole GPU has");
    check_failing_library("amdsmi_get_temp_metric", "amdsmi_get_clock_info");
    ends("return.amdsmi_init 7\n", OUTCOME_ERROR, "an error of the library's init");
    has_str(findings_text, "not_measured  ", "... is reported as not measured");
    reports_part("library_major 27\ngpu3.temperature 101\n", "gpu_hot gpu3",
                 "plain numbers are read from a library newer than this program");
    is_int(report->accelerators[0].values[ACCELERATOR_PCIE_WIDTH].answer, ANSWER_NO_FUNCTION,
           "... its structures are not");

    memset(&node, 0, sizeof node);
    inventory_add("0000:0c:00.0", "amdgpu");
    node.gpus[0].vendor = GPU_AMD;
    reports("devices 1\ngpu0.ecc_volatile_uncorrected 1\n", "",
            "errors that the kernel counts are not reported twice");
    node.gpus[0].ecc_uncorrected = -1;
    reports_part("devices 1\ngpu0.ecc_volatile_uncorrected 1\n", "gpu_memory_errors gpu0 ",
                 "... they are reported where the kernel does not count");
    inventory_add("0000:22:00.0", "amdgpu");
    node.gpus[1].vendor = GPU_AMD;
    reports("devices 16\npartitions 8\ngpu9.temperature 101\n",
            "gpu_hot gpu1 AMD Instinct MI300X at 0000:22:00.1 is at 101 C\n",
            "a partition is named by its GPU, which has PCI function 0");
    memset(&node, 0, sizeof node);

    use_library(GPU_AMD, "amdsmi-old", "libamd_smi.so");
    read_state("devices 8\ngpu3.temperature 101\ngpu3.clock_reasons 0x40\n");
    is_str(report->library_version, "24.5.1", "an older library is read");
    is_str(findings_text, "gpu_hot gpu3 AMD Instinct MI300X at 0000:5c:00.0 is at 101 C\n",
           "... the values it knows");
    is_int(value_number(3, ACCELERATOR_PCIE_WIDTH), 16, "... by its older structures");
    is_int(report->accelerators[3].values[ACCELERATOR_CLOCK_REASONS].answer, ANSWER_NO_FUNCTION,
           "... layouts it does not have are not read");
    read_state("library_minor 4\n");
    if (dlopen("librocm_smi64.so", RTLD_LAZY)) {
        ok(true,
           "an even older one is refused # SKIP this machine has ROCm SMI, which is read then");
        ok(true, "... says why # SKIP");
    } else {
        is_int(report->outcome, OUTCOME_NO_LIBRARY, "an even older one is refused");
        is_str(report->reason, "found version 24.4.1, expected 24.5 (ROCm 6.1) or later",
               "... says why");
    }
    copy_library("rsmi", "librocm_smi64.so");
    read_state("library_minor 4\n");
    is_str(report->accelerators[0].model, "AMD Instinct MI250X",
           "... and ROCm SMI is read instead");
}

static void test_rocm_smi(void)
{
    gpu3 = "AMD Instinct MI250X at 0000:ce:00.0";
    use_library(GPU_AMD, "rsmi", "librocm_smi64.so");
    check_healthy_library("ROCm SMI", "7.3.0", "6.8.5");
    is_str(report->accelerators[3].uuid, "5f1a9b3c00000003", "... an identity");
    is_int(value_number(0, ACCELERATOR_POWER_LIMIT), 560000, "... the power limit in mW");
    is_int(value_number(0, ACCELERATOR_TEMPERATURE), 38, "... the temperature in C");
    gpu3_has("ecc_volatile_uncorrected 2", "gpu_memory_errors",
             "has 2 uncorrected memory errors since its driver was loaded", "uncorrected errors");
    gpu3_has("rows_pending 1", "gpu_row_remap_pending",
             "has a bad memory page that is retired at the next reset",
             "a page that will be retired");
    gpu3_has("temperature 105", "gpu_hot", "is at 105 C", "heat");
    gpu3_has("power_limit 300000", "gpu_power_limited", "is limited to 300 W, its default is 560 W",
             "a power limit");
    gpu3_has("link_status 2", "gpu_link_errors",
             "had an error of an xGMI link since the error was last cleared", "an error of a link");
    gpu3_has("process 4711", "gpu_foreign_process",
             "is used by process 4711 (vllm), which belongs to no job", "a process of no job");
    check_failing_library("rsmi_dev_temp_metric_get", "rsmi_dev_compute_partition_get");
}

/* ---------------------------------------------------------------- Gaudi */

static void test_gaudi(void)
{
    gpu3 = "HL-225 at 0000:4d:00.0";
    use_library(GPU_GAUDI, "hlml", "libhlml.so");
    check_healthy_library("HLML", "1.15.0", "1.15.0-a596ef0");
    is_str(report->accelerators[3].pci, "0000:4d:00.0", "... an address");
    is_str(report->accelerators[3].serial, "AN18013573", "... serial number");
    is_str(report->accelerators[3].firmware, "hl-gaudi2-1.15.0-fw-48.2.1", "... firmware");
    is_int(value_number(0, ACCELERATOR_LINKS_ACTIVE), 21, "21 ports to the other devices are up");
    is_int(value_number(0, ACCELERATOR_LINKS), 21, "... ports to other nodes are not counted");
    is_int(value_number(0, ACCELERATOR_MEMORY_TOTAL), 103079215104, "... memory in bytes");
    is_int(value_number(0, ACCELERATOR_POWER_LIMIT_DEFAULT), 600000, "... the power limit in mW");
    is_int(report->accelerators[0].values[ACCELERATOR_POWER_LIMIT].answer, ANSWER_NO_FUNCTION,
           "... a function of newer libraries is missing");
    is_int(report->accelerators[0].values[ACCELERATOR_ECC_VOLATILE_CORRECTED].answer,
           ANSWER_NOT_SUPPORTED, "... and so is a value this library does not support");
    finds("gpu3.lost 1", "gpu_lost gpu3 Gaudi is lost: it fell off the bus\n", "a lost device");
    finds("gpu3.lost_late 1", "gpu_lost gpu3 Gaudi is lost: it fell off the bus\n",
          "... a device that gets lost while it is read");
    gpu3_has("ecc_volatile_uncorrected 2", "gpu_memory_errors",
             "has 2 uncorrected memory errors since its driver was loaded", "uncorrected errors");
    gpu3_has("rows_pending 1", "gpu_row_remap_pending",
             "has a bad memory row that is replaced at the next reset",
             "a row that will be replaced");
    reports("devices 8\ngpu3.rows_uncorrected 3\ngpu3.rows_corrected 2\ngpu3.pcie_replays 4\n", "",
            "rows already replaced are no fault");
    is_int(value_number(3, ACCELERATOR_ROWS_UNCORRECTED), 3, "... they are counted by cause");
    is_int(value_number(3, ACCELERATOR_ROWS_CORRECTED), 2, "... for both causes");
    gpu3_has("clock_reasons 0x40", "gpu_throttled",
             "lowers its clocks: thermal slowdown (hardware)", "throttling");
    finds("gpu3.clock_reasons 0x4", "", "... a power limit is no throttling fault");
    gpu3_has("temperature 95", "gpu_hot", "is at 95 C", "heat, by the device's limit");
    finds("gpu3.temperature 94", "", "... below the limit is no fault");
    gpu3_has("links_down 2", "gpu_link_down",
             "has 19 internal ports up, another device of the node has 21", "ports down");
    finds("gpu3.memory_used 50000000000", "", "this library does not know who uses the memory");
    check_failing_library("hlml_device_get_clock_info", "hlml_device_get_replaced_rows");
}

int main(void)
{
    if (!mkdtemp(directory))
        bail("%s", directory);
    snprintf(state_file, sizeof state_file, "%s/state", directory);
    setenv("MUSTER_GPU_STATE", state_file, 1);
    use_library(GPU_NVIDIA, "nvml", "libnvidia-ml.so.1");
    test_healthy();
    test_faults();
    test_inventory_names();
    test_missing_values();
    test_library_failures();
    test_amd_smi();
    state_prefix = "";
    test_rocm_smi();
    test_gaudi();
    free(report);
    if (!fork())
        execlp("rm", "rm", "-rf", directory, (char *)NULL);
    wait(NULL);
    return tap_done();
}
