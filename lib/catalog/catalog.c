/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/catalog/catalog.h"

#include <string.h>

static const struct catalog_fault faults[FAULT_COUNT] = {
    [FAULT_NONE] = {"", VERDICT_NONE, DRAIN_NEVER, REMEDY_NONE, "", ""},
#define FAULT(id, name, severity, drain, remediation, advice, meaning)                             \
    [FAULT_##id] = {name, VERDICT_##severity, DRAIN_##drain, REMEDY_##remediation, advice, meaning},
    FAULT_TABLE
#undef FAULT
};

static const char *const remediations[REMEDY_COUNT] = {
    [REMEDY_NONE] = "",
    [REMEDY_MEASURE_AGAIN] = "measure_again",
    [REMEDY_FIX_CONFIG] = "fix_config",
    [REMEDY_UPDATE_SOFTWARE] = "update_software",
    [REMEDY_RESTART_SERVICE] = "restart_service",
    [REMEDY_CHECK_LOG] = "check_log",
    [REMEDY_CHECK_SWITCH] = "check_switch",
    [REMEDY_REPLACE_CABLE] = "replace_cable",
    [REMEDY_RESEAT] = "reseat",
    [REMEDY_RESET_GPU] = "reset_gpu",
    [REMEDY_REBOOT] = "reboot",
    [REMEDY_CALL_VENDOR] = "call_vendor",
};

const struct catalog_fault *catalog_fault(enum fault_code code)
{
    return &faults[(unsigned)code < FAULT_COUNT ? code : FAULT_NONE];
}

enum fault_code catalog_fault_parse(const char *name)
{
    for (int code = FAULT_NONE + 1; code < FAULT_COUNT; code++)
        if (strcmp(name, faults[code].name) == 0)
            return (enum fault_code)code;
    return FAULT_NONE;
}

const char *catalog_remediation(enum remediation remediation)
{
    return remediations[(unsigned)remediation < REMEDY_COUNT ? remediation : REMEDY_NONE];
}

const struct catalog_test catalog_tests[] = {
    {"net.interfaces", FAULT_INTERFACE_FAULT,
     "every NIC and port: link, speed, MTU, address, firmware, PCIe, error counters"},
    {"net.addresses", FAULT_ADDRESS_DUPLICATE, "no two hosts have the same address, MAC or GUID"},
    {"net.topology", FAULT_NODE_MISPLACED,
     "switches and cables against topology.conf and each other"},
    {"gpu.enumerate", FAULT_GPU_MISSING, "GPUs on the PCI bus against the configuration"},
    {"gpu.health", FAULT_GPU_UNHEALTHY, "GPU memory errors, state, PCIe width"},
    {"gpu.affinity", FAULT_CONFIG_DIFFERS, "which NIC is nearest to which GPU"},
    {"slurm.gres", FAULT_GRES_MISMATCH, "gres.conf and slurm.conf against the node's devices"},
    {"slurm.gate", FAULT_GATE_REFUSED, "the last job that the node's prolog refused"},
    {"slurm.state", FAULT_NODE_AWAY, "the node's state in Slurm"},
    {"preflight.claims", FAULT_NODE_REPORTED, "what preflights of users report of a node"},
    {"host.limits", FAULT_LIMIT_LOW, "locked memory, open files, shared memory, RDMA devices"},
    {"host.munge", FAULT_MUNGE_FAILED, "a MUNGE credential is made and decoded"},
    {"host.clock", FAULT_CLOCK_OFF, "the clock against its time service and the other nodes"},
    {"host.log", FAULT_KERNEL_LOG_FAULT,
     "the kernel log: errors of GPUs, NICs, memory, drives and file systems"},
    {"host.config", FAULT_CONFIG_DIFFERS,
     "versions, settings and devices, compared over all nodes by majority"},
    {"workers.enumerate", FAULT_NODE_UNREACHABLE, "every expected node and rank answers"},
    {"mpi.launch", FAULT_LAUNCH_FAILED, "an MPI job starts, and in how long"},
    {"mpi.messages", FAULT_DATA_DAMAGED, "messages between all pairs of ranks arrive as sent"},
    {"links", FAULT_RAIL_FAULT, "latency and bandwidth of pairs and rails, in both directions"},
    {"collectives.correct", FAULT_RESULT_WRONG, "results of every collective operation"},
    {"collectives.bound", FAULT_RESULT_WRONG, "rounding errors of reductions against their bound"},
    {"collectives.speed", FAULT_NETWORK_SLOW, "bus bandwidth of collectives by size"},
    {"train.one", FAULT_TRAINING_WRONG, "training on each rank by itself"},
    {"train.node", FAULT_TRAINING_WRONG, "training on the ranks of a node"},
    {"train.nodes", FAULT_TRAINING_WRONG, "training on all nodes, data-parallel"},
    {"train.model", FAULT_TRAINING_WRONG, "training with a model that is split over ranks"},
    {"train.data", FAULT_TRAINING_WRONG, "every sequence is read by exactly one rank"},
    {"train.checkpoint", FAULT_TRAINING_WRONG, "bit-exact resume from a checkpoint"},
    {"certificate", FAULT_CERTIFICATE_FAILED, "the node's certificate"},
    {"interfaces", FAULT_INTERFACE_FAULT, "settings that muster.conf has for interfaces"},
    {"reference", FAULT_RAIL_SLOW, "figures that others take for the least on such hardware"},
    {"accept", FAULT_NONE, "a change that the administrator accepted"},
    {"strikes", FAULT_RAIL_SLOW, "failures near a limit, counted over several runs"},
    {"preflight", FAULT_TEST_FAILED, "conclusion of a preflight"},
    {"certify", FAULT_TEST_FAILED, "conclusion of a certification, a node each"},
    {"campaign", FAULT_TEST_FAILED, "progress of a campaign of several certifications"},
    {"run", FAULT_TEST_FAILED, "facts of a run: cluster, level, notes, duration"},
    {"check", FAULT_TEST_FAILED, "stage check of a certification as a whole"},
    {"launch", FAULT_LAUNCH_FAILED, "stage launch of a certification as a whole"},
    {"collectives", FAULT_RESULT_WRONG, "stage collectives of a certification as a whole"},
    {"train", FAULT_TRAINING_WRONG, "stage train of a certification as a whole"},
};
const size_t catalog_test_count = sizeof catalog_tests / sizeof *catalog_tests;

const struct catalog_test *catalog_test(const char *name)
{
    for (size_t i = 0; i < catalog_test_count; i++)
        if (strcmp(catalog_tests[i].name, name) == 0)
            return &catalog_tests[i];
    return NULL;
}

enum fault_code catalog_default_code(const char *test, enum verdict verdict)
{
    const struct catalog_test *found = test ? catalog_test(test) : NULL;

    if (verdict == VERDICT_UNKNOWN)
        return found && catalog_fault(found->code)->severity == VERDICT_UNKNOWN
                   ? found->code
                   : FAULT_NOT_MEASURED;
    if (verdict != VERDICT_WARN && verdict != VERDICT_FAIL)
        return FAULT_NONE;
    return found && found->code != FAULT_NONE ? found->code : FAULT_TEST_FAILED;
}

const struct catalog_metric *catalog_fact(const char *name)
{
    for (size_t i = 0; i < catalog_metric_count; i++)
        if (catalog_metrics[i].deviation != FAULT_NONE &&
            strcmp(catalog_metrics[i].name, name) == 0)
            return &catalog_metrics[i];
    return NULL;
}
