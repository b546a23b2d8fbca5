/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_H
#define MUSTER_ACCELERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/node/inventory.h"

/* Reads a node's accelerators by the libraries of their vendors (NVML; AMD SMI or ROCm SMI; HLML).
 * They are loaded by dlopen in a child process: a library that crashes ends only the child, and one
 * that hangs is killed at a deadline. Tested only with stand-ins of the libraries (tests/gpu). */

/* VALUE(ID, name, unit): the numbers that are read from a device. */
#define ACCELERATOR_VALUES(VALUE)                                                                  \
    VALUE(RECOVERY_ACTION, "recovery_action", "") /* enum nvml_recovery_action */                  \
    VALUE(ECC_ENABLED, "ecc_enabled", "")                                                          \
    VALUE(ECC_PENDING, "ecc_pending", "") /* mode after the next reset */                          \
    VALUE(ECC_VOLATILE_CORRECTED, "ecc_volatile_corrected", "count") /* since the driver's load */ \
    VALUE(ECC_VOLATILE_UNCORRECTED, "ecc_volatile_uncorrected", "count")                           \
    VALUE(ECC_AGGREGATE_CORRECTED, "ecc_aggregate_corrected", "count") /* in the device's life */  \
    VALUE(ECC_AGGREGATE_UNCORRECTED, "ecc_aggregate_uncorrected", "count")                         \
    VALUE(SRAM_THRESHOLD, "sram_threshold", "")      /* 1: exceeded */                             \
    VALUE(ROWS_CORRECTED, "rows_corrected", "count") /* remapped for correctable errors */         \
    VALUE(ROWS_UNCORRECTED, "rows_uncorrected", "count")                                           \
    VALUE(ROWS_PENDING, "rows_pending", "")   /* 1: remapped at the next reset */                  \
    VALUE(ROWS_FAILED, "rows_failed", "")     /* 1: no spare row was left */                       \
    VALUE(ROWS_LIMIT, "rows_limit", "count")  /* of ROWS_UNCORRECTED, by the vendor */             \
    VALUE(CLOCK_REASONS, "clock_reasons", "") /* bits, enum accelerator_clock_reason */            \
    VALUE(CLOCK, "clock", "MHz")              /* of the processors, now */                         \
    VALUE(CLOCK_MAX, "clock_max", "MHz")                                                           \
    VALUE(MEMORY_CLOCK, "memory_clock", "MHz")                                                     \
    VALUE(MEMORY_CLOCK_MAX, "memory_clock_max", "MHz")                                             \
    VALUE(TEMPERATURE, "temperature", "C")                                                         \
    VALUE(TEMPERATURE_LIMIT, "temperature_limit", "C") /* where it slows down, by the vendor */    \
    VALUE(POWER_LIMIT, "power_limit", "mW")            /* in force */                              \
    VALUE(POWER_LIMIT_DEFAULT, "power_limit_default", "mW")                                        \
    VALUE(PCIE_WIDTH, "pcie_width", "lanes")                                                       \
    VALUE(PCIE_WIDTH_MAX, "pcie_width_max", "lanes")                                               \
    VALUE(PCIE_GENERATION, "pcie_generation", "")                                                  \
    VALUE(PCIE_GENERATION_MAX, "pcie_generation_max", "")                                          \
    VALUE(PCIE_REPLAYS, "pcie_replays", "count")                                                   \
    VALUE(LINKS, "links", "count") /* to the node's other devices that it has */                   \
    VALUE(LINKS_ACTIVE, "links_active", "count")                                                   \
    VALUE(LINK_CRC_ERRORS, "link_crc_errors", "count") /* of all links */                          \
    VALUE(LINK_STATUS, "link_status", "") /* 0 no error, 1 one, 2 several since it was cleared */  \
    VALUE(LINK_RECOVERIES, "link_recoveries", "count")                                             \
    VALUE(LINK_RECOVERIES_FAILED, "link_recoveries_failed", "count")                               \
    VALUE(FABRIC_STATE, "fabric_state",                                                            \
          "") /* 0 no fabric, 1 not started, 2 in progress, 3 done */                              \
    VALUE(FABRIC_STATUS, "fabric_status", "") /* of a done one: 0, or NVML's error */              \
    VALUE(FABRIC_CLIQUE, "fabric_clique", "")                                                      \
    VALUE(FABRIC_HEALTH, "fabric_health", "") /* 0 not told, 1 healthy, 2 not, 3 limited */        \
    VALUE(MIG, "mig", "")                     /* 1: partitioned */                                 \
    VALUE(PERSISTENCE, "persistence", "")                                                          \
    VALUE(COMPUTE_MODE, "compute_mode", "") /* 0 default, 2 prohibited, 3 one process */           \
    VALUE(MEMORY_TOTAL, "memory_total", "bytes")                                                   \
    VALUE(MEMORY_USED, "memory_used", "bytes") /* without what driver and firmware reserve */      \
    VALUE(PROCESSES, "processes", "count")     /* that compute on it */

enum accelerator_value_id {
#define VALUE(id, name, unit) ACCELERATOR_##id,
    ACCELERATOR_VALUES(VALUE)
#undef VALUE
        ACCELERATOR_VALUE_COUNT
};

