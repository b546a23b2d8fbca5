/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/device/blas.h"

#include <string.h>

#include "lib/constants/checks_constants.h"
#include "validate/accelerator/device/loader.h"

/* cudaDataType_t and hipDataType; the numbers are the same for both vendors except those below */
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14, R_8F_E4M3 = 28 };
enum { R_8F_E4M3_FNUZ = 1000 };
enum { SUCCESS = 0, ARCHITECTURE_MISMATCH = 8, PREFERENCE_WORKSPACE_BYTES = 1 };
enum compute { COMPUTE_32F, COMPUTE_64F, COMPUTE_32I, COMPUTE_TF32, COMPUTES };

static const struct {
    const char *libraries[2];            /* the newest first */
    int not_supported;                   /* cublasStatus_t, hipblasStatus_t */
    int transposed, product_a_operation; /* ...Operation_t, ...MatmulDescAttributes_t */
    int algorithm_words;
    int computes[COMPUTES]; /* ...ComputeType_t */
} vendors[DEVICE_VENDORS] = {
    [DEVICE_CUDA] = {{"libcublasLt.so.13", "libcublasLt.so.12"}, 15, 1, 3, 8, {68, 70, 72, 77}},
    [DEVICE_HIP] = {{"libhipblaslt.so.1", "libhipblaslt.so.0"}, 7, 112, 0, 3, {2, 7, 9, 6}},
};

const struct blas_format blas_formats[BLAS_PRECISIONS] = {
    [BLAS_FP64] = {"fp64", 8, 8, 52, KERNEL_VERIFY_FP64},
    [BLAS_TF32] = {"tf32", 4, 4, 23, KERNEL_VERIFY_FP32},
    [BLAS_BF16] = {"bf16", 2, 4, 7, KERNEL_VERIFY_FP32},
    [BLAS_FP16] = {"fp16", 2, 4, 10, KERNEL_VERIFY_FP32},
    [BLAS_FP8] = {"fp8", 1, 4, 3, KERNEL_VERIFY_FP32},
    [BLAS_INT8] = {"int8", 1, 4, 0, KERNEL_VERIFY_INT32},
};

static const struct {
    int type, result;
    enum compute compute;
} numbers[BLAS_PRECISIONS] = {
    [BLAS_FP64] = {R_64F, R_64F, COMPUTE_64F},    [BLAS_TF32] = {R_32F, R_32F, COMPUTE_TF32},
    [BLAS_BF16] = {R_16BF, R_32F, COMPUTE_32F},   [BLAS_FP16] = {R_16F, R_32F, COMPUTE_32F},
    [BLAS_FP8] = {R_8F_E4M3, R_32F, COMPUTE_32F}, [BLAS_INT8] = {R_8I, R_32I, COMPUTE_32I},
};

#define FUNCTION(member, cuda, hip, arguments)                                                     \
    {{cuda, hip}, offsetof(struct blas_functions, member)},
static const struct loader_symbol symbols[] = {BLAS_FUNCTIONS(FUNCTION)};
#undef FUNCTION

#define BLAS_ERROR(library, member, status, err)                                                   \
    error_set(err, "%s: error %d",                                                                 \
              loader_name(symbols, (library)->vendor, offsetof(struct blas_functions, member)),    \
              status)

int blas_load(const char *path, enum device_vendor vendor, struct blas_library *library,
              struct error *err)
{
    enum device_outcome outcome;
    const char *name;
    void *file =
        loader_open_any(path, vendors[vendor].libraries, 2, &name, DEVICE_NO_DRIVER, &outcome, err);
    int status;

    *library = (struct blas_library){.vendor = vendor};
    if (!file)
        return -1;
    if (loader_find(file, name, symbols, sizeof symbols / sizeof *symbols, vendor, &library->call,
                    err) != 0)
        return -1;
    status = library->call.create(&library->handle);
    return status == SUCCESS ? 0 : BLAS_ERROR(library, create, status, err);
}

