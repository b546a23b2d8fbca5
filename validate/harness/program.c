/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/program.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/privileges.h"
#include "lib/base/stdout_flush.h"
#include "lib/base/text.h"
#include "lib/certificate/failed_rails.h"
#include "lib/constants/checks_constants.h"
#include "lib/node/space_owner.h"
#include "lib/slurm/slurm_node_name.h"
#include "validate/harness/launcher.h"
#include "validate/harness/peer_exchange.h"
#include "validate/harness/sleeping_wait.h"
#include "validate/harness/watch/peers.h"
#include "validate/harness/watch/stall.h"
#include "validate/harness/watch/watchdog.h"

static atomic_bool has_left_mpi;

static void abort_job(void)
{
    int status = output_status() ? output_status() : 3;

    if (atomic_load(&has_left_mpi))
        launcher_abort(status);
    else
        MPI_Abort(MPI_COMM_WORLD, status);
}

/* Rank 0 prints help, version and errors of options, before MPI starts. */
static void parse(struct program *program, void *context, int argc, char **argv)
{
    const struct program_spec *spec = program->spec;
    char usage[128];
    const struct option_set set = {
        .name = spec->name,
        .usage = usage,
        .summary = spec->summary,
        .status = "0 pass, 1 a fault was found, 2 usage, 3 cannot tell.",
        .rows = spec->options,
        .common = common_option_rows,
        .has_input = true,
    };
    struct error err = {""};
    bool is_reporter = launcher_rank() == 0;
    const char *path;
    enum option_request request;
    int found;

    snprintf(usage, sizeof usage, "srun [OPTION...] %s [OPTION...]", spec->name);
    request = option_set_parse(&set, argc, argv, context, &program->common, &err);
    switch (request) {
    case OPTION_HELP:
    case OPTION_VERSION:
    case OPTION_TABLE:
        if (is_reporter)
            option_set_print(&set, request, stdout);
        exit(stdout_flush(spec->name) == 0 ? 0 : 3);
    case OPTION_MISUSE:
        break;
    case OPTION_RUN:
        path = program->common.config_path;
        if (!path && getenv("MUSTER_CONF") && *getenv("MUSTER_CONF"))
            path = getenv("MUSTER_CONF");
        found = conf_read(path ? path : conf_default_path(), &program->conf, &err);
        if (found == 1 && path)
            error_set(&err, "%s does not exist", path);
        else if (found >= 0)
            return;
        break;
    }
    if (is_reporter)
        fprintf(stderr, "%s: %s (--help lists the options)\n", spec->name, err.text);
    else
        usleep(300000); /* launchers end all ranks when one fails: let rank 0 print first */
    exit(2);
}

/* MPI_Comm_errhandler_function: ends this rank with the error. */
static void end_with_error(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;

    (void)comm;
    MPI_Error_string(*code, text, &length);
    watch_fault("%.*s", length, text);
}

/* Ends the program if MPI does not know the launcher, so that each rank is a job of its own. */
static void check_size(int launched_rank, int launched_size, int size)
{
    if (size > 1 || launched_size <= 1)
        return;
    if (launched_rank == 0)
        fprintf(stderr, "muster: MPI started each of %d ranks alone\n", launched_size);
    else
        usleep(300000); /* launchers end all ranks when one fails: let rank 0 print first */
    MPI_Finalize();
    exit(3);
}

double program_init_mpi(int *rank, int *size)
{
    int launched_rank = launcher_rank(), launched_size = launcher_size(); /* MPI_Init() sets both */
    MPI_Errhandler handler;
    double ready_s;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    ready_s = clock_epoch_s();
    launcher_barrier();
    watchdog_has_mpi();
    MPI_Comm_create_errhandler(end_with_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    check_size(launched_rank, launched_size, *size);
    return ready_s;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fprintf(stderr, "muster: out of memory\n");
        exit(3);
    }
    return memory;
}

