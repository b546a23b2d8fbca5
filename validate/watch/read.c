/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/sysfs.h"
#include "lib/fabric/rail_counters.h"
#include "validate/slurm/job/own_job.h"

enum { ENVIRONMENT_MOST = 1 << 20, STAT_MOST = 4096 };

/* A process of the job. */
struct found {
    struct watch_rank rank;
    bool is_numbered; /* by a launcher that srun started, and not by srun itself */
};

/* Returns the initial environment of the process, each "NAME=VALUE" followed by NUL; malloc'd. */
static char *environment_read(const char *root, long pid, size_t *length)
{
    char path[SYSFS_PATH], *text;
    FILE *stream;

    if (sysfs_path(root, path, sizeof path, "proc/%ld/environ", pid) != 0 ||
        !(stream = fopen(path, "re")))
        return NULL;
    text = malloc(ENVIRONMENT_MOST + 1);
    *length = text ? fread(text, 1, ENVIRONMENT_MOST, stream) : 0;
    if (text)
        text[*length] = '\0';
    fclose(stream);
    return text;
}

static const char *variable(const char *environment, size_t length, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = environment; at < environment + length; at += strlen(at) + 1)
        if (strncmp(at, name, size) == 0 && at[size] == '=')
            return at + size + 1;
    return NULL;
}

/* Returns the number in text, or `otherwise` if there is none. */
static long number(const char *text, long otherwise)
{
    char *end;
    long value;

    if (!text || !isdigit((unsigned char)*text))
        return otherwise;
    errno = 0;
    value = strtol(text, &end, 10);
    return errno == 0 && *end == '\0' ? value : otherwise;
}

/* Finds the rank and step of the process. Returns false if it is no rank of the job. */
static bool process_identify(const struct watch_job *job, const char *environment, size_t length,
                             struct found *found)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "RANK"};
    long rank = -1, step = number(variable(environment, length, "SLURM_STEP_ID"), -1);

    if (number(variable(environment, length, "SLURM_JOB_ID"), 0) != (long)job->id ||
        step == job->own_step || variable(environment, length, OWN_JOB_KEEPER))
        return false;
    for (size_t i = 0; rank < 0 && i < sizeof names / sizeof *names; i++)
        rank = number(variable(environment, length, names[i]), -1);
    found->is_numbered = rank >= 0;
    if (rank < 0 && step >= 0)
        rank = number(variable(environment, length, "SLURM_PROCID"), -1);
    if (rank < 0 || rank > 1 << 24)
        return false;
    found->rank.step = step;
    found->rank.rank = (int)rank;
    return true;
}

/* Reads the state and the processor time. */
static bool stat_read(const char *root, struct found *found)
{
    char text[STAT_MOST];
    const char *fields = sysfs_stat(root, text, sizeof text, "proc/%ld/stat", found->rank.pid);
    unsigned long user, system;

    if (!fields || sscanf(fields, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                          &found->rank.state, &user, &system) != 3)
        return false;
    found->rank.cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

static void times_read(const char *root, struct found *found)
{
    char **threads, *text, *at;
    size_t count = sysfs_names(root, &threads, "proc/%ld/task", found->rank.pid);
    unsigned long long queued, bytes;

    for (size_t i = 0; i < count; i++) {
        char line[128];

        if (sysfs_line(root, line, sizeof line, "proc/%ld/task/%s/schedstat", found->rank.pid,
                       threads[i]) == 0 &&
            sscanf(line, "%*u %llu", &queued) == 1)
            found->rank.queued_s += 1e-9 * (double)queued;
    }
    sysfs_names_free(threads, count);
    text = sysfs_file(root, STAT_MOST, "proc/%ld/io", found->rank.pid);
    for (at = text; at; at = strchr(at + 1, '\n'))
        if (sscanf(at, " read_bytes: %llu", &bytes) == 1 ||
            sscanf(at, " write_bytes: %llu", &bytes) == 1)
            found->rank.io_bytes += (double)bytes;
    free(text);
}

static int rank_add(struct watch_sample *sample, const struct watch_rank *process)
{
    struct watch_rank *rank = NULL;

    for (size_t i = 0; i < sample->rank_count; i++)
        if (sample->ranks[i].step == process->step && sample->ranks[i].rank == process->rank)
            rank = &sample->ranks[i];
    if (!rank) {
        if (!GROW(sample->ranks, sample->rank_count))
            return -1;
        sample->ranks[sample->rank_count++] = *process;
        return 0;
    }
    /* the state is that of the process that works most; a stopped process stops the rank */
    if (rank->state != 'T' && (process->state == 'T' || process->cpu_s > rank->cpu_s)) {
        rank->state = process->state;
        rank->pid = process->pid;
    }
    rank->cpu_s += process->cpu_s;
    rank->queued_s += process->queued_s;
    rank->io_bytes += process->io_bytes;
    return 0;
}

/* If a launcher numbers the ranks of a step, a process with only srun's number is that launcher,
 * and is left out. */
static int ranks_add(struct watch_sample *sample, const struct found *found, size_t count)
{
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < count; i++) {
        bool is_launcher = false;

        for (size_t j = 0; !found[i].is_numbered && j < count; j++)
            is_launcher |= found[j].is_numbered && found[j].rank.step == found[i].rank.step;
        if (!is_launcher)
            rv = rank_add(sample, &found[i].rank);
    }
    return rv;
}

