/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/pmpi/state.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/pmpi/preloaded-code.h" /* made by Local.mk */
#include "collectives/pmpi/summary.h"

static struct {
    struct tuned *tuned; /* NULL: MPI does everything */
    int key;             /* of the attribute that holds a communicator's state */
    bool is_over;        /* MPI does everything from here on */
    bool is_forced;      /* MUSTER_COLLECTIVES forces algorithms */
    bool has_summary;
    bool takes_device_memory; /* MPI accepts it, and does everything then */
    bool chooses_wire;
} state = {.key = MPI_KEYVAL_INVALID};

static atomic_uint forgotten;

static void print_line(const char *line)
{
    fprintf(stderr, "muster: collectives: %s\n", line);
}

/* The attribute of a communicator that has no state yet: &early[n] after n + 1 collectives. */
static char early[STATE_EARLY_CALLS];

static bool is_early(const void *value)
{
    return (uintptr_t)value - (uintptr_t)early < sizeof early;
}

static void destroy_comm(struct state_comm *comm)
{
    tuned_comm_destroy(&comm->tuned);
    free(comm);
}

/* MPI calls it when a communicator is freed, at all its ranks, and when its attribute is
 * replaced. */
static int forget_comm(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm;
    (void)key;
    (void)unused;
    if (is_early(value))
        return MPI_SUCCESS;
    atomic_fetch_add(&forgotten, 1);
    if (value != NULL)
        destroy_comm(value);
    return MPI_SUCCESS;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && *value != '\0' && strcmp(value, "0") != 0;
}

bool state_is_our_mpi(bool is_reported)
{
#ifdef OPEN_MPI
    static atomic_bool is_known; /* to be ours */
    /* enough for the text of any MPI; the constant of this one may be too small */
    char found[8192] = "", ours[32];
    int length;

    if (is_known)
        return true;
    PMPI_Get_library_version(found, &length);
    snprintf(ours, sizeof ours, "Open MPI v%d.", OMPI_MAJOR_VERSION);
    is_known = strncmp(found, ours, strlen(ours)) == 0;
    if (is_known || !is_reported)
        return is_known;
    found[strcspn(found, ",\n")] = '\0';
    fprintf(stderr, "muster: collectives left to MPI: found %.64s, expected %s%d\n", found, ours,
            OMPI_MINOR_VERSION);
    return false;
#else
    (void)is_reported;
    return true;
#endif
}

/* Whether all ranks have the same build of this library. Another build may send other messages, so
 * this is the first collective of all and must never change. */
static bool is_same_code(void)
{
    unsigned own = (unsigned)strtoul(PRELOADED_CODE, NULL, 10), greatest[2] = {own, ~own};

    return PMPI_Allreduce(MPI_IN_PLACE, greatest, 2, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD) ==
               MPI_SUCCESS &&
           greatest[0] == ~greatest[1]; /* the least */
}

/* Whether MPI accepts buffers in device memory, by functions that not every MPI has, or by the
 * variables that enable it in MPICH and its derivatives. The same at all ranks. */
static bool mpi_takes_device_memory(void)
{
    static const char *const names[] = {"MPIX_Query_cuda_support", "MPIX_Query_rocm_support",
                                        "MPIX_Query_hip_support", "MPIX_Query_ze_support"};
    int takes = is_set("MPICH_GPU_SUPPORT_ENABLED") || is_set("MV2_USE_CUDA") ||
                is_set("MV2_USE_ROCM") || is_set("I_MPI_OFFLOAD");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(RTLD_DEFAULT, names[i]);
        int (*query)(void);

        memcpy(&query, &found, sizeof query);
        takes = takes || (query != NULL && query() != 0);
    }
    PMPI_Allreduce(MPI_IN_PLACE, &takes, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return takes;
}