/* With one rank per node the communicator is MPI_COMM_WORLD: MPI_Comm_split() would gather from
 * all ranks. */
static void make_leaders(struct program *program)
{
    program->leaders = MPI_COMM_WORLD;
    if (program->node_count == program->size)
        return;
    sleeping_barrier(MPI_COMM_WORLD); /* MPI_Comm_split() polls */
    MPI_Comm_split(MPI_COMM_WORLD, program->is_leader ? 0 : MPI_UNDEFINED, program->rank,
                   &program->leaders);
}

/* Finds the node of each rank: ranks of the same node have the same name, from Slurm or the host.
 */
static void gather_names(struct program *program)
{
    size_t size = (size_t)program->size;
    char name[64] = "";

    program->names = allocate(size, sizeof *program->names);
    program->node_of_rank = allocate(size, sizeof *program->node_of_rank);
    program->leader_of_node = allocate(size, sizeof *program->leader_of_node);
    program->ranks_of_node = allocate(size, sizeof *program->ranks_of_node);
    program->node_name = allocate(size, sizeof *program->node_name);
    program->name_of = allocate(size, sizeof *program->name_of);
    slurm_node_name("", name, sizeof name);
    sleeping_allgather(name, program->names, sizeof name, MPI_COMM_WORLD);
    for (int rank = 0; rank < program->size; rank++) {
        int node = rank > 0 ? program->node_of_rank[rank - 1] : 0; /* often the same node */

        if (rank > 0 && strcmp(program->names[rank], program->node_name[node]) != 0)
            for (node = 0; node < program->node_count; node++)
                if (strcmp(program->names[rank], program->node_name[node]) == 0)
                    break;
        if (node == program->node_count) {
            program->node_name[node] = program->names[rank];
            program->leader_of_node[node] = rank;
            program->node_count++;
        }
        program->ranks_of_node[node]++;
        program->node_of_rank[rank] = node;
        program->name_of[rank] = program->node_name[node];
    }
    program->node = program->node_of_rank[program->rank];
    program->is_leader = program->leader_of_node[program->node] == program->rank;
    make_leaders(program);
}

const char *program_management(const struct program *program)
{
    return program->fabric && program->fabric->management ? program->fabric->management->name
                                                          : program->conf.management_interface;
}

void program_watch(const struct watch_config *config, const char *interface)
{
    struct heartbeat_endpoint endpoint = {.address_count = 0};
    struct error err = {""};
    int socket = -1, result = 0;

    if (config->rank == 0) {
        socket = heartbeat_listen(interface, true, &endpoint, &err);
        if (socket >= 0)
            result = watch_start_monitor(config, socket, &endpoint, &err);
        if (socket < 0 || result != 0) {
            fprintf(stderr, "%s: cannot monitor the ranks: %s\n", config->program, err.text);
            endpoint.address_count = 0;
        }
    }
    sleeping_bcast(&endpoint, sizeof endpoint, 0, MPI_COMM_WORLD);
    if (config->rank != 0) {
        if (endpoint.address_count > 0)
            socket =
                heartbeat_connect(&endpoint, config->rank, WATCH_CONNECT_MS, WATCH_ANSWER_MS, &err);
        watch_start_member(config, socket, &err);
    }
    sleeping_barrier(MPI_COMM_WORLD);
    if (config->rank == 0)
        watch_all_joined();
    watchdog_stop();
}

static void start_watch(const struct program *program)
{
    const struct watch_config config = {.program = program->spec->name,
                                        .rank = program->rank,
                                        .size = program->size,
                                        .nodes = program->name_of,
                                        .time_limit_s = program->common.time_limit_s,
                                        .abort_job = abort_job};

    program_watch(&config, program->conf.management_interface);
}

static void *inject_run(void *argument)
{
    const struct inject *inject = argument;

    usleep((useconds_t)(1e6 * inject->at_s));
    raise(inject->kind == INJECT_DIE ? SIGKILL : SIGSTOP);
    return NULL;
}

