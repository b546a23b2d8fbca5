/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "lib/base/write_all.h"
#include "spank/deadline.h"

/* Crosses the pipe first. The inventory follows, without the places of its arrays that are not
 * used: these are most of it. */
struct answer {
    bool is_read; /* false: err says why not */
    struct error err;
    size_t nic_count, rdma_count, gpu_count;
};

enum { PARTS = 4 };

/* Where the parts that are used are in an inventory of as many devices as answer tells. */
static void parts_of(struct inventory *inventory, const struct answer *answer,
                     struct iovec parts[PARTS])
{
    parts[0] = (struct iovec){inventory, offsetof(struct inventory, nics)};
    parts[1] = (struct iovec){inventory->nics, answer->nic_count * sizeof *inventory->nics};
    parts[2] = (struct iovec){inventory->rdma, answer->rdma_count * sizeof *inventory->rdma};
    parts[3] = (struct iovec){inventory->gpus, answer->gpu_count * sizeof *inventory->gpus};
}

static void tell(int fd, void *root)
{
    struct answer answer = {.is_read = false};
    struct inventory *inventory = inventory_read(root, &answer.err);
    struct iovec parts[PARTS];

    if (inventory != NULL) {
        answer.is_read = true;
        answer.nic_count = inventory->nic_count;
        answer.rdma_count = inventory->rdma_count;
        answer.gpu_count = inventory->gpu_count;
    }
    if (write_all(fd, &answer, sizeof answer) != 0 || inventory == NULL)
        return;
    parts_of(inventory, &answer, parts);
    for (int i = 0; i < PARTS; i++)
        if (write_all(fd, parts[i].iov_base, parts[i].iov_len) != 0)
            return;
}

static bool hear(const struct deadline *deadline, struct answer *answer,
                 struct inventory *inventory)
{
    struct iovec parts[PARTS];

    if (!deadline_read(deadline, answer, sizeof *answer))
        return false;
    if (!answer->is_read)
        return true;
    parts_of(inventory, answer, parts);
    for (int i = 0; i < PARTS; i++)
        if (!deadline_read(deadline, parts[i].iov_base, parts[i].iov_len))
            return false;
    inventory->nic_count = answer->nic_count;
    inventory->rdma_count = answer->rdma_count;
    inventory->gpu_count = answer->gpu_count;
    return true;
}

struct inventory *node_read_in_time(const char *root, struct error *err)
{
    struct inventory *inventory = calloc(1, sizeof *inventory);
    struct deadline deadline;
    struct answer answer;
    bool has_answer;

    if (inventory == NULL) {
        error_set(err, "inventory: %m");
        return NULL;
    }
    if (!deadline_start(&deadline, NODE_DEADLINE_MS, tell, (void *)root)) {
        error_set(err, "no process to read the node with: %m");
        inventory_free(inventory);
        return NULL;
    }
    has_answer = hear(&deadline, &answer, inventory);
    if (deadline_end(&deadline, has_answer))
        error_set(err,
                  "/sys was not read within %d s, a driver hangs; the kernel's log tells which",
                  NODE_DEADLINE_MS / 1000);
    else if (!has_answer)
        error_set(err, "the process that reads the node ended without an answer");
    else if (!answer.is_read)
        *err = answer.err;
    else
        return inventory;
    inventory_free(inventory);
    return NULL;
}
