/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/job_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

static char *root, notes[256], text[64 * 1024];
static struct job_log job_log;

static void put_line(const struct job_line *line, void *context)
{
    char what[500];

    job_line_describe(line, what, sizeof what);
    text_join(text, sizeof text, "", "%s%s%s\n", line->part, *line->part ? ": " : "", what);
}

static const char *log_text(void)
{
    static struct error err;

    *text = '\0';
    if (job_log_read(job_log.path, put_line, NULL, &err) < 0)
        return err.text;
    return text;
}

static struct part_counters counters_of(const char *boot, int64_t time_s, uint64_t errors)
{
    struct part_counters counters;

    part_counters_init(&counters, boot, time_s);
    part_counters_add(&counters, "eth1", "", 0);
    part_counters_add(&counters, "eth1", "crc_errors", errors);
    return counters;
}

static int begin(uint32_t job, const char *boot, int64_t time_s, uint64_t errors)
{
    struct part_counters counters = counters_of(boot, time_s, errors);
    int rv = job_note_write(&job_log, job, 1000, &counters, NULL);

    part_counters_clear(&counters);
    return rv;
}

static int end(uint32_t job, const char *boot, int64_t time_s, uint64_t errors, int64_t now_s)
{
    struct part_counters then, now = counters_of(boot, time_s, errors);
    uid_t uid = 0;
    int rv = job_note_read(&job_log, job, &uid, &then);

    if (rv == 0)
        rv = job_log_end(&job_log, job, uid, &then, &now, now_s, NULL);
    part_counters_clear(&then);
    part_counters_clear(&now);
    return rv;
}

static void note_put(const char *name, int64_t time_s)
{
    char path[400];

    snprintf(path, sizeof path, "notes/%s", name);
    tree_put(root, path, "");
    snprintf(path, sizeof path, "%s/%s", notes, name);
    utimensat(AT_FDCWD, path, (struct timespec[]){{time_s, 0}, {time_s, 0}}, 0);
}

/* ---------------------------------------------------------------- counters */

static char increases_text[4096];

static void put_increase(const struct part_counter *increase, void *context)
{
    text_join(increases_text, sizeof increases_text, "", "%s %s %lld\n", increase->part,
              increase->counter, (long long)increase->value);
}

static void increased(const struct part_counters *then, const struct part_counters *now,
                      const char *expected, const char *name)
{
    *increases_text = '\0';
    part_counters_increased(then, now, put_increase, NULL);
    is_str(increases_text, expected, "%s", name);
}

static void read_tree(const char *tree, struct part_counters *counters)
{
    struct inventory *inventory = inventory_read(tree, NULL);

    part_counters_init(counters, "boot", 0);
    part_counters_read(tree, inventory, counters);
    inventory_free(inventory);
}