/* Refuses a rank that does not exist: its fault would never be found. All ranks decide the same. */
static void check_inject_rank(const struct program *program)
{
    const struct inject *inject = &program->common.inject;

    if (inject->kind == INJECT_NONE || inject->rank < program->size)
        return;
    if (program->rank == 0)
        fprintf(stderr, "%s: option --inject: rank %d of %d ranks (--help lists the options)\n",
                program->spec->name, inject->rank, program->size);
    MPI_Finalize();
    exit(2);
}

/* Starts a thread that injects the fault at its time, whatever the main thread does then. */
static void start_inject(struct program *program)
{
    struct inject *inject = &program->common.inject;
    pthread_t thread;

    if (inject->rank == program->rank && inject->at_s >= 0 &&
        (inject->kind == INJECT_DIE || inject->kind == INJECT_FREEZE) &&
        pthread_create(&thread, NULL, inject_run, inject) == 0)
        pthread_detach(thread);
}

/* In a preflight, leaves out the rails that failed certification on a node that may run jobs: tasks
 * do not use these rails, so the rails cannot delay a step. */
static void choose_fabric(struct program *program)
{
    const char *preflight = getenv("MUSTER_IN_PREFLIGHT");
    struct failed_rails failed = {0};

    fabric_choose(program->inventory, &program->conf, program->fabric);
    if (!preflight || !*preflight)
        return;
    failed_rails_read(&program->conf, &failed);
    if (failed.rails.count > 0)
        fabric_exclude(program->fabric, &failed.rails, failed.why);
    failed_rails_clear(&failed);
}

/* Reads the NICs of this node, and finds which of them belong to the fabric. */
static void read_node(struct program *program)
{
    struct error err = {""};

    program->inventory = inventory_read("", &err);
    program->fabric = allocate(1, sizeof *program->fabric);
    if (program->inventory)
        choose_fabric(program);
    else
        fprintf(stderr, "%s: %s\n", program->spec->name, err.text);
}

/* Called before MPI_Init: with full shared memory MPI may fail to start, or die of a signal,
 * without a reason. */
static void report_full_memory(const struct program *program)
{
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    char owner[SPACE_OWNER], node[256];
    struct statvfs found;

    if (!local)
        local = getenv("SLURM_LOCALID");
    if (local && atoi(local) != 0)
        return; /* the first rank of the node reports it */
    if (statvfs(SHARED_MEMORY, &found) != 0 ||
        (double)found.f_bavail * 100 >= (double)found.f_blocks * CHECK_SPACE_FULL_PERCENT)
        return;
    space_owner(SHARED_MEMORY, 0, owner);
    slurm_node_name("", node, sizeof node);
    fprintf(stderr, "%s: %s: " SHARED_MEMORY " is full%s%s\n", program->spec->name, node,
            *owner ? ": " : "", owner);
}

/* Sets Open MPI parameters that neither the user nor the launcher has set. */
static void set_mpi_defaults(const struct program *program)
{
    const struct nic *management = program->fabric->management;

    /* With few cores, waiting ranks must not starve working ranks. */
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 0);
    if (program->spec->mpi_on_management && management) {
        setenv("OMPI_MCA_pml", "ob1", 0);
        setenv("OMPI_MCA_btl", "self,vader,tcp", 0);
        setenv("OMPI_MCA_btl_tcp_if_include", management->name, 0);
    }
}

void program_start(struct program *program, const struct program_spec *spec, void *context,
                   int argc, char **argv)
{
    int status;

    *program = (struct program){.spec = spec, .process_start = launcher_process_start()};
    heartbeat_read_secret();
    peers_read_environment();
    parse(program, context, argc, argv);
    privileges_check_and_drop(spec->name, launcher_rank() == 0);
    if (spec->start && (status = spec->start(context)) >= 0)
        exit(status);
    output_start(spec->name, spec->suite, program->common.json);
    read_node(program);
    report_full_memory(program);
    set_mpi_defaults(program);
    watchdog_start(program->common.time_limit_s, abort_job);
    program->mpi_ready = program_init_mpi(&program->rank, &program->size);
    check_inject_rank(program);
    gather_names(program);
    peer_exchange(MPI_COMM_WORLD, program->is_leader);
    start_watch(program);
    start_inject(program);
}

