/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPACE_OWNER_H
#define MUSTER_SPACE_OWNER_H

/* Whose files fill a directory that every user can write to. */

/* Where MPI, UCX and NCCL keep what ranks of a node share: full, they fail with a signal or without
 * a reason, and neither the node nor its NICs are at fault. */
#define SHARED_MEMORY "/dev/shm"

enum { SPACE_OWNER = 64 /* bytes of the text, with the NUL */ };

/* "uid 4711 has 120 GB in /tmp": who has the most there, of its first 100000 files and of those
 * that are found in CHECK_SPACE_OWNER_S; "" where that is less than least_gb, or there are none. By
 * number, as the service that knows names may not respond. Not for two threads at once. */
void space_owner(const char *directory, double least_gb, char text[SPACE_OWNER]);

#endif