/* Chooses the algorithm that the library prefers. Returns a status of the library. */
static int choose(struct blas_product *product, size_t workspace_bytes)
{
    const struct blas_functions *call = &product->library->call;
    const int words = vendors[product->library->vendor].algorithm_words;
    void *preference = NULL, *in = product->layouts[0], *out = product->layouts[1];
    unsigned long long bytes = workspace_bytes;
    int found = 0, status = call->preference_create(&preference);

    if (status == SUCCESS)
        status = call->preference_set(preference, PREFERENCE_WORKSPACE_BYTES, &bytes, sizeof bytes);
    if (status == SUCCESS)
        status = call->choose(product->library->handle, product->product, in, in, out, out,
                              preference, 1, &product->choice, &found);
    if (preference)
        call->preference_destroy(preference);
    if (status != SUCCESS)
        return status;
    if (found < 1)
        return vendors[product->library->vendor].not_supported;
    product->workspace_bytes = product->choice.words[words];
    memcpy(&status, &product->choice.words[words + 1], sizeof status);
    return status;
}

/* Returns a status of the library. */
static int prepare(struct blas_product *product, int type, unsigned long long n,
                   size_t workspace_bytes)
{
    const struct blas_functions *call = &product->library->call;
    const enum device_vendor vendor = product->library->vendor;
    const int result = numbers[product->precision].result;
    int status = call->product_create(
        &product->product, vendors[vendor].computes[numbers[product->precision].compute], result);

    if (status == SUCCESS)
        status = call->product_set(product->product, vendors[vendor].product_a_operation,
                                   &vendors[vendor].transposed, sizeof(int));
    if (status == SUCCESS)
        status = call->layout_create(&product->layouts[0], type, n, n, (long long)n);
    if (status == SUCCESS)
        status = call->layout_create(&product->layouts[1], result, n, n, (long long)n);
    return status == SUCCESS ? choose(product, workspace_bytes) : status;
}

int blas_begin(const struct blas_library *library, struct device *device,
               enum blas_precision precision, unsigned long long n, struct blas_product *product,
               struct error *err)
{
    size_t share = (size_t)(BLAS_WORKSPACE_SHARE * (double)device->memory_bytes);
    size_t most = (size_t)BLAS_WORKSPACE_MB << 20;
    int status;

    most = share < most ? share : most;
    *product = (struct blas_product){.library = library, .precision = precision, .alpha = 1};
    status = prepare(product, numbers[precision].type, n, most);
    /* In the FNUZ variant of E4M3 (AMD's gfx94x) the same bits are half the value. */
    if (status != SUCCESS && library->vendor == DEVICE_HIP && precision == BLAS_FP8) {
        blas_end(device, product);
        *product = (struct blas_product){.library = library, .precision = precision, .alpha = 4};
        status = prepare(product, R_8F_E4M3_FNUZ, n, most);
    }
    if (status == vendors[library->vendor].not_supported || status == ARCHITECTURE_MISMATCH)
        return BLAS_UNSUPPORTED;
    if (status != SUCCESS)
        return BLAS_ERROR(library, choose, status, err);
    return product->workspace_bytes > 0
               ? device_allocate(device, product->workspace_bytes, &product->workspace, err)
               : 0;
}

void blas_end(const struct device *device, struct blas_product *product)
{
    const struct blas_functions *call = &product->library->call;

    for (int i = 0; i < 2; i++)
        if (product->layouts[i])
            call->layout_destroy(product->layouts[i]);
    if (product->product)
        call->product_destroy(product->product);
    if (product->workspace)
        device->library->call.release(product->workspace);
}

/* The library's matrices have contiguous columns: its D is ours with i and j exchanged. */
int blas_multiply(const struct blas_product *product, device_address a, device_address b,
                  device_address d, unsigned times, struct error *err)
{
    const float floats[2] = {product->alpha, 0};
    static const double doubles[2] = {1, 0};
    static const int integers[2] = {1, 0};
    const void *alpha = &floats[0], *beta = &floats[1];
    void *in = product->layouts[0], *out = product->layouts[1];

    if (product->precision == BLAS_FP64)
        alpha = &doubles[0], beta = &doubles[1];
    else if (product->precision == BLAS_INT8)
        alpha = &integers[0], beta = &integers[1];
    for (unsigned i = 0; i < times; i++) {
        int status = product->library->call.multiply(
            product->library->handle, product->product, alpha, b, in, a, in, beta, d, out, d, out,
            product->choice.words, product->workspace, product->workspace_bytes, NULL);

        if (status != SUCCESS)
            return BLAS_ERROR(product->library, multiply, status, err);
    }
    return 0;
}
