/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces ibv_reg_dmabuf_mr() (LD_PRELOAD), which the driver of soft-RoCE refuses: maps the file
 * that the stand-in for libcuda returns, and registers it as memory of this process. */
#include <infiniband/verbs.h>
#include <sys/mman.h>

#undef ibv_reg_mr_iova
__attribute__((visibility("default"))) struct ibv_mr *
ibv_reg_dmabuf_mr(struct ibv_pd *domain, uint64_t offset, size_t size, uint64_t address, int file,
                  int access)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);

    return memory != MAP_FAILED ? ibv_reg_mr_iova(domain, memory, size, address, access) : NULL;
}
