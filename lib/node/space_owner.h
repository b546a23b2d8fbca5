/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPACE_OWNER_H
#define MUSTER_SPACE_OWNER_H

/* Finds the user whose files fill a directory that every user can write to. */

/* The directory of the memory that MPI, UCX and NCCL share between ranks of a node. If it is full,
 * they fail with a signal or without a reason, and neither the node nor its NICs are at fault. */
#define SHARED_MEMORY "/dev/shm"

enum { SPACE_OWNER = 64 /* bytes of the text, with the NUL */ };

/* Formats "uid 4711 has 120 GB in /tmp": the user with the most data in directory. Counts at most
 * 100000 files, and only files found within CHECK_SPACE_OWNER_S. "" if it is less than least_gb, or
 * if there are no files. Gives the number and not the name, as the name service may not respond.
 * Not thread-safe. */
void space_owner(const char *directory, double least_gb, char text[SPACE_OWNER]);

#endif