/* Whether algorithms are forced, by rank 0's environment for all ranks. */
static bool read_force(const char *force)
{
    int is_forced = force != NULL && *force != '\0' && strcmp(force, "auto") != 0 &&
                    strcmp(force, MACHINE_MPI) != 0;

    PMPI_Bcast(&is_forced, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_forced;
}

/* Whether numbers may travel coded without loss, by rank 0's environment for all ranks. */
static bool read_wire(int rank)
{
    const char *wire = getenv("MUSTER_COLLECTIVES_WIRE");
    int is_auto = wire != NULL && strcmp(wire, "auto") == 0;

    if (rank == 0 && wire != NULL && *wire != '\0' && !is_auto && strcmp(wire, "as-is") != 0)
        fprintf(stderr,
                "muster: MUSTER_COLLECTIVES_WIRE: found \"%.64s\", expected as-is or auto; numbers "
                "are sent uncompressed\n",
                wire);
    PMPI_Bcast(&is_auto, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_auto;
}

void state_begin(void)
{
    struct tuned_options options = {
        .force = getenv("MUSTER_COLLECTIVES"),
        .is_new = is_set("MUSTER_COLLECTIVES_MEASURE"),
        .with_mpi = true,
        .report = print_line,
    };
    struct error err = {""};
    int rank, ranks;

    if (!state_is_our_mpi(true))
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state.has_summary = rank == 0 && is_set("MUSTER_COLLECTIVES_SUMMARY");
    if (ranks == 1)
        return;
    if (!is_same_code()) {
        if (rank == 0)
            fprintf(stderr, "muster: collectives left to MPI: ranks have different builds of "
                            "libmustercoll-pmpi.so; install one on all nodes\n");
        return;
    }
    state.takes_device_memory = mpi_takes_device_memory();
    if (state.takes_device_memory)
        return;
    if (tuned_create(MPI_COMM_WORLD, &options, &state.tuned, &err) < 0) {
        if (rank == 0)
            fprintf(stderr, "muster: MUSTER_COLLECTIVES: %s; collectives left to MPI\n", err.text);
        return;
    }
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &state.key, NULL) !=
        MPI_SUCCESS) {
        tuned_destroy(state.tuned);
        state.tuned = NULL;
    }
    state.is_forced = read_force(options.force);
    state.chooses_wire = read_wire(rank);
}

/* Prints, for fp32 and a few sizes of each collective on MPI_COMM_WORLD, the choices of algorithms,
 * or of wire formats. */
static void explain_each(const struct state_comm *world, bool is_wire)
{
    static const size_t sizes[] = {64, 4096, 65536, 1 << 20, 16 << 20};
    struct chooser *chooser = world->tuned.chooser;
    struct plan_shape shape = {.element_bytes = sizeof(float),
                               .ranks = world->ranks,
                               .topology = collective_topology(world->tuned.collective)};
    struct wire_choice wire;
    struct choice choice;

    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t share =
                collective_kind_has_blocks((enum collective_kind)kind) ? (size_t)shape.ranks : 1;

            shape.kind = (enum collective_kind)kind;
            shape.count = (sizes[i] / sizeof(float) + share - 1) / share;
            if (!is_wire) {
                chooser_explain(chooser, &shape, ELEMENT_FP32, stderr);
                continue;
            }
            choice = chooser_pick_wire(chooser, &shape, ELEMENT_FP32, &wire);
            chooser_explain_wire(&shape, &choice, &wire, stderr);
        }
}

/* Prints the reasons for the choices on MPI_COMM_WORLD. */
static void explain(const struct state_comm *world)
{
    fprintf(stderr, "%-14s %10s  %-20s %8s %12s %12s\n", "COLLECTIVE", "BYTES", "ALGORITHM",
            "SEGMENT", "PREDICTED us", "MEASURED us");
    explain_each(world, false);
    if (!state.chooses_wire)
        return;
    fprintf(stderr, "%-14s %10s  %-20s %8s %12s %12s  %s\n", "COLLECTIVE", "BYTES", "ALGORITHM",
            "SEGMENT", "AS IS us", "CODED us", "WIRE");
    explain_each(world, true);
}

static bool has_collective(const struct state_comm *comm)
{
    return comm != NULL && comm->tuned.collective != NULL;
}

void state_end(void)
{
    if (state.tuned != NULL) {
        struct state_comm *world;
        int is_found;

        /* attributes of MPI_COMM_SELF may still call collectives in MPI_Finalize() */
        state.is_over = true;
        PMPI_Comm_get_attr(MPI_COMM_WORLD, state.key, &world, &is_found);
        if (is_found) {
            if (has_collective(world) && world->rank == 0 && is_set("MUSTER_COLLECTIVES_EXPLAIN"))
                explain(world);
            PMPI_Comm_delete_attr(MPI_COMM_WORLD, state.key);
        }
        PMPI_Comm_free_keyval(&state.key);
        /* state.tuned stays: communicators that were never freed use it until MPI frees their
         * attributes */
    }
    if (state.has_summary && state.takes_device_memory)
        fprintf(stderr, "muster: collectives left to MPI, which accepts device memory\n");
    if (state.has_summary)
        summary_print(stderr);
}

