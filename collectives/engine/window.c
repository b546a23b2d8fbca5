/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/engine/window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collectives/plan/plan.h"
#include "lib/constants/collectives_constants.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { PAGE = 4096, LINE = 64 };

/* A rank's slot begins with its signal word: ticket << 32 | number, so that it only grows, until it
 * wraps around. Its part follows, in a small slot on the same cache line: few bytes come with the
 * word that announces them. */
typedef _Atomic uint64_t signal_word;

/* A rank is done with all calls before this one. On its own cache line. */
struct done {
    _Alignas(LINE) _Atomic uint64_t before;
};

/* How other ranks access a rank's memory, and two things there to test it with: a nonce, which all
 * read, and an array, to which each writes its own nonce. */
struct peer {
    int pid;
    uint64_t address, nonce;
    uint64_t marks; /* the address of the array, [ranks] */
};

/* Slots of one size. */
struct window_slots {
    unsigned count;          /* a power of two, 64 at most */
    size_t part, slot_bytes; /* offset of the part in a slot; from one slot to the next */
    size_t rank_bytes;       /* from one rank's slots to the next rank's: whole pages */
    size_t done, begin;      /* offsets in the window: struct done [ranks]; slots, rank by rank */
    uint64_t tickets;        /* number of tickets taken */
    uint64_t done_before;    /* this rank's calls before this one are over, */
    uint64_t done_later;     /* and later calls that are over, a bit for each slot */
    uint64_t done_published; /* done_before as the others know it: a multiple */
    unsigned publish_every;  /* of this */
    uint64_t free_before;    /* calls before this one may begin */
};

enum size { LEAST, TINY, SMALL, LARGE, SIZES };

struct window {
    int rank, ranks;
    struct window_slots slots[SIZES];
    size_t bytes;       /* of everything */
    unsigned far_words; /* others count as far until so many more words come quickly */
    char *base;         /* a nonce of 8 bytes, then what slots describes */
    struct peer *peers; /* [ranks]; NULL: their memory cannot be accessed */
};

static size_t rounded_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

static struct window_slots slots_of(unsigned count, size_t part, size_t part_bytes)
{
    size_t slot_bytes = rounded_up(part + part_bytes, LINE / 2);

    return (struct window_slots){.count = count,
                                 .part = part,
                                 .slot_bytes = slot_bytes,
                                 .rank_bytes = rounded_up(count * slot_bytes, PAGE),
                                 .free_before = count,
                                 .publish_every = count > 4 ? count / 4 : 1};
}

static void lay_out(struct window *window)
{
    size_t at = LINE;

    window->slots[LEAST] = slots_of(WINDOW_LEAST_SLOTS, sizeof(signal_word), WINDOW_LEAST_BYTES);
    window->slots[TINY] = slots_of(WINDOW_TINY_SLOTS, sizeof(signal_word), WINDOW_TINY_BYTES);
    window->slots[SMALL] =
        slots_of(WINDOW_SMALL_SLOTS, sizeof(signal_word), PLAN_WINDOW_SMALL_BYTES);
    window->slots[LARGE] = slots_of(WINDOW_SLOTS, PAGE, PLAN_WINDOW_BYTES);
    for (int size = 0; size < SIZES; size++) {
        window->slots[size].done = at;
        at += (size_t)window->ranks * sizeof(struct done);
    }
    at = rounded_up(at, PAGE);
    for (int size = 0; size < SIZES; size++) {
        window->slots[size].begin = at;
        at += (size_t)window->ranks * window->slots[size].rank_bytes;
    }
    window->bytes = at;
}

static char *slot_of(const struct window *window, const struct window_ticket *ticket, int rank)
{
    const struct window_slots *slots = ticket->slots;

    return window->base + slots->begin + (size_t)rank * slots->rank_bytes + ticket->at;
}

static signal_word *signal_of(const struct window *window, const struct window_ticket *ticket,
                              int rank)
{
    return (signal_word *)(void *)slot_of(window, ticket, rank);
}

static _Atomic uint64_t *done_of(const struct window *window, const struct window_slots *slots,
                                 int rank)
{
    return &((struct done *)(void *)(window->base + slots->done))[rank].before;
}

/* How other processes find the memory of rank 0, and a nonce by which they recognize it. */
struct handle {
    int pid, descriptor; /* -1: there is none */
    uint64_t nonce;
};

static void *map(int descriptor, size_t bytes)
{
    void *base =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);

    return base == MAP_FAILED ? NULL : base;
}

/* Whether the limit of a file's size, which applies here too, allows it: beyond it the kernel kills
 * the program. */
