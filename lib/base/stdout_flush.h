/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STDOUT_FLUSH_H
#define MUSTER_STDOUT_FLUSH_H

/* Output that did not arrive must not look like success: a full disk, a closed pipe. Flushes
 * standard output. Returns 0 when all that was ever printed there has arrived, else -1 after a line
 * on standard error that begins with program. */
int stdout_flush(const char *program);

#endif
