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

/* Numbers of cuda.h: CUdevice_attribute, CUctx_flags */
enum {
    ATTRIBUTE_MULTIPROCESSORS = 16,
    ATTRIBUTE_THREADS_PER_MULTIPROCESSOR = 39,
    ATTRIBUTE_MAJOR = 75,
    ATTRIBUTE_MINOR = 76,
    CONTEXT_BLOCKING_SYNC = 4, /* waits sleep and do not take a core */
    BLOCK = 64,                /* threads */
};

static const char *const kernel_names[KERNELS] = {
    "fill_factors_fp32", "fill_factors_fp64", "product_fp32",  "product_fp64",   "verify_fp32",
    "verify_fp64",       "fill_operands",     "verify_int32",  "memory_copy",    "memory_read",
    "memory_write",      "memory_triad",      "pattern_write", "pattern_verify",
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

#define FUNCTION(member, name, arguments) {name, offsetof(struct device_functions, member)},
static const struct loader_symbol driver_symbols[] = {DEVICE_DRIVER_FUNCTIONS(FUNCTION)};
static const struct loader_symbol compiler_symbols[] = {DEVICE_COMPILER_FUNCTIONS(FUNCTION)};
#undef FUNCTION

static enum device_outcome load_driver(const char *path, struct device_library *library,
                                       struct error *err)
{
    static const char name[] = "libcuda.so.1";
    enum device_outcome outcome;
    void *handle = loader_open(path, name, true, DEVICE_NO_DRIVER, &outcome, err);
    int status;

    if (!handle)
        return outcome;
    if (loader_find(handle, driver_symbols, sizeof driver_symbols / sizeof *driver_symbols,
                    &library->call, err) != 0) {
        error_prefix(err, "%s is too old", name);
        return DEVICE_TOO_OLD;
    }
    status = library->call.init(0);
    if (status == DEVICE_OK)
        status = library->call.count(&library->count);
    if (status == DEVICE_NONE || (status == DEVICE_OK && library->count == 0)) {
        error_set(err, "the driver has no device for this process");
        return DEVICE_NO_DRIVER;
    }
    if (status != DEVICE_OK) {
        library->error = device_error(library, -1, "cuInit", status, err);
        return DEVICE_FAILED;
    }
    library->call.driver_version(&library->driver_version);
    return DEVICE_USABLE;
}

static enum device_outcome load_compiler(const char *path, struct device_library *library,
                                         struct error *err)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
    enum device_outcome outcome;
    void *handle =
        loader_open_any(path, names, 2, &library->compiler, DEVICE_NO_COMPILER, &outcome, err);

    if (!handle)
        return outcome;
    if (loader_find(handle, compiler_symbols, sizeof compiler_symbols / sizeof *compiler_symbols,
                    &library->call, err) != 0) {
        error_prefix(err, "%s is too old", library->compiler);
        return DEVICE_TOO_OLD;
    }
    return DEVICE_USABLE;
}

enum device_outcome device_load(const char *path, struct device_library *library, struct error *err)
{
    enum device_outcome outcome;

    *library = (struct device_library){.count = 0};
    outcome = load_driver(path, library, err);
    return outcome == DEVICE_USABLE ? load_compiler(path, library, err) : outcome;
}

/* ---------------------------------------------------------------- a device */

#define CALL(device, function, ...)                                                                \
    do {                                                                                           \
        int status_ = (device)->library->call.function(__VA_ARGS__);                               \
        if (status_ != DEVICE_OK)                                                                  \
            return device_error((device)->library, (device)->ordinal, #function, status_, err);    \
    } while (0)

/* The last line of the compiler's log says what was wrong. */
static int compile_error(const struct device *device, void *program, int status, struct error *err)
{
    char log[4096] = "";
    size_t size = 0;

    if (program && device->library->call.log_size(program, &size) == 0 && size > 0 &&
        size <= sizeof log)
        device->library->call.log(program, log);
    log[strcspn(log, "\n")] = '\0';
    return error_set(err, "%s cannot compile the kernels for sm_%d%d: error %d%s%s",
                     device->library->compiler, device->major, device->minor, status,
                     *log ? ": " : "", log);
}

int device_load_kernels(struct device *device, struct error *err)
{
    const struct device_functions *call = &device->library->call;
    char architecture[64], *image = NULL;
    const char *options[] = {architecture, "--std=c++17"};
    void *program = NULL, *module = NULL;
    size_t size = 0;
    int status;

    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", device->major,
             device->minor);
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
        return device_error(device->library, device->ordinal, "cuModuleLoadData", status, err);
    for (int i = 0; i < KERNELS; i++)
        CALL(device, module_function, &device->kernels[i], module, kernel_names[i]);
    CALL(device, allocate, &device->errors, sizeof(struct kernel_errors));
    return DEVICE_OK;
}

int device_open(const struct device_library *library, int ordinal, struct device *device,
                struct error *err)
{
    size_t free_bytes;
    int number;

    *device = (struct device){.library = library, .ordinal = ordinal};
    CALL(device, get, &number, ordinal);
    CALL(device, name, device->name, sizeof device->name, number);
    CALL(device, pci, device->pci, sizeof device->pci, number);
    for (char *c = device->pci; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    CALL(device, attribute, &device->multiprocessors, ATTRIBUTE_MULTIPROCESSORS, number);
    CALL(device, attribute, &device->threads_each, ATTRIBUTE_THREADS_PER_MULTIPROCESSOR, number);
    CALL(device, attribute, &device->major, ATTRIBUTE_MAJOR, number);
    CALL(device, attribute, &device->minor, ATTRIBUTE_MINOR, number);
    library->call.context_flags(number, CONTEXT_BLOCKING_SYNC); /* a wish */
    CALL(device, context_retain, &device->context, number);
    CALL(device, context_set, device->context);
    CALL(device, memory_info, &free_bytes, &device->memory_bytes);
    CALL(device, event_create, &device->begin, 0);
    CALL(device, event_create, &device->end, 0);
    return DEVICE_OK;
}

int device_use(struct device *device, struct error *err)
{
    CALL(device, context_set, device->context);
    return DEVICE_OK;
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

/* Asks again and again, in longer and longer intervals: a synchronizing call may spin. */
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
    CALL(device, to_host, errors, own.errors, sizeof *errors, NULL);
    status = device_begin(device, err);
    return status == DEVICE_OK ? device_end(device, NULL, err) : status;
}
