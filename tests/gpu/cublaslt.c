/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libcublasLt.so.12: square products D = A^T B of the data types that muster-gpu
 * uses, on the processor. A product advances the simulated clock of the device (cuda.c) by its
 * operations. Prototypes and constants: cublasLt.h and library_types.h of CUDA 12; with
 * -DSTAND_IN_HIP it is libhipblaslt.so.0 (hip.h). Keys of the state: README.md. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/gpu/hip.h"
#include "tests/gpu/state.h"

#ifdef STAND_IN_HIP
enum { OK = 0, ALLOC_FAILED = 2, INVALID_VALUE = 3, INTERNAL_ERROR = 6, NOT_SUPPORTED = 7 };
enum { C_64F = 7, C_TF32 = 6, C_32F = 2, C_32I = 9, NOT_TRANSPOSED = 111, TRANSPOSED = 112 };
enum { A_OPERATION = 0, ALGORITHM_WORDS = 3 };
#else
enum { OK = 0, ALLOC_FAILED = 3, INVALID_VALUE = 7, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };
enum { C_64F = 70, C_TF32 = 77, C_32F = 68, C_32I = 72, NOT_TRANSPOSED = 0, TRANSPOSED = 1 };
enum { A_OPERATION = 3, ALGORITHM_WORDS = 8 };
#endif
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14, R_8F_E4M3 = 28 };
enum { R_8F_E4M3_FNUZ = 1000 /* HIP */ };
enum { WORKSPACE = 256, MAGIC = 0x6d757374 };

/* ns for a multiplication and addition of elements of two bytes; proportional to their size */
static const double operation_ns = 100;

struct product {
    int compute, scale, operation[2];
};

struct layout {
    int type;
    uint64_t rows, columns;
    int64_t stride;
};

struct choice {
    uint64_t algorithm[ALGORITHM_WORDS];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};

static int (*pass_time)(double ns);

API(cublasLtCreate, void **handle)
{
    void *library = dlopen(DRIVER_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    void *function = library ? dlsym(library, "standin_pass_time") : NULL;
    int rv = state_enter(-1, __func__);

    memcpy(&pass_time, &function, sizeof function);
    *handle = &pass_time;
    return rv ? rv : pass_time ? OK : INTERNAL_ERROR;
}

API(cublasLtMatmulDescCreate, struct product **product, int compute, int scale)
{
    *product = calloc(1, sizeof **product);
    if (!*product)
        return ALLOC_FAILED;
    **product = (struct product){compute, scale, {NOT_TRANSPOSED, NOT_TRANSPOSED}};
    return OK;
}

API(cublasLtMatmulDescSetAttribute, struct product *product, int attribute, const void *value,
    size_t size)
{
    if ((attribute != A_OPERATION && attribute != A_OPERATION + 1) || size != sizeof(int))
        return INVALID_VALUE;
    memcpy(&product->operation[attribute - A_OPERATION], value, size);
    return OK;
}

API(cublasLtMatmulDescDestroy, struct product *product)
{
    free(product);
    return OK;
}

API(cublasLtMatrixLayoutCreate, struct layout **layout, int type, uint64_t rows, uint64_t columns,
    int64_t stride)
{
    *layout = calloc(1, sizeof **layout);
    if (!*layout)
        return ALLOC_FAILED;
    **layout = (struct layout){type, rows, columns, stride};
    return stride >= (int64_t)rows ? OK : INVALID_VALUE;
}

API(cublasLtMatrixLayoutDestroy, struct layout *layout)
{
    free(layout);
    return OK;
}

API(cublasLtMatmulPreferenceCreate, uint64_t **workspace_bytes)
{
    *workspace_bytes = calloc(1, sizeof **workspace_bytes);
    return *workspace_bytes ? OK : ALLOC_FAILED;
}

API(cublasLtMatmulPreferenceSetAttribute, uint64_t *workspace_bytes, int attribute,
    const void *value, size_t size)
{
    if (attribute != 1 || size != sizeof *workspace_bytes)
        return INVALID_VALUE;
    memcpy(workspace_bytes, value, size);
    return OK;
}

API(cublasLtMatmulPreferenceDestroy, uint64_t *workspace_bytes)
{
    free(workspace_bytes);
    return OK;
}

/* Whether the product is one of those that cublasLtMatmul() documents: compute type, scale type and
 * result type of each data type. */
static bool is_supported(const struct product *product, const struct layout *a,
                         const struct layout *b, const struct layout *c, const struct layout *d)
{
    static const struct {
        int type, compute, scale, result;
    } rows[] = {
        {R_64F, C_64F, R_64F, R_64F},          {R_32F, C_TF32, R_32F, R_32F},
        {R_16BF, C_32F, R_32F, R_32F},         {R_16F, C_32F, R_32F, R_32F},
        {R_8F_E4M3, C_32F, R_32F, R_32F},      {R_8I, C_32I, R_32I, R_32I},
#ifdef STAND_IN_HIP
        {R_8F_E4M3_FNUZ, C_32F, R_32F, R_32F},
#endif
    };
    char type[16];

    snprintf(type, sizeof type, "%d", a->type);
    if (state_lists(-1, "blas_without", type))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == a->type && rows[i].type == b->type &&
            rows[i].compute == product->compute && rows[i].scale == product->scale &&
            rows[i].result == c->type && rows[i].result == d->type)
            return product->operation[0] == TRANSPOSED && product->operation[1] == NOT_TRANSPOSED;
    return false;
}

