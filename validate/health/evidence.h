/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_EVIDENCE_H
#define MUSTER_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/catalog/catalog.h"

/* The evidence bundles that a node keeps of its faults: files "gpu_lost-gpu3-20261125T170102Z.tar"
 * of root in the folder "evidence" beside the certificate. The oldest are removed to make room.
 * validate/command/node/bundle.h creates them. */

enum {
    EVIDENCE_BUNDLES = 16,
    EVIDENCE_PATH = 512,
};

struct evidence {
    enum fault_code code;
    char part[64]; /* as in the name: only letters, digits, '.', ':', else '_'; may be "" */
    int64_t time_s;
    char path[EVIDENCE_PATH];
};

/* Sets directory to the folder, without creating it. Returns 0, or -1 if the certificate's path has
 * no directory. */
int evidence_directory(const char *certificate_path, char directory[EVIDENCE_PATH]);

/* Returns whether a bundle of the fault is wanted, and fills evidence with the one to create. If
 * there is one of the same fault since since_s and within EVIDENCE_KEEP_S, returns false and fills
 * evidence with it. */
bool evidence_is_wanted(const char *directory, enum fault_code code, const char *part,
                        int64_t now_s, int64_t since_s, struct evidence *evidence);

/* Calls each() for the bundles since since_s, the oldest first. Returns their number; 0 also if
 * there is no folder. */
int evidence_each(const char *directory, int64_t since_s,
                  void (*each)(const struct evidence *evidence, void *context), void *context);

/* Creates the folder if it is missing. Removes unfinished files of interrupted bundles, and the
 * oldest bundles until there is room for one more. Returns 0, or -1 with err. */
int evidence_make_room(const char *directory, struct error *err);

#endif
