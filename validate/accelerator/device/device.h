/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_DEVICE_H
#define MUSTER_ACCELERATOR_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/* Computing on accelerators: the driver's interface by dlopen, through one table of functions, and
 * our kernels (kernels.c), compiled for the device at run time. The build needs nothing of a
 * vendor. Tested only with stand-ins of the libraries (tests/gpu).
 *
 * The functions are those of CUDA's driver interface, with the names of its header in CUDA 12 and
 * 13 (cuda.h defines cuMemAlloc as cuMemAlloc_v2, and so on: a library has both, the older with
 * 32-bit sizes). Those of HIP in ROCm 6 and 7 have the same arguments, with hipDeviceptr_t for
 * CUdeviceptr, and the same error numbers; they are another column of the table. HIP chooses a
 * device by number, not by a context, since hipCtxEnablePeerAccess() does nothing (ROCm clr,
 * hip_peer.cpp). All handles are pointers, a device is an int, an address 64 bits.
 *
 * A driver that hangs blocks its caller forever, so all this runs in a worker process that is
 * killed at a deadline (validate/battery/gpu). A process must not fork and continue after cuInit,
 * so the worker is a separate program. It uses the device's primary context, which also works in
 * compute mode "exclusive process" and under MPS. CUDA_VISIBLE_DEVICES, as Slurm sets it, numbers
 * the devices. A MIG instance is a device like others. Modules may be loaded lazily
 * (CUDA_MODULE_LOADING), so each kernel runs once before it is timed. */

typedef unsigned long long device_address;

enum device_vendor { DEVICE_CUDA, DEVICE_HIP, DEVICE_VENDORS };

/* FUNCTION(member, name in libcuda.so.1, name in libamdhip64.so, arguments) */
#define DEVICE_DRIVER_FUNCTIONS(FUNCTION)                                                          \
    FUNCTION(init, "cuInit", "hipInit", (unsigned flags))                                          \
    FUNCTION(driver_version, "cuDriverGetVersion", "hipDriverGetVersion", (int *version))          \
    FUNCTION(error_name, "cuGetErrorName", "hipDrvGetErrorName", (int error, const char **name))   \
    FUNCTION(count, "cuDeviceGetCount", "hipGetDeviceCount", (int *count))                         \
    FUNCTION(get, "cuDeviceGet", "hipDeviceGet", (int *device, int ordinal))                       \
    FUNCTION(name, "cuDeviceGetName", "hipDeviceGetName", (char *name, int size, int device))      \
    FUNCTION(pci, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId", (char *id, int size, int device)) \
    FUNCTION(attribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute",                           \
             (int *value, int attribute, int device))                                              \
    FUNCTION(can_access_peer, "cuDeviceCanAccessPeer", "hipDeviceCanAccessPeer",                   \
             (int *can, int device, int peer))                                                     \
    FUNCTION(peer_attribute, "cuDeviceGetP2PAttribute", "hipDeviceGetP2PAttribute",                \
             (int *value, int attribute, int device, int peer))                                    \
    FUNCTION(context_flags, "cuDevicePrimaryCtxSetFlags_v2", NULL, (int device, unsigned flags))   \
    FUNCTION(context_retain, "cuDevicePrimaryCtxRetain", NULL, (void **context, int device))       \
    FUNCTION(context_set, "cuCtxSetCurrent", NULL, (void *context))                                \
    FUNCTION(enable_peer, "cuCtxEnablePeerAccess", NULL, (void *context, unsigned flags))          \
    FUNCTION(disable_peer, "cuCtxDisablePeerAccess", NULL, (void *context))                        \
    FUNCTION(use, NULL, "hipSetDevice", (int device))                                              \
    FUNCTION(enable_peer_device, NULL, "hipDeviceEnablePeerAccess", (int peer, unsigned flags))    \
    FUNCTION(disable_peer_device, NULL, "hipDeviceDisablePeerAccess", (int peer))                  \
    FUNCTION(properties, NULL, "hipGetDevicePropertiesR0600", (void *properties, int device))      \
    FUNCTION(memory_info, "cuMemGetInfo_v2", "hipMemGetInfo", (size_t * free, size_t * total))     \
    FUNCTION(allocate, "cuMemAlloc_v2", "hipMalloc", (device_address * address, size_t size))      \
    FUNCTION(release, "cuMemFree_v2", "hipFree", (device_address address))                         \
    FUNCTION(allocate_pinned, "cuMemHostAlloc", "hipHostMalloc",                                   \
             (void **memory, size_t size, unsigned flags))                                         \
    FUNCTION(release_pinned, "cuMemFreeHost", "hipHostFree", (void *memory))                       \
    FUNCTION(to_device, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync",                              \
             (device_address to, const void *from, size_t size, void *stream))                     \
    FUNCTION(to_host, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync",                                \
             (void *to, device_address from, size_t size, void *stream))                           \
    FUNCTION(copy, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync",                                   \
             (device_address to, device_address from, size_t size, void *stream))                  \
    FUNCTION(module_load, "cuModuleLoadData", "hipModuleLoadData",                                 \
             (void **module, const void *image))                                                   \
    FUNCTION(module_function, "cuModuleGetFunction", "hipModuleGetFunction",                       \
             (void **function, void *module, const char *name))                                    \
    FUNCTION(launch, "cuLaunchKernel", "hipModuleLaunchKernel",                                    \
             (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
              unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,             \
              void **arguments, void **extra))                                                     \
    FUNCTION(event_create, "cuEventCreate", "hipEventCreateWithFlags",                             \
             (void **event, unsigned flags))                                                       \
    FUNCTION(event_record, "cuEventRecord", "hipEventRecord", (void *event, void *stream))         \
    FUNCTION(event_query, "cuEventQuery", "hipEventQuery", (void *event))                          \
    FUNCTION(event_ms, "cuEventElapsedTime", "hipEventElapsedTime",                                \
             (float *ms, void *begin, void *end))

