/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/products.h"

#include <math.h>

#include "validate/accelerator/device/blas.h"

enum { THREADS = 64, SEED = 4711 };

static const struct {
    enum kernel fill, product, verify;
    size_t size;
} precisions[PRECISIONS] = {
    {KERNEL_FILL_FACTORS_FP32, KERNEL_PRODUCT_FP32, KERNEL_VERIFY_FP32, 4},
    {KERNEL_FILL_FACTORS_FP64, KERNEL_PRODUCT_FP64, KERNEL_VERIFY_FP64, 8},
};

struct product {
    device_address memory[3]; /* of A, B, C */
    struct kernel_work fill, multiply, verify;
    unsigned blocks;
    enum kernel kernel, verifier;
    const struct blas_product *blas; /* instead of the kernel; NULL: the kernel */
};

/* Returns as many columns as give each thread that fits on the device its 8 by 8 elements. */
static unsigned long long columns_of(const struct device *device)
{
    double threads = (double)device->multiprocessors * device->threads_each;
    unsigned long long n = (unsigned long long)sqrt(threads * 64) / 64 * 64;

    return n < 64 ? 64 : n > 8192 ? 8192 : n;
}

static int product_begin(struct device *device, const size_t sizes[3], enum kernel fill,
                         struct product *product, struct error *err)
{
    unsigned long long n = columns_of(device);
    int status = 0;

    for (int i = 0; i < 3 && status == 0; i++)
        status = device_allocate(device, n * n * sizes[i], &product->memory[i], err);
    if (status != 0)
        return status;
    product->blocks = (unsigned)((n / 8 * (n / 8) + THREADS - 1) / THREADS);
    product->fill.to = product->memory[0];
    product->fill.other = product->memory[1];
    product->fill.count = n;
    product->fill.seed = SEED;
    product->multiply = (struct kernel_work){.to = product->memory[2],
                                             .from = product->memory[0],
                                             .other = product->memory[1],
                                             .count = n};
    product->verify = product->fill;
    product->verify.from = product->memory[2];
    return device_run(device, fill, device_blocks(device), 1, &product->fill, NULL, err);
}

static int own_begin(struct device *device, enum precision precision, struct product *product,
                     struct error *err)
{
    size_t size = precisions[precision].size;

    *product = (struct product){.kernel = precisions[precision].product,
                                .verifier = precisions[precision].verify};
    return product_begin(device, (size_t[]){size, size, size}, precisions[precision].fill, product,
                         err);
}

static void product_end(const struct device *device, const struct product *product)
{
    for (int i = 0; i < 3; i++)
        if (product->memory[i])
            device->library->call.release(product->memory[i]);
}

static int multiply(struct device *device, const struct product *product, unsigned times, float *ms,
                    struct error *err)
{
    int status;

    if (!product->blas)
        return device_run(device, product->kernel, product->blocks, times, &product->multiply, ms,
                          err);
    status = device_begin(device, err);
    if (status == 0)
        status = blas_multiply(product->blas, product->memory[0], product->memory[1],
                               product->memory[2], times, err);
    return status == 0 ? device_end(device, ms, err) : status;
}

static int verify(struct device *device, const struct product *product,
                  struct worker_answer *answer, struct error *err)
{
    return worker_verify(device, product->verifier, &product->verify, answer, err);
}

static int measure(struct device *device, const struct product *product,
                   struct worker_answer *answer, struct error *err)
{
    double n = (double)product->multiply.count;
    float ms = 0;
    unsigned times;
    int status = multiply(device, product, 1, &ms, err);

    times = worker_times(ms);
    if (status == 0)
        status = multiply(device, product, times, &ms, err);
    if (status == 0)
        status = verify(device, product, answer, err);
    answer->value = 2 * n * n * n * times / ms / 1e6;
    return status;
}

int product_compute(struct device *device, enum precision precision, struct worker_answer *answer,
                    struct error *err)
{
    struct product product;
    int status = own_begin(device, precision, &product, err);

    if (status == 0)
        status = measure(device, &product, answer, err);
    product_end(device, &product);
    return status;
}

int product_repeat(struct device *device, int amount, struct worker_answer *answer,
                   struct error *err)
{
    struct product product;
    int status = own_begin(device, PRECISION_FP32, &product, err);

    for (int i = 0; i < amount && status == 0; i++) {
        status = multiply(device, &product, 1, NULL, err);
        if (status == 0)
            status = verify(device, &product, answer, err);
        answer->value = i + 1;
    }
    product_end(device, &product);
    return status;
}

int product_blas(const char *path, struct device *device, enum blas_precision precision,
                 struct worker_answer *answer, struct error *err)
{
    static struct blas_library library;
    const struct blas_format *format = &blas_formats[precision];
    struct blas_product blas = {.library = &library};
    struct product product = {.verifier = format->verify,
                              .blas = &blas,
                              .fill = {.base = (unsigned long long)format->bytes,
                                       .pattern = (unsigned long long)format->mantissa_bits}};
    size_t sizes[3] = {(size_t)format->bytes, (size_t)format->bytes, (size_t)format->result_bytes};
    int status = library.handle ? 0 : blas_load(path, device->library->vendor, &library, err);

    if (status != 0)
        return status;
    status = blas_begin(&library, device, precision, columns_of(device), &blas, err);
    if (status == BLAS_UNSUPPORTED) { /* there is nothing to be measured */
        blas_end(device, &blas);
        return 0;
    }
    if (status == 0)
        status = product_begin(device, sizes, KERNEL_FILL_OPERANDS, &product, err);
    if (status == 0)
        status = measure(device, &product, answer, err);
    product_end(device, &product);
    blas_end(device, &blas);
    return status;
}