/* Whether all ranks of the communicator are in this MPI_COMM_WORLD, the only one that has figures.
 * All ranks of a communicator that spans two (by MPI_Comm_spawn() or MPI_Comm_connect()) get the
 * same answer without messages: the other job may not have this library, or have other settings. */
static bool is_of_world(MPI_Comm comm)
{
    MPI_Group world, all, both;
    int ranks, found;

    if (comm == MPI_COMM_WORLD)
        return true;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_group(comm, &all);
    PMPI_Group_intersection(all, world, &both);
    PMPI_Group_size(all, &ranks);
    PMPI_Group_size(both, &found);
    PMPI_Group_free(&world);
    PMPI_Group_free(&all);
    if (both != MPI_GROUP_EMPTY)
        PMPI_Group_free(&both);
    return found == ranks;
}

/* Makes the state of a communicator; all its ranks call this at the same collective. NULL if MPI is
 * to do its collectives. */
static struct state_comm *make_comm(MPI_Comm comm)
{
    struct state_comm *made;
    struct error err = {""};

    if (!is_of_world(comm)) {
        PMPI_Comm_set_attr(comm, state.key, NULL);
        return NULL;
    }
    made = calloc(1, sizeof *made);
    if (collective_agree(comm, made != NULL ? 0 : -1, NULL) < 0 || made == NULL) {
        free(made);
        return NULL;
    }
    PMPI_Comm_rank(comm, &made->rank);
    PMPI_Comm_size(comm, &made->ranks);
    if (made->ranks > 1 && tuned_comm_create(state.tuned, comm, &made->tuned, &err) < 0) {
        fprintf(stderr, "muster: collectives of a communicator left to MPI: %s\n", err.text);
        made->tuned.collective = NULL;
    }
    PMPI_Comm_set_attr(comm, state.key, made);
    return made;
}

/* Whether a communicator gets its state at this call; else counts the call. calls: its attribute
 * among early, or NULL. */
static bool may_make(MPI_Comm comm, char *calls)
{
    int is_inter;

    if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
        return false;
    if (comm == MPI_COMM_WORLD || state.is_forced || calls == early + STATE_EARLY_CALLS - 1)
        return true;
    PMPI_Comm_set_attr(comm, state.key, calls != NULL ? calls + 1 : early);
    return false;
}

unsigned state_forgotten(void)
{
    return atomic_load(&forgotten);
}

struct state_comm *state_comm(MPI_Comm comm)
{
    static _Thread_local struct {
        MPI_Comm comm;
        struct state_comm *found;
        unsigned forgotten;
    } last;
    void *found;
    int is_found;

    if (state.tuned == NULL || state.is_over || comm == MPI_COMM_NULL)
        return NULL;
    if (last.found != NULL && last.comm == comm && last.forgotten == state_forgotten())
        return last.found;
    last.found = NULL;
    last.forgotten = state_forgotten();
    if (PMPI_Comm_get_attr(comm, state.key, &found, &is_found) != MPI_SUCCESS)
        return NULL;
    if (!is_found || is_early(found)) {
        if (!may_make(comm, is_found ? found : NULL))
            return NULL;
        found = make_comm(comm);
    }
    last.comm = comm;
    last.found = has_collective(found) ? found : NULL;
    return last.found;
}

/* Whether the call is the same as the last of its kind, as most are: that choice then holds. */
static bool is_as_last(const struct state_chosen *last, const struct collective_call *call)
{
    return last->algorithm != NULL && last->call.count == call->count &&
           last->call.type == call->type && last->call.op == call->op &&
           last->call.root == call->root &&
           (last->call.in == last->call.out) == (call->in == call->out) &&
           last->call.counts == NULL && call->counts == NULL;
}

/* Makes the choice for a call; algorithm NULL: MPI's own. Returns 0, or -1 with err if memory is
 * out. */