int watch_read_ranks(const char *root, const struct watch_job *job, struct watch_sample *sample,
                     char *ras_address, size_t size)
{
    pid_t *pids;
    ssize_t count = sysfs_processes(root, &pids);
    size_t found_count = 0;
    struct found *found = NULL;
    int rv = count < 0 ? -1 : 0;

    snprintf(ras_address, size, "%s", RAS_ADDRESS);
    for (ssize_t i = 0; rv == 0 && i < count; i++) {
        struct found one = {.rank.pid = pids[i]};
        char path[SYSFS_PATH], *environment;
        const char *address;
        struct stat status;
        size_t length;

        if (sysfs_path(root, path, sizeof path, "proc/%ld", one.rank.pid) != 0 ||
            stat(path, &status) != 0 || status.st_uid != job->uid)
            continue;
        environment = environment_read(root, one.rank.pid, &length);
        if (environment && process_identify(job, environment, length, &one) &&
            stat_read(root, &one)) {
            times_read(root, &one);
            if ((address = variable(environment, length, "NCCL_RAS_ADDR")))
                snprintf(ras_address, size, "%s", address);
            if (GROW(found, found_count))
                found[found_count++] = one;
            else
                rv = -1;
        }
        free(environment);
    }
    free(pids);
    if (rv == 0)
        rv = ranks_add(sample, found, found_count);
    free(found);
    return rv;
}

/* Returns the sum of the counters at these offsets; NAN if one of them could not be read. */
static double sum_of(const struct counters *counted, const size_t *offsets, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += counters_lacks(counted, offsets[i])
                   ? NAN
                   : (double)*(const uint64_t *)(const void *)((const char *)counted + offsets[i]);
    return sum;
}

#define AT(name) offsetof(struct counters, name)
#define SUM(counted, ...)                                                                          \
    sum_of(counted, (const size_t[]){__VA_ARGS__},                                                 \
           sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

int watch_read_rails(const char *root, const struct fabric *fabric, struct watch_sample *sample)
{
    sample->rails = calloc(fabric->rail_count + 1, sizeof *sample->rails);
    if (!sample->rails)
        return -1;
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];
        struct watch_rail *read = &sample->rails[sample->rail_count];
        struct counters counted;

        if (rail_counters_read(root, rail, &counted) != 0)
            continue;
        snprintf(read->name, sizeof read->name, "%s", rail->name);
        if (rail->nic && rail->nic->address_count > 0)
            snprintf(read->address, sizeof read->address, "%.*s",
                     (int)strcspn(rail->nic->addresses[0], "/"), rail->nic->addresses[0]);
        read->sent_bytes = SUM(&counted, AT(tx_bytes), AT(rdma_tx_bytes));
        read->received_bytes = SUM(&counted, AT(rx_bytes), AT(rdma_rx_bytes));
        if (isnan(read->sent_bytes + read->received_bytes))
            read->sent_bytes = read->received_bytes = NAN;
        read->is_partial = isnan(read->sent_bytes) || counted.lacks_rdma_bytes;
        read->losses = SUM(&counted, AT(carrier_changes), AT(link_downed), AT(link_error_recovery));
        read->errors = SUM(&counted, AT(rx_crc_errors), AT(tx_carrier_errors), AT(port_rcv_errors),
                           AT(link_integrity_errors));
        if (isnan(read->losses + read->errors))
            read->losses = read->errors = NAN;
        sample->rail_count++;
    }
    return 0;
}
