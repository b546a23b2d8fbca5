/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/bf16_gemm.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "trainer/compute/bf16_pack.h"
#include "trainer/compute/cpu.h"

/* oneDNN makes a kernel for each kind of product. A thread keeps those that it has used: a step has
 * some dozens of kinds. */
struct kernel {
    struct bf16_gemm kind; /* its pointers are NULL */
    dnnl_primitive_t primitive;
    dnnl_memory_t a, b, c, scratch;
    size_t scratch_bytes;
};

struct kernels {
    struct kernel *kernels;
    size_t count;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};

static void check(dnnl_status_t status, const struct bf16_gemm *gemm, const char *what)
{
    if (status == dnnl_success)
        return;
    fprintf(stderr, "muster-train: oneDNN: %s for a %d x %d x %d bfloat16 matrix product: %s\n",
            what, gemm->m, gemm->n, gemm->k,
            status == dnnl_out_of_memory ? "out of memory" : dnnl_status2str(status));
    exit(1);
}

/* The two releases of the library that are in use differ in how a product is described. */
typedef dnnl_memory_desc_t matrix;

#if DNNL_VERSION_MAJOR >= 3

typedef const_dnnl_memory_desc_t passed_matrix;

static passed_matrix pass(const matrix *made)
{
    return *made;
}

static dnnl_status_t describe(dnnl_data_type_t type, const dnnl_dims_t sizes,
                              dnnl_format_tag_t layout, matrix *made)
{
    return dnnl_memory_desc_create_with_tag(made, 2, sizes, type, layout);
}

static void forget(matrix *made)
{
    dnnl_memory_desc_destroy(*made);
}

static dnnl_status_t describe_product(dnnl_engine_t engine, matrix *a, matrix *b, matrix *c,
                                      dnnl_primitive_attr_t attributes,
                                      dnnl_primitive_desc_t *product)
{
    return dnnl_matmul_primitive_desc_create(product, engine, *a, *b, NULL, *c, attributes);
}

static dnnl_status_t append_sum(dnnl_post_ops_t operations)
{
    return dnnl_post_ops_append_sum(operations, 1, 0, dnnl_data_type_undef);
}

#else

typedef const dnnl_memory_desc_t *passed_matrix;

static passed_matrix pass(const matrix *made)
{
    return made;
}

static dnnl_status_t describe(dnnl_data_type_t type, const dnnl_dims_t sizes,
                              dnnl_format_tag_t layout, matrix *made)
{
    return dnnl_memory_desc_init_by_tag(made, 2, sizes, type, layout);
}

static void forget(matrix *made)
{
    (void)made;
}

static dnnl_status_t describe_product(dnnl_engine_t engine, matrix *a, matrix *b, matrix *c,
                                      dnnl_primitive_attr_t attributes,
                                      dnnl_primitive_desc_t *product)
{
    dnnl_matmul_desc_t matmul;
    dnnl_status_t status = dnnl_matmul_desc_init(&matmul, a, b, NULL, c);

    return status == dnnl_success
               ? dnnl_primitive_desc_create(product, &matmul, attributes, engine, NULL)
               : status;
}

static dnnl_status_t append_sum(dnnl_post_ops_t operations)
{
    return dnnl_post_ops_append_sum(operations, 1);
}

#endif

static matrix matrix_of(const struct bf16_gemm *gemm, dnnl_data_type_t type, int rows, int columns,
                        dnnl_format_tag_t layout)
{
    dnnl_dims_t sizes = {rows, columns};
    matrix made;

    check(describe(type, sizes, layout, &made), gemm, "cannot create a memory descriptor");
    return made;
}

static dnnl_primitive_attr_t attributes_of(const struct bf16_gemm *gemm)
{
    dnnl_primitive_attr_t attributes;
    dnnl_post_ops_t operations;

    check(dnnl_primitive_attr_create(&attributes), gemm, "cannot create attributes");
    check(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user), gemm,
          "cannot set the scratchpad mode");
    if (!gemm->is_added)
        return attributes;
    check(dnnl_post_ops_create(&operations), gemm, "cannot set the sum post-operation");
    check(append_sum(operations), gemm, "cannot set the sum post-operation");
    check(dnnl_primitive_attr_set_post_ops(attributes, operations), gemm,
          "cannot set the sum post-operation");
    dnnl_post_ops_destroy(operations);
    return attributes;
}

static void kernel_make(const struct bf16_gemm *gemm, dnnl_engine_t engine, struct kernel *kernel)
{
    /* with these layouts of all three the library copies none of them (brgemm) */
    matrix a = matrix_of(gemm, dnnl_bf16, gemm->m, gemm->k, dnnl_ab);
    matrix b = matrix_of(gemm, dnnl_bf16, gemm->k, gemm->n, dnnl_BA16a64b2a);
    matrix c = matrix_of(gemm, dnnl_f32, gemm->m, gemm->n, dnnl_ab);
    dnnl_primitive_attr_t attributes = attributes_of(gemm);
    dnnl_primitive_desc_t product;
    passed_matrix scratch;

    check(describe_product(engine, &a, &b, &c, attributes, &product), gemm,
          "cannot create a matrix product");
    check(dnnl_primitive_create(&kernel->primitive, product), gemm, "cannot create a kernel");
    scratch = dnnl_primitive_desc_query_md(product, dnnl_query_scratchpad_md, 0);
    kernel->scratch_bytes = dnnl_memory_desc_get_size(scratch);
    check(dnnl_memory_create(&kernel->a, pass(&a), engine, DNNL_MEMORY_NONE), gemm,
          "cannot create a memory object");
    check(dnnl_memory_create(&kernel->b, pass(&b), engine, DNNL_MEMORY_NONE), gemm,
          "cannot create a memory object");
    check(dnnl_memory_create(&kernel->c, pass(&c), engine, DNNL_MEMORY_NONE), gemm,
          "cannot create a memory object");
    check(dnnl_memory_create(&kernel->scratch, scratch, engine, DNNL_MEMORY_NONE), gemm,
          "cannot create a memory object");
    dnnl_primitive_desc_destroy(product);
    dnnl_primitive_attr_destroy(attributes);
    forget(&a);
    forget(&b);
    forget(&c);
    kernel->kind = *gemm;
    kernel->kind.a = kernel->kind.b = NULL;
    kernel->kind.c = NULL;
    kernel->kind.out = NULL;
}