/* Functions that older libraries lack: before CUDA 11.7, ROCm 7. NULL there. */
#define DEVICE_NEWER_FUNCTIONS(FUNCTION)                                                           \
    FUNCTION(                                                                                      \
        export_range, "cuMemGetHandleForAddressRange", "hipMemGetHandleForAddressRange",           \
        (void *handle, device_address address, size_t size, int type, unsigned long long flags))

/* The compiler, libnvrtc.so.13 or .12, libhiprtc.so.7 or .6. It makes a cubin, not PTX: a driver
 * refuses PTX of a compiler newer than itself. */
#define DEVICE_COMPILER_FUNCTIONS(FUNCTION)                                                        \
    FUNCTION(program_create, "nvrtcCreateProgram", "hiprtcCreateProgram",                          \
             (void **program, const char *source, const char *name, int header_count,              \
              const char *const *headers, const char *const *header_names))                        \
    FUNCTION(compile, "nvrtcCompileProgram", "hiprtcCompileProgram",                               \
             (void *program, int option_count, const char *const *options))                        \
    FUNCTION(log_size, "nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize",                        \
             (void *program, size_t *size))                                                        \
    FUNCTION(log, "nvrtcGetProgramLog", "hiprtcGetProgramLog", (void *program, char *log))         \
    FUNCTION(code_size, "nvrtcGetCUBINSize", "hiprtcGetCodeSize", (void *program, size_t *size))   \
    FUNCTION(code, "nvrtcGetCUBIN", "hiprtcGetCode", (void *program, char *code))                  \
    FUNCTION(program_destroy, "nvrtcDestroyProgram", "hiprtcDestroyProgram", (void **program))

