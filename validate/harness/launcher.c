/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/launcher.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"

/* Returns the rank of this process in its MPI job as text; NULL without an MPI job. */
static const char *mpi_rank(void)
{
    static const char *const names[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return getenv(names[i]);
    return NULL;
}

bool launcher_has_mpi(void)
{
    return mpi_rank() != NULL;
}

int launcher_rank(void)
{
    const char *rank = mpi_rank() ? mpi_rank() : getenv("SLURM_PROCID");

    return rank ? atoi(rank) : 0;
}

int launcher_size(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) && atoi(getenv(names[i])) > 0)
            return atoi(getenv(names[i]));
    return 1;
}

/* Field 22 of /proc/self/stat: clock ticks since boot. */
double launcher_process_start(void)
{
    struct timespec up;
    char text[1024];
    const char *field = sysfs_stat("", text, sizeof text, "proc/self/stat");
    double started;

    for (int i = 3; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    if (!field)
        return clock_epoch_s();
    clock_gettime(CLOCK_BOOTTIME, &up);
    started = strtod(field, NULL) / (double)sysconf(_SC_CLK_TCK);
    return clock_epoch_s() - ((double)up.tv_sec + 1e-9 * (double)up.tv_nsec - started);
}

/* pmix_info_t of the PMIx standard (versions 2 to 5), with only the boolean of its value; `room`
 * stands for the rest of the union. */
struct pmix_info {
    char key[512];
    uint32_t flags;
    struct {
        uint16_t type;
        union {
            bool flag;
            double room[4];
        } data;
    } value;
};

enum { PMIX_BOOL = 1 };

typedef int pmix_fence_fn(const void *processes, size_t process_count, const void *infos,
                          size_t info_count);

typedef int pmix_init_fn(void *process, struct pmix_info *infos, size_t info_count);
typedef int pmix_finalize_fn(const struct pmix_info *infos, size_t info_count);
typedef int pmix_abort_fn(int status, const char *message, void *processes, size_t process_count);

static bool is_pmix_initialized; /* by launcher_keep() */

/* Returns a function of the PMIx library that MPI has loaded, or NULL. The library stays loaded
 * after MPI_Finalize. */
static void *pmix_function(const char *name)
{
    static void *library;

    if (!getenv("PMIX_NAMESPACE"))
        return NULL;
    if (!library)
        library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    return library ? dlsym(library, name) : NULL;
}

void launcher_barrier(void)
{
    struct pmix_info collect = {.key = "pmix.collect", .value = {PMIX_BOOL, {.flag = true}}};
    const char *job = getenv("PMIX_NAMESPACE");
    pmix_fence_fn *fence;

    if (!job || strncmp(job, "slurm.", 6) != 0)
        return;
    *(void **)&fence = pmix_function("PMIx_Fence");
    if (fence)
        fence(NULL, 0, &collect, 1);
}

void launcher_keep(bool stays_connected)
{
    pmix_init_fn *init;

    *(void **)&init = pmix_function("PMIx_Init");
    if (init && stays_connected)
        is_pmix_initialized = init(NULL, NULL, 0) == 0;
}

void launcher_abort(int status)
{
    pmix_init_fn *init;
    pmix_abort_fn *abort_job;

    *(void **)&init = pmix_function("PMIx_Init");
    *(void **)&abort_job = pmix_function("PMIx_Abort");
    if (init && abort_job && (is_pmix_initialized || init(NULL, NULL, 0) == 0))
        abort_job(status, "", NULL, 0);
}

void launcher_release(void)
{
    pmix_finalize_fn *finalize;

    *(void **)&finalize = pmix_function("PMIx_Finalize");
    if (finalize && is_pmix_initialized)
        finalize(NULL, 0);
    is_pmix_initialized = false;
}
