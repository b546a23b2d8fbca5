/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SEAL_H
#define MUSTER_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/constants/node_constants.h"

/* Seals made with MUNGE. libmunge.so.2 is opened when first used (never linked: the plugin links
 * libc only), and stays open.
 *
 * None of these takes longer than SEAL_TIMEOUT_MS, in whatever state munged is. libmunge itself
 * waits 10 s and more for a munged that is stopped, and has no option for that, so it is called in
 * a child process, which is killed when its time is up. */

/* A credential of this process's user over text. *seal is malloc'd. 0, or -1 with err. */
int seal_make(const char *text, size_t text_length, char **seal, struct error *err);

/* As seal_verify_fn in certificate.h: SEAL_GENUINE when root made the seal over exactly this text,
 * SEAL_FALSE when it was made by another user or over another text, or is no credential,
 * SEAL_UNDECODABLE when this munged's key does not decode it, SEAL_UNKNOWN when it cannot be told;
 * err says why. A credential that has expired or been replayed, or
 * that comes from the future by this node's clock, still proves its origin. */
int seal_verify(const char *seal, const char *text, size_t text_length, struct error *err);

/* The same, but a seal by owner instead of root: for tests and unprivileged use. */
int seal_verify_by(unsigned owner_uid, const char *seal, const char *text, size_t text_length,
                   struct error *err);

/* Makes a seal and reads it, to tell whether MUNGE works here; a munged that is silent is asked a
 * second time. Returns 0, or -1 with err. *is_asked: false where it could not be asked, as this
 * process may start no other, has no memory or no libmunge, which says nothing of MUNGE. */
int seal_try(bool *is_asked, struct error *err);

/* The socket of the munged to ask from now on, for the whole process; NULL is the one that libmunge
 * was built with. The text is copied; one that is too long for a socket (108 bytes) is an error:
 * -1. For tests, and sites with more than one munged. */
int seal_use_socket(const char *path);

#endif