static bool may_be_made(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

/* Creates memory without a name: it does not depend on the space in /dev/shm, and nothing is left
 * behind however the program ends. */
static struct handle export_memory(struct window *window)
{
    struct handle handle = {.pid = getpid(), .descriptor = -1};
    int descriptor =
        may_be_made(window->bytes) ? memfd_create("muster-collectives", MFD_CLOEXEC) : -1;

    if (descriptor < 0)
        return handle;
    if (getrandom(&handle.nonce, sizeof handle.nonce, 0) == sizeof handle.nonce &&
        ftruncate(descriptor, (off_t)window->bytes) == 0)
        window->base = map(descriptor, window->bytes);
    if (window->base == NULL) {
        close(descriptor);
        return handle;
    }
    memcpy(window->base, &handle.nonce, sizeof handle.nonce);
    handle.descriptor = descriptor;
    return handle;
}

/* Maps the memory of rank 0. In another PID namespace its pid is another process's or nobody's, so
 * the nonce is checked. */
static void import_memory(struct window *window, const struct handle *handle)
{
    char path[64];
    int descriptor;

    if (handle->descriptor < 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->pid, handle->descriptor);
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return;
    if (lseek(descriptor, 0, SEEK_END) == (off_t)window->bytes)
        window->base = map(descriptor, window->bytes);
    close(descriptor);
    if (window->base != NULL && memcmp(window->base, &handle->nonce, sizeof handle->nonce) != 0) {
        munmap(window->base, window->bytes);
        window->base = NULL;
    }
}

/* process_vm_readv() or process_vm_writev(). */
typedef ssize_t reach_fn(pid_t pid, const struct iovec *here, unsigned long heres,
                         const struct iovec *there, unsigned long theres, unsigned long flags);

static int reach(reach_fn *move, int pid, uint64_t address, void *own, size_t bytes)
{
    while (bytes > 0) {
        struct iovec here = {own, bytes}, there = {(void *)(uintptr_t)address, bytes};
        ssize_t some = move(pid, &here, 1, &there, 1, 0);

        if (some <= 0) {
            errno = some == 0 ? EFAULT : errno;
            return -1;
        }
        address += (uint64_t)some;
        own = (char *)own + some;
        bytes -= (size_t)some;
    }
    return 0;
}

/* Whether the peer's memory can be read and written. In another PID namespace its pid is another
 * process's: that is only read. */
static bool is_reached(const struct peer *peer, const struct peer *own, int rank)
{
    uint64_t found, nonce = own->nonce;

    return reach(process_vm_readv, peer->pid, peer->address, &found, sizeof found) == 0 &&
           found == peer->nonce &&
           reach(process_vm_writev, peer->pid, peer->marks + (uint64_t)rank * sizeof nonce, &nonce,
                 sizeof nonce) == 0;
}

/* Tests the access to all peers: each rank reads a nonce from every other's memory and writes one
 * there. Sets window->peers at all ranks or at none. */
static void find_peers(struct window *window, MPI_Comm comm)
{
    struct peer *peers = calloc((size_t)window->ranks, sizeof *peers);
    uint64_t *marks = calloc((size_t)window->ranks, sizeof *marks);
    struct peer own = {.pid = getpid()};
    int may = peers != NULL && marks != NULL, all_may = 0;

    may = may && getrandom(&own.nonce, sizeof own.nonce, 0) == sizeof own.nonce;
    own.address = (uint64_t)(uintptr_t)&own.nonce;
    own.marks = (uint64_t)(uintptr_t)marks;
    if (PMPI_Allreduce(&may, &all_may, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        all_may = 0;
    if (all_may && PMPI_Allgather(&own, sizeof own, MPI_BYTE, peers, sizeof own, MPI_BYTE, comm) !=
                       MPI_SUCCESS)
        all_may = 0;
    for (int rank = 0; rank < window->ranks && all_may && may; rank++)
        may = is_reached(&peers[rank], &own, window->rank);
    /* after this all have written, and no rank returns before its nonce has been read */
    if (!all_may || PMPI_Allreduce(&may, &all_may, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        all_may = may = 0;
    for (int rank = 0; rank < window->ranks && all_may; rank++)
        may = may && marks[rank] == peers[rank].nonce;
    if (!all_may || PMPI_Allreduce(&may, &all_may, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS ||
        !all_may) {
        free(peers);
        peers = NULL;
    }
    free(marks);
    window->peers = peers;
}

struct window *window_create(MPI_Comm comm)
{
    struct window *window = calloc(1, sizeof *window);
    struct handle handle = {0, -1, 0};
    int rank, has_it, all_have = 0;

    PMPI_Comm_rank(comm, &rank);
    if (window != NULL) {
        window->rank = rank;
        PMPI_Comm_size(comm, &window->ranks);
        lay_out(window);
        if (rank == 0)
            handle = export_memory(window);
    }
    if (PMPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, comm) != MPI_SUCCESS)
        handle.descriptor = -1;
    if (window != NULL && rank != 0)
        import_memory(window, &handle);
    has_it = window != NULL && window->base != NULL;
    if (PMPI_Allreduce(&has_it, &all_have, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        all_have = 0;
    if (rank == 0 && handle.descriptor >= 0)
        close(handle.descriptor);
    if (all_have) {
        find_peers(window, comm);
        return window;
    }
    window_destroy(window);
    return NULL;
}

void window_destroy(struct window *window)
{
    if (window == NULL)
        return;
    if (window->base != NULL)
        munmap(window->base, window->bytes);
    free(window->peers);
    free(window);
}

bool window_can_pull(const struct window *window)
{
    return window->peers != NULL;
}

static uint64_t *buffers_of(const struct window *window, const struct window_ticket *ticket,
                            int rank)
{
    return (uint64_t *)(void *)window_part(window, ticket, rank);
}

void window_announce(struct window *window, const struct window_ticket *ticket,
                     const void *const buffers[WINDOW_BUFFERS])
{
    for (int i = 0; i < WINDOW_BUFFERS; i++)
        buffers_of(window, ticket, window->rank)[i] = (uint64_t)(uintptr_t)buffers[i];
}

int window_reach(const struct window *window, const struct window_ticket *ticket, int peer,
                 int buffer, size_t offset, void *own, size_t bytes, bool writes)
{
    return reach(writes ? process_vm_writev : process_vm_readv, window->peers[peer].pid,
                 buffers_of(window, ticket, peer)[buffer] + offset, own, bytes);
}

void window_take_ticket(struct window *window, size_t part_bytes, struct window_ticket *ticket)
{
    enum size size = part_bytes <= WINDOW_LEAST_BYTES        ? LEAST
                     : part_bytes <= WINDOW_TINY_BYTES       ? TINY
                     : part_bytes <= PLAN_WINDOW_SMALL_BYTES ? SMALL
                                                             : LARGE;
    struct window_slots *slots = &window->slots[size];

    ticket->slots = slots;
    ticket->number = slots->tickets++;
    ticket->at = (ticket->number & (slots->count - 1)) * slots->slot_bytes;
}

bool window_is_free(const struct window *window, const struct window_ticket *ticket)
{
    struct window_slots *slots = ticket->slots;
    uint64_t least = slots->done_before;

    if (ticket->number < slots->free_before)
        return true;
    for (int rank = 0; rank < window->ranks; rank++) {
        uint64_t done = atomic_load_explicit(done_of(window, slots, rank), memory_order_acquire);

        least = done < least ? done : least;
    }
    slots->free_before = least + slots->count;
    return ticket->number < slots->free_before;
}

char *window_part(const struct window *window, const struct window_ticket *ticket, int rank)
{
    return slot_of(window, ticket, rank) + ticket->slots->part;
}

static uint64_t word_of(const struct window_ticket *ticket, uint64_t number)
{
    return ticket->number << 32 | number;
}

/* Signals are stored with release and loaded with acquire: a rank that sees one also sees what was
 * written before it; and what a rank reads of a slot before it leaves is read before the slot's
 * next call, which begins once all are seen to have left, writes there. No other order is needed:
 * each word and each part has one writer, and neither changes while others may read it. */
void window_signal(struct window *window, const struct window_ticket *ticket, unsigned number)
{
    atomic_store_explicit(signal_of(window, ticket, window->rank), word_of(ticket, number),
                          memory_order_release);
}

#ifdef __x86_64__
/* The time stamp counter, read after all earlier loads have completed. */
static uint64_t ticks(void)
{
    _mm_lfence();
    return __rdtsc();
}
#else
static uint64_t ticks(void)
{
    return 0;
}
#endif

/* Notes how long a signal word took that had changed: it comes from its writer's cache. */
static void note_distance(struct window *window, uint64_t took)
{
    if (took > WINDOW_FAR_TICKS)
        window->far_words = WINDOW_FAR_ROUNDS * (unsigned)window->ranks;
    else
        window->far_words -= window->far_words > 0;
}

bool window_has_reached(struct window *window, const struct window_ticket *ticket, int rank,
                        unsigned number)
{
    bool is_timed = ticket->slots == &window->slots[LARGE];
    uint64_t begin = is_timed ? ticks() : 0;
    uint64_t signalled =
        atomic_load_explicit(signal_of(window, ticket, rank), memory_order_acquire);
    bool has_reached = (int64_t)(signalled - word_of(ticket, number)) >= 0;

    if (is_timed && has_reached)
        note_distance(window, ticks() - begin);
    return has_reached;
}

bool window_is_far(const struct window *window)
{
    return window->far_words > 0;
}

/* Calls may end in any order. A rank that waits for a slot polls one word of each rank, for many
 * slots at once. The word changes only when several slots have become free: else a rank that is
 * many calls ahead would take the word's line from its writer at each call. */
void window_leave(struct window *window, const struct window_ticket *ticket)
{
    struct window_slots *slots = ticket->slots;
    uint64_t last = slots->count - 1, signalled;

    slots->done_later |= (uint64_t)1 << (ticket->number & last);
    for (uint64_t bit; bit = (uint64_t)1 << (slots->done_before & last), slots->done_later & bit;
         slots->done_before++)
        slots->done_later &= ~bit;
    signalled = slots->done_before - slots->done_before % slots->publish_every;
    if (signalled == slots->done_published)
        return;
    slots->done_published = signalled;
    atomic_store_explicit(done_of(window, slots, window->rank), signalled, memory_order_release);
}
