/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_BLAS_H
#define MUSTER_ACCELERATOR_BLAS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "validate/accelerator/device/device.h"

/* Matrix products by the vendor's library, in the precisions of its matrix units: cublasLt or
 * hipBLASLt by dlopen. Tested only with stand-ins (tests/gpu).
 *
 * Functions and numbers from cublasLt.h and library_types.h of CUDA 12 and 13, and hipblaslt.h,
 * hipblas-common.h and library_types.h of ROCm 6 and 7, which have other numbers. Calls use the
 * device whose context is current, in the default stream. */

/* cublasLtMatmulHeuristicResult_t, hipblasLtMatmulHeuristicResult_t: the algorithm, in 8 words or
 * 3, the bytes of workspace it needs, a status as int, and members that are not used. */
struct blas_choice {
    unsigned long long words[12];
};

/* FUNCTION(member, name in libcublasLt.so, name in libhipblaslt.so, arguments) */
#define BLAS_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(create, "cublasLtCreate", "hipblasLtCreate", (void **handle))                         \
    FUNCTION(product_create, "cublasLtMatmulDescCreate", "hipblasLtMatmulDescCreate",              \
             (void **product, int compute, int scale))                                             \
    FUNCTION(product_set, "cublasLtMatmulDescSetAttribute", "hipblasLtMatmulDescSetAttribute",     \
             (void *product, int attribute, const void *value, size_t size))                       \
    FUNCTION(product_destroy, "cublasLtMatmulDescDestroy", "hipblasLtMatmulDescDestroy",           \
             (void *product))                                                                      \
    FUNCTION(layout_create, "cublasLtMatrixLayoutCreate", "hipblasLtMatrixLayoutCreate",           \
             (void **layout, int type, unsigned long long rows, unsigned long long columns,        \
              long long stride))                                                                   \
    FUNCTION(layout_destroy, "cublasLtMatrixLayoutDestroy", "hipblasLtMatrixLayoutDestroy",        \
             (void *layout))                                                                       \
    FUNCTION(preference_create, "cublasLtMatmulPreferenceCreate",                                  \
             "hipblasLtMatmulPreferenceCreate", (void **preference))                               \
    FUNCTION(preference_set, "cublasLtMatmulPreferenceSetAttribute",                               \
             "hipblasLtMatmulPreferenceSetAttribute",                                              \
             (void *preference, int attribute, const void *value, size_t size))                    \
    FUNCTION(preference_destroy, "cublasLtMatmulPreferenceDestroy",                                \
             "hipblasLtMatmulPreferenceDestroy", (void *preference))                               \
    FUNCTION(choose, "cublasLtMatmulAlgoGetHeuristic", "hipblasLtMatmulAlgoGetHeuristic",          \
             (void *handle, void *product, void *a, void *b, void *c, void *d, void *preference,   \
              int wanted, struct blas_choice *choices, int *found))                                \
    FUNCTION(multiply, "cublasLtMatmul", "hipblasLtMatmul",                                        \
             (void *handle, void *product, const void *alpha, device_address a, void *a_layout,    \
              device_address b, void *b_layout, const void *beta, device_address c,                \
              void *c_layout, device_address d, void *d_layout,                                    \
              const unsigned long long *algorithm, device_address workspace,                       \
              size_t workspace_bytes, void *stream))

struct blas_functions {
#define FUNCTION(member, cuda, hip, arguments) int(*member) arguments;
    BLAS_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

struct blas_library {
    struct blas_functions call;
    enum device_vendor vendor;
    void *handle; /* NULL: not loaded */
};

/* The precision of A and B. C and D are fp32; fp64 for BLAS_FP64, int32 for BLAS_INT8. */
enum blas_precision {
    BLAS_FP64,
    BLAS_TF32,
    BLAS_BF16,
    BLAS_FP16,
    BLAS_FP8, /* E4M3; with HIP, if the device lacks it, its FNUZ variant */
    BLAS_INT8,
    BLAS_PRECISIONS
};

struct blas_format {
    const char *name;        /* "bf16" */
    int bytes, result_bytes; /* of an element */
    int mantissa_bits;       /* 0: an integer; kernels.c encodes values by it */
    enum kernel verify;
};
extern const struct blas_format blas_formats[BLAS_PRECISIONS];

/* Loads libcublasLt.so.13 or .12, libhipblaslt.so.1 or .0 from the directories of path ("/a:/b") or
 * as dlopen finds it. Returns 0, or -1 with err. */
int blas_load(const char *path, enum device_vendor vendor, struct blas_library *library,
              struct error *err);

struct blas_product {
    const struct blas_library *library;
    enum blas_precision precision;
    void *product, *layouts[2]; /* of A and B, of C and D */
    device_address workspace;
    size_t workspace_bytes;
    float alpha; /* for formats whose result is fp32 */
    struct blas_choice choice;
};

/* Prepares a product of square matrices of n columns, a multiple of 64: D[i][j] is the sum of
 * A[i][k] times B[j][k], all with contiguous rows. Returns 0; BLAS_UNSUPPORTED if the device has no
 * such product; or with err -1 for an error of the library, of whatever cause, or the result of
 * device_allocate() if there is no memory for the workspace. Call blas_end() in each case. */
enum { BLAS_UNSUPPORTED = -2 };
int blas_begin(const struct blas_library *library, struct device *device,
               enum blas_precision precision, unsigned long long n, struct blas_product *product,
               struct error *err);
void blas_end(const struct device *device, struct blas_product *product);

/* Starts the product `times` times. Returns 0, or -1 with err. */
int blas_multiply(const struct blas_product *product, device_address a, device_address b,
                  device_address d, unsigned times, struct error *err);

#endif
