/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/splitmix.h"
#include "lib/base/text.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/host/measure.h"
#include "validate/harness/watch/cpu_time.h"

enum { MIB = 1 << 20, SMALL_BYTES = 4096, SMALL_READS_MOST = 1 << 20 };

struct disk {
    struct measure *measure;
    int fd;
    char *block;       /* of 1 MiB */
    size_t file_bytes; /* that are written */
};

static int explain(struct disk *disk, const char *what, const char *why)
{
    text_put(disk->measure->node->disk_text, sizeof disk->measure->node->disk_text, "%s: %s", what,
             why);
    return -1;
}

/* The file has no name: it is gone when the process is, whoever ends it. */
static int disk_open(struct disk *disk, const char *folder)
{
    double wanted_bytes = (double)HOST_DISK_MIB * MIB * HOST_DISK_FREE_TIMES;
    struct statfs system;

    if (statfs(folder, &system) != 0)
        return explain(disk, "the folder", strerror(errno));
    if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)
        return explain(disk, "the folder", "is a memory file system, not a disk");
    if ((double)system.f_bavail * (double)system.f_bsize < wanted_bytes)
        return explain(disk, "the disk", "has too little free space for a test file");
    disk->fd = open(folder, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    if (disk->fd < 0)
        return explain(disk, "cannot create an unnamed file (O_TMPFILE, O_DIRECT)",
                       strerror(errno));
    if (posix_memalign((void **)&disk->block, SMALL_BYTES, MIB) != 0)
        return explain(disk, "memory", strerror(ENOMEM));
    for (size_t i = 0; i < MIB / sizeof(uint64_t); i++) /* nothing that can be compressed */
        ((uint64_t *)disk->block)[i] = splitmix_at(11, i);
    return 0;
}

static ssize_t transfer(struct disk *disk, enum host_figure figure, long index)
{
    size_t blocks = disk->file_bytes / SMALL_BYTES;

    if (figure == HOST_WRITE)
        return pwrite(disk->fd, disk->block, MIB, (off_t)index * MIB);
    if (figure == HOST_READ)
        return pread(disk->fd, disk->block, MIB, (off_t)index * MIB);
    return pread(disk->fd, disk->block, SMALL_BYTES,
                 (off_t)(splitmix_at(13, (uint64_t)index) % blocks) * SMALL_BYTES);
}

/* Runs transfers one after the other, `most` at most, until HOST_DISK_S are over. Returns 0, or -1
 * with disk_text. */
static int transfers(struct disk *disk, enum host_figure figure, long most)
{
    struct host_value *value = &disk->measure->node->disks[figure];
    double waited_s = cpu_time_queued_s(), begin_s = clock_s(), ticked_s = begin_s, now_s = begin_s;
    float rate;
    long count = 0;

    while (count < most && now_s - begin_s < HOST_DISK_S) {
        ssize_t bytes = transfer(disk, figure, count);

        if (bytes != (figure == HOST_IOPS ? SMALL_BYTES : MIB))
            return explain(disk, figure == HOST_WRITE ? "a write" : "a read",
                           bytes < 0 ? strerror(errno) : "was truncated");
        count++;
        now_s = clock_s();
        if (now_s - ticked_s > HOST_POLL_S) {
            disk->measure->wait.tick(disk->measure->wait.context);
            ticked_s = now_s;
        }
    }
    if (figure == HOST_WRITE)
        disk->file_bytes = (size_t)count * MIB;
    rate = (float)((double)count * (figure == HOST_IOPS ? 1 : 1e-6 * MIB) / (now_s - begin_s));
    if (rate > value->best) {
        value->best = rate;
        value->stalled = (float)((cpu_time_queued_s() - waited_s) / (now_s - begin_s));
    }
    value->lowest = value->samples++ == 0 ? rate : fminf(value->lowest, rate);
    return 0;
}

void measure_disk(struct measure *measure, const char *folder)
{
    struct disk disk = {.measure = measure, .fd = -1};

    text_put(measure->node->disk, sizeof measure->node->disk, "%s", folder);
    measure->node->disk_text[0] = '\0';
    if (disk_open(&disk, folder) == 0 && transfers(&disk, HOST_WRITE, HOST_DISK_MIB) == 0 &&
        transfers(&disk, HOST_READ, (long)(disk.file_bytes / MIB)) == 0)
        transfers(&disk, HOST_IOPS, SMALL_READS_MOST);
    if (disk.fd >= 0)
        close(disk.fd);
    free(disk.block);
}
