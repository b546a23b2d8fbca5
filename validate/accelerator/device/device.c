/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/accelerator/device/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/constants/checks_constants.h"
#include "validate/accelerator/device/loader.h"

enum {
    CONTEXT_BLOCKING_SYNC = 4, /* CUctx_flags: waits sleep and do not take a core */
    PROPERTIES_BYTES = 4096,   /* hipDeviceProp_tR0600 has 1472 */
    PROPERTIES_NAME = 256,     /* the first bytes, the name */
    BLOCK = 64,                /* threads */
    DMA_BUF_FILE = 1,          /* CUmemRangeHandleType, hipMemRangeHandleType */
};

/* Libraries, the newest first; numbers of CUdevice_attribute and hipDeviceAttribute_t,
 * CUdevice_P2PAttribute and hipDeviceP2PAttr. */
static const struct {
    const char *drivers[2], *compilers[2];
    const char *target; /* the compiler's option */
    int multiprocessors, threads_each, native_atomics;
} vendors[DEVICE_VENDORS] = {
    [DEVICE_CUDA] = {{"libcuda.so.1", NULL},
                     {"libnvrtc.so.13", "libnvrtc.so.12"},
                     "--gpu-architecture",
                     16,
                     39,
                     3},
    [DEVICE_HIP] = {{"libamdhip64.so.7", "libamdhip64.so.6"},
                    {"libhiprtc.so.7", "libhiprtc.so.6"},
                    "--offload-arch",
                    63,
                    57,
                    2},
};
enum { CUDA_ATTRIBUTE_MAJOR = 75, CUDA_ATTRIBUTE_MINOR = 76 };

static const char *const kernel_names[KERNELS] = {
    "fill_factors_fp32", "fill_factors_fp64", "product_fp32", "product_fp64",  "verify_fp32",
    "verify_fp64",       "fill_operands",     "verify_int32", "memory_copy",   "memory_read",
    "memory_write",      "memory_triad",      "atomic_add",   "pattern_write", "pattern_verify",
};

int device_error(const struct device_library *library, int ordinal, const char *what, int status,
                 struct error *err)
{
    const char *name = NULL;

    if (!library->call.error_name || library->call.error_name(status, &name) != 0 || !name)
        name = "error";
    if (ordinal < 0)
        error_set(err, "%s: %s (%d)", what, name, status);
    else
        error_set(err, "%s of device %d: %s (%d)", what, ordinal, name, status);
    return status;
}

/* ---------------------------------------------------------------- libraries */

#define FUNCTION(member, cuda, hip, arguments)                                                     \
    {{cuda, hip}, offsetof(struct device_functions, member)},
static const struct loader_symbol driver_symbols[] = {DEVICE_DRIVER_FUNCTIONS(FUNCTION)};
static const struct loader_symbol newer_symbols[] = {DEVICE_NEWER_FUNCTIONS(FUNCTION)};
static const struct loader_symbol compiler_symbols[] = {DEVICE_COMPILER_FUNCTIONS(FUNCTION)};
#undef FUNCTION

/* Opens the newest driver library that is there. On failure err is that of the newest. */
static void *open_driver(const char *path, enum device_vendor vendor, const char **name,
                         enum device_outcome *outcome, struct error *err)
{
    struct error older;
    void *handle =
        loader_open(path, *name = vendors[vendor].drivers[0], true, DEVICE_NO_DRIVER, outcome, err);

    if (!handle && *outcome == DEVICE_NO_DRIVER && vendors[vendor].drivers[1]) {
        handle = loader_open(path, *name = vendors[vendor].drivers[1], true, DEVICE_NO_DRIVER,
                             outcome, &older);
        if (*outcome == DEVICE_UNSAFE)
            *err = older;
    }
    return handle;
}

static enum device_outcome load_driver(const char *path, enum device_vendor vendor,
                                       struct device_library *library, struct error *err)
{
    enum device_outcome outcome;
    const char *name;
    void *handle = open_driver(path, vendor, &name, &outcome, err);
    struct error missing;
    int status;

    *library = (struct device_library){.vendor = vendor};
    if (!handle)
        return outcome;
    if (loader_find(handle, name, driver_symbols, sizeof driver_symbols / sizeof *driver_symbols,
                    vendor, &library->call, err) != 0)
        return DEVICE_TOO_OLD;
    loader_find(handle, name, newer_symbols, sizeof newer_symbols / sizeof *newer_symbols, vendor,
                &library->call, &missing);
    status = library->call.init(0);
    if (status == DEVICE_OK)
        status = library->call.count(&library->count);
    if (status == DEVICE_NONE || (status == DEVICE_OK && library->count == 0)) {
        error_set(err, "the driver has no device for this process");
        return DEVICE_NO_DRIVER;
    }
    if (status != DEVICE_OK) {
        library->error = device_error(library, -1, driver_symbols[0].names[vendor], status, err);
        return DEVICE_FAILED;
    }
    library->call.driver_version(&library->driver_version);
    return DEVICE_USABLE;
}

