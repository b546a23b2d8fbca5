/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libcuda.so.1: devices whose kernels run on the processor, one thread of a block
 * after the other, as compiled by the stand-in for NVRTC (nvrtc.c). Each device has a simulated
 * clock, which does not depend on the load of this machine: a launch takes time by its basic blocks
 * and the bytes that it reads and writes, a copy by its bytes; events show that time. Prototypes
 * and constants: cuda.h of CUDA 12; with -DSTAND_IN_HIP it is libamdhip64.so.6 (hip.h). Keys of the
 * state: README.md. A kernel has one argument, of 64 bytes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "tests/gpu/hip.h"
#include "tests/gpu/state.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    PEER_ACCESS_UNSUPPORTED = 217,
    NOT_FOUND = 500,
    NOT_READY = 600,
    NOT_SUPPORTED = 801,
    ILLEGAL_ADDRESS = 700,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    TOO_MANY_PEERS = 711,
    UNKNOWN = 999
};

enum { DEVICES = 160, ALLOCATIONS = 256, PAGE = 4096 };

/* Constants that differ between CUDA and HIP. */
#ifdef STAND_IN_HIP
#define VENDOR "amd"
#define MODEL "AMD Instinct MI300X"
#define VISIBLE_DEVICES "ROCR_VISIBLE_DEVICES"
#define ERROR_NAME(cuda, hip) hip
enum { MULTIPROCESSORS = 63, THREADS_EACH = 57, MAJOR = 23, NATIVE_ATOMICS = 2 };
/* the same as in amdsmi.c */
static const unsigned buses[8] = {0x0c, 0x22, 0x38, 0x5c, 0x9f, 0xaf, 0xbf, 0xdf};
#else
#define VENDOR "nvidia"
#define MODEL "NVIDIA H100 80GB HBM3"
#define VISIBLE_DEVICES "CUDA_VISIBLE_DEVICES"
#define ERROR_NAME(cuda, hip) cuda
enum { MULTIPROCESSORS = 16, THREADS_EACH = 39, MAJOR = 75, NATIVE_ATOMICS = 3 };
/* the same as in nvml.c */
static const unsigned buses[8] = {0x18, 0x2a, 0x3a, 0x5d, 0x9a, 0xab, 0xba, 0xdb};
#endif

/* The cost model of a device: ns for a launch, for a basic block, and for a byte of memory, of a
 * link, of pinned host memory and of pageable host memory. */
static const double launch_ns = 5000, block_ns = 250, byte_ns = 100, link_ns = 50, host_ns = 500,
                    pageable_ns = 1000;

struct arguments {
    uint64_t words[8];
};

struct dim {
    unsigned x, y, z;
};

struct access { /* the last access to a byte: by which thread of which launch */
    uint32_t launch, thread, wrote;
};

static struct device {
    int index;
    bool is_hung, has_peer[DEVICES];
    int error; /* sticky, as in CUDA */
    double ns;
    uint32_t launches;
    size_t used;
} devices[DEVICES], *current;

static struct allocation {
    char *memory;
    size_t size;
    struct device *device;
    struct access *accesses;
    int file; /* the memfd of its pages; -1: none, because its size is not a multiple of PAGE */
} allocations[ALLOCATIONS];

struct event {
    struct device *device;
    double ns;
    bool is_recorded, never;
};

struct module {
    void *handle;
    struct dim *block, *thread, *block_size, *grid;
    uint64_t *blocks;
    int *lose_addition; /* set by access: the atomic addition that begins is lost */
    void (**access)(void *, unsigned, int);
};

struct function {
    struct module *module;
    void (*run)(struct arguments);
};

static bool is_initialized;

static double link_factor(int from, const char *key, int to, double standard)
{
    char name[64];

    snprintf(name, sizeof name, "%s.%d", key, to);
    return state_factor(from, name, standard);
}

/* Whether the device is lost: from the start ("lost"), or after so many launches ("lost_at"). */
static bool is_lost(int device)
{
    long long launches = state_number(device, "lost_at", 0);

    return state_number(device, "lost", 0) != 0 ||
           (launches > 0 && devices[device].launches >= launches);
}

static int enter(int device, const char *function)
{
    int rv = state_enter(device, function);

    if (rv != 0)
        return rv;
    if (!is_initialized && strcmp(function, ERROR_NAME("cuInit", "hipInit")) != 0)
        return NOT_INITIALIZED;
    if (device >= 0 && is_lost(device))
        return UNKNOWN;
    return device >= 0 ? devices[device].error : OK;
}

