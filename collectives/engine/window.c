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
#include <sys/uio.h>
#include <unistd.h>

#include "collectives/plan/plan.h"

enum { PAGE = 4096, LINE = 64 };

/* What a rank has told in a slot, on a line of its own: ticket << 32 | number, so that it only ever
 * grows, and wraps around some day. A rank that has left told the greatest number. Behind it where
 * its buffers are, in its own memory. */
struct told {
    _Alignas(LINE) _Atomic uint64_t word;
    uint64_t buffers[WINDOW_BUFFERS];
};

/* What a rank can be reached by, and two numbers there to try it with: one to be read by all, one
 * of those that each writes to itself. */
struct peer {
    int pid;
    uint64_t address, nonce;
    uint64_t marks; /* the address of an array, a number for each rank */
};

/* Slots of one size. */
struct window_slots {
    unsigned count;
    size_t part_bytes;
    uint64_t tickets;   /* taken */
    size_t told, parts; /* where they begin: what was told, slot by slot; parts, rank by rank */
};

enum size { SMALL, LARGE, SIZES };

struct window {
    int rank, ranks;
    struct window_slots slots[SIZES];
    size_t bytes;       /* of everything */
    char *base;         /* 8 bytes that no other file has, then slots */
    struct peer *peers; /* [ranks]; NULL: they may not be reached */
};

static const uint64_t left_number = UINT32_MAX;

/* A small part is by a line longer than a power of two, so that not all slots' first lines compete
 * for the same few places of a cache. */
static const struct window_slots kinds_of_slots[SIZES] = {
    [SMALL] = {.count = WINDOW_SMALL_SLOTS, .part_bytes = PLAN_WINDOW_SMALL_BYTES + LINE},
    [LARGE] = {.count = WINDOW_SLOTS, .part_bytes = PLAN_WINDOW_BYTES}};

static size_t at_page(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* What one rank writes is on pages of its own. */
static size_t rank_bytes(const struct window_slots *slots)
{
    return at_page(slots->count * slots->part_bytes);
}

static void lay_out(struct window *window)
{
    size_t at = LINE;

    for (int size = 0; size < SIZES; size++) {
        struct window_slots *slots = &window->slots[size];

        *slots = kinds_of_slots[size];
        slots->tickets = slots->count; /* so that every ticket has one before it */
        slots->told = at;
        at += slots->count * (size_t)window->ranks * sizeof(struct told);
    }
    at = at_page(at);
    for (int size = 0; size < SIZES; size++) {
        window->slots[size].parts = at;
        at += (size_t)window->ranks * rank_bytes(&window->slots[size]);
    }
    window->bytes = at;
}

static struct told *told_of(const struct window *window, struct window_ticket ticket, int rank)
{
    const struct window_slots *slots = ticket.slots;
    struct told *told = (struct told *)(void *)(window->base + slots->told);

    return &told[(size_t)(ticket.number % slots->count) * (size_t)window->ranks + (size_t)rank];
}

/* How another process finds the first rank's memory, and knows that it is that. */
struct offer {
    int pid, descriptor; /* -1: there is none */
    uint64_t nonce;
};

static void *map(int descriptor, size_t bytes)
{
    void *base =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);

    return base == MAP_FAILED ? NULL : base;
}

/* Memory without a name: what /dev/shm holds, and what is left of it, does not matter, and nothing
 * is left behind whichever way a program ends. */
static struct offer offer_memory(struct window *window)
{
    struct offer offer = {.pid = getpid(), .descriptor = -1};
    int descriptor = memfd_create("muster-collectives", MFD_CLOEXEC);

    if (descriptor < 0)
        return offer;
    if (getrandom(&offer.nonce, sizeof offer.nonce, 0) == sizeof offer.nonce &&
        ftruncate(descriptor, (off_t)window->bytes) == 0)
        window->base = map(descriptor, window->bytes);
    if (window->base == NULL) {
        close(descriptor);
        return offer;
    }
    memcpy(window->base, &offer.nonce, sizeof offer.nonce);
    offer.descriptor = descriptor;
    return offer;
}

