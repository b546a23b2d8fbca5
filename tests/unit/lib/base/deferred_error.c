/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/deferred_error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/sysfs.h"
#include "lib/node/inventory.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

static void first_error_is_kept(void)
{
    is_int(deferred_error_take(), 0, "no error is noted at first");
    errno = ENOENT;
    deferred_error_note();
    is_int(deferred_error_take(), 0, "a missing file is not noted");
    errno = EMFILE;
    deferred_error_note();
    errno = ENOMEM;
    deferred_error_note();
    is_int(errno, ENOMEM, "errno is unchanged");
    is_int(deferred_error_take(), EMFILE, "the first error is noted");
    is_int(deferred_error_take(), 0, "... and forgotten once it is taken");
    deferred_error_set(0);
    is_int(deferred_error_take(), 0, "setting 0 notes no error");
}

/* Without free descriptors, a node looks as if it had no interfaces. */
static void node_without_descriptors(void)
{
    struct rlimit limit, none = {0, 0};
    char *root = tree_unpack("lab-node");
    struct inventory *inventory;
    struct error err;

    getrlimit(RLIMIT_NOFILE, &limit);
    none.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none);
    inventory = inventory_read(root, &err);
    setrlimit(RLIMIT_NOFILE, &limit);
    ok(inventory == NULL, "no inventory is returned of a node that cannot be read completely");
    has_str(err.text, "could not be read completely: Too many open files",
            "... and the message has the reason");
    inventory_free(inventory);
    inventory = inventory_read(root, &err);
    ok(inventory != NULL && inventory->nic_count > 0, "... the next read works");
    inventory_free(inventory);
    tree_remove(root);
}

/* Without an error, a node whose processes cannot be listed looks as if it had none. */
static void processes_that_cannot_be_listed(void)
{
    struct rlimit limit, none = {0, 0};
    char *root = tree_unpack("lab-node"), long_root[SYSFS_PATH + 1];
    pid_t *pids;
    ssize_t count;

    is_int(sysfs_processes("/nonexistent", &pids), -1, "without /proc there is no list");
    is_int(errno, ENOENT, "... errno says so");
    ok(!pids, "... and nothing is left to free");
    is_int(deferred_error_take(), 0, "... which is no error of this process");
    memset(long_root, 'x', sizeof long_root - 1);
    long_root[sizeof long_root - 1] = '\0';
    is_int(sysfs_processes(long_root, &pids), -1, "nor with a root that is too long");
    is_int(errno, ENAMETOOLONG, "... errno says so");
    tree_put(root, "here/proc", "a file");
    snprintf(long_root, sizeof long_root, "%s/here", root);
    is_int(sysfs_processes(long_root, &pids), -1, "nor if /proc is no directory");
    is_int(errno, ENOTDIR, "... errno says so");
    getrlimit(RLIMIT_NOFILE, &limit);
    none.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none);
    count = sysfs_processes("", &pids);
    setrlimit(RLIMIT_NOFILE, &limit);
    is_int(count, -1, "nor without free descriptors");
    is_int(deferred_error_take(), EMFILE, "... which is an error of this process");
    count = sysfs_processes("", &pids);
    ok(count > 0 && pids[0] > 0, "... the next list is complete");
    free(pids);
    tree_remove(root);
}

int main(void)
{
    first_error_is_kept();
    node_without_descriptors();
    processes_that_cannot_be_listed();
    return tap_done();
}
