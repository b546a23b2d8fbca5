/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/accelerator/device/blas.h"

#include "lib/constants/checks_constants.h"
#include "validate/accelerator/device/loader.h"

/* cublasStatus_t, cudaDataType_t, cublasComputeType_t, cublasOperation_t,
 * cublasLtMatmulDescAttributes_t, cublasLtMatmulPreferenceAttributes_t */
enum { SUCCESS = 0, ARCHITECTURE_MISMATCH = 8, NOT_SUPPORTED = 15 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14, R_8F_E4M3 = 28 };
enum { COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32I = 72, COMPUTE_32F_FAST_TF32 = 77 };
enum { TRANSPOSED = 1, PRODUCT_A_OPERATION = 3, PREFERENCE_WORKSPACE_BYTES = 1 };

const struct blas_format blas_formats[BLAS_PRECISIONS] = {
    [BLAS_FP64] = {"fp64", 8, 8, 52, KERNEL_VERIFY_FP64},
    [BLAS_TF32] = {"tf32", 4, 4, 23, KERNEL_VERIFY_FP32},
    [BLAS_BF16] = {"bf16", 2, 4, 7, KERNEL_VERIFY_FP32},
    [BLAS_FP16] = {"fp16", 2, 4, 10, KERNEL_VERIFY_FP32},
    [BLAS_FP8] = {"fp8", 1, 4, 3, KERNEL_VERIFY_FP32},
    [BLAS_INT8] = {"int8", 1, 4, 0, KERNEL_VERIFY_INT32},
};

static const struct {
    int type, result, compute;
} numbers[BLAS_PRECISIONS] = {
    [BLAS_FP64] = {R_64F, R_64F, COMPUTE_64F},
    [BLAS_TF32] = {R_32F, R_32F, COMPUTE_32F_FAST_TF32},
    [BLAS_BF16] = {R_16BF, R_32F, COMPUTE_32F},
    [BLAS_FP16] = {R_16F, R_32F, COMPUTE_32F},
    [BLAS_FP8] = {R_8F_E4M3, R_32F, COMPUTE_32F},
    [BLAS_INT8] = {R_8I, R_32I, COMPUTE_32I},
};

#define FUNCTION(member, name, arguments) {name, offsetof(struct blas_functions, member)},
static const struct loader_symbol symbols[] = {BLAS_FUNCTIONS(FUNCTION)};
#undef FUNCTION

static int blas_error(const char *what, int status, struct error *err)
{
    return error_set(err, "%s: error %d", what, status);
}

int blas_load(const char *path, struct blas_library *library, struct error *err)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
    enum device_outcome outcome;
    const char *name;
    void *file = loader_open_any(path, names, 2, &name, DEVICE_NO_DRIVER, &outcome, err);
    int status;

    *library = (struct blas_library){.handle = NULL};
    if (!file)
        return -1;
    if (loader_find(file, symbols, sizeof symbols / sizeof *symbols, &library->call, err) != 0)
        return error_prefix(err, "%s is too old", name);
    status = library->call.create(&library->handle);
    return status == SUCCESS ? 0 : blas_error("cublasLtCreate", status, err);
}

/* The first one that the library would take. */
static int choose(struct blas_product *product, size_t workspace_bytes)
{
    const struct blas_functions *call = &product->library->call;
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
    return found > 0 ? product->choice.status : NOT_SUPPORTED;
}

int blas_begin(const struct blas_library *library, struct device *device,
               enum blas_precision precision, unsigned long long n, struct blas_product *product,
               struct error *err)
{
    const struct blas_functions *call = &library->call;
    size_t share = (size_t)(BLAS_WORKSPACE_SHARE * (double)device->memory_bytes);
    size_t most = (size_t)BLAS_WORKSPACE_MB << 20;
    const int transposed = TRANSPOSED;
    int status;

    *product = (struct blas_product){.library = library, .precision = precision};
    status = call->product_create(&product->product, numbers[precision].compute,
                                  numbers[precision].result);
    if (status == SUCCESS)
        status = call->product_set(product->product, PRODUCT_A_OPERATION, &transposed,
                                   sizeof transposed);
    if (status == SUCCESS)
        status =
            call->layout_create(&product->layouts[0], numbers[precision].type, n, n, (long long)n);
    if (status == SUCCESS)
        status = call->layout_create(&product->layouts[1], numbers[precision].result, n, n,
                                     (long long)n);
    if (status == SUCCESS)
        status = choose(product, share < most ? share : most);
    if (status == NOT_SUPPORTED || status == ARCHITECTURE_MISMATCH)
        return BLAS_UNSUPPORTED;
    if (status != SUCCESS)
        return blas_error("cublasLtMatmulAlgoGetHeuristic", status, err);
    return product->choice.workspace_bytes > 0
               ? device_allocate(device, product->choice.workspace_bytes, &product->workspace, err)
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

/* The library's matrices have columns in one piece: its D is ours with i and j exchanged. */
int blas_multiply(const struct blas_product *product, device_address a, device_address b,
                  device_address d, unsigned times, struct error *err)
{
    static const float ones[2] = {1, 0};
    static const double doubles[2] = {1, 0};
    static const int integers[2] = {1, 0};
    const void *alpha = &ones[0], *beta = &ones[1];
    void *in = product->layouts[0], *out = product->layouts[1];

    if (product->precision == BLAS_FP64)
        alpha = &doubles[0], beta = &doubles[1];
    else if (product->precision == BLAS_INT8)
        alpha = &integers[0], beta = &integers[1];
    for (unsigned i = 0; i < times; i++) {
        int status = product->library->call.multiply(
            product->library->handle, product->product, alpha, b, in, a, in, beta, d, out, d, out,
            product->choice.algorithm, product->workspace, product->choice.workspace_bytes, NULL);

        if (status != SUCCESS)
            return blas_error("cublasLtMatmul", status, err);
    }
    return 0;
}