/* Whether the fault is due at this step: at or after its time, in the phase that it names, or else
 * at the third step. */
static bool is_inject_due(const struct program *program, const char *phase)
{
    const struct inject *inject = &program->common.inject;

    if (inject->rank != program->rank || inject->kind == INJECT_NONE || inject->kind == INJECT_LIE)
        return false;
    if (inject->at_s >= 0)
        return clock_epoch_s() - program->mpi_ready >= inject->at_s;
    if (inject->target[0])
        return phase && strncmp(phase, inject->target, strlen(inject->target)) == 0;
    return program->steps == 3;
}

static void inject_fault(const struct program *program)
{
    usleep(50000); /* so that the watch has sent the phase */
    if (program->common.inject.kind == INJECT_DIE)
        raise(SIGKILL);
    if (program->common.inject.kind == INJECT_FREEZE)
        raise(SIGSTOP);
    if (program->common.inject.kind == INJECT_HANG)
        for (;;)
            pause();
}

void program_phase(struct program *program, const char *format, ...)
{
    char phase[96];

    TEXT_FORMAT(phase, sizeof phase, format);
    watch_phase("%s", phase);
    watch_works();
    program->steps++;
    if (is_inject_due(program, phase))
        inject_fault(program);
}

void program_step(struct program *program)
{
    watch_step();
    watch_works();
    program->steps++;
    if (is_inject_due(program, NULL))
        inject_fault(program);
}

bool program_injects_lie(const struct program *program)
{
    return program->common.inject.kind == INJECT_LIE &&
           program->common.inject.rank == program->rank;
}

static void finalize_mpi(struct program *program)
{
    watch_waits_for(STALL_WAIT_ALL);
    if (program->leaders != MPI_COMM_NULL && program->leaders != MPI_COMM_WORLD)
        MPI_Comm_free(&program->leaders);
    MPI_Finalize();
}

void program_leave_mpi(struct program *program)
{
    program_phase(program, "leaving MPI");
    sleeping_barrier(MPI_COMM_WORLD);
    launcher_keep(program->rank == 0);
    finalize_mpi(program);
    atomic_store(&has_left_mpi, true);
    watch_works();
    if (program->rank == 0)
        watch_tolerate_losses();
}

static void finish_mpi(struct program *program)
{
    program_phase(program, "end");
    sleeping_barrier(MPI_COMM_WORLD);
    if (program->rank == 0)
        watch_has_results();
    program_phase(program, "MPI_Finalize");
    finalize_mpi(program);
    watch_stop();
}

/* No rank waits for lost ranks. */
static void finish_without_mpi(struct program *program)
{
    program_phase(program, "end");
    if (program->rank == 0)
        watch_send_finished();
    else
        watch_wait_finished();
    watch_stop();
    if (program->rank == 0 && watch_needs_abort()) {
        output_finish();
        watch_abort(output_status());
    }
    launcher_release();
}

int program_finish(struct program *program)
{
    int status = 0;

    peers_report(program->spec->name, program->name_of[program->rank]);
    if (atomic_load(&has_left_mpi))
        finish_without_mpi(program);
    else
        finish_mpi(program);
    if (program->rank == 0) {
        output_finish();
        status = output_status();
    }
    inventory_free(program->inventory);
    free(program->fabric);
    conf_clear(&program->conf);
    free(program->names);
    free(program->node_of_rank);
    free(program->leader_of_node);
    free(program->ranks_of_node);
    free(program->node_name);
    free(program->name_of);
    return status;
}