#ifndef STAND_IN_OLD
API(cublasLtMatmulAlgoGetHeuristic, void *handle, const struct product *product,
    const struct layout *a, const struct layout *b, const struct layout *c, const struct layout *d,
    const uint64_t *workspace_bytes, int wanted, struct choice *choices, int *found)
{
    int rv = state_enter(-1, __func__);

    if (rv != OK)
        return rv;
    if (handle != &pass_time || wanted < 1)
        return INVALID_VALUE;
    *found = 0;
    if (!is_supported(product, a, b, c, d))
        return NOT_SUPPORTED;
    *found = 1;
    choices[0] = (struct choice){.algorithm = {MAGIC, (uint64_t)a->type}, .waves = 1};
    choices[0].workspace_bytes = *workspace_bytes >= WORKSPACE ? WORKSPACE : 0;
    return OK;
}
#endif

/* The value of a floating-point number in the layout of IEEE 754: sign, exponent, mantissa; without
 * infinity and NaN. */
static double decoded(unsigned bits, int exponent_bits, int mantissa_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
    double mantissa = (double)(bits & ((1u << mantissa_bits) - 1)) / (1 << mantissa_bits);
    double value = exponent ? ldexp(1 + mantissa, exponent - bias) : ldexp(mantissa, 1 - bias);

    return bits >> (exponent_bits + mantissa_bits) & 1 ? -value : value;
}

static double element(const void *matrix, int type, size_t index)
{
    switch (type) {
    case R_64F:
        return ((const double *)matrix)[index];
    case R_32F:
        return ((const float *)matrix)[index];
    case R_16BF:
        return decoded(((const uint16_t *)matrix)[index], 8, 7);
    case R_16F:
        return decoded(((const uint16_t *)matrix)[index], 5, 10);
    case R_8F_E4M3:
        return decoded(((const uint8_t *)matrix)[index], 4, 3);
    case R_8F_E4M3_FNUZ:
        return decoded(((const uint8_t *)matrix)[index], 4, 3) / 2;
    case R_32I:
        return ((const int32_t *)matrix)[index];
    default:
        return ((const int8_t *)matrix)[index];
    }
}

static void put(void *matrix, int type, size_t index, double value)
{
    if (type == R_64F)
        ((double *)matrix)[index] = value;
    else if (type == R_32F)
        ((float *)matrix)[index] = (float)value;
    else
        ((int32_t *)matrix)[index] = (int32_t)value;
}

API(cublasLtMatmul, void *handle, const struct product *product, const void *alpha, const void *a,
    const struct layout *a_layout, const void *b, const struct layout *b_layout, const void *beta,
    const void *c, const struct layout *c_layout, void *d, const struct layout *d_layout,
    const uint64_t *algorithm, void *workspace, size_t workspace_bytes, void *stream)
{
    static double *wide[2];
    size_t n = a_layout->rows;
    int rv = state_enter(-1, __func__), device;
    double factor = element(alpha, product->scale, 0);
    double bytes = a_layout->type == R_64F ? 8 : a_layout->type == R_32F ? 4 : 2;

    if (rv != OK)
        return rv;
    if (handle != &pass_time || !is_supported(product, a_layout, b_layout, c_layout, d_layout) ||
        algorithm[0] != MAGIC || algorithm[1] != (uint64_t)a_layout->type || c != d || stream ||
        (workspace_bytes > 0 && !workspace) || element(beta, product->scale, 0) != 0)
        return INVALID_VALUE;
    for (int i = 0; i < 2; i++) {
        double *grown = realloc(wide[i], n * n * sizeof *grown);

        if (!grown)
            return ALLOC_FAILED;
        wide[i] = grown;
        for (size_t k = 0; k < n * n; k++)
            grown[k] = element(i ? b : a, a_layout->type, k);
    }
    for (size_t column = 0; column < n; column++)
        for (size_t row = 0; row < n; row++) {
            double sum = 0;

            for (size_t k = 0; k < n; k++)
                sum += wide[0][row * n + k] * wide[1][column * n + k];
            put(d, d_layout->type, column * n + row, factor * sum);
        }
    if (a_layout->type == R_8I || a_layout->type == R_8F_E4M3 || a_layout->type == R_8F_E4M3_FNUZ)
        bytes = 1;
    device = pass_time(0);
    if (state_number(device, "blas_wrong", 0))
        ((uint8_t *)d)[n * n / 2 * sizeof(int32_t) + 2] ^= 64;
    pass_time((double)n * (double)n * (double)n * operation_ns * bytes / 2 /
              state_factor(device, "slow_tensor", 1) / state_factor(device, "slow_clock", 1));
    return OK;
}
