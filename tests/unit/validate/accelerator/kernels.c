/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tap.h"
#include "validate/accelerator/device/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compiles the kernels with the vendor's own compiler, which needs no device, for several
 * generations of devices. Without that compiler the test is skipped: only the stand-ins compile
 * them. */

static const char *const architectures[] = {"sm_75", "sm_80", "sm_86", "sm_90"};
static struct device_functions call;

/* Returns false if the library lacks one of the functions. */
static bool find_compiler(void *library)
{
#define FUNCTION(member, name, hip, arguments)                                                     \
    {                                                                                              \
        void *function = dlsym(library, name);                                                     \
                                                                                                   \
        memcpy(&call.member, &function, sizeof function);                                          \
        if (!function)                                                                             \
            return false;                                                                          \
    }
    DEVICE_COMPILER_FUNCTIONS(FUNCTION)
#undef FUNCTION
    return true;
}

static void compiles_for(const char *architecture)
{
    char option[64];
    const char *options[] = {option, "--std=c++17"};
    void *program = NULL;
    size_t size = 0;
    char *log;

    snprintf(option, sizeof option, "--gpu-architecture=%s", architecture);
    is_int(call.program_create(&program, kernels_source, "muster.cu", 0, NULL, NULL), 0,
           "a program for %s", architecture);
    is_int(call.compile(program, 2, options), 0, "... is compiled");
    if (call.log_size(program, &size) == 0 && (log = calloc(1, size + 1))) {
        call.log(program, log);
        is_str(log, "", "... without a warning");
        free(log);
    }
    size = 0;
    ok(call.code_size(program, &size) == 0 && size > 0, "... to code");
    call.program_destroy(&program);
}

int main(void)
{
    void *library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        library = dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
    if (!library || !find_compiler(library))
        tap_skip_all("no libnvrtc.so.13 or .12 is here");
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        compiles_for(architectures[i]);
    return tap_done();
}