/* The first statement of a function: for the library (device -1), a device, the current device. */
#define ENTER(device)                                                                              \
    do {                                                                                           \
        int rv_ = enter(device, __func__);                                                         \
        if (rv_ != OK)                                                                             \
            return rv_;                                                                            \
    } while (0)
#define ENTER_CURRENT                                                                              \
    do {                                                                                           \
        if (!current)                                                                              \
            return INVALID_CONTEXT;                                                                \
        ENTER(current->index);                                                                     \
    } while (0)

/* Lists the devices that this process may use, in the order of VISIBLE_DEVICES. That numbers the
 * devices whose files the process can open ("files /dev/gpu": /dev/gpu0, ...). Returns their
 * number. */
static int visible_devices(int list[DEVICES])
{
    const char *visible = getenv(VISIBLE_DEVICES);
    const char *files = state_text(-1, "files", NULL);
    int open_ones[DEVICES], open_count = 0, count = 0, most;
    char prefix[64], path[96], *end;

    snprintf(prefix, sizeof prefix, "%.63s", files ? files : "");
    most = (int)state_number(-1, "devices", 8);
    for (int i = 0; i < DEVICES && i < most; i++) {
        int fd = -1;

        snprintf(path, sizeof path, "%s%d", prefix, i);
        if (*prefix && (fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0)
            continue;
        if (fd >= 0)
            close(fd);
        open_ones[open_count++] = i;
    }
    for (int i = 0; !visible && i < open_count; i++)
        list[count++] = open_ones[i];
    if (visible && strncmp(visible, "MIG-", 4) == 0) { /* a process gets the first instance only */
        long number = strtol(visible + 4, NULL, 10);

        list[0] = number >= 0 && number < open_count ? open_ones[number] : 0;
        return number >= 0 && number < open_count;
    }
    while (visible && *visible && count < DEVICES) {
        long number = strtol(visible, &end, 10);

        if (end == visible || number < 0 || number >= open_count)
            break;
        list[count++] = open_ones[number];
        visible = *end == ',' ? end + 1 : end;
    }
    return count;
}

static int device_count(void)
{
    int list[DEVICES];

    return visible_devices(list);
}

API(cuInit, unsigned flags)
{
    ENTER(-1);
    if (flags != 0)
        return INVALID_VALUE;
    if (access(state_path(), R_OK) != 0 || device_count() == 0 ||
        strcmp(state_text(-1, "vendor", VENDOR), VENDOR) != 0)
        return NO_DEVICE;
    is_initialized = true;
    for (int i = 0; i < DEVICES; i++)
        devices[i].index = i;
    return OK;
}

API(cuDriverGetVersion, int *version)
{
    *version = 13000;
    return OK;
}

API(cuGetErrorName, int error, const char **name)
{
    static const struct {
        int error;
        const char *name;
    } names[] = {
        {OUT_OF_MEMORY, ERROR_NAME("CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory")},
        {NO_DEVICE, ERROR_NAME("CUDA_ERROR_NO_DEVICE", "hipErrorNoDevice")},
        {ILLEGAL_ADDRESS, ERROR_NAME("CUDA_ERROR_ILLEGAL_ADDRESS", "hipErrorIllegalAddress")},
        {803, ERROR_NAME("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", NULL)},
        {UNKNOWN, ERROR_NAME("CUDA_ERROR_UNKNOWN", "hipErrorUnknown")},
    };

    *name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            *name = names[i].name;
    return *name ? OK : INVALID_VALUE;
}

API(cuDeviceGetCount, int *count)
{
    ENTER(-1);
    *count = device_count();
    return OK;
}

API(cuDeviceGet, int *device, int ordinal)
{
    int list[DEVICES];

    if (ordinal < 0 || ordinal >= visible_devices(list))
        return INVALID_DEVICE;
    ENTER(list[ordinal]);
    *device = list[ordinal];
    return OK;
}

API(cuDeviceGetName, char *name, int size, int device)
{
    ENTER(device);
    snprintf(name, (size_t)size, "%s", state_text(device, "model", MODEL));
    return OK;
}

API(cuDeviceGetPCIBusId, char *id, int size, int device)
{
    ENTER(device);
    snprintf(id, (size_t)size, "%04X:%02X:00.0", (unsigned)device / 8, buses[device % 8]);
    return OK;
}

API(cuDeviceGetAttribute, int *value, int attribute, int device)
{
    ENTER(device);
    *value = attribute == MULTIPROCESSORS ? 1
             : attribute == THREADS_EACH  ? 64
             : attribute == MAJOR         ? 9
                                          : 0;
    return OK;
}

API(cuDeviceCanAccessPeer, int *can, int device, int peer)
{
    ENTER(device);
    *can = link_factor(device, "no_peer", peer, 0) == 0;
    return OK;
}

API(cuDeviceGetP2PAttribute, int *value, int attribute, int device, int peer)
{
    ENTER(device);
    *value = attribute == NATIVE_ATOMICS && link_factor(device, "no_peer", peer, 0) == 0 &&
             state_number(device, "no_atomics", 0) == 0;
    return attribute >= 0 && attribute <= 4 ? OK : INVALID_VALUE;
}

static int enable_peer(int peer)
{
    int peers = 0;

    if (link_factor(current->index, "no_peer", peer, 0) != 0)
        return PEER_ACCESS_UNSUPPORTED;
    if (current->has_peer[peer])
        return PEER_ACCESS_ALREADY_ENABLED;
    for (int i = 0; i < DEVICES; i++)
        peers += current->has_peer[i];
    if (peers >= state_number(-1, "peers_most", DEVICES))
        return TOO_MANY_PEERS;
    current->has_peer[peer] = true;
    return OK;
}

static int disable_peer(int peer)
{
    if (!current->has_peer[peer])
        return PEER_ACCESS_NOT_ENABLED;
    current->has_peer[peer] = false;
    return OK;
}

#ifdef STAND_IN_HIP
API(hipSetDevice, int device)
{
    ENTER(device);
    current = &devices[device];
    return OK;
}

API(hipDeviceEnablePeerAccess, int peer, unsigned flags)
{
    ENTER_CURRENT;
    return flags == 0 ? enable_peer(peer) : INVALID_VALUE;
}

API(hipDeviceDisablePeerAccess, int peer)
{
    ENTER_CURRENT;
    return disable_peer(peer);
}

#ifndef STAND_IN_OLD /* since ROCm 6.0 */
API(hipGetDevicePropertiesR0600, char *properties, int device)
{
    ENTER(device);
    memset(properties, 0, 1472);
    snprintf(properties, 256, "%s", state_text(device, "model", MODEL));
    snprintf(properties + 1160, 256, "gfx942:sramecc+:xnack-");
    return OK;
}
#endif
#else
#ifndef STAND_IN_OLD
API(cuDevicePrimaryCtxSetFlags_v2, int device, unsigned flags)
{
    ENTER(device);
    return flags <= 4 ? OK : INVALID_VALUE;
}
#endif

API(cuDevicePrimaryCtxRetain, struct device **context, int device)
{
    ENTER(device);
    *context = &devices[device];
    return OK;
}

API(cuCtxSetCurrent, struct device *context)
{
    current = context;
    return OK;
}

API(cuCtxEnablePeerAccess, const struct device *peer, unsigned flags)
{
    ENTER_CURRENT;
    return flags == 0 ? enable_peer(peer->index) : INVALID_VALUE;
}

API(cuCtxDisablePeerAccess, const struct device *peer)
{
    ENTER_CURRENT;
    return peer ? disable_peer(peer->index) : INVALID_CONTEXT;
}
#endif

/* ---------------------------------------------------------------- memory */

static size_t memory_size(void)
{
    return (size_t)state_number(current->index, "memory_usable", 512 << 10);
}

API(cuMemGetInfo_v2, size_t *free_bytes, size_t *total)
{
    ENTER_CURRENT;
    *total = 512 << 10;
    *free_bytes = memory_size() > current->used ? memory_size() - current->used : 0;
    return OK;
}

/* Allocates memory. Whole pages are a memfd's, which other devices may map; else *file is -1. */
static char *take_pages(size_t size, int *file)
{
    char *pages;

    *file = -1;
    if (size % PAGE != 0)
        return aligned_alloc(256, (size + 255) / 256 * 256);
    *file = memfd_create("device", MFD_CLOEXEC);
    if (*file < 0 || ftruncate(*file, (off_t)size) != 0)
        return NULL;
    pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

API(cuMemAlloc_v2, uint64_t *address, size_t size)
{
    ENTER_CURRENT;
    if (current->used + size > memory_size())
        return OUT_OF_MEMORY;
    for (int i = 0; i < ALLOCATIONS; i++)
        if (!allocations[i].memory) {
            int file;
            char *memory = take_pages(size, &file);

            allocations[i] = (struct allocation){memory, size, current, NULL, file};
            if (state_number(-1, "races", 0))
                allocations[i].accesses = calloc(size + 1, sizeof(struct access));
            current->used += size;
            *address = (uintptr_t)allocations[i].memory;
            return allocations[i].memory ? OK : OUT_OF_MEMORY;
        }
    return OUT_OF_MEMORY;
}

static struct allocation *find(const void *address, size_t size)
{
    static struct allocation *last = allocations;

    if ((const char *)address >= last->memory && last->memory &&
        (const char *)address + size <= last->memory + last->size)
        return last;
    for (int i = 0; i < ALLOCATIONS; i++)
        if (allocations[i].memory && (const char *)address >= allocations[i].memory &&
            (const char *)address + size <= allocations[i].memory + allocations[i].size)
            return last = &allocations[i];
    return NULL;
}

API(cuMemFree_v2, uint64_t address)
{
    struct allocation *allocation = find((void *)(uintptr_t)address, 1);

    ENTER_CURRENT;
    if (!allocation || allocation->memory != (char *)(uintptr_t)address)
        return INVALID_VALUE;
    allocation->device->used -= allocation->size;
    if (allocation->file >= 0) {
        munmap(allocation->memory, allocation->size);
        close(allocation->file);
    } else {
        free(allocation->memory);
    }
    free(allocation->accesses);
    *allocation = (struct allocation){NULL, 0, NULL, NULL, -1};
    return OK;
}

#ifndef STAND_IN_OLD /* since CUDA 11.7 */
/* With bad_nic the file is one of other memory. */
API(cuMemGetHandleForAddressRange, int *file, uint64_t address, size_t size, int type,
    unsigned long long flags)
{
    const struct allocation *allocation = find((void *)(uintptr_t)address, size);

    ENTER_CURRENT;
    if (state_number(current->index, "no_dma_buf", 0) != 0)
        return NOT_SUPPORTED;
    if (!allocation || allocation->file < 0 || type != 1 || flags != 0 || size % PAGE != 0 ||
        allocation->memory != (char *)(uintptr_t)address)
        return INVALID_VALUE;
    if (state_number(current->index, "bad_nic", 0) != 0) {
        *file = memfd_create("elsewhere", MFD_CLOEXEC);
        return ftruncate(*file, (off_t)size) == 0 ? OK : UNKNOWN;
    }
    *file = fcntl(allocation->file, F_DUPFD_CLOEXEC, 0);
    return OK;
}
#endif

enum { PINNED = 64 };
static char *pinned[PINNED];
static size_t pinned_size[PINNED];

API(cuMemHostAlloc, void **memory, size_t size, unsigned flags)
{
    ENTER_CURRENT;
    for (int i = 0; i < PINNED; i++)
        if (!pinned[i]) {
            *memory = pinned[i] = malloc(size);
            pinned_size[i] = size;
            return *memory ? OK : OUT_OF_MEMORY;
        }
    return OUT_OF_MEMORY;
}

API(cuMemFreeHost, void *memory)
{
    ENTER_CURRENT;
    for (int i = 0; i < PINNED; i++)
        if (pinned[i] == memory)
            pinned[i] = NULL;
    free(memory);
    return OK;
}

static double host_cost(const void *memory)
{
    for (int i = 0; i < PINNED; i++)
        if (pinned[i] && (const char *)memory >= pinned[i] &&
            (const char *)memory < pinned[i] + pinned_size[i])
            return host_ns / state_factor(current->index, "slow_host", 1);
    return pageable_ns / state_factor(current->index, "slow_host", 1);
}

API(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t size, void *stream)
{
    ENTER_CURRENT;
    if (!find((void *)(uintptr_t)to, size))
        return INVALID_VALUE;
    memcpy((void *)(uintptr_t)to, from, size);
    current->ns += (double)size * host_cost(from);
    return OK;
}

API(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t size, void *stream)
{
    ENTER_CURRENT;
    if (!find((void *)(uintptr_t)from, size))
        return INVALID_VALUE;
    memcpy(to, (void *)(uintptr_t)from, size);
    current->ns += (double)size * host_cost(to);
    return OK;
}

API(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t size, void *stream)
{
    const struct allocation *source = find((void *)(uintptr_t)from, size),
                            *target = find((void *)(uintptr_t)to, size);
    double ns;

    ENTER_CURRENT;
    if (!source || !target)
        return INVALID_VALUE;
    ns = source->device == target->device ? 2 * byte_ns : link_ns;
    if (source->device != target->device) {
        if (!source->device->has_peer[target->device->index])
            ns = 4 * host_ns; /* by way of the host */
        ns /= link_factor(source->device->index, "slow_link", target->device->index, 1);
    }
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, size);
    if (size > 0 && source->device != target->device &&
        link_factor(source->device->index, "bad_link", target->device->index, 0) != 0)
        ((char *)(uintptr_t)to)[size / 2] ^= 4;
    current->ns += (double)size * ns;
    return OK;
}

/* ---------------------------------------------------------------- kernels */

API(cuModuleLoadData, struct module **module, const void *image)
{
    const Elf64_Ehdr *header = image;
    struct module *loaded;
    size_t size;
    char path[64];
    int fd;

    ENTER_CURRENT;
    if (memcmp(image, ELFMAG, SELFMAG) != 0)
        return INVALID_IMAGE;
    size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    fd = memfd_create("kernels", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    loaded = calloc(1, sizeof *loaded);
    if (fd < 0 || !loaded || write(fd, image, size) != (ssize_t)size)
        return OUT_OF_MEMORY;
    loaded->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded->handle) {
        fprintf(stderr, "stand-in of libcuda: %s\n", dlerror());
        return INVALID_IMAGE;
    }
    loaded->block = dlsym(loaded->handle, "blockIdx");
    loaded->thread = dlsym(loaded->handle, "threadIdx");
    loaded->block_size = dlsym(loaded->handle, "blockDim");
    loaded->grid = dlsym(loaded->handle, "gridDim");
    loaded->blocks = dlsym(loaded->handle, "standin_blocks");
    loaded->lose_addition = dlsym(loaded->handle, "standin_loses");
    loaded->access = dlsym(loaded->handle, "standin_access");
    *module = loaded; /* fd stays open: another module must not get its path */
    return OK;
}

API(cuModuleGetFunction, struct function **function, struct module *module, const char *name)
{
    void *symbol = dlsym(module->handle, name);

    ENTER_CURRENT;
    *function = symbol ? calloc(1, sizeof **function) : NULL;
    if (!*function)
        return NOT_FOUND;
    (*function)->module = module;
    memcpy(&(*function)->run, &symbol, sizeof symbol);
    return OK;
}

/* The launch that runs. */
static struct {
    uint32_t thread, writes, additions;
    void *last_written;
    const char *stack;
    uint64_t *stuck, bytes;
    const struct module *module;
    int error;
} run;

static void access_record(struct allocation *allocation, const char *address, unsigned size,
                          int is_write)
{
    size_t first = (size_t)(address - allocation->memory);

    for (size_t i = first; i < first + size; i++) {
        struct access *last = &allocation->accesses[i];
        bool is_same = last->launch == current->launches;

        if (is_same && last->thread != run.thread && (is_write || last->wrote)) {
            fprintf(stderr, "stand-in of libcuda: race of threads %u and %u\n", last->thread,
                    run.thread);
            run.error = ILLEGAL_ADDRESS;
        }
        *last =
            (struct access){current->launches, run.thread, is_write || (is_same && last->wrote)};
    }
}

/* Whether the address is in blockIdx, threadIdx, blockDim or gridDim, which are variables here. */
static bool is_index(const void *address)
{
    const struct dim *all[] = {run.module->block, run.module->thread, run.module->block_size,
                               run.module->grid};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((const char *)address >= (const char *)all[i] &&
            (const char *)address < (const char *)(all[i] + 1))
            return true;
    return false;
}

/* Whether an atomic addition there is lost. Only additions to counters, allocations of 128 bytes,
 * are; those to the list of errors are not. */
static bool is_addition_lost(const struct allocation *allocation)
{
    const int here = current->index, there = allocation->device->index;
    const long long every = here == there ? state_number(here, "lost_add", 0)
                                          : (long long)link_factor(here, "lost_add_to", there, 0);

    return every && allocation->size == 128 && ++run.additions % every == 0;
}

/* The kernels call this before each access. how: 0 a read, 1 a write, 2 an atomic addition. */
static void on_access(void *address, unsigned size, int how)
{
    const int is_write = how == 1;
    struct allocation *allocation;

    if (labs((const char *)address - run.stack) <= 1 << 16 || /* a local variable */
        is_index(address))
        return;
    allocation = find(address, size);
    if (!allocation ||
        (allocation->device != current && !current->has_peer[allocation->device->index])) {
        run.error = ILLEGAL_ADDRESS;
        return;
    }
    if (how == 2) {
        *run.module->lose_addition = is_addition_lost(allocation);
        return;
    }
    run.bytes += size;
    if (allocation->accesses)
        access_record(allocation, address, size, is_write);
    if (is_write) {
        run.writes++;
        run.last_written = address;
    } else if (run.stuck && (char *)run.stuck >= (char *)address &&
               (char *)run.stuck < (char *)address + size) {
        *run.stuck |= 16;
    }
}

static void run_kernel(const struct function *function, unsigned blocks, unsigned threads,
                       const struct arguments *arguments)
{
    const struct module *module = function->module;
    double compute, memory;

    *module->grid = (struct dim){blocks, 1, 1};
    *module->block_size = (struct dim){threads, 1, 1};
    *module->access = on_access;
    *module->blocks = 0;
    run.module = module;
    run.bytes = 0;
    for (unsigned block = 0; block < blocks && run.error == OK; block++)
        for (unsigned thread = 0; thread < threads; thread++) {
            *module->block = (struct dim){block, 0, 0};
            *module->thread = (struct dim){thread, 0, 0};
            run.thread = block * threads + thread;
            function->run(*arguments);
        }
    compute = (double)*module->blocks * block_ns / state_factor(current->index, "slow_clock", 1);
    memory = (double)run.bytes * byte_ns / state_factor(current->index, "slow_memory", 1);
    current->ns += launch_ns + (compute > memory ? compute : memory);
}

API(cuLaunchKernel, struct function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
    struct arguments **arguments, void **extra)
{
    long long wrong_every, stuck, hang;
    uint32_t bits;
    char here;

    ENTER_CURRENT;
    if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || shared || stream || extra)
        return INVALID_VALUE;
    current->launches++;
    wrong_every = state_number(current->index, "wrong_every", 0);
    stuck = state_number(current->index, "stuck_bit", -1);
    hang = state_number(current->index, "hang_kernel", 0);
    current->is_hung = current->is_hung || (hang && current->launches >= hang);
    if (current->is_hung)
        return OK;
    run.error = OK;
    run.writes = run.additions = 0;
    run.stack = &here;
    run.stuck = NULL;
    for (int i = 0; stuck >= 0 && i < ALLOCATIONS; i++) /* the offset in a large allocation */
        if (allocations[i].memory && allocations[i].device == current) {
            if ((size_t)stuck + 8 <= allocations[i].size && allocations[i].size > 1 << 18)
                run.stuck = (uint64_t *)(allocations[i].memory + stuck / 8 * 8);
        }
    run_kernel(function, grid_x, block_x, *arguments);
    if (wrong_every && current->launches % wrong_every == 0 && run.writes >= 64) {
        memcpy(&bits, run.last_written, sizeof bits);
        bits ^= 1 << 22;
        memcpy(run.last_written, &bits, sizeof bits);
    }
    current->error = run.error;
    return OK; /* later calls return the error, as with CUDA */
}

/* ---------------------------------------------------------------- events */

API(cuEventCreate, struct event **event, unsigned flags)
{
    ENTER_CURRENT;
    *event = calloc(1, sizeof **event);
    return *event ? OK : OUT_OF_MEMORY;
}

API(cuEventRecord, struct event *event, void *stream)
{
    ENTER_CURRENT;
    *event = (struct event){current, current->ns, true, current->is_hung};
    return OK;
}

API(cuEventQuery, struct event *event)
{
    ENTER_CURRENT;
    return event->never ? NOT_READY : OK;
}

API(cuEventElapsedTime, float *ms, struct event *begin, struct event *end)
{
    ENTER_CURRENT;
    if (!begin->is_recorded || !end->is_recorded || begin->never || end->never)
        return INVALID_VALUE;
    *ms = (float)((end->ns - begin->ns) / 1e6);
    return OK;
}

/* ---------------------------------------------------------------- for the stand-in for NCCL */

/* Adds work of ns to the stream of the current device; ns < 0: the work never ends. Returns the
 * index of the device, -1: no current device. */
API(standin_pass_time, double ns)
{
    if (!current)
        return -1;
    current->is_hung = current->is_hung || ns < 0;
    current->ns += ns > 0 ? ns : 0;
    return current->index;
}
