/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/log_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/clock.h"
#include "lib/base/regular_file.h"
#include "lib/base/atomic_file.h"
#include "lib/base/sysfs.h"
#include "lib/certificate/certificate.h"

enum { SIZE_MAX_BYTES = 65536 };

void log_file_load(const char *path, const char *boot_id, struct kernel_log *log)
{
    char *text = NULL;

    kernel_log_init(log, boot_id);
    if (regular_file_read(path, SIZE_MAX_BYTES, &text, NULL) == 0)
        (void)kernel_log_parse(log, text, boot_id); /* else nothing has been read */
    free(text);
}

int log_file_save(const char *path, const struct kernel_log *log, struct error *err)
{
    char directory[SYSFS_PATH];
    struct atomic_file file;
    char *slash;

    snprintf(directory, sizeof directory, "%s", path);
    slash = strrchr(directory, '/');
    if (slash && slash != directory) {
        *slash = '\0';
        mkdir(directory, 0755); /* others of muster's are there, too */
    }
    if (atomic_file_begin(&file, path, 0600, err) != 0)
        return -1;
    file.is_unsynced = true; /* it is gone with the next boot anyway */
    return kernel_log_write(log, file.stream) == 0 ? atomic_file_commit(&file, err)
                                                   : atomic_file_discard(&file, err);
}

int64_t log_now_us(void)
{
    return (int64_t)(clock_s() * 1e6);
}

int64_t log_time_us(time_t time)
{
    return time > 0 ? (int64_t)((clock_s() - clock_epoch_s() + (double)time) * 1e6) : INT64_MIN;
}

void log_file_drained(const struct conf *conf)
{
    static struct kernel_log log;
    char boot_id[sizeof log.boot_id];

    if (sysfs_line("", boot_id, sizeof boot_id, "proc/sys/kernel/random/boot_id") != 0)
        return;
    log_file_load(LOG_FILE, boot_id, &log);
    if (kernel_log_drained(&log, conf, log_now_us(),
                           log_time_us(certificate_issued(conf->certificate_path))) > 0)
        (void)log_file_save(LOG_FILE, &log, NULL); /* could be written a moment ago */
}