/* Counters of a recorded machine that increase between two reads. */
static void machine(void)
{
    char *tree = tree_unpack("dgx-h100"), path[300], line[200] = "", *written = NULL;
    struct part_counters then, now, again;
    size_t size;
    FILE *stream;

    tree_put(tree, "proc/vmstat", "nr_free_pages 5\noom_kill 1\n");
    tree_put(tree, "proc/meminfo", "MemTotal: 100000000 kB\nMemAvailable: 90000000 kB\n");
    tree_put(tree, "sys/devices/system/edac/mc/mc0/ce_count", "7\n");
    tree_put(tree, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_errors",
             "\n"); /* not readable this time */
    read_tree(tree, &then);
    ok(then.count > 10, "a node with eight GPUs has many counters");
    tree_put(tree, "proc/vmstat", "nr_free_pages 5\noom_kill 3\n");
    tree_put(tree, "proc/meminfo", "MemTotal: 100000000 kB\nMemAvailable: 70000000 kB\n");
    tree_put(tree, "sys/devices/system/edac/mc/mc0/ce_count", "9\n");
    snprintf(path, sizeof path, "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error");
    tree_put(tree, path, "12\n");
    tree_put(tree, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_errors", "5000\n");
    read_tree(tree, &now);
    increased(&then, &now,
              "mlx5_0:1 symbol_errors 12\nmc0 ecc_corrected 2\nnode oom_kills 2\n"
              "node memory_used 20480000000\n",
              "only the counters that increased are reported");
    increased(&now, &then, "", "a counter that is lower was reset, and did not increase");

    stream = open_memstream(&written, &size);
    part_counters_write(&now, stream);
    fclose(stream);
    written[size - 3] = '\0'; /* as after a crash: the memory in use is lost */
    is_int(part_counters_parse(&again, written), 0, "a text that was cut off is read");
    increased(&then, &again, "mlx5_0:1 symbol_errors 12\nmc0 ecc_corrected 2\nnode oom_kills 2\n",
              "... as far as its lines are complete");
    part_counters_clear(&again);
    stream = fmemopen(line, sizeof line, "w");
    part_counters_init(&again, "b", 5);
    part_counters_add(&again, "mlx5_0:1", "port_rcv_errors", PART_COUNTER_UNREAD);
    part_counters_write(&again, stream);
    fclose(stream);
    part_counters_clear(&again);
    has_str(line, "mlx5_0:1 port_rcv_errors ?\n", "a counter that could not be read has no number");
    is_int(part_counters_parse(&again, line), 0, "... its text is read");
    is_int((long)again.count, 1, "... with one counter");
    ok(again.items[0].value == PART_COUNTER_UNREAD, "... which is unread");
    part_counters_clear(&again);
    strcpy(now.boot_id, "other");
    increased(&then, &now, "", "after a reboot no counter has increased");
    strcpy(written, "#!/bin/sh\n");
    is_int(part_counters_parse(&again, written), -1, "a text in another format is refused");
    free(written);
    part_counters_clear(&then);
    part_counters_clear(&now);
    tree_remove(tree);
}

/* While amdgpu resets a GPU, it does not report the GPU's counters (Linux,
 * drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c). */
static void gpu_counters_are_unavailable(void)
{
    static const char *const files[] = {"sys/bus/pci/devices/0000:4e:00.0/ras/gfx_err_count",
                                        "sys/bus/pci/devices/0000:4e:00.0/ras/umc_err_count"};
    char *tree = tree_unpack("mi300x-roce");
    struct part_counters then, now;

    for (size_t i = 0; i < 2; i++)
        tree_put(tree, files[i], "Query currently inaccessible\n");
    read_tree(tree, &then);
    tree_put(tree, files[0], "ue: 0\nce: 1\n");
    tree_put(tree, files[1], "ue: 2\nce: 4\n");
    read_tree(tree, &now);
    increased(&then, &now, "", "a counter that a GPU did not report before has not increased");
    part_counters_clear(&then);
    read_tree(tree, &then);
    tree_put(tree, files[1], "ue: 3\nce: 4\n");
    part_counters_clear(&now);
    read_tree(tree, &now);
    increased(&then, &now, "gpu2 ecc_uncorrected 1\n", "... and increases once the GPU reports it");
    part_counters_clear(&then);
    part_counters_clear(&now);
    tree_remove(tree);
}

/* Counters that were not kept or not read, for lack of room, do not increase later. */
static void counters_are_complete_or_absent(void)
{
    char *tree = tree_unpack("dgx-h100"), name[COUNTER_NAME];
    struct inventory *inventory = inventory_read(tree, NULL);
    struct part_counters then = counters_of("boot", 0, 5), now;
    struct rlimit limit;

    for (int i = 0; i < PART_COUNTERS_MOST; i++) {
        snprintf(name, sizeof name, "counter%d", i);
        part_counters_add(&then, "eth1", name, 1);
    }
    is_int((long)then.count, 0, "if there are too many counters, none is kept");
    now = counters_of("boot", 0, 5000);
    increased(&then, &now, "", "... and none increases");
    part_counters_clear(&then);
    part_counters_clear(&now);

    tree_put(tree, "proc/vmstat", "oom_kill 3\n");
    getrlimit(RLIMIT_NOFILE, &limit);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max});
    part_counters_init(&then, "boot", 0);
    part_counters_read(tree, inventory, &then);
    setrlimit(RLIMIT_NOFILE, &limit);
    read_tree(tree, &now);
    increased(&then, &now, "", "nor do counters that were not read for lack of descriptors");
    part_counters_clear(&then);
    part_counters_clear(&now);
    inventory_free(inventory);
    tree_remove(tree);
}

/* ---------------------------------------------------------------- jobs */

