/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_H
#define MUSTER_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/record.h"
#include "lib/conf/conf.h"
#include "lib/fabric/fabric.h"
#include "lib/node/inventory.h"

struct accelerators;

/* What one node can find out about itself, without the network, Slurm's controller or a job. */

/* The input of the checks, and the sink of their records. All pointers are borrowed. */
struct checks {
    const char *root; /* "" is this machine */
    const char *node; /* Slurm's name of the node */
    const struct conf *conf;
    const struct inventory *inventory;
    const struct fabric *fabric;
    void (*sink)(const struct record *record, void *context);
    void *context;
    const struct accelerators *accelerators; /* accelerators.h; NULL: not queried */
    /* A check of a node in service: a kernel log entry of a fault (log.c) and a full file system
     * (space.c) fail. When a node is tested anew, the entry only warns, since the node may have
     * been repaired for it, and the full file system is unknown. */
    bool is_in_service;
    /* The next health check continues where this one ends: log.c, rates.c, jobs.c. */
    bool keeps_state;
    const char *test; /* of the check that runs: check_run() */
    bool lists_jobs;  /* each line of the node's log of jobs is a record (jobs.c) */
};

/* One check: a row of CHECK_LIST, with a file of its own. It reports at least one record, never
 * starts a program, never opens a device except the kernel log (a child has read the libraries of
 * accelerators before: accelerators.h), and reads no file without a size limit. */
struct check {
    const char *name; /* the test of its records */
    const char *help;
    void (*run)(const struct checks *checks);
};

extern const struct check check_table[];
extern const size_t check_count;

void check_run(const struct check *check, const struct checks *checks);

/* Whether the comma-separated list `only` selects the check: by its name, or by a prefix of it that
 * ends before a dot: "net" and "net.interfaces" both select net.interfaces. NULL and "" select all.
 */
int check_is_wanted(const struct check *check, const char *only);

/* Returns how many seconds a GPU driver and file servers that do not respond may delay the checks.
 */
double checks_held_s(const struct conf *conf);

/* Fills in the record's message, suite, node and test, and passes it to the sink. A record with a
 * code and no verdict gets the severity of its code in the catalog. part and message are cleaned by
 * utf8_clean(), and valid only during the call of the sink. */
void checks_report(const struct checks *checks, struct record record, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a record of only a verdict, or a fault, and a message. part may be "". */
#define checks_record(checks, part_, verdict_, ...)                                                \
    checks_report(checks, RECORD(.part = part_, .verdict = verdict_), __VA_ARGS__)
#define checks_fault(checks, part_, code_, ...)                                                    \
    checks_report(checks, RECORD(.part = part_, .code = code_), __VA_ARGS__)

/* Whether the node is a recorded one, on which the check cannot run. If so, reports a skip. */
bool checks_skip_recorded(const struct checks *checks);

/* All of them: test, help, function. */
/* clang-format off */
#define CHECK_LIST(ROW) \
    ROW("net.interfaces", "every rail: link, speed, MTU, address, RDMA, PCIe", check_interfaces) \
    ROW("net.rates", "growth of the rails' error counters", check_rates) \
    ROW("net.addresses", "duplicate addresses, MACs and GUIDs", check_addresses) \
    ROW("gpu.enumerate", "number of GPUs against the configuration, GPU drivers", check_gpu_enumerate) \
    ROW("gpu.health", "GPU memory errors, state, throttling, links, PCIe width", check_gpu_health) \
    ROW("slurm.gres", "gres.conf and slurm.conf against the device files", check_gres) \
    ROW("host.limits", "locked memory, open files, shared memory, RDMA devices", check_limits) \
    ROW("host.munge", "a MUNGE credential is made and decoded", check_munge) \
    ROW("host.clock", "the clock is synchronized", check_clock) \
    ROW("slurm.gate", "last job refused by this node's prolog", check_gate) \
    ROW("preflight.suspects", "suspect reports of users' preflights", check_suspect_reports) \
    ROW("host.mounts", "file systems of Mounts are mounted and respond", check_mounts) \
    ROW("host.services", "services listed in Services are running", check_services) \
    ROW("host.space", "space and inodes of local file systems", check_space) \
    ROW("host.residue", "leftovers of ended jobs: processes, shared memory", check_residue) \
    ROW("host.jobs", "error counters and kernel log entries while jobs ran", check_jobs) \
    ROW("host.kernel", "kernel errors since boot", check_kernel) \
    ROW("host.log", "kernel log: GPUs, NICs, memory, drives, file systems", check_log) \
    ROW("host.evidence", "evidence bundles stored by health checks", check_evidence) \
    ROW("host.config", "facts for comparison with other nodes", check_config)
/* clang-format on */

#define CHECK_DECLARE(name, help, run) void run(const struct checks *checks);
CHECK_LIST(CHECK_DECLARE)
#undef CHECK_DECLARE

/* A part of gpu.health. */
void check_accelerators(const struct checks *checks);

#endif
