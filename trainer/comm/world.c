/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/comm/world.h"

#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/privileges.h"
#include "lib/constants/trainer_constants.h"
#include "lib/slurm/slurm_node_name.h"
#include "validate/harness/launcher.h"
#include "validate/harness/output.h"
#include "validate/harness/peer_exchange.h"
#include "validate/harness/program.h"
#include "validate/harness/watch/peers.h"
#include "validate/harness/watch/watch.h"
#include "validate/harness/watch/watchdog.h"

enum { NAME_BYTES = 256 };

/* What ranks exchange at the start. */
struct rank_host {
    char node[NAME_BYTES];
    cpu_set_t processors;
};

static struct {
    char (*names)[NAME_BYTES];
    const char **list;
    const struct world *world;
} memory;

/* "rank 3 on n2", or "this process" if there is only one rank. */
static const char *rank_name(int rank)
{
    static char name[NAME_BYTES + 32];

    if (memory.world->ranks == 1)
        return "this process";
    snprintf(name, sizeof name, "rank %d on %s", rank, memory.world->names[rank]);
    return name;
}

static void abort_job(void)
{
    MPI_Abort(MPI_COMM_WORLD, output_status() ? output_status() : 3);
}

static int gather_hosts(struct world *world, struct error *err)
{
    size_t ranks = (size_t)world->ranks;
    struct rank_host own = {.node = ""}, *hosts = calloc(ranks, sizeof *hosts);

    memory.names = calloc(ranks, sizeof *memory.names);
    memory.list = calloc(ranks, sizeof *memory.list);
    if (!hosts || !memory.names || !memory.list) {
        free(hosts);
        return error_set(err, "cannot allocate the names of %zu ranks: %m", ranks);
    }
    slurm_node_name("", own.node, sizeof own.node);
    sched_getaffinity(0, sizeof own.processors, &own.processors);
    if (world->has_mpi)
        MPI_Allgather(&own, sizeof own, MPI_BYTE, hosts, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    else
        hosts[0] = own;
    world->local_ranks = 0;
    for (size_t rank = 0; rank < ranks; rank++) {
        size_t before = 0;

        memcpy(memory.names[rank], hosts[rank].node, NAME_BYTES);
        memory.list[rank] = memory.names[rank];
        world->local_ranks += strcmp(hosts[rank].node, own.node) == 0 &&
                              CPU_EQUAL(&hosts[rank].processors, &own.processors);
        while (before < rank && strcmp(memory.list[before], memory.list[rank]) != 0)
            before++;
        world->nodes += before == rank;
    }
    world->names = memory.list;
    free(hosts);
    return 0;
}

static void start_watch(const struct world *world, double limit_s)
{
    const struct watch_config config = {.program = "muster-train",
                                        .rank = world->rank,
                                        .size = world->ranks,
                                        .nodes = world->names,
                                        .time_limit_s = limit_s,
                                        .patience_s = TRAIN_PATIENCE_S,
                                        .abort_job = abort_job};

    program_watch(&config, NULL);
}

/* Restores train.c's handlers, with which signals end the job after a step: those of the watch end
 * it at once. */
static void restore_signals(const struct sigaction *interrupt, const struct sigaction *terminate)
{
    sigaction(SIGINT, interrupt, NULL);
    sigaction(SIGTERM, terminate, NULL);
}

static void start_mpi(struct world *world, double limit_s)
{
    struct sigaction interrupt, terminate;

    /* Ranks that wait must not take processors from ranks that work. */
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 0);
    sigaction(SIGINT, NULL, &interrupt);
    sigaction(SIGTERM, NULL, &terminate);
    if (isfinite(limit_s)) /* a user's job may take any time to start */
        watchdog_start(limit_s, abort_job);
    program_init_mpi(&world->rank, &world->ranks);
    restore_signals(&interrupt, &terminate);
}

int world_init(bool is_json, double limit_s, struct world *world, struct error *err)
{
    struct sigaction interrupt, terminate;

    heartbeat_read_secret();
    peers_read_environment();
    *world = (struct world){.ranks = 1, .has_mpi = launcher_has_mpi(), .is_json = is_json};
    output_start("muster-train", "train", is_json);
    if (world->has_mpi) {
        privileges_check_and_drop("muster-train", launcher_rank() == 0);
        start_mpi(world, limit_s);
    }
    if (gather_hosts(world, err) != 0)
        return -1;
    memory.world = world;
    world_rank_name = rank_name;
    if (world->ranks == 1) {
        watchdog_stop();
        return 0;
    }
    sigaction(SIGINT, NULL, &interrupt);
    sigaction(SIGTERM, NULL, &terminate);
    peer_exchange(MPI_COMM_WORLD, true);
    start_watch(world, limit_s);
    restore_signals(&interrupt, &terminate);
    return 0;
}

void world_set_threads(const struct world *world, int threads)
{
    if (threads == 0 && !getenv("OMP_NUM_THREADS") && world->local_ranks > 1)
        threads =
            omp_get_num_procs() > world->local_ranks ? omp_get_num_procs() / world->local_ranks : 1;
    if (threads > 0)
        omp_set_num_threads(threads);
}

int world_comm(const struct world *world, struct comm **comm, struct error *err)
{
    return world->has_mpi ? comm_create(MPI_COMM_WORLD, comm, err) : comm_self(comm, err);
}

void world_finalize(struct world *world)
{
    if (world->ranks > 1)
        peers_report("muster-train", world->names[world->rank]);
    if (world->has_mpi) {
        if (world->ranks > 1) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (world->rank == 0)
                watch_has_results();
            watch_phase("%s", "MPI_Finalize");
        }
        MPI_Finalize();
    }
    if (world->ranks > 1)
        watch_stop();
    free(memory.names);
    free(memory.list);
    memory.names = NULL;
    memory.list = NULL;
}