/* In another PID namespace the number is another process's, or nobody's. */
static void accept_memory(struct window *window, const struct offer *offer)
{
    char path[64];
    int descriptor;

    if (offer->descriptor < 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", offer->pid, offer->descriptor);
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return;
    if (lseek(descriptor, 0, SEEK_END) == (off_t)window->bytes)
        window->base = map(descriptor, window->bytes);
    close(descriptor);
    if (window->base != NULL && memcmp(window->base, &offer->nonce, sizeof offer->nonce) != 0) {
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

/* Whether the peer is the process of this number: in another PID namespace it would be another one,
 * which is only read. */
static bool is_reached(const struct peer *peer, const struct peer *own, int rank)
{
    uint64_t found, nonce = own->nonce;

    return reach(process_vm_readv, peer->pid, peer->address, &found, sizeof found) == 0 &&
           found == peer->nonce &&
           reach(process_vm_writev, peer->pid, peer->marks + (uint64_t)rank * sizeof nonce, &nonce,
                 sizeof nonce) == 0;
}

/* Each reads a number out of every other's memory and writes one there. All ranks come to the same
 * end. */
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
    /* all have written then, and none goes on before it has been read */
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
    struct offer offer = {0, -1, 0};
    int rank, has_it, all_have = 0;

    PMPI_Comm_rank(comm, &rank);
    if (window != NULL) {
        window->rank = rank;
        PMPI_Comm_size(comm, &window->ranks);
        lay_out(window);
        if (rank == 0)
            offer = offer_memory(window);
    }
    if (PMPI_Bcast(&offer, sizeof offer, MPI_BYTE, 0, comm) != MPI_SUCCESS)
        offer.descriptor = -1;
    if (window != NULL && rank != 0)
        accept_memory(window, &offer);
    has_it = window != NULL && window->base != NULL;
    if (PMPI_Allreduce(&has_it, &all_have, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        all_have = 0;
    if (rank == 0 && offer.descriptor >= 0)
        close(offer.descriptor);
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

void window_announce(struct window *window, struct window_ticket ticket,
                     const void *const buffers[WINDOW_BUFFERS])
{
    for (int i = 0; i < WINDOW_BUFFERS; i++)
        told_of(window, ticket, window->rank)->buffers[i] = (uint64_t)(uintptr_t)buffers[i];
}

int window_pull(const struct window *window, struct window_ticket ticket, int peer, int buffer,
                size_t offset, void *out, size_t bytes)
{
    return reach(process_vm_readv, window->peers[peer].pid,
                 told_of(window, ticket, peer)->buffers[buffer] + offset, out, bytes);
}

int window_push(const struct window *window, struct window_ticket ticket, int peer, int buffer,
                size_t offset, const void *from, size_t bytes)
{
    return reach(process_vm_writev, window->peers[peer].pid,
                 told_of(window, ticket, peer)->buffers[buffer] + offset, (void *)(uintptr_t)from,
                 bytes);
}

struct window_ticket window_take_ticket(struct window *window, size_t part_bytes)
{
    struct window_slots *slots =
        &window->slots[part_bytes <= PLAN_WINDOW_SMALL_BYTES ? SMALL : LARGE];

    return (struct window_ticket){slots, slots->tickets++};
}

static uint64_t word_of(uint64_t ticket_number, uint64_t number)
{
    return ticket_number << 32 | number;
}

static bool has_told(const struct window *window, struct window_ticket ticket, int rank,
                     uint64_t word)
{
    uint64_t told =
        atomic_load_explicit(&told_of(window, ticket, rank)->word, memory_order_acquire);

    return (int64_t)(told - word) >= 0;
}

bool window_is_free(const struct window *window, struct window_ticket ticket)
{
    uint64_t before = ticket.number - ticket.slots->count;

    if (before < ticket.slots->count) /* the first in its slot */
        return true;
    for (int rank = 0; rank < window->ranks; rank++)
        if (!has_told(window, ticket, rank, word_of(before, left_number)))
            return false;
    return true;
}

char *window_part(const struct window *window, struct window_ticket ticket, int rank)
{
    const struct window_slots *slots = ticket.slots;

    return window->base + slots->parts + (size_t)rank * rank_bytes(slots) +
           (size_t)(ticket.number % slots->count) * slots->part_bytes;
}

/* Told with release and seen with acquire: what a rank has written before it tells, it has written
 * for who sees that; and what it has read of a slot before it leaves, it has read before the slot's
 * next call, which begins when all are seen to have left, writes there. No other order is needed: a
 * word has one writer, a part too, and none of it changes while others may read. */
static void tell(struct window *window, struct window_ticket ticket, uint64_t number)
{
    atomic_store_explicit(&told_of(window, ticket, window->rank)->word,
                          word_of(ticket.number, number), memory_order_release);
}

void window_signal(struct window *window, struct window_ticket ticket, unsigned number)
{
    tell(window, ticket, number);
}

bool window_has_reached(const struct window *window, struct window_ticket ticket, int rank,
                        unsigned number)
{
    return has_told(window, ticket, rank, word_of(ticket.number, number));
}

void window_leave(struct window *window, struct window_ticket ticket)
{
    tell(window, ticket, left_number);
}
