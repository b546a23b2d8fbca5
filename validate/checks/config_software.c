/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/checks/facts.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/sysfs.h"
#include "lib/base/text.h"

/* The libraries that must match on all ranks of a job. No library is loaded and no program started:
 * the version comes from the file's name, and the build id distinguishes two builds of one version.
 */

static const struct {
    const char *part, *prefix;
} libraries[] = {
    {"nccl", "libnccl.so."},     {"rccl", "librccl.so."},   {"nccl-net", "libnccl-net.so"},
    {"ucx", "libucp.so."},       {"mpi", "libmpi.so."},     {"pmix", "libpmix.so."},
    {"fabric", "libfabric.so."}, {"cuda", "libcudart.so."}, {"verbs", "libibverbs.so."},
    {"slurm", "libslurm.so."},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries, NAME = 128 };

static const char *const directories[] = {
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "usr/local/lib",
    "usr/local/lib64",
    "usr/local/cuda/lib64",
    "opt/rocm/lib",
    "opt/amazon/openmpi/lib",
    "opt/amazon/efa/lib",
};

/* Finds the longest file name of each library: libmpi.so.40.30.4, not its link libmpi.so.40. */
static void list_libraries(const char *root, const char *directory, char found[LIBRARIES][NAME])
{
    char path[SYSFS_PATH];
    const struct dirent *entry;
    DIR *stream = sysfs_path(root, path, sizeof path, "%s", directory) == 0 ? opendir(path) : NULL;

    memset(found, 0, LIBRARIES * sizeof *found);
    while (stream && (entry = readdir(stream)))
        for (size_t i = 0; i < LIBRARIES; i++)
            if (strncmp(entry->d_name, libraries[i].prefix, strlen(libraries[i].prefix)) == 0 &&
                strlen(entry->d_name) < NAME &&
                (strlen(entry->d_name) > strlen(found[i]) ||
                 (strlen(entry->d_name) == strlen(found[i]) &&
                  strcmp(entry->d_name, found[i]) > 0)))
                strcpy(found[i], entry->d_name);
    if (stream)
        closedir(stream);
}

/* Records a library in several directories once, with all of them: a job chooses among them. */
static void record_libraries(const struct checks *checks)
{
    char texts[LIBRARIES][512] = {{0}}, found[LIBRARIES][NAME];

    for (size_t k = 0; k < sizeof directories / sizeof *directories; k++) {
        list_libraries(checks->root, directories[k], found);
        for (size_t i = 0; i < LIBRARIES; i++) {
            char path[512], id[BUILD_ID_TEXT];

            if (!*found[i])
                continue;
            snprintf(path, sizeof path, "%s/%s", directories[k], found[i]);
            build_id_read(checks->root, path, id);
            text_join(texts[i], sizeof texts[i], "; ", "%s%s%.8s in /%s", found[i],
                      *id ? " build " : "", id, directories[k]);
        }
    }
    for (size_t i = 0; i < LIBRARIES; i++)
        fact_text(checks, "library", libraries[i].part, texts[i]);
}

void facts_software(const struct checks *checks)
{
    char id[BUILD_ID_TEXT];

    record_libraries(checks);
    if (checks->root[0])
        return;
    build_id_read("", "proc/self/exe", id);
    /* the last fact of a node: with it muster certify knows that it has them all */
    fact_record(checks, "muster", "", NAN, NULL, "%s%s%.8s", PACKAGE_VERSION, *id ? " build " : "",
                id);
}
