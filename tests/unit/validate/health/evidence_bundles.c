/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/evidence.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

enum { NOW = 1764090000, HOUR = 3600 };

static char *root, directory[EVIDENCE_PATH], listed[4096];

static bool is_wanted(enum fault_code code, const char *part, int64_t now_s, int64_t since_s,
                      struct evidence *evidence)
{
    return evidence_is_wanted(directory, code, part, now_s, since_s, evidence);
}

static void put_bundle(const struct evidence *evidence)
{
    tree_put(root, evidence->path + strlen(root) + 1, "tar");
}

static void list_bundle(const struct evidence *evidence, void *context)
{
    text_join(listed, sizeof listed, "", "%s %s %lld\n", catalog_fault(evidence->code)->name,
              evidence->part, (long long)evidence->time_s);
}

static const char *list_bundles(int64_t since_s)
{
    *listed = '\0';
    evidence_each(directory, since_s, list_bundle, NULL);
    return listed;
}

int main(void)
{
    struct evidence evidence;
    struct stat status;
    struct error err;
    char path[EVIDENCE_PATH + 32];

    root = tree_unpack("");
    snprintf(path, sizeof path, "%s/certificate", root);
    is_int(evidence_directory(path, directory), 0, "the directory is beside the certificate");
    is_int(evidence_directory("certificate", path), -1,
           "... and a certificate without a directory has none");
    is_str(list_bundles(0), "", "without a directory there are no bundles");
    is_int(evidence_make_room(directory, &err), 0, "the directory is made");
    ok(stat(directory, &status) == 0 && (status.st_mode & 0777) == 0700, "... for root alone");

    ok(is_wanted(FAULT_GPU_LOST, "gpu3", NOW, 0, &evidence), "a fault needs a bundle");
    snprintf(path, sizeof path, "%s/gpu_lost-gpu3-20251125T170000Z.tar", directory);
    is_str(evidence.path, path, "... whose name has the fault, part and time");
    ok(evidence.code == FAULT_GPU_LOST && strcmp(evidence.part, "gpu3") == 0 &&
           evidence.time_s == NOW,
       "... which are known");
    put_bundle(&evidence);
    evidence = (struct evidence){.path = ""};
    ok(!is_wanted(FAULT_GPU_LOST, "gpu3", NOW + HOUR, 0, &evidence),
       "the same fault needs no second one");
    is_str(evidence.path, path, "... and gets the path of the first");
    ok(!is_wanted(FAULT_GPU_LOST, "gpu3", NOW + HOUR, NOW, &evidence),
       "... also if the node was certified in that second");
    ok(is_wanted(FAULT_GPU_LOST, "gpu3", NOW + HOUR, NOW + 1, &evidence),
       "... unless the node was certified in between");
    ok(is_wanted(FAULT_GPU_LOST, "gpu3", NOW + EVIDENCE_KEEP_S, 0, &evidence),
       "... or the first one is old");
    ok(is_wanted(FAULT_GPU_LOST, "gpu4", NOW + HOUR, 0, &evidence), "another part needs its own");
    ok(is_wanted(FAULT_NIC_FAILED, "../../x-y z", NOW + 1, 0, &evidence),
       "... whatever its name is");
    ok(!strstr(evidence.path + strlen(directory) + 1, "/"),
       "... and the path stays in the directory");
    put_bundle(&evidence);
    ok(is_wanted(FAULT_DISK_FAILED, "", NOW + 2, 0, &evidence),
       "a fault without a part needs one, too");
    put_bundle(&evidence);
    tree_put(root, "evidence/notes", "of somebody");
    tree_put(root, "evidence/frob-gpu3-20251125T170000Z.tar", "of no fault");
    tree_put(root, "evidence/gpu_lost-gpu3-now.tar", "of no time");
    tree_put(root, "evidence/gpu_lost-20251125T170000Z.tar", "of no part");
    is_str(list_bundles(0),
           "gpu_lost gpu3 1764090000\nnic_failed .._.._x_y_z 1764090001\ndisk_failed  1764090002\n",
           "bundles are listed by time, and no other files");
    is_str(list_bundles(NOW + 2), "disk_failed  1764090002\n", "... from a given time");

    tree_put(root, "evidence/gpu_lost-gpu3-20251125T170000Z.tar.0123abcd",
             "of one that was killed");
    for (int i = 0; i < 2 * EVIDENCE_BUNDLES; i++) {
        evidence_make_room(directory, &err);
        if (is_wanted(FAULT_GPU_LOST, "gpu5", NOW + HOUR + i, NOW + HOUR + i, &evidence))
            put_bundle(&evidence);
    }
    is_int(evidence_each(directory, 0, list_bundle, NULL), EVIDENCE_BUNDLES,
           "the oldest bundles are removed");
    is_int(evidence_each(directory, NOW + HOUR + EVIDENCE_BUNDLES, list_bundle, NULL),
           EVIDENCE_BUNDLES, "... and the newest are kept");
    snprintf(path, sizeof path, "%s/gpu_lost-gpu3-20251125T170000Z.tar.0123abcd", directory);
    ok(access(path, F_OK) != 0, "an incomplete bundle is removed");
    snprintf(path, sizeof path, "%s/notes", directory);
    ok(access(path, F_OK) == 0, "... and foreign files are kept");
    tree_remove(root);

    root = tree_unpack("");
    tree_put(root, "evidence", "a file");
    snprintf(directory, sizeof directory, "%s/evidence", root);
    is_int(evidence_make_room(directory, &err), -1, "a file in place of the directory is an error");
    tree_remove(root);
    return tap_done();
}
