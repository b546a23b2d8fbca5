/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SHARED_MEMORY_H
#define MUSTER_SHARED_MEMORY_H

/* Whose files fill /dev/shm, where MPI, UCX and NCCL keep what ranks of a node share: full, they
 * fail with a signal or without a reason, and neither the node nor its NICs are at fault. */

#define SHARED_MEMORY "/dev/shm"
enum { SHARED_MEMORY_OWNER = 64 /* bytes of the text, with the NUL */ };

/* "uid 4711 has 120.0 GB of it": who has the most below that directory, by its first 100000 files;
 * "" where there are none. By number, as the service that knows names may not respond. Not for two
 * threads at once. */
void shared_memory_owner(const char *directory, char text[SHARED_MEMORY_OWNER]);

#endif
