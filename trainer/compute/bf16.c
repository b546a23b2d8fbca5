/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/compute.h"

#if defined(HAVE_DNNL) && defined(__x86_64__) && !defined(MUSTER_REAL_DOUBLE)

#define MUSTER_ELEMENT_BF16 1
#include "trainer/compute/bf16_gemm.h"
#include "trainer/compute/cpu.h"

static const struct compute bf16 = {.precision = "bf16",
                                    .element_bytes = sizeof(element),
                                    LINEAR_FUNCTIONS(COMPUTE_MEMBER, bf16)
                                        CPU_FUNCTIONS(COMPUTE_MEMBER)};

const struct compute *compute_bf16(struct error *err)
{
    const char *found;

    if (bf16_gemm_has_processor(&found))
        return &bf16;
    error_set(err, "--precision=bf16 needs a processor with AMX or AVX-512 bf16, found %s", found);
    return NULL;
}

#else

const struct compute *compute_bf16(struct error *err)
{
    error_set(err, "--precision=bf16 is not built in: it needs oneDNN (Debian package libdnnl-dev, "
                   "RHEL package onednn-devel) on x86-64");
    return NULL;
}

#endif
