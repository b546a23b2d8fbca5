/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOG_FILE_H
#define MUSTER_LOG_FILE_H

#include <time.h>

#include "validate/health/kernel_log.h"

/* The file in which the health check keeps its findings of the kernel log between checks. It
 * belongs to root, and a reboot removes it. */
#define LOG_FILE "/run/muster/kernel-log"

/* Loads the file if it is of the boot boot_id; else log is empty, with nothing read. */
void log_file_load(const char *boot_id, struct kernel_log *log);

/* Creates the file and its directory. Returns 0, or -1 with err. */
int log_file_save(const struct kernel_log *log, struct error *err);

/* For the health check after it has drained the node: marks the findings that fail, so that they do
 * not drain the node a second time. */
void log_file_mark_drained(const struct conf *conf);

/* Return microseconds since boot as in the kernel's log: now, and at a time of day. For time 0, and
 * for a time in the future, as after the clock was set back, log_time_us() returns INT64_MIN. */
int64_t log_now_us(void);
int64_t log_time_us(time_t time);
/* Returns when the node's certificate was issued, as log_time_us(): earlier faults are repaired. A
 * certificate of another boot is older than all entries of this boot, whatever the clocks say. */
int64_t log_repaired_us(const struct conf *conf, const char *boot_id);
/* Converts a time of the kernel's log to seconds since 1970. */
int64_t log_epoch_s(int64_t time_us);

#endif
