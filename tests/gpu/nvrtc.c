/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnvrtc.so.12: the C compiler compiles kernels, as C, to a shared object, which
 * takes the place of the cubin. Each read and write of a kernel becomes a call, as with the thread
 * sanitizer, and each basic block is counted: the stand-in for libcuda computes the time from
 * these, and detects races and accesses out of bounds. Prototypes: nvrtc.h of CUDA 12; with
 * -DSTAND_IN_HIP it is libhiprtc.so.6 (hip.h). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/hip.h"
#include "tests/gpu/state.h"

#define EXPORT __attribute__((visibility("default")))

enum { OK, OUT_OF_MEMORY, PROGRAM_CREATION_FAILURE, INVALID_INPUT, COMPILATION = 6 };

#ifdef STAND_IN_HIP
static const char target[] = "--offload-arch=gfx942:sramecc+:xnack-";
#else
static const char target[] = "--gpu-architecture=sm_90";
#endif

struct program {
    char *source, *code;
    size_t size;
    char log[2048];
};

static const char before[] =
    "typedef struct { unsigned x, y, z; } standin_dim;\n"
    "extern standin_dim blockIdx, threadIdx, blockDim, gridDim;\n"
    "typedef struct { float x, y, z, w; } __attribute__((aligned(16))) float4;\n"
    "unsigned long long atomicAdd(unsigned long long *, unsigned long long);\n"
    "#define __global__\n"
    "#define __device__\n"
    "#line 1 \"kernels\"\n";

static const char runtime[] =
    "typedef unsigned long long word;\n"
    "struct { unsigned x, y, z; } blockIdx, threadIdx, blockDim, gridDim;\n"
    "word standin_blocks;\n"
    "void (*standin_access)(void *, unsigned, int);\n"
    "void __sanitizer_cov_trace_pc(void) { standin_blocks++; }\n"
    "void __tsan_init(void) {}\n"
    "void __tsan_func_entry(void *a) { (void)a; }\n"
    "void __tsan_func_exit(void) {}\n"
    "static void hook(void *a, unsigned n, int w) { standin_access(a, n, w); }\n"
    "#define BOTH(n) void __tsan_read##n(void *a) { hook(a, n, 0); }\\\n"
    "    void __tsan_write##n(void *a) { hook(a, n, 1); }\n"
    "BOTH(1) BOTH(2) BOTH(4) BOTH(8) BOTH(16)\n"
    "void __tsan_unaligned_read16(void *a) { hook(a, 16, 0); }\n"
    "void __tsan_unaligned_write16(void *a) { hook(a, 16, 1); }\n"
    "void __tsan_read_range(void *a, word n) { hook(a, n, 0); }\n"
    "void __tsan_write_range(void *a, word n) { hook(a, n, 1); }\n"
    "int standin_loses;\n"
    "word atomicAdd(word *a, word b) { word old; hook(a, 8, 2); old = *a; if (!standin_loses) *a "
    "+= b; return old; }\n";

API(nvrtcCreateProgram, struct program **program, const char *source, const char *name,
    int header_count, const char *const *headers, const char *const *names)
{
    if (header_count != 0)
        return INVALID_INPUT;
    *program = calloc(1, sizeof **program);
    if (!*program)
        return OUT_OF_MEMORY;
    (*program)->source = strdup(source);
    return (*program)->source ? OK : OUT_OF_MEMORY;
}

static int put(const char *directory, const char *name, const char *head, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "we");
    return file && fputs(head, file) >= 0 && fputs(text, file) >= 0 && fclose(file) == 0 ? 0 : -1;
}

/* The content of the file, NUL-terminated and to be freed; NULL if it cannot be read. */
static char *get(const char *directory, const char *name, size_t *size)
{
    char path[256], *text = NULL;
    FILE *file;
    long length;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "re");
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0) {
        rewind(file);
        text = calloc(1, (size_t)length + 1);
        *size = text ? fread(text, 1, (size_t)length, file) : 0;
    }
    fclose(file);
    return text;
}

/* Sets the directory ("cache" of the state) and the file name of the compiled code of this source.
 * Returns whether the state has a cache. */
static bool cache_find(const struct program *program, char directory[128], char name[32])
{
    const char *texts[] = {before, runtime, program->source}, *cache;
    unsigned long long hash = 14695981039346656037ULL; /* FNV-1a */

    for (int i = 0; i < 3; i++)
        for (const char *c = texts[i]; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
    cache = state_text(-1, "cache", NULL);
    snprintf(directory, 128, "%.127s", cache ? cache : "");
    snprintf(name, 32, "kernels-%016llx", hash);
    return cache != NULL;
}

/* Stores the code in the cache, whole or not at all. A failure is ignored: the next process
 * compiles the source again. */
static void cache_put(const struct program *program, const char *directory, const char *name)
{
    char path[192], written[200];
    int fd;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(written, sizeof written, "%s.XXXXXX", path);
    fd = mkstemp(written);
    if (fd < 0)
        return;
    if (write(fd, program->code, program->size) != (ssize_t)program->size ||
        rename(written, path) != 0)
        unlink(written);
    close(fd);
}

API(nvrtcCompileProgram, struct program *program, int count, const char *const *options)
{
    char directory[] = "/tmp/muster-nvrtc-XXXXXX", command[1024], cache[128], name[32], *log;
    size_t size = 0;
    bool has_cache = cache_find(program, cache, name);
    int rv = state_enter(-1, __func__);

    for (int i = 0; i < count; i++)
        if (strcmp(options[i], target) != 0 && strcmp(options[i], "--std=c++17") != 0)
            return INVALID_INPUT;
    if (rv == 0 && has_cache && (program->code = get(cache, name, &program->size)))
        return OK;
    if (rv != 0 || !mkdtemp(directory))
        return rv ? rv : PROGRAM_CREATION_FAILURE;
    if (put(directory, "kernels.c", before, program->source) == 0 &&
        put(directory, "runtime.c", "", runtime) == 0) {
        snprintf(command, sizeof command,
                 "cd %s && unset LD_PRELOAD && { cc -std=gnu11 -O1 -fPIC -fsanitize=thread "
                 "-fsanitize-coverage=trace-pc -c kernels.c && "
                 "cc -O1 -fPIC -shared -o code kernels.o runtime.c; } >log 2>&1 </dev/null",
                 directory);
        rv = system(command) == 0 ? OK : COMPILATION;
    }
    program->code = get(directory, "code", &program->size);
    log = get(directory, "log", &size);
    snprintf(program->log, sizeof program->log, "%s", log ? log : "");
    free(log);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command) != 0 || !program->code)
        return COMPILATION;
    if (has_cache && rv == OK)
        cache_put(program, cache, name);
    return rv;
}

API(nvrtcGetProgramLogSize, struct program *program, size_t *size)
{
    *size = strlen(program->log) + 1;
    return OK;
}

API(nvrtcGetProgramLog, struct program *program, char *log)
{
    memcpy(log, program->log, strlen(program->log) + 1);
    return OK;
}

#ifndef STAND_IN_OLD /* since 11.1 */
API(nvrtcGetCUBINSize, struct program *program, size_t *size)
{
    *size = program->size;
    return program->code ? OK : INVALID_INPUT;
}

API(nvrtcGetCUBIN, struct program *program, char *code)
{
    memcpy(code, program->code, program->size);
    return OK;
}
#endif

API(nvrtcDestroyProgram, struct program **program)
{
    free((*program)->source);
    free((*program)->code);
    free(*program);
    *program = NULL;
    return OK;
}
