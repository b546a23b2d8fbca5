/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CLAIMS_H
#define MUSTER_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"

/* What users' preflights hold against nodes: small files of theirs in a directory of the node, a
 * reason to test a node again and never more. The directory is root's and of mode 1733: anybody may
 * leave a file and nobody but root may list or take another's; it is a file system of its own in
 * memory, so that what is put there fills nothing else (spank/claims.h). Whoever reads it is root
 * and believes nothing. */

#define CLAIMS_DIRECTORY "/run/muster/claims"
#define CLAIM_RUN "preflight-%u-%u" /* the run of a claim's record: job, user */

enum {
    CLAIM_BYTES = 4096,    /* of a file */
    CLAIM_AGE_S = 86400,   /* older ones are none any more */
    CLAIMS_OF_USER = 16,   /* that are read, the newest; so many a day, as older ones are none */
    CLAIMS_MAX = 256,      /* in all: of each user the newest, then of each the second, ... */
    CLAIMS_SEEN = 1 << 17, /* files that are looked at; directories are not counted */
};

struct claim {
    uid_t uid; /* the file's owner: all else is what that user says */
    uint32_t job_id;
    time_t made;             /* of the file */
    char node[64];           /* whom it is about */
    char test[64], part[64]; /* printable ASCII, may be "" */
    char message[256];
};

/* CLAIMS_DIRECTORY below root; "" is this machine. */
void claims_directory(const char *root, char *path, size_t size);

/* "a preflight of job 12, user 1000, 2026-11-21 12:30 UTC: links: eth1 sends ..." */
void claim_describe(const struct claim *claim, char *text, size_t size);

/* Leaves the claim as a file of the caller's, whole or not at all. Returns 0, 1 when there is one
 * of this user, job and node already, or -1 with err. */
int claim_leave(const char *directory, const struct claim *claim, struct error *err);

/* What was passed over because its owner has left more than is read. */
struct claims_overflow {
    size_t files;
    uid_t uid; /* who left most of them */
};

/* Reads the claims. What is not a regular file of one name, is larger than CLAIM_BYTES, is not in
 * the form of a claim, or not named after its owner, is passed over; bytes that are not printable
 * become '?'. *claims is malloc'd, oldest first; the caller frees. Files beyond CLAIMS_OF_USER and
 * CLAIMS_MAX are removed and counted in overflow: nobody's files stand in the way of another's.
 * Returns their number, 0 where there is no directory, or -1 with err. */
int claims_read(const char *directory, struct claim **claims, struct claims_overflow *overflow,
                struct error *err);

/* Removes the files about those nodes (count names), and those that are no claim. Returns how many
 * claims were removed, or -1 with err. */
int claims_remove(const char *directory, char *const *nodes, size_t count, struct error *err);

#endif
