/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "lib/base/hostlist.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/command/setup/setup.h"

/* Tests that muster setup names the reason if memory is out for a note. */

int __real_hostlist_append(struct hostlist *list, const char *name);
int __wrap_hostlist_append(struct hostlist *list, const char *name);
int __wrap_hostlist_append(struct hostlist *list, const char *name)
{
    return strchr(name, ' ') ? -1 : __real_hostlist_append(list, name);
}

/* Returns the error of a proposal for the files below root. */
static struct error propose(const char *root)
{
    static struct setup_files files;
    const struct node_view node_view = {.root = root};
    struct hostlist notes = {0};
    struct error err = {""};

    is_int(setup_propose(&node_view, &files, &notes, &err), -1, "no memory for a note");
    setup_clear(&files);
    hostlist_clear(&notes);
    return err;
}

int main(void)
{
    char *root = tree_unpack("");

    tree_put(root, "etc/slurm/slurm.conf", "HealthCheckProgram=/usr/sbin/nhc\n");
    is_str(propose(root).text, "no memory for a note", "... about the site's health check");
    tree_put(root, "etc/slurm/slurm.conf", "HealthCheckInterval=0\n");
    is_str(propose(root).text, "no memory for a note", "... about its interval");
    tree_remove(root);
    root = tree_unpack("");
    tree_put(root, "run/slurm/conf/slurm.conf", "ClusterName=made\n");
    is_str(propose(root).text, "no memory for a note", "... about files from slurmctld");
    tree_remove(root);
    return tap_done();
}