static void jobs(void)
{
    struct stat status;

    is_int(begin(1, "boot", 1000, 5), 0, "a note is written");
    ok(stat(notes, &status) == 0 && (status.st_mode & 0777) == 0700,
       "... in a directory that only its owner can read");
    is_int(end(1, "boot", 1600, 7, 1764090600), 0, "the job ends");
    is_str(log_text(),
           "job 1 of user 1000 ran, 2025-11-25 17:00 to 17:10 UTC\n"
           "eth1: 2 crc_errors while job 1 of user 1000 ran, 2025-11-25 17:00 to 17:10 UTC\n",
           "the counter that increased is in the log");
    ok(stat(job_log.path, &status) == 0 && (status.st_mode & 0777) == 0600,
       "... which only its owner can read");
    is_int(end(1, "boot", 1600, 7, 1764090600), 1, "without a note no change is logged");

    unlink(job_log.path);
    begin(2, "boot", 1000, 5);
    begin(3, "boot", 1000, 5);
    note_put("4-1001", 1764090000);
    end(2, "boot", 1060, 6, 1764090060);
    is_str(log_text(),
           "job 2 of user 1000 ran, 2025-11-25 17:00 to 17:01 UTC; shared with job 4\n"
           "eth1: 1 crc_errors while job 2 of user 1000 ran, 2025-11-25 17:00 to 17:01 UTC; "
           "shared with job 4\n",
           "a job that ran at the same time is logged, and a job that began later is not");
    end(3, "boot", 1060, 5, 1764090060);
    has_str(log_text(),
            "job 3 of user 1000 ran, 2025-11-25 17:00 to 17:01 UTC; shared with jobs 4, 2\n",
            "... but a job that has ended meanwhile is");
    begin(5, "before", 1000, 0);
    end(5, "boot", 20, 9, 1764099999);
    has_str(log_text(), "job 5 of user 1000 ran, 2025-11-25 19:46 to 19:46 UTC",
            "after a reboot the job is logged");
    ok(!strstr(text, "while job 5"), "... and no counter increased");
}

static void attribution(void)
{
    const struct job_line lines[] = {{.event = JOB_LOGGED,
                                      .begin_s = 1764090030,
                                      .end_s = 1764090030,
                                      .part = "0000:9b:00",
                                      .value = 2,
                                      .text = "xid 31: NVRM: Xid (PCI:0000:9b:00): 31, pid=4711"},
                                     {.event = JOB_LOGGED,
                                      .begin_s = 1764080000,
                                      .end_s = 1764080000,
                                      .value = 1,
                                      .text = "xid 13: before"}};

    unlink(job_log.path);
    begin(2, "boot", 1000, 5);
    end(2, "boot", 1060, 5, 1764090060);
    is_int(job_log_attribute(&job_log, lines, 2, NULL), 2,
           "an entry of the kernel log is logged for the jobs of its time: one that ended, and one "
           "with a note");
    has_str(
        log_text(),
        "0000:9b:00: 2 entries of the kernel log while job 2 of user 1000 ran, 2025-11-25 17:00 "
        "to 17:00 UTC; shared with job 4: xid 31: NVRM: Xid (PCI:0000:9b:00): 31, pid=4711\n",
        "... with its text");
    has_str(text, "while job 4 of user 1001 ran", "... for each job");
    ok(!strstr(text, "xid 13"), "an entry of a time without jobs is logged for none");
}

static void put_last(const struct job_line *line, void *context)
{
    *(struct job_line *)context = *line;
}

static void damage(void)
{
    struct job_line last = {0};
    struct stat status;
    FILE *file;
    int lines;

    unlink(job_log.path);
    for (uint32_t job = 10; job < 20; job++) {
        begin(job, "boot", 0, 0);
        end(job, "boot", 1, 1, 1764090000 + job);
    }
    is_int(job_log_read(job_log.path, put_line, (*text = '\0', NULL), NULL), 20,
           "the log has twenty lines");
    is_int(truncate(job_log.path, 300), 0, "the log is cut off");
    lines = job_log_read(job_log.path, put_line, NULL, NULL);
    ok(lines > 0 && lines < 20, "a log that was cut off has its complete lines");
    begin(20, "boot", 0, 0);
    end(20, "boot", 1, 1, 1764090100);
    is_int(job_log_read(job_log.path, put_line, NULL, NULL), lines + 2,
           "... and new lines are appended");

    file = fopen(job_log.path, "w");
    fputs("somebody else's\n", file);
    fclose(file);
    is_int(job_log_read(job_log.path, put_line, NULL, NULL), 0,
           "a file that is not a log has no lines");
    begin(21, "boot", 0, 0);
    is_int(end(21, "boot", 1, 1, 1764090100), 0, "... and is replaced");
    is_int(job_log_read(job_log.path, put_line, NULL, NULL), 2,
           "... with the lines of the job only");

    file = fopen(job_log.path, "a");
    for (int i = 0; i < 10000; i++)
        fprintf(file, "ran %d 1000 1764090000 1764093600 1,2,3,4,5 - - 3600\n", 100000 + i);
    fputs("ran x\nran 1 2\n\ncounted 5 5 9 1 - eth1 crc_errors 7\n", file);
    fclose(file);
    begin(22, "boot", 0, 0);
    is_int(end(22, "boot", 1, 1, 1764093700), 0, "a job is added to a log at its limit");
    ok(stat(job_log.path, &status) == 0 && status.st_size <= JOB_LOG_BYTES &&
           status.st_size > JOB_LOG_BYTES - 200,
       "... which does not grow, as the oldest lines are removed");
    job_log_read(job_log.path, put_last, &last, NULL);
    ok(last.job == 22 && last.event == JOB_COUNTED, "... and the newest line is the job's");
}

