/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STDOUT_FLUSH_H
#define MUSTER_STDOUT_FLUSH_H

/* Flushes standard output, so that lost output (a full disk, a closed pipe) does not look like
 * success. Returns 0 if all output has been written, else -1 after a line on standard error that
 * begins with program. */
int stdout_flush(const char *program);

#endif
