/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SEAL_H
#define MUSTER_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/constants/node_constants.h"

/* Seals made with MUNGE. libmunge.so.2 is opened at first use (never linked: the plugin links only
 * libc), and stays open.
 *
 * Each query of munged takes SEAL_TIMEOUT_MS at most, in whatever state munged is. libmunge itself
 * waits 10 s and more for a munged that is stopped, and has no option for that. So it is called in
 * a child process, which is killed at the timeout. */

/* Makes a credential of this process's user over text. *seal is malloc'd. Returns 0, or -1 with
 * err. */
int seal_make(const char *text, size_t text_length, char **seal, struct error *err);

/* Verifies a seal, as seal_verify_fn in certificate.h: SEAL_GENUINE if root made it over exactly
 * this text, SEAL_FALSE if it was made by another user or over another text or is not a credential,
 * SEAL_UNDECODABLE if this munged's key does not decode it, SEAL_UNKNOWN if that is not known; err
 * says why. A credential that has expired or was replayed, or that comes from the future by this
 * node's clock, still proves its origin. */
int seal_verify(const char *seal, const char *text, size_t text_length, struct error *err);

/* As seal_verify(), but for a seal made by owner_uid instead of root: for tests and unprivileged
 * use. */
int seal_verify_by(unsigned owner_uid, const char *seal, const char *text, size_t text_length,
                   struct error *err);

/* Checks whether MUNGE works here: makes a seal and verifies it, and tries again SEAL_RESTART_S
 * later if munged does not answer. Returns 0, or -1 with err. *is_queried is false if munged could
 * not be queried because this process cannot start another one, or has no memory or no libmunge.
 * That shows nothing about MUNGE. */
int seal_try(bool *is_queried, struct error *err);

/* Sets the socket of munged for the whole process; NULL: libmunge's default. Copies the path.
 * Returns 0, or -1 if it is too long for a socket (108 bytes). For tests, and sites with more than
 * one munged. */
int seal_use_socket(const char *path);

#endif
