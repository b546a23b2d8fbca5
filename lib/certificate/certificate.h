/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFICATE_H
#define MUSTER_CERTIFICATE_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/constants/node_constants.h"

/* A node's certificate: a text file owned by root,
 *
 *   muster certificate 1
 *   node: n3
 *   cluster: lab
 *   level: standard
 *   run: 20261120-161200-1a2b
 *   boot: 5c0f...
 *   issued: 1795190000 2026-11-20T15:53:20Z
 *   expires: 1795794800 2026-11-27T15:53:20Z
 *   test links eth1: 196 Mb/s
 *   test links eth2: 49 Mb/s rail_slow
 *   fingerprint kernel: 6.1.0
 *   fingerprint nic eth1: ...
 *   seal: MUNGE:AwQDAAC...:
 *
 * The lines are in this order, with "run" and "boot" only if they are known, and any number of
 * "test" and "fingerprint" lines. node to boot are words of printable ASCII, the other lines UTF-8
 * without control characters, at most CERTIFICATE_LINE bytes each. A content has only one text: a
 * text that certificate_format() would not write is refused.
 *
 * The seal is a MUNGE credential made by root. Its payload is the text above it, to the byte. An
 * expired or replayed credential still proves its origin; the expiry that counts is in the text. */
enum {
    CERTIFICATE_MAX = 262144, /* bytes of a file with its seal: eight Gaudi cards with
                                 their 192 ports take 80000 */
    CERTIFICATE_LINE = 1024,  /* bytes of a line above the seal */
};

struct certificate {
    char node[64], cluster[64], level[32], run[64], boot_id[64];
    time_t issued, expires;
    char *tests;       /* lines "links eth1: 196 Mb/s\n", malloc'd or NULL */
    char *fingerprint; /* lines of fingerprint_text(), malloc'd or NULL */
};

void certificate_clear(struct certificate *certificate);

/* Returns the text above the seal line, malloc'd. NULL with errno: ENOMEM, or EINVAL if a value is
 * not allowed in a certificate: node, cluster or level is empty, one of these, run or boot_id has a
 * blank, newline or other control character, tests or fingerprint has a control character or an
 * empty or overlong line, a time is before 1970 or after 9999, or expires is before issued. */
char *certificate_format(const struct certificate *certificate);

/* Parses a text, with or without its seal line. Safe for hostile input: bounded, every field is
 * checked. Overwrites certificate; release it with certificate_clear(), also after an error.
 * On success *seal is the credential ("MUNGE:...:"), malloc'd, or NULL if there is none, and
 * *text_length is the length of the sealed part. Returns 0 or -1 with err (line number, found,
 * expected). */
int certificate_parse(const char *text, struct certificate *certificate, char **seal,
                      size_t *text_length, struct error *err);

/* Whether a seal was made by root over exactly a text. */
enum seal_verdict {
    SEAL_UNDECODABLE = -2, /* munged's key does not decode it: another key, or a forged seal */
    SEAL_UNKNOWN = -1,     /* munged does not answer */
    SEAL_FALSE = 0,
    SEAL_GENUINE = 1,
};

/* Returns the verdict on a seal; if it is not SEAL_GENUINE, err says why. */
typedef int seal_verify_fn(const char *seal, const char *text, size_t text_length,
                           struct error *err);

/* Returns SEAL_GENUINE for any seal: for readers that need only the content of a certificate. */
seal_verify_fn certificate_ignore_seal;

enum certificate_state {
    CERTIFICATE_VALID,
    CERTIFICATE_MISSING, /* no file */
    CERTIFICATE_EXPIRED,
    CERTIFICATE_CHANGED,      /* genuine and not expired, but the node has changed */
    CERTIFICATE_INVALID,      /* altered, copied from another node or cluster, not root's, or not a
                                 certificate */
    CERTIFICATE_UNVERIFIED,   /* not known: munged does not answer, I/O error, newer format */
    CERTIFICATE_UNVERIFIABLE, /* this node's MUNGE key does not decode its seal: the key has changed
                                 since, or the seal is forged */
};
const char *certificate_state_name(enum certificate_state state);

/* Returns the rank of a level: 1 quick, 2 standard, 3 full; 0 for an unknown level. */
int certificate_level(const char *level);
const char *certificate_level_name(int level); /* level: 1 to 3 */

/* The present state of the node, to compare with the certificate. NULL or "" is not compared. */
struct certificate_facts {
    const char *node, *cluster;
    const char *fingerprint; /* fingerprint_text() of now */
    time_t now;
};

/* Checks the certificate at path. Reads the file as MUNGE reads its own: it must be a regular file
 * of owner (0 = root), no symbolic link, without group or world write permission, of at most
 * CERTIFICATE_MAX bytes. The directories above it must be owned by root or owner, and be without
 * such permission unless they are sticky. Then parses it, verifies the seal, and compares node,
 * cluster, time and fingerprint, in this order. A certificate from the future by this node's clock
 * is CERTIFICATE_UNVERIFIED: with such a clock it is not known whether it has expired. message is
 * one line for a person. certificate (may be NULL) is overwritten, and filled if the file could be
 * parsed; release it with certificate_clear(). Does not block, unless verify does. */
enum certificate_state certificate_check(const char *path, uid_t owner,
                                         const struct certificate_facts *facts,
                                         seal_verify_fn *verify, struct certificate *certificate,
                                         char *message, size_t message_size);

/* Returns the time of issue in the certificate at path, without a check of its seal or its
 * validity. Returns 0 if root has no such file, if it cannot be parsed, or if it is of another
 * boot than boot_id (NULL: any boot). */
time_t certificate_issued(const char *path, const char *boot_id);

/* Writes text + "seal: " + seal to path, mode 0644: writes a new file beside it, fsync, rename,
 * fsync of the directory. Makes a missing last directory with mode 0755. Never leaves a
 * half-written certificate, also if other processes install at the same time or are killed. Refuses
 * a text that certificate_parse() would refuse, and directories that certificate_check() would
 * refuse. Returns 0 or -1 with err. */
int certificate_install(const char *path, const char *text, const char *seal, struct error *err);

/* Removes the certificate at path and syncs the directory. Also removes a file that a killed
 * certificate_install() left beside it. Unless `until` is 0, keeps a certificate that was issued
 * later, even if it is installed during this call, and one of a newer format. Refuses to remove a
 * file that is not regular, or that does not begin as a certificate does, except an empty one.
 * Returns 0, 1 if there was none, 2 if it was kept, or -1 with err. */
int certificate_remove(const char *path, time_t until, struct error *err);

#endif
