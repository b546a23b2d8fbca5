/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFICATE_H
#define MUSTER_CERTIFICATE_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/constants/node_constants.h"

/* A node's certificate: a text file of root's,
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
 * Lines in this order, "run" and "boot" only when they are known, any number of "test" and
 * "fingerprint" lines. node to boot are words of printable ASCII, the other lines UTF-8 without
 * control characters, at most CERTIFICATE_LINE bytes each. One content has one text: what
 * certificate_format() would not write is refused.
 *
 * The seal is a MUNGE credential, made by root, whose payload is the text above it, to the byte.
 * An expired or replayed credential still proves its origin; the expiry that counts stands in the
 * text. */
enum {
    CERTIFICATE_MAX = 262144, /* bytes of a file, seal included: eight Gaudi cards with
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

/* The text above the seal line; malloc'd. NULL with errno: ENOMEM, or EINVAL when a value is not
 * fit for a certificate: empty or with a blank, newline or other control character in node,
 * cluster, level, run or boot_id, a control character or an empty or overlong line in tests or
 * fingerprint, a time before 1970 or after 9999, expires before issued. */
char *certificate_format(const struct certificate *certificate);

/* Parses a text (without or with its seal line). Hostile input safe: bounded, every field checked.
 * certificate is overwritten; release it with certificate_clear(), also after an error.
 * On success *seal is the malloc'd credential ("MUNGE:...:") or NULL when there is none, and
 * *text_length the length of the part that it seals. Returns 0 or -1 with err (line number, found,
 * expected). */
int certificate_parse(const char *text, struct certificate *certificate, char **seal,
                      size_t *text_length, struct error *err);

/* Whether a seal was made by root over exactly a text. */
enum seal_verdict {
    SEAL_UNDECODABLE = -2, /* not with munged's key: sealed before the key was changed, or forged */
    SEAL_UNKNOWN = -1,     /* munged does not answer */
    SEAL_FALSE = 0,
    SEAL_GENUINE = 1,
};

/* Answers that; err says why not. */
typedef int seal_verify_fn(const char *seal, const char *text, size_t text_length,
                           struct error *err);

/* SEAL_GENUINE whatever the seal: for who only reads what a certificate says. */
seal_verify_fn certificate_leave_seal;

enum certificate_state {
    CERTIFICATE_VALID,
    CERTIFICATE_MISSING, /* no file */
    CERTIFICATE_EXPIRED,
    CERTIFICATE_CHANGED,    /* genuine, in time, but the node is not what it was */
    CERTIFICATE_INVALID,    /* altered, copied from another node or cluster, not root's, unreadable
                               as a certificate */
    CERTIFICATE_UNVERIFIED, /* cannot tell: munged does not answer, or an I/O error */
    CERTIFICATE_UNVERIFIABLE, /* its seal is not of this node's MUNGE key: the key was changed
                                 since, or it is forged */
};
const char *certificate_state_name(enum certificate_state state);

/* How much a level tests: 1 quick, 2 standard, 3 full; 0 for a level that is none. */
int certificate_level(const char *level);
const char *certificate_level_name(int level); /* of 1 to 3 */

/* What the node is now, to hold the certificate against. NULL or "" leaves that comparison out. */
struct certificate_facts {
    const char *node, *cluster;
    const char *fingerprint; /* fingerprint_text() of now */
    time_t now;
};

/* Reads the file as MUNGE reads its own: the file a regular one of owner (0 = root), no group or
 * world write on it nor, sticky directories apart, on any directory above it, these owned by root
 * or owner, no symbolic link at its end; at most CERTIFICATE_MAX bytes. Then parses, verifies the
 * seal, compares node, cluster, time, fingerprint, in this order. A certificate from the future by
 * this node's clock is CERTIFICATE_UNVERIFIED: with such a clock nothing can be said of its expiry.
 * message is one line for a person. certificate (may be NULL) is overwritten, and filled when the
 * file could be parsed; release it with certificate_clear(). Does not block, but for what verify
 * does. */
enum certificate_state certificate_check(const char *path, uid_t owner,
                                         const struct certificate_facts *facts,
                                         seal_verify_fn *verify, struct certificate *certificate,
                                         char *message, size_t message_size);

/* When the certificate at path was issued, by its own word: whoever's seal it has, whether it
 * counts or not. 0: there is none that root has written, or it is not of that boot (NULL: any). */
time_t certificate_issued(const char *path, const char *boot_id);

/* Writes text + "seal: " + seal to path: a new file beside it, fsync, rename, fsync of the
 * directory; mode 0644, missing last directory made with 0755. Never leaves a half-written
 * certificate, whoever else installs or is killed. What certificate_parse() would refuse, and
 * directories that certificate_check() would, are refused. Returns 0 or -1 with err. */
int certificate_install(const char *path, const char *text, const char *seal, struct error *err);

/* Removes the certificate at path, and what a killed certificate_install() may have left beside it,
 * and syncs the directory. A file that does not begin as a certificate does (an empty one may) is
 * left there, and so is whatever is no regular file. Returns 0, 1 when there was none, -1 with
 * err. */
int certificate_remove(const char *path, struct error *err);

#endif