static int choose(const struct state_comm *comm, const struct collective_call *call,
                  struct state_chosen *chosen, struct error *err)
{
    struct chooser *chooser = comm->tuned.chooser;
    struct wire_choice wire = {.wire = call->wire};
    struct plan_shape shape;
    struct choice choice;

    *chosen = (struct state_chosen){.algorithm = NULL};
    if (collective_shape(comm->tuned.collective, call, &shape, NULL) < 0)
        return 0;
    choice = state.chooses_wire ? chooser_pick_wire(chooser, &shape, call->type, &wire)
                                : chooser_pick(chooser, &shape, call->type);
    if (isnan(choice.predicted_us))
        return error_set(err, "out of memory");
    *chosen = (struct state_chosen){*call, choice.algorithm, choice.segment_bytes, wire.wire,
                                    chooser_bytes(&shape)};
    return 0;
}

/* Prints the error of a call and calls the error handler of the communicator. Returns its code. */
static int fail(MPI_Comm comm, const struct collective_call *call, const struct error *err)
{
    fprintf(stderr, "muster: %s%s%s: %s\n", collective_kind_name(call->kind),
            call->algorithm != NULL ? " by " : "",
            call->algorithm != NULL ? call->algorithm->name : "", err->text);
    return PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER) == MPI_SUCCESS ? MPI_ERR_OTHER
                                                                         : MPI_ERR_INTERN;
}

int state_run(struct state_comm *comm_state, MPI_Comm comm, struct collective_call *call)
{
    struct state_chosen *chosen = &comm_state->last[call->kind];
    double begin = state.has_summary ? PMPI_Wtime() : 0;
    struct error err;

    if (!is_as_last(chosen, call) && choose(comm_state, call, chosen, &err) < 0)
        return fail(comm, call, &err);
    if (chosen->algorithm == NULL)
        return 1;
    call->algorithm = chosen->algorithm;
    call->segment_bytes = chosen->segment_bytes;
    call->wire = chosen->wire;
    if (collective_run(comm_state->tuned.collective, call, &err) < 0)
        return fail(comm, call, &err);
    if (state.has_summary)
        summary_count(call->kind, chosen->algorithm->name, chosen->bytes, PMPI_Wtime() - begin);
    return 0;
}

bool state_has_summary(void)
{
    return state.has_summary;
}

/* -------------------------------------------------------------------------------------- memory */

enum { BUFFERS = 3, BUFFER_KEPT_BYTES = 64 << 20 };

struct memory {
    void *start[BUFFERS];
    size_t bytes[BUFFERS];
};

static pthread_key_t memory_key;
static pthread_once_t memory_once = PTHREAD_ONCE_INIT;

static void free_memory(void *value)
{
    struct memory *memory = value;

    for (int buffer = 0; buffer < BUFFERS; buffer++)
        free(memory->start[buffer]);
    free(memory);
}

static void make_memory_key(void)
{
    pthread_key_create(&memory_key, free_memory);
}

void *state_memory(int buffer, size_t bytes)
{
    struct memory *memory;

    pthread_once(&memory_once, make_memory_key);
    memory = pthread_getspecific(memory_key);
    if (memory == NULL) {
        memory = calloc(1, sizeof *memory);
        if (memory == NULL || pthread_setspecific(memory_key, memory) != 0) {
            free(memory);
            return NULL;
        }
    }
    if (memory->bytes[buffer] < bytes || memory->start[buffer] == NULL) {
        size_t rounded = (bytes + 4095) / 4096 * 4096 + 4096;

        free(memory->start[buffer]);
        memory->start[buffer] = aligned_alloc(64, rounded);
        memory->bytes[buffer] = memory->start[buffer] != NULL ? rounded : 0;
    }
    return memory->start[buffer];
}

void state_memory_trim(int code)
{
    struct memory *memory;

    if (code != 0 && code != 1)
        return;
    pthread_once(&memory_once, make_memory_key);
    memory = pthread_getspecific(memory_key);
    for (int buffer = 0; buffer < BUFFERS && memory != NULL; buffer++)
        if (memory->bytes[buffer] > BUFFER_KEPT_BYTES) {
            free(memory->start[buffer]);
            memory->start[buffer] = NULL;
            memory->bytes[buffer] = 0;
        }
}