static void unreadable(void)
{
    struct stat status;

    is_int(truncate(job_log.path, 2 * JOB_LOG_BYTES + 1), 0, "the log is too long to be read");
    begin(24, "boot", 0, 0);
    is_int(end(24, "boot", 1, 1, 1764093800), -1, "... no job is added to it");
    ok(stat(job_log.path, &status) == 0 && status.st_size == 2 * JOB_LOG_BYTES + 1,
       "... and it is unchanged");
    unlink(job_log.path);
}

/* Temporary files of a process that was killed while it wrote. */
static void unfinished(void)
{
    static const char *const files[] = {"jobs.0123abcd", "notes/9-1000.0123abcd", "jobs.kept",
                                        "other.0123abcd"};
    char path[400];

    for (int i = 0; i < 4; i++) {
        tree_put(root, files[i], "half");
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        utimensat(AT_FDCWD, path, (struct timespec[]){{1764090000, 0}, {1764090000, 0}}, 0);
    }
    begin(23, "boot", 0, 0);
    end(23, "boot", 1, 1, 1764093800);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        is_int(access(path, F_OK) == 0, i > 1, "%s is %s", files[i], i > 1 ? "kept" : "removed");
    }
}

static void stale(void)
{
    char name[32], path[300];
    struct part_counters counters;
    uid_t uid;
    int count = 0;

    job_note_remove(&job_log, 4);
    for (int i = 0; i < JOB_NOTES_MOST; i++) {
        snprintf(name, sizeof name, "%d-1000", 1000 + i);
        note_put(name, 1764090000 + i);
    }
    begin(7, "boot", 0, 0);
    for (int i = 0; i < JOB_NOTES_MOST; i++) {
        snprintf(path, sizeof path, "%s/%d-1000", notes, 1000 + i);
        count += access(path, F_OK) == 0;
    }
    is_int(count, JOB_NOTES_MOST - 1, "if there are too many notes, the oldest is removed");
    is_int(job_note_read(&job_log, 7, &uid, &counters), 0, "... and the newest can be read");
    is_int(uid, 1000, "... with its user");
    part_counters_clear(&counters);
    note_put("26-999", 1764090000);
    begin(26, "boot", 0, 0);
    is_int(job_note_read(&job_log, 26, &uid, &counters), 0,
           "a job with the number of an earlier job has its own note");
    is_int(uid, 1000, "... with its user");
    part_counters_clear(&counters);
    tree_put(root, "notes/8-1000", "no counters\n");
    is_int(job_note_read(&job_log, 8, &uid, &counters), 1, "a file that is not a note is ignored");
}

/* A stopped process has the lock. */
static void locked(void)
{
    int fd = open(notes, O_RDONLY | O_DIRECTORY);

    is_int(flock(fd, LOCK_EX), 0, "another process has the lock");
    alarm(60);
    is_int(begin(25, "boot", 0, 0), -1, "... and the note is not written, without waiting");
    alarm(0);
    close(fd);
}

int main(void)
{
    root = tree_unpack("");
    snprintf(notes, sizeof notes, "%s/notes", root);
    job_log.notes = notes;
    snprintf(job_log.path, sizeof job_log.path, "%s/jobs", root);
    machine();
    gpu_counters_are_unavailable();
    counters_are_complete_or_absent();
    jobs();
    attribution();
    damage();
    unreadable();
    unfinished();
    stale();
    locked();
    tree_remove(root);
    return tap_done();
}