static bool is_of_kind(const struct bf16_gemm *gemm, const struct bf16_gemm *kind)
{
    return gemm->m == kind->m && gemm->n == kind->n && gemm->k == kind->k &&
           gemm->is_added == kind->is_added;
}

static void start(struct kernels *kernels, const struct bf16_gemm *gemm)
{
    check(dnnl_engine_create(&kernels->engine, dnnl_cpu, 0), gemm, "cannot create an engine");
    check(dnnl_stream_create(&kernels->stream, kernels->engine, dnnl_stream_default_flags), gemm,
          "cannot create a stream");
}

static struct kernel *kernel_for(struct kernels *kernels, const struct bf16_gemm *gemm)
{
    struct kernel *kernel;
    int threads = omp_get_max_threads();

    for (size_t i = 0; i < kernels->count; i++)
        if (is_of_kind(gemm, &kernels->kernels[i].kind))
            return &kernels->kernels[i];
    if (!kernels->engine)
        start(kernels, gemm);
    check(GROW(kernels->kernels, kernels->count) ? dnnl_success : dnnl_out_of_memory, gemm,
          "cannot allocate the kernel list");
    kernel = &kernels->kernels[kernels->count];
    /* for one thread: the library cuts a product by the number of threads that is set here */
    omp_set_num_threads(1);
    kernel_make(gemm, kernels->engine, kernel);
    omp_set_num_threads(threads);
    kernels->count++;
    return kernel;
}

/* The library takes what it writes and what it reads as one type, which is not const. */
static void *writable(const element *x)
{
    union {
        const element *read;
        void *written;
    } pointer = {x};

    return pointer.written;
}

VECTORISED static void add_row(const real *from, int columns, real *to)
{
    for (int i = 0; i < columns; i++)
        to[i] += from[i];
}

VECTORISED static void round_row(const real *from, int columns, element *to)
{
    for (int i = 0; i < columns; i++)
        to[i] = element_of(from[i]);
}

static void store_sums(const struct bf16_gemm *gemm)
{
    const struct bf16_out *out = gemm->out;

    for (int row = 0; row < gemm->m; row++) {
        const real *sums = gemm->c + (size_t)row * (size_t)gemm->n;
        size_t at = (size_t)row * out->stride;

        if (out->elements)
            round_row(sums, gemm->n, out->elements + at);
        else if (out->is_added)
            add_row(sums, gemm->n, out->reals + at);
        else
            bf16_stream(sums, gemm->n, out->reals + at);
    }
}

static bool has_amx(void)
{
    return ((int)dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_amx) ==
           dnnl_cpu_isa_avx512_core_amx;
}

struct bf16_tile bf16_gemm_tile(void)
{
    return has_amx() ? (struct bf16_tile){.columns = 128, .depth = BF16_LONGEST}
                     : (struct bf16_tile){.columns = 64, .depth = 1536};
}

void bf16_gemm(const struct bf16_gemm *gemm)
{
    static _Thread_local struct kernels kernels;
    struct kernel *kernel;

    if (!has_amx()) {
        bf16_gemm_avx512(gemm);
        return;
    }
    kernel = kernel_for(&kernels, gemm);
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, kernel->a},
                                   {DNNL_ARG_WEIGHTS, kernel->b},
                                   {DNNL_ARG_DST, kernel->c},
                                   {DNNL_ARG_SCRATCHPAD, kernel->scratch}};

    dnnl_memory_set_data_handle(kernel->a, writable(gemm->a));
    dnnl_memory_set_data_handle(kernel->b, writable(gemm->b));
    dnnl_memory_set_data_handle(kernel->c, gemm->c);
    dnnl_memory_set_data_handle(kernel->scratch,
                                cpu_scratch(CPU_SCRATCH_LIBRARY, kernel->scratch_bytes));
    check(dnnl_primitive_execute(kernel->primitive, kernels.stream, 4, arguments), gemm,
          "computation failed");
    if (gemm->out)
        store_sums(gemm);
}

bool bf16_gemm_has_processor(const char **found)
{
    int isa = (int)dnnl_get_effective_cpu_isa(), amx = dnnl_cpu_isa_avx512_core_amx,
        bf16 = dnnl_cpu_isa_avx512_core_bf16;

    *found = (isa & amx) == amx     ? "AMX"
             : (isa & bf16) == bf16 ? "AVX-512 bf16"
                                    : dnnl_cpu_isa2str((dnnl_cpu_isa_t)isa);
    return (isa & bf16) == bf16;
}
