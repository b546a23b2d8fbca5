/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/log_file.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"
#include "lib/certificate/certificate.h"
#include "lib/constants/node_constants.h"
#include "validate/health/state_file.h"

void log_file_load(const char *boot_id, struct kernel_log *log)
{
    char *text = state_file_read(LOG_FILE);

    kernel_log_init(log, boot_id);
    if (text)
        (void)kernel_log_parse(log, text, boot_id); /* if it fails, the log is empty */
    free(text);
}

int log_file_save(const struct kernel_log *log, struct error *err)
{
    return state_file_write(LOG_FILE, kernel_log_write, log, err);
}

int64_t log_now_us(void)
{
    return (int64_t)(clock_raw_s() * 1e6);
}

int64_t log_time_us(time_t time)
{
    double ago_s = clock_epoch_s() - (double)time;

    return time > 0 && ago_s >= -CERTIFICATE_CLOCK_SLACK_S
               ? (int64_t)((clock_raw_s() - fmax(ago_s, 0)) * 1e6)
               : INT64_MIN;
}

int64_t log_repaired_us(const struct conf *conf, const char *boot_id)
{
    return log_time_us(certificate_issued(conf->certificate_path, boot_id));
}

int64_t log_epoch_s(int64_t time_us)
{
    return (int64_t)(clock_epoch_s() - clock_raw_s() + (double)time_us / 1e6);
}

void log_file_mark_drained(const struct conf *conf)
{
    static struct kernel_log log;
    char boot_id[sizeof log.boot_id];

    if (sysfs_line("", boot_id, sizeof boot_id, "proc/sys/kernel/random/boot_id") != 0)
        return;
    log_file_load(boot_id, &log);
    if (kernel_log_mark_drained(&log, conf, log_now_us(), log_repaired_us(conf, boot_id)) > 0)
        (void)log_file_save(&log, NULL); /* best effort: the check has just written the file */
}
