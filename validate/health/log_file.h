/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOG_FILE_H
#define MUSTER_LOG_FILE_H

#include <time.h>

#include "validate/health/kernel_log.h"

/* Where the health check keeps what it has read of the kernel log, between checks: root's, and gone
 * with the boot that it is of. */
#define LOG_FILE "/run/muster/kernel-log"

/* What the file says of that boot. Where there is none, or it says nothing of that boot,
 * log is one of which nothing has been read. */
void log_file_load(const char *boot_id, struct kernel_log *log);

/* Makes the file and its directory. Returns 0, or -1 with err. */
int log_file_save(const struct kernel_log *log, struct error *err);

/* For the health check, after it has drained the node: what failed by the kernel log drains it no
 * second time. */
void log_file_drained(const struct conf *conf);

/* Microseconds since boot as the kernel's log has them: now, and at a time of day. 0 is long ago,
 * and so is what lies ahead, as the clock was set back since. */
int64_t log_now_us(void);
int64_t log_time_us(time_t time);
/* When the node's certificate was issued, after which it has no fault of before. One of another
 * boot is older than all of this boot's log, whatever the clock said then or says now. */
int64_t log_repaired_us(const struct conf *conf, const char *boot_id);
/* Seconds since 1970 of a moment of the kernel's log. */
int64_t log_epoch_s(int64_t time_us);

#endif