struct device_functions { /* NULL: the vendor has none */
#define FUNCTION(member, cuda, hip, arguments) int(*member) arguments;
    DEVICE_DRIVER_FUNCTIONS(FUNCTION)
    DEVICE_NEWER_FUNCTIONS(FUNCTION)
    DEVICE_COMPILER_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

enum device_status {
    DEVICE_OK = 0,
    DEVICE_OUT_OF_MEMORY = 2,    /* CUDA_ERROR_OUT_OF_MEMORY */
    DEVICE_NONE = 100,           /* CUDA_ERROR_NO_DEVICE */
    DEVICE_NOT_READY = 600,      /* CUDA_ERROR_NOT_READY: the event is not yet reached */
    DEVICE_ALREADY_ENABLED = 704 /* CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED */
};

/* Why devices cannot be used. */
enum device_outcome {
    DEVICE_USABLE,
    DEVICE_NO_DRIVER,   /* no library of the driver, or it finds no device */
    DEVICE_NO_COMPILER, /* only the driver's library was found */
    DEVICE_TOO_OLD,     /* a library lacks a function */
    DEVICE_UNSAFE,      /* other users could change a library */
    DEVICE_FAILED,      /* an error of the driver */
};

struct device_library {
    enum device_vendor vendor;
    struct device_functions call;
    int driver_version;   /* 13000: CUDA 13.0 */
    int count;            /* devices that this process may use */
    int error;            /* with DEVICE_FAILED: the driver's error number */
    const char *compiler; /* "libnvrtc.so.12" */
};

/* Loads the libraries from the directories of path ("/a:/b") or as dlopen finds them, and starts
 * the driver: that of HIP if that of CUDA is missing or finds no device. Returns the outcome;
 * unless it is DEVICE_USABLE, err has the reason. */
enum device_outcome device_load(const char *path, struct device_library *library,
                                struct error *err);

enum kernel {
    KERNEL_FILL_FACTORS_FP32,
    KERNEL_FILL_FACTORS_FP64,
    KERNEL_PRODUCT_FP32,
    KERNEL_PRODUCT_FP64,
    KERNEL_VERIFY_FP32,
    KERNEL_VERIFY_FP64,
    KERNEL_FILL_OPERANDS,
    KERNEL_VERIFY_INT32,
    KERNEL_MEMORY_COPY,
    KERNEL_MEMORY_READ,
    KERNEL_MEMORY_WRITE,
    KERNEL_MEMORY_TRIAD,
    KERNEL_ATOMIC_ADD,
    KERNEL_PATTERN_WRITE,
    KERNEL_PATTERN_VERIFY,
    KERNELS
};

/* The argument of all kernels: kernels.c has the same. All members are 8 bytes long. */
struct kernel_work {
    device_address to, from, other, errors;
    unsigned long long count, seed, pattern, base;
};

/* What the verifying kernels write at `errors`: the number of wrong elements, and for the first
 * ones found the index, the value found and the value expected. Zero it before. */
enum { KERNEL_ERRORS = 16 };
struct kernel_errors {
    unsigned long long count;
    struct {
        unsigned long long index, found, expected;
    } first[KERNEL_ERRORS];
};

struct device {
    const struct device_library *library;
    int ordinal, number;    /* number: the driver's */
    char name[96], pci[16]; /* pci as the kernel writes it: "0000:1a:00.0" */
    char architecture[64];  /* for the compiler: "sm_90", "gfx942:sramecc+:xnack-" */
    int multiprocessors, threads_each;
    size_t memory_bytes;
    void *context; /* HIP: NULL */
    void *kernels[KERNELS];
    void *begin, *end; /* events */
    device_address errors;
};

/* Opens a device: its context and events, for copies. Returns a device_status, or -1 for an error
 * that is not the driver's, with err, as do all functions below. The context exists until the
 * process ends. The device opened last is used; device_use() chooses another. */
int device_open(const struct device_library *library, int ordinal, struct device *device,
                struct error *err);
int device_use(struct device *device, struct error *err);

/* Enables access of the used device to the memory of the peer. Sets *can to whether the driver
 * supports it, and *has_atomics to whether it supports atomics there. */
int device_enable_peer(struct device *device, const struct device *peer, bool *can,
                       bool *has_atomics, struct error *err);

/* Disables what device_enable_peer() enabled: without NVSwitch a device can have eight peers at a
 * time, over all processes (CUDA C++ Programming Guide, "Peer-to-Peer Memory Access"). */
void device_disable_peer(struct device *device, const struct device *peer);

/* Compiles our kernels for the device (0.3 to 1 s) and loads them. */
int device_load_kernels(struct device *device, struct error *err);

/* Starts the kernel `count` times, on blocks of 64 threads, and waits. ms: the device's time; may
 * be NULL. */
int device_run(struct device *device, enum kernel kernel, unsigned blocks, unsigned count,
               const struct kernel_work *work, float *ms, struct error *err);

/* Allocates memory of the device. */
int device_allocate(const struct device *device, size_t size, device_address *address,
                    struct error *err);

/* Exports device memory as a dma-buf, by whose file descriptor other devices access it. address and
 * size: multiples of a page. The caller closes *fd; -1: the driver or its library does not support
 * it. */
int device_export(const struct device *device, device_address address, size_t size, int *fd,
                  struct error *err);

/* Copies to the device, or from it, and waits. */
int device_copy(struct device *device, device_address address, void *host, size_t size,
                bool is_to_device, struct error *err);

/* Returns the number of blocks that fill the device. */
unsigned device_blocks(const struct device *device);

/* Runs a verifying kernel, and waits for its result. */
int device_verify(struct device *device, enum kernel kernel, const struct kernel_work *work,
                  struct kernel_errors *errors, struct error *err);

/* Measure the device's time between the two calls; device_end() waits. */
int device_begin(struct device *device, struct error *err);
int device_end(struct device *device, float *ms, struct error *err);

/* Increases *us and sleeps for it, in microseconds, between two polls. Set *us to 0 before the
 * first call. */
void device_pause(unsigned *us);

/* Sets err to "allocate of device 3: CUDA_ERROR_OUT_OF_MEMORY (2)". Returns status. */
int device_error(const struct device_library *library, int ordinal, const char *what, int status,
                 struct error *err);

/* The source of the kernels (kernels.c), a text. */
extern const char kernels_source[];

#endif
