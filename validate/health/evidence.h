/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_EVIDENCE_H
#define MUSTER_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/catalog/catalog.h"

/* The bundles of evidence that a node keeps of its faults: files
 * "gpu_lost-gpu3-20261125T170102Z.tar" of root's in the folder "evidence" beside the certificate,
 * of which the oldest make room. validate/command/node/evidence.h makes them. */

enum {
    EVIDENCE_BUNDLES = 16,
    EVIDENCE_PATH = 512,
};

struct evidence {
    enum fault_code code;
    char part[64]; /* as in the name: what is no letter, digit, '.' or ':' has become '_'; "" */
    int64_t time_s;
    char path[EVIDENCE_PATH];
};

/* The folder, without making it. Returns 0, or -1 when the certificate has no directory. */
int evidence_directory(const char *certificate_path, char directory[EVIDENCE_PATH]);

/* Where the bundle of that fault belongs; evidence gets all. Returns whether one is wanted: false
 * when there is one of that fault since since_s and within EVIDENCE_KEEP_S, whose path evidence has
 * then. */
bool evidence_is_wanted(const char *directory, enum fault_code code, const char *part,
                        int64_t now_s, int64_t since_s, struct evidence *evidence);

/* Calls each() for the bundles since since_s, the oldest first. Returns how many; 0 also when there
 * is no folder. */
int evidence_each(const char *directory, int64_t since_s,
                  void (*each)(const struct evidence *evidence, void *context), void *context);

/* Makes the folder where it is missing, and removes the oldest bundles until there is room for one
 * more, and what an earlier one left behind that did not end. Returns 0, or -1 with err. */
int evidence_make_room(const char *directory, struct error *err);

#endif