enum accelerator_answer {
    ANSWER_NOT_ASKED,     /* an earlier answer made it pointless, or the child ended before */
    ANSWER_PRESENT,       /* number is valid */
    ANSWER_NOT_SUPPORTED, /* by the device, according to the library */
    ANSWER_NO_FUNCTION,   /* the library is too old to have the function, the structure or the field
                           */
    ANSWER_NO_PERMISSION,
    ANSWER_ERROR, /* `error` has the library's code */
};

struct accelerator_value {
    enum accelerator_answer answer;
    int error;
    long long number;
};

/* NVML's bits of the same names; those of other libraries are translated. */
enum accelerator_clock_reason {
    CLOCK_REASON_POWER_CAP = 0x4, /* no fault */
    CLOCK_REASON_HW_SLOWDOWN = 0x8,
    CLOCK_REASON_SW_THERMAL = 0x20,
    CLOCK_REASON_HW_THERMAL = 0x40,
    CLOCK_REASON_POWER_BRAKE = 0x80,
};

/* Returns why a device lowers its clocks, by these bits; NULL: not because of a fault, or not at
 * all. */
const char *accelerator_slowdown(long long reasons);

const char *accelerator_value_name(enum accelerator_value_id id); /* "ecc_enabled" */
const char *accelerator_value_unit(enum accelerator_value_id id); /* "count" or "" */

enum { ACCELERATOR_USERS = 16, ACCELERATOR_MAX = INVENTORY_GPUS };

enum accelerator_state {
    ACCELERATOR_OK,
    ACCELERATOR_LOST,           /* fell off the bus, according to the library */
    ACCELERATOR_RESET_REQUIRED, /* unusable before a reset, according to the library */
    ACCELERATOR_UNREADABLE,     /* another error, in `error` */
    ACCELERATOR_HIDDEN,         /* this process may not use it: it is not in its job */
};

struct accelerator {
    enum accelerator_state state;
    int error;                /* the library's code that caused the state */
    char pci[INVENTORY_NAME]; /* "0000:1a:00.0", or "" if it is lost */
    char model[INVENTORY_NAME], uuid[INVENTORY_NAME], serial[INVENTORY_NAME];
    char firmware[INVENTORY_NAME];       /* VBIOS */
    char fabric_cluster[INVENTORY_NAME]; /* UUID of the NVLink domain or xGMI hive; "" without */
    char partition[24];                  /* of compute and memory, "SPX/NPS1"; "": unknown */
    struct accelerator_value values[ACCELERATOR_VALUE_COUNT];
    pid_t processes[ACCELERATOR_USERS]; /* the first processes that compute on it */
};

/* Returns the value if it is present, else -1. */
long long accelerator_number(const struct accelerator *device, enum accelerator_value_id id);

enum accelerator_outcome {
    OUTCOME_READ,
    OUTCOME_NO_LIBRARY,       /* not found, or cannot be loaded */
    OUTCOME_NO_DRIVER,        /* the library finds no driver */
    OUTCOME_VERSION_MISMATCH, /* library and driver are of different versions */
    OUTCOME_HUNG,             /* no answer, and the child cannot be killed */
    OUTCOME_CRASHED,          /* the library killed the child */
    OUTCOME_ERROR,            /* any other error, or late; see reason */
};

struct accelerator_report {
    enum gpu_vendor vendor;
    enum accelerator_outcome outcome;
    char reason[192];   /* of an outcome other than OUTCOME_READ: one sentence without a period */
    char library[1100]; /* "libnvidia-ml.so.1" or its path */
    char library_version[INVENTORY_NAME], driver_version[INVENTORY_NAME];
    size_t count; /* devices; what was read of them is valid also after a hang or crash */
    struct accelerator accelerators[ACCELERATOR_MAX]; /* in the library's order */
};

/* Queries the first of the vendor's libraries that is in the directories of `path` ("/a:/b"), else
 * as dlopen finds it. deadline_s: for the whole query. Returns a report, which is large and
 * malloc'd: free(). Returns NULL with err if the child could not be started, if other users could
 * change the library (safe_file_find()), or if the vendor has no such library. The time is that of
 * the library (NVML: 10 to 100 ms, a second per GPU if persistence mode is off; AMD SMI: 100 ms for
 * two samples of its throttling counters). */
struct accelerator_report *accelerator_read(enum gpu_vendor vendor, const char *path,
                                            double deadline_s, struct error *err);

/* Returns the file name of the vendor's preferred library; NULL: no library is known. */
const char *accelerator_library(enum gpu_vendor vendor);

/* Whether a directory of the path has one of the vendor's libraries. */
bool accelerator_is_in(enum gpu_vendor vendor, const char *path);

/* Vendor-specific limits and names. */
struct accelerator_traits {
    const char *link;        /* "NVLink" */
    const char *row;         /* the unit in which bad memory is replaced: "row" */
    const char *replaced;    /* how it is replaced: "remapped" */
    long long rows_limit;    /* if the library has no limit: too many above it; 0: not judged */
    long long temperature_C; /* if the library has no limit: too hot above it; 0: not judged */
};

/* Returns the traits of a vendor for which accelerator_library() is not NULL. */
const struct accelerator_traits *accelerator_traits(enum gpu_vendor vendor);

#endif