static enum device_outcome load_compiler(const char *path, struct device_library *library,
                                         struct error *err)
{
    enum device_outcome outcome;
    void *handle = loader_open_any(path, vendors[library->vendor].compilers, 2, &library->compiler,
                                   DEVICE_NO_COMPILER, &outcome, err);

    if (!handle)
        return outcome;
    return loader_find(handle, library->compiler, compiler_symbols,
                       sizeof compiler_symbols / sizeof *compiler_symbols, library->vendor,
                       &library->call, err) == 0
               ? DEVICE_USABLE
               : DEVICE_TOO_OLD;
}

enum device_outcome device_load(const char *path, struct device_library *library, struct error *err)
{
    struct error hip, cuda = {""};
    enum device_outcome outcome = load_driver(path, DEVICE_CUDA, library, err);

    if (outcome == DEVICE_NO_DRIVER) {
        cuda = *err;
        outcome = load_driver(path, DEVICE_HIP, library, &hip);
        *err = hip;
        if (outcome == DEVICE_NO_DRIVER)
            error_set(err, "%.200s; %.200s", cuda.text, hip.text);
    }
    return outcome == DEVICE_USABLE ? load_compiler(path, library, err) : outcome;
}

/* ---------------------------------------------------------------- a device */

#define CALL(device, function, ...)                                                                \
    do {                                                                                           \
        int status_ = (device)->library->call.function(__VA_ARGS__);                               \
        if (status_ != DEVICE_OK)                                                                  \
            return device_error((device)->library, (device)->ordinal, #function, status_, err);    \
    } while (0)

/* Sets err to the first line of the compiler's log. */
static int compile_error(const struct device *device, void *program, int status, struct error *err)
{
    char log[4096] = "";
    size_t size = 0;

    if (program && device->library->call.log_size(program, &size) == 0 && size > 0 &&
        size <= sizeof log)
        device->library->call.log(program, log);
    log[strcspn(log, "\n")] = '\0';
    return error_set(err, "%s cannot compile the kernels for %s: error %d%s%s",
                     device->library->compiler, device->architecture, status, *log ? ": " : "",
                     log);
}

int device_load_kernels(struct device *device, struct error *err)
{
    const struct device_functions *call = &device->library->call;
    char target[128], *image = NULL;
    const char *options[] = {target, "--std=c++17"};
    void *program = NULL, *module = NULL;
    size_t size = 0;
    int status;

    snprintf(target, sizeof target, "%s=%s", vendors[device->library->vendor].target,
             device->architecture);
    status = call->program_create(&program, kernels_source, "muster.cu", 0, NULL, NULL);
    if (status == 0)
        status = call->compile(program, 2, options);
    if (status == 0)
        status = call->code_size(program, &size);
    if (status != 0)
        return compile_error(device, program, status, err);
    image = malloc(size + 1);
    if (!image)
        return error_set(err, "out of memory for the kernels: %m");
    status = call->code(program, image);
    call->program_destroy(&program);
    if (status == 0)
        status = call->module_load(&module, image);
    free(image);
    if (status != 0)
        return device_error(device->library, device->ordinal, "module_load", status, err);
    for (int i = 0; i < KERNELS; i++)
        CALL(device, module_function, &device->kernels[i], module, kernel_names[i]);
    CALL(device, allocate, &device->errors, sizeof(struct kernel_errors));
    return DEVICE_OK;
}

/* Finds the architecture for the compiler. That of HIP is in the properties. Their layout is not
 * needed: no other text there starts with "gfx". */
static int find_architecture(struct device *device, struct error *err)
{
    char properties[PROPERTIES_BYTES] = "";
    const char *found;
    int major, minor;

    if (device->library->vendor == DEVICE_CUDA) {
        CALL(device, attribute, &major, CUDA_ATTRIBUTE_MAJOR, device->number);
        CALL(device, attribute, &minor, CUDA_ATTRIBUTE_MINOR, device->number);
        snprintf(device->architecture, sizeof device->architecture, "sm_%d%d", major, minor);
        return DEVICE_OK;
    }
    CALL(device, properties, properties, device->number);
    properties[sizeof properties - 1] = '\0';
    found = memmem(properties + PROPERTIES_NAME, sizeof properties - PROPERTIES_NAME, "gfx", 3);
    if (!found)
        return error_set(err, "device %d: the driver does not tell its architecture",
                         device->ordinal);
    snprintf(device->architecture, sizeof device->architecture, "%.63s", found);
    return DEVICE_OK;
}

static int open_context(struct device *device, struct error *err)
{
    if (device->library->vendor == DEVICE_CUDA) {
        device->library->call.context_flags(device->number, CONTEXT_BLOCKING_SYNC); /* a wish */
        CALL(device, context_retain, &device->context, device->number);
    }
    return device_use(device, err);
}

int device_open(const struct device_library *library, int ordinal, struct device *device,
                struct error *err)
{
    size_t free_bytes;
    int status;

    *device = (struct device){.library = library, .ordinal = ordinal};
    CALL(device, get, &device->number, ordinal);
    CALL(device, name, device->name, sizeof device->name, device->number);
    CALL(device, pci, device->pci, sizeof device->pci, device->number);
    for (char *c = device->pci; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    CALL(device, attribute, &device->multiprocessors, vendors[library->vendor].multiprocessors,
         device->number);
    CALL(device, attribute, &device->threads_each, vendors[library->vendor].threads_each,
         device->number);
    status = find_architecture(device, err);
    if (status == DEVICE_OK)
        status = open_context(device, err);
    if (status != DEVICE_OK)
        return status;
    CALL(device, memory_info, &free_bytes, &device->memory_bytes);
    CALL(device, event_create, &device->begin, 0);
    CALL(device, event_create, &device->end, 0);
    return DEVICE_OK;
}

int device_use(struct device *device, struct error *err)
{
    if (device->library->vendor == DEVICE_HIP)
        CALL(device, use, device->number);
    else
        CALL(device, context_set, device->context);
    return DEVICE_OK;
}

int device_enable_peer(struct device *device, const struct device *peer, bool *can,
                       bool *has_atomics, struct error *err)
{
    const struct device_functions *call = &device->library->call;
    int is_able = 0, atomics = 0, status;

    CALL(device, can_access_peer, &is_able, device->number, peer->number);
    *can = is_able != 0;
    *has_atomics = false;
    if (!*can)
        return DEVICE_OK;
    if (call->peer_attribute(&atomics, vendors[device->library->vendor].native_atomics,
                             device->number, peer->number) == DEVICE_OK)
        *has_atomics = atomics != 0;
    status = call->enable_peer_device ? call->enable_peer_device(peer->number, 0)
                                      : call->enable_peer(peer->context, 0);
    return status == DEVICE_OK || status == DEVICE_ALREADY_ENABLED
               ? DEVICE_OK
               : device_error(device->library, device->ordinal, "enable_peer", status, err);
}

void device_disable_peer(struct device *device, const struct device *peer)
{
    const struct device_functions *call = &device->library->call;

    if (call->disable_peer_device)
        call->disable_peer_device(peer->number);
    else
        call->disable_peer(peer->context);
}

int device_begin(struct device *device, struct error *err)
{
    CALL(device, event_record, device->begin, NULL);
    return DEVICE_OK;
}

void device_pause(unsigned *us)
{
    unsigned next = *us + *us / 16;

    *us = next < DEVICE_POLL_FIRST_US  ? DEVICE_POLL_FIRST_US
          : next > DEVICE_POLL_MOST_US ? DEVICE_POLL_MOST_US
                                       : next;
    usleep(*us);
}

/* Polls at growing intervals: a synchronizing call may spin. */
int device_end(struct device *device, float *ms, struct error *err)
{
    unsigned us = 0;
    int status;

    CALL(device, event_record, device->end, NULL);
    while ((status = device->library->call.event_query(device->end)) == DEVICE_NOT_READY)
        device_pause(&us);
    if (status != DEVICE_OK)
        return device_error(device->library, device->ordinal, "a kernel or copy", status, err);
    if (ms)
        CALL(device, event_ms, ms, device->begin, device->end);
    return DEVICE_OK;
}

int device_run(struct device *device, enum kernel kernel, unsigned blocks, unsigned count,
               const struct kernel_work *work, float *ms, struct error *err)
{
    struct kernel_work argument = *work;
    void *arguments[] = {&argument};
    int status = device_begin(device, err);

    if (status != DEVICE_OK)
        return status;
    for (unsigned i = 0; i < count; i++)
        CALL(device, launch, device->kernels[kernel], blocks, 1, 1, BLOCK, 1, 1, 0, NULL, arguments,
             NULL);
    return device_end(device, ms, err);
}

int device_allocate(const struct device *device, size_t size, device_address *address,
                    struct error *err)
{
    CALL(device, allocate, address, size);
    return DEVICE_OK;
}

int device_export(const struct device *device, device_address address, size_t size, int *fd,
                  struct error *err)
{
    *fd = -1;
    if (!device->library->call.export_range)
        return error_set(err, "the driver's library has no function that makes a dma-buf");
    CALL(device, export_range, fd, address, size, DMA_BUF_FILE, 0);
    return DEVICE_OK;
}

int device_copy(struct device *device, device_address address, void *host, size_t size,
                bool is_to_device, struct error *err)
{
    int status;

    if (is_to_device)
        CALL(device, to_device, address, host, size, NULL);
    else
        CALL(device, to_host, host, address, size, NULL);
    status = device_begin(device, err);
    return status == DEVICE_OK ? device_end(device, NULL, err) : status;
}

unsigned device_blocks(const struct device *device)
{
    return (unsigned)(device->multiprocessors * device->threads_each / BLOCK);
}

int device_verify(struct device *device, enum kernel kernel, const struct kernel_work *work,
                  struct kernel_errors *errors, struct error *err)
{
    struct kernel_work own = *work;
    int status;

    *errors = (struct kernel_errors){.count = 0};
    own.errors = device->errors;
    CALL(device, to_device, own.errors, errors, sizeof *errors, NULL);
    status = device_run(device, kernel, device_blocks(device), 1, &own, NULL, err);
    if (status != DEVICE_OK)
        return status;
    return device_copy(device, own.errors, errors, sizeof *errors, false, err);
}
